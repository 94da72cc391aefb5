/* How journal rows change a model. */
#include "service/served.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"

#define EXPLORE_SEQUENCE UINT64_C(0x736572766578706c) /* random numbers: "servexpl" */
#define EXPLORE_WORDS 8                               /* at most, drawn per row */

bool served_check_name(const char *name, problem *why)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static const char later[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
    const size_t length = strlen(name);
    if (length < 1 || length > SERVED_NAME || strspn(name, first) < 1 || strspn(name, later) != length)
        return problem_set(
            why, 400,
            "'%.80s' is no name of a model: a small letter or digit, then up to 63 small letters, "
            "digits, dots, underscores and dashes",
            name);
    /* A directory of this name has the snapshots; SQLite would take it for a file of the journal. */
    if (strncmp(name, "journal.db", 10) == 0)
        return problem_set(why, 400, "'%.80s' is no name of a model: journal.db is the service's own file",
                           name);
    return true;
}

served *served_create(int64_t number, const char *name)
{
    served *self = app_calloc(1, sizeof *self);
    self->number = number;
    (void)snprintf(self->name, sizeof self->name, "%s", name);
    return self;
}

void served_free(served *self)
{
    if (!self)
        return;
    json_decref(self->definition);
    uc_online_free(self->online);
    uc_model_free(self->cached);
    dictionary_free(&self->names);
    waiting_free(&self->waits);
    free(self->proposed);
    free(self->confusion);
    free(self);
}

const uc_names *served_classes(const served *self)
{
    return uc_online_classes(self->online);
}

static const char *class_at(size_t i, const void *classes)
{
    const uc_names *all = classes;
    return i < all->count ? all->text[i] : NULL;
}

bool served_class(uint32_t *out, const served *self, const char *name, problem *why)
{
    const uc_names *classes = served_classes(self);
    char known[160] = "";
    size_t length = 0;
    *out = uc_names_find_label(classes, name, strlen(name));
    if (*out != UC_NONE)
        return true;
    for (size_t i = 0; i < classes->count && length < sizeof known; i++)
        length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i > 0 ? ", " : "",
                                   classes->text[i]);
    const char *nearest = uc_names_nearest(name, class_at, classes);
    if (length >= sizeof known && nearest)
        return problem_set(why, 400, "'%.80s' is no class of %s; did you mean '%.80s'?", name, self->name,
                           nearest);
    return problem_set(
        why, 400, "'%.80s' is no class of %s, which has %s%s; PUT /v1/models/%s with more classes adds it",
        name, self->name, known, length < sizeof known ? "" : "...", self->name);
}

/* ---- proposals ---- */

/* The baseline of a proposal row, by its name; UC_NONE: none. */
static uint32_t baseline_of(const served *self, const journal_row *row)
{
    if (!row->text)
        return UC_NONE;
    return uc_names_find_label(served_classes(self), row->text, strlen(row->text));
}

/* Makes the proposal. A new row gets it; a row from the journal keeps its class, even if that differs. */
static void settle_proposal(uc_proposal *proposal, served *self, journal_row *row)
{
    const bool new = row->proposed == UC_NONE;
    uc_rng rng = uc_rng_resume(self->seed, EXPLORE_SEQUENCE, EXPLORE_WORDS * (uint64_t)row->sequence);
    uc_policy_propose(proposal, &self->events, &self->policy, self->online, baseline_of(self, row), &rng);
    if (new) {
        row->proposed = proposal->label;
        row->favourite = proposal->favourite;
        row->probability = proposal->probability;
    } else if (row->proposed != proposal->label && row->proposed < served_classes(self)->count) {
        self->other++;
        proposal->label = row->proposed;
        proposal->probability = row->probability;
    }
    self->proposed[proposal->label]++;
}

/* Text of several words would need a column for every word, none of them 0, which is more than a row can
 * hold. */
static bool check_words(const served *self, const features *given, problem *why)
{
    const char *words = features_words(given);
    if (self->scaling != SERVED_SHIFTS || !words)
        return true;
    return problem_set(why, 400,
                       "features: %.80s is text of several words, whose zeros this model's scale would turn "
                       "into other values; a model with \"scale\":\"maxabs\" takes it",
                       words);
}

