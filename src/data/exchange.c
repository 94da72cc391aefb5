/*
 * Moving rows between processes. They travel as packets of 32-bit words, one row after the other:
 *
 *   label, bag, values               a dense row
 *   label, bag, n, columns, values   a sparse row
 *
 * After the bag come the weight and the soft labels, of two words each, if there are any. So n sparse rows
 * with e entries are (3 + extra) n + 2 e words, and the number of words gives e. Every process knows which
 * one has row i, since all know how many rows each process has.
 */
#define _GNU_SOURCE
#include "data/exchange.h"

#include <string.h>

#include "base/base.h"
#include "data/dataset.h"
#include "unconfuse/table.h"

#define WORDS_PER_REAL (sizeof(double) / sizeof(uint32_t))

/* The number of words for a row's weight and soft labels. */
static size_t extra_words(const uc_dataset *data)
{
    size_t reals = 0;
    if (data->weights)
        reals++;
    if (data->soft)
        reals += data->classes.count;
    return reals * WORDS_PER_REAL;
}

static size_t row_words(const uc_dataset *data, size_t i)
{
    const uc_matrix *X = &data->X;
    if (uc_matrix_is_sparse(X))
        return 3 + extra_words(data) + 2 * uc_matrix_row(X, i).count;
    return 2 + extra_words(data) + X->cols;
}

static uint32_t *pack_reals(uint32_t *at, const double *values, size_t count)
{
    memcpy(at, values, count * sizeof *values);
    return at + count * WORDS_PER_REAL;
}

static const uint32_t *unpack_reals(double *values, const uint32_t *at, size_t count)
{
    memcpy(values, at, count * sizeof *values);
    return at + count * WORDS_PER_REAL;
}

/* Writes a row and returns where the next one goes. */
static uint32_t *pack_row(uint32_t *at, const uc_dataset *data, size_t i)
{
    const uc_row row = uc_matrix_row(&data->X, i);
    *at++ = data->y ? data->y[i] : UC_NONE;
    *at++ = data->bag ? data->bag[i] : UC_NONE;
    if (data->weights)
        at = pack_reals(at, data->weights + i, 1);
    if (data->soft)
        at = pack_reals(at, data->soft + i * data->classes.count, data->classes.count);
    if (row.columns) {
        *at++ = (uint32_t)row.count;
        memcpy(at, row.columns, row.count * sizeof *at);
        at += row.count;
    }
    memcpy(at, row.values, row.count * sizeof *at);
    return at + row.count;
}

/* Reads row i of `out`, after the rows before it have been read, and returns where the next one begins. */
static const uint32_t *unpack_row(uc_dataset *out, size_t i, const uint32_t *at)
{
    uc_matrix *X = &out->X;
    const uint32_t y = *at++, bag = *at++;
    size_t count = X->cols, first = i * X->stride;
    if (out->weights)
        at = unpack_reals(out->weights + i, at, 1);
    if (out->soft)
        at = unpack_reals(out->soft + i * out->classes.count, at, out->classes.count);
    if (out->y)
        out->y[i] = y;
    if (out->bag)
        out->bag[i] = bag;
    if (uc_matrix_is_sparse(X)) {
        count = *at++;
        first = (size_t)X->offsets[i];
        memcpy(X->columns + first, at, count * sizeof *at);
        X->offsets[i + 1] = first + count;
        at += count;
    }
    memcpy(X->values + first, at, count * sizeof *at);
    return at + count;
}

/* Allocates `count` rows like those of `data`, which come in packets of `words` words; names are copied. */
static uc_status make_room(uc_dataset *out, const uc_dataset *data, size_t count, size_t words)
{
    uc_dataset room = {0};
    uc_dataset_shape shape = {
        .rows = count, .cols = data->X.cols, .labels = data->y, .bags = data->bag, .weights = data->weights};
    if (data->soft)
        shape.soft = data->classes.count;
    if (uc_matrix_is_sparse(&data->X)) {
        shape.sparse = true;
        shape.entries = (words - (3 + extra_words(data)) * count) / 2;
    }
    uc_status status = uc_dataset_create(&room, &shape);
    if (status != UC_OK)
        return status;
    status = uc_names_copy(&room.classes, &data->classes);
    if (status == UC_OK)
        status = uc_names_copy(&room.bags, &data->bags);
    if (status != UC_OK) {
        uc_dataset_free(&room);
        return status;
    }
    *out = room;
    return UC_OK;
}

