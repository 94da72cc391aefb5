/* Comparing online learners: the same as playing each by hand over the same shuffles. */
#include "tests/sample.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "learn/learner.h"
#include "unconfuse/select.h"

/* As in compare.c: the shuffles of the runs, and of the grid. */
#define SEQUENCE_ORDER UINT64_C(0x636c692d6f726465)
#define SEQUENCE_GRID UINT64_C(0x636f6d7067726964)

static uc_compare_entry named(const char *name)
{
    const uc_compare_entry entry = {.learner = uc_learner_find(name)};
    assert_non_null(entry.learner);
    return entry;
}

static const uc_compared *find(const uc_comparison *self, const char *name)
{
    for (size_t i = 0; i < self->count; i++)
        if (strcmp(uc_learner_name(self->learners[i].learner), name) == 0)
            return &self->learners[i];
    fail_msg("%s did not take part", name);
    return NULL;
}

/* One run, example by example, with raw rows. */
static double by_hand(const uc_compare_entry *entry, bool full, const uc_train_settings *settings,
                      const uc_dataset *data, unsigned passes, uint64_t seed, uint64_t sequence)
{
    const size_t n = data->X.rows;
    size_t *order = calloc(n, sizeof *order), correct = 0;
    uc_train_settings train = *settings;
    uc_preprocessing steps = {0};
    uc_online *online = NULL;
    uc_rng rng = uc_rng_make(seed, sequence);
    train.seed = seed;
    assert_ok(learn_scaling(&steps, (uc_scaling)train.scale, &data->X));
    assert_ok(uc_online_begin(&online, entry->learner, entry->settings, &train, &data->classes,
                              train.scale == UC_SCALE_NONE ? NULL : &steps));
    assert_ok(uc_online_expect(online, data->X.cols, (double)NAN));
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (unsigned pass = 0; pass < passes; pass++) {
        uc_rng_shuffle(&rng, order, n);
        for (size_t i = 0; i < n; i++) {
            const uc_row row = uc_matrix_row(&data->X, order[i]);
            const uint32_t label = data->y[order[i]];
            uc_proposal proposal;
            assert_ok(uc_online_propose(&proposal, online, &row));
            const bool right = proposal.label == label;
            const uc_answer answer = {full    ? UC_ANSWER_LABEL
                                      : right ? UC_ANSWER_RIGHT
                                              : UC_ANSWER_WRONG,
                                      label};
            correct += right;
            assert_ok(uc_online_learn(online, &row, &proposal, answer));
        }
    }
    uc_online_free(online);
    uc_preprocessing_free(&steps);
    free(order);
    return (double)correct / (double)(n * passes);
}

/* Every learner of the feedback, in every run. */
static void check_by_hand(const uc_dataset *data, uc_feedback feedback, const uc_train_settings *train,
                          unsigned passes)
{
    uc_compare_settings settings = uc_compare_defaults();
    uc_comparison found;
    size_t learners = 0;
    settings.runs = 3;
    settings.passes = passes;
    settings.feedback = (int)feedback;
    assert_ok(uc_compare(&found, NULL, 0, &settings, train, data, NULL));
    for (size_t i = 0; uc_learner_at(i); i++)
        learners += uc_learner_is_online(uc_learner_at(i)) &&
                    (feedback == UC_FEEDBACK_FULL ? uc_learner_at(i)->full : uc_learner_at(i)->partial) &&
                    !(train->map.map == UC_MAP_LANDMARKS && uc_learner_at(i)->model); /* makes its own map */
    assert_true(learners > 3);
    assert_int_equal(found.count, learners);
    assert_int_equal(found.rounds, passes * data->X.rows);
    for (size_t i = 0; i < found.count; i++) {
        const uc_compared *compared = &found.learners[i];
        const uc_compare_entry entry = {.learner = compared->learner};
        double mean = 0.0, squares = 0.0;
        assert_int_equal(compared->feedback, feedback);
        assert_false(compared->reference);
        for (size_t run = 0; run < 3; run++) {
            const double ratio = by_hand(&entry, feedback == UC_FEEDBACK_FULL, train, data, passes,
                                         train->seed + run, SEQUENCE_ORDER);
            assert_true(compared->ratios[run] == ratio);
            mean += ratio / 3.0;
        }
        for (size_t run = 0; run < 3; run++)
            squares += (compared->ratios[run] - mean) * (compared->ratios[run] - mean);
        assert_near(compared->mean, mean, 1e-15);
        assert_near(compared->deviation, sqrt(squares / 2.0), 1e-14);
        assert_true(compared->seconds > 0.0 && compared->seconds < 60.0);
        assert_true(i == 0 || found.learners[i - 1].mean >= compared->mean);
    }
    uc_comparison_free(&found);
}

