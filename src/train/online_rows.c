/*
 * Preprocessing of the rows of an online learner: columns that the scaling does not know are dropped, the map
 * grows with the rows, and a row that is learned from right after its proposal is not preprocessed again.
 */
#include <math.h>

#include "train/online.h"
#include "map/kernel.h"
#include "map/map.h"
#include "prepare/preprocessing.h"

/* The row without columns that the scaling does not know. */
static uc_row known_part(const uc_online *self, uc_row row)
{
    if (!self->preprocessing.factor)
        return row;
    return uc_known_row(row, self->preprocessing.cols);
}

/* Makes room for the row. If nothing is known about the data, the first row also determines the density. */
static uc_status reserve_for(uc_online *self, uc_row row)
{
    const size_t columns = uc_row_width(row);
    size_t count = 0, width = self->columns;
    if (!isnan(self->density) || columns == 0)
        return uc_online_reserve_columns(self, columns);
    for (size_t i = 0; i < row.count; i++)
        count += row.values[i] != 0.0f;
    if (columns > width)
        width = columns;
    return uc_online_expect(self, columns, (double)count / (double)width);
}

/* The size of a map, for undoing its growth. */
typedef struct map_size {
    size_t landmarks, columns;
} map_size;

static map_size size_of_map(const uc_online *self)
{
    const uc_map *map = self->preprocessing.map;
    if (!map)
        return (map_size){0};
    return (map_size){map->landmarks.rows, map->landmarks.cols};
}

/* Undoes the growth of the map, since the rows may arrive again. */
static void shrink_map(uc_online *self, map_size before)
{
    if (size_of_map(self).landmarks > before.landmarks)
        uc_map_forget_landmarks(self->preprocessing.map, before.landmarks, before.columns);
}

static uc_status check_mapped(const uc_online *self, uc_row row)
{
    if (self->preprocessing.map && !isfinite(uc_row_norm2(row)))
        return uc_fail(UC_ERR_DIVERGED, "a row's mapped features overflowed; scale the data ({scale})");
    return UC_OK;
}

/* Adds the row to a running scaling; *before becomes the state to restore if the map fails afterwards. */
static uc_status join_scaling(uc_scale_sums **before, uc_online *self, uc_row row)
{
    if (self->preprocessing.map) {
        const uc_status status = uc_scale_sums_copy(before, self->running);
        if (status != UC_OK)
            return status;
    }
    uc_running_add(&self->preprocessing, self->running, row);
    return UC_OK;
}

/* Preprocesses the row. The weights grow as needed and, if the row `arrives`, so do the map and a running
 * scaling. */
static uc_status prepare(uc_row *out, uc_online *self, const uc_row *row, bool arrives)
{
    const bool joins = self->running && arrives;
    const uc_row known = joins ? *row : known_part(self, *row);
    const map_size before = size_of_map(self);
    uc_scale_sums *sums_before = NULL;
    uc_status status = reserve_for(self, known);
    if (status == UC_OK && joins)
        status = join_scaling(&sums_before, self, known);
    if (status == UC_OK && self->preprocessing.map && arrives) {
        status = uc_preprocessing_add_landmark(&self->preprocessing, known, self->row_work);
        if (status == UC_OK)
            status = uc_online_reserve_columns(self, uc_row_width(known)); /* room for one more landmark */
    }
    if (status == UC_OK) {
        *out = self->prepared = uc_preprocessing_row(&self->preprocessing, known, self->row_work);
        status = check_mapped(self, *out);
    }
    if (status != UC_OK)
        shrink_map(self, before);
    if (status != UC_OK && sums_before)
        uc_running_return(&self->preprocessing, &self->running, sums_before);
    else
        uc_scale_sums_free(sums_before);
    return status;
}

uc_status uc_online_prepare_row(uc_row *out, uc_online *self, uc_row row)
{
    return prepare(out, self, &row, true);
}

static uc_status check_width(const uc_online *self, size_t columns)
{
    if (columns <= self->features)
        return UC_OK;
    return uc_fail(UC_ERR_INVALID, "the row has %zu columns, but the map gives %zu", columns, self->features);
}

uc_status uc_online_check_prepared(uc_online *self, const uc_matrix *X)
{
    if (self->preprocessing.map)
        return check_width(self, X->cols);
    return uc_online_expect(self, X->cols, uc_matrix_density(X));
}

static uc_status check_prepared(uc_online *self, const uc_row *row)
{
    if (self->preprocessing.map)
        return check_width(self, uc_row_width(*row));
    return reserve_for(self, *row);
}

