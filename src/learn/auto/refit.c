/*
 * Ridge fits on expected true classes.
 *
 *   f      leave-one-out scores of the fit on labels
 *   S, C   the calibrator's class probabilities and noise matrix (calibrate.c)
 *   R_iq   proportional to S_iq C[q][k_i]: the probability of class q, given the row *and* its label
 *
 * Fitting to R instead of labels is where the gain comes from: a label that the other data contradict counts
 * for little. The second round derives R from the leave-one-out scores l of the first refit, with S = max(l,
 * .01), normalised per row.
 *
 * Which refit is best must be judged by scores that do not depend on the label, and those of a refit do,
 * because R does. Therefore five folds repeat all of this without the rows that they score. The noise is
 * never estimated from scores that depend on R.
 */
#include "learn/auto/refit.h"

#include <math.h>
#include <string.h>

#include "learn/ridge/path.h"
#include "linalg/linalg.h"

#define FOLDS 5
#define ROWS_PER_BLOCK ((size_t)512)
#define LEAST 0.01

/* ---- expected classes ---- */

typedef struct expect_job {
    double *R;
    const double *f; /* NULL: R holds S */
    const uint32_t *labels;
    size_t rows;
    const uc_calibrator *calibrator;
} expect_job;

static uc_status expect_block(size_t block, void *user)
{
    const expect_job *job = user;
    const size_t K = job->calibrator->K, first = block * ROWS_PER_BLOCK;
    for (size_t i = first; i < first + ROWS_PER_BLOCK && i < job->rows; i++) {
        double *R = job->R + i * K;
        if (job->f)
            uc_calibrated(R, job->calibrator, job->f + i * K);
        (void)uc_posterior(R, job->calibrator, R, job->labels[i]);
    }
    return UC_OK;
}

