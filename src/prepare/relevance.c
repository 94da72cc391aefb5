/*
 * Weighs columns by what they say about the labels.
 *
 * In the distances of a kernel all columns count the same, but a table has columns that mean nothing: batch
 * numbers, days, noise. And in a skewed column (amounts, durations) a few rows are far from all others.
 *
 *   v_ij   value of row i and column j          K      classes
 *   bins   of column j, between its octiles; b_j: the number of bins that hold a row
 *   chi_j  Pearson's statistic of bins and labels. If labels do not depend on the column, its mean is the
 *          number of its degrees of freedom, d_j = (b_j - 1) (K - 1), and its deviation s_j = sqrt(2 d_j)
 *   r_j    max(0, chi_j - d_j - LEAST s_j)    its relevance; bins also show relations that are not monotonic
 *
 *   bent value    asinh((v_ij - median_j) / a_j), a_j the median distance from the median; only for columns
 *                 with a skewness beyond SKEWED
 *   scaled value  standardised, except in columns of only 0 and 1, then times sqrt(r_j / max_k r_k)
 *
 * The numbers in sparse rows, of a table with texts, were standardised by its encoder and cannot be shifted:
 * they are bent around their mean. A word has two bins, with and without it, and there are thousands of
 * words, so for words LEAST is WORD_LEAST and CLEAR is WORD_CLEAR.
 *
 * Wrong labels shrink all r_j by the same factor, unless they depend on the row. If no chi_j exceeds d_j +
 * CLEAR s_j, which even the largest of hundreds hardly does by chance, all columns weigh 1.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/encode.h"
#include "linalg/linalg.h"
#include "parallel/parallel.h"
#include "prepare/preprocessing.h"

#define BINS ((size_t)8)
#define SKEWED 1.5
#define LEAST 1.0
#define WORD_LEAST 5.0
#define WORD_CLEAR 14.0
#define CLEAR 5.0

typedef struct column_job {
    uc_preprocessing *out;
    const uc_dataset *rows;
    double *relevance, *deviation;
    double *beyond; /* (chi - d) / s */
    size_t words;   /* the first column of a word; the number of columns if there is none */
} column_job;

/* The distribution of a column's values. */
typedef struct shape {
    double median, apart, mean, deviation, skewness;
    bool indicator; /* only 0 and 1 */
} shape;

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

static void find_moments(shape *out, const float *values, size_t n)
{
    double mean = 0.0, squares = 0.0, cubes = 0.0;
    out->indicator = true;
    for (size_t i = 0; i < n; i++) {
        mean += (double)values[i] / (double)n;
        out->indicator = out->indicator && (values[i] == 0.0f || values[i] == 1.0f);
    }
    for (size_t i = 0; i < n; i++) {
        const double x = (double)values[i] - mean;
        squares += x * x / (double)n;
        cubes += x * x * x / (double)n;
    }
    out->mean = mean;
    out->deviation = sqrt(squares);
    out->skewness = squares > 0.0 ? cubes / (squares * out->deviation) : 0.0;
}

/* Overwrites `sorted`. */
static void find_shape(shape *out, float *sorted, size_t n)
{
    find_moments(out, sorted, n);
    out->median = (double)sorted[n / 2];
    for (size_t i = 0; i < n; i++)
        sorted[i] = (float)fabs((double)sorted[i] - out->median);
    qsort(sorted, n, sizeof *sorted, compare_floats);
    out->apart = (double)sorted[n / 2];
}

/* Finds the largest value of every bin but the last, ascending and different; returns their number. */
static size_t find_edges(float edges[BINS], const float *sorted, size_t n)
{
    size_t count = 0;
    for (size_t b = 1; b < BINS; b++) {
        const float edge = sorted[n * b / BINS];
        if (edge < sorted[n - 1] && (count == 0 || edge > edges[count - 1]))
            edges[count++] = edge;
    }
    return count;
}