static void every_learner_plays_as_by_hand(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_dataset data = sample_data(150, 8, 4, sparse, 1);
        uc_train_settings train = uc_train_defaults();
        check_by_hand(&data, UC_FEEDBACK_PARTIAL, &train, 1);
        train.seed = 11;
        check_by_hand(&data, UC_FEEDBACK_FULL, &train, 2);
        train.scale = sparse ? UC_SCALE_MAXABS : UC_SCALE_STANDARD;
        train.bias = 0.5;
        check_by_hand(&data, UC_FEEDBACK_PARTIAL, &train, 2);
        train.normalize = 0;
        train.normalize_input = 1;
        check_by_hand(&data, UC_FEEDBACK_PARTIAL, &train, 1);
        uc_dataset_free(&data);
    }
}

static uc_train_settings landmarks(uint64_t dimension)
{
    uc_train_settings train = uc_train_defaults();
    train.map.map = UC_MAP_LANDMARKS;
    train.map.dimension = dimension;
    train.map.width = 5.0;
    return train;
}

/* Longer than a block after the map, and landmarks that come in the first, second or no pass. */
static void landmarks_arrive_as_by_hand(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_dataset small = sample_data(40, 6, 3, sparse, 2), large = sample_data(1100, 4, 3, sparse, 3);
        uc_train_settings train = landmarks(16);
        check_by_hand(&small, UC_FEEDBACK_PARTIAL, &train, 2);
        check_by_hand(&large, UC_FEEDBACK_PARTIAL, &train, 2);
        train.scale = UC_SCALE_MAXABS;
        train.normalize_input = 1;
        train.map.dimension = 50;
        check_by_hand(&small, UC_FEEDBACK_FULL, &train, 2);
        uc_dataset_free(&small);
        uc_dataset_free(&large);
    }
}

static void the_median_width_is_that_of_scaled_rows(void **state)
{
    (void)state;
    uc_dataset data = sample_data(60, 6, 3, false, 4);
    uc_train_settings train = landmarks(8);
    uc_compare_settings settings = uc_compare_defaults();
    const uc_compare_entry cspa = named("cspa");
    uc_comparison found;
    uc_preprocessing steps;
    double width;
    settings.runs = 2;
    train.map.width = 0.0;
    train.scale = UC_SCALE_RANGE;
    assert_ok(uc_compare(&found, &cspa, 1, &settings, &train, &data, NULL));
    assert_ok(learn_scaling(&steps, UC_SCALE_RANGE, &data.X));
    uc_dataset scaled;
    assert_ok(uc_dataset_subset(&scaled, &data, NULL, 0, NULL));
    assert_ok(uc_preprocessing_apply(&steps, &scaled.X, NULL));
    assert_ok(uc_map_median_distance2(&width, &scaled.X, train.seed, NULL));
    assert_true(found.width == width);
    train.map.width = width;
    for (size_t run = 0; run < 2; run++)
        assert_true(found.learners[0].ratios[run] ==
                    by_hand(&cspa, false, &train, &data, 1, train.seed + run, SEQUENCE_ORDER));
    uc_comparison_free(&found);
    train.map.gamma = 0.25;
    assert_ok(uc_compare(&found, &cspa, 1, &settings, &train, &data, NULL));
    assert_true(found.width == 4.0);
    uc_comparison_free(&found);
    train.map.map = UC_MAP_NONE;
    assert_ok(uc_compare(&found, &cspa, 1, &settings, &train, &data, NULL));
    assert_true(isnan(found.width));
    uc_comparison_free(&found);
    uc_preprocessing_free(&steps);
    uc_dataset_free(&scaled);
    uc_dataset_free(&data);
}

