/*
 *   r  ratio, with a memory of 50 rounds: what about 100 independent rounds say       u  usual: of 500
 *
 * Rounds that are right as often as usual have a ratio below r with probability at most exp(-100 KL(r, u)),
 * KL(r, u) = r log(r/u) + (1 - r) log((1 - r)/(1 - u)) (Chernoff). Below e^-14 an alarm begins, for a drop
 * of any kind: when a few classes change their meaning most proposals stay right. 40 rounds later, if the
 * ratio is as low still, the rounds that are kept are those after the change, and learning begins again from
 * them. A ratio below half of what it once was, less .1, is a change, too, however slowly it came.
 */
#include "learn/onebit/change.h"

#include <math.h>

#define RATIO_ROUNDS 50.0
#define USUAL_ROUNDS 500.0
#define INDEPENDENT 100.0
#define LEAST_EVIDENCE 14.0
#define WARM_UP 100
#define RESTART_AFTER 200
#define ALARM_ROUNDS 40
#define MARGIN 0.1
#define SMALLEST 1e-3

/* n KL(r, u) where r is below u, else 0. */
static double evidence(double r, double u)
{
    if (r >= u)
        return 0.0;
    r = fmax(r, SMALLEST);
    u = fmin(fmax(u, SMALLEST), 1.0 - SMALLEST);
    if (r >= u)
        return 0.0;
    return INDEPENDENT * (r * log(r / u) + (1.0 - r) * log((1.0 - r) / (1.0 - u)));
}

bool uc_change_round(uc_change *self, bool right)
{
    self->judged++;
    self->ratio += ((double)right - self->ratio) / RATIO_ROUNDS;
    self->usual += ((double)right - self->usual) / fmin((double)self->judged, USUAL_ROUNDS);
    if (self->judged > WARM_UP)
        self->best = fmax(self->best, self->usual);
    if (self->judged < RESTART_AFTER)
        return false;
    if (evidence(self->ratio, self->usual) >= LEAST_EVIDENCE)
        self->alarm++;
    else
        self->alarm = 0;
    return self->alarm >= ALARM_ROUNDS || self->ratio < self->best / 2.0 - MARGIN;
}

uc_status uc_change_remember(uc_change *self, uc_state *state)
{
    double reals[3] = {self->ratio, self->usual, self->best};
    uc_status status = uc_state_counter(state, "judged", &self->judged);
    if (status == UC_OK)
        status = uc_state_counter(state, "alarm", &self->alarm);
    if (status == UC_OK)
        status = uc_state_array(state, "state.onebit.change", UC_ARRAY_F64, reals, 3);
    for (size_t i = 0; i < 3 && status == UC_OK; i++)
        if (!(reals[i] >= 0.0 && reals[i] <= 1.0))
            status = uc_state_damaged();
    self->ratio = reals[0];
    self->usual = reals[1];
    self->best = reals[2];
    return status;
}
