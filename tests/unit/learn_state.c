/* A learner's state in a model: the calls that write and read it, and that damage of any kind is refused. */
#include "tests/online_sample.h"

#include <stdlib.h>

#include "learn/state.h"

enum { ROWS = 60, COLS = 9, CLASSES = 5 };

static const char damaged[] = "the model's learner state does not fit its settings";

/* ---- counters and arrays ---- */

static void counters_come_back(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 1, UINT64_C(1) << 40, UINT64_C(1) << 53};
    uc_model_state model = {.counters = json_object()};
    uc_state writing = {.model = &model, .reading = false}, reading = {.model = &model, .reading = true};
    for (size_t i = 0; i < 4; i++) {
        uint64_t value = values[i], back = 77;
        assert_ok(uc_state_counter(&writing, "c", &value));
        assert_int_equal(value, values[i]);
        assert_ok(uc_state_counter(&reading, "c", &back));
        assert_int_equal(back, values[i]);
    }
    uint64_t kept = 77;
    assert_ok(uc_state_counter(&reading, "other", &kept)); /* older models lack it */
    assert_int_equal(kept, 77);
    json_object_set_new(model.counters, "c", json_integer(-1));
    assert_error(uc_state_counter(&reading, "c", &kept), UC_ERR_FORMAT, damaged);
    json_object_set_new(model.counters, "c", json_integer(((json_int_t)1 << 53) + 1));
    assert_error(uc_state_counter(&reading, "c", &kept), UC_ERR_FORMAT, damaged);
    json_object_set_new(model.counters, "c", json_real(1.0));
    assert_error(uc_state_counter(&reading, "c", &kept), UC_ERR_FORMAT, damaged);
    assert_int_equal(kept, 77);
    uc_model_state_free(&model);
}

static void arrays_come_back_of_their_type_and_length_only(void **state)
{
    (void)state;
    uc_model_state model = {.counters = json_object()};
    uc_state writing = {.model = &model, .reading = false}, reading = {.model = &model, .reading = true};
    double reals[3] = {1.0, -2.5, 3e300}, back[4] = {7.0, 7.0, 7.0, 7.0};
    float floats[2] = {1.0f, (float)NAN};
    assert_false(uc_state_has(&reading, "reals"));
    assert_ok(uc_state_array(&writing, "reals", UC_ARRAY_F64, reals, 3));
    assert_ok(uc_state_array(&writing, "empty", UC_ARRAY_U32, NULL, 0));
    assert_status(uc_state_array(&writing, "floats", UC_ARRAY_F32, floats, 2), UC_ERR_DIVERGED);
    assert_false(uc_state_has(&reading, "floats"));
    assert_ok(uc_model_state_add(&model, (uc_array){"floats", UC_ARRAY_F32, floats, 2}));
    assert_true(uc_state_has(&reading, "reals"));
    assert_error(uc_state_array(&reading, "reals", UC_ARRAY_F64, back, 4), UC_ERR_FORMAT, damaged);
    assert_error(uc_state_array(&reading, "reals", UC_ARRAY_F64, back, 2), UC_ERR_FORMAT, damaged);
    assert_error(uc_state_array(&reading, "reals", UC_ARRAY_U64, back, 3), UC_ERR_FORMAT, damaged);
    assert_error(uc_state_array(&reading, "reels", UC_ARRAY_F64, back, 3), UC_ERR_FORMAT, damaged);
    assert_error(uc_state_array(&reading, "floats", UC_ARRAY_F32, back, 2), UC_ERR_FORMAT, damaged);
    assert_true(back[0] == 7.0);
    assert_ok(uc_state_array(&reading, "reals", UC_ARRAY_F64, back, 3));
    assert_memory_equal(back, reals, sizeof reals);
    assert_true(back[3] == 7.0);
    assert_ok(uc_state_array(&reading, "empty", UC_ARRAY_U32, NULL, 0));
    uc_model_state_free(&model);
}

/* ---- whole learners ---- */

/* A model with state, after some rounds with averaging and a constant feature. */
static uc_model *some_model(const online_setup *setup, const uc_dataset *data)
{
    uc_online *online = online_begin(setup, &data->classes, NULL);
    for (size_t i = 0; i < ROWS; i++)
        online_round(online, data, i);
    uc_model *model;
    assert_ok(uc_online_model(&model, online, true));
    uc_online_free(online);
    return model;
}

static void check_refused(const uc_model *model)
{
    uc_online *online = NULL;
    const long live = uc_alloc_live();
    assert_error(uc_online_resume(&online, model), UC_ERR_FORMAT, damaged);
    assert_null(online);
    assert_int_equal(uc_alloc_live(), live);
}

static void check_not_finite(const uc_model *model, const uc_array *array, size_t i, double value)
{
    void *data = (void *)(uintptr_t)array->data;
    if (array->type == UC_ARRAY_F64) {
        double *at = (double *)data + i;
        const double before = *at;
        *at = value;
        check_refused(model);
        *at = before;
    } else if (array->type == UC_ARRAY_F32) {
        float *at = (float *)data + i;
        const float before = *at;
        *at = (float)value;
        check_refused(model);
        *at = before;
    }
}

