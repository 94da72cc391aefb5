/* What words of the command line may name: learners and generators, which have their own options, and
 * classes. */
#include "cli.h"

#include <string.h>

static const char *learner_name(size_t i)
{
    const uc_learner *learner = uc_learner_at(i);
    return learner ? uc_learner_name(learner) : NULL;
}

static const char *learner_summary(size_t i)
{
    return app_in_words(uc_learner_summary(uc_learner_at(i)));
}

static const uc_option *learner_options(size_t i)
{
    return uc_learner_options(uc_learner_at(i));
}

static size_t learner_settings_size(size_t i)
{
    return uc_learner_settings_size(uc_learner_at(i));
}

static const char *generator_name(size_t i)
{
    const uc_generator *generator = uc_generator_at(i);
    return generator ? uc_generator_name(generator) : NULL;
}

static const char *generator_summary(size_t i)
{
    return app_in_words(uc_generator_summary(uc_generator_at(i)));
}

static const uc_option *generator_options(size_t i)
{
    return uc_generator_options(uc_generator_at(i));
}

static size_t generator_settings_size(size_t i)
{
    return uc_generator_settings_size(uc_generator_at(i));
}

const app_family cli_learners = {
    .word = "learner",
    .name = learner_name,
    .summary = learner_summary,
    .options = learner_options,
    .settings_size = learner_settings_size,
    .lists = "learners",
    .standard = "auto",
};
const app_family cli_generators = {
    .word = "generator",
    .name = generator_name,
    .summary = generator_summary,
    .options = generator_options,
    .settings_size = generator_settings_size,
    .lists = "generate",
};

/* ---- lists of names ---- */

uc_status cli_split_names(uc_names *out, const char *list, const char *option)
{
    uc_names names = {0};
    for (const char *name = list; name;) {
        const size_t length = strcspn(name, ","), before = names.count;
        uint32_t index;
        uc_status status = uc_names_add(&index, &names, name, length);
        if (status == UC_OK && length == 0)
            status = app_fail(UC_ERR_OPTION, "--%s %s: a name is empty", option, list);
        else if (status == UC_OK && names.count == before)
            status = app_fail(UC_ERR_OPTION, "--%s %s: a name occurs twice", option, list);
        if (status != UC_OK) {
            uc_names_free(&names);
            return status;
        }
        name = name[length] ? name + length + 1 : NULL;
    }
    *out = names;
    return UC_OK;
}

/* ---- CSV ---- */

size_t cli_csv_field(char *out, const char *text, size_t length)
{
    bool quoted = length == 0 || text[0] == ' ' || text[length - 1] == ' ';
    for (size_t i = 0; i < length; i++)
        quoted = quoted || strchr(",;|\"\t\r\n", text[i]);
    if (!quoted) {
        memcpy(out, text, length);
        return length;
    }
    char *to = out;
    *to++ = '"';
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            *to++ = '"';
        *to++ = text[i];
    }
    *to++ = '"';
    return (size_t)(to - out);
}
