/*
 * The answers of people who checked rows in Label Studio or Argilla, after `save as` on the audit's page.
 *
 * Label Studio exports an array of tasks: `data` has what was shown, `annotations` the answers; its short
 * form has both in one object. Argilla's records, one per line or in an array, have `fields` and `responses`.
 * A task that nobody answered is a row without a true class. If two people give different answers for a row,
 * its true class is unknown, and the file is refused.
 */
#include "audit/checked_json.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define QUESTION "true_label"
#define NUMBER_SIZE 40

typedef struct table {
    char *text;
    size_t length, room;
    size_t tasks;
    const char *name; /* of the file */
} table;

/* ---- writing ---- */

static uc_status put(table *self, const char *bytes, size_t length)
{
    if (self->length + length > self->room) {
        const size_t room = uc_grown(self->room, self->length + length);
        char *text = uc_realloc(self->text, room + UC_NUMBER_SLACK, 1);
        if (!text)
            return UC_ERR_NOMEM;
        self->text = text;
        self->room = room;
    }
    memcpy(self->text + self->length, bytes, length);
    self->length += length;
    return UC_OK;
}

/* Text, or a number as written. Anything else gives "", and so does text of several lines, because no id or
 * class has line breaks. `number` has room for NUMBER_SIZE bytes. */
static const char *text_of(const json_t *value, char *number)
{
    if (json_is_integer(value)) {
        snprintf(number, NUMBER_SIZE, "%lld", (long long)json_integer_value(value));
        return number;
    }
    if (json_is_real(value)) {
        snprintf(number, NUMBER_SIZE, "%.17g", json_real_value(value));
        return number;
    }
    const char *text = json_string_value(value);
    return text && !strpbrk(text, "\r\n") ? text : "";
}

static uc_status put_field(table *self, const json_t *value, char end)
{
    char number[NUMBER_SIZE];
    const char *text = text_of(value, number);
    uc_status status = put(self, "\"", 1);
    for (; *text && status == UC_OK; text++)
        status = *text == '"' ? put(self, "\"\"", 2) : put(self, text, 1);
    if (status == UC_OK)
        status = put(self, "\"", 1);
    return status == UC_OK ? put(self, &end, 1) : status;
}

/* ---- answers ---- */

/* Takes one more answer to the same question; an empty one does not count. */
static uc_status take_answer(const json_t **answer, const json_t *given, const table *self)
{
    char first[NUMBER_SIZE], second[NUMBER_SIZE];
    if (json_is_array(given)) { /* an array of choices */
        if (json_array_size(given) > 1)
            return uc_fail(UC_ERR_FORMAT, "%s:%zu: several classes were chosen; a row has one true class",
                           self->name, self->tasks);
        given = json_array_get(given, 0);
    }
    if (*text_of(given, first) == '\0')
        return UC_OK;
    if (*answer && strcmp(text_of(*answer, first), text_of(given, second)) != 0)
        return uc_fail(UC_ERR_FORMAT, "%s:%zu: answered twice, '%s' and '%s'; decide for one of them",
                       self->name, self->tasks, text_of(*answer, first), text_of(given, second));
    *answer = given;
    return UC_OK;
}

/* annotations: [{result: [{from_name, value: {choices: [class]}}]}] */
static uc_status read_annotations(const json_t **answer, const json_t *annotations, const table *self)
{
    uc_status status = UC_OK;
    for (size_t i = 0; i < json_array_size(annotations) && status == UC_OK; i++) {
        const json_t *annotation = json_array_get(annotations, i);
        const json_t *results = json_object_get(annotation, "result");
        if (json_is_true(json_object_get(annotation, "was_cancelled")))
            continue;
        for (size_t r = 0; r < json_array_size(results) && status == UC_OK; r++) {
            const json_t *result = json_array_get(results, r);
            const char *question = json_string_value(json_object_get(result, "from_name"));
            if (!question || strcmp(question, QUESTION) != 0)
                continue;
            status = take_answer(answer, json_object_get(json_object_get(result, "value"), "choices"), self);
        }
    }
    return status;
}

/* responses: {true_label: [{value}]}, or, in older versions, [{values: {true_label: {value}}}]. */
static uc_status read_responses(const json_t **answer, const json_t *responses, const table *self)
{
    const bool by_question = json_is_object(responses);
    const json_t *list = by_question ? json_object_get(responses, QUESTION) : responses;
    uc_status status = UC_OK;
    for (size_t i = 0; i < json_array_size(list) && status == UC_OK; i++) {
        const json_t *response = json_array_get(list, i);
        const char *state = json_string_value(json_object_get(response, "status"));
        if (state && (strcmp(state, "discarded") == 0 || strcmp(state, "draft") == 0))
            continue;
        if (!by_question)
            response = json_object_get(json_object_get(response, "values"), QUESTION);
        status = take_answer(answer, json_object_get(response, "value"), self);
    }
    return status;
}

/* The first object of a list whose member `key` names the question; NULL if there is none. */
static const json_t *about_question(const json_t *list, const char *key)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        const char *question = json_string_value(json_object_get(one, key));
        if (question && strcmp(question, QUESTION) == 0)
            return one;
    }
    return NULL;
}

/* The proposal. predictions: [{result: [{from_name, value: {choices: [class]}}]}], suggestions:
 * [{question_name, value}], or, as Argilla exports them, {true_label: {value}}. NULL if there is none. */
