/* Training and testing, as in all experiments of the paper. */
#include "uma.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uc_uma_settings uma_settings(int returns, uint64_t iterations)
{
    uc_uma_settings settings;
    uc_options_defaults(uc_learner_options(uc_learner_find("uma")), &settings);
    settings.returns = returns;
    if (iterations)
        settings.iterations = iterations;
    return settings;
}

bool learner_exists(const char *name)
{
    for (size_t i = 0; uc_learner_at(i); i++)
        if (strcmp(uc_learner_name(uc_learner_at(i)), name) == 0)
            return true;
    return false;
}

static uc_status test(score *out, const uc_model *model, const uc_dataset *data, const uc_context *context)
{
    uint32_t *predicted = app_calloc(data->X.rows, sizeof *predicted);
    uc_evaluation evaluation = {0};
    uc_status status = uc_model_predict(predicted, model, &data->X, context);
    if (status == UC_OK)
        status =
            uc_evaluation_compute(&evaluation, data->y, predicted, data->X.rows, data->classes.count, NULL);
    if (status == UC_OK) {
        out->error = evaluation.error;
        out->confusion_rate = evaluation.confusion_rate;
        out->confusion = evaluation.confusion_rate * sqrt((double)data->classes.count);
    }
    uc_evaluation_free(&evaluation);
    free(predicted);
    return status;
}

static uc_status train_and_test(score *out, const char *learner, const void *settings,
                                const uc_train_settings *common, uc_dataset *train, const uc_dataset *testing,
                                const uc_context *context)
{
    uc_model *model = NULL;
    uc_status status = uc_train(&model, uc_learner_find(learner), settings, common, train, context);
    if (status == UC_OK)
        status = test(out, model, testing, context);
    uc_model_free(model);
    return status;
}

uc_status learn_and_test(score *out, const char *learner, const void *settings, const uc_noise *noise,
                         uc_dataset *train, const uc_dataset *testing, uint64_t seed,
                         const uc_context *context)
{
    uc_train_settings common = uc_train_defaults();
    common.normalize = 0; /* the rows are prepared already */
    common.noise = noise;
    common.seed = seed;
    return train_and_test(out, learner, settings, &common, train, testing, context);
}

uc_status online_perceptron_and_test(score *out, bool average, uc_dataset *train, const uc_dataset *testing,
                                     uint64_t seed, const uc_context *context)
{
    uc_train_settings common = uc_train_defaults();
    common.normalize = 0;
    common.bias = 0.0; /* as in UMA */
    common.passes = ONLINE_PASSES;
    common.average = average;
    common.seed = seed;
    return train_and_test(out, "perceptron", NULL, &common, train, testing, context);
}

uc_status perceptron_and_test(score *out, uint64_t iterations, uc_dataset *train, const uc_dataset *testing,
                              uint64_t seed, const uc_context *context)
{
    const uc_uma_settings settings = uma_settings(UMA_LAST, iterations);
    return learn_and_test(out, "uma", &settings, NULL, train, testing, seed, context);
}
