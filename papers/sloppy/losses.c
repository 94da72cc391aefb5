/* Stempfel, Ralaivola: Learning SVMs from sloppily labeled data, figure 1: the corrected hinge losses. */
#include <math.h>
#include <stdlib.h>

#include "experiment.h"

#define LOW (-3.0)
#define HIGH 3.0
#define STEP 0.25

/* The paper's figure does not state its pairs. */
static const double pairs[][2] = {{0, 0}, {0.2, 0}, {0, 0.2}, {0.2, 0.4}, {0.4, 0.2}};

#define PAIRS (sizeof pairs / sizeof *pairs)

static double hinge(double margin)
{
    return fmax(0.0, 1.0 - margin);
}

/* (2): `own` is the rate of the observed label's class, `other` that of the opposite one. */
static double corrected_hinge(double margin, double own, double other)
{
    const double loss = ((1.0 - other) * hinge(margin) - own * hinge(-margin)) / (1.0 - own - other);
    return fabs(loss) < 1e-12 ? 0.0 : loss; /* not -0.00 */
}

static uc_status run_figure1(execution *self)
{
    for (int label = 1; label >= -1; label -= 2) {
        const char *name = label > 0 ? "positive" : "negative";
        const char *title = label > 0 ? "Observed label +1" : "Observed label -1";
        panel *table = report_panel(&self->report, name, title, PLOT_LINES, "margin", "loss");
        table->decimals = 2;
        for (size_t i = 0; i < PAIRS; i++) {
            char *rates = app_text("[%g, %g]", pairs[i][0], pairs[i][1]);
            panel_column(table, rates);
            free(rates);
        }
        for (double margin = LOW; margin <= HIGH; margin += STEP) {
            const size_t row = panel_row(table, margin, "%.2f", margin);
            for (size_t i = 0; i < PAIRS; i++) {
                const size_t own = label > 0 ? 0 : 1; /* the rate of the observed label comes first */
                panel_add(table, row, i, corrected_hinge(margin, pairs[i][own], pairs[i][1 - own]));
            }
        }
    }
    self->runs = 1;
    report_note(&self->report,
                "[eta+, eta-]; (1 - eta_y) l^(g, y) + eta_y l^(-g, -y) is the hinge loss of g. From margin "
                "1 on the loss falls below 0: it is not convex. The paper's figure does not name its rates "
                "in the text");
    return UC_OK;
}

const experiment sloppy_figure1 = {
    .name = "sloppy.figure1",
    .what = "the corrected hinge losses for several pairs of noise rates",
    .data = (const char *const[]){NULL},
    .runs = 1,
    .quick_runs = 1,
    .run = run_figure1,
};