/* starts[r]: the first row of process r; starts[size]: the number of all rows. */
static uc_status find_starts(size_t **starts, const uc_comm *comm, size_t rows)
{
    void *counts = NULL;
    size_t *found = uc_alloc((size_t)comm->size + 1, sizeof *found);
    if (!found)
        return UC_ERR_NOMEM;
    const uc_status status = uc_comm_gather(&counts, NULL, comm, &rows, sizeof rows);
    if (status != UC_OK) {
        uc_free(found);
        return status;
    }
    for (int r = 0; r < comm->size; r++)
        found[r + 1] = found[r] + ((const size_t *)counts)[r];
    uc_free(counts);
    *starts = found;
    return UC_OK;
}

/* ---- rows for all processes ---- */

/* Row k of the list; NULL: all rows. */
static size_t listed(const size_t *rows, size_t k)
{
    return rows ? rows[k] : k;
}

static size_t owner_of(const size_t *starts, size_t row)
{
    size_t owner = 0;
    while (row >= starts[owner + 1])
        owner++;
    return owner;
}

/* Gathers the packets of all processes. Each has the rows of the list that its process has, in the list's
 * order. */
static uc_status gather_packets(uint32_t **packets, size_t *sizes, const uc_dataset *data, const size_t *rows,
                                size_t count, const size_t *starts, const uc_comm *comm)
{
    const size_t begin = starts[comm->rank], end = starts[comm->rank + 1];
    size_t words = 0;
    for (size_t k = 0; k < count; k++) {
        const size_t row = listed(rows, k);
        if (row >= begin && row < end)
            words += row_words(data, row - begin);
    }
    uint32_t *mine = uc_alloc(words, sizeof *mine), *at = mine;
    if (!mine)
        return UC_ERR_NOMEM;
    for (size_t k = 0; k < count; k++) {
        const size_t row = listed(rows, k);
        if (row >= begin && row < end)
            at = pack_row(at, data, row - begin);
    }
    const uc_status status = uc_comm_gather((void **)packets, sizes, comm, mine, words * sizeof *mine);
    uc_free(mine);
    return status;
}

static uc_status unpack_list(uc_dataset *out, const uc_dataset *data, const size_t *rows, size_t count,
                             const size_t *starts, const uint32_t *packets, const size_t *sizes,
                             size_t processes)
{
    const uint32_t **next = uc_alloc(processes, sizeof *next); /* the next row in each process's packet */
    if (!next)
        return UC_ERR_NOMEM;
    size_t words = 0;
    for (size_t r = 0; r < processes; r++) {
        next[r] = packets + words;
        words += sizes[r] / sizeof *packets;
    }
    const uc_status status = make_room(out, data, count, words);
    for (size_t k = 0; k < count && status == UC_OK; k++) {
        const size_t owner = owner_of(starts, listed(rows, k));
        next[owner] = unpack_row(out, k, next[owner]);
    }
    uc_free(next);
    return status;
}

uc_status uc_gather_dataset(uc_dataset *out, const uc_dataset *data, const size_t *rows, size_t count,
                            const uc_context *context)
{
    const uc_comm *comm = uc_comm_of(context);
    if (!uc_is_shared(context))
        return uc_dataset_subset(out, data, rows, count, context);
    const size_t processes = (size_t)comm->size;
    uint32_t *packets = NULL;
    size_t *starts = NULL, *sizes = uc_alloc(processes, sizeof *sizes);
    if (!sizes)
        return UC_ERR_NOMEM;
    uc_status status = find_starts(&starts, comm, data->X.rows);
    if (status != UC_OK)
        goto cleanup;
    if (!rows)
        count = starts[processes];
    status = gather_packets(&packets, sizes, data, rows, count, starts, comm);
    if (status != UC_OK)
        goto cleanup;
    status = unpack_list(out, data, rows, count, starts, packets, sizes, processes);
    if (status == UC_OK)
        out->table = uc_table_share(data->table);

cleanup:
    uc_free(packets);
    uc_free(sizes);
    uc_free(starts);
    return status;
}

