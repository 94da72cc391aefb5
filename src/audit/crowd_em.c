/*
 * The consensus of annotators without features, by EM.
 *
 *   z, l     a true class and a label           pi_z       the share of class z
 *   C_j      annotator j's matrix: C_j[z][l] = P(j says l | true class z)
 *   R_i      P(true class of row i | its annotations)
 *   s, t     initial counts: s, and t more for a label that is right
 *
 * Dawid and Skene (Applied Statistics 28:20-28, 1979):
 *
 *   M   N_j[z][l] = sum of R_i[z] over the rows i that j calls l
 *       C_j[z][l] ~ N_j[z][l] + s + t [z = l],   pi_z ~ sum_i R_i[z] + s
 *   E   R_i[z] ~ pi_z prod over the annotations (j, l) of row i of C_j[z][l]
 *
 * One coin: C_j[z][z] = a_j, and all other labels are equally likely: (1 - a_j)/(K - 1).
 *
 * Each step raises  sum_i log sum_z pi_z prod C_j[z][l] + s sum log pi_z + sum (s + t [z = l]) log C_j[z][l],
 * where the last two sums run over all classes and over all cells (for one coin: (s + t) log a_j +
 * s log(1 - a_j)). Without t, an annotator with a single label would be fitted best as one who always says
 * it, whatever the class, and this label would carry no information.
 *
 * Only the columns of C_j that j has used are ever formed, and only for one slab of classes at a time, since
 * the counts of class z need no other class. The memory is therefore one matrix of rows x classes, in which
 * log-likelihoods replace R, and one slab of the matrices. Products are computed as sums of logarithms.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "audit/crowd_em.h"

#define ANNOTATORS_PER_BLOCK ((size_t)32)
#define ROWS_PER_BLOCK ((size_t)512)

typedef struct em {
    const uc_crowd *crowd;
    const uint32_t *gold;
    const uc_consensus_settings *settings;
    const uc_context *context;
    uc_consensus *out;
    const uc_pairs *pairs;
    /* Dawid-Skene: log C of the slab, pairs x width; one coin: log a and log (1 - a)/(K - 1) of everybody */
    double *table;
    double *parts; /* parts of the objective, one per block of annotators */
    double *log_prior;
    size_t from, width; /* the current slab */
} em;

/* ---- the start ---- */

static void set_row(uc_posteriors *posterior, size_t i, double value)
{
    size_t width;
    for (size_t from = 0; from < posterior->classes; from += width) {
        double *row = uc_posterior_slab(posterior, i, from, &width);
        for (size_t k = 0; k < width; k++)
            row[k] = value;
    }
}

static void add_row(double *sum, const uc_posteriors *posterior, size_t i)
{
    size_t width;
    for (size_t from = 0; from < posterior->classes; from += width) {
        const double *row = uc_posterior_slab(posterior, i, from, &width);
        for (size_t k = 0; k < width; k++)
            sum[from + k] += row[k];
    }
}

static void set_gold(uc_posteriors *posterior, size_t i, uint32_t gold)
{
    set_row(posterior, i, 0.0);
    posterior->values[uc_posterior_at(posterior, i, gold)] = 1.0;
}

/* The share of votes for each class; uniform without votes. */
static void set_votes(uc_posteriors *posterior, const uc_crowd *crowd, size_t i)
{
    const size_t votes = crowd->first[i + 1] - crowd->first[i];
    if (votes == 0) {
        set_row(posterior, i, 1.0 / (double)posterior->classes);
        return;
    }
    set_row(posterior, i, 0.0);
    for (size_t a = crowd->first[i]; a < crowd->first[i + 1]; a++)
        posterior->values[uc_posterior_at(posterior, i, crowd->label[a])] += 1.0;
    for (size_t k = 0; k < posterior->classes; k++)
        posterior->values[uc_posterior_at(posterior, i, k)] /= (double)votes;
}

