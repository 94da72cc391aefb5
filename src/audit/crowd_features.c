/* The consensus of annotators that also uses the features of the rows: the learner `audit` with one matrix
 * per annotator. */
#include <string.h>

#include "audit/crowd_em.h"
#include "learn/audit/audit.h"
#include "unconfuse/audit.h"
#include "unconfuse/table.h"

/* The annotations of this process's rows; *items is freed with uc_free. */
static uc_status own_annotations(uc_annotation **items, size_t *count, const uc_crowd *crowd, size_t first,
                                 size_t rows)
{
    const size_t begin = crowd->first[first];
    *count = crowd->first[first + rows] - begin;
    *items = uc_alloc(*count, sizeof **items);
    if (!*items)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < rows; i++)
        for (size_t a = crowd->first[first + i]; a < crowd->first[first + i + 1]; a++)
            (*items)[a - begin] = (uc_annotation){(uint32_t)i, crowd->annotator[a], crowd->label[a]};
    return UC_OK;
}

static uc_status make_annotations(uc_annotations *out, const uc_crowd *crowd, size_t first, size_t rows,
                                  const uc_context *context)
{
    uc_annotation *items = NULL;
    size_t count = 0;
    uc_status status = own_annotations(&items, &count, crowd, first, rows);
    status = uc_comm_agree(uc_comm_of(context), status);
    if (status == UC_OK)
        status = uc_annotations_make(out, items, count, rows, crowd->annotators.count, crowd->classes.count,
                                     context);
    uc_free(items);
    return status;
}

/* The model predicts true classes; its noise matrix is that of all annotators together. */
static uc_status finish_model(uc_model *model, const uc_audit_fit *fit, const uc_clean_error *error,
                              size_t examples)
{
    const uc_status status = uc_json_set(model->summary, "examples", json_integer((json_int_t)examples));
    return status == UC_OK ? uc_audit_describe(model, fit, error, 0.0) : status;
}

/* The posteriors of the rows of all processes. */
static uc_status describe(uc_consensus *out, const uc_audit_fit *fit, const uc_crowd *crowd,
                          const uint32_t *gold, const uc_context *context)
{
    void *all = NULL;
    if (!uc_is_shared(context))
        return uc_consensus_from_posterior(out, crowd, fit->R, gold, context);
    uc_status status =
        uc_comm_gather(&all, NULL, uc_comm_of(context), fit->R, fit->rows * fit->K * sizeof *fit->R);
    if (status == UC_OK)
        status = uc_consensus_from_posterior(out, crowd, all, gold, context);
    uc_free(all);
    return uc_comm_agree(uc_comm_of(context), status);
}

uc_status uc_consensus_with_features(uc_consensus *out, uc_model **model, uc_clean_error *error,
                                     const uc_dataset *data, const uc_crowd *crowd, const uint32_t *gold,
                                     const uc_audit_settings *settings, uint64_t seed,
                                     const uc_context *context)
{
    const uc_matrix *X = &data->X;
    uc_annotations annotations = {0};
    uc_audit_fit fit = {0};
    uc_clean_error judged = {0};
    uc_model *made = NULL;
    uc_share share;
    uc_status status = uc_share_of(&share, context, X->rows);
    if (status != UC_OK)
        return status;
    if (share.total != crowd->rows)
        return uc_fail(UC_ERR_INVALID, "the annotations are of %zu rows, but the data have %zu", crowd->rows,
                       share.total);
    if ((status = make_annotations(&annotations, crowd, share.first, X->rows, context)) != UC_OK)
        return status;
    status = uc_model_create(&made, &crowd->classes, X->cols, X->cols, "audit");
    if ((status = uc_comm_agree(uc_comm_of(context), status)) != UC_OK)
        goto cleanup;
    const uc_labelled labelled = {
        .annotations = &annotations, .gold = gold ? gold + share.first : NULL, .context = context};
    made->probabilities = true;
    made->preprocessing.cols = X->cols;
    made->preprocessing.table = uc_table_share(data->table);
    if ((status = uc_audit_run(&fit, made, X, &labelled, settings, seed)) != UC_OK)
        goto cleanup;
    if ((status = uc_audit_clean_error(&judged, &fit, &labelled, seed)) != UC_OK)
        goto cleanup;
    status = finish_model(made, &fit, &judged, share.total);
    if ((status = uc_comm_agree(uc_comm_of(context), status)) != UC_OK)
        goto cleanup;
    status = describe(out, &fit, crowd, gold, context);
    if (status == UC_OK)
        out->iterations = fit.steps;
    if (status == UC_OK && error)
        *error = judged;

cleanup:
    uc_audit_fit_free(&fit);
    uc_annotations_free(&annotations);
    if (status == UC_OK && model)
        *model = made;
    else
        uc_model_free(made);
    return status;
}
