/* Making data sets, beyond what unconfuse/dataset.h has. */
#ifndef UC_DATA_DATASET_H
#define UC_DATA_DATASET_H

#include "unconfuse/dataset.h"

typedef struct uc_dataset_shape {
    size_t rows, cols;
    size_t entries; /* of sparse rows */
    bool sparse, labels, bags, weights;
    size_t soft; /* columns of the soft labels; 0: none */
} uc_dataset_shape;

/* Arrays of that shape, all zero; no names. */
uc_status uc_dataset_create(uc_dataset *out, const uc_dataset_shape *shape);

#endif
