/* The definition of a model: the body of PUT, checked and completed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/served.h"

static bool known_member(const char *key)
{
    static const char *const members[] = {"learner", "classes", "settings", "mode", "explore", "expired"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(key, members[i]) == 0)
            return true;
    return false;
}

static bool check_members(const json_t *body, problem *why)
{
    const char *key;
    json_t *value;
    if (!json_is_object(body))
        return problem_set(why, 400, "expected an object with \"classes\"");
    json_object_foreach((json_t *)body, key, value) if (!known_member(key)) return problem_set(
        why, 400, "'%.40s' is unknown; expected learner, classes, settings, mode, explore or expired", key);
    return true;
}

/* Rejects characters that tables and pages cannot show, and "?", which means that a label is unknown. */
static bool is_class_name(const char *name)
{
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return false;
    return strcmp(name, "?") != 0;
}

static bool check_classes(const json_t *list, problem *why)
{
    if (!json_is_array(list) || json_array_size(list) < 2)
        return problem_set(why, 400, "classes: expected an array of at least two names");
    if (json_array_size(list) > 10000)
        return problem_set(why, 400, "classes: more than 10000");
    uc_names seen = {0};
    bool good = true;
    for (size_t i = 0; i < json_array_size(list) && good; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        uint32_t index;
        if (!name || !*name || strlen(name) > 255)
            good = problem_set(why, 400, "classes[%zu]: expected a name of 1 to 255 bytes", i);
        else if (!is_class_name(name))
            good =
                problem_set(why, 400, "classes[%zu]: a name has no control characters and is not \"?\"", i);
        else if (uc_names_find_label(&seen, name, strlen(name)) != UC_NONE)
            good = problem_set(why, 400, "classes[%zu]: '%.80s' occurs twice", i, name);
        else if (uc_names_add(&index, &seen, name, strlen(name)) != UC_OK)
            good = problem_set(why, 503, "not enough memory for the classes");
    }
    uc_names_free(&seen);
    return good;
}

/* Reads a member that is one of two words. */
static bool read_word(json_t **out, const json_t *body, const char *member, const char *first,
                      const char *second, const json_t *present, problem *why)
{
    const json_t *value = json_object_get(body, member);
    const char *word = first;
    if (!value && present)
        value = json_object_get(present, member);
    if (value)
        word = json_string_value(value);
    if (!word || (strcmp(word, first) != 0 && strcmp(word, second) != 0))
        return problem_set(why, 400, "%s: expected \"%s\" or \"%s\"", member, first, second);
    *out = json_string(word);
    return true;
}

static bool read_explore(double *out, const json_t *body, const json_t *present, problem *why)
{
    const json_t *value = json_object_get(body, "explore");
    if (!value)
        value = json_object_get(present, "explore");
    *out = json_number_value(value);
    if ((value && !json_is_number(value)) || !(*out >= 0.0 && *out <= 1.0))
        return problem_set(why, 400, "explore: expected a probability, from 0 to 1");
    return true;
}

/* Lists the learners that learn one example at a time. */
static void list_learners(char *out, size_t size)
{
    size_t length = 0;
    out[0] = 0;
    for (size_t i = 0; uc_learner_at(i) && length < size; i++)
        if (uc_learner_is_online(uc_learner_at(i)))
            length += (size_t)snprintf(out + length, size - length, "%s%s", length > 0 ? ", " : "",
                                       uc_learner_name(uc_learner_at(i)));
}

static bool read_learner(const char **out, const json_t *body, const json_t *present, problem *why)
{
    const json_t *value = json_object_get(body, "learner");
    if (!value)
        value = json_object_get(present, "learner");
    *out = value ? json_string_value(value) : "onebit";
    const uc_learner *learner = *out ? uc_learner_find(*out) : NULL;
    if (!*out)
        return problem_set(why, 400, "learner: expected a name");
    if (learner && uc_learner_is_online(learner))
        return true;
    char fit[300];
    list_learners(fit, sizeof fit);
    if (!learner)
        return problem_set(why, 400, "learner: there is no learner '%.80s'; a service can have %s", *out,
                           fit);
    return problem_set(why, 400,
                       "learner: %s learns from whole data sets, not one example at a time; a service can "
                       "have %s",
                       *out, fit);
}

