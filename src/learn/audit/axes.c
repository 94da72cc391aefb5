/*
 * The principal axes of a kernel, from landmarks.
 *
 *   k(x)     kernel values of x with the landmarks l_1 .. l_m       K = (k(l_i, l_j))
 *   z(x)   = S^-1/2 V' k(x),  K = V S V', without eigenvalues below 1e-8 of the largest  (Nystroem)
 *   m, T     mean and covariance of z(x_i);  T = Q diag(w) Q',  the largest D, w > 1e-8 w_1
 *   a(x)   = Q'(z(x) - m) = P'k(x) - Q'm,  P = V S^-1/2 Q
 *
 * The axes are those of the landmarks' span, whatever basis z is in. If there are more rows than landmarks,
 * the basis is L^-1 k(x) with K = L L', provided that every landmark is far from the span of those before it;
 * this costs a twentieth of an eigendecomposition.
 *
 * Kernel values are computed twice, once for the moments and once for the coordinates, so that nothing of
 * size rows x landmarks is stored.
 *
 * If there are many rows, T is computed from some of them and only gives the D axes P_0. All rows are
 * projected on these, after subtracting c, the mean of k over the landmarks:
 *
 *   b(x)   = P_0'(k(x) - c)      m, T   mean and covariance of b(x_i), T = Q diag(w) Q', D x D
 *   a(x)   = Q'(b(x) - m)
 *
 * Only b is stored, in single precision: Q is applied to sums of rows, not to rows (coordinates.c). This
 * computes the kernel values once, and has products with D instead of m columns. Products with P_0 are in
 * single precision too. k - c is small enough for that: on data with 2 to 784 columns the error of an axis is
 * below .015 of 1 / sqrt(q), the deviation that shrinkage allows it, and below .004 with 16 columns or more.
 */
#include <math.h>
#include <string.h>

#include "learn/audit/views.h"
#include "linalg/linalg.h"

#define VANISHED 1e-8
#define NEAR 1e-7     /* squared distance of a landmark from the span of others; its own length is 1 */
#define NOTHING 1e-13 /* variance of the first axis if all rows are the same */
#define ROWS_PER_BLOCK ((size_t)256)

/* ---- the Nystroem map ---- */

/* Z (m x rank): z(x) = Z'k(x). */
typedef struct nystroem {
    size_t m, rank;
    double *Z;
    double *centre; /* m: mean kernel values of the landmarks */
} nystroem;

static void free_nystroem(nystroem *self)
{
    uc_free(self->Z);
    uc_free(self->centre);
}

/* Z = V S^-1/2; overwrites K. */
static uc_status whiten_by_values(nystroem *out, double *K, size_t m, const uc_context *context)
{
    double *vectors = uc_alloc(m * m, sizeof *vectors), *values = uc_alloc(m, sizeof *values);
    uc_status status = UC_ERR_NOMEM;
    if (vectors && values)
        status = uc_eigen_top(values, vectors, K, m, m, context);
    out->rank = 0;
    while (status == UC_OK && out->rank < m && values[out->rank] > VANISHED * values[0])
        out->rank++;
    for (size_t r = 0; r < out->rank; r++)
        for (size_t l = 0; l < m; l++)
            out->Z[l * out->rank + r] = vectors[r * m + l] / sqrt(values[r]);
    uc_free(values);
    uc_free(vectors);
    return status;
}

/* Z = L'^-1, with L in the place of K; rank 0 if a landmark is too close to the span of those before it. */
static uc_status whiten_by_factor(nystroem *out, double *L, size_t m)
{
    uc_status status = uc_cholesky(L, m);
    out->rank = 0;
    if (status == UC_ERR_DIVERGED)
        return UC_OK;
    for (size_t l = 0; l < m && status == UC_OK; l++)
        if (L[l * m + l] * L[l * m + l] < NEAR)
            return UC_OK;
    if (status == UC_OK)
        status = uc_invert_lower(L, m);
    if (status != UC_OK)
        return status;
    for (size_t r = 0; r < m; r++)
        for (size_t l = 0; l < m; l++)
            out->Z[l * m + r] = l <= r ? L[r * m + l] : 0.0;
    out->rank = m;
    return UC_OK;
}

