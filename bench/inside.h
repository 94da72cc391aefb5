/* What the commands of bench_inside share. */
#ifndef BENCH_INSIDE_H
#define BENCH_INSIDE_H

#include "unconfuse/unconfuse.h"

typedef struct moment {
    double elapsed, processor; /* seconds */
} moment;

moment now(void);
moment since(moment began);
/* Begins the JSON object. */
void print_since(moment began);
/* "name": [...], a list of times in the JSON object. */
void print_times(const char *name, const moment *times, size_t count);
unsigned count_of(const char *text);
/* Dense rows of classes that overlap. */
uc_status make_data(uc_dataset *out, size_t rows, size_t cols, size_t classes);
void free_made(uc_dataset *data);

/* All floats, as fast as the memory gives them. */
float sum_of_matrix(const uc_matrix *X, unsigned threads);

uc_status run_machine(char **arguments); /* machine.c */
uc_status run_scan(char **arguments);

/* ---- the online learners (online.c) ---- */
uc_status run_rounds(char **arguments);
uc_status run_plus(char **arguments);
uc_status run_onebit(char **arguments);
uc_status run_landmarks(char **arguments);

#endif
