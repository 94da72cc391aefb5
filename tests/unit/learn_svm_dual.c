/* Dual coordinate descent over parts of the rows: where it ends, its step, and that threads do not matter. */
#include "tests/sample.h"

#include <math.h>

#include "learn/svm/svm.h"
#include "linalg/linalg.h"
#include "unconfuse/learn.h"

static const unsigned thread_counts[] = {1, 2, 3, 7};
static const size_t part_counts[] = {1, 2, 4, 8, 16};
enum { PART_COUNTS = sizeof part_counts / sizeof *part_counts };

static uc_svm machine(const uc_dataset *data, double cost, bool free_offset)
{
    return (uc_svm){.data = data,
                    .positive = 1,
                    .cost = cost,
                    .smoothing = 0.5,
                    .weight = {1, 1},
                    .free_offset = free_offset};
}

static uc_status solve(uc_minimum *found, bool *arrived, double *point, const uc_svm *svm, size_t parts,
                       uint64_t epochs, double tolerance, const uc_context *context)
{
    const uc_svm_plan plan = {parts, 8};
    memset(point, 0, (svm->data->X.cols + 1) * sizeof *point);
    *found = (uc_minimum){0};
    return uc_svm_dual(found, arrived, point, svm, &plan, epochs, tolerance, context);
}

static uc_status evaluate(double *value, double *gradient, const double *point, void *user)
{
    return uc_svm_gradient(value, gradient, point, user, NULL);
}

/* ---- the optimum ---- */

/* L-BFGS knows nothing of duals, parts or gaps. */
static void all_parts_end_at_the_minimum(void **state)
{
    (void)state;
    enum { N = 700, D = 6 };
    static const double costs[] = {1, 50, 3000};
    for (int sparse = 0; sparse < 2; sparse++)
        for (int offset = 0; offset < 2; offset++)
            for (size_t c = 0; c < 3; c++) {
                uc_dataset data = sample_data(N, D, 2, sparse, 3);
                uc_svm svm = machine(&data, costs[c], offset);
                double slow[D + 1] = {0}, point[D + 1], value, gradient[D + 1];
                uc_minimum least, found;
                bool arrived;
                assert_ok(uc_minimise(&least, slow, D + 1, evaluate, &svm, NULL, 5000, 1e-10, NULL));
                for (size_t p = 0; p < PART_COUNTS; p++) {
                    assert_ok(solve(&found, &arrived, point, &svm, part_counts[p], 20000, 1e-7, NULL));
                    assert_ok(uc_svm_gradient(&value, gradient, point, &svm, NULL));
                    assert_near_relative(found.value, value, 1e-9);
                    assert_true(value >= least.value * (1 - 1e-9));
                    if (arrived) /* proved */
                        assert_true(value <= least.value * (1 + 1e-7));
                    assert_true(arrived || costs[c] > 100);
                }
                uc_dataset_free(&data);
            }
}

/* With many rows one of them says little of the offset, which must not follow it: 6 epochs if it does. */
static void the_offset_does_not_follow_single_examples(void **state)
{
    (void)state;
    enum { N = 20000, D = 6 };
    uc_dataset data = sample_data(N, D, 2, false, 3);
    for (double cost = 10; cost < 200; cost *= 10)
        for (size_t p = 0; p < PART_COUNTS; p++) {
            uc_svm svm = machine(&data, cost, true);
            double point[D + 1];
            uc_minimum found;
            bool arrived;
            assert_ok(solve(&found, &arrived, point, &svm, part_counts[p], 1000, 1e-4, NULL));
            assert_true(arrived);
            assert_true(found.iterations <= 5);
        }
    uc_dataset_free(&data);
}

/* Bounds that differ, and no example of one class. */
static void so_do_weighted_and_one_sided_machines(void **state)
{
    (void)state;
    enum { N = 300, D = 4 };
    for (int only = 0; only < 3; only++) {
        uc_dataset data = sample_data(N, D, 2, false, 8);
        for (size_t i = 0; i < N && only < 2; i++)
            data.y[i] = (uint32_t)only;
        uc_svm svm = machine(&data, 20, false);
        svm.loss = UC_SVM_WEIGHTED;
        svm.rate[0] = 0.3;
        svm.weight[1] = 2.5;
        double slow[D + 1] = {0}, point[D + 1];
        uc_minimum least, found;
        bool arrived;
        assert_ok(uc_minimise(&least, slow, D + 1, evaluate, &svm, NULL, 5000, 1e-10, NULL));
        assert_ok(solve(&found, &arrived, point, &svm, 4, 20000, 1e-7, NULL));
        assert_true(arrived);
        assert_near_relative(found.value, least.value, 1e-7);
        uc_dataset_free(&data);
    }
}

/* ---- the step ---- */

/* With one row per part, no offset and one epoch: alphas from 0 as if each row were alone, and the best
 * step. */
