/* Proposals that wait for their answers, by id, by sequence and by age. */
#ifndef SERVICE_WAITING_H
#define SERVICE_WAITING_H

#include "service/features.h"

typedef struct pending {
    char *id;
    int64_t sequence, time;
    encoded row; /* if the scaling is learned as rows arrive: scaled as it was then */
    uc_proposal proposal;
    double *scores;                                /* of each class at that time; NULL: not stored */
    struct pending *next_by_id, *next_by_sequence; /* in the chains */
    struct pending *older, *newer;
} pending;

typedef struct waiting {
    pending **by_id, **by_sequence; /* chains */
    size_t chains, count;
    pending *oldest, *newest;
} waiting; /* empty and safe to free if zero-initialised */

/* Takes ownership of the row; the id is copied. Rows are added in ascending order of their sequence. */
pending *waiting_add(waiting *self, const char *id, int64_t sequence, int64_t time, const encoded *row,
                     const uc_proposal *proposal);
pending *waiting_find_id(const waiting *self, const char *id); /* NULL if there is none */
pending *waiting_find(const waiting *self, int64_t sequence);  /* NULL if there is none */
void waiting_remove(waiting *self, pending *gone);             /* frees it */
void waiting_free(waiting *self);

#endif
