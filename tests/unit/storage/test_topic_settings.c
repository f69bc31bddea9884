// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include <stdio.h>
#include <string.h>

#include "error.h"
#include "record_batch.h"
#include "topic_settings.h"

static int check(const char *name, const char *value)
{
    return topic_settings_check(str_from(name), str_from(value), NULL, 0);
}

static const char *why(const char *name, const char *value)
{
    static char text[200];
    text[0] = '\0';
    topic_settings_check(str_from(name), str_from(value), text, sizeof text);
    return text;
}

TEST(every_setting_accepts_its_own_default_and_null)
{
    struct topic_setting_row row;
    unsigned count = 0;
    for (; topic_settings_row(count, &row); count++) {
        assert_int_equal(check(row.name, row.default_value), 0);
        assert_int_equal(check(row.name, NULL), 0);
    }
    assert_int_equal(count, 37); /* Kafka 4.4's, without the internal one. */
}

TEST(the_defaults_are_kafkas)
{
    struct topic_settings settings;
    topic_settings_defaults(&settings);
    assert_int_equal(settings.segment_bytes, 1073741824);
    assert_int_equal(settings.segment_ms, 604800000);
    assert_int_equal(settings.segment_index_bytes, 10485760);
    assert_int_equal(settings.index_interval_bytes, 4096);
    assert_int_equal(settings.retention_ms, 604800000);
    assert_int_equal(settings.retention_bytes, -1);
    assert_int_equal(settings.file_delete_delay_ms, 60000);
    assert_int_equal(settings.max_message_bytes, 1048588);
    assert_int_equal(settings.max_decompressed_message_bytes, 2147483639);
    assert_int_equal(settings.min_insync_replicas, 1);
    assert_int_equal(settings.flush_messages, INT64_MAX);
    assert_int_equal(settings.flush_ms, INT64_MAX);
    assert_int_equal(settings.cleanup_policy, CLEANUP_DELETE);
    assert_false(settings.log_append_time);
    assert_int_equal(settings.timestamp_before_max_ms, INT64_MAX);
    assert_int_equal(settings.timestamp_after_max_ms, 3600000);
    assert_false(settings.preallocate);
}

TEST(served_settings_take_other_values)
{
    struct topic_settings settings;
    topic_settings_defaults(&settings);
    assert_int_equal(
        topic_settings_set(&settings, STR_LITERAL("retention.ms"), STR_LITERAL(" -1 ")), 0);
    assert_int_equal(settings.retention_ms, -1);
    assert_int_equal(
        topic_settings_set(&settings, STR_LITERAL("max.message.bytes"), STR_LITERAL("+77")), 0);
    assert_int_equal(settings.max_message_bytes, 77);
    assert_int_equal(topic_settings_set(&settings, STR_LITERAL("max.message.bytes"), STR_NULL), 0);
    assert_int_equal(settings.max_message_bytes, 1048588);
}

TEST(a_refused_value_changes_nothing)
{
    struct topic_settings settings;
    topic_settings_defaults(&settings);
    assert_int_equal(topic_settings_set(&settings, STR_LITERAL("segment.bytes"), STR_LITERAL("12")),
                     ERR_INVALID_CONFIG);
    assert_int_equal(settings.segment_bytes, 1073741824);
}

TEST(settings_that_nothing_acts_on_are_checked_all_the_same)
{
    assert_int_equal(check("remote.copy.lag.ms", " 0 "), 0);
    assert_int_equal(check("remote.copy.lag.ms", "1"), 0);
    assert_int_equal(check("remote.copy.lag.ms", "-2"), ERR_INVALID_CONFIG);
    assert_int_equal(check("unclean.leader.election.enable", "true"), 0);
    assert_int_equal(check("unclean.leader.election.enable", "x"), ERR_INVALID_CONFIG);
    assert_int_equal(check("remote.storage.enable", "FALSE"), 0);
    assert_int_equal(check("remote.storage.enable", "true"), ERR_INVALID_CONFIG);
}

TEST(throttled_replicas_are_pairs_of_partitions_and_brokers_or_all)
{
    static const char *const legal[] = {
        "",
        "  ",
        "*",
        "0:1",
        "0:1,1:1",
        " 0:1 , 12:345 ",
        "0:1,1:1,2:1,3:1,4:1,5:1,6:1,7:1,8:1,9:1,10:1,11:1,12:1,13:1,14:1,15:1,16:1,17:1"
    };
    static const char *const illegal[] = { "x", "0", "0:", ":1", "1:2:3", "*,0:1", "0:-1", "0;1" };
    for (size_t i = 0; i < sizeof legal / sizeof legal[0]; i++)
        assert_int_equal(check("leader.replication.throttled.replicas", legal[i]), 0);
    for (size_t i = 0; i < sizeof illegal / sizeof illegal[0]; i++)
        assert_int_equal(check("follower.replication.throttled.replicas", illegal[i]),
                         ERR_INVALID_CONFIG);
}

