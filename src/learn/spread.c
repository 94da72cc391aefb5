/*
 *   s_k  scores     p  the class proposed     l = 1 + s_p - max_{i != p} s_i     r  the best class except p
 *
 * wrong   tau_i = c q_i,  tau_p = -c,  q = softmax(rho s) over i != p,  c = beta l/(xx (1 + q_r)).  rho = 0
 * gives CSPA.
 */
#include "learn/spread.h"

#include <math.h>

#include "learn/passive_aggressive.h"

static void wrong_step(uc_step *out, const double *s, size_t K, uint32_t p, double loss, double xx,
                       const uc_spread_rule *rule)
{
    const uint32_t runner_up = uc_best_other(s, K, p);
    double sum = 0.0;
    for (uint32_t i = 0; i < K; i++) {
        out->classes[i] = i;
        out->tau[i] = 0.0;
        if (i != p)
            out->tau[i] = exp(rule->spread * (s[i] - s[runner_up]));
        sum += out->tau[i];
    }
    const double c = rule->beta * loss / (xx * (1.0 + 1.0 / sum));
    for (uint32_t i = 0; i < K; i++)
        out->tau[i] = c * out->tau[i] / sum;
    out->tau[p] = -c;
    out->count = K;
}

void uc_spread_step(uc_step *out, const double *scores, size_t classes, uint32_t p, bool right, bool replayed,
                    double xx, const uc_spread_rule *rule)
{
    const double loss = 1.0 + scores[p] - scores[uc_best_other(scores, classes, p)];
    out->count = 0;
    if (!(xx > 0.0))
        return;
    if (right)
        uc_spa_step(out, scores, classes, p, xx);
    else if (loss > 0.0 && !(replayed && loss < 1.0))
        wrong_step(out, scores, classes, p, loss, xx, rule);
}
