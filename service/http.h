/* HTTP: sockets, limits and tokens, using libmicrohttpd. The only user of microhttpd.h. */
#ifndef SERVICE_HTTP_H
#define SERVICE_HTTP_H

#include "service/engine.h"

typedef struct http_settings {
    const char *listen;            /* address:port; [::1]:8470 */
    const char *token;             /* NULL: not required */
    const char *certificate, *key; /* the texts of the PEM files; NULL: no TLS */
    size_t max_body;
    double request_seconds; /* for the body of a request */
} http_settings;

typedef struct http http;

/* Fails if the address must not be listened on (400) or cannot be (503); nothing stays open. */
bool http_check(const http_settings *settings, problem *why);
/* 400: the address cannot be listened on. */
bool http_open(http **out, const http_settings *settings, engine *behind, problem *why);
void http_address(const http *self, char *out, size_t size); /* with the actual port if it was 0 */
/* Called once a second; sends a message to the open dashboards. */
void http_tick(http *self);
/* New connections are rejected and new requests answered with 503. Returns when the last request has been
 * answered. */
void http_close(http *self);

#endif
