/*
 * Replaces every `auto` by a number, chosen by inner cross-validation before training.
 *
 *   width       of the Gaussian kernel: the median squared distance times 1/16, 1/4, 1, 4, 16
 *   dimension   of the map: powers of two from 16 to 512
 *   a learner's own options, over the values that it names (struct uc_learner, `candidates`)
 *
 * The criterion is the error on the given labels, corrected for the noise if it is given (the mean of sum_q
 * C^-1[q][y] [predicted is not q] is the clean error), or, for a learner with probabilities, the likelihood
 * of these labels; neither needs clean labels. Many values of an option are about as likely as the best.
 * Without given noise, the fewest errors decide among those whose likelihood is within two standard errors,
 * over the folds, of the best. If a learner must find out which examples of a bag have its label, the
 * criterion is the share of bags that are wrong, and whole bags are sampled. Coordinates of kpca, kgs, random
 * and landmarks are nested, so one map per fold, of the largest dimension, serves for all smaller ones. At
 * most SAMPLE examples take part.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/folds.h"
#include "data/weights.h"
#include "learn/learner.h"
#include "linalg/linalg.h"
#include "map/map.h"
#include "parallel/parallel.h"
#include "select/held_out.h"
#include "select/rivals.h"
#include "select/view.h"
#include "train/train.h"
#include "unconfuse/metrics.h"
#include "unconfuse/select.h"

#define FOLDS 5
#define FEWEST ((size_t)3) /* examples: two are left when one is held out */
#define SAMPLE ((size_t)2000)
#define MOST_WIDTHS 5
#define MOST_DIMENSIONS 6
#define MOST_VALUES 16
#define ALL SIZE_MAX

typedef struct search {
    const uc_learner *learner;
    void *settings;              /* of the current candidate */
    const uc_option *open;       /* the learner's option that is `auto`; NULL: none */
    const uc_candidates *values; /* of that option */
    uc_train_settings train;
    const uc_context *context; /* of one process */
    const uc_comm *comm;       /* the processes that share the jobs */
    double widths[MOST_WIDTHS];
    size_t width_count;
    size_t dimensions[MOST_DIMENSIONS];
    size_t dimension_count;
    size_t value_count; /* 1 if no option is open */
    bool bags;          /* judges bags instead of examples */
    uint32_t positive;  /* of two classes */
    double *loss;       /* widths x dimensions x values, of this fold or summed over the folds */
    double *error;      /* the same for errors; INFINITY: less likely than the best; NULL: not wanted */
    bool by_error;      /* errors decide among the most likely candidates */
    size_t one_width, one_value; /* the only ones to try; ALL */
    char task[96];               /* "choosing {width}, {dimension}" */
    const uc_part *training;     /* of the current job */
} search;

static size_t candidate_of(const search *self, size_t width, size_t dimension, size_t value)
{
    return (width * self->dimension_count + dimension) * self->value_count + value;
}

/* ---- one candidate on one fold ---- */

static uc_status held_out_loss(double *loss, const search *self, const uc_model *model,
                               const uc_dataset *test)
{
    if (self->bags)
        return uc_bag_loss(loss, model, test, self->positive, self->context);
    if (uc_model_has_probabilities(model))
        return uc_likelihood_loss(loss, model, test, self->train.noise, self->context);
    return uc_error_loss(loss, model, test, self->train.noise, self->learner->positive_unlabelled,
                         self->context);
}

/* The first `dimension` columns of a dense data set; borrows everything. */
static uc_dataset prefix_of(const uc_dataset *data, size_t dimension)
{
    uc_dataset prefix = *data;
    if (dimension < prefix.X.cols)
        prefix.X.cols = dimension;
    return prefix;
}

/* Trains with the current settings, and notes how good the model is; *model is NULL if it diverged. */
static uc_status try_value(uc_model **model, search *self, const uc_train_settings *plain, uc_dataset *rows,
                           const uc_dataset *held_out, size_t candidate)
{
    double loss = 0.0, error = 0.0;
    uc_status status = uc_train(model, self->learner, self->settings, plain, rows, self->context);
    if (status == UC_OK)
        status = held_out_loss(&loss, self, *model, held_out);
    if (status == UC_OK && self->error)
        status = uc_error_loss(&error, *model, held_out, NULL, false, self->context);
    if (status == UC_ERR_DIVERGED) { /* other values may still work */
        loss = INFINITY;
        status = UC_OK;
    }
    if (status == UC_OK)
        self->loss[candidate] = loss;
    if (status == UC_OK && self->error)
        self->error[candidate] = error;
    return status;
}

