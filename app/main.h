/* A program from its first line to its exit status: 0 success, 1 failure, 2 wrong usage, 128 + the signal
 * that stopped it. */
#ifndef APP_MAIN_H
#define APP_MAIN_H

#include "app/program.h"

int app_main(int argc, char **argv);

#endif
