/* Finds the roles of a CSV file's columns; see layout.h. */
#define _GNU_SOURCE
#include "data/layout.h"

#include <string.h>
#include <strings.h>

#include "data/table.h"

bool uc_layout_is_feature(const uc_layout *self, size_t column)
{
    return column != self->label && column != self->bag && column != self->weight;
}

/* ---- the first line ---- */

static void free_names(uc_layout *self)
{
    for (size_t i = 0; self->names && i < self->columns; i++)
        uc_free(self->names[i]);
    uc_free(self->names);
    self->names = NULL;
}

void uc_layout_free(void *layout)
{
    uc_layout *self = layout;
    free_names(self);
    uc_names_free(&self->keys);
    uc_free(self->dropped);
    uc_free(self->present);
    uc_free(self);
}

static bool is_number(const uc_field *self)
{
    float value;
    return self->length > 0 && uc_number_read(&value, self->begin) == self->begin + self->length;
}

static bool is_called(const uc_field *self, const char *name)
{
    return self->length == strlen(name) && strncasecmp(self->begin, name, self->length) == 0;
}

/* The column whose field in the first line is exactly `name`. */
static size_t find_name(const uc_field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (uc_field_equals(&fields[i], name))
            return i;
    return UC_NO_COLUMN;
}

/* Makes a name that no earlier column has: a second `x` becomes `x.1`, and a nameless fifth column `column
 * 5`. */
static uc_status keep_name(char **out, uc_names *taken, const uc_field *field, size_t column)
{
    char number[40];
    const char *name = field->begin;
    size_t length = field->length;
    uint32_t index;
    if (length == 0) {
        length = (size_t)snprintf(number, sizeof number, "column %zu", column + 1);
        name = number;
    }
    char *own = uc_alloc(length + sizeof number, 1);
    if (!own)
        return UC_ERR_NOMEM;
    memcpy(own, name, length);
    for (size_t turn = 1; uc_names_find(taken, own, strlen(own)) != UC_NONE; turn++)
        snprintf(own + length, sizeof number, ".%zu", turn);
    *out = own;
    return uc_names_add(&index, taken, own, strlen(own));
}

static uc_status keep_names(uc_layout *self, const uc_field *fields)
{
    uc_names taken = {0};
    uc_status status = UC_OK;
    self->names = uc_alloc(self->columns, sizeof *self->names);
    if (!self->names)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < self->columns && status == UC_OK; i++)
        status = keep_name(&self->names[i], &taken, &fields[i], i);
    uc_names_free(&taken);
    return status;
}

/* The column called `wanted`, such as `a.1` or `column 3`, because its name came before or is empty. */
static uc_status find_made_name(size_t *out, const uc_field *fields, size_t count, const char *wanted)
{
    uc_layout made = {.columns = count};
    *out = UC_NO_COLUMN;
    const uc_status status = keep_names(&made, fields);
    for (size_t i = 0; i < count && status == UC_OK; i++)
        if (strcmp(made.names[i], wanted) == 0)
            *out = i;
    free_names(&made);
    return status;
}

#define SHOWN_NAMES ((size_t)10)

uc_status uc_refuse_name(const char *source, const char *wanted, const char *where, const uc_field *fields,
                         size_t count)
{
    char list[SHOWN_NAMES * (UC_QUOTE_SIZE + 2) + 1] = "none", quoted[UC_QUOTE_SIZE], more[40] = "";
    size_t length = 0;
    for (size_t i = 0; i < count && i < SHOWN_NAMES; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i > 0 ? ", " : "",
                                   uc_quote(quoted, fields[i].begin, fields[i].length));
    if (count > SHOWN_NAMES)
        snprintf(more, sizeof more, " and %zu more", count - SHOWN_NAMES);
    return uc_fail(UC_ERR_INVALID, "%s: no column is called '%s'; %s %s%s", source, wanted, where, list,
                   more);
}

/* Finds the column that a user calls `wanted`: 1, 2, ..., -1 for the last, or a name in the first line, which
 * then is a header. The caller checks whether a number is also a name. */
