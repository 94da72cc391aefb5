/*
 * Which labels are wrong, by the probabilities of any model that has not seen them (out of fold).
 *
 *   p_iz      probability of class z for row i        y_i   its label        K   classes
 *   T         temperature: divides the model's log-probabilities
 *   C[z][l]   P(label l | true class z)
 *   Q_iz      P(true class z | p_i, y_i)
 *
 * For each temperature, Q starts as .9 [z = y_i] + .1/K; then 20 times
 *
 *   C = rows of (N + I + 1/K), normalised, N[z][l] = sum of Q_iz over the rows labelled l
 *   Q_iz ~ softmax(log p_i / T)_z C[z][y_i]
 *
 * The temperature with the largest mean of log sum_z softmax(log p_i / T)_z C[z][y_i] is chosen. These are
 * the equations of the mode `labels` of the learner audit (learn/audit/believe.c). Rows are sorted by their
 * labels: the rows of label l need only column l of C and are the only ones that add to it. So one matrix is
 * enough, and threads share nothing. Of that column, only the cells that rows of the label can add to are
 * stored (probability_cells.c).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/probability_rows.h"
#include "audit/resample.h"
#include "unconfuse/metrics.h"

#define INNER_STEPS 20
#define ROWS_PER_BLOCK ((size_t)256)

typedef struct work {
    const uc_probability_rows *rows;
    const uint32_t *labels, *gold;
    const uc_context *context;
    size_t K;
    uc_label_groups groups;
    uc_probability_cells cells; /* N */
    uint32_t *place;            /* rows x kept: the cell of each entry, among the cells of the row's label */
    float *weights;             /* rows x kept: softmax(log p / T) */
    double *background;         /* K: added to every cell of a label, stored or not */
    double *fits;               /* K + 1: log-likelihood of the rows of each label */
    double *wrong;              /* rows; the caller's result */
    uint32_t *best;
    size_t t;  /* the current temperature */
    bool keep; /* fill in `wrong` and `best` */
} work;

/* ---- one temperature ---- */

static uc_status weigh_rows(size_t block, void *user)
{
    work *self = user;
    const uc_probability_rows *rows = self->rows;
    const uc_range range = uc_block_range(block, rows->rows, ROWS_PER_BLOCK);
    for (size_t i = range.first; i < range.last; i++)
        for (size_t e = i * rows->kept; e < (i + 1) * rows->kept; e++)
            self->weights[e] = (float)exp((double)rows->log_p[e] / uc_temperatures[self->t] -
                                          rows->log_sum[i * UC_TEMPERATURES + self->t]);
    return UC_OK;
}

/* The position of class z in `truth`, which contains it. */
static size_t cell_of(const uint32_t *truth, uint32_t z)
{
    size_t c = 0;
    while (truth[c] != z)
        c++;
    return c;
}

/* The initial N, which uses the labels only; the background is .1/K for each unchecked label. */
static void start_counts(work *self)
{
    const uc_probability_cells *cells = &self->cells;
    double background = 0.0;
    for (size_t l = 0; l < self->K; l++) {
        double *count = cells->count + cells->begin[l];
        const uint32_t *truth = cells->truth + cells->begin[l];
        const size_t size = cells->begin[l + 1] - cells->begin[l];
        double unchecked = 0.0;
        memset(count, 0, size * sizeof *count);
        for (size_t r = self->groups.begin[l]; r < self->groups.begin[l + 1]; r++) {
            const uint32_t gold = self->gold ? self->gold[self->groups.order[r]] : UC_NONE;
            unchecked += gold == UC_NONE ? 1.0 : 0.0;
            if (gold != UC_NONE)
                count[cell_of(truth, gold)] += 1.0;
        }
        if (unchecked > 0.0)
            count[cell_of(truth, (uint32_t)l)] += 0.9 * unchecked;
        self->background[l] = 0.1 / (double)self->K * unchecked;
        background += self->background[l];
    }
    uc_probability_cells_add_up(&self->cells, background);
}

/* Adds the probabilities of row i to `sums`, by cells of its label; `shares` has C. Returns the likelihood of
 * the label. */
