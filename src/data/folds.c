/* Folds of a data set, one after the other. A fold's rows are copied only when its turn comes, so that
 * memory holds only the folds in use. */
#include "data/folds.h"

#include <assert.h>

#include "data/table.h"

unsigned uc_folds_at_most(const uc_dataset *data, unsigned wanted)
{
    const size_t units = uc_dataset_fold_units(data);
    if (units < wanted)
        return (unsigned)units;
    return wanted;
}

uc_status uc_folds_begin(uc_folds *out, const uc_dataset *data, unsigned count, uint64_t seed,
                         const uc_context *context)
{
    uint32_t *of_row = uc_alloc(data->X.rows, sizeof *of_row);
    if (!of_row)
        return UC_ERR_NOMEM;
    const uc_status status = uc_dataset_folds(of_row, data, count, true, seed, context);
    if (status != UC_OK) {
        uc_free(of_row);
        return status;
    }
    for (size_t i = 0; i < data->X.rows; i++)
        assert(of_row[i] < count);
    *out = (uc_folds){.data = data, .of_row = of_row, .count = count, .shares = 1};
    return UC_OK;
}

void uc_folds_free(uc_folds *self)
{
    uc_free(self->of_row);
    *self = (uc_folds){0};
}

/* The state of a loop over folds, shared by its jobs. */
typedef struct loop {
    uc_folds *folds;
    size_t first; /* number of the first job */
    uc_fold_job *job;
    void *user;
} loop;

/* The numbers of the held-out rows; the caller frees them. */
static size_t *held_out_rows(const uc_folds *self, unsigned fold)
{
    size_t *rows = uc_alloc(self->data->X.rows, sizeof *rows), found = 0;
    for (size_t i = 0; i < self->data->X.rows && rows; i++)
        if (self->of_row[i] == fold)
            rows[found++] = i;
    return rows;
}

static uc_status run_job(size_t number, const uc_context *context, void *user)
{
    const loop *self = user;
    uc_folds *folds = self->folds;
    const size_t job = self->first + number;
    const unsigned fold_number = (unsigned)(job / folds->shares);
    uc_part part = {&folds->progress, context};
    const uc_context inner = uc_context_of_part(&part);
    assert(fold_number < folds->count);
    size_t *rows = held_out_rows(folds, fold_number);
    if (!rows)
        return UC_ERR_NOMEM;
    uc_fold fold = {.number = fold_number,
                    .share = job % folds->shares,
                    .rows = rows,
                    .context = context,
                    .progress = &part};
    if (folds->progress.task)
        fold.context = &inner;
    uc_status status = uc_dataset_fold_split(&fold.train, &fold.held_out, folds->data, folds->of_row,
                                             fold_number, fold.context);
    if (status == UC_OK)
        status = uc_encode_again(&fold.train, &fold.held_out, fold.context);
    if (status == UC_OK)
        status = self->job(&fold, self->user);
    uc_dataset_free(&fold.train);
    uc_dataset_free(&fold.held_out);
    uc_free(rows);
    return status;
}

uc_status uc_folds_each(uc_folds *self, uc_fold_job *job, void *user, const uc_context *context)
{
    loop all = {self, 0, job, user};
    for (size_t number = 0; number < self->count * self->shares; number++) {
        const uc_status status = run_job(number, context, &all);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}

uc_status uc_folds_concurrently(uc_folds *self, size_t first, size_t last, uc_fold_job *job, void *user,
                                const uc_context *context)
{
    assert(first <= last && last <= self->count * self->shares);
    loop some = {self, first, job, user};
    return uc_run_concurrently(context, last - first, run_job, &some);
}
