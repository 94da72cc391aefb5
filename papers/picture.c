/* Tiles of regions and points, as a self-contained gnuplot script. */
#define _GNU_SOURCE
#include "picture.h"

#include <stdlib.h>

#include "experiment.h"

#define TILE 250   /* screen points per side */
#define HEADING 60 /* above the tiles */
#define LEGEND 34  /* below them */

picture *picture_create(size_t size, double low, double high, size_t lines, size_t columns)
{
    picture *self = app_calloc(1, sizeof *self);
    *self = (picture){.size = size, .low = low, .high = high, .lines = lines, .columns = columns};
    self->tiles = app_calloc(lines * columns, sizeof *self->tiles);
    for (size_t i = 0; i < lines * columns; i++)
        self->tiles[i].pixels = app_calloc(size * size, 1);
    return self;
}

void picture_free(picture *self)
{
    for (size_t i = 0; self && i < self->lines * self->columns; i++) {
        free(self->tiles[i].title);
        free(self->tiles[i].pixels);
        free(self->tiles[i].points);
        free(self->tiles[i].signs);
    }
    if (self)
        free(self->tiles);
    free(self);
}

static void write_numbers(const picture *self, FILE *script, size_t index)
{
    const tile *shown = &self->tiles[index];
    fprintf(script, "$region%zu << END\n", index);
    for (size_t i = 0; i < self->size * self->size; i++)
        fprintf(script, "%d%c", shown->pixels[i], (i + 1) % self->size ? ' ' : '\n');
    for (int sign = 0; sign < 2; sign++) {
        fprintf(script, "END\n$points%zu_%d << END\n", index, sign);
        for (size_t i = 0; i < shown->point_count; i++)
            if (shown->signs[i] == sign)
                fprintf(script, "%.3f %.3f\n", (double)shown->points[2 * i],
                        (double)shown->points[2 * i + 1]);
    }
    fputs("END\n", script);
}

static size_t colour_count(const picture *self)
{
    size_t count = 0;
    while (self->colours[count])
        count++;
    return count;
}

/* Writes the tile at its place, in shares of the screen, counted from below. */
static void write_tile(const picture *self, FILE *script, size_t index)
{
    const double width = TILE * (double)self->columns, height = TILE * (double)self->lines + HEADING + LEGEND;
    const size_t line = index / self->columns, column = index % self->columns;
    const double left = TILE * (double)column, bottom = LEGEND + TILE * (double)(self->lines - 1 - line);
    const double step = (self->high - self->low) / (double)self->size;
    fprintf(script, "set lmargin at screen %.5f\nset rmargin at screen %.5f\n", (left + 14) / width,
            (left + TILE - 14) / width);
    fprintf(script, "set bmargin at screen %.5f\nset tmargin at screen %.5f\n", (bottom + 4) / height,
            (bottom + TILE - 24) / height);
    fprintf(script, "set title \"%s\" offset 0,-0.7 noenhanced\n", self->tiles[index].title);
    fprintf(script, "plot $region%zu matrix using (%g+%g*($1+0.5)):(%g+%g*($2+0.5)):3 with image notitle",
            index, self->low, step, self->low, step);
    if (self->tiles[index].point_count > 0)
        fprintf(
            script,
            ", \\\n     $points%zu_0 using 1:2 with points pt 6 ps 0.28 lw 0.6 lc rgb '#555555' notitle, \\\n"
            "     $points%zu_1 using 1:2 with points pt 7 ps 0.28 lc rgb '#000000' notitle",
            index, index);
    fputc('\n', script);
}

static void write_legend(const picture *self, FILE *script)
{
    const double width = TILE * (double)self->columns, height = TILE * (double)self->lines + HEADING + LEGEND;
    const double place = 1.0 / (double)(colour_count(self) + 2), middle = LEGEND / 2.0 / height;
    fputs("unset title\nunset label\nunset object\n", script);
    for (size_t i = 0; self->colours[i]; i++) {
        const double left = (0.03 + (double)i * place);
        fprintf(script,
                "set object %zu rectangle from screen %.5f,%.5f to screen %.5f,%.5f fc rgb '%s' fs solid 1 "
                "border lc rgb '#666666'\n",
                i + 1, left, middle - 6 / height, left + 12 / width, middle + 6 / height, self->colours[i]);
        fprintf(script, "set label %zu \"%s\" at screen %.5f,%.5f noenhanced front\n", i + 1,
                self->meanings[i], left + 20 / width, middle);
    }
    static const char *const signs[] = {"-1", "+1"};
    static const int marks[] = {6, 7};
    for (size_t sign = 0; sign < 2; sign++)
        fprintf(
            script,
            "set label %zu \"labelled %s\" at screen %.5f,%.5f noenhanced front point pt %d ps 0.5 lc rgb "
            "'#000000' offset 1,0\n",
            colour_count(self) + 1 + sign, signs[sign], 0.04 + (double)(colour_count(self) + sign) * place,
            middle, marks[sign]);
}

static void write_all(const picture *self, FILE *script, const char *title)
{
    const size_t colours = colour_count(self);
    fputs("reset\nset encoding utf8\nset multiplot title \"", script);
    fprintf(script, "%s\" font ',14' noenhanced\n", title);
    fprintf(script, "set palette maxcolors %zu\nset palette defined (", colours);
    for (size_t i = 0; i < colours; i++)
        fprintf(script, "%s%zu '%s'", i ? ", " : "", i, self->colours[i]);
    fprintf(script, ")\nset cbrange [-0.5:%g]\nunset colorbox\nunset tics\nset border 15 lc rgb '#666666'\n",
            (double)colours - 0.5);
    fprintf(script, "set xrange [%g:%g]\nset yrange [%g:%g]\n", self->low, self->high, self->low, self->high);
    for (size_t i = 0; i < self->lines * self->columns; i++) {
        if (i + 1 == self->lines * self->columns)
            write_legend(self, script);
        write_tile(self, script, i);
    }
    fputs("unset multiplot\n", script);
}

void picture_write(const picture *self, FILE *script, const char *title, const char *base)
{
    const size_t width = TILE * self->columns, height = TILE * self->lines + HEADING + LEGEND;
    fputs("# Draws the figure again: gnuplot THIS FILE\n", script);
    for (size_t i = 0; i < self->lines * self->columns; i++)
        write_numbers(self, script, i);
    fprintf(script,
            "set terminal svg size %zu,%zu font 'DejaVu Sans,Helvetica,sans-serif,12' background '#ffffff'\n"
            "set output '%s.svg'\n",
            width, height, base);
    write_all(self, script, title);
    fprintf(script,
            "set terminal pngcairo size %zu,%zu font 'DejaVu Sans,12' background '#ffffff' fontscale 2 "
            "linewidth 2 pointscale 2\nset output '%s.png'\n",
            2 * width, 2 * height, base);
    write_all(self, script, title);
    fputs("unset output\n", script);
}
