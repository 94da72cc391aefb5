/*
 * The rounds of a stream, for everyone who has labelled examples to learn from: one loop.
 *
 *   uc_session_run_file, _data, _rows   which rows come, in which order
 *   run_each, run_mapped                rows as the weights see them: one by one, or many at a time by a map
 *   run_round                           propose; deliver what is due; feedback at once, late, or never; count
 *
 * Feedback of round t arrives after the proposal of round t + delay. Until then a copy of the row waits, as
 * it was when it was proposed for: after a map, before landmarks that came later.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "prepare/preprocessing.h"
#include "train/online.h"
#include "train/late.h"
#include "train/order.h"
#include "train/tally.h"
#include "unconfuse/session.h"

#define MISSING_SEQUENCE UINT64_C(0x636c692d6d697373) /* random numbers: "cli-miss" */
#define FLIP_SEQUENCE UINT64_C(0x666c69702d666265)    /* "flip-fbe" */
#define LABEL_SEQUENCE UINT64_C(0x6d697865642d6c62)   /* "mixed-lb" */
#define DRAWN_WORDS 2                                 /* for a round, of each sequence */
#define MAPPED_ROWS ((size_t)512)                     /* that go through the map together */
#define ROUNDS_PER_REPORT 64

struct uc_session {
    uc_session_settings settings;
    uc_context context;
    uc_online *online;
    bool owns_online;
    bool checks_memory;
    uc_online_ahead ahead; /* what is known of the data, for the memory that they need */

    uc_tally tally;
    const uc_names *names; /* what the labels of the rows at hand are positions in; lent */
    uint32_t *translation; /* from these positions to those in the tally; UC_NONE: not seen yet */
    size_t translated, translation_capacity;
    bool translates_classes; /* the labels of the rows at hand are the learner's classes */

    uc_late late;
    uc_rng missing, flips, labels;
    bool takes_sparse; /* sparse rows may become dense: the caller reads them as dense ones */

    uint64_t rounds_before, updates_before;
};

/* ---- memory ---- */

/* The memory that is needed while `waiting` rounds wait. */
static uc_online_ahead ahead_with(const uc_session *self, size_t waiting)
{
    uc_online_ahead ahead = self->ahead;
    ahead.waiting = (double)waiting;
    ahead.held_bytes += (double)waiting * sizeof(uc_late_round);
    return ahead;
}

static uc_status check_memory(const uc_session *self, size_t waiting)
{
    const uc_online_ahead ahead = ahead_with(self, waiting);
    if (!self->checks_memory)
        return UC_OK;
    return uc_online_check_memory(self->online, &ahead, &self->context);
}

/* Rows of more columns or labels than were known of. */
static uc_status check_rows(uc_session *self, const uc_matrix *X, size_t labels)
{
    uc_online_ahead *ahead = &self->ahead;
    const bool more_classes = self->settings.add_classes && labels > ahead->classes;
    if (X->rows == 0 || (X->cols <= ahead->columns && !more_classes))
        return UC_OK;
    if (X->cols > ahead->columns)
        ahead->columns = X->cols;
    if (more_classes)
        ahead->classes = labels;
    const double entry_bytes = uc_matrix_is_sparse(X) ? 8.0 : 4.0;
    ahead->row_bytes = entry_bytes * (double)uc_matrix_entries(X) / (double)X->rows;
    return check_memory(self, self->late.capacity);
}

/* ---- beginning ---- */

/* What is known of the data, before anything large is allocated. */
static uc_status check_plan(const uc_session *self, const uc_learner *learner, const void *settings,
                            const uc_train_settings *train)
{
    const double waiting = fmin((double)self->settings.delay, self->ahead.rounds);
    uc_online_ahead ahead = ahead_with(self, 0);
    if (isfinite(waiting))
        ahead = ahead_with(self, (size_t)waiting);
    return uc_learner_check_memory(learner, settings, train, &ahead, &self->context);
}

static uc_status check_settings(const uc_learner *learner, const uc_session_settings *settings)
{
    const uc_status status = uc_check_feedback(learner, (uc_feedback)settings->feedback);
    if (status != UC_OK)
        return status;
    const struct {
        const char *name;
        double value;
    } shares[] = {{"missing", settings->missing},
                  {"flips", settings->flips[0]},
                  {"flips", settings->flips[1]},
                  {"label_share", settings->label_share}};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        if (!(shares[i].value >= 0.0 && shares[i].value <= 1.0))
            return uc_fail(UC_ERR_OPTION, "%s %g is not a probability, from 0 to 1", shares[i].name,
                           shares[i].value);
    return UC_OK;
}

