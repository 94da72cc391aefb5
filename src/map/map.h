/* The inside of a feature map. */
#ifndef UC_MAP_H
#define UC_MAP_H

#include "base/base.h"
#include "unconfuse/map.h"

/* How a learned map prepares a row x as z, and whether its output contains z: map(x) = (k(l, z)..., z). */
typedef struct uc_map_input {
    bool unit;              /* to unit length */
    double *shift, *factor; /* then z_j = (x_j - shift_j) factor_j; NULL: z = x */
    double *turn;           /* then z = turn z, a lower triangle of d rows of d; NULL: z stays */
    bool kept;              /* z follows the kernel values */
} uc_map_input;

struct uc_map {
    uc_map_kind kind;
    uc_kernel kernel;
    double width;  /* gaussian */
    double degree; /* polynomial */
    double coefficient;
    uc_matrix landmarks; /* m rows; cols: the columns that the map knows */
    double *norm2;       /* m: their squared lengths (uc_landmark_norm2) */
    size_t room;         /* landmarks that the arrays can hold */
    size_t entries_room; /* the same for the entries of sparse ones */
    size_t dimension;    /* D */
    double *projection;  /* m x D; NULL: the identity */
    double *shift;       /* D; NULL: zero */
    double *eigenvalues; /* D, kpca; NULL otherwise */
    uc_map_input input;  /* learned; all zero otherwise */
};

/* The input for learning a map from the rows of X. In `self`, the kind, the kernel and `dimension` are set;
 * `dimension` is at most the number of rows and may be lowered. The kind fills in the rest. On failure the
 * caller frees the map with everything that was filled in. */
typedef struct uc_map_fitting {
    uc_map *self;
    const uc_matrix *X;
    const uc_map_settings *settings;
    uint64_t seed;
    const uc_context *context;
    size_t rows;           /* of all processes that share the work; X has those of this one */
    const double *weights; /* of all `rows`, > 0; NULL: all are the same */
} uc_map_fitting;

uc_status uc_map_fit_kpca(const uc_map_fitting *fitting);
uc_status uc_map_fit_kgs(const uc_map_fitting *fitting);
uc_status uc_map_fit_random(const uc_map_fitting *fitting);
uc_status uc_map_fit_jl(const uc_map_fitting *fitting);
uc_status uc_map_fit_nystroem(const uc_map_fitting *fitting);

/* Makes the rows with these numbers, over all processes, the landmarks. */
uc_status uc_map_take_landmarks(uc_map *self, const uc_matrix *X, const size_t *rows, size_t count,
                                const uc_context *context);
/* Computes norm2 of the existing landmarks. */
uc_status uc_map_measure_landmarks(uc_map *self);
/* The width of the Gaussian kernel in the settings, given as width or as gamma; NaN: auto; 0: the median. */
double uc_map_width_given(const uc_map_settings *settings);
/* `count` different row numbers below `rows`, in random order. */
uc_status uc_map_random_rows(size_t **out, size_t rows, size_t count, uint64_t seed);
/* The same for the rows of a fitting, drawn one after the other in proportion to their weights. */
uc_status uc_map_draw_rows(size_t **out, const uc_map_fitting *fitting, size_t count);

/* uc_map_row with the first `seen` landmarks only; the other coordinates are 0. */
void uc_map_row_seen(float *out, const uc_map *self, uc_row row, size_t seen, double *work);
/* Whether the map still has fewer landmarks than it will have: the next rows become landmarks. */
bool uc_map_grows(const uc_map *self);
/* Undoes what uc_map_add_landmark did since the map had `rows` landmarks of `cols` columns. */
void uc_map_forget_landmarks(uc_map *self, size_t rows, size_t cols);

/* A map of kind UC_MAP_LEARNED with a Gaussian kernel. Takes over `landmarks`, dense rows z, and the arrays
 * of `input`, on failure too. */
uc_status uc_map_create_learned(uc_map **out, uc_matrix landmarks, uc_map_input input, double width);
void uc_map_input_free(uc_map_input *self);
/* z of a raw row, `cols` floats. */
void uc_map_prepare_input(float *z, const uc_map_input *input, uc_row row, size_t cols);

/* A coordinate counts as vanished if its eigenvalue or squared residual is below this share of the
 * largest. */
#define UC_MAP_VANISHED 1e-10
/* Lowers the dimension to `found`, with a warning. UC_ERR_INVALID if nothing is left. */
uc_status uc_map_lower_dimension(uc_map *self, size_t found, const uc_context *context);

#endif
