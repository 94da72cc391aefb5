/* Landmarks: drawn from a data set, or arriving one by one. */
#include "tests/map_sample.h"

#include "linalg/linalg.h"
#include "map/kernel.h"
#include "unconfuse/cpu.h"
#include "unconfuse/prepare.h"

#define ROWS ((size_t)300)
#define COLS ((size_t)7)

static void a_row_is_mapped_to_its_kernel_values(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(ROWS, COLS, 1);
    for (int kernel = 0; kernel < 3; kernel++) {
        const uc_map_settings settings = map_settings(UC_MAP_LANDMARKS, (uc_kernel)kernel, 5.0, 280);
        uc_map *map = fitted(&settings, &X);
        uc_matrix rows = mapped(map, &X);
        for (size_t i = 0; i < ROWS; i += 11)
            for (size_t l = 0; l < 280; l++) {
                const double value =
                    direct_kernel(&settings, uc_matrix_row(&X, i), uc_matrix_row(&map->landmarks, l), COLS);
                assert_near(rows.values[i * rows.stride + l], value, 1e-6 * (1.0 + fabs(value)));
            }
        uc_matrix_free(&rows);
        uc_map_free(map);
    }
    uc_matrix_free(&X);
}

static void landmarks_are_different_rows(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(ROWS, COLS, 2);
    for (size_t i = 0; i < ROWS; i++)
        X.values[i * X.stride] = (float)i; /* the row's number */
    const uc_map_settings settings = map_settings(UC_MAP_LANDMARKS, UC_KERNEL_GAUSSIAN, 5.0, 100);
    uc_map *map = fitted(&settings, &X);
    bool taken[ROWS] = {false};
    for (size_t l = 0; l < 100; l++) {
        const size_t row = (size_t)map->landmarks.values[l * map->landmarks.stride];
        assert_false(taken[row]);
        taken[row] = true;
    }
    uc_map_free(map);
    uc_matrix_free(&X);
}

/* ---- growing ---- */

static uc_map *begun(uint64_t dimension)
{
    const uc_map_settings settings = map_settings(UC_MAP_LANDMARKS, UC_KERNEL_GAUSSIAN, 5.0, dimension);
    uc_map *map;
    assert_ok(uc_map_begin_landmarks(&map, &settings, 5.0));
    return map;
}

/* Dense, sparse, and both by turns; some rows have fewer columns than others. */
static void a_grown_map_is_the_map_of_its_rows(void **state)
{
    (void)state;
    const size_t D = 20;
    uc_matrix X = sample_rows(D, COLS, 3), sparse = sparse_copy(&X);
    const uc_map_settings settings = map_settings(UC_MAP_LANDMARKS, UC_KERNEL_GAUSSIAN, 5.0, D);
    for (size_t form = 0; form < 4; form++) {
        uc_map *map = begun(D);
        float row[20];
        for (size_t l = 0; l < D; l++) {
            uc_row added = uc_matrix_row(
                form == 1 || (form == 2 && l % 2) || (form == 3 && l % 2 == 0) ? &sparse : &X, l);
            assert_ok(uc_map_add_landmark(map, added));
            assert_int_equal(uc_map_landmarks(map), l + 1);
            double *work = uc_alloc(uc_map_row_work(map), sizeof *work);
            uc_map_row(row, map, added, work);
            uc_free(work);
            assert_true(row[l] == 1.0f); /* a landmark that has just arrived scores with itself */
            for (size_t later = l + 1; later < D; later++)
                assert_true(row[later] == 0.0f);
        }
        assert_ok(uc_map_add_landmark(map, uc_matrix_row(&X, 0))); /* all are there: nothing happens */
        assert_int_equal(uc_map_landmarks(map), D);
        uc_matrix rows = mapped(map, &X);
        for (size_t i = 0; i < D; i++)
            for (size_t l = 0; l < D; l++)
                assert_near(rows.values[i * rows.stride + l],
                            direct_kernel(&settings, uc_matrix_row(&X, i), uc_matrix_row(&X, l), COLS), 1e-6);
        uc_matrix_free(&rows);
        uc_map_free(map);
    }
    uc_matrix_free(&sparse);
    uc_matrix_free(&X);
}

