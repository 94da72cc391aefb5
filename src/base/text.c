/* Which text may be a name, and how text is made safe to show. */
#include <string.h>

#include "base/base.h"

/* The length of the UTF-8 character at p; 0 if it is not valid, a control character, or a byte order mark.
 * The latter is invisible, and concatenated files have it in the middle. */
static size_t character_length(const unsigned char *p, size_t left)
{
    if (p[0] < 0x80)
        return p[0] >= ' ' && p[0] != 0x7f;
    const size_t length = 2 + (size_t)(p[0] >= 0xe0) + (size_t)(p[0] >= 0xf0);
    if (p[0] < 0xc2 || p[0] > 0xf4 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    const bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    const bool surrogate = p[0] == 0xed && p[1] >= 0xa0;
    const bool beyond = p[0] == 0xf4 && p[1] >= 0x90;
    const bool byte_order_mark = p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf;
    if (overlong || surrogate || beyond || byte_order_mark)
        return 0;
    return length;
}

bool uc_is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        const size_t step = character_length((const unsigned char *)text + i, length - i);
        if (step == 0)
            return false;
        i += step;
    }
    return true;
}

bool uc_is_text(const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t step = character_length((const unsigned char *)text + i, length - i);
        if (text[i] == '\t' || text[i] == '\n' || text[i] == '\r')
            step = 1;
        if (step == 0)
            return false;
        i += step;
    }
    return true;
}

bool uc_is_old_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    return true;
}

/* U+0080 to U+009F: some terminals obey them as they obey ESC. */
static bool is_late_control(const unsigned char *p)
{
    return p[0] == 0xc2 && p[1] < 0xa0;
}

void uc_printable(char *out, size_t size, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *p = (const unsigned char *)text, *end = p + strlen(text);
    while (p < end) {
        const size_t length = character_length(p, (size_t)(end - p));
        const char escape[] = {'\\', 'x', digits[*p >> 4], digits[*p & 15]};
        const void *shown = p;
        size_t read = length, written = length;
        if (length == 0 || is_late_control(p)) {
            shown = escape;
            read = 1;
            written = sizeof escape;
        }
        if (written >= size)
            break;
        memcpy(out, shown, written);
        p += read;
        out += written;
        size -= written;
    }
    *out = '\0';
}

#define QUOTED_MOST ((size_t)40)

const char *uc_quote(char quoted[UC_QUOTE_SIZE], const char *text, size_t length)
{
    size_t end = length;
    if (length > QUOTED_MOST) {
        end = QUOTED_MOST - 3;
        while (end > 0 && (text[end] & 0xc0) == 0x80)
            end--; /* not within a character */
    }
    memcpy(quoted, text, end);
    if (!uc_is_name(quoted, end))
        for (size_t i = 0; i < end; i++)
            if (quoted[i] < ' ' || quoted[i] >= 0x7f)
                quoted[i] = '?';
    strcpy(quoted + end, length > QUOTED_MOST ? "..." : "");
    return quoted;
}
