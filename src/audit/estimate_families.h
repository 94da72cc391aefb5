/* The noise matrix by maximum likelihood on held-out scores (estimate_families.c). */
#ifndef UC_ESTIMATE_FAMILIES_H
#define UC_ESTIMATE_FAMILIES_H

#include "unconfuse/audit.h"

#define UC_MOST_FAMILY_CLASSES 100 /* with more, the matrix has too many entries to search for */

/* uc_noise_from_data for the estimators `full`, `symmetric` and `auto`. The data need labels of at least 2
 * classes. */
uc_status uc_noise_by_families(uc_noise_estimate *out, const uc_dataset *data,
                               const uc_noise_estimate_settings *settings, const uc_train_settings *train,
                               const uc_context *context);

#endif
