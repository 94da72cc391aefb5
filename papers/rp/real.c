/*
 * Section 5.1: five problems of the benchmark, labels flipped at seven rates, three projections.
 *
 *   table 1, figure 2   test errors            table 2   the dimensions chosen
 *
 * The paper's protocol chooses the dimension on the first five noisy training samples: learn on one, test
 * on the other four. For small data sets these share most of their points, so a projection that memorises
 * does well. For comparison, the same learner is run with an inner cross-validation on its own training
 * sample, which uses no other data.
 *
 * The widths are those of the benchmark's support vector machines, as they are commonly quoted:
 * exp(-||x-y||^2 / width). The paper does not give nu; ours is kappa times the length of the class mean,
 * chosen along with the dimension.
 */
#include "rp.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLES 5     /* used for choosing the dimension */
#define INNER_RUNS 10 /* at most, of the inner cross-validation, which is slow */
#define LARGEST 200   /* dimension */
#define RATES 7
#define PROJECTIONS 3

typedef struct recipe {
    const char *name, *title;
    size_t train_rows;
    double width;
    bool machines; /* includes csvm and sloppy-svm on the same projection */
    double published[RATES][PROJECTIONS];
    double published_dimension[RATES][PROJECTIONS];
} recipe;

static const double rates[RATES] = {0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3};
static const double kappas[] = {0, 0.05, 0.1}; /* nu, in lengths of the class mean */
static const size_t dimensions[] = {2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 75, 100, 125, 150, 200};
static const struct {
    int kind;
    const char *name;
} projections[PROJECTIONS] = {{UC_MAP_KPCA, "KPCA"}, {UC_MAP_KGS, "KGS"}, {UC_MAP_RANDOM, "random"}};

enum { KPCA, KGS, RANDOM, INNER, CSVM, SLOPPY }; /* columns */

#define KAPPAS (sizeof kappas / sizeof *kappas)
#define DIMENSIONS (sizeof dimensions / sizeof *dimensions)

static const recipe recipes[] = {
    {"banana",
     "Banana",
     400,
     1,
     true,
     {{11.13, 10.95, 11.01},
      {11.92, 11.81, 11.84},
      {12.55, 12.69, 12.73},
      {13.54, 13.63, 13.65},
      {15.06, 15.09, 14.85},
      {16.45, 16.87, 17.4},
      {19.69, 20.31, 19.61}},
     {{20, 125, 30}, {20, 150, 40}, {15, 15, 30}, {15, 25, 75}, {25, 75, 150}, {20, 30, 125}, {15, 75, 20}}},
    {"breast-cancer",
     "Breast cancer",
     200,
     50,
     false,
     {{27.29, 27.25, 27.14},
      {26.62, 27.73, 27.25},
      {27.57, 28.06, 28.34},
      {28.01, 27.96, 27.88},
      {27.34, 28.84, 29.23},
      {27.6, 30.08, 29.81},
      {31.08, 31.27, 31.13}},
     {{10, 45, 15}, {2, 150, 50}, {10, 50, 40}, {10, 35, 30}, {2, 45, 125}, {2, 5, 10}, {5, 50, 150}}},
    {"diabetis",
     "Diabetis",
     468,
     20,
     false,
     {{23.86, 23.9, 23.9},
      {23.92, 24.16, 24.09},
      {24.49, 24.48, 24.25},
      {24.75, 24.4, 24.7},
      {25.22, 25.23, 25.01},
      {25.93, 26.36, 26.07},
      {26.77, 26.78, 26.69}},
     {{15, 15, 125}, {10, 50, 125}, {10, 125, 30}, {15, 15, 25}, {20, 35, 45}, {10, 100, 20}, {10, 15, 15}}},
    {"german",
     "German",
     700,
     55,
     false,
     {{24.08, 24.0, 24.21},
      {24.33, 24.44, 24.27},
      {24.73, 24.67, 24.53},
      {24.89, 25.37, 25.23},
      {25.46, 25.59, 25.74},
      {30.62, 26.42, 26.53},
      {30.53, 27.84, 27.73}},
     {{20, 125, 20}, {20, 15, 100}, {15, 100, 125}, {20, 40, 20}, {20, 75, 100}, {2, 75, 30}, {2, 25, 25}}},
    {"heart",
     "Heart",
     170,
     120,
     true,
     {{16.63, 16.51, 16.49},
      {17.15, 16.86, 16.79},
      {17.45, 17.03, 16.93},
      {17.33, 17.5, 17.62},
      {18.71, 18.08, 17.6},
      {19.16, 20.24, 19.18},
      {21.78, 20.64, 20.97}},
     {{15, 50, 40}, {15, 45, 40}, {10, 50, 75}, {15, 100, 50}, {10, 150, 50}, {10, 45, 15}, {2, 30, 125}}},
};