static uc_status find_column(size_t *out, bool *header, const uc_reader *reader, const char *wanted,
                             const uc_field *fields, size_t count)
{
    const bool from_end = wanted[0] == '-';
    uint64_t number;
    if (uc_parse_count(&number, wanted + from_end, strlen(wanted + from_end))) {
        if (number >= 1 && number <= count) {
            *out = (size_t)number - 1;
            if (from_end)
                *out = count - (size_t)number;
            return UC_OK;
        }
        if (find_name(fields, count, wanted) == UC_NO_COLUMN)
            return uc_fail(UC_ERR_INVALID, "%s: there is no column %s: the file has %zu columns",
                           uc_input_name(reader->input), wanted, count);
    }
    *out = find_name(fields, count, wanted);
    const uc_status status = *out == UC_NO_COLUMN ? find_made_name(out, fields, count, wanted) : UC_OK;
    if (status != UC_OK)
        return status;
    if (*out == UC_NO_COLUMN)
        return uc_refuse_name(uc_input_name(reader->input), wanted, "the first line has", fields, count);
    *header = true;
    return UC_OK;
}

/* A line's fields, in a copy of it. */
typedef struct cut_copy {
    char *text;
    uc_field *fields;
    size_t count;
} cut_copy;

/* Whether a column has neither a name nor a first value, as a separator at the end of every line makes. */
static bool is_blank(const cut_copy *first, const cut_copy *second, size_t column)
{
    return column < second->count && second->fields[column].length == 0 && first->fields[column].length == 0;
}

/* The last column, or the last one that is not blank if columns have names. */
static size_t last_column(const uc_reader *reader, const uc_layout *self, const cut_copy *first,
                          const cut_copy *second)
{
    const size_t others = (size_t)(self->bag != UC_NO_COLUMN) + (size_t)(self->weight != UC_NO_COLUMN);
    /* If a model's columns and a label make up the file, the last column is the label even if it is blank. */
    bool named = reader->settings.expected_cols + others + 1 != self->columns;
    for (size_t i = 0; i < self->columns && named; i++)
        named = !is_number(&first->fields[i]);
    size_t last = UC_NO_COLUMN;
    for (size_t i = self->columns; i > 0; i--) {
        if (!uc_layout_is_feature(self, i - 1))
            continue;
        if (!named || !is_blank(first, second, i - 1))
            return i - 1;
        if (last == UC_NO_COLUMN)
            last = i - 1;
    }
    return last;
}

static const char *const usual_names[] = {"label", "class", "target", "y"};
#define USUAL (sizeof usual_names / sizeof *usual_names)

/* If none is named: a column with one of the usual names, otherwise the last one; none if all columns are
 * features. */
static size_t usual_label(bool *header, const uc_reader *reader, const uc_layout *self, const cut_copy *first,
                          const cut_copy *second)
{
    const uc_field *fields = first->fields;
    const size_t others = (size_t)(self->bag != UC_NO_COLUMN) + (size_t)(self->weight != UC_NO_COLUMN);
    for (size_t n = 0; n < USUAL; n++) {
        if (n == 3 && reader->settings.expected_cols == self->columns - others)
            return UC_NO_COLUMN; /* before `y`, which may well be a feature */
        for (size_t i = 0; i < self->columns; i++)
            if (uc_layout_is_feature(self, i) && is_called(&fields[i], usual_names[n])) {
                *header = *header || n < 3; /* `y` may be a label itself, as in yes and no */
                return i;
            }
    }
    return last_column(reader, self, first, second);
}

static uc_status find_columns(uc_layout *self, bool *header, const uc_reader *reader, const cut_copy *first,
                              const cut_copy *second)
{
    const uc_field *fields = first->fields;
    const uc_read_settings *settings = &reader->settings;
    if (settings->bag) {
        const uc_status status =
            find_column(&self->bag, header, reader, settings->bag, fields, self->columns);
        if (status != UC_OK)
            return status;
    }
    if (settings->weight) {
        const uc_status status =
            find_column(&self->weight, header, reader, settings->weight, fields, self->columns);
        if (status != UC_OK)
            return status;
    }
    if (!settings->label)
        self->label = usual_label(header, reader, self, first, second);
    else if (strcmp(settings->label, "none") != 0)
        return find_column(&self->label, header, reader, settings->label, fields, self->columns);
    return UC_OK;
}

/* A name in the header takes precedence over a number. */
static void prefer_name(size_t *column, const char *wanted, const uc_layout *self, const uc_field *fields)
{
    if (!wanted || *column == UC_NO_COLUMN)
        return;
    const size_t named = find_name(fields, self->columns, wanted);
    if (named != UC_NO_COLUMN)
        *column = named;
}