static double believe(work *self, size_t i, const uint32_t *truth, const double *shares, double *sums)
{
    const size_t kept = self->rows->kept;
    const uint32_t *place = self->place + i * kept;
    const float *weights = self->weights + i * kept;
    const uint32_t gold = self->gold ? self->gold[i] : UC_NONE, label = self->labels[i];
    double sum = 0.0, most = -1.0, right = 0.0;
    uint32_t best = 0;
    for (size_t e = 0; e < kept; e++) {
        const uint32_t c = place[e];
        const double product = gold != UC_NONE && gold != truth[c] ? 0.0 : (double)weights[e] * shares[c];
        sum += product;
        right += truth[c] == label ? product : 0.0;
        if (product > most || (product == most && c < best)) {
            most = product;
            best = c;
        }
    }
    if (sum <= 0.0) { /* a checked class that the model considers impossible */
        sum = 1e-300;
        right = gold == label ? sum : 0.0;
    }
    if (self->keep) {
        self->best[i] = gold != UC_NONE ? gold : truth[best];
        self->wrong[i] = label == UC_NONE ? NAN : fmin(fmax(1.0 - right / sum, 0.0), 1.0);
    }
    if (gold != UC_NONE) {
        sums[cell_of(truth, gold)] += 1.0;
        return sum;
    }
    for (size_t e = 0; e < kept; e++)
        sums[place[e]] += (double)weights[e] * shares[place[e]] / sum;
    return sum;
}

/* Processes the rows of label l; l = K: those without a label. */
static uc_status believe_label(size_t l, void *user)
{
    work *self = user;
    uc_probability_cells *cells = &self->cells;
    const size_t K = self->K, size = cells->begin[l + 1] - cells->begin[l];
    const uint32_t *truth = cells->truth + cells->begin[l];
    double *count = cells->count + cells->begin[l];
    double *shares = uc_alloc(2 * size, sizeof *shares), *sums = shares ? shares + size : NULL;
    if (!shares)
        return UC_ERR_NOMEM;
    for (size_t c = 0; c < size && l < K; c++)
        shares[c] =
            uc_probability_share(count[c] + self->background[l], truth[c] == l, K, cells->totals[truth[c]]);
    for (size_t c = 0; c < size && l == K; c++)
        shares[c] = 1.0;
    double fit = 0.0;
    for (size_t r = self->groups.begin[l]; r < self->groups.begin[l + 1]; r++)
        fit += log(believe(self, self->groups.order[r], truth, shares, sums));
    memcpy(count, sums, size * sizeof *sums);
    self->fits[l] = fit;
    uc_free(shares);
    return UC_OK;
}

/* *fit becomes the mean log-likelihood of the labels. */
static uc_status settle(work *self, size_t t, bool keep, double *fit)
{
    const size_t K = self->K, row_blocks = uc_block_count(self->rows->rows, ROWS_PER_BLOCK);
    self->t = t;
    uc_status status = uc_run_blocks(self->context, row_blocks, weigh_rows, self);
    start_counts(self);
    for (size_t step = 0; step < INNER_STEPS && status == UC_OK; step++) {
        self->keep = keep && step + 1 == INNER_STEPS;
        status = uc_run_blocks(self->context, K + (self->keep ? 1 : 0), believe_label, self);
        memset(self->background, 0, K * sizeof *self->background);
        uc_probability_cells_add_up(&self->cells, 0.0);
    }
    *fit = 0.0;
    for (size_t l = 0; l < K; l++)
        *fit += self->fits[l];
    *fit /= (double)self->groups.begin[K];
    return status;
}

/* ---- the whole audit ---- */

static void sort_rows(uc_label_groups *self, const uint32_t *labels, size_t n, size_t K)
{
    for (size_t i = 0; i < n; i++)
        self->begin[uc_min_size(labels[i], K) + 1]++;
    for (size_t l = 0; l <= K; l++)
        self->begin[l + 1] += self->begin[l];
    for (size_t i = 0; i < n; i++)
        self->order[self->begin[uc_min_size(labels[i], K)]++] = (uint32_t)i;
    for (size_t l = K + 1; l > 0; l--)
        self->begin[l] = self->begin[l - 1];
    self->begin[0] = 0;
}

static uc_status begin_work(work *self)
{
    const size_t K = self->K, n = self->rows->rows;
    self->groups.begin = uc_alloc(K + 2, sizeof *self->groups.begin);
    self->groups.order = uc_alloc(n, sizeof *self->groups.order);
    self->weights = uc_alloc(n * self->rows->kept, sizeof *self->weights);
    self->background = uc_alloc(K, sizeof *self->background);
    self->fits = uc_alloc(K + 1, sizeof *self->fits);
    if (!self->groups.begin || !self->groups.order || !self->weights || !self->background || !self->fits)
        return UC_ERR_NOMEM;
    sort_rows(&self->groups, self->labels, n, K);
    if (self->groups.begin[K] == 0)
        return uc_fail(UC_ERR_INVALID, "there are no labels to audit");
    return uc_probability_cells_list(&self->cells, &self->place, &self->groups, self->rows, self->gold,
                                     self->context);
}

