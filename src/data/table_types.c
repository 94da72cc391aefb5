/*
 * Decides the type of every column of a table from the counts of the first look. The rules are tried in this
 * order: drop, id by name, boolean, number, date, category, id (all values differ in a number), text with
 * spaces, id (all values differ), text.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "data/layout.h"
#include "data/table_look.h"

/* ---- problems ---- */

void uc_look_blame(uc_look *self, size_t column, size_t line, const char *format, ...)
{
    uc_problem fresh = {.column = column, .line = line, .count = 1};
    va_list arguments;
    for (size_t i = 0; i < self->problem_count; i++)
        if (self->problems[i].column == column) {
            self->problems[i].count++;
            return;
        }
    if (self->problem_count == UC_PROBLEMS)
        return;
    va_start(arguments, format);
    vsnprintf(fresh.sentence, sizeof fresh.sentence, format, arguments);
    va_end(arguments);
    self->problems[self->problem_count++] = fresh;
}

/* The current column. */
typedef struct decision {
    uc_table_column *column;
    const uc_column_look *look;
    size_t number; /* of the column, from 0 */
    size_t rows;
    bool named; /* columns have names */
    const uc_read_settings *settings;
    uc_look *all;
} decision;

static uc_status explain(uc_table_column *self, const char *format, ...) UC_PRINTF(2, 3);

static uc_status explain(uc_table_column *self, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    uc_free(self->why);
    self->why = uc_strdup(text);
    return self->why ? UC_OK : UC_ERR_NOMEM;
}

static uc_status take(uc_table_column *self, uc_column_type type, const char *why)
{
    self->type = type;
    return explain(self, "%s", why);
}

/* ---- values ---- */

/* An estimate if only some of the values are counted, but never more than the number of values. */
static size_t count_distinct(const uc_column_look *look)
{
    return uc_min_size(look->set.used << look->set.level, look->values);
}

static bool all_differ(const uc_value_set *set)
{
    for (size_t i = 0; i < set->room; i++)
        if (set->slots[i].count > 1)
            return false;
    return set->used > 0;
}

static int compare_entries(const void *a, const void *b)
{
    const uc_value_entry *x = *(const uc_value_entry *const *)a, *y = *(const uc_value_entry *const *)b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->mark < y->mark ? -1 : x->mark > y->mark;
}

/* Lists the entries that have texts, the most frequent first; *out belongs to the caller. */
static uc_status sort_entries(const uc_value_entry ***out, size_t *count, const uc_value_set *set)
{
    const uc_value_entry **list = uc_alloc(set->used + 1, sizeof *list);
    if (!list)
        return UC_ERR_NOMEM;
    *count = 0;
    for (size_t i = 0; i < set->room; i++)
        if (set->slots[i].count && set->slots[i].text)
            list[(*count)++] = &set->slots[i];
    qsort(list, *count, sizeof *list, compare_entries);
    *out = list;
    return UC_OK;
}

static uc_status describe_values(uc_table_column *self, const uc_column_look *look)
{
    const uc_value_entry **list;
    size_t count;
    self->missing = look->missing;
    self->distinct = count_distinct(look);
    self->distinct_is_exact = look->set.level == 0;
    if (look->set.without_texts)
        return UC_OK;
    uc_status status = sort_entries(&list, &count, &look->set);
    if (status != UC_OK)
        return status;
    self->top_count = uc_min_size(count, UC_TOP_VALUES);
    for (size_t t = 0; t < self->top_count && status == UC_OK; t++) {
        self->top[t] = uc_strndup(look->set.texts + list[t]->text - 1, list[t]->length);
        self->top_rows[t] = (size_t)list[t]->count;
        if (!self->top[t])
            status = UC_ERR_NOMEM;
    }
    uc_free(list);
    return status;
}

/* Gives each frequent value a feature of its own. */
static uc_status keep_values(const decision *self)
{
    const uc_value_set *set = &self->look->set;
    uc_status status = UC_OK;
    for (size_t i = 0; i < set->room && status == UC_OK; i++) {
        const uc_value_entry *entry = &set->slots[i];
        uint32_t index;
        if (entry->count && entry->text && entry->count * UC_SELDOM >= self->rows)
            status = uc_names_add(&index, &self->column->values, set->texts + entry->text - 1, entry->length);
    }
    if (status == UC_OK)
        status = uc_names_sort(&self->column->values, NULL);
    for (size_t k = 0; k < self->column->values.count && status == UC_OK; k++) {
        const char *value = self->column->values.text[k];
        char quoted[UC_QUOTE_SIZE];
        if (!uc_is_text(value, strlen(value)))
            uc_look_blame(self->all, self->number, 0,
                          "'%s' is not UTF-8 text: convert the file first, as iconv -f LATIN1 -t UTF-8 does",
                          uc_quote(quoted, value, strlen(value)));
    }
    return status;
}

