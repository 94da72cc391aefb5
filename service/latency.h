/* Request times, for /metrics. */
#ifndef SERVICE_LATENCY_H
#define SERVICE_LATENCY_H

#include <stdatomic.h>

#include "service/routes.h"

#define LATENCY_BOUNDS 12

typedef struct latency {
    atomic_ullong buckets[LATENCY_BOUNDS + 1]; /* the last has no bound */
    atomic_ullong nanoseconds;
    atomic_ullong statuses[6]; /* requests by the first digit of their status; 0: no answer */
} latency;                     /* zero-initialised */

void latency_add(latency *self, int status, double seconds);
/* Given the counts of the buckets: the bound below which this share of the requests is; 0 if there are
 * none. */
double latency_quantile(const unsigned long long counts[LATENCY_BOUNDS + 1], double share);
/* Adds its lines to the answer of /metrics. */
void latency_print(latency *self, response *out);

#endif
