/* The artificial problems: every example is checked against a second writing of the problem's definition. */
#include "tests/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unconfuse/dataset.h"

/* Settings of any generator, in a block of its size; options are pairs of name and value, ended by NULL. */
typedef struct request {
    const uc_generator *generator;
    void *settings;
} request;

static request ask(const char *name, const char *const *options)
{
    request r = {uc_generator_find(name), NULL};
    assert_non_null(r.generator);
    r.settings = calloc(1, uc_generator_settings_size(r.generator));
    assert_non_null(r.settings);
    const uc_option *table = uc_generator_options(r.generator);
    uc_options_defaults(table, r.settings);
    for (; options && *options; options += 2) {
        const uc_option *option = uc_options_find(table, options[0]);
        assert_non_null(option);
        assert_ok(uc_option_set(option, r.settings, options[1]));
    }
    return r;
}

#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void generate(uc_dataset *train, uc_dataset *test, const char *name, const char *const *options,
                     size_t examples, size_t test_examples, uint64_t seed)
{
    request r = ask(name, options);
    assert_ok(uc_generator_run(train, test, r.generator, r.settings, examples, test_examples, seed));
    free(r.settings);
}

static void point_of(double point[2], const uc_dataset *data, size_t i)
{
    const uc_row row = uc_matrix_row(&data->X, i);
    assert_int_equal(row.count, 2);
    assert_null(row.columns);
    point[0] = (double)row.values[0];
    point[1] = (double)row.values[1];
}

static void check_classes(const uc_dataset *data, const char *const *names, size_t count)
{
    assert_int_equal(data->classes.count, count);
    for (size_t k = 0; k < count; k++)
        assert_string_equal(data->classes.text[k], names[k]);
}

static void check_share(size_t count, size_t all, double share)
{
    assert_near((double)count / (double)all, share, 4.5 * sqrt(share * (1 - share) / (double)all) + 1e-12);
}

/* ---- uma-circle ---- */

typedef struct arc_point {
    double angle;
    uint32_t label;
} arc_point;

static int by_angle(const void *a, const void *b)
{
    const arc_point *x = a, *y = b;
    return (x->angle > y->angle) - (x->angle < y->angle);
}

/* Training and test points of one problem, sorted by angle. */
static size_t circle_points(arc_point *points, const uc_dataset *train, const uc_dataset *test)
{
    const uc_dataset *parts[2] = {train, test};
    size_t n = 0;
    for (int part = 0; part < 2; part++)
        for (size_t i = 0; i < parts[part]->X.rows; i++) {
            double point[2];
            point_of(point, parts[part], i);
            assert_near(hypot(point[0], point[1]), 1, 1e-6);
            points[n++] = (arc_point){atan2(point[1], point[0]), parts[part]->y[i]};
        }
    qsort(points, n, sizeof *points, by_angle);
    return n;
}

/* Scores of unit weights are cosines, so every class is one arc. Two weights differ in score by 2 sin(g/2)
 * sin(t) at the angle t from their boundary, g being the angle between them: at least asin(margin/2) stays
 * free at both sides. */
static void circle_classes_are_arcs_with_a_gap_between_them(void **state)
{
    (void)state;
    static arc_point points[6000];
    const char *const names[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uc_dataset train, test;
        generate(&train, &test, "uma-circle", NULL, 1000, 5000, seed);
        check_classes(&train, names, 10);
        check_classes(&test, names, 10);
        const size_t n = circle_points(points, &train, &test);
        size_t changes = 0, counts[10] = {0};
        for (size_t i = 0; i < n; i++) {
            const arc_point *here = &points[i], *next = &points[(i + 1) % n];
            counts[here->label]++;
            if (here->label == next->label)
                continue;
            changes++;
            const double gap = next->angle - here->angle + (i + 1 == n ? 2 * acos(-1.0) : 0);
            assert_true(gap >= 2 * asin(.0125) - 1e-6);
        }
        assert_int_equal(changes, 10);
        /* 1% of the circle, hence more than 1% of what the margin leaves. */
        for (size_t k = 0; k < 10; k++)
            assert_true((double)counts[k] / (double)n > .01 - 4.5 * sqrt(.01 / (double)n));
        uc_dataset_free(&train);
        uc_dataset_free(&test);
    }
}

