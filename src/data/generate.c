/*
 * The artificial problems of the papers: labelled points in the plane.
 *
 * uma-circle      K unit weight vectors w_q and the points x, all uniform on the unit circle; the class of x
 *                 is argmax_q <w_q, x>, and points whose two best classes differ by less than the margin are
 *                 drawn again. Neighbouring weights may be so close that the margin leaves nothing of a
 *                 class: the weights are drawn again until every class keeps 1% of the circle.
 *                 (Louche, Ralaivola: Unconfused ultraconservative multiclass algorithms, section 4.1)
 * copa-gaussians  Gaussians at (0,1), (1,0), (-1,0); the first one has nearly all of the examples.
 *                 (Ralaivola: Confusion-based online learning and a passive-aggressive scheme, section 4)
 * cspa-gaussians  Gaussians with equal numbers of examples at (1,1), (1,-1), (-1,1), (-1,-1);
 *                 --sigma is a variance.
 *                 (Kaneko et al.: Online multiclass classification based on prediction margin for partial
 *                 feedback)
 * rp-*            points uniform on [-10,10]^2, two classes; the shapes are given at their functions.
 *                 (Stempfel, Ralaivola: Learning kernel perceptrons on noisy data and random projections,
 *                 section 5.2)
 *
 * A label is determined by the coordinates as they are stored, in float, so the definition holds exactly for
 * every example. The problem, the training examples and the test examples each have a random sequence, so
 * that none depends on how many examples of another are drawn.
 */
#include "unconfuse/dataset.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "data/dataset.h"

#define SEQUENCE_PROBLEM UINT64_C(0x67656e2d70) /* "gen-p" */
#define SEQUENCE_TRAIN UINT64_C(0x67656e2d74)   /* "gen-t" */
#define SEQUENCE_TEST UINT64_C(0x67656e2d75)
#define SEQUENCE_FLIPS UINT64_C(0x67656e2d66)

#define PI 3.14159265358979323846
#define HALF_SIDE 10.0 /* of the square in the rp problems */

#define CIRCLE_CLASSES 20
#define CIRCLE_POINTS 1000 /* at which a draw of the weights is evaluated */
#define CIRCLE_LEAST 10    /* points that every class must keep: 1% */
#define CIRCLE_DRAWS 20000

/* ---- settings ---- */

typedef struct circle_settings {
    double noise_rate; /* first in every struct, where uc_generator_run reads it */
    uint64_t classes;
    double margin;
} circle_settings;

typedef struct copa_settings {
    double noise_rate;
    double deviation, majority;
} copa_settings;

typedef struct cspa_settings {
    double noise_rate;
    double sigma;
} cspa_settings;

typedef struct ellipses_settings {
    double noise_rate;
    double distance, width, height;
} ellipses_settings;

typedef struct radii_settings { /* of ring and dart */
    double noise_rate;
    double inner, outer;
    uint64_t sectors;
} radii_settings;

typedef struct chess_settings {
    double noise_rate;
    uint64_t squares;
} chess_settings;

typedef struct hyper_settings {
    double noise_rate;
    double product;
} hyper_settings;

typedef union any_settings {
    double noise_rate;
    circle_settings circle;
    copa_settings copa;
    cspa_settings cspa;
    ellipses_settings ellipses;
    radii_settings radii;
    chess_settings chess;
    hyper_settings hyper;
} any_settings;

#define NOISE_RATE                                                                                           \
    {                                                                                                        \
        .name = "noise-rate", .type = UC_OPTION_REAL, .offset = offsetof(any_settings, noise_rate),          \
        .standard = "0", .high = 1,                                                                          \
        .help = "share of training labels that are replaced by another class; the test labels stay clean"    \
    }

