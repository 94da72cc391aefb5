/* Pictures: a gnuplot script that includes the numbers, drawn as SVG and PNG by the program gnuplot.
 *
 * The colours are those of Okabe and Ito, which people with any kind of colour vision can distinguish. A
 * line's band is the deviation over the runs; what the paper published is a hollow mark in the line's
 * colour. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiment.h"
#include "picture.h"

#define PANEL_WIDTH 480
#define ONLY_PANEL_WIDTH 840
#define HEIGHT 520
#define PANELS_PER_LINE 4   /* a larger number is drawn three per line */
#define MOST_MARKED_ROWS 40 /* a line with more points has no marks */

static const char *const colours[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                      "#D55E00", "#56B4E9", "#000000"};
static const int marks[] = {7, 5, 9, 13, 11, 15, 3}; /* filled shapes */

#define DEVIATION "with vectors heads size graph 0.012,90" /* yerrorbars would leave white holes */
#define GROUND "#999999"                                   /* background of a range of x */
#define COLOURS (sizeof colours / sizeof *colours)

/* Writes text between double quotes; gnuplot's enhanced text is off. */
static void quoted(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else
            fputc(*text, file);
    fputc('"', file);
}

static void number(FILE *file, double value)
{
    if (isfinite(value))
        fprintf(file, " %.10g", value);
    else
        fputs(" NaN", file);
}

/* Writes one block of numbers per panel: a row's name and x, then mean, deviation and published number of
 * each column. */
static void write_numbers(FILE *file, const panel *self, size_t index)
{
    fprintf(file, "$panel%zu << END\n", index);
    for (size_t row = 0; row < self->row_count; row++) {
        quoted(file, self->rows[row]);
        number(file, panel_x(self, row));
        for (size_t column = 0; column < self->column_count; column++) {
            const cell *place = panel_cell(self, row, column);
            const double deviation = cell_deviation(place);
            number(file, cell_mean(place));
            number(file, isnan(deviation) ? 0.0 : deviation);
            number(file, place->published);
        }
        fputc('\n', file);
    }
    fputs("END\n", file);
}

/* The position of a column's mean in write_numbers. */
static size_t field_of(size_t column)
{
    return 3 + 3 * column;
}

static bool column_has(const panel *self, size_t column, bool published)
{
    for (size_t row = 0; row < self->row_count; row++) {
        const cell *place = panel_cell(self, row, column);
        if (published ? !isnan(place->published) : place->count > 0)
            return true;
    }
    return false;
}

static void plot_lines(FILE *file, const panel *self, size_t index)
{
    size_t drawn = 0;
    fputs("plot", file);
    if (self->shaded_to > 0.0) {
        fprintf(file, " keyentry with boxes fc rgb '%s' fs solid 0.15 noborder title ", GROUND);
        quoted(file, self->shaded_title);
        drawn++;
    }
    for (int layer = 0; layer < 3; layer++) { /* bands, lines over them, published numbers on top */
        size_t colour = 0;
        for (size_t column = self->first_drawn; column < self->column_count; column++) {
            const size_t field = field_of(column), shade = colour++ % COLOURS;
            if (!column_has(self, column, layer == 2))
                continue;
            const double shift = self->spread * ((double)column - 0.5 * (double)(self->column_count - 1));
            fprintf(file, "%s $panel%zu using ($2%+g):", drawn++ ? ", \\\n    " : "", index, shift);
            if (layer == 0 && self->spread > 0.0)
                fprintf(file, "($%zu-$%zu):(0):(2*$%zu) " DEVIATION " lc rgb '%s' lw 1 notitle", field,
                        field + 1, field + 1, colours[shade]);
            else if (layer == 0)
                fprintf(
                    file,
                    "($%zu-$%zu):($%zu+$%zu) with filledcurves fc rgb '%s' fs transparent solid 0.15 notitle",
                    field, field + 1, field, field + 1, colours[shade]);
            else if (layer == 1) {
                if (self->row_count > MOST_MARKED_ROWS)
                    fprintf(file, "%zu with lines lc rgb '%s' lw 1.5 title ", field, colours[shade]);
                else
                    fprintf(file, "%zu with linespoints lc rgb '%s' lw 2 pt %d ps 0.8 title ", field,
                            colours[shade], marks[shade]);
                quoted(file, self->columns[column]);
            } else {
                fprintf(file, "%zu with points lc rgb '%s' lw 2 pt %d ps 1.9 title ", field + 2,
                        colours[shade], marks[shade] - 1);
                char *title = app_text("%s: paper", self->columns[column]);
                quoted(file, title);
                free(title);
            }
        }
    }
    fputc('\n', file);
}

