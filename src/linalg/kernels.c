/*
 * The kernels for rows. This file is compiled once for every CPU level, which UC_KERNEL_LEVEL names.
 *
 * Weights are feature-major with a stride S of 1, 2 or a multiple of 4 (uc_class_stride). So a row's value
 * x_j is multiplied by one contiguous run of S weights, and no loop over classes has a scalar tail: every
 * class is summed by the same instructions in the same order. Two sums, over the even and the odd entries of
 * the row, hide the latency of the additions; they are added at the end. (One and two classes have more.)
 *
 * Vectors are compiler vector types, never wider than the registers of the level, because gcc moves wider
 * ones through memory.
 */
#include <math.h>
#include <string.h>

#include "linalg/kernels.h"
#include "linalg/linalg.h"
#include "linalg/vectors.h"

#define PREFETCH_DISTANCE 12       /* entries: about as long as a cache line takes to arrive from memory */
#define FLOATS_AHEAD ((size_t)768) /* about what memory delivers while a cache line is on its way */
#define SWEEP_COLUMNS ((size_t)256)
#define WHOLE_COLUMN 64 /* a row's weights for this many classes stay in the L1 cache while it is scored */

ALWAYS_INLINE size_t column_at(uc_row row, size_t i, bool dense)
{
    return dense ? i : row.columns[i];
}

/* Prefetches `doubles` of the weights of the entry that comes PREFETCH_DISTANCE later. */
ALWAYS_INLINE void prefetch(const double *W, size_t S, uc_row row, size_t i, bool dense, size_t doubles)
{
    if (!dense && i + PREFETCH_DISTANCE < row.count)
        for (size_t at = 0; at < doubles; at += 8)
            __builtin_prefetch(W + row.columns[i + PREFETCH_DISTANCE] * S + at);
}

/* The same for the first entries, which no earlier entry prefetches. */
ALWAYS_INLINE void prefetch_first(const double *W, size_t S, uc_row row, bool dense)
{
    for (size_t i = 0; !dense && i < PREFETCH_DISTANCE && i < row.count; i++)
        for (size_t at = 0; at < S; at += 8)
            __builtin_prefetch(W + row.columns[i] * S + at);
}

/* ---- scores: one function for each width of a group of classes ---- */

#define DEFINE_SCORES(name, vector, vectors)                                                                 \
    ALWAYS_INLINE void name(double *scores, uc_row row, const double *W, size_t S, bool dense, size_t asked) \
    {                                                                                                        \
        enum { RUN = sizeof(vector) / sizeof(double) };                                                      \
        vector even[vectors], odd[vectors];                                                                  \
        memset(even, 0, sizeof even);                                                                        \
        memset(odd, 0, sizeof odd);                                                                          \
        size_t i = 0;                                                                                        \
        for (; i + 1 < row.count; i += 2) {                                                                  \
            const double x = row.values[i], z = row.values[i + 1];                                           \
            const double *w = W + column_at(row, i, dense) * S, *v = W + column_at(row, i + 1, dense) * S;   \
            prefetch(W, S, row, i, dense, asked);                                                            \
            prefetch(W, S, row, i + 1, dense, asked);                                                        \
            for (size_t b = 0; b < vectors; b++) {                                                           \
                even[b] += x * LOAD(vector, w + b * RUN);                                                    \
                odd[b] += z * LOAD(vector, v + b * RUN);                                                     \
            }                                                                                                \
        }                                                                                                    \
        if (i < row.count)                                                                                   \
            for (size_t b = 0; b < vectors; b++)                                                             \
                even[b] += (double)row.values[i] * LOAD(vector, W + column_at(row, i, dense) * S + b * RUN); \
        for (size_t b = 0; b < vectors; b++)                                                                 \
            STORE(vector, scores + b * RUN) += even[b] + odd[b];                                             \
    }