TEST(a_topic_may_have_a_codec_and_the_brokers_time)
{
    static const struct {
        const char *value;
        int type;
    } types[] = { { "uncompressed", CODEC_NONE }, { "gzip", CODEC_GZIP },
                  { "snappy", CODEC_SNAPPY },     { "lz4", CODEC_LZ4 },
                  { "zstd", CODEC_ZSTD },         { "producer", COMPRESSION_PRODUCER } };
    struct topic_settings settings;
    topic_settings_defaults(&settings);
    assert_int_equal(settings.compression_type, COMPRESSION_PRODUCER);
    assert_int_equal(settings.gzip_level, -1);
    assert_int_equal(settings.lz4_level, 9);
    assert_int_equal(settings.zstd_level, 3);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        assert_int_equal(topic_settings_set(&settings, STR_LITERAL("compression.type"),
                                            str_from(types[i].value)),
                         0);
        assert_int_equal(settings.compression_type, types[i].type);
    }
    assert_int_equal(check("compression.type", "none"), ERR_INVALID_CONFIG);
    assert_int_equal(topic_settings_set(&settings, STR_LITERAL("message.timestamp.type"),
                                        STR_LITERAL("LogAppendTime")),
                     0);
    assert_true(settings.log_append_time);
}

TEST(a_topic_may_be_compacted)
{
    struct topic_settings settings;
    topic_settings_defaults(&settings);
    static const struct {
        const char *value;
        int policy;
    } policies[] = { { "compact", CLEANUP_COMPACT },
                     { "delete , compact", CLEANUP_COMPACT | CLEANUP_DELETE },
                     { " delete ", CLEANUP_DELETE },
                     { "delete,delete", CLEANUP_DELETE } };
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        assert_int_equal(topic_settings_set(&settings, STR_LITERAL("cleanup.policy"),
                                            str_from(policies[i].value)),
                         0);
        assert_int_equal(settings.cleanup_policy, policies[i].policy);
    }
    assert_true(settings.min_cleanable_dirty_ratio == 0.5);
    assert_int_equal(topic_settings_set(&settings, STR_LITERAL("min.cleanable.dirty.ratio"),
                                        STR_LITERAL("2.5e-1")),
                     0);
    assert_true(settings.min_cleanable_dirty_ratio == 0.25);
    assert_int_equal(check("min.cleanable.dirty.ratio", "1.1"), ERR_INVALID_CONFIG);
    assert_int_equal(
        topic_settings_set(&settings, STR_LITERAL("delete.retention.ms"), STR_LITERAL("7")), 0);
    assert_int_equal(settings.delete_retention_ms, 7);
    assert_int_equal(settings.min_compaction_lag_ms, 0);
    assert_int_equal(settings.max_compaction_lag_ms, INT64_MAX);
}

TEST(numbers_are_read_as_java_reads_them)
{
    static const char *const bad[] = { "",          " ",   "+",  "-",   "1 0",
                                       "0x10",      "1.0", "1k", "--1", "9223372036854775808",
                                       "2147483648" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(check("max.message.bytes", bad[i]), ERR_INVALID_CONFIG);
    assert_int_equal(check("max.message.bytes", "\t00042\n"), 0);
    assert_int_equal(check("retention.bytes", "-9223372036854775808"), 0);
    assert_int_equal(check("retention.bytes", "-9223372036854775809"), ERR_INVALID_CONFIG);
    assert_int_equal(check("min.cleanable.dirty.ratio", "nan"), ERR_INVALID_CONFIG);
}

TEST(ranges_are_held)
{
    assert_int_equal(check("segment.bytes", "1048576"), 0);
    assert_int_equal(check("segment.bytes", "1048575"), ERR_INVALID_CONFIG);
    assert_int_equal(check("segment.ms", "0"), ERR_INVALID_CONFIG);
    assert_int_equal(check("min.insync.replicas", "0"), ERR_INVALID_CONFIG);
    assert_int_equal(check("retention.ms", "-2"), ERR_INVALID_CONFIG);
}

TEST(a_refusal_says_why)
{
    assert_string_equal(why("retention.msec", "1"),
                        "a topic has no setting named \"retention.msec\"");
    assert_string_equal(why("segment.ms", "soon"),
                        "segment.ms must be of type long, from 1 to 9223372036854775807, "
                        "not \"soon\"");
    assert_string_equal(why("cleanup.policy", "keep"),
                        "cleanup.policy cannot be \"keep\"; it knows delete compact");
    assert_string_equal(why("remote.storage.enable", "true"),
                        "remote.storage.enable cannot be changed in this version; its value is "
                        "\"false\"");
    assert_string_equal(why("preallocate", "yes"),
                        "preallocate must be of type boolean, not \"yes\"");
}

TEST(what_a_client_sent_is_shown_cut_and_harmless)
{
    char name[1000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_true(strlen(why(name, "1")) < 150);
    assert_string_equal(why("a\x1b[31m\xff", "1"), "a topic has no setting named \"a?[31m?\"");
    char small[8];
    topic_settings_check(str_from(name), STR_NULL, small, sizeof small);
    assert_int_equal(strlen(small), 7);
}

TEST(topic_names_are_kafkas)
{
    char name[251];
    memset(name, 'x', sizeof name);
    assert_true(topic_name_is_legal((struct str){ name, 249 }));
    assert_false(topic_name_is_legal((struct str){ name, 250 }));
    assert_true(topic_name_is_legal(STR_LITERAL("a.B_9-c")));
    assert_true(topic_name_is_legal(STR_LITERAL("...")));
    assert_false(topic_name_is_legal(STR_LITERAL("")));
    assert_false(topic_name_is_legal(STR_NULL));
    assert_false(topic_name_is_legal(STR_LITERAL(".")));
    assert_false(topic_name_is_legal(STR_LITERAL("..")));
    assert_false(topic_name_is_legal(STR_LITERAL("a/b")));
    assert_false(topic_name_is_legal((struct str){ "a\0b", 3 }));
    assert_false(topic_name_is_legal(STR_LITERAL("\xc3\xa9")));
}
