/* The class prior from scores of labelled and unlabelled rows. */
#include "tests/support.h"

#include <math.h>

#include "learn/pu/prior.h"
#include "unconfuse/random.h"

/* Scores of clouds `apart` deviations apart; of the positives `shown` are labelled, and `elsewhere` more
 * positives come from elsewhere. */
static uc_prior_bins draw(size_t rows, double prior, double apart, double shown, size_t elsewhere,
                          uint64_t seed)
{
    uc_rng rng = uc_rng_make(seed, 3);
    uc_prior_bins bins = {{0}, {0}};
    const double spread = sqrt(1.0 + apart * apart * prior * (1.0 - prior)), mean = prior * apart;
    for (size_t i = 0; i < rows + elsewhere; i++) {
        const bool positive = i >= rows || uc_rng_uniform(&rng) < prior;
        const double score = uc_rng_normal(&rng) + (positive ? apart : 0.0);
        const bool labelled = i >= rows || (positive && uc_rng_uniform(&rng) < shown);
        const size_t bin = uc_prior_bin((score - mean) / spread);
        (labelled ? bins.labelled : bins.unlabelled)[bin] += 1.0;
    }
    return bins;
}

static void bins_cover_every_score(void **state)
{
    (void)state;
    assert_int_equal(uc_prior_bin(-100.0), 0);
    assert_int_equal(uc_prior_bin(-UC_PRIOR_REACH), 0);
    assert_int_equal(uc_prior_bin(-1e-9), UC_PRIOR_BINS / 2 - 1);
    assert_int_equal(uc_prior_bin(0.0), UC_PRIOR_BINS / 2);
    assert_int_equal(uc_prior_bin(100.0), UC_PRIOR_BINS - 1);
}

/* Separable clouds: the error falls as rows are added, in both scenarios and for every share of labels. */
static void the_estimate_converges_on_separable_scores(void **state)
{
    (void)state;
    const double priors[] = {0.1, 0.3, 0.5, 0.8};
    for (size_t p = 0; p < 4; p++)
        for (int censored = 0; censored < 2; censored++)
            for (double shown = 0.1; shown < 0.6; shown += 0.4) {
                const size_t rows = 100000;
                const size_t more = censored ? 0 : (size_t)(shown * priors[p] * (double)rows);
                const uc_prior_bins bins = draw(rows, priors[p], 6.0, censored ? shown : 0.0, more, 5);
                uc_prior_estimate found;
                uc_prior_from_bins(&found, &bins, censored, 1);
                assert_near(found.prior, priors[p], 0.02);
                assert_true(found.low <= found.prior && found.prior <= found.high);
                assert_true(found.high - found.low < 0.06);
            }
}

/* Overlapping clouds, whose log odds are linear in the score as the curve assumes. */
static void overlap_does_not_mislead_it(void **state)
{
    (void)state;
    const double priors[] = {0.2, 0.5, 0.7};
    for (size_t p = 0; p < 3; p++)
        for (int censored = 0; censored < 2; censored++) {
            const uc_prior_bins bins =
                draw(50000, priors[p], 2.0, censored ? 0.5 : 0.0, censored ? 0 : 15000, 6);
            uc_prior_estimate found;
            uc_prior_from_bins(&found, &bins, censored, 1);
            assert_near(found.prior, priors[p], 0.06);
        }
}

/* Where labelled rows are few the interval is wide, and it shrinks with more of them. */
static void more_rows_make_the_interval_shorter(void **state)
{
    (void)state;
    double length = 1.0;
    for (size_t rows = 300; rows <= 30000; rows *= 10) {
        const uc_prior_bins bins = draw(rows, 0.4, 2.5, 0.3, 0, 7);
        uc_prior_estimate found;
        uc_prior_from_bins(&found, &bins, true, 1);
        assert_true(found.high - found.low < length);
        assert_true(found.low > 0.0 && found.high < 1.0);
        length = found.high - found.low;
    }
}

static void the_interval_covers_the_prior(void **state)
{
    (void)state;
    int covered = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        const uc_prior_bins bins = draw(1500, 0.4, 3.0, 0.3, 0, 100 + seed);
        uc_prior_estimate found;
        uc_prior_from_bins(&found, &bins, true, seed);
        covered += found.low <= 0.4 && 0.4 <= found.high;
    }
    assert_true(covered >= 33);
}

/* Where all positives are labelled, and where nearly every row is. */
static void extreme_shares_have_an_answer(void **state)
{
    (void)state;
    uc_prior_estimate found;
    uc_prior_bins bins = draw(5000, 0.3, 6.0, 1.0, 0, 8);
    uc_prior_from_bins(&found, &bins, true, 1);
    assert_near(found.prior, 0.3, 0.03);
    bins = draw(5000, 0.995, 6.0, 1.0, 0, 8);
    uc_prior_from_bins(&found, &bins, true, 1);
    assert_true(found.prior > 0.97 && found.prior < 1.0);
}

static void the_same_seed_gives_the_same_interval(void **state)
{
    (void)state;
    const uc_prior_bins bins = draw(2000, 0.4, 2.0, 0.3, 0, 9);
    uc_prior_estimate a, b;
    uc_prior_from_bins(&a, &bins, true, 1);
    uc_prior_from_bins(&b, &bins, true, 1);
    assert_memory_equal(&a, &b, sizeof a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_cover_every_score),
        cmocka_unit_test(the_estimate_converges_on_separable_scores),
        cmocka_unit_test(overlap_does_not_mislead_it),
        cmocka_unit_test(more_rows_make_the_interval_shorter),
        cmocka_unit_test(the_interval_covers_the_prior),
        cmocka_unit_test(extreme_shares_have_an_answer),
        cmocka_unit_test(the_same_seed_gives_the_same_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
