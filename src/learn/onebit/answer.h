/* What a round of onebit teaches. */
#ifndef UC_ONEBIT_ANSWER_H
#define UC_ONEBIT_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct uc_onebit_answer {
    uint32_t class; /* the true one, or the one that was wrong */
    bool known;
    bool right; /* the proposal was */
    double weight;
} uc_onebit_answer;

#endif
