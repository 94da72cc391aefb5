/* Machines for labels of bags, for csvm, sloppy-svm and their tests. */
#ifndef UC_SVM_BAGS_H
#define UC_SVM_BAGS_H

#include "learn/svm/svm.h"

/* {bag-rule} */
typedef enum uc_bag_rule { UC_BAG_SPREAD, UC_BAG_INSTANCE, UC_BAG_WITNESS } uc_bag_rule;

/* What the alternation ends with, besides the machine. */
typedef struct uc_bags_found {
    uint64_t alternations; /* machines after the one that it started from */
    double positives;      /* examples that were taken for positive */
} uc_bags_found;

/* For tests: called with every machine and labels (svm->data->y, UC_NONE: left out) that an alternation
 * comes by. */
typedef void uc_bags_watch(const uc_svm *svm, const double *point, double objective, bool starts, void *user);

/* From zeros in point[0..d] to a machine for the labels of svm->data's bags, of which those labelled
 * svm->positive are positive. It starts from `svm` itself, which takes every label of a bag for that of its
 * examples. `rule` is UC_BAG_INSTANCE or UC_BAG_WITNESS. `watch` may be NULL. Rows and context are those of
 * uc_svm_solve. */
uc_status uc_bags_solve(uc_minimum *out, uc_bags_found *found, double *point, const uc_svm *svm,
                        uc_bag_rule rule, const uc_svm_settings *settings, uc_bags_watch *watch, void *user,
                        const uc_context *context);

#endif
