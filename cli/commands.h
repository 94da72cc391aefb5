/* Every command of the program, one cmd_*.c each. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli.h"

extern const cli_command command_train, command_predict, command_evaluate, command_stream, command_noise_make,
    command_noise_apply, command_split, command_generate, command_convert, command_inspect, command_learners,
    command_help;

#endif
