/*
 * Learners that explore: what they propose, that Banditron's estimate is unbiased, and that BPA's step is
 * the smallest.
 *
 *   f  the best-scoring class     P(k) = (1 - gamma) [k = f] + gamma/K
 */
#include "tests/online_sample.h"

#include <stdlib.h>

enum { MOST = 30, ROWS = 200, COLS = 7, CLASSES = 5 };

static const uc_learner *const explorers[] = {&uc_learner_banditron, &uc_learner_bpa};

static double probability(size_t K, double gamma, uint32_t favourite, uint32_t k)
{
    return gamma / (double)K + (k == favourite ? 1.0 - gamma : 0.0);
}

/* ---- proposals ---- */

static uc_online *some_weights(const uc_learner *learner, const uc_dataset *data, double gamma, uint64_t seed)
{
    online_setup setup = {
        .learner = learner->name, .settings.explore = {.explore = gamma}, .train = uc_train_defaults()};
    setup.train.seed = seed;
    uc_online *online = online_begin(&setup, &data->classes, NULL);
    for (size_t i = 0; i < ROWS; i++)
        online_round(online, data, i);
    return online;
}

/* Repeated with a copy of the generator: one uniform number, the first k whose cumulative sum exceeds it. */
static void a_proposal_is_the_first_class_whose_cumulative_probability_exceeds_the_draw(void **state)
{
    (void)state;
    static const double gammas[] = {1e-9, 0.05, 0.3, 1.0};
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 1);
    for (size_t e = 0; e < 2; e++)
        for (size_t g = 0; g < 4; g++) {
            uc_online *online = some_weights(explorers[e], &data, gammas[g], 3);
            for (size_t i = 0; i < ROWS; i++) {
                uc_rng copy = online->rng;
                const uc_row row = uc_matrix_row(&data.X, i);
                uc_proposal proposal;
                assert_ok(uc_online_propose(&proposal, online, &row));
                const double u = uc_rng_uniform(&copy);
                uint32_t favourite = 0, k = 0;
                for (uint32_t c = 1; c < CLASSES; c++)
                    if (online->scores[c] > online->scores[favourite])
                        favourite = c;
                for (double sum = 0.0; k < CLASSES; k++)
                    if ((sum += probability(CLASSES, gammas[g], favourite, k)) > u)
                        break;
                assert_int_equal(proposal.favourite, favourite);
                assert_int_equal(proposal.label, k);
                assert_true(proposal.probability == probability(CLASSES, gammas[g], favourite, k));
                assert_int_equal(copy.drawn, online->rng.drawn); /* one draw a proposal */
            }
            uc_online_free(online);
        }
    uc_dataset_free(&data);
}

static void proposals_follow_their_probabilities(void **state)
{
    (void)state;
    enum { DRAWS = 40000 };
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 2);
    const double gamma = 0.4;
    for (size_t e = 0; e < 2; e++) {
        uc_online *online = some_weights(explorers[e], &data, gamma, 4);
        const uc_row row = uc_matrix_row(&data.X, 0);
        double counts[CLASSES] = {0}, chi2 = 0.0;
        uc_proposal proposal;
        for (size_t i = 0; i < DRAWS; i++) {
            assert_ok(uc_online_propose(&proposal, online, &row));
            counts[proposal.label] += 1.0;
        }
        for (uint32_t k = 0; k < CLASSES; k++) {
            const double expected = DRAWS * probability(CLASSES, gamma, proposal.favourite, k);
            chi2 += (counts[k] - expected) * (counts[k] - expected) / expected;
        }
        assert_true(chi2 < 18.47); /* 4 degrees of freedom, 0.1% */
        uc_online_free(online);
    }
    uc_dataset_free(&data);
}

/* ---- steps ---- */

static size_t take_step(double *tau, const uc_learner *learner, const double *scores, size_t K, double xx,
                        uc_proposal proposal, bool right)
{
    const uc_explore_settings settings = {.explore = 0.123}; /* the step looks at the proposal only */
    const uc_round round = {.scores = scores,
                            .classes = K,
                            .xx = xx,
                            .proposal = proposal,
                            .answer = {right ? UC_ANSWER_RIGHT : UC_ANSWER_WRONG, 0},
                            .weight = 1.0};
    return take_online_step(tau, learner, &settings, &round);
}

