/*
 * Learners that `auto` tries next to its own fit.
 *
 * The candidates of `auto` are different views of the rows, and one criterion compares them (view.c). A
 * learner with another model of how labels arise cannot be compared by how well it predicts labels, since one
 * that predicts wrong labels well has learned them. If wrong labels depend on the rows, this is what `auto`
 * does: it takes them for overlap of the classes. A rival is believed if
 *
 *   - its own guard says that its model of the labels holds (`stands`, learn/learner.h),
 *   - it calls at least MORE_WRONG more of the labels wrong than `auto`'s fit does, and BEYOND more than any
 *     noise that is likely by that fit (the interval of its clean error), and
 *   - its held-out predictions miss at most AS_GOOD more of the labels than those of `auto`.
 *
 * The second condition cannot hold if `auto` leaves little error unexplained; then no rival is trained. A
 * rival with a cheap estimate of its outcome (`may_stand`) is trained only if that comes within SLACK of all
 * conditions. To add a rival, write the hook; nothing else is needed.
 */
#include "select/rivals.h"

#include <string.h>

#include "parallel/parallel.h"
#include "select/view.h"
#include "train/train.h"

#define MOST_ROWS 20000.0 /* beyond it, rivals take too long: they hold all rows in several views */
#define LEAST_ROWS 100.0  /* with fewer rows, intervals are too wide to exclude anything */
#define MORE_WRONG 0.15
#define BEYOND 0.05
#define AS_GOOD 0.04
#define SLACK 0.05

/* Whether the learner may choose the view of the rows, and no option is set that only `auto` understands. */
static bool allowed(const uc_auto_settings *settings, const uc_train_settings *train, const uc_dataset *data)
{
    const bool scale = train->scale == UC_SCALE_NONE || train->scale == UC_SCALE_AUTO;
    const bool map = train->map.map == UC_MAP_DEFAULT || train->map.map == UC_MAP_AUTO;
    const bool unit_rows = train->normalize_input || train->normalize == 1;
    const bool classes = settings->class_weight != UC_CLASS_WEIGHT_NONE || train->class_weights;
    return settings->effort != UC_EFFORT_FAST && scale && map && train->map.dimension == UC_AUTO_COUNT &&
           !unit_rows && !classes && !data->soft;
}

uc_status uc_rivals_may_be(bool *out, const uc_learner *learner, const void *settings,
                           const uc_train_settings *train, const uc_dataset *data, const uc_context *context)
{
    uc_share share = {0};
    *out = false;
    if (learner != &uc_learner_auto || !allowed(settings, train, data))
        return UC_OK;
    const uc_status status = uc_share_of(&share, context, data->X.rows);
    *out = status == UC_OK && (double)share.total >= LEAST_ROWS && (double)share.total <= MOST_ROWS;
    return status;
}

/* What a fit says about the labels. */
typedef struct verdict {
    double wrong; /* the share of wrong labels, by the likeliest noise */
    double most;  /* the largest share that the interval of the clean error allows */
    double error; /* of held-out predictions, against the labels */
} verdict;

static verdict verdict_of(const uc_model *model)
{
    const json_t *error = json_object_get(model->summary, "clean_error");
    const double noisy = json_number_value(json_object_get(error, "noisy"));
    return (verdict){json_number_value(json_object_get(model->summary, "likeliest_wrong_labels")),
                     noisy - json_number_value(json_object_get(error, "low")), noisy};
}

/* Whether to believe what the rival says about the labels, if its numbers may be off by `slack`. */
static bool believed(const uc_rival *rival, const verdict *own, double slack)
{
    return rival->wrong + slack >= own->wrong + MORE_WRONG && rival->wrong + slack >= own->most + BEYOND &&
           rival->error <= own->error + AS_GOOD + slack;
}

