/* LIBSVM and SVMlight text: one example per line,
 *
 * label [qid:N] [bag:ID] column:value column:value ...   # comment
 *
 * with columns from 1, strictly ascending. The label is a word, kept as it is written; `?` means no label.
 * Blank lines and lines with only a comment are skipped; qid: is ignored.
 *
 * Reading spends its time in the loop over column:value pairs. That loop only checks whether all is well; if
 * not, the same words are parsed again, slowly, to find out what is wrong. */
#define _GNU_SOURCE
#include <string.h>

#include "data/delimited.h"
#include "data/marks.h"
#include "data/pairs.h"
#include "data/text.h"

#define LARGEST_COLUMN 2147483647u

static const char *skip_blanks(const char *p)
{
    while (uc_is_blank(*p))
        p++;
    return p;
}

/* The end of the word at p: a blank, a comment, the end of the line or another control character. */
static const char *word_end(const char *p)
{
    while ((unsigned char)*p > ' ' && *p != '#')
        p++;
    return p;
}

/* Reads a column of eight digits or more, which are too many for the eight-digit reader. */
static const char *read_long_column(uint64_t *column, const char *p)
{
    uint64_t value = 0;
    for (; *p >= '0' && *p <= '9'; p++)
        if (value <= LARGEST_COLUMN)
            value = value * 10 + (uint64_t)(*p - '0');
    *column = value;
    return p;
}

/* Reports what is wrong with the word at p, which is not a valid column:value pair after column `before`. */
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

/* Skips a comment, up to the end of its line; NULL if it contains a control character. */
static const char *skip_comment(uc_text_block *block, const char *p)
{
    if (uc_text_blame_control(block, p))
        return NULL;
    return rawmemchr(p, '\n');
}

/* Reads the label and what may follow it, up to the first column; NULL if it is bad. */
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

/* Adds the pair at p to the batch if it has the usual form, `12345:-0.678` followed by a blank or newline,
 * with at most eight digits on either side of the colon. Returns its end, or NULL if it has another form,
 * valid or not. */
UC_INLINE const char *gather_pair(uc_batch *batch, const uc_marks *marks, const char *p)
{
    const size_t place = (size_t)(p - marks->begin);
    const unsigned length = uc_marks_length(marks, place);
    const uint64_t after = (uint64_t)1 << length;
    const uint64_t others = uc_marks_at(marks->others, place) & (after - 1);
    const unsigned colon = (unsigned)__builtin_ctzll(others | after);
    if (p[colon] != ':' || colon - 1 > 7 ||
        !uc_batch_add(batch, p + colon + 1, length - colon - 1, others >> (colon + 1)))
        return NULL;
    batch->columns[batch->count++] = uc_batch_word(p, colon);
    return p + length;
}

/* Reads a pair of any form; NULL if it is bad, apart from its column's range and order. */
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

/* Reports the first pair from p on whose column is not above the previous one. */
static void blame_order(uc_text_block *block, const char *line, const char *p, uint64_t before)
{
    uint64_t column = 0;
    for (float value; (p = skip_blanks(p)); before = column) {
        const char *end = read_any_pair(&column, &value, p);
        if (!end || column <= before)
            break;
        p = end;
    }
    blame_pair(block, line, p, before);
}

/* Writes the batch, whose first pair is at `first`, to the block. */
static bool empty_batch(uc_text_block *block, uc_batch *batch, const char *line, const char *first,
                        uint64_t *before)
{
    const size_t count = batch->count;
    if (count == 0)
        return true;
    if (!uc_batch_pairs(block->values + block->pairs, block->columns + block->pairs, batch,
                        (uint32_t)*before)) {
        blame_order(block, line, first, *before);
        return false;
    }
    block->pairs += count;
    *before = (uint64_t)block->columns[block->pairs - 1] + 1;
    return true;
}

