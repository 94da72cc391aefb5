/*
 * All of `audit`: the views, the width of their kernels, `structure`, its guard, and `labels` if the guard
 * rejects it.
 *
 *   width    .3, 1 and 3 are tried with ten steps of `structure` each, and the largest fit at any step wins;
 *            if there are more rows than landmarks, the largest fit at the last of these steps; above 7,500
 *            rows, widths are tried on 5,000 of them, which also determine the space of the axes; if the
 *            caller sets a width, nothing is tried
 *   axes     300 per view with 600 landmarks; with more rows one axis per ten rows, as long as rows x axes
 *            stays small: a row then contributes about a tenth of its own score, and hardly any shrinkage is
 *            needed
 *   guard    see guard.c. The losses of all widths are similar: if only the guard is asked for, it stops when
 *            the first width has lost .09 (on twelve data sets above .08, no width came down to .045)
 */
#include <math.h>
#include <string.h>

#include "data/exchange.h"
#include "data/weights.h"
#include "learn/audit/views.h"
#include "linalg/linalg.h"
#include "map/map.h"

#define TRIAL_STEPS 10
#define ENOUGH_ROWS 200 /* per class: leave-one-out is then as good as holding rows out */
#define HOPELESS 0.09   /* the guard alone stops if the widest kernel has lost that much in its first steps */
#define MANY_ROWS 7500  /* above this number, widths are tried on */
#define SOME_ROWS 5000  /* this number of rows */

#define LEAST_AXES 300.0
#define LEAST_LANDMARKS 600.0
#define ROWS_PER_AXIS 10.0
/* Limits on rows x axes of a view, and on axes. Sparse rows also get more landmarks: their kernels are cheap,
 * and few of them are close to each other. */
#define DENSE_COORDINATES 6e6
#define DENSE_AXES 600.0
#define SPARSE_COORDINATES 3e7
#define SPARSE_AXES 900.0
#define LANDMARKS_PER_AXIS (5.0 / 3.0)

static const double all_widths[] = {0.3, 1.0, 3.0};
#define WIDTHS (sizeof all_widths / sizeof *all_widths)

typedef struct audit {
    const uc_matrix *X;
    const uc_labelled *labelled;
    const uc_audit_settings *settings;
    uint64_t seed;
    size_t axes;     /* maximum per view */
    uc_matrix dense; /* X as a dense matrix, if it came in sparse storage but is not sparse */
    uc_matrix landmarks;
    uc_audit_rows rows[UC_AUDIT_VIEWS];
    uc_audit_view views[UC_AUDIT_VIEWS];
    size_t count;         /* number of views, not counting those in which all rows are the same */
    const double *widths; /* the widths to try: all, or the one in the settings */
    size_t tried;         /* number of widths to try */
    size_t width;         /* index of the width that `views` were made with; WIDTHS: no views yet */
    size_t best;          /* index of the best width */
    bool guard_only;
    bool hopeless; /* the guard will not accept any width */
    uc_path path;
    double *start; /* R0 */
    uc_some_rows some;
    bool many; /* there are so many rows that `some` are drawn */
} audit;

static void free_views(audit *self)
{
    for (size_t v = 0; v < self->count; v++)
        uc_audit_view_free(&self->views[v]);
    self->width = WIDTHS;
}

static void free_audit(audit *self)
{
    free_views(self);
    for (size_t v = 0; v < self->count; v++)
        uc_audit_rows_free(&self->rows[v]);
    uc_some_rows_free(&self->some);
    uc_matrix_free(&self->landmarks);
    uc_matrix_free(&self->dense);
    uc_free(self->start);
}

/* ---- views ---- */

/* Rows in sparse storage with at least a quarter of all values, the readers' own limit, get all views, as the
 * same rows from a file would. If memory does not suffice, they stay as they are. */
static uc_status take_rows(audit *self, const uc_matrix *X)
{
    const uc_context *context = self->labelled->context;
    const uc_comm *comm = uc_comm_of(context);
    const bool sparse = uc_matrix_is_sparse(X);
    const double bytes = (double)X->rows * (double)uc_matrix_stride(X->cols) * (double)sizeof *X->values;
    double known[3] = {(double)uc_matrix_entries(X), (double)X->rows * (double)X->cols, 0.0};
    if (sparse && uc_memory_check(context, bytes, "the rows") != UC_OK)
        known[2] = 1.0;
    uc_status status = uc_comm_sum(comm, known, 3);
    self->X = X;
    if (status != UC_OK || 4.0 * known[0] < known[1] || known[2] > 0.0)
        return status;
    if (sparse) {
        status = uc_matrix_subset(&self->dense, X, NULL, 0, context);
        if (status == UC_OK)
            status = uc_matrix_densify(&self->dense);
        self->X = &self->dense;
    }
    return uc_comm_agree(comm, status);
}