static void later_landmarks_may_have_more_columns(void **state)
{
    (void)state;
    const float first[] = {1.0f, 2.0f}, second[] = {1.0f, 2.0f, 3.0f}, third[] = {4.0f};
    const uint32_t column[] = {40};
    const bool sparse_first[] = {false, true};
    for (size_t s = 0; s < 2; s++) {
        uc_map *map = begun(4);
        const uint32_t columns[] = {0, 1};
        assert_ok(uc_map_add_landmark(map, (uc_row){2, first, sparse_first[s] ? columns : NULL}));
        assert_ok(uc_map_add_landmark(map, (uc_row){3, second, NULL}));
        assert_ok(uc_map_add_landmark(map, (uc_row){1, third, column}));
        float row[4];
        double *work = uc_alloc(uc_map_row_work(map), sizeof *work);
        uc_map_row(row, map, (uc_row){2, first, NULL}, work);
        uc_free(work);
        assert_true(row[0] == 1.0f && row[3] == 0.0f);
        assert_near(row[1], exp(-9.0 / 5.0), 1e-7);
        assert_near(row[2], exp(-(1.0 + 4.0 + 16.0) / 5.0), 1e-7);
        uc_map_free(map);
    }
}

static void many_rows_and_one_row_agree_while_landmarks_are_missing(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(10, COLS, 4);
    uc_map *map = begun(8);
    uc_matrix none = mapped(map, &X);
    for (size_t i = 0; i < 10 * none.stride; i++)
        assert_true(none.values[i] == 0.0f);
    for (size_t l = 0; l < 3; l++)
        assert_ok(uc_map_add_landmark(map, uc_matrix_row(&X, l)));
    uc_matrix rows = mapped(map, &X);
    double *work = uc_alloc(uc_map_row_work(map), sizeof *work);
    for (size_t i = 0; i < 10; i++) {
        float row[8];
        uc_map_row(row, map, uc_matrix_row(&X, i), work);
        for (size_t l = 0; l < 8; l++)
            assert_near(rows.values[i * rows.stride + l], row[l], 1e-6);
    }
    uc_free(work);
    uc_matrix_free(&rows);
    uc_matrix_free(&none);
    uc_map_free(map);
    uc_matrix_free(&X);
}

static void auto_is_700_and_a_width_is_needed(void **state)
{
    (void)state;
    uc_map *map = begun(UC_AUTO_COUNT);
    assert_int_equal(uc_map_dimension(map), 700);
    uc_map_free(map);
    const uc_map_settings settings = map_settings(UC_MAP_LANDMARKS, UC_KERNEL_GAUSSIAN, 5.0, 10);
    assert_error(uc_map_begin_landmarks(&map, &settings, 0.0), UC_ERR_INVALID,
                 "the width 0 of a gaussian kernel is not above 0");
}

static uc_status grow_once(const uc_matrix *X)
{
    const uc_map_settings settings = map_settings(UC_MAP_LANDMARKS, UC_KERNEL_GAUSSIAN, 5.0, 5);
    uc_map *map;
    uc_status status = uc_map_begin_landmarks(&map, &settings, 5.0);
    if (status != UC_OK)
        return status;
    for (size_t l = 0; l < 5 && status == UC_OK; l++) {
        status = uc_map_add_landmark(map, uc_matrix_row(X, l));
        assert_int_equal(uc_map_landmarks(map), status == UC_OK ? l + 1 : l);
    }
    uc_map_free(map);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(5, COLS, 5), sparse = sparse_copy(&X);
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, grow_once(&X));
    FOR_EACH_FAILING_ALLOCATION(status, grow_once(&sparse));
    uc_matrix_free(&sparse);
    uc_matrix_free(&X);
}

