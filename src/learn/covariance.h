/* A learner's uncertainty about its weights: a Gaussian per class, whose mean is the class's weights.
 *
 *   w_k, V_k   mean and covariance of class k; V_k starts as I/prior       y, r  two classes
 *   m = <w_y - w_r, x>, the margin of y over r, with variance  v = x'V_y x + x'V_r x
 *
 * diagonal  one number per weight, in the learner's own plane 0; v has one part per column and class
 * full      one matrix over the columns per class (metric.h); v has two parts */
#ifndef UC_COVARIANCE_H
#define UC_COVARIANCE_H

#include "learn/metric.h"
#include "learn/online.h"

enum { UC_COVARIANCE_DIAGONAL, UC_COVARIANCE_FULL };

#define UC_COVARIANCE_FEATURES 2048 /* limit for full matrices: 32 MB per class */

/* Must be the first member of the learner's memory; zero-initialised. */
typedef struct uc_covariance {
    uc_metric *metric; /* full: one per class */
    size_t classes;
    uc_direction along[2]; /* full: V_y x and V_r x */
    double *parts;         /* of v, in the last call of uc_covariance_margin */
    size_t room;
} uc_covariance;

/* An entry for a table of options. */
#define UC_COVARIANCE_OPTION(struct_name)                                                                    \
    {                                                                                                        \
        .name = "covariance", .type = UC_OPTION_CHOICE, .offset = offsetof(struct_name, covariance),         \
        .standard = "diagonal", .choices = "diagonal|full",                                                  \
        .help = "what is known of the weights: one number each, or a matrix per class (few dense columns)"   \
    }

/* For the hooks of a learner with such an option. */
bool uc_covariance_plane(double *start, int kind, double prior, size_t number);
uc_status uc_covariance_grow(uc_covariance *self, int kind, double prior, uc_shape shape, size_t classes);
double uc_covariance_bytes(int kind, uc_shape shape, size_t classes);
void uc_covariance_release(void *memory);
uc_status uc_covariance_remember(uc_online *online, uc_state *state);

/* Fills self->parts and returns how many there are; *v is their sum. */
size_t uc_covariance_margin(double *v, uc_online *online, uc_row row, uint32_t y, uint32_t r);
/* w_y += step V_y x, w_r -= step V_r x, then V^-1 += weight x x' for both (diagonal: only its diagonal). The
 * row and classes must be those of the last uc_covariance_margin. */
void uc_covariance_learn(uc_online *online, uc_row row, uint32_t y, uint32_t r, double step, double weight);

#endif
