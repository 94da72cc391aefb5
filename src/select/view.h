/* Which view of the rows suits the labels: scaling, kernel and width, by leave-one-out (view.c). */
#ifndef UC_VIEW_H
#define UC_VIEW_H

#include "model/model.h"
#include "unconfuse/select.h"

/* How many views are tried. */
typedef enum uc_effort { UC_EFFORT_FAST, UC_EFFORT_NORMAL, UC_EFFORT_THOROUGH } uc_effort;

typedef struct uc_view_wish {
    uc_effort effort;
    size_t landmarks; /* of the map, at most */
    bool decomposes;  /* the learner decomposes its columns: many sparse ones need a map, too */
    bool relevance;   /* columns may be weighed by what they tell about the labels */
} uc_view_wish;

/* The best view becomes train->scale and train->map, as far as these are `auto`; train->relevance says
 * whether it weighs columns by relevance. */
uc_status uc_view_choose(uc_views *out, uc_train_settings *train, const uc_dataset *data,
                         const uc_view_wish *wish, const uc_context *context);

/* The same for a learner that leaves scale or map to the data; nothing happens for another. `settings` are
 * its own. */
uc_status uc_view_choose_for(uc_views *out, const void *settings, uc_train_settings *train,
                             const uc_learner *learner, const uc_dataset *data, const uc_context *context);
/* What was tried becomes part of what the model remembers, and what was chosen if it made the model. */
uc_status uc_views_write(uc_model *model, const uc_views *views, bool chosen);

#endif
