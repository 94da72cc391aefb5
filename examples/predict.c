/* Prints the class of every example in a file, which is read in constant memory.
 *
 *   ./predict model.uc data.svm */
#include <stdio.h>
#include <stdlib.h>
#include <unconfuse/unconfuse.h>

static uc_status print_block(const uc_model *model, const uc_matrix *X)
{
    const uc_names *classes = uc_model_classes(model);
    uint32_t *predicted = malloc(X->rows * sizeof *predicted);
    if (!predicted)
        return UC_ERR_NOMEM;
    const uc_status status = uc_model_predict(predicted, model, X, NULL);
    for (size_t i = 0; i < X->rows && status == UC_OK; i++)
        puts(classes->text[predicted[i]]);
    free(predicted);
    return status;
}

static uc_status predict(const char *model_path, const char *data_path)
{
    uc_model *model = NULL;
    uc_reader *reader = NULL;
    const uc_dataset *block = NULL; /* belongs to the reader, valid until the next call */
    uc_status status = uc_model_load(&model, model_path);
    if (status == UC_OK)
        status = uc_reader_open(&reader, data_path, NULL, NULL);
    while (status == UC_OK && (status = uc_reader_next(&block, reader)) == UC_OK && block)
        status = print_block(model, &block->X);
    uc_reader_close(reader);
    uc_model_free(model);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s MODEL DATA\n", argv[0]);
        return 2;
    }
    if (predict(argv[1], argv[2]) != UC_OK) {
        fprintf(stderr, "%s: %s\n", argv[0], uc_last_error());
        return 1;
    }
    return 0;
}
