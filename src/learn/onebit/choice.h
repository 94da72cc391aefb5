/* The map that onebit learns on: which of the remembered rounds become landmarks, how rows are preprocessed,
 * and how wide the kernel is. */
#ifndef UC_ONEBIT_CHOICE_H
#define UC_ONEBIT_CHOICE_H

#include "learn/onebit/view.h"
#include "unconfuse/random.h"

#define UC_ONEBIT_MOST_LANDMARKS ((size_t)4096)
#define UC_ONEBIT_MOST_LINEAR ((size_t)1024) /* columns that are features before there are landmarks */

typedef struct uc_onebit_choice {
    double prior, jitter; /* A starts as prior times I, and times K + jitter I on the kernel values */
    size_t landmarks;     /* maximum number */
    size_t linear;        /* up to so many columns, z itself is among the features */
} uc_onebit_choice;

/* The view with the smallest closed-form leave-one-out squared error against the answers, on at most 500
 * rounds and 128 landmarks, with the current targets. */
uc_status uc_onebit_choose(uc_onebit_view *out, const uc_rounds *rounds, const uc_onebit_choice *choice,
                           uc_rng *rng);
/* The map of a view. Up to 256 rounds all of them are landmarks, later half of them, up to the allowed
 * number. Without rounds the map has no landmarks and scales rows to unit length. */
uc_status uc_onebit_make_map(uc_map **out, const uc_rounds *rounds, const uc_onebit_view *view,
                             const uc_onebit_choice *choice, uc_rng *rng);
/* The lower triangle of the prior for the features (1, map): n rows, `stride` apart. */
uc_status uc_onebit_prior(double *A, size_t stride, const uc_map *map, const uc_onebit_choice *choice);

/* Row i of `count` evenly spaced rows out of n. */
static inline size_t uc_evenly(size_t i, size_t count, size_t n)
{
    return i * n / count;
}

#endif
