/*
 *   t     age: rounds so far          K   classes         p  the class proposed
 *   phi   features of a row (choice.h)                    s  = W'phi
 *
 * Targets are centred by 1/K. The target of a round is e_y if its class y is known; otherwise it follows from
 * the scores of the other classes (refit.h) and is recomputed now and then. All classes share one ridge
 * problem, because A does not depend on the labels (running_ridge.h).
 *
 *   round     the row joins with its target; then, `replay` times, a random wrong round among those kept gets
 *             a new target; if that differs by `least` or more in total, the ridge is updated
 *   refit     at ages 8 x 1.2^i, from 512 on whenever the age has grown by half, all wrong rounds get new
 *             targets
 *   new map   at age 16, then at 1.19 times the age up to 256, then at 512, 1024 and 2048; the first with a
 *             fixed view; then map, ridge and targets are rebuilt from the rounds kept
 *   forget    every 4,096 rounds: decides whether and how fast to forget (forget.h)
 *   restart   if the share of right proposals fell too far (change.h), all rounds except those after the
 *             change are forgotten
 *
 * A round that is no longer kept remains in A and B with its last target.
 */
#include "learn/onebit/dense.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define FIRST_MAP 16
#define FIRST_CHOICE 32
#define LAST_MAP 2048
#define EARLY_MAPS 256 /* up to this age maps follow each other faster: each round adds much information */
#define EARLY_GROWTH 1.19
#define FIRST_REFIT 8.0
#define REFIT_GROWTH 1.2
#define LATE_REFIT 512 /* from this age on refits are rarer, since replays keep the targets fresh */
#define LATE_GROWTH 1.5
#define LINEAR_COLUMNS ((size_t)64)
#define BYTES_LIMIT 268435456.0 /* for the rounds kept */
#define BLOCK ((size_t)256)
#define MOST_FLUSHES 4
/* The initial line for the probability that a proposal is right, given its score: roughly the score
 * itself. */
#define DOUBT_OFFSET (-3.0)
#define DOUBT_SLOPE 6.0

/* ---- room ---- */

static size_t limit_for(size_t columns, size_t classes, const uc_onebit_settings *settings, size_t landmarks)
{
    const size_t features = 1 + landmarks + (columns <= LINEAR_COLUMNS ? columns : 0);
    const double fitting = BYTES_LIMIT / uc_rounds_bytes(columns, features, classes);
    const double limit = fmin((double)settings->memory_rounds, floor(fitting));
    return limit < 1.0 ? 1 : (size_t)limit;
}

double uc_onebit_dense_bytes(size_t columns, size_t classes, const uc_onebit_settings *settings,
                             size_t landmarks, double rounds)
{
    const size_t features = 1 + landmarks + (columns <= LINEAR_COLUMNS ? columns : 0);
    const double n = (double)features, K = (double)uc_class_stride(classes);
    const double kept = fmin(rounds, (double)limit_for(columns, classes, settings, landmarks));
    return kept * uc_rounds_bytes(columns, features, classes) + 8.0 * n * (2.0 * n + 4.0 * K + 64.0) +
           4.0 * (double)landmarks * (double)columns;
}

void uc_onebit_dense_free(uc_onebit_dense *self)
{
    uc_rounds_free(&self->rounds);
    uc_map_free(self->map);
    uc_running_ridge_free(&self->ridge);
    uc_free(self->phi);
    uc_free(self->map_work);
    uc_free(self->target);
    uc_free(self->past);
    uc_free(self->sums);
    *self = (uc_onebit_dense){0};
}

static uc_onebit_choice choice_of(const uc_onebit_settings *settings, size_t landmarks)
{
    return (uc_onebit_choice){.prior = settings->ridge,
                              .jitter = settings->jitter,
                              .landmarks = landmarks,
                              .linear = LINEAR_COLUMNS};
}

void uc_onebit_mapped_free(uc_onebit_mapped *self)
{
    uc_map_free(self->map);
    uc_running_ridge_free(&self->ridge);
    uc_free(self->phi);
    uc_free(self->map_work);
    uc_free(self->sums);
}

