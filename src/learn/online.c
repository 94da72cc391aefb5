/*
 * Learning one example at a time: the weights, their average, and the bookkeeping that every online learner shares.
 * A learner only says what a round adds to each class (learner.h).
 *
 *   W      weights        U   sum over rounds s of (s - 1) D_s, D_s what round s added
 *   t      rounds so far
 *
 * The mean of the iterates W_1..W_t costs O(1) extra a step:  mean = W - U / t,  because D_s is in the iterates
 * s..t and so counts t - s + 1 = t - (s - 1) times.
 */
#include "learn/online.h"

#include <string.h>

/* ---- room ---- */

/* A copy of `array` (may be NULL) in another shape; new entries are zero. */
static double *reshaped(const double *array, const uc_online *self, size_t capacity, size_t stride)
{
    size_t count;
    if (!uc_size_mul(&count, capacity + 1, stride)) {
        uc_fail(UC_ERR_NOMEM, "weights for %zu features and %zu classes are too large", capacity, stride);
        return NULL;
    }
    double *copy = uc_alloc(count, sizeof *copy);
    for (size_t j = 0; j <= self->features && array && copy; j++)
        memcpy(copy + j * stride, array + j * self->stride, self->stride * sizeof *copy);
    return copy;
}

/* The arrays grow together or not at all. */
static uc_status resize(uc_online *self, size_t capacity, size_t stride)
{
    double *weights = reshaped(self->weights, self, capacity, stride);
    double *average = self->train.average ? reshaped(self->average, self, capacity, stride) : NULL;
    float *row_work = uc_alloc(capacity, sizeof *row_work);
    if (!weights || !row_work || (self->train.average && !average)) {
        uc_free(weights);
        uc_free(average);
        uc_free(row_work);
        return UC_ERR_NOMEM;
    }
    uc_free(self->weights);
    uc_free(self->average);
    uc_free(self->row_work);
    self->weights = weights;
    self->average = average;
    self->row_work = row_work;
    self->capacity = capacity;
    self->stride = stride;
    self->ticket++;
    return UC_OK;
}

uc_status uc_online_reserve(uc_online *self, size_t features)
{
    if (features > self->capacity) {
        const size_t capacity = self->capacity ? uc_grown(self->capacity, features) : features;
        const uc_status status = resize(self, capacity, self->stride);
        if (status != UC_OK)
            return status;
    }
    if (features > self->features)
        self->features = features;
    return UC_OK;
}

/* Small arrays with room for `classes`. */
static uc_status reserve_classes(uc_online *self, size_t classes)
{
    const size_t stride = uc_class_stride(classes);
    uint64_t *counts = uc_alloc(classes, sizeof *counts);
    double *scores = uc_alloc(stride, sizeof *scores), *full_step = uc_alloc(stride, sizeof *full_step);
    uc_step step = {0, uc_alloc(classes, sizeof *step.classes), uc_alloc(classes, sizeof *step.tau),
                    uc_alloc(classes, sizeof *step.work)};
    uc_status status =
        counts && scores && full_step && step.classes && step.tau && step.work ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK && (stride != self->stride || !self->weights))
        status = resize(self, self->capacity, stride);
    if (status != UC_OK) {
        uc_free(counts);
        uc_free(scores);
        uc_free(full_step);
        uc_free(step.classes);
        uc_free(step.tau);
        uc_free(step.work);
        return status;
    }
    if (self->label_counts)
        memcpy(counts, self->label_counts, self->classes.count * sizeof *counts);
    uc_free(self->label_counts);
    uc_free(self->scores);
    uc_free(self->full_step);
    uc_free(self->step.classes);
    uc_free(self->step.tau);
    uc_free(self->step.work);
    self->label_counts = counts;
    self->scores = scores;
    self->full_step = full_step;
    self->step = step;
    self->ticket++;
    return UC_OK;
}

uc_status uc_online_add_class(uint32_t *index, uc_online *self, const char *name)
{
    const size_t length = strlen(name);
    const uint32_t found = uc_names_find(&self->classes, name, length);
    if (found != UC_NONE) {
        *index = found;
        return UC_OK;
    }
    const uc_status status = reserve_classes(self, self->classes.count + 1);
    return status == UC_OK ? uc_names_add(index, &self->classes, name, length) : status;
}

