/* Products of several rows with dense landmarks: the same bits as uc_products, at the speed of GEMM. */
#ifndef UC_MAP_TILES_H
#define UC_MAP_TILES_H

#include "linalg/linalg.h"

#define UC_TILES_ROWS ((size_t)128)     /* at a time */
#define UC_TILES_LANDMARKS ((size_t)48) /* of a panel */

typedef struct uc_tiles {
    const uc_matrix *landmarks;
    size_t quads;  /* of columns */
    double *rows;  /* all quads of UC_TILE_X rows, then of the next */
    double *panel; /* some quads of UC_TILE_Y landmarks, then of the next */
    double *sums;  /* of all pairs: tile by tile */
} uc_tiles;

/* The doubles of work space for up to `rows` rows. */
size_t uc_tiles_work(const uc_matrix *landmarks, size_t rows);
/* `work` must be all 0. */
uc_tiles uc_tiles_begin(const uc_matrix *landmarks, size_t rows, double *work);
/* Sets row i, once; it must not have columns beyond those of the landmarks. */
void uc_tiles_put(uc_tiles *self, size_t i, uc_row row);
/* The doubles of `values` for `rows` rows, in whole tiles. */
size_t uc_tiles_values(size_t rows);
/* values[i * UC_TILES_LANDMARKS + l] is the product of row i with landmark first + l, for rows 0 .. rows-1
 * and those of the landmarks that row i sees: the first `seen` + i. */
void uc_tiles_products(double *values, uc_tiles *self, size_t rows, size_t first, size_t seen);

#endif
