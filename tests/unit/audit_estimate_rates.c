/* Noise rates of two classes from the noisy labels alone: against cross-validation, converging, biased,
 * refused. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "unconfuse/noise.h"
#include "unconfuse/audit.h"
#include "unconfuse/select.h"

enum { MOST = 4000 };

/* Separable, without a gap: x uniform on both sides of 0, and a feature that says nothing. `share` of
 * the rows are truly positive (class "2"); the clean labels go to `truth`. */
static uc_dataset separable(uint32_t *truth, size_t rows, double share, double eta_positive,
                            double eta_negative, uint64_t seed)
{
    uc_dataset data = sample_data(rows, 2, 2, false, seed);
    uc_rng rng = uc_rng_make(seed, 77);
    for (size_t i = 0; i < rows; i++) {
        const uint32_t y = uc_rng_uniform(&rng) < share;
        float *x = data.X.values + i * data.X.stride;
        x[0] = (float)((y ? 1 : -1) * uc_rng_uniform(&rng));
        x[1] = (float)uc_rng_normal(&rng);
        data.y[i] = uc_rng_uniform(&rng) < (y ? eta_positive : eta_negative) ? 1 - y : y;
        if (truth)
            truth[i] = y;
    }
    return data;
}

static const uc_context alone = {.threads = 1};

static uc_rates estimate(uc_rates_estimate *found, const uc_dataset *data, uint32_t positive,
                         uc_rates_free free)
{
    uc_noise noise = {0};
    uc_rates_estimate own = {0};
    assert_ok(uc_noise_rates_from_data(&noise, &own, NULL, NULL, data, positive, free, &alone));
    const uc_rates best = own.tried[own.best];
    /* C[p][q] = P(observed p | true q) */
    assert_int_equal(noise.classes, 2);
    assert_near(noise.values[(1 - positive) * 2 + positive], best.positive, 1e-12);
    assert_near(noise.values[positive * 2 + 1 - positive], best.negative, 1e-12);
    uc_noise_free(&noise);
    if (found)
        *found = own;
    else
        uc_rates_estimate_free(&own);
    return best;
}

/* The criterion and its standard error as they are defined, from the predictions of uc_cross_validate. */
static void slow_criterion(uc_rates *rates, const uc_dataset *data, const uc_svm_settings *settings,
                           const uc_train_settings *common)
{
    static uint32_t predicted[MOST];
    double wrong[2] = {0}, all[2] = {0};
    uc_train_settings train = *common;
    uc_noise noise;
    assert_ok(uc_noise_binary(&noise, rates->positive, rates->negative));
    train.noise = &noise;
    assert_ok(
        uc_cross_validate(predicted, NULL, uc_learner_find("sloppy-svm"), settings, &train, data, 5, &alone));
    for (size_t i = 0; i < data->X.rows; i++) {
        all[data->y[i]] += 1;
        wrong[data->y[i]] += predicted[i] != data->y[i];
    }
    const double p = wrong[0] / all[0], q = wrong[1] / all[1];
    rates->criterion = p + q;
    rates->deviation = sqrt(p * (1 - p) / all[0] + q * (1 - q) / all[1]);
    uc_noise_free(&noise);
}

