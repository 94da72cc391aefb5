/*
 * CSPA with six additions, each an option; the feedback is still one bit per round.
 *
 *   s_k  scores     p  the class proposed     xx = x'A^-1 x     l = 1 + s_p - max_{i != p} s_i     K  classes
 *
 *   spread  after "wrong" the classes that score well gain more:  tau_i = c q_i,  tau_p = -c,  q =
 *           softmax(rho s) over i != p,  c = beta l/(xx (1 + q_r)),  r the runner-up. rho = 0 is CSPA.
 *   metric  updates go along A^-1 x, A = a0 I + sum of x x' over the rounds, the current one included
 *           (metric.h).
 *   bonus   proposes argmax s_k + b/((1 + n_k) sqrt(1 + m_k)), where class k was right n_k times out of m_k
 *           proposals, so that a class that was never found is tried. The update ignores the bonus.
 *   replay  after each round, some past rounds, drawn evenly, are learned from again with their original
 *           feedback; a "wrong" has an effect only while its class still scores best (l >= 1). Replayed rows
 *           are not added to A again.
 *   tail    proposals use the scores of a weighted mean of the weights: those after round t count t^P, so the
 *           last ones dominate. With C the sum of these numbers so far and U the sum over the rounds of what
 *           each added times the C before it, the mean is W - U/C. The update ignores the mean too.
 *   pair    a second learner without the metric gets the same rounds and the same replays. If the two would
 *           propose different classes, the answer judges the learner whose class was proposed. The learner
 *           that was right in the larger share of such rounds, (r + 2)/(c + 2), proposes.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "learn/metric.h"
#include "learn/online.h"
#include "learn/replay.h"
#include "learn/spread.h"

enum { METRIC_AUTO, METRIC_NONE, METRIC_DIAGONAL, METRIC_FULL };

#define AUTO_FEATURES 1024 /* --metric auto: full up to here; a round costs the square of it */
#define MOST_FEATURES 8192 /* --metric full: a matrix of half a gigabyte */

static const uc_option options[] = {
    {.name = "beta",
     .type = UC_OPTION_REAL,
     .offset = offsetof(uc_cspa_plus_settings, beta),
     .standard = "0.5",
     .low = 0,
     .above_low = true,
     .high = 1,
     .argument = "B",
     .help = "share of the margin that a wrong proposal loses"},
    {.name = "spread",
     .type = UC_OPTION_REAL,
     .offset = offsetof(uc_cspa_plus_settings, spread),
     .standard = "3",
     .low = 0,
     .high = 1e6,
     .argument = "RHO",
     .help = "after a wrong proposal, how much more the other classes gain the higher they score; 0: all "
             "gain the same"},
    {.name = "metric",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(uc_cspa_plus_settings, metric),
     .standard = "auto",
     .choices = "auto|none|diagonal|full",
     .help = "second-order updates by a matrix that is learned (auto: full up to 1024 features, none above "
             "or for sparse data)"},
    {.name = "prior",
     .type = UC_OPTION_REAL,
     .offset = offsetof(uc_cspa_plus_settings, prior),
     .standard = "1",
     .low = 1e-6,
     .high = 1e12,
     .argument = "A0",
     .help = "the matrix of the metric starts as A0 times the identity"},
    {.name = "bonus",
     .type = UC_OPTION_REAL,
     .offset = offsetof(uc_cspa_plus_settings, bonus),
     .standard = "1",
     .low = 0,
     .high = 1e6,
     .argument = "B",
     .help = "how much is added in a proposal to the scores of classes that were seldom proposed and never "
             "right"},
    {.name = "replay",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(uc_cspa_plus_settings, replay),
     .standard = "3",
     .high = 1000,
     .help = "number of past rounds to learn from again after each round"},
    {.name = "memory-rounds",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(uc_cspa_plus_settings, memory_rounds),
     .standard = "10000",
     .low = 1,
     .high = 1e9,
     .help = "number of rounds kept for replay; the oldest are dropped"},
    {.name = "tail",
     .type = UC_OPTION_REAL,
     .automatic = true,
     .offset = offsetof(uc_cspa_plus_settings, tail),
     .standard = "auto",
     .low = 0,
     .high = 30, /* t^31 is still finite for 10^9 rounds */
     .argument = "P",
     .help = "propose by a mean of the weights in which round t counts t^P; 0: by the latest weights (auto: "
             "10 with a full metric, else 0)"},
    {.name = "pair",
     .type = UC_OPTION_FLAG,
     .automatic = true,
     .offset = offsetof(uc_cspa_plus_settings, pair),
     .standard = "auto",
     .help =
         "a second learner without the metric runs alongside, and the better one proposes (auto: on with a "
         "full metric)"},
    {.name = NULL},
};

