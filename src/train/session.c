/*
 * The rounds of a stream: one loop for everything that learns online from labelled examples.
 *
 *   uc_session_run_file, _data, _rows   determine which rows come, and in which order
 *   run_each, run_mapped                preprocess rows one by one, or many at a time if there is a map
 *   run_round                           proposes, delivers feedback that is due, gives the round's own
 *                                       feedback at once, late or never, and counts
 *
 * Feedback of round t arrives after the proposal of round t + delay; feedback that does not come expires
 * after that of round t + expire. Until then a copy of the row waits as it was preprocessed for the proposal:
 * after the map, but before landmarks that were added later.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "prepare/preprocessing.h"
#include "train/batch.h"
#include "train/late.h"
#include "train/online.h"
#include "train/order.h"
#include "train/tally.h"
#include "unconfuse/session.h"

#define MISSING_SEQUENCE UINT64_C(0x636c692d6d697373) /* random numbers: "cli-miss" */
#define FLIP_SEQUENCE UINT64_C(0x666c69702d666265)    /* "flip-fbe" */
#define LABEL_SEQUENCE UINT64_C(0x6d697865642d6c62)   /* "mixed-lb" */
#define DRAWN_WORDS 2                                 /* per round, from each sequence */
#define MAPPED_ROWS ((size_t)512)                     /* mapped together */
#define ROUNDS_PER_REPORT 64

struct uc_session {
    uc_session_settings settings;
    uc_context context;
    uc_online *online;
    bool owns_online;
    bool checks_memory;
    uc_online_ahead ahead; /* what is known about the data, for the memory estimate */

    uc_tally tally;
    const uc_names *names; /* the names that the current rows' labels are positions in; borrowed */
    uint32_t *translation; /* from positions in `names` to positions in the tally; UC_NONE: not seen yet */
    size_t translated, translation_capacity;
    bool translates_classes; /* the labels of the current rows are the learner's classes */

    uc_late late, expiring; /* rounds whose feedback will come, and rounds whose feedback will not */
    uc_event_counts events;
    uc_rng missing, flips, labels;
    bool takes_sparse; /* sparse rows are no problem: the reader makes them dense */

    uint64_t rounds_before, updates_before;
};

/* ---- memory ---- */

/* The memory that is needed while `waiting` rounds are waiting. */
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

/* Checks the memory if rows have more columns or labels than expected. */
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
    return check_memory(self, self->late.capacity + self->expiring.capacity);
}

/* ---- beginning ---- */

/* Checks the expected memory before anything large is allocated. */
static uc_status check_plan(const uc_session *self, const uc_learner *learner, const void *settings,
                            const uc_train_settings *train)
{
    const double most = (double)self->settings.delay + (double)self->settings.expire;
    const double waiting = fmin(most, self->ahead.rounds);
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
                  {"label_share", settings->label_share},
                  {"explore", settings->policy.explore}};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        if (!(shares[i].value >= 0.0 && shares[i].value <= 1.0))
            return uc_fail(UC_ERR_OPTION, "%s %g is not a probability, from 0 to 1", shares[i].name,
                           shares[i].value);
    if (settings->policy.expired_is_wrong && settings->feedback == UC_FEEDBACK_FULL)
        return uc_fail(UC_ERR_OPTION, "feedback is the label here: a round without it cannot count as wrong");
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

/* Random orders and missing feedback continue where the learner's last session ended. */
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
    uc_late_free(&self->expiring);
    uc_free(self);
}

uc_online *uc_session_online(const uc_session *self)
{
    return self->online;
}

/* ---- labels ---- */

/* "file.svm: " or nothing, as the beginning of a message. */
#define SOURCE_LENGTH 1024
static const char *source_of(char text[SOURCE_LENGTH], const uc_session *self)
{
    text[0] = '\0';
    if (self->settings.source)
        snprintf(text, SOURCE_LENGTH, "%s: ", self->settings.source);
    return text;
}

/* Prepares for rows with another list of labels. */
static void forget_translation(uc_session *self, bool classes)
{
    self->translated = 0;
    self->translates_classes = classes;
}

/* Makes room for the translation of every name; a name is looked up when its label first occurs. */
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

/* *out becomes the tally's position of a label of the current rows. */
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

/* Makes room to count proposals of every class. */
static uc_status reserve_proposals(uc_session *self)
{
    return uc_tally_reserve(&self->tally, uc_online_classes(self->online)->count);
}

static uc_status count_round(uc_session *self, uint32_t label, const uc_proposal *proposal, bool right)
{
    uc_tally_round(&self->tally, label, proposal->label, right);
    if (!self->settings.on_round)
        return UC_OK;
    const uc_session_round round = {self->tally.rounds, proposal->label, right, proposal->probability};
    return self->settings.on_round(&round, self->settings.user);
}

/* ---- one round ---- */

/* The learner's class of a label; a label that the learner does not know becomes a new class. */
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

/* The feedback on a proposal. */
typedef struct feedback {
    uint32_t label; /* position in the tally */
    bool right;     /* what the answer says */
    bool told;      /* the answer includes the label */
    bool expired;   /* the answer does not come in time */
} feedback;