/* With three classes the weights can be found from the boundaries between them: at every boundary m the two
 * weights lie at equal angles, m_12 = (a_1 + a_2)/2 and so on. Then every score is known, and the margin is
 * checked directly. */
static void circle_points_keep_the_margin_to_weights_found_from_the_data(void **state)
{
    (void)state;
    enum { N = 20000 };
    static arc_point points[2 * N];
    const double PI = acos(-1.0);
    uc_dataset train, test;
    generate(&train, &test, "uma-circle", OPTIONS("classes", "3", "margin", "0.2"), N, N, 2);
    const size_t n = circle_points(points, &train, &test);
    double boundary[3] = {0}, weight[3];
    uint32_t label[3];
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const arc_point *here = &points[i], *next = &points[(i + 1) % n];
        if (here->label == next->label)
            continue;
        assert_true(found < 3);
        label[found] = next->label; /* of the arc that begins here */
        boundary[found++] = (here->angle + next->angle + (i + 1 == n ? 2 * PI : 0)) / 2;
    }
    assert_int_equal(found, 3);
    /* Class i lies between boundaries i and i+1. a_i = b_i + b_(i+1) - b_(i+2), modulo half a turn. */
    for (size_t i = 0; i < 3; i++) {
        const double b0 = boundary[i], b1 = boundary[(i + 1) % 3] + (i == 2 ? 2 * PI : 0);
        weight[i] = boundary[i] + boundary[(i + 1) % 3] - boundary[(i + 2) % 3];
        const double middle = (b0 + b1) / 2;
        while (weight[i] < middle - PI / 2)
            weight[i] += PI;
        while (weight[i] > middle + PI / 2)
            weight[i] -= PI;
    }
    double least = INFINITY;
    for (size_t j = 0; j < n; j++) {
        double own = 0, other = -INFINITY;
        for (size_t i = 0; i < 3; i++) {
            const double score = cos(points[j].angle - weight[i]);
            if (label[i] == points[j].label)
                own = score;
            else
                other = fmax(other, score);
        }
        least = fmin(least, own - other);
    }
    /* The boundaries are known to about the distance between points, 2 pi/40000. */
    assert_near(least, .2, .005);
    uc_dataset_free(&train);
    uc_dataset_free(&test);
}

static void circle_without_margin_covers_the_circle(void **state)
{
    (void)state;
    static arc_point points[20000];
    uc_dataset train, test;
    generate(&train, &test, "uma-circle", OPTIONS("classes", "4", "margin", "0"), 10000, 10000, 1);
    check_classes(&train, (const char *const[]){"1", "2", "3", "4"}, 4);
    const size_t n = circle_points(points, &train, &test);
    for (size_t i = 0; i + 1 < n; i++)
        assert_true(points[i + 1].angle - points[i].angle < .01);
    size_t right = 0;
    for (size_t i = 0; i < n; i++)
        right += fabs(points[i].angle) < acos(-1.0) / 2;
    check_share(right, n, .5);
    uc_dataset_free(&train);
    uc_dataset_free(&test);
}

static void a_margin_that_no_weights_satisfy_is_refused(void **state)
{
    (void)state;
    uc_dataset train = {0};
    request r = ask("uma-circle", OPTIONS("margin", "0.9"));
    assert_error(
        uc_generator_run(&train, NULL, r.generator, r.settings, 10, 0, 1), UC_ERR_INVALID,
        "uma-circle: none of 20000 draws of 10 weight vectors leaves every class 1% of the circle at margin "
        "0.9; lower {margin} or {classes}");
    assert_null(train.y);
    free(r.settings);
}

/* ---- Gaussians ---- */

