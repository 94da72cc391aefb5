/*
 * A library for LD_PRELOAD that makes the n-th call of a class fail: only that one, or that one and all
 * after it.
 *
 * The file that TORTURE_PLAN names is mapped, shared, as a `plan`. The driver writes there what is to fail
 * and reads there how many calls there were and which one failed.
 *
 * Counting begins with main: what the dynamic loader and the constructors of libraries do is not ours to
 * handle. Calls inside the C library go around the shim, but for malloc's family, which the C library
 * calls through its public names. Streams are led back to the shim: fopen gives a stream that reads by way
 * of the shim's read, and standard output becomes one that writes by way of its write. Standard error is
 * left alone, so that the program can still say what is wrong.
 */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE /* whose checks redefine functions that are defined here */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In this order in the driver's CLASSES too. */
enum { OPEN, READ, WRITE, SYNC, RENAME, MMAP, CLOSE, TRUNCATE, LINK, STAT, MEMORY, THREAD, CLASSES };

enum { SHORT_COUNT = -1 }; /* in place of an error number: half of what was asked for */

typedef struct plan {
    int64_t failing_class; /* -1: none, only count */
    int64_t first, last;   /* the calls of that class that fail, counted from 1 */
    int64_t error;         /* errno, or SHORT_COUNT */
    atomic_llong failed;   /* how many did */
    atomic_llong calls[CLASSES];
    char where[256]; /* the first one that failed: function, who called it */
} plan;

static plan *at;
static atomic_bool counting;

/* The real allocator, under names that need no search: dlsym allocates. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static void remember(const char *function, const void *caller)
{
    Dl_info info;
    const bool known = dladdr(caller, &info) != 0 && info.dli_fname;
    const char *slash = known ? strrchr(info.dli_fname, '/') : NULL;
    const char *module = slash ? slash + 1 : "the program";
    const size_t offset = known ? (size_t)((const char *)caller - (const char *)info.dli_fbase) : 0;
    snprintf(at->where, sizeof at->where, "%s called by %s+0x%zx (%s)", function, module, offset,
             known && info.dli_sname ? info.dli_sname : "?");
}

/* Counts a call. True when it is to fail; errno is set then, unless it is to be a short one. */
static bool fails(int class, const char *function, const void *caller)
{
    if (!at || !atomic_load(&counting))
        return false;
    const int64_t number = atomic_fetch_add(&at->calls[class], 1) + 1;
    if (class != at->failing_class || number < at->first || number > at->last)
        return false;
    if (atomic_fetch_add(&at->failed, 1) == 0)
        remember(function, caller);
    if (at->error != SHORT_COUNT)
        errno = (int)at->error;
    return true;
}

#define FAILS(class) fails((class), __func__, __builtin_return_address(0))

/* How much of `length` bytes is asked for when a call is to be short. */
static size_t half(size_t length)
{
    return length > 1 ? (length + 1) / 2 : length;
}

/* Half the length when this call is to be a short one, 0 when it is to fail with errno. */
static size_t allowed(int class, size_t length, const char *function, const void *caller)
{
    if (!fails(class, function, caller))
        return length;
    return at->error == SHORT_COUNT ? half(length) : 0;
}

/* ---- files ---- */

static int open_really(int directory, const char *path, int flags, mode_t mode)
{
    return (int)syscall(SYS_openat, directory, path, flags, mode);
}

#define OPEN_WITH_MODE(function)                                                                             \
    int function(const char *path, int flags, ...)                                                           \
    {                                                                                                        \
        mode_t mode = 0;                                                                                     \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                                 \
            va_list arguments;                                                                               \
            va_start(arguments, flags);                                                                      \
            mode = va_arg(arguments, mode_t);                                                                \
            va_end(arguments);                                                                               \
        }                                                                                                    \
        return FAILS(OPEN) ? -1 : open_really(AT_FDCWD, path, flags, mode);                                  \
    }
OPEN_WITH_MODE(open)
OPEN_WITH_MODE(open64)

