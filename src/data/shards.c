/*
 * Several files as one data set, and each process's share of it.
 *
 * The files are treated as if concatenated, and every process gets an even share of the bytes. A file that
 * can be cut is cut at line ends (text) or rows (UCD); any other belongs to the process in whose share it
 * begins. Remaining imbalance is corrected after the rows have been read: rows move to other processes, but
 * never change their order.
 */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "data/dataset.h"
#include "data/exchange.h"
#include "data/reader.h"
#include "data/table.h"
#include "data/recognise.h"
#include "data/valid.h"

#define UNEVEN 1.1 /* more than this multiple of an even share of the rows is too much */

/* ---- which process reads what ---- */

typedef struct extent {
    uint64_t begin, bytes; /* in the concatenated files */
    bool whole;            /* cannot be cut */
    bool empty;
} extent;

static uc_status measure(extent *files, const char *const *paths, size_t count, const uc_context *context)
{
    uint64_t begin = 0;
    for (size_t i = 0; i < count; i++) {
        uc_file_look look;
        const uc_status status = uc_look_at_file(&look, paths[i]);
        if (status != UC_OK && uc_is_shared(context)) {
            char rank[32];
            snprintf(rank, sizeof rank, "rank %d: ", uc_comm_rank(context->comm));
            return uc_fail_again(status, rank, uc_last_error());
        }
        if (status != UC_OK)
            return status;
        files[i] =
            (extent){begin, look.bytes, !look.can_be_cut, look.bytes == 0 && look.can_be_cut && count > 1};
        if (files[i].empty)
            uc_warn(context, "%s: no examples", paths[i]);
        begin += look.bytes;
    }
    return UC_OK;
}

/* Fails if processes on several machines see different files. */
static uc_status compare_files(const extent *files, const char *const *paths, size_t count,
                               const uc_context *context)
{
    uint64_t mark = UC_MARK;
    for (size_t i = 0; i < count; i++) {
        mark = uc_mark(mark, paths[i], strlen(paths[i]) + 1);
        mark = uc_mark(mark, (const char *)&files[i].bytes, sizeof files[i].bytes);
    }
    char text[96];
    snprintf(text, sizeof text, "%zu of %llu bytes (mark %016llx)", count,
             (unsigned long long)(files[count - 1].begin + files[count - 1].bytes), (unsigned long long)mark);
    return uc_comm_same(uc_comm_of(context), text, "the list of files");
}

/* The part of a file that process `rank` of `size` reads; false: none. Files without a known length, such as
 * standard input, are read by the first process if nothing precedes them. */
static bool range_of(uc_file_range *out, const extent *file, uint64_t total, size_t rank, size_t size)
{
    const uint64_t from = uc_even_start(total, size, rank), to = uc_even_start(total, size, rank + 1);
    const uint64_t end = file->begin + file->bytes;
    if (file->whole || (from <= file->begin && end <= to)) {
        const bool last = rank + 1 == size && file->begin == total;
        if (total == 0)
            return rank == 0;
        return file->begin >= from && (file->begin < to || last);
    }
    out->from = uc_max_size(from, file->begin) - file->begin;
    out->to = uc_min_size(to, end) - file->begin;
    return from < end && to > file->begin;
}

uc_status uc_file_ranges(uc_file_range **out, size_t *count, const char *const *paths, size_t path_count,
                         const uc_context *context)
{
    const uc_comm *comm = uc_comm_of(context);
    extent *files = uc_alloc(path_count, sizeof *files);
    uc_file_range *ranges = uc_alloc(path_count, sizeof *ranges);
    uc_status status = UC_ERR_NOMEM;
    if (files && ranges)
        status = measure(files, paths, path_count, context);
    status = uc_comm_agree(comm, status);
    if (status == UC_OK)
        status = compare_files(files, paths, path_count, context);
    if (status == UC_OK) {
        const uint64_t total = files[path_count - 1].begin + files[path_count - 1].bytes;
        size_t first = 0;
        while (first + 1 < path_count && files[first].empty)
            first++;
        *count = 0;
        for (size_t i = 0; i < path_count; i++) {
            ranges[*count] = (uc_file_range){
                .path = paths[i], .may_be_empty = path_count > 1, .first = i > first ? paths[first] : NULL};
            if (!files[i].empty)
                *count += range_of(&ranges[*count], &files[i], total, (size_t)uc_comm_rank(comm),
                                   (size_t)uc_comm_size(comm));
        }
        *out = ranges;
        ranges = NULL;
    }
    uc_free(ranges);
    uc_free(files);
    return status;
}

