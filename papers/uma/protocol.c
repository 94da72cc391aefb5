/*
 * The protocol of section 4.2.1. From the training rows S:
 *
 *   1. m examples of every class, with their labels
 *   2. a rough classifier g from these: a perceptron
 *   3. C[p][q], the share of class q that g calls p, estimated on S_conf, a small labelled part of S
 *   4. y = g(x) for all of S
 *   5. learners of S, y and C; and for comparison f_y (perceptron on y), f_conf (perceptron on S_conf with its true
 *      labels), f_full (perceptron on S with its true labels), and a semi-supervised SVM that sees S and the labels of S_conf
 */
#include "problem.h"

#include <stdlib.h>
#include <string.h>

enum { STREAM_ROUGH = 2, STREAM_CONF = 3 };

void draw_free(draw *self)
{
    free(self->order);
    free(self->noisy);
    *self = (draw){0};
}

/* Up to m rows of every class, taken in a random order. */
static size_t choose_examples(size_t *rows, const uc_dataset *data, size_t examples_a_class, uint64_t seed)
{
    size_t *taken = papers_calloc(data->classes.count, sizeof *taken);
    size_t *order = papers_calloc(data->X.rows, sizeof *order), count = 0;
    uc_rng rng = uc_rng_make(seed, STREAM_ROUGH);
    uc_rng_choose(&rng, order, data->X.rows, data->X.rows);
    for (size_t i = 0; i < data->X.rows; i++)
        if (taken[data->y[order[i]]]++ < examples_a_class)
            rows[count++] = order[i];
    free(order);
    free(taken);
    return count;
}

/* y = g(x), g a perceptron from the rows named. */
static uc_status label_with_rough(uint32_t *noisy, const uc_dataset *data, const size_t *rows, size_t count,
                                  uint64_t seed, const uc_context *context)
{
    const uc_uma_settings settings = uma_settings(UMA_LAST);
    uc_train_settings common = uc_train_defaults();
    common.normalize = 0;
    common.seed = seed;
    uc_dataset few = {0};
    uc_model *rough = NULL;
    uc_status status = uc_dataset_subset(&few, data, rows, count);
    if (status == UC_OK)
        status = uc_train(&rough, uc_learner_find("uma"), &settings, &common, &few, context);
    if (status == UC_OK)
        status = uc_model_predict(noisy, rough, &data->X, context);
    uc_model_free(rough);
    uc_dataset_free(&few);
    return status;
}

uc_status draw_labels(draw *out, const problem *from, size_t examples_a_class, uint64_t seed,
                      const uc_context *context)
{
    const uc_dataset *data = &from->train;
    const size_t rows = data->X.rows;
    *out = (draw){.problem = from,
                  .order = papers_calloc(rows, sizeof *out->order),
                  .noisy = papers_calloc(rows, sizeof *out->noisy),
                  .labelled = *data};
    const size_t count = choose_examples(out->order, data, examples_a_class, seed);
    const uc_status status = label_with_rough(out->noisy, data, out->order, count, seed, context);
    size_t wrong = 0;
    for (size_t i = 0; i < rows; i++)
        wrong += out->noisy[i] != data->y[i];
    out->noisy_error = (double)wrong / (double)rows;
    out->labelled.y = out->noisy;
    uc_rng rng = uc_rng_make(seed, STREAM_CONF);
    uc_rng_choose(&rng, out->order, rows, rows);
    return status;
}

uc_status draw_noise(uc_noise *out, const draw *self, size_t count, const uc_context *context)
{
    const uc_dataset *data = &self->problem->train;
    uint32_t *observed = papers_calloc(count, sizeof *observed), *gold = papers_calloc(count, sizeof *gold);
    uc_noise_estimate_settings settings = uc_noise_estimate_defaults();
    uc_noise_estimate estimate = {0};
    settings.bootstrap = 0;
    for (size_t i = 0; i < count; i++) {
        observed[i] = self->noisy[self->order[i]];
        gold[i] = data->y[self->order[i]];
    }
    const uc_status status =
        uc_noise_from_labels(&estimate, observed, gold, count, &data->classes, &settings, context);
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
    uc_status status = uc_dataset_subset(&few, &self->problem->train, self->order, count);
    if (status == UC_OK)
        status = perceptron_and_test(out, &few, &self->problem->test, seed, context);
    uc_dataset_free(&few);
    return status;
}

uc_status draw_test_s3vm(score *out, const draw *self, size_t count, const uc_dataset *train, const uc_dataset *test,
                         uint64_t seed, const uc_context *context)
{
    uc_dataset hidden = *train;
    hidden.y = papers_calloc(train->X.rows, sizeof *hidden.y);
    for (size_t i = 0; i < train->X.rows; i++)
        hidden.y[i] = UC_NONE;
    for (size_t i = 0; i < count; i++)
        hidden.y[self->order[i]] = train->y[self->order[i]];
    const uc_status status = learn_and_test(out, "s3vm", NULL, NULL, &hidden, test, seed, context);
    free(hidden.y);
    return status;
}
