/* Labels and the probabilities of any model: against a slow computation, files, and what is refused. */
#include "tests/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/probability_rows.h"

/* Rows of K probabilities around a true class, and labels of which every fourth is the next class. */
typedef struct label_problem {
    size_t n, K;
    double *p;
    uint32_t *labels, *truth;
} label_problem;

static label_problem make_problem(size_t n, size_t K, double confidence)
{
    label_problem self = {n, K, calloc(n * K, sizeof(double)), calloc(n, sizeof(uint32_t)),
                          calloc(n, sizeof(uint32_t))};
    uc_rng rng = uc_rng_make(5, 1);
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0;
        self.truth[i] = (uint32_t)uc_rng_below(&rng, K);
        self.labels[i] = i % 4 == 0 ? (uint32_t)((self.truth[i] + 1) % K) : self.truth[i];
        for (size_t k = 0; k < K; k++)
            sum += self.p[i * K + k] = exp(uc_rng_normal(&rng) + (k == self.truth[i] ? confidence : 0.0));
        for (size_t k = 0; k < K; k++)
            self.p[i * K + k] /= sum;
    }
    return self;
}

static void problem_free(label_problem *self)
{
    free(self->p);
    free(self->labels);
    free(self->truth);
}

/* C of rows z, from Q. */
static void slow_confusion(double *C, const double *Q, const label_problem *self)
{
    const size_t K = self->K;
    for (size_t z = 0; z < K; z++) {
        double total = 0.0;
        for (size_t l = 0; l < K; l++) {
            C[z * K + l] = (z == l ? 1.0 : 0.0) + 1.0 / (double)K;
            for (size_t i = 0; i < self->n; i++)
                C[z * K + l] += self->labels[i] == l ? Q[i * K + z] : 0.0;
            total += C[z * K + l];
        }
        for (size_t l = 0; l < K; l++)
            C[z * K + l] /= total;
    }
}

/* Q of one temperature; returns its fit. */
static double slow_settle(double *Q, double *C, const label_problem *self, double T)
{
    const size_t K = self->K;
    double fit = 0.0;
    for (size_t cell = 0; cell < self->n * K; cell++)
        Q[cell] =
            ((self->labels[cell / K] == cell % K ? 1.0 : 0.0) + 1.0 / (9.0 * (double)K)) / (1.0 + 1.0 / 9.0);
    for (size_t step = 0; step < 20; step++) {
        slow_confusion(C, Q, self);
        fit = 0.0;
        for (size_t i = 0; i < self->n; i++) {
            double all = 0.0, sum = 0.0;
            for (size_t z = 0; z < K; z++)
                all += pow(self->p[i * K + z], 1.0 / T);
            for (size_t z = 0; z < K; z++)
                sum += Q[i * K + z] = pow(self->p[i * K + z], 1.0 / T) / all * C[z * K + self->labels[i]];
            for (size_t z = 0; z < K; z++)
                Q[i * K + z] /= sum;
            fit += log(sum) / (double)self->n;
        }
    }
    return fit;
}

static void it_is_what_the_equations_say(void **state)
{
    (void)state;
    for (size_t K = 2; K <= 7; K += 5) {
        label_problem problem = make_problem(120, K, 2.5);
        double *Q = calloc(120 * K, sizeof *Q), *C = calloc(K * K, sizeof *C), best = -INFINITY, T = 0.0;
        for (size_t t = 0; t < UC_TEMPERATURES; t++) {
            const double fit = slow_settle(Q, C, &problem, uc_temperatures[t]);
            T = fit > best ? uc_temperatures[t] : T;
            best = fmax(fit, best);
        }
        slow_settle(Q, C, &problem, T);
        uc_probability_audit found = {0};
        assert_ok(uc_probability_audit_matrix(&found, problem.p, 120, K, problem.labels, NULL));
        assert_near(found.temperature, T, 0.0);
        assert_near(found.fit, best, 1e-6);
        assert_int_equal(found.kept, K);
        for (size_t i = 0; i < 120; i++)
            assert_near(found.wrong[i], 1.0 - Q[i * K + problem.labels[i]], 1e-5);
        slow_confusion(C, Q, &problem);
        uc_noise noise = {0};
        assert_ok(uc_probability_audit_noise(&noise, &found));
        for (size_t z = 0; z < K; z++)
            for (size_t l = 0; l < K; l++)
                assert_near(noise.values[l * K + z], C[z * K + l], 1e-5);
        uc_noise_free(&noise);
        uc_probability_audit_free(&found);
        problem_free(&problem);
        free(Q);
        free(C);
    }
}

