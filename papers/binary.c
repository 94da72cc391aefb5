/* Splits of the benchmark, and test errors in percent. */
#define _GNU_SOURCE
#include "binary.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define SEQUENCE_SPLIT 7 /* of random numbers */

/* ---- lists of rows ---- */

typedef struct bytes {
    char *text;
    size_t length, room;
} bytes;

static void make_room(bytes *self, size_t more)
{
    if (self->room - self->length >= more)
        return;
    self->room = 2 * self->room + more;
    self->text = app_realloc(self->text, self->room, 1);
}

static bool read_plain(bytes *out, FILE *file)
{
    for (size_t count = 1; count > 0;) {
        make_room(out, 1 << 16);
        count = fread(out->text + out->length, 1, 1 << 16, file);
        out->length += count;
    }
    return !ferror(file);
}

static bool unpack(bytes *out, const bytes *packed)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer input = {packed->text, packed->length, 0};
    size_t left = 1; /* 0: the frame is complete */
    while (stream && left > 0 && !ZSTD_isError(left)) {
        make_room(out, 1 << 16);
        ZSTD_outBuffer output = {out->text, out->room, out->length};
        left = ZSTD_decompressStream(stream, &output, &input);
        const bool stuck = input.pos == input.size && output.pos == out->length;
        out->length = output.pos;
        if (left > 0 && stuck)
            break; /* truncated */
    }
    ZSTD_freeDStream(stream);
    return left == 0;
}

/* Reads the file as text terminated by a zero byte. */
static uc_status read_text(bytes *out, const char *path, FILE *file)
{
    bytes raw = {0};
    const size_t length = strlen(path);
    const bool packed = length > 4 && strcmp(path + length - 4, ".zst") == 0;
    bool read = read_plain(&raw, file);
    if (read && packed)
        read = unpack(out, &raw);
    else if (read) {
        *out = raw;
        raw = (bytes){0};
    }
    free(raw.text);
    make_room(out, 1);
    out->text[out->length] = 0;
    return read ? UC_OK : app_fail(UC_ERR_IO, "%s: it cannot be read", path);
}

/* Parses one line per split, with `size` numbers from 1 to `rows`. */
static uc_status parse_list(split_list *out, const char *text, size_t size, size_t rows, const char *path)
{
    split_list list = {.size = size};
    size_t count = 0;
    for (const char *at = text; *(at += strspn(at, " \t\r\n"));) {
        char *end;
        const unsigned long row = strtoul(at, &end, 10);
        if (end == at || row < 1 || row > rows) {
            free(list.rows);
            return app_fail(UC_ERR_FORMAT, "%s: '%.*s' is not a row from 1 to %zu", path,
                            (int)strcspn(at, " \t\r\n"), at, rows);
        }
        if (count % size == 0)
            list.rows = app_realloc(list.rows, count + size, sizeof *list.rows);
        list.rows[count++] = row - 1;
        at = end;
    }
    if (count % size != 0) {
        free(list.rows);
        return app_fail(UC_ERR_FORMAT, "%s: %zu rows are no multiple of %zu, the training rows of a split",
                        path, count, size);
    }
    list.splits = count / size;
    *out = list;
    return UC_OK;
}

/* Leaves the list empty if there is no such file. */
static uc_status read_list(split_list *out, const benchmark *self, const execution *running, const char *kind)
{
    static const char *const endings[] = {".zst", ""};
    uc_status status = UC_OK;
    for (size_t i = 0; i < 2 && status == UC_OK && out->splits == 0; i++) {
        char *path =
            app_text("%s/ratsch.%s.%s.train.idx%s", running->data_directory, self->name, kind, endings[i]);
        bytes content = {0};
        FILE *file = fopen(path, "rb");
        if (file)
            status = read_text(&content, path, file);
        if (file && status == UC_OK)
            status = parse_list(out, content.text, self->train_rows, self->all.X.rows, path);
        if (file)
            fclose(file);
        free(content.text);
        free(path);
    }
    return status;
}

/* ---- splits ---- */

enum { OFFICIAL, REDRAWN, DRAWN };

static uc_status check_rows(const benchmark *self, const char *name, size_t train_rows)
{
    const uc_dataset *all = &self->all;
    if (all->classes.count != 2)
        return app_fail(UC_ERR_FORMAT, "ratsch.%s: %zu classes where two are needed", name,
                        all->classes.count);
    if (train_rows >= all->X.rows)
        return app_fail(UC_ERR_FORMAT, "ratsch.%s: %zu rows leave none to test on", name, all->X.rows);
    return UC_OK;
}

/* Reads the rows of the splits for which there are files. */
static uc_status read_splits(benchmark *out, execution *self)
{
    uc_status status = read_list(&out->official, out, self, "official1-10");
    if (status == UC_OK)
        status = read_list(&out->redrawn, out, self, "redrawn100");
    if (status == UC_OK && out->redrawn.splits == 0)
        status = read_list(&out->redrawn, out, self, "redrawn20");
    return status;
}

