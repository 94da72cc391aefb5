/*
 * Rows as preprocessed by a view, and their distances from landmarks.
 *
 * All of it is in double precision, starting from the values in the file: which axes of a kernel are kept
 * depends on eigenvalues of 1e-8 of the largest, and rounding preprocessed rows to floats would change those.
 *
 *   unit      x / |x|                                standard  (x_j - mean_j) / deviation_j
 *   root      r / |r|, r_j = sign(x_j) sqrt|x_j|
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/audit/views.h"
#include "linalg/linalg.h"

#define SAME 1e-12 /* squared distance below which rows count as the same */
#define ROUNDING 1e-13
#define SMALLEST_DEVIATION 1e-9

/* ---- preprocessing a row ---- */

static void scale_to_unit(double *x, size_t count)
{
    double norm2 = 0.0;
    for (size_t j = 0; j < count; j++)
        norm2 += x[j] * x[j];
    if (norm2 == 0.0)
        return;
    const double length = sqrt(norm2);
    for (size_t j = 0; j < count; j++)
        x[j] /= length;
}

/* Stores the row's preprocessed entries in x; a standard view has an entry for every column. */
static void prepare_entries(double *x, const uc_audit_rows *self, uc_row row)
{
    for (size_t j = 0; j < row.count; j++)
        x[j] = row.values[j];
    if (self->kind == UC_AUDIT_VIEW_STANDARD)
        for (size_t j = 0; j < row.count; j++)
            x[j] = (x[j] - self->shift[j]) * self->factor[j];
    if (self->kind == UC_AUDIT_VIEW_ROOT)
        for (size_t j = 0; j < row.count; j++)
            x[j] = copysign(sqrt(fabs(x[j])), x[j]);
    if (self->kind != UC_AUDIT_VIEW_STANDARD)
        scale_to_unit(x, row.count);
}

static double norm2_of(const double *x, size_t count)
{
    double sum = 0.0;
    for (size_t j = 0; j < count; j++)
        sum += x[j] * x[j];
    return sum;
}

/* ---- columns of a standard view ---- */

typedef struct column_job {
    const uc_matrix *X;
    const double *weights, *mean; /* `mean` NULL: compute sums, otherwise squares around the mean */
} column_job;

static uc_status add_columns(double *sum, size_t first, size_t last, void *user)
{
    const column_job *job = user;
    for (size_t i = first; i < last; i++) {
        const uc_row row = uc_matrix_row(job->X, i);
        const double weight = job->weights ? job->weights[i] : 1.0;
        for (size_t j = 0; j < row.count; j++) {
            const double value = row.values[j];
            if (job->mean)
                sum[j] += weight * (value - job->mean[j]) * (value - job->mean[j]);
            else
                sum[j] += weight * value;
        }
    }
    return UC_OK;
}

static uc_status learn_columns(uc_audit_rows *self, const uc_matrix *X, const uc_labelled *labelled)
{
    const size_t d = X->cols;
    self->shift = uc_alloc(d, sizeof *self->shift);
    self->factor = uc_alloc(d, sizeof *self->factor);
    if (!self->shift || !self->factor)
        return UC_ERR_NOMEM;
    column_job job = {X, labelled->weights, NULL};
    uc_status status = uc_sum_over(labelled->context, X->rows, add_columns, &job, self->shift, d);
    for (size_t j = 0; j < d; j++)
        self->shift[j] /= labelled->total_weight;
    job.mean = self->shift;
    if (status == UC_OK)
        status = uc_sum_over(labelled->context, X->rows, add_columns, &job, self->factor, d);
    for (size_t j = 0; j < d; j++) {
        const double deviation = sqrt(self->factor[j] / labelled->total_weight);
        self->factor[j] = deviation < SMALLEST_DEVIATION ? 1.0 : 1.0 / deviation;
    }
    return status;
}

/* ---- landmarks ---- */

