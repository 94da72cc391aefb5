/* The inner loops, compiled once for every CPU level; cpu.c chooses one version. */
#ifndef UC_KERNELS_H
#define UC_KERNELS_H

#include "linalg/linalg.h"

#define UC_PAIR_COLUMNS ((size_t)1024)

typedef struct uc_kernels {
    const char *level;
    double (*norm2)(uc_row row);
    bool (*are_finite)(const float *values, size_t count);
    double (*dot)(uc_row row, const double *w);
    void (*dots)(double *out, const float *rows, size_t stride, size_t count, size_t columns,
                 const double *w);
    void (*combine)(double *w, const float *rows, size_t stride, size_t count, size_t columns,
                    const double *factors);
    void (*widen)(double *out, const float *values, size_t count);
    void (*axpy)(double factor, uc_row row, double *w);
    void (*scores)(double *scores, uc_row row, const double *W, size_t S);
    /* Two classes, dense rows, at most UC_PAIR_COLUMNS columns; NULL at levels without it. */
    void (*pair_scores)(double *scores, const float *rows, size_t stride, size_t count, size_t columns,
                        const double *W);
    void (*update)(double *W, size_t S, uc_row row, const double *tau);
    void (*outer)(double *W, size_t rows, size_t S, const double *x, const double *tau);
    void (*sweep)(double *out, double *B, size_t n, size_t S, const double *u, double factor, const double *X,
                  size_t count);
    void (*products)(double *out, const double *x, const float *Y, size_t stride, size_t count, size_t quads);
    void (*tile)(double *sums, const double *X, const double *Y, size_t quads);
    void (*gaussian)(double *values, const double *norm2_y, double norm2_x, double rounding, double factor,
                     size_t quads);
    void (*exponential)(double *values, size_t quads);
    void (*softmax)(double *p, double *highest, double *total, const double *s, size_t rows, size_t K,
                    size_t S);
    void (*mixture)(double *p, double *sums, double *in_C, const uc_mixture *rows, size_t first, size_t count,
                    double *S);
    void (*chain)(double *H, const double *Z, size_t rows, size_t n, const double *ratios,
                  const double *inverses, size_t quads);
} uc_kernels;

extern const uc_kernels uc_kernels_baseline, uc_kernels_avx2, uc_kernels_avx512;

const uc_kernels *uc_kernels_now(void);

#endif
