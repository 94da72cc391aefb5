/*
 * Randomised block Krylov iteration (Musco, Musco, Randomized block Krylov methods for stronger and faster approximate
 * singular value decomposition, NIPS 2015), with the basis kept orthonormal as in Lanczos' method.
 *
 *   Q      n x m, orthonormal columns, grows by a block of b columns at a time
 *   Q_1 = orth(A Omega),  Omega Gaussian;   Q_j+1 = orth((I - Q Q') A Q_j)
 *   T = Q' A Q = S diag(theta) S'           the eigenvalues theta and vectors Q S are those of A restricted to span Q
 *
 * Subspace iteration keeps only the last block; here all of them are searched, so that after j products the error
 * falls as the best polynomial of degree j allows, not as the power j. Small blocks allow more products, so for the
 * same work they are more accurate; too small ones waste the speed of GEMM.
 *
 * Every block is projected and orthonormalised twice, which is enough. Orthonormal means Z U s^-1/2 where
 * Z'Z = U diag(s) U'; directions with a vanishing s are dropped, so a matrix of low rank ends the iteration early.
 */
#include "map/krylov.h"

#include <math.h>
#include <string.h>

#include "unconfuse/random.h"

#define SEQUENCE_START UINT64_C(0x6d61702d6b) /* "map-k" */
#define ROWS_PER_BLOCK ((size_t)256)
#define COLUMNS_PER_BLOCK ((size_t)64)
#define DEPENDENT 1e-14 /* of the largest s: these directions are rounding */

typedef struct krylov {
    const uc_krylov_problem *problem;
    const uc_context *context;
    size_t n, room;  /* columns of Q and T */
    size_t size;     /* columns in use */
    size_t width;    /* columns of Z in use */
    double *Q;       /* n x room */
    double *Z, *Y;   /* n x block */
    double *H;       /* room x block: Q'Z */
    double *T;       /* room x room */
    double *G, *U;   /* block x block */
    double *s;       /* block */
    double *vectors; /* n x wanted, the result; S below */
    const double *S; /* wanted x size */
} krylov;

double uc_krylov_bytes(const uc_krylov_problem *problem)
{
    const double n = (double)problem->n, room = (double)(problem->dimension + problem->block);
    const double block = (double)problem->block, wanted = (double)problem->wanted;
    return sizeof(double) *
           (n * (room + 2.0 * block + wanted) + room * (room + block + wanted) + 2.0 * block * block);
}

static size_t blocks_of(size_t count, size_t size)
{
    return (count + size - 1) / size;
}

static size_t part_of(size_t count, size_t size, size_t block)
{
    return count - block * size < size ? count - block * size : size;
}

/* ---- the parts of a step, each over blocks of its result ---- */

static uc_status overlap_job(size_t block, void *user) /* H = Q'Z */
{
    const krylov *k = user;
    const size_t first = block * COLUMNS_PER_BLOCK, count = part_of(k->size, COLUMNS_PER_BLOCK, block);
    uc_gemm(k->H + first * k->width, k->width, (uc_operand){k->Q + first, k->room, true},
            (uc_operand){k->Z, k->width, false}, count, k->n, k->width, 1.0, 0.0);
    return UC_OK;
}

static uc_status subtract_job(size_t block, void *user) /* Z -= Q H */
{
    const krylov *k = user;
    const size_t first = block * ROWS_PER_BLOCK, count = part_of(k->n, ROWS_PER_BLOCK, block);
    uc_gemm(k->Z + first * k->width, k->width, (uc_operand){k->Q + first * k->room, k->room, false},
            (uc_operand){k->H, k->width, false}, count, k->size, k->width, -1.0, 1.0);
    return UC_OK;
}

static uc_status gram_job(size_t block, void *user) /* G = Z'Z */
{
    const krylov *k = user;
    const size_t size = COLUMNS_PER_BLOCK / 2, first = block * size, count = part_of(k->width, size, block);
    uc_gemm(k->G + first * k->width, k->width, (uc_operand){k->Z + first, k->width, true},
            (uc_operand){k->Z, k->width, false}, count, k->n, k->width, 1.0, 0.0);
    return UC_OK;
}

typedef struct rotation {
    const krylov *k;
    size_t kept;
} rotation;

