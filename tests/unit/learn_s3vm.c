/* The semi-supervised SVM: its gradient, its minimum, its balance, and how it uses rows without a label. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "learn/s3vm.h"

/* Every `keep`-th row keeps its label. */
static void hide_labels(uc_dataset *data, size_t keep)
{
    for (size_t i = 0; i < data->X.rows; i++)
        if (i % keep >= data->classes.count)
            data->y[i] = UC_NONE;
}

/* Round clouds at distance `apart` along the first column; classes take turns; `labels` rows per class have a
 * label. */
static uc_dataset clouds(size_t rows, size_t cols, size_t classes, double apart, size_t labels, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 100);
    uc_dataset data = sample_data(rows, cols, classes, false, seed);
    for (size_t i = 0; i < rows; i++) {
        float *row = data.X.values + i * data.X.stride;
        const uint32_t label = (uint32_t)(i % classes);
        for (size_t j = 0; j < cols; j++)
            row[j] = (float)(uc_rng_normal(&rng) +
                             (j == (classes == 2 ? 0 : label) ? apart * (label || classes > 2) : 0));
        data.y[i] = i < labels * classes ? label : UC_NONE;
    }
    return data;
}

static double cloud_error(const uc_model *model, const uc_dataset *data)
{
    uint32_t *predicted = uc_alloc(data->X.rows, sizeof *predicted);
    size_t errors = 0;
    assert_ok(uc_model_predict(predicted, model, &data->X, NULL));
    for (size_t i = 0; i < data->X.rows; i++)
        errors += predicted[i] != i % data->classes.count;
    uc_free(predicted);
    return (double)errors / (double)data->X.rows;
}

static uc_model *train_on(uc_dataset *data, double cost, double unlabelled_cost, const uc_context *context)
{
    const uc_s3vm_settings settings = {.cost = cost, .unlabelled_cost = unlabelled_cost};
    uc_model *model = NULL;
    assert_ok(uc_train(&model, uc_learner_find("s3vm"), &settings, NULL, data, context));
    return model;
}

/* The objective by its definition, row by row, with the smooth minimum over whole labellings of the
 * machines. */
static double slow_objective(const uc_dataset *data, const double *W, const double *b, size_t P, size_t S,
                             double cost, double unlabelled_cost)
{
    double labelled = 0, unlabelled = 0, own = 0, other = 0, penalty = 0;
    for (size_t i = 0; i < data->X.rows; i++) {
        double f[16] = {0}, total = 0;
        for (size_t k = 0; k < P; k++) {
            f[k] = b[k];
            for (size_t j = 0; j < data->X.cols; j++)
                f[k] += W[(j + 1) * S + k] * (double)data->X.values[i * data->X.stride + j];
        }
        for (uint32_t y = 0; y < data->classes.count; y++) {
            double loss = 0;
            for (size_t k = 0; k < P; k++) {
                const double t = (P == 1 ? y == 1 : y == k) ? 1 : -1;
                loss += t * f[k] < 1 ? (1 - t * f[k]) * (1 - t * f[k]) : 0;
            }
            total += exp(-loss / 0.1);
            own += data->y[i] == y ? loss : 0;
        }
        labelled += data->y[i] != UC_NONE;
        unlabelled += data->y[i] == UC_NONE;
        other += data->y[i] == UC_NONE ? -0.1 * log(total) : 0;
    }
    for (size_t i = S; i < (data->X.cols + 1) * S; i++)
        penalty += W[i] * W[i] / 2;
    return penalty + cost * own / labelled + (unlabelled_cost > 0 ? unlabelled_cost * other / unlabelled : 0);
}