/* The planes of the two learners; the first learner has the metric. */
static const size_t weights_of[2] = {UC_WEIGHTS, UC_OWN + 1}, tail_of[2] = {UC_OWN, UC_OWN + 2};

typedef struct plus_memory {
    uc_metric metric;
    uc_replay replay;
    double tail_sum;   /* C */
    uint64_t tried[2]; /* c: rounds in which the learner's class was proposed and the other's differed */
    uint64_t tried_right[2];    /* r: those of them in which it was right */
    uint32_t favourite[2];      /* the class that each would propose without the bonus */
    double *scores[2];          /* room for the classes */
    uint64_t *right, *proposed; /* n_k and m_k */
    size_t classes;             /* how many the arrays have room for */
    uc_row *rows;               /* the round's row, then the replayed ones */
    uc_direction *directions;
    const uc_replay_round **replayed;
} plus_memory;

/* ---- room ---- */

static uc_status grow_classes(plus_memory *memory, size_t classes)
{
    const size_t stride = uc_class_stride(classes);
    uint64_t *right = uc_alloc(classes, sizeof *right), *proposed = uc_alloc(classes, sizeof *proposed);
    double *scores[2] = {uc_alloc(stride, sizeof *scores[0]), uc_alloc(stride, sizeof *scores[1])};
    if (!right || !proposed || !scores[0] || !scores[1]) {
        uc_free(right);
        uc_free(proposed);
        uc_free(scores[0]);
        uc_free(scores[1]);
        return UC_ERR_NOMEM;
    }
    for (int which = 0; which < 2; which++) {
        uc_free(memory->scores[which]);
        memory->scores[which] = scores[which];
    }
    if (memory->classes > 0) {
        memcpy(right, memory->right, memory->classes * sizeof *right);
        memcpy(proposed, memory->proposed, memory->classes * sizeof *proposed);
    }
    uc_free(memory->right);
    uc_free(memory->proposed);
    memory->right = right;
    memory->proposed = proposed;
    memory->classes = classes;
    return UC_OK;
}

static uc_metric_kind metric_kind(const uc_cspa_plus_settings *settings, uc_shape shape)
{
    if (settings->metric == METRIC_FULL ||
        (settings->metric == METRIC_AUTO && shape.features <= AUTO_FEATURES && !shape.sparse))
        return UC_METRIC_FULL;
    return settings->metric == METRIC_DIAGONAL ? UC_METRIC_DIAGONAL : UC_METRIC_NONE;
}

/* The own planes: the first learner's tail, the second learner's weights, and its tail. */
static bool plane(double *start, const void *user, size_t number, uc_shape shape)
{
    const uc_cspa_plus_settings *settings = user;
    const bool full = metric_kind(settings, shape) == UC_METRIC_FULL;
    const bool tail = isnan(settings->tail) ? full : settings->tail > 0.0;
    const bool pair = full && settings->pair != 0;
    const bool has[] = {tail, pair, pair && tail};
    *start = 0.0;
    return has[number];
}

/* Replaces `auto` in the settings by what the rest of this file makes of it. */
static void decide(void *user, uc_shape shape, size_t classes)
{
    uc_cspa_plus_settings *settings = user;
    (void)classes;
    const bool full = metric_kind(settings, shape) == UC_METRIC_FULL;
    if (full)
        settings->metric = METRIC_FULL;
    else if (settings->metric != METRIC_DIAGONAL)
        settings->metric = METRIC_NONE;
    if (isnan(settings->tail))
        settings->tail = full ? 10.0 : 0.0;
    if (settings->pair == UC_AUTO_FLAG)
        settings->pair = full;
}

static double tail_power(const uc_cspa_plus_settings *settings)
{
    return isnan(settings->tail) ? 10.0 : settings->tail;
}

static uc_status grow(uc_online *self, uc_shape shape, size_t classes)
{
    const uc_cspa_plus_settings *settings = self->settings;
    plus_memory *memory = self->memory;
    const size_t at_once = 1 + (size_t)settings->replay;
    const uc_metric_kind kind = metric_kind(settings, shape);
    if (kind == UC_METRIC_FULL && shape.features > MOST_FEATURES)
        return uc_fail(UC_ERR_INVALID, "{metric=full} is for at most %d features, not %zu: use {metric=auto}",
                       MOST_FEATURES, shape.features);
    if (!memory->rows) {
        memory->rows = uc_alloc(at_once, sizeof *memory->rows);
        memory->directions = uc_alloc(at_once, sizeof *memory->directions);
        memory->replayed = uc_alloc(at_once, sizeof *memory->replayed);
        if (!memory->rows || !memory->directions || !memory->replayed)
            return UC_ERR_NOMEM;
    }
    uc_status status = UC_OK;
    if (classes > memory->classes)
        status = grow_classes(memory, classes);
    if (status == UC_OK)
        status = uc_metric_resize(&memory->metric, kind, shape.features, settings->prior, at_once);
    return status;
}

