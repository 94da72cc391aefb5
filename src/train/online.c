/*
 * The life of an online learner: memory for its weights as columns and classes arrive, and the rounds that
 * change them. The learner decides what a round adds to each class (learn/learner.h); weights.c adds it.
 *
 * A learner that is `relative` omits the part of a step that is equal for all classes, so that a step costs
 * one class instead of all. In the published algorithm the mean over the classes is always 0; the mean is
 * therefore subtracted when the weights are written to a model and when a class is added.
 */
#include "train/online.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "map/map.h"
#include "prepare/preprocessing.h"

#define SEQUENCE_LEARNER UINT64_C(0x6c6561726e657220) /* random numbers: "learner " */

/* ---- room ---- */

/* Whether the plane exists for this number of features, and the start value of its entries. */
static bool has_plane(double *start, const uc_online *self, size_t plane, size_t features)
{
    const uc_shape shape = uc_shape_of(features, self->density);
    *start = 0.0;
    if (plane < UC_OWN)
        return plane == UC_WEIGHTS || self->train.average;
    return self->learner->plane && self->learner->plane(start, self->settings, plane - UC_OWN, shape);
}

/* A copy of a plane in another shape. */
static double *reshaped(const uc_online *self, size_t plane, size_t capacity, size_t stride, double start)
{
    size_t count;
    if (!uc_size_mul(&count, capacity + 1, stride)) {
        uc_fail(UC_ERR_NOMEM, "weights for %zu features and %zu classes are too large", capacity, stride);
        return NULL;
    }
    double *copy = uc_alloc(count, sizeof *copy);
    if (!copy)
        return NULL;
    for (size_t i = 0; i < count && start != 0.0; i++)
        copy[i] = start;
    for (size_t j = 0; j <= self->features && self->plane[plane]; j++)
        memcpy(copy + j * stride, self->plane[plane] + j * self->stride, self->stride * sizeof *copy);
    return copy;
}

/* Grows all planes, or none of them on failure. */
static uc_status resize(uc_online *self, size_t capacity, size_t stride, size_t features)
{
    double *plane[UC_PLANES] = {NULL}, start;
    for (size_t p = 0; p < UC_PLANES; p++) {
        if (!has_plane(&start, self, p, features))
            continue;
        plane[p] = reshaped(self, p, capacity, stride, start);
        if (!plane[p]) {
            while (p-- > 0)
                uc_free(plane[p]);
            return UC_ERR_NOMEM;
        }
    }
    for (size_t p = 0; p < UC_PLANES; p++) {
        uc_free(self->plane[p]);
        self->plane[p] = plane[p];
    }
    self->capacity = capacity;
    self->stride = stride;
    self->ticket++;
    return UC_OK;
}

/* Grows the learner's own memory before features or classes are added. */
static uc_status grow_memory(uc_online *self, size_t features, size_t classes)
{
    if (!self->learner->grow)
        return UC_OK;
    return self->learner->grow(self, uc_shape_of(features, self->density), classes);
}

/* Tells the learner how many features there are now; the planes already have room for them. */
static uc_status settle_features(uc_online *self, size_t features)
{
    const uc_status status = grow_memory(self, features, self->classes.count);
    if (status != UC_OK)
        return status;
    assert(features <= self->capacity);
    self->features = features;
    double start;
    for (size_t p = UC_OWN; p < UC_PLANES; p++)
        if (self->plane[p] && !has_plane(&start, self, p, features)) { /* not used for such rows */
            uc_free(self->plane[p]);
            self->plane[p] = NULL;
        }
    return UC_OK;
}

uc_status uc_online_reserve(uc_online *self, size_t features)
{
    if (features <= self->features)
        return UC_OK;
    if (features > self->capacity) {
        size_t capacity = features;
        if (self->capacity > 0)
            capacity = uc_grown(self->capacity, features);
        const uc_status status = resize(self, capacity, self->stride, features);
        if (status != UC_OK)
            return status;
    }
    return settle_features(self, features);
}

static uc_status reserve_row_work(uc_online *self, size_t size)
{
    if (size <= self->row_work_size)
        return UC_OK;
    float *row_work = uc_alloc(size, sizeof *row_work);
    if (!row_work)
        return UC_ERR_NOMEM;
    uc_free(self->row_work);
    self->row_work = row_work;
    self->row_work_size = size;
    self->ticket++;
    return UC_OK;
}

