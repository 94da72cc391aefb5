/* What SQLite is refused by the system, call by call: no acknowledged event is lost, none is there twice, and
 * the model is that of the journal. A VFS in front of the real one makes the n-th write, sync or truncation
 * fail, or the n-th read. */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/program.h"
#include "service/engine.h"
#include "tests/support.h"

const app_program app_this_program = {.name = "service_faults"};

/* ---- a VFS that fails ---- */

static sqlite3_vfs shim;
static sqlite3_vfs *real;
/* Files with locks and without have methods of their own. */
static struct {
    const sqlite3_io_methods *real;
    sqlite3_io_methods failing;
} pairs[8];
static long calls, fails_at; /* counts from 1; 0: never */
static bool for_ever;
static int code;

static bool fails(bool reads)
{
    if (reads != (code == SQLITE_IOERR_READ))
        return false;
    calls++;
    return fails_at > 0 && (calls == fails_at || (for_ever && calls > fails_at));
}

static const sqlite3_io_methods *real_of(const sqlite3_file *file)
{
    size_t i = 0;
    while (file->pMethods != &pairs[i].failing)
        i++;
    return pairs[i].real;
}

static int fail_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
    return fails(false) ? code : real_of(file)->xWrite(file, bytes, size, at);
}

static int fail_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 at)
{
    return fails(true) ? code : real_of(file)->xRead(file, bytes, size, at);
}

static int fail_sync(sqlite3_file *file, int flags)
{
    return fails(false) ? SQLITE_IOERR_FSYNC : real_of(file)->xSync(file, flags);
}

static int fail_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return fails(false) ? SQLITE_IOERR_TRUNCATE : real_of(file)->xTruncate(file, size);
}

static int open_shim(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)self;
    const int opened = real->xOpen(real, name, file, flags, out);
    if (opened != SQLITE_OK || !file->pMethods)
        return opened;
    size_t i = 0;
    while (pairs[i].real && pairs[i].real != file->pMethods)
        i++;
    if (!pairs[i].real) {
        pairs[i].failing = *file->pMethods;
        pairs[i].failing.xWrite = fail_write;
        pairs[i].failing.xRead = fail_read;
        pairs[i].failing.xFetch = NULL; /* all reading goes through xRead */
        pairs[i].failing.iVersion = 2;
        pairs[i].failing.xSync = fail_sync;
        pairs[i].failing.xTruncate = fail_truncate;
        pairs[i].real = file->pMethods;
    }
    file->pMethods = &pairs[i].failing;
    return opened;
}

static int register_shim(void **state)
{
    (void)state;
    real = sqlite3_vfs_find(NULL);
    shim = *real;
    shim.zName = "failing";
    shim.xOpen = open_shim;
    shim.pNext = NULL;
    const int null = open("/dev/null", O_WRONLY);
    (void)dup2(null, STDERR_FILENO); /* the service's log */
    return sqlite3_vfs_register(&shim, 1) == SQLITE_OK ? 0 : -1;
}

/* ---- a client ---- */

enum { EVENTS = 6 };

typedef struct client {
    bool proposed[EVENTS], told[EVENTS];
} client;

static int perform(engine *models, job *work)
{
    engine_perform(models, work);
    int status = work->why.status;
    if (status == 0 && work->count > 0)
        status = work->items[0].why.status;
    return status;
}

static void define(engine *models)
{
    job *work = job_create(JOB_PUT, "m", 0);
    work->body = json_loads("{\"learner\":\"cspa-plus\",\"classes\":[\"a\",\"b\"]}", 0, NULL);
    (void)perform(models, work);
    job_free(work);
}

static bool propose(engine *models, int i)
{
    char id[16];
    problem why = {0};
    job *work = job_create(JOB_PROPOSE, "m", 1);
    job_item *item = &work->items[0];
    (void)snprintf(id, sizeof id, "e%d", i);
    item->id = strdup(id);
    json_t *row = json_pack("[f,f,i]", 0.5 * i, 1.0 - i, 1);
    assert_true(features_read(&item->given, row, "features", &why));
    item->bytes = features_bytes(&item->given, &item->size);
    json_decref(row);
    const bool answered = perform(models, work) == 0;
    job_free(work);
    return answered;
}