/* With scaling and a map, which are prepared once a fold for all rates. */
static void the_curve_is_that_of_a_cross_validation(void **state)
{
    (void)state;
    for (int mapped = 0; mapped < 2; mapped++) {
        uc_dataset data = separable(NULL, 150, 0.5, 0.3, 0.1, 3);
        uc_svm_settings settings;
        uc_options_defaults(uc_learner_options(uc_learner_find("sloppy-svm")), &settings);
        settings.cost = 20;
        uc_train_settings common = uc_train_defaults();
        common.scale = UC_SCALE_STANDARD;
        common.map.map = mapped ? UC_MAP_KGS : UC_MAP_NONE;
        common.map.dimension = 10;
        common.normalize = mapped;
        uc_rates_estimate found = {0};
        uc_noise noise = {0};
        assert_ok(
            uc_noise_rates_from_data(&noise, &found, &settings, &common, &data, 1, UC_RATES_BOTH, &alone));
        assert_true(found.count > 25 && found.count <= 41);
        for (size_t i = 0; i < found.count; i += 3) {
            uc_rates slow = found.tried[i];
            if (isnan(slow.criterion))
                continue;
            slow_criterion(&slow, &data, &settings, &common);
            assert_near(found.tried[i].criterion, slow.criterion, 1e-12);
            assert_near(found.tried[i].deviation, slow.deviation, 1e-12);
        }
        uc_noise_free(&noise);
        uc_rates_estimate_free(&found);
        uc_dataset_free(&data);
    }
}

/* Nothing on the grid is better than the best, and the intervals are of all that are hardly worse. */
static void the_best_of_the_grid_wins_and_the_intervals_say_how_surely(void **state)
{
    (void)state;
    uc_dataset data = separable(NULL, 600, 0.5, 0.3, 0.1, 4);
    uc_rates_estimate found;
    const uc_rates best = estimate(&found, &data, 1, UC_RATES_BOTH);
    double low[2] = {1, 1}, high[2] = {0, 0};
    size_t coarse = 0;
    for (size_t i = 0; i < found.count; i++) {
        const uc_rates *one = &found.tried[i];
        assert_true(one->positive >= 0 && one->negative >= 0 && one->positive + one->negative < 1);
        for (size_t j = 0; j < i; j++)
            assert_true(fabs(one->positive - found.tried[j].positive) +
                            fabs(one->negative - found.tried[j].negative) >
                        0.01);
        coarse += i < 25 && fabs(one->positive * 10 - round(one->positive * 10)) < 1e-9;
        if (isnan(one->criterion))
            continue;
        assert_true(i < found.best ? one->criterion > best.criterion : one->criterion >= best.criterion);
        if (one->criterion > best.criterion + best.deviation)
            continue;
        low[0] = fmin(low[0], one->positive);
        high[0] = fmax(high[0], one->positive);
        low[1] = fmin(low[1], one->negative);
        high[1] = fmax(high[1], one->negative);
    }
    assert_int_equal(coarse, 25);
    for (size_t k = 0; k < 2; k++) {
        assert_near(found.positive_interval[k], (k ? high : low)[0], 1e-12);
        assert_near(found.negative_interval[k], (k ? high : low)[1], 1e-12);
    }
    uc_rates_estimate_free(&found);
    uc_dataset_free(&data);
}

static double error_with(const uc_rates *rates, uc_dataset *data, const uint32_t *truth)
{
    static uint32_t predicted[MOST];
    uc_train_settings common = uc_train_defaults();
    uc_noise noise;
    uc_model *model = NULL;
    size_t errors = 0;
    assert_ok(uc_noise_binary(&noise, rates->positive, rates->negative));
    common.noise = &noise;
    assert_ok(uc_train(&model, uc_learner_find("sloppy-svm"), NULL, &common, data, &alone));
    assert_ok(uc_model_predict(predicted, model, &data->X, &alone));
    for (size_t i = 0; i < data->X.rows; i++)
        errors += predicted[i] != truth[i];
    uc_model_free(model);
    uc_noise_free(&noise);
    return (double)errors / (double)data->X.rows;
}

