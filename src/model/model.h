/* The inside of a model. */
#ifndef UC_MODEL_H
#define UC_MODEL_H

#include <jansson.h>

#include "base/base.h"
#include "data/container.h"
#include "unconfuse/model.h"

/* What uc_online_resume needs, besides the model itself, to continue an online learner. */
typedef struct uc_model_state {
    json_t *counters; /* an object of numbers; NULL: the model has no state */
    uc_array *arrays; /* names and data belong to the state */
    size_t count;
} uc_model_state;

/* Adds a copy of the array to the state. */
uc_status uc_model_state_add(uc_model_state *self, uc_array array);
/* The same without a copy: takes over the array's data, which it frees on failure. */
uc_status uc_model_state_take(uc_model_state *self, uc_array array);
const uc_array *uc_model_state_find(const uc_model_state *self, const char *name); /* NULL: not there */
void uc_model_state_free(uc_model_state *self);

/* One part of a calibration: `weight` times softmax(a1 f + a2 log max(f, .02)) of the scores f. */
typedef struct uc_calibration {
    double weight, a1, a2;
} uc_calibration;
void uc_softmax(double *scores, size_t count); /* in place */
/* S = softmax(a1 f + a2 log max(f, .02)), K of each; S may be f. */
void uc_calibrate_scores(double *S, double a1, double a2, const double *f, size_t K);
double uc_calibration_log(double f); /* log max(f, .02) */
/* Replaces K scores by probabilities; `work` has room for 2 K. */
void uc_calibration_apply(double *scores, const uc_calibration *parts, size_t count, size_t K, double *work);

struct uc_model {
    uc_names classes;
    size_t features;    /* columns of raw data */
    size_t dimension;   /* columns after preprocessing: the features, or the map's dimension */
    size_t stride;      /* uc_class_stride(classes.count) */
    double bias;        /* the value of the constant feature; 0: none */
    double *weights;    /* (1 + dimension) x stride, feature-major; row 0 belongs to the constant feature */
    bool probabilities; /* the softmax of the scores is the probability of the true class */
    uc_calibration *calibration; /* probabilities are the sum of these; NULL: the softmax of the scores */
    size_t calibrations;
    double *noise; /* K x K, as in uc_noise: the noise of the training labels; NULL: not known */
    uc_preprocessing preprocessing;
    char *learner;
    json_t *settings; /* the settings of training */
    json_t *summary;  /* results of training: iterations, updates, training_error... */
    uc_model_state state;
    uint32_t format_version, checksum; /* of the file that it was read from; 0: none */
};

/* All zero weights. `settings` and `summary` start as empty objects. */
uc_status uc_model_create(uc_model **out, const uc_names *classes, size_t features, size_t dimension,
                          const char *learner);

/* Uses `views` instead of a map; the model owns the array from now on, even on failure. The weights become
 * zeros, one per class and column of the views. */
uc_status uc_model_take_views(uc_model *self, uc_preprocessing *views, size_t count);

/* Writes settings by their option table as numbers, booleans and words; `auto` is written as the word. */
uc_status uc_settings_to_json(json_t *object, const uc_option *table, const void *settings);
/* Reads them back. Members that the table does not name are ignored; settings without a member, and text
 * settings, keep their values. */
uc_status uc_settings_from_json(void *settings, const uc_option *table, const json_t *object);

/* The whole summary as one JSON object, which the caller must release; NULL: no memory (summary_json.c). */
json_t *uc_summary_json(const uc_model_summary *self);
/* Sets a member; UC_ERR_NOMEM if this fails or if `value` is NULL. Takes over `value`. */
uc_status uc_json_set(json_t *object, const char *name, json_t *value);

#endif
