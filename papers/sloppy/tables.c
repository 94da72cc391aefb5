/*
 * Stempfel, Ralaivola: Learning SVMs from sloppily labeled data, section 4 and the conclusion.
 *
 *   table 1   five problems of the benchmark, labels of the two classes flipped at different rates: CSVM
 *             and SloppySVM
 *   pu        half of the positives labelled, everything else unlabelled (the paper reports no figures)
 *
 * As in the paper, CSVM has the C with the smallest mean *test* error at each noise, and SloppySVM the C
 * that is best for CSVM without noise, so CSVM has an advantage. Both are linear.
 */
#include "binary.h"

#include <math.h>
#include <stdlib.h>

#define ESTIMATED_RUNS 10 /* at most: an estimate needs more than 200 trainings */
#define HIDDEN 0.5        /* share of the positives that are not labelled */

static const double costs[] = {0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 50, 100, 500, 1000};
static const double pairs[][2] = {{0, 0}, {0, 0.2}, {0, 0.4}, {0.2, 0}, {0.2, 0.4}, {0.4, 0}, {0.4, 0.2}};

#define COSTS (sizeof costs / sizeof *costs)
#define PAIRS (sizeof pairs / sizeof *pairs)

typedef struct recipe {
    const char *name, *title;
    size_t train_rows, splits;
    bool positive_unlabelled;   /* part of sloppy.pu */
    double published[PAIRS][2]; /* CSVM, SloppySVM */
} recipe;

static const recipe recipes[] = {
    {"diabetis",
     "Diabetis",
     468,
     100,
     true,
     {{23.3, 23.3},
      {25.18, 23.69},
      {44.06, 24.02},
      {25.0, 23.63},
      {33.83, 26.04},
      {33.93, 24.1},
      {33.49, 26.29}}},
    {"flare-solar",
     "Flare-Solar",
     666,
     100,
     false,
     {{32.32, 32.32},
      {38.99, 32.45},
      {44.74, 33.91},
      {37.45, 32.78},
      {44.57, 35.65},
      {41.43, 33.37},
      {40.61, 35.85}}},
    {"german",
     "German",
     700,
     100,
     true,
     {{24.03, 24.03},
      {25.32, 24.67},
      {44.77, 26.06},
      {27.93, 24.40},
      {37.39, 28.32},
      {29.82, 25.36},
      {29.82, 28.80}}},
    {"heart",
     "Heart",
     170,
     100,
     true,
     {{15.31, 15.31},
      {18.11, 16.19},
      {30.10, 17.68},
      {18.78, 16.63},
      {29.97, 20.73},
      {27.97, 17.18},
      {26.96, 21.66}}},
    {"splice",
     "Splice",
     1000,
     20,
     true,
     {{16.11, 16.11},
      {19.20, 17.10},
      {29.64, 18.71},
      {18.24, 16.93},
      {28.08, 23.67},
      {28.3, 18.08},
      {27.84, 23.33}}},
};

#define RECIPES (sizeof recipes / sizeof *recipes)

enum { CSVM, SLOPPY, WEIGHTED, ESTIMATED }; /* columns */

typedef struct study {
    execution *running;
    const recipe *recipe;
    benchmark data;
    panel *errors;
    panel *found, *cost; /* the estimated rates, and C of CSVM: one column per problem */
    size_t column;
    size_t runs;
    double clean_cost; /* the best C of CSVM without noise */
    uc_context context;
} study;

static bool runs_pair(const execution *self, size_t pair)
{
    return !self->quick || pair == 0 || pair == 2 || pair == 6;
}

static uc_svm_settings machine(double cost, const char *loss)
{
    uc_svm_settings settings;
    const uc_option *table = uc_learner_options(uc_learner_find("sloppy-svm"));
    uc_options_defaults(table, &settings);
    settings.cost = cost;
    (void)uc_option_set(uc_options_find(table, "loss"), &settings, loss);
    return settings;
}

/* As in the paper, regardless of csvm's defaults. */
static uc_train_settings plain_training(void)
{
    uc_train_settings common = uc_train_defaults();
    common.scale = UC_SCALE_NONE;
    common.normalize = 0;
    common.map.map = UC_MAP_NONE;
    return common;
}

