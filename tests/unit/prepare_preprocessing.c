/* Scaling and unit length, against computations with two passes over the column. */
#include "tests/sample.h"
#include "tests/reference.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "linalg/linalg.h"
#include "unconfuse/prepare.h"

enum { ROWS = 2500, COLS = 9 };

/* Columns of very different places and sizes; column 3 is constant, column 4 constant zero, 5 mostly zero. */
static uc_matrix columns_of_all_kinds(void)
{
    uc_rng rng = uc_rng_make(1, 0);
    uc_matrix X;
    assert_ok(uc_matrix_create_dense(&X, ROWS, COLS));
    for (size_t i = 0; i < ROWS; i++) {
        float *row = X.values + i * X.stride;
        row[0] = (float)uc_rng_normal(&rng);
        row[1] = (float)(1e6 + uc_rng_normal(&rng)); /* a mean far from zero: sums of squares would cancel */
        row[2] = (float)(1e-20 * uc_rng_normal(&rng));
        row[3] = 7.25f;
        row[4] = 0.0f;
        row[5] = uc_rng_below(&rng, 10) == 0 ? (float)(5.0 + uc_rng_normal(&rng)) : 0.0f;
        row[6] = (float)(1e30 * uc_rng_uniform(&rng));
        row[7] = (float)(-3.0 - uc_rng_uniform(&rng)); /* all negative */
        row[8] = (float)uc_rng_below(&rng, 2);
    }
    return X;
}

static void plain_column(double *shift, double *factor, const uc_matrix *X, size_t j, uc_scaling scaling)
{
    double low = INFINITY, high = -INFINITY, largest = 0.0;
    long double sum = 0.0L, squares = 0.0L;
    for (size_t i = 0; i < X->rows; i++) {
        const double value = X->values[i * X->stride + j];
        low = fmin(low, value);
        high = fmax(high, value);
        largest = fmax(largest, fabs(value));
        sum += value;
    }
    const long double mean = sum / (long double)X->rows;
    for (size_t i = 0; i < X->rows; i++)
        squares += ((long double)X->values[i * X->stride + j] - mean) *
                   ((long double)X->values[i * X->stride + j] - mean);
    const double deviation = (double)sqrtl(squares / (long double)X->rows);
    *shift = scaling == UC_SCALE_RANGE ? (high + low) / 2 : scaling == UC_SCALE_STANDARD ? (double)mean : 0.0;
    const double width = scaling == UC_SCALE_RANGE      ? (high - low) / 2
                         : scaling == UC_SCALE_STANDARD ? deviation
                                                        : largest;
    const bool constant = scaling == UC_SCALE_MAXABS ? largest == 0.0 : high == low;
    *factor = constant ? 0.0 : 1.0 / width;
}

static void scaling_is_what_two_passes_over_a_column_give(void **state)
{
    (void)state;
    uc_matrix X = columns_of_all_kinds();
    for (int scaling = UC_SCALE_RANGE; scaling <= UC_SCALE_MAXABS; scaling++) {
        uc_preprocessing preprocessing;
        assert_ok(learn_scaling(&preprocessing, (uc_scaling)scaling, &X));
        assert_int_equal(preprocessing.cols, COLS);
        assert_int_equal(preprocessing.scaling, scaling);
        assert_int_equal(preprocessing.shift == NULL, scaling == UC_SCALE_MAXABS);
        for (size_t j = 0; j < COLS; j++) {
            double shift, factor;
            plain_column(&shift, &factor, &X, j, (uc_scaling)scaling);
            if (preprocessing.shift)
                assert_near_relative(preprocessing.shift[j], shift, 1e-12);
            assert_near_relative(preprocessing.factor[j], factor, 1e-9);
        }
        uc_preprocessing_free(&preprocessing);
    }
    uc_matrix_free(&X);
}

