/* Copies of data with suspicious labels repaired. */
#include <assert.h>

#include "base/base.h"
#include "unconfuse/audit.h"

/* The rows that are not flagged. */
static uc_status drop_flagged(uc_dataset *out, const uc_dataset *data, const uc_label_audit *audit,
                              const uc_context *context)
{
    const size_t rows = data->X.rows;
    bool *flagged = uc_alloc(rows, sizeof *flagged);
    size_t *kept = uc_alloc(rows, sizeof *kept), count = 0;
    uc_status status = flagged && kept ? UC_OK : UC_ERR_NOMEM;
    for (size_t i = 0; i < audit->flagged && status == UC_OK; i++)
        flagged[audit->suspects[i].row] = true;
    for (size_t i = 0; i < rows && status == UC_OK; i++)
        if (!flagged[i])
            kept[count++] = i;
    if (status == UC_OK)
        status = uc_dataset_subset(out, data, kept, count, context);
    uc_free(kept);
    uc_free(flagged);
    return status;
}

static uc_status weigh_rows(uc_dataset *data)
{
    if (data->weights)
        return UC_OK;
    data->weights = uc_alloc(data->X.rows, sizeof *data->weights);
    if (!data->weights)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < data->X.rows; i++)
        data->weights[i] = 1.0;
    return UC_OK;
}

static void take_checked(uc_dataset *data, const uint32_t *gold)
{
    for (size_t i = 0; i < data->X.rows; i++)
        if (gold[i] != UC_NONE)
            data->y[i] = gold[i];
}

uc_status uc_label_audit_repair(uc_dataset *out, const uc_dataset *data, const uc_label_audit *audit,
                                const uint32_t *gold, uc_repair repair, const uc_context *context)
{
    uc_dataset copy = {0};
    uc_status status;
    assert(repair != UC_REPAIR_CHECKED || gold);
    if (repair == UC_REPAIR_DROP)
        return drop_flagged(out, data, audit, context);
    status = uc_dataset_subset(&copy, data, NULL, 0, context);
    if (status == UC_OK && repair == UC_REPAIR_WEIGHT)
        status = weigh_rows(&copy);
    if (status == UC_OK && repair == UC_REPAIR_CHECKED)
        take_checked(&copy, gold);
    for (size_t i = 0; i < audit->labels && status == UC_OK && repair != UC_REPAIR_CHECKED; i++) {
        const uc_suspect *one = &audit->suspects[i];
        if (repair == UC_REPAIR_WEIGHT)
            copy.weights[one->row] *= 1.0 - one->p_wrong;
        else if (i < audit->flagged)
            copy.y[one->row] = one->suggested;
    }
    if (status == UC_OK)
        *out = copy;
    else
        uc_dataset_free(&copy);
    return status;
}
