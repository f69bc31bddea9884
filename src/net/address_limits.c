// SPDX-License-Identifier: Apache-2.0
#include "address_limits.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "bytes.h"
#include "error.h"
#include "trace.h"

struct in6_addr address_from_ipv4(struct in_addr address)
{
    struct in6_addr mapped = IN6ADDR_ANY_INIT;
    mapped.s6_addr[10] = mapped.s6_addr[11] = 0xff;
    memcpy(&mapped.s6_addr[12], &address, sizeof address);
    return mapped;
}

static bool read_address(struct str text, struct in6_addr *address)
{
    char copy[INET6_ADDRSTRLEN];
    struct in_addr four;
    if (text.length >= 2 && text.data[0] == '[' && text.data[text.length - 1] == ']')
        text = (struct str){ text.data + 1, text.length - 2 };
    if (text.length <= 0 || text.length >= (int32_t)sizeof copy) return false;
    memcpy(copy, text.data, (size_t)text.length);
    copy[text.length] = '\0';
    if (inet_pton(AF_INET6, copy, address) == 1) return true;
    if (inet_pton(AF_INET, copy, &four) != 1) return false;
    *address = address_from_ipv4(four);
    return true;
}

static bool read_count(struct str text, int32_t *count)
{
    int64_t number = 0;
    for (int32_t i = 0; i < text.length; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return false;
        number = number * 10 + (text.data[i] - '0');
        if (number > INT32_MAX) return false;
    }
    *count = (int32_t)number;
    return text.length > 0;
}

/* One "address:limit". The limit stands behind the last colon: an IPv6 address has some of its own. */
static bool read_item(struct str text, struct address_limit *item)
{
    int32_t colon = text.length - 1;
    while (colon >= 0 && text.data[colon] != ':')
        colon--;
    if (colon < 0) return false;
    struct str address = { text.data, colon };
    struct str count = { text.data + colon + 1, text.length - colon - 1 };
    return read_address(str_trim(address), &item->address) &&
           read_count(str_trim(count), &item->most);
}

static int compare(const void *a, const void *b)
{
    const struct address_limit *left = a, *right = b;
    return memcmp(&left->address, &right->address, sizeof left->address);
}

/* In its place, or over what was said of that address before. */
static void put(struct address_limits *limits, const struct address_limit *item)
{
    unsigned at = 0;
    while (at < limits->count && compare(&limits->items[at], item) < 0)
        at++;
    if (at == limits->count || compare(&limits->items[at], item) != 0) {
        memmove(&limits->items[at + 1], &limits->items[at],
                (limits->count - at) * sizeof *limits->items);
        limits->count++;
    }
    limits->items[at] = *item;
}

int address_limits_open(struct address_limits *limits, const char *text, char *why, size_t why_size)
{
    size_t most = 1;
    for (const char *at = text; *at != '\0'; at++)
        most += *at == ',';
    *limits = (struct address_limits){ mem_calloc(most, sizeof *limits->items), 0 };
    if (limits->items == NULL) return ERR_NO_MEMORY;
    struct str rest = str_trim(str_from(text));
    bool has_more = rest.length > 0;
    while (has_more) {
        const char *comma = rest.length == 0 ? NULL : memchr(rest.data, ',', (size_t)rest.length);
        int32_t length = comma == NULL ? rest.length : (int32_t)(comma - rest.data);
        struct str word = str_trim((struct str){ rest.data, length });
        struct address_limit item;
        if (!read_item(word, &item)) {
            char shown[64];
            snprintf(why, why_size, "must be address:limit, separated by commas, not \"%s\"",
                     trace_escape(shown, sizeof shown, word));
            address_limits_close(limits);
            return ERR_USAGE;
        }
        put(limits, &item);
        has_more = comma != NULL;
        int32_t used = has_more ? length + 1 : length;
        rest = (struct str){ rest.data + used, rest.length - used };
    }
    return 0;
}

void address_limits_close(struct address_limits *limits)
{
    mem_free(limits->items);
    *limits = (struct address_limits){ 0 };
}

int32_t address_limits_find(const struct address_limits *limits, const struct in6_addr *address,
                            int32_t otherwise)
{
    struct address_limit wanted = { .address = *address };
    const struct address_limit *found = limits->count == 0
                                            ? NULL
                                            : bsearch(&wanted, limits->items, limits->count,
                                                      sizeof *limits->items, compare);
    return found != NULL ? found->most : otherwise;
}