static bool has_long_names(const panel *self)
{
    for (size_t row = 0; row < self->row_count; row++)
        if (strlen(self->rows[row]) > 3)
            return true;
    return false;
}

/* The highest value that is drawn, which leaves room for the legend above it. */
static double highest_bar(const panel *self)
{
    double highest = 0.0;
    const size_t columns = self->kind == PLOT_GROUPS ? self->column_count : 1;
    for (size_t row = 0; row < self->row_count; row++)
        for (size_t column = 0; column < columns; column++) {
            const cell *place = panel_cell(self, row, column);
            const double mean = cell_mean(place); /* fmax ignores NaN */
            highest = fmax(highest, fmax(mean, fmax(mean + cell_deviation(place), place->published)));
        }
    return highest > 0.0 ? highest : 1.0;
}

/* One group per row, one bar per column; a single legend entry for all published numbers. */
static void plot_groups(FILE *file, const panel *self, size_t index)
{
    const double bar = 0.84 / (double)self->column_count;
    fprintf(file, "set style fill solid 0.85 noborder\nset boxwidth %g\nset xtics nomirror scale 0 (",
            0.86 * bar);
    for (size_t row = 0; row < self->row_count; row++) {
        fputs(row ? ", " : "", file);
        quoted(file, self->rows[row]);
        fprintf(file, " %zu", row);
    }
    fputs(self->row_count > 4 && has_long_names(self) ? ")\nset xtics rotate by 35 right\n" : ")\n", file);
    fprintf(file, "set rmargin 3\nset xrange [-0.6:%zu-0.4]\nset yrange [0:%g]\nplot", self->row_count,
            1.05 * highest_bar(self));
    bool published = false;
    for (int layer = 0; layer < 3; layer++) /* bars, deviations, published numbers */
        for (size_t column = 0; column < self->column_count; column++) {
            const size_t field = field_of(column);
            const double shift = bar * ((double)column - 0.5 * (double)(self->column_count - 1));
            if (layer == 2 && !column_has(self, column, true))
                continue;
            fprintf(file, "%s $panel%zu using ($0%+g):", layer || column ? ", \\\n    " : "", index, shift);
            if (layer == 0) {
                fprintf(file, "%zu with boxes fc rgb '%s' title ", field, colours[column % COLOURS]);
                quoted(file, self->columns[column]);
            } else if (layer == 1)
                fprintf(file, "($%zu-$%zu):(0):(2*$%zu) " DEVIATION " lc rgb '#333333' lw 1 notitle", field,
                        field + 1, field + 1);
            else {
                fprintf(file, "%zu with points lc rgb '#000000' lw 1.5 pt 12 ps 1.2 %s", field + 2,
                        published ? "notitle" : "title \"paper\"");
                published = true;
            }
        }
    fputc('\n', file);
}

static void plot_bars(FILE *file, const panel *self, size_t index)
{
    fputs("set style fill solid 0.85 noborder\nset boxwidth 0.62\nset xtics nomirror scale 0\n", file);
    if (has_long_names(self))
        fputs("set xtics rotate by 35 right\n", file);
    fprintf(file, "set rmargin 3\nset xrange [-0.6:%zu-0.4]\nset yrange [0:%g]\n", self->row_count,
            1.2 * highest_bar(self));
    fprintf(file, "plot $panel%zu using 0:3:xtic(1) with boxes fc rgb '%s' title \"ours\"", index,
            colours[5]);
    bool deviates = false;
    for (size_t row = 0; row < self->row_count; row++)
        deviates |= cell_deviation(panel_cell(self, row, 0)) > 0.0;
    if (deviates)
        fprintf(file,
                ", \\\n     $panel%zu using 0:($3-$4):(0):(2*$4) " DEVIATION " lc rgb '%s' lw 1.5 notitle",
                index, colours[0]);
    if (column_has(self, 0, true))
        fprintf(file,
                ", \\\n     $panel%zu using 0:5 with points lc rgb '%s' lw 2 pt 12 ps 2 title \"paper\"",
                index, colours[4]);
    fputs("\n", file);
}

