/*
 * What a posterior says about the annotators.
 *
 *   N_j[z][l]  sum of R_i[z] over the rows i that annotator j calls l
 *   P          rows of (sum_j N_j + I + 1/K), normalised: the pooled matrix of all annotators
 *   C_j        rows of (N_j + 10 P), normalised: an annotator with few labels is treated like an average one
 *
 * The accuracy is the mean of R_i[l] over j's annotations. The information of a label is the mutual
 * information of true class and label, sum_z pi_z sum_l C_j[z][l] log2(C_j[z][l]/sum_y pi_y C_j[y][l]). It is
 * 0 for an annotator who always says the same, and large for one who confuses two classes consistently.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/crowd_em.h"
#include "unconfuse/metrics.h"

#define SHRINKAGE 10.0 /* labels per true class */
#define MOST_CELLS 3e8 /* annotators x K^2; beyond it the information would take longer than the rest */
#define ANNOTATORS_PER_BLOCK ((size_t)32)

typedef struct description {
    uc_consensus *out;
    const uc_crowd *crowd;
    const uc_pairs *pairs;
    bool informed;
} description;

/* ---- matrices ---- */

static void normalise_rows(double *matrix, size_t K)
{
    for (size_t z = 0; z < K; z++) {
        double sum = 0.0;
        for (size_t l = 0; l < K; l++)
            sum += matrix[z * K + l];
        for (size_t l = 0; l < K; l++)
            matrix[z * K + l] /= sum;
    }
}

/* P, summed over the annotations row by row, which needs no extra memory and fixes the order of summation. */
static void find_pooled(double *P, const uc_crowd *crowd, const uc_posteriors *posterior)
{
    const size_t K = posterior->classes;
    for (size_t z = 0; z < K; z++)
        for (size_t l = 0; l < K; l++)
            P[z * K + l] = (double)(z == l) + 1.0 / (double)K;
    for (size_t i = 0; i < crowd->rows; i++)
        for (size_t a = crowd->first[i]; a < crowd->first[i + 1]; a++)
            for (size_t z = 0; z < K; z++)
                P[z * K + crowd->label[a]] += posterior->values[uc_posterior_at(posterior, i, z)];
    normalise_rows(P, K);
}

/* C_j, whose rows are true classes. `counts` has room for K numbers. */
static void find_matrix(double *C, double *counts, const uc_consensus *self, const uc_pairs *pairs, size_t j)
{
    const size_t K = self->posterior.classes;
    for (size_t cell = 0; cell < K * K; cell++)
        C[cell] = SHRINKAGE * self->pooled[cell];
    for (size_t p = pairs->first[j]; p < pairs->first[j + 1]; p++) {
        memset(counts, 0, K * sizeof *counts);
        uc_pairs_count(counts, pairs, p, &self->posterior);
        for (size_t z = 0; z < K; z++)
            C[z * K + pairs->label[p]] += counts[z];
    }
    normalise_rows(C, K);
}

static double bits(double share)
{
    return share > 0.0 ? -share * log2(share) : 0.0;
}

/* I(z; l) = H(l) - H(l | z). `labels` has room for K numbers. */
static double information_of(const double *C, double *labels, const double *prior, size_t K)
{
    double information = 0.0;
    memset(labels, 0, K * sizeof *labels);
    for (size_t z = 0; z < K; z++)
        for (size_t l = 0; l < K; l++) {
            labels[l] += prior[z] * C[z * K + l];
            information -= prior[z] * bits(C[z * K + l]);
        }
    for (size_t l = 0; l < K; l++)
        information += bits(labels[l]);
    return fmax(information, 0.0);
}

/* ---- annotators ---- */

static void find_accuracy(uc_annotator *out, const uc_pairs *pairs, const uc_posteriors *posterior, size_t j)
{
    double right = 0.0;
    for (size_t p = pairs->first[j]; p < pairs->first[j + 1]; p++)
        uc_pairs_add(&right, pairs, p, posterior, pairs->label[p], 1);
    out->labels = uc_pairs_labels(pairs, j);
    out->accuracy = fmin(right / (double)out->labels, 1.0);
    uc_metrics_wilson_of_share(out->interval, out->accuracy, (double)out->labels);
}

static uc_status describe_block(size_t block, void *user)
{
    description *self = user;
    const size_t K = self->crowd->classes.count;
    const uc_range range = uc_block_range(block, self->pairs->annotators, ANNOTATORS_PER_BLOCK);
    double *C = NULL, *room = NULL;
    if (self->informed) {
        C = uc_alloc(K * K, sizeof *C);
        room = uc_alloc(K, sizeof *room);
        if (!C || !room) {
            uc_free(C);
            uc_free(room);
            return UC_ERR_NOMEM;
        }
    }
    for (size_t j = range.first; j < range.last; j++) {
        uc_annotator *annotator = &self->out->annotators[j];
        find_accuracy(annotator, self->pairs, &self->out->posterior, j);
        annotator->information = NAN;
        if (self->informed) {
            find_matrix(C, room, self->out, self->pairs, j);
            annotator->information = information_of(C, room, self->out->prior, K);
        }
    }
    uc_free(C);
    uc_free(room);
    return UC_OK;
}

