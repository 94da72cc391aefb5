/* unconfuse stream: one example at a time: propose a class, be told, learn.
 *
 * A file is read twice, in constant memory: first for its classes (and the sums of --scale), then for learning. With
 * --shuffle it is held in memory. Feedback may come --delay rounds late: the rows that wait for it are copied into a ring. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

#define STREAM_MISSING UINT64_C(0x636c692d6d697373) /* random numbers: "cli-miss" */
#define STREAM_ORDER UINT64_C(0x636c692d6f726465)   /* "cli-orde" */
#define SPARSE_DENSITY 0.25                         /* the reader's own limit between sparse and dense */

enum { FEEDBACK_AUTO, FEEDBACK_FULL, FEEDBACK_PARTIAL };

typedef struct stream_args {
    uc_train_settings train;
    uc_read_settings read;
    const char *output, *resume, *classes;
    int feedback, shuffle;
    uint64_t passes, delay;
    double missing;
} stream_args;

static const uc_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = UC_OPTION_TEXT,
     .offset = offsetof(stream_args, output),
     .argument = "MODEL",
     .help = "the model file to write; --resume can go on from it"},
    {.name = "resume",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(stream_args, resume),
     .argument = "MODEL",
     .help = "go on where this model's stream stopped"},
    {.name = "feedback",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(stream_args, feedback),
     .standard = "auto",
     .choices = "auto|full|partial",
     .help = "what comes back: the label, or only right or wrong; auto: what the learner learns from"},
    {.name = "classes",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(stream_args, classes),
     .argument = "a,b,c",
     .help = "the classes, when they are not to be read from the file"},
    {.name = "passes",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(stream_args, passes),
     .standard = "1",
     .low = 1,
     .high = 1e9,
     .help = "passes over the data"},
    {.name = "shuffle",
     .type = UC_OPTION_FLAG,
     .offset = offsetof(stream_args, shuffle),
     .standard = "off",
     .help = "a new order in every pass; holds the data in memory"},
    {.name = "delay",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(stream_args, delay),
     .standard = "0",
     .high = 1e9,
     .help = "rounds until feedback comes"},
    {.name = "missing",
     .type = UC_OPTION_REAL,
     .offset = offsetof(stream_args, missing),
     .standard = "0",
     .high = 1,
     .argument = "P",
     .help = "probability that feedback never comes"},
    {0},
};

static const cli_section sections[] = {
    {"Options", options, 0},
    {"Training options", uc_train_options, offsetof(stream_args, train)},
    {"Data options", uc_read_options, offsetof(stream_args, read)},
    {0},
};

/* ---- the run ---- */

/* A round that waits for its feedback. */
typedef struct waiting {
    bool taken;
    uc_proposal proposal;
    uc_answer answer;
    size_t count, capacity;
    bool sparse;
    float *values;
    uint32_t *columns;
} waiting;

typedef struct class_tally {
    size_t examples, correct, proposed;
} class_tally;

typedef struct point {
    size_t round;
    double ratio, recent;
} point;

typedef struct stream {
    const cli_call *call;
    const stream_args *args;
    const char *path;
    uc_online *online;
    bool partial;       /* only right or wrong is told */
    bool grows;         /* labels that are not known become classes */
    uint32_t *position; /* in the learner's classes, of each class of the reader; UC_NONE: not among them */
    size_t positions;
    waiting *ring; /* --delay of them */
    uc_rng missing;
    size_t rounds, correct;
    uint32_t proposed; /* in the last round */
    bool right;
    size_t shown_rounds, shown_correct, next_shown; /* the last line of the progress table */
    class_tally *tally;
    size_t tallies;
    point *curve; /* at most 65: rounds double */
    size_t points;
} stream;

/* ---- before the first round ---- */

static uc_status refuse_partial(const uc_learner *learner)
{
    char names[256] = "";
    for (size_t i = 0, length = 0; uc_learner_at(i) && length < sizeof names; i++)
        if (uc_learner_accepts(uc_learner_at(i), UC_FEEDBACK_PARTIAL))
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "",
                                       uc_learner_name(uc_learner_at(i)));
    return cli_fail(UC_ERR_OPTION, "--feedback partial: %s needs labels; learners for right or wrong: %s",
                    uc_learner_name(learner), *names ? names : "none in this version");
}

