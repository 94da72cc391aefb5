/* The noise matrix: what is accepted, how it is made, matched and inverted. */
#include "tests/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unconfuse/noise.h"

static void name_list(uc_names *out, const char *const *names, size_t count)
{
    *out = (uc_names){0};
    for (size_t i = 0; i < count; i++) {
        uint32_t index;
        assert_ok(uc_names_add(&index, out, names[i], strlen(names[i])));
    }
}

static void check_values(const uc_noise *noise, const double *values, size_t classes, double tolerance)
{
    assert_int_equal(noise->classes, classes);
    for (size_t i = 0; i < classes * classes; i++)
        assert_near(noise->values[i], values[i], tolerance);
}

static void check_names(const uc_noise *noise, const char *const *names, size_t count)
{
    assert_int_equal(noise->names.count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(noise->names.text[i], names[i]);
}

/* ---- making ---- */

static const char *const abc[] = {"a", "b", "c"};
static const double three[9] = {.7, .1, .2, .2, .8, .2, .1, .1, .6};      /* columns sum to 1 */
static const double three_rows[9] = {.7, .2, .1, .1, .8, .1, .2, .2, .6}; /* its transpose */

static void rows_are_transposed_to_columns(void **state)
{
    (void)state;
    uc_noise noise;
    assert_ok(uc_noise_create(&noise, three_rows, 3, NULL, UC_NOISE_ROWS, "C"));
    check_values(&noise, three, 3, 1e-15);
    uc_noise_free(&noise);
    assert_ok(uc_noise_create(&noise, three, 3, NULL, UC_NOISE_COLUMNS, "C"));
    check_values(&noise, three, 3, 1e-15);
    uc_noise_free(&noise);
    uc_noise_free(&noise); /* an empty one may be freed */
}

static void sums_near_one_are_renormalised(void **state)
{
    (void)state;
    const double rounded[4] = {.9005, .333, .1, .666};
    uc_noise noise;
    assert_ok(uc_noise_create(&noise, rounded, 2, NULL, UC_NOISE_COLUMNS, "C"));
    const double want[4] = {.9005 / 1.0005, .333 / .999, .1 / 1.0005, .666 / .999};
    check_values(&noise, want, 2, 1e-15);
    uc_noise_free(&noise);
}

static void what_is_not_a_noise_matrix_is_refused(void **state)
{
    (void)state;
    uc_noise noise = {0};
    assert_error(
        uc_noise_create(&noise, three_rows, 3, NULL, UC_NOISE_COLUMNS, "noise.csv"), UC_ERR_INVALID,
        "noise.csv: column 2 sums to 1.2, not 1, but every row sums to 1; if the true class is in rows, say "
        "{noise-orientation=rows}");
    assert_error(
        uc_noise_create(&noise, three, 3, NULL, UC_NOISE_ROWS, "noise.csv"), UC_ERR_INVALID,
        "noise.csv: row 2 sums to 1.2, not 1, but every column sums to 1; if the true class is in columns, "
        "say {noise-orientation=columns}");
    const double neither[4] = {.9, .2, .3, .8};
    assert_error(uc_noise_create(&noise, neither, 2, NULL, UC_NOISE_COLUMNS, "C"), UC_ERR_INVALID,
                 "C: column 1 sums to 1.2, not 1");
    assert_error(uc_noise_create(&noise, neither, 2, NULL, UC_NOISE_ROWS, "C"), UC_ERR_INVALID,
                 "C: row 1 sums to 1.1, not 1");
    const double negative[4] = {1.1, 0, -.1, 1};
    assert_error(uc_noise_create(&noise, negative, 2, NULL, UC_NOISE_COLUMNS, "C"), UC_ERR_INVALID,
                 "C: the entry 1.1 in row 1, column 1 is not between 0 and 1");
    const double below[4] = {1, 0, -.1, 1};
    assert_error(uc_noise_create(&noise, below, 2, NULL, UC_NOISE_COLUMNS, "C"), UC_ERR_INVALID,
                 "C: the entry -0.1 in row 2, column 1 is not between 0 and 1");
    const double unknown[4] = {1, 0, 0, NAN};
    assert_error(uc_noise_create(&noise, unknown, 2, NULL, UC_NOISE_COLUMNS, "C"), UC_ERR_INVALID,
                 "C: the entry nan in row 2, column 2 is not between 0 and 1");
    const double singular[9] = {.5, .1, .3, .3, .1,
                                .2, .2, .8, .5}; /* the third column is the mean of the others */
    assert_error(uc_noise_create(&noise, singular, 3, NULL, UC_NOISE_COLUMNS, "C"), UC_ERR_INVALID,
                 "C: the matrix is singular: different true classes would give the same labels");
    const double one = 1;
    assert_error(uc_noise_create(&noise, &one, 1, NULL, UC_NOISE_COLUMNS, "C"), UC_ERR_INVALID,
                 "a noise matrix needs at least 2 classes, not 1");
    uc_names names;
    name_list(&names, (const char *const[]){"a", "b"}, 2);
    assert_error(uc_noise_create(&noise, three, 3, &names, UC_NOISE_COLUMNS, "C"), UC_ERR_INVALID,
                 "C: 2 class names for a matrix of 3 classes");
    uc_names_free(&names);
    assert_null(noise.values);
}

static void a_sum_just_within_the_tolerance_passes_and_just_outside_fails(void **state)
{
    (void)state;
    uc_noise noise;
    const double within[4] = {.9009, 0, .1, 1}, outside[4] = {.9011, 0, .1, 1};
    assert_ok(uc_noise_create(&noise, within, 2, NULL, UC_NOISE_COLUMNS, "C"));
    uc_noise_free(&noise);
    assert_status(uc_noise_create(&noise, outside, 2, NULL, UC_NOISE_COLUMNS, "C"), UC_ERR_INVALID);
}

static void uniform_noise_flips_to_all_others_alike(void **state)
{
    (void)state;
    uc_noise noise;
    assert_ok(uc_noise_uniform(&noise, 4, .3));
    for (size_t p = 0; p < 4; p++)
        for (size_t q = 0; q < 4; q++)
            assert_near(noise.values[p * 4 + q], p == q ? .7 : .1, 1e-15);
    assert_int_equal(noise.names.count, 0);
    uc_noise_free(&noise);
    assert_error(uc_noise_uniform(&noise, 4, 1), UC_ERR_INVALID,
                 "the noise rate must be at least 0 and below 1, not 1");
    assert_error(uc_noise_uniform(&noise, 4, -.1), UC_ERR_INVALID,
                 "the noise rate must be at least 0 and below 1, not -0.1");
    assert_error(
        uc_noise_uniform(&noise, 4, .75), UC_ERR_INVALID,
        "noise rate 0.75 for 4 classes: the matrix is singular: different true classes would give the same "
        "labels");
    assert_error(uc_noise_uniform(&noise, 1, .1), UC_ERR_INVALID,
                 "a noise matrix needs at least 2 classes, not 1");
}

static void binary_rates_are_of_the_true_positives_and_negatives(void **state)
{
    (void)state;
    uc_noise noise;
    assert_ok(uc_noise_binary(&noise, .4, .1));
    const double want[4] = {.9, .4, .1, .6}; /* column 1: a true positive is observed negative with .4 */
    check_values(&noise, want, 2, 1e-15);
    uc_noise_free(&noise);
    assert_ok(uc_noise_binary(&noise, .4, 0));
    uc_noise_free(&noise);
    assert_error(uc_noise_binary(&noise, 1.5, 0), UC_ERR_INVALID,
                 "the noise rates must be from 0 to 1, not 1.5 and 0");
    assert_error(uc_noise_binary(&noise, 0, -1), UC_ERR_INVALID,
                 "the noise rates must be from 0 to 1, not 0 and -1");
    assert_error(
        uc_noise_binary(&noise, .3, .7), UC_ERR_INVALID,
        "noise rates 0.3 and 0.7: the matrix is singular: different true classes would give the same labels");
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ||C - diag C|| grows by about .11 a level, and the condition number as in the paper's family of ten
 * classes: what an independent computation with NumPy gave for 400 matrices, the mean up to level 7 and the
 * median above. */
static void random_noise_is_the_papers_family(void **state)
{
    (void)state;
    enum { SEEDS = 200, K = 10 };
    const struct {
        double level, norm, condition, tolerance;
    } want[] = {{1, .109, 1.139, .01}, {3, .328, 1.574, .02}, {5, .547, 2.535, .05},
                {7, .765, 6.35, .15},  {8, .875, 16.9, .4},   {10, 1.096, 86, .5}};
    for (size_t w = 0; w < sizeof want / sizeof *want; w++) {
        double norms = 0, conditions[SEEDS], mean = 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            uc_noise noise;
            uc_noise_check check;
            double squares = 0;
            assert_ok(uc_noise_random(&noise, K, want[w].level, seed));
            assert_ok(uc_noise_inspect(&check, &noise));
            for (size_t i = 0; i < K * K; i++)
                squares += i % (K + 1) ? noise.values[i] * noise.values[i] : 0;
            norms += sqrt(squares) / SEEDS;
            conditions[seed] = check.condition;
            mean += check.condition / SEEDS;
            uc_noise_free(&noise);
        }
        qsort(conditions, SEEDS, sizeof *conditions, compare_doubles);
        assert_near(norms, want[w].norm, .02 * want[w].norm);
        assert_near_relative(want[w].level > 7 ? conditions[SEEDS / 2] : mean, want[w].condition,
                             want[w].tolerance);
    }
}

/* One seed, one family: C_level = (1 - level/10) I + level/10 C_10. Columns are normalised, not rows. */
static void random_noise_moves_on_a_line_from_the_identity(void **state)
{
    (void)state;
    uc_noise full, noise, other;
    assert_ok(uc_noise_random(&full, 5, 10, 3));
    for (double level = 0; level <= 10; level += 1.25) {
        assert_ok(uc_noise_random(&noise, 5, level, 3));
        for (size_t p = 0; p < 5; p++)
            for (size_t q = 0; q < 5; q++)
                assert_near(noise.values[p * 5 + q],
                            (p == q) * (1 - level / 10) + level / 10 * full.values[p * 5 + q], 1e-14);
        uc_noise_free(&noise);
    }
    assert_ok(
        uc_noise_random(&noise, 5, 20, 3)); /* -I + 2 M: negative on most of the diagonal, which becomes 0 */
    for (size_t q = 0; q < 5; q++) {
        double clipped[5], sum = 0;
        for (size_t p = 0; p < 5; p++) {
            clipped[p] = fmax(0, 2 * full.values[p * 5 + q] - (p == q));
            sum += clipped[p];
        }
        for (size_t p = 0; p < 5; p++)
            assert_near(noise.values[p * 5 + q], clipped[p] / sum, 1e-14);
    }
    uc_noise_free(&noise);
    double column = 0, row = 0;
    for (size_t i = 0; i < 5; i++) {
        column += full.values[i * 5];
        row += full.values[i];
    }
    assert_near(column, 1, 1e-14);
    assert_true(fabs(row - 1) > .01);
    assert_ok(uc_noise_random(&other, 5, 10, 4));
    assert_memory_not_equal(other.values, full.values, 25 * sizeof(double));
    uc_noise_free(&other);
    uc_noise_free(&full);
    assert_error(uc_noise_random(&noise, 5, 20.5, 1), UC_ERR_INVALID,
                 "the noise level must be from 0 to 20, not 20.5");
    assert_error(uc_noise_random(&noise, 5, -1, 1), UC_ERR_INVALID,
                 "the noise level must be from 0 to 20, not -1");
    assert_error(uc_noise_random(&noise, 1, 1, 1), UC_ERR_INVALID,
                 "a noise matrix needs at least 2 classes, not 1");
}

/* ---- using ---- */

static void names_decide_over_position(void **state)
{
    (void)state;
    uc_noise noise;
    uc_names names, wanted;
    name_list(&names, abc, 3);
    name_list(&wanted, (const char *const[]){"c", "a", "b"}, 3);
    assert_ok(uc_noise_create(&noise, three, 3, &names, UC_NOISE_COLUMNS, "C"));
    assert_ok(uc_noise_match(&noise, &wanted));
    const double want[9] = {.6, .1, .1, .2, .7, .1, .2, .2, .8};
    check_values(&noise, want, 3, 1e-15);
    check_names(&noise, (const char *const[]){"c", "a", "b"}, 3);
    assert_ok(uc_noise_match(&noise, &names)); /* and back */
    check_values(&noise, three, 3, 1e-15);
    uc_noise_free(&noise);
    uc_names_free(&names);
    uc_names_free(&wanted);
}

static void without_names_the_position_decides(void **state)
{
    (void)state;
    uc_noise noise;
    uc_names names;
    name_list(&names, abc, 3);
    assert_ok(uc_noise_create(&noise, three, 3, NULL, UC_NOISE_COLUMNS, "C"));
    assert_ok(uc_noise_match(&noise, &names));
    check_values(&noise, three, 3, 1e-15);
    check_names(&noise, abc, 3);
    uc_noise_free(&noise);
    uc_names_free(&names);
}

static void classes_that_do_not_match_are_refused(void **state)
{
    (void)state;
    uc_noise named, plain;
    uc_names names, other, fewer;
    name_list(&names, abc, 3);
    name_list(&other, (const char *const[]){"a", "b", "dog"}, 3);
    name_list(&fewer, abc, 2);
    assert_ok(uc_noise_create(&named, three, 3, &names, UC_NOISE_COLUMNS, "C"));
    assert_ok(uc_noise_create(&plain, three, 3, NULL, UC_NOISE_COLUMNS, "C"));
    assert_error(uc_noise_match(&named, &other), UC_ERR_INVALID,
                 "class \"dog\" of the data is not in the noise matrix");
    assert_error(uc_noise_match(&named, &fewer), UC_ERR_INVALID,
                 "class \"c\" of the noise matrix is not in the data");
    assert_error(uc_noise_match(&plain, &fewer), UC_ERR_INVALID,
                 "the noise matrix has 3 classes, the data have 2");
    check_names(&named, abc, 3);
    check_values(&plain, three, 3, 1e-15);
    uc_noise_free(&named);
    uc_noise_free(&plain);
    uc_names_free(&names);
    uc_names_free(&other);
    uc_names_free(&fewer);
}

/* (1-r r; r 1-r) has the singular values 1 and 1 - 2r. */
static void the_condition_number_of_two_classes_is_known(void **state)
{
    (void)state;
    uc_noise noise;
    uc_noise_check check;
    assert_ok(uc_noise_uniform(&noise, 2, .4));
    assert_ok(uc_noise_inspect(&check, &noise));
    assert_near(check.condition, 5, 1e-13);
    assert_near(check.wrong, .4, 1e-15);
    assert_int_equal(check.dominated, 0);
    uc_noise_free(&noise);
}

static void rows_without_a_dominant_diagonal_are_counted(void **state)
{
    (void)state;
    uc_noise noise;
    uc_noise_check check;
    /* Row 1: .3 < .4. Row 2: .5 = .5, a tie. */
    const double C[9] = {.7, .2, .1, .1, .3, .4, .2, .5, .5};
    assert_ok(uc_noise_create(&noise, C, 3, NULL, UC_NOISE_COLUMNS, "C"));
    assert_ok(uc_noise_inspect(&check, &noise));
    assert_int_equal(check.dominated, 2);
    assert_int_equal(check.dominated_row, 1);
    assert_near(check.wrong, .5, 1e-15);
    uc_noise_free(&noise);
}

/* (J - I)/(K - 1) has the singular values 1 and, K - 1 times, 1/(K - 1). */
static void complementary_labels_name_every_other_class_alike(void **state)
{
    (void)state;
    for (size_t K = 3; K <= 9; K += 3) {
        uc_noise noise;
        uc_noise_check check;
        assert_ok(uc_noise_complementary(&noise, K));
        for (size_t i = 0; i < K * K; i++)
            assert_near(noise.values[i], i / K == i % K ? 0 : 1.0 / (double)(K - 1), 1e-15);
        assert_ok(uc_noise_inspect(&check, &noise));
        assert_true(check.complementary && check.dominated == K && check.wrong == 1);
        assert_near_relative(check.condition, (double)(K - 1), 1e-12);
        uc_status status;
        uc_noise_free(&noise);
        FOR_EACH_FAILING_ALLOCATION(status, uc_noise_complementary(&noise, K));
        noise.values[0] = 0.01; /* one class shows itself now and then */
        noise.values[K] -= 0.01;
        assert_ok(uc_noise_inspect(&check, &noise));
        assert_false(check.complementary);
        uc_noise_free(&noise);
    }
    uc_noise noise = {0};
    uc_noise_check check;
    assert_error(uc_noise_complementary(&noise, 2), UC_ERR_INVALID,
                 "complementary labels need at least 3 classes, not 2");
    const double swapped[4] = {0, 1, 1, 0};
    assert_ok(uc_noise_create(&noise, swapped, 2, NULL, UC_NOISE_COLUMNS, "C"));
    assert_ok(uc_noise_inspect(&check, &noise));
    assert_true(!check.complementary && check.dominated == 2);
    uc_noise_free(&noise);
}

static void multiply(double *out, const double *A, const double *B, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            out[i * n + j] = 0;
            for (size_t k = 0; k < n; k++)
                out[i * n + j] += A[i * n + k] * B[k * n + j];
        }
}

