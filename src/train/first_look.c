/*
 * Collects what must be known about a stream's data before its first round, in one pass with constant memory.
 *
 * The width of a Gaussian kernel is the median squared distance of SAMPLE rows after scaling, which are drawn
 * evenly by Vitter's algorithm R (ACM Transactions on Mathematical Software 11:37-57, 1985). The sample
 * depends only on the order of the rows and the seed, so a file and the same rows in memory have the same
 * width.
 */
#include <math.h>
#include <string.h>

#include "data/reader.h"
#include "linalg/linalg.h"
#include "map/map.h"
#include "parallel/parallel.h"
#include "prepare/preprocessing.h"
#include "train/row_copy.h"
#include "unconfuse/session.h"

#define SAMPLE_SEQUENCE UINT64_C(0x636c692d73616d70) /* random numbers: "cli-samp" */
#define SAMPLE ((size_t)2000)
#define DENSITY_ROWS ((size_t)1000)

uc_first_look uc_first_look_none(void)
{
    return (uc_first_look){.density = (double)NAN, .width = (double)NAN};
}

void uc_first_look_free(uc_first_look *self)
{
    uc_names_free(&self->classes);
    uc_preprocessing_free(&self->scaling);
    *self = uc_first_look_none();
}

/* The state of the pass. */
typedef struct scan {
    const uc_train_settings *train;
    uc_context context;
    size_t rows, columns;
    double entries;
    size_t density_rows;   /* rows used for the density, at most DENSITY_ROWS */
    double density_values; /* values in these rows that are not 0 */
    bool sparse;
    uc_scale_sums *sums;
    uc_row_copy *sample; /* NULL: no median is needed */
    uc_rng rng;
} scan;

static bool needs_median(const uc_map_settings *map)
{
    const bool gaussian =
        map->map != UC_MAP_NONE && map->map < UC_MAP_AUTO && map->kernel == UC_KERNEL_GAUSSIAN;
    return gaussian && isnan(map->gamma) && map->width == 0.0;
}

static uc_status scan_begin(scan *self, const uc_train_settings *train, const uc_context *context)
{
    *self = (scan){.train = train};
    if (train->scale == UC_SCALE_AUTO || train->map.map == UC_MAP_AUTO)
        return uc_fail(
            UC_ERR_INVALID,
            "{scale=auto} and {map=auto} are chosen by the labels of all rows, which a stream does "
            "not have at its start: give them, or see what compare chooses");
    if (context)
        self->context = *context;
    self->rng = uc_rng_make(train->seed, SAMPLE_SEQUENCE);
    if (needs_median(&train->map)) {
        self->sample = uc_alloc(SAMPLE, sizeof *self->sample);
        if (!self->sample)
            return UC_ERR_NOMEM;
    }
    return UC_OK;
}

static void scan_free(scan *self)
{
    for (size_t i = 0; self->sample && i < SAMPLE; i++)
        uc_row_copy_free(&self->sample[i]);
    uc_free(self->sample);
    uc_scale_sums_free(self->sums);
}

/* Row t enters the sample with probability SAMPLE / (t + 1). */
static uc_status draw_sample(scan *self, const uc_matrix *X)
{
    uc_status status = UC_OK;
    for (size_t i = 0; self->sample && i < X->rows && status == UC_OK; i++) {
        const size_t row = self->rows + i;
        size_t place = row;
        if (row >= SAMPLE)
            place = (size_t)uc_rng_below(&self->rng, row + 1);
        if (place < SAMPLE)
            status = uc_row_copy_set(&self->sample[place], uc_matrix_row(X, i));
    }
    return status;
}

static void add_density(scan *self, const uc_matrix *X)
{
    const size_t rows = uc_min_size(X->rows, DENSITY_ROWS - self->density_rows);
    uc_matrix first = *X;
    first.rows = rows;
    if (rows > 0 && X->cols > 0)
        self->density_values += uc_matrix_density(&first) * (double)rows * (double)X->cols;
    self->density_rows += rows;
}

