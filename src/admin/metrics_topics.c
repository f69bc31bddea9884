// SPDX-License-Identifier: Apache-2.0
/* Topics in the order of their names, as far as series_max goes, and of each the logs that are here, as far
 * as that goes, too. What is left out is counted. */

#include "metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "metrics_text.h"

struct topic_row {
    const struct meta_topic *topic;
    uint64_t size_bytes, appended_bytes, appended_records, appended_batches, fetched_bytes;
};

struct log_row {
    const struct meta_topic *topic;
    char index[12];
    struct partition_stats stats;
};

struct table {
    struct topic_row *topics;
    struct log_row *logs;
    unsigned topic_count, log_count, log_max;
    uint64_t topics_left_out, logs_left_out;
};

static int by_name(const void *a, const void *b)
{
    const struct topic_row *left = a, *right = b;
    return strcmp(left->topic->name, right->topic->name);
}

/* All topics at first: which of them are told depends on all names. */
static bool table_open(struct table *table, const struct meta_view *view, unsigned series_max)
{
    *table = (struct table){ .log_max = series_max };
    unsigned count = meta_view_topic_count(view);
    table->topics = mem_calloc(count + 1u, sizeof *table->topics);
    table->logs = mem_calloc(series_max + 1u, sizeof *table->logs);
    if (table->topics == NULL || table->logs == NULL) return false;
    const struct meta_topic *topic;
    struct meta_topic_cursor at = { 0 };
    while (table->topic_count < count && (topic = meta_view_next_topic(view, &at)) != NULL)
        table->topics[table->topic_count++].topic = topic;
    qsort(table->topics, table->topic_count, sizeof *table->topics, by_name);
    if (table->topic_count > series_max) {
        table->topics_left_out = table->topic_count - series_max;
        table->topic_count = series_max;
    }
    return true;
}

static void add_log(struct table *table, struct topic_row *row, unsigned index,
                    struct partition *partition)
{
    struct partition_stats stats;
    partition_stats(partition, &stats);
    row->size_bytes += (uint64_t)stats.size_bytes;
    row->appended_bytes += stats.appended_bytes;
    row->appended_records += stats.appended_records;
    row->appended_batches += stats.appended_batches;
    row->fetched_bytes += stats.fetched_bytes;
    if (stats.state != PARTITION_SERVING) return;
    if (table->log_count == table->log_max) {
        table->logs_left_out++;
        return;
    }
    struct log_row *log = &table->logs[table->log_count++];
    log->topic = row->topic;
    log->stats = stats;
    snprintf(log->index, sizeof log->index, "%u", index);
}

static void fill(struct table *table, struct partition_set *partitions)
{
    for (unsigned i = 0; i < table->topic_count; i++) {
        struct topic_row *row = &table->topics[i];
        for (unsigned index = 0; index < row->topic->partition_count; index++) {
            struct partition *partition = partition_set_find(partitions, &row->topic->id,
                                                             (int32_t)index);
            if (partition == NULL) continue;
            add_log(table, row, index, partition);
            partition_unref(partition);
        }
    }
}

/* ---- lines ---- */

static void print_topics(struct buffer *out, const struct table *table, const char *name,
                         const char *type, size_t field, const char *help)
{
    metrics_family(out, name, type, help);
    for (unsigned i = 0; i < table->topic_count; i++) {
        const struct topic_row *row = &table->topics[i];
        const uint64_t *value = (const void *)((const char *)row + field);
        metrics_u64(out, name,
                    (struct metrics_labels){ .name = "topic", .value = row->topic->name }, *value);
    }
}

static void print_logs(struct buffer *out, const struct table *table, const char *name,
                       size_t field, const char *help)
{
    metrics_family(out, name, "gauge", help);
    for (unsigned i = 0; i < table->log_count; i++) {
        const struct log_row *row = &table->logs[i];
        const int64_t *value = (const void *)((const char *)&row->stats + field);
        metrics_i64(out, name,
                    (struct metrics_labels){ .name = "topic",
                                             .value = row->topic->name,
                                             .second_name = "partition",
                                             .second_value = row->index },
                    *value);
    }
}

static void print_table(struct buffer *out, const struct table *table)
{
    static const struct metrics_labels none = { 0 };
#define TOPIC_FIELD(field) offsetof(struct topic_row, field)
    print_topics(out, table, "sluice_topic_size_bytes", "gauge", TOPIC_FIELD(size_bytes),
                 "What the topic's logs here take on disk.");
    print_topics(out, table, "sluice_topic_appended_bytes_total", "counter",
                 TOPIC_FIELD(appended_bytes), "Bytes of batches appended.");
    print_topics(out, table, "sluice_topic_appended_records_total", "counter",
                 TOPIC_FIELD(appended_records), "Records appended.");
    print_topics(out, table, "sluice_topic_appended_batches_total", "counter",
                 TOPIC_FIELD(appended_batches), "Batches appended.");
    print_topics(out, table, "sluice_topic_fetched_bytes_total", "counter",
                 TOPIC_FIELD(fetched_bytes), "Bytes of batches that fetches were answered with.");
#undef TOPIC_FIELD
#define LOG_FIELD(field) offsetof(struct partition_stats, field)
    print_logs(out, table, "sluice_log_start_offset", LOG_FIELD(start_offset),
               "The first offset that can be read.");
    print_logs(out, table, "sluice_log_end_offset", LOG_FIELD(end_offset),
               "The offset that the next record gets.");
    print_logs(out, table, "sluice_log_high_watermark", LOG_FIELD(high_watermark),
               "Consumers see records below it.");
    print_logs(out, table, "sluice_log_size_bytes", LOG_FIELD(size_bytes),
               "What the log takes on disk.");
#undef LOG_FIELD
    metrics_family(out, "sluice_topics_left_out", "gauge",
                   "Topics without series of their own: sluice.metrics.series.max.");
    metrics_u64(out, "sluice_topics_left_out", none, table->topics_left_out);
    metrics_family(out, "sluice_logs_left_out", "gauge",
                   "Logs, of the topics that have series, without series of their own.");
    metrics_u64(out, "sluice_logs_left_out", none, table->logs_left_out);
}

void metrics_print_topics(struct buffer *out, const struct metrics_sources *sources,
                          const struct meta_view *view)
{
    struct table table;
    if (table_open(&table, view, sources->series_max)) {
        fill(&table, sources->partitions);
        print_table(out, &table);
    } else {
        out->failed = true;
    }
    mem_free(table.topics);
    mem_free(table.logs);
}
