/* The online learners: rounds on rows in memory, against reading the same weights and nothing else; rounds
 * of cspa-plus, against the naive form of its metric; rounds of onebit, against cspa-plus and the product of
 * its matrix with a vector; rounds after landmarks, against the product of matrices in them. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

#ifdef __x86_64__
#define FOR_THIS_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_THIS_PROCESSOR
#endif

typedef double four_doubles __attribute__((vector_size(32), aligned(8), may_alias));

/* ---- rounds, and reading the weights ---- */

/* Doubles from feature to feature, as the library has them. */
static size_t stride_of(size_t classes)
{
    return (classes + 3) / 4 * 4;
}

/* Adds up the weights of every stored value's column, in the order of the values, `stride` doubles each:
 * as fast as the caches and the memory give them. */
FOR_THIS_PROCESSOR static double sum_of_weights(const uc_matrix *X, const double *weights, size_t stride)
{
    enum { LANES = 8, AHEAD = 12 };
    four_doubles sums[LANES] = {{0}};
    const uint64_t entries = X->offsets[X->rows];
    for (uint64_t i = 0; i < entries; i++) {
        const double *w = weights + X->columns[i] * stride;
        const double *later = weights + X->columns[i + AHEAD < entries ? i + AHEAD : i] * stride;
        for (size_t k = 0; k < stride; k += 8)
            __builtin_prefetch(later + k);
        size_t k = 0;
        for (; k + 4 * LANES <= stride; k += 4 * LANES)
            for (size_t lane = 0; lane < LANES; lane++)
                sums[lane] += *(const four_doubles *)(const void *)(w + k + 4 * lane);
        for (size_t lane = 0; lane < LANES; lane++)
            if (k + 4 * lane < stride)
                sums[lane] += *(const four_doubles *)(const void *)(w + k + 4 * lane);
    }
    double total = 0;
    for (size_t lane = 0; lane < LANES; lane++)
        total += sums[lane][0] + sums[lane][1] + sums[lane][2] + sums[lane][3];
    return total;
}

/* The learner at hand, and a session of its rounds. */
typedef struct runner {
    uc_online *online;
    uc_session *session;
} runner;

static void free_runner(runner *self)
{
    uc_session_free(self->session);
    uc_online_free(self->online);
}

/* Rows first .. last - 1, which are prepared, in their order: propose, get feedback, learn. */
static uc_status run(runner *self, const uc_matrix *prepared, const uint32_t *labels, size_t first,
                     size_t last)
{
    size_t *rows = malloc((last - first) * sizeof *rows);
    if (!rows)
        return UC_ERR_NOMEM;
    for (size_t i = first; i < last; i++)
        rows[i - first] = i;
    const uc_status status = uc_session_run_rows(self->session, prepared, labels, rows, last - first, true);
    free(rows);
    return status;
}

static size_t correct_rounds(const runner *self)
{
    return (size_t)uc_session_count(self->session).correct;
}

/* A learner at its defaults, with room for the data. */
static uc_status begin(runner *out, const char *name, const uc_train_settings *train, const uc_dataset *data)
{
    const uc_learner *learner = uc_learner_find(name);
    runner self = {0};
    uc_session_settings settings = {.feedback = UC_FEEDBACK_FULL};
    if (!learner)
        return UC_ERR_INVALID;
    if (!uc_learner_accepts(learner, UC_FEEDBACK_FULL))
        settings.feedback = UC_FEEDBACK_PARTIAL;
    uc_status status = uc_online_begin(&self.online, learner, NULL, train, &data->classes, NULL);
    if (status == UC_OK)
        status = uc_online_expect(self.online, data->X.cols, uc_matrix_density(&data->X));
    if (status == UC_OK)
        status = uc_session_continue(&self.session, self.online, &settings, NULL);
    if (status == UC_OK)
        *out = self;
    else
        free_runner(&self);
    return status;
}

/* Numbers that are not all alike. */
static double *make_weights(size_t count)
{
    double *weights = aligned_alloc(64, (count * sizeof *weights + 63) / 64 * 64);
    for (size_t i = 0; i < count && weights; i++)
        weights[i] = (double)(i % 7);
    return weights;
}

/* The first pass of a new learner over prepared rows; the kernel clears the pages of its weights
 * meanwhile. */
