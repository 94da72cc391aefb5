/* The layout of a CSV file: the separator, the header, and which columns hold labels, bags and weights. */
#ifndef UC_DATA_LAYOUT_H
#define UC_DATA_LAYOUT_H

#include "data/text.h"

#define UC_NO_COLUMN SIZE_MAX

typedef struct uc_layout {
    char delimiter;
    size_t columns, features;
    size_t label, bag, weight; /* or UC_NO_COLUMN */
    size_t values_per_row;     /* at most, not counting words */
    char **names;              /* of the columns, all different; NULL if there is no header */
    /* For JSON lines: */
    bool json;
    uc_names keys; /* the names again, for look-ups */
    bool *dropped; /* columns whose values may be anything */
    bool *present; /* columns that occur in the first lines */
} uc_layout;

/* Reports that the current row has no label. The message names the label column if it was only guessed. */
void uc_layout_blame_label(uc_text_block *block, const uc_layout *self, const uc_read_settings *settings);
/* Frees a layout and its contents; for uc_text_set_layout. */
void uc_layout_free(void *layout);
bool uc_layout_is_feature(const uc_layout *self, size_t column);
/* Passes the columns to the reader. */
void uc_layout_tell(const uc_layout *self, uc_reader *reader);
/* Fails because no column is called `wanted`; the message lists some existing columns, after `where`. */
uc_status uc_refuse_name(const char *source, const char *wanted, const char *where, const uc_field *fields,
                         size_t count);
/* Whether a comma-separated list contains the name. */
bool uc_is_listed(const char *list, const char *name);
/* The separator set by the user; 0 if it is to be detected. */
char uc_separator_of(const uc_read_settings *settings);
/* Whether a column of that name is the nameless index that pandas and R write before the other columns. */
bool uc_is_index_name(const char *name);
/* Begins to read CSV text: finds the layout from its first line, which is skipped if it is a header. The
 * layout belongs to the reader. Features of a table may be of any type; otherwise they must be numbers. */
uc_status uc_layout_begin(uc_layout **out, uc_reader *reader, uc_text_parser *parser, bool is_table);

#endif
