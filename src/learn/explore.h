/* Random exploration, shared by several learners. */
#ifndef UC_EXPLORE_H
#define UC_EXPLORE_H

#include "learn/online.h"

/* An entry for a table of options, and the values to try for it. */
#define UC_EXPLORE_OPTION(struct_name, value)                                                                \
    {                                                                                                        \
        .name = "explore", .type = UC_OPTION_REAL, .offset = offsetof(struct_name, explore),                 \
        .standard = (value), .low = 0, .above_low = true, .high = 1, .argument = "G",                        \
        .help = "share of the proposals that are drawn at random, all classes alike"                         \
    }
extern const uc_candidates uc_explore_grid[];

/* The probability with which `class` is proposed. */
double uc_explore_probability(double explore, uint32_t class, uint32_t favourite, size_t classes);
/* With probability `explore` the class proposed is drawn evenly from all. */
void uc_explore_propose(uc_proposal *proposal, uc_online *self, double explore);

#endif
