/* Marks of characters and batches of numbers, which marks.h explains. */
#include "data/marks.h"

#include "base/base.h"
#include "data/scan.h"
#include "linalg/kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_LEVELS 1
#endif

bool uc_marks_are_fast(void)
{
#ifdef HAS_LEVELS
    return uc_kernels_now() != &uc_kernels_baseline && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

/* ---- marks ---- */

static void put_word(unsigned char *marks, size_t i, uint64_t word)
{
    word = htole64(word);
    memcpy(marks + i / 8, &word, sizeof word);
}

#ifdef HAS_LEVELS
UC_MARKS_FAST static void mark_fast(uc_marks *self, size_t count)
{
    const __m256i delimiter = _mm256_set1_epi8(self->delimiter), newline = _mm256_set1_epi8('\n');
    const __m256i zero = _mm256_set1_epi8('0'), nine = _mm256_set1_epi8(9);
    for (size_t i = 0; i < count; i += 64) {
        uint64_t ends = 0, digits = 0;
        for (size_t part = 0; part < 64; part += 32) {
            const __m256i text = _mm256_loadu_si256((const __m256i *)(const void *)(self->begin + i + part));
            const __m256i end =
                _mm256_or_si256(_mm256_cmpeq_epi8(text, delimiter), _mm256_cmpeq_epi8(text, newline));
            const __m256i shifted = _mm256_sub_epi8(text, zero);
            const __m256i digit = _mm256_cmpeq_epi8(_mm256_min_epu8(shifted, nine), shifted);
            ends |= (uint64_t)(uint32_t)_mm256_movemask_epi8(end) << part;
            digits |= (uint64_t)(uint32_t)_mm256_movemask_epi8(digit) << part;
        }
        put_word(self->ends, i, ends);
        put_word(self->others, i, ~digits);
    }
}
#endif

static void mark_plain(uc_marks *self, size_t count)
{
    for (size_t i = 0; i < count; i += 64) {
        const char *p = self->begin + i;
        uint64_t ends = 0, others = 0;
        for (unsigned part = 0; part < 64; part += 16) {
            ends |= (uint64_t)uc_scan_ends_16(p + part, self->delimiter) << part;
            others |= (uint64_t)uc_number_mask_16(p + part) << part;
        }
        put_word(self->ends, i, ends);
        put_word(self->others, i, others);
    }
}

void uc_marks_move(uc_marks *self, const char *p)
{
    const size_t left = p < self->text_end ? (size_t)(self->text_end - p) : 0;
    const size_t count = uc_min_size(left, UC_MARKS_WINDOW), words = (count + 63) / 64;
    self->begin = p;
    self->end = p + (left <= UC_MARKS_WINDOW ? left : UC_MARKS_WINDOW - UC_MARKS_AHEAD);
#ifdef HAS_LEVELS
    if (uc_marks_are_fast())
        mark_fast(self, count);
    else
#endif
        mark_plain(self, count);
    put_word(self->ends, 64 * words, 0);
    put_word(self->others, 64 * words, 0);
}

/* ---- batches ---- */

const double uc_batch_scales[16] = {1.0,  1e-1,  1e-2,  1e-3,  1e-4,  1e-5,  1e-6,  1e-7,
                                    -1.0, -1e-1, -1e-2, -1e-3, -1e-4, -1e-5, -1e-6, -1e-7};

/* The value of eight digits, padded with zero bytes at the front. */
static uint32_t value_of(uint64_t digits)
{
    return (uint32_t)uc_number_value(digits & 0x0f0f0f0f0f0f0f0fu, 8);
}

/* Like uc_number_scale, for when the product with the scale may not be precise enough. */
static float scale_exactly(uint32_t m, double scale)
{
    unsigned decimals = 0;
    while (uc_batch_scales[decimals] != (scale < 0.0 ? -scale : scale))
        decimals++;
    const float value = uc_number_scale(m, decimals);
    return scale < 0.0 ? -value : value;
}

static void convert_plain(float *values, const uc_batch *self)
{
    for (size_t i = 0; i < self->count; i++)
        values[i] = scale_exactly(value_of(self->digits[i]), self->scales[i]);
}

#ifdef HAS_LEVELS
/* The values of eight words. */
UC_MARKS_FAST static inline __m256i eight_values(const uint64_t *a, const uint64_t *b)
{
    const __m256i low = _mm256_set1_epi8(15), tens = _mm256_set1_epi16(0x010a);
    const __m256i hundreds = _mm256_set1_epi32(0x00010064), myriads = _mm256_set1_epi32(0x00012710);
    __m256i x = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(const void *)a), low);
    __m256i y = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(const void *)b), low);
    x = _mm256_madd_epi16(_mm256_maddubs_epi16(x, tens), hundreds); /* two digits, then four */
    y = _mm256_madd_epi16(_mm256_maddubs_epi16(y, tens), hundreds);
    const __m256i eight = _mm256_madd_epi16(_mm256_packus_epi32(x, y), myriads);
    return _mm256_permute4x64_epi64(eight, 0xd8);
}