/* A session without a learner. */
static uc_session *create(const uc_session_settings *settings, const uc_context *context)
{
    uc_session *self = uc_alloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->settings = *settings;
    if (context)
        self->context = *context;
    self->ahead = (uc_online_ahead){.density = (double)NAN,
                                    .rounds = INFINITY,
                                    .held_bytes = settings->held_bytes,
                                    .saved = settings->saved};
    return self;
}

/* Orders and missing feedback continue where the learner's last session ended. */
static void take_learner(uc_session *self, uc_online *online)
{
    self->online = online;
    self->rounds_before = uc_online_proposals(online);
    self->updates_before = uc_online_updates(online);
    self->ahead.classes = uc_online_classes(online)->count;
    const uint64_t drawn = DRAWN_WORDS * self->rounds_before;
    self->missing = uc_rng_resume(online->train.seed, MISSING_SEQUENCE, drawn);
    self->flips = uc_rng_resume(online->train.seed, FLIP_SEQUENCE, drawn);
    self->labels = uc_rng_resume(online->train.seed, LABEL_SEQUENCE, drawn);
}

static uc_status begin_learner(uc_session *self, const uc_learner *learner, const void *settings,
                               const uc_train_settings *train, const uc_first_look *look)
{
    uc_train_settings found = *train;
    const uc_preprocessing *scaling = NULL;
    uc_online *online = NULL;
    if (isnan(found.map.gamma) && found.map.width == 0.0 && !isnan(look->width))
        found.map.width = look->width;
    if (look->scaling.factor)
        scaling = &look->scaling;
    uc_status status = check_plan(self, learner, settings, &found);
    if (status == UC_OK)
        status = uc_online_begin(&online, learner, settings, &found, &look->classes, scaling);
    if (status != UC_OK)
        return status;
    self->owns_online = self->checks_memory = true;
    if (!online->preprocessing.table)
        online->preprocessing.table = uc_table_share(look->scaling.table);
    take_learner(self, online);
    return uc_online_expect(online, look->columns, look->density);
}

uc_status uc_session_begin(uc_session **out, const uc_learner *learner, const void *settings,
                           const uc_train_settings *train, const uc_session_settings *session,
                           const uc_first_look *look, uint64_t passes, const uc_context *context)
{
    uc_status status = check_settings(learner, session);
    if (status != UC_OK)
        return status;
    uc_session *self = create(session, context);
    if (!self)
        return UC_ERR_NOMEM;
    self->ahead.columns = look->columns;
    self->ahead.classes = look->classes.count;
    self->ahead.density = look->density;
    self->ahead.row_bytes = look->row_bytes;
    if (look->rows > 0)
        self->ahead.rounds = (double)look->rows * (double)passes;
    status = begin_learner(self, learner, settings, train, look);
    if (status == UC_OK)
        *out = self;
    else
        uc_session_free(self);
    return status;
}

uc_status uc_session_continue(uc_session **out, uc_online *online, const uc_session_settings *session,
                              const uc_context *context)
{
    const uc_status status = check_settings(online->learner, session);
    if (status != UC_OK)
        return status;
    uc_session *self = create(session, context);
    if (!self)
        return UC_ERR_NOMEM;
    self->checks_memory = session->saved;
    take_learner(self, online);
    *out = self;
    return UC_OK;
}

void uc_session_free(uc_session *self)
{
    if (!self)
        return;
    if (self->owns_online)
        uc_online_free(self->online);
    uc_tally_free(&self->tally);
    uc_free(self->translation);
    uc_late_free(&self->late);
    uc_free(self);
}

uc_online *uc_session_online(const uc_session *self)
{
    return self->online;
}

/* ---- labels ---- */

/* "file.svm: ", or nothing, for the beginning of a sentence. */
#define SOURCE_LENGTH 1024
static const char *source_of(char text[SOURCE_LENGTH], const uc_session *self)
{
    text[0] = '\0';
    if (self->settings.source)
        snprintf(text, SOURCE_LENGTH, "%s: ", self->settings.source);
    return text;
}

/* Rows with labels of their own come. */
static void forget_translation(uc_session *self, bool classes)
{
    self->translated = 0;
    self->translates_classes = classes;
}

