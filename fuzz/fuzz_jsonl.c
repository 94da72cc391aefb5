/* The reader of JSON lines never crashes, and what it accepts is a data set. */
#define _GNU_SOURCE
#include "fuzz/truths.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    check_reader(bytes, length, UC_FORMAT_JSONL);
    return 0;
}
