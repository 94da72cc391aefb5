#include "service/latency.h"

#include <stdlib.h>

static const double bounds[LATENCY_BOUNDS] = {.0001, .00025, .0005, .001, .0025, .005,
                                              .01,   .025,   .05,   .1,   .5,    1.0};

void latency_add(latency *self, int status, double seconds)
{
    size_t bucket = 0;
    while (bucket < LATENCY_BOUNDS && seconds > bounds[bucket])
        bucket++;
    (void)atomic_fetch_add(&self->buckets[bucket], 1);
    (void)atomic_fetch_add(&self->nanoseconds, (unsigned long long)(1e9 * seconds));
    (void)atomic_fetch_add(&self->statuses[status / 100 % 6], 1);
}

double latency_quantile(const unsigned long long counts[LATENCY_BOUNDS + 1], double share)
{
    unsigned long long total = 0, below = 0;
    for (size_t i = 0; i <= LATENCY_BOUNDS; i++)
        total += counts[i];
    for (size_t i = 0; i < LATENCY_BOUNDS && total > 0; i++) {
        below += counts[i];
        if ((double)below >= share * (double)total)
            return bounds[i];
    }
    return total > 0 ? bounds[LATENCY_BOUNDS - 1] : 0.0;
}

void latency_print(latency *self, response *out)
{
    text lines = {.bytes = out->body, .size = out->size, .capacity = out->size};
    unsigned long long count = 0;
    text_add_string(&lines,
                    "# HELP unconfuse_request_seconds From the head of a request to the end of its answer.\n"
                    "# TYPE unconfuse_request_seconds histogram\n");
    for (size_t i = 0; i < LATENCY_BOUNDS; i++) {
        count += atomic_load(&self->buckets[i]);
        text_add_format(&lines, "unconfuse_request_seconds_bucket{le=\"%g\"} %llu\n", bounds[i], count);
    }
    count += atomic_load(&self->buckets[LATENCY_BOUNDS]);
    text_add_format(&lines,
                    "unconfuse_request_seconds_bucket{le=\"+Inf\"} %llu\nunconfuse_request_seconds_sum %.9f\n"
                    "unconfuse_request_seconds_count %llu\n"
                    "# HELP unconfuse_requests_total Requests by the status of their answers.\n"
                    "# TYPE unconfuse_requests_total counter\n",
                    count, 1e-9 * (double)atomic_load(&self->nanoseconds), count);
    for (int i = 1; i < 6; i++)
        text_add_format(&lines, "unconfuse_requests_total{status=\"%dxx\"} %llu\n", i,
                        atomic_load(&self->statuses[i]));
    out->body = lines.bytes;
    out->size = lines.size;
}
