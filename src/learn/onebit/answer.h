/* What onebit learns from a round. */
#ifndef UC_ONEBIT_ANSWER_H
#define UC_ONEBIT_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct uc_onebit_answer {
    uint32_t class; /* the true class if it is known, otherwise the proposed one */
    uint32_t proposed;
    bool known; /* the true class is known for certain */
    bool right; /* the answer to the proposal */
    double weight;
} uc_onebit_answer;

#endif
