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
