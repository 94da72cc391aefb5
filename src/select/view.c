/*
 * Finds the view of the rows that suits a linear classifier: columns unchanged or standardised, used directly
 * or through a Gaussian kernel of some width. Each candidate is judged by ridge regression on the labels,
 * whose exact leave-one-out criterion along the whole path of lambdas takes a single decomposition
 * (learn/ridge), without folds or a second fit.
 *
 *   w       2 x the sum of the columns' variances: the mean squared distance of two rows
 *   linear  the columns themselves
 *   c       Gaussian kernel exp(-|x - y|^2 / (c w)), c = 1/16 ... 4, through at most LANDMARKS random rows
 *           (Nystroem)
 *
 * In a table with categories, the units of the numbers mean nothing, and standardising the columns of
 * categories makes the rarest ones the longest. So there the views of unchanged columns have standardised
 * numbers, and categories stay 0 and 1.
 *
 * If such a table has only a few columns besides words, auto also tries to weigh them by what they say about
 * the labels, with skewed ones bent (prepare/relevance.c). This uses the labels, so each column that it keeps
 * costs 1 / n of the criterion.
 *
 * Wrong labels change the criterion of all candidates in the same way, unless they depend on the rows, so no
 * clean label is needed. Sparse rows are used directly, unchanged or at unit length, since standardising
 * would fill in their zeros. If there are many, so that a decomposition would take n^3, they are used through
 * MANY_LANDMARKS of them and a linear kernel.
 */
#include "select/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/table.h"
#include "learn/ridge/path.h"
#include "learn/learner.h"
#include "parallel/parallel.h"
#include "train/train.h"

#define SPARSE_SAMPLE ((size_t)1500)
#define LANDMARKS ((size_t)500)
#define FEW_LANDMARKS ((size_t)250) /* on a third of the rows */
#define FEWEST_FOR_ROUNDS ((size_t)450)
#define FINALISTS ((size_t)4)
#define CLOSE 0.01                    /* of the criterion */
#define HOPELESS 0.06                 /* of the criterion, above the least */
#define MANY_LANDMARKS ((size_t)2000) /* of more than MANY_ROWS sparse rows */
#define MANY_ROWS ((size_t)5000)
#define MOST_WORK 2e11 /* multiplications, n D^2, that a pass over mapped rows may take */
#define ELSE 0.2       /* share of the memory for everything but rows */
#define LINEAR 0.0     /* instead of c */

static const size_t landmarks_of_model[] = {LANDMARKS, 1000, 2000}; /* of auto, by effort */

typedef struct recipe {
    uc_scaling scale;
    double c;
} recipe;

static const recipe fast[] = {
    {UC_SCALE_STANDARD, LINEAR}, {UC_SCALE_STANDARD, 0.25}, {UC_SCALE_STANDARD, 1}, {UC_SCALE_NONE, 0.25}};
/* Only the first NORMAL are tried, unless the effort is thorough. */
static const recipe all_views[] = {
    {UC_SCALE_NONE, LINEAR},    {UC_SCALE_NONE, 1.0 / 16},     {UC_SCALE_NONE, 0.125},
    {UC_SCALE_NONE, 0.25},      {UC_SCALE_NONE, 0.5},          {UC_SCALE_NONE, 1},
    {UC_SCALE_NONE, 4},         {UC_SCALE_STANDARD, LINEAR},   {UC_SCALE_STANDARD, 1.0 / 16},
    {UC_SCALE_STANDARD, 0.125}, {UC_SCALE_STANDARD, 0.25},     {UC_SCALE_STANDARD, 0.5},
    {UC_SCALE_STANDARD, 1},     {UC_SCALE_STANDARD, 4},        {UC_SCALE_NONE, 1.0 / 32},
    {UC_SCALE_NONE, 2},         {UC_SCALE_STANDARD, 1.0 / 32}, {UC_SCALE_STANDARD, 2}};
#define NORMAL ((size_t)14)
static const recipe relevant[] = {{UC_SCALE_RELEVANCE, LINEAR},
                                  {UC_SCALE_RELEVANCE, 0.25},
                                  {UC_SCALE_RELEVANCE, 0.5},
                                  {UC_SCALE_RELEVANCE, 1},
                                  {UC_SCALE_RELEVANCE, 4}};
