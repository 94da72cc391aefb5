/* Positive and unlabelled rows: the risks, their minima, the class prior, and what is refused. */
#include "tests/processes.h"
#include "tests/sample.h"

#include <math.h>

#include "learn/pu/pu.h"
#include "unconfuse/metrics.h"
#include "unconfuse/select.h"

/* Two round clouds `apart` along the first column, `prior` of the rows in the second; of these `shown`
 * are labelled. Class "2" is positive, and y of all other rows is class "1", as
 * uc_dataset_positive_unlabelled leaves them. `truth`: the cloud. */
static uc_dataset clouds(uint32_t *truth, size_t rows, size_t cols, double apart, double prior, double shown,
                         uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 77);
    uc_dataset data = sample_data(rows, cols, 2, false, seed);
    for (size_t i = 0; i < rows; i++) {
        float *row = data.X.values + i * data.X.stride;
        truth[i] = uc_rng_uniform(&rng) < prior;
        data.y[i] = truth[i] && uc_rng_uniform(&rng) < shown;
        for (size_t j = 0; j < cols; j++)
            row[j] = (float)(uc_rng_normal(&rng) + (j == 0 && truth[i] ? apart : 0.0));
    }
    return data;
}

static uc_pu_settings defaults(void)
{
    uc_pu_settings settings;
    uc_options_defaults(uc_learner_options(uc_learner_find("pu")), &settings);
    return settings;
}

static uc_model *train_on(const uc_dataset *data, const uc_pu_settings *settings, const uc_context *context)
{
    uc_model *model = NULL;
    uc_dataset copy = {0};
    assert_ok(uc_dataset_subset(&copy, data, NULL, 0, NULL));
    assert_ok(uc_train(&model, uc_learner_find("pu"), settings, NULL, &copy, context));
    uc_dataset_free(&copy);
    return model;
}

static double error_of(const uc_model *model, const uc_dataset *data, const uint32_t *truth)
{
    uint32_t *predicted = uc_alloc(data->X.rows, sizeof *predicted);
    size_t errors = 0;
    assert_ok(uc_model_predict(predicted, model, &data->X, NULL));
    for (size_t i = 0; i < data->X.rows; i++)
        errors += predicted[i] != truth[i];
    uc_free(predicted);
    return (double)errors / (double)data->X.rows;
}

/* ---- losses ---- */

static void losses_are_what_their_formulas_say(void **state)
{
    (void)state;
    for (double z = -4.0; z <= 4.0; z += 0.0625) {
        double slope, other, hinge = fmax(-z, fmax(0.0, (1.0 - z) / 2.0));
        assert_near(uc_pu_loss_at(&slope, UC_PU_LOGISTIC, z), log(1.0 + exp(-z)), 1e-14);
        assert_near(uc_pu_loss_at(&slope, UC_PU_SIGMOID, z), 1.0 / (1.0 + exp(z)), 1e-14);
        const double rounded = uc_pu_loss_at(&slope, UC_PU_HINGE, z);
        if (fabs(fabs(z) - 1.0) >= 0.5)
            assert_near(rounded, hinge, 1e-14);
        assert_true(rounded >= hinge - 1e-14 && rounded <= hinge + 0.0626);
        /* convex risks: l(z) - l(-z) = -z; the sigmoid has l(z) + l(-z) = 1 */
        for (int loss = UC_PU_LOGISTIC; loss <= UC_PU_HINGE; loss++) {
            const double value = uc_pu_loss_at(&slope, (uc_pu_loss)loss, z);
            const double mirrored = uc_pu_loss_at(&other, (uc_pu_loss)loss, -z);
            assert_near(loss == UC_PU_SIGMOID ? value + mirrored - 1.0 : value - mirrored + z, 0.0, 1e-13);
            double ignored;
            const double high = uc_pu_loss_at(&ignored, (uc_pu_loss)loss, z + 1e-5);
            const double low = uc_pu_loss_at(&ignored, (uc_pu_loss)loss, z - 1e-5);
            assert_near(slope, (high - low) / 2e-5, 1e-5);
        }
    }
}

/* ---- the objective ---- */