/* A dense map: its landmarks' lengths are those that a stored map is given when it is read again. */
static void lengths_of_landmarks_do_not_depend_on_how_they_came(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(12, 21, 6), sparse = sparse_copy(&X);
    for (size_t first_sparse = 0; first_sparse < 2; first_sparse++) {
        uc_map *map = begun(12);
        for (size_t l = 0; l < 12; l++) {
            uc_row row = uc_matrix_row((l + first_sparse) % 2 ? &sparse : &X, l);
            if (!row.columns)
                row.count = 10 + l; /* wider and wider */
            assert_ok(uc_map_add_landmark(map, row));
        }
        assert_int_equal(uc_matrix_is_sparse(&map->landmarks), first_sparse);
        double *norm2 = map->norm2;
        assert_ok(uc_map_measure_landmarks(map));
        assert_memory_equal(map->norm2, norm2, 12 * sizeof *norm2);
        uc_free(norm2);
        uc_map_free(map);
    }
    uc_matrix_free(&sparse);
    uc_matrix_free(&X);
}

static void the_first_row_decides_the_storage_of_a_copied_map_too(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(2, COLS, 7), sparse = sparse_copy(&X);
    uc_map *map = begun(4), *copy, *next;
    assert_ok(uc_map_copy(&copy, map));
    assert_ok(uc_map_add_landmark(copy, uc_matrix_row(&sparse, 0)));
    assert_true(uc_matrix_is_sparse(&copy->landmarks));
    assert_ok(uc_map_copy(&next, copy)); /* which has no room left: it is made */
    assert_ok(uc_map_add_landmark(next, uc_matrix_row(&X, 1)));
    assert_int_equal(uc_map_landmarks(next), 2);
    assert_int_equal(uc_map_landmarks(copy), 1);
    uc_map_free(next);
    uc_map_free(copy);
    uc_map_free(map);
    uc_matrix_free(&sparse);
    uc_matrix_free(&X);
}

static void room_for_landmarks_doubles(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(700, COLS, 8), sparse = sparse_copy(&X);
    const uc_matrix *given[] = {&X, &sparse};
    for (size_t g = 0; g < 2; g++) {
        uc_map *map = begun(UC_AUTO_COUNT);
        uc_alloc_fail_after(-1);
        for (size_t l = 0; l < 700; l++)
            assert_ok(uc_map_add_landmark(map, uc_matrix_row(given[g], l)));
        assert_true(uc_alloc_count() < 60);
        uc_map_free(map);
    }
    uc_matrix_free(&sparse);
    uc_matrix_free(&X);
}

static void other_kinds_of_maps_do_not_grow(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(30, COLS, 9);
    const uc_map_settings settings = map_settings(UC_MAP_JL, UC_KERNEL_GAUSSIAN, 5.0, 5);
    uc_map *map = fitted(&settings, &X);
    const size_t landmarks = uc_map_landmarks(map);
    assert_ok(uc_map_add_landmark(map, uc_matrix_row(&X, 0)));
    assert_int_equal(uc_map_landmarks(map), landmarks);
    uc_map_free(map);
    uc_matrix_free(&X);
}

/* ---- many rows, as if they arrived one by one ---- */

#define STREAM ((size_t)400)
#define WIDE ((size_t)37)

/* Rows first .. last-1 as a matrix that borrows them. */
static uc_matrix part_of(const uc_matrix *X, size_t first, size_t last)
{
    uc_matrix part = *X;
    part.rows = last - first;
    if (part.offsets)
        part.offsets += first;
    else
        part.values += first * part.stride;
    return part;
}

static uc_row without_unknown(const uc_preprocessing *steps, uc_row row)
{
    size_t known = 0;
    while (known < row.count && (!steps->factor || (row.columns ? row.columns[known] : known) < steps->cols))
        known++;
    row.count = known;
    return row;
}

/* uc_preprocessing_add_landmark and uc_preprocessing_row for every row, into rows `first`... of `out`. */
static void arrive_one_by_one(uc_matrix *out, size_t first, uc_preprocessing *steps, const uc_matrix *X)
{
    for (size_t i = 0; i < X->rows; i++) {
        const uc_row known = without_unknown(steps, uc_matrix_row(X, i));
        float *work = uc_alloc(uc_preprocessing_row_work(steps, X->cols), sizeof *work);
        assert_ok(uc_preprocessing_add_landmark(steps, known, work));
        uc_free(work);
        work = uc_alloc(uc_preprocessing_row_work(steps, X->cols), sizeof *work);
        const uc_row row = uc_preprocessing_row(steps, known, work);
        assert_int_equal(row.count, out->cols);
        memcpy(out->values + (first + i) * out->stride, row.values, row.count * sizeof *row.values);
        uc_free(work);
    }
}

