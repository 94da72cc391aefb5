/*
 * `auto`: learns from nothing but rows and labels, some of which are wrong.
 *
 * The view of the rows (scaling, kernel, width) is chosen beforehand (src/select/view.c). On the rows of that
 * view, `auto` takes these steps:
 *
 *   1. ridge regression on the labels, with lambda by exact leave-one-out (learn/ridge)
 *   2. calibrate the leave-one-out scores together with a noise matrix: none, symmetric, or full
 *      (calibrate.c)
 *   3. fit again, on expected true classes instead of labels; how, is chosen for each noise family by
 *      held-out scores (refit.c)
 *   4. choose the family: symmetric if it predicts held-out labels better than none, full if it is better
 *      still by two standard errors; if there is time, try logistic regression and support vector machines
 *      on the same expected classes (heads.c), which replace ridge regression if they predict held-out
 *      labels better
 *   5. probabilities of the true class: average the calibration over noise rates, weighted by how likely
 *      they make the labels
 *   6. the error on true classes, as an interval (clean_error.c)
 *
 * All of this is decided on at most SAMPLE rows; the last fit uses all rows. With several processes every
 * process has the sample and makes the same decisions.
 */
#include <math.h>
#include <string.h>

#include "data/weights.h"
#include "learn/auto/heads.h"
#include "learn/auto/refit.h"
#include "learn/calibration/clean_error.h"
#include "learn/calibration/families.h"
#include "learn/learner.h"
#include "learn/ridge/path.h"
#include "linalg/linalg.h"

#define SAMPLE ((size_t)20000)
#define LINEAR_LANDMARKS ((size_t)1000) /* for a linear kernel on sparse rows */
#define SHRINKS 4
#define REFITS (2 * SHRINKS)
#define THOROUGH 2  /* of {time} */
#define CLEARLY 1.0 /* a head must be better by so many standard errors */

