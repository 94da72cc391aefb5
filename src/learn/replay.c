/* A ring of rounds in bounded memory. */
#include "learn/replay.h"

#include <math.h>
#include <string.h>

#define BYTES_LIMIT ((size_t)1 << 28)
#define BLOCK_BYTES 96.0 /* overhead of an allocated block */

const uc_replay_round *uc_replay_at(const uc_replay *self, size_t i)
{
    return &self->rounds[(self->first + i) % self->capacity];
}

static size_t row_bytes(uc_row row)
{
    size_t bytes = row.count * sizeof *row.values;
    if (row.columns)
        bytes += row.count * sizeof *row.columns;
    return bytes;
}

static void drop_oldest(uc_replay *self)
{
    uc_replay_round *oldest = &self->rounds[self->first];
    self->bytes -= row_bytes(oldest->row);
    uc_free((float *)oldest->row.values);
    self->first = (self->first + 1) % self->capacity;
    self->count--;
}

void uc_replay_free(uc_replay *self)
{
    while (self->count > 0)
        drop_oldest(self);
    uc_free(self->rounds);
    *self = (uc_replay){0};
}

/* Makes room for one more, and puts the rounds in order. */
static uc_status grow(uc_replay *self)
{
    const size_t capacity = uc_grown(self->capacity, self->count + 1);
    uc_replay_round *rounds = uc_alloc(capacity, sizeof *rounds);
    if (!rounds)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < self->count; i++)
        rounds[i] = *uc_replay_at(self, i);
    uc_free(self->rounds);
    self->rounds = rounds;
    self->capacity = capacity;
    self->first = 0;
    return UC_OK;
}

/* Copies the values, followed by the columns. */
uc_status uc_replay_copy(uc_row *copy, uc_replay *self, uc_row row, size_t limit)
{
    if (self->count < limit && self->count == self->capacity) {
        const uc_status status = grow(self);
        if (status != UC_OK)
            return status;
    }
    float *values = uc_alloc(row_bytes(row), 1);
    if (!values)
        return UC_ERR_NOMEM;
    *copy = (uc_row){row.count, values, NULL};
    if (row.count > 0)
        memcpy(values, row.values, row.count * sizeof *values);
    if (row.columns) {
        uint32_t *columns = (uint32_t *)(void *)(values + row.count);
        if (row.count > 0)
            memcpy(columns, row.columns, row.count * sizeof *columns);
        copy->columns = columns;
    }
    return UC_OK;
}

void uc_replay_keep(uc_replay *self, uc_row copy, uint32_t proposed, bool right, size_t limit)
{
    while (self->count > 0 && (self->count >= limit || self->bytes + row_bytes(copy) > BYTES_LIMIT))
        drop_oldest(self);
    self->rounds[(self->first + self->count++) % self->capacity] = (uc_replay_round){copy, proposed, right};
    self->bytes += row_bytes(copy);
}

/* Each row is a separate block. */
double uc_replay_bytes(double rounds, double row_bytes)
{
    const double fitting = (double)BYTES_LIMIT / fmax(row_bytes, 1.0);
    return fmin(rounds, fitting) * (row_bytes + BLOCK_BYTES + (double)sizeof(uc_replay_round));
}

/* ---- saving and resuming: all rows one after the other ---- */

enum { OUTCOME_RIGHT = 1, OUTCOME_SPARSE = 2, OUTCOME_BITS = 2 };

/* The rounds in a model, which owns these arrays. */
typedef struct flat_rounds {
    uint64_t rounds, entries, columns_count;
    const uint32_t *outcomes; /* proposed class, whether sparse, whether right */
    const uint64_t *ends;     /* where each row ends among the entries */
    const float *values;
    const uint32_t *columns; /* of the sparse rows */
} flat_rounds;

static uc_status remember_counts(flat_rounds *flat, uc_state *state)
{
    uc_status status = uc_state_counter(state, "replay_rounds", &flat->rounds);
    if (status == UC_OK)
        status = uc_state_counter(state, "replay_entries", &flat->entries);
    if (status == UC_OK)
        status = uc_state_counter(state, "replay_columns", &flat->columns_count);
    return status;
}

static uc_status write_outcomes(const uc_replay *self, uc_state *state)
{
    uint32_t *outcomes = uc_alloc(self->count, sizeof *outcomes);
    for (size_t i = 0; i < self->count && outcomes; i++) {
        const uc_replay_round *round = uc_replay_at(self, i);
        outcomes[i] = round->proposed << OUTCOME_BITS;
        if (round->row.columns)
            outcomes[i] |= OUTCOME_SPARSE;
        if (round->right)
            outcomes[i] |= OUTCOME_RIGHT;
    }
    if (!outcomes)
        return UC_ERR_NOMEM;
    return uc_state_give(state, "state.replay.told", UC_ARRAY_U32, outcomes, self->count);
}

