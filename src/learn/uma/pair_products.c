/*
 * Products of the noise's inverse B with the sums of pairs (pair_sums.h):
 *
 *   combined   sum_k b[k] S[p][k]                   for a row b of B
 *   squares    || sum_k B[q][k] S[p][k] ||^2        for all q
 *
 * If the sums are kept, the squares come from the product B S[p], by tiles of columns. Otherwise both come
 * from the rows: column j of B S[p] is the sum of x_ij times column y_i of B, over the rows i that are
 * predicted p. That takes Q operations per entry of these rows.
 */
#include <string.h>

#include "learn/uma/pair_sums.h"
#include "linalg/linalg.h"

#define COLUMNS_PER_TILE ((size_t)512)

/* What the jobs below have in common: tile t adds up squares[t Q .. (t + 1) Q). */
typedef struct tiles {
    const uc_pair_sums *sums;
    size_t p, columns;
    double *squares;
} tiles;

static uc_status run_tiles(double *squares, tiles *self, double work, uc_block_job *job, void *user)
{
    const size_t Q = self->sums->Q, count = uc_block_count(self->columns, COLUMNS_PER_TILE);
    const uc_context fitting = uc_context_for_work(self->sums->context, work);
    memset(squares, 0, Q * sizeof *squares);
    self->squares = uc_alloc(count * Q, sizeof *self->squares);
    if (!self->squares)
        return UC_ERR_NOMEM;
    const uc_status status = uc_run_blocks(&fitting, count, job, user);
    for (size_t tile = 0; tile < count; tile++)
        for (size_t q = 0; q < Q; q++)
            squares[q] += self->squares[tile * Q + q];
    uc_free(self->squares);
    return status;
}

/* ---- sums that are kept ---- */

typedef struct kept_job {
    tiles tiles;
    size_t *present; /* the k that have a sum S[p][k] */
    size_t count;
    double *B_present; /* Q x count */
} kept_job;

/* Z = B S by GEMM. */
static uc_status square_kept(size_t tile, void *user)
{
    const kept_job *job = user;
    const uc_pair_sums *self = job->tiles.sums;
    const uc_range range = uc_block_range(tile, job->tiles.columns, COLUMNS_PER_TILE);
    const size_t Q = self->Q, width = range.last - range.first;
    double *sums = uc_alloc(job->count * width, sizeof *sums), *Z = uc_alloc(Q * width, sizeof *Z);
    const bool enough = sums && Z;
    for (size_t i = 0; i < job->count && enough; i++)
        memcpy(sums + i * width, self->S[job->tiles.p * Q + job->present[i]] + range.first,
               width * sizeof *sums);
    if (enough)
        uc_multiply(Z, job->B_present, sums, Q, job->count, width);
    for (size_t q = 0; q < Q && enough; q++) {
        double square = 0.0;
        for (size_t j = 0; j < width; j++)
            square += Z[q * width + j] * Z[q * width + j];
        job->tiles.squares[tile * Q + q] = square;
    }
    uc_free(sums);
    uc_free(Z);
    return enough ? UC_OK : UC_ERR_NOMEM;
}

static uc_status squares_of_kept(double *squares, const uc_pair_sums *self, const double *B, size_t p)
{
    const size_t Q = self->Q;
    kept_job job = {.tiles = {.sums = self, .p = p, .columns = self->d},
                    .present = uc_alloc(Q, sizeof *job.present),
                    .B_present = uc_alloc(Q * Q, sizeof *job.B_present)};
    uc_status status = UC_ERR_NOMEM;
    if (!job.present || !job.B_present)
        goto cleanup;
    for (size_t k = 0; k < Q; k++)
        if (self->S[p * Q + k])
            job.present[job.count++] = k;
    for (size_t q = 0; q < Q; q++)
        for (size_t i = 0; i < job.count; i++)
            job.B_present[q * job.count + i] = B[q * Q + job.present[i]];
    if (job.count == 0)
        job.tiles.columns = 0;
    status =
        run_tiles(squares, &job.tiles, (double)Q * (double)job.count * (double)self->d, square_kept, &job);
cleanup:
    uc_free(job.present);
    uc_free(job.B_present);
    return status;
}

/* ---- sums from rows ---- */

/* An entry of a row that is predicted p. */
typedef struct entry {
    uint32_t label;
    double value; /* times the row's weight */
} entry;

