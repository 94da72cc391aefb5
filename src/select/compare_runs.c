/*
 * Runs learners over the same shuffles of a data set.
 *
 * A (learner, run) pair is one job of one thread. Without a map, the rows are prepared once for all jobs, and
 * a job lasts from the first round to the last. With landmarks, which differ from run to run, a run's rows
 * are prepared in blocks that its learners share: all of them run over a block at the same time, and then the
 * next block is prepared.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include "select/compare_runs.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "linalg/linalg.h"
#include "parallel/parallel.h"
#include "train/order.h"
#include "unconfuse/session.h"

#define BLOCK_ROUNDS ((size_t)1024) /* with a map */
#define ROUNDS_PER_REPORT ((size_t)64)
#define RUNS_AT_HAND ((size_t)1024) /* without a map */

/* ---- rows ---- */

static uc_status check_map(const uc_map_settings *map)
{
    char name[32];
    uc_option_text(uc_options_find(uc_map_options, "map"), map, name, sizeof name);
    if (map->map != UC_MAP_LANDMARKS)
        return uc_fail(UC_ERR_OPTION,
                       "{map=%s} is learned from a whole data set: online learners use {map=landmarks}",
                       name);
    if (map->kernel == UC_KERNEL_GAUSSIAN && isnan(map->gamma) && isnan(map->width))
        return uc_fail(UC_ERR_OPTION,
                       "{width=auto} cross-validates on a whole data set: online learners need {width W}, "
                       "{width=median} or {gamma,g G}");
    return UC_OK;
}

/* A copy of all rows after `preprocessing`, which has no map. */
static uc_status prepare_all(uc_matrix *out, const uc_preprocessing *preprocessing,
                             const uc_compare_setup *self)
{
    uc_matrix copy;
    uc_status status = uc_matrix_subset(&copy, &self->data->X, NULL, self->data->X.rows, self->context);
    if (status != UC_OK)
        return status;
    status = uc_preprocessing_apply(preprocessing, &copy, self->context);
    if (status == UC_OK)
        *out = copy;
    else
        uc_matrix_free(&copy);
    return status;
}

uc_status uc_compare_prepare(uc_compare_setup *self)
{
    uc_first_look look = uc_first_look_none();
    uc_preprocessing *scaling = &look.scaling;
    if (self->mapped) {
        const uc_status checked = check_map(&self->train.map);
        if (checked != UC_OK)
            return checked;
    }
    uc_status status = uc_first_look_at_data(&look, self->data, &self->train, self->context);
    scaling->normalize_input = self->train.normalize_input;
    self->width = look.width;
    for (size_t view = 0; view < UC_VIEWS && status == UC_OK; view++) {
        if (!self->needed[view])
            continue;
        status = uc_preprocessing_copy(&self->preprocessing[view], scaling);
        self->preprocessing[view].normalize = view == UC_UNIT;
        if (status == UC_OK && !self->mapped && !uc_preprocessing_is_identity(&self->preprocessing[view]))
            status = prepare_all(&self->prepared[view], &self->preprocessing[view], self);
    }
    self->features = self->data->X.cols;
    self->density = look.density;
    if (self->mapped || scaling->shift)
        self->density = 1.0;
    if (status == UC_OK && self->mapped) {
        uc_map *map = NULL; /* only to find its default number of landmarks */
        status = uc_map_begin_landmarks(&map, &self->train.map, self->width);
        if (status == UC_OK)
            self->features = uc_map_dimension(map);
        uc_map_free(map);
    }
    uc_first_look_free(&look);
    return status;
}

void uc_compare_setup_free(uc_compare_setup *self)
{
    for (size_t view = 0; view < UC_VIEWS; view++) {
        uc_preprocessing_free(&self->preprocessing[view]);
        uc_matrix_free(&self->prepared[view]);
    }
}

/* ---- entries x runs ---- */

/* An entry in one run. */
typedef struct run_training {
    const uc_learner *learner;
    uc_online *online;
    uc_session *session;
    uc_order order;
    double seconds;
    struct all_runs *all; /* for reporting progress */
    size_t which, run;    /* the entry; the run within the current group */
    size_t point;         /* the next point of the curve */
} run_training;

