/* Queries about a learner, and the settings that all learners share. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "learn/online.h"

#define SPARSE 0.05 /* below this share of values that are not 0, rows count as sparse */

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
    if (feedback == UC_FEEDBACK_FULL)
        return self->full || self->labels_too;
    if (feedback == UC_FEEDBACK_MIXED)
        return self->labels_too;
    return self->partial;
}

bool uc_learner_uses_noise(const uc_learner *self)
{
    return self->uses_noise;
}

bool uc_learner_uses_unlabelled(const uc_learner *self)
{
    return self->unlabelled;
}

bool uc_learner_uses_blas(const uc_learner *self)
{
    return self->blas;
}

bool uc_learner_is_positive_unlabelled(const uc_learner *self)
{
    return self->positive_unlabelled;
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
     .help = "number of passes over the data"},
    {.name = "shuffle",
     .type = UC_OPTION_FLAG,
     .offset = FIELD(shuffle),
     .standard = "on",
     .help = "take the examples in a new order in every pass"},
    {.name = "average",
     .type = UC_OPTION_FLAG,
     .automatic = true,
     .offset = FIELD(average),
     .standard = "auto",
     .help = "use the mean of the weights over all steps as the model (auto: on when labels are given, "
             "except for arow "
             "and scw)"},
    {.name = "scale",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(scale),
     .standard = "none",
     .choices = "none|range|standard|maxabs|numbers|auto",
     .help = "scale columns: to [-1,1], to mean 0 and deviation 1, or divided by their largest absolute "
             "value; numbers: standard, but columns of 0 and 1 stay; auto: chosen by leave-one-out"},
    {.name = "normalize-input",
     .type = UC_OPTION_FLAG,
     .offset = FIELD(normalize_input),
     .standard = "off",
     .help = "scale rows to unit length before the feature map"},
    {.name = "normalize",
     .type = UC_OPTION_FLAG,
     .automatic = true,
     .offset = FIELD(normalize),
     .standard = "auto",
     .help = "scale rows to unit length after the feature map (auto: as suits the learner and the map)"},
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
     .help = "seed of the random numbers; the same seed gives the same model"},
    {.name = NULL},
};

uc_train_settings uc_train_defaults(void)
{
    uc_train_settings settings = {.map = uc_map_defaults()};
    uc_options_defaults(uc_train_options, &settings);
    return settings;
}

uc_status uc_check_feedback(const uc_learner *learner, uc_feedback feedback)
{
    if (uc_learner_accepts(learner, feedback))
        return UC_OK;
    if (feedback == UC_FEEDBACK_FULL)
        return uc_fail(UC_ERR_INVALID, "%s does not learn from labels, only from right or wrong",
                       learner->name);
    if (feedback == UC_FEEDBACK_MIXED && learner->partial)
        return uc_fail(UC_ERR_INVALID, "%s does not learn from labels, only from right or wrong",
                       learner->name);
    return uc_fail(UC_ERR_INVALID, "%s does not learn from right or wrong, only from labels", learner->name);
}

bool uc_learner_has_own_map(const uc_learner *self)
{
    return self->model != NULL || self->maps_itself;
}

bool uc_learner_uses_map_option(const uc_learner *self, const uc_map_settings *map, const char *option)
{
    if (uc_learner_has_own_map(self)) /* an online one still takes the number of landmarks */
        return self->partial && strcmp(option, "dimension") == 0;
    return map->map == UC_MAP_DEFAULT ? self->map != UC_MAP_NONE : map->map != UC_MAP_NONE;
}

uc_status uc_check_own_map(const uc_learner *learner, const uc_map_settings *map)
{
    if (!learner->model || map->map == UC_MAP_NONE || map->map == UC_MAP_DEFAULT)
        return UC_OK;
    return uc_fail(UC_ERR_INVALID, "%s makes a map of its own: leave out {map}", learner->name);
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

/* In the space of a Gaussian kernel every row has length 1. A map onto few landmarks shortens rows that are
 * far from all of them, with a narrow kernel to almost nothing; the offset alone would then decide their
 * class. */
static bool unit_rows_suit(const uc_learner *learner, const uc_map_settings *map)
{
    const bool gaussian = map->map != UC_MAP_NONE && map->map != UC_MAP_AUTO && !map->center &&
                          map->kernel == UC_KERNEL_GAUSSIAN;
    return learner->normalizes || (learner->normalizes_gaussian && gaussian);
}

uc_train_settings uc_train_decide(const uc_learner *learner, const uc_train_settings *train)
{
    uc_train_settings settings = uc_train_defaults();
    if (train)
        settings = *train;
    if (settings.average == UC_AUTO_FLAG)
        settings.average = learner->full && !learner->last;
    if (settings.map.map == UC_MAP_DEFAULT ||
        (settings.map.map == UC_MAP_AUTO && learner->map != UC_MAP_NONE))
        settings.map.map = (int)learner->map;
    if (settings.normalize == UC_AUTO_FLAG)
        settings.normalize = unit_rows_suit(learner, &settings.map);
    if (settings.map.map == UC_MAP_AUTO && settings.scale == UC_SCALE_NONE)
        settings.scale = UC_SCALE_AUTO; /* the view is chosen as a whole */
    if (isnan(settings.bias))
        settings.bias = learner->free_offset;
    return settings;
}

void *uc_learner_settings(const uc_learner *learner, const void *settings)
{
    void *copy = uc_alloc(1, learner->settings_size);
    if (copy && settings)
        memcpy(copy, settings, learner->settings_size);
    else if (copy)
        uc_options_defaults(learner->options, copy);
    return copy;
}

uc_status uc_weigh(uc_weight_sums *out, const uc_fit *fit)
{
    double own[3] = {0.0, 0.0, INFINITY}, *all = NULL; /* sum, squares, smallest */
    const double n = (double)fit->rows;
    const uc_comm *comm = uc_comm_of(fit->context);
    *out = (uc_weight_sums){n, n, n};
    if (!fit->weights)
        return UC_OK;
    for (size_t i = 0; i < fit->data->X.rows; i++) {
        own[0] += fit->weights[i];
        own[1] += fit->weights[i] * fit->weights[i];
        own[2] = fmin(own[2], fit->weights[i]);
    }
    const uc_status status = uc_comm_gather((void **)&all, NULL, comm, own, sizeof own);
    if (status != UC_OK)
        return status;
    double sum = 0.0, squares = 0.0, least = INFINITY;
    for (int r = 0; r < uc_comm_size(comm); r++) {
        sum += all[3 * r];
        squares += all[3 * r + 1];
        least = fmin(least, all[3 * r + 2]);
    }
    uc_free(all);
    *out = (uc_weight_sums){sum, sum * sum / squares, sum / least};
    return UC_OK;
}

/* ---- memory ---- */

uc_shape uc_shape_of(size_t features, double density)
{
    return (uc_shape){features, density > 0.0 && density < SPARSE};
}

double uc_learner_bytes(const uc_learner *learner, const void *settings, bool average, uc_shape shape,
                        size_t classes, double row_bytes, double rounds)
{
    double planes = 1.0 + average, start;
    for (size_t p = 0; p < UC_PLANES - UC_OWN && learner->plane; p++)
        planes += learner->plane(&start, settings, p, shape);
    double bytes = planes * 8.0 * ((double)shape.features + 1.0) * (double)uc_class_stride(classes);
    if (learner->memory_bytes)
        bytes += learner->memory_bytes(settings, shape, classes, row_bytes, rounds);
    return bytes;
}
