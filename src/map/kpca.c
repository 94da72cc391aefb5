/*
 * Kernel principal components (Schoelkopf, Smola, Mueller, Nonlinear component analysis as a kernel
 * eigenvalue problem, 1998), uncentred unless asked for.
 *
 *   K = V diag(lambda) V'    the kernel matrix of the n rows, or J K J with J = I - 11'/n if centred
 *   P = V diag(lambda)^-1/2  of the D largest
 *   map(x) = P' k(x) - shift,   shift = P' (row means of K), 0 uncentred
 *
 * If the rows have weights u, with S = diag(u) and U their sum, the matrix to decompose is S^1/2 K S^1/2, or
 * S^1/2 J K J' S^1/2 with J = I - 1u'/U, and P = S^1/2 V diag(lambda)^-1/2, shift = P' K u/U. This is the map
 * of rows that are repeated u times, with their equal coefficients added up.
 *
 * Centred columns of V sum to 0, so P' needs no centring of its own. Rows of the training data are mapped to
 * V diag(lambda)^1/2.
 *
 * Small problems go to LAPACK, large ones to a block Krylov iteration, which only multiplies by K. Tiles of
 * the upper half of K are kept if they take at most half of the memory limit. Otherwise every product
 * computes them again, and takes more columns at once so that there are fewer products.
 *
 * Several processes gather all rows, which are the landmarks of the map. Then each computes its blocks of
 * rows of every product, which needs only the tiles of these rows, and the blocks are gathered. So all have
 * the same bits as a single process.
 */
#include <math.h>
#include <string.h>

#include "data/exchange.h"
#include "map/kernel.h"
#include "map/krylov.h"
#include "map/map.h"

#define EXACT_ROWS ((size_t)1000) /* up to here LAPACK is fast enough */
#define TILE_ITEMS (UC_PANEL * UC_PANEL)

typedef struct gram {
    const uc_map *map;
    const uc_matrix *X;
    const uc_context *context;
    bool center;
    const double *weights; /* u; NULL: all are 1 */
    double total;          /* U */
    size_t n, blocks;
    double *norm2;
    uc_panels panels;
    double *tiles;      /* NULL: computed when needed; otherwise see tile_position */
    size_t first, last; /* blocks of rows of this process */
    /* of the current product Z = K Q */
    double *Z;
    const double *Q;
    size_t stride, width;
} gram;

static bool is_shared(const gram *self)
{
    return uc_is_shared(self->context);
}

/* Where tile (I, J), or for I > J its transpose (J, I), is kept. A single process keeps the tiles with I <=
 * J; each of several processes keeps all tiles of its own rows. */
static size_t tile_position(const gram *self, size_t I, size_t J)
{
    assert(I < self->blocks && J < self->blocks);
    if (is_shared(self))
        return (I - self->first) * self->blocks + J;
    if (I > J)
        return J * self->blocks - J * (J + 1) / 2 + I;
    return I * self->blocks - I * (I + 1) / 2 + J;
}

static void make_tile(double *tile, const gram *self, size_t I, size_t J, double *work)
{
    const size_t first = I * UC_PANEL;
    uc_panel_kernel(tile, self->map, &self->panels, J, self->X, self->norm2 + first, first,
                    first + uc_panel_rows(self->n, I), work);
}

/* Computes the tiles of block row I of K once: from the diagonal on, or all of them if there are several
 * processes. */
static uc_status fill_job(size_t block, void *user)
{
    const gram *self = user;
    const size_t I = self->first + block;
    double *work = uc_alloc(uc_panels_work(&self->panels, self->X), sizeof *work);
    if (!work)
        return UC_ERR_NOMEM;
    for (size_t J = is_shared(self) ? 0 : I; J < self->blocks; J++) {
        double *tile = self->tiles + tile_position(self, I, J) * TILE_ITEMS;
        if (I < J)
            make_tile(tile, self, I, J, work);
        else
            make_tile(tile, self, J, I, work);
    }
    uc_free(work);
    return UC_OK;
}

/* K_IJ, computed in `tile`, or the kept one if `tile` is NULL; a tile below the diagonal is the transpose of
 * one above it. */
static uc_operand tile_operand(const gram *self, size_t I, size_t J, double *tile)
{
    if (tile) {
        make_tile(tile, self, I, J, tile + TILE_ITEMS);
        return (uc_operand){tile, uc_panel_rows(self->n, J), false};
    }
    const double *kept = self->tiles + tile_position(self, I, J) * TILE_ITEMS;
    if (I > J)
        return (uc_operand){kept, uc_panel_rows(self->n, I), true};
    return (uc_operand){kept, uc_panel_rows(self->n, J), false};
}

