/* Model files whose headers lie, with a checksum that is right. */
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

static const char magic[8] = {'\x89', 'U', 'C', 'M', 'O', 'D', 'E', 'L'};

typedef struct lie {
    const char *header; /* without arrays */
    const char *names;
    size_t names_length;
    size_t weights; /* how many */
    double weight;  /* the value of all of them */
    bool shift, factor, state_weights;
} lie;

#define HEADER(learner, classes, features, bias, scale, more)                                                \
    "{\"library\":\"0.1.0\",\"learner\":" learner ",\"settings\":{},\"summary\":{},\"class_count\":" classes \
    ",\"features\":" features ",\"bias\":" bias ",\"steps\":{\"scale\":" scale                               \
    ",\"normalize_input\":false,\"normalize\":false},\"map\":\"none\"" more "}"

static uc_status load_lie(uc_model **out, lie spoilt)
{
    double values[64];
    uc_array arrays[5];
    size_t count = 0, length;
    for (size_t i = 0; i < 64; i++)
        values[i] = spoilt.weight;
    if (spoilt.names)
        arrays[count++] = (uc_array){"classes", UC_ARRAY_U8, spoilt.names, spoilt.names_length};
    arrays[count++] = (uc_array){"weights", UC_ARRAY_F64, values, spoilt.weights};
    if (spoilt.shift)
        arrays[count++] = (uc_array){"shift", UC_ARRAY_F64, values, 2};
    if (spoilt.factor)
        arrays[count++] = (uc_array){"factor", UC_ARRAY_F64, values, 2};
    if (spoilt.state_weights)
        arrays[count++] = (uc_array){"state.weights", UC_ARRAY_F64, values, spoilt.weights};
    json_t *header = json_loads(spoilt.header, 0, NULL);
    assert_non_null(header);
    const char *path = temporary_path("lie.uc");
    assert_ok(write_container(path, magic, 1, header, arrays, count));
    json_decref(header);
    char *bytes = read_file(path, &length);
    const long live = uc_alloc_live();
    const uc_status status = uc_model_load_memory(out, bytes, length, "lie.uc");
    if (status != UC_OK)
        assert_int_equal(uc_alloc_live(), live);
    free(bytes);
    return status;
}

static const lie truth = {
    HEADER("\"spa\"", "2", "2", "1.5", "\"none\"", ""), "a\0b", 4, 6, 0.5, false, false, false};

static void the_file_that_the_next_tests_spoil_is_good(void **state)
{
    (void)state;
    uc_model *model;
    assert_ok(load_lie(&model, truth));
    assert_int_equal(model->features, 2);
    assert_true(model->bias == 1.5);
    assert_true(uc_model_weight(model, 1, 1) == 0.5);
    assert_true(uc_model_offset(model, 0) == 0.75);
    uc_model_free(model);
}

static void sizes_that_do_not_fit_are_refused_before_memory_is_asked_for(void **state)
{
    (void)state;
    static const char *const headers[] = {
        HEADER("\"spa\"", "2", "9000000000000000", "0", "\"none\"", ""),
        HEADER("\"spa\"", "9000000000000000", "2", "0", "\"none\"", ""),
        HEADER("\"spa\"", "4294967296", "4294967296", "0", "\"none\"", ""),
        HEADER("\"spa\"", "9223372036854775807", "9223372036854775807", "0", "\"none\"", ""),
        HEADER("\"spa\"", "2", "40", "0", "\"none\"",
               ""), /* 82 weights do not fit the bytes that there are */
        HEADER("\"spa\"", "2", "-1", "0", "\"none\"", ""),
        HEADER("\"spa\"", "0", "2", "0", "\"none\"", ""),
        HEADER("\"spa\"", "-2", "2", "0", "\"none\"", ""),
        HEADER("7", "2", "2", "0", "\"none\"", ""),
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        uc_model *model = NULL;
        lie spoilt = truth;
        spoilt.header = headers[i];
        assert_error(load_lie(&model, spoilt), UC_ERR_FORMAT,
                     "lie.uc: damaged: its header does not fit its length");
        assert_null(model);
    }
    /* sizes that a file of this length could have, but not this file */
    uc_model *model = NULL;
    lie spoilt = truth;
    spoilt.header = HEADER("\"spa\"", "2", "3", "0", "\"none\"", "");
    assert_error_has(load_lie(&model, spoilt), UC_ERR_FORMAT,
                     "it has no array 'weights' of 8 numbers of type f64");
    spoilt.header = HEADER("\"spa\"", "3", "2", "0", "\"none\"", "");
    assert_error_has(load_lie(&model, spoilt), UC_ERR_FORMAT,
                     "it does not have as many class names as it says");
}

static void class_names_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    uc_model *model = NULL;
    lie spoilt = truth;
    spoilt.names = "a\0bc";
    assert_error_has(load_lie(&model, spoilt), UC_ERR_FORMAT, "a class name does not end");
    spoilt.names = "a\0a";
    assert_error_has(load_lie(&model, spoilt), UC_ERR_FORMAT,
                     "it does not have as many class names as it says");
    spoilt.names = "a\0b\0c";
    spoilt.names_length = 6;
    assert_error_has(load_lie(&model, spoilt), UC_ERR_FORMAT,
                     "it does not have as many class names as it says");
    spoilt.names_length = 0;
    assert_error_has(load_lie(&model, spoilt), UC_ERR_FORMAT, "its class names are missing");
    spoilt.names = NULL;
    assert_status(load_lie(&model, spoilt), UC_ERR_FORMAT);
    assert_null(model);
}

