/* What several processes do together, built on the few functions of a comm. A process that works alone never
 * waits. */
#include <string.h>

#include "parallel/parallel.h"

#define SENTENCE_BYTES 1024
#define COLLECT_BYTES ((size_t)16 << 20) /* per message */

int uc_comm_rank(const uc_comm *self)
{
    return self ? self->rank : 0;
}

int uc_comm_size(const uc_comm *self)
{
    return self ? self->size : 1;
}

int uc_comm_neighbours(const uc_comm *self)
{
    return self ? self->neighbours : 1;
}

uc_traffic uc_comm_traffic(const uc_comm *self)
{
    if (!self || !self->traffic)
        return (uc_traffic){0};
    return *self->traffic;
}

uc_status uc_comm_sum(const uc_comm *self, double *values, size_t length)
{
    if (uc_comm_size(self) == 1)
        return UC_OK;
    return self->sum(self, values, length);
}

/* Sets sizes[r] to the size that process r passes; sizes up to 2^53 are exact. */
static uc_status exchange_sizes(size_t *sizes, const uc_comm *self, size_t mine)
{
    const size_t processes = (size_t)self->size;
    double *counts = uc_alloc(processes, sizeof *counts);
    if (!counts)
        return UC_ERR_NOMEM;
    counts[self->rank] = (double)mine;
    const uc_status status = self->sum(self, counts, processes);
    for (size_t r = 0; r < processes && status == UC_OK; r++)
        sizes[r] = (size_t)counts[r];
    uc_free(counts);
    return status;
}

/* Where the piece of this process begins in the pieces of all processes, and their total length. */
static uc_share share_of_sizes(const uc_comm *self, const size_t *sizes)
{
    uc_share share = {0, 0};
    for (int r = 0; r < self->size; r++) {
        if (r == self->rank)
            share.first = share.total;
        share.total += sizes[r];
    }
    return share;
}

static uc_status gather_pieces(void **all, size_t *sizes, const uc_comm *self, const void *piece,
                               size_t bytes)
{
    uc_status status = exchange_sizes(sizes, self, bytes);
    if (status != UC_OK)
        return status;
    const uc_share share = share_of_sizes(self, sizes);
    char *pieces = uc_alloc(share.total, 1);
    if (!pieces)
        return UC_ERR_NOMEM;
    if (bytes > 0)
        memcpy(pieces + share.first, piece, bytes);
    status = self->gather(self, pieces, sizes);
    if (status == UC_OK)
        *all = pieces;
    else
        uc_free(pieces);
    return status;
}

uc_status uc_comm_gather(void **all, size_t *sizes, const uc_comm *self, const void *piece, size_t bytes)
{
    if (uc_comm_size(self) == 1) {
        *all = uc_alloc(bytes, 1);
        if (!*all)
            return UC_ERR_NOMEM;
        if (bytes > 0)
            memcpy(*all, piece, bytes);
        if (sizes)
            sizes[0] = bytes;
        return UC_OK;
    }
    if (sizes)
        return gather_pieces(all, sizes, self, piece, bytes);
    size_t *own = uc_alloc((size_t)self->size, sizeof *own);
    if (!own)
        return UC_ERR_NOMEM;
    const uc_status status = gather_pieces(all, own, self, piece, bytes);
    uc_free(own);
    return status;
}

uc_status uc_share_of(uc_share *out, const uc_context *context, size_t rows)
{
    const uc_comm *comm = uc_comm_of(context);
    *out = (uc_share){0, rows};
    if (uc_comm_size(comm) == 1)
        return UC_OK;
    size_t *counts = uc_alloc((size_t)comm->size, sizeof *counts);
    if (!counts)
        return UC_ERR_NOMEM;
    const uc_status status = exchange_sizes(counts, comm, rows);
    if (status == UC_OK)
        *out = share_of_sizes(comm, counts);
    uc_free(counts);
    return status;
}

/* ---- agreeing ---- */

void uc_name_rank(char *sentence, size_t size, int rank)
{
    char named[SENTENCE_BYTES + 16];
    if (strncmp(sentence, "rank ", 5) == 0)
        return;
    snprintf(named, sizeof named, "rank %d: %s", rank, sentence);
    snprintf(sentence, size, "%.*s", (int)size - 1, named);
}

uc_status(uc_comm_agree)(const uc_comm *self, uc_status status)
{
    return uc_comm_agree_on(self, status, uc_last_error());
}

uc_status uc_comm_agree_on(const uc_comm *self, uc_status status, const char *reason)
{
    if (uc_comm_size(self) == 1)
        return status;
    char sentence[SENTENCE_BYTES] = {0};
    if (status != UC_OK)
        snprintf(sentence, sizeof sentence, "%s", reason);
    double failures = 0.0;
    const uc_status counted = self->count_failures(self, &failures, status != UC_OK);
    if (counted != UC_OK && status != UC_OK)
        return uc_fail_again(status, "", sentence);
    if (counted != UC_OK || failures == 0.0)
        return counted;
    const bool all_failed = failures == (double)self->size;
    const size_t record = sizeof(int) + sizeof sentence;
    char mine[sizeof(int) + sizeof sentence], *all = NULL;
    const int code = status;
    memcpy(mine, &code, sizeof code);
    memcpy(mine + sizeof code, sentence, sizeof sentence);
    const uc_status gathered = uc_comm_gather((void **)&all, NULL, self, mine, record);
    if (gathered != UC_OK)
        return gathered;
    int first = 0, agreed = 0;
    for (; first < self->size && agreed == 0; first++)
        memcpy(&agreed, all + (size_t)first * record, sizeof agreed);
    memcpy(sentence, all + (size_t)(first - 1) * record + sizeof code, sizeof sentence);
    uc_free(all);
    if (!all_failed) /* a failure of all is not the fault of one */
        uc_name_rank(sentence, sizeof sentence, first - 1);
    return uc_fail_again((uc_status)agreed, "", sentence);
}

