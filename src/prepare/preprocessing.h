/* The preprocessing of one row, for those who prepare many. */
#ifndef UC_MAP_PREPARE_H
#define UC_MAP_PREPARE_H

#include "unconfuse/prepare.h"

/* Scaling and --normalize-input: what comes before the map. Without a map unit length after it is the same step. The
 * result is the row itself, or is in `work`, which may be the row's own values unless there is a shift. */
uc_row uc_prepare_input(const uc_preprocessing *self, uc_row row, float *work);
/* Refuses a scaling that would make zeros of sparse rows something else. */
uc_status uc_check_sparse_scaling(uc_scaling scaling);
/* To unit length; a zero row is returned as it is. */
uc_row uc_normalize_row(uc_row row, float *work);

#endif
