/* Annotations, confusion matrices and posteriors of `audit`, each compared with the equations written out
 * over dense arrays. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support.h"

#include "learn/audit/audit.h"
#include "tests/processes.h"

#define ROWS 700 /* more than a block of a sum */
#define MOST 3000
#define J 9
#define K 4

/* Annotators of different habits; the last one has no annotation, row 5 none at all. */
typedef struct crowd {
    uc_annotation items[MOST];
    size_t count;
    double R[ROWS * K], S[ROWS * K], weights[ROWS];
    uint32_t gold[ROWS];
} crowd;

static void draw(crowd *out, uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 11);
    out->count = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double sum = 0.0;
        for (size_t z = 0; z < K; z++)
            sum += out->R[i * K + z] = uc_rng_uniform(&rng) + 0.01;
        for (size_t z = 0; z < K; z++) {
            out->R[i * K + z] /= sum;
            out->S[i * K + z] = 3.0 * uc_rng_normal(&rng);
        }
        out->weights[i] = 0.5 + uc_rng_uniform(&rng);
        out->gold[i] = i % 50 == 3 ? (uint32_t)uc_rng_below(&rng, K) : UC_NONE;
        for (size_t a = uc_rng_below(&rng, 5); a > 0 && i != 5; a--)
            out->items[out->count++] = (uc_annotation){(uint32_t)i, (uint32_t)uc_rng_below(&rng, J - 1),
                                                       (uint32_t)uc_rng_below(&rng, K)};
    }
}

/* Row-stochastic matrices of all annotators by the definition. */
static void slow_confusion(double C[J][K][K], double P[K][K], const crowd *self, bool weighted)
{
    double N[J][K][K] = {0};
    for (size_t a = 0; a < self->count; a++)
        for (size_t z = 0; z < K; z++)
            N[self->items[a].annotator][z][self->items[a].label] +=
                self->R[self->items[a].row * K + z] * (weighted ? self->weights[self->items[a].row] : 1.0);
    for (size_t z = 0; z < K; z++) {
        double sum = 0.0;
        for (size_t l = 0; l < K; l++) {
            P[z][l] = (z == l ? 1.0 : 0.0) + 1.0 / K;
            for (size_t j = 0; j < J; j++)
                P[z][l] += N[j][z][l];
            sum += P[z][l];
        }
        for (size_t l = 0; l < K; l++)
            P[z][l] /= sum;
    }
    for (size_t j = 0; j < J; j++)
        for (size_t z = 0; z < K; z++) {
            double sum = 10.0;
            for (size_t l = 0; l < K; l++)
                sum += N[j][z][l];
            for (size_t l = 0; l < K; l++)
                C[j][z][l] = (N[j][z][l] + 10.0 * P[z][l]) / sum;
        }
}

static void a_matrix_per_annotator_is_shrunk_towards_that_of_all(void **state)
{
    (void)state;
    crowd *self = malloc(sizeof *self);
    draw(self, 1);
    for (int weighted = 0; weighted < 2; weighted++) {
        uc_annotations annotations = {0};
        uc_confusion confusion = {0};
        double C[J][K][K], P[K][K], own[K * K], LL[K];
        assert_ok(uc_annotations_make(&annotations, self->items, self->count, ROWS, J, K, NULL));
        uc_labelled labelled = {.annotations = &annotations, .weights = weighted ? self->weights : NULL};
        assert_ok(uc_labelled_weigh(&labelled));
        assert_ok(uc_confusion_create(&confusion, &annotations));
        assert_ok(uc_confusion_find(&confusion, &labelled, self->R));
        slow_confusion(C, P, self, weighted);
        for (size_t i = 0; i < K * K; i++)
            assert_near(confusion.P[i], P[i / K][i % K], 1e-13);
        for (uint32_t j = 0; j < J; j++) {
            uc_confusion_of_annotator(own, &confusion, &labelled, j);
            for (size_t i = 0; i < K * K; i++)
                assert_near(own[i], C[j][i / K][i % K], 1e-13);
        }
        for (size_t i = 0; i < ROWS; i++) {
            double want[K] = {0};
            for (size_t a = 0; a < self->count; a++)
                for (size_t z = 0; z < K && self->items[a].row == i; z++)
                    want[z] += log(C[self->items[a].annotator][z][self->items[a].label]);
            uc_confusion_of_row(LL, &confusion, &labelled, i);
            for (size_t z = 0; z < K; z++)
                assert_near(LL[z], want[z], 1e-12);
        }
        uc_confusion_free(&confusion);
        uc_annotations_free(&annotations);
    }
    free(self);
}

