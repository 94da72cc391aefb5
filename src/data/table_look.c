/*
 * The first look at a table: one pass over all of its text, in parallel and in constant memory, that collects
 * the counts on which the types of its columns depend. The counts of blocks are added in their order, and
 * which values are kept does not depend on it, so the result is the same for any number of threads.
 */
#define _GNU_SOURCE
#include "data/table_look.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "data/json_lines.h"
#include "data/marks.h"
#include "data/scan.h"
#include "data/value_index.h"

#define MOST_RECENT ((size_t)64)  /* values per column and block that are counted in place */
#define ALL_RECENT ((size_t)4096) /* the same over all columns */

/* Settings and results of the pass. Stored in the reader's layout slot, so its first member is the layout. */
typedef struct look_pass {
    const uc_layout *layout;
    uc_missing missing;
    char decimal;
    size_t max_categories;
    bool stops; /* after UC_LOOK_ROWS */
    uc_look look;
} look_pass;

/* ---- problems ---- */

static void take_problem(uc_look *self, const uc_problem *problem, size_t lines_before)
{
    const size_t count = self->problem_count;
    uc_look_blame(self, problem->column, problem->line + lines_before, "%s", problem->sentence);
    if (self->problem_count > count)
        self->problems[count].count = problem->count;
}

/* ---- counting ---- */

/* Whether a value that begins with this character may be a number of some kind, including infinity and
 * NaN. */
static bool may_be_number(char first)
{
    static const bool firsts[128] = {
        ['0'] = true, ['1'] = true, ['2'] = true, ['3'] = true,  ['4'] = true, ['5'] = true, ['6'] = true,
        ['7'] = true, ['8'] = true, ['9'] = true, ['+'] = true,  ['-'] = true, ['.'] = true, [','] = true,
        ['$'] = true, [' '] = true, ['i'] = true, ['\t'] = true, ['I'] = true, ['n'] = true, ['N'] = true,
        ['('] = true, ['E'] = true, ['U'] = true, ['G'] = true,  ['C'] = true, ['J'] = true, ['A'] = true,
        ['S'] = true, ['D'] = true, ['P'] = true};
    return (unsigned char)first >= 0x80 || firsts[(unsigned char)first];
}

#define LONGEST_UNIT 6

/* Counts a value that consists of a number and a word of a few characters without digits. Without a blank
 * between them, as in 12a or 230ms, the word is a unit only if all values have the same one: codes may end
 * with a letter. */
static void count_unit(uc_column_look *self, const uc_field *field)
{
    float value;
    const char *const end = field->begin + field->length, *p = uc_number_read(&value, field->begin),
                      *unit = p;
    while (unit < end && *unit == ' ')
        unit++;
    const size_t length = (size_t)(end - unit);
    if (p == field->begin || length == 0 || length > LONGEST_UNIT)
        return;
    for (size_t i = 0; i < length; i++)
        if (unit[i] == ' ' || (unit[i] >= '0' && unit[i] <= '9'))
            return;
    if (unit > p) {
        self->united++;
        return;
    }
    if (self->same_unit == 0)
        memcpy(self->unit, unit, length); /* the rest is zero already */
    self->same_unit += strncmp(self->unit, unit, length) == 0 && self->unit[length] == '\0';
}

static void merge_unit(uc_column_look *self, const uc_column_look *part)
{
    self->united += part->united;
    if (self->same_unit == 0)
        memcpy(self->unit, part->unit, sizeof self->unit);
    if (memcmp(self->unit, part->unit, sizeof self->unit) == 0)
        self->same_unit += part->same_unit;
}

static void count_number(uc_column_look *self, const uc_field *field, const look_pass *pass, size_t line)
{
    float value;
    if (self->odd_line && !may_be_number(*field->begin))
        return;
    const bool plain = pass->decimal == '.' &&
                       uc_number_read(&value, field->begin) == field->begin + field->length &&
                       isfinite(value);
    if (plain || uc_value_number(&value, field->begin, field->length, pass->decimal)) {
        if (self->numbers == 0 || (double)value < self->low)
            self->low = (double)value;
        if (self->numbers == 0 || (double)value > self->high)
            self->high = (double)value;
        self->numbers++;
        return;
    }
    const char other = pass->decimal == '.' ? ',' : '.';
    if (memchr(field->begin, other, field->length))
        self->otherwise += uc_value_number(&value, field->begin, field->length, other);
    count_unit(self, field);
    double real;
    const bool not_finite = field->length <= 9 && uc_field_real(&real, field) && !isfinite(real);
    self->not_finite += not_finite;
    if (self->odd_line == 0 || (not_finite && self->not_finite == 1)) {
        self->odd_line = line;
        uc_quote(self->odd, field->begin, field->length);
        self->odd_complaint = uc_number_complaint(field->begin, field->length);
    }
}

