/* Rows to check: how many of each stratum, the interval that they give, and the file after a spreadsheet had
 * it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support.h"

#define ROWS 1000

/* Labels of two classes that agree with the prediction in the first `agree` rows. */
typedef struct rows {
    uint32_t labels[ROWS], predicted[ROWS], truth[ROWS];
    uc_names classes;
    uc_predicted_rows all;
} rows;

static void begin(rows *out, size_t count, size_t agree)
{
    uint32_t ignored;
    memset(out, 0, sizeof *out);
    assert_ok(uc_names_add(&ignored, &out->classes, "no", 2));
    assert_ok(uc_names_add(&ignored, &out->classes, "yes", 3));
    for (size_t i = 0; i < count; i++) {
        out->predicted[i] = (uint32_t)(i % 2);
        out->labels[i] = i < agree ? out->predicted[i] : 1 - out->predicted[i];
        out->truth[i] = out->predicted[i];
    }
    out->all =
        (uc_predicted_rows){out->labels, out->predicted, count, &out->classes, "data.csv", NULL, false};
}

/* m_h proportional to W_h sqrt(g_h (1 - g_h)): 600 x .3 and 400 x .4 are 9 to 8. */
static void rows_are_drawn_in_neymans_shares(void **state)
{
    (void)state;
    rows *self = malloc(sizeof *self);
    uc_check check;
    const double g[2] = {0.1, 0.2};
    begin(self, ROWS, 600);
    assert_ok(uc_check_draw(&check, &self->all, 170, g, 1));
    assert_int_equal(check.count, 170);
    assert_int_equal(check.drawn[UC_AGREE], 90);
    assert_int_equal(check.drawn[UC_DISAGREE], 80);
    assert_true(check.sizes[UC_AGREE] == 600 && check.sizes[UC_DISAGREE] == 400);
    bool seen[ROWS] = {false};
    size_t agree = 0, in_first_half = 0;
    for (size_t i = 0; i < check.count; i++) {
        assert_true(check.rows[i] < ROWS && !seen[check.rows[i]]);
        seen[check.rows[i]] = true;
        agree += check.rows[i] < 600;
        in_first_half += check.rows[i] < 600 && i < 85;
    }
    assert_int_equal(agree, 90);
    assert_true(in_first_half > 25 && in_first_half < 65); /* strata are mixed */
    uc_check_free(&check);
    uc_names_free(&self->classes);
    free(self);
}

static void check_shares(size_t agree, size_t count, size_t wanted, double g0, double g1, size_t want_agree,
                         size_t want_disagree)
{
    rows *self = malloc(sizeof *self);
    uc_check check;
    const double g[2] = {g0, g1};
    begin(self, count, agree);
    assert_ok(uc_check_draw(&check, &self->all, wanted, g, 3));
    assert_int_equal(check.drawn[UC_AGREE], want_agree);
    assert_int_equal(check.drawn[UC_DISAGREE], want_disagree);
    uc_check_free(&check);
    uc_names_free(&self->classes);
    free(self);
}

static void every_stratum_has_at_least_five_rows(void **state)
{
    (void)state;
    check_shares(500, 1000, 100, 0.0, 0.5, 5, 95);   /* sure of one stratum */
    check_shares(500, 1000, 100, 0.5, 1.0, 95, 5);   /* of the other */
    check_shares(500, 1000, 100, 0.0, 0.0, 50, 50);  /* of both: by size */
    check_shares(997, 1000, 100, 0.1, 0.5, 97, 3);   /* all that there are */
    check_shares(1000, 1000, 100, 0.1, 0.5, 100, 0); /* one is empty */
    check_shares(0, 1000, 100, 0.1, 0.5, 0, 100);
    check_shares(6, 10, 100, 0.1, 0.5, 6, 4); /* more than there are */
    check_shares(5, 10, 3, 0.5, 0.0, 2, 1);   /* hardly any */
    check_shares(5, 10, 1, 0.5, 0.0, 1, 0);
}

