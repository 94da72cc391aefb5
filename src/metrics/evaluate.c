/*
 * Compares labels with predictions.
 *
 *   n       examples with a label, known to the model or not
 *   N       confusion counts: N[k][p] examples of label k were predicted p
 *           with weights u_i, both are sums of weights, and intervals are those of (sum u)^2 / sum u^2
 *           examples
 *   B       N with every row divided by its sum (a class without examples: a zero row), and a zero diagonal
 *   C       noise of the labels: C[k][q] = P(label k | true class q)
 *
 *   confusion_rate        ||B||_F / sqrt(K)
 *   confusion_norm        ||B||_2
 *   confusion_norm_joint  ||N/n without its diagonal||_2
 *
 *   recall, precision     N[k][k] over its row's sum, over all predictions of k
 *   F1                    2 N[k][k] / (row's sum + predictions of k), the harmonic mean of the two
 *   macro F1              mean of F1 over the classes that occur or are predicted
 *   balanced accuracy     mean of recall over the classes that occur
 *
 * F1, its mean, balanced accuracy and log loss are scikit-learn's f1_score, balanced_accuracy_score and
 * log_loss at their defaults, if all labels that the model does not know have one name.
 *
 * If the noise depends only on the true class, E[N/n] = C T, where T[q][p] is the share of examples that are
 * truly q and predicted p. So T^ = C^-1 N/n, and the error that clean labels would show is 1 - trace T^. The
 * trace is the mean over the examples of v_i = (C^-1)[p_i][k_i], where k_i is the label and p_i the
 * prediction; an unknown label has v_i = 0. The standard error is that of a mean, sqrt(mean (v_i - mean v)^2
 * / n).
 */
#include "unconfuse/metrics.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "linalg/linalg.h"

void uc_evaluation_free(uc_evaluation *self)
{
    uc_free(self->confusion);
    uc_free(self->weighted_confusion);
    uc_free(self->recall);
    uc_free(self->precision);
    uc_free(self->f1);
    uc_free(self->corrected_confusion);
    *self = (uc_evaluation){0};
}

static uc_status allocate(uc_evaluation *self, size_t classes, bool corrected, bool weighted)
{
    size_t cells;
    if (!uc_size_mul(&cells, classes, classes))
        return uc_fail(UC_ERR_NOMEM, "a confusion matrix of %zu classes does not fit in memory", classes);
    self->classes = classes;
    self->corrected = corrected;
    self->confusion = uc_alloc(cells, sizeof *self->confusion);
    self->recall = uc_alloc(classes, sizeof *self->recall);
    self->precision = uc_alloc(classes, sizeof *self->precision);
    self->f1 = uc_alloc(classes, sizeof *self->f1);
    self->weighted = weighted;
    if (corrected)
        self->corrected_confusion = uc_alloc(cells, sizeof *self->corrected_confusion);
    if (weighted)
        self->weighted_confusion = uc_alloc(cells, sizeof *self->weighted_confusion);
    if (!self->confusion || !self->recall || !self->precision || !self->f1)
        return UC_ERR_NOMEM;
    if ((corrected && !self->corrected_confusion) || (weighted && !self->weighted_confusion))
        return UC_ERR_NOMEM;
    return UC_OK;
}

/* Sums over the examples. */
typedef struct weight_sums {
    double weight, squares; /* of the weights, and of their squares */
    double errors, unknown; /* weights of errors, and of labels that are not known */
} weight_sums;

/* Adds a labelled row to the weighted sums: at its label, or at every class of its soft label. */
static void tally_weight(uc_evaluation *self, weight_sums *sums, const uc_outcomes *outcomes, size_t i)
{
    const size_t K = self->classes;
    const uint32_t label = outcomes->labels[i], predicted = outcomes->predicted[i];
    const double weight = outcomes->weights ? outcomes->weights[i] : 1.0;
    const double *soft = outcomes->soft ? outcomes->soft + i * K : NULL;
    sums->weight += weight;
    sums->squares += weight * weight;
    self->precision[predicted] += weight;
    if (label >= K) {
        sums->errors += weight;
        sums->unknown += weight;
    } else if (soft) {
        sums->errors += weight * (1.0 - soft[predicted]);
        for (size_t k = 0; k < K; k++)
            self->weighted_confusion[k * K + predicted] += weight * soft[k];
    } else {
        sums->errors += label == predicted ? 0.0 : weight;
        if (self->weighted)
            self->weighted_confusion[label * K + predicted] += weight;
    }
}

