/* Training on a whole data set: checks, preprocessing, learning, summary. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "data/mapping.h"
#include "data/weights.h"
#include "train/online.h"
#include "train/order.h"
#include "train/row_weights.h"
#include "train/train.h"
#include "unconfuse/session.h"

#define ORDER_SEQUENCE 1 /* of random numbers */
#define ROUNDS_PER_REPORT 512
#define ROWS_PER_BLOCK ((size_t)512)

static uc_status check_labels(const uc_learner *learner, const uc_dataset *data, uc_share share)
{
    if (!data->y)
        return uc_fail(UC_ERR_FORMAT, "the data have no labels");
    if (share.total == 0)
        return uc_fail(UC_ERR_FORMAT, "no examples");
    if (data->classes.count == 0)
        return uc_fail(UC_ERR_FORMAT, "no example has a label");
    if (data->X.cols == 0)
        return uc_fail(UC_ERR_FORMAT, "the data have no features");
    if (data->classes.count < 2)
        return uc_dataset_check_classes(data);
    for (size_t i = 0; i < data->X.rows; i++)
        if (data->y[i] >= data->classes.count && !(learner->unlabelled && data->y[i] == UC_NONE))
            return uc_fail(UC_ERR_FORMAT, "example %zu has no label ('?'), which %s cannot use",
                           share.first + i + 1, learner->name);
    return UC_OK;
}

uc_status uc_train_check(const uc_learner *learner, const uc_dataset *data, const uc_context *context)
{
    uc_share share;
    if (uc_is_shared(context) && !learner->full)
        return uc_fail(UC_ERR_INVALID,
                       "%s hears right or wrong about one example after the other, which several processes "
                       "cannot share: use one",
                       learner->name);
    const uc_status status = uc_share_of(&share, context, data->X.rows);
    if (status != UC_OK)
        return status;
    return uc_comm_agree(uc_comm_of(context), check_labels(learner, data, share));
}

/* Bytes that an online learner needs besides its weights and their average: its planes and its own memory. */
static double own_bytes(const uc_learner *learner, const void *settings, const uc_dataset *data,
                        const uc_train_settings *train, size_t dimension)
{
    const bool mapped = train->map.map != UC_MAP_NONE;
    const uc_learner plain = {0};
    const size_t K = data->classes.count;
    const uc_shape shape = uc_shape_of(dimension, mapped ? 1.0 : uc_matrix_density(&data->X));
    const double rows = (double)data->X.rows, rounds = rows * (double)train->passes;
    double row_bytes = sizeof(float) * (double)dimension;
    if (!mapped && uc_matrix_is_sparse(&data->X) && rows > 0.0)
        row_bytes = 8.0 * (double)uc_matrix_entries(&data->X) / rows;
    return uc_learner_bytes(learner, settings, false, shape, K, row_bytes, rounds) -
           uc_learner_bytes(&plain, NULL, false, shape, K, row_bytes, rounds);
}

/* Checks the memory for the weights and the learner's other arrays before anything large is allocated. */
static uc_status check_memory(const uc_learner *learner, const void *settings, const uc_dataset *data,
                              const uc_train_settings *train, const uc_context *context)
{
    const bool mapped = train->map.map != UC_MAP_NONE;
    if (mapped &&
        (train->map.dimension == UC_AUTO_COUNT || (isnan(train->map.width) && isnan(train->map.gamma))))
        return uc_fail(UC_ERR_INVALID,
                       "{dimension=auto} and {width=auto} must become numbers before training (uc_tune)");
    const size_t dimension = mapped ? (size_t)train->map.dimension : data->X.cols;
    const double arrays = 2.0 + (train->average != 0);
    double bytes = arrays * 8.0 * ((double)dimension + 1.0) * (double)uc_class_stride(data->classes.count);
    if (uc_learner_is_online(learner))
        bytes += own_bytes(learner, settings, data, train, dimension);
    char what[128];
    snprintf(what, sizeof what, "a model of %zu features and %zu classes", dimension, data->classes.count);
    return uc_memory_check(context, bytes, what);
}

