/* Bodies of proposals: any bytes are rejected or become features whose bytes are canonical and whose columns
 * ascend. */
#define _GNU_SOURCE
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/files.h"
#include "service/features.h"

static void check_row(const encoded *line)
{
    for (size_t i = 0; i < line->row.count; i++) {
        CHECK(isfinite(line->values[i]));
        CHECK(!line->columns || i == 0 || line->columns[i - 1] < line->columns[i]);
    }
}

/* The features give the same bytes again, and the same row from a dictionary that already has the names. */
static void check_features(const features *given)
{
    size_t size, again;
    char *bytes = features_bytes(given, &size);
    features parsed;
    CHECK(features_parse(&parsed, bytes, size) && parsed.count == given->count);
    char *same = features_bytes(&parsed, &again);
    CHECK(again == size && memcmp(bytes, same, size) == 0);
    dictionary names = {0};
    encoded first, second;
    problem why = {0};
    if (dictionary_encode(&first, &names, given, &why)) {
        check_row(&first);
        CHECK(dictionary_encode_known(&second, &names, &parsed, &why));
        CHECK(second.row.count == first.row.count);
        encoded_free(&first);
        encoded_free(&second);
    }
    json_t *kept = dictionary_json(&names);
    dictionary restored;
    CHECK(dictionary_restore(&restored, kept) && restored.columns.count == names.columns.count);
    json_decref(kept);
    dictionary_free(&restored);
    dictionary_free(&names);
    json_t *shown = features_json(&parsed);
    features read;
    CHECK(shown && features_read_as(&read, shown, parsed.kind, "features", &why));
    char *copied = features_bytes(&read, &again);
    CHECK(again == size && memcmp(bytes, copied, size) == 0);
    features_free(&read);
    json_decref(shown);
    free(copied);
    features_free(&parsed);
    free(same);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    features given;
    problem why = {0};
    json_t *json = json_loadb((const char *)bytes, length, JSON_REJECT_DUPLICATES, NULL);
    if (json && features_read(&given, json, "features", &why)) {
        check_features(&given);
        features_free(&given);
    } else {
        CHECK(!json || (why.status == 400 && why.detail[0]));
    }
    json_decref(json);
    if (features_parse(&given, (const char *)bytes, length)) /* as if from a damaged journal */
        features_free(&given);
    return 0;
}