static uc_status take_dense(uc_audit_rows *self, const uc_matrix *landmarks)
{
    self->dense = uc_alloc(self->landmarks * self->cols, sizeof *self->dense);
    if (!self->dense)
        return UC_ERR_NOMEM;
    for (size_t l = 0; l < self->landmarks; l++) {
        double *x = self->dense + l * self->cols;
        prepare_entries(x, self, uc_matrix_row(landmarks, l));
        self->norm2[l] = norm2_of(x, self->cols);
    }
    return UC_OK;
}

typedef struct entry {
    uint32_t column, landmark;
    double value;
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->landmark > y->landmark) - (x->landmark < y->landmark);
}

/* Builds the arrays of the view from entries that are sorted by column. */
static void index_columns(uc_audit_rows *self, const entry *entries)
{
    self->columns = 0;
    for (size_t e = 0; e < self->entries; e++) {
        if (e == 0 || entries[e].column != entries[e - 1].column) {
            self->column[self->columns] = entries[e].column;
            self->start[self->columns++] = e;
        }
        self->landmark[e] = entries[e].landmark;
        self->value[e] = entries[e].value;
    }
    self->start[self->columns] = self->entries;
}

static uc_status take_sparse(uc_audit_rows *self, const uc_matrix *landmarks)
{
    const size_t count = uc_matrix_entries(landmarks);
    uc_status status = UC_ERR_NOMEM;
    entry *entries = uc_alloc(count, sizeof *entries);
    double *x = uc_alloc(self->cols, sizeof *x);
    self->entries = count;
    self->column = uc_alloc(count, sizeof *self->column);
    self->start = uc_alloc(count + 1, sizeof *self->start);
    self->landmark = uc_alloc(count, sizeof *self->landmark);
    self->value = uc_alloc(count, sizeof *self->value);
    if (!entries || !x || !self->column || !self->start || !self->landmark || !self->value)
        goto cleanup;
    size_t filled = 0;
    for (size_t l = 0; l < self->landmarks; l++) {
        const uc_row row = uc_matrix_row(landmarks, l);
        prepare_entries(x, self, row);
        self->norm2[l] = norm2_of(x, row.count);
        for (size_t j = 0; j < row.count; j++)
            entries[filled++] = (entry){row.columns[j], (uint32_t)l, x[j]};
    }
    qsort(entries, filled, sizeof *entries, compare_entries);
    index_columns(self, entries);
    status = UC_OK;
cleanup:
    uc_free(x);
    uc_free(entries);
    return status;
}

/* ---- distances ---- */

/* The work space for preprocessed rows, or for one sparse row. */
size_t uc_audit_view_work(const uc_audit_rows *self, size_t rows)
{
    const size_t prepared = self->dense ? rows * self->cols : self->cols;
    return prepared + rows;
}

