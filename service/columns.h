/* Features of many events as the columns of a CSV file. */
#ifndef SERVICE_COLUMNS_H
#define SERVICE_COLUMNS_H

#include "service/features.h"
#include "service/text.h"

typedef struct columns {
    features_kind kind; /* of the rows so far */
    size_t width;       /* number of numbered columns */
    uc_names fields;    /* named ones */
} columns;              /* empty and safe to free if zero-initialised */

/* Includes the columns of a row that will be written; false: not enough memory. */
bool columns_see(columns *self, const features *given);
void columns_free(columns *self);
/* Adds ",1,2,3" or ",age,city"; and the values of a row, each after a comma. */
void columns_add_names(text *out, const columns *self);
void columns_add_values(text *out, const columns *self, const features *given);
/* Adds a field, in quotes if it needs them. */
void columns_add_field(text *out, const char *field);

#endif
