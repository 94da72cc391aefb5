/*
 * v     a value of a row         t  rows so far, including this one
 * df_j  the number of these rows in which column j occurs
 *
 * v >= 1 becomes 1 + log v, times log((1 + t)/(1 + df_j)) + 1; then the row is scaled to unit length.
 *
 * A row keeps these values in replays. The step is that of cspa-plus without metric, tail and second learner.
 */
#include "learn/onebit/text.h"

#include <math.h>
#include <string.h>

#include "learn/spread.h"
#include "prepare/preprocessing.h"

#define FIT_EVERY 256 /* rounds */
/* The initial line for the probability that a proposal is right, given its lead over the next class. */
#define DOUBT_OFFSET 0.0
#define DOUBT_SLOPE 3.0

uc_status uc_onebit_text_grow(uc_onebit_text *self, size_t columns, const uc_onebit_settings *settings)
{
    if (columns <= self->columns)
        return UC_OK;
    if (self->columns == 0)
        self->doubt = uc_doubt_begin(settings->feedback_noise, DOUBT_OFFSET, DOUBT_SLOPE);
    const size_t room = uc_grown(self->columns, columns);
    float *frequency = uc_alloc(room, sizeof *frequency), *values = uc_alloc(room, sizeof *values);
    if (!frequency || !values) {
        uc_free(frequency);
        uc_free(values);
        return UC_ERR_NOMEM;
    }
    if (self->columns > 0)
        memcpy(frequency, self->frequency, self->columns * sizeof *frequency);
    uc_free(self->frequency);
    uc_free(self->values);
    self->frequency = frequency;
    self->values = values;
    self->columns = room;
    return UC_OK;
}

void uc_onebit_text_free(uc_onebit_text *self)
{
    uc_free(self->frequency);
    uc_free(self->values);
    uc_replay_free(&self->replay);
    *self = (uc_onebit_text){0};
}

double uc_onebit_text_bytes(size_t columns, const uc_onebit_settings *settings, double row_bytes,
                            double rounds)
{
    return 8.0 * (double)columns + uc_replay_bytes(fmin(rounds, (double)settings->memory_rounds), row_bytes);
}

static double weight_of(const uc_onebit_text *self, size_t column, double rows, double more)
{
    return log((1.0 + rows) / (1.0 + (double)self->frequency[column] + more)) + 1.0;
}

void uc_onebit_text_weigh(uc_onebit_text *self, uc_row row)
{
    const double rows = (double)self->rows + 1.0;
    for (size_t i = 0; i < row.count; i++) {
        const double v = row.values[i];
        self->values[i] = 0.0f;
        if (v != 0.0)
            self->values[i] = (float)(uc_damped_count(v) * weight_of(self, uc_row_column(row, i), rows, 1.0));
    }
    self->row = uc_normalize_row((uc_row){row.count, self->values, row.columns}, self->values);
}

uc_status uc_onebit_text_factors(double **out, const uc_onebit_text *self, size_t columns)
{
    double *factors = uc_alloc(columns, sizeof *factors);
    for (size_t j = 0; j < columns && factors; j++)
        factors[j] = weight_of(self, j, (double)self->rows, 0.0);
    *out = factors;
    return factors ? UC_OK : UC_ERR_NOMEM;
}

static bool learn_row(uc_online *online, uc_row row, uint32_t p, bool right, bool replayed, double weight)
{
    const uc_onebit_settings *settings = online->settings;
    const uc_spread_rule rule = {settings->step, settings->spread};
    const double bias = online->train.bias;
    const uc_direction along = {.length = uc_row_norm2(row) + bias * bias, .constant = bias, .row = row};
    uc_spread_step(&online->step, online->scores, online->classes.count, p, right, replayed, along.length,
                   &rule);
    for (size_t i = 0; i < online->step.count && weight != 1.0; i++)
        online->step.tau[i] *= weight;
    uc_online_add(online, &along);
    return online->step.count > 0;
}

/* How far the score of class p is ahead of the other classes. */
static double margin_of(const double *scores, size_t K, uint32_t p)
{
    double next = -INFINITY;
    for (size_t k = 0; k < K; k++)
        if (k != p)
            next = fmax(next, scores[k]);
    return K > 1 ? scores[p] - next : 0.0;
}

