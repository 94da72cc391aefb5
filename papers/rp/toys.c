/*
 * Section 5.2: five problems in the plane, labels flipped at five rates, kernel Gram-Schmidt.
 *
 *   table 3    test errors, 2,000 training and 2,000 test points
 *   table 4    widths and dimensions chosen
 *   figure 3   the concepts, and what is learned of them at noise rates 0.2 and 0.3
 *
 * The paper's width is interpreted as sigma in exp(-||x-y||^2 / (2 sigma^2)): with exp(-||x-y||^2 / sigma)
 * its 30 to 50 dimensions could not cover the square. Width and dimension are chosen on the first samples, as
 * for table 1; these share no points here. The paper does not show how it chose nu; ours is kappa times the
 * length of the class mean, with kappa chosen in the same way, given the width and dimension.
 */
#include "rp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"

#define MOST_SAMPLES 5 /* used for choosing width and dimension */
#define LARGEST 200
#define RATES 5
#define USUAL_KAPPA 0.05

static const double rates[RATES] = {0, 0.1, 0.2, 0.3, 0.4};
static const double widths[] = {0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10};
static const size_t dimensions[] = {5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200};
static const double kappas[] = {0, 0.05, 0.1};

#define WIDTHS (sizeof widths / sizeof *widths)
#define DIMENSIONS (sizeof dimensions / sizeof *dimensions)
#define KAPPAS (sizeof kappas / sizeof *kappas)

typedef struct choice {
    double width;
    size_t dimension;
    double kappa;
} choice;

typedef struct recipe {
    const char *name, *title, *generator;
    double published[RATES];
    choice published_choice[RATES]; /* without kappa */
} recipe;

static const recipe recipes[] = {
    {"ellipses",
     "Double ellipse",
     "rp-ellipses",
     {0.49, 2.1, 3.38, 6.3, 13.51},
     {{3, 50, 0}, {1.5, 100, 0}, {2, 75, 0}, {3, 75, 0}, {2.5, 25, 0}}},
    {"ring",
     "Ring",
     "rp-ring",
     {0.59, 2.85, 4.67, 7.75, 18.48},
     {{4, 30, 0}, {4, 150, 0}, {2.5, 50, 0}, {3, 40, 0}, {4, 15, 0}}},
    {"chess",
     "Chess board",
     "rp-chess",
     {0.74, 3.61, 5.88, 10.87, 16.19},
     {{2.5, 50, 0}, {2, 150, 0}, {1.5, 100, 0}, {2, 75, 0}, {4, 5, 0}}},
    {"dart",
     "Dart board",
     "rp-dart",
     {1.74, 4.72, 7.88, 13.42, 28.47},
     {{2.5, 200, 0}, {1.5, 200, 0}, {1.5, 150, 0}, {2, 150, 0}, {1.5, 100, 0}}},
    {"hyper",
     "Hyper",
     "rp-hyper",
     {2.99, 6.26, 8.12, 11.77, 18.14},
     {{1.5, 200, 0}, {1.5, 200, 0}, {2.5, 200, 0}, {2.5, 25, 0}, {4, 5, 0}}},
};

#define RECIPES (sizeof recipes / sizeof *recipes)

/* The quick version tries fewer rates, widths and dimensions. */
static bool runs_rate(const execution *self, size_t i)
{
    return !self->quick || i % 2 == 1;
}

static bool runs_width(const execution *self, size_t i)
{
    return !self->quick || widths[i] == 1.5 || widths[i] == 2.5 || widths[i] == 4;
}

static bool runs_dimension(const execution *self, size_t i)
{
    return !self->quick || dimensions[i] == 50 || dimensions[i] == 100 || dimensions[i] == 200;
}

static double kernel_width(double sigma)
{
    return 2.0 * sigma * sigma;
}