/* Of many classes only the most probable are kept. */
static void what_is_left_out_hardly_matters(void **state)
{
    (void)state;
    label_problem problem = make_problem(400, 150, 7.0);
    uc_probability_audit all = {0}, part = {0};
    uc_probability_rows rows = {0};
    float p[150];
    assert_ok(uc_probability_audit_matrix(&all, problem.p, 400, 150, problem.labels, NULL));
    assert_ok(uc_probability_rows_create(&rows, 400, 150, 1));
    assert_int_equal(rows.kept, 64);
    for (size_t i = 0; i < 400; i++) {
        size_t more = 0, found = 0;
        for (size_t k = 0; k < 150; k++)
            p[k] = (float)problem.p[i * 150 + k];
        uc_probability_rows_set(&rows, i, p, problem.labels[i]);
        for (size_t e = 0; e < 64; e++)
            found += rows.class[i * 64 + e] == problem.labels[i];
        assert_int_equal(found, 1);
        for (size_t k = 0; k < 150; k++)
            more +=
                p[k] > p[rows.class[i * 64 + 1]]; /* none but 63 are more probable than one that is kept */
        assert_true(more < 64);
    }
    assert_ok(uc_probability_audit_find(&part, &rows, problem.labels, NULL, NULL));
    assert_true(part.cells.begin[150] <= 400 * 64); /* whatever K is */
    assert_true(part.cells.begin[150] < all.cells.begin[150]);
    for (size_t i = 0; i < 400; i++)
        assert_near(part.wrong[i], all.wrong[i], 0.02);
    assert_near(part.temperature, all.temperature, 0.0);
    uc_probability_rows_free(&rows);
    uc_probability_audit_free(&all);
    uc_probability_audit_free(&part);
    problem_free(&problem);
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    label_problem problem = make_problem(3000, 12, 3.0);
    uc_probability_audit one = {0}, four = {0};
    assert_ok(
        uc_probability_audit_matrix(&one, problem.p, 3000, 12, problem.labels, &(uc_context){.threads = 1}));
    assert_ok(
        uc_probability_audit_matrix(&four, problem.p, 3000, 12, problem.labels, &(uc_context){.threads = 4}));
    assert_memory_equal(one.wrong, four.wrong, 3000 * sizeof *one.wrong);
    assert_int_equal(one.cells.begin[12], 144); /* all classes are kept */
    assert_memory_equal(one.cells.count, four.cells.count, 144 * sizeof *one.cells.count);
    size_t right = 0;
    for (size_t i = 0; i < 3000; i++)
        right += (one.wrong[i] > 0.5) == (problem.labels[i] != problem.truth[i]);
    assert_true(right > 2800);
    uc_probability_audit_free(&one);
    uc_probability_audit_free(&four);
    problem_free(&problem);
}

/* ---- files ---- */

static uc_labels read_labels(const char *text)
{
    const char *path = temporary_path("labels.txt");
    uc_labels labels = {0};
    write_file(path, text);
    assert_ok(uc_labels_read(&labels, path, NULL, NULL, NULL));
    return labels;
}

static uc_status read_audit(uc_probability_audit *out, const char *text, const uc_labels *labels,
                            const uint32_t *gold)
{
    const char *path = temporary_path("p.csv");
    write_file(path, text);
    return uc_probability_audit_read(out, path, labels, gold, NULL);
}

