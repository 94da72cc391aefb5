/* The number of threads changes nothing: every learner and every map gives the same bytes with 1, 2, 3 and
 * 7. */
#include "tests/sample.h"

#include <math.h>
#include <stdlib.h>

#include "unconfuse/select.h"

/* So many that work is shared out, and that csvm cuts its rows into parts. */
#define ROWS 4200
#define COLUMNS 20

static const unsigned thread_counts[] = {1, 2, 3, 7};

typedef struct job {
    const uc_learner *learner;
    const void *settings;
    uc_train_settings train;
    const uc_dataset *data;
} job;

/* The model file, which the caller frees. */
static char *model_bytes(size_t *length, const job *self, unsigned threads)
{
    const char *path = temporary_path("threads.uc");
    const uc_context context = {.threads = threads};
    uc_model *model = NULL;
    uc_dataset copy = {0};
    assert_ok(uc_dataset_subset(&copy, self->data, NULL, 0, NULL));
    assert_ok(uc_tune_and_train(&model, self->learner, self->settings, &self->train, &copy, &context));
    assert_ok(uc_model_save(model, path));
    uc_model_free(model);
    uc_dataset_free(&copy);
    return read_file(path, length);
}

static void check_bytes(const job *self)
{
    size_t length, other_length;
    char *one = model_bytes(&length, self, 1);
    for (size_t i = 1; i < 4; i++) {
        char *many = model_bytes(&other_length, self, thread_counts[i]);
        if (length != other_length || memcmp(one, many, length) != 0)
            fail_msg("%s, map %d: another model with %u threads", uc_learner_name(self->learner),
                     self->train.map.map, thread_counts[i]);
        free(many);
    }
    free(one);
}

static void every_learner_gives_the_same_bytes(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++)
        for (size_t classes = 2; classes <= 5; classes += 3) {
            uc_dataset data = sample_data(ROWS, COLUMNS, classes, sparse, 7);
            uc_noise noise = {0};
            assert_ok(uc_noise_uniform(&noise, classes, 0.1));
            const uc_learner *learner;
            for (size_t i = 0; (learner = uc_learner_at(i)); i++) {
                if (classes > 2 &&
                    (uc_learner_uses_rates(learner) || uc_learner_is_positive_unlabelled(learner)))
                    continue;
                void *settings = calloc(1, uc_learner_settings_size(learner));
                uc_options_defaults(uc_learner_options(learner), settings);
                const uc_option *iterations = uc_options_find(uc_learner_options(learner), "iterations");
                if (iterations)
                    assert_ok(uc_option_set(iterations, settings, "10"));
                const uc_option *landmarks = uc_options_find(uc_learner_options(learner), "landmarks");
                if (landmarks)
                    assert_ok(uc_option_set(landmarks, settings, "80"));
                job self = {learner, settings, uc_train_defaults(), &data};
                self.train.passes = 2;
                self.train.map.map = UC_MAP_NONE;
                self.train.scale = UC_SCALE_MAXABS;
                self.train.noise = uc_learner_uses_noise(learner) ? &noise : NULL;
                if (strcmp(uc_learner_name(learner), "onebit") == 0)
                    self.train.map.dimension = 40; /* of its own map: a round costs the square of it */
                check_bytes(&self);
                free(settings);
            }
            uc_noise_free(&noise);
            uc_dataset_free(&data);
        }
}

static void every_map_gives_the_same_bytes(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        uc_dataset data = sample_data(1200, COLUMNS, 3, sparse, 8);
        uc_logistic_settings settings;
        uc_options_defaults(uc_learner_options(uc_learner_find("logistic")), &settings);
        settings.iterations = 5;
        for (int map = UC_MAP_KPCA; map <= UC_MAP_LANDMARKS; map++) {
            job self = {uc_learner_find("logistic"), &settings, uc_train_defaults(), &data};
            self.train.map.map = map;
            self.train.map.dimension = 150; /* more than one block of anything */
            self.train.map.pick = sparse;
            self.train.map.center = sparse;
            check_bytes(&self);
        }
        uc_dataset_free(&data);
    }
}

/* What chooses by data: `auto`, cross-validation, the estimates of noise. */
static void every_choice_is_the_same(void **state)
{
    (void)state;
    uc_dataset data = sample_data(300, 8, 2, false, 9);
    uc_svm_settings settings;
    uc_options_defaults(uc_learner_options(uc_learner_find("csvm")), &settings);
    settings.cost = UC_AUTO_REAL;
    job self = {uc_learner_find("csvm"), &settings, uc_train_defaults(), &data};
    self.train.map.map = UC_MAP_KGS;
    self.train.map.dimension = 20;
    check_bytes(&self);
    uint32_t first[300], predicted[300];
    double first_noise[4] = {0.0}, first_rates[4] = {0.0};
    for (size_t i = 0; i < 4; i++) {
        const uc_context context = {.threads = thread_counts[i]};
        uc_noise_estimate found = {0};
        uc_noise rates = {0};
        assert_ok(uc_noise_from_data(&found, &data, NULL, NULL, &context));
        assert_ok(uc_noise_rates_from_data(&rates, NULL, NULL, NULL, &data, 1, UC_RATES_BOTH, &context));
        if (i == 0) {
            memcpy(first_noise, found.noise.values, sizeof first_noise);
            memcpy(first_rates, rates.values, sizeof first_rates);
        }
        assert_memory_equal(found.noise.values, first_noise, sizeof first_noise);
        assert_memory_equal(rates.values, first_rates, sizeof first_rates);
        for (int online = 0; online < 2; online++) {
            assert_ok(uc_cross_validate(predicted, NULL, uc_learner_find(online ? "spa" : "logistic"), NULL,
                                        NULL, &data, 5, &context));
            if (i == 0 && online)
                memcpy(first, predicted, sizeof first);
            if (online)
                assert_memory_equal(predicted, first, sizeof first);
        }
        uc_noise_free(&rates);
        uc_noise_estimate_free(&found);
    }
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_learner_gives_the_same_bytes),
        cmocka_unit_test(every_map_gives_the_same_bytes),
        cmocka_unit_test(every_choice_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
