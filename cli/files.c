/* Reading and writing data, and telling what a file is. */
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

const uc_option cli_data_output_options[] = {
    {.name = "to",
     .type = UC_OPTION_CHOICE,
     .offset = offsetof(cli_data_output, format),
     .standard = "auto",
     .choices = "auto|libsvm|csv|npy|ucd",
     .help = "format of the data written; auto: from the file's ending"},
    {.name = "labels-out",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(cli_data_output, labels),
     .argument = "FILE",
     .help = "NPY: the file for the labels"},
    {0},
};

static bool ends_with(const char *text, const char *ending)
{
    const size_t length = strlen(text), ending_length = strlen(ending);
    return length >= ending_length && strcmp(text + length - ending_length, ending) == 0;
}

uc_status cli_read_data(uc_dataset *out, const cli_call *call, const char *path,
                        const uc_read_settings *settings)
{
    const double began = cli_seconds();
    uc_status status = uc_dataset_read(out, path, settings, &call->context);
    if (status != UC_OK)
        return status;
    cli_detail(call, "%s: %zu examples, %zu features, %zu classes, %s, read in %.3f s", path, out->X.rows,
               out->X.cols, out->classes.count, uc_matrix_is_sparse(&out->X) ? "sparse" : "dense",
               cli_seconds() - began);
    status = cli_check_interrupt();
    if (status != UC_OK)
        uc_dataset_free(out);
    return status;
}

uc_status cli_write_data(const cli_call *call, const uc_dataset *data, const char *path, uc_format format,
                         const char *labels)
{
    if (format == UC_FORMAT_AUTO && strcmp(path, "-") == 0)
        format = UC_FORMAT_LIBSVM;
    const bool npy = format == UC_FORMAT_NPY || (format == UC_FORMAT_AUTO && ends_with(path, ".npy"));
    if (labels && !npy)
        return cli_fail(UC_ERR_OPTION,
                        "--labels-out is for NPY only; other formats hold the labels themselves");
    if (npy && data->y && !labels)
        cli_warn("%s: an NPY file does not hold the labels; --labels-out FILE writes them", path);
    const uc_status status = cli_check_interrupt();
    return status == UC_OK ? uc_dataset_write(data, path, format, labels, &call->context) : status;
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
        return CLI_DATA; /* whoever reads it says why it cannot be opened */
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
    return cli_recognise(path) == CLI_LIBLINEAR ? uc_model_import_liblinear(out, path)
                                                : uc_model_load(out, path);
}
