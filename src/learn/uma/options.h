/* The options of uma, and the names of their choices. */
#ifndef UC_UMA_OPTIONS_H
#define UC_UMA_OPTIONS_H

#include "learn/learner.h"

enum { CHOOSE_ERROR, CHOOSE_CONFUSION, CHOOSE_RANDOM };
enum { STEP_PERCEPTRON, STEP_UNIFORM, STEP_WORST };
enum { RETURN_LAST, RETURN_AVERAGE, RETURN_TAIL, RETURN_BEST, RETURN_AUTO };
enum { INIT_ZERO, INIT_MEANS };

extern const uc_option uc_uma_options[]; /* the option table of uc_uma_settings */

#endif