/* The position of column j, or where it would be inserted, searching from position `at`. */
static size_t find_column(const uc_audit_rows *self, size_t at, uint32_t column)
{
    size_t low = at, high = self->columns;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (self->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void sparse_products(double *values, const uc_audit_rows *self, uc_row row, const double *x)
{
    size_t at = 0;
    memset(values, 0, self->landmarks * sizeof *values);
    for (size_t j = 0; j < row.count; j++) {
        at = find_column(self, at, row.columns[j]);
        if (at == self->columns)
            return;
        if (self->column[at] != row.columns[j])
            continue;
        for (size_t e = self->start[at]; e < self->start[at + 1]; e++)
            values[self->landmark[e]] += x[j] * self->value[e];
    }
}

/* values holds inner products on entry */
static void finish_row(double *values, const uc_audit_rows *self, double norm2, double width)
{
    if (width > 0.0) {
        uc_gaussian(values, self->norm2, self->landmarks, norm2, width, ROUNDING);
        return;
    }
    for (size_t l = 0; l < self->landmarks; l++)
        values[l] = fmax(norm2 + self->norm2[l] - 2.0 * values[l], 0.0);
}

void uc_audit_view_kernel(double *values, const uc_audit_rows *self, const uc_matrix *X, size_t first,
                          size_t last, double width, double *work)
{
    const size_t rows = last - first, m = self->landmarks, d = self->cols;
    double *norm2 = work + uc_audit_view_work(self, rows) - rows;
    for (size_t i = 0; i < rows; i++) {
        const uc_row row = uc_matrix_row(X, first + i);
        double *x = self->dense ? work + i * d : work;
        prepare_entries(x, self, row);
        norm2[i] = norm2_of(x, row.count);
        if (!self->dense)
            sparse_products(values + i * m, self, row, x);
    }
    if (self->dense)
        uc_gemm(values, m, (uc_operand){work, d, false}, (uc_operand){self->dense, d, true}, rows, d, m, 1.0,
                0.0);
    for (size_t i = 0; i < rows; i++)
        finish_row(values + i * m, self, norm2[i], width);
}

static int compare_reals(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median over all pairs of distinct landmarks; the mean of the middle two for an even number. */
static uc_status find_median(uc_audit_rows *self, const uc_matrix *landmarks)
{
    const size_t m = self->landmarks;
    size_t count = 0;
    double *values = uc_alloc(m * m, sizeof *values);
    double *work = uc_alloc(uc_audit_view_work(self, m), sizeof *work);
    if (!values || !work) {
        uc_free(values);
        uc_free(work);
        return UC_ERR_NOMEM;
    }
    uc_audit_view_kernel(values, self, landmarks, 0, m, 0.0, work);
    for (size_t i = 0; i < m; i++)
        for (size_t l = 0; l < i; l++)
            if (values[i * m + l] > SAME)
                values[count++] = values[i * m + l]; /* count is at most i (i - 1)/2 + l */
    qsort(values, count, sizeof *values, compare_reals);
    self->median = 0.0;
    if (count > 0)
        self->median = 0.5 * (values[count / 2] + values[(count - 1) / 2]);
    uc_free(work);
    uc_free(values);
    return UC_OK;
}

/* ---- all ---- */

uc_status uc_audit_rows_make(uc_audit_rows *out, uc_audit_view_kind kind, const uc_matrix *X,
                             const uc_matrix *landmarks, const uc_labelled *labelled)
{
    uc_audit_rows self = {.kind = kind, .source = landmarks, .cols = X->cols, .landmarks = landmarks->rows};
    uc_status status = uc_blas_ready(labelled->context);
    if (status != UC_OK)
        return status;
    if (kind == UC_AUDIT_VIEW_STANDARD)
        status = learn_columns(&self, X, labelled);
    self.norm2 = uc_alloc(self.landmarks, sizeof *self.norm2);
    if (status == UC_OK && !self.norm2)
        status = UC_ERR_NOMEM;
    if (status == UC_OK && uc_matrix_is_sparse(landmarks))
        status = take_sparse(&self, landmarks);
    else if (status == UC_OK)
        status = take_dense(&self, landmarks);
    if (status == UC_OK)
        status = find_median(&self, landmarks);
    status = uc_comm_agree(uc_comm_of(labelled->context), status);
    if (status == UC_OK)
        *out = self;
    else
        uc_audit_rows_free(&self);
    return status;
}

void uc_audit_rows_free(uc_audit_rows *self)
{
    uc_free(self->shift);
    uc_free(self->factor);
    uc_free(self->dense);
    uc_free(self->column);
    uc_free(self->start);
    uc_free(self->landmark);
    uc_free(self->value);
    uc_free(self->norm2);
    *self = (uc_audit_rows){0};
}

static uc_status copy_columns(double **out, const double *values, size_t count)
{
    *out = uc_alloc(count, sizeof **out);
    if (!*out)
        return UC_ERR_NOMEM;
    memcpy(*out, values, count * sizeof **out);
    return UC_OK;
}

uc_status uc_audit_view_preprocessing(uc_preprocessing *out, const uc_audit_rows *self)
{
    uc_status status = UC_OK;
    *out = (uc_preprocessing){.cols = self->cols};
    out->root = self->kind == UC_AUDIT_VIEW_ROOT;
    out->normalize_input = self->kind != UC_AUDIT_VIEW_STANDARD;
    if (self->kind != UC_AUDIT_VIEW_STANDARD)
        return UC_OK;
    out->scaling = UC_SCALE_STANDARD;
    status = copy_columns(&out->shift, self->shift, self->cols);
    if (status == UC_OK)
        status = copy_columns(&out->factor, self->factor, self->cols);
    return status;
}