/* Whether a value is tried from the model of the next one. With noise the loss is not convex: from another
 * start the search may find another minimum than the training that follows. */
static bool follows(const search *self)
{
    return self->learner->warm_starts && !self->train.noise;
}

/* Tries all values of the open option on rows that are already mapped, the last one first. */
static uc_status try_values(search *self, const uc_dataset *train, const uc_dataset *test, size_t width,
                            size_t dimension)
{
    uc_train_settings plain = self->train;
    uc_model *before = NULL;
    plain.map.map = UC_MAP_NONE;
    plain.scale = UC_SCALE_NONE;
    plain.normalize_input = plain.overwrite = 0;
    uc_dataset rows = *train, held_out = *test;
    if (self->train.map.map != UC_MAP_NONE) {
        rows = prefix_of(train, self->dimensions[dimension]);
        held_out = prefix_of(test, self->dimensions[dimension]);
    }
    uc_status status = UC_OK;
    for (size_t value = self->value_count; value-- > 0 && status == UC_OK;) {
        uc_model *model = NULL;
        if (self->one_value != ALL && value != self->one_value)
            continue;
        if (self->open)
            *(double *)(void *)((char *)self->settings + self->open->offset) = self->values->values[value];
        plain.start = follows(self) ? before : NULL;
        status =
            try_value(&model, self, &plain, &rows, &held_out, candidate_of(self, width, dimension, value));
        if (model) {
            uc_model_free(before);
            before = model;
        }
        if (status == UC_OK)
            status = uc_part_done(self->training);
    }
    uc_model_free(before);
    return status;
}

static bool is_nested(int kind)
{
    return kind == UC_MAP_KPCA || kind == UC_MAP_KGS || kind == UC_MAP_RANDOM || kind == UC_MAP_LANDMARKS;
}

/* Maps both sets with a map learned from the first; *mapped_train and *mapped_test borrow everything but
 * X. */
static uc_status map_both(uc_dataset *mapped_train, uc_dataset *mapped_test, const search *self,
                          const uc_dataset *train, const uc_dataset *test, double width, size_t dimension)
{
    uc_map_settings settings = self->train.map;
    settings.width = width;
    settings.gamma = UC_AUTO_REAL;
    settings.dimension = dimension;
    uc_context quiet = *self->context;
    quiet.warn = NULL; /* a fold may span fewer dimensions than all rows */
    uc_map *map = NULL;
    uc_status status =
        uc_map_fit_weighted(&map, &settings, &train->X, train->weights, self->train.seed, &quiet);
    if (status != UC_OK)
        return status;
    *mapped_train = *train;
    *mapped_test = *test;
    mapped_train->X = mapped_test->X = (uc_matrix){0};
    status = uc_map_apply(&mapped_train->X, map, &train->X, self->context);
    if (status == UC_OK)
        status = uc_map_apply(&mapped_test->X, map, &test->X, self->context);
    if (status != UC_OK) {
        uc_matrix_free(&mapped_train->X);
        uc_matrix_free(&mapped_test->X);
    }
    uc_map_free(map);
    return status;
}

/* Tries all maps; `train` and `test` are already scaled. */
static uc_status try_maps(search *self, const uc_dataset *train, const uc_dataset *test)
{
    const bool nested = is_nested(self->train.map.map);
    uc_status status = UC_OK;
    for (size_t width = 0; width < self->width_count && status == UC_OK; width++) {
        uc_dataset mapped_train = {0}, mapped_test = {0};
        if (self->one_width != ALL && width != self->one_width)
            continue;
        for (size_t i = 0; i < self->dimension_count && status == UC_OK; i++) {
            const size_t dimension = self->dimension_count - 1 - i; /* the largest first */
            if (i == 0 || !nested) {
                uc_matrix_free(&mapped_train.X);
                uc_matrix_free(&mapped_test.X);
                status = map_both(&mapped_train, &mapped_test, self, train, test, self->widths[width],
                                  self->dimensions[dimension]);
            }
            if (status == UC_OK)
                status = try_values(self, &mapped_train, &mapped_test, width, dimension);
        }
        uc_matrix_free(&mapped_train.X);
        uc_matrix_free(&mapped_test.X);
    }
    return status;
}

