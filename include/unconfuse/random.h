/* Random numbers from a counter-based generator (Philox 4x32-10, Random123).
 *
 * A generator is a small value: copy it to fork it, store it to resume it. Two generators with
 * different (seed, sequence) are independent. Every use of randomness has a sequence of its own,
 * so adding one use never changes another. */
#ifndef UNCONFUSE_RANDOM_H
#define UNCONFUSE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct uc_rng {
    uint64_t seed, sequence; /* the key, and half of the counter */
    uint64_t drawn;          /* 32-bit words drawn so far, which is the whole state */
    uint32_t words[4];       /* the current four words; recomputed from `drawn` on resuming */
} uc_rng;

uc_rng uc_rng_make(uint64_t seed, uint64_t sequence);
/* The generator of (seed, sequence) after `drawn` words. */
uc_rng uc_rng_resume(uint64_t seed, uint64_t sequence, uint64_t drawn);

uint32_t uc_rng_word(uc_rng *self);
double uc_rng_uniform(uc_rng *self);                 /* in [0, 1), 53 bits */
double uc_rng_normal(uc_rng *self);                  /* mean 0, deviation 1 */
uint64_t uc_rng_below(uc_rng *self, uint64_t bound); /* in [0, bound), exactly uniform; bound >= 1 */
void uc_rng_shuffle(uc_rng *self, size_t *items, size_t count);
/* Draws `chosen` different numbers below `count`, in random order; chosen <= count. `items` has room for
 * `count` numbers and is used as work space; its first `chosen` entries are the result. */
void uc_rng_choose(uc_rng *self, size_t *items, size_t count, size_t chosen);
/* An index drawn with probability proportional to weights[i] >= 0 (their sum must be > 0). */
size_t uc_rng_weighted(uc_rng *self, const double *weights, size_t count);

#ifdef __cplusplus
}
#endif

#endif
