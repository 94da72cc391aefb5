/* Trains a classifier on labels some of which are wrong, and saves it.
 *
 *   ./train noisy.svm model.uc
 *
 * The noise matrix is estimated from the data alone, and used for training logistic regression. */
#include <stdio.h>
#include <unconfuse/unconfuse.h>

/* Shows progress. Returning false would end the call with UC_ERR_CANCELLED. */
static bool show_progress(const char *task, double done, double total, const char *detail, void *user)
{
    (void)user;
    fprintf(stderr, "\r%s: %.0f of %.0f %s\033[K", task, done, total, detail ? detail : "");
    return true;
}

static uc_status train(const char *data_path, const char *model_path)
{
    const uc_learner *logistic = uc_learner_find("logistic");
    const uc_context context = {.threads = 0 /* all cores */, .progress = show_progress};
    uc_train_settings settings = uc_train_defaults();
    uc_dataset data = {0};
    uc_noise noise = {0};
    uc_model *model = NULL;

    uc_status status = uc_dataset_read(&data, data_path, NULL, &context);
    if (status == UC_OK)
        status = uc_noise_estimate_self(&noise, &data, &settings, &context);
    if (status == UC_OK) {
        settings.noise = &noise;
        status = uc_train(&model, logistic, NULL /* its defaults */, &settings, &data, &context);
    }
    if (status == UC_OK)
        status = uc_model_save(model, model_path);
    if (status == UC_OK)
        fprintf(stderr, "\n%zu examples, %zu classes: %s\n", data.X.rows, data.classes.count, model_path);

    uc_model_free(model);
    uc_noise_free(&noise);
    uc_dataset_free(&data);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s DATA MODEL\n", argv[0]);
        return 2;
    }
    if (train(argv[1], argv[2]) != UC_OK) {
        fprintf(stderr, "\n%s: %s\n", argv[0], uc_last_error());
        return 1;
    }
    return 0;
}