static void no_labels_are_nothing_to_check(void **state)
{
    (void)state;
    rows *self = malloc(sizeof *self);
    uc_check check;
    begin(self, 10, 5);
    for (size_t i = 0; i < 10; i++)
        self->labels[i] = UC_NONE;
    assert_error(uc_check_draw(&check, &self->all, 5, (const double[]){0.1, 0.5}, 1), UC_ERR_INVALID,
                 "no row has a label to check");
    uc_names_free(&self->classes);
    free(self);
}

/* 60 of 100 rows agree. Checked: 20 of them, 2 wrong; 20 others, 8 wrong. */
static void the_interval_is_that_of_two_strata(void **state)
{
    (void)state;
    rows *self = malloc(sizeof *self);
    size_t which[40];
    uint32_t truth[40];
    uint8_t stratum[40];
    uc_checked_stratum strata[2];
    uc_clean_error error;
    begin(self, 100, 60);
    for (size_t i = 0; i < 40; i++) {
        which[i] = i < 20 ? i : 60 + i - 20;
        stratum[i] = i >= 20;
        const bool wrong = i < 2 || (i >= 20 && i < 28);
        truth[i] = wrong ? 1 - self->predicted[which[i]] : self->predicted[which[i]];
    }
    uc_checked checked = {which, truth, stratum, 40, 0, true, {60, 40}, {20, 20}, NULL, false, 0};
    assert_ok(uc_checked_error(&error, strata, &checked, &self->all));
    const double p0 = 2.5 / 21, p1 = 8.5 / 21;
    const double half = 1.6448536269514722 * sqrt(0.36 * p0 * (1 - p0) / 20 + 0.16 * p1 * (1 - p1) / 20);
    assert_near(error.estimate, 0.6 * 0.1 + 0.4 * 0.4, 1e-14);
    assert_near(error.low, 0.22 - half, 1e-14);
    assert_near(error.high, 0.22 + half, 1e-14);
    assert_true(strata[0].checked == 20 && strata[0].errors == 2 && strata[1].errors == 8);
    checked.stratified = false;
    assert_ok(uc_checked_error(&error, strata, &checked, &self->all));
    const double p = 10.5 / 41, plain = 1.6448536269514722 * sqrt(p * (1 - p) / 40);
    assert_near(error.estimate, 0.25, 1e-14);
    assert_near(error.high, 0.25 + plain, 1e-14);
    checked.stratified = true; /* nobody looked at the second stratum: it may be all right or all wrong */
    checked.count = 20;
    assert_ok(uc_checked_error(&error, strata, &checked, &self->all));
    assert_true(error.low <= 0.06 && error.high >= 0.46);
    checked.count = 0;
    assert_error(uc_checked_error(&error, strata, &checked, &self->all), UC_ERR_INVALID,
                 "no row has a true class yet");
    uc_names_free(&self->classes);
    free(self);
}

/* 1,000 rows of known truth, 100 of them drawn and checked, 1,000 times. */
static void intervals_cover_the_truth(void **state)
{
    (void)state;
    rows *self = malloc(sizeof *self);
    int covered = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        uc_rng rng = uc_rng_make(seed, 2);
        size_t wrong = 0;
        begin(self, ROWS, 700);
        for (size_t i = 0; i < ROWS; i++)
            if (uc_rng_uniform(&rng) < (i < 700 ? 0.04 : 0.4)) {
                self->truth[i] = 1 - self->predicted[i];
                wrong++;
            }
        uc_check check;
        uc_clean_error error;
        uint32_t truth[100];
        uint8_t stratum[100];
        assert_ok(uc_check_draw(&check, &self->all, 100, (const double[]){0.1, 0.5}, seed));
        for (size_t i = 0; i < 100; i++) {
            truth[i] = self->truth[check.rows[i]];
            stratum[i] = check.rows[i] >= 700;
        }
        const uc_checked checked = {check.rows, truth,  stratum, 100,   0, true,
                                    {700, 300}, {0, 0}, NULL,    false, 0};
        assert_ok(uc_checked_error(&error, NULL, &checked, &self->all));
        assert_true(error.low >= 0.0 && error.high <= 1.0);
        const double e = (double)wrong / ROWS;
        covered += error.low <= e && e <= error.high;
        uc_check_free(&check);
        uc_names_free(&self->classes);
    }
    if (covered < 900)
        fail_msg("%d of 1000 intervals hold the truth", covered);
    free(self);
}