uc_status uc_online_reserve_columns(uc_online *self, size_t columns)
{
    const bool mapped = self->preprocessing.map != NULL;
    if (self->running) {
        const uc_status status = uc_running_widen(&self->preprocessing, self->running, columns);
        if (status != UC_OK)
            return status;
    }
    if (!mapped) {
        const uc_status status = uc_online_reserve(self, columns);
        if (status != UC_OK)
            return status;
    }
    if (columns > self->columns)
        self->columns = columns;
    if (uc_preprocessing_is_identity(&self->preprocessing))
        return UC_OK;
    if (!mapped)
        columns = self->capacity;
    return reserve_row_work(self, uc_preprocessing_row_work(&self->preprocessing, columns));
}

/* Until this call rows count as dense. It may therefore remove planes that only dense rows use; it never adds
 * any. */
uc_status uc_online_expect(uc_online *self, size_t columns, double density)
{
    const double before = self->density;
    uc_status status = UC_OK;
    if (isnan(before)) {
        self->density = density;
        status = settle_features(self, self->features);
    }
    if (status == UC_OK)
        status = uc_online_reserve_columns(self, columns);
    if (status != UC_OK)
        self->density = before;
    return status;
}

/* The arrays with one entry per class. */
typedef struct class_arrays {
    double *label_counts;
    double *scores, *full_step;
    uc_step step;
} class_arrays;

static class_arrays class_arrays_of(const uc_online *self)
{
    return (class_arrays){self->label_counts, self->scores, self->full_step, self->step};
}

static void free_class_arrays(class_arrays self)
{
    uc_free(self.label_counts);
    uc_free(self.scores);
    uc_free(self.full_step);
    uc_free(self.step.classes);
    uc_free(self.step.tau);
    uc_free(self.step.work);
}

static uc_status allocate_class_arrays(class_arrays *out, size_t classes)
{
    const size_t stride = uc_class_stride(classes);
    const class_arrays self = {.label_counts = uc_alloc(classes, sizeof *self.label_counts),
                               .scores = uc_alloc(stride, sizeof *self.scores),
                               .full_step = uc_alloc(stride, sizeof *self.full_step),
                               .step = {.classes = uc_alloc(classes, sizeof *self.step.classes),
                                        .tau = uc_alloc(classes, sizeof *self.step.tau),
                                        .work = uc_alloc(classes, sizeof *self.step.work)}};
    const bool step = self.step.classes && self.step.tau && self.step.work;
    if (!self.label_counts || !self.scores || !self.full_step || !step) {
        free_class_arrays(self);
        return UC_ERR_NOMEM;
    }
    *out = self;
    return UC_OK;
}

/* Makes room for `classes` classes, in the small arrays and in the planes. */
static uc_status reserve_classes(uc_online *self, size_t classes)
{
    const size_t stride = uc_class_stride(classes);
    class_arrays arrays;
    uc_status status = allocate_class_arrays(&arrays, classes);
    if (status != UC_OK)
        return status;
    if (stride != self->stride || !self->plane[UC_WEIGHTS])
        status = resize(self, self->capacity, stride, self->features);
    if (status != UC_OK) {
        free_class_arrays(arrays);
        return status;
    }
    if (self->label_counts)
        memcpy(arrays.label_counts, self->label_counts, self->classes.count * sizeof *arrays.label_counts);
    free_class_arrays(class_arrays_of(self));
    self->label_counts = arrays.label_counts;
    self->scores = arrays.scores;
    self->full_step = arrays.full_step;
    self->step = arrays.step;
    self->ticket++;
    return UC_OK;
}

/* Copies the given weights of the first `known` classes; a class added later has weight 1. */
static uc_status keep_class_weights(uc_online *self, size_t known, size_t classes)
{
    if (!self->train.class_weights)
        return UC_OK;
    double *weights = uc_alloc(classes, sizeof *weights);
    if (!weights)
        return UC_ERR_NOMEM;
    for (size_t k = 0; k < known; k++) {
        assert(self->train.class_weights[k] > 0.0);
        weights[k] = self->train.class_weights[k];
    }
    for (size_t k = known; k < classes; k++)
        weights[k] = 1.0;
    uc_free(self->class_weights);
    self->train.class_weights = self->class_weights = weights;
    return UC_OK;
}

/* In the published algorithm a new class starts with weight 0, so the mean of the others must be 0 at that
 * time. */
static void settle_mean(uc_online *self)
{
    const size_t K = self->classes.count;
    for (size_t p = UC_WEIGHTS; p <= UC_AVERAGE && self->learner->relative && K > 0; p++)
        for (size_t j = 0; j <= self->features && self->plane[p]; j++) {
            double *row = self->plane[p] + j * self->stride, sum = 0.0;
            for (size_t k = 0; k < K; k++)
                sum += row[k];
            for (size_t k = 0; k < K; k++)
                row[k] -= sum / (double)K;
        }
}

