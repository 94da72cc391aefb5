/* Learners: the list of them, training on a data set, and learning one example at a time. */
#ifndef UNCONFUSE_LEARN_H
#define UNCONFUSE_LEARN_H

#include "unconfuse/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- which learners there are ---- */

/* What comes back after a proposal: the label; right or wrong only; or right or wrong, plus the label after
 * some of the wrong ones. */
typedef enum uc_feedback { UC_FEEDBACK_FULL, UC_FEEDBACK_PARTIAL, UC_FEEDBACK_MIXED } uc_feedback;

typedef struct uc_learner uc_learner;
const uc_learner *uc_learner_at(size_t i);           /* NULL past the end */
const uc_learner *uc_learner_find(const char *name); /* NULL with a sentence that lists the learners */
const char *uc_learner_name(const uc_learner *self);
const char *uc_learner_summary(const uc_learner *self); /* one line: for which kind of labels */
const char *uc_learner_paper(const uc_learner *self);
const uc_option *uc_learner_options(const uc_learner *self);
size_t uc_learner_settings_size(const uc_learner *self);
bool uc_learner_is_online(const uc_learner *self);
bool uc_learner_accepts(const uc_learner *self, uc_feedback feedback);
/* Whether an option of uc_map_options other than `map` itself has any effect, given these map settings. */
bool uc_learner_uses_map_option(const uc_learner *self, const uc_map_settings *map, const char *option);
bool uc_learner_has_own_map(const uc_learner *self);     /* and refuses any other */
bool uc_learner_uses_noise(const uc_learner *self);      /* learns with a noise matrix */
bool uc_learner_uses_unlabelled(const uc_learner *self); /* makes use of rows without a label */
/* Whether its rounds call OpenBLAS, whose sums depend on its number of threads. The library sets OpenBLAS to
 * one thread when it first calls it; if something else in the process sets more, set it back to one for the
 * rounds. */
bool uc_learner_uses_blas(const uc_learner *self);
/* Whether it learns from one class alone: uc_dataset_positive_unlabelled must be called on the data before
 * training. */
bool uc_learner_is_positive_unlabelled(const uc_learner *self);
bool uc_learner_has_probabilities(const uc_learner *self); /* its models have them */
/* Whether it learns with the noise rates of two classes, which uc_noise_rates_from_data can estimate. */
bool uc_learner_uses_rates(const uc_learner *self);
/* The i-th option that a comparison tunes, and the values that it tries (NaN: auto); NULL past the end. */
const char *uc_learner_grid(const double **values, size_t *count, const uc_learner *self, size_t i);

/* The settings structs of the option tables. */
typedef enum uc_class_weight { UC_CLASS_WEIGHT_NONE, UC_CLASS_WEIGHT_BALANCED } uc_class_weight;

typedef struct uc_perceptron_settings {
    int step;         /* max: only the best wrong class changes; uniform: all that score too high (max) */
    int class_weight; /* uc_class_weight: balanced weighs every class by n / (K n_class)           (none) */
} uc_perceptron_settings;

/* pa and spa */
typedef struct uc_pa_settings {
    int variant;      /* 0: hard margin; 1: linear slack; 2: squared slack  (0) */
    double cost;      /* C of variants 1 and 2, > 0                         (1) */
    int class_weight; /* uc_class_weight                                    (none) */
} uc_pa_settings;

typedef struct uc_copa_settings {
    double cost;      /* C, > 0                                                           (0.04) */
    int cost_scale;   /* class: C (T/T_y)^2, where T_y of T examples have the label's class; none  (class) */
    int class_weight; /* uc_class_weight                                                  (none) */
} uc_copa_settings;

typedef struct uc_arow_settings {
    double regularizer; /* r: larger values make the weights certain more slowly, > 0  (0.1) */
    int covariance;     /* diagonal | full: one matrix of the columns per class    (diagonal) */
    int class_weight;   /* uc_class_weight                                         (none) */
} uc_arow_settings;

typedef struct uc_scw_settings {
    int variant;       /* 1: linear slack; 2: squared slack                       (1) */
    double cost;       /* C: limits the change per example, > 0                                (1) */
    double confidence; /* eta: the probability that an example is right, in (.5, 1)   (0.9) */
    int covariance;    /* diagonal | full: one matrix of the columns per class    (diagonal) */
    int class_weight;  /* uc_class_weight                                         (none) */
} uc_scw_settings;

typedef struct uc_cspa_settings {
    double beta; /* step after "wrong", in (0, 1]; auto: 1/(2(K-1))  (auto) */
} uc_cspa_settings;

