/* Which annotations are wrong, and results that annotations are added to. */
#include "tests/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Six annotators label every row; the last one is wrong every third time. */
static char *crowd_text(size_t first, size_t last, size_t labels)
{
    char *text = calloc(last * labels * 32 + 1, 1), *at = text;
    for (size_t i = first; i < last; i++)
        for (size_t j = 0; j < labels; j++) {
            const size_t truth = i % 3;
            const bool wrong = (j == 5 && i % 4 == 0) || (i * 7 + j * 5) % 11 == 0;
            at += sprintf(at, "t%zu w%zu c%zu\n", i, j, wrong ? (truth + 1) % 3 : truth);
        }
    return text;
}

static uc_crowd read_text(const char *text)
{
    uc_crowd crowd = {0};
    assert_ok(uc_crowd_read_memory(&crowd, text, strlen(text), "text", NULL, NULL));
    return crowd;
}

static uc_crowd some_crowd(size_t first, size_t last, size_t labels)
{
    char *text = crowd_text(first, last, labels);
    uc_crowd crowd = read_text(text);
    free(text);
    return crowd;
}

static uc_consensus find(const uc_crowd *crowd, const uc_posteriors *start)
{
    uc_consensus out = {0};
    assert_ok(uc_consensus_find(&out, crowd, NULL, start, NULL, NULL));
    return out;
}

static void flags_have_the_largest_expected_f1(void **state)
{
    (void)state;
    static const double wrong[] = {0.9, 0.8, 0.5, 0.2, 0.1, 1e-12};
    double best = 0.0, sum = 0.0, total = 0.0;
    size_t most = 0;
    for (size_t k = 0; k < 6; k++)
        total += wrong[k];
    for (size_t k = 0; k < 5; k++) {
        sum += wrong[k];
        const double f1 = 2.0 * sum / ((double)k + 1.0 + total);
        most = f1 > best ? k + 1 : most;
        best = fmax(f1, best);
    }
    assert_int_equal(uc_flag_most(wrong, 6, total), most);
    assert_int_equal(uc_flag_most(wrong + 5, 1, 1e-12), 0);
    assert_int_equal(uc_flag_most(NULL, 0, 0.0), 0);
}

/* To flag none has the expected F1 prod (1 - p): (1 - p) > 2p/(1 + p) for one label with p < sqrt(2) - 1. */
static void nothing_is_flagged_where_labels_are_clean(void **state)
{
    (void)state;
    static const double clean[] = {1e-5, 1e-5, 1e-6}, below = 0.414, above = 0.415;
    static const double many[] = {0.3, 0.3, 0.3, 0.3, 0.3, 0.3};
    assert_int_equal(uc_flag_most(clean, 3, 2.1e-5), 0);
    assert_int_equal(uc_flag_most(&below, 1, below), 0);
    assert_int_equal(uc_flag_most(&above, 1, above), 1);
    assert_int_equal(uc_flag_most(many, 6, 1.8), 6);
}

static void wrong_annotations_are_flagged_and_counted(void **state)
{
    (void)state;
    uc_crowd crowd = some_crowd(0, 200, 6);
    uc_consensus consensus = find(&crowd, NULL);
    uc_crowd_issues issues = {0};
    size_t wrong = 0, found = 0;
    assert_ok(uc_crowd_issues_find(&issues, &consensus, &crowd, 1, NULL));
    for (size_t i = 0; i < crowd.rows; i++)
        for (size_t a = crowd.first[i]; a < crowd.first[i + 1]; a++)
            wrong += crowd.label[a] != (uint32_t)atoi(crowd.ids.text[i] + 1) % 3;
    for (size_t i = 0; i < issues.count; i++) {
        const uc_crowd_issue *issue = &issues.issues[i];
        assert_true(i == 0 || issues.issues[i - 1].wrong >= issue->wrong);
        found += i < issues.flagged &&
                 crowd.label[issue->annotation] != (uint32_t)atoi(crowd.ids.text[issue->row] + 1) % 3;
    }
    assert_int_equal(issues.count, 1200);
    assert_true(found >= wrong - wrong / 20 && issues.flagged <= wrong + wrong / 20);
    assert_near(issues.wrong.estimate, (double)wrong / 1200.0, 0.01);
    assert_true(issues.wrong.low < issues.wrong.estimate && issues.wrong.estimate < issues.wrong.high);
    assert_near(issues.wrong.high - issues.wrong.low, 4.0 * sqrt(0.13 * 0.87 / 1200.0), 0.025);
    assert_int_equal(issues.pair_count, 6);
    assert_int_equal(issues.pairs[0].given, (issues.pairs[0].truth + 1) % 3);
    uc_crowd_issues_free(&issues);
    uc_consensus_free(&consensus);
    uc_crowd_free(&crowd);
}