static uc_status study_open(study *out, execution *self, const recipe *chosen)
{
    *out = (study){.running = self, .recipe = chosen, .clean_cost = NAN, .context = one_thread(self)};
    out->runs = self->runs < chosen->splits ? self->runs : chosen->splits;
    return benchmark_open(&out->data, self, chosen->name, chosen->train_rows);
}

/* ---- CSVM with every C ---- */

/* Sets errors[cost * runs + run]. */
static uc_status try_costs(double *errors, study *self, const uc_noise *noise)
{
    uc_dataset train = {0}, test = {0};
    uint32_t *labels = app_calloc(self->data.train_rows, sizeof *labels);
    const uc_train_settings common = plain_training();
    uc_status status = UC_OK;
    for (size_t run = 0; run < self->runs && status == UC_OK; run++) {
        status = benchmark_split(&train, &test, &self->data, self->running, run);
        if (status == UC_OK)
            status = draw_noisy(labels, &train, noise, execution_seed(self->running, run));
        uc_dataset noisy = train;
        noisy.y = labels;
        for (size_t i = 0; i < COSTS && status == UC_OK; i++) {
            const uc_svm_settings settings = machine(costs[i], "sloppy");
            status = learn_error(&errors[i * self->runs + run], "csvm", &settings, &common, &noisy, &test,
                                 &self->context);
        }
    }
    free(labels);
    uc_dataset_free(&train);
    uc_dataset_free(&test);
    return status;
}

/* The C with the smallest mean error; `values` (may be NULL) gets its errors, one per run. */
static double best_cost(double *values, const double *errors, size_t runs)
{
    size_t best = 0;
    double lowest = INFINITY;
    for (size_t i = 0; i < COSTS; i++) {
        double sum = 0.0;
        for (size_t run = 0; run < runs; run++)
            sum += errors[i * runs + run];
        if (sum < lowest) {
            lowest = sum;
            best = i;
        }
    }
    for (size_t run = 0; run < runs && values; run++)
        values[run] = errors[best * runs + run];
    return costs[best];
}

/* Tests CSVM with its best C for this noise: sets one error per run, and that C. */
static uc_status test_csvm(double *values, double *cost, study *self, double positive, double negative)
{
    uc_noise noise = {0};
    double *errors = app_calloc(COSTS * self->runs, sizeof *errors);
    uc_status status = uc_noise_binary(&noise, positive, negative);
    if (status == UC_OK)
        status = try_costs(errors, self, &noise);
    if (status == UC_OK)
        *cost = best_cost(values, errors, self->runs);
    uc_noise_free(&noise);
    free(errors);
    return status;
}

/* ---- the other methods ---- */

/* Estimates the rates from the noisy labels, and learns with them. */
static uc_status estimate_and_test(double *error, uc_rates *found, const uc_svm_settings *settings,
                                   uc_train_settings common, const uc_dataset *noisy, const uc_dataset *test,
                                   uint32_t positive, uc_rates_free free_rates, const uc_context *context)
{
    uc_noise noise = {0};
    uc_rates_estimate estimate = {0};
    uc_status status =
        uc_noise_rates_from_data(&noise, &estimate, settings, &common, noisy, positive, free_rates, context);
    if (status == UC_OK) {
        *found = estimate.tried[estimate.best];
        common.noise = &noise;
        status = learn_error(error, "sloppy-svm", settings, &common, noisy, test, context);
    }
    uc_rates_estimate_free(&estimate);
    uc_noise_free(&noise);
    return status;
}

/* Tests both losses with the true rates. */
static uc_status test_known(study *self, size_t row, const uc_train_settings *common, uc_dataset *noisy,
                            const uc_dataset *test)
{
    static const char *const losses[] = {"sloppy", "weighted"};
    uc_status status = UC_OK;
    double error = 0.0;
    for (size_t i = 0; i < 2 && status == UC_OK; i++) {
        const uc_svm_settings settings = machine(self->clean_cost, losses[i]);
        status = learn_error(&error, "sloppy-svm", &settings, common, noisy, test, &self->context);
        if (status == UC_OK)
            panel_add(self->errors, row, SLOPPY + i, error);
    }
    return status;
}

