/*
 * Convex support vector machines by dual coordinate descent (Hsieh, Chang, Lin, Keerthi, Sundararajan, ICML
 * 2008), for the smoothed hinge, on parts of the rows in parallel (Lee, Chang, Distributed block-diagonal
 * approximation methods, 2019). With U the weight of an example's loss (C/n, times its class's and its own),
 * and L its smoothed hinge loss:
 *
 *   L(g) = max over 0 <= a <= 1 of a (1 + h - g) - h a^2,        so the dual is
 *
 *   maximise  sum_i (1 + h) alpha_i - h/U alpha_i^2  -  1/2 |w|^2
 *             w = sum_i alpha_i t_i x_i,   0 <= alpha_i <= U
 *
 * An epoch sets the alpha of one example after the other, in a newly drawn order, to its best value. This
 * costs a product of the example's row with w and at most an addition of the row to w. Examples whose alpha
 * stays at a bound are left out until the next check.
 *
 * The unpenalised offset b requires s = sum_i alpha_i t_i = 0. It is found by proximal steps: (b -
 * centre)^2/(2 rho) is added to the objective, so that b = centre + rho s, and after every epoch the centre
 * moves to b.
 *
 * Parts. The rows are cut into P parts. In a round each part processes m of its examples on its own copy of b
 * and w, as if the others did not change; then the changes D alpha and D w = sum_p D w_p are joined. But the
 * others do change, and what all parts see alike (a frequent column, say) they correct P times over. Two
 * things limit that: a part counts its own changes sigma times, 1 <= sigma <= P (Ma, Smith, Jaggi, Jordan,
 * Richtarik, Takac, ICML 2015), and the joint change gets its best step, since the dual is quadratic along
 * it:
 *
 *   eta = - slope / curve,     slope = <w, D w> + b D s + sum_i (2h/U alpha_i - 1 - h) D alpha_i
 *                              curve = |D w|^2 + rho D s^2 + sum_i 2h/U D alpha_i^2
 *
 * cut off at 1, so that every alpha stays within its bounds. sigma increases when eta is below 1 and
 * decreases when it is well above. The loss compared with a single part grows with P m, so P is as large as
 * m allows (uc_svm_plan_for): joining costs as much as d entries of a part, so rows with few entries need a
 * large m.
 * Weakly regularised machines have directions in which the alphas of several parts could change against each
 * other at no cost, but the alphas of a single part cannot; if the gap decreases too slowly, the parts become
 * one. Parts are cut by the row numbers in the whole data, and sums over parts pass through uc_comm_sum, once
 * per round: neither threads nor processes change what is computed. When the parts become one, every process
 * gets the rows of all processes and continues alone; if its memory cannot hold them, L-BFGS takes over.
 *
 * A check adds up, over all examples, how far each is from equality in the Fenchel-Young inequality (no term
 * is negative):
 *
 *   gap = sum_i U L(g_i) + alpha_i g_i - (1 + h) alpha_i + h/U alpha_i^2
 *
 * The objective is at most gap + |b - b*| |s| above its minimum; |b - b*| is taken to be 1 + |b|.
 *
 * Rows without a label, which the rules for bags leave out (bags.c), belong to a part but are never in its
 * order.
 */
#include <math.h>
#include <string.h>

#include "data/exchange.h"
#include "data/weights.h"
#include "learn/svm/svm.h"
#include "linalg/linalg.h"

#define STREAM 8
#define ROWS_TOGETHER ((size_t)8) /* neighbours in memory that stay together in any order: half the time */
#define ROWS_AHEAD ((size_t)4)    /* prefetched from memory */
#define COLUMNS_PER_TILE ((size_t)1024)
#define OFFSET_TURNS 300.0 /* times per epoch that b forgets; of 30 to 300, on eight data sets */
#define FIRST_JUDGED 8 /* epoch from which the pace is judged, whenever the number of epochs has doubled */

/* Rows that are processed by one thread at a time, one example after the other. */
typedef struct part {
    size_t rows;
    uint32_t *order;    /* its examples; those left out come after the first `active` */
    size_t active;      /* in this epoch */
    size_t next, kept;  /* the next example, and how many before it remain active */
    size_t kept_before; /* `kept` before this round */
    double largest;     /* slope in the last epoch: an alpha at its bound with a larger slope stays there */
    double most;        /* the largest slope in this epoch */
    double *point;      /* b and w, as changed by this part */
    double sum;         /* D s of this round */
    double linear, square; /* this round's sums over i in slope and curve */
    uc_rng rng;
} part;

