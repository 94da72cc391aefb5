/*
 * Parsing text in parallel.
 *
 *   chunk   some MB of whole lines; what follows its last newline begins the next chunk. If a line is longer
 *           than a chunk, the chunk grows.
 *   block   some KB of whole lines of a chunk, parsed by one thread at a time
 *
 * Newlines and colons are counted first: a block has no more rows than newlines and no more column:value
 * pairs than colons. So the place of every block in the reader's arrays is known before it is parsed, and it
 * is parsed directly into that place. Only if comments or blank lines made the counts too large are later
 * blocks moved down. While the blocks of a chunk are parsed, one of several threads reads, unpacks and counts
 * the next chunk.
 *
 * Blocks have a fixed size, their lines are counted while they are parsed, and failures are checked in order,
 * so neither the rows nor the first error depend on the number of threads. Names are looked up in the
 * reader's lists, which do not change while blocks are parsed; new ones are added afterwards, block by block,
 * so their positions are in the order of first appearance.
 */
#define _GNU_SOURCE
#include "data/text.h"

#include <stdarg.h>
#include <string.h>

#include "data/delimited.h"
#include "data/marks.h"

#define CHUNK_BYTES ((size_t)2 << 20)
#define BLOCK_BYTES ((size_t)64 << 10)

typedef struct chunk {
    char *text; /* `capacity` bytes, one for a newline at the end of the file, and UC_NUMBER_SLACK zeros */
    size_t capacity, length;
    size_t begin, end; /* the whole lines that are still to be parsed */
    uc_text_block *blocks;
    size_t block_count, block_room;
} chunk;

typedef struct text_state {
    uc_text_parser *parser;
    uc_text_look *look;
    void *layout;
    void (*free_layout)(void *layout);
    uc_text_hooks hooks;
    chunk now, next;
    bool parsed;           /* `now` has been parsed */
    bool fetched;          /* `next` has been read ahead */
    bool read_ended;       /* the input has no more bytes */
    uc_status read_status; /* of reading that chunk */
    char *read_sentence;
    size_t line;     /* number of lines between `before` and now.begin */
    uint64_t before; /* number of bytes in the file before the range that is read */
} text_state;

/* ---- chunks ---- */

/* Counts the two characters that bound the numbers of rows and pairs. Thirty-two adjacent counters fit in one
 * or two registers. */
UC_INLINE void count_characters(uc_text_block *block)
{
    enum { SIDE = 32 };
    const char *p = block->begin;
    size_t newlines = 0, colons = 0;
    while (block->end - p >= SIDE) {
        uint8_t newline[SIDE] = {0}, colon[SIDE] = {0};
        for (int turn = 0; turn < 255 && block->end - p >= SIDE; turn++, p += SIDE)
            for (int i = 0; i < SIDE; i++) {
                newline[i] = (uint8_t)(newline[i] + (p[i] == '\n'));
                colon[i] = (uint8_t)(colon[i] + (p[i] == ':'));
            }
        for (int i = 0; i < SIDE; i++) {
            newlines += newline[i];
            colons += colon[i];
        }
    }
    for (; p < block->end; p++) {
        newlines += *p == '\n';
        colons += *p == ':';
    }
    block->newlines = newlines;
    block->colons = colons;
}

UC_MARKS_FAST static void count_fast(uc_text_block *block)
{
    count_characters(block);
}

static void count_bounds(uc_text_block *block)
{
    if (uc_marks_are_fast())
        count_fast(block);
    else
        count_characters(block);
}

/* The end of a block that begins at p. */
static char *block_end(char *p, char *end, const uc_reader *reader)
{
    if ((size_t)(end - p) <= BLOCK_BYTES)
        return end;
    if (!reader->quoted)
        return (char *)rawmemchr(p + BLOCK_BYTES - 1, '\n') + 1;
    const char *newline = uc_record_end(p, p + BLOCK_BYTES - 1, end, reader->delimiter);
    return newline ? p + (newline - p) + 1 : end;
}

