// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <arpa/inet.h>
#include <string.h>

#include "address_limits.h"
#include "alloc.h"
#include "error.h"

#define NONE (-1)

static char why[200];

static struct in6_addr address_of(const char *text)
{
    struct in6_addr six;
    struct in_addr four;
    if (inet_pton(AF_INET6, text, &six) == 1) return six;
    assert_int_equal(inet_pton(AF_INET, text, &four), 1);
    return address_from_ipv4(four);
}

static int32_t limit_of(const struct address_limits *limits, const char *address)
{
    struct in6_addr wanted = address_of(address);
    return address_limits_find(limits, &wanted, NONE);
}

TEST(addresses_have_limits_of_their_own)
{
    struct address_limits limits;
    assert_int_equal(address_limits_open(&limits, " 10.0.0.2:200 ,10.0.0.1 : 0,[::1]:5,fe80::2:7",
                                         why, sizeof why),
                     0);
    assert_int_equal(limits.count, 4);
    assert_int_equal(limit_of(&limits, "10.0.0.1"), 0);
    assert_int_equal(limit_of(&limits, "10.0.0.2"), 200);
    assert_int_equal(limit_of(&limits, "::1"), 5);
    assert_int_equal(limit_of(&limits, "fe80::2"), 7);
    assert_int_equal(limit_of(&limits, "::ffff:10.0.0.2"), 200);
    assert_int_equal(limit_of(&limits, "10.0.0.3"), NONE);
    address_limits_close(&limits);
}

TEST(of_an_address_that_comes_twice_the_last_limit_counts)
{
    struct address_limits limits;
    assert_int_equal(address_limits_open(&limits, "::1:2,1.2.3.4:1,[0:0::1]:3", why, sizeof why),
                     0);
    assert_int_equal(limits.count, 2);
    assert_int_equal(limit_of(&limits, "::1"), 3);
    address_limits_close(&limits);
}

TEST(nothing_is_no_limit)
{
    struct address_limits limits;
    assert_int_equal(address_limits_open(&limits, " ", why, sizeof why), 0);
    assert_int_equal(limits.count, 0);
    assert_int_equal(limit_of(&limits, "::1"), NONE);
    address_limits_close(&limits);
}

TEST(what_is_no_list_of_addresses_is_refused)
{
    static const char *const bad[] = {
        "10.0.0.1",     "10.0.0.1:",
        "10.0.0.1:-1",  "10.0.0.1:x",
        "10.0.0.1:1,",  ",",
        "host:5",       "10.0.0.1:2147483648",
        "10.0.0.256:1", "[::1:5",
        ":5",           "10.0.0.1:99999999999999999999",
        "10.0.0.1:1 2", "[10.0.0.1]]:1",
        "::1",          "1.2.3.4:1;5.6.7.8:2",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct address_limits limits;
        why[0] = '\0';
        assert_int_equal(address_limits_open(&limits, bad[i], why, sizeof why), ERR_USAGE);
        assert_non_null(strstr(why, "must be address:limit"));
    }
}

TEST(limits_without_memory_are_none)
{
    struct address_limits limits;
    mem_fail_at(1);
    int err = address_limits_open(&limits, "::1:2", why, sizeof why);
    mem_fail_at(0);
    assert_int_equal(err, ERR_NO_MEMORY);
}
