/* Tables of text with aligned columns. */
#ifndef APP_GRID_H
#define APP_GRID_H

#include <stdio.h>

#include "app/program.h"

/* `align` has 'l' or 'r' for each column; its last letter applies to all further columns. */
typedef struct app_grid {
    const char *align;
    const char *indent; /* before every line; NULL: nothing */
    size_t columns;
    char **cells;
    size_t count, capacity;
} app_grid;

void app_cell(app_grid *self, const char *format, ...) APP_PRINTF(2, 3);
void app_grid_print(app_grid *self, FILE *file); /* prints and empties it */

/* The number of UTF-8 characters. */
size_t app_text_width(const char *text);
/* Writes the shorter of two texts that read back as the same number; `text` has room for 32 bytes. */
size_t app_print_real(char *text, double value);

#endif
