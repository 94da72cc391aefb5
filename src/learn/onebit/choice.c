/*
 * The map of onebit.
 *
 *   z        a row as preprocessed by a view       l_1..l_R   landmarks, evenly spaced rounds
 *   phi      = (1, k(z, l_1), ..., k(z, l_R), z)
 *   A        = prior diag(1, K_ll + jitter I, I) + sum phi phi'
 *
 * In exact arithmetic this is ridge regression on L^-1 k with LL' = K_ll + jitter I and penalty `prior`,
 * without the triangular solve for every row.
 *
 * A view is judged on the remembered rounds, each left out in turn: with leverage h = phi'A^-1 phi and the
 * scores s of a row that is in A with target q, the scores without that row are (s - h q)/(1 - h). With A =
 * LL' and u = L^-1 phi, both follow without the inverse: h = u'u, and s = u' sum over the rows of u q'.
 *
 * Widths are halved, starting with the widest. If there are enough rounds, the error falls to a single
 * minimum and then rises, so narrower widths are skipped once it rises.
 */
#include "learn/onebit/choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"

#define PAIRS ((size_t)300)
#define TRIED_LANDMARKS ((size_t)128)
#define ALL_LANDMARKS ((size_t)256) /* up to so many rounds all are landmarks, later half of them */
#define TRIED_ROUNDS ((size_t)500)
#define ONE_MINIMUM ((size_t)64) /* from so many rounds on, the error has a single minimum over the widths */
#define LARGEST_LEVERAGE 0.99
#define ANSWERS_SEEN 1.03 /* factor for rows that were turned by the same answers that judge them */

/* Each is half of the previous one: exp(-t/(m/2)) = exp(-t/m)^2. */
static const double multiples[] = {2.0, 1.0, 0.5, 0.25, 0.125};
#define MULTIPLES (sizeof multiples / sizeof *multiples)

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median over pairs of distinct rows; 1 if there are none. */
static uc_status median_distance2(double *out, const uc_map_input *input, const uc_rounds *rounds,
                                  uc_rng *rng)
{
    const size_t d = rounds->columns;
    float *z = uc_alloc(2 * d, sizeof *z);
    double found[PAIRS];
    size_t count = 0;
    if (!z)
        return UC_ERR_NOMEM;
    for (size_t pair = 0; pair < PAIRS; pair++) {
        double sum = 0.0;
        uc_onebit_prepare(z, input, rounds, (size_t)uc_rng_below(rng, rounds->count));
        uc_onebit_prepare(z + d, input, rounds, (size_t)uc_rng_below(rng, rounds->count));
        for (size_t j = 0; j < d; j++)
            sum += ((double)z[j] - (double)z[d + j]) * ((double)z[j] - (double)z[d + j]);
        if (sum > 0.0)
            found[count++] = sum;
    }
    uc_free(z);
    qsort(found, count, sizeof *found, ascending);
    *out = count > 0 ? found[count / 2] : 1.0;
    return UC_OK;
}

/* ---- a map ---- */

/* Before the first round there is one landmark, 0. */
static uc_status take_landmarks(uc_matrix *out, const uc_map_input *input, const uc_rounds *rounds,
                                size_t count)
{
    const uc_status status = uc_matrix_create_dense(out, count, rounds->columns);
    for (size_t l = 0; l < count && rounds->count > 0 && status == UC_OK; l++)
        uc_onebit_prepare(out->values + l * out->stride, input, rounds, uc_evenly(l, count, rounds->count));
    return status;
}

