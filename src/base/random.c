/*
 * Philox 4x32-10: quad q of sequence s under seed k is philox(counter = (q, s), key = k), four words per
 * quad. (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011.)
 */
#include "unconfuse/random.h"

#include <math.h>

#include <Random123/philox.h>

static void make_quad(uc_rng *self)
{
    const uint64_t quad = self->drawn / 4;
    const philox4x32_ctr_t counter = {
        {(uint32_t)quad, (uint32_t)(quad >> 32), (uint32_t)self->sequence, (uint32_t)(self->sequence >> 32)}};
    const philox4x32_key_t key = {{(uint32_t)self->seed, (uint32_t)(self->seed >> 32)}};
    const philox4x32_ctr_t words = philox4x32(counter, key);
    for (size_t i = 0; i < 4; i++)
        self->words[i] = words.v[i];
}

uc_rng uc_rng_resume(uint64_t seed, uint64_t sequence, uint64_t drawn)
{
    uc_rng self = {.seed = seed, .sequence = sequence, .drawn = drawn};
    make_quad(&self);
    return self;
}

uc_rng uc_rng_make(uint64_t seed, uint64_t sequence)
{
    return uc_rng_resume(seed, sequence, 0);
}

uint32_t uc_rng_word(uc_rng *self)
{
    if (self->drawn % 4 == 0)
        make_quad(self);
    return self->words[self->drawn++ % 4];
}

static uint64_t two_words(uc_rng *self)
{
    const uint64_t high = uc_rng_word(self);
    return high << 32 | uc_rng_word(self);
}

double uc_rng_uniform(uc_rng *self)
{
    return (double)(two_words(self) >> 11) * 0x1p-53;
}

/* Box and Muller's transformation; the second value is thrown away so that the state stays a counter. */
double uc_rng_normal(uc_rng *self)
{
    const double radius = sqrt(-2.0 * log(1.0 - uc_rng_uniform(self)));
    return radius * cos(2.0 * M_PI * uc_rng_uniform(self));
}

/* Values past the largest multiple of `bound` are drawn again, so that none is favoured. */
uint64_t uc_rng_below(uc_rng *self, uint64_t bound)
{
    if (bound <= 1)
        return 0;
    const uint64_t excess = (UINT64_MAX % bound + 1) % bound;
    uint64_t value;
    do
        value = two_words(self);
    while (value > UINT64_MAX - excess);
    return value % bound;
}

void uc_rng_shuffle(uc_rng *self, size_t *items, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        const size_t j = (size_t)uc_rng_below(self, i);
        const size_t item = items[i - 1];
        items[i - 1] = items[j];
        items[j] = item;
    }
}

void uc_rng_choose(uc_rng *self, size_t *items, size_t count, size_t chosen)
{
    for (size_t i = 0; i < count; i++)
        items[i] = i;
    for (size_t i = 0; i < chosen; i++) {
        const size_t j = i + (size_t)uc_rng_below(self, count - i);
        const size_t item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

size_t uc_rng_weighted(uc_rng *self, const double *weights, size_t count)
{
    double total = 0.0;
    for (size_t i = 0; i < count; i++)
        total += weights[i];
    const double u = uc_rng_uniform(self) * total;
    double sum = 0.0;
    size_t last = 0; /* rounding may leave u at the very end: the last weight above zero */
    for (size_t i = 0; i < count; i++) {
        sum += weights[i];
        if (weights[i] > 0.0)
            last = i;
        if (u < sum)
            return i;
    }
    return last;
}