static uc_status check_answer(const uc_online *self, const uc_proposal *proposal, uc_answer answer)
{
    const size_t K = self->classes.count;
    const bool labelled = answer.kind == UC_ANSWER_LABEL;
    const uc_status status =
        uc_check_feedback(self->learner, labelled ? UC_FEEDBACK_FULL : UC_FEEDBACK_PARTIAL);
    if (status != UC_OK)
        return status;
    if (labelled && answer.label >= K)
        return uc_fail(UC_ERR_INVALID, "label %u is not below the number of classes, %zu", answer.label, K);
    if (!labelled && (proposal->label >= K || proposal->favourite >= K))
        return uc_fail(UC_ERR_INVALID, "the class proposed, %u, is not below the number of classes, %zu",
                       proposal->label, K);
    return UC_OK;
}

uc_status uc_online_propose(uc_proposal *out, uc_online *self, const uc_row *row)
{
    uc_row prepared;
    const uc_status status = prepare(&prepared, self, row, true);
    if (status != UC_OK)
        return status;
    uc_online_score(self, prepared);
    *out = uc_online_propose_scored(self, prepared);
    return UC_OK;
}

uc_row uc_online_prepared(const uc_online *self)
{
    return self->prepared;
}

uc_status uc_online_propose_prepared(uc_proposal *out, uc_online *self, const uc_row *prepared)
{
    const uc_status status = check_prepared(self, prepared);
    if (status != UC_OK)
        return status;
    self->prepared = (uc_row){0};
    uc_online_score(self, *prepared);
    *out = uc_online_propose_scored(self, *prepared);
    return UC_OK;
}

/* Whether the row that was preprocessed last is `row`, which the proposal was made for, so that *prepared can
 * be reused. Its columns belong to the caller, as do its values unless preprocessing changed them, and the
 * caller may have moved them since. */
static bool at_hand(uc_row *prepared, const uc_online *self, const uc_row *row, const uc_proposal *proposal)
{
    const bool own = prepared->values && (self->preprocessing.map || prepared->values == self->row_work);
    if (!own || proposal->ticket != self->ticket)
        return false;
    if (prepared->columns)
        prepared->columns = row->columns;
    return true;
}

static uc_status learn_prepared(uc_online *self, uc_row row, const uc_proposal *proposal, uc_answer answer)
{
    if (proposal->ticket != self->ticket)
        uc_online_score(self, row);
    return uc_online_learn_scored(self, row, proposal, answer, 1.0);
}

uc_status uc_online_learn(uc_online *self, const uc_row *row, const uc_proposal *proposal, uc_answer answer)
{
    uc_row prepared = self->prepared;
    uc_status status = check_answer(self, proposal, answer);
    if (status == UC_OK && !at_hand(&prepared, self, row, proposal))
        status = prepare(&prepared, self, row, false);
    if (status == UC_OK)
        status = learn_prepared(self, prepared, proposal, answer);
    return status;
}

uc_status uc_online_learn_prepared(uc_online *self, const uc_row *prepared, const uc_proposal *proposal,
                                   uc_answer answer)
{
    uc_status status = check_answer(self, proposal, answer);
    if (status == UC_OK)
        status = check_prepared(self, prepared);
    if (status == UC_OK)
        status = learn_prepared(self, *prepared, proposal, answer);
    return status;
}

/* Preprocesses rows with a running scaling: scales them one by one, then does the rest for all of them
 * together. */
static uc_status prepare_running(uc_matrix *out, uc_online *self, const uc_matrix *rows,
                                 const uc_context *context)
{
    uc_preprocessing rest = self->preprocessing; /* borrowed: the map grows, and nothing is freed */
    uc_scale_sums *before = NULL;
    uc_matrix scaled = {0};
    uc_status status = uc_scale_sums_copy(&before, self->running);
    if (status != UC_OK)
        return status;
    rest.shift = rest.factor = NULL;
    status = uc_running_apply(&scaled, &self->preprocessing, self->running, rows);
    if (status == UC_OK)
        status = uc_preprocessing_apply_arriving(out, &rest, &scaled, context);
    if (status == UC_OK)
        uc_scale_sums_free(before);
    else
        uc_running_return(&self->preprocessing, &self->running, before);
    uc_matrix_free(&scaled);
    return status;
}

uc_status uc_online_prepare(uc_matrix *out, uc_online *self, const uc_matrix *rows, const uc_context *context)
{
    uc_matrix copy = {0};
    const map_size before = size_of_map(self);
    size_t columns = rows->cols;
    if (self->preprocessing.factor && !self->running)
        columns = uc_min_size(columns, self->preprocessing.cols);
    uc_status status = uc_online_expect(self, columns, uc_matrix_density(rows));
    if (status == UC_OK && self->running)
        status = prepare_running(&copy, self, rows, context);
    else if (status == UC_OK)
        status = uc_preprocessing_apply_arriving(&copy, &self->preprocessing, rows, context);
    if (status == UC_OK && self->preprocessing.map)
        status = uc_online_reserve_columns(self, self->columns); /* room for more landmarks */
    if (status == UC_OK) {
        *out = copy;
        return UC_OK;
    }
    shrink_map(self, before);
    uc_matrix_free(&copy);
    return status;
}