static void work_free(work *self)
{
    uc_free(self->groups.begin);
    uc_free(self->groups.order);
    uc_probability_cells_free(&self->cells);
    uc_free(self->place);
    uc_free(self->weights);
    uc_free(self->background);
    uc_free(self->fits);
}

/* Inserts a pair into the list of the most frequent ones, if it is one of them. */
static void list_pair(uc_probability_audit *out, uc_crowd_mistake pair)
{
    size_t at = out->pair_count;
    while (at > 0 && out->pairs[at - 1].share.estimate < pair.share.estimate)
        at--;
    if (at == UC_WORST_PAIRS)
        return;
    out->pair_count = uc_min_size(out->pair_count + 1, UC_WORST_PAIRS);
    memmove(out->pairs + at + 1, out->pairs + at, (out->pair_count - 1 - at) * sizeof *out->pairs);
    out->pairs[at] = pair;
}

/* The share of wrong labels and its parts by mistake, with intervals: by resampling for the share, Wilson's
 * for the parts. */
static uc_status find_shares(uc_probability_audit *out, const work *self, uint64_t seed)
{
    const double labels = (double)out->labels;
    const uc_probability_cells *cells = &self->cells;
    double *numbers = uc_alloc(2 * out->rows, sizeof *numbers), interval[2], wrong = 0.0;
    uc_share_estimate *share = &out->share;
    if (!numbers)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < out->rows; i++) {
        numbers[2 * i] = self->labels[i] == UC_NONE ? 0.0 : 1.0;
        numbers[2 * i + 1] = self->labels[i] == UC_NONE ? 0.0 : out->wrong[i];
        wrong += numbers[2 * i + 1];
    }
    share->estimate = wrong / labels;
    for (size_t l = 0; l < self->K; l++)
        for (size_t c = cells->begin[l]; c < cells->begin[l + 1]; c++)
            if (cells->truth[c] != l && cells->count[c] > 0.0)
                list_pair(out, (uc_crowd_mistake){
                                   (uint32_t)l, cells->truth[c], {cells->count[c] / labels, 0.0, 0.0}});
    for (size_t p = 0; p < out->pair_count; p++) {
        uc_metrics_wilson_of_share(interval, out->pairs[p].share.estimate, labels);
        out->pairs[p].share.low = interval[0];
        out->pairs[p].share.high = interval[1];
    }
    const uc_status status = uc_resample_shares(&share, 1, numbers, out->rows, seed, self->context);
    uc_free(numbers);
    return status;
}

uc_status uc_probability_audit_find(uc_probability_audit *out, const uc_probability_rows *rows,
                                    const uint32_t *labels, const uint32_t *gold, const uc_context *context)
{
    const uc_context alone = uc_context_alone(context);
    work self = {.rows = rows, .labels = labels, .gold = gold, .context = &alone, .K = rows->K};
    uc_probability_audit found = {.rows = rows->rows, .K = rows->K, .kept = rows->kept, .fit = -INFINITY};
    size_t best = 0;
    found.wrong = self.wrong = uc_alloc(rows->rows, sizeof *found.wrong);
    found.most_probable = self.best = uc_alloc(rows->rows, sizeof *found.most_probable);
    uc_status status = found.wrong && found.most_probable ? begin_work(&self) : UC_ERR_NOMEM;
    if (status != UC_OK)
        goto cleanup;
    found.labels = self.groups.begin[rows->K];
    for (size_t t = 0; t < UC_TEMPERATURES && status == UC_OK; t++) {
        double fit;
        status = settle(&self, t, false, &fit);
        if (status == UC_OK && fit > found.fit) {
            found.fit = fit;
            best = t;
        }
        if (status == UC_OK)
            status = uc_report(context, "auditing", (double)t + 1.0, UC_TEMPERATURES + 1.0,
                               "finding the temperature");
    }
    if (status == UC_OK)
        status = settle(&self, best, true, &found.fit);
    found.temperature = uc_temperatures[best];
    if (status == UC_OK)
        status = find_shares(&found, &self, 1);
    found.cells = self.cells;
    self.cells = (uc_probability_cells){0};

cleanup:
    work_free(&self);
    if (status == UC_OK)
        *out = found;
    else
        uc_probability_audit_free(&found);
    return status;
}

void uc_probability_audit_free(uc_probability_audit *self)
{
    uc_names_free(&self->classes);
    uc_free(self->given);
    uc_free(self->wrong);
    uc_free(self->most_probable);
    uc_probability_cells_free(&self->cells);
    *self = (uc_probability_audit){0};
}
