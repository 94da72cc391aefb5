/*
 * A map that a learner builds while it learns, from rounds that it remembers: Gaussian kernel values with
 * landmarks, and the row itself.
 *
 *   z       the row as the map prepares it: at unit length, or (x_j - shift_j) factor_j, perhaps times
 *           a lower triangle, or unchanged
 *   map(x)  = (k(l_1, z), ..., k(l_m, z), z),  the last part only if `kept`
 *
 * How a row is prepared depends on what the learner has seen so far, so this is part of the map and not of
 * the preprocessing in front of it.
 */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "map/map.h"

uc_status uc_map_create_learned(uc_map **out, uc_matrix landmarks, uc_map_input input, double width)
{
    uc_map *self = uc_alloc(1, sizeof *self);
    if (!self) {
        uc_matrix_free(&landmarks);
        uc_map_input_free(&input);
        return UC_ERR_NOMEM;
    }
    *self = (uc_map){.kind = UC_MAP_LEARNED,
                     .kernel = UC_KERNEL_GAUSSIAN,
                     .width = width,
                     .landmarks = landmarks,
                     .dimension = landmarks.rows,
                     .input = input};
    if (input.kept)
        self->dimension += landmarks.cols;
    const uc_status status = uc_map_measure_landmarks(self);
    if (status == UC_OK)
        *out = self;
    else
        uc_map_free(self);
    return status;
}

/* Works in place from the last entry down, because each entry needs the old values of those before it. */
static void turn_row(float *z, const double *turn, size_t cols)
{
    for (size_t i = cols; i-- > 0;)
        z[i] = (float)uc_row_dot((uc_row){i + 1, z, NULL}, turn + i * cols);
}

void uc_map_prepare_input(float *z, const uc_map_input *input, uc_row row, size_t cols)
{
    double scale = 1.0;
    row = uc_known_row(row, cols);
    if (cols > 0)
        memset(z, 0, cols * sizeof *z);
    if (input->unit) {
        const double length = sqrt(uc_row_norm2(row));
        if (length > 0.0)
            scale = 1.0 / length;
    }
    for (size_t i = 0; i < row.count; i++)
        z[uc_row_column(row, i)] = (float)(row.values[i] * scale);
    for (size_t j = 0; j < cols && input->factor; j++)
        z[j] = (float)(((double)z[j] - input->shift[j]) * input->factor[j]);
    if (input->turn)
        turn_row(z, input->turn, cols);
}
