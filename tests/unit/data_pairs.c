/* Column:value pairs read eight at a time, compared with the same text read one character after the other. */
#include "tests/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/number.h"
#include "data/pairs.h"
#include "unconfuse/cpu.h"
#include "unconfuse/random.h"
#include "unconfuse/unconfuse.h"

#define LINES ((size_t)600)
#define MOST_PAIRS ((size_t)40)

static size_t put_usual_value(char *to, uc_rng *rng)
{
    static const unsigned long long limits[] = {10, 1000, 100000000, 1000000000000};
    const unsigned long long m = uc_rng_below(rng, limits[uc_rng_below(rng, 4)]);
    const unsigned decimals = (unsigned)uc_rng_below(rng, 13), sign = uc_rng_below(rng, 2) == 0;
    char digits[32];
    const size_t length = (size_t)snprintf(digits, sizeof digits, "%0*llu", (int)decimals + 1, m);
    const size_t whole = length - decimals;
    size_t written = (size_t)snprintf(to, 32, "%s%.*s", sign ? "-" : "", (int)whole, digits);
    if (decimals > 0 || uc_rng_below(rng, 9) == 0)
        written += (size_t)snprintf(to + written, 32, ".%s", digits + whole);
    return written;
}

/* The form that pairs.h describes: [0-9]{1,8}:-?[0-9]+(\.[0-9]*)? with at most 14 characters of value. */
static bool is_usual(const char *p, size_t length)
{
    const char *end = p + length, *colon = memchr(p, ':', length);
    if (!colon || colon == p || colon - p > 8 || end - colon > 15)
        return false;
    for (; p < colon; p++)
        if (*p < '0' || *p > '9')
            return false;
    size_t digits = 0, points = 0;
    for (p = colon + 1 + (colon[1] == '-'); p < end; p++) {
        if (*p == '.' && digits > 0 && points == 0)
            points++;
        else if (*p >= '0' && *p <= '9')
            digits++;
        else
            return false;
    }
    return digits > 0;
}

/* Lines of pairs in ascending columns. One pair in `odd` has another form; now and then columns do not ascend
 * and there are more blanks. With 0 nothing is odd. */
static char *random_lines(size_t *length, uint64_t seed, uint64_t odd)
{
    static const char *const others[] = {"1e-3", "+1",  ".5",  "-.25", "1e5",    "123456789012345",
                                         "0x1",  "2#3", "1:2", "--1",  "1-",     "1.2.3",
                                         "-",    "",    "7\t", "nan",  "-1.5\r", "1."};
    uc_rng rng = uc_rng_make(seed, 1);
    char *text = calloc(LINES * (MOST_PAIRS * 100 + 8) + UC_NUMBER_SLACK, 1), *to = text;
    unsigned long long column = 0;
    for (size_t line = 0; line < LINES; line++) {
        const char *begin = to;
        if (odd == 0 ||
            uc_rng_below(&rng, 5) > 0) { /* else no label, and columns above those of the line before */
            to += sprintf(to, "%d", (int)uc_rng_below(&rng, 3));
            column = 0;
        }
        for (size_t i = uc_rng_below(&rng, MOST_PAIRS + 1); i > 0; i--) {
            column += 1 + uc_rng_below(&rng, uc_rng_below(&rng, 30) == 0 ? 2000000 : 20);
            to += sprintf(to, "%s%llu:", to > begin ? " " : "", column);
            if (odd == 0 || uc_rng_below(&rng, odd) > 0)
                to += put_usual_value(to, &rng);
            else
                to += sprintf(to, "%s", others[uc_rng_below(&rng, sizeof others / sizeof *others)]);
            if (odd > 0 && uc_rng_below(&rng, 4 * odd) == 0)
                to += sprintf(to, "%*s", (int)uc_rng_below(&rng, 60), "");
            if (odd > 0 && uc_rng_below(&rng, 4 * odd) == 0)
                column -= uc_rng_below(&rng, 3);
        }
        *to++ = '\n';
    }
    *length = (size_t)(to - text);
    return text;
}

/* The next pair by plain code. */
static size_t plain_pair(unsigned long long *column, float *value, const char *p)
{
    const size_t length = strcspn(p, " \n");
    char field[64] = "";
    memcpy(field, p, length < sizeof field ? length : sizeof field - 1);
    *column = strtoull(field, NULL, 10);
    *value = (float)strtod(strchr(field, ':') + 1, NULL);
    return length;
}

/* Whatever is read has the usual form, ascends, and is what strtod says; returns how many pairs of that form
 * were not read, after those at the beginning of the text. */
static size_t check_lines(const char *text, size_t length)
{
    static uc_pairs pairs;
    float values[MOST_PAIRS + 8];
    uint32_t columns[MOST_PAIRS + 8];
    size_t left = 0;
    uc_pairs_begin(&pairs, text, text + length);
    for (const char *p = text; p < text + length; p++) {
        uint64_t before = 0;
        for (p += strcspn(p, " \n"); *p != '\n';) {
            const char *from = ++p, *const first = from;
            memset(values, 0x55, sizeof values);
            memset(columns, 0x55, sizeof columns);
            const uint64_t above = before;
            const size_t count = uc_pairs_read(&p, values, columns, &before, &pairs);
            assert_in_range(count, 0, MOST_PAIRS);
            unsigned long long last = above;
            for (size_t i = 0; i < count; i++) {
                unsigned long long column;
                float value;
                const size_t size = plain_pair(&column, &value, from);
                assert_true(is_usual(from, size) && column > last);
                assert_int_equal(columns[i] + 1, column);
                assert_memory_equal(&values[i], &value, sizeof value);
                last = column;
                from += size + 1;
            }
            assert_int_equal(before, last);
            assert_true(count == 0 || p == from - 1);
            assert_null(memchr(first, '\n', (size_t)(p - first))); /* pairs of one line */
            assert_int_equal(columns[count], 0x55555555);          /* nothing is written after them */
            if (*p == '\n' || *p == ' ')
                continue;
            const size_t size = strcspn(p, " \n"); /* skipped, as if somebody else had read it */
            if (is_usual(p, size) && p > text + 32) {
                unsigned long long column;
                float value;
                (void)plain_pair(&column, &value, p);
                left += column > before;
            }
            p += size;
        }
    }
    return left;
}

