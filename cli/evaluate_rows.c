/* Single rows of an evaluation: the pairs of classes that are confused most, with rows to look at, and how
 * certain the model was where it agreed with the label and where it did not. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

#define MOST_PAIRS 20
#define ROWS_PER_PAIR 5
#define BINS 20
#define MOST_TEXT (64.0 * 1048576.0) /* bytes; a larger table is not read again for its text */
#define UNPACKED 20.0                /* most bytes of text per byte of a compressed file */
#define BYTES_IN_MEMORY 4.0          /* per byte of text: text, encoded rows and positions of fields */

typedef struct confused {
    uint64_t cell;  /* label x classes + predicted */
    uint64_t count; /* the rows that were confused in this way */
    size_t rows[ROWS_PER_PAIR];
} confused;

/* Most frequent first; equal ones in the order of the classes. */
static int by_count(const void *a, const void *b)
{
    const confused *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}

static int by_cell(const void *a, const void *b)
{
    const confused *x = a, *y = b;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return x->rows[0] < y->rows[0] ? -1 : x->rows[0] > y->rows[0];
}

/* Merges sorted items of one row each to one item per cell; returns their number. */
static size_t merge(confused *items, size_t count)
{
    size_t cells = 0;
    for (size_t i = 0; i < count; i++) {
        confused *last = cells ? &items[cells - 1] : NULL;
        if (!last || last->cell != items[i].cell) {
            items[cells++] = items[i];
            continue;
        }
        if (last->count < ROWS_PER_PAIR)
            last->rows[last->count] = items[i].rows[0];
        last->count++;
    }
    return cells;
}

static json_t *json_pair(const confused *self, const uc_names *classes)
{
    const size_t K = classes->count, label = self->cell / (K + 1), predicted = self->cell % (K + 1);
    json_t *rows = json_array();
    for (size_t i = 0; i < self->count && i < ROWS_PER_PAIR; i++)
        json_array_append_new(rows, json_integer((json_int_t)self->rows[i] + 1));
    return json_pack("{so so sI so}", "true", label < K ? app_json_text(classes->text[label]) : json_null(),
                     "predicted", app_json_text(classes->text[predicted]), "examples",
                     (json_int_t)self->count, "rows", rows);
}

json_t *cli_json_confused(const uint32_t *labels, const uint32_t *predicted, size_t count,
                          const uc_names *classes)
{
    size_t errors = 0;
    for (size_t i = 0; i < count; i++)
        errors += labels[i] != UC_NONE && labels[i] != predicted[i];
    confused *items = app_calloc(errors + 1, sizeof *items);
    for (size_t i = 0, at = 0; i < count; i++)
        if (labels[i] != UC_NONE && labels[i] != predicted[i])
            items[at++] = (confused){(uint64_t)labels[i] * (classes->count + 1) + predicted[i], 1, {i}};
    qsort(items, errors, sizeof *items, by_cell);
    const size_t cells = merge(items, errors);
    qsort(items, cells, sizeof *items, by_count);
    json_t *list = json_array();
    for (size_t i = 0; i < cells && i < MOST_PAIRS; i++)
        json_array_append_new(list, json_pair(&items[i], classes));
    free(items);
    return list;
}

/* Adds the ids and columns of the rows of a pair, in the order of the rows. */
static void add_text(json_t *pair, uc_table_text *text)
{
    const json_t *rows = json_object_get(pair, "rows");
    json_t *ids = json_array(), *columns = json_array();
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const size_t row = (size_t)json_integer_value(json_array_get(rows, i)) - 1;
        json_t *own = row < uc_table_text_rows(text) ? cli_columns_json(text, row) : NULL;
        char *id = row < uc_table_text_rows(text) ? cli_table_id(text, row) : NULL;
        json_array_append_new(columns, own ? own : json_null());
        json_array_append_new(ids, id ? app_json_text(id) : json_null());
        free(id);
    }
    json_object_set_new(pair, "ids", ids);
    json_object_set_new(pair, "columns", columns);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* Whether a file can be read again, and is small enough. */
static bool can_be_read_again(const char *path, const uc_context *context)
{
    struct stat info;
    if (cli_reads_once(path) || stat(path, &info) != 0)
        return false;
    const bool packed = ends_with(path, ".gz") || ends_with(path, ".zst");
    const double bytes = (double)info.st_size * (packed ? UNPACKED : 1.0);
    return bytes <= MOST_TEXT && (context->memory == 0 || BYTES_IN_MEMORY * bytes <= (double)context->memory);
}

uc_status cli_add_columns(json_t *pairs, const char *path, const uc_read_settings *read,
                          const uc_context *context)
{
    uc_context silent = *context; /* warnings were already given when it was first read */
    uc_dataset data = {0};
    uc_table_text *text = NULL;
    silent.warn = NULL;
    silent.progress = NULL;
    if (json_array_size(pairs) == 0 || !can_be_read_again(path, context))
        return UC_OK;
    const uc_status status = uc_dataset_read_with_text(&data, &text, path, read, &silent);
    size_t length;
    if (status == UC_OK && text && uc_table_text_header(&length, text))
        for (size_t i = 0; i < json_array_size(pairs); i++)
            add_text(json_array_get(pairs, i), text);
    uc_table_text_free(text);
    uc_dataset_free(&data);
    return status;
}

json_t *cli_json_certainty(const uint32_t *labels, const uint32_t *predicted, const double *certainty,
                           size_t count)
{
    uint64_t bins[2][BINS] = {{0}};
    json_t *edges = json_array(), *counts[2] = {json_array(), json_array()};
    for (size_t i = 0; i < count; i++) {
        if (labels[i] == UC_NONE)
            continue;
        const size_t bin = (size_t)(certainty[i] * BINS);
        bins[labels[i] == predicted[i]][bin < BINS ? bin : BINS - 1]++;
    }
    for (size_t b = 0; b <= BINS; b++)
        json_array_append_new(edges, json_real((double)b / BINS));
    for (size_t right = 0; right < 2; right++)
        for (size_t b = 0; b < BINS; b++)
            json_array_append_new(counts[right], json_integer((json_int_t)bins[right][b]));
    return json_pack("{ss so so so}", "of", "probability of the predicted class", "edges", edges, "right",
                     counts[1], "wrong", counts[0]);
}