#define ALL_FORMS ((1u << UC_DATE_FORMS) - 1)
#define FIRST_VALUES 64 /* of a block, which may be dates whatever comes before them */

static void note_no_date(uc_column_look *self, const uc_field *field, size_t line)
{
    self->not_dates = ALL_FORMS;
    if (self->not_date_line > 0)
        return;
    self->not_date_line = line;
    uc_quote(self->not_date, field->begin, field->length);
}

/* The value is not missing, and already counted in self->values. */
static void count_dates(uc_column_look *self, const uc_field *field, size_t line)
{
    unsigned forms = 0;
    if (self->values > FIRST_VALUES && 2 * (self->dates + 1) < self->values) /* most were no dates */
        return;
    for (unsigned f = 0; f < UC_DATE_FORMS; f++) {
        uc_date date;
        if ((self->not_dates >> f & 1) || !uc_value_date(&date, field->begin, field->length, (uc_date_form)f))
            continue;
        forms |= 1u << f;
        self->dates_with_time = self->dates_with_time || date.has_time;
        self->first_day[f] = fmin(self->first_day[f], (double)date.days);
        self->last_day[f] = fmax(self->last_day[f], (double)date.days);
    }
    self->not_dates |= ALL_FORMS & ~forms;
    bool has_time = false;
    if (forms == 0 && uc_value_date_forms(&has_time, field->begin, field->length) == 0) {
        note_no_date(self, field, line);
        return;
    }
    self->dates++;
    if (forms == 0 && self->other_date_line == 0) {
        self->other_date_line = line;
        uc_quote(self->other_date, field->begin, field->length);
    }
}

/* Customer 17 and Customer 4711 have the same form. Texts with several numbers may have meaningful words. */
static void count_form(uc_column_look *self, const uc_field *field)
{
    uint64_t form = UC_MARK;
    size_t numbers = 0;
    if (self->other_form)
        return;
    for (size_t i = 0; i < field->length; i++) {
        const bool digit = field->begin[i] >= '0' && field->begin[i] <= '9';
        const bool again = digit && i > 0 && field->begin[i - 1] >= '0' && field->begin[i - 1] <= '9';
        const char c = digit ? '0' : field->begin[i];
        numbers += digit && !again;
        if (!again)
            form = uc_mark(form, &c, 1);
    }
    self->other_form = numbers > 1 || (self->form != 0 && self->form != form);
    self->form = form;
}

static uint64_t mark_of(const uc_field *field)
{
    if (field->length > UC_SHORT_VALUE)
        return uc_value_mark(UC_MARK, field->begin, field->length);
    return uc_short_mark(uc_value_short(field->begin, field->length), field->length);
}

static uc_status count_value(uc_look *look, size_t column, const uc_field *field, const look_pass *pass,
                             size_t line)
{
    uc_column_look *self = &look->columns[column];
    if (uc_is_missing(&pass->missing, field->begin, field->length)) {
        self->missing++;
        return UC_OK;
    }
    self->values++;
    count_number(self, field, pass, line);
    if (self->numbers < self->values) {
        self->spaced = self->spaced || memchr(field->begin, ' ', field->length);
        count_dates(self, field, line);
        count_form(self, field);
        const unsigned word = self->not_boolean ? 0 : uc_value_boolean(field->begin, field->length);
        self->boolean_words |= word;
        self->not_boolean = self->not_boolean || word == 0;
    } else {
        note_no_date(self, field, line);
        self->not_boolean = true;
    }
    const uint64_t mark = mark_of(field);
    if (!uc_mark_is_kept(mark, look->logs[column].level))
        return UC_OK;
    return uc_value_log_add(&look->logs[column], mark, field->begin, field->length);
}

static void clear_column(uc_column_look *self)
{
    *self = (uc_column_look){0};
    for (size_t f = 0; f < UC_DATE_FORMS; f++) {
        self->first_day[f] = INFINITY;
        self->last_day[f] = -INFINITY;
    }
}

