/* Reads, checks and prints settings by their option tables. */
#include "unconfuse/option.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/base.h"

#define FIELD(type, settings, option) ((type *)(void *)((char *)(settings) + (option)->offset))
#define CONST_FIELD(type, settings, option)                                                                  \
    ((type const *)(const void *)((const char *)(settings) + (option)->offset))

const uc_option *uc_options_find(const uc_option *table, const char *name)
{
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

/* "from 1 to 100", "above 0", "at least 1" */
static const char *bounds_text(const uc_option *option, char *text, size_t size)
{
    const char *low = option->above_low ? "above" : "at least";
    if (!isfinite(option->low))
        snprintf(text, size, "at most %.15g", option->high);
    else if (!isfinite(option->high) || option->high >= 0x1p63)
        snprintf(text, size, "%s %.15g", low, option->low);
    else if (option->above_low)
        snprintf(text, size, "above %.15g and at most %.15g", option->low, option->high);
    else
        snprintf(text, size, "from %.15g to %.15g", option->low, option->high);
    return text;
}

static bool within(const uc_option *option, double value)
{
    if (value == option->low)
        return !option->above_low;
    return value > option->low && value <= option->high;
}

static uc_status refuse(const uc_option *option, const char *value, const char *wanted)
{
    char bounds[96], zero[64] = "", unknown[64] = "";
    if (option->zero)
        snprintf(zero, sizeof zero, ", or %s", option->zero);
    if (option->unknown)
        snprintf(unknown, sizeof unknown, ", or %s", option->unknown);
    return uc_fail(UC_ERR_OPTION, "{%s=%s}: it must be %s%s%s%s%s", option->name, value, wanted,
                   bounds_text(option, bounds, sizeof bounds), zero, unknown,
                   option->automatic ? ", or auto" : "");
}

static bool parse_flag(int *out, const char *value)
{
    static const char *const words[] = {"off", "on", "no", "yes", "false", "true", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(value, words[i]) == 0) {
            *out = (int)(i % 2);
            return true;
        }
    return false;
}

static bool parse_choice(int *out, const char *choices, const char *value)
{
    const size_t length = strlen(value);
    int position = 0;
    for (const char *word = choices;; position++) {
        const size_t word_length = strcspn(word, "|");
        if (word_length == length && strncmp(word, value, length) == 0) {
            *out = position;
            return true;
        }
        if (!word[word_length])
            break;
        word += word_length + 1;
    }
    return false;
}

/* 1048576, 512K, 64M, 2G, 1T */
static bool parse_bytes(uint64_t *out, const char *value)
{
    static const char units[] = "KMGT";
    size_t length = strlen(value);
    unsigned shift = 0;
    const char *unit = NULL;
    if (length > 0)
        unit = strchr(units, value[length - 1]);
    if (unit) {
        shift = 10 * ((unsigned)(unit - units) + 1);
        length--;
    }
    uint64_t number;
    if (!uc_parse_count(&number, value, length) || number > UINT64_MAX >> shift)
        return false;
    *out = number << shift;
    return true;
}

/* 0.1,0.2 or a word that stands for both */
static bool parse_pair(double out[2], const uc_option *option, const char *value)
{
    const size_t first = strcspn(value, ",");
    double pair[2] = {0.0, 0.0};
    if (option->unknown && strcmp(value, option->unknown) == 0) {
        pair[0] = pair[1] = UC_AUTO_REAL;
    } else if (!option->zero || strcmp(value, option->zero) != 0) {
        if (!value[first] || !uc_parse_real(&pair[0], value, first) ||
            !uc_parse_real(&pair[1], value + first + 1, strlen(value + first + 1)))
            return false;
        if (!within(option, pair[0]) || !within(option, pair[1]))
            return false;
    }
    memcpy(out, pair, sizeof pair);
    return true;
}

uc_status uc_option_set(const uc_option *option, void *settings, const char *value)
{
    const bool automatic = option->automatic && strcmp(value, "auto") == 0;
    switch (option->type) {
    case UC_OPTION_FLAG:
        if (automatic)
            *FIELD(int, settings, option) = UC_AUTO_FLAG;
        else if (!parse_flag(FIELD(int, settings, option), value))
            return uc_fail(UC_ERR_OPTION, "{%s:=%s}: it must be on or off", option->name, value);
        return UC_OK;
    case UC_OPTION_COUNT: {
        uint64_t count = UC_AUTO_COUNT;
        if (!automatic && (!uc_parse_count(&count, value, strlen(value)) || !within(option, (double)count)))
            return refuse(option, value, "a whole number ");
        *FIELD(uint64_t, settings, option) = count;
        return UC_OK;
    }
    case UC_OPTION_REAL: {
        double real = UC_AUTO_REAL;
        if (option->zero && strcmp(value, option->zero) == 0)
            real = 0.0;
        else if (!automatic &&
                 (!uc_parse_real(&real, value, strlen(value)) || !isfinite(real) || !within(option, real)))
            return refuse(option, value, "a number ");
        *FIELD(double, settings, option) = real;
        return UC_OK;
    }
    case UC_OPTION_CHOICE:
        if (!parse_choice(FIELD(int, settings, option), option->choices, value))
            return uc_fail(UC_ERR_OPTION, "{%s=%s}: it must be one of %s", option->name, value,
                           option->choices);
        return UC_OK;
    case UC_OPTION_BYTES: {
        uint64_t bytes;
        if (!parse_bytes(&bytes, value))
            return uc_fail(UC_ERR_OPTION, "{%s=%s}: it must be a size such as 512M or 4G", option->name,
                           value);
        if (option->high > 0.0 && !within(option, (double)bytes)) /* otherwise, any size will do */
            return refuse(option, value, "a number of bytes ");
        *FIELD(uint64_t, settings, option) = bytes;
        return UC_OK;
    }
    case UC_OPTION_PAIR:
        if (!parse_pair(FIELD(double, settings, option), option, value))
            return refuse(option, value, "two numbers with a comma between them, both ");
        return UC_OK;
    case UC_OPTION_TEXT:
        *FIELD(const char *, settings, option) = value;
        return UC_OK;
    }
    return UC_OK;
}

void uc_options_defaults(const uc_option *table, void *settings)
{
    for (; table->name; table++) {
        if (table->standard)
            (void)uc_option_set(table, settings,
                                table->standard); /* a test checks that every default is accepted */
        else if (table->type == UC_OPTION_TEXT)
            *FIELD(const char *, settings, table) = NULL;
    }
}

static int choice_count(const char *choices)
{
    int count = 1;
    for (; *choices; choices++)
        count += *choices == '|';
    return count;
}

uc_status uc_options_check(const uc_option *table, const void *settings)
{
    char text[64];
    for (; table->name; table++) {
        bool valid = true;
        if (table->type == UC_OPTION_COUNT) {
            const uint64_t count = *CONST_FIELD(uint64_t, settings, table);
            valid = (table->automatic && count == UC_AUTO_COUNT) || within(table, (double)count);
        } else if (table->type == UC_OPTION_REAL) {
            const double real = *CONST_FIELD(double, settings, table);
            valid = (table->automatic && isnan(real)) || (table->zero && real == 0.0) ||
                    (isfinite(real) && within(table, real));
        } else if (table->type == UC_OPTION_PAIR) {
            const double *pair = CONST_FIELD(double, settings, table);
            const bool unknown = table->unknown && isnan(pair[0]) && isnan(pair[1]);
            valid = unknown || (table->zero && pair[0] == 0.0 && pair[1] == 0.0) ||
                    (within(table, pair[0]) && within(table, pair[1]));
        } else if (table->type == UC_OPTION_CHOICE) {
            const int choice = *CONST_FIELD(int, settings, table);
            if (choice < 0 || choice >= choice_count(table->choices))
                return uc_fail(UC_ERR_OPTION, "{%s}: choice %d is not one of %s", table->name, choice,
                               table->choices);
        } else if (table->type == UC_OPTION_FLAG) {
            const int flag = *CONST_FIELD(int, settings, table);
            if (flag != 0 && flag != 1 && !(table->automatic && flag == UC_AUTO_FLAG))
                return uc_fail(UC_ERR_OPTION, "{%s}: %d is neither on (1) nor off (0)", table->name, flag);
        }
        if (!valid) {
            uc_option_text(table, settings, text, sizeof text);
            return refuse(table, text, "");
        }
    }
    return UC_OK;
}

static int print_choice(const char *choices, int choice, char *text, size_t size)
{
    for (; choice > 0; choice--)
        choices = strchr(choices, '|') + 1;
    return snprintf(text, size, "%.*s", (int)strcspn(choices, "|"), choices);
}

/* The shortest text that reads back as the same number. */
static int print_real(double real, char *text, size_t size)
{
    size_t length = 0;
    const bool whole = fabs(real) < 1e15 && real == floor(real); /* 100, not 1e+02 */
    for (int digits = whole ? 15 : 1; digits <= 17; digits++) {
        double back;
        length = uc_print_real(text, size, digits, real);
        if (length > 0 && length < size && uc_parse_real(&back, text, length) && back == real)
            break;
    }
    return (int)length;
}

static int print_pair(const uc_option *option, const double pair[2], char *text, size_t size)
{
    char first[32], second[32];
    if (option->unknown && isnan(pair[0]) && isnan(pair[1]))
        return snprintf(text, size, "%s", option->unknown);
    if (option->zero && pair[0] == 0.0 && pair[1] == 0.0)
        return snprintf(text, size, "%s", option->zero);
    print_real(pair[0], first, sizeof first);
    print_real(pair[1], second, sizeof second);
    return snprintf(text, size, "%s,%s", first, second);
}

size_t uc_option_text(const uc_option *option, const void *settings, char *text, size_t size)
{
    int length = 0;
    switch (option->type) {
    case UC_OPTION_FLAG: {
        const int flag = *CONST_FIELD(int, settings, option);
        if (flag == UC_AUTO_FLAG)
            length = snprintf(text, size, "auto");
        else
            length = snprintf(text, size, "%s", flag ? "on" : "off");
        break;
    }
    case UC_OPTION_COUNT:
    case UC_OPTION_BYTES: {
        const uint64_t count = *CONST_FIELD(uint64_t, settings, option);
        if (option->automatic && count == UC_AUTO_COUNT)
            length = snprintf(text, size, "auto");
        else
            length = snprintf(text, size, "%" PRIu64, count);
        break;
    }
    case UC_OPTION_REAL: {
        const double real = *CONST_FIELD(double, settings, option);
        if (isnan(real))
            length = snprintf(text, size, "auto");
        else if (option->zero && real == 0.0)
            length = snprintf(text, size, "%s", option->zero);
        else
            length = print_real(real, text, size);
        break;
    }
    case UC_OPTION_CHOICE:
        length = print_choice(option->choices, *CONST_FIELD(int, settings, option), text, size);
        break;
    case UC_OPTION_PAIR:
        length = print_pair(option, CONST_FIELD(double, settings, option), text, size);
        break;
    case UC_OPTION_TEXT: {
        const char *value = *CONST_FIELD(char *, settings, option);
        length = snprintf(text, size, "%s", value ? value : "");
        break;
    }
    }
    return length > 0 ? (size_t)length : 0;
}
