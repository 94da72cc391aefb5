/* onebit on dense rows: kernel features, and one ridge problem in which unknown targets are estimated. */
#ifndef UC_ONEBIT_DENSE_H
#define UC_ONEBIT_DENSE_H

#include "learn/onebit/answer.h"
#include "learn/onebit/change.h"
#include "learn/onebit/choice.h"
#include "learn/onebit/forget.h"
#include "learn/onebit/refit.h"
#include "learn/onebit/running_ridge.h"
#include "learn/online.h"

typedef struct uc_onebit_dense {
    size_t columns, classes; /* of the rows; of the targets */
    size_t limit;            /* rounds kept */
    uc_rounds rounds;
    uc_map *map; /* NULL: no row has come yet */
    uc_running_ridge ridge;
    uc_onebit_rule rule;
    uint64_t age;      /* rounds since the start, or since the change before the last restart */
    uint64_t next_map; /* age at which the next map is due; above the last: none */
    double next_refit; /* age at which the next refit is due */
    uc_change change;
    uc_forget forget;
    uint64_t restarts;

    float *phi; /* features of the row that was scored last: 1, map(x) */
    double *map_work;
    double *target, *past; /* class_stride each */
    double *sums;          /* work space of the ridge's size */
} uc_onebit_dense;

/* What belongs to a map: the features of a row, and a ridge on them. */
typedef struct uc_onebit_mapped {
    uc_map *map;
    uc_running_ridge ridge;
    float *phi;
    double *map_work, *sums;
} uc_onebit_mapped;

/* Takes over the map, even on failure. The caller fills in the ridge's inverse. */
uc_status uc_onebit_mapped_begin(uc_onebit_mapped *out, uc_map *map, size_t classes);
void uc_onebit_mapped_free(uc_onebit_mapped *self);
/* Replaces the previous map; the rounds must already have the features of the new one. */
void uc_onebit_take_mapped(uc_onebit_dense *self, uc_onebit_mapped *mapped);
/* phi = (1, map(x)) */
void uc_onebit_map_row(float *phi, const uc_map *map, uc_row row, double *work);

/* Call it before rows with so many columns or classes arrive. */
uc_status uc_onebit_dense_grow(uc_onebit_dense *self, size_t columns, size_t classes,
                               const uc_onebit_settings *settings, size_t landmarks);
void uc_onebit_dense_free(uc_onebit_dense *self);
/* Scores a row (class_stride scores); the next uc_onebit_dense_learn must be about the same row. */
void uc_onebit_dense_score(double *scores, uc_onebit_dense *self, uc_row row);
/* `scores` are those of the row. *restarted becomes whether everything but the last rounds was forgotten. */
uc_status uc_onebit_dense_learn(bool *restarted, uc_onebit_dense *self, uc_row row,
                                const uc_onebit_answer *answer, const double *scores,
                                const uc_onebit_settings *settings, size_t landmarks, uc_rng *rng);
uc_status uc_onebit_dense_remember(uc_onebit_dense *self, uc_state *state);
double uc_onebit_dense_bytes(size_t columns, size_t classes, const uc_onebit_settings *settings,
                             size_t landmarks, double rounds);

#endif
