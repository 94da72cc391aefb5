/* What "did you mean" suggests, and where it suggests nothing. */
#include "tests/support.h"

#include <string.h>

#include "unconfuse/names.h"

static const char *const commands[] = {"train",      "predict",     "evaluate",       "stream", "compare",
                                       "noise make", "noise apply", "noise estimate", "split",  "generate",
                                       "convert",    "inspect",     "learners",       "help",   NULL};
static const char *const learners[] = {"perceptron", "pa",   "spa", "copa", "cspa",       "cspa-plus", "uma",
                                       "logistic",   "csvm", "rp",  "s3vm", "sloppy-svm", NULL};
static const char *const none[] = {NULL};

static const char *name_at(size_t i, const void *user)
{
    return ((const char *const *)user)[i];
}

static void suggests(const char *const *names, const char *word, const char *expected)
{
    const char *found = uc_names_nearest(word, name_at, names);
    if (expected ? !found || strcmp(found, expected) != 0 : found != NULL)
        fail_msg("%s: expected %s, found %s", word, expected ? expected : "nothing",
                 found ? found : "nothing");
}

static void another_word_is_no_mistyped_name(void **state)
{
    (void)state;
    suggests(commands, "audit", NULL);
    suggests(commands, "clean", NULL);
    suggests(commands, "serve", NULL);
    suggests(commands, "fit", NULL);
    suggests(commands, "", NULL);
    suggests(commands, "x", NULL);
    suggests(learners, "forest", NULL);
    suggests(learners, "pattern", NULL);
    suggests(learners, "knn", NULL);
    suggests(none, "train", NULL);
}

static void a_slip_of_the_finger_is_found(void **state)
{
    (void)state;
    suggests(commands, "trian", "train");
    suggests(commands, "rtain", "train");
    suggests(commands, "evalute", "evaluate");
    suggests(commands, "comapre", "compare");
    suggests(commands, "learner", "learners");
    suggests(commands, "TRAIN", "train");
    suggests(commands, "noise-estimate", "noise estimate");
    suggests(learners, "sap", "spa");
    suggests(learners, "svm", "csvm");
    suggests(learners, "sloppy_svm", "sloppy-svm");
    suggests(learners, "cspaplus", "cspa-plus");
}

static void a_beginning_or_a_part_is_found(void **state)
{
    (void)state;
    suggests(commands, "eval", "evaluate");
    suggests(commands, "gen", "generate");
    suggests(commands, "estimate", "noise estimate");
    suggests(commands, "training", "train");
    suggests(learners, "logistic-regression", "logistic");
    suggests(learners, "sloppy", "sloppy-svm");
    suggests(learners, "perc", "perceptron");
}

static void of_equally_near_names_the_first_is_suggested(void **state)
{
    (void)state;
    static const char *const pair[] = {"ab1", "ab2", NULL};
    suggests(pair, "ab3", "ab1");
    suggests(pair, "ab2", "ab2");
}

/* A name with more letters than are compared neither overflows nor is near by accident. */
static void long_words_do_no_harm(void **state)
{
    (void)state;
    char word[500];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = 0;
    char other[sizeof word];
    memcpy(other, word, sizeof word);
    other[200] = 'b';
    const char *const long_names[] = {other, NULL};
    suggests(commands, word, NULL);
    suggests(long_names, word, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_word_is_no_mistyped_name),
        cmocka_unit_test(a_slip_of_the_finger_is_found),
        cmocka_unit_test(a_beginning_or_a_part_is_found),
        cmocka_unit_test(of_equally_near_names_the_first_is_suggested),
        cmocka_unit_test(long_words_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
