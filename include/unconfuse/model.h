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
size_t uc_model_features(const uc_model *self); /* columns of raw data that it knows */
const char *uc_model_learner(const uc_model *self);
const char *uc_model_positive(const uc_model *self); /* the positive one of two classes; NULL: not known */
/* The weight of `feature` for `cls`, in the space after preprocessing. */
double uc_model_weight(const uc_model *self, size_t feature, size_t cls);
/* The constant that class `cls` gets: bias value times its weight. */
double uc_model_offset(const uc_model *self, size_t cls);
/* Columns after preprocessing, which the weights belong to: the features, or the dimension of the map. */
size_t uc_model_dimension(const uc_model *self);
/* The noise that it was trained with, K x K row by row as uc_noise has it; NULL: not known. */
const double *uc_model_noise(const uc_model *self);
/* Drops the state of an online learner, which uc_online_resume needs and prediction does not. */
void uc_model_forget_state(uc_model *self);
/* Everything that is stored, as one JSON object (inspect); the caller frees *text with uc_model_text_free. */
uc_status uc_model_describe(char **text, const uc_model *self);
void uc_model_text_free(char *text);

/* predicted[i]: the position of the best class, the lowest of equals. X is raw; columns that the model does
 * not know are ignored. A row whose scores are not finite, because it holds NaN or infinity, is refused. */
uc_status uc_model_predict(uint32_t *predicted, const uc_model *self, const uc_matrix *X,
                           const uc_context *context);
/* scores[i * K + k], K = the number of classes. */
uc_status uc_model_scores(double *scores, const uc_model *self, const uc_matrix *X,
                          const uc_context *context);

/* The probability of every true class, for models that know it (uc_model_has_probabilities). */
bool uc_model_has_probabilities(const uc_model *self);
uc_status uc_model_probabilities(double *probabilities, const uc_model *self, const uc_matrix *X,
                                 const uc_context *context);
/* The probability that `label`, seen on an example with these K probabilities, is its true class; uses the noise that
 * the model was trained with. */
double uc_model_label_is_right(const uc_model *self, const double *probabilities, uint32_t label);

uc_status uc_model_save(const uc_model *self,
                        const char *path); /* temporary name, fsync, rename; "-": standard output */
uc_status uc_model_write(const uc_model *self, uc_output *output); /* to an output that stays open */
uc_status uc_model_load(uc_model **out, const char *path);         /* "-": standard input */
uc_status uc_model_load_memory(uc_model **out, const void *bytes, size_t length, const char *source);
/* The bytes that uc_model_save writes; the caller frees *bytes with uc_model_memory_free. */
uc_status uc_model_save_memory(void **bytes, size_t *length, const uc_model *self);
void uc_model_memory_free(void *bytes); /* NULL is fine */
/* True when the bytes begin like a model file of this library. */
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