static double bytes_of(const uc_matrix *X)
{
    if (uc_matrix_is_sparse(X))
        return 8.0 * (double)uc_matrix_entries(X);
    return 4.0 * (double)X->rows * (double)uc_matrix_stride(X->cols);
}

/* Copies data that may not be changed in place. */
static uc_status copy_data(uc_dataset *out, const uc_dataset *data, const uc_context *context)
{
    const uc_status status = uc_memory_check(context, bytes_of(&data->X), "a copy of the data");
    if (status != UC_OK)
        return status;
    return uc_dataset_subset(out, data, NULL, 0, context);
}

/* ---- online learners: passes over the data ---- */

/* The progress of the current pass. */
typedef struct progress {
    const uc_context *context;
    uint64_t pass, passes;
    size_t rows, done, errors;
} progress;

static uc_status count_round(const uc_session_round *round, void *user)
{
    progress *self = user;
    char detail[64];
    self->errors += !round->right;
    self->done++;
    if (self->done % ROUNDS_PER_REPORT != 0 && self->done != self->rows)
        return UC_OK;
    snprintf(detail, sizeof detail, "pass %llu of %llu, error %.4f", (unsigned long long)self->pass + 1,
             (unsigned long long)self->passes, (double)self->errors / (double)self->done);
    return uc_report(self->context, "training", (double)self->pass * (double)self->rows + (double)self->done,
                     (double)self->passes * (double)self->rows, detail);
}

/* *training_error becomes the progressive error of the last pass. Every process learns from its own rows, in
 * its own random order. */
static uc_status run_passes(double *training_error, uc_online *self, const uc_dataset *data, size_t total,
                            const uc_context *context)
{
    const size_t rows = data->X.rows;
    const uint64_t rank = (uint64_t)uc_comm_rank(uc_comm_of(context));
    progress shown = {.context = context, .passes = self->train.passes, .rows = rows};
    const uc_session_settings settings = {
        .feedback = self->learner->full ? UC_FEEDBACK_FULL : UC_FEEDBACK_PARTIAL,
        .on_round = count_round,
        .user = &shown,
    };
    assert(total >= rows && total > 0);
    uc_order order = {0};
    uc_session *session = NULL;
    uc_status status = uc_session_continue(&session, self, &settings, context);
    if (status == UC_OK && self->train.shuffle)
        status = uc_order_begin(&order, rows, self->train.seed, ORDER_SEQUENCE + (rank << 32));
    for (; shown.pass < self->train.passes && status == UC_OK; shown.pass++) {
        const bool last = shown.pass + 1 == self->train.passes;
        shown.done = shown.errors = 0;
        if (order.rows)
            uc_order_next(&order);
        status = uc_session_run_weighted(session, &data->X, data->y, data->weights, order.rows, rows, true);
        if (last || self->train.mix == UC_MIX_AVERAGE)
            status = uc_online_mix(self, (double)rows / (double)total, last, status, context);
    }
    double errors = (double)shown.errors;
    if (status == UC_OK)
        status = uc_comm_sum(uc_comm_of(context), &errors, 1);
    *training_error = errors / (double)total;
    uc_session_free(session);
    uc_order_free(&order);
    return status;
}

/* The weighted number of examples of every class, and the share of values that are not 0, over all processes.
 * A process without rows cannot know the density. */
static uc_status count_classes(double *counts, double *density, const uc_fit *fit)
{
    const uc_comm *comm = uc_comm_of(fit->context);
    for (size_t i = 0; i < fit->data->X.rows; i++)
        if (fit->data->y[i] != UC_NONE)
            counts[fit->data->y[i]] += uc_row_weight(fit->data, i);
    if (uc_comm_size(comm) == 1)
        return UC_OK;
    double known[2] = {0.0, 0.0};
    if (!isnan(*density)) {
        known[0] = *density;
        known[1] = 1.0;
    }
    uc_status status = uc_comm_sum(comm, counts, fit->data->classes.count);
    if (status == UC_OK)
        status = uc_comm_sum(comm, known, 2);
    *density = known[0] / known[1];
    return status;
}

