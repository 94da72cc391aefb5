/* What happens around proposals: baselines, expiry, classes that come later; in a session, and by hand. */
#include "tests/online_sample.h"

#include <stdlib.h>

#include "unconfuse/session.h"

enum { ROWS = 90, COLS = 6, CLASSES = 4 };

static const online_setup *plus(void)
{
    static online_setup self;
    for (size_t i = 0; online_kind(&self, i) && strcmp(self.learner, "cspa-plus") != 0; i++)
        ;
    return &self;
}

static uc_session *continued(uc_online *online, const uc_session_settings *settings)
{
    uc_session *session = NULL;
    assert_ok(uc_session_continue(&session, online, settings, NULL));
    return session;
}

static void a_baseline_is_proposed_with_certainty_and_counted(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 2);
    uc_online *online = online_begin(plus(), &data.classes, NULL);
    const uc_row row = uc_matrix_row(&data.X, 0);
    const uc_policy apprentice = {.apprentice = true, .explore = 1.0}, looker = {0};
    uc_event_counts counts = {0};
    uc_proposal own, proposal;
    assert_ok(uc_online_propose(&own, online, &row));
    const uint32_t other = (own.label + 1) % CLASSES;
    proposal = own;
    uc_policy_propose(&proposal, &counts, &apprentice, online, other, NULL);
    assert_int_equal(proposal.label, other);
    assert_near(proposal.probability, 1.0, 0.0);
    assert_int_equal(proposal.favourite, own.favourite);
    proposal = own;
    uc_policy_propose(&proposal, &counts, &looker, online, own.label, NULL);
    assert_int_equal(proposal.label, own.label);
    proposal = own;
    uc_policy_propose(&proposal, &counts, &apprentice, online, UC_NONE, NULL); /* it explores instead */
    assert_near(proposal.probability, 1.0 / CLASSES, 1e-15);
    assert_int_equal(counts.proposals, 3);
    assert_int_equal(counts.compared, 2);
    assert_int_equal(counts.agreed, 1);
    uc_online_free(online);
    uc_dataset_free(&data);
}

/* One learner of each kind: of right or wrong, of labels, of both. */
static void a_learner_hears_what_it_can_use(void **state)
{
    static const struct {
        const char *learner;
        bool right;
        uint32_t label;
        bool hears;
        uc_answer_kind kind;
    } cases[] = {
        {"cspa", true, UC_NONE, true, UC_ANSWER_RIGHT}, {"cspa", false, 2, true, UC_ANSWER_WRONG},
        {"spa", true, UC_NONE, true, UC_ANSWER_LABEL},  {"spa", false, UC_NONE, false, 0},
        {"spa", false, 2, true, UC_ANSWER_LABEL},       {"onebit", false, UC_NONE, true, UC_ANSWER_WRONG},
        {"onebit", false, 2, true, UC_ANSWER_LABEL}};
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uc_online *online = NULL;
        const uc_train_settings train = uc_train_defaults();
        const uc_proposal proposal = {.label = 1, .probability = 1.0, .favourite = 1};
        uc_answer answer;
        assert_ok(
            uc_online_begin(&online, uc_learner_find(cases[i].learner), NULL, &train, &data.classes, NULL));
        assert_int_equal(uc_policy_answer(&answer, online, &proposal, cases[i].right, cases[i].label),
                         cases[i].hears);
        if (cases[i].hears)
            assert_int_equal(answer.kind, cases[i].kind);
        if (cases[i].hears && answer.kind == UC_ANSWER_LABEL)
            assert_int_equal(answer.label, cases[i].right ? 1 : 2);
        uc_event_counts counts = {0};
        const uc_policy wrong = {.expired_is_wrong = true}, ignore = {0};
        assert_int_equal(uc_policy_expire(&answer, &counts, &wrong, online, &proposal),
                         uc_learner_accepts(uc_online_learner(online), UC_FEEDBACK_PARTIAL));
        assert_false(uc_policy_expire(&answer, &counts, &ignore, online, &proposal));
        assert_int_equal(counts.expired, 2);
        uc_online_free(online);
    }
    uc_dataset_free(&data);
}