#define OPEN_AT(function)                                                                                    \
    int function(int directory, const char *path, int flags, ...)                                            \
    {                                                                                                        \
        mode_t mode = 0;                                                                                     \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                                 \
            va_list arguments;                                                                               \
            va_start(arguments, flags);                                                                      \
            mode = va_arg(arguments, mode_t);                                                                \
            va_end(arguments);                                                                               \
        }                                                                                                    \
        return FAILS(OPEN) ? -1 : open_really(directory, path, flags, mode);                                 \
    }
OPEN_AT(openat)
OPEN_AT(openat64)

/* What a program compiled with _FORTIFY_SOURCE calls in their place. */
#define OPEN_FORTIFIED(function)                                                                             \
    int function(const char *path, int flags);                                                               \
    int function(const char *path, int flags)                                                                \
    {                                                                                                        \
        return FAILS(OPEN) ? -1 : open_really(AT_FDCWD, path, flags, 0);                                     \
    }
OPEN_FORTIFIED(__open_2)
OPEN_FORTIFIED(__open64_2)

static ssize_t read_counted(int file, void *bytes, size_t length, const char *function, const void *caller)
{
    const size_t now = allowed(READ, length, function, caller);
    return now == 0 && length > 0 ? -1 : syscall(SYS_read, file, bytes, now);
}

ssize_t read(int file, void *bytes, size_t length)
{
    return read_counted(file, bytes, length, __func__, __builtin_return_address(0));
}

ssize_t __read_chk(int file, void *bytes, size_t length, size_t room);
ssize_t __read_chk(int file, void *bytes, size_t length, size_t room)
{
    if (length > room)
        abort();
    return read_counted(file, bytes, length, "read", __builtin_return_address(0));
}

#define READ_AT(function)                                                                                    \
    ssize_t function(int file, void *bytes, size_t length, off_t offset)                                     \
    {                                                                                                        \
        const size_t now = allowed(READ, length, __func__, __builtin_return_address(0));                     \
        return now == 0 && length > 0 ? -1 : syscall(SYS_pread64, file, bytes, now, offset);                 \
    }
READ_AT(pread)
READ_AT(pread64)

#define READ_AT_FORTIFIED(function)                                                                          \
    ssize_t function(int file, void *bytes, size_t length, off_t offset, size_t room);                       \
    ssize_t function(int file, void *bytes, size_t length, off_t offset, size_t room)                        \
    {                                                                                                        \
        if (length > room)                                                                                   \
            abort();                                                                                         \
        const size_t now = allowed(READ, length, __func__, __builtin_return_address(0));                     \
        return now == 0 && length > 0 ? -1 : syscall(SYS_pread64, file, bytes, now, offset);                 \
    }
READ_AT_FORTIFIED(__pread_chk)
READ_AT_FORTIFIED(__pread64_chk)

static ssize_t write_counted(int file, const void *bytes, size_t length, const char *function,
                             const void *caller)
{
    if (file == STDERR_FILENO)
        return syscall(SYS_write, file, bytes, length);
    const size_t now = allowed(WRITE, length, function, caller);
    return now == 0 && length > 0 ? -1 : syscall(SYS_write, file, bytes, now);
}

ssize_t write(int file, const void *bytes, size_t length)
{
    return write_counted(file, bytes, length, __func__, __builtin_return_address(0));
}

#define WRITE_AT(function)                                                                                   \
    ssize_t function(int file, const void *bytes, size_t length, off_t offset)                               \
    {                                                                                                        \
        const size_t now = allowed(WRITE, length, __func__, __builtin_return_address(0));                    \
        return now == 0 && length > 0 ? -1 : syscall(SYS_pwrite64, file, bytes, now, offset);                \
    }
WRITE_AT(pwrite)
WRITE_AT(pwrite64)

int fsync(int file)
{
    return FAILS(SYNC) ? -1 : (int)syscall(SYS_fsync, file);
}

int fdatasync(int file)
{
    return FAILS(SYNC) ? -1 : (int)syscall(SYS_fdatasync, file);
}

int rename(const char *from, const char *to)
{
    return FAILS(RENAME) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    return FAILS(RENAME) ? -1 : (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, 0);
}

int renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags)
{
    return FAILS(RENAME) ? -1 : (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, flags);
}

static void *map_really(void *address, size_t length, int protection, int flags, int file, off_t offset)
{
    return (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset); /* NOLINT */
}