static void play(uc_matrix *out, size_t first, uc_preprocessing *steps, const uc_matrix *X, unsigned threads)
{
    const uc_context context = {.threads = threads};
    uc_matrix played;
    assert_ok(uc_preprocessing_apply_arriving(&played, steps, X, &context));
    assert_int_equal(played.rows, X->rows);
    assert_int_equal(played.cols, out->cols);
    assert_false(uc_matrix_is_sparse(&played));
    if (X->rows > 0) /* with the padding */
        memcpy(out->values + first * out->stride, played.values, X->rows * out->stride * sizeof *out->values);
    uc_matrix_free(&played);
}

static void assert_same_map(const uc_map *a, const uc_map *b)
{
    const uc_matrix *x = &a->landmarks, *y = &b->landmarks;
    assert_int_equal(x->rows, y->rows);
    assert_int_equal(x->cols, y->cols);
    assert_int_equal(x->stride, y->stride);
    assert_memory_equal(a->norm2, b->norm2, x->rows * sizeof *a->norm2);
    for (size_t l = 0; l < x->rows; l++) {
        const uc_row p = uc_matrix_row(x, l), q = uc_matrix_row(y, l);
        assert_int_equal(p.count, q.count);
        if (p.count > 0)
            assert_memory_equal(p.values, q.values, p.count * sizeof *p.values);
        if (p.columns && p.count > 0)
            assert_memory_equal(p.columns, q.columns, p.count * sizeof *p.columns);
    }
}

/* Steps that begin with no landmark; the caller sets the rest. */
static uc_preprocessing begun_steps(uc_kernel kernel, size_t dimension)
{
    const uc_map_settings settings = map_settings(UC_MAP_LANDMARKS, kernel, 20.0, dimension);
    uc_preprocessing steps = {0};
    assert_ok(uc_map_begin_landmarks(&steps.map, &settings, 20.0));
    return steps;
}

static void assert_blocks_are_single_rows(const uc_preprocessing *begun_steps, const uc_matrix *X,
                                          size_t block, unsigned threads, const uc_matrix *expected,
                                          const uc_map *map)
{
    uc_preprocessing steps;
    uc_matrix out;
    assert_ok(uc_preprocessing_copy(&steps, begun_steps));
    assert_ok(uc_matrix_create_dense(&out, X->rows, expected->cols));
    for (size_t first = 0; first < X->rows; first += block) {
        const uc_matrix part = part_of(X, first, first + block < X->rows ? first + block : X->rows);
        play(&out, first, &steps, &part, threads);
    }
    assert_memory_equal(out.values, expected->values, X->rows * out.stride * sizeof *out.values);
    assert_same_map(steps.map, map);
    uc_matrix_free(&out);
    uc_preprocessing_free(&steps);
}

static void assert_any_blocks_are_single_rows(const uc_preprocessing *begun_steps, const uc_matrix *X)
{
    static const size_t blocks[] = {1, 3, 64, 257, STREAM};
    uc_preprocessing steps;
    uc_matrix expected;
    assert_ok(uc_preprocessing_copy(&steps, begun_steps));
    assert_ok(uc_matrix_create_dense(&expected, X->rows, uc_map_dimension(steps.map)));
    arrive_one_by_one(&expected, 0, &steps, X);
    for (size_t b = 0; b < 5; b++)
        for (unsigned threads = 1; threads <= (blocks[b] >= 257 ? 3 : 1); threads++)
            assert_blocks_are_single_rows(begun_steps, X, blocks[b], threads, &expected, steps.map);
    uc_matrix_free(&expected);
    uc_preprocessing_free(&steps);
}

