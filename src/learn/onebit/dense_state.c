/* Saves and resumes: the rounds kept, the map and the ridge. The features of the rounds follow from the
 * map. */
#include <string.h>

#include "learn/onebit/dense.h"

enum { LANDMARKS, COLUMNS, UNIT, KEPT, SCALED, SHAPE_COUNTS };

/* The value of SCALED: 0 no scaling, 1 by factors, 2 by factors and a triangle. */
static uint64_t scaling_of(const uc_map_input *input)
{
    if (!input->factor)
        return 0;
    return input->turn ? 2 : 1;
}

static uc_status write_map(const uc_map *map, uc_state *state)
{
    const uc_matrix *L = &map->landmarks;
    double width = map->width;
    uint64_t shape[SHAPE_COUNTS] = {[LANDMARKS] = L->rows,
                                    [COLUMNS] = L->cols,
                                    [UNIT] = map->input.unit,
                                    [KEPT] = map->input.kept,
                                    [SCALED] = scaling_of(&map->input)};
    uc_status status = uc_state_array(state, "state.map.shape", UC_ARRAY_U64, shape, SHAPE_COUNTS);
    if (status == UC_OK)
        status = uc_state_array(state, "state.map.width", UC_ARRAY_F64, &width, 1);
    if (status == UC_OK)
        status = uc_state_array(state, "state.map.values", UC_ARRAY_F32, L->values, L->rows * L->stride);
    if (status == UC_OK && map->input.factor)
        status = uc_state_array(state, "state.map.shift", UC_ARRAY_F64, map->input.shift, L->cols);
    if (status == UC_OK && map->input.factor)
        status = uc_state_array(state, "state.map.factor", UC_ARRAY_F64, map->input.factor, L->cols);
    if (status == UC_OK && map->input.turn)
        status = uc_state_array(state, "state.map.turn", UC_ARRAY_F64, map->input.turn, L->cols * L->cols);
    return status;
}

static uc_status read_numbers(double **out, uc_state *state, const char *name, size_t count)
{
    *out = uc_alloc(count, sizeof **out);
    return *out ? uc_state_array(state, name, UC_ARRAY_F64, *out, count) : UC_ERR_NOMEM;
}

static uc_status read_input(uc_map_input *out, uc_state *state, const uint64_t *shape)
{
    const size_t cols = (size_t)shape[COLUMNS];
    uc_status status = UC_OK;
    *out = (uc_map_input){.unit = shape[UNIT] != 0, .kept = shape[KEPT] != 0};
    if (shape[SCALED] > 0)
        status = read_numbers(&out->shift, state, "state.map.shift", cols);
    if (status == UC_OK && shape[SCALED] > 0)
        status = read_numbers(&out->factor, state, "state.map.factor", cols);
    if (status == UC_OK && shape[SCALED] > 1)
        status = read_numbers(&out->turn, state, "state.map.turn", cols * cols);
    return status;
}

/* The shape comes from the file: landmarks are allocated only once the file is known to have that many. */
static uc_status read_landmarks(uc_matrix *out, uc_state *state, const uint64_t *shape)
{
    const size_t rows = (size_t)shape[LANDMARKS], cols = (size_t)shape[COLUMNS];
    size_t count;
    if (!uc_size_mul(&count, rows, uc_matrix_stride(cols)))
        return uc_state_damaged();
    const float *values = uc_state_lend(state, "state.map.values", UC_ARRAY_F32, count);
    if (!values)
        return UC_ERR_FORMAT;
    const uc_status status = uc_matrix_create_dense(out, rows, cols);
    if (status == UC_OK && count > 0)
        memcpy(out->values, values, count * sizeof *values);
    return status;
}

