/* Files that appear whole or not at all, and whole files in memory. */
#define _GNU_SOURCE
#include "tests/support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void check_content(const char *path, const char *expected)
{
    char *content = read_file(path, NULL);
    assert_string_equal(content, expected);
    free(content);
}

static void a_file_appears_only_at_the_commit(void **state)
{
    (void)state;
    const char *path = temporary_path("whole");
    const size_t files = temporary_count();
    uc_output *output;
    for (int durable = 0; durable < 2; durable++) {
        assert_ok(uc_output_open(&output, path));
        assert_ok(uc_output_write(output, "one ", 4));
        assert_ok(uc_output_printf(output, "%d %s", 2, "three"));
        assert_false(file_exists(path));
        assert_ok(uc_output_commit(output, durable));
        check_content(path, "one 2 three");
        assert_int_equal(temporary_count(), files + 1);
        assert_int_equal(unlink(path), 0);
    }
}

static void the_old_file_stays_until_the_commit(void **state)
{
    (void)state;
    const char *path = temporary_path("old");
    write_file(path, "old");
    uc_output *output;
    assert_ok(uc_output_open(&output, path));
    assert_ok(uc_output_write(output, "new", 3));
    check_content(path, "old");
    assert_ok(uc_output_commit(output, true));
    check_content(path, "new");
    assert_int_equal(unlink(path), 0);
}

static void aborting_leaves_nothing_new(void **state)
{
    (void)state;
    const char *path = temporary_path("aborted"), *old = temporary_path("kept");
    write_file(old, "old");
    const size_t files = temporary_count();
    uc_output *output;
    assert_ok(uc_output_open(&output, path));
    assert_ok(uc_output_write(output, "half", 4));
    uc_output_abort(output);
    assert_ok(uc_output_open(&output, old));
    uc_output_abort(output);
    uc_output_abort(NULL);
    assert_false(file_exists(path));
    check_content(old, "old");
    assert_int_equal(temporary_count(), files);
}

/* Pieces below, at and above the size of the buffer come out in their order. */
static void pieces_of_any_size_come_out_in_order(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 100000, 262143, 262144, 262145, 0, 700000, 5};
    const char *path = temporary_path("large");
    uc_output *output;
    assert_ok(uc_output_open(&output, path));
    unsigned char *expected = malloc(2000000);
    size_t length = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t i = 0; i < sizes[s]; i++)
            expected[length + i] = (unsigned char)((length + i) * 2654435761u >> 13);
        assert_ok(uc_output_write(output, expected + length, sizes[s]));
        length += sizes[s];
    }
    assert_ok(uc_output_commit(output, false));
    size_t read;
    char *content = read_file(path, &read);
    assert_int_equal(read, length);
    assert_memory_equal(content, expected, length);
    free(content);
    free(expected);
    assert_int_equal(unlink(path), 0);
}

static void permissions_follow_the_umask(void **state)
{
    (void)state;
    static const mode_t masks[] = {022, 077, 002, 027};
    const char *path = temporary_path("permissions");
    for (size_t i = 0; i < 4; i++) {
        const mode_t before = umask(masks[i]);
        uc_output *output;
        assert_ok(uc_output_open(&output, path));
        assert_ok(uc_output_commit(output, true));
        umask(before);
        struct stat info;
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 07777, 0666 & ~masks[i]);
        assert_int_equal(unlink(path), 0);
    }
}

