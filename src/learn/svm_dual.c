/*
 * Convex support vector machines by dual coordinate descent (Hsieh, Chang, Lin, Keerthi, Sundararajan, ICML 2008), for the
 * smoothed hinge. With U the weight of an example's loss (C/n, times its class's), and L its smoothed hinge loss:
 *
 *   L(g) = max over 0 <= a <= 1 of a (1 + h - g) - h a^2,        so the dual is
 *
 *   maximise  sum_i (1 + h) alpha_i - h/U alpha_i^2  -  1/2 |w|^2,   w = sum_i alpha_i t_i x_i,   0 <= alpha_i <= U
 *
 * An epoch takes one example after the other, in an order drawn anew, to its best alpha, which costs a product of its row
 * with w and at most an addition of the row to w. Examples whose alpha stays at a bound are left out until the next check.
 *
 * The unpenalised offset b asks for sum_i alpha_i t_i = 0. It is found by proximal steps: (b - centre)^2/(2 rho) is added to
 * the objective, so that b = centre + rho sum_i alpha_i t_i, and after every epoch the centre moves to b.
 *
 * A check adds up, from all examples, how far each is from the equality of Fenchel and Young (no term is negative):
 *
 *   gap = sum_i U L(g_i) + alpha_i g_i - (1 + h) alpha_i + h/U alpha_i^2
 *
 * The objective is at most gap + |b - b*| |sum_i alpha_i t_i| above its minimum; |b - b*| is taken for 1 + |b|.
 */
#include <math.h>

#include "learn/svm.h"
#include "linalg/linalg.h"

#define STREAM 8
#define ROWS_TOGETHER ((size_t)8) /* neighbours in memory that stay together in any order: half the time */
#define ROWS_AHEAD ((size_t)4)    /* what is asked for from memory early */
#define FIRST_JUDGED 8     /* epoch from which on the pace is judged, whenever their number has doubled */
#define MOST_TO_COME 150.0 /* epochs; L-BFGS seldom takes more steps where coordinates converge slowly */

typedef struct dual {
    const uc_svm *svm;
    const uc_context *context;
    double bound[2], diagonal[2]; /* U, and 2 h/U, of examples labelled negative, positive */
    double *alpha, *norm2;
    uint32_t *order; /* the examples; those left out are behind the first `active` */
    size_t active;
    double largest;          /* slope in the last epoch: beyond it an alpha at its bound will stay there */
    double *point;           /* b and w */
    double rho, centre, sum; /* of alpha_i t_i */
    uc_rng rng;
} dual;

bool uc_svm_is_convex(const uc_svm *self)
{
    return self->loss == UC_SVM_WEIGHTED || (self->rate[0] == 0.0 && self->rate[1] == 0.0);
}

static int label_of(const uc_svm *self, size_t i)
{
    return self->data->y[i] == self->positive;
}

/* ---- an epoch ---- */

static void draw_order(dual *self)
{
    const size_t groups = self->active / ROWS_TOGETHER;
    for (size_t i = 0; i + 1 < groups; i++) {
        uint32_t *a = self->order + i * ROWS_TOGETHER,
                 *b = a + uc_rng_below(&self->rng, groups - i) * ROWS_TOGETHER;
        for (size_t k = 0; k < ROWS_TOGETHER; k++) {
            const uint32_t swap = a[k];
            a[k] = b[k];
            b[k] = swap;
        }
    }
}

static void ask_for(uc_row row)
{
    enum { LINE = 16 }; /* floats */
    for (size_t j = 0; j < row.count; j += LINE) {
        __builtin_prefetch(row.values + j);
        if (row.columns)
            __builtin_prefetch(row.columns + j);
    }
}

/* One example; false when it can be left out. */
static bool improve(dual *self, size_t i, double *largest)
{
    const uc_svm *svm = self->svm;
    const uc_row row = uc_matrix_row(&svm->data->X, i);
    const int label = label_of(svm, i);
    const double sign = label ? 1.0 : -1.0, alpha = self->alpha[i], bound = self->bound[label];
    const double margin = sign * (self->point[0] + uc_row_dot(row, self->point + 1));
    const double slope = margin - 1.0 - svm->smoothing + self->diagonal[label] * alpha;
    if ((alpha <= 0.0 && slope >= 0.0) || (alpha >= bound && slope <= 0.0))
        return fabs(slope) <= self->largest;
    *largest = fmax(*largest, fabs(slope));
    const double better = alpha - slope / (self->norm2[i] + self->rho + self->diagonal[label]);
    self->alpha[i] = fmin(fmax(better, 0.0), bound);
    const double step = sign * (self->alpha[i] - alpha);
    uc_row_axpy(step, row, self->point + 1);
    self->sum += step;
    self->point[0] = self->centre + self->rho * self->sum;
    return true;
}

static void run_epoch(dual *self)
{
    size_t kept = 0;
    double largest = 0.0;
    draw_order(self);
    for (size_t k = 0; k < self->active; k++) {
        const uint32_t i = self->order[k];
        if (k + ROWS_AHEAD < self->active)
            ask_for(uc_matrix_row(&self->svm->data->X, self->order[k + ROWS_AHEAD]));
        if (!improve(self, i, &largest))
            continue;
        self->order[k] = self->order[kept];
        self->order[kept++] = i;
    }
    self->active = kept;
    self->largest = largest;
    self->centre = self->point[0];
    self->point[0] = self->centre + self->rho * self->sum;
}

