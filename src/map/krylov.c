/*
 * Randomised block Krylov iteration (Musco, Musco, Randomized block Krylov methods for stronger and faster
 * approximate singular value decomposition, NIPS 2015), with the basis kept orthonormal as in Lanczos'
 * method.
 *
 *   Q      n x m, orthonormal columns, grows by b columns at a time
 *   Q_1 = orth(A Omega),  Omega Gaussian;   Q_j+1 = orth((I - Q Q') A Q_j)
 *   T = Q' A Q = S diag(theta) S'           eigenvalues theta and vectors Q S of A restricted to span Q
 *
 * Subspace iteration keeps only the last b columns. Here all columns are searched, so that after j products
 * the error falls as the best polynomial of degree j allows, not as the power j. A smaller b allows more
 * products, and so is more accurate for the same work, but if it is too small it wastes the speed of GEMM.
 *
 * New columns are projected and orthonormalised twice, which is enough. Orthonormal means Z U s^-1/2 where
 * Z'Z = U diag(s) U'; directions with a vanishing s are dropped, so a matrix of low rank ends the
 * iteration early.
 */
#include "map/krylov.h"

#include <math.h>
#include <string.h>

#include "unconfuse/random.h"

#define SEQUENCE_START UINT64_C(0x6d61702d6b) /* "map-k" */
#define ROWS_PER_BLOCK ((size_t)256)
#define ROWS_OF_PRODUCTS ((size_t)64)
#define DEPENDENT 1e-14 /* relative to the largest s; directions below it are only rounding */

typedef struct krylov {
    const uc_krylov_problem *problem;
    const uc_context *context;
    size_t n, room;  /* rows; columns that Q and T have room for */
    size_t size;     /* columns of Q and T in use */
    size_t width;    /* columns of Z in use */
    double *Q;       /* n x room */
    double *Z, *Y;   /* n x at_once */
    double *H;       /* room x at_once: Q'Z */
    double *T;       /* room x room */
    double *G, *U;   /* at_once x at_once */
    double *s;       /* at_once */
    double *vectors; /* n x wanted, the result; S below */
    const double *S; /* wanted x size */
} krylov;

double uc_krylov_bytes(const uc_krylov_problem *problem)
{
    const double n = (double)problem->n, room = (double)(problem->dimension + problem->at_once);
    const double b = (double)problem->at_once, wanted = (double)problem->wanted;
    return sizeof(double) * (n * (room + 2.0 * b + wanted) + room * (room + b + wanted) + 2.0 * b * b);
}

/* ---- the parts of an iteration; each computes blocks of rows of its result ---- */

static uc_status overlap_job(size_t block, void *user) /* H = Q'Z */
{
    const krylov *k = user;
    const uc_range rows = uc_block_range(block, k->size, ROWS_OF_PRODUCTS);
    const size_t first = rows.first, count = rows.last - first;
    uc_gemm(k->H + first * k->width, k->width, (uc_operand){k->Q + first, k->room, true},
            (uc_operand){k->Z, k->width, false}, count, k->n, k->width, 1.0, 0.0);
    return UC_OK;
}

static uc_status subtract_job(size_t block, void *user) /* Z -= Q H */
{
    const krylov *k = user;
    const uc_range rows = uc_block_range(block, k->n, ROWS_PER_BLOCK);
    const size_t first = rows.first, count = rows.last - first;
    uc_gemm(k->Z + first * k->width, k->width, (uc_operand){k->Q + first * k->room, k->room, false},
            (uc_operand){k->H, k->width, false}, count, k->size, k->width, -1.0, 1.0);
    return UC_OK;
}

static uc_status gram_job(size_t block, void *user) /* G = Z'Z */
{
    const krylov *k = user;
    const uc_range rows = uc_block_range(block, k->width, ROWS_OF_PRODUCTS / 2);
    const size_t first = rows.first, count = rows.last - first;
    uc_gemm(k->G + first * k->width, k->width, (uc_operand){k->Z + first, k->width, true},
            (uc_operand){k->Z, k->width, false}, count, k->n, k->width, 1.0, 0.0);
    return UC_OK;
}

