/* Text files of results, which appear only when complete. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "experiment.h"

/* Prints the text to memory, which the caller frees with free. */
static uc_status text_of(char **bytes, size_t *length, text_fn *print, const void *user)
{
    *bytes = NULL;
    FILE *text = open_memstream(bytes, length);
    if (!text)
        return app_fail(UC_ERR_NOMEM, "no memory for the text of a result");
    print(text, user);
    const bool failed = ferror(text);
    if (fclose(text) != 0 || failed)
        return app_fail(UC_ERR_NOMEM, "no memory for the text of a result");
    return UC_OK;
}

uc_status begin_text(const char *directory, const char *name, text_fn *print, const void *user)
{
    char *path = app_text("%s/%s", directory, name), *bytes = NULL;
    size_t length = 0;
    uc_output *file = NULL;
    uc_status status = app_begin_file(&file, path, "--out");
    if (status == UC_OK)
        status = text_of(&bytes, &length, print, user);
    if (status == UC_OK)
        status = uc_output_write(file, bytes, length);
    free(bytes);
    free(path);
    return status;
}