static uc_status whiten(nystroem *out, const uc_audit_rows *rows, const uc_matrix *landmarks, double width,
                        const uc_labelled *labelled)
{
    const size_t m = rows->landmarks;
    const bool all_rows = labelled->annotations->total_rows <= (double)m;
    double *K = uc_alloc(m * m, sizeof *K), *work = uc_alloc(uc_audit_view_work(rows, m), sizeof *work);
    *out =
        (nystroem){.m = m, .Z = uc_alloc(m * m, sizeof *out->Z), .centre = uc_alloc(m, sizeof *out->centre)};
    uc_status status = UC_ERR_NOMEM;
    if (!K || !work || !out->Z || !out->centre)
        goto cleanup;
    status = UC_OK;
    uc_audit_view_kernel(K, rows, landmarks, 0, m, width, work);
    for (size_t l = 0; l < m; l++)
        uc_axpy(out->centre, 1.0 / (double)m, K + l * m, m);
    if (!all_rows) {
        status = whiten_by_factor(out, K, m);
        if (status == UC_OK && out->rank == 0) /* K was overwritten */
            uc_audit_view_kernel(K, rows, landmarks, 0, m, width, work);
    }
    if (status == UC_OK && out->rank == 0)
        status = whiten_by_values(out, K, m, labelled->context);
cleanup:
    uc_free(work);
    uc_free(K);
    return status;
}

/* ---- moments ---- */

typedef struct axes_job {
    const uc_audit_view *view;
    const uc_matrix *X;
    const double *weights;
    const nystroem *map;
    const float *projection; /* m x D: P_0 of many rows */
    float *B;
} axes_job;

/* Adds u z z' (r x r, the lower triangle), then u z, for `count` rows of z, which it overwrites. `weights`
 * may be NULL. */
static void add_weighted(double *sum, double *z, const double *weights, size_t count, size_t r)
{
    for (size_t i = 0; i < count; i++) {
        const double weight = weights ? weights[i] : 1.0;
        uc_axpy(sum + r * r, weight, z + i * r, r);
        for (size_t j = 0; j < r && weights; j++)
            z[i * r + j] *= sqrt(weight);
    }
    uc_add_squares(sum, z, count, r);
}

/* Adds the moments of z. */
static uc_status add_moments(double *sum, size_t first, size_t last, void *user)
{
    const axes_job *job = user;
    const uc_audit_rows *rows = job->view->rows;
    const size_t count = last - first, m = job->map->m, r = job->map->rank;
    double *values = uc_alloc(count * m, sizeof *values), *z = uc_alloc(count * r, sizeof *z);
    double *work = uc_alloc(uc_audit_view_work(rows, count), sizeof *work);
    uc_status status = UC_ERR_NOMEM;
    if (!values || !z || !work)
        goto cleanup;
    uc_audit_view_kernel(values, rows, job->X, first, last, job->view->width, work);
    uc_multiply(z, values, job->map->Z, count, m, r);
    add_weighted(sum, z, job->weights ? job->weights + first : NULL, count, r);
    status = UC_OK;
cleanup:
    uc_free(work);
    uc_free(z);
    uc_free(values);
    return status;
}

/* Turns `sums`, a lower triangle, into the covariance, and what follows it into the mean. */
static void centre_moments(double *sums, size_t r, double total)
{
    double *mean = sums + r * r;
    for (size_t i = 0; i < r * r + r; i++)
        sums[i] /= total;
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j <= i; j++) {
            const double covariance = sums[i * r + j] - mean[i] * mean[j];
            sums[i * r + j] = sums[j * r + i] = covariance;
        }
}

/* P = Z Q', shift = Q m; the vectors are the rows of Q. */
static uc_status take_axes(uc_audit_view *self, const nystroem *map, const double *values,
                           const double *vectors, const double *mean)
{
    const size_t D = self->axes, r = map->rank;
    self->projection = uc_alloc(map->m * D, sizeof *self->projection);
    self->shift = uc_alloc(D, sizeof *self->shift);
    self->w = uc_alloc(D, sizeof *self->w);
    if (!self->projection || !self->shift || !self->w)
        return UC_ERR_NOMEM;
    memcpy(self->w, values, D * sizeof *values);
    uc_gemm(self->projection, D, (uc_operand){map->Z, r, false}, (uc_operand){vectors, r, true}, map->m, r, D,
            1.0, 0.0);
    for (size_t d = 0; d < D; d++)
        self->shift[d] = uc_dot(vectors + d * r, mean, r);
    return UC_OK;
}

