/* unconfuse learners: lists the learners, or the options of one. */
#include <string.h>

#include "commands.h"

static const app_section sections[] = {{0}};

static const char *name(size_t i)
{
    return cli_learners.name(i);
}

static const char *feedback_of(const uc_learner *learner)
{
    const bool full = uc_learner_accepts(learner, UC_FEEDBACK_FULL);
    const bool partial = uc_learner_accepts(learner, UC_FEEDBACK_PARTIAL);
    if (uc_learner_uses_noise(learner))
        return "labels and noise";
    if (full && partial)
        return "both";
    return partial ? "right/wrong" : "labels";
}

static json_t *describe(const uc_learner *learner)
{
    json_t *summary = json_string(app_in_words(uc_learner_summary(learner)));
    return json_pack("{ss ss so ss so}", "name", uc_learner_name(learner), "feedback", feedback_of(learner),
                     "summary", summary, "paper", uc_learner_paper(learner), "options",
                     app_json_table(uc_learner_options(learner)));
}

static void print_all(void)
{
    app_grid table = {.align = "l", .columns = 3};
    app_cell(&table, "learner");
    app_cell(&table, "feedback");
    app_cell(&table, "summary");
    for (size_t i = 0; uc_learner_at(i); i++) {
        app_cell(&table, "%s", uc_learner_name(uc_learner_at(i)));
        app_cell(&table, "%s", feedback_of(uc_learner_at(i)));
        app_cell(&table, "%s", app_in_words(uc_learner_summary(uc_learner_at(i))));
    }
    app_grid_print(&table, stdout);
}

static json_t *describe_all(void)
{
    json_t *all = json_array();
    for (size_t i = 0; uc_learner_at(i); i++)
        json_array_append_new(all, describe(uc_learner_at(i)));
    return json_pack("{so}", "learners", all);
}

static void print_one(const uc_learner *learner)
{
    printf("%s: %s\nlearns from: %s\npaper: %s\n", uc_learner_name(learner),
           app_in_words(uc_learner_summary(learner)), feedback_of(learner), uc_learner_paper(learner));
    if (uc_learner_options(learner)->name)
        printf("\nOptions, besides those of unconfuse help train:\n");
    app_print_options(stdout, uc_learner_options(learner));
}

static uc_status run(app_call *call)
{
    const uc_learner *learner = call->word_count ? uc_learner_find(call->words[0]) : NULL;
    if (call->word_count && !learner)
        return app_refuse_member(&cli_learners, call->words[0]);
    if (call->common.json && learner)
        call->result = describe(learner);
    else if (call->common.json)
        call->result = describe_all();
    else if (learner)
        print_one(learner);
    else
        print_all();
    return UC_OK;
}

const app_command command_learners = {
    .name = "learners",
    .usage = "[NAME]",
    .summary = "list the learners, or the options of one",
    .description = "Lists the learners with the kind of labels that each learns from, or shows the options "
                   "of one with their defaults and bounds, and the paper that it comes from.",
    .sections = sections,
    .word = name,
    .most = 1,
    .run = run,
};
