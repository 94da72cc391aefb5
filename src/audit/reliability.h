/* Whether what an audit says of labels comes true (reliability.c). */
#ifndef UC_RELIABILITY_H
#define UC_RELIABILITY_H

#include "learn/audit/audit.h"
#include "unconfuse/audit.h"

/* Of the probability that a label is not the class that is predicted without it. */
uc_status uc_label_calibration(uc_reliability bins[UC_RELIABILITY_BINS], const uc_audit_fit *found,
                               const uint32_t *labels);

#endif
