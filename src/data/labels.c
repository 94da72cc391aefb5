/* Labels with a special meaning: positives among unlabelled examples, and labels of bags. */
#include <string.h>

#include "base/base.h"
#include "data/exchange.h"
#include "data/reader.h"

/* Adds a name for the class that the file does not name. */
static uc_status name_the_others(uc_names *classes, const char *positive)
{
    char *name = uc_alloc(strlen(positive) + 5, 1);
    if (!name)
        return UC_ERR_NOMEM;
    const bool number = strcmp(positive, "1") == 0 || strcmp(positive, "+1") == 0;
    if (number)
        strcpy(name, "-1");
    else
        strcat(strcpy(name, "not-"), positive);
    uint32_t index;
    const uc_status status = uc_names_add(&index, classes, name, strlen(name));
    uc_free(name);
    return status;
}

/* Counts the examples with this label, and all examples, over all processes. */
static uc_status count_labelled(double counts[2], const uc_dataset *data, uint32_t label,
                                const uc_context *context)
{
    counts[0] = 0.0;
    counts[1] = (double)data->X.rows;
    for (size_t i = 0; i < data->X.rows; i++)
        counts[0] += data->y[i] == label;
    return uc_comm_sum(uc_comm_of(context), counts, 2);
}

uc_status uc_dataset_positive_unlabelled(uint32_t *index, uc_dataset *data, const char *positive,
                                         const uc_context *context)
{
    const uc_names *classes = &data->classes;
    if (!data->y || classes->count == 0)
        return uc_fail(UC_ERR_FORMAT, "no example is labelled positive");
    if (data->soft && classes->count != 2)
        return uc_fail(UC_ERR_INVALID,
                       "soft labels of positive and unlabelled examples are of two classes, not %zu",
                       classes->count);
    if (classes->count > 2)
        return uc_fail(UC_ERR_INVALID, "positive and unlabelled examples are of one or two classes, not %zu",
                       classes->count);
    uint32_t found = (uint32_t)classes->count - 1;
    if (positive)
        found = uc_names_find_label(classes, positive, strlen(positive));
    if (found == UC_NONE)
        return uc_fail(UC_ERR_INVALID, "no example is labelled %s, which {positive} names", positive);
    double counts[2]; /* positives and all */
    uc_status status = count_labelled(counts, data, found, context);
    if (status != UC_OK)
        return status;
    if (counts[0] == 0.0)
        return uc_fail(UC_ERR_FORMAT, "no example is labelled %s", classes->text[found]);
    if (counts[0] == counts[1])
        return uc_fail(UC_ERR_FORMAT, "every example is labelled %s: unlabelled ones are needed too",
                       classes->text[found]);
    uc_names both = {0};
    uint32_t position[2] = {0, 1}; /* of both classes, after sorting */
    status = uc_names_copy(&both, classes);
    if (status == UC_OK && both.count == 1)
        status = name_the_others(&both, classes->text[found]);
    if (status == UC_OK)
        status = uc_names_sort(&both, position);
    if (status == UC_OK && data->soft)
        status = uc_renumber_soft(data->soft, data->X.rows, position, 2);
    if (status != UC_OK) {
        uc_names_free(&both);
        return status;
    }
    for (size_t i = 0; i < data->X.rows; i++)
        if (data->y[i] == UC_NONE)
            data->y[i] = position[1 - found];
        else
            data->y[i] = position[data->y[i]];
    uc_names_free(&data->classes);
    data->classes = both;
    *index = position[found];
    return UC_OK;
}

/* Checks the bags of one process's rows, or the labels and bags of all rows. */
static uc_status check_bags(const uc_dataset *data)
{
    uint32_t *label = uc_alloc(data->bags.count, sizeof *label);
    if (!label)
        return UC_ERR_NOMEM;
    for (size_t b = 0; b < data->bags.count; b++)
        label[b] = UC_NONE;
    uc_status status = UC_OK;
    size_t seen = 0;
    for (size_t i = 0; i < data->X.rows && status == UC_OK; i++) {
        const uint32_t bag = data->bag[i], y = data->y ? data->y[i] : UC_NONE;
        if (bag == UC_NONE || y == UC_NONE) {
            status = uc_fail(UC_ERR_FORMAT, "example %zu has no %s", i + 1, bag == UC_NONE ? "bag" : "label");
        } else if (label[bag] == UC_NONE) {
            label[bag] = y;
            seen++;
        } else if (label[bag] != y) {
            status = uc_fail(UC_ERR_FORMAT, "bag %s has examples labelled %s and %s: a bag has one label",
                             data->bags.text[bag], data->classes.text[label[bag]], data->classes.text[y]);
        }
    }
    if (status == UC_OK && seen < 2)
        status = uc_fail(UC_ERR_FORMAT, "all examples are in one bag, where two are needed");
    uc_free(label);
    return status;
}

uc_status uc_dataset_check_bags(const uc_dataset *data, const uc_context *context)
{
    if (!data->bag)
        return uc_fail(
            UC_ERR_FORMAT,
            "the data have no bags: LIBSVM rows name theirs as bag:ID after the label, CSV files in a "
            "column that {bag} names");
    if (!uc_is_shared(context))
        return check_bags(data);
    uc_dataset labels = {0};
    uc_status status = uc_gather_labels(&labels, data, context);
    if (status == UC_OK)
        status = check_bags(&labels);
    uc_free_labels(&labels);
    return status;
}
