/*
 * What rows contribute to logistic regression (logistic.c): their losses, the gradient of the losses in the
 * scores, and the curvature.
 *
 *   s, p      scores, and p = softmax(s)       J(p) = dp/ds = diag(p) - pp'
 *   r         r_q = C[y][q] p_q / o, the class probabilities given the label as well
 *
 *   none, backward   d^2 loss / ds^2 = J(p): the columns of B sum to 1, as those of C do
 *   forward          J(p) - J(r), since the loss is log sum_q exp(s_q) - log sum_q C[y][q] exp(s_q)
 *
 * The second derivative of the forward loss may have negative eigenvalues. Its expectation over the labels,
 * J C' diag(1 / o) C J, has none, but takes K^2 operations per row and twice as many Newton steps.
 */
#include <math.h>
#include <string.h>

#include "learn/logistic.h"
#include "linalg/linalg.h"

#define LEAST 1e-300     /* the smallest probability to divide by */
#define MOST_PRODUCT 1e7 /* times 1 / LEAST, it is still a number */

typedef uc_logistic_problem problem;

/* The sum of the losses of some rows. Logarithms take longer than all else, so for weights of 1 there is one
 * for the product of several numbers. */
typedef struct loss_sum {
    double rest, product;
} loss_sum;

/* Adds weight log(x), x >= 1 and at most 1 / LEAST. */
static inline void add_log(loss_sum *self, double weight, double x)
{
    if (weight != 1.0) {
        self->rest += weight * log(x);
        return;
    }
    self->product *= x;
    if (!(self->product < MOST_PRODUCT)) {
        self->rest += log(self->product);
        self->product = 1.0;
    }
}

/* A row, whose scores become the gradient in them: log sum exp(s) = highest + log(total). */
typedef struct row_scores {
    double *s;
    const double *p;
    double highest, total, weight;
} row_scores;

/* Adds the loss factor (log sum exp(s)) - along. */
static inline void add_loss(loss_sum *sum, const row_scores *row, double factor, double along)
{
    sum->rest += row->weight * (factor * row->highest - along);
    add_log(sum, row->weight * factor, row->total);
}

/* `by_class` holds the label's column of B. */
static void backward_gradient(loss_sum *sum, const row_scores *row, const problem *self,
                              const double *by_class)
{
    double along = 0.0, factor = 0.0;
    for (size_t q = 0; q < self->K; q++) {
        along += by_class[q] * row->s[q];
        factor += by_class[q];
    }
    add_loss(sum, row, factor, along);
    for (size_t q = 0; q < self->S; q++)
        row->s[q] = factor * row->p[q] - (q < self->K ? by_class[q] : 0.0);
}

/* Subtracts share C[k][q] p_q / o from s. */
static void subtract_posterior(loss_sum *sum, const row_scores *row, const problem *self, size_t k,
                               double share)
{
    const double *C = self->C + k * self->K;
    double observed = 0.0;
    for (size_t q = 0; q < self->K; q++)
        observed += C[q] * row->p[q];
    const double inverse = 1.0 / fmax(observed, LEAST);
    for (size_t q = 0; q < self->K; q++)
        row->s[q] -= share * (C[q] * row->p[q] * inverse);
    add_log(sum, row->weight * share, inverse);
}

static void gradient_of(loss_sum *sum, const row_scores *row, const problem *self, uint32_t y, double *work)
{
    const size_t K = self->K;
    if (self->correction == UC_CORRECTION_BACKWARD) {
        for (size_t q = 0; q < K; q++)
            work[q] = self->B[q * K + y];
        backward_gradient(sum, row, self, work);
        return;
    }
    const double own = row->s[y];
    memcpy(row->s, row->p, self->S * sizeof *row->s);
    if (self->correction == UC_CORRECTION_FORWARD) {
        subtract_posterior(sum, row, self, y, 1.0);
        return;
    }
    add_loss(sum, row, 1.0, own);
    row->s[y] -= 1.0;
}

