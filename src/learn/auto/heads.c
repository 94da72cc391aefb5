/*
 * Heads: logistic regression and support vector machines in place of the final ridge regression.
 *
 * All of them get the same rows and the same expected classes R (refit.c). They differ in how they treat a
 * row far on the right side of the boundary: squared loss pulls it back, a likelihood or a hinge does not.
 * Their penalties follow from ridge's lambda: ridge minimises sum_i |y_i - f_i|^2 + lambda |w|^2, whereas a
 * head minimises mean_i loss_i + penalty / 2 |w|^2, so penalty = lambda / rows is equally strong except for
 * the curvature of the loss.
 *
 * Their scores can have any scale. They are multiplied by one factor so that their mean square is that of
 * one-hot labels, as calibration expects; the model's weights get the same factor. The scores are not like
 * probabilities: a2 = 0.
 */
#include "learn/auto/heads.h"

#include <math.h>
#include <string.h>

#include "data/folds.h"
#include "data/weights.h"
#include "linalg/linalg.h"
#include "unconfuse/learn.h"

#define ITERATIONS ((uint64_t)200)
#define TOLERANCE 1e-3
#define LEAST 0.02 /* where each expected class is a row, less likely ones are left out */

static const double strengths[UC_HEAD_STRENGTHS] = {1.0, 0.1, 0.01}; /* factors of lambda / rows */

void uc_heads_list(uc_head heads[UC_HEADS], double lambda, double rows)
{
    const uc_learner *const learners[] = {&uc_learner_logistic, &uc_learner_csvm};
    for (size_t h = 0; h < UC_HEADS; h++)
        heads[h] = (uc_head){.learner = learners[h / UC_HEAD_STRENGTHS],
                             .penalty = strengths[h % UC_HEAD_STRENGTHS] * lambda / rows,
                             .factor = 1.0};
}

const char *uc_head_option(double *value, const uc_head *head)
{
    const bool logistic = head->learner == &uc_learner_logistic;
    *value = logistic ? head->penalty : 1.0 / head->penalty;
    return logistic ? "l2" : "cost";
}

/* ---- one fit ---- */

/* The learner's settings for this penalty; the caller frees them. */
static void *settings_of(const uc_head *head)
{
    void *settings = uc_learner_settings(head->learner, NULL);
    double value;
    (void)uc_head_option(&value, head);
    if (settings && head->learner == &uc_learner_logistic) {
        uc_logistic_settings *own = settings;
        own->l2 = value;
        own->iterations = ITERATIONS;
        own->tolerance = TOLERANCE;
    } else if (settings) {
        uc_svm_settings *own = settings;
        own->cost = value;
        own->iterations = ITERATIONS;
        own->tolerance = TOLERANCE;
    }
    return settings;
}

/* Leaves out classes that are hardly possible; the others of each row sum to 1. */
static void trim(double *R, size_t rows, size_t K)
{
    for (size_t i = 0; i < rows; i++) {
        double *row = R + i * K, kept = 0.0;
        const size_t best = uc_argmax(row, K);
        for (size_t k = 0; k < K; k++) {
            if (k != best && row[k] < LEAST)
                row[k] = 0.0;
            kept += row[k];
        }
        for (size_t k = 0; k < K; k++)
            row[k] /= kept;
    }
}

/* Presents rows with soft labels as the learner needs them: as they are, or one row per class. */
static uc_status arrange(uc_dataset *out, const uc_dataset *soft, const uc_learner *learner,
                         const uc_context *context)
{
    if (learner->soft) {
        *out = *soft;
        return UC_OK;
    }
    trim(soft->soft, soft->X.rows, soft->classes.count);
    return uc_comm_agree(uc_comm_of(context), uc_dataset_harden(out, soft, context));
}

