/*
 * Maps onto the span of some rows, in an orthonormal basis of that span: kgs and random, and jl, which adds a
 * random projection.
 *
 *   l_1 .. l_D   landmarks: rows of X        K_ij = k(l_i, l_j) = L L',  L lower triangular
 *   map(x) = L^-1 (k(l_1, x), ..., k(l_D, x)),   so P = L^-T: coordinate j needs the first j landmarks only
 *
 * <map(x), map(y)> = k(x, y) for x, y in the span: Gram-Schmidt on the landmarks in the kernel's space.
 *
 * The next landmark of kgs is the row farthest from the span of the earlier ones (pivoted incomplete
 * Cholesky; Shawe-Taylor, Cristianini, Kernel Methods for Pattern Analysis, 2004, algorithm 5.12):
 *
 *   g_j = (k(X, l_j) - G g(l_j)') / sqrt(r(l_j))     a column of G (n x D), one kernel column each
 *   r  <- r - g_j^2                                  r_i = k(x_i, x_i) - |G_i|^2: squared distance to the
 * span
 *
 * Of very many rows only some, drawn at random, can become landmarks: G would be longer than the data.
 *
 * random takes random rows and skips those that already lie in the span (Balcan, Blum, Vempala, Kernels as
 * features, 2004). jl takes 4 D such rows and multiplies the coordinates by a Gaussian matrix / sqrt(D),
 * which nearly preserves lengths and angles (the second mapping of that paper).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/exchange.h"
#include "linalg/linalg.h"
#include "map/kernel.h"
#include "map/map.h"
#include "unconfuse/random.h"

#define ROWS_PER_BLOCK ((size_t)512)
#define SEQUENCE_GAUSSIAN UINT64_C(0x6d61702d6a) /* "map-j" */
#define JL_OVERSAMPLING 4
#define BATCH ((size_t)64)
#define CANDIDATES ((size_t)50000) /* rows among which kgs looks for landmarks */

/* ---- kgs ---- */

typedef struct pivoting {
    const uc_map *map;
    const uc_matrix *X;
    size_t D, found;          /* columns of G: wanted, found so far */
    double *norm2, *residual; /* n */
    double *G;                /* n x D */
    double *L;                /* D x D: the rows of G of the pivots so far, then of this one */
    double *pivot;            /* cols + 1: the pivot's values as doubles, then its squared length */
    size_t own_pivot;         /* its row in X; SIZE_MAX: another process has it */
    size_t *pivots;           /* D: row numbers over all processes */
} pivoting;

static uc_status pivot_block(size_t block, void *user)
{
    const pivoting *run = user;
    const uc_range rows = uc_block_range(block, run->X->rows, ROWS_PER_BLOCK);
    const size_t j = run->found, D = run->D;
    const double *pivot_g = run->L + j * D, root = pivot_g[j], norm2 = run->pivot[run->X->cols];
    for (size_t i = rows.first; i < rows.last; i++) {
        if (i == run->own_pivot)
            continue;
        double *g = run->G + i * D;
        const double product = uc_row_dot(uc_matrix_row(run->X, i), run->pivot);
        const double value = uc_kernel_value(run->map, product, run->norm2[i], norm2);
        g[j] = (value - uc_dot(g, pivot_g, j)) / root;
        run->residual[i] -= g[j] * g[j];
    }
    return UC_OK;
}

/* The largest residual over all processes, and its row number over all; of equal ones, the lowest row. */
static uc_status find_pivot(double *largest, size_t *row, const pivoting *run, uc_share share,
                            const uc_comm *comm)
{
    const size_t processes = (size_t)uc_comm_size(comm), best = uc_argmax(run->residual, run->X->rows);
    double *found = uc_alloc(2 * processes, sizeof *found);
    if (!found)
        return UC_ERR_NOMEM;
    double *mine = found + 2 * uc_comm_rank(comm);
    if (run->X->rows > 0)
        mine[0] = run->residual[best];
    mine[1] = (double)(share.first + best);
    const uc_status status = uc_comm_sum(comm, found, 2 * processes);
    size_t winner = 0;
    for (size_t r = 1; r < processes; r++)
        if (found[2 * r] > found[2 * winner])
            winner = r;
    *largest = found[2 * winner];
    *row = (size_t)found[2 * winner + 1];
    uc_free(found);
    return status;
}

