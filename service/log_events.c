/* A directory, or a file: DSJSON lines begin with a brace, everything else is CSV. */
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

#define LEAST_PROBABILITY 1e-9 /* smaller ones make weights whose squares leave nothing of the others */

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

/* ---- a journal ---- */

typedef struct told {
    const event_names *names;
    int answer;
    int64_t damaged; /* the row of an answer that is none; 0: all is well */
} told;

static bool see_answer(const journal_row *row, void *user)
{
    told *out = user;
    out->answer = row->kind == JOURNAL_EXPIRY ? JOURNAL_NO_ANSWER : row->answer;
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
    told found = {.names = &self->names, .answer = JOURNAL_NO_ANSWER};
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
    if (!features_parse(&event.given, row->features, row->features_size))
        return refuse_row(self, row->sequence);
    const bool go_on = check_probability(self, (unsigned long long)row->sequence, event.probability) &&
                       hand_over(self, &event);
    features_free(&event.given);
    return go_on;
}

static bool read_journal(reading *self)
{
    if (!self->from->model)
        return problem_set(self->why, 400, "%s: say which model with --model NAME", self->from->path);
    const bool read = directory_journal(&self->journal, self->from->path, self->why) &&
                      directory_model(&self->model, self->journal, self->from->model, self->why) &&
                      journal_each(self->journal, self->model, 0, INT64_MAX, read_row, self, self->why);
    journal_close(self->journal);
    event_names_free(&self->names);
    return read;
}

/* ---- DSJSON ---- */

/* Features of a context: ours are under "features", others' namespaces are flattened. */
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
    if (ours)
        return features_read(out, ours, at, why);
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

static bool read_dsjson(reading *self, const char *line, unsigned long long number)
{
    json_t *json = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    const json_t *cost = json_object_get(json, "_label_cost"), *context = json_object_get(json, "c");
    const json_t *index = json_object_get(json, "_labelIndex"),
                 *odds = json_object_get(json, "_label_probability");
    const json_t *actions = json_object_get(json, "a");
    char at[64], other[32];
    bool go_on = true;
    (void)snprintf(at, sizeof at, "line %llu", number);
    if (!json || !context)
        go_on = problem_set(self->why, 400, "%s:%llu: not an event of DSJSON", self->from->path, number);
    else if (!json_is_number(cost))
        self->unanswered++;
    else {
        const json_int_t chosen = json_is_integer(index) ? json_integer_value(index)
                                                         : json_integer_value(json_array_get(actions, 0)) - 1;
        const json_t *action = json_array_get(json_object_get(context, "_multi"), (size_t)chosen);
        const char *name = json_string_value(json_object_get(json_object_get(action, "b_"), "class"));
        (void)snprintf(other, sizeof other, "%lld", (long long)chosen + 1);
        logged event = {.class = name ? name : other,
                        .probability =
                            json_number_value(odds ? odds : json_array_get(json_object_get(json, "p"), 0)),
                        .right = -json_number_value(cost) >= 0.5};
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
    bool *is_text, *is_number;            /* neither: nothing but empty fields so far */
    bool plain;                           /* all features are numbers and none is missing: an array */
} table;

/* Splits a line in place; returns how many fields there are. Quotes are doubled inside of quotes. */
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
    out->is_number = app_calloc(out->count, sizeof *out->is_number);
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
    free(self->is_number);
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
    bool go_on = features_read(&event.given, json, "features", self->why);
    go_on = go_on && hand_over(self, &event);
    features_free(&event.given);
    json_decref(json);
    return go_on;
}

/* The first value of a column says whether it is of numbers. */
static bool see_type(const reading *self, table *columns, size_t i, const char *field,
                     unsigned long long number)
{
    char *end;
    const bool spelled = !isfinite((float)strtod(field, &end)) && *field && !*end;
    const bool words = *field && !is_number(field);
    if (spelled)
        return problem_set(self->why, 400, "%s:%llu: %.40s '%.40s' is not a finite number", self->from->path,
                           number, columns->names[i], field);
    if (words && columns->is_number[i])
        return problem_set(self->why, 400, "%s:%llu: %.40s '%.40s' is not a number, as those above it are",
                           self->from->path, number, columns->names[i], field);
    columns->is_text[i] = columns->is_text[i] || words;
    columns->is_number[i] = columns->is_number[i] || (*field && !columns->is_text[i]);
    columns->plain = columns->plain && *field && !columns->is_text[i];
    return true;
}

/* One pass: the types of columns, or the events. */
static bool read_lines(reading *self, FILE *file, table *columns, bool types)
{
    char *line = NULL;
    size_t room = 0;
    unsigned long long number = 1;
    bool go_on = true;
    char **fields = app_calloc(columns->count, sizeof *fields);
    ssize_t length;
    while (go_on && (length = getline(&line, &room, file)) >= 0) {
        number++;
        if (strlen(line) != (size_t)length) {
            go_on = problem_set(self->why, 400, "%s:%llu: a zero byte", self->from->path, number);
            continue;
        }
        while (length > 0 && strchr("\r\n", line[length - 1]))
            line[--length] = 0;
        if (length == 0)
            continue;
        const size_t found = split(line, fields, columns->count);
        if (found != columns->count)
            go_on = problem_set(self->why, 400, "%s:%llu: %zu fields, where the first line has %zu",
                                self->from->path, number, found, columns->count);
        for (size_t i = 0; i < columns->count && types && go_on; i++)
            go_on = !is_feature(columns, i) || see_type(self, columns, i, fields[i], number);
        if (go_on && !types)
            go_on = read_fields(self, columns, fields, number);
    }
    free(fields);
    free(line);
    return go_on;
}

static bool read_csv(reading *self, FILE *file, char *header)
{
    table columns;
    bool read = read_header(&columns, header, self);
    const long begin = ftell(file);
    if (read)
        read = read_lines(self, file, &columns, true);
    if (read && fseek(file, begin, SEEK_SET) != 0)
        read = problem_set(self->why, 400, "%s: the log is read twice, which this file cannot be",
                           self->from->path);
    if (read)
        read = read_lines(self, file, &columns, false);
    free_table(&columns);
    return read;
}

/* ---- either ---- */

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
    else if (line[0] != '{') {
        line[strcspn(line, "\r\n")] = 0;
        read = read_csv(self, file, line);
    } else {
        do
            read = line[0] == '\n' || read_dsjson(self, line, number++);
        while (read && getline(&line, &room, file) >= 0);
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