uc_status uc_onebit_make_map(uc_map **out, const uc_rounds *rounds, const uc_onebit_view *view,
                             const uc_onebit_choice *choice, uc_rng *rng)
{
    uc_map_input input;
    uc_matrix landmarks = {0};
    double median = 1.0;
    const size_t wanted = uc_max_size(rounds->count / 2, uc_min_size(rounds->count, ALL_LANDMARKS));
    const size_t count = uc_min_size(wanted, choice->landmarks);
    uc_status status = uc_onebit_fit_input(&input, rounds, view->rows);
    if (status != UC_OK)
        return status;
    input.kept = rounds->columns <= choice->linear;
    if (count > 0)
        status = median_distance2(&median, &input, rounds, rng);
    if (status == UC_OK)
        status = take_landmarks(&landmarks, &input, rounds, count > 0 || input.kept ? count : 1);
    if (status == UC_OK)
        return uc_map_create_learned(out, landmarks, input, view->multiple * median);
    uc_matrix_free(&landmarks);
    uc_map_input_free(&input);
    return status;
}

/* The landmarks as doubles, without padding. */
static double *landmarks_of(const uc_map *map)
{
    const uc_matrix *L = &map->landmarks;
    double *copy = uc_alloc(L->rows * L->cols, sizeof *copy);
    for (size_t l = 0; l < L->rows && copy; l++)
        for (size_t j = 0; j < L->cols; j++)
            copy[l * L->cols + j] = (double)L->values[l * L->stride + j];
    return copy;
}

static double kernel(double norm2_x, double norm2_y, double product, double width)
{
    return exp(-fmax(0.0, norm2_x + norm2_y - 2.0 * product) / width);
}

uc_status uc_onebit_prior(double *A, size_t stride, const uc_map *map, const uc_onebit_choice *choice)
{
    const size_t R = map->landmarks.rows, d = map->landmarks.cols, n = 1 + map->dimension;
    double *L = landmarks_of(map), *products = uc_alloc(R * R, sizeof *products);
    if (!L || !products) {
        uc_free(L);
        uc_free(products);
        return UC_ERR_NOMEM;
    }
    if (R > 0)
        uc_gemm(products, R, (uc_operand){L, d, false}, (uc_operand){L, d, true}, R, d, R, 1.0, 0.0);
    memset(A, 0, n * stride * sizeof *A);
    for (size_t i = 0; i < n; i++)
        A[i * stride + i] = choice->prior;
    for (size_t i = 0; i < R; i++) {
        for (size_t j = 0; j < i; j++)
            A[(1 + i) * stride + 1 + j] = choice->prior * kernel(products[i * R + i], products[j * R + j],
                                                                 products[i * R + j], map->width);
        A[(1 + i) * stride + 1 + i] = choice->prior * (1.0 + choice->jitter);
    }
    uc_free(products);
    uc_free(L);
    return UC_OK;
}

/* ---- which view ---- */

/* A view that is being tried on some rounds; rows of z and phi are doubles without padding. */
typedef struct trial {
    const uc_rounds *rounds;
    const uc_onebit_choice *choice;
    size_t tried, landmarks, size, classes; /* number of rounds; R; n; K */
    bool linear;
    double *z, *l; /* tried x d, R x d */
    double *norm2_z, *norm2_l;
    double *zl, *ll;        /* inner products, then kernel values: tried x R, R x R */
    double *phi;            /* tried x size; then L^-1 phi */
    double *A, *B, *scores; /* size^2, size x K, tried x K */
    double *targets;        /* tried x K */
} trial;

static void free_trial(trial *self)
{
    double *const arrays[] = {self->z,   self->l, self->norm2_z, self->norm2_l, self->zl,     self->ll,
                              self->phi, self->A, self->B,       self->scores,  self->targets};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        uc_free(arrays[i]);
}

