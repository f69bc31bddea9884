// SPDX-License-Identifier: Apache-2.0
/* What the operator asked for: Kafka's setting names, from a properties file, the environment and
 * the command line. One table says what each means, its type, default and range (config_table.h).
 *
 *    sluiced [--dev] [--adopt] [server.properties] [--set name=value]... [--check-config]
 *
 * `--set` wins over the environment (SLUICE_LOG_RETENTION_MS), that over the file (DESIGN 12). */

#ifndef BROKER_CONFIG_H
#define BROKER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config_listener {
    char *name; /* "PLAINTEXT" */
    char *host; /* Where it binds; "" for all. */
    uint16_t port;
    char *advertised_host;    /* What clients are told; never "". */
    uint16_t advertised_port; /* 0: the port that was bound (when the bound one was 0). */
};

struct config {
    bool dev;
    bool adopt; /* Take over partition folders that the metadata does not know (DESIGN 4.1). */
    int32_t node_id;
    char **log_dirs;
    unsigned log_dir_count;
    char *metadata_log_dir; /* NULL: the first of them. */
    struct config_listener *listeners;
    unsigned listener_count;
    char *rack; /* NULL: none. */

    int32_t num_partitions;
    int32_t default_replication_factor;
    bool auto_create_topics;
    bool delete_topics;

    int32_t network_threads;
    int32_t io_threads;       /* Threads of the disk pool. */
    int32_t recovery_threads; /* num.recovery.threads.per.data.dir; 0: as many as those. */
    int32_t socket_request_max_bytes;
    int64_t queued_max_request_bytes;
    int64_t connections_max_idle_ms;
    int32_t max_connections;
    int32_t max_connections_per_ip;
    char *max_connections_per_ip_overrides; /* As in address_limits.h; NULL: none. */
    int32_t max_connection_creation_rate;   /* In a second. */
    int32_t listen_backlog_size;
    int32_t socket_send_buffer_bytes;
    int32_t socket_receive_buffer_bytes;
    int32_t fetch_max_bytes;
    int32_t fetch_session_slots;
    int32_t response_partitions_max; /* max.request.partition.size.limit */
    int32_t sendfile_from_bytes;     /* sluice.sendfile.min.bytes */

    int64_t unsynced_max_bytes;         /* sluice.unsynced.max.bytes */
    int64_t flush_interval_ms;          /* How long written data stays unsynced at most. */
    int64_t checkpoint_interval_ms;     /* log.flush.offset.checkpoint.interval.ms */
    int64_t high_watermark_interval_ms; /* replica.high.watermark.checkpoint.interval.ms */
    int64_t retention_check_interval_ms;
    int64_t producer_expiration_ms; /* producer.id.expiration.ms */
    int64_t producer_expiration_check_interval_ms;
    bool cleaner_enable;
    int32_t cleaner_threads;
    int64_t cleaner_backoff_ms;
    int64_t cleaner_map_bytes; /* log.cleaner.dedupe.buffer.size */
    double cleaner_map_load;   /* log.cleaner.io.buffer.load.factor */
    int32_t cleaner_buffer_bytes;
    double cleaner_bytes_per_second;
    int32_t election_timeout_ms;     /* controller.quorum.election.timeout.ms */
    int64_t metadata_snapshot_bytes; /* metadata.log.max.record.bytes.between.snapshots */
    int64_t metadata_snapshot_interval_ms;

    /* What a topic gets that says nothing itself: pairs of a topic setting's name and value. */
    char **topic_defaults;        /* name, value, name, value, … */
    unsigned topic_default_count; /* Pairs. */

    int64_t max_startup_ms;     /* server.max.startup.time.ms */
    char *admin_listener;       /* NULL: none. */
    int32_t metrics_series_max; /* Topics, and logs, with series of their own. */
    char *log_level, *log_format;
    int64_t log_slow_request_ms;
    char *log_file; /* NULL: stderr. */

    /* What the operator said for all listeners, as text: pairs of a setting's name and value. */
    char **said;
    unsigned said_count; /* Pairs. */

    char **warnings; /* Sentences. */
    unsigned warning_count;
    /* Where all this was read; borrowed. */
    int argc;
    char **argv, **environment;
};

enum config_action { CONFIG_RUN, CONFIG_EXIT_OK, CONFIG_EXIT_PROBLEMS };

/* Reads everything, and keeps `argv` and `environment` to read it again. Errors give ERR_USAGE (or ERR_NO_MEMORY) with one clear sentence in `why`.
 * `environment` is a NULL-ended list as environ. CONFIG_EXIT_OK: --help, --version, --check-config
 * or --print-configuration printed what they should to stdout, and the program ends; `config` is then
 * empty. CONFIG_EXIT_PROBLEMS: the same, and --check-config told what is wrong. */
int config_load(struct config *config, int argc, char **argv, char **environment,
                enum config_action *action, char *why, size_t why_size);

/* Traces what is worth a warning: settings of Kafka's without effect here, listeners open to everybody. */
void config_tell_warnings(const struct config *config);

/* Reads everything again, from the same places. As above. */
int config_read_again(const struct config *config, struct config *fresh, char *why,
                      size_t why_size);

/* Frees everything and leaves it empty; an empty one is fine. */
void config_close(struct config *config);

#endif