#ifdef __AVX__
typedef quad widest;
typedef quad_at_any_address widest_at_any_address;
#define WIDEN(x) ((quad){(x)[0], (x)[1], (x)[2], (x)[3]}) /* floats to doubles, in one instruction */
#define GATHER(w, at) ((quad){(w)[(at)[0]], (w)[(at)[1]], (w)[(at)[2]], (w)[(at)[3]]})
#else
typedef pair widest;
typedef pair_at_any_address widest_at_any_address;
#define WIDEN(x) ((pair){(x)[0], (x)[1]})
#define GATHER(w, at) ((pair){(w)[(at)[0]], (w)[(at)[1]]})
#endif
#define WIDTH (sizeof(widest) / sizeof(double))
#define VECTORS(classes) ((classes) * sizeof(double) / sizeof(widest))

DEFINE_SCORES(scores_of_4, widest, VECTORS(4))
DEFINE_SCORES(scores_of_8, widest, VECTORS(8))
DEFINE_SCORES(scores_of_12, widest, VECTORS(12))
DEFINE_SCORES(scores_of_16, widest, VECTORS(16))
DEFINE_SCORES(scores_of_20, widest, VECTORS(20))
DEFINE_SCORES(scores_of_24, widest, VECTORS(24))
DEFINE_SCORES(scores_of_28, widest, VECTORS(28))

/* Two classes: an entry takes a single addition, so only eight sums hide their latency. A quad has the sums
 * of two entries. */
#ifdef __AVX__
#define TWICE(x) ((quad){(x)[0], (x)[0], (x)[1], (x)[1]})
#endif

ALWAYS_INLINE void scores_of_2(double *scores, uc_row row, const double *W, bool dense)
{
    enum { SUMS = 8 };
    double sums[SUMS][2] = {{0}};
    size_t i = 0;
#ifdef __AVX__
    if (dense) {
        quad two[SUMS / 2] = {{0}};
        for (; i + SUMS <= row.count; i += SUMS)
            for (size_t b = 0; b < SUMS / 2; b++) {
                const float *x = row.values + i + 2 * b;
                two[b] += TWICE(x) * LOAD(quad, W + 2 * (i + 2 * b));
            }
        memcpy(sums, two, sizeof sums);
    }
#endif
    for (; i + SUMS <= row.count; i += SUMS)
        for (size_t b = 0; b < SUMS; b++) {
            const double x = row.values[i + b];
            prefetch(W, 2, row, i + b, dense, 2);
            STORE(pair, sums[b]) += x * LOAD(pair, W + 2 * column_at(row, i + b, dense));
        }
    for (size_t b = 0; i < row.count; i++, b++) {
        const double x = row.values[i];
        STORE(pair, sums[b]) += x * LOAD(pair, W + 2 * column_at(row, i, dense));
    }
    for (size_t q = 0; q < 2; q++)
        scores[q] += ((sums[0][q] + sums[1][q]) + (sums[2][q] + sums[3][q])) +
                     ((sums[4][q] + sums[5][q]) + (sums[6][q] + sums[7][q]));
}

/* One vector of the row's values i, i + 1, ... times their weights. */
ALWAYS_INLINE widest products_at(uc_row row, size_t i, const double *w, bool dense)
{
    const float *x = row.values + i;
    if (dense)
        return WIDEN(x) * LOAD(widest, w + i);
    const uint32_t *column = row.columns + i;
    return WIDEN(x) * GATHER(w, column);
}

/* Four vectors of sums hide the latency of the additions, so that a dense row waits only for memory. Sparse
 * rows are summed in the same order. */
ALWAYS_INLINE double dot_of(uc_row row, const double *w, bool dense)
{
    widest a = {0}, b = {0}, c = {0}, d = {0};
    size_t i = 0;
    for (; i + 4 * WIDTH <= row.count; i += 4 * WIDTH) {
        a += products_at(row, i, w, dense);
        b += products_at(row, i + WIDTH, w, dense);
        c += products_at(row, i + 2 * WIDTH, w, dense);
        d += products_at(row, i + 3 * WIDTH, w, dense);
    }
    for (; i + WIDTH <= row.count; i += WIDTH)
        a += products_at(row, i, w, dense);
    double total = 0.0;
    for (; i < row.count; i++)
        total += (double)row.values[i] * w[column_at(row, i, dense)];
    const widest sums = (a + b) + (c + d);
    for (size_t lane = 0; lane < WIDTH; lane++)
        total += sums[lane];
    return total;
}

/* If the whole column fits in the cache, the first group of classes prefetches all of it; otherwise each
 * group prefetches its own part. */
