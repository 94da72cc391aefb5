/* Converts the answers of annotation tools to the table that checked_file.c reads (checked_json.c). */
#ifndef UC_CHECKED_JSON_H
#define UC_CHECKED_JSON_H

#include "data/delimited.h"

/* Whether the text begins like JSON. */
bool uc_checked_is_json(const uc_lines *lines);
/* Replaces the text with the table that `check` writes, one line per task or record; `name` is the name of
 * the file, for messages. */
uc_status uc_checked_convert(uc_lines *lines, const char *name);

#endif