typedef struct uc_cspa_plus_settings {
    double beta;            /* step after "wrong", in (0, 1]                        (0.5) */
    double spread;          /* after "wrong" likelier classes gain more; 0: alike   (3) */
    int metric;             /* auto | none | diagonal | full                        (auto) */
    double prior;           /* the metric starts as this times the identity, > 0    (1) */
    double bonus;           /* of seldom proposed classes, in the proposal                     (1) */
    uint64_t replay;        /* past rounds learned from again after each round      (3) */
    uint64_t memory_rounds; /* rounds kept for replay                               (10000) */
    double tail;            /* proposals use mean weights, round t counting t^tail; 0: the last   (auto) */
    int pair;               /* adds a second learner without the metric; the better one proposes  (auto) */
} uc_cspa_plus_settings;

typedef struct uc_onebit_settings {
    double ridge;           /* penalty of the ridge problem, > 0                     (0.03) */
    double jitter;          /* added to the kernel matrix of the landmarks           (0.001) */
    double penalty;         /* after "wrong", the class's target is minus this                       (0.2) */
    double bonus;           /* of classes seldom proposed or seldom right      (auto: 4; sparse rows 1)   */
    uint64_t replay;        /* past rounds whose targets are recomputed after each round         (4) */
    double least;           /* smallest change of a target that counts, summed over classes     (0.02) */
    uint64_t memory_rounds; /* rounds kept                                           (10000) */
    int restart;            /* begin again when the share of right proposals halves  (on) */
    double step;            /* sparse rows: step after "wrong", in (0, 1]            (0.5) */
    double spread;          /* sparse rows: after "wrong" likelier classes gain more (3) */
    double feedback_noise[2]; /* share of "wrong" after right proposals and of "right" after wrong ones;
                                 NaN: estimated (none: 0, 0) */
} uc_onebit_settings;

/* banditron and bpa */
typedef struct uc_explore_settings {
    double explore; /* share of proposals drawn evenly, in (0, 1]  (0.05) */
} uc_explore_settings;

typedef struct uc_confidit_settings {
    double eta;   /* how much uncertainty counts in the proposal  (1) */
    double prior; /* A_k starts as this times the identity, > 0   (4) */
} uc_confidit_settings;

typedef struct uc_soba_settings {
    double explore; /* share of proposals drawn evenly, in (0, 1]            (0.2) */
    double prior;   /* A starts as this times the identity, > 0              (1) */
    int covariance; /* auto | full: one matrix of all weights | diagonal     (auto) */
} uc_soba_settings;

typedef struct uc_uma_settings {
    uint64_t iterations; /* steps at most                                         (1000) */
    int choose;          /* error | confusion | random: which pair a step mends   (error) */
    int step;            /* perceptron | uniform | worst: which wrong classes change         (perceptron) */
    double alpha;        /* examples closer than this to a decision boundary do not count  (0) */
    int returns;         /* last | average | tail | best | auto                   (auto) */
    double ridge;        /* of the inverse of the noise matrix                    (auto) */
    int init;            /* zero | means                                          (zero) */
    int class_weight;    /* uc_class_weight                                       (none) */
} uc_uma_settings;

typedef struct uc_logistic_settings {
    int correction;      /* auto | none | forward | backward                      (auto) */
    double l2;           /* weight of the squared length of the weights           (1e-4) */
    uint64_t iterations; /* of L-BFGS at most                                     (1000) */
    double tolerance;    /* of the gradient, relative to the weights              (1e-5) */
    int class_weight;    /* uc_class_weight                                       (none) */
} uc_logistic_settings;

/* csvm and sloppy-svm */
typedef struct uc_svm_settings {
    double cost;             /* C: weight of the mean loss; csvm: 0 is a rule for short rows (100; csvm 0) */
    double smoothing;        /* h of the smoothed hinge, > 0                                (0.5) */
    int loss;                /* sloppy | weighted                                           (sloppy) */
    int positive_unlabelled; /* uc_dataset_positive_unlabelled was called on the data               (off) */
    int bags;                /* uc_dataset_check_bags was called on the data                        (off) */
    int bag_rule;            /* with bags: spread | instance | witness                      (spread) */
    int class_weight;        /* uc_class_weight                                             (none) */
    uint64_t iterations;     /* epochs of coordinate descent and steps of L-BFGS at most    (1000) */
    double tolerance;        /* of the objective, relative; L-BFGS: of the gradient         (1e-5) */
} uc_svm_settings;

typedef struct uc_rp_settings {
    int rule;            /* nu | eta: what a step takes the noise to be                        (nu) */
    double kappa;        /* nu as a share of the length of the class mean                   (auto) */
    uint64_t iterations; /*                                                                 (300) */
    int class_weight;    /* uc_class_weight                                                 (none) */
} uc_rp_settings;

typedef struct uc_s3vm_settings {
    double cost;            /* C: weight of the labelled rows' mean loss, > 0           (100) */
    double unlabelled_cost; /* of the unlabelled rows' mean loss, in units of the cost  (1) */
    int class_weight;       /* uc_class_weight, of labelled rows                        (none) */
} uc_s3vm_settings;