static uc_status learn(uc_session *self, uc_row row, const uc_proposal *proposal, feedback back,
                       double weight)
{
    uc_online *online = self->online;
    uc_answer answer = {UC_ANSWER_WRONG, self->tally.of[back.label].class};
    if (back.right)
        answer.kind = UC_ANSWER_RIGHT;
    if (back.expired && !uc_policy_expire(&answer, &self->events, &self->settings.policy, online, proposal))
        return UC_OK;
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

/* The ring whose first round is due next, by round `last` at the latest. If both rings are due at the same
 * round, the one with the older round comes first, which is the expiring one. NULL if neither is due. */
static uc_late *next_due(uc_session *self, uint64_t last)
{
    const uc_late_round *late = uc_late_first(&self->late), *expiring = uc_late_first(&self->expiring);
    if (late && late->due <= last && (!expiring || late->due < expiring->due))
        return &self->late;
    return expiring && expiring->due <= last ? &self->expiring : NULL;
}

static uc_status learn_first(uc_session *self, uc_late *from)
{
    const uc_late_round *round = uc_late_first(from);
    const feedback back = {round->label, round->right, round->told, round->expired};
    const uc_status status =
        learn(self, uc_row_copy_view(&round->row), &round->proposal, back, round->weight);
    uc_late_remove_first(from);
    return status;
}

static uc_status wait_for_feedback(uc_session *self, uc_row row, const uc_proposal *proposal, feedback back,
                                   double weight)
{
    uc_late *ring = back.expired ? &self->expiring : &self->late;
    uc_late *other = back.expired ? &self->late : &self->expiring;
    uc_late_round *round;
    uc_status status = UC_OK;
    if (ring->count == ring->capacity)
        status = check_memory(self, uc_late_capacity_for_one_more(ring) + other->capacity);
    if (status == UC_OK)
        status = uc_late_add(&round, ring);
    if (status != UC_OK)
        return status;
    round->due = self->tally.rounds + (back.expired ? self->settings.expire : self->settings.delay);
    round->proposal = *proposal;
    round->label = back.label;
    round->right = back.right;
    round->told = back.told;
    round->expired = back.expired;
    round->weight = weight;
    return uc_row_copy_set(&round->row, row);
}

static bool feedback_comes(uc_session *self)
{
    const double missing = self->settings.missing;
    return missing == 0.0 || uc_rng_uniform(&self->missing) >= missing;
}

/* Every round draws random numbers, even if it does not use them, so that a resumed session draws the same
 * ones. */
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

/* Gives the feedback at once, later, or never. */
static uc_status give_feedback(uc_session *self, uc_row row, const uc_proposal *proposal, feedback back,
                               bool comes, double weight)
{
    const uint64_t expire = self->settings.expire, delay = self->settings.delay;
    back.expired = expire > 0 && (!comes || delay > expire);
    if (back.expired && self->settings.policy.expired_is_wrong) { /* what is ignored need not wait */
        back.right = back.told = false;
        return wait_for_feedback(self, row, proposal, back, weight);
    }
    if (!comes && !back.expired)
        return UC_OK;
    if (delay > 0 && !back.expired)
        return wait_for_feedback(self, row, proposal, back, weight);
    return learn(self, row, proposal, back, weight);
}

/* `row` is preprocessed; `label` is a position in the tally. */
static uc_status run_round(uc_session *self, uc_row row, uint32_t label, uint32_t baseline, double weight)
{
    uc_online *online = self->online;
    uc_online_score(online, row);
    uc_proposal proposal = uc_online_propose_scored(online, row);
    uc_policy_propose(&proposal, &self->events, &self->settings.policy, online, baseline, NULL);
    const bool right = proposal.label != UC_NONE && proposal.label == self->tally.of[label].class;
    const bool comes = feedback_comes(self);
    const feedback back = feedback_on(self, label, right);
    uc_late *due;
    uc_status status = UC_OK;
    while (status == UC_OK && (due = next_due(self, self->tally.rounds)))
        status = learn_first(self, due);
    if (status == UC_OK)
        status = give_feedback(self, row, &proposal, back, comes, weight);
    if (status == UC_OK)
        status = count_round(self, label, &proposal, right);
    uint32_t class = self->tally.of[label].class;
    const bool announced = self->settings.add_classes && self->settings.feedback == UC_FEEDBACK_PARTIAL;
    if (status == UC_OK && class == UC_NONE && announced)
        status = class_of_label(&class, self, label);
    return status;
}

/* ---- many rounds ---- */

/* Rows that are preprocessed already, or are preprocessed one by one. */
static uc_status run_each(uc_session *self, const uc_batch *rows, bool prepared)
{
    uc_status status = UC_OK;
    for (size_t i = 0; i < rows->count && status == UC_OK; i++) {
        const size_t at = uc_batch_row(rows, i);
        uint32_t label = UC_NONE;
        uc_row row = uc_matrix_row(rows->X, at);
        status = find_label(&label, self, rows->labels[at]);
        if (prepared)
            uc_batch_prefetch(rows, i);
        else if (status == UC_OK)
            status = uc_online_prepare_row(&row, self->online, row);
        if (status == UC_OK)
            status = run_round(self, row, label, uc_batch_baseline(rows, at), uc_batch_weight(rows, at));
    }
    return status;
}

/* With a map: maps MAPPED_ROWS rows together, then runs a round for each of them. */
static uc_status run_mapped(uc_session *self, const uc_batch *rows)
{
    size_t taken[MAPPED_ROWS];
    uint32_t labels[MAPPED_ROWS], baselines[MAPPED_ROWS];
    double weights[MAPPED_ROWS];
    uc_status status = UC_OK;
    for (size_t first = 0; first < rows->count && status == UC_OK; first += MAPPED_ROWS) {
        const size_t count = uc_min_size(rows->count - first, MAPPED_ROWS);
        uc_matrix part = {0}, mapped = {0};
        for (size_t i = 0; i < count; i++) {
            taken[i] = uc_batch_row(rows, first + i);
            labels[i] = rows->labels[taken[i]];
            baselines[i] = uc_batch_baseline(rows, taken[i]);
            weights[i] = uc_batch_weight(rows, taken[i]);
        }
        status = uc_matrix_subset(&part, rows->X, taken, count, &self->context);
        if (status == UC_OK)
            status = uc_online_prepare(&mapped, self->online, &part, &self->context);
        const uc_batch prepared = {&mapped, labels, weights, NULL, count, baselines};
        if (status == UC_OK)
            status = run_each(self, &prepared, true);
        uc_matrix_free(&mapped);
        uc_matrix_free(&part);
    }
    return status;
}

/* A running scaling that shifts values needs rows that are dense, or would be stored as dense. */
static uc_status check_running(const uc_session *self, const uc_matrix *X)
{
    const uc_online *online = self->online;
    const double cells = (double)X->rows * (double)X->cols;
    const bool few = uc_matrix_is_sparse(X) && (double)uc_matrix_entries(X) < UC_SPARSE_DENSITY * cells;
    if (!online->running || !few || self->takes_sparse || uc_online_proposals(online) > 0)
        return UC_OK;
    return uc_check_sparse_scaling(online->preprocessing.scaling);
}

/* Labels are positions in `names`, whose translations are kept between calls. */
static uc_status run_all(uc_session *self, const uc_batch *rows, const uc_names *names, bool prepared)
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

/* The same, with the predictions of the baseline. */
static uc_status run_compared(uc_session *self, const uc_batch *rows, const uc_names *names, bool prepared)
{
    uc_batch compared = *rows;
    uint32_t *baselines = NULL;
    if (!self->settings.baseline)
        return run_all(self, rows, names, prepared);
    if (prepared)
        return uc_fail(UC_ERR_INVALID, "a baseline needs rows as they come, not prepared ones");
    uc_status status = uc_batch_predict(&baselines, rows, self->settings.baseline,
                                        uc_online_classes(self->online), &self->context);
    compared.baselines = baselines;
    if (status == UC_OK)
        status = run_all(self, &compared, names, prepared);
    uc_free(baselines);
    return status;
}

/* The same, without rows of weight 0. */
static uc_status run(uc_session *self, const uc_batch *rows, const uc_names *names, bool prepared)
{
    uc_batch weighted;
    bool weightless = false;
    uc_status status = rows->weights ? uc_batch_check_weights(&weightless, rows) : UC_OK;
    if (status != UC_OK)
        return status;
    if (!weightless)
        return run_compared(self, rows, names, prepared);
    size_t *kept = uc_alloc(rows->count, sizeof *kept);
    if (!kept)
        return UC_ERR_NOMEM;
    uc_batch_leave_out_weightless(&weighted, kept, rows);
    status = run_compared(self, &weighted, names, prepared);
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
    const uc_batch all = {X, labels, weights, rows, count, NULL};
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
        const uc_batch rows = {&block->X, block->y, block->weights, NULL, block->X.rows, NULL};
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

/* The order after the passes before this session: a resumed stream has the same orders as one that never
 * stopped. */
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
        const uc_batch all = {&data->X, data->y, data->weights, order.rows, data->X.rows, NULL};
        status = run(self, &all, &data->classes, false);
    }
    uc_order_free(&order);
    return status;
}

uc_status uc_session_finish(uc_session *self)
{
    const size_t all = self->late.count + self->expiring.count;
    uc_status status = UC_OK;
    for (size_t done = 0; done < all && status == UC_OK; done++) {
        status = learn_first(self, next_due(self, UINT64_MAX));
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
                               .rounds_before = self->rounds_before,
                               .events = self->events};
}

const uc_session_point *uc_session_curve(size_t *count, uc_session *self)
{
    return uc_tally_curve(count, &self->tally);
}

bool uc_session_label_at(uc_session_label *out, const uc_session *self, size_t i)
{
    return uc_tally_label_at(out, &self->tally, uc_online_classes(self->online), i);
}
