/* A copy of a row that outlives the matrix it came from. */
#ifndef UC_ROW_COPY_H
#define UC_ROW_COPY_H

#include "base/base.h"
#include "unconfuse/matrix.h"

typedef struct uc_row_copy {
    size_t count, capacity;
    bool sparse;
    float *values;
    uint32_t *columns;
} uc_row_copy; /* zero-initialised is an empty row and may be freed */

uc_status uc_row_copy_set(uc_row_copy *self, uc_row row); /* after a failure the copy is an empty row */
uc_row uc_row_copy_view(const uc_row_copy *self);
void uc_row_copy_free(uc_row_copy *self);

#endif
