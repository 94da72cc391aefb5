/* Views of rows: the preprocessing on which `audit` computes kernels, and the kernels' principal axes. */
#ifndef UC_AUDIT_VIEWS_H
#define UC_AUDIT_VIEWS_H

#include "learn/audit/audit.h"

#define UC_AUDIT_VIEWS 3

/* ---- rows as preprocessed by a view, in full precision (view_rows.c) ---- */

typedef enum uc_audit_view_kind {
    UC_AUDIT_VIEW_UNIT,     /* x / |x| */
    UC_AUDIT_VIEW_STANDARD, /* columns of mean 0 and deviation 1; dense rows only */
    UC_AUDIT_VIEW_ROOT      /* sign(x) sqrt|x|, then unit length */
} uc_audit_view_kind;

/* A view's landmarks, and what is needed to compute distances from them. */
typedef struct uc_audit_rows {
    uc_audit_view_kind kind;
    const uc_matrix *source; /* the landmarks as in the file; borrowed */
    size_t cols, landmarks;
    double *shift, *factor; /* of columns, standard view; NULL otherwise */
    double *dense;          /* landmarks x cols, preprocessed; NULL: sparse, stored by columns: */
    size_t entries, columns;
    uint32_t *column;   /* columns in which some landmark has an entry, ascending */
    size_t *start;      /* columns + 1 */
    uint32_t *landmark; /* of each entry */
    double *value;
    double *norm2; /* squared lengths of the landmarks */
    double median; /* squared distance of two distinct landmarks; 0: all landmarks are the same */
} uc_audit_rows;   /* zero-initialised may be freed */

/* `landmarks` are rows of the data, the same in all processes. */
uc_status uc_audit_rows_make(uc_audit_rows *out, uc_audit_view_kind kind, const uc_matrix *X,
                             const uc_matrix *landmarks, const uc_labelled *labelled);
void uc_audit_rows_free(uc_audit_rows *self);
/* values[i * landmarks + l] becomes the squared distance or, if width > 0, exp(-distance / width), of row
 * first + i of X from landmark l, for rows first .. last - 1. `work` has room for uc_audit_view_work
 * doubles. */
size_t uc_audit_view_work(const uc_audit_rows *self, size_t rows);
void uc_audit_view_kernel(double *values, const uc_audit_rows *self, const uc_matrix *X, size_t first,
                          size_t last, double width, double *work);
/* The preprocessing of the view, without a map. */
uc_status uc_audit_view_preprocessing(uc_preprocessing *out, const uc_audit_rows *self);

/* ---- a sample of the rows (some_rows.c) ---- */

typedef struct uc_some_rows {
    uc_matrix X;
    uc_annotations annotations;
    uint32_t *gold;  /* NULL if there is none in uc_labelled */
    double *weights; /* NULL if there are none in uc_labelled */
} uc_some_rows;      /* zero-initialised may be freed */

/* Draws `wanted` rows at random from those of all processes; each process takes its own among them. */
uc_status uc_some_rows_draw(uc_some_rows *out, const uc_matrix *X, const uc_labelled *labelled, size_t wanted,
                            uint64_t seed);
void uc_some_rows_free(uc_some_rows *self);

/* ---- axes (axes.c) ---- */

/* Coordinates of rows on the principal axes of a kernel: A = k(X, landmarks) projection - shift, whose
 * columns are uncorrelated with variances w. Of many rows only other coordinates are stored, in single
 * precision: A = (B - mean) turn. */
typedef struct uc_audit_view {
    const uc_audit_rows *rows; /* borrowed */
    double width;              /* of the kernel */
    size_t axes;               /* D */
    double *projection;        /* landmarks x D */
    double *shift, *w;         /* D */
    double *A;                 /* rows x D, of this process; NULL if there are many rows: */
    float *B;                  /* rows x D */
    double *mean, *turn;       /* D; D x D, orthogonal */
    double s;                  /* shrinkage */
    double *q;                 /* D: 1 / ((1 - s) w_d + s mean w) */
    double *h;                 /* leverage of each row */
} uc_audit_view;               /* zero-initialised may be freed */

/* The kernel is exp(-width |x - y|^2 / median). Returns UC_OK with axes 0 if all rows are the same. Unless
 * `some` is NULL, these rows determine the space of the axes; within it, the axes are those of all rows. */
uc_status uc_audit_view_make(uc_audit_view *out, const uc_audit_rows *rows, const uc_matrix *X,
                             const uc_labelled *labelled, double width, size_t most_axes,
                             const uc_some_rows *some);
void uc_audit_view_free(uc_audit_view *self);

/* ---- products with the coordinates, however they are stored (coordinates.c) ---- */