/* Passes on to the online learner what is known before its first round. */
static uc_status expect_data(uc_online *self, const double *counts, double density, const uc_fit *fit)
{
    const uc_status status = uc_online_expect(self, fit->data->X.cols, density);
    if (status != UC_OK)
        return status;
    self->label_total = 0.0;
    for (size_t k = 0; k < fit->data->classes.count; k++) {
        self->label_counts[k] = counts[k];
        self->label_total += counts[k];
    }
    self->counts_are_final = true;
    return UC_OK;
}

static uc_status write_online(uc_model *model, const uc_online *self, const uc_fit *fit)
{
    uc_status status = UC_OK;
    if (fit->train->keep_state)
        status = uc_online_write_state(model, self);
    if (status == UC_OK)
        status = uc_online_write(model, self);
    if (status == UC_OK)
        status = uc_json_set(model->summary, "iterations", json_integer((json_int_t)fit->train->passes));
    return status;
}

static uc_status train_online(uc_model *model, double *training_error, const uc_learner *learner,
                              const uc_fit *fit, const void *settings)
{
    uc_train_settings plain = *fit->train; /* the data are already preprocessed */
    plain.scale = UC_SCALE_NONE;
    plain.normalize = plain.normalize_input = 0;
    plain.map.map = UC_MAP_NONE;
    uc_online *self = NULL;
    if (learner->model && uc_is_shared(fit->context))
        return uc_fail(UC_ERR_INVALID, "%s learns in one process: its maps cannot be averaged",
                       learner->name);
    double density = uc_matrix_density(&fit->data->X);
    double *counts = uc_alloc(fit->data->classes.count, sizeof *counts);
    if (!counts)
        return UC_ERR_NOMEM;
    uc_status status = count_classes(counts, &density, fit);
    if (status != UC_OK)
        goto cleanup;
    status = uc_online_begin(&self, learner, settings, &plain, &fit->data->classes, NULL);
    if (status == UC_OK)
        status = expect_data(self, counts, density, fit);
    if (status != UC_OK)
        goto cleanup;
    status = run_passes(training_error, self, fit->data, fit->rows, fit->context);
    if (status == UC_OK)
        status = write_online(model, self, fit);
cleanup:
    uc_online_free(self);
    uc_free(counts);
    return status;
}

/* ---- batch learners ---- */

typedef struct widening {
    uc_matrix *wider;
    const uc_matrix *X;
    float value; /* of the constant column */
} widening;

static uc_status widen_rows(size_t block, void *user)
{
    const widening *self = user;
    const uc_matrix *X = self->X, *wider = self->wider;
    const size_t begin = block * ROWS_PER_BLOCK, end = uc_min_size(begin + ROWS_PER_BLOCK, X->rows);
    for (size_t i = begin; i < end; i++) {
        const uc_row row = uc_matrix_row(X, i);
        size_t first = i * wider->stride;
        if (X->offsets)
            first = (size_t)(X->offsets[i] - X->offsets[0]) + i;
        memcpy(wider->values + first, row.values, row.count * sizeof *row.values);
        wider->values[first + row.count] = self->value;
        if (X->offsets) {
            memcpy(wider->columns + first, row.columns, row.count * sizeof *row.columns);
            wider->columns[first + row.count] = (uint32_t)X->cols;
            wider->offsets[i + 1] = first + row.count + 1;
        }
    }
    return UC_OK;
}

static uc_status create_like(uc_matrix *out, const uc_matrix *X, size_t more_columns)
{
    if (!uc_matrix_is_sparse(X))
        return uc_matrix_create_dense(out, X->rows, X->cols + more_columns);
    return uc_matrix_create_sparse(out, X->rows, X->cols + more_columns,
                                   uc_matrix_entries(X) + more_columns * X->rows);
}

