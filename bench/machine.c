/* What the machine gives: reading and copying an array that no cache holds, looking at every byte of a
 * file, and products of matrices of doubles by BLAS. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

#define PIECE ((size_t)1 << 18) /* of a file: stays in the cache while it is looked at */

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

typedef unsigned char many_bytes __attribute__((vector_size(16), aligned(1), may_alias));

/* How many bytes separate words, space and control characters. A sum of one byte for every 16th is emptied
 * before it overflows. */
static size_t separators(const unsigned char *text, size_t count)
{
    enum { LANES = sizeof(many_bytes), MOST = 255 };
    size_t found = 0, i = 0;
    while (i + LANES <= count) {
        many_bytes sums = {0};
        for (size_t k = 0; k < MOST && i + LANES <= count; k++, i += LANES)
            sums -= (many_bytes)(*(const many_bytes *)(const void *)(text + i) <= ' ');
        for (size_t lane = 0; lane < LANES; lane++)
            found += sums[lane];
    }
    for (; i < count; i++)
        found += text[i] <= ' ';
    return found;
}

/* A file, all of whose bytes are looked at, and a copy of as many within the memory. No reader of text is
 * faster than the one, and none that keeps it than the other. */
uc_status run_scan(char **arguments)
{
    FILE *file = fopen(arguments[0], "rb");
    const size_t count = count_of(arguments[1]);
    moment *scans = calloc(count, sizeof *scans), *copies = calloc(count, sizeof *copies);
    unsigned char *piece = malloc(PIECE);
    size_t bytes = 0, found = 0;
    uc_status status = file && scans && copies && piece ? UC_OK : UC_ERR_NOMEM;
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        const moment began = now();
        rewind(file);
        bytes = found = 0;
        for (size_t got; (got = fread(piece, 1, PIECE, file)) > 0; bytes += got)
            found += separators(piece, got);
        scans[i] = since(began);
    }
    unsigned char *from = calloc(bytes + 1, 1), *to = calloc(bytes + 1, 1);
    if (!from || !to || bytes == 0)
        status = UC_ERR_NOMEM;
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        memset(from, (int)i + 1, bytes); /* pages of its own, and not yet those of the last copy */
        const moment began = now();
        memcpy(to, from, bytes);
        copies[i] = since(began);
        found += to[bytes / 2]; /* so that it is copied */
    }
    if (status == UC_OK) {
        printf("{\"bytes\": %zu, \"found\": %zu, ", bytes, found);
        print_times("scans", scans, count);
        printf(", ");
        print_times("copies", copies, count);
        printf("}\n");
    }
    free(from);
    free(to);
    free(piece);
    free(scans);
    free(copies);
    if (file)
        fclose(file);
    return status;
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
