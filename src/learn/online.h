/* Inside of learning one example at a time. */
#ifndef UC_ONLINE_H
#define UC_ONLINE_H

#include "learn/learner.h"
#include "linalg/linalg.h"
#include "model/model.h"

struct uc_online {
    const uc_learner *learner;
    void *settings;
    uc_train_settings train; /* with every `auto` decided */
    uc_names classes;
    uc_steps steps;

    size_t features; /* columns seen */
    size_t capacity; /* columns that the arrays have room for */
    size_t stride;   /* uc_class_stride(classes.count) */
    double *weights; /* (1 + capacity) x stride; row 0 belongs to the constant feature */
    double *average; /* sum over rounds s of (s - 1) times what round s added; NULL: no averaging */
    uint64_t rounds, updates;
    uint64_t *label_counts; /* of each class; for class weights */
    bool counts_are_final;  /* counted beforehand, not round by round */

    double *scores;    /* of the last row scored, stride of them */
    double *full_step; /* an update as one number a class, stride of them */
    uc_step step;
    uint64_t ticket; /* of the scores: a proposal with the same ticket was made from them */
    float *row_work; /* capacity */
};

/* Room for rows of `features` columns and for all classes. */
uc_status uc_online_reserve(uc_online *self, size_t features);
/* One round on a row that is already prepared and fits; returns the class proposed before learning. */
uint32_t uc_online_round(uc_online *self, uc_row row, uint32_t label);

/* The mean of the iterates (or the last), the constant feature and the counts, into a model of the same shape. */
uc_status uc_online_write(uc_model *model, const uc_online *self);
/* What a model remembers of how it was trained. */
uc_status uc_write_settings(uc_model *model, const uc_learner *learner, const void *settings,
                            const uc_train_settings *train);

#endif
