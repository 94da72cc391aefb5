/* Recognises the format of a data file from its first bytes. */
#include "data/recognise.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "data/delimited.h"
#include "data/npy.h"
#include "data/reader.h"

#define MODEL_MAGIC "\x89UCMODEL" /* for a better message; models are not read here */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the word is like `3:...`, `qid:...` or `bag:...`, without a comma or semicolon. */
static bool is_entry(const char *p, const char *end)
{
    const char *word = p;
    while (p < end && is_digit(*p))
        p++;
    if (p == word && end - p > 3 && (memcmp(p, "qid", 3) == 0 || memcmp(p, "bag", 3) == 0))
        p += 3;
    if (p == word || p == end || *p != ':')
        return false;
    for (; p < end && !uc_is_blank(*p); p++)
        if (*p == ',' || *p == ';')
            return false;
    return true;
}

/* Text is LIBSVM if its first line contains no separator of columns, or if its first or second word is
 * column:value. */
static uc_format recognise_line(const char *p, const char *end)
{
    const size_t length = (size_t)(end - p);
    const bool bars = memchr(p, '|', length) != NULL && memchr(p, ':', length) == NULL;
    if (!memchr(p, ',', length) && !memchr(p, ';', length) && !memchr(p, '\t', length) && !bars)
        return UC_FORMAT_LIBSVM;
    if (is_entry(p, end))
        return UC_FORMAT_LIBSVM;
    while (p < end && !uc_is_blank(*p))
        p++;
    while (p < end && uc_is_blank(*p))
        p++;
    return is_entry(p, end) ? UC_FORMAT_LIBSVM : UC_FORMAT_CSV;
}

/* Whether the line begins with a brace and a quoted name, or an empty object; a label may begin with a brace,
 * too. */
static bool is_object(const char *p, const char *end)
{
    if (p == end || *p != '{')
        return false;
    for (p++; p < end && uc_is_blank(*p);)
        p++;
    return p == end || *p == '"' || *p == '}';
}

/* The first line that is neither blank nor a comment decides. Text without such a line is LIBSVM without
 * examples. */
static uc_format recognise_text(const char *p, const char *end)
{
    while (p < end) {
        const char *line_end = memchr(p, '\n', (size_t)(end - p));
        if (!line_end)
            line_end = end;
        while (p < line_end && uc_is_blank(*p))
            p++;
        const char *last = line_end;
        while (last > p && uc_is_blank(last[-1]))
            last--;
        if (is_object(p, last))
            return UC_FORMAT_JSONL;
        if (p < last && *p != '#')
            return recognise_line(p, uc_header_end(p, last, end));
        if (line_end == end)
            break;
        p = line_end + 1;
    }
    return UC_FORMAT_LIBSVM;
}

/* Returns the line at *at, without blanks around it, and moves *at after it; NULL: there is no complete
 * line. */
static const char *take_line(const char **last, const char **at, const char *end)
{
    const char *p = *at, *newline = memchr(p, '\n', (size_t)(end - p));
    if (!newline)
        return NULL;
    *at = newline + 1;
    while (p < newline && uc_is_blank(*p))
        p++;
    *last = newline;
    while (*last > p && uc_is_blank((*last)[-1]))
        (*last)--;
    return p;
}

/* Whether the first line that is not blank is a comment without separators; with some, it may be a header. */
static bool begins_with_comment(const char *text, const char *end)
{
    const char *last, *p;
    while ((p = take_line(&last, &text, end)) && p == last)
        continue;
    return p && *p == '#' && recognise_line(p, last) != UC_FORMAT_CSV;
}

/* For text whose first line looks like LIBSVM or is a comment: the number of the line at which a table begins
 * below it; 0: none. Lines above a table have no colon, unlike LIBSVM examples. */
static size_t table_below(const char *text, const char *end)
{
    enum { MOST_LINES = 20 };
    bool title = false;
    for (size_t number = 1; number <= MOST_LINES; number++) {
        const char *last, *p = take_line(&last, &text, end);
        if (!p)
            break;
        if (p == last)
            continue;
        if (*p == '#') {
            title = true;
            continue;
        }
        if (recognise_line(p, last) == UC_FORMAT_CSV)
            return title ? number : 0;
        for (const char *word = p; word < last; word++)
            if (*word == ':')
                return 0;
        title = true;
    }
    return 0;
}

