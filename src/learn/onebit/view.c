/*
 *   standard   u_j = (x_j - mean_j) / sqrt(d (var_j + .001 mean var)), over all rounds
 *   within     z = c L^-1 u, LL' = (1 - r) S + r (tr S / d) I, c such that the mean of z'z is 1
 *
 * S is the covariance of u within classes, from the n rounds whose class is known: the sum of (u - mean of
 * its class)(u - mean of its class)', divided by n minus the number of classes. Distances of z are
 * Mahalanobis distances: a direction in which rows of the same class differ much says little about the class.
 * The share r of the sphere is large while there are few rounds: r = 2d/(2d + n), at least .1.
 */
#include "learn/onebit/view.h"

#include <math.h>

#include "linalg/linalg.h"

#define VARIANCE_FLOOR 1e-12
#define VARIANCE_SHARE 0.001
#define SPHERE_ROUNDS 2.0 /* weight of the sphere per column */
#define LEAST_SPHERE 0.1
#define LEAST_FREEDOM ((size_t)2) /* per column */
#define BLOCK ((size_t)64)

void uc_onebit_prepare(float *z, const uc_map_input *input, const uc_rounds *rounds, size_t i)
{
    uc_map_prepare_input(z, input, (uc_row){rounds->columns, uc_rounds_at(rounds, i).row, NULL},
                         rounds->columns);
}

static uc_status fit_standard(uc_map_input *out, const uc_rounds *rounds)
{
    const size_t d = rounds->columns, n = rounds->count;
    double *mean = out->shift = uc_alloc(d, sizeof *mean), whole = 0.0;
    double *factor = out->factor = uc_alloc(d, sizeof *factor);
    if (!mean || !factor)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        uc_row_axpy(1.0 / (double)n, (uc_row){d, uc_rounds_at(rounds, i).row, NULL}, mean);
    for (size_t i = 0; i < n; i++) {
        const float *row = uc_rounds_at(rounds, i).row;
        for (size_t j = 0; j < d; j++)
            factor[j] += ((double)row[j] - mean[j]) * ((double)row[j] - mean[j]) / (double)n;
    }
    for (size_t j = 0; j < d; j++)
        whole += (factor[j] + VARIANCE_FLOOR) / (double)d;
    for (size_t j = 0; j < d; j++)
        factor[j] = 1.0 / sqrt((double)d * (factor[j] + VARIANCE_FLOOR + VARIANCE_SHARE * whole));
    return UC_OK;
}

/* ---- within classes ---- */

/* Rounds whose class is known, minus the number of classes among them; of_class starts as 0 and gets the
 * counts. */
static size_t freedom(const uc_rounds *rounds, size_t *of_class)
{
    size_t known = 0, classes = 0;
    for (size_t i = 0; i < rounds->count; i++) {
        const uc_past_round round = uc_rounds_at(rounds, i);
        if (!round.known)
            continue;
        known++;
        classes += of_class[round.class]++ == 0;
    }
    return known - classes;
}

typedef struct within {
    size_t *count;   /* of a class */
    double *mean;    /* K x d, of u */
    double *block;   /* rows u minus the mean of their class */
    double *scatter; /* d x d */
    float *u;
} within;

static void free_within(within *self)
{
    uc_free(self->count);
    uc_free(self->mean);
    uc_free(self->block);
    uc_free(self->scatter);
    uc_free(self->u);
}

static uc_status begin_within(within *out, size_t d, size_t K)
{
    *out = (within){.count = uc_alloc(K, sizeof *out->count),
                    .mean = uc_alloc(K * d, sizeof *out->mean),
                    .block = uc_alloc(BLOCK * d, sizeof *out->block),
                    .scatter = uc_alloc(d * d, sizeof *out->scatter),
                    .u = uc_alloc(d, sizeof *out->u)};
    return out->count && out->mean && out->block && out->scatter && out->u ? UC_OK : UC_ERR_NOMEM;
}

static void find_means(within *self, const uc_map_input *standard, const uc_rounds *rounds)
{
    const size_t d = rounds->columns;
    for (size_t i = 0; i < rounds->count; i++) {
        const uc_past_round round = uc_rounds_at(rounds, i);
        if (!round.known)
            continue;
        uc_onebit_prepare(self->u, standard, rounds, i);
        uc_row_axpy(1.0 / (double)self->count[round.class], (uc_row){d, self->u, NULL},
                    self->mean + round.class * d);
    }
}

