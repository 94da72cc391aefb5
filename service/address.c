#include "service/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

bool address_parse(struct sockaddr_storage *out, bool *loopback, const char *listen, problem *why)
{
    char host[64] = "";
    const char *colon = strrchr(listen, ':'), *first = listen;
    char *end = NULL;
    const long port = colon ? strtol(colon + 1, &end, 10) : -1;
    if (port < 0 || port > 65535 || !colon[1] || *end)
        return problem_set(why, 400, "--listen %s: expected ADDRESS:PORT, such as 127.0.0.1:8470", listen);
    size_t length = (size_t)(colon - listen);
    if (length >= 2 && listen[0] == '[' && colon[-1] == ']') {
        first++;
        length -= 2;
    }
    if (length < sizeof host)
        memcpy(host, first, length);
    memset(out, 0, sizeof *out);
    struct sockaddr_in *four = (struct sockaddr_in *)(void *)out;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)out;
    if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        *loopback = (ntohl(four->sin_addr.s_addr) >> 24) == 127;
        return true;
    }
    if (inet_pton(AF_INET6, host, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)port);
        *loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
        return true;
    }
    return problem_set(why, 400, "--listen %s: '%s' is no numeric address", listen, host);
}