static void one_annotator_has_the_common_matrix(void **state)
{
    (void)state;
    const uint32_t y[] = {0, 1, UC_NONE, 1, 1};
    const double R[] = {1, 0, 0, 1, 0.5, 0.5, 0.25, 0.75, 0, 1};
    uc_annotations annotations = {0};
    uc_confusion confusion = {0};
    double votes[10], LL[2], C[4];
    assert_ok(uc_annotations_of_labels(&annotations, y, 5, 2, NULL));
    assert_int_equal(annotations.count, 4);
    assert_int_equal(annotations.pairs, 2);
    uc_labelled labelled = {.annotations = &annotations};
    assert_ok(uc_labelled_weigh(&labelled));
    assert_near(labelled.total_weight, 5.0, 0.0);
    uc_annotations_votes(votes, &annotations);
    assert_near(votes[0], (1.0 + 1.0 / 18.0) / (1.0 + 1.0 / 9.0), 1e-15);
    assert_near(votes[1], (1.0 / 18.0) / (1.0 + 1.0 / 9.0), 1e-15);
    assert_near(votes[4], 0.5, 1e-15);
    assert_ok(uc_confusion_create(&confusion, &annotations));
    assert_ok(uc_confusion_find(&confusion, &labelled, R));
    /* true class 0: label 0 once and label 1 a quarter, and 1.5 and .5 before anything was seen */
    assert_near(confusion.P[0], 2.5 / 3.25, 1e-15);
    assert_near(confusion.P[1], 0.75 / 3.25, 1e-15);
    assert_near(confusion.P[2], 0.5 / 4.75, 1e-15);
    uc_confusion_of_row(LL, &confusion, &labelled, 2);
    assert_near(LL[0], 0.0, 0.0);
    assert_near(LL[1], 0.0, 0.0);
    uc_confusion_of_annotator(C, &confusion, &labelled, 0);
    assert_near(C[0], confusion.P[0], 1e-15);
    uc_confusion_free(&confusion);
    uc_annotations_free(&annotations);
}

static void an_annotation_out_of_bounds_is_refused(void **state)
{
    (void)state;
    const uc_annotation items[] = {{0, 0, 0}, {1, 2, 1}};
    uc_annotations out = {0};
    assert_error(uc_annotations_make(&out, items, 2, 2, 2, 2, NULL), UC_ERR_INVALID,
                 "annotation 2 names a row, annotator or class that is not there");
}

static void posteriors_are_those_of_bayes(void **state)
{
    (void)state;
    static const double temperatures[] = {1.0, 2.0, 6.0};
    crowd *self = malloc(sizeof *self);
    draw(self, 2);
    uc_annotations annotations = {0};
    uc_confusion confusion = {0};
    assert_ok(uc_annotations_make(&annotations, self->items, self->count, ROWS, J, K, NULL));
    uc_labelled labelled = {.annotations = &annotations, .weights = self->weights, .gold = self->gold};
    assert_ok(uc_labelled_weigh(&labelled));
    assert_ok(uc_confusion_create(&confusion, &annotations));
    assert_ok(uc_confusion_find(&confusion, &labelled, self->R));
    double *R = malloc(sizeof self->R), change, fits[3], want[3] = {0}, largest = 0.0, LL[K];
    memcpy(R, self->R, sizeof self->R);
    const uc_expectation expectation = {&labelled, &confusion, self->S, 1.5, temperatures, 3};
    assert_ok(uc_expect(R, &change, fits, &expectation));
    for (size_t i = 0; i < ROWS; i++) {
        double sum = 0.0;
        uc_confusion_of_row(LL, &confusion, &labelled, i);
        for (size_t z = 0; z < K; z++)
            sum += exp(self->S[i * K + z] / 1.5) * exp(LL[z]);
        for (size_t z = 0; z < K; z++) {
            const double posterior = exp(self->S[i * K + z] / 1.5) * exp(LL[z]) / sum;
            assert_near(R[i * K + z], posterior, 1e-12);
            largest = fmax(largest, fabs(posterior - self->R[i * K + z]));
        }
        if (self->gold[i] != UC_NONE)
            assert_near(R[i * K + self->gold[i]], 1.0, 0.0);
        for (size_t t = 0; t < 3; t++) {
            double all = 0.0, right = 0.0;
            for (size_t z = 0; z < K; z++) {
                all += exp(self->S[i * K + z] / temperatures[t]);
                right += exp(self->S[i * K + z] / temperatures[t] + LL[z]);
            }
            want[t] += self->weights[i] * log(right / all) / labelled.total_weight;
        }
    }
    assert_near(change, largest, 1e-12);
    for (size_t t = 0; t < 3; t++)
        assert_near(fits[t], want[t], 1e-12);
    uc_confusion_free(&confusion);
    uc_annotations_free(&annotations);
    free(R);
    free(self);
}