/* A power of four near the largest size of the values: divided by it they fit single precision, as do their
 * roots, divided by its root, and not a bit changes. */
double uc_audit_unit(const double *values, size_t count);
/* sum (K x D) += R'A of rows first .. last-1, where R has these rows only; of many rows it is R'B, from which
 * uc_audit_turn_sums makes R'A in place when all rows have been added. counts[k] is the sum of R_k. */
uc_status uc_audit_add_coordinates(double *sum, const uc_audit_view *view, size_t first, size_t last,
                                   const double *R, size_t K);
uc_status uc_audit_turn_sums(double *sums, const double *counts, const uc_audit_view *view, size_t K);

/* K directions in the space of the axes, for uc_audit_along. */
typedef struct uc_audit_directions {
    size_t K;
    const double *H; /* K x D; borrowed */
    float *turned;   /* many rows: <a, H_k> = <b, turned_k> - offset_k */
    double *offset;
} uc_audit_directions; /* zero-initialised may be freed */
uc_status uc_audit_directions_make(uc_audit_directions *out, const double *H, const uc_audit_view *view,
                                   size_t K);
void uc_audit_directions_free(uc_audit_directions *self);
/* E (rows x K) = A H' of rows first .. last-1. */
uc_status uc_audit_along(double *E, const uc_audit_directions *directions, const uc_audit_view *view,
                         size_t first, size_t last);
/* E = (A - moves) H', where `moves` (rows x D) has rows first .. last-1 only. */
uc_status uc_audit_along_moved(double *E, const uc_audit_directions *directions, const double *moves,
                               const uc_audit_view *view, size_t first, size_t last);
/* Sets h, given s and q. */
uc_status uc_audit_find_leverage(uc_audit_view *self, const uc_labelled *labelled);

/* ---- fits (fit.c) ---- */

/* Gaussian classes with one covariance: score_k(a) = <W_k, a> + b_k. */
typedef struct uc_audit_view_fit {
    double *M; /* K x D: class means */
    double *W; /* K x D */
    double *b; /* K */
    double *f; /* K: class shares */
    /* Up to as many classes as axes; NULL with more: */
    double *H; /* K x D: class means, divided by the covariance */
    double *U; /* K x K: effect of the spread of the class means on the inverse covariance (Woodbury) */
} uc_audit_view_fit;

uc_status uc_audit_view_fit_make(uc_audit_view_fit *out, const uc_audit_view *view,
                                 const uc_labelled *labelled, const double *R);
void uc_audit_view_fit_free(uc_audit_view_fit *self);
/* S += share times the leave-one-out scores of each row. */
uc_status uc_audit_view_leave_one_out(double *S, const uc_audit_view_fit *self, const uc_audit_view *view,
                                      const uc_labelled *labelled, const double *R, double share);
/* S = the mean of the views' leave-one-out scores, plus log pi from R; pi has room for K values. */
uc_status uc_audit_scores(double *S, double *pi, const uc_audit_view *views, size_t count,
                          const uc_labelled *labelled, const double *R);

/* ---- decisions (structure.c, guard.c, believe.c) ---- */

/* What happened on the path of `structure`. */
typedef struct uc_path {
    unsigned steps;
    double top;         /* largest fit of any step */
    double last, prior; /* fit and fit of the prior at the last step */
    double temperature; /* that gave the last fit */
    bool converged;
} uc_path;

/* Continues `structure` from R, up to `most` steps in total. */
uc_status uc_structure(uc_path *path, double *R, double *S, const uc_audit_view *views, size_t count,
                       const uc_labelled *labelled, unsigned most);
/* The share of the features' gain over the prior that the path has lost; NaN if there was no gain. */
double uc_path_loss(const uc_path *path);
#define UC_AUDIT_MOST_STEPS 30
/* The guard: whether to believe `structure`, which led to R. If there are many rows, `confusion` becomes that
 * of R. */
uc_status uc_audit_believes_structure(bool *out, double loss, bool large, const double *R,
                                      uc_confusion *confusion, const uc_labelled *labelled);
/* `labels`: computes R and S from R0, which R holds on entry. *fitted, n x K, becomes what the model is
 * fitted to. */
uc_status uc_believe_labels(double *R, double *S, double *temperature, unsigned *steps, double *fitted,
                            const uc_audit_view *views, size_t count, const uc_labelled *labelled,
                            const uc_path *path);
/* Sets held_out, first and predicted of *out, whose mode is already decided; `path` is that of all rows. */
uc_status uc_audit_hold_out(uc_audit_fit *out, const uc_audit_view *views, size_t count,
                            const uc_labelled *labelled, const uc_path *path, uint64_t seed);

#endif
