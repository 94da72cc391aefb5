/* The guard of `audit`: when `structure` is believed. */
#include <math.h>

#include "tests/support.h"

#include "learn/audit/views.h"

#define K 3
#define ROWS 300

/* Labels 0, 1, 2 of 100 rows each; `moved` of those labelled 2 are of class 1, by the clouds. */
static bool is_believed(double loss, bool large, size_t moved, double spread)
{
    static double R[ROWS * K];
    static uc_annotation items[ROWS];
    uc_annotations annotations = {0};
    uc_confusion confusion = {0};
    bool believed = false;
    for (size_t i = 0; i < ROWS; i++) {
        const uint32_t label = (uint32_t)(i % K);
        const size_t class = label == 2 && i / K < moved ? 1 : label;
        items[i] = (uc_annotation){(uint32_t)i, 0, label};
        for (size_t z = 0; z < K; z++)
            R[i * K + z] = z == class ? 1.0 - spread : spread / (K - 1);
    }
    assert_ok(uc_annotations_make(&annotations, items, ROWS, ROWS, 1, K, NULL));
    uc_labelled labelled = {.annotations = &annotations};
    assert_ok(uc_labelled_weigh(&labelled));
    assert_ok(uc_confusion_create(&confusion, &annotations));
    assert_ok(uc_audit_believes_structure(&believed, loss, large, R, &confusion, &labelled));
    uc_confusion_free(&confusion);
    uc_annotations_free(&annotations);
    return believed;
}

static void few_rows_are_believed_up_to_a_loss_of_6_percent(void **state)
{
    (void)state;
    assert_true(is_believed(0.06, false, 0, 0.0));
    assert_false(is_believed(0.0601, false, 0, 0.0));
    assert_false(is_believed(NAN, false, 0, 0.0)); /* features say nothing about labels */
    assert_true(is_believed(0.01, false, 90, 0.0));
}

static void many_rows_are_believed_up_to_4_and_a_half(void **state)
{
    (void)state;
    assert_true(is_believed(0.045, true, 0, 0.0));
    assert_false(is_believed(0.0451, true, 0, 0.0));
    assert_false(is_believed(NAN, true, 0, 0.0));
}

/* own = 100 - moved, other = moved: the difference has a deviation of 10, and 2 of them are 20. */
static void a_label_that_is_surely_more_often_another_class_is_not_believed(void **state)
{
    (void)state;
    assert_true(is_believed(0.01, true, 40, 0.0));
    assert_true(is_believed(0.01, true, 60, 0.0));
    assert_false(is_believed(0.01, true, 61, 0.0));
    assert_false(is_believed(0.01, true, 100, 0.0));
    assert_true(is_believed(0.01, true, 0, 0.6)); /* 60% wrong, evenly: the own class is the largest still */
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static double R[2] = {1.0, 0.0};
    const uc_annotation item = {0, 0, 0};
    uc_annotations annotations = {0};
    uc_confusion confusion = {0};
    bool believed;
    assert_ok(uc_annotations_make(&annotations, &item, 1, 1, 1, 2, NULL));
    uc_labelled labelled = {.annotations = &annotations};
    assert_ok(uc_labelled_weigh(&labelled));
    assert_ok(uc_confusion_create(&confusion, &annotations));
    uc_status failed;
    FOR_EACH_FAILING_ALLOCATION(failed,
                                uc_audit_believes_structure(&believed, 0.0, true, R, &confusion, &labelled));
    uc_confusion_free(&confusion);
    uc_annotations_free(&annotations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_rows_are_believed_up_to_a_loss_of_6_percent),
        cmocka_unit_test(many_rows_are_believed_up_to_4_and_a_half),
        cmocka_unit_test(a_label_that_is_surely_more_often_another_class_is_not_believed),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
