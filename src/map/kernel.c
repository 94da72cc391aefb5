/*
 * Kernel values between rows and landmarks, a tile at a time.
 *
 *   linear        <x, l>
 *   gaussian      exp(-||x - l||^2 / width),   ||x - l||^2 = ||x||^2 + ||l||^2 - 2 <x, l>
 *   polynomial    (<x, l> + coefficient)^degree
 *
 * All of them come from inner products; the storage decides how these are computed:
 *
 *   rows     landmarks
 *   dense    dense       float rows become tiles of doubles, multiplied by GEMM
 *   sparse   dense       landmarks stored feature by feature: one contiguous run of them per entry of the row
 *   any      sparse      an index of the landmarks' entries by column: an entry of the row visits only the
 *                        landmarks that have an entry in its column
 *
 * The difference of two almost equal lengths is mostly rounding. A distance below ROUNDING of the lengths
 * counts as 0, so that a row's Gaussian kernel with itself is exactly 1.
 */
#include "map/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/exchange.h"
#include "unconfuse/random.h"

#define ROUNDING 1e-13
#define COLUMN_TILE ((size_t)512)
#define DIGIT_BITS 8 /* of column numbers, for the radix sort */
#define DIGITS ((size_t)1 << DIGIT_BITS)
#define SEQUENCE_PAIRS UINT64_C(0x6d61702d77) /* "map-w" */
#define PAIRS ((size_t)1000)
#define PAIRS_AT_ONCE ((size_t)50)

/* ---- single values ---- */

static double power(double base, size_t exponent)
{
    double result = 1.0;
    while (exponent > 0) {
        if (exponent % 2 == 1)
            result *= base;
        base *= base;
        exponent /= 2;
    }
    return result;
}

static double distance2(double product, double norm2_x, double norm2_y)
{
    const double lengths = norm2_x + norm2_y, distance = lengths - 2.0 * product;
    return distance > ROUNDING * lengths ? distance : 0.0;
}

double uc_kernel_value(const uc_map *map, double product, double norm2_x, double norm2_y)
{
    switch (map->kernel) {
    case UC_KERNEL_GAUSSIAN:
        return exp(-distance2(product, norm2_x, norm2_y) / map->width);
    case UC_KERNEL_POLYNOMIAL:
        return power(product + map->coefficient, (size_t)map->degree);
    case UC_KERNEL_LINEAR:
        break;
    }
    return product;
}

void uc_kernel_values(const uc_map *map, double *values, const double *norm2_y, size_t count, double norm2_x)
{
    if (map->kernel == UC_KERNEL_GAUSSIAN)
        uc_gaussian(values, norm2_y, count, norm2_x, map->width, ROUNDING);
    if (map->kernel == UC_KERNEL_POLYNOMIAL)
        for (size_t l = 0; l < count; l++)
            values[l] = uc_kernel_value(map, values[l], norm2_x, norm2_y[l]);
}

double uc_landmark_norm2(const uc_matrix *landmarks, uc_row row)
{
    const bool in_lanes = !uc_matrix_is_sparse(landmarks);
    double sums[UC_LANES] = {0};
    size_t i = 0;
    for (; in_lanes && !row.columns && i + UC_LANES <= row.count; i += UC_LANES)
        for (size_t lane = 0; lane < UC_LANES; lane++)
            sums[lane] += (double)row.values[i + lane] * (double)row.values[i + lane];
    for (; i < row.count; i++) {
        const size_t lane = in_lanes ? uc_row_column(row, i) % UC_LANES : 0;
        sums[lane] += (double)row.values[i] * (double)row.values[i];
    }
    return uc_lane_sum(sums);
}

double uc_kernel_diagonal(const uc_map *map, double norm2)
{
    return uc_kernel_value(map, norm2, norm2, norm2);
}

uc_status uc_kernel_check(const uc_map *map, double norm2, size_t row)
{
    if (isfinite(uc_kernel_diagonal(map, norm2)))
        return UC_OK;
    return uc_fail(UC_ERR_DIVERGED,
                   "row %zu: its kernel value with itself is too large for a number; scale the data",
                   row + 1);
}

