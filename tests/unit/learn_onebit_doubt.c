/* Answers that are false: Bayes' rule against counting, the fit against the rates that drew the answers, and
 * what a learner makes of flipped answers. */
#include "tests/online_sample.h"

#include "learn/onebit/refit.h"

static double logistic(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

/* Of many rounds with score v, whose proposals are right as often as the line says and whose answers are
 * flipped: how many of those answered so were right. */
static void the_posterior_is_a_share_of_rounds(void **state)
{
    (void)state;
    const double noise[2] = {0.1, 0.3};
    const uc_doubt doubt = uc_doubt_begin(noise, -1.0, 2.0);
    uc_rng rng = uc_rng_make(3, 1);
    assert_true(doubt.active && !doubt.estimates);
    for (double v = 0.5; v < 1.6; v += 0.5) { /* pi from 1/2 to 0.9: beyond, the limits decide */
        double answered[2] = {0, 0}, right[2] = {0, 0};
        for (size_t i = 0; i < 200000; i++) {
            const bool is_right = uc_rng_uniform(&rng) < logistic(-1.0 + 2.0 * v);
            const bool flipped = uc_rng_uniform(&rng) < noise[is_right ? 0 : 1];
            answered[is_right != flipped]++;
            right[is_right != flipped] += is_right;
        }
        for (size_t said = 0; said < 2; said++)
            assert_near(uc_doubt_posterior(&doubt, v, said), right[said] / answered[said], 0.01);
    }
    assert_near(uc_doubt_posterior(&doubt, -9.0, true), 0.9 / (0.9 + 0.3), 1e-12); /* at pi = 1/2 */
    assert_true(uc_doubt_posterior(&doubt, -9.0, false) < 1e-6);
    assert_false(uc_doubt_begin((double[2]){0.0, 0.0}, 0.0, 1.0).active);
}

static void the_fit_finds_the_rates(void **state)
{
    (void)state;
    enum { COUNT = 8000 };
    static double v[COUNT];
    static bool said[COUNT];
    const double rates[][2] = {{0.02, 0.02}, {0.1, 0.1}, {0.2, 0.05}, {0.05, 0.2}, {0.3, 0.3}};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        uc_rng rng = uc_rng_make(5, r);
        uc_doubt doubt = uc_doubt_begin((double[2]){(double)NAN, (double)NAN}, -3.0, 6.0);
        assert_true(doubt.active && doubt.estimates);
        for (size_t i = 0; i < COUNT; i++) {
            v[i] = 1.4 * uc_rng_uniform(&rng) - 0.2;
            const bool is_right = uc_rng_uniform(&rng) < logistic(-4.0 + 10.0 * v[i]);
            said[i] = (uc_rng_uniform(&rng) < rates[r][is_right ? 0 : 1]) != is_right;
        }
        uc_doubt_fit(&doubt, v, said, 63);
        assert_true(doubt.slope == 6.0); /* too few rounds */
        for (int refit = 0; refit < 4; refit++)
            uc_doubt_fit(&doubt, v, said, COUNT);
        for (size_t i = 0; i < 2; i++)
            assert_near(doubt.flipped[i], rates[r][i], 0.04);
        assert_near(logistic(doubt.offset + 0.4 * doubt.slope), 0.5, 0.12);
    }
}

/* Targets at no noise are those of certainty; with noise they are the mixture of both cases. */
static void targets_follow_bayes(void **state)
{
    (void)state;
    enum { K = 4 };
    const double scores[K] = {0.5, 0.2, -0.1, -0.6};
    double certain[K], mixed[K];
    const uc_onebit_rule plain = {.penalty = 0.2};
    uc_onebit_target(certain, scores, K, (uc_onebit_said){1, false}, 0.0, NULL, &plain);
    for (int right = 0; right < 2; right++) {
        uc_onebit_rule rule = {0.2, uc_doubt_begin((double[2]){0.1, 0.2}, -3.0, 6.0)};
        const double r = uc_doubt_posterior(&rule.doubt, 0.2 + 1.0 / K, right);
        uc_onebit_target(mixed, scores, K, (uc_onebit_said){1, right}, 0.0, NULL, &rule);
        for (size_t k = 0; k < K; k++)
            assert_near(mixed[k], r * (k == 1) + (1.0 - r) * certain[k], 1e-6);
    }
}

/* ---- the learner ---- */

enum { ROWS = 700, COLS = 6, CLASSES = 4 };

