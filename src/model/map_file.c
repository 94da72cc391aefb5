/* The part of the model file for a map: the header member "map", and the arrays map.values, map.offsets,
 * map.columns (the landmarks), map.projection, map.shift, map.eigenvalues and, for a learned map,
 * map.input_shift and map.input_factor. A map on its own is saved as a container with only these. */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "map/map.h"
#include "model/model_file.h"
#include "unconfuse/model.h"

#define NEWEST_VERSION 1u
static const char magic[8] = {'\x89', 'U', 'C', 'M', 'A', 'P', '\r', '\n'};

static const char *const kinds[] = {"none", "kpca",      "kgs",  "random",  "nystroem",
                                    "jl",   "landmarks", "auto", "default", "learned"};
static const char *const kernels[] = {"linear", "gaussian", "polynomial"};

const char *uc_map_kind_word(uc_map_kind kind)
{
    return kinds[kind];
}

const char *uc_kernel_word(uc_kernel kernel)
{
    return kernels[kernel];
}

json_t *uc_map_header(const uc_map *map)
{
    if (!map)
        return json_string("none");
    json_t *input = NULL;
    if (map->kind == UC_MAP_LEARNED)
        input = json_pack("{s:b, s:b}", "unit", (int)map->input.unit, "kept", (int)map->input.kept);
    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:I, s:I, s:I, s:b, s:o*}", "kind", kinds[map->kind],
                     "kernel", kernels[map->kernel], "width", map->width, "degree", map->degree,
                     "coefficient", map->coefficient, "landmarks", (json_int_t)map->landmarks.rows, "columns",
                     (json_int_t)map->landmarks.cols, "dimension", (json_int_t)map->dimension, "sparse",
                     (int)uc_matrix_is_sparse(&map->landmarks), "input", input);
}

size_t uc_map_arrays(uc_array arrays[UC_MAP_ARRAYS], const uc_map *map)
{
    size_t filled = 0;
    if (!map)
        return 0;
    const uc_matrix *L = &map->landmarks;
    if (uc_matrix_is_sparse(L)) {
        const size_t entries = uc_matrix_entries(L);
        arrays[filled++] = (uc_array){"map.offsets", UC_ARRAY_U64, L->offsets, L->rows + 1};
        arrays[filled++] = (uc_array){"map.columns", UC_ARRAY_U32, L->columns, entries};
        arrays[filled++] = (uc_array){"map.values", UC_ARRAY_F32, L->values, entries};
    } else {
        arrays[filled++] = (uc_array){"map.values", UC_ARRAY_F32, L->values, L->rows * L->stride};
    }
    if (map->projection)
        arrays[filled++] =
            (uc_array){"map.projection", UC_ARRAY_F64, map->projection, L->rows * map->dimension};
    if (map->shift)
        arrays[filled++] = (uc_array){"map.shift", UC_ARRAY_F64, map->shift, map->dimension};
    if (map->eigenvalues)
        arrays[filled++] = (uc_array){"map.eigenvalues", UC_ARRAY_F64, map->eigenvalues, map->dimension};
    if (map->input.factor) {
        arrays[filled++] = (uc_array){"map.input_shift", UC_ARRAY_F64, map->input.shift, L->cols};
        arrays[filled++] = (uc_array){"map.input_factor", UC_ARRAY_F64, map->input.factor, L->cols};
    }
    if (map->input.turn)
        arrays[filled++] = (uc_array){"map.input_turn", UC_ARRAY_F64, map->input.turn, L->cols * L->cols};
    return filled;
}

static uc_status damaged(const uc_container *file)
{
    return uc_fail(UC_ERR_FORMAT, "%s: damaged: its map does not make sense", file->source);
}

static bool find_word(int *out, const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = (int)i;
            return true;
        }
    return false;
}

static uc_status check_sparse(const uc_matrix *L, size_t entries, const uc_container *file)
{
    for (size_t i = 0; i < L->rows; i++)
        if (L->offsets[i] > L->offsets[i + 1])
            return damaged(file);
    if (L->offsets[0] != 0 || L->offsets[L->rows] != entries)
        return damaged(file);
    for (size_t i = 0; i < L->rows; i++) {
        const uc_row row = uc_matrix_row(L, i);
        for (size_t j = 0; j < row.count; j++)
            if (row.columns[j] >= L->cols || (j > 0 && row.columns[j] <= row.columns[j - 1]))
                return damaged(file);
    }
    return UC_OK;
}