static const uc_option circle_options[] = {
    {.name = "classes",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(circle_settings, classes),
     .standard = "10",
     .low = 2,
     .high = CIRCLE_CLASSES,
     .help = "number of classes; each has one weight vector"},
    {.name = "margin",
     .type = UC_OPTION_REAL,
     .offset = offsetof(circle_settings, margin),
     .standard = "0.025",
     .low = 0,
     .high = 1,
     .help = "least difference between the two best scores of a point"},
    NOISE_RATE,
    {0},
};
static const uc_option copa_options[] = {
    {.name = "deviation",
     .type = UC_OPTION_REAL,
     .offset = offsetof(copa_settings, deviation),
     .standard = "0.5",
     .low = 0,
     .high = 1e6,
     .help = "standard deviation of the Gaussians"},
    {.name = "majority",
     .type = UC_OPTION_REAL,
     .offset = offsetof(copa_settings, majority),
     .standard = "0.9",
     .low = 0,
     .high = 1,
     .help = "share of the first class; each of the others gets half of what is left"},
    NOISE_RATE,
    {0},
};
static const uc_option cspa_options[] = {
    {.name = "sigma",
     .type = UC_OPTION_REAL,
     .offset = offsetof(cspa_settings, sigma),
     .standard = "0.3",
     .low = 0,
     .high = 1e6,
     .help = "variance of the Gaussians"},
    NOISE_RATE,
    {0},
};
static const uc_option ellipses_options[] = {
    {.name = "distance",
     .type = UC_OPTION_REAL,
     .offset = offsetof(ellipses_settings, distance),
     .standard = "5",
     .low = 0,
     .high = HALF_SIDE,
     .help = "distance of the centres from the vertical axis"},
    {.name = "width",
     .type = UC_OPTION_REAL,
     .above_low = true,
     .offset = offsetof(ellipses_settings, width),
     .standard = "2.5",
     .low = 0,
     .high = HALF_SIDE,
     .help = "horizontal semi-axis of the ellipses"},
    {.name = "height",
     .type = UC_OPTION_REAL,
     .above_low = true,
     .offset = offsetof(ellipses_settings, height),
     .standard = "5",
     .low = 0,
     .high = HALF_SIDE,
     .help = "vertical semi-axis of the ellipses"},
    NOISE_RATE,
    {0},
};
static const uc_option ring_options[] = {
    {.name = "inner",
     .type = UC_OPTION_REAL,
     .offset = offsetof(radii_settings, inner),
     .standard = "4",
     .low = 0,
     .high = 15,
     .help = "inner radius"},
    {.name = "outer",
     .type = UC_OPTION_REAL,
     .offset = offsetof(radii_settings, outer),
     .standard = "8",
     .low = 0,
     .high = 15,
     .help = "outer radius"},
    NOISE_RATE,
    {0},
};
static const uc_option chess_options[] = {
    {.name = "squares",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(chess_settings, squares),
     .standard = "3",
     .low = 1,
     .high = 1000,
     .help = "number of squares per side"},
    NOISE_RATE,
    {0},
};
static const uc_option dart_options[] = {
    {.name = "inner",
     .type = UC_OPTION_REAL,
     .offset = offsetof(radii_settings, inner),
     .standard = "3.5",
     .low = 0,
     .high = 15,
     .help = "radius of the inner circle"},
    {.name = "outer",
     .type = UC_OPTION_REAL,
     .offset = offsetof(radii_settings, outer),
     .standard = "7",
     .low = 0,
     .high = 15,
     .help = "radius of the outer circle"},
    {.name = "sectors",
     .type = UC_OPTION_COUNT,
     .offset = offsetof(radii_settings, sectors),
     .standard = "4",
     .low = 2,
     .high = 1000,
     .help = "number of sectors; with an even number all neighbours differ"},
    NOISE_RATE,
    {0},
};
static const uc_option hyper_options[] = {
    {.name = "product",
     .type = UC_OPTION_REAL,
     .offset = offsetof(hyper_settings, product),
     .standard = "4",
     .low = 0,
     .high = HALF_SIDE * HALF_SIDE,
     .help = "the hyperbolas are where |xy| has this value"},
    NOISE_RATE,
    {0},
};

/* ---- the problems ---- */

/* What is drawn once per problem, and the state of one sample of it. */
typedef struct problem {
    const any_settings *settings;
    double weights[CIRCLE_CLASSES][2]; /* uma-circle */
    size_t left[4];                    /* cspa-gaussians: examples of each class still to be drawn */
} problem;

static void uniform_on_circle(double point[2], uc_rng *rng)
{
    const double angle = 2.0 * PI * uc_rng_uniform(rng);
    point[0] = cos(angle);
    point[1] = sin(angle);
}

