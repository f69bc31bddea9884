// SPDX-License-Identifier: Apache-2.0
/* What a topic's settings mean: one table of names, types, defaults and ranges, and their
 * values. */

#ifndef STORAGE_TOPIC_SETTINGS_H
#define STORAGE_TOPIC_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

enum cleanup_policy { CLEANUP_DELETE = 1, CLEANUP_COMPACT = 2 }; /* Bits. */

/* The values of every setting that the log or the partition acts on. Plain data: copy it. */
struct topic_settings {
    int32_t segment_bytes;
    int64_t segment_ms;
    int64_t segment_jitter_ms;
    int32_t segment_index_bytes;
    int32_t index_interval_bytes;
    int64_t retention_ms;    /* -1: none. */
    int64_t retention_bytes; /* -1: none. */
    int64_t file_delete_delay_ms;
    int32_t max_message_bytes;
    int32_t max_decompressed_message_bytes;
    int32_t min_insync_replicas;
    int64_t flush_messages;
    int64_t flush_ms;
    int cleanup_policy; /* Bits of enum cleanup_policy. */
    double min_cleanable_dirty_ratio;
    int64_t min_compaction_lag_ms;
    int64_t max_compaction_lag_ms;
    int64_t delete_retention_ms;
    int log_append_time; /* 1: the broker's time is written into batches, 0: the producer's stays. */
    int compression_type; /* An enum codec, or: */
#define COMPRESSION_PRODUCER (-1)
    int32_t gzip_level, lz4_level, zstd_level;
    int64_t timestamp_before_max_ms;
    int64_t timestamp_after_max_ms;
    bool preallocate;
};

/* Every setting at Kafka's default. */
void topic_settings_defaults(struct topic_settings *settings);

/* May a topic have `name`=`value`? 0, or ERR_INVALID_CONFIG with a sentence in `why` (may be NULL):
 * an unknown name, a value of the wrong type or out of range, or tiered storage. What nothing acts on
 * yet is accepted. `value` null means the default. */
int topic_settings_check(struct str name, struct str value, char *why, size_t why_size);

/* Sets one that topic_settings_check() accepts; others give ERR_INVALID_CONFIG. */
int topic_settings_set(struct topic_settings *settings, struct str name, struct str value);

/* One row of the table, for DescribeConfigs and the docs; `index` from 0, false at the end. */
struct topic_setting_row {
    const char *name;
    const char *type;           /* "int", "long", "string", "boolean", "double", "list" */
    const char *default_value;  /* As text, Kafka's spelling. */
    const char *broker_synonym; /* The broker setting that gives the default; may be NULL. */
    bool is_served;             /* Something acts on it. */
};
bool topic_settings_row(unsigned index, struct topic_setting_row *row);

/* What a setting means, in a sentence; NULL for a name that is none. */
const char *topic_settings_meaning(const char *name);

/* Kafka's rule for a topic name: 1 to 249 of [a-zA-Z0-9._-], not "." or "..". */
bool topic_name_is_legal(struct str name);

#endif