/* ---- types ---- */

static int boolean_pair(unsigned words)
{
    for (unsigned p = 0; p < UC_BOOLEANS; p++)
        if (words == 3u << (2 * p))
            return (int)p;
    return -1;
}

static uc_status make_number(const decision *self, const char *why)
{
    self->column->low = self->look->low;
    self->column->high = self->look->high;
    return take(self->column, UC_COLUMN_NUMBER, why);
}

static uc_status make_date(const decision *self, unsigned form)
{
    char why[100];
    self->column->form = form;
    self->column->has_hour = self->look->dates_with_time;
    self->column->low = self->look->first_day[form];
    self->column->high = self->look->last_day[form];
    snprintf(why, sizeof why, "all values are dates: %s", uc_date_form_names[form]);
    return take(self->column, UC_COLUMN_DATE, why);
}

static uc_status make_category(const decision *self, const char *why)
{
    const uc_status status = take(self->column, UC_COLUMN_CATEGORY, why);
    if (status != UC_OK)
        return status;
    return keep_values(self);
}

/* Reports a column of numbers in which some values are something else; reading it as text would be a
 * mistake. */
static void blame_number(const decision *self)
{
    const uc_column_look *look = self->look;
    const char *name = self->column->name;
    char quoted[UC_QUOTE_SIZE];
    uc_quote(quoted, name, strlen(name));
    const bool point = !self->settings->decimal || *self->settings->decimal != ',';
    if (2 * look->otherwise > look->values - look->numbers)
        uc_look_blame(self->all, self->number, look->odd_line,
                      "column '%s': '%s' looks like a number with a decimal %s {decimal=,}", quoted,
                      look->odd, point ? "comma: add" : "point: leave out");
    else
        uc_look_blame(self->all, self->number, look->odd_line,
                      "column '%s': '%s' %s, but %zu of %zu values are numbers: add it to "
                      "{missing-values}, or give {columns=%s=category}, text or drop",
                      quoted, look->odd, look->odd_complaint, look->numbers, look->values, quoted);
}

/* The form that all dates in the column have; -1: none. An ambiguous 01/02/2024 is read day first only if
 * some value requires it. */
static int date_form(const uc_column_look *look)
{
    for (int f = 0; f < UC_DATE_FORMS; f++)
        if (f != UC_DATE_SLASH_DMY && !(look->not_dates >> f & 1))
            return f;
    return look->not_dates >> UC_DATE_SLASH_DMY & 1 ? -1 : UC_DATE_SLASH_DMY;
}

/* Reports that all values are dates, but not in one form; they would be read as words or ids. */
static void blame_dates(const decision *self)
{
    const uc_column_look *look = self->look;
    char name[UC_QUOTE_SIZE];
    uc_quote(name, self->column->name, strlen(self->column->name));
    uc_look_blame(
        self->all, self->number, look->other_date_line,
        "column '%s' has dates in more than one form, here '%s': write them in one, such as 2024-03-31, "
        "or give {columns=%s=text}",
        name, look->other_date, name);
}

/* Reports that most values are dates; all of them would be read as words or ids. */
static void blame_no_date(const decision *self)
{
    char name[UC_QUOTE_SIZE];
    uc_quote(name, self->column->name, strlen(self->column->name));
    uc_look_blame(self->all, self->number, self->look->not_date_line,
                  "column '%s': '%s' is not a date, but most values are: add it to {missing-values}, or give "
                  "{columns=%s=text}, id or drop",
                  name, self->look->not_date, name);
}

static void blame_unit(const decision *self)
{
    char name[UC_QUOTE_SIZE];
    uc_quote(name, self->column->name, strlen(self->column->name));
    uc_look_blame(
        self->all, self->number, self->look->odd_line,
        "column '%s': '%s' is a number with a unit: take the unit off, or give {columns=%s=text}, id "
        "or drop",
        name, self->look->odd, name);
}

