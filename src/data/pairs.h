/* Column:value pairs of LIBSVM text, eight at a time, for CPUs with AVX-512 that also pick out bytes (VBMI2):
 * Intel's since Ice Lake, AMD's since Zen 4.
 *
 * A window of the text is turned into two lists, where fields end and where colons are. So it is known where
 * eight pairs begin and end before any of them is read, and nothing branches on how long they are. A pair has
 * the usual form if it is
 *
 *   12345678:-0.12345     one space before it; one to eight digits; a minus or none; digits with or without a
 *                         point after the first of them, with at most 14 characters; a space or newline
 *
 * Pairs of another form, right or wrong, are left to the caller. */
#ifndef UC_DATA_PAIRS_H
#define UC_DATA_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UC_PAIRS_WINDOW ((size_t)4096) /* characters: text and lists stay in the nearest cache */
#define UC_PAIRS_ROOM (UC_PAIRS_WINDOW + 64)

typedef struct uc_pairs {
    const char *text, *text_end;
    const char *begin; /* of the window; NULL: there is none yet */
    bool last;         /* the window reaches the end of the text */
    size_t end_count, colon_count;
    size_t end, colon; /* those before these have been used */
    uint16_t ends[UC_PAIRS_ROOM],
        colons[UC_PAIRS_ROOM]; /* places in the window; the high bit marks a newline */
} uc_pairs;

bool uc_pairs_are_fast(void);

/* The text ends with a newline, and UC_NUMBER_SLACK bytes after it are readable. */
void uc_pairs_begin(uc_pairs *self, const char *text, const char *text_end);

/* Reads pairs from *p on, up to the end of the line or a pair of another form; *p only moves forward. Columns
 * count from 1 in the text, and from 0 in `columns`. Each is above the one before, the first above *before,
 * which becomes the last one as it is in the text. Returns the number of pairs; if there are any, *p becomes
 * the end of the last one. */
size_t uc_pairs_read(const char **p, float *values, uint32_t *columns, uint64_t *before, uc_pairs *self);

#endif
