/* The memory that learning one example at a time needs, before it is needed. */
#include <math.h>

#include "learn/online.h"
#include "parallel/parallel.h"

#define LANDMARKS 700 /* of a map of landmarks, unless told otherwise */

double uc_learner_bytes(const uc_learner *learner, const void *settings, bool average, size_t features,
                        size_t classes, double row_bytes, double rounds)
{
    double planes = average ? 2.0 : 1.0, start;
    for (size_t p = 0; p < UC_PLANES - UC_OWN && learner->plane; p++)
        planes += learner->plane(&start, settings, p, features);
    return planes * 8.0 * ((double)features + 1.0) * (double)uc_class_stride(classes) +
           (learner->memory_bytes ? learner->memory_bytes(settings, features, row_bytes, rounds) : 0.0);
}

uc_status uc_learner_check_memory(const uc_learner *learner, const void *settings,
                                  const uc_train_settings *train, const uc_online_ahead *ahead,
                                  const uc_context *context)
{
    const uc_train_settings decided = uc_train_decide(learner, train);
    const bool mapped = decided.map.map != UC_MAP_NONE;
    const size_t dimension =
        decided.map.dimension == UC_AUTO_COUNT ? LANDMARKS : (size_t)decided.map.dimension;
    const size_t features = mapped ? dimension : ahead->columns;
    const double row_bytes = mapped ? (double)sizeof(float) * (double)features : ahead->row_bytes;
    const double plane = 8.0 * ((double)features + 1.0) * (double)uc_class_stride(ahead->classes);
    void *own = uc_learner_settings(learner, settings);
    if (!own)
        return UC_ERR_NOMEM;
    const double learned =
        uc_learner_bytes(learner, own, decided.average, features, ahead->classes, row_bytes, ahead->rounds);
    uc_free(own);

    const double landmarks = mapped ? fmin((double)dimension, ahead->rounds) * ahead->row_bytes : 0.0;
    const double state = learned + landmarks;
    const double model = ahead->saved ? state + plane : 0.0; /* what a model holds is a copy */
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
