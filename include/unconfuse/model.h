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
size_t uc_model_features(const uc_model *self); /* the number of raw columns that it knows */
const char *uc_model_learner(const uc_model *self);
const char *uc_model_positive(const uc_model *self); /* the positive one of two classes; NULL: not known */
/* The weight of `feature`, counted after preprocessing, for class `cls`. */
double uc_model_weight(const uc_model *self, size_t feature, size_t cls);
/* The constant added to the score of class `cls`: the bias value times its weight. */
double uc_model_offset(const uc_model *self, size_t cls);
/* The number of columns after preprocessing, one weight each: the features, or the dimension of the map. */
size_t uc_model_dimension(const uc_model *self);
/* The noise matrix that it was trained with, K x K in the layout of uc_noise; NULL: none was given. */
const double *uc_model_noise(const uc_model *self);
/* Drops the state that uc_online_resume needs and prediction does not. */
void uc_model_forget_state(uc_model *self);
/* Everything that is stored, as one JSON object (inspect); the caller frees *text with uc_model_text_free. */
uc_status uc_model_describe(char **text, const uc_model *self);
void uc_model_text_free(char *text);

/* predicted[i] is the index of the class with the highest score; of equal scores, the lowest index. X is raw;
 * columns that the model does not know are ignored. UC_ERR_INVALID for a row whose scores are not finite. */
uc_status uc_model_predict(uint32_t *predicted, const uc_model *self, const uc_matrix *X,
                           const uc_context *context);
/* scores[i * K + k] of row i and class k of K. */
uc_status uc_model_scores(double *scores, const uc_model *self, const uc_matrix *X,
                          const uc_context *context);

/* probabilities[i * K + k] that class k is the true class of row i. UC_ERR_INVALID unless
 * uc_model_has_probabilities. */
bool uc_model_has_probabilities(const uc_model *self);
uc_status uc_model_probabilities(double *probabilities, const uc_model *self, const uc_matrix *X,
                                 const uc_context *context);
/* The probability that `label` is the true class of an example that was labelled so and has these K
 * probabilities. Takes the noise matrix into account that the model was trained with. */
double uc_model_label_is_right(const uc_model *self, const double *probabilities, uint32_t label);

/* Writes to a temporary file, calls fsync and renames it to `path`; "-" is standard output. */
uc_status uc_model_save(const uc_model *self, const char *path);
uc_status uc_model_write(const uc_model *self, uc_output *output); /* leaves the output open */
uc_status uc_model_load(uc_model **out, const char *path);         /* "-": standard input */
/* `source` is the name for error messages. */
uc_status uc_model_load_memory(uc_model **out, const void *bytes, size_t length, const char *source);
/* The bytes that uc_model_save writes; the caller frees *bytes with uc_model_memory_free. */
uc_status uc_model_save_memory(void **bytes, size_t *length, const uc_model *self);
void uc_model_memory_free(void *bytes); /* NULL is fine */
/* Whether the bytes begin like a model file of this library. */
bool uc_model_recognise(const void *bytes, size_t length);

/* A map alone, outside of a model; freed with uc_model_memory_free and uc_map_free. */
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
