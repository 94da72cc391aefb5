/* The last failure's sentence, one a thread. */
#include <stdarg.h>
#include <string.h>

#include "base/base.h"
#include "unconfuse/version.h"

static _Thread_local char sentence[1024] = "no error";

const char *uc_last_error(void)
{
    return sentence;
}

const char *uc_version(void)
{
    return UC_VERSION;
}

uc_status(uc_fail)(uc_status status, const char *format, ...) /* in brackets: base.h may make it a macro */
{
    char fresh[sizeof sentence]; /* the arguments may point into the old sentence */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fresh, sizeof fresh, format, arguments);
    va_end(arguments);
    uc_printable(sentence, sizeof sentence, fresh);
    return status;
}

uc_status uc_fail_prefix(uc_status status, const char *prefix)
{
    return uc_fail(status, "%s: %s", prefix, sentence);
}
