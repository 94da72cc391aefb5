/* The one table that lists the learners. */
#include <string.h>

#include "base/base.h"
#include "learn/learner.h"

static const uc_learner *const learners[] = {
    &uc_learner_auto,      &uc_learner_perceptron, &uc_learner_pa,         &uc_learner_spa,
    &uc_learner_copa,      &uc_learner_arow,       &uc_learner_scw,        &uc_learner_cspa,
    &uc_learner_cspa_plus, &uc_learner_banditron,  &uc_learner_bpa,        &uc_learner_confidit,
    &uc_learner_soba,      &uc_learner_onebit,     &uc_learner_uma,        &uc_learner_logistic,
    &uc_learner_rp,        &uc_learner_csvm,       &uc_learner_sloppy_svm, &uc_learner_s3vm,
    &uc_learner_ridge,     &uc_learner_pu,         &uc_learner_audit,
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
