/* Rows of small exact numbers, for the models that make_model.c makes and the test that goes on with them. */
#ifndef TESTS_GOLDEN_ROUNDS_H
#define TESTS_GOLDEN_ROUNDS_H

#include "unconfuse/unconfuse.h"

enum { GOLDEN_COLS = 3, GOLDEN_CLASSES = 3 };

typedef struct golden_row {
    uint32_t label;
    uc_row row; /* of the two below */
    float values[GOLDEN_COLS];
    uint32_t columns[GOLDEN_COLS];
} golden_row;

/* Row t; every second one is sparse. Class k is where column k is large. */
static inline void golden_make_row(golden_row *out, size_t t)
{
    size_t count = 0;
    out->label = (uint32_t)(t * t + t / 3) % GOLDEN_CLASSES;
    for (uint32_t j = 0; j < GOLDEN_COLS; j++) {
        const int noise = (int)((t * 7 + j * 5) % 11) - 5;
        const float value = (float)noise / 4.0f + (j == out->label ? 1.5f : 0.0f);
        if (t % 2 && value == 0.0f)
            continue;
        out->values[count] = value;
        out->columns[count++] = j;
    }
    out->row = (uc_row){count, out->values, t % 2 ? out->columns : NULL};
}

/* One round, of labels or of right or wrong. */
static inline uc_status golden_play(uint32_t *proposed, uc_online *online, size_t t)
{
    golden_row at;
    uc_proposal proposal;
    golden_make_row(&at, t);
    const uc_status status = uc_online_propose(&proposal, online, &at.row);
    if (status != UC_OK)
        return status;
    *proposed = proposal.label;
    uc_answer answer = {proposal.label == at.label ? UC_ANSWER_RIGHT : UC_ANSWER_WRONG, 0};
    if (uc_learner_accepts(uc_online_learner(online), UC_FEEDBACK_FULL))
        answer = (uc_answer){UC_ANSWER_LABEL, at.label};
    return uc_online_learn(online, &at.row, &proposal, answer);
}

#endif
