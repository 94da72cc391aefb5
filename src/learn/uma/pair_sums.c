/*
 * Sums of examples by pairs, and rows that move from pair to pair (pair_sums.h).
 *
 * The work is proportional to the moves: they are sorted by pair, large pairs are cut into pieces, and each
 * piece is summed by one thread. Processes exchange how many rows move in which pairs, and the resulting
 * changes of those pairs' sums.
 */
#include "learn/uma/pair_sums.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

#define ENTRIES_PER_PIECE 4096.0
#define MOST_TIMES_DATA 4.0 /* S has at most so many times the numbers of the data per prediction */

/* The pair of an example that is predicted p. */
static size_t pair_of(const uc_pair_sums *self, uint32_t p, size_t row)
{
    return (size_t)p * self->Q + self->y[row];
}

static double weight_of(const uc_pair_sums *self, size_t row)
{
    return self->weights ? self->weights[row] : 1.0;
}

static uc_status open_pair(uc_pair_sums *self, size_t pair)
{
    if (self->S[pair])
        return UC_OK;
    char what[128];
    snprintf(what, sizeof what, "%zu class sums of %zu numbers", self->sums + 1, self->d);
    const uc_status status =
        uc_memory_check(self->context, (double)(self->sums + 1) * (double)self->d * sizeof(double), what);
    if (status != UC_OK)
        return status;
    self->S[pair] = uc_alloc(self->d, sizeof(double));
    if (!self->S[pair])
        return UC_ERR_NOMEM;
    self->sums++;
    return UC_OK;
}

/* Entries of one pair, or of a part of a large one, in the order of the rows: entry e >= n means that row e -
 * n leaves; otherwise row e enters. */
typedef struct piece {
    size_t first, last; /* entries */
    double *from, *sum; /* the pair's sum, and where the piece is added: `from` itself, or its own numbers */
} piece;

typedef struct move_job {
    const uc_pair_sums *self;
    piece *pieces;
    size_t count;
    double *own; /* the numbers of pieces other than the first of a pair */
} move_job;

static uc_status move_piece(size_t number, void *user)
{
    const move_job *job = user;
    const uc_pair_sums *self = job->self;
    const piece *mine = job->pieces + number;
    for (size_t e = mine->first; e < mine->last; e++) {
        const bool enters = self->entry[e] < self->n; /* it enters the pair, or leaves it */
        const size_t row = enters ? self->entry[e] : self->entry[e] - self->n;
        const double weight = weight_of(self, row);
        uc_row_axpy(enters ? weight : -weight, uc_matrix_row(self->X, row), mine->sum);
    }
    return UC_OK;
}

/* Cuts large pairs into pieces, so that there is work for all threads even with few pairs. The cuts depend
 * only on the size of the data, and the extra sums of the pieces stay small compared with the rows. */
static uc_status cut_pairs(move_job *out, const uc_pair_sums *self)
{
    const size_t pairs = self->Q * self->Q;
    const double a_row = fmax(1.0, (double)uc_matrix_entries(self->X) / (double)self->n);
    const size_t most = (size_t)fmax(ENTRIES_PER_PIECE, 32.0 * (double)self->d / a_row);
    size_t own = 0;
    *out = (move_job){.self = self};
    for (size_t pair = 0; pair < pairs; pair++) {
        const size_t entries = self->pair_start[pair + 1] - self->pair_start[pair];
        const size_t pieces = (entries + most - 1) / most;
        out->count += pieces;
        own += pieces - (pieces > 0);
    }
    out->pieces = uc_alloc(out->count, sizeof *out->pieces);
    out->own = uc_alloc(own * self->d, sizeof *out->own);
    if (!out->pieces || !out->own)
        return UC_ERR_NOMEM;
    size_t made = 0;
    double *next = out->own;
    for (size_t pair = 0; pair < pairs; pair++)
        for (size_t first = self->pair_start[pair]; first < self->pair_start[pair + 1]; first += most) {
            const size_t last = uc_min_size(first + most, self->pair_start[pair + 1]);
            double *sum = self->target[pair];
            if (first > self->pair_start[pair]) {
                sum = next;
                next += self->d;
            }
            out->pieces[made++] = (piece){first, last, self->target[pair], sum};
        }
    return UC_OK;
}

/* Adds the entries of all pairs, each to its target. */
static uc_status move_pairs(uc_pair_sums *self)
{
    const double entries = (double)self->pair_start[self->Q * self->Q];
    const uc_context fitting = uc_context_for_work(self->context, entries * (double)self->d);
    move_job job;
    uc_status status = cut_pairs(&job, self);
    if (status == UC_OK)
        status = uc_run_blocks(&fitting, job.count, move_piece, &job);
    for (size_t i = 0; i < job.count && status == UC_OK; i++)
        if (job.pieces[i].sum != job.pieces[i].from)
            uc_axpy(job.pieces[i].from, 1.0, job.pieces[i].sum, self->d);
    uc_free(job.pieces);
    uc_free(job.own);
    return status;
}

