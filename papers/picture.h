/* A picture of tiles, each a square of the plane with regions and points; drawn instead of the panels. */
#ifndef PAPERS_PICTURE_H
#define PAPERS_PICTURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct tile {
    char *title;
    uint8_t *pixels; /* size x size, the lowest row first: positions in the picture's colours */
    float *points;   /* x and y of each */
    uint8_t *signs;  /* of each point: 0 or 1 */
    size_t point_count;
} tile;

typedef struct picture {
    size_t size;           /* pixels per side */
    double low, high;      /* the range of both axes */
    size_t lines, columns; /* of tiles */
    tile *tiles;           /* line by line */
    const char *const *colours, *const
                                    *meanings; /* of the pixel values, in order; end with NULL; not owned */
} picture;

/* All tiles are empty at first. */
picture *picture_create(size_t size, double low, double high, size_t lines, size_t columns);
void picture_free(picture *self); /* NULL is fine */
/* A gnuplot script that draws BASE.svg and BASE.png. */
void picture_write(const picture *self, FILE *script, const char *title, const char *base);

#endif
