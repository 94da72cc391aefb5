/* What bench/run cannot see from outside. Each command tells, as one JSON object, how long its work took
 * (bench_inside COMMAND ...):
 *
 *   read FILE THREADS                         a data file whole into memory ("-": standard input), and the
 *                                             memory of the process before, at most, and for the arrays alone
 *   learn FILE shuffled|in-order average|last one pass of spa over data in memory, one thread
 *   uma FILE LABELS STEPS THREADS             steps of uma; with the square of the weights' length at the end
 *   memory ROWS COLUMNS CLASSES STEPS THREADS steps of uma on data made in memory, which are read once after
 *                                             every step; the times of both, and the memory of the process
 *   rp ROWS COLUMNS STEPS THREADS             the same for steps of rp
 *   svm FILE COST SMOOTHING TOLERANCE THREADS and the objective of the plain hinge loss
 *   map kpca|nystroem FILE DIMENSION WIDTH THREADS
 *                                             learning the map (kpca: of the centred kernel), and mapping all
 *                                             rows; with the sum of the squares of the mapped rows
 *   logistic FILE LABELS L2 ITERATIONS BIAS THREADS
 *                                             and the model's description, with the objective
 *   rounds FILE LEARNER RUNS                  passes over prepared rows, one row at a time, and after each
 *                                             pass reading the weights of the same columns in the same order
 *   plus COLUMNS ROUNDS                       rounds of cspa-plus, and the naive form of its metric
 *   landmarks FILE LANDMARKS WIDTH            one pass of cspa after a map: the map, the rounds, and a
 *                                             product of matrices of the same size
 *   machine MEGABYTES SIZE COUNT THREADS      reading so large an array, and products of square matrices of
 *                                             doubles of that size
 *   scan FILE COUNT                           looking at every byte of a file, and copying as many in memory
 *
 * LABELS are those of an NPY file; "-": FILE has them.
 * */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "inside.h"

#define NOISE_RATE 0.2 /* of the labels that uma learns from */

static double seconds_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

moment now(void)
{
    return (moment){seconds_of(CLOCK_MONOTONIC), seconds_of(CLOCK_PROCESS_CPUTIME_ID)};
}

moment since(moment began)
{
    const moment ended = now();
    return (moment){ended.elapsed - began.elapsed, ended.processor - began.processor};
}

void print_since(moment began)
{
    const moment taken = since(began);
    printf("{\"elapsed\": %.6f, \"processor\": %.6f", taken.elapsed, taken.processor);
}

/* A figure of /proc/self/status, in bytes; 0 where there is none. Not getrusage, whose maximum begins with
 * that of the process that started this one. */
static double memory(const char *name)
{
    char line[256];
    double kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, name, strlen(name)) == 0)
            kilobytes = strtod(line + strlen(name), NULL);
    if (status)
        fclose(status);
    return kilobytes * 1024;
}

unsigned count_of(const char *text)
{
    return (unsigned)strtoul(text, NULL, 10);
}

/* ---- reading, and one pass ---- */

static double array_bytes(const uc_dataset *data)
{
    const uc_matrix *X = &data->X;
    const double rows = (double)X->rows;
    double labels = 0;
    if (data->y)
        labels = 4 * rows;
    if (!uc_matrix_is_sparse(X))
        return 4 * rows * (double)X->stride + labels;
    return 8 * (double)X->offsets[X->rows] + 8 * (rows + 1) + labels;
}

static uc_status run_read(char **arguments)
{
    const uc_context context = {.threads = count_of(arguments[1])};
    const double before = memory("VmRSS:");
    const moment began = now();
    uc_dataset data = {0};
    const uc_status status = uc_dataset_read(&data, arguments[0], NULL, &context);
    if (status != UC_OK)
        return status;
    print_since(began);
    printf(", \"rows\": %zu, \"columns\": %zu, \"array_bytes\": %.0f, \"before_bytes\": %.0f, "
           "\"peak_bytes\": %.0f}\n",
           data.X.rows, data.X.cols, array_bytes(&data), before, memory("VmHWM:"));
    uc_dataset_free(&data);
    return UC_OK;
}