/* The class of a point, and its margin over the second best. */
static uint32_t circle_class(double *margin, const problem *self, double x, double y)
{
    uint32_t best = 0;
    double first = -INFINITY, second = -INFINITY;
    for (uint32_t q = 0; q < self->settings->circle.classes; q++) {
        const double score = self->weights[q][0] * x + self->weights[q][1] * y;
        second = fmax(second, fmin(first, score));
        if (score > first) {
            first = score;
            best = q;
        }
    }
    *margin = first - second;
    return best;
}

static bool every_class_survives(const problem *self)
{
    size_t kept[CIRCLE_CLASSES] = {0};
    for (size_t i = 0; i < CIRCLE_POINTS; i++) {
        const double angle = 2.0 * PI * (double)i / CIRCLE_POINTS;
        double margin;
        const uint32_t q = circle_class(&margin, self, cos(angle), sin(angle));
        kept[q] += margin >= self->settings->circle.margin;
    }
    for (size_t q = 0; q < self->settings->circle.classes; q++)
        if (kept[q] < CIRCLE_LEAST)
            return false;
    return true;
}

static uc_status circle_prepare(problem *self, uc_rng *rng)
{
    const circle_settings *settings = &self->settings->circle;
    for (int draw = 0; draw < CIRCLE_DRAWS; draw++) {
        for (size_t q = 0; q < settings->classes; q++)
            uniform_on_circle(self->weights[q], rng);
        if (every_class_survives(self))
            return UC_OK;
    }
    return uc_fail(
        UC_ERR_INVALID,
        "uma-circle: none of %d draws of %u weight vectors leaves every class 1%% of the circle at margin "
        "%g; lower {margin} or {classes}",
        CIRCLE_DRAWS, (unsigned)settings->classes, settings->margin);
}

/* The loop ends, since each class is known to keep at least 1% of the circle. */
static uint32_t circle_draw(float point[2], problem *self, uc_rng *rng)
{
    double position[2], margin;
    uint32_t label;
    do {
        uniform_on_circle(position, rng);
        point[0] = (float)position[0];
        point[1] = (float)position[1];
        label = circle_class(&margin, self, (double)point[0], (double)point[1]);
    } while (margin < self->settings->circle.margin);
    return label;
}

static void gaussian(float point[2], const double centre[2], double deviation, uc_rng *rng)
{
    point[0] = (float)(centre[0] + deviation * uc_rng_normal(rng));
    point[1] = (float)(centre[1] + deviation * uc_rng_normal(rng));
}

static uint32_t copa_draw(float point[2], problem *self, uc_rng *rng)
{
    static const double centres[3][2] = {{0, 1}, {1, 0}, {-1, 0}};
    const copa_settings *settings = &self->settings->copa;
    const double rest = (1.0 - settings->majority) / 2.0;
    const double weights[3] = {settings->majority, rest, rest};
    const size_t label = uc_rng_weighted(rng, weights, 3);
    gaussian(point, centres[label], settings->deviation, rng);
    return (uint32_t)label;
}

