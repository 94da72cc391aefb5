/* Cells with one number per run: as a table with the published number next to the mean, as JSON, as CSV. */
#define _GNU_SOURCE
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "app/csv.h"
#include "experiment.h"
#include "picture.h"

/* ---- filling it in ---- */

static char *copy_text(const char *text)
{
    return app_text("%s", text);
}

panel *report_panel(report *self, const char *name, const char *title, plot_kind kind, const char *row_title,
                    const char *value_title)
{
    panel *added = app_calloc(1, sizeof *added);
    added->name = copy_text(name);
    added->title = copy_text(title);
    added->row_title = copy_text(row_title);
    added->value_title = copy_text(value_title);
    added->kind = kind;
    added->x_column = -1;
    self->panels = app_realloc(self->panels, self->panel_count + 1, sizeof *self->panels);
    self->panels[self->panel_count++] = added;
    return added;
}

static void add_sentence(char ***list, size_t *count, const char *format, va_list arguments)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, arguments);
    for (size_t i = 0; i < *count; i++)
        if (strcmp((*list)[i], text) == 0)
            return;
    *list = app_realloc(*list, *count + 1, sizeof **list);
    (*list)[(*count)++] = copy_text(text);
}

void report_note(report *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_sentence(&self->notes, &self->note_count, format, arguments);
    va_end(arguments);
}

void report_skip(report *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_sentence(&self->skipped, &self->skipped_count, format, arguments);
    va_end(arguments);
}

void report_fail(report *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_sentence(&self->failed, &self->failed_count, format, arguments);
    va_end(arguments);
}

size_t panel_column(panel *self, const char *name)
{
    self->columns = app_realloc(self->columns, self->column_count + 1, sizeof *self->columns);
    self->columns[self->column_count] = copy_text(name);
    return self->column_count++;
}