static void assert_same(const uc_comparison *a, const uc_comparison *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->best, b->best);
    assert_memory_equal(a->p_values, b->p_values, a->count * a->count * sizeof(double));
    for (size_t i = 0; i < a->count; i++) {
        const uc_compared *x = &a->learners[i], *y = &b->learners[i];
        assert_ptr_equal(x->learner, y->learner);
        assert_memory_equal(x->settings, y->settings, uc_learner_settings_size(x->learner));
        assert_memory_equal(x->ratios, y->ratios, a->runs * sizeof(double));
        assert_memory_equal(&x->mean, &y->mean, sizeof x->mean);
        assert_memory_equal(&x->deviation, &y->deviation, sizeof x->deviation);
        assert_memory_equal(&x->p_value, &y->p_value, sizeof x->p_value);
        assert_int_equal(x->differs, y->differs);
    }
}

static void any_number_of_threads_gives_the_same_result(void **state)
{
    (void)state;
    uc_dataset data = sample_data(300, 6, 4, false, 5);
    for (int variant = 0; variant < 3; variant++) {
        uc_train_settings train = variant == 1 ? landmarks(20) : uc_train_defaults();
        uc_compare_settings settings = uc_compare_defaults();
        uc_comparison first, other;
        settings.runs = 4;
        settings.passes = variant == 1 ? 2 : 1;
        settings.grid = variant == 2;
        assert_ok(uc_compare(&first, NULL, 0, &settings, &train, &data, &(uc_context){.threads = 1}));
        for (unsigned threads = 2; threads <= 3; threads++) {
            const uc_context context = {.threads = threads};
            assert_ok(uc_compare(&other, NULL, 0, &settings, &train, &data, &context));
            assert_same(&first, &other);
            uc_comparison_free(&other);
        }
        uc_comparison_free(&first);
    }
    uc_dataset_free(&data);
}

static void data_stay_as_they_were_and_runs_do_not_depend_on_their_number(void **state)
{
    (void)state;
    uc_dataset data = sample_data(80, 6, 3, false, 6), before = sample_data(80, 6, 3, false, 6);
    uc_train_settings train = uc_train_defaults();
    uc_compare_settings settings = uc_compare_defaults();
    const uc_compare_entry bpa = named("bpa");
    uc_comparison few, many;
    train.scale = UC_SCALE_STANDARD;
    settings.runs = 2;
    assert_ok(uc_compare(&few, &bpa, 1, &settings, &train, &data, NULL));
    settings.runs = 5;
    assert_ok(uc_compare(&many, &bpa, 1, &settings, &train, &data, NULL));
    assert_memory_equal(few.learners[0].ratios, many.learners[0].ratios, 2 * sizeof(double));
    assert_true(many.learners[0].deviation > 0.0); /* and they differ from each other */
    assert_memory_equal(data.X.values, before.X.values, 80 * data.X.stride * sizeof(float));
    uc_comparison_free(&few);
    uc_comparison_free(&many);
    uc_dataset_free(&data);
    uc_dataset_free(&before);
}

/* ---- the grid ---- */

static void every_grid_names_options_of_the_learner_and_values_within_bounds(void **state)
{
    (void)state;
    size_t grids = 0;
    const uc_learner *learner;
    for (size_t l = 0; (learner = uc_learner_at(l)); l++) {
        const double *values;
        size_t count;
        const char *name;
        void *settings = calloc(1, uc_learner_settings_size(learner));
        uc_options_defaults(uc_learner_options(learner), settings);
        for (size_t i = 0; (name = uc_learner_grid(&values, &count, learner, i)); i++, grids++) {
            const uc_option *option = uc_options_find(uc_learner_options(learner), name);
            assert_non_null(option);
            assert_int_equal(option->type, UC_OPTION_REAL);
            assert_true(count > 1);
            for (size_t v = 0; v < count; v++) {
                *(double *)(void *)((char *)settings + option->offset) = values[v];
                assert_ok(uc_options_check(uc_learner_options(learner), settings));
            }
        }
        free(settings);
    }
    assert_true(grids >= 4);
}

