/* Crowd files: what is read, and what is refused with which sentence. */
#include "tests/files.h"

#include <stdlib.h>
#include <string.h>

static uc_status read_text(uc_crowd *out, const char *text, const uc_crowd_frame *frame)
{
    return uc_crowd_read_memory(out, text, strlen(text), "crowd", frame, NULL);
}

/* The annotations as lines of row, annotator and class, in their order. */
static void check_crowd(const char *text, const uc_crowd_frame *frame, const char *want)
{
    uc_crowd crowd = {0};
    char got[1024] = "";
    assert_ok(read_text(&crowd, text, frame));
    for (size_t i = 0; i < crowd.rows; i++)
        for (size_t a = crowd.first[i]; a < crowd.first[i + 1]; a++) {
            const size_t end = strlen(got);
            if (crowd.ids.count)
                snprintf(got + end, sizeof got - end, "%s %s %s\n", crowd.ids.text[i],
                         crowd.annotators.text[crowd.annotator[a]], crowd.classes.text[crowd.label[a]]);
            else
                snprintf(got + end, sizeof got - end, "%zu %s %s\n", i + 1,
                         crowd.annotators.text[crowd.annotator[a]], crowd.classes.text[crowd.label[a]]);
        }
    assert_string_equal(got, want);
    assert_int_equal(crowd.first[crowd.rows], crowd.count);
    uc_crowd_free(&crowd);
}

static const uc_crowd_frame four_rows = {.rows = 4};
static const char ordered[] = "1 x b\n1 y a\n3 x a\n";

static void columns_come_with_a_header_or_by_position(void **state)
{
    (void)state;
    check_crowd("3 x a\n1 y a\n1 x b\n", &four_rows, ordered);
    check_crowd("  3   x a\r\n\r\n1 y  a \r\n1 x b", &four_rows, ordered);
    check_crowd("3,x,a\n1,y,a\n1,x,b\n", &four_rows, ordered);
    check_crowd("3;x;a\n1;y;a\n1;x;b\n", &four_rows, ordered);
    check_crowd("3\tx\ta\n1\ty\ta\n1\tx\tb\n", &four_rows, ordered);
    check_crowd("row,annotator,label\n3,x,a\n1,y,a\n1,x,b\n", &four_rows, ordered);
    check_crowd("Label,when,Worker,Row\na,1,x,3\na,2,y,1\nb,3,x,1\n", &four_rows, ordered);
    check_crowd("row annotator label\n3 x a\n1 y a\n1 x b\n", &four_rows, ordered);
    check_crowd("\xef\xbb\xbf\"row\",\"annotator\",\"label\"\n\"3\",\"x\",\"a\"\n1,y,a\n1,x,b\n", &four_rows,
                ordered);
}

static void rows_have_numbers_or_ids(void **state)
{
    (void)state;
    uc_names ids = {0};
    uint32_t index;
    for (size_t i = 0; i < 4; i++)
        assert_ok(uc_names_add(&index, &ids, &"p7q8"[i], 1));
    const uc_crowd_frame named = {.rows = 4, .ids = &ids};
    check_crowd("id,annotator,label\nq,x,a\np,y,a\np,x,b\n", &named, ordered);
    check_crowd("task,worker,label\nq,x,a\np,y,a\np,x,b\n", &named, ordered);
    check_crowd("id,annotator,label\n7,x,a\n", &named, "2 x a\n"); /* an id that looks like a number */
    check_crowd("row,annotator,label\n3,x,a\n1,y,a\n1,x,b\n", &named, ordered);
    check_crowd("q x a\np y a\np x b\n", &named, ordered);
    check_crowd("3 x a\n1 y a\n1 x b\n", &named, ordered);
    check_crowd("task,worker,label\nt2,x,a\nt10,y,b\nt2,y,a\n", NULL, "t10 y b\nt2 x a\nt2 y a\n");
    check_crowd("10 x a\n9 y b\n", NULL, "9 y b\n10 x a\n"); /* numbers in the order of numbers */
    uc_names_free(&ids);
}

static void classes_are_those_of_the_data(void **state)
{
    (void)state;
    uc_names classes = {0};
    uint32_t index;
    assert_ok(uc_names_add(&index, &classes, "-1", 2));
    assert_ok(uc_names_add(&index, &classes, "+1", 2));
    const uc_crowd_frame frame = {.rows = 2, .classes = &classes};
    check_crowd("1 x 1\n1 y +1\n2 x -1.0\n", &frame, "1 x +1\n1 y +1\n2 x -1\n");
    check_crowd("1 x 1\n1 y +1\n2 x 2\n", NULL, "1 x 1\n1 y 1\n2 x 2\n");
    check_crowd("1 x 1\n1 y ?\n2 x -1\n", &frame, "1 x +1\n2 x -1\n");
    uc_crowd crowd = {0};
    assert_error(read_text(&crowd, "1 x 1\n1 y cat\n", &frame), UC_ERR_FORMAT,
                 "crowd:2: 'cat' is not a class of the data");
    uc_names_free(&classes);
}

static void count_warning(const char *sentence, void *user)
{
    assert_string_equal(sentence, "crowd: 2 annotations are repeated, and count once");
    ++*(int *)user;
}

static void what_is_said_again_counts_once(void **state)
{
    (void)state;
    static const char text[] = "1 x a\n1 x a\n2 y b\n1 x a\n";
    uc_crowd crowd = {0};
    int warnings = 0;
    const uc_context context = {.warn = count_warning, .user = &warnings};
    assert_ok(uc_crowd_read_memory(&crowd, text, strlen(text), "crowd", NULL, &context));
    assert_int_equal(crowd.count, 2);
    assert_int_equal(warnings, 1);
    uc_crowd_free(&crowd);
}

