// SPDX-License-Identifier: Apache-2.0
#include "admin_port.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "trace.h"

static bool is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, host, &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

static bool port_read(const char *text, uint16_t *port)
{
    if (text[0] < '0' || text[0] > '9' || strlen(text) > 5) return false;
    char *end;
    long number = strtol(text, &end, 10);
    if (*end != '\0' || number > UINT16_MAX) return false;
    *port = (uint16_t)number;
    return true;
}

bool admin_address_read(const char *text, struct admin_address *address, char *why, size_t why_size)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon == NULL ? 0 : (size_t)(colon - text);
    bool is_bracketed = length > 2 && text[0] == '[' && text[length - 1] == ']';
    if (is_bracketed) {
        text++;
        length -= 2;
    }
    if (length == 0 || length >= sizeof address->host || !port_read(colon + 1, &address->port) ||
        (!is_bracketed && memchr(text, ':', length) != NULL)) {
        snprintf(why, why_size, "must be host:port");
        return false;
    }
    memcpy(address->host, text, length);
    address->host[length] = '\0';
    if (strcmp(address->host, "localhost") == 0) strcpy(address->host, "127.0.0.1");
    if (is_loopback(address->host)) return true;
    snprintf(why, why_size,
             "must be an address of loopback, such as 127.0.0.1:9644: this version has no login "
             "that would keep others out");
    return false;
}

static bool was_said(const struct config *config)
{
    for (unsigned i = 0; i < config->said_count; i++)
        if (strcmp(config->said[2 * i], "sluice.admin.listener") == 0) return true;
    return false;
}

int admin_port_open(struct admin **admin, const struct config *config, struct clock *clock)
{
    struct admin_address address;
    char why[256] = "";
    uint16_t port;
    if (config->admin_listener == NULL) return 0;
    if (!admin_address_read(config->admin_listener, &address, why, sizeof why)) return ERR_USAGE;
    int err = admin_open(admin, clock, address.host, address.port, &port, why, sizeof why);
    if (why[0] == '\0') snprintf(why, sizeof why, "%s", error_text(err));
    if (err == 0) {
        trace(TRACE_INFO, "broker",
              "admin port on %s port %u: /metrics, /health/live, /health/ready", address.host,
              port);
    } else if (was_said(config)) {
        trace(TRACE_ERROR, "broker", "sluice.admin.listener: %s", why);
    } else {
        trace(TRACE_WARN, "broker", "there is no admin port: %s", why);
        err = 0;
    }
    return err;
}