/* ---- results that annotations are added to ---- */

static const char *write_state(const uc_crowd *crowd, const char *name)
{
    const char *path = temporary_path(name);
    uc_consensus consensus = find(crowd, NULL);
    uc_output *file;
    assert_ok(uc_output_open(&file, path));
    assert_ok(uc_output_end(file, uc_crowd_state_write(file, crowd, &consensus), false));
    uc_consensus_free(&consensus);
    return path;
}

/* More labels of old rows, and new rows; some lines are given again. */
static void added_annotations_end_where_all_at_once_end(void **state)
{
    (void)state;
    uc_crowd early = some_crowd(0, 150, 4), all = some_crowd(0, 200, 6), more = some_crowd(100, 200, 6);
    const char *path = write_state(&early, "early.state");
    uc_posteriors start = {0};
    char *text = crowd_text(0, 100, 6), *last = crowd_text(100, 200, 6);
    char *both = calloc(strlen(text) + strlen(last) + 1, 1);
    strcat(strcpy(both, text), last);
    uc_crowd joined = read_text(both);
    assert_ok(uc_crowd_state_add(&joined, &start, path, NULL));
    assert_int_equal(joined.count, all.count);
    assert_memory_equal(joined.label, all.label, all.count * sizeof *all.label);
    assert_memory_equal(joined.annotator, all.annotator, all.count * sizeof *all.annotator);
    uc_consensus cold = find(&all, NULL), warm = find(&joined, &start);
    for (size_t i = 0; i < all.rows; i++)
        for (size_t k = 0; k < 3; k++)
            assert_near(cold.posterior.values[i * 3 + k], warm.posterior.values[i * 3 + k], 1e-4);
    assert_true(warm.iterations <= cold.iterations);
    uc_posteriors_free(&start);
    assert_ok(uc_crowd_state_add(&more, &start, path, NULL));
    assert_int_equal(more.count, 150 * 4 + 50 * 2 + 50 * 6);
    uc_posteriors_free(&start);
    uc_consensus_free(&cold);
    uc_consensus_free(&warm);
    uc_crowd_free(&joined);
    uc_crowd_free(&early);
    uc_crowd_free(&more);
    uc_crowd_free(&all);
    free(text);
    free(last);
    free(both);
}

