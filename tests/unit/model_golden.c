/* Model files of every format version that was ever written load, score as they did, and go on as they
 * would have. */
#include "tests/sample.h"

#include <math.h>

#include "train/online.h"
#include "map/map.h"
#include "model/model.h"
#include "tests/golden/rounds.h"

/* Made by tests/golden/make_model.c, where its three rounds are worked by hand. */
static void a_model_of_format_1_loads_and_predicts_as_it_did(void **state)
{
    (void)state;
    uc_model *model;
    assert_ok(uc_model_load(&model, source_path("tests/golden/model-v1.uc")));
    assert_int_equal(model->format_version, 1);
    assert_string_equal(uc_model_learner(model), "perceptron");
    assert_int_equal(uc_model_features(model), 2);
    static const char *const names[3] = {"cat", "a \"dog\"", "caf\xe9"};
    /* means of the three iterates: weights of the two features, then the constant (bias 2 times its weight)
     * */
    static const double expected[3][3] = {
        {0.0, 2.0 / 3, 0.0}, {1.0 / 3, -1.0, 2.0 * -2.0 / 3}, {-1.0 / 3, 1.0 / 3, 2.0 * 2.0 / 3}};
    for (size_t k = 0; k < 3; k++) {
        assert_string_equal(uc_model_classes(model)->text[k], names[k]);
        assert_near(uc_model_weight(model, 0, k), expected[k][0], 1e-15);
        assert_near(uc_model_weight(model, 1, k), expected[k][1], 1e-15);
        assert_near(uc_model_offset(model, k), expected[k][2], 1e-15);
    }
    float values[3 * 16] = {0};
    const float rows[3][2] = {
        {1.0f, 2.0f}, {21.0f, -3.0f}, {1.0f, -2.0f}}; /* seen as (0, 8), (10, -2), (0, 0) */
    for (size_t i = 0; i < 3; i++)
        memcpy(values + 16 * i, rows[i], sizeof rows[i]);
    const uc_matrix X = {.rows = 3, .cols = 2, .stride = 16, .values = values};
    uint32_t predicted[3];
    double scores[9];
    assert_ok(uc_model_predict(predicted, model, &X, NULL));
    assert_ok(uc_model_scores(scores, model, &X, NULL));
    const double by_hand[9] = {16.0 / 3,
                               -8.0 - 4.0 / 3,
                               8.0 / 3 + 4.0 / 3,
                               -4.0 / 3,
                               10.0 / 3 + 2.0 - 4.0 / 3,
                               -10.0 / 3 - 2.0 / 3 + 4.0 / 3,
                               0.0,
                               -4.0 / 3,
                               4.0 / 3};
    for (size_t i = 0; i < 9; i++)
        assert_near(scores[i], by_hand[i], 1e-14);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(predicted[i], i);

    uc_online *online; /* its learner goes on: W = last iterates */
    assert_ok(uc_online_resume(&online, model));
    assert_int_equal(uc_online_rounds(online), 3);
    assert_int_equal(uc_online_updates(online), 3);
    uc_model *again;
    assert_ok(uc_online_model(&again, online, true));
    for (size_t i = 0; i < 3 * model->stride; i++)
        assert_near(again->weights[i], model->weights[i], 1e-15);
    const double last[3][4] = {{-2.0, 0.0, 2.0, 0.0}, {0.0, 1.0, -1.0, 0.0}, {0.0, -1.0, 1.0, 0.0}};
    const double *state_weights = uc_model_state_find(&again->state, "state.weights")->data;
    for (size_t j = 0; j < 3; j++)
        for (size_t k = 0; k < 3; k++)
            assert_true(state_weights[j * 3 + k] == last[j][k]);
    uc_model_free(again);
    uc_online_free(online);
    uc_model_free(model);
}

enum { GOLDEN_ROWS = 4, GOLDEN_ROUNDS = 12 };

/* What make_model.c recorded about a model when it made it. */
typedef struct golden {
    const char *file, *learner;
    uint64_t rounds;
    double before[GOLDEN_ROWS][GOLDEN_CLASSES]; /* scores of rows 100 and on */
    uint32_t proposed[GOLDEN_ROUNDS];           /* in the next rounds */
    double after[GOLDEN_ROWS][GOLDEN_CLASSES];
} golden;

