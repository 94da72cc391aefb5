/* jansson drops a byte without an error when its buffer cannot grow at the end of a key: a model
 * whose header was not JSON replaced the old one. */
#include "tests/sample.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/model.h"
#include "unconfuse/train.h"

/* Jansson's memory, counted, and failing after json_successes more allocations. */
static long json_successes = -1, json_live;
static bool json_fails_once;

static void *json_alloc(size_t size)
{
    if (json_successes == 0) {
        json_successes -= json_fails_once;
        return NULL;
    }
    json_successes -= json_successes > 0;
    json_live++;
    return malloc(size);
}

static void json_release(void *block)
{
    json_live -= block != NULL;
    free(block);
}

/* A model with settings, a summary, scaling and a learner's state: all that is JSON in its header. */
static uc_model *model_with_state(void)
{
    uc_dataset data = sample_data(60, 3, 8, false, 1);
    uc_train_settings train = uc_train_defaults();
    uc_model *model;
    train.scale = UC_SCALE_RANGE;
    train.keep_state = 1;
    assert_ok(uc_train(&model, uc_learner_find("spa"), NULL, &train, &data, NULL));
    uc_dataset_free(&data);
    return model;
}

/* Everything that builds or prints JSON. Parsing is left out: jansson itself stops the program by an
 * assertion when its parser runs out of memory in the middle of a number. */
static uc_status train_save_describe(uc_dataset *data, const char *path)
{
    uc_model *model = NULL, *with_state = NULL;
    uc_online *online = NULL;
    char *text = NULL;
    const uc_row row = uc_matrix_row(&data->X, 0);
    uc_proposal proposal = {0};
    uc_status status = uc_train(&model, uc_learner_find("spa"), NULL, NULL, data, NULL);
    if (status == UC_OK)
        status = uc_model_save(model, path);
    if (status == UC_OK)
        status = uc_model_describe(&text, model);
    if (status == UC_OK)
        status = uc_online_begin(&online, uc_learner_find("perceptron"), NULL, NULL, &data->classes, NULL);
    if (status == UC_OK)
        status = uc_online_learn(online, &row, &proposal, (uc_answer){UC_ANSWER_LABEL, data->y[0]});
    if (status == UC_OK)
        status = uc_online_model(&with_state, online, true);
    uc_model_text_free(text);
    uc_online_free(online);
    uc_model_free(model);
    uc_model_free(with_state);
    return status;
}

static void every_allocation_of_json_may_fail(void **state)
{
    (void)state;
    json_malloc_t before_alloc;
    json_free_t before_free;
    json_get_alloc_funcs(&before_alloc, &before_free);
    json_set_alloc_funcs(json_alloc, json_release);
    uc_dataset data = sample_data(30, 5, 3, false, 1);
    const char *path = temporary_path("json.uc");
    const size_t files = temporary_count();
    const long live = uc_alloc_live();
    uc_status status = UC_ERR_NOMEM;
    for (long successes = 0; status != UC_OK; successes++) {
        json_successes = successes;
        status = train_save_describe(&data, path);
        json_successes = -1;
        if (status != UC_OK && status != UC_ERR_NOMEM)
            fail_msg("JSON allocation %ld failed, status %d: %s", successes + 1, (int)status,
                     uc_last_error());
        if (json_live != 0 || uc_alloc_live() != live)
            fail_msg("JSON allocation %ld failed and left %ld and %ld blocks", successes + 1, json_live,
                     uc_alloc_live() - live);
    }
    assert_int_equal(temporary_count(), files + 1);
    uc_dataset_free(&data);
    json_set_alloc_funcs(before_alloc, before_free);
}

/* One allocation of jansson fails, and all later ones succeed: what replaces the old model is the new one,
 * whole. */
static void one_failed_allocation_of_json_spoils_no_file(void **state)
{
    (void)state;
    json_malloc_t before_alloc;
    json_free_t before_free;
    uc_model *model = model_with_state();
    const char *path = temporary_path("once.uc"), *good_path = temporary_path("good.uc");
    size_t length, good_length;
    assert_ok(uc_model_save(model, good_path));
    char *good = read_file(good_path, &good_length);
    json_get_alloc_funcs(&before_alloc, &before_free);
    json_set_alloc_funcs(json_alloc, json_release);
    json_fails_once = true;
    bool failed = true;
    for (long successes = 0; failed; successes++) {
        write_file(path, "the old model");
        json_successes = successes;
        const uc_status status = uc_model_save(model, path);
        failed = json_successes < 0;
        json_successes = -1;
        char *bytes = read_file(path, &length);
        if (status == UC_OK) {
            assert_int_equal(length, good_length);
            assert_memory_equal(bytes, good, length);
        } else {
            assert_int_equal(status, UC_ERR_NOMEM);
            assert_int_equal(length, strlen("the old model"));
        }
        free(bytes);
    }
    json_fails_once = false;
    json_set_alloc_funcs(before_alloc, before_free);
    free(good);
    uc_model_free(model);
}

/* The same while a model is read: it comes back as it was saved or not at all. jansson itself may stop the
 * program by an assertion, in a process of its own. */
static void one_failed_allocation_of_json_changes_no_model(void **state)
{
    (void)state;
    uc_model *model = model_with_state();
    const char *path = temporary_path("read_once.uc");
    assert_ok(uc_model_save(model, path));
    enum { RAN_THROUGH = 3 };
    for (long successes = 0, code = 0; code != RAN_THROUGH; successes++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            uc_model *back = NULL;
            const struct rlimit no_core = {0, 0};
            (void)setrlimit(RLIMIT_CORE, &no_core);
            json_set_alloc_funcs(json_alloc, json_release);
            json_fails_once = true;
            json_successes = successes;
            const uc_status status = uc_model_load(&back, path);
            const bool failed = json_successes < 0;
            json_successes = -1;
            const bool same = status == UC_OK && json_equal(back->settings, model->settings) &&
                              json_equal(back->summary, model->summary) &&
                              json_equal(back->state.counters, model->state.counters);
            _exit(!failed ? RAN_THROUGH : same || status == UC_ERR_NOMEM ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        if (code == 1)
            fail_msg("JSON allocation %ld failed once, and another model was read", successes + 1);
    }
    uc_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_of_json_may_fail),
        cmocka_unit_test(one_failed_allocation_of_json_spoils_no_file),
        cmocka_unit_test(one_failed_allocation_of_json_changes_no_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
