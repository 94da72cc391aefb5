/* The kernels of every CPU level that this machine has, against the plain versions. */
#include "tests/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "unconfuse/cpu.h"
#include "unconfuse/random.h"

enum { COLUMNS = 300, MOST = 56 };

static const char *const levels[] = {"baseline", "avx2", "avx512"};
static const size_t strides[] = {1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 44, 56};
#define STRIDES (sizeof strides / sizeof *strides)

typedef struct sample {
    float values[COLUMNS];
    uint32_t columns[COLUMNS];
    double W[COLUMNS * MOST], plain[COLUMNS * MOST], tau[MOST];
    double scores[MOST], expected[MOST];
} sample;

/* A row of `count` values, dense or at random columns that ascend. */
static uc_row random_row(sample *self, uc_rng *rng, size_t count, bool sparse)
{
    for (size_t i = 0; i < count; i++)
        self->values[i] = (float)uc_rng_normal(rng);
    if (!sparse)
        return (uc_row){count, self->values, NULL};
    size_t chosen = 0;
    for (uint32_t j = 0; j < COLUMNS && chosen < count; j++)
        if (uc_rng_below(rng, COLUMNS - j) < count - chosen)
            self->columns[chosen++] = j;
    assert_int_equal(chosen, count);
    return (uc_row){count, self->values, self->columns};
}

static void random_weights(sample *self, uc_rng *rng, size_t S)
{
    for (size_t i = 0; i < COLUMNS * S; i++)
        self->W[i] = self->plain[i] = uc_rng_normal(rng);
    for (size_t k = 0; k < S; k++) {
        self->tau[k] = uc_rng_normal(rng);
        self->scores[k] = self->expected[k] = uc_rng_normal(rng);
    }
}

static void check_row(sample *self, uc_row row, size_t S)
{
    uc_row_scores(self->scores, row, self->W, S);
    uc_reference_scores(self->expected, row, self->plain, S);
    for (size_t k = 0; k < S; k++)
        assert_near(self->scores[k], self->expected[k], 1e-13 * (1.0 + (double)row.count));
    uc_row_update(self->W, S, row, self->tau);
    uc_reference_update(self->plain, S, row, self->tau);
    for (size_t i = 0; i < COLUMNS * S; i++) /* also the columns that the row does not have */
        assert_near(self->W[i], self->plain[i], 1e-15 * (1.0 + fabs(self->plain[i])));
    assert_near_relative(uc_row_norm2(row), uc_reference_norm2(row), 1e-14);
    if (S == 1) {
        assert_near(uc_row_dot(row, self->W), uc_reference_dot(row, self->W),
                    1e-13 * (1.0 + (double)row.count));
        uc_row_axpy(-0.75, row, self->W);
        const double step = -0.75;
        uc_reference_update(self->plain, 1, row, &step);
        for (size_t i = 0; i < COLUMNS; i++)
            assert_near(self->W[i], self->plain[i], 1e-14 * (1.0 + fabs(self->plain[i])));
    }
}

static void kernels_of_every_level_agree_with_the_plain_versions(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 31, 64, 127, 255, COLUMNS};
    sample *self = malloc(sizeof *self);
    assert_non_null(self);
    size_t tested = 0;
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        assert_string_equal(uc_cpu_level(), levels[l]);
        tested++;
        uc_rng rng = uc_rng_make(1, l);
        for (size_t s = 0; s < STRIDES; s++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                for (int sparse = 0; sparse < 2; sparse++) {
                    random_weights(self, &rng, strides[s]);
                    check_row(self, random_row(self, &rng, counts[c], sparse), strides[s]);
                }
    }
    assert_ok(uc_cpu_set_level("best"));
    assert_true(tested >= 1);
    free(self);
}

/* Sums that would come out differently in another order: values of very different sizes. */
static void classes_with_equal_weights_get_equal_scores_bit_for_bit(void **state)
{
    (void)state;
    sample *self = malloc(sizeof *self);
    assert_non_null(self);
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        uc_rng rng = uc_rng_make(2, l);
        for (size_t s = 1; s < STRIDES; s++)
            for (size_t count = 1; count < 80; count++)
                for (int sparse = 0; sparse < 2; sparse++) {
                    const size_t S = strides[s];
                    for (size_t j = 0; j < COLUMNS; j++) {
                        const double w = ldexp(uc_rng_normal(&rng), (int)uc_rng_below(&rng, 40));
                        for (size_t k = 0; k < S; k++)
                            self->W[j * S + k] = w;
                    }
                    memset(self->scores, 0, sizeof self->scores);
                    uc_row_scores(self->scores, random_row(self, &rng, count, sparse), self->W, S);
                    for (size_t k = 1; k < S; k++)
                        assert_true(self->scores[k] == self->scores[0]);
                }
    }
    assert_ok(uc_cpu_set_level("best"));
    free(self);
}

