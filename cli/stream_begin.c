/* Before the first round: what is to be known of the data, and the learner, new or from a model.
 *
 * A file is read once beforehand, in constant memory, for its classes, its columns, the sums of --scale, and for the
 * width of a gaussian kernel: the median distance is that of SAMPLE rows, drawn by Vitter's algorithm R. */
#include "stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_SAMPLE UINT64_C(0x636c692d73616d70)  /* random numbers: "cli-samp" */
#define STREAM_MISSING UINT64_C(0x636c692d6d697373) /* "cli-miss" */
#define MISSING_WORDS 2                             /* drawn for a round */
#define SAMPLE ((size_t)2000)
#define SPARSE_DENSITY 0.25 /* the reader's own limit between sparse and dense */

/* ---- the first pass ---- */

typedef struct scan {
    uc_scaling scaling;
    bool sampled; /* the sample is wanted */
    uc_names classes;
    size_t rows, columns;
    double entries;
    double first_rows,
        first_values; /* of the first rows: how many, and how many values are not 0 (uc_density) */
    bool sparse;
    uc_scale_sums *sums;
    row_copy *sample;
    uc_rng rng;
} scan;

static uc_status scan_block(scan *self, const uc_matrix *X)
{
    for (size_t i = 0; self->sampled && i < X->rows; i++) {
        const size_t row = self->rows + i;
        const size_t place = row < SAMPLE ? row : (size_t)uc_rng_below(&self->rng, row + 1);
        if (place < SAMPLE)
            row_copy_set(&self->sample[place], uc_matrix_row(X, i));
    }
    if (self->first_rows < 1000) {
        const double rows = fmin((double)X->rows, 1000 - self->first_rows);
        uc_matrix first = *X;
        first.rows = (size_t)rows;
        self->first_values += rows > 0 && X->cols > 0 ? uc_density(&first) * rows * (double)X->cols : 0;
        self->first_rows += rows;
    }
    self->rows += X->rows;
    self->columns = X->cols;
    self->entries += (double)uc_matrix_entries(X);
    self->sparse = uc_matrix_is_sparse(X);
    return self->scaling == UC_SCALE_NONE ? UC_OK : uc_scale_sums_add(&self->sums, X);
}

static uc_status scan_file(scan *self, const stream *run)
{
    uc_reader *reader = NULL;
    const uc_dataset *block = NULL;
    uc_status status = uc_reader_open(&reader, run->path, &run->args->read, &run->call->context);
    while (status == UC_OK && (status = uc_reader_next(&block, reader)) == UC_OK && block)
        status = scan_block(self, &block->X);
    if (status == UC_OK)
        status = cli_check_interrupt();
    if (status == UC_OK)
        status = uc_names_copy(&self->classes, uc_reader_classes(reader));
    if (status == UC_OK)
        status = uc_names_sort(&self->classes, NULL);
    uc_reader_close(reader);
    return status;
}

/* Whether the data count as sparse, as in a file that is read as a whole. */
static bool is_sparse(const scan *self, uc_storage storage)
{
    return self->sparse && (storage == UC_STORAGE_SPARSE ||
                            (storage == UC_STORAGE_AUTO &&
                             self->entries < SPARSE_DENSITY * (double)self->rows * (double)self->columns));
}

static uc_status learn_scaling(uc_steps *steps, const scan *self, uc_storage storage)
{
    if (self->scaling == UC_SCALE_NONE)
        return UC_OK;
    if (self->scaling != UC_SCALE_MAXABS && is_sparse(self, storage))
        return cli_fail(
            UC_ERR_INVALID,
            "--scale %s would turn the zeros of sparse data into other values: use --scale maxabs, or read "
            "the data with --storage dense",
            self->scaling == UC_SCALE_RANGE ? "range" : "standard");
    return uc_scale_sums_finish(steps, self->sums, self->scaling, self->columns);
}