/* All orders of the equally many examples per class are equally likely. */
static uint32_t cspa_draw(float point[2], problem *self, uc_rng *rng)
{
    static const double centres[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    uint64_t chosen = uc_rng_below(rng, self->left[0] + self->left[1] + self->left[2] + self->left[3]);
    uint32_t label = 0;
    while (chosen >= self->left[label])
        chosen -= self->left[label++];
    self->left[label]--;
    gaussian(point, centres[label], sqrt(self->settings->cspa.sigma), rng);
    return label;
}

static void uniform_on_square(float point[2], uc_rng *rng)
{
    point[0] = (float)(HALF_SIDE * (2.0 * uc_rng_uniform(rng) - 1.0));
    point[1] = (float)(HALF_SIDE * (2.0 * uc_rng_uniform(rng) - 1.0));
}

/* +1 inside one of two upright ellipses next to each other. */
static uint32_t ellipses_draw(float point[2], problem *self, uc_rng *rng)
{
    const ellipses_settings *settings = &self->settings->ellipses;
    uniform_on_square(point, rng);
    const double across = (fabs((double)point[0]) - settings->distance) / settings->width;
    const double up = (double)point[1] / settings->height;
    return across * across + up * up <= 1.0;
}

/* +1 between two circles. */
static uint32_t ring_draw(float point[2], problem *self, uc_rng *rng)
{
    uniform_on_square(point, rng);
    const double radius = hypot((double)point[0], (double)point[1]);
    return radius >= self->settings->radii.inner && radius <= self->settings->radii.outer;
}

static uint64_t chess_square(float coordinate, uint64_t squares)
{
    const double position = ((double)coordinate + HALF_SIDE) / (2.0 * HALF_SIDE) * (double)squares;
    const uint64_t square = (uint64_t)fmax(0.0, position);
    return uc_min_size(square, squares - 1); /* the right and upper edge belong to the last square */
}

/* +1 on the squares of the corners' colour. */
static uint32_t chess_draw(float point[2], problem *self, uc_rng *rng)
{
    const uint64_t squares = self->settings->chess.squares;
    uniform_on_square(point, rng);
    return (chess_square(point[0], squares) + chess_square(point[1], squares)) % 2 == 0;
}

/* Two circles make three rings; the outermost is the rest of the square. Sectors alternate, starting with +1
 * at the horizontal axis, and the colours are swapped from ring to ring. */
static uint32_t dart_draw(float point[2], problem *self, uc_rng *rng)
{
    const radii_settings *settings = &self->settings->radii;
    uniform_on_square(point, rng);
    const double radius = hypot((double)point[0], (double)point[1]);
    const uint64_t ring = (uint64_t)(radius >= settings->inner) + (uint64_t)(radius >= settings->outer);
    double turn = atan2((double)point[1], (double)point[0]) / (2.0 * PI);
    if (turn < 0.0)
        turn += 1.0;
    uint64_t sector = (uint64_t)(turn * (double)settings->sectors);
    if (sector == settings->sectors) /* a tiny negative angle may be rounded to a full turn */
        sector--;
    return (ring + sector) % 2 == 0;
}

/* +1 between the hyperbolas or right of the vertical axis, but not both. */
static uint32_t hyper_draw(float point[2], problem *self, uc_rng *rng)
{
    uniform_on_square(point, rng);
    const double x = (double)point[0], y = (double)point[1];
    return (fabs(x * y) < self->settings->hyper.product) != (x > 0.0);
}

static uc_status radii_prepare(problem *self, uc_rng *rng)
{
    (void)rng;
    const radii_settings *settings = &self->settings->radii;
    if (settings->inner >= settings->outer)
        return uc_fail(UC_ERR_INVALID, "{inner=%g} must be below {outer=%g}", settings->inner,
                       settings->outer);
    return UC_OK;
}

/* ---- the table ---- */

struct uc_generator {
    const char *name, *summary;
    const uc_option *options;
    size_t settings_size;
    size_t classes; /* 0: given by a setting; if 2, they are named -1 and +1, otherwise 1, 2, ... */
    size_t examples, test_examples;                   /* in the paper */
    uc_status (*prepare)(problem *self, uc_rng *rng); /* NULL: nothing to draw or check first */
    uint32_t (*draw)(float point[2], problem *self, uc_rng *rng);
};

static const uc_generator generators[] = {
    {"uma-circle", "classes on the unit circle, linearly separable with a margin", circle_options,
     sizeof(circle_settings), 0, 1000, 10000, circle_prepare, circle_draw},
    {"copa-gaussians", "three overlapping Gaussians, one of them with most of the examples", copa_options,
     sizeof(copa_settings), 3, 5000, 5000, NULL, copa_draw},
    {"cspa-gaussians", "four Gaussians at the corners of a square, equally many examples of each",
     cspa_options, sizeof(cspa_settings), 4, 4000, 4000, NULL, cspa_draw},
    {"rp-ellipses", "two ellipses in a square", ellipses_options, sizeof(ellipses_settings), 2, 2000, 2000,
     NULL, ellipses_draw},
    {"rp-ring", "a ring in a square", ring_options, sizeof(radii_settings), 2, 2000, 2000, radii_prepare,
     ring_draw},
    {"rp-chess", "a chess board", chess_options, sizeof(chess_settings), 2, 2000, 2000, NULL, chess_draw},
    {"rp-dart", "a dart board in a square", dart_options, sizeof(radii_settings), 2, 2000, 2000,
     radii_prepare, dart_draw},
    {"rp-hyper", "two hyperbolas and a line through a square", hyper_options, sizeof(hyper_settings), 2, 2000,
     2000, NULL, hyper_draw},
};

const uc_generator *uc_generator_at(size_t i)
{
    if (i >= sizeof generators / sizeof *generators)
        return NULL;
    return &generators[i];
}

const uc_generator *uc_generator_find(const char *name)
{
    for (size_t i = 0; i < sizeof generators / sizeof *generators; i++)
        if (strcmp(generators[i].name, name) == 0)
            return &generators[i];
    char list[256] = "";
    for (size_t i = 0, used = 0; i < sizeof generators / sizeof *generators; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", generators[i].name);
    (void)uc_fail(UC_ERR_OPTION, "there is no problem called %s to generate; there are %s", name, list);
    return NULL;
}

const char *uc_generator_name(const uc_generator *self)
{
    return self->name;
}

const char *uc_generator_summary(const uc_generator *self)
{
    return self->summary;
}

const uc_option *uc_generator_options(const uc_generator *self)
{
    return self->options;
}

size_t uc_generator_settings_size(const uc_generator *self)
{
    return self->settings_size;
}

/* ---- data sets ---- */

static uc_status name_classes(uc_names *names, const uc_generator *generator, const any_settings *settings)
{
    size_t classes = generator->classes;
    if (classes == 0)
        classes = (size_t)settings->circle.classes;
    for (size_t k = 0; k < classes; k++) {
        char name[24];
        uint32_t index;
        if (generator->classes == 2)
            snprintf(name, sizeof name, "%s", k ? "+1" : "-1");
        else
            snprintf(name, sizeof name, "%zu", k + 1);
        const uc_status status = uc_names_add(&index, names, name, strlen(name));
        if (status != UC_OK)
            return status;
    }
    return UC_OK;
}

static uc_status sample(uc_dataset *out, const uc_generator *generator, problem *self, size_t examples,
                        uc_rng rng)
{
    uc_dataset data = {0};
    uc_status status =
        uc_dataset_create(&data, &(uc_dataset_shape){.rows = examples, .cols = 2, .labels = true});
    if (status != UC_OK)
        return status;
    status = name_classes(&data.classes, generator, self->settings);
    if (status != UC_OK) {
        uc_dataset_free(&data);
        return status;
    }
    for (size_t k = 0; k < 4; k++)
        self->left[k] = (examples + 3 - k) / 4;
    for (size_t i = 0; i < examples; i++)
        data.y[i] = generator->draw(data.X.values + i * data.X.stride, self, &rng);
    *out = data;
    return UC_OK;
}

static void flip_labels(uc_dataset *data, double rate, uc_rng rng)
{
    const uint64_t others = data->classes.count - 1;
    for (size_t i = 0; i < data->X.rows; i++) {
        const bool flips = uc_rng_uniform(&rng) < rate;
        const uint32_t other = (uint32_t)uc_rng_below(&rng, others);
        if (flips)
            data->y[i] = other + (other >= data->y[i]);
    }
}

uc_status uc_generator_run(uc_dataset *train, uc_dataset *test, const uc_generator *generator,
                           const void *settings, size_t examples, size_t test_examples, uint64_t seed)
{
    any_settings given;
    memset(&given, 0, sizeof given);
    if (settings)
        memcpy(&given, settings, generator->settings_size);
    else
        uc_options_defaults(generator->options, &given);
    uc_status status = uc_options_check(generator->options, &given);
    problem self = {.settings = &given};
    uc_rng rng = uc_rng_make(seed, SEQUENCE_PROBLEM);
    if (status == UC_OK && generator->prepare)
        status = generator->prepare(&self, &rng);
    if (status != UC_OK)
        return status;

    if (examples == 0)
        examples = generator->examples;
    if (test_examples == 0)
        test_examples = generator->test_examples;
    uc_dataset first = {0}, second = {0};
    status = sample(&first, generator, &self, examples, uc_rng_make(seed, SEQUENCE_TRAIN));
    if (status == UC_OK && test)
        status = sample(&second, generator, &self, test_examples, uc_rng_make(seed, SEQUENCE_TEST));
    if (status != UC_OK) {
        uc_dataset_free(&first);
        return status;
    }
    flip_labels(&first, given.noise_rate, uc_rng_make(seed, SEQUENCE_FLIPS));
    *train = first;
    if (test)
        *test = second;
    return UC_OK;
}
