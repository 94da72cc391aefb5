/* Inside of pu: the risks that are minimised, how their penalty is chosen, and the class prior. For the
 * learner and its tests. */
#ifndef UC_PU_H
#define UC_PU_H

#include "learn/learner.h"
#include "learn/minimise.h"
#include "learn/pu/prior.h"

typedef enum uc_pu_kind { UC_PU_UNBIASED, UC_PU_NONNEGATIVE, UC_PU_ELKAN_NOTO } uc_pu_kind;
typedef enum uc_pu_loss { UC_PU_LOGISTIC, UC_PU_SIGMOID, UC_PU_HINGE } uc_pu_loss;
typedef enum uc_pu_scenario { UC_PU_SAMPLED, UC_PU_CENSORED } uc_pu_scenario;

#define UC_PU_FOLDS 5
#define UC_PU_UNUSED UINT8_MAX /* fold of a row that takes no part in choosing */

/* The loss of a margin z: l(z), and its derivative. */
double uc_pu_loss_at(double *slope, uc_pu_loss loss, double z);

/* What is the same for all risks of one fit. */
typedef struct uc_pu_rows {
    const uc_dataset *data;
    const uc_context *context;
    uint32_t positive; /* the class whose label is known; all other rows are unlabelled */
    uc_pu_scenario scenario;
    bool free_offset;
    double labelled, unlabelled;             /* what the rows of all processes weigh */
    double labelled_count, unlabelled_count; /* how many they are */
    double effective;                        /* so many equal rows say as much: (sum u)^2 / sum u^2 */
    double variance;                         /* of a column, on average */
    uint8_t *fold;                           /* of every row of this process */
    uc_conditioning conditioning;
} uc_pu_rows;

/* Counts the rows, deals them out to folds, and refuses labels that leave nothing to learn. *out is
 * freed with uc_pu_rows_free, also after a failure. */
uc_status uc_pu_rows_begin(uc_pu_rows *out, const uc_fit *fit, uint32_t positive, uc_pu_scenario scenario);
void uc_pu_rows_free(uc_pu_rows *self);

/* A risk, and where it is to be minimised. Weights are 1 + d numbers, the offset first. */
typedef struct uc_pu_problem {
    const uc_pu_rows *rows;
    uc_pu_kind kind;
    uc_pu_loss loss;
    double prior;
    const double *cost; /* of errors on true positives and on true negatives; NULL: 1 and 1 */
    double l2;
    const double *factors;       /* d: of l2, for every weight; NULL: 1 */
    int held_out;                /* fold that is left out, with all unused rows; -1: every row is used */
    double smoothing;            /* of the corner of max(0, negative part); 0: the risk is not clipped */
    double labelled, unlabelled; /* weights of the rows in use; uc_pu_problem_count sets them */
} uc_pu_problem;

/* The two parts of the risk, each times its cost: prior E+[l(f)], and E[l(-f)] - prior E+[l(-f)], which
 * estimates (1 - prior) E-[l(-f)]. */
typedef struct uc_pu_parts {
    double positive, negative;
} uc_pu_parts;

/* Weighs the rows in use. */
uc_status uc_pu_problem_count(uc_pu_problem *self);
/* The objective, with its penalty, and its gradient at `weights`; `parts` may be NULL. */
uc_status uc_pu_objective(double *value, double *gradient, uc_pu_parts *parts, const uc_pu_problem *self,
                          const double *weights);
/* Minimises from `weights`; a risk of kind UC_PU_NONNEGATIVE ends with a negative part of 0 or more. */
uc_status uc_pu_minimise(uc_minimum *out, double *weights, const uc_pu_problem *self, uint64_t iterations,
                         double tolerance);

/* Scores of this process's rows. */
uc_status uc_pu_scores(double *scores, const uc_pu_rows *rows, const double *weights);
/* How good `scores` are for the rows of fold `held_out`, by their labels alone: smaller is better. */
typedef enum uc_pu_criterion {
    UC_PU_BY_LOSS, /* the problem's own risk, not clipped */
    UC_PU_BY_SIGN, /* that of a sigmoid loss of scores of deviation 4: nearly errors, whatever the scale */
} uc_pu_criterion;
uc_status uc_pu_held_out(double *value, const uc_pu_problem *self, const double *scores,
                         uc_pu_criterion criterion);

/* l2 with the smallest held-out risk, and that risk: the mean over the folds. */
uc_status uc_pu_choose_l2(double *l2, double *least, const uc_pu_problem *self, uc_pu_criterion criterion);
/* What each of d weights pays, by those of a first solution; all the same when these are 0. */
void uc_pu_set_factors(double *factors, const double *weights, size_t d);
/* Scores of this process's rows by weights that were learned without the fold of each; unused rows have
 * NaN. */
uc_status uc_pu_cross_scores(double *scores, const uc_pu_problem *self);
/* Minimises the problem from where its loss begins: weights of 0, or those of the logistic loss. */
uc_status uc_pu_solve(uc_minimum *out, double *weights, const uc_pu_problem *self, uint64_t iterations,
                      double tolerance);

#endif
