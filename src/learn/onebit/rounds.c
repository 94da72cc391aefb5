/* A ring of rounds; each round is a row of several arrays. */
#include "learn/onebit/rounds.h"

#include <string.h>

#define DOUBTFUL (UINT32_C(1) << 31)
/* From this number of bytes on, the ring grows to its limit at once: growing would copy it again and again,
 * and memory that no round has reached yet is not in use. */
#define LARGE 8e6

double uc_rounds_bytes(size_t columns, size_t features, size_t classes)
{
    return 4.0 * ((double)columns + (double)features + (double)classes + 3.0);
}

void uc_rounds_free(uc_rounds *self)
{
    uc_free(self->rows);
    uc_free(self->phi);
    uc_free(self->targets);
    uc_free(self->leverage);
    uc_free(self->weight);
    uc_free(self->answer);
    *self = (uc_rounds){0};
}

static size_t place(const uc_rounds *self, size_t i)
{
    return (self->first + i) % self->capacity;
}

static uc_status allocate(uc_rounds *out, size_t capacity, size_t columns, size_t features, size_t classes)
{
    uc_rounds self = {.capacity = capacity, .columns = columns, .features = features, .classes = classes};
    self.rows = uc_alloc(capacity * columns, sizeof *self.rows);
    self.phi = uc_alloc(capacity * features, sizeof *self.phi);
    self.targets = uc_alloc(capacity * classes, sizeof *self.targets);
    self.leverage = uc_alloc(capacity, sizeof *self.leverage);
    self.weight = uc_alloc(capacity, sizeof *self.weight);
    self.answer = uc_alloc(capacity, sizeof *self.answer);
    if (!self.rows || !self.phi || !self.targets || !self.leverage || !self.weight || !self.answer) {
        uc_rounds_free(&self);
        return UC_ERR_NOMEM;
    }
    *out = self;
    return UC_OK;
}

static void copy_line(float *to, const float *from, size_t count)
{
    if (count > 0)
        memcpy(to, from, count * sizeof *to);
}

/* Copies all rounds, in order, to arrays of another shape. */
static uc_status copy(uc_rounds *out, const uc_rounds *self, size_t capacity, size_t columns, size_t features,
                      size_t classes)
{
    uc_rounds moved;
    const uc_status status = allocate(&moved, capacity, columns, features, classes);
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < self->count; i++) {
        const size_t at = place(self, i);
        copy_line(moved.rows + i * columns, self->rows + at * self->columns,
                  uc_min_size(columns, self->columns));
        copy_line(moved.targets + i * classes, self->targets + at * self->classes,
                  uc_min_size(classes, self->classes));
        if (features == self->features)
            copy_line(moved.phi + i * features, self->phi + at * features, features);
        moved.leverage[i] = self->leverage[at];
        moved.weight[i] = self->weight[at];
        moved.answer[i] = self->answer[at];
    }
    moved.count = self->count;
    *out = moved;
    return UC_OK;
}

static uc_status move(uc_rounds *self, size_t capacity, size_t columns, size_t features, size_t classes)
{
    uc_rounds moved;
    const uc_status status = copy(&moved, self, capacity, columns, features, classes);
    if (status != UC_OK)
        return status;
    uc_rounds_free(self);
    *self = moved;
    return UC_OK;
}

uc_status uc_rounds_reshape(uc_rounds *self, size_t columns, size_t features, size_t classes)
{
    if (columns == self->columns && features == self->features && classes == self->classes)
        return UC_OK;
    return move(self, self->capacity, columns, features, classes);
}

uc_status uc_rounds_reserve(uc_rounds *self, size_t limit)
{
    if (self->count < self->capacity || self->capacity >= limit)
        return UC_OK;
    const double each = uc_rounds_bytes(self->columns, self->features, self->classes);
    size_t capacity = limit;
    if ((double)self->capacity * each < LARGE)
        capacity = uc_min_size(uc_grown(self->capacity, self->count + 1), limit);
    return move(self, capacity, self->columns, self->features, self->classes);
}

static uint32_t class_of(uint32_t answer)
{
    return (answer & ~DOUBTFUL) >> 1;
}

