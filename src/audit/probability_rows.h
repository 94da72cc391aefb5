/* Probabilities of a model, read once and kept where they matter: of each row the most probable classes and
 * its
 * own label. */
#ifndef UC_AUDIT_PROBABILITY_ROWS_H
#define UC_AUDIT_PROBABILITY_ROWS_H

#include "parallel/parallel.h"
#include "unconfuse/audit.h"

/* The temperatures that are tried. */
#define UC_TEMPERATURES 10
extern const double uc_temperatures[UC_TEMPERATURES];

typedef struct uc_probability_rows {
    size_t rows, K;
    size_t kept;       /* classes of a row; K: all */
    uint32_t *class;   /* rows x kept; the label, where there is one, is always among them */
    float *log_p;      /* of each */
    double *log_sum;   /* rows x UC_TEMPERATURES: log of the sum of p^(1/T) over all K classes */
} uc_probability_rows; /* zero-initialised may be freed */

void uc_probability_rows_free(uc_probability_rows *self);
/* Room for rows of K probabilities, of which as many are kept as `entries` of all rows allow for (64 at
 * least). */
uc_status uc_probability_rows_create(uc_probability_rows *out, size_t rows, size_t K, size_t entries);
/* Row i, whose probabilities p[0..K) sum to 1; `label` may be UC_NONE. */
void uc_probability_rows_set(uc_probability_rows *self, size_t i, const float *p, uint32_t label);

/* Rows by their labels: those of label l are order[begin[l]] .. order[begin[l + 1] - 1]; those without one
 * are group K. */
typedef struct uc_label_groups {
    size_t *begin; /* K + 2 */
    uint32_t *order;
} uc_label_groups;

/* The cells that rows of each group can add to, of which group K has some, too; (*place)[e], which the caller
 * frees, is the number of entry e's cell among those of its row's group (probability_cells.c). */
uc_status uc_probability_cells_list(uc_probability_cells *out, uint32_t **place,
                                    const uc_label_groups *groups, const uc_probability_rows *rows,
                                    const uint32_t *gold, const uc_context *context);
void uc_probability_cells_free(uc_probability_cells *self);
/* Sets totals: counts of all labels, and `background`, which every class has. */
void uc_probability_cells_add_up(uc_probability_cells *self, double background);
/* An entry of the rows of N + I + 1/K, normalised. */
static inline double uc_probability_share(double count, bool same, size_t K, double total)
{
    return (count + (same ? 1.0 : 0.0) + 1.0 / (double)K) / (total + 2.0);
}

/* True classes by these rows; sets all of *out but names and labels (probabilities.c). */
uc_status uc_probability_audit_find(uc_probability_audit *out, const uc_probability_rows *rows,
                                    const uint32_t *labels, const uint32_t *gold, const uc_context *context);
/* The error on true classes of the most probable ones; at least one row has a label (probability_error.c). */
uc_status uc_probability_clean_error(uc_clean_error *out, const uc_probability_rows *rows,
                                     const uint32_t *labels, const uc_context *context);
/* Makes labels and gold classes, positions in `names`, those of the columns (probability_file.c). */
uc_status uc_probability_classes(uc_names *classes, uint32_t *labels, uint32_t *gold, size_t count,
                                 const uc_names *names, size_t K, const char *source);

#endif