static uc_status cut_blocks(chunk *self, const uc_reader *reader)
{
    const text_state *state = reader->state;
    char *p = self->text + self->begin;
    char *const end = self->text + self->end;
    for (self->block_count = 0; p < end; self->block_count++) {
        if (self->block_count == self->block_room) {
            const size_t room = uc_grown(self->block_room, self->block_room + 1);
            uc_text_block *blocks = uc_realloc(self->blocks, room, sizeof *blocks);
            if (!blocks)
                return UC_ERR_NOMEM;
            memset(blocks + self->block_room, 0, (room - self->block_room) * sizeof *blocks);
            self->blocks = blocks;
            self->block_room = room;
        }
        uc_text_block *block = &self->blocks[self->block_count];
        block->begin = p;
        p = block->end = block_end(p, end, reader);
        block->lines = block->rows = block->pairs = block->cols = block->name_count = block->unseen = 0;
        block->status = UC_OK;
        block->not_numbers = false;
        count_bounds(block);
        if (state->hooks.bound)
            state->hooks.bound(block, state->layout);
    }
    return UC_OK;
}

static uc_status grow_chunk(chunk *self, const uc_reader *reader, size_t capacity)
{
    const uc_status status = uc_memory_check(&reader->context, (double)capacity, "a line of the file");
    if (status != UC_OK)
        return status;
    char *text = uc_realloc(self->text, capacity + 1 + UC_NUMBER_SLACK, 1);
    if (!text)
        return UC_ERR_NOMEM;
    self->text = text;
    self->capacity = capacity;
    return UC_OK;
}

/* A longer record is not waited for: a quote that is never closed would take in the whole file. */
#define LONGEST_RECORD ((size_t)64 << 20)

/* The end of the last whole record in the chunk, whose last `got` bytes are new; 0: there is none. */
static size_t whole_records(const chunk *self, uc_reader *reader, size_t got)
{
    const text_state *state = reader->state;
    const char *newline = memrchr(self->text + self->length - got, '\n', got), *begin = self->text;
    if (!state->parsed)
        begin += uc_byte_order_mark(self->text, self->length);
    if (reader->quoted && newline && !reader->delimiter) {
        const char *line = begin, *end = rawmemchr(line, '\n');
        while (end < newline && line + strspn(line, " \t\r") == end) {
            line = end + 1;
            end = rawmemchr(line, '\n');
        }
        end = uc_header_end(line, end, newline);
        reader->delimiter = uc_find_delimiter(line, (size_t)(end - line));
    }
    if (reader->quoted && reader->delimiter && self->length < LONGEST_RECORD)
        newline = uc_last_record_end(begin, self->text + self->length, reader->delimiter);
    return newline ? (size_t)(newline - self->text) + 1 : 0;
}

/* Reads after the chunk's bytes until it is full, or until the input has nothing more at the moment and there
 * is a whole line. */
static uc_status read_lines(chunk *self, uc_reader *reader)
{
    text_state *state = reader->state;
    while (self->end == 0 && !state->read_ended) {
        uc_status status = UC_OK;
        if (self->length == self->capacity)
            status = grow_chunk(self, reader, 2 * self->capacity);
        size_t got = 0;
        const size_t room = self->capacity - self->length;
        if (status == UC_OK)
            status = uc_input_read(&got, reader->input, self->text + self->length, room);
        if (status != UC_OK)
            return status;
        state->read_ended = got == 0 || (got < room && !uc_input_is_live(reader->input));
        self->length += got;
        self->end = whole_records(self, reader, got);
    }
    if (state->read_ended && self->end < self->length) {
        self->text[self->length++] = '\n';
        self->end = self->length;
    }
    memset(self->text + self->length, 0, UC_NUMBER_SLACK);
    return UC_OK;
}

/* Fills the chunk with `tail`, the beginning of a line, which may be in the chunk itself, and what follows
 * it. */
