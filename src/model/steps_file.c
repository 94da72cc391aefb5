/* The part of the model file for preprocessing: the header member "steps", the arrays shift, factor and bend,
 * and, if there are views, an array view.N for each, which is a container with steps and a map of its own. */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "map/map.h"
#include "model/model.h"
#include "model/model_file.h"

#define NEWEST_VERSION 1u
#define MOST_VIEWS 1000
static const char magic[8] = {'\x89', 'U', 'C', 'V', 'I', 'E', 'W', '\n'};

static const char *const scalings[] = {"none",    "range", "standard", "maxabs",
                                       "numbers", "auto",  "terms",    "relevance"};

const char *uc_scaling_word(int scaling)
{
    return scalings[scaling];
}

static uc_status damaged(const uc_container *file, const char *what)
{
    return uc_fail(UC_ERR_FORMAT, "%s: damaged: %s", file->source, what);
}

/* ---- arrays ---- */

uc_status uc_container_check_finite(const uc_container *file, const char *name, const double *values,
                                    size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return uc_fail(UC_ERR_FORMAT, "%s: damaged: array '%s' holds a value that is not finite",
                           file->source, name);
    return UC_OK;
}

uc_status uc_container_reals(double **out, const uc_container *file, const char *name, size_t count)
{
    const void *data;
    if (!uc_container_has(file, name))
        return UC_OK;
    uc_status status = uc_container_array(&data, file, name, UC_ARRAY_F64, count);
    if (status == UC_OK)
        status = uc_container_check_finite(file, name, data, count);
    if (status != UC_OK)
        return status;
    *out = uc_alloc(count, sizeof **out);
    if (!*out)
        return UC_ERR_NOMEM;
    memcpy(*out, data, count * sizeof **out);
    return UC_OK;
}

/* ---- steps ---- */

json_t *uc_steps_header(const uc_preprocessing *self)
{
    json_t *root = self->root ? json_true() : NULL; /* older files do not have this member */
    return json_pack("{s:s, s:b, s:b, s:o*}", "scale", scalings[self->scaling], "normalize_input",
                     (int)self->normalize_input, "normalize", (int)self->normalize, "root", root);
}

uc_status uc_steps_read(uc_preprocessing *out, const uc_container *file, size_t features)
{
    const char *scale = NULL;
    int normalize_input = 0, normalize = 0, root = 0;
    json_error_t error;
    if (json_unpack_ex(file->header, &error, 0, "{s:{s:s, s:b, s:b, s?b}}", "steps", "scale", &scale,
                       "normalize_input", &normalize_input, "normalize", &normalize, "root", &root) != 0) {
        if (json_error_code(&error) == json_error_out_of_memory)
            return uc_fail(UC_ERR_NOMEM, "%s: not enough memory for the header", file->source);
        return damaged(file, "its header does not say how rows are prepared");
    }
    size_t scaling = 0;
    while (scaling < sizeof scalings / sizeof *scalings && strcmp(scale, scalings[scaling]) != 0)
        scaling++;
    if (scaling == sizeof scalings / sizeof *scalings || scaling == UC_SCALE_AUTO)
        return damaged(file, "its header names an unknown scaling");
    *out = (uc_preprocessing){.scaling = (uc_scaling)scaling,
                              .cols = features,
                              .root = root,
                              .normalize_input = normalize_input,
                              .normalize = normalize};
    uc_status status = uc_container_reals(&out->shift, file, "shift", features);
    if (status == UC_OK)
        status = uc_container_reals(&out->factor, file, "factor", features);
    const bool needs_factor = scaling != UC_SCALE_NONE;
    if (status == UC_OK)
        status = uc_container_reals(&out->bend, file, "bend", features);
    const bool needs_bend = scaling == UC_SCALE_RELEVANCE;
    const bool needs_shift = scaling == UC_SCALE_RANGE || scaling == UC_SCALE_STANDARD ||
                             scaling == UC_SCALE_NUMBERS ||
                             (needs_bend && out->shift); /* sparse rows have no shift */
    if (status == UC_OK)
        status = uc_map_read(&out->map, file);
    if (status == UC_OK && (needs_factor != (out->factor != NULL) || needs_shift != (out->shift != NULL) ||
                            needs_bend != (out->bend != NULL)))
        status = damaged(file, "its scaling is incomplete");
    return status;
}

