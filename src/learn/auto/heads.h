/* Other losses than squares, on expected true classes: the heads of `auto` (heads.c). */
#ifndef UC_HEADS_H
#define UC_HEADS_H

#include "learn/auto/refit.h"
#include "learn/learner.h"

#define UC_HEAD_STRENGTHS ((size_t)3)
#define UC_HEADS (2 * UC_HEAD_STRENGTHS)

/* A linear learner and its penalty. */
typedef struct uc_head {
    const uc_learner *learner;
    double penalty; /* on half the squared length of the weights, beside the mean loss */
    double factor;  /* of its scores: makes them as large as one-hot labels */
} uc_head;

/* What is tried: for rows whose ridge regression has this lambda. */
void uc_heads_list(uc_head heads[UC_HEADS], double lambda, double rows);
/* The name of the option that the penalty becomes, and its value. */
const char *uc_head_option(double *value, const uc_head *head);

/* scores[h]: rows x K, of rows by head h, which has not seen their labels; heads[h].factor is in them. The
 * calibrator, found on all rows, is where those of the folds start. */
uc_status uc_heads_held_out(double *const *scores, uc_head heads[UC_HEADS], const uc_refits *self,
                            const uc_train_settings *train, const uc_calibrator *calibrator);
/* The model's weights, from expected classes R of the rows of fit. */
uc_status uc_head_fit(uc_model *model, const uc_head *head, const uc_fit *fit, const double *R);

#endif
