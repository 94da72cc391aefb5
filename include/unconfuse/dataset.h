/* Examples: features, labels as positions in a list of class names, bags, weights and soft labels. */
#ifndef UNCONFUSE_DATASET_H
#define UNCONFUSE_DATASET_H

#include "unconfuse/context.h"
#include "unconfuse/matrix.h"
#include "unconfuse/names.h"
#include "unconfuse/option.h"
#include "unconfuse/output.h"
#include "unconfuse/random.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct uc_mapping uc_mapping;
typedef struct uc_table uc_table; /* unconfuse/table.h */

typedef struct uc_dataset {
    uc_matrix X;
    uint32_t *y; /* position in `classes`, or UC_NONE for an unlabelled row; NULL: the data have no labels */
    uc_names classes;    /* every name occurs in the data that were read */
    uint32_t *bag;       /* position in `bags`; NULL: no bags */
    uc_names bags;       /* every name occurs in the data that were read */
    double *weights;     /* of each row, finite and >= 0; NULL: all are 1 */
    double *soft;        /* rows x classes.count: the probability of each class; rows sum to 1; NULL: none */
    uc_table *table;     /* the columns of the table that the rows come from; NULL: not known */
    uc_mapping *mapping; /* private; not NULL: X, y and bag are borrowed from a mapped file or the caller */
} uc_dataset;            /* a zero-initialised one is empty and may be freed */

void uc_dataset_free(uc_dataset *self);

/* ---- reading ---- */

typedef enum uc_storage { UC_STORAGE_AUTO, UC_STORAGE_DENSE, UC_STORAGE_SPARSE } uc_storage;

typedef struct uc_read_settings {
    int format;          /* auto | libsvm | csv | npy | ucd | jsonl       (auto: from the content) */
    const char *label;   /* CSV: the column of labels, by name or as 1, 2, ... (-1: the last); "none": no
                            labels. NULL: the column called label, class, target or y, else the last */
    const char *bag;     /* CSV: the column of bags, by name or number; NULL: none */
    const char *labels;  /* NPY: the file of labels; NULL: none */
    const char *weight;  /* CSV: the column of weights, by name or number; NULL: none */
    const char *weights; /* a file of weights (uc_weights_read), for any format; NULL: none */
    const char
        *soft_labels; /* a file of soft labels: uc_soft_labels_read; NULL: none. Only for whole data sets */
    int storage; /* uc_storage of LIBSVM text; auto: dense if a quarter or more of the values are given */
    const char *columns;        /* tables: "NAME=TYPE,...", the types of columns; NULL: detected */
    const char *drop;           /* tables: names of columns to leave out, separated by commas; NULL: none */
    const char *id;             /* tables: the column that names the rows; NULL: detected */
    const char *missing_values; /* tables: spellings of a missing value, separated by commas; NULL: NA,
                                   N/A, NaN, null, None, ? */
    const char *decimal;        /* tables: "." or ","; NULL: "." */
    const char *separator;      /* CSV: one character, or "tab"; NULL or "auto": detected */
    uint64_t max_categories;    /* tables: text with more distinct values is not a category (100) */
    const uc_table *table;      /* the columns that the rows must have, such as those of a model; NULL: any */
    uint64_t expected_cols;     /* columns that a model expects; 0: any number. A CSV file with exactly that
                               many columns has no column of labels */
    bool check_later;           /* a reader of a UCD file leaves checking its rows to uc_reader_check */
} uc_read_settings;

extern const uc_option uc_read_options[]; /* the table of uc_read_settings */
uc_read_settings uc_reader_defaults(void);

/* Reads the whole file ("-": standard input) into *out, which the caller frees and which is untouched on
 * failure. Classes are sorted (uc_names_sort). `settings` may be NULL. */
uc_status uc_dataset_read(uc_dataset *out, const char *path, const uc_read_settings *settings,
                          const uc_context *context);

/* The same for the bytes of a data file in memory; `name` is used in messages. */
uc_status uc_dataset_read_memory(uc_dataset *out, const void *bytes, size_t length, const char *name,
                                 const uc_read_settings *settings, const uc_context *context);

/* A part of a file: the lines of text that begin at bytes from .. to-1, or the rows at these bytes of a UCD
 * file. to = 0 stands for the whole file. */
typedef struct uc_file_range {
    const char *path;
    uint64_t from, to;
    bool may_be_empty; /* one of several ranges: having no examples is not an error */
    const char *first; /* the first of several CSV files, whose columns this one must share; NULL: none */
} uc_file_range;

/* The ranges of these files that this process reads: in the order of the files, with about as many bytes for
 * each process. A file that cannot be cut (compressed, NPY, standard input) goes to one process as a whole;
 * an empty one is skipped with a warning. Fails if the processes do not see the same files. Free the list
 * with uc_file_ranges_free; it borrows `paths`. */
uc_status uc_file_ranges(uc_file_range **out, size_t *count, const char *const *paths, size_t path_count,
                         const uc_context *context);
