/* Loops over rows that Python would be too slow for; each row goes through the public functions of the
 * library. */
#include <math.h>

#include <unconfuse/unconfuse.h>

#define ROWS_PER_REPORT 256

/* CSR rows with arrays of `entries` numbers. What others hand over may be wrong in everything that check_rows
 * looks at, and nobody else looks. */
typedef struct csr_rows {
    const uc_matrix *X;
    uint64_t entries;
} csr_rows;

/* Whether rows lie within their arrays, and their columns ascend below X->cols; values are not looked at. */
static uc_status check_rows(size_t begin, size_t end, void *user)
{
    const csr_rows *self = user;
    const uc_matrix *X = self->X;
    for (size_t i = begin; i < end; i++) {
        const uint64_t first = X->offsets[i], last = X->offsets[i + 1];
        if (first > last || last > self->entries)
            return UC_ERR_FORMAT;
        uint32_t descents = 0;
        for (uint64_t e = first; e + 1 < last; e++)
            descents += X->columns[e] >= X->columns[e + 1];
        if (descents > 0 || (first < last && X->columns[last - 1] >= X->cols))
            return UC_ERR_FORMAT;
    }
    return UC_OK;
}

static bool is_sound(const uc_matrix *X, uint64_t entries)
{
    csr_rows rows = {X, entries};
    return check_rows(0, X->rows, &rows) == UC_OK;
}

/* What uc_model_predict, uc_model_scores and uc_model_probabilities do, for rows that nobody has checked;
 * dense rows need no check. UC_ERR_FORMAT: they are not sound. */
static uc_status score_rows(uint32_t *predicted, double *scores, bool probabilities, const uc_model *model,
                            const uc_matrix *X, uint64_t entries, const uc_context *context)
{
    csr_rows rows = {X, entries};
    const uc_row_check check = {check_rows, &rows};
    const uc_scoring wanted = {predicted, scores, probabilities, X->offsets ? &check : NULL};
    return uc_model_score(&wanted, model, X, context);
}

/* The first row that holds NaN or infinity; the number of rows when there is none. */
static size_t first_row_not_finite(const uc_matrix *X)
{
    for (size_t i = 0; i < X->rows; i++) {
        const uc_row row = uc_matrix_row(X, i);
        float zeros = 0.0f; /* what is not finite, times 0, is NaN */
        for (size_t j = 0; j < row.count; j++)
            zeros += row.values[j] * 0.0f;
        if (zeros != 0.0f)
            return i;
    }
    return X->rows;
}

static bool goes_on(const uc_context *context, size_t done, size_t total)
{
    return !context || !context->progress || done % ROWS_PER_REPORT != 0 ||
           context->progress("learning", (double)done, (double)total, NULL, context->user);
}

/* What is kept of the rounds of run_rows. */
typedef struct kept_rounds {
    uint32_t *proposed;
    size_t rows;
    const uc_context *context;
} kept_rounds;

static uc_status note_round(const uc_session_round *round, void *user)
{
    const kept_rounds *self = user;
    self->proposed[round->number - 1] = round->proposed;
    return goes_on(self->context, (size_t)round->number, self->rows) ? UC_OK : UC_ERR_CANCELLED;
}

/* For every row: propose, get feedback (right or wrong, or the label for a learner that does not learn from
 * that; `delay` rounds late; never, with probability `missing`), learn. All feedback has come when it
 * returns. */
static uc_status run_rows(uint32_t *proposed, uc_online *online, const uc_matrix *X, const uint32_t *labels,
                          const double *weights, uint64_t delay, double missing, const uc_context *context)
{
    kept_rounds kept = {proposed, X->rows, context};
    uc_session_settings settings = {.feedback = UC_FEEDBACK_PARTIAL,
                                    .delay = delay,
                                    .missing = missing,
                                    .on_round = note_round,
                                    .user = &kept};
    uc_session *session = NULL;
    if (!uc_learner_accepts(uc_online_learner(online), UC_FEEDBACK_PARTIAL))
        settings.feedback = UC_FEEDBACK_FULL;
    uc_status status = uc_session_continue(&session, online, &settings, context);
    if (status == UC_OK)
        status = uc_session_run_weighted(session, X, labels, weights, NULL, X->rows, false);
    if (status == UC_OK)
        status = uc_session_finish(session);
    uc_session_free(session);
    return status;
}

/* Row i: the learner proposes, then the policy. baselines NULL: there are none. */
static uc_status propose_row(uc_proposal *proposal, uc_event_counts *counts, uc_online *online,
                             const uc_matrix *X, size_t i, const uc_policy *policy, const uint32_t *baselines)
{
    const uc_row row = uc_matrix_row(X, i);
    const uc_status status = uc_online_propose(proposal, online, &row);
    if (status == UC_OK)
        uc_policy_propose(proposal, counts, policy, online, baselines ? baselines[i] : UC_NONE, NULL);
    return status;
}

static uc_status propose_rows(uc_proposal *proposals, uc_event_counts *counts, uc_online *online,
                              const uc_matrix *X, const uc_policy *policy, const uint32_t *baselines)
{
    uc_status status = UC_OK;
    for (size_t i = 0; i < X->rows && status == UC_OK; i++)
        status = propose_row(&proposals[i], counts, online, X, i, policy, baselines);
    return status;
}

/* right NULL: no answers came in time. prepared: the rows are as the weights saw them when they were proposed
 * for. */
static uc_status learn_rows(uc_online *online, uc_event_counts *counts, const uc_matrix *X,
                            const uc_proposal *proposals, const bool *right, const uc_policy *policy,
                            bool prepared, const uc_context *context)
{
    for (size_t i = 0; i < X->rows; i++) {
        const uc_row row = uc_matrix_row(X, i);
        uc_answer answer;
        uc_status status = UC_OK;
        bool hears;
        if (right)
            hears = uc_policy_answer(&answer, online, &proposals[i], right[i], UC_NONE);
        else
            hears = uc_policy_expire(&answer, counts, policy, online, &proposals[i]);
        if (hears && prepared)
            status = uc_online_learn_prepared(online, &row, &proposals[i], answer);
        else if (hears)
            status = uc_online_learn(online, &row, &proposals[i], answer);
        if (status != UC_OK)
            return status;
        if (!goes_on(context, i + 1, X->rows))
            return UC_ERR_CANCELLED;
    }
    return UC_OK;
}

/* out[i] = labels[positions[i]], of labels of 8 bytes; without the copy of the positions that NumPy makes.
 * Returns how many were picked: a position that is not below `known` ends it. */
static size_t pick_labels(uint64_t *out, const uint32_t *positions, size_t count, const uint64_t *labels,
                          size_t known)
{
    for (size_t i = 0; i < count; i++) {
        if (positions[i] >= known)
            return i;
        out[i] = labels[positions[i]];
    }
    return count;
}

/* weights[k * dimension + j] and offsets[k], k a class. */
static void copy_weights(double *weights, double *offsets, const uc_model *model)
{
    const size_t classes = uc_model_classes(model)->count, dimension = uc_model_dimension(model);
    for (size_t k = 0; k < classes; k++) {
        offsets[k] = uc_model_offset(model, k);
        for (size_t j = 0; j < dimension; j++)
            weights[k * dimension + j] = uc_model_weight(model, j, k);
    }
}
