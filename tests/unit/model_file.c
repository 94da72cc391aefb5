/* The model file: everything comes back, the same bytes twice, and nothing damaged gets in. */
#define _GNU_SOURCE
#include "tests/sample.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/files.h"
#include "train/online.h"
#include "model/model.h"
#include "unconfuse/learn.h"

/* Spaces, quotes, a backslash, UTF-8, bytes that are not UTF-8, and no bytes at all. */
static const char *const difficult_names[] = {
    "a class", "\"quoted\"", "back\\slash", "\xe2\x82\xac", "\xc3\xa9t\xc3\xa9", "\xff\xfe", "", "007"};
enum { CLASSES = 8, FEATURES = 3 };

/* A model with everything: scaling, a bias, averaging, a learner's state. */
static uc_model *full_model(uc_scaling scaling)
{
    uc_dataset data = sample_data(60, FEATURES, CLASSES, false, 1);
    uc_names names = sample_names(difficult_names, CLASSES);
    uc_preprocessing preprocessing;
    uc_online *online;
    uc_model *model;
    uc_train_settings train = uc_train_defaults();
    train.bias = 0.1;
    train.seed = 123456789012345;
    train.normalize = 1;
    train.scale = (int)scaling;
    const uc_pa_settings settings = {
        .variant = 2, .cost = 1.0 / 3.0, .class_weight = UC_CLASS_WEIGHT_BALANCED};
    assert_ok(learn_scaling(&preprocessing, scaling, &data.X));
    assert_ok(uc_online_begin(&online, uc_learner_find("spa"), &settings, &train, &names, &preprocessing));
    for (size_t i = 0; i < 60; i++) {
        const uc_row row = uc_matrix_row(&data.X, i);
        uc_proposal proposal;
        assert_ok(uc_online_propose(&proposal, online, &row));
        assert_ok(uc_online_learn(online, &row, &proposal, (uc_answer){UC_ANSWER_LABEL, data.y[i]}));
    }
    assert_ok(uc_online_model(&model, online, true));
    uc_online_free(online);
    uc_preprocessing_free(&preprocessing);
    uc_names_free(&names);
    uc_dataset_free(&data);
    return model;
}

static void check_same_reals(const double *a, const double *b, size_t count)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a && count)
        assert_memory_equal(a, b, count * sizeof *a);
}

static void check_same_model(const uc_model *a, const uc_model *b)
{
    assert_int_equal(a->classes.count, b->classes.count);
    for (size_t k = 0; k < a->classes.count; k++)
        assert_string_equal(a->classes.text[k], b->classes.text[k]);
    assert_int_equal(a->features, b->features);
    assert_int_equal(a->stride, b->stride);
    assert_true(a->bias == b->bias);
    const size_t count = (a->features + 1) * a->stride;
    check_same_reals(a->weights, b->weights, count);
    assert_int_equal(a->state.count, b->state.count);
    for (size_t i = 0; i < a->state.count; i++) {
        const uc_array *x = &a->state.arrays[i], *y = &b->state.arrays[i];
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->type, y->type);
        assert_int_equal(x->count, y->count);
        assert_memory_equal(x->data, y->data, x->count * uc_array_item_size(x->type));
    }
    assert_int_equal(a->preprocessing.scaling, b->preprocessing.scaling);
    assert_int_equal(a->preprocessing.cols, b->preprocessing.cols);
    assert_int_equal(a->preprocessing.normalize, b->preprocessing.normalize);
    assert_int_equal(a->preprocessing.normalize_input, b->preprocessing.normalize_input);
    check_same_reals(a->preprocessing.shift, b->preprocessing.shift, a->features);
    check_same_reals(a->preprocessing.factor, b->preprocessing.factor, a->features);
    assert_string_equal(a->learner, b->learner);
    assert_true(json_equal(a->settings, b->settings));
    assert_true(json_equal(a->summary, b->summary));
    assert_int_equal(a->state.counters == NULL, b->state.counters == NULL);
    if (a->state.counters)
        assert_true(json_equal(a->state.counters, b->state.counters));
}

/* The bytes of a saved model in a block of exactly their length; the caller frees it. */
static unsigned char *saved(const uc_model *model, size_t *length)
{
    const char *path = temporary_path("saved.uc");
    assert_ok(uc_model_save(model, path));
    char *content = read_file(path, length);
    unsigned char *exact = malloc(*length);
    assert_non_null(exact);
    memcpy(exact, content, *length);
    free(content);
    return exact;
}

