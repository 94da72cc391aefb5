/*
 * Learners that explore: with probability gamma the class proposed is drawn evenly from all.
 *
 *   s_k  scores      f  the best-scoring class      p  the class proposed      gamma  --explore
 *   P(k) = (1 - gamma) [k = f] + gamma/K            R  1 if p was right, else 0
 *
 * Banditron (Kakade, Shalev-Shwartz, Tewari, ICML 2008) turns the answer into an unbiased estimate of the
 * perceptron's step:  w_p += R x/P(p),  w_f -= x.
 *
 * Bandit passive-aggressive, BPA (Zhong, Dauce, ECML 2015), moves the score of the class proposed to 1 or -1:
 * w_p += (2R - 1) l/xx x,  l = max(0, 1 - (2R - 1) s_p).
 */
#include <math.h>
#include <stddef.h>

#include "learn/explore.h"

static const uc_option options[] = {
    UC_EXPLORE_OPTION(uc_explore_settings, "0.05"),
    {.name = NULL},
};

static const double grid_values[] = {0.001, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
const uc_candidates uc_explore_grid[] = {{"explore", grid_values, sizeof grid_values / sizeof *grid_values},
                                         {0}};

double uc_explore_probability(double explore, uint32_t class, uint32_t favourite, size_t classes)
{
    return explore / (double)classes + (class == favourite ? 1.0 - explore : 0.0);
}

/* Draws the first k at which the sum of P(0..k) exceeds one uniform number. */
void uc_explore_propose(uc_proposal *proposal, uc_online *self, double explore)
{
    const size_t K = self->classes.count;
    const double u = uc_rng_uniform(&self->rng);
    double sum = 0.0;
    for (uint32_t k = 0; k < K; k++) {
        const double P = uc_explore_probability(explore, k, proposal->favourite, K);
        sum += P;
        if (sum > u || k + 1 == K) {
            proposal->label = k;
            proposal->probability = P;
            return;
        }
    }
}

static double explore(const void *user)
{
    const uc_explore_settings *settings = user;
    return settings->explore;
}

static void propose(uc_proposal *proposal, uc_online *self, uc_row row)
{
    (void)row;
    uc_explore_propose(proposal, self, explore(self->settings));
}

static void banditron_step(uc_step *out, const uc_round *round, const void *user)
{
    (void)user;
    const bool right = round->answer.kind == UC_ANSWER_RIGHT;
    const uint32_t p = round->proposal.label, f = round->proposal.favourite;
    const double gain = right ? 1.0 / round->proposal.probability : 0.0;
    if (p != f && right) {
        out->classes[0] = p;
        out->tau[0] = gain;
        out->count = 1;
    }
    const double step = (p == f ? gain : 0.0) - 1.0;
    out->classes[out->count] = f;
    out->tau[out->count] = step;
    out->count += step != 0.0;
}

static void bpa_step(uc_step *out, const uc_round *round, const void *user)
{
    (void)user;
    const double sign = round->answer.kind == UC_ANSWER_RIGHT ? 1.0 : -1.0;
    const uint32_t p = round->proposal.label;
    const double loss = 1.0 - sign * round->scores[p];
    if (!(loss > 0.0))
        return;
    out->classes[0] = p;
    out->tau[0] = sign * loss / round->xx;
    out->count = 1;
}

const uc_learner uc_learner_banditron = {
    .name = "banditron",
    .summary = "right/wrong feedback only: the perceptron on an unbiased estimate, explores at random",
    .paper = "Kakade, Shalev-Shwartz, Tewari: Efficient bandit algorithms for online multiclass prediction, "
             "ICML 2008",
    .options = options,
    .settings_size = sizeof(uc_explore_settings),
    .grid = uc_explore_grid,
    .partial = true,
    .normalizes = true,
    .class_weight = UC_NO_CLASS_WEIGHT,
    .step = banditron_step,
    .propose = propose,
    .explore = explore,
};

const uc_learner uc_learner_bpa = {
    .name = "bpa",
    .summary =
        "right/wrong feedback only: passive-aggressive, one class against the rest, explores at random",
    .paper = "Zhong, Dauce: Passive-aggressive bounds in bandit feedback classification, ECML PKDD 2015",
    .options = options,
    .settings_size = sizeof(uc_explore_settings),
    .grid = uc_explore_grid,
    .partial = true,
    .normalizes = true,
    .class_weight = UC_NO_CLASS_WEIGHT,
    .step = bpa_step,
    .propose = propose,
    .explore = explore,
};
