/* Files of gold labels and of predictions, for `noise estimate`, from arbitrary bytes.
 *
 * The data are fixed: ten examples of three classes, one without a label. The results are compared with
 * shares that are counted here in another way, line by line. */
#define _GNU_SOURCE
#include <math.h>

#include "base/base.h"
#include "fuzz/commands.h"

#define EXAMPLES 10
#define MOST_CLASSES (3 + EXAMPLES)

static const char *const observed[EXAMPLES] = {"a", "b", "c", "a", "b", "c", "a", "a", "?", "b"};

static const char *data_path(void)
{
    static memory_file file;
    if (!file.path[0]) {
        char text[256] = "";
        for (size_t i = 0; i < EXAMPLES; i++) {
            const size_t end = strlen(text);
            snprintf(text + end, sizeof text - end, "%s 1:%zu\n", observed[i], i);
        }
        file = memory_file_open(text, strlen(text));
    }
    return file.path;
}

/* The lines of a list of labels. */
typedef struct lines {
    const char *text[EXAMPLES];
    size_t length[EXAMPLES];
} lines;

static bool split_lines(lines *out, const char *bytes, size_t length)
{
    size_t count = 0;
    while (length > 0) {
        const char *newline = memchr(bytes, '\n', length);
        size_t width = newline ? (size_t)(newline - bytes) : length;
        const size_t used = width + (newline != NULL);
        if (count == EXAMPLES)
            return false;
        if (width > 0 && bytes[width - 1] == '\r')
            width--;
        out->text[count] = bytes;
        out->length[count++] = width;
        bytes += used;
        length -= used;
    }
    return count == EXAMPLES;
}

/* Whether the bytes may be a data file, which gold labels may come from, too. */
static bool has_features(const char *bytes, size_t length)
{
    static const char marks[] = ",;:\t";
    for (const char *mark = marks; *mark; mark++)
        if (memchr(bytes, *mark, length))
            return true;
    return false;
}

static bool is(const lines *self, size_t i, const char *name)
{
    return self->length[i] == strlen(name) && memcmp(self->text[i], name, self->length[i]) == 0;
}

/* The share of the examples of true class q that are observed as p. */
static double share(const lines *list, bool gold, const char *p, const char *q)
{
    size_t all = 0, both = 0;
    for (size_t i = 0; i < EXAMPLES; i++) {
        if (strcmp(observed[i], "?") == 0 || is(list, i, "?"))
            continue;
        bool is_p = strcmp(observed[i], p) == 0, is_q = is(list, i, q);
        if (!gold) { /* the list has predictions for the data, whose labels then are the true classes */
            is_p = is(list, i, p);
            is_q = strcmp(observed[i], q) == 0;
        }
        all += is_q;
        both += is_p && is_q;
    }
    if (all == 0)
        return (double)(strcmp(p, q) == 0);
    return (double)both / (double)all;
}

static void check_shares(const uc_noise *noise, const lines *list, bool gold)
{
    const size_t K = noise->classes;
    CHECK(K >= 2 && K <= MOST_CLASSES && noise->names.count == K);
    for (size_t p = 0; p < K; p++)
        for (size_t q = 0; q < K; q++)
            CHECK(fabs(noise->values[p * K + q] -
                       share(list, gold, noise->names.text[p], noise->names.text[q])) <= 1e-14);
}

static void try_labels(const char *bytes, size_t length, bool gold)
{
    memory_file file = memory_file_open(bytes, length);
    char output[80];
    snprintf(output, sizeof output, "%s.csv", scratch_path());
    char *method = gold ? "gold" : "model";
    char *option = gold ? "--gold" : "--predictions";
    char *words[] = {(char *)data_path(), "--method", method,      option, file.path, "-o", output,
                     "--bootstrap",       "3",        "--threads", "1",    NULL};
    const uc_status status = run_command(&command_noise_estimate, 11, words);
    uc_noise noise = {0};
    lines list;
    if (status != UC_OK) {
        check_sentence(app_last_error());
        CHECK(access(output, F_OK) != 0);
    } else if (uc_noise_read(&noise, output, UC_NOISE_COLUMNS, NULL) != UC_OK) {
        CHECK(strstr(uc_last_error(), "singular")); /* it was written nevertheless, with a warning */
    } else if (split_lines(&list, bytes, length) && !(gold && has_features(bytes, length))) {
        check_shares(&noise, &list, gold);
    }
    uc_noise_free(&noise);
    unlink(output);
    memory_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    silence_streams();
    (void)data_path();
    const long live = uc_alloc_live();
    if (length > 0)
        try_labels((const char *)bytes + 1, length - 1, bytes[0] % 2 == 0);
    CHECK(uc_alloc_live() == live);
    return 0;
}