/* Fills in the counts. `precision` gets how often every class was predicted, until measure_classes. */
static uc_status tally(uc_evaluation *self, weight_sums *sums, const uc_outcomes *outcomes)
{
    const uint32_t *labels = outcomes->labels, *predicted = outcomes->predicted;
    for (size_t i = 0; i < outcomes->count; i++) {
        if (predicted[i] >= self->classes)
            return uc_fail(UC_ERR_INVALID, "prediction %zu is class %u of %zu", i + 1, predicted[i],
                           self->classes);
        if (outcomes->weights && outcomes->weights[i] == 0.0)
            continue;
        if (labels[i] == UC_NONE) {
            self->unlabelled++;
            continue;
        }
        self->examples++;
        self->errors += labels[i] != predicted[i];
        if (labels[i] >= self->classes)
            self->unknown_labels++;
        else
            self->confusion[labels[i] * self->classes + predicted[i]]++;
        tally_weight(self, sums, outcomes, i);
    }
    if (self->examples == 0)
        return uc_fail(UC_ERR_INVALID, "there is no labelled example to evaluate");
    return UC_OK;
}

/* N[cell] */
static double cell(const uc_evaluation *self, size_t at)
{
    return self->weighted ? self->weighted_confusion[at] : (double)self->confusion[at];
}

static double row_sum(const uc_evaluation *self, size_t k)
{
    double sum = 0.0;
    for (size_t p = 0; p < self->classes; p++)
        sum += cell(self, k * self->classes + p);
    return sum;
}

static double ratio(double part, double whole)
{
    return whole > 0.0 ? part / whole : (double)NAN;
}

/* Labels that the model does not know count as one more class, of which no prediction is right. */
static void measure_classes(uc_evaluation *self)
{
    double recalls = 0.0, f1s = 0.0;
    size_t occurring = self->unknown_labels > 0, counted = occurring;
    for (size_t k = 0; k < self->classes; k++) {
        const double right = cell(self, k * self->classes + k), sum = row_sum(self, k);
        const double predictions = self->precision[k];
        self->recall[k] = ratio(right, sum);
        self->precision[k] = ratio(right, predictions);
        self->f1[k] = ratio(2.0 * right, sum + predictions);
        if (sum > 0.0) {
            recalls += self->recall[k];
            occurring++;
        }
        if (sum + predictions > 0.0) {
            f1s += self->f1[k];
            counted++;
        }
    }
    self->balanced_accuracy = recalls / (double)occurring;
    self->macro_f1 = f1s / (double)counted;
    self->log_loss = (double)NAN;
}

/* ||B||_2 and ||B||_F; if `total` is not 0, the counts are divided by it instead of by their row's sum. */
static uc_status off_diagonal_norms(double *spectral, double *frobenius, const uc_evaluation *self,
                                    double total)
{
    const size_t K = self->classes;
    double *B = uc_alloc(K * K, sizeof *B), *sigma = uc_alloc(K, sizeof *sigma);
    uc_status status = UC_ERR_NOMEM;
    if (!B || !sigma)
        goto cleanup;

    double squares = 0.0;
    for (size_t k = 0; k < K; k++) {
        const double divisor = total > 0.0 ? total : row_sum(self, k);
        for (size_t p = 0; p < K; p++)
            if (p != k && divisor > 0.0) {
                B[k * K + p] = cell(self, k * K + p) / divisor;
                squares += B[k * K + p] * B[k * K + p];
            }
    }
    status = uc_singular_values(sigma, B, K);
    if (status == UC_OK) {
        *spectral = sigma[0];
        *frobenius = sqrt(squares);
    }

cleanup:
    uc_free(B);
    uc_free(sigma);
    return status;
}

static uc_status measure_norms(uc_evaluation *self)
{
    double frobenius, ignored;
    uc_status status = off_diagonal_norms(&self->confusion_norm, &frobenius, self, 0.0);
    if (status == UC_OK)
        status = off_diagonal_norms(&self->confusion_norm_joint, &ignored, self, self->weight);
    if (status == UC_OK)
        self->confusion_rate = frobenius / sqrt((double)self->classes);
    return status;
}

