/*
 * NumPy's array file, versions 1 to 3:
 *
 *   "\x93NUMPY", version (2 bytes), length of the text (2 bytes in version 1, otherwise 4)
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (150, 4), }
 *   items
 */
#include "data/npy.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "data/number.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES (sizeof MAGIC - 1)
#define LONGEST_HEADER ((size_t)1 << 20)

static uc_status fail_damaged(const uc_input *input)
{
    return uc_fail(UC_ERR_FORMAT, "%s: damaged: not the header of an NPY file", uc_input_name(input));
}

/* The text after `'key':` and blanks; NULL if there is no such key. */
static const char *value_of(const char *text, const char *key)
{
    const char *p = strstr(text, key);
    if (!p)
        return NULL;
    p += strlen(key);
    while (*p == ' ')
        p++;
    if (*p != ':')
        return NULL;
    do
        p++;
    while (*p == ' ');
    return p;
}

/* The quoted word at p, which may be NULL, truncated to `size` bytes; empty if there is none. */
static void read_quoted(char *word, size_t size, const char *p)
{
    size_t length = 0;
    if (p && (*p == '\'' || *p == '"'))
        for (; length + 1 < size && p[length + 1] && p[length + 1] != p[0]; length++)
            word[length] = p[length + 1];
    word[length] = '\0';
}

static bool is_type(char kind, uint64_t size)
{
    switch (kind) {
    case 'i':
    case 'u':
        return size == 1 || size == 2 || size == 4 || size == 8;
    case 'f':
        return size == 4 || size == 8;
    case 'b':
        return size == 1;
    case 'U':
    case 'S':
        return size < 1u << 20;
    default:
        return false;
    }
}

/* Reads a type like '<f4': byte order, kind, size. */
static uc_status read_type(uc_npy *out, const char *p, const uc_input *input)
{
    char type[16], quoted[UC_QUOTE_SIZE];
    read_quoted(type, sizeof type, p);
    const bool has_order = type[0] && strchr("<>=|", type[0]);
    const char *name = type + has_order;
    uint64_t size;
    if (!name[0] || !uc_parse_count(&size, name + 1, strlen(name + 1)) || !is_type(name[0], size))
        return uc_fail(
            UC_ERR_FORMAT,
            "%s: items of type '%s' cannot be read; convert them with astype('float32') or astype(str)",
            uc_input_name(input), type[0] ? uc_quote(quoted, type, strlen(type)) : "object");
    out->kind = name[0];
    out->size = (size_t)size;
    if (out->kind == 'U')
        out->size *= sizeof(uint32_t);
    const char other = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<';
    out->swapped = type[0] == other;
    return UC_OK;
}

/* Reads a shape like (150, 4). */
static bool read_shape(uc_npy *out, const char *p)
{
    if (!p || *p++ != '(')
        return false;
    for (out->dimensions = 0;;) {
        while (*p == ' ' || *p == ',')
            p++;
        if (*p == ')')
            return true;
        size_t length = 0;
        while (p[length] >= '0' && p[length] <= '9')
            length++;
        uint64_t extent;
        if (!uc_parse_count(&extent, p, length) || extent > SIZE_MAX / 2)
            return false;
        if (out->dimensions < 2)
            out->shape[out->dimensions] = (size_t)extent;
        out->dimensions++;
        p += length;
        if (*p == 'L') /* written by Python 2 */
            p++;
    }
}

/* Reads the text of the header, which the caller frees. */
static uc_status read_text(char **out, uc_input *input)
{
    unsigned char start[12];
    uc_status status = uc_input_read_exactly(input, start, 10);
    if (status != UC_OK)
        return status;
    if (!uc_npy_begins((const char *)start, sizeof start) || start[6] < 1 || start[6] > 3)
        return fail_damaged(input);
    size_t length = (size_t)start[8] + ((size_t)start[9] << 8);
    if (start[6] > 1) {
        status = uc_input_read_exactly(input, start + 10, 2);
        if (status != UC_OK)
            return status;
        length += ((size_t)start[10] << 16) + ((size_t)start[11] << 24);
    }
    if (length > LONGEST_HEADER)
        return fail_damaged(input);
    char *text = uc_alloc(length + 1, 1);
    if (!text)
        return UC_ERR_NOMEM;
    status = uc_input_read_exactly(input, text, length);
    if (status != UC_OK) {
        uc_free(text);
        return status;
    }
    *out = text;
    return UC_OK;
}