/* `test` may be NULL; examples 0: as many as in the paper. */
static uc_status draw_points(uc_dataset *train, uc_dataset *test, const recipe *chosen, size_t examples,
                             uint64_t seed)
{
    const uc_generator *generator = uc_generator_find(chosen->generator);
    void *settings = app_calloc(1, uc_generator_settings_size(generator));
    uc_options_defaults(uc_generator_options(generator), settings);
    const uc_status status = uc_generator_run(train, test, generator, settings, examples, 0, seed);
    free(settings);
    return status;
}

typedef struct study {
    execution *running;
    const recipe *recipe;
    uc_dataset samples[MOST_SAMPLES];
    size_t sample_count;
    panel *errors, *chosen;
    size_t chosen_column;
    choice choices[RATES];
    uc_context context;
} study;

static uc_status flip(uint32_t *labels, const uc_dataset *clean, double rate, uint64_t seed)
{
    uc_noise noise = {0};
    uc_status status = uc_noise_binary(&noise, rate, rate);
    if (status == UC_OK)
        status = draw_noisy(labels, clean, &noise, seed);
    uc_noise_free(&noise);
    return status;
}

/* ---- choosing ---- */

/* Maps the samples, starting with sample `first`, with a map learned from that one. */
static uc_status map_samples(mapped *rows, const study *self, size_t first, double sigma)
{
    const uc_dataset *sets[MOST_SAMPLES];
    for (size_t i = 0; i < self->sample_count; i++)
        sets[i] = &self->samples[(first + i) % self->sample_count];
    return map_sets(rows, UC_MAP_KGS, kernel_width(sigma), LARGEST, sets, self->sample_count,
                    execution_seed(self->running, first), &self->context);
}

/* Gives the parts noisy labels, which are stored in `labels`. */
static uc_status flip_samples(mapped *rows, uint32_t *labels, const study *self, size_t first, double rate)
{
    uc_status status = UC_OK;
    for (size_t i = 0; i < self->sample_count && status == UC_OK; i++) {
        const size_t sample = (first + i) % self->sample_count;
        uint32_t *place = labels + i * self->samples[0].X.rows;
        status = flip(place, &self->samples[sample], rate, execution_seed(self->running, sample));
        rows->parts[i].y = place;
    }
    return status;
}

/* Tries all dimensions at all rates, with one width, learning from one sample. */
static uc_status try_width(double (*loss)[WIDTHS * DIMENSIONS], const study *self, size_t width,
                           size_t sample)
{
    mapped rows = {0};
    uint32_t *labels = app_calloc(self->sample_count * self->samples[0].X.rows, sizeof *labels);
    uc_status status = map_samples(&rows, self, sample, widths[width]);
    for (size_t rate = 0; rate < RATES && status == UC_OK; rate++) {
        if (!runs_rate(self->running, rate))
            continue;
        status = flip_samples(&rows, labels, self, sample, rates[rate]);
        for (size_t d = 0; d < DIMENSIONS && status == UC_OK; d++) {
            double error = INFINITY;
            if (runs_dimension(self->running, d) && !(d > 0 && dimensions[d - 1] >= rows.parts[0].X.cols))
                status = perceptron_error(&error, USUAL_KAPPA, dimensions[d], &rows, &self->context);
            loss[rate][width * DIMENSIONS + d] += error;
        }
    }
    mapped_free(&rows);
    free(labels);
    return status;
}

static uc_status try_kappas(double loss[KAPPAS], const study *self, size_t rate, size_t sample)
{
    const choice *found = &self->choices[rate];
    mapped rows = {0};
    uint32_t *labels = app_calloc(self->sample_count * self->samples[0].X.rows, sizeof *labels);
    uc_status status = map_samples(&rows, self, sample, found->width);
    if (status == UC_OK)
        status = flip_samples(&rows, labels, self, sample, rates[rate]);
    for (size_t i = 0; i < KAPPAS && status == UC_OK; i++) {
        double error = 0.0;
        status = perceptron_error(&error, kappas[i], found->dimension, &rows, &self->context);
        loss[i] += error;
    }
    mapped_free(&rows);
    free(labels);
    return status;
}