/* Room for the translation of every name; they are looked up when they are seen. */
static uc_status reserve_translation(uc_session *self, const uc_names *names)
{
    self->names = names;
    if (names->count > self->translation_capacity) {
        const size_t capacity = uc_grown(self->translation_capacity, names->count);
        uint32_t *translation = uc_realloc(self->translation, capacity, sizeof *translation);
        if (!translation)
            return UC_ERR_NOMEM;
        self->translation = translation;
        self->translation_capacity = capacity;
    }
    for (; self->translated < names->count; self->translated++)
        self->translation[self->translated] = UC_NONE;
    return UC_OK;
}

/* *out: a label of the rows at hand, as one of the tally. */
static uc_status find_label(uint32_t *out, uc_session *self, uint32_t label)
{
    const unsigned long long example = (unsigned long long)self->tally.rounds + 1;
    char source[SOURCE_LENGTH];
    if (label == UC_NONE)
        return uc_fail(UC_ERR_INVALID, "%sexample %llu has no label ('?'), which %s cannot use",
                       source_of(source, self), example, self->online->learner->name);
    if (label >= self->translated)
        return uc_fail(UC_ERR_INVALID, "label %u of example %llu is not below the number of classes, %zu",
                       label, example, self->translated);
    if (self->translation[label] == UC_NONE) {
        const uc_status status =
            uc_tally_add_label(&self->translation[label], &self->tally, self->names->text[label],
                               uc_online_classes(self->online));
        if (status != UC_OK)
            return status;
    }
    *out = self->translation[label];
    assert(*out < self->tally.labels.count);
    const bool known = self->tally.of[*out].class != UC_NONE;
    if (known || self->settings.feedback != UC_FEEDBACK_FULL || self->settings.add_classes)
        return UC_OK;
    const char *classes = "the classes";
    if (self->settings.classes)
        classes = self->settings.classes;
    return uc_fail(UC_ERR_INVALID, "%slabel %s of example %llu is not among %s", source_of(source, self),
                   self->tally.labels.text[*out], example, classes);
}

/* ---- counting ---- */

/* Room for a proposal of every class. */
static uc_status reserve_proposals(uc_session *self)
{
    return uc_tally_reserve(&self->tally, uc_online_classes(self->online)->count);
}

static uc_status count_round(uc_session *self, uint32_t label, uint32_t proposed, bool right)
{
    uc_tally_round(&self->tally, label, proposed, right);
    if (!self->settings.on_round)
        return UC_OK;
    const uc_session_round round = {self->tally.rounds, proposed, right};
    return self->settings.on_round(&round, self->settings.user);
}

/* ---- one round ---- */

/* The class of a label; one that the learner does not know becomes a new class. */
static uc_status class_of_label(uint32_t *out, uc_session *self, uint32_t label)
{
    uc_label_tally *tally = &self->tally.of[label];
    if (tally->class == UC_NONE) {
        const uc_status status =
            uc_online_add_class(&tally->class, self->online, self->tally.labels.text[label]);
        if (status != UC_OK)
            return status;
    }
    *out = tally->class;
    return reserve_proposals(self);
}

/* What comes back after a proposal. */
typedef struct feedback {
    uint32_t label; /* of the tally */
    bool right;     /* what the answer says */
    bool told;      /* the answer is the label */
} feedback;

static uc_status learn(uc_session *self, uc_row row, const uc_proposal *proposal, feedback back,
                       double weight)
{
    uc_online *online = self->online;
    uc_answer answer = {UC_ANSWER_WRONG, self->tally.of[back.label].class};
    if (back.right)
        answer.kind = UC_ANSWER_RIGHT;
    if (back.told) {
        answer.kind = UC_ANSWER_LABEL;
        const uc_status status = class_of_label(&answer.label, self, back.label);
        if (status != UC_OK)
            return status;
    }
    if (proposal->ticket != online->ticket)
        uc_online_score(online, row);
    return uc_online_learn_scored(online, row, proposal, answer, weight);
}

static uc_status learn_late(uc_session *self)
{
    const uc_late_round *round = uc_late_first(&self->late);
    const feedback back = {round->label, round->right, round->told};
    const uc_status status =
        learn(self, uc_row_copy_view(&round->row), &round->proposal, back, round->weight);
    uc_late_remove_first(&self->late);
    return status;
}