void uc_file_ranges_free(uc_file_range *ranges);
/* Reads several files as one data set, in their order. With several processes each gets an even share of the
 * rows, in the order of the ranks, and all of them have the same columns, classes and bags. A file without
 * examples is skipped with a warning. */
uc_status uc_dataset_read_files(uc_dataset *out, const char *const *paths, size_t path_count,
                                const uc_read_settings *settings, const uc_context *context);

/* Reads a file block by block. Memory is constant except for a file of weights; soft labels are ignored. */
typedef struct uc_reader uc_reader;
uc_status uc_reader_open(uc_reader **out, const char *path, const uc_read_settings *settings,
                         const uc_context *context);
uc_status uc_reader_open_range(uc_reader **out, const uc_file_range *range, const uc_read_settings *settings,
                               const uc_context *context);
/* The next rows in file order; *block is NULL at the end of the file. The block belongs to the reader and is
 * valid until the next call. Its labels are positions in uc_reader_classes, in order of first appearance;
 * block->classes and block->bags are empty. X.cols is the largest column seen so far. */
uc_status uc_reader_next(const uc_dataset **block, uc_reader *self);
const uc_names *uc_reader_classes(const uc_reader *self);
/* "libsvm", "csv", "npy", "ucd" or "jsonl". */
const char *uc_reader_format(const uc_reader *self);
/* The columns of a CSV file; NULL if they are not known. */
const uc_table *uc_reader_table(const uc_reader *self);
/* The id of row `row` of the current block; NULL if the table has no column of ids. */
const char *uc_reader_id(size_t *length, const uc_reader *self, size_t row);
/* The number of category values so far that the table does not know, which count as `other`; the number of
 * columns in the file that the table does not have. */
size_t uc_reader_unseen(const uc_reader *self);
size_t uc_reader_extra_columns(const uc_reader *self);
/* How to check the rows of the current block, which must happen before they are used; NULL: they have been
 * checked, as always unless `check_later` is set. */
const uc_row_check *uc_reader_check(const uc_reader *self);
void uc_reader_close(uc_reader *self);

/* ---- writing ---- */

typedef enum uc_format {
    UC_FORMAT_AUTO,
    UC_FORMAT_LIBSVM,
    UC_FORMAT_CSV,
    UC_FORMAT_NPY,
    UC_FORMAT_UCD,
    UC_FORMAT_JSONL
} uc_format;

/* Writes to a temporary file and renames it. UC_FORMAT_AUTO chooses by the ending (.svm .libsvm .txt .csv
 * .tsv .npy .ucd .jsonl, then .gz or .zst). "-" is standard output. For NPY the labels go to the file
 * `labels` (NULL: not written). */
uc_status uc_dataset_write(const uc_dataset *self, const char *path, uc_format format, const char *labels,
                           const uc_context *context);
/* Writes to outputs that the caller has opened and will commit; UC_FORMAT_AUTO goes by their names. */
uc_status uc_dataset_write_to(const uc_dataset *self, uc_output *output, uc_format format, uc_output *labels,
                              const uc_context *context);
/* The format that UC_FORMAT_AUTO chooses for this path; fails if the ending is unknown. */
uc_status uc_format_of_path(uc_format *out, const char *path);

/* ---- parts ---- */

/* Copies rows[0..count), in that order (NULL: all rows); keeps the names of all classes and bags. */
uc_status uc_dataset_subset(uc_dataset *out, const uc_dataset *self, const size_t *rows, size_t count,
                            const uc_context *context);
/* Assigns every row to a fold, fold[i] in 0 .. folds-1. Folds are as equal in size as possible; stratified:
 * also within each class. If every row is in a bag and there are at least two bags, whole bags are assigned
 * instead. */
uc_status uc_dataset_folds(uint32_t *fold, const uc_dataset *data, unsigned folds, bool stratified,
                           uint64_t seed, const uc_context *context);
/* The number of units that uc_dataset_folds assigns to folds: bags or rows. */
size_t uc_dataset_fold_units(const uc_dataset *data);
/* Draws about `most` rows in random order: each class in proportion, but at least 20 rows of it if it has as
 * many. If there are no more than `most` rows, takes all of them in their order. With several processes the
 * sample is drawn from the rows of all of them, and each process gets the whole sample. */
uc_status uc_dataset_sample(uc_dataset *out, const uc_dataset *data, size_t most, uint64_t seed,
                            const uc_context *context);
/* The same for whole bags, whose rows stay in their order; the data must pass uc_dataset_check_bags. */
uc_status uc_dataset_sample_bags(uc_dataset *out, const uc_dataset *data, size_t most, uint64_t seed,
                                 const uc_context *context);
/* Splits the data into two new sets; `share` of the rows (stratified: of each class) go to the first. */
uc_status uc_dataset_split(uc_dataset *first, uc_dataset *second, const uc_dataset *data, double share,
                           bool stratified, uint64_t seed, const uc_context *context);
