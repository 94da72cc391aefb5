/* Writes small models that use all of the model file.
 *
 *   perceptron   scaling, a bias, names that need care
 *   landmarks    `confidit` after a map that still grows: 4 of 6 landmarks
 *   cspa-plus    a metric, tails, a second learner, and replayed rounds that have gone round their ring
 *   arow         a full matrix per class
 *   soba         one matrix of all weights
 *   onebit       a learned map, rounds kept, and the drop of right proposals that it watches for
 *
 * All have a learner's state. All but the first play the rounds of rounds.h, and what their models score
 * and propose after that goes to standard output, for the test that goes on with them.
 *
 * The first is worked by hand: three rounds of `perceptron` on two features. The scaling turns the raw
 * rows into exact numbers: shift (1, -2), factor (0.5, 2), bias 2.
 *
 *   raw row       as the weights see it   label    before the round          what the round adds
 *   (3, -1.5)     ( 1, 1) and 2           cat      all scores 0: wrong       cat + row, "a dog" - row
 *   (5, -2)       ( 2, 0) and 2           a dog    cat 6, dog -6: wrong      a dog + row, cat - row
 *   (-1, -1.5)    (-1, 1) and 2           caf\xe9    cat 2, dog -2, caf 0    caf + row, cat - row
 */
#include <stdio.h>
#include <string.h>

#include "tests/golden/rounds.h"

static uc_status name_classes(uc_names *out, const char *const names[3])
{
    uc_status status = UC_OK;
    uint32_t index;
    for (size_t k = 0; k < 3 && status == UC_OK; k++)
        status = uc_names_add(&index, out, names[k], strlen(names[k]));
    return status;
}

static uc_status learn_by_hand(uc_online **out)
{
    static const char *const names[3] = {"cat", "a \"dog\"", "caf\xe9"};
    static const float rows[3][2] = {{3.0f, -1.5f}, {5.0f, -2.0f}, {-1.0f, -1.5f}};
    double shift[2] = {1.0, -2.0}, factor[2] = {0.5, 2.0};
    const uc_preprocessing preprocessing = {
        .scaling = UC_SCALE_RANGE, .cols = 2, .shift = shift, .factor = factor};
    uc_train_settings train = uc_train_defaults();
    train.bias = 2.0;
    train.average = 1;
    train.scale = UC_SCALE_RANGE;
    uc_names classes = {0};
    uc_status status = name_classes(&classes, names);
    if (status == UC_OK)
        status = uc_online_begin(out, uc_learner_find("perceptron"), NULL, &train, &classes, &preprocessing);
    for (uint32_t i = 0; i < 3 && status == UC_OK; i++) {
        const uc_row row = {2, rows[i], NULL};
        uc_proposal proposal;
        status = uc_online_propose(&proposal, *out, &row);
        if (status == UC_OK)
            status = uc_online_learn(*out, &row, &proposal, (uc_answer){UC_ANSWER_LABEL, i});
    }
    uc_names_free(&classes);
    return status;
}

static uc_status learn_rounds(uc_online **out, const char *learner, const void *settings,
                              const uc_map_settings *map, size_t rounds)
{
    static const char *const names[3] = {"x", "y", "z"};
    uc_train_settings train = uc_train_defaults();
    train.bias = 0.5;
    train.map = *map;
    uc_names classes = {0};
    uint32_t proposed;
    uc_status status = name_classes(&classes, names);
    if (status == UC_OK)
        status = uc_online_begin(out, uc_learner_find(learner), settings, &train, &classes, NULL);
    if (status == UC_OK)
        status = uc_online_expect(*out, GOLDEN_COLS, 1.0);
    for (size_t t = 0; t < rounds && status == UC_OK; t++)
        status = golden_play(&proposed, *out, t);
    uc_names_free(&classes);
    return status;
}

static uc_status learn_landmarks(uc_online **out)
{
    uc_map_settings map = uc_map_defaults();
    map.map = UC_MAP_LANDMARKS;
    map.width = 4.0;
    map.dimension = 6;
    return learn_rounds(out, "confidit", NULL, &map, 4);
}

static uc_status learn_cspa_plus(uc_online **out)
{
    const uc_map_settings map = uc_map_defaults();
    uc_cspa_plus_settings settings;
    uc_options_defaults(uc_learner_options(uc_learner_find("cspa-plus")), &settings);
    settings.memory_rounds = 10;
    return learn_rounds(out, "cspa-plus", &settings, &map, 25);
}

/* With full matrices. */
static uc_status learn_arow(uc_online **out)
{
    const uc_map_settings map = uc_map_defaults();
    const uc_arow_settings settings = {.regularizer = 0.5, .covariance = 1};
    return learn_rounds(out, "arow", &settings, &map, 25);
}

static uc_status learn_soba(uc_online **out)
{
    const uc_map_settings map = uc_map_defaults();
    return learn_rounds(out, "soba", NULL, &map, 60);
}

static uc_status learn_onebit(uc_online **out)
{
    const uc_map_settings map = uc_map_defaults();
    return learn_rounds(out, "onebit", NULL, &map, 40);
}

/* Scores of rows 100 to 103, then the proposals of the next 12 rounds, then scores again. */
static uc_status tell_what_follows(uc_online *online)
{
    uc_status status = UC_OK;
    for (int after = 0; after < 2 && status == UC_OK; after++) {
        uc_model *model = NULL;
        status = uc_online_model(&model, online, true);
        for (size_t t = 100; t < 104 && status == UC_OK; t++) {
            golden_row at;
            double scores[GOLDEN_CLASSES];
            float dense[16] = {0};
            golden_make_row(&at, t);
            for (size_t i = 0; i < at.row.count; i++)
                dense[at.columns[i]] = at.values[i];
            const uc_matrix X = {.rows = 1, .cols = GOLDEN_COLS, .stride = 16, .values = dense};
            status = uc_model_scores(scores, model, &X, NULL);
            printf("{%.17g, %.17g, %.17g},\n", scores[0], scores[1], scores[2]);
        }
        uc_model_free(model);
        const uint64_t first = uc_online_rounds(online);
        for (uint64_t t = first; t < first + 12 && !after && status == UC_OK; t++) {
            uint32_t proposed = 0;
            status = golden_play(&proposed, online, (size_t)t);
            printf("%u, ", (unsigned)proposed);
        }
        printf("\n");
    }
    return status;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        uc_status (*learn)(uc_online **out);
    } kinds[] = {{"perceptron", learn_by_hand},  {"landmarks", learn_landmarks},
                 {"cspa-plus", learn_cspa_plus}, {"arow", learn_arow},
                 {"soba", learn_soba},           {"onebit", learn_onebit}};
    size_t kind = 0;
    while (argc == 3 && kind < sizeof kinds / sizeof *kinds && strcmp(argv[1], kinds[kind].name) != 0)
        kind++;
    if (argc != 3 || kind == sizeof kinds / sizeof *kinds) {
        fprintf(stderr, "usage: make_model perceptron|landmarks|cspa-plus|arow|soba|onebit FILE\n");
        return 2;
    }
    uc_online *online = NULL;
    uc_model *model = NULL;
    uc_status status = kinds[kind].learn(&online);
    if (status == UC_OK)
        status = uc_online_model(&model, online, true);
    if (status == UC_OK)
        status = uc_model_save(model, argv[2]);
    if (status == UC_OK && kind > 0)
        status = tell_what_follows(online);
    if (status != UC_OK)
        fprintf(stderr, "%s\n", uc_last_error());
    uc_model_free(model);
    uc_online_free(online);
    return status == UC_OK ? 0 : 1;
}
