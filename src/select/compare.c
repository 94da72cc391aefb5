/*
 * Finds which online learner suits the data: all run over the same shuffles, and a paired t-test decides
 * whether a difference is more than chance.
 *
 *   ratio of a run      correct proposals / rounds
 *   p_ij                p-value of the hypothesis that learners i and j have the same mean ratio, from the
 *                       differences run by run
 *
 * The options on a learner's grid are chosen on separate shuffles (another sequence of random numbers), so
 * that the reported runs do not influence the choice. Ties go to the settings that the learner came with.
 */
#include <math.h>
#include <string.h>

#include "parallel/parallel.h"
#include "select/compare_runs.h"
#include "select/view.h"
#include "train/order.h"
#include "train/train.h"

#define GRID_SEQUENCE UINT64_C(0x636f6d7067726964) /* random numbers: "compgrid" */
#define GRID_RUNS 2
#define LARGEST_SEED (UINT64_C(1) << 53)

#define FIELD(name) offsetof(uc_compare_settings, name)

const uc_option uc_compare_options[] = {
    {.name = "feedback",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(feedback),
     .standard = "partial",
     .choices = "full|partial|mixed",
     .help = "what comes back after a proposal: the label; only right or wrong; or right or wrong, and the "
             "label after some of the wrong ones"},
    {.name = "label-share",
     .type = UC_OPTION_REAL,
     .offset = FIELD(label_share),
     .standard = "0.1",
     .high = 1,
     .argument = "P",
     .help = "{feedback=mixed}: the share of the wrong answers that come with the label"},
    {.name = "flip-feedback",
     .type = UC_OPTION_PAIR,
     .offset = FIELD(flips),
     .standard = "none",
     .zero = "none",
     .high = 1,
     .argument = "A,B",
     .help =
         "answer falsely on purpose: \"wrong\" to a share A of the right proposals, \"right\" to a share B "
         "of the wrong ones; the counts stay true"},
    {.name = "runs",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(runs),
     .standard = "10",
     .low = 1,
     .high = 1e6,
     .help = "shuffles of the data, the same for every learner"},
    {.name = "passes",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(passes),
     .standard = "1",
     .low = 1,
     .high = 1e9,
     .help = "number of passes over the data per run, each in another order"},
    {.name = "grid",
     .type = UC_OPTION_FLAG,
     .offset = FIELD(grid),
     .standard = "off",
     .help =
         "first choose each learner's options from a list of candidates, on shuffles that are not reported"},
    {.name = NULL},
};

uc_compare_settings uc_compare_defaults(void)
{
    uc_compare_settings settings;
    uc_options_defaults(uc_compare_options, &settings);
    return settings;
}

/* ---- which learners ---- */

static uc_status refuse_batch(const uc_learner *learner)
{
    return uc_fail(UC_ERR_OPTION,
                   "%s learns from whole data sets, not one example at a time: use train -v to compare it",
                   learner->name);
}

static uc_status fill_entry(uc_entry *out, const uc_compare_entry *wanted, uc_compare_setup *setup)
{
    const uc_learner *learner = wanted->learner;
    const uc_feedback asked = (uc_feedback)setup->settings.feedback;
    if (!uc_learner_is_online(learner))
        return refuse_batch(learner);
    const uc_status status = uc_check_own_map(learner, &setup->train.map);
    if (status != UC_OK)
        return status;
    const uc_train_settings decided = uc_train_decide(learner, &setup->train);
    *out = (uc_entry){.learner = learner,
                      .settings = uc_learner_settings(learner, wanted->settings),
                      .fixed = wanted->fixed,
                      .feedback = asked,
                      .bias = decided.bias};
    if (!uc_learner_accepts(learner, asked)) /* it learns from only one kind of feedback */
        out->feedback = learner->full ? UC_FEEDBACK_FULL : UC_FEEDBACK_PARTIAL;
    if (decided.normalize)
        out->view = UC_UNIT;
    setup->needed[out->view] = true;
    if (!out->settings)
        return UC_ERR_NOMEM;
    return uc_options_check(learner->options, out->settings);
}

static void free_entries(uc_entry *entries, size_t count)
{
    for (size_t i = 0; i < count && entries; i++)
        uc_free(entries[i].settings);
    uc_free(entries);
}