static uc_status decide_text(const decision *self)
{
    const uc_column_look *look = self->look;
    uc_table_column *column = self->column;
    const size_t distinct = count_distinct(look), most = (size_t)self->settings->max_categories;
    if (look->not_finite > 0 && 2 * look->numbers >= look->values) {
        blame_number(self);
        return take(column, UC_COLUMN_NUMBER, "");
    }
    if (distinct <= most && 2 * distinct <= self->rows) {
        char why[100];
        snprintf(why, sizeof why, "text of %zu different values", distinct);
        return make_category(self, why);
    }
    if (2 * look->numbers >= look->values || 2 * look->otherwise >= look->values)
        blame_number(self);
    if (look->dates == look->values)
        blame_dates(self);
    else if (2 * look->dates >= look->values)
        blame_no_date(self);
    if (look->united == look->values || look->same_unit == look->values)
        blame_unit(self);
    if (look->spaced && distinct > most && look->numbers == 0 && !look->other_form && all_differ(&look->set))
        return take(column, UC_COLUMN_ID, "all values differ, and in a number only");
    if (look->spaced)
        return take(column, UC_COLUMN_TEXT, "text with spaces");
    if (all_differ(&look->set))
        return take(column, UC_COLUMN_ID, "all values differ, and none has spaces");
    column->whole = true;
    char why[100];
    snprintf(why, sizeof why, "text of more than %zu different values: each is one word", most);
    if (distinct <= most)
        snprintf(why, sizeof why, "text of %zu different values in %zu rows: each is one word", distinct,
                 self->rows);
    return take(column, UC_COLUMN_TEXT, why);
}

static uc_status decide(const decision *self)
{
    const uc_column_look *look = self->look;
    uc_table_column *column = self->column;
    if (look->values == 0)
        return take(column, UC_COLUMN_DROP, "empty");
    if (look->missing == 0 && look->set.used == 1 && look->set.level == 0)
        return take(column, UC_COLUMN_DROP, "constant");
    if (uc_table_is_id_name(column->name, strlen(column->name)))
        return take(column, UC_COLUMN_ID, "its name");
    if (self->named && uc_is_index_name(column->name) && look->missing == 0 && all_differ(&look->set))
        return take(column, UC_COLUMN_ID, "a column without a name whose values differ: an index");
    if (!look->not_boolean && boolean_pair(look->boolean_words) >= 0) {
        column->form = (unsigned)boolean_pair(look->boolean_words);
        char why[100];
        snprintf(why, sizeof why, "all values are %s or %s", uc_boolean_words[column->form][0],
                 uc_boolean_words[column->form][1]);
        return take(column, UC_COLUMN_BOOLEAN, why);
    }
    if (look->numbers == look->values)
        return make_number(self, "all values are numbers");
    if (date_form(look) >= 0)
        return make_date(self, (unsigned)date_form(look));
    return decide_text(self);
}

/* Sets the type that the user requested. */
static uc_status decide_as(const decision *self, uc_column_type type)
{
    static const char why[] = "as the options say";
    const uc_column_look *look = self->look;
    char name[UC_QUOTE_SIZE];
    uc_quote(name, self->column->name, strlen(self->column->name));
    switch (type) {
    case UC_COLUMN_NUMBER:
        if (look->numbers < look->values)
            uc_look_blame(self->all, self->number, look->odd_line,
                          "column '%s': '%s' %s: add it to {missing-values}", name, look->odd,
                          look->odd_complaint);
        return make_number(self, why);
    case UC_COLUMN_DATE:
        if (date_form(look) >= 0)
            return make_date(self, (unsigned)date_form(look));
        uc_look_blame(self->all, self->number, look->odd_line,
                      "column '%s': not all values are dates of one form, such as 2024-03-31: add what is "
                      "none to {missing-values}",
                      name);
        return take(self->column, UC_COLUMN_DATE, why);
    case UC_COLUMN_BOOLEAN:
        if (look->not_boolean || boolean_pair(look->boolean_words) < 0)
            uc_look_blame(self->all, self->number, look->odd_line,
                          "column '%s': its values are not true and false, yes and no, y and n, or t and f: "
                          "give {columns=%s=category}",
                          name, name);
        else
            self->column->form = (unsigned)boolean_pair(look->boolean_words);
        return take(self->column, UC_COLUMN_BOOLEAN, why);
    case UC_COLUMN_CATEGORY:
        if (look->set.without_texts)
            uc_look_blame(self->all, self->number, 0,
                          "column '%s' has about %zu different values: give {max-categories=%zu}, or "
                          "{columns=%s=text}",
                          name, count_distinct(look), count_distinct(look), name);
        return make_category(self, why);
    case UC_COLUMN_TEXT:
        self->column->whole = !look->spaced;
        return take(self->column, type, why);
    default:
        return take(self->column, type, why);
    }
}

/* ---- types from the options ---- */

