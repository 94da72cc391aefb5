/* bench_read FILE THREADS: reads a data file whole ("-": standard input) and tells, as one JSON object, what the
 * reading took and what memory the process held before, at most, and for the arrays alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unconfuse/unconfuse.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
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

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: bench_read FILE THREADS\n");
        return 2;
    }
    const uc_context context = {.threads = (unsigned)strtoul(argv[2], NULL, 10)};
    const double before = memory("VmRSS:"), began = now();
    uc_dataset data = {0};
    if (uc_dataset_read(&data, argv[1], NULL, &context) != UC_OK) {
        fprintf(stderr, "%s\n", uc_last_error());
        return 1;
    }
    const double seconds = now() - began;
    printf("{\"seconds\": %.6f, \"rows\": %zu, \"cols\": %zu, \"classes\": %zu, \"sparse\": %s, \"array_bytes\": %.0f, "
           "\"before_bytes\": %.0f, \"peak_bytes\": %.0f}\n",
           seconds, data.X.rows, data.X.cols, data.classes.count, uc_matrix_is_sparse(&data.X) ? "true" : "false",
           array_bytes(&data), before, memory("VmHWM:"));
    uc_dataset_free(&data);
    return 0;
}
