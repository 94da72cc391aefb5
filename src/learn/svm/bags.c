/*
 * Labels of bags: mi-SVM and MI-SVM (Andrews, Tsochantaridis, Hofmann, Support vector machines for
 * multiple-instance learning, NIPS 15, 2003). A positive bag has at least one positive example, a negative
 * one has none.
 *
 *   f(x) = <w, x> + b      L  the smoothed hinge loss      v+, v-  class weights      C  the cost
 *   t_i   the sign of example i: -1 in every negative bag; unknown in a positive bag
 *   s(B)  the witness of a positive bag B: one of its examples
 *   n     all examples       m  those of negative bags and one per positive bag
 *
 *   instance (mi-SVM)  minimise  1/2 |w|^2 + C/n sum_i v_{t_i} L(t_i f(x_i))
 *                      over w, b and the t_i of positive bags, each of which keeps a t_i = +1
 *   witness  (MI-SVM)  minimise  1/2 |w|^2 + C/m (sum_B v+ L(f(x_s(B))) + sum_i v- L(-f(x_i)))
 *                      over w, b and the witnesses; B are the positive bags, i the examples of negative ones
 *
 * Both alternate. With fixed labels, the machine is convex (dual.c). With a fixed machine, the best labels
 * are found for each bag separately. L is decreasing, so the best witness is the example with the largest f;
 * and v+ L(f) - v- L(-f) is strictly decreasing in f, so t_i = +1 where that is negative, and at least for
 * the example with the largest f. Of equal examples the first row is used. Neither half can increase the
 * objective, and there are finitely many labellings. The alternation ends when the labels do not change, or
 * when a machine lowers the objective by no more than its tolerance. A machine that, because of that
 * tolerance, is worse than the one before it is not used.
 *
 * The end is a local minimum that depends on the start. There are two starts, and the lower end is used: the
 * first one, unless the second is lower by more than the tolerance. Start (1) is the machine that gives all
 * examples the label of their bag; (2) is the same with a tenth of the cost, which fits single examples less.
 * For the instance rule, (2) applies the witness rule first.
 *
 * Except for the two starts, every machine starts from the previous one, with the alphas of examples whose
 * label has changed at 0. Balanced class weights are those of the first labels chosen, and do not change, for
 * both starts. Rows of a positive bag other than its witness have the label UC_NONE, which leaves them out of
 * the machine. The rows of a bag may be on several ranks: the best scores of all bags are exchanged.
 */
#include "learn/svm/bags.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

#define ROWS_PER_BLOCK ((size_t)512)
#define MOST_ALTERNATIONS 100
#define SIMPLER 0.1 /* of the cost, for the second start */

typedef struct alternation {
    const uc_dataset *data; /* with the labels of the bags */
    uc_bag_rule rule;
    const uc_svm_settings *settings;
    void *user; /* passed to the watch */
    const uc_context *context;
    uc_dataset view; /* the same rows with the current labels */
    uc_svm svm;      /* for the view, without rates */
    double *work;    /* d + 1 */
    const double *point;
    double *scores; /* f for every row */
    double *best;   /* for every bag, over all processes */
    uint8_t *mine;  /* for every bag: this process has the best row, and has not reached it yet */
} alternation;

/* ---- the best labels for a machine ---- */

static uc_status score_block(size_t block, void *user)
{
    const alternation *self = user;
    const uc_matrix *X = &self->data->X;
    const uc_range rows = uc_block_range(block, X->rows, ROWS_PER_BLOCK);
    for (size_t i = rows.first; i < rows.last; i++)
        self->scores[i] = self->point[0] + uc_row_dot(uc_matrix_row(X, i), self->point + 1);
    return UC_OK;
}

/* Finds the largest score of every bag, and whether the first row that has it belongs to this process. */
static uc_status find_best(const alternation *self)
{
    const size_t bags = self->data->bags.count;
    const uc_comm *comm = uc_comm_of(self->context);
    void *all = NULL;
    for (size_t b = 0; b < bags; b++) {
        self->best[b] = -HUGE_VAL;
        self->mine[b] = true;
    }
    for (size_t i = 0; i < self->data->X.rows; i++)
        self->best[self->data->bag[i]] = fmax(self->best[self->data->bag[i]], self->scores[i]);
    if (!uc_is_shared(self->context))
        return UC_OK;
    const uc_status status = uc_comm_gather(&all, NULL, comm, self->best, bags * sizeof *self->best);
    const double *theirs = all;
    for (size_t r = 0; r < (size_t)uc_comm_size(comm) && status == UC_OK; r++)
        for (size_t b = 0; b < bags; b++) {
            const double score = theirs[r * bags + b];
            if (score > self->best[b] || (score == self->best[b] && r < (size_t)uc_comm_rank(comm)))
                self->mine[b] = false;
            self->best[b] = fmax(self->best[b], score);
        }
    uc_free(all);
    return status;
}