static uc_status write_ends(const uc_replay *self, uc_state *state)
{
    uint64_t *ends = uc_alloc(self->count, sizeof *ends), end = 0;
    for (size_t i = 0; i < self->count && ends; i++)
        ends[i] = end += uc_replay_at(self, i)->row.count;
    if (!ends)
        return UC_ERR_NOMEM;
    return uc_state_give(state, "state.replay.ends", UC_ARRAY_U64, ends, self->count);
}

static uc_status write_values(const uc_replay *self, uc_state *state, size_t entries)
{
    float *values = uc_alloc(entries, sizeof *values), *next = values;
    for (size_t i = 0; i < self->count && values; i++) {
        const uc_row row = uc_replay_at(self, i)->row;
        if (row.count > 0)
            memcpy(next, row.values, row.count * sizeof *next);
        next += row.count;
    }
    if (!values)
        return UC_ERR_NOMEM;
    return uc_state_give(state, "state.replay.values", UC_ARRAY_F32, values, entries);
}

static uc_status write_columns(const uc_replay *self, uc_state *state, size_t count)
{
    uint32_t *columns = uc_alloc(count, sizeof *columns), *next = columns;
    for (size_t i = 0; i < self->count && columns; i++) {
        const uc_row row = uc_replay_at(self, i)->row;
        if (!row.columns || row.count == 0)
            continue;
        memcpy(next, row.columns, row.count * sizeof *next);
        next += row.count;
    }
    if (!columns)
        return UC_ERR_NOMEM;
    return uc_state_give(state, "state.replay.columns", UC_ARRAY_U32, columns, count);
}

/* Writes straight into the model's arrays: there may be no memory for a third copy of the rows. */
static uc_status write_rounds(const uc_replay *self, uc_state *state)
{
    flat_rounds flat = {.rounds = self->count};
    for (size_t i = 0; i < self->count; i++) {
        const uc_row row = uc_replay_at(self, i)->row;
        flat.entries += row.count;
        if (row.columns)
            flat.columns_count += row.count;
    }
    uc_status status = remember_counts(&flat, state);
    if (status == UC_OK)
        status = write_outcomes(self, state);
    if (status == UC_OK)
        status = write_ends(self, state);
    if (status == UC_OK)
        status = write_values(self, state, flat.entries);
    if (status != UC_OK)
        return status;
    return write_columns(self, state, flat.columns_count);
}

static bool row_makes_sense(uc_row row, size_t features)
{
    for (size_t i = 0; i < row.count && row.columns; i++)
        if (row.columns[i] >= features || (i > 0 && row.columns[i] <= row.columns[i - 1]))
            return false;
    return row.count <= features;
}

static uc_status unflatten(uc_replay *self, const flat_rounds *flat, size_t features, size_t classes)
{
    uint64_t entries = 0, columns = 0;
    uc_status status = UC_OK;
    for (size_t i = 0; i < flat->rounds && status == UC_OK; i++) {
        const uint64_t end = flat->ends[i], count = end - entries;
        const bool sparse = flat->outcomes[i] & OUTCOME_SPARSE;
        const uint32_t proposed = flat->outcomes[i] >> OUTCOME_BITS;
        if (end < entries || end > flat->entries || (sparse && count > flat->columns_count - columns) ||
            proposed >= classes)
            return uc_state_damaged();
        uc_row row = {(size_t)count, flat->values + entries, NULL};
        if (sparse) {
            row.columns = flat->columns + columns;
            columns += count;
        }
        if (!row_makes_sense(row, features))
            return uc_state_damaged();
        uc_row copy;
        status = uc_replay_copy(&copy, self, row, SIZE_MAX);
        if (status == UC_OK)
            uc_replay_keep(self, copy, proposed, flat->outcomes[i] & OUTCOME_RIGHT, SIZE_MAX);
        entries = end;
    }
    return status;
}

/* The counts come from the file, but arrays are lent only if they have that length. */
static uc_status read_rounds(uc_replay *self, uc_state *state, size_t features, size_t classes)
{
    flat_rounds flat = {0};
    const uc_status status = remember_counts(&flat, state);
    if (status != UC_OK)
        return status;
    flat.outcomes = uc_state_lend(state, "state.replay.told", UC_ARRAY_U32, flat.rounds);
    flat.ends = uc_state_lend(state, "state.replay.ends", UC_ARRAY_U64, flat.rounds);
    flat.values = uc_state_lend(state, "state.replay.values", UC_ARRAY_F32, flat.entries);
    flat.columns = uc_state_lend(state, "state.replay.columns", UC_ARRAY_U32, flat.columns_count);
    if (!flat.outcomes || !flat.ends || !flat.values || !flat.columns)
        return UC_ERR_FORMAT;
    return unflatten(self, &flat, features, classes);
}

uc_status uc_replay_remember(uc_replay *self, uc_state *state, size_t features, size_t classes)
{
    if (state->reading)
        return read_rounds(self, state, features, classes);
    return write_rounds(self, state);
}