/* Finds the type that {columns} gives to the column. */
static bool find_wanted(uc_column_type *out, const uc_read_settings *settings, const char *name)
{
    const size_t length = strlen(name);
    if (uc_is_listed(settings->drop, name)) {
        *out = UC_COLUMN_DROP;
        return true;
    }
    if (settings->id && strcmp(settings->id, name) == 0) {
        *out = UC_COLUMN_ID;
        return true;
    }
    for (const char *word = settings->columns; word && *word;) {
        const size_t size = strcspn(word, ",");
        if (size > length && word[length] == '=' && memcmp(word, name, length) == 0)
            return uc_column_type_read(out, word + length + 1, size - length - 1);
        word += size + (word[size] == ',');
    }
    return false;
}

static uc_status refuse_name(const char *source, const char *option, const char *name, size_t length)
{
    char quoted[UC_QUOTE_SIZE];
    return uc_fail(UC_ERR_INVALID, "%s: no column is called '%s', which {%s} names", source,
                   uc_quote(quoted, name, length), option);
}

/* Whether {columns} already has the same name before `word`. */
static bool is_earlier(const char *columns, const char *word, size_t length)
{
    for (const char *other = columns; other < word; other += strcspn(other, ",") + 1)
        if (memcmp(other, word, length + 1) == 0) /* including the '=' */
            return true;
    return false;
}

/* Fails unless the name in an option is that of a feature column. */
static uc_status check_name(const uc_table *table, const uc_layout *layout, const char *source,
                            const char *option, const char *name, size_t length)
{
    const size_t column = uc_table_find(table, name, length);
    char quoted[UC_QUOTE_SIZE];
    const char *use = "weight";
    if (column == SIZE_MAX)
        return refuse_name(source, option, name, length);
    if (uc_layout_is_feature(layout, column))
        return UC_OK;
    if (column == layout->label)
        use = "label";
    else if (column == layout->bag)
        use = "bag";
    return uc_fail(UC_ERR_INVALID,
                   "%s: {%s} names column '%s', which has the %ss: name another with {%s}, or leave out {%s}",
                   source, option, uc_quote(quoted, name, length), use, use, option);
}

/* Fails unless every name in an option is that of a column, and every type exists. */
static uc_status check_options(const uc_table *table, const uc_layout *layout, const char *source,
                               const uc_read_settings *settings)
{
    for (const char *word = settings->drop; word && *word;) {
        const size_t size = strcspn(word, ",");
        uc_status status = UC_OK;
        if (size > 0)
            status = check_name(table, layout, source, "drop", word, size);
        if (status != UC_OK)
            return status;
        word += size + (word[size] == ',');
    }
    if (settings->id) {
        const uc_status status = check_name(table, layout, source, "id", settings->id, strlen(settings->id));
        if (status != UC_OK)
            return status;
    }
    for (const char *word = settings->columns; word && *word;) {
        const size_t size = strcspn(word, ",");
        const char *equals = memrchr(word, '=', size);
        uc_column_type type;
        if (!equals)
            return uc_fail(UC_ERR_OPTION, "{columns}: '%.*s' is not NAME=TYPE", (int)uc_min_size(size, 60),
                           word);
        const size_t length = (size_t)(equals - word);
        if (!uc_column_type_read(&type, equals + 1, size - length - 1) || type > UC_COLUMN_TEXT)
            return uc_fail(
                UC_ERR_OPTION,
                "{columns}: '%.*s' is not a type: number, category, boolean, date, text, id or drop",
                (int)uc_min_size(size - length - 1, 60), equals + 1);
        if (is_earlier(settings->columns, word, length))
            return uc_fail(UC_ERR_OPTION, "{columns}: '%.*s' is there twice", (int)uc_min_size(length, 60),
                           word);
        const uc_status status = check_name(table, layout, source, "columns", word, length);
        if (status != UC_OK)
            return status;
        word += size + (word[size] == ',');
    }
    return UC_OK;
}

/* ---- names ---- */

static uc_status name_columns(uc_table *table, const uc_layout *layout)
{
    for (size_t i = 0; i < table->column_count; i++) {
        char number[40];
        snprintf(number, sizeof number, "column %zu", i + 1);
        table->columns[i].name = uc_strdup(layout->names ? layout->names[i] : number);
        if (!table->columns[i].name)
            return UC_ERR_NOMEM;
    }
    table->named = layout->names != NULL;
    return uc_table_index_names(table);
}

/* ---- the whole table ---- */

