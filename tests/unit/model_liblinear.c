/* LIBLINEAR's text models: what is written, what is read, what is refused, and what LIBLINEAR itself
 * predicts. */
#define _GNU_SOURCE
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "model/model.h"
#include "unconfuse/learn.h"

static uc_model *make_model(const char *const *names, size_t classes, size_t features)
{
    uc_names list = sample_names(names, classes);
    uc_model *model;
    assert_ok(uc_model_create(&model, &list, features, features, "spa"));
    uc_names_free(&list);
    model->preprocessing.cols = features;
    for (size_t j = 0; j <= features; j++)
        for (size_t k = 0; k < classes; k++)
            model->weights[j * model->stride + k] = (double)j - 0.5 * (double)k;
    return model;
}

static void check_exported(const uc_model *model, const char *expected)
{
    const char *path = temporary_path("exported");
    assert_ok(uc_model_export_liblinear(model, path));
    char *text = read_file(path, NULL);
    assert_string_equal(text, expected);
    free(text);
}

static void a_plain_model_is_written_with_one_column_a_class(void **state)
{
    (void)state;
    static const char *const names[] = {"-1", "+1"};
    uc_model *model = make_model(names, 2, 2);
    check_exported(model, "solver_type MCSVM_CS\nnr_class 2\nlabel -1 1\nnr_feature 2\nbias -1\nw\n"
                          "1 0.5 \n2 1.5 \n");
    model->bias = 3.0; /* row 0 of the weights, times 3 */
    model->weights[3] = 0.1;
    check_exported(model, "solver_type MCSVM_CS\nnr_class 2\nlabel -1 1\nnr_feature 2\nbias 1\nw\n"
                          "1 0.10000000000000001 \n2 1.5 \n0 -1.5 \n");
    uc_model_free(model);
}

/* w_j (x_j - shift_j) factor_j: weights times factor, and minus the sum of weight factor shift in the
 * constant. */
static void scaling_is_folded_into_the_weights(void **state)
{
    (void)state;
    static const char *const names[] = {"3", "5"};
    uc_model *model = make_model(names, 2, 2);
    model->preprocessing.scaling = UC_SCALE_RANGE;
    model->preprocessing.shift = uc_alloc(2, sizeof(double));
    model->preprocessing.factor = uc_alloc(2, sizeof(double));
    model->preprocessing.shift[0] = 10.0;
    model->preprocessing.shift[1] = -4.0;
    model->preprocessing.factor[0] = 0.5;
    model->preprocessing.factor[1] = 2.0;
    model->bias = 2.0;
    /* class 0: weights 1, 2, constant 0;   class 1: weights 0.5, 1.5, constant 2 x -0.5 */
    check_exported(model, "solver_type MCSVM_CS\nnr_class 2\nlabel 3 5\nnr_feature 2\nbias 1\nw\n"
                          "0.5 0.25 \n4 3 \n11 8.5 \n");
    uc_model_free(model);
}

static void models_that_liblinear_cannot_express_are_refused(void **state)
{
    (void)state;
    static const char *const words[] = {"1", "cat"}, *const reals[] = {"1", "1.0"},
                             *const big[] = {"1", "3000000000"};
    static const char *const sign[] = {"1", "-"}, *const good[] = {"1", "2"};
    const char *path = temporary_path("refused");
    uc_model *model = make_model(words, 2, 1);
    char sentence[512];
    snprintf(sentence, sizeof sentence,
             "%s: LIBLINEAR models need integer labels, but there is a class 'cat'", path);
    assert_error(uc_model_export_liblinear(model, path), UC_ERR_INVALID, sentence);
    uc_model_free(model);
    static const char *const *const others[] = {reals, big, sign};
    for (size_t i = 0; i < 3; i++) {
        model = make_model(others[i], 2, 1);
        assert_error_has(uc_model_export_liblinear(model, path), UC_ERR_INVALID, "need integer labels");
        uc_model_free(model);
    }
    for (int input = 0; input < 2; input++) {
        model = make_model(good, 2, 1);
        model->preprocessing.normalize_input = input;
        model->preprocessing.normalize = !input;
        assert_ok(uc_model_export_liblinear(model, path)); /* without a bias, unit length changes no argmax */
        assert_int_equal(unlink(path), 0);
        model->bias = 1.0;
        assert_error_has(
            uc_model_export_liblinear(model, path), UC_ERR_INVALID,
            "a model with rows of unit length and a bias cannot be written as a LIBLINEAR model");
        uc_model_free(model);
    }
    assert_false(file_exists(path));
}

