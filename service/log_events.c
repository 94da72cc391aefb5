/* Reads logged events from a directory or a file: DSJSON lines begin with a brace, everything else is CSV. */
#define _GNU_SOURCE
#include "service/log_events.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/memory.h"
#include "service/engine.h"
#include "service/events.h"
#include "service/text.h"

typedef struct reading {
    const log_source *from;
    logged_fn *visit;
    void *user;
    uint64_t unanswered;
    bool stopped; /* by visit */
    problem *why;
    journal *journal;
    int64_t model;
    event_names names;
} reading;

#define LEAST_PROBABILITY 1e-9 /* smaller ones give weights that outweigh all others */

static bool check_probability(const reading *self, unsigned long long line, double probability)
{
    if (probability >= LEAST_PROBABILITY && probability <= 1.0)
        return true;
    return problem_set(self->why, 400, "%s:%llu: probability %g is not from %g to 1", self->from->path, line,
                       probability, LEAST_PROBABILITY);
}

static bool hand_over(reading *self, const logged *event)
{
    self->stopped = !self->visit(event, self->user);
    return !self->stopped;
}

/* Skips a byte order mark. */
static char *after_mark(char *line)
{
    static const char mark[] = "\xef\xbb\xbf";
    return strncmp(line, mark, sizeof mark - 1) == 0 ? line + sizeof mark - 1 : line;
}

/* ---- a journal ---- */

typedef struct given_answer {
    const event_names *names;
    int answer;
    uint32_t label;
    int64_t damaged; /* the row of an invalid answer; 0: none */
} given_answer;

static bool see_answer(const journal_row *row, void *user)
{
    given_answer *out = user;
    out->answer = row->kind == JOURNAL_EXPIRY ? JOURNAL_NO_ANSWER : row->answer;
    out->label = row->label;
    out->damaged = event_is_whole(out->names, row) ? 0 : row->sequence;
    return true;
}

static bool refuse_row(const reading *self, int64_t sequence)
{
    return problem_set(self->why, 503, "row %lld of the journal is damaged", (long long)sequence);
}

static bool read_row(const journal_row *row, void *user)
{
    reading *self = user;
    given_answer found = {.names = &self->names, .answer = JOURNAL_NO_ANSWER, .label = UC_NONE};
    logged event = {.probability = row->probability};
    event_names_see(&self->names, row);
    if (!event_is_whole(&self->names, row))
        return refuse_row(self, row->sequence);
    if (row->kind != JOURNAL_PROPOSAL)
        return true;
    if (!journal_find_answer(self->journal, self->model, row->sequence, see_answer, &found, self->why))
        return false;
    if (found.damaged)
        return refuse_row(self, found.damaged);
    self->unanswered += found.answer == JOURNAL_NO_ANSWER;
    if (found.answer == JOURNAL_NO_ANSWER)
        return true;
    event.class = event_class(&self->names, row->proposed);
    event.right = found.answer == JOURNAL_RIGHT;
    event.label = found.label == UC_NONE ? NULL : event_class(&self->names, found.label);
    event.classes = json_array_size(self->names.classes);
    event.other = event.classes == 2 ? event_class(&self->names, 1 - row->proposed) : NULL;
    if (!features_parse(&event.given, row->features, row->features_size))
        return refuse_row(self, row->sequence);
    const bool go_on = check_probability(self, (unsigned long long)row->sequence, event.probability) &&
                       hand_over(self, &event);
    features_free(&event.given);
    return go_on;
}

static bool read_journal(reading *self)
{
    const log_source *from = self->from;
    bool read = directory_journal(&self->journal, from->path, self->why);
    if (!from->model && !self->journal)
        return problem_set(self->why, 400, "%s: say which model with %s NAME", from->path, from->option);
    read = read && directory_model(&self->model, self->journal, from->model, self->why);
    if (!read && !from->model)
        (void)problem_set(self->why, 400, "%s: say which model with %s NAME; %s", from->path, from->option,
                          self->why->detail);
    read = read && journal_each(self->journal, self->model, 0, INT64_MAX, read_row, self, self->why);
    journal_close(self->journal);
    event_names_free(&self->names);
    return read;
}

