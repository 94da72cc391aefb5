/* What an online learner remembers, written to a model and read back by the same calls: a learner lists its
 * state once, and whether that saves or resumes it is up to the state. */
#ifndef UC_LEARN_STATE_H
#define UC_LEARN_STATE_H

#include "learn/learner.h"

struct uc_state {
    uc_model_state *model;
    bool reading;
};

/* Reading keeps *value when the model has no such counter. */
uc_status uc_state_counter(uc_state *self, const char *name, uint64_t *value);
/* Reading fails when the model has no such array of that type and length, or when reals are not finite. */
uc_status uc_state_array(uc_state *self, const char *name, uc_array_type type, void *data, size_t count);
/* Writing without a copy: the data, of uc_alloc, belong to the model, or are freed on failure. */
uc_status uc_state_give(uc_state *self, const char *name, uc_array_type type, void *data, size_t count);
/* Reading without a copy; NULL with a sentence when uc_state_array would fail. */
const void *uc_state_lend(const uc_state *self, const char *name, uc_array_type type, size_t count);
bool uc_state_has(const uc_state *self, const char *name);
/* The sentence for a state that makes no sense. */
uc_status uc_state_damaged(void);

#endif
