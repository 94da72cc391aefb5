/* A source of bytes: a file, standard input or memory. gzip and zstd data are unpacked on the way; they are
 * recognised by their first bytes, not by the file's name. */
#ifndef UC_DATA_INPUT_H
#define UC_DATA_INPUT_H

#include "parallel/parallel.h"

typedef struct uc_input uc_input;

/* "-" is standard input. */
uc_status uc_input_open(uc_input **out, const char *path);
/* The bytes still belong to the caller and must outlive the input. `name` is for messages. */
uc_status uc_input_open_memory(uc_input **out, const void *bytes, size_t length, const char *name);
void uc_input_close(uc_input *self); /* NULL is fine */

/* Reads up to `size` bytes; *got is 0 only at the end. It is less than `size` at the end of the input, or if
 * a pipe or terminal has no more data at the moment. */
uc_status uc_input_read(size_t *got, uc_input *self, void *buffer, size_t size);
/* Reads all the rest into memory that the caller frees with uc_free, followed by `slack` zero bytes. */
uc_status uc_input_read_all(char **out, size_t *length, uc_input *self, size_t slack,
                            const uc_context *context);
/* Reads exactly `size` bytes, or fails with `FILE: the file ends too early`. */
uc_status uc_input_read_exactly(uc_input *self, void *buffer, size_t size);
/* The first bytes, which are read again later: at least one line, or 64 KB, or the whole input. Must be
 * called before the first read. */
uc_status uc_input_peek(const char **bytes, size_t *length, uc_input *self);

/* The same for the first `lines` lines, or all of the input if it has fewer lines (*whole is true then). */
uc_status uc_input_peek_lines(const char **bytes, size_t *length, bool *whole, uc_input *self, size_t lines);

const char *uc_input_name(const uc_input *self); /* the path, or "standard input" */
bool uc_input_is_live(const uc_input *self); /* a pipe or terminal: waiting for more data may take forever */
/* The bytes of the file read so far (packed bytes if it is packed), and the size of the whole file (0:
 * unknown). */
uint64_t uc_input_done(const uc_input *self);
uint64_t uc_input_total(const uc_input *self);
/* The number of bytes still to come, if known: for a file or memory that is not packed. */
bool uc_input_remaining(uint64_t *bytes, const uc_input *self);
/* The descriptor for mapping the file, if the input is a file given by its path and not packed; otherwise
 * -1. */
int uc_input_file(const uc_input *self);

/* Parts of such a file. From now on, reading returns only the bytes from .. to-1. */
uc_status uc_input_window(uc_input *self, uint64_t from, uint64_t to);
/* The start of the first line that begins at byte `at` or later; the length of the file if there is none. */
uc_status uc_input_line_at(uint64_t *begin, const uc_input *self, uint64_t at);
/* The same for records, which do not end at line breaks in quotes. Reads the file from its beginning, because
 * a record surely begins there. */
uc_status uc_input_record_at(uint64_t *begin, const uc_input *self, uint64_t at, char delimiter);
/* Counts the newlines among the first `bytes` bytes. */
uc_status uc_input_count_lines(size_t *lines, const uc_input *self, uint64_t bytes);

#endif