/* Chooses the numbers of axes and landmarks per view where the settings leave them open. */
static void choose_sizes(size_t *axes, size_t *landmarks, const audit *self)
{
    const double n = self->labelled->annotations->total_rows;
    const bool sparse = uc_matrix_is_sparse(self->X);
    const double most = fmin(sparse ? SPARSE_AXES : DENSE_AXES,
                             (sparse ? SPARSE_COORDINATES : DENSE_COORDINATES) / fmax(n, 1.0));
    const double wanted = floor(fmax(LEAST_AXES, fmin(n / ROWS_PER_AXIS, most)));
    const double needed = sparse ? floor(LANDMARKS_PER_AXIS * wanted) : 0.0;
    *axes = (size_t)(self->settings->axes == UC_AUTO_COUNT ? (uint64_t)wanted : self->settings->axes);
    *landmarks = (size_t)self->settings->landmarks;
    if (self->settings->landmarks == UC_AUTO_COUNT)
        *landmarks = (size_t)fmax(LEAST_LANDMARKS, needed);
}

/* Takes all rows as landmarks if there are no more than wanted, otherwise random ones. */
static uc_status take_landmarks(audit *self)
{
    const uc_context *context = self->labelled->context;
    const size_t total = (size_t)self->labelled->annotations->total_rows;
    size_t wanted;
    choose_sizes(&self->axes, &wanted, self);
    const size_t count = uc_min_size(total, wanted);
    size_t *rows = NULL;
    uc_status status = UC_OK;
    if (count < total)
        status = uc_map_random_rows(&rows, total, count, self->seed);
    else if (!(rows = uc_alloc(total, sizeof *rows)))
        status = UC_ERR_NOMEM;
    for (size_t i = 0; i < total && count == total && rows; i++)
        rows[i] = i;
    status = uc_comm_agree(uc_comm_of(context), status);
    if (status == UC_OK)
        status = uc_gather_matrix(&self->landmarks, self->X, rows, count, context);
    uc_free(rows);
    return uc_comm_agree(uc_comm_of(context), status);
}

static uc_status see_rows(audit *self)
{
    static const uc_audit_view_kind kinds[UC_AUDIT_VIEWS] = {UC_AUDIT_VIEW_UNIT, UC_AUDIT_VIEW_STANDARD,
                                                             UC_AUDIT_VIEW_ROOT};
    uc_status status = UC_OK;
    for (size_t v = 0; v < UC_AUDIT_VIEWS && status == UC_OK; v++) {
        if (kinds[v] == UC_AUDIT_VIEW_STANDARD && uc_matrix_is_sparse(&self->landmarks))
            continue;
        uc_audit_rows *rows = &self->rows[self->count];
        status = uc_audit_rows_make(rows, kinds[v], self->X, &self->landmarks, self->labelled);
        if (status == UC_OK && rows->median > 0.0)
            self->count++;
        else
            uc_audit_rows_free(rows);
    }
    return status;
}

static uc_status see_width(audit *self, size_t width)
{
    uc_status status = UC_OK;
    if (self->width == width)
        return UC_OK;
    free_views(self);
    for (size_t v = 0; v < self->count && status == UC_OK; v++)
        status = uc_audit_view_make(&self->views[v], &self->rows[v], self->X, self->labelled,
                                    self->widths[width], self->axes, self->many ? &self->some : NULL);
    self->width = width;
    return status;
}

/* ---- decisions ---- */

/* Reports progress against the maximum number of steps of every width tried and of the one chosen. */
static uc_status tell(const audit *self, double done, const char *what)
{
    return uc_report(self->labelled->context, "auditing", done, (double)self->tried + 2.0, what);
}

/* The criterion for comparing widths. If many labels are wrong, a wide kernel fits them best in its first
 * steps and loses that gain again; the largest fit on the way would still choose it. Small data nevertheless
 * use the largest fit, by which the method is defined. */
static double merit(const uc_path *path, const audit *self)
{
    return self->labelled->annotations->total_rows > (double)self->landmarks.rows ? path->last : path->top;
}

