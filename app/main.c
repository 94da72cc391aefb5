/* A program from its first line to its exit status. */
#define _GNU_SOURCE
#include "app/main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/help.h"
#include "app/memory.h"
#include "app/message.h"
#include "app/output.h"
#include "app/page.h"
#include "app/progress.h"
#include "app/signals.h"
#include "unconfuse/program.h"

/* Prints the result and checks that all output was written. */
static uc_status finish_output(const json_t *result)
{
    if (result && app_is_first()) {
        if (json_dumpf(result, stdout, JSON_REAL_PRECISION(17)) != 0 && !ferror(stdout))
            return app_fail(UC_ERR_INVALID, "cannot write the result as JSON");
        putchar('\n');
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        return app_fail(UC_ERR_IO, "standard output: cannot write: %s", strerror(errno));
    return UC_OK;
}

static int exit_code(uc_status status)
{
    if (status == UC_OK)
        return 0;
    return status == UC_ERR_OPTION ? 2 : 1;
}

/* The message of the failure, or a default one if there is none. */
static const char *sentence_for(uc_status status)
{
    const char *said = app_last_error();
    if (status == UC_OK || strcmp(said, "no error") != 0)
        return said;
    return status == UC_ERR_NOMEM ? "not enough memory" : "failed for an unknown reason";
}

static void print_failure(const char *sentence, void *nothing)
{
    (void)nothing;
    fprintf(stderr, "%s: %s\n", app_this_program.name, sentence);
}

/* Processes end together, and one of them reports the reason. */
static int report(uc_status status)
{
    if (status != UC_OK && app_signal()) {
        print_failure("interrupted", NULL);
        return 128 + app_signal();
    }
    return exit_code(
        uc_comm_end(app_comm, status, sentence_for(status), print_failure, NULL, exit_code(status)));
}

/* Adds a word, quoted for a shell if necessary; returns the new end. */
static char *add_word(char *end, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=,+@%^";
    *end++ = ' ';
    if (*word && word[strspn(word, plain)] == 0)
        return stpcpy(end, word);
    *end++ = '\'';
    for (; *word; word++)
        end = *word == '\'' ? stpcpy(end, "'\\''") : stpncpy(end, word, 1);
    return stpcpy(end, "'");
}

/* The command line, so that it can be repeated. */
static char *quoted_command(const app_command *command, int argc, char **argv)
{
    size_t room = strlen(app_this_program.name) + strlen(command->name) + 2;
    for (int i = 0; i < argc; i++)
        room += 4 * strlen(argv[i]) + 3;
    char *text = app_calloc(room, 1);
    char *end = text + sprintf(text, "%s %s", app_this_program.name, command->name);
    for (int i = 0; i < argc; i++)
        end = add_word(end, argv[i]);
    return text;
}

/* Runs the command, and writes the page with its result. */
static uc_status run_command(app_call *call)
{
    uc_status status = app_page_begin(call);
    if (status == UC_OK)
        status = call->command->run(call);
    if (status == UC_OK && app_page_is_pending(call))
        status = app_finish_call(call, false);
    return status;
}

static uc_status run(const app_command *command, int argc, char **argv)
{
    app_call call;
    uc_status status = app_parse(&call, command, argc, argv);
    call.typed = quoted_command(command, argc, argv);
    if (status == UC_OK) {
        app_detail(&call, "version %s, CPU level %s", uc_version(), uc_cpu_level());
        const bool takes_part = command->shared || app_is_first();
        if (call.common.help && app_is_first())
            app_print_command_help(stdout, &call);
        else if (!call.common.help && takes_part)
            status = run_command(&call);
    }
    app_progress_end();
    app_abort_files(); /* files are left only if the command failed */
    const json_t *printed = call.common.json ? call.result : NULL;
    if (status == UC_OK)
        status = finish_output(printed);
    else if (call.tells_failures)
        (void)finish_output(printed);
    app_call_free(&call);
    return status;
}

static bool is_help(const char *word)
{
    return word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0);
}