/* Estimates the error that clean labels would show. */
static uc_status correct(uc_evaluation *self, const uc_noise *noise, double unknown)
{
    const size_t K = self->classes;
    const double n = self->weight;
    double *inverse = uc_alloc(K * K, sizeof *inverse);
    if (!inverse)
        return UC_ERR_NOMEM;
    uc_status status = uc_noise_invert(inverse, noise, 0.0);
    if (status != UC_OK)
        goto cleanup;

    double mean = 0.0;
    for (size_t q = 0; q < K; q++) {
        for (size_t k = 0; k < K; k++)
            for (size_t p = 0; p < K; p++)
                self->corrected_confusion[q * K + p] += inverse[q * K + k] * cell(self, k * K + p) / n;
        mean += self->corrected_confusion[q * K + q];
    }
    double variance = unknown / n * mean * mean;
    for (size_t k = 0; k < K; k++)
        for (size_t p = 0; p < K; p++) {
            const double difference = inverse[p * K + k] - mean;
            variance += cell(self, k * K + p) / n * difference * difference;
        }
    self->corrected_error = 1.0 - mean;
    self->corrected_error_deviation = sqrt(variance / self->effective_examples);

cleanup:
    uc_free(inverse);
    return status;
}

uc_status uc_evaluation_of(uc_evaluation *out, const uc_outcomes *outcomes, size_t classes,
                           const uc_noise *noise)
{
    if (noise && noise->classes != classes)
        return uc_fail(UC_ERR_INVALID, "the noise matrix has %zu classes, the model has %zu", noise->classes,
                       classes);
    uc_evaluation evaluation = {0};
    weight_sums sums = {0};
    uc_status status = allocate(&evaluation, classes, noise != NULL, outcomes->weights || outcomes->soft);
    if (status == UC_OK)
        status = tally(&evaluation, &sums, outcomes);
    if (status == UC_OK) {
        evaluation.weight = sums.weight;
        evaluation.effective_examples = (double)evaluation.examples;
        if (outcomes->weights)
            evaluation.effective_examples = sums.weight * sums.weight / sums.squares;
        evaluation.error = sums.errors / sums.weight;
        uc_metrics_wilson_of_share(evaluation.error_interval, evaluation.error,
                                   evaluation.effective_examples);
        measure_classes(&evaluation);
        status = measure_norms(&evaluation);
    }
    if (status == UC_OK && noise)
        status = correct(&evaluation, noise, sums.unknown);
    if (status == UC_OK)
        *out = evaluation;
    else
        uc_evaluation_free(&evaluation);
    return status;
}

uc_status uc_evaluation_compute(uc_evaluation *out, const uint32_t *labels, const uint32_t *predicted,
                                size_t count, size_t classes, const uc_noise *noise)
{
    const uc_outcomes outcomes = {.labels = labels, .predicted = predicted, .count = count};
    return uc_evaluation_of(out, &outcomes, classes, noise);
}

uc_status uc_evaluation_set_log_loss(uc_evaluation *self, const uint32_t *labels,
                                     const double *label_probability, size_t count)
{
    return uc_evaluation_set_weighted_log_loss(self, labels, label_probability, NULL, count);
}

uc_status uc_evaluation_set_weighted_log_loss(uc_evaluation *self, const uint32_t *labels,
                                              const double *label_probability, const double *weights,
                                              size_t count)
{
    double sum = 0.0, labelled = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (labels[i] >= self->classes) /* unlabelled or unknown */
            continue;
        if (!(label_probability[i] >= 0.0 && label_probability[i] <= 1.0))
            return uc_fail(UC_ERR_INVALID, "row %zu: %g is not a probability", i + 1, label_probability[i]);
        const double weight = weights ? weights[i] : 1.0;
        sum -= weight * log(fmin(fmax(label_probability[i], DBL_EPSILON), 1.0 - DBL_EPSILON));
        labelled += weight;
    }
    self->log_loss = (double)NAN;
    if (labelled > 0.0 && self->unknown_labels == 0)
        self->log_loss = sum / labelled;
    return UC_OK;
}
