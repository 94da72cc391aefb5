/* What a learner is. To add one: fill in this struct in a file of its own and name it in registry.c. */
#ifndef UC_LEARNER_H
#define UC_LEARNER_H

#include "model/model.h"
#include "parallel/parallel.h"
#include "unconfuse/learn.h"

/* What an online learner sees of a round.
 *
 *   K    classes        s_k  scores        xx   squared length of the row        y   the label */
typedef struct uc_round {
    const double *scores; /* K, at this row, before the update */
    size_t classes;       /* K */
    double xx;            /* the constant feature included; > 0 */
    uc_proposal proposal;
    uc_answer answer;
    double weight;        /* of the example, times that of the label's class */
    double inverse_share; /* total / count of this class, by the examples' weights, beforehand or so far */
} uc_round;

/* A change of the weights: class classes[i] gets tau[i] times the row. */
typedef struct uc_step {
    size_t count;
    uint32_t *classes; /* room for K, as in the next two */
    double *tau;
    double *work;
} uc_step;

/* What a batch learner gets. */
typedef struct uc_fit {
    const uc_dataset *data;         /* prepared; every row has a label, unless the learner uses others */
    const uc_train_settings *train; /* with every `auto` decided */
    const uc_context *context;
    size_t rows; /* of all processes that share the work; the data have those of this one */
    /* Of each row, its example's weight times that of its class, all above 0; NULL: all are 1.
     * data->weights are the same. */
    const double *weights;
} uc_fit;

typedef struct uc_state uc_state; /* learn/state.h */

/* What the weights see of rows. */
typedef struct uc_shape {
    size_t features;
    bool sparse; /* less than one value in twenty is not 0 */
} uc_shape;
uc_shape uc_shape_of(size_t features, double density); /* NaN or 0, not known: not sparse */

/* Values to try for an option of type REAL that is `auto`. */
typedef struct uc_candidates {
    const char *option; /* NULL ends a list of them */
    const double *values;
    size_t count;
} uc_candidates;

/* What a learner expects of labels that it has not been trained on properly. */
typedef struct uc_prospect {
    bool may_stand;
    double criterion;
    double wrong; /* share of the labels */
    double error; /* of held-out predictions, against them */
} uc_prospect;

struct uc_learner {
    const char *name, *summary, *paper;
    const uc_option *options;
    size_t settings_size;
    bool full, partial;       /* the feedback that it learns from */
    bool labels_too;          /* made for right or wrong, and learns from labels where there are some */
    bool blas;                /* online: its rounds call BLAS */
    bool normalizes;          /* {normalize=auto} means on */
    bool normalizes_gaussian; /* {normalize=auto} means on after a Gaussian kernel map */
    bool last;                /* {average=auto} means off, though labels are given */
    bool free_offset; /* has one offset per class that is not penalised, instead of a constant feature */
    bool uses_noise;  /* learns with a noise matrix */
    bool uses_rates;  /* of two classes only, which uc_noise_rates_from_data estimates */
    bool unlabelled;  /* rows without a label are of use to it */
    bool positive_unlabelled; /* learns from rows of one class and rows without a label */
    bool soft;                /* batch: uses data->soft; otherwise a row comes once per class, weighted */
    bool weighs_classes;      /* batch: class weights are its own business, and not in fit->weights */
    bool probabilities;       /* the softmax of its scores is the probability of the true class */
    bool maps_itself;         /* from rows as they are; {map} is refused */
    uc_map_kind map;          /* what {map=default} means; other than none, {map=auto} as well */
    size_t class_weight; /* offset of the int class_weight in its settings; UC_NO_CLASS_WEIGHT: it has none */

    /* Whether, with these settings, labels are those of bags and the learner finds out which examples of a
     * bag have its label: then bags are to be judged, not examples. NULL: never. */
    bool (*judges_bags)(const void *settings);
    const uc_candidates *candidates; /* NULL: no option of its own is `auto` before training */
    const uc_candidates *grid; /* what to try of its options when it is compared; NULL: its defaults do */

    /* The seam of `auto` (select/rivals.c), for a learner that makes its own views of the rows: `auto` may
     * train it, too, at its defaults and on the rows as they are. Whether its picture of the labels holds, by
     * what `fit` has put into the model's summary; `fit` writes `wrong_labels` and `clean_error` there as
     * auto's does. *criterion is shown among the candidates. NULL: not for `auto`. */
    bool (*stands)(double *criterion, const uc_model *model);
    /* Before that, and at a fraction of the cost: whether it may stand. What it finds on the way may become
     * a part of the settings that it is trained with then. NULL: always. */
    uc_status (*may_stand)(uc_prospect *out, void *settings, const uc_dataset *data, uint64_t seed,
                           const uc_context *context);

    /* Batch: sets the model's weights and adds to its summary; NULL for an online learner. */
    uc_status (*fit)(uc_model *model, const uc_fit *fit, const void *settings);

    /* Online: the update that this round asks for; `step` comes with count 0, which means none. */
    void (*step)(uc_step *step, const uc_round *round, const void *settings);
    bool weighs_steps; /* `step` uses round->weight; otherwise the step is multiplied by it */
    /* A step leaves out what it would add to all classes equally; in the model the mean over the classes is
     * 0. */
    bool relative;

    /* Online, for a learner that a step does not describe; each may be NULL. online.h has what they work
     * on. */
    /* Whether it keeps another number for every weight, in its own plane 0, 1 or 2, and what that starts
     * as. */
    bool (*plane)(double *start, const void *settings, size_t plane, uc_shape shape);
    double (*weight)(const uc_online *self, size_t at); /* what the model gets, at this place of the planes */
    /* Every `auto` of its settings becomes what it means for rows of this shape and so many classes. */
    void (*decide)(void *settings, uc_shape shape, size_t classes);
    size_t memory_size; /* of what it keeps of its own, in uc_online's `memory`; starts zeroed */
    /* Before there are so many columns or classes, the start included. */
    uc_status (*grow)(uc_online *self, uc_shape shape, size_t classes);
    /* Bytes that the memory grows to: rows of `row_bytes`, so many rounds. */
    double (*memory_bytes)(const void *settings, uc_shape shape, size_t classes, double row_bytes,
                           double rounds);
    void (*release)(void *memory);                           /* what the memory points to */
    uc_status (*remember)(uc_online *self, uc_state *state); /* the memory, to a model and back */
    /* Changes label, probability or favourite of a proposal, which come as the best-scoring class, 1 and that
     * class. */
    void (*propose)(uc_proposal *proposal, uc_online *self, uc_row row);
    /* For one whose `propose` draws a class evenly with some probability, and the best one otherwise: that
     * probability. NULL: it draws otherwise, or not at all. */
    double (*explore)(const void *settings);
    /* Instead of the weights: self->scores of a row. */
    void (*score)(uc_online *self, uc_row row);
    /* For a learner that prepares rows further by itself: what a model does to a row after `preprocessing`,
     * which is that of the rows it gets, joins `preprocessing`, and `weights`, the caller's to free, are
     * those of the result: (1 + dimension) x stride, row 0 of a constant feature `bias`. NULL weights:
     * those of the planes. */
    uc_status (*model)(uc_preprocessing *preprocessing, double **weights, double *bias,
                       const uc_online *self);
    /* Instead of `step`: changes the weights by itself, and counts an update. self->scores belong to the
     * row. */
    uc_status (*learn)(uc_online *self, uc_row row, const uc_round *round);
};

#define UC_NO_CLASS_WEIGHT SIZE_MAX

extern const uc_learner uc_learner_perceptron, uc_learner_pa, uc_learner_spa, uc_learner_copa,
    uc_learner_cspa, uc_learner_cspa_plus, uc_learner_onebit, uc_learner_banditron, uc_learner_bpa,
    uc_learner_confidit, uc_learner_arow, uc_learner_scw, uc_learner_soba, uc_learner_uma,
    uc_learner_logistic, uc_learner_rp, uc_learner_csvm, uc_learner_sloppy_svm, uc_learner_s3vm,
    uc_learner_ridge, uc_learner_auto, uc_learner_audit, uc_learner_pu;

/* What the rows of all processes weigh; without weights each is their number. */
typedef struct uc_weight_sums {
    double total;
    double effective; /* so many equal examples say as much: (sum u)^2 / sum u^2 */
    double finest;    /* so many of the smallest weight are as much */
} uc_weight_sums;
uc_status uc_weigh(uc_weight_sums *out, const uc_fit *fit);
/* Whether the learner learns from such feedback. */
uc_status uc_check_feedback(const uc_learner *learner, uc_feedback feedback);
/* Whether no map is asked for where the learner makes one of its own. */
uc_status uc_check_own_map(const uc_learner *learner, const uc_map_settings *map);
/* Whether train->class_weights, when given, are for a learner that has such, and all above 0. */
uc_status uc_check_class_weights(const uc_learner *learner, const uc_train_settings *train,
                                 const uc_names *classes);
/* Bytes that an online learner comes to: its planes and its memory, for rows of `row_bytes` and so many
 * rounds. */
double uc_learner_bytes(const uc_learner *learner, const void *settings, bool average, uc_shape shape,
                        size_t classes, double row_bytes, double rounds);
/* A copy of the learner's settings, or its defaults for NULL; freed with uc_free. */
void *uc_learner_settings(const uc_learner *learner, const void *settings);
/* Every `auto` of the shared settings becomes what suits the learner. train NULL: the defaults. */
uc_train_settings uc_train_decide(const uc_learner *learner, const uc_train_settings *train);

/* The entry of every learner's table that has class weights. */
#define UC_CLASS_WEIGHT_OPTION(struct_name)                                                                  \
    {                                                                                                        \
        .name = "class-weight", .type = UC_OPTION_CHOICE, .offset = offsetof(struct_name, class_weight),     \
        .standard = "none", .choices = "none|balanced",                                                      \
        .help = "balanced: an example counts n/(K n_c), n_c the examples of its class"                       \
    }

#endif