static uc_status scan_rows(scan *self, const uc_matrix *X, const double *weights)
{
    uc_status status = draw_sample(self, X);
    add_density(self, X);
    self->rows += X->rows;
    self->columns = X->cols;
    self->entries += (double)uc_matrix_entries(X);
    self->sparse = uc_matrix_is_sparse(X);
    if (status == UC_OK && self->train->scale != UC_SCALE_NONE)
        status = uc_scale_sums_add(&self->sums, X, weights);
    return status;
}

/* ---- after the last row ---- */

/* Whether the data count as sparse, by the same rule as for a file that is read as a whole. */
static bool is_sparse(const scan *self, uc_storage storage)
{
    const double all = (double)self->rows * (double)self->columns;
    const bool few = storage == UC_STORAGE_AUTO && self->entries < UC_SPARSE_DENSITY * all;
    return self->sparse && (storage == UC_STORAGE_SPARSE || few);
}

/* The sample as a dense matrix; dense, because scaling may change the zeros. */
static uc_status collect_dense(uc_matrix *out, const scan *self, size_t rows)
{
    const uc_status status = uc_matrix_create_dense(out, rows, self->columns);
    for (size_t i = 0; i < rows && status == UC_OK; i++) {
        const uc_row row = uc_row_copy_view(&self->sample[i]);
        for (size_t j = 0; j < row.count; j++)
            out->values[i * out->stride + uc_row_column(row, j)] = row.values[j];
    }
    return status;
}

static uc_status collect_sparse(uc_matrix *out, const scan *self, size_t rows)
{
    size_t entries = 0, filled = 0;
    for (size_t i = 0; i < rows; i++)
        entries += self->sample[i].count;
    const uc_status status = uc_matrix_create_sparse(out, rows, self->columns, entries);
    for (size_t i = 0; i < rows && status == UC_OK; i++) {
        const uc_row row = uc_row_copy_view(&self->sample[i]);
        if (row.count > 0) {
            memcpy(out->values + filled, row.values, row.count * sizeof *row.values);
            memcpy(out->columns + filled, row.columns, row.count * sizeof *row.columns);
        }
        filled += row.count;
        out->offsets[i + 1] = filled;
    }
    return status;
}

/* The sample as one matrix. */
static uc_status collect_sample(uc_matrix *out, const scan *self, bool dense)
{
    const size_t rows = uc_min_size(self->rows, SAMPLE);
    if (dense || !self->sparse)
        return collect_dense(out, self, rows);
    return collect_sparse(out, self, rows);
}

/* The median squared distance of rows after the scaling, as the map will get them. */
static uc_status find_median(double *out, const scan *self, const uc_preprocessing *scaling)
{
    uc_preprocessing input = *scaling; /* borrows the scaling: not to be freed */
    uc_matrix sample = {0};
    input.normalize_input = self->train->normalize_input;
    uc_status status = collect_sample(&sample, self, scaling->shift != NULL);
    if (status == UC_OK)
        status = uc_preprocessing_apply(&input, &sample, &self->context);
    if (status == UC_OK)
        status = uc_map_median_distance2(out, &sample, self->train->seed, NULL);
    uc_matrix_free(&sample);
    return status;
}

static uc_status find_width(double *out, const scan *self, const uc_preprocessing *scaling)
{
    const uc_map_settings *map = &self->train->map;
    if (self->sample)
        return find_median(out, self, scaling);
    if (map->map != UC_MAP_NONE && map->map < UC_MAP_AUTO && map->kernel == UC_KERNEL_GAUSSIAN)
        *out = uc_map_width_given(map);
    return UC_OK;
}

