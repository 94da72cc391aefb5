/* What wrong labels cost, and what knowing the noise gains: four Gaussians, 40% of whose labels become wrong.
 *
 *   ./noise */
#include <stdio.h>
#include <stdlib.h>
#include <unconfuse/unconfuse.h>

/* The test error of `logistic`, which is given the noise unless `noise` is NULL. */
static uc_status test_error(double *out, uc_dataset *train, const uc_dataset *test, const uc_noise *noise)
{
    uc_train_settings settings = uc_train_defaults();
    uc_model *model = NULL;
    uc_evaluation found = {0};
    uint32_t *predicted = malloc(test->X.rows * sizeof *predicted);
    settings.noise = noise;
    uc_status status = predicted ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = uc_train(&model, uc_learner_find("logistic"), NULL, &settings, train, NULL);
    if (status == UC_OK)
        status = uc_model_predict(predicted, model, &test->X, NULL);
    if (status == UC_OK)
        status = uc_evaluation_compute(&found, test->y, predicted, test->X.rows, test->classes.count, NULL);
    *out = found.error;
    uc_evaluation_free(&found);
    uc_model_free(model);
    free(predicted);
    return status;
}

static uc_status demonstrate(void)
{
    const uc_generator *gaussians = uc_generator_find("cspa-gaussians");
    void *settings = calloc(1, uc_generator_settings_size(gaussians));
    uc_dataset train = {0}, test = {0};
    uc_noise noise = {0};
    size_t changed = 0;
    double clean = 0.0, ignorant = 0.0, informed = 0.0;
    uc_status status = settings ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK) {
        uc_options_defaults(uc_generator_options(gaussians), settings);
        status = uc_generator_run(&train, &test, gaussians, settings, 4000, 4000, 1);
    }
    if (status == UC_OK)
        status = test_error(&clean, &train, &test, NULL);
    if (status == UC_OK)
        status = uc_noise_random(&noise, train.classes.count, 5.0, 1);
    if (status == UC_OK)
        status = uc_noise_apply(&train, &noise, 1, &changed);
    if (status == UC_OK)
        status = test_error(&ignorant, &train, &test, NULL);
    if (status == UC_OK)
        status = test_error(&informed, &train, &test, &noise);
    if (status == UC_OK)
        printf("clean labels: error %.3f\n%zu of %zu labels wrong: error %.3f, with the noise matrix %.3f\n",
               clean, changed, train.X.rows, ignorant, informed);
    uc_noise_free(&noise);
    uc_dataset_free(&train);
    uc_dataset_free(&test);
    free(settings);
    return status;
}

int main(void)
{
    if (demonstrate() == UC_OK)
        return 0;
    fprintf(stderr, "noise: %s\n", uc_last_error());
    return 1;
}
