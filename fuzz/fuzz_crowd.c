/* Crowd files from arbitrary bytes, with rows that the file names, and with five given rows of three classes.
 *
 * An accepted file is in the order that uc_crowd promises, and the posteriors of every method are
 * probabilities. */
#define _GNU_SOURCE
#include <math.h>

#include "base/base.h"
#include "fuzz/files.h"
#include "unconfuse/crowd.h"

static void check_crowd_names(const uc_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        const size_t length = strlen(names->text[i]);
        CHECK(length > 0 && uc_is_name(names->text[i], length));
        CHECK(uc_names_find(names, names->text[i], length) == i);
    }
}

static void check_order(const uc_crowd *crowd)
{
    CHECK(crowd->count > 0 && crowd->first[0] == 0 && crowd->first[crowd->rows] == crowd->count);
    for (size_t i = 0; i < crowd->rows; i++) {
        CHECK(crowd->first[i] <= crowd->first[i + 1]);
        for (size_t a = crowd->first[i]; a < crowd->first[i + 1]; a++) {
            CHECK(crowd->annotator[a] < crowd->annotators.count && crowd->label[a] < crowd->classes.count);
            CHECK(a == crowd->first[i] || crowd->annotator[a - 1] < crowd->annotator[a]);
        }
    }
}

static void check_posterior(const uc_consensus *self)
{
    const uc_posteriors *posterior = &self->posterior;
    for (size_t i = 0; i < posterior->rows; i++) {
        double sum = 0.0;
        for (size_t k = 0; k < posterior->classes; k++) {
            const double value = posterior->values[uc_posterior_at(posterior, i, k)];
            CHECK(value >= 0.0 && value <= 1.0);
            sum += value;
        }
        CHECK(fabs(sum - 1.0) < 1e-9);
    }
}

static void check_consensus(const uc_crowd *crowd)
{
    uc_consensus_settings settings = uc_consensus_defaults();
    settings.iterations = 5;
    for (int method = UC_CONSENSUS_AUDIT; method <= UC_CONSENSUS_ONE_COIN; method++) {
        uc_consensus consensus = {0};
        settings.method = method;
        if (uc_consensus_find(&consensus, crowd, NULL, NULL, &settings, &(uc_context){.threads = 1}) !=
            UC_OK) {
            CHECK(crowd->classes.count == 1);
            continue;
        }
        check_posterior(&consensus);
        for (size_t j = 0; j < crowd->annotators.count; j++) {
            CHECK(consensus.annotators[j].labels > 0);
            CHECK(consensus.annotators[j].accuracy >= 0.0 && consensus.annotators[j].accuracy <= 1.0);
        }
        uc_consensus_free(&consensus);
    }
}

static void read_crowd(const uint8_t *bytes, size_t length, const uc_crowd_frame *frame)
{
    uc_crowd crowd = {0};
    if (uc_crowd_read_memory(&crowd, bytes, length, "fuzz", frame, NULL) != UC_OK) {
        check_sentence(uc_last_error());
        return;
    }
    check_crowd_names(&crowd.annotators);
    check_crowd_names(&crowd.classes);
    check_crowd_names(&crowd.ids);
    check_order(&crowd);
    if (crowd.rows * crowd.classes.count < 100000 && crowd.annotators.count * crowd.classes.count < 1000)
        check_consensus(&crowd);
    uc_crowd_free(&crowd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char *const names[] = {"a", "b", "1"};
    uc_names classes = {0}, ids = {0};
    uint32_t index;
    for (size_t k = 0; k < 3; k++)
        CHECK(uc_names_add(&index, &classes, names[k], 1) == UC_OK);
    for (size_t i = 0; i < 5; i++)
        CHECK(uc_names_add(&index, &ids, &"pqrst"[i], 1) == UC_OK);
    read_crowd(bytes, length, NULL);
    read_crowd(bytes, length, &(uc_crowd_frame){.rows = 5, .classes = &classes});
    read_crowd(bytes, length, &(uc_crowd_frame){.rows = 5, .ids = &ids, .classes = &classes});
    uc_names_free(&classes);
    uc_names_free(&ids);
    return 0;
}