static void numbered_rows_and_known_classes_stay_as_they_are(void **state)
{
    (void)state;
    uc_names classes = {0};
    uint32_t index;
    for (size_t k = 0; k < 3; k++)
        assert_ok(uc_names_add(&index, &classes, &"zya"[k], 1));
    const uc_crowd_frame frame = {.rows = 4, .classes = &classes};
    uc_crowd crowd = {0}, more = {0}, fewer = {0};
    uc_posteriors start = {0};
    assert_ok(uc_crowd_read_memory(&crowd, "1 p a\n2 p y\n2 q a\n", 18, "x", &frame, NULL));
    assert_ok(uc_crowd_read_memory(&more, "4 r y\n", 6, "x", &(uc_crowd_frame){5, NULL, &classes}, NULL));
    const char *path = write_state(&crowd, "numbered.state");
    assert_ok(uc_crowd_state_add(&more, &start, path, NULL));
    assert_int_equal(more.rows, 5);
    assert_int_equal(more.count, 4);
    assert_string_equal(more.classes.text[0], "z");
    assert_true(start.values[3 * 3] >= 0.0);
    assert_true(start.values[4 * 3] != start.values[4 * 3]);
    uc_posteriors_free(&start);
    assert_ok(uc_crowd_read_memory(&fewer, "1 p a\n", 6, "x", &(uc_crowd_frame){3, NULL, &classes}, NULL));
    char sentence[512];
    snprintf(sentence, sizeof sentence, "%s is about 4 rows, but the data have 3", path);
    assert_error(uc_crowd_state_add(&fewer, &start, path, NULL), UC_ERR_INVALID, sentence);
    uc_crowd_free(&fewer);
    assert_ok(uc_crowd_read_memory(&fewer, "1 p a\n", 6, "x", NULL, NULL));
    snprintf(sentence, sizeof sentence, "%s is about numbered rows; give it the same data as then", path);
    assert_error(uc_crowd_state_add(&fewer, &start, path, NULL), UC_ERR_INVALID, sentence);
    uc_crowd_free(&fewer);
    assert_ok(uc_crowd_read_memory(&fewer, "1 p a\n", 6, "x", &(uc_crowd_frame){.rows = 4}, NULL));
    snprintf(sentence, sizeof sentence, "%s knows class 'z', which the data do not have", path);
    assert_error(uc_crowd_state_add(&fewer, &start, path, NULL), UC_ERR_INVALID, sentence);
    uc_crowd_free(&fewer);
    assert_ok(uc_crowd_read_memory(&fewer, "2 p z\n", 6, "x", &frame, NULL));
    assert_error(uc_crowd_state_add(&fewer, &start, path, NULL), UC_ERR_INVALID,
                 "annotator 'p' calls row 2 both 'y' and 'z'");
    assert_int_equal(fewer.count, 1);
    uc_crowd_free(&fewer);
    uc_crowd_free(&crowd);
    uc_crowd_free(&more);
    uc_names_free(&classes);
}

static void damaged_states_are_refused(void **state)
{
    (void)state;
    uc_crowd crowd = some_crowd(0, 10, 3);
    const char *path = write_state(&crowd, "whole.state"), *broken = temporary_path("broken.state");
    size_t length;
    char *bytes = read_file(path, &length);
    uc_posteriors start = {0};
    for (size_t cut = 0; cut < length; cut += 97) {
        write_bytes(broken, bytes, cut);
        assert_status(uc_crowd_state_add(&crowd, &start, broken, NULL), UC_ERR_FORMAT);
    }
    for (size_t at = 0; at < length; at += 53) {
        bytes[at] ^= 0x10;
        write_bytes(broken, bytes, length);
        assert_status(uc_crowd_state_add(&crowd, &start, broken, NULL), UC_ERR_FORMAT);
        bytes[at] ^= 0x10;
    }
    assert_null(start.values);
    assert_int_equal(crowd.count, 30);
    free(bytes);
    uc_crowd_free(&crowd);
}

static uc_status copy_and_add(uc_crowd *out, uc_posteriors *start, const char *path)
{
    static const char text[] = "t1 w9 c1\nt99 w1 c0\n";
    const uc_status status = uc_crowd_read_memory(out, text, strlen(text), "x", NULL, NULL);
    if (status != UC_OK)
        return status;
    const uc_status added = uc_crowd_state_add(out, start, path, NULL);
    if (added != UC_OK)
        uc_crowd_free(out);
    return added;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_crowd crowd = some_crowd(0, 10, 3), more = {0};
    const char *path = write_state(&crowd, "small.state");
    uc_consensus consensus = find(&crowd, NULL);
    uc_crowd_issues issues = {0};
    uc_posteriors start = {0};
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(
        status, uc_crowd_issues_find(&issues, &consensus, &crowd, 1, &(uc_context){.threads = 1}));
    FOR_EACH_FAILING_ALLOCATION(status, copy_and_add(&more, &start, path));
    assert_int_equal(more.count, 32);
    uc_posteriors_free(&start);
    uc_crowd_issues_free(&issues);
    uc_consensus_free(&consensus);
    uc_crowd_free(&more);
    uc_crowd_free(&crowd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_have_the_largest_expected_f1),
        cmocka_unit_test(nothing_is_flagged_where_labels_are_clean),
        cmocka_unit_test(wrong_annotations_are_flagged_and_counted),
        cmocka_unit_test(added_annotations_end_where_all_at_once_end),
        cmocka_unit_test(numbered_rows_and_known_classes_stay_as_they_are),
        cmocka_unit_test(damaged_states_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