static double memory_bytes(const void *user, uc_shape shape, size_t classes, double row_bytes, double rounds)
{
    const uc_cspa_plus_settings *settings = user;
    (void)classes;
    const uc_metric_kind kind = metric_kind(settings, shape);
    const double size = (double)shape.features + 1.0, vectors = 2.0 * (double)settings->replay + 4.0;
    double bytes = 0.0;
    if (kind == UC_METRIC_FULL)
        bytes += sizeof(double) * size * (size + vectors);
    if (kind == UC_METRIC_DIAGONAL)
        bytes += sizeof(double) * size * (1.0 + vectors);
    if (settings->replay > 0)
        bytes += uc_replay_bytes(fmin(rounds, (double)settings->memory_rounds), row_bytes);
    return bytes;
}

static void release(void *user)
{
    plus_memory *memory = user;
    uc_metric_free(&memory->metric);
    uc_replay_free(&memory->replay);
    uc_free(memory->right);
    uc_free(memory->proposed);
    uc_free(memory->scores[0]);
    uc_free(memory->scores[1]);
    uc_free(memory->rows);
    uc_free(memory->directions);
    uc_free(memory->replayed);
}

static uc_status remember_counts(plus_memory *memory, size_t K, uc_state *state)
{
    uc_status status = uc_state_array(state, "state.right", UC_ARRAY_U64, memory->right, K);
    if (status != UC_OK)
        return status;
    status = uc_state_array(state, "state.proposed", UC_ARRAY_U64, memory->proposed, K);
    if (status == UC_OK)
        status = uc_state_array(state, "state.tail", UC_ARRAY_F64, &memory->tail_sum, 1);
    if (status == UC_OK)
        status = uc_state_array(state, "state.tried", UC_ARRAY_U64, memory->tried, 2);
    if (status == UC_OK)
        status = uc_state_array(state, "state.tried_right", UC_ARRAY_U64, memory->tried_right, 2);
    return status;
}

static uc_status remember(uc_online *self, uc_state *state)
{
    plus_memory *memory = self->memory;
    const size_t K = self->classes.count;
    uc_status status = remember_counts(memory, K, state);
    if (status == UC_OK)
        status = uc_metric_remember(&memory->metric, state, "state.metric");
    if (status == UC_OK)
        status = uc_replay_remember(&memory->replay, state, self->features, K);
    return status;
}

/* ---- rounds ---- */

/* The learner that proposes. */
static int better_of(const uc_online *self)
{
    const plus_memory *memory = self->memory;
    double share[2];
    for (int which = 0; which < 2; which++)
        share[which] = ((double)memory->tried_right[which] + 2.0) / ((double)memory->tried[which] + 2.0);
    return self->plane[weights_of[1]] && share[1] > share[0];
}

/* Computes the scores from which each learner would propose, and its best class. */
static void score_both(uc_online *self, uc_row row)
{
    plus_memory *memory = self->memory;
    for (int which = 0; which < 2 && self->plane[weights_of[which]]; which++) {
        double *scores = memory->scores[which], *tail = self->full_step;
        uc_online_plane_scores(scores, self, weights_of[which], row);
        if (self->plane[tail_of[which]] && memory->tail_sum > 0.0) {
            uc_online_plane_scores(tail, self, tail_of[which], row);
            for (size_t k = 0; k < self->classes.count; k++)
                scores[k] -= tail[k] / memory->tail_sum;
        }
        memory->favourite[which] = (uint32_t)uc_argmax(scores, self->classes.count);
    }
}

static void propose(uc_proposal *proposal, uc_online *self, uc_row row)
{
    const uc_cspa_plus_settings *settings = self->settings;
    plus_memory *memory = self->memory;
    const int which = better_of(self);
    double *sums = memory->scores[which];
    score_both(self, row);
    for (size_t k = 0; k < self->classes.count; k++)
        sums[k] +=
            settings->bonus / ((1.0 + (double)memory->right[k]) * sqrt(1.0 + (double)memory->proposed[k]));
    proposal->favourite = memory->favourite[which];
    proposal->label = (uint32_t)uc_argmax(sums, self->classes.count);
    memory->proposed[proposal->label]++;
}

/* If the learners' classes differ, counts whether the one whose class was proposed was right. Feedback that
 * arrives after another round judges the learners as they are now, since their earlier state is not kept when
 * a stream is resumed. */
static void judge(uc_online *self, uc_row row, const uc_proposal *proposal, bool right)
{
    plus_memory *memory = self->memory;
    if (!self->plane[weights_of[1]])
        return;
    if (self->ticket != proposal->ticket)
        score_both(self, row);
    for (int which = 0; which < 2 && memory->favourite[0] != memory->favourite[1]; which++)
        if (memory->favourite[which] == proposal->label) {
            memory->tried[which]++;
            memory->tried_right[which] += right;
        }
}

