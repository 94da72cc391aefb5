/* The perceptron on a projection that is used for all dimensions. */
#include "rp.h"

#include <stdlib.h>

uc_status map_sets(mapped *out, int kind, double width, size_t dimension, const uc_dataset *const *sets,
                   size_t count, uint64_t seed, const uc_context *context)
{
    uc_map_settings settings = uc_map_defaults();
    uc_map *map = NULL;
    settings.map = kind;
    settings.kernel = UC_KERNEL_GAUSSIAN;
    settings.width = width;
    settings.dimension = dimension < sets[0]->X.rows ? dimension : sets[0]->X.rows;
    mapped_free(out);
    out->parts = app_calloc(count, sizeof *out->parts);
    out->count = count;
    uc_status status = uc_map_fit(&map, &settings, &sets[0]->X, seed, context);
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        out->parts[i] = *sets[i];
        out->parts[i].X = (uc_matrix){0};
        status = uc_map_apply(&out->parts[i].X, map, &sets[i]->X, context);
    }
    uc_map_free(map);
    return status;
}

void mapped_free(mapped *self)
{
    for (size_t i = 0; i < self->count; i++)
        uc_matrix_free(&self->parts[i].X);
    free(self->parts);
    *self = (mapped){0};
}

static uc_dataset first_columns(const uc_dataset *data, size_t dimension)
{
    uc_dataset first = *data;
    if (dimension < first.X.cols)
        first.X.cols = dimension;
    return first;
}

uc_status learn_perceptron(uc_model **out, double kappa, size_t dimension, const mapped *rows,
                           const uc_context *context)
{
    uc_rp_settings settings;
    uc_options_defaults(uc_learner_options(uc_learner_find("rp")), &settings);
    settings.kappa = kappa;
    uc_train_settings common = uc_train_defaults();
    common.map.map = UC_MAP_NONE; /* the rows are mapped already */
    uc_dataset train = first_columns(&rows->parts[0], dimension);
    return uc_train(out, uc_learner_find("rp"), &settings, &common, &train, context);
}

uc_status perceptron_error(double *percent, double kappa, size_t dimension, const mapped *rows,
                           const uc_context *context)
{
    uc_model *model = NULL;
    double sum = 0.0;
    uc_status status = learn_perceptron(&model, kappa, dimension, rows, context);
    for (size_t i = 1; i < rows->count && status == UC_OK; i++) {
        const uc_dataset test = first_columns(&rows->parts[i], dimension);
        double error = 0.0;
        status = model_error(&error, model, &test, context);
        sum += error;
    }
    *percent = sum / (double)(rows->count - 1);
    uc_model_free(model);
    return status;
}

size_t smallest(const double *values, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (values[i] < values[best])
            best = i;
    return best;
}