/* Z_I = sum over J of K_IJ Q_J. */
static uc_status multiply_job(size_t I, void *user)
{
    const gram *self = user;
    const size_t rows = uc_panel_rows(self->n, I), width = self->width;
    double *tile = NULL, *Z = self->Z + I * UC_PANEL * width;
    if (!self->tiles) {
        tile = uc_alloc(TILE_ITEMS + uc_panels_work(&self->panels, self->X), sizeof *tile);
        if (!tile)
            return UC_ERR_NOMEM;
    }
    for (size_t J = 0; J < self->blocks; J++) {
        const uc_operand K = tile_operand(self, I, J, tile);
        const uc_operand Q = {self->Q + J * UC_PANEL * self->stride, self->stride, false};
        const double beta = J == 0 ? 0.0 : 1.0;
        uc_gemm(Z, width, K, Q, rows, uc_panel_rows(self->n, J), width, 1.0, beta);
    }
    uc_free(tile);
    return UC_OK;
}

static double weight_of(const gram *self, size_t i)
{
    return self->weights ? self->weights[i] : 1.0;
}

/* Z <- J Z. The columns of Q are made from such Z and so are centred already, except at the random start,
 * where this does not matter. */
static uc_status center_columns(double *Z, const gram *self, size_t width)
{
    const size_t n = self->n;
    double *mean = uc_alloc(width, sizeof *mean);
    if (!mean)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < width; j++)
            mean[j] += weight_of(self, i) * Z[i * width + j];
    for (size_t j = 0; j < width; j++)
        mean[j] /= self->total;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < width; j++)
            Z[i * width + j] -= mean[j];
    uc_free(mean);
    return UC_OK;
}

/* Z = K Q */
static uc_status multiply_kernel(double *Z, const double *Q, size_t stride, size_t width, gram *self)
{
    const size_t bytes = width * sizeof *Z;
    self->Z = Z;
    self->Q = Q;
    self->stride = stride;
    self->width = width;
    return uc_share_blocks(self->context, self->blocks, multiply_job, self, Z, UC_PANEL * bytes,
                           self->n * bytes);
}

/* Z = K S^1/2 Q */
static uc_status multiply_weighted(double *Z, const double *Q, size_t stride, size_t width, gram *self)
{
    double *heavy = uc_alloc(self->n * width, sizeof *heavy);
    if (!heavy)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < self->n; i++) {
        const double root = sqrt(self->weights[i]);
        for (size_t j = 0; j < width; j++)
            heavy[i * width + j] = root * Q[i * stride + j];
    }
    const uc_status status = multiply_kernel(Z, heavy, width, width, self);
    uc_free(heavy);
    return status;
}

/* Z = S^1/2 J K S^1/2 Q */
static uc_status multiply(double *Z, const double *Q, size_t stride, size_t width, void *user)
{
    gram *self = user;
    uc_status status;
    if (self->weights)
        status = multiply_weighted(Z, Q, stride, width, self);
    else
        status = multiply_kernel(Z, Q, stride, width, self);
    if (status == UC_OK && self->center)
        status = center_columns(Z, self, width);
    for (size_t i = 0; i < self->n && self->weights && status == UC_OK; i++) {
        const double root = sqrt(self->weights[i]);
        for (size_t j = 0; j < width; j++)
            Z[i * width + j] *= root;
    }
    return status;
}

static void gram_free(gram *self)
{
    uc_panels_free(&self->panels);
    uc_free(self->norm2);
    uc_free(self->tiles);
}

static uc_status gram_prepare(gram *self, const uc_map_fitting *fitting, const uc_matrix *X)
{
    const uc_comm *comm = uc_comm_of(fitting->context);
    const size_t blocks = uc_panel_count(X->rows);
    *self = (gram){.map = fitting->self,
                   .X = X,
                   .context = fitting->context,
                   .center = fitting->settings->center,
                   .weights = fitting->weights,
                   .n = X->rows,
                   .blocks = blocks,
                   .first = uc_first_block(blocks, comm, uc_comm_rank(comm)),
                   .last = uc_first_block(blocks, comm, uc_comm_rank(comm) + 1)};
    for (size_t i = 0; i < X->rows; i++)
        self->total += weight_of(self, i);
    self->norm2 = uc_alloc(X->rows, sizeof *self->norm2);
    if (!self->norm2)
        return UC_ERR_NOMEM;
    uc_norms(self->norm2, X, X->cols);
    return uc_panels_prepare(&self->panels, X, self->norm2, uc_matrix_is_sparse(X), fitting->context);
}

