/* Writing and parsing the container; the layout is in container.h. */
#include "data/container.h"

#include <string.h>
#include <zlib.h>

#define PROLOGUE ((size_t)24)
#define EPILOGUE ((size_t)8)
#define ARRAY_ALIGNMENT ((size_t)64)

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are written as they are in memory");

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [UC_ARRAY_F64] = {"f64", 8}, [UC_ARRAY_F32] = {"f32", 4}, [UC_ARRAY_U64] = {"u64", 8},
    [UC_ARRAY_U32] = {"u32", 4}, [UC_ARRAY_U8] = {"u8", 1},
};

static size_t aligned(size_t offset)
{
    return (offset + ARRAY_ALIGNMENT - 1) / ARRAY_ALIGNMENT * ARRAY_ALIGNMENT;
}

static uint32_t crc(uint32_t sum, const void *bytes, size_t length)
{
    return (uint32_t)crc32_z(sum, bytes, length);
}

/* jansson's own buffer may silently lose a byte if it cannot grow. This buffer has its full size from the
 * start. */
char *uc_json_text(const json_t *json)
{
    const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(17), length = json_dumpb(json, NULL, 0, flags);
    if (length == 0)
        return NULL;
    char *text = uc_alloc(length + 1, 1);
    if (text && json_dumpb(json, text, length, flags) == length)
        return text;
    uc_free(text);
    return NULL;
}

/* ---- writing ---- */

typedef struct writer {
    uc_output *output;
    uint32_t sum;
    size_t position;
} writer;

static uc_status put(writer *self, const void *bytes, size_t length)
{
    if (length == 0)
        return UC_OK;
    self->sum = crc(self->sum, bytes, length);
    self->position += length;
    return uc_output_write(self->output, bytes, length);
}

static uc_status pad_to(writer *self, size_t position)
{
    static const unsigned char zeros[ARRAY_ALIGNMENT];
    uc_status status = UC_OK;
    while (status == UC_OK && self->position < position) {
        const size_t gap = position - self->position;
        status = put(self, zeros, uc_min_size(gap, sizeof zeros));
    }
    return status;
}

/* The header text, which includes the arrays' offsets. These depend on the text's length, so room is left
 * after the text and the first array begins at a fixed distance. */
static char *header_text(json_t *header, const uc_array *arrays, size_t count, size_t first, size_t *end)
{
    json_t *list = json_array();
    size_t offset = first;
    for (size_t i = 0; list && i < count; i++) {
        offset = aligned(offset);
        json_t *item = json_pack("[s, s, I, I]", arrays[i].name, types[arrays[i].type].name,
                                 (json_int_t)arrays[i].count, (json_int_t)offset);
        if (!item || json_array_append_new(list, item) != 0) {
            json_decref(list);
            list = NULL;
        }
        offset += arrays[i].count * types[arrays[i].type].size;
    }
    *end = offset;
    if (!list || json_object_set_new(header, "arrays", list) != 0)
        return NULL;
    return uc_json_text(header);
}

static uc_status put_all(writer *self, const char magic[8], uint32_t version, const char *text, size_t first,
                         uint64_t length, const uc_array *arrays, size_t count)
{
    const uint32_t text_length = (uint32_t)strlen(text);
    unsigned char prologue[PROLOGUE];
    memcpy(prologue, magic, 8);
    memcpy(prologue + 8, &version, sizeof version);
    memcpy(prologue + 12, &text_length, sizeof text_length);
    memcpy(prologue + 16, &length, sizeof length);
    uc_status status = put(self, prologue, sizeof prologue);
    if (status == UC_OK)
        status = put(self, text, text_length);
    if (status == UC_OK)
        status = pad_to(self, first);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        status = pad_to(self, aligned(self->position));
        if (status == UC_OK)
            status = put(self, arrays[i].data, arrays[i].count * types[arrays[i].type].size);
    }
    if (status != UC_OK)
        return status;
    const uint32_t ending[2] = {self->sum, 0};
    return uc_output_write(self->output, ending, sizeof ending);
}

