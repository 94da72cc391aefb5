/* Scores and predictions: <w_q, x> for every class q, and the class with the largest. */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "model/model.h"
#include "prepare/preprocessing.h"

#define ROWS_PER_BLOCK ((size_t)64)

typedef struct score_job {
    const uc_model *model;
    const uc_matrix *X;
    uc_scoring wanted;
    double *offset; /* the constant part of every class's score */
} score_job;

/* Scores of rows that must be prepared first, one by one. */
static void prepared_scores(double *scores, const score_job *job, size_t first, size_t last, float *work)
{
    const uc_model *model = job->model;
    for (size_t i = first; i < last; i++) {
        double *row_scores = scores + (i - first) * model->stride;
        const uc_row known = uc_known_row(uc_matrix_row(job->X, i), model->features);
        memcpy(row_scores, job->offset, model->stride * sizeof *row_scores);
        uc_row_scores(row_scores, uc_preprocessing_row(&model->preprocessing, known, work),
                      model->weights + model->stride, model->stride);
    }
}

/* For assertions. */
__attribute__((unused)) static bool sums_to_one(const double *probabilities, size_t count)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++)
        sum += probabilities[k];
    return fabs(sum - 1.0) <= 1e-9;
}

/* Anything that is not finite gives NaN when it is multiplied by 0. */
static bool are_finite(const double *scores, size_t count)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++)
        sum += scores[k] * 0.0;
    return isfinite(sum);
}

/* Finite values may still be too large for the weights or the preprocessing. */
static uc_status refuse_row(const score_job *job, size_t i)
{
    const uc_row row = uc_matrix_row(job->X, i);
    bool finite = true;
    for (size_t j = 0; j < row.count; j++)
        finite = finite && isfinite(row.values[j]);
    const char *reason = finite ? "its values are too large" : "it holds NaN or infinity";
    return uc_fail(UC_ERR_INVALID, "row %zu has no finite scores: %s", i + 1, reason);
}

/* Replaces the scores by probabilities; `work` has room for 2 K. */
static void make_probabilities(double *scores, const uc_model *model, double *work)
{
    const size_t K = model->classes.count;
    if (model->calibration)
        uc_calibration_apply(scores, model->calibration, model->calibrations, K, work);
    else
        uc_softmax(scores, K);
    assert(sums_to_one(scores, K));
}

static uc_status keep(const score_job *job, double *scores, size_t first, size_t last, double *work)
{
    const size_t K = job->model->classes.count, S = job->model->stride;
    for (size_t i = first; i < last; i++) {
        double *row_scores = scores + (i - first) * S;
        if (!are_finite(row_scores, K))
            return refuse_row(job, i);
        if (job->wanted.probabilities)
            make_probabilities(row_scores, job->model, work);
        if (job->wanted.scores)
            memcpy(job->wanted.scores + i * K, row_scores, K * sizeof *row_scores);
        if (job->wanted.predicted)
            job->wanted.predicted[i] = (uint32_t)uc_argmax(row_scores, K);
    }
    return UC_OK;
}

static uc_status sparse_copy(uc_matrix *out, const score_job *job, size_t first, size_t last)
{
    const size_t features = job->model->features;
    const size_t entries = (size_t)(job->X->offsets[last] - job->X->offsets[first]);
    const uc_status status = uc_matrix_create_sparse(out, last - first, features, entries);
    for (size_t i = 0; i < last - first && status == UC_OK; i++) {
        const uc_row row = uc_known_row(uc_matrix_row(job->X, first + i), features);
        const size_t start = (size_t)out->offsets[i];
        memcpy(out->values + start, row.values, row.count * sizeof *row.values);
        memcpy(out->columns + start, row.columns, row.count * sizeof *row.columns);
        out->offsets[i + 1] = start + row.count;
    }
    return status;
}

static uc_status dense_copy(uc_matrix *out, const score_job *job, size_t first, size_t last)
{
    const size_t features = job->model->features;
    const uc_status status = uc_matrix_create_dense(out, last - first, features);
    for (size_t i = 0; i < last - first && status == UC_OK; i++) {
        const uc_row row = uc_known_row(uc_matrix_row(job->X, first + i), features);
        float *values = out->values + i * out->stride;
        for (size_t j = 0; j < row.count; j++)
            values[uc_row_column(row, j)] = row.values[j];
    }
    return status;
}

/* Copies the rows, with only the columns that the model knows. The copy is dense if the data are, or if a
 * shift will make them dense. */
static uc_status known_block(uc_matrix *out, const score_job *job, size_t first, size_t last)
{
    if (uc_matrix_is_sparse(job->X) && !uc_preprocessing_shifts(&job->model->preprocessing))
        return sparse_copy(out, job, first, last);
    return dense_copy(out, job, first, last);
}

/* Scores of rows with a map: the whole block at once, since it is a matrix product. */
static uc_status mapped_scores(double *scores, const score_job *job, size_t first, size_t last)
{
    const uc_model *model = job->model;
    const uc_context alone = {.threads = 1}; /* blocks already run in parallel */
    uc_matrix block = {0};
    uc_status status = known_block(&block, job, first, last);
    if (status == UC_OK)
        status = uc_preprocessing_apply(&model->preprocessing, &block, &alone);
    if (status == UC_OK)
        uc_score_rows(scores, &block, 0, last - first, model->weights + model->stride, model->dimension,
                      model->stride, job->offset);
    uc_matrix_free(&block);
    return status;
}