/* The perceptron adds the row to the label's class and takes it off the best-scoring one. */
static void the_expected_step_of_banditron_is_the_perceptrons(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(3, 1);
    for (size_t i = 0; i < 3000; i++) {
        const size_t K = 2 + (size_t)uc_rng_below(&rng, MOST - 1);
        const double gamma = i % 5 ? 1e-3 + 0.999 * uc_rng_uniform(&rng) : 1.0;
        const uint32_t favourite = (uint32_t)uc_rng_below(&rng, K), y = (uint32_t)uc_rng_below(&rng, K);
        double scores[MOST] = {0}, mean[MOST] = {0}, tau[MOST];
        scores[favourite] = 1.0;
        for (uint32_t p = 0; p < K; p++) {
            const double P = probability(K, gamma, favourite, p);
            take_step(tau, &uc_learner_banditron, scores, K, 2.0, (uc_proposal){p, P, favourite, 0}, p == y);
            for (size_t k = 0; k < K; k++)
                mean[k] += P * tau[k];
        }
        for (uint32_t k = 0; k < K; k++)
            assert_near(mean[k], (double)(k == y) - (double)(k == favourite), 1e-14 * (double)K);
    }
}

static void banditrons_steps_by_hand(void **state)
{
    (void)state;
    const double scores[3] = {0.0, 1.0, 0.0};
    double tau[3];
    const uc_proposal explored = {2, 0.1, 1, 0}, exploited = {1, 0.8, 1, 0};
    assert_int_equal(take_step(tau, &uc_learner_banditron, scores, 3, 1.0, explored, true), 2);
    assert_true(tau[0] == 0.0 && tau[1] == -1.0 && tau[2] == 1.0 / 0.1);
    assert_int_equal(take_step(tau, &uc_learner_banditron, scores, 3, 1.0, explored, false), 1);
    assert_true(tau[0] == 0.0 && tau[1] == -1.0 && tau[2] == 0.0);
    assert_int_equal(take_step(tau, &uc_learner_banditron, scores, 3, 1.0, exploited, true), 1);
    assert_true(tau[0] == 0.0 && tau[1] == 1.0 / 0.8 - 1.0 && tau[2] == 0.0);
    assert_int_equal(take_step(tau, &uc_learner_banditron, scores, 3, 1.0, exploited, false), 1);
    assert_true(tau[0] == 0.0 && tau[1] == -1.0 && tau[2] == 0.0);
}

/* A change of one score by d costs at least |d|/|x|: moving it to 1 or -1 and no farther is the smallest
 * step. */
static void bpa_moves_the_score_of_the_class_proposed_to_the_margin(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(4, 1);
    for (size_t i = 0; i < 5000; i++) {
        const size_t K = 2 + (size_t)uc_rng_below(&rng, MOST - 1);
        const double xx = pow(10.0, 12.0 * uc_rng_uniform(&rng) - 6.0), size = i % 2 ? 1.0 : 50.0;
        const uint32_t p = (uint32_t)uc_rng_below(&rng, K);
        const bool right = i % 3 == 0;
        double scores[MOST], tau[MOST];
        for (size_t k = 0; k < K; k++)
            scores[k] = i % 7 ? size * uc_rng_normal(&rng) : (right ? 1.0 : -1.0);
        const size_t count = take_step(tau, &uc_learner_bpa, scores, K, xx,
                                       (uc_proposal){p, 0.5, (p + 1) % (uint32_t)K, 0}, right);
        const bool wants = right ? scores[p] < 1.0 : scores[p] > -1.0;
        assert_int_equal(count, wants);
        for (uint32_t k = 0; k < K; k++)
            assert_true(k == p || tau[k] == 0.0);
        if (wants)
            assert_near(scores[p] + xx * tau[p], right ? 1.0 : -1.0, 1e-14 * (1.0 + fabs(scores[p])));
    }
}

/* ---- rounds ---- */

/* Feedback that comes much later: with the probability and the favourite of the moment of the proposal,
 * and for bpa the scores of now. */
