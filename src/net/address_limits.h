// SPDX-License-Identifier: Apache-2.0
/* Limits of single addresses, as max.connections.per.ip.overrides states them. */

#ifndef NET_ADDRESS_LIMITS_H
#define NET_ADDRESS_LIMITS_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

struct address_limit {
    struct in6_addr address; /* An IPv4 one mapped into IPv6. */
    int32_t most;
};

struct address_limits {
    struct address_limit *items; /* Ascending by address, each once. */
    unsigned count;
};

/* An IPv4 address as one of IPv6, ::ffff:a.b.c.d. */
struct in6_addr address_from_ipv4(struct in_addr address);

/* Reads "10.0.0.1:200,[::1]:5"; "" holds none. Names of hosts are not taken: to look them up would
 * have to wait. Of an address that comes twice the last limit counts. 0, ERR_NO_MEMORY, or ERR_USAGE
 * with a sentence in `why`. */
int address_limits_open(struct address_limits *limits, const char *text, char *why,
                        size_t why_size);
void address_limits_close(struct address_limits *limits);

/* The limit of `address`, or `otherwise` if it has none of its own. */
int32_t address_limits_find(const struct address_limits *limits, const struct in6_addr *address,
                            int32_t otherwise);

#endif