static uc_status find_axes(uc_audit_view *self, const nystroem *map, const uc_matrix *X,
                           const uc_labelled *labelled, size_t most)
{
    const size_t r = map->rank;
    axes_job job = {.view = self, .X = X, .weights = labelled->weights, .map = map};
    double *sums = uc_alloc(r * r + r, sizeof *sums), *values = uc_alloc(r, sizeof *values);
    double *vectors = uc_alloc(r * r, sizeof *vectors);
    uc_status status = sums && values && vectors ? UC_OK : UC_ERR_NOMEM;
    status = uc_comm_agree(uc_comm_of(labelled->context), status);
    if (status == UC_OK)
        status = uc_sum_over(labelled->context, X->rows, add_moments, &job, sums, r * r + r);
    if (status != UC_OK)
        goto cleanup;
    double *mean = sums + r * r, *copy = uc_alloc(r, sizeof *copy);
    status = UC_ERR_NOMEM;
    if (!copy)
        goto cleanup;
    centre_moments(sums, r, labelled->total_weight);
    memcpy(copy, mean, r * sizeof *copy);
    const size_t top = uc_min_size(r, most);
    status = uc_eigen_top(values, vectors, sums, r, top, labelled->context);
    self->axes = 0;
    while (status == UC_OK && self->axes < top && values[self->axes] > NOTHING &&
           values[self->axes] > VANISHED * values[0])
        self->axes++;
    if (status == UC_OK)
        status = take_axes(self, map, values, vectors, copy);
    uc_free(copy);
cleanup:
    uc_free(vectors);
    uc_free(values);
    uc_free(sums);
    return status;
}

/* ---- coordinates ---- */

static uc_status project_block(size_t block, void *user)
{
    const axes_job *job = user;
    const uc_audit_view *self = job->view;
    const uc_range rows = uc_block_range(block, job->X->rows, ROWS_PER_BLOCK);
    const size_t count = rows.last - rows.first, m = self->rows->landmarks, D = self->axes;
    double *values = uc_alloc(count * m, sizeof *values), *A = self->A + rows.first * D;
    double *work = uc_alloc(uc_audit_view_work(self->rows, count), sizeof *work);
    if (values && work) {
        uc_audit_view_kernel(values, self->rows, job->X, rows.first, rows.last, self->width, work);
        for (size_t i = 0; i < count; i++)
            for (size_t d = 0; d < D; d++)
                A[i * D + d] = -self->shift[d];
        uc_gemm(A, D, (uc_operand){values, m, false}, (uc_operand){self->projection, D, false}, count, m, D,
                1.0, 1.0);
    }
    const uc_status status = values && work ? UC_OK : UC_ERR_NOMEM;
    uc_free(work);
    uc_free(values);
    return status;
}

static uc_status project_rows(uc_audit_view *self, const uc_matrix *X, const uc_labelled *labelled)
{
    const double bytes = 8.0 * (double)X->rows * (double)self->axes;
    axes_job job = {.view = self, .X = X};
    uc_status status = uc_memory_check(labelled->context, bytes, "the mapped rows of audit");
    if (status == UC_OK && !(self->A = uc_alloc(X->rows * self->axes, sizeof *self->A)))
        status = UC_ERR_NOMEM;
    if (status == UC_OK)
        status =
            uc_run_blocks(labelled->context, uc_block_count(X->rows, ROWS_PER_BLOCK), project_block, &job);
    return uc_comm_agree(uc_comm_of(labelled->context), status);
}

/* ---- axes of all rows within the space spanned by the axes of some ---- */

/* Adds u b b' (D x D, the lower triangle), then u b, for `count` rows of B. `scaled` has room for count x D
 * numbers, `squares` for D x D. */
static void add_weighted_single(double *sum, const float *B, const double *weights, size_t count, size_t D,
                                float *scaled, float *squares)
{
    const double unit = weights ? uc_audit_unit(weights, count) : 1.0;
    for (size_t i = 0; i < count; i++) {
        const double weight = weights ? weights[i] : 1.0;
        const float root = (float)sqrt(weight / unit);
        for (size_t d = 0; d < D; d++) {
            sum[D * D + d] += weight * B[i * D + d];
            scaled[i * D + d] = root * B[i * D + d];
        }
    }
    uc_squares_single(squares, scaled, count, D);
    for (size_t d = 0; d < D; d++)
        for (size_t e = 0; e <= d; e++)
            sum[d * D + e] += unit * (double)squares[d * D + e];
}

