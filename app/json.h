/* JSON from the library's types. */
#ifndef APP_JSON_H
#define APP_JSON_H

#include <jansson.h>

#include "app/program.h"

json_t *app_json_text(const char *text); /* bytes that are not UTF-8 become U+FFFD */
json_t *app_json_real(double value);     /* null for NaN and infinities */
json_t *app_json_reals(const double *values, size_t count);
json_t *app_json_matrix(const double *values, size_t rows, size_t columns); /* row by row; null for NULL */
json_t *app_json_texts(char *const *texts, size_t count);
json_t *app_json_names(const uc_names *names);
json_t *app_json_option(const uc_option *option, const void *settings);
void app_json_settings(json_t *object, const uc_option *table, const void *settings);
json_t *app_json_table(const uc_option *table); /* name, type, default, bounds, help of every option */

#endif
