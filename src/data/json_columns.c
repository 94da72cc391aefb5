/* The columns of JSON lines: a pass over all files that collects the names, before values are looked at, and
 * the layout of a file that is read. */
#define _GNU_SOURCE
#include <string.h>
#include <strings.h>

#include "data/json_lines.h"
#include "data/table.h"

#define MOST_KEYS ((size_t)100000)

/* ---- names ---- */

/* The names that occur in some lines, and the last name of each line. */
typedef struct key_list {
    uc_names keys;
    uc_json_line line;
    uint32_t last; /* UC_NONE: no line yet */
    bool last_varies;
    size_t rows;
} key_list;

static void free_list(key_list *self)
{
    uc_names_free(&self->keys);
    uc_json_line_free(&self->line);
}

static void free_own(void *own)
{
    free_list(own);
    uc_free(own);
}

static void note_last(key_list *self, uint32_t last)
{
    self->last_varies = self->last_varies || (self->last != UC_NONE && self->last != last);
    self->last = last;
}

/* Lists the names in the line at *at, which moves to its newline. Problems are reported by the pass that
 * reads the values. */
static uc_status list_line(key_list *self, char **at)
{
    uc_json_pair pair;
    uint32_t index = UC_NONE, next = 0, last = UC_NONE;
    uc_json_begin(&self->line, *at);
    while (uc_json_next(&pair, &self->line)) {
        const char *expected = next < self->keys.count ? self->keys.text[next] : NULL;
        index = next;
        if (!expected || !uc_json_is_key(&pair, expected)) {
            const uc_status status = uc_names_add(&index, &self->keys, pair.key, pair.key_length);
            if (status != UC_OK)
                return status;
        }
        next = index + 1;
        last = pair.is_outer ? index : UC_NONE;
    }
    *at = self->line.at;
    if (self->line.status == UC_ERR_NOMEM)
        return UC_ERR_NOMEM;
    if (self->line.status == UC_OK)
        note_last(self, last);
    self->rows++;
    return UC_OK;
}

static uc_status list_lines(key_list *self, char *p, const char *end, size_t *lines)
{
    for (; p < end; p++) {
        ++*lines;
        char *first = p;
        while (uc_is_blank(*first))
            first++;
        if (*first != '\n') {
            const uc_status status = list_line(self, &first);
            if (status != UC_OK)
                return status;
        }
        p = first;
    }
    return UC_OK;
}

/* ---- the pass over all files ---- */

typedef struct key_pass {
    key_list all;
    size_t most_rows; /* that are looked at */
} key_pass;

static void parse(uc_text_block *block, const uc_reader *reader, const void *layout)
{
    (void)reader;
    (void)layout;
    key_list *self = block->own;
    if (!self)
        self = block->own = uc_alloc(1, sizeof *self);
    if (!self) {
        block->status = UC_ERR_NOMEM;
        return;
    }
    uc_names_free(&self->keys);
    self->last = UC_NONE;
    self->last_varies = false;
    self->rows = 0;
    block->status = list_lines(self, block->begin, block->end, &block->lines);
}

static uc_status join(uc_text_block *block, uc_reader *reader, size_t line)
{
    key_pass *self = reader->own;
    const key_list *part = block->own;
    (void)line;
    if (self->all.rows >= self->most_rows)
        return UC_OK;
    self->all.rows += part->rows;
    uint32_t last = UC_NONE;
    for (size_t k = 0; k < part->keys.count; k++) {
        const char *key = part->keys.text[k];
        uint32_t index;
        const uc_status status = uc_names_add(&index, &self->all.keys, key, strlen(key));
        if (status != UC_OK)
            return status;
        if (k == part->last)
            last = index;
    }
    if (self->all.keys.count > MOST_KEYS)
        return uc_fail(UC_ERR_FORMAT,
                       "%s: more than %zu names: an object whose names are values cannot be a table",
                       uc_input_name(reader->input), MOST_KEYS);
    self->all.last_varies = self->all.last_varies || part->last_varies;
    if (part->rows > 0)
        note_last(&self->all, last);
    return UC_OK;
}

static uc_status begin(uc_reader *self)
{
    static const uc_text_hooks hooks = {.join = join, .free_own = free_own};
    const uc_status status = uc_text_begin(self, parse, NULL);
    if (status == UC_OK)
        uc_text_set_hooks(self, &hooks);
    return status;
}

static const uc_data_format format_keys = {"jsonl", begin, uc_text_next, uc_text_end, uc_text_cut};