/* S is three times too sure of itself for labels that follow softmax(S / 3): that is found, of many
 * rows. */
static void too_sure_scores_are_softened(void **state)
{
    (void)state;
    uint32_t y[ROWS];
    double S[ROWS * K], R[ROWS * K], Q[ROWS * K], LL[K], temperature;
    uc_rng rng = uc_rng_make(3, 5);
    for (size_t i = 0; i < ROWS; i++) {
        double sum = 0.0, u;
        for (size_t z = 0; z < K; z++) {
            S[i * K + z] = 9.0 * uc_rng_normal(&rng);
            sum += exp(S[i * K + z] / 3.0);
        }
        u = uc_rng_uniform(&rng) * sum;
        for (y[i] = 0; y[i] + 1 < K && (u -= exp(S[i * K + y[i]] / 3.0)) >= 0.0;)
            y[i]++;
        for (size_t z = 0; z < K; z++)
            R[i * K + z] = y[i] == z ? 0.97 : 0.01;
    }
    uc_annotations annotations = {0};
    uc_audit_fit found = {ROWS, K, R, S, .mode = UC_AUDIT_STRUCTURE, .temperature = 6.0};
    assert_ok(uc_annotations_of_labels(&annotations, y, ROWS, K, NULL));
    const uc_labelled labelled = {.annotations = &annotations};
    assert_ok(uc_confusion_create(&found.confusion, &annotations));
    assert_ok(uc_confusion_find(&found.confusion, &labelled, R));
    assert_ok(uc_audit_soften(Q, &temperature, &found, &labelled));
    assert_near(temperature, 1.0, 0.0);
    assert_memory_equal(Q, R, sizeof R);
    found.large = true;
    assert_ok(uc_audit_soften(Q, &temperature, &found, &labelled));
    assert_near(temperature, 3.0, 0.0);
    for (size_t i = 0; i < ROWS; i++) {
        double sum = 0.0;
        uc_confusion_of_row(LL, &found.confusion, &labelled, i);
        for (size_t z = 0; z < K; z++)
            sum += exp(S[i * K + z] / 3.0 + LL[z]);
        for (size_t z = 0; z < K; z++)
            assert_near(Q[i * K + z], exp(S[i * K + z] / 3.0 + LL[z]) / sum, 1e-12);
    }
    found.mode = UC_AUDIT_LABELS; /* which divides by a temperature of its own */
    found.temperature = 2.0;
    assert_ok(uc_audit_soften(Q, &temperature, &found, &labelled));
    assert_true(temperature >= 2.0);
    uc_confusion_free(&found.confusion);
    uc_annotations_free(&annotations);
}

static void checked_rows_are_certain_from_the_start(void **state)
{
    (void)state;
    const uint32_t y[] = {0, 1, 1}, gold[] = {1, UC_NONE, 1};
    uc_annotations annotations = {0};
    double R[6];
    assert_ok(uc_annotations_of_labels(&annotations, y, 3, 2, NULL));
    const uc_labelled labelled = {.annotations = &annotations, .gold = gold};
    uc_labelled_start(R, &labelled);
    assert_near(R[0], 0.0, 0.0);
    assert_near(R[1], 1.0, 0.0);
    assert_near(R[2] + R[3], 1.0, 1e-15);
    assert_near(R[5], 1.0, 0.0);
    uc_annotations_free(&annotations);
}

/* ---- several processes ---- */

typedef struct shared {
    const crowd *all;
    double P[3][K * K], prior[3], pi[3][K];
} shared;

