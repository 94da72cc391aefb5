/* The error on true classes: the rows for its estimate, and how it is reported. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define MOST_ROWS (2 * (size_t)UC_CLEAN_ERROR_ROWS) /* whose scores are kept */
#define MOST_BYTES (64.0 * 1024 * 1024)             /* of scores */
#define SEQUENCE 0x6b657074ULL                      /* of the random numbers that choose them */
#define HYPOTHESES "noise hypotheses"               /* the method that uses only the labels */
#define QUANTILE 1.6448536269514722                 /* of the normal distribution, for a two-sided 90% */

const uc_option cli_clean_options[] = {
    {.name = "wrong-at-most",
     .type = UC_OPTION_REAL,
     .offset = offsetof(cli_clean, wrong_at_most),
     .low = 0,
     .above_low = true,
     .high = 1,
     .argument = "H",
     .help = "you know that at most this share of the labels is wrong: then the error on true classes is "
             "within H of the error on the labels, whatever the noise"},
    {0},
};

/* ---- rows ---- */

void cli_kept_free(cli_kept *self)
{
    free(self->scores);
    free(self->rows);
}

/* Whether the row stays, with probability 2^-level. A row that stays at a level stays at all lower levels. */
static bool stays(size_t row, unsigned level)
{
    uc_rng rng = uc_rng_resume(1, SEQUENCE, row);
    return uc_rng_word(&rng) >> (32 - level) == 0;
}

/* Keeps half of the rows. */
static void thin(cli_kept *self)
{
    const size_t K = self->classes, before = self->count;
    self->level++;
    self->count = 0;
    for (size_t i = 0; i < before; i++) {
        if (!stays(self->rows[i], self->level))
            continue;
        self->rows[self->count] = self->rows[i];
        memmove(self->scores + self->count * K, self->scores + i * K, K * sizeof *self->scores);
        self->count++;
    }
}

void cli_kept_add(cli_kept *self, const double *scores, size_t count)
{
    const size_t K = self->classes;
    const size_t most = (size_t)fmin((double)MOST_ROWS, fmax(20.0, MOST_BYTES / (8.0 * (double)K)));
    for (size_t i = 0; i < count; i++, self->seen++) {
        if (self->level > 0 && !stays(self->seen, self->level))
            continue;
        if (self->count == self->capacity) {
            self->capacity = self->capacity > 0 ? 2 * self->capacity : 256;
            self->rows = app_realloc(self->rows, self->capacity, sizeof *self->rows);
            self->scores = app_realloc(self->scores, self->capacity * K, sizeof *self->scores);
        }
        self->rows[self->count] = self->seen;
        memcpy(self->scores + self->count * K, scores + i * K, K * sizeof *scores);
        if (++self->count == most)
            thin(self);
    }
}

uc_status cli_kept_collect(cli_kept *self)
{
    const size_t ranks = (size_t)uc_comm_size(app_comm), rank = (size_t)uc_comm_rank(app_comm);
    double *seen = app_calloc(ranks + 1, sizeof *seen);
    seen[rank] = (double)self->seen;
    uc_status status = uc_comm_sum(app_comm, seen, ranks);
    size_t before = 0, scores = self->count;
    for (size_t r = 0; r < rank; r++)
        before += (size_t)seen[r];
    free(seen);
    for (size_t i = 0; i < self->count; i++)
        self->rows[i] += before;
    if (status == UC_OK)
        status = cli_collect((void **)&self->scores, &scores, self->classes * sizeof *self->scores);
    if (status == UC_OK)
        status = cli_collect((void **)&self->rows, &self->count, sizeof *self->rows);
    return status;
}

/* ---- the estimate ---- */

void cli_clean_error_bound(cli_clean_error *self, double noisy, const cli_clean *known)
{
    self->wrong_at_most = known->wrong_at_most;
    self->bound[0] = 0.0;
    self->bound[1] = 1.0;
    if (known->wrong_at_most > 0.0)
        uc_clean_error_bound(self->bound, noisy, known->wrong_at_most);
    uc_clean_error_cut(&self->error, self->bound);
    self->found = true;
}

