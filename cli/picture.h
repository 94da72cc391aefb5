/* Small pictures for terminals: a shaded matrix, and a curve in one line. Nothing is drawn to pipes or
 * files. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include "cli.h"

bool cli_has_colours(FILE *file); /* a terminal that shows them to a user who wants them */

/* Draws shares from 0 to 1, classes x classes, row by row; NaN: nothing there. Rows and columns have the
 * classes in the same order; `title` says what they are. Nothing is drawn if the terminal is too narrow. */
void cli_draw_matrix(FILE *file, const char *title, const double *shares, const uc_names *classes);

/* Draws a sequence of shares from 0 to 1; `title` says of what. */
void cli_draw_curve(FILE *file, const char *title, const double *shares, size_t count);

#endif
