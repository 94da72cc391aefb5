/* Invariants of every data set that enters or leaves this folder, for `assert`. fuzz/truths.h checks the
 * same, and more, from outside. */
#ifndef UC_DATA_VALID_H
#define UC_DATA_VALID_H

#include "unconfuse/dataset.h"

/* Offsets ascend; the columns of a row strictly ascend and are below cols; dense rows do not overlap. */
bool uc_matrix_is_valid(const uc_matrix *X);
/* X is valid; labels are below classes.count and bags below bags.count, or UC_NONE; weights are finite and
 * not negative; rows of soft labels sum to 1. */
bool uc_dataset_is_valid(const uc_dataset *data);

#endif
