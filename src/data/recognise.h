/* Recognises the format of a data file from its first bytes. */
#ifndef UC_DATA_RECOGNISE_H
#define UC_DATA_RECOGNISE_H

#include "data/input.h"
#include "unconfuse/dataset.h"

/* Fails if the bytes are of no known data format; the message begins with `name`. */
uc_status uc_recognise_format(uc_format *out, const char *bytes, size_t length, const char *name);
/* Fails if the bytes look like UTF-16 text; the message says how to convert it. */
uc_status uc_refuse_utf16(const char *bytes, size_t length, const char *name);

/* Properties of a file, before it is read. */
typedef struct uc_file_look {
    uint64_t bytes;  /* 0: empty, or unknown */
    bool can_be_cut; /* LIBSVM or CSV text, or UCD; an ordinary file that is not packed */
    bool is_ucd;
} uc_file_look;
uc_status uc_look_at_file(uc_file_look *out, const char *path);
/* Sets settings->format to JSON lines if it is auto and the first file that is not empty has JSON lines. */
uc_status uc_recognise_json(uc_read_settings *settings, const char *const *paths, size_t count);

#endif