/* The event waits with the values for which the proposal was made, although the scaling changes. */
static void keep_scaled(encoded *line, served *self)
{
    const encoded scaled = encoded_copy(uc_online_prepared(self->online));
    encoded_free(line);
    *line = scaled;
    uc_model_free(self->cached);
    self->cached = NULL;
}

static bool perform_proposal(served *self, journal_row *row, problem *why)
{
    features given;
    encoded line;
    uc_proposal proposal;
    if (!features_parse(&given, row->features, row->features_size))
        return problem_set(why, 503, "row %lld of the journal has no features", (long long)row->sequence);
    const bool known = check_words(self, &given, why) && dictionary_encode(&line, &self->names, &given, why);
    features_free(&given);
    if (!known)
        return false;
    const uc_status status = uc_online_propose(&proposal, self->online, &line.row);
    if (status != UC_OK) {
        encoded_free(&line);
        self->stale = true; /* the features' names already have columns */
        return problem_of_library(why, status);
    }
    if (self->scaling != SERVED_UNSCALED)
        keep_scaled(&line, self);
    settle_proposal(&proposal, self, row);
    pending *event = waiting_add(&self->waits, row->id, row->sequence, row->time, &line, &proposal);
    const size_t K = served_classes(self)->count;
    event->scores = app_calloc(K, sizeof *event->scores);
    memcpy(event->scores, uc_online_scores(self->online), K * sizeof *event->scores);
    return true;
}

/* ---- answers ---- */

static void remember_answer(served *self, bool right)
{
    self->answered++;
    self->right += right;
    self->recent[self->recent_at] = right;
    self->recent_at = (self->recent_at + 1) % SERVED_RECENT;
    self->recent_count += self->recent_count < SERVED_RECENT;
    if (uc_drift_add(&self->drift, right))
        self->drift_sequence = self->sequence + 1; /* that of the current row */
}

/* A failure is due to numbers that overflow. It would occur again, and the feedback still counts. */
static void learn(served *self, const pending *event, uc_answer answer)
{
    if (self->scaling != SERVED_UNSCALED)
        (void)uc_online_learn_prepared(self->online, &event->row.row, &event->proposal, answer);
    else
        (void)uc_online_learn(self->online, &event->row.row, &event->proposal, answer);
    uc_model_free(self->cached);
    self->cached = NULL;
}

static bool perform_feedback(served *self, const journal_row *row, problem *why)
{
    pending *event = waiting_find(&self->waits, row->event);
    if (!event)
        return problem_set(why, 503, "row %lld of the journal answers row %lld, which does not wait",
                           (long long)row->sequence, (long long)row->event);
    const bool right = row->answer == JOURNAL_RIGHT;
    uc_answer answer;
    const size_t K = served_classes(self)->count;
    if (row->label < K && self->confusion)
        self->confusion[row->label * self->class_room + event->proposal.label]++;
    remember_answer(self, right);
    if (uc_policy_answer(&answer, self->online, &event->proposal, right, row->label))
        learn(self, event, answer);
    waiting_remove(&self->waits, event);
    return true;
}

static bool perform_expiry(served *self, const journal_row *row, problem *why)
{
    pending *event = waiting_find(&self->waits, row->event);
    if (!event)
        return problem_set(why, 503, "row %lld of the journal ends row %lld, which does not wait",
                           (long long)row->sequence, (long long)row->event);
    /* the rule at that time, which is stored in the row */
    const uc_policy policy = {.expired_is_wrong = row->answer == JOURNAL_WRONG};
    uc_answer answer;
    if (uc_policy_expire(&answer, &self->events, &policy, self->online, &event->proposal))
        learn(self, event, answer);
    waiting_remove(&self->waits, event);
    return true;
}

/* ---- definitions ---- */

/* Makes room for counts of this many classes. */
static void reserve_counts(served *self, size_t classes)
{
    const bool confuses = classes <= SERVED_CONFUSION;
    if (!confuses) {
        free(self->confusion);
        self->confusion = NULL;
    }
    if (classes <= self->class_room)
        return;
    const size_t room = classes + classes / 2, before = self->class_room;
    uint64_t *proposed = app_calloc(room, sizeof *proposed);
    uint64_t *confusion = confuses ? app_calloc(room * room, sizeof *confusion) : NULL;
    for (size_t i = 0; i < before; i++) {
        proposed[i] = self->proposed[i];
        if (confuses)
            memcpy(confusion + i * room, self->confusion + i * before, before * sizeof *confusion);
    }
    free(self->proposed);
    free(self->confusion);
    self->proposed = proposed;
    self->confusion = confusion;
    self->class_room = room;
}