uc_status uc_online_add_class(uint32_t *index, uc_online *self, const char *name)
{
    const size_t length = strlen(name);
    const uint32_t found = uc_names_find_label(&self->classes, name, length);
    if (found != UC_NONE) {
        *index = found;
        return UC_OK;
    }
    const size_t classes = self->classes.count + 1;
    uc_status status = grow_memory(self, self->features, classes);
    if (status == UC_OK)
        status = keep_class_weights(self, classes - 1, classes);
    if (status == UC_OK)
        status = reserve_classes(self, classes);
    if (status != UC_OK)
        return status;
    settle_mean(self);
    return uc_names_add(index, &self->classes, name, length);
}

/* ---- life ---- */

/* Starts the map that grows as rows arrive, unless `preprocessing` already contains a grown one. */
static uc_status begin_map(uc_online *self)
{
    const uc_map_settings *map = &self->train.map;
    const uc_status status = uc_check_own_map(self->learner, map);
    if (status != UC_OK)
        return status;
    if (map->map == UC_MAP_NONE || map->map >= UC_MAP_AUTO || self->preprocessing.map)
        return UC_OK;
    if (map->map != UC_MAP_LANDMARKS)
        return uc_fail(UC_ERR_INVALID,
                       "this map is learned from a whole data set, not one example at a time: use "
                       "{map=landmarks}");
    const double width = uc_map_width_given(map);
    if (map->kernel == UC_KERNEL_GAUSSIAN && !(width > 0.0))
        return uc_fail(UC_ERR_INVALID,
                       "the width of the kernel cannot be found one example at a time: give {width W}");
    return uc_map_begin_landmarks(&self->preprocessing.map, map, width);
}

static uc_status check_settings(const uc_online *self, const uc_names *classes)
{
    uc_status status = uc_options_check(self->learner->options, self->settings);
    if (status == UC_OK)
        status = uc_options_check(uc_train_options, &self->train);
    if (status == UC_OK)
        status = uc_check_class_weights(self->learner, &self->train, classes);
    return status;
}

/* Uses the scaling that was learned beforehand, or sets up one that is learned as rows arrive. */
static uc_status begin_scaling(uc_online *self, const uc_preprocessing *preprocessing)
{
    const uc_scaling scaling = (uc_scaling)self->train.scale;
    if (preprocessing)
        return uc_preprocessing_copy(&self->preprocessing, preprocessing);
    if (scaling == UC_SCALE_NONE || scaling >= UC_SCALE_AUTO)
        return UC_OK;
    return uc_running_begin(&self->preprocessing, &self->running, scaling);
}

static uc_status begin_preprocessing(uc_online *self, const uc_preprocessing *preprocessing)
{
    uc_status status = begin_scaling(self, preprocessing);
    if (status != UC_OK)
        return status;
    self->preprocessing.normalize = self->train.normalize;
    self->preprocessing.normalize_input = self->train.normalize_input;
    status = begin_map(self);
    self->density = (double)NAN;
    if (self->preprocessing.map || self->preprocessing.shift)
        self->density = 1.0;
    return status;
}

/* Allocates the learner's own memory for rows without columns. */
static uc_status begin_memory(uc_online *self)
{
    const size_t size = self->learner->memory_size;
    if (size > 0) {
        self->memory = uc_alloc(1, size);
        if (!self->memory)
            return UC_ERR_NOMEM;
    }
    return grow_memory(self, 0, self->classes.count);
}

/* Sets up everything after the settings, which are already there. After a failure *self must still be
 * freed. */
static uc_status begin(uc_online *self, const uc_names *classes, const uc_preprocessing *preprocessing)
{
    uc_status status = check_settings(self, classes);
    if (status != UC_OK)
        return status;
    status = keep_class_weights(self, classes->count, classes->count);
    if (status != UC_OK)
        return status;
    status = begin_preprocessing(self, preprocessing);
    if (status != UC_OK)
        return status;
    status = reserve_classes(self, classes->count);
    if (status == UC_OK)
        status = uc_names_copy(&self->classes, classes);
    if (status == UC_OK)
        status = begin_memory(self);
    if (status != UC_OK)
        return status;
    if (self->preprocessing.map)
        status = uc_online_reserve(self, uc_map_dimension(self->preprocessing.map));
    if (status == UC_OK && preprocessing)
        status = uc_online_reserve_columns(self, preprocessing->cols);
    return status;
}

