/*
 * All memory of the library. A block is aligned to 64 bytes for SIMD; a small header in front of it holds its
 * distance from the start of malloc's own block:
 *
 *   malloc's block:  | gap | header | the caller's bytes, 64-byte aligned | slack |
 *
 * Blocks grow by realloc, which moves the pages of a large block instead of copying them. For large blocks we
 * ask for large pages if the system provides them on request.
 */
#define _DEFAULT_SOURCE /* madvise */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"

#if defined(__SANITIZE_ADDRESS__)
#define UC_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UC_POISON 1
#endif
#endif
#ifdef UC_POISON
#include <sanitizer/asan_interface.h>
#else /* without the sanitizer, marking the slack as out of bounds means nothing */
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

#define ALIGNMENT 64u
#define LARGE ((size_t)1 << 22) /* bytes */

typedef struct header {
    size_t gap; /* from malloc's block to the caller's */
    size_t size;
} header;

#define OVERHEAD (ALIGNMENT + sizeof(header))

static atomic_long fail_after = -1, attempts, live;
static atomic_bool only_one;

static void fail_from_now(long successes, bool only)
{
    atomic_store(&fail_after, successes);
    atomic_store(&only_one, only);
    atomic_store(&attempts, 0);
}

void uc_alloc_fail_after(long successes)
{
    fail_from_now(successes, false);
}

void uc_alloc_fail_once_after(long successes)
{
    fail_from_now(successes, true);
}

long uc_alloc_count(void)
{
    return atomic_load(&attempts);
}

long uc_alloc_live(void)
{
    return atomic_load(&live);
}

bool uc_size_add(size_t *out, size_t a, size_t b)
{
    return !__builtin_add_overflow(a, b, out);
}

bool uc_size_mul(size_t *out, size_t a, size_t b)
{
    return !__builtin_mul_overflow(a, b, out);
}

size_t uc_grown(size_t capacity, size_t needed)
{
    if (capacity < 16)
        capacity = 16;
    while (capacity < needed)
        capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
    return capacity;
}

static bool may_allocate(void)
{
    const long limit = atomic_load(&fail_after), before = atomic_fetch_add(&attempts, 1);
    return before < limit || limit < 0 || (before > limit && atomic_load(&only_one));
}

static header *header_of(void *block)
{
    return (header *)block - 1;
}

static size_t gap_in(const void *raw)
{
    const uintptr_t start = ((uintptr_t)raw + OVERHEAD - 1) / ALIGNMENT * ALIGNMENT;
    return (size_t)(start - (uintptr_t)raw);
}

/* The caller's block inside malloc's. */
static void *place(char *raw, size_t size)
{
    const size_t gap = gap_in(raw);
    char *block = raw + gap;
    *header_of(block) = (header){gap, size};
    ASAN_POISON_MEMORY_REGION(block + size, OVERHEAD - gap);
    return block;
}

static void *refuse(size_t count, size_t size)
{
    uc_fail(UC_ERR_NOMEM, "not enough memory for %zu items of %zu bytes", count, size);
    return NULL;
}

/* Large pages speed up the first touch of a large array and random access to it. The advice covers all pages
 * of the block, because realloc cannot move a mapping of which only a part was advised. */
static void ask_for_large_pages(const void *raw, size_t size)
{
#ifdef MADV_HUGEPAGE
    if (size < LARGE)
        return;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)raw / page * page,
                    last = ((uintptr_t)raw + size + page - 1) / page * page;
    (void)madvise((void *)first, last - first, MADV_HUGEPAGE); /* only advice: it may fail */
#else
    (void)raw, (void)size;
#endif
}

void *uc_alloc(size_t count, size_t size)
{
    size_t bytes, total;
    void *raw = NULL;
    if (uc_size_mul(&bytes, count, size) && uc_size_add(&total, bytes, OVERHEAD) && may_allocate())
        raw = calloc(1, total);
    if (!raw)
        return refuse(count, size);
    ask_for_large_pages(raw, total);
    atomic_fetch_add(&live, 1);
    return place(raw, bytes);
}

void *uc_realloc(void *block, size_t count, size_t size)
{
    if (!block)
        return uc_alloc(count, size);
    const header old = *header_of(block);
    char *old_raw = (char *)block - old.gap;
    size_t bytes, total;
    if (!uc_size_mul(&bytes, count, size) || !uc_size_add(&total, bytes, OVERHEAD) || !may_allocate())
        return refuse(count, size);
    ASAN_UNPOISON_MEMORY_REGION(old_raw, old.size + OVERHEAD);
    char *raw = realloc(old_raw, total);
    if (!raw) {
        ASAN_POISON_MEMORY_REGION((char *)block + old.size, OVERHEAD - old.gap);
        return refuse(count, size);
    }
    if (bytes > old.size)
        ask_for_large_pages(raw, total);
    const size_t gap = gap_in(raw);
    if (gap != old.gap) /* realloc moved it to another alignment */
        memmove(raw + gap, raw + old.gap, uc_min_size(bytes, old.size));
    return place(raw, bytes);
}

void uc_free(void *block)
{
    if (!block)
        return;
    const header old = *header_of(block);
    char *raw = (char *)block - old.gap;
    ASAN_UNPOISON_MEMORY_REGION(raw, old.size + OVERHEAD);
    atomic_fetch_sub(&live, 1);
    free(raw);
}

char *uc_strndup(const char *text, size_t length)
{
    char *copy = uc_alloc(length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *uc_strdup(const char *text)
{
    return uc_strndup(text, strlen(text));
}
