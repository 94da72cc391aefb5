/*
 * Scores and predictions of rows by fits that have not used their labels in any way. Leave-one-out takes a
 * row out of the fit to R, but its label was among those that determined R; with few rows of a class the
 * error then looks too small. Here the rows of each of FOLDS parts are treated as unlabelled in turn, and
 * everything is repeated with the labels of the others: the first fit, `structure` or `labels`, and the
 * model's fit. The views do not depend on labels and are kept. If a class has many rows, leave-one-out gives
 * the same result and costs nothing.
 */
#include <string.h>

#include "learn/audit/views.h"
#include "linalg/linalg.h"
#include "unconfuse/random.h"

#define FOLDS 5
#define SEQUENCE UINT64_C(0x666f6c64) /* "fold": assigns rows to folds */

typedef struct holding {
    const uc_labelled *labelled;
    const uc_audit_view *views;
    size_t views_count;
    size_t first; /* number of this process's first row among those of all */
    uint64_t seed;
    uint32_t *gold;
    uc_annotation *items;
    double *R, *S, *fitted, *pi;
} holding;

static unsigned fold_of(const holding *self, size_t row)
{
    uc_rng rng = uc_rng_make(self->seed, SEQUENCE + ((uint64_t)(self->first + row) << 40));
    return (unsigned)uc_rng_below(&rng, FOLDS);
}

/* The annotations of the other folds; gold labels of this fold are hidden too. */
static uc_status hide(uc_annotations *out, const holding *self, unsigned fold)
{
    const uc_annotations *all = self->labelled->annotations;
    size_t count = 0;
    for (size_t i = 0; i < all->rows; i++) {
        const bool hidden = fold_of(self, i) == fold;
        if (self->gold)
            self->gold[i] = hidden ? UC_NONE : self->labelled->gold[i];
        for (size_t a = all->first[i]; a < all->first[i + 1] && !hidden; a++)
            self->items[count++] = all->items[a];
    }
    return uc_annotations_make(out, self->items, count, all->rows, all->annotators, all->K,
                               self->labelled->context);
}

/* Copies the scores of the fold's rows. */
static void take(double *out, const double *S, const holding *self, unsigned fold)
{
    const size_t K = self->labelled->annotations->K;
    for (size_t i = 0; i < self->labelled->annotations->rows; i++)
        if (fold_of(self, i) == fold)
            memcpy(out + i * K, S + i * K, K * sizeof *S);
}

static uc_status run_fold(uc_audit_fit *out, const holding *self, const uc_labelled *labelled, unsigned fold,
                          const uc_path *whole)
{
    const size_t size = out->rows * out->K;
    uc_path path = {0};
    unsigned steps;
    double temperature;
    uc_labelled_start(self->R, labelled);
    uc_status status = uc_audit_scores(self->S, self->pi, self->views, self->views_count, labelled, self->R);
    if (status != UC_OK)
        return status;
    take(out->first, self->S, self, fold);
    if (out->mode == UC_AUDIT_STRUCTURE) {
        status = uc_structure(&path, self->R, self->S, self->views, self->views_count, labelled,
                              UC_AUDIT_MOST_STEPS);
        memcpy(self->fitted, self->R, size * sizeof *self->R);
    } else {
        status = uc_believe_labels(self->R, self->S, &temperature, &steps, self->fitted, self->views,
                                   self->views_count, labelled, whole);
    }
    if (status != UC_OK)
        return status;
    take(out->held_out, self->S, self, fold);
    status = uc_audit_scores(self->S, self->pi, self->views, self->views_count, labelled, self->fitted);
    for (size_t i = 0; i < out->rows && status == UC_OK; i++)
        if (fold_of(self, i) == fold)
            out->predicted[i] = (uint32_t)uc_argmax(self->S + i * out->K, out->K);
    return status;
}

static uc_status run_folds(uc_audit_fit *out, const holding *self, const uc_path *path)
{
    uc_status status = UC_OK;
    for (unsigned fold = 0; fold < FOLDS && status == UC_OK; fold++) {
        uc_annotations others = {0};
        uc_labelled labelled = *self->labelled;
        status = hide(&others, self, fold);
        labelled.annotations = &others;
        labelled.gold = self->gold;
        if (status == UC_OK)
            status = run_fold(out, self, &labelled, fold, path);
        uc_annotations_free(&others);
    }
    return status;
}

uc_status uc_audit_hold_out(uc_audit_fit *out, const uc_audit_view *views, size_t count,
                            const uc_labelled *labelled, const uc_path *path, uint64_t seed)
{
    const uc_annotations *annotations = labelled->annotations;
    const size_t size = out->rows * out->K;
    uc_share share = {0};
    holding self = {labelled,
                    views,
                    count,
                    0,
                    seed,
                    labelled->gold ? uc_alloc(out->rows, sizeof *self.gold) : NULL,
                    uc_alloc(annotations->count, sizeof *self.items),
                    uc_alloc(size, sizeof(double)),
                    uc_alloc(size, sizeof(double)),
                    uc_alloc(size, sizeof(double)),
                    uc_alloc(out->K, sizeof(double))};
    uc_status status = UC_OK;
    if (!self.items || !self.R || !self.S || !self.fitted || !self.pi || (labelled->gold && !self.gold))
        status = UC_ERR_NOMEM;
    status = uc_comm_agree(uc_comm_of(labelled->context), status);
    if (status == UC_OK)
        status = uc_share_of(&share, labelled->context, out->rows);
    self.first = share.first;
    if (status == UC_OK)
        status = run_folds(out, &self, path);
    uc_free(self.gold);
    uc_free(self.items);
    uc_free(self.R);
    uc_free(self.S);
    uc_free(self.fitted);
    uc_free(self.pi);
    return status;
}
