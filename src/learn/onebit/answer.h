/* What a round of onebit teaches. */
#ifndef UC_ONEBIT_ANSWER_H
#define UC_ONEBIT_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct uc_onebit_answer {
    uint32_t class; /* the true one where it is known, else the one that was proposed */
    uint32_t proposed;
    bool known; /* for certain */
    bool right; /* what was answered about the proposal */
    double weight;
} uc_onebit_answer;

#endif
