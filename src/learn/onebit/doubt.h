/* What "right" and "wrong" are worth when some answers are false. */
#ifndef UC_ONEBIT_DOUBT_H
#define UC_ONEBIT_DOUBT_H

#include "learn/state.h"

typedef struct uc_doubt {
    bool active;       /* some answers are false */
    bool estimates;    /* how many is not known */
    double flipped[2]; /* A: share of right proposals answered "wrong"; B: of wrong ones, "right" */
    double offset,
        slope; /* of the probability that a proposal with score v is right: logistic(offset + slope v) */
} uc_doubt;

/* `noise`: A and B; both NaN: to be estimated; both 0: no doubt. */
uc_doubt uc_doubt_begin(const double noise[2], double offset, double slope);
/* The probability that a proposal is right whose score was v, given what was answered. */
double uc_doubt_posterior(const uc_doubt *self, double v, bool answered_right);
/* Offset and slope, and A and B where they are estimated, by maximum likelihood from rounds: scores of the
 * classes proposed, and what was answered. Few rounds change nothing. */
void uc_doubt_fit(uc_doubt *self, const double *v, const bool *right, size_t count);
uc_status uc_doubt_remember(uc_doubt *self, uc_state *state);

#endif
