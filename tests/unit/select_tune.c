/* Every `auto` becomes a number, which is chosen on the given labels. */
#include "tests/sample.h"

#include <math.h>

#include "learn/learner.h"
#include "model/model.h"
#include "unconfuse/select.h"

static uc_dataset ring(size_t rows, double noise, uint64_t seed)
{
    uc_dataset data;
    assert_ok(uc_generator_run(&data, NULL, uc_generator_find("rp-ring"), NULL, rows, 0, seed));
    if (noise > 0) {
        uc_noise flips;
        assert_ok(uc_noise_uniform(&flips, 2, noise));
        assert_ok(uc_noise_apply(&data, &flips, seed, NULL));
        uc_noise_free(&flips);
    }
    return data;
}

static uc_train_settings with_map(uc_map_kind kind)
{
    uc_train_settings train = uc_train_defaults();
    train.map.map = (int)kind;
    return train;
}

static uc_pa_settings pa_defaults(void)
{
    uc_pa_settings settings;
    uc_options_defaults(uc_learner_options(uc_learner_find("pa")), &settings);
    return settings;
}

static void nothing_open_is_left_as_it_is(void **state)
{
    (void)state;
    uc_dataset data = ring(60, 0, 1);
    uc_train_settings train = with_map(UC_MAP_KGS), before;
    train.map.dimension = 7;
    train.map.width = 3.5;
    before = train;
    uc_pa_settings settings = pa_defaults(), old = settings;
    assert_ok(uc_tune(&settings, &train, uc_learner_find("pa"), &data, NULL));
    assert_memory_equal(&settings, &old, sizeof settings);
    assert_true(train.map.width == before.map.width && train.map.dimension == before.map.dimension);
    uc_dataset_free(&data);
}

/* A ring of width 4 in a square of side 20: too wide a kernel sees a line, too narrow a one sees single
 * points. */
static void the_width_and_dimension_chosen_fit_the_problem(void **state)
{
    (void)state;
    static const uc_map_kind kinds[] = {UC_MAP_KGS, UC_MAP_KPCA, UC_MAP_NYSTROEM};
    for (size_t k = 0; k < 3; k++) {
        uc_dataset data = ring(300, 0.1, 2);
        uc_train_settings train = with_map(kinds[k]);
        uc_pa_settings settings = pa_defaults();
        train.map.width = UC_AUTO_REAL;
        if (kinds[k] == UC_MAP_NYSTROEM) /* not nested: fewer candidates, for the time */
            train.map.dimension = 64;
        assert_ok(uc_tune(&settings, &train, uc_learner_find("pa"), &data, NULL));
        double median;
        assert_ok(uc_map_median_distance2(&median, &data.X, train.seed, NULL));
        assert_true(train.map.width > 0 && train.map.width <= median);
        assert_true(train.map.dimension >= 16 && train.map.dimension <= 240);
        uc_dataset_free(&data);
    }
}

/* With a map the jobs are widths, without one values of the learner's option; both of every fold. */
static void choices_do_not_depend_on_the_threads(void **state)
{
    (void)state;
    static const unsigned threads[] = {1, 2, 3, 7};
    uc_dataset data = ring(150, 0.2, 2);
    for (int mapped = 0; mapped < 2; mapped++) {
        uc_model *first = NULL;
        for (size_t t = 0; t < 4; t++) {
            const uc_context context = {.threads = threads[t]};
            uc_train_settings train = with_map(mapped ? UC_MAP_KGS : UC_MAP_NONE);
            uc_svm_settings settings;
            uc_model *model = NULL;
            uc_options_defaults(uc_learner_options(uc_learner_find("csvm")), &settings);
            settings.cost = UC_AUTO_REAL;
            train.map.width = UC_AUTO_REAL;
            train.map.dimension = 20;
            assert_ok(uc_tune_and_train(&model, uc_learner_find("csvm"), &settings, &train, &data, &context));
            if (first) {
                assert_memory_equal(model->weights, first->weights,
                                    (first->dimension + 1) * first->stride * sizeof *first->weights);
                uc_model_free(model);
            } else {
                first = model;
            }
        }
        uc_model_free(first);
    }
    uc_dataset_free(&data);
}

