/*
 * The strongest learner here for one bit of feedback, right or wrong.
 *
 *   dense rows    kernel features that are chosen during the stream, and one ridge problem for all classes;
 *                 what a "wrong" meant is estimated from the scores, again and again (dense.h)
 *   sparse rows   term counts that are weighted during the stream, and cspa-plus's step with replays (text.h)
 *
 * Both propose argmax s_k + b e u/((1 + n_k^2/m_k) sqrt(1 + m_k)), where class k was right n_k times out of
 * m_k proposals. A class that was never found is tried, and one that is seldom right continues to be tried,
 * so that a few lucky or false answers do not end the search for it. u is 1 minus the best score: a class is
 * searched for where no other class is sure to be right, since a wrong proposal costs little there. e is 1 if
 * classes are equally frequent, and smaller if most of them are rare, because finding those pays little. b
 * shrinks with the share of wrong proposals that came with the label.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "learn/onebit/dense.h"
#include "learn/onebit/text.h"

#define LANDMARKS ((size_t)512) /* --dimension auto */
#define DENSE_BONUS 4.0
#define SPARSE_BONUS 1.0
#define PRIOR_COUNT 0.1 /* right rounds that each class is taken to have had before the first */
#define LEAST_ROOM 0.01 /* a class that was never found is tried some day, however certain the others are */

#define FIELD(name) offsetof(uc_onebit_settings, name)

static const uc_option options[] = {
    {.name = "ridge",
     .type = UC_OPTION_REAL,
     .offset = FIELD(ridge),
     .standard = "0.03",
     .low = 1e-6,
     .high = 1e6,
     .argument = "L",
     .help = "penalty of the squared weights"},
    {.name = "jitter",
     .type = UC_OPTION_REAL,
     .offset = FIELD(jitter),
     .standard = "0.001",
     .low = 1e-6,
     .high = 1,
     .argument = "J",
     .help = "added to the diagonal of the landmarks' kernel matrix"},
    {.name = "penalty",
     .type = UC_OPTION_REAL,
     .offset = FIELD(penalty),
     .standard = "0.2",
     .low = 0,
     .high = 1,
     .argument = "P",
     .help = "a class that was wrong gets the target -P"},
    {.name = "bonus",
     .type = UC_OPTION_REAL,
     .automatic = true,
     .offset = FIELD(bonus),
     .standard = "auto",
     .low = 0,
     .high = 1e6,
     .argument = "B",
     .help = "how much is added in a proposal to the scores of classes that were seldom proposed or seldom "
             "right (auto: 4, for sparse rows 1)"},
    {.name = "replay",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(replay),
     .standard = "4",
     .low = 0,
     .high = 1000,
     .help = "past rounds that are learned from again after each round"},
    {.name = "least-change",
     .type = UC_OPTION_REAL,
     .offset = FIELD(least),
     .standard = "0.02",
     .low = 0,
     .high = 2,
     .argument = "C",
     .help = "smallest change of a past round's target that is learned, summed over the classes"},
    {.name = "memory-rounds",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(memory_rounds),
     .standard = "10000",
     .low = 50,
     .high = 1e9,
     .help = "number of rounds kept; the oldest are dropped"},
    {.name = "feedback-noise",
     .type = UC_OPTION_PAIR,
     .offset = FIELD(feedback_noise),
     .standard = "none",
     .zero = "none",
     .unknown = "estimate",
     .high = 0.49,
     .argument = "A,B",
     .help = "answers are false: share A of the right proposals is answered \"wrong\", share B of the wrong "
             "ones \"right\"; estimate: both are learned in the stream"},
    {.name = "restart",
     .type = UC_OPTION_FLAG,
     .offset = FIELD(restart),
     .standard = "on",
     .help = "begin again from the last rounds when the share of right proposals has fallen"},
    {.name = "step",
     .type = UC_OPTION_REAL,
     .offset = FIELD(step),
     .standard = "0.5",
     .low = 0,
     .above_low = true,
     .high = 1,
     .argument = "S",
     .help = "sparse rows: share of the margin that a wrong proposal loses"},
    {.name = "spread",
     .type = UC_OPTION_REAL,
     .offset = FIELD(spread),
     .standard = "3",
     .low = 0,
     .high = 1e6,
     .argument = "RHO",
     .help =
         "sparse rows: after a wrong proposal, how much more the other classes gain the higher they score"},
    {.name = NULL},
};

typedef struct onebit_memory {
    size_t landmarks; /* maximum number */
    bool sparse;
    uc_onebit_dense dense;
    uc_onebit_text text;
    uint64_t *right, *proposed; /* n_k and m_k */
    uint64_t wrong, labelled;   /* wrong proposals, and how many of them came with the label */
    size_t classes;             /* allocated for right and proposed */
} onebit_memory;

/* ---- room ---- */

