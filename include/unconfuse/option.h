/* Option tables: the one place where a setting's name, default, bounds and help are written.
 *
 * A table describes the fields of a plain settings struct. The command line, its help and manual page, shell
 * completion, the settings in a model file and the language bindings are all made from it. A table ends with
 * an entry whose name is NULL. */
#ifndef UNCONFUSE_OPTION_H
#define UNCONFUSE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unconfuse/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum uc_option_type {
    UC_OPTION_FLAG,   /* int: 1 on, 0 off, UC_AUTO_FLAG; typed as --name or --no-name */
    UC_OPTION_COUNT,  /* uint64_t, or UC_AUTO_COUNT */
    UC_OPTION_REAL,   /* double, or UC_AUTO_REAL */
    UC_OPTION_CHOICE, /* int: the position of the word in `choices` */
    UC_OPTION_TEXT,   /* const char *, borrowed from the caller; NULL when not given */
    UC_OPTION_BYTES,  /* uint64_t; typed as 512M, 2G, ... */
    UC_OPTION_PAIR,   /* double[2], both within the bounds; typed as 0.1,0.2 */
} uc_option_type;

#define UC_AUTO_FLAG (-1)
#define UC_AUTO_COUNT UINT64_MAX
#define UC_AUTO_REAL ((double)NAN) /* include <math.h>; test with isnan */

typedef struct uc_option {
    const char *name; /* without dashes */
    char letter;      /* short form; 0: none */
    uc_option_type type;
    bool automatic;       /* the word `auto` is accepted too */
    bool above_low;       /* `low` itself is not allowed */
    size_t offset;        /* of the field in its settings struct */
    const char *standard; /* the default, as a user would type it; "on"/"off" for flags; NULL for text */
    double low, high;     /* inclusive bounds of a count or real */
    const char *choices;  /* "none|range|standard" */
    const char *zero;     /* a word for the value 0 of a real, whatever the bounds: "median"; NULL: none */
    const char *unknown;  /* a word for a pair of NaN, such as "estimate"; NULL: none */
    const char *argument; /* what the help calls the value; NULL: made from the type */
    const char *help;     /* one line, for uc_message_render; front ends append the default */
} uc_option;

/* Sets every field of the table to its default. */
void uc_options_defaults(const uc_option *table, void *settings);
/* The entry with that name; NULL if there is none. */
const uc_option *uc_options_find(const uc_option *table, const char *name);
/* Parses `value` as a user types it and stores it. Returns UC_ERR_OPTION with a message that names the
 * option, the value and the bounds. Text is stored as the pointer given. */
uc_status uc_option_set(const uc_option *option, void *settings, const char *value);
/* Checks a settings struct that was filled in by hand against the table's bounds. */
uc_status uc_options_check(const uc_option *table, const void *settings);
/* Writes the value as a user would type it; always zero-terminated. Returns its length. */
size_t uc_option_text(const uc_option *option, const void *settings, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
