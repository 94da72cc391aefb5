/* Pictures made of characters. The terminal decides which: coloured background, UTF-8 blocks, or ASCII. Its
 * width decides their size. */
#define _GNU_SOURCE /* strcasestr */
#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define USUAL_WIDTH 80
#define LONGEST_NAME 16    /* of a class, in characters */
#define MOST_CLASSES 40    /* more do not fit on a screen */
#define WIDEST_POINT 3     /* of a curve, in characters */
#define SHORTEST_CURVE 8   /* characters; a shorter curve shows nothing */
#define LEVELS 5           /* of shade, besides none */
#define HEIGHTS 8          /* of a curve */
#define VISIBLE_SHARE 0.01 /* a smaller share has no shade */

static bool is_terminal(FILE *file)
{
    return !app_comm && isatty(fileno(file));
}

/* The variable's value, or "" if it is not set. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

bool cli_has_colours(FILE *file)
{
    const char *terminal = variable("TERM");
    return is_terminal(file) && *terminal && strcmp(terminal, "dumb") != 0 && !*variable("NO_COLOR");
}

/* Decides by the first of the locale's variables that is set. The program itself stays in the locale C, so
 * that numbers have decimal points. */
static bool has_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = variable(variables[i]);
        if (*value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

static size_t terminal_width(FILE *file)
{
    struct winsize window;
    const bool known = ioctl(fileno(file), TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
    return known ? window.ws_col : USUAL_WIDTH;
}

/* ---- matrix ---- */

/* The shade grows with the square root, so that small shares are visible. */
static size_t level_of(double share)
{
    if (!(share >= VISIBLE_SHARE))
        return 0;
    const size_t level = (size_t)lround(LEVELS * sqrt(fmin(1, share)));
    return level > 0 ? level : 1;
}

/* Blue on the diagonal, where a class is called by its own name, and red elsewhere. */
static void draw_cell(FILE *file, size_t level, bool diagonal, size_t width, bool colours, bool utf8)
{
    static const int right[] = {255, 195, 153, 117, 75, 33}, wrong[] = {255, 224, 217, 210, 203, 160};
    static const char *const blocks[] = {"\u00b7", "\u2591", "\u2592", "\u2593", "\u2588", "\u2588"};
    static const char *const letters[] = {".", ":", "+", "*", "#", "@"};
    if (colours)
        fprintf(file, "\033[48;5;%dm%*s\033[0m", diagonal ? right[level] : wrong[level], (int)width, "");
    for (size_t i = 0; i < width && !colours; i++)
        fputs(utf8 ? blocks[level] : letters[level], file);
}

/* Explains the marks; colours need no explanation. The bounds are those of level_of. */
static void draw_key(FILE *file, size_t room, bool colours, bool utf8)
{
    const char *const key = utf8 ? "\u00b7 below 1%, \u2591 to 9%, \u2592 to 25%, \u2593 to 49%, \u2588 above"
                                 : ". below 1%, : to 9%, + to 25%, * to 49%, # to 81%, @ above";
    if (!colours && app_text_width(key) + 2 <= room)
        fprintf(file, "  %s\n", key);
}

/* Prints the beginning of a name, cut or padded to `width` characters. */
static void draw_name(FILE *file, const char *name, size_t width)
{
    size_t bytes = 0, letters = 0;
    while (name[bytes] && letters < width) {
        bytes++;
        while (((unsigned char)name[bytes] & 0xc0) == 0x80)
            bytes++;
        letters++;
    }
    fprintf(file, "  %.*s%*s ", (int)bytes, name, (int)(width - letters), "");
}

void cli_draw_matrix(FILE *file, const char *title, const double *shares, const uc_names *classes)
{
    const size_t K = classes->count;
    size_t first = 1;
    if (!is_terminal(file) || K > MOST_CLASSES)
        return;
    for (size_t k = 0; k < K; k++)
        if (app_text_width(classes->text[k]) > first)
            first = app_text_width(classes->text[k]);
    if (first > LONGEST_NAME)
        first = LONGEST_NAME;
    const size_t room = terminal_width(file), rest = first + 4;
    const size_t width = rest + 2 * K <= room ? 2 : 1;
    if (rest + K > room)
        return;
    const bool colours = cli_has_colours(file), utf8 = has_utf8();
    fprintf(file, "\n%s\n", title);
    for (size_t p = 0; p < K; p++) {
        draw_name(file, classes->text[p], first);
        for (size_t q = 0; q < K; q++)
            draw_cell(file, level_of(shares[p * K + q]), p == q, width, colours, utf8);
        fputc('\n', file);
    }
    draw_key(file, room, colours, utf8);
}

/* ---- curve ---- */

static void draw_height(FILE *file, double height, bool utf8)
{
    static const char *const blocks[HEIGHTS] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                                "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char letters[HEIGHTS + 1] = "_.,-~=*#";
    const size_t level = (size_t)fmin(HEIGHTS - 1, height * HEIGHTS);
    if (utf8)
        fputs(blocks[level], file);
    else
        fputc(letters[level], file);
}

void cli_draw_curve(FILE *file, const char *title, const double *shares, size_t count)
{
    if (!is_terminal(file) || count < 2)
        return;
    const size_t width = terminal_width(file), room = width > 2 ? width - 2 : 0;
    if (room < SHORTEST_CURVE)
        return;
    double low = shares[0], high = low;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, shares[i]);
        high = fmax(high, shares[i]);
    }
    const size_t drawn = count < room ? count : room;
    size_t wide = room / drawn; /* characters per point */
    if (wide > WIDEST_POINT)
        wide = WIDEST_POINT;
    const bool utf8 = has_utf8();
    fprintf(file, "\n%s: lowest %.1f%%, highest %.1f%%, last %.1f%%\n  ", title, 100 * low, 100 * high,
            100 * shares[count - 1]);
    for (size_t c = 0; c < drawn * wide; c++) {
        const double share = shares[c / wide * count / drawn];
        draw_height(file, high > low ? (share - low) / (high - low) : 0.5, utf8);
    }
    fputc('\n', file);
}
