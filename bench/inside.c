/* What bench/run cannot see from outside. Each command tells, as one JSON object, how long its work took:
 *
 *   bench_inside read FILE THREADS              a data file whole into memory ("-": standard input), and what memory
 *                                               the process held before, at most, and for the arrays alone
 *   bench_inside learn FILE shuffled|in-order average|last     one pass of spa over data in memory, one thread
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unconfuse/unconfuse.h"

typedef struct moment {
    double elapsed, processor; /* seconds */
} moment;

static double seconds_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static moment now(void)
{
    return (moment){seconds_of(CLOCK_MONOTONIC), seconds_of(CLOCK_PROCESS_CPUTIME_ID)};
}

static void print_since(moment began)
{
    const moment ended = now();
    printf("{\"elapsed\": %.6f, \"processor\": %.6f", ended.elapsed - began.elapsed,
           ended.processor - began.processor);
}

/* A figure of /proc/self/status, in bytes; 0 where there is none. Not getrusage, whose maximum begins with that of the
 * process that started this one. */
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

static double array_bytes(const uc_dataset *data)
{
    const uc_matrix *X = &data->X;
    const double rows = (double)X->rows, labels = data->y ? 4 * rows : 0;
    if (!uc_matrix_is_sparse(X))
        return 4 * rows * (double)X->stride + labels;
    return 8 * (double)X->offsets[X->rows] + 8 * (rows + 1) + labels;
}

static uc_status read_file(const char *path, unsigned threads)
{
    const uc_context context = {.threads = threads};
    const double before = memory("VmRSS:");
    const moment began = now();
    uc_dataset data = {0};
    const uc_status status = uc_dataset_read(&data, path, NULL, &context);
    if (status != UC_OK)
        return status;
    print_since(began);
    printf(", \"rows\": %zu, \"columns\": %zu, \"array_bytes\": %.0f, \"before_bytes\": %.0f, "
           "\"peak_bytes\": %.0f}\n",
           data.X.rows, data.X.cols, array_bytes(&data), before, memory("VmHWM:"));
    uc_dataset_free(&data);
    return UC_OK;
}

static uc_status learn(const char *path, bool shuffled, bool average)
{
    const uc_context context = {.threads = 1};
    uc_train_settings settings = uc_train_defaults();
    settings.passes = 1;
    settings.shuffle = shuffled;
    settings.average = average;
    uc_dataset data = {0};
    uc_model *model = NULL;
    uc_status status = uc_dataset_read(&data, path, NULL, &context);
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

int main(int argc, char **argv)
{
    uc_status status;
    if (argc == 4 && strcmp(argv[1], "read") == 0) {
        status = read_file(argv[2], (unsigned)strtoul(argv[3], NULL, 10));
    } else if (argc == 5 && strcmp(argv[1], "learn") == 0) {
        status = learn(argv[2], strcmp(argv[3], "shuffled") == 0, strcmp(argv[4], "average") == 0);
    } else {
        fprintf(stderr,
                "usage: bench_inside read FILE THREADS | learn FILE shuffled|in-order average|last\n");
        return 2;
    }
    if (status != UC_OK)
        fprintf(stderr, "bench_inside: %s\n", uc_last_error());
    return status == UC_OK ? 0 : 1;
}
