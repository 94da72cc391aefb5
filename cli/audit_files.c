/* Files that unconfuse audit writes: suspects as CSV. */
#include <stdlib.h>
#include <string.h>

#include "audit.h"

void cli_print_field(FILE *file, const char *text)
{
    const size_t length = strlen(text);
    if (length > 0 && !strpbrk(text, ",;\t\"#\r\n") && text[0] != ' ' && text[length - 1] != ' ') {
        fputs(text, file);
        return;
    }
    if (length > 0)
        fputc('"', file);
    for (const char *p = text; *p; p++) {
        if (*p == '"')
            fputc('"', file);
        fputc(*p, file);
    }
    if (length > 0)
        fputc('"', file);
}

/* label_score is the probability that the label is right. */
static void print_suspects(FILE *file, const cli_audit *self, bool all)
{
    const uc_label_audit *found = self->found;
    const uc_names *classes = &self->data->classes;
    const size_t count = all ? found->labels : found->flagged;
    fputs("row,id,given_label,predicted_label,label_score,is_label_issue\n", file);
    for (size_t i = 0; i < count; i++) {
        const uc_suspect *one = &found->suspects[i];
        char score[32];
        app_print_real(score, 1.0 - one->p_wrong);
        fprintf(file, "%zu,,", one->row + 1);
        cli_print_field(file, classes->text[one->given]);
        fputc(',', file);
        cli_print_field(file, classes->text[one->suggested]);
        fprintf(file, ",%s,%s\n", score, i < found->flagged ? "True" : "False");
    }
}

uc_status cli_audit_write(uc_output *output, const cli_audit *self, bool all)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (!file)
        return app_fail(UC_ERR_NOMEM, "not enough memory for the list of suspects");
    print_suspects(file, self, all);
    const bool failed = ferror(file) != 0;
    uc_status status = UC_OK;
    if (fclose(file) != 0 || failed)
        status = app_fail(UC_ERR_NOMEM, "not enough memory for the list of suspects");
    if (status == UC_OK)
        status = uc_output_write(output, text, length);
    free(text);
    return status;
}