uc_status uc_online_begin(uc_online **out, const uc_learner *learner, const void *settings,
                          const uc_train_settings *train, const uc_names *classes,
                          const uc_preprocessing *preprocessing)
{
    if (!uc_learner_is_online(learner))
        return uc_fail(UC_ERR_INVALID, "%s learns from whole data sets, not one example at a time",
                       learner->name);
    uc_online *self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    uc_status status = UC_ERR_NOMEM;
    self->learner = learner;
    self->train = uc_train_decide(learner, train);
    self->rng = uc_rng_make(self->train.seed, SEQUENCE_LEARNER);
    self->settings = uc_learner_settings(learner, settings);
    if (self->settings)
        status = begin(self, classes, preprocessing);
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
    if (self->memory && self->learner->release)
        self->learner->release(self->memory);
    uc_free(self->memory);
    uc_free(self->settings);
    uc_names_free(&self->classes);
    uc_preprocessing_free(&self->preprocessing);
    uc_scale_sums_free(self->running);
    for (size_t p = 0; p < UC_PLANES; p++)
        uc_free(self->plane[p]);
    uc_free(self->class_weights);
    free_class_arrays(class_arrays_of(self));
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

uint64_t uc_online_proposals(const uc_online *self)
{
    return self->proposals;
}

const double *uc_online_scores(const uc_online *self)
{
    return self->scores;
}

bool uc_online_has_map(const uc_online *self)
{
    return self->preprocessing.map != NULL;
}

/* ---- rounds ---- */

/* The given weight, or n/(K n_label) from the counts so far unless they were taken beforehand. */
static double class_weight(const uc_online *self, uint32_t label)
{
    if (self->class_weights)
        return self->class_weights[label];
    const size_t offset = self->learner->class_weight;
    if (offset == UC_NO_CLASS_WEIGHT ||
        *(const int *)(const void *)((const char *)self->settings + offset) == 0)
        return 1.0;
    size_t present = 0;
    for (size_t k = 0; k < self->classes.count; k++)
        present += self->label_counts[k] > 0.0;
    return self->label_total / ((double)present * self->label_counts[label]);
}

/* Applies the step for this round in the direction of the row. */
static void learn_step(uc_online *self, uc_row row, const uc_round *round)
{
    self->step.count = 0;
    self->learner->step(&self->step, round, self->settings);
    if (round->weight != 1.0 && !self->learner->weighs_steps)
        for (size_t i = 0; i < self->step.count; i++)
            self->step.tau[i] *= round->weight;
    const uc_direction along = {.length = round->xx, .constant = self->train.bias, .row = row};
    uc_online_add(self, &along);
    self->updates += self->step.count > 0;
}

uc_status uc_online_learn_scored(uc_online *self, uc_row row, const uc_proposal *proposal, uc_answer answer,
                                 double weight)
{
    const uint64_t before = self->updates;
    uc_round round = {
        .scores = self->scores,
        .classes = self->classes.count,
        .xx = uc_row_norm2(row) + self->train.bias * self->train.bias,
        .proposal = *proposal,
        .answer = answer,
        .weight = weight,
        .inverse_share = 1.0,
    };
    assert(uc_row_width(row) <= self->features && weight > 0.0);
    if (answer.kind == UC_ANSWER_LABEL) {
        assert(answer.label < self->classes.count);
        if (!self->counts_are_final) {
            self->label_counts[answer.label] += round.weight;
            self->label_total += round.weight;
        }
        round.weight *= class_weight(self, answer.label);
        round.inverse_share = self->label_total / self->label_counts[answer.label];
    }
    uc_status status = UC_OK;
    const bool moves = round.xx > 0.0 && round.classes > 1;
    if (moves && self->learner->learn)
        status = self->learner->learn(self, row, &round);
    else if (moves)
        learn_step(self, row, &round);
    if (self->updates != before)
        self->ticket++;
    self->rounds += status == UC_OK;
    return status;
}

uc_proposal uc_online_propose_scored(uc_online *self, uc_row row)
{
    const size_t K = self->classes.count;
    uc_proposal proposal = {UC_NONE, 1.0, UC_NONE, self->ticket};
    assert(uc_row_width(row) <= self->features);
    if (K > 0)
        proposal.label = proposal.favourite = (uint32_t)uc_argmax(self->scores, K);
    if (K > 0 && self->learner->propose)
        self->learner->propose(&proposal, self, row);
    assert(K == 0 || proposal.label < K);
    self->proposals++;
    return proposal;
}