/* LIBLINEAR reads labels as integers: "+1" and "1", or "7" and "007", would become one label. */
static void two_names_of_one_integer_are_refused(void **state)
{
    (void)state;
    static const char *const signs[] = {"+1", "1"}, *const zeros[] = {"007", "7"};
    const char *path = temporary_path("same");
    uc_model *model = make_model(signs, 2, 1);
    assert_status(uc_model_export_liblinear(model, path), UC_ERR_INVALID);
    uc_model_free(model);
    model = make_model(zeros, 2, 1);
    assert_status(uc_model_export_liblinear(model, path), UC_ERR_INVALID);
    uc_model_free(model);
}

/* Train, export, import: the same predictions and, except with unit length, the same scores. */
static void an_exported_model_imported_predicts_the_same(void **state)
{
    (void)state;
    const char *path = temporary_path("again");
    for (int scaling = UC_SCALE_NONE; scaling <= UC_SCALE_NUMBERS; scaling++)
        for (int unit = 0; unit < 2; unit++)
            for (size_t classes = 2; classes <= 5; classes += 3) {
                uc_dataset data = sample_data(200, 6, classes, false, 1);
                uc_train_settings train = uc_train_defaults();
                uc_model *model, *back;
                train.scale = scaling;
                train.normalize = unit;
                train.bias = unit ? 0.0 : 0.7;
                assert_ok(uc_train(&model, uc_learner_find("spa"), NULL, &train, &data, NULL));
                assert_ok(uc_model_export_liblinear(model, path));
                assert_ok(uc_model_import_liblinear(&back, path));
                assert_string_equal(uc_model_learner(back), "liblinear");
                assert_int_equal(uc_model_features(back), 6);
                uint32_t a[200], b[200];
                double x[1000], y[1000];
                assert_ok(uc_model_predict(a, model, &data.X, NULL));
                assert_ok(uc_model_predict(b, back, &data.X, NULL));
                assert_memory_equal(a, b, sizeof a);
                assert_ok(uc_model_scores(x, model, &data.X, NULL));
                assert_ok(uc_model_scores(y, back, &data.X, NULL));
                for (size_t i = 0; i < 200 * classes && !unit; i++)
                    assert_near(x[i], y[i], 1e-5);
                const char *second = temporary_path("second"); /* and written again it is the same text */
                assert_ok(uc_model_export_liblinear(back, second));
                char *text = read_file(path, NULL), *text_again = read_file(second, NULL);
                assert_string_equal(text, text_again);
                free(text);
                free(text_again);
                uc_model_free(model);
                uc_model_free(back);
                uc_dataset_free(&data);
            }
}

static uc_status import(uc_model **out, const char *text)
{
    const char *path = temporary_path("text.model");
    write_file(path, text);
    return uc_model_import_liblinear(out, path);
}

/* A binary model has one vector, for the label that stands first; classes come out sorted. */
static void a_binary_model_has_one_vector_for_its_first_label(void **state)
{
    (void)state;
    uc_model *model;
    assert_ok(import(
        &model, "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 0.5\nw\n4 \n-2 \n10 \n"));
    assert_string_equal(uc_model_classes(model)->text[0], "-1");
    assert_string_equal(uc_model_classes(model)->text[1], "1");
    assert_true(uc_model_weight(model, 0, 1) == 2.0 && uc_model_weight(model, 0, 0) == -2.0);
    assert_true(uc_model_weight(model, 1, 1) == -1.0 && uc_model_weight(model, 1, 0) == 1.0);
    assert_true(uc_model_offset(model, 1) == 2.5 && uc_model_offset(model, 0) == -2.5);
    uc_model_free(model);
    assert_ok(import(
        &model, "solver_type L2R_L2LOSS_SVC_DUAL\nnr_class 2\nlabel -1 1\nnr_feature 1\nbias -1\nw\n4 \n"));
    assert_true(uc_model_weight(model, 0, 0) == 2.0 && uc_model_weight(model, 0, 1) == -2.0);
    assert_true(uc_model_offset(model, 0) == 0.0);
    uc_model_free(model);
}

static void columns_follow_the_labels_when_they_are_sorted(void **state)
{
    (void)state;
    uc_model *model;
    assert_ok(
        import(&model, "solver_type L1R_LR\nnr_class 3\nlabel 10 9 -3\nnr_feature 1\nbias -1\nw\n1 2 3 \n"));
    static const char *const names[] = {"-3", "9", "10"};
    for (size_t k = 0; k < 3; k++) {
        assert_string_equal(uc_model_classes(model)->text[k], names[k]);
        assert_true(uc_model_weight(model, 0, k) == 3.0 - (double)k);
    }
    uc_model_free(model);
    assert_ok(
        import(&model, "solver_type MCSVM_CS\nnr_class 2\nlabel 2 1\nnr_feature 1\nbias -1\nw\n5 6 \n"));
    assert_true(uc_model_weight(model, 0, 0) == 6.0 && uc_model_weight(model, 0, 1) == 5.0);
    uc_model_free(model);
}

