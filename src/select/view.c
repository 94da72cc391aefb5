/*
 * The view of the rows that a linear classifier needs: columns as they are or standardised, used directly
 * or through a Gaussian kernel of some width. Each candidate is judged by ridge regression on the labels,
 * whose exact leave-one-out criterion along the whole path of lambdas costs one decomposition
 * (learn/ridge): no folds, no second fit.
 *
 *   w       2 x the sum of the columns' variances: the mean squared distance of two rows
 *   linear  the columns themselves
 *   c       Gaussian kernel exp(-|x - y|^2 / (c w)), c = 1/16 ... 4, through LANDMARKS random rows (Nystroem)
 *
 * Wrong labels change the criterion of all candidates alike, unless they depend on the rows: no clean
 * label is needed. Sparse rows are used directly, since standardising would fill them; many of them, whose
 * decomposition would take n^3, through MANY_LANDMARKS of them and a linear kernel.
 */
#include "select/view.h"

#include <math.h>
#include <string.h>

#include "learn/ridge/path.h"
#include "learn/learner.h"
#include "parallel/parallel.h"
#include "train/train.h"

#define SAMPLE ((size_t)5000) /* rows that candidates are judged on */
#define SPARSE_SAMPLE ((size_t)2000)
#define LANDMARKS ((size_t)500)
#define LANDMARKS_OF_MODEL ((size_t)1000)
#define MOST_LANDMARKS_OF_MODEL ((size_t)2000) /* when there is time */
#define MANY_LANDMARKS ((size_t)2000)          /* of sparse rows, when they are more than MANY_ROWS */
#define MANY_ROWS ((size_t)5000)
#define LINEAR 0.0 /* in place of c */

typedef struct recipe {
    uc_scaling scale;
    double c;
} recipe;

static const recipe fast[] = {
    {UC_SCALE_STANDARD, LINEAR}, {UC_SCALE_STANDARD, 0.25}, {UC_SCALE_STANDARD, 1}, {UC_SCALE_NONE, 0.25}};
/* The first NORMAL of them, unless there is time. */
static const recipe all_views[] = {
    {UC_SCALE_NONE, LINEAR},    {UC_SCALE_NONE, 1.0 / 16},     {UC_SCALE_NONE, 0.125},
    {UC_SCALE_NONE, 0.25},      {UC_SCALE_NONE, 0.5},          {UC_SCALE_NONE, 1},
    {UC_SCALE_NONE, 4},         {UC_SCALE_STANDARD, LINEAR},   {UC_SCALE_STANDARD, 1.0 / 16},
    {UC_SCALE_STANDARD, 0.125}, {UC_SCALE_STANDARD, 0.25},     {UC_SCALE_STANDARD, 0.5},
    {UC_SCALE_STANDARD, 1},     {UC_SCALE_STANDARD, 4},        {UC_SCALE_NONE, 1.0 / 32},
    {UC_SCALE_NONE, 2},         {UC_SCALE_STANDARD, 1.0 / 32}, {UC_SCALE_STANDARD, 2}};
#define NORMAL ((size_t)14)

/* ---- candidates ---- */

/* 2 x the sum of the variances of the columns after scaling. */
static uc_status mean_distance2(double *out, const uc_matrix *X, uc_scaling scale)
{
    uc_scale_sums *sums = NULL;
    uc_preprocessing standard = {0}, wanted = {0};
    *out = 0.0;
    uc_status status = uc_scale_sums_add(&sums, X, NULL);
    if (status == UC_OK)
        status = uc_scale_sums_finish(&standard, sums, UC_SCALE_STANDARD, X->cols);
    if (status == UC_OK)
        status = uc_scale_sums_finish(&wanted, sums, scale, X->cols);
    for (size_t j = 0; j < X->cols && status == UC_OK; j++) {
        const double factor = wanted.factor ? wanted.factor[j] : 1.0;
        if (standard.factor[j] > 0.0) /* not constant */
            *out += 2.0 * pow(factor / standard.factor[j], 2.0);
    }
    uc_preprocessing_free(&wanted);
    uc_preprocessing_free(&standard);
    uc_scale_sums_free(sums);
    return status;
}

/* The settings that a recipe stands for; w is that of its scaling. */
static uc_view view_of(const recipe *wanted, const uc_map_settings *map, double w)
{
    uc_view view = {.scale = wanted->scale, .map = *map};
    view.map.map = UC_MAP_NONE;
    if (wanted->c != LINEAR) {
        view.map.map = UC_MAP_NYSTROEM;
        view.map.kernel = UC_KERNEL_GAUSSIAN;
        view.map.width = wanted->c * w;
        view.map.gamma = UC_AUTO_REAL;
    }
    return view;
}