static uc_status expect(const expect_job *job, const uc_context *context)
{
    const size_t blocks = (job->rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;
    const uc_context fitting =
        uc_context_for_work(context, 20.0 * (double)job->rows * (double)job->calibrator->K);
    return uc_run_blocks(&fitting, blocks, expect_block, (void *)(uintptr_t)job);
}

uc_status uc_expected_classes(double *R, const double *f, const uint32_t *labels, size_t rows,
                              const uc_calibrator *calibrator, const uc_context *context)
{
    const expect_job job = {R, f, labels, rows, calibrator};
    return expect(&job, context);
}

/* Turns leave-one-out scores of a refit into probabilities. */
static void scores_to_shares(double *S, size_t rows, size_t K)
{
    for (size_t i = 0; i < rows; i++) {
        double total = 0.0;
        for (size_t q = 0; q < K; q++)
            total += S[i * K + q] = fmax(S[i * K + q], LEAST);
        for (size_t q = 0; q < K; q++)
            S[i * K + q] /= total;
    }
}

/* ---- refits ---- */

/* Computes the expected classes again, from a refit on them. */
static uc_status second_round(double *R, const uc_ridge *ridge, const uc_ridge_targets *first,
                              const uint32_t *labels, const uc_calibrator *calibrator, double lambda)
{
    const size_t rows = ridge->X->rows;
    const uc_status status = uc_ridge_leave_one_out(R, ridge, first, lambda);
    if (status != UC_OK)
        return status;
    scores_to_shares(R, rows, calibrator->K);
    const expect_job job = {R, NULL, labels, rows, calibrator};
    return expect(&job, ridge->context);
}

uc_status uc_refit_weights(double *W, double *offset, size_t stride, const uc_ridge *ridge,
                           const uc_ridge_targets *expected, const uint32_t *labels,
                           const uc_calibrator *calibrator, uc_refit refit)
{
    const size_t K = calibrator->K;
    if (refit.rounds == 1)
        return uc_ridge_weights(W, offset, stride, ridge, expected, refit.lambda);
    uc_ridge_targets second = {0};
    double *again = uc_alloc(ridge->X->rows * K, sizeof *again);
    uc_status status = uc_comm_agree(uc_comm_of(ridge->context), again ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK)
        status = second_round(again, ridge, expected, labels, calibrator, refit.lambda);
    if (status == UC_OK)
        status = uc_ridge_project(&second, ridge, again, K);
    if (status == UC_OK)
        status = uc_ridge_weights(W, offset, stride, ridge, &second, refit.lambda);
    uc_ridge_targets_free(&second);
    uc_free(again);
    return status;
}

bool uc_refit_tried(uc_noise_family family, uc_refit refit)
{
    return family != UC_FAMILY_NONE || refit.rounds == 1;
}

/* ---- folds ---- */

/* The work of a fold. */
typedef struct fold_job {
    double *const *scores;
    const uc_refits *refits;
    const uc_calibrator *calibrators;
} fold_job;

uc_status uc_score_fold(double *scores, const uc_fold *fold, const double *W, const double *offset, size_t K,
                        size_t stride)
{
    const uc_matrix *X = &fold->held_out.X;
    double *own = uc_alloc(X->rows * stride, sizeof *own);
    if (!own)
        return UC_ERR_NOMEM;
    uc_score_rows(own, X, 0, X->rows, W, X->cols, stride, offset);
    for (size_t i = 0; i < X->rows; i++)
        memcpy(scores + fold->rows[i] * K, own + i * stride, K * sizeof *own);
    uc_free(own);
    return UC_OK;
}

/* Fits the calibrator of a family to the fold's own leave-one-out scores f, and derives the expected classes
 * R from it. */
static uc_status expect_in_fold(double *R, uc_calibrator *own, const uc_fold *fold, const double *f,
                                const uc_calibrator *near)
{
    const uc_held_out rows = {.scores = f,
                              .labels = fold->train.y,
                              .weights = fold->train.weights,
                              .rows = fold->train.X.rows,
                              .K = near->K,
                              .context = fold->context};
    uc_status status;
    if (near->family == UC_FAMILY_NONE) /* R equals the labels, whatever the scores are */
        status = uc_calibrator_copy(own, near);
    else
        status = uc_calibrate(own, &rows, near->family, near);
    if (status != UC_OK)
        return status;
    return uc_expected_classes(R, f, rows.labels, rows.rows, own, fold->context);
}

/* Makes all refits of a family. */
static uc_status refit_family(double *const *scores, const uc_refits *self, const uc_fold *fold,
                              const uc_ridge *ridge, const double *f, const uc_calibrator *near)
{
    const size_t n = fold->train.X.rows, K = near->K, stride = uc_class_stride(K);
    uc_calibrator own = {0};
    uc_ridge_targets expected = {0};
    double *R = uc_alloc(n * K, sizeof *R), *W = uc_alloc((fold->train.X.cols + 1) * stride, sizeof *W);
    uc_status status = UC_ERR_NOMEM;
    if (R && W)
        status = expect_in_fold(R, &own, fold, f, near);
    if (status == UC_OK)
        status = uc_ridge_project(&expected, ridge, R, K);
    for (size_t r = 0; r < self->count && status == UC_OK; r++) {
        if (!uc_refit_tried(near->family, self->refits[r]))
            continue;
        status =
            uc_refit_weights(W + stride, W, stride, ridge, &expected, fold->train.y, &own, self->refits[r]);
        if (status == UC_OK)
            status = uc_score_fold(scores[r], fold, W + stride, W, K, stride);
    }
    uc_ridge_targets_free(&expected);
    uc_calibrator_free(&own);
    uc_free(W);
    uc_free(R);
    return status;
}

/* Lists the distinct penalties of the fit on labels and of the refits; returns their number. */
static size_t list_lambdas(double *out, const uc_refits *self)
{
    size_t count = 1;
    out[0] = self->lambda;
    for (size_t r = 0; r < self->count; r++) {
        size_t known = 0;
        while (known < count && out[known] != self->refits[r].lambda)
            known++;
        if (known == count)
            out[count++] = self->refits[r].lambda;
    }
    return count;
}

uc_status uc_label_scores(double *f, const uc_ridge *ridge, const uint32_t *labels, size_t K, double lambda)
{
    uc_ridge_targets targets = {0};
    const size_t n = ridge->X->rows;
    double *Y = uc_alloc(n * K, sizeof *Y);
    uc_status status = uc_comm_agree(uc_comm_of(ridge->context), Y ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK) {
        uc_ridge_label_targets(Y, labels, n, K);
        status = uc_ridge_project(&targets, ridge, Y, K);
    }
    if (status == UC_OK)
        status = uc_ridge_leave_one_out(f, ridge, &targets, lambda);
    uc_ridge_targets_free(&targets);
    uc_free(Y);
    return status;
}

static uc_status run_fold(uc_fold *fold, void *user)
{
    const fold_job *job = user;
    const uc_refits *self = job->refits;
    const size_t n = fold->train.X.rows, K = job->calibrators->K;
    uc_ridge ridge = {0};
    double *f = uc_alloc(n * K, sizeof *f), *lambdas = uc_alloc(self->count + 1, sizeof *lambdas);
    uc_status status = UC_ERR_NOMEM;
    if (!f || !lambdas)
        goto cleanup;
    const size_t count = list_lambdas(lambdas, self);
    status =
        uc_ridge_factor(&ridge, &fold->train.X, fold->train.weights, lambdas, count, count, fold->context);
    if (status == UC_OK)
        status = uc_label_scores(f, &ridge, fold->train.y, K, self->lambda);
    for (size_t family = 0; family < UC_FAMILIES && status == UC_OK; family++)
        status = refit_family(job->scores + family * self->count, self, fold, &ridge, f,
                              job->calibrators + family);
    if (status == UC_OK)
        status = uc_part_done(fold->progress);

cleanup:
    uc_ridge_free(&ridge);
    uc_free(lambdas);
    uc_free(f);
    return status;
}

uc_status uc_fold_expected(double *R, const uc_refits *self, const uc_fold *fold,
                           const uc_calibrator *calibrator)
{
    const size_t n = fold->train.X.rows, K = calibrator->K;
    uc_ridge ridge = {0};
    uc_calibrator own = {0};
    double *f = uc_alloc(n * K, sizeof *f);
    uc_status status = UC_ERR_NOMEM;
    if (f)
        status =
            uc_ridge_factor(&ridge, &fold->train.X, fold->train.weights, &self->lambda, 1, 1, fold->context);
    if (status == UC_OK)
        status = uc_label_scores(f, &ridge, fold->train.y, K, self->lambda);
    if (status == UC_OK)
        status = expect_in_fold(R, &own, fold, f, calibrator);
    uc_calibrator_free(&own);
    uc_ridge_free(&ridge);
    uc_free(f);
    return status;
}

uc_status uc_refit_folds(const uc_refits *self, const char *task, uc_fold_job *job, void *user)
{
    uc_folds folds = {0};
    uc_status status =
        uc_folds_begin(&folds, self->data, uc_folds_at_most(self->data, FOLDS), self->seed, self->context);
    if (status != UC_OK)
        return status;
    folds.progress = (uc_parts){.task = task, .part = "fold", .count = folds.count};
    status = uc_folds_concurrently(&folds, 0, folds.count, job, user, self->context);
    uc_folds_free(&folds);
    return status;
}

uc_status uc_refit_held_out(double *const *scores, const uc_refits *self, const uc_calibrator *calibrators)
{
    fold_job job = {scores, self, calibrators};
    return uc_refit_folds(self, "refitting", run_fold, &job);
}
