/* Labels that are the same number in several spellings, such as +1 and 1, become one class. */
#include <string.h>
#include <strings.h>

#include "data/exchange.h"
#include "data/reader.h"

/* Adds a spelling and its class to a list, which may have it already: a block notes new names once a row. */
static uc_status remember(uc_names *names, uint32_t **classes, const char *text, size_t length,
                          uint32_t class)
{
    const size_t before = names->count;
    uint32_t position;
    uc_status status = uc_names_add(&position, names, text, length);
    if (status != UC_OK)
        return status;
    if (position == before && (position & (position + 1)) == 0) { /* 0, 1, 3, 7, ...: doubles the room */
        uint32_t *grown = uc_realloc(*classes, 2 * (size_t)position + 2, sizeof *grown);
        if (!grown)
            return UC_ERR_NOMEM;
        *classes = grown;
    }
    (*classes)[position] = class;
    return UC_OK;
}

/* A word that other programs write for a missing value is a class here, which may not be intended. */
static void warn_of_missing(const uc_reader *self, const char *name, size_t length)
{
    static const char *const words[] = {"NA", "N/A", "NaN", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (length == strlen(words[i]) && strncasecmp(name, words[i], length) == 0)
            uc_warn(&self->context,
                    "%s: the label '%s' is a class: leave such rows out if it means that there is none",
                    uc_input_name(self->input), words[i]);
}

#define MOST_COMPARED ((size_t)100)

/* Forms are filled in with yes, Yes and YES. Single letters may well be different classes. */
static void warn_of_case(const uc_reader *self, const char *name, size_t length)
{
    const size_t count = self->classes.count - 1; /* the last one is `name` */
    char quoted[UC_QUOTE_SIZE], other[UC_QUOTE_SIZE];
    for (size_t k = 0; k < count && count < MOST_COMPARED && length > 1; k++) {
        const char *known = self->classes.text[k];
        if (strlen(known) != length || strncasecmp(known, name, length) != 0)
            continue;
        uc_warn(&self->context,
                "%s: the labels '%s' and '%s' are two classes: write them alike if they mean the same",
                uc_input_name(self->input), uc_quote(other, known, length), uc_quote(quoted, name, length));
        return;
    }
}

uc_status uc_reader_add_class(uint32_t *index, uc_reader *self, const char *name, size_t length)
{
    char number[64];
    *index = uc_names_find(&self->classes, name, length);
    if (*index != UC_NONE)
        return UC_OK;
    const size_t size = uc_label_number(number, name, length);
    const uint32_t known = size ? uc_names_find(&self->numbers, number, size) : UC_NONE;
    if (known != UC_NONE) {
        *index = self->number_class[known];
        return remember(&self->spelled, &self->spelled_class, name, length, *index);
    }
    const uc_status status = uc_names_add(index, &self->classes, name, length);
    if (status != UC_OK)
        return status;
    warn_of_missing(self, name, length);
    warn_of_case(self, name, length);
    if (size == 0)
        return UC_OK;
    return remember(&self->numbers, &self->number_class, number, size, *index);
}

uc_status uc_reader_settle_classes(uc_reader *self)
{
    uc_names settled = {0};
    uc_status status = UC_OK;
    if (self->spelled.count == 0)
        return UC_OK;
    for (size_t k = 0; k < self->classes.count && status == UC_OK; k++) {
        const char *name = self->classes.text[k];
        char number[64];
        uint32_t index;
        size_t length = strlen(name);
        for (size_t s = 0; s < self->spelled.count; s++)
            if (self->spelled_class[s] == k) {
                length = uc_label_number(number, name, strlen(name));
                name = number;
                break;
            }
        status = uc_names_add(&index, &settled, name, length);
    }
    if (status != UC_OK) {
        uc_names_free(&settled);
        return status;
    }
    uc_names_free(&self->classes);
    self->classes = settled;
    return UC_OK;
}

/* ---- lists of several files or processes ---- */

/* Changes the spelling of name `index` in a list. */
static uc_status respell(uc_names *self, uint32_t index, const char *name, size_t length)
{
    uc_names spelled = {0};
    uc_status status = UC_OK;
    for (size_t k = 0; k < self->count && status == UC_OK; k++) {
        uint32_t position;
        if (k == index)
            status = uc_names_add(&position, &spelled, name, length);
        else
            status = uc_names_add(&position, &spelled, self->text[k], strlen(self->text[k]));
    }
    if (status != UC_OK) {
        uc_names_free(&spelled);
        return status;
    }
    uc_names_free(self);
    *self = spelled;
    return UC_OK;
}

uc_status uc_names_add_label(uint32_t *index, uc_names *self, const char *name, size_t length)
{
    char number[64];
    *index = uc_names_find(self, name, length);
    if (*index != UC_NONE)
        return UC_OK;
    *index = uc_names_find_label(self, name, length);
    if (*index == UC_NONE)
        return uc_names_add(index, self, name, length);
    const size_t size = uc_label_number(number, name, length);
    const char *known = self->text[*index];
    if (strlen(known) == size && memcmp(known, number, size) == 0)
        return UC_OK;
    return respell(self, *index, number, size);
}