static void choosing_and_training_is_choosing_then_training(void **state)
{
    (void)state;
    uc_dataset data = ring(200, 0.2, 3);
    uc_train_settings train = with_map(UC_MAP_KGS), chosen = train;
    uc_pa_settings settings = pa_defaults();
    uc_model *at_once = NULL, *in_turn = NULL;
    assert_ok(uc_tune_and_train(&at_once, uc_learner_find("pa"), NULL, &train, &data, NULL));
    assert_ok(uc_tune(&settings, &chosen, uc_learner_find("pa"), &data, NULL));
    assert_true(train.map.dimension == UC_AUTO_COUNT && chosen.map.dimension != UC_AUTO_COUNT);
    assert_ok(uc_train(&in_turn, uc_learner_find("pa"), &settings, &chosen, &data, NULL));
    uint32_t a[200], b[200];
    assert_ok(uc_model_predict(a, at_once, &data.X, NULL));
    assert_ok(uc_model_predict(b, in_turn, &data.X, NULL));
    assert_memory_equal(a, b, sizeof a);
    uc_model_free(at_once);
    uc_model_free(in_turn);
    uc_dataset_free(&data);
}

static uc_logistic_settings l2_auto(void)
{
    uc_logistic_settings settings;
    uc_options_defaults(uc_learner_options(uc_learner_find("logistic")), &settings);
    settings.l2 = UC_AUTO_REAL;
    return settings;
}

/* Half of the labels at random and as many features as examples: only a strong penalty is any good. On
 * clean labels that one feature tells, a weak one is. */
static void the_penalty_follows_the_likelihood_of_held_out_labels(void **state)
{
    (void)state;
    double chosen[2];
    for (int clean = 0; clean < 2; clean++) {
        uc_dataset data = sample_data(120, 100, 2, false, 5);
        uc_rng rng = uc_rng_make(9, 1);
        for (size_t i = 0; i < 120; i++) {
            data.y[i] = clean ? (uint32_t)(i % 2) : (uint32_t)uc_rng_below(&rng, 2);
            data.X.values[i * data.X.stride] = clean ? (i % 2 ? 3.0f : -3.0f) : 0.0f;
        }
        uc_logistic_settings settings = l2_auto();
        uc_train_settings train = uc_train_defaults();
        assert_ok(uc_tune(&settings, &train, uc_learner_find("logistic"), &data, NULL));
        chosen[clean] = settings.l2;
        uc_dataset_free(&data);
    }
    assert_true(chosen[0] == 1e-1);
    assert_true(chosen[1] < chosen[0]);
}

static size_t held_out_errors(double l2, const uc_dataset *data)
{
    uint32_t predicted[200];
    size_t wrong = 0;
    uc_logistic_settings settings = l2_auto();
    uc_train_settings train = uc_train_defaults();
    settings.l2 = l2;
    assert_ok(
        uc_cross_validate(predicted, NULL, uc_learner_find("logistic"), &settings, &train, data, 5, NULL));
    for (size_t i = 0; i < data->X.rows; i++)
        wrong += predicted[i] != data->y[i];
    return wrong;
}

/* A model that is to be trained makes no more errors on the same folds than one of the likeliest penalty.
 * Equal folds: the mean over them is that over all rows. */
static void errors_decide_among_likely_penalties(void **state)
{
    (void)state;
    size_t fewer = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        uc_dataset data = sample_data(200, 20, 2, false, seed);
        uc_rng rng = uc_rng_make(seed, 2);
        for (size_t i = 0; i < 200; i++) {
            for (size_t j = 1; j < 20; j++) /* columns that a penalty holds down more and more */
                data.X.values[i * data.X.stride + j] /= (float)(j * j);
            if (i % 5 < 2) /* two labels in five are drawn */
                data.y[i] = (uint32_t)((i / 5 + uc_rng_below(&rng, 2)) % 2);
        }
        uc_logistic_settings likely = l2_auto(), open = l2_auto();
        uc_train_settings train = uc_train_defaults();
        uc_model *model = NULL;
        assert_ok(uc_tune(&likely, &train, uc_learner_find("logistic"), &data, NULL));
        assert_ok(uc_tune_and_train(&model, uc_learner_find("logistic"), &open, NULL, &data, NULL));
        const double chosen = json_real_value(json_object_get(model->settings, "l2"));
        const size_t with_likely = held_out_errors(likely.l2, &data),
                     with_chosen = held_out_errors(chosen, &data);
        assert_true(with_chosen <= with_likely);
        fewer += with_chosen < with_likely;
        uc_model_free(model);
        uc_dataset_free(&data);
    }
    assert_true(fewer > 0);
}

