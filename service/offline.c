/* unconfuse replay: evaluates another learner on logged events. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"
#include "app/message.h"
#include "service/estimate.h"
#include "service/log_events.h"
#include "service/service.h"

typedef struct offline {
    const service_replay *asked;
    uc_names classes;
    uc_online *online;
    const uc_learner *learner;
    dictionary names;
    estimate *sums;
    problem *why;
    bool failed;
} offline;

/* ---- the first pass ---- */

static bool see_class(const logged *event, void *user)
{
    offline *self = user;
    uint32_t index;
    if (uc_names_add(&index, &self->classes, event->class, strlen(event->class)) == UC_OK)
        return true;
    self->failed = !problem_set(self->why, 503, "not enough memory for the classes");
    return false;
}

/* ---- the second pass ---- */

/* The learner learns from the class that was proposed in the log. */
static bool learn(offline *self, const encoded *line, const uc_proposal *now, uint32_t logged_class,
                  const logged *event)
{
    uc_proposal then = {.label = logged_class,
                        .probability = event->probability,
                        .favourite = now->favourite,
                        .ticket = now->ticket};
    uc_answer answer;
    if (!uc_policy_answer(&answer, self->online, &then, event->right, UC_NONE))
        return true;
    const uc_status status = uc_online_learn(self->online, &line->row, &then, answer);
    return status == UC_OK || problem_of_library(self->why, status);
}

static bool meet(const logged *event, void *user)
{
    offline *self = user;
    encoded line;
    uc_proposal now;
    const uint32_t class = uc_names_find_label(&self->classes, event->class, strlen(event->class));
    bool done = class != UC_NONE ||
                problem_set(self->why, 400, "class '%.80s' of the log is not among --classes", event->class);
    if (!done || !dictionary_encode(&line, &self->names, &event->given, self->why)) {
        self->failed = true;
        return false;
    }
    const uc_status status = uc_online_propose(&now, self->online, &line.row);
    if (status != UC_OK)
        done = problem_of_library(self->why, status);
    if (done) {
        estimate_add(self->sums, class, event->probability, event->right, now.label);
        done = learn(self, &line, &now, class, event);
    }
    encoded_free(&line);
    self->failed = !done;
    return done;
}

/* ---- the whole replay ---- */

static bool begin(offline *self)
{
    const service_replay *asked = self->asked;
    uc_train_settings train = *asked->train;
    if (train.map.map == UC_MAP_DEFAULT)
        train.map.map = UC_MAP_NONE;
    self->learner = asked->learner;
    const uc_status status =
        uc_online_begin(&self->online, asked->learner, asked->learner_settings, &train, &self->classes, NULL);
    self->sums = estimate_create(self->classes.count);
    return status == UC_OK || problem_of_library(self->why, status);
}

static bool read_all(offline *self, logged_fn *visit, uint64_t *unanswered)
{
    *unanswered = 0;
    for (size_t i = 0; i < self->asked->count; i++) {
        const log_source from = {
            .path = self->asked->paths[i], .model = self->asked->model, .option = "--model"};
        uint64_t more;
        if (!log_events(&from, visit, self, &more, self->why) || self->failed)
            return false;
        *unanswered += more;
    }
    return true;
}

static service_value value_of(interval given)
{
    return (service_value){given.estimate, given.low, given.high};
}

uc_status service_replay_run(service_replayed *out, const service_replay *asked)
{
    problem why = {0};
    offline self = {.asked = asked, .why = &why};
    bool done = true;
    if (asked->classes)
        done = uc_names_copy(&self.classes, asked->classes) == UC_OK;
    else {
        done = read_all(&self, see_class, &out->unanswered);
        if (done && uc_names_sort(&self.classes, NULL) != UC_OK)
            done = false;
    }
    if (done && self.classes.count == 0)
        done = problem_set(&why, 400, "the log has no event with an answer");
    if (done && self.classes.count == 1)
        done =
            problem_set(&why, 400, "the log has answered proposals of one class only, where two are needed");
    done = done && begin(&self) && read_all(&self, meet, &out->unanswered);
    if (done) {
        const estimates found = estimate_all(self.sums);
        out->events = found.events;
        out->agreed = found.agreed;
        out->logged = found.logged;
        out->effective = found.effective;
        out->least_probability = found.least_probability;
        out->replay = value_of(found.replay);
        out->ips = value_of(found.ips);
        out->snips = value_of(found.snips);
        out->dr = value_of(found.dr);
    }
    estimate_free(self.sums);
    uc_online_free(self.online);
    dictionary_free(&self.names);
    uc_names_free(&self.classes);
    if (!done)
        return app_fail(UC_ERR_INVALID, "%s", why.status ? why.detail : "not enough memory");
    return UC_OK;
}
