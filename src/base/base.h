/* What every layer uses: error messages, memory, numbers in text, and files. */
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

#define UC_MESSAGE_BYTES 4096 /* of a message, with the final zero */

/* Stores the message for uc_last_error and returns `status`. The format names options in braces (see
 * message.c); braces in the arguments are kept as they are. */
uc_status uc_fail(uc_status status, const char *format, ...) UC_PRINTF(2, 3);
/* Stores `text`, a message that the library formatted earlier, preceded by `before` (may be empty). */
uc_status uc_fail_again(uc_status status, const char *before, const char *text);
/* Formats the message that uc_fail stores or uc_warn passes on. */
void uc_message_format(char *out, size_t size, const char *format, va_list arguments) UC_PRINTF(3, 0);

/* Whether the text can be the name of a class or bag: valid UTF-8 without control characters or byte order
 * marks. */
bool uc_is_name(const char *text, size_t length);
/* The same, but tabs and line breaks are allowed. */
bool uc_is_text(const char *text, size_t length);
/* Whether it has no ASCII control characters; it need not be UTF-8. The first model files have such names. */
bool uc_is_old_name(const char *text, size_t length);

/* Writes the shortest spelling of a number such as +1 or 1.0 and returns its length, or 0 if the text is not
 * a number or has an exponent or leading zeros. `out` has room for `length` bytes. */
size_t uc_label_number(char *out, const char *text, size_t length);

/* Input text for a message: at most 40 bytes, with '?' for what is not printable. */
#define UC_QUOTE_SIZE 48
const char *uc_quote(char quoted[UC_QUOTE_SIZE], const char *text, size_t length);

#ifdef __clang_analyzer__ /* it does not see that uc_fail returns its first argument */
#define uc_fail(status, ...) ((uc_fail)(status, __VA_ARGS__), (status))
#define uc_fail_again(status, before, sentence) ((uc_fail_again)(status, before, sentence), (status))
#endif

/* ---- memory ---- */

/* Allocates `count` items of `size` bytes, zeroed and aligned to 64 bytes. Returns NULL and stores a message
 * if there is not enough memory or the product overflows; count 0 gives a valid pointer. */
void *uc_alloc(size_t count, size_t size);
/* Grows or shrinks a block to `count` items; new bytes are not initialised. If it returns NULL, the old block
 * is unchanged. */
void *uc_realloc(void *block, size_t count, size_t size);
void uc_free(void *block); /* NULL is fine */
char *uc_strdup(const char *text);
char *uc_strndup(const char *text, size_t length);
/* Makes all allocations after the next `successes` fail; negative: none. For tests. */
void uc_alloc_fail_after(long successes);
void uc_alloc_fail_once_after(long successes); /* only the first of them fails */
/* The number of allocations since the last uc_alloc_fail_after; the number of blocks not yet freed. For
 * tests. */
long uc_alloc_count(void);
long uc_alloc_live(void);

/* Return false on overflow. */
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

/* A hash (FNV-1a) of bytes: different bytes almost surely have different marks. `mark` is that of the bytes
 * before these, or UC_MARK. */
#define UC_MARK UINT64_C(14695981039346656037)
static inline uint64_t uc_mark(uint64_t mark, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        mark = (mark ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    return mark;
}

/* ---- numbers in text ---- */

/* Reads text[0..length) as a number, independent of the locale; false if it is not entirely a number. The
 * value may be infinite or NaN if the text says so or is out of range. */
bool uc_parse_real(double *out, const char *text, size_t length);
bool uc_parse_count(uint64_t *out, const char *text, size_t length); /* digits only; false on overflow */
/* snprintf("%.*g", digits, value) with a decimal point in every locale; always terminated. */
size_t uc_print_real(char *text, size_t size, int digits, double value);

/* ---- input files ---- */

/* A whole file in memory, to be parsed in place; "-" is standard input. A file may be mapped, but privately:
 * writing to the memory does not change the file. */
typedef struct uc_bytes {
    unsigned char *data;
    size_t length;
    bool mapped;
} uc_bytes;
uc_status uc_bytes_read(uc_bytes *out, const char *path);
/* The same for a file that should begin with `begin`. If it does not, reading may stop early, so that an
 * endless device or pipe does not fill the memory. The caller must check the beginning itself. */
uc_status uc_bytes_read_kind(uc_bytes *out, const char *path, const void *begin, size_t begin_length);
void uc_bytes_free(uc_bytes *self); /* zero-initialised is fine */

/* ---- output files, beyond what unconfuse/output.h has ---- */
uc_status uc_output_open(uc_output **out, const char *path); /* uc_output_begin that is never cancelled */
/* If `status` is UC_OK, commits the output and returns the status of that; otherwise aborts it and returns
 * `status`. */
uc_status uc_output_end(uc_output *self, uc_status status, bool durable);
uc_status uc_output_open_memory(uc_output **out); /* ended by uc_output_take or uc_output_abort */
/* Ends and frees *self; *bytes is everything that was written (NULL: nothing), and the caller frees it. */
void uc_output_take(void **bytes, size_t *length, uc_output *self);
uc_status uc_output_printf(uc_output *self, const char *format, ...) UC_PRINTF(2, 3);

#endif
