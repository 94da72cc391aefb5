/*
 * Reads and writes LIBLINEAR's text models.
 *
 * They are written as MCSVM_CS, the only solver type whose prediction is the argmax over one weight vector
 * per class for two classes, too. Scaling is folded into the weights, and all constants into LIBLINEAR's bias
 * term:
 *
 *   sum_j w_j (x_j - shift_j) factor_j + B w_0
 *     =  sum_j (w_j factor_j) x_j + (B w_0 - sum_j w_j factor_j shift_j)
 *
 * Scaling to unit length divides all scores of a row by the same number, which does not change the argmax as
 * long as no constant is added.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "model/model.h"

/* ---- export ---- */

static uc_status check_labels(const uc_model *self, const char *path)
{
    for (size_t k = 0; k < self->classes.count; k++) {
        const char *name = self->classes.text[k];
        const size_t sign = name[0] == '-' || name[0] == '+';
        uint64_t number;
        if (!uc_parse_count(&number, name + sign, strlen(name + sign)) || number > INT_MAX)
            return uc_fail(UC_ERR_INVALID,
                           "%s: LIBLINEAR models need integer labels, but there is a class '%s'", path, name);
        double value, previous = NAN; /* classes are sorted by number */
        (void)uc_parse_real(&value, name, strlen(name));
        if (k > 0)
            (void)uc_parse_real(&previous, self->classes.text[k - 1], strlen(self->classes.text[k - 1]));
        if (value == previous)
            return uc_fail(UC_ERR_INVALID, "%s: classes '%s' and '%s' are the same label for LIBLINEAR", path,
                           self->classes.text[k - 1], name);
    }
    return UC_OK;
}

static double folded_weight(const uc_model *self, size_t feature, size_t cls)
{
    const double weight = uc_model_weight(self, feature, cls);
    if (!self->preprocessing.factor)
        return weight;
    return weight * self->preprocessing.factor[feature];
}

static double folded_offset(const uc_model *self, size_t cls)
{
    double offset = uc_model_offset(self, cls);
    for (size_t j = 0; j < self->features && self->preprocessing.shift; j++)
        offset -= folded_weight(self, j, cls) * self->preprocessing.shift[j];
    return offset;
}

static uc_status write_header(uc_output *output, const uc_model *self, bool constant)
{
    const size_t K = self->classes.count;
    uc_status status = uc_output_printf(output, "solver_type MCSVM_CS\nnr_class %zu\nlabel", K);
    for (size_t k = 0; k < K && status == UC_OK; k++) {
        const char *name = self->classes.text[k];
        if (name[0] == '+')
            name++;
        status = uc_output_printf(output, " %s", name);
    }
    if (status != UC_OK)
        return status;
    const int bias = constant ? 1 : -1;
    return uc_output_printf(output, "\nnr_feature %zu\nbias %d\nw\n", self->features, bias);
}

/* Writes the weights of all classes for a feature, or their constants if `feature` is one past the last. */
static uc_status write_line(uc_output *output, const uc_model *self, size_t feature)
{
    uc_status status = UC_OK;
    for (size_t k = 0; k < self->classes.count && status == UC_OK; k++) {
        char text[32];
        if (feature < self->features)
            uc_print_real(text, sizeof text, 17, folded_weight(self, feature, k));
        else
            uc_print_real(text, sizeof text, 17, folded_offset(self, k));
        status = uc_output_printf(output, "%s ", text);
    }
    if (status != UC_OK)
        return status;
    return uc_output_write(output, "\n", 1);
}

static uc_status write_model(uc_output *output, const uc_model *self)
{
    const bool constant = self->bias != 0.0 || self->preprocessing.shift;
    uc_status status = write_header(output, self, constant);
    for (size_t j = 0; j < self->features + constant && status == UC_OK; j++)
        status = write_line(output, self, j);
    return status;
}

