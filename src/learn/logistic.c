/*
 * Multinomial logistic regression on labels that a matrix has confused.
 *
 *   x_i, y_i  an example and its observed label      s_q = <w_q, x> + b_q    p = softmax(s)
 *   C, B      C[k][q] = P(observed k | true q), and its inverse
 *
 *   minimise  1/n sum_i loss_i + l2/2 sum_q ||w_q||^2          over W and the free offsets b
 *
 *   none      loss = -log p_y                                   gradient in s_q:  p_q - [q = y]
 *   forward   loss = -log o,  o = sum_q C[y][q] p_q                               p_q - C[y][q] p_q / o
 *   backward  loss = -sum_q B[q][y] log p_q                                       p_q sum_r B[r][y] - B[q][y]
 *
 * With weights u_i the mean is sum_i u_i loss_i / sum_i u_i; with soft labels loss_i is the mean over the
 * label.
 *
 * Forward is the likelihood of the labels that were observed (Patrini, Rozza, Krishna Menon, Nock, Qu, CVPR
 * 2017); it is not convex: it starts at zero, and without offsets. p then estimates the probability of the
 * true class. L-BFGS by liblbfgs; the gradient is a sum over the examples.
 *
 * Rows that are sparse and, in a process, fewer than the columns (text) are kept transposed as well: first
 * the gradient r_i in the scores of every row, then that of the weights of column j, sum_i x_ij r_i, which no
 * two threads share.
 */
#include <math.h>
#include <string.h>

#include "learn/logistic.h"
#include "learn/minimise.h"
#include "linalg/linalg.h"

#define ROWS_AT_ONCE ((size_t)64) /* a dense block of them stays in the cache */
#define COLUMNS_PER_BLOCK ((size_t)512)

#define FIELD(name) offsetof(uc_logistic_settings, name)

static const uc_option options[] = {
    {.name = "correction",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(correction),
     .standard = "auto",
     .choices = "auto|none|forward|backward",
     .help = "how the noise matrix is used (auto: forward when noise is given, else none)"},
    {.name = "l2",
     .type = UC_OPTION_REAL,
     .automatic = true,
     .offset = FIELD(l2),
     .standard = "0.0001",
     .low = 0,
     .high = 1e6,
     .argument = "L",
     .help = "strength of the L2 penalty, the squared length of the weights (auto: by the likelihood of "
             "held-out labels)"},
    UC_MINIMISE_OPTIONS(uc_logistic_settings),
    UC_CLASS_WEIGHT_OPTION(uc_logistic_settings),
    {.name = NULL},
};

typedef uc_logistic_problem problem;

/* s becomes p = softmax(s); returns log sum exp(s). */
static double softmax(double *s, size_t K)
{
    const double highest = s[uc_argmax(s, K)];
    double total = 0.0;
    for (size_t q = 0; q < K; q++)
        total += s[q] = exp(s[q] - highest);
    for (size_t q = 0; q < K; q++)
        s[q] /= total;
    /* cppcheck-suppress invalidFunctionArg ; one of the terms is exp(0) */
    return highest + log(total);
}

static double backward_gradient(const problem *self, double *s, uint32_t y)
{
    const size_t K = self->K;
    double along = 0.0, weight = 0.0;
    for (size_t q = 0; q < K; q++) {
        along += self->B[q * K + y] * s[q];
        weight += self->B[q * K + y];
    }
    const double loss = weight * softmax(s, K) - along;
    for (size_t q = 0; q < K; q++)
        s[q] = weight * s[q] - self->B[q * K + y];
    return loss;
}

static double forward_gradient(const problem *self, double *s, uint32_t y)
{
    const double *row = self->C + y * self->K;
    double observed = 0.0;
    (void)softmax(s, self->K);
    for (size_t q = 0; q < self->K; q++)
        observed += row[q] * s[q];
    observed = fmax(observed, 1e-300);
    for (size_t q = 0; q < self->K; q++)
        s[q] -= row[q] * s[q] / observed;
    return -log(observed);
}