static void check_golden_scores(const uc_model *model, const double expected[GOLDEN_ROWS][GOLDEN_CLASSES])
{
    for (size_t i = 0; i < GOLDEN_ROWS; i++) {
        golden_row at;
        double scores[GOLDEN_CLASSES];
        float dense[16] = {0};
        golden_make_row(&at, 100 + i);
        for (size_t j = 0; j < at.row.count; j++)
            dense[at.columns[j]] = at.values[j];
        const uc_matrix X = {.rows = 1, .cols = GOLDEN_COLS, .stride = 16, .values = dense};
        assert_ok(uc_model_scores(scores, model, &X, NULL));
        for (size_t k = 0; k < GOLDEN_CLASSES; k++)
            assert_near(scores[k], expected[i][k], 1e-6); /* kernels are floats */
    }
}

/* Loads, scores as it did, and goes on as it would have: proposals need all of the state. */
static uc_online *check_golden(const golden *expected)
{
    uc_model *model, *later;
    uc_online *online;
    assert_ok(uc_model_load(&model, source_path(expected->file)));
    assert_int_equal(model->format_version, 1);
    assert_string_equal(uc_model_learner(model), expected->learner);
    check_golden_scores(model, expected->before);
    assert_ok(uc_online_resume(&online, model));
    assert_int_equal(uc_online_rounds(online), expected->rounds);
    for (size_t i = 0; i < GOLDEN_ROUNDS; i++) {
        uint32_t proposed;
        assert_ok(golden_play(&proposed, online, (size_t)expected->rounds + i));
        assert_int_equal(proposed, expected->proposed[i]);
    }
    assert_ok(uc_online_model(&later, online, true));
    check_golden_scores(later, expected->after);
    uc_model_free(later);
    uc_model_free(model);
    return online;
}

static void a_stream_of_format_1_behind_landmarks_goes_on(void **state)
{
    (void)state;
    const golden expected = {"tests/golden/model-v1-landmarks.uc",
                             "confidit",
                             4,
                             {{-0.082958068950240271, 0.41467405118705108, 0},
                              {-0.039867916917527439, 0.40345403944201058, 0},
                              {-0.056204298231157399, 0.40018416565630566, 0},
                              {-0.0028477084530908084, 0.32446521117959654, 0}},
                             {1, 1, 2, 2, 1, 2, 0, 2, 0, 1, 0, 2},
                             {{-0.68523377422626908, -0.53126889144171485, -0.31038419886998309},
                              {-0.54535861626780346, -0.21739659119911817, -0.29851939583311748},
                              {-0.63648156687108148, -0.40587236542750971, -0.32199319753492922},
                              {-0.51263053558857252, -0.56272088604904946, -0.035478646543481103}}};
    uc_model *model;
    assert_ok(uc_model_load(&model, source_path(expected.file)));
    assert_int_equal(uc_map_landmarks(model->preprocessing.map), 4);
    uc_model_free(model);
    uc_online *online = check_golden(&expected);
    assert_int_equal(uc_map_landmarks(online->preprocessing.map), 6);
    uc_online_free(online);
}

static void the_whole_state_of_cspa_plus_in_format_1_goes_on(void **state)
{
    (void)state;
    const golden expected = {"tests/golden/model-v1-cspa-plus.uc",
                             "cspa-plus",
                             25,
                             {{-0.18338520857243087, 0.64018791253315954, -0.45680270396072886},
                              {-0.50335863706891248, 0.92847124916014412, -0.4251126120912323},
                              {-0.39796673696192231, 0.63199103662778167, -0.23402429966585936},
                              {-0.12077939279577157, -1.1384300472304576, 1.2592094400262299}},
                             {0, 0, 0, 1, 1, 1, 2, 1, 2, 0, 0, 0},
                             {{-0.069051087990112031, 0.62176500210276386, -0.55271391411265169},
                              {-0.54039689617760456, 0.96797650644469346, -0.42757961026708913},
                              {-0.3517383216994826, 0.60850537365601731, -0.2567670519565346},
                              {-0.26949346300406396, -1.1749059088787972, 1.4443993718828616}}};
    static const char *const arrays[] = {
        "state.weights",        "state.own1",           "state.own2",        "state.own3",
        "state.metric",         "state.metric.pending", "state.replay.told", "state.replay.values",
        "state.replay.columns", "state.replay.ends",    "state.right",       "state.proposed",
        "state.tail",           "state.tried",          "state.tried_right", "state.metric.factor"};
    uc_model *model;
    assert_ok(uc_model_load(&model, source_path(expected.file)));
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        assert_non_null(uc_model_state_find(&model->state, arrays[i]));
    uc_model_free(model);
    uc_online *online = check_golden(&expected);
    uc_cspa_plus_settings settings; /* with what `auto` came to */
    uc_online_settings(&settings, online);
    assert_int_equal(settings.metric, 3);
    assert_int_equal(settings.pair, 1);
    assert_true(settings.tail == 10.0);
    assert_int_equal(settings.memory_rounds, 10);
    uc_online_free(online);
}

