/* A service that copies another one's journal, and thereby its models. */
#ifndef SERVICE_FOLLOW_H
#define SERVICE_FOLLOW_H

#include "service/engine.h"

typedef struct follow follow;

/* Whether this has the form http://HOST:PORT; 400 otherwise. */
bool follow_check(const char *url, problem *why);
/* Asks the other service for new rows once a second. `token` may be NULL. */
bool follow_open(follow **out, const char *url, const char *token, engine *into, problem *why);
void follow_close(follow *self); /* NULL is fine */

#endif