static uc_status check_options(stream *self)
{
    const stream_args *args = self->args;
    const uc_learner *learner = uc_learner_at(self->call->member);
    const uc_option *own = uc_learner_options(learner);
    if (cli_reads_once(self->path)) {
        const char *refused = args->passes > 1                     ? "--passes above 1"
                              : args->shuffle                      ? "--shuffle"
                              : args->train.scale != UC_SCALE_NONE ? "--scale"
                                                                   : NULL;
        if (refused)
            return cli_fail(UC_ERR_INVALID, "%s on standard input: it can be read only once; give a file",
                            refused);
        if (self->partial && !args->classes && !args->resume)
            return cli_fail(UC_ERR_INVALID, "--feedback partial on standard input needs --classes a,b,c");
    }
    if (self->partial ? !uc_learner_accepts(learner, UC_FEEDBACK_PARTIAL)
                      : !uc_learner_accepts(learner, UC_FEEDBACK_FULL))
        return self->partial ? refuse_partial(learner)
                             : cli_fail(UC_ERR_OPTION, "--feedback full: %s learns from right or wrong only",
                                        uc_learner_name(learner));
    static const char *const fixed[] = {"average",   "scale", "normalize-input",
                                        "normalize", "bias",  "classes"};
    for (size_t i = 0; args->resume && i < sizeof fixed / sizeof *fixed; i++)
        if (cli_given(self->call, fixed[i]))
            return cli_fail(UC_ERR_OPTION, "--%s cannot be changed when a stream goes on", fixed[i]);
    for (; args->resume && own->name; own++)
        if (cli_given(self->call, own->name))
            return cli_fail(UC_ERR_OPTION, "--%s cannot be changed when a stream goes on", own->name);
    return UC_OK;
}

/* Classes in order, and what --scale needs, in one pass over the file. */
static uc_status scan_file(uc_names *classes, uc_steps *steps, const stream *self)
{
    const uc_scaling scaling = (uc_scaling)self->args->train.scale;
    uc_reader *reader = NULL;
    const uc_dataset *block = NULL;
    uc_scale_sums *sums = NULL;
    double rows = 0, entries = 0;
    size_t cols = 0;
    bool sparse = false;
    uc_status status = uc_reader_open(&reader, self->path, &self->args->read, &self->call->context);
    while (status == UC_OK && (status = uc_reader_next(&block, reader)) == UC_OK && block) {
        rows += (double)block->X.rows;
        entries += (double)uc_matrix_entries(&block->X);
        cols = block->X.cols;
        sparse = uc_matrix_is_sparse(&block->X);
        if (scaling != UC_SCALE_NONE)
            status = uc_scale_sums_add(&sums, &block->X);
    }
    if (self->args->read.storage != UC_STORAGE_SPARSE)
        sparse = sparse && self->args->read.storage == UC_STORAGE_AUTO &&
                 entries < SPARSE_DENSITY * rows * (double)cols;
    if (status == UC_OK && sparse && (scaling == UC_SCALE_RANGE || scaling == UC_SCALE_STANDARD))
        status = cli_fail(
            UC_ERR_INVALID,
            "--scale %s would turn the zeros of sparse data into other values: use --scale maxabs, or read "
            "the data with --storage dense",
            scaling == UC_SCALE_RANGE ? "range" : "standard");
    if (status == UC_OK && scaling != UC_SCALE_NONE)
        status = uc_scale_sums_finish(steps, sums, scaling, cols);
    if (status == UC_OK)
        status = uc_names_copy(classes, uc_reader_classes(reader));
    if (status == UC_OK)
        status = uc_names_sort(classes, NULL);
    uc_scale_sums_free(sums);
    uc_reader_close(reader);
    return status;
}

static uc_status resume(stream *self)
{
    uc_model *model = NULL;
    uc_status status = uc_model_load(&model, self->args->resume);
    const char *wanted = cli_learners.name(self->call->member);
    if (status == UC_OK && strcmp(uc_model_learner(model), wanted) != 0)
        status = cli_fail(UC_ERR_INVALID, "%s was learned by %s, not by %s", self->args->resume,
                          uc_model_learner(model), wanted);
    else if (status == UC_OK && (status = uc_online_resume(&self->online, model)) != UC_OK)
        (void)cli_fail(status, "%s: %s", self->args->resume, uc_last_error());
    uc_model_free(model);
    self->grows = !self->partial;
    return status;
}