static uc_status run_learn(char **arguments)
{
    const uc_context context = {.threads = 1};
    uc_train_settings settings = uc_train_defaults();
    settings.passes = 1;
    settings.shuffle = strcmp(arguments[1], "shuffled") == 0;
    settings.average = strcmp(arguments[2], "average") == 0;
    uc_dataset data = {0};
    uc_model *model = NULL;
    uc_status status = uc_dataset_read(&data, arguments[0], NULL, &context);
    const moment began = now();
    if (status == UC_OK)
        status = uc_train(&model, uc_learner_find("spa"), NULL, &settings, &data, &context);
    if (status == UC_OK) {
        print_since(began);
        printf("}\n");
    }
    uc_model_free(model);
    uc_dataset_free(&data);
    return status;
}

static uc_status read_labelled(uc_dataset *out, const char *path, const char *labels,
                               const uc_context *context)
{
    uc_read_settings settings = uc_reader_defaults();
    if (strcmp(labels, "-") != 0)
        settings.labels = labels;
    return uc_dataset_read(out, path, &settings, context);
}

/* ---- uma ---- */

typedef float four_floats __attribute__((vector_size(16), aligned(4), may_alias));

typedef struct step_times {
    const uc_matrix *X; /* read once after every step; NULL: not read */
    unsigned threads;
    size_t count;
    moment *steps, *reads;
    moment began; /* the step */
    float total;  /* of what was read, so that it is */
} step_times;

/* As fast as the memory gives it. */
static float sum_of(const float *values, size_t count)
{
    four_floats sums[8] = {{0}};
    size_t i = 0;
    for (; i + 32 <= count; i += 32)
        for (size_t lane = 0; lane < 8; lane++)
            sums[lane] += *(const four_floats *)(const void *)(values + i + 4 * lane);
    float total = 0;
    for (; i < count; i++)
        total += values[i];
    for (size_t lane = 0; lane < 8; lane++)
        total += sums[lane][0] + sums[lane][1] + sums[lane][2] + sums[lane][3];
    return total;
}

float sum_of_matrix(const uc_matrix *X, unsigned threads)
{
    enum { ROWS = 1024 };
    float total = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)threads) reduction(+ : total) if (threads > 1)
    for (size_t first = 0; first < X->rows; first += ROWS) {
        const size_t rows = X->rows - first < ROWS ? X->rows - first : ROWS;
        total += sum_of(X->values + first * X->stride, rows * X->stride);
    }
    return total;
}

/* uma reports every step when it is done. */
static bool note_step(const char *task, double done, double total, const char *detail, void *user)
{
    step_times *times = user;
    (void)done, (void)total, (void)detail;
    if (strcmp(task, "training") != 0)
        return true;
    times->steps[times->count] = since(times->began);
    const moment began = now();
    if (times->X)
        times->total += sum_of_matrix(times->X, times->threads);
    times->reads[times->count++] = since(began);
    times->began = now();
    return true;
}

void print_times(const char *name, const moment *times, size_t count)
{
    printf("\"%s\": [", name);
    for (size_t i = 0; i < count; i++)
        printf("%s{\"elapsed\": %.6f, \"processor\": %.6f}", i ? ", " : "", times[i].elapsed,
               times[i].processor);
    printf("]");
}

/* Rows as they are, unless `prepared`; the last weights. */
static uc_status train_uma(uc_model **out, step_times *times, uc_dataset *data, uint64_t steps, bool prepared)
{
    const uc_context context = {.threads = times->threads, .progress = note_step, .user = times};
    uc_uma_settings settings = {.iterations = steps};
    uc_train_settings train = uc_train_defaults();
    uc_noise noise = {0};
    train.overwrite = 1;
    train.noise = &noise;
    if (!prepared)
        train.normalize = 0;
    times->steps = calloc(steps, sizeof *times->steps);
    times->reads = calloc(steps, sizeof *times->reads);
    if (!times->steps || !times->reads)
        return UC_ERR_NOMEM;
    uc_status status = uc_noise_uniform(&noise, data->classes.count, NOISE_RATE);
    times->began = now();
    if (status == UC_OK)
        status = uc_train(out, uc_learner_find("uma"), &settings, &train, data, &context);
    uc_noise_free(&noise);
    return status;
}

