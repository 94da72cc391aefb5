/* For programs: what they do first in main. */
#ifndef UNCONFUSE_PROGRAM_H
#define UNCONFUSE_PROGRAM_H

#ifdef __cplusplus
extern "C" {
#endif

/* A program may be started with its standard input, output or error closed. The next files that it opens would get
 * their numbers, and what is meant for people would be written into data. So each of them that is closed becomes
 * /dev/null, opened the wrong way round: reading or writing it fails as it did before. */
void uc_program_occupy_standard_files(void);

/* SIGINT, SIGTERM and SIGALRM that it was started to block are unblocked. No shell blocks signals; a parent that blocks
 * them for a thread of its own passes its mask on by accident, and a program that only SIGKILL ends would leave temporary
 * files behind. To be called when the handlers are in place: a signal that came before is caught then. */
void uc_program_unblock_signals(void);

#ifdef __cplusplus
}
#endif

#endif
