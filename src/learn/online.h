/* The state of an online learner: its weights and what it has seen. For the learners; train/online.h drives
 * them. */
#ifndef UC_ONLINE_H
#define UC_ONLINE_H

#include "learn/learner.h"
#include "linalg/linalg.h"
#include "model/model.h"

/* Arrays with the shape of the weights; they grow, are saved and are resumed together. */
enum {
    UC_WEIGHTS,
    UC_AVERAGE, /* sum over rounds s of (s - 1) times what round s added; NULL: no averaging */
    UC_OWN,     /* this and the next two are the learner's own; NULL: it has none */
    UC_PLANES = UC_OWN + 3
};

struct uc_online {
    const uc_learner *learner;
    void *settings;
    void *memory;            /* the learner's own; NULL: it has none */
    uc_train_settings train; /* with every `auto` decided; its class_weights point to the next member */
    double *class_weights;   /* one per class; NULL: none were given */
    uc_names classes;
    uc_preprocessing preprocessing;
    uc_scale_sums *running; /* for learning the scaling as rows arrive; NULL: it is fixed */

    size_t columns;           /* of the rows seen */
    size_t features;          /* of prepared rows: the columns, or the map's dimension */
    double density;           /* of prepared rows: the share of values that are not 0; NaN: not known yet */
    size_t capacity;          /* features for which the planes have room */
    size_t stride;            /* uc_class_stride(classes.count) */
    double *plane[UC_PLANES]; /* (1 + capacity) x stride; row 0 belongs to the constant feature */
    uint64_t proposals, rounds, updates;
    double *label_counts; /* per class, weighted by the examples' weights */
    double label_total;
    bool counts_are_final; /* counted beforehand, not round by round */
    uc_rng rng;            /* for a learner that explores or replays */

    double *scores;    /* of the last row scored, stride of them */
    double *full_step; /* an update as one number per class, stride of them; also work space of the learner */
    uc_step step;
    uint64_t ticket; /* of the scores; a proposal with the same ticket was made from them */
    uc_row prepared; /* the last row that was prepared here */
    float *row_work;
    size_t row_work_size;
};

/* Computes self->scores of a prepared row. */
void uc_online_score(uc_online *self, uc_row row);
/* The same with another plane, into `scores` (stride of them). */
void uc_online_plane_scores(double *scores, const uc_online *self, size_t plane, uc_row row);

/* The direction of an update: `dense` (1 + features; the constant feature comes first) or, if that is NULL, a
 * row and a constant feature. */
typedef struct uc_direction {
    double length; /* what one unit of a step adds to the score of the current row */
    const double *dense;
    double constant;
    uc_row row;
} uc_direction;

/* Adds self->step along the direction to the weights and to their average. */
void uc_online_add(uc_online *self, const uc_direction *direction);
/* Adds `factor` times the same to one plane. */
void uc_online_add_to(uc_online *self, size_t plane, const uc_direction *direction, double factor);

#endif
