/* Runs a fuzz target over files, and over the files of directories, so that its corpus is a test with any compiler:
 *
 *   replay_fuzz_THING fuzz/corpus/THING
 *
 * Fails when there was nothing to run. The empty input is always tried first, as libFuzzer does. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void give_up(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    exit(1);
}

/* The target gets a block of exactly the file's size, so that a sanitizer sees every read past its end. */
static void replay_file(const char *path, size_t length)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(length ? length : 1);
    if (!file || !bytes || fread(bytes, 1, length, file) != length)
        give_up(path);
    fclose(file);
    printf("%s\n", path);
    fflush(stdout); /* the last name printed is the input that crashed */
    LLVMFuzzerTestOneInput(bytes, length);
    free(bytes);
}

/* Returns the number of files that were run. */
static size_t replay(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        give_up(path);
    if (!S_ISDIR(status.st_mode)) {
        replay_file(path, (size_t)status.st_size);
        return 1;
    }
    struct dirent **entries;
    const int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0)
        give_up(path);
    size_t files = 0;
    for (int i = 0; i < count; i++) {
        char *below;
        if (entries[i]->d_name[0] != '.') {
            if (asprintf(&below, "%s/%s", path, entries[i]->d_name) < 0)
                give_up(path);
            files += replay(below);
            free(below);
        }
        free(entries[i]);
    }
    free(entries);
    return files;
}

int main(int argc, char **argv)
{
    const uint8_t nothing = 0;
    LLVMFuzzerTestOneInput(&nothing, 0);
    size_t files = 0;
    for (int i = 1; i < argc; i++)
        files += replay(argv[i]);
    printf("%zu inputs\n", files);
    return files > 0 ? 0 : 1;
}
