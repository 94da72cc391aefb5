/* The methods that the paper compares, the values of their hyper-parameters, and a single pass with a
 * method. */
#include "cspa.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LIST(...)                                                                                            \
    {                                                                                                        \
        (const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double)                      \
    }
#define AUTO ((double)NAN) /* beta = 1/(2(K-1)) */
#define EXPLORE_LINEAR LIST(0.001, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
#define EXPLORE_KERNEL LIST(0.001, 0.025, 0.1, 0.3, 0.4, 0.6)

const method methods[METHODS] = {
    [CSPA] = {"CSPA", "cspa", "beta", "beta", LIST(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, AUTO),
              LIST(0.1, 0.3, 0.5, 0.7, AUTO)},
    [BANDITRON] = {"Banditron", "banditron", "explore", "gamma", EXPLORE_LINEAR, EXPLORE_KERNEL},
    [CONFIDIT] = {"Confidit", "confidit", "eta", "eta",
                  LIST(1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1e3, 1e4, 1e5), LIST(1e-4, 1e-2, 1, 100, 1e4)},
    [BPA] = {"BPA", "bpa", "explore", "gamma", EXPLORE_LINEAR, EXPLORE_KERNEL},
    [CSPA_PLUS] = {"cspa-plus", "cspa-plus", NULL, NULL, {NULL, 0}, {NULL, 0}},
    [SPA] = {"SPA, all labels", "spa", NULL, NULL, {NULL, 0}, {NULL, 0}},
};

void rounds_free(rounds *self)
{
    uc_matrix_free(&self->X);
    free(self->y);
    *self = (rounds){0};
}

/* The learner's settings with its hyper-parameter set; the caller frees them. */
static void *make_settings(const method *who, const uc_learner *learner, double value)
{
    const uc_option *options = uc_learner_options(learner);
    char *settings = app_calloc(1, uc_learner_settings_size(learner));
    uc_options_defaults(options, settings);
    if (who->option)
        memcpy(settings + uc_options_find(options, who->option)->offset, &value, sizeof value);
    return settings;
}

static uc_status note_round(const uc_session_round *round, void *user)
{
    bool *right = user;
    right[round->number - 1] = round->right;
    return UC_OK;
}

uc_status rounds_run(bool *right, const rounds *self, size_t count, const method *who, double value,
                     uint64_t seed)
{
    const uc_learner *learner = uc_learner_find(who->learner);
    const bool partial = uc_learner_accepts(learner, UC_FEEDBACK_PARTIAL);
    const uc_session_settings session_settings = {
        .feedback = partial ? UC_FEEDBACK_PARTIAL : UC_FEEDBACK_FULL, .on_round = note_round, .user = right};
    uc_train_settings common = uc_train_defaults();
    common.normalize = common.normalize_input = 0; /* the rows are prepared already */
    common.average = 0;
    common.bias = 0.0;
    common.seed = seed;
    void *settings = make_settings(who, learner, value);
    uc_online *online = NULL;
    uc_session *session = NULL;
    uc_status status = uc_online_begin(&online, learner, settings, &common, self->classes, NULL);
    if (status == UC_OK)
        status = uc_online_expect(online, self->X.cols, uc_matrix_density(&self->X));
    if (status == UC_OK)
        status = uc_session_continue(&session, online, &session_settings, NULL);
    if (status == UC_OK)
        status = uc_session_run_rows(session, &self->X, self->y, NULL, count, true);
    uc_session_free(session);
    uc_online_free(online);
    free(settings);
    return status;
}

double percent_right(const bool *right, size_t count)
{
    size_t sum = 0;
    for (size_t t = 0; t < count; t++)
        sum += right[t];
    return 100.0 * (double)sum / (double)count;
}
