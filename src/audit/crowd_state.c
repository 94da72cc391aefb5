/* The state of a consensus, to which new annotations can be added: all annotations, the posteriors and the
 * names, in a container.
 *
 * Header: "kind" (crowd), "classes", "annotators", "ids" (names of rows; empty: rows have numbers). Arrays:
 * first, annotator, label, and posterior (float: enough digits for EM to continue from), rows x classes. */
#include <math.h>
#include <string.h>

#include "audit/crowd_em.h"
#include "data/container.h"
#include "data/crowd.h"

#define MAGIC "UCCROWD\n"
#define VERSION 1

/* ---- writing ---- */

static json_t *names_json(const uc_names *names)
{
    json_t *list = json_array();
    for (size_t i = 0; i < names->count && list; i++)
        if (json_array_append_new(list, json_string(names->text[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

static float *posterior_floats(const uc_posteriors *posterior)
{
    float *values = uc_alloc(posterior->rows * posterior->classes, sizeof *values);
    for (size_t i = 0; i < posterior->rows && values; i++)
        for (size_t k = 0; k < posterior->classes; k++)
            values[i * posterior->classes + k] = (float)posterior->values[uc_posterior_at(posterior, i, k)];
    return values;
}

static uint64_t *first_words(const uc_crowd *crowd)
{
    uint64_t *first = uc_alloc(crowd->rows + 1, sizeof *first);
    for (size_t i = 0; i <= crowd->rows && first; i++)
        first[i] = crowd->first[i];
    return first;
}

uc_status uc_crowd_state_write(uc_output *output, const uc_crowd *crowd, const uc_consensus *consensus)
{
    json_t *header = json_pack("{s:s, s:o*, s:o*, s:o*, s:I, s:I}", "kind", "crowd", "classes",
                               names_json(&crowd->classes), "annotators", names_json(&crowd->annotators),
                               "ids", names_json(&crowd->ids), "rows", (json_int_t)crowd->rows, "annotations",
                               (json_int_t)crowd->count);
    float *posterior = posterior_floats(&consensus->posterior);
    uint64_t *first = first_words(crowd);
    uc_status status = UC_ERR_NOMEM;
    if (header && json_object_size(header) == 6 && posterior && first) {
        const uc_array arrays[] = {
            {"first", UC_ARRAY_U64, first, crowd->rows + 1},
            {"annotator", UC_ARRAY_U32, crowd->annotator, crowd->count},
            {"label", UC_ARRAY_U32, crowd->label, crowd->count},
            {"posterior", UC_ARRAY_F32, posterior, crowd->rows * crowd->classes.count},
        };
        status = uc_container_write_to(output, MAGIC, VERSION, header, arrays, 4);
    } else {
        status = uc_fail(UC_ERR_NOMEM, "not enough memory to write the state of a crowd");
    }
    json_decref(header);
    uc_free(posterior);
    uc_free(first);
    return status;
}

/* ---- reading ---- */

typedef struct state {
    const char *path;
    size_t rows, count;
    const uint64_t *first;
    const uint32_t *annotator, *label;
    const float *posterior;
} state;

static uc_status fail_damaged(const char *path, const char *what)
{
    return uc_fail(UC_ERR_FORMAT, "%s: damaged: %s", path, what);
}

static uc_status read_names(uc_names *out, const json_t *header, const char *key, const char *path)
{
    const json_t *list = json_object_get(header, key);
    if (!json_is_array(list))
        return fail_damaged(path, "names are missing");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *text = json_string_value(item);
        uint32_t index;
        if (!text || json_string_length(item) == 0 || !uc_is_name(text, json_string_length(item)))
            return fail_damaged(path, "a name is not one");
        const uc_status status = uc_names_add(&index, out, text, json_string_length(item));
        if (status != UC_OK)
            return status;
        if (index != i)
            return fail_damaged(path, "a name occurs twice");
    }
    return UC_OK;
}

static uc_status find_arrays(state *self, const uc_container *file, size_t classes)
{
    const json_t *rows = json_object_get(file->header, "rows");
    const json_t *count = json_object_get(file->header, "annotations");
    const json_int_t most = (json_int_t)UC_NONE - 1;
    if (!json_is_integer(rows) || !json_is_integer(count) || json_integer_value(rows) < 1 ||
        json_integer_value(count) < 1 || json_integer_value(rows) > most || json_integer_value(count) > most)
        return fail_damaged(self->path, "the numbers of rows and annotations are missing");
    self->rows = (size_t)json_integer_value(rows);
    self->count = (size_t)json_integer_value(count);
    uc_status status =
        uc_container_array((const void **)&self->first, file, "first", UC_ARRAY_U64, self->rows + 1);
    if (status == UC_OK)
        status =
            uc_container_array((const void **)&self->annotator, file, "annotator", UC_ARRAY_U32, self->count);
    if (status == UC_OK)
        status = uc_container_array((const void **)&self->label, file, "label", UC_ARRAY_U32, self->count);
    if (status == UC_OK)
        status = uc_container_array((const void **)&self->posterior, file, "posterior", UC_ARRAY_F32,
                                    self->rows * classes);
    return status;
}

static uc_status check_arrays(const state *self, size_t annotators, size_t classes)
{
    if (self->first[0] != 0 || self->first[self->rows] != self->count)
        return fail_damaged(self->path, "rows do not have all annotations");
    for (size_t i = 0; i < self->rows; i++)
        if (self->first[i] > self->first[i + 1] || self->first[i + 1] > self->count)
            return fail_damaged(self->path, "rows are out of order");
    for (size_t a = 0; a < self->count; a++)
        if (self->annotator[a] >= annotators || self->label[a] >= classes)
            return fail_damaged(self->path, "an annotation is of nobody, or of no class");
    for (size_t i = 0; i < self->rows; i++) {
        double sum = 0.0;
        for (size_t k = 0; k < classes; k++) {
            const float value = self->posterior[i * classes + k];
            sum += value >= 0.0f ? (double)value : NAN;
        }
        if (!(fabs(sum - 1.0) < 1e-3))
            return fail_damaged(self->path, "posteriors are no probabilities");
    }
    return UC_OK;
}

/* ---- adding to it ---- */

/* The annotations of the state and of `crowd` under common names, while the two are joined. */
typedef struct joined {
    uc_crowd crowd;
    uc_annotation_list list;
    uint32_t *row_of, *class_of, *annotator_of; /* positions in `crowd` of those of the state */
    uc_names classes, annotators, ids;          /* the state's */
} joined;

static void joined_free(joined *self)
{
    uc_crowd_free(&self->crowd);
    uc_annotation_list_free(&self->list);
    uc_free(self->row_of);
    uc_free(self->class_of);
    uc_free(self->annotator_of);
    uc_names_free(&self->classes);
    uc_names_free(&self->annotators);
    uc_names_free(&self->ids);
}

/* The union of both sets of names; positions[i] is the position of the state's name i. */
static uc_status join_names(uc_names *names, uint32_t **positions, const uc_names *added, const uc_names *old)
{
    uc_status status = uc_names_copy(names, added);
    *positions = uc_alloc(old->count, sizeof **positions);
    if (status == UC_OK && !*positions)
        status = UC_ERR_NOMEM;
    for (size_t i = 0; i < old->count && status == UC_OK; i++)
        status = uc_names_add(&(*positions)[i], names, old->text[i], strlen(old->text[i]));
    return status;
}

/* The union of the rows: by name or, if they have no names, by number. */
static uc_status join_rows(joined *self, const uc_crowd *added, const state *old)
{
    if ((self->ids.count == 0) != (added->ids.count == 0))
        return uc_fail(UC_ERR_INVALID, "%s is about %s rows; give it the same data as then", old->path,
                       self->ids.count ? "named" : "numbered");
    if (self->ids.count > 0) {
        if (self->ids.count != old->rows)
            return fail_damaged(old->path, "the names of rows are missing");
        return join_names(&self->crowd.ids, &self->row_of, &added->ids, &self->ids);
    }
    if (old->rows > added->rows)
        return uc_fail(UC_ERR_INVALID, "%s is about %zu rows, but the data have %zu", old->path, old->rows,
                       added->rows);
    self->row_of = uc_alloc(old->rows, sizeof *self->row_of);
    for (size_t i = 0; i < old->rows && self->row_of; i++)
        self->row_of[i] = (uint32_t)i;
    return self->row_of ? UC_OK : UC_ERR_NOMEM;
}

static uc_status list_both(joined *self, const uc_crowd *added, const state *old)
{
    uc_status status = UC_OK;
    for (size_t i = 0; i < old->rows && status == UC_OK; i++)
        for (size_t a = old->first[i]; a < old->first[i + 1] && status == UC_OK; a++)
            status =
                uc_annotation_list_add(&self->list, self->row_of[i], self->annotator_of[old->annotator[a]],
                                       self->class_of[old->label[a]], 0);
    for (size_t i = 0; i < added->rows && status == UC_OK; i++)
        for (size_t a = added->first[i]; a < added->first[i + 1] && status == UC_OK; a++)
            status =
                uc_annotation_list_add(&self->list, (uint32_t)i, added->annotator[a], added->label[a], 0);
    uc_free(self->list.line);
    self->list.line = NULL;
    return status;
}

/* Sorts a set of names, and renumbers both lists of positions accordingly. */
static uc_status sort_names(uc_names *names, uint32_t *a, size_t a_count, uint32_t *b, size_t b_count)
{
    uint32_t *renumber = uc_alloc(names->count, sizeof *renumber);
    const uc_status status = renumber ? uc_names_sort(names, renumber) : UC_ERR_NOMEM;
    for (size_t i = 0; i < a_count && status == UC_OK; i++)
        a[i] = renumber[a[i]];
    for (size_t i = 0; i < b_count && status == UC_OK; i++)
        b[i] = renumber[b[i]];
    uc_free(renumber);
    return status;
}

/* Rows without an earlier posterior begin with NaN. */
static uc_status make_start(uc_posteriors *start, const joined *self, const state *old)
{
    const size_t K = self->crowd.classes.count, before = self->classes.count;
    const uc_status status = uc_posterior_create(start, self->crowd.rows, K, K);
    for (size_t i = 0; i < self->crowd.rows && status == UC_OK; i++)
        start->values[i * K] = NAN;
    for (size_t i = 0; i < old->rows && status == UC_OK; i++) {
        double *row = start->values + self->row_of[i] * K;
        row[0] = 0.0;
        for (size_t k = 0; k < before; k++)
            row[self->class_of[k]] = (double)old->posterior[i * before + k];
    }
    return status;
}

static uc_status join(joined *self, uc_posteriors *start, const uc_crowd *added, const state *old,
                      const uc_context *context)
{
    uc_crowd *crowd = &self->crowd;
    uc_status status = join_rows(self, added, old);
    if (status != UC_OK)
        return status;
    if ((status = join_names(&crowd->classes, &self->class_of, &added->classes, &self->classes)) != UC_OK)
        return status;
    if (crowd->classes.count > added->classes.count && added->ids.count == 0)
        return uc_fail(UC_ERR_INVALID, "%s knows class '%s', which the data do not have", old->path,
                       crowd->classes.text[added->classes.count]);
    status = join_names(&crowd->annotators, &self->annotator_of, &added->annotators, &self->annotators);
    if (status == UC_OK)
        status = list_both(self, added, old);
    if (status == UC_OK)
        status = uc_names_sort_with(&crowd->annotators, self->list.annotator, self->list.count);
    if (status == UC_OK && added->ids.count > 0)
        status = sort_names(&crowd->classes, self->list.label, self->list.count, self->class_of,
                            self->classes.count);
    if (status == UC_OK && added->ids.count > 0)
        status = sort_names(&crowd->ids, self->list.row, self->list.count, self->row_of, old->rows);
    crowd->rows = crowd->ids.count ? crowd->ids.count : added->rows;
    if (status == UC_OK)
        status = uc_crowd_fill(crowd, &self->list, context);
    return status == UC_OK ? make_start(start, self, old) : status;
}

static uc_status open_state(joined *self, state *old, const uc_container *file)
{
    const json_t *kind = json_object_get(file->header, "kind");
    if (!json_is_string(kind) || strcmp(json_string_value(kind), "crowd") != 0)
        return fail_damaged(old->path, "it does not say that it is about a crowd");
    uc_status status = read_names(&self->classes, file->header, "classes", old->path);
    if (status == UC_OK)
        status = read_names(&self->annotators, file->header, "annotators", old->path);
    if (status == UC_OK)
        status = read_names(&self->ids, file->header, "ids", old->path);
    if (status == UC_OK)
        status = find_arrays(old, file, self->classes.count);
    return status == UC_OK ? check_arrays(old, self->annotators.count, self->classes.count) : status;
}

uc_status uc_crowd_state_add(uc_crowd *crowd, uc_posteriors *start, const char *path,
                             const uc_context *context)
{
    uc_bytes bytes = {0};
    uc_container file = {0};
    joined self = {0};
    state old = {.path = path};
    uc_status status = uc_bytes_read_kind(&bytes, path, MAGIC, strlen(MAGIC));
    if (status != UC_OK)
        return status;
    if ((status = uc_container_open(&file, bytes.data, bytes.length, MAGIC, VERSION, true, path)) != UC_OK)
        goto cleanup;
    if ((status = open_state(&self, &old, &file)) == UC_OK)
        status = join(&self, start, crowd, &old, context);
    uc_container_close(&file);
    if (status != UC_OK)
        goto cleanup;
    uc_crowd_free(crowd);
    *crowd = self.crowd;
    self.crowd = (uc_crowd){0};

cleanup:
    joined_free(&self);
    uc_bytes_free(&bytes);
    return status;
}