uc_status uc_consensus_describe(uc_consensus *out, const uc_crowd *crowd, const uc_pairs *pairs,
                                const uc_context *context)
{
    const size_t K = crowd->classes.count;
    const double cells = (double)pairs->annotators * (double)K * (double)K;
    description self = {out, crowd, pairs, cells <= MOST_CELLS};
    out->annotators = uc_alloc(pairs->annotators, sizeof *out->annotators);
    out->pooled = uc_alloc(K * K, sizeof *out->pooled);
    if (!out->annotators || !out->pooled)
        return UC_ERR_NOMEM;
    find_pooled(out->pooled, crowd, &out->posterior);
    return uc_run_blocks(context, uc_block_count(pairs->annotators, ANNOTATORS_PER_BLOCK), describe_block,
                         &self);
}

/* Counts all annotations of one annotator, without an index by annotator. */
static void count_annotator(double *C, const uc_consensus *self, const uc_crowd *crowd, size_t annotator)
{
    const size_t K = self->posterior.classes;
    for (size_t i = 0; i < crowd->rows; i++)
        for (size_t a = crowd->first[i]; a < crowd->first[i + 1]; a++)
            for (size_t z = 0; z < K && crowd->annotator[a] == annotator; z++)
                C[z * K + crowd->label[a]] += self->posterior.values[uc_posterior_at(&self->posterior, i, z)];
}

uc_status uc_consensus_matrix(double *matrix, const uc_consensus *self, const uc_crowd *crowd,
                              size_t annotator)
{
    const size_t K = self->posterior.classes;
    double *C = uc_alloc(K * K, sizeof *C);
    if (!C)
        return UC_ERR_NOMEM;
    for (size_t cell = 0; cell < K * K; cell++)
        C[cell] = SHRINKAGE * self->pooled[cell];
    count_annotator(C, self, crowd, annotator);
    normalise_rows(C, K);
    for (size_t z = 0; z < K; z++)
        for (size_t l = 0; l < K; l++)
            matrix[l * K + z] = C[z * K + l];
    uc_free(C);
    return UC_OK;
}

/* ---- whom to ask again ---- */

static int compare_questions(const void *a, const void *b)
{
    const uc_question *x = a, *y = b;
    if (x->probability != y->probability)
        return x->probability < y->probability ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The value of an annotator's labels. */
static double worth(const uc_annotator *annotator)
{
    return isnan(annotator->information) ? annotator->interval[0] : annotator->information;
}

typedef struct ranked {
    double worth;
    uint32_t annotator;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->worth != y->worth)
        return x->worth > y->worth ? -1 : 1;
    return (x->annotator > y->annotator) - (x->annotator < y->annotator);
}

static bool has_labelled(const uc_crowd *crowd, size_t row, uint32_t annotator)
{
    for (size_t a = crowd->first[row]; a < crowd->first[row + 1]; a++)
        if (crowd->annotator[a] == annotator)
            return true;
    return false;
}

static void choose_annotators(uc_question *questions, size_t count, const uc_crowd *crowd,
                              const ranked *order)
{
    for (size_t q = 0; q < count; q++) {
        size_t j = 0;
        while (j < crowd->annotators.count && has_labelled(crowd, questions[q].row, order[j].annotator))
            j++;
        questions[q].annotator = j < crowd->annotators.count ? order[j].annotator : UC_NONE;
    }
}

uc_status uc_questions_find(uc_question **out, size_t *found, const uc_consensus *self, const uc_crowd *crowd,
                            const uint32_t *gold, size_t count)
{
    uc_question *questions = uc_alloc(crowd->rows, sizeof *questions);
    ranked *order = uc_alloc(crowd->annotators.count, sizeof *order);
    size_t uncertain = 0;
    if (!questions || !order) {
        uc_free(questions);
        uc_free(order);
        return UC_ERR_NOMEM;
    }
    for (size_t i = 0; i < crowd->rows; i++) {
        const double most =
            self->posterior.values[uc_posterior_at(&self->posterior, i, self->most_probable[i])];
        if (most < 1.0 && uc_gold_of(gold, i) == UC_NONE)
            questions[uncertain++] = (uc_question){i, UC_NONE, most};
    }
    for (size_t j = 0; j < crowd->annotators.count; j++)
        order[j] = (ranked){worth(&self->annotators[j]), (uint32_t)j};
    qsort(questions, uncertain, sizeof *questions, compare_questions);
    qsort(order, crowd->annotators.count, sizeof *order, compare_ranked);
    *found = uc_min_size(uncertain, count);
    choose_annotators(questions, *found, crowd, order);
    uc_free(order);
    *out = questions;
    return UC_OK;
}

void uc_questions_free(uc_question *questions)
{
    uc_free(questions);
}
