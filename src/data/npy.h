/* NumPy array files. This is the only reader of NPY: data, labels and noise matrices. */
#ifndef UC_DATA_NPY_H
#define UC_DATA_NPY_H

#include "data/input.h"
#include "unconfuse/names.h"

typedef struct uc_npy {
    char kind;    /* f i u b: float, signed, unsigned, bool; U S: text */
    size_t size;  /* bytes of an item */
    bool swapped; /* the byte order is not this machine's */
    bool fortran; /* stored column after column */
    size_t dimensions;
    size_t shape[2];
} uc_npy;

static inline bool uc_npy_is_numeric(const uc_npy *self)
{
    return self->kind != 'U' && self->kind != 'S';
}

/* Whether these bytes begin an NPY file. */
bool uc_npy_begins(const char *bytes, size_t length);
/* Reads the header of an array of `dimensions` (1 or 2; 0: either) dimensions; the items follow. If the input
 * knows its length, checks that it has exactly these items. `what` names the array in messages: "data",
 * "labels". */
uc_status uc_npy_read_header(uc_npy *out, uc_input *input, size_t dimensions, const char *what);

/* Converts the items at `bytes` to floats; the bytes themselves are put into this machine's byte order.
 * Returns the position of the first item that is not a finite float, or `count`. */
size_t uc_npy_to_float(float *out, const uc_npy *self, void *bytes, size_t count);
/* The same for doubles, finite or not. */
void uc_npy_to_double(double *out, const uc_npy *self, void *bytes, size_t count);
/* Prints item i of kind f, i, u or b as NumPy does; `text` has room for 32 bytes. Returns the length. */
size_t uc_npy_print(char *text, const uc_npy *self, const void *bytes, size_t i);
void uc_npy_to_native(const uc_npy *self, void *bytes, size_t count);

/* Reads the items of a one-dimensional array as labels: *y, which the caller frees with uc_free, has
 * positions in `classes`, to which new names are added; '?' means no label. Whole floats are named like
 * integers: 1.0 is class 1. */
uc_status uc_npy_read_labels(uint32_t **y, uc_names *classes, const uc_npy *array, uc_input *input);

#endif
