/* Losses other than squares, fitted to expected true classes: the heads of `auto` (heads.c). */
#ifndef UC_HEADS_H
#define UC_HEADS_H

#include "learn/auto/refit.h"
#include "learn/learner.h"

#define UC_HEAD_STRENGTHS ((size_t)3)
#define UC_HEADS (2 * UC_HEAD_STRENGTHS)

/* A linear learner and its penalty. */
typedef struct uc_head {
    const uc_learner *learner;
    double penalty; /* on half the squared length of the weights, relative to the mean loss */
    double factor;  /* applied to its scores: scales them to the size of one-hot labels */
} uc_head;

/* Lists the heads to try if ridge regression on the rows has this lambda. */
void uc_heads_list(uc_head heads[UC_HEADS], double lambda, double rows);
/* The name of the option that sets the penalty, and its value. */
const char *uc_head_option(double *value, const uc_head *head);

/* scores[h] (rows x K) become the scores by head h, fitted without the labels of the rows scored;
 * heads[h].factor is included. The calibrator, found on all rows, is the starting point for those of the
 * folds. */
uc_status uc_heads_held_out(double *const *scores, uc_head heads[UC_HEADS], const uc_refits *self,
                            const uc_train_settings *train, const uc_calibrator *calibrator);
/* Fits the model's weights to the expected classes R of the rows of `fit`. */
uc_status uc_head_fit(uc_model *model, const uc_head *head, const uc_fit *fit, const double *R);

#endif