static uc_status wait_for_feedback(uc_session *self, uc_row row, const uc_proposal *proposal, feedback back,
                                   double weight)
{
    uc_late_round *round;
    uc_status status = UC_OK;
    if (self->late.count == self->late.capacity)
        status = check_memory(self, uc_late_capacity_for_one_more(&self->late));
    if (status == UC_OK)
        status = uc_late_add(&round, &self->late);
    if (status != UC_OK)
        return status;
    round->due = self->tally.rounds + self->settings.delay;
    round->proposal = *proposal;
    round->label = back.label;
    round->right = back.right;
    round->told = back.told;
    round->weight = weight;
    return uc_row_copy_set(&round->row, row);
}

static bool feedback_comes(uc_session *self)
{
    const double missing = self->settings.missing;
    return missing == 0.0 || uc_rng_uniform(&self->missing) >= missing;
}

/* Random numbers are drawn in every round, whatever it was: they continue where the rounds do. */
static feedback feedback_on(uc_session *self, uint32_t label, bool right)
{
    const uc_session_settings *settings = &self->settings;
    feedback back = {.label = label, .right = right, .told = settings->feedback == UC_FEEDBACK_FULL};
    if (!back.told && (settings->flips[0] > 0.0 || settings->flips[1] > 0.0)) {
        const double share = settings->flips[right ? 0 : 1];
        back.right = (uc_rng_uniform(&self->flips) < share) != right;
    }
    if (settings->feedback == UC_FEEDBACK_MIXED) {
        const bool drawn = uc_rng_uniform(&self->labels) < settings->label_share;
        const bool known = self->tally.of[label].class != UC_NONE || settings->add_classes;
        back.told = drawn && !back.right && known;
    }
    return back;
}

/* `row` as the weights see it; `label` is one of the tally. */
static uc_status run_round(uc_session *self, uc_row row, uint32_t label, double weight)
{
    uc_online *online = self->online;
    uc_online_score(online, row);
    const uc_proposal proposal = uc_online_propose_scored(online, row);
    const bool right = proposal.label != UC_NONE && proposal.label == self->tally.of[label].class;
    const bool comes = feedback_comes(self);
    const feedback back = feedback_on(self, label, right);
    const uc_late_round *first;
    uc_status status = UC_OK;
    while (status == UC_OK && (first = uc_late_first(&self->late)) && first->due <= self->tally.rounds)
        status = learn_late(self);
    if (status == UC_OK && comes && self->settings.delay > 0)
        status = wait_for_feedback(self, row, &proposal, back, weight);
    else if (status == UC_OK && comes)
        status = learn(self, row, &proposal, back, weight);
    if (status != UC_OK)
        return status;
    return count_round(self, label, proposal.label, right);
}

/* ---- many rounds ---- */

/* Rows to come: all of X, or `rows` of it. */
typedef struct batch {
    const uc_matrix *X;
    const uint32_t *labels;
    const double *weights; /* NULL: all are 1 */
    const size_t *rows;
    size_t count;
} batch;

static size_t row_of(const batch *self, size_t i)
{
    if (!self->rows)
        return i;
    return self->rows[i];
}

/* Rows lie anywhere in memory when they are shuffled, and a sparse row's weights always do: what the next
 * rounds need is asked for while this one still works. */
static void prefetch(const uc_session *self, const batch *rows, size_t i)
{
    const uc_matrix *X = rows->X;
    if (rows->rows && i + 8 < rows->count) {
        if (X->offsets)
            __builtin_prefetch(X->offsets + rows->rows[i + 8]);
        __builtin_prefetch(rows->labels + rows->rows[i + 8]);
        if (rows->weights)
            __builtin_prefetch(rows->weights + rows->rows[i + 8]);
        const uc_row later = uc_matrix_row(X, rows->rows[i + 4]);
        const size_t bytes = uc_min_size(later.count * sizeof(float), 1024);
        for (size_t at = 0; at < bytes; at += 64) {
            __builtin_prefetch((const char *)later.values + at);
            if (later.columns)
                __builtin_prefetch((const char *)later.columns + at);
        }
    }
    if (i + 1 < rows->count)
        uc_row_prefetch(uc_matrix_row(X, row_of(rows, i + 1)),
                        self->online->plane[UC_WEIGHTS] + self->online->stride, self->online->stride);
}

/* Rows that are prepared, or that are prepared one by one. */
static uc_status run_each(uc_session *self, const batch *rows, bool prepared)
{
    uc_status status = UC_OK;
    for (size_t i = 0; i < rows->count && status == UC_OK; i++) {
        uint32_t label = UC_NONE;
        uc_row row = uc_matrix_row(rows->X, row_of(rows, i));
        status = find_label(&label, self, rows->labels[row_of(rows, i)]);
        if (prepared)
            prefetch(self, rows, i);
        else if (status == UC_OK)
            status = uc_online_prepare_row(&row, self->online, row);
        if (status == UC_OK)
            status = run_round(self, row, label, rows->weights ? rows->weights[row_of(rows, i)] : 1.0);
    }
    return status;
}

