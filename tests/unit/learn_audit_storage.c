/* `audit` on the same rows in dense and in sparse storage, and runs that stop at its guard. */
#include <stdlib.h>
#include <string.h>

#include "tests/support.h"

#include "learn/audit/audit.h"
#include "learn/learner.h"
#include "linalg/linalg.h"

#define ROWS ((size_t)40)
#define COLS ((size_t)64)
#define K 2

typedef struct example {
    uc_matrix dense, sparse;
    uint32_t y[ROWS];
} example;

/* Two clouds, of which each row keeps its first `kept` values from column i % 2 on. */
static void draw(example *out, size_t kept)
{
    uc_rng rng = uc_rng_make(5, 1);
    *out = (example){0};
    assert_ok(uc_matrix_create_dense(&out->dense, ROWS, COLS));
    assert_ok(uc_matrix_create_sparse(&out->sparse, ROWS, COLS, ROWS * kept));
    size_t entries = 0;
    for (size_t i = 0; i < ROWS; i++) {
        out->y[i] = (uint32_t)(i % 7 == 0 ? (i + 1) % K : i % K);
        for (size_t j = i % K; j < i % K + kept; j++) {
            const float value = (float)(1.0 + 2.0 * (double)(i % K == j % K) + 0.5 * uc_rng_normal(&rng));
            out->dense.values[i * out->dense.stride + j] = value;
            out->sparse.values[entries] = value;
            out->sparse.columns[entries++] = (uint32_t)j;
        }
        out->sparse.offsets[i + 1] = entries;
    }
}

static void free_example(example *self)
{
    uc_matrix_free(&self->dense);
    uc_matrix_free(&self->sparse);
}

static uc_status run(double *S, const uc_matrix *X, const example *self, uint64_t memory)
{
    const uc_context context = {.threads = 1, .memory = memory};
    const uc_audit_settings settings = {.mode = UC_AUDIT_AUTO, .landmarks = 20, .axes = 10};
    uc_annotations annotations = {0};
    uc_audit_fit found = {0};
    uc_status status = uc_annotations_of_labels(&annotations, self->y, ROWS, K, &context);
    const uc_labelled labelled = {.annotations = &annotations, .context = &context};
    if (status == UC_OK)
        status = uc_audit_run(&found, NULL, X, &labelled, &settings, 1);
    if (status == UC_OK)
        memcpy(S, found.S, ROWS * K * sizeof *S);
    uc_audit_fit_free(&found);
    uc_annotations_free(&annotations);
    return status;
}

static void rows_that_are_not_sparse_have_all_views(void **state)
{
    (void)state;
    double dense[ROWS * K], sparse[ROWS * K];
    example self;
    draw(&self, COLS / 4);
    assert_ok(run(dense, &self.dense, &self, 0));
    assert_ok(run(sparse, &self.sparse, &self, 0));
    assert_memory_equal(dense, sparse, sizeof dense);
    assert_ok(run(sparse, &self.sparse, &self, ROWS * COLS * sizeof(float) - 1)); /* they stay sparse */
    assert_memory_not_equal(dense, sparse, sizeof dense);
    free_example(&self);
}

static void rows_that_are_sparse_have_no_standard_view(void **state)
{
    (void)state;
    double dense[ROWS * K], sparse[ROWS * K];
    example self;
    draw(&self, COLS / 4 - 1);
    assert_ok(run(dense, &self.dense, &self, 0));
    assert_ok(run(sparse, &self.sparse, &self, 0));
    assert_memory_not_equal(dense, sparse, sizeof dense);
    free_example(&self);
}

/* A run that stops at the guard finds the same true classes and the same loss as a whole run. */
static void the_guard_is_that_of_a_whole_run(void **state)
{
    (void)state;
    const uc_audit_settings settings = {.mode = UC_AUDIT_STRUCTURE, .landmarks = 20, .axes = 10};
    uc_annotations annotations = {0};
    uc_audit_fit all = {0}, guard = {0};
    double wrong = 0.0, summed = 0.0;
    example self;
    draw(&self, COLS / 4);
    assert_ok(uc_annotations_of_labels(&annotations, self.y, ROWS, K, NULL));
    const uc_labelled labelled = {.annotations = &annotations};
    assert_ok(uc_audit_run(&all, NULL, &self.dense, &labelled, &settings, 1));
    assert_ok(uc_audit_guard(&guard, &self.dense, &labelled, &settings, 1));
    assert_true(all.loss == guard.loss && all.mode == guard.mode);
    assert_memory_equal(all.R, guard.R, ROWS * K * sizeof *all.R);
    assert_ok(uc_audit_share_wrong(&wrong, &guard, &labelled));
    for (size_t i = 0; i < ROWS; i++)
        summed += (1.0 - guard.R[i * K + self.y[i]]) / (double)ROWS;
    assert_near(wrong, summed, 1e-12);
    uc_audit_fit_free(&all);
    uc_audit_fit_free(&guard);
    uc_annotations_free(&annotations);
    free_example(&self);
}