uc_status uc_onebit_mapped_begin(uc_onebit_mapped *out, uc_map *map, size_t classes)
{
    uc_onebit_mapped self = {.map = map};
    const size_t n = 1 + map->dimension;
    uc_status status = uc_running_ridge_begin(&self.ridge, n, classes);
    self.phi = uc_alloc(n, sizeof *self.phi);
    self.map_work = uc_alloc(uc_map_row_work(map), sizeof *self.map_work);
    self.sums = uc_alloc(n * uc_class_stride(classes), sizeof *self.sums);
    if (status == UC_OK && (!self.phi || !self.map_work || !self.sums))
        status = UC_ERR_NOMEM;
    if (status == UC_OK)
        *out = self;
    else
        uc_onebit_mapped_free(&self);
    return status;
}

void uc_onebit_take_mapped(uc_onebit_dense *self, uc_onebit_mapped *mapped)
{
    uc_map_free(self->map);
    uc_running_ridge_free(&self->ridge);
    uc_free(self->phi);
    uc_free(self->map_work);
    uc_free(self->sums);
    self->map = mapped->map;
    self->ridge = mapped->ridge;
    self->phi = mapped->phi;
    self->map_work = mapped->map_work;
    self->sums = mapped->sums;
}

void uc_onebit_map_row(float *phi, const uc_map *map, uc_row row, double *work)
{
    phi[0] = 1.0f;
    uc_map_row(phi + 1, map, row, work);
}

/* The state before the first round: no landmarks, rows are scaled to unit length. */
static uc_status begin_rounds(uc_onebit_dense *self, const uc_onebit_settings *settings, size_t landmarks)
{
    uc_onebit_choice choice = choice_of(settings, landmarks);
    const uc_onebit_view unit = {UC_ROWS_UNIT, 1.0};
    uc_map *map = NULL;
    uc_onebit_mapped new;
    choice.linear = UC_ONEBIT_MOST_LINEAR;
    uc_rng unused = uc_rng_make(0, 0);
    uc_status status = uc_onebit_make_map(&map, &self->rounds, &unit, &choice, &unused);
    if (status == UC_OK)
        status = uc_onebit_mapped_begin(&new, map, self->classes);
    if (status != UC_OK)
        return status;
    status = uc_onebit_prior(new.ridge.inverse, new.ridge.stride, new.map, &choice);
    if (status == UC_OK)
        status = uc_symmetric_invert(new.ridge.inverse, new.ridge.stride, new.ridge.size);
    if (status == UC_OK)
        status = uc_rounds_reshape(&self->rounds, self->columns, new.ridge.size, self->classes);
    if (status != UC_OK) {
        uc_onebit_mapped_free(&new);
        return status;
    }
    uc_onebit_take_mapped(self, &new);
    return UC_OK;
}

static uc_status grow_classes(uc_onebit_dense *self, size_t classes)
{
    const size_t stride = uc_class_stride(classes);
    double *target = uc_alloc(stride, sizeof *target), *past = uc_alloc(stride, sizeof *past);
    double *sums = uc_alloc(uc_grown(0, self->ridge.size) * stride, sizeof *sums);
    uc_status status = target && past && sums ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = uc_rounds_reshape(&self->rounds, self->rounds.columns, self->rounds.features, classes);
    if (status == UC_OK && self->map)
        status = uc_running_ridge_add_classes(&self->ridge, classes);
    if (status != UC_OK) {
        uc_free(target);
        uc_free(past);
        uc_free(sums);
        return status;
    }
    uc_free(self->target);
    uc_free(self->past);
    uc_free(self->sums);
    self->target = target;
    self->past = past;
    self->sums = sums;
    self->classes = classes;
    return UC_OK;
}

uc_status uc_onebit_dense_grow(uc_onebit_dense *self, size_t columns, size_t classes,
                               const uc_onebit_settings *settings, size_t landmarks)
{
    uc_status status = uc_blas_begin(1);
    if (self->next_map == 0) {
        self->next_map = FIRST_MAP;
        self->next_refit = FIRST_REFIT;
        self->rule = (uc_onebit_rule){settings->penalty,
                                      uc_doubt_begin(settings->feedback_noise, DOUBT_OFFSET, DOUBT_SLOPE)};
    }
    if (status == UC_OK && classes > self->classes)
        status = grow_classes(self, classes);
    if (status == UC_OK && columns > self->columns) {
        status = uc_rounds_reshape(&self->rounds, columns, self->rounds.features, self->rounds.classes);
        if (status == UC_OK)
            self->columns = columns;
        if (status == UC_OK && self->age == 0)
            status = begin_rounds(self, settings, landmarks);
    }
    self->limit = limit_for(self->columns, self->classes, settings, landmarks);
    return status;
}