/* Mean and variance of both coordinates of a class. */
static void check_gaussian(const uc_dataset *data, uint32_t label, double x, double y, double variance)
{
    double sum[2] = {0}, squares[2] = {0}, product = 0, n = 0;
    const double centre[2] = {x, y};
    for (size_t i = 0; i < data->X.rows; i++) {
        double point[2];
        if (data->y[i] != label)
            continue;
        point_of(point, data, i);
        n++;
        for (int j = 0; j < 2; j++) {
            sum[j] += point[j];
            squares[j] += (point[j] - centre[j]) * (point[j] - centre[j]);
        }
        product += (point[0] - x) * (point[1] - y);
    }
    for (int j = 0; j < 2; j++) {
        assert_near(sum[j] / n, centre[j], 4.5 * sqrt(variance / n));
        assert_near(squares[j] / n, variance, 4.5 * variance * sqrt(2 / n));
    }
    assert_near(product / n, 0, 4.5 * variance / sqrt(n));
}

static void copa_has_three_gaussians_of_unequal_weight(void **state)
{
    (void)state;
    uc_dataset data;
    size_t counts[3];
    generate(&data, NULL, "copa-gaussians", NULL, 100000, 0, 1);
    check_classes(&data, (const char *const[]){"1", "2", "3"}, 3);
    uc_dataset_class_counts(counts, &data);
    check_share(counts[0], 100000, .9);
    check_share(counts[1], 100000, .05);
    check_gaussian(&data, 0, 0, 1, .25);
    check_gaussian(&data, 1, 1, 0, .25);
    check_gaussian(&data, 2, -1, 0, .25);
    uc_dataset_free(&data);
    generate(&data, NULL, "copa-gaussians", OPTIONS("deviation", "2", "majority", "0.5"), 100000, 0, 1);
    uc_dataset_class_counts(counts, &data);
    check_share(counts[0], 100000, .5);
    check_share(counts[2], 100000, .25);
    check_gaussian(&data, 0, 0, 1, 4);
    uc_dataset_free(&data);
}

static void cspa_has_four_gaussians_of_equal_number_and_variance_sigma(void **state)
{
    (void)state;
    uc_dataset data;
    size_t counts[4];
    generate(&data, NULL, "cspa-gaussians", OPTIONS("sigma", "0.3"), 40002, 0, 1);
    check_classes(&data, (const char *const[]){"1", "2", "3", "4"}, 4);
    uc_dataset_class_counts(counts, &data);
    assert_int_equal(counts[0], 10001);
    assert_int_equal(counts[1], 10001);
    assert_int_equal(counts[2], 10000);
    assert_int_equal(counts[3], 10000);
    check_gaussian(&data, 0, 1, 1, .3);
    check_gaussian(&data, 1, 1, -1, .3);
    check_gaussian(&data, 2, -1, 1, .3);
    check_gaussian(&data, 3, -1, -1, .3);
    size_t again = 0; /* the classes come in random order */
    for (size_t i = 1; i < data.X.rows; i++)
        again += data.y[i] == data.y[i - 1];
    check_share(again, data.X.rows - 1, .25);
    uc_dataset_free(&data);
}

/* ---- the square ---- */

static bool in_ellipses(double x, double y)
{
    const double left = (x + 5) * (x + 5) / 6.25 + y * y / 25, right = (x - 5) * (x - 5) / 6.25 + y * y / 25;
    return left <= 1 || right <= 1;
}

static bool in_ring(double x, double y)
{
    const double square = x * x + y * y;
    return square >= 16 && square <= 64;
}

static bool on_black_square(double x, double y)
{
    const int column = x < -10.0 / 3  ? 0
                       : x < 10.0 / 3 ? 1
                                      : 2,
              row = y < -10.0 / 3  ? 0
                    : y < 10.0 / 3 ? 1
                                   : 2;
    return column == row || abs(column - row) == 2;
}

/* The four sectors are the quadrants: xy > 0 in the first and third. */
static bool on_black_of_dart(double x, double y)
{
    const double square = x * x + y * y;
    const bool middle_ring = square >= 3.5 * 3.5 && square < 49;
    return (x * y > 0) != middle_ring;
}

