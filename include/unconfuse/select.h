/* Choosing by data: cross-validation, every `auto`, comparing online learners. */
#ifndef UNCONFUSE_SELECT_H
#define UNCONFUSE_SELECT_H

#include "unconfuse/metrics.h"
#include "unconfuse/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Trains on all folds but one and predicts that one, for every fold (stratified, drawn by train->seed).
 * predicted[i] is the class that row i got from the model that did not see it. fold_error (may be NULL) has
 * `folds` entries. 2 <= folds <= rows. */
uc_status uc_cross_validate(uint32_t *predicted, double *fold_error, const uc_learner *learner,
                            const void *settings, const uc_train_settings *train, const uc_dataset *data,
                            unsigned folds, const uc_context *context);

/* Turns every `auto` of the learner's settings and of train->map into a number, by inner 5-fold cross-validation on at
 * most 2,000 examples: the width, the dimension, and what the learner names. Uses labels as they are, never clean ones. */
uc_status uc_tune(void *settings, uc_train_settings *train, const uc_learner *learner, const uc_dataset *data,
                  const uc_context *context);
/* uc_tune, then uc_train. The settings are left as they are. */
uc_status uc_tune_and_train(uc_model **out, const uc_learner *learner, const void *settings,
                            const uc_train_settings *train, uc_dataset *data, const uc_context *context);

/* ---- which online learner suits the data ---- */

/* p-values below this are called significant. */
#define UC_SIGNIFICANCE 0.05

typedef struct uc_compare_settings {
    uint64_t runs;   /* shuffles of the data, which every learner plays                 (10) */
    uint64_t passes; /* over the data in a run                                          (1) */
    int feedback;    /* uc_feedback: what comes back after a proposal                   (partial) */
    int grid;        /* options that a learner names are tried on other shuffles first  (off) */
} uc_compare_settings;

extern const uc_option uc_compare_options[]; /* the table of uc_compare_settings */
uc_compare_settings uc_compare_defaults(void);

/* A learner that takes part. */
typedef struct uc_contender {
    const uc_learner *learner; /* online */
    const void *settings;      /* its own struct; NULL: its defaults */
    bool fixed;                /* `grid` leaves these settings as they are */
} uc_contender;

/* How it did. */
typedef struct uc_compared {
    const uc_learner *learner;
    void *settings;         /* played with; those that were chosen, with `grid` */
    uc_feedback feedback;   /* that it was told: another than the settings' when it learns from no other */
    bool reference;         /* it was told labels where others were told right or wrong: not called best */
    double *ratios;         /* correct proposals of each run */
    double mean, deviation; /* of the ratios; NaN: only one run */
    double seconds;         /* of one thread, a run, for proposing and learning alone */
    double p_value;         /* of being as good as the best; NaN: only one run */
    bool differs;           /* p_value < UC_SIGNIFICANCE */
} uc_compared;

typedef struct uc_comparison {
    size_t count;
    uc_compared *learners; /* the highest mean first */
    size_t best;           /* position of the best that is no reference, unless all are */
    double *p_values;      /* count x count, of the paired t-test of each with each; NaN: only one run */
    uint64_t runs, rounds; /* rounds of a run */
    double width;          /* of the gaussian kernel behind the map; NaN: there is none */
} uc_comparison;           /* zero-initialised is empty and may be freed */

/* Plays every learner over the same shuffles: propose, be told, learn. `contenders` may be named again with other
 * settings; NULL: every online learner that learns from the feedback, at its defaults. Of `train` (NULL: the defaults)
 * scale, normalize_input, map (none or landmarks), normalize, bias and seed count; run r plays what `unconfuse stream
 * --shuffle` plays with seed + r and the same width (a median is found once, with the first seed). Two learners whose ratios differ by the same amount in every run have the p-value 0,
 * or 1 when that amount is 0. Results, except for the seconds, do not depend on the number of threads. */
uc_status uc_compare(uc_comparison *out, const uc_contender *contenders, size_t count,
                     const uc_compare_settings *settings, const uc_train_settings *train,
                     const uc_dataset *data, const uc_context *context);
void uc_comparison_free(uc_comparison *self);

#ifdef __cplusplus
}
#endif

#endif
