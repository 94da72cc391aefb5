/* The losses of CSVM and SloppySVM, as the papers write them; Proposition 1 of the paper by simulation. */
#include "tests/support.h"

#include <math.h>

#include "learn/svm/svm.h"
#include "unconfuse/random.h"

/* eta- and eta+: the order of uc_svm's `rate`. */
static const double rates[][2] = {{0, 0},      {0.3, 0},   {0, 0.4},   {0.2, 0.2},
                                  {0.1, 0.35}, {0.4, 0.2}, {0.45, 0.5}};
enum { RATES = sizeof rates / sizeof *rates };
static const double smoothings[] = {1e-3, 0.5, 3};

static double plain_hinge(double g, double h)
{
    if (g > 1 + h)
        return 0;
    return fabs(1 - g) <= h ? (1 + h - g) * (1 + h - g) / (4 * h) : 1 - g;
}

/* With weights v of the true classes. */
static double weighed_loss(double g, int label, const double *eta, const double *v, double h,
                           uc_svm_loss kind)
{
    const double K = 1 / (1 - eta[0] - eta[1]), own = eta[label] * v[1 - label],
                 other = (1 - eta[1 - label]) * v[label];
    return kind == UC_SVM_WEIGHTED ? K * (other + own) * plain_hinge(g, h)
                                   : K * (other * plain_hinge(g, h) - own * plain_hinge(-g, h));
}

static double plain_loss(double g, int label, const double *eta, double h, uc_svm_loss kind)
{
    static const double one[2] = {1, 1};
    return weighed_loss(g, label, eta, one, h, kind);
}

static uc_svm with_rates(const double *eta, double h, uc_svm_loss kind)
{
    return (uc_svm){.smoothing = h, .loss = kind, .rate = {eta[0], eta[1]}, .weight = {1, 1}};
}

static void the_mean_over_the_flip_is_the_clean_loss(void **state)
{
    (void)state;
    for (size_t r = 0; r < RATES; r++)
        for (size_t s = 0; s < 3; s++)
            for (double g = -6; g <= 6; g += 0.125)
                for (int truth = 0; truth < 2; truth++) {
                    uc_svm svm = with_rates(rates[r], smoothings[s], UC_SVM_SLOPPY);
                    const double eta = rates[r][truth];
                    double slope, kept = uc_svm_loss_at(&slope, &svm, g, truth),
                                  flipped = uc_svm_loss_at(&slope, &svm, -g, 1 - truth);
                    assert_near((1 - eta) * kept + eta * flipped, plain_hinge(g, smoothings[s]), 1e-12);
                    svm.weight[0] = 0.7; /* and times the weight of the true class */
                    svm.weight[1] = 1.9;
                    const double weighed = (1 - eta) * uc_svm_loss_at(&slope, &svm, g, truth) +
                                           eta * uc_svm_loss_at(&slope, &svm, -g, 1 - truth);
                    assert_near(weighed, svm.weight[truth] * plain_hinge(g, smoothings[s]), 1e-12);
                    assert_near(kept, plain_loss(g, truth, rates[r], smoothings[s], UC_SVM_SLOPPY), 1e-12);
                }
}

static void so_it_is_in_a_simulation(void **state)
{
    (void)state;
    enum { DRAWS = 40000 };
    uc_rng rng = uc_rng_make(3, 1);
    for (size_t r = 0; r < RATES; r++)
        for (double g = -2.25; g <= 2.25; g += 0.75)
            for (int truth = 0; truth < 2; truth++) {
                const uc_svm svm = with_rates(rates[r], 0.5, UC_SVM_SLOPPY);
                double sum = 0, squares = 0, slope;
                for (size_t i = 0; i < DRAWS; i++) {
                    const bool flip = uc_rng_uniform(&rng) < rates[r][truth];
                    const double loss = uc_svm_loss_at(&slope, &svm, flip ? -g : g, flip ? 1 - truth : truth);
                    sum += loss;
                    squares += loss * loss;
                }
                const double mean = sum / DRAWS, variance = squares / DRAWS - mean * mean;
                assert_near(mean, plain_hinge(g, 0.5), 5 * sqrt(fmax(variance, 0) / DRAWS) + 1e-9);
            }
}

