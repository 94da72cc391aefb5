/* Annotations from several columns of a table, one per annotator. */
#include <string.h>

#include "data/crowd.h"
#include "data/table.h"
#include "unconfuse/crowd.h"
#include "unconfuse/table.h"

typedef struct columns {
    uc_table_text *text;
    uc_missing missing;
    uc_names names; /* of the columns, which are the annotators */
    size_t *place;  /* of each annotator: its column in the table */
    uc_names classes;
    uint32_t *row, *annotator, *label;
    size_t count;
} columns;

static void columns_free(columns *self)
{
    uc_missing_free(&self->missing);
    uc_names_free(&self->names);
    uc_names_free(&self->classes);
    uc_free(self->place);
    uc_free(self->row);
    uc_free(self->annotator);
    uc_free(self->label);
}

/* The column with that name; the number of columns if there is none. */
static size_t find_place(uc_table_text *text, const char *name, size_t length)
{
    const size_t count = uc_table_text_columns(text);
    for (size_t c = 0; c < count; c++) {
        size_t size = 0;
        const char *own = uc_table_text_name(&size, text, c);
        if (own && size == length && memcmp(own, name, length) == 0)
            return c;
    }
    return count;
}

/* Finds the columns that the comma-separated list names, each once. */
static uc_status find_columns(columns *self, const char *list, const char *source)
{
    size_t room = 1, length;
    for (const char *p = list; *p; p++)
        room += *p == ',';
    self->place = uc_alloc(room, sizeof *self->place);
    if (!self->place)
        return UC_ERR_NOMEM;
    if (!uc_table_text_header(&length, self->text))
        return uc_fail(UC_ERR_INVALID, "%s has no header, which names the columns of annotators", source);
    for (const char *p = list;; p += strcspn(p, ",") + 1) {
        length = strcspn(p, ",");
        const size_t before = self->names.count, place = find_place(self->text, p, length);
        uint32_t index;
        if (place == uc_table_text_columns(self->text))
            return uc_fail(UC_ERR_INVALID, "%s: no column is called '%.*s', which {annotators} names", source,
                           (int)length, p);
        const uc_status status = uc_names_add(&index, &self->names, p, length);
        if (status != UC_OK)
            return status;
        if (self->names.count == before)
            return uc_fail(UC_ERR_INVALID, "{annotators} names column '%.*s' twice", (int)length, p);
        self->place[index] = place;
        if (p[length] == '\0')
            break;
    }
    if (self->names.count < 2)
        return uc_fail(UC_ERR_OPTION, "{annotators} needs the names of two columns or more");
    return UC_OK;
}

static uc_status read_fields(columns *self)
{
    const size_t rows = uc_table_text_rows(self->text), each = self->names.count;
    self->row = uc_alloc(rows * each, sizeof *self->row);
    self->annotator = uc_alloc(rows * each, sizeof *self->annotator);
    self->label = uc_alloc(rows * each, sizeof *self->label);
    if (!self->row || !self->annotator || !self->label)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < each; j++) {
            size_t length = 0;
            const char *field = uc_table_text_field(&length, self->text, i, self->place[j]);
            if (!field)
                return UC_ERR_NOMEM;
            if (length == 0 || uc_is_missing(&self->missing, field, length))
                continue;
            self->row[self->count] = (uint32_t)i;
            self->annotator[self->count] = (uint32_t)j;
            const uc_status status = uc_names_add(&self->label[self->count], &self->classes, field, length);
            if (status != UC_OK)
                return status;
            self->count++;
        }
    return UC_OK;
}

/* Fails if a column has no label: it is not an annotator. */
static uc_status check_columns(const columns *self, const char *source)
{
    for (size_t j = 0; j < self->names.count; j++) {
        size_t a = 0;
        while (a < self->count && self->annotator[a] != j)
            a++;
        if (a == self->count)
            return uc_fail(UC_ERR_INVALID, "%s: column '%s' has no label", source, self->names.text[j]);
    }
    return UC_OK;
}

uc_status uc_crowd_from_table(uc_crowd *out, uc_table_text *text, const char *list,
                              const char *missing_values, const char *source, const uc_context *context)
{
    columns self = {.text = text};
    uc_status status = uc_missing_read(&self.missing, missing_values);
    if (status == UC_OK)
        status = find_columns(&self, list, source);
    if (status == UC_OK)
        status = read_fields(&self);
    if (status == UC_OK)
        status = check_columns(&self, source);
    if (status == UC_OK)
        status = uc_names_sort_with(&self.classes, self.label, self.count);
    if (status == UC_OK)
        status = uc_crowd_from_arrays(out, self.row, self.annotator, self.label, self.count,
                                      uc_table_text_rows(text), &self.names, &self.classes, context);
    columns_free(&self);
    return status;
}
