/* Values of a table as people write them; value.h says what is accepted. */
#define _GNU_SOURCE
#include "data/value.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "data/scan.h"

/* ---- missing values ---- */

static const char usual_missing[] = "NA,N/A,NaN,null,None,?";

uc_status uc_missing_read(uc_missing *out, const char *list)
{
    if (!list)
        list = usual_missing;
    const size_t length = strlen(list);
    char *copy = uc_alloc(length + 2, 1), *to = copy;
    if (!copy)
        return UC_ERR_NOMEM;
    *out = (uc_missing){.list = copy};
    for (const char *word = list; *word;) {
        const size_t size = strcspn(word, ",");
        const unsigned char first = (unsigned char)*word;
        if (size > 0) {
            memcpy(to, word, size);
            to += size + 1; /* the text ends with a zero, since the array is zeroed */
            out->firsts[first >> 6] |= UINT64_C(1) << (first & 63);
        }
        word += size + (word[size] == ',');
    }
    return UC_OK;
}

void uc_missing_free(uc_missing *self)
{
    uc_free(self->list);
    *self = (uc_missing){0};
}

bool uc_missing_in_list(const uc_missing *self, const char *text, size_t length)
{
    for (const char *word = self->list; *word; word += strlen(word) + 1)
        if (strlen(word) == length && memcmp(word, text, length) == 0)
            return true;
    return false;
}

/* ---- numbers ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The length of the currency sign or code at p, such as $, the signs of euro, pound and yen, or EUR; 0:
 * none. */
static size_t currency_length(const char *p, const char *end)
{
    static const char *const signs[] = {"$",   "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5", "EUR",
                                        "USD", "GBP",          "CHF",      "JPY",      "CAD",
                                        "AUD", "SEK",          "NOK",      "DKK",      "PLN"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const size_t length = strlen(signs[i]);
        if ((size_t)(end - p) >= length && memcmp(p, signs[i], length) == 0)
            return length;
    }
    return 0;
}

#define MOST_DIGITS ((size_t)400)

/* The length of the separator of thousands at p: `group`, an apostrophe or a non-breaking blank; 0: none. */
static size_t group_length(const char *p, const char *end, char group)
{
    static const char *const others[] = {"'", "\xe2\x80\x99", "\xc2\xa0", "\xe2\x80\xaf"};
    if (p < end && *p == group)
        return 1;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const size_t length = strlen(others[i]);
        if ((size_t)(end - p) > length && memcmp(p, others[i], length) == 0 && is_digit(p[length]))
            return length;
    }
    return 0;
}

/* Copies digits, perhaps in groups of three after a first group of one to three, to `to`; NULL: the groups
 * are wrong. */
static char *take_groups(char *to, const char **at, const char *end, char group)
{
    const char *p = *at, *begin = p;
    for (; p < end && is_digit(*p); p++)
        *to++ = *p;
    const char *const separator = p;
    const size_t length = group_length(p, end, group);
    if (length > 0 && (p == begin || p - begin > 3))
        return NULL;
    while (length > 0 && (size_t)(end - p) >= length && memcmp(p, separator, length) == 0) {
        p += length;
        if (end - p < 3 || !is_digit(p[0]) || !is_digit(p[1]) || !is_digit(p[2]))
            return NULL;
        memcpy(to, p, 3);
        to += 3;
        p += 3;
        if (p < end && is_digit(*p))
            return NULL;
    }
    *at = p;
    return to;
}

/* Copies the digits of a number without sign and currency, in the form that strtod expects. */
static char *take_number(char *to, const char **at, const char *end, char decimal)
{
    to = take_groups(to, at, end, decimal == '.' ? ',' : '.');
    if (!to)
        return NULL;
    const char *p = *at;
    if (p < end && *p == decimal) {
        *to++ = '.';
        for (p++; p < end && is_digit(*p); p++)
            *to++ = *p;
    }
    if (p < end && (*p == 'e' || *p == 'E') && p + 1 < end) {
        const char *digits = p + 1 + (p[1] == '-' || p[1] == '+');
        if (digits == end || !is_digit(*digits))
            return NULL;
        while (p < end && (p < digits || is_digit(*p)))
            *to++ = *p++;
    }
    *at = p;
    return to;
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || (end - p > 1 && memcmp(p, "\xc2\xa0", 2) == 0)))
        p += *p == '\xc2' ? 2 : 1;
    return p;
}