/* Stores b of the rows and adds their moments. */
static uc_status place_rows(double *sum, size_t first, size_t last, void *user)
{
    const axes_job *job = user;
    const uc_audit_view *self = job->view;
    const size_t count = last - first, m = self->rows->landmarks, D = self->axes;
    double *values = uc_alloc(count * m, sizeof *values);
    double *work = uc_alloc(uc_audit_view_work(self->rows, count), sizeof *work);
    float *centred = uc_alloc(count * m, sizeof *centred), *squares = uc_alloc(D * D, sizeof *squares);
    float *B = job->B + first * D;
    uc_status status = UC_ERR_NOMEM;
    if (!values || !work || !centred || !squares)
        goto cleanup;
    uc_audit_view_kernel(values, self->rows, job->X, first, last, self->width, work);
    for (size_t i = 0; i < count; i++)
        for (size_t l = 0; l < m; l++)
            centred[i * m + l] = (float)(values[i * m + l] - job->map->centre[l]);
    uc_gemm_single(B, (uc_single_operand){centred, m, false}, (uc_single_operand){job->projection, D, false},
                   count, m, D);
    assert(D <= m); /* `centred` has room for the scaled rows */
    add_weighted_single(sum, B, job->weights ? job->weights + first : NULL, count, D, centred, squares);
    status = UC_OK;
cleanup:
    uc_free(squares);
    uc_free(centred);
    uc_free(work);
    uc_free(values);
    return status;
}

/* P = P_0 Q and shift = Q'(P_0'c + m), given the vectors (the rows of Q') and P_0 as the projection. */
static uc_status turn_axes(uc_audit_view *self, const double *vectors, const double *centre)
{
    const size_t m = self->rows->landmarks, D = self->axes;
    double *first = self->projection, *offset = uc_alloc(D, sizeof *offset);
    self->projection = uc_alloc(m * D, sizeof *self->projection);
    if (offset && self->projection) {
        memcpy(offset, self->mean, D * sizeof *offset);
        for (size_t l = 0; l < m; l++)
            uc_axpy(offset, centre[l], first + l * D, D);
        for (size_t d = 0; d < D; d++) {
            self->shift[d] = uc_dot(vectors + d * D, offset, D);
            for (size_t b = 0; b < D; b++)
                self->turn[b * D + d] = vectors[d * D + b];
        }
        uc_multiply(self->projection, first, self->turn, m, D, D);
    }
    const uc_status status = offset && self->projection ? UC_OK : UC_ERR_NOMEM;
    uc_free(offset);
    uc_free(first);
    return status;
}

/* Finds the axes, given the moments of b, and the variances w, which are not negative. */
static uc_status turn(uc_audit_view *self, double *sums, const nystroem *map, const uc_labelled *labelled)
{
    const size_t D = self->axes;
    double *vectors = uc_alloc(D * D, sizeof *vectors);
    self->mean = uc_alloc(D, sizeof *self->mean);
    self->turn = uc_alloc(D * D, sizeof *self->turn);
    uc_status status = vectors && self->mean && self->turn ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK) {
        centre_moments(sums, D, labelled->total_weight);
        memcpy(self->mean, sums + D * D, D * sizeof *self->mean);
        status = uc_eigen_top(self->w, vectors, sums, D, D, labelled->context);
    }
    for (size_t d = 0; d < D && status == UC_OK; d++)
        self->w[d] = fmax(self->w[d], 0.0);
    if (status == UC_OK)
        status = turn_axes(self, vectors, map->centre);
    uc_free(vectors);
    return uc_comm_agree(uc_comm_of(labelled->context), status);
}