static char *settled_header(json_t *header, const uc_array *arrays, size_t count, size_t *first, size_t *end)
{
    char *text = header_text(header, arrays, count, 0, end);
    if (!text)
        return NULL;
    *first = aligned(PROLOGUE + strlen(text) + 24 * count + 1);
    uc_free(text);
    return header_text(header, arrays, count, *first, end);
}

uc_status uc_container_write_to(uc_output *output, const char magic[8], uint32_t version, json_t *header,
                                const uc_array *arrays, size_t count)
{
    size_t first, end;
    char *text = settled_header(header, arrays, count, &first, &end);
    if (!text || PROLOGUE + strlen(text) > first) {
        uc_free(text);
        return uc_fail(UC_ERR_NOMEM, "not enough memory for the header");
    }
    writer self = {.output = output};
    const uc_status status =
        put_all(&self, magic, version, text, first, (uint64_t)(end + EPILOGUE), arrays, count);
    uc_free(text);
    return status;
}

uc_status uc_container_write_memory(void **bytes, size_t *length, const char magic[8], uint32_t version,
                                    json_t *header, const uc_array *arrays, size_t count)
{
    uc_output *output = NULL;
    uc_status status = uc_output_open_memory(&output);
    if (status != UC_OK)
        return status;
    status = uc_container_write_to(output, magic, version, header, arrays, count);
    if (status == UC_OK)
        uc_output_take(bytes, length, output);
    else
        uc_output_abort(output);
    return status;
}

/* ---- reading ---- */