/* uc_container_array checks the shapes against the length of the file before anything is allocated. */
static uc_status read_landmarks(uc_matrix *out, const uc_container *file, size_t rows, size_t cols,
                                bool sparse)
{
    const void *offsets, *columns, *values;
    size_t entries;
    uc_status status = UC_OK;
    if (!uc_size_mul(&entries, rows, uc_matrix_stride(cols)))
        return damaged(file);
    if (sparse) {
        status = uc_container_array(&offsets, file, "map.offsets", UC_ARRAY_U64, rows + 1);
        if (status == UC_OK) {
            const uint64_t last = ((const uint64_t *)offsets)[rows];
            if (last > file->length)
                return damaged(file);
            entries = (size_t)last;
            status = uc_container_array(&columns, file, "map.columns", UC_ARRAY_U32, entries);
        }
    }
    if (status == UC_OK)
        status = uc_container_array(&values, file, "map.values", UC_ARRAY_F32, entries);
    if (status != UC_OK)
        return status;
    if (sparse)
        status = uc_matrix_create_sparse(out, rows, cols, entries);
    else
        status = uc_matrix_create_dense(out, rows, cols);
    if (status != UC_OK)
        return status;
    memcpy(out->values, values, entries * sizeof *out->values);
    for (size_t i = 0; i < entries; i++)
        if (!isfinite(out->values[i]))
            return damaged(file);
    if (!sparse)
        return UC_OK;
    memcpy(out->offsets, offsets, (rows + 1) * sizeof *out->offsets);
    memcpy(out->columns, columns, entries * sizeof *out->columns);
    return check_sparse(out, entries, file);
}

static uc_status read_reals(double **out, const uc_container *file, const char *name, size_t count)
{
    const void *data;
    if (!uc_container_has(file, name))
        return UC_OK;
    const uc_status status = uc_container_array(&data, file, name, UC_ARRAY_F64, count);
    if (status != UC_OK)
        return status;
    *out = uc_alloc(count, sizeof **out);
    if (!*out)
        return UC_ERR_NOMEM;
    memcpy(*out, data, count * sizeof **out);
    for (size_t i = 0; i < count; i++)
        if (!isfinite((*out)[i]))
            return damaged(file);
    return UC_OK;
}

static uc_status read_arrays(uc_map *map, const uc_container *file, size_t landmarks, size_t cols,
                             bool sparse)
{
    uc_status status = read_landmarks(&map->landmarks, file, landmarks, cols, sparse);
    if (status == UC_OK)
        status = read_reals(&map->projection, file, "map.projection", landmarks * map->dimension);
    if (status == UC_OK)
        status = read_reals(&map->shift, file, "map.shift", map->dimension);
    if (status == UC_OK)
        status = read_reals(&map->eigenvalues, file, "map.eigenvalues", map->dimension);
    if (status == UC_OK && map->kind == UC_MAP_LEARNED)
        status = read_reals(&map->input.shift, file, "map.input_shift", cols);
    if (status == UC_OK && map->kind == UC_MAP_LEARNED)
        status = read_reals(&map->input.factor, file, "map.input_factor", cols);
    if (status == UC_OK && map->kind == UC_MAP_LEARNED)
        status = read_reals(&map->input.turn, file, "map.input_turn", cols * cols);
    if (status != UC_OK)
        return status;
    return uc_map_measure_landmarks(map);
}

/* The fields of a map's header. */
typedef struct map_shape {
    int kind, kernel, sparse;
    double width, degree, coefficient;
    json_int_t landmarks, cols, dimension;
} map_shape;

static bool is_sound(const map_shape *self, const uc_container *file)
{
    const json_int_t most = (json_int_t)file->length;
    if (!isfinite(self->width) || !isfinite(self->coefficient))
        return false;
    if (self->kernel == UC_KERNEL_GAUSSIAN && !(self->width > 0.0))
        return false;
    if (!(self->degree >= 0.0 && self->degree <= 100.0 && self->degree == floor(self->degree)))
        return false;
    if (self->landmarks < 0 || self->landmarks > most || self->cols < 0 || self->cols > INT32_MAX)
        return false;
    if (self->dimension < 1 || self->dimension > most)
        return false;
    return !uc_container_has(file, "map.projection") || self->landmarks == 0 ||
           self->dimension <= most / self->landmarks;
}