/* Tests with rates that are estimated from the noisy labels. */
static uc_status test_estimated(study *self, size_t row, uc_train_settings common, uc_dataset *noisy,
                                const uc_dataset *test)
{
    const uc_svm_settings settings = machine(self->clean_cost, "sloppy");
    uc_rates found = {0};
    double error = 0.0;
    const uc_status status =
        estimate_and_test(&error, &found, &settings, common, noisy, test, 1, UC_RATES_BOTH, &self->context);
    if (status != UC_OK)
        return status;
    panel_add(self->errors, row, ESTIMATED, error);
    panel_add(self->found, 2 * row, self->column, found.positive);
    panel_add(self->found, 2 * row + 1, self->column, found.negative);
    return UC_OK;
}

static uc_status test_run(study *self, size_t row, const double pair[2], size_t run)
{
    uc_dataset train = {0}, test = {0};
    uc_noise noise = {0};
    uc_train_settings common = plain_training();
    const uint64_t seed = execution_seed(self->running, run);
    uint32_t *labels = app_calloc(self->data.train_rows, sizeof *labels);
    uc_status status = benchmark_split(&train, &test, &self->data, self->running, run);
    if (status != UC_OK)
        goto cleanup;
    if ((status = uc_noise_binary(&noise, pair[0], pair[1])) != UC_OK)
        goto cleanup;
    if ((status = draw_noisy(labels, &train, &noise, seed)) != UC_OK)
        goto cleanup;
    uc_dataset noisy = train;
    noisy.y = labels;
    common.noise = &noise;
    status = test_known(self, row, &common, &noisy, &test);
    if (status == UC_OK && run < ESTIMATED_RUNS)
        status = test_estimated(self, row, common, &noisy, &test);

cleanup:
    uc_noise_free(&noise);
    free(labels);
    uc_dataset_free(&train);
    uc_dataset_free(&test);
    return status;
}

/* ---- table 1 ---- */

static uc_status run_pair(study *self, size_t pair)
{
    panel *table = self->errors;
    const double *now = pairs[pair];
    const size_t row = panel_row(table, (double)pair, "[%g, %g]", now[0], now[1]);
    double *values = app_calloc(self->runs, sizeof *values), cost = NAN;
    execution_stage(self->running, self->running->done, 1, "%s, [%g, %g], CSVM at every C",
                    self->recipe->name, now[0], now[1]);
    uc_status status = test_csvm(values, &cost, self, now[0], now[1]);
    if (pair == 0)
        self->clean_cost = cost;
    for (size_t run = 0; run < self->runs && status == UC_OK; run++)
        panel_add(table, row, CSVM, values[run]);
    for (size_t run = 0; run < self->runs && status == UC_OK; run++) {
        execution_stage(self->running, self->running->done, 1, "%s, [%g, %g], run %zu of %zu",
                        self->recipe->name, now[0], now[1], run + 1, self->runs);
        status = test_run(self, row, now, run);
    }
    if (status == UC_OK)
        panel_add(self->cost, row, self->column, cost);
    panel_publish(table, row, CSVM, self->recipe->published[pair][0]);
    panel_publish(table, row, SLOPPY, self->recipe->published[pair][1]);
    free(values);
    return status;
}

static panel *begin_errors(execution *self, const recipe *chosen)
{
    static const char *const names[] = {"CSVM", "SloppySVM", "weighted", "rates estimated"};
    panel *table = percent_panel(self, chosen->name, chosen->title, "[eta+, eta-]");
    table->kind = PLOT_GROUPS;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        panel_column(table, names[i]);
    return table;
}

static bool takes_part(execution *self, const recipe *chosen)
{
    return execution_wants(self, chosen->name) && data_need(self, chosen->name);
}

/* One column per problem. */
static panel *begin_table(execution *self, const char *name, const char *title, const char *value_title)
{
    panel *table = report_panel(&self->report, name, title, PLOT_NONE, "[eta+, eta-]", value_title);
    for (size_t i = 0; i < RECIPES; i++)
        if (takes_part(self, &recipes[i]))
            panel_column(table, recipes[i].name);
    return table;
}

static panel *begin_found(execution *self)
{
    panel *table = begin_table(self, "rates", "The rates found", "rate");
    table->decimals = 2;
    for (size_t pair = 0; pair < PAIRS; pair++)
        for (int sign = 0; sign < 2 && runs_pair(self, pair); sign++)
            panel_row(table, pairs[pair][sign], "[%g, %g]: eta%c", pairs[pair][0], pairs[pair][1],
                      sign ? '-' : '+');
    return table;
}

