/* Reading and writing data, and finding out the kind of a file. */
#define _GNU_SOURCE
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

const uc_option cli_data_output_options[] = {
    {.name = "to",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(cli_data_output, format),
     .standard = "auto",
     .choices = "auto|libsvm|csv|npy|ucd|jsonl",
     .help = "format of the data written; auto: from the file's ending"},
    {.name = "labels-out",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(cli_data_output, labels),
     .argument = "FILE",
     .help = "the file to write the labels to when the data are written as NPY, which has no room for them"},
    {0},
};

static void tell_data(const app_call *call, const char *shown, const uc_dataset *data, double seconds)
{
    const char *where = uc_comm_size(app_comm) > 1 ? " in the first process" : "";
    const char *storage = uc_matrix_is_sparse(&data->X) ? "sparse" : "dense";
    app_detail(call, "%s: %zu examples%s, %zu features, %zu classes, %s, read in %.3f s", shown, data->X.rows,
               where, data->X.cols, data->classes.count, storage, seconds);
}

uc_status cli_read_data(uc_dataset *out, const app_call *call, const char *path,
                        const uc_read_settings *settings)
{
    const double began = app_seconds();
    uc_status status = uc_dataset_read(out, path, settings, &call->context);
    if (status != UC_OK)
        return status;
    tell_data(call, path, out, app_seconds() - began);
    status = app_check_interrupt();
    if (status != UC_OK)
        uc_dataset_free(out);
    return status;
}

/* ---- one file or several ---- */

const uc_option cli_shard_options[] = {
    {.name = "shards",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(cli_shards, pattern),
     .argument = "GLOB",
     .help = "read all files that match, such as 'part-*.svm.zst' or 'part-{{0,1}}.svm', as one, instead of "
             "DATA"},
    {0},
};

static void add_path(cli_files *self, const char *path)
{
    const size_t size = strlen(path) + 1;
    self->paths = app_realloc(self->paths, self->count + 1, sizeof *self->paths);
    self->paths[self->count++] = memcpy(app_calloc(size, 1), path, size);
}

/* Adds the files that match a pattern without braces, in the order of their names. A name that is not a
 * pattern is always added, so that a missing file is not silently skipped. */
static uc_status match(cli_files *out, const char *pattern)
{
    glob_t found;
    const int code = glob(pattern, GLOB_NOMAGIC, NULL, &found);
    if (code == GLOB_NOMATCH)
        return app_fail(UC_ERR_IO, "--shards: no file matches %s", pattern);
    if (code != 0)
        return app_fail(UC_ERR_IO, "--shards: %s cannot be looked up", pattern);
    for (size_t i = 0; i < found.gl_pathc; i++)
        add_path(out, found.gl_pathv[i]);
    globfree(&found);
    return UC_OK;
}

/* Expands a{b,c}d to abd and acd. */
static uc_status expand(cli_files *out, const char *pattern)
{
    const char *open = strchr(pattern, '{'), *close = open ? strchr(open, '}') : NULL;
    if (!close)
        return match(out, pattern);
    if (memchr(open + 1, '{', (size_t)(close - open)))
        return app_fail(UC_ERR_OPTION, "--shards %s: braces within braces", pattern);
    const size_t size = strlen(pattern) + 1;
    char *one = app_calloc(size, 1);
    uc_status status = UC_OK;
    for (const char *choice = open + 1; choice <= close && status == UC_OK;) {
        const size_t length = strcspn(choice, ",}");
        snprintf(one, size, "%.*s%.*s%s", (int)(open - pattern), pattern, (int)length, choice, close + 1);
        status = expand(out, one);
        choice += length + 1;
    }
    free(one);
    return status;
}

uc_status cli_find_files(cli_files *out, const app_call *call, const cli_shards *shards, size_t word)
{
    *out = (cli_files){0};
    if (shards->pattern && call->word_count > word)
        return app_fail(UC_ERR_OPTION, "give either %s or --shards %s", call->words[word], shards->pattern);
    if (!shards->pattern && call->word_count <= word)
        return app_fail(UC_ERR_OPTION, "an argument is missing; usage: unconfuse %s %s", call->command->name,
                        call->command->usage);
    out->shown = shards->pattern ? shards->pattern : call->words[word];
    if (shards->pattern)
        return expand(out, shards->pattern);
    add_path(out, out->shown);
    return UC_OK;
}

static uc_status keep_files_of(const uc_read_settings *read)
{
    uc_status status = app_keep_input(read->labels);
    if (status == UC_OK)
        status = app_keep_input(read->weights);
    if (status == UC_OK)
        status = app_keep_input(read->soft_labels);
    return status;
}

uc_status cli_keep_inputs(const cli_files *files, const uc_read_settings *read)
{
    uc_status status = keep_files_of(read);
    for (size_t i = 0; i < files->count && status == UC_OK; i++)
        status = app_keep_input(files->paths[i]);
    return status;
}

uc_status cli_keep_data(const char *path, const uc_read_settings *read)
{
    const uc_status status = keep_files_of(read);
    return status == UC_OK ? app_keep_input(path) : status;
}

void cli_files_free(cli_files *self)
{
    for (size_t i = 0; i < self->count; i++)
        free(self->paths[i]);
    free(self->paths);
    *self = (cli_files){0};
}

uc_status cli_read_files(uc_dataset *out, const app_call *call, const cli_files *files,
                         const uc_read_settings *settings)
{
    const double began = app_seconds();
    uc_status status =
        uc_dataset_read_files(out, (const char *const *)files->paths, files->count, settings, &call->context);
    if (status != UC_OK)
        return status;
    tell_data(call, files->shown, out, app_seconds() - began);
    status = app_check_interrupt();
    if (status != UC_OK)
        uc_dataset_free(out);
    return status;
}

