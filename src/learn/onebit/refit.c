/*
 * Targets of wrong rounds are guesses by the ridge itself. A guess must not confirm itself, so the round is
 * left out of its own scores:  s <- (s - h q)/(1 - h),  h = phi'A^-1 phi. The target is the projection of s
 * on the simplex without the wrong class, and a value slightly below 0 for that class.
 *
 * A refit processes the wrong rounds in blocks, by matrix products. The blocks follow each other in one
 * thread, so the result does not depend on the number of threads.
 */
#include "learn/onebit/refit.h"

#include <math.h>
#include <string.h>

#include "learn/onebit/targets.h"

#define LARGEST_LEVERAGE 0.99
#define PASSES 5
#define SETTLED 0.001 /* mean change of a target, summed over the classes */
#define BLOCK ((size_t)64)
#define ROOT_BLOCK ((size_t)256)

/* The score of class k without the round itself, which is part of the ridge with leverage h. */
static double without_itself(double s, double h, const float *before, size_t k, double mean)
{
    if (h > 0.0)
        s = (s - h * ((double)before[k] - mean)) / (1.0 - h);
    return s + mean;
}

void uc_onebit_target(double *target, const double *scores, size_t K, uc_onebit_said said, double h,
                      const float *before, const uc_onebit_rule *rule)
{
    const double mean = 1.0 / (double)K;
    double r = 0.0;
    h = fmin(h, LARGEST_LEVERAGE);
    for (size_t k = 0; k < K; k++)
        target[k] = without_itself(scores[k], h, before, k, mean);
    if (rule->doubt.active)
        r = uc_doubt_posterior(&rule->doubt, target[said.proposed], said.right);
    uc_project_without(target, target, K, said.proposed);
    for (size_t k = 0; k < K && r > 0.0; k++)
        target[k] *= 1.0 - r;
    target[said.proposed] = r - (1.0 - r) * rule->penalty;
    for (size_t k = 0; k < K; k++)
        target[k] = (double)(float)target[k]; /* rounded as it is stored */
}

typedef struct refit {
    uc_running_ridge *ridge;
    uc_rounds *rounds;
    uc_onebit_rule *rule;
    size_t *wrong; /* numbers of the rounds whose class is not known */
    size_t count;
    double *phi;             /* BLOCK x stride */
    double *scores, *change; /* BLOCK x class_stride */
} refit;

static uc_status begin(refit *self)
{
    const uc_running_ridge *ridge = self->ridge;
    self->wrong = uc_alloc(self->rounds->count, sizeof *self->wrong);
    self->phi = uc_alloc(BLOCK * ridge->stride, sizeof *self->phi);
    self->scores = uc_alloc(BLOCK * ridge->class_stride, sizeof *self->scores);
    self->change = uc_alloc(BLOCK * ridge->class_stride, sizeof *self->change);
    if (!self->wrong || !self->phi || !self->scores || !self->change)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < self->rounds->count; i++)
        if (!uc_rounds_at(self->rounds, i).known)
            self->wrong[self->count++] = i;
    return UC_OK;
}

static void end(refit *self)
{
    uc_free(self->wrong);
    uc_free(self->phi);
    uc_free(self->scores);
    uc_free(self->change);
}

/* Collects the features of wrong rounds first .. first + rows - 1. */
static void gather(refit *self, size_t first, size_t rows)
{
    const size_t n = self->ridge->size, S = self->ridge->stride;
    for (size_t i = 0; i < rows; i++) {
        const float *phi = uc_rounds_at(self->rounds, self->wrong[first + i]).phi;
        for (size_t j = 0; j < n; j++)
            self->phi[i * S + j] = (double)phi[j];
    }
}

/* |L'phi|^2 of wrong rounds first .. first + rows - 1, with A^-1 = LL'. */
static void measure_block(refit *self, const float *root, float *phi, size_t first, size_t rows)
{
    const size_t n = self->ridge->size, S = self->ridge->stride;
    for (size_t i = 0; i < rows; i++)
        memcpy(phi + i * S, uc_rounds_at(self->rounds, self->wrong[first + i]).phi, n * sizeof *phi);
    uc_times_root(phi, rows, root, S, n);
    for (size_t i = 0; i < rows; i++) {
        const uc_past_round round = uc_rounds_at(self->rounds, self->wrong[first + i]);
        const double h = round.weight * uc_row_norm2((uc_row){n, phi + i * S, NULL});
        *round.leverage = (float)fmin(1.0, h);
    }
}