static void a_penalty_that_was_not_chosen_cannot_be_trained_with(void **state)
{
    (void)state;
    uc_dataset data = sample_data(30, 3, 2, false, 5);
    uc_logistic_settings settings = l2_auto();
    uc_model *model = NULL;
    assert_error(uc_train(&model, uc_learner_find("logistic"), &settings, NULL, &data, NULL), UC_ERR_INVALID,
                 "{l2=auto} must become a number before training (uc_tune)");
    assert_ok(uc_tune_and_train(&model, uc_learner_find("logistic"), &settings, NULL, &data, NULL));
    assert_true(isnan(settings.l2)); /* the caller's settings stay open */
    uc_model_free(model);
    uc_dataset_free(&data);
}

static void landmarks_are_700_unless_told(void **state)
{
    (void)state;
    uc_dataset data = ring(50, 0, 1);
    uc_train_settings train = with_map(UC_MAP_LANDMARKS);
    uc_pa_settings settings = pa_defaults();
    assert_ok(uc_tune(&settings, &train, uc_learner_find("pa"), &data, NULL));
    assert_int_equal(train.map.dimension, 700);
    uc_dataset_free(&data);
}

static void cross_validation_chooses_anew_in_every_fold(void **state)
{
    (void)state;
    uc_dataset data = ring(150, 0.1, 4);
    uc_train_settings train = with_map(UC_MAP_KGS);
    uint32_t predicted[150];
    double errors[3], mean = 0;
    assert_ok(uc_cross_validate(predicted, errors, uc_learner_find("pa"), NULL, &train, &data, 3, NULL));
    for (size_t i = 0; i < 3; i++)
        mean += errors[i] / 3;
    assert_true(mean < 0.35); /* the larger class alone: about 0.4 */
    uc_dataset_free(&data);
}

/* C^-1 [predicted][label] by hand: the share of errors that clean labels would show has this as its mean. */
static double corrected_error(const uint32_t *predicted, const uint32_t *labels, size_t count,
                              double eta_positive, double eta_negative)
{
    const double K = 1 / (1 - eta_positive - eta_negative);
    const double inverse[2][2] = {{K * (1 - eta_positive), -K * eta_positive},
                                  {-K * eta_negative, K * (1 - eta_negative)}};
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += inverse[1 - predicted[i]][labels[i]];
    return sum / (double)count;
}

/* Told the noise, candidates are compared by the error that clean labels would show; without it, by that
 * of the labels. */
static void the_criterion_is_corrected_for_the_noise_that_is_told(void **state)
{
    (void)state;
    enum { N = 200 };
    static const double costs[] = {0.1, 1, 10, 100, 1000, 10000};
    size_t unlike = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        uc_dataset data = sample_data(N, 6, 2, false, seed);
        uc_noise noise;
        assert_ok(uc_noise_binary(&noise, 0.4, 0.1));
        assert_ok(uc_noise_apply(&data, &noise, seed, NULL));
        uc_train_settings train = uc_train_defaults();
        uc_svm_settings settings;
        uc_options_defaults(uc_learner_options(uc_learner_find("sloppy-svm")), &settings);
        train.noise = &noise;
        double least[2] = {2, 2}, best[2] = {0, 0};
        for (size_t k = 0; k < 6; k++) {
            uint32_t predicted[N];
            settings.cost = costs[k];
            assert_ok(uc_cross_validate(predicted, NULL, uc_learner_find("sloppy-svm"), &settings, &train,
                                        &data, 5,
                                        NULL)); /* equal folds: the mean over them is that over all rows */
            const double error[2] = {corrected_error(predicted, data.y, N, 0.4, 0.1),
                                     corrected_error(predicted, data.y, N, 0, 0)};
            for (size_t way = 0; way < 2; way++)
                if (error[way] < least[way] - 1e-9) {
                    least[way] = error[way];
                    best[way] = costs[k];
                }
        }
        settings.cost = UC_AUTO_REAL;
        assert_ok(uc_tune(&settings, &train, uc_learner_find("sloppy-svm"), &data, NULL));
        assert_true(settings.cost == best[0]);
        unlike += best[0] != best[1];
        uc_noise_free(&noise);
        uc_dataset_free(&data);
    }
    assert_true(unlike > 0); /* the labels alone would have chosen otherwise */
}