uc_status benchmark_open(benchmark *out, execution *self, const char *name, size_t train_rows)
{
    *out = (benchmark){.name = name, .train_rows = train_rows};
    execution_stage(self, self->done, 1, "reading %s", name);
    char *file = app_text("ratsch.%s", name);
    uc_status status = data_read(&out->all, self, file);
    free(file);
    if (status == UC_OK && uc_matrix_is_sparse(&out->all.X))
        status = uc_matrix_densify(&out->all.X);
    if (status == UC_OK)
        status = check_rows(out, name, train_rows);
    return status == UC_OK ? read_splits(out, self) : status;
}

/* Puts the training rows of split `run` at the front of `order`; returns where they come from. */
static int choose_rows(size_t *order, const benchmark *self, const execution *running, size_t run)
{
    const split_list *lists[] = {&self->official, &self->redrawn};
    for (int kind = OFFICIAL; kind <= REDRAWN; kind++)
        if (run < lists[kind]->splits) {
            memcpy(order, lists[kind]->rows + run * self->train_rows, self->train_rows * sizeof *order);
            return kind;
        }
    uc_rng rng = uc_rng_make(execution_seed(running, run), SEQUENCE_SPLIT);
    uc_rng_choose(&rng, order, self->all.X.rows, self->train_rows);
    return DRAWN;
}

uc_status benchmark_split(uc_dataset *train, uc_dataset *test, benchmark *self, const execution *running,
                          size_t run)
{
    const size_t rows = self->all.X.rows;
    size_t *order = app_calloc(rows, sizeof *order), *others = app_calloc(rows, sizeof *others);
    bool *taken = app_calloc(rows, sizeof *taken);
    const int kind = choose_rows(order, self, running, run);
    size_t left = 0;
    for (size_t i = 0; i < self->train_rows; i++)
        taken[order[i]] = true;
    for (size_t i = 0; i < rows; i++)
        if (!taken[i])
            others[left++] = i;
    uc_dataset_free(train);
    uc_dataset_free(test);
    *train = *test = (uc_dataset){0};
    uc_status status = uc_dataset_subset(train, &self->all, order, self->train_rows, NULL);
    if (status == UC_OK)
        status = uc_dataset_subset(test, &self->all, others, left, NULL);
    if (run >= self->used[OFFICIAL] + self->used[REDRAWN] + self->used[DRAWN])
        self->used[kind]++;
    free(taken);
    free(others);
    free(order);
    return status;
}

void benchmark_note(const benchmark *self, execution *running)
{
    static const char *const kinds[] = {"published", "redrawn", "drawn by the seed"};
    char text[128] = "";
    for (int kind = OFFICIAL; kind <= DRAWN; kind++)
        if (self->used[kind] > 0) {
            const size_t length = strlen(text);
            snprintf(text + length, sizeof text - length, "%s%zu %s", length ? ", " : "", self->used[kind],
                     kinds[kind]);
        }
    report_note(&running->report, "%s: %zu training and %zu test examples; splits: %s", self->name,
                self->train_rows, self->all.X.rows - self->train_rows, text);
}

void benchmark_free(benchmark *self)
{
    uc_dataset_free(&self->all);
    free(self->official.rows);
    free(self->redrawn.rows);
    *self = (benchmark){0};
}

/* ---- learning ---- */

uc_status draw_noisy(uint32_t *labels, const uc_dataset *clean, const uc_noise *noise, uint64_t seed)
{
    uc_dataset lent = *clean;
    memcpy(labels, clean->y, clean->X.rows * sizeof *labels);
    lent.y = labels;
    return uc_noise_apply(&lent, noise, seed, NULL);
}

uc_status model_error(double *percent, const uc_model *model, const uc_dataset *test,
                      const uc_context *context)
{
    uint32_t *predicted = app_calloc(test->X.rows, sizeof *predicted);
    const uc_status status = uc_model_predict(predicted, model, &test->X, context);
    size_t errors = 0;
    for (size_t i = 0; i < test->X.rows; i++)
        errors += predicted[i] != test->y[i];
    if (status == UC_OK)
        *percent = 100.0 * (double)errors / (double)test->X.rows;
    free(predicted);
    return status;
}

uc_status learn_error(double *percent, const char *learner, const void *settings,
                      const uc_train_settings *common, const uc_dataset *train, const uc_dataset *test,
                      const uc_context *context)
{
    uc_dataset lent = *train;
    uc_model *model = NULL;
    uc_status status = uc_tune_and_train(&model, uc_learner_find(learner), settings, common, &lent, context);
    if (status == UC_OK)
        status = model_error(percent, model, test, context);
    uc_model_free(model);
    return status;
}

panel *percent_panel(execution *self, const char *name, const char *title, const char *row_title)
{
    panel *table = report_panel(&self->report, name, title, PLOT_LINES, row_title, "test error, %");
    table->decimals = 2;
    return table;
}

void move_to_end(execution *self, const panel *table)
{
    panel **panels = self->report.panels;
    const size_t count = self->report.panel_count;
    for (size_t i = 0; i + 1 < count; i++)
        if (panels[i] == table) {
            panel *moved = panels[i];
            panels[i] = panels[i + 1];
            panels[i + 1] = moved;
        }
}

uc_context one_thread(const execution *self)
{
    uc_context context = self->context;
    context.threads = 1;
    return context;
}