static void packed_files_are_unpacked(void **state)
{
    (void)state;
    const char *path = temporary_path("crowd.gz");
    uc_crowd crowd = {0};
    write_packed(path, "1 x a\n2 y b\n", 12);
    assert_ok(uc_crowd_read(&crowd, path, NULL, NULL));
    assert_int_equal(crowd.count, 2);
    uc_crowd_free(&crowd);
}

static void bad_files_have_their_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } bad[] = {
        {"", "crowd: empty: there are no annotations"},
        {"\n \n", "crowd: empty: there are no annotations"},
        {"row,annotator,label\n", "crowd: empty: there are no annotations"},
        {"1 x ?\n", "crowd: empty: there are no annotations"},
        {"1 x a\n5 x a\n", "crowd:2: '5' is not the number of a row: those of the data are 1 to 4"},
        {"1 x a\n0 x a\n", "crowd:2: '0' is not the number of a row: those of the data are 1 to 4"},
        {"row,who,label\n1,x,a\n",
         "crowd:1: this header names some of the columns row (or id, task), annotator (or worker) and label "
         "(or class), but all three are needed"},
        {"1 x a\n1 x\n",
         "crowd:2: 2 columns where there should be 3: a row, an annotator and a label, or those that "
         "a header names"},
        {"1 x a b\n",
         "crowd:1: 4 columns where there should be 3: a row, an annotator and a label, or those that a "
         "header names"},
        {"1,x,a\n1,,a\n", "crowd:2: '' cannot be the name of an annotator"},
        {"1,x,a\n1,y,\n", "crowd:2: there is no label on this line"},
        {"1,x,a\n1,y,\x01\n", "crowd:2: '?' cannot be the name of a class"},
        {"1,x,a\n1,\"y,a\n", "crowd:2: a quote is not closed on its line"},
        {"1,x,a\n2,y,b\n\n1,x,b\n", "crowd:4: annotator 'x' calls this row 'b', but 'a' on line 1"},
    };
    uc_crowd crowd = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_error(read_text(&crowd, bad[i].text, &four_rows), UC_ERR_FORMAT, bad[i].sentence);
    uc_names ids = {0};
    uint32_t index;
    assert_ok(uc_names_add(&index, &ids, "p", 1));
    assert_error(read_text(&crowd, "id,annotator,label\nq,x,a\n", &(uc_crowd_frame){.rows = 1, .ids = &ids}),
                 UC_ERR_FORMAT, "crowd:2: 'q' is not the id of a row of the data");
    assert_error(read_text(&crowd, "q,x,a\n", &(uc_crowd_frame){.rows = 1, .ids = &ids}), UC_ERR_FORMAT,
                 "crowd:1: 'q' is neither the id nor the number of a row of the data");
    uc_names_free(&ids);
    assert_status(uc_crowd_read(&crowd, temporary_path("none"), NULL, NULL), UC_ERR_IO);
    assert_null(crowd.first);
}

static void arrays_are_checked(void **state)
{
    (void)state;
    uc_names who = {0}, classes = {0};
    uint32_t index, zero[2] = {0, 0}, one[2] = {0, 1};
    uc_crowd crowd = {0};
    assert_ok(uc_names_add(&index, &who, "x", 1));
    assert_ok(uc_names_add(&index, &classes, "a", 1));
    assert_ok(uc_names_add(&index, &classes, "b", 1));
    assert_error(uc_crowd_from_arrays(&crowd, zero, zero, zero, 0, 1, &who, &classes, NULL), UC_ERR_INVALID,
                 "there are no annotations");
    assert_error(uc_crowd_from_arrays(&crowd, one, zero, zero, 2, 1, &who, &classes, NULL), UC_ERR_INVALID,
                 "annotation 2 is of row 2, but there are 1 rows");
    assert_error(uc_crowd_from_arrays(&crowd, zero, one, zero, 2, 1, &who, &classes, NULL), UC_ERR_INVALID,
                 "annotation 2 has an annotator or a label without a name");
    assert_error(uc_crowd_from_arrays(&crowd, zero, zero, one, 2, 1, &who, &classes, NULL), UC_ERR_INVALID,
                 "annotator 'x' calls row 1 both 'a' and 'b'");
    uc_names_free(&who);
    uc_names_free(&classes);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uc_crowd crowd = {0};
    uc_status status;
    FOR_EACH_FAILING_ALLOCATION(status, read_text(&crowd, "task,worker,label\nt,x,a\nu,y,b\n", NULL));
    uc_crowd copy = {0};
    const uint32_t rows[2] = {0, 1};
    FOR_EACH_FAILING_ALLOCATION(status, uc_crowd_from_arrays(&copy, rows, crowd.annotator, crowd.label, 2, 2,
                                                             &crowd.annotators, &crowd.classes, NULL));
    uc_crowd_free(&copy);
    uc_crowd_free(&crowd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_come_with_a_header_or_by_position),
        cmocka_unit_test(rows_have_numbers_or_ids),
        cmocka_unit_test(classes_are_those_of_the_data),
        cmocka_unit_test(what_is_said_again_counts_once),
        cmocka_unit_test(packed_files_are_unpacked),
        cmocka_unit_test(bad_files_have_their_sentence),
        cmocka_unit_test(arrays_are_checked),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
