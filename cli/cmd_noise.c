/* unconfuse noise make, noise apply: makes noise matrices, and corrupts labels on purpose. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

/* ---- make ---- */

typedef struct make_args {
    const char *classes, *output;
    double rate, level;
} make_args;

static const uc_option make_options[] = {
    {.name = "classes",
     .type = UC_OPTION_TEXT,
     .offset = offsetof(make_args, classes),
     .argument = "K|a,b,c",
     .help = "the number of classes, or their names"},
    {.name = "rate",
     .type = UC_OPTION_REAL,
     .offset = offsetof(make_args, rate),
     .high = 0.999999,
     .argument = "ETA",
     .help = "uniform: the share of wrong labels in every class"},
    {.name = "level",
     .type = UC_OPTION_REAL,
     .offset = offsetof(make_args, level),
     .high = 20,
     .argument = "I",
     .help =
         "random: how strong the noise is; 0: none, 10: a random matrix, 20: even farther from true labels"},
    {.name = "output",
     .letter = 'o',
     .type = UC_OPTION_TEXT,
     .offset = offsetof(make_args, output),
     .argument = "FILE",
     .help = "the CSV file to write"},
    {0},
};

static const app_section make_sections[] = {{"Options", make_options, 0}, {0}};

/* Reads the number of classes, or their names. */
static uc_status parse_classes(size_t *count, uc_names *names, const char *text)
{
    if (text[strspn(text, "0123456789")] != 0) {
        const uc_status status = cli_split_names(names, text, "classes");
        *count = names->count;
        return status;
    }
    const unsigned long long number = strtoull(text, NULL, 10);
    if (number < 2 || number > 65536)
        return app_fail(UC_ERR_OPTION, "--classes %s: it must be a whole number from 2 to 65536, or names",
                        text);
    *count = (size_t)number;
    return UC_OK;
}

/* The kinds of matrices, and the option that each needs. */
typedef enum matrix_kind { UNIFORM, PAIR, RANDOM, COMPLEMENTARY, KINDS } matrix_kind;
static const char *const kind_names[KINDS + 1] = {"uniform", "pair", "random", "complementary", NULL};
static const char *const kind_options[KINDS] = {"rate", "rate", "level", NULL};

static const char *kind_name(size_t i)
{
    return kind_names[i];
}

/* Returns KINDS if there is no such kind. */
static matrix_kind find_kind(const char *name)
{
    size_t k = 0;
    while (k < KINDS && strcmp(name, kind_names[k]) != 0)
        k++;
    return (matrix_kind)k;
}

static uc_status check_make(const app_call *call, matrix_kind kind)
{
    const make_args *args = call->args;
    if (kind == KINDS)
        return app_fail(UC_ERR_OPTION, "noise make %s: it must be uniform, pair, random or complementary",
                        call->words[0]);
    const char *wanted = kind_options[kind];
    if (wanted && (!args->classes || !args->output || !app_given(call, wanted)))
        return app_fail(UC_ERR_OPTION, "noise make %s needs --classes, --%s and -o FILE", call->words[0],
                        wanted);
    if (!args->classes || !args->output)
        return app_fail(UC_ERR_OPTION, "noise make %s needs --classes and -o FILE", call->words[0]);
    for (size_t k = 0; k < KINDS; k++) {
        const char *other = kind_options[k];
        if (k == kind || !other || (wanted && strcmp(other, wanted) == 0) || !app_given(call, other))
            continue;
        if (!wanted)
            return app_fail(UC_ERR_OPTION, "--%s is not for noise make %s", other, call->words[0]);
        return app_fail(UC_ERR_OPTION, "--%s is not for noise make %s, which takes --%s", other,
                        call->words[0], wanted);
    }
    return UC_OK;
}

static uc_status make_matrix(uc_noise *out, matrix_kind kind, size_t classes, const app_call *call)
{
    const make_args *args = call->args;
    switch (kind) {
    case UNIFORM:
        return uc_noise_uniform(out, classes, args->rate);
    case PAIR:
        return uc_noise_pair(out, classes, args->rate);
    case RANDOM:
        return uc_noise_random(out, classes, args->level, call->common.seed);
    default:
        return uc_noise_complementary(out, classes);
    }
}

static uc_status run_make(app_call *call)
{
    const make_args *args = call->args;
    const matrix_kind kind = find_kind(call->words[0]);
    uc_noise noise = {0};
    uc_names names = {0};
    uc_noise_check check = {0};
    size_t classes = 0;
    uc_output *file;
    uc_status status = check_make(call, kind);
    if (status != UC_OK)
        goto cleanup;
    if ((status = app_begin_file(&file, args->output, "-o")) != UC_OK)
        goto cleanup;
    if ((status = parse_classes(&classes, &names, args->classes)) != UC_OK)
        goto cleanup;
    if ((status = make_matrix(&noise, kind, classes, call)) != UC_OK)
        goto cleanup;
    if (names.count && (status = uc_noise_match(&noise, &names)) != UC_OK)
        goto cleanup;
    if ((status = cli_noise_check(&check, &noise)) != UC_OK)
        goto cleanup;
    if ((status = uc_noise_write_to(&noise, file)) != UC_OK)
        goto cleanup;
    if ((status = app_finish_files(false)) != UC_OK)
        goto cleanup;
    FILE *text = app_summary(call, args->output);
    if (text)
        fprintf(text, "%zu classes, %.1f%% of the labels wrong, condition number %.3g: %s\n", classes,
                100 * check.wrong, check.condition, args->output);
    if (call->common.json)
        call->result = json_pack("{sI so so so}", "classes", (json_int_t)classes, "condition",
                                 app_json_real(check.condition), "wrong", app_json_real(check.wrong),
                                 "output", app_json_text(args->output));

cleanup:
    uc_names_free(&names);
    uc_noise_free(&noise);
    return status;
}

