/* Internals of the reader, shared by the formats. */
#ifndef UC_DATA_READER_H
#define UC_DATA_READER_H

#include "data/delimited.h"
#include "data/input.h"
#include "parallel/parallel.h"
#include "unconfuse/dataset.h"

typedef struct uc_data_format uc_data_format;

struct uc_reader {
    uc_input *input;
    uc_file_range range; /* of the file; `to` 0: all of it */
    uc_read_settings settings;
    uc_context context;
    const uc_data_format *format;
    void *state; /* the format's own data */

    /* Rows read: those of the last block, or all of them. `rows.classes` and `rows.bags` stay empty. */
    uc_dataset rows;
    uc_names classes, bags;
    /* Other spellings of labels that are numbers: each belongs to the class of an earlier spelling. */
    uc_names numbers, spelled;
    uint32_t *number_class, *spelled_class;
    size_t row_capacity, value_capacity;
    bool sparse, has_labels, has_bags, has_weights; /* which arrays exist; set before the first rows */
    size_t total_rows;                              /* over all blocks */
    bool whole;                                     /* rows are collected, not returned block by block */
    bool ended;
    uint64_t header;           /* a hash of the names of the CSV columns; 0: none */
    size_t label, bag, weight; /* column numbers in a CSV file, from 1; 0: none */
    bool quoted;               /* text: line breaks in quotes do not end a record */
    char delimiter;            /* of such text; 0: not known yet */
    bool not_numbers;          /* CSV: a feature was found that is not a number */
    bool as_table;             /* CSV: read by format_table.c */
    uc_table *table;           /* describes the columns; NULL: not known */
    const char *memory;        /* the bytes of the input; NULL if it is a file */
    size_t memory_length;
    bool has_ids;
    uc_field *ids; /* of the rows of the last block */
    size_t id_room;
    size_t unseen, extra; /* see uc_reader_unseen, uc_reader_extra_columns */
    void *own;            /* of a first look: its counts */
    double *weights;      /* from a separate file, for all rows; NULL: none, or not read yet */
    size_t weight_count;
    uc_row_check check; /* of the rows of the last block; no function: they have been checked */
};

/* A file format. */
struct uc_data_format {
    const char *name;
    uc_status (*begin)(uc_reader *self);
    /* Appends further rows to self->rows, perhaps none; sets self->ended if there are no more. */
    uc_status (*next)(uc_reader *self);
    void (*end)(uc_reader *self); /* frees self->state, which may be NULL */
    /* Called after `begin`: restricts reading to the rows of self->range. NULL if the format cannot do that,
     * or if `begin` has done it. */
    uc_status (*cut)(uc_reader *self);
};

extern const uc_data_format uc_format_table; /* CSV with columns of several types */
extern const uc_data_format uc_format_jsonl; /* the same for JSON lines */
extern const uc_data_format uc_format_libsvm, uc_format_csv, uc_format_npy, uc_format_ucd;

/* Makes room for `rows` rows and, if they are sparse, `entries` values in total, in the arrays that exist.
 * `exact`: no more will follow. */
uc_status uc_reader_reserve(uc_reader *self, size_t rows, size_t entries, bool exact);
/* Creates the arrays that exist, with no rows. */
uc_status uc_reader_reserve_none(uc_reader *self);
/* Releases unused memory of the arrays. */
void uc_reader_trim(uc_reader *self);

/* A reader without a format, for open.c. It takes ownership of the input, even on failure. */
uc_status uc_reader_create(uc_reader **out, uc_input *input, const uc_file_range *range,
                           const uc_read_settings *settings, const uc_context *context);
uc_status uc_read_settings_check(const uc_read_settings *settings);
/* Rejects settings about columns if the format's columns have neither names nor numbers. */
uc_status uc_read_settings_fit(const uc_read_settings *settings, uc_format format, const char *name);
/* Resets those settings to unset. */
void uc_read_settings_forget_columns(uc_read_settings *settings);
/* The class of a label, which is added if it is new. A number gets the class of any known spelling of it. */
uc_status uc_reader_add_class(uint32_t *index, uc_reader *self, const char *name, size_t length);
/* Gives each class whose number was spelled in several ways the shortest spelling. */
uc_status uc_reader_settle_classes(uc_reader *self);
/* Reads one more block, with at least one row unless the input has ended. */
uc_status uc_reader_pull(uc_reader *self);
/* Opens a reader for one format, without looking at the beginning of the input. It takes ownership of the
 * input, even on failure. */
uc_status uc_reader_open_as(uc_reader **out, uc_input *input, const uc_data_format *format,
                            const uc_read_settings *settings, const uc_context *context);
uc_status uc_dataset_read_range(uc_dataset *out, const uc_file_range *range, const uc_read_settings *settings,
                                const uc_context *context);

/* Column k of the soft labels becomes column renumber[k]; renumber is a permutation. */
uc_status uc_renumber_soft(double *soft, size_t rows, const uint32_t *renumber, size_t classes);

#define UC_DATA_MAGIC "\x89UCDATA\n"
#define UC_DATA_VERSION 1

#endif
