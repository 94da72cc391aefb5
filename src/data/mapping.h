/* Memory that a data set's arrays point into: a mapped file, or a block that was read. */
#ifndef UC_DATA_MAPPING_H
#define UC_DATA_MAPPING_H

#include "data/input.h"
#include "unconfuse/dataset.h"

struct uc_mapping {
    void *bytes;
    size_t length;
    bool mapped; /* else allocated */
};

/* All of the input: mapped privately if it is an ordinary file, otherwise read. */
uc_status uc_mapping_open(uc_mapping **out, uc_input *input, const uc_context *context);
void uc_mapping_free(uc_mapping *self);          /* NULL is fine */
bool uc_mapping_is_file(const uc_mapping *self); /* false if NULL */

#endif
