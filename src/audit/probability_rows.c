/* The probabilities of a model, of which only those that matter are kept. */
#include "audit/probability_rows.h"

#include <math.h>

#define LEAST_KEPT ((size_t)64)
#define LEAST_P 1e-12f /* what a network calls 0 is still possible */

const double uc_temperatures[UC_TEMPERATURES] = {0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0};

void uc_probability_rows_free(uc_probability_rows *self)
{
    uc_free(self->class);
    uc_free(self->log_p);
    uc_free(self->log_sum);
    *self = (uc_probability_rows){0};
}

uc_status uc_probability_rows_create(uc_probability_rows *out, size_t rows, size_t K, size_t entries)
{
    uc_probability_rows self = {.rows = rows, .K = K};
    self.kept = uc_min_size(K, uc_max_size(entries / uc_max_size(rows, 1), LEAST_KEPT));
    size_t count;
    if (!uc_size_mul(&count, rows, self.kept))
        return uc_fail(UC_ERR_NOMEM, "not enough memory for %zu rows of %zu classes", rows, K);
    self.class = uc_alloc(count, sizeof *self.class);
    self.log_p = uc_alloc(count, sizeof *self.log_p);
    self.log_sum = uc_alloc(rows, UC_TEMPERATURES * sizeof *self.log_sum);
    if (!self.class || !self.log_p || !self.log_sum) {
        uc_probability_rows_free(&self);
        return UC_ERR_NOMEM;
    }
    *out = self;
    return UC_OK;
}

/* Whether class a of the row goes before b: it is more probable, or tied and first. */
static bool is_before(const float *p, uint32_t a, uint32_t b)
{
    return p[a] > p[b] || (a < b && p[a] == p[b]);
}

/* Restores the order of a heap that has the last class in this order at the top. */
static void sift_down(uint32_t *heap, size_t count, size_t at, const float *p)
{
    for (;;) {
        size_t last = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (is_before(p, heap[last], heap[child]))
                last = child;
        if (last == at)
            return;
        const uint32_t moved = heap[at];
        heap[at] = heap[last];
        heap[last] = moved;
        at = last;
    }
}

/* Chooses the `count` most probable of K classes, in any order. */
static void choose_classes(uint32_t *chosen, size_t count, const float *p, size_t K)
{
    for (size_t k = 0; k < count; k++)
        chosen[k] = (uint32_t)k;
    if (count == K)
        return;
    for (size_t at = count / 2; at > 0; at--)
        sift_down(chosen, count, at - 1, p);
    for (size_t k = count; k < K; k++)
        if (is_before(p, (uint32_t)k, chosen[0])) {
            chosen[0] = (uint32_t)k;
            sift_down(chosen, count, 0, p);
        }
}

/* sums[t] += p^(1/T). The power for temperature 2 T is the square root of that for T. */
static void add_powers(double sums[UC_TEMPERATURES], double p)
{
    const double log_p = log(p);
    double even = p * p, odd = exp(log_p / uc_temperatures[1]);
    for (size_t t = 0; t + 1 < UC_TEMPERATURES; t += 2) {
        sums[t] += even;
        even = sqrt(even);
        if (t + 3 < UC_TEMPERATURES) {
            sums[t + 1] += odd;
            odd = sqrt(odd);
        }
    }
    sums[UC_TEMPERATURES - 1] += exp(log_p / uc_temperatures[UC_TEMPERATURES - 1]); /* 11, not 11.2 */
}

void uc_probability_rows_set(uc_probability_rows *self, size_t i, const float *p, uint32_t label)
{
    uint32_t *class = self->class + i * self->kept;
    bool found = label == UC_NONE;
    double sums[UC_TEMPERATURES] = {0};
    choose_classes(class, self->kept, p, self->K);
    for (size_t e = 0; e < self->kept; e++)
        found = found || class[e] == label;
    if (!found) /* replaces the least probable one, the top of the heap */
        class[0] = label;
    for (size_t e = 0; e < self->kept; e++)
        self->log_p[i * self->kept + e] = logf(fmaxf(p[class[e]], LEAST_P));
    for (size_t k = 0; k < self->K; k++)
        add_powers(sums, (double)fmaxf(p[k], LEAST_P));
    for (size_t t = 0; t < UC_TEMPERATURES; t++)
        self->log_sum[i * UC_TEMPERATURES + t] = log(sums[t]);
}
