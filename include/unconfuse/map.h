/* Feature maps: from rows to a finite-dimensional space in which linear learners work.
 *
 * A map is a list of landmarks, a kernel and a projection:  map(x) = P' (k(l_1, x), ..., k(l_m, x)) - shift.
 * The kinds differ in how they find the landmarks and the projection. kpca, kgs and (for one seed) random and
 * landmarks are nested: the first D coordinates of a larger map are the map of dimension D. */
#ifndef UNCONFUSE_MAP_H
#define UNCONFUSE_MAP_H

#include "unconfuse/context.h"
#include "unconfuse/matrix.h"
#include "unconfuse/option.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum uc_map_kind {
    UC_MAP_NONE,
    UC_MAP_KPCA,      /* kernel principal components */
    UC_MAP_KGS,       /* kernel Gram-Schmidt: pivoted incomplete Cholesky */
    UC_MAP_RANDOM,    /* the span of random training rows, orthonormal */
    UC_MAP_NYSTROEM,  /* landmarks, whitened by the root of their kernel matrix */
    UC_MAP_JL,        /* a random Gaussian projection of a larger orthonormal space (Johnson-Lindenstrauss) */
    UC_MAP_LANDMARKS, /* the kernel values themselves */
    UC_MAP_AUTO,      /* chosen from the data, with scaling, width and dimension (uc_tune_and_train) */
    UC_MAP_DEFAULT,   /* the default of the learner: kgs for rp, auto for auto, none for the others */
    UC_MAP_LEARNED,   /* made by a learner during learning (onebit); cannot be requested */
} uc_map_kind;

typedef enum uc_kernel { UC_KERNEL_LINEAR, UC_KERNEL_GAUSSIAN, UC_KERNEL_POLYNOMIAL } uc_kernel;

typedef struct uc_map_settings {
    int map;            /* uc_map_kind                                                           (default) */
    int kernel;         /* uc_kernel                                                             (gaussian) */
    double width;       /* gaussian, exp(-||x-y||^2 / width); 0: the median squared distance     (median) */
    double gamma;       /* 1/width; auto: width decides                                          (auto) */
    uint64_t degree;    /* polynomial, (<x,y> + coefficient)^degree                              (3) */
    double coefficient; /*                                                                       (1) */
    uint64_t dimension; /* of the new space                                                      (auto) */
    int center;         /* kpca: of the centred kernel                                           (off) */
    int pick;           /* nystroem: uniform or kmeans landmarks                                 (uniform) */
    bool at_most;       /* the rows may span fewer dimensions: do not warn                      (false) */
} uc_map_settings;

extern const uc_option uc_map_options[];
uc_map_settings uc_map_defaults(void);

#define UC_STREAM_LANDMARKS 700 /* the number of landmarks that --dimension auto means for a stream */

typedef struct uc_map uc_map;

/* Learns a map from the rows of X. No setting may be `auto` except gamma; width 0 means the median. If the
 * rows span fewer dimensions, the dimension is reduced with a warning. */
uc_status uc_map_fit(uc_map **out, const uc_map_settings *settings, const uc_matrix *X, uint64_t seed,
                     const uc_context *context);
/* The same with weights > 0 of the rows: kernel PCA treats a row as if it were repeated so often, and
 * landmarks are drawn in proportion to their weights. Gram-Schmidt and the projections ignore the weights.
 * NULL: all are 1. */
uc_status uc_map_fit_weighted(uc_map **out, const uc_map_settings *settings, const uc_matrix *X,
                              const double *weights, uint64_t seed, const uc_context *context);
void uc_map_free(uc_map *self); /* NULL is fine */
uc_status uc_map_copy(uc_map **out, const uc_map *self);
double uc_map_width(const uc_map *self);
size_t uc_map_dimension(const uc_map *self);
size_t uc_map_landmarks(const uc_map *self);

/* Maps all rows; *out is a new dense matrix of uc_map_dimension columns. Columns that the map does not know
 * are ignored. */
uc_status uc_map_apply(uc_matrix *out, const uc_map *self, const uc_matrix *X, const uc_context *context);
/* Maps one row into `out` (uc_map_dimension floats); `work` has room for uc_map_row_work doubles. */
size_t uc_map_row_work(const uc_map *self);
void uc_map_row(float *out, const uc_map *self, uc_row row, double *work);

/* A map of kind UC_MAP_LANDMARKS that grows as rows arrive in a stream: it begins without landmarks and takes
 * up to `dimension`. */
uc_status uc_map_begin_landmarks(uc_map **out, const uc_map_settings *settings, double width);
/* Adds the row as the next landmark; does nothing once the map has all of them. */
uc_status uc_map_add_landmark(uc_map *self, uc_row row);

/* The median squared distance of 1,000 random pairs of rows. */
uc_status uc_map_median_distance2(double *out, const uc_matrix *X, uint64_t seed, const uc_context *context);

#ifdef __cplusplus
}
#endif

#endif