/* ---- life ---- */

void *uc_learner_settings(const uc_learner *learner, const void *settings)
{
    void *copy = uc_alloc(1, learner->settings_size);
    if (copy && settings)
        memcpy(copy, settings, learner->settings_size);
    else if (copy)
        uc_options_defaults(learner->options, copy);
    return copy;
}

uc_status uc_online_begin(uc_online **out, const uc_learner *learner, const void *settings,
                          const uc_train_settings *train, const uc_names *classes, const uc_steps *steps)
{
    if (!uc_learner_is_online(learner))
        return uc_fail(UC_ERR_INVALID, "%s learns from whole data sets, not one example at a time",
                       learner->name);
    if (train && train->map.map != UC_MAP_NONE)
        return uc_fail(UC_ERR_INVALID,
                       "a map is learned from a whole data set, not one example at a time: leave --map out");
    uc_online *self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    self->learner = learner;
    self->train = uc_train_decide(learner, train);
    self->settings = uc_learner_settings(learner, settings);
    uc_status status = self->settings ? uc_options_check(learner->options, self->settings) : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = uc_options_check(uc_train_options, &self->train);
    if (status == UC_OK && steps)
        status = uc_steps_copy(&self->steps, steps);
    self->steps.normalize = self->train.normalize;
    self->steps.normalize_input = self->train.normalize_input;
    if (status == UC_OK)
        status = reserve_classes(self, classes->count);
    if (status == UC_OK)
        status = uc_names_copy(&self->classes, classes);
    if (status == UC_OK && steps)
        status = uc_online_reserve(self, steps->cols);
    if (status == UC_OK)
        *out = self;
    else
        uc_online_free(self);
    return status;
}

void uc_online_free(uc_online *self)
{
    if (!self)
        return;
    uc_free(self->settings);
    uc_names_free(&self->classes);
    uc_steps_free(&self->steps);
    uc_free(self->weights);
    uc_free(self->average);
    uc_free(self->label_counts);
    uc_free(self->scores);
    uc_free(self->full_step);
    uc_free(self->step.classes);
    uc_free(self->step.tau);
    uc_free(self->step.work);
    uc_free(self->row_work);
    uc_free(self);
}

const uc_names *uc_online_classes(const uc_online *self)
{
    return &self->classes;
}

const uc_learner *uc_online_learner(const uc_online *self)
{
    return self->learner;
}

uint64_t uc_online_rounds(const uc_online *self)
{
    return self->rounds;
}

uint64_t uc_online_updates(const uc_online *self)
{
    return self->updates;
}

/* ---- rounds ---- */

static void score(uc_online *self, uc_row row)
{
    for (size_t k = 0; k < self->stride; k++)
        self->scores[k] = self->train.bias * self->weights[k];
    uc_row_scores(self->scores, row, self->weights + self->stride, self->stride);
    self->ticket++;
}

/* W += row (x) step, dense over the classes when many of them change. */
static void add_step(const uc_online *self, double *array, uc_row row, double factor)
{
    const uc_step *step = &self->step;
    const size_t S = self->stride;
    double *full = self->full_step;
    memset(full, 0, S * sizeof *full);
    for (size_t i = 0; i < step->count; i++)
        full[step->classes[i]] = factor * step->tau[i];
    for (size_t k = 0; k < S; k++)
        array[k] += self->train.bias * full[k];
    if (S <= 8 || 4 * step->count >= S) {
        uc_row_update(array + S, S, row, full);
        return;
    }
    for (size_t i = 0; i < step->count; i++)
        self->step.work[i] = full[step->classes[i]];
    uc_row_update_some(array + S, S, row, step->classes, self->step.work, step->count);
}