static uc_status grow_counts(onebit_memory *memory, size_t classes)
{
    uint64_t *right = uc_realloc(memory->right, classes, sizeof *right);
    if (!right)
        return UC_ERR_NOMEM;
    memory->right = right;
    uint64_t *proposed = uc_realloc(memory->proposed, classes, sizeof *proposed);
    if (!proposed)
        return UC_ERR_NOMEM;
    memory->proposed = proposed;
    for (; memory->classes < classes; memory->classes++)
        right[memory->classes] = proposed[memory->classes] = 0;
    return UC_OK;
}

static size_t landmarks_of(const uc_train_settings *train)
{
    if (train->map.dimension == UC_AUTO_COUNT)
        return LANDMARKS;
    return uc_min_size((size_t)train->map.dimension, UC_ONEBIT_MOST_LANDMARKS);
}

static uc_status refuse_scale(void)
{
    return uc_fail(UC_ERR_INVALID, "onebit weighs the columns of sparse rows by itself: leave out {scale}");
}

static uc_status grow(uc_online *self, uc_shape shape, size_t classes)
{
    onebit_memory *memory = self->memory;
    if (shape.sparse && self->preprocessing.factor)
        return refuse_scale();
    memory->landmarks = landmarks_of(&self->train);
    memory->sparse = shape.sparse;
    uc_status status = UC_OK;
    if (classes > memory->classes)
        status = grow_counts(memory, classes);
    if (status != UC_OK)
        return status;
    if (!shape.sparse)
        return uc_onebit_dense_grow(&memory->dense, shape.features, classes, self->settings,
                                    memory->landmarks);
    uc_onebit_dense_free(&memory->dense);
    return uc_onebit_text_grow(&memory->text, shape.features, self->settings);
}

static double memory_bytes(const void *user, uc_shape shape, size_t classes, double row_bytes, double rounds)
{
    if (shape.sparse)
        return uc_onebit_text_bytes(shape.features, user, row_bytes, rounds);
    return uc_onebit_dense_bytes(shape.features, classes, user, LANDMARKS, rounds);
}

static void release(void *user)
{
    onebit_memory *memory = user;
    uc_onebit_dense_free(&memory->dense);
    uc_onebit_text_free(&memory->text);
    uc_free(memory->right);
    uc_free(memory->proposed);
}

static uc_status remember(uc_online *self, uc_state *state)
{
    onebit_memory *memory = self->memory;
    const size_t K = self->classes.count;
    uc_status status = uc_state_array(state, "state.right", UC_ARRAY_U64, memory->right, K);
    if (status == UC_OK)
        status = uc_state_array(state, "state.proposed", UC_ARRAY_U64, memory->proposed, K);
    if (status == UC_OK)
        status = uc_state_counter(state, "wrong", &memory->wrong);
    if (status == UC_OK)
        status = uc_state_counter(state, "labelled", &memory->labelled);
    if (status == UC_OK && memory->labelled > memory->wrong)
        status = uc_state_damaged();
    if (status != UC_OK)
        return status;
    if (memory->sparse)
        return uc_onebit_text_remember(&memory->text, state, self->features, K);
    return uc_onebit_dense_remember(&memory->dense, state);
}

/* ---- rounds ---- */

static void score(uc_online *self, uc_row row)
{
    onebit_memory *memory = self->memory;
    if (memory->sparse) {
        uc_onebit_text_weigh(&memory->text, row);
        uc_online_plane_scores(self->scores, self, UC_WEIGHTS, memory->text.row);
        return;
    }
    uc_onebit_dense_score(self->scores, &memory->dense, row);
}

/* The bonus times the share of the wrong proposals that came without the label: where labels come, a class is
 * found without being proposed. */
static double bonus_of(const uc_online *self)
{
    const uc_onebit_settings *settings = self->settings;
    const onebit_memory *memory = self->memory;
    const double unlabelled = 1.0 - (double)memory->labelled / fmax(1.0, (double)memory->wrong);
    if (!isnan(settings->bonus))
        return settings->bonus * unlabelled;
    return (memory->sparse ? SPARSE_BONUS : DENSE_BONUS) * unlabelled;
}

/* Trying a class costs little where none is sure to be right: 1 minus the best score. The scores of dense
 * rows are centred. */
static double room_for_trying(const uc_online *self)
{
    const onebit_memory *memory = self->memory;
    const size_t K = self->classes.count;
    const double mean = memory->sparse ? 0.0 : 1.0 / (double)K;
    const double best = self->scores[uc_argmax(self->scores, K)] + mean;
    return fmin(1.0, fmax(LEAST_ROOM, 1.0 - best));
}

/* e = 1/sqrt(K sum p_k^2) with p_k = (n_k + .1)/(sum n_k + .1 K), the estimated share of class k. */
static double evenness(const onebit_memory *memory, size_t K)
{
    double right = 0.0, squares = 0.0;
    for (size_t k = 0; k < K; k++)
        right += (double)memory->right[k];
    for (size_t k = 0; k < K; k++) {
        const double share = ((double)memory->right[k] + PRIOR_COUNT) / (right + PRIOR_COUNT * (double)K);
        squares += share * share;
    }
    return 1.0 / sqrt((double)K * squares);
}

