/* Internals of pu, for the learner and its tests: the risks that are minimised, how their penalty is chosen,
 * and the class prior. */
#ifndef UC_PU_H
#define UC_PU_H

#include "learn/learner.h"
#include "learn/minimise.h"
#include "learn/pu/prior.h"

typedef enum uc_pu_kind { UC_PU_UNBIASED, UC_PU_NONNEGATIVE, UC_PU_ELKAN_NOTO } uc_pu_kind;
typedef enum uc_pu_loss { UC_PU_LOGISTIC, UC_PU_SIGMOID, UC_PU_HINGE } uc_pu_loss;
typedef enum uc_pu_scenario { UC_PU_SAMPLED, UC_PU_CENSORED } uc_pu_scenario;

#define UC_PU_FOLDS 5
#define UC_PU_UNUSED UINT8_MAX /* fold of a row that is not used for choosing */

/* The loss l(z) of a margin z, and its derivative. */
double uc_pu_loss_at(double *slope, uc_pu_loss loss, double z);

/* What all risks of one fit have in common. */
typedef struct uc_pu_rows {
    const uc_dataset *data;
    const uc_context *context;
    uint32_t positive; /* the class whose label is known; all other rows are unlabelled */
    uc_pu_scenario scenario;
    bool free_offset;
    double labelled, unlabelled;             /* sums of weights over all processes */
    double labelled_count, unlabelled_count; /* numbers of rows */
    double effective; /* the number of equal rows that are as informative: (sum u)^2 / sum u^2 */
    double variance;  /* mean over the columns */
    uint8_t *fold;    /* for every row of this process */
    uc_conditioning conditioning;
} uc_pu_rows;

/* Counts the rows, deals them to folds, and fails if the labels leave nothing to learn. *out is freed with
 * uc_pu_rows_free, also after a failure. */
uc_status uc_pu_rows_begin(uc_pu_rows *out, const uc_fit *fit, uint32_t positive, uc_pu_scenario scenario);
void uc_pu_rows_free(uc_pu_rows *self);

/* A risk, and how it is to be minimised. Weights are 1 + d numbers, the offset first. */
typedef struct uc_pu_problem {
    const uc_pu_rows *rows;
    uc_pu_kind kind;
    uc_pu_loss loss;
    double prior;
    const double *cost; /* of errors on true positives and on true negatives; NULL: 1 for both */
    double l2;
    const double *factors; /* d: multipliers of l2, one per weight; NULL: 1 */
    int held_out;          /* the fold that is left out, along with all unused rows; -1: every row is used */
    double smoothing;      /* of the corner of max(0, negative part); 0: the risk is not clipped */
    double labelled, unlabelled; /* weights of the rows in use; uc_pu_problem_count sets them */
} uc_pu_problem;

/* The two parts of the risk, each times its cost: prior E+[l(f)], and E[l(-f)] - prior E+[l(-f)], which
 * estimates (1 - prior) E-[l(-f)]. */
typedef struct uc_pu_parts {
    double positive, negative;
} uc_pu_parts;

/* Sums the weights of the rows in use. */
uc_status uc_pu_problem_count(uc_pu_problem *self);
/* The objective, including its penalty, and its gradient at `weights`; `parts` may be NULL. */
uc_status uc_pu_objective(double *value, double *gradient, uc_pu_parts *parts, const uc_pu_problem *self,
                          const double *weights);
/* Minimises from `weights`; with kind UC_PU_NONNEGATIVE, the final negative part is at least 0. */
uc_status uc_pu_minimise(uc_minimum *out, double *weights, const uc_pu_problem *self, uint64_t iterations,
                         double tolerance);

/* Scores of this process's rows. */
uc_status uc_pu_scores(double *scores, const uc_pu_rows *rows, const double *weights);
/* How good `scores` are for the rows of fold `held_out`, judged by their labels alone; smaller is better. */
typedef enum uc_pu_criterion {
    UC_PU_BY_LOSS, /* the problem's own risk, not clipped */
    UC_PU_BY_SIGN, /* the sigmoid loss of scores scaled to deviation 4: nearly the error, at any scale */
} uc_pu_criterion;
uc_status uc_pu_held_out(double *value, const uc_pu_problem *self, const double *scores,
                         uc_pu_criterion criterion);

/* The l2 with the smallest held-out risk, and that risk, which is the mean over the folds. */
uc_status uc_pu_choose_l2(double *l2, double *least, const uc_pu_problem *self, uc_pu_criterion criterion);
/* The penalty factors of d weights, given a first solution; all the same if that is 0. */
void uc_pu_set_factors(double *factors, const double *weights, size_t d);
/* Scores of this process's rows, by weights that were learned without the row's fold; unused rows get NaN. */
uc_status uc_pu_cross_scores(double *scores, const uc_pu_problem *self);
/* Minimises the problem from the starting point for its loss: weights of 0, or those of the logistic loss. */
uc_status uc_pu_solve(uc_minimum *out, double *weights, const uc_pu_problem *self, uint64_t iterations,
                      double tolerance);

#endif
