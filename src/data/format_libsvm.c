/*
 * LIBSVM and SVMlight text: one example per line,
 *
 *   label [qid:N] [bag:ID] column:value column:value ...   # comment
 *
 * with columns from 1, strictly ascending. The label is a word, kept as it is written; `?` is no label. Blank
 * lines and lines that hold only a comment are skipped, qid: is read over.
 *
 * The loop over column:value pairs is what reading costs. It checks only whether all is well; when it is not,
 * the same words are looked at again, slowly, to say what is wrong.
 */
#define _GNU_SOURCE
#include <string.h>

#include "data/delimited.h"
#include "data/text.h"

#define LARGEST_COLUMN 2147483647u

static const char *skip_blanks(const char *p)
{
    while (uc_is_blank(*p))
        p++;
    return p;
}

/* Where the word at p ends: at a blank, a comment, the end of the line or another control character. */
static const char *word_end(const char *p)
{
    while ((unsigned char)*p > ' ' && *p != '#')
        p++;
    return p;
}

/* A column of nine digits or more; the eight-digit reader has seen the first eight. */
static const char *read_long_column(uint64_t *column, const char *p)
{
    uint64_t value = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        if (value <= LARGEST_COLUMN)
            value = value * 10 + (uint64_t)(*p - '0');
    *column = value;
    return p;
}

/* Says what is wrong with the word at p, which is not a good column:value pair after column `before`. */
static void blame_pair(uc_text_block *block, const char *line, const char *p, uint64_t before)
{
    if (uc_text_blame_control(block, line))
        return;
    char quoted[UC_QUOTE_SIZE];
    const char *end = word_end(p);
    const char *colon = memchr(p, ':', (size_t)(end - p));
    if (!colon) {
        uc_text_blame(block, "'%s' has no colon: expected column:value",
                      uc_quote(quoted, p, (size_t)(end - p)));
        return;
    }
    if (colon - p == 3 && (memcmp(p, "bag", 3) == 0 || memcmp(p, "qid", 3) == 0)) {
        uc_text_blame(block, "'%s' does not follow the label", uc_quote(quoted, p, (size_t)(end - p)));
        return;
    }
    uint64_t column;
    if (!uc_parse_count(&column, p, (size_t)(colon - p)) || column < 1 || column > LARGEST_COLUMN) {
        uc_text_blame(block, "column %s is not an integer from 1 to %u",
                      uc_quote(quoted, p, (size_t)(colon - p)), LARGEST_COLUMN);
        return;
    }
    if (column <= before) {
        uc_text_blame(block, "column %llu is not above %llu, the one before", (unsigned long long)column,
                      (unsigned long long)before);
        return;
    }
    if (colon + 1 == end) {
        uc_text_blame(block, "column %llu has no value", (unsigned long long)column);
        return;
    }
    uc_text_blame(block, "the value '%s' of column %llu %s",
                  uc_quote(quoted, colon + 1, (size_t)(end - colon - 1)), (unsigned long long)column,
                  uc_number_complaint(colon + 1, (size_t)(end - colon - 1)));
}

/* Goes over a comment to the end of its line; NULL when it holds a control character. */
static const char *skip_comment(uc_text_block *block, const char *p)
{
    if (uc_text_blame_control(block, p))
        return NULL;
    return rawmemchr(p, '\n');
}

/* The label and what may follow it, up to the first column; NULL when something is wrong. */
static const char *read_front(uc_text_block *block, const uc_reader *reader, const char *p)
{
    const char *line = p, *end = word_end(p);
    if (memchr(p, ':', (size_t)(end - p)) || end == p) {
        char quoted[UC_QUOTE_SIZE];
        if (!uc_text_blame_control(block, line))
            uc_text_blame(block, "no label before '%s'", uc_quote(quoted, p, (size_t)(end - p)));
        return NULL;
    }
    uc_text_class(block, reader, p, (size_t)(end - p));
    bool has_bag = false;
    for (p = skip_blanks(end); *p == 'q' || *p == 'b'; p = skip_blanks(end)) {
        end = word_end(p);
        if (end - p > 4 && memcmp(p, "bag:", 4) == 0 && !has_bag) {
            has_bag = true;
            if (block->bag)
                uc_text_bag(block, reader, p + 4, (size_t)(end - p) - 4);
        } else if (end - p <= 4 || memcmp(p, "qid:", 4) != 0) {
            break;
        }
    }
    if (has_bag && !block->bag)
        uc_text_blame(block, "a bag, but the lines before have none");
    else if (!has_bag && block->bag)
        uc_text_blame(block, "no bag, but the lines before have one");
    return block->status == UC_OK ? p : NULL;
}

/* `whole` digits, a point, `decimals` digits: more than eight of them. false: too many for a double. */
static inline bool read_long_mantissa(uint64_t *mantissa, const char *p, unsigned whole, unsigned decimals)
{
    const unsigned head = decimals < 8 ? decimals : 8;
    const char *after_point = p + whole + 1;
    if (decimals > 8 && whole > 3)
        return false;
    *mantissa = uc_number_value(uc_number_word(p), whole) * uc_count_of_ten[head] +
                uc_number_value(uc_number_word(after_point), head);
    if (decimals > 8)
        *mantissa = *mantissa * uc_count_of_ten[decimals - 8] +
                    uc_number_value(uc_number_word(after_point + 8), decimals - 8);
    return *mantissa <= (uint64_t)1 << 53;
}