static uc_status rotate_job(size_t block, void *user) /* Y = Z U', of the directions kept */
{
    const rotation *turn = user;
    const krylov *k = turn->k;
    const size_t first = block * ROWS_PER_BLOCK, count = part_of(k->n, ROWS_PER_BLOCK, block);
    uc_gemm(k->Y + first * turn->kept, turn->kept, (uc_operand){k->Z + first * k->width, k->width, false},
            (uc_operand){k->U, k->width, true}, count, k->width, turn->kept, 1.0, 0.0);
    return UC_OK;
}

static uc_status vectors_job(size_t block, void *user) /* Q S */
{
    const krylov *k = user;
    const size_t first = block * ROWS_PER_BLOCK, count = part_of(k->n, ROWS_PER_BLOCK, block);
    const size_t wanted = k->problem->wanted;
    uc_gemm(k->vectors + first * wanted, wanted, (uc_operand){k->Q + first * k->room, k->room, false},
            (uc_operand){k->S, k->size, true}, count, k->size, k->size < wanted ? k->size : wanted, 1.0, 0.0);
    return UC_OK;
}

/* ---- a step ---- */

/* Blocks of rows of an n x `columns` array, dealt out to the processes: all hold all of it. */
static uc_status share_rows(const krylov *k, uc_block_job *job, void *user, double *array, size_t columns)
{
    const size_t bytes = columns * sizeof *array;
    return uc_share_blocks(k->context, blocks_of(k->n, ROWS_PER_BLOCK), job, user, array,
                           ROWS_PER_BLOCK * bytes, k->n * bytes);
}

static uc_status overlap(krylov *k)
{
    const size_t bytes = k->width * sizeof *k->H;
    return uc_share_blocks(k->context, blocks_of(k->size, COLUMNS_PER_BLOCK), overlap_job, k, k->H,
                           COLUMNS_PER_BLOCK * bytes, k->size * bytes);
}

static uc_status subtract(krylov *k)
{
    return k->size ? share_rows(k, subtract_job, k, k->Z, k->width) : UC_OK;
}

/* Z becomes orthonormal; its width shrinks by the directions with s at or below `floor`, or that are dependent. */
static uc_status orthonormalise(krylov *k, double floor)
{
    const size_t bytes = k->width * sizeof *k->G;
    uc_status status = uc_share_blocks(k->context, blocks_of(k->width, COLUMNS_PER_BLOCK / 2), gram_job, k,
                                       k->G, COLUMNS_PER_BLOCK / 2 * bytes, k->width * bytes);
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

/* Z, from which its part in the span of Q was taken once, becomes the next block of Q. */
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
        status = orthonormalise(k, 0.25); /* what was rounding in the first pass has lost its length now */
    for (size_t i = 0; i < k->n && status == UC_OK; i++)
        memcpy(k->Q + i * k->room + k->size, k->Z + i * k->width, k->width * sizeof *k->Q);
    if (status == UC_OK)
        k->size += k->width;
    return status;
}

/* Z = A times the newest block, less its part in the span of Q, which fills in T. */
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
    return status == UC_OK ? subtract(k) : status;
}

static uc_status start(krylov *k)
{
    const uc_krylov_problem *problem = k->problem;
    uc_rng rng = uc_rng_make(problem->seed, SEQUENCE_START);
    for (size_t i = 0; i < k->n; i++)
        for (size_t j = 0; j < problem->block; j++)
            k->Q[i * k->room + j] = uc_rng_normal(&rng);
    k->width = problem->block;
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
        if (status == UC_OK && (k->size >= dimension || k->size + k->width > k->n))
            break;
        if (status == UC_OK)
            status = append(k);
    }
    return status;
}

/* ---- the eigenvalues of T ---- */

static uc_status extract(double *values, size_t *found, krylov *k)
{
    const size_t size = k->size, count = size < k->problem->wanted ? size : k->problem->wanted;
    double *S = uc_alloc(count * size, sizeof *S);
    if (!S)
        return UC_ERR_NOMEM;
    for (size_t i = 0; i < size; i++) /* rows of T move together */
        memmove(k->T + i * size, k->T + i * k->room, size * sizeof *k->T);
    uc_status status = size > 0 ? uc_eigen_top(values, S, k->T, size, count, k->context) : UC_OK;
    k->S = S;
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
    const size_t n = problem->n, b = problem->block, room = problem->dimension + b;
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
