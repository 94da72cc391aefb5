/*
 * Plans for dual coordinate descent (dual.c): into how many parts the rows of a convex machine are cut, how
 * often these join their changes, and when something else would be faster.
 *
 *   P, m      parts, and the rows that each processes between two joins
 *   n, d, e   rows, columns, entries per row
 *
 * Joining costs as much as about d entries of every part, which should be little compared with m e. What the
 * parts do not know about each other grows with P m, and costs epochs. So m is as small, and P as large, as
 * these two allow; P is at least 2, unless there is too little to do. All of it depends on the size of the
 * whole data alone, not on threads or processes.
 */
#include <math.h>

#include "data/exchange.h"
#include "learn/svm/svm.h"

#define ROWS_IN_FLIGHT 256.0       /* P m, if P > 2 */
#define LEAST_ROWS_PER_ROUND 32.0  /* m */
#define ENTRIES_PER_WEIGHT 6.0     /* m e / d */
#define LEAST_ROWS_PER_PART 2048.0 /* or one part is fast enough */
#define LEAST_ROUNDS 4.0           /* per epoch */
#define COPY_BYTES 64e6            /* of all copies of w, one per part */
#define FIRST_MERGED 11            /* epoch from which several parts may become one */
#define MOST_TOGETHER 45.0         /* epochs still to come, with several parts */
#define MOST_TO_COME 150.0 /* epochs still to come; L-BFGS seldom needs more if coordinates converge slowly */
#define L_BFGS_VECTORS 24.0 /* of d numbers, which may be needed after the parts */

uc_svm_plan uc_svm_plan_for(size_t rows, size_t columns, double entries)
{
    const double n = (double)rows, d = (double)columns;
    const double m = fmax(LEAST_ROWS_PER_ROUND, ENTRIES_PER_WEIGHT * d / fmax(1.0, entries / n));
    size_t parts = UC_SVM_MOST_PARTS;
    while (parts > 2 && (double)parts * m > ROWS_IN_FLIGHT)
        parts /= 2;
    const double least = fmax(LEAST_ROWS_PER_PART, LEAST_ROUNDS * m);
    while (parts > 1 && ((double)parts * least > n || (double)parts * d * sizeof(double) > COPY_BYTES))
        parts /= 2;
    return (uc_svm_plan){parts, m};
}

uc_status uc_svm_fits_all(bool *out, const uc_matrix *X, size_t rows, double entries,
                          const uc_context *context)
{
    /* While the rows arrive, there are two copies of them. */
    const double bytes = 2.0 * (X->offsets ? 8.0 : 4.0) * entries + uc_svm_dual_bytes(rows, X->cols, entries);
    double lacking = rows > UINT32_MAX || uc_memory_check(context, bytes, "all rows") != UC_OK;
    const uc_status status = uc_comm_sum(uc_comm_of(context), &lacking, 1);
    *out = lacking == 0.0;
    return status;
}

/* Gives each process whole parts, as evenly as possible. If the rows are distributed like that already, they
 * stay where they are. */
static uc_status deal_parts(uc_dataset *out, const uc_dataset *data, size_t rows, size_t parts,
                            const uc_context *context)
{
    const size_t processes = (size_t)context->comm->size;
    uc_share share;
    uc_status status = uc_share_of(&share, context, data->X.rows);
    size_t *starts = uc_alloc(processes + 1, sizeof *starts);
    if (!starts)
        return UC_ERR_NOMEM;
    for (size_t r = 0; r <= processes; r++)
        starts[r] = uc_even_start(rows, parts, (parts * r + processes / 2) / processes);
    const size_t rank = (size_t)context->comm->rank;
    double others =
        status != UC_OK || share.first != starts[rank] || share.first + data->X.rows != starts[rank + 1];
    if (status == UC_OK)
        status = uc_comm_sum(context->comm, &others, 1);
    if (status == UC_OK && others > 0.0)
        status = uc_deal_rows(out, data, starts, context);
    uc_free(starts);
    return status;
}

uc_status uc_svm_arrange(uc_dataset *out, bool *possible, uc_context *context, const uc_dataset *data,
                         size_t rows)
{
    double entries = (double)uc_matrix_entries(&data->X);
    *possible = rows <= UINT32_MAX;
    if (!uc_is_shared(context))
        return UC_OK;
    uc_status status = uc_comm_sum(context->comm, &entries, 1);
    const size_t parts = uc_svm_plan_for(rows, data->X.cols, entries).parts;
    if (status == UC_OK && parts == 1)
        status = uc_svm_fits_all(possible, &data->X, rows, entries, context);
    if (status != UC_OK || !*possible)
        return status;
    if (parts > 1)
        return deal_parts(out, data, rows, parts, context);
    status = uc_gather_dataset(out, data, NULL, 0, context);
    *context = uc_context_alone(context);
    return status;
}

double uc_svm_dual_bytes(size_t rows, size_t columns, double entries)
{
    const double vectors = (double)uc_svm_plan_for(rows, columns, entries).parts + L_BFGS_VECTORS;
    return (3.0 * sizeof(double) + sizeof(uint32_t)) * (double)rows +
           sizeof(double) * vectors * (double)columns;
}

bool uc_svm_keeps_pace(uc_svm_pace *last, uint64_t epoch, double gap, double target)
{
    if (epoch < 2 * last->epoch)
        return true;
    const double fall = log(last->gap / gap) / (double)(epoch - last->epoch);
    *last = (uc_svm_pace){epoch, gap};
    return MOST_TO_COME * fall >= log(gap / target);
}

/* Parts slow down at the end, if at all, so only the last two checks count; the gap may increase in
 * between. */
bool uc_svm_slows_down(uc_svm_pace *recent, uint64_t epoch, double gap, double target)
{
    const double least = fmin(gap, recent[1].gap);
    const double fall = log(recent[0].gap / least) / (double)(epoch - recent[0].epoch);
    recent[0] = recent[1];
    recent[1] = (uc_svm_pace){epoch, least};
    return epoch >= FIRST_MERGED && MOST_TOGETHER * fall < log(least / target);
}