/* After a map: MAPPED_ROWS rows are mapped together, then each has its round. */
static uc_status run_mapped(uc_session *self, const batch *rows)
{
    size_t taken[MAPPED_ROWS];
    uint32_t labels[MAPPED_ROWS];
    double weights[MAPPED_ROWS];
    uc_status status = UC_OK;
    for (size_t first = 0; first < rows->count && status == UC_OK; first += MAPPED_ROWS) {
        const size_t count = uc_min_size(rows->count - first, MAPPED_ROWS);
        uc_matrix part = {0}, mapped = {0};
        for (size_t i = 0; i < count; i++) {
            taken[i] = row_of(rows, first + i);
            labels[i] = rows->labels[taken[i]];
            weights[i] = rows->weights ? rows->weights[taken[i]] : 1.0;
        }
        status = uc_matrix_subset(&part, rows->X, taken, count, &self->context);
        if (status == UC_OK)
            status = uc_online_prepare(&mapped, self->online, &part, &self->context);
        const batch prepared = {&mapped, labels, weights, NULL, count};
        if (status == UC_OK)
            status = run_each(self, &prepared, true);
        uc_matrix_free(&mapped);
        uc_matrix_free(&part);
    }
    return status;
}

/* A running scaling that shifts meets the first rows: dense ones, or ones that would be stored so. */
static uc_status check_running(const uc_session *self, const uc_matrix *X)
{
    const uc_online *online = self->online;
    const double cells = (double)X->rows * (double)X->cols;
    const bool few = uc_matrix_is_sparse(X) && (double)uc_matrix_entries(X) < UC_SPARSE_DENSITY * cells;
    if (!online->running || !few || self->takes_sparse || uc_online_proposals(online) > 0)
        return UC_OK;
    return uc_check_sparse_scaling(online->preprocessing.scaling);
}

/* Labels are positions in `names`, whose translations are kept from call to call. */
static uc_status run_all(uc_session *self, const batch *rows, const uc_names *names, bool prepared)
{
    uc_online *online = self->online;
    char source[SOURCE_LENGTH];
    if (!rows->labels)
        return uc_fail(UC_ERR_INVALID, "%sthe data have no labels", source_of(source, self));
    uc_status status = check_rows(self, rows->X, names->count);
    if (status == UC_OK && !prepared)
        status = check_running(self, rows->X);
    if (status == UC_OK)
        status = reserve_translation(self, names);
    if (status == UC_OK)
        status = reserve_proposals(self);
    if (status == UC_OK && prepared)
        status = uc_online_check_prepared(online, rows->X);
    if (status != UC_OK)
        return status;
    if (online->preprocessing.map && !prepared)
        return run_mapped(self, rows);
    return run_each(self, rows, prepared);
}

/* Whether a row has a weight of 0. An order of all rows need not be followed, which would be slower. */
static uc_status check_weights(bool *weightless, const batch *rows)
{
    const bool all = rows->count == rows->X->rows;
    *weightless = false;
    for (size_t i = 0; i < rows->count; i++) {
        const size_t at = all ? i : row_of(rows, i);
        const double weight = rows->weights[at];
        if (!(weight >= 0.0 && isfinite(weight)))
            return uc_fail(UC_ERR_INVALID,
                           "the weight of example %zu, %g, is not a finite number of 0 or more", at + 1,
                           weight);
        *weightless = *weightless || weight == 0.0;
    }
    return UC_OK;
}

/* The rows whose weight is not 0, in *out; `kept` has room for all. */
static void leave_out_weightless(batch *out, size_t *kept, const batch *rows)
{
    *out = *rows;
    out->rows = kept;
    out->count = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->weights[row_of(rows, i)] > 0.0)
            kept[out->count++] = row_of(rows, i);
}

/* The same, without rows of weight 0. */
static uc_status run(uc_session *self, const batch *rows, const uc_names *names, bool prepared)
{
    batch weighted;
    bool weightless = false;
    uc_status status = rows->weights ? check_weights(&weightless, rows) : UC_OK;
    if (status != UC_OK)
        return status;
    if (!weightless)
        return run_all(self, rows, names, prepared);
    size_t *kept = uc_alloc(rows->count, sizeof *kept);
    if (!kept)
        return UC_ERR_NOMEM;
    leave_out_weightless(&weighted, kept, rows);
    status = run_all(self, &weighted, names, prepared);
    uc_free(kept);
    return status;
}

