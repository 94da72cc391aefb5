/* Machines for labels of bags; for csvm, sloppy-svm and their tests. */
#ifndef UC_SVM_BAGS_H
#define UC_SVM_BAGS_H

#include "learn/svm/svm.h"

/* {bag-rule} */
typedef enum uc_bag_rule { UC_BAG_SPREAD, UC_BAG_INSTANCE, UC_BAG_WITNESS } uc_bag_rule;

/* Results of the alternation, in addition to the machine. */
typedef struct uc_bags_found {
    uint64_t alternations; /* number of machines after the one it started from */
    double positives;      /* number of examples labelled positive */
} uc_bags_found;

/* For tests: called with every machine and the labels (svm->data->y, UC_NONE: left out) in an alternation. */
typedef void uc_bags_watch(const uc_svm *svm, const double *point, double objective, bool starts, void *user);

/* Minimises from zeros in point[0..d], for the labels of svm->data's bags; those labelled svm->positive are
 * positive. The first machine is `svm` itself, in which every example has the label of its bag. `rule` is
 * UC_BAG_INSTANCE or UC_BAG_WITNESS. `watch` may be NULL. Rows and context are those of uc_svm_solve. */
uc_status uc_bags_solve(uc_minimum *out, uc_bags_found *found, double *point, const uc_svm *svm,
                        uc_bag_rule rule, const uc_svm_settings *settings, uc_bags_watch *watch, void *user,
                        const uc_context *context);

#endif
