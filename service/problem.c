#include "service/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool problem_set(problem *self, int status, const char *format, ...)
{
    char text[2 * sizeof self->detail];
    va_list arguments;
    if (!self)
        return false;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    self->status = status;
    uc_printable(self->detail, sizeof self->detail, text);
    return false;
}

bool problem_of_library(problem *self, uc_status status)
{
    if (!self)
        return false;
    self->status = 400;
    if (status == UC_ERR_NOMEM || status == UC_ERR_IO)
        self->status = 503;
    uc_message_render(self->detail, sizeof self->detail, uc_last_error(), UC_MESSAGE_JSON);
    return false;
}
