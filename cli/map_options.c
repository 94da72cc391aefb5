/* Checks options of feature maps for those that have no effect or contradict each other. */
#include <math.h>
#include <string.h>

#include "cli.h"

static bool is_used(const char *option, const uc_map_settings *map, const uc_compare_entry *learners,
                    size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (uc_learner_uses_map_option(learners[i].learner, map, option))
            return true;
    return false;
}

/* Users of LIBSVM expect that -g alone makes a kernel machine. */
static void warn_unused(const char *option, const app_call *call, const uc_compare_entry *learners,
                        size_t count)
{
    const char *name = count == 1 ? uc_learner_name(learners[0].learner) : NULL;
    const bool stream = strcmp(call->command->name, "stream") == 0;
    const char *map = stream || strcmp(call->command->name, "compare") == 0 ? "landmarks" : "nystroem";
    if (name && uc_learner_has_own_map(learners[0].learner))
        app_warn("--%s has no effect: %s chooses its features itself", option, name);
    else
        app_warn("--%s has no effect without --map: %s on the columns as they are; --map %s, for one, maps "
                 "them to "
                 "features of a kernel",
                 option, name ? "the model is linear" : "models are linear", map);
}

uc_status cli_check_map_options(const app_call *call, const uc_map_settings *map,
                                const uc_compare_entry *learners, size_t count)
{
    const bool both = app_given(call, "width") && app_given(call, "gamma");
    if (both && !isnan(map->width) && !isnan(map->gamma)) /* neither is auto */
        return app_fail(UC_ERR_OPTION, "give only one of --width and --gamma, which is 1/width");
    for (const uc_option *option = uc_map_options; option->name; option++)
        if (strcmp(option->name, "map") != 0 && app_given(call, option->name) &&
            !is_used(option->name, map, learners, count))
            warn_unused(option->name, call, learners, count);
    return UC_OK;
}