/* ---- the file ---- */

#define SIZES "# stratum sizes: agree 6 drawn 2 disagree 4 drawn 2 (fill in true_label and keep this line)"
#define HEADER "row,id,given_label,predicted_label,stratum,true_label"

static uc_status read_text(uc_checked *out, const rows *self, const char *text)
{
    const char *path = temporary_path("checked.csv");
    write_file(path, text);
    return uc_checked_read(out, path, &self->all, NULL);
}

/* Rows 1 (no, predicted no) and 8 (no, predicted yes) are checked; both are yes. */
static void check_reads(const rows *self, const char *text)
{
    uc_checked checked;
    assert_ok(read_text(&checked, self, text));
    assert_true(checked.stratified && !checked.why && !checked.other_model);
    assert_int_equal(checked.count, 2);
    assert_true(checked.rows[0] == 0 && checked.rows[1] == 7);
    assert_true(checked.truth[0] == 1 && checked.truth[1] == 1);
    assert_true(checked.stratum[0] == UC_AGREE && checked.stratum[1] == UC_DISAGREE);
    assert_true(checked.sizes[UC_AGREE] == 6 && checked.sizes[UC_DISAGREE] == 4);
    uc_checked_free(&checked);
}

static void spreadsheets_may_change_the_file(void **state)
{
    (void)state;
    rows *self = malloc(sizeof *self);
    begin(self, 10, 6);
    check_reads(self, SIZES "\n" HEADER "\n1,,no,no,agree,yes\n8,,no,yes,disagree,yes\n");
    check_reads(self, SIZES "\n" HEADER "\n1,,no,no,agree,yes\n2,,yes,yes,agree,\n8,,no,yes,disagree,yes");
    check_reads(self, SIZES "\r\n" HEADER "\r\n1,,no,no,agree,yes\r\n8,,no,yes,disagree,yes\r\n");
    check_reads(self,
                "\xef\xbb\xbf\"" SIZES "\";;;;;\r\nrow;id;given_label;predicted_label;stratum;true_label\r\n"
                "1;;no;no;agree;\"yes\"\r\n\"8\";;no;yes;disagree;YES\r\n;;;;;\r\n");
    check_reads(self, SIZES ",,,,,\n" HEADER "\n\n1,,no,no,agree, yes \n8.0,,NO,Yes,disagree,Yes\n,,,,,\n");
    check_reads(self,
                "true_label\tstratum\trow\nyes\tagree\t1\nyes\tdisagree\t8\n"); /* sizes are the data's */
    uc_names_free(&self->classes);
    free(self);
}

static void numbers_may_be_written_in_another_way(void **state)
{
    (void)state;
    rows *self = malloc(sizeof *self);
    uc_checked checked;
    uint32_t ignored;
    begin(self, 10, 6);
    uc_names_free(&self->classes);
    assert_ok(uc_names_add(&ignored, &self->classes, "-1", 2));
    assert_ok(uc_names_add(&ignored, &self->classes, "+1", 2));
    assert_ok(read_text(&checked, self, SIZES "\n" HEADER "\n1,,-1,-1,agree,1\n8,,-1.0,1,disagree,1.0\n"));
    assert_true(checked.count == 2 && checked.truth[0] == 1 && checked.truth[1] == 1);
    assert_true(checked.stratified && !checked.other_model);
    uc_checked_free(&checked);
    uc_names_free(&self->classes);
    free(self);
}

static void check_refuses(const rows *self, const char *text, const char *sentence)
{
    uc_checked checked = {0};
    char whole[512];
    snprintf(whole, sizeof whole, "%s%s", temporary_path("checked.csv"), sentence);
    assert_error(read_text(&checked, self, text), UC_ERR_FORMAT, whole);
    assert_null(checked.rows);
}

