/* evaluate --gold: the error on true classes by checked rows. */
#include "commands.h"

static void warn(const uc_checked *checked, const char *path)
{
    if (checked->why)
        app_warn(
            "%s: not as unconfuse check drew it (%s): the interval is that of one random sample, and holds "
            "only if its rows were drawn at random",
            path, checked->why);
    else if (checked->other_model)
        app_warn("%s: its rows were drawn for other predictions; the interval holds, but rows drawn for this "
                 "model would make it narrower",
                 path);
    if (checked->missing > 0)
        app_warn("%s: %zu of the %zu rows that were drawn are not in it: was it cut off? The interval holds "
                 "only if they are missing by chance; leave true_label empty where it is not clear",
                 path, checked->missing, checked->drawn[UC_AGREE] + checked->drawn[UC_DISAGREE]);
}

void cli_warn_of_training_rows(const uc_model *model, size_t rows, const char *shown)
{
    uc_model_summary summary;
    if (uc_model_summarize(&summary, model) != UC_OK)
        return;
    if (uc_values_number(&summary.found, "examples") == (double)rows)
        app_warn("the model was trained on as many rows as %s has, %zu: if these are the same, checked rows "
                 "tell its error on them, which is too low for new rows",
                 shown, rows);
    uc_model_summary_free(&summary);
}

static json_t *describe(const uc_checked *checked, const uc_checked_stratum *strata)
{
    json_t *list = json_array();
    const int count = checked->stratified ? UC_STRATA : 1;
    for (int h = 0; h < count; h++) {
        const char *name = count == 1 ? "all" : uc_stratum_name((uc_stratum)h);
        json_array_append_new(
            list, json_pack("{ss sI sI sI}", "stratum", name, "rows", (json_int_t)strata[h].rows, "checked",
                            (json_int_t)strata[h].checked, "errors", (json_int_t)strata[h].errors));
    }
    return json_pack("{sI sI sI so}", "checked", (json_int_t)checked->count, "empty",
                     (json_int_t)checked->empty, "missing", (json_int_t)checked->missing, "strata", list);
}

static void say_how(cli_clean_error *out, const uc_checked *checked, const uc_checked_stratum *strata)
{
    if (checked->stratified)
        snprintf(out->condition, sizeof out->condition,
                 "; wrong: %zu of %zu that agree, %zu of %zu that disagree", strata[UC_AGREE].errors,
                 strata[UC_AGREE].checked, strata[UC_DISAGREE].errors, strata[UC_DISAGREE].checked);
    else
        snprintf(out->condition, sizeof out->condition, "; %zu of %zu checked rows are wrong",
                 strata[0].errors, strata[0].checked);
}

uc_status cli_gold_read(cli_clean_error *out, json_t **described, const char *path,
                        const uc_predicted_rows *rows, const cli_clean *known, const app_call *call)
{
    uc_checked checked = {0};
    uc_checked_stratum strata[UC_STRATA];
    uc_status status = uc_checked_read(&checked, path, rows, &call->context);
    if (status == UC_OK) {
        status = uc_checked_error(&out->error, strata, &checked, rows);
        if (status != UC_OK)
            status = app_fail_in(status, path);
    }
    if (status == UC_OK) {
        warn(&checked, path);
        say_how(out, &checked, strata);
        out->method = checked.stratified ? "checked rows, two strata" : "checked rows";
        cli_clean_error_bound(out, out->error.noisy, known);
        *described = describe(&checked, strata);
    }
    uc_checked_free(&checked);
    return status;
}
