/* Files of a model's probabilities, for `audit --probabilities`, from arbitrary bytes.
 *
 * The labels are fixed: six rows of three classes, one without a label. An accepted file has the same number
 * of rows, and its noise matrix and its results for each label are probabilities. */
#define _GNU_SOURCE
#include <math.h>

#include "base/base.h"
#include "fuzz/files.h"
#include "unconfuse/audit.h"

#define ROWS 6

static bool is_share(double x)
{
    return x >= 0.0 && x <= 1.0;
}

static void check_found(const uc_probability_audit *found)
{
    CHECK(found->rows == ROWS && found->labels == ROWS - 1 && found->classes.count == found->K);
    for (size_t i = 0; i < ROWS; i++) {
        CHECK(found->most_probable[i] < found->K);
        CHECK(found->given[i] == UC_NONE ? isnan(found->wrong[i]) : is_share(found->wrong[i]));
    }
    uc_noise noise = {0};
    CHECK(uc_probability_audit_noise(&noise, found) == UC_OK);
    for (size_t q = 0; q < found->K; q++) {
        double sum = 0.0;
        for (size_t p = 0; p < found->K; p++) {
            CHECK(is_share(noise.values[p * found->K + q]));
            sum += noise.values[p * found->K + q];
        }
        CHECK(fabs(sum - 1.0) < 1e-6);
    }
    uc_noise_free(&noise);
    CHECK(found->clean_error.low <= found->clean_error.estimate);
    CHECK(found->clean_error.estimate <= found->clean_error.high);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char *const names[] = {"a", "b", "1"};
    uint32_t y[ROWS] = {0, 1, 2, 0, UC_NONE, 1};
    uc_labels labels = {.y = y, .count = ROWS};
    uc_probability_audit found = {0};
    uint32_t index;
    for (size_t k = 0; k < 3; k++)
        CHECK(uc_names_add(&index, &labels.classes, names[k], 1) == UC_OK);
    memory_file file = memory_file_open(bytes, length);
    if (uc_probability_audit_read(&found, file.path, &labels, NULL, &(uc_context){.threads = 1}) == UC_OK)
        check_found(&found);
    else
        check_sentence(uc_last_error());
    memory_file_close(&file);
    uc_probability_audit_free(&found);
    uc_names_free(&labels.classes);
    return 0;
}
