/*
 * NumPy's array file, versions 1 to 3:
 *
 *   "\x93NUMPY", version (2 bytes), length of the text (2 bytes in version 1, else 4)
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (150, 4), }
 *   items
 */
#include "data/npy.h"

#include <endian.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "data/number.h"
#include "data/reader.h"

#define LONGEST_HEADER ((size_t)1 << 20)

static uc_status fail_damaged(const uc_input *input)
{
    return uc_fail(UC_ERR_FORMAT, "%s: damaged: not the header of an NPY file", uc_input_name(input));
}

/* What follows `'key':` in the text, without blanks; NULL when it is not there. */
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

/* '<f4' and its like. */
static uc_status read_type(uc_npy *out, const char *p, const uc_input *input)
{
    char type[16] = "";
    if (p && (*p == '\'' || *p == '"'))
        for (size_t i = 0; i + 1 < sizeof type && p[i + 1] && p[i + 1] != p[0]; i++)
            type[i] = p[i + 1];
    const bool has_order = type[0] && strchr("<>=|", type[0]);
    const char *name = type + has_order;
    const char kind = name[0];
    uint64_t size = 0;
    const bool sized = kind && uc_parse_count(&size, name + 1, strlen(name + 1)) && size < 1u << 20;
    const bool number = (strchr("iu", kind) && (size == 1 || size == 2 || size == 4 || size == 8)) ||
                        (kind == 'f' && (size == 4 || size == 8)) || (kind == 'b' && size == 1);
    if (!sized || !(number || kind == 'U' || kind == 'S')) {
        char quoted[UC_QUOTE_SIZE];
        return uc_fail(
            UC_ERR_FORMAT,
            "%s: items of type '%s' cannot be read; convert them with astype('float32') or astype(str)",
            uc_input_name(input), type[0] ? uc_quote(quoted, type, strlen(type)) : "object");
    }
    out->kind = kind;
    out->size = kind == 'U' ? 4 * (size_t)size : (size_t)size;
    const char order = has_order ? type[0] : '=';
    const char own = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    out->swapped = (order == '<' || order == '>') && order != own;
    return UC_OK;
}

/* (150, 4) */
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
        if (*p == 'L') /* as Python 2 wrote it */
            p++;
    }
}

/* The text of the header, which the caller frees. */
static uc_status read_text(char **out, uc_input *input)
{
    unsigned char start[12];
    uc_status status = uc_input_read_exactly(input, start, 10);
    if (status != UC_OK)
        return status;
    if (memcmp(start, "\x93NUMPY", 6) != 0 || start[6] < 1 || start[6] > 3)
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
    if (status != UC_OK)
        uc_free(text);
    else
        *out = text;
    return status;
}

/* The input holds exactly the items, as far as it knows. */
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

uc_status uc_npy_read_header(uc_npy *out, uc_input *input, size_t dimensions, const char *what)
{
    char *text = NULL;
    uc_status status = read_text(&text, input);
    if (status != UC_OK)
        return status;
    uc_npy self = {0};
    const char *order = value_of(text, "'fortran_order'");
    if (!order || (strncmp(order, "True", 4) != 0 && strncmp(order, "False", 5) != 0) ||
        !read_shape(&self, value_of(text, "'shape'")))
        status = fail_damaged(input);
    else
        status = read_type(&self, value_of(text, "'descr'"), input);
    self.fortran = order && *order == 'T';
    uc_free(text);
    if (status == UC_OK && self.dimensions != dimensions)
        status =
            uc_fail(UC_ERR_FORMAT, "%s: an array of %zu dimension%s, but the %s must have %zu",
                    uc_input_name(input), self.dimensions, self.dimensions == 1 ? "" : "s", what, dimensions);
    if (status == UC_OK)
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
    const size_t unit = self->kind == 'U' ? 4 : self->kind == 'S' ? 1 : self->size;
    const size_t units = count * (self->size / unit);
    unsigned char *p = bytes;
    for (size_t i = 0; i < units; i++, p += unit)
        for (size_t a = 0, b = unit - 1; a < b; a++, b--) {
            const unsigned char kept = p[a];
            p[a] = p[b];
            p[b] = kept;
        }
}

/* One loop a type: all items of an array have the same. */
#define CONVERT(type)                                                                                        \
    for (size_t i = 0; i < count; i++) {                                                                     \
        type item;                                                                                           \
        memcpy(&item, p + i * sizeof item, sizeof item);                                                     \
        out[i] = (float)item;                                                                                \
    }                                                                                                        \
    break

size_t uc_npy_to_float(float *out, const uc_npy *self, void *bytes, size_t count)
{
    uc_npy_to_native(self, bytes, count);
    const unsigned char *p = bytes;
    const int code = self->kind * 16 + (int)self->size;
    switch (code) {
    case 'f' * 16 + 4:
        CONVERT(float);
    case 'f' * 16 + 8:
        CONVERT(double);
    case 'i' * 16 + 1:
        CONVERT(int8_t);
    case 'i' * 16 + 2:
        CONVERT(int16_t);
    case 'i' * 16 + 4:
        CONVERT(int32_t);
    case 'i' * 16 + 8:
        CONVERT(int64_t);
    case 'b' * 16 + 1:
    case 'u' * 16 + 1:
        CONVERT(uint8_t);
    case 'u' * 16 + 2:
        CONVERT(uint16_t);
    case 'u' * 16 + 4:
        CONVERT(uint32_t);
    default:
        CONVERT(uint64_t);
    }
    if (self->kind == 'f')
        for (size_t i = 0; i < count; i++)
            if (!isfinite(out[i]))
                return i;
    return count;
}

static int64_t signed_item(const unsigned char *p, size_t size)
{
    int64_t value = 0;
    int8_t one = 0;
    int16_t two = 0;
    int32_t four = 0;
    memcpy(size == 1   ? (void *)&one
           : size == 2 ? (void *)&two
           : size == 4 ? (void *)&four
                       : (void *)&value,
           p, size);
    return size == 1 ? one : size == 2 ? two : size == 4 ? four : value;
}

static uint64_t unsigned_item(const unsigned char *p, size_t size)
{
    uint64_t value = 0;
    uint8_t one = 0;
    uint16_t two = 0;
    uint32_t four = 0;
    memcpy(size == 1   ? (void *)&one
           : size == 2 ? (void *)&two
           : size == 4 ? (void *)&four
                       : (void *)&value,
           p, size);
    return size == 1 ? one : size == 2 ? two : size == 4 ? four : value;
}

/* A float32 is printed with the digits that tell it from other float32, as NumPy does. */
static size_t print_real(char *text, const unsigned char *p, size_t size)
{
    double value;
    float single = 0.0f;
    if (size == 4) {
        memcpy(&single, p, sizeof single);
        value = (double)single;
    } else {
        memcpy(&value, p, sizeof value);
    }
    if (!isfinite(value))
        return (size_t)snprintf(text, 32, "%s", isnan(value) ? "nan" : value < 0.0 ? "-inf" : "inf");
    if (size == 4) {
        const size_t length = uc_number_write(text, single);
        text[length] = '\0';
        double shortest;
        if (uc_parse_real(&shortest, text, length))
            value = shortest;
    }
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
