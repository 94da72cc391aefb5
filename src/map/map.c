/* Feature maps of all kinds: options, shared functions, copies. fit.c learns them. */
#include "map/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/exchange.h"
#include "linalg/linalg.h"
#include "map/kernel.h"
#include "unconfuse/random.h"

#define SEQUENCE_ROWS UINT64_C(0x6d61702d72) /* "map-r" */
#define LARGEST_COUNT 1e9

#define FIELD(name) offsetof(uc_map_settings, name)

const uc_option uc_map_options[] = {
    {.name = "map",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(map),
     .standard = "default",
     .choices = "none|kpca|kgs|random|nystroem|jl|landmarks|auto|default",
     .help = "feature map: learn on finitely many features of a kernel instead of the columns (auto: chosen "
             "by leave-one-out, with scale and width; default: kgs for rp, auto for auto, none for others)"},
    {.name = "kernel",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(kernel),
     .standard = "gaussian",
     .choices = "linear|gaussian|polynomial",
     .help = "<x,y>, exp(-||x-y||^2 / width), or (<x,y> + coefficient)^degree"},
    {.name = "width",
     .type = UC_OPTION_REAL,
     .automatic = true,
     .offset = FIELD(width),
     .standard = "median",
     .low = 1e-300,
     .high = 1e300,
     .zero = "median",
     .argument = "W",
     .help = "width of the gaussian kernel; median: the median squared distance of 1,000 pairs; auto: by "
             "cross-validation"},
    {.name = "gamma",
     .letter = 'g',
     .type = UC_OPTION_REAL,
     .automatic = true,
     .offset = FIELD(gamma),
     .standard = "auto",
     .low = 1e-300,
     .high = 1e300,
     .argument = "G",
     .help = "1/width of the gaussian kernel, instead of {width}; auto: {width} decides"},
    {.name = "degree",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(degree),
     .standard = "3",
     .low = 1,
     .high = 100,
     .help = "degree of the polynomial kernel"},
    {.name = "coefficient",
     .type = UC_OPTION_REAL,
     .offset = FIELD(coefficient),
     .standard = "1",
     .high = 1e300,
     .help = "constant term of the polynomial kernel"},
    {.name = "dimension",
     .type = UC_OPTION_COUNT,
     .automatic = true,
     .offset = FIELD(dimension),
     .standard = "auto",
     .low = 1,
     .high = LARGEST_COUNT,
     .argument = "D",
     .help = "number of features that the map makes"},
    {.name = "center",
     .type = UC_OPTION_FLAG,
     .offset = FIELD(center),
     .standard = "off",
     .help = "kpca: centre the kernel first"},
    {.name = "pick",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(pick),
     .standard = "uniform",
     .choices = "uniform|kmeans",
     .help = "nystroem: which landmarks to take: random rows, or the centres of clusters"},
    {0},
};

uc_map_settings uc_map_defaults(void)
{
    uc_map_settings settings = {0};
    uc_options_defaults(uc_map_options, &settings);
    return settings;
}

void uc_map_input_free(uc_map_input *self)
{
    uc_free(self->shift);
    uc_free(self->factor);
    uc_free(self->turn);
    *self = (uc_map_input){0};
}

void uc_map_free(uc_map *self)
{
    if (!self)
        return;
    uc_matrix_free(&self->landmarks);
    uc_free(self->norm2);
    uc_free(self->projection);
    uc_free(self->shift);
    uc_free(self->eigenvalues);
    uc_map_input_free(&self->input);
    uc_free(self);
}

double uc_map_width(const uc_map *self)
{
    return self->width;
}

size_t uc_map_dimension(const uc_map *self)
{
    return self->dimension;
}

size_t uc_map_landmarks(const uc_map *self)
{
    return self->landmarks.rows;
}

/* ---- shared by all kinds ---- */

uc_status uc_map_measure_landmarks(uc_map *self)
{
    self->norm2 = uc_alloc(self->landmarks.rows, sizeof *self->norm2);
    if (!self->norm2)
        return UC_ERR_NOMEM;
    for (size_t l = 0; l < self->landmarks.rows; l++)
        self->norm2[l] = uc_landmark_norm2(&self->landmarks, uc_matrix_row(&self->landmarks, l));
    return UC_OK;
}

uc_status uc_map_take_landmarks(uc_map *self, const uc_matrix *X, const size_t *rows, size_t count,
                                const uc_context *context)
{
    const uc_status status = uc_gather_matrix(&self->landmarks, X, rows, count, context);
    if (status != UC_OK)
        return status;
    return uc_map_measure_landmarks(self);
}