void uc_norms(double *norm2, const uc_matrix *X, size_t cols)
{
    for (size_t i = 0; i < X->rows; i++)
        norm2[i] = uc_row_norm2(uc_known_row(uc_matrix_row(X, i), cols));
}

/* ---- the index of sparse landmarks ---- */

typedef struct entry {
    uint32_t column, landmark;
    float value;
} entry;

typedef struct uc_column_index {
    size_t count;       /* columns in which a landmark of the panel has an entry */
    uint32_t *columns;  /* ascending */
    uint32_t *first;    /* count + 1: the entries of column c are first[c] .. first[c + 1] */
    uint32_t *landmark; /* of each entry: its position in the panel */
    float *value;
} uc_column_index;

static void index_free(uc_column_index *self)
{
    uc_free(self->columns);
    uc_free(self->first);
    uc_free(self->landmark);
    uc_free(self->value);
}

/* Sorts by the digit of the column that begins at bit `shift`; entries with the same digit keep their
 * order. */
static void sort_by_digit(entry *out, const entry *entries, size_t count, unsigned shift)
{
    size_t place[DIGITS + 1] = {0};
    for (size_t e = 0; e < count; e++)
        place[(entries[e].column >> shift) % DIGITS + 1]++;
    for (size_t digit = 0; digit < DIGITS; digit++)
        place[digit + 1] += place[digit];
    for (size_t e = 0; e < count; e++)
        out[place[(entries[e].column >> shift) % DIGITS]++] = entries[e];
}

/* The entries of the panel's landmarks, sorted by column, then by landmark, in the first half of the array.
 * The second half is work space. */
static entry *sorted_entries(size_t *count, const uc_matrix *landmarks, size_t first, size_t rows)
{
    *count = (size_t)(landmarks->offsets[first + rows] - landmarks->offsets[first]);
    entry *entries = uc_alloc(*count, 2 * sizeof *entries);
    size_t filled = 0;
    for (size_t l = 0; l < rows && entries; l++) {
        const uc_row row = uc_matrix_row(landmarks, first + l);
        for (size_t j = 0; j < row.count; j++)
            entries[filled++] = (entry){row.columns[j], (uint32_t)l, row.values[j]};
    }
    /* Two digits at a time, since after two sorts the entries are back in the first half. */
    for (unsigned shift = 0; entries && shift < 32 && landmarks->cols >> shift > 0; shift += 2 * DIGIT_BITS) {
        sort_by_digit(entries + filled, entries, filled, shift);
        sort_by_digit(entries, entries + filled, filled, shift + DIGIT_BITS);
    }
    return entries;
}

static uc_status index_make(uc_column_index *self, const uc_matrix *landmarks, size_t panel)
{
    size_t count, c = 0;
    uc_status status = UC_ERR_NOMEM;
    entry *entries =
        sorted_entries(&count, landmarks, panel * UC_PANEL, uc_panel_rows(landmarks->rows, panel));
    if (!entries)
        return status;
    if (count > UINT32_MAX) {
        status = uc_fail(UC_ERR_NOMEM, "%zu landmarks have more than %u entries", UC_PANEL, UINT32_MAX);
        goto cleanup;
    }
    for (size_t e = 0; e < count; e++)
        self->count += e == 0 || entries[e].column != entries[e - 1].column;
    self->columns = uc_alloc(self->count, sizeof *self->columns);
    self->first = uc_alloc(self->count + 1, sizeof *self->first);
    self->landmark = uc_alloc(count, sizeof *self->landmark);
    self->value = uc_alloc(count, sizeof *self->value);
    if (!self->columns || !self->first || !self->landmark || !self->value)
        goto cleanup;
    for (size_t e = 0; e < count; e++) {
        if (e == 0 || entries[e].column != entries[e - 1].column) {
            self->columns[c] = entries[e].column;
            self->first[c++] = (uint32_t)e;
        }
        self->landmark[e] = entries[e].landmark;
        self->value[e] = entries[e].value;
    }
    self->first[c] = (uint32_t)count;
    status = UC_OK;

cleanup:
    uc_free(entries);
    return status;
}