static void scaled_columns_have_the_promised_range_mean_and_deviation(void **state)
{
    (void)state;
    for (int scaling = UC_SCALE_RANGE; scaling <= UC_SCALE_MAXABS; scaling++) {
        uc_matrix X = columns_of_all_kinds();
        uc_preprocessing preprocessing;
        assert_ok(learn_scaling(&preprocessing, (uc_scaling)scaling, &X));
        assert_ok(uc_preprocessing_apply(&preprocessing, &X, NULL));
        for (size_t j = 0; j < COLS; j++) {
            double low = INFINITY, high = -INFINITY, sum = 0.0, squares = 0.0;
            for (size_t i = 0; i < ROWS; i++) {
                const double value = X.values[i * X.stride + j];
                low = fmin(low, value);
                high = fmax(high, value);
                sum += value;
                squares += value * value;
            }
            const bool constant = scaling == UC_SCALE_MAXABS ? j == 4 : j == 3 || j == 4;
            if (constant) {
                assert_true(low == 0.0 && high == 0.0);
            } else if (scaling == UC_SCALE_RANGE) {
                assert_near(low, -1.0, 1e-6);
                assert_near(high, 1.0, 1e-6);
            } else if (scaling == UC_SCALE_STANDARD) {
                assert_near(sum / ROWS, 0.0, 1e-5);
                assert_near(squares / ROWS, 1.0, 1e-5);
            } else {
                assert_near(fmax(-low, high), 1.0, 1e-6);
            }
        }
        uc_preprocessing_free(&preprocessing);
        uc_matrix_free(&X);
    }
}

/* Column 0 has only 0 and 1, column 1 also has one value between them, column 2 many; column 3 has 0 and 1
 * except in one row of 1000. */
static void numbers_are_standardised_and_columns_of_0_and_1_stay(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(2, 0);
    uc_preprocessing numbers, standard;
    uc_matrix X;
    assert_ok(uc_matrix_create_dense(&X, ROWS, 4));
    for (size_t i = 0; i < ROWS; i++) {
        float *row = X.values + i * X.stride;
        row[0] = (float)(uc_rng_below(&rng, 500) == 0 || i == 0);
        row[1] = i == 7 ? 0.5f : (float)(i % 2);
        row[2] = (float)i / (float)(ROWS - 1);
        row[3] = (float)(i % 2);
    }
    X.values[3] = 1000.0f;
    assert_ok(learn_scaling(&numbers, UC_SCALE_NUMBERS, &X));
    assert_ok(learn_scaling(&standard, UC_SCALE_STANDARD, &X));
    assert_true(numbers.shift[0] == 0.0 && numbers.factor[0] == 1.0);
    for (size_t j = 1; j < 4; j++)
        assert_true(numbers.shift[j] == standard.shift[j] && numbers.factor[j] == standard.factor[j]);
    uc_preprocessing_free(&standard);
    uc_preprocessing_free(&numbers);
    uc_matrix_free(&X);
}

static void padding_of_dense_rows_stays_zero(void **state)
{
    (void)state;
    uc_matrix X = columns_of_all_kinds();
    uc_preprocessing preprocessing;
    assert_ok(learn_scaling(&preprocessing, UC_SCALE_STANDARD, &X));
    preprocessing.normalize = true;
    assert_ok(uc_preprocessing_apply(&preprocessing, &X, NULL));
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = COLS; j < X.stride; j++)
            assert_true(X.values[i * X.stride + j] == 0.0f);
    uc_preprocessing_free(&preprocessing);
    uc_matrix_free(&X);
}

/* The sums see the zeros that sparse rows leave out. */
static void sparse_sums_with_their_zeros_are_dense_sums(void **state)
{
    (void)state;
    uc_dataset dense = sample_data(301, 20, 3, false, 5), sparse = sample_data(301, 20, 3, true, 5);
    for (int scaling = UC_SCALE_RANGE; scaling <= UC_SCALE_MAXABS; scaling++) {
        uc_preprocessing a, b;
        uc_scale_sums *sums = NULL;
        assert_ok(learn_scaling(&a, (uc_scaling)scaling, &dense.X));
        assert_ok(uc_scale_sums_add(&sums, &sparse.X, NULL));
        assert_ok(uc_scale_sums_finish(&b, sums, (uc_scaling)scaling, 20));
        for (size_t j = 0; j < 20; j++) {
            if (a.shift)
                assert_near(b.shift[j], a.shift[j], 1e-14);
            assert_near_relative(b.factor[j], a.factor[j], 1e-12);
        }
        uc_scale_sums_free(sums);
        uc_preprocessing_free(&a);
        uc_preprocessing_free(&b);
    }
    uc_dataset_free(&dense);
    uc_dataset_free(&sparse);
}