/* ---- DSJSON ---- */

/* Collects the features of a context: ours are under "features", namespaces of other programs are
 * flattened. */
static void flatten(json_t *out, const char *prefix, const json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        char *name = app_text("%s%s", prefix, key), *deeper = app_text("%s.", name);
        if (json_is_object(value))
            flatten(out, deeper, value);
        else if (key[0] != '_' && (json_is_number(value) || json_is_string(value) || json_is_boolean(value)))
            (void)json_object_set(out, name, value);
        free(name);
        free(deeper);
    }
}

static bool read_context(features *out, const json_t *context, const char *at, problem *why)
{
    const json_t *ours = json_object_get(context, "features");
    const features_kind kind = features_named_kind(json_object_get(context, "_features_kind"), ours);
    if (ours)
        return features_read_as(out, ours, kind, at, why);
    json_t *flat = json_object();
    flatten(flat, "", context);
    features lent;
    bool read = features_read(&lent, flat, at, why);
    if (read) { /* names and texts must outlive the JSON */
        size_t size;
        char *bytes = features_bytes(&lent, &size);
        read = features_parse(out, bytes, size);
        out->texts = bytes;
        features_free(&lent);
    }
    json_decref(flat);
    return read;
}

/* The position of the chosen action, from 0; -1: there is no such action. */
static json_int_t find_chosen(const json_t *json, const json_t *actions)
{
    const json_t *index = json_object_get(json, "_labelIndex");
    const json_int_t number = json_integer_value(json_array_get(json_object_get(json, "a"), 0)); /* from 1 */
    const json_int_t count = actions ? (json_int_t)json_array_size(actions) : INT32_MAX;
    json_int_t chosen = -1;
    if (json_is_integer(index))
        chosen = json_integer_value(index);
    else if (number > 0)
        chosen = number - 1;
    return chosen >= 0 && chosen < count ? chosen : -1;
}

/* The name of an action, or its number from 1, which is written to the 32 bytes at `number`. */
static const char *name_action(char *number, const json_t *actions, json_int_t place)
{
    const json_t *action = json_array_get(actions, (size_t)place);
    const char *name = json_string_value(json_object_get(json_object_get(action, "b_"), "class"));
    (void)snprintf(number, 32, "%lld", (long long)place + 1);
    return name ? name : number;
}

static bool read_dsjson(reading *self, const char *line, unsigned long long number)
{
    json_t *json = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    const json_t *cost = json_object_get(json, "_label_cost"), *context = json_object_get(json, "c");
    const json_t *odds = json_object_get(json, "_label_probability");
    const json_t *actions = json_object_get(context, "_multi");
    const json_int_t chosen = find_chosen(json, actions);
    char at[64], numbers[2][32];
    bool go_on = true;
    (void)snprintf(at, sizeof at, "line %llu", number);
    if (json_is_string(json_object_get(json, "features_kind")))
        go_on = problem_set(self->why, 400,
                            "%s:%llu: an event of journal --format jsonl, which is not read: write it with "
                            "--format csv or dsjson",
                            self->from->path, number);
    else if (!json || !context)
        go_on = problem_set(self->why, 400, "%s:%llu: not an event of DSJSON", self->from->path, number);
    else if (!json_is_number(cost))
        self->unanswered++;
    else if (chosen < 0)
        go_on = problem_set(self->why, 400, "%s:%llu: the action that was chosen is not one of the event's",
                            self->from->path, number);
    else {
        logged event = {.class = name_action(numbers[0], actions, chosen),
                        .probability =
                            json_number_value(odds ? odds : json_array_get(json_object_get(json, "p"), 0)),
                        .right = -json_number_value(cost) >= 0.5,
                        .classes = json_array_size(actions)};
        if (event.classes == 2)
            event.other = name_action(numbers[1], actions, 1 - chosen);
        go_on = check_probability(self, number, event.probability) &&
                read_context(&event.given, context, at, self->why);
        go_on = go_on && hand_over(self, &event);
        features_free(&event.given);
    }
    json_decref(json);
    return go_on;
}