static uc_status run_uma(char **arguments)
{
    uc_dataset data = {0};
    uc_model *model = NULL;
    step_times times = {.threads = count_of(arguments[3])};
    const uc_context context = {.threads = times.threads};
    uc_status status = read_labelled(&data, arguments[0], arguments[1], &context);
    if (status == UC_OK)
        status = train_uma(&model, &times, &data, count_of(arguments[2]), false);
    if (status == UC_OK) {
        double square = 0;
        for (size_t j = 0; j < data.X.cols; j++)
            for (size_t k = 0; k < data.classes.count; k++)
                square += uc_model_weight(model, j, k) * uc_model_weight(model, j, k);
        printf("{\"square\": %.12g, ", square);
        print_times("steps", times.steps, times.count);
        printf("}\n");
    }
    free(times.steps);
    free(times.reads);
    uc_model_free(model);
    uc_dataset_free(&data);
    return status;
}

/* Classes that overlap: uniform numbers around means that are as far apart as the numbers are spread. */
uc_status make_data(uc_dataset *out, size_t rows, size_t cols, size_t classes)
{
    uc_rng rng = uc_rng_make(1, 1);
    uc_status status = uc_matrix_create_dense(&out->X, rows, cols);
    if (status != UC_OK)
        return status;
    out->y = calloc(rows, sizeof *out->y);
    float *means = calloc(classes * cols, sizeof *means);
    if (!out->y || !means)
        status = UC_ERR_NOMEM;
    for (size_t k = 0; k < classes && status == UC_OK; k++) {
        char name[24];
        uint32_t index;
        const int length = snprintf(name, sizeof name, "%zu", k + 1);
        status = uc_names_add(&index, &out->classes, name, (size_t)length);
        for (size_t j = 0; j < cols; j++)
            means[k * cols + j] = (float)uc_rng_uniform(&rng) - 0.5f;
    }
    for (size_t i = 0; i < rows && status == UC_OK; i++) {
        const size_t k = (size_t)uc_rng_below(&rng, classes);
        out->y[i] = (uint32_t)k;
        if (uc_rng_uniform(&rng) < NOISE_RATE)
            out->y[i] = (uint32_t)((k + 1 + uc_rng_below(&rng, classes - 1)) % classes);
        float *row = out->X.values + i * out->X.stride;
        for (size_t j = 0; j < cols; j++)
            row[j] = 0.1f * means[k * cols + j] + (float)uc_rng_word(&rng) * 0x1p-32f - 0.5f;
    }
    free(means);
    return status;
}

void free_made(uc_dataset *data)
{
    free(data->y); /* which is not the library's */
    data->y = NULL;
    uc_dataset_free(data);
}

static uc_status run_memory(char **arguments)
{
    const size_t rows = count_of(arguments[0]), cols = count_of(arguments[1]),
                 classes = count_of(arguments[2]);
    uc_dataset data = {0};
    uc_model *model = NULL;
    step_times times = {.X = &data.X, .threads = count_of(arguments[4])};
    const double before = memory("VmRSS:");
    uc_status status = make_data(&data, rows, cols, classes);
    if (status == UC_OK)
        status = train_uma(&model, &times, &data, count_of(arguments[3]), true);
    if (status == UC_OK) {
        printf("{\"data_bytes\": %.0f, \"score_bytes\": %.0f, \"array_bytes\": %.0f, \"before_bytes\": %.0f, "
               "\"peak_bytes\": %.0f, \"total\": %g, ",
               4 * (double)rows * (double)cols, 8 * (double)rows * (double)classes, array_bytes(&data),
               before, memory("VmHWM:"), (double)times.total);
        print_times("steps", times.steps, times.count);
        printf(", ");
        print_times("reads", times.reads, times.count);
        printf("}\n");
    }
    free(times.steps);
    free(times.reads);
    uc_model_free(model);
    free_made(&data);
    return status;
}

/* ---- rp, csvm ---- */