/* The default map is what suits the learner: kgs for rp, none for the others. A map that was given stays. */
static void the_map_suits_the_learner(void **state)
{
    (void)state;
    static const struct {
        const char *learner;
        int given, expected;
    } cases[] = {{"rp", UC_MAP_DEFAULT, UC_MAP_KGS},
                 {"rp", UC_MAP_NONE, UC_MAP_NONE},
                 {"rp", UC_MAP_KPCA, UC_MAP_KPCA},
                 {"rp", UC_MAP_AUTO, UC_MAP_KGS},
                 {"csvm", UC_MAP_DEFAULT, UC_MAP_NONE},
                 {"csvm", UC_MAP_KGS, UC_MAP_KGS},
                 {"sloppy-svm", UC_MAP_DEFAULT, UC_MAP_NONE},
                 {"logistic", UC_MAP_DEFAULT, UC_MAP_NONE},
                 {"pa", UC_MAP_DEFAULT, UC_MAP_NONE}};
    assert_int_equal(uc_train_defaults().map.map, UC_MAP_DEFAULT);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        uc_dataset data = ring(60, 0, 1);
        const uc_learner *learner = uc_learner_find(cases[k].learner);
        uc_train_settings train = with_map((uc_map_kind)cases[k].given);
        train.map.dimension = 5;
        train.map.width = 20;
        assert_int_equal(uc_train_decide(learner, &train).map.map, cases[k].expected);
        void *settings = uc_learner_settings(learner, NULL);
        assert_ok(uc_tune(settings, &train, learner, &data, NULL));
        assert_int_equal(train.map.map, cases[k].expected);
        uc_free(settings);
        uc_dataset_free(&data);
    }
}

/* Kappa and the width come from the noisy labels. */
static void rp_needs_no_numbers(void **state)
{
    (void)state;
    uc_dataset data = ring(300, 0.1, 2), test = ring(1000, 0, 3);
    uc_rp_settings settings;
    uc_options_defaults(uc_learner_options(uc_learner_find("rp")), &settings);
    assert_true(isnan(settings.kappa));
    uc_train_settings train = uc_train_defaults();
    train.map.width = UC_AUTO_REAL;
    train.map.dimension = 64; /* for the time */
    assert_ok(uc_tune(&settings, &train, uc_learner_find("rp"), &data, NULL));
    assert_true(settings.kappa == 0 || settings.kappa == 0.03 || settings.kappa == 0.1 ||
                settings.kappa == 0.2);
    assert_true(train.map.width > 0);
    uc_model *model = NULL;
    assert_ok(uc_train(&model, uc_learner_find("rp"), &settings, &train, &data, NULL));
    uint32_t predicted[1000];
    size_t errors = 0;
    assert_ok(uc_model_predict(predicted, model, &test.X, NULL));
    for (size_t i = 0; i < 1000; i++)
        errors += predicted[i] != test.y[i];
    assert_true(errors < 160); /* the larger class alone: about 380 */
    uc_model_free(model);
    uc_dataset_free(&data);
    uc_dataset_free(&test);
}

static uc_status select_sloppy(uc_dataset *data, const uc_noise *noise)
{
    uc_train_settings train = uc_train_defaults();
    uc_svm_settings settings;
    const uc_context alone = {.threads = 1};
    uc_options_defaults(uc_learner_options(uc_learner_find("sloppy-svm")), &settings);
    settings.cost = UC_AUTO_REAL;
    settings.iterations = 1;
    train.noise = noise;
    return uc_tune(&settings, &train, uc_learner_find("sloppy-svm"), data, &alone);
}

static void every_allocation_of_the_corrected_criterion_may_fail(void **state)
{
    (void)state;
    uc_dataset data = sample_data(20, 3, 2, false, 5);
    uc_noise noise;
    uc_status status;
    assert_ok(uc_noise_binary(&noise, 0.1, 0.2));
    const long live = uc_alloc_live();
    FOR_EACH_FAILING_ALLOCATION(status, select_sloppy(&data, &noise));
    assert_int_equal(uc_alloc_live(), live);
    uc_noise_free(&noise);
    uc_dataset_free(&data);
}

static uc_status select_status(uc_dataset *data)
{
    uc_train_settings train = with_map(UC_MAP_KGS);
    uc_pa_settings settings = pa_defaults();
    const uc_context alone = {.threads = 1};
    train.passes = 1;
    return uc_tune(&settings, &train, uc_learner_find("pa"), data, &alone);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = ring(20, 0, 1);
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, select_status(&data));
    uc_dataset_free(&data);
}

static bool stop_at_once(const char *task, double done, double total, const char *detail, void *user)
{
    (void)done, (void)total, (void)detail, (void)user;
    return strncmp(task, "choosing", 8) != 0;
}

static void choosing_can_be_interrupted(void **state)
{
    (void)state;
    uc_dataset data = ring(60, 0, 1);
    uc_train_settings train = with_map(UC_MAP_KGS);
    uc_pa_settings settings = pa_defaults();
    const uc_context context = {.progress = stop_at_once};
    assert_status(uc_tune(&settings, &train, uc_learner_find("pa"), &data, &context), UC_ERR_CANCELLED);
    assert_true(train.map.dimension == UC_AUTO_COUNT);
    uc_dataset_free(&data);
}

