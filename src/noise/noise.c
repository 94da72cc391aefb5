/*
 * The noise matrix.
 *
 *   C        C[p][q] = P(observed class p | true class q); columns sum to 1
 *   K        classes
 *   sigma    singular values of C; the condition number is the largest divided by the smallest
 *
 * Random matrices, after section 4.1 of Louche and Ralaivola (Unconfused ultraconservative multiclass
 * algorithms). The paper's matrices have the true class in rows, and are transposed before use:
 *
 *   M        entries uniform in [0, 1), every row divided by its sum; drawn again while it is singular
 *   C_level  = transpose of Omega(I + level (M - I)/10),  level in [0, 20]
 *
 * Omega replaces negative entries by zero and divides every row by its sum; up to level 10 there are no
 * negative entries. Level 0 is the identity, level 10 is M transposed. M depends only on the seed, so one
 * seed gives one family. For ten classes ||C - diag C|| is about .11 times the level, and the condition
 * number grows from 1.1 at level 1 through 2.5 at level 5 to hundreds at level 10.
 *
 * The ridge inverse (C'C + r I)^-1 (C' + r I) is C^-1 at r = 0 and tends to the identity as r grows.
 */
#include "unconfuse/noise.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "linalg/linalg.h"
#include "noise/valid.h"

#define SEQUENCE_MATRIX UINT64_C(0x6e6f6973652d6d) /* "noise-m" */
#define SEQUENCE_APPLY UINT64_C(0x6e6f6973652d61)  /* "noise-a" */

#define ROUNDING 1e-12 /* of a sum of probabilities */
#define SUM_TOLERANCE 1e-3
#define SINGULAR 1e12 /* a matrix with a larger condition number is called singular */
#define RANDOM_DRAWS 100

void uc_noise_free(uc_noise *self)
{
    uc_free(self->values);
    uc_names_free(&self->names);
    *self = (uc_noise){0};
}

/* ---- checks ---- */

static uc_status condition_number(double *out, const double *values, size_t classes)
{
    double *sigma = uc_alloc(classes, sizeof *sigma);
    if (!sigma)
        return UC_ERR_NOMEM;
    const uc_status status = uc_singular_values(sigma, values, classes);
    if (status == UC_OK) {
        const double condition = sigma[0] / sigma[classes - 1];
        *out = condition <= SINGULAR ? condition : INFINITY; /* infinity also for 0/0 */
    }
    uc_free(sigma);
    return status;
}

static uc_status check_entries(const double *values, size_t classes, const char *source)
{
    for (size_t i = 0; i < classes * classes; i++)
        if (!(values[i] >= 0.0 && values[i] <= 1.0))
            return uc_fail(UC_ERR_INVALID, "%s: the entry %g in row %zu, column %zu is not between 0 and 1",
                           source, values[i], i / classes + 1, i % classes + 1);
    return UC_OK;
}

/* The first row or column that does not sum to 1, or K if there is none; *sum is its sum. The entries of a
 * column are K apart and columns begin 1 apart; for rows it is the other way round. */
static size_t first_bad_line(double *sum, const double *values, size_t classes,
                             uc_noise_orientation orientation)
{
    size_t step = classes, begin = 1;
    if (orientation == UC_NOISE_ROWS) {
        step = 1;
        begin = classes;
    }
    for (size_t line = 0; line < classes; line++) {
        *sum = 0.0;
        for (size_t i = 0; i < classes; i++)
            *sum += values[line * begin + i * step];
        if (fabs(*sum - 1.0) > SUM_TOLERANCE)
            return line;
    }
    return classes;
}

