/* What another learner would have earned: estimates from logged events.
 *
 *   a, p, r   the class that was proposed then, its probability, 1 for right and 0 for wrong
 *   c         the class that the other learner proposes, which has learned from the events before
 *   w         1/p where c = a, else 0
 *   q         the mean of r of earlier events, by their class and by whether the learner agreed
 *
 *   replay   the mean of r where c = a
 *   ips      the mean of w r
 *   snips    the sum of w r by the sum of w
 *   dr       the mean of q(c) + w (r - q(c))
 *
 * q and the learner know earlier events only, so each term of ips and dr is right on average, and the
 * intervals are those of a mean of such terms. Estimates and intervals are cut to [0, 1], as ratios are. */
#ifndef SERVICE_ESTIMATE_H
#define SERVICE_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unconfuse/unconfuse.h"

typedef struct interval {
    double estimate, low, high; /* 95 percent */
} interval;

typedef struct estimate estimate;
estimate *estimate_create(size_t classes);
void estimate_free(estimate *self);
/* One event: proposed then with this probability, and now. */
void estimate_add(estimate *self, uint32_t logged, double probability, bool right, uint32_t now);

typedef struct estimates {
    uint64_t events, agreed;
    double logged;    /* the ratio of right proposals in the log */
    double effective; /* (sum w)^2 / sum w^2: the effective sample size */
    double least_probability;
    interval replay, ips, snips, dr; /* replay, snips: NaN where nothing agreed */
} estimates;
estimates estimate_all(const estimate *self);

#endif
