/* A problem with a request: an HTTP status and one sentence. */
#ifndef SERVICE_PROBLEM_H
#define SERVICE_PROBLEM_H

#include <stdbool.h>

#include "app/program.h"

typedef struct problem {
    int status; /* 0: none */
    char detail[600];
} problem;

/* Sets the problem and returns false, for `return problem_set(...)`. NULL is fine: the sentence is then not
 * needed. */
bool problem_set(problem *self, int status, const char *format, ...) APP_PRINTF(3, 4);
/* The same with the library's last sentence, in which options are named as in JSON. The status depends on the
 * kind of failure. */
bool problem_of_library(problem *self, uc_status status);

#endif
