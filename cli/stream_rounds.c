/* Rounds: propose a class, be told (at once, late, or never), learn.
 *
 * Feedback of round t arrives after the proposal of round t + delay. Until then a copy of the row waits in a queue:
 * behind a map the row as it was when it was proposed for, before landmarks that came later. */
#include "stream.h"

#include <stdlib.h>
#include <string.h>

#define STREAM_ORDER UINT64_C(0x636c692d6f726465) /* random numbers: "cli-orde" */
#define BLOCK_ROWS ((size_t)512)                  /* that go through the map together */

/* ---- copies of rows ---- */

void row_copy_set(row_copy *self, uc_row row)
{
    if (row.count > self->capacity) {
        self->capacity = row.count;
        self->values = cli_realloc(self->values, self->capacity, sizeof *self->values);
        free(self->columns);
        self->columns = NULL;
    }
    if (row.columns && !self->columns)
        self->columns = cli_calloc(self->capacity, sizeof *self->columns);
    if (row.count > 0)
        memcpy(self->values, row.values, row.count * sizeof *self->values);
    if (row.count > 0 && row.columns)
        memcpy(self->columns, row.columns, row.count * sizeof *self->columns);
    self->count = row.count;
    self->sparse = row.columns != NULL;
}

uc_row row_copy_view(const row_copy *self)
{
    return (uc_row){self->count, self->values, self->sparse ? self->columns : NULL};
}

void row_copy_free(row_copy *self)
{
    free(self->values);
    free(self->columns);
}

/* ---- learning ---- */

static uc_status learn(stream *self, uc_row row, const uc_proposal *proposal, uint32_t label, bool right)
{
    label_tally *told = &self->tally[label];
    uc_status status = UC_OK;
    if (!self->partial && told->known == UC_NONE)
        status = uc_online_add_class(&told->known, self->online, self->labels.text[label]);
    if (status != UC_OK)
        return status;
    const uc_answer answer = {!self->partial ? UC_ANSWER_LABEL
                              : right        ? UC_ANSWER_RIGHT
                                             : UC_ANSWER_WRONG,
                              told->known};
    return self->mapped ? uc_online_learn_prepared(self->online, &row, proposal, answer)
                        : uc_online_learn(self->online, &row, proposal, answer);
}

static uc_status deliver_first(stream *self)
{
    queue *late = &self->queue;
    waiting *slot = &late->slots[late->first];
    late->first = (late->first + 1) % late->capacity;
    late->count--;
    return learn(self, row_copy_view(&slot->row), &slot->proposal, slot->label, slot->right);
}

static uc_status grow_queue(stream *self)
{
    queue *late = &self->queue;
    const size_t capacity = late->capacity ? 2 * late->capacity : 64;
    const uc_status status = stream_check_memory(self, capacity);
    if (status != UC_OK)
        return status;
    waiting *slots = cli_calloc(capacity, sizeof *slots);
    for (size_t i = 0; i < late->count; i++)
        slots[i] = late->slots[(late->first + i) % late->capacity];
    free(late->slots);
    late->slots = slots;
    late->capacity = capacity;
    late->first = 0;
    return UC_OK;
}

static uc_status wait_for_feedback(stream *self, uc_row row, const uc_proposal *proposal, uint32_t label,
                                   bool right)
{
    queue *late = &self->queue;
    const uc_status status = late->count == late->capacity ? grow_queue(self) : UC_OK;
    if (status != UC_OK)
        return status;
    waiting *slot = &late->slots[(late->first + late->count++) % late->capacity];
    slot->due = self->rounds + self->args->delay;
    slot->proposal = *proposal;
    slot->label = label;
    slot->right = right;
    row_copy_set(&slot->row, row);
    return UC_OK;
}

/* `row` is prepared when there is a map, else raw; `label` is one of self->labels. */
static uc_status play(stream *self, uc_row row, uint32_t label)
{
    const stream_args *args = self->args;
    const queue *late = &self->queue;
    uc_proposal proposal;
    uc_status status = self->mapped ? uc_online_propose_prepared(&proposal, self->online, &row)
                                    : uc_online_propose(&proposal, self->online, &row);
    if (status != UC_OK)
        return status;
    const bool right = proposal.label != UC_NONE && proposal.label == self->tally[label].known;
    const bool told = args->missing == 0 || uc_rng_uniform(&self->missing) >= args->missing;
    while (status == UC_OK && late->count > 0 && late->slots[late->first].due <= self->rounds)
        status = deliver_first(self);
    if (status == UC_OK && told)
        status = args->delay ? wait_for_feedback(self, row, &proposal, label, right)
                             : learn(self, row, &proposal, label, right);
    if (status == UC_OK)
        stream_count_round(self, label, right, proposal.label);
    return status;
}

/* ---- labels ---- */

static uc_status list_label(stream *self, const char *name)
{
    const size_t before = self->labels.count;
    uint32_t label;
    const uc_status status = uc_names_add(&label, &self->labels, name, strlen(name));
    if (status != UC_OK)
        return status;
    if (self->labels.count > before) {
        self->tally = cli_realloc(self->tally, label + 1, sizeof *self->tally);
        self->tally[label] =
            (label_tally){.known = uc_names_find(uc_online_classes(self->online), name, strlen(name))};
    }
    self->listed = cli_realloc(self->listed, self->listed_count + 1, sizeof *self->listed);
    self->listed[self->listed_count++] = label;
    return UC_OK;
}