/* One rate is open, as with positive and unlabelled examples, or with bags. */
static void on_balanced_separable_data_one_rate_converges(void **state)
{
    (void)state;
    static uint32_t truth[MOST];
    static const double eta[] = {0.2, 0.3, 0.4};
    double distance[2] = {0, 0};
    for (int large = 0; large < 2; large++)
        for (size_t r = 0; r < 3; r++)
            for (int negative = 0; negative < 2; negative++) {
                uc_dataset data = separable(truth, large ? MOST : 100, 0.5, negative ? 0 : eta[r],
                                            negative ? eta[r] : 0, 10 + r);
                const uc_rates best =
                    estimate(NULL, &data, 1, negative ? UC_RATES_NEGATIVE_ONLY : UC_RATES_POSITIVE_ONLY);
                const double off = fabs((negative ? best.negative : best.positive) - eta[r]);
                assert_true((negative ? best.positive : best.negative) == 0);
                distance[large] += off / 6;
                if (large) {
                    assert_true(off <= 0.05 + 1e-9);
                    assert_true(error_with(&best, &data, truth) < 0.03);
                }
                uc_dataset_free(&data);
            }
    assert_true(distance[1] < 0.035 && distance[1] < distance[0]);
}

/* If both rates are unknown, their common part cannot be estimated, since labels that flip equally often move
 * no boundary; their difference can. */
static void on_balanced_separable_data_the_difference_of_two_rates_converges(void **state)
{
    (void)state;
    static uint32_t truth[MOST];
    static const double eta[][2] = {{0.4, 0}, {0.1, 0.3}, {0.2, 0.2}};
    for (size_t r = 0; r < 3; r++) {
        uc_dataset data = separable(truth, MOST, 0.5, eta[r][0], eta[r][1], 20 + r);
        const uc_rates best = estimate(NULL, &data, 1, UC_RATES_BOTH);
        assert_near(best.positive - best.negative, eta[r][0] - eta[r][1], 0.075);
        assert_true(error_with(&best, &data, truth) < 0.03);
        uc_dataset_free(&data);
    }
}

/* The criterion follows the balanced error: where positives are rare, even clean ones are taken for
 * flipped, because that moves the boundary in their favour. */
static void on_unbalanced_data_the_estimate_is_biased(void **state)
{
    (void)state;
    for (int noisy = 0; noisy < 2; noisy++) {
        const double eta = noisy ? 0.4 : 0;
        uc_dataset rare = separable(NULL, MOST, 0.2, eta, 0, 31),
                   balanced = separable(NULL, MOST, 0.5, eta, 0, 31);
        const uc_rates of_rare = estimate(NULL, &rare, 1, UC_RATES_POSITIVE_ONLY),
                       of_balanced = estimate(NULL, &balanced, 1, UC_RATES_POSITIVE_ONLY);
        assert_true(of_rare.positive > eta + 0.1);
        assert_true(fabs(of_balanced.positive - eta) <= 0.05 + 1e-9);
        uc_dataset_free(&rare);
        uc_dataset_free(&balanced);
    }
}

static void the_rate_that_is_not_free_stays_0(void **state)
{
    (void)state;
    uc_dataset data = separable(NULL, 300, 0.5, 0.4, 0, 5);
    uc_rates_estimate positive, mirrored;
    estimate(&positive, &data, 1, UC_RATES_POSITIVE_ONLY);
    estimate(&mirrored, &data, 0,
             UC_RATES_NEGATIVE_ONLY); /* the same, with the names of the classes changed */
    assert_true(positive.count >= 11 && positive.count <= 13);
    assert_int_equal(mirrored.count, positive.count);
    assert_int_equal(mirrored.best, positive.best);
    assert_true(positive.negative_interval[0] == 0 && positive.negative_interval[1] == 0);
    assert_true(mirrored.positive_interval[0] == 0 && mirrored.positive_interval[1] == 0);
    for (size_t i = 0; i < positive.count; i++) {
        assert_true(positive.tried[i].negative == 0 && mirrored.tried[i].positive == 0);
        assert_true(positive.tried[i].positive == mirrored.tried[i].negative);
        if (!isnan(positive.tried[i].criterion))
            assert_near(positive.tried[i].criterion, mirrored.tried[i].criterion, 1e-12);
    }
    for (size_t i = 0; i < 9; i++)
        assert_near(positive.tried[i].positive, 0.1 * (double)i, 1e-12);
    uc_rates_estimate_free(&positive);
    uc_rates_estimate_free(&mirrored);
    uc_dataset_free(&data);
}