/* The rows of one run after the map. */
typedef struct mapped_run {
    uc_order order;
    uc_preprocessing preprocessing[UC_VIEWS];
    uc_matrix block[UC_VIEWS]; /* of the current rounds */
    uint32_t *labels;          /* of the current rounds */
    double *weights;           /* of the current rounds; NULL: all are 1 */
} mapped_run;

typedef struct all_runs {
    const uc_compare_setup *setup;
    const uc_entry *entries;
    size_t count, runs;
    uint64_t sequence; /* of the random numbers for the orders */
    const char *task;
    size_t *correct; /* count x runs, as are the seconds */
    double *seconds;
    uc_compare_curves *curves; /* NULL: not wanted */

    size_t first_run, group; /* the current group of runs */
    run_training *trainings; /* group x count */
    mapped_run *mapped;      /* group; NULL: no map */
    size_t first, last;      /* the current rounds */

    atomic_size_t done; /* rounds of all trainings */
    atomic_flag reporting;
    atomic_bool cancelled;
} all_runs;

static uint64_t seed_of(const all_runs *self, size_t run)
{
    return self->setup->train.seed + self->first_run + run;
}

/* Only one thread at a time may call the callback; a thread that finds it busy goes on without reporting. */
static uc_status report_rounds(all_runs *self, size_t rounds, const uc_learner *learner)
{
    const size_t done = atomic_fetch_add(&self->done, rounds) + rounds;
    if (atomic_load(&self->cancelled))
        return uc_fail(UC_ERR_CANCELLED, "interrupted");
    if (atomic_flag_test_and_set(&self->reporting))
        return UC_OK;
    char detail[96];
    const size_t number = self->count * self->runs, finished = done / self->setup->rounds;
    snprintf(detail, sizeof detail, "training %zu of %zu, %s", finished < number ? finished + 1 : number,
             number, learner->name);
    const double total = (double)self->setup->rounds * (double)self->count * (double)self->runs;
    const uc_status status = uc_report(self->setup->context, self->task, (double)done, total, detail);
    if (status != UC_OK)
        atomic_store(&self->cancelled, true);
    atomic_flag_clear(&self->reporting);
    return status;
}

static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- curves ---- */

uc_status uc_compare_curves_begin(uc_compare_curves *out, size_t entries, size_t runs,
                                  const uc_compare_setup *setup)
{
    const size_t K = setup->data->classes.count;
    uc_compare_curves self = {.classes = K <= UC_COMPARE_RECALLS ? K : 0};
    for (uint64_t round = 1; round < setup->rounds; round *= 2)
        self.points++;
    self.points++;
    self.rounds = uc_alloc(self.points, sizeof *self.rounds);
    self.ratios = uc_alloc(entries * self.points * runs, sizeof *self.ratios);
    self.examples = uc_alloc(entries * self.points * self.classes, sizeof *self.examples);
    self.correct = uc_alloc(entries * self.points * self.classes, sizeof *self.correct);
    const bool ready = self.rounds && self.ratios && self.examples && self.correct;
    for (size_t p = 0; p < self.points && ready; p++)
        self.rounds[p] = p + 1 < self.points ? UINT64_C(1) << p : setup->rounds;
    *out = self;
    return ready ? UC_OK : UC_ERR_NOMEM;
}

void uc_compare_curves_free(uc_compare_curves *self)
{
    uc_free(self->rounds);
    uc_free(self->ratios);
    uc_free(self->examples);
    uc_free(self->correct);
    *self = (uc_compare_curves){0};
}