/* Lists every online learner that learns from this feedback and, if there is a map, on mapped rows; returns
 * their number. `wanted` NULL: only counts them. */
static size_t usual_entries(uc_compare_entry *wanted, const uc_compare_setup *setup)
{
    const uc_feedback feedback = (uc_feedback)setup->settings.feedback;
    const int map = setup->train.map.map;
    const bool mapped = map != UC_MAP_NONE && map != UC_MAP_DEFAULT;
    const uc_learner *learner;
    size_t found = 0;
    for (size_t i = 0; (learner = uc_learner_at(i)); i++)
        if (uc_learner_is_online(learner) &&
            (feedback == UC_FEEDBACK_FULL ? learner->full : uc_learner_accepts(learner, feedback)) &&
            !(mapped && learner->model)) {
            if (wanted)
                wanted[found] = (uc_compare_entry){.learner = learner};
            found++;
        }
    return found;
}

static uc_status fill_entries(uc_entry **out, const uc_compare_entry *wanted, size_t count,
                              uc_compare_setup *setup)
{
    if (count == 0)
        return uc_fail(UC_ERR_INVALID, "there is no learner to compare");
    uc_entry *entries = uc_alloc(count, sizeof *entries);
    if (!entries)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const uc_status status = fill_entry(&entries[i], &wanted[i], setup);
        if (status != UC_OK) {
            free_entries(entries, count);
            return status;
        }
    }
    *out = entries;
    return UC_OK;
}

static uc_status make_entries(uc_entry **out, size_t *count, const uc_compare_entry *wanted,
                              uc_compare_setup *setup)
{
    if (wanted)
        return fill_entries(out, wanted, *count, setup);
    *count = usual_entries(NULL, setup);
    uc_compare_entry *usual = uc_alloc(*count, sizeof *usual);
    if (!usual)
        return UC_ERR_NOMEM;
    (void)usual_entries(usual, setup);
    const uc_status status = fill_entries(out, usual, *count, setup);
    uc_free(usual);
    return status;
}

/* ---- the grid ---- */

static size_t combinations(const uc_entry *entry)
{
    size_t product = 1;
    if (entry->fixed)
        return 0;
    for (const uc_candidates *list = entry->learner->grid; list && list->option; list++)
        product *= list->count;
    return product;
}

static void set_combination(void *settings, const uc_learner *learner, size_t index)
{
    for (const uc_candidates *list = learner->grid; list && list->option; index /= list->count, list++) {
        const uc_option *option = uc_options_find(learner->options, list->option);
        *(double *)(void *)((char *)settings + option->offset) = list->values[index % list->count];
    }
}

/* Appends the entry with its own settings, then with every other combination on its learner's grid. */
static uc_status add_candidates(uc_entry *candidates, size_t *count, const uc_entry *from)
{
    const size_t others = combinations(from);
    for (size_t i = 0; i <= others; i++) {
        uc_entry next = *from;
        next.settings = uc_learner_settings(from->learner, from->settings);
        if (!next.settings)
            return UC_ERR_NOMEM;
        if (i > 0) {
            set_combination(next.settings, from->learner, i - 1);
            if (memcmp(next.settings, from->settings, from->learner->settings_size) == 0) {
                uc_free(next.settings);
                continue;
            }
        }
        candidates[(*count)++] = next;
    }
    return UC_OK;
}

/* Gives each entry the settings of its best candidate: the one with the most correct proposals; of equal
 * ones, the first. */
static void take_best(uc_entry *entries, size_t count, uc_entry *candidates, const size_t *firsts,
                      const size_t *correct)
{
    for (size_t i = 0; i < count; i++) {
        size_t best = firsts[i], most = 0;
        for (size_t c = firsts[i]; c < firsts[i + 1]; c++) {
            size_t sum = 0;
            for (size_t run = 0; run < GRID_RUNS; run++)
                sum += correct[c * GRID_RUNS + run];
            if (sum > most) {
                most = sum;
                best = c;
            }
        }
        uc_free(entries[i].settings);
        entries[i].settings = candidates[best].settings;
        candidates[best].settings = NULL;
    }
}

