/* The context of long-running work: threads, memory, processes, and callbacks for progress and warnings. */
#ifndef UNCONFUSE_CONTEXT_H
#define UNCONFUSE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unconfuse/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct uc_comm uc_comm;

/* Reports the progress of long-running work: `done` of `total` units (total 0: not known). `detail` is a
 * short text such as "pass 2 of 5, error 0.041", or NULL. Both texts may name options (uc_message_render).
 * Return false to cancel the work, which then ends with UC_ERR_CANCELLED. Only one thread calls it at a
 * time. */
typedef bool uc_progress_fn(const char *task, double done, double total, const char *detail, void *user);

/* Receives a sentence for the user: a warning during the work, or the reason why it failed (uc_comm_end).
 * Like uc_last_error(), it is meant for uc_message_render. */
typedef void uc_warn_fn(const char *sentence, void *user);

/* Wherever a function takes a `const uc_context *`, NULL and a zero-initialised struct both mean: all
 * cores, no memory limit, one process, no callbacks. */
typedef struct uc_context {
    unsigned threads;         /* 0: all cores. The results do not depend on it. */
    uint64_t memory;          /* bytes that the work may allocate; 0: as much as the machine has */
    const uc_comm *comm;      /* NULL: one process */
    uc_progress_fn *progress; /* NULL: none */
    uc_warn_fn *warn;         /* NULL: none */
    void *user;               /* handed to both callbacks */
} uc_context;

#ifdef __cplusplus
}
#endif

#endif