static uc_status begin_trial(trial *out, const uc_rounds *rounds, const uc_onebit_choice *choice)
{
    const size_t d = rounds->columns, K = rounds->classes;
    trial self = {.rounds = rounds, .choice = choice, .classes = K, .linear = d <= choice->linear};
    const size_t n = self.tried = uc_min_size(rounds->count, TRIED_ROUNDS);
    const size_t R = self.landmarks =
        uc_min_size(uc_min_size(rounds->count, TRIED_LANDMARKS), choice->landmarks);
    const size_t D = self.size = 1 + R + (self.linear ? d : 0);
    struct {
        double **array;
        size_t count;
    } const wanted[] = {{&self.z, n * d},  {&self.l, R * d},      {&self.norm2_z, n},    {&self.norm2_l, R},
                        {&self.zl, n * R}, {&self.ll, R * R},     {&self.phi, n * D},    {&self.A, D * D},
                        {&self.B, D * K},  {&self.scores, n * K}, {&self.targets, n * K}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].array = uc_alloc(wanted[i].count, sizeof(double));
        if (!*wanted[i].array) {
            free_trial(&self);
            return UC_ERR_NOMEM;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const uc_past_round round = uc_rounds_at(rounds, uc_evenly(i, n, rounds->count));
        for (size_t k = 0; k < K; k++) {
            const double target = round.known ? (double)(k == round.class) : (double)round.target[k];
            self.targets[i * K + k] = target - 1.0 / (double)K;
        }
    }
    *out = self;
    return UC_OK;
}

static void fill_rows(double *rows, double *norm2, const trial *self, const uc_map_input *input, size_t count,
                      float *z)
{
    const size_t d = self->rounds->columns;
    for (size_t i = 0; i < count; i++) {
        uc_onebit_prepare(z, input, self->rounds, uc_evenly(i, count, self->rounds->count));
        norm2[i] = 0.0;
        for (size_t j = 0; j < d; j++) {
            rows[i * d + j] = (double)z[j];
            norm2[i] += (double)z[j] * (double)z[j];
        }
    }
}

/* Computes z, l and their inner products, which all widths share. */
static uc_status prepare_trial(trial *self, const uc_map_input *input)
{
    const size_t d = self->rounds->columns, n = self->tried, R = self->landmarks;
    float *z = uc_alloc(d, sizeof *z);
    if (!z)
        return UC_ERR_NOMEM;
    fill_rows(self->z, self->norm2_z, self, input, n, z);
    fill_rows(self->l, self->norm2_l, self, input, R, z);
    uc_gemm(self->zl, R, (uc_operand){self->z, d, false}, (uc_operand){self->l, d, true}, n, d, R, 1.0, 0.0);
    uc_gemm(self->ll, R, (uc_operand){self->l, d, false}, (uc_operand){self->l, d, true}, R, d, R, 1.0, 0.0);
    uc_free(z);
    return UC_OK;
}

/* Turns inner products into kernel values of this width. */
static void begin_kernels(trial *self, double width)
{
    const size_t R = self->landmarks;
    for (size_t i = 0; i < self->tried; i++)
        for (size_t l = 0; l < R; l++)
            self->zl[i * R + l] = kernel(self->norm2_z[i], self->norm2_l[l], self->zl[i * R + l], width);
    for (size_t i = 0; i < R; i++)
        for (size_t l = 0; l < i; l++)
            self->ll[i * R + l] = kernel(self->norm2_l[i], self->norm2_l[l], self->ll[i * R + l], width);
}

/* Turns kernel values into those of half the width. */
static void halve_width(trial *self)
{
    const size_t R = self->landmarks;
    for (size_t i = 0; i < self->tried * R; i++)
        self->zl[i] *= self->zl[i];
    for (size_t i = 0; i < R * R; i++)
        self->ll[i] *= self->ll[i];
}

static void fill_features(trial *self)
{
    const size_t d = self->rounds->columns, R = self->landmarks, D = self->size;
    for (size_t i = 0; i < self->tried; i++) {
        double *phi = self->phi + i * D;
        phi[0] = 1.0;
        memcpy(phi + 1, self->zl + i * R, R * sizeof *phi);
        if (self->linear)
            memcpy(phi + 1 + R, self->z + i * d, d * sizeof *phi);
    }
}

static void fill_prior(trial *self)
{
    const size_t R = self->landmarks, D = self->size;
    memset(self->A, 0, D * D * sizeof *self->A);
    for (size_t i = 0; i < D; i++)
        self->A[i * D + i] = self->choice->prior;
    for (size_t i = 0; i < R; i++) {
        double *row = self->A + (1 + i) * D + 1;
        for (size_t j = 0; j < i; j++)
            row[j] = self->choice->prior * self->ll[i * R + j];
        row[i] = self->choice->prior * (1.0 + self->choice->jitter);
    }
}

