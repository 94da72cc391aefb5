/* Numbers in text, read the same in every locale. */
#define _GNU_SOURCE
#include <ctype.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static locale_t c_locale;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

bool uc_parse_real(double *out, const char *text, size_t length)
{
    char copy[512];
    if (length == 0 || length >= sizeof copy || isspace((unsigned char)text[0]))
        return false;
    pthread_once(&once, make_locale);
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (strpbrk(copy, "xX")) /* strtod also reads hexadecimal */
        return false;
    char *end;
    const double value = c_locale ? strtod_l(copy, &end, c_locale) : strtod(copy, &end);
    if (end != copy + length)
        return false;
    *out = value;
    return true;
}

size_t uc_print_real(char *text, size_t size, int digits, double value)
{
    pthread_once(&once, make_locale);
    const locale_t callers = c_locale ? uselocale(c_locale) : (locale_t)0;
    const int length = snprintf(text, size, "%.*g", digits, value);
    if (callers)
        uselocale(callers);
    return length > 0 ? (size_t)length : 0;
}

bool uc_parse_count(uint64_t *out, const char *text, size_t length)
{
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return false;
    }
    *out = value;
    return length > 0;
}