/* ---- maps ---- */

/* A = prior + sum phi phi'; B and f from the rounds, whose features are in `phi`. */
static void add_rounds(uc_running_ridge *ridge, const uc_rounds *rounds, const float *phi, double *block,
                       double *targets)
{
    const size_t n = ridge->size, S = ridge->stride, K = rounds->classes, C = ridge->class_stride;
    for (size_t first = 0; first < rounds->count; first += BLOCK) {
        const size_t count = uc_min_size(BLOCK, rounds->count - first);
        for (size_t i = 0; i < count; i++) {
            const uc_past_round round = uc_rounds_at(rounds, first + i);
            const float *features = phi + (first + i) * n;
            const double root = sqrt(round.weight);
            for (size_t j = 0; j < n; j++)
                block[i * S + j] = root * (double)features[j];
            for (size_t k = 0; k < K; k++) {
                const double t = round.known ? (double)(k == round.class) : (double)round.target[k];
                targets[i * C + k] = root * (t - 1.0 / (double)K);
            }
            uc_row_axpy(round.weight, (uc_row){n, features, NULL}, ridge->feature_sum);
        }
        uc_symmetric_add(ridge->inverse, S, n, 1.0, block, S, count);
        uc_gemm(ridge->sums, C, (uc_operand){block, S, true}, (uc_operand){targets, C, false}, n, count, C,
                1.0, 1.0);
    }
}

static void take_features(uc_rounds *rounds, const float *phi)
{
    const size_t n = rounds->features;
    for (size_t i = 0; i < rounds->count; i++)
        memcpy(uc_rounds_at(rounds, i).phi, phi + i * n, n * sizeof *phi);
}

/* Builds the ridge on a new map from all rounds kept. */
static uc_status fill_mapped(uc_onebit_mapped *new, uc_onebit_dense *self)
{
    uc_rounds *rounds = &self->rounds;
    const size_t n = new->ridge.size;
    float *phi = uc_alloc(rounds->count * n, sizeof *phi);
    double *block = uc_alloc(BLOCK * new->ridge.stride, sizeof *block);
    double *targets = uc_alloc(BLOCK * new->ridge.class_stride, sizeof *targets);
    uc_status status = phi && block && targets ? UC_OK : UC_ERR_NOMEM;
    for (size_t i = 0; i < rounds->count && status == UC_OK; i++)
        uc_onebit_map_row(phi + i * n, new->map, (uc_row){rounds->columns, uc_rounds_at(rounds, i).row, NULL},
                          new->map_work);
    if (status == UC_OK) {
        add_rounds(&new->ridge, rounds, phi, block, targets);
        status = uc_symmetric_invert(new->ridge.inverse, new->ridge.stride, n);
    }
    if (status == UC_OK)
        status = uc_rounds_reshape(rounds, rounds->columns, n, rounds->classes);
    if (status == UC_OK)
        take_features(rounds, phi);
    uc_free(targets);
    uc_free(block);
    uc_free(phi);
    return status;
}

static uc_status make_new_map(uc_onebit_dense *self, const uc_onebit_settings *settings, size_t landmarks,
                              uc_rng *rng)
{
    const uc_onebit_choice choice = choice_of(settings, landmarks);
    uc_onebit_view view = {UC_ROWS_STANDARD, 1.0};
    uc_map *map = NULL;
    uc_onebit_mapped new;
    uc_status status = UC_OK;
    if (self->age >= FIRST_CHOICE)
        status = uc_onebit_choose(&view, &self->rounds, &choice, rng);
    if (status == UC_OK)
        status = uc_onebit_make_map(&map, &self->rounds, &view, &choice, rng);
    if (status == UC_OK)
        status = uc_onebit_mapped_begin(&new, map, self->classes);
    if (status != UC_OK)
        return status;
    status = uc_onebit_prior(new.ridge.inverse, new.ridge.stride, new.map, &choice);
    if (status == UC_OK)
        status = fill_mapped(&new, self);
    if (status != UC_OK) {
        uc_onebit_mapped_free(&new);
        return status;
    }
    uc_onebit_take_mapped(self, &new);
    return uc_onebit_refit(&self->ridge, &self->rounds, &self->rule);
}

/* ---- rounds ---- */