/* The value with the most correct proposals on the grid's own shuffles; the default on a tie. */
static double best_by_hand(const uc_learner *learner, const uc_option *option, const uc_train_settings *train,
                           const uc_dataset *data)
{
    const double *values;
    size_t count;
    const uc_compare_entry defaults = {.learner = learner};
    void *settings = calloc(1, uc_learner_settings_size(learner));
    double *field = (double *)(void *)((char *)settings + option->offset);
    const uc_compare_entry entry = {.learner = learner, .settings = settings};
    assert_string_equal(uc_learner_grid(&values, &count, learner, 0), option->name);
    uc_options_defaults(uc_learner_options(learner), settings);
    double best = *field, most = 0.0;
    for (size_t run = 0; run < 2; run++)
        most += by_hand(&defaults, false, train, data, 1, train->seed + run, SEQUENCE_GRID);
    for (size_t v = 0; v < count; v++) {
        double sum = 0.0;
        *field = values[v];
        for (size_t run = 0; run < 2; run++)
            sum += by_hand(&entry, false, train, data, 1, train->seed + run, SEQUENCE_GRID);
        if (sum > most + 1e-9) {
            most = sum;
            best = values[v];
        }
    }
    free(settings);
    return best;
}

static void the_grid_chooses_what_trying_by_hand_chooses(void **state)
{
    (void)state;
    static const char *const names[] = {"cspa", "bpa", "banditron", "confidit"};
    static const char *const tuned[] = {"beta", "explore", "explore", "eta"};
    size_t changed = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        uc_dataset data = sample_data(200, 6, 4, seed == 2, seed);
        uc_train_settings train = uc_train_defaults();
        uc_compare_settings settings = uc_compare_defaults();
        uc_compare_entry entries[4];
        uc_comparison found;
        train.seed = seed;
        settings.runs = 2;
        settings.grid = 1;
        for (size_t i = 0; i < 4; i++)
            entries[i] = named(names[i]);
        assert_ok(uc_compare(&found, entries, 4, &settings, &train, &data, NULL));
        for (size_t i = 0; i < 4; i++) {
            const uc_compared *compared = find(&found, names[i]);
            const uc_option *option = uc_options_find(uc_learner_options(compared->learner), tuned[i]);
            const double chosen = *(double *)(void *)((char *)compared->settings + option->offset);
            const double wanted = best_by_hand(compared->learner, option, &train, &data);
            const uc_compare_entry alone = {.learner = compared->learner, .settings = compared->settings};
            char text[32];
            assert_true(chosen == wanted || (isnan(chosen) && isnan(wanted)));
            for (size_t run = 0; run < 2; run++) /* the runs that are reported are others */
                assert_true(compared->ratios[run] ==
                            by_hand(&alone, false, &train, &data, 1, seed + run, SEQUENCE_ORDER));
            (void)uc_option_text(option, compared->settings, text, sizeof text);
            changed += strcmp(text, option->standard) != 0;
        }
        uc_comparison_free(&found);
        uc_dataset_free(&data);
    }
    assert_true(changed > 3); /* it does something */
}