static void the_inverse_times_the_matrix_is_the_identity(void **state)
{
    (void)state;
    double inverse[49], product[49];
    for (uint64_t seed = 0; seed < 20; seed++) {
        uc_noise noise;
        assert_ok(uc_noise_random(&noise, 7, 5, seed));
        assert_ok(uc_noise_invert(inverse, &noise, 0));
        multiply(product, inverse, noise.values, 7);
        for (size_t i = 0; i < 49; i++)
            assert_near(product[i], i % 8 == 0, 1e-12);
        uc_noise_free(&noise);
    }
}

/* X = (C'C + r I)^-1 (C' + r I)  <=>  C'C X + r X = C' + r I, entry by entry. */
static void the_ridge_inverse_solves_its_equation(void **state)
{
    (void)state;
    enum { K = 6 };
    double X[K * K], transpose[K * K], gram[K * K], left[K * K];
    for (double ridge = 1e-4; ridge < 1e3; ridge *= 10) {
        uc_noise noise;
        assert_ok(uc_noise_random(&noise, K, 8, 2));
        assert_ok(uc_noise_invert(X, &noise, ridge));
        for (size_t i = 0; i < K * K; i++)
            transpose[i] = noise.values[i % K * K + i / K];
        multiply(gram, transpose, noise.values, K);
        multiply(left, gram, X, K);
        for (size_t i = 0; i < K * K; i++)
            assert_near(left[i] + ridge * X[i], transpose[i] + (i % (K + 1) == 0) * ridge,
                        1e-11 * (1 + ridge));
        uc_noise_free(&noise);
    }
}