/* Fails if a column has two roles. */
static uc_status check_distinct(const uc_layout *self, const uc_reader *reader)
{
    const struct {
        const char *name;
        size_t column;
    } named[] = {{"label", self->label}, {"bag", self->bag}, {"weight", self->weight}};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = i + 1; j < 3; j++)
            if (named[i].column != UC_NO_COLUMN && named[i].column == named[j].column)
                return uc_fail(UC_ERR_INVALID, "%s: %s and %s cannot both be column %zu",
                               uc_input_name(reader->input), named[i].name, named[j].name,
                               named[i].column + 1);
    return UC_OK;
}

static uc_status choose_columns(uc_layout *self, bool *header, const uc_reader *reader, const cut_copy *first,
                                const cut_copy *second)
{
    const uc_field *fields = first->fields;
    const uc_status status = find_columns(self, header, reader, first, second);
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < self->columns; i++)
        *header = *header || (uc_layout_is_feature(self, i) && !is_number(&fields[i]));
    if (*header) {
        prefer_name(&self->bag, reader->settings.bag, self, fields);
        prefer_name(&self->weight, reader->settings.weight, self, fields);
        prefer_name(&self->label, reader->settings.label, self, fields);
    }
    const uc_status distinct = check_distinct(self, reader);
    if (distinct != UC_OK)
        return distinct;
    self->features = 0;
    for (size_t i = 0; i < self->columns; i++)
        self->features += uc_layout_is_feature(self, i);
    if (self->features == 0)
        return uc_fail(UC_ERR_FORMAT, "%s: no columns of features", uc_input_name(reader->input));
    return UC_OK;
}

/* Called before any name is copied, since a copy would end at a zero byte. */
static uc_status check_controls(const uc_layout *self, const uc_reader *reader, const uc_field *fields,
                                size_t line)
{
    for (size_t i = 0; i < self->columns; i++)
        for (size_t j = 0; j < fields[i].length; j++) {
            const unsigned char c = (unsigned char)fields[i].begin[j];
            if (c < ' ' && !memchr("\t\n\r", c, 3))
                return uc_fail(UC_ERR_FORMAT, "%s:%zu: control character 0x%02x",
                               uc_input_name(reader->input), line, c);
        }
    return UC_OK;
}

/* Names must be text, like values. */
static uc_status check_names(const uc_layout *self, const uc_reader *reader, const uc_field *fields,
                             size_t line)
{
    const char *source = uc_input_name(reader->input);
    for (size_t i = 0; i < self->columns; i++) {
        const char *name = fields[i].begin;
        const size_t length = fields[i].length;
        char quoted[UC_QUOTE_SIZE];
        if (uc_is_text(name, length))
            continue;
        const bool mark = memmem(name, length, UC_BYTE_ORDER_MARK, 3) != NULL;
        return uc_fail(UC_ERR_FORMAT, "%s:%zu: the name of column %zu, '%s', %s", source, line, i + 1,
                       uc_quote(quoted, name, length),
                       mark ? "has a byte order mark"
                            : "is not UTF-8 text: convert the file first, as iconv -f LATIN1 -t UTF-8 does");
    }
    return UC_OK;
}

/* Cuts the line at `line` into fields, at most length + 1 of them. The text is changed, and must outlive
 * them. */
static uc_status cut_line(uc_field *fields, size_t *count, char delimiter, const uc_reader *reader,
                          char *line, size_t number)
{
    *count = 0;
    for (char *p = line;; p++) {
        const char *problem = uc_field_cut_record(&fields[(*count)++], &p, delimiter);
        if (problem)
            return uc_fail(UC_ERR_FORMAT, "%s:%zu: %s", uc_input_name(reader->input), number, problem);
        if (*p == '\n')
            return UC_OK;
    }
}

void uc_layout_blame_label(uc_text_block *block, const uc_layout *self, const uc_read_settings *settings)
{
    static const char advice[] = "leave the row out, or write ? for a learner that takes such rows";
    char name[UC_QUOTE_SIZE];
    bool usual = false;
    for (size_t n = 0; n < USUAL && self->names && self->label != UC_NO_COLUMN; n++)
        usual = usual || strcasecmp(self->names[self->label], usual_names[n]) == 0;
    if (settings->label || settings->table || !self->names || self->label == UC_NO_COLUMN || usual)
        uc_text_blame(block, "no label: %s", advice);
    else
        uc_text_blame(block,
                      "no label in column '%s', taken for the labels as the last one: name another, or %s",
                      uc_quote(name, self->names[self->label], strlen(self->names[self->label])), advice);
}