void uc_file_ranges_free(uc_file_range *ranges)
{
    uc_free(ranges);
}

/* ---- joining what a process has read ---- */

/* The parts that were read, and what they have in common. */
typedef struct pile {
    uc_dataset *parts;
    size_t count, rows, entries;
    size_t cols;                    /* largest number of columns */
    size_t dense_cols;              /* columns of dense parts, which must agree; 0: no dense part */
    const char *dense, *unlabelled; /* name of such a file */
    bool labels, bags, weights, soft;
    bool stays_sparse; /* because of a UCD file */
} pile;

static void pile_free(pile *self)
{
    for (size_t i = 0; self->parts && i < self->count; i++)
        uc_dataset_free(&self->parts[i]);
    uc_free(self->parts);
    *self = (pile){0};
}

static uc_status add_part(pile *self, const uc_dataset *part, const char *path)
{
    const uc_matrix *X = &part->X;
    self->parts[self->count++] = *part;
    if (X->rows == 0)
        return UC_OK;
    if (!uc_matrix_is_sparse(X) && self->dense_cols && self->dense_cols != X->cols)
        return uc_fail(UC_ERR_FORMAT, "%s: %zu columns, but %s has %zu", path, X->cols, self->dense,
                       self->dense_cols);
    if (!uc_matrix_is_sparse(X)) {
        self->dense = path;
        self->dense_cols = X->cols;
    }
    if (!part->y)
        self->unlabelled = path;
    self->labels = self->labels || part->y;
    self->bags = self->bags || part->bag;
    self->weights = self->weights || part->weights;
    self->soft = self->soft || part->soft;
    self->rows += X->rows;
    self->entries += uc_matrix_entries(X);
    self->cols = uc_max_size(self->cols, X->cols);
    return UC_OK;
}

/* Text in a sparse format stays sparse until the number of values over all processes is known. */
static uc_status read_ranges(pile *self, const uc_file_range *ranges, size_t count,
                             const uc_read_settings *settings, const uc_context *context)
{
    uc_read_settings own = settings ? *settings : uc_reader_defaults();
    own.storage = UC_STORAGE_SPARSE;
    own.weights = own.soft_labels = NULL; /* they are for the rows of all files */
    self->parts = uc_alloc(count, sizeof *self->parts);
    if (!self->parts)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        uc_dataset part = {0};
        uc_file_look look = {0};
        uc_status status = uc_look_at_file(&look, ranges[i].path);
        if (status == UC_OK)
            status = uc_dataset_read_range(&part, &ranges[i], &own, context);
        if (status == UC_OK)
            status = add_part(self, &part, ranges[i].path);
        if (status != UC_OK)
            return status;
        self->stays_sparse = self->stays_sparse || (look.is_ucd && uc_matrix_is_sparse(&part.X));
    }
    return UC_OK;
}

/* Labels that are the same number, such as 1 and +1, are one class. */
static uc_status renumber(uint32_t *values, size_t rows, const uc_names *from, uc_names *to, bool labels)
{
    uint32_t *position = uc_alloc(from->count, sizeof *position);
    if (!position)
        return UC_ERR_NOMEM;
    uc_status status = UC_OK;
    for (size_t k = 0; k < from->count && status == UC_OK; k++) {
        const size_t length = strlen(from->text[k]);
        if (labels)
            status = uc_names_add_label(&position[k], to, from->text[k], length);
        else
            status = uc_names_add(&position[k], to, from->text[k], length);
    }
    for (size_t i = 0; i < rows && status == UC_OK; i++)
        if (values[i] != UC_NONE)
            values[i] = position[values[i]];
    uc_free(position);
    return status;
}

static uc_status append_labels(uc_dataset *out, size_t at, const uc_dataset *part)
{
    const size_t rows = part->X.rows;
    uc_status status = UC_OK;
    if (part->y) {
        memcpy(out->y + at, part->y, rows * sizeof *out->y);
        status = renumber(out->y + at, rows, &part->classes, &out->classes, true);
    }
    for (size_t i = 0; i < rows && out->bag; i++)
        out->bag[at + i] = part->bag ? part->bag[i] : UC_NONE;
    for (size_t i = 0; i < rows && out->weights; i++)
        out->weights[at + i] = part->weights ? part->weights[i] : 1.0;
    if (status == UC_OK && part->bag)
        status = renumber(out->bag + at, rows, &part->bags, &out->bags, false);
    return status;
}