/* ---- CSV ---- */

typedef struct table {
    char **names;
    size_t count;
    size_t id, class, probability, right; /* positions; SIZE_MAX: none */
    bool *is_text;                        /* some field is neither empty nor a number */
    bool plain;                           /* all features are numbers and none is missing: an array */
    features_kind kind; /* of all rows, including those in which only some fields are given */
} table;

/* Reads records, which are lines, continued while a quote is open. */
typedef struct records {
    const reading *from;
    FILE *file;
    char *line; /* of getline */
    size_t room;
    text record;                      /* the current one */
    unsigned long long number, lines; /* the line where it begins, and the number of lines read */
    bool failed;
} records;

typedef enum place { BEGINS, PLAIN, QUOTED, QUOTE_IN_QUOTES } place; /* in a field */

/* The state at the end of the text, by the same rules as in split. */
static place follow_quotes(place from, const char *line)
{
    for (; *line; line++) {
        if (from == QUOTED)
            from = *line == '"' ? QUOTE_IN_QUOTES : QUOTED;
        else if (*line == '"' && from != PLAIN)
            from = QUOTED;
        else
            from = *line == ',' ? BEGINS : PLAIN;
    }
    return from;
}

/* Reads the next record; false: there is none, or `failed`. */
static bool next_record(records *self)
{
    place at = BEGINS;
    ssize_t length = 0;
    self->record.size = 0;
    self->number = self->lines + 1;
    do {
        length = getline(&self->line, &self->room, self->file);
        if (length < 0)
            break;
        const char *line = self->lines++ == 0 ? after_mark(self->line) : self->line;
        self->failed = strlen(self->line) != (size_t)length;
        if (self->failed)
            return problem_set(self->from->why, 400, "%s:%llu: a zero byte", self->from->from->path,
                               self->lines);
        at = follow_quotes(at, line);
        text_add_string(&self->record, line);
    } while (at == QUOTED);
    self->failed = at == QUOTED;
    if (self->failed)
        return problem_set(self->from->why, 400, "%s:%llu: a quote is opened and never closed",
                           self->from->from->path, self->number);
    while (self->record.size > 0 && strchr("\r\n", self->record.bytes[self->record.size - 1]))
        self->record.bytes[--self->record.size] = 0;
    return length >= 0;
}

/* Splits a record in place; returns the number of fields. Quotes within quotes are doubled. */
static size_t split(char *line, char **fields, size_t most)
{
    size_t count = 0;
    char *at = line;
    for (;;) {
        char *to = at, *begin = at;
        bool quoted = *at == '"', ended = false;
        at += quoted;
        while (!ended) {
            if (quoted && *at == '"' && at[1] == '"') {
                *to++ = '"';
                at += 2;
            } else if (quoted && *at == '"') {
                quoted = false;
                at++;
            } else if (!*at || (*at == ',' && !quoted)) {
                ended = true;
            } else {
                *to++ = *at++;
            }
        }
        const bool last = !*at;
        *to = 0;
        if (count < most)
            fields[count] = begin;
        count++;
        if (last)
            return count;
        at++;
    }
}

static bool is_number(const char *field)
{
    char *end;
    const double value = strtod(field, &end);
    return *field && !*end && isfinite((float)value);
}

