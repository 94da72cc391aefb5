/* Command lines from arbitrary bytes: the first byte chooses the command, the rest are its words, one per
 * line.
 *
 * Accepted values are within the bounds of the tables, and every option, written as a user would type it and
 * read again, is the same. Rejected command lines have a single sentence. */
#define _GNU_SOURCE
#include "base/base.h"
#include "fuzz/commands.h"

#define MOST_WORDS 64

/* Sets the option to its own text, which also checks the bounds again. */
static void check_option(const uc_option *option, void *settings)
{
    char before[512], after[512];
    if (uc_option_text(option, settings, before, sizeof before) >= sizeof before)
        return; /* longer than the buffer: nothing to compare */
    if (option->type == UC_OPTION_TEXT)
        return; /* stored unchanged */
    CHECK(uc_option_set(option, settings, before) == UC_OK);
    (void)uc_option_text(option, settings, after, sizeof after);
    CHECK(strcmp(before, after) == 0);
}

static void check_call(const app_call *call)
{
    for (size_t i = 0; i < call->tables.count; i++) {
        const app_table *table = &call->tables.items[i];
        if (!table->settings)
            continue;
        for (const uc_option *option = table->options; option->name; option++)
            if (option->standard || app_given(call, option->name)) /* else it may be 0 for "not given" */
                check_option(option, table->settings);
    }
    CHECK(call->word_count <= MOST_WORDS);
    CHECK(call->common.threads <= 4096);
    for (size_t i = 0; i < call->given_count; i++)
        CHECK(app_given(call, call->given[i]->name));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    size_t commands = 0;
    while (app_this_program.commands[commands])
        commands++;
    CHECK(commands > 0);
    if (length == 0)
        return 0;
    silence_streams();
    const long live = uc_alloc_live();
    char *text = malloc(length), *words[MOST_WORDS + 1];
    CHECK(text);
    memcpy(text, bytes + 1, length - 1);
    text[length - 1] = '\0';
    int count = 0;
    for (char *rest = text, *word = strsep(&rest, "\n"); word && count < MOST_WORDS;
         word = strsep(&rest, "\n"))
        words[count++] = word;
    words[count] = NULL;

    app_call call;
    const uc_status status = app_parse(&call, app_this_program.commands[bytes[0] % commands], count, words);
    CHECK(status == UC_OK || status == UC_ERR_OPTION);
    if (status == UC_OK)
        check_call(&call);
    else
        check_sentence(app_last_error());
    app_call_free(&call);
    free(text);
    CHECK(uc_alloc_live() == live);
    return 0;
}