static double dual_value(const uc_svm *svm, const double *alpha, double step)
{
    const uc_matrix *X = &svm->data->X;
    const double U = svm->cost / (double)X->rows, h = svm->smoothing;
    double w[8] = {0}, value = 0;
    for (size_t i = 0; i < X->rows; i++) {
        const double a = step * alpha[i];
        uc_row_axpy(svm->data->y[i] == 1 ? a : -a, uc_matrix_row(X, i), w);
        value += (1 + h) * a - h / U * a * a;
    }
    return value - uc_dot(w, w, X->cols) / 2;
}

static void the_step_is_that_of_a_numerical_search(void **state)
{
    (void)state;
    enum { D = 3 };
    size_t shortened = 0;
    for (size_t n = 1; n <= UC_SVM_MOST_PARTS; n++)
        for (double cost = 0.1; cost < 1e4; cost *= 10) {
            uc_dataset data = sample_data(n, D, 2, false, n);
            const uc_svm svm = machine(&data, cost, false);
            const double U = cost / (double)n, h = svm.smoothing;
            double alpha[UC_SVM_MOST_PARTS], w[D] = {0}, point[D + 1], low = 0, high = 1;
            for (size_t i = 0; i < n; i++)
                alpha[i] = fmin(U, (1 + h) / (uc_row_norm2(uc_matrix_row(&data.X, i)) + 2 * h / U));
            while (high - low > 1e-10) { /* thirds */
                const double a = low + (high - low) / 3, b = high - (high - low) / 3;
                if (dual_value(&svm, alpha, a) < dual_value(&svm, alpha, b))
                    low = a;
                else
                    high = b;
            }
            shortened += low < 0.99;
            for (size_t i = 0; i < n; i++)
                uc_row_axpy((data.y[i] == 1 ? low : -low) * alpha[i], uc_matrix_row(&data.X, i), w);
            uc_minimum found;
            bool arrived;
            assert_ok(solve(&found, &arrived, point, &svm, UC_SVM_MOST_PARTS, 1, 1e-12, NULL));
            for (size_t j = 0; j < D; j++)
                assert_near(point[j + 1], w[j], 1e-6 * (1 + fabs(w[j])));
            uc_dataset_free(&data);
        }
    assert_true(shortened > 10);
}

/* The worst case: all parts see the same, so together they mend everything many times over. */
static void parts_that_all_see_the_same_arrive_too(void **state)
{
    (void)state;
    enum { N = 512, D = 3 };
    for (int offset = 0; offset < 2; offset++) {
        uc_dataset data = sample_data(N, D, 2, false, 1);
        for (size_t i = 32; i < N; i++) {
            memcpy(data.X.values + i * data.X.stride, data.X.values + (i % 32) * data.X.stride,
                   D * sizeof(float));
            data.y[i] = data.y[i % 32];
        }
        const uc_svm svm = machine(&data, 30, offset);
        double point[D + 1];
        uc_minimum one, many;
        bool arrived;
        assert_ok(solve(&one, &arrived, point, &svm, 1, 5000, 1e-6, NULL));
        assert_true(arrived);
        assert_ok(solve(&many, &arrived, point, &svm, 16, 5000, 1e-6, NULL));
        assert_true(arrived);
        assert_near_relative(one.value, many.value, 2e-6);
        uc_dataset_free(&data);
    }
}

/* ---- threads ---- */

static void results_are_the_same_bytes_for_any_number_of_threads(void **state)
{
    (void)state;
    enum { N = 3000, D = 40 }; /* enough that threads are worth while */
    for (int sparse = 0; sparse < 2; sparse++)
        for (size_t p = 0; p < PART_COUNTS; p++) {
            uc_dataset data = sample_data(N, D, 2, sparse, 5);
            const uc_svm svm = machine(&data, 300, true);
            const uc_svm_plan plan = {part_counts[p], 200};
            double first[D + 1], point[D + 1];
            for (size_t t = 0; t < 4; t++) {
                const uc_context context = {.threads = thread_counts[t]};
                uc_minimum found = {0};
                bool arrived;
                memset(point, 0, sizeof point);
                assert_ok(uc_svm_dual(&found, &arrived, point, &svm, &plan, 15, 1e-9, &context));
                if (t == 0)
                    memcpy(first, point, sizeof point);
                assert_memory_equal(point, first, sizeof point);
            }
            uc_dataset_free(&data);
        }
}

static void machines_of_many_classes_too(void **state)
{
    (void)state;
    enum { N = 5000, D = 12 };
    static const size_t class_counts[] = {3, 9};
    for (size_t c = 0; c < 2; c++) {
        uc_dataset data = sample_data(N, D, class_counts[c], false, 5);
        uc_model *first = NULL;
        for (size_t t = 0; t < 4; t++) {
            const uc_context context = {.threads = thread_counts[t], .memory = t == 3 ? 1 << 20 : 0};
            uc_model *model = NULL;
            assert_ok(uc_train(&model, uc_learner_find("csvm"), NULL, NULL, &data, &context));
            if (first) {
                assert_memory_equal(model->weights, first->weights,
                                    (D + 1) * model->stride * sizeof *model->weights);
                assert_true(json_equal(model->summary, first->summary));
                uc_model_free(model);
            } else {
                first = model;
            }
        }
        uc_model_free(first);
        uc_dataset_free(&data);
    }
}