#define RELEVANT (sizeof relevant / sizeof *relevant)
#define MOST_RELEVANT ((size_t)256) /* columns; of more, too many seem relevant by chance */

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

/* The settings that a recipe stands for; w belongs to its scaling. */
static uc_view view_of(const recipe *wanted, const uc_map_settings *map, double w)
{
    uc_view view = {.scale = wanted->scale, .map = *map};
    view.map.map = UC_MAP_NONE;
    if (wanted->c != LINEAR) {
        view.map.map = UC_MAP_RANDOM;
        view.map.kernel = UC_KERNEL_GAUSSIAN;
        view.map.width = wanted->c * w;
        view.map.gamma = UC_AUTO_REAL;
    }
    return view;
}

/* Adds the recipes in `list` of the scaling `of`, as views of columns scaled by `scale`. */
static uc_status add_views(uc_views *out, const recipe *list, size_t count, uc_scaling of, uc_scaling scale,
                           const uc_train_settings *train, const uc_matrix *X)
{
    const bool sparse = uc_matrix_is_sparse(X);
    double w = 1.0;
    uc_status status = UC_OK;
    if (!sparse)
        status = mean_distance2(&w, X, scale);
    const bool kernels = !sparse && train->map.map != UC_MAP_NONE && w > 0.0; /* 0: all rows are the same */
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        const recipe scaled = {scale, list[i].c};
        if (list[i].scale == of && (scaled.c == LINEAR || kernels))
            out->tried[out->count++] = view_of(&scaled, &train->map, w);
    }
    return status;
}

/* Adds unchanged rows, and rows of unit length, which suits texts of different lengths. */
static uc_status add_sparse_views(uc_views *out, const uc_train_settings *train)
{
    const recipe linear = {UC_SCALE_NONE, LINEAR};
    out->count = train->normalize_input ? 1 : 2;
    for (size_t i = 0; i < out->count; i++)
        out->tried[i] = view_of(&linear, &train->map, 1.0);
    out->tried[out->count - 1].unit_rows = true;
    return UC_OK;
}

/* Chooses how to standardise these rows: columns of a table with only 0 and 1, as for categories, stay
 * unchanged. */
static uc_status choose_scaled(uc_scaling *out, const uc_dataset *rows)
{
    uc_scale_sums *sums = NULL;
    uc_preprocessing found = {0};
    size_t indicators = 0, others = 0;
    *out = UC_SCALE_STANDARD;
    if (!rows->table)
        return UC_OK;
    uc_status status = uc_scale_sums_add(&sums, &rows->X, NULL);
    if (status == UC_OK)
        status = uc_scale_sums_finish(&found, sums, UC_SCALE_NUMBERS, rows->X.cols);
    for (size_t j = 0; j < rows->X.cols && status == UC_OK; j++) {
        const bool indicator = found.shift[j] == 0.0 && found.factor[j] == 1.0;
        indicators += indicator;
        others += !indicator && found.factor[j] > 0.0;
    }
    if (indicators > 0 && others > 0)
        *out = UC_SCALE_NUMBERS;
    uc_preprocessing_free(&found);
    uc_scale_sums_free(sums);
    return status;
}

/* Whether these are the rows of a table with columns of several types, few of them besides words. */
static bool may_weigh(const uc_dataset *rows)
{
    if (!rows->table || uc_table_is_plain(rows->table))
        return false;
    return uc_matrix_is_sparse(&rows->X) ? rows->table->text_first <= MOST_RELEVANT
                                         : rows->X.cols <= MOST_RELEVANT;
}

/* Adds views whose columns are weighed by relevance. */
static uc_status add_relevant(uc_views *out, const uc_train_settings *train, const uc_dataset *rows,
                              const uc_context *context)
{
    uc_relevance found;
    const uc_status status = uc_relevance_learn(&found, rows, context);
    if (status != UC_OK)
        return status;
    const bool kernels = train->map.map != UC_MAP_NONE && found.distance2 > 0.0;
    for (size_t i = 0; i < RELEVANT && found.clear; i++)
        if (relevant[i].c == LINEAR || kernels)
            out->tried[out->count++] = view_of(&relevant[i], &train->map, found.distance2);
    uc_preprocessing_free(&found.steps);
    return UC_OK;
}

