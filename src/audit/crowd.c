/* The consensus of a crowd: majority vote here, Dawid-Skene and one coin by EM (crowd_em.c), and what the
 * consensus says about the annotators (annotators.c). */
#include <math.h>
#include <string.h>

#include "audit/crowd_em.h"

#define FIELD(name) offsetof(uc_consensus_settings, name)

const uc_option uc_consensus_options[] = {
    {.name = "consensus",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(method),
     .standard = "audit",
     .choices = "audit|dawid-skene|majority|one-coin",
     .help =
         "how annotators are combined: audit uses the features too (without features it is dawid-skene); "
         "dawid-skene: a noise matrix per annotator; one-coin: an accuracy per annotator; majority: votes"},
    {.name = "smoothing",
     .type = UC_OPTION_REAL,
     .offset = FIELD(smoothing),
     .standard = "0.01",
     .low = 0,
     .high = 1e6,
     .help = "dawid-skene, one-coin: what every count of labels begins with"},
    {.name = "trust",
     .type = UC_OPTION_REAL,
     .offset = FIELD(trust),
     .standard = "1",
     .low = 0,
     .high = 1e6,
     .help = "dawid-skene, one-coin: how many right labels (per class) every annotator is credited with "
             "beforehand; 0: annotators with a single label tell nothing"},
    {.name = "consensus-iterations",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(iterations),
     .standard = "1000",
     .low = 1,
     .high = 1e9,
     .help = "dawid-skene, one-coin: steps of EM at most"},
    {.name = "consensus-tolerance",
     .type = UC_OPTION_REAL,
     .offset = FIELD(tolerance),
     .standard = "1e-12",
     .low = 0,
     .high = 1,
     .help = "dawid-skene, one-coin: EM ends when the log-likelihood rises by less than this per row"},
    {.name = NULL},
};

uc_consensus_settings uc_consensus_defaults(void)
{
    uc_consensus_settings settings;
    uc_options_defaults(uc_consensus_options, &settings);
    return settings;
}

/* ---- posteriors ---- */

uc_status uc_posterior_create(uc_posteriors *out, size_t rows, size_t classes, size_t width)
{
    size_t cells;
    if (!uc_size_mul(&cells, rows, classes))
        return uc_fail(UC_ERR_NOMEM, "not enough memory for %zu rows of %zu classes", rows, classes);
    *out = (uc_posteriors){rows, classes, width, uc_alloc(cells, sizeof(double))};
    return out->values ? UC_OK : UC_ERR_NOMEM;
}

void uc_posteriors_free(uc_posteriors *self)
{
    uc_free(self->values);
    *self = (uc_posteriors){0};
}

/* ---- common to all methods ---- */

static uc_status check(const uc_crowd *crowd, const uint32_t *gold, const uc_posteriors *start)
{
    const size_t K = crowd->classes.count;
    if (K < 2)
        return uc_fail(UC_ERR_INVALID, "all annotations are of one class; a consensus needs two or more");
    for (size_t i = 0; i < crowd->rows && gold; i++)
        if (gold[i] != UC_NONE && gold[i] >= K)
            return uc_fail(UC_ERR_INVALID, "row %zu: its gold class is not one of the %zu classes", i + 1, K);
    if (start && (start->classes != K || start->rows > crowd->rows))
        return uc_fail(UC_ERR_INVALID,
                       "the earlier result has %zu rows and %zu classes, but there are %zu and %zu",
                       start->rows, start->classes, crowd->rows, K);
    return UC_OK;
}

/* The share of each class among the rows with annotations or gold labels. */
static void find_prior(uc_consensus *out, const uc_crowd *crowd, const uint32_t *gold)
{
    const size_t K = crowd->classes.count;
    double total = 0.0;
    for (size_t i = 0; i < crowd->rows; i++) {
        if (!uc_is_annotated(crowd, i) && uc_gold_of(gold, i) == UC_NONE)
            continue;
        total += 1.0;
        for (size_t k = 0; k < K; k++)
            out->prior[k] += out->posterior.values[uc_posterior_at(&out->posterior, i, k)];
    }
    for (size_t k = 0; k < K; k++)
        out->prior[k] /= total;
}

static void find_most_probable(uc_consensus *out, const uc_crowd *crowd, const uint32_t *gold)
{
    const uc_posteriors *posterior = &out->posterior;
    for (size_t i = 0; i < crowd->rows; i++) {
        size_t best = 0;
        bool tied = false;
        for (size_t k = 1; k < posterior->classes; k++) {
            const double value = posterior->values[uc_posterior_at(posterior, i, k)];
            const double most = posterior->values[uc_posterior_at(posterior, i, best)];
            tied = value == most || (tied && value < most);
            best = value > most ? k : best;
        }
        out->most_probable[i] = (uint32_t)best;
        out->ties += tied && uc_is_annotated(crowd, i);
        out->unannotated += !uc_is_annotated(crowd, i) && uc_gold_of(gold, i) == UC_NONE;
    }
}