static uc_status choose_settings(uc_entry *entries, size_t count, const uc_compare_setup *setup)
{
    size_t room = 0, filled = 0;
    for (size_t i = 0; i < count; i++)
        room += 1 + combinations(&entries[i]);
    uc_entry *candidates = uc_alloc(room, sizeof *candidates);
    size_t *firsts = uc_alloc(count + 1, sizeof *firsts);
    size_t *correct = uc_alloc(room * GRID_RUNS, sizeof *correct);
    double *seconds = uc_alloc(room * GRID_RUNS, sizeof *seconds);
    uc_status status = UC_OK;
    if (!candidates || !firsts || !correct || !seconds) {
        status = UC_ERR_NOMEM;
        goto cleanup;
    }
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        status = add_candidates(candidates, &filled, &entries[i]);
        firsts[i + 1] = filled;
    }
    if (status == UC_OK)
        status = uc_compare_run(correct, seconds, NULL, setup, candidates, filled, GRID_RUNS, GRID_SEQUENCE,
                                "choosing options");
    if (status == UC_OK)
        take_best(entries, count, candidates, firsts, correct);
cleanup:
    free_entries(candidates, filled);
    uc_free(firsts);
    uc_free(correct);
    uc_free(seconds);
    return status;
}

/* ---- the result ---- */

/* Counts, unlike ratios, show exactly whether the difference is the same in all runs, so that its variance is
 * 0. */
static double p_value(const uc_compared *a, const uc_compared *b, const size_t *correct_a,
                      const size_t *correct_b, size_t runs)
{
    if (runs < 2)
        return (double)NAN;
    for (size_t run = 1; run < runs; run++)
        if (correct_a[run] - correct_b[run] != correct_a[0] - correct_b[0])
            return uc_metrics_paired_t_test(a->ratios, b->ratios, runs);
    return correct_a[0] == correct_b[0];
}

/* Positions of the entries, sorted by descending sums; equal ones keep their order. */
static void sort_entries(size_t *position, const size_t *correct, size_t count, size_t runs)
{
    for (size_t i = 0; i < count; i++) {
        size_t sum = 0, at = i;
        for (size_t run = 0; run < runs; run++)
            sum += correct[i * runs + run];
        for (; at > 0; at--) {
            size_t other = 0;
            for (size_t run = 0; run < runs; run++)
                other += correct[position[at - 1] * runs + run];
            if (other >= sum)
                break;
            position[at] = position[at - 1];
        }
        position[at] = i;
    }
}

static double deviation_of(const double *values, size_t count, double mean)
{
    double squares = 0.0;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return count > 1 ? sqrt(squares / ((double)count - 1.0)) : (double)NAN;
}

/* Adds the learning curve of entry number `which`. */
static uc_status describe_curve(uc_compared *out, const uc_compare_curves *curves, size_t which, size_t runs)
{
    const size_t points = curves->points, K = curves->classes;
    out->curve = uc_alloc(points, sizeof *out->curve);
    out->curve_deviation = uc_alloc(points, sizeof *out->curve_deviation);
    if (K > 0)
        out->recall = uc_alloc(points * K, sizeof *out->recall);
    if (!out->curve || !out->curve_deviation || (K > 0 && !out->recall))
        return UC_ERR_NOMEM;
    for (size_t p = 0; p < points; p++) {
        const double *ratios = curves->ratios + (which * points + p) * runs;
        for (size_t run = 0; run < runs; run++)
            out->curve[p] += ratios[run] / (double)runs;
        out->curve_deviation[p] = deviation_of(ratios, runs, out->curve[p]);
        for (size_t k = 0; k < K; k++) {
            const size_t at = (which * points + p) * K + k;
            const uint64_t examples = curves->examples[at] - (p > 0 ? curves->examples[at - K] : 0);
            const uint64_t correct = curves->correct[at] - (p > 0 ? curves->correct[at - K] : 0);
            out->recall[p * K + k] = examples > 0 ? (double)correct / (double)examples : (double)NAN;
        }
    }
    return UC_OK;
}