static void bad_files_get_a_sentence(void **state)
{
    (void)state;
    rows *self = malloc(sizeof *self);
    begin(self, 10, 6);
    check_refuses(self, SIZES "\n" HEADER "\n11,,no,no,agree,yes\n",
                  ":3: row '11' is not one of the rows 1 to 10 of data.csv");
    check_refuses(self, SIZES "\n" HEADER "\n0,,no,no,agree,yes\n",
                  ":3: row '0' is not one of the rows 1 to 10 of data.csv");
    check_refuses(self, SIZES "\n" HEADER "\nfirst,,no,no,agree,yes\n",
                  ":3: row 'first' is not one of the rows 1 to 10 of data.csv");
    check_refuses(self, SIZES "\n" HEADER "\n1,,no,no,agree,yes\n1,,no,no,agree,no\n",
                  ":4: row 1 was given in line 3 already; keep one of the two");
    check_refuses(self, SIZES "\n" HEADER "\n1,,no,no,agree,maybe\n",
                  ":3: 'maybe' is not a class of the model; leave true_label empty if it is not clear");
    check_refuses(
        self, SIZES "\n" HEADER "\n1,,yes,no,agree,yes\n",
        ":3: the label of row 1 is 'yes' here but 'no' in data.csv: this file was made for other data");
    check_refuses(self,
                  "# stratum sizes: agree 9 drawn 2 disagree 4 drawn 2\n" HEADER "\n1,,no,no,agree,yes\n",
                  ": it was made for data of 13 labelled rows, but data.csv has 10");
    check_refuses(self, HEADER "\n1,,no,yes,agree,yes\n",
                  ": its rows were drawn for another model, and the line with the stratum sizes is missing");
    check_refuses(self, SIZES "\n" HEADER "\n1,,\"no,no,agree,yes\n",
                  ":3: a quote is not closed on its line");
    check_refuses(self, SIZES "\n" HEADER "\n1,,no,no,agree,y\001s\n", ":3: control character 0x01");
    check_refuses(self, "yes\nno\n",
                  ": 2 true classes, but data.csv has 10 rows; '?' stands for a row that nobody has checked");
    check_refuses(self, "?\n?\n?\n?\nmaybe\n?\n?\n?\n?\n?\n", ": row 5: 'maybe' is not a class of the model");
    uc_names_free(&self->classes);
    free(self);
}

/* Rows are named by number, by id if the file has no numbers, and only by id if rows have no order. */
static void rows_may_go_by_their_ids(void **state)
{
    (void)state;
    static const char *const ids[4] = {"ann", "bob", "3", "2"};
    rows *self = malloc(sizeof *self);
    uc_checked checked;
    begin(self, 4, 4);
    self->all.ids = ids;
    assert_ok(read_text(&checked, self, "id,true_label\nbob,yes\n2,no\n"));
    assert_true(checked.count == 2 && checked.rows[0] == 1 && checked.rows[1] == 3);
    uc_checked_free(&checked);
    assert_ok(read_text(&checked, self, "row,true_label\n2,no\n"));
    assert_true(checked.count == 1 && checked.rows[0] == 1);
    uc_checked_free(&checked);
    check_refuses(self, "id,true_label\neve,yes\n", ":2: 'eve' is not the id of a row of data.csv");
    self->all.named = true;
    assert_ok(read_text(&checked, self, "row,true_label\n2,no\n"));
    assert_true(checked.count == 1 && checked.rows[0] == 3);
    uc_checked_free(&checked);
    check_refuses(
        self, "no\nyes\nno\nyes\n",
        ": data.csv gives its rows names, such as 'ann', and no order: name them here as well, by a "
        "header row,true_label");
    self->all.ids = NULL;
    self->all.named = false;
    check_refuses(self, "id,true_label\nbob,yes\n",
                  ": the rows of data.csv have no ids of their own: name them by a column row");
    uc_names_free(&self->classes);
    free(self);
}