typedef struct dual {
    const uc_svm *svm;
    const uc_context *context;
    uc_svm_plan plan;
    size_t total_rows, first_row; /* number of rows over all processes; the first of this process */
    double examples;              /* number of rows with a label, over all processes, */
    double total_weight;          /* and the sum of their weights */
    double bound[2], diagonal[2]; /* U, and 2h/U, for examples of weight 1 labelled negative, positive */
    double *alpha, *norm2;
    uint32_t *order;
    double *point;           /* b and w */
    double rho, centre, sum; /* `sum`: of alpha_i t_i */
    part *parts;
    size_t count;         /* number of this process's parts */
    double all_parts;     /* number of parts of all processes */
    double sigma, active; /* active: number of examples, over all processes */
    size_t round, rounds;
    bool together;  /* the parts work concurrently, on copies; the following are for that alone */
    double *copies; /* of b and w, one per part */
    double *before; /* alpha before this round */
    double *change; /* sums over the parts, followed by D w */
    double step;    /* eta */
    /* used once every process has the rows of all */
    uc_dataset all;
    uc_svm whole;
    uc_context alone;
} dual;

static int label_of(const uc_svm *self, size_t i)
{
    return self->data->y[i] == self->positive;
}

/* ---- one part's share of a round ---- */

static void draw_order(part *self)
{
    const size_t groups = self->active / ROWS_TOGETHER;
    for (size_t i = 0; i + 1 < groups; i++) {
        uint32_t *a = self->order + i * ROWS_TOGETHER,
                 *b = a + uc_rng_below(&self->rng, groups - i) * ROWS_TOGETHER;
        for (size_t k = 0; k < ROWS_TOGETHER; k++) {
            const uint32_t swap = a[k];
            a[k] = b[k];
            b[k] = swap;
        }
    }
}

static void ask_for(uc_row row)
{
    enum { LINE = 16 }; /* floats */
    for (size_t j = 0; j < row.count; j += LINE) {
        __builtin_prefetch(row.values + j);
        if (row.columns)
            __builtin_prefetch(row.columns + j);
    }
}

/* Processes one example; false if it can be left out. */
static bool improve(const dual *self, part *mine, size_t i)
{
    const uc_svm *svm = self->svm;
    const uc_row row = uc_matrix_row(&svm->data->X, i);
    const int label = label_of(svm, i);
    const double sign = label ? 1.0 : -1.0, alpha = self->alpha[i], sigma = self->sigma;
    double bound = self->bound[label], diagonal = self->diagonal[label];
    if (svm->data->weights) {
        bound *= svm->data->weights[i];
        diagonal /= svm->data->weights[i];
    }
    const double margin = sign * (mine->point[0] + uc_row_dot(row, mine->point + 1));
    const double slope = margin - 1.0 - svm->smoothing + diagonal * alpha;
    if (self->together)
        self->before[i] = alpha;
    if ((alpha <= 0.0 && slope >= 0.0) || (alpha >= bound && slope <= 0.0))
        return fabs(slope) <= mine->largest;
    mine->most = fmax(mine->most, fabs(slope));
    const double better = alpha - slope / (sigma * (self->norm2[i] + self->rho) + diagonal);
    self->alpha[i] = fmin(fmax(better, 0.0), bound);
    const double change = self->alpha[i] - alpha;
    uc_row_axpy(sigma * sign * change, row, mine->point + 1);
    mine->sum += sign * change;
    mine->linear += (diagonal * alpha - 1.0 - svm->smoothing) * change;
    mine->square += diagonal * change * change;
    mine->point[0] = self->centre + self->rho * (self->sum + sigma * mine->sum);
    return true;
}