/* What was reported: by which tasks, and the last of it. */
typedef struct listener {
    char task[128], detail[128];
    size_t other_tasks, backwards;
    double done, total;
} listener;

static bool hear(const char *task, double done, double total, const char *detail, void *user)
{
    listener *self = user;
    self->other_tasks += self->task[0] && strcmp(self->task, task) != 0;
    self->backwards += done < self->done;
    snprintf(self->task, sizeof self->task, "%s", task);
    snprintf(self->detail, sizeof self->detail, "%s", detail ? detail : "");
    self->done = done;
    self->total = total;
    return true;
}

/* Each candidate is trained on each of 5 folds; progress reports nothing else. */
static void progress_counts_the_trainings(void **state)
{
    (void)state;
    uc_dataset data = ring(100, 0, 1);
    uc_train_settings train = with_map(UC_MAP_KGS);
    uc_pa_settings settings = pa_defaults();
    listener heard = {0};
    const uc_context context = {.threads = 1, .progress = hear, .user = &heard};
    train.map.width = UC_AUTO_REAL;
    assert_ok(uc_tune(&settings, &train, uc_learner_find("pa"), &data, &context));
    assert_string_equal(heard.task, "choosing {width}, {dimension}");
    assert_string_equal(heard.detail, "training 100 of 100"); /* 5 widths, dimensions 16, 32, 64 and 80 */
    assert_near(heard.done, 100, 0);
    assert_near(heard.total, 100, 0);
    assert_int_equal(heard.other_tasks + heard.backwards, 0);

    uc_logistic_settings logistic;
    uc_options_defaults(uc_learner_options(uc_learner_find("logistic")), &logistic);
    logistic.l2 = UC_AUTO_REAL;
    train = uc_train_defaults();
    heard = (listener){0};
    assert_ok(uc_tune(&logistic, &train, uc_learner_find("logistic"), &data, &context));
    assert_string_equal(heard.task, "choosing {l2}");
    assert_near(heard.done, heard.total, 0);
    assert_int_equal((size_t)heard.total % 5, 0);
    assert_int_equal(heard.other_tasks + heard.backwards, 0);
    uc_dataset_free(&data);
}

/* The trainings inside a fold are a part of it, and progress never goes back. */
static void progress_of_folds_contains_that_of_choosing(void **state)
{
    (void)state;
    uc_dataset data = ring(100, 0, 1);
    uc_logistic_settings logistic;
    uc_options_defaults(uc_learner_options(uc_learner_find("logistic")), &logistic);
    logistic.l2 = UC_AUTO_REAL;
    const uc_train_settings train = uc_train_defaults();
    listener heard = {0};
    const uc_context context = {.progress = hear, .user = &heard};
    uint32_t *predicted = calloc(data.X.rows, sizeof *predicted);
    assert_non_null(predicted);
    assert_ok(uc_cross_validate(predicted, NULL, uc_learner_find("logistic"), &logistic, &train, &data, 3,
                                &context));
    assert_string_equal(heard.task, "cross-validating");
    assert_string_equal(heard.detail, "fold 3 of 3");
    assert_near(heard.done, 3, 0);
    assert_near(heard.total, 3, 0);
    assert_int_equal(heard.other_tasks + heard.backwards, 0);
    free(predicted);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_open_is_left_as_it_is),
        cmocka_unit_test(the_width_and_dimension_chosen_fit_the_problem),
        cmocka_unit_test(choices_do_not_depend_on_the_threads),
        cmocka_unit_test(choosing_and_training_is_choosing_then_training),
        cmocka_unit_test(the_penalty_follows_the_likelihood_of_held_out_labels),
        cmocka_unit_test(errors_decide_among_likely_penalties),
        cmocka_unit_test(a_penalty_that_was_not_chosen_cannot_be_trained_with),
        cmocka_unit_test(landmarks_are_700_unless_told),
        cmocka_unit_test(cross_validation_chooses_anew_in_every_fold),
        cmocka_unit_test(the_criterion_is_corrected_for_the_noise_that_is_told),
        cmocka_unit_test(the_map_suits_the_learner),
        cmocka_unit_test(rp_needs_no_numbers),
        cmocka_unit_test(every_allocation_of_the_corrected_criterion_may_fail),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(choosing_can_be_interrupted),
        cmocka_unit_test(progress_counts_the_trainings),
        cmocka_unit_test(progress_of_folds_contains_that_of_choosing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