static bool read_header(table *out, char *line, const reading *self)
{
    size_t most = 2;
    for (const char *at = line; *at; at++)
        most += *at == ',';
    char **fields = app_calloc(most, sizeof *fields);
    *out =
        (table){.class = SIZE_MAX, .id = SIZE_MAX, .probability = SIZE_MAX, .right = SIZE_MAX, .plain = true};
    out->count = split(line, fields, most);
    out->names = fields;
    out->is_text = app_calloc(out->count, sizeof *out->is_text);
    for (size_t i = 0; i < out->count; i++) {
        fields[i] = app_text("%s", fields[i]);
        if (strcmp(fields[i], "id") == 0)
            out->id = i;
        else if (strcmp(fields[i], "class") == 0)
            out->class = i;
        else if (strcmp(fields[i], "probability") == 0)
            out->probability = i;
        else if (strcmp(fields[i], "right") == 0)
            out->right = i;
    }
    if (out->class != SIZE_MAX && out->probability != SIZE_MAX && out->right != SIZE_MAX)
        return true;
    return problem_set(self->why, 400, "%s:1: a log has the columns class, probability and right",
                       self->from->path);
}

static void free_table(table *self)
{
    for (size_t i = 0; i < self->count; i++)
        free(self->names[i]);
    free(self->names);
    free(self->is_text);
}

static bool is_feature(const table *self, size_t i)
{
    return i != self->id && i != self->class && i != self->probability && i != self->right;
}

static int answer_of(const char *field)
{
    if (!*field)
        return JOURNAL_NO_ANSWER;
    if (strcasecmp(field, "true") == 0 || strcmp(field, "1") == 0)
        return JOURNAL_RIGHT;
    if (strcasecmp(field, "false") == 0 || strcmp(field, "0") == 0)
        return JOURNAL_WRONG;
    return -1;
}

static bool read_fields(reading *self, const table *columns, char **fields, unsigned long long number)
{
    logged event = {.class = fields[columns->class],
                    .probability = strtod(fields[columns->probability], NULL)};
    const int answer = answer_of(fields[columns->right]);
    if (answer < 0)
        return problem_set(self->why, 400, "%s:%llu: right '%.40s' is not true, false or empty",
                           self->from->path, number, fields[columns->right]);
    if (!*fields[columns->class])
        return problem_set(self->why, 400, "%s:%llu: the class is empty", self->from->path, number);
    if (!is_number(fields[columns->probability]))
        return problem_set(self->why, 400, "%s:%llu: probability '%.40s' is not a number", self->from->path,
                           number, fields[columns->probability]);
    if (answer == JOURNAL_NO_ANSWER) {
        self->unanswered++;
        return true;
    }
    if (!check_probability(self, number, event.probability))
        return false;
    event.right = answer == JOURNAL_RIGHT;
    json_t *json = columns->plain ? json_array() : json_object();
    for (size_t i = 0; i < columns->count; i++) {
        if (!is_feature(columns, i) || !*fields[i])
            continue;
        json_t *value = columns->is_text[i] ? json_string(fields[i]) : json_real(strtod(fields[i], NULL));
        if (columns->plain)
            (void)json_array_append_new(json, value);
        else
            (void)json_object_set_new(json, columns->names[i], value);
    }
    bool go_on = features_read_as(&event.given, json, columns->kind, "features", self->why);
    go_on = go_on && hand_over(self, &event);
    features_free(&event.given);
    json_decref(json);
    return go_on;
}

/* A column has numbers if all its values are numbers: 12 and 12A are categories. */
static bool see_type(const reading *self, table *columns, size_t i, const char *field,
                     unsigned long long number)
{
    char *end;
    const bool spelled = !isfinite((float)strtod(field, &end)) && *field && !*end;
    const bool words = *field && !is_number(field);
    if (spelled)
        return problem_set(self->why, 400, "%s:%llu: %.40s '%.40s' is not a finite number", self->from->path,
                           number, columns->names[i], field);
    columns->is_text[i] = columns->is_text[i] || words;
    columns->plain = columns->plain && *field && !columns->is_text[i];
    return true;
}