/* Sums over runs are of whole numbers, so they do not depend on the order of the runs. */
static void keep_point(run_training *self)
{
    uc_compare_curves *curves = self->all->curves;
    const size_t point = self->which * curves->points + self->point++;
    const uc_session_counts counts = uc_session_count(self->session);
    uc_session_label label;
    curves->ratios[point * self->all->runs + self->all->first_run + self->run] =
        (double)counts.correct / (double)counts.rounds;
    for (size_t k = 0; k < curves->classes && uc_session_label_at(&label, self->session, k); k++) {
        atomic_fetch_add(&curves->examples[point * curves->classes + k], label.examples);
        atomic_fetch_add(&curves->correct[point * curves->classes + k], label.correct);
    }
}

static uc_status count_round(const uc_session_round *round, void *user)
{
    run_training *self = user;
    const uc_compare_curves *curves = self->all->curves;
    if (curves && self->point < curves->points && round->number == curves->rounds[self->point])
        keep_point(self);
    if (round->number % ROUNDS_PER_REPORT != 0)
        return UC_OK;
    return report_rounds(self->all, ROUNDS_PER_REPORT, self->learner);
}

static uc_status begin_training(run_training *out, all_runs *self, size_t which, size_t run)
{
    const uc_entry *entry = &self->entries[which];
    const uc_compare_setup *setup = self->setup;
    uc_train_settings train = uc_train_defaults(); /* rows are already prepared, and no model is made */
    train.average = train.normalize = 0;
    train.bias = entry->bias;
    if (!self->mapped) /* for a learner with a map of its own */
        train.map.dimension = setup->train.map.dimension;
    train.passes = setup->settings.passes;
    train.seed = seed_of(self, run);
    *out = (run_training){.learner = entry->learner, .all = self, .which = which, .run = run};
    const uc_compare_settings *asked = &setup->settings;
    const uc_session_settings settings = {.feedback = (int)entry->feedback,
                                          .flips = {asked->flips[0], asked->flips[1]},
                                          .label_share = asked->label_share,
                                          .on_round = count_round,
                                          .user = out};
    uc_status status = UC_OK;
    if (!self->mapped)
        status = uc_order_begin(&out->order, setup->data->X.rows, train.seed, self->sequence);
    if (status == UC_OK)
        status = uc_online_begin(&out->online, entry->learner, entry->settings, &train, &setup->data->classes,
                                 NULL);
    if (status == UC_OK)
        status = uc_online_expect(out->online, setup->features, setup->density);
    if (status == UC_OK)
        status = uc_session_continue(&out->session, out->online, &settings, NULL);
    return status;
}

static void free_training(run_training *self)
{
    uc_session_free(self->session);
    uc_online_free(self->online);
    uc_order_free(&self->order);
    self->session = NULL;
    self->online = NULL;
}

/* Rounds first .. last-1, all of one pass. */
static uc_status run_rounds(all_runs *self, size_t job, size_t first, size_t last)
{
    const uc_compare_setup *setup = self->setup;
    const size_t view = self->entries[job % self->count].view, rows = setup->data->X.rows;
    run_training *training = &self->trainings[job];
    const uc_matrix *X = setup->prepared[view].rows > 0 ? &setup->prepared[view] : &setup->data->X;
    const double began = thread_seconds();
    uc_status status;
    if (self->mapped) {
        const mapped_run *run = &self->mapped[training->run];
        status = uc_session_run_weighted(training->session, &run->block[view], run->labels, run->weights,
                                         NULL, last - first, true);
    } else {
        status = uc_session_run_weighted(training->session, X, setup->data->y, setup->data->weights,
                                         training->order.rows + first % rows, last - first, true);
    }
    training->seconds += thread_seconds() - began;
    return status;
}

/* Takes one training through the current rounds, which may belong to several passes. */
static uc_status run_stage(size_t job, void *user)
{
    all_runs *self = user;
    const size_t rows = self->setup->data->X.rows, run = job / self->count, which = job % self->count;
    run_training *training = &self->trainings[job];
    uc_status status = UC_OK;
    if (self->first == 0)
        status = begin_training(training, self, which, run);
    for (size_t t = self->first, end; t < self->last && status == UC_OK; t = end) {
        if (t % rows == 0 && !self->mapped)
            uc_order_next(&training->order);
        end = uc_min_size(t - t % rows + rows, self->last);
        status = run_rounds(self, job, t, end);
    }
    if (status == UC_OK && self->last == self->setup->rounds)
        status = report_rounds(self, self->setup->rounds % ROUNDS_PER_REPORT, training->learner);
    if (status == UC_OK && self->last == self->setup->rounds) {
        self->correct[which * self->runs + self->first_run + run] =
            (size_t)uc_session_count(training->session).correct;
        self->seconds[which * self->runs + self->first_run + run] = training->seconds;
        free_training(training);
    }
    return status;
}