/* The process that has the pivot gives all others its values, its length and its row of L. */
static uc_status share_pivot(pivoting *run, double residual, const uc_comm *comm)
{
    const size_t cols = run->X->cols, p = run->own_pivot;
    double *row = run->L + run->found * run->D;
    memset(run->pivot, 0, (cols + 1) * sizeof *run->pivot);
    if (p != SIZE_MAX) {
        uc_row_axpy(1.0, uc_matrix_row(run->X, p), run->pivot);
        run->pivot[cols] = run->norm2[p];
        memcpy(row, run->G + p * run->D, run->found * sizeof *row);
        run->residual[p] = 0.0; /* a landmark lies in the span */
    }
    uc_status status = uc_comm_sum(comm, run->pivot, cols + 1);
    if (status == UC_OK)
        status = uc_comm_sum(comm, row, run->found);
    row[run->found] = sqrt(residual);
    return status;
}

static uc_status choose_pivots(size_t *found, pivoting *run, const uc_context *context)
{
    const size_t n = run->X->rows;
    const uc_comm *comm = uc_comm_of(context);
    uc_share share;
    uc_status status = uc_share_of(&share, context, n);
    double largest = 0.0, residual;
    for (run->found = 0; run->found < run->D && status == UC_OK; run->found++) {
        size_t *row = &run->pivots[run->found];
        status = find_pivot(&residual, row, run, share, comm);
        if (status != UC_OK)
            break;
        if (run->found == 0)
            largest = residual;
        if (residual <= UC_MAP_VANISHED * largest)
            break;
        run->own_pivot = SIZE_MAX;
        if (*row >= share.first && *row < share.first + n)
            run->own_pivot = *row - share.first;
        status = share_pivot(run, residual, comm);
        if (status == UC_OK)
            status = uc_run_blocks(context, uc_block_count(n, ROWS_PER_BLOCK), pivot_block, run);
        if (status == UC_OK && run->found % 16 == 0)
            status = uc_report(context, "kernel Gram-Schmidt", (double)run->found, (double)run->D, NULL);
    }
    *found = run->found;
    return status;
}

/* P = L^-T (count x count) from the rows of L, `stride` doubles apart. */
static uc_status invert_landmarks(double **projection, const double *L, size_t stride, size_t count)
{
    double *inverse = uc_alloc(count * count, sizeof *inverse), *P = uc_alloc(count * count, sizeof *P);
    uc_status status = UC_ERR_NOMEM;
    if (inverse && P) {
        for (size_t i = 0; i < count; i++)
            memcpy(inverse + i * count, L + i * stride, (i + 1) * sizeof *inverse);
        status = uc_invert_lower(inverse, count);
        for (size_t i = 0; i < count && status == UC_OK; i++)
            for (size_t j = 0; j <= i; j++)
                P[j * count + i] = inverse[i * count + j];
    }
    uc_free(inverse);
    if (status == UC_OK)
        *projection = P;
    else
        uc_free(P);
    return status;
}

static uc_status finish_kgs(const uc_map_fitting *fitting, const pivoting *run, size_t found)
{
    uc_map *self = fitting->self;
    uc_status status = uc_map_lower_dimension(self, found, fitting->context);
    if (status == UC_OK)
        status = uc_map_take_landmarks(self, fitting->X, run->pivots, found, fitting->context);
    if (status == UC_OK)
        status = invert_landmarks(&self->projection, run->L, run->D, found);
    return status;
}