char uc_separator_of(const uc_read_settings *settings)
{
    const char *text = settings->separator;
    if (!text || strcmp(text, "auto") == 0)
        return 0;
    return strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0 ? '\t' : *text;
}

static void free_copy(cut_copy *self)
{
    uc_free(self->text);
    uc_free(self->fields);
}

static uc_status copy_line(cut_copy *out, char delimiter, const uc_reader *reader, const char *line,
                           size_t length, size_t number)
{
    out->text = uc_alloc(length + 2 + UC_NUMBER_SLACK, 1);
    out->fields = uc_alloc(length + 1, sizeof *out->fields);
    if (!out->text || !out->fields)
        return UC_ERR_NOMEM;
    memcpy(out->text, line, length);
    out->text[length] = '\n';
    return cut_line(out->fields, &out->count, delimiter, reader, out->text, number);
}

/* Copies the record after the first line, if it is complete and can be cut. */
static uc_status copy_second(cut_copy *out, char delimiter, const uc_reader *reader, const char *line,
                             size_t length, size_t number)
{
    const char *end = uc_text_chunk_end(reader);
    const char *next = memchr(line + length, '\n', (size_t)(end - line) - length);
    if (!next || ++next >= end)
        return UC_OK;
    const char *stop = uc_record_end(next, next, end, delimiter);
    if (stop && copy_line(out, delimiter, reader, next, (size_t)(stop - next), number + 1) == UC_ERR_NOMEM)
        return UC_ERR_NOMEM;
    return UC_OK; /* problems are reported when it is read */
}

static uc_status learn_numbers(uc_layout *self, bool *header, const uc_reader *reader, const char *line,
                               size_t length, size_t number)
{
    cut_copy first = {0}, second = {0};
    self->delimiter = reader->delimiter;
    uc_status status = copy_line(&first, self->delimiter, reader, line, length, number);
    self->columns = first.count;
    if (status == UC_OK)
        status = copy_second(&second, self->delimiter, reader, line, length, number);
    if (status == UC_OK)
        status = choose_columns(self, header, reader, &first, &second);
    if (status == UC_OK && *header)
        status = check_controls(self, reader, first.fields, number);
    if (status == UC_OK && *header)
        status = check_names(self, reader, first.fields, number);
    if (status == UC_OK && *header)
        status = keep_names(self, first.fields);
    free_copy(&first);
    free_copy(&second);
    return status;
}

/* ---- tables of several types ---- */

/* Whether the first line names the columns: some column has a number in the second line and none in the
 * first, or the first has no number at all. */
static bool looks_like_header(const cut_copy *first, const cut_copy *second)
{
    size_t numbers = 0;
    for (size_t i = 0; i < first->count; i++) {
        const bool number = is_number(&first->fields[i]);
        numbers += number || first->fields[i].length == 0;
        if (!number && i < second->count && is_number(&second->fields[i]))
            return true;
    }
    return numbers == 0;
}

/* Finds columns by their names in a model's table; the label's may be missing. */
static void find_known(uc_layout *self, const uc_table *table, const uc_reader *reader)
{
    for (size_t i = 0; i < self->columns; i++) {
        uc_column column;
        size_t c = uc_table_find(table, self->names[i], strlen(self->names[i]));
        if (c == SIZE_MAX)
            continue;
        uc_table_column_at(&column, table, c);
        if (column.type == UC_COLUMN_LABEL && !reader->settings.label)
            self->label = i;
        if (column.type == UC_COLUMN_BAG && !reader->settings.bag)
            self->bag = i;
        if (column.type == UC_COLUMN_WEIGHT && !reader->settings.weight)
            self->weight = i;
    }
}