static uc_status run_part(size_t number, void *user)
{
    const dual *self = user;
    part *mine = self->parts + number;
    if (self->round == 0) {
        draw_order(mine);
        mine->next = mine->kept = 0;
        mine->most = 0.0;
    }
    if (self->together)
        memcpy(mine->point, self->point, (self->svm->data->X.cols + 1) * sizeof *mine->point);
    mine->kept_before = mine->kept;
    mine->sum = mine->linear = mine->square = 0.0;
    const size_t last = mine->active * (self->round + 1) / self->rounds;
    for (; mine->next < last; mine->next++) {
        const uint32_t i = mine->order[mine->next];
        if (mine->next + ROWS_AHEAD < last)
            ask_for(uc_matrix_row(&self->svm->data->X, mine->order[mine->next + ROWS_AHEAD]));
        if (!improve(self, mine, i))
            continue;
        mine->order[mine->next] = mine->order[mine->kept];
        mine->order[mine->kept++] = i;
    }
    if (self->round + 1 == self->rounds) {
        mine->active = mine->kept;
        mine->largest = mine->most;
    }
    return UC_OK;
}

/* ---- joining the changes of the parts ---- */

enum { SUM, LINEAR, SQUARE, ACTIVE, JOINT }; /* the sums at the beginning of dual's `change` */

static size_t tile_count(const dual *self)
{
    return (self->svm->data->X.cols + COLUMNS_PER_TILE - 1) / COLUMNS_PER_TILE;
}

static size_t tile_width(const dual *self, size_t tile)
{
    const size_t left = self->svm->data->X.cols - tile * COLUMNS_PER_TILE;
    return uc_min_size(left, COLUMNS_PER_TILE);
}

/* D w of this process's parts, for one tile of columns. */
static uc_status add_changes(size_t tile, void *user)
{
    const dual *self = user;
    const size_t first = tile * COLUMNS_PER_TILE, width = tile_width(self, tile);
    double *change = self->change + JOINT + first;
    memset(change, 0, width * sizeof *change);
    for (size_t p = 0; p < self->count; p++)
        uc_axpy(change, 1.0 / self->sigma, self->parts[p].point + 1 + first, width);
    uc_axpy(change, -(double)self->count / self->sigma, self->point + 1 + first, width);
    return UC_OK;
}

static uc_status move_tile(size_t tile, void *user)
{
    const dual *self = user;
    const size_t first = tile * COLUMNS_PER_TILE;
    uc_axpy(self->point + 1 + first, self->step, self->change + JOINT + first, tile_width(self, tile));
    return UC_OK;
}

/* Scales down the changes by `step`; examples that were left out did not change. */
static void shorten(const dual *self, const part *mine)
{
    for (size_t k = mine->kept_before; k < mine->kept; k++) {
        const size_t i = mine->order[k];
        self->alpha[i] = self->before[i] + self->step * (self->alpha[i] - self->before[i]);
    }
}

/* Finds the best step, at most 1, and how cautious the parts should be in the next round. */
static void choose_step(dual *self)
{
    const size_t d = self->svm->data->X.cols;
    const double *sums = self->change, *change = self->change + JOINT;
    const double slope = uc_dot(self->point + 1, change, d) + self->point[0] * sums[SUM] + sums[LINEAR];
    const double curve = uc_dot(change, change, d) + self->rho * sums[SUM] * sums[SUM] + sums[SQUARE];
    const double best = curve > 0.0 ? -slope / curve : 1.0;
    self->step = fmin(fmax(best, 0.0), 1.0);
    if (best < 0.95)
        self->sigma = fmin(1.2 * self->sigma, self->all_parts);
    else if (best > 1.2)
        self->sigma = fmax(0.97 * self->sigma, 1.0);
}

static uc_status join(dual *self)
{
    const size_t d = self->svm->data->X.cols;
    const uc_context fitting = uc_context_for_work(self->context, (double)d * (double)self->count);
    double *sums = self->change;
    memset(sums, 0, JOINT * sizeof *sums);
    for (size_t p = 0; p < self->count; p++) {
        sums[SUM] += self->parts[p].sum;
        sums[LINEAR] += self->parts[p].linear;
        sums[SQUARE] += self->parts[p].square;
        sums[ACTIVE] += (double)self->parts[p].active;
    }
    uc_status status = uc_run_blocks(&fitting, tile_count(self), add_changes, self);
    if (status == UC_OK)
        status = uc_comm_sum(uc_comm_of(self->context), sums, JOINT + d);
    if (status != UC_OK)
        return status;
    choose_step(self);
    self->active = sums[ACTIVE];
    self->sum += self->step * sums[SUM];
    for (size_t p = 0; p < self->count && self->step < 1.0; p++)
        shorten(self, self->parts + p);
    return uc_run_blocks(&fitting, tile_count(self), move_tile, self);
}