/* Scales four numbers; returns a bit for each that may have been rounded to the wrong float. */
UC_MARKS_FAST static inline int scale_four(float *values, __m128i m, const double *scales)
{
    const __m256d near = _mm256_mul_pd(_mm256_cvtepi32_pd(m), _mm256_loadu_pd(scales));
    const __m256i kept = _mm256_set1_epi64x(0x1fffffff);
    const __m256i rest = _mm256_and_si256(
        _mm256_add_epi64(_mm256_castpd_si256(near), _mm256_set1_epi64x(16 - 0x10000000)), kept);
    _mm_storeu_ps(values, _mm256_cvtpd_ps(near));
    return _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(_mm256_set1_epi64x(33), rest)));
}

/* Corrects the numbers from i on whose bit is set. */
static void correct(float *values, const uc_batch *self, size_t i, int doubtful)
{
    for (; doubtful; doubtful >>= 1, values++, i++)
        if (doubtful & 1)
            *values = scale_exactly(value_of(self->digits[i]), self->scales[i]);
}

UC_MARKS_FAST static void convert_fast(float *values, const uc_batch *self)
{
    size_t i = 0;
    for (; i + 8 <= self->count; i += 8) {
        const __m256i m = eight_values(self->digits + i, self->digits + i + 4);
        const int first = scale_four(values + i, _mm256_castsi256_si128(m), self->scales + i);
        const int second = scale_four(values + i + 4, _mm256_extracti128_si256(m, 1), self->scales + i + 4);
        if (__builtin_expect(first | second, 0))
            correct(values + i, self, i, first | second << 4);
    }
    if (i == self->count)
        return;
    float rest[8];
    const __m256i m = eight_values(self->digits + i, self->digits + i + 4);
    const int doubtful = scale_four(rest, _mm256_castsi256_si128(m), self->scales + i) |
                         scale_four(rest + 4, _mm256_extracti128_si256(m, 1), self->scales + i + 4) << 4;
    memcpy(values + i, rest, (self->count - i) * sizeof *rest);
    correct(values + i, self, i, doubtful & ((1 << (self->count - i)) - 1));
}

/* Converts four pairs from i on, the first `count` of which exist, after column *before; returns whether the
 * columns ascend. */
UC_MARKS_FAST static inline bool four_pairs(float *values, uint32_t *columns, const uc_batch *self, size_t i,
                                            size_t count, __m128i *before)
{
    const __m256i both = eight_values(self->digits + i, self->columns + i);
    const __m128i now = _mm256_extracti128_si256(both, 1);
    const int ascending =
        _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpgt_epi32(now, _mm_alignr_epi8(now, *before, 12))));
    const int doubtful = scale_four(values, _mm256_castsi256_si128(both), self->scales + i);
    _mm_storeu_si128((__m128i *)(void *)columns, _mm_sub_epi32(now, _mm_set1_epi32(1)));
    *before = now;
    const int there = (1 << count) - 1;
    if (__builtin_expect(doubtful & there, 0))
        correct(values, self, i, doubtful & there);
    return (ascending & there) == there;
}

UC_MARKS_FAST static bool pairs_fast(float *values, uint32_t *columns, const uc_batch *self, uint32_t before)
{
    __m128i last = _mm_set1_epi32((int)before);
    bool ascending = true;
    size_t i = 0;
    for (; i + 4 <= self->count; i += 4)
        ascending &= four_pairs(values + i, columns + i, self, i, 4, &last);
    if (i < self->count) {
        float rest[4];
        uint32_t columns_rest[4];
        const size_t count = self->count - i;
        ascending &= four_pairs(rest, columns_rest, self, i, count, &last);
        memcpy(values + i, rest, count * sizeof *rest);
        memcpy(columns + i, columns_rest, count * sizeof *columns_rest);
    }
    return ascending;
}
#endif

void uc_batch_numbers(float *values, uc_batch *self)
{
#ifdef HAS_LEVELS
    if (uc_marks_are_fast())
        convert_fast(values, self);
    else
#endif
        convert_plain(values, self);
    self->count = 0;
}

bool uc_batch_pairs(float *values, uint32_t *columns, uc_batch *self, uint32_t before)
{
    bool ascending = true;
#ifdef HAS_LEVELS
    if (uc_marks_are_fast()) {
        ascending = pairs_fast(values, columns, self, before);
        self->count = 0;
        return ascending;
    }
#endif
    convert_plain(values, self);
    for (size_t i = 0; i < self->count; i++) {
        const uint32_t column = value_of(self->columns[i]);
        ascending = ascending && column > before;
        columns[i] = column - 1;
        before = column;
    }
    self->count = 0;
    return ascending;
}
