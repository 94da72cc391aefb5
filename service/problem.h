/* What goes wrong with a request: a status of HTTP and one sentence. */
#ifndef SERVICE_PROBLEM_H
#define SERVICE_PROBLEM_H

#include <stdbool.h>

#include "app/program.h"

typedef struct problem {
    int status; /* 0: none */
    char detail[600];
} problem;

/* Fills it in and returns false, for `return problem_set(...)`. NULL is fine: nobody wants to know. */
bool problem_set(problem *self, int status, const char *format, ...) APP_PRINTF(3, 4);
/* The same with the library's last sentence, its options as they are named in JSON. The status follows from
 * the kind of failure. */
bool problem_of_library(problem *self, uc_status status);

#endif
