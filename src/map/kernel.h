/* Kernel values between many rows at once. */
#ifndef UC_MAP_KERNEL_H
#define UC_MAP_KERNEL_H

#include "linalg/linalg.h"
#include "map/map.h"

/* The number of rows or landmarks of a panel. A tile of kernel values then takes 512 kB, half of a core's
 * cache. */
#define UC_PANEL ((size_t)256)

static inline size_t uc_panel_count(size_t rows)
{
    return uc_block_count(rows, UC_PANEL);
}

/* The number of rows in panel `panel` of `rows` rows. */
static inline size_t uc_panel_rows(size_t rows, size_t panel)
{
    const uc_range range = uc_block_range(panel, rows, UC_PANEL);
    return range.last - range.first;
}

/* The kernel value of two rows from their inner product and squared lengths. */
double uc_kernel_value(const uc_map *map, double product, double norm2_x, double norm2_y);
/* The same for many y at once: replaces their inner products with x by kernel values. */
void uc_kernel_values(const uc_map *map, double *values, const double *norm2_y, size_t count, double norm2_x);
/* k(x, x) */
double uc_kernel_diagonal(const uc_map *map, double norm2);
/* UC_ERR_DIVERGED if k(x, x) of a row of that length is not finite. */
uc_status uc_kernel_check(const uc_map *map, double norm2, size_t row);

/* The squared length of a row, summed in the order of its products with these landmarks: zeros, stored or
 * not, change nothing, and a landmark's distance to itself is exactly 0. */
double uc_landmark_norm2(const uc_matrix *landmarks, uc_row row);
/* norm2[i] is the squared length of row i over the first `cols` columns. */
void uc_norms(double *norm2, const uc_matrix *X, size_t cols);

/* Landmarks prepared for products with many rows. */
typedef struct uc_panels {
    const uc_matrix *landmarks; /* borrowed, as is norm2 */
    const double *norm2;
    struct uc_column_index *index; /* sparse landmarks: one per panel */
    double *by_feature;            /* dense landmarks for sparse rows: cols x UC_PANEL per panel */
} uc_panels;

uc_status uc_panels_prepare(uc_panels *out, const uc_matrix *landmarks, const double *norm2,
                            bool for_sparse_rows, const uc_context *context);
void uc_panels_free(uc_panels *self); /* zero-initialised is fine */

/* values[i][l] for rows first .. last-1 of X and the landmarks of panel `panel`: uc_panel_rows(landmarks,
 * panel) values per row, without gaps. `work`: uc_panels_work doubles. */
size_t uc_panels_work(const uc_panels *self, const uc_matrix *X);
void uc_panel_products(double *values, const uc_panels *self, size_t panel, const uc_matrix *X, size_t first,
                       size_t last, double *work);
/* For sparse landmarks: the products of one row, which must not have columns beyond those of the
 * landmarks. */
void uc_panel_row_products(double *values, const uc_panels *self, size_t panel, uc_row row);
/* Like uc_panel_products, but gives values of the map's kernel; norm2[i] belongs to row `first` + i. */
void uc_panel_kernel(double *values, const uc_map *map, const uc_panels *self, size_t panel,
                     const uc_matrix *X, const double *norm2, size_t first, size_t last, double *work);
/* K[i][j] for all pairs of landmarks. */
uc_status uc_panels_square(double *K, const uc_map *map, const uc_panels *self, const uc_context *context);

#endif