static void scale_step(uc_step *step, double factor)
{
    for (size_t i = 0; i < step->count && factor != 1.0; i++)
        step->tau[i] *= factor;
}

/* Both learners learn from one row, the first one using self->scores; returns whether any weights changed. */
static bool learn_row(uc_online *self, uc_row row, const uc_direction *direction, uint32_t p, bool right,
                      bool replayed, double weight)
{
    plus_memory *memory = self->memory;
    const uc_cspa_plus_settings *settings = self->settings;
    const uc_spread_rule rule = {settings->beta, settings->spread};
    uc_spread_step(&self->step, self->scores, self->classes.count, p, right, replayed, direction->length,
                   &rule);
    scale_step(&self->step, weight);
    bool changed = self->step.count > 0;
    uc_online_add(self, direction);
    if (self->plane[tail_of[0]])
        uc_online_add_to(self, tail_of[0], direction, memory->tail_sum);
    if (!self->plane[weights_of[1]])
        return changed;
    const double bias = self->train.bias;
    const uc_direction straight = {.length = uc_row_norm2(row) + bias * bias, .constant = bias, .row = row};
    uc_online_plane_scores(memory->scores[1], self, weights_of[1], row);
    uc_spread_step(&self->step, memory->scores[1], self->classes.count, p, right, replayed, straight.length,
                   &rule);
    scale_step(&self->step, weight);
    uc_online_add_to(self, weights_of[1], &straight, 1.0);
    if (self->plane[tail_of[1]])
        uc_online_add_to(self, tail_of[1], &straight, memory->tail_sum);
    return changed || self->step.count > 0;
}

static uc_status learn(uc_online *self, uc_row row, const uc_round *round)
{
    const uc_cspa_plus_settings *settings = self->settings;
    plus_memory *memory = self->memory;
    const uint32_t p = round->proposal.label;
    const bool right = round->answer.kind == UC_ANSWER_RIGHT;
    size_t limit = 0;
    uc_row kept = {0};
    if (settings->replay > 0)
        limit = (size_t)settings->memory_rounds;
    if (limit > 0) {
        const uc_status status = uc_replay_copy(&kept, &memory->replay, row, limit);
        if (status != UC_OK)
            return status;
    }
    size_t count = 1;
    judge(self, row, &round->proposal, right);
    memory->rows[0] = row;
    for (; count <= settings->replay && memory->replay.count > 0; count++) {
        memory->replayed[count] =
            uc_replay_at(&memory->replay, uc_rng_below(&self->rng, memory->replay.count));
        memory->rows[count] = memory->replayed[count]->row;
    }
    uc_metric_add(memory->directions, &memory->metric, memory->rows, count, self->train.bias);
    bool changed = learn_row(self, row, &memory->directions[0], p, right, false, round->weight);
    for (size_t r = 1; r < count; r++) {
        const uc_replay_round *past = memory->replayed[r];
        uc_online_score(self, past->row);
        changed |= learn_row(self, past->row, &memory->directions[r], past->proposed, past->right, true, 1.0);
    }
    memory->right[p] += right;
    memory->tail_sum += pow((double)self->rounds + 1.0, tail_power(settings));
    self->updates += changed;
    if (limit > 0)
        uc_replay_keep(&memory->replay, kept, p, right, limit);
    return UC_OK;
}

/* The model proposes what the learner would propose without the bonus. */
static double weight(const uc_online *self, size_t at)
{
    const plus_memory *memory = self->memory;
    const int which = better_of(self);
    const double *tail = self->plane[tail_of[which]];
    double weight = self->plane[weights_of[which]][at];
    if (tail && memory->tail_sum > 0.0)
        weight -= tail[at] / memory->tail_sum;
    return weight;
}

const uc_learner uc_learner_cspa_plus = {
    .name = "cspa-plus",
    .summary = "right/wrong feedback only: cspa with a metric, replay, exploration and steadier proposals; "
               "faster than onebit",
    .paper =
        "this project; after Kaneko, Sato, Sugiyama: Online multiclass classification based on prediction "
        "margin for partial feedback, arXiv 1902.01056, 2019",
    .options = options,
    .settings_size = sizeof(uc_cspa_plus_settings),
    .partial = true,
    .normalizes = true,
    .class_weight = UC_NO_CLASS_WEIGHT,
    .plane = plane,
    .weight = weight,
    .decide = decide,
    .memory_size = sizeof(plus_memory),
    .grow = grow,
    .memory_bytes = memory_bytes,
    .release = release,
    .remember = remember,
    .propose = propose,
    .learn = learn,
};
