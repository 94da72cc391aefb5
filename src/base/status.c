/* The message of the last failure, one per thread. */
#include <stdarg.h>
#include <string.h>

#include "base/base.h"
#include "unconfuse/version.h"

static _Thread_local char sentence[UC_MESSAGE_BYTES] = "no error";

const char *uc_last_error(void)
{
    return sentence;
}

const char *uc_version(void)
{
    return UC_VERSION;
}

uc_status(uc_fail)(uc_status status, const char *format, ...) /* in parentheses: base.h may define a macro */
{
    char fresh[sizeof sentence]; /* the arguments may point into the old message */
    va_list arguments;
    va_start(arguments, format);
    uc_message_format(fresh, sizeof fresh, format, arguments);
    va_end(arguments);
    memcpy(sentence, fresh, sizeof sentence);
    return status;
}

uc_status(uc_fail_again)(uc_status status, const char *before, const char *text)
{
    char fresh[sizeof sentence];
    snprintf(fresh, sizeof fresh, "%s%s", before, text);
    uc_printable(sentence, sizeof sentence, fresh);
    return status;
}
