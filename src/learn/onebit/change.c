/*
 * Detects a fall of the share of right proposals.
 *
 *   n0, r0   rounds before a cut, and how many of them were right      n1, r1   the same after it
 *
 * The log-likelihood ratio of a change at the cut, for rounds of one confidence, is
 *
 *   n0 KL(r0/n0, p) + n1 KL(r1/n1, p),      KL(a, b) = a log(a/b) + (1 - a) log((1 - a)/(1 - b)),
 *
 * It counts as negative where the share of right proposals rose, and is added up over three levels of
 * confidence: if the learner's scores say that rows are hard, fewer right proposals are to be expected, which
 * is not a change. Proposals that were sure to be right and are wrong do not occur without a change. A change
 * is reported when the sum reaches 13 at one of several cuts in the last 1,024 rounds, which are counted in
 * blocks of 16; learning then restarts from the rounds after the cut. The threshold 13 was chosen on
 * simulated bits: see tests/unit/learn_onebit_change.c.
 *
 * A running ratio below half of its former best, less .1, is also a change, however slowly it came about, and
 * is certain. Any other change counts only if the rounds before it do harm (forget.h).
 */
#include "learn/onebit/change.h"

#include <math.h>
#include <string.h>

#define RATIO_ROUNDS 50.0
#define USUAL_ROUNDS 500.0
#define WARM_UP 100
#define RESTART_AFTER 200
#define MARGIN 0.1
#define HALF_ROUNDS 50 /* in which the ratio halves after a change */
#define BLOCK 16
#define BLOCK_COUNTS ((size_t)(2 * UC_CHANGE_STRATA * UC_CHANGE_BLOCKS))
#define FEWEST_BEFORE 8 /* blocks before a cut */
#ifndef LEAST_EVIDENCE
#define LEAST_EVIDENCE 13.0
#endif

/* Scores from which confidence is medium, and high. */
static const double confidence[UC_CHANGE_STRATA - 1] = {0.4, 0.75};
/* Blocks after each cut. */
static const size_t cuts[] = {2, 3, 4, 6, 8, 12, 16, 24, 32};

/* n KL(r/n, p) for 0 < p < 1; also valid for r = 0 and r = n. */
static double divergence(double r, double n, double p)
{
    double sum = 0.0;
    if (r > 0.0)
        sum += r * log(r / (n * p));
    if (n > r)
        sum += (n - r) * log((n - r) / (n * (1.0 - p)));
    return sum;
}

/* The evidence from the rounds of one level of confidence. */
static double evidence_of(double r0, double n0, double r1, double n1)
{
    if (n0 == 0.0 || n1 == 0.0)
        return 0.0;
    const double p = (r0 + r1) / (n0 + n1);
    const double ratio = divergence(r0, n0, p) + divergence(r1, n1, p);
    return r1 * n0 < r0 * n1 ? ratio : -ratio;
}

/* The total evidence; 0 if the share of right proposals over all rounds did not fall, because the scores have
 * another meaning after a new map. */
static double evidence(const uc_change_counts *before, const uc_change_counts *after)
{
    double sum = 0.0, n0 = 0.0, n1 = 0.0, r0 = 0.0, r1 = 0.0;
    for (size_t c = 0; c < UC_CHANGE_STRATA; c++) {
        sum += evidence_of(before->right[c], before->rounds[c], after->right[c], after->rounds[c]);
        n0 += before->rounds[c];
        r0 += before->right[c];
        n1 += after->rounds[c];
        r1 += after->right[c];
    }
    return r1 * n0 < r0 * n1 ? sum : 0.0;
}

static void add_counts(uc_change_counts *sum, const uc_change_counts *block)
{
    for (size_t c = 0; c < UC_CHANGE_STRATA; c++) {
        sum->rounds[c] += block->rounds[c];
        sum->right[c] += block->right[c];
    }
}