/* A pair of the usual shape at p, `12345:-0.678` followed by a blank or newline: at most eight digits in
 * the column and before the point, sixteen after it, all within 32 characters. Where it ends is found from a
 * mask of the characters that are not digits and not digit by digit, so that the next pair can begin while
 * this one is still being computed. Returns its end, or NULL when the pair is of another shape, right or
 * wrong. */
static inline const char *read_usual_pair(uint64_t *column, float *value, const char *p)
{
    uint32_t others = uc_number_mask(p);
    if (others == 0)
        return NULL;
    const unsigned colon = (unsigned)__builtin_ctz(others);
    const uint32_t sign = (uint32_t)((uint64_t)others >> (colon + 1)) & 1;
    others &= others - 1;
    others &= others - sign;
    if (others == 0)
        return NULL;
    const unsigned first = colon + 1 + sign, point = (unsigned)__builtin_ctz(others);
    const unsigned whole = point - first;
    if (p[colon] != ':' || colon - 1 > 7 || whole - 1 > 7 || (sign && p[colon + 1] != '-'))
        return NULL;
    *column = uc_number_value(uc_number_word(p), colon);
    unsigned end = point, decimals = 0;
    if (p[point] == '.') {
        others &= others - 1;
        end = others ? (unsigned)__builtin_ctz(others) : 0;
        decimals = end - point - 1;
        if (decimals > 16)
            return NULL;
    }
    uint64_t mantissa;
    if (whole + decimals <= 8) {
        /* The digits before the point, and those after it moved up by its one place. */
        const uint64_t before = UINT64_MAX >> (64 - 8 * whole);
        const uint64_t digits =
            (uc_number_word(p + first) & before) | (uc_number_word(p + first + 1) & ~before);
        mantissa = uc_number_value(digits, whole + decimals);
    } else if (!read_long_mantissa(&mantissa, p + first, whole, decimals)) {
        return NULL;
    }
    if (p[end] != ' ' && p[end] != '\n')
        return NULL;
    const float magnitude = uc_number_scale(mantissa, decimals);
    *value = sign ? -magnitude : magnitude;
    return p + end;
}

/* A pair of any shape; NULL when it is wrong, apart from its column's range and order. */
static const char *read_any_pair(uint64_t *column, float *value, const char *p)
{
    const unsigned digits = uc_number_digits(column, p);
    const char *colon = digits < 8 ? p + digits : read_long_column(column, p);
    if (digits == 0 || *colon != ':')
        return NULL;
    const char *end = uc_number_read(value, colon + 1);
    const bool ends_word = (unsigned char)*end <= ' ' || *end == '#';
    if (end == colon + 1 || !isfinite(*value) || !ends_word)
        return NULL;
    return end;
}

/* column:value pairs from p on, into values and columns from block->pairs on; returns the end of the line,
 * NULL when something is wrong. */
static const char *read_pairs(uc_text_block *block, const char *line, const char *p)
{
    float *value = block->values + block->pairs;
    uint32_t *column = block->columns + block->pairs;
    uint64_t before = 0;
    for (;;) {
        uint64_t index;
        float read;
        const char *end = read_usual_pair(&index, &read, p);
        if (!end) {
            p = skip_blanks(p);
            if (*p == '\n' || *p == '#')
                break;
            end = read_any_pair(&index, &read, p);
        }
        if (!end || index <= before || index > LARGEST_COLUMN) {
            blame_pair(block, line, p, before);
            return NULL;
        }
        *column++ = (uint32_t)index - 1;
        *value++ = read;
        before = index;
        p = end + (*end == ' ');
    }
    block->pairs = (size_t)(value - block->values);
    block->cols = uc_max_size(block->cols, before);
    if (*p == '#')
        return skip_comment(block, p);
    return p;
}

static void parse(uc_text_block *block, const uc_reader *reader, const void *layout)
{
    (void)layout;
    for (const char *p = block->begin; p && p < block->end;) {
        block->lines++;
        const char *line = p;
        p = skip_blanks(p);
        if (*p == '#') {
            p = skip_comment(block, p);
        } else if (*p != '\n') {
            p = read_front(block, reader, p);
            if (p)
                p = read_pairs(block, line, p);
            if (p)
                block->ends[block->rows++] = block->pair_base + block->pairs;
        }
        if (p)
            p++; /* the newline */
    }
}

/* Whether the first example has a bag: then all must have one. */
static void look(uc_reader *self)
{
    size_t length, number;
    const char *line = uc_text_first_line(&length, &number, self, '#');
    if (!line)
        return;
    const char *p = word_end(skip_blanks(line));
    for (p = skip_blanks(p); strncmp(p, "qid:", 4) == 0; p = skip_blanks(word_end(p)))
        ;
    self->has_bags = strncmp(p, "bag:", 4) == 0 && word_end(p) - p > 4;
}

static uc_status begin(uc_reader *self)
{
    self->sparse = true;
    self->has_labels = true;
    return uc_text_begin(self, parse, look);
}

const uc_data_format uc_format_libsvm = {"libsvm", begin, uc_text_next, uc_text_end, uc_text_cut};
