/*
 * The guard: should `structure` be believed, or do its clouds contradict the labels?
 *
 *   loss     (top - last fit) / (top - fit of the prior): the share of the features' gain that was lost again
 *   N[z][l]  how many labels l belong to true class z, according to the clouds
 *
 * `structure` is believed up to a loss of .06. With more than 600 rows the test is stricter: up to .045, and
 * only if no label belongs to another class more often than to its own. If classes have an order, clouds can
 * slide along it, each into the place of the next: their fit hardly falls, but then, say, most of the labels
 * E belong to class D.
 */
#include <math.h>
#include <string.h>

#include "learn/audit/views.h"

#define MOST_LOSS 0.06
#define MOST_LOSS_LARGE 0.045
#define SURE 2.0 /* standard deviations of the difference of two counts */

/* N over all annotators: K x K, a row per true class. */
static void count_labels(double *N, const uc_confusion *confusion, const uc_annotations *annotations)
{
    const size_t K = confusion->K;
    memset(N, 0, K * K * sizeof *N);
    for (size_t p = 0; p < confusion->pairs; p++)
        for (size_t z = 0; z < K; z++)
            N[z * K + annotations->label_of[p]] += confusion->counts[p * K + z];
}

static bool is_outnumbered(const double *N, size_t K, size_t label)
{
    const double own = N[label * K + label];
    for (size_t z = 0; z < K; z++) {
        const double other = N[z * K + label];
        if (other - own > SURE * sqrt(other + own))
            return true;
    }
    return false;
}

/* Whether some label clearly belongs to another class more often than to its own. */
static uc_status finds_a_label_outnumbered(bool *out, const double *R, uc_confusion *confusion,
                                           const uc_labelled *labelled)
{
    const size_t K = confusion->K;
    double *N = uc_alloc(K * K, sizeof *N);
    uc_status status = uc_comm_agree(uc_comm_of(labelled->context), N ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK)
        status = uc_confusion_find(confusion, labelled, R);
    if (status == UC_OK)
        count_labels(N, confusion, labelled->annotations);
    *out = false;
    for (size_t label = 0; label < K && status == UC_OK && !*out; label++)
        *out = is_outnumbered(N, K, label);
    uc_free(N);
    return status;
}

uc_status uc_audit_believes_structure(bool *out, double loss, bool large, const double *R,
                                      uc_confusion *confusion, const uc_labelled *labelled)
{
    bool outnumbered = false;
    uc_status status = UC_OK;
    *out = loss <= (large ? MOST_LOSS_LARGE : MOST_LOSS); /* false for NaN */
    if (*out && large)
        status = finds_a_label_outnumbered(&outnumbered, R, confusion, labelled);
    *out = *out && !outnumbered;
    return status;
}
