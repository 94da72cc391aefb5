/* The noise matrix C: C[p][q] = P(observed class p | true class q). Columns sum to 1. */
#ifndef UNCONFUSE_NOISE_H
#define UNCONFUSE_NOISE_H

#include "unconfuse/dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct uc_noise {
    size_t classes;
    double *values; /* row by row: values[p * classes + q] */
    uc_names names; /* class names in the order of the matrix; empty: classes go by position */
} uc_noise;         /* zero-initialised is empty and may be freed */

typedef enum uc_noise_orientation { UC_NOISE_COLUMNS, UC_NOISE_ROWS } uc_noise_orientation;

/* Properties of a matrix that matter for learning with it. */
typedef struct uc_noise_check {
    double condition;     /* 2-norm condition number; infinite when singular */
    size_t dominated;     /* rows whose diagonal is not their largest entry */
    size_t dominated_row; /* the first of them */
    double wrong;         /* the share of wrong labels when all classes are equally frequent */
    bool complementary;   /* three classes or more, a diagonal of zeros: labels name what an example is not */
} uc_noise_check;

/* Copies `values` (K x K, row by row; `orientation` says whether columns or rows stand for the true class).
 * Columns or rows whose sum is within 1e-3 of 1 are renormalised. Fails on an entry outside [0,1], a sum
 * further from 1, or a singular matrix; the message begins with `source`. `names` may be NULL. */
uc_status uc_noise_create(uc_noise *out, const double *values, size_t classes, const uc_names *names,
                          uc_noise_orientation orientation, const char *source);
/* Each class is mislabelled with probability `rate`, 0 <= rate < 1, as each other class equally often. */
uc_status uc_noise_uniform(uc_noise *out, size_t classes, double rate);
/* Each class is mislabelled with probability `rate`, 0 <= rate < 1, always as the class after it; the last
 * class as the first. */
uc_status uc_noise_pair(uc_noise *out, size_t classes, double rate);
/* Complementary labels: every class but the true one is equally likely, and the true one never occurs. Needs
 * three classes or more: with two, such labels are merely swapped. */
uc_status uc_noise_complementary(uc_noise *out, size_t classes);
/* The UMA paper's random matrices: level 0 is the identity, level 10 a random stochastic matrix; levels up to
 * 20 move further away from the diagonal. */
uc_status uc_noise_random(uc_noise *out, size_t classes, double level, uint64_t seed);
/* Two classes: the shares of positive and of negative examples that are mislabelled. The positive class is
 * the second one. */
uc_status uc_noise_binary(uc_noise *out, double rate_positive, double rate_negative);

/* Reads CSV, with or without class names, or NPY. `context` may be NULL. */
uc_status uc_noise_read(uc_noise *out, const char *path, uc_noise_orientation orientation,
                        const uc_context *context);
/* Writes CSV, with the class names, if any, in the first row and column. "-" is standard output. */
uc_status uc_noise_write(const uc_noise *self, const char *path);
uc_status uc_noise_write_to(const uc_noise *self, uc_output *output); /* which stays open */

/* Reorders rows and columns to match `classes`, by name if the matrix has names, otherwise by position. Fails
 * if a class is missing or the numbers of classes differ. */
uc_status uc_noise_match(uc_noise *self, const uc_names *classes);
uc_status uc_noise_inspect(uc_noise_check *out, const uc_noise *self);
/* inverse[q * classes + p] becomes C^-1, row by row, for ridge 0; otherwise (C'C + ridge I)^-1 (C' + ridge
 * I). */
uc_status uc_noise_invert(double *inverse, const uc_noise *self, double ridge);
/* Draws an observed label for every labelled row: y becomes p with probability C[p][y]. *changed, the number
 * of labels that changed, may be NULL. */
uc_status uc_noise_apply(uc_dataset *data, const uc_noise *self, uint64_t seed, size_t *changed);
void uc_noise_free(uc_noise *self);

#ifdef __cplusplus
}
#endif

#endif