static void texts_that_are_not_models_are_refused_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } bad[] = {
        {"", ":1: the file ends too early"},
        {"\n\n", ":3: the file ends too early"},
        {"1 2:3\n", ":1: an unknown word in the header"},
        {"solver_type L2R_L2LOSS_SVR\n", ":1: the solver type is not one of LIBLINEAR's classifiers"},
        {"solver_type L2R_LR\nnr_class 1\n", ":2: nr_class must be a whole number of at least 2"},
        {"solver_type L2R_LR\nnr_class -2\n", ":2: nr_class must be a whole number of at least 2"},
        {"solver_type L2R_LR\nnr_class 99999999999\n", ":2: nr_class must be a whole number of at least 2"},
        {"solver_type L2R_LR\nnr_class 2\nlabel 1 x\n", ":3: a label was expected"},
        {"solver_type L2R_LR\nnr_class 2\nlabel 1 1\n", ":3: a label occurs twice"},
        {"solver_type L2R_LR\nnr_class 2\nlabel 1", ":3: a label was expected"},
        {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature x\n",
         ":4: nr_feature must be a whole number"},
        {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 1\nbias x\n", ":5: a number was expected"},
        {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 1\nbias", ":5: the file ends too early"},
        {"nr_class 2\nlabel 1 2\nnr_feature 1\nbias -1\nw\n1\n",
         ":5: the header lacks solver_type, nr_class or label"},
        {"solver_type L2R_LR\nw\n", ":2: the header lacks solver_type, nr_class or label"},
        {"solver_type L2R_LR\nnr_class 2\nnr_feature 1\nbias -1\nw\n1\n",
         ":5: the header lacks solver_type, nr_class or label"},
        {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 2\nbias -1\nw\n1.5\n",
         ":8: the file ends too early"},
        {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 2\nbias -1\nw\n1\nx\n",
         ":8: a number was expected"},
        {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 2\nbias -1\nw\n1\nnan\n",
         ":8: a number was expected"},
        {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 1\nbias -1\nw\n1\n2\n",
         ":8: more weights than the header says"},
        {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 2000000000\nbias -1\nw\n1\n",
         ":6: fewer weights than the header says"},
    };
    const long live = uc_alloc_live();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uc_model *model = NULL;
        char sentence[512];
        snprintf(sentence, sizeof sentence, "%s%s", temporary_path("text.model"), bad[i].sentence);
        assert_error(import(&model, bad[i].text), UC_ERR_FORMAT, sentence);
        assert_null(model);
        assert_int_equal(uc_alloc_live(), live);
    }
}

/* Every cut of a good text, and every byte of it replaced by some others, is read or refused, never more. */
static void damaged_texts_never_do_harm(void **state)
{
    (void)state;
    const char *text =
        "solver_type L2R_LR\nnr_class 3\nlabel 3 1 2\nnr_feature 2\nbias 1\nw\n1 2 3 \n4 5 6 \n7 8 9 \n";
    const size_t length = strlen(text);
    const long live = uc_alloc_live();
    const char *path = temporary_path("damaged.model");
    for (size_t i = 0; i < length; i++) {
        static const char others[] = "\0x9 -\n.\xff";
        for (size_t o = 0; o < sizeof others; o++) {
            char *damaged = malloc(length);
            uc_model *model = NULL;
            memcpy(damaged, text, length);
            damaged[i] = others[o];
            write_bytes(path, damaged, o + 1 == sizeof others ? i : length);
            const uc_status status = uc_model_import_liblinear(&model, path);
            assert_true(status == UC_OK || status == UC_ERR_FORMAT);
            assert_int_equal(model != NULL, status == UC_OK);
            uc_model_free(model);
            free(damaged);
        }
    }
    assert_int_equal(uc_alloc_live(), live);
}

static uc_status export_import(uc_model **out, const uc_model *model, const char *path)
{
    const uc_status status = uc_model_export_liblinear(model, path);
    return status == UC_OK ? uc_model_import_liblinear(out, path) : status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const names[] = {"1", "2", "3"};
    uc_model *model = make_model(names, 3, 4), *back;
    const char *path = temporary_path("failing.model");
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, export_import(&back, model, path));
    uc_model_free(back);
    assert_error_has(uc_model_import_liblinear(&back, temporary_path("missing")), UC_ERR_IO,
                     "missing: cannot read");
    if (access("/dev/full", W_OK) == 0)
        assert_status(uc_model_export_liblinear(model, "/dev/full"), UC_ERR_IO);
    uc_model_free(model);
}

/* ---- LIBLINEAR itself ---- */

static bool has_liblinear(void)
{
    return system("command -v liblinear-train >/dev/null 2>&1 && command -v liblinear-predict >/dev/null "
                  "2>&1") == 0;
}

