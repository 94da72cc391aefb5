/*
 * Products of several rows with dense landmarks.
 *
 * As in GEMM, rows and landmarks are copied as doubles into the order in which the tile kernel reads them.
 * Columns are processed QUADS quads at a time: those of a tile's rows and landmarks stay in the L1 cache,
 * those of all rows and of the panel, and the sums (128, 96 and 192 kB), in the L2 cache. The sums of a pair
 * continue from the columns before, so they are added in the order of the columns, whichever rows are
 * processed together.
 */
#include "map/tiles.h"

#include <string.h>

#define QUADS ((size_t)64)
#define TILE_SUMS (UC_TILE_X * UC_TILE_Y * UC_LANES)
#define TILES_ACROSS (UC_TILES_LANDMARKS / UC_TILE_Y)

static size_t tiles_down(size_t rows)
{
    return uc_block_count(rows, UC_TILE_X);
}

static size_t rows_size(size_t quads, size_t rows)
{
    return tiles_down(rows) * UC_TILE_X * quads * UC_LANES;
}

size_t uc_tiles_work(const uc_matrix *landmarks, size_t rows)
{
    return rows_size(uc_quads(landmarks->cols), rows) + UC_TILES_LANDMARKS * QUADS * UC_LANES +
           tiles_down(rows) * TILES_ACROSS * TILE_SUMS;
}

size_t uc_tiles_values(size_t rows)
{
    return tiles_down(rows) * UC_TILE_X * UC_TILES_LANDMARKS;
}

uc_tiles uc_tiles_begin(const uc_matrix *landmarks, size_t rows, double *work)
{
    const size_t quads = uc_quads(landmarks->cols);
    uc_tiles self = {.landmarks = landmarks, .quads = quads, .rows = work};
    self.panel = self.rows + rows_size(quads, rows);
    self.sums = self.panel + UC_TILES_LANDMARKS * QUADS * UC_LANES;
    return self;
}

void uc_tiles_put(uc_tiles *self, size_t i, uc_row row)
{
    double *first = self->rows + (i / UC_TILE_X * self->quads * UC_TILE_X + i % UC_TILE_X) * UC_LANES;
    for (size_t j = 0; j < row.count; j++) {
        const size_t column = uc_row_column(row, j);
        first[column / UC_LANES * UC_TILE_X * UC_LANES + column % UC_LANES] = row.values[j];
    }
}

/* Copies `quads` quads of the landmarks of a panel, from quad `start` on; missing landmarks are 0. */
static void fill_panel(const uc_tiles *self, size_t first, size_t start, size_t quads)
{
    const uc_matrix *landmarks = self->landmarks;
    for (size_t l = 0; l < UC_TILES_LANDMARKS; l++) {
        double *to = self->panel + (l / UC_TILE_Y * quads * UC_TILE_Y + l % UC_TILE_Y) * UC_LANES;
        if (first + l >= landmarks->rows) {
            for (size_t q = 0; q < quads; q++)
                memset(to + q * UC_TILE_Y * UC_LANES, 0, UC_LANES * sizeof *to);
            continue;
        }
        const float *from = landmarks->values + (first + l) * landmarks->stride + start * UC_LANES;
        for (size_t q = 0; q < quads; q++, to += UC_TILE_Y * UC_LANES, from += UC_LANES) {
            __builtin_prefetch(from + 2 * landmarks->stride); /* runs are too short for the CPU to do it */
            for (size_t lane = 0; lane < UC_LANES; lane++)
                to[lane] = from[lane];
        }
    }
}

/* How many tiles of one row of tiles have landmarks that the last of its rows sees. */
static size_t tiles_seen(const uc_tiles *self, size_t down, size_t first, size_t seen)
{
    const size_t count = uc_min_size(seen + down * UC_TILE_X + UC_TILE_X - 1, self->landmarks->rows);
    if (count <= first)
        return 0;
    return uc_min_size(uc_block_count(count - first, UC_TILE_Y), TILES_ACROSS);
}

/* Joins the lanes of all tiles and stores the products row by row. */
static void join_lanes(double *values, const double *sums, size_t rows)
{
    for (size_t d = 0; d < tiles_down(rows); d++)
        for (size_t a = 0; a < TILES_ACROSS; a++)
            for (size_t r = 0; r < UC_TILE_X; r++)
                for (size_t c = 0; c < UC_TILE_Y; c++, sums += UC_LANES)
                    values[(d * UC_TILE_X + r) * UC_TILES_LANDMARKS + a * UC_TILE_Y + c] = uc_lane_sum(sums);
}

void uc_tiles_products(double *values, uc_tiles *self, size_t rows, size_t first, size_t seen)
{
    const size_t down = tiles_down(rows);
    memset(self->sums, 0, down * TILES_ACROSS * TILE_SUMS * sizeof *self->sums);
    for (size_t start = 0; start < self->quads; start += QUADS) {
        const size_t quads = uc_min_size(self->quads - start, QUADS);
        fill_panel(self, first, start, quads);
        for (size_t d = 0; d < down; d++)
            for (size_t a = 0; a < tiles_seen(self, d, first, seen); a++)
                uc_tile(self->sums + (d * TILES_ACROSS + a) * TILE_SUMS,
                        self->rows + (d * self->quads + start) * UC_TILE_X * UC_LANES,
                        self->panel + a * quads * UC_TILE_Y * UC_LANES, quads);
    }
    join_lanes(values, self->sums, rows);
}
