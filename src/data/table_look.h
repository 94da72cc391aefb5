/* The first look at a table: statistics of every column, collected before its type is decided. */
#ifndef UC_DATA_TABLE_LOOK_H
#define UC_DATA_TABLE_LOOK_H

#include "data/json_lines.h"
#include "data/table.h"

#define UC_EXACT_VALUES ((size_t)4096)   /* distinct values are counted exactly up to this number */
#define UC_SAMPLED_VALUES ((size_t)1024) /* beyond it, at most this many of them are kept */
#define UC_PROBLEMS ((size_t)20)

/* ---- distinct values ----
 * A set of hashes ("marks") with counts. When it is full, it keeps only marks whose lowest `level` bits are
 * 0, as in Gibbons' distinct sampling (VLDB 2001). The set then holds every 2^level-th value, whatever the
 * order of the rows, and the sets of parts can be merged. */
typedef struct uc_value_entry {
    uint64_t mark;
    uint64_t count; /* 0: an empty slot */
    size_t text;    /* start of the value in `texts`, plus 1; 0: it was not kept */
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
 * A list of what is to be added to a set. A value that recurs soon is counted in its slot among the recent
 * values, and is listed when another value takes the slot. Blocks are so small that clearing and merging a
 * set for each of them would cost more than it saves. */
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
/* Empties the log; takes over the set's level and whether texts are wanted. */
void uc_value_log_clear(uc_value_log *self, const uc_value_set *set);
uc_status uc_value_log_add(uc_value_log *self, uint64_t mark, const char *text, size_t length);
/* Whether a set of that level keeps the value. */
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
    size_t same_unit; /* values that consist of a number directly followed by `unit` */
    char unit[8];
    size_t otherwise; /* values that are numbers if point and comma swap their roles */
    double low, high; /* of the numbers */
    bool not_boolean, dates_with_time, spaced;
    uint64_t form;   /* mark of the values that are not numbers, ignoring which digits they have */
    bool other_form; /* some value has another form, or contains several numbers */
    unsigned boolean_words, not_dates; /* bits of uc_value_boolean; forms that some value is not */
    size_t dates;         /* values that are dates of some form; those counted while half of a block's are */
    size_t not_date_line; /* of the first value that is no date; 0: none */
    char not_date[UC_QUOTE_SIZE];
    size_t other_date_line; /* of the first date without a form in common with all earlier ones; 0: none */
    char other_date[UC_QUOTE_SIZE];
    double first_day[UC_DATE_FORMS], last_day[UC_DATE_FORMS];
    size_t not_finite; /* values such as inf and nan */
    size_t odd_line;   /* of the first value that is not finite, else not a number; 0: none */
    char odd[UC_QUOTE_SIZE];
    const char *odd_complaint;
    uc_value_set set; /* over all blocks */
} uc_column_look;

/* Problems that concern no single column: a ragged row, an unclosed quote, a control character. */
#define UC_RAGGED SIZE_MAX
#define UC_UNCLOSED (SIZE_MAX - 1)
#define UC_CONTROL (SIZE_MAX - 2)

typedef struct uc_problem {
    size_t column; /* or one of the constants above */
    size_t line, count;
    char sentence[200];
} uc_problem;

typedef struct uc_look {
    size_t rows;
    uc_column_look *columns;
    uc_value_log *logs; /* of the columns of one block; NULL if the counts are those of all blocks */
    size_t column_count;
    uc_field *fields; /* of a line of JSON */
    uc_json_row json;
    uc_problem problems[UC_PROBLEMS];
    size_t problem_count;
} uc_look;

/* Adds a problem, unless one of the same kind and column has been reported already. */
void uc_look_blame(uc_look *self, size_t column, size_t line, const char *format, ...) UC_PRINTF(4, 5);

/* Decides the type of every column from the counts (table_types.c). `layout->names` may be NULL. */
struct uc_layout;
uc_status uc_table_decide(uc_table **out, uc_look *look, const struct uc_layout *layout, const char *source,
                          const uc_read_settings *settings, const uc_context *context);

#endif