static void values_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    uc_model *model = NULL;
    lie spoilt = truth;
    spoilt.weight = NAN;
    assert_error(load_lie(&model, spoilt), UC_ERR_FORMAT,
                 "lie.uc: damaged: array 'weights' holds a value that is not finite");
    spoilt.weight = -INFINITY;
    assert_status(load_lie(&model, spoilt), UC_ERR_FORMAT);
    spoilt.weight = DBL_MAX;
    assert_ok(load_lie(&model, spoilt));
    uc_model_free(model);
}

static void scaling_that_is_incomplete_is_refused(void **state)
{
    (void)state;
    static const char *const scales[] = {HEADER("\"spa\"", "2", "2", "0", "\"none\"", ""),
                                         HEADER("\"spa\"", "2", "2", "0", "\"range\"", ""),
                                         HEADER("\"spa\"", "2", "2", "0", "\"standard\"", ""),
                                         HEADER("\"spa\"", "2", "2", "0", "\"maxabs\"", "")};
    for (int scale = 0; scale < 4; scale++)
        for (int arrays = 0; arrays < 4; arrays++) {
            uc_model *model = NULL;
            lie spoilt = truth;
            spoilt.header = scales[scale];
            spoilt.shift = arrays & 1;
            spoilt.factor = arrays & 2;
            const int needed = scale == 0 ? 0 : scale == 3 ? 2 : 3;
            if (arrays == needed) {
                assert_ok(load_lie(&model, spoilt));
                uc_model_free(model);
            } else {
                assert_error(load_lie(&model, spoilt), UC_ERR_FORMAT,
                             "lie.uc: damaged: its scaling is incomplete");
            }
        }
    uc_model *model = NULL;
    lie spoilt = truth;
    spoilt.header = HEADER("\"spa\"", "2", "2", "0", "\"logarithm\"", "");
    assert_error(load_lie(&model, spoilt), UC_ERR_FORMAT,
                 "lie.uc: damaged: its header names an unknown scaling");
    spoilt.header = HEADER("\"spa\"", "2", "2", "0", "7", "");
    assert_error_has(load_lie(&model, spoilt), UC_ERR_FORMAT,
                     "its header does not say how rows are prepared");
}

/* A map that this version does not know must not be skipped in silence: the scores would be wrong. */
static void a_map_that_is_not_known_is_refused(void **state)
{
    (void)state;
    uc_model *model = NULL;
    lie spoilt = truth;
    spoilt.header =
        "{\"library\":\"0.1.0\",\"learner\":\"spa\",\"settings\":{},\"summary\":{},\"class_count\":"
        "2,\"features\":2,"
        "\"bias\":0,\"steps\":{\"scale\":\"none\",\"normalize_input\":false,\"normalize\":false},"
        "\"map\":\"kpca\"}";
    assert_status(load_lie(&model, spoilt), UC_ERR_FORMAT);
}

static void a_state_that_does_not_fit_cannot_be_resumed(void **state)
{
    (void)state;
    uc_model *model = NULL;
    uc_online *online = NULL;
    lie spoilt = truth;
    spoilt.header =
        HEADER("\"spa\"", "2", "2", "0", "\"none\"", ",\"state\":{\"rounds\":3,\"label_counts\":[1]}");
    assert_ok(load_lie(&model, spoilt)); /* it predicts */
    assert_error(uc_online_resume(&online, model), UC_ERR_FORMAT,
                 "the model's learner state does not fit its settings");
    uc_model_free(model);
    spoilt.state_weights = true;
    assert_ok(load_lie(&model, spoilt));
    assert_error(uc_online_resume(&online, model), UC_ERR_FORMAT,
                 "the model's learner state does not fit its settings");
    uc_model_free(model);
    spoilt.header = HEADER("\"unheard of\"", "2", "2", "0", "\"none\"",
                           ",\"state\":{\"rounds\":3,\"label_counts\":[1,2]}");
    assert_ok(load_lie(&model, spoilt));
    assert_error_has(uc_online_resume(&online, model), UC_ERR_FORMAT, "there is no learner 'unheard of'");
    uc_model_free(model);
    spoilt = truth;
    assert_ok(load_lie(&model, spoilt));
    assert_error_has(uc_online_resume(&online, model), UC_ERR_INVALID, "the model holds no learner's state");
    uc_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_that_the_next_tests_spoil_is_good),
        cmocka_unit_test(sizes_that_do_not_fit_are_refused_before_memory_is_asked_for),
        cmocka_unit_test(class_names_that_do_not_fit_are_refused),
        cmocka_unit_test(values_that_are_not_finite_are_refused),
        cmocka_unit_test(scaling_that_is_incomplete_is_refused),
        cmocka_unit_test(a_map_that_is_not_known_is_refused),
        cmocka_unit_test(a_state_that_does_not_fit_cannot_be_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
