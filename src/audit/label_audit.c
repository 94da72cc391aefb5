/* The audit of data with one label per row. The learner `audit` (learn/audit) finds true classes; this file
 * derives suspects, shares with intervals, and a complete model. */
#include <math.h>
#include <string.h>

#include "audit/label_intervals.h"
#include "audit/reliability.h"
#include "data/weights.h"
#include "learn/audit/audit.h"
#include "learn/learner.h"
#include "linalg/linalg.h"
#include "train/online.h"
#include "train/train.h"
#include "unconfuse/table.h"

void uc_label_audit_free(uc_label_audit *self)
{
    uc_free(self->suspects);
    uc_free(self->pairs);
    uc_noise_free(&self->noise);
    uc_free(self->noise_low);
    uc_free(self->noise_high);
    uc_free(self->predicted);
    uc_free(self->posterior);
    uc_model_free(self->model);
    *self = (uc_label_audit){0};
}

/* ---- labels ---- */

/* Lists the rows that have a label; `rows` and `labels` have room for all rows. */
static uc_label_rows list_labels(size_t *rows, uint32_t *labels, const uc_dataset *data, const double *R)
{
    uc_label_rows out = {labels, rows, 0, data->classes.count, R};
    for (size_t i = 0; i < data->X.rows; i++)
        if (data->y[i] != UC_NONE) {
            rows[out.count] = i;
            labels[out.count++] = data->y[i];
        }
    return out;
}

/* The number of flagged labels comes from R, which estimates how many labels are wrong. The posterior
 * determines which ones are flagged, and their probabilities. */
static uc_status suspect_labels(uc_label_audit *out, const uc_label_rows *rows)
{
    out->suspects = uc_alloc(rows->count, sizeof *out->suspects);
    if (!out->suspects)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < rows->count; i++) {
        const double *R = rows->R + rows->row[i] * rows->K;
        out->suspects[i] = (uc_suspect){rows->row[i], rows->labels[i], (uint32_t)uc_argmax(R, rows->K),
                                        fmax(1.0 - R[rows->labels[i]], 0.0)};
    }
    out->labels = rows->count;
    out->flagged = uc_suspects_flag(out->suspects, rows->count);
    for (size_t i = 0; i < rows->count; i++) {
        uc_suspect *one = &out->suspects[i];
        one->p_wrong = fmax(1.0 - out->posterior[one->row * rows->K + one->given], 0.0);
    }
    uc_suspects_sort(out->suspects, rows->count);
    return UC_OK;
}

static uc_status judge_labels(uc_label_audit *out, const uc_dataset *data, const double *R,
                              const uc_label_audit_settings *settings, const uc_context *context)
{
    size_t *rows = uc_alloc(data->X.rows, sizeof *rows);
    uint32_t *labels = uc_alloc(data->X.rows, sizeof *labels);
    uc_status status = rows && labels ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK) {
        const uc_label_rows listed = list_labels(rows, labels, data, R);
        status = suspect_labels(out, &listed);
        if (status == UC_OK)
            status = uc_label_intervals(out, &listed, (size_t)settings->bootstrap, settings->seed, context);
    }
    uc_free(rows);
    uc_free(labels);
    return status;
}

/* Unlabelled rows alone carry no information, whatever their weights. */
static uc_status check_weights(const uc_dataset *data)
{
    double total = 0.0;
    for (size_t i = 0; i < data->X.rows; i++)
        if (data->y[i] != UC_NONE)
            total += uc_row_weight(data, i);
    return uc_weights_check_total(total, "the weights of labels");
}

/* ---- the whole audit ---- */

/* The matrix may be singular; code that inverts it must check. */
static uc_status copy_noise(uc_label_audit *out, const uc_dataset *data)
{
    const size_t K = data->classes.count;
    out->noise.classes = K;
    out->noise.values = uc_alloc(K * K, sizeof *out->noise.values);
    if (!out->noise.values)
        return UC_ERR_NOMEM;
    memcpy(out->noise.values, out->model->noise, K * K * sizeof *out->noise.values);
    for (size_t cell = 0; cell < K * K && out->noise_low; cell++) {
        out->noise_low[cell] = fmin(out->noise_low[cell], out->noise.values[cell]);
        out->noise_high[cell] = fmax(out->noise_high[cell], out->noise.values[cell]);
    }
    return uc_names_copy(&out->noise.names, &data->classes);
}

static uc_status finish_model(uc_label_audit *out, const uc_audit_fit *found, const uc_dataset *data,
                              const uc_label_audit_settings *settings)
{
    uc_train_settings train = uc_train_decide(&uc_learner_audit, NULL);
    train.seed = settings->seed;
    size_t errors = 0;
    for (size_t i = 0; i < out->labels; i++)
        errors += out->predicted[out->suspects[i].row] != out->suspects[i].given;
    uc_status status = uc_audit_describe(out->model, found, &out->clean_error, 0.0);
    if (status == UC_OK)
        status = uc_write_settings(out->model, &uc_learner_audit, &settings->learner, &train);
    if (status == UC_OK)
        status = uc_json_set(out->model->summary, "examples", json_integer((json_int_t)data->X.rows));
    if (status == UC_OK)
        status = uc_json_set(out->model->summary, "training_error",
                             json_real((double)errors / (double)out->labels));
    return status == UC_OK ? copy_noise(out, data) : status;
}

/* ---- several processes: every one has all rows, fits its share, and gets what the others found ---- */

