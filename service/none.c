/* Stands in for the service if libmicrohttpd or SQLite is missing, and in unconfuse-mpi, which is a single
 * file. */
#include "app/message.h"
#include "service/service.h"

static uc_status off(void)
{
    return app_fail(UC_ERR_INVALID,
                    "this program was built without the service: use unconfuse, built where "
                    "libmicrohttpd and SQLite are (Debian: libmicrohttpd-dev, libsqlite3-dev)");
}

uc_status service_run(const service_settings *settings)
{
    (void)settings;
    return off();
}

uc_status service_replay_run(service_replayed *out, const service_replay *asked)
{
    (void)out;
    (void)asked;
    return off();
}

uc_status service_training_write(service_trained *out, const service_training *asked,
                                 const service_export *to)
{
    (void)out;
    (void)asked;
    (void)to;
    return off();
}

uc_status service_journal(const char *directory, const char *model, const service_export *to)
{
    (void)directory;
    (void)model;
    (void)to;
    return off();
}
