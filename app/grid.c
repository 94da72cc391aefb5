#include "app/grid.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"

void app_cell(app_grid *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = app_text_of(format, arguments);
    va_end(arguments);
    if (self->count == self->capacity) {
        self->capacity = self->capacity ? 2 * self->capacity : 64;
        self->cells = app_realloc(self->cells, self->capacity, sizeof *self->cells);
    }
    self->cells[self->count++] = text;
}

/* Counts the bytes that do not continue a character. */
size_t app_text_width(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static char alignment(const app_grid *self, size_t column)
{
    const size_t last = strlen(self->align) - 1;
    return self->align[column < last ? column : last];
}

void app_grid_print(app_grid *self, FILE *file)
{
    size_t *width = app_calloc(self->columns, sizeof *width);
    for (size_t i = 0; i < self->count; i++)
        if (app_text_width(self->cells[i]) > width[i % self->columns])
            width[i % self->columns] = app_text_width(self->cells[i]);
    for (size_t i = 0; i < self->count; i++) {
        const size_t column = i % self->columns;
        const bool last = column + 1 == self->columns;
        const int padding = (int)(width[column] - app_text_width(self->cells[i]));
        const bool blank = last && self->cells[i][0] == 0; /* no blanks at the end of a line */
        if (column > 0 && !blank)
            fputs("  ", file);
        else if (column == 0 && self->indent)
            fputs(self->indent, file);
        if (alignment(self, column) == 'r')
            fprintf(file, "%*s%s", blank ? 0 : padding, "", self->cells[i]);
        else
            fprintf(file, "%s%*s", self->cells[i], last ? 0 : padding, "");
        if (last)
            fputc('\n', file);
        free(self->cells[i]);
    }
    free(width);
    free(self->cells);
    self->cells = NULL;
    self->count = self->capacity = 0;
}

size_t app_print_real(char *text, double value)
{
    int length = snprintf(text, 32, "%.15g", value);
    if (strtod(text, NULL) != value)
        length = snprintf(text, 32, "%.17g", value);
    return (size_t)length;
}