static uc_status list_file(key_pass *self, const uc_look_source *source, size_t file,
                           const uc_read_settings *settings, const uc_context *context)
{
    uc_input *input;
    uc_reader *reader = NULL;
    uc_status status;
    if (source->paths)
        status = uc_input_open(&input, source->paths[file]);
    else
        status = uc_input_open_memory(&input, source->bytes, source->length, source->name);
    if (status == UC_OK)
        status = uc_reader_open_as(&reader, input, &format_keys, settings, context);
    if (status != UC_OK)
        return status;
    reader->own = self;
    while (status == UC_OK && !reader->ended && self->all.rows < self->most_rows)
        status = uc_text_next(reader);
    uc_reader_close(reader);
    return status;
}

/* ---- labels, bags and weights ---- */

static uc_status refuse_name(const uc_table *table, const char *wanted, const char *source)
{
    char quoted[UC_QUOTE_SIZE];
    uc_field *names = uc_alloc(table->column_count, sizeof *names);
    if (!names)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < table->column_count; i++) {
        const char *name = table->columns[i].name;
        names[i] = (uc_field){.begin = name, .length = strlen(name)};
    }
    const uc_status status = uc_refuse_name(source, uc_quote(quoted, wanted, strlen(wanted)),
                                            "the lines have", names, table->column_count);
    uc_free(names);
    return status;
}

static uc_status name_column(uc_table *table, const char *wanted, const char *source, uc_column_type type)
{
    char quoted[UC_QUOTE_SIZE];
    if (!wanted || strcmp(wanted, "none") == 0)
        return UC_OK;
    const size_t column = uc_table_find(table, wanted, strlen(wanted));
    if (column == SIZE_MAX)
        return refuse_name(table, wanted, source);
    if (table->columns[column].type != UC_COLUMN_DROP)
        return uc_fail(UC_ERR_INVALID, "%s: %s and %s cannot both be column '%s'", source,
                       uc_column_type_name(table->columns[column].type), uc_column_type_name(type),
                       uc_quote(quoted, wanted, strlen(wanted)));
    table->columns[column].type = type;
    return UC_OK;
}

/* Unless the label is named: a column with one of the usual names, otherwise the one that is last in all
 * lines. */
static void find_label(uc_table *table, const key_list *list)
{
    static const char *const names[] = {"label", "class", "target", "y"};
    for (size_t n = 0; n < 4; n++)
        for (size_t i = 0; i < table->column_count; i++)
            if (table->columns[i].type == UC_COLUMN_DROP &&
                strcasecmp(table->columns[i].name, names[n]) == 0) {
                table->columns[i].type = UC_COLUMN_LABEL;
                return;
            }
    if (list->last != UC_NONE && !list->last_varies && table->columns[list->last].type == UC_COLUMN_DROP)
        table->columns[list->last].type = UC_COLUMN_LABEL;
}

static uc_status make_table(uc_table **out, const key_list *list, const char *source,
                            const uc_read_settings *settings)
{
    uc_table *table;
    uc_status status = uc_table_create(&table, list->keys.count);
    if (status != UC_OK)
        return status;
    table->named = true;
    for (size_t i = 0; i < table->column_count && status == UC_OK; i++) {
        const char *key = list->keys.text[i];
        char quoted[UC_QUOTE_SIZE];
        table->columns[i].name = uc_strdup(key);
        if (!table->columns[i].name)
            status = UC_ERR_NOMEM;
        else if (!uc_is_text(key, strlen(key)))
            status = uc_fail(UC_ERR_FORMAT, "%s: the name '%s' is not UTF-8 text", source,
                             uc_quote(quoted, key, strlen(key)));
    }
    if (status == UC_OK)
        status = uc_table_index_names(table);
    if (status == UC_OK)
        status = name_column(table, settings->bag, source, UC_COLUMN_BAG);
    if (status == UC_OK)
        status = name_column(table, settings->weight, source, UC_COLUMN_WEIGHT);
    if (status == UC_OK)
        status = name_column(table, settings->label, source, UC_COLUMN_LABEL);
    if (status == UC_OK && !settings->label)
        find_label(table, list);
    if (status == UC_OK)
        *out = table;
    else
        uc_table_free(table);
    return status;
}

uc_status uc_json_find_columns(uc_table **out, const uc_look_source *source, const uc_read_settings *settings,
                               const uc_context *context)
{
    key_pass self = {.all.last = UC_NONE, .most_rows = SIZE_MAX};
    const char *name = source->paths ? source->paths[0] : source->name;
    const size_t files = source->paths ? source->count : 1;
    uc_status status = UC_OK;
    if (!source->paths && !source->whole)
        self.most_rows = UC_LOOK_ROWS;
    for (size_t f = 0; f < files && status == UC_OK; f++)
        status = list_file(&self, source, f, settings, context);
    if (status == UC_OK && self.all.rows == 0)
        status = uc_fail(UC_ERR_FORMAT, "%s: no examples", name);
    if (status == UC_OK && self.all.keys.count == 0) { /* the first line is not an object, or an empty one */
        uint32_t index;
        status = uc_names_add(&index, &self.all.keys, "", 0);
    }
    if (status == UC_OK)
        status = make_table(out, &self.all, name, settings);
    free_list(&self.all);
    return status;
}

