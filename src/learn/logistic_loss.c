/*
 * What one row contributes to logistic regression (logistic.c): its loss, the gradient of the loss in the
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

#define LEAST 1e-300 /* the smallest probability to divide by */

typedef uc_logistic_problem problem;

/* p = softmax(s); returns log sum exp(s). */
static double softmax(double *p, const double *s, size_t K)
{
    const double highest = s[uc_argmax(s, K)];
    double total = 0.0;
    for (size_t q = 0; q < K; q++)
        total += p[q] = exp(s[q] - highest);
    for (size_t q = 0; q < K; q++)
        p[q] /= total;
    /* cppcheck-suppress invalidFunctionArg ; one of the terms is exp(0) */
    return highest + log(total);
}

static double backward_gradient(const problem *self, double *s, double *p, uint32_t y)
{
    const size_t K = self->K;
    double along = 0.0, weight = 0.0;
    for (size_t q = 0; q < K; q++) {
        along += self->B[q * K + y] * s[q];
        weight += self->B[q * K + y];
    }
    const double loss = weight * softmax(p, s, K) - along;
    for (size_t q = 0; q < K; q++)
        s[q] = weight * p[q] - self->B[q * K + y];
    return loss;
}

static double forward_gradient(const problem *self, double *s, double *p, uint32_t y)
{
    const double *row = self->C + y * self->K;
    double observed = 0.0;
    (void)softmax(p, s, self->K);
    for (size_t q = 0; q < self->K; q++)
        observed += row[q] * p[q];
    observed = fmax(observed, LEAST);
    for (size_t q = 0; q < self->K; q++)
        s[q] = p[q] - row[q] * p[q] / observed;
    return -log(observed);
}

static double gradient_of(const problem *self, double *s, double *p, uint32_t y)
{
    if (self->correction == UC_CORRECTION_FORWARD)
        return forward_gradient(self, s, p, y);
    if (self->correction == UC_CORRECTION_BACKWARD)
        return backward_gradient(self, s, p, y);
    const double loss = softmax(p, s, self->K) - s[y];
    memcpy(s, p, self->K * sizeof *s);
    s[y] -= 1.0;
    return loss;
}

/* ---- soft labels: the mean of the above over the label's classes ---- */

/* The column of B for a soft label is the mean of the columns of its classes; `work` has room for K
 * numbers. */
static double soft_backward_gradient(const problem *self, double *s, double *p, const double *soft,
                                     double *work)
{
    const size_t K = self->K;
    double along = 0.0, weight = 0.0;
    for (size_t q = 0; q < K; q++) {
        work[q] = 0.0;
        for (size_t k = 0; k < K; k++)
            work[q] += soft[k] * self->B[q * K + k];
        along += work[q] * s[q];
        weight += work[q];
    }
    const double loss = weight * softmax(p, s, K) - along;
    for (size_t q = 0; q < K; q++)
        s[q] = weight * p[q] - work[q];
    return loss;
}

static double soft_forward_gradient(const problem *self, double *s, double *p, const double *soft,
                                    double *work)
{
    const size_t K = self->K;
    double loss = 0.0;
    memset(work, 0, K * sizeof *work);
    (void)softmax(p, s, K);
    for (size_t k = 0; k < K; k++) {
        const double *row = self->C + k * K;
        double observed = 0.0;
        if (soft[k] == 0.0)
            continue;
        for (size_t q = 0; q < K; q++)
            observed += row[q] * p[q];
        observed = fmax(observed, LEAST);
        for (size_t q = 0; q < K; q++)
            work[q] += soft[k] * (row[q] * p[q] / observed);
        loss -= soft[k] * log(observed);
    }
    for (size_t q = 0; q < K; q++)
        s[q] = p[q] - work[q];
    return loss;
}

