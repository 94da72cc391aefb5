/* Decimal numbers in data files, read at the speed of memory and exactly.
 *
 * The value is (float)d, where d is the double nearest to the text: what strtod and a cast give. */
#ifndef UC_DATA_NUMBER_H
#define UC_DATA_NUMBER_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Readable bytes that must follow a text, so that eight digits can be loaded at once. */
#define UC_NUMBER_SLACK ((size_t)64)

extern const double uc_power_of_ten[65];  /* 10^0 .. 10^64; exact up to 10^22 */
extern const uint64_t uc_count_of_ten[9]; /* 10^0 .. 10^8 */
extern const double uc_part_of_ten[17];   /* 10^0 .. 10^-16, rounded */

/* Where a call would cost as much as what is called; the compiler thinks it too large. */
#define UC_INLINE static inline __attribute__((always_inline))

/* Eight characters in one word, the first one in the lowest byte, digits as 0..9. */
static inline uint64_t uc_number_word(const char *text)
{
    uint64_t t;
    memcpy(&t, text, sizeof t);
    return le64toh(t) ^ 0x3030303030303030u;
}

/* The high bit of every byte of the word that is not a digit; above the first such byte bits may be wrong. */
static inline uint64_t uc_number_others(uint64_t t)
{
    return ((t + 0x7676767676767676u) | t) & 0x8080808080808080u;
}

/* The value of the first `count` digits of a word, 1 <= count <= 8. */
static inline uint64_t uc_number_value(uint64_t t, unsigned count)
{
    t <<= 64 - 8 * count;  /* zeros in front instead of what follows */
    t = t * 10 + (t >> 8); /* two digits in every other byte, then four, then eight */
    return (((t & 0x000000ff000000ffu) * 0x000f424000000064u) +
            (((t >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u)) >>
           32;
}

/* The up to eight digits that text begins with: how many, and their value. */
static inline unsigned uc_number_digits(uint64_t *value, const char *text)
{
    const uint64_t t = uc_number_word(text), others = uc_number_others(t);
    const unsigned count = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
    *value = count ? uc_number_value(t, count) : 0;
    return count;
}

/* Bit i tells that text[i] is not a digit, for the next 16 characters. */
static inline uint32_t uc_number_mask_16(const char *text)
{
#ifdef __SSE2__
    const __m128i zero = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9);
    const __m128i a = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)text), zero);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(a, nine), a)) ^ 0xffffu;
#else
    uint32_t mask = 0;
    for (unsigned i = 0; i < 16; i++)
        mask |= (uint32_t)(text[i] < '0' || text[i] > '9') << i;
    return mask;
#endif
}

/* Whether a double lies so close to the middle of two floats that an error of a few units in its last place
 * could make it the other float: the 29 bits that a float does not keep are near 2^28. */
static inline bool uc_number_is_doubtful(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return ((bits + 16) & 0x1fffffffu) - 0x10000000u <= 32;
}

/* (float)(m / 10^decimals) for m <= 2^53 and decimals <= 16. The quotient of two exact doubles is the nearest
 * double to the text. A product with 10^-decimals is within two units of it and much faster, and nearly
 * always the same float. */
static inline float uc_number_scale(uint64_t m, unsigned decimals)
{
    const double near = (double)(int64_t)m * uc_part_of_ten[decimals];
    if (__builtin_expect(uc_number_is_doubtful(near), 0))
        return (float)((double)(int64_t)m / uc_power_of_ten[decimals]);
    return (float)near;
}

/* Any decimal number; what uc_number_read does not do inline. */
const char *uc_number_read_any(float *out, const char *text);

/* A number of the usual shape, `-0.678`: a minus or none, 1 to 8 digits in all, with a point after the first
 * of them or none, and neither a point nor an exponent after them. Where it ends is found from a mask and not
 * digit by digit, so that the next number can begin while this one is still being computed. Returns its end;
 * NULL: it is of another shape, right or wrong. */
UC_INLINE const char *uc_number_read_usual(float *out, const char *text)
{
    const bool negative = *text == '-';
    const char *p = text + negative;
    uint32_t others = uc_number_mask_16(p);
    if (others == 0)
        return NULL;
    const unsigned whole = (unsigned)__builtin_ctz(others);
    unsigned end = whole, decimals = 0;
    if (p[whole] == '.') {
        others &= others - 1;
        end = others ? (unsigned)__builtin_ctz(others) : 16;
        decimals = end - whole - 1;
    }
    const unsigned digits = whole + decimals;
    if (whole == 0 || digits > 8 || p[end] == '.' || (p[end] | 0x20) == 'e')
        return NULL;
    /* The digits before the point, and those after it moved up by its one place. */
    const uint64_t before = UINT64_MAX >> (64 - 8 * whole);
    const uint64_t word = (uc_number_word(p) & before) | (uc_number_word(p + 1) & ~before);
    static const float signs[2] = {1.0f, -1.0f}; /* looked up: no branch can foretell it */
    *out = uc_number_scale(uc_number_value(word, digits), decimals) * signs[negative];
    return p + end;
}

/* Reads the decimal number that `text` begins with, as strtod would: a sign, digits with or without a point,
 * an exponent. Returns where it ends, or `text` when there is none. The value is infinite when it is beyond
 * the range of float, and 0 when it is too small. The text ends with some other character, and
 * UC_NUMBER_SLACK bytes after that are readable. */
static inline const char *uc_number_read(float *out, const char *text)
{
    const char *end = uc_number_read_usual(out, text);
    return end ? end : uc_number_read_any(out, text);
}

/* What is wrong with a value that uc_number_read did not read to its end or made infinite: "is not a number",
 * ... */
const char *uc_number_complaint(const char *text, size_t length);

/* Longest text that uc_number_write makes, without a final zero byte. */
#define UC_NUMBER_TEXT ((size_t)24)
/* Writes the shortest text that uc_number_read reads back as the same float; returns its length. The value is
 * finite. Whole numbers have no point. */
size_t uc_number_write(char *text, float value);
size_t uc_number_write_count(char *text, uint64_t value);
/* The same for a double and strtod, printed as Python prints it: 1.0, 0.5, 1e+16. */
size_t uc_number_write_real(char *text, double value);

#endif