static const json_t *find_proposal(const json_t *task)
{
    const json_t *prediction = json_array_get(json_object_get(task, "predictions"), 0);
    const json_t *result = about_question(json_object_get(prediction, "result"), "from_name");
    const json_t *suggestions = json_object_get(task, "suggestions");
    if (result)
        return json_array_get(json_object_get(json_object_get(result, "value"), "choices"), 0);
    if (json_is_object(suggestions))
        return json_object_get(json_object_get(suggestions, QUESTION), "value");
    return json_object_get(about_question(suggestions, "question_name"), "value");
}

/* ---- tasks ---- */

/* The line with the sizes of the strata. Every task has it; the table gets that of the first. */
static uc_status put_sizes(table *self, const json_t *shown)
{
    char number[NUMBER_SIZE];
    const char *sizes = text_of(json_object_get(shown, "stratum_sizes"), number);
    if (*sizes == '\0')
        return UC_OK;
    uc_status status = put(self, "# stratum sizes: ", strlen("# stratum sizes: "));
    if (status == UC_OK)
        status = put(self, sizes, strlen(sizes));
    return status == UC_OK ? put(self, "\n", 1) : status;
}

static uc_status put_header(table *self)
{
    static const char header[] = "row,id,given_label,stratum,predicted_label,true_label\n";
    return put(self, header, sizeof header - 1);
}

static uc_status add_task(table *self, const json_t *task)
{
    const json_t *shown = task, *answer = NULL;
    uc_status status = UC_OK;
    self->tasks++;
    if (!json_is_object(task))
        return uc_fail(UC_ERR_FORMAT, "%s:%zu: a task of Label Studio or a record of Argilla is an object",
                       self->name, self->tasks);
    if (json_object_get(task, "data")) {
        shown = json_object_get(task, "data");
        status = read_annotations(&answer, json_object_get(task, "annotations"), self);
    } else if (json_object_get(task, "fields")) {
        shown = json_object_get(task, "fields");
        status = read_responses(&answer, json_object_get(task, "responses"), self);
    } else {
        status = take_answer(&answer, json_object_get(task, QUESTION), self);
    }
    char number[NUMBER_SIZE];
    if (status == UC_OK && *text_of(json_object_get(shown, "row"), number) == '\0')
        status = uc_fail(UC_ERR_FORMAT, "%s:%zu: there is no `row`, the number of the row in the data",
                         self->name, self->tasks);
    if (status == UC_OK && self->tasks == 1)
        status = put_sizes(self, shown);
    if (status == UC_OK && self->tasks == 1)
        status = put_header(self);
    const json_t *id =
        shown == task ? NULL : json_object_get(shown, "id"); /* otherwise it is the task's id */
    const json_t *fields[] = {json_object_get(shown, "row"), id, json_object_get(shown, "given_label"),
                              json_object_get(shown, "stratum"), find_proposal(task)};
    for (size_t i = 0; i < sizeof fields / sizeof *fields && status == UC_OK; i++)
        status = put_field(self, fields[i], ',');
    return status == UC_OK ? put_field(self, answer, '\n') : status;
}

/* A task, or an array of them. */
static uc_status add_value(table *self, const json_t *value)
{
    if (!json_is_array(value))
        return add_task(self, value);
    uc_status status = UC_OK;
    for (size_t i = 0; i < json_array_size(value) && status == UC_OK; i++)
        status = add_task(self, json_array_get(value, i));
    return status;
}

/* The next character that is not blank; 0 at the end. */
static char next_character(const char **at, const char *end)
{
    while (*at < end && (uc_is_blank(**at) || **at == '\n' || **at == '\r'))
        (*at)++;
    return (char)(*at < end ? *(*at)++ : 0);
}

/* Whether the text begins like a list of objects or like an object; one bracket is not enough, because
 * classes may be called [a] or {b}. */
bool uc_checked_is_json(const uc_lines *lines)
{
    const char *at = lines->next, *end = lines->text + lines->length;
    const char first = next_character(&at, end), second = next_character(&at, end);
    if (first == '[')
        return second == '{' || second == ']';
    return first == '{' && (second == '"' || second == '}');
}

uc_status uc_checked_convert(uc_lines *lines, const char *name)
{
    const char *at = lines->next, *end = lines->text + lines->length;
    table self = {.name = name};
    uc_status status = UC_OK;
    while (status == UC_OK) {
        while (at < end && (uc_is_blank(*at) || *at == '\n' || *at == '\r'))
            at++;
        if (at == end)
            break;
        json_error_t error;
        json_t *value = json_loadb(at, (size_t)(end - at), JSON_DISABLE_EOF_CHECK, &error);
        status = value ? add_value(&self, value)
                       : uc_fail(UC_ERR_FORMAT, "%s: it begins as JSON does, but is not JSON: %s", name,
                                 error.text);
        json_decref(value);
        at += error.position;
    }
    if (status == UC_OK && self.tasks == 0)
        status = put_header(&self);
    if (status != UC_OK) {
        uc_free(self.text);
        return status;
    }
    uc_lines_free(lines);
    *lines = (uc_lines){.text = self.text, .length = self.length, .read = self.length};
    uc_lines_rewind(lines);
    return UC_OK;
}