static double soft_gradient_of(const problem *self, double *s, double *p, const double *soft, double *work)
{
    if (self->correction == UC_CORRECTION_FORWARD)
        return soft_forward_gradient(self, s, p, soft, work);
    if (self->correction == UC_CORRECTION_BACKWARD)
        return soft_backward_gradient(self, s, p, soft, work);
    double own = 0.0;
    for (size_t k = 0; k < self->K; k++)
        own += soft[k] * s[k];
    const double loss = softmax(p, s, self->K) - own;
    for (size_t k = 0; k < self->K; k++)
        s[k] = p[k] - soft[k];
    return loss;
}

static double labelled_gradient(const problem *self, double *s, double *p, size_t row, double *work)
{
    const uc_dataset *data = self->data;
    if (data->soft)
        return soft_gradient_of(self, s, p, data->soft + row * self->K, work);
    return gradient_of(self, s, p, data->y[row]);
}

double uc_logistic_row_gradient(const problem *self, double *s, double *p, size_t row, double *work)
{
    if (self->S >= self->K)
        return labelled_gradient(self, s, p, row, work);
    double scores[2] = {0.0, s[0]}, both[2], soft_work[2];
    const double loss = labelled_gradient(self, scores, both, row, soft_work);
    s[0] = scores[1];
    p[0] = both[1];
    return loss;
}

/* ---- curvature ---- */

/* a becomes J a. */
static void times_spread(double *a, const double *p, size_t K)
{
    double mean = 0.0;
    for (size_t q = 0; q < K; q++)
        mean += p[q] * a[q];
    for (size_t q = 0; q < K; q++)
        a[q] = p[q] * (a[q] - mean);
}

/* out += weight J(r) a for the label k; `out` and `a` are not the same. */
static void add_posterior_spread(double *out, double weight, const problem *self, const double *a,
                                 const double *p, size_t k)
{
    const double *row = self->C + k * self->K;
    double observed = 0.0, along = 0.0;
    for (size_t q = 0; q < self->K; q++) {
        observed += row[q] * p[q];
        along += row[q] * p[q] * a[q];
    }
    observed = fmax(observed, LEAST);
    const double mean = along / observed, scale = weight / observed;
    for (size_t q = 0; q < self->K; q++)
        out[q] += scale * row[q] * p[q] * (a[q] - mean);
}

static void product(const problem *self, double *a, const double *p, size_t row, double *work)
{
    const uc_dataset *data = self->data;
    const size_t K = self->K;
    memset(work, 0, K * sizeof *work);
    if (self->correction == UC_CORRECTION_FORWARD && data->soft) {
        for (size_t k = 0; k < K; k++)
            if (data->soft[row * K + k] != 0.0)
                add_posterior_spread(work, data->soft[row * K + k], self, a, p, k);
    } else if (self->correction == UC_CORRECTION_FORWARD) {
        add_posterior_spread(work, 1.0, self, a, p, data->y[row]);
    }
    times_spread(a, p, K);
    for (size_t q = 0; q < K; q++)
        a[q] -= work[q];
}

void uc_logistic_row_product(const problem *self, double *a, const double *p, size_t row, double *work)
{
    if (self->S >= self->K) {
        product(self, a, p, row, work);
        return;
    }
    if (self->correction != UC_CORRECTION_FORWARD) {
        a[0] *= p[0] * (1.0 - p[0]);
        return;
    }
    const double both[2] = {1.0 - p[0], p[0]};
    double scores[2] = {0.0, a[0]}, two[2];
    product(self, scores, both, row, two);
    a[0] = scores[1];
}

void uc_logistic_column_squares(double *sum, const problem *self)
{
    const uc_matrix *X = &self->data->X;
    for (size_t i = 0; i < X->rows; i++) {
        const uc_row row = uc_matrix_row(X, i);
        const double weight = self->weights ? self->weights[i] : 1.0;
        for (size_t k = 0; k < row.count; k++)
            sum[uc_row_column(row, k)] += weight * (double)row.values[k] * (double)row.values[k];
    }
}
