/* unconfuse inspect for a table: one line per column. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

#define LONGEST_NAME 40 /* bytes of a column's name */
#define LEAST_VALUES 24 /* characters for its values */

/* Days since 1970-01-01 as a date (the inverse of what the reader does, by the civil calendar). */
static void print_day(char *out, size_t size, double day)
{
    const long long shifted = (long long)day + 719468,
                    era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    const long long of_era = shifted - era * 146097;
    const long long year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const long long of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const long long m = (5 * of_year + 2) / 153, month = m < 10 ? m + 3 : m - 9;
    snprintf(out, size, "%04d-%02d-%02d", (int)(year_of_era + era * 400 + (month <= 2)), (int)month,
             (int)(of_year - (153 * m + 2) / 5 + 1));
}

/* The range of numbers and dates, or the most frequent values. */
static void print_values(char *out, size_t size, const uc_column *column, size_t width)
{
    size_t used = 0, listed = 0;
    char low[48], high[48];
    *out = '\0';
    if (column->type == UC_COLUMN_NUMBER && !isnan(column->low)) {
        snprintf(out, size, "%.6g to %.6g", column->low, column->high);
        return;
    }
    if (column->type == UC_COLUMN_DATE && !isnan(column->low)) {
        print_day(low, sizeof low, column->low);
        print_day(high, sizeof high, column->high);
        snprintf(out, size, "%s to %s", low, high);
        return;
    }
    if (column->type == UC_COLUMN_ID || column->type == UC_COLUMN_TEXT)
        return;
    for (size_t t = 0; t < column->top_count && used + 60 < size; t++) {
        char shown[160], one[200];
        uc_printable(shown, 40, column->top[t].text);
        snprintf(one, sizeof one, "%s%s (%zu)", t ? ", " : "", shown, column->top[t].rows);
        const size_t dots = t + 1 < column->distinct ? strlen(", ...") : 0;
        if (t > 0 && app_text_width(out) + app_text_width(one) + dots > width)
            break;
        used += (size_t)snprintf(out + used, size - used, "%s", one);
        listed++;
    }
    if (column->distinct > listed && listed > 0)
        snprintf(out + used, size - used, ", ...");
}

/* The range as JSON: dates as text, numbers as numbers. */
static json_t *json_range(const uc_column *column)
{
    char low[48], high[48];
    if (column->type != UC_COLUMN_DATE)
        return json_pack("[oo]", app_json_real(column->low), app_json_real(column->high));
    print_day(low, sizeof low, column->low);
    print_day(high, sizeof high, column->high);
    return json_pack("[ss]", low, high);
}

json_t *cli_json_table(const uc_table *table)
{
    json_t *columns = json_array();
    for (size_t i = 0; i < uc_table_column_count(table); i++) {
        uc_column column;
        uc_table_column_at(&column, table, i);
        json_t *one = json_pack("{so ss sI}", "name", app_json_text(column.name), "type",
                                uc_column_type_name(column.type), "features", (json_int_t)column.features);
        if (uc_table_rows(table) > 0) {
            json_t *top = json_array();
            for (size_t t = 0; t < column.top_count; t++)
                json_array_append_new(top, json_pack("{so sI}", "value", app_json_text(column.top[t].text),
                                                     "rows", (json_int_t)column.top[t].rows));
            json_object_update_new(one, json_pack("{sI sI sb so so}", "missing", (json_int_t)column.missing,
                                                  "distinct", (json_int_t)column.distinct,
                                                  "distinct_is_exact", column.distinct_is_exact, "top", top,
                                                  "why", app_json_text(column.why ? column.why : "")));
            if (!isnan(column.low))
                json_object_set_new(one, "range", json_range(&column));
        }
        json_array_append_new(columns, one);
    }
    return columns;
}

/* The width that a line has left for the values, after all other columns. */
static size_t room_for_values(const uc_table *table)
{
    size_t name = strlen("column"), why = strlen("why");
    for (size_t i = 0; i < uc_table_column_count(table); i++) {
        uc_column column;
        char shown[LONGEST_NAME + 1];
        uc_table_column_at(&column, table, i);
        uc_printable(shown, sizeof shown, column.name);
        name = app_text_width(shown) > name ? app_text_width(shown) : name;
        why = column.why && app_text_width(column.why) > why ? app_text_width(column.why) : why;
    }
    const size_t others = name + why + strlen("  category  missing  distinct  ") + strlen("  "),
                 width = app_terminal_width(STDOUT_FILENO);
    return width > others + LEAST_VALUES ? width - others : LEAST_VALUES;
}