/* n/(K n_label), with the counts so far unless they were taken beforehand. */
static double class_weight(const uc_online *self, uint32_t label)
{
    const size_t offset = self->learner->class_weight;
    if (offset == UC_NO_CLASS_WEIGHT ||
        *(const int *)(const void *)((const char *)self->settings + offset) == 0)
        return 1.0;
    uint64_t total = 0;
    size_t present = 0;
    for (size_t k = 0; k < self->classes.count; k++) {
        total += self->label_counts[k];
        present += self->label_counts[k] > 0;
    }
    return (double)total / ((double)present * (double)self->label_counts[label]);
}

/* Learns from self->scores, which belong to `row`. */
static void learn_scored(uc_online *self, uc_row row, uint32_t proposed, double probability, uc_answer answer)
{
    if (answer.kind == UC_ANSWER_LABEL && !self->counts_are_final)
        self->label_counts[answer.label]++;
    uc_round round = {
        .scores = self->scores,
        .classes = self->classes.count,
        .xx = uc_row_norm2(row) + self->train.bias * self->train.bias,
        .proposed = proposed,
        .probability = probability,
        .answer = answer,
        .weight = answer.kind == UC_ANSWER_LABEL ? class_weight(self, answer.label) : 1.0,
    };
    self->step.count = 0;
    if (round.xx > 0.0 && round.classes > 1)
        self->learner->step(&self->step, &round, self->settings);
    if (self->step.count > 0) {
        add_step(self, self->weights, row, 1.0);
        if (self->average && self->rounds > 0)
            add_step(self, self->average, row, (double)self->rounds);
        self->updates++;
        self->ticket++;
    }
    self->rounds++;
}

uint32_t uc_online_round(uc_online *self, uc_row row, uint32_t label)
{
    score(self, row);
    const uint32_t proposed = (uint32_t)uc_argmax(self->scores, self->classes.count);
    learn_scored(self, row, proposed, 1.0, (uc_answer){UC_ANSWER_LABEL, label});
    return proposed;
}

static size_t columns_of(const uc_row *row)
{
    return row->columns ? (row->count ? (size_t)row->columns[row->count - 1] + 1 : 0) : row->count;
}

/* The row as the weights see it; the weights grow with it. */
static uc_status prepare(uc_row *out, uc_online *self, const uc_row *row)
{
    uc_row known = *row;
    if (self->steps.factor) { /* what the scaling does not know is dropped */
        while (known.columns && known.count > 0 && known.columns[known.count - 1] >= self->steps.cols)
            known.count--;
        if (!known.columns && known.count > self->steps.cols)
            known.count = self->steps.cols;
    }
    const uc_status status = uc_online_reserve(self, columns_of(&known));
    if (status == UC_OK)
        *out = uc_steps_row(&self->steps, known, self->row_work);
    return status;
}

uc_status uc_online_propose(uc_proposal *out, uc_online *self, const uc_row *row)
{
    uc_row prepared;
    const uc_status status = prepare(&prepared, self, row);
    if (status != UC_OK)
        return status;
    score(self, prepared);
    const uint32_t label =
        self->classes.count ? (uint32_t)uc_argmax(self->scores, self->classes.count) : UC_NONE;
    *out = (uc_proposal){label, 1.0, self->ticket};
    return UC_OK;
}

uc_status uc_online_learn(uc_online *self, const uc_row *row, const uc_proposal *proposal, uc_answer answer)
{
    if (!uc_learner_accepts(self->learner,
                            answer.kind == UC_ANSWER_LABEL ? UC_FEEDBACK_FULL : UC_FEEDBACK_PARTIAL))
        return uc_fail(UC_ERR_INVALID, "%s does not learn from %s", self->learner->name,
                       answer.kind == UC_ANSWER_LABEL ? "labels, only from right or wrong"
                                                      : "right or wrong, only from labels");
    if (answer.kind == UC_ANSWER_LABEL && answer.label >= self->classes.count)
        return uc_fail(UC_ERR_INVALID, "label %u is not below the number of classes, %zu", answer.label,
                       self->classes.count);
    uc_row prepared;
    const uc_status status = prepare(&prepared, self, row);
    if (status != UC_OK)
        return status;
    if (proposal->ticket != self->ticket)
        score(self, prepared);
    learn_scored(self, prepared, proposal->label, proposal->probability, answer);
    return UC_OK;
}