/* ---- the layout of a file ---- */

static uc_status add_column(uc_layout *self, const char *name)
{
    uint32_t index;
    return uc_names_add(&index, &self->keys, name, strlen(name));
}

/* Lists the names in the lines read so far, from a copy, since cutting changes them. */
static uc_status list_at_hand(key_list *list, const uc_reader *reader)
{
    size_t length, number, lines = 0;
    const char *line = uc_text_first_line(&length, &number, reader, 0);
    if (!line)
        return UC_OK;
    const size_t bytes = (size_t)(uc_text_chunk_end(reader) - line);
    char *copy = uc_alloc(bytes + 1 + UC_NUMBER_SLACK, 1);
    if (!copy)
        return UC_ERR_NOMEM;
    memcpy(copy, line, bytes);
    const uc_status status = list_lines(list, copy, copy + bytes, &lines);
    uc_free(copy);
    return status;
}

/* Adds the table's columns, then those that only the file has. */
static uc_status add_columns(uc_layout *self, const uc_table *table, const uc_names *keys)
{
    uc_status status = UC_OK;
    for (size_t c = 0; c < table->column_count && status == UC_OK; c++)
        status = add_column(self, table->columns[c].name);
    for (size_t k = 0; k < keys->count && status == UC_OK; k++)
        status = add_column(self, keys->text[k]);
    return status;
}

static uc_status keep_names(uc_layout *self, const uc_table *table, const uc_names *keys,
                            const uc_read_settings *settings)
{
    const bool decided = table->rows > 0 || table->learned; /* otherwise, columns have no types yet */
    self->columns = self->keys.count;
    self->names = uc_alloc(self->columns, sizeof *self->names);
    self->dropped = uc_alloc(self->columns, sizeof *self->dropped);
    self->present = uc_alloc(self->columns, sizeof *self->present);
    if (!self->names || !self->dropped || !self->present)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < self->columns; i++) {
        const char *name = self->keys.text[i];
        const size_t column = uc_table_find(table, name, strlen(name));
        self->names[i] = uc_strdup(name);
        if (!self->names[i])
            return UC_ERR_NOMEM;
        self->present[i] = uc_names_find(keys, name, strlen(name)) != UC_NONE;
        self->dropped[i] = column == SIZE_MAX || uc_is_listed(settings->drop, name) ||
                           (decided && table->columns[column].type == UC_COLUMN_DROP);
    }
    return UC_OK;
}

/* Finds the columns of labels, bags and weights: the table's, unless the settings name others. */
static void place_columns(uc_layout *self, const uc_table *table, const uc_read_settings *settings)
{
    self->label = self->bag = self->weight = UC_NO_COLUMN;
    for (size_t i = 0; i < self->columns; i++) {
        const char *name = self->names[i];
        if (table->learned && !self->present[i])
            continue; /* not needed for prediction */
        const size_t c = uc_table_find(table, name, strlen(name));
        const uc_column_type type = c == SIZE_MAX ? UC_COLUMN_DROP : table->columns[c].type;
        if (settings->label ? strcmp(settings->label, name) == 0 : type == UC_COLUMN_LABEL)
            self->label = i;
        if (settings->bag ? strcmp(settings->bag, name) == 0 : type == UC_COLUMN_BAG)
            self->bag = i;
        if (settings->weight ? strcmp(settings->weight, name) == 0 : type == UC_COLUMN_WEIGHT)
            self->weight = i;
    }
    self->features = 0;
    for (size_t i = 0; i < self->columns; i++)
        self->features += uc_layout_is_feature(self, i);
}

static uc_status begin_layout(uc_layout **out, uc_reader *reader, uc_text_parser *parser)
{
    const uc_table *table = reader->table ? reader->table : reader->settings.table;
    uc_status status = uc_text_begin(reader, parser, NULL);
    if (status != UC_OK)
        return status;
    uc_layout *self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    self->json = true;
    self->delimiter = ',';
    uc_text_set_layout(reader, self, uc_layout_free);
    key_list list = {.last = UC_NONE};
    status = list_at_hand(&list, reader);
    if (status == UC_OK)
        status = add_columns(self, table, &list.keys);
    if (status == UC_OK)
        status = keep_names(self, table, &list.keys, &reader->settings);
    free_list(&list);
    if (status != UC_OK)
        return status;
    place_columns(self, table, &reader->settings);
    uc_layout_tell(self, reader);
    *out = self;
    return UC_OK;
}

uc_status uc_table_layout_begin(uc_layout **out, uc_reader *reader, uc_text_parser *parser)
{
    if (reader->settings.format == UC_FORMAT_JSONL)
        return begin_layout(out, reader, parser);
    return uc_layout_begin(out, reader, parser, true);
}
