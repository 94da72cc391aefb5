/*
 * How often a consensus is wrong, by noise hypotheses (learn/calibration/clean_error.c).
 *
 * One label of each row is left out and serves as its noisy label; the other labels give its scores,
 *
 *   S_i[z] = log prior_z + sum over the other labels l of the row, by annotator j, of log C_j[z][l]
 *   C_j    = rows of (N_j + 10 P), normalised (annotators.c), where row i itself is not counted
 *
 * A hypothesis about the label that was left out gives each row a probability of every true class, and hence
 * the probability that its consensus, which is based on all labels, is wrong.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/crowd_em.h"
#include "unconfuse/audit.h"
#include "unconfuse/random.h"

#define SHRINKAGE 10.0                  /* labels per true class, as in annotators.c */
#define SEQUENCE UINT64_C(0x63726f7764) /* "crowd": which rows, and which of their labels */
#define MOST_CLASSES ((size_t)200)      /* with more, nothing is estimated and no scores are needed */

/* A label of a sampled row. */
typedef struct said {
    uint32_t annotator, pair, place; /* place: of the row in the sample */
} said;

typedef struct left_out {
    const uc_consensus *consensus;
    const uc_crowd *crowd;
    const uint32_t *gold;
    uc_pairs pairs;
    size_t *rows;                  /* the sample */
    size_t count, open, annotated; /* rows in the sample; unchecked rows; all rows with a label */
    uint32_t *labels, *predicted;
    double *S;
    said *others; /* the labels of these rows, except the one left out of each */
    size_t other_count;
} left_out;

static void free_left_out(left_out *self)
{
    uc_pairs_free(&self->pairs);
    uc_free(self->rows);
    uc_free(self->labels);
    uc_free(self->predicted);
    uc_free(self->S);
    uc_free(self->others);
}

/* Samples at most UC_CLEAN_ERROR_ROWS annotated rows whose class nobody has checked. */
static uc_status choose_rows(left_out *self, uc_rng *rng)
{
    const uc_crowd *crowd = self->crowd;
    size_t *items = uc_alloc(crowd->rows, sizeof *items), *order = uc_alloc(crowd->rows, sizeof *order);
    self->rows = uc_alloc(crowd->rows, sizeof *self->rows);
    uc_status status = items && order && self->rows ? UC_OK : UC_ERR_NOMEM;
    for (size_t i = 0; i < crowd->rows && status == UC_OK; i++) {
        self->annotated += uc_is_annotated(crowd, i);
        if (uc_is_annotated(crowd, i) && uc_gold_of(self->gold, i) == UC_NONE)
            items[self->open++] = i;
    }
    if (status == UC_OK) {
        self->count = uc_min_size(self->open, UC_CLEAN_ERROR_ROWS);
        uc_rng_choose(rng, order, self->open, self->count);
        for (size_t i = 0; i < self->count; i++)
            self->rows[i] = items[order[i]];
    }
    uc_free(items);
    uc_free(order);
    return status;
}

static int compare_said(const void *a, const void *b)
{
    const said *x = a, *y = b;
    if (x->pair != y->pair)
        return x->pair < y->pair ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Leaves out one label of each row, and lists the others, sorted by annotator. */
static uc_status divide_labels(left_out *self, uc_rng *rng)
{
    const uc_crowd *crowd = self->crowd;
    size_t total = 0;
    for (size_t i = 0; i < self->count; i++)
        total += crowd->first[self->rows[i] + 1] - crowd->first[self->rows[i]] - 1;
    self->others = uc_alloc(total, sizeof *self->others);
    self->labels = uc_alloc(self->count, sizeof *self->labels);
    self->predicted = uc_alloc(self->count, sizeof *self->predicted);
    if (!self->others || !self->labels || !self->predicted)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < self->count; i++) {
        const size_t row = self->rows[i], first = crowd->first[row], last = crowd->first[row + 1];
        const size_t aside = first + (size_t)uc_rng_below(rng, last - first);
        self->labels[i] = crowd->label[aside];
        self->predicted[i] = self->consensus->most_probable[row];
        for (size_t a = first; a < last; a++)
            if (a != aside)
                self->others[self->other_count++] =
                    (said){crowd->annotator[a], self->pairs.of[a], (uint32_t)i};
    }
    if (self->other_count > 0)
        qsort(self->others, self->other_count, sizeof *self->others, compare_said);
    return UC_OK;
}

