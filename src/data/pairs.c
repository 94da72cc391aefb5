/* Column:value pairs, eight at a time: pairs.h.
 *
 * A value is read from the 16 characters that end with the one after it:
 *
 *   characters       1 0 : - 0 . 0 9 0 6 9 8 5 ' '       the value is -0.0906985
 *   digits           0 0 0 0 0 0 0 9 0 6 9 8 5 0         what is no digit of the value becomes 0
 *   without point    0 0 0 0 0 0 0 9 0 6 9 8 5 0         digits before the point move up by its one place
 *
 * so the value is these 16 digits, divided by 10^(15 - place of the point). A value without a point has one
 * after it, in place of the space: no 0 comes after its digits. The first of the 16 is always 0: the number
 * is exact in a double. One register holds the values of four pairs. */
#include "data/pairs.h"

#include "base/base.h"
#include "data/number.h"
#include "linalg/kernels.h"

#if defined(UC_KERNELS_X86) && defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define FAST                                                                                                 \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512bitalg,bmi,"      \
                          "bmi2")))

enum { AT_ONCE = 8 };

bool uc_pairs_are_fast(void)
{
    return uc_kernels_now() == &uc_kernels_avx512 && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}

void uc_pairs_begin(uc_pairs *self, const char *text, const char *text_end)
{
    self->text = text;
    self->text_end = text_end;
    self->begin = NULL;
}

/* ---- the window ---- */

static const uint8_t counting[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                     16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                     32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                     48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

/* Appends the places, from `first` on, of the characters in the mask; returns how many. */
FAST static inline size_t put_places(uint16_t *list, uint64_t mask, size_t first)
{
    const __m512i offset = _mm512_set1_epi16((short)first);
    const size_t count = (size_t)__builtin_popcountll(mask);
    const __m512i places = _mm512_maskz_compress_epi8(mask, _mm512_loadu_si512(counting));
    const __m512i low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(places));
    _mm512_storeu_si512(list, _mm512_add_epi16(low, offset));
    if (__builtin_expect(count > 32, 0)) {
        const __m512i high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(places, 1));
        _mm512_storeu_si512(list + 32, _mm512_add_epi16(high, offset));
    }
    return count;
}

/* Unused lanes read the list as well, and the text at the places in it. */
static void pad_list(uint16_t *list, size_t count)
{
    const uint16_t last = count > 0 ? list[count - 1] : 0;
    for (size_t i = 0; i <= AT_ONCE; i++)
        list[count + i] = last;
}

/* Moves the window: it begins at p, the end of a field. */
FAST static void move_window(uc_pairs *self, const char *p)
{
    const size_t left = (size_t)(self->text_end - p), length = uc_min_size(left, UC_PAIRS_WINDOW);
    size_t ends = 0, colons = 0;
    for (size_t i = 0; i < length; i += 64) {
        const uint64_t there = length - i >= 64 ? UINT64_MAX : ((uint64_t)1 << (length - i)) - 1;
        const __m512i text = _mm512_loadu_si512(p + i);
        const uint64_t newline = _mm512_mask_cmpeq_epi8_mask(there, text, _mm512_set1_epi8('\n'));
        const uint64_t blank = _mm512_mask_cmpeq_epi8_mask(there, text, _mm512_set1_epi8(' '));
        const uint64_t colon = _mm512_mask_cmpeq_epi8_mask(there, text, _mm512_set1_epi8(':'));
        ends += put_places(self->ends + ends, newline | blank, i);
        colons += put_places(self->colons + colons, colon, i);
    }
    pad_list(self->ends, ends);
    pad_list(self->colons, colons);
    self->begin = p;
    self->last = left <= UC_PAIRS_WINDOW;
    self->end_count = ends;
    self->colon_count = colons;
    self->end = self->colon = 0;
}

/* Makes the list go on with the end of the field before the pair at p; false: no field ends there. */
static bool reach(uc_pairs *self, const char *p)
{
    const char *before = p - 1;
    if (before < self->text)
        return false;
    if (!self->begin || (size_t)(before - self->begin) >= UC_PAIRS_WINDOW)
        move_window(self, before);
    const size_t place = (size_t)(before - self->begin);
    while (self->end < self->end_count && self->ends[self->end] < place)
        self->end++;
    while (self->colon < self->colon_count && self->colons[self->colon] < place)
        self->colon++;
    return self->end < self->end_count && self->ends[self->end] == place;
}

