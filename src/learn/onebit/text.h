/* onebit on sparse rows: term counts weighed in the stream, and the step of cspa-plus with replays. */
#ifndef UC_ONEBIT_TEXT_H
#define UC_ONEBIT_TEXT_H

#include "learn/onebit/answer.h"
#include "learn/onebit/doubt.h"
#include "learn/online.h"
#include "learn/replay.h"

#define UC_ONEBIT_MARGINS 1024

typedef struct uc_onebit_text {
    size_t columns;
    uint64_t rows;    /* that were learned from */
    float *frequency; /* of each column: rows in which it was not 0 */
    float *values;    /* of the row that was scored last */
    uc_row row;       /* that row, weighed */
    uc_replay replay;
    uc_doubt doubt;
    float margins[UC_ONEBIT_MARGINS]; /* of the last proposals, a ring; with doubt only */
    uint32_t said[UC_ONEBIT_MARGINS]; /* right (1) or wrong (0) */
    uint64_t said_count;              /* rounds that they are of */
} uc_onebit_text;                     /* zero-initialised: no columns */

uc_status uc_onebit_text_grow(uc_onebit_text *self, size_t columns, const uc_onebit_settings *settings);
void uc_onebit_text_free(uc_onebit_text *self);
/* self->row: the row weighed. */
void uc_onebit_text_weigh(uc_onebit_text *self, uc_row row);
/* Learns from `row`, which uc_onebit_text_weigh weighed last and online->scores belong to. */
uc_status uc_onebit_text_learn(uc_onebit_text *self, uc_online *online, uc_row row,
                               const uc_onebit_answer *answer);
/* What a row is multiplied by, column by column: *out is new. */
uc_status uc_onebit_text_factors(double **out, const uc_onebit_text *self, size_t columns);
uc_status uc_onebit_text_remember(uc_onebit_text *self, uc_state *state, size_t columns, size_t classes);
double uc_onebit_text_bytes(size_t columns, const uc_onebit_settings *settings, double row_bytes,
                            double rounds);

#endif