static void the_grid_leaves_fixed_settings_and_options_that_are_not_on_it(void **state)
{
    (void)state;
    uc_dataset data = sample_data(120, 6, 4, false, 7);
    uc_compare_settings settings = uc_compare_defaults();
    const uc_explore_settings explore = {0.7};
    const uc_confidit_settings confidit = {1.0, 9.0};
    uc_compare_entry entries[2] = {named("bpa"), named("confidit")};
    uc_comparison found;
    entries[0].settings = &explore;
    entries[0].fixed = true;
    entries[1].settings = &confidit;
    settings.grid = 1;
    settings.runs = 2;
    assert_ok(uc_compare(&found, entries, 2, &settings, NULL, &data, NULL));
    assert_true(((const uc_explore_settings *)find(&found, "bpa")->settings)->explore == 0.7);
    assert_true(((const uc_confidit_settings *)find(&found, "confidit")->settings)->prior == 9.0);
    uc_comparison_free(&found);
    uc_dataset_free(&data);
}

static void a_learner_may_be_named_twice_with_other_settings(void **state)
{
    (void)state;
    uc_dataset data = sample_data(120, 6, 4, false, 8);
    uc_compare_settings settings = uc_compare_defaults();
    const uc_cspa_settings betas[2] = {{0.9}, {0.1}};
    const uc_train_settings train = uc_train_defaults();
    uc_compare_entry entries[3] = {named("cspa"), named("bpa"), named("cspa")};
    uc_comparison found;
    entries[0].settings = &betas[0];
    entries[2].settings = &betas[1];
    settings.runs = 3;
    assert_ok(uc_compare(&found, entries, 3, &settings, NULL, &data, NULL));
    for (size_t b = 0; b < 2; b++) {
        size_t seen = 0;
        for (size_t i = 0; i < 3; i++) {
            const uc_compared *compared = &found.learners[i];
            if (compared->learner != entries[0].learner ||
                ((const uc_cspa_settings *)compared->settings)->beta != betas[b].beta)
                continue;
            seen++;
            for (size_t run = 0; run < 3; run++)
                assert_true(compared->ratios[run] ==
                            by_hand(&entries[2 * b], false, &train, &data, 1, 1 + run, SEQUENCE_ORDER));
        }
        assert_int_equal(seen, 1);
    }
    uc_comparison_free(&found);
    uc_dataset_free(&data);
}

/* ---- significance ---- */

/* With 1 and 2 degrees of freedom the distribution of t has a closed form. */
static double p_by_formula(const double *a, const double *b, size_t runs)
{
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < runs; i++)
        mean += (a[i] - b[i]) / (double)runs;
    for (size_t i = 0; i < runs; i++)
        squares += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
    const double t = fabs(mean) / sqrt(squares / ((double)runs * (double)(runs - 1)));
    return runs == 2 ? 1.0 - 2.0 / acos(-1.0) * atan(t) : 1.0 - t / sqrt(2.0 + t * t);
}

static void p_values_are_those_of_the_formula(void **state)
{
    (void)state;
    uc_dataset data = sample_data(150, 6, 4, false, 9);
    uc_compare_settings settings = uc_compare_defaults();
    for (size_t runs = 2; runs <= 3; runs++) {
        uc_comparison found;
        settings.runs = runs;
        assert_ok(uc_compare(&found, NULL, 0, &settings, NULL, &data, NULL));
        const size_t count = found.count;
        assert_int_equal(found.best, 0);
        for (size_t i = 0; i < count; i++) {
            assert_true(found.p_values[i * count + i] == 1.0);
            for (size_t j = 0; j < count; j++) {
                const double p = found.p_values[i * count + j];
                assert_true(p == found.p_values[j * count + i]);
                if (i != j)
                    assert_near(p, p_by_formula(found.learners[i].ratios, found.learners[j].ratios, runs),
                                1e-9);
            }
            assert_true(found.learners[i].p_value == found.p_values[i]);
            assert_int_equal(found.learners[i].differs, found.p_values[i] < 0.05);
        }
        uc_comparison_free(&found);
    }
    uc_dataset_free(&data);
}

/* All rows are equal, and of the last of three classes. A learner that gets the label is wrong once; cspa,
 * which gets "wrong", tries one class after the other and is wrong twice. This is the same in every run, so
 * there is no variance. */
