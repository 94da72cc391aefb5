/* Whether the probabilities of an audit come true (reliability.c). */
#ifndef UC_RELIABILITY_H
#define UC_RELIABILITY_H

#include "learn/audit/audit.h"
#include "unconfuse/audit.h"

/* For the probability that a label differs from the class that is predicted without it. */
uc_status uc_label_calibration(uc_reliability bins[UC_RELIABILITY_BINS], const uc_audit_fit *found,
                               const uint32_t *labels);

#endif