uc_status uc_map_random_rows(size_t **out, size_t rows, size_t count, uint64_t seed)
{
    size_t *items = uc_alloc(rows, sizeof *items);
    if (!items)
        return UC_ERR_NOMEM;
    uc_rng rng = uc_rng_make(seed, SEQUENCE_ROWS);
    uc_rng_choose(&rng, items, rows, count);
    *out = items;
    return UC_OK;
}

typedef struct drawn_row {
    double time;
    size_t row;
} drawn_row;

static int by_time(const void *a, const void *b)
{
    const drawn_row *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Draws a waiting time of rate u_i for every row: the shortest is that of row i with probability u_i / sum u,
 * and so on. */
uc_status uc_map_draw_rows(size_t **out, const uc_map_fitting *fitting, size_t count)
{
    if (!fitting->weights)
        return uc_map_random_rows(out, fitting->rows, count, fitting->seed);
    drawn_row *drawn = uc_alloc(fitting->rows, sizeof *drawn);
    size_t *rows = uc_alloc(fitting->rows, sizeof *rows);
    if (!drawn || !rows) {
        uc_free(drawn);
        uc_free(rows);
        return UC_ERR_NOMEM;
    }
    uc_rng rng = uc_rng_make(fitting->seed, SEQUENCE_ROWS);
    for (size_t i = 0; i < fitting->rows; i++)
        drawn[i] = (drawn_row){-log(1.0 - uc_rng_uniform(&rng)) / fitting->weights[i], i};
    qsort(drawn, fitting->rows, sizeof *drawn, by_time);
    for (size_t i = 0; i < count; i++)
        rows[i] = drawn[i].row;
    uc_free(drawn);
    *out = rows;
    return UC_OK;
}

uc_status uc_map_lower_dimension(uc_map *self, size_t found, const uc_context *context)
{
    if (found == 0)
        return uc_fail(UC_ERR_INVALID, "the kernel is 0 on all rows: there is nothing to map to");
    if (found < self->dimension)
        uc_warn(context, "the map has %zu dimensions instead of %zu: the rows span no more", found,
                self->dimension);
    self->dimension = found;
    return UC_OK;
}

/* ---- copies ---- */

/* Copies an array; NULL stays NULL. */
static uc_status copy_numbers(double **out, const double *from, size_t count)
{
    if (!from)
        return UC_OK;
    double *copy = uc_alloc(count, sizeof *copy);
    if (!copy)
        return UC_ERR_NOMEM;
    memcpy(copy, from, count * sizeof *copy);
    *out = copy;
    return UC_OK;
}

static uc_status copy_arrays(uc_map *copy, const uc_map *self)
{
    const size_t m = self->landmarks.rows, D = self->dimension;
    uc_status status = uc_matrix_subset(&copy->landmarks, &self->landmarks, NULL, 0, NULL);
    if (status != UC_OK)
        return status;
    status = copy_numbers(&copy->norm2, self->norm2, m);
    if (status != UC_OK)
        return status;
    status = copy_numbers(&copy->projection, self->projection, m * D);
    if (status != UC_OK)
        return status;
    status = copy_numbers(&copy->shift, self->shift, D);
    if (status != UC_OK)
        return status;
    status = copy_numbers(&copy->eigenvalues, self->eigenvalues, D);
    if (status == UC_OK)
        status = copy_numbers(&copy->input.shift, self->input.shift, self->landmarks.cols);
    if (status == UC_OK)
        status = copy_numbers(&copy->input.factor, self->input.factor, self->landmarks.cols);
    if (status == UC_OK)
        status =
            copy_numbers(&copy->input.turn, self->input.turn, self->landmarks.cols * self->landmarks.cols);
    return status;
}

uc_status uc_map_copy(uc_map **out, const uc_map *self)
{
    uc_map *copy = uc_alloc(1, sizeof *copy);
    if (!copy)
        return UC_ERR_NOMEM;
    *copy = (uc_map){.kind = self->kind,
                     .kernel = self->kernel,
                     .width = self->width,
                     .degree = self->degree,
                     .coefficient = self->coefficient,
                     .dimension = self->dimension,
                     .input = {.unit = self->input.unit, .kept = self->input.kept}};
    const uc_status status = copy_arrays(copy, self);
    if (status == UC_OK)
        *out = copy;
    else
        uc_map_free(copy);
    return status;
}
