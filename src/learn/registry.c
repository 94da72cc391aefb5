/* The one table that lists the learners. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "learn/learner.h"

static const uc_learner *const learners[] = {
    &uc_learner_perceptron, &uc_learner_pa,        &uc_learner_spa,  &uc_learner_copa,       &uc_learner_cspa,
    &uc_learner_cspa_plus,  &uc_learner_banditron, &uc_learner_bpa,  &uc_learner_confidit,   &uc_learner_uma,
    &uc_learner_logistic,   &uc_learner_rp,        &uc_learner_csvm, &uc_learner_sloppy_svm, &uc_learner_s3vm,
};

#define LEARNERS (sizeof learners / sizeof *learners)

const uc_learner *uc_learner_at(size_t i)
{
    return i < LEARNERS ? learners[i] : NULL;
}

const uc_learner *uc_learner_find(const char *name)
{
    char list[512] = "";
    for (size_t i = 0; i < LEARNERS; i++) {
        if (strcmp(learners[i]->name, name) == 0)
            return learners[i];
        const size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", learners[i]->name);
    }
    uc_fail(UC_ERR_OPTION, "there is no learner '%s'; the learners are %s", name, list);
    return NULL;
}

const char *uc_learner_name(const uc_learner *self)
{
    return self->name;
}

const char *uc_learner_summary(const uc_learner *self)
{
    return self->summary;
}

const char *uc_learner_paper(const uc_learner *self)
{
    return self->paper;
}

const uc_option *uc_learner_options(const uc_learner *self)
{
    return self->options;
}

size_t uc_learner_settings_size(const uc_learner *self)
{
    return self->settings_size;
}

bool uc_learner_is_online(const uc_learner *self)
{
    return self->step || self->learn;
}

bool uc_learner_accepts(const uc_learner *self, uc_feedback feedback)
{
    return feedback == UC_FEEDBACK_FULL ? self->full : self->partial;
}

bool uc_learner_uses_noise(const uc_learner *self)
{
    return self->uses_noise;
}

bool uc_learner_uses_unlabelled(const uc_learner *self)
{
    return self->unlabelled;
}

bool uc_learner_has_probabilities(const uc_learner *self)
{
    return self->probabilities;
}

bool uc_learner_uses_rates(const uc_learner *self)
{
    return self->uses_rates;
}

const char *uc_learner_grid(const double **values, size_t *count, const uc_learner *self, size_t i)
{
    const uc_candidates *list = self->grid;
    for (; list && list->option; list++, i--)
        if (i == 0) {
            *values = list->values;
            *count = list->count;
            return list->option;
        }
    return NULL;
}

/* ---- settings that every learner shares ---- */

#define FIELD(name) offsetof(uc_train_settings, name)

const uc_option uc_train_options[] = {
    {.name = "passes",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(passes),
     .standard = "5",
     .low = 1,
     .high = 1e9,
     .help = "passes over the data"},
    {.name = "shuffle",
     .type = UC_OPTION_FLAG,
     .offset = FIELD(shuffle),
     .standard = "on",
     .help = "a new order of the examples in every pass"},
    {.name = "average",
     .type = UC_OPTION_FLAG,
     .automatic = true,
     .offset = FIELD(average),
     .standard = "auto",
     .help = "the model is the mean of all iterates (auto: on when labels are given)"},
    {.name = "scale",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(scale),
     .standard = "none",
     .choices = "none|range|standard|maxabs",
     .help = "columns to [-1,1], to mean 0 and deviation 1, or by their largest absolute value"},
    {.name = "normalize-input",
     .type = UC_OPTION_FLAG,
     .offset = FIELD(normalize_input),
     .standard = "off",
     .help = "rows to unit length before the map"},
    {.name = "normalize",
     .type = UC_OPTION_FLAG,
     .automatic = true,
     .offset = FIELD(normalize),
     .standard = "auto",
     .help = "scale rows to unit length after the feature map (auto: as suits the learner)"},
    {.name = "bias",
     .type = UC_OPTION_REAL,
     .automatic = true,
     .offset = FIELD(bias),
     .standard = "auto",
     .low = -1e6,
     .high = 1e6,
     .argument = "B",
     .help = "add a constant feature B; 0: none (auto: as suits the learner)"},
    {.name = "seed",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(seed),
     .standard = "1",
     .low = 0,
     .high = 0x1p53,
     .help = "random numbers: same seed, same model"},
    {.name = NULL},
};

uc_train_settings uc_train_defaults(void)
{
    uc_train_settings settings = {.map = uc_map_defaults()};
    uc_options_defaults(uc_train_options, &settings);
    return settings;
}

uc_status uc_check_class_weights(const uc_learner *learner, const uc_train_settings *train,
                                 const uc_names *classes)
{
    if (!train->class_weights)
        return UC_OK;
    if (learner->class_weight == UC_NO_CLASS_WEIGHT)
        return uc_fail(UC_ERR_INVALID, "%s has no class weights", learner->name);
    for (size_t k = 0; k < classes->count; k++)
        if (!(train->class_weights[k] > 0.0 && isfinite(train->class_weights[k])))
            return uc_fail(UC_ERR_INVALID, "the weight of class '%s', %g, is not a number above 0",
                           classes->text[k], train->class_weights[k]);
    return UC_OK;
}

uc_train_settings uc_train_decide(const uc_learner *learner, const uc_train_settings *train)
{
    uc_train_settings settings = train ? *train : uc_train_defaults();
    if (settings.average == UC_AUTO_FLAG)
        settings.average = learner->full;
    if (settings.normalize == UC_AUTO_FLAG)
        settings.normalize = learner->normalizes;
    if (settings.map.map == UC_MAP_AUTO)
        settings.map.map = (int)learner->map;
    if (isnan(settings.bias))
        settings.bias = learner->free_offset ? 1.0 : 0.0;
    return settings;
}