static void the_gradient_is_that_of_the_objective(void **state)
{
    (void)state;
    for (size_t classes = 2; classes <= 5; classes++)
        for (int kind = 0; kind < 4; kind++) {
            uc_dataset data = sample_data(60, 5, classes, kind & 1, 3);
            hide_labels(&data, 10);
            const uc_train_settings train = {.bias = 1.0};
            const uc_fit fit = {.data = &data, .train = &train, .rows = data.X.rows};
            uc_s3vm self;
            assert_ok(uc_s3vm_begin(&self, &fit, 7.0));
            self.unlabelled_cost = 3.0;
            const size_t count = (self.d + 1) * self.S;
            double W[64] = {0}, gradient[64], other[64], high, low, value;
            assert_true(count <= 64);
            uc_rng rng = uc_rng_make(9, 1);
            for (size_t i = 0; i < count; i++)
                W[i] = i % self.S < self.P ? 0.2 * uc_rng_normal(&rng) : 0.0;
            if (kind & 2)
                uc_s3vm_balance(&self, W);
            assert_ok(uc_s3vm_objective(&value, gradient, &self, W));
            if (!(kind & 1))
                assert_near_relative(value, slow_objective(&data, W, self.offset, self.P, self.S, 7.0, 3.0),
                                     1e-12);
            for (size_t i = 0; i < count; i++) {
                if (i % self.S >= self.P) {
                    assert_true(gradient[i] == 0.0);
                    continue;
                }
                const double at = W[i], step = 1e-5;
                W[i] = at + step;
                assert_ok(uc_s3vm_objective(&high, other, &self, W));
                W[i] = at - step;
                assert_ok(uc_s3vm_objective(&low, other, &self, W));
                W[i] = at;
                assert_near(gradient[i], (high - low) / (2 * step), 2e-6);
            }
            uc_s3vm_end(&self);
            uc_dataset_free(&data);
        }
}

/* Without unlabelled rows: against plain gradient descent on the objective as written down, by finite
 * differences. */
static void without_unlabelled_rows_it_is_the_plain_svm(void **state)
{
    (void)state;
    for (size_t classes = 2; classes <= 3; classes++) {
        uc_dataset data = sample_data(30, 2, classes, false, 4);
        uc_model *model = train_on(&data, 5.0, 1.0, NULL);
        const size_t P = classes == 2 ? 1 : classes, S = P == 1 ? 1 : 4, count = 3 * S;
        double W[16] = {0}, step = 0.01;
        for (int round = 0; round < 4000; round++) {
            double gradient[16];
            for (size_t i = 0; i < count; i++) {
                double near[16];
                memcpy(near, W, sizeof near);
                near[i] = W[i] + 1e-5;
                gradient[i] = slow_objective(&data, near, near, P, S, 5.0, 0);
                near[i] = W[i] - 1e-5;
                gradient[i] = (gradient[i] - slow_objective(&data, near, near, P, S, 5.0, 0)) / 2e-5;
            }
            for (size_t i = 0; i < count; i++)
                W[i] -= step * (i % S < P ? gradient[i] : 0.0);
        }
        const double best = slow_objective(&data, W, W, P, S, 5.0, 0);
        assert_near(json_real_value(json_object_get(model->summary, "objective")), best, 1e-6);
        for (size_t j = 0; j < 3; j++)
            for (size_t k = 0; k < classes; k++) {
                const double want = P > 1 ? W[j * S + k] : W[j] * (k ? 0.5 : -0.5);
                assert_near(model->weights[j * model->stride + k], want, 1e-4);
            }
        uc_model_free(model);
        uc_dataset_free(&data);
    }
}

/* Unlabelled rows of cost 0 do not change the model of the labelled rows. */
static void at_unlabelled_cost_0_only_labelled_rows_count(void **state)
{
    (void)state;
    uc_dataset all = sample_data(80, 6, 3, false, 5), few = {0};
    size_t rows[80], count = 0;
    hide_labels(&all, 8);
    for (size_t i = 0; i < 80; i++)
        if (all.y[i] != UC_NONE)
            rows[count++] = i;
    assert_ok(uc_dataset_subset(&few, &all, rows, count, NULL));
    uc_model *ignoring = train_on(&all, 10.0, 0.0, NULL), *without = train_on(&few, 10.0, 1.0, NULL),
             *using = train_on(&all, 10.0, 1.0, NULL);
    double moved = 0;
    for (size_t i = 0; i < 7 * without->stride; i++) {
        assert_near(ignoring->weights[i], without->weights[i], 1e-3);
        moved = fmax(moved, fabs(using->weights[i] - without->weights[i]));
    }
    assert_true(moved > 0.05);
    uc_model_free(ignoring);
    uc_model_free(without);
    uc_model_free(using);
    uc_dataset_free(&all);
    uc_dataset_free(&few);
}

