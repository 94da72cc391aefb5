/* What is known about the labels, and the noise matrix that follows from it. */
#ifndef UC_EVIDENCE_H
#define UC_EVIDENCE_H

#include "unconfuse/audit.h"

typedef struct uc_evidence uc_evidence;
struct uc_evidence {
    size_t rows, K;
    const uint32_t *observed; /* all below K */
    const uint32_t *gold;     /* labels: all below K */
    double *P;                /* counting, anchor: rows x K */
    uint32_t *clearest;       /* anchor: K lists of all rows, by descending P_q */
    double anchors;
    const double *weights; /* of the rows; NULL: all are 1 */
    /* Computes J and C (NaN in the columns of classes without examples), with row i counting weight[i] times.
     * `work` has room for 2 K numbers. */
    void (*estimate)(double *C, double *J, const uc_evidence *self, const double *weight, double *work);
};

/* Divides the columns of a K x K matrix by their sums; NaN if the sum is 0. */
void uc_divide_columns(double *C, size_t K);

/* Estimators for uc_evidence.estimate: from two known labels; by counting confident examples; by averaging
 * the probabilities of each class's clearest examples. */
void uc_evidence_from_labels(double *C, double *J, const uc_evidence *self, const double *weight,
                             double *work);
void uc_evidence_by_counting(double *C, double *J, const uc_evidence *self, const double *weight,
                             double *work);
void uc_evidence_by_anchors(double *C, double *J, const uc_evidence *self, const double *weight,
                            double *work);

/* Fills in from->clearest, which the caller frees. */
uc_status uc_evidence_rank(uc_evidence *from);

/* Fills in all of *out, with intervals and warnings; `rows` is the number of rows that the caller started
 * with. */
uc_status uc_evidence_estimate(uc_noise_estimate *out, const uc_evidence *from, size_t rows,
                               const uc_names *classes, const uc_noise_estimate_settings *settings,
                               const uc_context *context);

#endif