static double tiles_bytes(size_t n)
{
    const double blocks = (double)uc_panel_count(n);
    return blocks * (blocks + 1.0) / 2.0 * (double)TILE_ITEMS * sizeof(double);
}

static uc_status keep_tiles(gram *self)
{
    const size_t rows = self->last - self->first;
    const size_t tiles = is_shared(self) ? rows * self->blocks : self->blocks * (self->blocks + 1) / 2;
    self->tiles = uc_alloc(tiles, TILE_ITEMS * sizeof *self->tiles);
    if (!self->tiles)
        return UC_ERR_NOMEM;
    return uc_run_blocks(self->context, rows, fill_job, self);
}

/* ---- the two methods for the eigenvectors ---- */

/* vectors: n x D; column k belongs to values[k]. */
typedef struct components {
    double *values, *vectors;
    size_t found;
} components;

/* K <- J K J' */
static uc_status center_matrix(double *K, const gram *self)
{
    const size_t n = self->n;
    const uc_status status = center_columns(K, self, n);
    for (size_t i = 0; i < n && status == UC_OK; i++) {
        double mean = 0.0;
        for (size_t j = 0; j < n; j++)
            mean += weight_of(self, j) * K[i * n + j];
        mean /= self->total;
        for (size_t j = 0; j < n; j++)
            K[i * n + j] -= mean;
    }
    return status;
}

/* K <- S^1/2 K S^1/2 */
static void weigh_matrix(double *K, const gram *self)
{
    for (size_t i = 0; i < self->n && self->weights; i++)
        for (size_t j = 0; j < self->n; j++)
            K[i * self->n + j] *= sqrt(self->weights[i] * self->weights[j]);
}

static uc_status solve_exactly(components *out, gram *self, size_t D)
{
    const size_t n = self->n;
    double *K = uc_alloc(n * n, sizeof *K), *rows = uc_alloc(D * n, sizeof *rows);
    uc_status status = UC_ERR_NOMEM;
    if (!K || !rows)
        goto cleanup;
    status = uc_panels_square(K, self->map, &self->panels, self->context);
    if (status == UC_OK && self->center)
        status = center_matrix(K, self);
    if (status == UC_OK)
        weigh_matrix(K, self);
    if (status == UC_OK)
        status = uc_eigen_top(out->values, rows, K, n, D, self->context);
    for (size_t k = 0; k < D && status == UC_OK; k++)
        for (size_t i = 0; i < n; i++)
            out->vectors[i * D + k] = rows[k * n + i];
    out->found = D;

cleanup:
    uc_free(rows);
    uc_free(K);
    return status;
}

/* Somewhat more than `count`, rounded up to a multiple of 16, for which GEMM is faster than for one column
 * more. */
static size_t somewhat_more(size_t count)
{
    return (count / 16 + 1) * 16;
}

/* Found by experiment: an eighth of D at a time in a space of 2.5 D if products are cheap (640 components of
 * 10,000 rows: eigenvalues to five digits, angles below 0.01); half of D at a time in 3.5 D if every product
 * computes the kernel matrix again. */
static uc_krylov_problem krylov_problem(gram *self, size_t D, bool kept, uint64_t seed)
{
    size_t at_once = somewhat_more(D / 2), dimension = 7 * D / 2 + 16;
    if (kept) {
        at_once = somewhat_more(D / 8);
        dimension = 5 * D / 2 + 16;
    }
    dimension = uc_min_size(dimension, self->n);
    return (uc_krylov_problem){.multiply = multiply,
                               .user = self,
                               .n = self->n,
                               .wanted = D,
                               .at_once = uc_min_size(at_once, dimension),
                               .dimension = dimension,
                               .vanished = UC_MAP_VANISHED,
                               .seed = seed};
}

static uc_status solve_by_products(components *out, gram *self, const uc_krylov_problem *problem, bool kept)
{
    uc_status status = UC_OK;
    if (kept)
        status = keep_tiles(self);
    if (status != UC_OK)
        return status;
    return uc_krylov(out->values, out->vectors, &out->found, problem, self->context);
}