/* STREAM rows, two of them zero. */
static uc_matrix stream_rows(size_t cols, uint64_t seed)
{
    uc_matrix X = sample_rows(STREAM, cols, seed);
    memset(X.values + 5 * X.stride, 0, cols * sizeof *X.values);
    memset(X.values + 300 * X.stride, 0, cols * sizeof *X.values);
    return X;
}

/* The landmarks are full before the first cut, behind it, on it, and never. */
static void blocks_are_single_rows_bit_for_bit_at_every_level(void **state)
{
    (void)state;
    static const char *const levels[] = {"baseline", "avx2", "avx512"};
    static const size_t dimensions[] = {1, 50, 257, 700};
    uc_matrix X = stream_rows(WIDE, 10), sparse = sparse_copy(&X);
    const uc_matrix *given[] = {&X, &sparse};
    for (size_t l = 0; l < 3; l++) {
        if (uc_cpu_set_level(levels[l]) != UC_OK)
            continue;
        for (size_t g = 0; g < 2; g++)
            for (size_t d = 0; d < 4; d++) {
                uc_preprocessing steps = begun_steps(UC_KERNEL_GAUSSIAN, dimensions[d]);
                steps.normalize = d % 2;
                assert_any_blocks_are_single_rows(&steps, given[g]);
                uc_preprocessing_free(&steps);
            }
    }
    assert_ok(uc_cpu_set_level("best"));
    uc_matrix_free(&sparse);
    uc_matrix_free(&X);
}

/* Rows that are narrower and wider than what the scaling was learned from; unit length here and there. */
static void blocks_are_single_rows_whatever_is_prepared(void **state)
{
    (void)state;
    uc_matrix X = stream_rows(WIDE, 11), sparse = sparse_copy(&X);
    const uc_matrix *given[] = {&X, &sparse};
    static const size_t learned_from[] = {WIDE - 8, WIDE, WIDE + 8};
    for (size_t w = 0; w < 3; w++) {
        uc_matrix other = sample_rows(100, learned_from[w], 12);
        for (int scaling = UC_SCALE_NONE; scaling <= UC_SCALE_NUMBERS; scaling++)
            for (size_t g = 0; g < 2; g++) {
                uc_preprocessing steps = begun_steps((uc_kernel)(scaling % 3), 90), scale;
                assert_ok(learn_scaling(&scale, (uc_scaling)scaling, &other));
                scale.map = steps.map;
                scale.normalize_input = (w + g) % 2;
                scale.normalize = w % 2;
                assert_any_blocks_are_single_rows(&scale, given[g]);
                uc_preprocessing_free(&scale);
            }
        uc_matrix_free(&other);
    }
    uc_matrix_free(&sparse);
    uc_matrix_free(&X);
}

/* Parts of one stream: wider and narrower, dense and sparse, by turns. */
static void parts_of_any_shape_are_single_rows(void **state)
{
    (void)state;
    static const size_t ends[] = {20, 70, 90, 200, 210, 300, STREAM},
                        widths[] = {9, 21, 5, WIDE, 3, WIDE, 20};
    for (size_t order = 0; order < 4; order++) {
        uc_preprocessing blocks = begun_steps(UC_KERNEL_GAUSSIAN, 150),
                         singles = begun_steps(UC_KERNEL_GAUSSIAN, 150);
        uc_matrix played, expected;
        assert_ok(uc_matrix_create_dense(&played, STREAM, 150));
        assert_ok(uc_matrix_create_dense(&expected, STREAM, 150));
        for (size_t p = 0, first = 0; p < 7; first = ends[p++]) {
            uc_matrix X = sample_rows(ends[p] - first, widths[p], p), sparse = sparse_copy(&X);
            const bool as_sparse = order == 0 ? false : order == 1 ? true : (p + order) % 2;
            play(&played, first, &blocks, as_sparse ? &sparse : &X, 2);
            arrive_one_by_one(&expected, first, &singles, as_sparse ? &sparse : &X);
            assert_same_map(blocks.map, singles.map);
            uc_matrix_free(&sparse);
            uc_matrix_free(&X);
        }
        assert_memory_equal(played.values, expected.values, STREAM * played.stride * sizeof *played.values);
        uc_matrix_free(&played);
        uc_matrix_free(&expected);
        uc_preprocessing_free(&blocks);
        uc_preprocessing_free(&singles);
    }
}