static uc_status fit_kgs(const uc_map_fitting *fitting)
{
    const uc_matrix *X = fitting->X;
    const size_t n = X->rows, D = fitting->self->dimension;
    size_t found, count;
    uc_status status = uc_memory_check(fitting->context, ((double)n + (double)D) * (double)D * sizeof(double),
                                       "kernel Gram-Schmidt");
    if (status != UC_OK)
        return status;
    if (!uc_size_mul(&count, n, D))
        return uc_fail(UC_ERR_NOMEM, "%zu rows in %zu dimensions are too many", n, D);
    pivoting run = {.map = fitting->self, .X = X, .D = D};
    run.norm2 = uc_alloc(n, sizeof *run.norm2);
    run.residual = uc_alloc(n, sizeof *run.residual);
    run.G = uc_alloc(count, sizeof *run.G);
    run.L = uc_alloc(D * D, sizeof *run.L);
    run.pivot = uc_alloc(X->cols + 1, sizeof *run.pivot);
    run.pivots = uc_alloc(D, sizeof *run.pivots);
    status = UC_ERR_NOMEM;
    if (run.norm2 && run.residual && run.G && run.L && run.pivot && run.pivots) {
        uc_norms(run.norm2, X, X->cols);
        for (size_t i = 0; i < n; i++)
            run.residual[i] = uc_kernel_diagonal(run.map, run.norm2[i]);
        status = choose_pivots(&found, &run, fitting->context);
    }
    if (status == UC_OK)
        status = finish_kgs(fitting, &run, found);
    uc_free(run.pivots);
    uc_free(run.pivot);
    uc_free(run.L);
    uc_free(run.G);
    uc_free(run.residual);
    uc_free(run.norm2);
    return status;
}