uc_status uc_session_run_rows(uc_session *self, const uc_matrix *X, const uint32_t *labels,
                              const size_t *rows, size_t count, bool prepared)
{
    return uc_session_run_weighted(self, X, labels, NULL, rows, count, prepared);
}

uc_status uc_session_run_weighted(uc_session *self, const uc_matrix *X, const uint32_t *labels,
                                  const double *weights, const size_t *rows, size_t count, bool prepared)
{
    const batch all = {X, labels, weights, rows, count};
    if (!self->translates_classes)
        forget_translation(self, true);
    return run(self, &all, uc_online_classes(self->online), prepared);
}

/* ---- passes ---- */

static uc_status pass_over_file(uc_session *self, const char *path, const uc_read_settings *read)
{
    uc_reader *reader = NULL;
    const uc_dataset *block = NULL;
    uc_preprocessing *preprocessing = &self->online->preprocessing;
    uc_read_settings own = read ? *read : uc_reader_defaults();
    own.table = preprocessing->table;
    self->takes_sparse = own.storage == UC_STORAGE_DENSE;
    uc_status status = uc_reader_open(&reader, path, &own, &self->context);
    if (status == UC_OK && !preprocessing->table)
        preprocessing->table = uc_table_share(uc_reader_table(reader));
    forget_translation(self, false);
    while (status == UC_OK && (status = uc_reader_next(&block, reader)) == UC_OK && block) {
        const batch rows = {&block->X, block->y, block->weights, NULL, block->X.rows};
        status = run(self, &rows, uc_reader_classes(reader), false);
    }
    uc_reader_close(reader);
    return status;
}

uc_status uc_session_run_file(uc_session *self, const char *path, const uc_read_settings *read,
                              uint64_t passes)
{
    uc_status status = UC_OK;
    for (uint64_t pass = 0; pass < passes && status == UC_OK; pass++)
        status = pass_over_file(self, path, read);
    return status;
}

/* As after the passes before this session: a resumed stream has the orders of one that never stopped. */
static uc_status begin_order(uc_order *out, const uc_session *self, size_t rows)
{
    uc_status status = uc_order_begin(out, rows, self->online->train.seed, UC_SEQUENCE_ORDER);
    uint64_t passes = 0;
    if (rows > 0)
        passes = self->rounds_before / rows;
    for (uint64_t pass = 0; pass < passes && status == UC_OK; pass++) {
        uc_order_next(out);
        status = uc_report(&self->context, "shuffling", (double)pass, (double)passes, NULL);
    }
    return status;
}

uc_status uc_session_run_data(uc_session *self, const uc_dataset *data, uint64_t passes, bool shuffled)
{
    uc_order order = {0};
    uc_status status = UC_OK;
    if (shuffled)
        status = begin_order(&order, self, data->X.rows);
    forget_translation(self, false);
    for (uint64_t pass = 0; pass < passes && status == UC_OK; pass++) {
        if (shuffled)
            uc_order_next(&order);
        const batch all = {&data->X, data->y, data->weights, order.rows, data->X.rows};
        status = run(self, &all, &data->classes, false);
    }
    uc_order_free(&order);
    return status;
}

uc_status uc_session_finish(uc_session *self)
{
    const size_t all = self->late.count;
    uc_status status = UC_OK;
    for (size_t done = 0; done < all && status == UC_OK; done++) {
        status = learn_late(self);
        if (status == UC_OK && done % ROUNDS_PER_REPORT == 0)
            status = uc_report(&self->context, "late feedback", (double)done, (double)all, NULL);
    }
    return status;
}

/* ---- what happened ---- */

uc_session_counts uc_session_count(const uc_session *self)
{
    return (uc_session_counts){.rounds = self->tally.rounds,
                               .correct = self->tally.correct,
                               .updates = uc_online_updates(self->online) - self->updates_before,
                               .rounds_before = self->rounds_before};
}

const uc_session_point *uc_session_curve(size_t *count, uc_session *self)
{
    return uc_tally_curve(count, &self->tally);
}

bool uc_session_label_at(uc_session_label *out, const uc_session *self, size_t i)
{
    return uc_tally_label_at(out, &self->tally, uc_online_classes(self->online), i);
}
