/* Where bytes come from: a file, standard input or memory; .gz and .zst are unpacked on the way, recognised
 * by their first bytes and not by their name. */
#ifndef UC_DATA_INPUT_H
#define UC_DATA_INPUT_H

#include "parallel/parallel.h"

typedef struct uc_input uc_input;

/* "-" is standard input. */
uc_status uc_input_open(uc_input **out, const char *path);
/* The bytes stay the caller's and must outlive the input. `name` is for messages. */
uc_status uc_input_open_memory(uc_input **out, const void *bytes, size_t length, const char *name);
void uc_input_close(uc_input *self); /* NULL is fine */

/* The next up to `size` bytes; *got is 0 at the end only. Fewer than `size` come at the end, and from a pipe
 * or terminal that has no more just now. */
uc_status uc_input_read(size_t *got, uc_input *self, void *buffer, size_t size);
/* All the rest, in memory that the caller frees with uc_free and that holds `slack` zero bytes more. */
uc_status uc_input_read_all(char **out, size_t *length, uc_input *self, size_t slack,
                            const uc_context *context);
/* Exactly `size` bytes, or `FILE: the file ends too early`. */
uc_status uc_input_read_exactly(uc_input *self, void *buffer, size_t size);
/* The first bytes, which are read again later: at least a line, or 64 KB, or the whole input. To be called
 * before the first read. */
uc_status uc_input_peek(const char **bytes, size_t *length, uc_input *self);

/* The same of the first `lines` lines, or all of the input when it has fewer, which *whole says. */
uc_status uc_input_peek_lines(const char **bytes, size_t *length, bool *whole, uc_input *self, size_t lines);

const char *uc_input_name(const uc_input *self); /* the path, or "standard input" */
bool uc_input_is_live(const uc_input *self);     /* a pipe or terminal: waiting for more may take for ever */
/* Bytes of the file read so far, packed if it is, and of the whole file (0: not known). */
uint64_t uc_input_done(const uc_input *self);
uint64_t uc_input_total(const uc_input *self);
/* The bytes still to come, when that is known: a file or memory that is not packed. */
bool uc_input_remaining(uint64_t *bytes, const uc_input *self);
/* The descriptor of a file, named by its path and not packed, for mapping it; -1: it is something else. */
int uc_input_file(const uc_input *self);

/* Parts of such a file. From now on only the bytes from .. to-1 come. */
uc_status uc_input_window(uc_input *self, uint64_t from, uint64_t to);
/* Where the first line begins that begins at byte `at` or later; the length of the file when there is
 * none. */
uc_status uc_input_line_at(uint64_t *begin, const uc_input *self, uint64_t at);
/* The same of records, whose line breaks in quotes do not end them. It reads the file from its beginning,
 * where a record begins. */
uc_status uc_input_record_at(uint64_t *begin, const uc_input *self, uint64_t at, char delimiter);
/* The newlines among the first `bytes` bytes. */
uc_status uc_input_count_lines(size_t *lines, const uc_input *self, uint64_t bytes);

#endif