/* `data` is what --shuffle holds in memory. */
static uc_status begin(stream *self, const uc_dataset *data)
{
    const stream_args *args = self->args;
    if (args->resume)
        return resume(self);
    uc_train_settings train = args->train;
    uc_names classes = {0};
    uc_steps steps = {0};
    const bool from_file = !cli_reads_once(self->path);
    const bool scaled = train.scale != UC_SCALE_NONE;
    uc_status status = UC_OK;
    train.passes = args->passes;
    train.shuffle = args->shuffle;
    if (data && scaled)
        status = uc_steps_learn(&steps, (uc_scaling)train.scale, &data->X);
    if (status == UC_OK && data)
        status = uc_names_copy(&classes, &data->classes);
    else if (status == UC_OK && from_file && (!args->classes || scaled))
        status = scan_file(&classes, &steps, self);
    if (status == UC_OK && args->classes) {
        uc_names_free(&classes);
        status = cli_split_names(&classes, args->classes, "classes");
    }
    if (status == UC_OK && from_file && classes.count < 2)
        status = cli_fail(UC_ERR_FORMAT, "%s: only one class, '%s', where two are needed", self->path,
                          classes.count ? classes.text[0] : "");
    self->grows = !from_file && !args->classes;
    if (status == UC_OK)
        status = uc_online_begin(&self->online, uc_learner_at(self->call->member),
                                 self->call->member_settings, &train, &classes, scaled ? &steps : NULL);
    uc_steps_free(&steps);
    uc_names_free(&classes);
    return status;
}

/* ---- a round ---- */

static const char *class_name(const stream *self, uint32_t label)
{
    return label == UC_NONE ? "-" : uc_online_classes(self->online)->text[label];
}

static class_tally *tally_of(stream *self, uint32_t label)
{
    if (label >= self->tallies) {
        const size_t count = uc_online_classes(self->online)->count;
        self->tally = cli_realloc(self->tally, count, sizeof *self->tally);
        memset(self->tally + self->tallies, 0, (count - self->tallies) * sizeof *self->tally);
        self->tallies = count;
    }
    return &self->tally[label];
}

/* A line of the table, and a point of the curve. */
static void show(stream *self)
{
    const double ratio = (double)self->correct / (double)self->rounds;
    const double recent =
        (double)(self->correct - self->shown_correct) / (double)(self->rounds - self->shown_rounds);
    if (!self->call->common.quiet) {
        if (self->points == 0)
            fprintf(stderr, "%12s %9s %9s  %s\n", "round", "correct", "recent", "last proposal");
        fprintf(stderr, "%12zu %8.2f%% %8.2f%%  %s, %s\n", self->rounds, 100 * ratio, 100 * recent,
                class_name(self, self->proposed), self->right ? "right" : "wrong");
    }
    self->curve = cli_realloc(self->curve, self->points + 1, sizeof *self->curve);
    self->curve[self->points++] = (point){self->rounds, ratio, recent};
    self->shown_rounds = self->rounds;
    self->shown_correct = self->correct;
}

static void count_round(stream *self, uint32_t label, uint32_t proposed)
{
    const bool right = label != UC_NONE && label == proposed;
    self->rounds++;
    self->correct += right;
    self->proposed = proposed;
    self->right = right;
    if (label != UC_NONE) {
        class_tally *told = tally_of(self, label);
        told->examples++;
        told->correct += right;
    }
    if (proposed != UC_NONE)
        tally_of(self, proposed)->proposed++;
    if (self->rounds == self->next_shown) {
        show(self);
        self->next_shown *= 2;
    }
}

static void keep(waiting *slot, const uc_row *row, const uc_proposal *proposal, uc_answer answer)
{
    if (row->count > slot->capacity) {
        slot->capacity = row->count;
        slot->values = cli_realloc(slot->values, slot->capacity, sizeof *slot->values);
        slot->columns = cli_realloc(slot->columns, slot->capacity, sizeof *slot->columns);
    }
    if (row->count > 0)
        memcpy(slot->values, row->values, row->count * sizeof *slot->values);
    if (row->count > 0 && row->columns)
        memcpy(slot->columns, row->columns, row->count * sizeof *slot->columns);
    slot->taken = true;
    slot->sparse = row->columns != NULL;
    slot->count = row->count;
    slot->proposal = *proposal;
    slot->answer = answer;
}

static uc_status deliver(stream *self, waiting *slot)
{
    if (!slot->taken)
        return UC_OK;
    const uc_row row = {slot->count, slot->values, slot->sparse ? slot->columns : NULL};
    slot->taken = false;
    return uc_online_learn(self->online, &row, &slot->proposal, slot->answer);
}

