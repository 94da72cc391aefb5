/* What the machine gives: reading an array that no cache holds, products of matrices of doubles by BLAS, and
 * the bytes of a file, looked at and copied. */
#define _DEFAULT_SOURCE /* madvise */
#include <cblas.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* ---- the bytes of a file ---- */

/* Counts the newlines of a file, a part at a time: no reader of text can do less. */
static size_t scan_file(int file, char *buffer, size_t room)
{
    size_t newlines = 0;
    for (ssize_t got; (got = read(file, buffer, room)) > 0;)
        for (const char *p = buffer, *end = buffer + got; (p = memchr(p, '\n', (size_t)(end - p))); p++)
            newlines++;
    return newlines;
}

/* Reads the whole file into memory that was not used before. */
static size_t copy_file(int file, size_t bytes)
{
    char *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t done = 0;
    if (copy == MAP_FAILED)
        return 0;
    (void)madvise(copy, bytes, MADV_HUGEPAGE);
    for (ssize_t got; done < bytes && (got = read(file, copy + done, bytes - done)) > 0;)
        done += (size_t)got;
    munmap(copy, bytes);
    return done;
}

uc_status run_rates(char **arguments)
{
    enum { PART = 1 << 18 };
    const size_t count = count_of(arguments[1]);
    struct stat info = {0};
    moment *scans = calloc(count, sizeof *scans), *copies = calloc(count, sizeof *copies);
    char *buffer = malloc(PART);
    const int file = open(arguments[0], O_RDONLY);
    size_t newlines = 0, copied = 0;
    uc_status status = UC_OK;
    if (file < 0 || fstat(file, &info) != 0 || !scans || !copies || !buffer)
        status = UC_ERR_IO;
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        const moment began = now();
        newlines = scan_file(file, buffer, PART);
        scans[i] = since(began);
        lseek(file, 0, SEEK_SET);
        const moment copying = now();
        copied = copy_file(file, (size_t)info.st_size);
        copies[i] = since(copying);
        lseek(file, 0, SEEK_SET);
    }
    if (status == UC_OK) {
        printf("{\"bytes\": %zu, \"lines\": %zu, ", copied, newlines);
        print_times("scans", scans, count);
        printf(", ");
        print_times("copies", copies, count);
        printf("}\n");
    }
    if (file >= 0)
        close(file);
    free(scans);
    free(copies);
    free(buffer);
    return status;
}