/* Blocks of one row, of some, of none; blocks whose last columns are missing, as in LIBSVM text. */
static void sums_over_blocks_are_sums_over_the_whole(void **state)
{
    (void)state;
    uc_dataset data = sample_data(120, 20, 3, true, 6);
    uc_preprocessing whole, blocks;
    assert_ok(uc_matrix_densify(&data.X));
    assert_ok(learn_scaling(&whole, UC_SCALE_STANDARD, &data.X));
    uc_dataset again = sample_data(120, 20, 3, true, 6);
    uc_scale_sums *sums = NULL;
    static const size_t ends[] = {0, 1, 1, 50, 119, 120};
    for (size_t b = 0; b < 6; b++) {
        size_t rows[120], count = 0;
        uint32_t widest = 0;
        for (size_t i = b ? ends[b - 1] : 0; i < ends[b]; i++) {
            rows[count++] = i;
            const uc_row row = uc_matrix_row(&again.X, i);
            if (row.count && row.columns[row.count - 1] + 1 > widest)
                widest = row.columns[row.count - 1] + 1;
        }
        uc_matrix block;
        assert_ok(uc_matrix_subset(&block, &again.X, rows, count, NULL));
        block.cols = widest;
        assert_ok(uc_scale_sums_add(&sums, &block, NULL));
        uc_matrix_free(&block);
    }
    assert_ok(uc_scale_sums_finish(&blocks, sums, UC_SCALE_STANDARD, 20));
    for (size_t j = 0; j < 20; j++) {
        assert_near(blocks.shift[j], whole.shift[j], 1e-14);
        assert_near_relative(blocks.factor[j], whole.factor[j], 1e-12);
    }
    uc_scale_sums_free(sums);
    uc_preprocessing_free(&whole);
    uc_preprocessing_free(&blocks);
    uc_dataset_free(&data);
    uc_dataset_free(&again);
}

static void a_column_that_never_occurs_is_constant_zero(void **state)
{
    (void)state;
    uc_dataset data = sample_data(30, 6, 2, true, 7);
    uc_scale_sums *sums = NULL;
    uc_preprocessing preprocessing;
    assert_ok(uc_scale_sums_add(&sums, &data.X, NULL));
    assert_ok(uc_scale_sums_finish(&preprocessing, sums, UC_SCALE_RANGE, 9));
    assert_int_equal(preprocessing.cols, 9);
    for (size_t j = 6; j < 9; j++)
        assert_true(preprocessing.shift[j] == 0.0 && preprocessing.factor[j] == 0.0);
    uc_preprocessing_free(&preprocessing);
    uc_scale_sums_free(sums);
    uc_dataset_free(&data);
}

/* Every kind of step, both storages: preparing a row is preparing the matrix, and threads do not matter. */
static void a_row_is_prepared_as_the_whole_matrix_is(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++)
        for (int scaling = UC_SCALE_NONE; scaling <= UC_SCALE_MAXABS; scaling++)
            for (int unit = 0; unit < 4; unit++) {
                if (sparse && (scaling == UC_SCALE_RANGE || scaling == UC_SCALE_STANDARD))
                    continue;
                uc_dataset data = sample_data(3000, 12, 3, sparse, 8),
                           raw = sample_data(3000, 12, 3, sparse, 8);
                uc_preprocessing preprocessing;
                assert_ok(learn_scaling(&preprocessing, (uc_scaling)scaling, &data.X));
                preprocessing.normalize = unit & 1;
                preprocessing.normalize_input = unit & 2;
                assert_int_equal(uc_preprocessing_is_identity(&preprocessing),
                                 scaling == UC_SCALE_NONE && unit == 0);
                const uc_context context = {.threads = 3};
                assert_ok(uc_preprocessing_apply(&preprocessing, &data.X, &context));
                for (size_t i = 0; i < 3000; i++) {
                    float work[12];
                    const uc_row row = uc_preprocessing_row(&preprocessing, uc_matrix_row(&raw.X, i), work);
                    const uc_row expected = uc_matrix_row(&data.X, i);
                    assert_int_equal(row.count, expected.count);
                    if (row.count)
                        assert_memory_equal(row.values, expected.values, row.count * sizeof(float));
                    if (unit)
                        assert_near(reference_norm2(row), reference_norm2(row) == 0.0 ? 0.0 : 1.0, 1e-6);
                }
                uc_preprocessing_free(&preprocessing);
                uc_dataset_free(&data);
                uc_dataset_free(&raw);
            }
}