static uc_status check_sums(const double *values, size_t classes, uc_noise_orientation orientation,
                            const char *source)
{
    static const char *const lines[] = {[UC_NOISE_COLUMNS] = "column", [UC_NOISE_ROWS] = "row"};
    uc_noise_orientation opposite = UC_NOISE_ROWS;
    if (orientation == UC_NOISE_ROWS)
        opposite = UC_NOISE_COLUMNS;
    double sum, ignored;
    const size_t bad = first_bad_line(&sum, values, classes, orientation);
    if (bad == classes)
        return UC_OK;
    const char *line = lines[orientation], *other = lines[opposite];
    if (first_bad_line(&ignored, values, classes, opposite) == classes)
        return uc_fail(
            UC_ERR_INVALID,
            "%s: %s %zu sums to %g, not 1, but every %s sums to 1; if the true class is in %ss, say "
            "{noise-orientation=%ss}",
            source, line, bad + 1, sum, other, other, other);
    return uc_fail(UC_ERR_INVALID, "%s: %s %zu sums to %g, not 1", source, line, bad + 1, sum);
}

/* Divides the columns of `values` (the true classes by now) by their sums. A sum that is 1 up to rounding is
 * left alone, so that a matrix that was written and read back keeps its bits. */
static void normalize_columns(double *values, size_t classes)
{
    for (size_t q = 0; q < classes; q++) {
        double sum = 0.0;
        for (size_t p = 0; p < classes; p++)
            sum += values[p * classes + q];
        if (fabs(sum - 1.0) <= ROUNDING)
            continue;
        for (size_t p = 0; p < classes; p++)
            values[p * classes + q] /= sum;
    }
}

static uc_status check_regular(const double *values, size_t classes, const char *source)
{
    double condition;
    const uc_status status = condition_number(&condition, values, classes);
    if (status == UC_OK && isinf(condition))
        return uc_fail(UC_ERR_INVALID,
                       "%s: the matrix is singular: different true classes would give the same labels",
                       source);
    return status;
}

bool uc_noise_is_valid(const uc_noise *self)
{
    double sum;
    for (size_t i = 0; i < self->classes * self->classes; i++)
        if (!(self->values[i] >= 0.0 && self->values[i] <= 1.0))
            return false;
    return first_bad_line(&sum, self->values, self->classes, UC_NOISE_COLUMNS) == self->classes;
}

/* ---- making ---- */

static uc_status check_classes(size_t classes)
{
    if (classes < 2)
        return uc_fail(UC_ERR_INVALID, "a noise matrix needs at least 2 classes, not %zu", classes);
    return UC_OK;
}

/* K x K zeros, or NULL. */
static double *allocate(size_t classes)
{
    size_t entries;
    if (uc_size_mul(&entries, classes, classes))
        return uc_alloc(entries, sizeof(double));
    (void)uc_fail(UC_ERR_NOMEM, "a noise matrix of %zu classes does not fit in memory", classes);
    return NULL;
}

/* Copies a matrix so that columns stand for the true class. */
static void copy_columns(double *to, const double *from, size_t classes, uc_noise_orientation orientation)
{
    for (size_t p = 0; p < classes; p++)
        for (size_t q = 0; q < classes; q++)
            if (orientation == UC_NOISE_ROWS)
                to[p * classes + q] = from[q * classes + p];
            else
                to[p * classes + q] = from[p * classes + q];
}

uc_status uc_noise_create(uc_noise *out, const double *values, size_t classes, const uc_names *names,
                          uc_noise_orientation orientation, const char *source)
{
    uc_noise noise = {.classes = classes};
    if (names && names->count && names->count != classes)
        return uc_fail(UC_ERR_INVALID, "%s: %zu class names for a matrix of %zu classes", source,
                       names->count, classes);
    uc_status status = check_classes(classes);
    if (status == UC_OK)
        status = check_entries(values, classes, source);
    if (status == UC_OK)
        status = check_sums(values, classes, orientation, source);
    if (status != UC_OK)
        return status;
    noise.values = allocate(classes);
    if (!noise.values)
        return UC_ERR_NOMEM;

    copy_columns(noise.values, values, classes, orientation);
    normalize_columns(noise.values, classes);
    status = check_regular(noise.values, classes, source);
    if (status == UC_OK && names)
        status = uc_names_copy(&noise.names, names);
    if (status != UC_OK) {
        uc_noise_free(&noise);
        return status;
    }
    assert(uc_noise_is_valid(&noise));
    *out = noise;
    return UC_OK;
}

