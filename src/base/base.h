/* What every layer uses: failing with a sentence, allocating, writing a file whole or not at all. */
#ifndef UC_BASE_H
#define UC_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "unconfuse/output.h"
#include "unconfuse/status.h"

#define UC_PRINTF(text, first) __attribute__((format(printf, text, first)))

#define UC_MESSAGE_BYTES 4096 /* of a sentence, with the final zero */

/* Stores the sentence for uc_last_error and returns `status`. Options that the format names are in braces
 * (message.c); braces in arguments are the user's. */
uc_status uc_fail(uc_status status, const char *format, ...) UC_PRINTF(2, 3);
/* A sentence that the library has put together already once more, after another such text ("": none). */
uc_status uc_fail_again(uc_status status, const char *before, const char *text);
/* What uc_fail stores, and uc_warn hands on. */
void uc_message_format(char *out, size_t size, const char *format, va_list arguments) UC_PRINTF(3, 0);

/* Whether text can be the name of a class or bag: valid UTF-8 without control characters and byte order
 * marks. */
bool uc_is_name(const char *text, size_t length);
/* Whether it is valid UTF-8 without control characters other than tabs and line breaks. */
bool uc_is_text(const char *text, size_t length);
/* The same but for bytes that are not UTF-8, which the first model files could have in names. */
bool uc_is_old_name(const char *text, size_t length);

/* The shortest spelling of a number without exponent and leading zeros, such as +1 or 1.0: its length; 0: the
 * text is not such a number. `out` has room for `length` bytes. */
size_t uc_label_number(char *out, const char *text, size_t length);

/* Text of the input for a message: at most 40 characters, what is not printable as '?'. */
#define UC_QUOTE_SIZE 48
const char *uc_quote(char quoted[UC_QUOTE_SIZE], const char *text, size_t length);

#ifdef __clang_analyzer__ /* which does not see into uc_fail: it returns what it was given */
#define uc_fail(status, ...) ((uc_fail)(status, __VA_ARGS__), (status))
#define uc_fail_again(status, before, sentence) ((uc_fail_again)(status, before, sentence), (status))
#endif

/* ---- memory ---- `count` items of `size` bytes, zeroed, at a multiple of 64 bytes. NULL, with the sentence
 * set, when there is not enough memory or the product overflows; count 0 gives a valid pointer. */
void *uc_alloc(size_t count, size_t size);
/* Grows or shrinks to `count` items; new bytes are not initialised. NULL leaves the old block as it was. */
void *uc_realloc(void *block, size_t count, size_t size);
void uc_free(void *block); /* NULL is fine */
char *uc_strdup(const char *text);
char *uc_strndup(const char *text, size_t length);
/* Makes the allocation after the next `successes` fail, and all later ones; negative: none. For tests. */
void uc_alloc_fail_after(long successes);
void uc_alloc_fail_once_after(long successes); /* only that one fails */
/* Allocations since the last uc_alloc_fail_after; blocks that are not freed yet. For tests. */
long uc_alloc_count(void);
long uc_alloc_live(void);

/* false on overflow. */
bool uc_size_add(size_t *out, size_t a, size_t b);
bool uc_size_mul(size_t *out, size_t a, size_t b);
static inline size_t uc_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}
static inline size_t uc_max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}
/* The next capacity of an array that must hold `needed` items and grows by doubling. */
size_t uc_grown(size_t capacity, size_t needed);

/* A mark of bytes that differ when these do, almost surely (FNV-1a); goes on from the mark of what was
 * before, or UC_MARK. */
#define UC_MARK UINT64_C(14695981039346656037)
static inline uint64_t uc_mark(uint64_t mark, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        mark = (mark ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    return mark;
}

/* ---- numbers in text ---- The whole of text[0..length) as a number, independent of the locale. false: it is
 * not wholly a number. The value may be infinite or NaN when the text says so or is out of range. */
bool uc_parse_real(double *out, const char *text, size_t length);
bool uc_parse_count(uint64_t *out, const char *text, size_t length); /* digits only; false on overflow */
/* snprintf("%.*g", digits, value) with a point, whatever the locale; always terminated. */
size_t uc_print_real(char *text, size_t size, int digits, double value);

/* ---- input files ---- A whole file in memory, for files that are parsed in place; "-" is standard input. A
 * mapped file is private: it may be written to in memory, and the file stays as it is. */
typedef struct uc_bytes {
    unsigned char *data;
    size_t length;
    bool mapped;
} uc_bytes;
uc_status uc_bytes_read(uc_bytes *out, const char *path);
/* The same of a file that begins with `begin`. Of any other only the beginning may be read, so that one
 * without end, a device or a pipe, fills no memory: the caller refuses what does not begin so. */
uc_status uc_bytes_read_kind(uc_bytes *out, const char *path, const void *begin, size_t begin_length);
void uc_bytes_free(uc_bytes *self); /* zero-initialised is fine */

/* ---- output files, beyond what unconfuse/output.h has ---- */
uc_status uc_output_open(uc_output **out, const char *path); /* uc_output_begin that is never cancelled */
/* Commits what was written when `status` is UC_OK, and aborts it otherwise; the status of both. */
uc_status uc_output_end(uc_output *self, uc_status status, bool durable);
uc_status uc_output_open_memory(uc_output **out); /* ended by uc_output_take or uc_output_abort */
/* Ends and frees *self; *bytes, which the caller frees, are all that was written (NULL: nothing was). */
void uc_output_take(void **bytes, size_t *length, uc_output *self);
uc_status uc_output_printf(uc_output *self, const char *format, ...) UC_PRINTF(2, 3);

#endif