static void merge_column(uc_column_look *self, const uc_column_look *part, size_t lines_before)
{
    if (part->numbers && (self->numbers == 0 || part->low < self->low))
        self->low = part->low;
    if (part->numbers && (self->numbers == 0 || part->high > self->high))
        self->high = part->high;
    if (part->dates == part->values && self->dates == self->values && self->other_date_line == 0 &&
        (self->not_dates | part->not_dates) == ALL_FORMS && part->values > 0) {
        const bool within = part->other_date_line != 0; /* otherwise, from its first value on */
        self->other_date_line = lines_before + (within ? part->other_date_line : part->odd_line);
        memcpy(self->other_date, within ? part->other_date : part->odd, sizeof self->other_date);
    }
    if (part->not_date_line && self->not_date_line == 0) {
        self->not_date_line = lines_before + part->not_date_line;
        memcpy(self->not_date, part->not_date, sizeof self->not_date);
    }
    self->values += part->values;
    self->dates += part->dates;
    self->missing += part->missing;
    self->numbers += part->numbers;
    self->otherwise += part->otherwise;
    merge_unit(self, part);
    self->spaced = self->spaced || part->spaced;
    self->other_form =
        self->other_form || part->other_form || (self->form && part->form && self->form != part->form);
    if (part->form)
        self->form = part->form;
    self->not_boolean = self->not_boolean || part->not_boolean;
    self->dates_with_time = self->dates_with_time || part->dates_with_time;
    self->boolean_words |= part->boolean_words;
    self->not_dates |= part->not_dates;
    for (size_t f = 0; f < UC_DATE_FORMS; f++) {
        self->first_day[f] = fmin(self->first_day[f], part->first_day[f]);
        self->last_day[f] = fmax(self->last_day[f], part->last_day[f]);
    }
    if (part->odd_line && (self->odd_line == 0 || (part->not_finite > 0 && self->not_finite == 0))) {
        self->odd_line = lines_before + part->odd_line;
        memcpy(self->odd, part->odd, sizeof self->odd);
        self->odd_complaint = part->odd_complaint;
    }
    self->not_finite += part->not_finite;
}

/* ---- blocks ---- */

static void free_look(uc_look *self)
{
    for (size_t i = 0; self->columns && i < self->column_count; i++)
        uc_value_set_free(&self->columns[i].set);
    for (size_t i = 0; self->logs && i < self->column_count; i++)
        uc_value_log_free(&self->logs[i]);
    uc_free(self->columns);
    uc_free(self->logs);
    uc_free(self->fields);
    uc_json_row_free(&self->json);
    self->columns = NULL;
}

static void free_own(void *own)
{
    free_look(own);
    uc_free(own);
}

static uc_status create_columns(uc_look *self, size_t columns)
{
    self->column_count = columns;
    self->columns = uc_alloc(columns, sizeof *self->columns);
    self->fields = uc_alloc(columns, sizeof *self->fields);
    if (!self->columns || !self->fields)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < columns; i++)
        clear_column(&self->columns[i]);
    return UC_OK;
}

/* A wide table has few rows per block, so few values of a column recur. */
static uc_status create_logs(uc_look *self)
{
    size_t recent = MOST_RECENT;
    while (recent > 1 && recent * self->column_count > ALL_RECENT)
        recent /= 2;
    self->logs = uc_alloc(self->column_count, sizeof *self->logs);
    uc_status status = self->logs ? UC_OK : UC_ERR_NOMEM;
    for (size_t i = 0; i < self->column_count && status == UC_OK; i++)
        status = uc_value_log_create(&self->logs[i], recent);
    return status;
}

static uc_look *begin_block(uc_text_block *block, const look_pass *pass)
{
    uc_look *self = block->own;
    if (!self) {
        self = uc_alloc(1, sizeof *self);
        if (!self)
            return NULL;
        uc_status status = create_columns(self, pass->layout->columns);
        if (status == UC_OK)
            status = create_logs(self);
        if (status != UC_OK) {
            free_own(self);
            return NULL;
        }
        block->own = self;
    }
    self->rows = self->problem_count = 0;
    for (size_t i = 0; i < self->column_count; i++) {
        clear_column(&self->columns[i]);
        uc_value_log_clear(&self->logs[i], &pass->look.columns[i].set);
    }
    return self;
}