/* A fifth of the labels positive: no eta- from 0.2 on. */
static void rates_that_the_labels_do_not_allow_for_are_never_the_best(void **state)
{
    (void)state;
    uc_dataset data = separable(NULL, 200, 0.5, 0, 0, 6);
    for (size_t i = 0; i < 200; i++)
        data.y[i] = i % 5 == 0;
    uc_rates_estimate found;
    const uc_rates best = estimate(&found, &data, 1, UC_RATES_BOTH);
    size_t refused = 0;
    for (size_t i = 0; i < found.count; i++) {
        const uc_rates *one = &found.tried[i];
        const bool allowed = one->negative < 0.2 - 1e-9 && one->positive < 0.8 - 1e-9;
        assert_true(isnan(one->criterion) == !allowed && isnan(one->deviation) == !allowed);
        refused += !allowed;
    }
    assert_true(refused >= 15 && !isnan(best.criterion));
    uc_rates_estimate_free(&found);
    uc_dataset_free(&data);
}

static void refuse(const uc_dataset *data, const uc_svm_settings *settings, uc_status status,
                   const char *sentence)
{
    uc_noise noise = {0};
    uc_rates_estimate found = {0};
    const long live = uc_alloc_live();
    assert_error(uc_noise_rates_from_data(&noise, &found, settings, NULL, data, 1, UC_RATES_BOTH, &alone),
                 status, sentence);
    assert_null(noise.values);
    assert_null(found.tried);
    assert_int_equal(uc_alloc_live(), live);
}

static void what_says_nothing_of_rates_is_refused(void **state)
{
    (void)state;
    uc_dataset few = separable(NULL, 9, 0.5, 0, 0, 2), three = sample_data(40, 3, 3, false, 2),
               two = separable(NULL, 40, 0.5, 0, 0, 2), one = sample_data(40, 3, 1, false, 2);
    refuse(&few, NULL, UC_ERR_INVALID, "9 examples are too few to estimate noise rates from, 10 are needed");
    refuse(&three, NULL, UC_ERR_INVALID, "noise rates are for two classes, but there are 3");
    refuse(&one, NULL, UC_ERR_FORMAT, "only one class, '1', where two are needed");
    uc_svm_settings settings;
    uc_options_defaults(uc_learner_options(uc_learner_find("sloppy-svm")), &settings);
    settings.cost = -1; /* the setting is blamed, not the labels */
    uc_noise noise = {0};
    assert_error_has(uc_noise_rates_from_data(&noise, NULL, &settings, NULL, &two, 1, UC_RATES_BOTH, &alone),
                     UC_ERR_OPTION, "{cost=-1}");
    two.y[3] = UC_NONE;
    refuse(&two, NULL, UC_ERR_FORMAT, "example 4 has no label ('?'), which sloppy-svm cannot use");
    for (size_t i = 0; i < 40; i++)
        two.y[i] = 0;
    refuse(&two, NULL, UC_ERR_INVALID, "no noise rates fit the labels");
    uc_dataset_free(&few);
    uc_dataset_free(&three);
    uc_dataset_free(&one);
    uc_dataset_free(&two);
}

/* A class of one example: folds without it train all the same. */
static void ten_rows_with_one_positive_are_enough(void **state)
{
    (void)state;
    uc_dataset data = separable(NULL, 10, 0.5, 0, 0, 2);
    for (size_t i = 0; i < 10; i++)
        data.y[i] = i == 4;
    estimate(NULL, &data, 1, UC_RATES_POSITIVE_ONLY);
    uc_dataset_free(&data);
}

