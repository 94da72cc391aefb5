/* unconfuse replay: estimates from logged events what another learner would have earned. */
#include <math.h>
#include <stdlib.h>

#include "commands.h"
#include "learner_list.h"
#include "service/service.h"

enum { ESTIMATOR_AUTO, ESTIMATOR_REPLAY, ESTIMATOR_IPS, ESTIMATOR_SNIPS, ESTIMATOR_DR };

#define SMALL_SAMPLE 100.0 /* effective events */

typedef struct replay_args {
    uc_train_settings train;
    const char *model, *learner, *classes;
    int estimator;
} replay_args;

static const uc_option options[] = {
    {.name = "model",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(replay_args, model),
     .argument = "NAME",
     .help = "the model of a directory of unconfuse serve"},
    {.name = "learner",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(replay_args, learner),
     .argument = "LEARNER",
     .help = "the learner to judge, with options of its own if any, as in cspa-plus:bonus=0.5 (onebit)"},
    {.name = "classes",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(replay_args, classes),
     .argument = "a,b,c",
     .help = "the classes it may propose (those that were proposed in the log)"},
    {.name = "estimator",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(replay_args, estimator),
     .standard = "auto",
     .choices = "auto|replay|ips|snips|dr",
     .help = "replay: events where both agree; ips: these, weighted by 1/probability; snips: ips by its "
             "weights; dr: "
             "doubly robust; auto: dr"},
    {0},
};

static const app_section sections[] = {
    {"Options", options, 0}, {"Training options", uc_train_options, offsetof(replay_args, train)}, {0}};

static const char *const names[] = {"auto", "replay", "ips", "snips", "dr"};

/* Whether the log has no exploration; then only the replay estimator is meaningful. */
static bool never_explored(const service_replayed *found)
{
    return found->least_probability == 1.0;
}

static json_t *value_json(service_value value)
{
    return json_pack("{so so so}", "estimate", app_json_real(value.estimate), "low", app_json_real(value.low),
                     "high", app_json_real(value.high));
}

static service_value chosen_value(const service_replayed *found, int estimator)
{
    switch (estimator) {
    case ESTIMATOR_REPLAY:
        return found->replay;
    case ESTIMATOR_IPS:
        return found->ips;
    case ESTIMATOR_SNIPS:
        return found->snips;
    default:
        return found->dr;
    }
}

static json_t *describe(const service_replayed *found, const char *learner, int estimator)
{
    const service_value none = {(double)NAN, (double)NAN, (double)NAN};
    const bool all = !never_explored(found);
    const service_value ips = all ? found->ips : none, snips = all ? found->snips : none;
    const service_value dr = all ? found->dr : none;
    return json_pack(
        "{ss ss sI sI sI so so so so so so so so}", "learner", learner, "estimator", names[estimator],
        "events", (json_int_t)found->events, "unanswered", (json_int_t)found->unanswered, "agreed",
        (json_int_t)found->agreed, "logged_ratio_correct", app_json_real(found->logged), "effective_events",
        app_json_real(found->effective), "least_probability", app_json_real(found->least_probability),
        "ratio_correct", value_json(chosen_value(found, estimator)), "replay", value_json(found->replay),
        "ips", value_json(ips), "snips", value_json(snips), "dr", value_json(dr));
}

static void print(FILE *file, const service_replayed *found, const char *learner, int estimator)
{
    const service_value values[] = {found->replay, found->ips, found->snips, found->dr};
    fprintf(file, "%llu answered events, %llu without an answer; the log was right in %.4f of them\n",
            (unsigned long long)found->events, (unsigned long long)found->unanswered, found->logged);
    fprintf(file, "%s agrees with the log in %llu; effective sample size %.0f\n", learner,
            (unsigned long long)found->agreed, found->effective);
    fprintf(file, "\nestimator   ratio correct   95%% interval\n");
    const int last = never_explored(found) ? ESTIMATOR_REPLAY : ESTIMATOR_DR;
    for (int i = ESTIMATOR_REPLAY; i <= last; i++)
        fprintf(file, "%-9s %15.4f   %.4f to %.4f%s\n", names[i], values[i - 1].estimate, values[i - 1].low,
                values[i - 1].high, i == estimator ? "   <- chosen" : "");
}

/* Refuses what the log cannot answer, and warns about what it answers badly. */
static uc_status check(const service_replayed *found, int estimator)
{
    if (found->events == 0)
        return app_fail(UC_ERR_INVALID, "the log has no event with an answer");
    if (never_explored(found) && estimator != ESTIMATOR_REPLAY)
        return app_fail(
            UC_ERR_INVALID,
            "every probability in the log is 1: it never explored, so it cannot tell what other "
            "proposals would have earned; let the service explore (PUT with \"explore\": 0.05) and come "
            "back, or use --estimator replay, which judges the events where both agree");
    if (found->agreed == 0)
        return app_fail(UC_ERR_INVALID,
                        "the learner and the log agree in no event: nothing can be estimated");
    if (found->effective < SMALL_SAMPLE)
        app_warn("the effective sample size is %.0f, which is few: intervals may be too short; log more "
                 "events or explore more",
                 found->effective);
    if (estimator == ESTIMATOR_REPLAY)
        app_warn(
            "replay is of the events where both agree: it is the learner's ratio only if the logged classes "
            "were drawn uniformly");
    return UC_OK;
}

static uc_status run(app_call *call)
{
    const replay_args *args = call->args;
    const char *name = args->learner ? args->learner : "onebit";
    learner_list learner = {.option = "--learner", .online = true};
    uc_names classes = {0};
    service_replayed found = {0};
    const int estimator = args->estimator == ESTIMATOR_AUTO ? ESTIMATOR_DR : args->estimator;
    uc_status status = cli_parse_learners(&learner, name);
    if (status == UC_OK && learner.count > 1)
        status = app_fail(UC_ERR_OPTION, "--learner %s: expected one learner", name);
    if (status == UC_OK && args->classes)
        status = cli_split_names(&classes, args->classes, "classes");
    if (status != UC_OK)
        goto cleanup;
    const service_replay asked = {.paths = call->words,
                                  .count = call->word_count,
                                  .model = args->model,
                                  .classes = args->classes ? &classes : NULL,
                                  .learner = learner.items[0].learner,
                                  .learner_settings = learner.items[0].settings,
                                  .train = &args->train};
    status = service_replay_run(&found, &asked);
    if (status == UC_OK)
        status = check(&found, estimator);
    if (status == UC_OK && app_wants_result(call))
        call->result = describe(&found, name, estimator);
    FILE *text = status == UC_OK ? app_findings(call, NULL) : NULL;
    if (text)
        print(text, &found, name, estimator);

cleanup:
    uc_names_free(&classes);
    cli_free_learners(&learner);
    return status;
}

const app_command command_replay = {
    .name = "replay",
    .usage = "DIR|LOG... [--model NAME] [--learner LEARNER] [--estimator auto|replay|ips|snips|dr]",
    .summary = "estimate from logged events what another learner would earn",
    .description = "Goes through logged events in their order. The learner proposes, and then learns from "
                   "what was proposed "
                   "then and whether it was right. How often its own proposals would have been right is "
                   "estimated with the "
                   "probabilities in the log. A log is a directory of unconfuse serve, a DSJSON file, or a "
                   "CSV file with the "
                   "columns id, features, class, probability, right, as unconfuse journal writes it.",
    .sections = sections,
    .args_size = sizeof(replay_args),
    .least = 1,
    .most = 100,
    .run = run,
};
