/* Random numbers: Philox against published answers, distributions by their moments and by chi-square tests.
 * */
#include "tests/support.h"

#include <math.h>
#include <string.h>

#include "unconfuse/random.h"

/* Quad q of sequence s under seed k is philox(counter (q, s), key k); `drawn` counts words, four per quad. */
static void check_quad(uint64_t seed, uint64_t sequence, uint64_t quad, const uint32_t expected[4])
{
    uc_rng rng = uc_rng_resume(seed, sequence, 4 * quad);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(uc_rng_word(&rng), expected[i]);
}

/* kat_vectors of Random123, philox4x32 with 10 rounds. The second and third have counters whose quad number,
 * times four, does not fit `drawn`; they are checked through the generator's own definition in the next test.
 * */
static void words_are_those_of_philox(void **state)
{
    (void)state;
    const uint32_t zero[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    check_quad(0, 0, 0, zero);
    uc_rng rng = uc_rng_make(0, 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(uc_rng_word(&rng), zero[i]);
}

/* Philox 4x32-10 written down again from the paper. */
static void plain_philox(uint32_t counter[4], const uint32_t key_given[2])
{
    uint32_t key[2] = {key_given[0], key_given[1]};
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)0xD2511F53u * counter[0], b = (uint64_t)0xCD9E8D57u * counter[2];
        const uint32_t next[4] = {(uint32_t)(b >> 32) ^ counter[1] ^ key[0], (uint32_t)b,
                                  (uint32_t)(a >> 32) ^ counter[3] ^ key[1], (uint32_t)a};
        memcpy(counter, next, sizeof next);
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
    }
}

static void the_plain_philox_of_these_tests_gives_the_published_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], answer[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < 3; i++) {
        uint32_t counter[4];
        memcpy(counter, known[i].counter, sizeof counter);
        plain_philox(counter, known[i].key);
        assert_memory_equal(counter, known[i].answer, sizeof counter);
    }
}

static void words_are_those_of_the_plain_philox_for_any_seed_sequence_and_place(void **state)
{
    (void)state;
    static const uint64_t interesting[] = {0, 1, 0xffffffff, 0x100000000, 0x85a308d3243f6a88, UINT64_MAX};
    static const uint64_t quads[] = {0, 1, 0xffffffff, 0x100000000, 0x05a308d3243f6a88, UINT64_MAX / 4};
    for (size_t s = 0; s < 6; s++)
        for (size_t t = 0; t < 6; t++)
            for (size_t b = 0; b < 6; b++) {
                const uint64_t seed = interesting[s], sequence = interesting[t], quad = quads[b];
                uint32_t words[4] = {(uint32_t)quad, (uint32_t)(quad >> 32), (uint32_t)sequence,
                                     (uint32_t)(sequence >> 32)};
                const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
                plain_philox(words, key);
                check_quad(seed, sequence, quad, words);
            }
}

static void a_generator_resumed_goes_on_as_if_never_stopped(void **state)
{
    (void)state;
    uc_rng whole = uc_rng_make(7, 9);
    for (size_t i = 0; i < 60; i++) {
        uc_rng later = uc_rng_resume(7, 9, whole.drawn), copy = whole;
        assert_int_equal(whole.drawn, i);
        for (size_t j = 0; j < 9; j++)
            assert_int_equal(uc_rng_word(&later), uc_rng_word(&copy));
        (void)uc_rng_word(&whole);
    }
    (void)uc_rng_normal(&whole);
    uc_rng later = uc_rng_resume(7, 9, whole.drawn);
    assert_true(uc_rng_normal(&later) == uc_rng_normal(&whole));
}

static void uniform_numbers_have_the_moments_of_the_uniform_distribution(void **state)
{
    (void)state;
    const size_t count = 1000000;
    uc_rng rng = uc_rng_make(11, 0);
    double sum = 0.0, squares = 0.0, product = 0.0, last = 0.5;
    size_t bins[100] = {0};
    for (size_t i = 0; i < count; i++) {
        const double u = uc_rng_uniform(&rng);
        assert_true(u >= 0.0 && u < 1.0);
        sum += u;
        squares += u * u;
        product += (u - 0.5) * (last - 0.5);
        last = u;
        bins[(size_t)(100.0 * u)]++;
    }
    const double n = (double)count;
    assert_near(sum / n, 0.5, 5.0 * sqrt(1.0 / 12.0 / n));
    assert_near(squares / n, 1.0 / 3.0, 5.0 * sqrt(4.0 / 45.0 / n));
    assert_near(product / n, 0.0, 5.0 / 12.0 / sqrt(n));
    double chi_square = 0.0;
    for (size_t b = 0; b < 100; b++)
        chi_square += pow((double)bins[b] - n / 100.0, 2.0) / (n / 100.0);
    assert_true(chi_square > 50.0 && chi_square < 165.0); /* 99 degrees of freedom: 99 +- 14 */
}

