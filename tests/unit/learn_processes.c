/* Learning in several processes, each with some of the rows, gives what one process gives. */
#include "tests/processes.h"
#include "tests/sample.h"

#include <math.h>

#include "learn/online.h"
#include "learn/svm/svm.h"
#include "map/map.h"
#include "unconfuse/select.h"

#define ROWS 1500
#define MOST 4

typedef struct task {
    const uc_dataset *whole;
    const uc_learner *learner;
    const void *settings;
    uc_train_settings train;
    uint64_t memory; /* of the last process; 0: as much as there is */
    uc_model *models[MOST];
} task;

/* Uneven parts; with three processes or more the second has nothing. */
static size_t start_of(const task *self, int rank, int size)
{
    const size_t n = self->whole->X.rows;
    return rank == 0               ? 0
           : rank == size          ? n
           : size > 2 && rank == 1 ? n / 3
                                   : n / 3 + (size_t)(rank - 2 + (size == 2)) * n / 5;
}

static uc_status take_part(uc_dataset *out, const task *self, const uc_comm *comm)
{
    const size_t first = start_of(self, comm->rank, comm->size),
                 last = start_of(self, comm->rank + 1, comm->size);
    size_t *rows = uc_alloc(last - first, sizeof *rows);
    for (size_t i = 0; rows && i < last - first; i++)
        rows[i] = first + i;
    const uc_status status =
        rows ? uc_dataset_subset(out, self->whole, rows, last - first, NULL) : UC_ERR_NOMEM;
    uc_free(rows);
    return status;
}

static uc_status train_part(const uc_comm *comm, void *user)
{
    task *self = user;
    const uc_context context = {
        .comm = comm, .threads = 1, .memory = comm->rank + 1 == comm->size ? self->memory : 0};
    uc_dataset mine = {0};
    uc_status status = take_part(&mine, self, comm);
    if (status == UC_OK)
        status = uc_tune_and_train(&self->models[comm->rank], self->learner, self->settings, &self->train,
                                   &mine, &context);
    uc_dataset_free(&mine);
    return status;
}

static void free_models(task *self)
{
    for (int r = 0; r < MOST; r++) {
        uc_model_free(self->models[r]);
        self->models[r] = NULL;
    }
}

/* The largest difference of two models' scores, relative to the largest score. */
static double difference(const uc_model *a, const uc_model *b, const uc_dataset *data)
{
    const size_t count = data->X.rows * data->classes.count;
    double *p = uc_alloc(count, sizeof *p), *q = uc_alloc(count, sizeof *q), worst = 0.0, largest = 0.0;
    assert_ok(uc_model_scores(p, a, &data->X, NULL));
    assert_ok(uc_model_scores(q, b, &data->X, NULL));
    for (size_t i = 0; i < count; i++) {
        worst = fmax(worst, fabs(p[i] - q[i]));
        largest = fmax(largest, fabs(p[i]));
    }
    uc_free(p);
    uc_free(q);
    return worst / largest;
}

static void all_have_the_same_model(const task *self, int size)
{
    const size_t count = (self->models[0]->dimension + 1) * self->models[0]->stride;
    for (int r = 1; r < size; r++) {
        assert_memory_equal(self->models[r]->weights, self->models[0]->weights, count * sizeof(double));
        assert_true(json_equal(self->models[r]->summary, self->models[0]->summary));
    }
}

static void check_learner(const char *name, const void *settings, uc_train_settings train,
                          const uc_dataset *data, double tolerance)
{
    task self = {.whole = data, .learner = uc_learner_find(name), .settings = settings, .train = train};
    uc_model *alone = NULL;
    uc_dataset copy = {0};
    assert_ok(uc_dataset_subset(&copy, data, NULL, 0, NULL));
    assert_ok(uc_tune_and_train(&alone, self.learner, settings, &train, &copy, NULL));
    for (int size = 2; size <= MOST; size++) {
        assert_ok(run_processes(size, train_part, &self));
        all_have_the_same_model(&self, size);
        const double differs = difference(alone, self.models[0], data);
        if (!(differs <= tolerance))
            fail_msg("%s in %d processes: scores differ by %g", name, size, differs);
        const json_t *error = json_object_get(alone->summary, "training_error");
        assert_near(json_number_value(json_object_get(self.models[0]->summary, "training_error")),
                    json_number_value(error), 2.0 / (double)data->X.rows);
        assert_int_equal(json_integer_value(json_object_get(self.models[0]->summary, "examples")),
                         data->X.rows);
        free_models(&self);
    }
    uc_model_free(alone);
    uc_dataset_free(&copy);
}