/* Copies the rows of `from`, sparse or dense, to row `at` of `to`, which is dense if any part is. */
static void append_rows(uc_matrix *to, size_t at, const uc_matrix *from)
{
    for (size_t i = 0; i < from->rows; i++) {
        const uc_row row = uc_matrix_row(from, i);
        if (to->offsets) {
            const size_t first = (size_t)to->offsets[at + i];
            memcpy(to->values + first, row.values, row.count * sizeof *row.values);
            memcpy(to->columns + first, row.columns, row.count * sizeof *row.columns);
            to->offsets[at + i + 1] = first + row.count;
            continue;
        }
        float *values = to->values + (at + i) * to->stride;
        for (size_t j = 0; j < row.count; j++)
            values[row.columns ? row.columns[j] : j] = row.values[j];
    }
}

static bool fits_as_it_is(const uc_dataset *part, const pile *self, bool dense)
{
    return uc_matrix_is_sparse(&part->X) != dense && (!dense || part->X.cols == self->cols) &&
           !part->mapping && (part->y != NULL) == self->labels && (part->bag != NULL) == self->bags &&
           (part->weights != NULL) == self->weights;
}

/* Joins all parts into one data set; parts are freed on the way. */
static uc_status join_parts(uc_dataset *out, pile *self, bool dense, const uc_context *context)
{
    uc_dataset joined = {0};
    if (self->count == 1 && fits_as_it_is(&self->parts[0], self, dense)) {
        *out = self->parts[0];
        out->X.cols = self->cols;
        self->count = 0;
        return UC_OK;
    }
    double bytes = 8.0 * (double)self->entries;
    if (dense)
        bytes = 4.0 * (double)self->rows * (double)uc_matrix_stride(self->cols);
    uc_status status = uc_memory_check(context, bytes, "the data");
    if (status != UC_OK)
        return status;
    const uc_dataset_shape shape = {.rows = self->rows,
                                    .cols = self->cols,
                                    .entries = self->entries,
                                    .sparse = !dense,
                                    .labels = self->labels,
                                    .bags = self->bags,
                                    .weights = self->weights};
    status = uc_dataset_create(&joined, &shape);
    for (size_t i = 0; i < self->count && !joined.table && status == UC_OK; i++)
        joined.table = uc_table_share(self->parts[i].table);
    for (size_t i = 0, at = 0; i < self->count && status == UC_OK; i++) {
        append_rows(&joined.X, at, &self->parts[i].X);
        status = append_labels(&joined, at, &self->parts[i]);
        at += self->parts[i].X.rows;
        uc_dataset_free(&self->parts[i]);
    }
    if (status == UC_OK)
        *out = joined;
    else
        uc_dataset_free(&joined);
    return status;
}

/* ---- agreeing with the other processes ---- */

/* Properties of a process's rows. */
typedef struct likeness {
    double rows, entries;
    size_t cols, dense_cols;
    bool labels, unlabelled, bags, weights, soft, stays_sparse;
} likeness;

/* *self becomes the common properties of all processes. */
static uc_status compare_likenesses(likeness *self, const uc_context *context)
{
    void *all = NULL;
    const uc_status status = uc_comm_gather(&all, NULL, uc_comm_of(context), self, sizeof *self);
    if (status != UC_OK)
        return status;
    likeness common = {0};
    bool differ = false;
    for (int r = 0; r < uc_comm_size(uc_comm_of(context)); r++) {
        const likeness *one = (const likeness *)all + r;
        differ = differ || (one->dense_cols && common.dense_cols && one->dense_cols != common.dense_cols);
        common.rows += one->rows;
        common.entries += one->entries;
        common.cols = uc_max_size(common.cols, one->cols);
        if (one->dense_cols)
            common.dense_cols = one->dense_cols;
        common.labels |= one->labels;
        common.unlabelled |= one->unlabelled;
        common.bags |= one->bags;
        common.weights |= one->weights;
        common.soft |= one->soft;
        common.stays_sparse |= one->stays_sparse;
    }
    uc_free(all);
    *self = common;
    if (differ || (common.dense_cols && common.cols > common.dense_cols))
        return uc_fail(UC_ERR_FORMAT, "the files have different columns");
    return UC_OK;
}

