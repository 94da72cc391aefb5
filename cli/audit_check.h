/* audit --check: rows to check next (audit_check.c). */
#ifndef CLI_AUDIT_CHECK_H
#define CLI_AUDIT_CHECK_H

#include "audit.h"

typedef struct cli_check_args {
    uint64_t rows; /* 0: not wanted */
    const char *drawn, *worst;
    int format;
} cli_check_args;
extern const uc_option cli_check_options[];

typedef struct cli_check_files {
    uc_output *drawn, *worst;
} cli_check_files;

typedef struct cli_check_plan {
    const cli_audit *audit;
    uc_check drawn;
    size_t *of_row; /* the position of each row among the suspects */
    size_t *worst;  /* positions of the worst suspects */
    size_t worst_count, labelled;
} cli_check_plan; /* zero-initialised may be freed */

/* Opens the requested files. */
uc_status cli_check_plan_begin(cli_check_files *out, const cli_check_args *args);
uc_status cli_check_plan_make(cli_check_plan *out, const cli_audit *audit, const cli_check_args *args,
                              uint64_t seed);
void cli_check_plan_free(cli_check_plan *self);
uc_status cli_check_plan_write(const cli_check_plan *self, const cli_check_files *files,
                               const cli_check_args *args);
json_t *cli_check_plan_json(const cli_check_plan *self);
void cli_check_plan_print(FILE *text, const cli_check_plan *self, const cli_check_args *args,
                          const char *data);

#endif