static void pairs_of_the_usual_form_are_read_like_strtod(void **state)
{
    (void)state;
    if (!uc_pairs_are_fast())
        skip();
    for (uint64_t seed = 1; seed <= 8; seed++) {
        size_t length;
        char *text = random_lines(&length, seed, 0);
        assert_int_equal(check_lines(text, length), 0);
        free(text);
    }
}

/* One by one, pairs of other forms end what is read at once; those around them are still read. */
static void pairs_of_other_forms_are_left_alone(void **state)
{
    (void)state;
    if (!uc_pairs_are_fast())
        skip();
    for (uint64_t seed = 1; seed <= 8; seed++) {
        size_t length;
        char *text = random_lines(&length, 100 + seed, 1 + seed * seed);
        assert_int_equal(check_lines(text, length), 0);
        free(text);
    }
}

/* Exactly between two floats, the product with a power of ten may be on either side. */
static void values_between_two_floats_are_rounded_like_strtod(void **state)
{
    (void)state;
    if (!uc_pairs_are_fast())
        skip();
    enum { COUNT = 24000, IN_A_LINE = 20 };
    size_t length = 0;
    char *text = calloc((size_t)COUNT * 32 + UC_NUMBER_SLACK, 1);
    for (unsigned i = 0; i < COUNT; i++) {
        const unsigned halvings = 1 + i % 8;
        const double between = (double)(33554431 - 2 * i) / (double)(1u << halvings);
        length += (size_t)sprintf(text + length, "%s %u:%.*f", i % IN_A_LINE == 0 ? "0" : "", 1 + i,
                                  (int)halvings, between);
        if (i % IN_A_LINE == IN_A_LINE - 1)
            text[length++] = '\n';
    }
    assert_int_equal(check_lines(text, length), 0);
    free(text);
}

static uc_status read_at(const char *level, uc_dataset *out, const char *text, size_t length)
{
    const uc_context context = {.threads = 2};
    uc_read_settings settings = uc_reader_defaults();
    settings.storage = UC_STORAGE_SPARSE;
    settings.format = UC_FORMAT_LIBSVM;
    assert_ok(uc_cpu_set_level(level));
    const uc_status status = uc_dataset_read_memory(out, text, length, "data.svm", &settings, &context);
    assert_ok(uc_cpu_set_level("best"));
    return status;
}

static void assert_same_data(const uc_dataset *a, const uc_dataset *b)
{
    assert_int_equal(a->X.rows, b->X.rows);
    assert_int_equal(a->X.cols, b->X.cols);
    const uint64_t *offsets = a->X.offsets;
    assert_memory_equal(offsets, b->X.offsets, (a->X.rows + 1) * sizeof *offsets);
    assert_memory_equal(a->X.values, b->X.values, offsets[a->X.rows] * sizeof(float));
    assert_memory_equal(a->X.columns, b->X.columns, offsets[a->X.rows] * sizeof(uint32_t));
    assert_memory_equal(a->y, b->y, a->X.rows * sizeof *a->y);
}

/* A text, and the same with one character changed: the same data or the same sentence at every level. */
static void every_level_reads_the_same(void **state)
{
    (void)state;
    static const char changes[] = " \n:.-+#e0159\t\r,x\x01";
    size_t length, failures = 0;
    char *text = random_lines(&length, 77, 0);
    uc_rng rng = uc_rng_make(5, 1);
    for (size_t turn = 0; turn < 400; turn++) {
        char *changed = malloc(length + 1);
        memcpy(changed, text, length + 1);
        /* Changes in the last lines too, since most of the text is read before the first failure. */
        const size_t from = turn % 2 ? 0 : length - length / 8;
        for (size_t i = 0; i < turn % 3; i++)
            changed[from + uc_rng_below(&rng, length - from)] =
                changes[uc_rng_below(&rng, sizeof changes - 1)];
        uc_dataset plain = {0}, best = {0};
        const uc_status status = read_at("baseline", &plain, changed, length);
        char *sentence = strdup(uc_last_error());
        assert_int_equal(read_at("best", &best, changed, length), status);
        if (status == UC_OK)
            assert_same_data(&plain, &best);
        else
            assert_string_equal(uc_last_error(), sentence);
        failures += status != UC_OK;
        uc_dataset_free(&plain);
        uc_dataset_free(&best);
        free(sentence);
        free(changed);
    }
    assert_in_range(failures, 20, 380);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_of_the_usual_form_are_read_like_strtod),
        cmocka_unit_test(pairs_of_other_forms_are_left_alone),
        cmocka_unit_test(values_between_two_floats_are_rounded_like_strtod),
        cmocka_unit_test(every_level_reads_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