ALWAYS_INLINE size_t doubles_asked(bool whole, size_t k, size_t S, size_t own)
{
    if (!whole)
        return own;
    return k == 0 ? S : 0;
}

ALWAYS_INLINE void scores_of(double *scores, uc_row row, const double *W, size_t S, bool dense)
{
    if (S == 1) {
        scores[0] += dot_of(row, W, dense);
        return;
    }
    if (S == 2) {
        scores_of_2(scores, row, W, dense);
        return;
    }
    const bool whole = S <= WHOLE_COLUMN;
    size_t k = 0;
    if (whole && S > 24)
        prefetch_first(W, S, row, dense);
    for (; k + 28 <= S; k += 28)
        scores_of_28(scores + k, row, W + k, S, dense, doubles_asked(whole, k, S, 28));
    const size_t rest = S - k, asked = doubles_asked(whole, k, S, rest);
    switch (rest) {
    case 24:
        scores_of_24(scores + k, row, W + k, S, dense, asked);
        break;
    case 20:
        scores_of_20(scores + k, row, W + k, S, dense, asked);
        break;
    case 16:
        scores_of_16(scores + k, row, W + k, S, dense, asked);
        break;
    case 12:
        scores_of_12(scores + k, row, W + k, S, dense, asked);
        break;
    case 8:
        scores_of_8(scores + k, row, W + k, S, dense, asked);
        break;
    case 4:
        scores_of_4(scores + k, row, W + k, S, dense, asked);
        break;
    default:
        break;
    }
}

static void scores(double *out, uc_row row, const double *W, size_t S)
{
    if (row.columns)
        scores_of(out, row, W, S, false);
    else
        scores_of(out, row, W, S, true);
}

/* ---- updates ---- */

ALWAYS_INLINE void axpy_of(double factor, uc_row row, double *w, bool dense)
{
    for (size_t i = 0; i < row.count; i++)
        w[column_at(row, i, dense)] += factor * (double)row.values[i];
}

ALWAYS_INLINE void update_of(double *W, size_t S, uc_row row, const double *tau, bool dense)
{
    if (S == 1) {
        axpy_of(tau[0], row, W, dense);
        return;
    }
    for (size_t i = 0; i < row.count; i++) {
        const double x = row.values[i];
        double *w = W + column_at(row, i, dense) * S;
        prefetch(W, S, row, i, dense, uc_min_size(S, 24));
        if (S == 2) {
            STORE(pair, w) += x * LOAD(pair, tau);
            continue;
        }
        for (size_t k = 0; k < S; k += 4)
            STORE(quad, w + k) += x * LOAD(quad, tau + k);
    }
}

static void update(double *W, size_t S, uc_row row, const double *tau)
{
    if (row.columns)
        update_of(W, S, row, tau, false);
    else
        update_of(W, S, row, tau, true);
}

static void outer(double *W, size_t rows, size_t S, const double *x, const double *tau)
{
    for (size_t j = 0; j < rows; j++)
        for (size_t k = 0; k < S; k++)
            W[j * S + k] += x[j] * tau[k];
}

static void axpy(double factor, uc_row row, double *w)
{
    if (row.columns)
        axpy_of(factor, row, w, false);
    else
        axpy_of(factor, row, w, true);
}

/* ---- products with one vector ---- */

static double dot(uc_row row, const double *w)
{
    if (row.columns)
        return dot_of(row, w, false);
    return dot_of(row, w, true);
}

/* Dense rows one after the other, each summed as in dot_of. Hardware prefetching does not look far enough
 * ahead from one short row to the next; in long rows it does better than explicit prefetching. */
static void dots(double *out, const float *rows, size_t stride, size_t count, size_t columns, const double *w)
{
    const size_t asked = columns <= SHORT_ROW ? columns : 0;
    for (size_t i = 0; i < count; i++) {
        const float *row = rows + i * stride;
        for (size_t j = 0; j < asked; j += FLOATS_PER_LINE)
            __builtin_prefetch(row + j + FLOATS_AHEAD);
        out[i] = dot_of((uc_row){columns, row, NULL}, w, true);
    }
}

