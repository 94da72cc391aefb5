/* An estimated noise matrix as text: its numbers, shaded on a terminal, and how certain they are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "picture.h"

#define MATRIX_CLASSES 20  /* a larger matrix is summarised */
#define INTERVAL_CLASSES 6 /* with more classes, intervals do not fit */
#define LARGEST 10         /* entries of a larger matrix that are shown */

static int width_of(const char *text)
{
    return (int)app_text_width(text);
}

/* Blue on the diagonal, where labels are right, and red elsewhere; even small shares are visible. */
static void print_shaded(FILE *file, const uc_noise *noise)
{
    static const int right[] = {255, 195, 153, 117, 75, 33}, wrong[] = {255, 224, 217, 210, 203, 160};
    const size_t K = noise->classes;
    int first = width_of("observed \\ true"), width = 5;
    for (size_t k = 0; k < K; k++) {
        first = first > width_of(noise->names.text[k]) ? first : width_of(noise->names.text[k]);
        width = width > width_of(noise->names.text[k]) ? width : width_of(noise->names.text[k]);
    }
    fprintf(file, "%-*s", first + 1, "observed \\ true");
    for (size_t q = 0; q < K; q++)
        fprintf(file, "%*s%s ", width - width_of(noise->names.text[q]) + 1, "", noise->names.text[q]);
    fputc('\n', file);
    for (size_t p = 0; p < K; p++) {
        fprintf(file, "%s%*s", noise->names.text[p], first - width_of(noise->names.text[p]) + 1, "");
        for (size_t q = 0; q < K; q++) {
            const double value = noise->values[p * K + q];
            const size_t shade = (size_t)lround(5 * sqrt(fmin(1, value)));
            const int ground = p == q ? right[shade] : wrong[shade];
            const int ink = shade == 5 ? 255 : 16;
            fprintf(file, "\033[48;5;%d;38;5;%dm%*.3f \033[0m", ground, ink, width + 1, value);
        }
        fputc('\n', file);
    }
}

static void begin_table(app_grid *table, const uc_noise *noise, const char *corner)
{
    *table = (app_grid){.align = "lr", .columns = noise->classes + 1};
    app_cell(table, "%s", corner);
    for (size_t q = 0; q < noise->classes; q++)
        app_cell(table, "%s", noise->names.text[q]);
}

static void print_plain(FILE *file, const uc_noise *noise)
{
    const size_t K = noise->classes;
    app_grid table;
    begin_table(&table, noise, "observed \\ true");
    for (size_t p = 0; p < K; p++) {
        app_cell(&table, "%s", noise->names.text[p]);
        for (size_t q = 0; q < K; q++)
            app_cell(&table, "%.3f", noise->values[p * K + q]);
    }
    app_grid_print(&table, file);
}

static void print_intervals(FILE *file, const uc_noise_estimate *self)
{
    const size_t K = self->noise.classes;
    app_grid table;
    begin_table(&table, &self->noise, "95% intervals");
    for (size_t p = 0; p < K; p++) {
        app_cell(&table, "%s", self->noise.names.text[p]);
        for (size_t q = 0; q < K; q++)
            app_cell(&table, "%.3f-%.3f", self->low[p * K + q], self->high[p * K + q]);
    }
    fputc('\n', file);
    app_grid_print(&table, file);
}

static void print_widest(FILE *file, const uc_noise_estimate *self)
{
    const size_t K = self->noise.classes;
    size_t widest = 0;
    double sum = 0;
    for (size_t i = 0; i < K * K; i++) {
        sum += self->high[i] - self->low[i];
        if (self->high[i] - self->low[i] > self->high[widest] - self->low[widest])
            widest = i;
    }
    fprintf(file,
            "95%% intervals: %.3f wide on average; the widest is %.3f to %.3f, true %s observed as %s\n",
            sum / (double)(K * K), self->low[widest], self->high[widest], self->noise.names.text[widest % K],
            self->noise.names.text[widest / K]);
}

/* Whether entry i comes after entry j: a smaller share, or the same share in a later place. */
static bool is_after(const double *C, size_t i, size_t j)
{
    if (C[i] != C[j])
        return C[i] < C[j];
    return i > j;
}

/* Prints the most frequent mistakes, one per line. */
static void print_largest(FILE *file, const uc_noise_estimate *self)
{
    const size_t K = self->noise.classes;
    const double *C = self->noise.values;
    app_grid table = {.align = "llrr", .columns = 4};
    app_cell(&table, "true");
    app_cell(&table, "observed as");
    app_cell(&table, "share");
    app_cell(&table, "95%% interval");
    size_t last = K * K; /* the entry shown before */
    for (size_t shown = 0; shown < LARGEST; shown++) {
        size_t best = K * K;
        for (size_t i = 0; i < K * K; i++) {
            const bool later = last == K * K || is_after(C, i, last);
            if (i / K != i % K && later && (best == K * K || C[i] > C[best]))
                best = i;
        }
        if (best == K * K || C[best] == 0)
            break;
        app_cell(&table, "%s", self->noise.names.text[best % K]);
        app_cell(&table, "%s", self->noise.names.text[best / K]);
        app_cell(&table, "%.3f", C[best]);
        if (self->low)
            app_cell(&table, "%.3f-%.3f", self->low[best], self->high[best]);
        else
            app_cell(&table, "-");
        last = best;
    }
    fputs("most frequent mistakes\n", file);
    app_grid_print(&table, file);
}

/* Whether the share of wrong labels depends on how frequent each class is. */
static bool depends_on_frequencies(const uc_noise *self)
{
    const size_t K = self->classes;
    double least = 1.0, most = 0.0;
    for (size_t q = 0; q < K; q++) {
        least = fmin(least, self->values[q * K + q]);
        most = fmax(most, self->values[q * K + q]);
    }
    return most - least > 0.0005; /* a digit that is printed */
}

void cli_print_noise(FILE *file, const uc_noise_estimate *self, const uc_noise_check *check, const char *path)
{
    const size_t K = self->noise.classes;
    fprintf(file, "%zu examples", self->examples);
    if (self->skipped)
        fprintf(file, " (%zu without a label skipped)", self->skipped);
    fprintf(file, ", %zu classes, %.1f%% of the labels wrong%s, condition number %.3g: %s\n\n", K,
            100 * check->wrong,
            depends_on_frequencies(&self->noise) ? " if classes are equally frequent" : "", check->condition,
            path);
    if (K > MATRIX_CLASSES)
        print_largest(file, self);
    else if (cli_has_colours(file))
        print_shaded(file, &self->noise);
    else
        print_plain(file, &self->noise);
    if (self->low && K <= INTERVAL_CLASSES)
        print_intervals(file, self);
    else if (self->low)
        print_widest(file, self);
}