static uc_status choose_table_columns(uc_layout *self, bool *header, const uc_reader *reader,
                                      const cut_copy *first, const cut_copy *second)
{
    const uc_table *table = reader->settings.table;
    const bool known = table && table->named;
    const char *wanted = reader->settings.label;
    uc_status status = UC_OK;
    *header = known || looks_like_header(first, second);
    if (known) {
        uc_reader only_named = *reader; /* the last column is the label only if its name says so */
        only_named.settings.label = wanted ? wanted : "none";
        status = find_columns(self, header, &only_named, first, second);
        find_known(self, table, reader);
    } else {
        status = find_columns(self, header, reader, first, second);
    }
    if (status != UC_OK)
        return status;
    if (*header) {
        prefer_name(&self->bag, reader->settings.bag, self, first->fields);
        prefer_name(&self->weight, reader->settings.weight, self, first->fields);
        prefer_name(&self->label, wanted, self, first->fields);
    }
    status = check_distinct(self, reader);
    self->features = 0;
    for (size_t i = 0; i < self->columns; i++)
        self->features += uc_layout_is_feature(self, i);
    if (status == UC_OK && self->features == 0)
        return uc_fail(UC_ERR_FORMAT, "%s: no columns of features", uc_input_name(reader->input));
    return status;
}

static uc_status learn_table(uc_layout *self, bool *header, const uc_reader *reader, const char *line,
                             size_t length, size_t number)
{
    cut_copy first = {0}, second = {0};
    self->delimiter = reader->delimiter;
    uc_status status = copy_line(&first, self->delimiter, reader, line, length, number);
    self->columns = first.count;
    if (status == UC_OK)
        status = copy_second(&second, self->delimiter, reader, line, length, number);
    if (status == UC_OK)
        status = check_controls(self, reader, first.fields, number);
    if (status == UC_OK)
        status = keep_names(self, first.fields);
    if (status == UC_OK)
        status = choose_table_columns(self, header, reader, &first, &second);
    if (status == UC_OK && *header)
        status = check_names(self, reader, first.fields, number);
    if (status == UC_OK && !*header)
        free_names(self);
    free_copy(&first);
    free_copy(&second);
    return status;
}

/* ---- both kinds of table ---- */

uc_status uc_layout_begin(uc_layout **out, uc_reader *reader, uc_text_parser *parser, bool is_table)
{
    reader->quoted = true;
    reader->delimiter = uc_separator_of(&reader->settings);
    uc_status status = uc_text_begin(reader, parser, NULL);
    if (status != UC_OK)
        return status;
    uc_layout *self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    self->label = self->bag = self->weight = UC_NO_COLUMN;
    uc_text_set_layout(reader, self, uc_layout_free);
    size_t length, number;
    const char *line = uc_text_first_line(&length, &number, reader, 0);
    if (!line)
        return uc_fail(UC_ERR_FORMAT, "%s: no examples", uc_input_name(reader->input));
    bool header = false;
    if (is_table)
        status = learn_table(self, &header, reader, line, length, number);
    else
        status = learn_numbers(self, &header, reader, line, length, number);
    if (status != UC_OK)
        return status;
    if (header) {
        uc_text_skip_line(reader, line, number);
        reader->header = UC_MARK;
        for (size_t i = 0; i < self->columns; i++)
            reader->header = uc_mark(reader->header, self->names[i], strlen(self->names[i]) + 1);
    }
    uc_layout_tell(self, reader);
    *out = self;
    return UC_OK;
}

void uc_layout_tell(const uc_layout *self, uc_reader *reader)
{
    reader->has_labels = self->label != UC_NO_COLUMN;
    reader->has_bags = self->bag != UC_NO_COLUMN;
    reader->has_weights = self->weight != UC_NO_COLUMN;
    reader->label = self->label + 1; /* UC_NO_COLUMN becomes 0 */
    reader->bag = self->bag + 1;
    reader->weight = self->weight + 1;
}

bool uc_is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *word = list; word && *word;) {
        const size_t size = strcspn(word, ",");
        if (size == length && memcmp(word, name, length) == 0)
            return true;
        word += size + (word[size] == ',');
    }
    return false;
}

bool uc_is_index_name(const char *name)
{
    return strcmp(name, "column 1") == 0 || strcmp(name, "Unnamed: 0") == 0;
}

/* Names such as databases use: id, uuid, key, or anything that ends in _id. */
bool uc_table_is_id_name(const char *name, size_t length)
{
    static const char *const names[] = {"id", "uuid", "key"};
    for (size_t i = 0; i < 3; i++)
        if (strlen(names[i]) == length && strncasecmp(name, names[i], length) == 0)
            return true;
    return length > 3 && strncasecmp(name + length - 3, "_id", 3) == 0;
}
