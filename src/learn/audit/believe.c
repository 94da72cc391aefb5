/*
 * `labels`: the labels are believed first and corrected once. Used when the clouds of `structure` contradict
 * them.
 *
 *   1. fit to R0 = the labels; S = leave-one-out scores + log pi
 *   2. for each temperature T: start with Q = R0; 20 times C from Q, then Q <- softmax(S/T + LL)
 *   3. take the T with the largest fit, mean_i log sum_z softmax(S_i / T)_z exp(LL_iz)
 *   4. with one label per row: fit again, to R, with the same T and with Q starting from R, as long as the
 *      fit rises by more than .06 of the largest gain of features over the prior on the path of `structure`;
 *      at most five fits in total
 *
 * The model is fitted to (R0 + R)/2 if rows have one label, and to R if they have several.
 */
#include <math.h>
#include <string.h>

#include "learn/audit/views.h"

#define INNER_STEPS 20
#define MOST_STEPS 5
#define LEAST_RISE 0.06

static const double temperatures[] = {0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0};
#define TEMPERATURES (sizeof temperatures / sizeof *temperatures)

/* Updates Q and C in turn for fixed scores; *fit is that of the last step. */
static uc_status settle(double *Q, double *fit, const double *S, double temperature, uc_confusion *confusion,
                        const uc_labelled *labelled)
{
    const uc_expectation expectation = {labelled, confusion, S, temperature, &temperature, 1};
    uc_status status = UC_OK;
    double change;
    for (size_t step = 0; step < INNER_STEPS && status == UC_OK; step++) {
        status = uc_confusion_find(confusion, labelled, Q);
        if (status == UC_OK)
            status = uc_expect(Q, &change, step + 1 == INNER_STEPS ? fit : NULL, &expectation);
    }
    return status;
}

/* R holds R0 and becomes the Q of the best temperature; `Q` is work space of the same size. */
static uc_status choose_temperature(double *R, double *temperature, double *best, double *Q, double *start,
                                    const double *S, uc_confusion *confusion, const uc_labelled *labelled)
{
    const size_t bytes = labelled->annotations->rows * labelled->annotations->K * sizeof *R;
    uc_status status = UC_OK;
    *best = -INFINITY;
    memcpy(start, R, bytes);
    for (size_t t = 0; t < TEMPERATURES && status == UC_OK; t++) {
        double fit = -INFINITY;
        memcpy(Q, start, bytes);
        status = settle(Q, &fit, S, temperatures[t], confusion, labelled);
        if (status == UC_OK && fit > *best) {
            *best = fit;
            *temperature = temperatures[t];
            memcpy(R, Q, bytes);
        }
    }
    return status;
}

typedef struct belief {
    double *Q, *next, *pi; /* work space */
    uc_confusion confusion;
} belief;

static uc_status go_on(double *R, double *S, unsigned *steps, belief *self, double temperature, double best,
                       const uc_audit_view *views, size_t count, const uc_labelled *labelled,
                       const uc_path *path)
{
    const size_t bytes = labelled->annotations->rows * labelled->annotations->K * sizeof *R;
    uc_status status = UC_OK;
    while (*steps < MOST_STEPS && status == UC_OK) {
        double fit = -INFINITY;
        status = uc_audit_scores(self->next, self->pi, views, count, labelled, R);
        memcpy(self->Q, R, bytes);
        if (status == UC_OK)
            status = settle(self->Q, &fit, self->next, temperature, &self->confusion, labelled);
        if (status != UC_OK || !(fit - best > LEAST_RISE * (path->top - path->prior)))
            break;
        best = fit;
        memcpy(R, self->Q, bytes);
        memcpy(S, self->next, bytes);
        (*steps)++;
    }
    return status;
}

uc_status uc_believe_labels(double *R, double *S, double *temperature, unsigned *steps, double *fitted,
                            const uc_audit_view *views, size_t count, const uc_labelled *labelled,
                            const uc_path *path)
{
    const uc_annotations *annotations = labelled->annotations;
    const size_t size = annotations->rows * annotations->K;
    const bool several = annotations->total > annotations->total_rows;
    belief self = {uc_alloc(size, sizeof(double)),
                   uc_alloc(size, sizeof(double)),
                   uc_alloc(annotations->K, sizeof(double)),
                   {0}};
    double best;
    uc_status status = uc_confusion_create(&self.confusion, annotations);
    if (!self.Q || !self.next || !self.pi)
        status = UC_ERR_NOMEM;
    status = uc_comm_agree(uc_comm_of(labelled->context), status);
    if (status == UC_OK)
        status = uc_audit_scores(S, self.pi, views, count, labelled, R);
    if (status == UC_OK)
        status = choose_temperature(R, temperature, &best, self.Q, fitted, S, &self.confusion, labelled);
    *steps = 1;
    if (status == UC_OK && !several)
        status = go_on(R, S, steps, &self, *temperature, best, views, count, labelled, path);
    for (size_t i = 0; i < size && status == UC_OK; i++)
        fitted[i] = several ? R[i] : 0.5 * (fitted[i] + R[i]); /* fitted holds R0 so far */
    uc_confusion_free(&self.confusion);
    uc_free(self.Q);
    uc_free(self.next);
    uc_free(self.pi);
    return status;
}