typedef struct rotation {
    const krylov *k;
    size_t kept;
} rotation;

static uc_status rotate_job(size_t block, void *user) /* Y = Z U', for the directions kept */
{
    const rotation *turn = user;
    const krylov *k = turn->k;
    const uc_range rows = uc_block_range(block, k->n, ROWS_PER_BLOCK);
    const size_t first = rows.first, count = rows.last - first;
    uc_gemm(k->Y + first * turn->kept, turn->kept, (uc_operand){k->Z + first * k->width, k->width, false},
            (uc_operand){k->U, k->width, true}, count, k->width, turn->kept, 1.0, 0.0);
    return UC_OK;
}

static uc_status vectors_job(size_t block, void *user) /* Q S */
{
    const krylov *k = user;
    const uc_range rows = uc_block_range(block, k->n, ROWS_PER_BLOCK);
    const size_t first = rows.first, count = rows.last - first;
    const size_t wanted = k->problem->wanted;
    uc_gemm(k->vectors + first * wanted, wanted, (uc_operand){k->Q + first * k->room, k->room, false},
            (uc_operand){k->S, k->size, true}, count, k->size, uc_min_size(k->size, wanted), 1.0, 0.0);
    return UC_OK;
}

/* ---- an iteration ---- */

/* Divides the blocks of rows of an n x `columns` array among the processes; afterwards all have all of it. */
static uc_status share_rows(const krylov *k, uc_block_job *job, void *user, double *array, size_t columns)
{
    const size_t bytes = columns * sizeof *array;
    return uc_share_blocks(k->context, uc_block_count(k->n, ROWS_PER_BLOCK), job, user, array,
                           ROWS_PER_BLOCK * bytes, k->n * bytes);
}

static uc_status overlap(krylov *k)
{
    const size_t bytes = k->width * sizeof *k->H;
    return uc_share_blocks(k->context, uc_block_count(k->size, ROWS_OF_PRODUCTS), overlap_job, k, k->H,
                           ROWS_OF_PRODUCTS * bytes, k->size * bytes);
}

static uc_status subtract(krylov *k)
{
    if (k->size == 0)
        return UC_OK;
    return share_rows(k, subtract_job, k, k->Z, k->width);
}

/* Makes Z orthonormal, and drops directions that are dependent or whose s is at most `floor`. */
static uc_status orthonormalise(krylov *k, double floor)
{
    const size_t bytes = k->width * sizeof *k->G;
    uc_status status = uc_share_blocks(k->context, uc_block_count(k->width, ROWS_OF_PRODUCTS / 2), gram_job,
                                       k, k->G, ROWS_OF_PRODUCTS / 2 * bytes, k->width * bytes);
    if (status == UC_OK)
        status = uc_eigen_top(k->s, k->U, k->G, k->width, k->width, k->context);
    if (status != UC_OK)
        return status;
    rotation turn = {k, 0};
    if (k->s[0] * DEPENDENT > floor)
        floor = k->s[0] * DEPENDENT;
    for (; turn.kept < k->width && k->s[turn.kept] > floor; turn.kept++)
        for (size_t i = 0; i < k->width; i++)
            k->U[turn.kept * k->width + i] /= sqrt(k->s[turn.kept]);
    if (turn.kept > 0)
        status = share_rows(k, rotate_job, &turn, k->Y, turn.kept);
    double *rotated = k->Y;
    k->Y = k->Z;
    k->Z = rotated;
    k->width = turn.kept;
    return status;
}

/* Makes Z the next columns of Q. Its part in the span of Q was subtracted once before. */
static uc_status append(krylov *k)
{
    double largest = 0.0;
    for (size_t i = 0; i < k->size; i++)
        largest = fmax(largest, k->T[i * k->room + i]);
    const double length = 0.1 * k->problem->vanished * largest;
    uc_status status = orthonormalise(k, length * length);
    if (status == UC_OK && k->width > 0 && k->size > 0) {
        status = overlap(k);
        if (status == UC_OK)
            status = subtract(k);
    }
    if (status == UC_OK && k->width > 0)
        status = orthonormalise(k, 0.25); /* directions that were only rounding have become short by now */
    for (size_t i = 0; i < k->n && status == UC_OK; i++)
        memcpy(k->Q + i * k->room + k->size, k->Z + i * k->width, k->width * sizeof *k->Q);
    if (status == UC_OK)
        k->size += k->width;
    return status;
}