/* ---- folds ---- */

typedef struct fold_jobs {
    const search *whole;
    size_t candidates; /* of all */
    double *loss;      /* folds x candidates */
    double *error;     /* the same; NULL: not asked for */
} fold_jobs;

/* Scales the fold's rows and tries the candidates of this job: those of one width, of one value, or all. */
static uc_status try_fold(search *self, uc_fold *fold)
{
    uc_preprocessing preprocessing = {0};
    const uc_preprocessing_settings input = {.scaling = (uc_scaling)self->train.scale,
                                             .normalize_input = self->train.normalize_input,
                                             .weights = fold->train.weights};
    uc_status status = UC_OK;
    /* Of text, a sample has few of the columns, whose weights would take most of the time. The relevance of
     * columns is learned by what the table says of them. */
    const bool sparse = uc_matrix_is_sparse(&fold->train.X) && uc_matrix_is_sparse(&fold->held_out.X);
    if (sparse && !self->train.relevance)
        status = uc_matrix_drop_empty_columns(&fold->train.X, &fold->held_out.X);
    if (status == UC_OK)
        status = uc_preprocessing_fit(&preprocessing, &fold->train.X, &input, self->context);
    if (status == UC_OK)
        status = uc_preprocessing_apply(&preprocessing, &fold->held_out.X, self->context);
    if (status == UC_OK && self->train.map.map != UC_MAP_NONE)
        status = try_maps(self, &fold->train, &fold->held_out);
    else if (status == UC_OK)
        status = try_values(self, &fold->train, &fold->held_out, 0, 0);
    uc_preprocessing_free(&preprocessing);
    return status;
}

/* The samples are small, so candidates run concurrently instead of with several threads each. Every job
 * splits and scales the data itself, which takes little time compared with learning. */
static uc_status run_job(uc_fold *fold, void *user)
{
    const fold_jobs *jobs = user;
    search mine = *jobs->whole;
    mine.context = fold->context;
    mine.training = fold->progress;
    mine.loss = jobs->loss + fold->number * jobs->candidates;
    mine.error = jobs->error ? jobs->error + fold->number * jobs->candidates : NULL;
    mine.settings = uc_learner_settings(mine.learner, jobs->whole->settings);
    if (!mine.settings)
        return UC_ERR_NOMEM;
    if (mine.train.map.map != UC_MAP_NONE)
        mine.one_width = fold->share;
    else if (!follows(&mine))
        mine.one_value = fold->share;
    const uc_status status = try_fold(&mine, fold);
    uc_free(mine.settings);
    return status;
}

/* Runs the jobs of this process, then sums the losses over all processes. */
static uc_status run_jobs(search *self, uc_folds *folds, fold_jobs *jobs)
{
    const size_t all = folds->count * folds->shares;
    const size_t first = uc_first_block(all, self->comm, uc_comm_rank(self->comm));
    const size_t last = uc_first_block(all, self->comm, uc_comm_rank(self->comm) + 1);
    folds->progress = (uc_parts){
        .task = self->task, .part = "training", .count = (last - first) * (jobs->candidates / folds->shares)};
    return uc_folds_concurrently(folds, first, last, run_job, jobs, self->context);
}