/* A share of `rate` of every class is labelled as one of the other classes, each equally often. */
static uc_status spread_evenly(uc_noise *out, size_t classes, double rate)
{
    double *values = allocate(classes);
    if (!values)
        return UC_ERR_NOMEM;
    for (size_t p = 0; p < classes; p++)
        for (size_t q = 0; q < classes; q++)
            if (p == q)
                values[p * classes + q] = 1.0 - rate;
            else
                values[p * classes + q] = rate / (double)(classes - 1);
    char source[80];
    snprintf(source, sizeof source, "noise rate %g for %zu classes", rate, classes);
    const uc_status status = uc_noise_create(out, values, classes, NULL, UC_NOISE_COLUMNS, source);
    uc_free(values);
    return status;
}

uc_status uc_noise_uniform(uc_noise *out, size_t classes, double rate)
{
    if (!(rate >= 0.0 && rate < 1.0))
        return uc_fail(UC_ERR_INVALID, "the noise rate must be at least 0 and below 1, not %g", rate);
    const uc_status status = check_classes(classes);
    if (status != UC_OK)
        return status;
    return spread_evenly(out, classes, rate);
}

uc_status uc_noise_pair(uc_noise *out, size_t classes, double rate)
{
    if (!(rate >= 0.0 && rate < 1.0))
        return uc_fail(UC_ERR_INVALID, "the noise rate must be at least 0 and below 1, not %g", rate);
    uc_status status = check_classes(classes);
    if (status != UC_OK)
        return status;
    double *values = allocate(classes);
    if (!values)
        return UC_ERR_NOMEM;
    for (size_t q = 0; q < classes; q++) {
        values[q * classes + q] = 1.0 - rate;
        values[(q + 1) % classes * classes + q] = rate;
    }
    char source[80];
    snprintf(source, sizeof source, "pair noise rate %g for %zu classes", rate, classes);
    status = uc_noise_create(out, values, classes, NULL, UC_NOISE_COLUMNS, source);
    uc_free(values);
    return status;
}

uc_status uc_noise_complementary(uc_noise *out, size_t classes)
{
    if (classes < 3)
        return uc_fail(UC_ERR_INVALID, "complementary labels need at least 3 classes, not %zu", classes);
    return spread_evenly(out, classes, 1.0);
}

/* Draws M, whose rows are the true classes. */
static uc_status draw_reference(double *values, size_t classes, uc_rng *rng)
{
    for (int draw = 0; draw < RANDOM_DRAWS; draw++) {
        for (size_t q = 0; q < classes; q++) {
            double *row = values + q * classes, sum = 0.0;
            for (size_t p = 0; p < classes; p++) {
                row[p] = uc_rng_uniform(rng);
                sum += row[p];
            }
            for (size_t p = 0; p < classes; p++)
                row[p] /= sum;
        }
        double condition;
        const uc_status status = condition_number(&condition, values, classes);
        if (status != UC_OK || !isinf(condition))
            return status;
    }
    return uc_fail(UC_ERR_INVALID, "%d random noise matrices of %zu classes were all singular", RANDOM_DRAWS,
                   classes);
}

/* Replaces row q of M by that of Omega((1 - share) I + share M). */
static void blend_row(double *row, size_t classes, size_t q, double share)
{
    double sum = 0.0;
    for (size_t p = 0; p < classes; p++) {
        row[p] = fmax(0.0, (p == q) * (1.0 - share) + share * row[p]);
        sum += row[p];
    }
    for (size_t p = 0; p < classes; p++)
        row[p] /= sum;
}

