/*
 * Minimising the risks of positive and unlabelled rows, and choosing their penalty.
 *
 * The unbiased risk is minimised by L-BFGS. If the negative part is at least 0 at its minimum, this is also a
 * minimum of the non-negative risk, which is nowhere smaller. Otherwise max(0, negative part) is rounded off,
 * less and less in each stage, and minimised over all rows. If the rounding leaves a negative part below 0,
 * the weights are shrunk towards 0, where the negative part is (1 - prior) l(0). No row is drawn at random,
 * unlike in the paper's mini-batches, so the result depends on the data alone.
 *
 * The penalty is chosen by cross-validation: for each candidate the risk is minimised without the rows of a
 * fold, and evaluated on these.
 */
#include <math.h>
#include <string.h>

#include "learn/pu/pu.h"
#include "linalg/linalg.h"

#define STAGES 3        /* with decreasing rounding */
#define FIRST_SHARE 0.1 /* of 1 - prior: the first rounding; each next one is a tenth of the previous */
#define HALVINGS 40     /* of the weights, on the way to a negative part of 0 */
#define ROUGH 1e-4      /* the tolerance while choosing */
#define ROUGH_STEPS 200
#define EVENNESS 10.0 /* h */

/* Candidates for l2, in units of the mean variance of a column. The sigmoid loss is flat at large offsets:
 * with a penalty that leaves hardly any weights, it decreases by making every row negative, and does not
 * recover. */
static const double convex[] = {10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001};
static const double bounded[] = {0.2, 0.1, 0.06, 0.03, 0.01, 0.003, 0.001};
#define MOST_CANDIDATES (sizeof convex / sizeof *convex)
#define WARM_UP 0.1 /* l2, in the same unit, for the logistic loss from whose solution the sigmoid starts */

static size_t candidates_of(const double **values, uc_pu_loss loss)
{
    *values = loss == UC_PU_SIGMOID ? bounded : convex;
    return loss == UC_PU_SIGMOID ? sizeof bounded / sizeof *bounded : MOST_CANDIDATES;
}

/* ---- one problem ---- */

static uc_status evaluate(double *value, double *gradient, const double *weights, void *user)
{
    return uc_pu_objective(value, gradient, NULL, user, weights);
}

static uc_status descend(uc_minimum *out, double *weights, uc_pu_problem *self, uint64_t iterations,
                         double tolerance)
{
    const uc_pu_rows *rows = self->rows;
    uc_minimum found = {0};
    const uc_status status = uc_minimise(&found, weights, rows->data->X.cols + 1, evaluate, self,
                                         &rows->conditioning, iterations, tolerance, rows->context);
    found.iterations += out->iterations;
    found.evaluations += out->evaluations;
    *out = found;
    return status;
}

/* The negative part at `share` times the weights; `work` has room for weights and a gradient. */
static uc_status negative_part(double *negative, const uc_pu_problem *self, const double *weights,
                               double share, double *work)
{
    const size_t count = self->rows->data->X.cols + 1;
    uc_pu_parts parts = {0};
    double value;
    for (size_t j = 0; j < count; j++)
        work[j] = share * weights[j];
    const uc_status status = uc_pu_objective(&value, work + count, &parts, self, work);
    *negative = parts.negative;
    return status;
}

/* Shrinks the weights just enough to make the negative part at least 0. */
static uc_status correct(double *weights, const uc_pu_problem *self, double *work)
{
    double low = 0.0, high = 1.0, negative;
    uc_status status = negative_part(&negative, self, weights, 1.0, work);
    if (status != UC_OK || negative >= 0.0)
        return status;
    for (int i = 0; i < HALVINGS && status == UC_OK; i++) {
        const double middle = (low + high) / 2.0;
        status = negative_part(&negative, self, weights, middle, work);
        if (negative >= 0.0)
            low = middle;
        else
            high = middle;
    }
    for (size_t j = 0; j <= self->rows->data->X.cols; j++)
        weights[j] *= low;
    return status;
}

uc_status uc_pu_minimise(uc_minimum *out, double *weights, const uc_pu_problem *self, uint64_t iterations,
                         double tolerance)
{
    uc_pu_problem stage = *self;
    double negative = 0.0;
    stage.smoothing = 0.0;
    *out = (uc_minimum){0};
    uc_status status = descend(out, weights, &stage, iterations, tolerance);
    if (status != UC_OK || self->kind != UC_PU_NONNEGATIVE)
        return status;
    double *work = uc_alloc(2 * (self->rows->data->X.cols + 1), sizeof *work);
    if (!work)
        return UC_ERR_NOMEM;
    status = negative_part(&negative, self, weights, 1.0, work);
    stage.smoothing = FIRST_SHARE * (1.0 - self->prior);
    for (int i = 0; i < STAGES && negative < 0.0 && status == UC_OK; i++) {
        status = descend(out, weights, &stage, iterations, tolerance);
        stage.smoothing /= 10.0;
    }
    if (status == UC_OK)
        status = correct(weights, self, work);
    uc_free(work);
    return status;
}

/* ---- the penalty ---- */