/* Scores become the gradient in the scores; returns the loss. */
static double gradient_in_scores(const problem *self, double *s, uint32_t y)
{
    if (self->correction == UC_CORRECTION_FORWARD)
        return forward_gradient(self, s, y);
    if (self->correction == UC_CORRECTION_BACKWARD)
        return backward_gradient(self, s, y);
    const double own = s[y], loss = softmax(s, self->K) - own;
    s[y] -= 1.0;
    return loss;
}

/* ---- soft labels: the mean of the above over the label ---- */

/* The column of B that a soft label stands for is that of its classes, on average; `work` has room for K. */
static double soft_backward_gradient(const problem *self, double *s, const double *soft, double *work)
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
    const double loss = weight * softmax(s, K) - along;
    for (size_t q = 0; q < K; q++)
        s[q] = weight * s[q] - work[q];
    return loss;
}

static double soft_forward_gradient(const problem *self, double *s, const double *soft, double *work)
{
    const size_t K = self->K;
    double loss = 0.0;
    memset(work, 0, K * sizeof *work);
    (void)softmax(s, K);
    for (size_t k = 0; k < K; k++) {
        const double *row = self->C + k * K;
        double observed = 0.0;
        if (soft[k] == 0.0)
            continue;
        for (size_t q = 0; q < K; q++)
            observed += row[q] * s[q];
        observed = fmax(observed, 1e-300);
        for (size_t q = 0; q < K; q++)
            work[q] += soft[k] * (row[q] * s[q] / observed);
        loss -= soft[k] * log(observed);
    }
    for (size_t q = 0; q < K; q++)
        s[q] -= work[q];
    return loss;
}

static double soft_gradient_in_scores(const problem *self, double *s, const double *soft, double *work)
{
    if (self->correction == UC_CORRECTION_FORWARD)
        return soft_forward_gradient(self, s, soft, work);
    if (self->correction == UC_CORRECTION_BACKWARD)
        return soft_backward_gradient(self, s, soft, work);
    double own = 0.0;
    for (size_t k = 0; k < self->K; k++)
        own += soft[k] * s[k];
    const double loss = softmax(s, self->K) - own;
    for (size_t k = 0; k < self->K; k++)
        s[k] -= soft[k];
    return loss;
}

typedef struct gradient_job {
    const problem *problem;
    const double *W; /* (1 + d) x S: the point at which the gradient is taken */
} gradient_job;

enum { LOSS, NUMBER, TOTALS }; /* of rows, by their weights: what stands after a sum */

/* Scores of rows from `first` on become the gradients in them; adds these, which are those of the offsets,
 * and the totals. */
static void add_offsets(double *offsets, double *totals, double *scores, const problem *self, size_t first,
                        size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        double *s = scores + i * self->S;
        totals[LOSS] += gradient_in_scores(self, s, self->data->y[first + i]);
        for (size_t q = self->K; q < self->S; q++)
            s[q] = 0.0;
        for (size_t q = 0; q < self->K; q++)
            offsets[q] += s[q];
    }
    totals[NUMBER] += (double)rows;
}

/* The same of rows with weights or soft labels; `work` has room for K. */
static void add_weighted_offsets(double *offsets, double *totals, double *scores, const problem *self,
                                 size_t first, size_t rows, double *work)
{
    const double *soft = self->data->soft;
    for (size_t i = 0; i < rows; i++) {
        double *s = scores + i * self->S, loss;
        const double weight = self->weights ? self->weights[first + i] : 1.0;
        if (soft)
            loss = soft_gradient_in_scores(self, s, soft + (first + i) * self->K, work);
        else
            loss = gradient_in_scores(self, s, self->data->y[first + i]);
        totals[LOSS] += weight * loss;
        totals[NUMBER] += weight;
        for (size_t q = self->K; q < self->S; q++)
            s[q] = 0.0;
        for (size_t q = 0; q < self->K; q++)
            offsets[q] += s[q] *= weight;
    }
}

