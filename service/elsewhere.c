/* Stands in for the service in the program itself: the service is a library that is loaded when a command
 * needs it. So the other commands start without SQLite, libmicrohttpd and their dependencies (mostly TLS),
 * and run in memory that would be too small for these. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "app/memory.h"
#include "app/message.h"
#include "service/service.h"

#define LIBRARY "libunconfuse-service.so"

/* The library is next to libunconfuse.so; the caller frees the path. */
static char *library_path(void)
{
    const char *(*inside)(void) = uc_version;
    void *address = NULL;
    Dl_info found = {0};
    memcpy(&address, &inside, sizeof address);
    const char *slash = dladdr(address, &found) && found.dli_fname ? strrchr(found.dli_fname, '/') : NULL;
    if (!slash)
        return app_text("%s", LIBRARY);
    return app_text("%.*s/%s", (int)(slash - found.dli_fname), found.dli_fname, LIBRARY);
}

/* Sets *function, a function pointer, to the library's function of that name. */
static uc_status load(void *function, const char *name)
{
    char *path = library_path();
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, name) : NULL;
    free(path);
    if (!found)
        return app_fail(UC_ERR_IO, "the service cannot be loaded: %s", dlerror());
    memcpy(function, &found, sizeof found);
    return UC_OK;
}

uc_status service_run(const service_settings *settings)
{
    uc_status (*run)(const service_settings *settings) = NULL;
    const uc_status status = load(&run, "service_run");
    return run ? run(settings) : status;
}

uc_status service_replay_run(service_replayed *out, const service_replay *asked)
{
    uc_status (*run)(service_replayed * out, const service_replay *asked) = NULL;
    const uc_status status = load(&run, "service_replay_run");
    return run ? run(out, asked) : status;
}

uc_status service_training_write(service_trained *out, const service_training *asked,
                                 const service_export *to)
{
    uc_status (*run)(service_trained * out, const service_training *asked, const service_export *to) = NULL;
    const uc_status status = load(&run, "service_training_write");
    return run ? run(out, asked, to) : status;
}

uc_status service_journal(const char *directory, const char *model, const service_export *to)
{
    uc_status (*run)(const char *directory, const char *model, const service_export *to) = NULL;
    const uc_status status = load(&run, "service_journal");
    return run ? run(directory, model, to) : status;
}
