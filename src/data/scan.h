/* Searches for classes of characters, sixteen characters at a time, or one by one if the CPU has no SSE2. The
 * plain versions define what the fast ones must compute, and always exist so that tests can compare the two.
 *
 * A text ends with a newline, and UC_NUMBER_SLACK bytes after it are readable. */
#ifndef UC_DATA_SCAN_H
#define UC_DATA_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ---- one by one ---- */

/* Whether a character is part of a word: an ASCII letter or digit, or a byte beyond ASCII. */
static inline bool uc_is_of_word(char c)
{
    const unsigned char u = (unsigned char)c;
    return u >= 0x80 || (u >= '0' && u <= '9') || ((u | 0x20) >= 'a' && (u | 0x20) <= 'z');
}

/* The first delimiter or newline from p on. */
static inline const char *uc_scan_end_plain(const char *p, char delimiter)
{
    while (*p != delimiter && *p != '\n')
        p++;
    return p;
}

/* Whether there is a control character that is not a newline, carriage return or tab. */
static inline bool uc_scan_has_control_plain(const char *p, const char *end)
{
    for (; p < end; p++)
        if ((unsigned char)*p < ' ' && *p != '\n' && *p != '\r' && *p != '\t')
            return true;
    return false;
}

/* Counts the words; *before: whether the text continues a word, and on return whether it ended with one. */
static inline size_t uc_scan_words_plain(const char *p, const char *end, bool *before)
{
    size_t words = 0;
    for (; p < end; p++) {
        const bool word = uc_is_of_word(*p);
        words += word && !*before;
        *before = word;
    }
    return words;
}

/* ---- sixteen at a time ---- */

#ifdef __SSE2__
static inline __m128i uc_scan_load(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* 0xff for each byte that, minus `first`, is at most `width`. */
static inline __m128i uc_scan_between(__m128i text, char first, char width)
{
    const __m128i shifted = _mm_sub_epi8(text, _mm_set1_epi8(first));
    return _mm_cmpeq_epi8(_mm_min_epu8(shifted, _mm_set1_epi8(width)), shifted);
}
#endif

/* Bit i is set if p[i] is the delimiter or a newline, for the next 16 characters. */
static inline uint32_t uc_scan_ends_16(const char *p, char delimiter)
{
#ifdef __SSE2__
    const __m128i text = uc_scan_load(p);
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8(delimiter)),
                                                    _mm_cmpeq_epi8(text, _mm_set1_epi8('\n'))));
#else
    uint32_t mask = 0;
    for (unsigned i = 0; i < 16; i++)
        mask |= (uint32_t)(p[i] == delimiter || p[i] == '\n') << i;
    return mask;
#endif
}

static inline const char *uc_scan_end(const char *p, char delimiter)
{
#ifdef __SSE2__
    for (;; p += 16) {
        const uint32_t found = uc_scan_ends_16(p, delimiter);
        if (found)
            return p + __builtin_ctz(found);
    }
#else
    return uc_scan_end_plain(p, delimiter);
#endif
}

static inline bool uc_scan_has_control(const char *p, const char *end)
{
#ifdef __SSE2__
    __m128i found = _mm_setzero_si128();
    for (; end - p >= 16; p += 16) {
        const __m128i text = uc_scan_load(p);
        const __m128i usual =
            _mm_or_si128(uc_scan_between(text, '\t', 1), /* and newline, which follows tab */
                         _mm_cmpeq_epi8(text, _mm_set1_epi8('\r')));
        found = _mm_or_si128(found, _mm_andnot_si128(usual, uc_scan_between(text, 0, ' ' - 1)));
    }
    if (_mm_movemask_epi8(found))
        return true;
#endif
    return uc_scan_has_control_plain(p, end);
}

#ifdef __SSE2__
/* Bit i is set if p[i] is part of a word, for the next 16 characters. */
static inline uint32_t uc_scan_word_16(const char *p)
{
    const __m128i text = uc_scan_load(p);
    const __m128i letter = uc_scan_between(_mm_or_si128(text, _mm_set1_epi8(0x20)), 'a', 25);
    return (uint32_t)_mm_movemask_epi8(
        _mm_or_si128(_mm_or_si128(letter, text), uc_scan_between(text, '0', 9)));
}
#endif

/* The first character from p on that is part of a word (or is not, if `of_word` is false); `end` if there is
 * none. Fifteen bytes after the end are readable. */
static inline const char *uc_scan_word(const char *p, const char *end, bool of_word)
{
#ifdef __SSE2__
    for (; p < end; p += 16) {
        const uint32_t found = uc_scan_word_16(p) ^ (of_word ? 0 : 0xffffu);
        if (found) {
            p += __builtin_ctz(found);
            break;
        }
    }
    return p < end ? p : end;
#else
    while (p < end && uc_is_of_word(*p) != of_word)
        p++;
    return p;
#endif
}

static inline size_t uc_scan_words(const char *p, const char *end)
{
    bool before = false;
    size_t words = 0;
#ifdef __SSE2__
    for (; end - p >= 64; p += 64) {
        uint64_t mask = 0;
        for (int part = 0; part < 4; part++)
            mask |= (uint64_t)uc_scan_word_16(p + 16 * part) << (16 * part);
        words += (size_t)__builtin_popcountll(mask & ~(mask << 1 | before));
        before = mask >> 63;
    }
#endif
    return words + uc_scan_words_plain(p, end, &before);
}

#endif
