/* Random orders of rows. Each is a shuffle of the one before, so a stream that is resumed repeats the shuffles of the
 * passes that it has behind it. */
#include "train/order.h"

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
}

void uc_order_free(uc_order *self)
{
    uc_free(self->rows);
    *self = (uc_order){0};
}