uc_status uc_comm_same(const uc_comm *self, const char *text, const char *what)
{
    if (uc_comm_size(self) == 1)
        return UC_OK;
    char *all = NULL;
    size_t *sizes = uc_alloc((size_t)self->size, sizeof *sizes);
    if (!sizes)
        return UC_ERR_NOMEM;
    uc_status status = uc_comm_gather((void **)&all, sizes, self, text, strlen(text) + 1);
    const char *theirs = all;
    for (int r = 0; r < self->size && status == UC_OK; theirs += sizes[r++])
        if (strcmp(theirs, all) != 0)
            status =
                uc_fail(UC_ERR_INVALID, "rank %d: %s is %s, but that of rank 0 is %s", r, what, theirs, all);
    uc_free(all);
    uc_free(sizes);
    return status;
}

/* ---- collecting ---- */

/* The memory for collecting. It is allocated before the first piece arrives, so that later only `take` can
 * fail. */
typedef struct collection {
    size_t *sizes; /* of all pieces */
    size_t *bytes; /* to receive from each process, then to send to each */
    void **places; /* where they go, then where they come from */
    char *part;    /* the bytes that process 0 has just received */
} collection;

/* Collects the piece of process r, part by part. If `take` fails, the rest is still received, because it is
 * sent anyway. */
static uc_status collect_piece(uc_status *taken, const uc_comm *self, int r, const char *piece,
                               const collection *mine, uc_take_fn *take, void *user)
{
    const size_t processes = (size_t)self->size, length = mine->sizes[r];
    const bool sends = self->rank == r, receives = self->rank == 0;
    uc_status status = UC_OK;
    memset(mine->bytes, 0, 2 * processes * sizeof *mine->bytes);
    mine->places[r] = mine->part;
    mine->places[processes] = NULL;
    for (size_t at = 0; at < length && status == UC_OK; at += COLLECT_BYTES) {
        const size_t count = uc_min_size(length - at, COLLECT_BYTES);
        if (receives)
            mine->bytes[r] = count;
        if (sends) {
            mine->bytes[processes] = count;
            mine->places[processes] = (char *)(uintptr_t)piece + at;
        }
        status = self->exchange(self, mine->places, mine->bytes,
                                (const void *const *)(mine->places + processes), mine->bytes + processes);
        if (status == UC_OK && receives && *taken == UC_OK)
            *taken = take(mine->part, count, user);
    }
    return status;
}

static uc_status collect_pieces(const uc_comm *self, const void *bytes, size_t length, const collection *mine,
                                uc_take_fn *take, void *user)
{
    uc_status taken = UC_OK;
    for (int r = 0; r < self->size; r++)
        mine->bytes[r] = sizeof *mine->sizes;
    mine->sizes[self->rank] = length;
    uc_status status = self->gather(self, mine->sizes, mine->bytes);
    for (int r = 1; r < self->size && status == UC_OK; r++)
        status = collect_piece(&taken, self, r, bytes, mine, take, user);
    return status == UC_OK ? taken : status;
}

uc_status uc_comm_collect(const uc_comm *self, const void *bytes, size_t length, uc_take_fn *take, void *user)
{
    uc_status status = UC_OK;
    if (uc_comm_rank(self) == 0 && length > 0)
        status = take(bytes, length, user);
    if (uc_comm_size(self) == 1)
        return status;
    const size_t processes = (size_t)self->size;
    const collection mine = {.sizes = uc_alloc(processes, sizeof *mine.sizes),
                             .bytes = uc_alloc(2 * processes, sizeof *mine.bytes),
                             .places = uc_alloc(2 * processes, sizeof *mine.places),
                             .part = uc_alloc(self->rank == 0 ? COLLECT_BYTES : 1, 1)};
    if (status == UC_OK && !(mine.sizes && mine.bytes && mine.places && mine.part))
        status = UC_ERR_NOMEM;
    status = uc_comm_agree(self, status);
    if (status == UC_OK)
        status = collect_pieces(self, bytes, length, &mine, take, user);
    uc_free(mine.part);
    uc_free(mine.places);
    uc_free(mine.bytes);
    uc_free(mine.sizes);
    return status;
}

uc_status uc_comm_end(const uc_comm *self, uc_status status, const char *sentence, uc_warn_fn *tell,
                      void *user, int code)
{
    if (self && self->end)
        return self->end(self, status, sentence, tell, user, code);
    if (status != UC_OK)
        tell(sentence, user);
    return status;
}