/* A copy of X with a constant column after the others. */
static uc_status with_constant(uc_matrix *out, const uc_matrix *X, float value, const uc_context *context)
{
    const uc_status status = create_like(out, X, 1);
    if (status != UC_OK)
        return status;
    widening all = {out, X, value};
    const uc_context fitting = uc_context_for_work(context, (double)uc_matrix_entries(X));
    return uc_run_blocks(&fitting, (X->rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK, widen_rows, &all);
}

static uc_status count_errors(double *training_error, const uc_model *model, const uc_dataset *data,
                              const uc_context *context)
{
    uint32_t *predicted = uc_alloc(data->X.rows, sizeof *predicted);
    if (!predicted)
        return UC_ERR_NOMEM;
    uc_status status = uc_model_predict_prepared(predicted, model, &data->X, context);
    double counts[2] = {0.0, 0.0}; /* errors and labelled rows, both weighted */
    for (size_t i = 0; i < data->X.rows && status == UC_OK; i++) {
        const double weight = data->y[i] == UC_NONE ? 0.0 : uc_row_weight(data, i);
        counts[1] += weight;
        counts[0] += weight * uc_row_error(data, i, predicted[i]);
    }
    if (status == UC_OK)
        status = uc_comm_sum(uc_comm_of(context), counts, 2);
    *training_error = 0.0;
    if (counts[1] > 0.0)
        *training_error = counts[0] / counts[1];
    uc_free(predicted);
    return status;
}

/* Copies the weights of a model whose last column is the constant feature; in `model` it is row 0. */
static uc_status take_weights(uc_model *model, const uc_model *wide)
{
    const size_t count = (model->dimension + 1) * model->stride;
    assert(wide->dimension == model->dimension + 1 && wide->stride == model->stride);
    memcpy(model->weights, wide->weights, count * sizeof *model->weights);
    memcpy(model->weights, wide->weights + count, model->stride * sizeof *model->weights);
    if (json_object_update(model->summary, wide->summary) != 0)
        return uc_fail(UC_ERR_NOMEM, "not enough memory for the summary of the model");
    return UC_OK;
}

/* The constant feature is an ordinary column during learning, and row 0 of the weights afterwards. */
static uc_status fit_with_constant(uc_model *model, const uc_learner *learner, const uc_fit *fit,
                                   const void *settings)
{
    uc_dataset wider = *fit->data;
    uc_model *wide_model = NULL;
    wider.X = (uc_matrix){0};
    uc_status status = with_constant(&wider.X, &fit->data->X, (float)fit->train->bias, fit->context);
    if (status == UC_OK)
        status = uc_model_create(&wide_model, &model->classes, wider.X.cols, wider.X.cols, learner->name);
    if (status != UC_OK)
        goto cleanup;
    const uc_fit wide_fit = {&wider, fit->train, fit->context, fit->rows, fit->weights};
    status = learner->fit(wide_model, &wide_fit, settings);
    if (status == UC_OK)
        status = take_weights(model, wide_model);
cleanup:
    uc_model_free(wide_model);
    uc_matrix_free(&wider.X);
    return status;
}

/* Runs the learner on the rows whose labels it can use. */
static uc_status fit_rows(uc_model *model, const uc_learner *learner, const uc_fit *fit, const void *settings)
{
    uc_dataset weighted = *fit->data;
    uc_status status = uc_row_weights(&weighted, learner, settings, fit);
    const uc_fit own = {&weighted, fit->train, fit->context, fit->rows, weighted.weights};
    model->bias = fit->train->bias;
    if (status == UC_OK && (model->bias == 0.0 || learner->free_offset))
        status = learner->fit(model, &own, settings);
    else if (status == UC_OK)
        status = fit_with_constant(model, learner, &own, settings);
    if (weighted.weights != fit->data->weights)
        uc_free(weighted.weights);
    if (weighted.soft != fit->data->soft)
        uc_free(weighted.soft);
    return status;
}

/* Replaces soft labels by one row per class, unless the learner uses soft labels itself. */
static uc_status fit_soft(uc_model *model, const uc_learner *learner, const uc_fit *fit, const void *settings)
{
    uc_dataset hard = {0};
    uc_share share;
    uc_status status = uc_dataset_harden(&hard, fit->data, fit->context);
    status = uc_comm_agree(uc_comm_of(fit->context), status);
    if (status == UC_OK)
        status = uc_share_of(&share, fit->context, hard.X.rows);
    if (status == UC_OK) {
        const uc_fit own = {&hard, fit->train, fit->context, share.total, hard.weights};
        status = fit_rows(model, learner, &own, settings);
    }
    uc_dataset_free(&hard);
    return status;
}

static uc_status train_batch(uc_model *model, double *training_error, const uc_learner *learner,
                             const uc_fit *fit, const void *settings)
{
    uc_status status;
    if (fit->data->soft && !learner->soft)
        status = fit_soft(model, learner, fit, settings);
    else
        status = fit_rows(model, learner, fit, settings);
    if (status == UC_OK)
        status = count_errors(training_error, model, fit->data, fit->context);
    return status;
}

/* ---- all ---- */

static uc_status summarise(uc_model *model, const uc_learner *learner, const void *settings,
                           const uc_fit *fit, double training_error)
{
    uc_status status = uc_model_check_finite(model);
    if (status != UC_OK)
        return status;
    status = uc_write_settings(model, learner, settings, fit->train);
    if (status == UC_OK && fit->train->relevance) /* which is not an option */
        status = uc_json_set(model->settings, "scale", json_string("relevance"));
    if (status == UC_OK)
        status = uc_json_set(model->summary, "examples", json_integer((json_int_t)fit->rows));
    if (status == UC_OK)
        status = uc_json_set(model->summary, "training_error", json_real(training_error));
    if (status != UC_OK || !fit->train->noise)
        return status;
    const size_t entries = model->classes.count * model->classes.count;
    assert(fit->train->noise->classes == model->classes.count);
    model->noise = uc_alloc(entries, sizeof *model->noise);
    if (!model->noise)
        return UC_ERR_NOMEM;
    memcpy(model->noise, fit->train->noise->values, entries * sizeof *model->noise);
    return UC_OK;
}

/* Learns the relevance from the rows by which the view was chosen; all processes have them. */
static uc_status learn_relevance(uc_relevance *out, const uc_train_settings *train, const uc_dataset *data,
                                 const uc_context *context)
{
    uc_dataset rows = {0};
    if (!train->relevance)
        return UC_OK;
    uc_status status = uc_dataset_sample(&rows, data, UC_VIEW_SAMPLE, train->seed, context);
    if (status == UC_OK)
        status = uc_relevance_learn(out, &rows, context);
    uc_dataset_free(&rows);
    return status;
}

/* `data` may be preprocessed in place; `features` is its number of columns before that. */
static uc_status train_in_place(uc_model **out, const uc_learner *learner, const void *settings,
                                const uc_train_settings *train, uc_dataset *data, const uc_context *context)
{
    const size_t features = data->X.cols;
    uc_relevance relevance = {0};
    const uc_preprocessing_settings wanted = {train->relevance ? UC_SCALE_RELEVANCE
                                                               : (uc_scaling)train->scale,
                                              train->normalize_input,
                                              &train->map,
                                              train->normalize,
                                              train->seed,
                                              data->weights,
                                              &relevance.steps};
    uc_share share;
    uc_model *model = NULL;
    uc_preprocessing preprocessing = {0};
    double training_error = 0.0;
    uc_status status = uc_share_of(&share, context, data->X.rows);
    if (status == UC_OK)
        status = learn_relevance(&relevance, train, data, context);
    if (status == UC_OK)
        status = uc_preprocessing_fit(&preprocessing, &data->X, &wanted, context);
    uc_preprocessing_free(&relevance.steps);
    if (status == UC_OK)
        status = uc_model_create(&model, &data->classes, features, data->X.cols, learner->name);
    if (status != UC_OK) {
        uc_preprocessing_free(&preprocessing);
        return status;
    }
    uc_dataset prepared = *data;
    prepared.table = NULL; /* it no longer describes the rows */
    const uc_fit fit = {&prepared, train, context, share.total, data->weights};
    model->preprocessing = preprocessing;
    model->preprocessing.cols = features;
    model->preprocessing.table = uc_table_share(data->table);
    model->probabilities = learner->probabilities;
    if (learner->fit)
        status = train_batch(model, &training_error, learner, &fit, settings);
    else
        status = train_online(model, &training_error, learner, &fit, settings);
    if (status == UC_OK)
        status = summarise(model, learner, settings, &fit, training_error);
    if (status == UC_OK)
        *out = model;
    else
        uc_model_free(model);
    return status;
}

/* Whether these settings can be used together; `own` are the learner's settings. */
static uc_status check_settings(const uc_learner *learner, const void *own, const uc_train_settings *train,
                                const uc_dataset *data, const uc_context *context)
{
    uc_status status = uc_options_check(uc_train_options, train);
    if (status != UC_OK)
        return status;
    status = uc_options_check(uc_map_options, &train->map);
    if (status == UC_OK)
        status = uc_options_check(learner->options, own);
    if (status == UC_OK)
        status = uc_check_own_map(learner, &train->map);
    if (status == UC_OK)
        status = uc_check_class_weights(learner, train, &data->classes);
    if (status == UC_OK)
        status = check_memory(learner, own, data, train, context);
    return status;
}

/* Borrowed arrays cannot be replaced. Writing to the pages of a mapped file would copy them one by one, and
 * each copy stops all threads: two threads were hardly faster than one. */
static bool needs_copy(const uc_train_settings *train, const uc_dataset *data)
{
    const bool changes =
        train->scale != UC_SCALE_NONE || train->relevance || train->normalize || train->normalize_input;
    const bool replaces = train->map.map != UC_MAP_NONE;
    return (changes && (!train->overwrite || uc_mapping_is_file(data->mapping))) ||
           (replaces && (!train->overwrite || data->mapping));
}

/* Leaves out rows of weight 0 as if they were absent; if there are any, *data becomes the copy without
 * them. */
static uc_status drop_weightless(uc_dataset *copy, uc_dataset **data, const uc_learner *learner,
                                 const uc_context *context)
{
    uc_status status = uc_weights_check(*data);
    if (status == UC_OK && (*data)->soft && !learner->fit)
        status = uc_fail(UC_ERR_INVALID,
                         "%s learns from one example after the other and cannot use soft labels: a batch "
                         "learner such as logistic can",
                         learner->name);
    if (status == UC_OK && uc_dataset_has_weightless(*data)) {
        status = uc_dataset_copy_weighted(copy, *data, context);
        *data = copy;
    }
    return uc_comm_agree(uc_comm_of(context), status);
}

uc_status uc_train(uc_model **out, const uc_learner *learner, const void *settings,
                   const uc_train_settings *train, uc_dataset *data, const uc_context *context)
{
    const uc_train_settings common = uc_train_decide(learner, train);
    uc_dataset copy = {0};
    void *own = uc_learner_settings(learner, settings);
    if (!own)
        return UC_ERR_NOMEM;
    uc_status status = drop_weightless(&copy, &data, learner, context);
    if (status == UC_OK)
        status = uc_train_check(learner, data, context);
    if (status != UC_OK) /* the same in all processes */
        goto cleanup;
    status = check_settings(learner, own, &common, data, context);
    if (status == UC_OK && common.noise && !learner->uses_noise)
        uc_warn(context, "%s does not use a noise matrix; it is ignored", learner->name);
    if (status == UC_OK && data != &copy && needs_copy(&common, data)) {
        status = copy_data(&copy, data, context);
        data = &copy;
    }
    status = uc_comm_agree(uc_comm_of(context), status);
    if (status == UC_OK)
        status = train_in_place(out, learner, own, &common, data, context);
cleanup:
    uc_dataset_free(&copy);
    uc_free(own);
    return status;
}
