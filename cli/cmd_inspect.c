/* unconfuse inspect: shows what is in a file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

typedef struct inspect_args {
    uc_read_settings read;
    uint64_t top;
} inspect_args;

static const uc_option options[] = {
    {.name = "top",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(inspect_args, top),
     .standard = "0",
     .low = 0,
     .high = 1e9,
     .argument = "N",
     .help = "of a model: list the N largest weights of every class, with the names of the features"},
    {0},
};

static const app_section sections[] = {
    {"Options", options, 0},
    {"Data options", uc_read_options, offsetof(inspect_args, read)},
    {0},
};

/* ---- JSON as text: a name and its value per line, members of members indented ---- */

#define LISTED 20 /* items of a list that are shown */

/* Prints text from the file, escaped, since it may contain control characters for the terminal. */
static void print_text(const char *text)
{
    const size_t size = 4 * strlen(text) + 1;
    char *shown = app_calloc(size, 1);
    uc_printable(shown, size, text);
    fputs(shown, stdout);
    free(shown);
}

static void print_value(const json_t *value)
{
    if (json_is_string(value)) {
        print_text(json_string_value(value));
        return;
    }
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    fputs(text ? text : "?", stdout);
    free(text);
}

static void print_members(json_t *object, int indent)
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        if (strcmp(name, "summary") == 0)
            continue; /* its members are also at the top level */
        printf("%*s", indent, "");
        print_text(name);
        if (json_is_object(value)) {
            putchar('\n');
            print_members(value, indent + 2);
            continue;
        }
        printf("%*s", (int)strlen(name) < 22 - indent ? 22 - indent - (int)strlen(name) : 0, "");
        const size_t items = json_is_array(value) ? json_array_size(value) : 0;
        for (size_t i = 0; i < items && i < LISTED; i++) {
            putchar(' ');
            print_value(json_array_get(value, i));
        }
        if (items > LISTED)
            printf(" ... (%zu)", items);
        if (!json_is_array(value)) {
            putchar(' ');
            print_value(value);
        }
        putchar('\n');
    }
}

/* ---- models ---- */

static uc_status inspect_model(uc_table **table, app_call *call)
{
    const inspect_args *args = call->args;
    uc_model *model = NULL;
    json_t *top = NULL;
    uc_model_summary summary = {0};
    uc_status status = cli_load_model(&model, call->words[0]);
    if (status == UC_OK)
        status = uc_model_summarize(&summary, model);
    if (status == UC_OK)
        call->result = cli_json_values(&summary.all);
    if (status == UC_OK && uc_model_table(model)) {
        *table = uc_table_share(uc_model_table(model));
        json_object_set_new(call->result, "columns", cli_json_table(*table));
    }
    if (status == UC_OK && args->top > 0)
        status = cli_json_top(&top, model, (size_t)args->top, call->words[0]);
    if (top)
        json_object_set_new(call->result, "top", top);
    uc_model_summary_free(&summary);
    uc_model_free(model);
    return status;
}

static void print_model(json_t *result, const uc_table *columns)
{
    json_t *rest = json_copy(result);
    json_object_del(rest, "columns");
    json_object_del(rest, "top");
    print_members(rest, 0);
    json_decref(rest);
    if (columns) {
        putchar('\n');
        cli_print_encoding(columns);
    }
    if (json_object_get(result, "top")) {
        putchar('\n');
        cli_print_top(json_object_get(result, "top"));
    }
}

/* ---- data ---- */

typedef struct tally {
    size_t rows, cols, unlabelled, nonzeros;
    float low, high;
    size_t *counts; /* of each class */
    size_t classes;
    size_t bags;
    char format[16];
    bool labels;
} tally;

static void count_values(tally *self, const uc_matrix *X)
{
    for (size_t i = 0; i < X->rows; i++) {
        const uc_row row = uc_matrix_row(X, i);
        for (size_t j = 0; j < row.count; j++) {
            const float value = row.values[j];
            self->nonzeros += value != 0;
            self->low = value < self->low ? value : self->low;
            self->high = value > self->high ? value : self->high;
        }
    }
    self->rows += X->rows;
    self->cols = X->cols > self->cols ? X->cols : self->cols;
}