/* Whether every process has enough memory for its rows in dense form. */
static uc_status has_room(bool *out, size_t rows, size_t cols, const uc_context *context)
{
    const double bytes = (double)rows * (double)uc_matrix_stride(cols) * (double)sizeof(float);
    double lacking = uc_memory_check(context, bytes, "the data") != UC_OK;
    const uc_status status = uc_comm_sum(uc_comm_of(context), &lacking, 1);
    *out = lacking == 0.0;
    return status;
}

/* Whether the rows of all processes become dense; uc_dataset_read decides likewise for one file. */
static bool becomes_dense(const likeness *all, bool room, const uc_read_settings *settings)
{
    const int storage = settings ? settings->storage : UC_STORAGE_AUTO;
    if (settings && settings->table)
        return !uc_table_is_sparse(settings->table);
    return all->dense_cols || storage == UC_STORAGE_DENSE ||
           (storage == UC_STORAGE_AUTO && room && !all->stays_sparse &&
            all->entries * 4.0 >= all->rows * (double)all->cols);
}

static uc_status agree_on_names(uc_names *names, uint32_t *values, size_t rows, bool sorted,
                                const uc_context *context)
{
    const size_t before = names->count;
    uint32_t *merged = uc_alloc(before, sizeof *merged), *position = NULL;
    if (!merged)
        return UC_ERR_NOMEM;
    uc_status status = uc_merge_names(names, merged, sorted, context);
    if (status == UC_OK && sorted) {
        status = UC_ERR_NOMEM;
        position = uc_alloc(names->count, sizeof *position);
        if (position)
            status = uc_names_sort(names, position);
        for (size_t k = 0; k < before && status == UC_OK; k++)
            merged[k] = position[merged[k]];
    }
    for (size_t i = 0; values && i < rows && status == UC_OK; i++)
        if (values[i] != UC_NONE)
            values[i] = merged[values[i]];
    uc_free(position);
    uc_free(merged);
    return status;
}

static uc_status even_out(uc_dataset *data, const uc_context *context)
{
    const uc_comm *comm = uc_comm_of(context);
    uc_share share;
    uc_status status = uc_share_of(&share, context, data->X.rows);
    if (status != UC_OK)
        return status;
    const double even = (double)share.total / uc_comm_size(comm);
    double uneven = (double)data->X.rows > UNEVEN * even + 1.0;
    status = uc_comm_sum(comm, &uneven, 1);
    if (status != UC_OK || uneven == 0.0)
        return status;
    size_t *starts = NULL;
    uc_dataset dealt = {0};
    status = uc_even_starts(&starts, share.total, comm);
    if (status == UC_OK)
        status = uc_deal_rows(&dealt, data, starts, context);
    uc_free(starts);
    if (status == UC_OK) {
        uc_dataset_free(data);
        *data = dealt;
    }
    return status;
}

/* Makes the names equal in all processes, and the numbers of rows about equal. */
static uc_status agree(uc_dataset *data, const uc_context *context)
{
    uc_status status = agree_on_names(&data->classes, data->y, data->X.rows, true, context);
    if (status == UC_OK)
        status = agree_on_names(&data->bags, data->bag, data->X.rows, false, context);
    if (status == UC_OK)
        status = even_out(data, context);
    return status;
}

