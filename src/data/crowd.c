/* Puts annotations in the order of their rows: a counting sort by annotator, then one by row, which keeps
 * that order. */
#include "data/crowd.h"

#include <string.h>

/* ---- lists ---- */

static bool grow(uint32_t **array, size_t capacity)
{
    uint32_t *grown = uc_realloc(*array, capacity, sizeof **array);
    if (grown)
        *array = grown;
    return grown != NULL;
}

uc_status uc_annotation_list_add(uc_annotation_list *self, uint32_t row, uint32_t annotator, uint32_t label,
                                 size_t line)
{
    if (self->count == self->capacity) {
        const size_t capacity = uc_grown(self->capacity, self->count + 1);
        if (!grow(&self->row, capacity) || !grow(&self->annotator, capacity) ||
            !grow(&self->label, capacity) || !grow(&self->line, capacity))
            return UC_ERR_NOMEM;
        self->capacity = capacity;
    }
    self->row[self->count] = row;
    self->annotator[self->count] = annotator;
    self->label[self->count] = label;
    self->line[self->count++] = (uint32_t)line;
    return UC_OK;
}

void uc_annotation_list_free(uc_annotation_list *self)
{
    uc_free(self->row);
    uc_free(self->annotator);
    uc_free(self->label);
    uc_free(self->line);
    *self = (uc_annotation_list){0};
}

/* ---- order ---- */

void uc_sort_by_key(uint32_t *out, size_t *starts, const uint32_t *keys, size_t key_count,
                    const uint32_t *order, size_t count)
{
    memset(starts, 0, (key_count + 1) * sizeof *starts);
    for (size_t a = 0; a < count; a++)
        starts[keys[a] + 1]++;
    for (size_t k = 0; k < key_count; k++)
        starts[k + 1] += starts[k];
    for (size_t a = 0; a < count; a++) {
        const uint32_t item = order ? order[a] : (uint32_t)a;
        out[starts[keys[item]]++] = item;
    }
    for (size_t k = key_count; k > 0; k--)
        starts[k] = starts[k - 1];
    starts[0] = 0;
}

static uc_status fail_two_labels(const uc_crowd *self, const uc_annotation_list *list, uint32_t a, uint32_t b)
{
    const uint32_t early = a < b ? a : b, late = a < b ? b : a;
    char who[UC_QUOTE_SIZE], first[UC_QUOTE_SIZE], second[UC_QUOTE_SIZE];
    const char *annotator = self->annotators.text[list->annotator[a]];
    const char *one = self->classes.text[list->label[early]], *other = self->classes.text[list->label[late]];
    uc_quote(who, annotator, strlen(annotator));
    uc_quote(first, one, strlen(one));
    uc_quote(second, other, strlen(other));
    if (!list->line)
        return uc_fail(UC_ERR_INVALID, "annotator '%s' calls row %zu both '%s' and '%s'", who,
                       (size_t)list->row[a] + 1, first, second);
    return uc_fail(UC_ERR_FORMAT, "%s:%u: annotator '%s' calls this row '%s', but '%s' on line %u",
                   list->name, list->line[late], who, second, first, list->line[early]);
}

/* Copies the annotations in the given order, without repetitions. */
static uc_status copy_in_order(uc_crowd *self, size_t *repeated, const uc_annotation_list *list,
                               const uint32_t *order)
{
    size_t next = 0, at = 0;
    for (size_t i = 0; i < self->rows; i++) {
        const size_t end = self->first[i + 1];
        self->first[i] = next;
        for (; at < end; at++) {
            const uint32_t a = order[at];
            const bool again = next > self->first[i] && self->annotator[next - 1] == list->annotator[a];
            if (again && self->label[next - 1] != list->label[a])
                return fail_two_labels(self, list, order[at - 1], a);
            *repeated += again;
            self->annotator[next - again] = list->annotator[a];
            self->label[next - again] = list->label[a];
            next += !again;
        }
    }
    self->first[self->rows] = self->count = next;
    return UC_OK;
}

static void tell_repeated(const uc_annotation_list *list, size_t repeated, const uc_context *context)
{
    if (repeated)
        uc_warn(context, "%s%s%zu annotations are repeated, and count once", list->name ? list->name : "",
                list->name ? ": " : "", repeated);
}

