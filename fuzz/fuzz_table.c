/* The first look at a table, of CSV or JSON lines, and the text of its rows.
 *
 * The first byte chooses options. The findings of the look are the same for any number of threads and make
 * sense: counts add up, features are consecutive, numbers have a range. Rows read with the resulting table
 * are the same as those of a reader that looks for itself, and the text is returned row by row. */
#define _GNU_SOURCE
#include "data/table.h"
#include "fuzz/truths.h"
#include "unconfuse/table.h"

static void check_column(const uc_column *column, size_t rows)
{
    CHECK(column->name && uc_is_text(column->name, strlen(column->name)));
    CHECK(column->missing <= rows);
    CHECK(column->why && column->why[0] != '\0');
    CHECK(!(column->low > column->high));
    CHECK(!column->distinct_is_exact || column->distinct + column->missing <= rows);
    size_t counted = 0;
    for (size_t t = 0; t < column->top_count; t++) {
        CHECK(t == 0 || column->top[t].rows <= column->top[t - 1].rows);
        counted += column->top[t].rows;
    }
    CHECK(counted + column->missing <= rows);
}

static void check_table(const uc_table *table)
{
    size_t features = 0;
    for (size_t i = 0; i < uc_table_column_count(table); i++) {
        uc_column column;
        uc_table_column_at(&column, table, i);
        check_column(&column, uc_table_rows(table));
        if (column.type != UC_COLUMN_TEXT)
            features += column.features;
        CHECK(uc_table_find(table, column.name, strlen(column.name)) == i);
    }
    CHECK(features == table->text_first && features <= table->features);
    for (size_t j = 0; j < features; j++) {
        char name[40];
        uc_table_feature_name(name, sizeof name, table, j);
    }
}

static void check_text(uc_table_text *text, const uc_dataset *data)
{
    size_t length;
    CHECK(uc_table_text_rows(text) == data->X.rows);
    (void)uc_table_text_header(&length, text);
    for (size_t i = 0; i < data->X.rows; i++) {
        const char *row = uc_table_text_row(&length, text, i);
        CHECK(length > 0 && row[length - 1] == '\n');
        (void)uc_table_text_id(&length, text, i);
    }
}

static void check_looks(const char *path, const uc_read_settings *settings)
{
    const uc_context one = {.threads = 1, .memory = (uint64_t)1 << 28},
                     three = {.threads = 3, .memory = one.memory};
    uc_table *table = NULL, *again = NULL;
    const uc_status status = uc_table_look(&table, path, settings, &one);
    char *sentence = strdup(uc_last_error());
    CHECK(uc_table_look(&again, path, settings, &three) == status);
    if (status == UC_OK)
        check_table(table);
    else
        CHECK(strcmp(sentence, uc_last_error()) == 0 && sentence[0] && !strchr(sentence, '\n'));
    CHECK(!again || again->features == table->features);
    uc_table_free(table);
    uc_table_free(again);
    free(sentence);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const long live = uc_alloc_live();
    if (length < 2)
        return 0;
    uc_read_settings settings = uc_reader_defaults();
    settings.format = bytes[0] & 1 ? UC_FORMAT_JSONL : UC_FORMAT_CSV;
    settings.decimal = bytes[0] & 2 ? "," : NULL;
    settings.label = bytes[0] & 4 ? "none" : NULL;
    settings.max_categories = bytes[0] & 8 ? 2 : UC_MAX_CATEGORIES;
    settings.missing_values = bytes[0] & 16 ? "x,-" : NULL;
    memory_file file = memory_file_open(bytes + 1, length - 1);
    check_looks(file.path, &settings);
    check_reader(bytes + 1, length - 1, (uc_format)settings.format);
    uc_dataset data = {0};
    uc_table_text *text = NULL;
    if (uc_dataset_read_with_text(&data, &text, file.path, &settings, NULL) == UC_OK) {
        check_dataset(&data);
        if (text)
            check_text(text, &data);
    }
    uc_table_text_free(text);
    uc_dataset_free(&data);
    memory_file_close(&file);
    CHECK(uc_alloc_live() == live);
    return 0;
}