static void uniform_numbers_use_all_53_bits(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(5, 5);
    uint64_t seen = 0, missed = 0;
    for (size_t i = 0; i < 2000; i++) {
        const double scaled = ldexp(uc_rng_uniform(&rng), 53);
        assert_true(scaled == floor(scaled));
        seen |= (uint64_t)scaled;
        missed |= ~(uint64_t)scaled;
    }
    assert_true(seen == (UINT64_C(1) << 53) - 1);
    assert_true(missed == UINT64_MAX);
}

static void normal_numbers_have_the_moments_of_the_normal_distribution(void **state)
{
    (void)state;
    const size_t count = 1000000;
    uc_rng rng = uc_rng_make(12, 0);
    double moments[4] = {0};
    size_t within_1 = 0, beyond_3 = 0;
    for (size_t i = 0; i < count; i++) {
        const double z = uc_rng_normal(&rng);
        assert_true(isfinite(z));
        for (int m = 0; m < 4; m++)
            moments[m] += pow(z, m + 1);
        within_1 += fabs(z) < 1.0;
        beyond_3 += fabs(z) > 3.0;
    }
    const double n = (double)count;
    assert_near(moments[0] / n, 0.0, 5.0 / sqrt(n));
    assert_near(moments[1] / n, 1.0, 5.0 * sqrt(2.0 / n));
    assert_near(moments[2] / n, 0.0, 5.0 * sqrt(15.0 / n));
    assert_near(moments[3] / n, 3.0, 5.0 * sqrt(96.0 / n));
    assert_near((double)within_1 / n, 0.6826895, 5.0 * sqrt(0.22 / n));
    assert_near((double)beyond_3 / n, 0.0026998, 5.0 * sqrt(0.0027 / n));
}

static void numbers_below_a_bound_are_equally_frequent(void **state)
{
    (void)state;
    static const uint64_t bounds[] = {1, 2, 3, 7, 10, 64};
    uc_rng rng = uc_rng_make(13, 0);
    for (size_t b = 0; b < 6; b++) {
        const uint64_t bound = bounds[b];
        const double expected = 5000.0;
        size_t counts[64] = {0};
        for (size_t i = 0; i < 5000 * bound; i++) {
            const uint64_t value = uc_rng_below(&rng, bound);
            assert_true(value < bound);
            counts[value]++;
        }
        double chi_square = 0.0;
        for (uint64_t v = 0; v < bound; v++)
            chi_square += pow((double)counts[v] - expected, 2.0) / expected;
        const double freedom = (double)bound - 1.0;
        assert_true(chi_square <= freedom + 5.0 * sqrt(2.0 * freedom) + 5.0);
    }
}

/* With a bound of 3/4 of all 64-bit numbers, a plain remainder would give the lowest third of the values
 * twice as often as the others. */
static void numbers_below_a_huge_bound_are_not_favoured_by_the_remainder(void **state)
{
    (void)state;
    const uint64_t bound = UINT64_C(3) << 62, third = UINT64_C(1) << 62;
    uc_rng rng = uc_rng_make(14, 0);
    const size_t count = 30000;
    size_t counts[3] = {0};
    for (size_t i = 0; i < count; i++) {
        const uint64_t value = uc_rng_below(&rng, bound);
        assert_true(value < bound);
        counts[value / third]++;
    }
    for (size_t i = 0; i < 3; i++)
        assert_near((double)counts[i] / (double)count, 1.0 / 3.0, 0.015);
}

/* The number of a permutation of 0..3 among all 24. */
static size_t permutation_number(const size_t *items)
{
    size_t number = 0;
    for (size_t i = 0; i < 4; i++) {
        size_t smaller = 0;
        for (size_t j = i + 1; j < 4; j++)
            smaller += items[j] < items[i];
        number = number * (4 - i) + smaller;
    }
    return number;
}

static void all_24_orders_of_a_shuffle_are_equally_frequent(void **state)
{
    (void)state;
    const size_t rounds = 48000;
    uc_rng rng = uc_rng_make(15, 0);
    size_t counts[24] = {0};
    for (size_t r = 0; r < rounds; r++) {
        size_t items[4] = {0, 1, 2, 3};
        uc_rng_shuffle(&rng, items, 4);
        size_t seen = 0;
        for (size_t i = 0; i < 4; i++)
            seen |= (size_t)1 << items[i];
        assert_int_equal(seen, 15);
        counts[permutation_number(items)]++;
    }
    double chi_square = 0.0;
    for (size_t p = 0; p < 24; p++)
        chi_square += pow((double)counts[p] - 2000.0, 2.0) / 2000.0;
    assert_true(chi_square < 23.0 + 5.0 * sqrt(46.0));
    assert_true(chi_square > 4.0);
}