/* Adds log C_j[z][l] to the row's scores; counts are N_j[z][l], totals their sums over l. */
static void add_said(left_out *self, const said *one, const double *counts, const double *totals)
{
    const uc_posteriors *posterior = &self->consensus->posterior;
    const size_t K = posterior->classes, row = self->rows[one->place], label = self->pairs.label[one->pair];
    for (size_t z = 0; z < K; z++) {
        const double own = posterior->values[uc_posterior_at(posterior, row, z)];
        const double shrunk = SHRINKAGE * self->consensus->pooled[z * K + label];
        self->S[one->place * K + z] +=
            log((fmax(counts[z] - own, 0.0) + shrunk) / (fmax(totals[z] - own, 0.0) + SHRINKAGE));
    }
}

static uc_status score_rows(left_out *self)
{
    const uc_posteriors *posterior = &self->consensus->posterior;
    const size_t K = self->crowd->classes.count;
    self->S = uc_alloc(self->count * K, sizeof *self->S);
    double *counts = uc_alloc(2 * K, sizeof *counts), *totals = counts ? counts + K : NULL;
    if (!self->S || !counts) {
        uc_free(counts);
        return UC_ERR_NOMEM;
    }
    for (size_t i = 0; i < self->count * K; i++)
        self->S[i] = log(fmax(self->consensus->prior[i % K], 1e-12));
    for (size_t o = 0; o < self->other_count; o++) {
        const said *one = &self->others[o];
        if (o == 0 || one->annotator != self->others[o - 1].annotator) {
            memset(totals, 0, K * sizeof *totals);
            for (size_t p = self->pairs.first[one->annotator]; p < self->pairs.first[one->annotator + 1]; p++)
                uc_pairs_count(totals, &self->pairs, p, posterior);
        }
        if (o == 0 || one->pair != self->others[o - 1].pair) {
            memset(counts, 0, K * sizeof *counts);
            uc_pairs_count(counts, &self->pairs, one->pair, posterior);
        }
        add_said(self, one, counts, totals);
    }
    uc_free(counts);
    return UC_OK;
}

static uc_status estimate(uc_clean_error *out, left_out *self, const uc_context *context)
{
    const uc_scored_rows rows = {.scores = self->S,
                                 .labels = self->labels,
                                 .predicted = self->predicted,
                                 .rows = self->count,
                                 .classes = self->crowd->classes.count};
    const uc_status status = uc_clean_error_estimate(out, &rows, context);
    const double open = (double)self->open / (double)self->annotated; /* checked rows are right */
    out->estimate *= open;
    out->low *= open;
    out->high *= open;
    out->rows = self->annotated;
    return status;
}

uc_status uc_consensus_error(uc_clean_error *out, const uc_consensus *consensus, const uc_crowd *crowd,
                             const uint32_t *gold, uint64_t seed, const uc_context *context)
{
    const uc_context alone = uc_context_alone(context);
    left_out work = {.consensus = consensus, .crowd = crowd, .gold = gold};
    uc_clean_error found = {.high = 1.0, .noisy = NAN, .strata = {0.1, 0.5}};
    uc_rng rng = uc_rng_make(seed, SEQUENCE);
    uc_status status = choose_rows(&work, &rng);
    if (work.open == 0) /* all rows are checked */
        found.high = 0.0;
    if (status == UC_OK && work.count > 0 && crowd->classes.count <= MOST_CLASSES) {
        status = uc_pairs_find(&work.pairs, crowd);
        if (status == UC_OK)
            status = divide_labels(&work, &rng);
        if (status == UC_OK)
            status = score_rows(&work);
        if (status == UC_OK)
            status = estimate(&found, &work, &alone);
    }
    free_left_out(&work);
    if (status == UC_OK)
        *out = found;
    return status;
}
