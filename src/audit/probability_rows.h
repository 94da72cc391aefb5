/* The probabilities of a model, read once; only those of each row's most probable classes and of its label
 * are kept. */
#ifndef UC_AUDIT_PROBABILITY_ROWS_H
#define UC_AUDIT_PROBABILITY_ROWS_H

#include "parallel/parallel.h"
#include "unconfuse/audit.h"

/* The temperatures to try. */
#define UC_TEMPERATURES 10
extern const double uc_temperatures[UC_TEMPERATURES];

typedef struct uc_probability_rows {
    size_t rows, K;
    size_t kept;       /* classes kept per row; K: all */
    uint32_t *class;   /* rows x kept; the label, if there is one, is always among them */
    float *log_p;      /* of each kept class */
    double *log_sum;   /* rows x UC_TEMPERATURES: log of the sum of p^(1/T) over all K classes */
} uc_probability_rows; /* zero-initialised may be freed */

void uc_probability_rows_free(uc_probability_rows *self);
/* Allocates rows of K probabilities and keeps as many per row as `entries` for all rows allow (64 at
 * least). */
uc_status uc_probability_rows_create(uc_probability_rows *out, size_t rows, size_t K, size_t entries);
/* Sets row i, whose probabilities p[0..K) sum to 1; `label` may be UC_NONE. */
void uc_probability_rows_set(uc_probability_rows *self, size_t i, const float *p, uint32_t label);

/* Rows grouped by label: those of label l are order[begin[l]] .. order[begin[l + 1] - 1]; group K has the
 * rows without a label. */
typedef struct uc_label_groups {
    size_t *begin; /* K + 2 */
    uint32_t *order;
} uc_label_groups;

/* Lists the cells that the rows of each group, group K included, can add to. (*place)[e], which the caller
 * frees, is the number of entry e's cell among those of its row's group (probability_cells.c). */
uc_status uc_probability_cells_list(uc_probability_cells *out, uint32_t **place,
                                    const uc_label_groups *groups, const uc_probability_rows *rows,
                                    const uint32_t *gold, const uc_context *context);
void uc_probability_cells_free(uc_probability_cells *self);
/* Sets `totals`: the counts of all labels, plus `background` for every class. */
void uc_probability_cells_add_up(uc_probability_cells *self, double background);
/* An entry of the normalised rows of N + I + 1/K. */
static inline double uc_probability_share(double count, bool same, size_t K, double total)
{
    return (count + (same ? 1.0 : 0.0) + 1.0 / (double)K) / (total + 2.0);
}

/* Finds true classes from these rows; sets all of *out except names and labels (probabilities.c). */
uc_status uc_probability_audit_find(uc_probability_audit *out, const uc_probability_rows *rows,
                                    const uint32_t *labels, const uint32_t *gold, const uc_context *context);
/* The error of the most probable classes on true classes; at least one row must have a label
 * (probability_error.c). */
uc_status uc_probability_clean_error(uc_clean_error *out, const uc_probability_rows *rows,
                                     const uint32_t *labels, const uc_context *context);
/* Converts labels and gold classes from positions in `names` to column classes (probability_file.c). */
uc_status uc_probability_classes(uc_names *classes, uint32_t *labels, uint32_t *gold, size_t count,
                                 const uc_names *names, size_t K, const char *source);

#endif
