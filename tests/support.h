/* Shared by all tests: cmocka with its order of includes, files in a separate directory, and checks that say
 * what was wrong. Everything here fails the running test, with a message, instead of returning an error. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "unconfuse/unconfuse.h"

/* A sanitizer needs much address space itself, so tests with little of it cannot run. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* ---- files ----
 * Paths are valid until the program ends. */

/* The path of `name` in a directory of this program, which is removed with all its content at the end. */
const char *temporary_path(const char *name);
/* A file of the source tree, such as source_path("tests/golden/model_1.uc"). */
const char *source_path(const char *name);
/* The directory of the public data sets: $UNCONFUSE_DATA, or else ../shared/data next to the source tree, or
 * else NULL. */
const char *data_directory(void);
/* Sets the path of a file in that directory; skips the running test if there is no such directory. */
#define data_file_or_skip(path, name)                                                                        \
    do {                                                                                                     \
        (path) = data_file(name);                                                                            \
        if (!(path)) {                                                                                       \
            print_message("skipped: no data\n");                                                             \
            skip();                                                                                          \
        }                                                                                                    \
    } while (0)
const char *data_file(const char *name); /* NULL: not there */

void write_file(const char *path, const char *text);
void write_bytes(const char *path, const void *bytes, size_t length);
/* The whole file, followed by a zero byte; the caller frees it with free(). `length` may be NULL. */
char *read_file(const char *path, size_t *length);
bool file_exists(const char *path);
/* The number of files and directories in the program's temporary directory; a failed write does not change
 * it. */
size_t temporary_count(void);

/* ---- checks ---- */

/* |a - b| <= tolerance; NaN is near nothing, and infinity only near itself. */
#define assert_near(a, b, tolerance) check_near((a), (b), (tolerance), #a, __FILE__, __LINE__)
/* The same relative to the larger of |a| and |b|. */
#define assert_near_relative(a, b, tolerance)                                                                \
    check_near_relative((a), (b), (tolerance), #a, __FILE__, __LINE__)
/* `call` returns `status`. */
#define assert_status(call, status) check_status((call), (status), #call, __FILE__, __LINE__)
#define assert_ok(call) assert_status(call, UC_OK)
/* `call` returns `status`, and uc_last_error() is exactly `sentence`. */
#define assert_error(call, status, sentence)                                                                 \
    check_error((call), (status), (sentence), #call, __FILE__, __LINE__)
/* `call` returns `status`, and uc_last_error() contains `part`. */
#define assert_error_has(call, status, part)                                                                 \
    check_error_has((call), (status), (part), #call, __FILE__, __LINE__)

/* Makes allocation 1, 2, 3, ... of `call` fail until it succeeds; `status` ends as UC_OK, and the results of
 * that last run are the caller's to free. Every run before it must return UC_ERR_NOMEM and leave no block
 * behind. */
#define FOR_EACH_FAILING_ALLOCATION(status, call)                                                            \
    do {                                                                                                     \
        const long live_before_ = uc_alloc_live();                                                           \
        for (long successes_ = 0;; successes_++) {                                                           \
            uc_alloc_fail_after(successes_);                                                                 \
            (status) = (call);                                                                               \
            uc_alloc_fail_after(-1);                                                                         \
            if ((status) == UC_OK)                                                                           \
                break;                                                                                       \
            check_failed_allocation((status), successes_, live_before_, #call, __FILE__, __LINE__);          \
        }                                                                                                    \
    } while (0)

void check_near(double a, double b, double tolerance, const char *what, const char *file, int line);
void check_near_relative(double a, double b, double tolerance, const char *what, const char *file, int line);
void check_status(uc_status got, uc_status want, const char *what, const char *file, int line);
void check_error(uc_status got, uc_status want, const char *sentence, const char *what, const char *file,
                 int line);
void check_error_has(uc_status got, uc_status want, const char *part, const char *what, const char *file,
                     int line);
void check_failed_allocation(uc_status got, long successes, long live_before, const char *what,
                             const char *file, int line);

/* ---- data ---- */

/* Learns the scaling of X's columns; does not change X. */
uc_status learn_scaling(uc_preprocessing *out, uc_scaling scaling, const uc_matrix *X);

#endif
