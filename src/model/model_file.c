/*
 * The model file: a container (data/container.h) whose header describes the model and whose arrays are
 *
 *   classes           names, each ended by a zero byte          shift, factor   of --scale
 *   weights           (1 + dimension) x classes, no padding     map.*           see map_file.c
 *   noise             classes x classes                         state.*         see learn/state.h
 *                                                               view.*          see steps_file.c
 *                                                               table.*         see table_file.c
 *
 * It holds no time, path, host or thread count, so the same training gives the same bytes.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "map/map.h"
#include "model/model.h"
#include "model/model_file.h"

#define NEWEST_VERSION 2u /* version 2 adds views; a model without them is written as version 1 */
static const char magic[8] = {'\x89', 'U', 'C', 'M', 'O', 'D', 'E', 'L'};

#define MOST_CALIBRATIONS 1000

bool uc_model_recognise(const void *bytes, size_t length)
{
    return length >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

/* ---- writing ---- */

static json_t *header_of(const uc_model *self)
{
    json_t *calibrations = self->calibration ? json_integer((json_int_t)self->calibrations) : NULL;
    json_t *table = NULL;
    if (self->preprocessing.table) {
        table = uc_table_header(self->preprocessing.table);
        if (!table) { /* fail, so that the model is not written without its table */
            json_decref(calibrations);
            return NULL;
        }
    }
    return json_pack("{s:s, s:s, s:O, s:O, s:I, s:I, s:f, s:b, s:o*, s:o*, s:o, s:o, s:o*, s:O?}", "library",
                     uc_version(), "learner", self->learner, "settings", self->settings, "summary",
                     self->summary, "class_count", (json_int_t)self->classes.count, "features",
                     (json_int_t)self->features, "bias", self->bias, "probabilities",
                     (int)self->probabilities, "calibrations", calibrations, "table", table, "steps",
                     uc_steps_header(&self->preprocessing), "map", uc_map_header(self->preprocessing.map),
                     "views", uc_views_header(&self->preprocessing), "state", self->state.counters);
}

static char *joined_names(const uc_names *names, size_t *length)
{
    *length = 0;
    for (size_t k = 0; k < names->count; k++)
        *length += strlen(names->text[k]) + 1;
    char *joined = uc_alloc(*length, 1);
    char *end = joined;
    for (size_t k = 0; k < names->count && joined; k++)
        end = stpcpy(end, names->text[k]) + 1;
    return joined;
}

/* The weights without the padding of the classes. NULL: no memory. */
static double *packed(const double *weights, size_t dimension, size_t classes, size_t stride)
{
    double *dense = uc_alloc((dimension + 1) * classes, sizeof *dense);
    for (size_t j = 0; j <= dimension && dense; j++)
        memcpy(dense + j * classes, weights + j * stride, classes * sizeof *dense);
    return dense;
}

uc_status uc_model_write(const uc_model *self, uc_output *output)
{
    const size_t K = self->classes.count;
    for (size_t k = 0; k < K; k++)
        if (!uc_is_old_name(self->classes.text[k], strlen(self->classes.text[k])))
            return uc_fail(UC_ERR_INVALID, "the class '%s' has control characters: its model cannot be saved",
                           self->classes.text[k]);
    size_t filled = 0, names_length;
    const uc_table *table = self->preprocessing.table;
    char *class_names = joined_names(&self->classes, &names_length), *values = NULL;
    size_t values_length = 0;
    double *weights = packed(self->weights, self->dimension, K, self->stride);
    uc_array *arrays =
        uc_alloc(7 + UC_MAP_ARRAYS + UC_TABLE_ARRAYS + self->state.count + self->preprocessing.view_count,
                 sizeof *arrays);
    uc_view_bytes *views = NULL;
    json_t *header = header_of(self);
    uc_status status = UC_OK;
    if (!class_names || !weights || !arrays || !header) {
        status = uc_fail(UC_ERR_NOMEM, "not enough memory to save the model");
        goto cleanup;
    }
    status = uc_views_bytes(&views, &self->preprocessing);
    if (status != UC_OK)
        goto cleanup;
    arrays[filled++] = (uc_array){"classes", UC_ARRAY_U8, class_names, names_length};
    arrays[filled++] = (uc_array){"weights", UC_ARRAY_F64, weights, (self->dimension + 1) * K};
    for (size_t i = 0; i < self->state.count; i++)
        arrays[filled++] = self->state.arrays[i];
    if (self->noise)
        arrays[filled++] = (uc_array){"noise", UC_ARRAY_F64, self->noise, K * K};
    if (self->calibration)
        arrays[filled++] = (uc_array){"calibration", UC_ARRAY_F64, self->calibration, 3 * self->calibrations};
    filled += uc_map_arrays(arrays + filled, self->preprocessing.map);
    if (table) {
        status = uc_table_values(&values, &values_length, table);
        if (status != UC_OK)
            goto cleanup;
        filled += uc_table_arrays(arrays + filled, table, values, values_length);
    }
    if (self->preprocessing.shift)
        arrays[filled++] = (uc_array){"shift", UC_ARRAY_F64, self->preprocessing.shift, self->features};
    if (self->preprocessing.factor)
        arrays[filled++] = (uc_array){"factor", UC_ARRAY_F64, self->preprocessing.factor, self->features};
    if (self->preprocessing.bend)
        arrays[filled++] = (uc_array){"bend", UC_ARRAY_F64, self->preprocessing.bend, self->features};
    filled += uc_views_arrays(arrays + filled, views, self->preprocessing.view_count);
    status = uc_container_write_to(output, magic, self->preprocessing.views ? NEWEST_VERSION : 1u, header,
                                   arrays, filled);

cleanup:
    uc_views_bytes_free(views, self->preprocessing.view_count);
    json_decref(header);
    uc_free(arrays);
    uc_free(values);
    uc_free(weights);
    uc_free(class_names);
    return status;
}

uc_status uc_model_save(const uc_model *self, const char *path)
{
    uc_output *output = NULL;
    const uc_status status = uc_output_open(&output, path);
    if (status != UC_OK)
        return status;
    return uc_output_end(output, uc_model_write(self, output), true);
}

uc_status uc_model_save_memory(void **bytes, size_t *length, const uc_model *self)
{
    uc_output *output = NULL;
    uc_status status = uc_output_open_memory(&output);
    if (status != UC_OK)
        return status;
    status = uc_model_write(self, output);
    if (status == UC_OK)
        uc_output_take(bytes, length, output);
    else
        uc_output_abort(output);
    return status;
}

/* ---- reading ---- */

static uc_status damaged(const uc_container *file, const char *what)
{
    return uc_fail(UC_ERR_FORMAT, "%s: damaged: %s", file->source, what);
}

static uc_status read_names(uc_names *out, const uc_container *file, size_t count)
{
    const json_t *list = json_object_get(file->header, "arrays");
    const json_int_t length = json_integer_value(json_array_get(json_array_get(list, 0), 2));
    const void *data;
    if (length < (json_int_t)count)
        return damaged(file, "its class names are missing");
    uc_status status = uc_container_array(&data, file, "classes", UC_ARRAY_U8, (size_t)length);
    if (status != UC_OK)
        return status;
    const char *name = data, *end = name + length;
    for (; name < end && status == UC_OK;) {
        const size_t size = strnlen(name, (size_t)(end - name));
        uint32_t index;
        if (name + size == end)
            return damaged(file, "a class name does not end");
        if (!uc_is_old_name(name, size))
            return damaged(file, "a class name has control characters");
        status = uc_names_add(&index, out, name, size);
        name += size + 1;
    }
    if (status == UC_OK && out->count != count)
        return damaged(file, "it does not have as many class names as it says");
    return status;
}

static uc_status read_weights(double **out, const uc_container *file, const char *name, size_t dimension,
                              size_t classes)
{
    const void *data;
    const size_t stride = uc_class_stride(classes), count = (dimension + 1) * classes;
    uc_status status = uc_container_array(&data, file, name, UC_ARRAY_F64, count);
    if (status == UC_OK)
        status = uc_container_check_finite(file, name, data, count);
    if (status != UC_OK)
        return status;
    if (!*out && !(*out = uc_alloc((dimension + 1) * stride, sizeof **out)))
        return UC_ERR_NOMEM;
    for (size_t j = 0; j <= dimension; j++)
        memcpy(*out + j * stride, (const double *)data + j * classes, classes * sizeof **out);
    return UC_OK;
}

/* Only the learner knows what the arrays must be; it checks them when it resumes. */
static uc_status read_state(uc_model *self, const uc_container *file)
{
    static const char prefix[] = "state.";
    json_t *counters = json_object_get(file->header, "state");
    uc_array array;
    uc_status status = UC_OK;
    if (!json_is_object(counters))
        return UC_OK;
    self->state.counters = json_incref(counters);
    for (size_t i = 0; (status = uc_container_array_at(&array, file, i)) == UC_OK && array.name; i++) {
        if (strncmp(array.name, prefix, sizeof prefix - 1) != 0)
            continue;
        if (array.type == UC_ARRAY_F64)
            status = uc_container_check_finite(file, array.name, array.data, array.count);
        if (status == UC_OK)
            status = uc_model_state_add(&self->state, array);
        if (status != UC_OK)
            return status;
    }
    return status;
}

static uc_status check_dimensions(const uc_model *self, const uc_container *file)
{
    if (uc_preprocessing_dimension(&self->preprocessing, self->features) != self->dimension)
        return damaged(file, "its weights do not fit its map");
    if (!self->preprocessing.map)
        return UC_OK;
    /* Landmarks from a stream may lack columns that arrived later. */
    const uc_map_kind kind = self->preprocessing.map->kind;
    const bool arrived = kind == UC_MAP_LANDMARKS || kind == UC_MAP_LEARNED;
    const size_t cols = self->preprocessing.map->landmarks.cols;
    if (cols > self->features || (cols < self->features && !arrived))
        return uc_fail(UC_ERR_FORMAT, "%s: damaged: its map has %zu columns, and the model %zu features",
                       file->source, cols, self->features);
    return UC_OK;
}

/* Reads the calibration, for probabilities that are not the softmax of the scores. It has parts of three
 * numbers each, whose weights are shares. */
static uc_status read_calibration(uc_model *self, const uc_container *file)
{
    const json_int_t parts = json_integer_value(json_object_get(file->header, "calibrations"));
    double *numbers = NULL;
    if (parts <= 0)
        return UC_OK;
    if (parts > MOST_CALIBRATIONS)
        return damaged(file, "its calibration has too many parts");
    const uc_status status = uc_container_reals(&numbers, file, "calibration", 3 * (size_t)parts);
    if (status != UC_OK)
        return status;
    self->calibration = (uc_calibration *)(void *)numbers;
    self->calibrations = (size_t)parts;
    double total = 0.0;
    for (size_t i = 0; i < self->calibrations; i++) {
        const uc_calibration *part = &self->calibration[i];
        total += part->weight;
        if (part->weight < 0.0 || part->a1 <= 0.0 || part->a2 < 0.0)
            return damaged(file, "its calibration is not one");
    }
    return fabs(total - 1.0) < 1e-6 ? UC_OK : damaged(file, "the shares of its calibration do not sum to 1");
}

static uc_status adopt(uc_model *self, const uc_container *file)
{
    json_t *settings = json_object_get(file->header, "settings"),
           *summary = json_object_get(file->header, "summary");
    if (!json_is_object(settings) || !json_is_object(summary))
        return damaged(file, "its header has no settings or no summary");
    json_decref(self->settings);
    json_decref(self->summary);
    self->settings = json_incref(settings);
    self->summary = json_incref(summary);
    self->probabilities = json_is_true(json_object_get(file->header, "probabilities"));
    self->bias = json_number_value(json_object_get(file->header, "bias"));
    self->format_version = file->version;
    self->checksum = uc_container_checksum(file);
    if (!isfinite(self->bias))
        return damaged(file, "its bias is not finite");
    uc_status status = uc_steps_read(&self->preprocessing, file, self->features);
    if (status == UC_OK)
        status = uc_views_read(&self->preprocessing, file, self->features);
    if (status == UC_OK)
        status = uc_table_read(&self->preprocessing.table, file, self->features);
    if (status == UC_OK)
        status = read_weights(&self->weights, file, "weights", self->dimension, self->classes.count);
    if (status == UC_OK)
        status = uc_container_reals(&self->noise, file, "noise", self->classes.count * self->classes.count);
    if (status != UC_OK)
        return status;
    status = read_calibration(self, file);
    if (status == UC_OK)
        status = check_dimensions(self, file);
    if (status != UC_OK)
        return status;
    return read_state(self, file);
}

/* Shapes are checked against the file's length before anything of their size is allocated. */
static uc_status read_model(uc_model **out, const uc_container *file)
{
    const json_int_t classes = json_integer_value(json_object_get(file->header, "class_count"));
    const json_int_t features = json_integer_value(json_object_get(file->header, "features"));
    const json_t *map = json_object_get(file->header, "map"); /* an object, or the word "none" */
    json_int_t dimension = features;
    const json_t *views = json_object_get(file->header, "views"); /* an object, or missing */
    if (json_is_object(map))
        dimension = json_integer_value(json_object_get(map, "dimension"));
    if (json_is_object(views))
        dimension = json_integer_value(json_object_get(views, "dimension"));
    const char *learner = json_string_value(json_object_get(file->header, "learner"));
    const json_int_t most = (json_int_t)(file->length / sizeof(double));
    if (!learner || !uc_is_name(learner, strlen(learner)) || classes < 1 || features < 0 ||
        features > INT32_MAX || dimension < 0 || classes > most || dimension >= most / classes)
        return damaged(file, "its header does not fit its length");
    uc_names names = {0};
    uc_model *self = NULL;
    uc_status status = read_names(&names, file, (size_t)classes);
    if (status == UC_OK)
        status = uc_model_create(&self, &names, (size_t)features, (size_t)dimension, learner);
    if (status == UC_OK)
        status = adopt(self, file);
    uc_names_free(&names);
    if (status == UC_OK)
        *out = self;
    else
        uc_model_free(self);
    return status;
}

uc_status uc_model_load_memory(uc_model **out, const void *bytes, size_t length, const char *source)
{
    if (!uc_model_recognise(bytes, length))
        return uc_fail(UC_ERR_FORMAT, "%s: not a model file of unconfuse", source);
    uc_container file;
    uc_status status = uc_container_open(&file, bytes, length, magic, NEWEST_VERSION, true, source);
    if (status != UC_OK)
        return status;
    status = read_model(out, &file);
    uc_container_close(&file);
    return status;
}

uc_status uc_model_load(uc_model **out, const char *path)
{
    uc_bytes bytes;
    uc_status status = uc_bytes_read_kind(&bytes, path, magic, sizeof magic);
    if (status != UC_OK)
        return status;
    status =
        uc_model_load_memory(out, bytes.data, bytes.length, strcmp(path, "-") == 0 ? "standard input" : path);
    uc_bytes_free(&bytes);
    return status;
}