/* The same after updates: classes that got the same steps are still equal. */
static void classes_with_equal_updates_keep_equal_weights_bit_for_bit(void **state)
{
    (void)state;
    sample *self = malloc(sizeof *self);
    assert_non_null(self);
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        uc_rng rng = uc_rng_make(3, l);
        for (size_t s = 1; s < STRIDES; s++) {
            const size_t S = strides[s];
            memset(self->W, 0, sizeof self->W);
            for (size_t round = 0; round < 50; round++) {
                const double tau = uc_rng_normal(&rng);
                for (size_t k = 0; k < S; k++)
                    self->tau[k] = tau;
                const size_t count = 1 + (size_t)uc_rng_below(&rng, COLUMNS);
                uc_row_update(self->W, S, random_row(self, &rng, count, round % 2), self->tau);
            }
            for (size_t i = 0; i < COLUMNS * S; i++)
                assert_true(self->W[i] == self->W[i / S * S]);
        }
    }
    assert_ok(uc_cpu_set_level("best"));
    free(self);
}

static void a_sparse_row_with_all_columns_is_the_dense_row(void **state)
{
    (void)state;
    sample *self = malloc(sizeof *self);
    assert_non_null(self);
    uc_rng rng = uc_rng_make(4, 0);
    for (size_t s = 0; s < STRIDES; s++) {
        const size_t S = strides[s];
        random_weights(self, &rng, S);
        const uc_row sparse = random_row(self, &rng, COLUMNS, true);
        const uc_row dense = {COLUMNS, self->values, NULL};
        memcpy(self->expected, self->scores, sizeof self->scores);
        uc_row_scores(self->scores, sparse, self->W, S);
        uc_row_scores(self->expected, dense, self->W, S);
        assert_memory_equal(self->scores, self->expected, S * sizeof(double));
        uc_row_update(self->W, S, sparse, self->tau);
        uc_row_update(self->plain, S, dense, self->tau);
        assert_memory_equal(self->W, self->plain, COLUMNS * S * sizeof(double));
        assert_true(uc_row_norm2(sparse) == uc_row_norm2(dense));
    }
    free(self);
}

static void updating_some_classes_leaves_the_others_alone(void **state)
{
    (void)state;
    sample *self = malloc(sizeof *self);
    assert_non_null(self);
    uc_rng rng = uc_rng_make(5, 0);
    for (int sparse = 0; sparse < 2; sparse++) {
        const uint32_t classes[3] = {13, 0, 7};
        const double tau[3] = {0.5, -2.0, 3.0};
        double full[MOST] = {0};
        random_weights(self, &rng, 28);
        const uc_row row = random_row(self, &rng, 41, sparse);
        for (size_t i = 0; i < 3; i++)
            full[classes[i]] = tau[i];
        uc_row_update_some(self->W, 28, row, classes, tau, 3);
        uc_reference_update(self->plain, 28, row, full);
        for (size_t i = 0; i < COLUMNS * 28; i++)
            assert_near(self->W[i], self->plain[i], 1e-15 * (1.0 + fabs(self->plain[i])));
    }
    free(self);
}

static void strides_round_up_to_what_the_kernels_have(void **state)
{
    (void)state;
    static const size_t expected[] = {0, 1, 2, 4, 4, 8, 8, 8, 8, 12};
    for (size_t K = 0; K < 10; K++)
        assert_int_equal(uc_class_stride(K), expected[K]);
    assert_int_equal(uc_class_stride(26), 28);
}

static void the_largest_value_is_found_the_lowest_of_equals(void **state)
{
    (void)state;
    const double values[] = {-3.0, 2.0, 5.0, 5.0, -INFINITY, 5.0};
    assert_int_equal(uc_argmax(values, 6), 2);
    assert_int_equal(uc_argmax(values, 2), 1);
    assert_int_equal(uc_argmax(values, 1), 0);
    const double same[] = {0.0, 0.0, -0.0};
    assert_int_equal(uc_argmax(same, 3), 0);
    const double low[] = {-INFINITY, -1e308};
    assert_int_equal(uc_argmax(low, 2), 1);
}

static void levels_that_do_not_exist_are_refused(void **state)
{
    (void)state;
    const char *before = uc_cpu_level();
    assert_error(uc_cpu_set_level("sse9"), UC_ERR_INVALID,
                 "CPU level sse9: it must be baseline, avx2, avx512 or best");
    assert_string_equal(uc_cpu_level(), before);
    for (size_t l = 0; l < 3; l++)
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            assert_non_null(strstr(uc_last_error(), "this machine does not have it"));
    assert_ok(uc_cpu_set_level("best"));
    assert_string_equal(uc_cpu_level(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_every_level_agree_with_the_plain_versions),
        cmocka_unit_test(classes_with_equal_weights_get_equal_scores_bit_for_bit),
        cmocka_unit_test(classes_with_equal_updates_keep_equal_weights_bit_for_bit),
        cmocka_unit_test(a_sparse_row_with_all_columns_is_the_dense_row),
        cmocka_unit_test(updating_some_classes_leaves_the_others_alone),
        cmocka_unit_test(strides_round_up_to_what_the_kernels_have),
        cmocka_unit_test(the_largest_value_is_found_the_lowest_of_equals),
        cmocka_unit_test(levels_that_do_not_exist_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
