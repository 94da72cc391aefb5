/*
 *   f     rate of forgetting: 0, 1/20,000 or 1/2,000 per round
 *   w_i   e^(-f a_i) times the weight of the example, a_i rounds ago
 *   phi   (1, a part of the kernel values)      A_f = prior + sum w_i phi_i phi_i'
 *
 * A rate is judged by the last rounds, each left out in turn: with A_f = LL' and u = L^-1 phi, a round's
 * leverage is h = w u'u, its scores are s = u' sum of w u q', and without it they are (s - h q)/(1 - h). Old
 * rounds that agree with the last ones reduce this error, so they are kept unless meanings change.
 *
 * Whether to restart after a change is judged in the same way: by the rounds after it, with and without those
 * before it.
 *
 * The weights of old rounds do not shrink; those of new rounds grow instead, which is equivalent except for
 * the prior. At the next choice the newest round gets the weight of its example again, and the ridge is
 * rebuilt.
 */
#include "learn/onebit/forget.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

#define TRIED_LANDMARKS ((size_t)128)
#define JUDGED ((size_t)1000)
#define LARGEST_LEVERAGE 0.99
#define MARGIN 0.98
#define SMALLEST (-60.0) /* smallest exponent of a factor; within the range of single precision */

static const double rates[UC_FORGET_RATES] = {0.0, 1.0 / 20000.0, 1.0 / 2000.0};

static double exponent(uint64_t number, double age, uint64_t base)
{
    return fmax(SMALLEST, rates[number] * (age - (double)base));
}

double uc_forget_factor(const uc_forget *self, uint64_t age)
{
    return exp(exponent(self->number, (double)age, self->base));
}

/* The age at which round i took place. */
static double age_of(const uc_rounds *rounds, size_t i, uint64_t age)
{
    return (double)age - (double)(rounds->count - i);
}

void uc_forget_reweigh(uc_forget *self, uint64_t number, uint64_t age, uc_rounds *rounds)
{
    for (size_t i = 0; i < rounds->count; i++) {
        const double t = age_of(rounds, i, age);
        const double before = exponent(self->number, t, self->base), after = exponent(number, t, age);
        uc_rounds_weigh(rounds, i, exp(after - before));
    }
    *self = (uc_forget){number, age};
}

/* ---- the choice ---- */

typedef struct trial {
    const uc_rounds *rounds;
    size_t size, classes;    /* n, K */
    size_t *features;        /* the n features that are used */
    double *own;             /* weights of the examples */
    double *phi, *weighed;   /* count x n: phi, sqrt(w) phi; then L^-1 phi of the rounds that judge */
    double *prior, *A;       /* n x n */
    double *targets, *B, *s; /* count x K (times sqrt(w)), n x K, JUDGED x K */
} trial;

static void free_trial(trial *self)
{
    double *const arrays[] = {self->own, self->phi,     self->weighed, self->prior,
                              self->A,   self->targets, self->B,       self->s};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        uc_free(arrays[i]);
    uc_free(self->features);
}

static uc_status allocate(trial *self, size_t landmarks)
{
    const size_t N = self->rounds->count, n = self->size = 1 + uc_min_size(landmarks, TRIED_LANDMARKS);
    const size_t K = self->classes = self->rounds->classes;
    struct {
        double **array;
        size_t count;
    } const wanted[] = {{&self->own, N},       {&self->phi, N * n},   {&self->weighed, N * n},
                        {&self->prior, n * n}, {&self->A, n * n},     {&self->targets, N * K},
                        {&self->B, n * K},     {&self->s, JUDGED * K}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].array = uc_alloc(wanted[i].count, sizeof(double));
        if (!*wanted[i].array)
            return UC_ERR_NOMEM;
    }
    self->features = uc_alloc(n, sizeof *self->features);
    return self->features ? UC_OK : UC_ERR_NOMEM;
}

static double target_of(const uc_past_round *round, size_t k, size_t K)
{
    const double target = round->known ? (double)(k == round->class) : (double)round->target[k];
    return target - 1.0 / (double)K;
}

/* The prior for the features that are tried: some rows and columns of the full prior. */
static uc_status fill_prior(trial *self, const uc_map *map, const uc_onebit_choice *choice)
{
    const size_t all = 1 + map->dimension, n = self->size;
    double *whole = uc_alloc(all * all, sizeof *whole);
    uc_status status = UC_ERR_NOMEM;
    if (whole)
        status = uc_onebit_prior(whole, all, map, choice);
    for (size_t i = 0; i < n && status == UC_OK; i++)
        for (size_t j = 0; j <= i; j++)
            self->prior[i * n + j] = whole[self->features[i] * all + self->features[j]];
    uc_free(whole);
    return status;
}