/* Checks that the input has exactly these items, as far as it knows its length. */
static uc_status check_length(const uc_npy *self, const uc_input *input)
{
    size_t items = self->shape[0], bytes;
    if ((self->dimensions == 2 && !uc_size_mul(&items, items, self->shape[1])) ||
        !uc_size_mul(&bytes, items, self->size))
        return fail_damaged(input);
    uint64_t remaining;
    if (!uc_input_remaining(&remaining, input))
        return UC_OK;
    if (remaining < bytes)
        return uc_fail(UC_ERR_FORMAT, "%s: the file ends too early: %llu bytes of %zu", uc_input_name(input),
                       (unsigned long long)remaining, bytes);
    if (remaining > bytes)
        return uc_fail(UC_ERR_FORMAT, "%s: %llu bytes follow the array", uc_input_name(input),
                       (unsigned long long)remaining - bytes);
    return UC_OK;
}

static uc_status parse_header(uc_npy *out, const char *text, const uc_input *input)
{
    const char *order = value_of(text, "'fortran_order'");
    if (!order || !read_shape(out, value_of(text, "'shape'")))
        return fail_damaged(input);
    out->fortran = strncmp(order, "True", 4) == 0;
    if (!out->fortran && strncmp(order, "False", 5) != 0)
        return fail_damaged(input);
    return read_type(out, value_of(text, "'descr'"), input);
}

bool uc_npy_begins(const char *bytes, size_t length)
{
    return length >= MAGIC_BYTES && memcmp(bytes, MAGIC, MAGIC_BYTES) == 0;
}

uc_status uc_npy_read_header(uc_npy *out, uc_input *input, size_t dimensions, const char *what)
{
    char *text = NULL;
    uc_status status = read_text(&text, input);
    if (status != UC_OK)
        return status;
    uc_npy self = {0};
    status = parse_header(&self, text, input);
    uc_free(text);
    if (status != UC_OK)
        return status;
    if (dimensions == 0 && self.dimensions == 1)
        dimensions = 1;
    else if (dimensions == 0)
        dimensions = 2;
    if (self.dimensions != dimensions)
        return uc_fail(UC_ERR_FORMAT, "%s: an array of %zu dimension%s, but the %s must have %zu",
                       uc_input_name(input), self.dimensions, self.dimensions == 1 ? "" : "s", what,
                       dimensions);
    status = check_length(&self, input);
    if (status == UC_OK)
        *out = self;
    return status;
}

/* ---- items ---- */

void uc_npy_to_native(const uc_npy *self, void *bytes, size_t count)
{
    if (!self->swapped)
        return;
    size_t unit = self->size; /* bytes that are swapped together */
    if (self->kind == 'U')
        unit = sizeof(uint32_t);
    else if (self->kind == 'S')
        unit = 1;
    const size_t units = count * (self->size / unit);
    unsigned char *p = bytes;
    for (size_t i = 0; i < units; i++, p += unit)
        for (size_t a = 0, b = unit - 1; a < b; a++, b--) {
            const unsigned char kept = p[a];
            p[a] = p[b];
            p[b] = kept;
        }
}

#define TYPE(kind, size) ((kind)*16 + (int)(size))

/* One loop per type, since all items of an array have the same type. */
#define CONVERT(target, type)                                                                                \
    for (size_t i = 0; i < count; i++) {                                                                     \
        type item;                                                                                           \
        memcpy(&item, p + i * sizeof item, sizeof item);                                                     \
        out[i] = (target)item;                                                                               \
    }                                                                                                        \
    break

