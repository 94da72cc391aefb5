/* How much "right" and "wrong" are worth if some answers are false. */
#ifndef UC_ONEBIT_DOUBT_H
#define UC_ONEBIT_DOUBT_H

#include "learn/state.h"

typedef struct uc_doubt {
    bool active;       /* some answers are false */
    bool estimates;    /* the shares of false answers are not known */
    double flipped[2]; /* A: share of right proposals answered "wrong"; B: of wrong ones, "right" */
    double offset,
        slope; /* of the probability that a proposal with score v is right: logistic(offset + slope v) */
} uc_doubt;

/* `noise` holds A and B; both NaN: estimate them; both 0: all answers are true. */
uc_doubt uc_doubt_begin(const double noise[2], double offset, double slope);
/* The probability that a proposal with score v is right, given the answer. */
double uc_doubt_posterior(const uc_doubt *self, double v, bool answered_right);
/* Fits offset and slope, and A and B if they are to be estimated, by maximum likelihood to rounds: the scores
 * of the proposed classes and the answers. Too few rounds change nothing. */
void uc_doubt_fit(uc_doubt *self, const double *v, const bool *right, size_t count);
uc_status uc_doubt_remember(uc_doubt *self, uc_state *state);

#endif