static void slopes_are_those_of_the_losses(void **state)
{
    (void)state;
    for (size_t r = 0; r < RATES; r++)
        for (size_t s = 0; s < 3; s++)
            for (int kind = UC_SVM_SLOPPY; kind <= UC_SVM_WEIGHTED; kind++)
                for (double g = -5.03; g <= 5; g += 0.07)
                    for (int label = 0; label < 2; label++) {
                        const double h = smoothings[s], step = 1e-6;
                        uc_svm svm = with_rates(rates[r], h, (uc_svm_loss)kind);
                        svm.weight[0] = 0.7;
                        svm.weight[1] = 1.9;
                        double slope, unused;
                        const double loss = uc_svm_loss_at(&slope, &svm, g, label);
                        const double above = uc_svm_loss_at(&unused, &svm, g + step, label),
                                     below = uc_svm_loss_at(&unused, &svm, g - step, label);
                        assert_near(loss, weighed_loss(g, label, rates[r], svm.weight, h, (uc_svm_loss)kind),
                                    1e-11);
                        assert_near(slope, (above - below) / (2 * step), 1e-5 * (1 + fabs(slope)));
                    }
}

static void the_weighted_loss_has_the_same_slope_at_0(void **state)
{
    (void)state;
    for (size_t r = 0; r < RATES; r++)
        for (size_t s = 0; s < 3; s++)
            for (int label = 0; label < 2; label++) {
                const uc_svm sloppy = with_rates(rates[r], smoothings[s], UC_SVM_SLOPPY),
                             weighted = with_rates(rates[r], smoothings[s], UC_SVM_WEIGHTED);
                double a, b;
                uc_svm_loss_at(&a, &sloppy, 0, label);
                uc_svm_loss_at(&b, &weighted, 0, label);
                assert_near_relative(a, b, 1e-14);
                assert_true(a < 0);
            }
}

/* The paper prints L = 1 - |eta+ - eta-|; its proof, and the loss, say 1 + |eta+ - eta-|. */
static void the_steepest_slope_is_that_of_lemma_2_without_its_misprint(void **state)
{
    (void)state;
    for (size_t r = 0; r < RATES; r++) {
        const uc_svm svm = with_rates(rates[r], 0.1, UC_SVM_SLOPPY);
        const double K = 1 / (1 - rates[r][0] - rates[r][1]), apart = fabs(rates[r][0] - rates[r][1]);
        double steepest = 0, slope;
        for (double g = -3; g <= 3; g += 0.01)
            for (int label = 0; label < 2; label++) {
                uc_svm_loss_at(&slope, &svm, g, label);
                steepest = fmax(steepest, fabs(slope));
            }
        assert_near_relative(steepest, K * (1 + apart), 1e-12);
        assert_true(apart == 0 || steepest > 1.05 * K * (1 - apart));
    }
}

/* ---- Proposition 1 ---- */

/* What one example's loss can move by: K L (1 + R W), which the misprinted L would deny. */
static void one_example_moves_the_sum_by_what_the_proof_says(void **state)
{
    (void)state;
    const double RW = 4;
    for (size_t r = 0; r < RATES; r++) {
        const uc_svm svm = with_rates(rates[r], 1e-3, UC_SVM_SLOPPY);
        const double K = 1 / (1 - rates[r][0] - rates[r][1]), apart = fabs(rates[r][0] - rates[r][1]);
        double least = HUGE_VAL, most = -HUGE_VAL, slope;
        for (double g = -RW; g <= RW; g += 0.01)
            for (int label = 0; label < 2; label++) {
                const double loss = uc_svm_loss_at(&slope, &svm, g, label);
                least = fmin(least, loss);
                most = fmax(most, loss);
            }
        assert_true(most - least <= K * (1 + apart) * (1 + RW) + 1e-9);
        assert_true(apart == 0 || most - least > K * (1 - apart) * (1 + RW));
    }
}

