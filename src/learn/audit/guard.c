/*
 * The guard: is `structure` believed, or do its clouds tell another story than the labels?
 *
 *   loss     (top - last fit) / (top - fit of the prior): what features said about labels and say no more
 *   N[z][l]  how many labels l are really z, by the clouds
 *
 * It is believed up to a loss of .06. More than 600 rows tell more exactly: up to .045, and only if no label
 * is more often some other class than its own. Where classes have an order, clouds can slide along it, each
 * into the place of the next: their fit hardly falls, but then most of the labels E are really D.
 */
#include <math.h>
#include <string.h>

#include "learn/audit/views.h"

#define MOST_LOSS 0.06
#define MOST_LOSS_LARGE 0.045
#define SURE 2.0 /* standard deviations of the difference of two counts */

/* N of all annotators: K x K, true classes by row. */
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

/* Some label is surely more often another class than its own. */
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
    *out = loss <= (large ? MOST_LOSS_LARGE : MOST_LOSS); /* not so for NaN */
    if (*out && large)
        status = finds_a_label_outnumbered(&outnumbered, R, confusion, labelled);
    *out = *out && !outnumbered;
    return status;
}
