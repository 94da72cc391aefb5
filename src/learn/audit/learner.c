/*
 * The learner `audit`: one label per row, some of them wrong, possibly depending on the row. It estimates the
 * true classes (run.c), and its model predicts these. Rows without a label help.
 */
#include <math.h>
#include <string.h>

#include "learn/audit/audit.h"
#include "learn/learner.h"
#include "linalg/linalg.h"

#define MOST_LOSS 0.045 /* of the guard, for `auto` */

const uc_option uc_audit_options[] = {
    {.name = "mode",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(uc_audit_settings, mode),
     .standard = "auto",
     .choices = "auto|structure|labels",
     .help = "structure: classes are clouds of rows, whatever single labels say; labels: labels are believed "
             "first and corrected once; auto: structure, unless it fights the labels"},
    {.name = "landmarks",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(uc_audit_settings, landmarks),
     .standard = "auto",
     .low = 2,
     .high = 20000,
     .automatic = true,
     .help = "rows that the kernels are measured from; auto: 600, of sparse rows up to 1,500"},
    {.name = "axes",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(uc_audit_settings, axes),
     .standard = "auto",
     .low = 1,
     .high = 20000,
     .automatic = true,
     .help =
         "principal axes of each view of the rows, at most; auto: 300, and from 3,000 rows on up to 600 (of "
         "sparse rows 900) by their number"},
    {0},
};

static const char *const modes[] = {"auto", "structure", "labels"};

/* A map cannot be chosen: the views are the map. */
static uc_status check_settings(const uc_train_settings *train)
{
    if (train->map.map != UC_MAP_NONE)
        return uc_fail(UC_ERR_INVALID, "audit makes feature maps of its own: leave out {map}");
    if (train->normalize)
        return uc_fail(UC_ERR_INVALID, "audit prepares rows in its own ways: leave out {normalize}");
    return UC_OK;
}

static uc_status keep_noise(uc_model *model, const uc_audit_fit *found)
{
    const size_t K = found->K;
    model->noise = uc_alloc(K * K, sizeof *model->noise);
    if (!model->noise)
        return UC_ERR_NOMEM;
    for (size_t p = 0; p < K; p++)
        for (size_t q = 0; q < K; q++)
            model->noise[p * K + q] = found->confusion.P[q * K + p];
    return UC_OK;
}

static uc_status write_summary(uc_model *model, const uc_audit_fit *found)
{
    uc_status status = uc_json_set(model->summary, "chosen",
                                   json_pack("{s:s, s:f, s:f}", "mode", modes[found->mode], "width",
                                             found->width, "temperature", found->temperature));
    if (status == UC_OK)
        status = uc_json_set(model->summary, "guard_loss",
                             isfinite(found->loss) ? json_real(found->loss) : json_null());
    if (status == UC_OK)
        status = uc_json_set(model->summary, "iterations", json_integer((json_int_t)found->steps));
    return status;
}

uc_status uc_audit_describe(uc_model *model, const uc_audit_fit *found, const uc_clean_error *error,
                            double wrong_at_most)
{
    uc_status status = keep_noise(model, found);
    if (status == UC_OK)
        status = write_summary(model, found);
    return status == UC_OK ? uc_clean_error_save(model->summary, error, wrong_at_most) : status;
}

const char *uc_audit_mode_name(int mode)
{
    return modes[mode];
}

static uc_status fit(uc_model *model, const uc_fit *fit, const void *settings)
{
    uc_annotations annotations = {0};
    uc_audit_fit found = {0};
    uc_clean_error error = {0};
    uc_status status = check_settings(fit->train);
    if (status == UC_OK)
        status = uc_annotations_of_labels(&annotations, fit->data->y, fit->data->X.rows, model->classes.count,
                                          fit->context);
    if (status != UC_OK)
        return status;
    const uc_labelled labelled = {
        .annotations = &annotations, .weights = fit->weights, .context = fit->context};
    status = uc_audit_run(&found, model, &fit->data->X, &labelled, settings, fit->train->seed);
    if (status == UC_OK)
        status = uc_audit_clean_error(&error, &found, &labelled, fit->train->seed);
    if (status == UC_OK)
        status = uc_comm_agree(uc_comm_of(fit->context),
                               uc_audit_describe(model, &found, &error, fit->train->wrong_at_most));
    uc_audit_fit_free(&found);
    uc_annotations_free(&annotations);
    return status;
}

/* Whether the guard clearly accepts the clouds: at a loss beyond .045, out of the allowed .06, they were no
 * better than `auto`'s own fit. */
static bool stands(double *criterion, const uc_model *model)
{
    const json_t *chosen = json_object_get(model->summary, "chosen");
    const char *mode = json_string_value(json_object_get(chosen, "mode"));
    const json_t *loss = json_object_get(model->summary, "guard_loss");
    *criterion = json_is_real(loss) ? json_real_value(loss) : 1.0;
    return mode && strcmp(mode, modes[UC_AUDIT_STRUCTURE]) == 0 && *criterion <= MOST_LOSS;
}

/* Shrinkage keeps the leverage at about a tenth, so few axes do most of the work. */
static const uc_audit_settings coarse = {.mode = UC_AUDIT_AUTO, .landmarks = 200, .axes = 100};

/* Runs the guard with fewer landmarks, which makes its loss lower more often than higher. The best width is
 * the same as with all landmarks and need not be searched for again. */
static uc_status may_stand(uc_prospect *out, void *settings, const uc_dataset *data, uint64_t seed,
                           const uc_context *context)
{
    uc_audit_settings *own = settings;
    uc_annotations annotations = {0};
    uc_audit_fit found = {0};
    double errors[2] = {0.0, 0.0};
    const uc_labelled labelled = {.annotations = &annotations, .weights = data->weights, .context = context};
    uc_status status =
        uc_annotations_of_labels(&annotations, data->y, data->X.rows, data->classes.count, context);
    if (status == UC_OK)
        status = uc_audit_guard(&found, &data->X, &labelled, &coarse, seed);
    if (status == UC_OK)
        status = uc_audit_share_wrong(&out->wrong, &found, &labelled);
    for (size_t i = 0; i < found.rows && status == UC_OK; i++) {
        const double weight = data->weights ? data->weights[i] : 1.0;
        if (data->y[i] == UC_NONE)
            continue;
        errors[0] += weight * (uc_argmax(found.S + i * found.K, found.K) != data->y[i]);
        errors[1] += weight;
    }
    if (status == UC_OK)
        status = uc_comm_sum(uc_comm_of(context), errors, 2);
    out->error = errors[1] > 0.0 ? errors[0] / errors[1] : 0.0;
    out->criterion = isfinite(found.loss) ? found.loss : 1.0;
    out->may_stand = found.mode == UC_AUDIT_STRUCTURE;
    if (status == UC_OK)
        own->width = found.width;
    uc_audit_fit_free(&found);
    uc_annotations_free(&annotations);
    return status;
}

const uc_learner uc_learner_audit = {
    .name = "audit",
    .summary = "labels that people got wrong: finds the true classes behind them; probabilities",
    .paper = "docs/learners/audit.md",
    .options = uc_audit_options,
    .settings_size = sizeof(uc_audit_settings),
    .full = true,
    .free_offset = true,
    .unlabelled = true,
    .probabilities = true,
    .map = UC_MAP_NONE,
    .maps_itself = true,
    .class_weight = UC_NO_CLASS_WEIGHT,
    .stands = stands,
    .may_stand = may_stand,
    .fit = fit,
};
