/* Shared by fuzz targets that read whole files: checks that end the program if they fail, and files in
 * memory. */
#ifndef FUZZ_FILES_H
#define FUZZ_FILES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unconfuse/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#define CHECK(truth)                                                                                         \
    do {                                                                                                     \
        if (!(truth))                                                                                        \
            fail_check(__FILE__, __LINE__, #truth);                                                          \
    } while (0)

static inline _Noreturn void fail_check(const char *file, int line, const char *truth)
{
    /* Not through the stream, which a target may have silenced. */
    (void)!dprintf(STDERR_FILENO, "%s:%d: not true: %s (last error: %s)\n", file, line, truth,
                   uc_last_error());
    abort();
}

/* A failure has a single sentence, on one line. */
static inline void check_sentence(const char *sentence)
{
    CHECK(sentence[0] != '\0' && strcmp(sentence, "no error") != 0);
    CHECK(!strchr(sentence, '\n'));
}

typedef struct memory_file {
    int file;
    char path[32]; /* valid until it is closed */
} memory_file;

static inline memory_file memory_file_open(const void *bytes, size_t length)
{
    memory_file self = {.file = memfd_create("fuzz", MFD_CLOEXEC)};
    CHECK(self.file >= 0);
    CHECK(write(self.file, bytes, length) == (ssize_t)length);
    snprintf(self.path, sizeof self.path, "/proc/self/fd/%d", self.file);
    return self;
}

static inline void memory_file_close(memory_file *self)
{
    close(self->file);
}

/* A path for files that are written by renaming, which needs a directory; in memory if possible. */
static inline const char *scratch_path(void)
{
    static char path[64];
    const char *directory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    if (!path[0])
        snprintf(path, sizeof path, "%s/unconfuse-fuzz-%ld", directory, (long)getpid());
    return path;
}

#endif