static uc_status first_pass(moment *time, size_t *correct, const char *learner, const uc_dataset *data,
                            const uc_context *context)
{
    runner self = {0};
    uc_matrix prepared = {0};
    uc_status status = begin(&self, learner, NULL, data);
    if (status == UC_OK)
        status = uc_online_prepare(&prepared, self.online, &data->X, context);
    const moment began = now();
    if (status == UC_OK)
        status = uc_session_run_rows(self.session, &prepared, data->y, NULL, prepared.rows, true);
    *time = since(began);
    if (status == UC_OK)
        *correct = correct_rounds(&self);
    free_runner(&self);
    uc_matrix_free(&prepared);
    return status;
}

/* A pass, then the weights are read; `runs` times. */
static uc_status time_rounds(moment *rounds, moment *reads, size_t runs, size_t *correct, const char *learner,
                             const uc_dataset *data, const uc_context *context)
{
    const size_t stride = stride_of(data->classes.count);
    double *weights = make_weights(data->X.cols * stride), total = 0;
    if (!weights)
        return UC_ERR_NOMEM;
    uc_status status = UC_OK;
    for (size_t i = 0; i < runs && status == UC_OK; i++) {
        status = first_pass(&rounds[i], correct, learner, data, context);
        const moment began = now();
        total += sum_of_weights(&data->X, weights, stride);
        reads[i] = since(began);
    }
    free(weights);
    if (status == UC_OK && !(total > 0)) /* so that the sum is needed */
        return UC_ERR_INVALID;
    return status;
}

uc_status run_rounds(char **arguments)
{
    const uc_context context = {.threads = 1};
    const size_t runs = count_of(arguments[2]);
    moment *rounds = calloc(runs, sizeof *rounds), *reads = calloc(runs, sizeof *reads);
    size_t correct = 0;
    uc_dataset data = {0};
    uc_status status = rounds && reads ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = uc_dataset_read(&data, arguments[0], NULL, &context);
    if (status == UC_OK)
        status = time_rounds(rounds, reads, runs, &correct, arguments[1], &data, &context);
    if (status == UC_OK) {
        printf("{\"rows\": %zu, \"columns\": %zu, \"classes\": %zu, \"entries\": %zu, \"correct\": %zu, ",
               data.X.rows, data.X.cols, data.classes.count, uc_matrix_entries(&data.X), correct);
        print_times("rounds", rounds, runs);
        printf(", ");
        print_times("reads", reads, runs);
        printf("}\n");
    }
    free(rounds);
    free(reads);
    uc_dataset_free(&data);
    return status;
}

/* ---- cspa-plus ---- */

/* What the metric costs in a round without tricks: A^-1 times the row and the rows that are replayed, and
 * a change of rank one. */
static void naive_metric(double *inverse, int n, const double *rows, double *products, size_t vectors)
{
    for (size_t r = 0; r < vectors; r++)
        cblas_dsymv(CblasRowMajor, CblasUpper, n, 1.0, inverse, n, rows + r * (size_t)n, 1, 0.0,
                    products + r * (size_t)n, 1);
    const double factor = 1.0 / (1.0 + cblas_ddot(n, rows, 1, products, 1));
    cblas_dsyr(CblasRowMajor, CblasUpper, n, -factor, products, 1, inverse, n);
}

/* The later half of the rounds in parts, after each of them as many rounds of the naive form. */
static uc_status time_plus(moment *rounds, moment *naive, size_t parts, size_t part, const uc_dataset *data,
                           const uc_context *context)
{
    enum { VECTORS = 4 }; /* the row, and three that are replayed */
    const size_t n = data->X.cols + 1, first = data->X.rows - parts * part;
    double *inverse = calloc(n * n, sizeof *inverse), *products = calloc(VECTORS * n, sizeof *products);
    double *rows = make_weights(VECTORS * n);
    runner self = {0};
    uc_matrix prepared = {0};
    uc_status status = inverse && products && rows ? UC_OK : UC_ERR_NOMEM;
    for (size_t j = 0; j < n && status == UC_OK; j++)
        inverse[j * (n + 1)] = 1;
    if (status == UC_OK)
        status = begin(&self, "cspa-plus", NULL, data);
    if (status == UC_OK)
        status = uc_online_prepare(&prepared, self.online, &data->X, context);
    if (status == UC_OK)
        status = run(&self, &prepared, data->y, 0, first);
    for (size_t i = 0; i < parts && status == UC_OK; i++) {
        moment began = now();
        status = run(&self, &prepared, data->y, first + i * part, first + (i + 1) * part);
        rounds[i] = since(began);
        began = now();
        for (size_t round = 0; round < part; round++)
            naive_metric(inverse, (int)n, rows, products, VECTORS);
        naive[i] = since(began);
    }
    free_runner(&self);
    uc_matrix_free(&prepared);
    free(inverse);
    free(products);
    free(rows);
    return status;
}

