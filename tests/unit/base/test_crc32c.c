// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <string.h>

#include "crc32c.h"

TEST(the_crc_is_castagnolis)
{
    /* RFC 3720, B.4, and the customary check value. */
    unsigned char bytes[32];
    assert_true(crc32c("123456789", 9) == 0xe3069283);
    memset(bytes, 0, sizeof bytes);
    assert_true(crc32c(bytes, sizeof bytes) == 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    assert_true(crc32c(bytes, sizeof bytes) == 0x62a8ab43);
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    assert_true(crc32c(bytes, sizeof bytes) == 0x46dd794e);
}

TEST(the_crc_of_nothing_is_zero)
{
    assert_int_equal(crc32c(NULL, 0), 0);
    assert_int_equal(crc32c_more(0x12345678, NULL, 0), 0x12345678);
}

TEST(a_crc_can_be_continued_anywhere)
{
    char text[300];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * i);
    uint32_t whole = crc32c(text, sizeof text);
    for (size_t at = 0; at <= sizeof text; at++)
        assert_true(crc32c_more(crc32c(text, at), text + at, sizeof text - at) == whole);
}