static void add_all_offsets(double *offsets, double *totals, double *scores, const problem *self,
                            size_t first, size_t rows, double *work)
{
    if (self->weights || self->data->soft)
        add_weighted_offsets(offsets, totals, scores, self, first, rows, work);
    else
        add_offsets(offsets, totals, scores, self, first, rows);
}

/* Adds the gradient, (1 + d) x S, and after it the loss and the number, of rows first .. last-1. */
static uc_status add_gradient(double *sum, size_t first, size_t last, void *user)
{
    const gradient_job *job = user;
    const problem *self = job->problem;
    const uc_matrix *X = &self->data->X;
    const size_t S = self->S, d = X->cols;
    const size_t work_size = uc_matrix_is_sparse(X) ? 0 : ROWS_AT_ONCE * d;
    double *scores = uc_alloc((ROWS_AT_ONCE + 1) * S, sizeof *scores);
    double *work = uc_alloc(work_size, sizeof *work);
    for (size_t start = first; start < last && scores && work; start += ROWS_AT_ONCE) {
        const size_t rows = uc_min_size(last - start, ROWS_AT_ONCE);
        uc_score_rows_for_gradient(scores, X, start, rows, job->W + S, S, job->W, work);
        add_all_offsets(sum, sum + (d + 1) * S, scores, self, start, rows, scores + ROWS_AT_ONCE * S);
        uc_block_update(sum + S, X, start, rows, S, scores, work);
    }
    uc_free(work);
    uc_free(scores);
    if (!scores || !work)
        return UC_ERR_NOMEM;
    return UC_OK;
}

/* The sums over all rows: gradient, loss and number. */
static uc_status sum_by_row(double *gradient, double *totals, const double *W, const problem *self,
                            const uc_context *context)
{
    const size_t used = (self->data->X.cols + 1) * self->S;
    gradient_job job = {self, W};
    double *sum = uc_alloc(used + TOTALS, sizeof *sum);
    if (!sum)
        return UC_ERR_NOMEM;
    const uc_status status = uc_sum_over(context, self->data->X.rows, add_gradient, &job, sum, used + TOTALS);
    memcpy(gradient, sum, used * sizeof *sum);
    memcpy(totals, sum + used, TOTALS * sizeof *sum);
    uc_free(sum);
    return status;
}

/* ---- the same with more columns than rows: a sum a thread would be longer than the data ---- */

/* The gradients in the scores of rows first .. last-1; adds those of the offsets, and after them loss and
 * number. */
static uc_status add_residuals(double *sum, size_t first, size_t last, void *user)
{
    const gradient_job *job = user;
    const problem *self = job->problem;
    const size_t S = self->S;
    double *scores = self->residuals + first * S;
    uc_score_rows_for_gradient(scores, &self->data->X, first, last - first, job->W + S, S, job->W, NULL);
    double *work = uc_alloc(S, sizeof *work);
    if (!work)
        return UC_ERR_NOMEM;
    add_all_offsets(sum, sum + S, scores, self, first, last - first, work);
    uc_free(work);
    return UC_OK;
}

typedef struct columns_job {
    const problem *problem;
    double *gradient; /* of the weights, d x S */
} columns_job;

static uc_status multiply_columns(size_t block, void *user)
{
    const columns_job *job = user;
    const problem *self = job->problem;
    const size_t S = self->S, d = self->by_column->rows, first = block * COLUMNS_PER_BLOCK;
    for (size_t j = first; j < d && j < first + COLUMNS_PER_BLOCK; j++) {
        double *sum = job->gradient + j * S;
        memset(sum, 0, S * sizeof *sum);
        uc_row_scores(sum, uc_matrix_row(self->by_column, j), self->residuals, S);
    }
    return UC_OK;
}