static panel *begin_cost(execution *self)
{
    panel *table = begin_table(self, "cost", "C with the smallest test error", "C of CSVM");
    for (size_t pair = 0; pair < PAIRS; pair++)
        if (runs_pair(self, pair))
            panel_row(table, (double)pair, "[%g, %g]", pairs[pair][0], pairs[pair][1]);
    return table;
}

static void run_problem(execution *self, const recipe *chosen, panel *found, panel *cost, size_t column)
{
    study one = {0};
    uc_status status = study_open(&one, self, chosen);
    one.found = found;
    one.cost = cost;
    one.column = column;
    one.errors = begin_errors(self, chosen);
    for (size_t pair = 0; pair < PAIRS && status == UC_OK; pair++)
        if (runs_pair(self, pair))
            status = run_pair(&one, pair);
    if (execution_settle(self, status, chosen->name))
        benchmark_note(&one.data, self);
    else {
        report_drop(&self->report, one.errors);
        panel_clear_column(found, column);
        panel_clear_column(cost, column);
    }
    benchmark_free(&one.data);
}

static uc_status run_table1(execution *self)
{
    panel *found = NULL, *cost = NULL;
    for (size_t i = 0, column = 0; i < RECIPES; i++) {
        if (!takes_part(self, &recipes[i]))
            continue;
        self->done = (double)i / RECIPES;
        if (!found) {
            found = begin_found(self);
            cost = begin_cost(self);
        }
        run_problem(self, &recipes[i], found, cost, column++);
    }
    move_to_end(self, found);
    move_to_end(self, cost);
    if (self->report.panel_count > 0)
        report_note(&self->report,
                    "C as in the paper: CSVM has the best of %g to %g on the test examples at each noise, "
                    "the others what is best for CSVM without noise. Beyond the paper: weighted (--loss "
                    "weighted) knows the rates, too; rates estimated (--noise estimate) in the first %d "
                    "runs at most",
                    costs[0], costs[COSTS - 1], ESTIMATED_RUNS);
    return UC_OK;
}

/* ---- positive and unlabelled ---- */

/* Hides the labels of all negatives and of some positives, and converts the rest as for a user's data. */
static uc_status hide_labels(uint32_t *positive, uc_dataset *data, uint64_t seed)
{
    uc_noise noise = {0};
    uc_status status = uc_noise_binary(&noise, HIDDEN, 0.0);
    if (status == UC_OK)
        status = uc_noise_apply(data, &noise, seed, NULL);
    for (size_t i = 0; i < data->X.rows && status == UC_OK; i++)
        if (data->y[i] == 0)
            data->y[i] = UC_NONE;
    if (status == UC_OK)
        status = uc_dataset_positive_unlabelled(positive, data, data->classes.text[1], NULL);
    uc_noise_free(&noise);
    return status;
}

enum { PU_CSVM, PU_SLOPPY, PU_WEIGHTED, PU_ESTIMATED, PU_CLEAN, PU_COLUMNS }; /* columns of sloppy.pu */

static const char *const pu_names[PU_COLUMNS] = {"CSVM", "SloppySVM", "weighted", "rate estimated",
                                                 "CSVM, all labels"};

/* Tests the machines that are given the rate, or estimate it, with labels that are already hidden. */
static uc_status test_hidden(study *self, size_t row, const uc_dataset *train, const uc_dataset *test,
                             uint32_t positive)
{
    static const char *const losses[] = {"sloppy", "weighted"};
    uc_noise noise = {0};
    uc_rates found = {0};
    uc_train_settings common = plain_training();
    double error = 0.0;
    uc_status status = uc_noise_binary(&noise, HIDDEN, 0.0);
    common.noise = &noise;
    for (size_t i = 0; i < 2 && status == UC_OK; i++) {
        const uc_svm_settings settings = machine(self->clean_cost, losses[i]);
        status = learn_error(&error, "sloppy-svm", &settings, &common, train, test, &self->context);
        if (status == UC_OK)
            panel_add(self->errors, row, PU_SLOPPY + i, error);
    }
    const uc_svm_settings settings = machine(self->clean_cost, "sloppy");
    if (status == UC_OK)
        status = estimate_and_test(&error, &found, &settings, common, train, test, positive,
                                   UC_RATES_POSITIVE_ONLY, &self->context);
    if (status == UC_OK) {
        panel_add(self->errors, row, PU_ESTIMATED, error);
        panel_add(self->found, row, 0, found.positive);
    }
    uc_noise_free(&noise);
    return status;
}

