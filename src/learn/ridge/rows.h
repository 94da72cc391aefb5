/* Shared by the forms of ridge regression (rows.c); symbols as in decomposition.c. */
#ifndef UC_RIDGE_ROWS_H
#define UC_RIDGE_ROWS_H

#include "learn/ridge/decomposition.h"

#define UC_RIDGE_ROWS ((size_t)128) /* processed at a time */
#define UC_MOST_LEVERAGE (1.0 - 1e-9)

/* Whether these rows get the dual form; `total` is the number of rows over all processes. */
static inline bool uc_ridge_is_dual(const uc_matrix *X, size_t total)
{
    return uc_matrix_is_sparse(X) && total < X->cols;
}
double uc_ridge_weight(const uc_ridge *self, size_t i);
/* The means of the columns, and the sum of the weights. */
uc_status uc_ridge_find_mean(uc_ridge *self);
/* The sum of r_i (x_i - m)(x_i - m)', columns x columns. */
uc_status uc_ridge_sum_squares(double *squares, const uc_ridge *self);
/* sqrt(r_i) z_i of rows first .. first + count - 1, count x rank. `work` has room for uc_ridge_rows_work
 * numbers, enough for UC_RIDGE_ROWS rows. Without a decomposition, z_i is x_i - m. */
void uc_ridge_rows(double *Z, const uc_ridge *self, size_t first, size_t count, double *work);
size_t uc_ridge_rows_work(const uc_ridge *self);

/* b = n - w'm */
void uc_ridge_offset(double *offset, const double *W, size_t stride, const uc_ridge *self,
                     const uc_ridge_targets *targets);

/* uc_ridge_leave_one_out and uc_ridge_weights (without the offset) for each of the forms. */
uc_status uc_ridge_decomposed_leave_one_out(double *out, const uc_ridge *self,
                                            const uc_ridge_targets *targets, double lambda);
uc_status uc_ridge_decomposed_weights(double *W, size_t stride, const uc_ridge *self,
                                      const uc_ridge_targets *targets, double lambda);
uc_status uc_ridge_factor_columns(uc_ridge *out, const uc_matrix *X, const double *weights,
                                  const double *lambdas, size_t count, size_t left_out,
                                  const uc_context *context);
/* Replaces B by H'B, for lambdas that have a tridiagonal form in common. */
uc_status uc_ridge_share_targets(uc_ridge_targets *targets, const uc_ridge *self);
uc_status uc_ridge_factored_leave_one_out(double *out, const uc_ridge *self, const uc_ridge_targets *targets,
                                          double lambda);
uc_status uc_ridge_factored_weights(double *W, size_t stride, const uc_ridge *self,
                                    const uc_ridge_targets *targets, double lambda);

#endif