/* By how much Pearson's statistic exceeds what it may be without any relation; 0: not at all. */
static double find_relevance(double *beyond, const float *values, const uc_dataset *rows, const float *edges,
                             size_t count, double *table)
{
    const size_t n = rows->X.rows, K = rows->classes.count;
    double total = 0.0, *of_bin = table + BINS * K, *of_class = of_bin + BINS, chi = 0.0;
    memset(table, 0, (BINS * K + BINS + K) * sizeof *table);
    for (size_t i = 0; i < n; i++) {
        const double weight = rows->weights ? rows->weights[i] : 1.0;
        size_t bin = 0;
        while (bin < count && values[i] > edges[bin])
            bin++;
        table[bin * K + rows->y[i]] += weight;
        of_bin[bin] += weight;
        of_class[rows->y[i]] += weight;
        total += weight;
    }
    for (size_t b = 0; b <= count; b++)
        for (size_t k = 0; k < K; k++) {
            const double expected = of_bin[b] * of_class[k] / total;
            if (expected > 0.0)
                chi += pow(table[b * K + k] - expected, 2.0) / expected;
        }
    const double freedom = (double)count * ((double)K - 1.0);
    const double over = chi * ((double)n / total) - freedom, deviation = sqrt(2.0 * freedom);
    *beyond = freedom > 0.0 ? over / deviation : 0.0;
    return fmax(over - LEAST * deviation, 0.0);
}

/* Sets shift, bend and factor; relevance is not yet part of the factor. */
static void scale_column(column_job *self, size_t j, const float *values, const shape *found)
{
    const size_t n = self->rows->X.rows;
    uc_preprocessing *out = self->out;
    double deviation = found->deviation;
    out->factor[j] = 1.0;
    if (found->indicator) {
        self->deviation[j] = deviation;
        return;
    }
    double middle = out->shift ? found->median : 0.0;
    if (out->shift)
        out->shift[j] = found->mean;
    if (fabs(found->skewness) > SKEWED && found->apart > 0.0 && isfinite(1.0 / found->apart)) {
        double mean = 0.0, squares = 0.0;
        if (out->shift)
            out->shift[j] = middle;
        out->bend[j] = 1.0 / found->apart;
        for (size_t i = 0; i < n; i++)
            mean += asinh(((double)values[i] - middle) * out->bend[j]) / (double)n;
        for (size_t i = 0; i < n; i++)
            squares += pow(asinh(((double)values[i] - middle) * out->bend[j]) - mean, 2.0) / (double)n;
        deviation = sqrt(squares);
    }
    out->factor[j] = 0.0;
    if (deviation > 0.0 && isfinite(1.0 / deviation))
        out->factor[j] = 1.0 / deviation;
    self->deviation[j] = deviation;
}

static uc_status learn_column(size_t j, void *user)
{
    column_job *self = user;
    const uc_matrix *X = &self->rows->X;
    const size_t n = X->rows, K = self->rows->classes.count;
    float *values = uc_alloc(2 * n, sizeof *values), edges[BINS], *sorted = values + n;
    double *table = uc_alloc(BINS * K + BINS + K, sizeof *table);
    shape found;
    const uc_status status = values && table ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK) {
        for (size_t i = 0; i < n; i++) {
            const float *cell = uc_matrix_cell(X, i, j);
            values[i] = cell ? *cell : 0.0f;
        }
        memcpy(sorted, values, n * sizeof *values);
        qsort(sorted, n, sizeof *sorted, compare_floats);
        const size_t count = find_edges(edges, sorted, n);
        find_shape(&found, sorted, n);
        self->relevance[j] = find_relevance(&self->beyond[j], values, self->rows, edges, count, table);
        scale_column(self, j, values, &found);
    }
    uc_free(table);
    uc_free(values);
    return status;
}

