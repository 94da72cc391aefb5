/* The map that onebit learns on: landmarks among the rounds that it remembers, and a choice of how rows are
 * prepared and how wide the kernel is. */
#ifndef UC_ONEBIT_CHOICE_H
#define UC_ONEBIT_CHOICE_H

#include "learn/onebit/view.h"
#include "unconfuse/random.h"

#define UC_ONEBIT_MOST_LANDMARKS ((size_t)4096)
#define UC_ONEBIT_MOST_LINEAR ((size_t)1024) /* columns, before there are landmarks */

typedef struct uc_onebit_choice {
    double prior, jitter; /* A starts as prior (I, and K + jitter I on the kernel values) */
    size_t landmarks;     /* at most */
    size_t linear;        /* z is a feature up to so many columns */
} uc_onebit_choice;

/* The view whose closed-form leave-one-out squared error of what was answered is smallest, on at most 500
 * rounds and 128 landmarks, with the targets as they are. */
uc_status uc_onebit_choose(uc_onebit_view *out, const uc_rounds *rounds, const uc_onebit_choice *choice,
                           uc_rng *rng);
/* The map of a view. Of the first 256 rounds all are landmarks, later half of them, at most as many as it may
 * have; without rounds: no landmarks, rows at unit length. */
uc_status uc_onebit_make_map(uc_map **out, const uc_rounds *rounds, const uc_onebit_view *view,
                             const uc_onebit_choice *choice, uc_rng *rng);
/* The lower triangle of the prior of features (1, map): n rows, `stride` apart. */
uc_status uc_onebit_prior(double *A, size_t stride, const uc_map *map, const uc_onebit_choice *choice);

/* Row i of `count` evenly spaced ones of n. */
static inline size_t uc_evenly(size_t i, size_t count, size_t n)
{
    return i * n / count;
}

#endif
