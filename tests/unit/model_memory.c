/* Models and maps as bytes in memory: those of the file, back again, and nothing damaged gets in. */
#include "tests/map_sample.h"

#include <math.h>
#include <stdlib.h>

#include "model/model.h"
#include "tests/sample.h"
#include "unconfuse/learn.h"

static uc_model *trained(const char *learner, const uc_train_settings *train)
{
    uc_dataset data = sample_data(60, 5, 3, false, 1);
    uc_model *model = NULL;
    assert_ok(uc_train(&model, uc_learner_find(learner), NULL, train, &data, NULL));
    uc_dataset_free(&data);
    return model;
}

static void the_bytes_in_memory_are_those_of_the_file(void **state)
{
    (void)state;
    uc_train_settings train = uc_train_defaults();
    train.scale = UC_SCALE_STANDARD;
    uc_model *model = trained("spa", &train), *back;
    const char *path = temporary_path("model.uc");
    void *bytes;
    size_t length, file_length;
    assert_ok(uc_model_save(model, path));
    assert_ok(uc_model_save_memory(&bytes, &length, model));
    char *content = read_file(path, &file_length);
    assert_int_equal(length, file_length);
    assert_memory_equal(bytes, content, length);
    assert_ok(uc_model_load_memory(&back, bytes, length, "memory"));
    assert_int_equal(uc_model_dimension(back), 5);
    assert_null(uc_model_noise(back));
    free(content);
    uc_model_memory_free(bytes);
    uc_model_memory_free(NULL);
    uc_model_free(back);
    uc_model_free(model);
}

static void the_noise_of_the_training_comes_back(void **state)
{
    (void)state;
    uc_noise noise;
    assert_ok(uc_noise_uniform(&noise, 3, 0.25));
    uc_train_settings train = uc_train_defaults();
    train.noise = &noise;
    uc_model *model = trained("logistic", &train);
    assert_true(uc_model_has_probabilities(model));
    assert_memory_equal(uc_model_noise(model), noise.values, 9 * sizeof(double));
    uc_model_free(model);
    uc_noise_free(&noise);
}

static uc_status save_and_load(const uc_model *model)
{
    void *bytes = NULL;
    size_t length;
    uc_model *back = NULL;
    uc_status status = uc_model_save_memory(&bytes, &length, model);
    if (status == UC_OK)
        status = uc_model_load_memory(&back, bytes, length, "memory");
    uc_model_free(back);
    uc_model_memory_free(bytes);
    return status;
}

static uc_status map_save_and_load(const uc_map *map)
{
    void *bytes = NULL;
    size_t length;
    uc_map *back = NULL;
    uc_status status = uc_map_save_memory(&bytes, &length, map);
    if (status == UC_OK)
        status = uc_map_load_memory(&back, bytes, length, "memory");
    uc_map_free(back);
    uc_model_memory_free(bytes);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(40, 5, 6);
    const uc_map_settings settings = map_settings(UC_MAP_KGS, UC_KERNEL_GAUSSIAN, 1.0, 8);
    uc_map *map = fitted(&settings, &X);
    uc_model *model = trained("spa", NULL);
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, save_and_load(model));
    FOR_EACH_FAILING_ALLOCATION(status, map_save_and_load(map));
    uc_model_free(model);
    uc_map_free(map);
    uc_matrix_free(&X);
}

static void a_map_comes_back_and_maps_alike(void **state)
{
    (void)state;
    static const uc_map_kind kinds[] = {UC_MAP_KPCA,     UC_MAP_KGS, UC_MAP_RANDOM,
                                        UC_MAP_NYSTROEM, UC_MAP_JL,  UC_MAP_LANDMARKS};
    uc_matrix X = sample_rows(60, 5, 6);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const uc_map_settings settings = map_settings(kinds[k], UC_KERNEL_GAUSSIAN, 1.0, 10);
        uc_map *map = fitted(&settings, &X), *back;
        void *bytes;
        size_t length;
        assert_ok(uc_map_save_memory(&bytes, &length, map));
        char *shifted = malloc(length + 1); /* loads from any address */
        memcpy(shifted + 1, bytes, length);
        assert_ok(uc_map_load_memory(&back, shifted + 1, length, "memory"));
        assert_int_equal(back->kind, kinds[k]);
        uc_matrix a = mapped(map, &X), b = mapped(back, &X);
        assert_memory_equal(a.values, b.values, 60 * a.stride * sizeof(float));
        free(shifted);
        uc_model_memory_free(bytes);
        uc_matrix_free(&a);
        uc_matrix_free(&b);
        uc_map_free(back);
        uc_map_free(map);
    }
    uc_matrix_free(&X);
}

static void every_flipped_byte_of_a_map_is_refused(void **state)
{
    (void)state;
    uc_matrix X = sample_rows(12, 3, 6);
    const uc_map_settings settings = map_settings(UC_MAP_KPCA, UC_KERNEL_GAUSSIAN, 1.0, 4);
    uc_map *map = fitted(&settings, &X), *back = NULL;
    unsigned char *bytes;
    size_t length;
    assert_ok(uc_map_save_memory((void **)&bytes, &length, map));
    for (size_t i = 0; i < length; i++) {
        bytes[i] ^= 0x10;
        assert_status(uc_map_load_memory(&back, bytes, length, "memory"), UC_ERR_FORMAT);
        bytes[i] ^= 0x10;
    }
    for (size_t cut = 0; cut < length; cut += 7)
        assert_status(uc_map_load_memory(&back, bytes, cut, "memory"), UC_ERR_FORMAT);
    assert_null(back);
    uc_model_memory_free(bytes);
    uc_map_free(map);
    uc_matrix_free(&X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_in_memory_are_those_of_the_file),
        cmocka_unit_test(the_noise_of_the_training_comes_back),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_map_comes_back_and_maps_alike),
        cmocka_unit_test(every_flipped_byte_of_a_map_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