/* Sets relevance and deviation of every word, from the entries of all rows. */
static uc_status learn_words(column_job *self)
{
    const uc_dataset *rows = self->rows;
    const size_t n = rows->X.rows, K = rows->classes.count, first = self->words, cols = rows->X.cols;
    double *with = uc_alloc((cols - first + 1) * (K + 2), sizeof *with), total = 0.0;
    if (!with)
        return UC_ERR_NOMEM;
    double *sums = with + (cols - first) * K, *squares = sums + (cols - first),
           *of_class = squares + (cols - first);
    for (size_t i = 0; i < n; i++) {
        const uc_row row = uc_matrix_row(&rows->X, i);
        const double weight = rows->weights ? rows->weights[i] : 1.0;
        of_class[rows->y[i]] += weight;
        total += weight;
        for (size_t e = row.count; e > 0 && row.columns[e - 1] >= first; e--) {
            const size_t word = row.columns[e - 1] - first;
            with[word * K + rows->y[i]] += weight;
            sums[word] += (double)row.values[e - 1];
            squares[word] += (double)row.values[e - 1] * (double)row.values[e - 1];
        }
    }
    const double freedom = (double)K - 1.0, spread = sqrt(2.0 * freedom);
    for (size_t word = 0; word < cols - first; word++) {
        double chi = 0.0, rows_with = 0.0;
        for (size_t k = 0; k < K; k++)
            rows_with += with[word * K + k];
        for (size_t k = 0; k < K && rows_with < total; k++) { /* the terms of both bins together */
            const double expected = rows_with * of_class[k] / total;
            if (expected > 0.0)
                chi += pow(with[word * K + k] - expected, 2.0) / (expected * (1.0 - rows_with / total));
        }
        const double over = chi * ((double)n / total) - freedom, mean = sums[word] / (double)n;
        self->beyond[first + word] = over / spread - (WORD_CLEAR - CLEAR);
        self->relevance[first + word] = fmax(over - WORD_LEAST * spread, 0.0);
        self->deviation[first + word] = sqrt(fmax(squares[word] / (double)n - mean * mean, 0.0));
        self->out->factor[first + word] = 1.0;
    }
    uc_free(with);
    return UC_OK;
}

/* Multiplies the factors by the root of the relevance. */
static void weigh_columns(uc_relevance *out, const column_job *job)
{
    uc_preprocessing *steps = &out->steps;
    double most = 0.0, beyond = 0.0;
    for (size_t j = 0; j < steps->cols; j++) {
        most = fmax(most, job->relevance[j]);
        beyond = fmax(beyond, job->beyond[j]);
    }
    out->clear = beyond > CLEAR;
    for (size_t j = 0; j < steps->cols; j++) {
        if (out->clear)
            steps->factor[j] *= sqrt(job->relevance[j] / most);
        out->kept += out->clear && steps->factor[j] > 0.0;
        out->distance2 += 2.0 * pow(steps->factor[j] * job->deviation[j], 2.0);
    }
}

uc_status uc_relevance_learn(uc_relevance *out, const uc_dataset *rows, const uc_context *context)
{
    const size_t cols = rows->X.cols;
    const bool sparse = uc_matrix_is_sparse(&rows->X);
    assert(rows->y && (!sparse || rows->table));
    *out = (uc_relevance){.steps = {.scaling = UC_SCALE_RELEVANCE, .cols = cols}};
    column_job job = {.out = &out->steps, .rows = rows, .words = sparse ? rows->table->text_first : cols};
    uc_preprocessing *steps = &out->steps;
    job.relevance = uc_alloc(cols, sizeof *job.relevance);
    job.deviation = uc_alloc(cols, sizeof *job.deviation);
    job.beyond = uc_alloc(cols, sizeof *job.beyond);
    if (!sparse)
        steps->shift = uc_alloc(cols, sizeof *steps->shift);
    steps->factor = uc_alloc(cols, sizeof *steps->factor);
    steps->bend = uc_alloc(cols, sizeof *steps->bend);
    uc_status status = UC_ERR_NOMEM;
    if (job.relevance && job.deviation && job.beyond && steps->factor && steps->bend &&
        (sparse || steps->shift))
        status = uc_run_blocks(context, job.words, learn_column, &job);
    if (status == UC_OK && job.words < cols)
        status = learn_words(&job);
    if (status == UC_OK)
        weigh_columns(out, &job);
    else
        uc_preprocessing_free(steps);
    uc_free(job.beyond);
    uc_free(job.deviation);
    uc_free(job.relevance);
    return status;
}