typedef struct collection {
    char **items;
    size_t *count, size;
} collection;

static uc_status take_items(const void *bytes, size_t length, void *user)
{
    const collection *self = user;
    *self->items = app_realloc(*self->items, *self->count * self->size + length, 1);
    memcpy(*self->items + *self->count * self->size, bytes, length);
    *self->count += length / self->size;
    return UC_OK;
}

uc_status cli_collect(void **items, size_t *count, size_t size)
{
    collection self = {(char **)items, count, size};
    if (uc_comm_size(app_comm) == 1)
        return UC_OK;
    return uc_comm_collect(app_comm, *items, app_is_first() ? 0 : *count * size, take_items, &self);
}

void cli_tell_traffic(const app_call *call, uc_traffic before, double seconds)
{
    const uc_traffic now = uc_comm_traffic(app_comm);
    const double waited = now.seconds - before.seconds;
    if (uc_comm_size(app_comm) > 1)
        app_detail(call,
                   "%d processes: %llu sums of %.3f MB in all; passing them on, and waiting for each other, "
                   "took the "
                   "first process %.3f s of %.3f s (%.1f%%)",
                   uc_comm_size(app_comm), (unsigned long long)(now.sums - before.sums),
                   (now.bytes - before.bytes) / 1e6, waited, seconds, 100 * waited / seconds);
}

/* ---- writing ---- */

uc_status cli_begin_data(cli_data_file *out, const char *path, const char *option, uc_format format,
                         const char *labels)
{
    *out = (cli_data_file){.format = format};
    uc_status status = UC_OK;
    if (format == UC_FORMAT_AUTO && *path)
        status = uc_format_of_path(&out->format, path);
    if (status == UC_OK && labels && out->format != UC_FORMAT_NPY)
        return app_fail(UC_ERR_OPTION,
                        "--labels-out is for NPY only; other formats hold the labels themselves");
    if (status == UC_OK)
        status = app_begin_file(&out->rows, path, option);
    if (status == UC_OK && labels)
        status = app_begin_file(&out->labels, labels, "--labels-out");
    return status;
}

uc_status cli_write_data(const app_call *call, const uc_dataset *data, const cli_data_file *file)
{
    if (file->format == UC_FORMAT_NPY && data->y && !file->labels)
        app_warn("%s: an NPY file does not hold the labels; --labels-out FILE writes them",
                 uc_output_name(file->rows));
    const uc_status status = app_check_interrupt();
    if (status != UC_OK)
        return status;
    return uc_dataset_write_to(data, file->rows, file->format, file->labels, &call->context);
}

uc_status cli_read_table(uc_dataset *out, uc_table_text **text, const app_call *call, const char *path,
                         const uc_read_settings *settings)
{
    const double began = app_seconds();
    if (settings->soft_labels) /* the text does not contain them */
        return cli_read_data(out, call, path, settings);
    uc_status status = uc_dataset_read_with_text(out, text, path, settings, &call->context);
    if (status != UC_OK)
        return status;
    tell_data(call, path, out, app_seconds() - began);
    status = app_check_interrupt();
    if (status != UC_OK) {
        uc_dataset_free(out);
        uc_table_text_free(*text);
        *text = NULL;
    }
    return status;
}

uc_status cli_write_table(const app_call *call, const cli_table_rows *table, const uc_dataset *part,
                          const cli_data_file *file)
{
    const bool keeps_text = file->format == UC_FORMAT_CSV || file->format == UC_FORMAT_JSONL;
    if (!table->text || !keeps_text)
        return cli_write_data(call, part, file);
    const uc_status status = app_check_interrupt();
    if (status != UC_OK)
        return status;
    const bool weighted = part->weights && (table->reweighted || !uc_table_text_has_weights(table->text));
    const uc_table_changes changes = {table->y, table->before, &part->classes,
                                      weighted ? part->weights : NULL};
    const char *name = weighted ? uc_table_text_weight_name(table->text) : NULL;
    if (name && strcmp(name, "weight") != 0 && !uc_table_text_has_weights(table->text))
        app_warn("%s: the table has a column 'weight' already; the one of weights is called '%s'",
                 uc_output_name(file->rows), name);
    return uc_table_text_write(table->text, file->rows, file->format, table->rows, table->count, &changes);
}

bool cli_reads_once(const char *path)
{
    struct stat info;
    return strcmp(path, "-") == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode));
}

cli_kind cli_recognise(const char *path)
{
    static const char liblinear[] = "solver_type ";
    char bytes[64];
    FILE *file = cli_reads_once(path) ? NULL : fopen(path, "rb");
    if (!file)
        return CLI_DATA; /* the reader will report why it cannot be opened */
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    if (uc_model_recognise(bytes, length))
        return CLI_MODEL;
    if (length >= sizeof liblinear - 1 && memcmp(bytes, liblinear, sizeof liblinear - 1) == 0)
        return CLI_LIBLINEAR;
    return CLI_DATA;
}

uc_status cli_load_model(uc_model **out, const char *path)
{
    if (cli_recognise(path) == CLI_LIBLINEAR)
        return uc_model_import_liblinear(out, path);
    return uc_model_load(out, path);
}

uc_status cli_load_first(uc_model **out, const char *path, const cli_files *data)
{
    const uc_status status = cli_load_model(out, path);
    if (status != UC_ERR_FORMAT || cli_recognise(data->paths[0]) == CLI_DATA)
        return status;
    return app_fail(status, "%s is not a model, but %s is: the model comes first, then the data", path,
                    data->paths[0]);
}
