/* The features of an example as a client gives them, and the columns that they become.
 *
 *   features     native form of the JSON: numbers by position, by index or by name; also text by name
 *   dictionary   names that have a column, in the order of arrival
 *
 * Bytes of features are canonical: the same features have the same bytes, whatever the order of their names.
 * The journal stores these bytes. */
#ifndef SERVICE_FEATURES_H
#define SERVICE_FEATURES_H

#include <jansson.h>
#include <stdint.h>

#include "service/problem.h"

typedef enum features_kind { FEATURES_DENSE = 1, FEATURES_INDEXED, FEATURES_NAMED } features_kind;

typedef struct feature {
    uint32_t column;  /* indexed: starts at 0 */
    const char *name; /* named */
    const char *text; /* named: a category or words; NULL: a number */
    float value;
} feature;

typedef struct features {
    features_kind kind;
    size_t count;
    feature *items; /* indexed: sorted by column; named: by name */
    char *texts;    /* what names and texts point to; NULL: the bytes or JSON */
} features;         /* empty and safe to free if zero-initialised */

/* Numbers of features in one row, and of columns in one model. */
#define FEATURES_MOST 100000
#define FEATURES_MOST_COLUMNS 1000000

/* `at` is the beginning of messages: "features" or "examples[3].features". Texts still belong to the JSON. */
bool features_read(features *out, const json_t *json, const char *at, problem *why);
/* The same for a known kind: {"1":2} may be a column or a name, if others were null. */
bool features_read_as(features *out, const json_t *json, features_kind kind, const char *at, problem *why);
void features_free(features *self);
/* The name of a feature whose text has several words; NULL if there is none. */
const char *features_words(const features *self);
/* Returns the canonical bytes, which the caller frees. */
char *features_bytes(const features *self, size_t *size);
/* Parses these; texts point into the bytes. false: not valid features. */
bool features_parse(features *out, const char *bytes, size_t size);
/* JSON that features_read_as can read again, and the name of its kind. */
json_t *features_json(const features *self);
const char *features_kind_name(features_kind kind);
/* The kind with that name; that of the JSON if there is no name (NULL); 0: no such kind. */
features_kind features_named_kind(const json_t *name, const json_t *json);

typedef struct dictionary {
    features_kind kind; /* of the rows so far; 0: no row yet */
    uc_names columns;   /* "age", "city=Paris", "title~81920" */
    uc_names fields;    /* the names as given, and whether each is text: */
    char *is_text;
    size_t text_capacity;
} dictionary; /* empty and safe to free if zero-initialised */

/* An encoded row; the same features and dictionary give the same columns and values. */
typedef struct encoded {
    uc_row row;
    float *values;
    uint32_t *columns; /* NULL: dense */
} encoded;

/* Adds columns for new names; on failure the dictionary is unchanged. */
bool dictionary_encode(encoded *out, dictionary *self, const features *given, problem *why);
/* Leaves out names that have no column yet. */
bool dictionary_encode_known(encoded *out, const dictionary *self, const features *given, problem *why);
/* Copies a row that is already prepared. */
encoded encoded_copy(uc_row row);
void encoded_free(encoded *self);
json_t *dictionary_json(const dictionary *self);
bool dictionary_restore(dictionary *out, const json_t *json);
void dictionary_free(dictionary *self);

#endif