static uc_status choose(study *self)
{
    double(*loss)[WIDTHS * DIMENSIONS] = app_calloc(RATES, sizeof *loss);
    uc_status status = UC_OK;
    for (size_t width = 0; width < WIDTHS && status == UC_OK; width++) {
        const bool runs = runs_width(self->running, width);
        for (size_t i = 0; i < RATES * DIMENSIONS && !runs; i++)
            loss[i / DIMENSIONS][width * DIMENSIONS + i % DIMENSIONS] = INFINITY;
        for (size_t sample = 0; sample < self->sample_count && status == UC_OK && runs; sample++) {
            execution_stage(self->running, self->running->done, 1, "%s, choosing, width %g, sample %zu",
                            self->recipe->name, widths[width], sample + 1);
            status = try_width(loss, self, width, sample);
        }
    }
    for (size_t rate = 0; rate < RATES && status == UC_OK; rate++) {
        double of_kappa[KAPPAS] = {0};
        if (!runs_rate(self->running, rate))
            continue;
        const size_t best = smallest(loss[rate], WIDTHS * DIMENSIONS);
        self->choices[rate] = (choice){widths[best / DIMENSIONS], dimensions[best % DIMENSIONS], 0};
        for (size_t sample = 0; sample < self->sample_count && status == UC_OK; sample++)
            status = try_kappas(of_kappa, self, rate, sample);
        self->choices[rate].kappa = kappas[smallest(of_kappa, KAPPAS)];
    }
    free(loss);
    return status;
}

/* ---- testing ---- */

static uc_status test_choice(double *error, const choice *used, const uc_dataset *train, uint32_t *noisy,
                             const uc_dataset *test, uint64_t seed, const uc_context *context)
{
    const uc_dataset *sets[] = {train, test};
    mapped rows = {0};
    uc_status status =
        map_sets(&rows, UC_MAP_KGS, kernel_width(used->width), used->dimension, sets, 2, seed, context);
    if (status == UC_OK) {
        rows.parts[0].y = noisy;
        status = perceptron_error(error, used->kappa, used->dimension, &rows, context);
    }
    mapped_free(&rows);
    return status;
}

static uc_status test_run(study *self, size_t run)
{
    uc_dataset train = {0}, test = {0};
    const uint64_t seed = execution_seed(self->running, run);
    uc_status status = draw_points(&train, &test, self->recipe, 0, seed);
    uint32_t *labels = app_calloc(train.X.rows, sizeof *labels);
    for (size_t rate = 0, row = 0; rate < RATES && status == UC_OK; rate++) {
        choice published = self->recipe->published_choice[rate];
        const choice *used[] = {&self->choices[rate], &published};
        published.kappa = self->choices[rate].kappa;
        if (!runs_rate(self->running, rate))
            continue;
        status = flip(labels, &train, rates[rate], seed);
        for (size_t i = 0; i < 2 && status == UC_OK; i++) {
            double error = 0.0;
            status = test_choice(&error, used[i], &train, labels, &test, seed, &self->context);
            if (status == UC_OK)
                panel_add(self->errors, row, i, error);
        }
        row++;
    }
    free(labels);
    uc_dataset_free(&train);
    uc_dataset_free(&test);
    return status;
}

/* ---- tables 3 and 4 ---- */

static void begin_errors(study *self)
{
    self->errors = percent_panel(self->running, self->recipe->name, self->recipe->title, "noise");
    panel_column(self->errors, "rp");
    panel_column(self->errors, "rp, width and dimension of the paper");
    for (size_t rate = 0; rate < RATES; rate++)
        if (runs_rate(self->running, rate)) {
            const size_t row = panel_row(self->errors, rates[rate], "%.2f", rates[rate]);
            panel_publish(self->errors, row, 0, self->recipe->published[rate]);
        }
}

enum { DIMENSION, WIDTH, KAPPA, CHOICES };