/* A sparse row that is shifted becomes the dense row that it stands for. */
static void a_shifted_sparse_row_is_the_shifted_dense_row(void **state)
{
    (void)state;
    uc_dataset dense = sample_data(50, 12, 3, false, 9), sparse = sample_data(50, 12, 3, true, 9);
    uc_preprocessing preprocessing;
    assert_ok(learn_scaling(&preprocessing, UC_SCALE_STANDARD, &dense.X));
    preprocessing.normalize = true;
    for (size_t i = 0; i < 50; i++) {
        float a[12], b[12];
        const uc_row x = uc_preprocessing_row(&preprocessing, uc_matrix_row(&dense.X, i), a);
        const uc_row y = uc_preprocessing_row(&preprocessing, uc_matrix_row(&sparse.X, i), b);
        assert_null(y.columns);
        assert_int_equal(y.count, 12);
        assert_memory_equal(x.values, y.values, 12 * sizeof(float));
    }
    uc_preprocessing_free(&preprocessing);
    uc_dataset_free(&dense);
    uc_dataset_free(&sparse);
}

static void a_zero_row_stays_zero_and_an_idle_step_returns_the_row_itself(void **state)
{
    (void)state;
    const float zeros[4] = {0}, values[4] = {3.0f, 0.0f, -4.0f, 0.0f};
    float work[4] = {9.0f, 9.0f, 9.0f, 9.0f};
    uc_preprocessing preprocessing = {.normalize = true};
    const uc_row zero = uc_preprocessing_row(&preprocessing, (uc_row){4, zeros, NULL}, work);
    for (size_t j = 0; j < 4; j++)
        assert_true(zero.values[j] == 0.0f);
    const uc_row none = uc_preprocessing_row(&preprocessing, (uc_row){0, NULL, NULL}, work);
    assert_int_equal(none.count, 0);
    const uc_row unit = uc_preprocessing_row(&preprocessing, (uc_row){4, values, NULL}, work);
    assert_near(unit.values[0], 0.6, 1e-7);
    assert_near(unit.values[2], -0.8, 1e-7);
    assert_true(values[0] == 3.0f);
    preprocessing.normalize = false;
    assert_ptr_equal(uc_preprocessing_row(&preprocessing, (uc_row){4, values, NULL}, work).values, values);
}

/* Values at test time that are far outside of what the scaling was learned from, also when normalised. */
static void values_far_outside_stay_finite(void **state)
{
    (void)state;
    uc_matrix X;
    assert_ok(uc_matrix_create_dense(&X, 2, 2));
    X.values[0] = 1e-38f;
    X.values[X.stride] = 2e-38f;
    X.values[1] = FLT_TRUE_MIN;
    X.values[X.stride + 1] = 2 * FLT_TRUE_MIN;
    for (int scaling = UC_SCALE_RANGE; scaling <= UC_SCALE_MAXABS; scaling++)
        for (int unit = 0; unit < 2; unit++) {
            uc_preprocessing preprocessing;
            const float far[2] = {FLT_MAX, -FLT_MAX};
            float work[2];
            assert_ok(learn_scaling(&preprocessing, (uc_scaling)scaling, &X));
            preprocessing.normalize = unit;
            const uc_row row = uc_preprocessing_row(&preprocessing, (uc_row){2, far, NULL}, work);
            assert_true(isfinite(row.values[0]) && isfinite(row.values[1]));
            assert_true(row.values[0] > 0.0f && row.values[1] < 0.0f);
            if (unit)
                assert_near(reference_norm2(row), 1.0, 1e-6);
            uc_preprocessing_free(&preprocessing);
        }
    uc_matrix_free(&X);
}

/* The shortest rows that a float can hold. */
static void tiny_and_huge_rows_get_unit_length(void **state)
{
    (void)state;
    const uc_preprocessing preprocessing = {.normalize = true};
    static const float sizes[] = {FLT_TRUE_MIN, 1e-30f, 1.0f, 1e30f, FLT_MAX};
    for (size_t s = 0; s < 5; s++) {
        const float values[2] = {sizes[s], -sizes[s]};
        float work[2];
        const uc_row row = uc_preprocessing_row(&preprocessing, (uc_row){2, values, NULL}, work);
        assert_near(row.values[0], sqrt(0.5), 1e-6);
        assert_near(row.values[1], -sqrt(0.5), 1e-6);
    }
}

