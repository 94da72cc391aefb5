/* Features of many events as the columns of a CSV file. */
#ifndef SERVICE_COLUMNS_H
#define SERVICE_COLUMNS_H

#include "service/features.h"
#include "service/text.h"

typedef struct columns {
    features_kind kind; /* of the rows so far */
    size_t width;       /* numbered columns */
    uc_names fields;    /* named ones */
} columns;              /* zero-initialised is empty and may be freed */

/* A row that will be written; false: no memory. */
bool columns_see(columns *self, const features *given);
void columns_free(columns *self);
/* ",1,2,3" or ",age,city"; and the values of a row, each after a comma. */
void columns_add_names(text *out, const columns *self);
void columns_add_values(text *out, const columns *self, const features *given);
/* A field, in quotes if it needs them. */
void columns_add_field(text *out, const char *field);

#endif