/* ---- batch learners ---- */

/* Sparse rows of two classes, with many more values than columns. */
static void narrow_rows_of_two_classes_are_added_up_in_lanes(void **state)
{
    (void)state;
    uc_dataset data = sample_data(400, 9, 2, true, 5);
    uc_logistic_settings logistic;
    uc_options_defaults(uc_learner_options(uc_learner_find("logistic")), &logistic);
    logistic.iterations = 10;
    assert_true(uc_matrix_is_sparse(&data.X) && uc_matrix_entries(&data.X) > 80);
    check_learner("logistic", &logistic, uc_train_defaults(), &data, 1e-9);
    uc_dataset_free(&data);
}

/* Sparse rows, fewer than the columns, which logistic adds up by columns; or by rows, when the memory of
 * one process has no room for them twice. */
static void wide_rows_are_added_up_by_columns(void **state)
{
    (void)state;
    uc_dataset data = sample_data(200, 900, 3, true, 5);
    uc_logistic_settings logistic;
    uc_options_defaults(uc_learner_options(uc_learner_find("logistic")), &logistic);
    logistic.iterations = 10;
    check_learner("logistic", &logistic, uc_train_defaults(), &data, 1e-9);
    task self = {.whole = &data,
                 .learner = uc_learner_find("logistic"),
                 .settings = &logistic,
                 .train = uc_train_defaults()};
    uc_model *plenty = NULL;
    for (int scarce = 0; scarce < 2; scarce++) {
        self.memory = scarce ? 600000 : 0;
        assert_ok(run_processes(2, train_part, &self));
        all_have_the_same_model(&self, 2);
        if (scarce) { /* the same but for rounding: the sums have another order */
            assert_true(difference(plenty, self.models[0], &data) <= 1e-9);
            assert_true(difference(plenty, self.models[0], &data) > 0.0);
        } else {
            plenty = self.models[0];
            self.models[0] = NULL;
        }
        free_models(&self);
    }
    uc_model_free(plenty);
    uc_dataset_free(&data);
}

/* After ten steps, as far as rounding lets expect. */
static void batch_learners_do_in_many_processes_what_they_do_in_one(void **state)
{
    (void)state;
    uc_noise matrix = {0};
    assert_ok(uc_noise_uniform(&matrix, 3, 0.2));
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_dataset data = sample_data(ROWS, 9, 3, sparse, 5);
        uc_train_settings train = uc_train_defaults();
        uc_logistic_settings logistic;
        uc_uma_settings uma;
        uc_svm_settings svm;
        uc_rp_settings rp;
        uc_options_defaults(uc_learner_options(uc_learner_find("logistic")), &logistic);
        uc_options_defaults(uc_learner_options(uc_learner_find("uma")), &uma);
        uc_options_defaults(uc_learner_options(uc_learner_find("csvm")), &svm);
        uc_options_defaults(uc_learner_options(uc_learner_find("rp")), &rp);
        logistic.iterations = uma.iterations = svm.iterations = rp.iterations = 10;
        rp.kappa = 0.1;
        train.map.map = UC_MAP_NONE;
        check_learner("rp", &rp, train, &data, 1e-9);
        train.noise = &matrix;
        check_learner("logistic", &logistic, train, &data, 1e-9);
        for (uma.init = 0; uma.init < 2; uma.init++)
            check_learner("uma", &uma, train, &data, 1e-9);
        train.noise = NULL;
        check_learner("csvm", &svm, train, &data, 1e-9);
        check_learner("ridge", NULL, train, &data, 1e-9);
        check_learner("auto", NULL, train, &data, 1e-6);
        uc_dataset_free(&data);
    }
    uc_noise_free(&matrix);
}

/* Two classes that meet at 0, one of them with rows far away on its side: ridge regression is drawn to
 * these. */
