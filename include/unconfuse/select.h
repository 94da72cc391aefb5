/* Choices made from data: cross-validation, every `auto`, the comparison of online learners. */
#ifndef UNCONFUSE_SELECT_H
#define UNCONFUSE_SELECT_H

#include "unconfuse/metrics.h"
#include "unconfuse/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Trains on all folds but one and predicts that one, for every fold (stratified, drawn by train->seed).
 * predicted[i] is the class of row i according to the model that was trained without it. fold_error (may be
 * NULL) has `folds` entries. 2 <= folds <= rows. */
uc_status uc_cross_validate(uint32_t *predicted, double *fold_error, const uc_learner *learner,
                            const void *settings, const uc_train_settings *train, const uc_dataset *data,
                            unsigned folds, const uc_context *context);

/* The same, with every row's scores by that model, rows x classes; they are probabilities if the learner has
 * them. `scores` may be NULL. */
uc_status uc_cross_validate_scores(double *scores, uint32_t *predicted, double *fold_error,
                                   const uc_learner *learner, const void *settings,
                                   const uc_train_settings *train, const uc_dataset *data, unsigned folds,
                                   const uc_context *context);

/* Replaces every `auto` in the learner's settings and in train->map by a number: the kernel width, the
 * dimension of the map, and the learner's own options. Each is chosen by 5-fold cross-validation on at most
 * 2,000 examples, with the labels as they are; no clean labels are needed. The criterion is the likelihood of
 * held-out labels if the learner has probabilities, otherwise their errors. */
uc_status uc_tune(void *settings, uc_train_settings *train, const uc_learner *learner, const uc_dataset *data,
                  const uc_context *context);
/* A view of the rows, and how well ridge regression on it predicts held-out labels. */
typedef struct uc_view {
    uc_scaling scale;
    bool unit_rows; /* rows are scaled to unit length before the map */
    uc_map_settings map;
    double criterion; /* leave-one-out: mean squared error + share of errors */
    double error;     /* the share of errors against the labels as they are */
    size_t examples;  /* used for the criterion; fewer if the view was rejected early */
} uc_view;
typedef struct uc_views {
    uc_view *tried;
    size_t count, best;
} uc_views; /* zero-initialised is empty and may be freed */
void uc_views_free(uc_views *self);

/* Chooses the view if it is `auto`, then calls uc_tune on a copy of the settings, and then uc_train. If no
 * noise is given, the fewest errors decide among values whose likelihood is not clearly worse than the
 * best. */
uc_status uc_tune_and_train(uc_model **out, const uc_learner *learner, const void *settings,
                            const uc_train_settings *train, uc_dataset *data, const uc_context *context);

/* Makes the same choice for a stream of these rows: scaling, and a map of landmarks or none, as far as these
 * are `auto`. It uses the labels of all rows before the first round. */
uc_status uc_stream_tune(uc_train_settings *train, const uc_dataset *data, const uc_context *context);

/* ---- which online learner suits the data ---- */

/* Differences with a p-value below this are called significant. */
#define UC_SIGNIFICANCE 0.05

typedef struct uc_compare_settings {
    uint64_t runs;      /* shuffles of the data, the same for every learner                  (10) */
    uint64_t passes;    /* over the data in each run                                         (1) */
    int feedback;       /* uc_feedback: what comes back after a proposal                  (partial) */
    int grid;           /* choose each learner's options on other shuffles first             (off) */
    double label_share; /* mixed feedback: share of "wrong" answers that come with the label  (0.1) */
    double flips[2];    /* share of right proposals answered "wrong", and the reverse      (0, 0) */
} uc_compare_settings;

extern const uc_option uc_compare_options[]; /* the table of uc_compare_settings */
uc_compare_settings uc_compare_defaults(void);

/* A learner to compare. */
typedef struct uc_compare_entry {
    const uc_learner *learner; /* online */
    const void *settings;      /* the learner's own struct; NULL: its defaults */
    bool fixed;                /* `grid` does not change these settings */
} uc_compare_entry;