#define CONVERT_ALL(target)                                                                                  \
    uc_npy_to_native(self, bytes, count);                                                                    \
    const unsigned char *p = bytes;                                                                          \
    switch (TYPE(self->kind, self->size)) {                                                                  \
    case TYPE('f', 4):                                                                                       \
        CONVERT(target, float);                                                                              \
    case TYPE('f', 8):                                                                                       \
        CONVERT(target, double);                                                                             \
    case TYPE('i', 1):                                                                                       \
        CONVERT(target, int8_t);                                                                             \
    case TYPE('i', 2):                                                                                       \
        CONVERT(target, int16_t);                                                                            \
    case TYPE('i', 4):                                                                                       \
        CONVERT(target, int32_t);                                                                            \
    case TYPE('i', 8):                                                                                       \
        CONVERT(target, int64_t);                                                                            \
    case TYPE('b', 1):                                                                                       \
    case TYPE('u', 1):                                                                                       \
        CONVERT(target, uint8_t);                                                                            \
    case TYPE('u', 2):                                                                                       \
        CONVERT(target, uint16_t);                                                                           \
    case TYPE('u', 4):                                                                                       \
        CONVERT(target, uint32_t);                                                                           \
    default:                                                                                                 \
        CONVERT(target, uint64_t);                                                                           \
    }

size_t uc_npy_to_float(float *out, const uc_npy *self, void *bytes, size_t count)
{
    assert(uc_npy_is_numeric(self));
    CONVERT_ALL(float)
    if (self->kind == 'f')
        for (size_t i = 0; i < count; i++)
            if (!isfinite(out[i]))
                return i;
    return count;
}

void uc_npy_to_double(double *out, const uc_npy *self, void *bytes, size_t count)
{
    assert(uc_npy_is_numeric(self));
    CONVERT_ALL(double)
}

static int64_t signed_item(const unsigned char *p, size_t size)
{
    int8_t one;
    int16_t two;
    int32_t four;
    int64_t eight;
    switch (size) {
    case 1:
        return memcpy(&one, p, size), one;
    case 2:
        return memcpy(&two, p, size), two;
    case 4:
        return memcpy(&four, p, size), four;
    default:
        return memcpy(&eight, p, sizeof eight), eight;
    }
}

static uint64_t unsigned_item(const unsigned char *p, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        const size_t place = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : size - 1 - i;
        value |= (uint64_t)p[i] << (8 * place);
    }
    return value;
}

/* The double with the shortest decimal digits of the float32, as NumPy does. */
static double shortest_double(float value)
{
    char text[UC_NUMBER_TEXT];
    double shortest;
    if (!uc_parse_real(&shortest, text, uc_number_write(text, value)))
        return (double)value;
    return shortest;
}

static size_t print_real(char *text, const unsigned char *p, size_t size)
{
    double value;
    float single;
    if (size == sizeof single) {
        memcpy(&single, p, sizeof single);
        value = (double)single;
    } else {
        memcpy(&value, p, sizeof value);
    }
    if (isnan(value))
        return (size_t)snprintf(text, 32, "nan");
    if (isinf(value))
        return (size_t)snprintf(text, 32, "%sinf", value < 0.0 ? "-" : "");
    if (size == sizeof single)
        value = shortest_double(single);
    return uc_number_write_real(text, value);
}

size_t uc_npy_print(char *text, const uc_npy *self, const void *bytes, size_t i)
{
    const unsigned char *p = (const unsigned char *)bytes + i * self->size;
    switch (self->kind) {
    case 'f':
        return print_real(text, p, self->size);
    case 'i':
        return (size_t)snprintf(text, 32, "%lld", (long long)signed_item(p, self->size));
    case 'u':
        return (size_t)snprintf(text, 32, "%llu", (unsigned long long)unsigned_item(p, self->size));
    default:
        return (size_t)snprintf(text, 32, "%s", *p ? "True" : "False");
    }
}