/* The starting point of a search: weights of 0, or for the sigmoid loss the solution of the logistic one. */
static uc_status begin(double *weights, const uc_pu_problem *self)
{
    uc_pu_problem first = *self;
    uc_minimum found;
    memset(weights, 0, (self->rows->data->X.cols + 1) * sizeof *weights);
    if (self->loss != UC_PU_SIGMOID)
        return UC_OK;
    first.kind = UC_PU_UNBIASED;
    first.loss = UC_PU_LOGISTIC;
    first.l2 = WARM_UP * self->rows->variance;
    return uc_pu_minimise(&found, weights, &first, ROUGH_STEPS, ROUGH);
}

uc_status uc_pu_solve(uc_minimum *out, double *weights, const uc_pu_problem *self, uint64_t iterations,
                      double tolerance)
{
    const uc_status status = begin(weights, self);
    return status == UC_OK ? uc_pu_minimise(out, weights, self, iterations, tolerance) : status;
}

/* Adds the held-out risk of each candidate. */
static uc_status try_fold(double *risk, uc_pu_problem *self, uc_pu_criterion criterion)
{
    const size_t length = self->rows->data->X.cols + 1;
    double *start = uc_alloc(length, sizeof *start), *weights = uc_alloc(length, sizeof *weights);
    double *scores = uc_alloc(self->rows->data->X.rows, sizeof *scores);
    const double *candidates;
    const size_t count = candidates_of(&candidates, self->loss);
    uc_minimum found;
    uc_status status =
        uc_comm_agree(uc_comm_of(self->rows->context), start && weights && scores ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK)
        status = begin(start, self);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        double value = 0.0;
        self->l2 = candidates[i] * self->rows->variance;
        /* A convex search may start where the last one ended. */
        if (i == 0 || self->loss == UC_PU_SIGMOID)
            memcpy(weights, start, length * sizeof *weights);
        status = uc_pu_minimise(&found, weights, self, ROUGH_STEPS, ROUGH);
        if (status == UC_OK)
            status = uc_pu_scores(scores, self->rows, weights);
        if (status == UC_OK)
            status = uc_pu_held_out(&value, self, scores, criterion);
        risk[i] += value;
    }
    uc_free(scores);
    uc_free(weights);
    uc_free(start);
    return status;
}

uc_status uc_pu_choose_l2(double *l2, double *least, const uc_pu_problem *self, uc_pu_criterion criterion)
{
    double risk[MOST_CANDIDATES] = {0.0};
    const double *candidates;
    const size_t count = candidates_of(&candidates, self->loss);
    size_t best = 0;
    uc_status status = UC_OK;
    for (int fold = 0; fold < UC_PU_FOLDS && status == UC_OK; fold++) {
        uc_pu_problem part = *self;
        part.held_out = fold;
        status = uc_pu_problem_count(&part);
        if (status == UC_OK && part.labelled > 0.0 && part.unlabelled > 0.0)
            status = try_fold(risk, &part, criterion);
    }
    for (size_t i = 1; i < count; i++)
        if (risk[i] < risk[best])
            best = i;
    *l2 = candidates[best] * self->rows->variance;
    *least = risk[best] / UC_PU_FOLDS;
    return status;
}

void uc_pu_set_factors(double *factors, const double *weights, size_t d)
{
    double mean = 0.0;
    for (size_t j = 1; j <= d; j++)
        mean += weights[j] * weights[j] / (double)d;
    for (size_t j = 1; j <= d; j++) {
        const double factor = (1.0 + EVENNESS) * mean / (weights[j] * weights[j] + EVENNESS * mean);
        factors[j - 1] = mean > 0.0 ? factor : 1.0;
    }
}

/* Scores the rows of one fold, by weights learned from the others. */
static uc_status score_fold(double *out, uc_pu_problem *self, double *weights, double *scores)
{
    uc_minimum found;
    uc_status status = uc_pu_problem_count(self);
    if (status != UC_OK || self->labelled == 0.0 || self->unlabelled == 0.0)
        return status;
    memset(weights, 0, (self->rows->data->X.cols + 1) * sizeof *weights);
    status = uc_pu_minimise(&found, weights, self, ROUGH_STEPS, ROUGH);
    if (status == UC_OK)
        status = uc_pu_scores(scores, self->rows, weights);
    for (size_t i = 0; i < self->rows->data->X.rows && status == UC_OK; i++)
        if (self->rows->fold[i] == self->held_out)
            out[i] = scores[i];
    return status;
}

uc_status uc_pu_cross_scores(double *scores, const uc_pu_problem *self)
{
    const size_t rows = self->rows->data->X.rows;
    double *weights = uc_alloc(self->rows->data->X.cols + 1, sizeof *weights);
    double *work = uc_alloc(rows, sizeof *work);
    uc_status status = uc_comm_agree(uc_comm_of(self->rows->context), weights && work ? UC_OK : UC_ERR_NOMEM);
    for (size_t i = 0; i < rows; i++)
        scores[i] = (double)NAN;
    for (int fold = 0; fold < UC_PU_FOLDS && status == UC_OK; fold++) {
        uc_pu_problem part = *self;
        part.held_out = fold;
        status = score_fold(scores, &part, weights, work);
    }
    uc_free(work);
    uc_free(weights);
    return status;
}
