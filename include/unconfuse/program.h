/* For programs, not for libraries: functions to call first in main. */
#ifndef UNCONFUSE_PROGRAM_H
#define UNCONFUSE_PROGRAM_H

#ifdef __cplusplus
extern "C" {
#endif

/* A program may be started with standard input, output or error closed. The next files that it opens would
 * then get these descriptors, and messages would be written into data files. This function opens /dev/null
 * for each of the three that is closed, in the wrong direction, so that reading or writing it still fails. */
void uc_program_occupy_standard_files(void);

/* Unblocks SIGINT, SIGTERM and SIGALRM. No shell starts programs with these blocked, but a parent that blocks
 * them for one of its threads passes its mask on by accident; then only SIGKILL would end the program,
 * leaving temporary files behind. Call it after installing the handlers: a pending signal is delivered at
 * once. */
void uc_program_unblock_signals(void);

#ifdef __cplusplus
}
#endif

#endif
