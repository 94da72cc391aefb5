/*
 * Finds the name that a mistyped word was probably meant to be.
 *
 *   distance   the number of letters to change, add, remove or swap with their neighbour (optimal string
 *              alignment), ignoring case
 *
 * A name is near if the distance is at most a third of the longer of the two (or 1), if one of them begins
 * with the other, or if the word is a whole part of the name: `estimate` of `noise estimate`, `table1` of
 * `uma.table1`. Anything farther is more likely a wrong guess than a mistyped name, and a wrong suggestion is
 * worse than none.
 */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "unconfuse/names.h"

#define LONGEST 63        /* letters of a word that are compared */
#define SHORTEST_PREFIX 2 /* letters of a word that is the beginning or a part of a name */
#define SHORTEST_BEGINNING                                                                                   \
    4 /* letters of a name that a longer word begins with: `pa` is not near `pattern` */

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t edit_distance(const char *a, const char *b)
{
    /* of the table of distances between prefixes: this row and the two before it */
    size_t rows[3][LONGEST + 1];
    const size_t height = strnlen(a, LONGEST), width = strnlen(b, LONGEST);
    for (size_t j = 0; j <= width; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= height; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            const size_t changed = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            const size_t removed = uc_min_size(above[j], row[j - 1]) + 1;
            const bool swapped =
                i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
            row[j] = uc_min_size(changed, removed);
            if (swapped && before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
    }
    return rows[height % 3][width];
}

static bool begins_with(const char *text, const char *beginning, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!same_letter(text[i], beginning[i]))
            return false; /* also if the text ends here */
    return true;
}

/* Whether the word is one of the parts of the name, separated by spaces, dots and hyphens. */
static bool is_part(const char *name, const char *word)
{
    const size_t length = strlen(word);
    for (const char *part = name; length >= SHORTEST_PREFIX;) {
        const size_t part_length = strcspn(part, " .-");
        if (part_length == length && begins_with(part, word, length))
            return true;
        if (!part[part_length])
            return false;
        part += part_length + 1;
    }
    return false;
}

static bool is_near(const char *word, const char *name, size_t distance)
{
    const size_t length = strlen(word), name_length = strlen(name);
    const size_t longer = uc_max_size(length, name_length);
    if (longer <= LONGEST && distance <= uc_max_size(longer / 3, 1))
        return true;
    if (length < name_length && length >= SHORTEST_PREFIX && begins_with(name, word, length))
        return true;
    if (name_length < length && name_length >= SHORTEST_BEGINNING && begins_with(word, name, name_length))
        return true;
    return is_part(name, word);
}

const char *uc_names_nearest(const char *word, uc_name_at_fn *name_at, const void *user)
{
    const char *nearest = NULL;
    size_t least = 0;
    for (size_t i = 0;; i++) {
        const char *name = name_at(i, user);
        if (!name)
            return nearest;
        const size_t distance = edit_distance(word, name);
        if ((!nearest || distance < least) && is_near(word, name, distance)) {
            nearest = name;
            least = distance;
        }
    }
}