static bool begins_with(const char *bytes, size_t length, const char *magic)
{
    return length >= strlen(magic) && memcmp(bytes, magic, strlen(magic)) == 0;
}

/* Whether the text begins with [ and an object, which no supported format does. */
static bool begins_with_array(const char *bytes, size_t length)
{
    size_t i = uc_byte_order_mark(bytes, length);
    while (i < length && (uc_is_blank(bytes[i]) || bytes[i] == '\n'))
        i++;
    if (i == length || bytes[i] != '[')
        return false;
    for (i++; i < length && (uc_is_blank(bytes[i]) || bytes[i] == '\n');)
        i++;
    return i < length && bytes[i] == '{';
}

/* Describes text that is not a table but looks like the beginning of one, and what to do about it; NULL:
 * neither. */
static const char *odd_text(const char *p, const char *end)
{
    while (p < end && (uc_is_blank(*p) || *p == '\n'))
        p++;
    const size_t left = (size_t)(end - p);
    if (left >= 5 && (strncasecmp(p, "<html", 5) == 0 || strncasecmp(p, "<!doc", 5) == 0))
        return "an HTML page, perhaps one that says why a download failed";
    if (left >= 5 && memcmp(p, "<?xml", 5) == 0)
        return "an XML document: save its table as CSV first";
    if (left >= 6 && strncasecmp(p, "sep=", 4) == 0 && (p[5] == '\n' || p[5] == '\r'))
        return "its first line, sep=, is for Excel alone: take it out; the separator is found without it";
    return NULL;
}

/* UTF-16 begins with its byte order mark, or every other byte of its first two characters is zero, unlike in
 * any supported text. */
uc_status uc_refuse_utf16(const char *bytes, size_t length, const char *name)
{
    if (length < 2)
        return UC_OK;
    const unsigned first = (unsigned char)bytes[0], second = (unsigned char)bytes[1];
    const bool marked = (first == 0xff && second == 0xfe) || (first == 0xfe && second == 0xff);
    const bool little = length >= 4 && first && !second && bytes[2] && !bytes[3];
    const bool big = length >= 4 && !first && second && !bytes[2] && bytes[3];
    if (!marked && !little && !big)
        return UC_OK;
    const char *order = "";
    if (!marked)
        order = little ? "LE" : "BE";
    return uc_fail(UC_ERR_FORMAT,
                   "%s: text in UTF-16: convert it to UTF-8 first, as iconv -f UTF-16%s -t UTF-8 does", name,
                   order);
}

#define IMAGE                                                                                                \
    "an image, where rows of features are expected: make features of images first, as a pretrained network " \
    "does"
#define PICKLE "a pickle of Python: write what it holds as CSV or NPY first"

