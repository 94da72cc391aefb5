/* Inside of a model. */
#ifndef UC_MODEL_H
#define UC_MODEL_H

#include <jansson.h>

#include "base/base.h"
#include "data/container.h"
#include "unconfuse/model.h"

/* Where an online learner stopped: what uc_online_resume needs beyond the model itself. */
typedef struct uc_model_state {
    json_t *counters; /* an object of numbers; NULL: the model has no state */
    uc_array *arrays; /* names and data belong to the state */
    size_t count;
} uc_model_state;

/* A copy of the array joins the state. */
uc_status uc_model_state_add(uc_model_state *self, uc_array array);
/* The same with the array's own data, which belong to the state from now on, or are freed on failure. */
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
/* K scores become probabilities; `work` has room for 2 K. */
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
    double *noise; /* K x K, as uc_noise has it, of the labels that it was trained on; NULL: not known */
    uc_preprocessing preprocessing;
    char *learner;
    json_t *settings; /* what it was trained with */
    json_t *summary;  /* what training found: iterations, updates, training_error... */
    uc_model_state state;
    uint32_t format_version, checksum; /* of the file it came from; 0: not from a file */
};

/* All zero weights. `settings` and `summary` start as empty objects. */
uc_status uc_model_create(uc_model **out, const uc_names *classes, size_t features, size_t dimension,
                          const char *learner);

/* `views` (an array that the model owns from now on, also on failure) take the place of a map; the weights
 * become zeros, one per column of the views and class. */
uc_status uc_model_take_views(uc_model *self, uc_preprocessing *views, size_t count);

/* Settings by their table: numbers, booleans and words; `auto` as the word. */
uc_status uc_settings_to_json(json_t *object, const uc_option *table, const void *settings);
/* Back; members that the table does not name are ignored, missing ones keep their value. Not for text. */
uc_status uc_settings_from_json(void *settings, const uc_option *table, const json_t *object);

/* All of a summary as one JSON object, which the caller ends; NULL: no memory (summary_json.c). */
json_t *uc_summary_json(const uc_model_summary *self);
/* Sets a member; UC_ERR_NOMEM when that failed. Takes over `value`, which may be NULL for "no memory". */
uc_status uc_json_set(json_t *object, const char *name, json_t *value);

#endif