void uc_posterior_start(uc_posteriors *self, const uc_crowd *crowd, const uint32_t *gold,
                        const uc_posteriors *start)
{
    for (size_t i = 0; i < crowd->rows; i++) {
        if (uc_gold_of(gold, i) != UC_NONE)
            set_gold(self, i, gold[i]);
        else if (!start || i >= start->rows || isnan(start->values[uc_posterior_at(start, i, 0)]))
            set_votes(self, crowd, i);
        else
            for (size_t k = 0; k < self->classes; k++)
                self->values[uc_posterior_at(self, i, k)] = start->values[uc_posterior_at(start, i, k)];
    }
}

/* ---- M: annotators ---- */

/* N + s + t [z = l] of annotator j's pairs for the classes of the slab; *totals are sums over all labels. */
static void count_labels(em *self, size_t j, double totals[UC_SLAB_CLASSES])
{
    const uc_pairs *pairs = self->pairs;
    const size_t width = self->width;
    const double s = self->settings->smoothing, t = self->settings->trust;
    for (size_t k = 0; k < width; k++)
        totals[k] = (double)self->crowd->classes.count * s + t;
    for (size_t p = pairs->first[j]; p < pairs->first[j + 1]; p++) {
        double *counts = self->table + p * width;
        memset(counts, 0, width * sizeof *counts);
        uc_pairs_add(counts, pairs, p, &self->out->posterior, self->from, width);
        for (size_t k = 0; k < width; k++) {
            totals[k] += counts[k];
            counts[k] += s + (pairs->label[p] == self->from + k ? t : 0.0);
        }
    }
}

/* weight * log(share), with 0 log 0 = 0. */
static double weighted_log(double weight, double share)
{
    return weight > 0.0 ? weight * log(share) : 0.0;
}

/* log C of annotator j for the classes of the slab; returns the annotator's part of the objective. */
static double fit_matrix(em *self, size_t j)
{
    const uc_pairs *pairs = self->pairs;
    const size_t first = pairs->first[j], last = pairs->first[j + 1], width = self->width;
    const size_t K = self->crowd->classes.count;
    const double s = self->settings->smoothing, t = self->settings->trust;
    double totals[UC_SLAB_CLASSES], part = 0.0;
    count_labels(self, j, totals);
    for (size_t k = 0; k < width; k++) {
        bool right = false; /* whether the annotator has ever given this label */
        for (size_t p = first; p < last; p++) {
            double *cell = &self->table[p * width + k];
            const bool same = pairs->label[p] == self->from + k;
            right = right || same;
            *cell = totals[k] > 0.0 ? log(*cell / totals[k]) : -log((double)K);
            part += s + (same ? t : 0.0) > 0.0 ? (s + (same ? t : 0.0)) * *cell : 0.0;
        }
        const double unused = (double)(K - (last - first)) - (right ? 0.0 : 1.0);
        part += weighted_log(s * unused, s / totals[k]);
        part += right ? 0.0 : weighted_log(s + t, (s + t) / totals[k]);
    }
    return part;
}

static double fit_coin(em *self, size_t j)
{
    const uc_pairs *pairs = self->pairs;
    const double s = self->settings->smoothing, t = self->settings->trust;
    const double others = (double)self->crowd->classes.count - 1.0;
    double right = 0.0;
    for (size_t p = pairs->first[j]; p < pairs->first[j + 1]; p++)
        uc_pairs_add(&right, pairs, p, &self->out->posterior, pairs->label[p], 1);
    const double labels = (double)uc_pairs_labels(pairs, j) + 2.0 * s + t;
    const double wrong = fmax(labels - right - s - t, 0.0);
    self->table[2 * j] = log((right + s + t) / labels);
    self->table[2 * j + 1] = log(wrong / labels / others);
    return weighted_log(s + t, (right + s + t) / labels) + weighted_log(s, wrong / labels);
}

static uc_status fit_annotators(size_t block, void *user)
{
    em *self = user;
    const uc_range range = uc_block_range(block, self->pairs->annotators, ANNOTATORS_PER_BLOCK);
    const bool coin = self->settings->method == UC_CONSENSUS_ONE_COIN;
    for (size_t j = range.first; j < range.last; j++)
        self->parts[block] += coin ? fit_coin(self, j) : fit_matrix(self, j);
    return UC_OK;
}

/* ---- E: rows ---- */