/* R and S become those of the best width after its first steps. */
static uc_status choose_width(audit *self, double *R, double *S)
{
    const size_t size = self->labelled->annotations->rows * self->labelled->annotations->K;
    double *tried_R = uc_alloc(size, sizeof *tried_R), *tried_S = uc_alloc(size, sizeof *tried_S);
    uc_status status = tried_R && tried_S ? UC_OK : UC_ERR_NOMEM;
    status = uc_comm_agree(uc_comm_of(self->labelled->context), status);
    for (size_t width = 0; width < self->tried && status == UC_OK && !self->hopeless; width++) {
        uc_path path = {0};
        status = tell(self, (double)width, "choosing the width");
        if (status == UC_OK)
            status = see_width(self, width);
        memcpy(tried_R, self->start, size * sizeof *R);
        if (status == UC_OK)
            status =
                uc_structure(&path, tried_R, tried_S, self->views, self->count, self->labelled, TRIAL_STEPS);
        if (status != UC_OK || (width > 0 && !(merit(&path, self) > merit(&self->path, self))))
            continue;
        self->path = path;
        self->best = width;
        self->hopeless = self->guard_only && width == 0 && uc_path_loss(&path) > HOPELESS;
        memcpy(R, tried_R, size * sizeof *R);
        memcpy(S, tried_S, size * sizeof *S);
    }
    uc_free(tried_R);
    uc_free(tried_S);
    return status;
}

/* Finds the best width on some of the rows; R becomes R0 of all rows. */
static uc_status choose_by_some(audit *self, double *R)
{
    const uc_annotations *all = self->labelled->annotations;
    uc_labelled few = {.context = self->labelled->context};
    double *S = NULL;
    audit trial = *self; /* borrows rows and landmarks */
    uc_status status = uc_some_rows_draw(&self->some, self->X, self->labelled, SOME_ROWS, self->seed);
    if (status != UC_OK)
        return status;
    few.annotations = &self->some.annotations;
    few.gold = self->some.gold;
    few.weights = self->some.weights;
    trial.X = &self->some.X;
    trial.labelled = &few;
    trial.start = uc_alloc(self->some.X.rows * all->K, sizeof *trial.start);
    S = uc_alloc(self->some.X.rows * all->K, sizeof *S);
    status = uc_comm_agree(uc_comm_of(few.context), trial.start && S ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK)
        status = uc_labelled_weigh(&few);
    if (status == UC_OK) {
        uc_labelled_start(trial.start, &few);
        if (self->tried > 1)
            status = choose_width(&trial, R, S); /* R has room for more rows */
    }
    free_views(&trial);
    uc_free(trial.start);
    uc_free(S);
    self->many = true;
    self->best = trial.best;
    memcpy(R, self->start, all->rows * all->K * sizeof *R);
    return status;
}

static uc_status choose_mode(uc_audit_fit *out, const audit *self)
{
    bool believed = false;
    out->mode = self->settings->mode;
    if (out->mode != UC_AUDIT_AUTO)
        return UC_OK;
    const uc_status status = uc_audit_believes_structure(&believed, out->loss, out->large, out->R,
                                                         &out->confusion, self->labelled);
    out->mode = believed ? UC_AUDIT_STRUCTURE : UC_AUDIT_LABELS;
    return status;
}

/* `fitted` becomes what the model will be fitted to. */
static uc_status decide(audit *self, uc_audit_fit *out, double *fitted)
{
    const size_t size = out->rows * out->K;
    uc_status status = UC_OK;
    if (self->labelled->annotations->total_rows > MANY_ROWS)
        status = choose_by_some(self, out->R);
    else
        status = choose_width(self, out->R, out->S);
    if (status == UC_OK)
        status = tell(self, (double)self->tried, "finding true classes");
    if (status == UC_OK)
        status = see_width(self, self->best);
    const unsigned most = self->hopeless ? self->path.steps : UC_AUDIT_MOST_STEPS;
    if (status == UC_OK)
        status = uc_structure(&self->path, out->R, out->S, self->views, self->count, self->labelled, most);
    if (status != UC_OK)
        return status;
    out->loss = uc_path_loss(&self->path);
    out->width = self->widths[self->best];
    out->temperature = self->path.temperature;
    out->steps = self->path.steps;
    status = choose_mode(out, self);
    memcpy(fitted, out->R, size * sizeof *fitted);
    if (status != UC_OK || out->mode == UC_AUDIT_STRUCTURE || self->guard_only)
        return status;
    memcpy(out->R, self->start, size * sizeof *out->R);
    status = tell(self, (double)self->tried + 1.0, "correcting labels");
    if (status != UC_OK)
        return status;
    return uc_believe_labels(out->R, out->S, &out->temperature, &out->steps, fitted, self->views, self->count,
                             self->labelled, &self->path);
}

/* ---- the model ---- */

