/* The journal in SQLite.
 *
 * It uses WAL, so that readers never wait and a commit is one append and (JOURNAL_POWER) one fsync. The
 * partial indexes enforce that an id is used for one proposal only, and that a proposal has one answer. */
#include "service/journal.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/memory.h"

enum {
    ADD_ROW,
    ADD_MODEL,
    EACH,
    DEFINITIONS,
    LAST,
    FIND,
    ANSWER,
    ADD_SNAPSHOT,
    REMOVE_SNAPSHOT,
    SNAPSHOTS,
    MODELS,
    BEGIN,
    COMMIT,
    ROLLBACK,
    STATEMENTS
};

#define COLUMNS                                                                                              \
    "model, sequence, kind, time, event, id, features, proposed, favourite, probability, answer, label, "    \
    "text"

static const char *const statements[STATEMENTS] = {
    [ADD_ROW] = "INSERT INTO journal(" COLUMNS ") VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)",
    [ADD_MODEL] = "INSERT INTO models(number, name) VALUES(?1, ?2)",
    [EACH] = "SELECT " COLUMNS " FROM journal WHERE model = ?1 AND sequence > ?2 AND sequence <= ?3 "
             "ORDER BY sequence",
    [DEFINITIONS] = "SELECT " COLUMNS " FROM journal WHERE model = ?1 AND kind = 1 AND sequence > ?2 AND "
                    "sequence <= ?3 ORDER BY sequence",
    [LAST] = "SELECT max(sequence) FROM journal WHERE model = ?1",
    [FIND] = "SELECT sequence FROM journal WHERE model = ?1 AND id = ?2 AND id IS NOT NULL",
    [ANSWER] = "SELECT " COLUMNS " FROM journal WHERE model = ?1 AND event = ?2 AND kind IN (3, 4)",
    [ADD_SNAPSHOT] = "INSERT OR REPLACE INTO snapshots(model, sequence, state) VALUES(?1, ?2, ?3)",
    [REMOVE_SNAPSHOT] = "DELETE FROM snapshots WHERE model = ?1 AND sequence = ?2",
    [SNAPSHOTS] = ("SELECT sequence, state FROM snapshots WHERE model = ?1 AND sequence <= ?2 "
                   "ORDER BY sequence DESC"),
    [MODELS] = "SELECT number, name FROM models ORDER BY number",
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
};

#define APPLICATION "1430479443" /* "UCJS", in the file's header */
static const char schema[] =
    "PRAGMA application_id = " APPLICATION ";" /* first, so that our tables never exist without it */
    "CREATE TABLE IF NOT EXISTS models(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE IF NOT EXISTS journal(model INTEGER NOT NULL, sequence INTEGER NOT NULL, "
    "kind INTEGER NOT NULL, time INTEGER NOT NULL, event INTEGER, id TEXT, features BLOB, proposed INTEGER, "
    "favourite INTEGER, probability REAL, answer INTEGER, label INTEGER, text TEXT, "
    "PRIMARY KEY(model, sequence)) WITHOUT ROWID;"
    "CREATE UNIQUE INDEX IF NOT EXISTS ids ON journal(model, id) WHERE id IS NOT NULL;"
    "CREATE UNIQUE INDEX IF NOT EXISTS answers ON journal(model, event) WHERE kind IN (3, 4);"
    "CREATE INDEX IF NOT EXISTS definitions ON journal(model, sequence) WHERE kind = 1;"
    "CREATE TABLE IF NOT EXISTS snapshots(model INTEGER NOT NULL, sequence INTEGER NOT NULL, "
    "state TEXT NOT NULL, PRIMARY KEY(model, sequence));";

struct journal {
    char *path;
    sqlite3 *db;
    sqlite3_stmt *prepared[STATEMENTS];
    bool writing; /* in a transaction */
};

/* ---- errors of SQLite ---- */