uc_status uc_gather_matrix(uc_matrix *out, const uc_matrix *X, const size_t *rows, size_t count,
                           const uc_context *context)
{
    if (!uc_is_shared(context))
        return uc_matrix_subset(out, X, rows, count, context);
    const uc_dataset plain = {.X = *X};
    uc_dataset gathered = {0};
    const uc_status status = uc_gather_dataset(&gathered, &plain, rows, count, context);
    if (status == UC_OK)
        *out = gathered.X;
    return status;
}

static uc_status gather_words(uint32_t **out, const uint32_t *words, size_t count, const uc_context *context)
{
    if (!words)
        return UC_OK;
    return uc_comm_gather((void **)out, NULL, uc_comm_of(context), words, count * sizeof *words);
}

uc_status uc_gather_labels(uc_dataset *out, const uc_dataset *data, const uc_context *context)
{
    uc_share share;
    *out = (uc_dataset){.classes = data->classes, .bags = data->bags};
    uc_status status = uc_share_of(&share, context, data->X.rows);
    out->X.rows = share.total;
    if (status == UC_OK)
        status = gather_words(&out->y, data->y, data->X.rows, context);
    if (status == UC_OK)
        status = gather_words(&out->bag, data->bag, data->X.rows, context);
    if (status != UC_OK)
        uc_free_labels(out);
    return status;
}

void uc_free_labels(uc_dataset *self)
{
    uc_free(self->y);
    uc_free(self->bag);
    *self = (uc_dataset){0};
}

/* ---- redistributing rows ---- */

typedef struct deal {
    const uc_comm *comm;
    size_t processes;
    const size_t *had, *wanted; /* starts */
    size_t *sent, *received;    /* bytes, per process */
    uint32_t **out_packets, **in_packets;
} deal;

static size_t overlap(size_t *first, const size_t *a, size_t i, const size_t *b, size_t j)
{
    const size_t begin = uc_max_size(a[i], b[j]), end = uc_min_size(a[i + 1], b[j + 1]);
    *first = begin;
    return end > begin ? end - begin : 0;
}

static uc_status pack_for_all(deal *self, const uc_dataset *data)
{
    const size_t me = (size_t)self->comm->rank;
    for (size_t r = 0; r < self->processes; r++) {
        size_t first, words = 0;
        const size_t count = overlap(&first, self->had, me, self->wanted, r);
        for (size_t i = 0; i < count; i++)
            words += row_words(data, first - self->had[me] + i);
        uint32_t *at = self->out_packets[r] = uc_alloc(words, sizeof *at);
        if (!at)
            return UC_ERR_NOMEM;
        for (size_t i = 0; i < count; i++)
            at = pack_row(at, data, first - self->had[me] + i);
        self->sent[r] = words * sizeof *at;
    }
    return UC_OK;
}

/* Sets received[r] to the bytes that process r sends to this one: row r, column `rank` of the table that all
 * processes fill. */
static uc_status tell_sizes(deal *self)
{
    void *table = NULL;
    const size_t R = self->processes;
    const uc_status status = uc_comm_gather(&table, NULL, self->comm, self->sent, R * sizeof *self->sent);
    for (size_t r = 0; r < R && status == UC_OK; r++)
        self->received[r] = ((const size_t *)table)[r * R + (size_t)self->comm->rank];
    uc_free(table);
    return status;
}

static uc_status receive(deal *self)
{
    for (size_t r = 0; r < self->processes; r++) {
        self->in_packets[r] = uc_alloc(self->received[r], 1);
        if (!self->in_packets[r])
            return UC_ERR_NOMEM;
    }
    return self->comm->exchange(self->comm, (void *const *)self->in_packets, self->received,
                                (const void *const *)self->out_packets, self->sent);
}

static uc_status unpack_all(uc_dataset *out, const deal *self, const uc_dataset *data)
{
    const size_t me = (size_t)self->comm->rank;
    size_t words = 0, row = 0;
    for (size_t r = 0; r < self->processes; r++)
        words += self->received[r] / sizeof(uint32_t);
    const uc_status status = make_room(out, data, self->wanted[me + 1] - self->wanted[me], words);
    for (size_t r = 0; r < self->processes && status == UC_OK; r++) {
        size_t first;
        const size_t count = overlap(&first, self->had, r, self->wanted, me);
        const uint32_t *at = self->in_packets[r];
        for (size_t i = 0; i < count; i++)
            at = unpack_row(out, row++, at);
    }
    return status;
}

