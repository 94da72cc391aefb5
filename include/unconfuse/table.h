/* Tables: the types of the columns of a CSV file, and the features that they become. */
#ifndef UNCONFUSE_TABLE_H
#define UNCONFUSE_TABLE_H

#include "unconfuse/dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum uc_column_type {
    UC_COLUMN_DROP,     /* constant, empty or not wanted; no features */
    UC_COLUMN_ID,       /* names the row; no feature */
    UC_COLUMN_BOOLEAN,  /* 0 or 1 */
    UC_COLUMN_NUMBER,   /* its value; a missing value becomes the median of the training rows */
    UC_COLUMN_DATE,     /* days, year, month, weekday, and the hour if the column has one */
    UC_COLUMN_CATEGORY, /* one feature per value */
    UC_COLUMN_TEXT,     /* words and pairs of words, hashed */
    UC_COLUMN_LABEL,    /* the last three: named by the settings of the reader */
    UC_COLUMN_BAG,
    UC_COLUMN_WEIGHT
} uc_column_type;
const char *uc_column_type_name(uc_column_type type); /* "drop", "id", ... */

#define UC_TOP_VALUES 5

/* A column of a table. The figures found by looking at a file are 0 in a table that comes from a model. */
typedef struct uc_column {
    const char *name;
    uc_column_type type;
    size_t first, features; /* its features: first .. first + features - 1; those of text are shared */
    size_t missing;         /* rows without a value */
    size_t distinct;        /* distinct values, without missing ones */
    int distinct_is_exact;  /* 0: an estimate */
    double low, high;       /* of numbers, and of dates in days since 1970-01-01; NaN if there are none */
    size_t top_count;       /* entries of `top`, the most frequent values; 0 if there are many values */
    struct {
        const char *text;
        size_t rows;
    } top[UC_TOP_VALUES];
    const char *why; /* the reason why it was given that type */
} uc_column;

/* Looks at the whole file (of standard input, at the first 10,000 rows) and finds the type of every column.
 * Reports all problems of the file, up to 20, in one message. *out is freed with uc_table_free. */
uc_status uc_table_look(uc_table **out, const char *path, const uc_read_settings *settings,
                        const uc_context *context);
/* The same, and also learns what the encoder needs from the rows: medians, means, deviations, word
 * frequencies. Reading with uc_read_settings.table set to the result needs no further look. */
uc_status uc_table_learn(uc_table **out, const char *path, const uc_read_settings *settings,
                         const uc_context *context);
uc_table *uc_table_share(const uc_table *self); /* adds an owner; NULL stays NULL */
void uc_table_free(uc_table *self);             /* NULL is fine */

/* What the encoder has learned, saved as bytes and loaded; the caller frees *bytes with
 * uc_table_bytes_free. */
uc_status uc_table_save_memory(void **bytes, size_t *length, const uc_table *self);
uc_status uc_table_load_memory(uc_table **out, const void *bytes, size_t length, const char *name);
void uc_table_bytes_free(void *bytes);

size_t uc_table_rows(const uc_table *self); /* rows that were looked at; 0: the table comes from a model */
size_t uc_table_column_count(const uc_table *self);
void uc_table_column_at(uc_column *out, const uc_table *self, size_t i);
size_t uc_table_features(const uc_table *self);
int uc_table_is_sparse(const uc_table *self);
/* Whether every column is a number without missing values, so that rows are read as they are. */
int uc_table_is_plain(const uc_table *self);
/* Whether a column of that name is taken for ids unless the settings say otherwise: id, uuid, key, *_id, in
 * any case. */
bool uc_table_is_id_name(const char *name, size_t length);
/* The name of a setting, such as "drop", that asks for columns or values other than those that the table has
 * learned; NULL if there is none. The spellings of a missing value, the decimal point and the ids may be
 * given again if they are the same. */
const char *uc_table_decided(const uc_table *self, const uc_read_settings *settings);
/* The name of a feature: `age`, `age is missing`, `colour=red`, `date weekday`. The words of a text are not
 * known, only the position that they are hashed to: `text 17`. Writes at most `size` bytes. */
void uc_table_feature_name(char *out, size_t size, const uc_table *self, size_t feature);

/* ---- the text of a table, row by row ---- */

/* The text of a CSV or JSON lines file, kept as written so that outputs can preserve its header, ids, columns
 * and bytes. Rows are those of the data set that was read from it, counted from 0. */
typedef struct uc_table_text uc_table_text;

/* uc_dataset_read that also returns the text of the file; *text stays NULL if the file is neither CSV nor
 * JSON lines. The caller owns both. */
uc_status uc_dataset_read_with_text(uc_dataset *out, uc_table_text **text, const char *path,
                                    const uc_read_settings *settings, const uc_context *context);
/* uc_labels_read that also returns the text of the file if it is such a table. */
uc_status uc_labels_read_with_text(uc_labels *out, uc_table_text **text, const char *path,
                                   const uc_names *known, const uc_read_settings *settings,
                                   const uc_context *context);
void uc_table_text_free(uc_table_text *self); /* NULL is fine */
size_t uc_table_text_rows(const uc_table_text *self);
char uc_table_text_separator(const uc_table_text *self);
/* The header or a row with its line end, as in the file; NULL if there is no header. A line end is added to a
 * last row that lacks one. For JSON lines, both are in CSV. */
const char *uc_table_text_header(size_t *length, const uc_table_text *self);
const char *uc_table_text_row(size_t *length, const uc_table_text *self, size_t row);
/* The row's id without quotes, valid until the next call; NULL if the table has no column of ids. */
const char *uc_table_text_id(size_t *length, uc_table_text *self, size_t row);
/* A field of a row, and the name of a column according to the header, without quotes; valid until the next
 * call. NULL if there is no header, or no memory. A column beyond the last means the last one. */
const char *uc_table_text_field(size_t *length, uc_table_text *self, size_t row, size_t column);
const char *uc_table_text_name(size_t *length, uc_table_text *self, size_t column);
size_t uc_table_text_columns(const uc_table_text *self);
/* Writes the header and rows[0..count), in that order (NULL: all), as CSV (with tabs if the output's name
 * ends in .tsv) or JSON lines; the output is compressed if its name says so. If the table is in that format
 * already, its text stays as it is except for the changes. */
typedef struct uc_table_changes {
    /* y[i] is the new class of row rows[i]; the label is rewritten if it differs from the class in `before`.
     * NULL: labels stay. */
    const uint32_t *y, *before;
    const uc_names *classes;
    /* weights[i] is the weight of row rows[i]. It goes to the table's column of weights or, if there is none,
     * to a new column: the last one of CSV, but the first key of JSON lines, where the last key may be the
     * label. If the table has a column of weights, labels must stay. NULL: no weights. */
    const double *weights;
} uc_table_changes;
uc_status uc_table_text_write(uc_table_text *self, uc_output *output, uc_format format, const size_t *rows,
                              size_t count, const uc_table_changes *changes);
/* Whether the table has a column of weights, as named in the reader's settings. */
bool uc_table_text_has_weights(const uc_table_text *self);
/* The name of a new column of weights: `weight`, or `label_weight` if another column has that name; NULL if
 * both are taken. */
const char *uc_table_text_weight_name(const uc_table_text *self);

#ifdef __cplusplus
}
#endif

#endif