/* Whether there is no room: SQLite itself only recognises ENOSPC, but limits for a file or a user have the
 * same effect. They are found in errno, which is set to 0 before a step; sqlite3_system_errno does not have
 * write errors. */
static bool is_full(int code, int system_said)
{
    if ((code & 0xff) == SQLITE_IOERR)
        return system_said == EFBIG || system_said == EDQUOT || system_said == ENOSPC;
    return (code & 0xff) == SQLITE_FULL;
}

/* The errno of a file that could not be opened or written. */
static int reason_of(const journal *self)
{
    const int reason = sqlite3_system_errno(self->db);
    if (reason != 0)
        return reason;
    return access(self->path, W_OK) == 0 ? EROFS : errno;
}

static bool complain(const journal *self, problem *why)
{
    const int system_said = errno, code = self->db ? sqlite3_errcode(self->db) : SQLITE_NOMEM;
    const char *said = self->db ? sqlite3_errmsg(self->db) : "not enough memory";
    if (is_full(code, system_said))
        return problem_set(why, 507, "%s: the disk is full; nothing was changed", self->path);
    if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB)
        return problem_set(why, 503, "%s: the journal is damaged (%s); restore it from a backup", self->path,
                           said);
    if ((code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY)
        return problem_set(why, 503, "%s: %s: %s", self->path, said, strerror(reason_of(self)));
    return problem_set(why, 503, "%s: %s", self->path, said);
}

static bool execute(journal *self, const char *sql, problem *why)
{
    errno = 0;
    return sqlite3_exec(self->db, sql, NULL, NULL, NULL) == SQLITE_OK || complain(self, why);
}

/* Prepares a statement, ready for its values. */
static sqlite3_stmt *statement(journal *self, int which, problem *why)
{
    sqlite3_stmt **prepared = &self->prepared[which];
    if (!*prepared && sqlite3_prepare_v3(self->db, statements[which], -1, SQLITE_PREPARE_PERSISTENT, prepared,
                                         NULL) != SQLITE_OK) {
        (void)complain(self, why);
        return NULL;
    }
    (void)sqlite3_reset(*prepared);
    (void)sqlite3_clear_bindings(*prepared);
    return *prepared;
}

/* Runs a statement that returns no rows. */
static bool step(journal *self, sqlite3_stmt *prepared, problem *why)
{
    errno = 0;
    const bool done = sqlite3_step(prepared) == SQLITE_DONE;
    if (!done)
        (void)complain(self, why);
    (void)sqlite3_reset(prepared);
    return done;
}

static bool run(journal *self, int which, problem *why)
{
    sqlite3_stmt *prepared = statement(self, which, why);
    return prepared && step(self, prepared, why);
}

/* ---- opening ---- */

/* Whether the file is a journal or, with `empty_is_fine`, is empty. Changes nothing. */
static bool check_owner(journal *self, bool empty_is_fine, problem *why)
{
    static const char sql[] = "SELECT application_id = " APPLICATION
                              ", application_id = 0 AND (SELECT count(*) FROM sqlite_schema) = 0 "
                              "FROM pragma_application_id";
    sqlite3_stmt *asked = NULL;
    errno = 0;
    if (sqlite3_prepare_v2(self->db, sql, -1, &asked, NULL) != SQLITE_OK ||
        sqlite3_step(asked) != SQLITE_ROW) {
        (void)complain(self, why);
        (void)sqlite3_finalize(asked);
        return false;
    }
    const bool ours = sqlite3_column_int(asked, 0) != 0, empty = sqlite3_column_int(asked, 1) != 0;
    (void)sqlite3_finalize(asked);
    if (ours || (empty && empty_is_fine))
        return true;
    if (empty)
        return problem_set(why, 503, "%s: the journal is empty; unconfuse serve has not written it yet",
                           self->path);
    return problem_set(why, 503,
                       "%s: this is the database of another program, not a journal of unconfuse serve",
                       self->path);
}