/* With dense landmarks, neither zeros after a row nor zeros left out of it change any bit. */
static void zeros_that_are_stored_or_not_change_nothing(void **state)
{
    (void)state;
    uc_matrix X = stream_rows(WIDE, 13), sparse = sparse_copy(&X), wide;
    assert_ok(uc_matrix_create_dense(&wide, STREAM, WIDE + 60));
    for (size_t i = 0; i < STREAM; i++)
        memcpy(wide.values + i * wide.stride, X.values + i * X.stride, WIDE * sizeof *X.values);
    const uc_matrix *given[] = {&X, &wide, &sparse};
    uc_matrix played[3];
    for (size_t g = 0; g < 3; g++) {
        uc_preprocessing steps = begun_steps(UC_KERNEL_GAUSSIAN, 100);
        assert_ok(uc_map_add_landmark(steps.map, uc_matrix_row(&X, 0))); /* dense */
        assert_ok(uc_preprocessing_apply_arriving(&played[g], &steps, given[g], NULL));
        assert_memory_equal(played[g].values, played[0].values,
                            STREAM * played[0].stride * sizeof *played[0].values);
        uc_preprocessing_free(&steps);
    }
    for (size_t g = 0; g < 3; g++)
        uc_matrix_free(&played[g]);
    uc_matrix_free(&wide);
    uc_matrix_free(&sparse);
    uc_matrix_free(&X);
}

/* Scaled and mapped by plain loops. */
static void a_row_is_mapped_to_the_landmarks_up_to_its_own(void **state)
{
    (void)state;
    const size_t D = 70;
    uc_matrix X = stream_rows(WIDE, 14), scaled = stream_rows(WIDE, 14), played;
    for (int kernel = 0; kernel < 3; kernel++)
        for (int unit = 0; unit < 2; unit++) {
            uc_preprocessing map = begun_steps((uc_kernel)kernel, D), steps;
            const uc_map_settings settings = map_settings(UC_MAP_LANDMARKS, (uc_kernel)kernel, 20.0, D);
            assert_ok(learn_scaling(&steps, UC_SCALE_RANGE, &X));
            steps.map = map.map;
            steps.normalize = unit;
            for (size_t i = 0; i < STREAM; i++)
                for (size_t j = 0; j < WIDE; j++)
                    scaled.values[i * X.stride + j] =
                        (float)(((double)X.values[i * X.stride + j] - steps.shift[j]) * steps.factor[j]);
            assert_ok(uc_preprocessing_apply_arriving(&played, &steps, &X, NULL));
            for (size_t i = 0; i < STREAM; i += i < D ? 1 : 37) {
                double values[70] = {0}, squares = 0.0;
                for (size_t l = 0; l < D && l <= i; l++) {
                    values[l] =
                        direct_kernel(&settings, uc_matrix_row(&scaled, i), uc_matrix_row(&scaled, l), WIDE);
                    squares += values[l] * values[l];
                }
                for (size_t l = 0; l < D; l++) {
                    const double value = unit ? values[l] / sqrt(squares) : values[l];
                    assert_near(played.values[i * played.stride + l], value, 2e-6 * (1.0 + fabs(value)));
                }
            }
            uc_matrix_free(&played);
            uc_preprocessing_free(&steps);
        }
    uc_matrix_free(&scaled);
    uc_matrix_free(&X);
}

static void maps_with_a_projection_are_played_row_by_row(void **state)
{
    (void)state;
    uc_matrix X = stream_rows(WIDE, 15), expected;
    const uc_map_settings settings = map_settings(UC_MAP_NYSTROEM, UC_KERNEL_GAUSSIAN, 20.0, 30);
    uc_preprocessing steps = {.map = fitted(&settings, &X), .normalize = true};
    assert_ok(uc_matrix_create_dense(&expected, STREAM, 30));
    arrive_one_by_one(&expected, 0, &steps, &X);
    assert_blocks_are_single_rows(&steps, &X, 257, 2, &expected, steps.map);
    uc_matrix_free(&expected);
    uc_preprocessing_free(&steps);
    uc_matrix_free(&X);
}