/* The view's map; its landmarks are preprocessed by `steps`. */
static uc_status make_map(uc_map **out, const uc_audit_view *view, const uc_preprocessing *steps)
{
    const size_t m = view->rows->landmarks, D = view->axes;
    uc_map *map = uc_alloc(1, sizeof *map);
    if (!map)
        return UC_ERR_NOMEM;
    *map = (uc_map){.kind = UC_MAP_NYSTROEM,
                    .kernel = UC_KERNEL_GAUSSIAN,
                    .width = view->width,
                    .dimension = D,
                    .projection = uc_alloc(m * D, sizeof(double)),
                    .shift = uc_alloc(D, sizeof(double))};
    uc_status status = map->projection && map->shift ? UC_OK : UC_ERR_NOMEM;
    if (status == UC_OK)
        status = uc_matrix_subset(&map->landmarks, view->rows->source, NULL, 0, NULL);
    if (status == UC_OK)
        status = uc_preprocessing_apply(steps, &map->landmarks, NULL);
    if (status == UC_OK)
        status = uc_map_measure_landmarks(map);
    if (status == UC_OK) {
        memcpy(map->projection, view->projection, m * D * sizeof *map->projection);
        memcpy(map->shift, view->shift, D * sizeof *map->shift);
        *out = map;
    } else {
        uc_map_free(map);
    }
    return status;
}

static uc_status make_views(uc_model *model, const audit *self)
{
    uc_preprocessing *views = uc_alloc(UC_AUDIT_VIEWS, sizeof *views);
    uc_status status = views ? UC_OK : UC_ERR_NOMEM;
    for (size_t v = 0; v < self->count && status == UC_OK; v++) {
        status = uc_audit_view_preprocessing(&views[v], self->views[v].rows);
        if (status == UC_OK)
            status = make_map(&views[v].map, &self->views[v], &views[v]);
    }
    if (status == UC_OK)
        return uc_model_take_views(model, views, self->count);
    for (size_t v = 0; v < self->count && views; v++)
        uc_preprocessing_free(&views[v]);
    uc_free(views);
    return status;
}

/* Writes the weights of one view, whose columns start at `first`, and adds up the offsets. */
static uc_status write_view(uc_model *model, const audit *self, size_t v, size_t first, const double *fitted)
{
    const uc_audit_view *view = &self->views[v];
    const size_t K = model->classes.count, D = view->axes;
    uc_audit_view_fit fit = {0};
    const uc_status status = uc_audit_view_fit_make(&fit, view, self->labelled, fitted);
    for (size_t k = 0; k < K && status == UC_OK; k++) {
        model->weights[k] += fit.b[k] / (double)self->count;
        for (size_t d = 0; d < D; d++)
            model->weights[(1 + first + d) * model->stride + k] = fit.W[k * D + d] / (double)self->count;
    }
    uc_audit_view_fit_free(&fit);
    return status;
}

static uc_status write_model(uc_model *model, const audit *self, const uc_audit_fit *found,
                             const double *fitted)
{
    const size_t K = found->K;
    size_t first = 0;
    uc_status status = self->count > 0 ? make_views(model, self) : UC_OK;
    status = uc_comm_agree(uc_comm_of(self->labelled->context), status);
    for (size_t v = 0; v < self->count && status == UC_OK; v++) {
        status = write_view(model, self, v, first, fitted);
        first += self->views[v].axes;
    }
    model->bias = 1.0;
    for (size_t k = 0; k < K; k++)
        model->weights[k] += log(found->pi[k]);
    model->calibration = uc_alloc(1, sizeof *model->calibration);
    if (status == UC_OK && !model->calibration)
        status = UC_ERR_NOMEM;
    if (status != UC_OK)
        return status;
    *model->calibration = (uc_calibration){1.0, 1.0 / found->temperature, 0.0};
    model->calibrations = 1;
    model->probabilities = true;
    return UC_OK;
}

/* ---- all ---- */

/* Computes leave-one-out scores of the first fit, and predictions from those of the model. */
static uc_status leave_out(const audit *self, uc_audit_fit *out, const double *fitted)
{
    const size_t K = out->K;
    double *pi = uc_alloc(K, sizeof *pi);
    uc_status status = uc_comm_agree(uc_comm_of(self->labelled->context), pi ? UC_OK : UC_ERR_NOMEM);
    if (status == UC_OK)
        status = uc_audit_scores(out->first, pi, self->views, self->count, self->labelled, fitted);
    for (size_t i = 0; i < out->rows && status == UC_OK; i++)
        out->predicted[i] = (uint32_t)uc_argmax(out->first + i * K, K);
    if (status == UC_OK)
        status = uc_audit_scores(out->first, pi, self->views, self->count, self->labelled, self->start);
    if (status == UC_OK)
        memcpy(out->held_out, out->S, out->rows * K * sizeof *out->S);
    uc_free(pi);
    return status;
}