/* Sums the losses over the folds, and the errors of the candidates that are as likely as the best. */
static void sum_folds(search *self, const fold_jobs *jobs, unsigned folds)
{
    const size_t candidates = jobs->candidates;
    size_t best = 0;
    for (size_t i = 0; i < folds * candidates; i++)
        self->loss[i % candidates] += jobs->loss[i];
    for (size_t c = 1; c < candidates; c++)
        if (self->loss[c] < self->loss[best])
            best = c;
    for (size_t c = 0; c < candidates && self->error; c++) {
        const double mean = (self->loss[c] - self->loss[best]) / folds;
        double squares = 0.0;
        for (size_t at = 0; at < folds * candidates; at += candidates) {
            const double apart = jobs->loss[at + c] - jobs->loss[at + best] - mean;
            squares += apart * apart;
            self->error[c] += jobs->error[at + c];
        }
        if (!(mean <= 2.0 * sqrt(squares / (folds * (folds - 1.0))))) /* infinite or NaN if one diverged */
            self->error[c] = INFINITY;
    }
}

static uc_status run_folds(search *self, const uc_dataset *data)
{
    const size_t candidates = self->width_count * self->dimension_count * self->value_count;
    const unsigned count = uc_folds_at_most(data, FOLDS);
    uc_folds folds = {0};
    fold_jobs jobs = {self, candidates, uc_alloc(count * candidates, sizeof(double)), NULL};
    uc_status status = UC_ERR_NOMEM;
    self->loss = uc_alloc(candidates, sizeof *self->loss);
    if (self->by_error) {
        jobs.error = uc_alloc(count * candidates, sizeof(double));
        self->error = uc_alloc(candidates, sizeof *self->error);
    }
    self->one_width = self->one_value = ALL;
    if (jobs.loss && self->loss && (!self->by_error || (jobs.error && self->error)))
        status = uc_folds_begin(&folds, data, count, self->train.seed, self->context);
    if (status == UC_OK) {
        folds.shares = follows(self) ? 1 : self->value_count;
        if (self->train.map.map != UC_MAP_NONE)
            folds.shares = self->width_count;
        status = run_jobs(self, &folds, &jobs);
    }
    status = uc_comm_agree(self->comm, status);
    if (status == UC_OK) /* results of other processes are still 0 here */
        status = uc_comm_sum(self->comm, jobs.loss, count * candidates);
    if (status == UC_OK && jobs.error)
        status = uc_comm_sum(self->comm, jobs.error, count * candidates);
    if (status == UC_OK)
        sum_folds(self, &jobs, count);
    uc_free(jobs.loss);
    uc_free(jobs.error);
    uc_folds_free(&folds);
    return status;
}

/* ---- what is open ---- */

static uc_status list_widths(search *self, const uc_dataset *data)
{
    static const double factors[MOST_WIDTHS] = {1.0 / 16, 1.0 / 4, 1, 4, 16};
    const uc_map_settings *map = &self->train.map;
    self->width_count = 1;
    self->widths[0] = uc_map_width_given(map);
    if (!isnan(self->widths[0]))
        return UC_OK;
    uc_dataset scaled = {0};
    uc_preprocessing preprocessing = {0};
    const uc_preprocessing_settings input = {.scaling = (uc_scaling)self->train.scale,
                                             .normalize_input = self->train.normalize_input,
                                             .weights = data->weights};
    double median = 0.0;
    uc_status status = uc_dataset_subset(&scaled, data, NULL, 0, self->context);
    if (status == UC_OK)
        status = uc_preprocessing_fit(&preprocessing, &scaled.X, &input, self->context);
    if (status == UC_OK)
        status = uc_map_median_distance2(&median, &scaled.X, self->train.seed, NULL);
    for (size_t i = 0; i < MOST_WIDTHS; i++)
        self->widths[i] = median * factors[i];
    self->width_count = MOST_WIDTHS;
    uc_preprocessing_free(&preprocessing);
    uc_dataset_free(&scaled);
    return status;
}

static void list_dimensions(search *self, size_t rows)
{
    self->dimension_count = 0;
    if (self->train.map.dimension != UC_AUTO_COUNT) {
        self->dimensions[self->dimension_count++] = (size_t)self->train.map.dimension;
        return;
    }
    const size_t fold = rows < FOLDS ? 1 : rows / FOLDS;
    const size_t most = rows > fold ? rows - fold : 1; /* the rows that a fold leaves for training */
    for (size_t dimension = 16; self->dimension_count < MOST_DIMENSIONS; dimension *= 2) {
        self->dimensions[self->dimension_count++] = uc_min_size(dimension, most);
        if (dimension >= most)
            break;
    }
}