static bool in_hyper(double x, double y)
{
    const bool between = x * y < 4 && x * y > -4;
    return (between && !(x > 0)) || (!between && x > 0);
}

typedef struct shape {
    const char *name;
    bool (*inside)(double x, double y);
    double share; /* of the square */
} shape;

static void shapes_of_the_square_are_as_defined(void **state)
{
    (void)state;
    enum { N = 20000 };
    const double PI = acos(-1.0);
    /* hyper: the area with |xy| < 4 is symmetric in x, so +1 covers one half. */
    const shape shapes[] = {
        {"rp-ellipses", in_ellipses, 25 * PI / 400},
        {"rp-ring", in_ring, 48 * PI / 400},
        {"rp-chess", on_black_square, 5.0 / 9},
        {"rp-dart", on_black_of_dart, .5},
        {"rp-hyper", in_hyper, .5},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        uc_dataset train, test;
        const uc_dataset *parts[2] = {&train, &test};
        generate(&train, &test, shapes[s].name, NULL, N, N, 3);
        for (int part = 0; part < 2; part++) {
            const uc_dataset *data = parts[part];
            size_t inside = 0, upper_right = 0;
            check_classes(data, (const char *const[]){"-1", "+1"}, 2);
            for (size_t i = 0; i < N; i++) {
                double point[2];
                point_of(point, data, i);
                assert_true(fabs(point[0]) <= 10 && fabs(point[1]) <= 10);
                assert_int_equal(data->y[i], shapes[s].inside(point[0], point[1]));
                inside += data->y[i];
                upper_right += point[0] > 5 && point[1] > 5;
            }
            check_share(inside, N, shapes[s].share);
            check_share(upper_right, N, 1.0 / 16);
        }
        uc_dataset_free(&train);
        uc_dataset_free(&test);
    }
}

static size_t positives(const char *name, const char *const *options, size_t examples)
{
    uc_dataset data;
    size_t counts[2];
    generate(&data, NULL, name, options, examples, 0, 1);
    uc_dataset_class_counts(counts, &data);
    uc_dataset_free(&data);
    return counts[1];
}

static void options_change_the_shapes(void **state)
{
    (void)state;
    enum { N = 20000 };
    const double PI = acos(-1.0);
    check_share(positives("rp-ellipses", OPTIONS("width", "1", "height", "2"), N), N, 4 * PI / 400);
    check_share(positives("rp-ellipses", OPTIONS("distance", "0", "width", "2"), N), N, 10 * PI / 400);
    check_share(positives("rp-ring", OPTIONS("inner", "0", "outer", "5"), N), N, 25 * PI / 400);
    check_share(positives("rp-chess", OPTIONS("squares", "1"), N), N, 1);
    check_share(positives("rp-chess", OPTIONS("squares", "5"), N), N, 13.0 / 25);
    check_share(positives("rp-hyper", OPTIONS("product", "100"), N), N, .5);
    check_share(positives("rp-hyper", OPTIONS("product", "0"), N), N, .5);
}

/* Six sectors of 60 degrees, by comparing directions instead of angles. */
static void a_dart_board_may_have_six_sectors(void **state)
{
    (void)state;
    uc_dataset data;
    generate(&data, NULL, "rp-dart", OPTIONS("sectors", "6", "inner", "2", "outer", "5"), 20000, 0, 9);
    const double slope = sqrt(3.0);
    for (size_t i = 0; i < data.X.rows; i++) {
        double point[2];
        point_of(point, &data, i);
        const double x = point[0], y = point[1], radius = sqrt(x * x + y * y);
        /* Each of three lines through the centre changes the colour; +1 begins at the horizontal axis. */
        bool black = (y > 0) != (y > slope * x);
        black = black != (y < -slope * x);
        const bool middle_ring = radius >= 2 && radius < 5;
        assert_int_equal(data.y[i], black != middle_ring);
    }
    uc_dataset_free(&data);
}

