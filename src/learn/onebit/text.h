/* onebit on sparse rows: term counts weighted during the stream, and the step of cspa-plus with replays. */
#ifndef UC_ONEBIT_TEXT_H
#define UC_ONEBIT_TEXT_H

#include "learn/onebit/answer.h"
#include "learn/onebit/doubt.h"
#include "learn/online.h"
#include "learn/replay.h"

#define UC_ONEBIT_MARGINS 1024

typedef struct uc_onebit_text {
    size_t columns;
    uint64_t rows;    /* rows learned from */
    float *frequency; /* for each column, the rows in which it was not 0 */
    float *values;    /* of the row that was scored last */
    uc_row row;       /* that row, weighted */
    uc_replay replay;
    uc_doubt doubt;
    float margins[UC_ONEBIT_MARGINS]; /* of the last proposals, a ring; only with doubt */
    uint32_t said[UC_ONEBIT_MARGINS]; /* right (1) or wrong (0) */
    uint64_t said_count;              /* number of rounds in the two arrays so far */
} uc_onebit_text;                     /* zero-initialised: no columns */

uc_status uc_onebit_text_grow(uc_onebit_text *self, size_t columns, const uc_onebit_settings *settings);
void uc_onebit_text_free(uc_onebit_text *self);
/* Sets self->row to the weighted row. */
void uc_onebit_text_weigh(uc_onebit_text *self, uc_row row);
/* Learns from `row`, which was passed last to uc_onebit_text_weigh and which online->scores belong to. */
uc_status uc_onebit_text_learn(uc_onebit_text *self, uc_online *online, uc_row row,
                               const uc_onebit_answer *answer);
/* The factors that a row is multiplied by, column by column, in a new array *out. */
uc_status uc_onebit_text_factors(double **out, const uc_onebit_text *self, size_t columns);
uc_status uc_onebit_text_remember(uc_onebit_text *self, uc_state *state, size_t columns, size_t classes);
double uc_onebit_text_bytes(size_t columns, const uc_onebit_settings *settings, double row_bytes,
                            double rounds);

#endif
