/* --learners a,b:option=value: learners, each with its own options. */
#ifndef CLI_LEARNER_LIST_H
#define CLI_LEARNER_LIST_H

#include "cli.h"

typedef struct learner_list {
    uc_compare_entry *items;
    char **names; /* as typed */
    size_t count;
    const char *option; /* the option with the list, for messages; NULL: --learners */
    const char *typed;  /* the whole list; set by cli_parse_learners */
    bool online;        /* only learners that learn one example at a time */
} learner_list;

uc_status cli_parse_learners(learner_list *self, const char *list);
void cli_free_learners(learner_list *self);
/* Whether the option is one that a comparison tunes. */
bool cli_is_on_grid(const uc_learner *learner, const char *option);

#endif