static uc_dataset data_with_far_rows(void)
{
    uc_dataset data = sample_data(ROWS, 2, 2, false, 5);
    for (size_t i = 0; i < ROWS; i++) {
        float *row = data.X.values + i * data.X.stride;
        data.y[i] = i % 2;
        row[0] = row[0] / 10 + (i % 2 ? -1.0F : 1.0F);
        row[0] += i % 4 == 2 ? 7.0F : 0.0F;
    }
    return data;
}

static void heads_of_auto_do_too(void **state)
{
    (void)state;
    uc_dataset data = data_with_far_rows(), copy = {0};
    const uc_auto_settings thorough = {.effort = 2};
    uc_train_settings train = uc_train_defaults();
    uc_model *alone = NULL;
    train.map.map = UC_MAP_NONE;
    train.scale = UC_SCALE_NONE;
    assert_ok(uc_dataset_subset(&copy, &data, NULL, 0, NULL));
    assert_ok(uc_tune_and_train(&alone, uc_learner_find("auto"), &thorough, &train, &copy, NULL));
    assert_non_null(json_object_get(json_object_get(alone->summary, "chosen"), "head"));
    check_learner("auto", &thorough, train, &data, 1e-6);
    uc_model_free(alone);
    uc_dataset_free(&copy);
    uc_dataset_free(&data);
}

static void machines_of_two_classes_do_too(void **state)
{
    (void)state;
    uc_noise rates = {0};
    assert_ok(uc_noise_binary(&rates, 0.1, 0.2));
    uc_dataset data = sample_data(ROWS, 9, 2, false, 5);
    uc_train_settings train = uc_train_defaults();
    uc_svm_settings svm;
    uc_options_defaults(uc_learner_options(uc_learner_find("sloppy-svm")), &svm);
    svm.iterations = 10;
    svm.class_weight = UC_CLASS_WEIGHT_BALANCED;
    check_learner("csvm", &svm, train, &data, 1e-9);
    train.noise = &rates;
    check_learner("sloppy-svm", &svm, train, &data, 1e-9);
    svm.loss = 1;
    check_learner("sloppy-svm", &svm, train, &data, 1e-9);
    for (size_t i = 0; i < data.X.rows; i++)
        if (i % 5 != 0)
            data.y[i] = UC_NONE;
    train.noise = NULL;
    check_learner("s3vm", NULL, train, &data, 1e-6);
    uc_noise_free(&rates);
    uc_dataset_free(&data);
}

/* Rows enough for several parts, which work concurrently; and a machine that is so hard that they
 * become one. */
static void parts_of_a_machine_are_those_of_one_process(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_dataset data = sample_data(9000, 9, 2, sparse, 5);
        assert_true(uc_svm_plan_for(9000, 9, (double)uc_matrix_entries(&data.X)).parts >= 4);
        uc_svm_settings svm;
        uc_options_defaults(uc_learner_options(uc_learner_find("csvm")), &svm);
        svm.iterations = 10;
        check_learner("csvm", &svm, uc_train_defaults(), &data, 1e-9);
        svm.iterations = 60;
        svm.cost = 1e7;
        svm.tolerance = 1e-9;
        check_learner("csvm", &svm, uc_train_defaults(), &data, 1e-6);
        uc_dataset_free(&data);
    }
}

/* ---- steps and maps ---- */

static void scaling_is_that_of_all_rows(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, 9, 3, false, 5), sparse = sample_data(ROWS, 9, 3, true, 5);
    uc_train_settings train = uc_train_defaults();
    for (int scale = UC_SCALE_RANGE; scale <= UC_SCALE_NUMBERS; scale++) {
        train.scale = scale;
        check_learner("logistic", NULL, train, &data, 1e-4);
    }
    train.scale = UC_SCALE_MAXABS;
    check_learner("logistic", NULL, train, &sparse, 1e-4);
    uc_dataset_free(&sparse);
    uc_dataset_free(&data);
}

