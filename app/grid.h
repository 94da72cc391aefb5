/* Columns that line up. */
#ifndef APP_GRID_H
#define APP_GRID_H

#include <stdio.h>

#include "app/program.h"

/* `align` has 'l' or 'r' per column; its last letter holds for all that follow. */
typedef struct app_grid {
    const char *align;
    const char *indent; /* before every line; NULL: nothing */
    size_t columns;
    char **cells;
    size_t count, capacity;
} app_grid;

void app_cell(app_grid *self, const char *format, ...) APP_PRINTF(2, 3);
void app_grid_print(app_grid *self, FILE *file); /* and empties it */

/* Characters of UTF-8. */
size_t app_text_width(const char *text);
/* The shorter of two texts that read back as the same number; `text` has room for 32 bytes. */
size_t app_print_real(char *text, double value);

#endif