uc_status uc_deal_rows(uc_dataset *out, const uc_dataset *data, const size_t *starts,
                       const uc_context *context)
{
    const uc_comm *comm = uc_comm_of(context);
    if (!uc_is_shared(context))
        return uc_dataset_subset(out, data, NULL, 0, context);
    size_t *had = NULL;
    uc_status status = find_starts(&had, comm, data->X.rows);
    if (status != UC_OK)
        return status;
    const size_t R = (size_t)comm->size;
    deal self = {comm,
                 R,
                 had,
                 starts,
                 uc_alloc(R, sizeof(size_t)),
                 uc_alloc(R, sizeof(size_t)),
                 uc_alloc(R, sizeof(uint32_t *)),
                 uc_alloc(R, sizeof(uint32_t *))};
    const bool ready = self.sent && self.received && self.out_packets && self.in_packets;
    status = UC_ERR_NOMEM;
    if (ready)
        status = pack_for_all(&self, data);
    if (status == UC_OK)
        status = tell_sizes(&self);
    if (status == UC_OK)
        status = receive(&self);
    for (size_t r = 0; r < R && ready; r++)
        uc_free(self.out_packets[r]);
    if (status == UC_OK)
        status = unpack_all(out, &self, data);
    for (size_t r = 0; r < R && ready; r++)
        uc_free(self.in_packets[r]);
    uc_free(self.in_packets);
    uc_free(self.out_packets);
    uc_free(self.received);
    uc_free(self.sent);
    uc_free(had);
    return status;
}

uc_status uc_even_starts(size_t **starts, size_t total, const uc_comm *comm)
{
    const size_t R = (size_t)uc_comm_size(comm);
    size_t *even = uc_alloc(R + 1, sizeof *even);
    if (!even)
        return UC_ERR_NOMEM;
    for (size_t r = 0; r <= R; r++)
        even[r] = uc_even_start(total, R, r);
    *starts = even;
    return UC_OK;
}

/* ---- names ---- */

/* The names of all processes, each with its terminating zero: `*total` bytes, which the caller frees. */
static uc_status gather_texts(char **all, size_t *total, const uc_names *self, const uc_comm *comm)
{
    size_t length = 0;
    for (size_t k = 0; k < self->count; k++)
        length += strlen(self->text[k]) + 1;
    char *mine = uc_alloc(length, 1);
    size_t *sizes = uc_alloc((size_t)uc_comm_size(comm), sizeof *sizes);
    uc_status status = UC_ERR_NOMEM;
    if (!mine || !sizes)
        goto cleanup;
    char *at = mine;
    for (size_t k = 0; k < self->count; k++)
        at = stpcpy(at, self->text[k]) + 1;
    status = uc_comm_gather((void **)all, sizes, comm, mine, length);
    *total = 0;
    for (int r = 0; r < uc_comm_size(comm) && status == UC_OK; r++)
        *total += sizes[r];

cleanup:
    uc_free(sizes);
    uc_free(mine);
    return status;
}

static uc_status add_name(uint32_t *index, uc_names *self, const char *name, bool labels)
{
    if (labels)
        return uc_names_add_label(index, self, name, strlen(name));
    return uc_names_add(index, self, name, strlen(name));
}

uc_status uc_merge_names(uc_names *self, uint32_t *renumber, bool labels, const uc_context *context)
{
    char *all = NULL;
    size_t total;
    uc_status status = gather_texts(&all, &total, self, uc_comm_of(context));
    if (status != UC_OK)
        return status;
    uc_names merged = {0};
    uint32_t index;
    for (const char *name = all; status == UC_OK && name < all + total; name += strlen(name) + 1)
        status = add_name(&index, &merged, name, labels);
    uc_free(all);
    if (status != UC_OK) {
        uc_names_free(&merged);
        return status;
    }
    for (size_t k = 0; k < self->count; k++) {
        const size_t length = strlen(self->text[k]);
        renumber[k] = labels ? uc_names_find_label(&merged, self->text[k], length)
                             : uc_names_find(&merged, self->text[k], length);
    }
    uc_names_free(self);
    *self = merged;
    return UC_OK;
}