/* `listed` is the position of the label's name in the reader's list. */
static uc_status play(stream *self, uc_row row, uint32_t label, const char *name, uint32_t listed)
{
    uc_proposal proposal;
    uc_status status = uc_online_propose(&proposal, self->online, &row);
    if (status == UC_OK && label == UC_NONE && self->grows) {
        status = uc_online_add_class(&label, self->online, name);
        self->position[listed] = label;
    }
    if (status != UC_OK)
        return status;
    const bool right = label != UC_NONE && proposal.label == label;
    const uc_answer answer = {self->partial ? (right ? UC_ANSWER_RIGHT : UC_ANSWER_WRONG) : UC_ANSWER_LABEL,
                              label};
    const uint64_t delay = self->args->delay;
    waiting *slot = delay ? &self->ring[self->rounds % delay] : NULL;
    const bool told = uc_rng_uniform(&self->missing) >= self->args->missing;
    if (slot)
        status = deliver(self, slot); /* of the round that was played `delay` rounds ago */
    if (told && slot)
        keep(slot, &row, &proposal, answer);
    else if (told)
        status = uc_online_learn(self->online, &row, &proposal, answer);
    if (status == UC_OK)
        count_round(self, label, proposal.label);
    return status;
}

/* ---- passes ---- */

/* Where the reader's class `label` is among the learner's. */
static uc_status find_label(uint32_t *out, stream *self, const uc_names *names, uint32_t label)
{
    if (label == UC_NONE)
        return cli_fail(UC_ERR_INVALID, "%s: example %zu has no label ('?'), which %s cannot use", self->path,
                        self->rounds + 1, cli_learners.name(self->call->member));
    while (self->positions <= label) {
        const char *name = names->text[self->positions];
        const uint32_t found = uc_names_find(uc_online_classes(self->online), name, strlen(name));
        self->position = cli_realloc(self->position, self->positions + 1, sizeof *self->position);
        self->position[self->positions++] = found;
    }
    *out = self->position[label];
    if (*out == UC_NONE && !self->grows && !self->partial)
        return cli_fail(UC_ERR_INVALID, "%s: label %s of example %zu is not among --classes %s", self->path,
                        names->text[label], self->rounds + 1, self->args->classes);
    return UC_OK;
}

static uc_status play_row(stream *self, const uc_dataset *data, const uc_names *names, size_t row)
{
    uint32_t label = UC_NONE;
    if (!data->y)
        return cli_fail(UC_ERR_INVALID, "%s: the data have no labels", self->path);
    uc_status status = find_label(&label, self, names, data->y[row]);
    if (status == UC_OK)
        status = play(self, uc_matrix_row(&data->X, row), label, names->text[data->y[row]], data->y[row]);
    return status == UC_OK ? cli_check_interrupt() : status;
}

static uc_status pass_over_file(stream *self)
{
    uc_reader *reader = NULL;
    const uc_dataset *block = NULL;
    uc_context context = self->call->context;
    context.progress = cli_progress_silent; /* the table is the progress */
    uc_status status = uc_reader_open(&reader, self->path, &self->args->read, &context);
    self->positions = 0;
    while (status == UC_OK && (status = uc_reader_next(&block, reader)) == UC_OK && block)
        for (size_t i = 0; status == UC_OK && i < block->X.rows; i++)
            status = play_row(self, block, uc_reader_classes(reader), i);
    uc_reader_close(reader);
    return status == UC_OK ? cli_check_interrupt() : status;
}

static uc_status pass_over_memory(stream *self, const uc_dataset *data, size_t *order, uc_rng *rng)
{
    uc_status status = UC_OK;
    uc_rng_shuffle(rng, order, data->X.rows);
    for (size_t i = 0; status == UC_OK && i < data->X.rows; i++)
        status = play_row(self, data, &data->classes, order[i]);
    return status;
}

static uc_status play_all(stream *self, const uc_dataset *data)
{
    const stream_args *args = self->args;
    uc_status status = UC_OK;
    size_t *order = NULL;
    uc_rng rng = uc_rng_make(args->train.seed, STREAM_ORDER);
    if (data) {
        order = cli_calloc(data->X.rows, sizeof *order);
        for (size_t i = 0; i < data->X.rows; i++)
            order[i] = i;
    }
    for (uint64_t pass = 0; status == UC_OK && pass < args->passes; pass++)
        status = data ? pass_over_memory(self, data, order, &rng) : pass_over_file(self);
    for (uint64_t i = 0; status == UC_OK && i < args->delay; i++) /* late feedback, in its order */
        status = deliver(self, &self->ring[(self->rounds + i) % args->delay]);
    free(order);
    return status;
}

/* ---- afterwards ---- */

static uc_status save(const stream *self)
{
    uc_model *model = NULL;
    uc_status status = self->args->output ? uc_online_model(&model, self->online, true) : UC_OK;
    if (status == UC_OK && model)
        status = uc_model_save(model, self->args->output);
    uc_model_free(model);
    return status;
}

static double share(size_t part, size_t whole)
{
    return whole ? (double)part / (double)whole : (double)NAN;
}

