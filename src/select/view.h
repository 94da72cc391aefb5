/* Chooses the view of the rows that suits the labels: scaling, kernel and width, by leave-one-out
 * (view.c). */
#ifndef UC_VIEW_H
#define UC_VIEW_H

#include "model/model.h"
#include "unconfuse/select.h"

/* How many views are tried. */
typedef enum uc_effort { UC_EFFORT_FAST, UC_EFFORT_NORMAL, UC_EFFORT_THOROUGH } uc_effort;

typedef struct uc_view_wish {
    uc_effort effort;
    size_t landmarks; /* of the map, at most */
    bool decomposes;  /* the learner decomposes its columns, so many sparse rows need a map, too */
    bool relevance;   /* columns may be weighed by what they say about the labels */
} uc_view_wish;

/* Sets train->scale and train->map to the best view, as far as they are `auto`; train->relevance says whether
 * it weighs columns by relevance. */
uc_status uc_view_choose(uc_views *out, uc_train_settings *train, const uc_dataset *data,
                         const uc_view_wish *wish, const uc_context *context);

/* The same for a learner that chooses scale or map by the data; does nothing for other learners. `settings`
 * are those of the learner. */
uc_status uc_view_choose_for(uc_views *out, const void *settings, uc_train_settings *train,
                             const uc_learner *learner, const uc_dataset *data, const uc_context *context);
/* Adds the views that were tried to the model's summary and, if `chosen`, the one that was chosen. */
uc_status uc_views_write(uc_model *model, const uc_views *views, bool chosen);

#endif
