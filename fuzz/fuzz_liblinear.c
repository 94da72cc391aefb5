/* LIBLINEAR's text models from arbitrary bytes.
 *
 * The scores of an accepted model are computed again here, from the numbers after the line `w`. Exported and
 * imported, the model gives the same scores, and our own file of it contains the same model. */
#define _GNU_SOURCE
#include <math.h>

#include "base/base.h"
#include "fuzz/files.h"
#include "unconfuse/model.h"

#define MOST_FEATURES 64

/* The sum of w_k over all features and the constant, which is the score of a row of ones. All words after the
 * first separate `w` are numbers, feature by feature. Adds the absolute values to *size. */
static double score_of_ones(const char *text, size_t columns, size_t column, size_t features, double bias,
                            double *size)
{
    const char *at = text;
    while (!(at[0] == 'w' && strchr(" \t\n\v\f\r", at[1]) && (at == text || strchr(" \t\n\v\f\r", at[-1]))))
        at++;
    at++;
    double sum = 0.0;
    for (size_t j = 0; j < features + (bias >= 0.0); j++)
        for (size_t k = 0; k < columns; k++) {
            char *end;
            double value = strtod(at, &end);
            CHECK(end > at);
            at = end;
            if (j == features)
                value *= bias;
            if (k == column) {
                sum += value;
                *size += fabs(value);
            }
        }
    return sum;
}

static void scores_of_ones(double *scores, const uc_model *model)
{
    float ones[MOST_FEATURES];
    for (size_t j = 0; j < MOST_FEATURES; j++)
        ones[j] = 1.0f;
    const size_t features = uc_model_features(model);
    const uc_matrix X = {.rows = 1, .cols = features, .stride = MOST_FEATURES, .values = ones};
    const uc_context context = {.threads = 1};
    if (uc_model_scores(scores, model, &X, &context) == UC_OK)
        return;
    check_sentence(uc_last_error()); /* finite weights, but an infinite or undefined sum */
    scores[0] = NAN;
}

/* The number after the last `key` in the header, as the reader interprets it. */
static double header_number(const char *text, const char *key, double otherwise)
{
    const char *end = strstr(text, "\nw");
    for (const char *at = text; (at = strstr(at, key)) && (!end || at < end); at++)
        otherwise = strtod(at + strlen(key), NULL);
    return otherwise;
}

/* Whether the header has the form that LIBLINEAR writes, so that it is parsed correctly here. */
static bool is_plain(const char *text)
{
    static const char *const lines[] = {"solver_type ",  "\nnr_class ", "\nlabel ",
                                        "\nnr_feature ", "\nbias ",     "\nw\n"};
    const char *at = text;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *found = strstr(at, lines[i]);
        if (!found || (i == 0 && found != text) || (i > 0 && found != at + strcspn(at, "\n")))
            return false;
        at = found + (i > 0);
    }
    return !strstr(at, "x") &&
           !strstr(at, "X"); /* strtod reads hexadecimal numbers, which the reader refuses */
}

static void check_scores(const uc_model *model, const char *text)
{
    const size_t K = uc_model_classes(model)->count, features = uc_model_features(model);
    double *scores = calloc(K, sizeof *scores);
    CHECK(scores);
    scores_of_ones(scores, model);
    const double bias = header_number(text, "\nbias ", -1.0);
    const bool single = K == 2 && !strstr(text, "MCSVM_CS");
    const char *label = strstr(text, "\nlabel ") + 7;
    for (size_t k = 0; k < K && !isnan(scores[0]); k++) {
        label += strspn(label, " \t\v\f\r");
        const size_t length = strcspn(label, " \t\n\v\f\r");
        const uint32_t place = uc_names_find(uc_model_classes(model), label, length);
        CHECK(place < K);
        double size = 0.0;
        double expected;
        if (single) {
            const double half = score_of_ones(text, 1, 0, features, bias, &size) / 2;
            expected = k == 0 ? half : -half;
        } else {
            expected = score_of_ones(text, K, k, features, bias, &size);
        }
        CHECK(fabs(scores[place] - expected) <= 1e-13 * size + 1e-300);
        label += length;
    }
    free(scores);
}

static void check_same_scores(const uc_model *a, const uc_model *b)
{
    const size_t K = uc_model_classes(a)->count;
    CHECK(uc_model_classes(b)->count == K && uc_model_features(b) == uc_model_features(a));
    for (size_t k = 0; k < K; k++) {
        for (size_t j = 0; j < uc_model_features(a); j++)
            CHECK(uc_model_weight(a, j, k) == uc_model_weight(b, j, k));
        const double x = uc_model_offset(a, k), y = uc_model_offset(b, k);
        CHECK(x == y || (isnan(x) && isnan(y)));
    }
}

static void check_files(const uc_model *model)
{
    uc_model *back = NULL;
    void *bytes;
    size_t length;
    CHECK(uc_model_save_memory(&bytes, &length, model) == UC_OK);
    CHECK(uc_model_load_memory(&back, bytes, length, "saved") == UC_OK);
    check_same_scores(model, back);
    uc_model_free(back);
    uc_model_memory_free(bytes);
    if (uc_model_export_liblinear(model, scratch_path()) == UC_OK) {
        if (uc_model_import_liblinear(&back, scratch_path()) == UC_OK) {
            check_same_scores(model, back);
            uc_model_free(back);
        } else { /* bias times its weight, both finite, may not be finite */
            CHECK(strstr(uc_last_error(), "number"));
        }
    } else { /* labels that LIBLINEAR cannot have */
        check_sentence(uc_last_error());
    }
    unlink(scratch_path());
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const long live = uc_alloc_live();
    memory_file file = memory_file_open(bytes, length);
    uc_model *model = NULL;
    const uc_status status = uc_model_import_liblinear(&model, file.path);
    memory_file_close(&file);
    CHECK((status == UC_OK) == (model != NULL));
    if (model) {
        char *text = strndup((const char *)bytes, length);
        CHECK(text);
        CHECK(uc_model_classes(model)->count >= 2);
        if (uc_model_features(model) <= MOST_FEATURES && strlen(text) == length && is_plain(text))
            check_scores(model, text);
        check_files(model);
        free(text);
    } else {
        check_sentence(uc_last_error());
    }
    uc_model_free(model);
    CHECK(uc_alloc_live() == live);
    return 0;
}
