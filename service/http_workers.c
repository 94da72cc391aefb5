/* The threads that serve connections: a few daemons of libmicrohttpd with epoll that share a listening
 * socket, each run by a thread of ours.
 *
 * The library's own threads are not suitable: after a batch of exactly 128 events, or a multiple, they wait
 * for the next event before they process the connections of these (0.9.75), so requests that have arrived are
 * not answered. MHD_run never waits. While there are connections, a thread runs its daemon at least once a
 * second, also in order to close those that take too long: the library itself only limits the time since the
 * last byte, which a client that sends or receives a byte now and then never exceeds. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "app/memory.h"
#include "service/http_inside.h"

#define MOST_CONNECTIONS 4000
#define OTHER_FILES 64 /* descriptors for everything else */
#define IDLE_SECONDS 30
#define SWEEP_MS 1000
#define PROTOCOLS "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1" /* RFC 8996 */
#define CONNECTION_BYTES 98304 /* kept by libmicrohttpd for a head; it rejects longer ones itself */

double http_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- resuming ---- */

void worker_wake(worker *self)
{
    const uint64_t one = 1;
    while (write(self->wake, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

void worker_resume(suspended *place)
{
    worker *self = place->worker;
    (void)pthread_mutex_lock(&self->mutex);
    const bool first = !self->resumed;
    place->next = self->resumed;
    self->resumed = place;
    (void)pthread_mutex_unlock(&self->mutex);
    if (first)
        worker_wake(self);
}

/* ---- clients that take too long ---- */

static client *client_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

void client_allow(struct MHD_Connection *connection, double seconds)
{
    client *self = client_of(connection);
    if (self)
        self->deadline = http_seconds() + seconds;
}

void client_idle(struct MHD_Connection *connection)
{
    client_allow(connection, IDLE_SECONDS);
}

static void meet_client(worker *self, struct MHD_Connection *connection, void **context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    client *met = app_calloc(1, sizeof *met);
    met->socket = info ? info->connect_fd : -1;
    met->deadline = http_seconds() + IDLE_SECONDS;
    met->next = self->clients;
    if (met->next)
        met->next->previous = met;
    self->clients = met;
    *context = met;
}

static void forget_client(worker *self, client *gone)
{
    if (gone->next)
        gone->next->previous = gone->previous;
    if (gone->previous)
        gone->previous->next = gone->next;
    else
        self->clients = gone->next;
    self->left = true;
    free(gone);
}

static void notice_connection(void *user, struct MHD_Connection *connection, void **context,
                              enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        meet_client(user, connection, context);
    else if (*context)
        forget_client(user, *context);
}

/* libmicrohttpd then finds that their sockets have ended, and closes them. */
static void sweep(worker *self)
{
    const double now = http_seconds();
    if (now - self->swept < 1e-3 * SWEEP_MS)
        return;
    self->swept = now;
    for (client *one = self->clients; one; one = one->next)
        if (now > one->deadline && one->socket >= 0)
            (void)shutdown(one->socket, SHUT_RDWR);
}

/* ---- listening ---- */

/* Leaves escapes unchanged if a zero byte is among them, which would truncate a name. */
static size_t unescape(void *user, struct MHD_Connection *connection, char *escaped)
{
    (void)user;
    (void)connection;
    return strstr(escaped, "%00") ? strlen(escaped) : MHD_http_unescape(escaped);
}

static void ignore_log(void *user, const char *format, va_list arguments)
{
    (void)user;
    (void)format;
    (void)arguments;
}

/* Resumes the connections that were queued since the last time. */
static void resume_connections(worker *self)
{
    uint64_t count;
    (void)!read(self->wake, &count, sizeof count); /* does not block */
    (void)pthread_mutex_lock(&self->mutex);
    suspended *next = self->resumed;
    self->resumed = NULL;
    (void)pthread_mutex_unlock(&self->mutex);
    while (next) {
        struct MHD_Connection *connection = next->connection;
        next = next->next;
        MHD_resume_connection(connection);
    }
}

/* When the service stops, it accepts no further connections. */
static void stop_listening(worker *self)
{
    const MHD_socket listening = MHD_quiesce_daemon(self->daemon);
    if (listening != MHD_INVALID_SOCKET)
        (void)close(listening);
}

static void *run_worker(void *user)
{
    worker *self = user;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(self->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct pollfd watched[2] = {{.fd = info->epoll_fd, .events = POLLIN},
                                {.fd = self->wake, .events = POLLIN}};
    bool listens = true;
    while (!atomic_load(&self->ends)) {
        MHD_UNSIGNED_LONG_LONG wait_ms;
        int most_ms = self->clients ? SWEEP_MS : -1;
        if (self->left) /* a daemon that was at its limit listens again only when it is run */
            most_ms = 0;
        else if (MHD_get_timeout(self->daemon, &wait_ms) == MHD_YES && wait_ms < SWEEP_MS)
            most_ms = (int)wait_ms;
        (void)poll(watched, 2, most_ms);
        if (listens && atomic_load(&self->owner->stops)) {
            stop_listening(self);
            listens = false;
        }
        resume_connections(self);
        sweep(self);
        self->left = false;
        (void)MHD_run(self->daemon);
    }
    return NULL;
}

bool workers_check(const http_settings *settings, problem *why)
{
    if (!settings->certificate)
        return true;
    struct MHD_Daemon *tried = MHD_start_daemon(
        MHD_USE_TLS | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG, 0, NULL, NULL, http_handle, NULL,
        MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL, MHD_OPTION_HTTPS_MEM_CERT, settings->certificate,
        MHD_OPTION_HTTPS_MEM_KEY, settings->key, MHD_OPTION_HTTPS_PRIORITIES, PROTOCOLS, MHD_OPTION_END);
    if (!tried)
        return problem_set(why, 503,
                           "--tls-certificate, --tls-key: the files are not PEM, or not of each other");
    MHD_stop_daemon(tried);
    return true;
}

/* The limit per worker, or less if there are not enough descriptors. */
static unsigned connection_limit(void)
{
    struct rlimit files;
    rlim_t most = MOST_CONNECTIONS;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < MOST_CONNECTIONS + OTHER_FILES)
        most = files.rlim_cur > 2 * OTHER_FILES ? files.rlim_cur - OTHER_FILES : OTHER_FILES;
    return (unsigned)(most / THREADS);
}

/* The first worker opens the socket, the others listen on copies of it. */
static struct MHD_Daemon *start_daemon(worker *self, const http_settings *settings,
                                       const struct sockaddr_storage *address)
{
    const worker *first = self->owner->workers;
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    struct MHD_OptionItem more[5] = {{MHD_OPTION_END, 0, NULL}};
    int filled = 0, listening = -1;
    if (address->ss_family == AF_INET6)
        flags |= MHD_USE_IPv6;
    if (settings->certificate) {
        flags |= MHD_USE_TLS;
        more[filled++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)settings->certificate};
        more[filled++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)settings->key};
        more[filled++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)PROTOCOLS};
    }
    if (self != first) {
        listening = dup(MHD_get_daemon_info(first->daemon, MHD_DAEMON_INFO_LISTEN_FD)->listen_fd);
        if (listening < 0)
            return NULL;
        more[filled++] = (struct MHD_OptionItem){MHD_OPTION_LISTEN_SOCKET, listening, NULL};
    }
    more[filled] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    struct MHD_Daemon *made = MHD_start_daemon(
        flags, 0, NULL, NULL, http_handle, self, MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL,
        MHD_OPTION_SOCK_ADDR, (const struct sockaddr *)(const void *)address, MHD_OPTION_CONNECTION_LIMIT,
        connection_limit(), MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_LISTEN_BACKLOG_SIZE,
        (unsigned)SOMAXCONN, MHD_OPTION_NOTIFY_COMPLETED, http_end_exchange, self,
        MHD_OPTION_NOTIFY_CONNECTION, notice_connection, self, MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL,
        MHD_OPTION_ARRAY, more, MHD_OPTION_END);
    if (!made && listening >= 0)
        (void)close(listening);
    return made;
}