static uc_status plain_scores(double *scores, const score_job *job, size_t first, size_t last)
{
    const uc_model *model = job->model;
    if (uc_preprocessing_is_identity(&model->preprocessing)) {
        uc_score_rows(scores, job->X, first, last, model->weights + model->stride, model->features,
                      model->stride, job->offset);
        return UC_OK;
    }
    float *work = uc_alloc(uc_preprocessing_row_work(&model->preprocessing, job->X->cols), sizeof *work);
    if (!work)
        return UC_ERR_NOMEM;
    prepared_scores(scores, job, first, last, work);
    uc_free(work);
    return UC_OK;
}

static uc_status check_rows(const score_job *job, size_t first, size_t last)
{
    const uc_row_check *check = job->wanted.check;
    return check ? check->check(first, last, check->user) : UC_OK;
}

static uc_status score_block(size_t block, void *user)
{
    const score_job *job = user;
    const uc_range rows = uc_block_range(block, job->X->rows, ROWS_PER_BLOCK);
    uc_status status = check_rows(job, rows.first, rows.last);
    if (status != UC_OK)
        return status;
    const size_t used = (rows.last - rows.first) * job->model->stride;
    double *scores = uc_alloc(used + 2 * job->model->stride, sizeof *scores); /* includes work space */
    if (!scores)
        return UC_ERR_NOMEM;
    if (job->model->preprocessing.map || job->model->preprocessing.views)
        status = mapped_scores(scores, job, rows.first, rows.last);
    else
        status = plain_scores(scores, job, rows.first, rows.last);
    if (status == UC_OK)
        status = keep(job, scores, rows.first, rows.last, scores + used);
    uc_free(scores);
    return status;
}

uc_status uc_model_score(const uc_scoring *wanted, const uc_model *self, const uc_matrix *X,
                         const uc_context *context)
{
    score_job job = {.model = self, .X = X, .wanted = *wanted};
    if (wanted->probabilities && !self->probabilities)
        return uc_fail(UC_ERR_INVALID, "a model of %s has scores but no probabilities; logistic has them",
                       self->learner);
    assert(self->stride >= self->classes.count && self->classes.count > 0);
    assert(uc_preprocessing_dimension(&self->preprocessing, self->features) == self->dimension);
    job.offset = uc_alloc(self->stride, sizeof *job.offset);
    if (!job.offset)
        return UC_ERR_NOMEM;
    for (size_t k = 0; k < self->classes.count; k++)
        job.offset[k] = uc_model_offset(self, k);
    const uc_status status =
        uc_run_blocks(context, uc_block_count(X->rows, ROWS_PER_BLOCK), score_block, &job);
    uc_free(job.offset);
    /* A row that is not sound matters more than scores that are not finite, even those of an earlier row. */
    const uc_status sound = status == UC_OK ? UC_OK : check_rows(&job, 0, X->rows);
    return sound == UC_OK ? status : sound;
}

uc_status uc_model_predict(uint32_t *predicted, const uc_model *self, const uc_matrix *X,
                           const uc_context *context)
{
    return uc_model_score(&(uc_scoring){.predicted = predicted}, self, X, context);
}

uc_status uc_model_prepare(uc_matrix *out, const uc_model *self, const uc_matrix *X,
                           const uc_context *context)
{
    const score_job job = {.model = self, .X = X};
    uc_matrix rows = {0};
    uc_status status = known_block(&rows, &job, 0, X->rows);
    if (status == UC_OK)
        status = uc_preprocessing_apply(&self->preprocessing, &rows, context);
    if (status == UC_OK)
        *out = rows;
    else
        uc_matrix_free(&rows);
    return status;
}

uc_status uc_model_predict_prepared(uint32_t *predicted, const uc_model *self, const uc_matrix *X,
                                    const uc_context *context)
{
    uc_model plain = *self;
    plain.preprocessing = (uc_preprocessing){.views = self->preprocessing.views,
                                             .view_count = self->preprocessing.view_count}; /* not yet seen */
    if (!plain.preprocessing.views)
        plain.features = self->dimension;
    return uc_model_predict(predicted, &plain, X, context);
}

uc_status uc_model_scores(double *scores, const uc_model *self, const uc_matrix *X, const uc_context *context)
{
    return uc_model_score(&(uc_scoring){.scores = scores}, self, X, context);
}

bool uc_model_has_probabilities(const uc_model *self)
{
    return self->probabilities;
}

uc_status uc_model_probabilities(double *probabilities, const uc_model *self, const uc_matrix *X,
                                 const uc_context *context)
{
    return uc_model_score(&(uc_scoring){.scores = probabilities, .probabilities = true}, self, X, context);
}

/* P(true = y | x, observed = y) = C[y][y] p_y / sum_q C[y][q] p_q, or p_y if no noise was given. */
double uc_model_label_is_right(const uc_model *self, const double *probabilities, uint32_t label)
{
    const size_t K = self->classes.count;
    assert(sums_to_one(probabilities, K));
    if (label >= K)
        return 0.0;
    if (!self->noise)
        return probabilities[label];
    double observed = 0.0;
    for (size_t q = 0; q < K; q++)
        observed += self->noise[label * K + q] * probabilities[q];
    if (!(observed > 0.0))
        return 0.0;
    return self->noise[label * K + label] * probabilities[label] / observed;
}