/* Row by row, as the formulas are written. */
static double slow_objective(const uc_pu_problem *self, const double *w)
{
    const uc_dataset *data = self->rows->data;
    double own = 0, other = 0, all = 0, rest = 0, l = 0, u = 0, penalty = 0, ignored;
    for (size_t i = 0; i < data->X.rows; i++) {
        double f = w[0];
        for (size_t j = 0; j < data->X.cols; j++)
            f += w[j + 1] * (double)data->X.values[i * data->X.stride + j];
        const bool labelled = data->y[i] == self->rows->positive;
        l += labelled;
        u += !labelled;
        own += labelled ? uc_pu_loss_at(&ignored, self->loss, f) : 0;
        other += labelled ? uc_pu_loss_at(&ignored, self->loss, -f) : 0;
        rest += labelled ? 0 : uc_pu_loss_at(&ignored, self->loss, -f);
        all += uc_pu_loss_at(&ignored, self->loss, -f);
    }
    for (size_t j = 0; j < data->X.cols; j++)
        penalty += self->l2 / 2 * (self->factors ? self->factors[j] : 1) * w[j + 1] * w[j + 1];
    if (self->kind == UC_PU_ELKAN_NOTO)
        return (own + rest) / (l + u) + penalty;
    const double population = self->rows->scenario == UC_PU_CENSORED ? all / (l + u) : rest / u;
    const double negative = population - self->prior * other / l;
    const double clipped =
        self->smoothing > 0 ? self->smoothing * log(1 + exp(negative / self->smoothing)) : negative;
    return self->prior * own / l + clipped + penalty;
}

static void the_gradient_is_that_of_the_objective(void **state)
{
    (void)state;
    uint32_t truth[80];
    uc_dataset data = clouds(truth, 80, 4, 2.0, 0.4, 0.4, 3);
    const uc_train_settings train = {.bias = 1.0, .seed = 1};
    const uc_fit fit = {&data, &train, NULL, data.X.rows, NULL};
    const double factors[] = {0.5, 1.0, 2.0, 1.5};
    for (int kind = 0; kind < 3 * 3 * 2 * 2; kind++) {
        uc_pu_rows rows;
        assert_ok(uc_pu_rows_begin(&rows, &fit, 1, (uc_pu_scenario)(kind / 9 % 2)));
        uc_pu_problem self = {.rows = &rows,
                              .kind = (uc_pu_kind)(kind % 3),
                              .loss = (uc_pu_loss)(kind / 3 % 3),
                              .prior = 0.4,
                              .l2 = 0.3,
                              .factors = kind / 18 ? factors : NULL,
                              .held_out = -1,
                              .smoothing = kind / 18 && kind % 3 == UC_PU_NONNEGATIVE ? 0.2 : 0.0};
        double w[5] = {0.2, 0.9, -0.4, 0.3, 0.1}, gradient[5], other[5], value, high, low;
        assert_ok(uc_pu_problem_count(&self));
        assert_ok(uc_pu_objective(&value, gradient, NULL, &self, w));
        assert_near_relative(value, slow_objective(&self, w), 1e-12);
        for (size_t j = 0; j < 5; j++) {
            const double at = w[j], step = 1e-6;
            w[j] = at + step;
            assert_ok(uc_pu_objective(&high, other, NULL, &self, w));
            w[j] = at - step;
            assert_ok(uc_pu_objective(&low, other, NULL, &self, w));
            w[j] = at;
            assert_near(gradient[j], (high - low) / (2 * step), 1e-7);
        }
        uc_pu_rows_free(&rows);
    }
    uc_dataset_free(&data);
}

