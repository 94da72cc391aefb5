/*
 * Ridge classification: least squares on labels written as K numbers, one of them 1, with a penalty
 * lambda |w|^2 and an unpenalised offset. With a kernel map it is kernel ridge classification, or a
 * least-squares SVM. lambda is chosen by exact leave-one-out over the whole path, which needs a single
 * decomposition (decomposition.c, path.c).
 *
 * Suykens, Vandewalle, Least squares support vector machine classifiers, Neural Processing Letters
 * 9:293-300, 1999; Rifkin, Yeo, Poggio, Regularized least-squares classification, 2003.
 */
#include <math.h>

#include "learn/learner.h"
#include "learn/ridge/path.h"

#define FIELD(name) offsetof(uc_ridge_settings, name)

static const uc_option options[] = {
    {.name = "lambda",
     .type = UC_OPTION_REAL,
     .automatic = true,
     .offset = FIELD(lambda),
     .standard = "auto",
     .low = 0,
     .above_low = true,
     .high = 1e12,
     .argument = "L",
     .help = "penalty on the squared length of the weights (auto: by leave-one-out)"},
    UC_CLASS_WEIGHT_OPTION(uc_ridge_settings),
    {.name = NULL},
};

static uc_status write_path(uc_model *model, const uc_ridge_path *path)
{
    json_t *list = json_array();
    for (size_t l = 0; l < UC_RIDGE_LAMBDAS && list; l++) {
        json_t *entry = json_pack("{s:f, s:f, s:f}", "lambda", path->lambda[l], "squared_error",
                                  path->squared[l], "error", path->error[l]);
        if (!entry || json_array_append_new(list, entry) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    uc_status status = uc_json_set(model->summary, "leave_one_out", list);
    if (status == UC_OK)
        status = uc_json_set(model->summary, "leave_one_out_error", json_real(path->error[path->best]));
    return status;
}

static uc_status choose_lambda(double *lambda, uc_model *model, const uc_ridge *ridge,
                               const uc_ridge_targets *targets, const uc_fit *fit)
{
    uc_ridge_path path;
    const double scale = uc_ridge_scale(ridge, &fit->train->map);
    const uc_status status = uc_ridge_try_lambdas(&path, ridge, targets, fit->data->y, scale);
    if (status != UC_OK)
        return status;
    *lambda = path.lambda[path.best];
    return write_path(model, &path);
}

static uc_status fit_targets(uc_model *model, const uc_ridge *ridge, const double *Y, const uc_fit *fit,
                             double lambda)
{
    uc_ridge_targets targets = {0};
    uc_status status = uc_ridge_project(&targets, ridge, Y, model->classes.count);
    if (status == UC_OK && isnan(lambda))
        status = choose_lambda(&lambda, model, ridge, &targets, fit);
    if (status == UC_OK)
        status = uc_ridge_weights(model->weights + model->stride, model->weights, model->stride, ridge,
                                  &targets, lambda);
    model->bias = 1.0; /* the free offset is the weight of a constant 1 */
    uc_ridge_targets_free(&targets);
    return status == UC_OK ? uc_json_set(model->summary, "lambda", json_real(lambda)) : status;
}

static uc_status fit(uc_model *model, const uc_fit *fit, const void *user)
{
    const uc_ridge_settings *settings = user;
    const size_t n = fit->data->X.rows, K = model->classes.count;
    uc_ridge ridge = {0};
    double *Y = uc_alloc(n * K, sizeof *Y);
    uc_status status = uc_comm_agree(uc_comm_of(fit->context), Y ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK)
        status = uc_ridge_decompose(&ridge, &fit->data->X, fit->weights, fit->context);
    if (status == UC_OK) {
        uc_ridge_label_targets(Y, fit->data->y, n, K);
        status = fit_targets(model, &ridge, Y, fit, settings->lambda);
    }
    uc_ridge_free(&ridge);
    uc_free(Y);
    return status;
}

const uc_learner uc_learner_ridge = {
    .name = "ridge",
    .summary = "mostly right labels: least squares, lambda by leave-one-out; on a map a least-squares SVM",
    .paper = "Rifkin, Yeo, Poggio: Regularized least-squares classification, 2003",
    .options = options,
    .settings_size = sizeof(uc_ridge_settings),
    .full = true,
    .free_offset = true,
    .class_weight = FIELD(class_weight),
    .fit = fit,
};