static uc_status run_epoch(dual *self)
{
    const double entries = (double)uc_matrix_entries(&self->svm->data->X);
    uc_status status = UC_OK;
    self->rounds = 1;
    if (self->together)
        self->rounds = (size_t)fmax(1.0, self->active / (self->all_parts * self->plan.rows_a_round));
    /* An entry costs more here than where entries are only added, because access is random. */
    const uc_context fitting = uc_context_for_work(self->context, 8.0 * entries / (double)self->rounds);
    for (self->round = 0; self->round < self->rounds && status == UC_OK; self->round++) {
        status = uc_run_blocks(&fitting, self->count, run_part, self);
        if (status == UC_OK && self->together)
            status = join(self);
        else if (self->count > 0)
            self->sum += self->parts[0].sum;
        self->point[0] = self->centre + self->rho * self->sum;
    }
    self->centre = self->point[0];
    self->point[0] = self->centre + self->rho * self->sum;
    return status;
}

/* ---- a check ---- */

enum { GAP, LOSS, SUMS };

static uc_status add_gaps(double *sums, size_t first, size_t last, void *user)
{
    const dual *self = user;
    const uc_svm *svm = self->svm;
    const double scale = svm->cost / self->total_weight;
    for (size_t i = first; i < last; i++) {
        if (svm->data->y[i] == UC_NONE)
            continue;
        const int label = label_of(svm, i);
        const double alpha = self->alpha[i],
                     score = self->point[0] + uc_row_dot(uc_matrix_row(&svm->data->X, i), self->point + 1),
                     margin = label ? score : -score;
        double slope;
        const double weight = uc_row_weight(svm->data, i), diagonal = self->diagonal[label] / weight;
        const double loss = weight * scale * uc_svm_loss_at(&slope, svm, margin, label);
        sums[LOSS] += loss;
        sums[GAP] += loss + alpha * (margin - 1.0 - svm->smoothing + diagonal / 2.0 * alpha);
    }
    return UC_OK;
}

/* The objective, and the largest possible distance from its minimum. Afterwards all examples are active
 * again. */
static uc_status check(double *value, double *gap, dual *self)
{
    const uc_matrix *X = &self->svm->data->X;
    const uc_context fitting = uc_context_for_work(self->context, (double)uc_matrix_entries(X));
    double sums[SUMS] = {0.0};
    const uc_status status = uc_sum_over(&fitting, X->rows, add_gaps, self, sums, SUMS);
    *value = sums[LOSS] + uc_dot(self->point + 1, self->point + 1, X->cols) / 2.0;
    *gap = sums[GAP];
    if (self->svm->free_offset)
        *gap += (1.0 + fabs(self->point[0])) * fabs(self->sum);
    for (size_t p = 0; p < self->count; p++)
        self->parts[p].active = self->parts[p].rows;
    self->active = self->examples;
    return status;
}

/* ---- before the first epoch ---- */

/* Computes the squared lengths of a part's rows; their sum is left in `square`. Rows without a label come
 * last in its order. */
static uc_status begin_part(size_t number, void *user)
{
    const dual *self = user;
    part *mine = self->parts + number;
    const size_t first = (size_t)(mine->order - self->order), all = mine->rows;
    mine->rows = 0;
    for (size_t i = first; i < first + all; i++) {
        if (self->svm->data->y[i] == UC_NONE) {
            mine->order[all - 1 - (i - first - mine->rows)] = (uint32_t)i;
            continue;
        }
        mine->order[mine->rows++] = (uint32_t)i;
        self->norm2[i] = uc_row_norm2(uc_matrix_row(&self->svm->data->X, i));
        mine->square += self->norm2[i];
    }
    mine->active = mine->rows;
    return UC_OK;
}

static size_t part_start(const dual *self, size_t number)
{
    return uc_even_start(self->total_rows, self->plan.parts, number);
}

/* Cuts all of the data into parts, and keeps those of this process. Processes begin where a part does
 * (uc_svm_arrange). */