/* Finds the learner's option that is `auto`, and the values to try. */
static void find_open_option(search *self)
{
    self->value_count = 1;
    for (const uc_candidates *list = self->learner->candidates; list && list->option; list++) {
        const uc_option *option = uc_options_find(self->learner->options, list->option);
        if (!isnan(*(const double *)(const void *)((const char *)self->settings + option->offset)))
            continue;
        self->open = option;
        self->values = list;
        self->value_count = list->count;
        return;
    }
}

static bool is_better(const search *self, size_t candidate, size_t other)
{
    if (self->error && self->error[candidate] != self->error[other])
        return self->error[candidate] < self->error[other];
    return self->loss[candidate] < self->loss[other];
}

/* Takes the best candidate; of equal ones, the first: narrow before wide, few dimensions before many. */
static uc_status choose(search *self)
{
    size_t best[3] = {0};
    for (size_t w = 0; w < self->width_count; w++)
        for (size_t d = 0; d < self->dimension_count; d++)
            for (size_t v = 0; v < self->value_count; v++)
                if (is_better(self, candidate_of(self, w, d, v),
                              candidate_of(self, best[0], best[1], best[2]))) {
                    best[0] = w;
                    best[1] = d;
                    best[2] = v;
                }
    if (!isfinite(self->loss[candidate_of(self, best[0], best[1], best[2])]))
        return uc_fail_again(UC_ERR_DIVERGED, self->task,
                             ": no candidate converged; scale the data ({scale}, {normalize})");
    if (self->train.map.map != UC_MAP_NONE) {
        self->train.map.width = self->widths[best[0]];
        self->train.map.gamma = UC_AUTO_REAL;
        self->train.map.dimension = self->dimensions[best[1]];
    }
    if (self->open)
        *(double *)(void *)((char *)self->settings + self->open->offset) = self->values->values[best[2]];
    return UC_OK;
}

/* The names of the options that are `auto` and must be chosen. */
typedef struct open_options {
    const char *name[3];
    size_t count;
} open_options;

static open_options list_open(const search *self)
{
    const uc_map_settings *map = &self->train.map;
    const bool mapped = map->map != UC_MAP_NONE;
    open_options open = {.count = 0};
    if (mapped && map->kernel == UC_KERNEL_GAUSSIAN && isnan(map->gamma) && isnan(map->width))
        open.name[open.count++] = "width";
    if (mapped && map->dimension == UC_AUTO_COUNT)
        open.name[open.count++] = "dimension";
    if (self->open)
        open.name[open.count++] = self->open->name;
    return open;
}

/* "choosing {width}, {dimension}, {l2}": lists the open options. */
static void name_task(search *self, const open_options *open)
{
    size_t length = (size_t)snprintf(self->task, sizeof self->task, "choosing");
    const char *before = " ";
    for (size_t i = 0; i < open->count && length < sizeof self->task; i++) {
        length += (size_t)snprintf(self->task + length, sizeof self->task - length, "%s{%s}", before,
                                   open->name[i]);
        before = ", ";
    }
}

/* Tries all candidates on a sample and takes the best. */
static uc_status search_sample(search *self, const uc_dataset *rows, const open_options *open)
{
    if (rows->X.rows < FEWEST)
        return uc_fail(UC_ERR_INVALID,
                       "%zu examples are too few to choose {%s} by cross-validation: give a number",
                       rows->X.rows, open->name[0]);
    self->width_count = self->dimension_count = 1;
    if (self->train.map.map != UC_MAP_NONE) {
        const uc_status status = list_widths(self, rows);
        if (status != UC_OK)
            return status;
        list_dimensions(self, rows->X.rows);
    }
    uc_status status = run_folds(self, rows);
    if (status == UC_OK)
        status = choose(self);
    uc_free(self->loss);
    uc_free(self->error);
    return status;
}

/* The positive class: the later one, unless the name is that of the other. */
static uint32_t positive_of(const uc_dataset *data, const char *name)
{
    return name && strcmp(name, data->classes.text[0]) == 0 ? 0 : 1;
}