uc_status run_plus(char **arguments)
{
    enum { PARTS = 10, CLASSES = 10 };
    const size_t cols = count_of(arguments[0]), part = count_of(arguments[1]) / (2 * PARTS);
    moment rounds[PARTS], naive[PARTS];
    const uc_context context = {.threads = 1};
    uc_dataset data = {0};
    uc_status status = make_data(&data, 2 * PARTS * part, cols, CLASSES);
    openblas_set_num_threads(1);
    if (status == UC_OK)
        status = time_plus(rounds, naive, PARTS, part, &data, &context);
    if (status == UC_OK) {
        printf("{\"columns\": %zu, \"classes\": %d, \"part\": %zu, ", cols, CLASSES, part);
        print_times("rounds", rounds, PARTS);
        printf(", ");
        print_times("naive", naive, PARTS);
        printf("}\n");
    }
    free_made(&data);
    return status;
}

/* ---- onebit ---- */

enum { ONEBIT_PARTS = 10, ONEBIT_CLASSES = 10, LINEAR_COLUMNS = 64 };

typedef struct onebit_times {
    moment early, early_plus;                        /* the first half, in which the maps are made */
    moment rounds[ONEBIT_PARTS], plus[ONEBIT_PARTS]; /* the later half, in parts */
    moment products[ONEBIT_PARTS];                   /* as many products with a vector as a part has rounds */
} onebit_times;

/* A learner, its rows prepared, and the first half of its rounds. */
static uc_status begin_half(runner *self, uc_matrix *prepared, moment *time, const char *learner,
                            const uc_train_settings *train, const uc_dataset *data)
{
    const uc_context context = {.threads = 1};
    uc_status status = begin(self, learner, train, data);
    if (status == UC_OK)
        status = uc_online_prepare(prepared, self->online, &data->X, &context);
    const moment began = now();
    if (status == UC_OK)
        status = run(self, prepared, data->y, 0, data->X.rows / 2);
    *time = since(began);
    return status;
}

static uc_status time_part(moment *time, runner *self, const uc_matrix *prepared, const uint32_t *labels,
                           size_t first, size_t rounds)
{
    const moment began = now();
    const uc_status status = run(self, prepared, labels, first, first + rounds);
    *time = since(began);
    return status;
}

/* The later half in parts: onebit, cspa-plus, and a symmetric matrix of n rows times a vector, by turns. */
static uc_status time_onebit(onebit_times *times, const uc_dataset *data, size_t landmarks, size_t n)
{
    const size_t part = data->X.rows / (2 * ONEBIT_PARTS);
    uc_train_settings train = uc_train_defaults();
    double *inverse = make_weights(n * n), *vectors = make_weights(2 * n);
    runner self = {0}, plus = {0};
    uc_matrix prepared = {0}, prepared_plus = {0};
    uc_status status = inverse && vectors ? UC_OK : UC_ERR_NOMEM;
    train.map.dimension = landmarks;
    if (status == UC_OK)
        status = begin_half(&self, &prepared, &times->early, "onebit", &train, data);
    if (status == UC_OK)
        status = begin_half(&plus, &prepared_plus, &times->early_plus, "cspa-plus", NULL, data);
    for (size_t i = 0; i < ONEBIT_PARTS && status == UC_OK; i++) {
        const size_t first = data->X.rows / 2 + i * part;
        status = time_part(&times->rounds[i], &self, &prepared, data->y, first, part);
        if (status == UC_OK)
            status = time_part(&times->plus[i], &plus, &prepared_plus, data->y, first, part);
        const moment began = now();
        for (size_t round = 0; round < part; round++)
            cblas_dsymv(CblasRowMajor, CblasLower, (int)n, 1.0, inverse, (int)n, vectors, 1, 0.0, vectors + n,
                        1);
        times->products[i] = since(began);
    }
    free_runner(&self);
    free_runner(&plus);
    uc_matrix_free(&prepared);
    uc_matrix_free(&prepared_plus);
    free(inverse);
    free(vectors);
    return status;
}

