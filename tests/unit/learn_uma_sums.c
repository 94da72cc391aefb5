/* The sums of pairs of uma, kept and computed from the rows. */
#include "tests/sample.h"

#include <stdlib.h>

#include "learn/uma/pair_sums.h"

static uc_pair_sums sums_of(const uc_dataset *data, const double *B, bool from_rows)
{
    uc_pair_sums sums = {.X = &data->X,
                         .y = data->y,
                         .weights = data->weights,
                         .n = data->X.rows,
                         .d = data->X.cols,
                         .Q = data->classes.count,
                         .from_rows = from_rows};
    assert_ok(uc_pair_sums_allocate(&sums));
    uc_pair_sums_set_inverse(&sums, B);
    return sums;
}

/* Moves all rows from `before` to `after`. */
static void move_all(uc_pair_sums *sums, const uint32_t *before, const uint32_t *after)
{
    sums->moved_in[0] = 0;
    for (size_t i = 0; i < sums->n; i++)
        if (before[i] != after[i])
            sums->moved[sums->moved_in[0]++] = i;
    assert_ok(uc_pair_sums_move(sums, before, after));
}

static void empty_row(uc_matrix *X, size_t row)
{
    const uint64_t first = X->offsets[row], last = X->offsets[row + 1], end = X->offsets[X->rows];
    memmove(X->values + first, X->values + last, (size_t)(end - last) * sizeof *X->values);
    memmove(X->columns + first, X->columns + last, (size_t)(end - last) * sizeof *X->columns);
    for (size_t i = row + 1; i <= X->rows; i++)
        X->offsets[i] -= last - first;
}

/* Weighted rows, one of which is empty, more columns than a tile has, and a prediction without rows. */
static void products_from_rows_are_those_of_kept_sums(void **state)
{
    (void)state;
    enum { N = 30, Q = 7, COLUMNS = 1300 };
    uc_dataset data = sample_data(N, COLUMNS, Q, true, 5);
    empty_row(&data.X, 4);
    data.weights = uc_alloc(N, sizeof *data.weights);
    uc_rng rng = uc_rng_make(3, 3);
    double B[Q * Q], squares[2][Q],
        *z[2] = {calloc(COLUMNS, sizeof(double)), calloc(COLUMNS, sizeof(double))};
    uint32_t predictions[3][N];
    for (size_t i = 0; i < N; i++) {
        data.weights[i] = 0.5 + uc_rng_uniform(&rng);
        predictions[0][i] = UC_NONE;
        predictions[1][i] = (uint32_t)uc_rng_below(&rng, Q - 1);
        predictions[2][i] = (uint32_t)uc_rng_below(&rng, Q - 1);
    }
    for (size_t i = 0; i < Q * Q; i++)
        B[i] = uc_rng_normal(&rng);
    uc_pair_sums sums[2] = {sums_of(&data, B, false), sums_of(&data, B, true)};
    for (size_t turn = 1; turn < 3; turn++)
        for (uint32_t p = 0; p < Q; p++) {
            for (size_t how = 0; how < 2; how++) {
                if (p == 0)
                    move_all(&sums[how], predictions[turn - 1], predictions[turn]);
                assert_ok(uc_pair_sums_squares(squares[how], &sums[how], B, p));
                uc_pair_sums_combine(z[how], &sums[how], B + Q, 30.0, p);
            }
            for (size_t q = 0; q < Q; q++)
                assert_near(squares[1][q], squares[0][q], 1e-9);
            for (size_t j = 0; j < COLUMNS; j++)
                assert_near(z[1][j], z[0][j], 1e-12);
            for (size_t k = 0; k < Q; k++)
                assert_near(sums[1].N[p * Q + k], sums[0].N[p * Q + k], 1e-12);
        }
    for (size_t how = 0; how < 2; how++) {
        uc_pair_sums_free(&sums[how]);
        free(z[how]);
    }
    uc_dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_from_rows_are_those_of_kept_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
