/* The options of uma. */
#include "learn/uma/options.h"

#define FIELD(name) offsetof(uc_uma_settings, name)

const uc_option uc_uma_options[] = {
    {.name = "iterations",
     .type = UC_OPTION_COUNT,
     .offset = FIELD(iterations),
     .standard = "1000",
     .low = 1,
     .high = 1e9,
     .help = "largest number of steps"},
    {.name = "choose",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(choose),
     .standard = "error",
     .choices = "error|confusion|random",
     .help = "which pair of confused classes a step corrects: the most frequent, the most frequent within "
             "its true class, or a random one"},
    {.name = "step",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(step),
     .standard = "perceptron",
     .choices = "perceptron|uniform|worst",
     .help = "which classes lose weight in a step: the predicted one, all that score too high, or the one "
             "that scores highest"},
    {.name = "alpha",
     .type = UC_OPTION_REAL,
     .offset = FIELD(alpha),
     .standard = "0",
     .low = 0,
     .high = 1e6,
     .help = "ignore examples that are nearer than this to a class boundary"},
    {.name = "return",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(returns),
     .standard = "auto",
     .choices = "last|average|tail|best|auto",
     .help = "the last iterate, the mean of all or of the later half, or the one with the smallest corrected "
             "error "
             "(auto: best below 100 dimensions, else average)"},
    {.name = "ridge",
     .type = UC_OPTION_REAL,
     .automatic = true,
     .offset = FIELD(ridge),
     .standard = "auto",
     .low = 0,
     .high = 1e6,
     .argument = "R",
     .help =
         "shrinks the inverse of a badly conditioned noise matrix (auto: 0.01 from condition number 50 on)"},
    {.name = "init",
     .type = UC_OPTION_CHOICE,
     .offset = FIELD(init),
     .standard = "zero",
     .choices = "zero|means",
     .help = "start at zero, or at the corrected class means"},
    UC_CLASS_WEIGHT_OPTION(uc_uma_settings),
    {.name = NULL},
};
