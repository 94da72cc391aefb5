/* The CSV files that unconfuse audit writes. */
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

char *cli_table_id(uc_table_text *text, size_t row)
{
    size_t length = 0;
    const char *id = text ? uc_table_text_id(&length, text, row) : NULL;
    if (!id)
        return NULL;
    char *copy = app_calloc(length + 1, 1);
    memcpy(copy, id, length);
    return copy;
}

char *cli_audit_id(const cli_audit *self, size_t row)
{
    return cli_table_id(self->text, row);
}

char **cli_table_ids(uc_table_text *text, size_t rows)
{
    size_t length;
    if (rows == 0 || !text || !uc_table_text_id(&length, text, 0))
        return NULL;
    char **ids = app_calloc(rows, sizeof *ids);
    for (size_t i = 0; i < rows; i++)
        ids[i] = cli_table_id(text, i);
    return ids;
}

void cli_table_ids_free(char **ids, size_t rows)
{
    for (size_t i = 0; ids && i < rows; i++)
        free(ids[i]);
    free(ids);
}

static json_t *text_json(const char *text, size_t length)
{
    char *copy = app_calloc(length + 1, 1);
    memcpy(copy, text, length);
    json_t *value = app_json_text(copy);
    free(copy);
    return value;
}

json_t *cli_columns_json(uc_table_text *text, size_t row)
{
    size_t length;
    if (!text || !uc_table_text_header(&length, text))
        return NULL;
    json_t *columns = json_object();
    for (size_t c = 0; c < uc_table_text_columns(text); c++) {
        const char *name = uc_table_text_name(&length, text, c);
        json_t *key = text_json(name ? name : "", name ? length : 0);
        const char *field = uc_table_text_field(&length, text, row, c);
        json_object_set_new(columns, json_string_value(key),
                            text_json(field ? field : "", field ? length : 0));
        json_decref(key);
    }
    return columns;
}

static bool has_names(uc_table_text *text)
{
    size_t length;
    return text && uc_table_text_header(&length, text);
}

/* A line of the table, up to its end. */
static void print_line(FILE *file, const char *line, size_t length)
{
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
        length--;
    fputc(',', file);
    fwrite(line, 1, length, file);
}

static void print_text(FILE *file, const char *text, size_t length)
{
    char *copy = app_calloc(length + 1, 1);
    if (text)
        memcpy(copy, text, length);
    fputc(',', file);
    cli_print_field(file, copy);
    free(copy);
}

/* Prints the names unchanged if the table has the same delimiter as our file. */
void cli_print_table_names(FILE *file, uc_table_text *text)
{
    size_t length = 0;
    if (!has_names(text))
        return;
    if (uc_table_text_separator(text) == ',') {
        const char *header = uc_table_text_header(&length, text);
        print_line(file, header, length);
        return;
    }
    for (size_t c = 0; c < uc_table_text_columns(text); c++) {
        const char *name = uc_table_text_name(&length, text, c);
        print_text(file, name, length);
    }
}

void cli_print_table_columns(FILE *file, uc_table_text *text, size_t row)
{
    size_t length = 0;
    if (!has_names(text))
        return;
    if (uc_table_text_separator(text) == ',') {
        const char *line = uc_table_text_row(&length, text, row);
        print_line(file, line, length);
        return;
    }
    for (size_t c = 0; c < uc_table_text_columns(text); c++) {
        const char *field = uc_table_text_field(&length, text, row, c);
        print_text(file, field, length);
    }
}

/* label_score is the probability that the label is right. */
static void print_suspects(FILE *file, const cli_audit *self, bool all)
{
    const uc_label_audit *found = self->found;
    const uc_names *classes = &self->data->classes;
    const size_t count = all ? found->labels : found->flagged;
    fputs("row,id,given_label,predicted_label,label_score,is_label_issue", file);
    cli_print_table_names(file, self->text);
    fputc('\n', file);
    for (size_t i = 0; i < count; i++) {
        const uc_suspect *one = &found->suspects[i];
        char score[32];
        app_print_real(score, 1.0 - one->p_wrong);
        char *id = cli_audit_id(self, one->row);
        fprintf(file, "%zu,", one->row + 1);
        cli_print_field(file, id ? id : "");
        free(id);
        fputc(',', file);
        cli_print_field(file, classes->text[one->given]);
        fputc(',', file);
        cli_print_field(file, classes->text[one->suggested]);
        fprintf(file, ",%s,%s", score, i < found->flagged ? "True" : "False");
        cli_print_table_columns(file, self->text, one->row);
        fputc('\n', file);
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
