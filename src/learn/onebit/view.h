/* How onebit preprocesses rows before its kernel; learned from the rounds that it remembers. */
#ifndef UC_ONEBIT_VIEW_H
#define UC_ONEBIT_VIEW_H

#include "learn/onebit/rounds.h"
#include "map/map.h"

#define UC_ONEBIT_MOST_TURNED ((size_t)256) /* maximum number of columns of turned rows */

typedef enum uc_onebit_rows {
    UC_ROWS_UNIT,     /* at unit length */
    UC_ROWS_STANDARD, /* (x_j - mean_j) / sqrt(d (var_j + .001 mean var)) */
    UC_ROWS_WITHIN,   /* standard, then turned so that classes have the same spread in all directions */
    UC_ROWS_KINDS
} uc_onebit_rows;

/* How rows become z, and the width of the kernel. */
typedef struct uc_onebit_view {
    uc_onebit_rows rows;
    double multiple;
} uc_onebit_view;

/* *out becomes whether the rounds contain enough information for rows of this kind. */
uc_status uc_onebit_can_prepare(bool *out, const uc_rounds *rounds, uc_onebit_rows kind);
uc_status uc_onebit_fit_input(uc_map_input *out, const uc_rounds *rounds, uc_onebit_rows kind);
/* z of round i, `columns` floats. */
void uc_onebit_prepare(float *z, const uc_map_input *input, const uc_rounds *rounds, size_t i);

#endif