uc_status uc_noise_random(uc_noise *out, size_t classes, double level, uint64_t seed)
{
    if (!(level >= 0.0 && level <= 20.0))
        return uc_fail(UC_ERR_INVALID, "the noise level must be from 0 to 20, not %g", level);
    uc_status status = check_classes(classes);
    if (status != UC_OK)
        return status;
    double *values = allocate(classes);
    if (!values)
        return UC_ERR_NOMEM;
    uc_rng rng = uc_rng_make(seed, SEQUENCE_MATRIX);
    status = draw_reference(values, classes, &rng);
    if (status == UC_OK) {
        char source[80];
        snprintf(source, sizeof source, "noise level %g for %zu classes", level, classes);
        for (size_t q = 0; q < classes; q++)
            blend_row(values + q * classes, classes, q, level / 10.0);
        status = uc_noise_create(out, values, classes, NULL, UC_NOISE_ROWS, source);
    }
    uc_free(values);
    return status;
}

uc_status uc_noise_binary(uc_noise *out, double rate_positive, double rate_negative)
{
    if (!(rate_positive >= 0.0 && rate_positive <= 1.0 && rate_negative >= 0.0 && rate_negative <= 1.0))
        return uc_fail(UC_ERR_INVALID, "the noise rates must be from 0 to 1, not %g and %g", rate_positive,
                       rate_negative);
    const double values[4] = {1.0 - rate_negative, rate_positive, rate_negative, 1.0 - rate_positive};
    char source[80];
    snprintf(source, sizeof source, "noise rates %g and %g", rate_positive, rate_negative);
    return uc_noise_create(out, values, 2, NULL, UC_NOISE_COLUMNS, source);
}

/* ---- using ---- */

/* Finds the position of every class of `classes` in the matrix. */
static uc_status positions_of(size_t *position, const uc_noise *self, const uc_names *classes)
{
    for (size_t k = 0; k < classes->count; k++) {
        const char *name = classes->text[k];
        const uint32_t found = uc_names_find_label(&self->names, name, strlen(name));
        if (self->names.count && found == UC_NONE)
            return uc_fail(UC_ERR_INVALID, "class \"%s\" of the data is not in the noise matrix", name);
        position[k] = k;
        if (self->names.count)
            position[k] = found;
    }
    if (self->classes == classes->count)
        return UC_OK;
    for (size_t k = 0; k < self->names.count; k++) {
        const char *name = self->names.text[k];
        if (uc_names_find_label(classes, name, strlen(name)) == UC_NONE)
            return uc_fail(UC_ERR_INVALID, "class \"%s\" of the noise matrix is not in the data", name);
    }
    return uc_fail(UC_ERR_INVALID, "the noise matrix has %zu classes, the data have %zu", self->classes,
                   classes->count);
}

uc_status uc_noise_match(uc_noise *self, const uc_names *classes)
{
    const size_t K = self->classes;
    uc_noise matched = {.classes = K};
    size_t *position = uc_alloc(classes->count, sizeof *position);
    if (!position)
        return UC_ERR_NOMEM;
    uc_status status = positions_of(position, self, classes);
    if (status != UC_OK)
        goto cleanup;
    status = UC_ERR_NOMEM;
    matched.values = allocate(K);
    if (!matched.values)
        goto cleanup;
    status = uc_names_copy(&matched.names, classes);
    if (status != UC_OK)
        goto cleanup;
    for (size_t p = 0; p < K; p++)
        for (size_t q = 0; q < K; q++)
            matched.values[p * K + q] = self->values[position[p] * K + position[q]];
    uc_noise_free(self);
    *self = matched;
    matched = (uc_noise){0};
    assert(uc_noise_is_valid(self));

cleanup:
    uc_noise_free(&matched);
    uc_free(position);
    return status;
}

uc_status uc_noise_inspect(uc_noise_check *out, const uc_noise *self)
{
    const size_t K = self->classes;
    uc_noise_check check = {0};
    const uc_status status = condition_number(&check.condition, self->values, K);
    if (status != UC_OK)
        return status;
    double trace = 0.0;
    for (size_t p = K; p-- > 0;) {
        const double *row = self->values + p * K;
        trace += row[p];
        for (size_t q = 0; q < K; q++)
            if (q != p && row[q] >= row[p]) {
                check.dominated++;
                check.dominated_row = p;
                break;
            }
    }
    check.wrong = 1.0 - trace / (double)K;
    check.complementary = K > 2 && trace == 0.0;
    *out = check;
    return UC_OK;
}

