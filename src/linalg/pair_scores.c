/*
 * Scores of many dense rows for two classes. Like kernels.c, this file is compiled once for every CPU level;
 * the baseline has no such kernel. The bits are those of the kernel for one row.
 */
#include <string.h>

#include "linalg/vectors.h"

#ifdef __AVX__
/* The sums of scores_of_2, as two quads for each class: those of entries 0 to 3 of eight, and 4 to 7. */
typedef struct pair_sums {
    quad low[2], high[2];
} pair_sums;

/* Four entries of a row; w and v are their weights, of the two classes. */
ALWAYS_INLINE void add_four(quad sums[2], const float *x, quad w, quad v)
{
    const quad values = FLOATS_TO_QUAD(x);
    sums[0] += values * w;
    sums[1] += values * v;
}

/* The same for at most four entries; returns how many they were. */
ALWAYS_INLINE size_t add_last(quad sums[2], const float *x, const double *w, const double *v, size_t left)
{
    if (left >= 4) {
        add_four(sums, x, LOAD(quad, w), LOAD(quad, v));
        return 4;
    }
    if (left > 0) {
        float values[4] = {0};
        double of_w[4] = {0}, of_v[4] = {0};
        memcpy(values, x, left * sizeof *x);
        memcpy(of_w, w, left * sizeof *w);
        memcpy(of_v, v, left * sizeof *v);
        add_four(sums, values, LOAD(quad, of_w), LOAD(quad, of_v));
    }
    return left;
}

/* a0 + a1, b0 + b1, a2 + a3, b2 + b3 */
#define JOIN(a, b) ((quad){(a)[0], (b)[0], (a)[2], (b)[2]} + (quad){(a)[1], (b)[1], (a)[3], (b)[3]})

ALWAYS_INLINE void end_row(double *scores, pair_sums sums, const float *x, const double *w, const double *v,
                           size_t left)
{
    const size_t some = add_last(sums.low, x, w, v, left);
    add_last(sums.high, x + some, w + some, v + some, left - some);
    const quad a = JOIN(sums.low[0], sums.low[1]), b = JOIN(sums.high[0], sums.high[1]);
    const pair total = ((pair){a[0], a[1]} + (pair){a[2], a[3]}) + ((pair){b[0], b[1]} + (pair){b[2], b[3]});
    STORE(pair, scores) += total;
}

ALWAYS_INLINE pair_sums no_sums(void)
{
    const quad zero = {0};
    return (pair_sums){{zero, zero}, {zero, zero}};
}

/* Four rows at once: each weight is loaded once for all. w and v are the weights of the two classes, `ahead`
 * the four rows to prefetch, NULL for none. Hardware prefetching does not follow four short rows that are
 * read in turn, and waiting for one of their lines takes as long as scoring all four. */
ALWAYS_INLINE void scores_of_four_rows(double *scores, const float *rows, size_t stride, size_t columns,
                                       const double *w, const double *v, const float *ahead)
{
    pair_sums a = no_sums(), b = no_sums(), c = no_sums(), d = no_sums();
    const float *x = rows;
    size_t i = 0;
    for (; i + 8 <= columns; i += 8, x += 8) {
        if (ahead) {
            __builtin_prefetch(ahead + 4 * i, 0, 2);
            __builtin_prefetch(ahead + 4 * i + FLOATS_PER_LINE, 0, 2);
        }
        const quad of_w = LOAD(quad, w + i), of_v = LOAD(quad, v + i);
        add_four(a.low, x, of_w, of_v);
        add_four(b.low, x + stride, of_w, of_v);
        add_four(c.low, x + 2 * stride, of_w, of_v);
        add_four(d.low, x + 3 * stride, of_w, of_v);
        const quad next_w = LOAD(quad, w + i + 4), next_v = LOAD(quad, v + i + 4);
        add_four(a.high, x + 4, next_w, next_v);
        add_four(b.high, x + stride + 4, next_w, next_v);
        add_four(c.high, x + 2 * stride + 4, next_w, next_v);
        add_four(d.high, x + 3 * stride + 4, next_w, next_v);
    }
    for (size_t j = 4 * i; ahead && j < 4 * stride; j += FLOATS_PER_LINE)
        __builtin_prefetch(ahead + j, 0, 2);
    end_row(scores, a, x, w + i, v + i, columns - i);
    end_row(scores + 2, b, x + stride, w + i, v + i, columns - i);
    end_row(scores + 4, c, x + 2 * stride, w + i, v + i, columns - i);
    end_row(scores + 6, d, x + 3 * stride, w + i, v + i, columns - i);
}

/* Weights of one class after the other need no shuffling of the values. Callers score one block of rows after
 * the other, so the next `count` rows are prefetched. */
void UC_KERNEL_NAME(uc_pair_scores)(double *scores, const float *rows, size_t stride, size_t count,
                                    size_t columns, const double *W)
{
    double split[2][UC_PAIR_COLUMNS];
    assert(columns <= UC_PAIR_COLUMNS);
    for (size_t j = 0; j < columns; j++)
        for (size_t q = 0; q < 2; q++)
            split[q][j] = W[2 * j + q];
    const bool prefetches = stride <= SHORT_ROW;
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const float *row = rows + i * stride;
        scores_of_four_rows(scores + 2 * i, row, stride, columns, split[0], split[1],
                            prefetches ? row + count * stride : NULL);
    }
    for (; i < count; i++) { /* four times the same row */
        double same[8] = {scores[2 * i], scores[2 * i + 1]};
        scores_of_four_rows(same, rows + i * stride, 0, columns, split[0], split[1], NULL);
        memcpy(scores + 2 * i, same, 2 * sizeof *same);
    }
}
#endif