/* Classes that lie apart: class k at 4 along column k. */
static uc_dataset blobs(uint64_t seed)
{
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, seed);
    uc_rng rng = uc_rng_make(seed, 6);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLS; j++)
            data.X.values[i * data.X.stride + j] =
                (float)(uc_rng_normal(&rng) + 4.0 * (double)(data.y[i] == j) + 5.0);
    return data;
}

static size_t right_with(const uc_dataset *data, const double noise[2], double flips)
{
    online_setup self = {.learner = "onebit", .train = uc_train_defaults()};
    uc_options_defaults(uc_learner_options(uc_learner_find("onebit")), &self.settings.onebit);
    memcpy(self.settings.onebit.feedback_noise, noise, 2 * sizeof *noise);
    uc_online *online = online_begin(&self, &data->classes, NULL);
    const uc_session_settings settings = {.feedback = UC_FEEDBACK_PARTIAL, .flips = {flips, flips}};
    uc_session *session;
    assert_ok(uc_session_continue(&session, online, &settings, NULL));
    assert_ok(uc_session_run_rows(session, &data->X, data->y, NULL, data->X.rows, false));
    const size_t right = (size_t)uc_session_count(session).correct;
    uc_session_free(session);
    uc_online_free(online);
    return right;
}

static void flipped_answers_are_survived(void **state)
{
    (void)state;
    const double none[2] = {0.0, 0.0}, told[2] = {0.2, 0.2}, unknown[2] = {(double)NAN, (double)NAN};
    size_t sums[4] = {0};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        uc_dataset data = blobs(seed);
        sums[0] += right_with(&data, none, 0.0);
        sums[1] += right_with(&data, none, 0.2);
        sums[2] += right_with(&data, told, 0.2);
        sums[3] += right_with(&data, unknown, 0.2);
        uc_dataset_free(&data);
    }
    assert_true(sums[1] < sums[0] && sums[1] > 3 * ROWS / 2);
    assert_true(sums[2] > sums[1] && sums[3] > sums[1]);
}

/* Right or wrong, some of it false; stopped and resumed through a model's state in every 23rd round. */
static void check_resumed(const uc_dataset *data, double A, double B)
{
    online_setup self = {.learner = "onebit", .train = uc_train_defaults()};
    uc_options_defaults(uc_learner_options(uc_learner_find("onebit")), &self.settings.onebit);
    self.settings.onebit.feedback_noise[0] = A;
    self.settings.onebit.feedback_noise[1] = B;
    uc_online *whole = online_begin(&self, &data->classes, NULL),
              *parts = online_begin(&self, &data->classes, NULL);
    uc_rng rng = uc_rng_make(2, 2);
    for (size_t i = 0; i < data->X.rows; i++) {
        const uc_row row = uc_matrix_row(&data->X, i);
        const bool flipped = uc_rng_uniform(&rng) < 0.1, told = uc_rng_uniform(&rng) < 0.1;
        uc_proposal proposals[2];
        if (i % 23 == 0) {
            uc_model *model;
            assert_ok(uc_online_model(&model, parts, true));
            uc_online_free(parts);
            assert_ok(uc_online_resume(&parts, model));
            uc_model_free(model);
        }
        assert_ok(uc_online_propose(&proposals[0], whole, &row));
        assert_ok(uc_online_propose(&proposals[1], parts, &row));
        assert_int_equal(proposals[0].label, proposals[1].label);
        const bool right = (proposals[0].label == data->y[i]) != flipped;
        uc_answer answer = {right ? UC_ANSWER_RIGHT : UC_ANSWER_WRONG, 0};
        if (told)
            answer = (uc_answer){UC_ANSWER_LABEL, data->y[i]};
        assert_ok(uc_online_learn(whole, &row, &proposals[0], answer));
        assert_ok(uc_online_learn(parts, &row, &proposals[1], answer));
    }
    check_same_online(whole, parts);
    uc_online_free(whole);
    uc_online_free(parts);
}

static void resuming_with_doubt_is_never_stopping(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_dataset data = sample_data(ROWS, sparse ? 300 : COLS, CLASSES, sparse, 8);
        check_resumed(&data, 0.0, 0.0);
        check_resumed(&data, 0.1, 0.2);
        check_resumed(&data, (double)NAN, (double)NAN);
        uc_dataset_free(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_posterior_is_a_share_of_rounds),
        cmocka_unit_test(the_fit_finds_the_rates),
        cmocka_unit_test(targets_follow_bayes),
        cmocka_unit_test(flipped_answers_are_survived),
        cmocka_unit_test(resuming_with_doubt_is_never_stopping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
