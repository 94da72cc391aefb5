/* Addresses to listen on. */
#ifndef SERVICE_ADDRESS_H
#define SERVICE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "service/problem.h"

/* Accepts "127.0.0.1:8470" or "[::1]:8470"; 400 for anything else. */
bool address_parse(struct sockaddr_storage *out, bool *loopback, const char *listen, problem *why);

#endif
