/* The memory that an online learner will need, worked by hand. */
#include "tests/support.h"

#include <math.h>

#include "unconfuse/learn.h"

/* Whether it fits in `bytes`, and not in one less. */
static void needs(double bytes, const char *learner, const void *settings, const uc_train_settings *train,
                  const uc_online_ahead *ahead)
{
    const uc_learner *self = uc_learner_find(learner);
    const uc_context enough = {.memory = (uint64_t)bytes}, too_little = {.memory = (uint64_t)bytes - 1};
    assert_ok(uc_learner_check_memory(self, settings, train, ahead, &enough));
    assert_status(uc_learner_check_memory(self, settings, train, ahead, &too_little), UC_ERR_NOMEM);
}

/* Weights of 8 classes, without padding, and of the constant feature. */
static double plane(size_t features)
{
    return 8.0 * ((double)features + 1.0) * 8.0;
}

static void planes_are_counted(void **state)
{
    (void)state;
    uc_online_ahead ahead = {.columns = 999, .classes = 8, .rounds = INFINITY};
    needs(1 * plane(999), "cspa", NULL, NULL, &ahead);
    needs(2 * plane(999), "spa", NULL, NULL, &ahead);      /* the average */
    needs(2 * plane(999), "confidit", NULL, NULL, &ahead); /* the variance */
    uc_train_settings train = uc_train_defaults();
    train.average = 0;
    needs(1 * plane(999), "spa", NULL, &train, &ahead);
    train.average = 1;
    needs(3 * plane(999), "confidit", NULL, &train, &ahead);
    ahead.saved = true; /* the state once more, and the model's weights, which are packed for the file */
    needs(8 * plane(999), "confidit", NULL, &train, &ahead);
}

static void rows_that_are_held_are_counted(void **state)
{
    (void)state;
    const uc_online_ahead ahead = {
        .columns = 999, .classes = 8, .rounds = 1e6, .row_bytes = 40, .waiting = 1000, .held_bytes = 12345};
    needs(plane(999) + 40e3 + 12345, "cspa", NULL, NULL, &ahead);
}

static void behind_a_map_the_dimension_counts_and_the_landmarks(void **state)
{
    (void)state;
    uc_train_settings train = uc_train_defaults();
    uc_online_ahead ahead = {
        .columns = 5000, .classes = 8, .rounds = INFINITY, .row_bytes = 20000, .waiting = 10};
    train.map.map = UC_MAP_LANDMARKS;
    needs(plane(700) + 700 * 20000.0 + 10 * 2800.0, "cspa", NULL, &train, &ahead);
    train.map.dimension = 100;
    needs(plane(100) + 100 * 20000.0 + 10 * 400.0, "cspa", NULL, &train, &ahead);
    ahead.rounds = 30; /* no more landmarks than rounds */
    needs(plane(100) + 30 * 20000.0 + 10 * 400.0, "cspa", NULL, &train, &ahead);
}

/* The least memory in which it fits. */
static double least(const uc_cspa_plus_settings *settings, const uc_online_ahead *ahead)
{
    const uc_learner *learner = uc_learner_find("cspa-plus");
    double low = 0.0, high = 1e15;
    while (high - low > 1.0) {
        const double middle = floor((low + high) / 2.0);
        const uc_context context = {.memory = (uint64_t)middle};
        const bool fits = uc_learner_check_memory(learner, settings, NULL, ahead, &context) == UC_OK;
        *(fits ? &high : &low) = middle;
    }
    return high;
}

