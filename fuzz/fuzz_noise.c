/* Noise matrices, CSV or NPY, from arbitrary bytes.
 *
 * An accepted file is a noise matrix: every column has probabilities that sum to 1, the inverse undoes it as
 * far as its condition allows, its names are names, and it is the same after writing and reading it. Read
 * with rows for the true class it is the transpose, if its rows also sum to 1. */
#define _GNU_SOURCE
#include <math.h>

#include "base/base.h"
#include "fuzz/files.h"
#include "unconfuse/noise.h"

static void check_columns(const uc_noise *self)
{
    const size_t K = self->classes;
    CHECK(K >= 2);
    for (size_t q = 0; q < K; q++) {
        double sum = 0.0;
        for (size_t p = 0; p < K; p++) {
            const double value = self->values[p * K + q];
            CHECK(value >= 0.0 && value <= 1.0);
            sum += value;
        }
        CHECK(fabs(sum - 1.0) <= 1e-12 * (double)K);
    }
    CHECK(self->names.count == 0 || self->names.count == K);
    for (size_t k = 0; k < self->names.count; k++) {
        const size_t length = strlen(self->names.text[k]);
        CHECK(length > 0 && uc_names_find(&self->names, self->names.text[k], length) == k);
    }
}

/* Checks that C^-1 C is the identity, up to rounding at this condition. */
static void check_inverse(const uc_noise *self, double condition)
{
    const size_t K = self->classes;
    double *inverse = calloc(K * K, sizeof *inverse);
    CHECK(inverse);
    CHECK(uc_noise_invert(inverse, self, 0.0) == UC_OK);
    for (size_t q = 0; q < K; q++)
        for (size_t r = 0; r < K; r++) {
            double sum = 0.0;
            for (size_t p = 0; p < K; p++)
                sum += inverse[q * K + p] * self->values[p * K + r];
            CHECK(fabs(sum - (q == r)) <= 1e-13 * (double)(K * K) * condition);
        }
    free(inverse);
}

static void check_same(const uc_noise *a, const uc_noise *b)
{
    CHECK(a->classes == b->classes && a->names.count == b->names.count);
    for (size_t i = 0; i < a->classes * a->classes; i++)
        CHECK(fabs(a->values[i] - b->values[i]) <= 1e-15 * (double)a->classes);
    for (size_t k = 0; k < a->names.count; k++)
        CHECK(strcmp(a->names.text[k], b->names.text[k]) == 0);
}

static void check_round_trip(const uc_noise *self)
{
    uc_noise back = {0};
    CHECK(uc_noise_write(self, scratch_path()) == UC_OK);
    CHECK(uc_noise_read(&back, scratch_path(), UC_NOISE_COLUMNS, NULL) == UC_OK);
    unlink(scratch_path());
    check_same(self, &back);
    if (self->names.count > 0) { /* matching its own order changes nothing */
        CHECK(uc_noise_match(&back, &self->names) == UC_OK);
        check_same(self, &back);
    }
    uc_noise_free(&back);
}

static void check_matrix(const uc_noise *self)
{
    uc_noise_check about;
    check_columns(self);
    CHECK(uc_noise_inspect(&about, self) == UC_OK);
    CHECK(about.condition >= 1.0 - 1e-12 && about.wrong >= 0.0 && about.wrong <= 1.0 + 1e-12);
    CHECK(about.dominated <= self->classes && about.dominated_row < self->classes);
    if (about.condition < 1e10)
        check_inverse(self, about.condition);
    check_round_trip(self);
}

/* Apart from rounding, each column was divided by its sum once. */
static void check_transposed(const uc_noise *columns, const uc_noise *rows)
{
    const size_t K = columns->classes;
    CHECK(rows->classes == K);
    for (size_t p = 0; p < K; p++)
        for (size_t q = 0; q < K; q++)
            CHECK(fabs(columns->values[p * K + q] - rows->values[q * K + p]) <= 2.1e-3);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const long live = uc_alloc_live();
    memory_file file = memory_file_open(bytes, length);
    uc_noise matrix[2] = {0};
    uc_status status[2];
    for (int rows = 0; rows < 2; rows++) {
        status[rows] = uc_noise_read(&matrix[rows], file.path, rows ? UC_NOISE_ROWS : UC_NOISE_COLUMNS, NULL);
        if (status[rows] == UC_OK)
            check_matrix(&matrix[rows]);
        else
            check_sentence(uc_last_error());
    }
    if (status[0] == UC_OK && status[1] == UC_OK)
        check_transposed(&matrix[0], &matrix[1]);
    uc_noise_free(&matrix[0]);
    uc_noise_free(&matrix[1]);
    memory_file_close(&file);
    CHECK(uc_alloc_live() == live);
    return 0;
}