static void propose(uc_proposal *proposal, uc_online *self, uc_row row)
{
    onebit_memory *memory = self->memory;
    double *sums = self->full_step;
    const size_t K = self->classes.count;
    const double bonus = bonus_of(self) * room_for_trying(self) * evenness(memory, K);
    (void)row;
    for (size_t k = 0; k < K; k++) {
        const double n = (double)memory->right[k], m = (double)memory->proposed[k];
        const double found = n * n / fmax(1.0, m);
        sums[k] = self->scores[k] + bonus / ((1.0 + found) * sqrt(1.0 + m));
    }
    proposal->label = (uint32_t)uc_argmax(sums, K);
    memory->proposed[proposal->label]++;
}

/* Recomputes n and m from the rounds kept. */
static void recount(onebit_memory *memory)
{
    memset(memory->right, 0, memory->classes * sizeof *memory->right);
    memset(memory->proposed, 0, memory->classes * sizeof *memory->proposed);
    for (size_t i = 0; i < memory->dense.rounds.count; i++) {
        const uc_past_round round = uc_rounds_at(&memory->dense.rounds, i);
        memory->right[round.class] += round.right;
        memory->proposed[round.class]++;
    }
}

static uc_status learn(uc_online *self, uc_row row, const uc_round *round)
{
    onebit_memory *memory = self->memory;
    const bool labelled = round->answer.kind == UC_ANSWER_LABEL;
    const uint32_t proposed = round->proposal.label;
    uc_onebit_answer answer = {.class = proposed, .proposed = proposed, .weight = round->weight};
    answer.right = round->answer.kind == UC_ANSWER_RIGHT;
    if (labelled) {
        answer.right = round->answer.label == round->proposal.label;
        answer.class = round->answer.label;
    }
    const uc_onebit_settings *settings = self->settings;
    const bool certain = settings->feedback_noise[0] == 0.0 && settings->feedback_noise[1] == 0.0;
    answer.known = labelled || (answer.right && certain);
    bool restarted = false;
    memory->right[answer.class] += answer.right || labelled;
    memory->wrong += !answer.right;
    memory->labelled += !answer.right && labelled;
    if (memory->sparse)
        return uc_onebit_text_learn(&memory->text, self, row, &answer);
    const uc_status status = uc_onebit_dense_learn(&restarted, &memory->dense, row, &answer, self->scores,
                                                   self->settings, memory->landmarks, &self->rng);
    if (restarted)
        recount(memory);
    self->updates++;
    return status;
}

/* ---- the model ---- */

/* Rows of unit length have no value above 1, so a logarithm would change nothing. */
static uc_status text_model(uc_preprocessing *preprocessing, const uc_online *self)
{
    const onebit_memory *memory = self->memory;
    const bool unit = preprocessing->normalize || preprocessing->normalize_input;
    if (preprocessing->factor)
        return refuse_scale();
    preprocessing->scaling = unit ? UC_SCALE_MAXABS : UC_SCALE_TERMS;
    preprocessing->normalize = true;
    return uc_onebit_text_factors(&preprocessing->factor, &memory->text, preprocessing->cols);
}

static uc_status model(uc_preprocessing *preprocessing, double **weights, double *bias, const uc_online *self)
{
    const onebit_memory *memory = self->memory;
    if (memory->sparse)
        return text_model(preprocessing, self);
    const uc_onebit_dense *dense = &memory->dense;
    if (!dense->map || dense->map->dimension == 0)
        return UC_OK;
    const uc_running_ridge *ridge = &dense->ridge;
    const size_t count = ridge->size * ridge->class_stride;
    const uc_status status = uc_map_copy(&preprocessing->map, dense->map);
    if (status != UC_OK)
        return status;
    double *copy = uc_alloc(count, sizeof *copy);
    if (!copy)
        return UC_ERR_NOMEM;
    memcpy(copy, ridge->weights, count * sizeof *copy);
    preprocessing->normalize_input = preprocessing->normalize_input || preprocessing->normalize;
    preprocessing->normalize = false;
    *weights = copy;
    *bias = 1.0;
    return UC_OK;
}

const uc_learner uc_learner_onebit = {
    .name = "onebit",
    .summary = "right/wrong feedback only: kernel features and ridge regression whose unknown targets are "
               "guessed; the most right proposals",
    .paper = "this project",
    .options = options,
    .settings_size = sizeof(uc_onebit_settings),
    .partial = true,
    .labels_too = true,
    .blas = true,
    .class_weight = UC_NO_CLASS_WEIGHT,
    .memory_size = sizeof(onebit_memory),
    .grow = grow,
    .memory_bytes = memory_bytes,
    .release = release,
    .remember = remember,
    .score = score,
    .propose = propose,
    .learn = learn,
    .model = model,
};