static void free_scan(scan *self)
{
    for (size_t i = 0; self->sample && i < SAMPLE; i++)
        row_copy_free(&self->sample[i]);
    free(self->sample);
    uc_scale_sums_free(self->sums);
    uc_names_free(&self->classes);
}

/* ---- the width of the kernel ---- */

static bool needs_median(const uc_map_settings *map)
{
    return map->map != UC_MAP_NONE && map->kernel == UC_KERNEL_GAUSSIAN && isnan(map->gamma) &&
           map->width == 0;
}

/* The sample as one matrix; dense when its zeros are to become other values. */
static uc_status collect_sample(uc_matrix *out, const scan *self, bool dense)
{
    const size_t rows = self->rows < SAMPLE ? self->rows : SAMPLE;
    size_t entries = 0, filled = 0;
    for (size_t i = 0; i < rows; i++)
        entries += self->sample[i].count;
    dense = dense || !self->sparse;
    const uc_status status = dense ? uc_matrix_create_dense(out, rows, self->columns)
                                   : uc_matrix_create_sparse(out, rows, self->columns, entries);
    for (size_t i = 0; i < rows && status == UC_OK; i++) {
        const uc_row row = row_copy_view(&self->sample[i]);
        for (size_t j = 0; j < row.count; j++) {
            const uint32_t column = row.columns ? row.columns[j] : (uint32_t)j;
            out->values[dense ? i * out->stride + column : filled + j] = row.values[j];
            if (!dense)
                out->columns[filled + j] = column;
        }
        filled += row.count;
        if (!dense)
            out->offsets[i + 1] = filled;
    }
    return status;
}

static uc_status find_width(uc_train_settings *train, const scan *self, const uc_steps *scaling,
                            const uc_context *context)
{
    uc_steps input = *scaling; /* borrows the scaling: not to be freed */
    uc_matrix sample = {0};
    input.normalize_input = train->normalize_input;
    uc_status status = collect_sample(&sample, self, scaling->shift != NULL);
    if (status == UC_OK)
        status = uc_steps_apply(&input, &sample, context);
    if (status == UC_OK)
        status = uc_median_distance2(&train->map.width, &sample, train->seed, NULL);
    uc_matrix_free(&sample);
    return status;
}

/* ---- memory ---- */

/* What is to come; the queue has room for `waiting` rows. */
static uc_online_ahead ahead_of(const stream *self, size_t waiting_rows)
{
    double held = (double)waiting_rows * sizeof(waiting);
    if (self->args->shuffle)
        held += (double)self->data.X.rows * (self->row_bytes + sizeof(size_t));
    return (uc_online_ahead){.columns = self->columns,
                             .classes = self->classes,
                             .density = self->density,
                             .row_bytes = self->row_bytes,
                             .rounds =
                                 self->rows ? (double)self->rows * (double)self->args->passes : INFINITY,
                             .waiting = (double)waiting_rows,
                             .held_bytes = held,
                             .saved = self->args->output != NULL};
}

uc_status stream_check_memory(const stream *self, size_t waiting_rows)
{
    const uc_online_ahead ahead = ahead_of(self, waiting_rows);
    return uc_online_check_memory(self->online, &ahead, &self->call->context);
}

/* Before anything large is allocated. */
static uc_status check_plan(const stream *self, const uc_train_settings *train)
{
    const double rounds = (double)self->rows * (double)self->args->passes;
    const size_t waiting_rows =
        (double)self->args->delay < rounds ? (size_t)self->args->delay : (size_t)rounds;
    const uc_online_ahead ahead = ahead_of(self, waiting_rows);
    return uc_learner_check_memory(self->learner, self->call->member_settings, train, &ahead,
                                   &self->call->context);
}

/* ---- a new learner ---- */