/* How many pairs the lists may have from here on, at most eight. */
static size_t pairs_ahead(const uc_pairs *self)
{
    const size_t ends = self->end_count - self->end - 1, colons = self->colon_count - self->colon;
    return uc_min_size(uc_min_size(ends, colons), AT_ONCE);
}

/* ---- eight pairs ---- */

FAST static inline __m512i four_parts(__m128i a, __m128i b, __m128i c, __m128i d)
{
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/* The eight characters after the ends of two fields. */
FAST static inline __m128i two_columns(const char *text, const uint16_t *ends)
{
    const char *even = text + ends[0] + 1, *odd = text + ends[1] + 1;
    const __m128i first = _mm_loadl_epi64((const __m128i *)(const void *)even);
    return _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(first), (const double *)(const void *)odd));
}

FAST static inline __m512i load_columns(const char *text, const uint16_t *ends)
{
    return four_parts(two_columns(text, ends), two_columns(text, ends + 2), two_columns(text, ends + 4),
                      two_columns(text, ends + 6));
}

/* Sixteen characters, the last of which is the end of a field. */
FAST static inline __m128i one_value(const char *text, uint16_t end)
{
    return _mm_loadu_si128((const __m128i *)(const void *)(text + end - 15));
}

/* Those of the first, third, fifth and seventh field. */
FAST static inline __m512i load_values(const char *text, const uint16_t *ends)
{
    return four_parts(one_value(text, ends[0]), one_value(text, ends[2]), one_value(text, ends[4]),
                      one_value(text, ends[6]));
}

/* Digits become numbers of two of them, then four: 16 digits to four numbers. */
FAST static inline __m512i fours(__m512i digits)
{
    const __m512i two = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x010a));
    return _mm512_madd_epi16(two, _mm512_set1_epi32(0x00010064));
}

/* In every 64 bits, the first number times `factor` plus the second. */
FAST static inline __m512i join(__m512i numbers, long long factor)
{
    return _mm512_add_epi64(_mm512_mul_epu32(numbers, _mm512_set1_epi64(factor)),
                            _mm512_srli_epi64(numbers, 32));
}

/* The columns, and a bit for each that has another form. */
FAST static inline __m256i columns_of(unsigned *bad, const char *text, const uint16_t *ends, __m128i lengths)
{
    const __m512i all = _mm512_sub_epi8(load_columns(text, ends), _mm512_set1_epi8('0'));
    const __m512i bits = _mm512_slli_epi64(_mm512_cvtepu16_epi64(lengths), 3);
    const __m512i digits = _mm512_sllv_epi64(all, _mm512_sub_epi64(_mm512_set1_epi64(64), bits));
    const uint64_t others = _mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9));
    const __m128i by_pair = _mm_cvtsi64_si128((long long)others);
    *bad = _mm_cmpgt_epu16_mask(_mm_sub_epi16(lengths, _mm_set1_epi16(1)), _mm_set1_epi16(7)) |
           (_mm_test_epi8_mask(by_pair, by_pair) & 0xffu);
    return _mm512_cvtepi64_epi32(join(fours(digits), 10000));
}

/* What four fields of 16 characters are made of: 16 bits each. */
typedef struct fields {
    uint64_t minus; /* there is one */
    uint64_t below; /* all characters before the point, or before the end */
    uint64_t bad;   /* not of the usual form */
    uint64_t line;  /* a newline is its end: the last bit */
} fields;

#define LAST_OF_EACH UINT64_C(0x8000800080008000)
#define FIRST_OF_EACH UINT64_C(0x0001000100010001)

