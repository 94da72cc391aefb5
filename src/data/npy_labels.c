/* Labels in an NPY file: text, or numbers named as they are printed. */
#include <string.h>

#include "data/npy.h"

#define BYTES_AT_ONCE ((size_t)2 << 20)
#define NUMBER_BYTES ((size_t)32) /* room for a number's text */

/* Writes a character as UTF-8; 0 bytes if it is not a valid character. */
static size_t put_character(char *text, uint32_t c)
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t length = 4;
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    if (c < 0x80) {
        text[0] = (char)c;
        return 1;
    }
    if (c < 0x800)
        length = 2;
    else if (c < 0x10000)
        length = 3;
    for (size_t i = length; i-- > 1; c >>= 6)
        text[i] = (char)(0x80 | (c & 0x3f));
    text[0] = (char)(lead[length] | c);
    return length;
}

/* The bytes before the padding. */
static size_t bytes_text(char *text, const unsigned char *item, size_t size)
{
    while (size > 0 && item[size - 1] == 0)
        size--;
    memcpy(text, item, size);
    return size;
}

/* Converts characters of four bytes, padded with zeros. SIZE_MAX: not text. */
static size_t unicode_text(char *text, const unsigned char *item, size_t size)
{
    size_t written = 0, zeros = 0;
    for (size_t at = 0; at < size; at += sizeof(uint32_t)) {
        uint32_t c;
        memcpy(&c, item + at, sizeof c);
        if (c == 0) {
            zeros++;
            continue;
        }
        const size_t length = put_character(text + written, c);
        if (length == 0 || zeros > 0)
            return SIZE_MAX;
        written += length;
    }
    return written;
}

/* 1.0 is named 1, as in text files. */
static size_t number_text(char *text, const uc_npy *array, const void *items, size_t i)
{
    const size_t length = uc_npy_print(text, array, items, i);
    if (array->kind == 'f' && length > 2 && memcmp(text + length - 2, ".0", 2) == 0)
        return length - 2;
    return length;
}

/* Item i as text; `text` has room for it. Returns its length, or SIZE_MAX if it is not text. */
static size_t label_text(char *text, const uc_npy *array, const unsigned char *items, size_t i)
{
    const unsigned char *item = items + i * array->size;
    if (uc_npy_is_numeric(array))
        return number_text(text, array, items, i);
    size_t length;
    if (array->kind == 'S')
        length = bytes_text(text, item, array->size);
    else
        length = unicode_text(text, item, array->size);
    if (length == SIZE_MAX || !uc_is_name(text, length))
        return SIZE_MAX;
    return length;
}

static uc_status check_label(const char *text, size_t length, const uc_npy *array, const char *name, size_t i)
{
    if (length == SIZE_MAX)
        return uc_fail(UC_ERR_FORMAT, "%s: label %zu is not text", name, i + 1);
    if (length == 0)
        return uc_fail(UC_ERR_FORMAT, "%s: label %zu is empty", name, i + 1);
    if (array->kind == 'f' && memchr(text, 'n', length)) /* nan, inf */
        return uc_fail(UC_ERR_FORMAT, "%s: label %zu: %.*s is not a finite number", name, i + 1, (int)length,
                       text);
    return UC_OK;
}

/* Adds some items, which are in this machine's byte order. */
static uc_status add_labels(uint32_t *y, uc_names *classes, const uc_npy *array, const unsigned char *items,
                            size_t first, size_t count, char *text, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        const size_t length = label_text(text, array, items, i);
        uc_status status = check_label(text, length, array, name, first + i);
        y[i] = UC_NONE;
        if (status == UC_OK && (length != 1 || text[0] != '?'))
            status = uc_names_add(&y[i], classes, text, length);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}

uc_status uc_npy_read_labels(uint32_t **y, uc_names *classes, const uc_npy *array, uc_input *input)
{
    const size_t count = array->shape[0], size = uc_max_size(array->size, 1);
    const size_t most = uc_max_size(BYTES_AT_ONCE / size, 1);
    uint32_t *labels = uc_alloc(count, sizeof *labels);
    unsigned char *items = uc_alloc(most, size);
    char *text = uc_alloc(size + NUMBER_BYTES, 1); /* UTF-8 needs no more bytes than UCS-4 */
    uc_status status = UC_ERR_NOMEM;
    if (!labels || !items || !text)
        goto cleanup;
    for (size_t first = 0; first < count; first += most) {
        const size_t some = uc_min_size(count - first, most);
        status = uc_input_read_exactly(input, items, some * array->size);
        if (status != UC_OK)
            goto cleanup;
        uc_npy_to_native(array, items, some);
        status = add_labels(labels + first, classes, array, items, first, some, text, uc_input_name(input));
        if (status != UC_OK)
            goto cleanup;
    }
    *y = labels;
    labels = NULL;
    status = UC_OK;

cleanup:
    uc_free(labels);
    uc_free(items);
    uc_free(text);
    return status;
}
