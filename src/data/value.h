/* Values of a table as people write them: numbers with thousands separators and currencies, dates, yes and
 * no, and texts that stand for a missing value. */
#ifndef UC_DATA_VALUE_H
#define UC_DATA_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/delimited.h"

/* ---- missing values ---- */

/* A set of short texts, such as NA; the empty text is always one of them. */
typedef struct uc_missing {
    char *list;         /* the texts, each terminated by a zero byte, followed by an empty text */
    uint64_t firsts[4]; /* bit c is set if a text begins with byte c */
} uc_missing;           /* zero-initialised: only the empty text is missing */

/* Reads a comma-separated list; NULL: NA, N/A, NaN, null, None and ?. */
uc_status uc_missing_read(uc_missing *out, const char *list);
void uc_missing_free(uc_missing *self);
bool uc_missing_in_list(const uc_missing *self, const char *text, size_t length);
static inline bool uc_is_missing(const uc_missing *self, const char *text, size_t length)
{
    const unsigned char c = (unsigned char)*text;
    if (length == 0)
        return true;
    return (self->firsts[c >> 6] >> (c & 63) & 1) != 0 && uc_missing_in_list(self, text, length);
}

/* ---- numbers ---- */

/* Reads a number as people write it: a sign, a currency before or after it, thousands in groups of three, a
 * percent sign (12% is 0.12). `decimal` is '.' or ','; the other one separates thousands. Returns false if
 * the text is not entirely such a number, or not a finite float. */
bool uc_value_number(float *out, const char *text, size_t length, char decimal);

/* ---- yes and no ---- */

#define UC_BOOLEANS 4 /* pairs of words */
/* Bit 2p: the first word of pair p, which means no; bit 2p + 1: the second word. 0: none of the words. */
unsigned uc_value_boolean(const char *text, size_t length);
extern const char *const uc_boolean_words[UC_BOOLEANS][2];

/* ---- dates ---- */

typedef enum uc_date_form {
    UC_DATE_ISO,       /* 2024-03-31, 2024-03-31T12:30:00Z */
    UC_DATE_SLASH_YMD, /* 2024/03/31 */
    UC_DATE_DOT_DMY,   /* 31.03.2024 */
    UC_DATE_SLASH_DMY, /* 31/03/2024 */
    UC_DATE_SLASH_MDY, /* 03/31/2024 */
    UC_DATE_DASH_DMY,  /* 31-03-2024 */
    UC_DATE_NAME_DMY,  /* 31 Mar 2024, 31-Mar-2024 */
    UC_DATE_NAME_MDY,  /* Mar 31, 2024 */
    UC_DATE_FORMS
} uc_date_form;
extern const char *const uc_date_form_names[UC_DATE_FORMS];

typedef struct uc_date {
    int64_t days;             /* since 1970-01-01 */
    int year, month, weekday; /* Monday is 0 */
    double hour;
    bool has_time;
} uc_date;
/* Returns false if the text is not a date of that form. */
bool uc_value_date(uc_date *out, const char *text, size_t length, uc_date_form form);
/* Bit f is set if the text is a date of form f. */
unsigned uc_value_date_forms(bool *has_time, const char *text, size_t length);

/* ---- words ---- */

/* A hash of the bytes, eight at a time; different bytes have different hashes almost surely. */
uint64_t uc_value_mark(uint64_t seed, const char *text, size_t length);
/* The hashes of all words of the text in lower case, starting from `seed`, and of all pairs of neighbouring
 * words; `marks` has room for length + 1 of them. A word is a run of letters, digits and bytes beyond ASCII.
 * Returns their number. UC_NUMBER_SLACK bytes after the text are readable. */
size_t uc_value_words(uint64_t *marks, const char *text, size_t length, uint64_t seed);

#endif
