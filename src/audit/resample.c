/* Intervals of shares: the middle 95% of 200 resamples of the rows. */
#include "audit/resample.h"

#include <math.h>
#include <stdlib.h>

#include "unconfuse/random.h"

#define REPLICATES ((size_t)200)
#define OUTSIDE ((size_t)5) /* replicates outside the interval, on each side */
#define BOOTSTRAP_SEQUENCE 71

typedef struct resampling {
    const double *numbers;
    size_t rows, parts; /* numbers per row */
    double *shares;     /* parts x REPLICATES; those of part 0 are not used */
    uint64_t seed;
} resampling;

static uc_status resample(size_t replicate, void *user)
{
    resampling *self = user;
    uc_rng rng = uc_rng_make(self->seed, BOOTSTRAP_SEQUENCE + ((uint64_t)replicate << 32));
    double sums[1 + UC_MOST_SHARES] = {0};
    while (sums[0] == 0.0) /* if there are few rows, all the drawn ones may be without labels */
        for (size_t draw = 0; draw < self->rows; draw++) {
            const double *row = self->numbers + (size_t)uc_rng_below(&rng, self->rows) * self->parts;
            for (size_t p = 0; p < self->parts; p++)
                sums[p] += row[p];
        }
    for (size_t p = 0; p < self->parts; p++)
        self->shares[p * REPLICATES + replicate] = sums[p] / sums[0];
    return UC_OK;
}

static int compare_reals(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

uc_status uc_resample_shares(uc_share_estimate *const *shares, size_t count, const double *numbers,
                             size_t rows, uint64_t seed, const uc_context *context)
{
    resampling self = {numbers, rows, 1 + count, NULL, seed};
    const uc_context enough = uc_context_for_work(context, (double)REPLICATES * (double)(rows * self.parts));
    assert(count <= UC_MOST_SHARES);
    self.shares = uc_alloc(self.parts * REPLICATES, sizeof *self.shares);
    if (!self.shares)
        return UC_ERR_NOMEM;
    const uc_status status = uc_run_blocks(&enough, REPLICATES, resample, &self);
    for (size_t p = 0; p < count && status == UC_OK; p++) {
        double *of_share = self.shares + (1 + p) * REPLICATES;
        qsort(of_share, REPLICATES, sizeof *of_share, compare_reals);
        shares[p]->low = fmin(of_share[OUTSIDE], shares[p]->estimate);
        shares[p]->high = fmax(of_share[REPLICATES - 1 - OUTSIDE], shares[p]->estimate);
    }
    uc_free(self.shares);
    return status;
}