/* Rows without votes get the prior. */
static void fill_unannotated(uc_consensus *out, const uc_crowd *crowd, const uint32_t *gold)
{
    for (size_t i = 0; i < crowd->rows; i++)
        for (size_t k = 0; k < out->posterior.classes; k++)
            if (!uc_is_annotated(crowd, i) && uc_gold_of(gold, i) == UC_NONE)
                out->posterior.values[uc_posterior_at(&out->posterior, i, k)] = out->prior[k];
}

static uc_status allocate(uc_consensus *out, const uc_crowd *crowd, size_t width)
{
    const uc_status status = uc_posterior_create(&out->posterior, crowd->rows, crowd->classes.count, width);
    if (status != UC_OK)
        return status;
    out->prior = uc_alloc(crowd->classes.count, sizeof *out->prior);
    out->most_probable = uc_alloc(crowd->rows, sizeof *out->most_probable);
    return out->prior && out->most_probable ? UC_OK : UC_ERR_NOMEM;
}

void uc_consensus_free(uc_consensus *self)
{
    uc_posteriors_free(&self->posterior);
    uc_free(self->prior);
    uc_free(self->most_probable);
    uc_free(self->annotators);
    uc_free(self->pooled);
    *self = (uc_consensus){0};
}

/* Everything that follows from the posterior, whichever method found it. */
static uc_status conclude(uc_consensus *self, const uc_crowd *crowd, const uc_pairs *pairs,
                          const uint32_t *gold, const uc_context *context)
{
    find_most_probable(self, crowd, gold);
    return uc_consensus_describe(self, crowd, pairs, context);
}

static uc_status hand_over(uc_consensus *out, uc_consensus *self, uc_pairs *pairs, uc_status status)
{
    uc_pairs_free(pairs);
    if (status == UC_OK)
        *out = *self;
    else
        uc_consensus_free(self);
    return status;
}

uc_status uc_consensus_find(uc_consensus *out, const uc_crowd *crowd, const uint32_t *gold,
                            const uc_posteriors *start, const uc_consensus_settings *settings,
                            const uc_context *context)
{
    uc_consensus self = {.log_likelihood = NAN, .objective = NAN};
    const uc_consensus_settings own = settings ? *settings : uc_consensus_defaults();
    uc_context alone = uc_context_alone(context); /* every process has all annotations */
    alone = uc_context_for_work(&alone, (double)crowd->count * (double)crowd->classes.count);
    uc_pairs pairs = {0};
    uc_status status = uc_options_check(uc_consensus_options, &own);
    if (status != UC_OK || (status = check(crowd, gold, start)) != UC_OK)
        return status;
    if ((status = allocate(&self, crowd, UC_SLAB_CLASSES)) != UC_OK)
        goto cleanup;
    if ((status = uc_pairs_find(&pairs, crowd)) != UC_OK)
        goto cleanup;
    uc_posterior_start(&self.posterior, crowd, gold, own.method == UC_CONSENSUS_MAJORITY ? NULL : start);
    self.converged = own.method == UC_CONSENSUS_MAJORITY;
    if (self.converged) {
        find_prior(&self, crowd, gold);
        fill_unannotated(&self, crowd, gold);
    } else if ((status = uc_consensus_iterate(&self, crowd, &pairs, gold, &own, &alone)) != UC_OK)
        goto cleanup;
    status = conclude(&self, crowd, &pairs, gold, &alone);

cleanup:
    return hand_over(out, &self, &pairs, status);
}

uc_status uc_consensus_from_posterior(uc_consensus *out, const uc_crowd *crowd, const double *posterior,
                                      const uint32_t *gold, const uc_context *context)
{
    uc_consensus self = {.log_likelihood = NAN, .objective = NAN, .converged = true};
    const uc_context alone = uc_context_alone(context);
    uc_pairs pairs = {0};
    uc_status status = check(crowd, gold, NULL);
    if (status != UC_OK)
        return status;
    if ((status = allocate(&self, crowd, crowd->classes.count)) != UC_OK)
        goto cleanup;
    memcpy(self.posterior.values, posterior, crowd->rows * crowd->classes.count * sizeof *posterior);
    if ((status = uc_pairs_find(&pairs, crowd)) != UC_OK)
        goto cleanup;
    find_prior(&self, crowd, gold);
    status = conclude(&self, crowd, &pairs, gold, &alone);

cleanup:
    return hand_over(out, &self, &pairs, status);
}
