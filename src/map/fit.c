/* Learns a map of any kind: checks the settings and the rows, and finds the width of the kernel. */
#include <math.h>

#include "linalg/linalg.h"
#include "map/kernel.h"
#include "map/map.h"
#include "parallel/parallel.h"

#define ROWS_PER_BLOCK ((size_t)1024)

static uc_status check_settings(const uc_map_settings *settings, size_t rows)
{
    const uc_status status = uc_options_check(uc_map_options, settings);
    if (status != UC_OK)
        return status;
    if (settings->map == UC_MAP_NONE || settings->map >= UC_MAP_AUTO)
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
    if (*width != 0.0)
        return UC_OK;
    return uc_map_median_distance2(width, X, seed, context);
}

typedef struct length_check {
    const uc_map *map;
    const uc_matrix *X;
    size_t rows_before;
} length_check;

static uc_status check_lengths(size_t block, void *user)
{
    const length_check *self = user;
    const uc_range rows = uc_block_range(block, self->X->rows, ROWS_PER_BLOCK);
    uc_status status = UC_OK;
    for (size_t i = rows.first; i < rows.last && status == UC_OK; i++)
        status = uc_kernel_check(self->map, uc_row_norm2(uc_matrix_row(self->X, i)), self->rows_before + i);
    return status;
}

static uc_status fit_landmarks(const uc_map_fitting *fitting)
{
    size_t *rows;
    uc_status status = uc_map_draw_rows(&rows, fitting, fitting->self->dimension);
    if (status != UC_OK)
        return status;
    status =
        uc_map_take_landmarks(fitting->self, fitting->X, rows, fitting->self->dimension, fitting->context);
    uc_free(rows);
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
        return fit_landmarks(fitting);
    case UC_MAP_NONE:
    case UC_MAP_AUTO:
    case UC_MAP_DEFAULT:
    case UC_MAP_LEARNED:
        break;
    }
    return UC_OK;
}

static uc_status fit_on_rows(const uc_map_fitting *fitting, size_t rows_before)
{
    uc_map *self = fitting->self;
    const uc_matrix *X = fitting->X;
    const uc_context *context = fitting->context;
    uc_status status = choose_width(&self->width, fitting->settings, X, fitting->seed, context);
    if (status != UC_OK)
        return status;
    length_check check = {self, X, rows_before};
    status = uc_run_blocks(context, uc_block_count(X->rows, ROWS_PER_BLOCK), check_lengths, &check);
    status = uc_comm_agree(uc_comm_of(context), status);
    if (status == UC_OK && self->dimension > fitting->rows)
        status = uc_map_lower_dimension(self, fitting->rows, context);
    if (status != UC_OK)
        return status;
    return fit_kind(fitting);
}

/* The weights of the rows of all processes; NULL if all are equal, as if there were none. */
static uc_status gather_weights(double **out, const double *weights, uc_share share, size_t rows,
                                const uc_context *context)
{
    bool differ = false;
    *out = NULL;
    if (!weights)
        return UC_OK;
    const uc_status status =
        uc_comm_gather((void **)out, NULL, uc_comm_of(context), weights, rows * sizeof *weights);
    for (size_t i = 1; i < share.total && status == UC_OK; i++)
        differ = differ || (*out)[i] != (*out)[0];
    if (status == UC_OK && differ)
        return UC_OK;
    uc_free(*out);
    *out = NULL;
    return status;
}

uc_status uc_map_fit(uc_map **out, const uc_map_settings *settings, const uc_matrix *X, uint64_t seed,
                     const uc_context *context)
{
    return uc_map_fit_weighted(out, settings, X, NULL, seed, context);
}

uc_status uc_map_fit_weighted(uc_map **out, const uc_map_settings *settings, const uc_matrix *X,
                              const double *weights, uint64_t seed, const uc_context *context)
{
    uc_share share;
    double *all = NULL;
    uc_status status = uc_share_of(&share, context, X->rows);
    if (status == UC_OK)
        status = check_settings(settings, share.total);
    if (status == UC_OK)
        status = uc_blas_ready(context);
    if (status == UC_OK)
        status = gather_weights(&all, weights, share, X->rows, context);
    if (status != UC_OK)
        return status;
    uc_map *self = uc_alloc(1, sizeof *self);
    if (!self) {
        uc_free(all);
        return UC_ERR_NOMEM;
    }
    *self = (uc_map){.kind = (uc_map_kind)settings->map,
                     .kernel = (uc_kernel)settings->kernel,
                     .degree = (double)settings->degree,
                     .coefficient = settings->coefficient,
                     .dimension = (size_t)settings->dimension};
    uc_context quiet = context ? *context : (uc_context){0};
    quiet.warn = NULL;
    const uc_context *own = settings->at_most ? &quiet : context;
    const uc_map_fitting fitting = {self, X, settings, seed, own, share.total, all};
    status = fit_on_rows(&fitting, share.first);
    uc_free(all);
    if (status == UC_OK)
        *out = self;
    else
        uc_map_free(self);
    return status;
}
