/* What an online learner remembers, written to a model and read back by the same calls. A learner lists its
 * state once; the uc_state determines whether that saves or resumes it. */
#ifndef UC_LEARN_STATE_H
#define UC_LEARN_STATE_H

#include "learn/learner.h"

struct uc_state {
    uc_model_state *model;
    bool reading;
};

/* When reading, *value is unchanged if the model has no such counter. */
uc_status uc_state_counter(uc_state *self, const char *name, uint64_t *value);
/* Reading fails if the model has no such array of that type and length, or if reals are not finite. */
uc_status uc_state_array(uc_state *self, const char *name, uc_array_type type, void *data, size_t count);
/* Writes without a copy: the data, allocated with uc_alloc, become the model's, or are freed on failure. */
uc_status uc_state_give(uc_state *self, const char *name, uc_array_type type, void *data, size_t count);
/* Reads without a copy; NULL, with a message, in the cases in which uc_state_array would fail. */
const void *uc_state_lend(const uc_state *self, const char *name, uc_array_type type, size_t count);
bool uc_state_has(const uc_state *self, const char *name);
/* Fails with the message for a state that makes no sense. */
uc_status uc_state_damaged(void);

#endif
