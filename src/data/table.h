/* Internals of a table: its columns, how rows of a file become rows of features, and what the encoder has
 * learned.
 *
 * The features of a table, in this order:
 *
 *   columns   in the order of their names: a number or boolean has one feature, a date four or five, a
 *             category one per value and one for all others; then one that is 1 where the value is missing,
 *             if there were such rows
 *   words     of all columns of text, which are hashed with the column's name to UC_TEXT_FEATURES slots;
 *             the encoder leaves out slots that fewer than two training rows have
 *
 * Reading gives NaN for a missing number and 1 + log(count) for a word. The encoder (encode.c) replaces NaN
 * by the median, multiplies words by idf, and standardises the numbers of sparse rows: every stored value
 * becomes ((NaN ? fill : value) - shift) * factor. */
#ifndef UC_DATA_TABLE_H
#define UC_DATA_TABLE_H

#include <stdatomic.h>

#include "data/reader.h"
#include "data/value.h"
#include "unconfuse/table.h"

#define UC_TEXT_FEATURES ((size_t)1 << 18)
#define UC_DENSE_FEATURES ((size_t)256) /* rows with more features are sparse */
#define UC_LOOK_ROWS ((size_t)10000)    /* looked at, if the input is standard input */
#define UC_MAX_CATEGORIES 100
#define UC_SELDOM 1000 /* a value that fewer than 1 in this many rows have counts as `other` */

typedef struct uc_table_column {
    char *name;
    uc_column_type type;
    bool whole;             /* text without spaces: each value is one word */
    bool has_missing;       /* there is a feature for missing values */
    bool has_hour;          /* date */
    unsigned form;          /* date: uc_date_form; boolean: the pair of words */
    uc_names values;        /* category: values with a feature of their own */
    size_t first, features; /* unless it is text */
    uint64_t seed;          /* text: for the hashes of its words */
    /* Findings of the first look. */
    size_t missing, distinct;
    bool distinct_is_exact;
    double low, high;
    char *top[UC_TOP_VALUES];
    size_t top_rows[UC_TOP_VALUES], top_count;
    char *why;
} uc_table_column;

struct uc_table {
    atomic_int owners;
    bool named;   /* columns have names: the files have a header */
    bool plain;   /* only numbers, read as they are */
    bool learned; /* `fill` and `factor` are set, if there is anything to learn */
    bool sparse;
    char decimal;
    size_t rows;
    uc_table_column *columns;
    size_t column_count;
    uc_names names;              /* of the columns, in their order; for uc_table_find */
    uint32_t *column_of;         /* text_first entries: the column that a feature belongs to */
    size_t features, text_first; /* all features; the first word, that is, the number of other features */
    size_t number_count;         /* number of numeric columns */
    uc_missing missing;
    char *missing_list; /* NULL: the default list */
    uint32_t *words;    /* learned: the slots that training rows use, ascending; features - text_first */
    uint32_t *word_of;  /* learned: the feature of each slot, or UC_NONE */
    double *fill;       /* text_first entries: the replacement for a missing number */
    double *shift;      /* text_first entries: subtracted from a number; NULL: 0 */
    double *factor;     /* features entries: multiplied with a value; NULL: 1 */
};

uc_status uc_table_create(uc_table **out, size_t columns);
/* Prepares uc_table_find, once all columns have their names. Fails if two names are the same. */
uc_status uc_table_index_names(uc_table *self);
/* The columns in the order in which a model file lists them and features are laid out: by name. Columns
 * without names, and tables of numbers, keep the order of the file. `order` has room for all columns. */
void uc_table_order(const uc_table_column **order, const uc_table *self);
/* *out is an independent copy, without the findings of the first look. */
uc_status uc_table_copy(uc_table **out, const uc_table *self);
/* Sets where the features of each column begin, according to its type, and whether rows are sparse. */
uc_status uc_table_lay_out(uc_table *self);
/* Whether sparse rows store the feature in every row, so that it can be centred. This holds for parts of
 * dates, and for numbers unless rows are sparse because there are so many of them. */
bool uc_table_centres(const uc_table *self, size_t feature);
/* The column of that name; SIZE_MAX if there is none. */
size_t uc_table_find(const uc_table *self, const char *name, size_t length);
bool uc_column_is_feature(uc_column_type type);
bool uc_column_type_read(uc_column_type *out, const char *text, size_t length);

/* ---- the first look (table_look.c, table_types.c) ---- */

/* A source of bytes that can be read more than once. */
typedef struct uc_look_source {
    const char *const *paths; /* NULL: bytes in memory */
    size_t count;
    const char *bytes;
    size_t length;
    const char *name;
    bool whole; /* the bytes are all of the input; otherwise, rows after UC_LOOK_ROWS are ignored */
} uc_look_source;
uc_status uc_table_look_at(uc_table **out, const uc_look_source *source, const uc_read_settings *settings,
                           const uc_context *context);
/* Fails if no column of the table is a feature: such a table can be shown but not read. */
uc_status uc_table_check_features(const uc_table *self, const char *source);
/* Whether rows like these need a first look, because not all features are numbers or an option asks for it.
 * The bytes are the beginning of a CSV file. */
uc_status uc_table_is_needed(bool *out, const char *bytes, size_t length, const uc_read_settings *settings);
/* A table of numbers with the names of `layout`, which also says which columns are not features. */
struct uc_layout;
uc_status uc_table_of_numbers(uc_table **out, const struct uc_layout *layout);

/* ---- the encoder (encode.c) ---- */

/* Learns from a data set that was read with a table that has not learned anything yet, and encodes the data
 * set. With several processes, each has some of the rows, and all learn the same. */
uc_status uc_encode_dataset(uc_dataset *data, const uc_context *context);
/* For an independent part of an encoded data set, such as a fold: learns again, from `train`, what the table
 * learns from rows, and encodes both parts accordingly. They get a table of their own with the same features:
 * a value that is rare among the training rows becomes `other`, and a word that fewer than two of them have
 * becomes 0. Rows without a table, or with a table of numbers only, stay as they are. */
uc_status uc_encode_again(uc_dataset *train, uc_dataset *held_out, const uc_context *context);
/* Sets the table's words to `count` ascending slots. */
uc_status uc_table_take_words(uc_table *self, const uint32_t *words, size_t count);
/* Learns from the rows of a file, block by block. */
uc_status uc_encoder_learn(uc_table *table, const uc_look_source *source, const uc_read_settings *settings,
                           const uc_context *context);

#endif