static void write_libsvm(const char *path, const uc_dataset *data)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < data->X.rows; i++) {
        const uc_row row = uc_matrix_row(&data->X, i);
        fprintf(file, "%s", data->classes.text[data->y[i]]);
        for (size_t e = 0; e < row.count; e++)
            if (row.values[e] != 0.0f)
                fprintf(file, " %zu:%.9g", (row.columns ? row.columns[e] : e) + 1, (double)row.values[e]);
        fputc('\n', file);
    }
    assert_int_equal(fclose(file), 0);
}

/* Compares our prediction with LIBLINEAR's, row by row, except for near ties. */
static void check_predictions(const uc_model *model, const uc_dataset *data, const char *model_path,
                              const char *data_path)
{
    char command[2048];
    const char *out = temporary_path("predicted");
    snprintf(command, sizeof command, "liblinear-predict %s %s %s >/dev/null", data_path, model_path, out);
    assert_int_equal(system(command), 0);
    FILE *file = fopen(out, "r");
    assert_non_null(file);
    const size_t K = uc_model_classes(model)->count;
    double *scores = malloc(data->X.rows * K * sizeof *scores);
    uint32_t *predicted = malloc(data->X.rows * sizeof *predicted);
    assert_ok(uc_model_scores(scores, model, &data->X, NULL));
    assert_ok(uc_model_predict(predicted, model, &data->X, NULL));
    size_t compared = 0;
    for (size_t i = 0; i < data->X.rows; i++) {
        char label[64];
        double best = scores[i * K + predicted[i]], second = -INFINITY;
        assert_int_equal(fscanf(file, "%63s", label), 1);
        for (size_t k = 0; k < K; k++)
            if (k != predicted[i])
                second = fmax(second, scores[i * K + k]);
        if (best - second <= 1e-6 * fmax(fabs(best), fabs(second)))
            continue;
        compared++;
        assert_string_equal(uc_model_classes(model)->text[predicted[i]], label);
    }
    assert_true(compared > data->X.rows * 9 / 10);
    fclose(file);
    free(scores);
    free(predicted);
}

static void liblinear_predicts_what_we_predict_with_models_that_we_export(void **state)
{
    (void)state;
    if (!has_liblinear())
        skip();
    const char *data_path = temporary_path("data.svm"), *model_path = temporary_path("ours.model");
    for (size_t classes = 2; classes <= 5; classes++)
        for (int scaling = UC_SCALE_NONE; scaling <= UC_SCALE_STANDARD; scaling++) {
            uc_dataset data = sample_data(300, 8, classes, false, classes);
            uc_train_settings train = uc_train_defaults();
            uc_model *model;
            train.scale = scaling;
            train.bias = classes % 2 ? 0.0 : 1.0;
            write_libsvm(data_path, &data);
            assert_ok(uc_train(&model, uc_learner_find("pa"), NULL, &train, &data, NULL));
            assert_ok(uc_model_export_liblinear(model, model_path));
            check_predictions(model, &data, model_path, data_path);
            uc_model_free(model);
            uc_dataset_free(&data);
        }
}

static void we_predict_what_liblinear_predicts_with_models_that_it_trains(void **state)
{
    (void)state;
    if (!has_liblinear())
        skip();
    const char *data_path = temporary_path("train.svm"), *model_path = temporary_path("theirs.model");
    for (size_t classes = 2; classes <= 4; classes += 2)
        for (int solver = 0; solver <= 7; solver++) {
            uc_dataset data = sample_data(200, 8, classes, solver % 2, 3);
            char command[2048];
            uc_model *model;
            write_libsvm(data_path, &data);
            snprintf(command, sizeof command, "liblinear-train -q -s %d -B %d %s %s >/dev/null 2>&1", solver,
                     solver % 3 ? 1 : -1, data_path, model_path);
            assert_int_equal(system(command), 0);
            assert_ok(uc_model_import_liblinear(&model, model_path));
            check_predictions(model, &data, model_path, data_path);
            uc_model_free(model);
            uc_dataset_free(&data);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_model_is_written_with_one_column_a_class),
        cmocka_unit_test(scaling_is_folded_into_the_weights),
        cmocka_unit_test(models_that_liblinear_cannot_express_are_refused),
        cmocka_unit_test(two_names_of_one_integer_are_refused),
        cmocka_unit_test(an_exported_model_imported_predicts_the_same),
        cmocka_unit_test(a_binary_model_has_one_vector_for_its_first_label),
        cmocka_unit_test(columns_follow_the_labels_when_they_are_sorted),
        cmocka_unit_test(texts_that_are_not_models_are_refused_with_their_line),
        cmocka_unit_test(damaged_texts_never_do_harm),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(liblinear_predicts_what_we_predict_with_models_that_we_export),
        cmocka_unit_test(we_predict_what_liblinear_predicts_with_models_that_it_trains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