static uc_status cut_parts(dual *self)
{
    const size_t first = self->first_row, end = first + self->svm->data->X.rows,
                 stride = (self->svm->data->X.cols + 8) / 8 * 8;
    size_t lowest = 0;
    while (lowest < self->plan.parts && part_start(self, lowest + 1) <= first)
        lowest++;
    self->count = 0;
    while (end > first && lowest + self->count < self->plan.parts &&
           part_start(self, lowest + self->count) < end)
        self->count++;
    self->together = self->plan.parts > 1;
    self->parts = uc_alloc(self->count, sizeof *self->parts);
    if (self->together) {
        self->copies = uc_alloc(self->count * stride, sizeof *self->copies);
        self->before = uc_alloc(self->svm->data->X.rows, sizeof *self->before);
        self->change = uc_alloc(JOINT + self->svm->data->X.cols, sizeof *self->change);
    }
    if (!self->parts || (self->together && (!self->copies || !self->before || !self->change)))
        return UC_ERR_NOMEM;
    for (size_t p = 0; p < self->count; p++) {
        const size_t number = lowest + p, to = uc_min_size(part_start(self, number + 1), end);
        size_t from = first;
        if (p > 0)
            from = part_start(self, number);
        self->parts[p] = (part){.rows = to - from,
                                .active = to - from,
                                .order = self->order + (from - first),
                                .largest = HUGE_VAL,
                                .point = self->together ? self->copies + p * stride : self->point,
                                .rng = uc_rng_make(1 + number, STREAM)};
    }
    return UC_OK;
}

/* rho. It must be so small that it does not make the steps of the alphas much shorter, in all parts together,
 * since b is what they share most. And b forgets an example after about (norm2 + 2h/U) / rho others: if these
 * are few, b follows every single example; if they are more than the rows, it takes many epochs to find b. */
static double offset_step(const dual *self, double norm2, double parts)
{
    const double mean_weight = self->total_weight / self->examples;
    const double diagonal = fmin(self->diagonal[0], self->diagonal[1]) / mean_weight;
    const double harmless = (0.1 * norm2 + 0.25 * diagonal) / parts;
    return fmin(harmless, OFFSET_TURNS * (norm2 + diagonal) / self->examples);
}

static uc_status begin(dual *self, const uc_svm_plan *plan)
{
    const uc_svm *svm = self->svm;
    const uc_comm *comm = uc_comm_of(self->context);
    /* entries, rows with a label, their weights */
    double size[3] = {(double)uc_matrix_entries(&svm->data->X), 0.0, 0.0};
    for (size_t i = 0; i < svm->data->X.rows; i++)
        if (svm->data->y[i] != UC_NONE) {
            size[1] += 1.0;
            size[2] += uc_row_weight(svm->data, i);
        }
    uc_status status = uc_comm_sum(comm, size, 3);
    self->examples = size[1];
    self->total_weight = size[2];
    self->plan = plan ? *plan : uc_svm_plan_for(self->total_rows, svm->data->X.cols, size[0]);
    for (int label = 0; label < 2; label++) {
        double slope; /* of the loss where the slope of the hinge is -1 */
        uc_svm_loss_at(&slope, svm, -svm->smoothing, label);
        self->bound[label] = -slope * svm->cost / self->total_weight;
        self->diagonal[label] = 2.0 * svm->smoothing / self->bound[label];
    }
    if (status == UC_OK)
        status = cut_parts(self);
    const uc_context fitting = uc_context_for_work(self->context, (double)uc_matrix_entries(&svm->data->X));
    if (status == UC_OK)
        status = uc_run_blocks(&fitting, self->count, begin_part, self);
    enum { NORM2, PARTS };
    double sums[] = {0.0, (double)self->count};
    for (size_t p = 0; p < self->count && status == UC_OK; p++)
        sums[NORM2] += self->parts[p].square;
    if (status == UC_OK)
        status = uc_comm_sum(comm, sums, 2);
    if (svm->free_offset)
        self->rho = offset_step(self, sums[NORM2] / self->examples, sums[PARTS]);
    self->all_parts = sums[PARTS];
    self->active = self->examples;
    self->sigma = 1.0;
    return status;
}

/* ---- starting from the alphas of another machine ---- */

