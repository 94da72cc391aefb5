/* Examples from logged events, for unconfuse train --log. */
#ifndef CLI_TRAIN_LOG_H
#define CLI_TRAIN_LOG_H

#include "cli.h"

typedef struct cli_log {
    const char *path;  /* a directory of unconfuse serve, a DSJSON file or a CSV file; NULL: none */
    const char *model; /* the model's name in the directory */
} cli_log;
extern const uc_option cli_log_options[];

/* Reads the examples as data, and describes the log as JSON. Warns if the log has little information. */
uc_status cli_log_read(uc_dataset *out, json_t **described, const cli_log *log, const app_call *call,
                       const uc_read_settings *settings);

#endif