/* If rounding has made A^-1 indefinite, the old leverages stay; true leverages only fall as rounds join. */
static uc_status measure_leverages(refit *self)
{
    const size_t n = self->ridge->size, S = self->ridge->stride;
    const size_t most = uc_min_size(ROOT_BLOCK, self->count);
    if (self->count == 0)
        return UC_OK;
    float *root = uc_alloc(n * S, sizeof *root), *phi = uc_alloc(most * S, sizeof *phi);
    double *work = uc_alloc(n * n, sizeof *work);
    uc_status status = UC_ERR_NOMEM;
    if (root && phi && work)
        status = uc_symmetric_root(root, self->ridge->inverse, S, n, work);
    for (size_t first = 0; first < self->count && status == UC_OK; first += ROOT_BLOCK)
        measure_block(self, root, phi, first, uc_min_size(ROOT_BLOCK, self->count - first));
    uc_free(root);
    uc_free(phi);
    uc_free(work);
    return status == UC_ERR_DIVERGED ? UC_OK : status;
}

/* Sets a new target for one round. Returns the size of the change; `change` gets it by class, weighted. */
static double retarget(refit *self, uc_past_round round, const double *scores, double *change)
{
    const size_t K = self->rounds->classes;
    double moved = 0.0;
    uc_onebit_target(change, scores, K, (uc_onebit_said){round.class, round.right}, (double)*round.leverage,
                     round.target, self->rule);
    for (size_t k = 0; k < K; k++) {
        const double target = change[k];
        change[k] = target - (double)round.target[k];
        moved += fabs(change[k]);
        change[k] *= round.weight;
        round.target[k] = (float)target;
    }
    return moved;
}

/* Computes the scores of a block of wrong rounds; returns how many rounds it has. */
static size_t score_block(refit *self, size_t first)
{
    const uc_running_ridge *ridge = self->ridge;
    const size_t n = ridge->size, S = ridge->stride, C = ridge->class_stride;
    const size_t rows = uc_min_size(BLOCK, self->count - first);
    gather(self, first, rows);
    uc_gemm(self->scores, C, (uc_operand){self->phi, S, false}, (uc_operand){ridge->weights, C, false}, rows,
            n, C, 1.0, 0.0);
    return rows;
}

/* Estimates how much answers are worth from the scores of the proposed classes. */
static uc_status fit_doubt(refit *self)
{
    const size_t C = self->ridge->class_stride;
    const double mean = 1.0 / (double)self->rounds->classes;
    double *v = uc_alloc(self->count, sizeof *v);
    bool *right = uc_alloc(self->count, sizeof *right);
    const uc_status status = v && right ? UC_OK : UC_ERR_NOMEM;
    for (size_t first = 0; first < self->count && status == UC_OK; first += BLOCK) {
        const size_t rows = score_block(self, first);
        for (size_t i = 0; i < rows; i++) {
            const uc_past_round round = uc_rounds_at(self->rounds, self->wrong[first + i]);
            const double h = fmin((double)*round.leverage, LARGEST_LEVERAGE);
            v[first + i] =
                without_itself(self->scores[i * C + round.class], h, round.target, round.class, mean);
            right[first + i] = round.right;
        }
    }
    if (status == UC_OK)
        uc_doubt_fit(&self->rule->doubt, v, right, self->count);
    uc_free(v);
    uc_free(right);
    return status;
}

/* Runs one pass; returns the mean change of the targets. */
static double pass(refit *self)
{
    const uc_running_ridge *ridge = self->ridge;
    const size_t n = ridge->size, S = ridge->stride, C = ridge->class_stride;
    double moved = 0.0;
    for (size_t first = 0; first < self->count; first += BLOCK) {
        const size_t rows = score_block(self, first);
        for (size_t i = 0; i < rows; i++)
            moved += retarget(self, uc_rounds_at(self->rounds, self->wrong[first + i]), self->scores + i * C,
                              self->change + i * C);
        uc_gemm(ridge->sums, C, (uc_operand){self->phi, S, true}, (uc_operand){self->change, C, false}, n,
                rows, C, 1.0, 1.0);
    }
    return moved / (double)self->count;
}

uc_status uc_onebit_refit(uc_running_ridge *ridge, uc_rounds *rounds, uc_onebit_rule *rule)
{
    refit self = {.ridge = ridge, .rounds = rounds, .rule = rule};
    uc_status status = begin(&self);
    if (status == UC_OK) {
        uc_running_ridge_solve(ridge);
        status = measure_leverages(&self);
    }
    if (status == UC_OK && rule->doubt.active)
        status = fit_doubt(&self);
    if (status == UC_OK) {
        double moved = INFINITY;
        for (int number = 0; number < PASSES && self.count > 0 && moved >= SETTLED; number++) {
            moved = pass(&self);
            uc_running_ridge_solve(ridge);
        }
    }
    end(&self);
    return status;
}