/* The number of rounds after the cut with the most evidence of a fall, at the end of a block; 0 if there is
 * not enough. */
static size_t find_change(const uc_change *self)
{
    const size_t all = (size_t)(self->judged / BLOCK);
    const size_t count = all < UC_CHANGE_BLOCKS ? all : UC_CHANGE_BLOCKS;
    uc_change_counts sums[UC_CHANGE_BLOCKS + 1] = {0}; /* over the last i blocks */
    double most = LEAST_EVIDENCE;
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        sums[i + 1] = sums[i];
        add_counts(&sums[i + 1], &self->blocks[(all - 1 - i) % UC_CHANGE_BLOCKS]);
    }
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts && cuts[i] + FEWEST_BEFORE <= count; i++) {
        const uc_change_counts *after = &sums[cuts[i]];
        uc_change_counts before = sums[count];
        for (size_t c = 0; c < UC_CHANGE_STRATA; c++) {
            before.rounds[c] -= after->rounds[c];
            before.right[c] -= after->right[c];
        }
        const double found_here = evidence(&before, after);
        if (found_here >= most) {
            most = found_here;
            found = cuts[i] * BLOCK;
        }
    }
    return found;
}

static void count(uc_change *self, double score, bool right)
{
    uc_change_counts *block = &self->blocks[self->judged / BLOCK % UC_CHANGE_BLOCKS];
    size_t c = 0;
    if (self->judged % BLOCK == 0)
        *block = (uc_change_counts){0};
    while (c < UC_CHANGE_STRATA - 1 && score >= confidence[c])
        c++;
    block->rounds[c]++;
    block->right[c] += right;
}

uc_change_seen uc_change_round(uc_change *self, double score, bool right)
{
    count(self, score, right);
    self->judged++;
    self->ratio += ((double)right - self->ratio) / RATIO_ROUNDS;
    self->usual += ((double)right - self->usual) / fmin((double)self->judged, USUAL_ROUNDS);
    if (self->judged > WARM_UP)
        self->best = fmax(self->best, self->usual);
    if (self->judged < RESTART_AFTER)
        return (uc_change_seen){0};
    const size_t rounds = self->judged % BLOCK == 0 ? find_change(self) : 0;
    if (self->ratio < self->best / 2.0 - MARGIN)
        return (uc_change_seen){rounds > 0 ? rounds : HALF_ROUNDS, true};
    return (uc_change_seen){rounds, false};
}

/* The blocks in their order in the ring. Models of earlier versions have none; they are filled from
 * scratch. */
static uc_status remember_blocks(uc_change *self, uc_state *state)
{
    if (state->reading && !uc_state_has(state, "state.onebit.blocks"))
        return UC_OK;
    uc_status status = uc_state_array(state, "state.onebit.blocks", UC_ARRAY_U32, self->blocks, BLOCK_COUNTS);
    for (size_t i = 0; i < UC_CHANGE_BLOCKS && status == UC_OK; i++)
        for (size_t c = 0; c < UC_CHANGE_STRATA && status == UC_OK; c++) {
            const uc_change_counts *block = &self->blocks[i];
            if (block->rounds[c] > BLOCK || block->right[c] > block->rounds[c])
                status = uc_state_damaged();
        }
    return status;
}

uc_status uc_change_remember(uc_change *self, uc_state *state)
{
    double reals[3] = {self->ratio, self->usual, self->best};
    uc_status status = uc_state_counter(state, "judged", &self->judged);
    if (status == UC_OK)
        status = uc_state_array(state, "state.onebit.change", UC_ARRAY_F64, reals, 3);
    if (status == UC_OK)
        status = remember_blocks(self, state);
    for (size_t i = 0; i < 3 && status == UC_OK; i++)
        if (!(reals[i] >= 0.0 && reals[i] <= 1.0))
            status = uc_state_damaged();
    self->ratio = reals[0];
    self->usual = reals[1];
    self->best = reals[2];
    return status;
}