static void shuffling_nothing_or_one_item_is_fine(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(1, 1);
    size_t item = 42;
    uc_rng_shuffle(&rng, NULL, 0);
    uc_rng_shuffle(&rng, &item, 1);
    assert_int_equal(item, 42);
}

static void every_pair_that_can_be_chosen_is_equally_frequent(void **state)
{
    (void)state;
    uc_rng rng = uc_rng_make(16, 0);
    size_t counts[5][5] = {{0}}, items[5];
    for (size_t r = 0; r < 40000; r++) {
        uc_rng_choose(&rng, items, 5, 2);
        assert_true(items[0] < 5 && items[1] < 5 && items[0] != items[1]);
        counts[items[0]][items[1]]++;
    }
    double chi_square = 0.0;
    for (size_t a = 0; a < 5; a++)
        for (size_t b = 0; b < 5; b++)
            chi_square += a == b ? 0.0 : pow((double)counts[a][b] - 2000.0, 2.0) / 2000.0;
    assert_true(chi_square < 19.0 + 5.0 * sqrt(38.0));
    uc_rng_choose(&rng, items, 5, 5);
    size_t seen = 0;
    for (size_t i = 0; i < 5; i++)
        seen |= (size_t)1 << items[i];
    assert_int_equal(seen, 31);
}

static void weighted_draws_follow_the_weights_and_never_take_a_zero(void **state)
{
    (void)state;
    const double weights[6] = {0.0, 3.0, 0.0, 1.0, 6.0, 0.0};
    uc_rng rng = uc_rng_make(17, 0);
    size_t counts[6] = {0};
    for (size_t r = 0; r < 100000; r++)
        counts[uc_rng_weighted(&rng, weights, 6)]++;
    for (size_t i = 0; i < 6; i++)
        assert_near((double)counts[i] / 1e5, weights[i] / 10.0, weights[i] > 0.0 ? 0.008 : 0.0);
    const double one[3] = {0.0, 1e-300, 0.0};
    for (size_t r = 0; r < 100; r++)
        assert_int_equal(uc_rng_weighted(&rng, one, 3), 1);
}

/* Neighbouring seeds and sequences: correlations of 1e5 uniform numbers, and no word at the same place. */
static void sequences_and_seeds_are_independent(void **state)
{
    (void)state;
    const size_t count = 100000;
    const uint64_t pairs[][4] = {
        {1, 0, 1, 1}, {1, 0, 2, 0}, {0, 1, 1, 0}, {1, 0, 1, UINT64_C(1) << 32}, {1, 0, UINT64_C(1) << 32, 0}};
    for (size_t p = 0; p < 5; p++) {
        uc_rng a = uc_rng_make(pairs[p][0], pairs[p][1]), b = uc_rng_make(pairs[p][2], pairs[p][3]);
        double product = 0.0;
        size_t same = 0;
        for (size_t i = 0; i < count; i++) {
            uc_rng before_a = a, before_b = b;
            same += uc_rng_word(&before_a) == uc_rng_word(&before_b);
            product += (uc_rng_uniform(&a) - 0.5) * (uc_rng_uniform(&b) - 0.5);
        }
        assert_near(product / (double)count, 0.0, 5.0 / 12.0 / sqrt((double)count));
        assert_true(same <= 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_those_of_philox),
        cmocka_unit_test(the_plain_philox_of_these_tests_gives_the_published_answers),
        cmocka_unit_test(words_are_those_of_the_plain_philox_for_any_seed_sequence_and_place),
        cmocka_unit_test(a_generator_resumed_goes_on_as_if_never_stopped),
        cmocka_unit_test(uniform_numbers_have_the_moments_of_the_uniform_distribution),
        cmocka_unit_test(uniform_numbers_use_all_53_bits),
        cmocka_unit_test(normal_numbers_have_the_moments_of_the_normal_distribution),
        cmocka_unit_test(numbers_below_a_bound_are_equally_frequent),
        cmocka_unit_test(numbers_below_a_huge_bound_are_not_favoured_by_the_remainder),
        cmocka_unit_test(all_24_orders_of_a_shuffle_are_equally_frequent),
        cmocka_unit_test(shuffling_nothing_or_one_item_is_fine),
        cmocka_unit_test(every_pair_that_can_be_chosen_is_equally_frequent),
        cmocka_unit_test(weighted_draws_follow_the_weights_and_never_take_a_zero),
        cmocka_unit_test(sequences_and_seeds_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