#define RECIPES (sizeof recipes / sizeof *recipes)

/* The quick version uses every fourth rate, and a third of the dimensions. */
static bool runs_rate(const execution *self, size_t rate)
{
    return !self->quick || rate % 4 == 0;
}

static bool runs_dimension(const execution *self, size_t i)
{
    return !self->quick || i % 3 == 1;
}

typedef struct study {
    execution *running;
    const recipe *recipe;
    benchmark data;
    uc_dataset train[SAMPLES];       /* of the first splits */
    panel *errors, *chosen, *kappas; /* `chosen` NULL: not wanted, nor is the inner cross-validation */
    size_t chosen_column;
    size_t dimension[RATES]; /* for the current projection */
    double kappa[RATES];
    uc_context context;
} study;

/* Draws noisy labels for part i of `rows`, which is split `split`; they are stored in `labels`. */
static uc_status flip_labels(mapped *rows, size_t i, uint32_t *labels, const uc_dataset *clean, double rate,
                             const execution *running, size_t split)
{
    uc_noise noise = {0};
    uc_status status = uc_noise_binary(&noise, rate, rate);
    if (status == UC_OK)
        status = draw_noisy(labels, clean, &noise, execution_seed(running, split));
    rows->parts[i].y = labels;
    uc_noise_free(&noise);
    return status;
}

/* ---- choosing the dimension on samples that share points ---- */

/* Adds to loss[rate][dimension and kappa] the errors of learning on `sample` and testing on the others. */
static uc_status try_sample(double (*loss)[DIMENSIONS * KAPPAS], study *self, int kind, size_t sample)
{
    const uc_dataset *sets[SAMPLES];
    const size_t size = self->data.train_rows;
    mapped rows = {0};
    uint32_t *labels = app_calloc(SAMPLES * size, sizeof *labels);
    for (size_t i = 0; i < SAMPLES; i++)
        sets[i] = &self->train[(sample + i) % SAMPLES];
    uc_status status = map_sets(&rows, kind, self->recipe->width, LARGEST, sets, SAMPLES,
                                execution_seed(self->running, sample), &self->context);
    for (size_t rate = 0; rate < RATES && status == UC_OK; rate++) {
        if (!runs_rate(self->running, rate))
            continue;
        for (size_t i = 0; i < SAMPLES && status == UC_OK; i++)
            status = flip_labels(&rows, i, labels + i * size, sets[i], rates[rate], self->running,
                                 (sample + i) % SAMPLES);
        for (size_t i = 0; i < DIMENSIONS * KAPPAS && status == UC_OK; i++) {
            const size_t d = i / KAPPAS;
            const bool reached = d > 0 && dimensions[d - 1] >= rows.parts[0].X.cols;
            double error = INFINITY;
            if (runs_dimension(self->running, d) && !reached)
                status = perceptron_error(&error, kappas[i % KAPPAS], dimensions[d], &rows, &self->context);
            loss[rate][i] += error;
        }
    }
    mapped_free(&rows);
    free(labels);
    return status;
}