static bool has_negative(const panel *self)
{
    for (size_t i = 0; i < self->row_count * self->column_count; i++)
        if (i % self->column_count >= self->first_drawn && cell_mean(&self->cells[i]) < 0.0)
            return true;
    return false;
}

/* 1, 2 or 5 times a power of ten, such that `span` has at most six of them. */
static double tic_step(double span)
{
    const double least = span / 6.0, unit = pow(10.0, floor(log10(least)));
    static const double steps[] = {1.0, 2.0, 5.0};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (least <= steps[i] * unit)
            return steps[i] * unit;
    return 10.0 * unit;
}

/* Sets a slightly larger range than the rows need. */
static void set_x_range(FILE *file, const panel *self)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t row = 0; row < self->row_count; row++) {
        low = fmin(low, panel_x(self, row));
        high = fmax(high, panel_x(self, row));
    }
    const double margin = 0.03 * (high - low) + 0.5 * self->spread * (double)self->column_count;
    if (self->log_x)
        fprintf(file, "set logscale x\nset xrange [%g:%g]\n", low / 1.15, high * 1.15);
    else
        fprintf(file, "set xrange [%g:%g]\n", low - margin, high + margin);
    if (!self->log_x && high > low)
        fprintf(file, "set xtics %g\n", tic_step(high - low));
}

/* `suffix` is appended to the panel's title. */
static void draw_panel(FILE *file, const panel *self, size_t index, const char *suffix)
{
    char *title = app_text("%s%s", self->title, suffix);
    fputs(
        "reset\nset encoding utf8\nset border 3 lc rgb '#666666'\nset tics nomirror textcolor rgb '#333333'\n"
        "set grid lc rgb '#dddddd' lt 1 lw 1\nset key noenhanced\nset datafile missing NaN\n"
        "set title font ',13' noenhanced\nset xlabel noenhanced\nset ylabel noenhanced\nset xtics "
        "noenhanced\n",
        file);
    fputs("set title ", file);
    quoted(file, title);
    free(title);
    fputs("\nset ylabel ", file);
    quoted(file, self->value_title);
    fputc('\n', file);
    if (self->kind == PLOT_GROUPS) {
        fputs("set grid noxtics\nset key bmargin center horizontal Left reverse samplen 2 width 2 height 1\n",
              file);
        plot_groups(file, self, index);
        return;
    }
    if (self->kind == PLOT_BARS) {
        fputs("set grid noxtics\n", file);
        fputs(column_has(self, 0, true) ? "set key top right horizontal Left reverse samplen 2\n"
                                        : "unset key\n",
              file);
        plot_bars(file, self, index);
        return;
    }
    fputs("set xlabel ", file);
    quoted(file, self->x_column < 0 ? self->row_title : self->columns[self->x_column]);
    fprintf(file, "\nset yrange [%s:*", has_negative(self) ? "*" : "0");
    if (self->most > 0.0)
        fprintf(file, "<%g", self->most);
    fputs("]\nset key bmargin center horizontal Left reverse samplen 2 width 2 height 1\n", file);
    set_x_range(file, self);
    if (self->shaded_to > 0.0)
        fprintf(file,
                "set object 1 rectangle from 0, graph 0 to %g, graph 1 behind fc rgb '%s' fs solid 0.15 "
                "noborder\n",
                self->shaded_to, GROUND);
    plot_lines(file, self, index);
}

static size_t panels_per_line(const report *self)
{
    return self->panel_count > PANELS_PER_LINE ? 3 : self->panel_count;
}

static size_t lines_of_panels(const report *self)
{
    return (self->panel_count + panels_per_line(self) - 1) / panels_per_line(self);
}

