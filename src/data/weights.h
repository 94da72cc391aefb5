/* Weights of rows. */
#ifndef UC_DATA_WEIGHTS_H
#define UC_DATA_WEIGHTS_H

#include "unconfuse/dataset.h"

static inline double uc_row_weight(const uc_dataset *data, size_t i)
{
    return data->weights ? data->weights[i] : 1.0;
}

/* Checks that the sum of the weights is within the range of safe computation; the message of a failure begins
 * with `of`, such as "the weights". */
uc_status uc_weights_check_total(double total, const char *of);

/* The probability that the row's label is not this class; 0 for an unlabelled row. */
static inline double uc_row_error(const uc_dataset *data, size_t i, uint32_t predicted)
{
    if (data->soft)
        return 1.0 - data->soft[i * data->classes.count + predicted];
    return data->y[i] != UC_NONE && data->y[i] != predicted ? 1.0 : 0.0;
}

#endif
