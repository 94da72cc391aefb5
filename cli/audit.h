/* Parts of unconfuse audit. */
#ifndef CLI_AUDIT_H
#define CLI_AUDIT_H

#include "cli.h"

/* What an audit of one label per row is about, and what came out. */
typedef struct cli_audit {
    const uc_dataset *data;
    uc_table_text *text; /* of a CSV file; NULL: there is none */
    const uc_label_audit *found;
    const uint32_t *gold;         /* of each row, UC_NONE: not checked; NULL: none was */
    const uc_label_audit *before; /* the same without gold; NULL: there is none */
} cli_audit;

/* How well labels were suspected, by rows that were checked. */
typedef struct cli_suspicion {
    size_t checked, wrong, flagged, hits; /* rows; their wrong labels; those flagged; those both */
} cli_suspicion;
cli_suspicion cli_judge_suspicion(const cli_audit *self);
json_t *cli_suspicion_json(const cli_suspicion *seen);

/* Bins with labels in them (audit_report.c). */
json_t *cli_audit_calibration_json(const uc_reliability bins[UC_RELIABILITY_BINS]);

/* The error on true classes, as JSON and for people; `whose` begins the sentence (audit_report.c). */
json_t *cli_audit_error_json(const uc_clean_error *error);
/* Classes overlap: some of the labels that are called wrong are right. */
bool cli_audit_is_unsure(const cli_audit *self);
void cli_audit_print_error(FILE *text, const uc_clean_error *error, const char *whose);

/* audit_report.c */
json_t *cli_audit_json(const cli_audit *self, bool all);
void cli_audit_print(FILE *text, const cli_audit *self);

/* The CSV of suspects, all labels or the flagged ones (audit_files.c). */
uc_status cli_audit_write(uc_output *output, const cli_audit *self, bool all);
/* The row's name in its file, which the caller frees; NULL: it has none. */
char *cli_audit_id(const cli_audit *self, size_t row);
/* The table's own columns, each after a comma: their names, and those of a row. Nothing where they have no
 * names, or `text` is NULL. */
void cli_print_table_names(FILE *file, uc_table_text *text);
void cli_print_table_columns(FILE *file, uc_table_text *text, size_t row);
/* A copy of the ids of all rows, for cli_table_ids_free; NULL: the rows have none. */
char **cli_table_ids(uc_table_text *text, size_t rows);
void cli_table_ids_free(char **ids, size_t rows);
/* A field of a CSV file, in quotes where it would be read differently without. */
void cli_print_field(FILE *file, const char *text);

#endif
