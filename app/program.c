/* The processes of this program, and how it writes the names of options. */
#include "app/program.h"

#include <string.h>

const uc_comm *app_comm;

bool app_is_first(void)
{
    return uc_comm_rank(app_comm) == 0;
}

const char *app_in_words(const char *text)
{
    static char shown[2048];
    uc_message_render(shown, sizeof shown, text, UC_MESSAGE_COMMAND_LINE);
    return shown;
}

const char *app_habit_find(const app_habit *habits, const char *word)
{
    for (; habits && habits->word; habits++)
        if (strcmp(habits->word, word) == 0)
            return habits->instead;
    return NULL;
}
