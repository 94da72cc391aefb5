/* Resuming from a model with a learner's state, for every online learner.
 *
 * Bytes that begin like a model file are used as one, with length and checksum corrected: a state that is
 * resumed must be one that can be learned from. Any other bytes describe a session: which learner, then one
 * round after the other. Halfway the learner is saved and resumed, and from then on both learners must make
 * the same proposals and, at the end, save the same bytes. */
#define _GNU_SOURCE
#include <math.h>
#include <zlib.h>

#include "base/base.h"
#include "fuzz/files.h"
#include "unconfuse/train.h"

#define COLUMNS 3
#define ROUNDS 8

static void check_proposal(const uc_proposal *proposal, const uc_online *online)
{
    const size_t K = uc_online_classes(online)->count;
    CHECK(proposal->label < K && proposal->favourite < K);
    CHECK(proposal->probability > 0.0 && proposal->probability <= 1.0);
}

/* The feedback, in the form that the learner can use. */
static uc_answer answer_to(const uc_proposal *proposal, const uc_online *online, uint32_t truth)
{
    if (uc_learner_accepts(uc_online_learner(online), UC_FEEDBACK_FULL))
        return (uc_answer){UC_ANSWER_LABEL, truth};
    return (uc_answer){proposal->label == truth ? UC_ANSWER_RIGHT : UC_ANSWER_WRONG, 0};
}

/* Plays one round; a status other than UC_OK comes with a sentence. */
static uc_status play(uc_proposal *proposal, uc_online *online, const float *values, uint32_t truth)
{
    const uc_row row = {COLUMNS, values, NULL};
    uc_status status = uc_online_propose(proposal, online, &row);
    if (status == UC_OK) {
        check_proposal(proposal, online);
        const uint32_t label = truth % (uint32_t)uc_online_classes(online)->count;
        status = uc_online_learn(online, &row, proposal, answer_to(proposal, online, label));
    }
    if (status != UC_OK)
        check_sentence(uc_last_error());
    return status;
}

/* Returns a learner resumed from the state of this one. */
static uc_online *twin_of(const uc_online *online)
{
    uc_model *model, *loaded;
    uc_online *twin;
    void *bytes;
    size_t length;
    CHECK(uc_online_model(&model, online, true) == UC_OK);
    CHECK(uc_model_save_memory(&bytes, &length, model) == UC_OK);
    CHECK(uc_model_load_memory(&loaded, bytes, length, "saved") == UC_OK);
    CHECK(uc_online_resume(&twin, loaded) == UC_OK);
    CHECK(uc_online_rounds(twin) == uc_online_rounds(online));
    CHECK(uc_online_updates(twin) == uc_online_updates(online));
    uc_model_memory_free(bytes);
    uc_model_free(loaded);
    uc_model_free(model);
    return twin;
}

static void check_same_bytes(const uc_online *a, const uc_online *b)
{
    const uc_online *const both[2] = {a, b};
    void *bytes[2];
    size_t length[2];
    for (int i = 0; i < 2; i++) {
        uc_model *model;
        CHECK(uc_online_model(&model, both[i], true) == UC_OK);
        CHECK(uc_model_save_memory(&bytes[i], &length[i], model) == UC_OK);
        uc_model_free(model);
    }
    CHECK(length[0] == length[1] && memcmp(bytes[0], bytes[1], length[0]) == 0);
    uc_model_memory_free(bytes[0]);
    uc_model_memory_free(bytes[1]);
}

/* ---- a model file ---- */

static void try_model(const uint8_t *bytes, size_t length)
{
    static const float rows[ROUNDS][COLUMNS] = {{1, -2, 0.5f}, {0, 0, 0},     {-1, 2, 1},  {3, 0, 0},
                                                {0, 1e-3f, 0}, {1, -2, 0.5f}, {-2, -2, 4}, {0, 5, -1}};
    uint8_t *sealed = malloc(length);
    CHECK(sealed);
    memcpy(sealed, bytes, length);
    const uint64_t whole = length;
    memcpy(sealed + 16, &whole, sizeof whole);
    const uint32_t ending[2] = {(uint32_t)crc32_z(0, sealed, length - 8), 0};
    memcpy(sealed + length - 8, ending, sizeof ending);

    uc_model *model = NULL;
    uc_online *online = NULL;
    uc_status status = uc_model_load_memory(&model, sealed, length, "fuzz");
    if (status == UC_OK)
        status = uc_online_resume(&online, model);
    if (status != UC_OK)
        check_sentence(uc_last_error());
    for (uint32_t i = 0; i < ROUNDS && status == UC_OK; i++) {
        uc_proposal proposal;
        status = play(&proposal, online, rows[i], i);
    }
    uc_online_free(online);
    uc_model_free(model);
    free(sealed);
}

/* ---- a session ---- */

/* The learners are counted cyclically, so that every byte chooses one. */
static const uc_learner *online_learner(size_t which)
{
    for (size_t i = 0;; i++) {
        const uc_learner *learner = uc_learner_at(i);
        if (!learner)
            i = SIZE_MAX; /* continue with the first one */
        else if (uc_learner_is_online(learner) && which-- == 0)
            return learner;
    }
}

static uc_status begin(uc_online **out, const uint8_t *bytes)
{
    static const char *const names[] = {"x", "y", "z", "u", "v"};
    uc_train_settings train = uc_train_defaults();
    train.average = bytes[1] & 1;
    train.normalize = bytes[1] >> 1 & 1;
    train.bias = bytes[1] & 4 ? 1.0 : 0.0;
    train.seed = bytes[2];
    train.map.map = UC_MAP_NONE;
    if (bytes[1] & 8) {
        train.map.map = UC_MAP_LANDMARKS;
        train.map.dimension = 4;
        train.map.width = 2.0;
    }
    uc_names classes = {0};
    uc_status status = UC_OK;
    for (uint32_t k = 0, index; k < 2 + bytes[2] % 4u && status == UC_OK; k++)
        status = uc_names_add(&index, &classes, names[k], 1);
    if (status == UC_OK)
        status = uc_online_begin(out, online_learner(bytes[0]), NULL, &train, &classes, NULL);
    uc_names_free(&classes);
    return status;
}

/* Four bytes per round: three values and the true class. */
static void try_play(const uint8_t *bytes, size_t length)
{
    uc_online *online = NULL, *twin = NULL;
    CHECK(begin(&online, bytes) == UC_OK);
    const size_t rounds = (length - 3) / 4;
    uc_status status = UC_OK;
    for (size_t i = 0; i < rounds && status == UC_OK; i++) {
        const uint8_t *at = bytes + 3 + 4 * i;
        const float values[COLUMNS] = {(float)(int8_t)at[0] / 16.0f, (float)(int8_t)at[1],
                                       ldexpf((float)(int8_t)at[2], at[3] >> 4)};
        uc_proposal here, there;
        if (i == rounds / 2)
            twin = twin_of(online);
        status = play(&here, online, values, at[3]);
        if (twin) {
            CHECK(play(&there, twin, values, at[3]) == status);
            CHECK(status != UC_OK || (here.label == there.label && here.favourite == there.favourite &&
                                      here.probability == there.probability));
        }
    }
    if (twin && status == UC_OK)
        check_same_bytes(online, twin);
    uc_online_free(twin);
    uc_online_free(online);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const long live = uc_alloc_live();
    if (uc_model_recognise(bytes, length) && length >= 32)
        try_model(bytes, length);
    else if (length >= 3)
        try_play(bytes, length);
    CHECK(uc_alloc_live() == live);
    return 0;
}
