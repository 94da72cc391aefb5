/* The status that a call returns, and the message that says why it failed. */
#ifndef UNCONFUSE_STATUS_H
#define UNCONFUSE_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values are never renumbered. */
typedef enum uc_status {
    UC_OK = 0,
    UC_ERR_INVALID = -1,   /* arguments or data that cannot be used in this way */
    UC_ERR_NOMEM = -2,     /* an allocation failed, or would exceed the memory limit */
    UC_ERR_IO = -3,        /* the system refused to open, read or write a file */
    UC_ERR_FORMAT = -4,    /* a file's content is not what its format asks for */
    UC_ERR_DIVERGED = -5,  /* a computation left the range of finite numbers */
    UC_ERR_CANCELLED = -6, /* the progress callback asked to stop */
    UC_ERR_OPTION = -7,    /* an unknown option, or a value outside its bounds */
} uc_status;

/* One sentence about the last failure in this thread, without a final newline. It names the file, the line,
 * the value and the bound. It is valid until this thread's next failure. Options are named in braces, as
 * {noise-orientation} or {scale=maxabs}, and braces in the user's own text are doubled: uc_message_render
 * writes both in the form that the user knows. */
const char *uc_last_error(void);

/* How a front end writes the options that a sentence names: {scale}, and {scale=maxabs}. */
typedef enum uc_message_style {
    UC_MESSAGE_COMMAND_LINE, /* --scale, and --scale maxabs */
    UC_MESSAGE_PYTHON,       /* `scale`, and scale='maxabs' */
    UC_MESSAGE_JSON,         /* "scale", and "scale": "maxabs" */
} uc_message_style;

/* Renders a sentence of the library (an error, a warning, a help text, a task) for the users of that front
 * end. The result is cut to `size` bytes with the final zero, between two characters; `size` is at least
 * 1. */
void uc_message_render(char *out, size_t size, const char *text, uc_message_style style);

/* Makes the text safe to display: control characters, which a terminal might obey, and bytes that are not
 * UTF-8 become \xHH. The result is cut to `size` bytes with the final zero, between two characters. All
 * sentences of the library have passed through it. */
void uc_printable(char *out, size_t size, const char *text);

const char *uc_version(void);

#ifdef __cplusplus
}
#endif

#endif
