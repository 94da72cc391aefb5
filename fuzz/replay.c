/* Runs a fuzz target on files: the given files, and every file in the given directories. This makes the
 * corpus a test that needs no special compiler. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static size_t replayed;

static int replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    /* exactly as long as the file, so that reading beyond it is detected */
    uint8_t *bytes = malloc(size ? size : 1);
    if (!file || !bytes || fread(bytes, 1, size, file) != size) {
        perror(path);
        if (file)
            fclose(file);
        free(bytes);
        return 1;
    }
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    replayed++;
    return 0;
}

static int replay(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        perror(path);
        return 1;
    }
    if (!S_ISDIR(info.st_mode))
        return replay_file(path, (size_t)info.st_size);
    DIR *directory = opendir(path);
    if (!directory) {
        perror(path);
        return 1;
    }
    int failed = 0;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        char inside[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        failed |= replay(inside);
    }
    closedir(directory);
    return failed;
}

int main(int count, char **arguments)
{
    int failed = 0;
    for (int i = 1; i < count; i++)
        failed |= replay(arguments[i]);
    printf("%zu inputs replayed\n", replayed);
    return failed || replayed == 0;
}
