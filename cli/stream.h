/* Inside of unconfuse stream: what its parts share.
 *
 *   stream_begin.c    the first pass over the file, the learner, or a model to go on from
 *   stream_rounds.c   rounds: propose, be told (late, or never), learn
 *   stream_report.c   the table as it goes, the summary, JSON */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "cli.h"

typedef struct stream_args {
    uc_train_settings train;
    uc_read_settings read;
    const char *output, *resume, *classes;
    int feedback, shuffle;
    uint64_t passes, delay;
    double missing;
} stream_args;

/* A row that outlives the block that it was read in. */
typedef struct row_copy {
    size_t count, capacity;
    bool sparse;
    float *values;
    uint32_t *columns;
} row_copy;
void row_copy_set(row_copy *self, uc_row row);
uc_row row_copy_view(const row_copy *self);
void row_copy_free(row_copy *self);

/* A round whose feedback is on its way. */
typedef struct waiting {
    uint64_t due; /* the round after whose proposal it arrives */
    uc_proposal proposal;
    uint32_t label;
    bool right;
    row_copy row;
} waiting;

/* In the order of arrival: a ring that grows as needed. */
typedef struct queue {
    waiting *slots;
    size_t capacity, first, count;
} queue;

/* A label of this run. */
typedef struct label_tally {
    uint32_t known; /* its position among the learner's classes; UC_NONE: the learner was not told of it */
    size_t examples, correct;
} label_tally;

typedef struct point {
    size_t round;
    double ratio, recent;
} point;

typedef struct stream {
    const cli_call *call;
    const stream_args *args;
    const char *path;
    uc_output *file;    /* for the model; NULL: none is written */
    uc_context context; /* of the rounds: silent, because the table is the progress */
    const uc_learner *learner;
    uc_online *online;
    uint64_t seed;   /* of the run, or of the one that it goes on from */
    bool partial;    /* only right or wrong is told */
    bool grows;      /* labels that are told and not known become classes */
    bool mapped;     /* rows are prepared in blocks */
    uc_dataset data; /* with --shuffle; else empty */

    /* what is known of the data, for the memory that they need */
    size_t columns, classes, rows; /* rows 0: not known */
    double density;                /* NaN: not known */
    double row_bytes;              /* on average */

    uc_names labels;    /* seen in this run, in the order of their appearance */
    label_tally *tally; /* of each of them */
    uint32_t *listed;   /* position in `labels`, of each label of the reader */
    size_t listed_count;
    queue queue;
    uc_rng missing;

    uint64_t rounds_before, updates_before; /* this run */
    size_t rounds, correct;
    uint32_t proposed; /* in the last round */
    bool right;
    size_t *proposals; /* of each class of the learner */
    size_t proposals_count;
    size_t shown_rounds, shown_correct, next_shown; /* the last line of the progress table */
    point *curve;                                   /* at most 65: rounds double */
    size_t points;
} stream;

uc_status stream_begin(stream *self);
/* UC_ERR_NOMEM when this learner with `waiting` rows in the queue does not fit. */
uc_status stream_check_memory(const stream *self, size_t waiting);

uc_status stream_play(stream *self);

void stream_count_round(stream *self, uint32_t label, bool right, uint32_t proposed);
void stream_show(stream *self);         /* a line of the table, and a point of the curve */
void stream_tell_unknown(stream *self); /* a warning about labels that are not among the classes */
json_t *stream_describe(const stream *self, double seconds);
void stream_print(const stream *self, FILE *file, double seconds);

#endif