/* The digits of four fields, without their points; in front of them is 0. */
FAST static inline __m512i digits_of(fields *out, __m512i text, __m512i starts)
{
    const __m512i place = _mm512_and_si512(_mm512_loadu_si512(counting), _mm512_set1_epi8(15));
    const __m512i values = _mm512_sub_epi8(text, _mm512_set1_epi8('0'));
    const uint64_t field = _mm512_cmpge_epu8_mask(place, starts);
    const uint64_t others = _mm512_mask_cmpgt_epu8_mask(field, values, _mm512_set1_epi8(9));
    const uint64_t first = field & ~(field << 1);
    const uint64_t minus = _mm512_mask_cmpeq_epi8_mask(first, text, _mm512_set1_epi8('-'));
    const uint64_t points = _mm512_mask_cmpeq_epi8_mask(field, text, _mm512_set1_epi8('.')) | LAST_OF_EACH;
    const uint64_t less = points - FIRST_OF_EACH, point = points & ~less; /* the first of each field */
    const uint64_t digits = field & ~others;
    out->minus = minus;
    out->below = less & ~points;
    out->bad = (others ^ minus ^ points) | ((points ^ point) & ~LAST_OF_EACH) | ((point >> 1) & ~digits);
    out->line = _mm512_mask_cmpeq_epi8_mask(LAST_OF_EACH, text, _mm512_set1_epi8('\n'));
    const __m512i kept = _mm512_maskz_mov_epi8(digits, values);
    return _mm512_mask_mov_epi8(kept, out->below | point, _mm512_bslli_epi128(kept, 1));
}

/* The bits of two times four fields, in the order of the pairs. */
FAST static inline __m128i in_turn(uint64_t even, uint64_t odd)
{
    return _mm_unpacklo_epi16(_mm_cvtsi64_si128((long long)even), _mm_cvtsi64_si128((long long)odd));
}

/* The sizes of eight values. Those that may round to the wrong float are computed once more. */
FAST static inline __m512d sizes_of(__m512i numbers, __m512i decimals)
{
    const __m512d scale = _mm512_permutex2var_pd(_mm512_loadu_pd(uc_part_of_ten), decimals,
                                                 _mm512_loadu_pd(uc_part_of_ten + AT_ONCE));
    const __m512d near = _mm512_mul_pd(_mm512_cvtepi64_pd(numbers), scale);
    const __m512i rest =
        _mm512_and_si512(_mm512_add_epi64(_mm512_castpd_si512(near), _mm512_set1_epi64(16 - 0x10000000)),
                         _mm512_set1_epi64(0x1fffffff)); /* as in uc_number_is_doubtful */
    unsigned doubtful = _mm512_cmple_epu64_mask(rest, _mm512_set1_epi64(32));
    if (__builtin_expect(doubtful == 0, 1))
        return near;
    double sizes[AT_ONCE];
    uint64_t m[AT_ONCE], after[AT_ONCE];
    _mm512_storeu_pd(sizes, near);
    _mm512_storeu_si512(m, numbers);
    _mm512_storeu_si512(after, decimals);
    for (; doubtful; doubtful &= doubtful - 1) {
        const unsigned i = (unsigned)__builtin_ctz(doubtful);
        sizes[i] = (double)uc_number_scale(m[i], (unsigned)after[i] & 15);
    }
    return _mm512_loadu_pd(sizes);
}

/* The values, a bit for each that has another form, and for each that ends a line. */
FAST static inline __m256 values_of(unsigned *bad, unsigned *line, const char *text, const uint16_t *ends,
                                    __m128i lengths)
{
    /* Where each field begins, for all of its characters: a byte of two for each length. */
    const __m512i starts = _mm512_castsi128_si512(_mm_sub_epi16(_mm_set1_epi16(15), lengths));
    const __m512i field = _mm512_and_si512(_mm512_loadu_si512(counting), _mm512_set1_epi8(0x30));
    const __m512i even_byte = _mm512_srli_epi16(field, 2);
    const __m512i odd_byte = _mm512_add_epi8(even_byte, _mm512_set1_epi8(2));
    fields even, odd;
    const __m512i a = digits_of(&even, load_values(text, ends), _mm512_permutexvar_epi8(even_byte, starts));
    const __m512i b = digits_of(&odd, load_values(text, ends + 1), _mm512_permutexvar_epi8(odd_byte, starts));
    const __m512i eights =
        _mm512_madd_epi16(_mm512_packus_epi32(fours(a), fours(b)), _mm512_set1_epi32(0x00012710));
    const __m128i points = _mm_popcnt_epi16(in_turn(even.below, odd.below));
    const __m512i decimals = _mm512_cvtepu16_epi64(_mm_sub_epi16(_mm_set1_epi16(15), points));
    const __m512d sizes = sizes_of(join(eights, 100000000), decimals);
    const __m128i minus = in_turn(even.minus, odd.minus), wrong = in_turn(even.bad, odd.bad);
    *bad = _mm_cmpgt_epu16_mask(_mm_sub_epi16(lengths, _mm_set1_epi16(1)), _mm_set1_epi16(13)) |
           _mm_test_epi16_mask(wrong, wrong);
    *line = (unsigned)_pext_u64(even.line >> 1 | odd.line, LAST_OF_EACH | LAST_OF_EACH >> 1);
    return _mm512_cvtpd_ps(
        _mm512_mask_xor_pd(sizes, _mm_test_epi16_mask(minus, minus), sizes, _mm512_set1_pd(-0.0)));
}