/* The result of one entry. */
typedef struct uc_compared {
    const uc_learner *learner;
    void *settings;         /* used in the runs; with `grid`, the chosen ones */
    uc_feedback feedback;   /* that it got; differs from the one asked for if it cannot learn from that */
    bool reference;         /* sees labels where the others get only right or wrong; never called best */
    double *ratios;         /* share of correct proposals in each run */
    double mean, deviation; /* of the ratios; deviation is NaN after only one run */
    double seconds;         /* per run, on one thread, for proposing and learning only */
    double p_value;         /* of the null hypothesis "as good as the best"; NaN after only one run */
    bool differs;           /* p_value < UC_SIGNIFICANCE */
    /* The learning curve, one entry per point of the comparison: the share of right proposals so far, as the
     * mean over the runs and its deviation (NaN after only one run). */
    double *curve, *curve_deviation;
    double *recall; /* points x classes, all runs, since the previous point; NaN: no such example */
} uc_compared;

#define UC_COMPARE_RECALLS 60 /* with more classes, `recall` is NULL */

typedef struct uc_comparison {
    size_t count;
    uc_compared *learners; /* the highest mean first */
    size_t best;           /* index of the best learner that is not a reference, unless all are */
    double *p_values;      /* count x count, paired t-test of each pair; NaN after only one run */
    uint64_t runs, rounds; /* rounds per run */
    double width;          /* of the map's Gaussian kernel; NaN without one */
    size_t points;         /* of the learning curves: rounds 1, 2, 4, ... and the last */
    uint64_t *point_rounds;
} uc_comparison; /* zero-initialised is empty and may be freed */

/* Runs every learner over the same shuffles: propose, get feedback, learn. A learner may be listed several
 * times with different settings. If `entries` is NULL, every online learner that can learn from the feedback
 * runs with its defaults.
 *
 * Only these fields of `train` (NULL: the defaults) are used: scale, normalize_input, map (none or
 * landmarks), normalize, bias and seed. Run r does what `unconfuse stream --shuffle` does with seed + r and
 * the same kernel width (a median width is computed once, with the first seed). If the ratios of two learners
 * differ by the same amount in every run, their p-value is 0, or 1 if that amount is 0. Except for the
 * seconds, results do not depend on the number of threads. */
uc_status uc_compare(uc_comparison *out, const uc_compare_entry *entries, size_t count,
                     const uc_compare_settings *settings, const uc_train_settings *train,
                     const uc_dataset *data, const uc_context *context);
void uc_comparison_free(uc_comparison *self);

/* ---- experiments: training on labels to which known noise was added ---- */

typedef enum uc_noise_kind {
    UC_NOISE_KIND_NONE,
    UC_NOISE_KIND_UNIFORM,  /* a rate, spread evenly over the other classes */
    UC_NOISE_KIND_PAIR,     /* a rate; every class is mislabelled as the class after it */
    UC_NOISE_KIND_RANDOM,   /* the level of a random matrix (uc_noise_random), a new one for every seed */
    UC_NOISE_KIND_RATES,    /* the rates of the positive and of the negative class */
    UC_NOISE_KIND_INSTANCE, /* a rate up to .5; higher where a weak model is uncertain */
} uc_noise_kind;
typedef struct uc_label_noise {
    uc_noise_kind kind;
    double numbers[2];
} uc_label_noise;

#define UC_RUN_STRIDE 1000003 /* between the seeds of two consecutive runs of an experiment */

/* "none", "uniform:0.2", "pair:0.3", "random:5", "rates:0.3:0.1" or "instance:0.3". */
uc_status uc_label_noise_parse(uc_label_noise *out, const char *text);
/* Draws new labels. *matrix, unless `matrix` is NULL, becomes the noise matrix; if the noise depends on the
 * example, it is left unchanged. */
uc_status uc_label_noise_apply(uc_dataset *data, uc_noise *matrix, const uc_label_noise *noise, uint64_t seed,
                               const uc_context *context);
/* Draws training and test rows, stratified; the columns of tables are encoded from the training rows
 * alone. */
uc_status uc_experiment_draw(uc_dataset *train, uc_dataset *test, const uc_dataset *data, double test_share,
                             uint64_t seed, const uc_context *context);
/* Trains on a copy of `noisy`, after choosing every `auto`, and tests on `test`: returns the share of errors
 * and the seconds for both. *model, unless `model` is NULL, becomes the trained model; the caller frees
 * it. */
uc_status uc_trial(double *error, double *seconds, uc_model **model, const uc_learner *learner,
                   const void *settings, const uc_train_settings *train, const uc_dataset *noisy,
                   const uc_dataset *test, const uc_context *context);

#ifdef __cplusplus
}
#endif

#endif