/* Frees the memory of sums in which nothing is left but rounding errors. */
static void close_empty_pairs(uc_pair_sums *self)
{
    for (size_t pair = 0; pair < self->Q * self->Q; pair++)
        if (self->S[pair] && self->rows[pair] == 0) {
            self->N[pair] = 0.0;
            uc_free(self->S[pair]);
            self->S[pair] = NULL;
            self->sums--;
        }
}

/* Counts the entries of each pair or, if `write`, writes them to their places. */
static void list_entry(uc_pair_sums *self, size_t *position, size_t pair, size_t entry, bool write)
{
    if (write)
        self->entry[position[pair]] = entry;
    position[pair]++;
}

static void list_moves(uc_pair_sums *self, const uint32_t *before, const uint32_t *after, size_t *position,
                       bool write)
{
    const size_t blocks = (self->n + UC_PAIR_SUMS_ROWS - 1) / UC_PAIR_SUMS_ROWS;
    for (size_t block = 0; block < blocks; block++)
        for (size_t m = 0; m < self->moved_in[block]; m++) {
            const size_t row = self->moved[block * UC_PAIR_SUMS_ROWS + m];
            if (before[row] != UC_NONE)
                list_entry(self, position, pair_of(self, before[row], row), self->n + row, write);
            if (after[row] != UC_NONE)
                list_entry(self, position, pair_of(self, after[row], row), row, write);
        }
}

/* For each pair, over all processes: the number of entries, by how many more rows enter than leave, and the
 * weight of these; 3 Q^2 numbers. */
static uc_status count_moves(double *moves, const uc_pair_sums *self)
{
    const size_t pairs = self->Q * self->Q;
    for (size_t pair = 0; pair < pairs; pair++)
        for (size_t e = self->pair_start[pair]; e < self->pair_start[pair + 1]; e++) {
            const bool enters = self->entry[e] < self->n;
            const double weight = weight_of(self, enters ? self->entry[e] : self->entry[e] - self->n);
            moves[pair] += 1.0;
            moves[pairs + pair] += enters ? 1.0 : -1.0;
            moves[2 * pairs + pair] += enters ? weight : -weight;
        }
    return uc_comm_sum(uc_comm_of(self->context), moves, 3 * pairs);
}

/* Allocates the pairs that change, and updates their counts. */
static uc_status change_pairs(uc_pair_sums *self, const double *moves)
{
    const size_t pairs = self->Q * self->Q;
    uc_status status = UC_OK;
    for (size_t pair = 0; pair < pairs && status == UC_OK; pair++) {
        if (moves[pair] == 0.0)
            continue;
        self->stale[pair / self->Q] = true;
        self->rows[pair] += (uint64_t)(int64_t)moves[pairs + pair];
        self->N[pair] += moves[2 * pairs + pair];
        status = open_pair(self, pair);
    }
    return status;
}

/* Adds the changes from the rows of all processes to the pairs that change. A step exchanges nothing else. */
static uc_status add_entries_of_all(uc_pair_sums *self, const double *moves)
{
    const size_t pairs = self->Q * self->Q;
    size_t changed = 0;
    for (size_t pair = 0; pair < pairs; pair++)
        changed += moves[pair] > 0.0;
    double *change = uc_alloc(changed * self->d, sizeof *change), *next = change;
    if (!change)
        return UC_ERR_NOMEM;
    for (size_t pair = 0; pair < pairs; pair++)
        if (moves[pair] > 0.0) {
            self->target[pair] = next;
            next += self->d;
        }
    uc_status status = move_pairs(self);
    if (status == UC_OK)
        status = uc_comm_sum(uc_comm_of(self->context), change, changed * self->d);
    for (size_t pair = 0; pair < pairs && status == UC_OK; pair++)
        for (size_t j = 0; moves[pair] > 0.0 && j < self->d; j++)
            self->S[pair][j] += self->target[pair][j];
    uc_free(change);
    return status;
}

/* Sorts the listed moves by the pair that they leave or enter. */
static uc_status sort_moves(uc_pair_sums *self, const uint32_t *before, const uint32_t *after)
{
    const size_t pairs = self->Q * self->Q;
    size_t *position = uc_alloc(pairs + 1, sizeof *position), total = 0;
    if (!position)
        return UC_ERR_NOMEM;
    list_moves(self, before, after, position, false);
    for (size_t pair = 0; pair < pairs; pair++) {
        const size_t here = position[pair];
        self->pair_start[pair] = position[pair] = total;
        total += here;
    }
    self->pair_start[pairs] = position[pairs] = total;
    list_moves(self, before, after, position, true);
    uc_free(position);
    return UC_OK;
}

