/* The regions of the plane in which a model predicts each class, for rows of two columns, or of two
 * dimensions after a map: a grid of predictions, and some rows. */
#ifndef CLI_REGIONS_H
#define CLI_REGIONS_H

#include "cli.h"

#define CLI_REGION_POINTS 400 /* the most rows that are shown */

/* The range of the rows so far, and an even selection of them. */
typedef struct cli_plane {
    bool mapped; /* the plane is that of the rows after preprocessing */
    double low[2], high[2];
    size_t seen, stride, count;
    double points[CLI_REGION_POINTS][2];
    uint32_t labels[CLI_REGION_POINTS]; /* UC_NONE: not known */
} cli_plane;                            /* zero-initialised: no rows */

/* Whether the model has two columns, or its map two dimensions; *mapped (may be NULL) says which. */
bool cli_has_regions(const uc_model *model, bool *mapped);
void cli_plane_add(cli_plane *self, const uc_matrix *X, size_t row, uint32_t label);
/* Adds all rows of X, mapped if the plane is; labels beyond the model's classes count as unknown. */
uc_status cli_plane_add_all(cli_plane *self, const uc_model *model, const uc_matrix *X,
                            const uint32_t *labels, const uc_context *context);

/* {size, of: "columns" or "map", x: [low, high], y: [low, high], points: [[x, y, class or null], ...]};
 * classes are positions. */
json_t *cli_plane_json(const cli_plane *self);
/* The predictions on a grid over the plane, the lowest y first: size x size positions of classes. */
uc_status cli_regions_json(json_t **out, const uc_model *model, const cli_plane *plane,
                           const uc_context *context);
/* Adds both as "regions" to `result`; nothing if there are no rows. */
uc_status cli_add_regions(json_t *result, const uc_model *model, const cli_plane *plane,
                          const uc_context *context);

#endif