/* w += sum_i factors[i] row_i; w is read and written once per ROWS rows. */
static void combine(double *w, const float *rows, size_t stride, size_t count, size_t columns,
                    const double *factors)
{
    enum { ROWS = 8 };
    size_t i = 0;
    for (; i + ROWS <= count; i += ROWS) {
        const float *x = rows + i * stride;
        size_t j = 0;
        for (; j + WIDTH <= columns; j += WIDTH) {
            widest even = LOAD(widest, w + j), odd = {0};
            for (size_t r = 0; r < ROWS; r += 2) {
                const float *a = x + r * stride + j, *b = a + stride;
                even += factors[i + r] * WIDEN(a);
                odd += factors[i + r + 1] * WIDEN(b);
            }
            STORE(widest, w + j) = even + odd;
        }
        for (; j < columns; j++)
            for (size_t r = 0; r < ROWS; r++)
                w[j] += factors[i + r] * (double)x[r * stride + j];
    }
    for (; i < count; i++)
        axpy_of(factors[i], (uc_row){columns, rows + i * stride, NULL}, w, true);
}

static void widen(double *out, const float *values, size_t count)
{
    size_t i = 0;
    for (; i + 4 * WIDTH <= count; i += 4 * WIDTH)
        for (size_t part = 0; part < 4 * WIDTH; part += WIDTH) {
            const float *x = values + i + part;
            STORE(widest, out + i + part) = WIDEN(x);
        }
    for (; i < count; i++)
        out[i] = values[i];
}

static double norm2(uc_row row)
{
    double sum[8] = {0};
    size_t i = 0;
    for (; i + 8 <= row.count; i += 8)
        for (size_t lane = 0; lane < 8; lane++)
            sum[lane] += (double)row.values[i + lane] * (double)row.values[i + lane];
    for (; i < row.count; i++)
        sum[0] += (double)row.values[i] * (double)row.values[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/* Without their signs, the bits of infinity and NaN are the largest. */
static bool are_finite(const float *values, size_t count)
{
    const uint32_t sign = 0x80000000u, infinity = 0x7f800000u;
    uint32_t largest = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, values + i, sizeof bits);
        bits &= ~sign;
        largest = bits > largest ? bits : largest;
    }
    return largest < infinity;
}

/* ---- symmetric matrices ---- */

/* In columns first .. last - 1 of `rows` rows of the matrix, which begin at b: b -= scale u, then adds the
 * products of the rows with `vectors` vectors, S doubles apart, to `out`. */
ALWAYS_INLINE void sweep_rows(double *out, double *b, size_t S, const double *u, const double *scale,
                              const double *X, size_t first, size_t last, size_t rows, size_t vectors)
{
    widest sums[2][4] = {{{0}}};
    for (size_t j = first; j < last; j += WIDTH)
        for (size_t i = 0; i < rows; i++) {
            const widest entries = LOAD(widest, b + i * S + j) - scale[i] * LOAD(widest, u + j);
            STORE(widest, b + i * S + j) = entries;
            for (size_t r = 0; r < vectors; r++)
                sums[i][r] += entries * LOAD(widest, X + r * S + j);
        }
    for (size_t i = 0; i < rows; i++)
        for (size_t r = 0; r < vectors; r++) {
            double total = first > 0 ? out[r * S + i] : 0.0;
            for (size_t lane = 0; lane < WIDTH; lane++)
                total += sums[i][r][lane];
            out[r * S + i] = total;
        }
}

/* Sweeps some columns of all rows at a time, so that u and the vectors stay in the L1 cache. */
ALWAYS_INLINE void sweep_of(double *out, double *B, size_t n, size_t S, const double *u, double factor,
                            const double *X, size_t vectors)
{
    for (size_t first = 0; first < S; first += SWEEP_COLUMNS) {
        const size_t last = uc_min_size(S, first + SWEEP_COLUMNS);
        size_t i = 0;
        for (; i + 1 < n; i += 2) {
            const double scale[2] = {factor * u[i], factor * u[i + 1]};
            sweep_rows(out + i, B + i * S, S, u, scale, X, first, last, 2, vectors);
        }
        if (i < n) {
            const double scale = factor * u[i];
            sweep_rows(out + i, B + i * S, S, u, &scale, X, first, last, 1, vectors);
        }
    }
}