static uc_status decide_column(decision *self, const uc_layout *layout)
{
    const size_t i = self->number;
    uc_column_type wanted;
    const uc_status status = describe_values(self->column, self->look);
    if (status != UC_OK)
        return status;
    if (i == layout->label)
        return take(self->column, UC_COLUMN_LABEL,
                    self->settings->label ? "as the options say" : "its name or place");
    if (i == layout->bag)
        return take(self->column, UC_COLUMN_BAG, "as the options say");
    if (i == layout->weight)
        return take(self->column, UC_COLUMN_WEIGHT, "as the options say");
    if (find_wanted(&wanted, self->settings, self->column->name))
        return decide_as(self, wanted);
    return decide(self);
}

/* Reports all problems in one message. */
static uc_status tell_problems(const uc_look *look, const char *source)
{
    char text[UC_MESSAGE_BYTES];
    size_t used = 0;
    if (look->problem_count == 0)
        return UC_OK;
    for (size_t i = 0; i < look->problem_count && used < sizeof text; i++) {
        const uc_problem *problem = &look->problems[i];
        bool seen = false;
        for (size_t j = 0; j < i; j++)
            seen =
                seen || (look->problems[j].column == UC_CONTROL && look->problems[j].line == problem->line);
        if (seen)
            continue; /* the same problem: that value has a control character */
        char more[60] = "";
        if (problem->count > 1)
            snprintf(more, sizeof more, " (and %zu more)", problem->count - 1);
        const char *between = i == 0 ? "" : "; ";
        int written;
        if (problem->line)
            written = snprintf(text + used, sizeof text - used, "%s%s:%zu: %s%s", between, source,
                               problem->line, problem->sentence, more);
        else
            written = snprintf(text + used, sizeof text - used, "%s%s: %s%s", between, source,
                               problem->sentence, more);
        used += (size_t)written;
    }
    return uc_fail_again(UC_ERR_FORMAT, "", text);
}

static uc_status fill_table(uc_table *table, uc_look *look, const uc_layout *layout, const char *source,
                            const uc_read_settings *settings)
{
    uc_status status = name_columns(table, layout);
    if (status == UC_OK)
        status = check_options(table, layout, source, settings);
    if (status == UC_OK)
        status = uc_missing_read(&table->missing, settings->missing_values);
    if (status == UC_OK && settings->missing_values) {
        table->missing_list = uc_strdup(settings->missing_values);
        status = table->missing_list ? UC_OK : UC_ERR_NOMEM;
    }
    for (size_t i = 0; i < table->column_count && status == UC_OK; i++) {
        decision one = {&table->columns[i], &look->columns[i], i, look->rows, table->named, settings, look};
        status = decide_column(&one, layout);
        table->columns[i].has_missing = uc_column_is_feature(table->columns[i].type) &&
                                        table->columns[i].type != UC_COLUMN_TEXT &&
                                        look->columns[i].missing > 0;
    }
    return status;
}

uc_status uc_table_decide(uc_table **out, uc_look *look, const uc_layout *layout, const char *source,
                          const uc_read_settings *settings, const uc_context *context)
{
    uc_table *table = NULL;
    (void)context;
    if (look->rows == 0)
        return uc_fail(UC_ERR_FORMAT, "%s: no examples", source);
    uc_status status = uc_table_create(&table, layout->columns);
    if (status != UC_OK)
        return status;
    table->rows = look->rows;
    if (settings->decimal && *settings->decimal)
        table->decimal = *settings->decimal;
    status = fill_table(table, look, layout, source, settings);
    if (status == UC_OK)
        status = tell_problems(look, source);
    if (status == UC_OK)
        status = uc_table_lay_out(table);
    if (status == UC_OK)
        *out = table;
    else
        uc_table_free(table);
    return status;
}

uc_status uc_table_of_numbers(uc_table **out, const uc_layout *layout)
{
    uc_table *table = NULL;
    uc_status status = uc_table_create(&table, layout->columns);
    if (status != UC_OK)
        return status;
    table->plain = table->learned = true;
    status = name_columns(table, layout);
    for (size_t i = 0; i < table->column_count; i++) {
        uc_column_type type = UC_COLUMN_NUMBER;
        if (i == layout->label)
            type = UC_COLUMN_LABEL;
        else if (i == layout->bag)
            type = UC_COLUMN_BAG;
        else if (i == layout->weight)
            type = UC_COLUMN_WEIGHT;
        table->columns[i].type = type;
    }
    if (status == UC_OK)
        status = uc_table_lay_out(table);
    if (status == UC_OK)
        *out = table;
    else
        uc_table_free(table);
    return status;
}
