/* unconfuse stream: online learning, one example at a time: propose a class, see the feedback, learn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "stream.h"

enum { FEEDBACK_AUTO, FEEDBACK_FULL, FEEDBACK_PARTIAL, FEEDBACK_MIXED };

static const uc_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = UC_OPTION_TEXT,
     .offset = offsetof(stream_args, output),
     .argument = "MODEL",
     .help = "the model file to write; --resume can continue from it"},
    {.name = "resume",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(stream_args, resume),
     .argument = "MODEL",
     .help = "the model of an earlier stream: learning continues where it stopped"},
    {.name = "feedback",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(stream_args, feedback),
     .standard = "auto",
     .choices = "auto|full|partial|mixed",
     .help = "what the learner sees after each proposal: full: the label; partial: only right or wrong; "
             "mixed: right or wrong, and the label after some of the wrong ones; auto: whichever it learns "
             "from"},
    {.name = "label-share",
     .type = UC_OPTION_REAL,
     .offset = offsetof(stream_args, label_share),
     .standard = "0.1",
     .high = 1,
     .argument = "P",
     .help = "--feedback mixed: the share of the wrong answers that come with the label"},
    {.name = "explore-floor",
     .type = UC_OPTION_REAL,
     .offset = offsetof(stream_args, explore),
     .standard = "0",
     .high = 1,
     .argument = "P",
     .help = "explore with any learner: the probability that a class drawn evenly is proposed instead"},
    {.name = "flip-feedback",
     .type = UC_OPTION_PAIR,
     .offset = offsetof(stream_args, flips),
     .standard = "none",
     .zero = "none",
     .high = 1,
     .argument = "A,B",
     .help =
         "answer falsely on purpose: \"wrong\" to a share A of the right proposals, \"right\" to a share B "
         "of the wrong ones; the counts stay true"},
    {.name = "classes",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(stream_args, classes),
     .argument = "a,b,c",
     .help = "the class names, separated by commas (without it: found by reading the file once before)"},
    {.name = "grow-classes",
     .type = UC_OPTION_FLAG,
     .offset = offsetof(stream_args, grow_classes),
     .standard = "off",
     .help = "a label that is not among the classes becomes one: when the learner is given it, or with "
             "right/wrong feedback after its first round"},
    {.name = "baseline",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(stream_args, baseline),
     .argument = "MODEL",
     .help = "apprentice: what this model predicts is proposed and judged; the learner learns from the "
             "answers, and how often it agrees is counted"},
    {.name = "passes",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(stream_args, passes),
     .standard = "1",
     .low = 1,
     .high = 1e9,
     .help = "number of passes over the data"},
    {.name = "shuffle",
     .type = UC_OPTION_FLAG,
     .offset = offsetof(stream_args, shuffle),
     .standard = "off",
     .help = "go through the examples in a new random order in every pass; keeps the data in memory"},
    {.name = "delay",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(stream_args, delay),
     .standard = "0",
     .high = 1e9,
     .help = "how many rounds later the feedback arrives"},
    {.name = "missing",
     .type = UC_OPTION_REAL,
     .offset = offsetof(stream_args, missing),
     .standard = "0",
     .high = 1,
     .argument = "P",
     .help = "probability that the feedback of a round never arrives"},
    {.name = "expire",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(stream_args, expire),
     .standard = "0",
     .high = 1e9,
     .zero = "never",
     .help = "how many rounds feedback is waited for; later it counts no more"},
    {.name = "expired",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(stream_args, expired),
     .standard = "ignore",
     .choices = "ignore|wrong",
     .help = "what the learner hears of a round whose feedback did not come within --expire rounds"},
    {0},
};

static const app_section sections[] = {
    {"Options", options, 0},
    {"Training options", uc_train_options, offsetof(stream_args, train)},
    {"Map options", uc_map_options, offsetof(stream_args, train.map)},
    {"Data options", uc_read_options, offsetof(stream_args, read)},
    {"Report", app_report_options, offsetof(stream_args, report)},
    {0},
};

/* ---- online learners ---- */

static const uc_learner *online_at(size_t i)
{
    for (size_t n = 0; uc_learner_at(n); n++)
        if (uc_learner_is_online(uc_learner_at(n)) && i-- == 0)
            return uc_learner_at(n);
    return NULL;
}

static const char *online_name(size_t i)
{
    return online_at(i) ? uc_learner_name(online_at(i)) : NULL;
}

static const char *online_summary(size_t i)
{
    return app_in_words(uc_learner_summary(online_at(i)));
}

static const uc_option *online_options(size_t i)
{
    return uc_learner_options(online_at(i));
}

static size_t online_settings_size(size_t i)
{
    return uc_learner_settings_size(online_at(i));
}

static uc_status refuse_batch(const char *name)
{
    if (app_family_find(&cli_learners, name) == APP_NO_MEMBER)
        return UC_OK;
    return app_fail(UC_ERR_OPTION,
                    "%s learns from whole data sets, not one example at a time: use unconfuse train %s, or a "
                    "learner that unconfuse help stream lists",
                    name, name);
}

