/* unconfuse-papers: repeats the experiments of the papers, and shows the published figures next to ours. */
#include "experiment.h"

static const app_command *const commands[] = {&command_list, &command_run, &command_fetch, &app_command_help,
                                              NULL};

static const app_example examples[] = {
    {"A smaller version of one figure, in less than a minute:",
     "unconfuse-papers run uma.figure1a --quick\n"},
    {"The experiments of a paper on two data sets, with files and figures:",
     "unconfuse-papers run cspa --only usps,pendigits --out results\n"},
    {NULL, NULL},
};

static const app_item environment[] = {
    {"UNCONFUSE_DATA", "the directory of the data, unless --data names another"},
    {"UNCONFUSE_CPU",
     "baseline, avx2, avx512 or best: the CPU level of the hot loops, for the same numbers on "
     "different machines"},
    {NULL, NULL},
};

static app_item experiment_at(size_t i)
{
    if (!experiments[i])
        return (app_item){NULL, NULL};
    return (app_item){experiments[i]->name, experiments[i]->what};
}

const app_program app_this_program = {
    .name = "unconfuse-papers",
    .title = "the experiments of the papers behind unconfuse",
    .manual_name = "run the experiments of the papers behind unconfuse again",
    .manual_date = "2026-11-17",
    .manual = "Tables on standard output have the mean over the runs, the deviation, and the published "
              "figure where the "
              "paper gives one.\n"
              "An experiment whose data are missing says so and is skipped.\n"
              "Failures are listed at the end, one per line; everything else is run and kept.\n",
    .overview = "unconfuse-papers help COMMAND explains a command and its options.",
    .commands = commands,
    .examples = examples,
    .list = experiment_at,
    .list_title = "EXPERIMENTS",
    .exit_statuses =
        "0: success. 1: something failed, or nothing was run because no data are there. 2: wrong "
        "usage. 130 or 143: interrupted by Ctrl-C or SIGTERM.",
    .environment = environment,
    .see_also = "\\fBunconfuse\\fR(1)",
};

int main(int argc, char **argv)
{
    return app_main(argc, argv);
}