/* Feedback of round t after the proposal of t + delay; expiry after that of t + expire. */
static void play_by_hand(uc_online *online, uc_event_counts *counts, const uc_dataset *data, size_t delay,
                         size_t expire, double missing, bool wrong)
{
    const uc_policy policy = {.expired_is_wrong = wrong};
    uc_proposal proposals[ROWS];
    bool comes[ROWS];
    uc_rng rng = uc_rng_make(plus()->train.seed, UINT64_C(0x636c692d6d697373));
    for (size_t t = 0; t < ROWS + delay + expire; t++) {
        if (t < ROWS) {
            const uc_row row = uc_matrix_row(&data->X, t);
            assert_ok(uc_online_propose(&proposals[t], online, &row));
            comes[t] = uc_rng_uniform(&rng) >= missing && delay <= expire;
        }
        if (t >= expire && t - expire < ROWS && !comes[t - expire]) {
            const size_t i = t - expire;
            const uc_row row = uc_matrix_row(&data->X, i);
            uc_answer answer;
            if (uc_policy_expire(&answer, counts, &policy, online, &proposals[i]))
                assert_ok(uc_online_learn(online, &row, &proposals[i], answer));
        }
        if (t >= delay && t - delay < ROWS && comes[t - delay]) {
            const size_t i = t - delay;
            const uc_row row = uc_matrix_row(&data->X, i);
            uc_answer answer;
            assert_true(
                uc_policy_answer(&answer, online, &proposals[i], proposals[i].label == data->y[i], UC_NONE));
            assert_ok(uc_online_learn(online, &row, &proposals[i], answer));
        }
    }
}

static void a_session_gives_up_feedback_as_by_hand(void **state)
{
    static const size_t delays[] = {0, 3, 5, 8, 9};
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 4);
    for (size_t d = 0; d < sizeof delays / sizeof *delays; d++)
        for (int wrong = 0; wrong < 2; wrong++) {
            uc_online *slow = online_begin(plus(), &data.classes, NULL),
                      *online = online_begin(plus(), &data.classes, NULL);
            uc_event_counts counts = {0};
            const uc_session_settings settings = {.feedback = UC_FEEDBACK_PARTIAL,
                                                  .delay = delays[d],
                                                  .missing = 0.4,
                                                  .expire = 8,
                                                  .policy.expired_is_wrong = wrong};
            play_by_hand(slow, &counts, &data, delays[d], 8, 0.4, wrong);
            uc_session *session = continued(online, &settings);
            assert_ok(uc_session_run_data(session, &data, 1, false));
            assert_ok(uc_session_finish(session));
            check_same_online(slow, online);
            assert_int_equal(uc_session_count(session).events.expired, counts.expired);
            assert_true(counts.expired > 20);
            uc_session_free(session);
            uc_online_free(online);
            uc_online_free(slow);
        }
    uc_dataset_free(&data);
}

/* A model of all classes, in another order, and one that the learner does not know. */
static uc_model *baseline_of(const uc_dataset *data)
{
    static const char *const names[] = {"4", "other", "1", "3", "2"};
    uc_names classes = sample_names(names, 5);
    uc_online *online = online_begin(plus(), &classes, NULL);
    uc_model *model = NULL;
    for (size_t i = 0; i < 40; i++)
        (void)online_round_on(online, uc_matrix_row(&data->X, i),
                              uc_names_find_label(&classes, data->classes.text[data->y[i]], 1));
    assert_ok(uc_online_model(&model, online, false));
    uc_online_free(online);
    uc_names_free(&classes);
    return model;
}

static void an_apprentice_learns_from_what_the_baseline_is_told(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 4);
    uc_model *model = baseline_of(&data);
    uc_online *slow = online_begin(plus(), &data.classes, NULL),
              *online = online_begin(plus(), &data.classes, NULL);
    const uc_policy policy = {.apprentice = true};
    uc_event_counts counts = {0};
    uint64_t correct = 0;
    uint32_t predicted[ROWS];
    assert_ok(uc_model_predict(predicted, model, &data.X, NULL));
    for (size_t i = 0; i < ROWS; i++) {
        const uc_row row = uc_matrix_row(&data.X, i);
        const char *name = uc_model_classes(model)->text[predicted[i]];
        uc_proposal proposal;
        assert_ok(uc_online_propose(&proposal, slow, &row));
        uc_policy_propose(&proposal, &counts, &policy, slow,
                          uc_names_find_label(&data.classes, name, strlen(name)), NULL);
        correct += proposal.label == data.y[i];
        assert_ok(uc_online_learn(slow, &row, &proposal, online_answer(slow, &proposal, data.y[i])));
    }
    const uc_session_settings settings = {
        .feedback = UC_FEEDBACK_PARTIAL, .policy = policy, .baseline = model};
    uc_session *session = continued(online, &settings);
    assert_ok(uc_session_run_data(session, &data, 1, false));
    check_same_online(slow, online);
    const uc_session_counts found = uc_session_count(session);
    assert_int_equal(found.correct, correct);
    assert_int_equal(found.events.compared, counts.compared);
    assert_int_equal(found.events.agreed, counts.agreed);
    assert_true(counts.compared > ROWS / 2 && counts.agreed > 0 && counts.agreed < counts.compared);
    uc_matrix prepared = {0};
    assert_ok(uc_online_prepare(&prepared, online, &data.X, NULL));
    assert_int_equal(uc_session_run_rows(session, &prepared, data.y, NULL, 1, true), UC_ERR_INVALID);
    assert_string_equal(uc_last_error(), "a baseline needs rows as they come, not prepared ones");
    uc_matrix_free(&prepared);
    uc_session_free(session);
    uc_online_free(online);
    uc_online_free(slow);
    uc_model_free(model);
    uc_dataset_free(&data);
}