static void count_labels(tally *self, const uc_dataset *block, const uc_names *classes)
{
    if (!block->y)
        return;
    self->labels = true;
    self->counts = app_realloc(self->counts, classes->count, sizeof *self->counts);
    for (; self->classes < classes->count; self->classes++)
        self->counts[self->classes] = 0;
    for (size_t i = 0; i < block->X.rows; i++)
        if (block->y[i] == UC_NONE)
            self->unlabelled++;
        else
            self->counts[block->y[i]]++;
}

static void count_bags(tally *self, const uc_dataset *block)
{
    for (size_t i = 0; block->bag && i < block->X.rows; i++)
        if (block->bag[i] != UC_NONE && block->bag[i] >= self->bags)
            self->bags = (size_t)block->bag[i] + 1;
}

static json_t *describe_data(const tally *self, const uc_names *classes, const uint32_t *position)
{
    json_t *counts = json_array();
    const double cells = (double)self->rows * (double)self->cols;
    const double density = cells > 0 ? (double)self->nonzeros / cells : 0;
    const size_t unlabelled = self->labels ? self->unlabelled : self->rows;
    double low = (double)self->low, high = (double)self->high;
    if ((double)self->nonzeros < cells) { /* there are zeros, stored or not */
        low = fmin(0, low);
        high = fmax(0, high);
    }
    for (size_t k = 0; k < classes->count; k++)
        for (size_t old = 0; old < classes->count; old++)
            if (position[old] == k)
                json_array_append_new(counts, json_pack("{so sI}", "class", app_json_text(classes->text[k]),
                                                        "examples", (json_int_t)self->counts[old]));
    return json_pack("{ss ss sI sI so sI sI so so}", "kind", "data", "format", self->format, "examples",
                     (json_int_t)self->rows, "features", (json_int_t)self->cols, "classes", counts,
                     "unlabelled", (json_int_t)unlabelled, "bags", (json_int_t)self->bags, "density",
                     app_json_real(density), "range",
                     json_pack("[oo]", app_json_real(low), app_json_real(high)));
}

/* The columns of CSV data: those that the reader has found already or, for a plain table, found now. */
static uc_status look_at_columns(uc_table **out, const app_call *call, const uc_reader *reader)
{
    const inspect_args *args = call->args;
    const uc_table *table = uc_reader_table(reader);
    const char *format = uc_reader_format(reader);
    if (strcmp(format, "csv") != 0 && strcmp(format, "jsonl") != 0)
        return UC_OK;
    if (table && !uc_table_is_plain(table)) {
        *out = uc_table_share(table);
        return UC_OK;
    }
    if (cli_reads_once(call->words[0]))
        return UC_OK;
    return uc_table_look(out, call->words[0], &args->read, &call->context);
}

/* If data cannot be opened, they may be a table without features, whose columns show why. *table stays NULL
 * if something else is wrong. */
static void inspect_columns(uc_table **table, app_call *call)
{
    const inspect_args *args = call->args;
    uc_table *found = NULL;
    if (cli_reads_once(call->words[0]) ||
        uc_table_look(&found, call->words[0], &args->read, &call->context) != UC_OK)
        return;
    if (uc_table_features(found) > 0) {
        uc_table_free(found);
        return;
    }
    *table = found;
    call->result = json_pack("{ss ss sI si so so}", "kind", "data", "format", "csv", "examples",
                             (json_int_t)uc_table_rows(*table), "features", 0, "classes", json_array(),
                             "columns", cli_json_table(*table));
}

static uc_status count_rows(tally *self, uc_reader *reader)
{
    const uc_dataset *block = NULL;
    uc_status status = UC_OK;
    while (status == UC_OK && (status = uc_reader_next(&block, reader)) == UC_OK && block) {
        count_values(self, &block->X);
        count_labels(self, block, uc_reader_classes(reader));
        count_bags(self, block);
        status = app_check_interrupt();
    }
    return status;
}

/* Whether the reader takes the file for CSV of numbers alone. */
static bool may_be_table(const uc_reader *reader)
{
    const uc_table *table = reader ? uc_reader_table(reader) : NULL;
    return reader && strcmp(uc_reader_format(reader), "csv") == 0 && (!table || uc_table_is_plain(table));
}

/* CSV that begins like a table of numbers may turn out not to be one. It is counted again, after a look at
 * its columns; if there are problems, that reports all of them. */