static const double shrinks[SHRINKS] = {1.0, 0.3, 0.1, 0.03}; /* factors of lambda for a refit */
static const double rates[] = {0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
#define RATES (sizeof rates / sizeof *rates)

static const uc_option options[] = {
    {.name = "time",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(uc_auto_settings, effort),
     .standard = "normal",
     .choices = "fast|normal|thorough",
     .help =
         "views of the columns that are tried, and landmarks: 4 and 500, 14 and 1,000, or 18 and 2,000 (5 "
         "more of a table with columns of several types, unless fast); "
         "thorough: logistic and csvm in place of ridge as well"},
    UC_CLASS_WEIGHT_OPTION(uc_auto_settings),
    {.name = NULL},
};

/* What is decided on the sample. */
typedef struct choice {
    const uc_dataset *rows;
    const double *weights;
    size_t K;
    uint64_t seed;
    const uc_context *context;
    double lambda;
    uc_calibrator first[UC_FAMILIES]; /* of the leave-one-out scores */
    uc_refit refits[REFITS];
    double *held_out[UC_FAMILIES * REFITS];
    size_t best[UC_FAMILIES];        /* refit of each family */
    uc_calibrator last[UC_FAMILIES]; /* of the best refit's held-out scores */
    double *fit[UC_FAMILIES];        /* out-of-fold log-likelihood of each row */
    uc_noise_family family;
    uc_head heads[UC_HEADS]; /* `learner` is NULL if none was tried */
    double *head_scores[UC_HEADS];
    double head_fit[UC_HEADS];   /* mean log-likelihood of the labels */
    double head_error[UC_HEADS]; /* of held-out predictions, against the labels */
    const uc_head *head;         /* the head that replaces ridge regression; NULL: none */
    size_t best_head;
    double gain, deviation; /* of the best head over ridge regression: log-likelihood per row */
    uc_clean_error error;
} choice;

static uc_held_out held_out_rows(const choice *self, const double *scores)
{
    return (uc_held_out){.scores = scores,
                         .labels = self->rows->y,
                         .weights = self->weights,
                         .rows = self->rows->X.rows,
                         .K = self->K,
                         .context = self->context};
}

/* Finds the calibrators of all families; each one is the starting point of the next. */
static uc_status calibrate_all(uc_calibrator *out, const uc_held_out *rows)
{
    uc_status status = UC_OK;
    for (size_t family = 0; family < UC_FAMILIES && status == UC_OK; family++) {
        const uc_calibrator *near = family == UC_FAMILY_FULL ? &out[UC_FAMILY_SYMMETRIC] : NULL;
        status = uc_calibrate(&out[family], rows, (uc_noise_family)family, near);
    }
    return status;
}

/* ---- 1, 2: the fit on labels ---- */

static uc_status fit_labels(choice *self, const uc_fit *fit)
{
    const size_t n = self->rows->X.rows, K = self->K;
    uc_ridge ridge = {0};
    uc_ridge_targets targets = {0};
    uc_ridge_path path;
    double *Y = uc_alloc(n * K, sizeof *Y), *f = uc_alloc(n * K, sizeof *f);
    const uc_held_out rows = held_out_rows(self, f);
    uc_status status = UC_ERR_NOMEM;
    if (Y && f)
        status = uc_ridge_decompose(&ridge, &self->rows->X, self->weights, self->context);
    if (status != UC_OK)
        goto cleanup;
    uc_ridge_label_targets(Y, self->rows->y, n, K);
    status = uc_ridge_project(&targets, &ridge, Y, K);
    if (status == UC_OK)
        status = uc_ridge_try_lambdas(&path, &ridge, &targets, self->rows->y,
                                      uc_ridge_scale(&ridge, &fit->train->map));
    if (status != UC_OK)
        goto cleanup;
    self->lambda = path.lambda[path.best];
    status = uc_ridge_leave_one_out(f, &ridge, &targets, self->lambda);
    if (status == UC_OK)
        status = calibrate_all(self->first, &rows);

cleanup:
    uc_ridge_targets_free(&targets);
    uc_ridge_free(&ridge);
    uc_free(f);
    uc_free(Y);
    return status;
}

/* ---- 3: refits ---- */

static uc_status score_refits(choice *self)
{
    const uc_refits refits = {self->rows, self->lambda, self->refits, REFITS, self->seed, self->context};
    for (size_t r = 0; r < REFITS; r++)
        self->refits[r] = (uc_refit){self->lambda * shrinks[r % SHRINKS], 1 + (unsigned)(r / SHRINKS)};
    for (size_t i = 0; i < UC_FAMILIES * REFITS; i++) {
        self->held_out[i] = uc_alloc(self->rows->X.rows * self->K, sizeof *self->held_out[i]);
        if (!self->held_out[i])
            return UC_ERR_NOMEM;
    }
    return uc_refit_held_out(self->held_out, &refits, self->first);
}

/* The refit of a family under which the labels are most likely, with the matrix found earlier. */
static uc_status choose_refit(choice *self, size_t family)
{
    double best = -INFINITY;
    for (size_t r = 0; r < REFITS; r++) {
        const uc_held_out rows = held_out_rows(self, self->held_out[family * REFITS + r]);
        uc_calibrator given;
        if (!uc_refit_tried((uc_noise_family)family, self->refits[r]))
            continue;
        const uc_status status =
            uc_calibrate_given(&given, &rows, self->first[family].C, &self->first[family]);
        if (status != UC_OK)
            return status;
        if (given.fit > best) {
            best = given.fit;
            self->best[family] = r;
        }
        uc_calibrator_free(&given);
    }
    return UC_OK;
}

static const double *best_scores(const choice *self, size_t family)
{
    return self->held_out[family * REFITS + self->best[family]];
}

/* The held-out rows with the scores of head h. */
static uc_held_out head_rows(const choice *self, size_t h)
{
    uc_held_out rows = held_out_rows(self, self->head_scores[h]);
    rows.plain = true;
    return rows;
}

/* The held-out rows with the scores of the final choice. */
static uc_held_out final_rows(const choice *self)
{
    return self->head ? head_rows(self, self->best_head)
                      : held_out_rows(self, best_scores(self, self->family));
}

/* ---- 4: the family ---- */

static uc_status fit_families(choice *self)
{
    uc_status status = UC_OK;
    for (size_t family = 0; family < UC_FAMILIES && status == UC_OK; family++) {
        const uc_held_out rows = held_out_rows(self, best_scores(self, family));
        uc_calibrator near = {0}, *last = &self->last[family];
        if (family == UC_FAMILY_FULL)
            status = uc_calibrate(&near, &rows, UC_FAMILY_SYMMETRIC, NULL);
        if (status == UC_OK)
            status = uc_calibrate(last, &rows, (uc_noise_family)family, near.C ? &near : NULL);
        uc_calibrator_free(&near);
        self->fit[family] = uc_alloc(rows.rows, sizeof *self->fit[family]);
        if (status == UC_OK && !self->fit[family])
            status = UC_ERR_NOMEM;
        if (status == UC_OK)
            status = uc_family_fit(self->fit[family], &rows, (uc_noise_family)family,
                                   family == UC_FAMILY_NONE ? NULL : last);
    }
    return status;
}

/* ---- heads ---- */

/* The weighted share of labels that differ from the class with the highest score. */
static double label_error(const uc_held_out *rows)
{
    double wrong = 0.0, total = 0.0;
    for (size_t i = 0; i < rows->rows; i++) {
        const double weight = rows->weights ? rows->weights[i] : 1.0;
        wrong += weight * (uc_argmax(rows->scores + i * rows->K, rows->K) != rows->labels[i]);
        total += weight;
    }
    return wrong / total;
}

static uc_status score_heads(choice *self, const uc_train_settings *train)
{
    const uc_refits refits = {self->rows, self->lambda, self->refits, REFITS, self->seed, self->context};
    uc_heads_list(self->heads, self->lambda, (double)self->rows->X.rows);
    for (size_t h = 0; h < UC_HEADS; h++) {
        self->head_scores[h] = uc_alloc(self->rows->X.rows * self->K, sizeof *self->head_scores[h]);
        if (!self->head_scores[h])
            return UC_ERR_NOMEM;
    }
    return uc_heads_held_out(self->head_scores, self->heads, &refits, train, &self->first[self->family]);
}

/* The head under which the labels are most likely, with the matrix found earlier. */
static uc_status choose_head(choice *self)
{
    for (size_t h = 0; h < UC_HEADS; h++) {
        const uc_held_out rows = head_rows(self, h);
        uc_calibrator given;
        const uc_status status = uc_calibrate_given(&given, &rows, self->first[self->family].C, NULL);
        if (status != UC_OK)
            return status;
        self->head_fit[h] = given.fit;
        self->head_error[h] = label_error(&rows);
        if (given.fit > self->head_fit[self->best_head])
            self->best_head = h;
        uc_calibrator_free(&given);
    }
    return UC_OK;
}

/* The best head replaces ridge regression if it makes held-out labels clearly more likely. */
static uc_status try_heads(choice *self, const uc_train_settings *train)
{
    const uc_noise_family family = self->family;
    uc_calibrator near = {0}, own = {0};
    double *fit = uc_alloc(self->rows->X.rows, sizeof *fit);
    uc_status status = fit ? score_heads(self, train) : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = choose_head(self);
    if (status != UC_OK)
        goto cleanup;
    const uc_held_out rows = head_rows(self, self->best_head);
    if (family == UC_FAMILY_FULL)
        status = uc_calibrate(&near, &rows, UC_FAMILY_SYMMETRIC, NULL);
    if (status == UC_OK)
        status = uc_calibrate(&own, &rows, family, near.C ? &near : NULL);
    if (status == UC_OK)
        status = uc_family_fit(fit, &rows, family, family == UC_FAMILY_NONE ? NULL : &own);
    if (status != UC_OK)
        goto cleanup;
    self->gain = uc_family_gain(&self->deviation, fit, self->fit[family], self->weights, rows.rows);
    if (self->gain > CLEARLY * self->deviation) {
        self->head = &self->heads[self->best_head];
        uc_calibrator_free(&self->last[family]);
        self->last[family] = own;
        own = (uc_calibrator){0};
    }

cleanup:
    uc_calibrator_free(&near);
    uc_calibrator_free(&own);
    uc_free(fit);
    return status;
}

/* ---- 6: the error ---- */

static uc_status find_error(choice *self)
{
    const uc_held_out rows = final_rows(self);
    const double belief = uc_family_belief((const double *const *)self->fit, self->weights, rows.rows);
    uc_calibrator full = {0}, symmetric = {0};
    const uc_calibrator *near = &self->last[UC_FAMILY_SYMMETRIC];
    uc_status status = UC_OK;
    if (self->family == UC_FAMILY_FULL)
        return uc_clean_error_find(&self->error, &rows, NULL, &self->last[UC_FAMILY_FULL],
                                   &self->last[UC_FAMILY_FULL], belief);
    if (self->family == UC_FAMILY_NONE) {
        status = uc_calibrate(&symmetric, &rows, UC_FAMILY_SYMMETRIC, NULL);
        near = &symmetric;
    }
    if (status == UC_OK)
        status = uc_calibrate(&full, &rows, UC_FAMILY_FULL, near);
    if (status == UC_OK)
        status = uc_clean_error_find(&self->error, &rows, NULL, &self->last[self->family], &full, belief);
    uc_calibrator_free(&symmetric);
    uc_calibrator_free(&full);
    return status;
}

/* ---- all of it ---- */

static uc_status choose(choice *self, const uc_fit *fit, const uc_auto_settings *settings)
{
    uc_status status = fit_labels(self, fit);
    if (status == UC_OK)
        status = score_refits(self);
    for (size_t family = 0; family < UC_FAMILIES && status == UC_OK; family++)
        status = choose_refit(self, family);
    if (status == UC_OK)
        status = fit_families(self);
    if (status != UC_OK)
        return status;
    self->family = uc_family_choose((const double *const *)self->fit, self->weights, self->rows->X.rows);
    if (settings->effort == THOROUGH)
        status = try_heads(self, fit->train);
    if (status == UC_OK)
        status = find_error(self);
    return status;
}

static void free_choice(choice *self)
{
    for (size_t family = 0; family < UC_FAMILIES; family++) {
        uc_calibrator_free(&self->first[family]);
        uc_calibrator_free(&self->last[family]);
        uc_free(self->fit[family]);
    }
    for (size_t i = 0; i < UC_FAMILIES * REFITS; i++)
        uc_free(self->held_out[i]);
    for (size_t h = 0; h < UC_HEADS; h++)
        uc_free(self->head_scores[h]);
}

/* ---- 5: probabilities ---- */

/* The calibration averaged over noise rates, each weighted by exp of its log-likelihood. */
static uc_status average_calibration(uc_model *model, const choice *self)
{
    const uc_held_out rows = final_rows(self);
    const bool full = self->family == UC_FAMILY_FULL;
    double fit[RATES], best = -INFINITY, total = 0.0, *C = uc_alloc(self->K * self->K, sizeof *C);
    uc_calibration *parts = uc_alloc(RATES + 1, sizeof *parts);
    uc_status status = C && parts ? UC_OK : UC_ERR_NOMEM;
    uc_calibrator at = {.a1 = 4.0, .a2 = 0.3}; /* each rate starts where the previous one ended */
    for (size_t i = 0; i < RATES && status == UC_OK; i++) {
        const uc_calibrator near = at;
        uc_symmetric_noise(C, self->K, rates[i] * (1.0 - 1.0 / (double)self->K));
        status = uc_calibrate_given(&at, &rows, C, &near);
        if (status == UC_OK) {
            parts[i] = (uc_calibration){0.0, at.a1, at.a2};
            fit[i] = at.fit * (double)rows.rows;
            best = fmax(best, fit[i]);
            uc_free(at.C);
        }
    }
    uc_free(C);
    if (status != UC_OK) {
        uc_free(parts);
        return status;
    }
    for (size_t i = 0; i < RATES; i++)
        total += parts[i].weight = exp(fit[i] - best);
    for (size_t i = 0; i < RATES; i++)
        parts[i].weight /= full ? 2.0 * total : total;
    if (full)
        parts[RATES] = (uc_calibration){0.5, self->last[UC_FAMILY_FULL].a1, self->last[UC_FAMILY_FULL].a2};
    model->calibration = parts;
    model->calibrations = RATES + full;
    return UC_OK;
}

/* ---- the model ---- */

/* The final fit, on all rows. */
static uc_status fit_all(uc_model *model, const uc_fit *fit, const choice *self)
{
    const size_t n = fit->data->X.rows, K = self->K;
    uc_ridge ridge = {0};
    uc_ridge_targets expected = {0};
    const uc_calibrator *calibrator = &self->first[self->family];
    const uc_refit *refit = &self->refits[self->best[self->family]];
    const double lambdas[2] = {self->lambda, refit->lambda};
    const size_t count = self->head || refit->lambda == self->lambda ? 1 : 2;
    double *R = uc_alloc(n * K, sizeof *R), *f = uc_alloc(n * K, sizeof *f);
    uc_status status = uc_comm_agree(uc_comm_of(fit->context), R && f ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK)
        status = uc_ridge_factor(&ridge, &fit->data->X, fit->weights, lambdas, count,
                                 uc_min_size(refit->rounds, count), fit->context);
    if (status == UC_OK)
        status = uc_label_scores(f, &ridge, fit->data->y, K, self->lambda);
    if (status == UC_OK)
        status = uc_expected_classes(R, f, fit->data->y, n, calibrator, fit->context);
    if (status == UC_OK && self->head)
        status = uc_head_fit(model, self->head, fit, R);
    else if (status == UC_OK)
        status = uc_ridge_project(&expected, &ridge, R, K);
    if (status == UC_OK && !self->head)
        status = uc_refit_weights(model->weights + model->stride, model->weights, model->stride, &ridge,
                                  &expected, fit->data->y, calibrator, *refit);
    model->bias = 1.0;
    uc_ridge_targets_free(&expected);
    uc_ridge_free(&ridge);
    uc_free(f);
    uc_free(R);
    return status;
}

static uc_status keep_noise(uc_model *model, const choice *self)
{
    const size_t K = self->K;
    const double *C = self->last[self->family].C;
    model->noise = uc_alloc(K * K, sizeof *model->noise);
    if (!model->noise)
        return UC_ERR_NOMEM;
    for (size_t p = 0; p < K; p++)
        for (size_t q = 0; q < K; q++)
            model->noise[p * K + q] = C[q * K + p];
    return UC_OK;
}

/* Writes a head in place of the refits of ridge regression. */
static uc_status write_chosen_head(json_t *chosen, const uc_head *head)
{
    double value;
    const char *option = uc_head_option(&value, head);
    (void)json_object_del(chosen, "refit_lambda");
    (void)json_object_del(chosen, "refits");
    const uc_status status = uc_json_set(chosen, "head", json_string(head->learner->name));
    return status == UC_OK ? uc_json_set(chosen, option, json_real(value)) : status;
}

/* Lists the heads among the candidates, with minus the log-likelihood of held-out labels. */
static uc_status write_heads(uc_model *model, const choice *self)
{
    json_t *list = json_array();
    for (size_t h = 0; h < UC_HEADS && list; h++) {
        const uc_head *head = &self->heads[h];
        double value;
        const char *option = uc_head_option(&value, head);
        json_t *entry = json_pack("{s:s, s:{s:f}, s:f, s:f, s:b}", "learner", head->learner->name, "options",
                                  option, value, "criterion", -self->head_fit[h], "error",
                                  self->head_error[h], "stands", (int)(head == self->head));
        int failed = !entry;
        if (entry && h == self->best_head) {
            failed |= json_object_set_new(entry, "gain", json_real(self->gain));
            failed |= json_object_set_new(entry, "gain_deviation", json_real(self->deviation));
        }
        if (failed || json_array_append_new(list, entry) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return uc_json_set(model->summary, "candidates", list);
}

static uc_status write_summary(uc_model *model, const choice *self, double wrong_at_most)
{
    static const char *const families[UC_FAMILIES] = {"none", "symmetric", "full"};
    const uc_refit *refit = &self->refits[self->best[self->family]];
    uc_status status =
        uc_json_set(model->summary, "chosen",
                    json_pack("{s:f, s:s, s:f, s:i}", "lambda", self->lambda, "noise", families[self->family],
                              "refit_lambda", refit->lambda, "refits", (int)refit->rounds));
    if (status == UC_OK && self->head)
        status = write_chosen_head(json_object_get(model->summary, "chosen"), self->head);
    if (status == UC_OK && self->heads[0].learner)
        status = write_heads(model, self);
    if (status == UC_OK)
        status = uc_clean_error_save(model->summary, &self->error, wrong_at_most);
    return status;
}

/* Keeps the first `count` columns. */
static uc_status cut_columns(uc_matrix *X, size_t count)
{
    uc_matrix cut = {0};
    const uc_status status = uc_matrix_create_dense(&cut, X->rows, count);
    for (size_t i = 0; i < X->rows && status == UC_OK; i++)
        memcpy(cut.values + i * cut.stride, X->values + i * X->stride, count * sizeof *cut.values);
    if (status != UC_OK)
        return status;
    uc_matrix_free(X);
    *X = cut;
    return UC_OK;
}

/* The rows on which everything is chosen. The map is nested: its first coordinates are those of a map with
 * fewer landmarks, which are as good for choosing at a fraction of the cost. */
static uc_status take_sample(uc_dataset *sample, const uc_fit *fit)
{
    const uc_map_settings *map = &fit->train->map;
    const uc_status status = uc_dataset_sample(sample, fit->data, SAMPLE, fit->train->seed, fit->context);
    const size_t most =
        map->kernel == UC_KERNEL_LINEAR ? LINEAR_LANDMARKS : uc_ridge_landmarks(sample->X.rows);
    if (status != UC_OK || map->map != UC_MAP_RANDOM || sample->X.cols <= most)
        return status;
    return cut_columns(&sample->X, most);
}

static uc_status fit(uc_model *model, const uc_fit *fit, const void *user)
{
    uc_dataset sample = {0};
    uc_context alone = uc_context_alone(fit->context);
    choice self = {.rows = &sample, .K = model->classes.count, .seed = fit->train->seed, .context = &alone};
    uc_status status = take_sample(&sample, fit);
    self.weights = sample.weights;
    if (status == UC_OK)
        status = choose(&self, fit, user);
    status = uc_comm_agree(uc_comm_of(fit->context), status);
    if (status == UC_OK)
        status = fit_all(model, fit, &self);
    if (status == UC_OK)
        status = average_calibration(model, &self);
    if (status == UC_OK)
        status = keep_noise(model, &self);
    if (status == UC_OK)
        status = write_summary(model, &self, fit->train->wrong_at_most);
    free_choice(&self);
    uc_dataset_free(&sample);
    return status;
}

const uc_learner uc_learner_auto = {
    .name = "auto",
    .summary = "any labels: chooses view, noise and fit by itself; probabilities, and an error to believe",
    .paper = "docs/learners/auto.md",
    .options = options,
    .settings_size = sizeof(uc_auto_settings),
    .full = true,
    .free_offset = true,
    .probabilities = true,
    .map = UC_MAP_AUTO,
    .class_weight = offsetof(uc_auto_settings, class_weight),
    .fit = fit,
};