/* Whether an example that may have either label costs less as a positive. */
static bool is_cheaper_positive(const uc_svm *svm, double score)
{
    double slope;
    return uc_svm_loss_at(&slope, svm, score, 1) < uc_svm_loss_at(&slope, svm, -score, 0);
}

static uint32_t best_label(const alternation *self, size_t i)
{
    const uint32_t bag = self->data->bag[i], positive = self->svm.positive;
    if (self->data->y[i] != positive)
        return self->data->y[i];
    if (self->mine[bag] && self->scores[i] == self->best[bag]) {
        self->mine[bag] = false;
        return positive;
    }
    if (self->rule == UC_BAG_WITNESS)
        return UC_NONE;
    if (is_cheaper_positive(&self->svm, self->scores[i]))
        return positive;
    return positive == 0;
}

/* *changed becomes the number of changed labels over all processes. */
static uc_status choose_labels(double *changed, alternation *self, const double *point)
{
    const uc_matrix *X = &self->data->X;
    const uc_context fitting = uc_context_for_work(self->context, (double)uc_matrix_entries(X));
    self->point = point;
    *changed = 0.0;
    uc_status status = uc_run_blocks(&fitting, uc_block_count(X->rows, ROWS_PER_BLOCK), score_block, self);
    if (status == UC_OK)
        status = find_best(self);
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < X->rows; i++) {
        const uint32_t label = best_label(self, i);
        if (label == self->view.y[i])
            continue;
        *changed += 1.0;
        self->view.y[i] = label;
        self->svm.alpha[i] = 0.0;
    }
    return uc_comm_sum(uc_comm_of(self->context), changed, 1);
}

/* ---- a sequence of machines ---- */

static void end(alternation *self)
{
    uc_free(self->view.y);
    uc_free(self->scores);
    uc_free(self->best);
    uc_free(self->mine);
    uc_free(self->svm.alpha);
    uc_free(self->work);
}

static uc_status begin(alternation *self, const uc_svm *svm)
{
    const size_t rows = svm->data->X.rows, bags = svm->data->bags.count;
    self->data = svm->data;
    self->view = *svm->data;
    self->view.bag = NULL; /* not used by any machine, and must not be sent to other processes */
    self->view.bags = (uc_names){0};
    self->view.y = uc_alloc(rows, sizeof *self->view.y);
    self->scores = uc_alloc(rows, sizeof *self->scores);
    self->best = uc_alloc(bags, sizeof *self->best);
    self->mine = uc_alloc(bags, sizeof *self->mine);
    self->svm = *svm;
    self->svm.data = &self->view;
    self->svm.rate[0] = self->svm.rate[1] = 0.0;
    self->svm.alpha = uc_alloc(rows, sizeof *self->svm.alpha);
    self->work = uc_alloc(svm->data->X.cols + 1, sizeof *self->work);
    if (!self->view.y || !self->scores || !self->best || !self->mine || !self->svm.alpha || !self->work)
        return UC_ERR_NOMEM;
    return UC_OK;
}

/* The objective of the current labels at `point`. */
static uc_status objective_at(double *value, const alternation *self, const double *point)
{
    return uc_svm_gradient(value, self->work, point, &self->svm, self->context);
}

/* Solves one machine for the current labels, and replaces `point` by it if it is better. */
static uc_status improve(uc_minimum *out, double *point, double *fall, const alternation *self)
{
    const size_t size = (self->data->X.cols + 1) * sizeof *self->work;
    double *next = self->work;
    uc_minimum machine = {0};
    memcpy(next, point, size);
    const uc_status status = uc_svm_solve(&machine, next, &self->svm, self->settings, self->context);
    out->iterations += machine.iterations;
    out->evaluations += machine.evaluations;
    *fall = out->value - machine.value;
    if (status == UC_OK && *fall > 0.0) {
        out->value = machine.value;
        memcpy(point, next, size);
    }
    return status;
}

/* The result of an alternation. */
typedef struct ending {
    uc_minimum minimum;
    uc_bags_found bags;
    double *point;
} ending;

static void show(const alternation *self, const ending *at, bool starts, uc_bags_watch *watch)
{
    if (watch)
        watch(&self->svm, at->point, at->minimum.value, starts, self->user);
}