/* The length of a sign at p: plus, an ASCII minus, or the typographic minus. */
static size_t sign_length(const char *p, const char *end)
{
    if (p < end && (*p == '-' || *p == '+'))
        return 1;
    return end - p >= 3 && memcmp(p, "\xe2\x88\x92", 3) == 0 ? 3 : 0;
}

bool uc_value_number(float *out, const char *text, size_t length, char decimal)
{
    char digits[MOST_DIGITS + 8], *to = digits;
    const char *p = text, *end = text + length;
    if (length == 0 || length > MOST_DIGITS)
        return false;
    const bool in_parentheses = *p == '(' && end[-1] == ')'; /* as accountants write negative numbers */
    p += in_parentheses;
    end -= in_parentheses;
    size_t currency = currency_length(p, end);
    p = skip_blanks(p + currency, end);
    const size_t sign = sign_length(p, end);
    if (sign > 0 && in_parentheses)
        return false;
    if (in_parentheses)
        *to++ = '-';
    if (sign > 0) {
        *to++ = *p == '+' ? '+' : '-';
        p += sign;
        if (currency == 0) {
            currency = currency_length(p, end);
            p = skip_blanks(p + currency, end);
        }
    }
    const char *first = to;
    to = take_number(to, &p, end, decimal);
    if (!to || to == first || (to == first + 1 && *first == '.'))
        return false;
    p = skip_blanks(p, end);
    const bool percent = p < end && *p == '%' && currency == 0;
    p += percent;
    if (!percent && currency == 0)
        p += currency_length(p, end);
    double value;
    if (p != end || !uc_parse_real(&value, digits, (size_t)(to - digits)))
        return false;
    *out = (float)(percent ? value / 100.0 : value);
    return isfinite(*out);
}

/* ---- yes and no ---- */

const char *const uc_boolean_words[UC_BOOLEANS][2] = {
    {"false", "true"}, {"no", "yes"}, {"n", "y"}, {"f", "t"}};

unsigned uc_value_boolean(const char *text, size_t length)
{
    if (length > 5)
        return 0;
    for (unsigned p = 0; p < UC_BOOLEANS; p++)
        for (unsigned i = 0; i < 2; i++)
            if (strlen(uc_boolean_words[p][i]) == length &&
                strncasecmp(text, uc_boolean_words[p][i], length) == 0)
                return 1u << (2 * p + i);
    return 0;
}

/* ---- dates ---- */

#define SHORTEST_DATE ((size_t)6) /* 1/2/24 */

const char *const uc_date_form_names[UC_DATE_FORMS] = {"year-month-day", "year/month/day", "day.month.year",
                                                       "day/month/year", "month/day/year", "day-month-year",
                                                       "day month year", "month day, year"};

/* Days since 1970-01-01 in the Gregorian calendar. Years begin in March, so that the leap day comes last. */
static int64_t days_of(int year, int month, int day)
{
    const int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400;
    const int64_t of_era = y - era * 400, of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* Reads `least` to `most` digits at *at; -1 if they are not there. */
static int take_digits(const char **at, const char *end, int least, int most)
{
    int value = 0, count = 0;
    const char *p = *at;
    for (; p < end && is_digit(*p) && count < most; p++, count++)
        value = 10 * value + (*p - '0');
    if (count < least || (p < end && is_digit(*p)))
        return -1;
    *at = p;
    return value;
}

static bool take_char(const char **at, const char *end, char c)
{
    if (*at == end || **at != c)
        return false;
    ++*at;
    return true;
}

/* Reads the name of a month, in full or its first three letters; 0: none. */
static int take_month(const char **at, const char *end)
{
    static const char *const months[] = {"january",   "february", "march",    "april",
                                         "may",       "june",     "july",     "august",
                                         "september", "october",  "november", "december"};
    for (int m = 0; m < 12; m++) {
        const size_t whole = strlen(months[m]), left = (size_t)(end - *at);
        size_t length = 0;
        if (left >= whole && strncasecmp(*at, months[m], whole) == 0)
            length = whole;
        else if (left >= 3 && strncasecmp(*at, months[m], 3) == 0)
            length = 3;
        if (length == 0)
            continue;
        *at += length;
        return m + 1;
    }
    return 0;
}

/* Whether the text is a time zone, which is ignored: Z, +01:00, UTC, CET, GMT+1, or nothing. */
static bool is_zone(const char *p, const char *end)
{
    static const char *const names[] = {"Z",   "UTC", "GMT", "CEST", "CET", "EEST", "EET", "WEST",
                                        "WET", "BST", "MSK", "IST",  "JST", "AEST", "EDT", "EST",
                                        "CDT", "CST", "MDT", "MST",  "PDT", "PST"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i]);
        if ((size_t)(end - p) >= length && memcmp(p, names[i], length) == 0) {
            p += length;
            break;
        }
    }
    if (p == end)
        return true;
    if (*p != '+' && *p != '-')
        return false;
    for (p++; p < end && (is_digit(*p) || *p == ':'); p++)
        ;
    return p == end;
}