/* Adds the recipes of one scaling in `list`, as views of columns that are scaled as `scale` says. */
static uc_status add_views(uc_views *out, const recipe *list, size_t count, uc_scaling of, uc_scaling scale,
                           const uc_train_settings *train, const uc_matrix *X)
{
    const bool sparse = uc_matrix_is_sparse(X);
    double w = 1.0;
    uc_status status = UC_OK;
    if (!sparse)
        status = mean_distance2(&w, X, scale);
    const bool kernels = !sparse && train->map.map == UC_MAP_AUTO && w > 0.0; /* 0: all rows are the same */
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        const recipe scaled = {scale, list[i].c};
        if (list[i].scale == of && (scaled.c == LINEAR || kernels))
            out->tried[out->count++] = view_of(&scaled, &train->map, w);
    }
    return status;
}

/* Both scalings, unless one was given, or rows are sparse. */
static uc_status list_views(uc_views *out, const uc_train_settings *train, const uc_dataset *rows,
                            uc_effort effort)
{
    const size_t all = effort == UC_EFFORT_THOROUGH ? sizeof all_views / sizeof *all_views : NORMAL;
    const uc_matrix *X = &rows->X;
    uc_scaling scale = (uc_scaling)train->scale;
    out->tried = uc_alloc(sizeof all_views / sizeof *all_views, sizeof *out->tried);
    if (!out->tried)
        return UC_ERR_NOMEM;
    if (scale == UC_SCALE_AUTO && uc_matrix_is_sparse(X))
        scale = UC_SCALE_NONE;
    if (scale != UC_SCALE_AUTO)
        return add_views(out, all_views, all, UC_SCALE_NONE, scale, train, X);
    const recipe *list = effort == UC_EFFORT_FAST ? fast : all_views;
    const size_t count = effort == UC_EFFORT_FAST ? sizeof fast / sizeof *fast : all;
    const uc_status status = add_views(out, list, count, UC_SCALE_NONE, UC_SCALE_NONE, train, X);
    if (status != UC_OK)
        return status;
    return add_views(out, list, count, UC_SCALE_STANDARD, UC_SCALE_STANDARD, train, X);
}

/* ---- their criterion ---- */

typedef struct trial {
    uc_views *views;
    const uc_dataset *rows;
    const double *Y; /* the labels as targets */
    uint64_t seed;
} trial;

static uc_status judge(uc_view *view, const trial *self, const uc_matrix *X, const uc_context *context)
{
    uc_ridge ridge = {0};
    uc_ridge_targets targets = {0};
    uc_ridge_path path;
    uc_status status = uc_ridge_decompose(&ridge, X, self->rows->weights, context);
    if (status == UC_OK)
        status = uc_ridge_project(&targets, &ridge, self->Y, self->rows->classes.count);
    if (status == UC_OK)
        status =
            uc_ridge_try_lambdas(&path, &ridge, &targets, self->rows->y, uc_ridge_scale(&ridge, &view->map));
    if (status == UC_OK) {
        view->criterion = path.criterion[path.best];
        view->error = path.error[path.best];
    }
    uc_ridge_targets_free(&targets);
    uc_ridge_free(&ridge);
    return status;
}

static uc_status try_view(size_t number, const uc_context *context, void *user)
{
    const trial *self = user;
    uc_view *view = &self->views->tried[number];
    const size_t n = self->rows->X.rows;
    uc_map_settings map = view->map;
    map.dimension = uc_min_size(n, LANDMARKS);
    uc_context quiet = context ? *context : (uc_context){0};
    quiet.warn = NULL; /* rows may span less than there are landmarks */
    const uc_preprocessing_settings wanted = {
        .scaling = view->scale, .map = &map, .seed = self->seed, .weights = self->rows->weights};
    uc_preprocessing preprocessing = {0};
    uc_matrix X = {0};
    uc_status status = uc_matrix_subset(&X, &self->rows->X, NULL, 0, context);
    if (status == UC_OK)
        status = uc_preprocessing_fit(&preprocessing, &X, &wanted, &quiet);
    if (status == UC_OK)
        status = judge(view, self, &X, context);
    uc_preprocessing_free(&preprocessing);
    uc_matrix_free(&X);
    return status;
}

/* The map that a model of so many rows gets. */
static void settle_map(uc_map_settings *map, size_t rows, bool sparse, uint64_t dimension, size_t most)
{
    if (sparse && rows > MANY_ROWS) {
        map->map = UC_MAP_NYSTROEM;
        map->kernel = UC_KERNEL_LINEAR;
        map->dimension = MANY_LANDMARKS;
    } else {
        map->dimension = uc_min_size(rows, most);
    }
    if (dimension != UC_AUTO_COUNT)
        map->dimension = dimension;
}

