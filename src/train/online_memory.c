/* The memory that learning one example at a time needs, before it is needed. */
#include <math.h>

#include "parallel/parallel.h"
#include "train/online.h"

uc_status uc_learner_check_memory(const uc_learner *learner, const void *settings,
                                  const uc_train_settings *train, const uc_online_ahead *ahead,
                                  const uc_context *context)
{
    const uc_train_settings decided = uc_train_decide(learner, train);
    const bool mapped = decided.map.map != UC_MAP_NONE;
    const size_t dimension =
        decided.map.dimension == UC_AUTO_COUNT ? UC_STREAM_LANDMARKS : (size_t)decided.map.dimension;
    const size_t features = mapped ? dimension : ahead->columns;
    const double row_bytes = mapped ? (double)sizeof(float) * (double)features : ahead->row_bytes;
    const double plane = 8.0 * ((double)features + 1.0) * (double)uc_class_stride(ahead->classes);
    void *own = uc_learner_settings(learner, settings);
    if (!own)
        return UC_ERR_NOMEM;
    const double learned =
        uc_learner_bytes(learner, own, decided.average, uc_shape_of(features, mapped ? 1.0 : ahead->density),
                         ahead->classes, row_bytes, ahead->rounds);
    uc_free(own);

    const double landmarks = mapped ? fmin((double)dimension, ahead->rounds) * ahead->row_bytes : 0.0;
    const double state = learned + landmarks;
    /* what a model holds is a copy, and its weights are packed when they are written */
    const double model = ahead->saved ? state + 2.0 * plane : 0.0;
    const double bytes = state + model + ahead->waiting * row_bytes + ahead->held_bytes;
    char what[128];
    snprintf(what, sizeof what, "%s with %zu features and %zu classes", learner->name, features,
             ahead->classes);
    return uc_memory_check(context, bytes, what);
}

uc_status uc_online_check_memory(const uc_online *self, const uc_online_ahead *ahead,
                                 const uc_context *context)
{
    return uc_learner_check_memory(self->learner, self->settings, &self->train, ahead, context);
}