/* Describes a file that is no data file by its first bytes, and what to do about it; NULL: unknown. */
static const char *foreign_file(const char *bytes, size_t length)
{
    static const struct {
        const char *magic, *description;
    } kinds[] = {
        {MODEL_MAGIC, "a model, where data are expected"},
        {"\x89PNG", IMAGE},
        {"\xff\xd8\xff", IMAGE},
        {"GIF8", IMAGE},
        {"PAR1", "a Parquet file: write it as CSV first, as pandas.read_parquet(...).to_csv(...) does"},
        {"ARROW1",
         "an Arrow (Feather) file: write it as CSV first, as pandas.read_feather(...).to_csv(...) does"},
        {"PK\x03\x04",
         "a ZIP archive, such as an Excel workbook (.xlsx): save the sheet as CSV, or unpack the "
         "archive, first"},
        {"\xd0\xcf\x11\xe0",
         "an old Office document, such as an Excel workbook (.xls): save the sheet as CSV "
         "first"},
        {"%PDF-", "a PDF document: take its table out as CSV first"},
        {"SQLite format 3", "an SQLite database: write its table as CSV first, as sqlite3 -csv -header does"},
        {"\x89HDF", "an HDF5 file: write its table as CSV or NPY first"},
        {"\x80\x04\x95", PICKLE},
        {"\x80\x05\x95", PICKLE},
        {"BZh91AY&SY", "a bzip2 archive: unpack it first, as bunzip2 does"},
        {"\xfd\x37zXZ", "an xz archive: unpack it first, as unxz does"},
        {"7z\xbc\xaf", "a 7z archive: unpack it first"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (begins_with(bytes, length, kinds[i].magic))
            return kinds[i].description;
    return NULL;
}

uc_status uc_recognise_format(uc_format *out, const char *bytes, size_t length, const char *name)
{
    unsigned char first = 0;
    if (length > 0)
        first = (unsigned char)bytes[0];
    const char *foreign = foreign_file(bytes, length);
    if (foreign)
        return uc_fail(UC_ERR_FORMAT, "%s: %s", name, foreign);
    if (begins_with(bytes, length, UC_DATA_MAGIC)) {
        *out = UC_FORMAT_UCD;
    } else if (uc_npy_begins(bytes, length)) {
        *out = UC_FORMAT_NPY;
    } else if (uc_refuse_utf16(bytes, length, name) != UC_OK) {
        return UC_ERR_FORMAT;
    } else if ((first >= 0x80 && first < 0xc0) || first >= 0xfe) { /* no text begins like this */
        return uc_fail(UC_ERR_FORMAT, "%s: neither LIBSVM nor CSV text, and not an NPY or UCD file", name);
    } else if (!memchr(bytes, '\n', length) && memchr(bytes, '\r', length > 0 ? length - 1 : 0)) {
        return uc_fail(UC_ERR_FORMAT,
                       "%s: its lines end with a carriage return alone: write line feeds first, as tr '\\r' "
                       "'\\n' does",
                       name);
    } else if (begins_with_array(bytes, length)) {
        return uc_fail(
            UC_ERR_FORMAT,
            "%s: a JSON array, where lines with an object each are expected: jq -c '.[]' writes them", name);
    } else {
        const char *text = bytes + uc_byte_order_mark(bytes, length), *const end = bytes + length;
        const char *odd = odd_text(text, end);
        if (odd)
            return uc_fail(UC_ERR_FORMAT, "%s: %s", name, odd);
        *out = recognise_text(text, end);
        const bool titled =
            *out == UC_FORMAT_LIBSVM || (*out == UC_FORMAT_CSV && begins_with_comment(text, end));
        const size_t line = titled ? table_below(text, end) : 0;
        if (line > 0)
            return uc_fail(
                UC_ERR_FORMAT,
                "%s: a table seems to begin at line %zu, below lines without columns: take out what "
                "is above the names of the columns",
                name, line);
    }
    return UC_OK;
}

uc_status uc_recognise_json(uc_read_settings *settings, const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count && settings->format == UC_FORMAT_AUTO; i++) {
        uc_file_look look;
        uc_input *input;
        const char *bytes;
        size_t length;
        uc_format format;
        if (uc_look_at_file(&look, paths[i]) != UC_OK || look.bytes == 0)
            continue; /* problems are reported when it is read */
        uc_status status = uc_input_open(&input, paths[i]);
        if (status != UC_OK)
            return status;
        status = uc_input_peek(&bytes, &length, input);
        const bool json = status == UC_OK && length > 0 &&
                          uc_recognise_format(&format, bytes, length, paths[i]) == UC_OK &&
                          format == UC_FORMAT_JSONL;
        uc_input_close(input);
        if (json)
            settings->format = UC_FORMAT_JSONL;
        if (status != UC_OK || length > 0)
            return status;
    }
    return UC_OK;
}

uc_status uc_look_at_file(uc_file_look *out, const char *path)
{
    uc_input *input;
    const char *head;
    size_t length;
    struct stat info;
    *out = (uc_file_look){0};
    if (strcmp(path, "-") == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode)))
        return UC_OK; /* bytes from a pipe can be read only once */
    uc_status status = uc_input_open(&input, path);
    if (status != UC_OK)
        return status;
    status = uc_input_peek(&head, &length, input);
    if (status == UC_OK)
        *out = (uc_file_look){
            .bytes = uc_input_total(input),
            .can_be_cut = uc_input_file(input) >= 0 && !uc_npy_begins(head, length),
            .is_ucd = begins_with(head, length, UC_DATA_MAGIC),
        };
    uc_input_close(input);
    return status;
}
