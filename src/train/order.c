/* Random orders of rows. Each is a shuffle of the previous one; a resumed stream therefore repeats the
 * shuffles of the passes that were completed. */
#include "train/order.h"

#include <assert.h>

/* Every row occurs once: the sums of the row numbers and of their squares equal those of 0 .. count-1, modulo
 * 2^64. */
static void check_permutation(const uc_order *self)
{
    uint64_t sum = 0, squares = 0;
    for (uint64_t i = 0; i < self->count; i++) {
        const uint64_t row = self->rows[i];
        assert(row < self->count);
        sum += row - i;
        squares += row * row - i * i;
    }
    assert(sum == 0 && squares == 0);
    (void)sum;
    (void)squares;
}

uc_status uc_order_begin(uc_order *out, size_t count, uint64_t seed, uint64_t sequence)
{
    uc_order self = {uc_rng_make(seed, sequence), uc_alloc(count, sizeof *self.rows), count};
    if (!self.rows)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        self.rows[i] = i;
    *out = self;
    return UC_OK;
}

void uc_order_next(uc_order *self)
{
    uc_rng_shuffle(&self->rng, self->rows, self->count);
    check_permutation(self);
}

void uc_order_free(uc_order *self)
{
    uc_free(self->rows);
    *self = (uc_order){0};
}