/* The mean of the estimated risk over many drawn samples is the risk of all true labels; both scenarios. */
static void risks_are_unbiased(void **state)
{
    (void)state;
    enum { ROWS = 400, DRAWS = 400 };
    const double w[3] = {-0.7, 1.1, 0.4};
    uint32_t truth[ROWS];
    for (int scenario = 0; scenario < 2; scenario++)
        for (int loss = 0; loss < 3; loss++) {
            double estimated = 0.0, true_risk = 0.0, squares = 0.0;
            for (uint64_t draw = 0; draw < DRAWS; draw++) {
                uc_dataset data =
                    clouds(truth, ROWS, 2, 1.5, 0.3, scenario == UC_PU_CENSORED ? 0.4 : 0.0, 1000 + draw);
                if (scenario == UC_PU_SAMPLED) /* the last rows are positives from elsewhere */
                    for (size_t i = ROWS - 80; i < ROWS; i++) {
                        data.X.values[i * data.X.stride] += truth[i] ? 0.0f : 1.5f;
                        data.y[i] = 1;
                    }
                const uc_train_settings train = {.bias = 1.0, .seed = 1};
                const uc_fit fit = {&data, &train, NULL, ROWS, NULL};
                uc_pu_rows rows;
                assert_ok(uc_pu_rows_begin(&rows, &fit, 1, (uc_pu_scenario)scenario));
                uc_pu_problem self = {.rows = &rows, .loss = (uc_pu_loss)loss, .prior = 0.3, .held_out = -1};
                double value, gradient[3], ignored, sum = 0.0;
                assert_ok(uc_pu_problem_count(&self));
                assert_ok(uc_pu_objective(&value, gradient, NULL, &self, w));
                const size_t population = scenario == UC_PU_CENSORED ? ROWS : ROWS - 80;
                for (size_t i = 0; i < population; i++) {
                    const float *x = data.X.values + i * data.X.stride;
                    const double f = w[0] + w[1] * (double)x[0] + w[2] * (double)x[1];
                    sum += uc_pu_loss_at(&ignored, (uc_pu_loss)loss, truth[i] ? f : -f) / (double)population;
                }
                estimated += value / DRAWS;
                true_risk += sum / DRAWS;
                squares += (value - sum) * (value - sum) / DRAWS;
                uc_pu_rows_free(&rows);
                uc_dataset_free(&data);
            }
            /* four standard errors of the mean difference, and these must be small enough to notice a bias */
            const double error = sqrt(squares / DRAWS);
            assert_true(error < 0.01);
            assert_near(estimated, true_risk, 4.0 * error);
        }
}

/* More columns than labelled rows and hardly a penalty: the unbiased risk falls far below 0, the other
 * one does not. */
static void the_negative_part_is_never_below_0(void **state)
{
    (void)state;
    uint32_t truth[120];
    uc_dataset data = clouds(truth, 120, 60, 1.0, 0.5, 0.3, 5);
    const uc_train_settings train = {.bias = 1.0, .seed = 1};
    const uc_fit fit = {&data, &train, NULL, data.X.rows, NULL};
    for (int loss = 0; loss < 3; loss++) {
        double negative[2];
        for (int kind = 0; kind < 2; kind++) {
            uc_pu_rows rows;
            assert_ok(uc_pu_rows_begin(&rows, &fit, 1, UC_PU_CENSORED));
            uc_pu_problem self = {.rows = &rows,
                                  .kind = (uc_pu_kind)kind,
                                  .loss = (uc_pu_loss)loss,
                                  .prior = 0.5,
                                  .l2 = 1e-4,
                                  .held_out = -1};
            double w[61] = {0}, gradient[61], value;
            uc_minimum found;
            uc_pu_parts parts;
            assert_ok(uc_pu_problem_count(&self));
            assert_ok(uc_pu_minimise(&found, w, &self, 500, 1e-5));
            assert_ok(uc_pu_objective(&value, gradient, &parts, &self, w));
            negative[kind] = parts.negative;
            uc_pu_rows_free(&rows);
        }
        assert_true(negative[UC_PU_UNBIASED] < -0.01);
        assert_true(negative[UC_PU_NONNEGATIVE] >= 0.0);
        assert_true(negative[UC_PU_NONNEGATIVE] < 0.05);
    }
    uc_dataset_free(&data);
}

/* ---- the learner ---- */

static void few_labels_do_nearly_as_well_as_all(void **state)
{
    (void)state;
    enum { ROWS = 1500 };
    static uint32_t truth[ROWS];
    uc_dataset data = clouds(truth, ROWS, 6, 3.0, 0.4, 0.15, 8);
    for (int kind = 0; kind < 12; kind++) {
        uc_pu_settings settings = defaults();
        settings.risk = kind % 3;
        settings.loss = kind / 3;
        settings.prior = 0.4;
        uc_model *model = train_on(&data, &settings, NULL);
        const double error = error_of(model, &data, truth); /* at best P(N(0,1) > 1.5), about 0.067 */
        if (!(error < (settings.risk == UC_PU_ELKAN_NOTO ? 0.16 : 0.10)))
            fail_msg("risk %d, loss %d: error %g", settings.risk, settings.loss, error);
        uc_model_free(model);
    }
    uc_dataset_free(&data);
}

