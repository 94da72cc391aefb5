/* unconfuse: learns classifiers from labels that cannot be trusted. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "unconfuse/threads.h"
#include "unconfuse/program.h"

const cli_command *const cli_commands[] = {
    &command_train,      &command_predict,     &command_evaluate,       &command_stream, &command_compare,
    &command_noise_make, &command_noise_apply, &command_noise_estimate, &command_split,  &command_generate,
    &command_convert,    &command_inspect,     &command_learners,       &command_help,   NULL,
};

/* What was printed must have arrived. */
static uc_status finish_output(const cli_call *call)
{
    if (call->result && cli_is_first()) {
        if (json_dumpf(call->result, stdout, JSON_REAL_PRECISION(17)) != 0 && !ferror(stdout))
            return cli_fail(UC_ERR_INVALID, "cannot write the result as JSON");
        putchar('\n');
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_fail(UC_ERR_IO, "standard output: cannot write: %s", strerror(errno));
    return UC_OK;
}

static int exit_code(uc_status status)
{
    return status == UC_OK ? 0 : status == UC_ERR_OPTION ? 2 : 1;
}

/* Failures that nobody found words for. */
static const char *sentence_for(uc_status status)
{
    const char *said = cli_last_error();
    if (status == UC_OK || strcmp(said, "no error") != 0)
        return said;
    return status == UC_ERR_NOMEM ? "not enough memory" : "failed for an unknown reason";
}

static void print_failure(const char *sentence, void *nothing)
{
    (void)nothing;
    fprintf(stderr, "unconfuse: %s\n", sentence);
}

/* Processes end together, and one of them says why. */
static int report(uc_status status)
{
    if (status != UC_OK && cli_signal()) {
        fputs("unconfuse: interrupted\n", stderr);
        return 128 + cli_signal();
    }
    return exit_code(
        uc_comm_end(cli_comm, status, sentence_for(status), print_failure, NULL, exit_code(status)));
}

static uc_status run(const cli_command *command, int argc, char **argv)
{
    cli_call call;
    uc_status status = cli_parse(&call, command, argc, argv);
    if (status == UC_OK) {
        cli_detail(&call, "version %s, CPU level %s", uc_version(), uc_cpu_level());
        const bool takes_part = command->shared || cli_is_first();
        if (call.common.help && cli_is_first())
            cli_print_command_help(stdout, &call);
        else if (!call.common.help && takes_part)
            status = command->run(&call);
    }
    cli_progress_end();
    cli_abort_files(); /* those of a command that failed */
    if (status == UC_OK)
        status = finish_output(&call);
    cli_call_free(&call);
    return status;
}

static uc_status dispatch(int argc, char **argv)
{
    const char *first = argv[1];
    if (strcmp(first, "--version") == 0 || strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        if (!cli_is_first())
            return UC_OK;
        if (strcmp(first, "--version") == 0)
            printf("unconfuse %s\n", uc_version());
        else
            cli_print_overview(stdout);
        return finish_output(&(cli_call){0});
    }
    int used;
    const cli_command *command = cli_command_find(first, argv[2], &used);
    if (command)
        return run(command, argc - 1 - used, argv + 1 + used);
    if (argv[2] && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0))
        return run(&command_help, 1, argv + 1); /* noise --help */
    return cli_refuse_command(first);
}

/* The words of the command line but for --threads, which each process may have its own. */
static uc_status compare_commands(int argc, char **argv)
{
    size_t room = 1;
    for (int i = 1; i < argc; i++)
        room += strlen(argv[i]) + 1;
    char *text = cli_calloc(room, 1), *end = text;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--threads") == 0)
            i++;
        else if (strncmp(argv[i], "--threads=", 10) != 0)
            end += sprintf(end, "%s%s", end > text ? " " : "", argv[i]);
    }
    const uc_status status = uc_comm_same(cli_comm, text, "the command");
    free(text);
    return status;
}

/* Processes decide by numbers that they compute alike: on other CPUs these would have other last bits. */
static uc_status check_processes(int argc, char **argv)
{
    char cpu[128];
    const uc_status status = compare_commands(argc, argv);
    if (status != UC_OK)
        return status;
    snprintf(cpu, sizeof cpu, "%s (BLAS: %s; to make them equal: UNCONFUSE_CPU and OPENBLAS_CORETYPE)",
             uc_cpu_level(), uc_cpu_blas());
    return uc_comm_same(cli_comm, cpu, "the CPU level");
}

int main(int argc, char **argv)
{
    uc_program_occupy_standard_files();
    uc_threads_sleep_when_idle(argv);
    cli_own_json_memory();
    cli_comm = uc_comm_start();
    cli_catch_signals();
    (void)atexit(cli_output_discard); /* OpenMP ends a program that it cannot give a thread or memory */
    const char *level = getenv("UNCONFUSE_CPU");
    if (level && *level && uc_cpu_set_level(level) != UC_OK)
        return report(cli_fail(UC_ERR_OPTION, "UNCONFUSE_CPU: %s", cli_library_error()));
    if (check_processes(argc, argv) != UC_OK)
        return report(cli_fail(UC_ERR_INVALID, "%s", cli_library_error()));
    if (argc < 2) {
        if (cli_is_first())
            cli_print_overview(stderr);
        (void)uc_comm_end(cli_comm, UC_OK, NULL, print_failure, NULL, 2);
        return 2;
    }
    return report(dispatch(argc, argv));
}
