/* Runs commands of the program inside a fuzz target; their output is discarded. */
#ifndef FUZZ_COMMANDS_H
#define FUZZ_COMMANDS_H

#include "cli/commands.h"
#include "fuzz/files.h"

/* To be called before the first command. */
static inline void silence_streams(void)
{
    static FILE *nothing;
    if (nothing)
        return;
    nothing = fopen("/dev/null", "w");
    CHECK(nothing);
    stdout = nothing;
    stderr = nothing;
}

/* Runs a command as main does. */
static inline uc_status run_command(const app_command *command, int argc, char **argv)
{
    app_call call;
    uc_status status = app_parse(&call, command, argc, argv);
    if (status == UC_OK)
        status = command->run(&call);
    app_abort_files();
    app_call_free(&call);
    return status;
}

#endif