/* For a soft label: the mean of the above over the label's classes. */
static void soft_gradient_of(loss_sum *sum, const row_scores *row, const problem *self, const double *soft,
                             double *work)
{
    const size_t K = self->K;
    if (self->correction == UC_CORRECTION_FORWARD) {
        memcpy(row->s, row->p, self->S * sizeof *row->s);
        for (size_t k = 0; k < K; k++)
            if (soft[k] != 0.0)
                subtract_posterior(sum, row, self, k, soft[k]);
        return;
    }
    memcpy(work, soft, K * sizeof *work);
    if (self->correction == UC_CORRECTION_BACKWARD)
        for (size_t q = 0; q < K; q++) {
            work[q] = 0.0;
            for (size_t k = 0; k < K; k++)
                work[q] += soft[k] * self->B[q * K + k];
        }
    backward_gradient(sum, row, self, work); /* with the identity for B, it is the uncorrected loss */
}

static double weight_of(const problem *self, size_t row)
{
    return self->weights ? self->weights[row] : 1.0;
}

static void many_gradient(loss_sum *sum, const problem *self, double *s, double *p, size_t first, size_t rows,
                          double *work)
{
    const uc_dataset *data = self->data;
    double highest[UC_LOGISTIC_ROWS], total[UC_LOGISTIC_ROWS];
    uc_softmax_rows(p, highest, total, s, rows, self->K, self->S);
    for (size_t i = 0; i < rows; i++) {
        const row_scores row = {s + i * self->S, p + i * self->S, highest[i], total[i],
                                weight_of(self, first + i)};
        sum->rest += 0.0 * highest[i] * total[i]; /* not a number if a score is not finite */
        if (data->soft)
            soft_gradient_of(sum, &row, self, data->soft + (first + i) * self->K, work);
        else
            gradient_of(sum, &row, self, data->y[first + i], work);
    }
}

/* The gradient in the score of class 1, that of class 0 being 0. The label is class k with weight `share`. */
static inline double pair_gradient_of(loss_sum *sum, const problem *self, const row_scores *row, size_t k,
                                      double share)
{
    const double *p = row->p;
    if (self->correction == UC_CORRECTION_FORWARD) {
        const double *C = self->C + 2 * k, inverse = 1.0 / fmax(C[0] * p[0] + C[1] * p[1], LEAST);
        add_log(sum, row->weight * share, inverse);
        return share * (p[1] - C[1] * p[1] * inverse);
    }
    double own = (double)k, factor = 1.0;
    if (self->correction == UC_CORRECTION_BACKWARD) {
        own = self->B[2 + k];
        factor = self->B[k] + own;
    }
    add_loss(sum, row, share * factor, share * own * row->s[0]);
    return share * (factor * p[1] - own);
}

static void pair_gradient(loss_sum *sum, const problem *self, double *s, double *p, size_t first, size_t rows)
{
    const uc_dataset *data = self->data;
    for (size_t i = 0; i < rows; i++)
        p[i] = -fabs(s[i]);
    uc_exponential(p, rows);
    for (size_t i = 0; i < rows; i++) {
        const double total = 1.0 + p[i], higher = 1.0 / total, lower = p[i] * higher;
        const bool positive = s[i] > 0.0;
        const double both[2] = {positive ? lower : higher, positive ? higher : lower};
        const row_scores row = {s + i, both, positive ? s[i] : 0.0, total, weight_of(self, first + i)};
        double gradient = 0.0;
        sum->rest += 0.0 * s[i]; /* not a number if the score is not finite */
        if (!data->soft)
            gradient = pair_gradient_of(sum, self, &row, data->y[first + i], 1.0);
        for (size_t k = 0; data->soft && k < 2; k++)
            gradient += pair_gradient_of(sum, self, &row, k, data->soft[2 * (first + i) + k]);
        p[i] = both[1];
        s[i] = gradient;
    }
}

double uc_logistic_rows_gradient(const problem *self, double *s, double *p, size_t first, size_t rows,
                                 double *work)
{
    loss_sum sum = {0.0, 1.0};
    assert(rows <= UC_LOGISTIC_ROWS);
    if (self->S < self->K)
        pair_gradient(&sum, self, s, p, first, rows);
    else
        many_gradient(&sum, self, s, p, first, rows, work);
    return sum.rest + log(sum.product);
}

/* ---- curvature ---- */