/* Lists the views of both scalings, unless one was given or rows are sparse. */
static uc_status list_views(uc_views *out, const uc_train_settings *train, const uc_dataset *rows,
                            const uc_view_wish *wish, const uc_context *context)
{
    const uc_effort effort = wish->effort;
    const size_t all = effort == UC_EFFORT_THOROUGH ? sizeof all_views / sizeof *all_views : NORMAL;
    const uc_matrix *X = &rows->X;
    uc_scaling scale = (uc_scaling)train->scale;
    out->tried = uc_alloc(sizeof all_views / sizeof *all_views + RELEVANT, sizeof *out->tried);
    if (!out->tried)
        return UC_ERR_NOMEM;
    const bool weighs = wish->relevance && effort != UC_EFFORT_FAST && may_weigh(rows);
    if (scale == UC_SCALE_AUTO && uc_matrix_is_sparse(X)) {
        const uc_status added = add_sparse_views(out, train);
        return added == UC_OK && weighs ? add_relevant(out, train, rows, context) : added;
    }
    const recipe *list = effort == UC_EFFORT_FAST ? fast : all_views;
    const size_t count = effort == UC_EFFORT_FAST ? sizeof fast / sizeof *fast : all;
    if (scale != UC_SCALE_AUTO)
        return add_views(out, list, count, UC_SCALE_STANDARD, scale, train, X);
    uc_scaling scaled;
    uc_status status = choose_scaled(&scaled, rows);
    if (status == UC_OK)
        status = add_views(out, list, count, UC_SCALE_NONE, UC_SCALE_NONE, train, X);
    if (status == UC_OK)
        status = add_views(out, list, count, UC_SCALE_STANDARD, scaled, train, X);
    if (status == UC_OK && weighs)
        status = add_relevant(out, train, rows, context);
    return status;
}

/* ---- their criterion ---- */

typedef struct trial {
    uc_views *views;
    const uc_dataset *rows;
    double *Y; /* the labels as targets */
    uint64_t seed;
    size_t landmarks;
    const bool *rejected;   /* of each view */
    uc_relevance relevance; /* of these rows, if some view needs it */
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
        view->examples = self->rows->X.rows;
    }
    uc_ridge_targets_free(&targets);
    uc_ridge_free(&ridge);
    return status;
}

static uc_status try_view(size_t number, const uc_context *context, void *user)
{
    const trial *self = user;
    uc_view *view = &self->views->tried[number];
    uc_map_settings map = view->map;
    if (self->rejected[number])
        return UC_OK;
    map.dimension = uc_min_size(uc_ridge_landmarks(self->rows->X.rows), self->landmarks);
    uc_context quiet = context ? *context : (uc_context){0};
    quiet.warn = NULL; /* rows may span fewer dimensions than there are landmarks */
    const uc_preprocessing_settings wanted = {.scaling = view->scale,
                                              .normalize_input = view->unit_rows,
                                              .map = &map,
                                              .seed = self->seed,
                                              .weights = self->rows->weights,
                                              .relevance = &self->relevance.steps};
    uc_preprocessing preprocessing = {0};
    uc_matrix X = {0};
    uc_status status = uc_matrix_subset(&X, &self->rows->X, NULL, 0, context);
    if (status == UC_OK)
        status = uc_preprocessing_fit(&preprocessing, &X, &wanted, &quiet);
    if (status == UC_OK)
        status = judge(view, self, &X, context);
    if (view->scale == UC_SCALE_RELEVANCE)
        view->criterion += (double)self->relevance.kept / (double)self->rows->X.rows;
    uc_preprocessing_free(&preprocessing);
    uc_matrix_free(&X);
    return status;
}

/* Judges the views that are not rejected, on these rows. */
static uc_status try_views(uc_views *views, const uc_dataset *rows, const bool *rejected, size_t landmarks,
                           uint64_t seed, const uc_context *context)
{
    const size_t K = rows->classes.count;
    trial self = {.views = views, .rows = rows, .seed = seed, .landmarks = landmarks, .rejected = rejected};
    uc_status status = UC_OK;
    bool by_relevance = false;
    self.Y = uc_alloc(rows->X.rows * K, sizeof *self.Y);
    if (!self.Y)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < views->count; i++)
        by_relevance = by_relevance || (views->tried[i].scale == UC_SCALE_RELEVANCE && !rejected[i]);
    if (by_relevance)
        status = uc_relevance_learn(&self.relevance, rows, context);
    uc_ridge_label_targets(self.Y, rows->y, rows->X.rows, K);
    if (status == UC_OK)
        status = uc_run_concurrently(context, views->count, try_view, &self);
    uc_preprocessing_free(&self.relevance.steps);
    uc_free(self.Y);
    return status;
}

