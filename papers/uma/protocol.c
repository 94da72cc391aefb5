/*
 * The protocol of section 4.2.1. From the training rows S:
 *
 *   1. m examples of every class, with their labels
 *   2. a rough classifier g learned from these: a perceptron
 *   3. C[p][q], the share of class q that g predicts as p, estimated on S_conf, a small labelled part of S
 *   4. y = g(x) for all of S
 *   5. learners with S, y and C; and for comparison f_y (perceptron on y), f_conf (perceptron on S_conf with
 *      its true labels), f_full (perceptron on S with its true labels), and a semi-supervised SVM that sees
 *      S and the labels of S_conf
 */
#include "problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SINGULAR_MIX 0.01 /* share of the identity that is mixed into an estimate of C that has no inverse */

enum { SEQUENCE_ROUGH = 2, SEQUENCE_CONF = 3 };

void draw_free(draw *self)
{
    free(self->order);
    free(self->noisy);
    *self = (draw){0};
}

/* Chooses up to m rows of every class, in a random order. */
static size_t choose_examples(size_t *rows, const uc_dataset *data, size_t examples_per_class, uint64_t seed)
{
    size_t *taken = app_calloc(data->classes.count, sizeof *taken);
    size_t *order = app_calloc(data->X.rows, sizeof *order), count = 0;
    uc_rng rng = uc_rng_make(seed, SEQUENCE_ROUGH);
    uc_rng_choose(&rng, order, data->X.rows, data->X.rows);
    for (size_t i = 0; i < data->X.rows; i++)
        if (taken[data->y[order[i]]]++ < examples_per_class)
            rows[count++] = order[i];
    free(order);
    free(taken);
    return count;
}

/* Sets y = g(x), with g a perceptron learned from the given rows. */
static uc_status label_with_rough(uint32_t *noisy, const problem *from, const size_t *rows, size_t count,
                                  uint64_t seed, const uc_context *context)
{
    const uc_dataset *data = &from->train;
    const uc_uma_settings settings = uma_settings(UMA_LAST, from->recipe->iterations);
    uc_train_settings common = uc_train_defaults();
    common.normalize = 0;
    common.seed = seed;
    uc_dataset few = {0};
    uc_model *rough = NULL;
    uc_status status = uc_dataset_subset(&few, data, rows, count, NULL);
    if (status == UC_OK)
        status = uc_train(&rough, uc_learner_find("uma"), &settings, &common, &few, context);
    if (status == UC_OK)
        status = uc_model_predict(noisy, rough, &data->X, context);
    uc_model_free(rough);
    uc_dataset_free(&few);
    return status;
}

uc_status draw_labels(draw *out, const problem *from, size_t examples_per_class, uint64_t seed,
                      const uc_context *context)
{
    const uc_dataset *data = &from->train;
    const size_t rows = data->X.rows;
    *out = (draw){.problem = from,
                  .order = app_calloc(rows, sizeof *out->order),
                  .noisy = app_calloc(rows, sizeof *out->noisy),
                  .labelled = *data};
    const size_t count = choose_examples(out->order, data, examples_per_class, seed);
    const uc_status status = label_with_rough(out->noisy, from, out->order, count, seed, context);
    size_t wrong = 0;
    for (size_t i = 0; i < rows; i++)
        wrong += out->noisy[i] != data->y[i];
    out->noisy_error = (double)wrong / (double)rows;
    out->labelled.y = out->noisy;
    uc_rng rng = uc_rng_make(seed, SEQUENCE_CONF);
    uc_rng_choose(&rng, out->order, rows, rows);
    return status;
}

/* With few labels two classes may have the same column, but UMA needs an inverse. */
static uc_status make_invertible(uc_noise *noise)
{
    uc_noise_check check;
    const uc_status status = uc_noise_inspect(&check, noise);
    if (status != UC_OK || isfinite(check.condition))
        return status;
    for (size_t p = 0; p < noise->classes; p++)
        for (size_t q = 0; q < noise->classes; q++) {
            double *entry = &noise->values[p * noise->classes + q];
            *entry = (1.0 - SINGULAR_MIX) * *entry + (p == q ? SINGULAR_MIX : 0.0);
        }
    return UC_OK;
}

