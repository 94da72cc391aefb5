/* Bytes pass through zlib or zstd, if the file's name indicates it, to the output file. */
#include "data/sink.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define PACKED_BYTES ((size_t)1 << 17)
#define GZIP_LEVEL 3
#define ZSTD_LEVEL 3

struct uc_sink {
    uc_output *output;
    bool is_gzip;
    z_stream gzip;
    ZSTD_CStream *zstd; /* NULL: not used */
    unsigned char *packed;
};

static bool ends_with(const char *text, size_t length, const char *ending)
{
    const size_t ending_length = strlen(ending);
    return length > ending_length && strcmp(text + length - ending_length, ending) == 0;
}

size_t uc_sink_stem(const char *path)
{
    const size_t length = strlen(path);
    if (ends_with(path, length, ".gz"))
        return length - 3;
    if (ends_with(path, length, ".zst"))
        return length - 4;
    return length;
}

static voidpf zlib_alloc(voidpf user, uInt count, uInt size)
{
    (void)user;
    return uc_alloc(count, size);
}

static void zlib_free(voidpf user, voidpf block)
{
    (void)user;
    uc_free(block);
}

static uc_status begin_packing(uc_sink *self, const char *path)
{
    const size_t length = strlen(path);
    if (ends_with(path, length, ".gz")) {
        self->gzip.zalloc = zlib_alloc;
        self->gzip.zfree = zlib_free;
        self->is_gzip =
            deflateInit2(&self->gzip, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
        if (!self->is_gzip)
            return uc_fail(UC_ERR_NOMEM, "%s: not enough memory to pack the file", path);
    } else if (ends_with(path, length, ".zst")) {
        self->zstd = ZSTD_createCStream();
        if (!self->zstd || ZSTD_isError(ZSTD_initCStream(self->zstd, ZSTD_LEVEL)))
            return uc_fail(UC_ERR_NOMEM, "%s: not enough memory to pack the file", path);
    } else {
        return UC_OK;
    }
    self->packed = uc_alloc(PACKED_BYTES, 1);
    if (!self->packed)
        return UC_ERR_NOMEM;
    return UC_OK;
}

uc_status uc_sink_begin(uc_sink **out, uc_output *output)
{
    uc_sink *self = uc_alloc(1, sizeof *self);
    if (!self)
        return UC_ERR_NOMEM;
    self->output = output;
    const uc_status status = begin_packing(self, uc_output_name(output));
    if (status == UC_OK)
        *out = self;
    else
        uc_sink_abort(self);
    return status;
}

static uc_status put_gzip(uc_sink *self, const void *bytes, size_t length, bool last)
{
    uc_status status = UC_OK;
    do {
        const size_t part = uc_min_size(length, (size_t)1 << 30);
        self->gzip.next_in = (Bytef *)(uintptr_t)bytes; /* zlib only reads it */
        self->gzip.avail_in = (uInt)part;
        do {
            self->gzip.next_out = self->packed;
            self->gzip.avail_out = (uInt)PACKED_BYTES;
            (void)deflate(&self->gzip, last && part == length ? Z_FINISH : Z_NO_FLUSH); /* cannot fail here */
            status = uc_output_write(self->output, self->packed, PACKED_BYTES - self->gzip.avail_out);
        } while (status == UC_OK && self->gzip.avail_out == 0);
        bytes = (const char *)bytes + part;
        length -= part;
    } while (status == UC_OK && length > 0);
    return status;
}

static uc_status put_zstd(uc_sink *self, const void *bytes, size_t length, bool last)
{
    const ZSTD_EndDirective end = last ? ZSTD_e_end : ZSTD_e_continue;
    ZSTD_inBuffer from = {bytes, length, 0};
    for (;;) {
        ZSTD_outBuffer to = {self->packed, PACKED_BYTES, 0};
        const size_t left = ZSTD_compressStream2(self->zstd, &to, &from, end);
        if (ZSTD_isError(left))
            return uc_fail(UC_ERR_NOMEM, "packing the output failed: %s", ZSTD_getErrorName(left));
        const uc_status status = uc_output_write(self->output, self->packed, to.pos);
        const bool done = from.pos == from.size && (!last || left == 0);
        if (status != UC_OK || done)
            return status;
    }
}

uc_status uc_sink_write(uc_sink *self, const void *bytes, size_t length)
{
    if (self->is_gzip)
        return put_gzip(self, bytes, length, false);
    if (self->zstd)
        return put_zstd(self, bytes, length, false);
    return uc_output_write(self->output, bytes, length);
}

static void release(uc_sink *self)
{
    if (self->is_gzip)
        deflateEnd(&self->gzip);
    ZSTD_freeCStream(self->zstd);
    uc_free(self->packed);
    uc_free(self);
}

static uc_status end_packing(uc_sink *self)
{
    if (self->is_gzip)
        return put_gzip(self, "", 0, true);
    if (self->zstd)
        return put_zstd(self, "", 0, true);
    return UC_OK;
}

uc_status uc_sink_end(uc_sink *self)
{
    const uc_status status = end_packing(self);
    release(self);
    return status;
}

void uc_sink_abort(uc_sink *self)
{
    if (self)
        release(self);
}