static uc_status join(uc_dataset *out, pile *self, const char *shown, const uc_read_settings *settings,
                      const uc_context *context)
{
    likeness all = {.rows = (double)self->rows,
                    .entries = (double)self->entries,
                    .cols = self->cols,
                    .dense_cols = self->dense_cols,
                    .labels = self->labels,
                    .unlabelled = self->unlabelled != NULL,
                    .bags = self->bags,
                    .weights = self->weights,
                    .soft = self->soft,
                    .stays_sparse = self->stays_sparse};
    uc_status status = compare_likenesses(&all, context);
    if (status != UC_OK)
        return status;
    if (all.rows == 0.0)
        return uc_fail(UC_ERR_FORMAT, "%s: no examples", shown);
    if (all.labels && all.unlabelled)
        return uc_fail(UC_ERR_FORMAT, "%s: no labels, but other files have them",
                       self->unlabelled ? self->unlabelled : "a file of another process");
    if (all.soft)
        return uc_fail(UC_ERR_FORMAT,
                       "%s: soft labels within data files are read from one file, by one process: give them "
                       "with {soft-labels}",
                       shown);
    self->cols = all.cols;
    self->labels = all.labels;
    self->bags = all.bags;
    self->weights = all.weights;
    bool room;
    status = has_room(&room, self->rows, all.cols, context);
    if (status != UC_OK)
        return status;
    uc_dataset joined = {0};
    status = uc_comm_agree(uc_comm_of(context),
                           join_parts(&joined, self, becomes_dense(&all, room, settings), context));
    if (status == UC_OK)
        status = agree(&joined, context);
    if (status == UC_OK)
        status = uc_encode_dataset(&joined, context);
    if (status == UC_OK && settings)
        status = uc_dataset_attach(&joined, settings, context);
    if (status != UC_OK) {
        uc_dataset_free(&joined);
        return status;
    }
    assert(uc_dataset_is_valid(&joined));
    *out = joined;
    return UC_OK;
}

/* Whether some file is a table of several types; each process looks at all files. */
static uc_status needs_table(bool *out, const char *const *paths, size_t count,
                             const uc_read_settings *settings)
{
    *out = false;
    for (size_t i = 0; i < count && !*out; i++) {
        uc_file_look look;
        uc_input *input;
        const char *bytes;
        size_t length;
        uc_format format = (uc_format)settings->format;
        if (uc_look_at_file(&look, paths[i]) != UC_OK || look.bytes == 0)
            continue; /* problems are reported when it is read */
        uc_status status = uc_input_open(&input, paths[i]);
        if (status != UC_OK)
            return status;
        status = uc_input_peek(&bytes, &length, input);
        if (status == UC_OK && format == UC_FORMAT_AUTO &&
            uc_recognise_format(&format, bytes, length, paths[i]) != UC_OK)
            format = UC_FORMAT_AUTO;
        if (status == UC_OK && format == UC_FORMAT_CSV)
            status = uc_table_is_needed(out, bytes, length, settings);
        uc_input_close(input);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}

static uc_status read_all(uc_dataset *out, const char *const *paths, size_t path_count,
                          const uc_read_settings *settings, const uc_context *context)
{
    uc_file_range *ranges = NULL;
    size_t count = 0;
    pile read = {0};
    uc_status status = uc_file_ranges(&ranges, &count, paths, path_count, context);
    if (status != UC_OK)
        return status;
    status = uc_comm_agree(uc_comm_of(context), read_ranges(&read, ranges, count, settings, context));
    if (status == UC_OK)
        status = join(out, &read, path_count == 1 ? paths[0] : "the files", settings, context);
    pile_free(&read);
    uc_free(ranges);
    return status;
}

uc_status uc_dataset_read_files(uc_dataset *out, const char *const *paths, size_t path_count,
                                const uc_read_settings *settings, const uc_context *context)
{
    uc_read_settings own = settings ? *settings : uc_reader_defaults();
    uc_table *table = NULL;
    bool needed = false;
    if (path_count == 0)
        return uc_fail(UC_ERR_INVALID, "there is no file to read");
    if (path_count == 1 && !uc_is_shared(context))
        return uc_dataset_read(out, paths[0], settings, context);
    if (path_count > 1 && own.labels)
        return uc_fail(UC_ERR_INVALID,
                       "a file of labels ({labels}) goes with one NPY file, and these are %zu", path_count);
    uc_status status = UC_OK;
    status = uc_recognise_json(&own, paths, path_count);
    needed = own.format == UC_FORMAT_JSONL && !own.table;
    if (status == UC_OK && !own.table && !needed)
        status = needs_table(&needed, paths, path_count, &own);
    if (status == UC_OK && needed) {
        const uc_look_source source = {.paths = paths, .count = path_count, .name = paths[0]};
        status = uc_table_look_at(&table, &source, &own, context);
        if (status == UC_OK)
            status = uc_table_check_features(table, paths[0]);
        own.table = table;
    }
    status = uc_comm_agree(uc_comm_of(context), status);
    if (status == UC_OK)
        status = read_all(out, paths, path_count, &own, context);
    uc_table_free(table);
    return status;
}
