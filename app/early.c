/* What every program does before its libraries begin; main does it again where that cannot be: a sanitizer
 * is not ready so early. Linked into each program, since a library has no such beginning. */
#include "unconfuse/threads.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TOO_EARLY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define TOO_EARLY 1
#endif
#endif

#if defined(__ELF__) && !defined(TOO_EARLY)
static void start_early(int argc, char **argv, char **environment)
{
    (void)argc;
    uc_threads_sleep_when_idle_early(argv, environment);
}

__attribute__((section(".preinit_array"), used)) static void (*const first_of_all)(int, char **,
                                                                                   char **) = start_early;
#else
typedef int too_early; /* an empty file is not C */
#endif
