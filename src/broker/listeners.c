// SPDX-License-Identifier: Apache-2.0
#include "listeners.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "alloc.h"
#include "error.h"
#include "trace.h"

#define NAME_BYTES 64
#define HOST_BYTES 256

struct endpoint {
    char name[NAME_BYTES]; /* In capitals, as Kafka shows it. */
    char host[HOST_BYTES];
    uint16_t port;
};

struct endpoints {
    struct endpoint items[LISTENERS_MAX];
    unsigned count;
};

/* ---- NAME://host:port ---- */

static bool is_host_byte(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '.' || c == '_';
}

static bool copy_name(struct str text, char *out)
{
    if (text.length < 1 || text.length >= NAME_BYTES) return false;
    for (int32_t i = 0; i < text.length; i++) {
        if (!is_host_byte(text.data[i])) return false;
        out[i] = (char)toupper((unsigned char)text.data[i]);
    }
    out[text.length] = '\0';
    return true;
}

/* A name, an IPv4 address, an IPv6 address in brackets (which are not copied), or nothing. */
static bool copy_host(struct str text, char *out)
{
    bool is_bracketed = text.length > 1 && text.data[0] == '[' && text.data[text.length - 1] == ']';
    if (is_bracketed) {
        text.data++;
        text.length -= 2;
    }
    if (text.length >= HOST_BYTES) return false;
    memcpy(out, text.data, (size_t)text.length);
    out[text.length] = '\0';
    if (is_bracketed) {
        char address[HOST_BYTES];
        struct in6_addr parsed;
        snprintf(address, sizeof address, "%.*s", (int)strcspn(out, "%"),
                 out); /* Without its zone. */
        return inet_pton(AF_INET6, address, &parsed) == 1;
    }
    for (int32_t i = 0; i < text.length; i++)
        if (!is_host_byte(text.data[i])) return false;
    return true;
}

static bool copy_port(struct str text, uint16_t *port)
{
    unsigned number = 0;
    if (text.length < 1 || text.length > 5) return false;
    for (int32_t i = 0; i < text.length; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return false;
        number = number * 10 + (unsigned)(text.data[i] - '0');
    }
    *port = (uint16_t)number;
    return number <= UINT16_MAX;
}

static bool parse_endpoint(struct str text, struct endpoint *endpoint)
{
    const char *mark = memmem(text.data, (size_t)text.length, "://", 3);
    if (mark == NULL) return false;
    int32_t name_length = (int32_t)(mark - text.data);
    struct str address = { mark + 3, text.length - name_length - 3 };
    const char *colon = memrchr(address.data, ':', (size_t)address.length);
    if (colon == NULL) return false;
    int32_t host_length = (int32_t)(colon - address.data);
    return copy_name((struct str){ text.data, name_length }, endpoint->name) &&
           copy_host((struct str){ address.data, host_length }, endpoint->host) &&
           copy_port((struct str){ colon + 1, address.length - host_length - 1 }, &endpoint->port);
}

static const struct endpoint *find_endpoint(const struct endpoints *endpoints, const char *name)
{
    for (unsigned i = 0; i < endpoints->count; i++)
        if (strcmp(endpoints->items[i].name, name) == 0) return &endpoints->items[i];
    return NULL;
}

static void parse_endpoints(const char *setting, const char *value, struct endpoints *endpoints,
                            struct config_report *report)
{
    struct str item;
    while (setting_next_item(&value, &item)) {
        char shown[128];
        struct endpoint endpoint;
        trace_escape(shown, sizeof shown, item);
        if (!parse_endpoint(item, &endpoint)) {
            config_problem(report,
                           "%s: \"%s\" is not NAME://host:port (an IPv6 address stands in "
                           "brackets)",
                           setting, shown);
        } else if (find_endpoint(endpoints, endpoint.name) != NULL) {
            config_problem(report, "%s: there are two listeners named %s", setting, endpoint.name);
        } else if (endpoints->count == LISTENERS_MAX) {
            config_problem(report, "%s: there may be %d listeners at most", setting, LISTENERS_MAX);
            return;
        } else {
            endpoints->items[endpoints->count++] = endpoint;
        }
    }
}

