/*
 * SOBA, the second-order banditron (Beygelzimer, Orabona, Zhang, ICML 2017).
 *
 *   s_k  scores      f  the best-scoring class      p  the class proposed      gamma  --explore    a  --prior
 *   P(k) = (1 - gamma) [k = f] + gamma/K            r  the best-scoring class other than p
 *
 * All weights form one vector W, class by class for each column. A round whose proposal was wrong changes
 * nothing. If it was right, with D = (e_r - e_p) (x) x, that is x at the weights of r and -x at those of p,
 *
 *   g = D/P(p),   z = sqrt(P(p)) g,   M = (<W, z>^2 + 2 <W, g>)/(1 + z'A^-1 z)
 *
 * and if M plus the sum of the M of all earlier updates is not negative,
 *
 *   A += z z',   theta -= g,   W = A^-1 theta                                  A = a I, theta = 0 at first
 *
 * With d = <W, D> = s_r - s_p, u = A^-1 D and v = D'u before the update, this is M = (d^2 + 2d)/(P + v) and
 *
 *   W -= u (1 + d)/(P + v)
 *
 * so theta is not stored. The diagonal of A is maintained as well, A_j += z_j^2, as 1/A_j in a plane of its
 * own. If A is diagonal, v is the sum of D_j^2/A_j, and W_j = theta_j/A_j is (A_j(old) W_j - g_j)/A_j.
 */
#include <stddef.h>
#include <string.h>

#include "learn/explore.h"
#include "learn/passive_aggressive.h"
#include "learn/metric.h"

enum { COVARIANCE_AUTO, COVARIANCE_FULL, COVARIANCE_DIAGONAL };
enum { VARIANCE = UC_OWN };

#define AUTO_WEIGHTS 1024 /* --covariance auto: full up to this number; a round costs its square */
#define MOST_WEIGHTS 8192 /* --covariance full: a matrix of half a gigabyte */

static const uc_option options[] = {
    UC_EXPLORE_OPTION(uc_soba_settings, "0.2"),
    {.name = "prior",
     .type = UC_OPTION_REAL,
     .offset = offsetof(uc_soba_settings, prior),
     .standard = "1",
     .low = 1e-6,
     .high = 1e12,
     .argument = "A0",
     .help = "how sure the zero weights of the start are"},
    {.name = "covariance",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(uc_soba_settings, covariance),
     .standard = "auto",
     .choices = "auto|full|diagonal",
     .help = "what is known of the weights: one matrix, or one number each (auto: full up to 1024 weights)"},
    {.name = NULL},
};

typedef struct soba_memory {
    uc_metric metric;         /* A over all weights, those of a column together; none if A is diagonal */
    size_t features, classes; /* of the metric */
    double margins;           /* sum of the M of all updates */
} soba_memory;

/* ---- room ---- */

static double weight_count(uc_shape shape, size_t classes)
{
    return ((double)shape.features + 1.0) * (double)classes;
}

static bool is_full(const uc_soba_settings *settings, uc_shape shape, size_t classes)
{
    return settings->covariance == COVARIANCE_FULL ||
           (settings->covariance == COVARIANCE_AUTO && !shape.sparse &&
            weight_count(shape, classes) <= AUTO_WEIGHTS);
}

static bool plane(double *start, const void *user, size_t number, uc_shape shape)
{
    const uc_soba_settings *settings = user;
    (void)shape;
    *start = 1.0 / settings->prior;
    return number == 0;
}

static void decide(void *user, uc_shape shape, size_t classes)
{
    uc_soba_settings *settings = user;
    settings->covariance = is_full(settings, shape, classes) ? COVARIANCE_FULL : COVARIANCE_DIAGONAL;
}