/* The probability that the answer is true. */
static double trust(const uc_onebit_text *self, const uc_online *online, uint32_t p, bool right)
{
    if (!self->doubt.active)
        return 1.0;
    const double r =
        uc_doubt_posterior(&self->doubt, margin_of(online->scores, online->classes.count, p), right);
    return right ? r : 1.0 - r;
}

static void note_answer(uc_onebit_text *self, double margin, bool right)
{
    double v[UC_ONEBIT_MARGINS];
    bool said[UC_ONEBIT_MARGINS];
    const size_t at = (size_t)(self->said_count++ % UC_ONEBIT_MARGINS);
    self->margins[at] = (float)margin;
    self->said[at] = right;
    if (self->said_count % FIT_EVERY != 0)
        return;
    const size_t count = uc_min_size((size_t)self->said_count, UC_ONEBIT_MARGINS);
    for (size_t i = 0; i < count; i++) {
        v[i] = (double)self->margins[i];
        said[i] = self->said[i];
    }
    uc_doubt_fit(&self->doubt, v, said, count);
}

uc_status uc_onebit_text_learn(uc_onebit_text *self, uc_online *online, uc_row row,
                               const uc_onebit_answer *answer)
{
    const uc_onebit_settings *settings = online->settings;
    const size_t limit = (size_t)settings->memory_rounds;
    uc_row kept = {0};
    const uc_status status = uc_replay_copy(&kept, &self->replay, self->row, limit);
    if (status != UC_OK)
        return status;
    const bool right = answer->known || answer->right;
    double weight = answer->weight;
    if (self->doubt.active && !answer->known) {
        const double margin = margin_of(online->scores, online->classes.count, answer->class);
        weight *= trust(self, online, answer->class, right);
        note_answer(self, margin, right);
    }
    bool changed = learn_row(online, self->row, answer->class, right, false, weight);
    for (uint64_t r = 0; r < settings->replay && self->replay.count > 0; r++) {
        const uc_replay_round *past =
            uc_replay_at(&self->replay, uc_rng_below(&online->rng, self->replay.count));
        uc_online_plane_scores(online->scores, online, UC_WEIGHTS, past->row);
        changed |= learn_row(online, past->row, past->proposed, past->right, true,
                             trust(self, online, past->proposed, past->right));
    }
    uc_replay_keep(&self->replay, kept, answer->class, right, limit);
    for (size_t i = 0; i < row.count; i++)
        self->frequency[uc_row_column(row, i)] += row.values[i] != 0.0f;
    self->rows++;
    online->updates += changed;
    return UC_OK;
}

static uc_status remember_doubt(uc_onebit_text *self, uc_state *state)
{
    uc_status status = uc_doubt_remember(&self->doubt, state);
    if (status == UC_OK)
        status = uc_state_counter(state, "said", &self->said_count);
    if (status == UC_OK)
        status = uc_state_array(state, "state.said.margins", UC_ARRAY_F32, self->margins, UC_ONEBIT_MARGINS);
    if (status == UC_OK)
        status = uc_state_array(state, "state.said.right", UC_ARRAY_U32, self->said, UC_ONEBIT_MARGINS);
    for (size_t i = 0; i < UC_ONEBIT_MARGINS && status == UC_OK; i++)
        if (!isfinite(self->margins[i]) || self->said[i] > 1)
            status = uc_state_damaged();
    return status;
}

uc_status uc_onebit_text_remember(uc_onebit_text *self, uc_state *state, size_t columns, size_t classes)
{
    uc_status status = uc_state_counter(state, "text_rows", &self->rows);
    if (status == UC_OK)
        status = uc_state_array(state, "state.text.frequency", UC_ARRAY_F32, self->frequency, columns);
    for (size_t j = 0; j < columns && status == UC_OK; j++)
        if (!(self->frequency[j] >= 0.0f && (double)self->frequency[j] <= (double)self->rows))
            status = uc_state_damaged();
    if (status == UC_OK)
        status = uc_replay_remember(&self->replay, state, columns, classes);
    if (status != UC_OK || !self->doubt.active)
        return status;
    return remember_doubt(self, state);
}