/* Coordinates of all rows on P_0, which self->projection holds, and their axes. */
static uc_status place(uc_audit_view *self, const nystroem *map, const uc_matrix *X,
                       const uc_labelled *labelled)
{
    const size_t m = self->rows->landmarks, D = self->axes;
    const double bytes = (double)sizeof *self->B * (double)X->rows * (double)D;
    float *projection = uc_alloc(m * D, sizeof *projection);
    double *sums = uc_alloc(D * D + D, sizeof *sums);
    uc_status status = uc_memory_check(labelled->context, bytes, "the mapped rows of audit");
    if (status == UC_OK && !(self->B = uc_alloc(X->rows * D, sizeof *self->B)))
        status = UC_ERR_NOMEM;
    if (!projection || !sums)
        status = UC_ERR_NOMEM;
    status = uc_comm_agree(uc_comm_of(labelled->context), status);
    if (status != UC_OK)
        goto cleanup;
    for (size_t i = 0; i < m * D; i++)
        projection[i] = (float)self->projection[i];
    axes_job job = {.view = self,
                    .X = X,
                    .weights = labelled->weights,
                    .map = map,
                    .projection = projection,
                    .B = self->B};
    status = uc_sum_over(labelled->context, X->rows, place_rows, &job, sums, D * D + D);
    if (status == UC_OK)
        status = turn(self, sums, map, labelled);
cleanup:
    uc_free(sums);
    uc_free(projection);
    return status;
}

/* Coordinates of all rows, from the axes of some. */
static uc_status place_by_some(uc_audit_view *self, const nystroem *map, const uc_matrix *X,
                               const uc_labelled *labelled, size_t most, const uc_some_rows *some)
{
    uc_labelled few = {.annotations = &some->annotations,
                       .gold = some->gold,
                       .weights = some->weights,
                       .context = labelled->context};
    uc_status status = uc_labelled_weigh(&few);
    if (status == UC_OK)
        status = find_axes(self, map, &some->X, &few, most);
    status = uc_comm_agree(uc_comm_of(labelled->context), status);
    return status == UC_OK && self->axes > 0 ? place(self, map, X, labelled) : status;
}

/* ---- shrinkage ---- */

#define LEAST_SHRINKAGE 1e-3
#define SHRINKAGE_FACTOR 1.25
#define ENOUGH_SHRINKAGE 0.8
#define MOST_MEAN_LEVERAGE 0.1

/* Sets q for this s; returns sum_d (1 - s) w_d q_d. */
static double shrink(uc_audit_view *self, double s)
{
    double mean = 0.0, sum = 0.0;
    for (size_t d = 0; d < self->axes; d++)
        mean += self->w[d] / (double)self->axes;
    for (size_t d = 0; d < self->axes; d++) {
        self->q[d] = 1.0 / ((1.0 - s) * self->w[d] + s * mean);
        sum += (1.0 - s) * self->w[d] * self->q[d];
    }
    self->s = s;
    return sum;
}

static uc_status find_shrinkage(uc_audit_view *self, const uc_labelled *labelled)
{
    double s = LEAST_SHRINKAGE;
    self->q = uc_alloc(self->axes, sizeof *self->q);
    if (!self->q)
        return UC_ERR_NOMEM;
    while (shrink(self, s) / labelled->total_weight > MOST_MEAN_LEVERAGE && s < ENOUGH_SHRINKAGE)
        s *= SHRINKAGE_FACTOR;
    return uc_audit_find_leverage(self, labelled);
}

/* ---- all ---- */

uc_status uc_audit_view_make(uc_audit_view *out, const uc_audit_rows *rows, const uc_matrix *X,
                             const uc_labelled *labelled, double width, size_t most_axes,
                             const uc_some_rows *some)
{
    uc_audit_view self = {.rows = rows, .width = rows->median / width};
    nystroem map = {0};
    if (!(rows->median > 0.0)) {
        *out = self;
        return UC_OK;
    }
    uc_status status = whiten(&map, rows, rows->source, self.width, labelled);
    status = uc_comm_agree(uc_comm_of(labelled->context), status);
    if (status == UC_OK && some)
        status = place_by_some(&self, &map, X, labelled, most_axes, some);
    else if (status == UC_OK) {
        status = find_axes(&self, &map, X, labelled, most_axes);
        status = uc_comm_agree(uc_comm_of(labelled->context), status);
        if (status == UC_OK)
            status = project_rows(&self, X, labelled);
    }
    if (status == UC_OK)
        status = uc_comm_agree(uc_comm_of(labelled->context), find_shrinkage(&self, labelled));
    free_nystroem(&map);
    if (status == UC_OK)
        *out = self;
    else
        uc_audit_view_free(&self);
    return status;
}

void uc_audit_view_free(uc_audit_view *self)
{
    uc_free(self->projection);
    uc_free(self->shift);
    uc_free(self->w);
    uc_free(self->A);
    uc_free(self->B);
    uc_free(self->mean);
    uc_free(self->turn);
    uc_free(self->q);
    uc_free(self->h);
    *self = (uc_audit_view){0};
}