static uc_status sum_by_column(double *gradient, double *totals, const double *W, const problem *self,
                               const uc_context *context)
{
    const size_t S = self->S, d = self->data->X.cols;
    gradient_job rows = {self, W};
    columns_job columns = {self, gradient + S};
    double *sum = uc_alloc(S + TOTALS, sizeof *sum);
    if (!sum)
        return UC_ERR_NOMEM;
    uc_status status = uc_sum_over(context, self->data->X.rows, add_residuals, &rows, sum, S + TOTALS);
    memcpy(gradient, sum, S * sizeof *sum);
    memcpy(totals, sum + S, TOTALS * sizeof *sum);
    uc_free(sum);
    if (status == UC_OK)
        status = uc_run_blocks(context, (d + COLUMNS_PER_BLOCK - 1) / COLUMNS_PER_BLOCK, multiply_columns,
                               &columns);
    if (status != UC_OK)
        return status;
    return uc_comm_sum(uc_comm_of(context), gradient + S, d * S);
}

uc_status uc_logistic_gradient(double *objective, double *gradient, const double *W, const problem *self,
                               const uc_context *context)
{
    const size_t S = self->S, used = (self->data->X.cols + 1) * S;
    double totals[TOTALS] = {0}, squares = 0.0;
    uc_status status;
    if (self->by_column)
        status = sum_by_column(gradient, totals, W, self, context);
    else
        status = sum_by_row(gradient, totals, W, self, context);
    if (status != UC_OK)
        return status;
    const double n = totals[NUMBER];
    for (size_t i = 0; i < S; i++)
        gradient[i] = self->free_offset ? gradient[i] / n : 0.0;
    for (size_t i = S; i < used; i++) {
        gradient[i] = gradient[i] / n + self->l2 * W[i];
        squares += W[i] * W[i];
    }
    *objective = totals[LOSS] / n + self->l2 / 2 * squares;
    return UC_OK;
}

typedef struct search {
    const problem *problem;
    const uc_context *context;
} search;

static uc_status evaluate(double *objective, double *gradient, const double *W, void *user)
{
    const search *self = user;
    return uc_logistic_gradient(objective, gradient, W, self->problem, self->context);
}

/* One run of L-BFGS. The second derivative of the mean loss in a score is p (1 - p), which is 1/K (1 - 1/K)
 * at the start. */
static uc_status descend(uc_minimum *out, double *weights, const problem *self,
                         const uc_logistic_settings *settings, const uc_context *context)
{
    search user = {self, context};
    uc_conditioning conditioning;
    const double share = 1.0 / (double)self->K;
    const uc_matrix *X = &self->data->X;
    uc_status status = uc_conditioning_fit(&conditioning, X, self->S, self->l2, share * (1.0 - share),
                                           self->free_offset, context);
    if (status == UC_OK)
        status = uc_minimise(out, weights, (X->cols + 1) * self->S, evaluate, &user, &conditioning,
                             settings->iterations, settings->tolerance, context);
    uc_conditioning_free(&conditioning);
    return status;
}

/* The forward loss is not convex. Offsets that are free from the start may drive a class to probability 0,
 * from where no gradient brings it back (digits with 70% wrong labels lost one of ten); weights that have
 * found the classes first do not let that happen. */
static uc_status minimise(uc_model *model, const problem *self, const uc_logistic_settings *settings,
                          const uc_context *context)
{
    uc_minimum found = {0}, first = {0};
    uc_status status = UC_OK;
    if (self->correction == UC_CORRECTION_FORWARD && self->free_offset) {
        problem stage = *self;
        stage.free_offset = false;
        status = descend(&first, model->weights, &stage, settings, context);
    }
    if (status == UC_OK)
        status = descend(&found, model->weights, self, settings, context);
    if (status != UC_OK)
        return status;
    uc_minimum_warn(&found, "logistic", settings->iterations, UC_ADVISE_L2, context);
    found.iterations += first.iterations;
    found.evaluations += first.evaluations;
    model->bias = self->free_offset; /* the free offset is the weight of a constant 1 */
    status = uc_json_set(model->summary, "iterations", json_integer((json_int_t)found.iterations));
    if (status == UC_OK)
        status = uc_json_set(model->summary, "updates", json_integer((json_int_t)found.evaluations));
    if (status == UC_OK)
        status = uc_json_set(model->summary, "objective", json_real(found.value));
    return status;
}

