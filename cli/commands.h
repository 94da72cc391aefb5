/* Every command of the program, one cmd_*.c each. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli.h"

extern const app_command command_train, command_predict, command_evaluate, command_stream, command_compare,
    command_noise_make, command_noise_apply, command_noise_estimate, command_split, command_generate,
    command_convert, command_inspect, command_learners;

/* An estimated matrix: numbers, shaded on a terminal, and how sure they are (noise_picture.c). */
void cli_print_noise(FILE *file, const uc_noise_estimate *self, const uc_noise_check *check,
                     const char *path);

#endif