static void keep_best(uc_views *out, uc_train_settings *train, size_t rows, bool sparse, uc_effort effort)
{
    const size_t most = effort == UC_EFFORT_THOROUGH ? MOST_LANDMARKS_OF_MODEL : LANDMARKS_OF_MODEL;
    for (size_t i = 1; i < out->count; i++)
        if (out->tried[i].criterion < out->tried[out->best].criterion)
            out->best = i;
    for (size_t i = 0; i < out->count; i++)
        settle_map(&out->tried[i].map, rows, sparse, train->map.dimension, most);
    train->scale = (int)out->tried[out->best].scale;
    train->map = out->tried[out->best].map;
}

uc_status uc_view_choose(uc_views *out, uc_train_settings *train, const uc_dataset *data, uc_effort effort,
                         const uc_context *context)
{
    const uc_context alone =
        uc_context_alone(context); /* every process has the sample, and decides the same */
    uc_views views = {0};
    uc_dataset rows = {0};
    trial self = {.views = &views, .rows = &rows, .seed = train->seed};
    double *Y = NULL;
    uc_share share = {0};
    uc_status status = uc_share_of(&share, context, data->X.rows);
    if (status == UC_OK)
        status = uc_dataset_sample(&rows, data, uc_matrix_is_sparse(&data->X) ? SPARSE_SAMPLE : SAMPLE,
                                   train->seed, context);
    if (status == UC_OK)
        status = list_views(&views, train, &rows, effort);
    if (status != UC_OK)
        goto cleanup;
    Y = uc_alloc(rows.X.rows * rows.classes.count, sizeof *Y);
    status = UC_ERR_NOMEM;
    if (!Y)
        goto cleanup;
    uc_ridge_label_targets(Y, rows.y, rows.X.rows, rows.classes.count);
    self.Y = Y;
    status = uc_run_concurrently(&alone, views.count, try_view, &self);
    if (status == UC_OK)
        keep_best(&views, train, share.total, uc_matrix_is_sparse(&data->X), effort);

cleanup:
    uc_free(Y);
    uc_dataset_free(&rows);
    if (status == UC_OK)
        *out = views;
    else
        uc_views_free(&views);
    return uc_comm_agree(uc_comm_of(context), status);
}

void uc_views_free(uc_views *self)
{
    uc_free(self->tried);
    *self = (uc_views){0};
}

/* ---- for a learner ---- */

uc_status uc_view_choose_for(uc_views *out, const void *settings, uc_train_settings *train,
                             const uc_learner *learner, const uc_dataset *data, const uc_context *context)
{
    const uc_option *effort = uc_options_find(learner->options, "time");
    uc_train_settings decided = uc_train_decide(learner, train);
    if (decided.map.map != UC_MAP_AUTO && decided.scale != UC_SCALE_AUTO)
        return UC_OK;
    uc_status status = uc_train_check(learner, data, context);
    if (status != UC_OK)
        return status;
    int wanted = UC_EFFORT_NORMAL;
    if (effort)
        wanted = *(const int *)(const void *)((const char *)settings + effort->offset);
    status = uc_view_choose(out, &decided, data, (uc_effort)wanted, context);
    train->scale = decided.scale;
    train->map = decided.map;
    return status;
}

static json_t *view_json(const uc_view *view)
{
    static const char *const scalings[] = {"none", "range", "standard", "maxabs"};
    json_t *options = json_pack("{s:s}", "scale", scalings[view->scale]);
    int failed = options == NULL;
    if (view->map.map == UC_MAP_NONE) {
        failed |= json_object_set_new(options, "map", json_string("none"));
    } else {
        failed |= json_object_set_new(options, "map", json_string("nystroem"));
        failed |= json_object_set_new(options, "dimension", json_integer((json_int_t)view->map.dimension));
        if (view->map.kernel == UC_KERNEL_GAUSSIAN)
            failed |= json_object_set_new(options, "width", json_real(view->map.width));
        else
            failed |= json_object_set_new(options, "kernel", json_string("linear"));
    }
    if (failed) {
        json_decref(options);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:f, s:f}", "learner", "ridge", "options", options, "criterion",
                     view->criterion, "error", view->error);
}

/* What was tried becomes part of what the model remembers; the choice is among its settings already. */
uc_status uc_views_write(uc_model *model, const uc_views *views)
{
    json_t *list = json_array();
    for (size_t i = 0; i < views->count && list; i++)
        if (json_array_append_new(list, view_json(&views->tried[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    return uc_json_set(model->summary, "candidates", list);
}
