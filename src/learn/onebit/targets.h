/* The target of a round that was answered "wrong". */
#ifndef UC_ONEBIT_TARGETS_H
#define UC_ONEBIT_TARGETS_H

#include <stddef.h>
#include <stdint.h>

/* The point of the simplex { q : q >= 0, sum q = 1, q_p = 0 } nearest to v, K of each, K >= 2; q may be v. */
void uc_project_without(double *q, const double *v, size_t K, uint32_t p);

#endif