/* Decides whether the rival may turn out to be believed; if so, `settings` are those to train it with. */
static uc_status consider(uc_rival *out, void *settings, const uc_learner *learner, const verdict *own,
                          uint64_t seed, const uc_dataset *data, const uc_context *context)
{
    uc_prospect found = {.may_stand = true};
    *out = (uc_rival){.learner = learner, .stands = true};
    if (!learner->may_stand)
        return UC_OK;
    const uc_status status = learner->may_stand(&found, settings, data, seed, context);
    out->criterion = found.criterion;
    out->wrong = found.wrong;
    out->error = found.error;
    out->stands = found.may_stand && believed(out, own, SLACK);
    return status;
}

static uc_status train_rival(uc_rivals *self, const uc_learner *learner, const verdict *own,
                             const uc_train_settings *train, uc_dataset *data, const uc_context *context)
{
    uc_train_settings kept = *train; /* the rows are needed again */
    uc_rival *rival = &self->tried[self->count];
    uc_model *model = NULL;
    void *settings = uc_learner_settings(learner, NULL);
    uc_status status = uc_comm_agree(uc_comm_of(context), settings ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK)
        status = consider(rival, settings, learner, own, train->seed, data, context);
    self->count++;
    if (status != UC_OK || !rival->stands)
        goto cleanup;
    kept.overwrite = 0;
    kept.scale = UC_SCALE_NONE;
    kept.relevance = 0;
    kept.map.map = UC_MAP_DEFAULT;
    status = uc_train(&model, learner, settings, &kept, data, context);
    if (status != UC_OK)
        goto cleanup;
    const verdict found = verdict_of(model);
    *rival = (uc_rival){.learner = learner, .wrong = found.wrong, .error = found.error};
    rival->stands = learner->stands(&rival->criterion, model) && believed(rival, own, 0.0);
    if (rival->stands && !self->best)
        self->best = model;
    else
        uc_model_free(model);

cleanup:
    uc_free(settings);
    return status;
}

uc_status uc_rivals_train(uc_rivals *out, const uc_model *model, const uc_train_settings *train,
                          uc_dataset *data, const uc_context *context)
{
    const verdict own = verdict_of(model);
    uc_rivals self = {0};
    uc_status status = UC_OK;
    if (own.error - own.wrong < MORE_WRONG - AS_GOOD)
        return UC_OK;
    for (size_t i = 0; uc_learner_at(i) && self.count < UC_MOST_RIVALS && status == UC_OK; i++)
        if (uc_learner_at(i)->stands)
            status = train_rival(&self, uc_learner_at(i), &own, train, data, context);
    if (status == UC_OK)
        *out = self;
    else
        uc_rivals_free(&self);
    return status;
}

uc_model *uc_rivals_take(uc_rivals *self)
{
    uc_model *model = self->best;
    self->best = NULL;
    return model;
}

void uc_rivals_free(uc_rivals *self)
{
    uc_model_free(self->best);
    *self = (uc_rivals){0};
}

/* Adds the learner that made the model to its member "chosen". */
static uc_status write_chosen(uc_model *model)
{
    json_t *chosen = json_object_get(model->summary, "chosen");
    if (!chosen)
        return uc_json_set(model->summary, "chosen", json_pack("{s:s}", "learner", model->learner));
    return uc_json_set(chosen, "learner", json_string(model->learner));
}

uc_status uc_rivals_write(uc_model *model, const uc_rivals *self)
{
    json_t *list = json_object_get(model->summary, "candidates");
    for (size_t i = 0; i < self->count; i++) {
        const uc_rival *rival = &self->tried[i];
        json_t *entry = json_pack("{s:s, s:{}, s:f, s:f, s:f, s:b}", "learner", rival->learner->name,
                                  "options", "criterion", rival->criterion, "error", rival->error,
                                  "wrong_labels", rival->wrong, "stands", (int)rival->stands);
        if (!entry || json_array_append_new(list, entry) != 0)
            return uc_fail(UC_ERR_NOMEM, "not enough memory for the summary of the model");
        if (!rival->stands || strcmp(model->learner, rival->learner->name) != 0)
            continue;
        const uc_status status = write_chosen(model);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}