static void the_ridge_leads_from_the_inverse_to_the_identity(void **state)
{
    (void)state;
    double inverse[9], nearly[9], far[9];
    uc_noise noise;
    assert_ok(uc_noise_create(&noise, three, 3, NULL, UC_NOISE_COLUMNS, "C"));
    assert_ok(uc_noise_invert(inverse, &noise, 0));
    assert_ok(uc_noise_invert(nearly, &noise, 1e-10));
    assert_ok(uc_noise_invert(far, &noise, 1e10));
    for (size_t i = 0; i < 9; i++) {
        assert_near(nearly[i], inverse[i], 1e-8);
        assert_near(far[i], i % 4 == 0, 1e-8);
    }
    assert_error(uc_noise_invert(far, &noise, -1), UC_ERR_INVALID,
                 "the ridge must be a number of at least 0, not -1");
    assert_error(uc_noise_invert(far, &noise, NAN), UC_ERR_INVALID,
                 "the ridge must be a number of at least 0, not nan");
    uc_noise_free(&noise);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    double inverse[9];
    uc_status status;
    uc_noise noise;
    uc_noise_check check;
    uc_names names, other;
    static const char *const cab[] = {"c", "a", "b"};
    name_list(&names, abc, 3);
    name_list(&other, cab, 3);
    const long live = uc_alloc_live();
    FOR_EACH_FAILING_ALLOCATION(status, uc_noise_uniform(&noise, 3, .1));
    uc_noise_free(&noise);
    FOR_EACH_FAILING_ALLOCATION(status, uc_noise_binary(&noise, .1, .2));
    uc_noise_free(&noise);
    FOR_EACH_FAILING_ALLOCATION(status, uc_noise_random(&noise, 3, 3, 1));
    uc_noise_free(&noise);
    FOR_EACH_FAILING_ALLOCATION(status, uc_noise_create(&noise, three, 3, &other, UC_NOISE_COLUMNS, "C"));
    FOR_EACH_FAILING_ALLOCATION(status, uc_noise_match(&noise, &names));
    FOR_EACH_FAILING_ALLOCATION(status, uc_noise_inspect(&check, &noise));
    FOR_EACH_FAILING_ALLOCATION(status, uc_noise_invert(inverse, &noise, 0));
    FOR_EACH_FAILING_ALLOCATION(status, uc_noise_invert(inverse, &noise, .1));
    uc_noise_free(&noise);
    assert_int_equal(uc_alloc_live(), live);
    uc_names_free(&other);
    uc_names_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_transposed_to_columns),
        cmocka_unit_test(sums_near_one_are_renormalised),
        cmocka_unit_test(what_is_not_a_noise_matrix_is_refused),
        cmocka_unit_test(a_sum_just_within_the_tolerance_passes_and_just_outside_fails),
        cmocka_unit_test(uniform_noise_flips_to_all_others_alike),
        cmocka_unit_test(binary_rates_are_of_the_true_positives_and_negatives),
        cmocka_unit_test(random_noise_is_the_papers_family),
        cmocka_unit_test(random_noise_moves_on_a_line_from_the_identity),
        cmocka_unit_test(names_decide_over_position),
        cmocka_unit_test(without_names_the_position_decides),
        cmocka_unit_test(classes_that_do_not_match_are_refused),
        cmocka_unit_test(the_condition_number_of_two_classes_is_known),
        cmocka_unit_test(rows_without_a_dominant_diagonal_are_counted),
        cmocka_unit_test(complementary_labels_name_every_other_class_alike),
        cmocka_unit_test(the_inverse_times_the_matrix_is_the_identity),
        cmocka_unit_test(the_ridge_inverse_solves_its_equation),
        cmocka_unit_test(the_ridge_leads_from_the_inverse_to_the_identity),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