/* ---- what may not be ---- */

static bool is_address(int family, const char *host)
{
    struct in6_addr parsed;
    return inet_pton(family, host, &parsed) == 1;
}

/* (1) */
static void check_ports(const struct endpoints *endpoints, struct config_report *report)
{
    for (unsigned i = 0; i < endpoints->count; i++) {
        for (unsigned j = 0; j < i; j++) {
            const struct endpoint *a = &endpoints->items[j], *b = &endpoints->items[i];
            if (a->port != b->port || a->port == 0) continue;
            bool is_pair = (is_address(AF_INET, a->host) && is_address(AF_INET6, b->host)) ||
                           (is_address(AF_INET6, a->host) && is_address(AF_INET, b->host));
            if (!is_pair)
                config_problem(report, "listeners: %s and %s have the same port %u", a->name,
                               b->name, (unsigned)a->port);
        }
    }
}

static bool is_listed(const char *list, const char *name)
{
    struct str item;
    while (setting_next_item(&list, &item))
        if (item.length == (int32_t)strlen(name) &&
            strncasecmp(item.data, name, (size_t)item.length) == 0)
            return true;
    return false;
}

/* The protocol of a listener; null if the map does not say. */
static struct str protocol_of(const char *map, const char *name)
{
    struct str item;
    while (setting_next_item(&map, &item)) {
        const char *colon = memrchr(item.data, ':', (size_t)item.length);
        int32_t length = colon == NULL ? 0 : (int32_t)(colon - item.data);
        if (length == (int32_t)strlen(name) && strncasecmp(item.data, name, (size_t)length) == 0)
            return (struct str){ colon + 1, item.length - length - 1 };
    }
    return STR_NULL;
}

/* (2) */
static void check_protocols(const struct settings *settings, const struct endpoints *endpoints,
                            struct config_report *report)
{
    static const char map_name[] = "listener.security.protocol.map";
    const char *map = settings_value(settings, map_name);
    const char *controllers = settings_value(settings, "controller.listener.names");
    for (unsigned i = 0; i < endpoints->count; i++) {
        const char *name = endpoints->items[i].name;
        struct str protocol = protocol_of(map, name);
        /* As Kafka: without a map of its own a controller's listener is PLAINTEXT. */
        if (str_is_null(protocol) && settings_find(settings, map_name) == NULL &&
            is_listed(controllers, name))
            continue;
        char shown[64];
        trace_escape(shown, sizeof shown, protocol);
        if (str_is_null(protocol))
            config_problem(report, "listeners: %s does not say which protocol %s has", map_name,
                           name);
        else if (!str_equals_text(protocol, "PLAINTEXT"))
            config_problem(report,
                           "listeners: %s has the protocol %s, and this version serves "
                           "PLAINTEXT only",
                           name, shown);
    }
}

static bool is_wildcard(const char *host)
{
    struct in6_addr address;
    return host[0] == '\0' || strcmp(host, "0.0.0.0") == 0 ||
           (inet_pton(AF_INET6, host, &address) == 1 && IN6_IS_ADDR_UNSPECIFIED(&address));
}

/* (4) */
static void check_advertised(const struct endpoints *endpoints, const struct endpoints *advertised,
                             struct config_report *report)
{
    for (unsigned i = 0; i < advertised->count; i++) {
        const struct endpoint *endpoint = &advertised->items[i];
        if (find_endpoint(endpoints, endpoint->name) == NULL)
            config_problem(report, "advertised.listeners: %s is not one of the listeners",
                           endpoint->name);
        if (endpoint->host[0] != '\0' && is_wildcard(endpoint->host))
            config_problem(report,
                           "advertised.listeners: clients cannot connect to %s; give %s the "
                           "address that they can reach",
                           endpoint->host, endpoint->name);
    }
}

/* ---- what is given ---- */