static const app_family online_learners = {
    .word = "learner",
    .name = online_name,
    .summary = online_summary,
    .options = online_options,
    .settings_size = online_settings_size,
    .refuse = refuse_batch,
    .lists = "help stream",
    .advice = "Use spa for labels, onebit for right/wrong feedback",
    .first_choice = "spa",
};

/* ---- options that do not go together ---- */

/* The feedback that the options ask for. */
static uc_feedback feedback_of(const stream_args *args, const uc_learner *learner)
{
    if (args->feedback == FEEDBACK_MIXED)
        return UC_FEEDBACK_MIXED;
    if (args->feedback == FEEDBACK_PARTIAL)
        return UC_FEEDBACK_PARTIAL;
    if (args->feedback == FEEDBACK_AUTO && uc_learner_accepts(learner, UC_FEEDBACK_PARTIAL))
        return UC_FEEDBACK_PARTIAL;
    return UC_FEEDBACK_FULL;
}

static uc_status refuse_feedback(const uc_learner *learner, uc_feedback wanted)
{
    char names[256] = "";
    for (size_t i = 0, length = 0; online_at(i) && length < sizeof names; i++)
        if (uc_learner_accepts(online_at(i), wanted))
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "",
                                       online_name(i));
    if (wanted == UC_FEEDBACK_MIXED)
        return app_fail(UC_ERR_OPTION,
                        "--feedback mixed: %s does not learn from both labels and right or wrong; learners "
                        "that do: %s",
                        uc_learner_name(learner), names);
    if (wanted == UC_FEEDBACK_PARTIAL)
        return app_fail(UC_ERR_OPTION, "--feedback partial: %s needs labels; learners for right or wrong: %s",
                        uc_learner_name(learner), names);
    return app_fail(UC_ERR_OPTION,
                    "--feedback full: %s learns from right or wrong only; learners for labels: %s",
                    uc_learner_name(learner), names);
}

static uc_status check_map(const uc_map_settings *map)
{
    char name[32];
    uc_option_text(uc_options_find(uc_map_options, "map"), map, name, sizeof name);
    if (map->map != UC_MAP_NONE && map->map != UC_MAP_LANDMARKS && map->map != UC_MAP_AUTO)
        return app_fail(UC_ERR_OPTION,
                        "--map %s is learned from a whole data set: in a stream use --map landmarks", name);
    if (map->map != UC_MAP_NONE && map->kernel == UC_KERNEL_GAUSSIAN && isnan(map->width) &&
        isnan(map->gamma))
        return app_fail(UC_ERR_OPTION,
                        "--width auto cross-validates on a whole data set: in a stream give --width W, "
                        "--width median or -g G");
    return UC_OK;
}

/* Refuses options that must read the data more than once, which standard input does not allow. */
static uc_status check_standard_input(const stream *self)
{
    const stream_args *args = self->args;
    const uc_map_settings *map = &args->train.map;
    const char *refused = NULL;
    if (args->passes > 1)
        refused = "--passes above 1";
    else if (args->shuffle)
        refused = "--shuffle";
    if (refused)
        return app_fail(UC_ERR_INVALID, "%s on standard input: it can be read only once; give a file",
                        refused);
    if (args->resume)
        return UC_OK;
    if (self->feedback != UC_FEEDBACK_FULL && !args->classes)
        return app_fail(UC_ERR_INVALID, "--feedback %s on standard input needs --classes a,b,c",
                        self->feedback == UC_FEEDBACK_MIXED ? "mixed" : "partial");
    if (map->map != UC_MAP_NONE && map->kernel == UC_KERNEL_GAUSSIAN && map->width == 0 && isnan(map->gamma))
        return app_fail(UC_ERR_INVALID,
                        "--width median on standard input: it can be read only once; give --width W, "
                        "-g G, or a file");
    return UC_OK;
}