static uc_status fill_chunk(chunk *self, uc_reader *reader, const char *tail, size_t tail_length)
{
    if (tail_length)
        memmove(self->text, tail, tail_length);
    self->length = tail_length;
    self->begin = self->end = 0;
    const text_state *state = reader->state;
    const uc_status status = read_lines(self, reader);
    if (status != UC_OK)
        return status;
    if (!state->parsed)
        self->begin = uc_byte_order_mark(self->text, self->end);
    return cut_blocks(self, reader);
}

/* Reads the next chunk; a failure is returned when that chunk is needed. */
static void read_ahead(uc_reader *reader)
{
    text_state *state = reader->state;
    const chunk *now = &state->now;
    const size_t tail = now->length - now->end;
    state->fetched = true;
    state->read_status = UC_OK;
    if (state->next.capacity < now->capacity)
        state->read_status = grow_chunk(&state->next, reader, now->capacity);
    if (state->read_status == UC_OK)
        state->read_status = fill_chunk(&state->next, reader, now->text + now->end, tail);
    if (state->read_status != UC_OK && !state->read_sentence)
        state->read_sentence = uc_strdup(uc_last_error());
}

/* Makes the next chunk the current one. */
static uc_status advance(uc_reader *reader)
{
    text_state *state = reader->state;
    chunk *now = &state->now;
    if (!state->fetched)
        return fill_chunk(now, reader, now->text + now->end, now->length - now->end);
    state->fetched = false;
    if (state->read_status != UC_OK)
        return uc_fail_again(state->read_status, "",
                             state->read_sentence ? state->read_sentence : "not enough memory");
    const chunk done = state->now;
    state->now = state->next;
    state->next = done;
    return UC_OK;
}

/* ---- for parsers ---- */

void uc_text_blame(uc_text_block *block, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(block->sentence, sizeof block->sentence, format, arguments);
    va_end(arguments);
    block->status = UC_ERR_FORMAT;
}

bool uc_text_blame_control(uc_text_block *block, const char *text)
{
    const char *control = uc_find_control(text);
    if (!control)
        return false;
    uc_text_blame(block, "control character 0x%02x", (unsigned char)*control);
    return true;
}

static void note_name(uc_text_block *block, const char *name, size_t length, bool is_bag)
{
    if (block->name_count == block->name_room) {
        const size_t room = uc_grown(block->name_room, block->name_count + 1);
        uc_new_name *names = uc_realloc(block->names, room, sizeof *names);
        if (!names) {
            block->status = UC_ERR_NOMEM;
            return;
        }
        block->names = names;
        block->name_room = room;
    }
    block->names[block->name_count++] = (uc_new_name){name, length, block->rows, block->lines, is_bag};
}

void uc_text_class(uc_text_block *block, const uc_reader *reader, const char *name, size_t length)
{
    uint32_t index = UC_NONE;
    if (length != 1 || *name != '?') {
        index = uc_names_find(&reader->classes, name, length);
        if (index == UC_NONE && reader->spelled.count > 0) {
            const uint32_t spelling = uc_names_find(&reader->spelled, name, length);
            if (spelling != UC_NONE)
                index = reader->spelled_class[spelling];
        }
        if (index == UC_NONE)
            note_name(block, name, length, false);
    }
    block->y[block->rows] = index;
}

void uc_text_bag(uc_text_block *block, const uc_reader *reader, const char *name, size_t length)
{
    const uint32_t index = uc_names_find(&reader->bags, name, length);
    if (index == UC_NONE)
        note_name(block, name, length, true);
    block->bag[block->rows] = index;
}

/* ---- a chunk's blocks ---- */

/* The number of column:value pairs in the reader's rows. */
static size_t pairs_so_far(const uc_reader *reader)
{
    const uc_matrix *X = &reader->rows.X;
    if (!reader->sparse || X->rows == 0)
        return 0;
    return (size_t)X->offsets[X->rows];
}