static void radii_in_the_wrong_order_are_refused(void **state)
{
    (void)state;
    uc_dataset train = {0};
    request r = ask("rp-ring", OPTIONS("inner", "8", "outer", "4"));
    assert_error(uc_generator_run(&train, NULL, r.generator, r.settings, 10, 0, 1), UC_ERR_INVALID,
                 "{inner=8} must be below {outer=4}");
    free(r.settings);
    r = ask("rp-dart", OPTIONS("inner", "7"));
    assert_error(uc_generator_run(&train, NULL, r.generator, r.settings, 10, 0, 1), UC_ERR_INVALID,
                 "{inner=7} must be below {outer=7}");
    free(r.settings);
    assert_null(train.y);
}

/* ---- all of them ---- */

static void the_table_lists_every_problem(void **state)
{
    (void)state;
    const char *const names[] = {"uma-circle", "copa-gaussians", "cspa-gaussians", "rp-ellipses",
                                 "rp-ring",    "rp-chess",       "rp-dart",        "rp-hyper"};
    const size_t count = sizeof names / sizeof *names;
    for (size_t i = 0; i < count; i++) {
        const uc_generator *generator = uc_generator_at(i);
        assert_non_null(generator);
        assert_string_equal(uc_generator_name(generator), names[i]);
        assert_ptr_equal(uc_generator_find(names[i]), generator);
        assert_true(strlen(uc_generator_summary(generator)) > 5);
        for (const uc_option *option = uc_generator_options(generator); option->name; option++)
            assert_true(option->help && option->offset < uc_generator_settings_size(generator));
    }
    assert_null(uc_generator_at(count));
    assert_null(uc_generator_find("banana"));
    assert_string_equal(
        uc_last_error(),
        "there is no problem called banana to generate; there are uma-circle, copa-gaussians, "
        "cspa-gaussians, rp-ellipses, rp-ring, rp-chess, rp-dart, rp-hyper");
}

/* Equal rows and labels from row 0 to the end of the shorter one. */
static bool same_data(const uc_dataset *a, const uc_dataset *b)
{
    const size_t rows = a->X.rows < b->X.rows ? a->X.rows : b->X.rows;
    for (size_t i = 0; i < rows; i++) {
        double p[2], q[2];
        point_of(p, a, i);
        point_of(q, b, i);
        if (p[0] != q[0] || p[1] != q[1] || a->y[i] != b->y[i])
            return false;
    }
    return true;
}

static void same_seed_same_data_other_seed_other_data(void **state)
{
    (void)state;
    for (size_t g = 0; uc_generator_at(g); g++) {
        const uc_generator *generator = uc_generator_at(g);
        uc_dataset a, b, c, a_test, b_test;
        assert_ok(uc_generator_run(&a, &a_test, generator, NULL, 200, 100, 4));
        assert_ok(uc_generator_run(&b, &b_test, generator, NULL, 200, 100, 4));
        assert_ok(uc_generator_run(&c, NULL, generator, NULL, 200, 0, 5));
        assert_true(same_data(&a, &b));
        assert_true(same_data(&a_test, &b_test));
        assert_false(same_data(&a, &c));
        assert_false(same_data(&a, &a_test));
        uc_dataset_free(&a);
        uc_dataset_free(&b);
        uc_dataset_free(&c);
        uc_dataset_free(&a_test);
        uc_dataset_free(&b_test);
    }
}

static void the_test_set_does_not_change_the_training_set(void **state)
{
    (void)state;
    for (size_t g = 0; uc_generator_at(g); g++) {
        const uc_generator *generator = uc_generator_at(g);
        uc_dataset alone, with, test;
        assert_ok(uc_generator_run(&alone, NULL, generator, NULL, 200, 0, 4));
        assert_ok(uc_generator_run(&with, &test, generator, NULL, 200, 77, 4));
        assert_int_equal(alone.X.rows, 200);
        assert_int_equal(test.X.rows, 77);
        assert_true(same_data(&alone, &with));
        uc_dataset_free(&alone);
        uc_dataset_free(&with);
        uc_dataset_free(&test);
    }
}