/* Copies what `old` has learned to a metric for more columns and classes. */
static void move_metric(uc_metric *metric, size_t classes, const soba_memory *old)
{
    const size_t K = old->classes;
    for (size_t i = 0; i < old->metric.size; i++) {
        const size_t to = i / K * classes + i % K;
        metric->pending[to] = old->metric.pending[i];
        for (size_t j = 0; j < old->metric.size; j++)
            metric->inverse[to * metric->stride + j / K * classes + j % K] =
                old->metric.inverse[i * old->metric.stride + j];
    }
    metric->factor = old->metric.factor;
}

static uc_status grow_full(soba_memory *memory, size_t features, size_t classes, double prior)
{
    uc_metric metric = {0};
    const uc_status status =
        uc_metric_resize(&metric, UC_METRIC_FULL, (features + 1) * classes - 1, prior, 1);
    if (status != UC_OK)
        return status;
    if (memory->metric.kind == UC_METRIC_FULL)
        move_metric(&metric, classes, memory);
    uc_metric_free(&memory->metric);
    memory->metric = metric;
    memory->features = features;
    memory->classes = classes;
    return UC_OK;
}

static uc_status grow(uc_online *self, uc_shape shape, size_t classes)
{
    const uc_soba_settings *settings = self->settings;
    soba_memory *memory = self->memory;
    if (!is_full(settings, shape, classes)) {
        uc_metric_free(&memory->metric);
        return UC_OK;
    }
    if (shape.sparse)
        return uc_fail(UC_ERR_INVALID, "{covariance=full} is for dense rows: use {covariance=auto}");
    if (weight_count(shape, classes) > MOST_WEIGHTS)
        return uc_fail(
            UC_ERR_INVALID,
            "{covariance=full} is for at most %d weights, not %.0f (%zu classes of %zu features and a "
            "constant): use {covariance=auto}",
            MOST_WEIGHTS, weight_count(shape, classes), classes, shape.features);
    if (memory->metric.kind == UC_METRIC_FULL && memory->features == shape.features &&
        memory->classes == classes)
        return UC_OK;
    return classes > 0 ? grow_full(memory, shape.features, classes, settings->prior) : UC_OK;
}

static double memory_bytes(const void *user, uc_shape shape, size_t classes, double row_bytes, double rounds)
{
    const double size = weight_count(shape, classes);
    (void)row_bytes;
    (void)rounds;
    if (!is_full(user, shape, classes) || shape.sparse || size > MOST_WEIGHTS) /* `grow` refuses the others */
        return 0.0;
    return sizeof(double) * size * (size + 3.0);
}

static void release(void *user)
{
    soba_memory *memory = user;
    uc_metric_free(&memory->metric);
}

static uc_status remember(uc_online *self, uc_state *state)
{
    soba_memory *memory = self->memory;
    const uc_status status = uc_state_array(state, "state.margins", UC_ARRAY_F64, &memory->margins, 1);
    return status == UC_OK ? uc_metric_remember(&memory->metric, state, "state.metric") : status;
}

/* ---- rounds ---- */

static double explore(const void *user)
{
    const uc_soba_settings *settings = user;
    return settings->explore;
}

static void propose(uc_proposal *proposal, uc_online *self, uc_row row)
{
    (void)row;
    uc_explore_propose(proposal, self, explore(self->settings));
}

/* Where the weights for the i-th value of a row begin in the planes; value 0 is the constant feature. */
static size_t column_of(uc_row row, size_t i)
{
    if (i == 0)
        return 0;
    return 1 + (row.columns ? row.columns[i - 1] : i - 1);
}

static double value_of(uc_row row, size_t i, double bias)
{
    return i == 0 ? bias : (double)row.values[i - 1];
}