/* Rejects a view if another is much better, or more than FINALISTS are better. */
static void reject(bool *rejected, const uc_views *views)
{
    double least = INFINITY;
    for (size_t i = 0; i < views->count; i++)
        least = fmin(least, views->tried[i].criterion);
    for (size_t i = 0; i < views->count; i++) {
        size_t better = 0;
        for (size_t j = 0; j < views->count; j++)
            better += views->tried[j].criterion < views->tried[i].criterion;
        rejected[i] = better >= FINALISTS || views->tried[i].criterion > least + HOPELESS;
    }
}

/* Judges all views on a third of the rows, which takes a tenth of the time, then the promising ones on all
 * rows. */
static uc_status judge_views(uc_views *views, const uc_dataset *rows, uint64_t seed,
                             const uc_context *context)
{
    uc_dataset third = {0};
    bool *rejected = uc_alloc(views->count, sizeof *rejected);
    uc_status status = rejected ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK && views->count > FINALISTS && rows->X.rows >= FEWEST_FOR_ROUNDS) {
        status = uc_dataset_sample(&third, rows, rows->X.rows / 3, seed, context);
        if (status == UC_OK)
            status = try_views(views, &third, rejected, uc_min_size(FEW_LANDMARKS, third.X.rows / 2), seed,
                               context);
        reject(rejected, views);
    }
    if (status == UC_OK)
        status = try_views(views, rows, rejected, LANDMARKS, seed, context);
    uc_dataset_free(&third);
    uc_free(rejected);
    return status;
}

/* The memory for a fit of all rows. */
typedef struct row_budget {
    size_t rows;     /* of all processes */
    double bytes;    /* {memory} */
    double per_row;  /* bytes of a row besides its mapped values: as it was read, or in the last fit */
    double own_rows; /* of one process */
} row_budget;

/* Per row, the last fit of `auto` has targets, scores, expected classes of two rounds, and leverages at two
 * penalties. */
static row_budget make_budget(const uc_dataset *data, const uc_view_wish *wish, uc_share share,
                              const uc_context *context)
{
    const double K = (double)data->classes.count, entries = (double)uc_matrix_entries(&data->X);
    double read = sizeof(float) * (double)uc_matrix_stride(data->X.cols);
    if (uc_matrix_is_sparse(&data->X))
        read = 8.0 * entries / fmax((double)data->X.rows, 1.0);
    return (row_budget){.rows = share.total,
                        .bytes = (double)uc_memory_limit(context),
                        .per_row = wish->decomposes ? fmax(read, 8.0 * (4.0 * K + 2.0)) : read,
                        .own_rows = ceil((double)share.total / uc_comm_size(uc_comm_of(context)))};
}

/* The landmarks that fit in memory. A fifth of the memory is for everything else, and rows are padded. */
static double most_that_fit(const row_budget *self)
{
    const double left = (1.0 - ELSE) * self->bytes / self->own_rows - self->per_row;
    const double pad = (double)uc_matrix_stride(1);
    return pad * floor(left / (pad * sizeof(float)));
}

/* As many landmarks as memory and time allow for this number of rows: mapping and factoring take n D^2. The
 * mapped rows get an eighth of the memory, or up to half of it if an eighth allows less than
 * FEW_LANDMARKS. */
static uint64_t affordable(uint64_t landmarks, const row_budget *self)
{
    const double each = sizeof(float) * (double)self->rows, time = sqrt(MOST_WORK / (double)self->rows);
    const double few = fmin(FEW_LANDMARKS, self->bytes / (2.0 * each));
    const double most = fmax(fmin(self->bytes / (8.0 * each), fmax(time, FEW_LANDMARKS)), few);
    return (uint64_t)fmax(fmin((double)landmarks, fmin(most, most_that_fit(self))), 1.0);
}