static json_t *describe(const stream *self, double seconds)
{
    const uc_names *classes = uc_online_classes(self->online);
    json_t *curve = json_array(), *per_class = json_array();
    for (size_t i = 0; i < self->points; i++)
        json_array_append_new(curve, json_pack("{sI sf sf}", "round", (json_int_t)self->curve[i].round,
                                               "ratio_correct", self->curve[i].ratio, "recent_ratio",
                                               self->curve[i].recent));
    for (uint32_t k = 0; k < classes->count; k++) {
        const class_tally tally = k < self->tallies ? self->tally[k] : (class_tally){0};
        json_array_append_new(per_class, cli_json_class(classes->text[k], tally.examples,
                                                        share(tally.correct, tally.examples),
                                                        share(tally.correct, tally.proposed)));
    }
    return json_pack("{sI sI so so so sf}", "rounds", (json_int_t)self->rounds, "correct",
                     (json_int_t)self->correct, "ratio_correct",
                     cli_json_real(share(self->correct, self->rounds)), "curve", curve, "per_class",
                     per_class, "seconds", seconds);
}

static void print(const stream *self, FILE *file, double seconds)
{
    const uc_names *classes = uc_online_classes(self->online);
    cli_table table = {.align = "lr", .columns = 3};
    fprintf(file, "%zu rounds, %zu correct (%.2f%%), %llu updates, %.3f s\n\n", self->rounds, self->correct,
            100 * share(self->correct, self->rounds), (unsigned long long)uc_online_updates(self->online),
            seconds);
    cli_cell(&table, "class");
    cli_cell(&table, "rounds");
    cli_cell(&table, "recall");
    for (uint32_t k = 0; k < classes->count; k++) {
        const class_tally tally = k < self->tallies ? self->tally[k] : (class_tally){0};
        cli_cell(&table, "%s", classes->text[k]);
        cli_cell(&table, "%zu", tally.examples);
        if (tally.examples)
            cli_cell(&table, "%.1f%%", 100 * share(tally.correct, tally.examples));
        else
            cli_cell(&table, "-");
    }
    cli_table_print(&table, file);
    if (self->args->output)
        fprintf(file, "model: %s\n", self->args->output);
}

static void release(stream *self)
{
    for (uint64_t i = 0; self->ring && i < self->args->delay; i++) {
        free(self->ring[i].values);
        free(self->ring[i].columns);
    }
    free(self->ring);
    free(self->position);
    free(self->tally);
    free(self->curve);
    uc_online_free(self->online);
}

static uc_status run(cli_call *call)
{
    const stream_args *args = call->args;
    const uc_learner *learner = uc_learner_at(call->member);
    const double began = cli_seconds();
    stream self = {.call = call, .args = args, .path = call->words[0], .next_shown = 1};
    uc_dataset data = {0};
    self.partial = args->feedback == FEEDBACK_PARTIAL ||
                   (args->feedback == FEEDBACK_AUTO && !uc_learner_accepts(learner, UC_FEEDBACK_FULL));
    self.missing = uc_rng_make(args->train.seed, STREAM_MISSING);
    uc_status status = check_options(&self);
    if (status == UC_OK && args->delay)
        self.ring = cli_calloc((size_t)args->delay, sizeof *self.ring);
    if (status == UC_OK && args->shuffle)
        status = cli_read_data(&data, call, self.path, &args->read);
    if (status == UC_OK)
        status = begin(&self, args->shuffle ? &data : NULL);
    cli_progress_end();
    if (status == UC_OK)
        status = play_all(&self, args->shuffle ? &data : NULL);
    if (status == UC_OK && self.rounds > self.shown_rounds)
        show(&self);
    if (status == UC_OK)
        status = save(&self);
    if (status == UC_OK && call->common.json)
        call->result = describe(&self, cli_seconds() - began);
    FILE *text = status == UC_OK ? cli_summary(call, args->output) : NULL;
    if (text)
        print(&self, text, cli_seconds() - began);
    release(&self);
    uc_dataset_free(&data);
    return status;
}

const cli_command command_stream = {
    .name = "stream",
    .usage = "LEARNER [options] DATA [--feedback full|partial] [-o MODEL]",
    .summary = "learn online: propose, be told, learn",
    .description = "Plays the data in the order of the file, in constant memory: for every example the "
                   "learner proposes a class, is told the label (or only whether it was right), and "
                   "learns. Every round counts. A table of how many were correct so far goes to standard "
                   "error at rounds 1, 2, 4, 8...",
    .sections = sections,
    .args_size = sizeof(stream_args),
    .family = &cli_learners,
    .least = 2,
    .most = 2,
    .run = run,
};