/* One pass, which finds the types of the columns or passes on the events. */
static bool read_records(reading *self, records *from, table *columns, bool types)
{
    bool go_on = true;
    char **fields = app_calloc(columns->count, sizeof *fields);
    while (go_on && next_record(from)) {
        if (from->record.size == 0)
            continue;
        const size_t found = split(from->record.bytes, fields, columns->count);
        if (found != columns->count)
            go_on = problem_set(self->why, 400, "%s:%llu: %zu fields, where the first line has %zu",
                                self->from->path, from->number, found, columns->count);
        for (size_t i = 0; i < columns->count && types && go_on; i++)
            go_on = !is_feature(columns, i) || see_type(self, columns, i, fields[i], from->number);
        if (go_on && !types)
            go_on = read_fields(self, columns, fields, from->number);
    }
    free(fields);
    return go_on && !from->failed;
}

/* Whether the features are named 1, 2, ..., the names that `unconfuse journal` gives to an array's. */
static bool is_numbered(const table *self)
{
    unsigned long long next = 1;
    for (size_t i = 0; i < self->count; i++) {
        char number[32];
        if (!is_feature(self, i))
            continue;
        (void)snprintf(number, sizeof number, "%llu", next++);
        if (strcmp(self->names[i], number) != 0)
            return false;
    }
    return true;
}

static features_kind kind_of_rows(const table *self)
{
    if (self->plain)
        return FEATURES_DENSE;
    json_t *names = json_object();
    for (size_t i = 0; i < self->count; i++)
        if (is_feature(self, i))
            (void)json_object_set_new(names, self->names[i], json_null());
    const features_kind kind = features_named_kind(NULL, names);
    json_decref(names);
    return kind;
}

/* Goes back to the first record, which names the columns. */
static bool begin_records(records *self)
{
    self->lines = 0;
    if (fseek(self->file, 0, SEEK_SET) == 0)
        return next_record(self);
    return problem_set(self->from->why, 400, "%s: the log is read twice, which this file cannot be",
                       self->from->from->path);
}

static bool read_csv(reading *self, FILE *file)
{
    table columns = {0};
    records from = {.from = self, .file = file};
    bool read = begin_records(&from) && read_header(&columns, from.record.bytes, self);
    columns.plain = columns.plain && (!self->from->named || is_numbered(&columns));
    read = read && read_records(self, &from, &columns, true);
    columns.kind = kind_of_rows(&columns);
    read = read && begin_records(&from) && read_records(self, &from, &columns, false);
    free_table(&columns);
    free(from.line);
    free(from.record.bytes);
    return read;
}

/* ---- both kinds of file ---- */

static bool read_file(reading *self)
{
    FILE *file = fopen(self->from->path, "re");
    char *line = NULL;
    size_t room = 0;
    unsigned long long number = 1;
    if (!file)
        return problem_set(self->why, 400, "%s: cannot open: %s", self->from->path, strerror(errno));
    bool read = true;
    ssize_t length = getline(&line, &room, file);
    if (length <= 0)
        read = problem_set(self->why, 400, "%s: the log is empty", self->from->path);
    else if (*after_mark(line) != '{')
        read = read_csv(self, file);
    else {
        do
            read = line[strspn(line, " \t\r\n")] == 0 || read_dsjson(self, after_mark(line), number);
        while (number++, read && getline(&line, &room, file) >= 0);
    }
    free(line);
    (void)fclose(file);
    return read;
}

bool log_events(const log_source *from, logged_fn *visit, void *user, uint64_t *unanswered, problem *why)
{
    struct stat status;
    reading self = {.from = from, .visit = visit, .user = user, .why = why};
    const bool directory = stat(from->path, &status) == 0 && S_ISDIR(status.st_mode);
    const bool read = directory ? read_journal(&self) : read_file(&self);
    *unanswered = self.unanswered;
    return read || self.stopped;
}