/* The mean score of the unlabelled rows is what the labelled rows score in the plain machine. */
static void the_balance_holds(void **state)
{
    (void)state;
    for (size_t classes = 2; classes <= 4; classes++) {
        uc_dataset data = sample_data(200, 6, classes, false, 6);
        hide_labels(&data, 10);
        uc_model *plain = train_on(&data, 20.0, 0.0, NULL), *model = train_on(&data, 20.0, 1.0, NULL);
        double *scores = uc_alloc(200 * classes, sizeof *scores),
               *before = uc_alloc(200 * classes, sizeof *before);
        assert_ok(uc_model_scores(scores, model, &data.X, NULL));
        assert_ok(uc_model_scores(before, plain, &data.X, NULL));
        for (size_t k = 0; k < classes; k++) {
            double target = 0, mean = 0, l = 0, u = 0;
            for (size_t i = 0; i < 200; i++) {
                const bool has = data.y[i] != UC_NONE;
                target += has ? before[i * classes + k] : 0;
                mean += has ? 0 : scores[i * classes + k];
                l += has;
                u += !has;
            }
            assert_near(mean / u, target / l,
                        5e-3); /* the plain machine is found to 1e-3 before the balance */
        }
        uc_free(scores);
        uc_free(before);
        uc_model_free(plain);
        uc_model_free(model);
        uc_dataset_free(&data);
    }
}

/* Two labels per class in ten dimensions: far too few by themselves, but enough with the clouds that the
 * other rows show. At distance 4 the best rule for two clouds errs in 2.3 % of the cases. */
static void clouds_with_few_labels_are_found(void **state)
{
    (void)state;
    for (size_t classes = 2; classes <= 3; classes++) {
        double plain_error = 0, error = 0;
        for (uint64_t seed = 1; seed <= 10; seed++) {
            uc_dataset data = clouds(600, 10, classes, 4.0, 2, seed);
            uc_model *plain = train_on(&data, 100.0, 0.0, NULL), *model = train_on(&data, 100.0, 1.0, NULL);
            plain_error += cloud_error(plain, &data) / 10;
            error += cloud_error(model, &data) / 10;
            uc_model_free(plain);
            uc_model_free(model);
            uc_dataset_free(&data);
        }
        print_message("%zu clouds, 2 labels each: error %.4f, without the unlabelled rows %.4f\n", classes,
                      error, plain_error);
        assert_true(error < 0.04);
        assert_true(plain_error > 2 * error);
    }
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    for (size_t classes = 2; classes <= 3; classes++) {
        uc_dataset data = sample_data(2000, 8, classes, classes == 3, 7);
        hide_labels(&data, 20);
        const uc_context one = {.threads = 1}, three = {.threads = 3};
        uc_model *a = train_on(&data, 10.0, 1.0, &one), *b = train_on(&data, 10.0, 1.0, &three);
        assert_memory_equal(a->weights, b->weights, 9 * a->stride * sizeof(double));
        uc_model_free(a);
        uc_model_free(b);
        uc_dataset_free(&data);
    }
}

static void sparse_and_dense_rows_give_the_same_model(void **state)
{
    (void)state;
    uc_dataset dense = sample_data(120, 6, 3, false, 8), sparse = sample_data(120, 6, 3, true, 8);
    hide_labels(&dense, 10);
    hide_labels(&sparse, 10);
    uc_model *a = train_on(&dense, 10.0, 1.0, NULL), *b = train_on(&sparse, 10.0, 1.0, NULL);
    for (size_t i = 0; i < 7 * a->stride; i++)
        assert_near(a->weights[i], b->weights[i], 1e-3);
    uc_model_free(a);
    uc_model_free(b);
    uc_dataset_free(&dense);
    uc_dataset_free(&sparse);
}

