/* Examples from logged events, for unconfuse train --log. */
#ifndef CLI_TRAIN_LOG_H
#define CLI_TRAIN_LOG_H

#include "cli.h"

typedef struct cli_log {
    const char *path;  /* a directory of unconfuse serve, a DSJSON or a CSV file; NULL: none is given */
    const char *model; /* of a directory */
} cli_log;
extern const uc_option cli_log_options[];

/* The examples as data, and what the log has as JSON. Warns where the log says little. */
uc_status cli_log_read(uc_dataset *out, json_t **described, const cli_log *log, const app_call *call,
                       const uc_read_settings *settings);

#endif
