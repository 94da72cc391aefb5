/* Checks that hold for every data set that a reader accepts, whatever the bytes are. A check that fails ends
 * the program. */
#ifndef FUZZ_TRUTHS_H
#define FUZZ_TRUTHS_H

#include <math.h>

#include "data/reader.h"
#include "fuzz/files.h"
#include "unconfuse/dataset.h"

static void check_row(const uc_matrix *X, size_t i)
{
    const uc_row row = uc_matrix_row(X, i);
    for (size_t j = 0; j < row.count; j++) {
        CHECK(isfinite(row.values[j]));
        CHECK(!row.columns || row.columns[j] < X->cols);
        CHECK(!row.columns || j == 0 || row.columns[j - 1] < row.columns[j]);
    }
    for (size_t j = X->cols; j < X->stride; j++)
        CHECK(row.values[j] == 0.0f);
}

static void check_names(const uc_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        const size_t length = strlen(names->text[i]);
        CHECK(length > 0 && uc_is_name(names->text[i], length));
        CHECK(uc_names_find(names, names->text[i], length) == i);
    }
}

static void check_dataset(const uc_dataset *data)
{
    CHECK(data->X.rows > 0);
    for (size_t i = 0; i < data->X.rows; i++) {
        check_row(&data->X, i);
        CHECK(!data->y || data->y[i] == UC_NONE || data->y[i] < data->classes.count);
        CHECK(!data->bag || data->bag[i] < data->bags.count);
    }
    check_names(&data->classes);
    check_names(&data->bags);
}

static void check_same(const uc_dataset *a, const uc_dataset *b)
{
    CHECK(a->X.rows == b->X.rows && a->X.cols == b->X.cols);
    CHECK(uc_matrix_is_sparse(&a->X) == uc_matrix_is_sparse(&b->X));
    for (size_t i = 0; i < a->X.rows; i++) {
        const uc_row x = uc_matrix_row(&a->X, i), z = uc_matrix_row(&b->X, i);
        CHECK(x.count == z.count);
        CHECK(memcmp(x.values, z.values, x.count * sizeof *x.values) == 0);
        CHECK(!x.columns || memcmp(x.columns, z.columns, x.count * sizeof *x.columns) == 0);
        CHECK(!a->y || (a->y[i] == UC_NONE) == (b->y[i] == UC_NONE));
        CHECK(!a->y || a->y[i] == UC_NONE || strcmp(a->classes.text[a->y[i]], b->classes.text[b->y[i]]) == 0);
        CHECK((a->bag == NULL) == (b->bag == NULL));
        CHECK(!a->bag || strcmp(a->bags.text[a->bag[i]], b->bags.text[b->bag[i]]) == 0);
    }
}

static void check_round_trip(const uc_dataset *data, uc_format format)
{
    char path[64], labels[80];
    snprintf(path, sizeof path, "/tmp/unconfuse-fuzz-%ld", (long)getpid());
    snprintf(labels, sizeof labels, "%s-labels", path);
    const bool npy = format == UC_FORMAT_NPY;
    const char *own_labels = npy && data->y ? labels : NULL;
    CHECK(uc_dataset_write(data, path, format, own_labels, NULL) == UC_OK);
    uc_read_settings settings = uc_reader_defaults();
    settings.format = (int)format;
    settings.storage = uc_matrix_is_sparse(&data->X) ? UC_STORAGE_SPARSE : UC_STORAGE_DENSE;
    if (!data->y)
        settings.label = "none";
    if (format == UC_FORMAT_CSV && data->bag)
        settings.bag = "bag";
    settings.labels = own_labels;
    uc_dataset back = {0};
    CHECK(uc_dataset_read(&back, path, &settings, NULL) == UC_OK);
    if (format == UC_FORMAT_LIBSVM) /* the text does not have columns at the end that no row uses */
        back.X.cols = data->X.cols;
    check_same(data, &back);
    uc_dataset_free(&back);
    unlink(path);
    unlink(labels);
}

/* Reads the bytes with one and with three threads. Checks that both agree, that the rows are valid for the
 * rest of the library, and that they are the same after writing them as `format` and reading them again. */
static void check_reader(const void *bytes, size_t length, uc_format format)
{
    uc_read_settings settings = uc_reader_defaults();
    settings.format = (int)format;
    settings.storage = UC_STORAGE_SPARSE;
    const uc_context one = {.threads = 1, .memory = (uint64_t)1 << 28},
                     three = {.threads = 3, .memory = one.memory};
    const long live = uc_alloc_live();
    uc_dataset data = {0}, again = {0};
    const uc_status status = uc_dataset_read_memory(&data, bytes, length, "fuzz", &settings, &one);
    char *sentence = strdup(uc_last_error());
    CHECK(uc_dataset_read_memory(&again, bytes, length, "fuzz", &settings, &three) == status);
    if (status == UC_OK) {
        check_dataset(&data);
        check_same(&data, &again);
        /* Tables with texts are sparse, but CSV is read as dense; columns of JSON lines are sorted by
         * name. */
        if (format != UC_FORMAT_JSONL && (format != UC_FORMAT_CSV || !uc_matrix_is_sparse(&data.X)))
            check_round_trip(&data, format);
    } else {
        CHECK(strcmp(sentence, uc_last_error()) == 0);
        CHECK(sentence[0] != '\0' && !strchr(sentence, '\n'));
    }
    free(sentence);
    uc_dataset_free(&again);
    uc_dataset_free(&data);
    CHECK(uc_alloc_live() == live);
}

#endif
