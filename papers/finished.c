/* The finished runs of an interrupted experiment: OUT/NAME.finished.json, until all of them are done. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment.h"

/* What must be equal for runs to be continued. */
static json_t *conditions(const execution *self)
{
    return json_pack("{ss sI sb ss?}", "version", uc_version(), "seed", (json_int_t)self->seed, "quick",
                     self->quick, "only", self->only);
}

static char *file_name(const execution *self)
{
    return app_text("%s.finished.json", self->experiment->name);
}

static char *path_of(const execution *self)
{
    return app_text("%s/%s.finished.json", self->out, self->experiment->name);
}

uc_status finished_read(execution *self)
{
    json_error_t error;
    char *path = path_of(self);
    errno = 0;
    json_t *wanted = conditions(self), *kept = json_load_file(path, 0, &error);
    uc_status status = UC_OK;
    if (!kept && errno != ENOENT)
        status = app_fail(UC_ERR_FORMAT, "%s: line %d: %s", path, error.line, error.text);
    else if (kept && !json_equal(json_object_get(kept, "conditions"), wanted))
        status = app_fail(UC_ERR_INVALID,
                          "%s: these runs had another --seed, --only or --quick, or are of another version: "
                          "give the same, or leave out --resume",
                          path);
    if (status == UC_OK) {
        self->finished = json_incref(json_object_get(kept, "panels"));
        self->began -= json_number_value(json_object_get(kept, "seconds"));
    }
    json_decref(kept);
    json_decref(wanted);
    free(path);
    return status;
}

static json_t *rows_json(const panel *shown)
{
    json_t *rows = json_array();
    for (size_t row = 0; row < shown->row_count; row++) {
        json_t *cells = json_array();
        for (size_t column = 0; column < shown->column_count; column++) {
            const cell *place = panel_cell(shown, row, column);
            json_array_append_new(cells, app_json_reals(place->values, place->count));
        }
        json_array_append_new(
            rows, json_pack("{ss sf so}", "row", shown->rows[row], "x", shown->x[row], "cells", cells));
    }
    return rows;
}

/* Takes over the values of one row, which is added if the panel does not have it yet; false: the JSON does
 * not match the panel. */
static bool take_row(panel *to, size_t row, const json_t *kept)
{
    const char *name = json_string_value(json_object_get(kept, "row"));
    const json_t *cells = json_object_get(kept, "cells");
    if (!name || json_array_size(cells) != to->column_count)
        return false;
    if (row == to->row_count)
        panel_row(to, json_number_value(json_object_get(kept, "x")), "%s", name);
    if (strcmp(to->rows[row], name) != 0)
        return false;
    for (size_t column = 0; column < to->column_count; column++) {
        const json_t *values = json_array_get(cells, column);
        for (size_t i = 0; i < json_array_size(values); i++)
            panel_add(to, row, column, json_number_value(json_array_get(values, i)));
    }
    return true;
}

uc_status finished_runs(size_t *runs, const execution *self, panel *to)
{
    const json_t *kept = json_object_get(self->finished, to->name), *rows = json_object_get(kept, "rows");
    *runs = (size_t)json_integer_value(json_object_get(kept, "runs"));
    bool fits = *runs <= self->runs;
    for (size_t row = 0; row < json_array_size(rows) && fits; row++)
        fits = row <= to->row_count && take_row(to, row, json_array_get(rows, row));
    if (!fits)
        return app_fail(UC_ERR_FORMAT, "%s/%s.finished.json: '%s' is not what this experiment has written",
                        self->out, self->experiment->name, to->name);
    return UC_OK;
}

static void print_json(FILE *file, const void *json)
{
    (void)json_dumpf(json, file, JSON_INDENT(1));
    fputc('\n', file);
}

uc_status finished_keep(execution *self, const panel *from, size_t runs)
{
    if (!self->out)
        return UC_OK;
    if (!self->finished)
        self->finished = json_object();
    json_object_set_new(self->finished, from->name,
                        json_pack("{sI so}", "runs", (json_int_t)runs, "rows", rows_json(from)));
    json_t *all = json_pack("{so sf sO}", "conditions", conditions(self), "seconds",
                            app_seconds() - self->began, "panels", self->finished);
    char *name = file_name(self);
    uc_status status = begin_text(self->out, name, print_json, all);
    if (status == UC_OK)
        status = app_finish_files(true);
    app_abort_files();
    free(name);
    json_decref(all);
    return status;
}

void finished_remove(execution *self)
{
    char *path = self->out ? path_of(self) : NULL;
    if (path)
        (void)unlink(path); /* it may not exist */
    free(path);
    json_decref(self->finished);
    self->finished = NULL;
}