/* The entries of these rows, column by column; only columns that have any. */
typedef struct rows_job {
    tiles tiles;
    size_t *start; /* columns + 1: where the entries of each column begin */
    entry *entries;
} rows_job;

static double weighted(const uc_pair_sums *self, size_t row, float value)
{
    return (self->weights ? self->weights[row] : 1.0) * (double)value;
}

/* Counts the entries of each column, then turns the counts into the places where the columns begin. `start`
 * has d + 1 zeros; on return start[j] is the place of column j. */
static size_t find_places(size_t *start, const uc_pair_sums *self, size_t p)
{
    size_t total = 0;
    for (size_t i = 0; i < self->n; i++) {
        const uc_row row = uc_matrix_row(self->X, i);
        for (size_t k = 0; self->predicted[i] == p && k < row.count; k++)
            start[row.columns[k]]++;
    }
    for (size_t j = 0; j <= self->d; j++) {
        const size_t here = start[j];
        start[j] = total;
        total += here;
    }
    return total;
}

/* Fills in the entries, and leaves out the columns that have none. */
static void sort_entries(rows_job *job)
{
    const uc_pair_sums *self = job->tiles.sums;
    size_t columns = 0, before = 0;
    for (size_t i = 0; i < self->n; i++) {
        const uc_row row = uc_matrix_row(self->X, i);
        for (size_t k = 0; self->predicted[i] == job->tiles.p && k < row.count; k++)
            job->entries[job->start[row.columns[k]]++] =
                (entry){self->y[i], weighted(self, i, row.values[k])};
    }
    for (size_t j = 0; j < self->d; j++) /* start[j] is where column j ends now */
        if (job->start[j] > before) {
            const size_t end = job->start[j];
            job->start[columns++] = before;
            before = end;
        }
    job->start[columns] = before;
    job->tiles.columns = columns;
}

static uc_status square_rows(size_t tile, void *user)
{
    const rows_job *job = user;
    const uc_pair_sums *sums = job->tiles.sums;
    const uc_range range = uc_block_range(tile, job->tiles.columns, COLUMNS_PER_TILE);
    const size_t Q = sums->Q;
    double *z = uc_alloc(Q, sizeof *z), *squares = job->tiles.squares + tile * Q;
    if (!z)
        return UC_ERR_NOMEM;
    for (size_t j = range.first; j < range.last; j++) {
        memset(z, 0, Q * sizeof *z);
        for (size_t e = job->start[j]; e < job->start[j + 1]; e++) {
            const double *b = sums->B_turned + (size_t)job->entries[e].label * Q;
            for (size_t q = 0; q < Q; q++)
                z[q] += job->entries[e].value * b[q];
        }
        for (size_t q = 0; q < Q; q++)
            squares[q] += z[q] * z[q];
    }
    uc_free(z);
    return UC_OK;
}

static uc_status squares_of_rows(double *squares, const uc_pair_sums *self, size_t p)
{
    rows_job job = {.tiles = {.sums = self, .p = p}, .start = uc_alloc(self->d + 1, sizeof *job.start)};
    if (!job.start)
        return UC_ERR_NOMEM;
    const size_t total = find_places(job.start, self, p);
    uc_status status = UC_ERR_NOMEM;
    job.entries = uc_alloc(total, sizeof *job.entries);
    if (job.entries) {
        sort_entries(&job);
        status = run_tiles(squares, &job.tiles, (double)total * (double)self->Q, square_rows, &job);
    }
    uc_free(job.entries);
    uc_free(job.start);
    return status;
}

/* ---- either ---- */

uc_status uc_pair_sums_squares(double *squares, const uc_pair_sums *self, const double *B, size_t p)
{
    if (self->from_rows)
        return squares_of_rows(squares, self, p);
    return squares_of_kept(squares, self, B, p);
}

void uc_pair_sums_combine(double *out, const uc_pair_sums *self, const double *b, double divisor, size_t p)
{
    memset(out, 0, self->d * sizeof *out);
    for (size_t k = 0; k < self->Q && !self->from_rows; k++) {
        const double *sum = self->S[p * self->Q + k], factor = b[k] / divisor;
        for (size_t j = 0; sum && j < self->d; j++)
            out[j] += factor * sum[j];
    }
    for (size_t i = 0; i < self->n && self->from_rows; i++)
        if (self->predicted[i] == p)
            uc_row_axpy(weighted(self, i, 1.0f) * b[self->y[i]] / divisor, uc_matrix_row(self->X, i), out);
}