/* The same split as row numbers: rows[0..*count) go to the first part and the rest of `rows` to the second,
 * each in the order of the data. `rows` has room for all of them. */
uc_status uc_dataset_split_rows(size_t *rows, size_t *count, const uc_dataset *data, double share,
                                bool stratified, uint64_t seed);
/* counts[k] becomes the number of rows of class k; `counts` has classes.count entries. Unlabelled rows are
 * not counted. */
void uc_dataset_class_counts(size_t *counts, const uc_dataset *data);

/* Two new sets: the rows outside fold `fold`, and the rows in it. */
uc_status uc_dataset_fold_split(uc_dataset *others, uc_dataset *inside, const uc_dataset *data,
                                const uint32_t *fold_of, unsigned fold, const uc_context *context);

/* ---- labels with another meaning ---- */

/* For positive and unlabelled data: only labels of class `positive` (NULL: the only class, or the second of
 * two) can be trusted. Unlabelled rows join the other class, which is given a name if it has none. *index
 * becomes the position of the positive class. */
uc_status uc_dataset_positive_unlabelled(uint32_t *index, uc_dataset *data, const char *positive,
                                         const uc_context *context);
/* For labels of bags: checks that every row is in a bag, that there are at least two bags, and that all rows
 * of a bag have the same label. */
uc_status uc_dataset_check_bags(const uc_dataset *data, const uc_context *context);

/* ---- weights and soft labels ---- */

/* Reads weights: numbers >= 0, one per line or as an NPY array of one dimension. There must be `rows` of them
 * (SIZE_MAX: any number, which is stored in *count). The caller frees *out with uc_weights_free. */
uc_status uc_weights_read(double **out, size_t *count, const char *path, size_t rows,
                          const uc_context *context);
/* Reads rows x classes->count probabilities. CSV names the classes in its first line, in any order; a class
 * that it does not name has probability 0. NPY has the classes in the order of `classes`. Rows whose sum is
 * within 1e-3 of 1 are normalised. The caller frees *out with uc_weights_free. */
uc_status uc_soft_labels_read(double **out, const char *path, size_t rows, const uc_names *classes,
                              const uc_context *context);
void uc_weights_free(double *weights); /* NULL is fine */
/* Reads the files of weights and soft labels that the settings name, for the rows of all processes. Soft
 * labels replace the labels: y becomes the most probable class, the first of several. */
uc_status uc_dataset_attach(uc_dataset *data, const uc_read_settings *settings, const uc_context *context);
/* Whether some row has weight 0; a copy without such rows. */
bool uc_dataset_has_weightless(const uc_dataset *data);
uc_status uc_dataset_copy_weighted(uc_dataset *out, const uc_dataset *data, const uc_context *context);
/* Removes the rows of weight 0. A data set without such rows stays as it is. */
uc_status uc_dataset_drop_weightless(uc_dataset *data, const uc_context *context);
/* The sum of the weights over all processes; the number of rows if there are no weights. */
uc_status uc_dataset_total_weight(double *total, const uc_dataset *data, const uc_context *context);
/* Replaces soft labels by copies of each row: one for every class with a positive probability, weighted by
 * it. */
uc_status uc_dataset_harden(uc_dataset *out, const uc_dataset *data, const uc_context *context);
/* Fails if all labels are the same; for a table, the message says which column they were taken from. */
uc_status uc_dataset_check_classes(const uc_dataset *data);

/* ---- labels in a file of their own ---- */

typedef struct uc_labels {
    uc_names classes; /* in order of first appearance, or sorted when they come from a data file */
    uint32_t *y;      /* position in `classes`, or UC_NONE where the file has '?' */
    size_t count;
} uc_labels; /* zero-initialised is empty and may be freed */

/* Reads labels: one per line, or an NPY array of one dimension. Unless `known` is NULL, the file may also be
 * a data file; it is read as one if a line has a delimiter or colon and is not a name in `known`. *out is
 * untouched on failure. */
uc_status uc_labels_read(uc_labels *out, const char *path, const uc_names *known,
                         const uc_read_settings *settings, const uc_context *context);
void uc_labels_free(uc_labels *self);

/* ---- artificial problems of the papers ---- */

typedef struct uc_generator uc_generator;      /* has a name, a summary and options */
const uc_generator *uc_generator_at(size_t i); /* NULL past the end */
const uc_generator *uc_generator_find(const char *name);
const char *uc_generator_name(const uc_generator *self);
const char *uc_generator_summary(const uc_generator *self);
const uc_option *uc_generator_options(const uc_generator *self);
size_t uc_generator_settings_size(const uc_generator *self);

/* Generates `examples` training examples (0: as many as in the paper) and, unless `test` is NULL,
 * `test_examples` test examples of the same problem. `settings` is a struct of the generator's option
 * table. */
uc_status uc_generator_run(uc_dataset *train, uc_dataset *test, const uc_generator *generator,
                           const void *settings, size_t examples, size_t test_examples, uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif
