/* What a learner is. To add one, fill in struct uc_learner in a new file and list it in registry.c. */
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
    double xx;            /* including the constant feature; > 0 */
    uc_proposal proposal;
    uc_answer answer;
    double weight;        /* of the example, times that of the label's class */
    double inverse_share; /* total / count of this class, weighted; counted beforehand or so far */
} uc_round;

/* A change of the weights: class classes[i] gets tau[i] times the row. */
typedef struct uc_step {
    size_t count;
    uint32_t *classes; /* room for K, as are the next two */
    double *tau;
    double *work;
} uc_step;

/* The input of a batch learner. */
typedef struct uc_fit {
    const uc_dataset *data; /* prepared; every row has a label, unless the learner uses rows without one */
    const uc_train_settings *train; /* with every `auto` decided */
    const uc_context *context;
    size_t rows; /* over all processes that share the work; `data` has only those of this one */
    /* For each row, the weight of its example times that of its class, all above 0; NULL: all are 1.
     * data->weights are the same. */
    const double *weights;
} uc_fit;

typedef struct uc_state uc_state; /* learn/state.h */

/* The shape of prepared rows. */
typedef struct uc_shape {
    size_t features;
    bool sparse; /* less than one value in twenty is not 0 */
} uc_shape;
uc_shape uc_shape_of(size_t features, double density); /* density NaN or 0 (not known): not sparse */

/* Values to try for an option of type REAL whose value is `auto`. */
typedef struct uc_candidates {
    const char *option; /* NULL ends the list */
    const double *values;
    size_t count;
} uc_candidates;

/* What a learner expects on these data, from a cheap look before it is trained. */
typedef struct uc_prospect {
    bool may_stand;
    double criterion;
    double wrong; /* share of wrong labels */
    double error; /* of held-out predictions, against the labels */
} uc_prospect;

struct uc_learner {
    const char *name, *summary, *paper;
    const uc_option *options;
    size_t settings_size;
    bool full, partial;       /* the feedback that it learns from */
    bool labels_too;          /* made for right/wrong feedback, but learns from labels too if there are any */
    bool blas;                /* online: its rounds call BLAS */
    bool normalizes;          /* {normalize=auto} means on */
    bool normalizes_gaussian; /* {normalize=auto} means on after a Gaussian kernel map */
    bool last;                /* {average=auto} means off, although labels are given */
    bool free_offset;         /* has an unpenalised offset per class instead of a constant feature */
    bool uses_noise;          /* learns with a noise matrix */
    bool uses_rates; /* learns with noise rates, of two classes only; uc_noise_rates_from_data estimates them
                       */
    bool unlabelled; /* learns from rows without a label too */
    bool positive_unlabelled; /* learns from rows of one class and rows without a label */
    bool soft;                /* batch: uses data->soft; otherwise it gets a row once per class, weighted */
    bool weighs_classes;      /* batch: applies class weights itself; they are not in fit->weights */
    bool probabilities;       /* the softmax of its scores gives the probabilities of the true class */
    bool maps_itself;         /* makes its own map, from unprepared rows; {map} is refused */
    uc_map_kind map;          /* what {map=default} means and, unless none, {map=auto} as well */
    size_t class_weight;      /* offset of the int class_weight in its settings; UC_NO_CLASS_WEIGHT: none */

    /* Whether, with these settings, the labels are those of bags and the learner finds out which examples of
     * a bag have its label. Bags are then evaluated instead of examples. NULL: never. */
    bool (*judges_bags)(const void *settings);
    const uc_candidates *candidates; /* NULL: none of its own options is `auto` before training */
    bool warm_starts; /* they are tried from the last to the first, each from the model of the one before */
    const uc_candidates *grid; /* option values to try when it is compared; NULL: only its defaults */

    /* For `auto` (select/rivals.c), which may also train a learner that makes its own views of the rows, with
     * its defaults and on unprepared rows. Returns whether its explanation of the labels holds, according to
     * what `fit` has put into the model's summary; `fit` writes `wrong_labels` and `clean_error` there, as
     * auto's does. *criterion is shown among the candidates. NULL: `auto` does not try this learner. */
    bool (*stands)(double *criterion, const uc_model *model);
    /* A cheaper check before training: whether `stands` may come out true. It may store what it finds in the
     * settings for the training that follows. NULL: always. */
    uc_status (*may_stand)(uc_prospect *out, void *settings, const uc_dataset *data, uint64_t seed,
                           const uc_context *context);

    /* Batch: sets the model's weights and adds to its summary; NULL for an online learner. */
    uc_status (*fit)(uc_model *model, const uc_fit *fit, const void *settings);

    /* Online: the update for this round; `step` is passed with count 0, which means no update. */
    void (*step)(uc_step *step, const uc_round *round, const void *settings);
    bool weighs_steps; /* `step` uses round->weight; otherwise its result is multiplied by it */
    /* Steps leave out what they would add to all classes equally; in the model the mean over the classes is
     * 0. */
    bool relative;