static void a_symbolic_link_stays_and_the_file_behind_it_is_replaced(void **state)
{
    (void)state;
    const char *target = temporary_path("target"), *link = temporary_path("link");
    write_file(target, "old");
    assert_int_equal(symlink("target", link), 0);
    uc_output *output;
    assert_ok(uc_output_open(&output, link));
    assert_ok(uc_output_write(output, "new", 3));
    assert_ok(uc_output_commit(output, true));
    struct stat info;
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(lstat(target, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    check_content(target, "new");
    assert_int_equal(unlink(link), 0);
    assert_int_equal(unlink(target), 0);
}

static void a_full_disk_is_a_failure_at_the_commit_or_before(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    uc_output *output;
    assert_ok(uc_output_open(&output, "/dev/full"));
    assert_ok(uc_output_write(output, "text", 4)); /* still in the buffer */
    assert_error(uc_output_commit(output, true), UC_ERR_IO,
                 "/dev/full: cannot write: No space left on device");
    char *large = calloc(1, 1000000);
    assert_ok(uc_output_open(&output, "/dev/full"));
    assert_error(uc_output_write(output, large, 1000000), UC_ERR_IO,
                 "/dev/full: cannot write: No space left on device");
    uc_output_abort(output);
    assert_true(file_exists("/dev/full"));
    free(large);
}

static void what_is_not_an_ordinary_file_is_written_directly(void **state)
{
    (void)state;
    uc_output *output;
    assert_ok(uc_output_open(&output, "/dev/null"));
    assert_ok(uc_output_write(output, "text", 4));
    assert_ok(uc_output_commit(output, true));
    struct stat info;
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

static void directories_are_refused(void **state)
{
    (void)state;
    const char *path = temporary_path("directory");
    assert_int_equal(mkdir(path, 0777), 0);
    const size_t files = temporary_count();
    const long live = uc_alloc_live();
    uc_output *output = NULL;
    char sentence[512];
    snprintf(sentence, sizeof sentence, "%s: cannot write: it is a directory", path);
    assert_error(uc_output_open(&output, path), UC_ERR_IO, sentence);
    assert_null(output);
    const char *inside = temporary_path("nowhere/file");
    snprintf(sentence, sizeof sentence, "%s: cannot write: No such file or directory", inside);
    assert_error(uc_output_open(&output, inside), UC_ERR_IO, sentence);
    assert_null(output);
    assert_int_equal(temporary_count(), files);
    assert_int_equal(uc_alloc_live(), live);
    assert_int_equal(rmdir(path), 0);
}

static void two_outputs_to_one_name_do_not_mix(void **state)
{
    (void)state;
    const char *path = temporary_path("twice");
    uc_output *a, *b;
    assert_ok(uc_output_open(&a, path));
    assert_ok(uc_output_open(&b, path));
    assert_ok(uc_output_write(a, "aaaa", 4));
    assert_ok(uc_output_write(b, "bb", 2));
    assert_ok(uc_output_commit(b, false));
    check_content(path, "bb");
    assert_ok(uc_output_commit(a, false));
    check_content(path, "aaaa");
    assert_int_equal(unlink(path), 0);
}

/* Runs in a child, whose standard output is a file. */
static void a_dash_is_standard_output(void **state)
{
    (void)state;
    const char *path = temporary_path("standard-output");
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const int file = open(path, O_WRONLY | O_CREAT, 0666);
        if (file < 0 || dup2(file, STDOUT_FILENO) < 0)
            _exit(1);
        uc_output *output;
        const bool done = uc_output_open(&output, "-") == UC_OK &&
                          uc_output_write(output, "text", 4) == UC_OK &&
                          uc_output_commit(output, true) == UC_OK && write(STDOUT_FILENO, "!", 1) == 1;
        _exit(done ? 0 : 2);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    check_content(path, "text!"); /* standard output is still open after the commit */
    assert_int_equal(unlink(path), 0);
}

static void wake(int number)
{
    (void)number;
}

enum { PIPE_BYTES = 1 << 20 };

/* A slow reader, which comes late and pauses; its exit status is 0 when it got everything. */
static int read_slowly(const char *path)
{
    static char bytes[1 << 16];
    size_t length = 0;
    (void)usleep(300000);
    const int pipe = open(path, O_RDONLY);
    for (ssize_t count; pipe >= 0 && (count = read(pipe, bytes, sizeof bytes)) > 0; length += (size_t)count)
        (void)usleep(20000);
    return length == PIPE_BYTES ? 0 : 1;
}

/* Signals that have nothing to do with the output, such as a profiler's, in a program that gave nobody to
 * ask. */
static void signals_do_not_end_the_wait_for_a_pipe(void **state)
{
    (void)state;
    const char *path = temporary_path("pipe");
    static char bytes[PIPE_BYTES];
    struct sigaction action = {.sa_handler = wake}, before;
    const struct itimerval often = {{.tv_usec = 10000}, {.tv_usec = 10000}}, never = {{0}, {0}};
    uc_output *output = NULL;
    assert_int_equal(mkfifo(path, 0666), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(read_slowly(path));
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    assert_ok(uc_output_open(&output, path));
    assert_ok(uc_output_write(output, bytes, sizeof bytes));
    assert_ok(uc_output_commit(output, true));
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    assert_int_equal(unlink(path), 0);
}

static bool ask_thrice(void *user)
{
    return ++*(int *)user < 3;
}

/* Nobody reads the pipe, or its reader does nothing. */
static void whoever_is_asked_ends_the_wait_for_a_pipe(void **state)
{
    (void)state;
    const char *path = temporary_path("pipe");
    static char bytes[PIPE_BYTES];
    uc_output *output = NULL;
    int asked = 0;
    assert_int_equal(mkfifo(path, 0666), 0);
    assert_error(uc_output_begin(&output, path, ask_thrice, &asked), UC_ERR_CANCELLED, "interrupted");
    assert_int_equal(asked, 3);
    const int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_ok(uc_output_begin(&output, path, ask_thrice, &asked));
    asked = 0;
    assert_error(uc_output_write(output, bytes, sizeof bytes), UC_ERR_CANCELLED, "interrupted");
    assert_int_equal(asked, 3);
    uc_output_abort(output);
    close(reader);
    assert_int_equal(unlink(path), 0);
}

static void together(uc_output **files, const char *const *paths)
{
    for (int i = 0; i < 2; i++) {
        assert_ok(uc_output_open(&files[i], paths[i]));
        assert_ok(uc_output_write(files[i], "new", 3));
    }
}

/* The second file's directory is removed before the commit: the first file is restored, or does not
 * appear. */
static void two_files_appear_together_or_not_at_all(void **state)
{
    (void)state;
    const char *folder = temporary_path("folder"),
               *paths[2] = {temporary_path("first"), temporary_path("folder/second")};
    const char *moved = temporary_path("moved"), *moved_second = temporary_path("moved/second");
    const size_t files_before = temporary_count();
    uc_output *files[2];
    for (int old = 0; old < 2; old++) {
        assert_int_equal(mkdir(folder, 0777), 0);
        if (old)
            write_file(paths[0], "old");
        together(files, paths);
        assert_int_equal(rename(folder, moved), 0);
        assert_error_has(uc_output_commit_all(files, 2, true), UC_ERR_IO, "second: cannot rename to");
        if (old)
            check_content(paths[0], "old");
        assert_int_equal(file_exists(paths[0]), old);
        assert_false(file_exists(moved_second));
        assert_int_equal(rename(moved, folder), 0);
        together(files, paths);
        assert_ok(uc_output_commit_all(files, 2, true));
        check_content(paths[0], "new");
        check_content(paths[1], "new");
        assert_int_equal(unlink(paths[0]) | unlink(paths[1]), 0);
        char command[600]; /* the temporary file that moved away with the folder */
        snprintf(command, sizeof command, "rm -r '%s'", folder);
        assert_int_equal(system(command), 0);
    }
    assert_int_equal(temporary_count(), files_before);
}

static void a_text_too_long_for_one_piece_is_refused(void **state)
{
    (void)state;
    char *text = malloc(5001);
    memset(text, 'x', 5000);
    text[5000] = '\0';
    uc_output *output;
    const char *path = temporary_path("long");
    assert_ok(uc_output_open(&output, path));
    assert_error_has(uc_output_printf(output, "%s", text), UC_ERR_INVALID,
                     "a text of 5000 bytes is too long");
    assert_ok(uc_output_printf(output, "%.4000s", text));
    uc_output_abort(output);
    free(text);
}

static uc_status write_something(const char *path)
{
    uc_output *output;
    uc_status status = uc_output_open(&output, path);
    if (status != UC_OK)
        return status;
    status = uc_output_write(output, "text", 4);
    if (status == UC_OK)
        return uc_output_commit(output, true);
    uc_output_abort(output);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const char *path = temporary_path("failing");
    const size_t files = temporary_count();
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, write_something(path));
    assert_int_equal(temporary_count(), files + 1);
    assert_int_equal(unlink(path), 0);
}

static void whole_files_are_read_mapped_or_not(void **state)
{
    (void)state;
    const char *path = temporary_path("input");
    char *text = malloc(300000);
    for (size_t i = 0; i < 300000; i++)
        text[i] = (char)(i * 7);
    write_bytes(path, text, 300000);
    uc_bytes bytes;
    assert_ok(uc_bytes_read(&bytes, path));
    assert_int_equal(bytes.length, 300000);
    assert_memory_equal(bytes.data, text, 300000);
    bytes.data[0] = 'X'; /* private: the file stays */
    uc_bytes_free(&bytes);
    size_t length;
    char *back = read_file(path, &length);
    assert_memory_equal(back, text, 300000);
    free(back);

    write_bytes(path, text, 0);
    assert_ok(uc_bytes_read(&bytes, path));
    assert_int_equal(bytes.length, 0);
    uc_bytes_free(&bytes);

    int pipes[2]; /* a pipe cannot be mapped */
    char name[64];
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(write(pipes[1], text, 5000), 5000);
    close(pipes[1]);
    snprintf(name, sizeof name, "/proc/self/fd/%d", pipes[0]);
    if (file_exists(name)) {
        assert_ok(uc_bytes_read(&bytes, name));
        assert_int_equal(bytes.length, 5000);
        assert_memory_equal(bytes.data, text, 5000);
        uc_bytes_free(&bytes);
    }
    close(pipes[0]);
    free(text);
    assert_int_equal(unlink(path), 0);
}

static void files_that_cannot_be_read_are_named(void **state)
{
    (void)state;
    uc_bytes bytes;
    char sentence[512];
    const char *path = temporary_path("missing");
    snprintf(sentence, sizeof sentence, "%s: cannot read: No such file or directory", path);
    assert_error(uc_bytes_read(&bytes, path), UC_ERR_IO, sentence);
    assert_error(uc_bytes_read(&bytes, "/"), UC_ERR_IO, "/: cannot read: Is a directory");
}

static void a_file_without_end_is_read_only_while_it_may_be_meant(void **state)
{
    (void)state;
    uc_bytes bytes;
    assert_ok(uc_bytes_read_kind(&bytes, "/dev/zero", "MAGIC", 5));
    assert_in_range(bytes.length, 5, (size_t)1 << 20);
    uc_bytes_free(&bytes);

    const char *path = temporary_path("kind");
    char *text = calloc(300000, 1);
    memcpy(text, "MAGIC", 5);
    const size_t lengths[] = {0, 3, 5, 300000}; /* of those that begin as they should, all is read */
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        write_bytes(path, text, lengths[i]);
        assert_ok(uc_bytes_read_kind(&bytes, path, "MAGIC", 5));
        assert_int_equal(bytes.length, lengths[i]);
        uc_bytes_free(&bytes);
    }
    free(text);
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_appears_only_at_the_commit),
        cmocka_unit_test(the_old_file_stays_until_the_commit),
        cmocka_unit_test(aborting_leaves_nothing_new),
        cmocka_unit_test(pieces_of_any_size_come_out_in_order),
        cmocka_unit_test(permissions_follow_the_umask),
        cmocka_unit_test(a_symbolic_link_stays_and_the_file_behind_it_is_replaced),
        cmocka_unit_test(a_full_disk_is_a_failure_at_the_commit_or_before),
        cmocka_unit_test(what_is_not_an_ordinary_file_is_written_directly),
        cmocka_unit_test(directories_are_refused),
        cmocka_unit_test(two_outputs_to_one_name_do_not_mix),
        cmocka_unit_test(a_dash_is_standard_output),
        cmocka_unit_test(signals_do_not_end_the_wait_for_a_pipe),
        cmocka_unit_test(whoever_is_asked_ends_the_wait_for_a_pipe),
        cmocka_unit_test(two_files_appear_together_or_not_at_all),
        cmocka_unit_test(a_text_too_long_for_one_piece_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(whole_files_are_read_mapped_or_not),
        cmocka_unit_test(files_that_cannot_be_read_are_named),
        cmocka_unit_test(a_file_without_end_is_read_only_while_it_may_be_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