#define MAP(function)                                                                                        \
    void *function(void *address, size_t length, int protection, int flags, int file, off_t offset)          \
    {                                                                                                        \
        return FAILS(MMAP) ? MAP_FAILED : map_really(address, length, protection, flags, file, offset);      \
    }
MAP(mmap)
MAP(mmap64)

/* A close that fails has closed the file all the same, as on Linux. */
int close(int file)
{
    const int code = (int)syscall(SYS_close, file);
    return FAILS(CLOSE) ? -1 : code;
}

#define TRUNCATE_FILE(function)                                                                              \
    int function(int file, off_t length)                                                                     \
    {                                                                                                        \
        return FAILS(TRUNCATE) ? -1 : (int)syscall(SYS_ftruncate, file, length);                             \
    }
TRUNCATE_FILE(ftruncate)
TRUNCATE_FILE(ftruncate64)

#define ALLOCATE_FILE(function)                                                                              \
    int function(int file, off_t offset, off_t length)                                                       \
    {                                                                                                        \
        if (FAILS(TRUNCATE))                                                                                 \
            return errno;                                                                                    \
        return syscall(SYS_fallocate, file, 0, offset, length) == 0 ? 0 : errno;                             \
    }
ALLOCATE_FILE(posix_fallocate)
ALLOCATE_FILE(posix_fallocate64)

int unlink(const char *path)
{
    return FAILS(LINK) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int unlinkat(int directory, const char *path, int flags)
{
    return FAILS(LINK) ? -1 : (int)syscall(SYS_unlinkat, directory, path, flags);
}

int link(const char *from, const char *to)
{
    return FAILS(LINK) ? -1 : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_directory, const char *from, int to_directory, const char *to, int flags)
{
    return FAILS(LINK) ? -1 : (int)syscall(SYS_linkat, from_directory, from, to_directory, to, flags);
}

int symlink(const char *target, const char *path)
{
    return FAILS(LINK) ? -1 : (int)syscall(SYS_symlinkat, target, AT_FDCWD, path);
}

/* ---- what is known about files ---- */

#define STAT_PATH(function, type, flags)                                                                     \
    int function(const char *restrict path, struct type *restrict info)                                      \
    {                                                                                                        \
        return FAILS(STAT) ? -1 : (int)syscall(SYS_newfstatat, AT_FDCWD, path, info, flags);                 \
    }
STAT_PATH(stat, stat, 0)
STAT_PATH(stat64, stat64, 0)
STAT_PATH(lstat, stat, AT_SYMLINK_NOFOLLOW)
STAT_PATH(lstat64, stat64, AT_SYMLINK_NOFOLLOW)

int fstat(int file, struct stat *info)
{
    return FAILS(STAT) ? -1 : (int)syscall(SYS_fstat, file, info);
}

int fstat64(int file, struct stat64 *info)
{
    return FAILS(STAT) ? -1 : (int)syscall(SYS_fstat, file, info);
}

int fstatat(int directory, const char *restrict path, struct stat *restrict info, int flags)
{
    return FAILS(STAT) ? -1 : (int)syscall(SYS_newfstatat, directory, path, info, flags);
}

int fchmod(int file, mode_t mode)
{
    return FAILS(STAT) ? -1 : (int)syscall(SYS_fchmod, file, mode);
}

ssize_t readlink(const char *restrict path, char *restrict target, size_t room)
{
    return FAILS(STAT) ? -1 : syscall(SYS_readlinkat, AT_FDCWD, path, target, room);
}

ssize_t __readlink_chk(const char *path, char *target, size_t length, size_t room);
ssize_t __readlink_chk(const char *path, char *target, size_t length, size_t room)
{
    if (length > room)
        abort();
    return FAILS(STAT) ? -1 : syscall(SYS_readlinkat, AT_FDCWD, path, target, length);
}

/* Fills in the pointer to the C library's own function of that name. Constructors of libraries come this
 * way too, before there is a main. */
static void find(void *function_pointer, const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function)
        abort();
    memcpy(function_pointer, &function, sizeof function);
}

char *realpath(const char *restrict path, char *restrict resolved)
{
    char *(*really)(const char *, char *);
    find(&really, "realpath");
    return FAILS(STAT) ? NULL : really(path, resolved);
}