static void place_block(uc_text_block *block, const uc_reader *reader)
{
    const uc_dataset *data = &reader->rows;
    const uc_matrix *X = &data->X;
    block->columns = block->y = block->bag = NULL;
    block->ends = NULL;
    block->weights = NULL;
    block->ids = NULL;
    if (reader->has_ids)
        block->ids = reader->ids + block->row_base;
    if (reader->sparse) {
        block->values = X->values + block->pair_base;
        block->columns = X->columns + block->pair_base;
        block->ends = X->offsets + block->row_base + 1;
    } else {
        block->values = X->values + block->row_base * X->stride;
    }
    if (reader->has_labels)
        block->y = data->y + block->row_base;
    if (reader->has_bags)
        block->bag = data->bag + block->row_base;
    if (reader->has_weights)
        block->weights = data->weights + block->row_base;
}

/* Gives every block its place, after the rows read so far. */
static uc_status place_blocks(uc_reader *reader, chunk *now)
{
    size_t rows = reader->rows.X.rows, pairs = pairs_so_far(reader);
    for (size_t i = 0; i < now->block_count; i++) {
        now->blocks[i].row_base = rows;
        now->blocks[i].pair_base = pairs;
        rows += now->blocks[i].newlines;
        pairs += now->blocks[i].colons;
    }
    if (reader->has_ids && rows > reader->id_room) {
        uc_field *ids = uc_realloc(reader->ids, rows, sizeof *ids);
        if (!ids)
            return UC_ERR_NOMEM;
        reader->ids = ids;
        reader->id_room = rows;
    }
    const uc_status status = uc_reader_reserve(reader, rows, pairs, false);
    if (status != UC_OK)
        return status;
    for (size_t i = 0; i < now->block_count; i++)
        place_block(&now->blocks[i], reader);
    return UC_OK;
}

static bool reads_ahead(const uc_reader *reader)
{
    const text_state *state = reader->state;
    return !state->read_ended && !uc_input_is_live(reader->input) && uc_threads(&reader->context) > 1;
}

/* A block keeps its own status, which check_block returns. */
static uc_status parse_job(size_t job, void *user)
{
    uc_reader *reader = user;
    text_state *state = reader->state;
    state->parser(&state->now.blocks[job], reader, state->layout);
    return UC_OK;
}

static uc_status parse_and_read_job(size_t job, void *user)
{
    if (job > 0)
        return parse_job(job - 1, user);
    read_ahead(user);
    return UC_OK;
}

/* A small file is a single block, which needs no other thread. */
static uc_status parse_blocks(uc_reader *reader)
{
    const text_state *state = reader->state;
    const size_t blocks = state->now.block_count;
    if (reads_ahead(reader))
        return uc_run_blocks(&reader->context, blocks + 1, parse_and_read_job, reader);
    return uc_run_blocks(&reader->context, blocks, parse_job, reader);
}

static uc_status fail_at(const uc_reader *reader, size_t line, const char *sentence)
{
    const text_state *state = reader->state;
    size_t lines_before = 0;
    const uc_status status = uc_input_count_lines(&lines_before, reader->input, state->before);
    if (status != UC_OK)
        return status;
    line += lines_before;
    return uc_fail(UC_ERR_FORMAT, "%s:%zu: %s", uc_input_name(reader->input), line, sentence);
}

static void blame_name(uc_text_block *block, const uc_new_name *name)
{
    char quoted[UC_QUOTE_SIZE];
    const char *what = name->is_bag ? "bag" : "label", *complaint = "is not UTF-8 text";
    if (memmem(name->text, name->length, UC_BYTE_ORDER_MARK, 3))
        complaint = "has a byte order mark";
    else if (memchr(name->text, '\n', name->length) || memchr(name->text, '\r', name->length))
        complaint = "has a line break";
    else if (memchr(name->text, '\t', name->length))
        complaint = "has a tab";
    if (!uc_text_blame_control(block, name->text))
        uc_text_blame(block, "the %s '%s' %s", what, uc_quote(quoted, name->text, name->length), complaint);
}