static void without_a_bias_there_are_no_offsets(void **state)
{
    (void)state;
    uc_dataset data = sample_data(120, 6, 3, false, 9);
    hide_labels(&data, 10);
    uc_train_settings train = uc_train_defaults();
    train.bias = 0.0;
    uc_model *model = NULL;
    assert_ok(uc_train(&model, uc_learner_find("s3vm"), NULL, &train, &data, NULL));
    for (size_t k = 0; k < 3; k++)
        assert_true(uc_model_offset(model, k) == 0.0);
    assert_true(uc_model_weight(model, 0, 0) != 0.0);
    uc_model_free(model);
    uc_dataset_free(&data);
}

static void what_cannot_be_learned_from_is_refused(void **state)
{
    (void)state;
    uc_dataset data = sample_data(40, 4, 3, false, 10);
    const uc_learner *learner = uc_learner_find("s3vm");
    uc_model *model = NULL;
    for (size_t i = 0; i < 40; i++)
        data.y[i] = data.y[i] == 1 ? UC_NONE : data.y[i];
    assert_error(uc_train(&model, learner, NULL, NULL, &data, NULL), UC_ERR_FORMAT,
                 "class '2' has no labelled example, and s3vm needs one of every class");
    data.y[7] = 3;
    assert_error_has(uc_train(&model, learner, NULL, NULL, &data, NULL), UC_ERR_FORMAT,
                     "example 8 has no label");
    assert_error_has(uc_train(&model, uc_learner_find("spa"), NULL, NULL, &data, NULL), UC_ERR_FORMAT,
                     "has no label");
    for (size_t i = 0; i < 40; i++)
        data.y[i] = UC_NONE;
    assert_error_has(uc_train(&model, learner, NULL, NULL, &data, NULL), UC_ERR_FORMAT,
                     "has no labelled example");
    uc_names_free(&data.classes);
    assert_error(uc_train(&model, learner, NULL, NULL, &data, NULL), UC_ERR_FORMAT, "no example has a label");
    const uc_s3vm_settings bad = {.cost = 0.0, .unlabelled_cost = 1.0};
    assert_null(model);
    uc_dataset_free(&data);
    data = sample_data(40, 4, 3, false, 10);
    assert_status(uc_train(&model, learner, &bad, NULL, &data, NULL), UC_ERR_OPTION);
    uc_dataset_free(&data);
}

static bool stop_at_once(const char *task, double done, double total, const char *detail, void *user)
{
    (void)task, (void)done, (void)total, (void)detail, (void)user;
    return false;
}

static void training_can_be_cancelled(void **state)
{
    (void)state;
    uc_dataset data = sample_data(60, 4, 3, false, 11);
    hide_labels(&data, 10);
    const uc_context context = {.progress = stop_at_once};
    uc_model *model = NULL;
    assert_status(uc_train(&model, uc_learner_find("s3vm"), NULL, NULL, &data, &context), UC_ERR_CANCELLED);
    assert_null(model);
    uc_dataset_free(&data);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = sample_data(30, 2, 3, false, 12);
    hide_labels(&data, 10);
    const uc_context context = {.threads = 1};
    const uc_s3vm_settings settings = {.cost = 1.0, .unlabelled_cost = 1.0};
    uc_status status;
    uc_model *model = NULL;
    FOR_EACH_FAILING_ALLOCATION(status,
                                uc_train(&model, uc_learner_find("s3vm"), &settings, NULL, &data, &context));
    uc_model_free(model);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_that_of_the_objective),
        cmocka_unit_test(without_unlabelled_rows_it_is_the_plain_svm),
        cmocka_unit_test(at_unlabelled_cost_0_only_labelled_rows_count),
        cmocka_unit_test(the_balance_holds),
        cmocka_unit_test(clouds_with_few_labels_are_found),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
        cmocka_unit_test(sparse_and_dense_rows_give_the_same_model),
        cmocka_unit_test(without_a_bias_there_are_no_offsets),
        cmocka_unit_test(what_cannot_be_learned_from_is_refused),
        cmocka_unit_test(training_can_be_cancelled),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
