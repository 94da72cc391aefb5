/* Rows and directly computed kernel values, for the tests of maps. */
#ifndef TESTS_MAP_SAMPLE_H
#define TESTS_MAP_SAMPLE_H

#include "tests/support.h"

#include <math.h>
#include <string.h>

#include "map/map.h"
#include "unconfuse/random.h"

/* Rows around a few centres; about half of the values are zero, so that the same data make sense as sparse
 * rows. */
static inline uc_matrix sample_rows(size_t rows, size_t cols, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 200);
    uc_matrix X;
    assert_ok(uc_matrix_create_dense(&X, rows, cols));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            const double centre = (double)((i % 3 + 2 * j) % 5) / 2.0 - 1.0;
            if (uc_rng_below(&rng, 2))
                X.values[i * X.stride + j] = (float)(centre + 0.5 * uc_rng_normal(&rng));
        }
    return X;
}

static inline uc_matrix sparse_copy(const uc_matrix *X)
{
    uc_matrix sparse;
    assert_ok(uc_matrix_create_sparse(&sparse, X->rows, X->cols, X->rows * X->cols));
    size_t filled = 0;
    for (size_t i = 0; i < X->rows; i++) {
        for (uint32_t j = 0; j < X->cols; j++)
            if (X->values[i * X->stride + j] != 0.0f) {
                sparse.columns[filled] = j;
                sparse.values[filled++] = X->values[i * X->stride + j];
            }
        sparse.offsets[i + 1] = filled;
    }
    return sparse;
}

/* The value in column j, found by a linear search. */
static inline double value_at(uc_row row, size_t j)
{
    if (!row.columns)
        return j < row.count ? (double)row.values[j] : 0.0;
    for (size_t i = 0; i < row.count; i++)
        if (row.columns[i] == j)
            return (double)row.values[i];
    return 0.0;
}

/* The kernel by its textbook formula, over columns 0 .. cols-1. */
static inline double direct_kernel(const uc_map_settings *settings, uc_row x, uc_row y, size_t cols)
{
    double product = 0.0, distance = 0.0;
    for (size_t j = 0; j < cols; j++) {
        const double a = value_at(x, j), b = value_at(y, j);
        product += a * b;
        distance += (a - b) * (a - b);
    }
    if (settings->kernel == UC_KERNEL_GAUSSIAN)
        return exp(-distance / settings->width);
    if (settings->kernel == UC_KERNEL_POLYNOMIAL)
        return pow(product + settings->coefficient, (double)settings->degree);
    return product;
}

static inline double *direct_kernel_matrix(const uc_map_settings *settings, const uc_matrix *X)
{
    double *K = uc_alloc(X->rows * X->rows, sizeof *K);
    assert_non_null(K);
    for (size_t i = 0; i < X->rows; i++)
        for (size_t j = 0; j < X->rows; j++)
            K[i * X->rows + j] = direct_kernel(settings, uc_matrix_row(X, i), uc_matrix_row(X, j), X->cols);
    return K;
}

static inline uc_map_settings map_settings(uc_map_kind kind, uc_kernel kernel, double width,
                                           uint64_t dimension)
{
    uc_map_settings settings = uc_map_defaults();
    settings.map = (int)kind;
    settings.kernel = (int)kernel;
    settings.width = width;
    settings.dimension = dimension;
    settings.degree = 2;
    return settings;
}

static inline uc_map *fitted(const uc_map_settings *settings, const uc_matrix *X)
{
    uc_map *map;
    assert_ok(uc_map_fit(&map, settings, X, 1, NULL));
    return map;
}

static inline uc_matrix mapped(const uc_map *map, const uc_matrix *X)
{
    uc_matrix out;
    assert_ok(uc_map_apply(&out, map, X, NULL));
    return out;
}

static inline double mapped_product(const uc_matrix *mapped_rows, size_t i, size_t j)
{
    double sum = 0.0;
    for (size_t c = 0; c < mapped_rows->cols; c++)
        sum += (double)mapped_rows->values[i * mapped_rows->stride + c] *
               (double)mapped_rows->values[j * mapped_rows->stride + c];
    return sum;
}

/* The largest difference of two dense matrices in their first `cols` columns. */
static inline double largest_difference(const uc_matrix *a, const uc_matrix *b, size_t cols)
{
    double largest = 0.0;
    assert_int_equal(a->rows, b->rows);
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < cols; j++)
            largest = fmax(largest,
                           fabs((double)a->values[i * a->stride + j] - (double)b->values[i * b->stride + j]));
    return largest;
}

/* Keeps the last warning. */
typedef struct heard {
    size_t count;
    char sentence[256];
} heard;

static inline void hear(const char *sentence, void *user)
{
    heard *self = user;
    self->count++;
    strncpy(self->sentence, sentence, sizeof self->sentence - 1);
}

#endif
