/*
 * How annotators confuse classes, estimated from the current beliefs about the true classes.
 *
 *   N_j[z][l] = sum over j's labels l of u_i R_iz          u_i  the weight of row i
 *   P         = rows of (sum_j N_j + I + 1/K), normalised
 *   C         = P for one annotator;  C_j = rows of (N_j + 10 P), normalised, for several
 *
 * Only the columns l of labels that an annotator has used are kept; no row needs the others.
 *
 * N is a sum over the rows. With many classes the lanes of such a sum would be larger than R, and clearing
 * and adding them more work than the rows, so a block counts all rows instead, for some of the true classes.
 */
#include <math.h>
#include <string.h>

#include "learn/audit/audit.h"

#define SHRINKAGE 10.0 /* of an annotator's matrix towards the matrix of all, in labels per true class */
#define MANY_CLASSES ((size_t)900)
#define CLASSES_PER_BLOCK ((size_t)256)
#define CLASSES_AT_ONCE ((size_t)32) /* rows of P that a cache holds while counts are turned into columns */

uc_status uc_confusion_create(uc_confusion *out, const uc_annotations *annotations)
{
    const size_t K = annotations->K, pairs = annotations->pairs;
    uc_confusion self = {K, pairs, uc_alloc(K * K, sizeof(double)), uc_alloc(pairs * K, sizeof(double)),
                         uc_alloc(pairs * K, sizeof(double))};
    if (!self.P || !self.logs || !self.counts) {
        uc_confusion_free(&self);
        return UC_ERR_NOMEM;
    }
    *out = self;
    return UC_OK;
}

void uc_confusion_free(uc_confusion *self)
{
    uc_free(self->P);
    uc_free(self->logs);
    uc_free(self->counts);
    *self = (uc_confusion){0};
}

typedef struct count_job {
    const uc_labelled *labelled;
    const double *R;
    double *counts;
} count_job;

/* Adds the labels of the rows to N, for the true classes `classes`. */
static void count_labels(double *counts, const count_job *job, uc_range rows, uc_range classes)
{
    const uc_annotations *all = job->labelled->annotations;
    const size_t K = all->K;
    for (size_t i = rows.first; i < rows.last; i++) {
        const double weight = job->labelled->weights ? job->labelled->weights[i] : 1.0;
        for (size_t a = all->first[i]; a < all->first[i + 1]; a++)
            for (size_t z = classes.first; z < classes.last; z++)
                counts[all->pair[a] * K + z] += weight * job->R[i * K + z];
    }
}

static uc_status count_rows(double *sum, size_t first, size_t last, void *user)
{
    const count_job *job = user;
    count_labels(sum, job, (uc_range){first, last}, (uc_range){0, job->labelled->annotations->K});
    return UC_OK;
}

static uc_status count_classes(size_t block, void *user)
{
    const count_job *job = user;
    const uc_annotations *all = job->labelled->annotations;
    count_labels(job->counts, job, (uc_range){0, all->rows},
                 uc_block_range(block, all->K, CLASSES_PER_BLOCK));
    return UC_OK;
}

/* N over all processes. */
static uc_status count(uc_confusion *self, const uc_labelled *labelled, const double *R)
{
    const uc_context *context = labelled->context;
    count_job job = {labelled, R, self->counts};
    const size_t length = self->pairs * self->K;
    memset(self->counts, 0, length * sizeof *self->counts);
    if (self->K <= MANY_CLASSES)
        return uc_sum_over(context, labelled->annotations->rows, count_rows, &job, self->counts, length);
    uc_status status =
        uc_run_blocks(context, uc_block_count(self->K, CLASSES_PER_BLOCK), count_classes, &job);
    status = uc_comm_agree(uc_comm_of(context), status);
    return status == UC_OK ? uc_comm_sum(uc_comm_of(context), self->counts, length) : status;
}

static void normalize_rows(double *P, size_t rows, size_t K)
{
    for (size_t z = 0; z < rows; z++) {
        double sum = 0.0;
        for (size_t l = 0; l < K; l++)
            sum += P[z * K + l];
        for (size_t l = 0; l < K; l++)
            P[z * K + l] /= sum;
    }
}