/* Setting i of the learner's, training's and map's options, in this order. */
static const char *setting_at(size_t i, const void *learner)
{
    const uc_option *const tables[] = {uc_learner_options(learner), uc_train_options, uc_map_options};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const uc_option *option = tables[t]; option->name; option++)
            if (i-- == 0)
                return option->name;
    return NULL;
}

static bool refuse_setting(const uc_learner *learner, const char *key, problem *why)
{
    const char *nearest = uc_names_nearest(key, setting_at, learner);
    if (nearest)
        return problem_set(why, 400, "settings: %s has no setting '%.40s'; did you mean '%s'?",
                           uc_learner_name(learner), key, nearest);
    return problem_set(why, 400, "settings: %s has no setting '%.40s'; unconfuse help stream %s lists them",
                       uc_learner_name(learner), key, uc_learner_name(learner));
}

/* Reads the settings of a definition into the structs for a new learner; texts point into the JSON. */
static bool read_settings(void *own, uc_train_settings *train, const uc_learner *learner,
                          const json_t *settings, problem *why)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)settings, key, value)
    {
        const uc_option *option = uc_options_find(uc_learner_options(learner), key);
        void *into = own;
        if (!option) {
            option = uc_options_find(uc_train_options, key);
            into = train;
        }
        if (!option && (option = uc_options_find(uc_map_options, key)))
            into = &train->map;
        if (!option)
            return refuse_setting(learner, key, why);
        char *text = NULL;
        if (json_is_string(value))
            text = app_text("%s", json_string_value(value));
        else if (json_is_boolean(value))
            text = app_text("%s", json_is_true(value) ? "on" : "off");
        else if (json_is_number(value))
            text = app_text("%.17g", json_number_value(value));
        if (!text || option->type == UC_OPTION_TEXT) {
            free(text);
            return problem_set(why, 400, "settings: %s has no setting '%.40s' of that kind",
                               uc_learner_name(learner), key);
        }
        const uc_status status = uc_option_set(option, into, text);
        free(text);
        if (status != UC_OK)
            return problem_of_library(why, status);
    }
    if (train->scale == UC_SCALE_AUTO)
        return problem_set(
            why, 400,
            "settings: scale auto is chosen by the labels of a whole data set, which a service does not "
            "have; give standard, range, maxabs or none");
    return true;
}

static bool begin_learner(uc_online **out, uint64_t *seed, const json_t *definition, problem *why)
{
    const uc_learner *learner = uc_learner_find(json_string_value(json_object_get(definition, "learner")));
    const json_t *list = json_object_get(definition, "classes");
    uc_train_settings train = uc_train_defaults();
    uc_names classes = {0};
    uc_status status = UC_OK;
    void *own = app_calloc(uc_learner_settings_size(learner) + 1, 1);
    uc_options_defaults(uc_learner_options(learner), own);
    bool begun = read_settings(own, &train, learner, json_object_get(definition, "settings"), why);
    for (size_t i = 0; i < json_array_size(list) && begun; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        uint32_t index;
        if (uc_names_add(&index, &classes, name, strlen(name)) != UC_OK)
            begun = problem_set(why, 503, "not enough memory for the classes");
    }
    if (train.map.map == UC_MAP_DEFAULT)
        train.map.map = UC_MAP_NONE;
    train.passes = 1; /* as for a stream, so that the model has the same bytes */
    train.shuffle = 0;
    if (begun && (status = uc_online_begin(out, learner, own, &train, &classes, NULL)) != UC_OK)
        begun = problem_of_library(why, status);
    *seed = train.seed;
    uc_names_free(&classes);
    free(own);
    return begun;
}

/* Adds the classes that the learner does not have yet. */
static bool add_classes(served *self, const json_t *definition, problem *why)
{
    const json_t *list = json_object_get(definition, "classes");
    for (size_t i = 0; i < json_array_size(list); i++) {
        uint32_t index;
        const uc_status status =
            uc_online_add_class(&index, self->online, json_string_value(json_array_get(list, i)));
        if (status != UC_OK)
            return problem_of_library(why, status);
    }
    return true;
}

