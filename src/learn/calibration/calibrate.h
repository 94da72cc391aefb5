/* Estimates probabilities of the true class and a noise matrix from held-out scores and noisy labels
 * (calibrate.c). */
#ifndef UC_CALIBRATE_H
#define UC_CALIBRATE_H

#include "parallel/parallel.h"
#include "unconfuse/noise.h"

/* Scores of rows from fits that have not seen their labels. All pointers are borrowed. */
typedef struct uc_held_out {
    const double *scores; /* rows x K */
    const uint32_t *labels;
    const double *weights; /* NULL: all 1 */
    size_t rows, K;
    const uc_context *context; /* sums are over the rows of all its processes */
    bool plain;                /* the scores are nothing like probabilities: a2 stays 0 */
} uc_held_out;

/* What is assumed about the noise: either less certain classes or more wrong labels can explain the same
 * scores. */
typedef enum uc_noise_family {
    UC_FAMILY_NONE,      /* all labels are right */
    UC_FAMILY_SYMMETRIC, /* one rate for all labels; a wrong one is any other class, with equal probability */
    UC_FAMILY_FULL,      /* any matrix, with a prior */
    UC_FAMILIES
} uc_noise_family;

/* P(true class q | scores f) = softmax_q(a1 f + a2 log max(f, .02)); C[q * K + k] = P(label k | true class
 * q). */
typedef struct uc_calibrator {
    uc_noise_family family;
    size_t K;
    double a1, a2;
    double eta;  /* symmetric: the share of wrong labels */
    double *C;   /* rows sum to 1 */
    double fit;  /* mean log-likelihood of the labels, without the prior */
} uc_calibrator; /* zero-initialised may be freed */

/* Finds the most likely calibrator of the family. The search starts at `near`, a calibrator of the same
 * family or, for the full family, of the symmetric one. NULL starts at default points; the full family does
 * not allow it. */
uc_status uc_calibrate(uc_calibrator *out, const uc_held_out *rows, uc_noise_family family,
                       const uc_calibrator *near);
/* The same for the full family, with a prior that is worth `prior` K rows per true class. */
uc_status uc_calibrate_full(uc_calibrator *out, const uc_held_out *rows, const uc_calibrator *near,
                            double prior);
/* The same with a known matrix: finds only a1 and a2, starting at `near` (may be NULL). */
uc_status uc_calibrate_given(uc_calibrator *out, const uc_held_out *rows, const double *C,
                             const uc_calibrator *near);
/* The matrix of symmetric noise at the rate eta. */
void uc_symmetric_noise(double *C, size_t K, double eta);
uc_status uc_calibrator_copy(uc_calibrator *out, const uc_calibrator *self);
void uc_calibrator_free(uc_calibrator *self);

/* Computes S[0..K) from the K scores f. */
void uc_calibrated(double *S, const uc_calibrator *self, const double *f);
/* Computes R[0..K), the same probabilities given the label as well; S may be R. Returns P(label | f). */
double uc_posterior(double *R, const uc_calibrator *self, const double *S, uint32_t label);

/* The value and gradient that the search uses, in (log a1, log a2, then C by rows); for tests. */
uc_status uc_calibrator_gradient(double *value, double *gradient, const uc_calibrator *at,
                                 const uc_held_out *rows);

#endif