static uc_status begin(trial *self, const uc_forget *now, uint64_t age, const uc_map *map,
                       const uc_onebit_choice *choice)
{
    const uc_rounds *rounds = self->rounds;
    const size_t R = map->landmarks.rows;
    const uc_status status = allocate(self, R);
    if (status != UC_OK)
        return status;
    for (size_t j = 1; j < self->size; j++)
        self->features[j] = 1 + uc_evenly(j - 1, self->size - 1, R);
    for (size_t i = 0; i < rounds->count; i++) {
        const uc_past_round round = uc_rounds_at(rounds, i);
        self->own[i] = round.weight * exp(-exponent(now->number, age_of(rounds, i, age), now->base));
        for (size_t j = 0; j < self->size; j++)
            self->phi[i * self->size + j] = (double)round.phi[self->features[j]];
    }
    return fill_prior(self, map, choice);
}

/* The squared error over all classes if the class is known; otherwise over the class that was wrong. */
static double error_of(const trial *self, size_t i, const double *u, const double *s, double weight)
{
    const size_t K = self->classes, n = self->size;
    const uc_past_round round = uc_rounds_at(self->rounds, i);
    const double h = fmin(LARGEST_LEVERAGE, uc_dot(u, u, n)), root = sqrt(weight);
    double error = 0.0;
    for (size_t k = 0; k < K; k++) {
        const double q = target_of(&round, k, K), without = (s[k] / root - h * q) / (1.0 - h);
        const double wanted = round.right ? q : -1.0 / (double)K;
        if (round.right || k == round.class)
            error += (without - wanted) * (without - wanted);
    }
    return error;
}

/* Judges by the last `judged` rounds; rounds before number `from` are left out. */
static uc_status judge(double *out, trial *self, double rate, size_t from, size_t judged)
{
    const size_t N = self->rounds->count, n = self->size, K = self->classes, first = N - judged;
    for (size_t i = 0; i < N; i++) {
        double root = sqrt(self->own[i] * exp(fmax(SMALLEST, -rate * (double)(N - 1 - i))));
        const uc_past_round round = uc_rounds_at(self->rounds, i);
        if (i < from)
            root = 0.0;
        for (size_t j = 0; j < n; j++)
            self->weighed[i * n + j] = root * self->phi[i * n + j];
        for (size_t k = 0; k < K; k++)
            self->targets[i * K + k] = root * target_of(&round, k, K);
    }
    memcpy(self->A, self->prior, n * n * sizeof *self->A);
    uc_symmetric_add(self->A, n, n, 1.0, self->weighed, n, N);
    const uc_status status = uc_cholesky(self->A, n);
    if (status != UC_OK)
        return status;
    uc_gemm(self->B, K, (uc_operand){self->weighed, n, true}, (uc_operand){self->targets, K, false}, n, N, K,
            1.0, 0.0);
    uc_solve_lower_columns(self->B, K, self->A, n, false);
    uc_solve_lower(self->weighed + first * n, n, judged, self->A, n, n);
    uc_gemm(self->s, K, (uc_operand){self->weighed + first * n, n, false}, (uc_operand){self->B, K, false},
            judged, n, K, 1.0, 0.0);
    *out = 0.0;
    for (size_t i = 0; i < judged; i++) {
        const double weight = self->own[first + i] * exp(-rate * (double)(judged - 1 - i));
        *out += error_of(self, first + i, self->weighed + (first + i) * n, self->s + i * K, weight);
    }
    return UC_OK;
}

uc_status uc_forget_choose(uint64_t *number, const uc_forget *now, uint64_t age, const uc_rounds *rounds,
                           const uc_map *map, const uc_onebit_choice *choice)
{
    trial self = {.rounds = rounds};
    double least = 0.0;
    uint64_t best = 0;
    const size_t judged = uc_min_size(JUDGED, rounds->count);
    uc_status status = begin(&self, now, age, map, choice);
    for (uint64_t i = 0; i < UC_FORGET_RATES && status == UC_OK; i++) {
        double error = 0.0;
        status = judge(&error, &self, rates[i], 0, judged);
        if (status == UC_OK && (i == 0 || error < MARGIN * least)) {
            least = error;
            best = i;
        }
    }
    free_trial(&self);
    if (status == UC_OK)
        *number = best;
    return status;
}

uc_status uc_forget_judge_restart(bool *better, size_t last, const uc_forget *now, uint64_t age,
                                  const uc_rounds *rounds, const uc_map *map, const uc_onebit_choice *choice)
{
    trial self = {.rounds = rounds};
    double with = 0.0, without = 0.0;
    *better = rounds->count <= last;
    if (*better)
        return UC_OK;
    const size_t from = rounds->count - last, judged = uc_min_size(JUDGED, last);
    uc_status status = begin(&self, now, age, map, choice);
    if (status == UC_OK)
        status = judge(&with, &self, 0.0, 0, judged);
    if (status == UC_OK)
        status = judge(&without, &self, 0.0, from, judged);
    free_trial(&self);
    *better = status == UC_OK && without < with;
    return status;
}

uc_status uc_forget_remember(uc_forget *self, uc_state *state, uint64_t age)
{
    uc_status status = uc_state_counter(state, "forget", &self->number);
    if (status == UC_OK)
        status = uc_state_counter(state, "forget_base", &self->base);
    if (status == UC_OK && (self->number >= UC_FORGET_RATES || self->base > age))
        status = uc_state_damaged();
    return status;
}