uc_status uc_crowd_fill(uc_crowd *self, const uc_annotation_list *list, const uc_context *context)
{
    const size_t keys = uc_max_size(self->rows, self->annotators.count);
    size_t repeated = 0, *starts = uc_alloc(keys + 1, sizeof *starts);
    uint32_t *by_annotator = uc_alloc(list->count, sizeof *by_annotator);
    uint32_t *order = uc_alloc(list->count, sizeof *order);
    self->first = uc_alloc(self->rows + 1, sizeof *self->first);
    self->annotator = uc_alloc(list->count, sizeof *self->annotator);
    self->label = uc_alloc(list->count, sizeof *self->label);
    uc_status status = UC_ERR_NOMEM;
    if (starts && by_annotator && order && self->first && self->annotator && self->label) {
        uc_sort_by_key(by_annotator, starts, list->annotator, self->annotators.count, NULL, list->count);
        uc_sort_by_key(order, self->first, list->row, self->rows, by_annotator, list->count);
        status = copy_in_order(self, &repeated, list, order);
    }
    uc_free(starts);
    uc_free(by_annotator);
    uc_free(order);
    if (status == UC_OK)
        tell_repeated(list, repeated, context);
    return status;
}

uc_status uc_names_sort_with(uc_names *names, uint32_t *positions, size_t count)
{
    uint32_t *renumber = uc_alloc(names->count, sizeof *renumber);
    uc_status status = renumber ? uc_names_sort(names, renumber) : UC_ERR_NOMEM;
    for (size_t a = 0; a < count && status == UC_OK; a++)
        positions[a] = renumber[positions[a]];
    uc_free(renumber);
    return status;
}

/* ---- from arrays ---- */

static uc_status check_arrays(const uint32_t *row, const uint32_t *annotator, const uint32_t *label,
                              size_t count, size_t rows, const uc_names *annotators, const uc_names *classes)
{
    if (count == 0)
        return uc_fail(UC_ERR_INVALID, "there are no annotations");
    if (count >= UC_NONE || rows >= UC_NONE)
        return uc_fail(UC_ERR_INVALID, "more than %u annotations or rows", UC_NONE - 1);
    for (size_t a = 0; a < count; a++) {
        if (row[a] >= rows)
            return uc_fail(UC_ERR_INVALID, "annotation %zu is of row %zu, but there are %zu rows", a + 1,
                           (size_t)row[a] + 1, rows);
        if (annotator[a] >= annotators->count || label[a] >= classes->count)
            return uc_fail(UC_ERR_INVALID, "annotation %zu has an annotator or a label without a name",
                           a + 1);
    }
    return UC_OK;
}

uc_status uc_crowd_from_arrays(uc_crowd *out, const uint32_t *row, const uint32_t *annotator,
                               const uint32_t *label, size_t count, size_t rows, const uc_names *annotators,
                               const uc_names *classes, const uc_context *context)
{
    uc_crowd self = {.rows = rows};
    uc_annotation_list list = {0};
    uc_status status = check_arrays(row, annotator, label, count, rows, annotators, classes);
    if (status != UC_OK)
        return status;
    for (size_t a = 0; a < count; a++)
        if ((status = uc_annotation_list_add(&list, row[a], annotator[a], label[a], 0)) != UC_OK)
            goto cleanup;
    uc_free(list.line);
    list.line = NULL;
    if ((status = uc_names_copy(&self.annotators, annotators)) != UC_OK)
        goto cleanup;
    if ((status = uc_names_copy(&self.classes, classes)) != UC_OK)
        goto cleanup;
    if ((status = uc_names_sort_with(&self.annotators, list.annotator, count)) != UC_OK)
        goto cleanup;
    status = uc_crowd_fill(&self, &list, context);

cleanup:
    uc_annotation_list_free(&list);
    if (status == UC_OK)
        *out = self;
    else
        uc_crowd_free(&self);
    return status;
}

void uc_crowd_free(uc_crowd *self)
{
    uc_free(self->first);
    uc_free(self->annotator);
    uc_free(self->label);
    uc_names_free(&self->annotators);
    uc_names_free(&self->classes);
    uc_names_free(&self->ids);
    *self = (uc_crowd){0};
}
