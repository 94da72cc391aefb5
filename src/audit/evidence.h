/* What is known of the labels, and the noise matrix that follows from it. */
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
    /* J and C (NaN in the columns of classes without examples) when row i counts weight[i] times. `work`
     * holds 2 K. */
    void (*estimate)(double *C, double *J, const uc_evidence *self, const double *weight, double *work);
};

/* Columns of a K x K matrix divided by their sums; NaN where the sum is 0. */
void uc_divide_columns(double *C, size_t K);

/* Ways to estimate, for uc_evidence.estimate: both labels are known; confident examples are counted; the
 * probabilities of each class's clearest examples are averaged. */
void uc_evidence_from_labels(double *C, double *J, const uc_evidence *self, const double *weight,
                             double *work);
void uc_evidence_by_counting(double *C, double *J, const uc_evidence *self, const double *weight,
                             double *work);
void uc_evidence_by_anchors(double *C, double *J, const uc_evidence *self, const double *weight,
                            double *work);

/* Fills in from->clearest, which the caller frees. */
uc_status uc_evidence_rank(uc_evidence *from);

/* All of *out, with intervals and warnings; `rows` is what the caller began with. */
uc_status uc_evidence_estimate(uc_noise_estimate *out, const uc_evidence *from, size_t rows,
                               const uc_names *classes, const uc_noise_estimate_settings *settings,
                               const uc_context *context);

#endif
