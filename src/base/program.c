/* What programs do at the start of main. */
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
        /* open returns the lowest free number, which is `file`. Without /dev/null there is still "/". */
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
    (void)sigaddset(&signals, SIGALRM); /* it ends a program that does not stop when asked to */
    (void)sigprocmask(SIG_UNBLOCK, &signals, NULL);
}