/* With more columns than rows in a process, and memory for it in every one, gradients are added up by
 * columns. In how many processes they are changes rounding alone. */
static uc_status turn_data(uc_matrix *by_column, problem *self, const uc_fit *fit)
{
    const uc_matrix *X = &fit->data->X;
    const uc_comm *comm = uc_comm_of(fit->context);
    /* The rows themselves stay. */
    const double bytes = 8.0 * (2.0 * (double)uc_matrix_entries(X) + (double)X->cols +
                                (double)X->rows * (1.0 + (double)self->S));
    if (!uc_matrix_is_sparse(X) || fit->rows / (size_t)uc_comm_size(comm) >= X->cols)
        return UC_OK;
    double lacking = uc_memory_check(fit->context, bytes, "transposed data") != UC_OK;
    uc_status status = uc_comm_sum(comm, &lacking, 1);
    if (status != UC_OK || lacking > 0.0)
        return status;
    self->residuals = uc_alloc(X->rows * self->S, sizeof *self->residuals);
    status = UC_ERR_NOMEM;
    if (self->residuals)
        status = uc_matrix_transpose(by_column, X);
    self->by_column = by_column;
    return uc_comm_agree(comm, status);
}

static uc_status fit(uc_model *model, const uc_fit *fit, const void *user)
{
    const uc_logistic_settings *settings = user;
    const uc_noise *noise = fit->train->noise;
    const size_t K = fit->data->classes.count;
    int correction = settings->correction;
    if (correction == UC_CORRECTION_AUTO)
        correction = noise ? UC_CORRECTION_FORWARD : UC_CORRECTION_NONE;
    if (correction != UC_CORRECTION_NONE && !noise)
        return uc_fail(UC_ERR_INVALID,
                       "{correction=%s} needs the noise: give it with {noise-matrix} or {noise-rate}",
                       correction == UC_CORRECTION_FORWARD ? "forward" : "backward");
    if (isnan(settings->l2))
        return uc_fail(UC_ERR_INVALID, "{l2=auto} must become a number before training (uc_tune)");
    double *inverse = NULL;
    uc_status status = uc_blas_begin(uc_threads(fit->context));
    if (status == UC_OK && correction == UC_CORRECTION_BACKWARD) {
        inverse = uc_alloc(K * K, sizeof *inverse);
        status = UC_ERR_NOMEM;
        if (inverse)
            status = uc_noise_invert(inverse, noise, 0.0);
    }
    problem self = {.data = fit->data,
                    .K = K,
                    .S = model->stride,
                    .correction = (uc_correction)correction,
                    .B = inverse,
                    .l2 = settings->l2,
                    .weights = fit->weights,
                    .free_offset = fit->train->bias != 0.0};
    uc_matrix by_column = {0};
    if (noise)
        self.C = noise->values;
    status = uc_comm_agree(uc_comm_of(fit->context), status);
    if (status == UC_OK)
        status = turn_data(&by_column, &self, fit);
    if (status == UC_OK)
        status = minimise(model, &self, settings, fit->context);
    uc_matrix_free(&by_column);
    uc_free(self.residuals);
    uc_free(inverse);
    return status;
}

static const double l2_values[] = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
static const uc_candidates candidates[] = {{"l2", l2_values, sizeof l2_values / sizeof *l2_values}, {0}};

const uc_learner uc_learner_logistic = {
    .name = "logistic",
    .summary = "labels confused by a matrix, or clean; gives probabilities, and finds suspicious labels",
    .paper =
        "Patrini, Rozza, Krishna Menon, Nock, Qu: Making deep neural networks robust to label noise: a loss "
        "correction approach, CVPR 2017",
    .options = options,
    .settings_size = sizeof(uc_logistic_settings),
    .full = true,
    .free_offset = true,
    .uses_noise = true,
    .probabilities = true,
    .soft = true,
    .class_weight = offsetof(uc_logistic_settings, class_weight),
    .candidates = candidates,
    .fit = fit,
};
