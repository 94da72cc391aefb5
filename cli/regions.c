/* The regions of a model's classes in the plane of its two columns or of its map, for pages. */
#include "regions.h"

#include <math.h>
#include <stdlib.h>

#define SIZE 48     /* cells of the grid per side */
#define MARGIN 0.05 /* beyond the rows, on each side */
#define LEAST_SPAN 1e-9

bool cli_has_regions(const uc_model *model, bool *mapped)
{
    const bool columns = uc_model_features(model) == 2;
    if (mapped)
        *mapped = !columns;
    return columns || uc_model_dimension(model) == 2;
}

/* Drops every other point, to make room for later rows. */
static void thin_out(cli_plane *self)
{
    for (size_t i = 0; 2 * i < self->count; i++) {
        self->points[i][0] = self->points[2 * i][0];
        self->points[i][1] = self->points[2 * i][1];
        self->labels[i] = self->labels[2 * i];
    }
    self->count = (self->count + 1) / 2;
    self->stride *= 2;
}

static void read_point(double point[2], const uc_matrix *X, size_t row)
{
    const uc_row cells = uc_matrix_row(X, row);
    point[0] = point[1] = 0.0;
    for (size_t j = 0; j < cells.count; j++) {
        const size_t column = cells.columns ? cells.columns[j] : j;
        if (column < 2)
            point[column] = (double)cells.values[j];
    }
}

void cli_plane_add(cli_plane *self, const uc_matrix *X, size_t row, uint32_t label)
{
    double point[2];
    read_point(point, X, row);
    for (size_t j = 0; j < 2; j++) {
        self->low[j] = self->seen ? fmin(self->low[j], point[j]) : point[j];
        self->high[j] = self->seen ? fmax(self->high[j], point[j]) : point[j];
    }
    if (self->stride == 0)
        self->stride = 1;
    if (self->seen % self->stride == 0 && self->count == CLI_REGION_POINTS)
        thin_out(self);
    if (self->seen % self->stride == 0) {
        self->points[self->count][0] = point[0];
        self->points[self->count][1] = point[1];
        self->labels[self->count++] = label;
    }
    self->seen++;
}

uc_status cli_plane_add_all(cli_plane *self, const uc_model *model, const uc_matrix *X,
                            const uint32_t *labels, const uc_context *context)
{
    const size_t K = uc_model_classes(model)->count;
    uc_matrix mapped = {0};
    const uc_status status = self->mapped ? uc_model_prepare(&mapped, model, X, context) : UC_OK;
    for (size_t i = 0; i < X->rows && status == UC_OK; i++)
        cli_plane_add(self, self->mapped ? &mapped : X, i, labels[i] < K ? labels[i] : UC_NONE);
    uc_matrix_free(&mapped);
    return status;
}

/* The edges of the picture. */
static void find_edges(double edges[2], const cli_plane *self, size_t axis)
{
    const double span = fmax(self->high[axis] - self->low[axis], LEAST_SPAN);
    edges[0] = self->low[axis] - MARGIN * span;
    edges[1] = self->high[axis] + MARGIN * span;
}

json_t *cli_plane_json(const cli_plane *self)
{
    double x[2], y[2];
    json_t *points = json_array();
    find_edges(x, self, 0);
    find_edges(y, self, 1);
    for (size_t i = 0; i < self->count; i++) {
        json_t *label = self->labels[i] == UC_NONE ? json_null() : json_integer(self->labels[i]);
        json_array_append_new(points, json_pack("[f f o]", self->points[i][0], self->points[i][1], label));
    }
    return json_pack("{si ss so so so}", "size", SIZE, "of", self->mapped ? "map" : "columns", "x",
                     app_json_reals(x, 2), "y", app_json_reals(y, 2), "points", points);
}

/* Fills in the centres of the cells, the lowest y first. */
static void fill_grid(uc_matrix *grid, const cli_plane *plane)
{
    double x[2], y[2];
    find_edges(x, plane, 0);
    find_edges(y, plane, 1);
    for (size_t i = 0; i < SIZE; i++)
        for (size_t j = 0; j < SIZE; j++) {
            float *cell = grid->values + (i * SIZE + j) * grid->stride;
            cell[0] = (float)(x[0] + (x[1] - x[0]) * ((double)j + 0.5) / SIZE);
            cell[1] = (float)(y[0] + (y[1] - y[0]) * ((double)i + 0.5) / SIZE);
        }
}

uc_status cli_regions_json(json_t **out, const uc_model *model, const cli_plane *plane,
                           const uc_context *context)
{
    uc_matrix grid = {0};
    uint32_t *found = app_calloc((size_t)SIZE * SIZE, sizeof *found);
    uc_status status = uc_matrix_create_dense(&grid, (size_t)SIZE * SIZE, 2);
    if (status == UC_OK) {
        fill_grid(&grid, plane);
        status = plane->mapped ? uc_model_predict_prepared(found, model, &grid, context)
                               : uc_model_predict(found, model, &grid, context);
    }
    if (status == UC_OK) {
        *out = json_array();
        for (size_t i = 0; i < SIZE; i++) {
            json_t *row = json_array();
            for (size_t j = 0; j < SIZE; j++)
                json_array_append_new(row, json_integer(found[i * SIZE + j]));
            json_array_append_new(*out, row);
        }
    }
    uc_matrix_free(&grid);
    free(found);
    return status;
}

uc_status cli_add_regions(json_t *result, const uc_model *model, const cli_plane *plane,
                          const uc_context *context)
{
    json_t *cells;
    if (plane->seen == 0)
        return UC_OK;
    const uc_status status = cli_regions_json(&cells, model, plane, context);
    if (status != UC_OK)
        return status;
    json_t *regions = cli_plane_json(plane);
    json_object_set_new(regions, "cells", cells);
    json_object_set_new(result, "regions", regions);
    return UC_OK;
}