static uc_status add_names(uc_text_block *block, uc_reader *reader, size_t line)
{
    for (size_t i = 0; i < block->name_count; i++) {
        const uc_new_name *name = &block->names[i];
        if (!uc_is_name(name->text, name->length)) {
            blame_name(block, name);
            return fail_at(reader, line + name->line, block->sentence);
        }
        uc_status status;
        if (name->is_bag)
            status = uc_names_add(&block->bag[name->row], &reader->bags, name->text, name->length);
        else
            status = uc_reader_add_class(&block->y[name->row], reader, name->text, name->length);
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}

static uc_status check_block(uc_text_block *block, uc_reader *reader)
{
    const text_state *state = reader->state;
    const uc_status status = block->status;
    if (status == UC_ERR_NOMEM)
        return uc_fail(status, "%s: not enough memory to read the file", uc_input_name(reader->input));
    const uc_status added = add_names(block, reader, state->line);
    if (added != UC_OK)
        return added;
    reader->not_numbers = block->not_numbers;
    if (status != UC_OK)
        return fail_at(reader, state->line + block->lines, block->sentence);
    return UC_OK;
}

/* Moves a block to the end of the rows before it. */
static void move_block(const uc_text_block *block, const uc_reader *reader, size_t row, size_t pair)
{
    const uc_matrix *X = &reader->rows.X;
    if (block->y)
        memmove(reader->rows.y + row, block->y, block->rows * sizeof *block->y);
    if (block->bag)
        memmove(reader->rows.bag + row, block->bag, block->rows * sizeof *block->bag);
    if (block->weights)
        memmove(reader->rows.weights + row, block->weights, block->rows * sizeof *block->weights);
    if (block->rows == 0)
        return;
    if (block->ids)
        memmove(reader->ids + row, block->ids, block->rows * sizeof *block->ids);
    if (!reader->sparse && block->values) {
        memmove(X->values + row * X->stride, block->values, block->rows * X->stride * sizeof *X->values);
        return;
    }
    if (block->pairs > 0 && block->values && block->columns) {
        memmove(X->values + pair, block->values, block->pairs * sizeof *X->values);
        memmove(X->columns + pair, block->columns, block->pairs * sizeof *X->columns);
    }
    for (size_t i = 0; i < block->rows && block->ends; i++)
        X->offsets[row + i + 1] = block->ends[i] - block->pair_base + pair;
}

/* Joins names, reports failures and closes gaps, block by block. */
static uc_status join_blocks(uc_reader *reader, chunk *now)
{
    text_state *state = reader->state;
    uc_matrix *X = &reader->rows.X;
    size_t rows = X->rows, pairs = pairs_so_far(reader);
    for (size_t i = 0; i < now->block_count; i++) {
        uc_text_block *block = &now->blocks[i];
        const uc_status status = check_block(block, reader);
        if (status != UC_OK)
            return status;
        if (block->rows && (block->row_base != rows || block->pair_base != pairs))
            move_block(block, reader, rows, pairs);
        if (state->hooks.join) {
            const uc_status joined = state->hooks.join(block, reader, state->line);
            if (joined != UC_OK)
                return joined;
        }
        reader->unseen += block->unseen;
        state->line += block->lines;
        rows += block->rows;
        pairs += block->pairs;
        X->cols = uc_max_size(X->cols, block->cols);
    }
    X->rows = rows;
    return UC_OK;
}

/* ---- the format's functions ---- */

uc_status uc_text_begin(uc_reader *self, uc_text_parser *parser, uc_text_look *look)
{
    text_state *state = uc_alloc(1, sizeof *state);
    if (!state)
        return UC_ERR_NOMEM;
    state->parser = parser;
    state->look = look;
    self->state = state;
    const uc_status status = grow_chunk(&state->now, self, CHUNK_BYTES);
    if (status != UC_OK)
        return status;
    return fill_chunk(&state->now, self, NULL, 0);
}

uc_status uc_text_next(uc_reader *self)
{
    text_state *state = self->state;
    uc_status status = UC_OK;
    if (state->parsed)
        status = advance(self);
    if (status != UC_OK)
        return status;
    state->parsed = true;
    const bool last = state->read_ended;
    if (state->look && self->total_rows == 0 && self->rows.X.rows == 0)
        state->look(self);
    status = place_blocks(self, &state->now);
    if (status == UC_OK)
        status = parse_blocks(self);
    if (status == UC_OK)
        status = join_blocks(self, &state->now);
    self->ended = last;
    return status;
}

/* Where the first line or record at byte `at` or later begins. */
static uc_status find_start(uint64_t *begin, const uc_reader *self, uint64_t at)
{
    if (self->quoted && self->delimiter)
        return uc_input_record_at(begin, self->input, at, self->delimiter);
    return uc_input_line_at(begin, self->input, at);
}

uc_status uc_text_cut(uc_reader *self)
{
    text_state *state = self->state;
    chunk *now = &state->now;
    const uint64_t skipped = now->begin; /* the first chunk begins where the file begins */
    uint64_t from, to;
    uc_status status = find_start(&from, self, self->range.from);
    if (status == UC_OK)
        status = find_start(&to, self, self->range.to);
    if (status != UC_OK)
        return status;
    if (from < skipped)
        from = skipped;
    status = uc_input_window(self->input, from, to);
    state->before = from;
    state->line = 0;
    state->read_ended = false;
    if (status != UC_OK)
        return status;
    return fill_chunk(now, self, NULL, 0);
}

static void free_chunk(chunk *self, const uc_text_hooks *hooks)
{
    for (size_t i = 0; i < self->block_room; i++) {
        uc_free(self->blocks[i].names);
        if (hooks->free_own && self->blocks[i].own)
            hooks->free_own(self->blocks[i].own);
    }
    uc_free(self->blocks);
    uc_free(self->text);
}

void uc_text_end(uc_reader *self)
{
    text_state *state = self->state;
    if (!state)
        return;
    if (state->free_layout)
        state->free_layout(state->layout);
    free_chunk(&state->now, &state->hooks);
    free_chunk(&state->next, &state->hooks);
    uc_free(state->read_sentence);
    uc_free(state);
    self->state = NULL;
}

/* ---- for formats that look at the first line ---- */

const char *uc_text_first_line(size_t *length, size_t *number, const uc_reader *self, char comment)
{
    const text_state *state = self->state;
    const char *line = state->now.text + state->now.begin, *const end = state->now.text + state->now.end;
    for (*number = state->line + 1; line < end; (*number)++) {
        const char *newline = rawmemchr(line, '\n'), *p = line;
        while (uc_is_blank(*p))
            p++;
        if (self->quoted && p != newline) {
            const char *end_of_record = uc_record_end(line, line, end, self->delimiter);
            newline = end_of_record ? end_of_record : newline;
        }
        if (p != newline && (!comment || *p != comment)) {
            *length = (size_t)(newline - line) - (newline[-1] == '\r');
            return line;
        }
        line = newline + 1;
    }
    return NULL;
}

const char *uc_text_chunk_end(const uc_reader *self)
{
    const text_state *state = self->state;
    return state->now.text + state->now.end;
}

void uc_text_skip_line(uc_reader *self, const char *line, size_t number)
{
    text_state *state = self->state;
    chunk *now = &state->now;
    const char *newline = rawmemchr(line, '\n');
    if (self->quoted) {
        const char *end = uc_record_end(line, line, now->text + now->end, self->delimiter);
        for (; end && newline < end; number++)
            newline = rawmemchr(newline + 1, '\n');
    }
    now->begin = (size_t)(newline - now->text) + 1;
    state->line = number;
    (void)cut_blocks(now, self); /* cannot fail: there are no more blocks than before */
}

void uc_text_set_hooks(uc_reader *self, const uc_text_hooks *hooks)
{
    text_state *state = self->state;
    state->hooks = *hooks;
    for (size_t i = 0; i < state->now.block_count && hooks->bound; i++)
        hooks->bound(&state->now.blocks[i], state->layout);
}

void *uc_text_layout(const uc_reader *self)
{
    const text_state *state = self->state;
    return state->layout;
}

void uc_text_set_layout(uc_reader *self, void *layout, void (*free_layout)(void *layout))
{
    text_state *state = self->state;
    state->layout = layout;
    state->free_layout = free_layout;
}