static uc_status solve(components *out, gram *self, const uc_map_fitting *fitting)
{
    const size_t n = self->n, D = fitting->self->dimension;
    double agreeing = tiles_bytes(n) <= (double)uc_memory_limit(fitting->context) / 2.0;
    uc_status status = uc_comm_sum(uc_comm_of(fitting->context), &agreeing, 1);
    const bool kept = agreeing == uc_comm_size(uc_comm_of(fitting->context));
    const uc_krylov_problem problem = krylov_problem(self, D, kept, fitting->seed);
    const double result = (double)n * (double)D * sizeof(double);
    const bool exact = n <= EXACT_ROWS || problem.dimension > n / 4 * 3;
    size_t order = n;
    double bytes = ((double)n + (double)D) * (double)n * sizeof(double);
    if (!exact) {
        order = problem.dimension + problem.at_once;
        bytes = uc_krylov_bytes(&problem);
        if (kept)
            bytes += tiles_bytes(n);
    }
    char what[96];
    snprintf(what, sizeof what, "kernel PCA of %zu rows (maps nystroem and kgs take less)", n);
    if (status == UC_OK)
        status = uc_eigen_check(order, bytes + result, what, fitting->context);
    if (status != UC_OK)
        return status;
    out->values = uc_alloc(D, sizeof *out->values);
    out->vectors = uc_alloc(n * D, sizeof *out->vectors);
    if (!out->values || !out->vectors)
        return UC_ERR_NOMEM;
    if (exact)
        return solve_exactly(out, self, D);
    return solve_by_products(out, self, &problem, kept);
}

/* ---- the map ---- */

/* Replaces V by P: divides the first `found` of `stride` columns by the roots of their eigenvalues. The sign
 * of a column is arbitrary; it is chosen so that the largest entry is positive, compared as if rows were
 * repeated instead of weighted. */
static void scale_vectors(double *vectors, const double *values, const gram *self, size_t found,
                          size_t stride)
{
    const size_t n = self->n;
    for (size_t k = 0; k < found; k++) {
        double largest = 0.0;
        for (size_t i = 0; i < n; i++) {
            const double entry = vectors[i * stride + k] / sqrt(weight_of(self, i));
            if (fabs(entry) > fabs(largest))
                largest = entry;
        }
        const double factor = copysign(1.0 / sqrt(values[k]), largest);
        for (size_t i = 0; i < n; i++)
            vectors[i * stride + k] *= factor * sqrt(weight_of(self, i));
    }
    for (size_t i = 0; i < n && found < stride; i++)
        memmove(vectors + i * found, vectors + i * stride, found * sizeof *vectors);
}

/* shift = P' K u/U */
static uc_status find_shift(uc_map *map, gram *self)
{
    const size_t n = self->n, D = map->dimension;
    double *ones = uc_alloc(n, sizeof *ones), *means = uc_alloc(n, sizeof *means);
    map->shift = uc_alloc(D, sizeof *map->shift);
    uc_status status = UC_ERR_NOMEM;
    if (!ones || !means || !map->shift)
        goto cleanup;
    for (size_t i = 0; i < n; i++)
        ones[i] = weight_of(self, i) / self->total;
    status = multiply_kernel(means, ones, 1, 1, self);
    if (status == UC_OK)
        uc_multiply(map->shift, means, map->projection, 1, n, D);

cleanup:
    uc_free(means);
    uc_free(ones);
    return status;
}

static uc_status finish(const uc_map_fitting *fitting, gram *self, components *found)
{
    uc_map *map = fitting->self;
    const size_t D = map->dimension;
    size_t kept = 0;
    while (kept < found->found && found->values[kept] > UC_MAP_VANISHED * found->values[0])
        kept++;
    uc_status status = uc_map_lower_dimension(map, kept, fitting->context);
    if (status != UC_OK)
        return status;
    scale_vectors(found->vectors, found->values, self, kept, D);
    map->projection = found->vectors;
    map->eigenvalues = found->values;
    *found = (components){0};
    if (self->center)
        status = find_shift(map, self);
    if (status != UC_OK)
        return status;
    return uc_map_take_landmarks(map, self->X, NULL, 0, NULL);
}

uc_status uc_map_fit_kpca(const uc_map_fitting *fitting)
{
    gram self = {0};
    components found = {0};
    uc_matrix all = {0};
    const uc_matrix *X = fitting->X;
    uc_status status = UC_OK;
    if (uc_is_shared(fitting->context)) {
        status = uc_gather_matrix(&all, X, NULL, 0, fitting->context);
        X = &all;
    }
    if (status == UC_OK)
        status = gram_prepare(&self, fitting, X);
    if (status == UC_OK)
        status = solve(&found, &self, fitting);
    if (status == UC_OK)
        status = finish(fitting, &self, &found);
    uc_free(found.vectors);
    uc_free(found.values);
    gram_free(&self);
    uc_matrix_free(&all);
    return status;
}