/* Reads am or pm in any case; false: neither. */
static bool take_half(bool *afternoon, const char **at, const char *end)
{
    const char *p = *at;
    if (end - p < 2 || (p[1] | 0x20) != 'm' || ((p[0] | 0x20) != 'a' && (p[0] | 0x20) != 'p'))
        return false;
    *afternoon = (p[0] | 0x20) == 'p';
    *at = skip_blanks(p + 2, end);
    return true;
}

/* A time after a date: 12:30, 12:30:59.25, with am or pm, with a zone. */
static bool take_time(uc_date *out, const char *p, const char *end)
{
    if (p == end)
        return true;
    if (*p != 'T' && *p != ' ')
        return false;
    p = skip_blanks(p + 1, end);
    const int hour = take_digits(&p, end, 1, 2);
    if (hour < 0 || hour > 24 || !take_char(&p, end, ':'))
        return false;
    const int minute = take_digits(&p, end, 2, 2);
    int second = 0;
    if (minute < 0 || minute > 59)
        return false;
    if (take_char(&p, end, ':')) {
        second = take_digits(&p, end, 2, 2);
        if (second < 0 || second > 60)
            return false;
        if (p < end && (*p == '.' || *p == ','))
            for (p++; p < end && is_digit(*p); p++)
                ;
    }
    out->hour = hour + minute / 60.0 + second / 3600.0;
    out->has_time = true;
    p = skip_blanks(p, end);
    bool afternoon;
    if (take_half(&afternoon, &p, end)) {
        if (hour < 1 || hour > 12)
            return false;
        out->hour += afternoon * 12.0 - (hour == 12) * 12.0;
    }
    return is_zone(p, end);
}

/* Reads four digits, or two if `short_too`; 69 to 99 are in the last century, as for strptime; -1:
 * neither. */
static int take_year(const char **at, const char *end, bool short_too)
{
    const char *begin = *at;
    const int year = take_digits(at, end, short_too ? 2 : 4, 4);
    if (*at - begin == 3)
        return -1;
    if (*at - begin != 2)
        return year;
    return year + (year < 69 ? 2000 : 1900);
}

/* Reads year, month and day in the order of the form; returns where the date ends, or NULL if it is not
 * one. */
static const char *take_date(int parts[3], const char *p, const char *end, uc_date_form form)
{
    static const char separators[UC_DATE_FORMS] = {'-', '/', '.', '/', '/', '-', 0, 0};
    const char separator = separators[form];
    int *const year = &parts[0], *const month = &parts[1], *const day = &parts[2];
    if (form == UC_DATE_NAME_MDY) {
        *month = take_month(&p, end);
        p = skip_blanks(p, end);
        *day = take_digits(&p, end, 1, 2);
        take_char(&p, end, ',');
        p = skip_blanks(p, end);
        *year = take_year(&p, end, true);
        return p;
    }
    if (form == UC_DATE_NAME_DMY) {
        *day = take_digits(&p, end, 1, 2);
        const bool dashed = take_char(&p, end, '-');
        p = skip_blanks(p, end);
        *month = take_month(&p, end);
        if (dashed && !take_char(&p, end, '-'))
            return NULL;
        p = skip_blanks(p, end);
        *year = take_year(&p, end, true);
        return p;
    }
    const bool year_first = form == UC_DATE_ISO || form == UC_DATE_SLASH_YMD;
    const bool short_too = form == UC_DATE_SLASH_DMY || form == UC_DATE_SLASH_MDY;
    const bool dotted = form == UC_DATE_DOT_DMY; /* 01.02.24 is a date; 1.2.24 may be a version */
    const char *const begin = p;
    int *const first = form == UC_DATE_SLASH_MDY ? month : day;
    int *const order[3] = {year_first ? year : first, year_first || first == day ? month : day,
                           year_first ? day : year};
    for (int i = 0; i < 3; i++) {
        if (i > 0 && !take_char(&p, end, separator))
            return NULL;
        *order[i] = order[i] == year ? take_year(&p, end, short_too || (dotted && p - begin == 6))
                                     : take_digits(&p, end, 1, 2);
    }
    return p;
}