static uc_status tune(void *settings, uc_train_settings *train, const uc_learner *learner,
                      const uc_dataset *data, bool by_error, const uc_context *context)
{
    /* Every process has the whole sample, and takes some of the jobs. */
    const uc_context alone = uc_context_alone(context);
    search self = {.learner = learner,
                   .settings = settings,
                   .train = uc_train_decide(learner, train),
                   .context = &alone,
                   .comm = uc_comm_of(context),
                   .by_error = by_error && learner->probabilities && !train->noise};
    uc_dataset rows = {0};
    uc_status status = uc_train_check(learner, data, context);
    if (status != UC_OK)
        return status;
    if (self.train.map.map == UC_MAP_LANDMARKS && self.train.map.dimension == UC_AUTO_COUNT)
        self.train.map.dimension = UC_STREAM_LANDMARKS;
    find_open_option(&self);
    const open_options open = list_open(&self);
    if (open.count == 0) {
        train->map = self.train.map;
        return UC_OK;
    }
    name_task(&self, &open);
    self.bags = learner->judges_bags && learner->judges_bags(settings);
    self.positive = positive_of(data, train->positive);
    if (self.bags)
        status = uc_dataset_sample_bags(&rows, data, SAMPLE, self.train.seed, context);
    else
        status = uc_dataset_sample(&rows, data, SAMPLE, self.train.seed, context);
    if (status == UC_OK)
        status = search_sample(&self, &rows, &open);
    if (status == UC_OK)
        train->map = self.train.map;
    uc_dataset_free(&rows);
    return status;
}

uc_status uc_tune(void *settings, uc_train_settings *train, const uc_learner *learner, const uc_dataset *data,
                  const uc_context *context)
{
    return tune(settings, train, learner, data, false, context);
}

static uc_status tune_and_train_alone(uc_model **out, const uc_learner *learner, void *settings,
                                      uc_train_settings *train, uc_dataset *data, const uc_context *context)
{
    const uc_status status = tune(settings, train, learner, data, true, context);
    if (status != UC_OK)
        return status;
    return uc_train(out, learner, settings, train, data, context);
}

/* Tries the rivals; *model becomes that of the rival to believe, if there is one. */
static uc_status try_rivals(uc_model **model, uc_rivals *rivals, const uc_train_settings *train,
                            uc_dataset *data, const uc_context *context)
{
    const uc_status status = uc_rivals_train(rivals, *model, train, data, context);
    if (status != UC_OK || !rivals->best)
        return status;
    json_t *tried = json_incref(json_object_get((*model)->summary, "candidates"));
    uc_model_free(*model);
    *model = uc_rivals_take(rivals);
    return tried ? uc_json_set((*model)->summary, "candidates", tried) : UC_OK;
}

uc_status uc_tune_and_train(uc_model **out, const uc_learner *learner, const void *settings,
                            const uc_train_settings *train, uc_dataset *data, const uc_context *context)
{
    uc_train_settings chosen = train ? *train : uc_train_defaults();
    uc_model *model = NULL;
    uc_views views = {0};
    uc_rivals rivals = {0};
    bool may_be = false;
    void *own = uc_learner_settings(learner, settings);
    if (!own)
        return UC_ERR_NOMEM;
    const uc_train_settings wanted = chosen;
    uc_status status = uc_rivals_may_be(&may_be, learner, own, &chosen, data, context);
    if (may_be)
        chosen.overwrite = 0;
    if (status == UC_OK)
        status = uc_view_choose_for(&views, own, &chosen, learner, data, context);
    if (status == UC_OK)
        status = tune_and_train_alone(&model, learner, own, &chosen, data, context);
    if (status == UC_OK && may_be)
        status = try_rivals(&model, &rivals, &wanted, data, context);
    if (status == UC_OK && views.count > 0)
        status = uc_views_write(model, &views, strcmp(model->learner, learner->name) == 0);
    if (status == UC_OK)
        status = uc_rivals_write(model, &rivals);
    uc_rivals_free(&rivals);
    uc_views_free(&views);
    uc_free(own);
    if (status == UC_OK)
        *out = model;
    else
        uc_model_free(model);
    return status;
}