static uc_status choose_dimensions(study *self, size_t projection)
{
    double loss[RATES][DIMENSIONS * KAPPAS] = {0};
    uc_status status = UC_OK;
    for (size_t sample = 0; sample < SAMPLES && status == UC_OK; sample++) {
        execution_stage(self->running, self->running->done, 1, "%s, %s, choosing on sample %zu of %d",
                        self->recipe->name, projections[projection].name, sample + 1, SAMPLES);
        status = try_sample(loss, self, projections[projection].kind, sample);
    }
    for (size_t rate = 0; rate < RATES; rate++) {
        const size_t best = smallest(loss[rate], DIMENSIONS * KAPPAS);
        self->dimension[rate] = dimensions[best / KAPPAS];
        self->kappa[rate] = kappas[best % KAPPAS];
    }
    return status;
}

/* ---- the errors ---- */

/* Tests one split at all rates. */
static uc_status test_split(study *self, size_t projection, size_t run)
{
    uc_dataset train = {0}, test = {0};
    mapped rows = {0};
    uint32_t *labels = app_calloc(self->data.train_rows, sizeof *labels);
    uc_status status = benchmark_split(&train, &test, &self->data, self->running, run);
    const uc_dataset *sets[] = {&train, &test};
    if (status == UC_OK)
        status = map_sets(&rows, projections[projection].kind, self->recipe->width, LARGEST, sets, 2,
                          execution_seed(self->running, run), &self->context);
    for (size_t rate = 0, row = 0; rate < RATES && status == UC_OK; rate++) {
        double error = 0.0;
        if (!runs_rate(self->running, rate))
            continue;
        status = flip_labels(&rows, 0, labels, &train, rates[rate], self->running, run);
        if (status == UC_OK)
            status =
                perceptron_error(&error, self->kappa[rate], self->dimension[rate], &rows, &self->context);
        if (status == UC_OK)
            panel_add(self->errors, row++, projection, error);
    }
    mapped_free(&rows);
    free(labels);
    uc_dataset_free(&train);
    uc_dataset_free(&test);
    return status;
}

static uc_status run_projection(study *self, size_t projection)
{
    uc_status status = choose_dimensions(self, projection);
    for (size_t rate = 0, row = projection; rate < RATES && status == UC_OK && self->chosen; rate++)
        if (runs_rate(self->running, rate)) {
            panel_add(self->chosen, row, self->chosen_column, (double)self->dimension[rate]);
            panel_add(self->kappas, row, self->chosen_column, self->kappa[rate]);
            row += PROJECTIONS;
        }
    for (size_t run = 0; run < self->running->runs && status == UC_OK; run++) {
        execution_stage(self->running, self->running->done, 1, "%s, %s, run %zu of %zu", self->recipe->name,
                        projections[projection].name, run + 1, self->running->runs);
        status = test_split(self, projection, run);
    }
    return status;
}

/* ---- the inner cross-validation ---- */

/* The error of a learner after kernel Gram-Schmidt; settings that are `auto`, and the dimension, are chosen
 * on the sample itself. */
static uc_status inner_error(double *error, const char *learner, const void *settings, const uc_noise *noise,
                             const study *self, const uc_dataset *train, const uc_dataset *test, size_t run)
{
    uc_train_settings common = uc_train_defaults();
    common.map.map = UC_MAP_KGS;
    common.map.width = self->recipe->width;
    common.noise = noise;
    common.seed = execution_seed(self->running, run);
    return learn_error(error, learner, settings, &common, train, test, &self->context);
}