static bool prepare_file(journal *self, journal_durability durability, problem *why)
{
    (void)sqlite3_extended_result_codes(self->db, 0);
    (void)sqlite3_busy_timeout(self->db, 5000);
    if (!check_owner(self, durability != JOURNAL_READ_ONLY, why))
        return false;
    if (durability == JOURNAL_READ_ONLY)
        return execute(self, "SELECT count(*) FROM models", why);
    return execute(self, "PRAGMA journal_mode = WAL", why) &&
           execute(self,
                   durability == JOURNAL_POWER ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL",
                   why) &&
           execute(self, "PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 4000", why) &&
           execute(self, schema, why);
}

bool journal_open(journal **out, const char *path, journal_durability durability, problem *why)
{
    journal *self = app_calloc(1, sizeof *self);
    const int flags =
        durability == JOURNAL_READ_ONLY ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    self->path = app_text("%s", path);
    bool opened = sqlite3_open_v2(path, &self->db, flags | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK;
    if (!opened)
        (void)complain(self, why);
    else
        opened = prepare_file(self, durability, why);
    if (opened)
        *out = self;
    else
        journal_close(self);
    return opened;
}

void journal_close(journal *self)
{
    if (!self)
        return;
    journal_abandon(self);
    for (size_t i = 0; i < STATEMENTS; i++)
        (void)sqlite3_finalize(self->prepared[i]);
    (void)sqlite3_close(self->db);
    free(self->path);
    free(self);
}

/* ---- writing ---- */

static bool begin(journal *self, problem *why)
{
    if (!self->writing)
        self->writing = run(self, BEGIN, why);
    return self->writing;
}

void journal_abandon(journal *self)
{
    if (self->writing && !sqlite3_get_autocommit(self->db))
        (void)run(self, ROLLBACK, NULL);
    self->writing = false;
}

bool journal_commit(journal *self, problem *why)
{
    if (!self->writing)
        return true;
    if (!run(self, COMMIT, why)) {
        journal_abandon(self);
        return false;
    }
    self->writing = false;
    return true;
}

static void bind_class(sqlite3_stmt *prepared, int at, uint32_t class)
{
    if (class != UC_NONE)
        (void)sqlite3_bind_int64(prepared, at, class);
}

bool journal_add(journal *self, const journal_row *row, problem *why)
{
    sqlite3_stmt *add = begin(self, why) ? statement(self, ADD_ROW, why) : NULL;
    if (!add)
        return false;
    (void)sqlite3_bind_int64(add, 1, row->model);
    (void)sqlite3_bind_int64(add, 2, row->sequence);
    (void)sqlite3_bind_int64(add, 3, row->kind);
    (void)sqlite3_bind_int64(add, 4, row->time);
    if (row->event)
        (void)sqlite3_bind_int64(add, 5, row->event);
    if (row->id)
        (void)sqlite3_bind_text(add, 6, row->id, -1, SQLITE_STATIC);
    if (row->features)
        (void)sqlite3_bind_blob64(add, 7, row->features, row->features_size, SQLITE_STATIC);
    bind_class(add, 8, row->proposed);
    bind_class(add, 9, row->favourite);
    if (row->kind == JOURNAL_PROPOSAL)
        (void)sqlite3_bind_double(add, 10, row->probability);
    if (row->answer != JOURNAL_NO_ANSWER)
        (void)sqlite3_bind_int(add, 11, row->answer);
    bind_class(add, 12, row->label);
    if (row->text)
        (void)sqlite3_bind_text(add, 13, row->text, -1, SQLITE_STATIC);
    return step(self, add, why);
}

bool journal_add_model(journal *self, int64_t number, const char *name, problem *why)
{
    sqlite3_stmt *add = begin(self, why) ? statement(self, ADD_MODEL, why) : NULL;
    if (!add)
        return false;
    (void)sqlite3_bind_int64(add, 1, number);
    (void)sqlite3_bind_text(add, 2, name, -1, SQLITE_STATIC);
    return step(self, add, why);
}

/* Uses two transactions, since pages that are allocated and freed in a single one are never written. */
bool journal_is_writable(journal *self, problem *why)
{
    static const char *const probes[] = {
        "INSERT OR REPLACE INTO snapshots(model, sequence, state) VALUES(-1, -1, hex(zeroblob(16384)))",
        "DELETE FROM snapshots WHERE model = -1"};
    bool written = true;
    if (self->writing)
        return true;
    for (size_t i = 0; i < sizeof probes / sizeof *probes && written; i++) {
        written = begin(self, why) && execute(self, probes[i], why) && journal_commit(self, why);
        if (!written)
            journal_abandon(self);
    }
    return written;
}

/* ---- reading ---- */

static uint32_t class_at(sqlite3_stmt *row, int column)
{
    if (sqlite3_column_type(row, column) == SQLITE_NULL)
        return UC_NONE;
    return (uint32_t)sqlite3_column_int64(row, column);
}

static journal_row row_of(sqlite3_stmt *row)
{
    journal_row found = {.model = sqlite3_column_int64(row, 0),
                         .sequence = sqlite3_column_int64(row, 1),
                         .kind = (journal_kind)sqlite3_column_int(row, 2),
                         .time = sqlite3_column_int64(row, 3),
                         .event = sqlite3_column_int64(row, 4),
                         .id = (const char *)sqlite3_column_text(row, 5),
                         .features = sqlite3_column_blob(row, 6),
                         .features_size = (size_t)sqlite3_column_bytes(row, 6),
                         .proposed = class_at(row, 7),
                         .favourite = class_at(row, 8),
                         .probability = sqlite3_column_double(row, 9),
                         .answer = JOURNAL_NO_ANSWER,
                         .label = class_at(row, 11),
                         .text = (const char *)sqlite3_column_text(row, 12)};
    if (sqlite3_column_type(row, 10) != SQLITE_NULL)
        found.answer = sqlite3_column_int(row, 10);
    return found;
}

/* Visits the rows of a statement. If `visit` returns false, this stops, but is not a failure of the
 * journal. */
static bool visit_rows(journal *self, sqlite3_stmt *prepared, journal_row_fn *visit, void *user, problem *why)
{
    int code = SQLITE_DONE;
    bool go_on = true;
    while (go_on && (code = sqlite3_step(prepared)) == SQLITE_ROW) {
        const journal_row row = row_of(prepared);
        go_on = visit(&row, user);
    }
    if (go_on && code != SQLITE_DONE)
        go_on = complain(self, why);
    (void)sqlite3_reset(prepared);
    return go_on;
}

/* Uses a separate statement, since `visit` may ask for other rows. */
static bool visit_range(journal *self, int which, int64_t model, int64_t after, int64_t last,
                        journal_row_fn *visit, void *user, problem *why)
{
    sqlite3_stmt *each = NULL;
    if (sqlite3_prepare_v2(self->db, statements[which], -1, &each, NULL) != SQLITE_OK)
        return complain(self, why);
    (void)sqlite3_bind_int64(each, 1, model);
    (void)sqlite3_bind_int64(each, 2, after);
    (void)sqlite3_bind_int64(each, 3, last);
    const bool visited = visit_rows(self, each, visit, user, why);
    (void)sqlite3_finalize(each);
    return visited;
}

bool journal_each(journal *self, int64_t model, int64_t after, int64_t last, journal_row_fn *visit,
                  void *user, problem *why)
{
    return visit_range(self, EACH, model, after, last, visit, user, why);
}

bool journal_definitions(journal *self, int64_t model, int64_t last, journal_row_fn *visit, void *user,
                         problem *why)
{
    return visit_range(self, DEFINITIONS, model, 0, last, visit, user, why);
}

/* Reads the number in the first column of the first row; 0 if there is none. */
static bool read_number(int64_t *out, journal *self, sqlite3_stmt *prepared, problem *why)
{
    const int code = sqlite3_step(prepared);
    *out = code == SQLITE_ROW ? sqlite3_column_int64(prepared, 0) : 0;
    const bool read = code == SQLITE_ROW || code == SQLITE_DONE || complain(self, why);
    (void)sqlite3_reset(prepared);
    return read;
}

bool journal_last(int64_t *out, journal *self, int64_t model, problem *why)
{
    sqlite3_stmt *last = statement(self, LAST, why);
    if (!last)
        return false;
    (void)sqlite3_bind_int64(last, 1, model);
    return read_number(out, self, last, why);
}

bool journal_find(int64_t *sequence, journal *self, int64_t model, const char *id, problem *why)
{
    sqlite3_stmt *find = statement(self, FIND, why);
    if (!find)
        return false;
    (void)sqlite3_bind_int64(find, 1, model);
    (void)sqlite3_bind_text(find, 2, id, -1, SQLITE_STATIC);
    return read_number(sequence, self, find, why);
}

bool journal_find_answer(journal *self, int64_t model, int64_t event, journal_row_fn *visit, void *user,
                         problem *why)
{
    sqlite3_stmt *find = statement(self, ANSWER, why);
    if (!find)
        return false;
    (void)sqlite3_bind_int64(find, 1, model);
    (void)sqlite3_bind_int64(find, 2, event);
    return visit_rows(self, find, visit, user, why);
}

bool journal_models(journal *self, journal_model_fn *visit, void *user, problem *why)
{
    sqlite3_stmt *models = statement(self, MODELS, why);
    int code = SQLITE_DONE;
    bool go_on = models != NULL;
    while (go_on && (code = sqlite3_step(models)) == SQLITE_ROW)
        go_on = visit(sqlite3_column_int64(models, 0), (const char *)sqlite3_column_text(models, 1), user);
    if (go_on && code != SQLITE_DONE)
        go_on = complain(self, why);
    if (models)
        (void)sqlite3_reset(models);
    return go_on;
}

/* ---- snapshots ---- */

bool journal_add_snapshot(journal *self, int64_t model, int64_t sequence, const char *state, problem *why)
{
    sqlite3_stmt *add = begin(self, why) ? statement(self, ADD_SNAPSHOT, why) : NULL;
    if (!add)
        return false;
    (void)sqlite3_bind_int64(add, 1, model);
    (void)sqlite3_bind_int64(add, 2, sequence);
    (void)sqlite3_bind_text(add, 3, state, -1, SQLITE_STATIC);
    if (!step(self, add, why)) {
        journal_abandon(self);
        return false;
    }
    return journal_commit(self, why);
}

bool journal_remove_snapshot(journal *self, int64_t model, int64_t sequence, problem *why)
{
    sqlite3_stmt *gone = begin(self, why) ? statement(self, REMOVE_SNAPSHOT, why) : NULL;
    if (!gone)
        return false;
    (void)sqlite3_bind_int64(gone, 1, model);
    (void)sqlite3_bind_int64(gone, 2, sequence);
    if (!step(self, gone, why)) {
        journal_abandon(self);
        return false;
    }
    return journal_commit(self, why);
}

bool journal_snapshots(journal *self, int64_t model, int64_t last, journal_snapshot_fn *visit, void *user,
                       problem *why)
{
    sqlite3_stmt *list = NULL;
    int code = SQLITE_DONE;
    if (sqlite3_prepare_v2(self->db, statements[SNAPSHOTS], -1, &list, NULL) != SQLITE_OK)
        return complain(self, why);
    (void)sqlite3_bind_int64(list, 1, model);
    (void)sqlite3_bind_int64(list, 2, last);
    bool go_on = true;
    while (go_on && (code = sqlite3_step(list)) == SQLITE_ROW)
        go_on = visit(sqlite3_column_int64(list, 0), (const char *)sqlite3_column_text(list, 1), user);
    const bool read = !go_on || code == SQLITE_DONE || complain(self, why);
    (void)sqlite3_finalize(list);
    return read;
}