static uc_status find_share(const uc_comm *comm, void *user)
{
    shared *self = user;
    const size_t rank = (size_t)uc_comm_rank(comm), size = (size_t)uc_comm_size(comm);
    const size_t from = ROWS * rank / size, to = ROWS * (rank + 1) / size;
    const uc_context context = {.threads = 1, .comm = comm};
    uc_annotation *own = malloc(sizeof self->all->items);
    uc_annotations annotations = {0};
    uc_confusion confusion = {0};
    size_t count = 0;
    for (size_t a = 0; a < self->all->count; a++)
        if (self->all->items[a].row >= from && self->all->items[a].row < to) {
            own[count] = self->all->items[a];
            own[count++].row -= (uint32_t)from;
        }
    uc_status status = uc_annotations_make(&annotations, own, count, to - from, J, K, &context);
    uc_labelled labelled = {.annotations = &annotations, .context = &context};
    if (status == UC_OK)
        status = uc_labelled_weigh(&labelled);
    if (status == UC_OK)
        status = uc_confusion_create(&confusion, &annotations);
    if (status == UC_OK)
        status = uc_confusion_find(&confusion, &labelled, self->all->R + from * K);
    if (status == UC_OK)
        status = uc_class_prior(self->pi[rank], &labelled, self->all->R + from * K);
    if (status == UC_OK)
        status = uc_fit_of_prior(&self->prior[rank], &labelled, &confusion, self->pi[rank]);
    if (status == UC_OK)
        memcpy(self->P[rank], confusion.P, sizeof self->P[rank]);
    uc_confusion_free(&confusion);
    uc_annotations_free(&annotations);
    free(own);
    return status;
}

static void several_processes_find_what_one_does(void **state)
{
    (void)state;
    crowd *all = malloc(sizeof *all);
    draw(all, 3);
    shared one = {.all = all}, three = {.all = all};
    assert_ok(run_processes(1, find_share, &one));
    assert_ok(run_processes(3, find_share, &three));
    for (size_t rank = 0; rank < 3; rank++) {
        for (size_t i = 0; i < K * K; i++)
            assert_near(three.P[rank][i], one.P[0][i], 1e-13);
        for (size_t z = 0; z < K; z++)
            assert_near(three.pi[rank][z], one.pi[0][z], 1e-13);
        assert_near(three.prior[rank], one.prior[0], 1e-13);
    }
    free(all);
}

static uc_status all_of_it(const crowd *self, double *R)
{
    uc_annotations annotations = {0};
    uc_confusion confusion = {0};
    double pi[K], prior, change;
    const uc_context context = {.threads = 1};
    uc_status status = uc_annotations_make(&annotations, self->items, self->count, ROWS, J, K, &context);
    uc_labelled labelled = {.annotations = &annotations, .context = &context};
    if (status == UC_OK)
        status = uc_labelled_weigh(&labelled);
    if (status == UC_OK)
        status = uc_confusion_create(&confusion, &annotations);
    if (status == UC_OK)
        status = uc_confusion_find(&confusion, &labelled, self->R);
    if (status == UC_OK)
        status = uc_class_prior(pi, &labelled, self->R);
    if (status == UC_OK)
        status = uc_fit_of_prior(&prior, &labelled, &confusion, pi);
    const uc_expectation expectation = {&labelled, &confusion, self->S, 1.0, NULL, 0};
    if (status == UC_OK)
        status = uc_expect(R, &change, NULL, &expectation);
    uc_confusion_free(&confusion);
    uc_annotations_free(&annotations);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    crowd *self = malloc(sizeof *self);
    double *R = calloc(ROWS * K, sizeof *R);
    uc_status status;
    draw(self, 4);
    FOR_EACH_FAILING_ALLOCATION(status, all_of_it(self, R));
    free(R);
    free(self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_matrix_per_annotator_is_shrunk_towards_that_of_all),
        cmocka_unit_test(one_annotator_has_the_common_matrix),
        cmocka_unit_test(an_annotation_out_of_bounds_is_refused),
        cmocka_unit_test(posteriors_are_those_of_bayes),
        cmocka_unit_test(too_sure_scores_are_softened),
        cmocka_unit_test(checked_rows_are_certain_from_the_start),
        cmocka_unit_test(several_processes_find_what_one_does),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