size_t panel_row(panel *self, double x, const char *format, ...)
{
    char label[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(label, sizeof label, format, arguments);
    va_end(arguments);
    const size_t row = self->row_count++, width = self->column_count;
    self->rows = app_realloc(self->rows, self->row_count, sizeof *self->rows);
    self->x = app_realloc(self->x, self->row_count, sizeof *self->x);
    self->cells = app_realloc(self->cells, self->row_count * width, sizeof *self->cells);
    self->rows[row] = copy_text(label);
    self->x[row] = x;
    for (size_t column = 0; column < width; column++)
        self->cells[row * width + column] = (cell){.published = NAN, .published_deviation = NAN};
    return row;
}

static cell *cell_at(panel *self, size_t row, size_t column)
{
    return &self->cells[row * self->column_count + column];
}

void panel_add(panel *self, size_t row, size_t column, double value)
{
    cell *place = cell_at(self, row, column);
    place->values = app_realloc(place->values, place->count + 1, sizeof *place->values);
    place->values[place->count++] = value;
}

void panel_publish(panel *self, size_t row, size_t column, double value)
{
    cell_at(self, row, column)->published = value;
}

void panel_publish_deviation(panel *self, size_t row, size_t column, double value)
{
    cell_at(self, row, column)->published_deviation = value;
}

void panel_mark(panel *self, size_t row, size_t column)
{
    cell_at(self, row, column)->marked = true;
}

static void free_list(char **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

void panel_drop_last_row(panel *self)
{
    self->row_count--;
    for (size_t column = 0; column < self->column_count; column++)
        free(cell_at(self, self->row_count, column)->values);
    free(self->rows[self->row_count]);
}

void panel_clear_column(panel *self, size_t column)
{
    for (size_t row = 0; row < self->row_count; row++) {
        cell *place = cell_at(self, row, column);
        free(place->values);
        place->values = NULL;
        place->count = 0;
    }
}

static void free_panel(panel *self)
{
    for (size_t i = 0; i < self->row_count * self->column_count; i++)
        free(self->cells[i].values);
    free(self->cells);
    free_list(self->columns, self->column_count);
    free_list(self->rows, self->row_count);
    free(self->x);
    free(self->name);
    free(self->title);
    free(self->row_title);
    free(self->value_title);
    free(self);
}

void report_drop(report *self, const panel *dropped)
{
    size_t kept = 0;
    for (size_t i = 0; i < self->panel_count; i++)
        if (self->panels[i] == dropped)
            free_panel(self->panels[i]);
        else
            self->panels[kept++] = self->panels[i];
    self->panel_count = kept;
}

void report_drop_empty(report *self)
{
    for (size_t i = self->panel_count; i-- > 0;) {
        const panel *shown = self->panels[i];
        size_t values = 0;
        for (size_t j = 0; j < shown->row_count * shown->column_count; j++)
            values += shown->cells[j].count;
        if (values == 0)
            report_drop(self, shown);
    }
}

void report_free(report *self)
{
    for (size_t i = 0; i < self->panel_count; i++)
        free_panel(self->panels[i]);
    free(self->panels);
    picture_free(self->picture);
    free_list(self->notes, self->note_count);
    free_list(self->skipped, self->skipped_count);
    free_list(self->failed, self->failed_count);
    *self = (report){0};
}

/* ---- reading it ---- */

const cell *panel_cell(const panel *self, size_t row, size_t column)
{
    return &self->cells[row * self->column_count + column];
}

double panel_x(const panel *self, size_t row)
{
    return self->x_column < 0 ? self->x[row] : cell_mean(panel_cell(self, row, (size_t)self->x_column));
}

double cell_mean(const cell *self)
{
    double sum = 0.0;
    for (size_t i = 0; i < self->count; i++)
        sum += self->values[i];
    return self->count ? sum / (double)self->count : NAN;
}

double cell_deviation(const cell *self)
{
    if (self->count < 2)
        return NAN;
    const double mean = cell_mean(self);
    double sum = 0.0;
    for (size_t i = 0; i < self->count; i++)
        sum += (self->values[i] - mean) * (self->values[i] - mean);
    return sqrt(sum / (double)(self->count - 1));
}

/* ---- the table ---- */

/* If no decimals are given: counts are whole numbers; everything else is a rate or a norm. */
static void number_text(char *text, size_t size, double value, int decimals)
{
    const int standard = value > 1.0 && value == floor(value) ? 0 : 3;
    snprintf(text, size, "%.*f", decimals ? decimals : standard, value);
}

static void cell_text(char *text, size_t size, const cell *self, int decimals)
{
    const double mean = cell_mean(self), deviation = cell_deviation(self);
    char number[40];
    if (isnan(mean)) {
        snprintf(text, size, "-");
        return;
    }
    number_text(text, size, mean, decimals);
    if (isnan(deviation))
        return;
    number_text(number, sizeof number, deviation, decimals);
    const size_t length = strlen(text);
    snprintf(text + length, size - length, " ±%s%s", number, self->marked ? "*" : "");
}

static void published_text(char *text, size_t size, const cell *self, int decimals)
{
    const bool whole = self->published > 1.0 && self->published == floor(self->published);
    int shown = decimals;
    if (!decimals && !whole)
        shown = 2;
    if (isnan(self->published))
        snprintf(text, size, "%s", "");
    else if (isnan(self->published_deviation))
        snprintf(text, size, "%.*f", shown, self->published);
    else
        snprintf(text, size, "%.*f ±%.*f", shown, self->published, shown, self->published_deviation);
}

static bool is_printed(const panel *self, size_t row)
{
    return self->printed_every < 2 || (row + 1) % self->printed_every == 0 || row + 1 == self->row_count;
}

static bool has_published(const panel *self, size_t column)
{
    for (size_t row = 0; row < self->row_count; row++)
        if (!isnan(panel_cell(self, row, column)->published))
            return true;
    return false;
}

static size_t columns_of(const panel *self)
{
    size_t columns = 1 + self->column_count;
    for (size_t column = 0; column < self->column_count; column++)
        columns += has_published(self, column);
    return columns;
}

static void print_panel(const panel *self, FILE *file)
{
    app_grid table = {.align = "lr", .indent = "  ", .columns = columns_of(self)};
    app_cell(&table, "%s", self->row_title);
    for (size_t column = 0; column < self->column_count; column++) {
        app_cell(&table, "%s", self->columns[column]);
        if (has_published(self, column))
            app_cell(&table, "paper");
    }
    for (size_t row = 0; row < self->row_count; row++) {
        if (!is_printed(self, row))
            continue;
        app_cell(&table, "%s", self->rows[row]);
        for (size_t column = 0; column < self->column_count; column++) {
            char text[96] = "";
            const cell *place = panel_cell(self, row, column);
            cell_text(text, sizeof text, place, self->decimals);
            app_cell(&table, "%s", text);
            if (!has_published(self, column))
                continue;
            published_text(text, sizeof text, place, self->decimals);
            app_cell(&table, "%s", text);
        }
    }
    app_grid_print(&table, file);
}

void report_print(const report *self, FILE *file)
{
    for (size_t i = 0; i < self->panel_count; i++) {
        const panel *shown = self->panels[i];
        fprintf(file, "%s%s: %s\n", i ? "\n" : "", shown->title, shown->value_title);
        print_panel(shown, file);
    }
    for (size_t i = 0; i < self->note_count && self->panel_count > 0; i++)
        fprintf(file, "%s%s\n", i ? "" : "\n", self->notes[i]);
}

/* ---- JSON and CSV ---- */

static json_t *cell_json(const cell *self)
{
    return json_pack("{so so so so sb so}", "mean", app_json_real(cell_mean(self)), "deviation",
                     app_json_real(cell_deviation(self)), "paper", app_json_real(self->published),
                     "paper_deviation", app_json_real(self->published_deviation), "best", self->marked,
                     "values", app_json_reals(self->values, self->count));
}

static json_t *panel_json(const panel *self)
{
    json_t *rows = json_array();
    for (size_t row = 0; row < self->row_count; row++) {
        json_t *cells = json_object();
        for (size_t column = 0; column < self->column_count; column++)
            json_object_set_new(cells, self->columns[column], cell_json(panel_cell(self, row, column)));
        json_array_append_new(rows, json_pack("{ss so so}", "row", self->rows[row], "x",
                                              app_json_real(panel_x(self, row)), "cells", cells));
    }
    return json_pack("{ss ss ss ss so}", "name", self->name, "title", self->title, "x", self->row_title, "y",
                     self->value_title, "rows", rows);
}

json_t *report_json(const report *self)
{
    json_t *panels = json_array();
    for (size_t i = 0; i < self->panel_count; i++)
        json_array_append_new(panels, panel_json(self->panels[i]));
    return json_pack("{so so so so}", "panels", panels, "notes",
                     app_json_texts(self->notes, self->note_count), "skipped",
                     app_json_texts(self->skipped, self->skipped_count), "failed",
                     app_json_texts(self->failed, self->failed_count));
}

void report_csv(const report *self, FILE *file)
{
    fputs("table,row,x,column,mean,deviation,runs,paper,paper_deviation,best\n", file);
    for (size_t i = 0; i < self->panel_count; i++) {
        const panel *shown = self->panels[i];
        for (size_t row = 0; row < shown->row_count; row++)
            for (size_t column = 0; column < shown->column_count; column++) {
                const cell *place = panel_cell(shown, row, column);
                app_csv_text(file, shown->name, ',');
                app_csv_text(file, shown->rows[row], ',');
                app_csv_real(file, panel_x(shown, row), ',');
                app_csv_text(file, shown->columns[column], ',');
                app_csv_real(file, cell_mean(place), ',');
                app_csv_real(file, cell_deviation(place), ',');
                fprintf(file, "%zu,", place->count);
                app_csv_real(file, place->published, ',');
                app_csv_real(file, place->published_deviation, ',');
                fprintf(file, "%d\n", place->marked);
            }
    }
}
