/*
 * Ralaivola: Confusion-based online learning and a passive-aggressive scheme, section 4.
 *
 * Three Gaussians with 90, 5 and 5 percent of the examples; 2,500 training and 2,500 test examples; five
 * epochs; predictions by the mean of the iterates. A separate sample determines the cost of COPA: the one
 * with the smallest norm of the confusion matrix. The paper defines that matrix with rows that sum to 1 (4);
 * the norm of the joint shares is printed next to it.
 */
#include <math.h>
#include <stdlib.h>

#include "experiment.h"

#define EXAMPLES 2500
#define EPOCHS 5

enum { COPA, PERCEPTRON, WEIGHTED, COPA_UNSCALED, METHODS };
enum { ACCURACY, NORM, JOINT_NORM, MEASURES };

static const char *const method_names[METHODS] = {"COPA", "perceptron", "perceptron, class weights",
                                                  "COPA, no class scale"};
static const double costs[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5};

/* The values of the option `cost-scale`, by position. */
enum { SCALE_CLASS, SCALE_NONE };

static bool is_copa(size_t method)
{
    return method == COPA || method == COPA_UNSCALED;
}

/* One method on one sample; `cost` is for COPA only. */
static uc_status learn_toy(double measured[MEASURES], size_t method, double cost, uint64_t seed)
{
    const uc_context one_thread = {.threads = 1};
    const uc_copa_settings copa = {.cost = cost, .cost_scale = method == COPA ? SCALE_CLASS : SCALE_NONE};
    const uc_learner *learner = uc_learner_find(is_copa(method) ? "copa" : "perceptron");
    const uc_generator *gaussians = uc_generator_find("copa-gaussians");
    uc_perceptron_settings perceptron;
    uc_train_settings common = uc_train_defaults();
    uc_dataset train = {0}, test = {0};
    uc_model *model = NULL;
    uc_evaluation evaluation = {0};
    void *toy = app_calloc(1, uc_generator_settings_size(gaussians));
    uint32_t *predicted = app_calloc(EXAMPLES, sizeof *predicted);
    uc_options_defaults(uc_generator_options(gaussians), toy);
    uc_options_defaults(uc_learner_options(uc_learner_find("perceptron")), &perceptron);
    perceptron.class_weight = method == WEIGHTED ? UC_CLASS_WEIGHT_BALANCED : UC_CLASS_WEIGHT_NONE;
    common.passes = EPOCHS;
    common.average = 1;
    common.normalize = 0;
    common.bias = 0.0;
    common.seed = seed;

    uc_status status = uc_generator_run(&train, &test, gaussians, toy, EXAMPLES, EXAMPLES, seed);
    if (status != UC_OK)
        goto cleanup;
    if ((status = uc_train(&model, learner, is_copa(method) ? (const void *)&copa : &perceptron, &common,
                           &train, &one_thread)) != UC_OK)
        goto cleanup;
    if ((status = uc_model_predict(predicted, model, &test.X, &one_thread)) != UC_OK)
        goto cleanup;
    if ((status = uc_evaluation_compute(&evaluation, test.y, predicted, test.X.rows, test.classes.count,
                                        NULL)) != UC_OK)
        goto cleanup;
    measured[ACCURACY] = 1.0 - evaluation.error;
    measured[NORM] = evaluation.confusion_norm;
    measured[JOINT_NORM] = evaluation.confusion_norm_joint;

cleanup:
    uc_evaluation_free(&evaluation);
    uc_model_free(model);
    uc_dataset_free(&train);
    uc_dataset_free(&test);
    free(predicted);
    free(toy);
    return status;
}

static uc_status choose_cost(double *cost, size_t method, uint64_t seed)
{
    double smallest = INFINITY, measured[MEASURES];
    uc_status status = UC_OK;
    for (size_t i = 0; i < sizeof costs / sizeof *costs && status == UC_OK; i++) {
        status = learn_toy(measured, method, costs[i], seed);
        if (status == UC_OK && measured[NORM] < smallest) {
            smallest = measured[NORM];
            *cost = costs[i];
        }
    }
    return status;
}

static void begin_tables(panel *tables[MEASURES], report *shown)
{
    static const char *const names[MEASURES] = {"accuracy", "norm", "joint-norm"};
    static const char *const titles[MEASURES] = {"Accuracy", "Confusion matrix, rows that sum to 1",
                                                 "Confusion matrix, joint shares"};
    static const char *const values[MEASURES] = {"accuracy", "operator norm without the diagonal",
                                                 "operator norm without the diagonal"};
    static const double published[MEASURES][2] = {{0.85, 0.86}, {0.10, 0.18}, {0.10, 0.18}};
    for (size_t i = 0; i < MEASURES; i++) {
        tables[i] = report_panel(shown, names[i], titles[i], PLOT_BARS, "method", values[i]);
        panel_column(tables[i], values[i]);
        for (size_t method = 0; method < METHODS; method++)
            panel_row(tables[i], (double)method, "%s", method_names[method]);
        panel_publish(tables[i], COPA, 0, published[i][COPA]);
        panel_publish(tables[i], PERCEPTRON, 0, published[i][PERCEPTRON]);
    }
}

static uc_status run_toy(execution *self)
{
    panel *tables[MEASURES];
    double cost[METHODS] = {0}, measured[MEASURES];
    uc_status status = UC_OK;
    begin_tables(tables, &self->report);
    for (size_t method = 0; method < METHODS && status == UC_OK; method++) {
        if (is_copa(method))
            status = choose_cost(&cost[method], method, execution_seed(self, 0));
        for (size_t run = 0; run < self->runs && status == UC_OK; run++) {
            execution_stage(self, (double)(method * self->runs + run), (double)(METHODS * self->runs),
                            "%s, run %zu of %zu", method_names[method], run + 1, self->runs);
            status = learn_toy(measured, method, cost[method], execution_seed(self, run + 1));
            for (size_t i = 0; i < MEASURES && status == UC_OK; i++)
                panel_add(tables[i], method, 0, measured[i]);
        }
    }
    report_note(&self->report,
                "Chosen on a sample of its own: COPA's cost %g, %g without the class scale. The paper gives "
                "one norm; it is printed next to both definitions.",
                cost[COPA], cost[COPA_UNSCALED]);
    return status;
}

const experiment copa_toy = {
    .name = "copa.toy",
    .what = "three Gaussians, one of them with 90% of the examples: accuracy and confusion",
    .data = (const char *const[]){NULL},
    .runs = 10,
    .quick_runs = 3,
    .run = run_toy,
};