/* Adds alpha_i t_i and alpha_i t_i x_i; the sums are s and w. */
static uc_status add_rows(double *sums, size_t first, size_t last, void *user)
{
    const dual *self = user;
    const uc_svm *svm = self->svm;
    for (size_t i = first; i < last; i++) {
        const int label = label_of(svm, i);
        if (svm->data->y[i] == UC_NONE || self->alpha[i] == 0.0)
            continue;
        const double signed_alpha = label ? self->alpha[i] : -self->alpha[i];
        sums[0] += signed_alpha;
        uc_row_axpy(signed_alpha, uc_matrix_row(&svm->data->X, i), sums + 1);
    }
    return UC_OK;
}

/* The offset starts at that machine's, which is in point[0]. */
static uc_status resume(dual *self)
{
    const uc_svm *svm = self->svm;
    const size_t n = svm->data->X.rows, d = svm->data->X.cols;
    const uc_context fitting = uc_context_for_work(self->context, (double)uc_matrix_entries(&svm->data->X));
    for (size_t i = 0; i < n; i++)
        if (svm->data->y[i] != UC_NONE)
            self->alpha[i] = fmin(svm->alpha[i], self->bound[label_of(svm, i)]);
    self->centre = svm->free_offset ? self->point[0] : 0.0;
    memset(self->point, 0, (d + 1) * sizeof *self->point);
    const uc_status status = uc_sum_over(&fitting, n, add_rows, self, self->point, d + 1);
    self->sum = self->point[0];
    self->point[0] = self->centre + self->rho * self->sum;
    return status;
}

/* Replaces an array with one item per row by the array for the rows of all processes. */
static uc_status gather_items(void **items, size_t size, const dual *self)
{
    void *all = NULL;
    const uc_status status =
        uc_comm_gather(&all, NULL, uc_comm_of(self->context), *items, self->svm->data->X.rows * size);
    if (status != UC_OK)
        return status;
    uc_free(*items);
    *items = all;
    return UC_OK;
}

/* Makes the state of the first part, which the first process has, the only part of this process. */
static uc_status gather_first_part(dual *self)
{
    const bool has_first = self->first_row == 0 && self->count > 0;
    void *firsts = NULL;
    const uc_status status = uc_comm_gather(&firsts, NULL, uc_comm_of(self->context), self->parts,
                                            has_first * sizeof *self->parts);
    if (status != UC_OK)
        return status;
    part *first = uc_alloc(1, sizeof *first);
    if (first) {
        memcpy(first, firsts, sizeof *first);
        uc_free(self->parts);
        self->parts = first;
    }
    uc_free(firsts);
    if (!first)
        return UC_ERR_NOMEM;
    return UC_OK;
}

/* Continues with the rows of all processes, as if this process had been alone from the beginning. */
static uc_status take_all_rows(dual *self)
{
    for (size_t i = 0; i < self->svm->data->X.rows; i++)
        self->order[i] += (uint32_t)self->first_row;
    uc_status status = uc_gather_dataset(&self->all, self->svm->data, NULL, 0, self->context);
    if (status != UC_OK)
        return status;
    status = gather_items((void **)&self->alpha, sizeof *self->alpha, self);
    if (status == UC_OK)
        status = gather_items((void **)&self->norm2, sizeof *self->norm2, self);
    if (status == UC_OK)
        status = gather_items((void **)&self->order, sizeof *self->order, self);
    if (status == UC_OK)
        status = gather_first_part(self);
    if (status != UC_OK)
        return status;
    self->whole = *self->svm;
    self->whole.data = &self->all;
    self->svm = &self->whole;
    self->alone = uc_context_alone(self->context);
    self->context = &self->alone;
    self->first_row = 0;
    return UC_OK;
}

/* *fits: whether every process has the memory for the rows of all, and has taken them. */
static uc_status take_all_rows_if_they_fit(bool *fits, dual *self)
{
    const uc_matrix *X = &self->svm->data->X;
    double entries = (double)uc_matrix_entries(X);
    uc_status status = uc_comm_sum(uc_comm_of(self->context), &entries, 1);
    if (status == UC_OK)
        status = uc_svm_fits_all(fits, X, self->total_rows, entries, self->context);
    if (status == UC_OK && *fits)
        status = take_all_rows(self);
    return status;
}

