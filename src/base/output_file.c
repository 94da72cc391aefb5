/*
 * Temporary files are called TARGET.PID-N.tmp. Their process holds a lock (flock) on them, which the system
 * releases however the process ends. A file counts as abandoned if nobody holds its lock and no process has
 * its number. Neither would be enough: some network file systems ignore locks, and processes of another
 * container have numbers of their own.
 */
#define _GNU_SOURCE
#include "base/output_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define MOST_LINKS 40
#define MOST_ATTEMPTS 1000u

/* ---- the target ---- */

static char *joined(const char *directory, size_t length, const char *name)
{
    const bool slash = length > 0 && directory[length - 1] != '/';
    const size_t size = length + strlen(name) + 2;
    char *path = uc_alloc(size, 1);
    if (path)
        snprintf(path, size, "%.*s%s%s", (int)length, directory, slash ? "/" : "", name);
    return path;
}

/* The length of the directory with its slash; 0: the current directory. */
static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

char *uc_directory_of(const char *path)
{
    const size_t length = directory_length(path);
    if (length == 0)
        return uc_strdup(".");
    return uc_strndup(path, length);
}

/* Follows a link to a file that does not exist yet. The caller has made sure that links do not form a
 * circle. */
static char *follow(char *path)
{
    for (int links = 0; path && links < MOST_LINKS; links++) {
        char to[PATH_MAX];
        const ssize_t length = readlink(path, to, sizeof to - 1);
        if (length <= 0)
            break;
        to[length] = '\0';
        char *next = joined(path, to[0] == '/' ? 0 : directory_length(path), to);
        uc_free(path);
        path = next;
    }
    return path;
}

char *uc_target_of(const char *path)
{
    char *real = realpath(path, NULL), *target;
    if (real) {
        target = uc_strdup(real);
        free(real);
        return target;
    }
    target = follow(uc_strdup(path));
    if (!target)
        return NULL;
    char *directory = uc_directory_of(target);
    if (!directory) {
        uc_free(target);
        return NULL;
    }
    real = realpath(directory, NULL);
    uc_free(directory);
    if (!real)
        return target;
    char *whole = joined(real, strlen(real), target + directory_length(target));
    uc_free(target);
    free(real);
    return whole;
}

/* ---- temporary files ---- */

static const char *after_digits(const char *text)
{
    const char *end = text;
    while (*end >= '0' && *end <= '9')
        end++;
    if (end == text || end - text > 10)
        return NULL;
    return end;
}

/* The process number in "BASE.PID-N.tmp"; 0: the name has another form. */
static pid_t owner_of(const char *name, const char *base)
{
    const size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || name[length] != '.')
        return 0;
    const char *process = name + length + 1, *dash = after_digits(process);
    if (!dash || *dash != '-')
        return 0;
    const char *end = after_digits(dash + 1);
    if (!end || strcmp(end, ".tmp") != 0)
        return 0;
    return (pid_t)strtol(process, NULL, 10);
}

static void remove_abandoned(int directory, const char *name)
{
    struct stat info;
    const int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && flock(file, LOCK_EX | LOCK_NB) == 0)
        (void)unlinkat(directory, name, 0);
    close(file);
}

static void sweep(const char *target)
{
    const int before = errno;
    const char *base = target + directory_length(target);
    DIR *directory = NULL;
    char *path = uc_directory_of(target);
    if (path)
        directory = opendir(path);
    uc_free(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        const pid_t owner = owner_of(entry->d_name, base);
        if (owner > 0 && kill(owner, 0) != 0 && errno == ESRCH)
            remove_abandoned(dirfd(directory), entry->d_name);
    }
    if (directory)
        closedir(directory);
    errno = before;
}

static void name_temporary(char *name, const char *target, unsigned attempt)
{
    snprintf(name, strlen(target) + UC_TEMPORARY_ROOM, "%s.%ld-%u.tmp", target, (long)getpid(), attempt);
}

int uc_temporary_open(char *name, const char *target)
{
    sweep(target);
    for (unsigned attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        name_temporary(name, target, attempt);
        const int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0) {
            (void)flock(file, LOCK_EX | LOCK_NB); /* if it fails, only the process number protects the file */
            return file;
        }
        if (errno != EEXIST)
            break;
    }
    return -1;
}

bool uc_temporary_link(char *name, const char *target)
{
    for (unsigned attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        name_temporary(name, target, attempt);
        if (link(target, name) == 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    return false;
}