/* Options of any command may come before the command itself. *at is its position; 0: there is none. */
static uc_status find_command_word(int *at, int argc, char **argv)
{
    app_tables tables = {0};
    for (const app_command *const *command = app_this_program.commands; *command; command++)
        app_command_tables(&tables, *command);
    char *see = app_text("%s help", app_this_program.name);
    app_parser parser = {.tables = &tables, .argc = argc, .argv = argv, .see = see, .at = 1};
    app_token found;
    uc_status status;
    do
        status = app_parser_next(&found, &parser);
    while (status == UC_OK && found.option);
    *at = status == UC_OK && found.text ? parser.at - 1 : 0;
    free(see);
    app_tables_free(&tables);
    return status;
}

static uc_status dispatch(int argc, char **argv)
{
    int at, used;
    if (strcmp(argv[1], "--version") == 0 || is_help(argv[1])) {
        if (app_is_first() && is_help(argv[1]))
            app_print_overview(stdout);
        else if (app_is_first())
            printf("%s %s\n", app_this_program.name, uc_version());
        return finish_output(NULL);
    }
    const uc_status status = find_command_word(&at, argc, argv);
    if (status != UC_OK)
        return status;
    if (at == 0)
        return app_fail(UC_ERR_OPTION, "a command is missing; %s help lists them", app_this_program.name);
    const char *first = argv[at];
    const app_command *command = app_command_find(first, argv[at + 1], &used);
    if (command) {
        memmove(argv + 1 + used, argv + 1, (size_t)(at - 1) * sizeof *argv);
        return run(command, argc - 1 - used, argv + 1 + used);
    }
    if (at == 1 && is_help(argv[2]))
        return run(&app_command_help, 1, argv + 1); /* noise --help */
    return app_refuse_command(first);
}

/* Checks that all processes have the same command line, except for --threads, which may differ. */
static uc_status compare_commands(int argc, char **argv)
{
    size_t room = 1;
    for (int i = 1; i < argc; i++)
        room += strlen(argv[i]) + 1;
    char *text = app_calloc(room, 1), *end = text;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--threads") == 0)
            i++;
        else if (strncmp(argv[i], "--threads=", 10) != 0)
            end += sprintf(end, "%s%s", end > text ? " " : "", argv[i]);
    }
    const uc_status status = uc_comm_same(app_comm, text, "the command");
    free(text);
    return status;
}

/* Processes base decisions on numbers that each computes itself; on another CPU these would differ in the
 * last bits. */
static uc_status check_processes(int argc, char **argv)
{
    char cpu[128];
    if (uc_comm_size(app_comm) == 1) /* does not load BLAS yet, which takes longer than anything else */
        return UC_OK;
    const uc_status status = compare_commands(argc, argv);
    if (status != UC_OK)
        return status;
    snprintf(cpu, sizeof cpu, "%s (BLAS: %s; to make them equal: UNCONFUSE_CPU and OPENBLAS_CORETYPE)",
             uc_cpu_level(), uc_cpu_blas());
    return uc_comm_same(app_comm, cpu, "the CPU level");
}

int app_main(int argc, char **argv)
{
    uc_program_occupy_standard_files();
    /* Set before OpenBLAS is loaded, which would otherwise start threads that are never used. */
    (void)setenv("OPENBLAS_NUM_THREADS", "1", 1);
    app_keep_freed_memory();
    app_own_json_memory();
    app_comm = uc_comm_start();
    app_catch_signals();
    (void)atexit(app_unfinished_remove); /* since a library may end the program */
    const char *level = getenv("UNCONFUSE_CPU");
    if (level && *level && uc_cpu_set_level(level) != UC_OK)
        return report(app_fail(UC_ERR_OPTION, "UNCONFUSE_CPU: %s", app_library_error()));
    if (check_processes(argc, argv) != UC_OK)
        return report(app_fail(UC_ERR_INVALID, "%s", app_library_error()));
    if (argc < 2) {
        if (app_is_first())
            app_print_overview(stderr);
        (void)uc_comm_end(app_comm, UC_OK, NULL, print_failure, NULL, 2);
        return 2;
    }
    return report(dispatch(argc, argv));
}
