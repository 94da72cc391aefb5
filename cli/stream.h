/* Shared by the parts of unconfuse stream.
 *
 *   stream_begin.c    the first look at the data and the learner, or a model to continue from
 *   stream_report.c   the table as it goes, the summary, JSON */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "cli.h"

typedef struct stream_args {
    uc_train_settings train;
    uc_read_settings read;
    const char *output, *resume, *classes, *baseline;
    int feedback, shuffle, expired, grow_classes;
    uint64_t passes, delay, expire;
    double missing, flips[2], label_share, explore;
    app_report report;
} stream_args;

#define STREAM_CLASSES 60 /* with more classes, the curve has no recall of each */

typedef struct stream {
    app_call *call;
    const stream_args *args;
    const char *path;
    uc_output *file;    /* for the model; NULL: none is written */
    uc_context context; /* of the rounds: silent, because the table is the progress */
    const uc_learner *learner;
    uc_feedback feedback;
    uc_dataset data; /* with --shuffle; otherwise empty */
    uc_online *resumed;
    char classes[256];  /* how messages name the classes of --classes */
    uc_model *baseline; /* NULL: none */
    uc_session *session;
    size_t points_shown;   /* of the curve, in the progress table */
    uc_session_round last; /* the last round so far */
    json_t *recalls;       /* for each point of the curve a list: recall of each class since the last point */
    uint64_t examples[STREAM_CLASSES], correct[STREAM_CLASSES]; /* at the last point */
    uc_drift drift;
    json_t *falls; /* list of drops in the share of right proposals; NULL: none yet */
} stream;

uc_status stream_begin(stream *self);

/* Called after every round; prints a line of the table at rounds 1, 2, 4, ... */
uc_status stream_on_round(const uc_session_round *round, void *user);
void stream_show_last(stream *self);          /* the last line */
void stream_warn_unknown(const stream *self); /* labels that are not among the classes */
json_t *stream_describe(stream *self, double seconds);
void stream_print(const stream *self, FILE *file, double seconds);

#endif