/* Keys of columns with more than 16 bits, in the index of sparse landmarks. */
static void columns_far_apart_find_each_other(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(16, 0);
    uc_matrix X;
    assert_ok(uc_matrix_create_sparse(&X, 40, 200001, 160));
    for (size_t i = 0; i < 40; i++) {
        for (size_t e = 0; e < 4; e++) {
            X.columns[4 * i + e] =
                (uint32_t)(50000 * e + 10000 * uc_rng_below(&rng, 5) + uc_rng_below(&rng, 3));
            X.values[4 * i + e] = (float)uc_rng_normal(&rng);
        }
        X.offsets[i + 1] = 4 * i + 4;
    }
    uc_preprocessing blocks = begun_steps(UC_KERNEL_LINEAR, 40), singles = begun_steps(UC_KERNEL_LINEAR, 40);
    uc_matrix played, expected;
    assert_ok(uc_matrix_create_dense(&expected, 40, 40));
    arrive_one_by_one(&expected, 0, &singles, &X);
    assert_ok(uc_preprocessing_apply_arriving(&played, &blocks, &X, NULL));
    assert_memory_equal(played.values, expected.values, 40 * played.stride * sizeof *played.values);
    size_t met = 0;
    for (size_t i = 0; i < 40; i++)
        for (size_t l = 0; l < i; l++)
            met += played.values[i * played.stride + l] != 0.0f;
    assert_true(met > 20);
    uc_matrix_free(&played);
    uc_matrix_free(&expected);
    uc_preprocessing_free(&blocks);
    uc_preprocessing_free(&singles);
    uc_matrix_free(&X);
}

static void no_rows_are_played_to_no_rows(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(0, COLS, 1), played;
    uc_preprocessing steps = begun_steps(UC_KERNEL_GAUSSIAN, 5);
    assert_ok(uc_preprocessing_apply_arriving(&played, &steps, &X, NULL));
    assert_int_equal(played.rows, 0);
    assert_int_equal(played.cols, 5);
    assert_int_equal(uc_map_landmarks(steps.map), 0);
    uc_matrix_free(&played);
    uc_preprocessing_free(&steps);
    uc_matrix_free(&X);
}

/* A row in the middle that the kernel cannot take: the map is as it was, and goes on. */
static void a_block_that_fails_leaves_the_map_as_it_was(void **state)
{
    (void)state;
    for (size_t before = 0; before < 10; before += 4)
        for (size_t s = 0; s < 2; s++) {
            uc_matrix narrow = sample_rows(10, COLS, 17), wide = sample_rows(20, WIDE, 18), out;
            wide.values[7 * wide.stride] = 1e30f;
            uc_matrix sparse_narrow = sparse_copy(&narrow), sparse_wide = sparse_copy(&wide);
            const uc_matrix first = part_of(s ? &sparse_narrow : &narrow, 0, before);
            uc_preprocessing steps = begun_steps(UC_KERNEL_POLYNOMIAL, 18), expected;
            steps.map->degree = 20.0;
            assert_ok(uc_preprocessing_apply_arriving(&out, &steps, &first, NULL));
            uc_matrix_free(&out);
            assert_ok(uc_preprocessing_copy(&expected, &steps));
            assert_error_has(uc_preprocessing_apply_arriving(&out, &steps, s ? &sparse_wide : &wide, NULL),
                             UC_ERR_DIVERGED, "its kernel value with itself is too large for a number");
            assert_int_equal(uc_map_landmarks(steps.map), before);
            if (before > 0)
                assert_same_map(steps.map, expected.map);
            for (size_t i = 0; i < 10; i++) {
                assert_ok(uc_map_add_landmark(steps.map, uc_matrix_row(&narrow, i)));
                assert_ok(uc_map_add_landmark(expected.map, uc_matrix_row(&narrow, i)));
            }
            assert_same_map(steps.map, expected.map);
            uc_preprocessing_free(&expected);
            uc_preprocessing_free(&steps);
            uc_matrix_free(&sparse_narrow);
            uc_matrix_free(&sparse_wide);
            uc_matrix_free(&narrow);
            uc_matrix_free(&wide);
        }
}

