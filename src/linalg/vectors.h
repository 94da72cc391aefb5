/* Vectors for the kernels, which are compiled once for every CPU level (UC_KERNEL_LEVEL). */
#ifndef UC_VECTORS_H
#define UC_VECTORS_H

#include "linalg/kernels.h"

typedef double pair __attribute__((vector_size(16)));
typedef double quad __attribute__((vector_size(32)));

#define LOAD(type, from) (*(const type##_at_any_address *)(const void *)(from))
#define STORE(type, to) (*(type##_at_any_address *)(void *)(to))
typedef pair pair_at_any_address __attribute__((aligned(8), may_alias));
typedef quad quad_at_any_address __attribute__((aligned(8), may_alias));

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define SHORT_ROW ((size_t)256) /* floats; hardware prefetching does well in longer rows */
#define FLOATS_PER_LINE ((size_t)16)

/* The name of this level's version of a function or table. */
#define UC_NAME_JOINED(name, level) name##_##level
#define UC_NAME_OF_LEVEL(name, level) UC_NAME_JOINED(name, level)
#define UC_KERNEL_NAME(name) UC_NAME_OF_LEVEL(name, UC_KERNEL_LEVEL)

#ifdef __AVX__
#define FLOATS_TO_QUAD(x) ((quad){(x)[0], (x)[1], (x)[2], (x)[3]}) /* one instruction */
void UC_KERNEL_NAME(uc_pair_scores)(double *scores, const float *rows, size_t stride, size_t count,
                                    size_t columns, const double *W);
#endif

#endif