/* Replaces the posteriors in the slab with the sums of log C[.][label]. */
static uc_status add_matrices(size_t block, void *user)
{
    em *self = user;
    const uc_range range = uc_block_range(block, self->crowd->rows, ROWS_PER_BLOCK);
    uc_posteriors *posterior = &self->out->posterior;
    for (size_t i = range.first; i < range.last; i++) {
        double *row = posterior->values + uc_posterior_at(posterior, i, self->from);
        memset(row, 0, self->width * sizeof *row);
        for (size_t a = self->crowd->first[i]; a < self->crowd->first[i + 1]; a++) {
            const double *logs = self->table + self->pairs->of[a] * self->width;
            for (size_t k = 0; k < self->width; k++)
                row[k] += logs[k];
        }
    }
    return UC_OK;
}

/* A label adds log (1 - a)/(K - 1) to all classes but its own. */
static uc_status add_coins(size_t block, void *user)
{
    em *self = user;
    const uc_crowd *crowd = self->crowd;
    const uc_range range = uc_block_range(block, crowd->rows, ROWS_PER_BLOCK);
    uc_posteriors *posterior = &self->out->posterior;
    for (size_t i = range.first; i < range.last; i++) {
        double wrong = 0.0;
        for (size_t a = crowd->first[i]; a < crowd->first[i + 1]; a++)
            wrong += self->table[2 * crowd->annotator[a] + 1];
        set_row(posterior, i, wrong);
        for (size_t a = crowd->first[i]; a < crowd->first[i + 1]; a++) {
            const double *logs = self->table + 2 * crowd->annotator[a];
            posterior->values[uc_posterior_at(posterior, i, crowd->label[a])] += logs[0] - logs[1];
        }
    }
    return UC_OK;
}

/* Adds the logarithm of the prior; returns the largest sum. */
static double add_prior(uc_posteriors *posterior, size_t i, const double *log_prior)
{
    double most = -INFINITY;
    size_t width;
    for (size_t from = 0; from < posterior->classes; from += width) {
        double *row = uc_posterior_slab(posterior, i, from, &width);
        for (size_t k = 0; k < width; k++) {
            row[k] += log_prior[from + k];
            most = fmax(most, row[k]);
        }
    }
    return most;
}

/* Turns the log-likelihoods of row i into posteriors; returns the log-likelihood of its annotations. */
static double normalise_row(uc_posteriors *posterior, size_t i, const double *log_prior, uint32_t gold)
{
    const double most = add_prior(posterior, i, log_prior);
    double sum = 0.0;
    size_t width;
    if (gold != UC_NONE) {
        const double likelihood = posterior->values[uc_posterior_at(posterior, i, gold)];
        set_gold(posterior, i, gold);
        return likelihood;
    }
    for (size_t from = 0; from < posterior->classes; from += width) {
        double *row = uc_posterior_slab(posterior, i, from, &width);
        for (size_t k = 0; k < width; k++) {
            row[k] = exp(row[k] - most);
            sum += row[k];
        }
    }
    for (size_t from = 0; from < posterior->classes; from += width) {
        double *row = uc_posterior_slab(posterior, i, from, &width);
        for (size_t k = 0; k < width; k++)
            row[k] /= sum;
    }
    return most + log(sum);
}

/* sum: the log-likelihood, then the posteriors of each class, summed over the rows with annotations or a gold
 * label. */
static uc_status normalise(double *sum, size_t first, size_t last, void *user)
{
    em *self = user;
    uc_posteriors *posterior = &self->out->posterior;
    for (size_t i = first; i < last; i++) {
        const uint32_t gold = uc_gold_of(self->gold, i);
        const double likelihood = normalise_row(posterior, i, self->log_prior, gold);
        if (!uc_is_annotated(self->crowd, i) && gold == UC_NONE)
            continue;
        sum[0] += likelihood;
        add_row(sum + 1, posterior, i);
    }
    return UC_OK;
}

static uc_status sum_classes(double *sum, size_t first, size_t last, void *user)
{
    const em *self = user;
    for (size_t i = first; i < last; i++)
        if (uc_is_annotated(self->crowd, i) || uc_gold_of(self->gold, i) != UC_NONE)
            add_row(sum + 1, &self->out->posterior, i);
    return UC_OK;
}

/* ---- iterations ---- */