static uc_status inner_row(study *self, size_t row, const uc_dataset *noisy, const uc_dataset *test,
                           const uc_noise *noise, size_t run)
{
    uc_svm_settings machine;
    double error = 0.0;
    uc_options_defaults(uc_learner_options(uc_learner_find("csvm")), &machine);
    machine.cost = UC_AUTO_REAL;
    uc_status status = inner_error(&error, "rp", NULL, NULL, self, noisy, test, run);
    if (status != UC_OK)
        return status;
    panel_add(self->errors, row, INNER, error);
    if (!self->recipe->machines)
        return UC_OK;
    if ((status = inner_error(&error, "csvm", &machine, NULL, self, noisy, test, run)) != UC_OK)
        return status;
    panel_add(self->errors, row, CSVM, error);
    if ((status = inner_error(&error, "sloppy-svm", &machine, noise, self, noisy, test, run)) != UC_OK)
        return status;
    panel_add(self->errors, row, SLOPPY, error);
    return UC_OK;
}

static uc_status inner_split(study *self, size_t run)
{
    uc_dataset train = {0}, test = {0};
    uint32_t *labels = app_calloc(self->data.train_rows, sizeof *labels);
    uc_status status = benchmark_split(&train, &test, &self->data, self->running, run);
    for (size_t rate = 0, row = 0; rate < RATES && status == UC_OK; rate++) {
        uc_noise noise = {0};
        uc_dataset noisy = train;
        if (!runs_rate(self->running, rate))
            continue;
        execution_stage(self->running, self->running->done, 1, "%s, inner cross-validation, rate %g, run %zu",
                        self->recipe->name, rates[rate], run + 1);
        status = uc_noise_binary(&noise, rates[rate], rates[rate]);
        if (status == UC_OK)
            status = draw_noisy(labels, &train, &noise, execution_seed(self->running, run));
        noisy.y = labels;
        if (status == UC_OK)
            status = inner_row(self, row++, &noisy, &test, &noise, run);
        uc_noise_free(&noise);
    }
    free(labels);
    uc_dataset_free(&train);
    uc_dataset_free(&test);
    return status;
}

/* ---- the experiments ---- */

static void begin_errors(study *self)
{
    const recipe *chosen = self->recipe;
    self->errors = percent_panel(self->running, chosen->name, chosen->title, "noise");
    self->errors->spread = 0.003;
    for (size_t i = 0; i < PROJECTIONS; i++)
        panel_column(self->errors, projections[i].name);
    if (self->chosen)
        panel_column(self->errors, "rp, inner");
    if (self->chosen && chosen->machines) {
        panel_column(self->errors, "csvm, inner");
        panel_column(self->errors, "sloppy, inner");
    }
    for (size_t rate = 0; rate < RATES; rate++) {
        if (!runs_rate(self->running, rate))
            continue;
        const size_t row = panel_row(self->errors, rates[rate], "%.2f", rates[rate]);
        for (size_t i = 0; i < PROJECTIONS; i++)
            panel_publish(self->errors, row, i, chosen->published[rate][i]);
    }
}

static uc_status run_problem(study *self)
{
    const execution *running = self->running;
    uc_dataset rest = {0};
    uc_status status =
        benchmark_open(&self->data, self->running, self->recipe->name, self->recipe->train_rows);
    for (size_t i = 0; i < SAMPLES && status == UC_OK; i++)
        status = benchmark_split(&self->train[i], &rest, &self->data, running, i);
    self->data.used[0] = self->data.used[1] = self->data.used[2] = 0; /* these were not used for testing */
    for (size_t i = 0; i < PROJECTIONS && status == UC_OK; i++)
        status = run_projection(self, i);
    for (size_t run = 0; run < running->runs && run < INNER_RUNS && status == UC_OK && self->chosen; run++)
        status = inner_split(self, run);
    if (status == UC_OK)
        benchmark_note(&self->data, self->running);
    for (size_t i = 0; i < SAMPLES; i++)
        uc_dataset_free(&self->train[i]);
    uc_dataset_free(&rest);
    benchmark_free(&self->data);
    return status;
}

