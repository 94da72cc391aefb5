/*
 * OpenBLAS, loaded when it is first needed: binding its 14,000 symbols takes longer than a small prediction,
 * and it starts threads when it is loaded. All calls of BLAS and LAPACK in this folder go through this
 * header.
 *
 * BLAS is called by its C interface. LAPACK has none of its own and is called by Fortran's: every argument is
 * a pointer, and the length of each text follows the last argument.
 */
#ifndef UC_LINALG_BLAS_H
#define UC_LINALG_BLAS_H

#include <cblas.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct uc_blas_functions {
    __typeof__(cblas_ddot) *ddot;
    __typeof__(cblas_daxpy) *daxpy;
    __typeof__(cblas_dgemm) *dgemm;
    __typeof__(cblas_sgemm) *sgemm;
    __typeof__(cblas_dsymv) *dsymv;
    __typeof__(cblas_dsymm) *dsymm;
    __typeof__(cblas_dsyrk) *dsyrk;
    __typeof__(cblas_ssyrk) *ssyrk;
    __typeof__(cblas_dtrsm) *dtrsm;
    __typeof__(cblas_strmm) *strmm;
    __typeof__(openblas_set_num_threads) *set_num_threads;
    __typeof__(openblas_get_corename) *get_corename;

    void (*dgesv)(const int *n, const int *columns, double *A, const int *lda, int *pivots, double *B,
                  const int *ldb, int *info);
    void (*dgesvd)(const char *left, const char *right, const int *m, const int *n, double *A, const int *lda,
                   double *values, double *U, const int *ldu, double *V, const int *ldv, double *work,
                   const int *work_length, int *info, size_t, size_t);
    void (*dpotrf)(const char *triangle, const int *n, double *A, const int *lda, int *info, size_t);
    void (*dpotri)(const char *triangle, const int *n, double *A, const int *lda, int *info, size_t);
    void (*dtrtri)(const char *triangle, const char *diagonal, const int *n, double *A, const int *lda,
                   int *info, size_t, size_t);
    void (*dsytrd)(const char *triangle, const int *n, double *A, const int *lda, double *diagonal,
                   double *off_diagonal, double *factors, double *work, const int *work_length, int *info,
                   size_t);
    void (*dstedc)(const char *vectors, const int *n, double *diagonal, double *off_diagonal, double *Z,
                   const int *ldz, double *work, const int *work_length, int *integers,
                   const int *integers_length, int *info, size_t);
    void (*dlarft)(const char *direction, const char *storage, const int *n, const int *k, const double *V,
                   const int *ldv, const double *factors, double *T, const int *ldt, size_t, size_t);
    void (*dlarfb)(const char *side, const char *transposed, const char *direction, const char *storage,
                   const int *m, const int *n, const int *k, const double *V, const int *ldv, const double *T,
                   const int *ldt, double *C, const int *ldc, double *work, const int *ldwork, size_t, size_t,
                   size_t, size_t);

    /* Exported by OpenBLAS but declared in none of its headers; NULL in builds without them. */
    void *(*memory_alloc)(int position);
    void (*memory_free)(void *buffer);
} uc_blas_functions;

/* Valid once uc_blas_load has returned true, in any thread. */
extern uc_blas_functions uc_blas;

/* Returns false if OpenBLAS cannot be loaded; uc_blas_load_error says why, and the next call tries again. */
bool uc_blas_load(void);
const char *uc_blas_load_error(void);

#endif
