/* What programs do first in main. */
#define _GNU_SOURCE
#include "unconfuse/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

void uc_program_occupy_standard_files(void)
{
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++) {
        if (fcntl(file, F_GETFD) >= 0 || errno != EBADF)
            continue;
        /* The lowest number that is free is `file`. A program without /dev/null still has a root directory.
         * */
        if (open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            (void)open("/", O_RDONLY | O_DIRECTORY);
    }
}

void uc_program_unblock_signals(void)
{
    sigset_t signals;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGALRM); /* which ends a program that does not stop when it is asked to */
    (void)sigprocmask(SIG_UNBLOCK, &signals, NULL);
}
