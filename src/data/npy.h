/* NumPy array files. This is the only reader of NPY: data, labels and noise matrices. */
#ifndef UC_DATA_NPY_H
#define UC_DATA_NPY_H

#include "data/input.h"
#include "unconfuse/names.h"

typedef struct uc_npy {
    char kind;    /* f i u b: float, signed, unsigned, bool; U S: text */
    size_t size;  /* bytes of an item */
    bool swapped; /* the other byte order than this machine's */
    bool fortran; /* column after column */
    size_t dimensions;
    size_t shape[2];
} uc_npy;

static inline bool uc_npy_is_numeric(const uc_npy *self)
{
    return self->kind != 'U' && self->kind != 'S';
}

/* Whether these are the first bytes of an NPY file. */
bool uc_npy_begins(const char *bytes, size_t length);
/* Reads the header of an array of `dimensions` (1 or 2; 0: either) dimensions; the items come next. Checks
 * that there are enough of them when the input knows its length. `what` names the array in messages: "data",
 * "labels". */
uc_status uc_npy_read_header(uc_npy *out, uc_input *input, size_t dimensions, const char *what);

/* Items at `bytes`, which are put into this machine's byte order, as floats. Returns the position of the
 * first one that is not a finite float, or `count`. */
size_t uc_npy_to_float(float *out, const uc_npy *self, void *bytes, size_t count);
/* The same as doubles, finite or not. */
void uc_npy_to_double(double *out, const uc_npy *self, void *bytes, size_t count);
/* Item i of kind f, i, u or b as NumPy prints it; `text` has room for 32 bytes. Returns the length. */
size_t uc_npy_print(char *text, const uc_npy *self, const void *bytes, size_t i);
void uc_npy_to_native(const uc_npy *self, void *bytes, size_t count);

/* The items of an array of one dimension as labels: *y, which the caller frees with uc_free, are positions in
 * `classes`, to which new names are added; '?' is no label. Whole floats are called as integers: 1.0 is class
 * 1. */
uc_status uc_npy_read_labels(uint32_t **y, uc_names *classes, const uc_npy *array, uc_input *input);

#endif