/* Rows of which nobody knows how they were chosen: one sample. */
static void other_rows_are_one_sample(void **state)
{
    (void)state;
    rows *self = malloc(sizeof *self);
    uc_checked checked;
    begin(self, 10, 6);
    assert_ok(read_text(&checked, self, "row,true_label\n1,yes\n8,yes\n"));
    assert_true(!checked.stratified && checked.count == 2);
    assert_string_equal(checked.why, "a row has no stratum");
    uc_checked_free(&checked);
    assert_ok(read_text(&checked, self,
                        SIZES "\n" HEADER "\n1,,no,no,agree,yes\n2,,yes,yes,agree,yes\n3,,no,no,agree,no\n"));
    assert_false(checked.stratified);
    assert_string_equal(checked.why, "it has more rows than were drawn");
    uc_checked_free(&checked);
    assert_ok(read_text(&checked, self, "?\nno\n?\n?\n?\n?\n?\nyes\n?\n?\n"));
    assert_true(!checked.stratified && checked.count == 2 && checked.empty == 8 && checked.rows[1] == 7);
    assert_string_equal(checked.why, "it has no stratum of the rows");
    uc_checked_free(&checked);
    assert_ok(read_text(&checked, self, "no\nno\nno\nno\nno\nno\nno\nyes\nno\nno\n"));
    assert_true(checked.count == 10 && !checked.why); /* all rows: how they were chosen does not matter */
    uc_checked_free(&checked);
    uc_names_free(&self->classes);
    free(self);
}

static void rows_that_are_missing_are_counted(void **state)
{
    (void)state;
    static const char whole[] = SIZES "\n" HEADER "\n1,,no,no,agree,yes\n8,,no,yes,disagree,yes\n"
                                      "2,,yes,yes,agree,\n9,,yes,no,disagree,yes\n";
    rows *self = malloc(sizeof *self);
    uc_checked checked;
    begin(self, 10, 6);
    for (size_t cut = 0; cut <= 2; cut++) {
        char *text = strdup(whole);
        if (cut > 0) /* before the last line, or within it */
            strrchr(text, '9')[cut == 1 ? 0 : 7] = '\0';
        assert_ok(read_text(&checked, self, text));
        assert_true(checked.stratified && !checked.why);
        assert_int_equal(checked.missing, cut > 0);
        assert_int_equal(checked.count, cut > 0 ? 2 : 3);
        uc_checked_free(&checked);
        free(text);
    }
    uc_names_free(&self->classes);
    free(self);
}

static void another_model_keeps_the_strata_that_were_drawn(void **state)
{
    (void)state;
    rows *self = malloc(sizeof *self);
    uc_checked checked;
    begin(self, 10, 6);
    assert_ok(read_text(&checked, self, SIZES "\n" HEADER "\n1,,no,yes,disagree,yes\n8,,no,no,agree,yes\n"));
    assert_true(checked.stratified && checked.other_model && checked.stratum[0] == UC_DISAGREE);
    uc_checked_free(&checked);
    uc_names_free(&self->classes);
    free(self);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rows *self = malloc(sizeof *self);
    uc_check check;
    uc_checked checked;
    uc_status status;
    begin(self, 10, 6);
    FOR_EACH_FAILING_ALLOCATION(status, uc_check_draw(&check, &self->all, 4, (const double[]){0.1, 0.5}, 1));
    uc_check_free(&check);
    FOR_EACH_FAILING_ALLOCATION(
        status,
        read_text(&checked, self, SIZES "\n" HEADER "\n1,,no,no,agree,yes\n8,,no,yes,disagree,yes\n"));
    uc_checked_free(&checked);
    FOR_EACH_FAILING_ALLOCATION(status, read_text(&checked, self, "?\nno\n?\n?\n?\n?\n?\nyes\n?\n?\n"));
    uc_checked_free(&checked);
    uc_names_free(&self->classes);
    free(self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_drawn_in_neymans_shares),
        cmocka_unit_test(every_stratum_has_at_least_five_rows),
        cmocka_unit_test(no_labels_are_nothing_to_check),
        cmocka_unit_test(the_interval_is_that_of_two_strata),
        cmocka_unit_test(intervals_cover_the_truth),
        cmocka_unit_test(spreadsheets_may_change_the_file),
        cmocka_unit_test(numbers_may_be_written_in_another_way),
        cmocka_unit_test(bad_files_get_a_sentence),
        cmocka_unit_test(rows_may_go_by_their_ids),
        cmocka_unit_test(other_rows_are_one_sample),
        cmocka_unit_test(another_model_keeps_the_strata_that_were_drawn),
        cmocka_unit_test(rows_that_are_missing_are_counted),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