/* The quick version uses the two problems with most columns. */
static bool takes_part(execution *self, const recipe *chosen)
{
    return execution_wants(self, chosen->name) && !(self->quick && !chosen->machines) &&
           data_need(self, chosen->name);
}

/* One row per rate and projection; the problems are columns. */
static panel *begin_choices(execution *self, const char *name, const char *title)
{
    panel *table = report_panel(&self->report, name, title, PLOT_NONE, "noise, projection", name);
    for (size_t i = 0; i < RECIPES; i++)
        if (takes_part(self, &recipes[i]))
            panel_column(table, recipes[i].name);
    for (size_t rate = 0; rate < RATES; rate++)
        for (size_t i = 0; i < PROJECTIONS && runs_rate(self, rate); i++)
            panel_row(table, rates[rate], "%.2f %s", rates[rate], projections[i].name);
    return table;
}

static panel *begin_chosen(execution *self)
{
    panel *table = begin_choices(self, "dimension", "Table 2: the dimension chosen");
    for (size_t rate = 0, row = 0; rate < RATES; rate++)
        for (size_t i = 0; i < PROJECTIONS && runs_rate(self, rate); i++, row++)
            for (size_t problem = 0, column = 0; problem < RECIPES; problem++)
                if (takes_part(self, &recipes[problem]))
                    panel_publish(table, row, column++, recipes[problem].published_dimension[rate][i]);
    return table;
}

static uc_status run_problems(execution *self, bool inner)
{
    panel *chosen = NULL, *kappa_table = NULL;
    for (size_t i = 0, column = 0; i < RECIPES; i++) {
        study one = {.running = self, .recipe = &recipes[i], .context = one_thread(self)};
        if (!takes_part(self, &recipes[i]))
            continue;
        self->done = (double)i / RECIPES;
        if (inner && !chosen) {
            chosen = begin_chosen(self);
            kappa_table = begin_choices(self, "kappa", "The kappa chosen with it");
            kappa_table->decimals = 2;
        }
        one.chosen = chosen;
        one.kappas = kappa_table;
        one.chosen_column = column++;
        begin_errors(&one);
        if (execution_settle(self, run_problem(&one), one.recipe->name))
            continue;
        report_drop(&self->report, one.errors);
        if (chosen) {
            panel_clear_column(chosen, one.chosen_column);
            panel_clear_column(kappa_table, one.chosen_column);
        }
    }
    if (self->report.panel_count == 0)
        return UC_OK;
    move_to_end(self, chosen);
    move_to_end(self, kappa_table);
    report_note(
        &self->report,
        "KPCA, KGS, random: the paper's protocol. The dimension is chosen on the first five noisy training "
        "samples, learning on one and testing on the other four; they share points. Rule nu, kappa (0, "
        "0.05 or 0.1) chosen along with it; widths 1, 50, 20, 55, 120");
    if (inner)
        report_note(
            &self->report,
            "inner: on kernel Gram-Schmidt, dimension and kappa (csvm, sloppy-svm: cost) by 5-fold "
            "cross-validation within the training sample, the first %d runs at most; sloppy-svm knows the "
            "rate, rp and csvm do not",
            INNER_RUNS);
    return UC_OK;
}

static uc_status run_table1(execution *self)
{
    return run_problems(self, true);
}

static uc_status run_figure2(execution *self)
{
    return run_problems(self, false);
}

static const char *const all_data[] = {"banana", "breast-cancer", "diabetis", "german", "heart", NULL};

const experiment rp_table1 = {
    .name = "rp.table1",
    .what = "flipped labels, three projections: test errors, and the dimensions chosen (table 2)",
    .data = all_data,
    .runs = 100,
    .quick_runs = 2,
    .run = run_table1,
};

const experiment rp_figure2 = {
    .name = "rp.figure2",
    .what = "flipped labels: error against the noise rate, three projections",
    .data = all_data,
    .runs = 100,
    .quick_runs = 3,
    .run = run_figure2,
};
