/* Fields of CSV files. */
#ifndef APP_CSV_H
#define APP_CSV_H

#include <stdio.h>

void app_csv_text(FILE *file, const char *text, char end); /* in quotes if it needs them, then `end` */
void app_csv_real(FILE *file, double value, char end);     /* empty unless it is finite */

#endif