/* Fills in everything except the classes. */
static uc_status scan_finish(uc_first_look *out, const scan *self, uc_storage storage)
{
    const uc_scaling scaling = (uc_scaling)self->train->scale;
    uc_status status = UC_OK;
    if (scaling != UC_SCALE_NONE && is_sparse(self, storage))
        status = uc_check_sparse_scaling(scaling);
    if (status == UC_OK && scaling != UC_SCALE_NONE)
        status = uc_scale_sums_finish(&out->scaling, self->sums, scaling, self->columns);
    if (status == UC_OK)
        status = find_width(&out->width, self, &out->scaling);
    out->rows = self->rows;
    out->columns = self->columns;
    out->density = self->density_values / ((double)self->density_rows * (double)self->columns);
    const double entry_bytes = self->sparse ? 8.0 : 4.0;
    out->row_bytes = entry_bytes * self->entries / (double)self->rows;
    return status;
}

static uc_status scan_once(uc_names *classes, uc_table **table, bool *not_numbers, scan *self,
                           const char *path, const uc_read_settings *read)
{
    uc_reader *reader = NULL;
    const uc_dataset *block = NULL;
    uc_status status = uc_reader_open(&reader, path, read, &self->context);
    while (status == UC_OK && (status = uc_reader_next(&block, reader)) == UC_OK && block)
        status = scan_rows(self, &block->X, block->weights);
    if (status == UC_OK)
        status = uc_names_copy(classes, uc_reader_classes(reader));
    if (status == UC_OK)
        status = uc_names_sort(classes, NULL);
    if (status == UC_OK)
        *table = uc_table_share(uc_reader_table(reader));
    *not_numbers = reader && reader->not_numbers;
    uc_reader_close(reader);
    return status;
}

/* A CSV file that begins like a table of numbers may turn out not to be one; the look then starts over. */
static uc_status scan_file(uc_names *classes, uc_table **table, scan *self, const char *path,
                           const uc_read_settings *read)
{
    uc_read_settings own = read ? *read : uc_reader_defaults();
    uc_table *learned = NULL;
    bool not_numbers;
    uc_status status = scan_once(classes, table, &not_numbers, self, path, &own);
    if (status != UC_ERR_FORMAT || !not_numbers || own.table)
        return status;
    const uc_train_settings *train = self->train;
    const uc_context context = self->context;
    scan_free(self);
    status = scan_begin(self, train, &context);
    if (status == UC_OK)
        status = uc_table_learn(&learned, path, &own, &context);
    own.table = learned;
    if (status == UC_OK)
        status = scan_once(classes, table, &not_numbers, self, path, &own);
    uc_table_free(learned);
    return status;
}

/* Ends a look: passes on the result, or frees it after a failure. */
static uc_status hand_over(uc_first_look *out, uc_first_look *found, scan *pass, uc_status status)
{
    if (status == UC_OK)
        *out = *found;
    else
        uc_first_look_free(found);
    scan_free(pass);
    return status;
}

uc_status uc_first_look_at_file(uc_first_look *out, const char *path, const uc_read_settings *read,
                                const uc_train_settings *train, const uc_context *context)
{
    uc_first_look found = uc_first_look_none();
    uc_storage storage = UC_STORAGE_AUTO;
    scan pass;
    if (read)
        storage = (uc_storage)read->storage;
    uc_status status = scan_begin(&pass, train, context);
    uc_table *table = NULL;
    if (status == UC_OK)
        status = scan_file(&found.classes, &table, &pass, path, read);
    if (status == UC_OK)
        status = scan_finish(&found, &pass, storage);
    found.scaling.table = table;
    return hand_over(out, &found, &pass, status);
}

uc_status uc_first_look_at_data(uc_first_look *out, const uc_dataset *data, const uc_train_settings *train,
                                const uc_context *context)
{
    uc_first_look found = uc_first_look_none();
    scan pass;
    uc_status status = scan_begin(&pass, train, context);
    if (status == UC_OK)
        status = scan_rows(&pass, &data->X, data->weights);
    if (status == UC_OK)
        status = uc_names_copy(&found.classes, &data->classes);
    if (status == UC_OK)
        status = scan_finish(&found, &pass, UC_STORAGE_SPARSE);
    found.scaling.table = uc_table_share(data->table);
    return hand_over(out, &found, &pass, status);
}