static uc_status check_options(const stream *self)
{
    const stream_args *args = self->args;
    if (!uc_learner_accepts(self->learner, self->feedback))
        return refuse_feedback(self->learner, self->feedback);
    if (self->feedback == UC_FEEDBACK_FULL && (args->flips[0] > 0.0 || args->flips[1] > 0.0))
        return app_fail(UC_ERR_OPTION, "--flip-feedback changes answers of right or wrong, and with "
                                       "--feedback full there are none: use unconfuse noise apply");
    if (self->feedback != UC_FEEDBACK_MIXED && app_given(self->call, "label-share"))
        return app_fail(UC_ERR_OPTION, "--label-share is for --feedback mixed only");
    if (args->expired && self->feedback == UC_FEEDBACK_FULL)
        return app_fail(UC_ERR_OPTION, "--expired wrong is for right/wrong feedback: of a label that does "
                                       "not come nothing is known");
    if (args->expire == 0 && app_given(self->call, "expired"))
        return app_fail(UC_ERR_OPTION, "--expired needs --expire N: without it feedback is waited for ever");
    if (args->resume && args->classes)
        return app_fail(UC_ERR_OPTION, "--classes cannot be given with --resume: the model has its classes");
    if (!args->shuffle && (args->train.map.map == UC_MAP_AUTO || args->train.scale == UC_SCALE_AUTO))
        return app_fail(
            UC_ERR_OPTION,
            "--scale auto and --map auto are chosen by the labels of all rows: with --shuffle, which "
            "reads them all first, or by compare");
    const uc_compare_entry entry = {.learner = self->learner};
    uc_status status = UC_OK;
    if (!args->resume) /* otherwise options are compared with those of the model */
        status = cli_check_map_options(self->call, &args->train.map, &entry, 1);
    if (status == UC_OK)
        status = check_map(&args->train.map);
    return status == UC_OK && cli_reads_once(self->path) ? check_standard_input(self) : status;
}

/* ---- the run ---- */

static uc_status save(stream *self)
{
    const char *path = self->args->output;
    const uc_online *online = uc_session_online(self->session);
    uc_model *model = NULL;
    if (!path)
        return UC_OK;
    if (uc_online_classes(online)->count == 0)
        return app_fail(UC_ERR_INVALID, "no labels were seen, so there is no model to write to %s", path);
    uc_status status = uc_online_model(&model, online, true);
    if (status == UC_OK)
        status = app_check_interrupt();
    if (status == UC_OK)
        status = uc_model_write(model, self->file);
    if (status == UC_OK)
        status = app_finish_call(self->call, true);
    uc_model_free(model);
    return status;
}

static uc_status run_rounds(stream *self)
{
    const stream_args *args = self->args;
    uc_status status;
    if (args->shuffle)
        status = uc_session_run_data(self->session, &self->data, args->passes, true);
    else
        status = uc_session_run_file(self->session, self->path, &args->read, args->passes);
    if (status == UC_OK)
        status = uc_session_finish(self->session);
    return status == UC_OK ? app_check_interrupt() : status;
}

static void release(stream *self)
{
    uc_session_free(self->session);
    uc_model_free(self->baseline);
    uc_online_free(self->resumed);
    uc_dataset_free(&self->data);
    json_decref(self->recalls);
    json_decref(self->falls);
}

static uc_status run(app_call *call)
{
    stream_args *args = call->args;
    const double began = app_seconds();
    if (args->train.map.map == UC_MAP_DEFAULT) /* no online learner has a default map */
        args->train.map.map = UC_MAP_NONE;
    stream self = {.call = call, .args = args, .path = call->words[0]};
    self.learner = online_at(call->member);
    self.context = call->context;
    self.context.progress = app_progress_silent;
    self.feedback = feedback_of(args, self.learner);
    uc_status status = check_options(&self);
    if (status != UC_OK)
        goto cleanup;
    if (args->output && (status = app_begin_file(&self.file, args->output, "-o")) != UC_OK)
        goto cleanup;
    const cli_files input = {.paths = (char **)call->words, .count = 1};
    if ((status = cli_keep_inputs(&input, &args->read)) != UC_OK)
        goto cleanup;
    if (args->shuffle && (status = cli_read_data(&self.data, call, self.path, &args->read)) != UC_OK)
        goto cleanup;
    if (args->shuffle && (status = uc_stream_tune(&args->train, &self.data, &self.context)) != UC_OK)
        goto cleanup;
    if ((status = stream_begin(&self)) != UC_OK)
        goto cleanup;
    app_progress_end();
    if ((status = run_rounds(&self)) != UC_OK)
        goto cleanup;
    stream_show_last(&self);
    if (app_wants_result(call))
        call->result = stream_describe(&self, app_seconds() - began);
    if ((status = save(&self)) != UC_OK)
        goto cleanup;
    stream_warn_unknown(&self);
    FILE *text = app_summary(call, args->output);
    if (text)
        stream_print(&self, text, app_seconds() - began);

cleanup:
    release(&self);
    return status;
}

const app_command command_stream = {
    .name = "stream",
    .usage = "LEARNER [options] DATA [--feedback full|partial|mixed] [-o MODEL]",
    .summary = "learn one example at a time, in constant memory",
    .description =
        "Reads the data in the order of the file, in constant memory: for every example the learner "
        "proposes a class, sees the label (or only whether the proposal was right), and learns. "
        "Every round counts. Standard error shows how many proposals were correct so far, after "
        "rounds 1, 2, 4, 8..., and when their share has fallen (drift). With --resume the learner continues "
        "as if it had never stopped; "
        "the table covers the rounds of this run. With --map landmarks each of the first "
        "--dimension (700) examples becomes a landmark when it arrives.",
    .sections = sections,
    .args_size = sizeof(stream_args),
    .family = &online_learners,
    .least = 2,
    .most = 2,
    .run = run,
};