static bool start_worker(worker *self, http *owner, const http_settings *settings,
                         const struct sockaddr_storage *address)
{
    self->owner = owner;
    self->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (self->wake < 0)
        return false;
    (void)pthread_mutex_init(&self->mutex, NULL);
    self->daemon = start_daemon(self, settings, address);
    if (self->daemon && pthread_create(&self->thread, NULL, run_worker, self) == 0)
        return true;
    if (self->daemon)
        MHD_stop_daemon(self->daemon);
    (void)pthread_mutex_destroy(&self->mutex);
    (void)close(self->wake);
    return false;
}

void workers_stop(http *self)
{
    for (int i = 0; i < self->count; i++) {
        atomic_store(&self->workers[i].ends, true);
        worker_wake(&self->workers[i]);
        (void)pthread_join(self->workers[i].thread, NULL);
    }
    for (int i = 0; i < self->count; i++) {
        resume_connections(&self->workers[i]); /* MHD_stop_daemon aborts if a connection is suspended */
        MHD_stop_daemon(self->workers[i].daemon);
        (void)pthread_mutex_destroy(&self->workers[i].mutex);
        (void)close(self->workers[i].wake);
    }
}

bool workers_start(http *self, const http_settings *settings, const struct sockaddr_storage *address,
                   problem *why)
{
    errno = 0;
    while (self->count < THREADS && start_worker(&self->workers[self->count], self, settings, address))
        self->count++;
    if (self->count < THREADS) {
        const int reason = errno;
        workers_stop(self);
        return problem_set(why, 400, "--listen %s: cannot listen there: %s", settings->listen,
                           reason ? strerror(reason)
                                  : "the certificate and the key are not PEM, or not of each other");
    }
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(self->workers[0].daemon, MHD_DAEMON_INFO_BIND_PORT);
    const char *colon = strrchr(settings->listen, ':');
    (void)snprintf(self->address, sizeof self->address, "%.*s:%u", (int)(colon - settings->listen),
                   settings->listen, info ? info->port : 0);
    return true;
}