/* Fails if the memory does not even suffice for the fewest landmarks. */
static uc_status check_budget(const row_budget *self, const uc_context *context)
{
    const double pad = sizeof(float) * (double)uc_matrix_stride(1);
    char what[64];
    snprintf(what, sizeof what, "mapping %.0f examples", self->own_rows);
    return uc_memory_check(context, self->own_rows * (self->per_row + pad) / (1.0 - ELSE), what);
}

/* Sets the map for a model of this number of rows. */
static void settle_map(uc_map_settings *map, const uc_train_settings *train, bool sparse,
                       const uc_view_wish *wish, const row_budget *budget)
{
    map->dimension = affordable(uc_min_size(budget->rows, wish->landmarks), budget);
    map->at_most = true;
    if (sparse && map->map == UC_MAP_NONE && budget->rows > MANY_ROWS && wish->decomposes) {
        map->map = UC_MAP_RANDOM;
        map->kernel = UC_KERNEL_LINEAR;
        map->dimension = affordable(MANY_LANDMARKS, budget);
    }
    if (train->map.dimension != UC_AUTO_COUNT) {
        map->dimension = train->map.dimension;
        map->at_most = false;
    }
}

/* The view with the least criterion among those that were judged on the most rows. The units of columns
 * hardly matter for ridge regression but do for other linear learners, which get standardised columns if
 * these are nearly as good. */
static size_t best_view(const uc_views *views, bool prefer_standard)
{
    size_t best = 0, most = 0;
    double least = INFINITY;
    for (size_t i = 0; i < views->count; i++)
        if (views->tried[i].examples > most)
            most = views->tried[i].examples;
    for (size_t i = 0; i < views->count; i++) {
        const uc_view *view = &views->tried[i];
        double criterion = view->criterion;
        if (prefer_standard && view->map.map == UC_MAP_NONE && view->scale == UC_SCALE_STANDARD)
            criterion -= CLOSE;
        if (view->examples == most && criterion < least) {
            least = criterion;
            best = i;
        }
    }
    return best;
}

static void keep_best(uc_views *out, uc_train_settings *train, bool sparse, const uc_view_wish *wish,
                      const row_budget *budget)
{
    out->best = best_view(out, !wish->decomposes);
    for (size_t i = 0; i < out->count; i++)
        settle_map(&out->tried[i].map, train, sparse, wish, budget);
    train->relevance = out->tried[out->best].scale == UC_SCALE_RELEVANCE;
    train->scale = UC_SCALE_NONE;
    if (!train->relevance)
        train->scale = (int)out->tried[out->best].scale;
    train->normalize_input |= out->tried[out->best].unit_rows;
    if (train->map.map == UC_MAP_AUTO)
        train->map = out->tried[out->best].map;
}

/* Rows without a label do not help to choose. */
static uc_status drop_unlabelled(uc_dataset *rows)
{
    uc_dataset labelled = {0};
    size_t count = 0, *kept = uc_alloc(rows->X.rows, sizeof *kept), first = SIZE_MAX;
    bool two = false;
    if (!kept)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < rows->X.rows; i++) {
        if (rows->y[i] == UC_NONE)
            continue;
        kept[count++] = i;
        two = two || (first != SIZE_MAX && rows->y[i] != first);
        first = rows->y[i];
    }
    uc_status status = UC_OK;
    if (!two)
        status =
            uc_fail(UC_ERR_INVALID, "{scale=auto} and {map=auto} need labels of two classes: give a scaling "
                                    "and a map");
    else if (count < rows->X.rows)
        status = uc_dataset_subset(&labelled, rows, kept, count, NULL);
    if (status == UC_OK && count < rows->X.rows) {
        uc_dataset_free(rows);
        *rows = labelled;
    }
    uc_free(kept);
    return status;
}