void uc_onebit_dense_score(double *scores, uc_onebit_dense *self, uc_row row)
{
    const size_t C = uc_class_stride(self->classes);
    memset(scores, 0, C * sizeof *scores);
    if (!self->map)
        return;
    uc_onebit_map_row(self->phi, self->map, row, self->map_work);
    uc_row_scores(scores, (uc_row){self->ridge.size, self->phi, NULL}, self->ridge.weights, C);
}

static void keep(uc_onebit_dense *self, uc_row row, const uc_onebit_answer *answer, double leverage)
{
    const uc_past_round kept = uc_rounds_add(&self->rounds, answer, self->limit);
    if (self->columns > 0)
        memset(kept.row, 0, self->columns * sizeof *kept.row);
    for (size_t i = 0; i < row.count; i++)
        kept.row[uc_row_column(row, i)] = row.values[i];
    memcpy(kept.phi, self->phi, self->ridge.size * sizeof *kept.phi);
    for (size_t k = 0; k < self->classes; k++)
        kept.target[k] = (float)self->target[k];
    *kept.leverage = (float)fmin(1.0, leverage);
}

/* Adds the round to the ridge and to the rounds kept. */
static void add_round(uc_onebit_dense *self, uc_row row, const uc_onebit_answer *answer, const double *scores)
{
    const size_t K = self->classes;
    const double h = uc_running_ridge_direct(&self->ridge, self->phi);
    const double w = answer->weight * uc_forget_factor(&self->forget, self->age);
    memset(self->target, 0, self->ridge.class_stride * sizeof *self->target);
    if (answer->known)
        self->target[answer->class] = 1.0;
    else
        uc_onebit_target(self->target, scores, K, (uc_onebit_said){answer->class, answer->right}, 0.0, NULL,
                         &self->rule);
    keep(self, row, answer, w * h / (1.0 + w * h));
    uc_rounds_weigh(&self->rounds, self->rounds.count - 1, uc_forget_factor(&self->forget, self->age));
    for (size_t k = 0; k < K; k++)
        self->target[k] -= 1.0 / (double)K;
    uc_running_ridge_add(&self->ridge, self->phi, h, w, self->target, scores);
}

/* Recomputes the target of one random round among those kept. */
static void replay(uc_onebit_dense *self, const uc_onebit_settings *settings, uc_rng *rng)
{
    const size_t K = self->classes, C = self->ridge.class_stride;
    const uc_past_round round = uc_rounds_at(&self->rounds, (size_t)uc_rng_below(rng, self->rounds.count));
    double moved = 0.0;
    if (round.known)
        return;
    memset(self->past, 0, C * sizeof *self->past);
    memset(self->target, 0, C * sizeof *self->target);
    uc_row_scores(self->past, (uc_row){self->ridge.size, round.phi, NULL}, self->ridge.weights, C);
    uc_onebit_target(self->target, self->past, K, (uc_onebit_said){round.class, round.right},
                     (double)*round.leverage, round.target, &self->rule);
    for (size_t k = 0; k < K; k++) {
        self->past[k] = round.weight * (self->target[k] - (double)round.target[k]);
        moved += fabs(self->target[k] - (double)round.target[k]);
    }
    if (moved < settings->least)
        return;
    for (size_t k = 0; k < K; k++)
        round.target[k] = (float)self->target[k];
    for (size_t k = K; k < C; k++)
        self->past[k] = 0.0;
    uc_running_ridge_change(&self->ridge, round.phi, self->past);
}

/* *again becomes whether there was a change and the rounds before it do harm. */
static uc_status decide_restart(bool *again, const uc_onebit_dense *self, uc_change_seen seen,
                                const uc_onebit_settings *settings, size_t landmarks)
{
    const uc_onebit_choice choice = choice_of(settings, landmarks);
    *again = seen.certain;
    if (seen.certain || seen.rounds == 0)
        return UC_OK;
    return uc_forget_judge_restart(again, seen.rounds, &self->forget, self->age, &self->rounds, self->map,
                                   &choice);
}

static uc_status restart(uc_onebit_dense *self, size_t kept, const uc_onebit_settings *settings,
                         size_t landmarks, uc_rng *rng)
{
    uc_forget_reweigh(&self->forget, 0, self->age, &self->rounds);
    uc_rounds_forget(&self->rounds, kept);
    self->forget = (uc_forget){0};
    self->age = self->rounds.count;
    self->next_map = 2 * self->age;
    self->next_refit = (double)self->age * REFIT_GROWTH;
    self->change = (uc_change){0};
    self->restarts++;
    return make_new_map(self, settings, landmarks, rng);
}