/* Guards against a corrupt file: the memory for a map grows with the square of its features. */
static bool shape_makes_sense(const uint64_t *shape, size_t columns)
{
    if (shape[SCALED] > 2 || (shape[SCALED] > 1 && shape[COLUMNS] > UC_ONEBIT_MOST_TURNED))
        return false;
    if (shape[COLUMNS] > columns || (shape[KEPT] && shape[COLUMNS] > UC_ONEBIT_MOST_LINEAR))
        return false;
    return shape[LANDMARKS] <= UC_ONEBIT_MOST_LANDMARKS && (shape[LANDMARKS] == 0 || shape[COLUMNS] > 0);
}

static uc_status read_map(uc_map **out, uc_state *state, size_t columns)
{
    uint64_t shape[SHAPE_COUNTS] = {0};
    double width = 0.0;
    uc_map_input input = {0};
    uc_matrix landmarks = {0};
    uc_status status = uc_state_array(state, "state.map.shape", UC_ARRAY_U64, shape, SHAPE_COUNTS);
    if (status == UC_OK)
        status = uc_state_array(state, "state.map.width", UC_ARRAY_F64, &width, 1);
    if (status == UC_OK && (!shape_makes_sense(shape, columns) || !(width > 0.0)))
        status = uc_state_damaged();
    if (status == UC_OK)
        status = read_landmarks(&landmarks, state, shape);
    if (status == UC_OK)
        status = read_input(&input, state, shape);
    if (status == UC_OK)
        return uc_map_create_learned(out, landmarks, input, width);
    uc_matrix_free(&landmarks);
    uc_map_input_free(&input);
    return status;
}

static uc_status remember_counters(uc_onebit_dense *self, uc_state *state)
{
    uc_status status = uc_state_counter(state, "age", &self->age);
    if (status == UC_OK)
        status = uc_state_counter(state, "next_map", &self->next_map);
    if (status == UC_OK)
        status = uc_state_counter(state, "restarts", &self->restarts);
    if (status == UC_OK)
        status = uc_state_array(state, "state.onebit", UC_ARRAY_F64, &self->next_refit, 1);
    if (status == UC_OK)
        status = uc_change_remember(&self->change, state);
    if (status == UC_OK)
        status = uc_forget_remember(&self->forget, state, self->age);
    if (status == UC_OK && self->rule.doubt.active)
        status = uc_doubt_remember(&self->rule.doubt, state);
    if (status == UC_OK && (!(self->next_refit >= 1.0) || self->next_map == 0))
        status = uc_state_damaged();
    return status;
}

static uc_status read_mapped(uc_onebit_dense *self, uc_state *state)
{
    uc_map *map = NULL;
    uc_onebit_mapped read;
    uc_rounds *rounds = &self->rounds;
    uc_status status = read_map(&map, state, self->columns);
    if (status == UC_OK)
        status = uc_onebit_mapped_begin(&read, map, self->classes);
    if (status != UC_OK)
        return status;
    status = uc_running_ridge_remember(&read.ridge, state);
    if (status == UC_OK)
        status = uc_rounds_reshape(rounds, rounds->columns, read.ridge.size, rounds->classes);
    if (status == UC_OK)
        status = uc_rounds_remember(rounds, state, self->limit);
    if (status != UC_OK) {
        uc_onebit_mapped_free(&read);
        return status;
    }
    for (size_t i = 0; i < rounds->count; i++) {
        const uc_past_round round = uc_rounds_at(rounds, i);
        uc_onebit_map_row(round.phi, read.map, (uc_row){rounds->columns, round.row, NULL}, read.map_work);
    }
    uc_onebit_take_mapped(self, &read);
    return UC_OK;
}

uc_status uc_onebit_dense_remember(uc_onebit_dense *self, uc_state *state)
{
    uc_status status = remember_counters(self, state);
    if (status != UC_OK || !self->map)
        return status;
    if (state->reading)
        return read_mapped(self, state);
    status = write_map(self->map, state);
    if (status == UC_OK)
        status = uc_running_ridge_remember(&self->ridge, state);
    if (status == UC_OK)
        status = uc_rounds_remember(&self->rounds, state, self->limit);
    return status;
}