/* With a bounded loss and a penalty that is too large it is cheapest to call every row negative. */
static void a_small_prior_does_not_make_every_row_negative(void **state)
{
    (void)state;
    enum { ROWS = 2000 };
    static uint32_t truth[ROWS];
    for (int few = 0; few < 2; few++) {
        uc_dataset data = clouds(truth, ROWS, 2, 3.0, 0.2, few ? 0.1 : 0.5, 21);
        uc_pu_settings settings = defaults();
        settings.prior = few ? 0.2 : 0.0;
        uc_model *model = train_on(&data, &settings, NULL);
        assert_true(error_of(model, &data, truth) < 0.08); /* 0.2 when all are negative */
        uc_model_free(model);
        uc_dataset_free(&data);
    }
}

static void the_first_class_may_be_the_positive_one(void **state)
{
    (void)state;
    uint32_t truth[600];
    uc_dataset data = clouds(truth, 600, 3, 3.0, 0.4, 0.3, 8);
    uc_pu_settings settings = defaults();
    settings.prior = 0.4;
    uc_model *model = train_on(&data, &settings, NULL), *other = NULL;
    for (size_t i = 0; i < 600; i++)
        data.y[i] = 1 - data.y[i];
    uc_train_settings train = uc_train_defaults();
    train.positive = "1";
    assert_ok(uc_train(&other, uc_learner_find("pu"), &settings, &train, &data, NULL));
    double p[1200], q[1200];
    assert_ok(uc_model_scores(p, model, &data.X, NULL));
    assert_ok(uc_model_scores(q, other, &data.X, NULL));
    for (size_t i = 0; i < 1200; i++)
        assert_true(p[i] == q[i ^ 1]);
    uc_model_free(model);
    uc_model_free(other);
    uc_dataset_free(&data);
}

static void the_order_of_rows_does_not_matter(void **state)
{
    (void)state;
    enum { ROWS = 700 };
    static uint32_t truth[ROWS];
    static size_t order[ROWS];
    uc_dataset data = clouds(truth, ROWS, 4, 2.5, 0.4, 0.3, 9), turned = {0};
    uc_rng rng = uc_rng_make(4, 4);
    for (size_t i = 0; i < ROWS; i++)
        order[i] = i;
    uc_rng_shuffle(&rng, order, ROWS);
    assert_ok(uc_dataset_subset(&turned, &data, order, ROWS, NULL));
    uc_pu_settings settings = defaults();
    settings.prior = 0.4;
    settings.l2 = 0.05; /* what is chosen by folds depends on who is in which */
    settings.tolerance = 1e-9;
    for (settings.loss = 1; settings.loss < 4; settings.loss++) {
        uc_model *model = train_on(&data, &settings, NULL), *other = train_on(&turned, &settings, NULL);
        static double p[2 * ROWS], q[2 * ROWS];
        assert_ok(uc_model_scores(p, model, &data.X, NULL));
        assert_ok(uc_model_scores(q, other, &data.X, NULL));
        for (size_t i = 0; i < (size_t)2 * ROWS; i++)
            assert_near(p[i], q[i], 1e-5);
        uc_model_free(model);
        uc_model_free(other);
    }
    uc_dataset_free(&data);
    uc_dataset_free(&turned);
}

static void threads_do_not_change_a_byte(void **state)
{
    (void)state;
    static uint32_t truth[1500];
    uc_dataset data = clouds(truth, 1500, 5, 2.0, 0.4, 0.2, 10);
    const uc_pu_settings settings = defaults();
    uc_model *one = train_on(&data, &settings, &(uc_context){.threads = 1});
    for (unsigned threads = 2; threads <= 7; threads += 5) {
        uc_model *many = train_on(&data, &settings, &(uc_context){.threads = threads});
        assert_memory_equal(many->weights, one->weights, 6 * 2 * sizeof(double));
        assert_true(json_equal(many->summary, one->summary));
        uc_model_free(many);
    }
    uc_model_free(one);
    uc_dataset_free(&data);
}

/* A kernel map whose width is chosen: by the risk, not by the error on labels that are mostly missing. */
static void the_width_of_a_kernel_is_chosen_by_the_risk(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    static uint32_t truth[ROWS];
    uc_dataset data = clouds(truth, ROWS, 2, 0.0, 0.5, 1.0, 12);
    uc_rng rng = uc_rng_make(1, 9);
    for (size_t i = 0; i < ROWS; i++) { /* positives are inside a ring */
        float *x = data.X.values + i * data.X.stride;
        const float scale = truth[i] ? 0.5f : 3.0f / (float)(0.1 + sqrt((double)(x[0] * x[0] + x[1] * x[1])));
        x[0] *= scale;
        x[1] *= scale;
        data.y[i] = truth[i] && uc_rng_uniform(&rng) < 0.3;
    }
    uc_pu_settings settings = defaults();
    uc_train_settings train = uc_train_defaults();
    settings.prior = 0.5;
    settings.l2 = 0.001;
    train.map.map = UC_MAP_KGS;
    train.map.dimension = 30;
    train.map.width = UC_AUTO_REAL;
    uc_model *model = NULL;
    assert_ok(uc_tune_and_train(&model, uc_learner_find("pu"), &settings, &train, &data, NULL));
    assert_true(error_of(model, &data, truth) < 0.05);
    uc_model_free(model);
    uc_dataset_free(&data);
}