uc_status run_onebit(char **arguments)
{
    const size_t cols = count_of(arguments[0]), landmarks = count_of(arguments[1]);
    const size_t part = count_of(arguments[2]) / (2 * ONEBIT_PARTS), half = part * ONEBIT_PARTS;
    const size_t size = 1 + landmarks + (cols <= LINEAR_COLUMNS ? cols : 0);
    onebit_times times = {0};
    uc_dataset data = {0};
    uc_status status = make_data(&data, 2 * half, cols, ONEBIT_CLASSES);
    openblas_set_num_threads(1);
    if (status == UC_OK)
        status = time_onebit(&times, &data, landmarks, size);
    if (status == UC_OK) {
        printf("{\"columns\": %zu, \"landmarks\": %zu, \"features\": %zu, \"half\": %zu, \"part\": %zu, ",
               cols, landmarks, size, half, part);
        print_times("early", &times.early, 1);
        printf(", ");
        print_times("early_plus", &times.early_plus, 1);
        printf(", ");
        print_times("rounds", times.rounds, ONEBIT_PARTS);
        printf(", ");
        print_times("plus", times.plus, ONEBIT_PARTS);
        printf(", ");
        print_times("products", times.products, ONEBIT_PARTS);
        printf("}\n");
    }
    free_made(&data);
    return status;
}

/* ---- landmarks ---- */

enum { BLOCK = 512 }; /* rows that go through the map together, as in `unconfuse stream` */

typedef struct landmark_times {
    moment map, rounds, gemm;
} landmark_times;

static void add_time(moment *sum, moment began)
{
    const moment taken = since(began);
    sum->elapsed += taken.elapsed;
    sum->processor += taken.processor;
}

/* The rows of one block: all through the map, then propose, get feedback, learn. */
static uc_status run_block(landmark_times *times, runner *self, const uc_dataset *block,
                           const uc_context *context)
{
    uc_matrix mapped = {0};
    moment began = now();
    uc_status status = uc_online_prepare(&mapped, self->online, &block->X, context);
    add_time(&times->map, began);
    began = now();
    if (status == UC_OK)
        status = uc_session_run_rows(self->session, &mapped, block->y, NULL, mapped.rows, true);
    add_time(&times->rounds, began);
    uc_matrix_free(&mapped);
    return status;
}

/* One pass, block by block, and after each block a product of matrices of the sizes that it has: rows by
 * columns, and columns by landmarks. */
static uc_status time_landmarks(landmark_times *times, runner *self, const uc_dataset *data, size_t landmarks,
                                const uc_context *context)
{
    const size_t cols = data->X.cols;
    double *rows = make_weights(BLOCK * cols), *centres = make_weights(landmarks * cols);
    double *products = make_weights(BLOCK * landmarks);
    uc_status status = rows && centres && products ? UC_OK : UC_ERR_NOMEM;
    for (size_t first = 0; first < data->X.rows && status == UC_OK; first += BLOCK) {
        const size_t count = data->X.rows - first < BLOCK ? data->X.rows - first : BLOCK;
        size_t numbers[BLOCK];
        uc_dataset block = {0};
        for (size_t i = 0; i < count; i++)
            numbers[i] = first + i;
        status = uc_dataset_subset(&block, data, numbers, count, NULL);
        if (status == UC_OK)
            status = run_block(times, self, &block, context);
        uc_dataset_free(&block);
        const moment began = now();
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)landmarks, (int)cols, 1.0, rows,
                    (int)cols, centres, (int)cols, 0.0, products, (int)landmarks);
        add_time(&times->gemm, began);
    }
    free(rows);
    free(centres);
    free(products);
    return status;
}

uc_status run_landmarks(char **arguments)
{
    const uc_context context = {.threads = 1};
    uc_train_settings train = uc_train_defaults();
    train.normalize_input = 1;
    train.map.map = UC_MAP_LANDMARKS;
    train.map.dimension = count_of(arguments[1]);
    train.map.width = strtod(arguments[2], NULL);
    landmark_times times = {0};
    uc_dataset data = {0};
    runner self = {0};
    uc_status status = uc_dataset_read(&data, arguments[0], NULL, &context);
    openblas_set_num_threads(1);
    if (status == UC_OK)
        status = begin(&self, "cspa", &train, &data);
    if (status == UC_OK)
        status = time_landmarks(&times, &self, &data, (size_t)train.map.dimension, &context);
    if (status == UC_OK) {
        printf("{\"rows\": %zu, \"columns\": %zu, \"classes\": %zu, \"correct\": %zu, ", data.X.rows,
               data.X.cols, data.classes.count, correct_rounds(&self));
        print_times("map", &times.map, 1);
        printf(", ");
        print_times("rounds", &times.rounds, 1);
        printf(", ");
        print_times("gemm", &times.gemm, 1);
        printf("}\n");
    }
    free_runner(&self);
    uc_dataset_free(&data);
    return status;
}
