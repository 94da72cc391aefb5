/* Online learners of every kind, and functions to play rounds with them, for the tests of online learning. */
#ifndef TESTS_ONLINE_SAMPLE_H
#define TESTS_ONLINE_SAMPLE_H

#include "tests/sample.h"

#include <math.h>

#include "train/online.h"

typedef union online_settings {
    uc_perceptron_settings perceptron;
    uc_pa_settings pa; /* and spa */
    uc_copa_settings copa;
    uc_cspa_settings cspa;
    uc_cspa_plus_settings plus;
    uc_explore_settings explore; /* banditron and bpa */
    uc_confidit_settings confidit;
    uc_arow_settings arow;
    uc_scw_settings scw;
    uc_soba_settings soba;
    uc_onebit_settings onebit;
} online_settings;

typedef struct online_setup {
    const char *learner;
    online_settings settings;
    uc_train_settings train;
} online_setup;

/* Every learner, with its options at several values; false past the last. */
static inline bool online_kind(online_setup *out, size_t i)
{
    static const online_setup kinds[] = {
        {.learner = "perceptron", .settings.perceptron = {.step = 0}},
        {.learner = "perceptron", .settings.perceptron = {.step = 1, .class_weight = 1}},
        {.learner = "pa", .settings.pa = {.variant = 0, .cost = 0.3}},
        {.learner = "pa", .settings.pa = {.variant = 1, .cost = 0.3, .class_weight = 1}},
        {.learner = "pa", .settings.pa = {.variant = 2, .cost = 0.3}},
        {.learner = "spa", .settings.pa = {.variant = 0, .cost = 0.3, .class_weight = 1}},
        {.learner = "spa", .settings.pa = {.variant = 1, .cost = 0.3}},
        {.learner = "spa", .settings.pa = {.variant = 2, .cost = 0.3, .class_weight = 1}},
        {.learner = "copa", .settings.copa = {.cost = 0.04, .cost_scale = 0}},
        {.learner = "copa", .settings.copa = {.cost = 2.0, .cost_scale = 1}},
        {.learner = "cspa", .settings.cspa = {.beta = (double)NAN}},
        {.learner = "cspa", .settings.cspa = {.beta = 0.7}},
        {.learner = "banditron", .settings.explore = {.explore = 0.2}},
        {.learner = "bpa", .settings.explore = {.explore = 0.2}},
        {.learner = "confidit", .settings.confidit = {.eta = 0.5, .prior = 2.0}},
        {.learner = "cspa-plus",
         .settings.plus = {.beta = 0.5,
                           .spread = 3,
                           .prior = 1,
                           .bonus = 1,
                           .replay = 3,
                           .memory_rounds = 50,
                           .tail = UC_AUTO_REAL,
                           .pair = UC_AUTO_FLAG}},
        {.learner = "cspa-plus",
         .settings
             .plus = {.beta = 0.5, .spread = 3, .metric = 1, .prior = 1, .bonus = 1, .memory_rounds = 10000}},
        {.learner = "cspa-plus",
         .settings.plus = {.beta = 0.9,
                           .spread = 1,
                           .metric = 2,
                           .prior = 2,
                           .bonus = 0,
                           .replay = 1,
                           .memory_rounds = 9}},
        {.learner = "cspa-plus",
         .settings.plus = {.beta = 0.3,
                           .spread = 0,
                           .metric = 3,
                           .prior = 3,
                           .bonus = 2,
                           .replay = 7,
                           .memory_rounds = 5}},
        {.learner = "arow", .settings.arow = {.regularizer = 0.3}},
        {.learner = "arow", .settings.arow = {.regularizer = 2.0, .covariance = 1, .class_weight = 1}},
        {.learner = "scw", .settings.scw = {.cost = 0.5, .confidence = 0.9, .class_weight = 1}},
        {.learner = "scw", .settings.scw = {.variant = 1, .cost = 2.0, .confidence = 0.6, .covariance = 1}},
        {.learner = "soba", .settings.soba = {.explore = 0.2, .prior = 0.5, .covariance = 1}},
        {.learner = "soba", .settings.soba = {.explore = 0.1, .prior = 2.0, .covariance = 2}},
    };
    if (i >= sizeof kinds / sizeof *kinds)
        return false;
    *out = kinds[i];
    out->train = uc_train_defaults();
    return true;
}

/* Whether a round changes the weights of all features, not only those of its row. */
static inline bool online_has_full_matrix(const online_setup *self)
{
    const online_settings *settings = &self->settings;
    return (strcmp(self->learner, "cspa-plus") == 0 && settings->plus.metric == 3) ||
           (strcmp(self->learner, "arow") == 0 && settings->arow.covariance == 1) ||
           (strcmp(self->learner, "scw") == 0 && settings->scw.covariance == 1) ||
           (strcmp(self->learner, "soba") == 0 && settings->soba.covariance == 1);
}