static void sparse_data_accept_maxabs_only(void **state)
{
    (void)state;
    uc_dataset data = sample_data(10, 5, 2, true, 1);
    uc_preprocessing preprocessing;
    assert_error(
        learn_scaling(&preprocessing, UC_SCALE_RANGE, &data.X), UC_ERR_INVALID,
        "{scale=range} would turn the zeros of sparse data into other values: use {scale=maxabs}, or read "
        "the data with {storage=dense}");
    assert_error_has(learn_scaling(&preprocessing, UC_SCALE_STANDARD, &data.X), UC_ERR_INVALID,
                     "{scale=standard} would");
    assert_ok(learn_scaling(&preprocessing, UC_SCALE_MAXABS, &data.X));
    uc_preprocessing_free(&preprocessing);
    uc_dataset_free(&data);
}

static void data_with_other_columns_cannot_be_prepared_in_place(void **state)
{
    (void)state;
    uc_dataset data = sample_data(10, 5, 2, false, 1), wide = sample_data(10, 6, 2, false, 1);
    uc_dataset sparse = sample_data(10, 5, 2, true, 1);
    uc_preprocessing preprocessing;
    assert_ok(learn_scaling(&preprocessing, UC_SCALE_RANGE, &data.X));
    assert_error(uc_preprocessing_apply(&preprocessing, &wide.X, NULL), UC_ERR_INVALID,
                 "the data have 6 columns, but the scaling was learned from 5");
    assert_error(uc_preprocessing_apply(&preprocessing, &sparse.X, NULL), UC_ERR_INVALID,
                 "only dense data of 5 columns can be shifted in place");
    uc_preprocessing_free(&preprocessing);
    uc_dataset_free(&data);
    uc_dataset_free(&wide);
    uc_dataset_free(&sparse);
}

static uc_status learn_and_copy(uc_preprocessing *out, const uc_matrix *X)
{
    uc_preprocessing preprocessing;
    const uc_status status = learn_scaling(&preprocessing, UC_SCALE_STANDARD, X);
    if (status != UC_OK)
        return status;
    const uc_status copied = uc_preprocessing_copy(out, &preprocessing);
    uc_preprocessing_free(&preprocessing);
    return copied;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = sample_data(10, 40, 2, false, 1);
    uc_preprocessing preprocessing, direct;
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, learn_and_copy(&preprocessing, &data.X));
    assert_ok(learn_scaling(&direct, UC_SCALE_STANDARD, &data.X));
    assert_memory_equal(preprocessing.shift, direct.shift, 40 * sizeof(double));
    assert_memory_equal(preprocessing.factor, direct.factor, 40 * sizeof(double));
    uc_preprocessing_free(&preprocessing);
    uc_preprocessing_free(&direct);
    uc_dataset_free(&data);
}

/* ---- many rows, as if they arrived one by one; maps: see map_landmarks.c ---- */

/* Data with fewer columns, as many, and more than the scaling was learned from, for all preprocessing: the
 * row as uc_preprocessing_row prepares it, and the width that it stands for. */
