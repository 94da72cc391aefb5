/* HTTP: sockets, bounds and tokens, by libmicrohttpd. The only user of microhttpd.h. */
#ifndef SERVICE_HTTP_H
#define SERVICE_HTTP_H

#include "service/engine.h"

typedef struct http_settings {
    const char *listen;            /* address:port; [::1]:8470 */
    const char *token;             /* NULL: none is asked for */
    const char *certificate, *key; /* the texts of the PEM files; NULL: no TLS */
    size_t max_body;
    double request_seconds; /* for the body of a request */
} http_settings;

typedef struct http http;

/* Whether the address may be listened on (400) and can be (503); nothing stays open. */
bool http_check(const http_settings *settings, problem *why);
/* 400: the address cannot be listened on. */
bool http_open(http **out, const http_settings *settings, engine *behind, problem *why);
void http_address(const http *self, char *out, size_t size); /* with the port that was chosen for 0 */
/* Once a second: a message to the dashboards that are open. */
void http_tick(http *self);
/* New connections are refused and new requests answered with 503; returns when the last one is answered. */
void http_close(http *self);

#endif
