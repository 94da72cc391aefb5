/* An exploration floor: how often classes are drawn, and with what probability they say. */
#include "tests/online_sample.h"

#include "unconfuse/session.h"

enum { ROWS = 60, COLS = 5, CLASSES = 4, ROUNDS = 40000 };

/* Shares of the classes among proposals for one row, and the probabilities that came with them. */
static void draw(double shares[CLASSES], double told[CLASSES], uc_online *online, uc_row row, double explore)
{
    for (size_t k = 0; k < CLASSES; k++)
        shares[k] = told[k] = 0.0;
    for (size_t i = 0; i < ROUNDS; i++) {
        uc_proposal proposal;
        assert_ok(uc_online_propose(&proposal, online, &row));
        uc_online_explore(&proposal, online, explore);
        assert_true(proposal.label < CLASSES);
        shares[proposal.label] += 1.0 / ROUNDS;
        if (told[proposal.label] > 0.0)
            assert_near(told[proposal.label], proposal.probability, 1e-15);
        told[proposal.label] = proposal.probability;
    }
}

static void classes_are_drawn_as_often_as_they_say(void **state)
{
    static const char *const learners[] = {"cspa", "banditron", "soba", "perceptron"};
    static const double floors[] = {0.1, 0.5, 1.0};
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 5);
    for (size_t s = 0; s < sizeof learners / sizeof *learners; s++)
        for (size_t f = 0; f < sizeof floors / sizeof *floors; f++) {
            online_setup self;
            for (size_t i = 0; online_kind(&self, i) && strcmp(self.learner, learners[s]) != 0; i++)
                ;
            uc_online *online = online_begin(&self, &data.classes, NULL);
            double shares[CLASSES], told[CLASSES], sum = 0.0;
            draw(shares, told, online, uc_matrix_row(&data.X, 0), floors[f]);
            for (size_t k = 0; k < CLASSES; k++) {
                assert_near(shares[k], told[k], 0.0125); /* 5 deviations of 0.5 */
                assert_true(told[k] >= floors[f] / CLASSES - 1e-15);
                sum += told[k];
            }
            assert_near(sum, 1.0, 1e-12);
            uc_online_free(online);
        }
    uc_dataset_free(&data);
}

static void without_a_floor_nothing_changes(void **state)
{
    (void)state;
    const uc_names none = {0};
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 5);
    online_setup self;
    (void)online_kind(&self, 0);
    uc_online *online = online_begin(&self, &data.classes, NULL), *empty = online_begin(&self, &none, NULL);
    const uc_row row = uc_matrix_row(&data.X, 0);
    uc_proposal proposal, before;
    assert_ok(uc_online_propose(&proposal, online, &row));
    before = proposal;
    uc_online_explore(&proposal, online, 0.0);
    assert_int_equal(proposal.label, before.label);
    assert_near(proposal.probability, before.probability, 0.0);
    assert_ok(uc_online_propose(&proposal, empty, &row)); /* there is nothing to draw from */
    uc_online_explore(&proposal, empty, 0.5);
    assert_int_equal(proposal.label, UC_NONE);
    uc_online_free(online);
    uc_online_free(empty);
    uc_dataset_free(&data);
}

/* In parts or at once, for every learner. */
static void a_session_explores_the_same_after_a_stop(void **state)
{
    (void)state;
    online_setup self;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 8);
    for (size_t s = 0; online_kind(&self, s); s++) {
        const uc_learner *learner = uc_learner_find(self.learner);
        uc_session_settings settings = {.feedback = UC_FEEDBACK_FULL, .policy.explore = 0.4};
        if (!uc_learner_accepts(learner, UC_FEEDBACK_FULL))
            settings.feedback = UC_FEEDBACK_PARTIAL;
        uc_online *whole = online_begin(&self, &data.classes, NULL),
                  *parts = online_begin(&self, &data.classes, NULL);
        uc_session *session = NULL;
        assert_ok(uc_session_continue(&session, whole, &settings, NULL));
        assert_ok(uc_session_run_data(session, &data, 2, false));
        uc_session_free(session);
        for (size_t pass = 0; pass < 2; pass++) {
            assert_ok(uc_session_continue(&session, parts, &settings, NULL));
            assert_ok(uc_session_run_data(session, &data, 1, false));
            uc_session_free(session);
        }
        check_same_online(whole, parts);
        settings.policy.explore = 1.5;
        assert_int_equal(uc_session_continue(&session, parts, &settings, NULL), UC_ERR_OPTION);
        assert_string_equal(uc_last_error(), "explore 1.5 is not a probability, from 0 to 1");
        uc_online_free(whole);
        uc_online_free(parts);
    }
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_drawn_as_often_as_they_say),
        cmocka_unit_test(without_a_floor_nothing_changes),
        cmocka_unit_test(a_session_explores_the_same_after_a_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