uc_status uc_view_choose(uc_views *out, uc_train_settings *train, const uc_dataset *data,
                         const uc_view_wish *wish, const uc_context *context)
{
    const uc_context alone =
        uc_context_alone(context); /* every process has the sample and makes the same choice */
    const bool sparse = uc_matrix_is_sparse(&data->X);
    uc_views views = {0};
    uc_dataset rows = {0};
    uc_share share = {0};
    uc_status status = uc_share_of(&share, context, data->X.rows);
    const row_budget budget = make_budget(data, wish, share, context);
    if (status == UC_OK)
        status =
            uc_dataset_sample(&rows, data, sparse ? SPARSE_SAMPLE : UC_VIEW_SAMPLE, train->seed, context);
    if (status == UC_OK)
        status = drop_unlabelled(&rows);
    if (status == UC_OK)
        status = list_views(&views, train, &rows, wish, &alone);
    if (status == UC_OK)
        status = judge_views(&views, &rows, train->seed, &alone);
    if (status == UC_OK)
        keep_best(&views, train, sparse, wish, &budget);
    if (status == UC_OK && train->map.map != UC_MAP_NONE && train->map.at_most)
        status = check_budget(&budget, context);
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
    uc_view_wish wish = {.effort = UC_EFFORT_NORMAL, .landmarks = LANDMARKS};
    uc_train_settings decided = uc_train_decide(learner, train);
    if (decided.map.map != UC_MAP_AUTO && decided.scale != UC_SCALE_AUTO)
        return UC_OK;
    uc_status status = uc_train_check(learner, data, context);
    if (status != UC_OK)
        return status;
    if (learner == &uc_learner_auto) {
        wish.effort = (uc_effort)((const uc_auto_settings *)settings)->effort;
        wish.landmarks = landmarks_of_model[wish.effort];
        wish.decomposes = wish.relevance = true;
    }
    status = uc_view_choose(out, &decided, data, &wish, context);
    train->scale = decided.scale;
    train->relevance = decided.relevance;
    train->normalize_input = decided.normalize_input;
    train->map = decided.map;
    return status;
}

/* The options of a view, as a user would give them. */
static json_t *view_options(const uc_view *view)
{
    static const char *const scalings[] = {
        [UC_SCALE_NONE] = "none",     [UC_SCALE_RANGE] = "range",     [UC_SCALE_STANDARD] = "standard",
        [UC_SCALE_MAXABS] = "maxabs", [UC_SCALE_NUMBERS] = "numbers", [UC_SCALE_RELEVANCE] = "relevance"};
    const bool linear = view->map.kernel == UC_KERNEL_LINEAR, mapped = view->map.map != UC_MAP_NONE;
    json_t *options = json_pack("{s:s, s:b, s:s}", "scale", scalings[view->scale], "normalize-input",
                                (int)view->unit_rows, "map", mapped ? "random" : "none");
    int failed = options == NULL;
    if (mapped) {
        failed |= json_object_set_new(options, "dimension", json_integer((json_int_t)view->map.dimension));
        failed |= json_object_set_new(options, "kernel", json_string(linear ? "linear" : "gaussian"));
    }
    if (mapped && !linear)
        failed |= json_object_set_new(options, "width", json_real(view->map.width));
    if (!failed)
        return options;
    json_decref(options);
    return NULL;
}

static json_t *view_json(const uc_view *view)
{
    return json_pack("{s:s, s:o, s:f, s:f, s:I}", "learner", "ridge", "options", view_options(view),
                     "criterion", view->criterion, "error", view->error, "examples",
                     (json_int_t)view->examples);
}

/* Adds the view to the model's member "chosen". */
static uc_status write_chosen(uc_model *model, const uc_view *view)
{
    json_t *chosen = view_options(view);
    int failed = chosen == NULL || json_object_set_new(chosen, "learner", json_string(model->learner)) != 0;
    json_t *found = json_object_get(model->summary, "chosen");
    if (!failed && found)
        failed = json_object_update(chosen, found) != 0;
    if (!failed)
        return uc_json_set(model->summary, "chosen", chosen);
    json_decref(chosen);
    return uc_json_set(model->summary, "chosen", NULL);
}

uc_status uc_views_write(uc_model *model, const uc_views *views, bool chosen)
{
    json_t *list = json_array(), *others = json_object_get(model->summary, "candidates");
    int failed = list == NULL;
    for (size_t i = 0; i < views->count && !failed; i++)
        failed = json_array_append_new(list, view_json(&views->tried[i])) != 0;
    if (!failed && others) /* candidates that the learner tried on this view */
        failed = json_array_extend(list, others) != 0;
    if (failed) {
        json_decref(list);
        list = NULL;
    }
    const uc_status status = uc_json_set(model->summary, "candidates", list);
    if (status != UC_OK || !chosen)
        return status;
    return write_chosen(model, &views->tried[views->best]);
}