static void a_model_comes_back_in_every_field(void **state)
{
    (void)state;
    const char *path = temporary_path("model.uc");
    for (int scaling = UC_SCALE_NONE; scaling <= UC_SCALE_NUMBERS; scaling++) {
        uc_model *model = full_model((uc_scaling)scaling), *back;
        assert_non_null(model->state.counters);
        assert_non_null(uc_model_state_find(&model->state, "state.average"));
        assert_ok(uc_model_save(model, path));
        assert_ok(uc_model_load(&back, path));
        check_same_model(model, back);
        assert_int_equal(back->format_version, 1);
        size_t length;
        unsigned char *bytes = saved(model, &length);
        uint32_t sum;
        memcpy(&sum, bytes + length - 8, sizeof sum);
        assert_int_equal(back->checksum, sum);
        uc_model_free(back);
        assert_true(uc_model_recognise(bytes, length));
        assert_ok(uc_model_load_memory(&back, bytes, length, "memory"));
        check_same_model(model, back);
        uc_model_free(back);
        uc_model_free(model);
        free(bytes);
    }
}

static void a_model_without_state_or_features_comes_back(void **state)
{
    (void)state;
    static const char *const names[] = {"no", "yes"};
    uc_names classes = sample_names(names, 2);
    for (size_t features = 0; features < 3; features++) {
        uc_model *model, *back;
        const char *path = temporary_path("plain.uc");
        assert_ok(uc_model_create(&model, &classes, features, features, "spa"));
        model->bias = 1.0;
        model->weights[0] = -0.0;
        model->weights[1] = 5e-324;
        assert_ok(uc_model_save(model, path));
        assert_ok(uc_model_load(&back, path));
        model->preprocessing.cols = features;
        check_same_model(model, back);
        assert_null(back->state.counters);
        uc_model_free(model);
        uc_model_free(back);
    }
    uc_names_free(&classes);
}

static void saving_twice_gives_the_same_bytes(void **state)
{
    (void)state;
    uc_model *model = full_model(UC_SCALE_STANDARD), *same = full_model(UC_SCALE_STANDARD), *back;
    size_t a, b, c;
    unsigned char *first = saved(model, &a), *second = saved(same, &b);
    assert_int_equal(a, b);
    assert_memory_equal(first, second, a);
    assert_ok(uc_model_load_memory(&back, first, a, "memory"));
    unsigned char *third = saved(back, &c); /* also after a round trip */
    assert_int_equal(a, c);
    assert_memory_equal(first, third, a);
    uc_model_free(model);
    uc_model_free(same);
    uc_model_free(back);
    free(first);
    free(second);
    free(third);
}

static void every_flipped_byte_is_refused(void **state)
{
    (void)state;
    uc_model *model = full_model(UC_SCALE_RANGE);
    size_t length;
    unsigned char *bytes = saved(model, &length);
    uc_model_free(model);
    const long live = uc_alloc_live();
    for (size_t i = 0; i < length; i++) {
        static const unsigned char flips[] = {0x01, 0x80, 0xff, 0x20};
        for (size_t f = 0; f < 4; f++) {
            uc_model *back = NULL;
            bytes[i] ^= flips[f];
            assert_status(uc_model_load_memory(&back, bytes, length, "model.uc"), UC_ERR_FORMAT);
            assert_int_equal(strncmp(uc_last_error(), "model.uc: ", 10), 0);
            assert_null(back);
            bytes[i] ^= flips[f];
        }
    }
    assert_int_equal(uc_alloc_live(), live);
    free(bytes);
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    uc_model *model = full_model(UC_SCALE_RANGE);
    size_t length;
    unsigned char *bytes = saved(model, &length);
    uc_model_free(model);
    const long live = uc_alloc_live();
    const char *path = temporary_path("cut.uc");
    for (size_t cut = 0; cut < length; cut++) {
        uc_model *back = NULL;
        unsigned char *part = malloc(cut ? cut : 1);
        memcpy(part, bytes, cut);
        assert_status(uc_model_load_memory(&back, part, cut, "model.uc"), UC_ERR_FORMAT);
        assert_int_equal(uc_model_recognise(part, cut), cut >= 8);
        free(part);
        if (cut % 16 == 0) {
            write_bytes(path, bytes, cut);
            assert_status(uc_model_load(&back, path), UC_ERR_FORMAT);
        }
        assert_null(back);
    }
    assert_int_equal(uc_alloc_live(), live);
    free(bytes);
}

