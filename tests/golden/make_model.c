/* Writes a small model that uses all of the model file: scaling, a bias, names that need care, a learner's
 * state.
 *
 * Three rounds of `perceptron` on two features, worked by hand. The scaling turns the raw rows into exact
 * numbers: shift (1, -2), factor (0.5, 2), bias 2.
 *
 *   raw row       as the weights see it   label    before the round          what the round adds
 *   (3, -1.5)     ( 1, 1) and 2           cat      all scores 0: wrong       cat + row, "a dog" - row
 *   (5, -2)       ( 2, 0) and 2           a dog    cat 6, dog -6: wrong      a dog + row, cat - row
 *   (-1, -1.5)    (-1, 1) and 2           caf\xe9    cat 2, dog -2, caf 0    caf + row, cat - row
 */
#include <stdio.h>
#include <string.h>

#include "unconfuse/unconfuse.h"

int main(int argc, char **argv)
{
    static const char *const names[3] = {"cat", "a \"dog\"", "caf\xe9"};
    static const float rows[3][2] = {{3.0f, -1.5f}, {5.0f, -2.0f}, {-1.0f, -1.5f}};
    double shift[2] = {1.0, -2.0}, factor[2] = {0.5, 2.0};
    const uc_steps steps = {.scaling = UC_SCALE_RANGE, .cols = 2, .shift = shift, .factor = factor};
    uc_train_settings train = uc_train_defaults();
    train.bias = 2.0;
    train.average = 1;
    train.scale = UC_SCALE_RANGE;
    uc_names classes = {0};
    uint32_t index;
    uc_status status = UC_OK;
    for (size_t k = 0; k < 3 && status == UC_OK; k++)
        status = uc_names_add(&index, &classes, names[k], strlen(names[k]));
    uc_online *online = NULL;
    if (status == UC_OK)
        status = uc_online_begin(&online, uc_learner_find("perceptron"), NULL, &train, &classes, &steps);
    for (uint32_t i = 0; i < 3 && status == UC_OK; i++) {
        const uc_row row = {2, rows[i], NULL};
        uc_proposal proposal;
        status = uc_online_propose(&proposal, online, &row);
        if (status == UC_OK)
            status = uc_online_learn(online, &row, &proposal, (uc_answer){UC_ANSWER_LABEL, i});
    }
    uc_model *model = NULL;
    if (status == UC_OK)
        status = uc_online_model(&model, online, true);
    if (status == UC_OK)
        status = uc_model_save(model, argc > 1 ? argv[1] : "-");
    if (status != UC_OK)
        fprintf(stderr, "%s\n", uc_last_error());
    uc_model_free(model);
    uc_online_free(online);
    uc_names_free(&classes);
    return status == UC_OK ? 0 : 1;
}
