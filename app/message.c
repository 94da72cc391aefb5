#include "app/message.h"

#include <stdio.h>
#include <string.h>

#include "app/progress.h"

static char own_error[1024];

uc_status app_fail(uc_status status, const char *format, ...)
{
    char text[sizeof own_error]; /* the arguments may contain the last message */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    uc_printable(own_error, sizeof own_error, text);
    return status;
}

uc_status app_fail_in(uc_status status, const char *file)
{
    const char *sentence = app_last_error(), *rest = strstr(sentence, ": ");
    if (strncmp(sentence, "rank ", 5) == 0 && rest)
        return app_fail(status, "%.*s: %s%s", (int)(rest - sentence), sentence, file, rest);
    return app_fail(status, "%s: %s", file, sentence);
}

const char *app_library_error(void)
{
    return app_in_words(uc_last_error());
}

const char *app_last_error(void)
{
    return own_error[0] ? own_error : app_library_error();
}

void app_forget_error(void)
{
    own_error[0] = 0;
}

/* The messages that processes exchange here are the program's, which name options as users type them. */
uc_status app_agree(uc_status status)
{
    if (uc_comm_size(app_comm) == 1)
        return status;
    const uc_status agreed = uc_comm_agree_on(app_comm, status, app_last_error());
    return agreed == UC_OK ? UC_OK : app_fail(agreed, "%s", uc_last_error());
}

void app_say_list(const char *prefix, const char *format, va_list arguments)
{
    char text[4096], shown[4096];
    if (!app_is_first())
        return;
    app_progress_end();
    vsnprintf(text, sizeof text, format, arguments);
    uc_printable(shown, sizeof shown, text);
    fprintf(stderr, "%s: %s%s\n", app_this_program.name, prefix, shown);
}

void app_warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    app_say_list("warning: ", format, arguments);
    va_end(arguments);
}

void app_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    app_say_list("", format, arguments);
    va_end(arguments);
}