/* The largest difference of the clean and the corrected mean loss over many w of length <= W, for one
 * sample. */
static double largest_difference(size_t n, const double *eta, double W, uc_rng *rng)
{
    enum { D = 3, DIRECTIONS = 60, LENGTHS = 3 };
    const uc_svm svm = with_rates(eta, 1e-3, UC_SVM_SLOPPY);
    static double x[4000 * D];
    static int truth[4000], label[4000];
    for (size_t i = 0; i < n; i++) {
        double length = 0;
        for (size_t j = 0; j < D; j++) {
            x[i * D + j] = uc_rng_normal(rng);
            length += x[i * D + j] * x[i * D + j];
        }
        for (size_t j = 0; j < D; j++)
            x[i * D + j] /= sqrt(length); /* R = 1 */
        truth[i] = x[i * D] > 0;
        label[i] = uc_rng_uniform(rng) < eta[truth[i]] ? 1 - truth[i] : truth[i];
    }
    double largest = 0;
    for (size_t t = 0; t < DIRECTIONS * LENGTHS; t++) {
        double w[D], length = 0, clean = 0, corrected = 0, slope;
        for (size_t j = 0; j < D; j++) {
            w[j] = uc_rng_normal(rng);
            length += w[j] * w[j];
        }
        const double scale = W / sqrt(length) * (double)(t % LENGTHS + 1) / LENGTHS;
        for (size_t i = 0; i < n; i++) {
            double f = 0;
            for (size_t j = 0; j < D; j++)
                f += scale * w[j] * x[i * D + j];
            clean += fmax(0, 1 - (truth[i] ? f : -f));
            corrected += uc_svm_loss_at(&slope, &svm, label[i] ? f : -f, label[i]);
        }
        largest = fmax(largest, fabs(clean - corrected) / (double)n);
    }
    return largest;
}

/* With probability 1 - delta the two means differ by less than epsilon for *all* w, where n is what the
 * proof asks for: delta/2 >= 2 exp(-n eps^2/(8 K^2 L^2 (1 + RW)^2)) and eps/4 >= 4 (2 K L W R +
 * 1)/sqrt(n). The bound is far away, so that the difference shrinks with 1/sqrt(n) is asked for too. */
static void the_corrected_mean_is_near_the_clean_one_for_all_weights_at_once(void **state)
{
    (void)state;
    enum { RUNS = 40 };
    const double W = 2, R = 1, delta = 0.1;
    uc_rng rng = uc_rng_make(8, 8);
    for (size_t r = 1; r < 6; r += 2) {
        const double K = 1 / (1 - rates[r][0] - rates[r][1]), L = 1 + fabs(rates[r][0] - rates[r][1]);
        double mean[2] = {0, 0};
        for (int large = 0; large < 2; large++) {
            const size_t n = large ? 4000 : 250;
            const double root = sqrt((double)n);
            const double epsilon = fmax(K * L * (1 + R * W) * sqrt(8 * log(4 / delta)) / root,
                                        16 * (2 * K * L * W * R + 1) / root);
            size_t beyond = 0;
            for (size_t run = 0; run < RUNS; run++) {
                const double difference = largest_difference(n, rates[r], W, &rng);
                beyond += difference >= epsilon;
                mean[large] += difference / RUNS;
            }
            assert_true((double)beyond <= delta * RUNS);
        }
        assert_true(mean[1] < 0.35 * mean[0] && mean[1] > 0.17 * mean[0]); /* sqrt(250/4000) = 0.25 */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mean_over_the_flip_is_the_clean_loss),
        cmocka_unit_test(so_it_is_in_a_simulation),
        cmocka_unit_test(slopes_are_those_of_the_losses),
        cmocka_unit_test(the_weighted_loss_has_the_same_slope_at_0),
        cmocka_unit_test(the_steepest_slope_is_that_of_lemma_2_without_its_misprint),
        cmocka_unit_test(one_example_moves_the_sum_by_what_the_proof_says),
        cmocka_unit_test(the_corrected_mean_is_near_the_clean_one_for_all_weights_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
