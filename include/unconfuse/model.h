/* The model that every learner returns: class names, preprocessing, one weight vector per class. */
#ifndef UNCONFUSE_MODEL_H
#define UNCONFUSE_MODEL_H

#include "unconfuse/noise.h"
#include "unconfuse/prepare.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct uc_model uc_model;

void uc_model_free(uc_model *self);
const uc_names *uc_model_classes(const uc_model *self);
size_t uc_model_features(const uc_model *self); /* the number of raw columns that the model knows */
/* The columns of the table that the model was trained on; NULL if it was not a table with named columns. */
const uc_table *uc_model_table(const uc_model *self);
const char *uc_model_learner(const uc_model *self);
double uc_model_prior(const uc_model *self);         /* the class prior used in training; NaN: not known */
const char *uc_model_positive(const uc_model *self); /* the positive class of two; NULL: not known */
/* The weight of `feature` (counted after preprocessing) for class `cls`. */
double uc_model_weight(const uc_model *self, size_t feature, size_t cls);
/* The constant added to the score of class `cls`: the bias value times its weight. */
double uc_model_offset(const uc_model *self, size_t cls);
/* The number of columns after preprocessing, one weight each: the features, or the dimension of the map. */
size_t uc_model_dimension(const uc_model *self);
/* The noise matrix used in training, K x K in the layout of uc_noise; NULL if none was given. */
const double *uc_model_noise(const uc_model *self);
/* Drops the learner's state, which uc_online_resume needs and prediction does not. */
void uc_model_forget_state(uc_model *self);

/* ---- what is stored ---- */

/* A named value: a setting, or something that training found. */
typedef enum uc_value_kind {
    UC_VALUE_NONE,
    UC_VALUE_FLAG,
    UC_VALUE_COUNT,
    UC_VALUE_REAL,
    UC_VALUE_TEXT,
    UC_VALUE_OBJECT, /* members with names */
    UC_VALUE_LIST    /* members without names: `name` is NULL */
} uc_value_kind;
typedef struct uc_value {
    const char *name;
    uc_value_kind kind; /* which of the following is set */
    bool flag;
    int64_t count;
    double real;
    const char *text;
    struct uc_values *members;
} uc_value;

typedef struct uc_values {
    uc_value *items;
    size_t count;
} uc_values;

const uc_value *uc_values_find(const uc_values *self, const char *name); /* or NULL */
double uc_values_number(const uc_values *self, const char *name); /* a count or real; NaN if there is none */

/* Everything about a model except its weights. Texts and names belong to the model. */
typedef struct uc_model_summary {
    const char *learner;
    uc_values settings; /* used in training, by the names of the options; `auto` is a text */
    uc_values found; /* found by training: iterations, updates, training_error, and what the learner adds */
    size_t features, dimension;
    const uc_names *classes;
    double bias;       /* the value of the constant feature; 0: none */
    const char *scale; /* none, range, standard or maxabs */
    bool normalize_input, normalize;
    struct {
        const char *kind;   /* kpca, kgs, ...; "none": there is no map, and the other fields are 0 */
        const char *kernel; /* linear, gaussian or polynomial */
        double width, degree, coefficient;
        size_t landmarks, columns, dimension;
        bool sparse;               /* whether the landmarks are sparse */
        const double *eigenvalues; /* kpca: `dimension` values; otherwise NULL */
    } map;
    size_t views;         /* number of views of the row, concatenated in place of a map; 0: none */
    double *weight_norms; /* of each class */
    bool probabilities;   /* whether the model has probabilities */
    bool resumable;       /* whether an online learner can continue from it */
    uint32_t format_version, checksum; /* of the file that it was loaded from; 0: not from a file */
    uc_values all;                     /* all of the above, with the names and the order of the JSON text */
    struct json_t *json;               /* private */
} uc_model_summary;

