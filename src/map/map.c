/* Maps as a whole: their options, learning one of any kind, copies and parts. */
#include "map/map.h"

#include <math.h>
#include <string.h>

#include "data/exchange.h"
#include "linalg/linalg.h"
#include "map/kernel.h"
#include "unconfuse/random.h"

#define SEQUENCE_ROWS UINT64_C(0x6d61702d72) /* "map-r" */
#define LARGEST_COUNT 1e9
#define ROWS_PER_BLOCK ((size_t)1024)

#define FIELD(name) offsetof(uc_map_settings, name)

const uc_option uc_map_options[] = {
    {.name = "map",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(map),
     .standard = "auto",
     .choices = "none|kpca|kgs|random|nystroem|jl|landmarks|auto",
     .help = "feature map: learn on finitely many features of a kernel instead of the columns (auto: kgs for "
             "rp, none for others)"},
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

void uc_map_free(uc_map *self)
{
    if (!self)
        return;
    uc_matrix_free(&self->landmarks);
    uc_free(self->norm2);
    uc_free(self->projection);
    uc_free(self->shift);
    uc_free(self->eigenvalues);
    uc_free(self);
}

uc_map_kind uc_map_kind_of(const uc_map *self)
{
    return self->kind;
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

/* ---- what the kinds share ---- */

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
    return status == UC_OK ? uc_map_measure_landmarks(self) : status;
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

uc_status uc_map_fit_landmarks(const uc_map_fitting *fitting)
{
    size_t *rows;
    uc_status status = uc_map_random_rows(&rows, fitting->rows, fitting->self->dimension, fitting->seed);
    if (status != UC_OK)
        return status;
    status =
        uc_map_take_landmarks(fitting->self, fitting->X, rows, fitting->self->dimension, fitting->context);
    uc_free(rows);
    return status;
}

/* ---- learning ---- */

static uc_status check_settings(const uc_map_settings *settings, size_t rows)
{
    const uc_status status = uc_options_check(uc_map_options, settings);
    if (status != UC_OK)
        return status;
    if (settings->map == UC_MAP_NONE || settings->map == UC_MAP_AUTO)
        return uc_fail(UC_ERR_INVALID, "{map=none}: there is no map to learn");
    if (rows == 0)
        return uc_fail(UC_ERR_INVALID, "a map cannot be learned from no rows");
    if (settings->dimension == UC_AUTO_COUNT)
        return uc_fail(UC_ERR_INVALID, "{dimension=auto}: a number must be chosen before a map is learned");
    if (settings->kernel == UC_KERNEL_GAUSSIAN && isnan(settings->gamma) && isnan(settings->width))
        return uc_fail(UC_ERR_INVALID, "{width=auto}: a number must be chosen before a map is learned");
    return UC_OK;
}

double uc_map_width_given(const uc_map_settings *settings)
{
    return isnan(settings->gamma) ? settings->width : 1.0 / settings->gamma;
}

static uc_status choose_width(double *width, const uc_map_settings *settings, const uc_matrix *X,
                              uint64_t seed, const uc_context *context)
{
    *width = 0.0;
    if (settings->kernel != UC_KERNEL_GAUSSIAN)
        return UC_OK;
    *width = uc_map_width_given(settings);
    return *width == 0.0 ? uc_map_median_distance2(width, X, seed, context) : UC_OK;
}

typedef struct length_check {
    const uc_map *map;
    const uc_matrix *X;
    size_t rows_before;
} length_check;

static uc_status check_lengths(size_t block, void *user)
{
    const length_check *self = user;
    const size_t first = block * ROWS_PER_BLOCK, left = self->X->rows - first;
    uc_status status = UC_OK;
    for (size_t i = first; i < first + (left < ROWS_PER_BLOCK ? left : ROWS_PER_BLOCK) && status == UC_OK;
         i++)
        status = uc_kernel_check(self->map, uc_row_norm2(uc_matrix_row(self->X, i)), self->rows_before + i);
    return status;
}

static uc_status fit_kind(const uc_map_fitting *fitting)
{
    switch (fitting->self->kind) {
    case UC_MAP_KPCA:
        return uc_map_fit_kpca(fitting);
    case UC_MAP_KGS:
        return uc_map_fit_kgs(fitting);
    case UC_MAP_RANDOM:
        return uc_map_fit_random(fitting);
    case UC_MAP_JL:
        return uc_map_fit_jl(fitting);
    case UC_MAP_NYSTROEM:
        return uc_map_fit_nystroem(fitting);
    case UC_MAP_LANDMARKS:
        return uc_map_fit_landmarks(fitting);
    case UC_MAP_NONE:
    case UC_MAP_AUTO:
        break;
    }
    return UC_OK;
}

uc_status uc_map_fit(uc_map **out, const uc_map_settings *settings, const uc_matrix *X, uint64_t seed,
                     const uc_context *context)
{
    uc_share share;
    uc_status status = uc_share_of(&share, context, X->rows);
    if (status == UC_OK)
        status = check_settings(settings, share.total);
    if (status == UC_OK)
        status = uc_blas_ready(context);
    if (status != UC_OK)
        return status;
    uc_map *self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    *self = (uc_map){.kind = (uc_map_kind)settings->map,
                     .kernel = (uc_kernel)settings->kernel,
                     .degree = (double)settings->degree,
                     .coefficient = settings->coefficient,
                     .dimension = (size_t)settings->dimension};
    const uc_map_fitting fitting = {self, X, settings, seed, context, share.total};
    status = choose_width(&self->width, settings, X, seed, context);
    if (status == UC_OK)
        status = uc_comm_agree(uc_comm_of(context),
                               uc_run_blocks(context, (X->rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK,
                                             check_lengths, &(length_check){self, X, share.first}));
    if (status == UC_OK && self->dimension > share.total)
        status = uc_map_lower_dimension(self, share.total, context);
    if (status == UC_OK)
        status = fit_kind(&fitting);
    if (status == UC_OK)
        *out = self;
    else
        uc_map_free(self);
    return status;
}

/* ---- copies and parts ---- */

/* The first `columns` of each of the `rows` rows of `stride` numbers; NULL stays NULL. */
static uc_status copy_numbers(double **out, const double *from, size_t rows, size_t columns, size_t stride)
{
    if (!from)
        return UC_OK;
    double *copy = uc_alloc(rows * columns, sizeof *copy);
    if (!copy)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < rows; i++)
        memcpy(copy + i * columns, from + i * stride, columns * sizeof *copy);
    *out = copy;
    return UC_OK;
}

static uc_status copy_part(uc_map **out, const uc_map *self, size_t landmarks, size_t dimension)
{
    uc_map *copy = uc_alloc(1, sizeof *copy);
    if (!copy)
        return UC_ERR_NOMEM;
    *copy = *self;
    copy->dimension = dimension;
    copy->landmarks = (uc_matrix){0};
    copy->room = copy->entries_room = 0;
    copy->norm2 = copy->projection = copy->shift = copy->eigenvalues = NULL;
    uc_matrix part = self->landmarks; /* the first rows are a matrix of their own */
    part.rows = landmarks;
    uc_status status = uc_matrix_subset(&copy->landmarks, &part, NULL, 0, NULL);
    if (status == UC_OK)
        status = copy_numbers(&copy->norm2, self->norm2, 1, landmarks, landmarks);
    if (status == UC_OK)
        status = copy_numbers(&copy->projection, self->projection, landmarks, dimension, self->dimension);
    if (status == UC_OK)
        status = copy_numbers(&copy->shift, self->shift, 1, dimension, dimension);
    if (status == UC_OK)
        status = copy_numbers(&copy->eigenvalues, self->eigenvalues, 1, dimension, dimension);
    if (status == UC_OK)
        *out = copy;
    else
        uc_map_free(copy);
    return status;
}

uc_status uc_map_copy(uc_map **out, const uc_map *self)
{
    return copy_part(out, self, self->landmarks.rows, self->dimension);
}

/* Coordinate j of kgs needs the first j landmarks only. */
uc_status uc_map_prefix(uc_map **out, const uc_map *self, size_t dimension)
{
    if (self->kind != UC_MAP_KPCA && self->kind != UC_MAP_KGS)
        return uc_fail(UC_ERR_INVALID, "only the coordinates of kpca and kgs are nested");
    if (dimension == 0 || dimension > self->dimension)
        return uc_fail(UC_ERR_INVALID, "the map has no prefix of %zu dimensions: it has %zu", dimension,
                       self->dimension);
    const bool triangular = self->kind == UC_MAP_KGS;
    return copy_part(out, self, triangular ? dimension : self->landmarks.rows, dimension);
}