static panel *begin_chosen(execution *self)
{
    static const char *const names[CHOICES] = {"dimension", "width", "kappa"};
    panel *table =
        report_panel(&self->report, "choices", "Table 4: what was chosen", PLOT_NONE, "noise", "value");
    for (size_t i = 0; i < RECIPES; i++)
        if (execution_wants(self, recipes[i].name))
            panel_column(table, recipes[i].name);
    for (size_t rate = 0; rate < RATES; rate++)
        for (size_t what = 0; what < CHOICES && runs_rate(self, rate); what++) {
            const size_t row = panel_row(table, rates[rate], "%.2f %s", rates[rate], names[what]);
            for (size_t i = 0, column = 0; i < RECIPES && what != KAPPA; i++) {
                const choice *published = &recipes[i].published_choice[rate];
                if (execution_wants(self, recipes[i].name))
                    panel_publish(table, row, column++,
                                  what == WIDTH ? published->width : (double)published->dimension);
            }
        }
    return table;
}

static void add_choices(study *self)
{
    const size_t column = self->chosen_column;
    for (size_t rate = 0, row = 0; rate < RATES; rate++)
        if (runs_rate(self->running, rate)) {
            panel_add(self->chosen, row + DIMENSION, column, (double)self->choices[rate].dimension);
            panel_add(self->chosen, row + WIDTH, column, self->choices[rate].width);
            panel_add(self->chosen, row + KAPPA, column, self->choices[rate].kappa);
            row += CHOICES;
        }
}

static uc_status run_problem(study *self)
{
    const size_t runs = self->running->runs;
    uc_status status = UC_OK;
    self->sample_count = runs < MOST_SAMPLES ? runs : MOST_SAMPLES;
    if (self->sample_count < 2)
        self->sample_count = 2;
    for (size_t i = 0; i < self->sample_count && status == UC_OK; i++)
        status = draw_points(&self->samples[i], NULL, self->recipe, 0, execution_seed(self->running, i));
    if (status == UC_OK)
        status = choose(self);
    if (status == UC_OK)
        add_choices(self);
    for (size_t run = 0; run < runs && status == UC_OK; run++) {
        execution_stage(self->running, self->running->done, 1, "%s, run %zu of %zu", self->recipe->name,
                        run + 1, runs);
        status = test_run(self, run);
    }
    for (size_t i = 0; i < self->sample_count; i++)
        uc_dataset_free(&self->samples[i]);
    return status;
}

static uc_status run_table3(execution *self)
{
    panel *chosen = begin_chosen(self);
    size_t samples = 0;
    for (size_t i = 0, column = 0; i < RECIPES; i++) {
        study one = {.running = self, .recipe = &recipes[i], .chosen = chosen, .context = one_thread(self)};
        if (!execution_wants(self, recipes[i].name))
            continue;
        self->done = (double)i / RECIPES;
        one.chosen_column = column++;
        begin_errors(&one);
        if (!execution_settle(self, run_problem(&one), one.recipe->name)) {
            report_drop(&self->report, one.errors);
            panel_clear_column(chosen, one.chosen_column);
        }
        samples = one.sample_count;
    }
    move_to_end(self, chosen);
    report_note(
        &self->report,
        "Width (sigma of exp(-d^2 / (2 sigma^2))), dimension and kappa are chosen on the first %zu noisy "
        "training samples: learn on one, test on the others. The last column has the paper's width and "
        "dimension (table 4) with our kappa. The shapes are our reading of the paper's figure 3",
        samples);
    return UC_OK;
}

/* ---- figure 3 ---- */

#define PIXELS 120
#define HALF_SIDE 10.0
#define POINTS_PER_PIXEL 20
#define SHOWN_POINTS 600
#define FIGURE_KAPPA 0.1

enum { OUT_RIGHT, IN_RIGHT, OUT_WRONG, IN_WRONG }; /* what is learned for a point, and whether it is right */

static const char *const colours[] = {"#ffffff", "#9ecae1", "#f6b26b", "#b45f06", NULL};
static const char *const meanings[] = {"-1, learned as such", "+1, learned as such", "+1, learned as -1",
                                       "-1, learned as +1", NULL};

