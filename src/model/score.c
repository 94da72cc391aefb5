/* Scores and predictions: <w_q, x> for every class q, and the class with the largest. */
#include <string.h>

#include "linalg/linalg.h"
#include "model/model.h"

#define ROWS_A_BLOCK ((size_t)256)

typedef struct score_job {
    const uc_model *model;
    const uc_matrix *X;
    double *offset;      /* what every class starts from */
    double *scores;      /* rows x K, or NULL */
    uint32_t *predicted; /* or NULL */
} score_job;

static uc_row known_columns(uc_row row, size_t cols)
{
    if (row.columns)
        while (row.count > 0 && row.columns[row.count - 1] >= cols)
            row.count--;
    else if (row.count > cols)
        row.count = cols;
    return row;
}

/* Rows that must be prepared first, one by one. */
static void prepared_scores(double *scores, const score_job *job, size_t first, size_t last, float *work)
{
    const uc_model *model = job->model;
    for (size_t i = first; i < last; i++) {
        double *row_scores = scores + (i - first) * model->stride;
        const uc_row known = known_columns(uc_matrix_row(job->X, i), model->features);
        memcpy(row_scores, job->offset, model->stride * sizeof *row_scores);
        uc_row_scores(row_scores, uc_steps_row(&model->steps, known, work), model->weights + model->stride,
                      model->stride);
    }
}

static void keep(const score_job *job, const double *scores, size_t first, size_t last)
{
    const size_t K = job->model->classes.count, S = job->model->stride;
    for (size_t i = first; i < last; i++) {
        const double *row_scores = scores + (i - first) * S;
        if (job->scores)
            memcpy(job->scores + i * K, row_scores, K * sizeof *row_scores);
        if (job->predicted)
            job->predicted[i] = (uint32_t)uc_argmax(row_scores, K);
    }
}

static uc_status score_block(size_t block, void *user)
{
    const score_job *job = user;
    const uc_model *model = job->model;
    const size_t first = block * ROWS_A_BLOCK;
    const size_t last = first + ROWS_A_BLOCK < job->X->rows ? first + ROWS_A_BLOCK : job->X->rows;
    const bool idle = uc_steps_are_idle(&model->steps);
    const size_t work_bytes =
        idle ? uc_scores_block_work(job->X, model->features, last - first) * sizeof(double)
             : (model->features < job->X->cols ? job->X->cols : model->features) * sizeof(float);
    double *scores = uc_alloc((last - first) * model->stride, sizeof *scores);
    void *work = uc_alloc(work_bytes, 1);
    if (scores && work) {
        if (idle)
            uc_scores_block(scores, job->X, first, last, model->weights + model->stride, model->features,
                            model->stride, job->offset, work);
        else
            prepared_scores(scores, job, first, last, work);
        keep(job, scores, first, last);
    }
    uc_free(work);
    uc_free(scores);
    return scores && work ? UC_OK : UC_ERR_NOMEM;
}

static uc_status score_all(score_job *job, const uc_context *context)
{
    const uc_model *model = job->model;
    job->offset = uc_alloc(model->stride, sizeof *job->offset);
    if (!job->offset)
        return UC_ERR_NOMEM;
    for (size_t k = 0; k < model->classes.count; k++)
        job->offset[k] = uc_model_offset(model, k);
    const uc_status status =
        uc_run_blocks(context, (job->X->rows + ROWS_A_BLOCK - 1) / ROWS_A_BLOCK, score_block, job);
    uc_free(job->offset);
    return status;
}

uc_status uc_model_predict(uint32_t *predicted, const uc_model *self, const uc_matrix *X,
                           const uc_context *context)
{
    score_job job = {.model = self, .X = X, .predicted = predicted};
    return score_all(&job, context);
}

uc_status uc_model_scores(double *scores, const uc_model *self, const uc_matrix *X, const uc_context *context)
{
    score_job job = {.model = self, .X = X, .scores = scores};
    return score_all(&job, context);
}
