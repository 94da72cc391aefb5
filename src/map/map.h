/* Inside of a map. */
#ifndef UC_MAP_H
#define UC_MAP_H

#include "base/base.h"
#include "unconfuse/map.h"

struct uc_map {
    uc_map_kind kind;
    uc_kernel kernel;
    double width;  /* gaussian */
    double degree; /* polynomial */
    double coefficient;
    uc_matrix landmarks; /* m rows; cols: the columns that the map knows */
    double *norm2;       /* m: their squared lengths */
    size_t dimension;    /* D */
    double *projection;  /* m x D; NULL: the identity */
    double *shift;       /* D; NULL: zero */
    double *eigenvalues; /* D, kpca; NULL otherwise */
};

#endif
