#include "app/csv.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void app_csv_text(FILE *file, const char *text, char end)
{
    const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted)
        fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    if (quoted)
        fputc('"', file);
    fputc(end, file);
}

void app_csv_real(FILE *file, double value, char end)
{
    if (isfinite(value))
        fprintf(file, "%.10g", value);
    fputc(end, file);
}
