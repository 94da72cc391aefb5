/* Files of checked rows, for `evaluate --gold`, from arbitrary bytes.
 *
 * The data are fixed: twelve rows of three classes, one without a label. Rows in an accepted file exist in
 * the data, none occurs twice, and the resulting error is between 0 and 1. */
#define _GNU_SOURCE
#include <math.h>

#include "base/base.h"
#include "fuzz/files.h"
#include "unconfuse/check.h"

#define ROWS 12

static void check_rows(const uc_checked *checked, const uc_predicted_rows *rows)
{
    bool seen[ROWS] = {false};
    CHECK(checked->count + checked->empty <= ROWS);
    for (size_t i = 0; i < checked->count; i++) {
        CHECK(checked->rows[i] < ROWS && !seen[checked->rows[i]]);
        CHECK(checked->truth[i] < rows->classes->count && checked->stratum[i] <= UC_STRATA);
        CHECK(!checked->stratified || checked->stratum[i] < UC_STRATA);
        seen[checked->rows[i]] = true;
    }
    CHECK(!(checked->stratified && checked->why));
    if (checked->stratified)
        CHECK(checked->missing <= checked->drawn[UC_AGREE] + checked->drawn[UC_DISAGREE]);
}

static void check_error(const uc_checked *checked, const uc_predicted_rows *rows)
{
    uc_clean_error error = {0};
    uc_checked_stratum strata[UC_STRATA];
    if (uc_checked_error(&error, strata, checked, rows) != UC_OK) {
        check_sentence(uc_last_error());
        return;
    }
    CHECK(error.low >= 0.0 && error.low <= error.estimate);
    CHECK(error.estimate <= error.high && error.high <= 1.0);
    CHECK(strata[0].errors <= strata[0].checked);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char *const names[] = {"a", "b", "1"};
    static const uint32_t labels[ROWS] = {0, 1, 2, 0, 1, 2, 0, 1, 2, UC_NONE, 1, 0};
    static const char *const ids[ROWS] = {"1", "2", "3", "x", "5", "y", "7", "8", "9", "10", "14", "12"};
    static const uint32_t predicted[ROWS] = {0, 1, 2, 1, 1, 0, 0, 2, 2, 1, 0, 0};
    uc_names classes = {0};
    uc_checked checked = {0};
    uint32_t index;
    for (size_t k = 0; k < 3; k++)
        CHECK(uc_names_add(&index, &classes, names[k], 1) == UC_OK);
    uc_predicted_rows rows = {
        .labels = labels, .predicted = predicted, .rows = ROWS, .classes = &classes, .name = "data"};
    if (length % 3 > 0) /* by number, by number or id, by id only */
        rows.ids = ids;
    rows.named = length % 3 > 1;
    memory_file file = memory_file_open(bytes, length);
    if (uc_checked_read(&checked, file.path, &rows, NULL) != UC_OK) {
        check_sentence(uc_last_error());
    } else {
        check_rows(&checked, &rows);
        check_error(&checked, &rows);
    }
    uc_checked_free(&checked);
    memory_file_close(&file);
    uc_names_free(&classes);
    return 0;
}
