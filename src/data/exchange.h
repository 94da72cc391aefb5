/* Rows that are distributed over several processes. They are numbered consecutively over all processes, in
 * the order of the ranks. */
#ifndef UC_DATA_EXCHANGE_H
#define UC_DATA_EXCHANGE_H

#include "parallel/parallel.h"
#include "unconfuse/dataset.h"

/* Gives every process the rows with the numbers rows[0..count), in that order; the list is the same in all
 * processes. NULL: all rows. With one process this is uc_matrix_subset or uc_dataset_subset. */
uc_status uc_gather_matrix(uc_matrix *out, const uc_matrix *X, const size_t *rows, size_t count,
                           const uc_context *context);
uc_status uc_gather_dataset(uc_dataset *out, const uc_dataset *data, const size_t *rows, size_t count,
                            const uc_context *context);
/* The labels and bags of all rows, without features: *out has y, bag and X.rows; classes and bags are
 * borrowed. Freed with uc_free_labels. */
uc_status uc_gather_labels(uc_dataset *out, const uc_dataset *data, const uc_context *context);
void uc_free_labels(uc_dataset *self);

/* Redistributes the rows: process r gets a copy of rows starts[r] .. starts[r + 1] - 1. `starts` has one
 * entry more than there are processes. */
uc_status uc_deal_rows(uc_dataset *out, const uc_dataset *data, const size_t *starts,
                       const uc_context *context);
/* Even shares in the form that uc_deal_rows expects; the caller frees *starts with uc_free. */
uc_status uc_even_starts(size_t **starts, size_t total, const uc_comm *comm);

/* The position of a label, which is added if it is new. If the list already has the same number in another
 * spelling, its position is returned and the name becomes the shortest spelling (spelling.c). */
uc_status uc_names_add_label(uint32_t *index, uc_names *self, const char *name, size_t length);
/* Merges the names of all processes into one list, in the order of first appearance; renumber[old position]
 * is the new position. If they are labels, several spellings of a number become one name
 * (uc_names_add_label). */
uc_status uc_merge_names(uc_names *self, uint32_t *renumber, bool labels, const uc_context *context);

#endif
