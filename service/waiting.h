/* Proposals that wait for their answer, by id, by sequence and by age. */
#ifndef SERVICE_WAITING_H
#define SERVICE_WAITING_H

#include "service/features.h"

typedef struct pending {
    char *id;
    int64_t sequence, time;
    encoded row; /* with a scaling that is learned as rows come: as it was scaled then */
    uc_proposal proposal;
    double *scores;                                /* of each class then; NULL: not kept */
    struct pending *next_by_id, *next_by_sequence; /* in their chains */
    struct pending *older, *newer;
} pending;

typedef struct waiting {
    pending **by_id, **by_sequence; /* chains */
    size_t chains, count;
    pending *oldest, *newest;
} waiting; /* zero-initialised is empty and may be freed */

/* Takes the row over; the id is copied. Rows come in ascending order of their sequence. */
pending *waiting_add(waiting *self, const char *id, int64_t sequence, int64_t time, const encoded *row,
                     const uc_proposal *proposal);
pending *waiting_find_id(const waiting *self, const char *id); /* or NULL */
pending *waiting_find(const waiting *self, int64_t sequence);  /* or NULL */
void waiting_remove(waiting *self, pending *gone);             /* frees it */
void waiting_free(waiting *self);

#endif