const app_command command_noise_make = {
    .name = "noise make",
    .usage = "uniform|pair|random|complementary --classes K [--rate ETA | --level I] -o FILE",
    .summary = "make a noise matrix",
    .description = "Writes a noise matrix as CSV: a column for each true class and a row for each observed "
                   "class; every column sums to 1. In a pair matrix every class is taken for the one after "
                   "it. A label of a "
                   "complementary matrix names a class that the "
                   "example does not belong to, each of them equally often.",
    .sections = make_sections,
    .args_size = sizeof(make_args),
    .word = kind_name,
    .least = 1,
    .most = 1,
    .run = run_make,
};

/* ---- apply ---- */

typedef struct apply_args {
    uc_read_settings read;
    cli_noise noise;
    cli_data_output data;
    const char *output;
} apply_args;

static const uc_option apply_options[] = {
    {.name = "output",
     .letter = 'o',
     .type = UC_OPTION_TEXT,
     .offset = offsetof(apply_args, output),
     .argument = "OUT",
     .help = "the data file to write"},
    {0},
};

static const app_section apply_sections[] = {
    {"Options", apply_options, 0},
    {"Noise of the labels", cli_noise_options, offsetof(apply_args, noise)},
    {"Output options", cli_data_output_options, offsetof(apply_args, data)},
    {"Data options", uc_read_options, offsetof(apply_args, read)},
    {0},
};

static void tell_applied(app_call *call, size_t changed, size_t labelled, const uc_noise_check *check)
{
    const apply_args *args = call->args;
    FILE *text = app_summary(call, args->output);
    if (text)
        fprintf(text, "%zu of %zu labels changed (%.1f%%), condition number %.3g: %s\n", changed, labelled,
                labelled ? 100 * (double)changed / (double)labelled : 0, check->condition, args->output);
    if (call->common.json)
        call->result =
            json_pack("{sI sI so so}", "labels", (json_int_t)labelled, "changed", (json_int_t)changed,
                      "condition", app_json_real(check->condition), "output", app_json_text(args->output));
}

static uc_status run_apply(app_call *call)
{
    const apply_args *args = call->args;
    uc_dataset data = {0};
    uc_noise noise = {0};
    uc_noise_check check;
    size_t changed = 0, labelled = 0;
    if (!args->output || !cli_noise_is_given(call))
        return app_fail(UC_ERR_OPTION,
                        "noise apply needs -o OUT and one of --noise-matrix, --noise-rate, --noise-rates");
    uc_table_text *table = NULL;
    uint32_t *before = NULL;
    cli_data_file file;
    uc_status status =
        cli_begin_data(&file, args->output, "-o", (uc_format)args->data.format, args->data.labels);
    if (status != UC_OK)
        goto cleanup;
    if ((status = cli_keep_data(call->words[0], &args->read)) != UC_OK ||
        (status = app_keep_input(args->noise.matrix)) != UC_OK)
        goto cleanup;
    if ((status = cli_read_table(&data, &table, call, call->words[0], &args->read)) != UC_OK)
        goto cleanup;
    if (data.y) {
        before = app_calloc(data.X.rows, sizeof *before);
        memcpy(before, data.y, data.X.rows * sizeof *before);
    }
    if ((status = cli_noise_build(&noise, &check, &args->noise, &data.classes, call)) != UC_OK)
        goto cleanup;
    if ((status = uc_noise_apply(&data, &noise, call->common.seed, &changed)) != UC_OK)
        goto cleanup;
    const cli_table_rows all = {.text = table, .y = data.y, .before = before};
    if ((status = cli_write_table(call, &all, &data, &file)) != UC_OK)
        goto cleanup;
    if ((status = app_finish_files(false)) != UC_OK)
        goto cleanup;
    for (size_t i = 0; i < data.X.rows; i++)
        labelled += data.y[i] != UC_NONE;
    tell_applied(call, changed, labelled, &check);

cleanup:
    free(before);
    uc_table_text_free(table);
    uc_noise_free(&noise);
    uc_dataset_free(&data);
    return status;
}

const app_command command_noise_apply = {
    .name = "noise apply",
    .usage = "DATA -o OUT (--noise-matrix FILE | --noise-rate ETA | --noise-rates ETA+,ETA-)",
    .summary = "make labels wrong on purpose",
    .description = "Draws an observed label for every example from the column of its true class, and "
                   "writes the data with these labels.",
    .sections = apply_sections,
    .args_size = sizeof(apply_args),
    .least = 1,
    .most = 1,
    .run = run_apply,
};