static void add_scatter(within *self, const uc_map_input *standard, const uc_rounds *rounds)
{
    const size_t d = rounds->columns;
    size_t filled = 0;
    for (size_t i = 0; i < rounds->count; i++) {
        const uc_past_round round = uc_rounds_at(rounds, i);
        if (!round.known)
            continue;
        uc_onebit_prepare(self->u, standard, rounds, i);
        for (size_t j = 0; j < d; j++)
            self->block[filled * d + j] = (double)self->u[j] - self->mean[round.class * d + j];
        if (++filled == BLOCK) {
            uc_add_squares(self->scatter, self->block, BLOCK, d);
            filled = 0;
        }
    }
    uc_add_squares(self->scatter, self->block, filled, d);
}

/* Turns the scatter into L^-1. */
static uc_status find_turn(within *self, size_t d, double free, double known)
{
    const double sphere = fmax(LEAST_SPHERE, SPHERE_ROUNDS * (double)d / (SPHERE_ROUNDS * (double)d + known));
    double trace = 0.0;
    for (size_t j = 0; j < d; j++)
        trace += self->scatter[j * d + j] / free;
    for (size_t j = 0; j < d * d; j++)
        self->scatter[j] *= (1.0 - sphere) / free;
    for (size_t j = 0; j < d; j++)
        self->scatter[j * d + j] += fmax(sphere * trace / (double)d, VARIANCE_FLOOR);
    const uc_status status = uc_cholesky(self->scatter, d);
    return status == UC_OK ? uc_invert_lower(self->scatter, d) : status;
}

/* Scales so that the mean of z'z over the rounds is 1. */
static void scale_turn(uc_map_input *input, within *self, const uc_rounds *rounds)
{
    const size_t d = rounds->columns;
    double sum = 0.0;
    for (size_t i = 0; i < rounds->count; i++) {
        uc_onebit_prepare(self->u, input, rounds, i);
        sum += uc_row_norm2((uc_row){d, self->u, NULL});
    }
    for (size_t j = 0; j < d * d && sum > 0.0; j++)
        input->turn[j] *= sqrt((double)rounds->count / sum);
}

static uc_status fit_within(uc_map_input *input, const uc_rounds *rounds)
{
    const size_t d = rounds->columns, K = rounds->classes;
    within self;
    uc_status status = begin_within(&self, d, K);
    if (status == UC_OK) {
        const size_t free = freedom(rounds, self.count);
        size_t known = 0;
        for (size_t k = 0; k < K; k++)
            known += self.count[k];
        find_means(&self, input, rounds);
        add_scatter(&self, input, rounds);
        status = find_turn(&self, d, (double)free, (double)known);
    }
    if (status == UC_OK) {
        input->turn = self.scatter;
        self.scatter = NULL;
        scale_turn(input, &self, rounds);
    }
    free_within(&self);
    return status;
}

uc_status uc_onebit_can_prepare(bool *out, const uc_rounds *rounds, uc_onebit_rows kind)
{
    *out = kind != UC_ROWS_WITHIN;
    if (*out || rounds->columns > UC_ONEBIT_MOST_TURNED)
        return UC_OK;
    size_t *count = uc_alloc(rounds->classes, sizeof *count);
    if (!count)
        return UC_ERR_NOMEM;
    *out = freedom(rounds, count) >= LEAST_FREEDOM * rounds->columns;
    uc_free(count);
    return UC_OK;
}

uc_status uc_onebit_fit_input(uc_map_input *out, const uc_rounds *rounds, uc_onebit_rows kind)
{
    uc_map_input self = {.unit = kind == UC_ROWS_UNIT};
    uc_status status = UC_OK;
    if (kind != UC_ROWS_UNIT)
        status = fit_standard(&self, rounds);
    if (status == UC_OK && kind == UC_ROWS_WITHIN)
        status = fit_within(&self, rounds);
    if (status == UC_OK)
        *out = self;
    else
        uc_map_input_free(&self);
    return status;
}
