/* Where an output goes: the target that its name leads to, the temporary file next to it, and what killed
 * processes left there. */
#ifndef UC_OUTPUT_FILE_H
#define UC_OUTPUT_FILE_H

#include <sys/stat.h>

#include "base/base.h"

/* The file that a path leads to, in a directory that is named in one way only. It need not be there, but
 * must not be a link in a circle. NULL: no memory. */
char *uc_target_of(const char *path);
char *uc_directory_of(const char *path); /* with its slash, or "."; NULL: no memory */

/* A new file called TARGET.PID-N.tmp, locked for as long as it is open. -1: errno says why. `name` has
 * UC_TEMPORARY_ROOM bytes more than the target. Files of that form whose process is gone are removed first.
 * */
#define UC_TEMPORARY_ROOM ((size_t)48)
int uc_temporary_open(char *name, const char *target);
/* Another name for the target, of the same form; false: it could not get one, or is not there. Nobody locks
 * it: while this process lives only its number keeps others from removing it, and those in another container
 * do not see that. */
bool uc_temporary_link(char *name, const char *target);

#endif