/* Array i missing, of another type, one shorter, one longer, or with something that is not a number. */
static void damage_array(uc_model *model, size_t i)
{
    uc_array *array = &model->state.arrays[i];
    const uc_array before = *array;
    array->name = "state.unknown";
    check_refused(model);
    *array = before;
    array->type = before.type == UC_ARRAY_U8 ? UC_ARRAY_U32 : UC_ARRAY_U8;
    check_refused(model);
    *array = before;
    array->count++;
    void *longer = uc_alloc(array->count, uc_array_item_size(array->type));
    assert_non_null(longer);
    memcpy(longer, before.data, before.count * uc_array_item_size(before.type));
    array->data = longer;
    check_refused(model);
    uc_free(longer);
    *array = before;
    if (before.count == 0)
        return;
    array->count--;
    check_refused(model);
    *array = before;
    check_not_finite(model, array, 0, (double)NAN);
    check_not_finite(model, array, before.count - 1, (double)INFINITY);
    check_not_finite(model, array, before.count / 2, -(double)INFINITY);
}

static void every_array_that_is_damaged_is_refused(void **state)
{
    (void)state;
    online_setup setup;
    for (size_t s = 0; online_kind(&setup, s); s++)
        for (int sparse = 0; sparse < 2; sparse++) {
            uc_dataset data = sample_data(ROWS, COLS, CLASSES, sparse, 1);
            setup.train.average = sparse;
            setup.train.bias = 0.5;
            uc_model *model = some_model(&setup, &data);
            const size_t arrays = model->state.count;
            assert_true(arrays >= 1 + (size_t)sparse);
            for (size_t i = 0; i < arrays; i++)
                damage_array(model, i);
            uc_online *online; /* whole again */
            assert_ok(uc_online_resume(&online, model));
            uc_online_free(online);
            uc_model_free(model);
            uc_dataset_free(&data);
        }
}

/* An average that the settings do not ask for, or the other way round. */
static void arrays_that_do_not_belong_to_the_settings_are_refused(void **state)
{
    (void)state;
    online_setup setup;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 2);
    for (size_t s = 0; online_kind(&setup, s); s++) {
        setup.train.average = 0;
        uc_model *model = some_model(&setup, &data);
        const uc_array *weights = uc_model_state_find(&model->state, "state.weights");
        assert_non_null(weights);
        assert_ok(uc_model_state_add(
            &model->state, (uc_array){"state.average", UC_ARRAY_F64, weights->data, weights->count}));
        check_refused(model);
        uc_model_free(model);
        setup.train.average = 1;
        model = some_model(&setup, &data);
        json_object_set_new(model->settings, "average", json_false());
        check_refused(model);
        uc_model_free(model);
    }
    uc_dataset_free(&data);
}

static void counters_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const char *const counters[] = {"rounds", "updates", "proposals", "drawn"};
    online_setup setup;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 3);
    for (size_t s = 0; online_kind(&setup, s); s++) {
        uc_model *model = some_model(&setup, &data);
        json_t *object = model->state.counters, *counts = json_object_get(object, "label_counts");
        for (size_t c = 0; c < 4; c++) {
            json_t *before = json_incref(json_object_get(object, counters[c]));
            assert_non_null(before);
            json_object_set_new(object, counters[c], json_integer(-5));
            check_refused(model);
            json_object_set_new(object, counters[c], json_string("5"));
            check_refused(model);
            json_object_set_new(object, counters[c], before);
        }
        json_t *count = json_incref(json_array_get(counts, 2));
        json_array_set_new(counts, 2, json_integer(-1));
        check_refused(model);
        json_array_set_new(counts, 2, json_string("1"));
        check_refused(model);
        json_array_set_new(counts, 2, count);
        json_array_append_new(counts, json_integer(0));
        check_refused(model);
        json_object_set_new(object, "label_counts", json_integer(3));
        check_refused(model);
        json_object_del(object, "label_counts");
        check_refused(model);
        uc_model_free(model);
    }
    uc_dataset_free(&data);
}

/* Settings out of their bounds, another learner, no state at all. */
static void a_model_that_cannot_go_on_is_refused_with_a_sentence(void **state)
{
    (void)state;
    online_setup setup;
    uc_dataset data = sample_data(ROWS, COLS, CLASSES, false, 4);
    assert_true(online_kind(&setup, 15)); /* cspa-plus */
    uc_model *model = some_model(&setup, &data);
    uc_online *online = NULL;
    json_object_set_new(model->settings, "beta", json_real(-1.0));
    assert_true(uc_online_resume(&online, model) != UC_OK);
    json_object_set_new(model->settings, "beta", json_real(0.5));
    json_object_set_new(model->settings, "metric", json_string("none")); /* it has a second learner, too */
    check_refused(model);
    json_object_set_new(model->settings, "metric", json_string("diagonal"));
    check_refused(model);
    uc_model_free(model);
    assert_true(online_kind(&setup, 10)); /* cspa */
    uc_online *whole = online_begin(&setup, &data.classes, NULL);
    assert_ok(uc_online_model(&model, whole, false));
    online = NULL;
    assert_error(uc_online_resume(&online, model), UC_ERR_INVALID,
                 "the model holds no learner's state to go on from: save it with `unconfuse stream`");
    assert_null(online);
    uc_model_free(model);
    uc_online_free(whole);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_come_back),
        cmocka_unit_test(arrays_come_back_of_their_type_and_length_only),
        cmocka_unit_test(every_array_that_is_damaged_is_refused),
        cmocka_unit_test(arrays_that_do_not_belong_to_the_settings_are_refused),
        cmocka_unit_test(counters_that_make_no_sense_are_refused),
        cmocka_unit_test(a_model_that_cannot_go_on_is_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