static uc_status run_hidden(study *self, size_t row, size_t run)
{
    uc_dataset train = {0}, test = {0};
    const uc_train_settings common = plain_training();
    const uc_svm_settings settings = machine(self->clean_cost, "sloppy");
    uint32_t positive = 1;
    double error = 0.0;
    uc_status status = benchmark_split(&train, &test, &self->data, self->running, run);
    if (status != UC_OK)
        goto cleanup;
    if ((status = learn_error(&error, "csvm", &settings, &common, &train, &test, &self->context)) != UC_OK)
        goto cleanup;
    panel_add(self->errors, row, PU_CLEAN, error);
    if ((status = hide_labels(&positive, &train, execution_seed(self->running, run))) != UC_OK)
        goto cleanup;
    if ((status = learn_error(&error, "csvm", &settings, &common, &train, &test, &self->context)) != UC_OK)
        goto cleanup;
    panel_add(self->errors, row, PU_CSVM, error);
    status = test_hidden(self, row, &train, &test, positive);

cleanup:
    uc_dataset_free(&train);
    uc_dataset_free(&test);
    return status;
}

static uc_status run_pu_problem(execution *self, panel *errors, panel *found, const recipe *chosen)
{
    study one = {0};
    const size_t row = panel_row(errors, (double)errors->row_count, "%s", chosen->name);
    panel_row(found, (double)row, "%s", chosen->name);
    uc_status status = study_open(&one, self, chosen);
    one.errors = errors;
    one.found = found;
    execution_stage(self, self->done, 1, "%s, CSVM at every C", chosen->name);
    if (status == UC_OK)
        status = test_csvm(NULL, &one.clean_cost, &one, 0.0, 0.0);
    for (size_t run = 0; run < one.runs && status == UC_OK; run++) {
        execution_stage(self, self->done, 1, "%s, run %zu of %zu", chosen->name, run + 1, one.runs);
        status = run_hidden(&one, row, run);
    }
    if (status == UC_OK) {
        benchmark_note(&one.data, self);
        report_note(&self->report, "%s: C = %g", chosen->name, one.clean_cost);
    }
    benchmark_free(&one.data);
    return status;
}

static uc_status run_pu(execution *self)
{
    panel *errors = percent_panel(self, "errors", "Half of the positives labelled", "problem");
    panel *found = report_panel(&self->report, "rate", "The rate found, where 0.5 is right", PLOT_NONE,
                                "problem", "eta+");
    errors->kind = PLOT_GROUPS;
    found->decimals = 2;
    panel_column(found, "eta+ found");
    for (size_t i = 0; i < PU_COLUMNS; i++)
        panel_column(errors, pu_names[i]);
    for (size_t i = 0; i < RECIPES; i++) {
        if (!recipes[i].positive_unlabelled || !takes_part(self, &recipes[i]))
            continue;
        self->done = (double)i / RECIPES;
        if (execution_settle(self, run_pu_problem(self, errors, found, &recipes[i]), recipes[i].name))
            continue;
        panel_drop_last_row(errors);
        panel_drop_last_row(found);
    }
    report_note(
        &self->report,
        "The paper calls its results on such data very promising and gives no numbers. What has no label "
        "counts as negative; SloppySVM and weighted know that half of the positives are hidden. C as in "
        "table 1: the best for CSVM with all labels, on the test examples");
    return UC_OK;
}

static const char *const table1_data[] = {"diabetis", "flare-solar", "german", "heart", "splice", NULL};
static const char *const pu_data[] = {"diabetis", "german", "heart", "splice", NULL};

const experiment sloppy_table1 = {
    .name = "sloppy.table1",
    .what = "labels of the two classes flipped at different rates: CSVM and SloppySVM",
    .data = table1_data,
    .runs = 100,
    .quick_runs = 2,
    .run = run_table1,
};

const experiment sloppy_pu = {
    .name = "sloppy.pu",
    .what = "positive and unlabelled examples: CSVM and SloppySVM",
    .data = pu_data,
    .runs = 100,
    .quick_runs = 2,
    .run = run_pu,
};