uc_status draw_noise(uc_noise *out, const draw *self, size_t count, const uc_context *context)
{
    const uc_dataset *data = &self->problem->train;
    uint32_t *observed = app_calloc(count, sizeof *observed), *gold = app_calloc(count, sizeof *gold);
    uc_noise_estimate_settings settings = uc_noise_estimate_defaults();
    uc_noise_estimate estimate = {0};
    settings.bootstrap = 0;
    for (size_t i = 0; i < count; i++) {
        observed[i] = self->noisy[self->order[i]];
        gold[i] = data->y[self->order[i]];
    }
    uc_status status =
        uc_noise_from_labels(&estimate, observed, gold, count, &data->classes, &settings, context);
    if (status == UC_OK)
        status = make_invertible(&estimate.noise);
    if (status == UC_OK) {
        *out = estimate.noise;
        estimate.noise = (uc_noise){0};
    }
    uc_noise_estimate_free(&estimate);
    free(observed);
    free(gold);
    return status;
}

uc_status draw_test_conf(score *out, const draw *self, size_t count, uint64_t seed, const uc_context *context)
{
    uc_dataset few = {0};
    uc_status status = uc_dataset_subset(&few, &self->problem->train, self->order, count, NULL);
    if (status == UC_OK)
        status = perceptron_and_test(out, self->problem->recipe->iterations, &few, &self->problem->test, seed,
                                     context);
    uc_dataset_free(&few);
    return status;
}

/* Finds the classes that have a label among the first `count` rows of the order; renumber[k] is UC_NONE for
 * the others. */
static uc_status labelled_classes(uc_names *out, uint32_t *renumber, const draw *self, size_t count)
{
    const uc_dataset *data = &self->problem->train;
    uc_status status = UC_OK;
    for (size_t k = 0; k < data->classes.count; k++)
        renumber[k] = UC_NONE;
    for (size_t i = 0; i < count; i++)
        renumber[data->y[self->order[i]]] = 0;
    for (size_t k = 0; k < data->classes.count && status == UC_OK; k++)
        if (renumber[k] != UC_NONE)
            status = uc_names_add(&renumber[k], out, data->classes.text[k], strlen(data->classes.text[k]));
    return status;
}

/* A class without a labelled example cannot be learned, so its test examples are errors. */
uc_status draw_test_s3vm(score *out, const draw *self, size_t count, double cost, const uc_dataset *train,
                         const uc_dataset *test, uint64_t seed, const uc_context *context)
{
    const uc_s3vm_settings settings = {.cost = cost, .unlabelled_cost = 1.0};
    uc_dataset hidden = *train, seen = *test;
    uint32_t *renumber = app_calloc(train->classes.count, sizeof *renumber);
    uc_names classes = {0};
    hidden.y = app_calloc(train->X.rows, sizeof *hidden.y);
    seen.y = app_calloc(test->X.rows, sizeof *seen.y);
    uc_status status = labelled_classes(&classes, renumber, self, count);
    hidden.classes = seen.classes = classes;
    for (size_t i = 0; i < train->X.rows; i++)
        hidden.y[i] = UC_NONE;
    for (size_t i = 0; i < count; i++)
        hidden.y[self->order[i]] = renumber[train->y[self->order[i]]];
    for (size_t i = 0; i < test->X.rows; i++) {
        const uint32_t label = renumber[test->y[i]];
        seen.y[i] = label == UC_NONE ? (uint32_t)classes.count : label; /* a class unknown to the model */
    }
    if (status == UC_OK)
        status = learn_and_test(out, "s3vm", &settings, NULL, &hidden, &seen, seed, context);
    uc_names_free(&classes);
    free(hidden.y);
    free(seen.y);
    free(renumber);
    return status;
}