static uint32_t read_u32(const unsigned char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint64_t read_u64(const unsigned char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

uint32_t uc_container_checksum(const uc_container *self)
{
    return read_u32(self->bytes + self->length - EPILOGUE);
}

static uc_status check_frame(const uc_container *self, const char magic[8], uint32_t newest, bool verify)
{
    const unsigned char *bytes = self->bytes;
    if (self->length < PROLOGUE + EPILOGUE || memcmp(bytes, magic, 8) != 0)
        return uc_fail(UC_ERR_FORMAT, "%s: not a file of this kind, or cut short", self->source);
    const uint32_t version = read_u32(bytes + 8), text_length = read_u32(bytes + 12);
    const uint64_t length = read_u64(bytes + 16);
    if (length != self->length)
        return uc_fail(UC_ERR_FORMAT, "%s: damaged: %zu bytes long, but its header says %llu", self->source,
                       self->length, (unsigned long long)length);
    if (version < 1 || version > newest)
        return uc_fail(UC_ERR_FORMAT, "%s: format version %u, but this program reads versions 1 to %u",
                       self->source, version, newest);
    if (text_length > self->length - PROLOGUE - EPILOGUE)
        return uc_fail(UC_ERR_FORMAT, "%s: damaged: its header is longer than the file", self->source);
    if (verify && (uc_container_checksum(self) != crc(0, bytes, self->length - EPILOGUE) ||
                   read_u32(bytes + self->length - 4) != 0))
        return uc_fail(UC_ERR_FORMAT, "%s: damaged: its checksum does not match its content", self->source);
    return UC_OK;
}

/* If memory is short for a moment, jansson may silently leave out a character, but not twice in the same
 * way. */
static json_t *read_json(const char *text, size_t length, json_error_t *error)
{
    json_t *json = json_loadb(text, length, 0, error), *again = json_loadb(text, length, 0, error);
    if ((json || again) && !json_equal(json, again)) {
        error->text[JSON_ERROR_TEXT_LENGTH - 1] = json_error_out_of_memory;
        json_decref(json);
        json = NULL;
    }
    json_decref(again);
    return json;
}

uc_status uc_container_open(uc_container *out, const void *bytes, size_t length, const char magic[8],
                            uint32_t newest, bool verify, const char *source)
{
    uc_container self = {.bytes = bytes, .length = length, .source = source};
    const uc_status status = check_frame(&self, magic, newest, verify);
    if (status != UC_OK)
        return status;
    self.version = read_u32(self.bytes + 8);
    json_error_t error;
    self.header = read_json((const char *)bytes + PROLOGUE, read_u32(self.bytes + 12), &error);
    if (!self.header && json_error_code(&error) == json_error_out_of_memory)
        return uc_fail(UC_ERR_NOMEM, "%s: not enough memory for the header", source);
    if (!self.header)
        return uc_fail(UC_ERR_FORMAT, "%s: damaged: its header is not JSON: %s", source, error.text);
    if (!json_is_object(self.header) || !json_is_array(json_object_get(self.header, "arrays"))) {
        json_decref(self.header);
        return uc_fail(UC_ERR_FORMAT, "%s: damaged: its header does not list its arrays", source);
    }
    if ((uintptr_t)bytes % sizeof(double) != 0) {
        self.bytes = self.copy = uc_alloc(length, 1);
        if (!self.copy) {
            json_decref(self.header);
            return UC_ERR_NOMEM;
        }
        memcpy(self.copy, bytes, length);
    }
    *out = self;
    return UC_OK;
}

static const json_t *find_array(const uc_container *self, const char *name)
{
    const json_t *list = json_object_get(self->header, "arrays");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *item_name = json_string_value(json_array_get(item, 0));
        if (item_name && strcmp(item_name, name) == 0)
            return item;
    }
    return NULL;
}

bool uc_container_has(const uc_container *self, const char *name)
{
    return find_array(self, name) != NULL;
}

uc_status uc_container_array(const void **data, const uc_container *self, const char *name,
                             uc_array_type type, size_t count)
{
    const json_t *item = find_array(self, name);
    const char *type_name = json_string_value(json_array_get(item, 1));
    if (!type_name || strcmp(type_name, types[type].name) != 0 ||
        json_integer_value(json_array_get(item, 2)) != (json_int_t)count)
        return uc_fail(UC_ERR_FORMAT, "%s: damaged: it has no array '%s' of %zu numbers of type %s",
                       self->source, name, count, types[type].name);
    const json_int_t offset = json_integer_value(json_array_get(item, 3));
    const size_t room = self->length - EPILOGUE;
    if (offset < (json_int_t)PROLOGUE || (uint64_t)offset % ARRAY_ALIGNMENT != 0 || (uint64_t)offset > room ||
        count > (room - (size_t)offset) / types[type].size)
        return uc_fail(UC_ERR_FORMAT, "%s: damaged: array '%s' does not lie within the file", self->source,
                       name);
    *data = self->bytes + offset;
    return UC_OK;
}

uc_status uc_container_array_at(uc_array *out, const uc_container *self, size_t i)
{
    const json_t *item = json_array_get(json_object_get(self->header, "arrays"), i);
    const char *name = json_string_value(json_array_get(item, 0)),
               *type_name = json_string_value(json_array_get(item, 1));
    const json_int_t count = json_integer_value(json_array_get(item, 2));
    *out = (uc_array){0};
    if (!item)
        return UC_OK;
    for (size_t type = 0; name && type_name && count >= 0 && type < sizeof types / sizeof *types; type++)
        if (strcmp(type_name, types[type].name) == 0) {
            *out = (uc_array){name, (uc_array_type)type, NULL, (size_t)count};
            return uc_container_array(&out->data, self, name, out->type, out->count);
        }
    return uc_fail(UC_ERR_FORMAT, "%s: damaged: array %zu of its header makes no sense", self->source, i);
}

size_t uc_array_item_size(uc_array_type type)
{
    return types[type].size;
}

void uc_container_close(uc_container *self)
{
    json_decref(self->header);
    uc_free(self->copy);
    *self = (uc_container){0};
}