/* Makes all rows a single part, which processes one example after the other. */
static void merge_parts(dual *self)
{
    size_t labelled = 0;
    for (size_t k = 0; k < self->total_rows; k++)
        if (self->svm->data->y[self->order[k]] != UC_NONE)
            self->order[labelled++] = self->order[k];
    self->parts[0] = (part){.rows = labelled,
                            .active = labelled,
                            .order = self->order,
                            .largest = HUGE_VAL,
                            .point = self->point,
                            .rng = self->parts[0].rng};
    self->count = 1;
    self->together = false;
    self->rho *= self->all_parts; /* one example now moves b as far as one in each of the parts did */
    self->all_parts = self->sigma = 1.0;
    self->point[0] = self->centre + self->rho * self->sum;
}

/* ---- the whole descent ---- */

typedef struct progress {
    uint64_t next; /* epoch of the next check */
    uc_svm_pace last, recent[2];
    double gap;
} progress;

/* Checks the progress and decides how to continue; *fast: whether it is worth continuing here. */
static uc_status judge(uc_minimum *out, bool *arrived, bool *fast, progress *so_far, dual *self,
                       double tolerance)
{
    const uint64_t epoch = out->iterations;
    uc_status status = check(&out->value, &so_far->gap, self);
    const double target = tolerance * out->value;
    out->evaluations++;
    so_far->next = epoch + (epoch < 4 ? 1 : epoch / 4);
    *arrived = so_far->gap <= target;
    out->excess = so_far->gap / target;
    bool merges = self->together && uc_svm_slows_down(so_far->recent, epoch, so_far->gap, target);
    if (status == UC_OK && merges && uc_is_shared(self->context))
        status = take_all_rows_if_they_fit(&merges, self);
    if (status == UC_OK && merges) {
        merge_parts(self);
        so_far->last = (uc_svm_pace){epoch, so_far->gap};
    }
    *fast = uc_svm_keeps_pace(&so_far->last, epoch, so_far->gap, target);
    return status;
}

static uc_status descend(uc_minimum *out, bool *arrived, dual *self, uint64_t epochs, double tolerance)
{
    uc_status status = UC_OK;
    progress so_far = {1, {FIRST_JUDGED / 2, HUGE_VAL}, {{0, HUGE_VAL}, {0, HUGE_VAL}}, HUGE_VAL};
    bool fast = true;
    for (uint64_t epoch = 1; epoch <= epochs && status == UC_OK && fast && !*arrived; epoch++) {
        status = run_epoch(self);
        out->iterations = epoch;
        out->evaluations++;
        if (status == UC_OK && (epoch == so_far.next || epoch == epochs))
            status = judge(out, arrived, &fast, &so_far, self, tolerance);
        char detail[96];
        snprintf(detail, sizeof detail, "objective %.6f, at most %.1e above the least", out->value,
                 so_far.gap);
        if (status == UC_OK)
            status = uc_report(self->context, "training", (double)epoch, (double)epochs, detail);
    }
    return status;
}

uc_status uc_svm_dual(uc_minimum *out, bool *arrived, double *point, const uc_svm *svm,
                      const uc_svm_plan *plan, uint64_t epochs, double tolerance, const uc_context *context)
{
    const size_t n = svm->data->X.rows;
    uc_share share;
    uc_status status = uc_share_of(&share, context, n);
    dual self = {
        .svm = svm, .context = context, .total_rows = share.total, .first_row = share.first, .point = point};
    *arrived = false;
    if (status != UC_OK)
        return status;
    self.alpha = uc_alloc(n, sizeof *self.alpha);
    self.norm2 = uc_alloc(n, sizeof *self.norm2);
    self.order = uc_alloc(n, sizeof *self.order);
    status = UC_ERR_NOMEM;
    if (self.alpha && self.norm2 && self.order)
        status = begin(&self, plan);
    if (status == UC_OK && svm->alpha)
        status = resume(&self);
    if (status == UC_OK)
        status = descend(out, arrived, &self, epochs, tolerance);
    if (status == UC_OK && svm->alpha) /* this process's share, if it has taken all rows */
        memcpy(svm->alpha, self.alpha + (share.first - self.first_row), n * sizeof *svm->alpha);
    void *const blocks[] = {self.alpha,  self.norm2,  self.order, self.parts,
                            self.copies, self.before, self.change};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        uc_free(blocks[i]);
    uc_dataset_free(&self.all);
    return status;
}