/* What `auto` asks before it trains `audit`: labels of which every seventh is wrong. */
static void audit_says_what_it_expects(void **state)
{
    (void)state;
    uc_prospect found = {0};
    uc_audit_settings settings = {0};
    uc_status status;
    example self;
    draw(&self, COLS / 4);
    uc_dataset data = {.X = self.dense, .y = self.y, .classes = {.count = K}};
    FOR_EACH_FAILING_ALLOCATION(status, uc_learner_audit.may_stand(&found, &settings, &data, 1, NULL));
    assert_true(settings.width == 0.3 || settings.width == 1.0 || settings.width == 3.0);
    assert_true(found.may_stand && found.criterion <= 0.06);
    assert_near(found.wrong, 6.0 / 40.0, 0.03);
    assert_near(found.error, 6.0 / 40.0, 0.03);
    free_example(&self);
}

/* Labels of which two thirds are random: clouds drift away from them. All of it finds that out with the
 * narrowest kernel, the guard alone with the widest, and asks no other. */
static void the_guard_stops_early_where_there_is_no_hope(void **state)
{
    (void)state;
    const uc_audit_settings settings = {.mode = UC_AUDIT_AUTO, .landmarks = 20, .axes = 10};
    uc_annotations annotations = {0};
    uc_audit_fit guard = {0}, whole = {0};
    example self;
    uc_rng rng = uc_rng_make(68, 1);
    draw(&self, COLS / 4);
    for (size_t i = 0; i < ROWS; i++)
        self.y[i] = (uint32_t)(uc_rng_below(&rng, 3) ? uc_rng_below(&rng, K) : i % K);
    assert_ok(uc_annotations_of_labels(&annotations, self.y, ROWS, K, NULL));
    const uc_labelled labelled = {.annotations = &annotations};
    assert_ok(uc_audit_guard(&guard, &self.dense, &labelled, &settings, 1));
    assert_ok(uc_audit_run(&whole, NULL, &self.dense, &labelled, &settings, 1));
    assert_true(whole.loss > 0.09 && guard.loss > 0.09);
    assert_true(guard.mode == UC_AUDIT_LABELS && whole.mode == UC_AUDIT_LABELS);
    assert_true(guard.width == 0.3 && guard.steps <= 10);
    assert_true(whole.width == 3.0);
    uc_audit_fit_free(&whole);
    uc_audit_fit_free(&guard);
    uc_annotations_free(&annotations);
    free_example(&self);
}

/* So many rows that the guard counts labels, which allocates last of all: where it fails, so does the run. */
static void a_guard_that_fails_believes_nothing(void **state)
{
    (void)state;
    enum { MANY = 640, LAST = 4 };
    static uint32_t y[MANY];
    const uc_audit_settings settings = {.mode = UC_AUDIT_AUTO, .landmarks = 8, .axes = 4};
    uc_annotations annotations = {0};
    uc_audit_fit found = {0};
    uc_matrix X;
    uc_rng rng = uc_rng_make(9, 1);
    assert_ok(uc_matrix_create_dense(&X, MANY, 2));
    for (size_t i = 0; i < MANY; i++) {
        y[i] = (uint32_t)(i % 7 == 0 ? (i + 1) % K : i % K);
        for (size_t j = 0; j < 2; j++)
            X.values[i * X.stride + j] = (float)(4.0 * (double)(i % K == j) + 0.5 * uc_rng_normal(&rng));
    }
    assert_ok(uc_annotations_of_labels(&annotations, y, MANY, K, NULL));
    const uc_labelled labelled = {.annotations = &annotations};
    uc_alloc_fail_after(-1);
    assert_ok(uc_audit_guard(&found, &X, &labelled, &settings, 1));
    assert_int_equal(found.mode, UC_AUDIT_STRUCTURE);
    uc_audit_fit_free(&found);
    const long count = uc_alloc_count();
    for (long which = count - LAST; which < count; which++) {
        uc_alloc_fail_once_after(which);
        const uc_status status = uc_audit_guard(&found, &X, &labelled, &settings, 1);
        uc_alloc_fail_after(-1);
        assert_int_equal(status, UC_ERR_NOMEM);
    }
    uc_annotations_free(&annotations);
    uc_matrix_free(&X);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    double S[ROWS * K];
    uc_status status;
    example self;
    draw(&self, COLS / 4);
    FOR_EACH_FAILING_ALLOCATION(status, run(S, &self.sparse, &self, 0));
    free_example(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_are_not_sparse_have_all_views),
        cmocka_unit_test(rows_that_are_sparse_have_no_standard_view),
        cmocka_unit_test(the_guard_is_that_of_a_whole_run),
        cmocka_unit_test(audit_says_what_it_expects),
        cmocka_unit_test(the_guard_stops_early_where_there_is_no_hope),
        cmocka_unit_test(a_guard_that_fails_believes_nothing),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
