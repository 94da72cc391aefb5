/* Ridge regression in the form that it has: decomposed for all lambdas, or factored for a few. */
#include "learn/ridge/rows.h"

uc_status uc_ridge_factor(uc_ridge *out, const uc_matrix *X, const double *weights, const double *lambdas,
                          size_t count, size_t left_out, const uc_context *context)
{
    uc_share share;
    const uc_status status = uc_share_of(&share, context, X->rows);
    if (status != UC_OK)
        return status;
    if (uc_ridge_is_dual(X, share.total))
        return uc_ridge_decompose(out, X, weights, context);
    return uc_ridge_factor_columns(out, X, weights, lambdas, count, left_out, context);
}

uc_status uc_ridge_leave_one_out(double *out, const uc_ridge *self, const uc_ridge_targets *targets,
                                 double lambda)
{
    if (self->factors)
        return uc_ridge_factored_leave_one_out(out, self, targets, lambda);
    return uc_ridge_decomposed_leave_one_out(out, self, targets, lambda);
}

uc_status uc_ridge_weights(double *W, double *offset, size_t stride, const uc_ridge *self,
                           const uc_ridge_targets *targets, double lambda)
{
    uc_status status;
    if (self->factors)
        status = uc_ridge_factored_weights(W, stride, self, targets, lambda);
    else
        status = uc_ridge_decomposed_weights(W, stride, self, targets, lambda);
    if (status == UC_OK)
        uc_ridge_offset(offset, W, stride, self, targets);
    return status;
}
