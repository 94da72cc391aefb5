/* How good another learner would have been: estimates from logged events.
 *
 *   a, p, r   the class that was proposed, its probability, and 1 for right or 0 for wrong
 *   c         the class that the other learner proposes, which has learned from the events before
 *   w         1/p if c = a, otherwise 0
 *   q         the mean of r over earlier events, by class and by whether the learner agreed
 *
 *   replay   the mean of r where c = a
 *   ips      the mean of w r
 *   snips    the sum of w r divided by the sum of w
 *   dr       the mean of q(c) + w (r - q(c))
 *
 * q and the learner depend only on earlier events, so each term of ips and dr is unbiased, and the intervals
 * are those for a mean of such terms. Estimates and intervals are cut to [0, 1], the range of ratios. */
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
/* Adds an event: the logged class with its probability, whether it was right, and the class proposed now. */
void estimate_add(estimate *self, uint32_t logged, double probability, bool right, uint32_t now);

typedef struct estimates {
    uint64_t events, agreed;
    double logged;    /* the ratio of right proposals in the log */
    double effective; /* (sum w)^2 / sum w^2: the effective sample size */
    double least_probability;
    interval replay, ips, snips, dr; /* replay, snips: NaN if there was no agreement */
} estimates;
estimates estimate_all(const estimate *self);

#endif