/* The same learners with several combinations of averaging, constant feature and unit length. */
static inline bool online_setup_number(online_setup *out, size_t i)
{
    if (!online_kind(out, i / 4))
        return false;
    out->train.average = (int)(i % 2);
    out->train.bias = i / 2 % 2 ? 0.5 : 0.0;
    out->train.normalize = (int)((i + i / 2) % 2);
    out->train.seed = i;
    return true;
}

/* Adds a map of landmarks, which arrive with the stream. */
static inline void add_landmarks(online_setup *self, uint64_t dimension)
{
    self->train.map.map = UC_MAP_LANDMARKS;
    self->train.map.kernel = UC_KERNEL_GAUSSIAN;
    self->train.map.width = 5.0;
    self->train.map.dimension = dimension;
}

static inline uc_online *online_begin(const online_setup *self, const uc_names *classes,
                                      const uc_preprocessing *preprocessing)
{
    uc_online *online = NULL;
    assert_ok(uc_online_begin(&online, uc_learner_find(self->learner), &self->settings, &self->train, classes,
                              preprocessing));
    return online;
}

/* The feedback that the learner gets on a proposal when the label is y. */
static inline uc_answer online_answer(const uc_online *online, const uc_proposal *proposal, uint32_t y)
{
    if (uc_learner_accepts(uc_online_learner(online), UC_FEEDBACK_FULL))
        return (uc_answer){UC_ANSWER_LABEL, y};
    return (uc_answer){proposal->label == y ? UC_ANSWER_RIGHT : UC_ANSWER_WRONG, 0};
}

static inline uint32_t online_round_on(uc_online *online, uc_row row, uint32_t y)
{
    uc_proposal proposal;
    assert_ok(uc_online_propose(&proposal, online, &row));
    assert_ok(uc_online_learn(online, &row, &proposal, online_answer(online, &proposal, y)));
    return proposal.label;
}

static inline uint32_t online_round(uc_online *online, const uc_dataset *data, size_t i)
{
    return online_round_on(online, uc_matrix_row(&data->X, i), data->y[i]);
}

/* Checks that the model and the whole state are the same, bit for bit. */
static inline void check_same_online(const uc_online *a, const uc_online *b)
{
    uc_model *x, *y;
    assert_ok(uc_online_model(&x, a, true));
    assert_ok(uc_online_model(&y, b, true));
    assert_int_equal(x->features, y->features);
    assert_int_equal(x->dimension, y->dimension);
    assert_int_equal(x->stride, y->stride);
    assert_memory_equal(x->weights, y->weights, (x->dimension + 1) * x->stride * sizeof(double));
    assert_int_equal(x->state.count, y->state.count);
    for (size_t i = 0; i < x->state.count; i++) {
        const uc_array *a_array = &x->state.arrays[i], *b_array = &y->state.arrays[i];
        assert_string_equal(a_array->name, b_array->name);
        assert_int_equal(a_array->count, b_array->count);
        assert_memory_equal(a_array->data, b_array->data, a_array->count * uc_array_item_size(a_array->type));
    }
    assert_true(json_equal(x->state.counters, y->state.counters));
    assert_true(json_equal(x->settings, y->settings));
    uc_model_free(x);
    uc_model_free(y);
}

/* The change of the weights by a learner's `step`, one number per class; returns how many change. */
static inline size_t take_online_step(double *tau, const uc_learner *learner, const void *settings,
                                      const uc_round *round)
{
    enum { MOST_CLASSES = 64 };
    uint32_t classes[MOST_CLASSES];
    double values[MOST_CLASSES], work[MOST_CLASSES];
    uc_step step = {0, classes, values, work};
    assert_true(round->classes <= MOST_CLASSES);
    learner->step(&step, round, settings);
    memset(tau, 0, round->classes * sizeof *tau);
    for (size_t i = 0; i < step.count; i++) {
        assert_true(classes[i] < round->classes && tau[classes[i]] == 0.0);
        tau[classes[i]] = values[i];
    }
    return step.count;
}

/* Adds the part that a `relative` learner leaves out to every class: the mean becomes 0. */
static inline void centre(double *values, size_t count)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++)
        sum += values[k];
    for (size_t k = 0; k < count; k++)
        values[k] -= sum / (double)count;
}

static inline double dense_value(uc_row row, size_t j)
{
    if (!row.columns)
        return j < row.count ? (double)row.values[j] : 0.0;
    for (size_t i = 0; i < row.count; i++)
        if (row.columns[i] == j)
            return (double)row.values[i];
    return 0.0;
}

#endif
