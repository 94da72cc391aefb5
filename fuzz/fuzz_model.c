/* Model files, ours and LIBLINEAR's, from arbitrary bytes.
 *
 * Bytes that begin like a model file are tried unchanged, and again with length and checksum corrected, so
 * that the fuzzer gets past these. Anything else is read as LIBLINEAR's text.
 *
 * A model that loads must describe itself, score a row, continue learning if it says that it can, and save to
 * bytes that load and save to the same bytes again. */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "data/reader.h"
#include "fuzz/files.h"
#include "unconfuse/table.h"
#include "unconfuse/train.h"

static void save(uc_bytes *out, const uc_model *model)
{
    CHECK(uc_model_save(model, scratch_path()) == UC_OK);
    CHECK(uc_bytes_read(out, scratch_path()) == UC_OK);
    unlink(scratch_path());
}

static void check_saving(const uc_model *model)
{
    uc_bytes first, second;
    uc_model *back;
    save(&first, model);
    CHECK(uc_model_load_memory(&back, first.data, first.length, "saved") == UC_OK);
    save(&second, back);
    CHECK(first.length == second.length && memcmp(first.data, second.data, first.length) == 0);
    uc_model_free(back);
    uc_bytes_free(&first);
    uc_bytes_free(&second);
}

/* Weights in a file may be so large that a step overflows; nothing else may go wrong. */
static bool may_overflow(uc_status status)
{
    CHECK(status == UC_OK || status == UC_ERR_DIVERGED ||
          (status == UC_ERR_INVALID && strstr(uc_last_error(), "no finite scores")));
    return status == UC_OK;
}

static void check_scores(const uc_model *model)
{
    const size_t K = uc_model_classes(model)->count;
    float values[16];
    uint32_t columns[16], predicted;
    uint64_t offsets[2] = {0, 16};
    for (uint32_t j = 0; j < 16; j++) {
        values[j] = 1.0f;
        columns[j] = j * j;
    }
    const uc_matrix dense = {.rows = 1, .cols = 16, .stride = 16, .values = values};
    const uc_matrix sparse = {
        .rows = 1, .cols = 226, .values = values, .offsets = offsets, .columns = columns};
    const uc_context context = {.threads = 1};
    CHECK(!may_overflow(uc_model_predict(&predicted, model, &dense, &context)) || predicted < K);
    CHECK(!may_overflow(uc_model_predict(&predicted, model, &sparse, &context)) || predicted < K);
}

/* Checks that what was learned can be saved and resumed again. */
static void check_state(const uc_online *online)
{
    uc_model *model = NULL;
    uc_online *again = NULL;
    if (!may_overflow(uc_online_model(&model, online, true)))
        return;
    CHECK(uc_online_resume(&again, model) == UC_OK);
    uc_online_free(again);
    uc_model_free(model);
}

/* Checks that a learner's state in a file is either rejected or can be learned from. */
static void check_resuming(const uc_model *model)
{
    uc_online *online;
    if (uc_online_resume(&online, model) != UC_OK)
        return;
    const float values[3] = {1.0f, -2.0f, 0.5f};
    const uc_row row = {3, values, NULL};
    uc_proposal proposal;
    const bool labels = uc_learner_accepts(uc_online_learner(online), UC_FEEDBACK_FULL);
    for (uint32_t i = 0; i < 4; i++) {
        if (!may_overflow(uc_online_propose(&proposal, online, &row)))
            break;
        const uint32_t label = i % (uint32_t)uc_online_classes(online)->count;
        uc_answer answer = {proposal.label == label ? UC_ANSWER_RIGHT : UC_ANSWER_WRONG, 0};
        if (labels)
            answer = (uc_answer){UC_ANSWER_LABEL, label};
        if (!may_overflow(uc_online_learn(online, &row, &proposal, answer)))
            break;
    }
    check_state(online);
    uc_online_free(online);
}

/* Checks that a table in a file encodes rows, by name and by position, or rejects them with a sentence. */
static void check_encoder(const uc_model *model)
{
    static const char *const rows[] = {
        "n,c,t,d,ok,label\n1.5,x,two words,2024-01-01,yes,p\n,y,more words,,no,q\n?,z,,2024-01-02,yes,p\n",
        "1,2,a\n3,,b\n",
        "{\"n\": 1, \"c\": \"x\", \"t\": \"two words\", \"label\": \"p\"}\n{\"n\": null}\n",
    };
    uc_read_settings settings = uc_reader_defaults();
    settings.table = uc_model_table(model);
    for (size_t i = 0; i < 3 && settings.table; i++) {
        uc_dataset data = {0};
        const uc_status status =
            uc_dataset_read_memory(&data, rows[i], strlen(rows[i]), "rows", &settings, NULL);
        CHECK(status == UC_OK || status == UC_ERR_FORMAT || status == UC_ERR_INVALID);
        CHECK(status != UC_OK || data.X.cols == uc_model_features(model));
        for (size_t k = 0; k < uc_matrix_entries(&data.X) && uc_matrix_is_sparse(&data.X); k++)
            CHECK(data.X.columns[k] < data.X.cols && !isnan(data.X.values[k]));
        uc_dataset_free(&data);
    }
    for (size_t j = 0; settings.table && j < uc_table_features(settings.table) && j < 1000; j++) {
        char name[60];
        uc_table_feature_name(name, sizeof name, settings.table, j);
    }
}

static void check_model(const uc_model *model)
{
    char *text;
    CHECK(uc_model_classes(model)->count > 0);
    CHECK(uc_model_describe(&text, model) == UC_OK);
    uc_model_text_free(text);
    check_scores(model);
    check_encoder(model);
    check_saving(model);
    check_resuming(model);
}

static void try_model(const uint8_t *bytes, size_t length)
{
    uc_model *model = NULL;
    const uc_status status = uc_model_load_memory(&model, bytes, length, "fuzz");
    CHECK(status == UC_OK || status == UC_ERR_FORMAT);
    CHECK((model != NULL) == (status == UC_OK));
    if (model)
        check_model(model);
    uc_model_free(model);
}

/* Tries the same bytes with length and checksum corrected. */
static void try_sealed(const uint8_t *bytes, size_t length)
{
    uint8_t *sealed = malloc(length);
    CHECK(sealed != NULL);
    memcpy(sealed, bytes, length);
    const uint64_t whole = length;
    memcpy(sealed + 16, &whole, sizeof whole);
    const uint32_t ending[2] = {(uint32_t)crc32_z(0, sealed, length - 8), 0};
    memcpy(sealed + length - 8, ending, sizeof ending);
    try_model(sealed, length);
    free(sealed);
}

static void try_liblinear(const uint8_t *bytes, size_t length)
{
    memory_file file = memory_file_open(bytes, length);
    uc_model *model = NULL;
    const uc_status status = uc_model_import_liblinear(&model, file.path);
    memory_file_close(&file);
    CHECK(status == UC_OK || status == UC_ERR_FORMAT);
    CHECK((model != NULL) == (status == UC_OK));
    if (model) {
        check_model(model);
        uc_model_free(model);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const long live = uc_alloc_live();
    if (uc_model_recognise(bytes, length)) {
        try_model(bytes, length);
        if (length >= 32)
            try_sealed(bytes, length);
    } else {
        try_liblinear(bytes, length);
    }
    CHECK(uc_alloc_live() == live);
    return 0;
}
