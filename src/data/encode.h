/* Internals of the encoder, shared by learning from a whole table and from a part of one. */
#ifndef UC_DATA_ENCODE_H
#define UC_DATA_ENCODE_H

#include "data/table.h"

/* Whether a feature before the words is a number, a boolean or a part of a date, that is, one that may be
 * missing. */
bool uc_feature_is_number(const uc_table *table, size_t feature);
/* The value at a position of a matrix; NULL if a sparse row does not store it. */
float *uc_matrix_cell(const uc_matrix *X, size_t row, size_t column);
/* Replaces the values of this process by those of all processes. */
uc_status uc_gather_values(float **values, size_t *count, const uc_context *context);
/* Sets fill[j], shift[j] and factor[j] from the values in the training rows; NaN means missing. */
uc_status uc_learn_values(uc_table *table, size_t j, const float *values, size_t count);
/* The same for all numeric features, from the rows of all processes. */
uc_status uc_learn_columns(uc_table *table, const uc_matrix *X, const uc_context *context);
/* Counts the rows that have each word; the last entry is the number of rows. */
void uc_count_words(double *counts, const uc_table *table, const uc_matrix *X);
double uc_idf(double rows, double rows_with_word);
/* The number of rows that must have a word for it to become a feature, given the counts. A word that occurs
 * in a single row says nothing about other rows, so this is 2, or 1 if the table would otherwise have no
 * feature at all. */
double uc_least_rows_with_word(const uc_table *table, const double *counts);

/* The encoded value of a stored value that is not missing, in a sparse row. */
static inline float uc_encoded_value(const uc_table *table, size_t feature, float value)
{
    double shift = 0.0;
    if (table->shift && feature < table->text_first)
        shift = table->shift[feature];
    return (float)(((double)value - shift) * table->factor[feature]);
}

#endif