/* Looks at a line of JSON; returns its newline. */
static char *look_at_object(uc_look *self, uc_text_block *block, const look_pass *pass, char *p)
{
    const uc_layout *layout = pass->layout;
    const uc_status status = uc_json_cut_row(self->fields, &self->json, layout, &p);
    if (status == UC_ERR_FORMAT) {
        const size_t column = self->json.column;
        uc_look_blame(self, column == UC_NO_COLUMN ? UC_UNCLOSED : column, block->lines, "%s",
                      self->json.line.problem);
        return p;
    }
    block->status = status;
    for (size_t i = 0; i < layout->columns && block->status == UC_OK; i++)
        if (!layout->dropped[i])
            block->status = count_value(self, i, &self->fields[i], pass, block->lines);
    return p;
}

/* Looks at one record; returns its newline, or NULL if nothing after it can be cut. */
static char *look_at_record(uc_look *self, uc_text_block *block, const look_pass *pass, uc_marks *marks,
                            char *p)
{
    if (pass->layout->json)
        return look_at_object(self, block, pass, p);
    const uc_layout *layout = pass->layout;
    const size_t line = block->lines;
    size_t count = 0;
    uc_field field = {0};
    for (;; p++) {
        field = (uc_field){0};
        const char *problem = uc_marks_cut(&field, &p, marks);
        for (size_t i = 0; field.quoted && i < field.length; i++)
            block->lines += field.begin[i] == '\n';
        if (problem) {
            uc_look_blame(self, UC_UNCLOSED, line, "%s", problem);
            return *p ? memchr(p, '\n', (size_t)(block->end - p)) : NULL;
        }
        if (count < layout->columns && block->status == UC_OK)
            block->status = count_value(self, count, &field, pass, line);
        count++;
        if (*p == '\n')
            break;
    }
    if (count != layout->columns)
        uc_look_blame(self, SIZE_MAX, line, "%zu column%s, but the first line has %zu%s", count,
                      count == 1 ? "" : "s", layout->columns, uc_ragged_hint(count, layout->columns, &field));
    return p;
}

/* Reports the first control character in the block, which is not allowed in a table. */
static void find_control(uc_look *self, const uc_text_block *block)
{
    if (!uc_scan_has_control(block->begin, block->end))
        return;
    size_t line = 1;
    for (const char *p = block->begin; p < block->end; p++) {
        line += *p == '\n';
        if ((unsigned char)*p < 32 && !strchr("\n\r\t", *p ? *p : 1)) {
            uc_look_blame(self, UC_CONTROL, line, "control character 0x%02x", (unsigned char)*p);
            return;
        }
    }
}

static void parse(uc_text_block *block, const uc_reader *reader, const void *user)
{
    const uc_layout *layout = user;
    const look_pass *pass = reader->own;
    uc_look *self = begin_block(block, pass);
    if (!self) {
        block->status = UC_ERR_NOMEM;
        return;
    }
    find_control(self, block);
    uc_marks marks;
    uc_marks_begin(&marks, block->begin, block->end, layout->delimiter);
    for (char *p = block->begin; p && p < block->end && block->status == UC_OK; p++) {
        block->lines++;
        char *first = uc_skip_padding(p, layout->delimiter);
        if (*first == '\n') {
            p = first;
            continue;
        }
        p = look_at_record(self, block, pass, &marks, p);
        self->rows++;
        if (!p)
            break;
    }
}

static uc_status join(uc_text_block *block, uc_reader *reader, size_t line)
{
    look_pass *self = reader->own;
    uc_look *part = block->own;
    uc_status status = UC_OK;
    if (self->stops && self->look.rows >= UC_LOOK_ROWS)
        return UC_OK;
    self->look.rows += part->rows;
    for (size_t i = 0; i < part->problem_count; i++)
        take_problem(&self->look, &part->problems[i], line);
    for (size_t i = 0; i < part->column_count && status == UC_OK; i++) {
        merge_column(&self->look.columns[i], &part->columns[i], line);
        status = uc_value_log_flush(&part->logs[i], &self->look.columns[i].set);
    }
    return status;
}