/* ---- several processes ---- */

typedef struct shared_task {
    const uc_dataset *whole;
    uc_pu_settings settings;
    uc_model *models[3];
} shared_task;

static uc_status train_part(const uc_comm *comm, void *user)
{
    shared_task *self = user;
    const size_t n = self->whole->X.rows, size = (size_t)comm->size, rank = (size_t)comm->rank;
    const size_t first = n * rank * rank / (size * size), last = n * (rank + 1) * (rank + 1) / (size * size);
    const uc_context context = {.comm = comm, .threads = 1};
    size_t rows[1000];
    uc_dataset mine = {0};
    for (size_t i = first; i < last; i++)
        rows[i - first] = i;
    uc_status status = uc_dataset_subset(&mine, self->whole, rows, last - first, NULL);
    if (status == UC_OK)
        status = uc_train(&self->models[rank], uc_learner_find("pu"), &self->settings, NULL, &mine, &context);
    uc_dataset_free(&mine);
    return status;
}

static void processes_learn_what_one_learns(void **state)
{
    (void)state;
    static uint32_t truth[1000];
    uc_dataset data = clouds(truth, 1000, 4, 2.0, 0.4, 0.3, 13);
    shared_task self = {.whole = &data, .settings = defaults()};
    for (int kind = 0; kind < 4; kind++) {
        self.settings.risk = kind < 3 ? kind : UC_PU_NONNEGATIVE;
        self.settings.scenario = kind < 3 ? UC_PU_CENSORED : UC_PU_SAMPLED;
        uc_model *alone = train_on(&data, &self.settings, NULL);
        for (int size = 2; size <= 3; size++) {
            static double p[2000], q[2000];
            assert_ok(run_processes(size, train_part, &self));
            assert_near(uc_model_prior(self.models[0]), uc_model_prior(alone), 1e-6);
            assert_ok(uc_model_scores(p, alone, &data.X, NULL));
            assert_ok(uc_model_scores(q, self.models[0], &data.X, NULL));
            for (size_t i = 0; i < 2000; i++)
                assert_near(p[i], q[i], 1e-3);
            for (int r = 0; r < size; r++) {
                assert_memory_equal(self.models[r]->weights, self.models[0]->weights, 5 * 2 * sizeof(double));
                if (r)
                    uc_model_free(self.models[r]);
            }
            uc_model_free(self.models[0]);
        }
        uc_model_free(alone);
    }
    uc_dataset_free(&data);
}

/* ---- what is refused ---- */