/* *out is freed with uc_model_summary_free, before the model is. */
uc_status uc_model_summarize(uc_model_summary *out, const uc_model *self);
void uc_model_summary_free(uc_model_summary *self);
/* The summary as one JSON object, for other languages; the caller frees *text with uc_model_text_free. */
uc_status uc_model_describe(char **text, const uc_model *self);
void uc_model_text_free(char *text);

/* ---- prediction ---- */

/* predicted[i] becomes the index of the class with the highest score, the lowest index in a tie. X is raw;
 * columns that the model does not know are ignored. Returns UC_ERR_INVALID if the scores of a row are not
 * finite. */
uc_status uc_model_predict(uint32_t *predicted, const uc_model *self, const uc_matrix *X,
                           const uc_context *context);
/* What uc_model_score computes. */
typedef struct uc_scoring {
    uint32_t *predicted;       /* the class of the largest score or probability; NULL: not wanted */
    double *scores;            /* as uc_model_scores, or uc_model_probabilities; NULL: not wanted */
    bool probabilities;        /* probabilities instead of scores */
    const uc_row_check *check; /* NULL: the rows are known to be sound */
} uc_scoring;
/* For rows that nobody has checked: blocks of rows are checked right before they are scored, so they are read
 * from memory once. If the check of any row fails, that is the failure which is returned. */
uc_status uc_model_score(const uc_scoring *wanted, const uc_model *self, const uc_matrix *X,
                         const uc_context *context);
/* The rows after preprocessing (uc_model_dimension columns), to which the weights apply. The caller frees
 * *out. */
uc_status uc_model_prepare(uc_matrix *out, const uc_model *self, const uc_matrix *X,
                           const uc_context *context);
/* uc_model_predict for rows that uc_model_prepare has prepared. */
uc_status uc_model_predict_prepared(uint32_t *predicted, const uc_model *self, const uc_matrix *X,
                                    const uc_context *context);
/* scores[i * K + k] is the score of row i for class k of K. */
uc_status uc_model_scores(double *scores, const uc_model *self, const uc_matrix *X,
                          const uc_context *context);

/* probabilities[i * K + k] is the probability that class k is the true class of row i. Returns UC_ERR_INVALID
 * unless uc_model_has_probabilities. */
bool uc_model_has_probabilities(const uc_model *self);
uc_status uc_model_probabilities(double *probabilities, const uc_model *self, const uc_matrix *X,
                                 const uc_context *context);
/* The probability that `label` is the true class of an example that has this label and these K probabilities.
 * Uses the noise matrix that the model was trained with. */
double uc_model_label_is_right(const uc_model *self, const double *probabilities, uint32_t label);

/* Writes to a temporary file, calls fsync and renames the file to `path`; "-" is standard output. */
uc_status uc_model_save(const uc_model *self, const char *path);
uc_status uc_model_write(const uc_model *self, uc_output *output); /* leaves the output open */
uc_status uc_model_load(uc_model **out, const char *path);         /* "-": standard input */
/* `source` is the name used in error messages. */
uc_status uc_model_load_memory(uc_model **out, const void *bytes, size_t length, const char *source);
/* The bytes that uc_model_save writes; the caller frees *bytes with uc_model_memory_free. */
uc_status uc_model_save_memory(void **bytes, size_t *length, const uc_model *self);
void uc_model_memory_free(void *bytes); /* NULL is fine */
/* Whether the bytes begin like a model file of this library. */
bool uc_model_recognise(const void *bytes, size_t length);

/* A map on its own, outside of a model; free the results with uc_model_memory_free and uc_map_free. */
uc_status uc_map_save_memory(void **bytes, size_t *length, const uc_map *self);
uc_status uc_map_load_memory(uc_map **out, const void *bytes, size_t length, const char *source);

/* LIBLINEAR's text format. */
uc_status uc_model_export_liblinear(const uc_model *self, const char *path);
uc_status uc_model_write_liblinear(const uc_model *self, uc_output *output);
uc_status uc_model_import_liblinear(uc_model **out, const char *path);

#ifdef __cplusplus
}
#endif

#endif