/* ---- with a map ---- */

static uc_status begin_mapped_run(mapped_run *out, const all_runs *self, size_t run)
{
    const uc_compare_setup *setup = self->setup;
    uc_status status = uc_order_begin(&out->order, setup->data->X.rows, seed_of(self, run), self->sequence);
    if (status == UC_OK) {
        out->labels = uc_alloc(BLOCK_ROUNDS, sizeof *out->labels);
        if (setup->data->weights)
            out->weights = uc_alloc(BLOCK_ROUNDS, sizeof *out->weights);
        if (!out->labels || (setup->data->weights && !out->weights))
            return UC_ERR_NOMEM;
    }
    for (size_t view = 0; view < UC_VIEWS && status == UC_OK; view++)
        if (setup->needed[view]) {
            status = uc_preprocessing_copy(&out->preprocessing[view], &setup->preprocessing[view]);
            if (status == UC_OK)
                status =
                    uc_map_begin_landmarks(&out->preprocessing[view].map, &setup->train.map, setup->width);
        }
    return status;
}

static void free_mapped_runs(all_runs *self)
{
    for (size_t run = 0; run < self->group && self->mapped; run++) {
        uc_order_free(&self->mapped[run].order);
        uc_free(self->mapped[run].labels);
        uc_free(self->mapped[run].weights);
        for (size_t view = 0; view < UC_VIEWS; view++) {
            uc_preprocessing_free(&self->mapped[run].preprocessing[view]);
            uc_matrix_free(&self->mapped[run].block[view]);
        }
    }
    uc_free(self->mapped);
    self->mapped = NULL;
}

/* Prepares the run's rows of the current rounds, all of one pass. */
static uc_status prepare_block(const all_runs *self, size_t run)
{
    const uc_compare_setup *setup = self->setup;
    const size_t rows = setup->data->X.rows;
    mapped_run *mapped = &self->mapped[run];
    uc_matrix raw;
    if (self->first % rows == 0)
        uc_order_next(&mapped->order);
    const size_t *taken = mapped->order.rows + self->first % rows;
    for (size_t i = 0; i < self->last - self->first; i++) {
        mapped->labels[i] = setup->data->y[taken[i]];
        if (mapped->weights)
            mapped->weights[i] = setup->data->weights[taken[i]];
    }
    uc_status status =
        uc_matrix_subset(&raw, &setup->data->X, taken, self->last - self->first, setup->context);
    if (status != UC_OK)
        return status;
    for (size_t view = 0; view < UC_VIEWS && status == UC_OK; view++)
        if (setup->needed[view]) {
            uc_matrix_free(&mapped->block[view]);
            mapped->block[view] = (uc_matrix){0};
            status = uc_preprocessing_apply_arriving(&mapped->block[view], &mapped->preprocessing[view], &raw,
                                                     setup->context);
        }
    uc_matrix_free(&raw);
    return status;
}

static uc_status run_mapped(all_runs *self)
{
    const size_t rows = self->setup->data->X.rows;
    uc_status status = UC_OK;
    self->mapped = uc_alloc(self->group, sizeof *self->mapped);
    if (!self->mapped)
        return UC_ERR_NOMEM;
    for (size_t run = 0; run < self->group && status == UC_OK; run++)
        status = begin_mapped_run(&self->mapped[run], self, run);
    for (self->first = 0; self->first < self->setup->rounds && status == UC_OK; self->first = self->last) {
        self->last = self->first + uc_min_size(rows - self->first % rows, BLOCK_ROUNDS);
        for (size_t run = 0; run < self->group && status == UC_OK; run++)
            status = prepare_block(self, run);
        if (status == UC_OK)
            status = uc_run_blocks(self->setup->context, self->group * self->count, run_stage, self);
    }
    free_mapped_runs(self);
    return status;
}