static uc_status hold_out(const audit *self, uc_audit_fit *out, const double *fitted)
{
    const uc_labelled *labelled = self->labelled;
    const size_t size = out->rows * out->K;
    out->held_out = uc_alloc(size, sizeof *out->held_out);
    out->first = uc_alloc(size, sizeof *out->first);
    out->predicted = uc_alloc(out->rows, sizeof *out->predicted);
    uc_status status = out->held_out && out->first && out->predicted ? UC_OK : UC_ERR_NOMEM;
    status = uc_comm_agree(uc_comm_of(labelled->context), status);
    if (status != UC_OK)
        return status;
    if (labelled->annotations->total_rows > (double)(ENOUGH_ROWS * out->K))
        return leave_out(self, out, fitted);
    return uc_audit_hold_out(out, self->views, self->count, labelled, &self->path, self->seed);
}

static uc_status allocate(uc_audit_fit *out)
{
    const size_t size = out->rows * out->K;
    out->R = uc_alloc(size, sizeof *out->R);
    out->S = uc_alloc(size, sizeof *out->S);
    out->pi = uc_alloc(out->K, sizeof *out->pi);
    return out->R && out->S && out->pi ? UC_OK : UC_ERR_NOMEM;
}

static uc_status run(uc_audit_fit *out, uc_model *model, const uc_matrix *X, const uc_labelled *labelled,
                     const uc_audit_settings *settings, uint64_t seed, bool guard_only)
{
    uc_labelled known = *labelled;
    uc_audit_fit found = {.rows = X->rows, .K = labelled->annotations->K};
    const bool given = settings->width > 0.0;
    audit self = {.labelled = &known,
                  .settings = settings,
                  .seed = seed,
                  .widths = given ? &settings->width : all_widths,
                  .tried = given ? 1 : WIDTHS,
                  .width = WIDTHS,
                  .guard_only = guard_only};
    const uc_comm *comm = uc_comm_of(labelled->context);
    double *fitted = uc_alloc(found.rows * found.K, sizeof *fitted);
    self.start = uc_alloc(found.rows * found.K, sizeof *self.start);
    uc_status status = allocate(&found);
    if (!fitted || !self.start)
        status = UC_ERR_NOMEM;
    if (status == UC_OK)
        status = uc_confusion_create(&found.confusion, labelled->annotations);
    status = uc_comm_agree(comm, status);
    if (status == UC_OK)
        status = uc_labelled_weigh(&known);
    if (status == UC_OK)
        status = uc_weights_check_total(known.total_weight, "the weights");
    if (status == UC_OK)
        status = take_rows(&self, X);
    if (status == UC_OK)
        status = take_landmarks(&self);
    if (status == UC_OK)
        status = see_rows(&self);
    if (status != UC_OK)
        goto cleanup;
    found.large = known.annotations->total_rows > LEAST_LANDMARKS;
    uc_labelled_start(self.start, &known);
    status = decide(&self, &found, fitted);
    if (guard_only)
        goto cleanup;
    if (status == UC_OK)
        status = uc_confusion_find(&found.confusion, &known, found.R);
    if (status == UC_OK)
        status = uc_class_prior(found.pi, &known, fitted);
    if (status == UC_OK)
        status = hold_out(&self, &found, fitted);
    if (status == UC_OK && model)
        status = write_model(model, &self, &found, fitted);
cleanup:
    free_audit(&self);
    uc_free(fitted);
    if (status == UC_OK)
        *out = found;
    else
        uc_audit_fit_free(&found);
    return status;
}

uc_status uc_audit_run(uc_audit_fit *out, uc_model *model, const uc_matrix *X, const uc_labelled *labelled,
                       const uc_audit_settings *settings, uint64_t seed)
{
    return run(out, model, X, labelled, settings, seed, false);
}

uc_status uc_audit_guard(uc_audit_fit *out, const uc_matrix *X, const uc_labelled *labelled,
                         const uc_audit_settings *settings, uint64_t seed)
{
    return run(out, NULL, X, labelled, settings, seed, true);
}

void uc_audit_fit_free(uc_audit_fit *self)
{
    uc_free(self->R);
    uc_free(self->S);
    uc_free(self->held_out);
    uc_free(self->first);
    uc_free(self->predicted);
    uc_free(self->pi);
    uc_confusion_free(&self->confusion);
    *self = (uc_audit_fit){0};
}