/* Two classes, rows as they are, the last half of the steps tells. */
static uc_status run_rp(char **arguments)
{
    const size_t rows = count_of(arguments[0]), cols = count_of(arguments[1]), steps = count_of(arguments[2]);
    uc_dataset data = {0};
    uc_model *model = NULL;
    step_times times = {.X = &data.X, .threads = count_of(arguments[3])};
    const uc_context context = {.threads = times.threads, .progress = note_step, .user = &times};
    const uc_rp_settings settings = {.kappa = 0.1, .iterations = steps};
    uc_train_settings train = uc_train_defaults();
    train.overwrite = 1;
    train.normalize = 0;
    train.map.map = UC_MAP_NONE;
    times.steps = calloc(steps, sizeof *times.steps);
    times.reads = calloc(steps, sizeof *times.reads);
    const double before = memory("VmRSS:");
    uc_status status = UC_ERR_NOMEM;
    if (times.steps && times.reads)
        status = make_data(&data, rows, cols, 2);
    times.began = now();
    if (status == UC_OK)
        status = uc_train(&model, uc_learner_find("rp"), &settings, &train, &data, &context);
    if (status == UC_OK) {
        printf("{\"data_bytes\": %.0f, \"array_bytes\": %.0f, \"before_bytes\": %.0f, \"peak_bytes\": %.0f, "
               "\"total\": %g, ",
               4 * (double)rows * (double)cols, array_bytes(&data), before, memory("VmHWM:"),
               (double)times.total);
        print_times("steps", times.steps, times.count);
        printf(", ");
        print_times("reads", times.reads, times.count);
        printf("}\n");
    }
    free(times.steps);
    free(times.reads);
    uc_model_free(model);
    free_made(&data);
    return status;
}

/* 1/2 |w|^2 + C/n times the sum of the hinge losses, without any smoothing. */
static double hinge_objective(const uc_model *model, const uc_dataset *data, double cost)
{
    double losses = 0, squares = 0;
    for (size_t i = 0; i < data->X.rows; i++) {
        const uc_row row = uc_matrix_row(&data->X, i);
        double score = 0;
        for (size_t j = 0; j < row.count; j++) {
            const size_t column = uc_row_column(row, j);
            score += (double)row.values[j] *
                     (uc_model_weight(model, column, 1) - uc_model_weight(model, column, 0));
        }
        const double margin = data->y[i] == 1 ? score : -score;
        if (margin < 1)
            losses += 1 - margin;
    }
    for (size_t j = 0; j < data->X.cols; j++) {
        const double weight = uc_model_weight(model, j, 1) - uc_model_weight(model, j, 0);
        squares += weight * weight;
    }
    return squares / 2 + cost / (double)data->X.rows * losses;
}

/* Without offset; the cost is C/n, which LIBLINEAR calls C. */
static uc_status run_svm(char **arguments)
{
    const uc_context context = {.threads = count_of(arguments[4])};
    uc_svm_settings settings;
    uc_train_settings train = uc_train_defaults();
    uc_dataset data = {0};
    uc_model *model = NULL;
    char *description = NULL;
    uc_status status = uc_dataset_read(&data, arguments[0], NULL, &context);
    uc_options_defaults(uc_learner_options(uc_learner_find("csvm")), &settings);
    settings.cost = strtod(arguments[1], NULL) * (double)data.X.rows;
    settings.smoothing = strtod(arguments[2], NULL);
    settings.tolerance = strtod(arguments[3], NULL);
    train.bias = 0;
    const double before = memory("VmRSS:");
    const moment began = now();
    if (status == UC_OK)
        status = uc_train(&model, uc_learner_find("csvm"), &settings, &train, &data, &context);
    const moment taken = since(began);
    const double peak = memory("VmHWM:");
    if (status == UC_OK)
        status = uc_model_describe(&description, model);
    if (status == UC_OK)
        printf("{\"elapsed\": %.6f, \"processor\": %.6f, \"array_bytes\": %.0f, \"before_bytes\": %.0f, "
               "\"peak_bytes\": %.0f, \"hinge\": %.9g, \"model\": %s}\n",
               taken.elapsed, taken.processor, array_bytes(&data), before, peak,
               hinge_objective(model, &data, settings.cost), description);
    uc_model_text_free(description);
    uc_model_free(model);
    uc_dataset_free(&data);
    return status;
}

/* ---- kernel PCA, logistic regression ---- */

static double sum_of_squares(const uc_matrix *X)
{
    double sum = 0;
    for (size_t i = 0; i < X->rows; i++)
        for (size_t j = 0; j < X->cols; j++) {
            const double value = X->values[i * X->stride + j];
            sum += value * value;
        }
    return sum;
}