/* ---- all runs ---- */

/* How many runs make a group. With a map, enough that every thread can work on the slowest learner. */
static size_t group_size(const uc_compare_setup *setup, size_t runs)
{
    if (setup->mapped)
        return uc_min_size(uc_threads(setup->context), runs);
    return uc_min_size(RUNS_AT_HAND, runs);
}

static double matrix_bytes(const uc_matrix *X)
{
    if (uc_matrix_is_sparse(X))
        return 8.0 * (double)uc_matrix_entries(X) + 8.0 * (double)X->rows;
    return 4.0 * (double)X->rows * (double)X->stride;
}

/* The bytes of one training: weights, memory of the learner, and order. */
static double training_bytes(const uc_compare_setup *self, const uc_entry *entry)
{
    const double rows = (double)self->data->X.rows;
    const double row_bytes =
        self->mapped ? 4.0 * (double)self->features : matrix_bytes(&self->data->X) / rows;
    return uc_learner_bytes(entry->learner, entry->settings, false,
                            uc_shape_of(self->features, self->density), self->data->classes.count, row_bytes,
                            (double)self->rounds) +
           8.0 * rows;
}

/* Checks the memory for all trainings that exist at the same time, and for the prepared rows. */
static uc_status check_memory(const uc_compare_setup *self, const uc_entry *entries, size_t count,
                              size_t runs)
{
    const double rows = (double)self->data->X.rows, group = (double)group_size(self, runs);
    double largest = 0.0, all = 0.0, views = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double bytes = training_bytes(self, &entries[i]);
        largest = fmax(largest, bytes);
        all += bytes;
    }
    for (size_t view = 0; view < UC_VIEWS; view++)
        views += self->needed[view];
    const double block = fmin(rows, (double)BLOCK_ROUNDS) * 4.0 * (double)uc_matrix_stride(self->features);
    double bytes = group * (all + views * block + 8.0 * rows);
    if (!self->mapped)
        bytes = fmin(group * (double)count, (double)uc_threads(self->context)) * largest +
                matrix_bytes(&self->prepared[UC_PLAIN]) + matrix_bytes(&self->prepared[UC_UNIT]);
    char what[128];
    snprintf(what, sizeof what, "comparing %zu learner%s of %zu features and %zu classes", count,
             count == 1 ? "" : "s", self->features, self->data->classes.count);
    return uc_memory_check(self->context, bytes, what);
}

uc_status uc_compare_run(size_t *correct, double *seconds, uc_compare_curves *curves,
                         const uc_compare_setup *setup, const uc_entry *entries, size_t count, size_t runs,
                         uint64_t sequence, const char *task)
{
    all_runs self = {.setup = setup,
                     .entries = entries,
                     .count = count,
                     .runs = runs,
                     .sequence = sequence,
                     .task = task,
                     .correct = correct,
                     .seconds = seconds,
                     .curves = curves,
                     .reporting = ATOMIC_FLAG_INIT};
    const size_t at_once = group_size(setup, runs);
    uc_status status = check_memory(setup, entries, count, runs);
    for (; self.first_run < runs && status == UC_OK; self.first_run += self.group) {
        self.group = uc_min_size(at_once, runs - self.first_run);
        self.first = 0;
        self.last = setup->rounds;
        self.trainings = uc_alloc(self.group * count, sizeof *self.trainings);
        if (!self.trainings)
            status = UC_ERR_NOMEM;
        else if (setup->mapped)
            status = run_mapped(&self);
        else
            status = uc_run_blocks(setup->context, self.group * count, run_stage, &self);
        for (size_t i = 0; i < self.group * count && self.trainings; i++)
            free_training(&self.trainings[i]);
        uc_free(self.trainings);
    }
    return status;
}