/* *classes become those of --classes when it is given. */
static uc_status choose_classes(uc_names *classes, const stream *self)
{
    const char *told = self->args->classes;
    if (told) {
        uc_names_free(classes);
        const uc_status status = cli_split_names(classes, told, "classes");
        if (status != UC_OK || classes->count > 1)
            return status;
        return cli_fail(UC_ERR_OPTION, "--classes %s: only one class, where two are needed", told);
    }
    if (classes->count == 0 && !self->grows)
        return cli_fail(UC_ERR_INVALID, "%s: the data have no labels", self->path);
    if (classes->count == 1)
        return cli_fail(UC_ERR_FORMAT, "%s: only one class, '%s', where two are needed", self->path,
                        classes->text[0]);
    return UC_OK;
}

/* What a pass over the data tells; standard input tells nothing beforehand. */
static uc_status look_at_data(uc_names *classes, uc_steps *steps, uc_train_settings *train, stream *self)
{
    const stream_args *args = self->args;
    scan found = {.scaling = (uc_scaling)train->scale, .sampled = needs_median(&train->map)};
    if (cli_reads_once(self->path))
        return UC_OK;
    found.rng = uc_rng_make(train->seed, STREAM_SAMPLE);
    if (found.sampled)
        found.sample = cli_calloc(SAMPLE, sizeof *found.sample);
    uc_status status = args->shuffle ? scan_block(&found, &self->data.X) : scan_file(&found, self);
    if (status == UC_OK && args->shuffle)
        status = uc_names_copy(&found.classes, &self->data.classes);
    if (status == UC_OK)
        status =
            learn_scaling(steps, &found, args->shuffle ? UC_STORAGE_SPARSE : (uc_storage)args->read.storage);
    if (status == UC_OK && found.sampled)
        status = find_width(train, &found, steps, &self->call->context);
    if (status == UC_OK) {
        self->columns = found.columns;
        self->density = found.first_values / (found.first_rows * (double)found.columns);
        self->rows = found.rows;
        self->row_bytes = (found.sparse ? 8 : 4) * found.entries / (double)found.rows;
        *classes = found.classes;
        found.classes = (uc_names){0};
    }
    free_scan(&found);
    return status;
}

static uc_status begin_new(stream *self)
{
    uc_train_settings train = self->args->train;
    uc_names classes = {0};
    uc_steps steps = {0};
    train.passes = self->args->passes;
    train.shuffle = self->args->shuffle;
    self->grows = cli_reads_once(self->path) && !self->args->classes;
    uc_status status = look_at_data(&classes, &steps, &train, self);
    if (status == UC_OK)
        status = choose_classes(&classes, self);
    self->classes = classes.count;
    if (status == UC_OK)
        status = check_plan(self, &train);
    if (status == UC_OK)
        status = uc_online_begin(&self->online, self->learner, self->call->member_settings, &train, &classes,
                                 steps.factor ? &steps : NULL);
    if (status == UC_OK)
        status = uc_online_expect(self->online, self->columns, self->density);
    uc_steps_free(&steps);
    uc_names_free(&classes);
    return status;
}

/* ---- a learner that goes on ---- */

/* A stored value as a user would type it; `room` is for settings of the option's table. An option that is newer than the
 * model is at its default. */
static void stored_text(char *text, size_t size, const uc_option *option, void *room, const json_t *value)
{
    char raw[64];
    if (json_is_number(value))
        snprintf(raw, sizeof raw, "%.17g", json_number_value(value));
    else
        snprintf(raw, sizeof raw, "%s",
                 json_is_string(value) ? json_string_value(value)
                 : !value              ? option->standard
                 : json_is_true(value) ? "on"
                                       : "off");
    if (uc_option_set(option, room, raw) == UC_OK)
        uc_option_text(option, room, text, size);
    else
        snprintf(text, size, "%s", raw);
}

/* Refuses options of a table that were typed and are not what the model was learned with; `size` is that of its
 * settings. `auto` and `median` leave the value to the program, and the model has it. */
