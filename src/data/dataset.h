/* Creating data sets; an addition to unconfuse/dataset.h. */
#ifndef UC_DATA_DATASET_H
#define UC_DATA_DATASET_H

#include "unconfuse/dataset.h"

typedef struct uc_dataset_shape {
    size_t rows, cols;
    size_t entries; /* stored values, if rows are sparse */
    bool sparse, labels, bags, weights;
    size_t soft; /* columns of the soft labels; 0 if there are none */
} uc_dataset_shape;

/* Arrays of that shape, filled with zeros, without names. */
uc_status uc_dataset_create(uc_dataset *out, const uc_dataset_shape *shape);

#endif