/* ---- the plan ---- */

static void the_plan_follows_the_size_of_the_data(void **state)
{
    (void)state;
    assert_int_equal(uc_svm_plan_for(1000, 50, 50e3).parts, 1);
    assert_int_equal(uc_svm_plan_for(5000, 50, 250e3).parts, 2);
    assert_int_equal(uc_svm_plan_for(200000, 200, 40e6).parts, 8);
    assert_int_equal(uc_svm_plan_for(113706, 50000, 6.7e6).parts, 2); /* text */
    assert_int_equal(uc_svm_plan_for(20000, 1000000, 2e6).parts,
                     1); /* joining would cost more than it brings */
    assert_int_equal(uc_svm_plan_for(1 << 30, 100000000, 1e12).parts, 1); /* too many copies */
    for (size_t n = 1; n < 1000000; n = n * 3 + 1)
        for (size_t d = 1; d < 1000000; d = d * 5 + 1) {
            const uc_svm_plan plan = uc_svm_plan_for(n, d, (double)n * 20);
            assert_int_equal(UC_SVM_MOST_PARTS % plan.parts, 0);
            assert_true((double)plan.parts * (double)d * 8 <= 64e6 || plan.parts == 1);
            assert_true(uc_svm_dual_bytes(n, d, (double)n * 20) >= 28.0 * (double)n);
        }
}

static void parts_that_slow_each_other_down_are_found_out(void **state)
{
    (void)state;
    for (double fall = 0.01; fall < 1; fall *= 2) { /* an epoch, of the gap's logarithm */
        uc_svm_pace recent[2] = {{0, HUGE_VAL}, {0, HUGE_VAL}};
        for (uint64_t epoch = 1; epoch < 40; epoch++) {
            const double gap =
                             exp(-fall * (double)epoch) * (epoch % 2 ? 1 : 3), /* every second one is worse */
                target = 1e-9, to_come = log(gap / target) / fall;
            const bool slow = uc_svm_slows_down(recent, epoch, gap, target);
            assert_true(!slow || epoch > 10);
            if (to_come < 20)
                assert_false(slow);
            if (to_come > 200 && epoch > 10)
                assert_true(slow);
        }
    }
}

/* ---- what goes wrong ---- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    enum { N = 400, D = 5 };
    uc_dataset data = sample_data(N, D, 3, true, 2);
    const uc_svm svm = machine(&data, 10, true);
    const uc_context one = {.threads = 1};
    double point[D + 1];
    uc_minimum found;
    bool arrived;
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, solve(&found, &arrived, point, &svm, 4, 30, 1e-4, &one));
    uc_model *model = NULL;
    FOR_EACH_FAILING_ALLOCATION(status, uc_train(&model, uc_learner_find("csvm"), NULL, NULL, &data, &one));
    uc_model_free(model);
    uc_dataset_free(&data);
}

typedef struct listener {
    size_t calls, most;
    double highest;
} listener;

static bool hear(const char *task, double done, double total, const char *detail, void *user)
{
    listener *self = user;
    (void)task, (void)detail, (void)total;
    self->highest = fmax(self->highest, done);
    return ++self->calls < self->most;
}

static void progress_is_told_and_may_cancel_with_machines_beside_each_other(void **state)
{
    (void)state;
    uc_dataset data = sample_data(600, 5, 5, false, 2);
    for (size_t t = 0; t < 4; t++) {
        uc_model *model = NULL;
        listener user = {.most = SIZE_MAX};
        uc_context context = {.threads = thread_counts[t], .progress = hear, .user = &user};
        assert_ok(uc_train(&model, uc_learner_find("csvm"), NULL, NULL, &data, &context));
        uc_model_free(model);
        assert_true(user.calls > 5);
        model = NULL;
        user = (listener){.most = 3};
        assert_error(uc_train(&model, uc_learner_find("csvm"), NULL, NULL, &data, &context), UC_ERR_CANCELLED,
                     "interrupted");
        assert_null(model);
    }
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_parts_end_at_the_minimum),
        cmocka_unit_test(the_offset_does_not_follow_single_examples),
        cmocka_unit_test(so_do_weighted_and_one_sided_machines),
        cmocka_unit_test(the_step_is_that_of_a_numerical_search),
        cmocka_unit_test(parts_that_all_see_the_same_arrive_too),
        cmocka_unit_test(results_are_the_same_bytes_for_any_number_of_threads),
        cmocka_unit_test(machines_of_many_classes_too),
        cmocka_unit_test(the_plan_follows_the_size_of_the_data),
        cmocka_unit_test(parts_that_slow_each_other_down_are_found_out),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(progress_is_told_and_may_cancel_with_machines_beside_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
