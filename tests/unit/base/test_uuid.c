// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "error.h"
#include "uuid.h"

TEST(a_uuid_is_written_as_kafka_writes_it)
{
    char text[UUID_TEXT_SIZE];
    struct uuid zero = { { 0 } };
    struct uuid one = { { [15] = 1 } };
    struct uuid all = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                          0xff, 0xff, 0xff, 0xff } };
    struct uuid counted = { { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 } };
    uuid_print(&zero, text);
    assert_string_equal(text, "AAAAAAAAAAAAAAAAAAAAAA");
    uuid_print(&one, text);
    assert_string_equal(text, "AAAAAAAAAAAAAAAAAAAAAQ");
    uuid_print(&all, text);
    assert_string_equal(text, "_____________________w");
    uuid_print(&counted, text);
    assert_string_equal(text, "AAECAwQFBgcICQoLDA0ODw");
}

TEST(a_text_leads_back_to_its_uuid)
{
    for (int i = 0; i < 1000; i++) {
        struct uuid uuid, parsed;
        char text[UUID_TEXT_SIZE];
        assert_int_equal(uuid_random(&uuid), 0);
        uuid_print(&uuid, text);
        assert_int_equal(uuid_parse(&parsed, text), 0);
        assert_true(uuid_equal(&uuid, &parsed));
    }
}

TEST(other_texts_are_refused_and_change_nothing)
{
    static const char *const texts[] = {
        "",
        "AAAAAAAAAAAAAAAAAAAAA",    /* 21 characters */
        "AAAAAAAAAAAAAAAAAAAAAAA",  /* 23 */
        "AAAAAAAAAAAAAAAAAAAAAA==", /* padded */
        "AAAAAAAAAAAAAAAAAAAAA=",   /* padded to the right length */
        "+AAAAAAAAAAAAAAAAAAAAA",   /* the other base64 */
        "AAAAAAAAAAA AAAAAAAAAA",
        "\xc3\xa4_AAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAB", /* bits behind the 128th */
        "AAAAAAAAAAAAAAAAAAAAA_",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct uuid uuid = { { 7 } };
        assert_int_equal(uuid_parse(&uuid, texts[i]), ERR_MALFORMED);
        assert_int_equal(uuid.bytes[0], 7);
    }
}

TEST(random_uuids_are_version_4_and_never_look_like_an_option)
{
    struct uuid last = { { 0 } };
    for (int i = 0; i < 10000; i++) {
        struct uuid uuid;
        char text[UUID_TEXT_SIZE];
        assert_int_equal(uuid_random(&uuid), 0);
        assert_int_equal(uuid.bytes[6] >> 4, 4);
        assert_int_equal(uuid.bytes[8] >> 6, 2);
        assert_false(uuid_is_zero(&uuid));
        assert_false(uuid_equal(&uuid, &last));
        uuid_print(&uuid, text);
        assert_int_not_equal(text[0], '-');
        last = uuid;
    }
}

TEST(only_zero_is_zero)
{
    struct uuid uuid = { { 0 } };
    assert_true(uuid_is_zero(&uuid));
    uuid.bytes[15] = 1;
    assert_false(uuid_is_zero(&uuid));
}
