/* How good a model is on rows that it has not seen; held_out.h has the criteria. */
#include "select/held_out.h"

#include <math.h>
#include <string.h>

#include "data/weights.h"
#include "model/model.h"
#include "unconfuse/metrics.h"

/* Of these numbers, one per class, the one of the row's label, or their mean over its soft label. */
static double mean_over_label(const double *values, const uc_dataset *data, size_t i)
{
    const size_t K = data->classes.count;
    double mean = 0.0;
    if (!data->soft)
        return values[data->y[i]];
    for (size_t k = 0; k < K; k++)
        mean += data->soft[i * K + k] * values[k];
    return mean;
}

/* The share of errors that clean labels would show: the mean of 1 - C^-1[predicted][y]. */
static uc_status corrected_loss(double *loss, const uint32_t *predicted, const uc_dataset *test,
                                const uc_noise *noise)
{
    const size_t K = test->classes.count;
    double *inverse = uc_alloc(K * K, sizeof *inverse), sum = 0.0, labelled = 0.0;
    if (!inverse)
        return UC_ERR_NOMEM;
    const uc_status status = uc_noise_invert(inverse, noise, 0.0);
    for (size_t i = 0; i < test->X.rows && status == UC_OK; i++)
        if (test->y[i] != UC_NONE) {
            const double right = mean_over_label(inverse + predicted[i] * K, test, i);
            sum += uc_row_weight(test, i) * (1.0 - right);
            labelled += uc_row_weight(test, i);
        }
    *loss = labelled > 0.0 ? sum / labelled : 0.0;
    uc_free(inverse);
    return status;
}

/* If only some positives are labelled: the share of errors up to a constant, by the prior of the model. */
static double positive_unlabelled_loss(const uc_model *model, const uint32_t *predicted,
                                       const uc_dataset *test)
{
    const char *name = uc_model_positive(model),
               *scenario = json_string_value(json_object_get(model->settings, "scenario"));
    const uint32_t positive = name ? uc_names_find_label(&test->classes, name, strlen(name)) : 1;
    const bool censored = !scenario || strcmp(scenario, "censored") == 0;
    double labelled = 0.0, found = 0.0, population = 0.0, above = 0.0;
    for (size_t i = 0; i < test->X.rows; i++) {
        const bool known = test->y[i] == positive, hit = predicted[i] == positive;
        const double u = uc_row_weight(test, i), counted = censored || !known ? u : 0.0;
        labelled += known ? u : 0.0;
        found += known && hit ? u : 0.0;
        population += counted;
        above += hit ? counted : 0.0;
    }
    if (labelled == 0.0 || population == 0.0)
        return 0.0;
    return above / population - 2.0 * uc_model_prior(model) * found / labelled;
}

/* The share of errors on the labels as given. */
static double plain_loss(const uint32_t *predicted, const uc_dataset *test)
{
    double sum = 0.0, labelled = 0.0;
    for (size_t i = 0; i < test->X.rows; i++)
        if (test->y[i] != UC_NONE) {
            sum += uc_row_weight(test, i) * uc_row_error(test, i, predicted[i]);
            labelled += uc_row_weight(test, i);
        }
    return labelled > 0.0 ? sum / labelled : 0.0;
}

uc_status uc_error_loss(double *loss, const uc_model *model, const uc_dataset *test, const uc_noise *noise,
                        bool positive_unlabelled, const uc_context *context)
{
    uint32_t *predicted = uc_alloc(test->X.rows, sizeof *predicted);
    if (!predicted)
        return UC_ERR_NOMEM;
    uc_status status = uc_model_predict(predicted, model, &test->X, context);
    if (status == UC_OK && positive_unlabelled)
        *loss = positive_unlabelled_loss(model, predicted, test);
    else if (status == UC_OK && noise)
        status = corrected_loss(loss, predicted, test, noise);
    else if (status == UC_OK)
        *loss = plain_loss(predicted, test);
    uc_free(predicted);
    return status;
}

/* The probability of observing the label if P are the probabilities of the true class. */
static double observed_probability(const double *P, size_t label, size_t K, const uc_noise *noise)
{
    if (!noise)
        return P[label];
    double observed = 0.0;
    for (size_t q = 0; q < K; q++)
        observed += noise->values[label * K + q] * P[q];
    return observed;
}

/* -log P(observed label) of row i, from the probabilities of the true class. */
static double surprise(const double *P, const uc_dataset *test, size_t i, const uc_noise *noise)
{
    const size_t K = test->classes.count;
    double sum = 0.0;
    if (!test->soft)
        return -log(fmax(observed_probability(P, test->y[i], K, noise), 1e-300));
    for (size_t k = 0; k < K; k++)
        if (test->soft[i * K + k] > 0.0)
            sum -= test->soft[i * K + k] * log(fmax(observed_probability(P, k, K, noise), 1e-300));
    return sum;
}

uc_status uc_likelihood_loss(double *loss, const uc_model *model, const uc_dataset *test,
                             const uc_noise *noise, const uc_context *context)
{
    const size_t n = test->X.rows, K = test->classes.count;
    double *P = uc_alloc(n * K, sizeof *P), sum = 0.0, labelled = 0.0;
    if (!P)
        return UC_ERR_NOMEM;
    const uc_status status = uc_model_probabilities(P, model, &test->X, context);
    for (size_t i = 0; i < n && status == UC_OK; i++)
        if (test->y[i] != UC_NONE) {
            sum += uc_row_weight(test, i) * surprise(P + i * K, test, i, noise);
            labelled += uc_row_weight(test, i);
        }
    *loss = labelled > 0.0 ? sum / labelled : 0.0;
    uc_free(P);
    return status;
}

/* Finds best[0..K) of every bag (uc_bag_add), and the label that its examples share; UC_NONE: no label
 * here. */
static void judge_bags(double *best, uint32_t *label, const double *scores, const uc_dataset *test,
                       uint32_t positive)
{
    const size_t K = test->classes.count, bags = test->bags.count;
    for (size_t b = 0; b < bags; b++)
        label[b] = UC_NONE;
    for (size_t i = 0; i < bags * K; i++)
        best[i] = -HUGE_VAL;
    for (size_t i = 0; i < test->X.rows; i++) {
        label[test->bag[i]] = test->y[i];
        uc_bag_add(best + test->bag[i] * K, scores + i * K, K, positive);
    }
}

uc_status uc_bag_loss(double *loss, const uc_model *model, const uc_dataset *test, uint32_t positive,
                      const uc_context *context)
{
    const size_t K = test->classes.count, bags = test->bags.count;
    double *scores = uc_alloc(test->X.rows * K, sizeof *scores), *best = uc_alloc(bags * K, sizeof *best);
    uint32_t *label = uc_alloc(bags, sizeof *label);
    double wrong = 0.0, seen = 0.0;
    uc_status status = UC_ERR_NOMEM;
    if (!scores || !best || !label)
        goto cleanup;
    status = uc_model_scores(scores, model, &test->X, context);
    if (status != UC_OK)
        goto cleanup;
    judge_bags(best, label, scores, test, positive);
    for (size_t b = 0; b < bags; b++)
        if (label[b] != UC_NONE) {
            seen += 1.0;
            wrong += uc_bag_class(best + b * K, K, positive) != label[b];
        }
    *loss = seen > 0.0 ? wrong / seen : 0.0;

cleanup:
    uc_free(label);
    uc_free(best);
    uc_free(scores);
    return status;
}