/* The same steps again and again: what failed has left nothing behind. */
static uc_status play_once(uc_matrix *out, uc_preprocessing *steps, const uc_matrix *X)
{
    const uc_context context = {.threads = 1};
    const size_t before = uc_map_landmarks(steps->map), cols = steps->map->landmarks.cols;
    const uc_status status = uc_preprocessing_apply_arriving(out, steps, X, &context);
    if (status != UC_OK) {
        assert_int_equal(uc_map_landmarks(steps->map), before);
        assert_int_equal(steps->map->landmarks.cols, cols);
    }
    return status;
}

static void every_allocation_of_a_block_may_fail(void **state)
{
    (void)state;
    uc_matrix narrow = sample_rows(20, COLS, 19), X = sample_rows(150, WIDE, 20);
    uc_matrix sparse_narrow = sparse_copy(&narrow), sparse = sparse_copy(&X);
    for (size_t s = 0; s < 2; s++)
        for (size_t begins = 0; begins < 2; begins++) {
            uc_preprocessing steps = begun_steps(UC_KERNEL_GAUSSIAN, 70),
                             singles = begun_steps(UC_KERNEL_GAUSSIAN, 70);
            uc_matrix out, expected;
            uc_status status;
            const uc_matrix first = part_of(s ? &sparse_narrow : &narrow, 0, begins ? 0 : 20);
            assert_ok(uc_matrix_create_dense(&expected, 150, 70));
            assert_ok(uc_preprocessing_apply_arriving(&out, &steps, &first, NULL));
            uc_matrix_free(&out);
            arrive_one_by_one(&expected, 0, &singles, &first);
            FOR_EACH_FAILING_ALLOCATION(status, play_once(&out, &steps, s ? &sparse : &X));
            arrive_one_by_one(&expected, 0, &singles, s ? &sparse : &X);
            assert_memory_equal(out.values, expected.values, 150 * out.stride * sizeof *out.values);
            assert_same_map(steps.map, singles.map);
            uc_matrix_free(&out);
            uc_matrix_free(&expected);
            uc_preprocessing_free(&steps);
            uc_preprocessing_free(&singles);
        }
    uc_matrix_free(&sparse_narrow);
    uc_matrix_free(&sparse);
    uc_matrix_free(&narrow);
    uc_matrix_free(&X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_mapped_to_its_kernel_values),
        cmocka_unit_test(landmarks_are_different_rows),
        cmocka_unit_test(a_grown_map_is_the_map_of_its_rows),
        cmocka_unit_test(later_landmarks_may_have_more_columns),
        cmocka_unit_test(many_rows_and_one_row_agree_while_landmarks_are_missing),
        cmocka_unit_test(auto_is_700_and_a_width_is_needed),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(lengths_of_landmarks_do_not_depend_on_how_they_came),
        cmocka_unit_test(the_first_row_decides_the_storage_of_a_copied_map_too),
        cmocka_unit_test(room_for_landmarks_doubles),
        cmocka_unit_test(other_kinds_of_maps_do_not_grow),
        cmocka_unit_test(blocks_are_single_rows_bit_for_bit_at_every_level),
        cmocka_unit_test(blocks_are_single_rows_whatever_is_prepared),
        cmocka_unit_test(parts_of_any_shape_are_single_rows),
        cmocka_unit_test(zeros_that_are_stored_or_not_change_nothing),
        cmocka_unit_test(a_row_is_mapped_to_the_landmarks_up_to_its_own),
        cmocka_unit_test(maps_with_a_projection_are_played_row_by_row),
        cmocka_unit_test(columns_far_apart_find_each_other),
        cmocka_unit_test(no_rows_are_played_to_no_rows),
        cmocka_unit_test(a_block_that_fails_leaves_the_map_as_it_was),
        cmocka_unit_test(every_allocation_of_a_block_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
