#include "service/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"

/* Readers remove blanks at the ends of an unquoted field. */
static bool needs_quotes(const char *field)
{
    const size_t length = strlen(field);
    return length == 0 || strpbrk(field, ",\"\r\n") || strchr(" \t", field[0]) ||
           strchr(" \t", field[length - 1]);
}

void columns_add_field(text *out, const char *field)
{
    if (!needs_quotes(field)) {
        text_add_string(out, field);
        return;
    }
    text_add_string(out, "\"");
    for (; *field; field++)
        text_add(out, *field == '"' ? "\"\"" : field, *field == '"' ? 2 : 1);
    text_add_string(out, "\"");
}

bool columns_see(columns *self, const features *given)
{
    uint32_t index;
    for (size_t i = 0; i < given->count; i++) {
        const feature *item = &given->items[i];
        if (item->name && uc_names_add(&index, &self->fields, item->name, strlen(item->name)) != UC_OK)
            return false;
        if (!item->name && item->column >= self->width)
            self->width = (size_t)item->column + 1;
    }
    if (given->count > 0)
        self->kind = given->kind;
    return true;
}

void columns_free(columns *self)
{
    uc_names_free(&self->fields);
    *self = (columns){0};
}

void columns_add_names(text *out, const columns *self)
{
    for (size_t i = 0; i < self->width && self->kind != FEATURES_NAMED; i++)
        text_add_format(out, ",%zu", i + 1);
    for (size_t i = 0; i < self->fields.count; i++) {
        text_add_string(out, ",");
        columns_add_field(out, self->fields.text[i]);
    }
}

static void add_value(text *out, const feature *item)
{
    char number[32];
    if (item->text) {
        columns_add_field(out, item->text);
        return;
    }
    for (int digits = 6; digits <= 9; digits++) {
        (void)snprintf(number, sizeof number, "%.*g", digits, (double)item->value);
        if ((float)strtod(number, NULL) == item->value)
            break;
    }
    text_add_string(out, number);
}

void columns_add_values(text *out, const columns *self, const features *given)
{
    const bool named = self->kind == FEATURES_NAMED;
    const size_t count = named ? self->fields.count : self->width;
    const feature **at = app_calloc(count, sizeof *at);
    for (size_t i = 0; i < given->count; i++) {
        const feature *item = &given->items[i];
        const size_t column =
            item->name ? uc_names_find(&self->fields, item->name, strlen(item->name)) : item->column;
        if (column < count)
            at[column] = item;
    }
    for (size_t i = 0; i < count; i++) {
        text_add_string(out, ",");
        if (at[i])
            add_value(out, at[i]);
        else if (!named)
            text_add_string(out, "0");
    }
    free(at);
}