static served_scaling scaling_of(const json_t *definition)
{
    const char *scale = json_string_value(json_object_get(json_object_get(definition, "settings"), "scale"));
    if (!scale || strcmp(scale, "none") == 0)
        return SERVED_UNSCALED;
    return strcmp(scale, "maxabs") == 0 ? SERVED_SCALES : SERVED_SHIFTS;
}

/* Whether all members that are used below are present. */
static bool is_definition(const json_t *json)
{
    const json_t *classes = json_object_get(json, "classes");
    const char *learner = json_string_value(json_object_get(json, "learner"));
    bool whole = learner && uc_learner_find(learner) && json_is_string(json_object_get(json, "mode")) &&
                 json_is_string(json_object_get(json, "expired"));
    for (size_t i = 0; i < json_array_size(classes); i++)
        whole = whole && json_is_string(json_array_get(classes, i));
    return whole;
}

static bool perform_define(served *self, const journal_row *row, problem *why)
{
    json_t *definition = json_loads(row->text ? row->text : "", 0, NULL);
    bool defined;
    if (!is_definition(definition)) {
        json_decref(definition);
        return problem_set(why, 503, "row %lld of the journal is no definition", (long long)row->sequence);
    }
    if (!self->online)
        defined = begin_learner(&self->online, &self->seed, definition, why);
    else
        defined = add_classes(self, definition, why);
    if (!defined) {
        json_decref(definition);
        return false;
    }
    self->learner = uc_online_learner(self->online);
    self->scaling = scaling_of(definition);
    self->policy = (uc_policy){
        .apprentice = strcmp(json_string_value(json_object_get(definition, "mode")), "apprentice") == 0,
        .explore = json_number_value(json_object_get(definition, "explore")),
        .expired_is_wrong = strcmp(json_string_value(json_object_get(definition, "expired")), "wrong") == 0};
    reserve_counts(self, served_classes(self)->count);
    json_decref(self->definition);
    self->definition = definition;
    uc_model_free(self->cached);
    self->cached = NULL;
    return true;
}

bool served_perform(served *self, journal_row *row, problem *why)
{
    bool done = true;
    if (row->kind != JOURNAL_DEFINE && !self->online)
        return problem_set(why, 503, "the journal does not begin with a definition");
    switch (row->kind) {
    case JOURNAL_DEFINE:
        done = perform_define(self, row, why);
        break;
    case JOURNAL_PROPOSAL:
        done = perform_proposal(self, row, why);
        break;
    case JOURNAL_FEEDBACK:
        done = perform_feedback(self, row, why);
        break;
    case JOURNAL_EXPIRY:
        done = perform_expiry(self, row, why);
        break;
    case JOURNAL_ROLLBACK:
        break; /* the caller, which has the journal, replaces the learner */
    default:
        return problem_set(why, 503, "row %lld of the journal is of no known kind", (long long)row->sequence);
    }
    if (!done)
        return false;
    self->sequence = row->sequence;
    self->time = row->time;
    return true;
}

/* ---- predictions ---- */

bool served_predict(uint32_t *class, double *scores, served *self, const features *given, problem *why)
{
    encoded line = {0};
    uc_status status = UC_OK;
    if (!dictionary_encode_known(&line, &self->names, given, why))
        return false;
    if (!self->cached)
        status = uc_online_model(&self->cached, self->online, false);
    if (status != UC_OK) {
        encoded_free(&line);
        return problem_of_library(why, status);
    }
    uint64_t offsets[2] = {0, line.row.count};
    uint32_t *columns = app_calloc(line.row.count, sizeof *columns);
    size_t width = 0;
    for (size_t i = 0; i < line.row.count; i++) {
        columns[i] = (uint32_t)uc_row_column(line.row, i);
        width = (size_t)columns[i] + 1;
    }
    const uc_matrix X = {
        .rows = 1, .cols = width, .values = line.values, .offsets = offsets, .columns = columns};
    status = uc_model_scores(scores, self->cached, &X, NULL);
    if (status == UC_OK)
        status = uc_model_predict(class, self->cached, &X, NULL);
    free(columns);
    encoded_free(&line);
    return status == UC_OK || problem_of_library(why, status);
}

/* ---- statistics ---- */

double served_recent(const served *self)
{
    size_t right = 0;
    for (size_t i = 0; i < self->recent_count; i++)
        right += self->recent[i] != 0;
    return self->recent_count ? (double)right / (double)self->recent_count : (double)NAN;
}
