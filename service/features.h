/* The features of an example as a client gives them, and the columns that they become.
 *
 *   features     native form of what came as JSON: numbers by position, by index or by name; also text by
 *                name
 *   dictionary   names that have a column, in the order in which they came
 *
 * Bytes of features are canonical: the same features have the same bytes, whatever order their names came in.
 * They are what the journal keeps. */
#ifndef SERVICE_FEATURES_H
#define SERVICE_FEATURES_H

#include <jansson.h>
#include <stdint.h>

#include "service/problem.h"

typedef enum features_kind { FEATURES_DENSE = 1, FEATURES_INDEXED, FEATURES_NAMED } features_kind;

typedef struct feature {
    uint32_t column;  /* indexed: from 0 */
    const char *name; /* named */
    const char *text; /* named: a category or words; NULL: a number */
    float value;
} feature;

typedef struct features {
    features_kind kind;
    size_t count;
    feature *items; /* indexed: by column; named: by name */
    char *texts;    /* what names and texts point into; NULL: into the bytes or JSON */
} features;         /* zero-initialised is empty and may be freed */

/* Numbers of features in one row, and of columns in one model. */
#define FEATURES_MOST 100000
#define FEATURES_MOST_COLUMNS 1000000

/* `at` begins the sentence: "features" or "examples[3].features". The texts stay the JSON's. */
bool features_read(features *out, const json_t *json, const char *at, problem *why);
/* The same of a kind that is known: {"1":2} may be a column or a name, if others were null. */
bool features_read_as(features *out, const json_t *json, features_kind kind, const char *at, problem *why);
void features_free(features *self);
/* Text of several words, by name; NULL: there is none. */
const char *features_words(const features *self);
/* Returns the canonical bytes, which the caller frees. */
char *features_bytes(const features *self, size_t *size);
/* Back from them; texts point into the bytes. false: they are no features. */
bool features_parse(features *out, const char *bytes, size_t size);
/* What features_read_as reads back, and the name of the kind that goes with it. */
json_t *features_json(const features *self);
const char *features_kind_name(features_kind kind);
/* The kind of that name; that of the JSON where there is none (NULL); 0: there is no such kind. */
features_kind features_named_kind(const json_t *name, const json_t *json);

typedef struct dictionary {
    features_kind kind; /* of the rows so far; 0: none came yet */
    uc_names columns;   /* "age", "city=Paris", "title~81920" */
    uc_names fields;    /* the names as they were given, and whether each is text: */
    char *is_text;
    size_t text_capacity;
} dictionary; /* zero-initialised is empty and may be freed */

/* The same columns and values for the same features and dictionary. */
typedef struct encoded {
    uc_row row;
    float *values;
    uint32_t *columns; /* NULL: dense */
} encoded;

/* New names get columns; on failure the dictionary is as it was. */
bool dictionary_encode(encoded *out, dictionary *self, const features *given, problem *why);
/* Without what has no column yet. */
bool dictionary_encode_known(encoded *out, const dictionary *self, const features *given, problem *why);
/* A copy of a row that is prepared already. */
encoded encoded_copy(uc_row row);
void encoded_free(encoded *self);
json_t *dictionary_json(const dictionary *self);
bool dictionary_restore(dictionary *out, const json_t *json);
void dictionary_free(dictionary *self);

#endif