static uc_status check_table(const stream *self, const json_t *learned, const uc_option *table,
                             const void *settings, size_t size)
{
    void *room = cli_calloc(1, size);
    uc_status status = UC_OK;
    for (; table->name && status == UC_OK; table++) {
        if (!cli_given(self->call, table->name) || strcmp(table->name, "passes") == 0 ||
            strcmp(table->name, "shuffle") == 0)
            continue;
        char typed[64], stored[64];
        uc_option_text(table, settings, typed, sizeof typed);
        stored_text(stored, sizeof stored, table, room, json_object_get(learned, table->name));
        const bool open = strcmp(typed, "auto") == 0 || (table->zero && strcmp(typed, table->zero) == 0);
        if (!open && strcmp(typed, stored) != 0)
            status =
                cli_fail(UC_ERR_OPTION, "--%s %s: %s was learned with %s, and a stream continues as it began",
                         table->name, typed, self->args->resume, stored);
    }
    free(room);
    return status;
}

/* What was learned with, where `auto` is what it came to; new. */
static json_t *decided_settings(const stream *self, const json_t *description)
{
    json_t *learned = json_deep_copy(json_object_get(description, "settings"));
    const json_t *map = json_object_get(description, "map");
    void *own = cli_calloc(1, uc_learner_settings_size(self->learner));
    uc_online_settings(own, self->online);
    cli_json_settings(learned, uc_learner_options(self->learner), own);
    free(own);
    if (!json_is_object(map)) {
        json_object_set_new(learned, "map", json_string("none"));
        return learned;
    }
    const double width = json_number_value(json_object_get(map, "width"));
    json_object_set(learned, "dimension", json_object_get(map, "dimension"));
    if (width > 0) {
        json_object_set_new(learned, "width", json_real(width));
        json_object_set_new(learned, "gamma", json_real(1 / width));
    }
    return learned;
}

static uc_status check_settings(stream *self, const uc_model *model)
{
    const uc_train_settings *train = &self->args->train;
    char *text;
    uc_status status = uc_model_describe(&text, model);
    if (status != UC_OK)
        return status;
    json_t *description = json_loads(text, 0, NULL);
    json_t *learned = decided_settings(self, description);
    uc_text_free(text);
    status = check_table(self, learned, uc_learner_options(self->learner), self->call->member_settings,
                         uc_learner_settings_size(self->learner));
    if (status == UC_OK)
        status = check_table(self, learned, uc_train_options, train, sizeof *train);
    if (status == UC_OK && (train->map.map != UC_MAP_NONE || uc_online_has_map(self->online)))
        status = check_table(self, learned, uc_map_options, &train->map, sizeof train->map);
    self->seed = (uint64_t)json_integer_value(json_object_get(learned, "seed"));
    json_decref(learned);
    json_decref(description);
    return status;
}

static uc_status begin_again(stream *self)
{
    const char *path = self->args->resume;
    uc_model *model = NULL;
    uc_status status = uc_model_load(&model, path);
    if (status == UC_OK && strcmp(uc_model_learner(model), uc_learner_name(self->learner)) != 0)
        status = cli_fail(UC_ERR_INVALID, "%s was learned by %s, not by %s", path, uc_model_learner(model),
                          uc_learner_name(self->learner));
    if (status == UC_OK && (status = uc_online_resume(&self->online, model)) != UC_OK)
        (void)cli_fail(status, "%s: %s", path, uc_last_error());
    if (status == UC_OK)
        status = check_settings(self, model);
    uc_model_free(model);
    self->grows = !self->partial;
    return status;
}

uc_status stream_begin(stream *self)
{
    self->seed = self->args->train.seed;
    const uc_status status = self->args->resume ? begin_again(self) : begin_new(self);
    if (status != UC_OK)
        return status;
    self->classes = uc_online_classes(self->online)->count;
    self->mapped = uc_online_has_map(self->online);
    self->rounds_before = uc_online_proposals(self->online);
    self->updates_before = uc_online_updates(self->online);
    self->missing = uc_rng_resume(self->seed, STREAM_MISSING, MISSING_WORDS * self->rounds_before);
    return UC_OK;
}