void cli_print_table(const uc_table *table)
{
    const size_t room = room_for_values(table);
    app_grid grid = {.align = "llrrll", .columns = 6};
    static const char *const head[] = {"column", "type", "missing", "distinct", "values", "why"};
    for (size_t i = 0; i < 6; i++)
        app_cell(&grid, "%s", head[i]);
    for (size_t i = 0; i < uc_table_column_count(table); i++) {
        uc_column column;
        char name[LONGEST_NAME + 1], values[400];
        uc_table_column_at(&column, table, i);
        uc_printable(name, sizeof name, column.name);
        print_values(values, sizeof values, &column, room);
        app_cell(&grid, "%s", name);
        app_cell(&grid, "%s", uc_column_type_name(column.type));
        app_cell(&grid, "%zu", column.missing);
        app_cell(&grid, "%s%zu", column.distinct_is_exact ? "" : "~", column.distinct);
        app_cell(&grid, "%s", values);
        app_cell(&grid, "%s", column.why ? column.why : "");
    }
    app_grid_print(&grid, stdout);
}

/* ---- models ---- */

void cli_print_encoding(const uc_table *table)
{
    app_grid grid = {.align = "llr", .columns = 3};
    app_cell(&grid, "column");
    app_cell(&grid, "type");
    app_cell(&grid, "features");
    for (size_t i = 0; i < uc_table_column_count(table); i++) {
        uc_column column;
        char name[200];
        uc_table_column_at(&column, table, i);
        uc_printable(name, sizeof name, column.name);
        app_cell(&grid, "%s", name);
        app_cell(&grid, "%s", uc_column_type_name(column.type));
        app_cell(&grid, "%zu", column.features);
    }
    app_grid_print(&grid, stdout);
}

typedef struct heavy {
    size_t feature;
    double weight;
} heavy;

static int compare_heavy(const void *a, const void *b)
{
    const heavy *x = a, *y = b;
    if (fabs(x->weight) != fabs(y->weight))
        return fabs(x->weight) > fabs(y->weight) ? -1 : 1;
    return x->feature < y->feature ? -1 : x->feature > y->feature;
}

static json_t *heaviest(const uc_model *model, size_t cls, size_t count)
{
    const size_t features = uc_model_features(model);
    const uc_table *table = uc_model_table(model);
    heavy *all = app_calloc(features, sizeof *all);
    json_t *list = json_array();
    for (size_t j = 0; j < features; j++)
        all[j] = (heavy){j, uc_model_weight(model, j, cls)};
    qsort(all, features, sizeof *all, compare_heavy);
    for (size_t i = 0; i < count && i < features && all[i].weight != 0; i++) {
        char name[400];
        snprintf(name, sizeof name, "column %zu", all[i].feature + 1);
        if (table)
            uc_table_feature_name(name, sizeof name, table, all[i].feature);
        json_array_append_new(list, json_pack("{so so}", "feature", app_json_text(name), "weight",
                                              app_json_real(all[i].weight)));
    }
    free(all);
    return list;
}

uc_status cli_json_top(json_t **out, const uc_model *model, size_t count, const char *path)
{
    const uc_names *classes = uc_model_classes(model);
    if (uc_model_dimension(model) != uc_model_features(model))
        return app_fail(UC_ERR_INVALID,
                        "%s: its weights are those of a feature map, not of columns: --top has no "
                        "names for them",
                        path);
    *out = json_array();
    for (size_t k = 0; k < classes->count; k++)
        json_array_append_new(*out, json_pack("{so so}", "class", app_json_text(classes->text[k]), "weights",
                                              heaviest(model, k, count)));
    return UC_OK;
}

void cli_print_top(const json_t *top)
{
    const json_t *one, *item;
    size_t i, j;
    app_grid grid = {.align = "llr", .columns = 3};
    app_cell(&grid, "class");
    app_cell(&grid, "feature");
    app_cell(&grid, "weight");
    json_array_foreach(top, i, one)
    {
        json_array_foreach(json_object_get(one, "weights"), j, item)
        {
            char name[200], cls[200];
            uc_printable(name, sizeof name, json_string_value(json_object_get(item, "feature")));
            uc_printable(cls, sizeof cls, json_string_value(json_object_get(one, "class")));
            app_cell(&grid, "%s", cls);
            app_cell(&grid, "%s", name);
            app_cell(&grid, "%.6g", json_number_value(json_object_get(item, "weight")));
        }
    }
    app_grid_print(&grid, stdout);
}
