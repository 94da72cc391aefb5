/* A sample of the rows with their labels: if there are many rows, the width and the axes are found on a
 * sample. */
#include <string.h>

#include "learn/audit/views.h"
#include "map/map.h"

#define SEQUENCE UINT64_C(0x736f6d65) /* "some": a different draw from that of the landmarks */

void uc_some_rows_free(uc_some_rows *self)
{
    uc_matrix_free(&self->X);
    uc_annotations_free(&self->annotations);
    uc_free(self->gold);
    uc_free(self->weights);
    *self = (uc_some_rows){0};
}

/* Lists which of this process's rows are among the `wanted` rows drawn from all processes. */
static uc_status draw_rows(size_t **out, size_t *count, const uc_labelled *labelled, size_t wanted,
                           uint64_t seed)
{
    uc_share share = {0};
    size_t *rows = NULL;
    const size_t own = labelled->annotations->rows;
    uc_status status = uc_share_of(&share, labelled->context, own);
    *count = 0;
    if (status == UC_OK)
        status = uc_comm_agree(uc_comm_of(labelled->context),
                               uc_map_random_rows(&rows, share.total, wanted, seed ^ SEQUENCE));
    for (size_t i = 0; i < wanted && status == UC_OK; i++)
        if (rows[i] >= share.first && rows[i] < share.first + own)
            rows[(*count)++] = rows[i] - share.first;
    if (status == UC_OK)
        *out = rows;
    else
        uc_free(rows);
    return status;
}

static uc_status take_annotations(uc_annotations *out, const uc_labelled *labelled, const size_t *rows,
                                  size_t count)
{
    const uc_annotations *all = labelled->annotations;
    size_t taken = 0;
    for (size_t i = 0; i < count; i++)
        taken += all->first[rows[i] + 1] - all->first[rows[i]];
    uc_annotation *items = uc_alloc(taken, sizeof *items);
    uc_status status = uc_comm_agree(uc_comm_of(labelled->context), items ? UC_OK : UC_ERR_NOMEM);
    taken = 0;
    for (size_t i = 0; i < count && status == UC_OK; i++)
        for (size_t a = all->first[rows[i]]; a < all->first[rows[i] + 1]; a++) {
            items[taken] = all->items[a];
            items[taken++].row = (uint32_t)i;
        }
    if (status == UC_OK)
        status = uc_annotations_make(out, items, taken, count, all->annotators, all->K, labelled->context);
    uc_free(items);
    return status;
}

static uc_status take_rows(uc_some_rows *self, const uc_matrix *X, const uc_labelled *labelled,
                           const size_t *rows, size_t count)
{
    uc_status status = uc_matrix_subset(&self->X, X, rows, count, labelled->context);
    if (labelled->gold && !(self->gold = uc_alloc(count, sizeof *self->gold)))
        status = UC_ERR_NOMEM;
    if (labelled->weights && !(self->weights = uc_alloc(count, sizeof *self->weights)))
        status = UC_ERR_NOMEM;
    for (size_t i = 0; i < count && status == UC_OK; i++) {
        if (labelled->gold)
            self->gold[i] = labelled->gold[rows[i]];
        if (labelled->weights)
            self->weights[i] = labelled->weights[rows[i]];
    }
    return uc_comm_agree(uc_comm_of(labelled->context), status);
}

uc_status uc_some_rows_draw(uc_some_rows *out, const uc_matrix *X, const uc_labelled *labelled, size_t wanted,
                            uint64_t seed)
{
    uc_some_rows self = {0};
    size_t *rows = NULL, count;
    uc_status status = draw_rows(&rows, &count, labelled, wanted, seed);
    if (status == UC_OK)
        status = take_rows(&self, X, labelled, rows, count);
    if (status == UC_OK)
        status = take_annotations(&self.annotations, labelled, rows, count);
    uc_free(rows);
    if (status == UC_OK)
        *out = self;
    else
        uc_some_rows_free(&self);
    return status;
}