static void bytes_after_the_end_are_refused(void **state)
{
    (void)state;
    uc_model *model = full_model(UC_SCALE_NONE), *back = NULL;
    size_t length;
    unsigned char *bytes = saved(model, &length), *longer = calloc(1, length + 64);
    memcpy(longer, bytes, length);
    for (size_t more = 1; more <= 64; more++)
        assert_status(uc_model_load_memory(&back, longer, length + more, "model.uc"), UC_ERR_FORMAT);
    uc_model_free(model);
    free(bytes);
    free(longer);
}

static void seal(unsigned char *bytes, size_t length)
{
    const uint32_t sum = (uint32_t)crc32_z(0, bytes, length - 8);
    memcpy(bytes + length - 8, &sum, sizeof sum);
}

static void a_newer_version_is_refused_with_a_sentence(void **state)
{
    (void)state;
    uc_model *model = full_model(UC_SCALE_NONE), *back = NULL;
    size_t length;
    unsigned char *bytes = saved(model, &length);
    bytes[8] = 3;
    seal(bytes, length);
    assert_error(uc_model_load_memory(&back, bytes, length, "model.uc"), UC_ERR_FORMAT,
                 "model.uc: format version 3, but this program reads versions 1 to 2");
    assert_error(uc_model_load_memory(&back, "1 2:3\n", 6, "data.svm"), UC_ERR_FORMAT,
                 "data.svm: not a model file of unconfuse");
    uc_model_free(model);
    free(bytes);
}

/* Mappings and buffers of programs that embed the library need not begin at a multiple of 8. */
static void a_model_loads_from_bytes_at_any_address(void **state)
{
    (void)state;
    uc_model *model = full_model(UC_SCALE_STANDARD), *back;
    size_t length;
    unsigned char *bytes = saved(model, &length), *moved = malloc(length + 16);
    for (size_t shift = 0; shift < 9; shift++) {
        memcpy(moved + shift, bytes, length);
        assert_ok(uc_model_load_memory(&back, moved + shift, length, "memory"));
        check_same_model(model, back);
        uc_model_free(back);
    }
    uc_model_free(model);
    free(bytes);
    free(moved);
}

/* ---- files ---- */

static void a_model_that_cannot_be_written_or_read_is_named(void **state)
{
    (void)state;
    uc_model *model = full_model(UC_SCALE_NONE), *back = NULL;
    const size_t files = temporary_count();
    assert_error_has(uc_model_save(model, temporary_path("nowhere/model.uc")), UC_ERR_IO,
                     "nowhere/model.uc: cannot write");
    if (access("/dev/full", W_OK) == 0)
        assert_status(uc_model_save(model, "/dev/full"), UC_ERR_IO);
    assert_int_equal(temporary_count(), files);
    assert_error_has(uc_model_load(&back, temporary_path("missing.uc")), UC_ERR_IO,
                     "missing.uc: cannot read");
    uc_model_free(model);
    uc_model_free(NULL);
}

/* ---- inspecting ---- */

