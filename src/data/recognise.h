/* The format of a data file, from its first bytes. */
#ifndef UC_DATA_RECOGNISE_H
#define UC_DATA_RECOGNISE_H

#include "data/input.h"
#include "unconfuse/dataset.h"

/* Fails, with a sentence that begins with `name`, when the bytes are of no data format. */
uc_status uc_recognise_format(uc_format *out, const char *bytes, size_t length, const char *name);
/* Fails when the bytes look like text in UTF-16, and says how to convert it. */
uc_status uc_refuse_utf16(const char *bytes, size_t length, const char *name);

/* What a file is like, before it is read. */
typedef struct uc_file_look {
    uint64_t bytes;  /* 0: none, or not known */
    bool can_be_cut; /* LIBSVM or CSV text, or UCD, in an ordinary file, not packed */
    bool is_ucd;
} uc_file_look;
uc_status uc_look_at_file(uc_file_look *out, const char *path);
/* Sets settings->format when it is auto and the first of the files that has bytes is of JSON lines. */
uc_status uc_recognise_json(uc_read_settings *settings, const char *const *paths, size_t count);

#endif