static void columns_are_matched_by_name_or_order(void **state)
{
    (void)state;
    static const char *const files[] = {
        "b,a,c\n.1,.8,.1\n.7,.2,.1\n.3,.3,.4\n.1,.8,.1\n", /* names decide */
        ".8,.1,.1\n.2,.7,.1\n.3,.3,.4\n.8,.1,.1\n",        /* else classes in their order */
        "a;b;c\n.8;.1;.1\n.2;.7;.1\n.3;.3;.4\n.8;.1;.1\n",
    };
    uc_labels labels = read_labels("a\nb\nc\n?\n");
    double first = 0.0;
    for (size_t f = 0; f < 3; f++) {
        uc_probability_audit found = {0};
        assert_ok(read_audit(&found, files[f], &labels, NULL));
        assert_int_equal(found.labels, 3);
        assert_int_equal(found.rows, 4);
        assert_string_equal(found.classes.text[found.given[1]], "b");
        assert_string_equal(found.classes.text[found.most_probable[3]], "a");
        assert_true(found.given[3] == UC_NONE && found.wrong[3] != found.wrong[3]);
        first = f == 0 ? found.wrong[0] : first;
        assert_near(found.wrong[0], first, 1e-6);
        uc_probability_audit_free(&found);
    }
    uc_labels_free(&labels);
    labels = read_labels("2\n0\n0\n"); /* numbers of columns; class 1 is never given */
    uc_probability_audit found = {0};
    assert_ok(read_audit(&found, ".1,.1,.8\n.9,.05,.05\n.1,.9,0\n", &labels, NULL));
    assert_int_equal(found.given[0], 2);
    assert_true(found.wrong[2] > found.wrong[1]);
    uc_probability_audit_free(&found);
    assert_ok(read_audit(&found, "0,2,1\n.1,.8,.1\n.9,.05,.05\n.1,0,.9\n", &labels,
                         NULL)); /* a header of numbers */
    assert_int_equal(found.rows, 3);
    assert_string_equal(found.classes.text[found.given[0]], "2");
    uc_probability_audit_free(&found);
    uc_labels_free(&labels);
}

static void checked_rows_are_certain(void **state)
{
    (void)state;
    uc_labels labels = read_labels("a\nb\na\nb\n");
    const uint32_t gold[4] = {1, UC_NONE, 0, UC_NONE};
    uc_probability_audit found = {0};
    assert_ok(read_audit(&found, "a,b\n1,0\n.1,.9\n0,1\n.1,.9\n", &labels, gold));
    assert_near(found.wrong[0], 1.0, 0.0);
    assert_int_equal(found.most_probable[0], 1);
    assert_near(found.wrong[2], 0.0, 0.0);
    assert_int_equal(found.most_probable[2], 0);
    uc_probability_audit_free(&found);
    uc_labels_free(&labels);
}

static void bad_files_have_their_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } bad[] = {
        {"a,b\n.5,.5\n.2,.9\n1,0\n", "p.csv: row 2: its probabilities sum to 1.1, not 1"},
        {"a,b\n.5,.5\n-.2,1\n1,0\n", "p.csv: row 2, column 1: -0.2 is not a probability"},
        {"a,b\n.5,.5\n", "p.csv has 1 rows, but there are 3 labels"},
        {"a,b\n1,0\n1,0\n1,0\n1,0\n", "p.csv has more rows than the 3 labels"},
        {"a,c\n1,0\n1,0\n1,0\n", "p.csv has no column for class 'b'"},
        {"1,0,0\n1,0,0\n1,0,0\n",
         "p.csv has 3 columns, but the labels are of 2 classes: name the columns in a first line"},
        {"a,a\n1,0\n1,0\n1,0\n", "p.csv:1: a column is named twice, or not at all"},
    };
    uc_labels labels = read_labels("a\nb\na\n");
    uc_probability_audit found = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_error_has(read_audit(&found, bad[i].text, &labels, NULL),
                         i < 2 || i == 6 ? UC_ERR_FORMAT : UC_ERR_INVALID, bad[i].sentence);
    const uint32_t label = 2;
    const double p[2] = {0.5, 0.5};
    assert_error(uc_probability_audit_matrix(&found, p, 1, 2, &label, NULL), UC_ERR_INVALID,
                 "label 1 is 2, but there are 2 classes");
    assert_error(uc_probability_audit_matrix(&found, p, 0, 2, &label, NULL), UC_ERR_INVALID,
                 "pred_probs needs rows, and two classes or more");
    uc_labels_free(&labels);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_labels labels = read_labels("a\nb\na\n");
    const char *path = temporary_path("p.csv");
    uc_probability_audit found = {0};
    uc_status status;
    write_file(path, "b,a\n.1,.9\n.7,.3\n.4,.6\n");
    FOR_EACH_FAILING_ALLOCATION(
        status, uc_probability_audit_read(&found, path, &labels, labels.y, &(uc_context){.threads = 1}));
    uc_probability_audit_free(&found);
    uc_labels_free(&labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_what_the_equations_say),
        cmocka_unit_test(what_is_left_out_hardly_matters),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(columns_are_matched_by_name_or_order),
        cmocka_unit_test(checked_rows_are_certain),
        cmocka_unit_test(bad_files_have_their_sentence),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