/* Determines the concept: the majority of many points per pixel. */
static uc_status find_concept(uint8_t *inside, const recipe *chosen, uint64_t seed)
{
    uc_dataset points = {0};
    int *balance = app_calloc(PIXELS * PIXELS, sizeof *balance);
    uc_status status =
        draw_points(&points, NULL, chosen, (size_t)PIXELS * PIXELS * POINTS_PER_PIXEL, seed + 1);
    for (size_t i = 0; i < points.X.rows && status == UC_OK; i++) {
        const uc_row row = uc_matrix_row(&points.X, i);
        size_t place[2];
        for (int j = 0; j < 2; j++) {
            const double share = ((double)row.values[j] + HALF_SIDE) / (2.0 * HALF_SIDE);
            place[j] = (size_t)fmin(fmax(share * PIXELS, 0.0), PIXELS - 1.0);
        }
        balance[place[1] * PIXELS + place[0]] += points.y[i] ? 1 : -1;
    }
    for (size_t i = 0; i < PIXELS * PIXELS; i++)
        inside[i] = balance[i] > 0;
    uc_dataset_free(&points);
    free(balance);
    return status;
}

static void show_points(tile *out, const uc_dataset *data, const uint32_t *labels)
{
    out->point_count = data->X.rows < SHOWN_POINTS ? data->X.rows : SHOWN_POINTS;
    out->points = app_calloc(out->point_count, 2 * sizeof *out->points);
    out->signs = app_calloc(out->point_count, sizeof *out->signs);
    for (size_t i = 0; i < out->point_count; i++) {
        memcpy(out->points + 2 * i, uc_matrix_row(&data->X, i).values, 2 * sizeof *out->points);
        out->signs[i] = (uint8_t)labels[i];
    }
}

/* A point in the centre of every pixel, without labels. */
static uc_status make_grid(uc_dataset *out)
{
    const uc_status status = uc_matrix_create_dense(&out->X, (size_t)PIXELS * PIXELS, 2);
    for (size_t i = 0; i < PIXELS * PIXELS && status == UC_OK; i++)
        for (size_t j = 0; j < 2; j++) {
            const size_t place = j == 0 ? i % PIXELS : i / PIXELS;
            out->X.values[i * out->X.stride + j] =
                (float)(2.0 * HALF_SIDE * ((double)place + 0.5) / PIXELS - HALF_SIDE);
        }
    return status;
}

/* Learns from noisy labels as the paper did, and colours the tile accordingly. */
static uc_status show_learned(tile *out, double *error, const choice *used, const uc_dataset *train,
                              uint32_t *noisy, const uint8_t *inside, const uc_context *context)
{
    uc_dataset grid = {0};
    mapped rows = {0};
    uc_model *model = NULL;
    uint32_t *predicted = app_calloc((size_t)PIXELS * PIXELS, sizeof *predicted);
    uc_status status = make_grid(&grid);
    const uc_dataset *sets[] = {train, &grid};
    if (status == UC_OK)
        status = map_sets(&rows, UC_MAP_KGS, kernel_width(used->width), used->dimension, sets, 2, 1, context);
    if (status == UC_OK) {
        rows.parts[0].y = noisy;
        status = learn_perceptron(&model, used->kappa, used->dimension, &rows, context);
    }
    if (status == UC_OK)
        status = uc_model_predict(predicted, model, &rows.parts[1].X, context);
    static const uint8_t shades[2][2] = {{OUT_WRONG, IN_WRONG}, {OUT_RIGHT, IN_RIGHT}}; /* right, inside */
    size_t wrong = 0;
    for (size_t i = 0; i < PIXELS * PIXELS && status == UC_OK; i++) {
        const bool right = predicted[i] == inside[i];
        wrong += !right;
        out->pixels[i] = shades[right][predicted[i]];
    }
    *error = 100.0 * (double)wrong / (PIXELS * PIXELS);
    uc_model_free(model);
    mapped_free(&rows);
    uc_dataset_free(&grid);
    free(predicted);
    return status;
}

