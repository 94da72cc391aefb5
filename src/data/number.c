/*
 * Numbers that the inline reader does not handle, and numbers as text.
 *
 *   m   the first 19 significant digits, as an integer
 *   e   the power of ten after them: the value is m 10^e
 *
 * Reading: q = m * 10^e, with double arithmetic and a table of powers, is within 4 units in the last place of
 * the nearest double d (m, the power and the product are each rounded once; further digits change less than
 * 2^-59). So (float)q = (float)d unless q is that close to the midpoint of two floats. Only then is the
 * exact but slow strtod used.
 *
 * Writing: the number of decimals k is increased until m = round(|value| 10^k) gives (float)(m / 10^k) =
 * value, which is the very expression that reads it back.
 */
#include "data/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

const double uc_power_of_ten[65] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31, 1e32, 1e33,
    1e34, 1e35, 1e36, 1e37, 1e38, 1e39, 1e40, 1e41, 1e42, 1e43, 1e44, 1e45, 1e46, 1e47, 1e48, 1e49, 1e50,
    1e51, 1e52, 1e53, 1e54, 1e55, 1e56, 1e57, 1e58, 1e59, 1e60, 1e61, 1e62, 1e63, 1e64,
};
const uint64_t uc_count_of_ten[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

const double uc_part_of_ten[17] = {1e0,  1e-1,  1e-2,  1e-3,  1e-4,  1e-5,  1e-6,  1e-7, 1e-8,
                                   1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 1e-16};

#define MOST_DIGITS 19               /* always fit in 64 bits */
#define FAR_EXPONENT ((long)1000000) /* with it, the value is 0 or infinite, whatever its digits */

/* The parts of a number in text. */
typedef struct decimal {
    bool negative;
    const char *digits,
        *end;          /* from the first digit that is not 0 to after the last; a point may be in between */
    uint64_t mantissa; /* m */
    long exponent;     /* e */
    long scale;        /* power of ten of the first significant digit, for the slow path */
    bool any;          /* there is a digit */
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits and a point; returns where they end. */
static const char *read_mantissa(decimal *out, const char *p)
{
    int kept = 0;
    bool point = false;
    long before_point = 0; /* significant digits before the point, or minus the zeros after it */
    for (;; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(*p))
            break;
        out->any = true;
        if (*p == '0' && !out->digits) {
            before_point -= point;
            continue;
        }
        if (!out->digits)
            out->digits = p;
        if (*p != '0')
            out->end = p + 1;
        if (kept < MOST_DIGITS) {
            out->mantissa = out->mantissa * 10 + (uint64_t)(*p - '0');
            kept++;
        }
        before_point += !point;
    }
    out->scale = before_point - 1;
    out->exponent = before_point - kept;
    return p;
}

/* Reads an exponent like e+12; returns where it ends, or p if there is none. */
static const char *read_exponent(long *out, const char *p)
{
    *out = 0;
    if ((*p | 0x20) != 'e')
        return p;
    const char *q = p + 1;
    const bool negative = *q == '-';
    q += negative || *q == '+';
    if (!is_digit(*q))
        return p;
    long value = 0;
    for (; is_digit(*q); q++)
        if (value < FAR_EXPONENT)
            value = value * 10 + (*q - '0');
    *out = negative ? -value : value;
    return q;
}

/* strtod on the same number, with at most 400 digits and a mark for the rest. If a float is neither 0 nor
 * infinite, the midpoint of two doubles has fewer digits than that, so the mark never changes the
 * rounding. */
static double read_exactly(const decimal *number)
{
    char text[512];
    size_t length = 0;
    const char *p = number->digits;
    text[length++] = *p++;
    text[length++] = '.';
    for (; p < number->end && length < 400; p++)
        if (*p != '.')
            text[length++] = *p;
    if (p < number->end)
        text[length++] = '1';
    length += (size_t)snprintf(text + length, sizeof text - length, "e%ld", number->scale);
    double value = 0.0;
    (void)uc_parse_real(&value, text, length);
    return value;
}

static double read_decimal(const decimal *number)
{
    const long e = number->exponent;
    if (!number->digits)
        return 0.0;
    if (e >= -64 && e <= 64) {
        const double m = (double)number->mantissa;
        const double q = e < 0 ? m / uc_power_of_ten[-e] : m * uc_power_of_ten[e];
        if (q >= (double)FLT_MIN && q < (double)FLT_MAX && !uc_number_is_doubtful(q))
            return q;
    }
    return read_exactly(number);
}

/* Reads up to 16 digits with a point, eight at a time; NULL if the number has another form. */
static const char *read_long(float *out, const char *text)
{
    const char *p = text;
    const bool negative = *p == '-';
    p += negative || *p == '+';
    uint64_t mantissa, part;
    unsigned digits = uc_number_digits(&mantissa, p);
    unsigned decimals = 0;
    p += digits;
    if (*p == '.' && digits < 8) {
        decimals = uc_number_digits(&part, ++p);
        mantissa = mantissa * uc_count_of_ten[decimals] + part;
        p += decimals;
        if (decimals == 8 && mantissa < 1000000000u) {
            const unsigned more = uc_number_digits(&part, p);
            mantissa = mantissa * uc_count_of_ten[more] + part;
            decimals += more;
            p += more;
        }
        digits += decimals;
    }
    const char after = *p;
    if (digits == 0 || mantissa > (uint64_t)1 << 53 || (after | 0x20) == 'e' || after == '.' ||
        is_digit(after))
        return NULL;
    const float value = uc_number_scale(mantissa, decimals);
    *out = negative ? -value : value;
    return p;
}

const char *uc_number_read_any(float *out, const char *text)
{
    const char *end = read_long(out, text);
    if (end)
        return end;
    decimal number = {.negative = *text == '-'};
    const char *p = read_mantissa(&number, text + (*text == '-' || *text == '+'));
    if (!number.any)
        return text;
    long exponent;
    p = read_exponent(&exponent, p);
    number.exponent += exponent;
    number.scale += exponent;
    const double value = read_decimal(&number);
    *out = (float)(number.negative ? -value : value);
    return p;
}

const char *uc_number_complaint(const char *text, size_t length)
{
    double value;
    if (!uc_parse_real(&value, text, length))
        return "is not a number";
    for (size_t i = 0; i < length; i++)
        if (is_digit(text[i]))
            return "is beyond the range of float";
    return "is not a finite number";
}

/* ---- writing ---- */

size_t uc_number_write_count(char *text, uint64_t value)
{
    char reversed[20];
    size_t length = 0;
    do
        reversed[length++] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    for (size_t i = 0; i < length; i++)
        text[i] = reversed[length - 1 - i];
    return length;
}

/* Writes m / 10^decimals with its point. */
static size_t write_fixed(char *text, uint64_t m, unsigned decimals)
{
    uint64_t power = 1;
    for (unsigned i = 0; i < decimals; i++)
        power *= 10;
    size_t length = uc_number_write_count(text, m / power);
    text[length++] = '.';
    uint64_t rest = m % power;
    for (unsigned i = decimals; i-- > 0; rest /= 10)
        text[length + i] = (char)('0' + rest % 10);
    return length + decimals;
}

/* The digits that printf chooses, without the locale's point; *exponent is the power of ten of the first
 * one. */
static int scientific_digits(char digits[20], int *exponent, double value, int count)
{
    char text[40];
    snprintf(text, sizeof text, "%.*e", count - 1, value);
    int length = 0;
    const char *p = text;
    for (; *p != 'e'; p++)
        if (is_digit(*p))
            digits[length++] = *p;
    long power = 0;
    read_exponent(&power, p);
    *exponent = (int)power;
    return length;
}

static size_t write_scientific(char *text, const char *digits, int count, int exponent)
{
    size_t length = 0;
    text[length++] = digits[0];
    if (count > 1)
        text[length++] = '.';
    for (int i = 1; i < count; i++)
        text[length++] = digits[i];
    text[length++] = 'e';
    text[length++] = exponent < 0 ? '-' : '+';
    const unsigned magnitude = (unsigned)abs(exponent);
    if (magnitude < 10)
        text[length++] = '0';
    return length + uc_number_write_count(text + length, magnitude);
}

size_t uc_number_write(char *text, float value)
{
    const double magnitude = fabs((double)value);
    size_t length = 0;
    if (signbit(value))
        text[length++] = '-';
    if (magnitude < 1e9 && magnitude == (double)(uint64_t)magnitude)
        return length + uc_number_write_count(text + length, (uint64_t)magnitude);
    if (magnitude >= 1e-5 && magnitude < 1e7) {
        for (unsigned decimals = 1; decimals <= 14; decimals++) {
            const double m = rint(magnitude * uc_power_of_ten[decimals]);
            if ((float)(m / uc_power_of_ten[decimals]) == (float)magnitude)
                return length + write_fixed(text + length, (uint64_t)m, decimals);
        }
    }
    char digits[20] = {0};
    for (int count = 1;; count++) {
        int exponent;
        scientific_digits(digits, &exponent, magnitude, count);
        char candidate[UC_NUMBER_TEXT + UC_NUMBER_SLACK] = {0};
        const size_t written = write_scientific(candidate, digits, count, exponent);
        float read = 0.0f;
        uc_number_read(&read, candidate);
        if (read == (float)magnitude || count == 9) {
            memcpy(text + length, candidate, written);
            return length + written;
        }
    }
}

size_t uc_number_write_real(char *text, double value)
{
    const double magnitude = fabs(value);
    size_t length = 0;
    if (signbit(value))
        text[length++] = '-';
    char digits[20] = {0}, candidate[40];
    int exponent = 0, count = 1;
    for (; count <= 17; count++) {
        scientific_digits(digits, &exponent, magnitude, count);
        double read = 0.0;
        if (uc_parse_real(&read, candidate, write_scientific(candidate, digits, count, exponent)) &&
            read == magnitude)
            break;
    }
    if (exponent < -4 || exponent >= 16)
        return length + write_scientific(text + length, digits, count, exponent);
    for (int place = exponent < 0 ? 0 : exponent; place >= exponent - count + 1 || place >= -1; place--) {
        if (place == -1)
            text[length++] = '.';
        const int i = exponent - place;
        text[length++] = i >= 0 && i < count ? digits[i] : '0';
    }
    return length;
}
