/* Inside the encoder: what learning from a whole table and from a part of one share. */
#ifndef UC_DATA_ENCODE_H
#define UC_DATA_ENCODE_H

#include "data/table.h"

/* Whether a feature before the words is a number, boolean or part of a date: one that may be missing. */
bool uc_feature_is_number(const uc_table *table, size_t feature);
/* The value at a place of a matrix; NULL: a sparse row does not have it. */
float *uc_matrix_cell(const uc_matrix *X, size_t row, size_t column);
/* The values of all processes take the place of those of this one. */
uc_status uc_gather_values(float **values, size_t *count, const uc_context *context);
/* Sets fill[j], shift[j] and factor[j] from the values that training rows have; NaN is missing. */
uc_status uc_learn_values(uc_table *table, size_t j, const float *values, size_t count);
/* The same for all features that are numbers, from the rows of all processes. */
uc_status uc_learn_columns(uc_table *table, const uc_matrix *X, const uc_context *context);
/* How many rows have each word; the last entry counts the rows. */
void uc_count_words(double *counts, const uc_table *table, const uc_matrix *X);
double uc_idf(double rows, double rows_with_word);
/* Rows that must have a word for it to be a feature, by their counts: what one row alone has says nothing of
 * others. 2, or 1 where the table would have no feature at all. */
double uc_least_rows_with_word(const uc_table *table, const double *counts);

/* What a value of a sparse row becomes that is not missing. */
static inline float uc_encoded_value(const uc_table *table, size_t feature, float value)
{
    double shift = 0.0;
    if (table->shift && feature < table->text_first)
        shift = table->shift[feature];
    return (float)(((double)value - shift) * table->factor[feature]);
}

#endif