    /* Online, for a learner that a step does not describe; each may be NULL. For uc_online see online.h. */
    /* Whether it keeps another number per weight, in its own plane 0, 1 or 2; *start becomes its initial
     * value. */
    bool (*plane)(double *start, const void *settings, size_t plane, uc_shape shape);
    double (*weight)(const uc_online *self, size_t at); /* the model's weight at this place of the planes */
    /* Replaces every `auto` in its settings by what it means for this shape and number of classes. */
    void (*decide)(void *settings, uc_shape shape, size_t classes);
    size_t memory_size; /* bytes of its own data, in uc_online's `memory`, which starts zeroed */
    /* Makes room for this shape and number of classes; called before either grows, and at the start. */
    uc_status (*grow)(uc_online *self, uc_shape shape, size_t classes);
    /* Bytes to which the memory grows, for rows of `row_bytes` and this number of rounds. */
    double (*memory_bytes)(const void *settings, uc_shape shape, size_t classes, double row_bytes,
                           double rounds);
    void (*release)(void *memory);                           /* frees what the memory points to */
    uc_status (*remember)(uc_online *self, uc_state *state); /* saves the memory to a model or restores it */
    /* Changes the label, probability or favourite of a proposal; they are passed as the best-scoring class, 1
     * and that class. */
    void (*propose)(uc_proposal *proposal, uc_online *self, uc_row row);
    /* If `propose` draws a class evenly with some probability and takes the best one otherwise: that
     * probability. NULL: it draws in another way, or not at all. */
    double (*explore)(const void *settings);
    /* Computes self->scores of a row, instead of from the weights. */
    void (*score)(uc_online *self, uc_row row);
    /* For a learner that prepares its rows further by itself. `preprocessing` comes as that of the rows that
     * the learner gets; what a model must do to a row after it is appended. *weights become those of the
     * result, (1 + dimension) x stride, with row 0 for a constant feature `bias`; the caller frees them. NULL
     * weights: those of the planes. */
    uc_status (*model)(uc_preprocessing *preprocessing, double **weights, double *bias,
                       const uc_online *self);
    /* Instead of `step`: changes the weights itself and counts the update. self->scores are those of the
     * row. */
    uc_status (*learn)(uc_online *self, uc_row row, const uc_round *round);
};

#define UC_NO_CLASS_WEIGHT SIZE_MAX

extern const uc_learner uc_learner_perceptron, uc_learner_pa, uc_learner_spa, uc_learner_copa,
    uc_learner_cspa, uc_learner_cspa_plus, uc_learner_onebit, uc_learner_banditron, uc_learner_bpa,
    uc_learner_confidit, uc_learner_arow, uc_learner_scw, uc_learner_soba, uc_learner_uma,
    uc_learner_logistic, uc_learner_rp, uc_learner_csvm, uc_learner_sloppy_svm, uc_learner_s3vm,
    uc_learner_ridge, uc_learner_auto, uc_learner_audit, uc_learner_pu;

/* Sums of the row weights over all processes; without weights each is the number of rows. */
typedef struct uc_weight_sums {
    double total;
    double effective; /* the number of equal examples with the same information: (sum u)^2 / sum u^2 */
    double finest;    /* the total divided by the smallest weight */
} uc_weight_sums;
uc_status uc_weigh(uc_weight_sums *out, const uc_fit *fit);
/* Fails unless the learner learns from such feedback. */
uc_status uc_check_feedback(const uc_learner *learner, uc_feedback feedback);
/* Fails if a map is requested although the learner makes its own. */
uc_status uc_check_own_map(const uc_learner *learner, const uc_map_settings *map);
/* Fails if train->class_weights are given and the learner has no class weights, or one is not above 0. */
uc_status uc_check_class_weights(const uc_learner *learner, const uc_train_settings *train,
                                 const uc_names *classes);
/* Bytes that an online learner needs for its planes and memory, for rows of `row_bytes` and this number of
 * rounds. */
double uc_learner_bytes(const uc_learner *learner, const void *settings, bool average, uc_shape shape,
                        size_t classes, double row_bytes, double rounds);
/* Returns a copy of the learner's settings, or of its defaults if NULL; freed with uc_free. */
void *uc_learner_settings(const uc_learner *learner, const void *settings);
/* Replaces every `auto` in the shared settings by what suits the learner. train NULL: the defaults. */
uc_train_settings uc_train_decide(const uc_learner *learner, const uc_train_settings *train);

/* An entry for the option table of each learner that has class weights. */
#define UC_CLASS_WEIGHT_OPTION(struct_name)                                                                  \
    {                                                                                                        \
        .name = "class-weight", .type = UC_OPTION_CHOICE, .offset = offsetof(struct_name, class_weight),     \
        .standard = "none", .choices = "none|balanced",                                                      \
        .help = "balanced: an example counts n/(K n_c), n_c the examples of its class"                       \
    }

#endif
