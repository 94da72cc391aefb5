/* One support vector machine: its class weights, its objective and its minimum; svm.c has the formulas. */
#include <math.h>

#include "data/weights.h"
#include "learn/svm/svm.h"
#include "linalg/linalg.h"

/* ---- class weights ---- */

uc_status uc_svm_count_labels(double labelled[2], const uc_svm *self, const uc_context *context)
{
    labelled[0] = labelled[1] = 0.0;
    for (size_t i = 0; i < self->data->X.rows; i++)
        if (self->data->y[i] != UC_NONE)
            labelled[self->data->y[i] == self->positive] += uc_row_weight(self->data, i);
    return uc_comm_sum(uc_comm_of(context), labelled, 2);
}

/* Uses class weights as they are given; in one class against the rest only that class has one, as in
 * LIBLINEAR. Otherwise, balanced weights balance the true classes, as estimated from the rates. */
void uc_svm_weigh(uc_svm *self, const double labelled[2], const uc_svm_settings *settings)
{
    const double *given = self->class_weights;
    if (given) {
        self->weight[0] = self->data->classes.count == 2 ? given[1 - self->positive] : 1.0;
        self->weight[1] = given[self->positive];
        return;
    }
    const double n = labelled[0] + labelled[1];
    const bool balanced =
        settings->class_weight == UC_CLASS_WEIGHT_BALANCED && labelled[0] > 0.0 && labelled[1] > 0.0;
    const double observed = labelled[1] / n, least = 1.0 / n;
    const double share = (observed - self->rate[0]) / (1.0 - self->rate[0] - self->rate[1]);
    const double positive = fmin(fmax(share, least), 1.0 - least); /* estimated share of true positives */
    self->weight[0] = balanced ? 1.0 / (2.0 * (1.0 - positive)) : 1.0;
    self->weight[1] = balanced ? 1.0 / (2.0 * positive) : 1.0;
}

/* ---- the objective ---- */

typedef struct gradient_job {
    const uc_svm *svm;
    const double *point;
} gradient_job;

/* Adds the gradient in offset and weights, followed by loss and weight, over the rows first .. last-1 that
 * have a label. */
static uc_status add_gradient(double *sum, size_t first, size_t last, void *user)
{
    const gradient_job *job = user;
    const uc_svm *self = job->svm;
    const size_t d = self->data->X.cols;
    for (size_t i = first; i < last; i++) {
        if (self->data->y[i] == UC_NONE)
            continue;
        const uc_row row = uc_matrix_row(&self->data->X, i);
        const int label = self->data->y[i] == self->positive;
        const double weight = uc_row_weight(self->data, i);
        sum[d + 2] += weight;
        const double sign = label ? 1.0 : -1.0;
        const double score = job->point[0] + uc_row_dot(row, job->point + 1);
        double slope;
        sum[d + 1] += weight * uc_svm_loss_at(&slope, self, sign * score, label);
        if (slope == 0.0)
            continue;
        sum[0] += weight * sign * slope;
        uc_row_axpy(weight * sign * slope, row, sum + 1);
    }
    return UC_OK;
}

uc_status uc_svm_gradient(double *value, double *gradient, const double *point, const uc_svm *self,
                          const uc_context *context)
{
    const size_t d = self->data->X.cols;
    const uc_context fitting = uc_context_for_work(context, 2.0 * (double)uc_matrix_entries(&self->data->X));
    gradient_job job = {self, point};
    double *sum = uc_alloc(d + 3, sizeof *sum);
    if (!sum)
        return UC_ERR_NOMEM;
    const uc_status status = uc_sum_over(&fitting, self->data->X.rows, add_gradient, &job, sum, d + 3);
    const double scale = self->cost / sum[d + 2];
    double squares = 0.0;
    for (size_t j = 1; j <= d && status == UC_OK; j++) {
        gradient[j] = scale * sum[j] + point[j];
        squares += point[j] * point[j];
    }
    if (status == UC_OK) {
        gradient[0] = self->free_offset ? scale * sum[0] : 0.0;
        *value = scale * sum[d + 1] + squares / 2.0;
    }
    uc_free(sum);
    return status;
}

typedef struct search {
    const uc_svm *svm;
    const uc_context *context;
} search;

static uc_status evaluate(double *value, double *gradient, const double *point, void *user)
{
    const search *self = user;
    return uc_svm_gradient(value, gradient, point, self->svm, self->context);
}

/* ---- minimisation ---- */

#define MOST_CURVATURE                                                                                       \
    0.25 /* of the mean loss: its second derivative if some of the examples are near the corner */

static uc_status minimise(uc_minimum *out, double *point, const uc_svm *self, uint64_t iterations,
                          double tolerance, const uc_context *context)
{
    search user = {self, context};
    uc_conditioning conditioning;
    const double curvature = self->cost * fmin(MOST_CURVATURE, 0.5 / self->smoothing);
    uc_status status =
        uc_conditioning_fit(&conditioning, &self->data->X, 1, 1.0, curvature, self->free_offset, context);
    if (status == UC_OK)
        status = uc_minimise(out, point, self->data->X.cols + 1, evaluate, &user, &conditioning, iterations,
                             tolerance, context);
    uc_conditioning_free(&conditioning);
    return status;
}

uc_status uc_svm_solve(uc_minimum *out, double *point, const uc_svm *self, const uc_svm_settings *settings,
                       const uc_context *context)
{
    bool arrived = false;
    uc_minimum first = {0}, found = {0};
    uc_status status = UC_OK;
    if (self->arranged && uc_svm_is_convex(self))
        status = uc_svm_dual(&first, &arrived, point, self, NULL, settings->iterations, settings->tolerance,
                             context);
    if (status == UC_OK && !arrived && first.iterations < settings->iterations)
        status = minimise(&found, point, self, settings->iterations - first.iterations, settings->tolerance,
                          context);
    else
        found = (uc_minimum){.value = first.value, .excess = first.excess};
    if (status != UC_OK)
        return status;
    found.iterations += first.iterations;
    found.evaluations += first.evaluations;
    if (!arrived)
        uc_minimum_warn(&found, "the machine", settings->iterations, UC_ADVISE_ITERATIONS, context);
    *out = found;
    return UC_OK;
}