/* Reads up to `count` pairs of a line; `ends` begins with the end of the field before them. Returns how many
 * there are before the line ends or one has another form; *more: eight, and the line goes on. */
FAST static inline size_t eight_pairs(bool *more, float *values, uint32_t *columns, uint64_t *before,
                                      const char *text, const uint16_t *ends, const uint16_t *colons,
                                      size_t count)
{
    const __m128i begin = _mm_loadu_si128((const __m128i *)(const void *)ends);
    const __m128i end = _mm_loadu_si128((const __m128i *)(const void *)(ends + 1));
    const __m128i colon = _mm_loadu_si128((const __m128i *)(const void *)colons);
    const __m128i one = _mm_set1_epi16(1);
    unsigned bad_column, bad_value, line;
    const __m256i now = columns_of(&bad_column, text, ends, _mm_sub_epi16(_mm_sub_epi16(colon, begin), one));
    const __m256 read =
        values_of(&bad_value, &line, text, ends + 1, _mm_sub_epi16(_mm_sub_epi16(end, colon), one));
    const __m256i last = _mm256_alignr_epi32(now, _mm256_set1_epi32((int)*before), AT_ONCE - 1);
    const unsigned descending = _mm256_cmple_epu32_mask(now, last);
    const __m256i from_0 = _mm256_sub_epi32(now, _mm256_set1_epi32(1));
    const unsigned good =
        (unsigned)__builtin_ctz(bad_column | bad_value | descending | line << 1 | 1u << count);
    *more = good == AT_ONCE && line >> (AT_ONCE - 1) == 0;
    if (good == AT_ONCE) {
        _mm256_storeu_ps(values, read);
        _mm256_storeu_si256((__m256i *)(void *)columns, from_0);
    } else {
        const __mmask8 kept = (__mmask8)((1u << good) - 1);
        _mm256_mask_storeu_ps(values, kept, read);
        _mm256_mask_storeu_epi32(columns, kept, from_0);
        if (good == 0)
            return 0;
    }
    *before = (uint32_t)_mm_cvtsi128_si32(
        _mm256_castsi256_si128(_mm256_permutexvar_epi32(_mm256_set1_epi32((int)good - 1), now)));
    return good;
}

FAST size_t uc_pairs_read(const char **p, float *values, uint32_t *columns, uint64_t *before, uc_pairs *self)
{
    size_t total = 0;
    bool more = reach(self, *p);
    while (more) {
        size_t count = pairs_ahead(self);
        if (count < AT_ONCE && !self->last) { /* the line may go on behind the window */
            move_window(self, self->begin + self->ends[self->end]);
            count = pairs_ahead(self);
        }
        const uint16_t *ends = self->ends + self->end;
        /* The first value is read from 15 characters before its end on. */
        if (count == 0 || self->begin + ends[1] < self->text + 15)
            break;
        const size_t good = eight_pairs(&more, values + total, columns + total, before, self->begin, ends,
                                        self->colons + self->colon, count);
        total += good;
        self->end += good;
        self->colon += good;
    }
    if (total > 0)
        *p = self->begin + self->ends[self->end];
    return total;
}

#else

bool uc_pairs_are_fast(void)
{
    return false;
}

void uc_pairs_begin(uc_pairs *self, const char *text, const char *text_end)
{
    self->text = text;
    self->text_end = text_end;
}

size_t uc_pairs_read(const char **p, float *values, uint32_t *columns, uint64_t *before, uc_pairs *self)
{
    (void)p, (void)values, (void)columns, (void)before, (void)self;
    return 0;
}
#endif