static void sweep(double *out, double *B, size_t n, size_t S, const double *u, double factor, const double *X,
                  size_t count)
{
    do {
        const size_t vectors = uc_min_size(count, 4);
        switch (vectors) {
        case 4:
            sweep_of(out, B, n, S, u, factor, X, 4);
            break;
        case 3:
            sweep_of(out, B, n, S, u, factor, X, 3);
            break;
        case 2:
            sweep_of(out, B, n, S, u, factor, X, 2);
            break;
        default:
            sweep_of(out, B, n, S, u, factor, X, vectors);
        }
        out += vectors * S;
        X += vectors * S;
        count -= vectors;
        factor = 0.0;
    } while (count > 0);
}

/* ---- products of dense rows, summed in one order whatever their number ----
 *
 * Every pair of rows has UC_LANES sums; see linalg.h. If a register holds fewer lanes, the row is read once
 * for each part of them. */

/* A row x of doubles and `rows` rows of floats, `stride` floats apart. */
ALWAYS_INLINE void products_with(double *out, const double *x, const float *Y, size_t stride, size_t quads,
                                 size_t rows)
{
    double lanes[8][UC_LANES];
    for (size_t lane = 0; lane < UC_LANES; lane += WIDTH) {
        widest sums[8] = {{0}};
        for (size_t j = lane; j < quads * UC_LANES; j += UC_LANES) {
            const widest value = LOAD(widest, x + j);
            for (size_t r = 0; r < rows; r++) {
                const float *y = Y + r * stride + j;
                sums[r] += value * WIDEN(y);
            }
        }
        for (size_t r = 0; r < rows; r++)
            STORE(widest, lanes[r] + lane) = sums[r];
    }
    for (size_t r = 0; r < rows; r++)
        out[r] = uc_lane_sum(lanes[r]);
}

static void products(double *out, const double *x, const float *Y, size_t stride, size_t count, size_t quads)
{
    size_t r = 0;
    for (; r + 8 <= count; r += 8)
        products_with(out + r, x, Y + r * stride, stride, quads, 8);
    for (; r + 4 <= count; r += 4)
        products_with(out + r, x, Y + r * stride, stride, quads, 4);
    for (; r < count; r++)
        products_with(out + r, x, Y + r * stride, stride, quads, 1);
}

static void tile(double *sums, const double *X, const double *Y, size_t quads)
{
    for (size_t lane = 0; lane < UC_LANES; lane += WIDTH) {
        widest sum[UC_TILE_X][UC_TILE_Y];
        for (size_t r = 0; r < UC_TILE_X; r++)
            for (size_t c = 0; c < UC_TILE_Y; c++)
                sum[r][c] = LOAD(widest, sums + (r * UC_TILE_Y + c) * UC_LANES + lane);
        const double *x = X + lane, *y = Y + lane;
        for (size_t q = 0; q < quads; q++, x += UC_TILE_X * UC_LANES, y += UC_TILE_Y * UC_LANES) {
            widest right[UC_TILE_Y];
            for (size_t c = 0; c < UC_TILE_Y; c++)
                right[c] = LOAD(widest, y + c * UC_LANES);
            for (size_t r = 0; r < UC_TILE_X; r++) {
                const widest left = LOAD(widest, x + r * UC_LANES);
                for (size_t c = 0; c < UC_TILE_Y; c++)
                    sum[r][c] += left * right[c];
            }
        }
        for (size_t r = 0; r < UC_TILE_X; r++)
            for (size_t c = 0; c < UC_TILE_Y; c++)
                STORE(widest, sums + (r * UC_TILE_Y + c) * UC_LANES + lane) = sum[r][c];
    }
}

/* ---- exponentials, and the gaussian kernel ---- */

typedef uint64_t bits __attribute__((vector_size(sizeof(widest))));

/* exp of numbers that are not above 0:  x = n ln 2 + r, |r| <= ln(2)/2, and the Taylor series of exp(r),
 * whose remainder is below 2^-57. Adding 1.5 * 2^52 rounds to n and leaves it in the lowest bits, from where
 * it is added to the exponent. Below -708, where results begin to lose digits, the result is 0. */
