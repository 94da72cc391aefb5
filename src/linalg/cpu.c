/* Chooses the version of the kernels: the best one for the CPU, or the one that the user asks for. */
#include "unconfuse/cpu.h"

#include <stdatomic.h>
#include <string.h>

#include "base/base.h"
#include "linalg/kernels.h"

static bool has_avx2(void)
{
#ifdef UC_KERNELS_X86
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

static bool has_avx512(void)
{
#ifdef UC_KERNELS_X86
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

static bool has_baseline(void)
{
    return true;
}

/* Best first. */
static const struct {
    const char *name;
    const uc_kernels *kernels;
    bool (*is_there)(void);
} levels[] = {
#ifdef UC_KERNELS_X86
    {"avx512", &uc_kernels_avx512, has_avx512},
    {"avx2", &uc_kernels_avx2, has_avx2},
#else
    {"avx512", NULL, has_avx512},
    {"avx2", NULL, has_avx2},
#endif
    {"baseline", &uc_kernels_baseline, has_baseline},
};

static _Atomic(const uc_kernels *) current;

static const uc_kernels *best(void)
{
    size_t i = 0;
    while (!levels[i].is_there())
        i++;
    return levels[i].kernels;
}

const uc_kernels *uc_kernels_now(void)
{
    const uc_kernels *kernels = atomic_load_explicit(&current, memory_order_relaxed);
    if (!kernels) {
        kernels = best();
        atomic_store_explicit(&current, kernels, memory_order_relaxed);
    }
    return kernels;
}

const char *uc_cpu_level(void)
{
    return uc_kernels_now()->level;
}

uc_status uc_cpu_set_level(const char *level)
{
    if (strcmp(level, "best") == 0) {
        atomic_store(&current, best());
        return UC_OK;
    }
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(level, levels[i].name) != 0)
            continue;
        if (!levels[i].is_there())
            return uc_fail(UC_ERR_INVALID, "CPU level %s: this machine does not have it; its best is %s",
                           level, best()->level);
        atomic_store(&current, levels[i].kernels);
        return UC_OK;
    }
    return uc_fail(UC_ERR_INVALID, "CPU level %s: it must be baseline, avx2, avx512 or best", level);
}
