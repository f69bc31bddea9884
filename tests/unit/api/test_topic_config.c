// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "topic_config.h"

static const struct meta_setting broker_wide[] = { { "retention.ms", "1000" },
                                                   { "segment.bytes", "2000000" } };
static const struct meta_setting own[] = { { "retention.ms", "77" } };
static const struct meta_topic topic = { .name = "t", .settings = own, .setting_count = 1 };

static const struct topic_config_base base = { .defaults = broker_wide, .default_count = 2 };

TEST(a_topics_own_setting_wins_over_the_brokers_and_that_over_the_default)
{
    struct topic_settings settings, defaults;
    topic_settings_defaults(&defaults);

    topic_config_resolve(&topic, &base, &settings);

    assert_int_equal(settings.retention_ms, 77);
    assert_int_equal(settings.segment_bytes, 2000000);
    assert_int_equal(settings.max_message_bytes, defaults.max_message_bytes);
}

TEST(the_source_of_a_value_is_told)
{
    enum config_source source;
    struct topic_setting_row row = { .name = "retention.ms", .default_value = "604800000" };

    assert_string_equal(topic_config_value(&row, &topic, &base, &source), "77");
    assert_int_equal(source, CONFIG_SOURCE_TOPIC);
    row = (struct topic_setting_row){ .name = "segment.bytes", .default_value = "1073741824" };
    assert_string_equal(topic_config_value(&row, &topic, &base, &source), "2000000");
    assert_int_equal(source, CONFIG_SOURCE_STATIC);
    row = (struct topic_setting_row){ .name = "segment.ms", .default_value = "604800000" };
    assert_string_equal(topic_config_value(&row, &topic, &base, &source), "604800000");
    assert_int_equal(source, CONFIG_SOURCE_DEFAULT);
}

TEST(what_was_set_at_run_time_wins_over_what_the_operator_said)
{
    static const struct meta_setting of_one[] = { { "log.segment.bytes", "3000000" } };
    static const struct meta_setting of_all[] = { { "log.flush.interval.ms", "9" },
                                                  { "log.retention.ms", "5" },
                                                  { "log.segment.bytes", "4000000" } };
    static const struct meta_broker_settings one = { 1, 1, of_one }, all = { -1, 3, of_all };
    struct topic_config_base layered = base;
    struct topic_settings settings;
    layered.layers = (struct broker_config_layers){ &one, &all };

    topic_config_resolve(&topic, &layered, &settings);

    assert_int_equal(settings.retention_ms, 77);
    assert_int_equal(settings.segment_bytes, 3000000);
    assert_int_equal(settings.flush_ms, 9);
}
