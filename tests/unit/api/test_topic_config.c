// SPDX-License-Identifier: Apache-2.0
#include "runner.h"

#include "topic_config.h"

static const struct meta_setting broker_wide[] = { { "retention.ms", "1000" },
                                                   { "segment.bytes", "2000000" } };
static const struct meta_setting own[] = { { "retention.ms", "77" } };
static const struct meta_topic topic = { .name = "t", .settings = own, .setting_count = 1 };

TEST(a_topics_own_setting_wins_over_the_brokers_and_that_over_the_default)
{
    struct topic_settings settings, defaults;
    topic_settings_defaults(&defaults);

    topic_config_resolve(&topic, broker_wide, 2, &settings);

    assert_int_equal(settings.retention_ms, 77);
    assert_int_equal(settings.segment_bytes, 2000000);
    assert_int_equal(settings.max_message_bytes, defaults.max_message_bytes);
}

TEST(the_source_of_a_value_is_told)
{
    enum config_source source;
    struct topic_setting_row row = { .name = "retention.ms", .default_value = "604800000" };

    assert_string_equal(topic_config_value(&row, &topic, broker_wide, 2, &source), "77");
    assert_int_equal(source, CONFIG_SOURCE_TOPIC);
    row = (struct topic_setting_row){ .name = "segment.bytes", .default_value = "1073741824" };
    assert_string_equal(topic_config_value(&row, &topic, broker_wide, 2, &source), "2000000");
    assert_int_equal(source, CONFIG_SOURCE_BROKER);
    row = (struct topic_setting_row){ .name = "segment.ms", .default_value = "604800000" };
    assert_string_equal(topic_config_value(&row, &topic, broker_wide, 2, &source), "604800000");
    assert_int_equal(source, CONFIG_SOURCE_DEFAULT);
}