/* Z = A times the newest columns, minus its part in the span of Q, which goes to T. */
static uc_status multiply(krylov *k)
{
    const uc_krylov_problem *problem = k->problem;
    const size_t first = k->size - k->width;
    uc_status status = problem->multiply(k->Z, k->Q + first, k->room, k->width, problem->user);
    if (status == UC_OK)
        status = overlap(k);
    for (size_t i = 0; i < k->size && status == UC_OK; i++)
        for (size_t j = 0; j < k->width; j++)
            k->T[i * k->room + first + j] = k->T[(first + j) * k->room + i] = k->H[i * k->width + j];
    if (status != UC_OK)
        return status;
    return subtract(k);
}

static uc_status start(krylov *k)
{
    const uc_krylov_problem *problem = k->problem;
    uc_rng rng = uc_rng_make(problem->seed, SEQUENCE_START);
    for (size_t i = 0; i < k->n; i++)
        for (size_t j = 0; j < problem->at_once; j++)
            k->Q[i * k->room + j] = uc_rng_normal(&rng);
    k->width = problem->at_once;
    return problem->multiply(k->Z, k->Q, k->room, k->width, problem->user);
}

static uc_status grow(krylov *k)
{
    const size_t dimension = k->problem->dimension;
    uc_status status = start(k);
    if (status == UC_OK)
        status = append(k);
    while (status == UC_OK && k->width > 0) {
        status = multiply(k);
        if (status == UC_OK)
            status = uc_report(k->context, "kernel PCA", (double)k->size, (double)dimension, NULL);
        if (status != UC_OK || k->size >= dimension || k->size + k->width > k->n)
            break;
        status = append(k);
    }
    return status;
}

/* ---- the eigenvalues of T ---- */

static uc_status extract(double *values, size_t *found, krylov *k)
{
    const size_t size = k->size, count = uc_min_size(size, k->problem->wanted);
    double *S = uc_alloc(count * size, sizeof *S);
    if (!S)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < size; i++) /* removes the gaps between the rows of T */
        memmove(k->T + i * size, k->T + i * k->room, size * sizeof *k->T);
    uc_status status = UC_OK;
    k->S = S;
    if (size > 0)
        status = uc_eigen_top(values, S, k->T, size, count, k->context);
    if (status == UC_OK && size > 0)
        status = share_rows(k, vectors_job, k, k->vectors, k->problem->wanted);
    uc_free(S);
    if (status == UC_OK)
        *found = count;
    return status;
}

uc_status uc_krylov(double *values, double *vectors, size_t *found, const uc_krylov_problem *problem,
                    const uc_context *context)
{
    const size_t n = problem->n, b = problem->at_once, room = problem->dimension + b;
    assert(problem->wanted <= problem->dimension && problem->dimension <= n && b <= problem->dimension);
    krylov k = {.problem = problem, .context = context, .n = n, .room = room, .vectors = vectors};
    k.Q = uc_alloc(n * room, sizeof *k.Q);
    k.Z = uc_alloc(n * b, sizeof *k.Z);
    k.Y = uc_alloc(n * b, sizeof *k.Y);
    k.H = uc_alloc(room * b, sizeof *k.H);
    k.T = uc_alloc(room * room, sizeof *k.T);
    k.G = uc_alloc(b * b, sizeof *k.G);
    k.U = uc_alloc(b * b, sizeof *k.U);
    k.s = uc_alloc(b, sizeof *k.s);
    uc_status status = UC_ERR_NOMEM;
    if (k.Q && k.Z && k.Y && k.H && k.T && k.G && k.U && k.s)
        status = grow(&k);
    if (status == UC_OK)
        status = extract(values, found, &k);
    uc_free(k.s);
    uc_free(k.U);
    uc_free(k.G);
    uc_free(k.T);
    uc_free(k.H);
    uc_free(k.Y);
    uc_free(k.Z);
    uc_free(k.Q);
    return status;
}
