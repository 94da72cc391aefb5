/* Journal rows for users and programs: JSON, CSV and DSJSON. */
#ifndef SERVICE_EVENTS_H
#define SERVICE_EVENTS_H

#include "service/journal.h"
#include "service/text.h"
#include <jansson.h>

/* The names of the classes, as defined by the rows so far. */
typedef struct event_names {
    json_t *classes; /* NULL: no definition yet */
} event_names;
void event_names_see(event_names *self, const journal_row *row);
void event_names_free(event_names *self);
const char *event_class(const event_names *self, uint32_t class); /* NULL: none */

/* Whether a row that was passed to event_names_see has everything that its kind must have. */
bool event_is_whole(const event_names *self, const journal_row *row);

/* A row as a JSON object: sequence, time, kind, and the members of its kind. */
json_t *event_json(const event_names *names, const journal_row *row);
/* Parses such an object, whose texts the row borrows; `classes` are those defined so far, NULL: none. 503: it
 * is not a row. */
typedef struct event_parsed {
    journal_row row;
    char *features, *text; /* owned; the row points to them */
} event_parsed;
bool event_parse(event_parsed *out, const json_t *json, const uc_names *classes, problem *why);
void event_parsed_free(event_parsed *self);
/* Formats a time as 2026-11-18T04:20:00.123Z; `out` has 32 bytes. */
void event_time(char *out, int64_t milliseconds);

#endif