static void find_common(uc_confusion *self, const uc_annotations *all, uc_range classes)
{
    const size_t K = self->K;
    for (size_t z = classes.first; z < classes.last; z++)
        for (size_t l = 0; l < K; l++)
            self->P[z * K + l] = (double)(z == l) + 1.0 / (double)K;
    for (size_t p = 0; p < self->pairs; p++)
        for (size_t z = classes.first; z < classes.last; z++)
            self->P[z * K + all->label_of[p]] += self->counts[p * K + z];
    normalize_rows(self->P + classes.first * K, classes.last - classes.first, K);
}

/* Processes the pairs of one annotator, starting at `first`; returns the first pair of the next annotator. */
static size_t take_annotator(uc_confusion *self, const uc_annotations *all, size_t first, uc_range classes)
{
    const size_t K = self->K;
    double sums[CLASSES_AT_ONCE] = {0};
    size_t last = first;
    for (; last < self->pairs && all->annotator_of[last] == all->annotator_of[first]; last++)
        for (size_t z = classes.first; z < classes.last; z++)
            sums[z - classes.first] += self->counts[last * K + z];
    for (size_t p = first; p < last; p++)
        for (size_t z = classes.first; z < classes.last; z++)
            self->logs[p * K + z] =
                log((self->counts[p * K + z] + SHRINKAGE * self->P[z * K + all->label_of[p]]) /
                    (sums[z - classes.first] + SHRINKAGE));
    return last;
}

static void take_logs(uc_confusion *self, const uc_annotations *all, uc_range classes)
{
    const size_t K = self->K;
    for (size_t p = 0; p < self->pairs && all->annotators > 1;)
        p = take_annotator(self, all, p, classes);
    for (size_t p = 0; p < self->pairs && all->annotators == 1; p++)
        for (size_t z = classes.first; z < classes.last; z++)
            self->logs[p * K + z] = log(self->P[z * K + all->label_of[p]]);
}

typedef struct matrix_job {
    uc_confusion *self;
    const uc_annotations *annotations;
} matrix_job;

/* A row of P, and of every C_j, depends only on the counts of its true class. */
static uc_status find_classes(size_t block, void *user)
{
    const matrix_job *job = user;
    const uc_range classes = uc_block_range(block, job->self->K, CLASSES_AT_ONCE);
    find_common(job->self, job->annotations, classes);
    take_logs(job->self, job->annotations, classes);
    return UC_OK;
}

uc_status uc_confusion_find(uc_confusion *self, const uc_labelled *labelled, const double *R)
{
    matrix_job job = {self, labelled->annotations};
    const uc_context fitting = uc_context_for_work(labelled->context, (double)self->pairs * (double)self->K);
    const uc_status status = count(self, labelled, R);
    if (status != UC_OK)
        return status;
    return uc_run_blocks(&fitting, uc_block_count(self->K, CLASSES_AT_ONCE), find_classes, &job);
}

void uc_confusion_of_row(double *LL, const uc_confusion *self, const uc_labelled *labelled, size_t row)
{
    const uc_annotations *all = labelled->annotations;
    const size_t K = self->K;
    memset(LL, 0, K * sizeof *LL);
    for (size_t a = all->first[row]; a < all->first[row + 1]; a++)
        for (size_t z = 0; z < K; z++)
            LL[z] += self->logs[all->pair[a] * K + z];
    if (!labelled->gold || labelled->gold[row] == UC_NONE)
        return;
    for (size_t z = 0; z < K; z++)
        if (z != labelled->gold[row])
            LL[z] = -INFINITY;
}

void uc_confusion_of_annotator(double *C, const uc_confusion *self, const uc_labelled *labelled,
                               uint32_t annotator)
{
    const uc_annotations *all = labelled->annotations;
    const size_t K = self->K;
    const double shrinkage = all->annotators == 1 ? 0.0 : SHRINKAGE;
    for (size_t i = 0; i < K * K; i++)
        C[i] = shrinkage * self->P[i];
    if (all->annotators == 1)
        memcpy(C, self->P, K * K * sizeof *C);
    for (size_t p = 0; p < self->pairs && all->annotators > 1; p++)
        for (size_t z = 0; z < K && all->annotator_of[p] == annotator; z++)
            C[z * K + all->label_of[p]] += self->counts[p * K + z];
    normalize_rows(C, K, K);
}