/* The map itself has the same bits, whatever the number of processes. */
static void maps_are_those_of_one_process(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, 9, 3, false, 5), sparse = sample_data(ROWS, 9, 3, true, 5);
    const uc_map_kind kinds[] = {UC_MAP_KGS,  UC_MAP_RANDOM, UC_MAP_NYSTROEM,
                                 UC_MAP_KPCA, UC_MAP_JL,     UC_MAP_LANDMARKS};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int variant = 0; variant < 2; variant++) {
            const uc_dataset *rows = variant ? &sparse : &data;
            task self = {.whole = rows, .learner = uc_learner_find("logistic"), .train = uc_train_defaults()};
            uc_logistic_settings settings;
            uc_options_defaults(uc_learner_options(self.learner), &settings);
            settings.iterations = 3;
            self.settings = &settings;
            self.train.map.map = (int)kinds[kind];
            self.train.map.dimension = 40;
            self.train.map.pick = variant;   /* nystroem: clusters */
            self.train.map.center = variant; /* kpca */
            uc_model *alone = NULL;
            uc_dataset copy = {0};
            assert_ok(uc_dataset_subset(&copy, rows, NULL, 0, NULL));
            assert_ok(uc_train(&alone, self.learner, self.settings, &self.train, &copy, NULL));
            assert_ok(run_processes(3, train_part, &self));
            all_have_the_same_model(&self, 3);
            const uc_map *a = alone->preprocessing.map, *b = self.models[0]->preprocessing.map;
            assert_true(a->width == b->width);
            assert_int_equal(a->landmarks.rows, b->landmarks.rows);
            assert_memory_equal(a->norm2, b->norm2, a->landmarks.rows * sizeof *a->norm2);
            if (a->projection)
                assert_memory_equal(a->projection, b->projection,
                                    a->landmarks.rows * a->dimension * sizeof *a->projection);
            assert_true(difference(alone, self.models[0], rows) < 1e-9);
            free_models(&self);
            uc_model_free(alone);
            uc_dataset_free(&copy);
        }
    uc_dataset_free(&sparse);
    uc_dataset_free(&data);
}

/* Of very many rows only some can become landmarks, wherever they are. */
static void kgs_of_very_many_rows_is_that_of_one_process(void **state)
{
    (void)state;
    uc_dataset data = sample_data(51000, 3, 2, false, 7), copy = {0};
    task self = {.whole = &data, .learner = uc_learner_find("logistic"), .train = uc_train_defaults()};
    uc_logistic_settings settings;
    uc_options_defaults(uc_learner_options(self.learner), &settings);
    settings.iterations = 1;
    self.settings = &settings;
    self.train.map.map = UC_MAP_KGS;
    self.train.map.dimension = 12;
    uc_model *alone = NULL;
    assert_ok(uc_dataset_subset(&copy, &data, NULL, 0, NULL));
    assert_ok(uc_train(&alone, self.learner, self.settings, &self.train, &copy, NULL));
    assert_ok(run_processes(3, train_part, &self));
    all_have_the_same_model(&self, 3);
    const uc_map *a = alone->preprocessing.map, *b = self.models[0]->preprocessing.map;
    assert_int_equal(a->landmarks.rows, b->landmarks.rows);
    assert_memory_equal(a->norm2, b->norm2, a->landmarks.rows * sizeof *a->norm2);
    assert_memory_equal(a->projection, b->projection,
                        a->landmarks.rows * a->dimension * sizeof *a->projection);
    free_models(&self);
    uc_model_free(alone);
    uc_dataset_free(&copy);
    uc_dataset_free(&data);
}

static void what_is_auto_is_chosen_alike(void **state)
{
    (void)state;
    uc_dataset data = sample_data(600, 6, 3, false, 5);
    uc_train_settings train = uc_train_defaults();
    train.map.map = UC_MAP_KGS;
    train.map.width = UC_AUTO_REAL;
    check_learner("csvm", NULL, train, &data, 1e-3);
    uc_dataset_free(&data);
}

/* ---- online learners ---- */

/* One pass without shuffling, worked out apart: every part is learned by itself, and the means are weighed
 * by rows. */
