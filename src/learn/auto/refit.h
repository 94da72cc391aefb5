/* Ridge fits on expected true classes instead of labels (refit.c). */
#ifndef UC_REFIT_H
#define UC_REFIT_H

#include "data/folds.h"
#include "learn/calibration/calibrate.h"
#include "learn/ridge/decomposition.h"
#include "unconfuse/dataset.h"

/* How to refit: the penalty, and whether the expected classes are computed again from the first refit. */
typedef struct uc_refit {
    double lambda;
    unsigned rounds; /* 1 or 2 */
} uc_refit;

/* R[i * K + q]: the probability that row i is of class q, given its scores f and its label. */
uc_status uc_expected_classes(double *R, const double *f, const uint32_t *labels, size_t rows,
                              const uc_calibrator *calibrator, const uc_context *context);
/* The weights W (columns x stride) and offset of a refit; `expected` holds the expected classes of the rows
 * of `ridge`. */
uc_status uc_refit_weights(double *W, double *offset, size_t stride, const uc_ridge *ridge,
                           const uc_ridge_targets *expected, const uint32_t *labels,
                           const uc_calibrator *calibrator, uc_refit refit);
/* Whether this refit is worth trying. Without noise the expected classes equal the labels, and a second round
 * would repeat the first. */
bool uc_refit_tried(uc_noise_family family, uc_refit refit);

/* Scores of rows by refits that were fitted without the labels of these rows. */
typedef struct uc_refits {
    const uc_dataset *data; /* preprocessed; every row has a label; weights are used */
    double lambda;          /* of the fit on labels, whose leave-one-out scores are calibrated */
    const uc_refit *refits;
    size_t count;
    uint64_t seed; /* for the folds */
    const uc_context *context;
} uc_refits;
/* scores[family * count + r] (rows x K) become those of refit r. calibrators[family], found on all rows, is
 * the starting point for those of the folds. */
uc_status uc_refit_held_out(double *const *scores, const uc_refits *self, const uc_calibrator *calibrators);

/* Its parts, for other fits on expected classes (heads.c). */
uc_status uc_refit_folds(const uc_refits *self, const char *task, uc_fold_job *job, void *user);
/* R becomes the expected classes of a fold's training rows, by a calibrator of the fold's own. */
uc_status uc_fold_expected(double *R, const uc_refits *self, const uc_fold *fold,
                           const uc_calibrator *calibrator);
/* Computes the scores of a fold's held-out rows with weights W, and stores them at the rows' places. */
uc_status uc_score_fold(double *scores, const uc_fold *fold, const double *W, const double *offset, size_t K,
                        size_t stride);
/* f becomes the leave-one-out scores of ridge regression on labels. */
uc_status uc_label_scores(double *f, const uc_ridge *ridge, const uint32_t *labels, size_t K, double lambda);

#endif