/* Alternates from out->point, from which the current labels come. */
static uc_status alternate(ending *out, alternation *self, uc_bags_watch *watch)
{
    double changed = 1.0, fall = HUGE_VAL;
    uc_minimum *minimum = &out->minimum;
    uc_status status = objective_at(&minimum->value, self, out->point);
    if (status != UC_OK)
        return status;
    show(self, out, true, watch);
    while (changed > 0.0 && fall > self->settings->tolerance * minimum->value) {
        if (out->bags.alternations == MOST_ALTERNATIONS) {
            uc_warn(self->context, "the labels of the bags' examples still change after %d machines",
                    MOST_ALTERNATIONS);
            break;
        }
        if ((status = improve(minimum, out->point, &fall, self)) != UC_OK)
            return status;
        out->bags.alternations++;
        show(self, out, false, watch);
        if ((status = choose_labels(&changed, self, out->point)) != UC_OK)
            return status;
        if ((status = objective_at(&minimum->value, self, out->point)) != UC_OK)
            return status;
        show(self, out, false, watch);
    }
    return UC_OK;
}

static uc_status count_positives(double *out, const alternation *self)
{
    *out = 0.0;
    for (size_t i = 0; i < self->view.X.rows; i++)
        *out += self->view.y[i] == self->svm.positive;
    return uc_comm_sum(uc_comm_of(self->context), out, 1);
}

/* Solves `first` with the labels of the bags, and finds the labels that are best for it. */
static uc_status begin_from(ending *out, double *changed, alternation *self, const uc_svm *first)
{
    const size_t rows = self->data->X.rows;
    uc_svm start = *first;
    start.alpha = self->svm.alpha;
    memcpy(self->view.y, self->data->y, rows * sizeof *self->view.y);
    memset(self->svm.alpha, 0, rows * sizeof *self->svm.alpha);
    const uc_status status = uc_svm_solve(&out->minimum, out->point, &start, self->settings, self->context);
    if (status != UC_OK)
        return status;
    return choose_labels(changed, self, out->point);
}

/* Starts from `svm` itself. If that has no rates and the best labels are those it was given, it is the
 * result. */
static uc_status run_first(ending *out, alternation *self, const uc_svm *svm, uc_bags_watch *watch)
{
    double changed = 0.0, labelled[2];
    uc_status status = begin_from(out, &changed, self, svm);
    if (status == UC_OK)
        status = uc_svm_count_labels(labelled, &self->svm, self->context);
    if (status != UC_OK)
        return status;
    uc_svm_weigh(&self->svm, labelled, self->settings);
    if (changed > 0.0 || svm->rate[0] > 0.0 || svm->rate[1] > 0.0)
        status = alternate(out, self, watch);
    if (status != UC_OK)
        return status;
    return count_positives(&out->bags.positives, self);
}

/* Applies the witness rule to its end, then finds the best labels for its machine by the actual rule. */
static uc_status pass_through_witnesses(ending *out, alternation *self)
{
    const uc_bag_rule rule = self->rule;
    double changed = 0.0;
    self->rule = UC_BAG_WITNESS;
    const uc_status status = alternate(out, self, NULL);
    self->rule = rule;
    if (status != UC_OK)
        return status;
    return choose_labels(&changed, self, out->point);
}

static uc_status run_second(ending *out, alternation *self, uc_bags_watch *watch)
{
    const uc_bag_rule rule = self->rule;
    uc_svm simple = self->svm;
    double changed = 0.0;
    simple.data = self->data;
    simple.cost *= SIMPLER;
    self->rule = UC_BAG_WITNESS;
    uc_status status = begin_from(out, &changed, self, &simple);
    self->rule = rule;
    if (status == UC_OK && rule != UC_BAG_WITNESS)
        status = pass_through_witnesses(out, self);
    if (status != UC_OK)
        return status;
    out->bags.alternations = 0;
    status = alternate(out, self, watch);
    if (status != UC_OK)
        return status;
    return count_positives(&out->bags.positives, self);
}

uc_status uc_bags_solve(uc_minimum *out, uc_bags_found *found, double *point, const uc_svm *svm,
                        uc_bag_rule rule, const uc_svm_settings *settings, uc_bags_watch *watch, void *user,
                        const uc_context *context)
{
    const size_t length = svm->data->X.cols + 1;
    alternation self = {.rule = rule, .settings = settings, .user = user, .context = context};
    ending first = {.point = point}, second = {.point = uc_alloc(length, sizeof *point)};
    uc_status status = begin(&self, svm);
    if (status == UC_OK && !second.point)
        status = UC_ERR_NOMEM;
    if (status != UC_OK)
        goto cleanup;
    if ((status = run_first(&first, &self, svm, watch)) != UC_OK)
        goto cleanup;
    if ((status = run_second(&second, &self, watch)) != UC_OK)
        goto cleanup;
    const bool better = second.minimum.value < first.minimum.value * (1.0 - settings->tolerance);
    const ending *taken = better ? &second : &first;
    *out = taken->minimum;
    out->iterations = first.minimum.iterations + second.minimum.iterations;
    out->evaluations = first.minimum.evaluations + second.minimum.evaluations;
    *found = taken->bags;
    memmove(point, taken->point, length * sizeof *point);

cleanup:
    end(&self);
    uc_free(second.point);
    return status;
}
