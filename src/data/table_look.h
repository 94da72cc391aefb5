/* The first look at a table: what is counted of every column, before its type is decided. */
#ifndef UC_DATA_TABLE_LOOK_H
#define UC_DATA_TABLE_LOOK_H

#include "data/json_lines.h"
#include "data/table.h"

#define UC_EXACT_VALUES ((size_t)4096)   /* values that differ: counted exactly up to here */
#define UC_SAMPLED_VALUES ((size_t)1024) /* more than those: as many of them are kept */
#define UC_PROBLEMS ((size_t)20)

/* ---- values that differ ----
 * A set of marks with counts. When it is full, only marks whose lowest `level` bits are 0 stay, as in
 * Gibbons' distinct sampling (VLDB 2001): the set holds every 2^level-th value, whatever the order of the
 * rows, and sets of parts can be merged. */
typedef struct uc_value_entry {
    uint64_t mark;
    uint64_t count; /* 0: an empty slot */
    size_t text;    /* where the value begins in `texts`, plus 1; 0: it was not kept */
    size_t length;
} uc_value_entry;
typedef struct uc_value_set {
    uc_value_entry *slots;
    size_t room, used;
    unsigned level;
    char *texts; /* of the values, as long as there are at most `most_texts` */
    size_t text_used, text_room, most_texts;
    bool without_texts;
} uc_value_set;
uc_status uc_value_set_add(uc_value_set *self, uint64_t mark, uint64_t count, const char *text,
                           size_t length);
void uc_value_set_free(uc_value_set *self);

/* ---- the values of one block ----
 * What is to be added to a set: a value that comes back soon is counted in its place among the recent ones,
 * and listed when another takes it. A block is so small that a set of its own would cost more to clear and to
 * merge than it saves. */
typedef struct uc_value_log {
    uc_value_entry *recent;
    size_t recent_count; /* a power of 2 */
    uc_value_entry *entries;
    size_t used, room;
    unsigned level; /* only marks of this level are kept */
    bool with_texts;
    char *texts;
    size_t text_used, text_room;
} uc_value_log; /* zero-initialised may be freed */
uc_status uc_value_log_create(uc_value_log *self, size_t recent_count);
/* Nothing is kept; the level and whether texts are wanted are those of the set. */
void uc_value_log_clear(uc_value_log *self, const uc_value_set *set);
uc_status uc_value_log_add(uc_value_log *self, uint64_t mark, const char *text, size_t length);
/* Whether a set of that level has the value. */
static inline bool uc_mark_is_kept(uint64_t mark, unsigned level)
{
    return (mark & ((UINT64_C(1) << level) - 1)) == 0;
}
/* Adds all values to the set. */
uc_status uc_value_log_flush(uc_value_log *self, uc_value_set *set);
void uc_value_log_free(uc_value_log *self);

/* ---- a column ---- */

typedef struct uc_column_look {
    size_t values, missing, numbers;
    size_t united;    /* numbers with a unit after a blank: 5 kg */
    size_t same_unit; /* values that are a number and, without a blank, `unit` */
    char unit[8];
    size_t otherwise; /* numbers if the decimal point were a comma, or the other way round */
    double low, high; /* of the numbers */
    bool not_boolean, dates_with_time, spaced;
    uint64_t form;                     /* a mark of the first value that is no number, its digits left out */
    bool other_form;                   /* some value differs from it in more than one number */
    unsigned boolean_words, not_dates; /* bits of uc_value_boolean; forms that some value is not */
    size_t dates;                      /* values that are dates of some form, while all are */
    size_t other_date_line; /* of the first date that has no form in common with all before it; 0: none */
    char other_date[UC_QUOTE_SIZE];
    double first_day[UC_DATE_FORMS], last_day[UC_DATE_FORMS];
    size_t not_finite; /* values such as inf and nan */
    size_t odd_line;   /* of the first value that is not a number, or of one that is not finite; 0: none */
    char odd[UC_QUOTE_SIZE];
    const char *odd_complaint;
    uc_value_set set; /* of all blocks */
} uc_column_look;

/* Problems of no column: a ragged row, a quote, a control character. */
#define UC_RAGGED SIZE_MAX
#define UC_UNCLOSED (SIZE_MAX - 1)
#define UC_CONTROL (SIZE_MAX - 2)

typedef struct uc_problem {
    size_t column; /* or one of the above */
    size_t line, count;
    char sentence[200];
} uc_problem;

typedef struct uc_look {
    size_t rows;
    uc_column_look *columns;
    uc_value_log *logs; /* of the columns of one block; NULL when the counts are those of all */
    size_t column_count;
    uc_field *fields; /* of a line of JSON */
    uc_json_row json;
    uc_problem problems[UC_PROBLEMS];
    size_t problem_count;
} uc_look;

/* Another problem, unless there is one of the same kind and column already. */
void uc_look_blame(uc_look *self, size_t column, size_t line, const char *format, ...) UC_PRINTF(4, 5);

/* Decides what every column is, from what was counted (table_types.c). `names` may be NULL. */
struct uc_layout;
uc_status uc_table_decide(uc_table **out, uc_look *look, const struct uc_layout *layout, const char *source,
                          const uc_read_settings *settings, const uc_context *context);

#endif