static uc_status count_again(tally *self, uc_reader **reader, const app_call *call)
{
    const inspect_args *args = call->args;
    uc_read_settings settings = args->read;
    uc_table *learned = NULL;
    uc_reader_close(*reader);
    *reader = NULL;
    free(self->counts);
    *self = (tally){.low = INFINITY, .high = -INFINITY};
    uc_status status = uc_table_learn(&learned, call->words[0], &settings, &call->context);
    settings.table = learned;
    if (status == UC_OK)
        status = uc_reader_open(reader, call->words[0], &settings, &call->context);
    if (status == UC_OK)
        status = count_rows(self, *reader);
    uc_table_free(learned);
    return status;
}

static uc_status inspect_data(uc_table **table, app_call *call)
{
    const inspect_args *args = call->args;
    tally self = {.low = INFINITY, .high = -INFINITY};
    uc_reader *reader = NULL;
    uc_names classes = {0};
    uint32_t *position = NULL;
    uc_status status = uc_reader_open(&reader, call->words[0], &args->read, &call->context);
    if (status == UC_ERR_FORMAT) {
        inspect_columns(table, call);
        if (*table)
            return UC_OK;
        status = uc_reader_open(&reader, call->words[0], &args->read, &call->context); /* for its message */
    }
    if (status == UC_OK)
        status = count_rows(&self, reader);
    if (status == UC_ERR_FORMAT && may_be_table(reader) && !cli_reads_once(call->words[0]))
        status = count_again(&self, &reader, call);
    if (status == UC_OK) {
        snprintf(self.format, sizeof self.format, "%s", uc_reader_format(reader));
        position = app_calloc(uc_reader_classes(reader)->count, sizeof *position);
        status = uc_names_copy(&classes, uc_reader_classes(reader));
    }
    if (status == UC_OK)
        status = uc_names_sort(&classes, position);
    if (status == UC_OK)
        call->result = describe_data(&self, &classes, position);
    if (status == UC_OK)
        status = look_at_columns(table, call, reader);
    if (status == UC_OK && *table)
        json_object_set_new(call->result, "columns", cli_json_table(*table));
    uc_names_free(&classes);
    uc_reader_close(reader);
    free(position);
    free(self.counts);
    return status;
}

static void print_data(const json_t *result, const uc_table *columns)
{
    json_t *classes = json_object_get(result, "classes"), *item;
    size_t i;
    app_grid table = {.align = "lr", .columns = 3};
    json_t *rest = json_copy((json_t *)result);
    json_object_set_new(rest, "classes", json_integer((json_int_t)json_array_size(classes)));
    json_object_del(rest, "columns");
    print_members(rest, 0);
    json_decref(rest);
    if (columns) {
        putchar('\n');
        cli_print_table(columns);
    }
    const double rows = json_number_value(json_object_get(result, "examples"));
    if (json_array_size(classes) == 0)
        return;
    putchar('\n');
    app_cell(&table, "class");
    app_cell(&table, "examples");
    app_cell(&table, "share");
    json_array_foreach(classes, i, item)
    {
        const json_int_t count = json_integer_value(json_object_get(item, "examples"));
        app_cell(&table, "%s", json_string_value(json_object_get(item, "class")));
        app_cell(&table, "%lld", (long long)count);
        app_cell(&table, "%.1f%%", 100 * (double)count / rows);
    }
    app_grid_print(&table, stdout);
}

static uc_status run(app_call *call)
{
    const bool data = cli_recognise(call->words[0]) == CLI_DATA;
    uc_table *table = NULL;
    uc_status status;
    if (data)
        status = inspect_data(&table, call);
    else
        status = inspect_model(&table, call);
    if (status != UC_OK || call->common.json)
        goto cleanup;
    app_progress_end();
    if (data)
        print_data(call->result, table);
    else
        print_model(call->result, table);
    json_decref(call->result);
    call->result = NULL;

cleanup:
    uc_table_free(table);
    return status;
}

const app_command command_inspect = {
    .name = "inspect",
    .usage = "MODEL|DATA",
    .summary = "show what is in a model or data file",
    .description =
        "Shows what a model file holds (learner, settings, classes, how training went, the columns "
        "of its table), or what "
        "data look like (examples, features, classes, density, range of the values; of CSV, what "
        "every column is taken for, and why).",
    .sections = sections,
    .args_size = sizeof(inspect_args),
    .least = 1,
    .most = 1,
    .run = run,
};
