/* What the machine gives: reading an array that no cache holds, and products of matrices of doubles by
 * BLAS. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

#include "inside.h"

static void time_reads(moment *times, size_t count, const uc_matrix *X, unsigned threads)
{
    float total = 0;
    for (size_t i = 0; i < count; i++) {
        const moment began = now();
        total += sum_of_matrix(X, threads);
        times[i] = since(began);
    }
    printf("\"total\": %g, ", (double)total); /* so that it is read */
}

static void time_products(moment *times, size_t count, int n, double *matrices, unsigned threads)
{
    const size_t size = (size_t)n * (size_t)n;
    uc_rng rng = uc_rng_make(1, 1);
    for (size_t i = 0; i < 2 * size; i++)
        matrices[i] = uc_rng_uniform(&rng) - 0.5;
    openblas_set_num_threads((int)threads);
    for (size_t i = 0; i < count; i++) {
        const moment began = now();
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, matrices, n, matrices + size, n,
                    0.0, matrices + 2 * size, n);
        times[i] = since(began);
    }
}

uc_status run_machine(char **arguments)
{
    enum { COLUMNS = 1024 };
    const size_t rows = count_of(arguments[0]) * 1000000 / (4 * COLUMNS), count = count_of(arguments[2]);
    const unsigned n = count_of(arguments[1]), threads = count_of(arguments[3]);
    uc_matrix X = {0};
    uc_status status = uc_matrix_create_dense(&X, rows, COLUMNS);
    moment *reads = calloc(count, sizeof *reads), *products = calloc(count, sizeof *products);
    double *matrices = calloc(3 * (size_t)n * n, sizeof *matrices);
    if (status == UC_OK && !(reads && products && matrices))
        status = UC_ERR_NOMEM;
    if (status == UC_OK) {
        for (size_t i = 0; i < rows * X.stride; i++) /* pages of their own, not the one page of zeros */
            X.values[i] = 1;
        printf("{\"bytes\": %.0f, \"operations\": %.0f, ", 4.0 * (double)rows * (double)X.stride,
               2.0 * (double)n * n * n);
        time_reads(reads, count, &X, threads);
        time_products(products, count, (int)n, matrices, threads);
        print_times("reads", reads, count);
        printf(", ");
        print_times("products", products, count);
        printf("}\n");
    }
    free(reads);
    free(products);
    free(matrices);
    uc_matrix_free(&X);
    return status;
}