static void differences_without_variance_have_p_values_of_0_and_1(void **state)
{
    (void)state;
    static const char *const classes[] = {"a", "b", "c"};
    enum { ROWS = 10 };
    uc_dataset data = {.classes = sample_names(classes, 3), .y = uc_alloc(ROWS, sizeof(uint32_t))};
    uc_compare_settings settings = uc_compare_defaults();
    const uc_compare_entry entries[3] = {named("cspa"), named("spa"), named("perceptron")};
    uc_comparison found;
    assert_ok(uc_matrix_create_dense(&data.X, ROWS, 1));
    for (size_t i = 0; i < ROWS; i++) {
        data.X.values[i * data.X.stride] = 1.0f;
        data.y[i] = 2;
    }
    assert_ok(uc_compare(&found, entries, 3, &settings, NULL, &data, NULL));
    assert_string_equal(uc_learner_name(found.learners[0].learner), "spa"); /* as named: equal means */
    assert_string_equal(uc_learner_name(found.learners[1].learner), "perceptron");
    assert_near(found.learners[0].mean, 0.9, 1e-15);
    assert_near(found.learners[2].mean, 0.8, 1e-15);
    assert_near(found.learners[2].deviation, 0.0, 1e-15);
    assert_true(found.p_values[1] == 1.0 && found.p_values[2] == 0.0 && found.p_values[6] == 0.0);
    assert_true(found.learners[0].reference && found.learners[1].reference && !found.learners[2].reference);
    assert_int_equal(found.best, 2); /* the others got the labels */
    assert_true(found.learners[2].p_value == 1.0 && found.learners[0].p_value == 0.0);
    assert_true(found.learners[0].differs && !found.learners[2].differs);
    uc_comparison_free(&found);

    assert_ok(uc_compare(&found, entries + 1, 2, &settings, NULL, &data, NULL));
    assert_int_equal(found.best, 0); /* references only */
    uc_comparison_free(&found);
    settings.feedback = UC_FEEDBACK_FULL;
    assert_ok(uc_compare(&found, entries, 3, &settings, NULL, &data, NULL));
    assert_int_equal(found.best, 0);
    assert_int_equal(find(&found, "cspa")->feedback, UC_FEEDBACK_PARTIAL);
    assert_false(find(&found, "spa")->reference);
    uc_comparison_free(&found);
    uc_dataset_free(&data);
}

static void one_run_has_neither_deviation_nor_p_values(void **state)
{
    (void)state;
    uc_dataset data = sample_data(50, 5, 3, false, 10);
    uc_compare_settings settings = uc_compare_defaults();
    uc_comparison found;
    settings.runs = 1;
    assert_ok(uc_compare(&found, NULL, 0, &settings, NULL, &data, NULL));
    for (size_t i = 0; i < found.count; i++) {
        assert_true(found.learners[i].mean == found.learners[i].ratios[0]);
        assert_true(isnan(found.learners[i].deviation) && isnan(found.learners[i].p_value));
        assert_false(found.learners[i].differs);
    }
    for (size_t i = 0; i < found.count * found.count; i++)
        assert_true(isnan(found.p_values[i]));
    uc_comparison_free(&found);
    uc_dataset_free(&data);
}

/* ---- refusals, failures, interruption ---- */

static uc_status compare_with(const uc_dataset *data, const char *learner,
                              const uc_compare_settings *settings, const uc_train_settings *train,
                              const uc_context *context)
{
    const uc_compare_entry entry = named(learner);
    uc_comparison found = {0};
    const uc_status status = uc_compare(&found, &entry, 1, settings, train, data, context);
    uc_comparison_free(&found);
    return status;
}