ALWAYS_INLINE widest exp_of(widest x)
{
    static const double series[] = {1.0,
                                    1.0,
                                    1.0 / 2,
                                    1.0 / 6,
                                    1.0 / 24,
                                    1.0 / 120,
                                    1.0 / 720,
                                    1.0 / 5040,
                                    1.0 / 40320,
                                    1.0 / 362880,
                                    1.0 / 3628800,
                                    1.0 / 39916800,
                                    1.0 / 479001600,
                                    1.0 / 6227020800};
    const double round = 0x1.8p52, log2_e = 0x1.71547652b82fep0;
    const double ln2_high = 0x1.62e42fefap-1, ln2_low = 0x1.cf79abc9e3b39p-40; /* n ln2_high is exact */
    const widest zero = {0};
    const widest shifted = x * log2_e + round, n = shifted - round;
    const widest r = (x - n * ln2_high) - n * ln2_low;
    widest sum = zero + series[13];
    for (size_t k = 13; k-- > 0;)
        sum = sum * r + series[k];
    const bits result = (bits)sum + ((bits)shifted << 52);
    return (widest)(result & (bits)(x >= zero - 708.0));
}

/* Turns inner products into values of the gaussian kernel. */
static void gaussian(double *values, const double *norm2_y, double norm2_x, double rounding, double factor,
                     size_t quads)
{
    for (size_t i = 0; i < quads * UC_LANES; i += WIDTH) {
        const widest lengths = norm2_x + LOAD(widest, norm2_y + i);
        const widest distance = lengths - 2.0 * LOAD(widest, values + i);
        const bits counts = (bits)(distance > rounding * lengths);
        STORE(widest, values + i) = exp_of(factor * (widest)((bits)distance & counts));
    }
}

static void exponential(double *values, size_t quads)
{
    for (size_t i = 0; i < quads * UC_LANES; i += WIDTH)
        STORE(widest, values + i) = exp_of(LOAD(widest, values + i));
}

/* ---- softmax, and labels of a mixture ---- */

/* The larger of two vectors' values, lane by lane. */
ALWAYS_INLINE widest larger(widest a, widest b)
{
    const bits first = (bits)(a > b);
    return (widest)(((bits)a & first) | ((bits)b & ~first));
}

ALWAYS_INLINE double lane_sum(widest values)
{
    double sum = values[0] + values[1];
    if (WIDTH == UC_LANES)
        sum += values[WIDTH - 2] + values[WIDTH - 1];
    return sum;
}

/* S becomes exp(z - max z), z = a1 f + a2 g; returns the sum. */
ALWAYS_INLINE double raise(double *S, const double *f, const double *g, double a1, double a2, size_t padded)
{
    const widest zero = {0};
    widest high = zero - INFINITY, total = zero;
    for (size_t q = 0; q < padded; q += WIDTH) {
        const widest z = a1 * LOAD(widest, f + q) + a2 * LOAD(widest, g + q);
        STORE(widest, S + q) = z;
        high = larger(z, high);
    }
    double highest = high[0];
    for (size_t lane = 1; lane < WIDTH; lane++)
        highest = high[lane] > highest ? high[lane] : highest;
    for (size_t q = 0; q < padded; q += WIDTH) {
        const widest e = exp_of(LOAD(widest, S + q) - highest);
        STORE(widest, S + q) = e;
        total += e;
    }
    return lane_sum(total);
}

/* One row, filled up with UC_NEVER to whole quads. A score that is not finite makes the total NaN. */
ALWAYS_INLINE void soften(double *p, double *highest, double *total, size_t padded)
{
    const widest zero = {0};
    widest high = zero - INFINITY, sum = zero;
    for (size_t q = 0; q < padded; q += WIDTH)
        high = larger(LOAD(widest, p + q), high);
    *highest = high[0];
    for (size_t lane = 1; lane < WIDTH; lane++)
        *highest = high[lane] > *highest ? high[lane] : *highest;
    for (size_t q = 0; q < padded; q += WIDTH) {
        const widest below = LOAD(widest, p + q) - *highest, e = exp_of(below);
        STORE(widest, p + q) = e;
        sum += e + 0.0 * below;
    }
    *total = lane_sum(sum);
    const double inverse = 1.0 / *total;
    for (size_t q = 0; q < padded; q += WIDTH)
        STORE(widest, p + q) = LOAD(widest, p + q) * inverse;
}