/* The sum of a_q b_q, for a length that is a multiple of four. */
static double product_of(const double *a, const double *b, size_t length)
{
    double lanes[UC_LANES] = {0};
    for (size_t q = 0; q < length; q += UC_LANES)
        for (size_t lane = 0; lane < UC_LANES; lane++)
            lanes[lane] += a[q + lane] * b[q + lane];
    return uc_lane_sum(lanes);
}

/* a -= share J(r) a for the label k, where `along` was a; both are not the same memory. */
static void subtract_posterior_spread(double *a, double share, const problem *self, const double *along,
                                      const double *p, size_t k)
{
    const double *C = self->C + k * self->K;
    double observed = 0.0, sum = 0.0;
    for (size_t q = 0; q < self->K; q++) {
        observed += C[q] * p[q];
        sum += C[q] * p[q] * along[q];
    }
    observed = fmax(observed, LEAST);
    const double mean = sum / observed, scale = share / observed;
    for (size_t q = 0; q < self->K; q++)
        a[q] -= scale * C[q] * p[q] * (along[q] - mean);
}

/* `along`: S numbers. */
static void many_product(const problem *self, double *a, const double *p, size_t row, double *along)
{
    const uc_dataset *data = self->data;
    const size_t K = self->K, S = self->S;
    double mean = 0.0;
    if (S % UC_LANES == 0)
        mean = product_of(p, a, S);
    for (size_t q = 0; q < K && S % UC_LANES != 0; q++)
        mean += p[q] * a[q];
    memcpy(along, a, S * sizeof *along);
    for (size_t q = 0; q < S; q++)
        a[q] = p[q] * (a[q] - mean);
    if (self->correction != UC_CORRECTION_FORWARD)
        return;
    if (!data->soft) {
        subtract_posterior_spread(a, 1.0, self, along, p, data->y[row]);
        return;
    }
    for (size_t k = 0; k < K; k++)
        if (data->soft[row * K + k] != 0.0)
            subtract_posterior_spread(a, data->soft[row * K + k], self, along, p, k);
}

static double spread_of(double p)
{
    return p * (1.0 - p);
}

static double posterior_spread(const problem *self, double p, size_t k)
{
    const double *C = self->C + 2 * k;
    return spread_of(C[1] * p / fmax(C[0] * (1.0 - p) + C[1] * p, LEAST));
}

static double pair_curvature(const problem *self, double p, size_t row)
{
    const uc_dataset *data = self->data;
    if (self->correction != UC_CORRECTION_FORWARD)
        return spread_of(p);
    if (!data->soft)
        return spread_of(p) - posterior_spread(self, p, data->y[row]);
    const double *soft = data->soft + 2 * row;
    return spread_of(p) - soft[0] * posterior_spread(self, p, 0) - soft[1] * posterior_spread(self, p, 1);
}

void uc_logistic_rows_product(const problem *self, double *a, const double *p, size_t first, size_t rows,
                              double *work)
{
    for (size_t i = 0; i < rows && self->S < self->K; i++)
        a[i] *= pair_curvature(self, p[i], first + i);
    for (size_t i = 0; i < rows && self->S >= self->K; i++)
        many_product(self, a + i * self->S, p + i * self->S, first + i, work);
}

double uc_logistic_information(const problem *self, const double *p)
{
    const size_t K = self->K, first = self->S < K ? 1 : 0;
    double sum = 0.0;
    for (size_t k = 0; k < K; k++) {
        const double *C = self->C + k * K;
        double observed = 0.0;
        for (size_t q = 0; q < K; q++)
            observed += C[q] * p[q];
        for (size_t q = first; q < K; q++) {
            const double slope = p[q] * (C[q] - observed); /* of `observed` in score q */
            sum += slope * slope / fmax(observed, LEAST);
        }
    }
    return sum / (double)(K - first);
}

void uc_logistic_column_squares(double *sum, const problem *self)
{
    const uc_matrix *X = &self->data->X;
    for (size_t i = 0; i < X->rows; i++) {
        const uc_row row = uc_matrix_row(X, i);
        const double weight = weight_of(self, i);
        for (size_t k = 0; k < row.count; k++)
            sum[uc_row_column(row, k)] += weight * (double)row.values[k] * (double)row.values[k];
    }
}