static void one_pass_is_the_mean_of_what_the_parts_learn(void **state)
{
    (void)state;
    uc_dataset data = sample_data(900, 7, 3, true, 5);
    const char *const names[] = {"perceptron", "pa", "spa", "copa", "arow", "scw"};
    for (size_t l = 0; l < 6; l++)
        for (int average = 0; average < 2; average++) {
            task self = {.whole = &data, .learner = uc_learner_find(names[l]), .train = uc_train_defaults()};
            self.train.passes = 1;
            self.train.shuffle = 0;
            self.train.average = average;
            assert_ok(run_processes(2, train_part, &self));
            all_have_the_same_model(&self, 2);
            const size_t count = (self.models[0]->dimension + 1) * self.models[0]->stride;
            double *mean = uc_alloc(count, sizeof *mean);
            for (int r = 0; r < 2; r++) {
                const size_t first = start_of(&self, r, 2), last = start_of(&self, r + 1, 2);
                uc_online *online = NULL;
                uc_model *part = NULL;
                size_t counts[3];
                assert_ok(uc_online_begin(&online, self.learner, NULL, &self.train, &data.classes, NULL));
                assert_ok(uc_online_expect(online, data.X.cols, uc_matrix_density(&data.X)));
                uc_dataset_class_counts(counts, &data);
                for (size_t k = 0; k < 3; k++)
                    online->label_counts[k] = (double)counts[k];
                online->label_total = (double)data.X.rows;
                online->counts_are_final = true;
                for (size_t i = first; i < last; i++) {
                    const uc_row row = uc_matrix_row(&data.X, i);
                    uc_proposal proposal;
                    assert_ok(uc_online_propose_prepared(&proposal, online, &row));
                    assert_ok(uc_online_learn_prepared(online, &row, &proposal,
                                                       (uc_answer){UC_ANSWER_LABEL, data.y[i]}));
                }
                assert_ok(uc_online_model(&part, online, false));
                for (size_t i = 0; i < count; i++)
                    mean[i] += (double)(last - first) / 900.0 * part->weights[i];
                uc_model_free(part);
                uc_online_free(online);
            }
            for (size_t i = 0; i < count; i++)
                assert_near(self.models[0]->weights[i], mean[i], 1e-12);
            uc_free(mean);
            free_models(&self);
        }
    uc_dataset_free(&data);
}

/* Several passes: nearly as good as one process, and every pass but the first begins where all are. */
static void passes_go_on_from_the_mean(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, 9, 3, false, 5);
    for (int mix = UC_MIX_AVERAGE; mix <= UC_MIX_ONCE; mix++) {
        task self = {.whole = &data, .learner = uc_learner_find("spa"), .train = uc_train_defaults()};
        self.train.mix = mix;
        uc_model *alone = NULL;
        uc_dataset copy = {0};
        assert_ok(uc_dataset_subset(&copy, &data, NULL, 0, NULL));
        assert_ok(uc_train(&alone, self.learner, NULL, &self.train, &copy, NULL));
        for (int size = 2; size <= MOST; size++) {
            uint32_t *a = uc_alloc(ROWS, sizeof *a), *b = uc_alloc(ROWS, sizeof *b);
            assert_ok(run_processes(size, train_part, &self));
            all_have_the_same_model(&self, size);
            assert_int_equal(json_integer_value(json_object_get(self.models[0]->summary, "rounds")),
                             5 * ROWS);
            assert_ok(uc_model_predict(a, alone, &data.X, NULL));
            assert_ok(uc_model_predict(b, self.models[0], &data.X, NULL));
            size_t wrong_alone = 0, wrong = 0;
            for (size_t i = 0; i < ROWS; i++) {
                wrong_alone += a[i] != data.y[i];
                wrong += b[i] != data.y[i];
            }
            assert_true((double)wrong < (double)wrong_alone + 0.02 * ROWS);
            uc_free(a);
            uc_free(b);
            free_models(&self);
        }
        uc_model_free(alone);
        uc_dataset_free(&copy);
    }
    uc_dataset_free(&data);
}

static void right_or_wrong_is_not_for_several_processes(void **state)
{
    (void)state;
    uc_dataset data = sample_data(60, 4, 2, false, 5);
    task self = {.whole = &data, .learner = uc_learner_find("cspa"), .train = uc_train_defaults()};
    assert_error(
        run_processes(2, train_part, &self), UC_ERR_INVALID,
        "cspa hears right or wrong about one example after the other, which several processes cannot "
        "share: use one");
    uc_dataset_free(&data);
}

/* ---- estimates ---- */

typedef struct estimates {
    task task;
    uc_noise_estimate alone;
    uint32_t *predicted;
    double fold_error[4];
} estimates;