static void draw_all(FILE *file, const report *self, const char *title, const char *suffix)
{
    if (self->panel_count > 1) {
        char *whole = app_text("%s%s", title, suffix);
        fprintf(file, "set multiplot layout %zu,%zu title ", lines_of_panels(self), panels_per_line(self));
        quoted(file, whole);
        fputs(" font ',14' noenhanced\n", file);
        free(whole);
    }
    for (size_t i = 0; i < self->panel_count; i++)
        draw_panel(file, self->panels[i], i, self->panel_count > 1 ? "" : suffix);
    fputs(self->panel_count > 1 ? "unset multiplot\n" : "", file);
}

static void write_script(FILE *file, const report *self, const char *title, const char *suffix,
                         const char *base)
{
    const size_t width = self->panel_count > 1 ? PANEL_WIDTH * panels_per_line(self) : ONLY_PANEL_WIDTH;
    const size_t height = HEIGHT * lines_of_panels(self);
    fputs("# Draws the figure again: gnuplot THIS FILE\n", file);
    for (size_t i = 0; i < self->panel_count; i++)
        write_numbers(file, self->panels[i], i);
    fprintf(file,
            "set terminal svg size %zu,%zu font 'DejaVu Sans,Helvetica,sans-serif,12' background '#ffffff'\n",
            width, height);
    fprintf(file, "set output '%s.svg'\n", base);
    draw_all(file, self, title, suffix);
    fprintf(file,
            "set terminal pngcairo size %zu,%zu font 'DejaVu Sans,12' background '#ffffff' fontscale 1\n",
            2 * width, 2 * height);
    fprintf(file,
            "set termoption fontscale 2\nset termoption linewidth 2\nset termoption pointscale 2\nset output "
            "'%s.png'\n",
            base);
    draw_all(file, self, title, suffix);
    fputs("unset output\n", file);
}

/* Runs gnuplot on the script in `directory` and returns its exit status; 127: there is no such program. */
static int run_gnuplot(const char *directory, const char *script)
{
    char *const arguments[] = {(char[]){"gnuplot"}, app_text("%s", script), NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 127;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, directory);
    const int error = posix_spawnp(&child, "gnuplot", &actions, NULL, arguments, environ);
    if (error == 0 && waitpid(child, &status, 0) == child)
        status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    else if (error != ENOENT)
        status = 1;
    posix_spawn_file_actions_destroy(&actions);
    free(arguments[1]);
    return status;
}

/* The report with only those panels that are drawn; the caller frees `panels`. */
static report drawn_part(const report *self)
{
    report drawn = *self;
    drawn.panels = app_calloc(self->panel_count, sizeof *drawn.panels);
    drawn.panel_count = 0;
    for (size_t i = 0; i < self->panel_count; i++)
        if (self->panels[i]->kind != PLOT_NONE)
            drawn.panels[drawn.panel_count++] = self->panels[i];
    return drawn;
}

/* A script, including its numbers. */
typedef struct script {
    const report *all;
    report drawn;
    const char *title, *suffix, *base;
} script;

static void print_script(FILE *file, const void *user)
{
    const script *self = user;
    if (!self->all->picture) {
        write_script(file, &self->drawn, self->title, self->suffix, self->base);
        return;
    }
    char *whole = app_text("%s%s", self->title, self->suffix);
    picture_write(self->all->picture, file, whole, self->base);
    free(whole);
}

static uc_status write_file(const script *self, const char *directory, const char *name)
{
    const uc_status status = begin_text(directory, name, print_script, self);
    return status == UC_OK ? app_finish_files(true) : status;
}

uc_status plot_draw(const report *self, const char *title, const char *suffix, const char *directory,
                    const char *base)
{
    script content = {self, drawn_part(self), title, suffix, base};
    char *name = app_text("%s.gp", base);
    uc_status status = write_file(&content, directory, name);
    const int code = status == UC_OK ? run_gnuplot(directory, name) : 0;
    if (code == 127)
        app_say("no picture of %s: there is no gnuplot (Debian: gnuplot-nox)", base);
    else if (code != 0)
        status = app_fail(UC_ERR_IO, "%s: gnuplot could not draw %s/%s", base, directory, name);
    free(content.drawn.panels);
    free(name);
    return status;
}