/* Draws the picture's column for one problem: its concept, then what is learned of it at rates 0.2 and
 * 0.3. */
static uc_status draw_column(execution *self, picture *drawn, panel *table, size_t column,
                             const uc_dataset *train, const uint8_t *inside, uint32_t *noisy)
{
    const recipe *chosen = &recipes[column];
    const uc_context context = one_thread(self);
    tile *top = &drawn->tiles[column];
    uc_status status = UC_OK;
    top->title = app_text("%s", chosen->title);
    for (size_t i = 0; i < PIXELS * PIXELS; i++)
        top->pixels[i] = inside[i] ? IN_RIGHT : OUT_RIGHT;
    show_points(top, train, train->y);
    for (size_t line = 1; line < 3 && status == UC_OK; line++) {
        tile *shown = &drawn->tiles[line * drawn->columns + column];
        const size_t rate = line + 1;
        choice used = chosen->published_choice[rate];
        double error = 0.0;
        used.kappa = FIGURE_KAPPA;
        status = flip(noisy, train, rates[rate], self->seed);
        if (status == UC_OK)
            status = show_learned(shown, &error, &used, train, noisy, inside, &context);
        if (status == UC_OK) {
            show_points(shown, train, noisy);
            panel_add(table, column, line - 1, error);
            shown->title = app_text("noise %.1f: error %.1f%%", rates[rate], error);
        }
    }
    return status;
}

static uc_status draw_problem(execution *self, picture *drawn, panel *table, size_t column)
{
    uc_dataset train = {0};
    uint8_t *inside = app_calloc((size_t)PIXELS * PIXELS, 1);
    uint32_t *noisy = NULL;
    uc_status status = find_concept(inside, &recipes[column], self->seed);
    if (status == UC_OK)
        status = draw_points(&train, NULL, &recipes[column], 0, self->seed);
    if (status == UC_OK) {
        noisy = app_calloc(train.X.rows, sizeof *noisy);
        status = draw_column(self, drawn, table, column, &train, inside, noisy);
    }
    free(noisy);
    free(inside);
    uc_dataset_free(&train);
    return status;
}

static uc_status run_figure3(execution *self)
{
    panel *table = report_panel(&self->report, "regions", "Share of the square that is learned wrongly",
                                PLOT_NONE, "problem", "%");
    picture *drawn = picture_create(PIXELS, -HALF_SIDE, HALF_SIDE, 3, RECIPES);
    uc_status status = UC_OK;
    drawn->colours = colours;
    drawn->meanings = meanings;
    self->report.picture = drawn;
    self->runs = 1;
    panel_column(table, "noise 0.2");
    panel_column(table, "noise 0.3");
    for (size_t i = 0; i < RECIPES && status == UC_OK; i++) {
        panel_row(table, (double)i, "%s", recipes[i].name);
        panel_publish(table, i, 0, recipes[i].published[2]);
        panel_publish(table, i, 1, recipes[i].published[3]);
        execution_stage(self, (double)i, RECIPES, "%s", recipes[i].name);
        status = draw_problem(self, drawn, table, i);
    }
    report_note(
        &self->report,
        "One training set of 2,000 points each (%d of them are shown), width and dimension of the paper's "
        "table 4, kappa %g. The paper's numbers are the means of its table 3",
        SHOWN_POINTS, FIGURE_KAPPA);
    return status;
}

const experiment rp_table3 = {
    .name = "rp.table3",
    .what = "problems in the plane, flipped labels: test errors, and what was chosen (table 4)",
    .data = (const char *const[]){NULL},
    .runs = 50,
    .quick_runs = 2,
    .run = run_table3,
};

const experiment rp_figure3 = {
    .name = "rp.figure3",
    .what = "problems in the plane: the concepts, and what is learned from flipped labels",
    .data = (const char *const[]){NULL},
    .runs = 1,
    .quick_runs = 1,
    .run = run_figure3,
};
