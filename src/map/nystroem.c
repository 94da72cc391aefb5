/*
 * The Nystroem map: landmarks l_1 .. l_D, whitened by the root of their kernel matrix,
 *
 *   map(x) = K^-1/2 (k(l_1, x), ..., k(l_D, x)),   K_ij = k(l_i, l_j)
 *
 * (Williams, Seeger, Using the Nystroem method to speed up kernel machines, NIPS 2000). Directions in which K
 * vanishes get weight 0. Landmarks are random rows, or the centres of k-means clusters (Zhang, Tsang, Kwok,
 * Improved Nystroem low-rank approximation, ICML 2008), found by Lloyd's iteration from random rows, on at
 * most SAMPLE rows per landmark:
 *
 *   every row joins the centre with the largest 2 <x, c> - |c|^2;  every centre moves to the mean of its rows
 */
#include <math.h>
#include <string.h>

#include "data/exchange.h"
#include "linalg/linalg.h"
#include "map/kernel.h"
#include "map/map.h"
#include "unconfuse/random.h"

#define ITERATIONS 10
#define SAMPLE ((size_t)20)

/* ---- k-means ---- */

typedef struct clustering {
    const uc_matrix *X;
    uc_panels panels; /* of the centres */
    size_t *nearest;  /* per row of X: its centre */
} clustering;

static uc_status assign_block(size_t block, void *user)
{
    clustering *run = user;
    const uc_matrix *centres = run->panels.landmarks;
    const size_t first = block * UC_PANEL, rows = uc_panel_rows(run->X->rows, block);
    double *memory =
        uc_alloc(UC_PANEL * UC_PANEL + UC_PANEL + uc_panels_work(&run->panels, run->X), sizeof *memory);
    if (!memory)
        return UC_ERR_NOMEM;
    double *products = memory, *best = products + UC_PANEL * UC_PANEL, *work = best + UC_PANEL;
    for (size_t i = 0; i < rows; i++)
        best[i] = -INFINITY;
    for (size_t panel = 0; panel < uc_panel_count(centres->rows); panel++) {
        const size_t count = uc_panel_rows(centres->rows, panel);
        uc_panel_products(products, &run->panels, panel, run->X, first, first + rows, work);
        for (size_t i = 0; i < rows; i++)
            for (size_t c = 0; c < count; c++) {
                const double closeness =
                    2.0 * products[i * count + c] - run->panels.norm2[panel * UC_PANEL + c];
                if (closeness > best[i]) {
                    best[i] = closeness;
                    run->nearest[first + i] = panel * UC_PANEL + c;
                }
            }
    }
    uc_free(memory);
    return UC_OK;
}

/* A centre without rows stays where it is. */
static void move_centres(uc_matrix *centres, double *sums, size_t *counts, const uc_matrix *X,
                         const size_t *nearest)
{
    memset(sums, 0, centres->rows * centres->cols * sizeof *sums);
    memset(counts, 0, centres->rows * sizeof *counts);
    for (size_t i = 0; i < X->rows; i++) {
        uc_row_axpy(1.0, uc_matrix_row(X, i), sums + nearest[i] * centres->cols);
        counts[nearest[i]]++;
    }
    for (size_t c = 0; c < centres->rows; c++)
        for (size_t j = 0; j < centres->cols && counts[c] > 0; j++)
            centres->values[c * centres->stride + j] =
                (float)(sums[c * centres->cols + j] / (double)counts[c]);
}

static uc_status assign_rows(clustering *run, const uc_matrix *centres, double *norm2,
                             const uc_context *context)
{
    uc_norms(norm2, centres, centres->cols);
    uc_status status = uc_panels_prepare(&run->panels, centres, norm2, uc_matrix_is_sparse(run->X), context);
    if (status == UC_OK)
        status = uc_run_blocks(context, uc_panel_count(run->X->rows), assign_block, run);
    uc_panels_free(&run->panels);
    return status;
}

static uc_status lloyd(uc_matrix *centres, const uc_matrix *X, const uc_context *context)
{
    clustering run = {.X = X};
    double *norm2 = uc_alloc(centres->rows, sizeof *norm2);
    double *sums = uc_alloc(centres->rows * centres->cols, sizeof *sums);
    size_t *counts = uc_alloc(centres->rows, sizeof *counts), *before = uc_alloc(X->rows, sizeof *before);
    run.nearest = uc_alloc(X->rows, sizeof *run.nearest);
    uc_status status = UC_ERR_NOMEM;
    if (!norm2 || !sums || !counts || !before || !run.nearest)
        goto cleanup;
    status = UC_OK;
    for (size_t t = 0; t < ITERATIONS && status == UC_OK; t++) {
        status = uc_report(context, "clustering", (double)t, ITERATIONS, NULL);
        if (status == UC_OK)
            status = assign_rows(&run, centres, norm2, context);
        if (status != UC_OK || (t > 0 && memcmp(before, run.nearest, X->rows * sizeof *before) == 0))
            break;
        move_centres(centres, sums, counts, X, run.nearest);
        memcpy(before, run.nearest, X->rows * sizeof *before);
    }

cleanup:
    uc_free(run.nearest);
    uc_free(before);
    uc_free(counts);
    uc_free(sums);
    uc_free(norm2);
    return status;
}