typedef struct uc_ridge_settings {
    double lambda;    /* penalty on the squared length of the weights, > 0; auto: by leave-one-out  (auto) */
    int class_weight; /* uc_class_weight                                                            (none) */
} uc_ridge_settings;

typedef struct uc_auto_settings {
    int effort;       /* fast, normal, thorough: how many views are tried  (normal) */
    int class_weight; /* uc_class_weight                                   (none) */
} uc_auto_settings;

/* structure: the classes are modelled as Gaussian clouds, whatever the labels say. labels: the labels are
 * believed first and then corrected. auto: structure, unless it contradicts the labels. */
typedef enum uc_audit_mode { UC_AUDIT_AUTO, UC_AUDIT_STRUCTURE, UC_AUDIT_LABELS } uc_audit_mode;

typedef struct uc_audit_settings {
    int mode;           /* uc_audit_mode                             (auto) */
    uint64_t landmarks; /* rows that kernels are measured from       (auto) */
    uint64_t axes;      /* principal axes of each view at most       (auto) */
    double width; /* of kernels, in median distances; not in the table; 0, NaN: chosen from .3, 1, 3 (0) */
} uc_audit_settings;
extern const uc_option uc_audit_options[]; /* the table of uc_audit_settings */

typedef struct uc_pu_settings {
    int risk;            /* unbiased | nonnegative | elkan-noto                           (nonnegative) */
    int loss;            /* auto | logistic | sigmoid | hinge                             (auto) */
    double prior;        /* share of positives in the population; 0: estimate             (0) */
    int scenario;        /* sampled: the unlabelled rows are the population;
                            censored: they and the labelled ones together                 (censored) */
    double l2;           /* weight of the squared length of the weights                   (auto) */
    int penalty;         /* plain | adaptive: small weights pay more                      (adaptive) */
    int class_weight;    /* uc_class_weight, of the true classes                          (none) */
    uint64_t iterations; /* of L-BFGS at most                                             (1000) */
    double tolerance;    /* of the gradient, compared with the weights                    (1e-5) */
} uc_pu_settings;

/* ---- settings that every learner shares ---- */

/* When the online learners of several processes average their weights; each learns from its own rows. */
typedef enum uc_mix { UC_MIX_AVERAGE /* after every pass */, UC_MIX_ONCE /* after the last one */ } uc_mix;

typedef struct uc_train_settings {
    uint64_t passes;     /* over the data, online learners                        (5) */
    int shuffle;         /* a new order in every pass                             (on) */
    int average;         /* the model is the mean of the iterates                 (auto: on with labels) */
    int scale;           /* uc_scaling                                            (none) */
    int normalize_input; /* rows to unit length before the map                    (off) */
    int normalize;       /* rows to unit length after the map                     (auto: by learner) */
    double bias;         /* a constant feature of this value; 0: none             (auto: by learner) */
    uint64_t seed;       /* same seed, same model                                 (1) */
    uc_map_settings map; /* of the table uc_map_options                           (none) */

    /* Not in the table: */
    int mix;        /* uc_mix: online learners in several processes        (average) */
    int overwrite;  /* uc_train may preprocess data in place unless mapped from a file: half the memory */
    int keep_state; /* uc_train: the model of an online learner keeps what uc_online_resume needs */
    const uc_noise *noise; /* of the training labels, in the data's class order; NULL: not known */
    const char *positive;  /* the positive one of two classes, which the model remembers; NULL: not known */
    /* One positive weight per class in the data's order, used instead of the learner's class-weight; NULL:
     * none. If csvm trains one class against the rest, only that class is weighted. */
    const double *class_weights;
    /* If > 0, at most this share of the labels is known to be wrong, which limits the `clean_error` that a
     * learner estimates. 0: nothing is known. */
    double wrong_at_most;
    int relevance; /* chosen by auto: columns are scaled by relevance (unconfuse/prepare.h), not by `scale` */
    const uc_model
        *start; /* logistic begins at its weights, of the same prepared columns and the same classes
                              in their order; NULL: at 0 */
} uc_train_settings;

extern const uc_option uc_train_options[];
uc_train_settings uc_train_defaults(void);

/* ---- a round of an online learner ---- */

typedef struct uc_online uc_online; /* unconfuse/train.h */

typedef struct uc_proposal {
    uint32_t label;     /* what was proposed */
    double probability; /* with which `label` was drawn; 1 for a learner that does not explore */
    uint32_t favourite; /* the class with the best score; a learner that explores may have proposed another */
    uint64_t ticket;    /* private: shows whether the scores behind the proposal are still in memory */
} uc_proposal;

typedef enum uc_answer_kind { UC_ANSWER_LABEL, UC_ANSWER_RIGHT, UC_ANSWER_WRONG } uc_answer_kind;
typedef struct uc_answer {
    uc_answer_kind kind;
    uint32_t label; /* of UC_ANSWER_LABEL */
} uc_answer;

#ifdef __cplusplus
}
#endif

#endif