bool uc_value_date(uc_date *out, const char *text, size_t length, uc_date_form form)
{
    const char *end = text + length;
    int parts[3] = {-1, 0, 0};
    if (length < SHORTEST_DATE || length > 40)
        return false;
    const char *p = take_date(parts, text, end, form);
    const int year = parts[0], month = parts[1], day = parts[2];
    if (!p || year < 0 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
        return false;
    *out = (uc_date){.days = days_of(year, month, day), .year = year, .month = month};
    out->weekday = (int)(((out->days + 3) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */
    return take_time(out, p, end);
}

unsigned uc_value_date_forms(bool *has_time, const char *text, size_t length)
{
    unsigned forms = 0;
    if (length < SHORTEST_DATE || length > 40)
        return 0;
    for (int form = 0; form < UC_DATE_FORMS; form++) {
        uc_date date;
        if (!uc_value_date(&date, text, length, (uc_date_form)form))
            continue;
        forms |= 1u << form;
        *has_time = *has_time || date.has_time;
    }
    return forms;
}

/* ---- words ---- */

static uint64_t mix(uint64_t a)
{
    a ^= a >> 32;
    a *= UINT64_C(0xd6e8feb86659fd93);
    a ^= a >> 32;
    a *= UINT64_C(0xd6e8feb86659fd93);
    return a ^ (a >> 32);
}

/* Up to seven bytes, the first one lowest, without reading any others. */
static uint64_t first_bytes(const char *text, size_t length)
{
    if (length >= 4) {
        uint32_t first, last;
        memcpy(&first, text, 4);
        memcpy(&last, text + length - 4, 4);
        return le32toh(first) | (uint64_t)le32toh(last) << (8 * (length - 4));
    }
    uint64_t bytes = 0;
    for (size_t i = 0; i < length; i++)
        bytes |= (uint64_t)(unsigned char)text[i] << (8 * i);
    return bytes;
}

uint64_t uc_value_mark(uint64_t seed, const char *text, size_t length)
{
    uint64_t mark = seed ^ (length * UINT64_C(0x9e3779b97f4a7c15));
    for (; length >= 8; text += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        mark = (mark ^ le64toh(word)) * UINT64_C(0x9fb21c651e98df25);
        mark ^= mark >> 29;
    }
    return mix(mark ^ first_bytes(text, length));
}

/* Eight characters in lower case; only ASCII letters change. */
static uint64_t lower_word(uint64_t text)
{
    const uint64_t each = UINT64_C(0x0101010101010101), seven = text & (0x7f * each);
    const uint64_t from_a = seven + (0x80 - 'A') * each, beyond_z = seven + (0x7f - 'Z') * each;
    return text | ((from_a & ~beyond_z & ~text & (0x80 * each)) >> 2);
}

/* The mark of a word in lower case: uc_value_mark of its bytes, 64 at a time. Eight bytes are readable from
 * each byte of the word. */
static uint64_t mark_word(uint64_t seed, const char *text, size_t length)
{
    uint64_t mark = seed;
    if (length < 8) { /* most words, which need no copy */
        uint64_t word;
        memcpy(&word, text, 8);
        word = lower_word(le64toh(word) & ((UINT64_C(1) << (8 * length)) - 1));
        return mix(seed ^ (length * UINT64_C(0x9e3779b97f4a7c15)) ^ word);
    }
    for (size_t begin = 0; begin < length; begin += 64) {
        char lower[64];
        const size_t count = uc_min_size(length - begin, sizeof lower);
        for (size_t i = 0; i < count; i++) {
            const unsigned char c = (unsigned char)text[begin + i];
            lower[i] = (char)(c | (c >= 'A' && c <= 'Z' ? 0x20 : 0));
        }
        mark = uc_value_mark(mark, lower, count);
    }
    return mark;
}

size_t uc_value_words(uint64_t *marks, const char *text, size_t length, uint64_t seed)
{
    const char *const end = text + length;
    uint64_t before = 0;
    size_t count = 0;
    for (const char *p = text;;) {
        const char *word = uc_scan_word(p, end, true);
        if (word == end)
            break;
        p = uc_scan_word(word, end, false);
        const uint64_t mark = mark_word(seed, word, (size_t)(p - word));
        if (count > 0)
            marks[count++] = mix(before * 3 + mark);
        marks[count++] = mark;
        before = mark;
    }
    return count;
}
