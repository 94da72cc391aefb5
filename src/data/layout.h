/* Which column of a CSV file is what: the separator, the header, the columns of labels, bags and weights. */
#ifndef UC_DATA_LAYOUT_H
#define UC_DATA_LAYOUT_H

#include "data/text.h"

#define UC_NO_COLUMN SIZE_MAX

typedef struct uc_layout {
    char delimiter;
    size_t columns, features;
    size_t label, bag, weight; /* or UC_NO_COLUMN */
    size_t values_per_row;     /* at most, without words */
    char **names;              /* of the columns, all different; NULL: there is no header */
    /* JSON lines */
    bool json;
    uc_names keys; /* the names again, to be looked up */
    bool *dropped; /* columns that may have anything */
    bool *present; /* columns that the first lines have */
} uc_layout;

/* The row at hand has no label: the complaint, with the column's name where nobody has named it. */
void uc_layout_blame_label(uc_text_block *block, const uc_layout *self, const uc_read_settings *settings);
/* Frees a layout and what it has; for uc_text_set_layout. */
void uc_layout_free(void *layout);
bool uc_layout_is_feature(const uc_layout *self, size_t column);
/* Tells the reader which columns there are. */
void uc_layout_tell(const uc_layout *self, uc_reader *reader);
/* No column is called `wanted`: the sentence lists some that are there, after `where`. */
uc_status uc_refuse_name(const char *source, const char *wanted, const char *where, const uc_field *fields,
                         size_t count);
/* Whether a list with commas has the name. */
bool uc_is_listed(const char *list, const char *name);
/* The separator that the settings name; 0: it is to be found out. */
char uc_separator_of(const uc_read_settings *settings);
/* Whether a column of that name is the index that pandas and R write before the others, without a name. */
bool uc_is_index_name(const char *name);
/* Begins to read CSV text: finds the layout in its first line, which is skipped if it is a header. The layout
 * belongs to the reader. Features of a table may be of any type; else they are numbers. */
uc_status uc_layout_begin(uc_layout **out, uc_reader *reader, uc_text_parser *parser, bool is_table);

#endif