DIR *opendir(const char *path)
{
    DIR *(*really)(const char *);
    find(&really, "opendir");
    return FAILS(OPEN) ? NULL : really(path);
}

/* ---- memory and threads ---- */

void *malloc(size_t size)
{
    return FAILS(MEMORY) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return FAILS(MEMORY) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return FAILS(MEMORY) ? NULL : __libc_realloc(block, size);
}

void *reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes;
    if (FAILS(MEMORY))
        return NULL;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_realloc(block, bytes);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
    return FAILS(MEMORY) ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return FAILS(MEMORY) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (FAILS(MEMORY))
        return ENOMEM;
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                   void *(*start)(void *), void *restrict argument)
{
    int (*really)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    find(&really, "pthread_create");
    return FAILS(THREAD) ? EAGAIN : really(thread, attributes, start, argument);
}

/* Fails as a whole: Fortran's constructors, which come with OpenBLAS, end the program when they get no
 * memory, as they would before main. It is loaded where there is much more room than they need. */
void *dlopen(const char *path, int mode)
{
    void *(*really)(const char *, int);
    find(&really, "dlopen");
    if (FAILS(MEMORY) || FAILS(OPEN))
        return NULL;
    const bool before = atomic_exchange(&counting, false);
    void *library = really(path, mode);
    atomic_store(&counting, before);
    return library;
}

/* ---- streams ---- */

static ssize_t read_stream(void *cookie, char *bytes, size_t length)
{
    return read_counted((int)(intptr_t)cookie, bytes, length, "a stream's read", __builtin_return_address(0));
}

/* To fopencookie 0 is a failure; a write that was short is gone on with, as in the C library. */
static ssize_t write_stream(void *cookie, const char *bytes, size_t length)
{
    size_t done = 0;
    while (done < length) {
        const ssize_t written = write_counted((int)(intptr_t)cookie, bytes + done, length - done,
                                              "a stream's write", __builtin_return_address(0));
        if (written <= 0)
            return 0;
        done += (size_t)written;
    }
    return (ssize_t)length;
}

static int close_stream(void *cookie)
{
    return close((int)(intptr_t)cookie);
}

/* A stream that is only read goes by way of the shim. */
static FILE *open_stream(const char *path, const char *mode)
{
    FILE *(*really)(const char *, const char *);
    find(&really, "fopen");
    if (mode[0] != 'r' || strchr(mode, '+'))
        return really(path, mode);
    const int file = open_really(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    const cookie_io_functions_t by = {.read = read_stream, .close = close_stream};
    FILE *stream = file >= 0 ? fopencookie((void *)(intptr_t)file, mode, by) : NULL;
    if (file >= 0 && !stream)
        (void)syscall(SYS_close, file);
    return stream;
}

FILE *fopen(const char *restrict path, const char *restrict mode)
{
    return FAILS(OPEN) ? NULL : open_stream(path, mode);
}

FILE *fopen64(const char *restrict path, const char *restrict mode)
{
    return FAILS(OPEN) ? NULL : open_stream(path, mode);
}

/* ---- beginning ---- */

static int (*real_main)(int, char **, char **);

static int counted_main(int argc, char **argv, char **environment)
{
    const cookie_io_functions_t by = {.write = write_stream};
    FILE *stream = fopencookie((void *)(intptr_t)STDOUT_FILENO, "w", by);
    if (!stream)
        abort();
    stdout = stream;
    atomic_store(&counting, true);
    const int status = real_main(argc, argv, environment);
    atomic_store(&counting, false);
    return status;
}

static void map_plan(void)
{
    const char *path = getenv("TORTURE_PLAN");
    const int file = path ? open_really(AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0) : -1;
    void *mapped =
        file >= 0 ? map_really(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (mapped == MAP_FAILED)
        abort();
    (void)syscall(SYS_close, file);
    at = mapped;
}

typedef int start_main(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
                       void (*)(void), void *);
start_main __libc_start_main;

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*begin)(void),
                      void (*end)(void), void (*loader_end)(void), void *stack_end)
{
    map_plan();
    start_main *real_start;
    find(&real_start, "__libc_start_main");
    real_main = main;
    return real_start(counted_main, argc, argv, begin, end, loader_end, stack_end);
}