static void no_number_means_the_papers_number(void **state)
{
    (void)state;
    const size_t rows[8][2] = {{1000, 10000}, {5000, 5000}, {4000, 4000}, {2000, 2000},
                               {2000, 2000},  {2000, 2000}, {2000, 2000}, {2000, 2000}};
    for (size_t g = 0; g < 8; g++) {
        uc_dataset train, test;
        assert_ok(uc_generator_run(&train, &test, uc_generator_at(g), NULL, 0, 0, 1));
        assert_int_equal(train.X.rows, rows[g][0]);
        assert_int_equal(test.X.rows, rows[g][1]);
        uc_dataset_free(&train);
        uc_dataset_free(&test);
    }
}

static void noise_replaces_training_labels_only(void **state)
{
    (void)state;
    enum { N = 10000 };
    for (size_t g = 0; uc_generator_at(g); g++) {
        const char *name = uc_generator_name(uc_generator_at(g));
        uc_dataset clean, noisy, clean_test, noisy_test;
        generate(&clean, &clean_test, name, NULL, N, N, 4);
        generate(&noisy, &noisy_test, name, OPTIONS("noise-rate", "0.3"), N, N, 4);
        assert_true(same_data(&clean_test, &noisy_test));
        const size_t K = clean.classes.count;
        size_t wrong = 0, next = 0;
        for (size_t i = 0; i < N; i++) {
            double p[2], q[2];
            point_of(p, &clean, i);
            point_of(q, &noisy, i);
            assert_true(p[0] == q[0] && p[1] == q[1]);
            wrong += clean.y[i] != noisy.y[i];
            next += noisy.y[i] == (clean.y[i] + 1) % K;
        }
        check_share(wrong, N, .3);
        check_share(next, N, .3 / (double)(K - 1));
        uc_dataset_free(&clean);
        uc_dataset_free(&noisy);
        uc_dataset_free(&clean_test);
        uc_dataset_free(&noisy_test);
    }
}

static void settings_outside_their_bounds_are_refused(void **state)
{
    (void)state;
    uc_dataset train = {0};
    request r = ask("uma-circle", NULL);
    const uc_option *classes = uc_options_find(uc_generator_options(r.generator), "classes");
    assert_status(uc_option_set(classes, r.settings, "1"), UC_ERR_OPTION);
    *(uint64_t *)(void *)((char *)r.settings + classes->offset) = 21;
    assert_error(uc_generator_run(&train, NULL, r.generator, r.settings, 10, 0, 1), UC_ERR_OPTION,
                 "{classes=21}: it must be from 2 to 20");
    assert_null(train.y);
    free(r.settings);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t g = 0; uc_generator_at(g); g++) {
        uc_dataset train, test;
        uc_status status;
        const long live = uc_alloc_live();
        FOR_EACH_FAILING_ALLOCATION(status,
                                    uc_generator_run(&train, &test, uc_generator_at(g), NULL, 20, 20, 1));
        uc_dataset_free(&train);
        uc_dataset_free(&test);
        assert_int_equal(uc_alloc_live(), live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circle_classes_are_arcs_with_a_gap_between_them),
        cmocka_unit_test(circle_points_keep_the_margin_to_weights_found_from_the_data),
        cmocka_unit_test(circle_without_margin_covers_the_circle),
        cmocka_unit_test(a_margin_that_no_weights_satisfy_is_refused),
        cmocka_unit_test(copa_has_three_gaussians_of_unequal_weight),
        cmocka_unit_test(cspa_has_four_gaussians_of_equal_number_and_variance_sigma),
        cmocka_unit_test(shapes_of_the_square_are_as_defined),
        cmocka_unit_test(options_change_the_shapes),
        cmocka_unit_test(a_dart_board_may_have_six_sectors),
        cmocka_unit_test(radii_in_the_wrong_order_are_refused),
        cmocka_unit_test(the_table_lists_every_problem),
        cmocka_unit_test(same_seed_same_data_other_seed_other_data),
        cmocka_unit_test(the_test_set_does_not_change_the_training_set),
        cmocka_unit_test(no_number_means_the_papers_number),
        cmocka_unit_test(noise_replaces_training_labels_only),
        cmocka_unit_test(settings_outside_their_bounds_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
