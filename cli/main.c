/* unconfuse: learns classifiers from labels that cannot be trusted. */
#include "commands.h"

static const app_command *const commands[] = {
    &command_train,       &command_audit,          &command_predict,
    &command_evaluate,    &command_check,          &command_stream,
    &command_compare,     &command_experiment,     &command_serve,
    &command_journal,     &command_replay,         &command_noise_make,
    &command_noise_apply, &command_noise_estimate, &command_split,
    &command_generate,    &command_convert,        &command_inspect,
    &command_learners,    &app_command_help,       NULL,
};

static const app_family *const families[] = {&cli_learners, &cli_generators, NULL};

/* From a noisy file to a model and the labels to check. A test runs the commands as printed. */
static const app_example examples[] = {
    {"A noisy file to begin with, or bring your own:",
     "unconfuse generate cspa-gaussians --test test.svm -o clean.svm\n"
     "unconfuse noise make random --classes 4 --level 5 -o true-noise.csv\n"
     "unconfuse noise apply clean.svm --noise-matrix true-noise.csv -o noisy.svm\n"},
    {"Which of its labels are wrong, and how many:", "unconfuse audit noisy.svm -o suspects.csv\n"},
    {"A model that does not believe them, and its error on clean test data:",
     "unconfuse train noisy.svm -o model.uc\n"
     "unconfuse evaluate model.uc test.svm\n"},
    {"How labels are confused, estimated from them alone, and a learner that is told:",
     "unconfuse noise estimate noisy.svm --method self -o noise.csv\n"
     "unconfuse train logistic --noise-matrix noise.csv noisy.svm -o model.uc\n"},
    {NULL, NULL},
};

static const app_item environment[] = {
    {"UNCONFUSE_CPU", "baseline, avx2, avx512 or best: the CPU level of the hot loops, for the same bytes on "
                      "different machines."},
    {NULL, NULL},
};

static const app_habit commands_elsewhere[] = {{"cv", "train -v K"},
                                               {"crossval", "train -v K"},
                                               {"cross-validate", "train -v K"},
                                               {"fit", "train"},
                                               {"learn", "train"},
                                               {"test", "evaluate"},
                                               {"score", "evaluate"},
                                               {"classify", "predict"},

                                               {"find-label-issues", "audit"},
                                               {NULL, NULL}};
static const app_habit options_elsewhere[] = {{"target", "label"},        {"label-column", "label"},
                                              {"delimiter", "separator"}, {"sep", "separator"},
                                              {"random-state", "seed"},   {"n-jobs", "threads"},
                                              {"out", "output"},          {"cv", "folds"},
                                              {"ignore-columns", "drop"}, {NULL, NULL}};

const app_program app_this_program = {
    .commands_elsewhere = commands_elsewhere,
    .options_elsewhere = options_elsewhere,
    .name = "unconfuse",
    .title = "classifiers from labels that cannot be trusted",
    .manual_name = "learn classifiers from labels that cannot be trusted",
    .manual_date = "2026-11-16",
    .manual =
        "Labels may be confused by a known or estimated matrix, flipped at random, or missing for most "
        "examples.\n"
        "\\fBunconfuse\\fR trains classifiers on such data, also on streams that do not fit in memory,\n"
        "estimates how the labels are confused, measures how good a model is, and lists the labels that are "
        "probably wrong.\n"
        ".PP\nWhere a file is asked for, \\- is standard input or output.\n"
        "Data are LIBSVM text, CSV or TSV, NPY or the binary format .ucd, recognised from their content; .gz "
        "and .zst are unpacked.\n",
    .overview = "unconfuse help COMMAND explains a command. A file named - is standard input or output.",
    .commands = commands,
    .families = families,
    .examples = examples,
    .exit_statuses =
        "0: success. 1: failure, such as bad data or options that do not fit the data. 2: wrong usage, such "
        "as an unknown option or a value outside its bounds. 130 or 143: interrupted by Ctrl-C or SIGTERM.",
    .environment = environment,
};

int main(int argc, char **argv)
{
    return app_main(argc, argv);
}