/* ---- views ---- */

json_t *uc_views_header(const uc_preprocessing *self)
{
    if (!self->views)
        return NULL;
    return json_pack("{s:I, s:I}", "count", (json_int_t)self->view_count, "dimension",
                     (json_int_t)uc_preprocessing_dimension(self, self->cols));
}

static uc_status write_view(uc_view_bytes *out, const uc_preprocessing *view)
{
    uc_array arrays[UC_MAP_ARRAYS + 2];
    size_t count = uc_map_arrays(arrays, view->map);
    if (view->shift)
        arrays[count++] = (uc_array){"shift", UC_ARRAY_F64, view->shift, view->cols};
    if (view->factor)
        arrays[count++] = (uc_array){"factor", UC_ARRAY_F64, view->factor, view->cols};
    json_t *header = json_pack("{s:o, s:o}", "steps", uc_steps_header(view), "map", uc_map_header(view->map));
    if (!header)
        return uc_fail(UC_ERR_NOMEM, "not enough memory to save the model");
    const uc_status status =
        uc_container_write_memory(&out->bytes, &out->length, magic, NEWEST_VERSION, header, arrays, count);
    json_decref(header);
    return status;
}

uc_status uc_views_bytes(uc_view_bytes **out, const uc_preprocessing *self)
{
    *out = NULL;
    if (!self->views)
        return UC_OK;
    uc_view_bytes *views = uc_alloc(self->view_count, sizeof *views);
    uc_status status = views ? UC_OK : UC_ERR_NOMEM;
    for (size_t v = 0; v < self->view_count && status == UC_OK; v++) {
        snprintf(views[v].name, sizeof views[v].name, "view.%zu", v);
        status = write_view(&views[v], &self->views[v]);
    }
    if (status == UC_OK)
        *out = views;
    else
        uc_views_bytes_free(views, self->view_count);
    return status;
}

size_t uc_views_arrays(uc_array *arrays, const uc_view_bytes *views, size_t count)
{
    if (!views)
        return 0;
    for (size_t v = 0; v < count; v++)
        arrays[v] = (uc_array){views[v].name, UC_ARRAY_U8, views[v].bytes, views[v].length};
    return count;
}

void uc_views_bytes_free(uc_view_bytes *views, size_t count)
{
    for (size_t v = 0; v < count && views; v++)
        uc_free(views[v].bytes);
    uc_free(views);
}

static uc_status find_view(uc_array *out, const uc_container *file, size_t v)
{
    char name[32];
    uc_status status;
    snprintf(name, sizeof name, "view.%zu", v);
    for (size_t i = 0; (status = uc_container_array_at(out, file, i)) == UC_OK && out->name; i++)
        if (strcmp(out->name, name) == 0 && out->type == UC_ARRAY_U8)
            return UC_OK;
    return status == UC_OK ? damaged(file, "a view is missing") : status;
}

static uc_status read_view(uc_preprocessing *out, const uc_container *file, size_t v, size_t features)
{
    uc_array array;
    uc_container own;
    uc_status status = find_view(&array, file, v);
    if (status == UC_OK)
        status = uc_container_open(&own, array.data, array.count, magic, NEWEST_VERSION, true, file->source);
    if (status != UC_OK)
        return status;
    status = uc_steps_read(out, &own, features);
    if (status == UC_OK && (!out->map || out->map->landmarks.cols != features))
        status = damaged(file, "a view does not fit its features");
    uc_container_close(&own);
    return status;
}

uc_status uc_views_read(uc_preprocessing *out, const uc_container *file, size_t features)
{
    const json_t *header = json_object_get(file->header, "views");
    const json_int_t count = json_integer_value(json_object_get(header, "count"));
    uc_status status = UC_OK;
    if (!json_is_object(header))
        return UC_OK;
    if (count < 1 || count > MOST_VIEWS || out->map)
        return damaged(file, "its views do not make sense");
    out->views = uc_alloc((size_t)count, sizeof *out->views);
    out->view_count = (size_t)count;
    if (!out->views)
        return UC_ERR_NOMEM;
    for (size_t v = 0; v < out->view_count && status == UC_OK; v++)
        status = read_view(&out->views[v], file, v, features);
    return status;
}