static uc_status estimate_part(const uc_comm *comm, void *user)
{
    const estimates *self = user;
    const uc_context context = {.comm = comm, .threads = 1};
    uc_noise_estimate found = {0};
    uc_dataset mine = {0};
    double fold_error[4];
    uc_status status = take_part(&mine, &self->task, comm);
    uint32_t *predicted = uc_alloc(mine.X.rows, sizeof *predicted);
    if (status == UC_OK)
        status = uc_noise_from_data(&found, &mine, NULL, NULL, &context);
    for (size_t i = 0; i < 9 && status == UC_OK; i++)
        if (fabs(found.noise.values[i] - self->alone.noise.values[i]) > 0.02 ||
            fabs(found.low[i] - self->alone.low[i]) > 0.02)
            status = uc_fail(UC_ERR_INVALID, "entry %zu is %g, not %g", i, found.noise.values[i],
                             self->alone.noise.values[i]);
    if (status == UC_OK)
        status = uc_cross_validate(predicted, fold_error, uc_learner_find("logistic"), NULL, NULL, &mine, 4,
                                   &context);
    const size_t first = start_of(&self->task, comm->rank, comm->size);
    size_t others = 0;
    for (size_t i = 0; i < mine.X.rows && status == UC_OK; i++)
        others += predicted[i] != self->predicted[first + i];
    for (size_t fold = 0; fold < 4 && status == UC_OK; fold++)
        if (fabs(fold_error[fold] - self->fold_error[fold]) > 0.005)
            status = uc_fail(UC_ERR_INVALID, "fold %zu: error %g, not %g", fold, fold_error[fold],
                             self->fold_error[fold]);
    if (status == UC_OK && others > mine.X.rows / 1000)
        status = uc_fail(UC_ERR_INVALID, "%zu predictions differ", others);
    uc_free(predicted);
    uc_noise_estimate_free(&found);
    uc_dataset_free(&mine);
    return status;
}

static void noise_and_cross_validation_are_estimated_alike(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, 9, 3, false, 5);
    estimates self = {.task = {.whole = &data}, .predicted = uc_alloc(ROWS, sizeof(uint32_t))};
    assert_ok(uc_noise_from_data(&self.alone, &data, NULL, NULL, NULL));
    assert_ok(uc_cross_validate(self.predicted, self.fold_error, uc_learner_find("logistic"), NULL, NULL,
                                &data, 4, NULL));
    for (int size = 2; size <= MOST; size++)
        assert_ok(run_processes(size, estimate_part, &self));
    uc_noise_estimate_free(&self.alone);
    uc_free(self.predicted);
    uc_dataset_free(&data);
}

/* ---- failures ---- */

static void an_example_without_label_is_named_by_its_number_in_all(void **state)
{
    (void)state;
    uc_dataset data = sample_data(ROWS, 9, 3, false, 5);
    task self = {.whole = &data, .learner = uc_learner_find("logistic"), .train = uc_train_defaults()};
    data.y[1400] = UC_NONE;
    assert_error(run_processes(3, train_part, &self), UC_ERR_FORMAT,
                 "rank 2: example 1401 has no label ('?'), which logistic cannot use");
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_rows_of_two_classes_are_added_up_in_lanes),
        cmocka_unit_test(wide_rows_are_added_up_by_columns),
        cmocka_unit_test(batch_learners_do_in_many_processes_what_they_do_in_one),
        cmocka_unit_test(heads_of_auto_do_too),
        cmocka_unit_test(machines_of_two_classes_do_too),
        cmocka_unit_test(parts_of_a_machine_are_those_of_one_process),
        cmocka_unit_test(scaling_is_that_of_all_rows),
        cmocka_unit_test(maps_are_those_of_one_process),
        cmocka_unit_test(kgs_of_very_many_rows_is_that_of_one_process),
        cmocka_unit_test(what_is_auto_is_chosen_alike),
        cmocka_unit_test(one_pass_is_the_mean_of_what_the_parts_learn),
        cmocka_unit_test(passes_go_on_from_the_mean),
        cmocka_unit_test(right_or_wrong_is_not_for_several_processes),
        cmocka_unit_test(noise_and_cross_validation_are_estimated_alike),
        cmocka_unit_test(an_example_without_label_is_named_by_its_number_in_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