static uc_status read_shape(map_shape *out, const json_t *header, const uc_container *file)
{
    const char *kind, *kernel;
    json_error_t error;
    if (json_unpack_ex((json_t *)header, &error, 0, "{s:s, s:s, s:F, s:F, s:F, s:I, s:I, s:I, s:b}", "kind",
                       &kind, "kernel", &kernel, "width", &out->width, "degree", &out->degree, "coefficient",
                       &out->coefficient, "landmarks", &out->landmarks, "columns", &out->cols, "dimension",
                       &out->dimension, "sparse", &out->sparse) != 0) {
        if (json_error_code(&error) == json_error_out_of_memory)
            return uc_fail(UC_ERR_NOMEM, "%s: not enough memory for the header", file->source);
        return damaged(file);
    }
    if (!find_word(&out->kind, kind, kinds, sizeof kinds / sizeof *kinds) ||
        !find_word(&out->kernel, kernel, kernels, sizeof kernels / sizeof *kernels) || !is_sound(out, file))
        return damaged(file);
    return UC_OK;
}

/* Whether this is a valid learned map: it has dense landmarks, gives kernel values and perhaps the row, and
 * has nothing else. */
static bool is_learned(const uc_map *map, const map_shape *shape)
{
    const size_t kept = map->input.kept ? (size_t)shape->cols : 0;
    return !shape->sparse && !map->projection && !map->shift && map->kernel == UC_KERNEL_GAUSSIAN &&
           map->dimension == (size_t)shape->landmarks + kept &&
           (map->input.shift != NULL) == (map->input.factor != NULL) &&
           (map->input.factor != NULL || !map->input.turn);
}

static bool fits_its_kind(const uc_map *map, const map_shape *shape)
{
    if (map->kind == UC_MAP_LEARNED)
        return is_learned(map, shape);
    if (map->kind == UC_MAP_NONE || map->kind == UC_MAP_AUTO || map->kind == UC_MAP_DEFAULT)
        return false;
    return map->projection || (map->kind == UC_MAP_LANDMARKS && shape->landmarks <= shape->dimension);
}

uc_status uc_map_read(uc_map **out, const uc_container *file)
{
    const json_t *header = json_object_get(file->header, "map");
    if (json_is_string(header) && strcmp(json_string_value(header), "none") == 0) {
        *out = NULL;
        return UC_OK;
    }
    map_shape shape;
    uc_status status = read_shape(&shape, header, file);
    if (status != UC_OK)
        return status;
    uc_map *map = uc_alloc(1, sizeof *map);
    if (!map)
        return UC_ERR_NOMEM;
    *map = (uc_map){.kind = (uc_map_kind)shape.kind,
                    .kernel = (uc_kernel)shape.kernel,
                    .width = shape.width,
                    .degree = shape.degree,
                    .coefficient = shape.coefficient,
                    .dimension = (size_t)shape.dimension};
    const json_t *input = json_object_get(header, "input");
    map->input.unit = json_is_true(json_object_get(input, "unit"));
    map->input.kept = json_is_true(json_object_get(input, "kept"));
    status = read_arrays(map, file, (size_t)shape.landmarks, (size_t)shape.cols, shape.sparse != 0);
    if (status == UC_OK && !fits_its_kind(map, &shape))
        status = damaged(file);
    if (status == UC_OK)
        *out = map;
    else
        uc_map_free(map);
    return status;
}

/* ---- a map on its own ---- */

uc_status uc_map_save_memory(void **bytes, size_t *length, const uc_map *self)
{
    uc_array arrays[UC_MAP_ARRAYS];
    const size_t count = uc_map_arrays(arrays, self);
    json_t *header = json_pack("{s:s, s:o}", "library", uc_version(), "map", uc_map_header(self));
    if (!header)
        return uc_fail(UC_ERR_NOMEM, "not enough memory to save the map");
    const uc_status status =
        uc_container_write_memory(bytes, length, magic, NEWEST_VERSION, header, arrays, count);
    json_decref(header);
    return status;
}

uc_status uc_map_load_memory(uc_map **out, const void *bytes, size_t length, const char *source)
{
    uc_container file;
    uc_map *map = NULL;
    uc_status status = uc_container_open(&file, bytes, length, magic, NEWEST_VERSION, true, source);
    if (status != UC_OK)
        return status;
    status = uc_map_read(&map, &file);
    if (status == UC_OK && !map)
        status = damaged(&file);
    uc_container_close(&file);
    if (status == UC_OK)
        *out = map;
    return status;
}