static void softmax(double *p, double *highest, double *total, const double *s, size_t rows, size_t K,
                    size_t S)
{
    for (size_t i = 0; i < rows; i++, p += S, s += S) {
        for (size_t q = 0; q < S; q++)
            p[q] = q < K ? s[q] : UC_NEVER;
        soften(p, highest + i, total + i, S);
    }
}

static void mixture(double *p, double *sums, double *in_C, const uc_mixture *rows, size_t first, size_t count,
                    double *S)
{
    const size_t padded = rows->quads * UC_LANES;
    for (size_t i = first; i < first + count; i++) {
        const double *f = rows->f + i * padded, *g = rows->g + i * padded;
        const double *C = rows->columns + rows->labels[i] * padded,
                     r = rows->weights ? rows->weights[i] : 1.0;
        const double inverse = 1.0 / raise(S, f, g, rows->a1, rows->a2, padded);
        widest of_label = {0}, along_f = {0}, along_g = {0};
        for (size_t q = 0; q < padded; q += WIDTH)
            of_label += LOAD(widest, C + q) * LOAD(widest, S + q);
        const double found = lane_sum(of_label) * inverse,
                     least = found > UC_LEAST_SHARE ? found : UC_LEAST_SHARE;
        p[i - first] = least;
        for (size_t q = 0; q < padded; q += WIDTH) {
            const widest share = LOAD(widest, S + q) * inverse;
            const widest along = (LOAD(widest, C + q) * (1.0 / least) - 1.0) * share;
            along_f += along * LOAD(widest, f + q);
            along_g += along * LOAD(widest, g + q);
            STORE(widest, S + q) = share;
        }
        sums[0] += r * lane_sum(along_f);
        sums[1] += r * lane_sum(along_g);
        if (!in_C)
            continue;
        double *out = in_C + rows->labels[i] * padded;
        for (size_t q = 0; q < padded; q += WIDTH)
            STORE(widest, out + q) = LOAD(widest, out + q) + r / least * LOAD(widest, S + q);
    }
}

/* ---- quadratic forms of tridiagonal matrices ---- */

/* Four rows at a time, since each step of a row waits for the one before. */
static void chain(double *H, const double *Z, size_t rows, size_t n, const double *ratios,
                  const double *inverses, size_t quads)
{
    enum { AT_ONCE = 4 };
    const size_t padded = quads * UC_LANES;
    for (size_t first = 0; first < rows; first += AT_ONCE) {
        const size_t count = uc_min_size(rows - first, AT_ONCE);
        const double *z[AT_ONCE];
        for (size_t r = 0; r < AT_ONCE; r++)
            z[r] = Z + (first + uc_min_size(r, count - 1)) * n;
        for (size_t m = 0; m < padded; m += WIDTH) {
            widest y[AT_ONCE] = {{0}}, h[AT_ONCE] = {{0}};
            for (size_t j = 0; j < n; j++) {
                const widest ratio = LOAD(widest, ratios + j * padded + m);
                const widest inverse = LOAD(widest, inverses + j * padded + m);
                for (size_t r = 0; r < AT_ONCE; r++) {
                    y[r] = z[r][j] - ratio * y[r];
                    h[r] += y[r] * y[r] * inverse;
                }
            }
            for (size_t r = 0; r < count; r++)
                STORE(widest, H + (first + r) * padded + m) = h[r];
        }
    }
}

#ifdef __AVX__
#define PAIR_SCORES UC_KERNEL_NAME(uc_pair_scores)
#else
#define PAIR_SCORES NULL
#endif
#define TEXT_OF(level) #level
#define TEXT(level) TEXT_OF(level)

const uc_kernels UC_KERNEL_NAME(uc_kernels) = {TEXT(UC_KERNEL_LEVEL),
                                               norm2,
                                               are_finite,
                                               dot,
                                               dots,
                                               combine,
                                               widen,
                                               axpy,
                                               scores,
                                               PAIR_SCORES,
                                               update,
                                               outer,
                                               sweep,
                                               products,
                                               tile,
                                               gaussian,
                                               exponential,
                                               softmax,
                                               mixture,
                                               chain};
