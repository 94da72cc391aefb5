/*
 * `structure`: the classes are clouds, whatever single labels say. Starting from R0 = the labels, repeat
 *
 *   fit the views to R;  C from R;  S = leave-one-out scores + log pi;  R <- softmax(S + LL)
 *
 * until R changes by less than 1e-3, or 30 times. Each step records the fit of the labels,
 *
 *   max over t of mean_i log sum_z softmax(S_i / t)_z exp(LL_iz)
 *
 * The fit rises as long as clouds and labels agree. If the clouds drift away from the labels, it falls; the
 * amount lost, as a share of the features' gain over the prior, is the guard's loss.
 */
#include <math.h>

#include "learn/audit/views.h"

#define CONVERGED 1e-3

static const double temperatures[] = {1.0, 1.5, 2.0, 3.0, 4.0, 6.0};
#define TEMPERATURES (sizeof temperatures / sizeof *temperatures)

static void record(uc_path *path, const double *fits, double prior)
{
    size_t best = 0;
    for (size_t t = 1; t < TEMPERATURES; t++)
        if (fits[t] > fits[best])
            best = t;
    if (path->steps == 0 || fits[best] > path->top)
        path->top = fits[best];
    path->last = fits[best];
    path->temperature = temperatures[best];
    path->prior = prior;
    path->steps++;
}

uc_status uc_structure(uc_path *path, double *R, double *S, const uc_audit_view *views, size_t count,
                       const uc_labelled *labelled, unsigned most)
{
    const size_t K = labelled->annotations->K;
    uc_confusion confusion = {0};
    double *pi = uc_alloc(K, sizeof *pi), fits[TEMPERATURES], prior = 0.0, change;
    const uc_expectation expectation = {labelled, &confusion, S, 1.0, temperatures, TEMPERATURES};
    uc_status status = uc_confusion_create(&confusion, labelled->annotations);
    if (!pi)
        status = UC_ERR_NOMEM;
    status = uc_comm_agree(uc_comm_of(labelled->context), status);
    while (status == UC_OK && path->steps < most && !path->converged) {
        status = uc_audit_scores(S, pi, views, count, labelled, R);
        if (status == UC_OK)
            status = uc_confusion_find(&confusion, labelled, R);
        if (status == UC_OK)
            status = uc_fit_of_prior(&prior, labelled, &confusion, pi);
        if (status == UC_OK)
            status = uc_expect(R, &change, fits, &expectation);
        if (status != UC_OK)
            break;
        record(path, fits, prior);
        path->converged = change < CONVERGED;
    }
    uc_confusion_free(&confusion);
    uc_free(pi);
    return status;
}

double uc_path_loss(const uc_path *path)
{
    return (path->top - path->last) / (path->top - path->prior);
}