static uc_status run_map(char **arguments)
{
    const uc_context context = {.threads = count_of(arguments[4])};
    const bool kpca = strcmp(arguments[0], "kpca") == 0;
    uc_map_settings settings = uc_map_defaults();
    settings.map = kpca ? UC_MAP_KPCA : UC_MAP_NYSTROEM;
    settings.center = kpca;
    settings.dimension = count_of(arguments[2]);
    settings.width = strtod(arguments[3], NULL);
    uc_dataset data = {0};
    uc_map *map = NULL;
    uc_matrix mapped = {0};
    moment fit = {0}, apply = {0};
    uc_status status = read_labelled(&data, arguments[1], "-", &context);
    moment began = now();
    if (status == UC_OK)
        status = uc_map_fit(&map, &settings, &data.X, 1, &context);
    fit = since(began);
    began = now();
    if (status == UC_OK)
        status = uc_map_apply(&mapped, map, &data.X, &context);
    apply = since(began);
    if (status == UC_OK) {
        printf("{\"squares\": %.9g, ", sum_of_squares(&mapped));
        print_times("fit", &fit, 1);
        printf(", ");
        print_times("apply", &apply, 1);
        printf("}\n");
    }
    uc_matrix_free(&mapped);
    uc_map_free(map);
    uc_dataset_free(&data);
    return status;
}

static uc_status run_logistic(char **arguments)
{
    const uc_context context = {.threads = count_of(arguments[5])};
    const uc_logistic_settings settings = {
        .l2 = strtod(arguments[2], NULL), .iterations = count_of(arguments[3]), .tolerance = 1e-9};
    uc_train_settings train = uc_train_defaults();
    train.bias = strtod(arguments[4], NULL);
    uc_dataset data = {0};
    uc_model *model = NULL;
    char *description = NULL;
    uc_status status = read_labelled(&data, arguments[0], arguments[1], &context);
    const moment began = now();
    if (status == UC_OK)
        status = uc_train(&model, uc_learner_find("logistic"), &settings, &train, &data, &context);
    const moment taken = since(began);
    if (status == UC_OK)
        status = uc_model_describe(&description, model);
    if (status == UC_OK)
        printf("{\"elapsed\": %.6f, \"processor\": %.6f, \"model\": %s}\n", taken.elapsed, taken.processor,
               description);
    uc_model_text_free(description);
    uc_model_free(model);
    uc_dataset_free(&data);
    return status;
}

static const struct {
    const char *name, *arguments;
    int count;
    uc_status (*run)(char **arguments);
} commands[] = {
    {"read", "FILE THREADS", 2, run_read},
    {"learn", "FILE shuffled|in-order average|last", 3, run_learn},
    {"uma", "FILE LABELS STEPS THREADS", 4, run_uma},
    {"memory", "ROWS COLUMNS CLASSES STEPS THREADS", 5, run_memory},
    {"rp", "ROWS COLUMNS STEPS THREADS", 4, run_rp},
    {"svm", "FILE COST SMOOTHING TOLERANCE THREADS", 5, run_svm},
    {"map", "kpca|nystroem FILE DIMENSION WIDTH THREADS", 5, run_map},
    {"logistic", "FILE LABELS L2 ITERATIONS BIAS THREADS", 6, run_logistic},
    {"rounds", "FILE LEARNER RUNS", 3, run_rounds},
    {"plus", "COLUMNS ROUNDS", 2, run_plus},
    {"onebit", "COLUMNS LANDMARKS ROUNDS", 3, run_onebit},
    {"landmarks", "FILE LANDMARKS WIDTH", 3, run_landmarks},
    {"machine", "MEGABYTES SIZE COUNT THREADS", 4, run_machine},
    {"scan", "FILE COUNT", 2, run_scan},
};
#define COMMANDS (sizeof commands / sizeof *commands)

int main(int argc, char **argv)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        if (argc != commands[i].count + 2 || strcmp(argv[1], commands[i].name) != 0)
            continue;
        const uc_status status = commands[i].run(argv + 2);
        if (status == UC_OK)
            return 0;
        fprintf(stderr, "bench_inside: %s\n", uc_last_error());
        return 1;
    }
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(stderr, "%s bench_inside %s %s\n", i ? "      " : "usage:", commands[i].name,
                commands[i].arguments);
    return 2;
}