uc_status uc_head_fit(uc_model *model, const uc_head *head, const uc_fit *fit, const double *R)
{
    const size_t cells = fit->data->X.rows * fit->data->classes.count;
    uc_dataset soft = *fit->data, rows = {0};
    uc_train_settings train = *fit->train;
    uc_context quiet = fit->context ? *fit->context : (uc_context){0};
    uc_share share;
    void *settings = settings_of(head);
    quiet.warn = NULL; /* a head that has not converged is judged all the same */
    quiet.progress = NULL;
    train.noise = NULL; /* R and the rows' weights already account for the noise */
    train.class_weights = NULL;
    train.positive = NULL;
    train.bias = 1.0;
    soft.soft = uc_alloc(cells, sizeof *soft.soft);
    uc_status status = uc_comm_agree(uc_comm_of(fit->context), settings && soft.soft ? UC_OK : UC_ERR_NOMEM);
    if (status != UC_OK)
        goto cleanup;
    memcpy(soft.soft, R, cells * sizeof *R);
    status = arrange(&rows, &soft, head->learner, fit->context);
    if (status == UC_OK)
        status = uc_share_of(&share, fit->context, rows.X.rows);
    if (status == UC_OK) {
        const uc_fit own = {&rows, &train, &quiet, share.total, rows.weights};
        status = head->learner->fit(model, &own, settings);
    }
    model->bias = 1.0;
    for (size_t i = 0; i < (model->dimension + 1) * model->stride; i++)
        model->weights[i] *= head->factor;

cleanup:
    if (!head->learner->soft)
        uc_dataset_free(&rows);
    uc_free(soft.soft);
    uc_free(settings);
    return status;
}

/* ---- folds ---- */

typedef struct fold_job {
    double *const *scores;
    const uc_head *heads;
    const uc_refits *refits;
    const uc_train_settings *train;
    const uc_calibrator *calibrator;
} fold_job;

/* Fits all heads on the rows of a fold with expected classes R. */
static uc_status fit_heads(const fold_job *job, const uc_fold *fold, const double *R)
{
    const uc_dataset *rows = &fold->train;
    const uc_fit fit = {rows, job->train, fold->context, rows->X.rows, rows->weights};
    uc_status status = UC_OK;
    for (size_t h = 0; h < UC_HEADS && status == UC_OK; h++) {
        uc_model *model = NULL;
        status = uc_model_create(&model, &rows->classes, rows->X.cols, rows->X.cols, "auto");
        if (status == UC_OK)
            status = uc_head_fit(model, &job->heads[h], &fit, R);
        if (status == UC_OK)
            status = uc_score_fold(job->scores[h], fold, model->weights + model->stride, model->weights,
                                   model->classes.count, model->stride);
        uc_model_free(model);
    }
    return status;
}

static uc_status run_fold(uc_fold *fold, void *user)
{
    const fold_job *job = user;
    double *R = uc_alloc(fold->train.X.rows * job->calibrator->K, sizeof *R);
    uc_status status = R ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = uc_fold_expected(R, job->refits, fold, job->calibrator);
    if (status == UC_OK)
        status = fit_heads(job, fold, R);
    if (status == UC_OK)
        status = uc_part_done(fold->progress);
    uc_free(R);
    return status;
}

/* Scales the scores to the size of one-hot labels and centres each row's scores; returns the factor. */
static double rescale(double *scores, size_t rows, size_t K)
{
    double squares = 0.0;
    for (size_t i = 0; i < rows; i++) {
        double *f = scores + i * K, mean = 0.0;
        for (size_t k = 0; k < K; k++)
            mean += f[k] / (double)K;
        for (size_t k = 0; k < K; k++) {
            f[k] -= mean;
            squares += f[k] * f[k];
        }
    }
    const double wanted = (1.0 - 1.0 / (double)K) / (double)K;
    const double factor = squares > 0.0 ? sqrt(wanted * (double)(rows * K) / squares) : 1.0;
    for (size_t i = 0; i < rows * K; i++)
        scores[i] *= factor;
    return factor;
}

uc_status uc_heads_held_out(double *const *scores, uc_head heads[UC_HEADS], const uc_refits *self,
                            const uc_train_settings *train, const uc_calibrator *calibrator)
{
    fold_job job = {scores, heads, self, train, calibrator};
    const uc_status status = uc_refit_folds(self, "trying other losses", run_fold, &job);
    for (size_t h = 0; h < UC_HEADS && status == UC_OK; h++)
        heads[h].factor = rescale(scores[h], self->data->X.rows, calibrator->K);
    return status;
}