static void rows_are_played_as_single_rows_are_prepared(void **state)
{
    (void)state;
    static const size_t widths[] = {9, 12, 15};
    uc_dataset learned = sample_data(100, 12, 3, false, 10);
    for (int scaling = UC_SCALE_NONE; scaling <= UC_SCALE_MAXABS; scaling++)
        for (int unit = 0; unit < 4; unit++)
            for (size_t w = 0; w < 3; w++)
                for (int sparse = 0; sparse < 2; sparse++) {
                    uc_dataset data = sample_data(500, widths[w], 3, sparse, 11);
                    const uc_context context = {.threads = 3};
                    uc_preprocessing preprocessing;
                    uc_matrix played;
                    assert_ok(learn_scaling(&preprocessing, (uc_scaling)scaling, &learned.X));
                    preprocessing.normalize = unit & 1;
                    preprocessing.normalize_input = unit & 2;
                    assert_ok(uc_preprocessing_apply_arriving(&played, &preprocessing, &data.X, &context));
                    const bool drops = scaling != UC_SCALE_NONE && widths[w] > 12;
                    assert_int_equal(uc_matrix_is_sparse(&played), sparse && !preprocessing.shift);
                    assert_int_equal(played.rows, 500);
                    assert_int_equal(played.cols, preprocessing.shift || drops ? 12 : widths[w]);
                    for (size_t i = 0; i < 500; i++) {
                        float work[16];
                        uc_row known = uc_matrix_row(&data.X, i);
                        while (drops && known.count > 0 &&
                               (known.columns ? known.columns[known.count - 1] : known.count - 1) >= 12)
                            known.count--;
                        const uc_row row = uc_matrix_row(&played, i);
                        const uc_row expected = uc_preprocessing_row(&preprocessing, known, work);
                        assert_int_equal(row.count, expected.count);
                        if (row.count > 0)
                            assert_memory_equal(row.values, expected.values, row.count * sizeof(float));
                        if (row.count > 0 && row.columns)
                            assert_memory_equal(row.columns, expected.columns, row.count * sizeof(uint32_t));
                    }
                    uc_matrix_free(&played);
                    uc_preprocessing_free(&preprocessing);
                    uc_dataset_free(&data);
                }
    uc_dataset_free(&learned);
}

/* A part of a sparse matrix, whose first offset is not 0, and no rows at all. */
static void parts_of_a_matrix_are_played_too(void **state)
{
    (void)state;
    uc_dataset data = sample_data(60, 12, 3, true, 12);
    uc_preprocessing preprocessing = {0};
    uc_matrix played, none = data.X, part = data.X;
    part.offsets += 20;
    part.rows = 30;
    none.rows = 0;
    assert_ok(uc_preprocessing_apply_arriving(&played, &preprocessing, &part, NULL));
    assert_int_equal(played.offsets[0], 0);
    for (size_t i = 0; i < 30; i++) {
        const uc_row row = uc_matrix_row(&played, i), expected = uc_matrix_row(&data.X, 20 + i);
        assert_int_equal(row.count, expected.count);
        assert_memory_equal(row.values, expected.values, row.count * sizeof(float));
        assert_memory_equal(row.columns, expected.columns, row.count * sizeof(uint32_t));
    }
    uc_matrix_free(&played);
    assert_ok(uc_preprocessing_apply_arriving(&played, &preprocessing, &none, NULL));
    assert_int_equal(played.rows, 0);
    assert_int_equal(played.cols, 12);
    uc_matrix_free(&played);
    uc_dataset_free(&data);
}

static void every_allocation_of_a_copy_may_fail(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_dataset data = sample_data(10, 5, 2, sparse, 1);
        uc_preprocessing preprocessing = {.normalize = true};
        uc_matrix played = {.rows = 77};
        uc_status status;
        FOR_EACH_FAILING_ALLOCATION(status,
                                    uc_preprocessing_apply_arriving(&played, &preprocessing, &data.X, NULL));
        assert_int_equal(played.rows, 10);
        uc_matrix_free(&played);
        uc_dataset_free(&data);
    }
}

/* ---- relevance ---- */

/* Column 0 is the class except in a third of the rows, 1 is skewed and meaningless, 2 is the class as 0 and 1
 * in most rows, 3 is constant, 4 has both its extremes in one class. */
static uc_dataset labelled_columns(void)
{
    uc_rng rng = uc_rng_make(3, 0);
    uc_dataset data = {0};
    assert_ok(uc_matrix_create_dense(&data.X, 1200, 5));
    data.y = uc_alloc(1200, sizeof *data.y);
    assert_non_null(data.y);
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t index;
        assert_ok(uc_names_add(&index, &data.classes, k ? "b" : "a", 1));
    }
    for (size_t i = 0; i < 1200; i++) {
        float *row = data.X.values + i * data.X.stride;
        data.y[i] = (uint32_t)uc_rng_below(&rng, 2);
        const double y = uc_rng_below(&rng, 3) ? data.y[i] : 1 - data.y[i];
        row[0] = (float)(500.0 + 20.0 * y + uc_rng_normal(&rng));
        row[1] = (float)exp(2.0 * uc_rng_normal(&rng));
        row[2] = uc_rng_below(&rng, 5) ? (float)data.y[i] : 0.0f;
        row[3] = 4.5f;
        row[4] = (float)(data.y[i] ? 2.0 * uc_rng_normal(&rng) : 0.5 * uc_rng_normal(&rng));
    }
    return data;
}