/* Returns v, and leaves u in the metric. */
static double variance(uc_online *self, uc_direction *u, uc_row row, uint32_t p, uint32_t r)
{
    soba_memory *memory = self->memory;
    uc_metric *metric = &memory->metric;
    const bool full = metric->kind == UC_METRIC_FULL;
    const size_t K = memory->classes, S = self->stride;
    double v = 0.0;
    if (full)
        memset(metric->rows, 0, metric->stride * sizeof *metric->rows);
    for (size_t i = 0; i <= row.count; i++) {
        const double x = value_of(row, i, self->train.bias);
        const size_t column = column_of(row, i);
        if (full) {
            metric->rows[column * K + r] = x;
            metric->rows[column * K + p] = -x;
        } else {
            const double *V = self->plane[VARIANCE] + column * S;
            v += x * x * (V[p] + V[r]);
        }
    }
    if (!full)
        return v;
    *u = uc_metric_direction_dense(metric);
    return u->length;
}

static void change(uc_online *self, size_t at, double amount)
{
    self->plane[UC_WEIGHTS][at] += amount;
    if (self->plane[UC_AVERAGE])
        self->plane[UC_AVERAGE][at] += (double)self->rounds * amount;
}

/* For a diagonal A: A_j += x^2/P, W_j = (A_j(old) W_j - g)/A_j. */
static void learn_diagonal(uc_online *self, uc_row row, uint32_t k, double sign, double P)
{
    for (size_t i = 0; i <= row.count; i++) {
        const double x = value_of(row, i, self->train.bias);
        const size_t at = column_of(row, i) * self->stride + k;
        const double V = self->plane[VARIANCE][at];
        if (x != 0.0)
            change(self, at, -V * (x * x * self->plane[UC_WEIGHTS][at] + sign * x) / (P + x * x * V));
    }
}

/* Updates the diagonal of A. */
static void add_variance(uc_online *self, uc_row row, uint32_t k, double P)
{
    for (size_t i = 0; i <= row.count; i++) {
        const double x = value_of(row, i, self->train.bias);
        double *V = &self->plane[VARIANCE][column_of(row, i) * self->stride + k];
        *V /= 1.0 + x * x * *V / P;
    }
}

static uc_status learn(uc_online *self, uc_row row, const uc_round *round)
{
    soba_memory *memory = self->memory;
    const uint32_t p = round->proposal.label, r = uc_best_other(round->scores, round->classes, p);
    const double P = round->proposal.probability, d = round->scores[r] - round->scores[p];
    if (round->answer.kind != UC_ANSWER_RIGHT)
        return UC_OK;
    uc_direction u = {0};
    const double v = variance(self, &u, row, p, r), M = (d * d + 2.0 * d) / (P + v);
    if (memory->margins + M < 0.0)
        return UC_OK;
    memory->margins += M;
    if (memory->metric.kind == UC_METRIC_FULL) {
        const double step = -(1.0 + d) / (P + v);
        for (size_t j = 0; j <= self->features; j++)
            for (size_t k = 0; k < round->classes; k++)
                change(self, j * self->stride + k, step * u.dense[j * memory->classes + k]);
        uc_metric_add_last(&memory->metric, &u, 1.0 / P);
    } else {
        learn_diagonal(self, row, p, -1.0, P);
        learn_diagonal(self, row, r, 1.0, P);
    }
    add_variance(self, row, p, P);
    add_variance(self, row, r, P);
    self->updates++;
    return UC_OK;
}

const uc_learner uc_learner_soba = {
    .name = "soba",
    .summary = "right/wrong feedback only: second-order banditron, learns from right proposals alone",
    .paper =
        "Beygelzimer, Orabona, Zhang: Efficient online bandit multiclass learning with O(sqrt T) regret, "
        "ICML 2017",
    .options = options,
    .settings_size = sizeof(uc_soba_settings),
    .grid = uc_explore_grid,
    .partial = true,
    .normalizes = true,
    .class_weight = UC_NO_CLASS_WEIGHT,
    .plane = plane,
    .decide = decide,
    .memory_size = sizeof(soba_memory),
    .grow = grow,
    .memory_bytes = memory_bytes,
    .release = release,
    .remember = remember,
    .propose = propose,
    .explore = explore,
    .learn = learn,
};