uc_status cli_clean_error_of(cli_clean_error *out, const cli_kept *kept, const uc_outcomes *outcomes,
                             bool probabilities, double noisy, const cli_clean *known, const app_call *call)
{
    const size_t n = kept->count;
    uint32_t *labels = app_calloc(n + 1, sizeof *labels), *predicted = app_calloc(n + 1, sizeof *predicted);
    double *weights = app_calloc(n + 1, sizeof *weights);
    for (size_t i = 0; i < n; i++) {
        labels[i] = outcomes->labels[kept->rows[i]];
        predicted[i] = outcomes->predicted[kept->rows[i]];
        weights[i] = outcomes->weights ? outcomes->weights[kept->rows[i]] : 1.0;
    }
    const uc_scored_rows rows = {.scores = kept->scores,
                                 .probabilities = probabilities,
                                 .labels = labels,
                                 .predicted = predicted,
                                 .weights = weights,
                                 .rows = n,
                                 .classes = kept->classes};
    uc_context quiet = call->context;
    quiet.progress = NULL;
    const uc_status status = uc_clean_error_estimate(&out->error, &rows, &quiet);
    out->method = HYPOTHESES;
    snprintf(out->condition, sizeof out->condition, ", if wrong labels do not depend on the example");
    if (status == UC_OK)
        cli_clean_error_bound(out, noisy, known);
    free(labels);
    free(predicted);
    free(weights);
    return status;
}

void cli_clean_error_given(cli_clean_error *out, const uc_evaluation *evaluation, const cli_clean *known)
{
    const double half = QUANTILE * evaluation->corrected_error_deviation;
    const double error = evaluation->corrected_error, within[2] = {0.0, 1.0};
    out->error =
        (uc_clean_error){.estimate = error, .low = error - half, .high = error + half, .strata = {0.1, 0.5}};
    out->error.noisy = evaluation->error;
    out->error.rows = evaluation->examples;
    out->method = "noise matrix";
    snprintf(out->condition, sizeof out->condition, ", if the given noise is that of these labels");
    uc_clean_error_cut(&out->error, within);
    cli_clean_error_bound(out, evaluation->error, known);
}

/* ---- the report ---- */

static bool is_wide(const cli_clean_error *self)
{
    return self->error.high - self->error.low > UC_CLEAN_ERROR_WIDE;
}

json_t *cli_clean_error_json(const cli_clean_error *self)
{
    const uc_clean_error *error = &self->error;
    json_t *object = json_pack("{so so so sf ss}", "estimate", app_json_real(error->estimate), "low",
                               app_json_real(error->low), "high", app_json_real(error->high), "level",
                               UC_CLEAN_ERROR_LEVEL, "method", self->method);
    if (self->wrong_at_most > 0.0) {
        json_object_set_new(object, "wrong_at_most", json_real(self->wrong_at_most));
        json_object_set_new(object, "bound", json_pack("[ff]", self->bound[0], self->bound[1]));
    }
    if (is_wide(self))
        json_object_set_new(object, "rows_to_check",
                            json_integer((json_int_t)uc_rows_to_check(error, UC_CHECKED_HALF_WIDTH)));
    return object;
}

void cli_print_interval(FILE *file, const char *title, double estimate, double low, double high,
                        const char *condition)
{
    fprintf(file, "%s%.1f%% (90%% interval %.1f%% to %.1f%%%s)\n", title, 100 * estimate, 100 * low,
            100 * high, condition);
}

void cli_print_check(FILE *file, double rows, const char *data, const char *model)
{
    fprintf(file,
            "These labels alone cannot narrow this down; check %.0f rows by hand:\n"
            "    unconfuse check %s --model %s --rows %.0f -o to-check.csv\n",
            rows, data, model, rows);
}

void cli_clean_error_print(FILE *file, const cli_clean_error *self, const char *data, const char *model)
{
    const uc_clean_error *error = &self->error;
    const bool guessed = self->test_labels && strcmp(self->method, HYPOTHESES) == 0;
    /* The title must not suggest to users with correct labels that this is a second measurement of the
     * same. */
    cli_print_interval(file, guessed ? "error if noisy     " : "clean error        ", error->estimate,
                       error->low, error->high, self->condition);
    if (guessed)
        fputs("                   if these labels are noisy too; all of them right? --no-clean-error\n",
              file);
    if (self->wrong_at_most > 0.0)
        fprintf(file,
                "                   %.1f%% to %.1f%% whatever the noise, if at most %g%% of the labels are "
                "wrong\n",
                100 * self->bound[0], 100 * self->bound[1], 100 * self->wrong_at_most);
    if (is_wide(self))
        cli_print_check(file, (double)uc_rows_to_check(error, UC_CHECKED_HALF_WIDTH), data, model);
}