static void what_cannot_be_compared_is_refused(void **state)
{
    (void)state;
    uc_dataset data = sample_data(30, 5, 3, false, 11), sparse = sample_data(30, 5, 3, true, 11), empty = {0};
    uc_compare_settings settings = uc_compare_defaults();
    uc_train_settings train = uc_train_defaults();
    const uc_cspa_settings too_much = {2.0};
    uc_compare_entry entry = named("cspa");
    uc_comparison found;
    assert_error(compare_with(&data, "uma", NULL, NULL, NULL), UC_ERR_OPTION,
                 "uma learns from whole data sets, not one example at a time: use train -v to compare it");
    settings.runs = 0;
    assert_error_has(compare_with(&data, "cspa", &settings, NULL, NULL), UC_ERR_OPTION, "{runs=0}");
    settings.runs = 10;
    train.seed = UINT64_C(1) << 53;
    assert_error_has(compare_with(&data, "cspa", &settings, &train, NULL), UC_ERR_OPTION, "{seed=90071");
    train = landmarks(5);
    train.map.map = UC_MAP_KPCA;
    assert_error(compare_with(&data, "cspa", NULL, &train, NULL), UC_ERR_OPTION,
                 "{map=kpca} is learned from a whole data set: online learners use {map=landmarks}");
    train = landmarks(5);
    train.map.width = UC_AUTO_REAL;
    assert_error_has(compare_with(&data, "cspa", NULL, &train, NULL), UC_ERR_OPTION, "{width=median}");
    train = uc_train_defaults();
    train.scale = UC_SCALE_RANGE;
    assert_error_has(compare_with(&sparse, "cspa", NULL, &train, NULL), UC_ERR_INVALID, "{scale=maxabs}");
    entry.settings = &too_much;
    assert_error_has(uc_compare(&found, &entry, 1, NULL, NULL, &data, NULL), UC_ERR_OPTION, "{beta=2}");
    assert_error_has(uc_compare(&found, &entry, 0, NULL, NULL, &data, NULL), UC_ERR_INVALID, "no learner");
    assert_error_has(compare_with(&data, "cspa", NULL, NULL, &(uc_context){.memory = 100}), UC_ERR_NOMEM,
                     "comparing 1 learner of 5 features and 3 classes needs");
    assert_error_has(compare_with(&empty, "cspa", NULL, NULL, NULL), UC_ERR_FORMAT, "no labels");
    data.y[4] = UC_NONE;
    assert_error(compare_with(&data, "cspa", NULL, NULL, NULL), UC_ERR_FORMAT,
                 "example 5 has no label ('?'), which cspa cannot use");
    uc_dataset_free(&data);
    uc_dataset_free(&sparse);
}

typedef struct listener {
    atomic_flag busy;
    atomic_bool overlapped;
    atomic_size_t calls;
    size_t calls_allowed; /* calls until it says stop */
    double most, total;
} listener;

static bool listen_in(const char *task, double done, double total, const char *detail, void *user)
{
    listener *self = user;
    if (atomic_flag_test_and_set(&self->busy))
        atomic_store(&self->overlapped, true);
    const size_t calls = atomic_fetch_add(&self->calls, 1) + 1;
    self->most = fmax(self->most, done);
    self->total = total;
    if (strcmp(task, "comparing") != 0 || !detail)
        atomic_store(&self->overlapped, true);
    atomic_flag_clear(&self->busy);
    return calls < self->calls_allowed;
}

static void progress_comes_from_one_thread_at_a_time_and_can_stop_the_work(void **state)
{
    (void)state;
    uc_dataset data = sample_data(700, 5, 3, false, 12);
    const uc_train_settings mapped = landmarks(10);
    for (unsigned threads = 1; threads <= 3; threads++)
        for (int map = 0; map < 2; map++) {
            listener ear = {.busy = ATOMIC_FLAG_INIT, .calls_allowed = SIZE_MAX};
            const uc_context context = {.threads = threads, .progress = listen_in, .user = &ear};
            const long live = uc_alloc_live();
            assert_ok(compare_with(&data, "bpa", NULL, map ? &mapped : NULL, &context));
            assert_true(ear.calls > 5 && !ear.overlapped);
            assert_true(ear.most <= ear.total && ear.total == 7000.0);
            ear.calls = 0;
            ear.calls_allowed = 4;
            assert_status(compare_with(&data, "bpa", NULL, map ? &mapped : NULL, &context), UC_ERR_CANCELLED);
            assert_true(ear.calls < 10 && !ear.overlapped);
            assert_int_equal(uc_alloc_live(), live);
        }
    uc_dataset_free(&data);
}