/* Every UC_FORGET_EVERY rounds: chooses how fast rounds are forgotten. If the old or the new rate is not 0,
 * rebuilds map and ridge from the rounds with their new weights; *made becomes whether it did. */
static uc_status weigh_again(bool *made, uc_onebit_dense *self, const uc_onebit_settings *settings,
                             size_t landmarks, uc_rng *rng)
{
    const uc_onebit_choice choice = choice_of(settings, landmarks);
    uint64_t number = 0;
    *made = false;
    if (!settings->restart || self->age % UC_FORGET_EVERY != 0 || self->rounds.count < UC_FORGET_FEWEST ||
        self->map->landmarks.rows == 0)
        return UC_OK;
    const uc_status status =
        uc_forget_choose(&number, &self->forget, self->age, &self->rounds, self->map, &choice);
    if (status != UC_OK || (number == 0 && self->forget.number == 0))
        return status;
    uc_forget_reweigh(&self->forget, number, self->age, &self->rounds);
    *made = true;
    return make_new_map(self, settings, landmarks, rng);
}

static uint64_t map_after(uint64_t age)
{
    if (age >= EARLY_MAPS)
        return 2 * age;
    const uint64_t next = (uint64_t)ceil((double)age * EARLY_GROWTH);
    return next < EARLY_MAPS ? next : EARLY_MAPS;
}

/* Does what is due at this age: a new map, which includes a refit, or a refit. */
static uc_status maintain(uc_onebit_dense *self, const uc_onebit_settings *settings, size_t landmarks,
                          uc_rng *rng)
{
    const bool refit = (double)self->age >= self->next_refit;
    const bool map = self->age >= self->next_map && self->next_map <= LAST_MAP;
    bool made = false;
    uc_status status = UC_OK;
    if (map)
        status = make_new_map(self, settings, landmarks, rng);
    else
        status = weigh_again(&made, self, settings, landmarks, rng);
    if (status == UC_OK && refit && !map && !made)
        status = uc_onebit_refit(&self->ridge, &self->rounds, &self->rule);
    if (status != UC_OK)
        return status;
    if (map)
        self->next_map = map_after(self->next_map);
    while ((double)self->age >= self->next_refit)
        self->next_refit *= self->next_refit < LATE_REFIT ? REFIT_GROWTH : LATE_GROWTH;
    return UC_OK;
}

/* Changed targets reach the weights after 32 rounds at first, later after a sixteenth of the age, but after
 * 128 rounds at the latest. */
static uint64_t flushes_between(uint64_t age)
{
    const uint64_t flushes = age / (16 * UC_RIDGE_PENDING);
    if (flushes < 1)
        return 1;
    return flushes < MOST_FLUSHES ? flushes : MOST_FLUSHES;
}

uc_status uc_onebit_dense_learn(bool *restarted, uc_onebit_dense *self, uc_row row,
                                const uc_onebit_answer *answer, const double *scores,
                                const uc_onebit_settings *settings, size_t landmarks, uc_rng *rng)
{
    *restarted = false;
    if (!self->map)
        return UC_OK;
    assert(self->rounds.features == self->ridge.size && self->rounds.classes == self->classes);
    uc_status status = uc_rounds_reserve(&self->rounds, self->limit);
    if (status != UC_OK)
        return status;
    add_round(self, row, answer, scores);
    self->age++;
    for (uint64_t r = 0; r < settings->replay; r++)
        replay(self, settings, rng);
    if (self->ridge.pending_count == UC_RIDGE_PENDING)
        uc_running_ridge_flush(&self->ridge, flushes_between(self->age), self->sums);
    if (settings->restart) {
        const double score = scores[answer->proposed] + 1.0 / (double)self->classes;
        const uc_change_seen seen = uc_change_round(&self->change, score, answer->right);
        status = decide_restart(restarted, self, seen, settings, landmarks);
        if (status == UC_OK && *restarted)
            return restart(self, seen.rounds, settings, landmarks, rng);
    }
    if (status != UC_OK)
        return status;
    return maintain(self, settings, landmarks, rng);
}