static uc_status begin(uc_reader *reader)
{
    static const uc_text_hooks hooks = {.join = join, .free_own = free_own};
    uc_layout *layout;
    const uc_status status = uc_table_layout_begin(&layout, reader, parse);
    if (status != UC_OK)
        return status;
    uc_text_set_hooks(reader, &hooks);
    reader->has_labels = reader->has_bags = reader->has_weights = false; /* rows are not stored */
    return UC_OK;
}

static const uc_data_format format_look = {"csv", begin, uc_text_next, uc_text_end, uc_text_cut};

/* ---- files ---- */

static uc_status open_source(uc_input **out, const uc_look_source *source, size_t file)
{
    if (source->paths)
        return uc_input_open(out, source->paths[file]);
    return uc_input_open_memory(out, source->bytes, source->length, source->name);
}

/* The first file's layout is used for all; the caller keeps that file open. */
static uc_status look_at_file(look_pass *self, uc_reader *reader)
{
    uc_status status = UC_OK;
    while (status == UC_OK && !reader->ended) {
        status = reader->format->next(reader);
        if (status == UC_OK)
            status =
                uc_report(&reader->context, "looking at the columns", (double)uc_input_done(reader->input),
                          (double)uc_input_total(reader->input), NULL);
        if (self->stops && self->look.rows >= UC_LOOK_ROWS)
            break;
    }
    return status;
}

static uc_status open_look(uc_reader **out, look_pass *self, const uc_look_source *source, size_t file,
                           const uc_read_settings *settings, const uc_context *context)
{
    uc_input *input;
    uc_reader *reader = NULL;
    uc_status status = open_source(&input, source, file);
    if (status != UC_OK)
        return status;
    status = uc_reader_open_as(&reader, input, &format_look, settings, context);
    if (status != UC_OK)
        return status;
    reader->own = self;
    *out = reader;
    return UC_OK;
}

static uc_status compare_layouts(const uc_layout *first, const uc_layout *other, const char *first_name,
                                 const char *name)
{
    if (first->json && first->columns == other->columns)
        return UC_OK; /* the columns of the table for all files */
    bool same = first->columns == other->columns && !first->names == !other->names;
    for (size_t i = 0; same && first->names && i < first->columns; i++)
        same = strcmp(first->names[i], other->names[i]) == 0;
    if (!same)
        return uc_fail(UC_ERR_FORMAT, "%s: other columns, or in another order, than %s", name, first_name);
    return UC_OK;
}

uc_status uc_table_look_at(uc_table **out, const uc_look_source *source, const uc_read_settings *settings,
                           const uc_context *context)
{
    const uc_context alone = uc_context_alone(context); /* every process looks at all files */
    look_pass self = {.decimal = '.', .max_categories = (size_t)settings->max_categories};
    uc_reader *first = NULL, *other = NULL;
    uc_table *columns = NULL; /* for JSON lines */
    uc_read_settings own = *settings;
    self.stops = !source->paths && !source->whole;
    if (settings->decimal && *settings->decimal)
        self.decimal = *settings->decimal;
    uc_status status = uc_missing_read(&self.missing, settings->missing_values);
    if (status == UC_OK && own.format == UC_FORMAT_JSONL) {
        status = uc_json_find_columns(&columns, source, settings, &alone);
        own.table = columns;
    }
    if (status == UC_OK)
        status = open_look(&first, &self, source, 0, &own, &alone);
    if (status == UC_OK) {
        self.layout = uc_text_layout(first);
        status = create_columns(&self.look, self.layout->columns);
    }
    for (size_t i = 0; status == UC_OK && i < self.look.column_count; i++)
        self.look.columns[i].set.most_texts = self.max_categories + 1;
    if (status == UC_OK)
        status = look_at_file(&self, first);
    for (size_t f = 1; status == UC_OK && source->paths && f < source->count; f++) {
        status = open_look(&other, &self, source, f, &own, &alone);
        if (status == UC_OK)
            status = compare_layouts(self.layout, uc_text_layout(other), source->paths[0], source->paths[f]);
        if (status == UC_OK)
            status = look_at_file(&self, other);
        uc_reader_close(other);
        other = NULL;
    }
    if (status == UC_OK)
        status = uc_table_decide(out, &self.look, self.layout,
                                 source->paths ? source->paths[0] : source->name, settings, context);
    uc_reader_close(first);
    free_look(&self.look);
    uc_missing_free(&self.missing);
    uc_table_free(columns);
    return status;
}