static void bad_settings_and_data_are_refused(void **state)
{
    (void)state;
    uint32_t truth[60];
    uc_dataset data = clouds(truth, 60, 3, 3.0, 0.5, 0.5, 14), three = sample_data(30, 3, 3, false, 1);
    const uc_learner *pu = uc_learner_find("pu");
    uc_pu_settings settings = defaults();
    uc_model *model = NULL;
    const struct {
        const char *name, *value, *sentence;
    } bad[] = {
        {"prior", "1", "{prior=1}: it must be a number above 0 and at most 0.999, or estimate"},
        {"prior", "-0.1", "{prior=-0.1}: it must be a number above 0 and at most 0.999, or estimate"},
        {"loss", "square", "{loss=square}: it must be one of auto|logistic|sigmoid|hinge"},
        {"risk", "biased", "{risk=biased}: it must be one of unbiased|nonnegative|elkan-noto"},
        {"l2", "-1", "{l2=-1}: it must be a number from 0 to 1000000, or auto"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_error(
            uc_option_set(uc_options_find(uc_learner_options(pu), bad[i].name), &settings, bad[i].value),
            UC_ERR_OPTION, bad[i].sentence);
    settings = defaults();
    settings.prior = 1.5;
    assert_error_has(uc_train(&model, pu, &settings, NULL, &data, NULL), UC_ERR_OPTION,
                     "{prior=1.5}: it must be above 0");
    assert_error(uc_train(&model, pu, NULL, NULL, &three, NULL), UC_ERR_INVALID,
                 "positive and unlabelled examples are of one or two classes, not 3");
    settings.prior = 0.001;
    for (size_t i = 0; i < 60; i++)
        data.y[i] = i < 15;
    assert_error(uc_train(&model, pu, &settings, NULL, &data, NULL), UC_ERR_INVALID,
                 "{prior=0.001}: 0.25 of the examples are labelled 2, and the share of positives cannot be "
                 "smaller; if "
                 "the labelled ones come from elsewhere, use {scenario=sampled}");
    for (size_t i = 0; i < 60; i++)
        data.y[i] = 0;
    assert_error(uc_train(&model, pu, NULL, NULL, &data, NULL), UC_ERR_FORMAT, "no example is labelled 2");
    data.y[5] = 1;
    assert_error(
        uc_train(&model, pu, NULL, NULL, &data, NULL), UC_ERR_FORMAT,
        "estimating the class prior takes 2 labelled and 2 unlabelled examples at least, not 1 and 59: give "
        "{prior}");
    for (size_t i = 0; i < 60; i++)
        data.y[i] = 1;
    assert_error(uc_train(&model, pu, NULL, NULL, &data, NULL), UC_ERR_FORMAT,
                 "every example is labelled 2: unlabelled ones are needed too");
    uc_train_settings train = uc_train_defaults();
    train.positive = "7";
    assert_error(uc_train(&model, pu, NULL, &train, &data, NULL), UC_ERR_INVALID,
                 "no example is labelled 7, which {positive} names");
    assert_null(model);
    uc_dataset_free(&data);
    uc_dataset_free(&three);
}

static void one_labelled_row_is_enough_with_a_prior(void **state)
{
    (void)state;
    uint32_t truth[60];
    uc_dataset data = clouds(truth, 60, 2, 4.0, 0.5, 0.0, 15);
    for (size_t i = 0; i < 60; i++)
        if (truth[i]) {
            data.y[i] = 1;
            break;
        }
    uc_pu_settings settings = defaults();
    settings.prior = 0.5;
    uc_model *model = train_on(&data, &settings, NULL);
    assert_true(isfinite(model->weights[2]));
    uc_model_free(model);
    uc_dataset_free(&data);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uint32_t truth[40];
    uc_dataset data = clouds(truth, 40, 2, 3.0, 0.5, 0.5, 16);
    uc_pu_settings settings = defaults();
    settings.l2 = 0.1;
    settings.prior = 0.5;
    const uc_context context = {.threads = 1};
    uc_model *model = NULL;
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status,
                                uc_train(&model, uc_learner_find("pu"), &settings, NULL, &data, &context));
    uc_model_free(model);
    const uc_train_settings train = {.bias = 1.0, .seed = 1};
    const uc_fit fit = {&data, &train, &context, data.X.rows, NULL};
    uc_pu_rows rows;
    assert_ok(uc_pu_rows_begin(&rows, &fit, 1, UC_PU_CENSORED));
    const uc_pu_problem problem = {
        .rows = &rows, .loss = UC_PU_LOGISTIC, .prior = 0.5, .l2 = 0.1, .held_out = -1};
    double scores[40];
    FOR_EACH_FAILING_ALLOCATION(status, uc_pu_cross_scores(scores, &problem));
    uc_pu_rows_free(&rows);
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_are_what_their_formulas_say),
        cmocka_unit_test(the_gradient_is_that_of_the_objective),
        cmocka_unit_test(risks_are_unbiased),
        cmocka_unit_test(the_negative_part_is_never_below_0),
        cmocka_unit_test(few_labels_do_nearly_as_well_as_all),
        cmocka_unit_test(a_small_prior_does_not_make_every_row_negative),
        cmocka_unit_test(the_first_class_may_be_the_positive_one),
        cmocka_unit_test(the_order_of_rows_does_not_matter),
        cmocka_unit_test(threads_do_not_change_a_byte),
        cmocka_unit_test(the_width_of_a_kernel_is_chosen_by_the_risk),
        cmocka_unit_test(processes_learn_what_one_learns),
        cmocka_unit_test(bad_settings_and_data_are_refused),
        cmocka_unit_test(one_labelled_row_is_enough_with_a_prior),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