static void a_description_is_json_and_complete(void **state)
{
    (void)state;
    uc_model *model = full_model(UC_SCALE_STANDARD), *back;
    size_t length;
    unsigned char *bytes = saved(model, &length);
    assert_ok(uc_model_load_memory(&back, bytes, length, "memory"));
    char *text;
    assert_ok(uc_model_describe(&text, back));
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    const char *learner, *scale, *map, *checksum;
    int features, version, normalize, resumable;
    double bias;
    assert_int_equal(json_unpack(object, "{s:s, s:i, s:i, s:f, s:{s:s, s:b}, s:s, s:s, s:b}", "learner",
                                 &learner, "features", &features, "format_version", &version, "bias", &bias,
                                 "steps", "scale", &scale, "normalize", &normalize, "map", &map, "checksum",
                                 &checksum, "resumable", &resumable),
                     0);
    assert_string_equal(learner, "spa");
    assert_string_equal(scale, "standard");
    assert_string_equal(map, "none");
    assert_true(features == FEATURES && version == 1 && bias == 0.1 && normalize && resumable);
    char expected[16];
    uint32_t sum;
    memcpy(&sum, bytes + length - 8, sizeof sum);
    snprintf(expected, sizeof expected, "%08x", sum);
    assert_string_equal(checksum, expected);
    assert_true(json_equal(json_object_get(object, "settings"), model->settings));
    assert_true(json_equal(json_object_get(object, "summary"), model->summary));
    const json_t *classes = json_object_get(object, "classes");
    assert_int_equal(json_array_size(classes), CLASSES);
    for (size_t k = 0; k < CLASSES; k++) /* bytes that are not UTF-8 cannot be JSON */
        assert_string_equal(json_string_value(json_array_get(classes, k)),
                            k == 5 ? "\xEF\xBF\xBD\xEF\xBF\xBD" : difficult_names[k]);
    const json_t *norms = json_object_get(object, "weight_norms");
    for (size_t k = 0; k < CLASSES; k++) {
        double squares = 0.0;
        for (size_t j = 0; j < FEATURES; j++)
            squares += pow(uc_model_weight(model, j, k), 2.0);
        assert_near_relative(json_real_value(json_array_get(norms, k)), sqrt(squares), 1e-12);
    }
    json_decref(object);
    uc_model_text_free(text);
    uc_model_free(model);
    uc_model_free(back);
    free(bytes);
}

static void a_summary_has_typed_values_and_no_map(void **state)
{
    (void)state;
    uc_model *model = full_model(UC_SCALE_STANDARD);
    uc_model_summary summary;
    assert_ok(uc_model_summarize(&summary, model));
    assert_int_equal(summary.settings.count, json_object_size(model->settings));
    assert_int_equal(summary.found.count, json_object_size(model->summary));
    const char *name;
    json_t *json;
    json_object_foreach(model->settings, name, json)
    {
        const uc_value *value = uc_values_find(&summary.settings, name);
        assert_non_null(value);
        if (json_is_boolean(json))
            assert_true(value->kind == UC_VALUE_FLAG && value->flag == json_is_true(json));
        else if (json_is_integer(json))
            assert_true(value->kind == UC_VALUE_COUNT && value->count == json_integer_value(json));
        else if (json_is_real(json))
            assert_true(value->kind == UC_VALUE_REAL && value->real == json_real_value(json));
        else
            assert_string_equal(value->text, json_string_value(json));
    }
    assert_string_equal(uc_values_find(&summary.all, "learner")->text, "spa");
    assert_int_equal(uc_values_find(&summary.all, "classes")->members->count, CLASSES);
    assert_null(uc_values_find(&summary.settings, "no such setting"));
    assert_true(isnan(uc_values_number(&summary.found, "no such number")));
    assert_string_equal(summary.scale, "standard");
    assert_string_equal(summary.map.kind, "none");
    assert_true(!summary.map.kernel && !summary.map.eigenvalues && summary.map.dimension == 0);
    assert_true(summary.bias == 0.1 && summary.normalize && summary.resumable && summary.checksum == 0);
    assert_int_equal(summary.classes->count, CLASSES);
    uc_model_summary_free(&summary);
    uc_model_summary_free(&summary); /* empty is fine */
    uc_model_free(model);
}

static void settings_come_back_from_json(void **state)
{
    (void)state;
    uc_train_settings train = uc_train_defaults(), back = uc_train_defaults();
    train.passes = 1000000000;
    train.shuffle = 0;
    train.average = UC_AUTO_FLAG;
    train.scale = UC_SCALE_MAXABS;
    train.normalize_input = 1;
    train.normalize = 1;
    train.bias = 0.1;
    train.seed = INT64_C(1) << 53;
    json_t *object = json_object();
    assert_ok(uc_settings_to_json(object, uc_train_options, &train));
    assert_ok(uc_settings_from_json(&back, uc_train_options, object));
    assert_memory_equal(&back, &train, sizeof train);
    train.bias = UC_AUTO_REAL;
    assert_ok(uc_settings_to_json(object, uc_train_options, &train));
    assert_ok(uc_settings_from_json(&back, uc_train_options, object));
    assert_true(isnan(back.bias));
    json_object_set_new(object, "passes", json_string("many"));
    assert_error_has(uc_settings_from_json(&back, uc_train_options, object), UC_ERR_OPTION, "{passes=many}");
    json_decref(object);
}