typedef struct trainings {
    size_t grid, runs, last, all; /* reports of both tasks; the numbers of the last one */
} trainings;

static bool count_trainings(const char *task, double done, double total, const char *detail, void *user)
{
    trainings *self = user;
    (void)done, (void)total;
    self->grid += strcmp(task, "choosing options") == 0;
    self->runs += strcmp(task, "comparing") == 0;
    assert_int_equal(sscanf(detail, "training %zu of %zu, cspa", &self->last, &self->all), 2);
    assert_true(1 <= self->last && self->last <= self->all);
    if (strcmp(task, "comparing") == 0)
        assert_int_equal(self->all, uc_compare_defaults().runs);
    return true;
}

/* 2 shuffles for every value on the grid, then 10 runs of the best. */
static void progress_counts_the_trainings_of_a_grid(void **state)
{
    (void)state;
    uc_dataset data = sample_data(700, 5, 3, false, 12);
    uc_compare_settings settings = uc_compare_defaults();
    const uc_compare_entry entry = named("cspa");
    trainings heard = {0};
    const uc_context context = {.threads = 1, .progress = count_trainings, .user = &heard};
    uc_comparison found;
    settings.grid = 1;
    assert_ok(uc_compare(&found, &entry, 1, &settings, NULL, &data, &context));
    assert_true(heard.grid > 2 && heard.runs >= 10);
    assert_int_equal(heard.last, 10);
    uc_comparison_free(&found);
    uc_dataset_free(&data);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = sample_data(8, 3, 2, false, 13);
    const uc_context context = {.threads = 1};
    for (int variant = 0; variant < 2; variant++) {
        uc_compare_entry entries[3] = {named(variant ? "cspa-plus" : "cspa"), named("spa"), named("bpa")};
        uc_train_settings train = variant ? landmarks(3) : uc_train_defaults();
        uc_compare_settings settings = uc_compare_defaults();
        uc_comparison found;
        uc_status status;
        settings.runs = 2;
        settings.grid = !variant;
        train.scale = UC_SCALE_STANDARD;
        train.map.width = 0.0;
        FOR_EACH_FAILING_ALLOCATION(status,
                                    uc_compare(&found, entries, 3, &settings, &train, &data, &context));
        assert_int_equal(status, UC_OK);
        uc_comparison_free(&found);
    }
    uc_compare_settings settings = uc_compare_defaults();
    uc_comparison found;
    uc_status status;
    settings.runs = 1;
    FOR_EACH_FAILING_ALLOCATION(status, uc_compare(&found, NULL, 0, &settings, NULL, &data, &context));
    assert_int_equal(status, UC_OK);
    uc_comparison_free(&found);
    uc_comparison_free(&found); /* an empty one may be freed */
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_learner_plays_as_by_hand),
        cmocka_unit_test(landmarks_arrive_as_by_hand),
        cmocka_unit_test(the_median_width_is_that_of_scaled_rows),
        cmocka_unit_test(any_number_of_threads_gives_the_same_result),
        cmocka_unit_test(data_stay_as_they_were_and_runs_do_not_depend_on_their_number),
        cmocka_unit_test(every_grid_names_options_of_the_learner_and_values_within_bounds),
        cmocka_unit_test(the_grid_chooses_what_trying_by_hand_chooses),
        cmocka_unit_test(the_grid_leaves_fixed_settings_and_options_that_are_not_on_it),
        cmocka_unit_test(a_learner_may_be_named_twice_with_other_settings),
        cmocka_unit_test(p_values_are_those_of_the_formula),
        cmocka_unit_test(differences_without_variance_have_p_values_of_0_and_1),
        cmocka_unit_test(one_run_has_neither_deviation_nor_p_values),
        cmocka_unit_test(what_cannot_be_compared_is_refused),
        cmocka_unit_test(progress_comes_from_one_thread_at_a_time_and_can_stop_the_work),
        cmocka_unit_test(progress_counts_the_trainings_of_a_grid),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
