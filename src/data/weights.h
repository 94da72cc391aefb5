/* What a row of a data set counts. */
#ifndef UC_DATA_WEIGHTS_H
#define UC_DATA_WEIGHTS_H

#include "unconfuse/dataset.h"

static inline double uc_row_weight(const uc_dataset *data, size_t i)
{
    return data->weights ? data->weights[i] : 1.0;
}

/* Whether weights sum to what can be computed with; the sentence otherwise begins with `of`, such as "the
 * weights". */
uc_status uc_weights_check_total(double total, const char *of);

/* How probable it is that this class is not the row's label; 0 of an unlabelled row. */
static inline double uc_row_error(const uc_dataset *data, size_t i, uint32_t predicted)
{
    if (data->soft)
        return 1.0 - data->soft[i * data->classes.count + predicted];
    return data->y[i] != UC_NONE && data->y[i] != predicted ? 1.0 : 0.0;
}

#endif