uc_past_round uc_rounds_at(const uc_rounds *self, size_t i)
{
    const size_t at = place(self, i);
    return (uc_past_round){.row = self->rows + at * self->columns,
                           .phi = self->phi + at * self->features,
                           .target = self->targets + at * self->classes,
                           .leverage = self->leverage + at,
                           .weight = (double)self->weight[at],
                           .class = class_of(self->answer[at]),
                           .known = self->answer[at] & 1,
                           .right = self->answer[at] & (DOUBTFUL | 1)};
}

void uc_rounds_weigh(uc_rounds *self, size_t i, double factor)
{
    const size_t at = place(self, i);
    self->weight[at] = (float)((double)self->weight[at] * factor);
}

void uc_rounds_forget(uc_rounds *self, size_t kept)
{
    if (self->count <= kept)
        return;
    self->first = place(self, self->count - kept);
    self->count = kept;
}

uc_past_round uc_rounds_add(uc_rounds *self, const uc_onebit_answer *answer, size_t limit)
{
    if (self->count >= limit)
        uc_rounds_forget(self, limit - 1);
    const size_t at = place(self, self->count++);
    self->answer[at] = answer->class << 1 | answer->known;
    if (answer->right && !answer->known)
        self->answer[at] |= DOUBTFUL;
    self->weight[at] = (float)answer->weight;
    self->leverage[at] = 0.0f;
    return uc_rounds_at(self, self->count - 1);
}

/* ---- saving and resuming: the oldest first ---- */

static uc_status check_answers(const uc_rounds *self)
{
    for (size_t i = 0; i < self->count; i++)
        if (class_of(self->answer[i]) >= self->classes || !(self->weight[i] > 0.0f) ||
            !(self->leverage[i] >= 0.0f && self->leverage[i] <= 1.0f))
            return uc_state_damaged();
    return UC_OK;
}

static uc_status remember_arrays(uc_rounds *self, uc_state *state)
{
    const size_t count = self->count;
    uc_status status =
        uc_state_array(state, "state.rounds.rows", UC_ARRAY_F32, self->rows, count * self->columns);
    if (status == UC_OK)
        status =
            uc_state_array(state, "state.rounds.targets", UC_ARRAY_F32, self->targets, count * self->classes);
    if (status == UC_OK)
        status = uc_state_array(state, "state.rounds.leverage", UC_ARRAY_F32, self->leverage, count);
    if (status == UC_OK)
        status = uc_state_array(state, "state.rounds.weight", UC_ARRAY_F32, self->weight, count);
    if (status == UC_OK)
        status = uc_state_array(state, "state.rounds.answer", UC_ARRAY_U32, self->answer, count);
    return status;
}

static uc_status write_rounds(const uc_rounds *self, uc_state *state)
{
    uc_rounds ordered;
    uc_status status = copy(&ordered, self, self->count, self->columns, 0, self->classes);
    if (status != UC_OK)
        return status;
    status = remember_arrays(&ordered, state);
    uc_rounds_free(&ordered);
    return status;
}

/* The count comes from a file: arrays are only used if they have that length. */
static uc_status read_rounds(uc_rounds *self, uc_state *state, size_t count, size_t limit)
{
    uc_rounds read;
    if (count > limit || !uc_state_lend(state, "state.rounds.answer", UC_ARRAY_U32, count))
        return uc_state_damaged();
    uc_status status =
        allocate(&read, uc_min_size(uc_grown(0, count), limit), self->columns, self->features, self->classes);
    if (status != UC_OK)
        return status;
    read.count = count;
    status = remember_arrays(&read, state);
    if (status == UC_OK)
        status = check_answers(&read);
    if (status != UC_OK) {
        uc_rounds_free(&read);
        return status;
    }
    uc_rounds_free(self);
    *self = read;
    return UC_OK;
}

uc_status uc_rounds_remember(uc_rounds *self, uc_state *state, size_t limit)
{
    uint64_t count = self->count;
    const uc_status status = uc_state_counter(state, "rounds_kept", &count);
    if (status != UC_OK)
        return status;
    if (state->reading)
        return read_rounds(self, state, (size_t)count, limit);
    return write_rounds(self, state);
}