/* ---- a check ---- */

enum { GAP, LOSS, SUMS };

static uc_status add_gaps(double *sums, size_t first, size_t last, void *user)
{
    const dual *self = user;
    const uc_svm *svm = self->svm;
    const double scale = svm->cost / (double)svm->data->X.rows;
    for (size_t i = first; i < last; i++) {
        const int label = label_of(svm, i);
        const double alpha = self->alpha[i],
                     score = self->point[0] + uc_row_dot(uc_matrix_row(&svm->data->X, i), self->point + 1),
                     margin = label ? score : -score;
        double slope;
        const double loss = scale * uc_svm_loss_at(&slope, svm, margin, label);
        sums[LOSS] += loss;
        sums[GAP] += loss + alpha * (margin - 1.0 - svm->smoothing + self->diagonal[label] / 2.0 * alpha);
    }
    return UC_OK;
}

/* The objective, and how far it can be above its minimum. */
static uc_status check(double *value, double *gap, dual *self)
{
    const uc_matrix *X = &self->svm->data->X;
    const uc_context fitting = uc_context_for_work(self->context, (double)uc_matrix_entries(X));
    double sums[SUMS] = {0.0};
    const uc_status status = uc_sum_over(&fitting, X->rows, add_gaps, self, sums, SUMS);
    *value = sums[LOSS] + uc_dot(self->point + 1, self->point + 1, X->cols) / 2.0;
    *gap = sums[GAP];
    if (self->svm->free_offset)
        *gap += (1.0 + fabs(self->point[0])) * fabs(self->sum);
    return status;
}

/* ---- all of it ---- */

static void begin(dual *self)
{
    const uc_svm *svm = self->svm;
    const size_t n = svm->data->X.rows;
    double mean = 0.0;
    for (int label = 0; label < 2; label++) {
        double slope; /* of the loss where the hinge's is -1 */
        uc_svm_loss_at(&slope, svm, -svm->smoothing, label);
        self->bound[label] = -slope * svm->cost / (double)n;
        self->diagonal[label] = 2.0 * svm->smoothing / self->bound[label];
    }
    for (size_t i = 0; i < n; i++) {
        self->order[i] = (uint32_t)i;
        self->norm2[i] = uc_row_norm2(uc_matrix_row(&svm->data->X, i));
        mean += self->norm2[i] / (double)n;
    }
    /* Large enough to find b in a few epochs, too small to shorten the steps of the alphas by much. */
    if (svm->free_offset)
        self->rho = 0.1 * mean + 0.25 * fmin(self->diagonal[0], self->diagonal[1]);
    self->active = n;
    self->largest = HUGE_VAL;
    self->rng = uc_rng_make(1, STREAM);
}

/* The gap when it was looked at last. */
typedef struct pace {
    uint64_t epoch;
    double gap;
} pace;

/* Whether the gap, if it goes on falling as it did since half of the epochs, comes down to `target` soon enough. */
static bool keeps_pace(pace *last, uint64_t epoch, double gap, double target)
{
    if (epoch < 2 * last->epoch)
        return true;
    const double fall = log(last->gap / gap) / (double)(epoch - last->epoch);
    *last = (pace){epoch, gap};
    return MOST_TO_COME * fall >= log(gap / target);
}

static uc_status descend(uc_minimum *out, bool *arrived, dual *self, uint64_t epochs, double tolerance)
{
    uc_status status = UC_OK;
    uint64_t next = 1;
    double gap = HUGE_VAL;
    pace last = {FIRST_JUDGED / 2, HUGE_VAL};
    bool fast = true;
    for (uint64_t epoch = 1; epoch <= epochs && status == UC_OK && fast && !*arrived; epoch++) {
        run_epoch(self);
        out->iterations = epoch;
        out->evaluations++;
        if (epoch == next || epoch == epochs) {
            status = check(&out->value, &gap, self);
            out->evaluations++;
            *arrived = gap <= tolerance * out->value;
            fast = keeps_pace(&last, epoch, gap, tolerance * out->value);
            self->active = self->svm->data->X.rows;
            next += epoch < 4 ? 1 : epoch / 4;
        }
        char detail[96];
        snprintf(detail, sizeof detail, "objective %.6f, at most %.1e above the least", out->value, gap);
        if (status == UC_OK)
            status = uc_report(self->context, "training", (double)epoch, (double)epochs, detail);
    }
    return status;
}

uc_status uc_svm_dual(uc_minimum *out, bool *arrived, double *point, const uc_svm *svm, uint64_t epochs,
                      double tolerance, const uc_context *context)
{
    const size_t n = svm->data->X.rows;
    dual self = {.svm = svm, .context = context, .point = point};
    uc_status status = UC_OK;
    *arrived = false;
    self.alpha = uc_alloc(n, sizeof *self.alpha);
    self.norm2 = uc_alloc(n, sizeof *self.norm2);
    self.order = uc_alloc(n, sizeof *self.order);
    if (!self.alpha || !self.norm2 || !self.order)
        status = UC_ERR_NOMEM;
    if (status == UC_OK) {
        begin(&self);
        status = descend(out, arrived, &self, epochs, tolerance);
    }
    uc_free(self.alpha);
    uc_free(self.norm2);
    uc_free(self.order);
    return status;
}