uc_status uc_model_write_liblinear(const uc_model *self, uc_output *output)
{
    const char *path = uc_output_name(output);
    if (self->preprocessing.map || self->preprocessing.views)
        return uc_fail(UC_ERR_INVALID, "%s: a model with a map cannot be written as a LIBLINEAR model", path);
    if (self->preprocessing.scaling == UC_SCALE_TERMS)
        return uc_fail(UC_ERR_INVALID,
                       "%s: a model of the logarithms of counts cannot be written as a LIBLINEAR model",
                       path);
    if (self->preprocessing.bend)
        return uc_fail(UC_ERR_INVALID, "%s: a model of bent columns cannot be written as a LIBLINEAR model",
                       path);
    if ((self->preprocessing.normalize || self->preprocessing.normalize_input) && self->bias != 0.0)
        return uc_fail(
            UC_ERR_INVALID,
            "%s: a model with rows of unit length and a bias cannot be written as a LIBLINEAR model", path);
    const uc_status status = check_labels(self, path);
    if (status != UC_OK)
        return status;
    return write_model(output, self);
}

uc_status uc_model_export_liblinear(const uc_model *self, const char *path)
{
    uc_output *output = NULL;
    const uc_status status = uc_output_open(&output, path);
    if (status != UC_OK)
        return status;
    return uc_output_end(output, uc_model_write_liblinear(self, output), true);
}

/* ---- import ---- */

typedef struct parser {
    const char *at, *end;
    const char *path;
    size_t line;
} parser;

static uc_status refuse(const parser *self, const char *what)
{
    return uc_fail(UC_ERR_FORMAT, "%s:%zu: %s", self->path, self->line, what);
}

/* The next word; empty at the end of the text. */
static size_t next_word(parser *self, const char **word)
{
    while (self->at < self->end && isspace((unsigned char)*self->at))
        self->line += *self->at++ == '\n';
    *word = self->at;
    while (self->at < self->end && !isspace((unsigned char)*self->at))
        self->at++;
    return (size_t)(self->at - *word);
}

static bool is_word(const char *word, size_t length, const char *expected)
{
    return length == strlen(expected) && strncmp(word, expected, length) == 0;
}

static uc_status next_real(double *out, parser *self)
{
    const char *word;
    const size_t length = next_word(self, &word);
    if (length == 0)
        return refuse(self, "the file ends too early");
    if (!uc_parse_real(out, word, length) || !isfinite(*out))
        return refuse(self, "a number was expected");
    return UC_OK;
}

static uc_status next_count(size_t *out, parser *self, uint64_t low, const char *what)
{
    const char *word;
    const size_t length = next_word(self, &word);
    uint64_t number;
    if (!uc_parse_count(&number, word, length) || number < low || number > INT_MAX)
        return refuse(self, what);
    *out = (size_t)number;
    return UC_OK;
}

typedef struct liblinear_header {
    size_t classes, features;
    double bias;
    bool has_solver, crammer_singer;
    uc_names labels; /* in the file's order */
} liblinear_header;

static uc_status read_solver(liblinear_header *header, parser *self)
{
    static const char *const classifiers[] = {
        "L2R_LR",   "L2R_L2LOSS_SVC_DUAL", "L2R_L2LOSS_SVC", "L2R_L1LOSS_SVC_DUAL",
        "MCSVM_CS", "L1R_L2LOSS_SVC",      "L1R_LR",         "L2R_LR_DUAL"};
    const char *word;
    const size_t length = next_word(self, &word);
    for (size_t i = 0; i < sizeof classifiers / sizeof *classifiers; i++)
        if (is_word(word, length, classifiers[i])) {
            header->has_solver = true;
            header->crammer_singer = strcmp(classifiers[i], "MCSVM_CS") == 0;
            return UC_OK;
        }
    return refuse(self, "the solver type is not one of LIBLINEAR's classifiers");
}

static uc_status read_labels(liblinear_header *header, parser *self)
{
    for (size_t k = 0; k < header->classes; k++) {
        const char *word;
        const size_t length = next_word(self, &word);
        double number;
        uint32_t index;
        if (!uc_parse_real(&number, word, length))
            return refuse(self, "a label was expected");
        if (!uc_is_name(word, length))
            return refuse(self, "a label has control characters or is not UTF-8 text");
        const uc_status status = uc_names_add(&index, &header->labels, word, length);
        if (status != UC_OK)
            return status;
        if (index != k)
            return refuse(self, "a label occurs twice");
    }
    return UC_OK;
}