static void metric_and_replay_of_cspa_plus_are_counted_within_their_bounds(void **state)
{
    (void)state;
    uc_cspa_plus_settings settings;
    uc_online_ahead ahead = {
        .columns = 1000, .classes = 8, .density = 1, .rounds = INFINITY, .row_bytes = 1000};
    uc_options_defaults(uc_learner_options(uc_learner_find("cspa-plus")), &settings);
    const double full = least(&settings, &ahead);
    assert_true(full > plane(1000) + 8e6 + 10000 * 1000.0);
    assert_true(full < plane(1000) + 8.5e6 + 10000 * 1200.0);

    ahead.density = 0.01; /* sparse: no metric */
    assert_true(least(&settings, &ahead) < plane(1000) + 10000 * 1200.0);
    ahead.density = 1;
    ahead.saved = true; /* rows are there twice, not three times */
    assert_true(least(&settings, &ahead) < 2 * full + 2 * plane(1000) + 1.0);
    ahead.saved = false;

    ahead.rounds = 100; /* no more rows than rounds */
    assert_true(least(&settings, &ahead) < plane(1000) + 8.5e6 + 100 * 1200.0);
    ahead.columns = 1000000; /* no metric */
    assert_true(least(&settings, &ahead) < plane(1000000) + 100 * 1200.0);
    ahead.rounds = INFINITY;
    settings.memory_rounds = 1000000000; /* 256 MB of rows at most */
    assert_true(least(&settings, &ahead) < plane(1000000) + 310e6);
    settings.replay = 0;
    assert_near(least(&settings, &ahead), plane(1000000), 1.0);
}

static void the_matrices_of_second_order_learners_are_counted(void **state)
{
    (void)state;
    const uc_online_ahead ahead = {.columns = 99, .classes = 8, .density = 1, .rounds = INFINITY};
    const uc_arow_settings arow = {.regularizer = 1, .covariance = 1};
    const uc_soba_settings soba = {.explore = 0.1, .prior = 1, .covariance = 1};
    needs(2 * plane(99) + 2 * 100 * 8.0, "arow", NULL, NULL,
          &ahead); /* variances and the parts of one margin */
    needs(plane(99) + 8 * 100 * 103 * 8.0, "arow", &arow, NULL,
          &ahead); /* a matrix and three vectors per class */
    needs(2 * plane(99) + 800 * 803 * 8.0, "soba", &soba, NULL, &ahead);
    needs(2 * plane(99) + 800 * 803 * 8.0, "soba", NULL, NULL, &ahead); /* auto */
    const uc_online_ahead wide = {.columns = 999, .classes = 8, .density = 1, .rounds = INFINITY};
    needs(2 * plane(999), "soba", NULL, NULL, &wide);
}

static void the_sentence_has_the_figures(void **state)
{
    (void)state;
    const uc_online_ahead ahead = {.columns = 999999, .classes = 8, .rounds = INFINITY};
    const uc_context context = {.memory = 1000000};
    assert_error(
        uc_learner_check_memory(uc_learner_find("cspa"), NULL, NULL, &ahead, &context), UC_ERR_NOMEM,
        "cspa with 999999 features and 8 classes needs 64.0 MB of memory, more than the limit of 1.0 MB "
        "({memory})");
}

static void a_learner_that_runs_is_asked_the_same(void **state)
{
    (void)state;
    uc_train_settings train = uc_train_defaults();
    uc_names classes = {0};
    uint32_t index;
    assert_ok(uc_names_add(&index, &classes, "a", 1));
    assert_ok(uc_names_add(&index, &classes, "b", 1));
    train.average = 0;
    uc_online *online;
    assert_ok(uc_online_begin(&online, uc_learner_find("spa"), NULL, &train, &classes, NULL));
    const uc_online_ahead ahead = {.columns = 999, .classes = 8, .rounds = INFINITY};
    const uc_context enough = {.memory = 64000}, too_little = {.memory = 63999};
    assert_ok(uc_online_check_memory(online, &ahead, &enough));
    assert_status(uc_online_check_memory(online, &ahead, &too_little), UC_ERR_NOMEM);
    uc_online_free(online);
    uc_names_free(&classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_are_counted),
        cmocka_unit_test(rows_that_are_held_are_counted),
        cmocka_unit_test(behind_a_map_the_dimension_counts_and_the_landmarks),
        cmocka_unit_test(metric_and_replay_of_cspa_plus_are_counted_within_their_bounds),
        cmocka_unit_test(the_matrices_of_second_order_learners_are_counted),
        cmocka_unit_test(the_sentence_has_the_figures),
        cmocka_unit_test(a_learner_that_runs_is_asked_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
