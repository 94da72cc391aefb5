/* Estimates the memory that learning one example at a time will need, before it is allocated. */
#include <math.h>

#include "parallel/parallel.h"
#include "train/online.h"

/* Preprocessed rows. */
typedef struct prepared_rows {
    size_t features;
    double density, bytes;
    double landmarks; /* of a map: the bytes of its landmarks */
} prepared_rows;

static prepared_rows rows_of(const uc_map_settings *map, const uc_online_ahead *ahead)
{
    if (map->map == UC_MAP_NONE)
        return (prepared_rows){ahead->columns, ahead->density, ahead->row_bytes, 0.0};
    size_t dimension = UC_STREAM_LANDMARKS;
    if (map->dimension != UC_AUTO_COUNT)
        dimension = (size_t)map->dimension;
    return (prepared_rows){.features = dimension,
                           .density = 1.0,
                           .bytes = (double)sizeof(float) * (double)dimension,
                           .landmarks = fmin((double)dimension, ahead->rounds) * ahead->row_bytes};
}

uc_status uc_learner_check_memory(const uc_learner *learner, const void *settings,
                                  const uc_train_settings *train, const uc_online_ahead *ahead,
                                  const uc_context *context)
{
    const uc_train_settings decided = uc_train_decide(learner, train);
    const prepared_rows rows = rows_of(&decided.map, ahead);
    void *own = uc_learner_settings(learner, settings);
    if (!own)
        return UC_ERR_NOMEM;
    const double learned =
        uc_learner_bytes(learner, own, decided.average, uc_shape_of(rows.features, rows.density),
                         ahead->classes, rows.bytes, ahead->rounds);
    uc_free(own);

    const double plane = 8.0 * ((double)rows.features + 1.0) * (double)uc_class_stride(ahead->classes);
    const double state = learned + rows.landmarks;
    double model = 0.0;
    if (ahead->saved) /* a model holds a copy, and its weights are packed when they are written */
        model = state + 2.0 * plane;
    const double bytes = state + model + ahead->waiting * rows.bytes + ahead->held_bytes;
    char what[128];
    snprintf(what, sizeof what, "%s with %zu features and %zu classes", learner->name, rows.features,
             ahead->classes);
    return uc_memory_check(context, bytes, what);
}

uc_status uc_online_check_memory(const uc_online *self, const uc_online_ahead *ahead,
                                 const uc_context *context)
{
    return uc_learner_check_memory(self->learner, self->settings, &self->train, ahead, context);
}
