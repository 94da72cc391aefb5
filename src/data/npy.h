/* The header of a NumPy array file. */
#ifndef UC_DATA_NPY_H
#define UC_DATA_NPY_H

#include "data/input.h"

typedef struct uc_npy {
    char kind;    /* f i u b: float, signed, unsigned, bool; U S: text */
    size_t size;  /* bytes of an item */
    bool swapped; /* the other byte order than this machine's */
    bool fortran; /* column after column */
    size_t dimensions;
    size_t shape[2];
} uc_npy;

/* Reads the header of an array of `dimensions` (1 or 2) dimensions; the items come next. Checks that there are enough
 * of them when the input knows its length. `what` is "data" or "labels". */
uc_status uc_npy_read_header(uc_npy *out, uc_input *input, size_t dimensions, const char *what);

/* Items at `bytes`, which are put into this machine's byte order, as floats. Returns the position of the first one that
 * is not a finite float, or `count`. */
size_t uc_npy_to_float(float *out, const uc_npy *self, void *bytes, size_t count);
/* Item i of kind f, i, u or b as NumPy prints it; `text` has room for 32 bytes. Returns the length. */
size_t uc_npy_print(char *text, const uc_npy *self, const void *bytes, size_t i);
void uc_npy_to_native(const uc_npy *self, void *bytes, size_t count);

#endif