/* Right/wrong feedback names no class: a new class that was announced is known after its first round. */
static void a_new_label_becomes_a_class_after_its_first_round(void **state)
{
    static const char *const first[] = {"1", "2"};
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 4);
    uc_names two = sample_names(first, 2);
    uc_online *slow = online_begin(plus(), &two, NULL), *online = online_begin(plus(), &two, NULL);
    for (size_t i = 0; i < ROWS; i++) {
        const char *name = data.classes.text[data.y[i]];
        const uc_row row = uc_matrix_row(&data.X, i);
        uc_proposal proposal;
        uint32_t class;
        assert_ok(uc_online_propose(&proposal, slow, &row));
        const uint32_t known = uc_names_find_label(uc_online_classes(slow), name, strlen(name));
        const uc_answer answer = {proposal.label == known ? UC_ANSWER_RIGHT : UC_ANSWER_WRONG, 0};
        assert_ok(uc_online_learn(slow, &row, &proposal, answer));
        assert_ok(uc_online_add_class(&class, slow, name));
    }
    const uc_session_settings settings = {.feedback = UC_FEEDBACK_PARTIAL, .add_classes = true};
    uc_session *session = continued(online, &settings);
    assert_ok(uc_session_run_data(session, &data, 1, false));
    assert_int_equal(uc_online_classes(online)->count, CLASSES);
    check_same_online(slow, online);
    uc_session_free(session);
    uc_online_free(online);
    uc_online_free(slow);
    uc_names_free(&two);
    uc_dataset_free(&data);
}

static uc_status run_whole(const uc_dataset *data, const uc_session_settings *settings)
{
    uc_online *online = NULL;
    uc_session *session = NULL;
    uc_status status = uc_online_begin(&online, uc_learner_find("cspa"), NULL, NULL, &data->classes, NULL);
    if (status == UC_OK)
        status = uc_session_continue(&session, online, settings, NULL);
    if (status == UC_OK)
        status = uc_session_run_data(session, data, 1, false);
    if (status == UC_OK)
        status = uc_session_finish(session);
    uc_session_free(session);
    uc_online_free(online);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 4);
    uc_model *model = baseline_of(&data);
    const uc_session_settings settings = {.feedback = UC_FEEDBACK_PARTIAL,
                                          .missing = 0.5,
                                          .delay = 2,
                                          .expire = 5,
                                          .policy = {.apprentice = true, .expired_is_wrong = true},
                                          .baseline = model};
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, run_whole(&data, &settings));
    uc_session_settings labels = settings;
    labels.feedback = UC_FEEDBACK_FULL;
    uc_online *online = NULL;
    uc_session *session = NULL;
    assert_ok(uc_online_begin(&online, uc_learner_find("spa"), NULL, NULL, &data.classes, NULL));
    assert_int_equal(uc_session_continue(&session, online, &labels, NULL), UC_ERR_OPTION);
    uc_online_free(online);
    uc_model_free(model);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_baseline_is_proposed_with_certainty_and_counted),
        cmocka_unit_test(a_learner_hears_what_it_can_use),
        cmocka_unit_test(a_session_gives_up_feedback_as_by_hand),
        cmocka_unit_test(an_apprentice_learns_from_what_the_baseline_is_told),
        cmocka_unit_test(a_new_label_becomes_a_class_after_its_first_round),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
