/* A ring of rounds in bounded memory. */
#include "learn/replay.h"

#include <math.h>
#include <string.h>

#define BYTES_LIMIT ((size_t)1 << 28)

const uc_replay_round *uc_replay_at(const uc_replay *self, size_t i)
{
    return &self->rounds[(self->first + i) % self->capacity];
}

static size_t row_bytes(uc_row row)
{
    return row.count * (sizeof *row.values + (row.columns ? sizeof *row.columns : 0));
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

/* Room for one more, in order. */
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

/* The values, and behind them the columns. */
uc_status uc_replay_copy(uc_row *copy, uc_replay *self, uc_row row, size_t limit)
{
    const uc_status status = self->count < limit && self->count == self->capacity ? grow(self) : UC_OK;
    float *values = status == UC_OK ? uc_alloc(row_bytes(row), 1) : NULL;
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

double uc_replay_bytes(double rounds, double row_bytes)
{
    const double fitting = (double)BYTES_LIMIT / fmax(row_bytes, 1.0);
    return fmin(rounds, fitting) * (row_bytes + (double)sizeof(uc_replay_round));
}

/* ---- saving and resuming: all rows behind each other ---- */

enum { TOLD_RIGHT = 1, TOLD_SPARSE = 2, TOLD_BITS = 2 };

typedef struct flat_rounds {
    uint64_t rounds, entries, columns_count;
    uint32_t *told; /* proposed class, sparse, right */
    uint64_t *ends; /* where each row ends among the entries */
    float *values;
    uint32_t *columns; /* of the sparse rows */
} flat_rounds;

static uc_status alloc_flat(flat_rounds *flat)
{
    flat->told = uc_alloc(flat->rounds, sizeof *flat->told);
    flat->ends = uc_alloc(flat->rounds, sizeof *flat->ends);
    flat->values = uc_alloc(flat->entries, sizeof *flat->values);
    flat->columns = uc_alloc(flat->columns_count, sizeof *flat->columns);
    return flat->told && flat->ends && flat->values && flat->columns ? UC_OK : UC_ERR_NOMEM;
}

static void free_flat(flat_rounds *flat)
{
    uc_free(flat->told);
    uc_free(flat->ends);
    uc_free(flat->values);
    uc_free(flat->columns);
}

static uc_status flatten(flat_rounds *flat, const uc_replay *self)
{
    *flat = (flat_rounds){.rounds = self->count};
    for (size_t i = 0; i < self->count; i++) {
        const uc_row row = uc_replay_at(self, i)->row;
        flat->entries += row.count;
        flat->columns_count += row.columns ? row.count : 0;
    }
    const uc_status status = alloc_flat(flat);
    size_t entries = 0, columns = 0;
    for (size_t i = 0; i < self->count && status == UC_OK; i++) {
        const uc_replay_round *round = uc_replay_at(self, i);
        const uc_row row = round->row;
        flat->told[i] = (round->proposed << TOLD_BITS) | (row.columns ? TOLD_SPARSE : 0) |
                        (round->right ? TOLD_RIGHT : 0);
        if (row.count > 0)
            memcpy(flat->values + entries, row.values, row.count * sizeof *row.values);
        if (row.columns && row.count > 0)
            memcpy(flat->columns + columns, row.columns, row.count * sizeof *row.columns);
        entries += row.count;
        columns += row.columns ? row.count : 0;
        flat->ends[i] = entries;
    }
    return status;
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
        const bool sparse = flat->told[i] & TOLD_SPARSE;
        const uint32_t proposed = flat->told[i] >> TOLD_BITS;
        if (end < entries || end > flat->entries || (sparse && count > flat->columns_count - columns) ||
            proposed >= classes)
            return uc_state_damaged();
        const uc_row row = {(size_t)count, flat->values + entries, sparse ? flat->columns + columns : NULL};
        if (!row_makes_sense(row, features))
            return uc_state_damaged();
        uc_row copy;
        status = uc_replay_copy(&copy, self, row, SIZE_MAX);
        if (status == UC_OK)
            uc_replay_keep(self, copy, proposed, flat->told[i] & TOLD_RIGHT, SIZE_MAX);
        entries = end;
        columns += sparse ? count : 0;
    }
    return status;
}

/* The counts come from the file: they are believed only when arrays of that length are there. */
static uc_status check_counts(const flat_rounds *flat, const uc_state *state)
{
    const uc_array *told = uc_model_state_find(state->model, "state.replay.told");
    const uc_array *values = uc_model_state_find(state->model, "state.replay.values");
    const uc_array *columns = uc_model_state_find(state->model, "state.replay.columns");
    return told && values && columns && told->count == flat->rounds && values->count == flat->entries &&
                   columns->count == flat->columns_count
               ? UC_OK
               : uc_state_damaged();
}

uc_status uc_replay_remember(uc_replay *self, uc_state *state, size_t features, size_t classes)
{
    flat_rounds flat = {0};
    uc_status status = state->reading ? UC_OK : flatten(&flat, self);
    if (status == UC_OK)
        status = uc_state_counter(state, "replay_rounds", &flat.rounds);
    if (status == UC_OK)
        status = uc_state_counter(state, "replay_entries", &flat.entries);
    if (status == UC_OK)
        status = uc_state_counter(state, "replay_columns", &flat.columns_count);
    if (status == UC_OK && state->reading)
        status = check_counts(&flat, state);
    if (status == UC_OK && state->reading)
        status = alloc_flat(&flat);
    if (status == UC_OK)
        status = uc_state_array(state, "state.replay.told", UC_ARRAY_U32, flat.told, flat.rounds);
    if (status == UC_OK)
        status = uc_state_array(state, "state.replay.ends", UC_ARRAY_U64, flat.ends, flat.rounds);
    if (status == UC_OK)
        status = uc_state_array(state, "state.replay.values", UC_ARRAY_F32, flat.values, flat.entries);
    if (status == UC_OK)
        status =
            uc_state_array(state, "state.replay.columns", UC_ARRAY_U32, flat.columns, flat.columns_count);
    if (status == UC_OK && state->reading)
        status = unflatten(self, &flat, features, classes);
    free_flat(&flat);
    return status;
}