/* Where S is not kept, only numbers of rows change. */
static void count_move(uc_pair_sums *self, uint32_t p, size_t row, bool enters)
{
    if (p == UC_NONE)
        return;
    const size_t pair = pair_of(self, p, row);
    const double weight = weight_of(self, row);
    self->stale[p] = true;
    self->rows[pair] += enters ? 1 : UINT64_MAX;
    self->N[pair] += enters ? weight : -weight;
    if (self->rows[pair] == 0)
        self->N[pair] = 0.0;
}

static void count_all_moves(uc_pair_sums *self, const uint32_t *before, const uint32_t *after)
{
    const size_t blocks = (self->n + UC_PAIR_SUMS_ROWS - 1) / UC_PAIR_SUMS_ROWS;
    for (size_t block = 0; block < blocks; block++)
        for (size_t m = 0; m < self->moved_in[block]; m++) {
            const size_t row = self->moved[block * UC_PAIR_SUMS_ROWS + m];
            count_move(self, before[row], row, false);
            count_move(self, after[row], row, true);
        }
    self->predicted = after;
}

uc_status uc_pair_sums_move(uc_pair_sums *self, const uint32_t *before, const uint32_t *after)
{
    if (self->from_rows) {
        count_all_moves(self, before, after);
        return UC_OK;
    }
    double *moves = uc_alloc(3 * self->Q * self->Q, sizeof *moves);
    if (!moves)
        return UC_ERR_NOMEM;
    uc_status status = sort_moves(self, before, after);
    if (status == UC_OK)
        status = count_moves(moves, self);
    if (status == UC_OK)
        status = change_pairs(self, moves);
    if (status != UC_OK)
        goto cleanup;
    if (uc_is_shared(self->context)) {
        status = add_entries_of_all(self, moves);
    } else {
        memcpy(self->target, self->S, self->Q * self->Q * sizeof *self->target);
        status = move_pairs(self);
    }
    if (status == UC_OK)
        close_empty_pairs(self);
cleanup:
    uc_free(moves);
    return status;
}

uc_status uc_pair_sums_count(uc_pair_sums *self, const uint32_t *predicted)
{
    const size_t pairs = self->Q * self->Q;
    double *counts = uc_alloc(pairs, sizeof *counts);
    if (!counts)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < self->n; i++)
        counts[pair_of(self, predicted[i], i)] += weight_of(self, i);
    const uc_status status = uc_comm_sum(uc_comm_of(self->context), counts, pairs);
    for (size_t pair = 0; pair < pairs; pair++)
        self->N[pair] = counts[pair];
    uc_free(counts);
    return status;
}

/* ---- allocation ---- */

bool uc_pair_sums_may_use_rows(const uc_pair_sums *self)
{
    return uc_matrix_is_sparse(self->X) && !uc_is_shared(self->context) &&
           MOST_TIMES_DATA * (double)uc_matrix_entries(self->X) < (double)self->Q * (double)self->d;
}

uc_status uc_pair_sums_allocate(uc_pair_sums *self)
{
    const size_t n = self->n, Q = self->Q, blocks = (n + UC_PAIR_SUMS_ROWS - 1) / UC_PAIR_SUMS_ROWS;
    bool complete = true;
    complete &= (self->N = uc_alloc(Q * Q, sizeof(double))) != NULL;
    complete &= (self->rows = uc_alloc(Q * Q, sizeof(uint64_t))) != NULL;
    complete &= (self->stale = uc_alloc(Q, sizeof(bool))) != NULL;
    complete &= (self->moved = uc_alloc(n, sizeof(size_t))) != NULL;
    complete &= (self->moved_in = uc_alloc(blocks, sizeof(size_t))) != NULL;
    if (self->from_rows) {
        complete &= (self->B_turned = uc_alloc(Q * Q, sizeof(double))) != NULL;
    } else {
        complete &= (self->S = uc_alloc(Q * Q, sizeof(double *))) != NULL;
        complete &= (self->entry = uc_alloc(2 * n, sizeof(size_t))) != NULL;
        complete &= (self->pair_start = uc_alloc(Q * Q + 1, sizeof(size_t))) != NULL;
        complete &= (self->target = uc_alloc(Q * Q, sizeof(double *))) != NULL;
    }
    return complete ? UC_OK : UC_ERR_NOMEM;
}

void uc_pair_sums_set_inverse(uc_pair_sums *self, const double *B)
{
    for (size_t q = 0; q < self->Q && self->from_rows; q++)
        for (size_t k = 0; k < self->Q; k++)
            self->B_turned[k * self->Q + q] = B[q * self->Q + k];
}

void uc_pair_sums_free(uc_pair_sums *self)
{
    for (size_t pair = 0; self->S && pair < self->Q * self->Q; pair++)
        uc_free(self->S[pair]);
    void *const blocks[] = {self->S,        self->N,     self->stale,      self->moved,  self->rows,
                            self->moved_in, self->entry, self->pair_start, self->target, self->B_turned};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        uc_free(blocks[i]);
}