static int by_number(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Copies the candidates among the rows of this process, which keep their order. */
static uc_status take_candidates(uc_matrix *out, const uc_map_fitting *fitting, size_t candidates)
{
    const uc_matrix *X = fitting->X;
    size_t *rows = NULL, own = 0;
    uc_share share;
    uc_status status = uc_share_of(&share, fitting->context, X->rows);
    if (status == UC_OK)
        status = uc_map_random_rows(&rows, fitting->rows, candidates, fitting->seed);
    if (status != UC_OK)
        return status;
    qsort(rows, candidates, sizeof *rows, by_number);
    for (size_t i = 0; i < candidates; i++)
        if (rows[i] >= share.first && rows[i] < share.first + X->rows)
            rows[own++] = rows[i] - share.first;
    const double part = (double)own / (double)uc_max_size(X->rows, 1);
    status = uc_memory_check(fitting->context, 8.0 * part * (double)uc_matrix_entries(X), "the candidates");
    if (status == UC_OK)
        status = uc_matrix_subset(out, X, rows, own, fitting->context);
    uc_free(rows);
    return status;
}

static uc_status fit_kgs_among(const uc_map_fitting *fitting, size_t candidates)
{
    uc_matrix taken = {0};
    uc_map_fitting of_candidates = *fitting;
    uc_status status = take_candidates(&taken, fitting, candidates);
    status = uc_comm_agree(uc_comm_of(fitting->context), status);
    of_candidates.X = &taken;
    of_candidates.rows = candidates;
    if (status == UC_OK)
        status = fit_kgs(&of_candidates);
    uc_matrix_free(&taken);
    return status;
}

uc_status uc_map_fit_kgs(const uc_map_fitting *fitting)
{
    const size_t candidates = uc_max_size(CANDIDATES, 2 * fitting->self->dimension);
    if (fitting->rows <= candidates)
        return fit_kgs(fitting);
    return fit_kgs_among(fitting, candidates);
}

/* ---- random ---- */

/* Candidates are tried in batches: their kernel values with the landmarks so far are computed in parallel and
 * solved in one triangular solve; landmarks of the same batch are then accounted for one by one. */
typedef struct spanning {
    const uc_map *map;
    const uc_matrix *X;
    size_t wanted, found;
    size_t count;        /* of `rows` */
    size_t *rows;        /* of X, in random order; the first `found` become the landmarks */
    double *norm2;       /* wanted: of the landmarks */
    double *L;           /* wanted x wanted */
    double *batch;       /* BATCH x wanted: the rows of L that the candidates would have */
    const size_t *first; /* the first candidate of the batch, in `rows` */
    double largest;      /* the largest kernel value of a candidate with itself so far */
} spanning;

static double kernel_of_rows(const spanning *run, const double *candidate, double norm2, size_t landmark)
{
    const double product = uc_row_dot(uc_matrix_row(run->X, run->rows[landmark]), candidate);
    return uc_kernel_value(run->map, product, norm2, run->norm2[landmark]);
}

static void expand_row(double *dense, const uc_matrix *X, size_t i)
{
    memset(dense, 0, X->cols * sizeof *dense);
    uc_row_axpy(1.0, uc_matrix_row(X, i), dense);
}

static uc_status candidate_job(size_t b, void *user)
{
    const spanning *run = user;
    double *candidate = uc_alloc(run->X->cols, sizeof *candidate);
    if (!candidate)
        return UC_ERR_NOMEM;
    expand_row(candidate, run->X, run->first[b]);
    const double norm2 = uc_row_norm2(uc_matrix_row(run->X, run->first[b]));
    for (size_t j = 0; j < run->found; j++)
        run->batch[b * run->wanted + j] = kernel_of_rows(run, candidate, norm2, j);
    uc_free(candidate);
    return UC_OK;
}

/* Adds row i to the landmarks unless it lies in their span. `l` is its row of L, computed up to landmark
 * `known`. */
static void try_row(spanning *run, size_t i, double *l, size_t known, double *candidate)
{
    const double norm2 = uc_row_norm2(uc_matrix_row(run->X, i)), own = uc_kernel_diagonal(run->map, norm2);
    expand_row(candidate, run->X, i);
    for (size_t j = known; j < run->found; j++) {
        const double *L_j = run->L + j * run->wanted;
        l[j] = (kernel_of_rows(run, candidate, norm2, j) - uc_dot(l, L_j, j)) / L_j[j];
    }
    const double residual = own - uc_dot(l, l, run->found);
    if (own > run->largest)
        run->largest = own;
    if (residual <= UC_MAP_VANISHED * run->largest)
        return;
    l[run->found] = sqrt(residual);
    memcpy(run->L + run->found * run->wanted, l, (run->found + 1) * sizeof *l);
    run->norm2[run->found] = norm2;
    run->rows[run->found++] = i;
}

/* There are never more landmarks than candidates tried, so both can share `rows`. */
static uc_status span_random_rows(spanning *run, const uc_context *context)
{
    const size_t n = run->count;
    double *candidate = uc_alloc(run->X->cols, sizeof *candidate);
    if (!candidate)
        return UC_ERR_NOMEM;
    uc_status status = UC_OK;
    for (size_t start = 0; start < n && run->found < run->wanted && status == UC_OK; start += BATCH) {
        const size_t count = uc_min_size(n - start, BATCH), known = run->found;
        run->first = run->rows + start;
        status = uc_run_blocks(context, count, candidate_job, run);
        if (status == UC_OK && known > 0)
            uc_solve_lower(run->batch, run->wanted, count, run->L, run->wanted, known);
        for (size_t b = 0; b < count && run->found < run->wanted && status == UC_OK; b++)
            try_row(run, run->first[b], run->batch + b * run->wanted, known, candidate);
        if (status == UC_OK)
            status = uc_report(context, "random projection", (double)run->found, (double)run->wanted, NULL);
    }
    uc_free(candidate);
    return status;
}

/* Learns landmarks and P from the rows of run->X listed in run->rows. */
static uc_status span_rows(const uc_map_fitting *fitting, spanning *run)
{
    uc_map *self = fitting->self;
    const size_t wanted = run->wanted;
    run->norm2 = uc_alloc(wanted, sizeof *run->norm2);
    run->L = uc_alloc(wanted * wanted, sizeof *run->L);
    run->batch = uc_alloc(BATCH * wanted, sizeof *run->batch);
    uc_status status = UC_ERR_NOMEM;
    if (run->norm2 && run->L && run->batch)
        status = span_random_rows(run, fitting->context);
    const bool enough = run->found == wanted || run->count == fitting->rows; /* else the caller tries more */
    if (status == UC_OK && enough && run->found < self->dimension)
        status = uc_map_lower_dimension(self, run->found, fitting->context);
    if (status == UC_OK && enough)
        status = uc_map_take_landmarks(self, run->X, run->rows, run->found, NULL);
    if (status == UC_OK && enough)
        status = invert_landmarks(&self->projection, run->L, wanted, run->found);
    uc_free(run->batch);
    uc_free(run->L);
    uc_free(run->norm2);
    return status;
}

/* Gathers the first `count` of the random rows from all processes and spans them. */
static uc_status span_gathered(bool *enough, const uc_map_fitting *fitting, const size_t *rows, size_t count,
                               size_t wanted)
{
    uc_matrix gathered = {0};
    spanning run = {.map = fitting->self, .X = &gathered, .wanted = wanted, .count = count};
    uc_status status = uc_gather_matrix(&gathered, fitting->X, rows, count, fitting->context);
    if (status == UC_OK && !(run.rows = uc_alloc(count, sizeof *run.rows)))
        status = UC_ERR_NOMEM;
    for (size_t i = 0; i < count && status == UC_OK; i++)
        run.rows[i] = i;
    if (status == UC_OK)
        status = span_rows(fitting, &run);
    *enough = run.found == wanted || count == fitting->rows;
    uc_free(run.rows);
    uc_matrix_free(&gathered);
    return status;
}

/* Learns landmarks and P from up to `wanted` random rows. Rows of several processes are gathered first, a few
 * more than wanted, since some may lie in the span of others. */
static uc_status fit_span(const uc_map_fitting *fitting, size_t wanted)
{
    const size_t n = fitting->rows;
    size_t *rows = NULL;
    uc_status status = uc_memory_check(
        fitting->context, 3.0 * (double)wanted * (double)wanted * sizeof(double), "a random projection");
    if (status == UC_OK)
        status = uc_map_random_rows(&rows, n, n, fitting->seed);
    if (status == UC_OK && !uc_is_shared(fitting->context)) {
        spanning run = {.map = fitting->self, .X = fitting->X, .wanted = wanted, .count = n, .rows = rows};
        status = span_rows(fitting, &run);
    } else if (status == UC_OK) {
        bool enough = false;
        for (size_t count = wanted + BATCH; status == UC_OK && !enough; count *= 2)
            status = span_gathered(&enough, fitting, rows, uc_min_size(count, n), wanted);
    }
    uc_free(rows);
    return status;
}

uc_status uc_map_fit_random(const uc_map_fitting *fitting)
{
    return fit_span(fitting, fitting->self->dimension);
}

/* ---- jl ---- */

/* P <- P R / sqrt(D), where R has standard normal entries. */
static uc_status project_at_random(uc_map *self, uint64_t seed)
{
    const size_t m = self->landmarks.rows, D = self->dimension;
    double *R = uc_alloc(m * D, sizeof *R), *P = uc_alloc(m * D, sizeof *P);
    if (!R || !P) {
        uc_free(R);
        uc_free(P);
        return UC_ERR_NOMEM;
    }
    uc_rng rng = uc_rng_make(seed, SEQUENCE_GAUSSIAN);
    for (size_t i = 0; i < m * D; i++)
        R[i] = uc_rng_normal(&rng) / sqrt((double)D);
    uc_multiply(P, self->projection, R, m, m, D);
    uc_free(R);
    uc_free(self->projection);
    self->projection = P;
    return UC_OK;
}

uc_status uc_map_fit_jl(const uc_map_fitting *fitting)
{
    const size_t n = fitting->rows, D = fitting->self->dimension;
    const size_t wanted = D > n / JL_OVERSAMPLING ? n : JL_OVERSAMPLING * D;
    const uc_status status = fit_span(fitting, wanted);
    if (status != UC_OK)
        return status;
    return project_at_random(fitting->self, fitting->seed);
}