static void columns_are_weighed_by_what_they_tell(void **state)
{
    (void)state;
    uc_dataset data = labelled_columns();
    uc_relevance found;
    assert_ok(uc_relevance_learn(&found, &data, NULL));
    const double *factor = found.steps.factor, *bend = found.steps.bend;
    assert_true(factor[2] == 1.0); /* the most relevant, of 0 and 1 alone */
    assert_true(factor[0] > 0.0 && factor[4] > 0.0);
    assert_true(factor[3] == 0.0);
    assert_true(bend[1] > 0.0 && bend[0] == 0.0 && bend[2] == 0.0 && bend[4] == 0.0);
    double deviation = 0.0; /* of the first column, which was standardised before it was weighed */
    for (size_t i = 0; i < 1200; i++)
        deviation += pow((double)data.X.values[i * data.X.stride] - found.steps.shift[0], 2.0) / 1200.0;
    const double weight = factor[0] * sqrt(deviation);
    assert_true(weight > 0.2 && weight < 0.9); /* chi 133 of 600 or so: sqrt(.22) */
    assert_true(factor[1] * 1.5 < weight / 3.0);
    assert_true(found.clear);
    assert_int_equal(found.kept, factor[1] > 0.0 ? 4 : 3);

    uc_preprocessing steps = {0}, copy = {0};
    const uc_preprocessing_settings wanted = {.scaling = UC_SCALE_RELEVANCE, .relevance = &found.steps};
    uc_matrix X = {0};
    assert_ok(uc_matrix_subset(&X, &data.X, NULL, 0, NULL));
    assert_ok(uc_preprocessing_fit(&steps, &X, &wanted, NULL));
    assert_ok(uc_preprocessing_copy(&copy, &steps));
    float work[64] __attribute__((aligned(64)));
    for (size_t i = 0; i < 1200; i += 97) {
        const uc_row row = uc_preprocessing_row(&copy, uc_matrix_row(&data.X, i), work);
        const double v = data.X.values[i * data.X.stride + 1];
        assert_memory_equal(row.values, X.values + i * X.stride, 5 * sizeof(float));
        assert_true(fabs((double)row.values[1] - asinh((v - found.steps.shift[1]) * bend[1]) * factor[1]) <
                    1e-5);
    }
    uc_preprocessing_free(&copy);
    uc_preprocessing_free(&steps);
    uc_preprocessing_free(&found.steps);
    uc_matrix_free(&X);
    uc_dataset_free(&data);
}

static void every_allocation_of_relevance_may_fail(void **state)
{
    (void)state;
    uc_dataset data = labelled_columns();
    uc_relevance found;
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, uc_relevance_learn(&found, &data, NULL));
    uc_preprocessing_free(&found.steps);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scaling_is_what_two_passes_over_a_column_give),
        cmocka_unit_test(scaled_columns_have_the_promised_range_mean_and_deviation),
        cmocka_unit_test(numbers_are_standardised_and_columns_of_0_and_1_stay),
        cmocka_unit_test(padding_of_dense_rows_stays_zero),
        cmocka_unit_test(sparse_sums_with_their_zeros_are_dense_sums),
        cmocka_unit_test(sums_over_blocks_are_sums_over_the_whole),
        cmocka_unit_test(a_column_that_never_occurs_is_constant_zero),
        cmocka_unit_test(a_row_is_prepared_as_the_whole_matrix_is),
        cmocka_unit_test(a_shifted_sparse_row_is_the_shifted_dense_row),
        cmocka_unit_test(a_zero_row_stays_zero_and_an_idle_step_returns_the_row_itself),
        cmocka_unit_test(values_far_outside_stay_finite),
        cmocka_unit_test(tiny_and_huge_rows_get_unit_length),
        cmocka_unit_test(sparse_data_accept_maxabs_only),
        cmocka_unit_test(data_with_other_columns_cannot_be_prepared_in_place),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(rows_are_played_as_single_rows_are_prepared),
        cmocka_unit_test(parts_of_a_matrix_are_played_too),
        cmocka_unit_test(every_allocation_of_a_copy_may_fail),
        cmocka_unit_test(columns_are_weighed_by_what_they_tell),
        cmocka_unit_test(every_allocation_of_relevance_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