/* pi and its logarithm, from the sums of each class; returns their part of the objective. */
static double fit_prior(em *self, const double *sums)
{
    const size_t K = self->crowd->classes.count;
    const double s = self->settings->smoothing;
    double total = 0.0, part = 0.0;
    for (size_t k = 0; k < K; k++)
        total += sums[k] + s;
    for (size_t k = 0; k < K; k++) {
        self->out->prior[k] = (sums[k] + s) / total;
        self->log_prior[k] = log(self->out->prior[k]);
        part += s > 0.0 ? s * self->log_prior[k] : 0.0;
    }
    return part;
}

/* Fits the annotators and replaces the posteriors with log-likelihoods. */
static uc_status fit_and_add(em *self)
{
    const size_t blocks = uc_block_count(self->pairs->annotators, ANNOTATORS_PER_BLOCK);
    const size_t row_blocks = uc_block_count(self->crowd->rows, ROWS_PER_BLOCK);
    const size_t K = self->crowd->classes.count;
    memset(self->parts, 0, blocks * sizeof *self->parts);
    if (self->settings->method == UC_CONSENSUS_ONE_COIN) {
        const uc_status status = uc_run_blocks(self->context, blocks, fit_annotators, self);
        return status == UC_OK ? uc_run_blocks(self->context, row_blocks, add_coins, self) : status;
    }
    for (self->from = 0; self->from < K; self->from += UC_SLAB_CLASSES) {
        self->width = uc_min_size(UC_SLAB_CLASSES, K - self->from);
        uc_status status = uc_run_blocks(self->context, blocks, fit_annotators, self);
        if (status == UC_OK)
            status = uc_run_blocks(self->context, row_blocks, add_matrices, self);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}

static uc_status iterate(em *self, double *sums)
{
    uc_consensus *out = self->out;
    const size_t K = self->crowd->classes.count,
                 blocks = uc_block_count(self->pairs->annotators, ANNOTATORS_PER_BLOCK);
    const double enough = self->settings->tolerance * (double)self->crowd->rows;
    uc_status status = uc_sum_over(self->context, self->crowd->rows, sum_classes, self, sums, K + 1);
    for (out->iterations = 0;
         status == UC_OK && out->iterations < self->settings->iterations && !out->converged;) {
        double objective = fit_prior(self, sums + 1);
        if ((status = fit_and_add(self)) != UC_OK)
            break;
        for (size_t block = 0; block < blocks; block++)
            objective += self->parts[block];
        memset(sums, 0, (K + 1) * sizeof *sums);
        status = uc_sum_over(self->context, self->crowd->rows, normalise, self, sums, K + 1);
        out->log_likelihood = sums[0];
        objective += sums[0];
        out->converged = out->iterations > 0 && objective - out->objective <= enough;
        out->objective = objective;
        out->iterations++;
        if (status == UC_OK)
            status = uc_report(self->context, "consensus", (double)out->iterations, 0.0, NULL);
    }
    return status;
}

uc_status uc_consensus_iterate(uc_consensus *out, const uc_crowd *crowd, const uc_pairs *pairs,
                               const uint32_t *gold, const uc_consensus_settings *settings,
                               const uc_context *context)
{
    const size_t K = crowd->classes.count, blocks = uc_block_count(pairs->annotators, ANNOTATORS_PER_BLOCK);
    const bool coin = settings->method == UC_CONSENSUS_ONE_COIN;
    const size_t width = uc_min_size(UC_SLAB_CLASSES, K);
    em self = {
        .crowd = crowd, .gold = gold, .settings = settings, .context = context, .out = out, .pairs = pairs};
    double *sums = uc_alloc(K + 1, sizeof *sums);
    uc_status status = UC_ERR_NOMEM;
    self.table = uc_alloc(coin ? 2 * pairs->annotators : pairs->count * width, sizeof *self.table);
    self.parts = uc_alloc(blocks, sizeof *self.parts);
    self.log_prior = uc_alloc(K, sizeof *self.log_prior);
    if (sums && self.table && self.parts && self.log_prior)
        status = iterate(&self, sums);
    uc_free(sums);
    uc_free(self.table);
    uc_free(self.parts);
    uc_free(self.log_prior);
    return status;
}
