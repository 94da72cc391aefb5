/* Inside the reader: what the formats share. */
#ifndef UC_DATA_READER_H
#define UC_DATA_READER_H

#include "data/delimited.h"
#include "data/input.h"
#include "parallel/parallel.h"
#include "unconfuse/dataset.h"

typedef struct uc_data_format uc_data_format;

struct uc_reader {
    uc_input *input;
    uc_file_range range; /* of the file; to 0: all of it */
    uc_read_settings settings;
    uc_context context;
    const uc_data_format *format;
    void *state; /* the format's own */

    /* Rows read: those of the last block, or all of them. `rows.classes` and `rows.bags` stay empty. */
    uc_dataset rows;
    uc_names classes, bags;
    /* Labels that are the same number in other spellings: their class is that of the spelling. */
    uc_names numbers, spelled;
    uint32_t *number_class, *spelled_class;
    size_t row_capacity, value_capacity;
    bool sparse, has_labels, has_bags, has_weights; /* which arrays there are; set before the first rows */
    size_t total_rows;                              /* of all blocks */
    bool whole;                                     /* rows are collected, not handed out block by block */
    bool ended;
    uint64_t header;           /* a mark of the names that CSV columns have; 0: none */
    size_t label, bag, weight; /* the columns of a CSV file, 1, 2, ...; 0: none */
    bool quoted;               /* text: line breaks in quotes do not end a record */
    char delimiter;            /* of such text; 0: not known yet */
    bool not_numbers;          /* CSV: a feature was found that is not a number */
    bool as_table;             /* CSV: to be read by format_table.c */
    uc_table *table;           /* what the columns are; NULL: not known */
    const char *memory;        /* the bytes of the input; NULL: it is a file */
    size_t memory_length;
    bool has_ids;
    uc_field *ids; /* of the rows of the last block */
    size_t id_room;
    size_t unseen, extra; /* uc_reader_unseen, uc_reader_extra_columns */
    void *own;            /* of a first look: what it counts */
    double *weights;      /* of a file of their own, of all rows; NULL: none, or not read yet */
    size_t weight_count;
};

/* One way to write data down. */
struct uc_data_format {
    const char *name;
    uc_status (*begin)(uc_reader *self);
    /* Appends further rows to self->rows, perhaps none; sets self->ended when there are no more. */
    uc_status (*next)(uc_reader *self);
    void (*end)(uc_reader *self); /* frees self->state, which may be NULL */
    /* After `begin`: only the rows of self->range. NULL: it cannot, or `begin` has seen to it. */
    uc_status (*cut)(uc_reader *self);
};

extern const uc_data_format uc_format_table; /* CSV with columns of several types */
extern const uc_data_format uc_format_jsonl; /* the same of JSON lines */
extern const uc_data_format uc_format_libsvm, uc_format_csv, uc_format_npy, uc_format_ucd;

/* Room for `rows` rows and, when they are sparse, `entries` values in all; of the arrays that there are.
 * `exact`: that is all that will come. */
uc_status uc_reader_reserve(uc_reader *self, size_t rows, size_t entries, bool exact);
/* The arrays that there are, for no rows. */
uc_status uc_reader_reserve_none(uc_reader *self);
/* Gives back what the arrays do not use. */
void uc_reader_trim(uc_reader *self);

/* A reader without a format, for open.c. The input belongs to it, also when this fails. */
uc_status uc_reader_create(uc_reader **out, uc_input *input, const uc_file_range *range,
                           const uc_read_settings *settings, const uc_context *context);
uc_status uc_read_settings_check(const uc_read_settings *settings);
/* Refuses settings about columns where rows of that format have none that are named or numbered. */
uc_status uc_read_settings_fit(const uc_read_settings *settings, uc_format format, const char *name);
/* As if none of those had been given. */
void uc_read_settings_forget_columns(uc_read_settings *settings);
/* The class of a label, which is added when it is new. A number that another spelling of is known is that
 * class. */
uc_status uc_reader_add_class(uint32_t *index, uc_reader *self, const char *name, size_t length);
/* A class whose number was spelled in several ways gets the shortest spelling. */
uc_status uc_reader_settle_classes(uc_reader *self);
/* One block more, with at least one row unless the input has ended. */
uc_status uc_reader_pull(uc_reader *self);
/* Opens a reader for one format, without looking at the beginning. The input belongs to it, also when this
 * fails. */
uc_status uc_reader_open_as(uc_reader **out, uc_input *input, const uc_data_format *format,
                            const uc_read_settings *settings, const uc_context *context);
uc_status uc_dataset_read_range(uc_dataset *out, const uc_file_range *range, const uc_read_settings *settings,
                                const uc_context *context);

/* Column k of the soft labels becomes column renumber[k], a permutation. */
uc_status uc_renumber_soft(double *soft, size_t rows, const uint32_t *renumber, size_t classes);

#define UC_DATA_MAGIC "\x89UCDATA\n"
#define UC_DATA_VERSION 1

#endif
