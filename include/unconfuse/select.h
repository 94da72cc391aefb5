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

/* The same with the scores of every row by that model, rows x classes: probabilities of learners that have
 * them. NULL: none. */
uc_status uc_cross_validate_scores(double *scores, uint32_t *predicted, double *fold_error,
                                   const uc_learner *learner, const void *settings,
                                   const uc_train_settings *train, const uc_dataset *data, unsigned folds,
                                   const uc_context *context);

/* Turns every `auto` of the learner's settings and of train->map into a number: the kernel width, the
 * dimension of the map, and the learner's own options. Each is chosen by 5-fold cross-validation on at most
 * 2,000 examples, with the labels as they are; no clean labels are needed. For a learner that has
 * probabilities the criterion is the likelihood of held-out labels, else their errors. */
uc_status uc_tune(void *settings, uc_train_settings *train, const uc_learner *learner, const uc_dataset *data,
                  const uc_context *context);
/* A view of the rows, and how well ridge regression predicts labels by it that it has not seen. */
typedef struct uc_view {
    uc_scaling scale;
    bool unit_rows; /* scaled to unit length before the map */
    uc_map_settings map;
    double criterion; /* leave-one-out: mean squared error + share of errors */
    double error;     /* the share of errors, of the labels as they are */
    size_t examples;  /* that it was judged on: fewer if it was rejected early */
} uc_view;
typedef struct uc_views {
    uc_view *tried;
    size_t count, best;
} uc_views; /* zero-initialised is empty and may be freed */
void uc_views_free(uc_views *self);

/* Chooses the view, if that is `auto`; then uc_tune on a copy of the settings, and uc_train. Without noise
 * the fewest errors decide among values that the likelihood does not tell from the best. */
uc_status uc_tune_and_train(uc_model **out, const uc_learner *learner, const void *settings,
                            const uc_train_settings *train, uc_dataset *data, const uc_context *context);

/* The same choice for a stream of these rows: scaling, and a map of landmarks or none, as far as these are
 * `auto`. It looks at the labels of all rows before the first round. */
uc_status uc_stream_tune(uc_train_settings *train, const uc_dataset *data, const uc_context *context);

/* ---- which online learner suits the data ---- */

/* p-values below this are called significant. */
#define UC_SIGNIFICANCE 0.05

typedef struct uc_compare_settings {
    uint64_t runs;      /* shuffles of the data, the same for every learner               (10) */
    uint64_t passes;    /* over the data in a run                                         (1) */
    int feedback;       /* uc_feedback: what comes back after a proposal                  (partial) */
    int grid;           /* first choose each learner's options on other shuffles          (off) */
    double label_share; /* mixed feedback: the label comes after this share of the wrong  (0.1) */
    double flips[2];    /* share of right proposals answered "wrong", and the reverse      (0, 0) */
} uc_compare_settings;

extern const uc_option uc_compare_options[]; /* the table of uc_compare_settings */
uc_compare_settings uc_compare_defaults(void);

/* A learner to compare. */
typedef struct uc_compare_entry {
    const uc_learner *learner; /* online */
    const void *settings;      /* its own struct; NULL: its defaults */
    bool fixed;                /* `grid` leaves these settings as they are */
} uc_compare_entry;

/* The result of one entry. */
typedef struct uc_compared {
    const uc_learner *learner;
    void *settings;         /* that it ran with: with `grid`, those that were chosen */
    uc_feedback feedback;   /* that it got: not the one asked for if it cannot learn from that */
    bool reference;         /* it saw labels where others only got right or wrong; never called best */
    double *ratios;         /* share of correct proposals in each run */
    double mean, deviation; /* of the ratios; deviation is NaN after only one run */
    double seconds;         /* per run, of one thread, for proposing and learning alone */
    double p_value;         /* of the null hypothesis "as good as the best"; NaN after only one run */
    bool differs;           /* p_value < UC_SIGNIFICANCE */
    /* The learning curve, one entry a point of the comparison: the ratio of right proposals so far, as its
     * mean over the runs and its deviation (NaN after only one run). */
    double *curve, *curve_deviation;
    double *recall; /* points x classes, of all runs: since the point before; NaN: the class did not occur */
} uc_compared;

#define UC_COMPARE_RECALLS 60 /* of more classes no recall is kept: it is NULL */

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
 * times with different settings. `entries` NULL: every online learner that can learn from the feedback, at
 * its defaults.
 *
 * Of `train` (NULL: the defaults) only scale, normalize_input, map (none or landmarks), normalize, bias and
 * seed are used. Run r is what `unconfuse stream --shuffle` does with seed + r and the same kernel width (a
 * median width is found once, with the first seed). If two learners' ratios differ by the same amount in
 * every run, their p-value is 0, or 1 if that amount is 0. Except for the seconds, results do not depend on
 * the number of threads. */
uc_status uc_compare(uc_comparison *out, const uc_compare_entry *entries, size_t count,
                     const uc_compare_settings *settings, const uc_train_settings *train,
                     const uc_dataset *data, const uc_context *context);
void uc_comparison_free(uc_comparison *self);

/* ---- experiments: what learners make of labels that were made wrong on purpose ---- */

typedef enum uc_noise_kind {
    UC_NOISE_KIND_NONE,
    UC_NOISE_KIND_UNIFORM,  /* a rate, spread evenly over the other classes */
    UC_NOISE_KIND_PAIR,     /* a rate, every class taken for the one after it */
    UC_NOISE_KIND_RANDOM,   /* the level of a random matrix (uc_noise_random), another one for every seed */
    UC_NOISE_KIND_RATES,    /* of the positive and of the negative class */
    UC_NOISE_KIND_INSTANCE, /* a rate up to .5, more where a weak model hesitates */
} uc_noise_kind;
typedef struct uc_label_noise {
    uc_noise_kind kind;
    double numbers[2];
} uc_label_noise;

#define UC_RUN_STRIDE 1000003 /* between the seeds of two runs of an experiment */

/* "none", "uniform:0.2", "pair:0.3", "random:5", "rates:0.3:0.1" or "instance:0.3". */
uc_status uc_label_noise_parse(uc_label_noise *out, const char *text);
/* Draws labels anew. *matrix, unless it is NULL, becomes how likely each class is called another one; for
 * noise that depends on the example it stays as it is. */
uc_status uc_label_noise_apply(uc_dataset *data, uc_noise *matrix, const uc_label_noise *noise, uint64_t seed,
                               const uc_context *context);
/* Training and test rows, stratified; the columns of tables are encoded by the training rows alone. */
uc_status uc_experiment_draw(uc_dataset *train, uc_dataset *test, const uc_dataset *data, double test_share,
                             uint64_t seed, const uc_context *context);
/* Trains on a copy of `noisy` (every `auto` is chosen first) and tests on `test`: the share of errors, and
 * the seconds for both. *model, unless it is NULL, becomes what was learned; the caller frees it. */
uc_status uc_trial(double *error, double *seconds, uc_model **model, const uc_learner *learner,
                   const void *settings, const uc_train_settings *train, const uc_dataset *noisy,
                   const uc_dataset *test, const uc_context *context);

#ifdef __cplusplus
}
#endif

#endif
