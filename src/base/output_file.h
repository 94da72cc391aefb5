/* Where an output goes: the target of its name, the temporary file next to it, and the files that killed
 * processes left there. */
#ifndef UC_OUTPUT_FILE_H
#define UC_OUTPUT_FILE_H

#include <sys/stat.h>

#include "base/base.h"

/* The file that a path leads to, with the canonical name of its directory. It need not exist, but its links
 * must not form a circle. NULL: no memory. */
char *uc_target_of(const char *path);
char *uc_directory_of(const char *path); /* with its slash, or "."; NULL: no memory */

/* Opens a new file TARGET.PID-N.tmp, locked for as long as it is open. Returns -1 and sets errno on failure.
 * `name` has room for UC_TEMPORARY_ROOM bytes more than the target. Abandoned files of that form are removed
 * first. */
#define UC_TEMPORARY_ROOM ((size_t)48)
int uc_temporary_open(char *name, const char *target);
/* Gives the target a second name of the same form (a hard link); false: this failed, or there is no target.
 * The file is not locked: only the number of this process keeps others from removing it, and processes of
 * another container cannot see that it is alive. */
bool uc_temporary_link(char *name, const char *target);

#endif