/* Moves the landmarks, random rows so far, to centres of clusters. */
static uc_status cluster(uc_map *self, const uc_matrix *X, const size_t *rows, size_t count,
                         const uc_context *context)
{
    uc_matrix sample = {0};
    const double bytes = 3.0 * (double)self->dimension * (double)X->cols * sizeof(double);
    uc_status status = uc_memory_check(context, bytes, "clustering");
    if (status == UC_OK && uc_matrix_is_sparse(&self->landmarks))
        status = uc_matrix_densify(&self->landmarks);
    if (status == UC_OK)
        status = uc_gather_matrix(&sample, X, rows, count, context);
    if (status != UC_OK)
        return status;
    status = lloyd(&self->landmarks, &sample, context);
    uc_matrix_free(&sample);
    if (status == UC_OK)
        uc_norms(self->norm2, &self->landmarks, self->landmarks.cols);
    return status;
}

/* ---- the root ---- */

typedef struct root {
    size_t m;
    double *K, *U, *scaled;
} root;

static uc_status root_job(size_t block, void *user) /* some rows of U diag(s)^-1/2 U' */
{
    const root *self = user;
    const size_t first = block * UC_PANEL, m = self->m;
    uc_gemm(self->K + first * m, m, (uc_operand){self->U + first, m, true},
            (uc_operand){self->scaled, m, false}, uc_panel_rows(m, block), m, m, 1.0, 0.0);
    return UC_OK;
}

/* Replaces K = U diag(s) U' by its inverse root U diag(s)^-1/2 U'. */
static uc_status invert_root(root *self, double *s, uc_map *map, const uc_context *context)
{
    const size_t m = self->m;
    uc_status status = uc_eigen_top(s, self->U, self->K, m, m, context);
    if (status == UC_OK && !(s[0] > 0.0))
        status = uc_map_lower_dimension(map, 0, context);
    for (size_t k = 0; k < m && status == UC_OK; k++) {
        const double factor = s[k] > UC_MAP_VANISHED * s[0] ? 1.0 / sqrt(s[k]) : 0.0;
        for (size_t i = 0; i < m; i++)
            self->scaled[k * m + i] = factor * self->U[k * m + i];
    }
    if (status != UC_OK)
        return status;
    return uc_run_blocks(context, uc_panel_count(m), root_job, self);
}

/* P = K^-1/2, where K is the kernel matrix of the landmarks. */
static uc_status whiten(uc_map *self, const uc_context *context)
{
    const uc_matrix *landmarks = &self->landmarks;
    const size_t m = landmarks->rows;
    root all = {m, uc_alloc(m * m, sizeof(double)), uc_alloc(m * m, sizeof(double)),
                uc_alloc(m * m, sizeof(double))};
    double *s = uc_alloc(m, sizeof *s);
    uc_panels panels = {0};
    uc_status status = UC_ERR_NOMEM;
    if (!all.K || !all.U || !all.scaled || !s)
        goto cleanup;
    status = uc_panels_prepare(&panels, landmarks, self->norm2, uc_matrix_is_sparse(landmarks), context);
    if (status == UC_OK)
        status = uc_panels_square(all.K, self, &panels, context);
    if (status == UC_OK)
        status = invert_root(&all, s, self, context);
    if (status == UC_OK) {
        self->projection = all.K;
        all.K = NULL;
    }

cleanup:
    uc_panels_free(&panels);
    uc_free(s);
    uc_free(all.scaled);
    uc_free(all.U);
    uc_free(all.K);
    return status;
}

uc_status uc_map_fit_nystroem(const uc_map_fitting *fitting)
{
    uc_map *self = fitting->self;
    const size_t n = fitting->rows, D = self->dimension;
    const bool clusters = fitting->settings->pick == 1;
    const size_t sample = D > n / SAMPLE ? n : SAMPLE * D;
    size_t *rows = NULL;
    uc_status status =
        uc_eigen_check(D, 3.0 * (double)D * (double)D * sizeof(double), "the Nystroem map", fitting->context);
    if (status != UC_OK)
        return status;
    status = uc_map_draw_rows(&rows, fitting, clusters ? sample : D);
    if (status == UC_OK)
        status = uc_map_take_landmarks(self, fitting->X, rows, D, fitting->context);
    if (status == UC_OK && clusters)
        status = cluster(self, fitting->X, rows, sample, fitting->context);
    if (status == UC_OK)
        status = whiten(self, fitting->context);
    uc_free(rows);
    return status;
}