/* Whether two settings mean the same: 1 is 1.0 and "1", true is "on". */
static bool same_value(const json_t *a, const json_t *b)
{
    const json_t *both[] = {a, b};
    double number[2];
    char *end, text[2][80];
    for (size_t i = 0; i < 2; i++) {
        const char *word = json_is_boolean(both[i]) ? json_is_true(both[i]) ? "on" : "off" : NULL;
        if (json_is_number(both[i]))
            (void)snprintf(text[i], sizeof text[i], "%.17g", json_number_value(both[i]));
        else if (word || json_is_string(both[i]))
            (void)snprintf(text[i], sizeof text[i], "%s", word ? word : json_string_value(both[i]));
        else
            return false;
        number[i] = strtod(text[i], &end);
        if (end == text[i] || *end)
            number[i] = (double)NAN;
    }
    return number[0] == number[1] || strcmp(text[0], text[1]) == 0;
}

static bool same_settings(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)a, key,
                        value) if (!same_value(value, json_object_get(b, key))) return false;
    return json_object_size(a) == json_object_size(b);
}

/* Rejects a different learner, different settings, or the removal of a class. */
static bool check_succession(const json_t *next, const json_t *present, problem *why)
{
    const json_t *before = json_object_get(present, "classes"), *after = json_object_get(next, "classes");
    if (!json_equal(json_object_get(next, "learner"), json_object_get(present, "learner")))
        return problem_set(why, 409, "the model has the learner %s; another one needs another name",
                           json_string_value(json_object_get(present, "learner")));
    if (!json_equal(json_object_get(next, "settings"), json_object_get(present, "settings"))) {
        char *settings = json_dumps(json_object_get(present, "settings"), JSON_COMPACT);
        (void)problem_set(why, 409,
                          "the model began with the settings %.300s; other ones need a model of another name",
                          settings);
        free(settings);
        return false;
    }
    for (size_t i = 0; i < json_array_size(before); i++)
        if (!json_equal(json_array_get(before, i), json_array_get(after, i)))
            return problem_set(why, 409,
                               "class '%.80s' is missing or elsewhere: classes can be added at the end, not "
                               "taken away",
                               json_string_value(json_array_get(before, i)));
    return true;
}

/* Tries the definition on a separate model. */
static bool try_definition(const json_t *definition, problem *why)
{
    served *trial = served_create(0, "trial");
    char *text = json_dumps(definition, JSON_COMPACT);
    journal_row row = {.sequence = 1, .kind = JOURNAL_DEFINE, .text = text};
    const bool good = served_perform(trial, &row, why);
    served_free(trial);
    free(text);
    return good;
}

/* The classes of a PUT, or the present ones if it has none. Positions are kept: known classes come first. */
static json_t *merged_classes(const json_t *given, const json_t *present)
{
    json_t *merged = json_array();
    for (size_t i = 0; i < json_array_size(present); i++) {
        bool kept = !given;
        for (size_t j = 0; j < json_array_size(given) && !kept; j++)
            kept = json_equal(json_array_get(given, j), json_array_get(present, i)) != 0;
        if (kept)
            (void)json_array_append(merged, json_array_get(present, i));
    }
    for (size_t j = 0; j < json_array_size(given); j++) {
        bool known = false;
        for (size_t i = 0; i < json_array_size(present) && !known; i++)
            known = json_equal(json_array_get(given, j), json_array_get(present, i)) != 0;
        if (!known)
            (void)json_array_append(merged, json_array_get(given, j));
    }
    return merged;
}

bool served_define(json_t **out, bool *changed, const served *self, const json_t *body, problem *why)
{
    const json_t *present = self ? self->definition : NULL;
    const json_t *given = json_object_get(body, "classes"), *settings = json_object_get(body, "settings");
    const char *learner;
    double explore = 0.0;
    json_t *mode = NULL, *expired = NULL, *next = NULL;
    bool good = check_members(body, why) && ((present && !given) || check_classes(given, why)) &&
                read_learner(&learner, body, present, why) && read_explore(&explore, body, present, why) &&
                read_word(&mode, body, "mode", "online", "apprentice", present, why) &&
                read_word(&expired, body, "expired", "ignore", "wrong", present, why);
    if (good && settings && !json_is_object(settings))
        good = problem_set(why, 400, "settings: expected an object");
    if (!good)
        goto cleanup;
    if (!settings || same_settings(settings, json_object_get(present, "settings")))
        settings = json_object_get(present, "settings");
    next = json_pack("{ss so so sO sf sO}", "learner", learner, "classes",
                     merged_classes(given, json_object_get(present, "classes")), "settings",
                     settings ? json_deep_copy(settings) : json_object(), "mode", mode, "explore", explore,
                     "expired", expired);
    good = present ? check_succession(next, present, why) : try_definition(next, why);
    *changed = !present || !json_equal(next, present);

cleanup:
    json_decref(mode);
    json_decref(expired);
    if (good)
        *out = next;
    else
        json_decref(next);
    return good;
}