static void check_state(const golden *expected, const char *const *arrays, size_t count)
{
    uc_model *model;
    assert_ok(uc_model_load(&model, source_path(expected->file)));
    for (size_t i = 0; i < count; i++)
        assert_non_null(uc_model_state_find(&model->state, arrays[i]));
    uc_model_free(model);
    uc_online_free(check_golden(expected));
}

static void the_matrices_of_arow_in_format_1_go_on(void **state)
{
    (void)state;
    const golden expected = {"tests/golden/model-v1-arow.uc",
                             "arow",
                             25,
                             {{0.1057069505362242, 0.11368247242780091, 0.089070209238134163},
                              {-0.65418682519408133, 0.6834068656329878, -0.47090514451084547},
                              {0.16293804953997224, 0.55448185037347453, -0.079664695545198005},
                              {0.057069665514854123, -0.2563094897986633, 1.3665609670273431}},
                             {0, 0, 0, 1, 1, 1, 2, 1, 2, 0, 0, 0},
                             {{0.075071857207263198, 0.087771007944642904, 0.078613583907686635},
                              {-0.84414972615114459, 0.67566019436662328, -0.44415082918416393},
                              {0.0074800111576610942, 0.57808262792387033, -0.0050369090449414733},
                              {0.1296110974758046, -0.35250420044334718, 1.3741935697030525}}};
    static const char *const arrays[] = {"state.covariance1", "state.covariance3",
                                         "state.covariance2.pending", "state.covariance2.factor"};
    check_state(&expected, arrays, 4);
}

static void the_matrix_of_soba_in_format_1_goes_on(void **state)
{
    (void)state;
    const golden expected = {"tests/golden/model-v1-soba.uc",
                             "soba",
                             60,
                             {{0.53647584281318894, 0.22134338587474409, -0.75781922868793306},
                              {0.16978523306055793, 0.81602651547584326, -0.98581174853640086},
                              {0.36991694991906376, 0.13747818250125579, -0.50739513242031942},
                              {-0.27156655336770641, -1.05168526394477, 1.3232518173124763}},
                             {2, 0, 0, 0, 0, 1, 2, 0, 2, 2, 0, 2},
                             {{0.54570080240843344, 0.21242840709748423, -0.75812920950591756},
                              {0.14590651963981932, 0.74295752325311348, -0.88886404289293242},
                              {0.37978272895576115, 0.11926563744406443, -0.49904836639982547},
                              {-0.2651606118638018, -1.0869194548483496, 1.3520800667121511}}};
    static const char *const arrays[] = {"state.own1", "state.margins", "state.metric",
                                         "state.metric.pending", "state.metric.factor"};
    check_state(&expected, arrays, 5);
}

/* Changes were watched for by two running means only: the counts by blocks begin at 0. */
static void onebit_before_blocks_of_rounds_goes_on(void **state)
{
    (void)state;
    const golden expected = {"tests/golden/model-v1-onebit.uc",
                             "onebit",
                             40,
                             {{-0.35164876274583545, 0.69832974411780269, -0.34668098137693726},
                              {-0.32724329070128955, 0.65752141376568807, -0.33027812306896764},
                              {-0.32021875937645683, 0.64405583705801372, -0.32383707768198899},
                              {-0.3282348210205458, -0.33414000488215467, 0.66237482589919794}},
                             {2, 2, 2, 0, 0, 0, 1, 1, 1, 2, 2, 2},
                             {{-0.35365427198121535, 0.71281611985245852, -0.35916184787722599},
                              {-0.33102495136630899, 0.65389181213627046, -0.32286686076952126},
                              {-0.32656274740940922, 0.64974104042247538, -0.32317829301411843},
                              {-0.32883065539658657, -0.33567207035724689, 0.66450272575406699}}};
    static const char *const arrays[] = {"state.onebit", "state.onebit.change", "state.map.values",
                                         "state.ridge.sums", "state.rounds.answer"};
    check_state(&expected, arrays, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_of_format_1_loads_and_predicts_as_it_did),
        cmocka_unit_test(a_stream_of_format_1_behind_landmarks_goes_on),
        cmocka_unit_test(the_whole_state_of_cspa_plus_in_format_1_goes_on),
        cmocka_unit_test(the_matrices_of_arow_in_format_1_go_on),
        cmocka_unit_test(the_matrix_of_soba_in_format_1_goes_on),
        cmocka_unit_test(onebit_before_blocks_of_rounds_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