/* Reads the value that follows `word` in the header. */
static uc_status read_member(liblinear_header *header, parser *self, const char *word, size_t length)
{
    if (is_word(word, length, "solver_type"))
        return read_solver(header, self);
    if (is_word(word, length, "nr_class"))
        return next_count(&header->classes, self, 2, "nr_class must be a whole number of at least 2");
    if (is_word(word, length, "label"))
        return read_labels(header, self);
    if (is_word(word, length, "nr_feature"))
        return next_count(&header->features, self, 0, "nr_feature must be a whole number");
    if (is_word(word, length, "bias"))
        return next_real(&header->bias, self);
    if (length == 0)
        return refuse(self, "the file ends too early");
    return refuse(self, "an unknown word in the header");
}

static uc_status read_header(liblinear_header *header, parser *self)
{
    const char *word;
    size_t length;
    while (length = next_word(self, &word), !is_word(word, length, "w")) {
        const uc_status status = read_member(header, self, word, length);
        if (status != UC_OK)
            return status;
    }
    if (!header->has_solver || header->classes == 0 || header->labels.count != header->classes)
        return refuse(self, "the header lacks solver_type, nr_class or label");
    return UC_OK;
}

static size_t vectors_of(const liblinear_header *header)
{
    const bool binary = header->classes == 2 && !header->crammer_singer;
    return binary ? 1 : header->classes;
}

/* place[k]: the position in the model of the file's k-th label. A binary model has one vector w, for its
 * first label against the second, which becomes +w/2 and -w/2. */
static uc_status read_weights(uc_model *model, const liblinear_header *header, const uint32_t *place,
                              parser *self)
{
    const size_t rows = header->features + (header->bias >= 0), vectors = vectors_of(header);
    for (size_t j = 0; j < rows; j++) {
        const size_t feature = j < header->features ? j + 1 : 0;
        double *w = model->weights + feature * model->stride;
        for (size_t k = 0; k < vectors; k++) {
            double value;
            const uc_status status = next_real(&value, self);
            if (status != UC_OK)
                return status;
            w[place[k]] = value;
            if (vectors == 1) {
                w[place[0]] = value / 2;
                w[place[1]] = -value / 2;
            }
        }
    }
    const char *word;
    if (next_word(self, &word) > 0)
        return refuse(self, "more weights than the header says");
    return UC_OK;
}

static uc_status read_liblinear(uc_model **out, parser *self)
{
    liblinear_header header = {.bias = -1.0};
    uc_names sorted = {0};
    uint32_t *place = NULL;
    uc_model *model = NULL;
    uc_status status = read_header(&header, self);
    if (status != UC_OK)
        goto cleanup;
    size_t weights; /* each takes at least two bytes of text, which is checked before allocating memory */
    if (!uc_size_mul(&weights, header.features, vectors_of(&header)) ||
        weights > (size_t)(self->end - self->at)) {
        status = refuse(self, "fewer weights than the header says");
        goto cleanup;
    }
    place = uc_alloc(header.classes, sizeof *place);
    status = UC_ERR_NOMEM;
    if (place)
        status = uc_names_copy(&sorted, &header.labels);
    if (status == UC_OK)
        status = uc_names_sort(&sorted, place);
    if (status == UC_OK)
        status = uc_model_create(&model, &sorted, header.features, header.features, "liblinear");
    if (status != UC_OK)
        goto cleanup;
    if (header.bias >= 0)
        model->bias = header.bias;
    model->preprocessing.cols = header.features;
    status = read_weights(model, &header, place, self);

cleanup:
    uc_free(place);
    uc_names_free(&sorted);
    uc_names_free(&header.labels);
    if (status == UC_OK)
        *out = model;
    else
        uc_model_free(model);
    return status;
}

uc_status uc_model_import_liblinear(uc_model **out, const char *path)
{
    uc_bytes bytes;
    uc_status status = uc_bytes_read(&bytes, path);
    if (status != UC_OK)
        return status;
    const char *text = (const char *)bytes.data;
    parser self = {text, text + bytes.length, strcmp(path, "-") == 0 ? "standard input" : path, 1};
    status = read_liblinear(out, &self);
    uc_bytes_free(&bytes);
    return status;
}
