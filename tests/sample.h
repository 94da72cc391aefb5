/* Small data sets in memory, for the tests of models and learners. */
#ifndef TESTS_SAMPLE_H
#define TESTS_SAMPLE_H

#include "tests/support.h"

#include <stdio.h>
#include <string.h>

#include "unconfuse/dataset.h"

/* Labels take turns, except that some are random; the rows of each class lie around a centre. Values are
 * multiples of 1/64, so that small sums of them are exact. Sparse: the same values, but about half of them
 * are zero and left out. Classes are called "1", "2", ... */
static inline uc_dataset sample_data(size_t rows, size_t cols, size_t classes, bool sparse, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 100);
    uc_dataset data = {0};
    assert_ok(uc_matrix_create_sparse(&data.X, rows, cols, rows * cols));
    data.y = uc_alloc(rows, sizeof *data.y);
    assert_non_null(data.y);
    for (size_t k = 0; k < classes; k++) {
        char name[24];
        uint32_t index;
        snprintf(name, sizeof name, "%zu", k + 1);
        assert_ok(uc_names_add(&index, &data.classes, name, strlen(name)));
    }
    for (size_t i = 0; i < rows; i++) {
        const uint32_t label = (uint32_t)(i % classes);
        data.y[i] = uc_rng_below(&rng, 8) == 0 ? (uint32_t)uc_rng_below(&rng, classes) : label;
        data.X.offsets[i + 1] = data.X.offsets[i];
        for (uint32_t j = 0; j < cols; j++) {
            const double centre = (double)((label * 7 + j * 5) % 11) / 5.0 - 1.0;
            const double value = (double)(long)(64.0 * (centre + 0.7 * uc_rng_normal(&rng))) / 64.0;
            if (value == 0.0 || (j + i) % 2 == 0)
                continue;
            data.X.columns[data.X.offsets[i + 1]] = j;
            data.X.values[data.X.offsets[i + 1]++] = (float)value;
        }
    }
    if (!sparse)
        assert_ok(uc_matrix_densify(&data.X));
    return data;
}

/* A list of class names. */
static inline uc_names sample_names(const char *const *names, size_t count)
{
    uc_names list = {0};
    for (size_t k = 0; k < count; k++) {
        uint32_t index;
        assert_ok(uc_names_add(&index, &list, names[k], strlen(names[k])));
    }
    return list;
}

#endif
