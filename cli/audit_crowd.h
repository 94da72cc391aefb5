/* One run of `audit --crowd`, and how it is reported. */
#ifndef CLI_AUDIT_CROWD_H
#define CLI_AUDIT_CROWD_H

#include "audit.h"
#include "commands.h"

/* How good the consensus without the checked rows was, measured on these rows. */
typedef struct cli_crowd_suspicion {
    cli_suspicion annotations;
    size_t right; /* rows whose consensus was the true class */
    uc_reliability bins[UC_RELIABILITY_BINS];
} cli_crowd_suspicion;

typedef struct cli_crowd_run {
    const cli_crowd *crowd_args;
    const uc_consensus_settings *consensus_args;
    const cli_audit_request *request;
    uc_dataset data;
    uc_table_text *text; /* NULL: none */
    uc_names ids;        /* of the data's rows; empty: none */
    uc_crowd crowd;
    uint32_t *gold; /* NULL: none */
    size_t checked;
    cli_crowd_suspicion *suspicion; /* NULL: nothing was checked */
    uc_posteriors start;
    uc_consensus consensus;
    uc_clean_error error; /* of the model or, without features, of the consensus */
    uc_model *model;
    uc_crowd_issues issues;
    uc_question *questions;
    size_t question_count;
    uc_output *model_file, *noise_file, *state_file, *issue_file, *consensus_file;
} cli_crowd_run;

/* row,id,given_label,predicted_label,label_score,is_label_issue,annotator (audit_crowd_report.c) */
uc_status cli_crowd_write_issues(const cli_crowd_run *self, uc_output *file);
uc_status cli_crowd_write_consensus(const cli_crowd_run *self, uc_output *file);
json_t *cli_crowd_json(const cli_crowd_run *self);
/* Prints the summary as text. */
void cli_crowd_tell(const cli_crowd_run *self, const app_call *call);

#endif