/* The squared error over all classes if the class is known; otherwise over the class that was wrong. */
static double error_of(const trial *self, size_t i)
{
    const size_t K = self->classes, D = self->size;
    const uc_past_round round = uc_rounds_at(self->rounds, uc_evenly(i, self->tried, self->rounds->count));
    const double *q = self->targets + i * K, *s = self->scores + i * K;
    double error = 0.0;
    const double h = fmin(LARGEST_LEVERAGE, uc_dot(self->phi + i * D, self->phi + i * D, D));
    for (size_t k = 0; k < K; k++) {
        const double without = (s[k] - h * q[k]) / (1.0 - h);
        const double wanted = round.right ? q[k] : -1.0 / (double)K;
        if (round.right || k == round.class)
            error += (without - wanted) * (without - wanted);
    }
    return error;
}

/* Judges the view by the current kernel values. */
static uc_status judge(double *out, trial *self)
{
    const size_t n = self->tried, D = self->size, K = self->classes;
    fill_features(self);
    fill_prior(self);
    uc_symmetric_add(self->A, D, D, 1.0, self->phi, D, n);
    const uc_status status = uc_cholesky(self->A, D);
    if (status != UC_OK)
        return status;
    uc_solve_lower(self->phi, D, n, self->A, D, D);
    uc_gemm(self->B, K, (uc_operand){self->phi, D, true}, (uc_operand){self->targets, K, false}, D, n, K, 1.0,
            0.0);
    uc_gemm(self->scores, K, (uc_operand){self->phi, D, false}, (uc_operand){self->B, K, false}, n, D, K, 1.0,
            0.0);
    *out = 0.0;
    for (size_t i = 0; i < n; i++)
        *out += error_of(self, i);
    return UC_OK;
}

static uc_status judge_widths(uc_onebit_view *best, double *least, trial *self, uc_onebit_rows rows,
                              uc_rng *rng)
{
    uc_map_input input;
    double median = 1.0, wider = INFINITY;
    bool rises = false;
    uc_status status = uc_onebit_fit_input(&input, self->rounds, rows);
    if (status != UC_OK)
        return status;
    status = median_distance2(&median, &input, self->rounds, rng);
    if (status == UC_OK)
        status = prepare_trial(self, &input);
    if (status == UC_OK)
        begin_kernels(self, multiples[0] * median);
    for (size_t m = 0; m < MULTIPLES && !rises && status == UC_OK; m++) {
        double error = 0.0;
        if (m > 0)
            halve_width(self);
        status = judge(&error, self);
        if (rows == UC_ROWS_WITHIN)
            error *= ANSWERS_SEEN;
        if (status == UC_OK && error < *least) {
            *least = error;
            *best = (uc_onebit_view){rows, multiples[m]};
        }
        rises = error > wider && self->rounds->count >= ONE_MINIMUM;
        wider = error;
    }
    uc_map_input_free(&input);
    return status;
}

uc_status uc_onebit_choose(uc_onebit_view *out, const uc_rounds *rounds, const uc_onebit_choice *choice,
                           uc_rng *rng)
{
    trial self;
    double least = INFINITY;
    uc_onebit_view best = {UC_ROWS_STANDARD, 1.0};
    uc_status status = begin_trial(&self, rounds, choice);
    if (status != UC_OK)
        return status;
    for (uc_onebit_rows rows = 0; rows < UC_ROWS_KINDS && status == UC_OK; rows++) {
        bool can;
        status = uc_onebit_can_prepare(&can, rounds, rows);
        if (status == UC_OK && can)
            status = judge_widths(&best, &least, &self, rows, rng);
    }
    free_trial(&self);
    if (status == UC_OK)
        *out = best;
    return status;
}
