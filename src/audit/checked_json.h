/* Answers of annotation tools as the table that checked_file.c reads (checked_json.c). */
#ifndef UC_CHECKED_JSON_H
#define UC_CHECKED_JSON_H

#include "data/delimited.h"

/* Whether the text begins as JSON does. */
bool uc_checked_is_json(const uc_lines *lines);
/* Puts the table that `check` writes in place of the text, a line for every task or record; `name` is the
 * file's, for messages. */
uc_status uc_checked_convert(uc_lines *lines, const char *name);

#endif