uc_status uc_noise_invert(double *inverse, const uc_noise *self, double ridge)
{
    const size_t K = self->classes;
    const double *C = self->values;
    assert(uc_noise_is_valid(self));
    if (!(ridge >= 0.0 && isfinite(ridge)))
        return uc_fail(UC_ERR_INVALID, "the ridge must be a number of at least 0, not %g", ridge);
    if (ridge == 0.0)
        return uc_invert(inverse, C, K);

    uc_status status = UC_ERR_NOMEM;
    double *gram = uc_alloc(K * K, sizeof *gram), *target = uc_alloc(K * K, sizeof *target);
    if (!gram || !target)
        goto cleanup;
    for (size_t p = 0; p < K; p++)
        for (size_t q = 0; q < K; q++) {
            const double shrink = p == q ? ridge : 0.0;
            for (size_t k = 0; k < K; k++)
                gram[p * K + q] += C[k * K + p] * C[k * K + q];
            gram[p * K + q] += shrink;
            target[p * K + q] = C[q * K + p] + shrink;
        }
    status = uc_solve(inverse, gram, target, K, K);

cleanup:
    uc_free(gram);
    uc_free(target);
    return status;
}

/* cumulative[q * K + p] = C[0][q] + ... + C[p][q]; exactly 1 from the last nonzero entry of column q on. */
static void accumulate_columns(double *cumulative, const uc_noise *self)
{
    const size_t K = self->classes;
    for (size_t q = 0; q < K; q++) {
        double sum = 0.0;
        size_t last = 0;
        for (size_t p = 0; p < K; p++) {
            sum += self->values[p * K + q];
            cumulative[q * K + p] = sum;
            if (self->values[p * K + q] > 0.0)
                last = p;
        }
        for (size_t p = last; p < K; p++)
            cumulative[q * K + p] = 1.0;
    }
}

/* The first position with values[position] > u; the values ascend to 1, and u is below it. */
static uint32_t first_above(const double *values, size_t count, double u)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (values[middle] > u)
            high = middle;
        else
            low = middle + 1;
    }
    return (uint32_t)low;
}

uc_status uc_noise_apply(uc_dataset *data, const uc_noise *self, uint64_t seed, size_t *changed)
{
    const size_t K = self->classes;
    assert(uc_noise_is_valid(self));
    if (!data->y)
        return uc_fail(UC_ERR_INVALID, "the data have no labels to apply noise to");
    if (data->classes.count != K)
        return uc_fail(UC_ERR_INVALID, "the noise matrix has %zu classes, the data have %zu", K,
                       data->classes.count);
    for (size_t k = 0; k < self->names.count; k++)
        if (strcmp(self->names.text[k], data->classes.text[k]) != 0)
            return uc_fail(UC_ERR_INVALID, "class %zu is \"%s\" in the noise matrix and \"%s\" in the data",
                           k + 1, self->names.text[k], data->classes.text[k]);
    double *cumulative = allocate(K);
    if (!cumulative)
        return UC_ERR_NOMEM;
    accumulate_columns(cumulative, self);

    size_t count = 0;
    uc_rng rng = uc_rng_make(seed, SEQUENCE_APPLY);
    for (size_t i = 0; i < data->X.rows; i++) {
        /* One number per row, labelled or not, so that the noise of a row does not depend on other labels. */
        const double u = uc_rng_uniform(&rng);
        const uint32_t label = data->y[i];
        if (label == UC_NONE)
            continue;
        data->y[i] = first_above(cumulative + label * K, K, u);
        count += data->y[i] != label;
    }
    if (changed)
        *changed = count;
    uc_free(cumulative);
    return UC_OK;
}
