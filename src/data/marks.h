/* Numbers of a text, several at a time.
 *
 * Marks say where the characters are that end a field or are no digit: one bit for each, made 64 at a
 * time for a window of the text. So it is known where a field ends before it is read, and no branch
 * depends on how long fields are. Numbers of the usual shape are collected by their digits, in one word
 * each, and a batch of words becomes numbers by few instructions.
 *
 * A text ends with a newline, and UC_NUMBER_SLACK bytes after it are readable. */
#ifndef UC_DATA_MARKS_H
#define UC_DATA_MARKS_H

#include "data/delimited.h"

/* A function that is compiled a second time for CPUs that find and shift bits faster; what it calls is
 * inlined. uc_marks_are_fast tells which of the two to run. */
#if defined(__x86_64__) && defined(__GNUC__)
#define UC_MARKS_FAST __attribute__((target("avx2,bmi,bmi2")))
#else
#define UC_MARKS_FAST
#endif
bool uc_marks_are_fast(void);

/* ---- marks ---- */

#define UC_MARKS_WINDOW ((size_t)8192) /* characters: marks and text stay in the nearest cache */
#define UC_MARKS_AHEAD 56              /* marks that are known from every character of the window on */

typedef struct uc_marks {
    const char *begin, *end; /* the window: bit i is about begin[i] */
    const char *text_end;
    char delimiter;
    unsigned char ends[UC_MARKS_WINDOW / 8 + 16];   /* the delimiter or a newline */
    unsigned char others[UC_MARKS_WINDOW / 8 + 16]; /* not a digit */
} uc_marks;

static inline void uc_marks_begin(uc_marks *self, const char *text, const char *text_end, char delimiter)
{
    self->begin = self->end = text;
    self->text_end = text_end;
    self->delimiter = delimiter;
}

/* Moves the window: it begins at p. */
void uc_marks_move(uc_marks *self, const char *p);

/* Makes sure that p is in the window, which only moves forward. */
UC_INLINE void uc_marks_reach(uc_marks *self, const char *p)
{
    if (__builtin_expect(p >= self->end, 0))
        uc_marks_move(self, p);
}

/* The marks of character i of the window and those that follow it: bit 0 is its own. */
UC_INLINE uint64_t uc_marks_at(const unsigned char *marks, size_t i)
{
    uint64_t word;
    memcpy(&word, marks + i / 8, sizeof word);
    return le64toh(word) >> (i % 8);
}

/* The length of the field at character i of the window; UC_MARKS_AHEAD: it is at least so long. */
UC_INLINE unsigned uc_marks_length(const uc_marks *self, size_t i)
{
    return (unsigned)__builtin_ctzll(uc_marks_at(self->ends, i) | (uint64_t)1 << UC_MARKS_AHEAD);
}

/* uc_field_cut_record with the marks' delimiter. */
static inline const char *uc_marks_cut(uc_field *out, char **at, uc_marks *self)
{
    char *p = *at;
    uc_marks_reach(self, p);
    const unsigned length = uc_marks_length(self, (size_t)(p - self->begin));
    /* Blanks around it, a quote, nothing or very much of it are left to the other. */
    if (length - 1 >= UC_MARKS_AHEAD - 1 || (unsigned char)*p <= '"' || (unsigned char)p[length - 1] <= ' ')
        return uc_field_cut_record(out, at, self->delimiter);
    *out = (uc_field){.begin = p, .length = length};
    *at = p + length;
    return NULL;
}

/* ---- batches ---- */

#define UC_BATCH ((size_t)64)

typedef struct uc_batch {
    size_t count;
    uint64_t digits[UC_BATCH + 8];  /* up to eight digits as they are written, zero bytes before them */
    uint64_t columns[UC_BATCH + 8]; /* of column:value pairs, in the same way */
    double scales[UC_BATCH + 8];    /* a power of ten, with the sign */
} uc_batch;

extern const double uc_batch_scales[16]; /* 10^0 .. 10^-7, and their negatives */

/* The first `count` of eight characters as a batch wants them, 1 <= count <= 8. */
UC_INLINE uint64_t uc_batch_word(const char *p, unsigned count)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return le64toh(word) << ((0u - 8 * count) & 63);
}

/* Adds the number at p, of `length` characters, if it is of the usual shape: a minus or none, 1 to 8 digits,
 * a point after the first of them or none. `others` has the marks of p, those from `length` on taken off.
 * false: it is of another shape, right or wrong, or a point follows it. No branch depends on whether there
 * is a sign or a point. */
UC_INLINE bool uc_batch_add(uc_batch *self, const char *p, unsigned length, uint64_t others)
{
    const unsigned sign = *p == '-';
    others -= sign; /* its mark; where another character is none of a digit, no digits are before it */
    const unsigned point = (unsigned)__builtin_ctzll(others | (uint64_t)1 << length);
    const unsigned has_point = p[point] == '.', whole = point - sign, digits = length - sign - has_point;
    if (whole == 0 || digits > 8 || others != (uint64_t)has_point << point)
        return false;
    /* The digits before the point, and those after it moved up by its one place. */
    uint64_t word, moved;
    const uint64_t before = UINT64_MAX >> ((0u - 8 * whole) & 63);
    memcpy(&word, p + sign, sizeof word);
    memcpy(&moved, p + sign + 1, sizeof moved);
    word = (le64toh(word) & before) | (le64toh(moved) & ~before);
    self->digits[self->count] = word << ((0u - 8 * digits) & 63);
    self->scales[self->count] = uc_batch_scales[8 * sign + digits - whole];
    return true;
}

/* Empties the batch into `values`, each the float that uc_number_read gives. */
void uc_batch_numbers(float *values, uc_batch *self);
/* Empties a batch of pairs; columns, from 1 in the text, are from 0. false: they are not all at least 1,
 * above the one before and above `before`. */
bool uc_batch_pairs(float *values, uint32_t *columns, uc_batch *self, uint32_t before);

#endif