/* Reads the pair at p, of any form; returns its end, NULL if something is wrong. */
static const char *read_pair(uc_text_block *block, uint64_t *before, const char *line, const char *p)
{
    uint64_t column;
    const char *end = read_any_pair(&column, block->values + block->pairs, p);
    if (!end || column <= *before || column > LARGEST_COLUMN) {
        blame_pair(block, line, p, *before);
        return NULL;
    }
    block->columns[block->pairs++] = (uint32_t)column - 1;
    *before = column;
    return end;
}

/* Ends a line whose last column is `last` at p; returns the end of the line, NULL if something is wrong. */
static const char *end_line(uc_text_block *block, const char *p, uint64_t last)
{
    block->cols = uc_max_size(block->cols, last);
    return *p == '#' ? skip_comment(block, p) : p;
}

/* Reads column:value pairs from p on into values and columns, from position block->pairs. Returns the end of
 * the line; NULL if something is wrong. */
UC_INLINE const char *read_pairs(uc_text_block *block, void *user, const char *line, const char *p)
{
    uc_marks *marks = user;
    uc_batch batch;
    const char *first = p;
    uint64_t before = 0;
    for (batch.count = 0;;) {
        uc_marks_reach(marks, p);
        const char *end = gather_pair(&batch, marks, p);
        if (end && batch.count < UC_BATCH) {
            p = end;
            if (__builtin_expect(*p == '\n', 0))
                break;
            p++;
            continue;
        }
        if (!empty_batch(block, &batch, line, first, &before))
            return NULL;
        first = p = skip_blanks(end ? end : p);
        if (end && *p != '\n' && *p != '#')
            continue;
        if (*p == '\n' || *p == '#')
            break;
        end = read_pair(block, &before, line, p);
        if (!end)
            return NULL;
        first = p = end + (*end == ' ');
    }
    if (!empty_batch(block, &batch, line, first, &before))
        return NULL;
    return end_line(block, p, before);
}

/* The same, eight pairs at a time. */
UC_INLINE const char *read_eights(uc_text_block *block, void *user, const char *line, const char *p)
{
    uint64_t before = 0;
    for (;;) {
        if (*p != '\n' && *p != '#')
            block->pairs +=
                uc_pairs_read(&p, block->values + block->pairs, block->columns + block->pairs, &before, user);
        p = skip_blanks(p);
        if (*p == '\n' || *p == '#')
            return end_line(block, p, before);
        p = read_pair(block, &before, line, p);
        if (!p)
            return NULL;
        p += *p == ' ';
    }
}

typedef const char *pairs_reader(uc_text_block *block, void *user, const char *line, const char *p);

UC_INLINE void parse_lines(uc_text_block *block, const uc_reader *reader, pairs_reader *read, void *user)
{
    for (const char *p = block->begin; p && p < block->end;) {
        block->lines++;
        const char *line = p;
        p = skip_blanks(p);
        if (*p == '#') {
            p = skip_comment(block, p);
        } else if (*p != '\n') {
            p = read_front(block, reader, p);
            if (p)
                p = read(block, user, line, p);
            if (p)
                block->ends[block->rows++] = block->pair_base + block->pairs;
        }
        if (p)
            p++; /* the newline */
    }
}

UC_MARKS_FAST static void parse_fast(uc_text_block *block, const uc_reader *reader, uc_marks *marks)
{
    parse_lines(block, reader, read_pairs, marks);
}

static void parse_eights(uc_text_block *block, const uc_reader *reader)
{
    uc_pairs pairs;
    uc_pairs_begin(&pairs, block->begin, block->end);
    parse_lines(block, reader, read_eights, &pairs);
}

static void parse(uc_text_block *block, const uc_reader *reader, const void *layout)
{
    uc_marks marks;
    (void)layout;
    if (uc_pairs_are_fast()) {
        parse_eights(block, reader);
        return;
    }
    uc_marks_begin(&marks, block->begin, block->end, ' ');
    if (uc_marks_are_fast())
        parse_fast(block, reader, &marks);
    else
        parse_lines(block, reader, read_pairs, &marks);
}

/* Finds out whether the first example has a bag; if so, all must have one. */
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