static uc_status describe(uc_compared *out, uc_entry *from, const size_t *correct, const double *seconds,
                          const uc_compare_setup *setup)
{
    const size_t runs = (size_t)setup->settings.runs;
    const double n = (double)runs;
    *out = (uc_compared){.learner = from->learner,
                         .feedback = from->feedback,
                         .reference = setup->settings.feedback != UC_FEEDBACK_FULL &&
                                      from->feedback == UC_FEEDBACK_FULL,
                         .ratios = uc_alloc(runs, sizeof *out->ratios)};
    if (!out->ratios)
        return UC_ERR_NOMEM;
    size_t sum = 0;
    for (size_t run = 0; run < runs; run++) {
        sum += correct[run];
        out->ratios[run] = (double)correct[run] / (double)setup->rounds;
        out->seconds += seconds[run] / n;
    }
    out->mean = (double)sum / ((double)setup->rounds * n);
    out->deviation = deviation_of(out->ratios, runs, out->mean);
    out->settings = from->settings;
    from->settings = NULL;
    return UC_OK;
}

/* Finds the best learner, and tests how the others compare with it. */
static void test_differences(uc_comparison *self, const size_t *correct, const size_t *position)
{
    const size_t count = self->count, runs = (size_t)self->runs;
    while (self->best < count && self->learners[self->best].reference)
        self->best++;
    if (self->best == count)
        self->best = 0;
    for (size_t i = 0; i < count * count; i++)
        self->p_values[i] =
            p_value(&self->learners[i / count], &self->learners[i % count],
                    correct + position[i / count] * runs, correct + position[i % count] * runs, runs);
    for (size_t i = 0; i < count; i++) {
        self->learners[i].p_value = self->p_values[self->best * count + i];
        self->learners[i].differs = self->learners[i].p_value < UC_SIGNIFICANCE;
    }
}

/* Makes the result, which takes over the settings of the entries. */
static uc_status make_result(uc_comparison *out, uc_entry *entries, size_t count, const size_t *correct,
                             const double *seconds, uc_compare_curves *curves, const uc_compare_setup *setup)
{
    const size_t runs = (size_t)setup->settings.runs;
    size_t *position = uc_alloc(count, sizeof *position);
    uc_comparison result = {.count = count,
                            .learners = uc_alloc(count, sizeof *result.learners),
                            .p_values = uc_alloc(count * count, sizeof *result.p_values),
                            .runs = runs,
                            .rounds = setup->rounds,
                            .width = (double)NAN};
    uc_status status = UC_OK;
    if (!position || !result.learners || !result.p_values) {
        status = UC_ERR_NOMEM;
        goto cleanup;
    }
    if (setup->mapped)
        result.width = setup->width;
    sort_entries(position, correct, count, runs);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = describe(&result.learners[i], &entries[position[i]], correct + position[i] * runs,
                          seconds + position[i] * runs, setup);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        status = describe_curve(&result.learners[i], curves, position[i], runs);
    result.points = curves->points;
    result.point_rounds = curves->rounds;
    curves->rounds = NULL;
    if (status == UC_OK)
        test_differences(&result, correct, position);
cleanup:
    if (status == UC_OK)
        *out = result;
    else
        uc_comparison_free(&result);
    uc_free(position);
    return status;
}

void uc_comparison_free(uc_comparison *self)
{
    for (size_t i = 0; i < self->count && self->learners; i++) {
        uc_free(self->learners[i].settings);
        uc_free(self->learners[i].ratios);
        uc_free(self->learners[i].curve);
        uc_free(self->learners[i].curve_deviation);
        uc_free(self->learners[i].recall);
    }
    uc_free(self->learners);
    uc_free(self->p_values);
    uc_free(self->point_rounds);
    *self = (uc_comparison){0};
}

static uc_status check_settings(const uc_compare_setup *self)
{
    const uint64_t runs = self->settings.runs;
    uc_status status = uc_options_check(uc_compare_options, &self->settings);
    if (status == UC_OK)
        status = uc_options_check(uc_train_options, &self->train);
    if (status == UC_OK)
        status = uc_options_check(uc_map_options, &self->train.map);
    if (status == UC_OK && self->train.seed > LARGEST_SEED - runs)
        status = uc_fail(UC_ERR_OPTION, "{seed=%llu}: with %llu runs it must be at most %llu",
                         (unsigned long long)self->train.seed, (unsigned long long)runs,
                         (unsigned long long)(LARGEST_SEED - runs));
    return status;
}