/* Copies this process's share of the rows. */
static uc_status take_share(uc_matrix *out, uc_range *range, const uc_matrix *X, const uc_context *context)
{
    const uc_comm *comm = uc_comm_of(context);
    range->first = uc_first_block(X->rows, comm, uc_comm_rank(comm));
    range->last = uc_first_block(X->rows, comm, uc_comm_rank(comm) + 1);
    const size_t count = range->last - range->first;
    size_t *rows = uc_alloc(count, sizeof *rows);
    for (size_t i = 0; i < count && rows; i++)
        rows[i] = range->first + i;
    const uc_status status = rows ? uc_matrix_subset(out, X, rows, count, context) : UC_ERR_NOMEM;
    uc_free(rows);
    return uc_comm_agree(comm, status);
}

static uc_status gather_reals(double **values, size_t count, const uc_comm *comm)
{
    void *all = NULL;
    const uc_status status = uc_comm_gather(&all, NULL, comm, *values, count * sizeof **values);
    if (status != UC_OK)
        return status;
    uc_free(*values);
    *values = all;
    return UC_OK;
}

/* Of what was found about this process's rows, makes that about all rows. */
static uc_status gather_found(uc_label_audit *out, uc_audit_fit *found, const uc_context *context)
{
    const uc_comm *comm = uc_comm_of(context);
    const size_t size = found->rows * found->K;
    void *predicted = NULL;
    uc_status status = gather_reals(&found->R, size, comm);
    if (status == UC_OK)
        status = gather_reals(&found->S, size, comm);
    if (status == UC_OK)
        status = gather_reals(&out->posterior, size, comm);
    if (status == UC_OK)
        status =
            uc_comm_gather(&predicted, NULL, comm, found->predicted, found->rows * sizeof *found->predicted);
    if (status == UC_OK) {
        uc_free(found->predicted);
        found->predicted = predicted;
        found->rows = out->rows;
    }
    return uc_comm_agree(comm, status);
}

static uc_status fit_share(uc_label_audit *out, uc_audit_fit *found, const uc_matrix *X,
                           const uc_labelled *labelled, const uc_label_audit_settings *settings)
{
    uc_status status = uc_audit_run(found, out->model, X, labelled, &settings->learner, settings->seed);
    if (status == UC_OK)
        status = uc_audit_clean_error(&out->clean_error, found, labelled, settings->seed);
    if (status == UC_OK)
        status = uc_audit_soften(out->posterior, &out->temperature, found, labelled);
    if (uc_is_shared(labelled->context) && status == UC_OK)
        status = gather_found(out, found, labelled->context);
    return status;
}

static uc_status begin_model(uc_label_audit *out, const uc_dataset *data)
{
    const uc_status status =
        uc_model_create(&out->model, &data->classes, data->X.cols, data->X.cols, "audit");
    if (status != UC_OK)
        return status;
    out->model->preprocessing.cols = data->X.cols;
    out->model->preprocessing.table = uc_table_share(data->table);
    return UC_OK;
}

static uc_status fit_rows(uc_label_audit *out, uc_audit_fit *found, const uc_dataset *data,
                          const uint32_t *gold, const uc_label_audit_settings *settings,
                          const uc_context *context)
{
    const bool shared = uc_is_shared(context);
    uc_annotations annotations = {0};
    uc_matrix share = {0};
    uc_range rows = {0, data->X.rows};
    uc_status status = uc_comm_agree(uc_comm_of(context), begin_model(out, data));
    if (shared && status == UC_OK)
        status = take_share(&share, &rows, &data->X, context);
    if (status == UC_OK)
        status = uc_annotations_of_labels(&annotations, data->y + rows.first, rows.last - rows.first,
                                          data->classes.count, context);
    const uc_labelled labelled = {.annotations = &annotations,
                                  .gold = gold ? gold + rows.first : NULL,
                                  .weights = data->weights ? data->weights + rows.first : NULL,
                                  .context = context};
    if (status == UC_OK)
        status = fit_share(out, found, shared ? &share : &data->X, &labelled, settings);
    uc_annotations_free(&annotations);
    uc_matrix_free(&share);
    return status;
}

uc_status uc_label_audit_run(uc_label_audit *out, const uc_dataset *data, const uint32_t *gold,
                             const uc_label_audit_settings *settings, const uc_context *context)
{
    uc_label_audit self = {.rows = data->X.rows};
    uc_audit_fit found = {0};
    const uc_context alone = uc_context_alone(context); /* for what every process does with all rows */
    uc_status status = uc_train_check(&uc_learner_audit, data, &alone);
    if (status == UC_OK)
        status = check_weights(data);
    if (status == UC_OK) {
        self.posterior = uc_alloc(data->X.rows * data->classes.count, sizeof *self.posterior);
        status = self.posterior ? UC_OK : UC_ERR_NOMEM;
    }
    status = uc_comm_agree(uc_comm_of(context), status);
    if (status == UC_OK)
        status = fit_rows(&self, &found, data, gold, settings, context);
    if (status != UC_OK)
        goto cleanup;
    self.mode = uc_audit_mode_name(found.mode);
    self.loss = found.loss;
    self.width = found.width;
    self.predicted = found.predicted;
    found.predicted = NULL;
    status = judge_labels(&self, data, found.R, settings, &alone);
    if (status == UC_OK)
        status = uc_label_calibration(self.calibration, &found, data->y);
    if (status == UC_OK)
        status = finish_model(&self, &found, data, settings);
cleanup:
    uc_audit_fit_free(&found);
    status = uc_comm_agree(uc_comm_of(context), status);
    if (status == UC_OK)
        *out = self;
    else
        uc_label_audit_free(&self);
    return status;
}