static int fill(struct config_listener *listener, const struct endpoint *endpoint,
                const struct endpoint *advertised, const char *machine_name)
{
    const char *host = advertised != NULL ? advertised->host : endpoint->host;
    uint16_t port = advertised != NULL ? advertised->port : endpoint->port;
    listener->port = endpoint->port;
    listener->advertised_port = port != 0 ? port : endpoint->port;
    listener->name = mem_strdup(endpoint->name);
    listener->host = mem_strdup(endpoint->host);
    listener->advertised_host = mem_strdup(is_wildcard(host) ? machine_name : host);
    bool is_full = listener->name != NULL && listener->host != NULL &&
                   listener->advertised_host != NULL;
    return is_full ? 0 : ERR_NO_MEMORY;
}

static void warn_of_wildcard(const struct endpoint *endpoint, struct config_report *report)
{
    if (is_wildcard(endpoint->host)) /* DESIGN 11 */
        config_warning(report,
                       "listener %s is open on all addresses to everybody who reaches port "
                       "%u, without login or encryption",
                       endpoint->name, (unsigned)endpoint->port);
}

void listeners_free(struct config_listener *listeners, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        mem_free(listeners[i].name);
        mem_free(listeners[i].host);
        mem_free(listeners[i].advertised_host);
    }
    mem_free(listeners);
}

/* The lists as they were said, or the defaults. */
static void read_endpoints(const struct settings *settings, bool dev, struct endpoints *endpoints,
                           struct endpoints *advertised, struct config_report *report)
{
    static const struct endpoint loopback = { "PLAINTEXT", "127.0.0.1", 9092 };
    static const struct endpoint localhost = { "PLAINTEXT", "localhost", 9092 };
    const struct setting_value *said = settings_find(settings, "advertised.listeners");
    if (said != NULL) parse_endpoints("advertised.listeners", said->value, advertised, report);
    if (dev && settings_find(settings, "listeners") == NULL) { /* DESIGN 11: loopback only. */
        endpoints->items[endpoints->count++] = loopback;
        if (said == NULL) advertised->items[advertised->count++] = localhost;
    } else {
        parse_endpoints("listeners", settings_value(settings, "listeners"), endpoints, report);
    }
}

int listeners_read(const struct settings *settings, bool dev, const char *machine_name,
                   struct config_listener **listeners, unsigned *count,
                   struct config_report *report)
{
    struct endpoints *endpoints = mem_zalloc(sizeof *endpoints);
    struct endpoints *advertised = mem_zalloc(sizeof *advertised);
    struct config_listener *made = mem_calloc(LISTENERS_MAX, sizeof *made);
    unsigned made_count = 0, problems_before = report->problem_count;
    int err = endpoints == NULL || advertised == NULL || made == NULL ? ERR_NO_MEMORY : 0;
    if (err == 0) {
        read_endpoints(settings, dev, endpoints, advertised, report);
        check_ports(endpoints, report);
        check_protocols(settings, endpoints, report);
        check_advertised(endpoints, advertised, report);
    }
    const char *controllers = settings_value(settings, "controller.listener.names");
    for (unsigned i = 0; err == 0 && i < endpoints->count; i++) {
        const struct endpoint *endpoint = &endpoints->items[i];
        if (is_listed(controllers, endpoint->name)) { /* (3) */
            config_warning(report,
                           "listener %s is for controllers and is not opened: this version is "
                           "a quorum of one node",
                           endpoint->name);
            continue;
        }
        warn_of_wildcard(endpoint, report);
        err = fill(&made[made_count++], endpoint, find_endpoint(advertised, endpoint->name),
                   machine_name);
    }
    if (err == 0 && made_count == 0 && report->problem_count == problems_before)
        config_problem(report, "listeners: there must be one for clients");

    if (err == 0 && report->problem_count == problems_before) {
        *listeners = made;
        *count = made_count;
    } else {
        listeners_free(made, made_count);
    }
    mem_free(endpoints);
    mem_free(advertised);
    return err;
}
