/* Parts of unconfuse audit. */
#ifndef CLI_AUDIT_H
#define CLI_AUDIT_H

#include "cli.h"

/* The input and the result of an audit with one label per row. */
typedef struct cli_audit {
    const uc_dataset *data;
    uc_table_text *text; /* of a CSV file; NULL: none */
    const uc_label_audit *found;
    const uint32_t *gold;         /* of each row, UC_NONE: not checked; NULL: no row was checked */
    const uc_label_audit *before; /* the result without gold; NULL: none */
} cli_audit;

/* How well wrong labels were found, measured on checked rows. */
typedef struct cli_suspicion {
    size_t checked, wrong, flagged, hits; /* checked rows: all, wrong, flagged, wrong and flagged */
} cli_suspicion;
cli_suspicion cli_judge_suspicion(const cli_audit *self);
json_t *cli_suspicion_json(const cli_suspicion *seen);
void cli_print_suspicion(FILE *text, const cli_suspicion *seen);

/* Bins with labels in them (audit_report.c). */
json_t *cli_audit_calibration_json(const uc_reliability bins[UC_RELIABILITY_BINS]);

/* The error on true classes, as JSON and as text; `whose` begins the sentence (audit_report.c). */
json_t *cli_audit_error_json(const uc_clean_error *error);
/* Whether classes overlap so much that some of the flagged labels are right. */
bool cli_audit_is_unsure(const cli_audit *self);
void cli_audit_print_error(FILE *text, const uc_clean_error *error, const char *whose);

/* audit_report.c */
json_t *cli_audit_json(const cli_audit *self, bool all);
void cli_audit_print(FILE *text, const cli_audit *self);

/* The CSV of suspects: all labels, or only the flagged ones (audit_files.c). */
uc_status cli_audit_write(uc_output *output, const cli_audit *self, bool all);
/* The row's id, which the caller frees; NULL: it has none. */
char *cli_audit_id(const cli_audit *self, size_t row);
/* The table's own columns, each after a comma: their names, and their values in a row. Print nothing if the
 * columns have no names or `text` is NULL. */
void cli_print_table_names(FILE *file, uc_table_text *text);
void cli_print_table_columns(FILE *file, uc_table_text *text, size_t row);
/* A copy of the ids of all rows, for cli_table_ids_free; NULL: the rows have none. */
char **cli_table_ids(uc_table_text *text, size_t rows);
void cli_table_ids_free(char **ids, size_t rows);
/* A field of a CSV file, in quotes if it needs them. */
void cli_print_field(FILE *file, const char *text);

#endif