static bool tell(engine *models, int i)
{
    char id[16];
    job *work = job_create(JOB_FEEDBACK, "m", 1);
    (void)snprintf(id, sizeof id, "e%d", i);
    work->items[0].id = strdup(id);
    work->items[0].answer = i % 2 ? JOURNAL_RIGHT : JOURNAL_WRONG;
    const bool answered = perform(models, work) == 0;
    job_free(work);
    return answered;
}

static void run_client(client *out, engine *models)
{
    define(models);
    for (int i = 0; i < EVENTS; i++) {
        out->proposed[i] = propose(models, i);
        out->told[i] = out->proposed[i] && tell(models, i);
    }
}

/* ---- what is on disk afterwards ---- */

static engine *open_engine(const char *directory)
{
    engine *models = NULL;
    problem why = {0};
    const engine_settings settings = {.directory = directory,
                                      .durability = JOURNAL_POWER,
                                      .wait = 1000000,
                                      .snapshot_every = 5,
                                      .keep_snapshots = 2,
                                      .max_pending = 100};
    (void)engine_open(&models, &settings, NULL, &why);
    return models;
}

static char *model_bytes(engine *models, size_t *size, int64_t *sequence)
{
    job *work = job_create(JOB_MODEL, "m", 0);
    char *copy = NULL;
    if (perform(models, work) == 0) {
        copy = malloc(work->size);
        memcpy(copy, work->bytes, work->size);
        *size = work->size;
        *sequence = work->sequence;
    }
    job_free(work);
    return copy;
}

typedef struct seen {
    int proposed[EVENTS], told[EVENTS];
    int64_t sequences[2 * EVENTS + 2];
    int64_t last;
} seen;

static bool see_row(const journal_row *row, void *user)
{
    seen *out = user;
    assert_int_equal(row->sequence, out->last + 1);
    out->last = row->sequence;
    if (row->kind == JOURNAL_PROPOSAL)
        out->proposed[atoi(row->id + 1)]++;
    if (row->kind == JOURNAL_FEEDBACK)
        out->told[atoi(row->text + 1)]++;
    return true;
}

static void check_directory(const char *directory, const client *sent, const char *bytes, size_t size,
                            int64_t sequence)
{
    engine *models = open_engine(directory);
    problem why = {0};
    seen found = {0};
    assert_non_null(models);
    const bool defined = engine_events(models, "m", 0, 1000, see_row, &found, &why);
    assert_true(defined || why.status == 404);
    for (int i = 0; i < EVENTS; i++) {
        assert_true(found.proposed[i] <= 1 && found.told[i] <= 1);
        assert_true(!sent->proposed[i] || found.proposed[i] == 1);
        assert_true(!sent->told[i] || found.told[i] == 1);
    }
    size_t size_now = 0;
    int64_t sequence_now = 0;
    char *now = model_bytes(models, &size_now, &sequence_now);
    if (now && bytes && sequence == sequence_now) {
        assert_int_equal(size, size_now);
        assert_memory_equal(bytes, now, size);
    }
    free(now);
    engine_close(models);
}

static void remove_directory(const char *directory)
{
    char command[300];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", directory);
    assert_int_equal(system(command), 0);
}

/* Returns whether the fault was reached. */
static bool run_with_fault(long at, bool ever, int with)
{
    char directory[] = "/tmp/unconfuse-faults-XXXXXX", folder[64];
    client sent = {0};
    char *bytes = NULL;
    size_t size = 0;
    int64_t sequence = 0;
    assert_non_null(mkdtemp(directory));
    (void)snprintf(folder, sizeof folder, "%s/dir", directory);
    calls = 0;
    fails_at = at;
    for_ever = ever;
    code = with;
    engine *models = open_engine(folder);
    if (models) {
        run_client(&sent, models);
        bytes = model_bytes(models, &size, &sequence);
        engine_close(models);
    }
    const bool reached = calls >= at;
    fails_at = 0;
    check_directory(folder, &sent, bytes, size, sequence);
    free(bytes);
    remove_directory(directory);
    return reached;
}

static void no_fault_loses_an_acknowledged_event(void **state)
{
    static const int codes[] = {SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_IOERR_READ};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (int ever = 0; ever < 2; ever++) {
            long at = 1;
            while (run_with_fault(at, ever != 0, codes[i]))
                at += at < 30 ? 1 : 7;
            assert_true(at > (codes[i] == SQLITE_IOERR_READ ? 5 : 20)); /* there were calls to fail */
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_fault_loses_an_acknowledged_event)};
    return cmocka_run_group_tests(tests, register_shim, NULL);
}