static void late_feedback_is_learned_from_with_the_probability_of_then(void **state)
{
    (void)state;
    enum { DELAY = 20 };
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 5);
    for (size_t e = 0; e < 2; e++) {
        online_setup setup = {.learner = explorers[e]->name,
                              .settings.explore = {.explore = 0.5},
                              .train = uc_train_defaults()};
        setup.train.normalize = 0;
        uc_online *online = online_begin(&setup, &data.classes, NULL);
        double W[COLS][CLASSES] = {{0}};
        static uc_proposal proposals[ROWS];
        for (size_t i = 0; i < ROWS + DELAY; i++) {
            if (i < ROWS) {
                const uc_row row = uc_matrix_row(&data.X, i);
                assert_ok(uc_online_propose(&proposals[i], online, &row));
            }
            if (i < DELAY)
                continue;
            const size_t past = i - DELAY;
            const uc_row row = uc_matrix_row(&data.X, past);
            const uc_proposal *proposal = &proposals[past];
            const uc_answer answer = online_answer(online, proposal, data.y[past]);
            assert_ok(uc_online_learn(online, &row, proposal, answer));
            double tau[CLASSES] = {0}, score = 0.0, xx = 0.0;
            for (size_t j = 0; j < COLS; j++) {
                score += W[j][proposal->label] * (double)row.values[j];
                xx += (double)row.values[j] * (double)row.values[j];
            }
            const double sign = answer.kind == UC_ANSWER_RIGHT ? 1.0 : -1.0;
            if (e == 0) {
                tau[proposal->label] += answer.kind == UC_ANSWER_RIGHT ? 1.0 / proposal->probability : 0.0;
                tau[proposal->favourite] -= 1.0;
            } else
                tau[proposal->label] = sign * fmax(0.0, 1.0 - sign * score) / xx;
            for (size_t j = 0; j < COLS; j++)
                for (size_t k = 0; k < CLASSES; k++) {
                    W[j][k] += tau[k] * (double)row.values[j];
                    assert_near(online->plane[UC_WEIGHTS][(j + 1) * online->stride + k], W[j][k], 1e-10);
                }
        }
        uc_online_free(online);
    }
    uc_dataset_free(&data);
}

static void the_seed_decides_the_proposals(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 6);
    for (size_t e = 0; e < 2; e++) {
        uc_online *one = some_weights(explorers[e], &data, 0.5, 1),
                  *same = some_weights(explorers[e], &data, 0.5, 1),
                  *other = some_weights(explorers[e], &data, 0.5, 2);
        const size_t bytes = (COLS + 1) * one->stride * sizeof(double);
        assert_memory_equal(one->plane[UC_WEIGHTS], same->plane[UC_WEIGHTS], bytes);
        assert_memory_not_equal(one->plane[UC_WEIGHTS], other->plane[UC_WEIGHTS], bytes);
        uc_online_free(one);
        uc_online_free(same);
        uc_online_free(other);
    }
    uc_dataset_free(&data);
}

static void never_exploring_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b"};
    uc_names classes = sample_names(names, 2);
    for (size_t e = 0; e < 2; e++) {
        uc_online *online = NULL;
        uc_explore_settings settings = {.explore = 0.0};
        assert_error(uc_online_begin(&online, explorers[e], &settings, NULL, &classes, NULL), UC_ERR_OPTION,
                     "{explore=0}: it must be above 0 and at most 1");
        settings.explore = 1.0000001;
        assert_status(uc_online_begin(&online, explorers[e], &settings, NULL, &classes, NULL), UC_ERR_OPTION);
        assert_null(online);
    }
    uc_names_free(&classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_proposal_is_the_first_class_whose_cumulative_probability_exceeds_the_draw),
        cmocka_unit_test(proposals_follow_their_probabilities),
        cmocka_unit_test(the_expected_step_of_banditron_is_the_perceptrons),
        cmocka_unit_test(banditrons_steps_by_hand),
        cmocka_unit_test(bpa_moves_the_score_of_the_class_proposed_to_the_margin),
        cmocka_unit_test(late_feedback_is_learned_from_with_the_probability_of_then),
        cmocka_unit_test(the_seed_decides_the_proposals),
        cmocka_unit_test(never_exploring_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
