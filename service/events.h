/* Journal rows for people and programs: JSON, CSV and DSJSON. */
#ifndef SERVICE_EVENTS_H
#define SERVICE_EVENTS_H

#include "service/journal.h"
#include "service/text.h"
#include <jansson.h>

/* The names of classes as the rows so far define them. */
typedef struct event_names {
    json_t *classes; /* NULL: no definition came yet */
} event_names;
void event_names_see(event_names *self, const journal_row *row);
void event_names_free(event_names *self);
const char *event_class(const event_names *self, uint32_t class); /* NULL: none */

/* Whether a row, once seen, has what its kind must have. */
bool event_is_whole(const event_names *self, const journal_row *row);

/* One row as one object: sequence, time, kind, and what the kind has. */
json_t *event_json(const event_names *names, const journal_row *row);
/* Back from that object, whose texts the row borrows; `classes` are those so far, NULL: none. 503: it is no
 * row. */
typedef struct event_parsed {
    journal_row row;
    char *features, *text; /* owned, of the row */
} event_parsed;
bool event_parse(event_parsed *out, const json_t *json, const uc_names *classes, problem *why);
void event_parsed_free(event_parsed *self);
/* 2026-11-18T04:20:00.123Z; `out` has 32 bytes. */
void event_time(char *out, int64_t milliseconds);

#endif