/* *out: the reader's class `label`, as one of self->labels. */
static uc_status find_label(uint32_t *out, stream *self, const uc_names *names, uint32_t label)
{
    if (label == UC_NONE)
        return cli_fail(UC_ERR_INVALID, "%s: example %zu has no label ('?'), which %s cannot use", self->path,
                        self->rounds + 1, uc_learner_name(self->learner));
    while (self->listed_count <= label) {
        const uc_status status = list_label(self, names->text[self->listed_count]);
        if (status != UC_OK)
            return status;
    }
    *out = self->listed[label];
    if (self->tally[*out].known == UC_NONE && !self->grows && !self->partial) {
        const char *told = self->args->classes;
        return cli_fail(UC_ERR_INVALID, "%s: label %s of example %zu is not among %s%s", self->path,
                        names->text[label], self->rounds + 1,
                        told ? "--classes " : "the classes: the file has changed since it was first read",
                        told ? told : "");
    }
    return UC_OK;
}

/* ---- blocks of rows ---- */

static uc_status play_row(stream *self, uc_row row, const uc_names *names, uint32_t listed)
{
    uint32_t label;
    uc_status status = find_label(&label, self, names, listed);
    if (status == UC_OK)
        status = play(self, row, label);
    return status == UC_OK ? cli_check_interrupt() : status;
}

/* The rows in the order given (NULL: as they are). */
static uc_status play_raw(stream *self, const uc_dataset *block, const uc_names *names, const size_t *order)
{
    uc_status status = UC_OK;
    for (size_t i = 0; status == UC_OK && i < block->X.rows; i++) {
        const size_t row = order ? order[i] : i;
        status = play_row(self, uc_matrix_row(&block->X, row), names, block->y[row]);
    }
    return status;
}

/* The same behind a map: a part of the block is mapped, then played. */
static uc_status play_mapped(stream *self, const uc_dataset *block, const uc_names *names,
                             const size_t *order)
{
    size_t rows[BLOCK_ROWS];
    uc_status status = UC_OK;
    for (size_t first = 0; status == UC_OK && first < block->X.rows; first += BLOCK_ROWS) {
        const size_t left = block->X.rows - first, count = left < BLOCK_ROWS ? left : BLOCK_ROWS;
        uc_matrix part = {0}, prepared = {0};
        for (size_t i = 0; i < count; i++)
            rows[i] = order ? order[first + i] : first + i;
        status = uc_matrix_subset(&part, &block->X, rows, count, &self->context);
        if (status == UC_OK)
            status = uc_online_prepare(&prepared, self->online, &part, &self->context);
        for (size_t i = 0; status == UC_OK && i < count; i++)
            status = play_row(self, uc_matrix_row(&prepared, i), names, block->y[rows[i]]);
        uc_matrix_free(&prepared);
        uc_matrix_free(&part);
    }
    return status;
}

/* Looks again at the memory when the block has more columns or classes than were known of. */
static uc_status check_block(stream *self, const uc_matrix *X, size_t labels)
{
    const size_t classes = self->grows && labels > self->classes ? labels : self->classes;
    if (X->cols <= self->columns && classes == self->classes)
        return UC_OK;
    if (X->cols > self->columns)
        self->columns = X->cols;
    self->classes = classes;
    self->row_bytes = (uc_matrix_is_sparse(X) ? 8 : 4) * (double)uc_matrix_entries(X) / (double)X->rows;
    return stream_check_memory(self, self->queue.capacity);
}

static uc_status play_block(stream *self, const uc_dataset *block, const uc_names *names, const size_t *order)
{
    if (!block->y)
        return cli_fail(UC_ERR_INVALID, "%s: the data have no labels", self->path);
    const uc_status status = check_block(self, &block->X, names->count);
    if (status != UC_OK)
        return status;
    return (self->mapped ? play_mapped : play_raw)(self, block, names, order);
}

/* ---- passes ---- */

static uc_status pass_over_file(stream *self)
{
    uc_reader *reader = NULL;
    const uc_dataset *block = NULL;
    uc_status status = uc_reader_open(&reader, self->path, &self->args->read, &self->context);
    self->listed_count = 0;
    while (status == UC_OK && (status = uc_reader_next(&block, reader)) == UC_OK && block)
        status = play_block(self, block, uc_reader_classes(reader), NULL);
    uc_reader_close(reader);
    return status == UC_OK ? cli_check_interrupt() : status;
}

/* An order of the rows; a new one comes from shuffling the last. */
typedef struct orders {
    uc_rng rng;
    size_t *rows, count;
} orders;

/* As after the passes before this run: a resumed stream goes on with the orders of one that never stopped. */
static orders begin_orders(const stream *self)
{
    const size_t count = self->data.X.rows;
    orders out = {uc_rng_make(self->seed, STREAM_ORDER), cli_calloc(count, sizeof *out.rows), count};
    for (size_t i = 0; i < count; i++)
        out.rows[i] = i;
    for (uint64_t pass = 0; count > 0 && pass < self->rounds_before / count; pass++) {
        uc_rng_shuffle(&out.rng, out.rows, count);
        if (cli_check_interrupt() != UC_OK) /* which is noticed again in the first round */
            break;
    }
    return out;
}

static uc_status pass_over_memory(stream *self, orders *order)
{
    uc_rng_shuffle(&order->rng, order->rows, order->count);
    return play_block(self, &self->data, &self->data.classes, order->rows);
}

uc_status stream_play(stream *self)
{
    const bool shuffled = self->args->shuffle;
    orders order = begin_orders(self);
    uc_status status = UC_OK;
    for (uint64_t pass = 0; status == UC_OK && pass < self->args->passes; pass++)
        status = shuffled ? pass_over_memory(self, &order) : pass_over_file(self);
    while (status == UC_OK && self->queue.count > 0) /* late feedback, in its order */
        status = deliver_first(self);
    free(order.rows);
    return status == UC_OK ? cli_check_interrupt() : status;
}
