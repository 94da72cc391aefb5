/* Loads OpenBLAS. */
#define _GNU_SOURCE
#include "linalg/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

uc_blas_functions uc_blas;

#define FUNCTION(field, symbol)                                                                              \
    {                                                                                                        \
        symbol, offsetof(uc_blas_functions, field)                                                           \
    }

static const struct {
    const char *symbol;
    size_t offset;
} functions[] = {
    FUNCTION(ddot, "cblas_ddot"),
    FUNCTION(daxpy, "cblas_daxpy"),
    FUNCTION(dgemm, "cblas_dgemm"),
    FUNCTION(sgemm, "cblas_sgemm"),
    FUNCTION(dsymv, "cblas_dsymv"),
    FUNCTION(dsymm, "cblas_dsymm"),
    FUNCTION(dsyrk, "cblas_dsyrk"),
    FUNCTION(ssyrk, "cblas_ssyrk"),
    FUNCTION(dtrsm, "cblas_dtrsm"),
    FUNCTION(strmm, "cblas_strmm"),
    FUNCTION(set_num_threads, "openblas_set_num_threads"),
    FUNCTION(get_corename, "openblas_get_corename"),
    FUNCTION(dgesv, "dgesv_"),
    FUNCTION(dgesvd, "dgesvd_"),
    FUNCTION(dpotrf, "dpotrf_"),
    FUNCTION(dpotri, "dpotri_"),
    FUNCTION(dtrtri, "dtrtri_"),
    FUNCTION(dsytrd, "dsytrd_"),
    FUNCTION(dstedc, "dstedc_"),
    FUNCTION(dlarft, "dlarft_"),
    FUNCTION(dlarfb, "dlarfb_"),
    FUNCTION(memory_alloc, "blas_memory_alloc"),
    FUNCTION(memory_free, "blas_memory_free"),
};

static const size_t needed =
    offsetof(uc_blas_functions, memory_alloc); /* the functions from here on may be missing */

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool loaded;
static _Thread_local char error[512];

/* RTLD_LAZY binds only what is called. The library stays loaded until the process ends. */
static bool load(void)
{
    uc_blas_functions found = {0};
    void *library = dlopen(UC_BLAS_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    for (size_t i = 0; library && i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(library, functions[i].symbol);
        if (function) {
            memcpy((char *)&found + functions[i].offset, &function, sizeof function);
        } else if (functions[i].offset < needed) {
            (void)dlclose(library);
            library = NULL;
        }
    }
    if (!library) {
        const char *reason = dlerror();
        snprintf(error, sizeof error, "%s", reason ? reason : UC_BLAS_LIBRARY " is incomplete");
        return false;
    }
    found.set_num_threads(1);
    uc_blas = found;
    return true;
}

bool uc_blas_load(void)
{
    if (atomic_load_explicit(&loaded, memory_order_acquire))
        return true;
    pthread_mutex_lock(&loading);
    if (!atomic_load(&loaded) && load())
        atomic_store_explicit(&loaded, true, memory_order_release);
    const bool done = atomic_load(&loaded);
    pthread_mutex_unlock(&loading);
    return done;
}

const char *uc_blas_load_error(void)
{
    return error;
}
