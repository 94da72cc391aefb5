/* Tables: what the columns of a CSV file are, and the features that they become. */
#ifndef UNCONFUSE_TABLE_H
#define UNCONFUSE_TABLE_H

#include "unconfuse/dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum uc_column_type {
    UC_COLUMN_DROP,     /* constant, empty or not wanted: nothing */
    UC_COLUMN_ID,       /* names the row; no feature */
    UC_COLUMN_BOOLEAN,  /* 0 or 1 */
    UC_COLUMN_NUMBER,   /* its value; where it is missing, the median of the training rows */
    UC_COLUMN_DATE,     /* days, year, month, weekday, and the hour when there is one */
    UC_COLUMN_CATEGORY, /* one feature per value */
    UC_COLUMN_TEXT,     /* words and pairs of words, hashed */
    UC_COLUMN_LABEL,    /* the last three: named by the settings of the reader */
    UC_COLUMN_BAG,
    UC_COLUMN_WEIGHT
} uc_column_type;
const char *uc_column_type_name(uc_column_type type); /* "drop", "id", ... */

#define UC_TOP_VALUES 5

/* A column of a table. What the first look found is 0 in a table that comes from a model. */
typedef struct uc_column {
    const char *name;
    uc_column_type type;
    size_t first, features; /* its features: first .. first + features - 1; those of text are shared */
    size_t missing;         /* rows without a value */
    size_t distinct;        /* values that differ, but for missing ones */
    int distinct_is_exact;  /* 0: an estimate */
    double low, high;       /* of numbers, and of dates in days since 1970-01-01; NaN: there are none */
    size_t top_count;       /* the most frequent values, when there are few */
    struct {
        const char *text;
        size_t rows;
    } top[UC_TOP_VALUES];
    const char *why; /* what it was taken for that type for */
} uc_column;

/* *out is freed with uc_table_free. Looks at the whole file (of standard input, the first 10,000 rows), and
 * finds the type of every column. Fails with all problems of the file, up to 20, in one message. */
uc_status uc_table_look(uc_table **out, const char *path, const uc_read_settings *settings,
                        const uc_context *context);
/* The same, and what else the encoder learns from rows: medians, means, deviations, how frequent words are.
 * Reading with uc_read_settings.table set to it needs no look then. */
uc_status uc_table_learn(uc_table **out, const char *path, const uc_read_settings *settings,
                         const uc_context *context);
uc_table *uc_table_share(const uc_table *self); /* one owner more; NULL stays NULL */
void uc_table_free(uc_table *self);             /* NULL is fine */

/* What the encoder has learned, as bytes, and back; the caller frees them with uc_table_bytes_free. */
uc_status uc_table_save_memory(void **bytes, size_t *length, const uc_table *self);
uc_status uc_table_load_memory(uc_table **out, const void *bytes, size_t length, const char *name);
void uc_table_bytes_free(void *bytes);

size_t uc_table_rows(const uc_table *self); /* that were looked at; 0: the table comes from a model */
size_t uc_table_column_count(const uc_table *self);
void uc_table_column_at(uc_column *out, const uc_table *self, size_t i);
size_t uc_table_features(const uc_table *self);
int uc_table_is_sparse(const uc_table *self);
/* Whether every column is a number without missing values: rows are read as they are. */
int uc_table_is_plain(const uc_table *self);
/* Whether a column of that name is taken for ids where the settings say nothing else: id, uuid, key, *_id, in
 * any case. */
bool uc_table_is_id_name(const char *name, size_t length);
/* The name of a setting, such as "drop", that asks for other columns or values than the table has learned;
 * NULL: there is none. What stands for a missing value, the decimal point and the ids may be given again as
 * they were. */
const char *uc_table_decided(const uc_table *self, const uc_read_settings *settings);
/* The name of a feature: `age`, `age is missing`, `colour=red`, `date weekday`; words of text are not
 * known, only the place that they are hashed to: `text 17`. Writes at most `size` bytes. */
void uc_table_feature_name(char *out, size_t size, const uc_table *self, size_t feature);

/* ---- the text of a table, row by row ---- */

/* A CSV file, or JSON lines, as it is written, so that outputs can keep its header, ids, columns and bytes.
 * Rows are those of the data set that was read from it, counted from 0. */
typedef struct uc_table_text uc_table_text;

/* uc_dataset_read, and the text of the same file; *text stays NULL when that is neither CSV nor JSON lines.
 * Both are the caller's. */
uc_status uc_dataset_read_with_text(uc_dataset *out, uc_table_text **text, const char *path,
                                    const uc_read_settings *settings, const uc_context *context);
/* uc_labels_read, and the text of the file if it is such a table. */
uc_status uc_labels_read_with_text(uc_labels *out, uc_table_text **text, const char *path,
                                   const uc_names *known, const uc_read_settings *settings,
                                   const uc_context *context);
void uc_table_text_free(uc_table_text *self); /* NULL is fine */
size_t uc_table_text_rows(const uc_table_text *self);
char uc_table_text_separator(const uc_table_text *self);
/* The header or a row with its line end, as they are in the file; NULL: there is no header. A last row
 * without line end has one. Those of JSON lines are CSV. */
const char *uc_table_text_header(size_t *length, const uc_table_text *self);
const char *uc_table_text_row(size_t *length, const uc_table_text *self, size_t row);
/* The row's id without quotes; NULL: the table has no column of ids. It is valid until the next call. */
const char *uc_table_text_id(size_t *length, uc_table_text *self, size_t row);
/* A field of a row, and the name of a column by the header, without quotes; valid until the next call. NULL:
 * there is no header, or no memory. A column beyond the last is the last one. */
const char *uc_table_text_field(size_t *length, uc_table_text *self, size_t row, size_t column);
const char *uc_table_text_name(size_t *length, uc_table_text *self, size_t column);
size_t uc_table_text_columns(const uc_table_text *self);
/* Writes the header and rows[0..count), in that order (NULL: all), compressed when the output's name says so,
 * as CSV (with tabs when the name ends in .tsv) or JSON lines; text of that format stays as it is, but for
 * what changes. */
typedef struct uc_table_changes {
    /* y[i] is the class that row rows[i] gets: its label changes when that is another class than `before`
     * has. NULL: labels stay. */
    const uint32_t *y, *before;
    const uc_names *classes;
    /* weights[i] is that of row rows[i], in the table's column of weights, or in one more column when it has
     * none: the last one of CSV, the first key of JSON lines, whose last may be the label. Where the table
     * has one, labels must stay. NULL: none. */
    const double *weights;
} uc_table_changes;
uc_status uc_table_text_write(uc_table_text *self, uc_output *output, uc_format format, const size_t *rows,
                              size_t count, const uc_table_changes *changes);
/* Whether the table has a column of weights, which a reader was told of. */
bool uc_table_text_has_weights(const uc_table_text *self);
/* The name of one more column of weights: `weight`, or `label_weight` where another column is called so.
 * NULL: both are taken. */
const char *uc_table_text_weight_name(const uc_table_text *self);

#ifdef __cplusplus
}
#endif

#endif