static void add_column(double *values, const uc_column_index *self, size_t c, double x)
{
    for (uint32_t e = self->first[c]; e < self->first[c + 1]; e++)
        values[self->landmark[e]] += x * (double)self->value[e];
}

/* The first position from `low` on whose column is at least `column`; found by jumps of doubling length, then
 * bisection. */
static size_t seek(const uc_column_index *self, size_t low, uint32_t column)
{
    size_t jump = 1, high = low;
    while (high < self->count && self->columns[high] < column) {
        low = high + 1;
        high += jump;
        jump *= 2;
    }
    high = uc_min_size(high, self->count);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (self->columns[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void index_products(double *values, const uc_column_index *self, uc_row row)
{
    if (!row.columns) {
        for (size_t c = 0; c < self->count && self->columns[c] < row.count; c++)
            add_column(values, self, c, row.values[self->columns[c]]);
        return;
    }
    for (size_t i = 0, c = 0; i < row.count && c < self->count; i++) {
        c = seek(self, c, row.columns[i]);
        if (c < self->count && self->columns[c] == row.columns[i])
            add_column(values, self, c, row.values[i]);
    }
}

/* ---- panels ---- */

void uc_panels_free(uc_panels *self)
{
    if (self->index)
        for (size_t p = 0; p < uc_panel_count(self->landmarks->rows); p++)
            index_free(self->index + p);
    uc_free(self->index);
    uc_free(self->by_feature);
    *self = (uc_panels){0};
}

static uc_status index_job(size_t panel, void *user)
{
    const uc_panels *self = user;
    return index_make(self->index + panel, self->landmarks, panel);
}

static uc_status by_feature_job(size_t panel, void *user)
{
    const uc_panels *self = user;
    const uc_matrix *landmarks = self->landmarks;
    double *W = self->by_feature + panel * landmarks->cols * UC_PANEL;
    for (size_t l = 0; l < uc_panel_rows(landmarks->rows, panel); l++) {
        const float *values = landmarks->values + (panel * UC_PANEL + l) * landmarks->stride;
        for (size_t j = 0; j < landmarks->cols; j++)
            W[j * UC_PANEL + l] = values[j];
    }
    return UC_OK;
}

static uc_status prepare_index(uc_panels *self, size_t panels, const uc_context *context)
{
    self->index = uc_alloc(panels, sizeof *self->index);
    if (!self->index)
        return UC_ERR_NOMEM;
    return uc_run_blocks(context, panels, index_job, self);
}

static uc_status prepare_by_feature(uc_panels *self, size_t panels, const uc_context *context)
{
    const uc_matrix *landmarks = self->landmarks;
    size_t count;
    if (!uc_size_mul(&count, landmarks->cols, panels * UC_PANEL))
        return uc_fail(UC_ERR_NOMEM, "%zu landmarks of %zu columns are too many", landmarks->rows,
                       landmarks->cols);
    const uc_status status = uc_memory_check(context, (double)count * sizeof(double),
                                             "multiplying sparse rows by dense landmarks");
    if (status != UC_OK)
        return status;
    self->by_feature = uc_alloc(count, sizeof *self->by_feature);
    if (!self->by_feature)
        return UC_ERR_NOMEM;
    return uc_run_blocks(context, panels, by_feature_job, self);
}

uc_status uc_panels_prepare(uc_panels *out, const uc_matrix *landmarks, const double *norm2,
                            bool for_sparse_rows, const uc_context *context)
{
    uc_panels self = {.landmarks = landmarks, .norm2 = norm2};
    const size_t panels = uc_panel_count(landmarks->rows);
    uc_status status = UC_OK;
    if (uc_matrix_is_sparse(landmarks))
        status = prepare_index(&self, panels, context);
    else if (for_sparse_rows)
        status = prepare_by_feature(&self, panels, context);
    if (status == UC_OK)
        *out = self;
    else
        uc_panels_free(&self);
    return status;
}

/* ---- products ---- */

static size_t common_columns(const uc_matrix *X, const uc_matrix *landmarks)
{
    return uc_min_size(X->cols, landmarks->cols);
}

size_t uc_panels_work(const uc_panels *self, const uc_matrix *X)
{
    if (self->by_feature)
        return UC_PANEL;
    if (self->index)
        return 0;
    return 2 * UC_PANEL * uc_min_size(common_columns(X, self->landmarks), COLUMN_TILE);
}

static void to_doubles(double *tile, const uc_matrix *X, size_t first, size_t rows, size_t start,
                       size_t width)
{
    for (size_t i = 0; i < rows; i++) {
        const float *values = X->values + (first + i) * X->stride + start;
        for (size_t j = 0; j < width; j++)
            tile[i * width + j] = values[j];
    }
}

static void dense_products(double *values, const uc_matrix *landmarks, size_t panel, const uc_matrix *X,
                           size_t first, size_t rows, double *work)
{
    const size_t cols = common_columns(X, landmarks), count = uc_panel_rows(landmarks->rows, panel);
    for (size_t start = 0; start < cols; start += COLUMN_TILE) {
        const size_t width = uc_min_size(cols - start, COLUMN_TILE);
        double *left = work, *right = work + UC_PANEL * width;
        to_doubles(left, X, first, rows, start, width);
        to_doubles(right, landmarks, panel * UC_PANEL, count, start, width);
        uc_gemm(values, count, (uc_operand){left, width, false}, (uc_operand){right, width, true}, rows,
                width, count, 1.0, start == 0 ? 0.0 : 1.0);
    }
    if (cols == 0)
        memset(values, 0, rows * count * sizeof *values);
}

void uc_panel_row_products(double *values, const uc_panels *self, size_t panel, uc_row row)
{
    memset(values, 0, uc_panel_rows(self->landmarks->rows, panel) * sizeof *values);
    index_products(values, self->index + panel, row);
}

void uc_panel_products(double *values, const uc_panels *self, size_t panel, const uc_matrix *X, size_t first,
                       size_t last, double *work)
{
    const uc_matrix *landmarks = self->landmarks;
    const size_t count = uc_panel_rows(landmarks->rows, panel);
    assert(first <= last && last <= X->rows && last - first <= UC_PANEL);
    if (!self->index && !self->by_feature) {
        dense_products(values, landmarks, panel, X, first, last - first, work);
        return;
    }
    for (size_t i = first; i < last; i++) {
        double *row_values = values + (i - first) * count;
        const uc_row row = uc_known_row(uc_matrix_row(X, i), landmarks->cols);
        if (self->index) {
            uc_panel_row_products(row_values, self, panel, row);
        } else {
            memset(work, 0, UC_PANEL * sizeof *work);
            uc_row_scores(work, row, self->by_feature + panel * landmarks->cols * UC_PANEL, UC_PANEL);
            memcpy(row_values, work, count * sizeof *row_values);
        }
    }
}

void uc_panel_kernel(double *values, const uc_map *map, const uc_panels *self, size_t panel,
                     const uc_matrix *X, const double *norm2, size_t first, size_t last, double *work)
{
    const size_t count = uc_panel_rows(self->landmarks->rows, panel);
    const double *landmark_norm2 = self->norm2 + panel * UC_PANEL;
    uc_panel_products(values, self, panel, X, first, last, work);
    for (size_t i = 0; i < last - first; i++)
        uc_kernel_values(map, values + i * count, landmark_norm2, count, norm2[i]);
}

typedef struct square {
    double *K;
    const uc_map *map;
    const uc_panels *panels;
} square;

static uc_status square_job(size_t block, void *user)
{
    const square *self = user;
    const uc_matrix *landmarks = self->panels->landmarks;
    const size_t n = landmarks->rows, first = block * UC_PANEL, rows = uc_panel_rows(n, block);
    double *tile = uc_alloc(UC_PANEL * UC_PANEL + uc_panels_work(self->panels, landmarks), sizeof *tile);
    if (!tile)
        return UC_ERR_NOMEM;
    for (size_t panel = 0; panel < uc_panel_count(n); panel++) {
        const size_t count = uc_panel_rows(n, panel);
        uc_panel_kernel(tile, self->map, self->panels, panel, landmarks, self->panels->norm2 + first, first,
                        first + rows, tile + UC_PANEL * UC_PANEL);
        for (size_t i = 0; i < rows; i++)
            memcpy(self->K + (first + i) * n + panel * UC_PANEL, tile + i * count, count * sizeof *tile);
    }
    uc_free(tile);
    return UC_OK;
}

uc_status uc_panels_square(double *K, const uc_map *map, const uc_panels *self, const uc_context *context)
{
    square all = {K, map, self};
    return uc_run_blocks(context, uc_panel_count(self->landmarks->rows), square_job, &all);
}

/* ---- the median distance ---- */

static double direct_distance2(uc_row a, uc_row b)
{
    double sum = 0.0;
    if (!a.columns) {
        for (size_t j = 0; j < a.count; j++)
            sum += ((double)a.values[j] - (double)b.values[j]) * ((double)a.values[j] - (double)b.values[j]);
        return sum;
    }
    size_t i = 0, j = 0;
    while (i < a.count || j < b.count) {
        const bool from_a = j == b.count || (i < a.count && a.columns[i] <= b.columns[j]);
        const bool from_b = i == a.count || (j < b.count && b.columns[j] <= a.columns[i]);
        double difference = 0.0;
        if (from_a)
            difference += (double)a.values[i++];
        if (from_b)
            difference -= (double)b.values[j++];
        sum += difference * difference;
    }
    return sum;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The squared distances of PAIRS_AT_ONCE random pairs of rows, drawn from all processes. */
static uc_status some_distances2(double *distances, uc_rng *rng, const uc_matrix *X, size_t total,
                                 const uc_context *context)
{
    size_t rows[2 * PAIRS_AT_ONCE];
    uc_matrix gathered = {0};
    for (size_t pair = 0; pair < PAIRS_AT_ONCE; pair++) {
        const size_t i = (size_t)uc_rng_below(rng, total), j = (size_t)uc_rng_below(rng, total - 1);
        rows[2 * pair] = i;
        rows[2 * pair + 1] = j + (j >= i);
    }
    if (!uc_is_shared(context)) {
        for (size_t pair = 0; pair < PAIRS_AT_ONCE; pair++)
            distances[pair] =
                direct_distance2(uc_matrix_row(X, rows[2 * pair]), uc_matrix_row(X, rows[2 * pair + 1]));
        return UC_OK;
    }
    const uc_status status = uc_gather_matrix(&gathered, X, rows, 2 * PAIRS_AT_ONCE, context);
    for (size_t pair = 0; pair < PAIRS_AT_ONCE && status == UC_OK; pair++)
        distances[pair] =
            direct_distance2(uc_matrix_row(&gathered, 2 * pair), uc_matrix_row(&gathered, 2 * pair + 1));
    uc_matrix_free(&gathered);
    return status;
}

uc_status uc_map_median_distance2(double *out, const uc_matrix *X, uint64_t seed, const uc_context *context)
{
    uc_share share;
    uc_status status = uc_share_of(&share, context, X->rows);
    if (status != UC_OK)
        return status;
    if (share.total < 2)
        return uc_fail(UC_ERR_INVALID, "the median distance needs two rows; give {width} or {gamma}");
    double *distances = uc_alloc(PAIRS, sizeof *distances);
    if (!distances)
        return UC_ERR_NOMEM;
    uc_rng rng = uc_rng_make(seed, SEQUENCE_PAIRS);
    for (size_t pair = 0; pair < PAIRS && status == UC_OK; pair += PAIRS_AT_ONCE)
        status = some_distances2(distances + pair, &rng, X, share.total, context);
    if (status != UC_OK)
        goto cleanup;
    qsort(distances, PAIRS, sizeof *distances, compare_doubles);
    const double median = (distances[PAIRS / 2 - 1] + distances[PAIRS / 2]) / 2.0;
    if (median > 0.0)
        *out = median;
    else
        status =
            uc_fail(UC_ERR_INVALID, "the median distance of two rows is 0, because most rows are the same; "
                                    "give {width} or {gamma}");

cleanup:
    uc_free(distances);
    return status;
}