/* ---- memory ---- */

static uc_status train_save_load_predict(uint32_t *predicted, uc_dataset *data, const char *path)
{
    uc_model *model = NULL, *back = NULL;
    char *text = NULL;
    uc_train_settings train = uc_train_defaults();
    train.scale = UC_SCALE_STANDARD;
    train.normalize = 1;
    const uc_context context = {.threads = 1};
    uc_status status = uc_train(&model, uc_learner_find("spa"), NULL, &train, data, &context);
    if (status == UC_OK)
        status = uc_model_save(model, path);
    if (status == UC_OK)
        status = uc_model_load(&back, path);
    if (status == UC_OK)
        status = uc_model_describe(&text, back);
    if (status == UC_OK)
        status = uc_model_predict(predicted, back, &data->X, &context);
    uc_model_text_free(text);
    uc_model_free(back);
    uc_model_free(model);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_dataset data = sample_data(30, 5, 3, false, 1);
    uint32_t predicted[30], expected[30];
    const char *path = temporary_path("failing.uc");
    assert_ok(train_save_load_predict(expected, &data, path));
    assert_int_equal(unlink(path), 0);
    const size_t files = temporary_count();
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, train_save_load_predict(predicted, &data, path));
    assert_int_equal(temporary_count(), files + 1); /* no temporary file stays */
    assert_memory_equal(predicted, expected, sizeof expected);
    assert_int_equal(unlink(path), 0);
    uc_dataset_free(&data);
}

static uc_status save_load_resume(uc_model *model, const char *path)
{
    uc_model *back = NULL, *again = NULL;
    uc_online *online = NULL;
    uc_status status = uc_model_save(model, path);
    if (status == UC_OK)
        status = uc_model_load(&back, path);
    if (status == UC_OK)
        status = uc_online_resume(&online, back);
    if (status == UC_OK)
        status = uc_online_model(&again, online, true);
    uc_model_free(again);
    uc_online_free(online);
    uc_model_free(back);
    return status;
}

static void every_allocation_of_a_state_may_fail(void **state)
{
    (void)state;
    uc_model *model = full_model(UC_SCALE_RANGE);
    const char *path = temporary_path("state.uc");
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, save_load_resume(model, path));
    uc_model_free(model);
}

/* They would break the lines of predictions, or be obeyed by a terminal. */
static void class_names_with_control_characters_are_refused(void **state)
{
    (void)state;
    const char *path = temporary_path("control.uc");
    uc_model *model = full_model(UC_SCALE_RANGE), *back = NULL;
    assert_ok(uc_model_save(model, path));
    size_t length;
    char *bytes = read_file(path, &length), *name = memmem(bytes, length, "a class", 8);
    assert_non_null(name);
    name[1] = '\033';
    const uint32_t sum = (uint32_t)crc32_z(0, (unsigned char *)bytes, length - 8);
    memcpy(bytes + length - 8, &sum, sizeof sum);
    assert_error(uc_model_load_memory(&back, bytes, length, "m"), UC_ERR_FORMAT,
                 "m: damaged: a class name has control characters");
    memcpy(model->classes.text[0], "a\nb", 4);
    assert_error(uc_model_save(model, path), UC_ERR_INVALID,
                 "the class 'a\\x0ab' has control characters: its model cannot be saved");
    free(bytes);
    uc_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(class_names_with_control_characters_are_refused),
        cmocka_unit_test(a_model_comes_back_in_every_field),
        cmocka_unit_test(a_model_without_state_or_features_comes_back),
        cmocka_unit_test(saving_twice_gives_the_same_bytes),
        cmocka_unit_test(every_flipped_byte_is_refused),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(bytes_after_the_end_are_refused),
        cmocka_unit_test(a_newer_version_is_refused_with_a_sentence),
        cmocka_unit_test(a_model_that_cannot_be_written_or_read_is_named),
        cmocka_unit_test(a_description_is_json_and_complete),
        cmocka_unit_test(a_summary_has_typed_values_and_no_map),
        cmocka_unit_test(settings_come_back_from_json),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_allocation_of_a_state_may_fail),
        cmocka_unit_test(a_model_loads_from_bytes_at_any_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