/* Computes the number of rounds per run, and of results (runs of all entries). */
static uc_status count_rounds(size_t *results, uc_compare_setup *setup, size_t count)
{
    const uint64_t passes = setup->settings.passes;
    const size_t rows = setup->data->X.rows;
    if (uc_size_mul(&setup->rounds, rows, (size_t)passes) &&
        uc_size_mul(results, count, (size_t)setup->settings.runs))
        return UC_OK;
    return uc_fail(UC_ERR_INVALID, "%llu passes of %zu examples are too many rounds",
                   (unsigned long long)passes, rows);
}

/* Compares these entries; the result takes over their settings. */
static uc_status compare_entries(uc_comparison *out, uc_entry *entries, size_t count, uc_compare_setup *setup)
{
    size_t results;
    uc_status status = count_rounds(&results, setup, count);
    if (status == UC_OK)
        status = uc_compare_prepare(setup);
    if (status == UC_OK && setup->settings.grid)
        status = choose_settings(entries, count, setup);
    if (status != UC_OK)
        return status;
    size_t *correct = uc_alloc(results, sizeof *correct);
    double *seconds = uc_alloc(results, sizeof *seconds);
    uc_compare_curves curves = {0};
    if (!correct || !seconds) {
        status = UC_ERR_NOMEM;
        goto cleanup;
    }
    status = uc_compare_curves_begin(&curves, count, (size_t)setup->settings.runs, setup);
    if (status == UC_OK)
        status = uc_compare_run(correct, seconds, &curves, setup, entries, count,
                                (size_t)setup->settings.runs, UC_SEQUENCE_ORDER, "comparing");
    if (status == UC_OK)
        status = make_result(out, entries, count, correct, seconds, &curves, setup);
cleanup:
    uc_compare_curves_free(&curves);
    uc_free(correct);
    uc_free(seconds);
    return status;
}

uc_status uc_stream_tune(uc_train_settings *train, const uc_dataset *data, const uc_context *context)
{
    const uc_view_wish wish = {.effort = UC_EFFORT_NORMAL, .landmarks = UC_STREAM_LANDMARKS};
    uc_views views = {0};
    if (train->map.map != UC_MAP_AUTO && train->scale != UC_SCALE_AUTO)
        return UC_OK;
    if (train->map.map == UC_MAP_AUTO && train->scale == UC_SCALE_NONE)
        train->scale = UC_SCALE_AUTO;
    uc_status status = uc_train_check(&uc_learner_ridge, data, context);
    if (status == UC_OK)
        status = uc_view_choose(&views, train, data, &wish, context);
    if (status == UC_OK && train->map.map == UC_MAP_RANDOM)
        train->map.map = UC_MAP_LANDMARKS;
    uc_views_free(&views);
    return status;
}

uc_status uc_compare(uc_comparison *out, const uc_compare_entry *entries, size_t count,
                     const uc_compare_settings *settings, const uc_train_settings *train,
                     const uc_dataset *data, const uc_context *context)
{
    uc_compare_setup setup = {.data = data,
                              .context = context,
                              .settings = uc_compare_defaults(),
                              .train = uc_train_defaults(),
                              .width = (double)NAN};
    uc_entry *made = NULL;
    if (settings)
        setup.settings = *settings;
    if (train)
        setup.train = *train;
    if (setup.train.map.map == UC_MAP_DEFAULT) /* no online learner has a default map */
        setup.train.map.map = UC_MAP_NONE;
    uc_status status = uc_stream_tune(&setup.train, data, context);
    setup.mapped = setup.train.map.map != UC_MAP_NONE;
    if (status == UC_OK)
        status = check_settings(&setup);
    if (status == UC_OK)
        status = make_entries(&made, &count, entries, &setup);
    if (status != UC_OK)
        return status;
    if (uc_is_shared(context))
        status = uc_fail(UC_ERR_INVALID, "learners are compared in one process, not in several");
    else
        status = uc_train_check(made[0].learner, data, context);
    if (status == UC_OK)
        status = compare_entries(out, made, count, &setup);
    free_entries(made, count);
    uc_compare_setup_free(&setup);
    return status;
}