static void the_cost_may_be_auto_and_the_caller_s_settings_stay(void **state)
{
    (void)state;
    uc_dataset data = separable(NULL, 60, 0.5, 0.2, 0, 2);
    uc_svm_settings settings;
    uc_options_defaults(uc_learner_options(uc_learner_find("sloppy-svm")), &settings);
    settings.cost = UC_AUTO_REAL;
    uc_noise noise = {0};
    assert_ok(
        uc_noise_rates_from_data(&noise, NULL, &settings, NULL, &data, 1, UC_RATES_POSITIVE_ONLY, &alone));
    assert_true(isnan(settings.cost));
    uc_noise_free(&noise);
    uc_dataset_free(&data);
}

static void the_number_of_threads_does_not_change_the_curve(void **state)
{
    (void)state;
    uc_dataset data = separable(NULL, 200, 0.5, 0.3, 0, 2);
    uc_rates_estimate one = {0};
    for (unsigned threads = 1; threads <= 3; threads++) {
        const uc_context context = {.threads = threads};
        uc_rates_estimate many = {0};
        uc_noise noise = {0};
        assert_ok(
            uc_noise_rates_from_data(&noise, &many, NULL, NULL, &data, 1, UC_RATES_POSITIVE_ONLY, &context));
        if (threads == 1) {
            one = many;
        } else {
            assert_int_equal(many.count, one.count);
            assert_memory_equal(many.tried, one.tried, one.count * sizeof *one.tried);
            uc_rates_estimate_free(&many);
        }
        uc_noise_free(&noise);
    }
    uc_rates_estimate_free(&one);
    uc_dataset_free(&data);
}

static uc_status estimate_status(uc_noise *noise, uc_rates_estimate *found, const uc_dataset *data)
{
    uc_svm_settings settings;
    uc_options_defaults(uc_learner_options(uc_learner_find("sloppy-svm")), &settings);
    settings.iterations = 1;
    return uc_noise_rates_from_data(noise, found, &settings, NULL, data, 1, UC_RATES_POSITIVE_ONLY, &alone);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = separable(NULL, 12, 0.5, 0, 0, 2);
    for (size_t i = 0; i < 12; i++)
        data.y[i] = i % 2;
    uc_noise noise = {0};
    uc_rates_estimate found = {0};
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, estimate_status(&noise, &found, &data));
    uc_noise_free(&noise);
    uc_rates_estimate_free(&found);
    uc_dataset_free(&data);
}

static bool stop_estimating(const char *task, double done, double total, const char *detail, void *user)
{
    (void)detail, (void)user;
    assert_true(done >= 0 && done <= total);
    return strcmp(task, "estimating noise rates") != 0;
}

static void estimating_can_be_interrupted(void **state)
{
    (void)state;
    uc_dataset data = separable(NULL, 60, 0.5, 0, 0, 2);
    const uc_context context = {.threads = 1, .progress = stop_estimating};
    uc_noise noise = {0};
    const long live = uc_alloc_live();
    assert_status(uc_noise_rates_from_data(&noise, NULL, NULL, NULL, &data, 1, UC_RATES_BOTH, &context),
                  UC_ERR_CANCELLED);
    assert_int_equal(uc_alloc_live(), live);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_curve_is_that_of_a_cross_validation),
        cmocka_unit_test(the_best_of_the_grid_wins_and_the_intervals_say_how_surely),
        cmocka_unit_test(on_balanced_separable_data_one_rate_converges),
        cmocka_unit_test(on_balanced_separable_data_the_difference_of_two_rates_converges),
        cmocka_unit_test(on_unbalanced_data_the_estimate_is_biased),
        cmocka_unit_test(the_rate_that_is_not_free_stays_0),
        cmocka_unit_test(rates_that_the_labels_do_not_allow_for_are_never_the_best),
        cmocka_unit_test(what_says_nothing_of_rates_is_refused),
        cmocka_unit_test(ten_rows_with_one_positive_are_enough),
        cmocka_unit_test(the_cost_may_be_auto_and_the_caller_s_settings_stay),
        cmocka_unit_test(the_number_of_threads_does_not_change_the_curve),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(estimating_can_be_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
