/* Louche, Ralaivola: Unconfused ultraconservative multiclass algorithms, section 4. */
#ifndef PAPERS_UMA_H
#define PAPERS_UMA_H

#include "experiment.h"

/* ---- learning and testing (learn.c) ---- */

/* The values of the option `return` of the learner uma, by position. */
enum { UMA_LAST, UMA_AVERAGE, UMA_TAIL, UMA_BEST, UMA_AUTO };
/* The same for the option `choose`. */
enum { UMA_ERROR, UMA_CONFUSION, UMA_RANDOM };

/* The defaults with this `return`, and with these `iterations` unless they are 0. */
uc_uma_settings uma_settings(int returns, uint64_t iterations);

typedef struct score {
    double error;          /* share of wrong predictions */
    double confusion;      /* Frobenius norm of the off-diagonal recall matrix */
    double confusion_rate; /* the confusion, divided by the square root of the number of classes */
} score;

/* Trains on rows that are already prepared, and tests. `settings` NULL: the learner's defaults; `noise` NULL:
 * the labels are assumed to be right. */
uc_status learn_and_test(score *out, const char *learner, const void *settings, const uc_noise *noise,
                         uc_dataset *train, const uc_dataset *test, uint64_t seed, const uc_context *context);
/* UMA without a noise matrix, which is the perceptron of the paper. */
uc_status perceptron_and_test(score *out, uint64_t iterations, uc_dataset *train, const uc_dataset *test,
                              uint64_t seed, const uc_context *context);
/* The perceptron that learns one example at a time: its last iterate, or the mean of all iterates. */
#define ONLINE_PASSES 5
uc_status online_perceptron_and_test(score *out, bool average, uc_dataset *train, const uc_dataset *test,
                                     uint64_t seed, const uc_context *context);
bool learner_exists(const char *name);

#endif
