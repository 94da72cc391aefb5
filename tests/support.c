/* Helpers of the tests; see support.h. */
#define _GNU_SOURCE
#include "tests/support.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Paths that were returned; kept, so that callers need not free them and leak checkers stay quiet. */
typedef struct kept_path {
    struct kept_path *next;
    char *path;
} kept_path;

static kept_path *kept;
static char directory[4096];
static pid_t owner;

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *position)
{
    (void)status;
    (void)type;
    (void)position;
    return remove(path);
}

/* Children that a test forks inherit this handler, so only the process that made the directory removes it. */
static void clean_up(void)
{
    if (directory[0] && getpid() == owner)
        nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    while (kept) {
        kept_path *next = kept->next;
        free(kept->path);
        free(kept);
        kept = next;
    }
}

static void register_clean_up(void)
{
    static bool registered;
    if (!registered && atexit(clean_up) != 0)
        fail_msg("atexit: %s", strerror(errno));
    registered = true;
}

static const char *keep(const char *parent, const char *name)
{
    register_clean_up();
    kept_path *entry = malloc(sizeof *entry);
    if (!entry || asprintf(&entry->path, "%s/%s", parent, name) < 0)
        abort();
    entry->next = kept;
    kept = entry;
    return entry->path;
}

static const char *temporary_directory(void)
{
    if (!directory[0]) {
        const char *parent = getenv("TMPDIR");
        const int length = snprintf(directory, sizeof directory, "%s/unconfuse-test-XXXXXX",
                                    parent && *parent ? parent : "/tmp");
        if (length < 0 || (size_t)length >= sizeof directory || !mkdtemp(directory)) {
            directory[0] = '\0';
            fail_msg("cannot make a temporary directory: %s", strerror(errno));
        }
        owner = getpid();
        register_clean_up();
    }
    return directory;
}

const char *temporary_path(const char *name)
{
    return keep(temporary_directory(), name);
}

const char *source_path(const char *name)
{
    return keep(SOURCE_DIRECTORY, name);
}

const char *data_directory(void)
{
    struct stat status;
    const char *given = getenv("UNCONFUSE_DATA");
    const char *path = given && *given ? given : source_path("../shared/data");
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? path : NULL;
}

const char *data_file(const char *name)
{
    const char *parent = data_directory();
    const char *path = parent ? keep(parent, name) : NULL;
    return path && file_exists(path) ? path : NULL;
}

void write_bytes(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        fail_msg("cannot write %s: %s", path, strerror(errno));
    const bool written = fwrite(bytes, 1, length, file) == length;
    if (fclose(file) != 0 || !written)
        fail_msg("cannot write %s: %s", path, strerror(errno));
}

void write_file(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot read %s: %s", path, strerror(errno));
    char *bytes = NULL;
    size_t used = 0, got = 0;
    do {
        char *grown = realloc(bytes, used + 65536 + 1);
        if (!grown)
            abort();
        bytes = grown;
        got = fread(bytes + used, 1, 65536, file);
        used += got;
    } while (got > 0);
    bytes[used] = '\0';
    fclose(file);
    if (length)
        *length = used;
    return bytes;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

size_t temporary_count(void)
{
    DIR *stream = opendir(temporary_directory());
    if (!stream)
        fail_msg("cannot list %s: %s", directory, strerror(errno));
    size_t count = 0;
    while (readdir(stream))
        count++;
    closedir(stream);
    return count - 2; /* . and .. */
}

void check_near(double a, double b, double tolerance, const char *what, const char *file, int line)
{
    if (a == b || fabs(a - b) <= tolerance)
        return;
    print_error("%s is %.17g, not within %g of %.17g\n", what, a, tolerance, b);
    _fail(file, line);
}

void check_near_relative(double a, double b, double tolerance, const char *what, const char *file, int line)
{
    check_near(a, b, tolerance * fmax(fabs(a), fabs(b)), what, file, line);
}

void check_status(uc_status got, uc_status want, const char *what, const char *file, int line)
{
    if (got == want)
        return;
    print_error("%s returned %d, not %d\n", what, (int)got, (int)want);
    if (got != UC_OK)
        print_error("    %s\n", uc_last_error());
    _fail(file, line);
}

void check_error(uc_status got, uc_status want, const char *sentence, const char *what, const char *file,
                 int line)
{
    check_status(got, want, what, file, line);
    if (strcmp(uc_last_error(), sentence) == 0)
        return;
    print_error("%s says\n    %s\nand not\n    %s\n", what, uc_last_error(), sentence);
    _fail(file, line);
}

void check_error_has(uc_status got, uc_status want, const char *part, const char *what, const char *file,
                     int line)
{
    check_status(got, want, what, file, line);
    if (strstr(uc_last_error(), part))
        return;
    print_error("%s says\n    %s\nwhich does not contain\n    %s\n", what, uc_last_error(), part);
    _fail(file, line);
}

void check_failed_allocation(uc_status got, long successes, long live_before, const char *what,
                             const char *file, int line)
{
    if (got != UC_ERR_NOMEM) {
        print_error("allocation %ld failed, and %s returned %d: %s\n", successes + 1, what, (int)got,
                    uc_last_error());
        _fail(file, line);
    }
    if (uc_alloc_live() != live_before) {
        print_error("allocation %ld failed, and %s left %ld blocks behind\n", successes + 1, what,
                    uc_alloc_live() - live_before);
        _fail(file, line);
    }
}

uc_status learn_scaling(uc_preprocessing *out, uc_scaling scaling, const uc_matrix *X)
{
    const uc_preprocessing_settings settings = {.scaling = scaling};
    uc_matrix copy;
    uc_status status = uc_matrix_subset(&copy, X, NULL, 0, NULL);
    if (status != UC_OK)
        return status;
    status = uc_preprocessing_fit(out, &copy, &settings, NULL);
    uc_matrix_free(&copy);
    return status;
}
