// SPDX-License-Identifier: Apache-2.0
/* Every setting: Kafka's broker settings (4.4) and our own, which begin with "sluice.".
 *
 *  SERVED(name, type, default, valid, field, meaning): the value goes to that field of config.h.
 *  TOGETHER(name, type, default, valid, meaning): several are looked at together, in config.c.
 *  TOPIC_DEFAULT(name, type, default, valid, topic setting, unit): what a topic gets that says
 *      nothing itself. Of several for one topic setting, the finest unit wins, then the first row.
 *  NO_EFFECT(name, type, default, valid): Kafka has it; here it does nothing, or nothing yet.
 *  REFUSED(name, type, default, valid, reason): nothing but the default is accepted, since silence
 *      would weaken a promise (DESIGN 12).
 *
 * Names, types, defaults and ranges are Kafka's, except where the machine or a single node decides.
 * `valid` is "least..most" (either may be missing), words with | between them, or "" for anything.
 *
 * To serve one: move its row to SERVED with a field in struct config, or to TOGETHER with code in
 * config.c, and print docs/configuration.md again (scripts/check-docs.sh compares). */

#ifndef BROKER_CONFIG_TABLE_H
#define BROKER_CONFIG_TABLE_H

#define CONFIG_NO_TLS         "there is no TLS in this version"
#define CONFIG_NO_LOGINS      "there are no logins in this version"
#define CONFIG_NO_ACLS        "there are no ACLs in this version"
#define CONFIG_NO_JAVA        "Java classes cannot be loaded, and what it is to forbid would pass"
#define CONFIG_NO_REPLICATION "nothing is replicated in this version"

/* clang-format off */
#define CONFIG_TABLE(SERVED, TOGETHER, TOPIC_DEFAULT, NO_EFFECT, REFUSED) \
    NO_EFFECT("add.partitions.to.txn.retry.backoff.max.ms", INT, "100", "0..") \
    NO_EFFECT("add.partitions.to.txn.retry.backoff.ms", INT, "20", "1..") \
    TOGETHER("advertised.listeners", LIST, NULL, "", \
        "What clients are told to connect to, by the name of the listener: " \
        "`NAME://host:port`. By default as in `listeners`, with the name of the machine for a " \
        "host that stands for all addresses.") \
    REFUSED("allow.everyone.if.no.acl.found", BOOLEAN, "false", "", CONFIG_NO_ACLS) \
    REFUSED("alter.config.policy.class.name", CLASS, NULL, "", CONFIG_NO_JAVA) \
    NO_EFFECT("alter.log.dirs.replication.quota.window.num", INT, "11", "1..") \
    NO_EFFECT("alter.log.dirs.replication.quota.window.size.seconds", INT, "1", "1..") \
    REFUSED("authorizer.class.name", STRING, "", "", CONFIG_NO_ACLS) \
    SERVED("auto.create.topics.enable", BOOLEAN, "true", "", auto_create_topics, \
        "A topic that a client asks for by name is created.") \
    NO_EFFECT("auto.leader.rebalance.enable", BOOLEAN, "true", "") \
    NO_EFFECT("background.threads", INT, "10", "1..") \
    NO_EFFECT("broker.heartbeat.interval.ms", INT, "2000", "") \
    TOGETHER("broker.id", INT, "-1", "-1..", "An older name of `node.id`; -1: not given.") \
    SERVED("broker.rack", STRING, NULL, "", rack, "Where this node stands; clients are told.") \
    NO_EFFECT("broker.session.timeout.ms", INT, "9000", "") \
    REFUSED("client.quota.callback.class", CLASS, NULL, "", CONFIG_NO_JAVA) \
    TOPIC_DEFAULT("compression.gzip.level", INT, "-1", "-1..9", "compression.gzip.level", 1) \
    TOPIC_DEFAULT("compression.lz4.level", INT, "9", "1..17", "compression.lz4.level", 1) \
    TOPIC_DEFAULT("compression.type", STRING, "producer", \
        "uncompressed|zstd|lz4|snappy|gzip|producer", "compression.type", 1) \
    TOPIC_DEFAULT("compression.zstd.level", INT, "3", "-131072..22", "compression.zstd.level", 1) \
    REFUSED("config.providers", LIST, "", "", \
        "values are taken as they stand, so a reference to a provider would be taken for the " \
        "value") \
    NO_EFFECT("connection.failed.authentication.delay.ms", INT, "100", "0..") \
    SERVED("connections.max.idle.ms", LONG, "600000", "", connections_max_idle_ms, \
        "A connection without requests is closed after so long; negative: never.") \
    REFUSED("connections.max.reauth.ms", LONG, "0", "", CONFIG_NO_LOGINS) \
    NO_EFFECT("controlled.shutdown.enable", BOOLEAN, "true", "") \
    TOGETHER("controller.listener.names", LIST, "", "", \
        "Listeners between controllers. They are not opened: this version is a quorum of one " \
        "node.") \
    NO_EFFECT("controller.performance.always.log.threshold.ms", LONG, "2000", "0..") \
    NO_EFFECT("controller.performance.sample.period.ms", LONG, "60000", "100..") \
    NO_EFFECT("controller.quorum.append.linger.ms", INT, "25", "0..") \
    NO_EFFECT("controller.quorum.auto.join.enable", BOOLEAN, "false", "") \
    TOGETHER("controller.quorum.bootstrap.servers", LIST, "", "", \
        "Where to find the quorum. This version is a quorum of one node, so one at most.") \
    NO_EFFECT("controller.quorum.election.backoff.max.ms", INT, "1000", "0..") \
    SERVED("controller.quorum.election.timeout.ms", INT, "1000", "100..", election_timeout_ms, \
        "How long the quorum waits for its leader before it elects another.") \
    NO_EFFECT("controller.quorum.fetch.max.bytes", INT, "1048576", "1..") \
    NO_EFFECT("controller.quorum.fetch.snapshot.max.bytes", INT, "1048576", "1..") \
    NO_EFFECT("controller.quorum.fetch.timeout.ms", INT, "2000", "0..") \
    NO_EFFECT("controller.quorum.request.timeout.ms", INT, "2000", "0..") \
    NO_EFFECT("controller.quorum.retry.backoff.ms", INT, "20", "0..") \
    TOGETHER("controller.quorum.voters", LIST, "", "", \
        "The nodes of the quorum, as `id@host:port`. This version is a quorum of one node: " \
        "itself.") \
    NO_EFFECT("controller.quota.window.num", INT, "11", "1..") \
    NO_EFFECT("controller.quota.window.size.seconds", INT, "1", "1..") \
    NO_EFFECT("controller.socket.timeout.ms", INT, "30000", "") \
    NO_EFFECT("cordoned.log.dirs", LIST, "", "") \
    REFUSED("create.topic.policy.class.name", CLASS, NULL, "", CONFIG_NO_JAVA) \
    REFUSED("default.replication.factor", INT, "1", "", CONFIG_NO_REPLICATION) \
    REFUSED("delegation.token.expiry.check.interval.ms", LONG, "3600000", "1..", CONFIG_NO_LOGINS) \
    REFUSED("delegation.token.expiry.time.ms", LONG, "86400000", "1..", CONFIG_NO_LOGINS) \
    REFUSED("delegation.token.max.lifetime.ms", LONG, "604800000", "1..", CONFIG_NO_LOGINS) \
    REFUSED("delegation.token.secret.key", PASSWORD, NULL, "", CONFIG_NO_LOGINS) \
    NO_EFFECT("delete.records.purgatory.purge.interval.requests", INT, "1", "") \
    SERVED("delete.topic.enable", BOOLEAN, "true", "", delete_topics, "Topics may be deleted.") \
    NO_EFFECT("early.start.listeners", LIST, NULL, "") \
    NO_EFFECT("errors.deadletterqueue.auto.create.topics.enable", BOOLEAN, "false", "") \
    NO_EFFECT("errors.deadletterqueue.topic.name.prefix", STRING, "dlq.", "") \
    SERVED("fetch.max.bytes", INT, "57671680", "1024..", fetch_max_bytes, \
        "The most that one fetch answers with.") \
    NO_EFFECT("fetch.purgatory.purge.interval.requests", INT, "1000", "") \
    NO_EFFECT("follower.fetch.last.tiered.offset.enable", BOOLEAN, "false", "") \
    NO_EFFECT("follower.replication.throttled.rate", LONG, "9223372036854775807", "0..") \
    NO_EFFECT("group.consumer.assignment.interval.ms", INT, "1000", "0..") \
    NO_EFFECT("group.consumer.assignor.offload.enable", BOOLEAN, "true", "") \
    NO_EFFECT("group.consumer.assignors", LIST, "uniform,range", "") \
    NO_EFFECT("group.consumer.heartbeat.interval.ms", INT, "5000", "1..") \
    NO_EFFECT("group.consumer.max.assignment.interval.ms", INT, "15000", "0..") \
    NO_EFFECT("group.consumer.max.heartbeat.interval.ms", INT, "15000", "1..") \
    NO_EFFECT("group.consumer.max.session.timeout.ms", INT, "60000", "1..") \
    NO_EFFECT("group.consumer.max.size", INT, "2147483647", "1..") \
    NO_EFFECT("group.consumer.migration.policy", STRING, "bidirectional", \
        "DISABLED|DOWNGRADE|UPGRADE|BIDIRECTIONAL") \
    NO_EFFECT("group.consumer.min.assignment.interval.ms", INT, "0", "0..") \
    NO_EFFECT("group.consumer.min.heartbeat.interval.ms", INT, "5000", "1..") \
    NO_EFFECT("group.consumer.min.session.timeout.ms", INT, "45000", "1..") \
    NO_EFFECT("group.consumer.regex.refresh.interval.ms", INT, "600000", "10000..") \
    NO_EFFECT("group.consumer.session.timeout.ms", INT, "45000", "1..") \
    NO_EFFECT("group.coordinator.append.linger.ms", INT, "-1", "-1..") \
    NO_EFFECT("group.coordinator.background.threads", INT, "2", "1..") \
    NO_EFFECT("group.coordinator.cached.buffer.max.bytes", INT, "1048588", "524288..") \
    NO_EFFECT("group.coordinator.rebalance.protocols", LIST, "classic,consumer,streams", \
        "consumer|classic|share|streams") \
    NO_EFFECT("group.coordinator.threads", INT, "4", "1..") \
    NO_EFFECT("group.initial.rebalance.delay.ms", INT, "3000", "") \
    NO_EFFECT("group.max.session.timeout.ms", INT, "1800000", "") \
    NO_EFFECT("group.max.size", INT, "2147483647", "1..") \
    NO_EFFECT("group.min.session.timeout.ms", INT, "6000", "") \
    NO_EFFECT("group.share.assignment.interval.ms", INT, "1000", "0..") \
    NO_EFFECT("group.share.assignor.offload.enable", BOOLEAN, "true", "") \
    NO_EFFECT("group.share.assignors", LIST, "simple", "") \
    NO_EFFECT("group.share.delivery.count.limit", INT, "5", "2..10") \
    NO_EFFECT("group.share.dlq.manager.class.name", STRING, \
        "org.apache.kafka.server.share.dlq.DefaultShareGroupDLQManager", "") \
    NO_EFFECT("group.share.heartbeat.interval.ms", INT, "5000", "1..") \
    NO_EFFECT("group.share.initialize.retry.interval.ms", INT, "30000", "1..") \
    NO_EFFECT("group.share.max.assignment.interval.ms", INT, "15000", "0..") \
    NO_EFFECT("group.share.max.delivery.count.limit", INT, "10", "5..25") \
    NO_EFFECT("group.share.max.heartbeat.interval.ms", INT, "15000", "1..") \
    NO_EFFECT("group.share.max.partition.max.record.locks", INT, "4000", "2000..10000") \
    NO_EFFECT("group.share.max.record.lock.duration.ms", INT, "60000", "30000..3600000") \
    NO_EFFECT("group.share.max.session.timeout.ms", INT, "60000", "1..") \
    NO_EFFECT("group.share.max.share.sessions", INT, "2000", "1..") \
    NO_EFFECT("group.share.max.size", INT, "200", "1..1000") \
    NO_EFFECT("group.share.min.assignment.interval.ms", INT, "0", "0..") \
    NO_EFFECT("group.share.min.delivery.count.limit", INT, "2", "2..5") \
    NO_EFFECT("group.share.min.heartbeat.interval.ms", INT, "5000", "1..") \
    NO_EFFECT("group.share.min.partition.max.record.locks", INT, "100", "100..2000") \
    NO_EFFECT("group.share.min.record.lock.duration.ms", INT, "15000", "1000..30000") \
    NO_EFFECT("group.share.min.session.timeout.ms", INT, "45000", "1..") \
    NO_EFFECT("group.share.partition.max.record.locks", INT, "2000", "100..10000") \
    NO_EFFECT("group.share.persister.class.name", STRING, \
        "org.apache.kafka.server.share.persister.DefaultStatePersister", "") \
    NO_EFFECT("group.share.record.lock.duration.ms", INT, "30000", "1000..3600000") \
    NO_EFFECT("group.share.session.timeout.ms", INT, "45000", "1..") \
    NO_EFFECT("group.streams.acceptable.recovery.lag", LONG, "10000", "0..") \
    NO_EFFECT("group.streams.assignment.interval.ms", INT, "1000", "0..") \
    NO_EFFECT("group.streams.assignor.offload.enable", BOOLEAN, "true", "") \
    NO_EFFECT("group.streams.assignors", LIST, "sticky", "") \
    NO_EFFECT("group.streams.heartbeat.interval.ms", INT, "5000", "1..") \
    NO_EFFECT("group.streams.initial.rebalance.delay.ms", INT, "3000", "0..") \
    NO_EFFECT("group.streams.max.assignment.interval.ms", INT, "15000", "0..") \
    NO_EFFECT("group.streams.max.heartbeat.interval.ms", INT, "15000", "1..") \
    NO_EFFECT("group.streams.max.session.timeout.ms", INT, "60000", "1..") \
    NO_EFFECT("group.streams.max.size", INT, "2147483647", "1..") \
    NO_EFFECT("group.streams.max.standby.replicas", INT, "2", "0..") \
    NO_EFFECT("group.streams.max.warmup.replicas", INT, "20", "0..") \
    NO_EFFECT("group.streams.min.assignment.interval.ms", INT, "0", "0..") \
    NO_EFFECT("group.streams.min.heartbeat.interval.ms", INT, "5000", "1..") \
    NO_EFFECT("group.streams.min.session.timeout.ms", INT, "45000", "1..") \
    NO_EFFECT("group.streams.min.task.offset.interval.ms", INT, "15000", "1..") \
    NO_EFFECT("group.streams.num.standby.replicas", INT, "0", "0..") \
    NO_EFFECT("group.streams.num.warmup.replicas", INT, "2", "0..") \
    NO_EFFECT("group.streams.rack.aware.assignment.tags", LIST, "", "") \
    NO_EFFECT("group.streams.session.timeout.ms", INT, "45000", "1..") \
    NO_EFFECT("group.streams.task.offset.interval.ms", INT, "60000", "1..") \
    NO_EFFECT("group.streams.topology.description.plugin.class", CLASS, NULL, "") \
    NO_EFFECT("initial.broker.registration.timeout.ms", INT, "60000", "") \
    NO_EFFECT("inter.broker.listener.name", STRING, NULL, "") \
    NO_EFFECT("internal.metadata.delete.delay.millis", LONG, "60000", "") \
    NO_EFFECT("internal.metadata.log.segment.bytes", INT, NULL, "") \
    NO_EFFECT("internal.metadata.max.batch.size.in.bytes", INT, "8388608", "") \
    NO_EFFECT("kafka.metrics.polling.interval.secs", INT, "10", "1..") \
    NO_EFFECT("kafka.metrics.reporters", LIST, "", "") \
    NO_EFFECT("leader.imbalance.check.interval.seconds", LONG, "300", "1..") \
    NO_EFFECT("leader.replication.throttled.rate", LONG, "9223372036854775807", "0..") \
    TOGETHER("listener.security.protocol.map", STRING, \
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT", "", \
        "`NAME:PROTOCOL` for each name of a listener. This version serves PLAINTEXT only.") \
    TOGETHER("listeners", LIST, "PLAINTEXT://:9092", "", \
        "Where to listen: `NAME://host:port`, separated by commas. No host: all addresses; an " \
        "IPv6 address stands in brackets; port 0: a free one. With `--dev` only 127.0.0.1, " \
        "advertised as localhost.") \
    SERVED("log.cleaner.backoff.ms", LONG, "15000", "0..", cleaner_backoff_ms, \
        "How long compaction sleeps when no log is dirty enough.") \
    SERVED("log.cleaner.dedupe.buffer.size", LONG, "134217728", "", cleaner_map_bytes, \
        "Memory for the keys of the logs that are being compacted, of all threads together. At " \
        "least 1 MiB for each.") \
    TOPIC_DEFAULT("log.cleaner.delete.retention.ms", LONG, "86400000", "0..", \
        "delete.retention.ms", 1) \
    SERVED("log.cleaner.enable", BOOLEAN, "true", "", cleaner_enable, "Logs are compacted.") \
    SERVED("log.cleaner.io.buffer.load.factor", DOUBLE, "0.9", "", cleaner_map_load, \
        "How far the memory for keys is filled, above 0, at most 1.") \
    SERVED("log.cleaner.io.buffer.size", INT, "524288", "0..", cleaner_buffer_bytes, \
        "Memory for what compaction reads and writes, of all threads together.") \
    SERVED("log.cleaner.io.max.bytes.per.second", DOUBLE, "1.7976931348623157E308", "", \
        cleaner_bytes_per_second, "What compaction reads and writes at most.") \
    TOPIC_DEFAULT("log.cleaner.max.compaction.lag.ms", LONG, "9223372036854775807", "1..", \
        "max.compaction.lag.ms", 1) \
    TOPIC_DEFAULT("log.cleaner.min.cleanable.ratio", DOUBLE, "0.5", "0..1", \
        "min.cleanable.dirty.ratio", 1) \
    TOPIC_DEFAULT("log.cleaner.min.compaction.lag.ms", LONG, "0", "0..", "min.compaction.lag.ms", \
        1) \
    SERVED("log.cleaner.threads", INT, "1", "0..", cleaner_threads, \
        "How many logs are compacted at a time.") \
    TOPIC_DEFAULT("log.cleanup.policy", LIST, "delete", "compact|delete", "cleanup.policy", 1) \
    TOGETHER("log.dir", LIST, NULL, "", "Where the data is; used if `log.dirs` is not given.") \
    NO_EFFECT("log.dir.failure.timeout.ms", LONG, "30000", "1..") \
    TOGETHER("log.dirs", LIST, NULL, "", \
        "Where the data is, separated by commas. Must be given; with `--dev` it is " \
        "`./sluice-data` by default.") \
    TOPIC_DEFAULT("log.flush.interval.messages", LONG, "9223372036854775807", "1..", \
        "flush.messages", 1) \
    TOPIC_DEFAULT("log.flush.interval.ms", LONG, NULL, "", "flush.ms", 1) \
    SERVED("log.flush.offset.checkpoint.interval.ms", INT, "60000", "1..", \
        checkpoint_interval_ms, "How often it is noted up to where the logs are on disk.") \
    TOPIC_DEFAULT("log.flush.scheduler.interval.ms", LONG, "9223372036854775807", "", "flush.ms", \
        1) \
    NO_EFFECT("log.flush.start.offset.checkpoint.interval.ms", INT, "60000", "0..") \
    TOPIC_DEFAULT("log.index.interval.bytes", INT, "4096", "0..", "index.interval.bytes", 1) \
    TOPIC_DEFAULT("log.index.size.max.bytes", INT, "10485760", "4..", "segment.index.bytes", 1) \
    NO_EFFECT("log.initial.task.delay.ms", LONG, "30000", "0..") \
    TOPIC_DEFAULT("log.local.retention.bytes", LONG, "-2", "-2..", "local.retention.bytes", 1) \
    TOPIC_DEFAULT("log.local.retention.ms", LONG, "-2", "-2..", "local.retention.ms", 1) \
    TOPIC_DEFAULT("log.message.timestamp.after.max.ms", LONG, "3600000", "0..", \
        "message.timestamp.after.max.ms", 1) \
    TOPIC_DEFAULT("log.message.timestamp.before.max.ms", LONG, "9223372036854775807", "0..", \
        "message.timestamp.before.max.ms", 1) \
    TOPIC_DEFAULT("log.message.timestamp.type", STRING, "CreateTime", "CreateTime|LogAppendTime", \
        "message.timestamp.type", 1) \
    TOPIC_DEFAULT("log.preallocate", BOOLEAN, "false", "", "preallocate", 1) \
    TOPIC_DEFAULT("log.remote.copy.lag.bytes", LONG, "-1", "-1..", "remote.copy.lag.bytes", 1) \
    TOPIC_DEFAULT("log.remote.copy.lag.ms", LONG, "0", "-1..", "remote.copy.lag.ms", 1) \
    TOPIC_DEFAULT("log.retention.bytes", LONG, "-1", "", "retention.bytes", 1) \
    SERVED("log.retention.check.interval.ms", LONG, "300000", "1..", retention_check_interval_ms, \
        "How often logs are looked through for what is too old or too much.") \
    TOPIC_DEFAULT("log.retention.hours", INT, "168", "", "retention.ms", 3600000) \
    TOPIC_DEFAULT("log.retention.minutes", INT, NULL, "", "retention.ms", 60000) \
    TOPIC_DEFAULT("log.retention.ms", LONG, NULL, "", "retention.ms", 1) \
    TOPIC_DEFAULT("log.roll.hours", INT, "168", "1..", "segment.ms", 3600000) \
    TOPIC_DEFAULT("log.roll.jitter.hours", INT, "0", "0..", "segment.jitter.ms", 3600000) \
    TOPIC_DEFAULT("log.roll.jitter.ms", LONG, NULL, "", "segment.jitter.ms", 1) \
    TOPIC_DEFAULT("log.roll.ms", LONG, NULL, "", "segment.ms", 1) \
    TOPIC_DEFAULT("log.segment.bytes", INT, "1073741824", "1048576..", "segment.bytes", 1) \
    TOPIC_DEFAULT("log.segment.delete.delay.ms", LONG, "60000", "0..", "file.delete.delay.ms", 1) \
    SERVED("max.connection.creation.rate", INT, "2147483647", "0..", max_connection_creation_rate, \
        "New connections in a second; those that come faster wait. 0: none is let in.") \
    SERVED("max.connections", INT, "2147483647", "0..", max_connections, \
        "Connections at one time; fewer where the limit of descriptors, less what the logs need, is lower.") \
    SERVED("max.connections.per.ip", INT, "2147483647", "0..", max_connections_per_ip, \
        "Connections from one address at one time.") \
    SERVED("max.connections.per.ip.overrides", STRING, "", "", max_connections_per_ip_overrides, \
        "Addresses with a limit of their own: `10.0.0.1:200,[::1]:5`. Names are not taken.") \
    TOPIC_DEFAULT("max.decompressed.message.bytes", INT, "2147483639", "1..2147483639", \
        "max.decompressed.message.bytes", 1) \
    SERVED("max.incremental.fetch.session.cache.slots", INT, "1000", "0..", fetch_session_slots, \
        "So many consumers are remembered with what they fetch, and sent only what changed. All of " \
        "them together take at most a quarter of `queued.max.request.bytes`.") \
    SERVED("max.request.partition.size.limit", INT, "2000", "1..", response_partitions_max, \
        "The most partitions that one answer of DescribeTopicPartitions tells of.") \
    TOPIC_DEFAULT("message.max.bytes", INT, "1048588", "0..", "max.message.bytes", 1) \
    SERVED("metadata.log.dir", STRING, NULL, "", metadata_log_dir, \
        "Where the metadata is: one of `log.dirs`, or a folder of its own. By default in the first " \
        "of them.") \
    SERVED("metadata.log.max.record.bytes.between.snapshots", LONG, "20971520", "1..", \
        metadata_snapshot_bytes, "The metadata is written as a snapshot after this much of its log.") \
    SERVED("metadata.log.max.snapshot.interval.ms", LONG, "3600000", "0..", \
        metadata_snapshot_interval_ms, \
        "The metadata is written as a snapshot so long after its first change that no snapshot " \
        "has; 0: only after so much.") \
    NO_EFFECT("metadata.log.segment.bytes", INT, "1073741824", "8388608..") \
    NO_EFFECT("metadata.log.segment.ms", LONG, "604800000", "") \
    NO_EFFECT("metadata.max.idle.interval.ms", INT, "500", "0..") \
    NO_EFFECT("metadata.max.retention.bytes", LONG, "104857600", "") \
    NO_EFFECT("metadata.max.retention.ms", LONG, "604800000", "") \
    NO_EFFECT("metric.reporters", LIST, "org.apache.kafka.common.metrics.JmxReporter", "") \
    NO_EFFECT("metrics.num.samples", INT, "2", "1..") \
    NO_EFFECT("metrics.recording.level", STRING, "INFO", "") \
    NO_EFFECT("metrics.sample.window.ms", LONG, "30000", "1..") \
    TOPIC_DEFAULT("min.insync.replicas", INT, "1", "1..", "min.insync.replicas", 1) \
    TOGETHER("node.id", INT, "1", "0..", "Which node of the cluster this is.") \
    SERVED("num.io.threads", INT, NULL, "1..1024", io_threads, \
        "Threads that may wait for a disk. By default one per core, from 2 to 8.") \
    SERVED("num.network.threads", INT, NULL, "1..1024", network_threads, \
        "Loops that serve connections. By default one for two cores, at least 1.") \
    SERVED("num.partitions", INT, "1", "1..100000", num_partitions, \
        "Partitions of a topic whose creator does not say how many. No topic may have more than " \
        "100000.") \
    SERVED("num.recovery.threads.per.data.dir", INT, NULL, "1..", recovery_threads, \
        "How many logs of a data folder are opened, and recovered, at a time; all folders together " \
        "have the threads of `num.io.threads`. By default as many as those.") \
    NO_EFFECT("num.replica.alter.log.dirs.threads", INT, NULL, "") \
    NO_EFFECT("num.replica.fetchers", INT, "1", "1..") \
    NO_EFFECT("offset.metadata.max.bytes", INT, "4096", "") \
    NO_EFFECT("offsets.commit.timeout.ms", INT, "5000", "1..") \
    NO_EFFECT("offsets.load.buffer.size", INT, "5242880", "1..") \
    NO_EFFECT("offsets.retention.check.interval.ms", LONG, "600000", "1..") \
    NO_EFFECT("offsets.retention.minutes", INT, "10080", "1..") \
    NO_EFFECT("offsets.topic.compression.codec", INT, "0", "") \
    NO_EFFECT("offsets.topic.num.partitions", INT, "50", "1..") \
    NO_EFFECT("offsets.topic.replication.factor", SHORT, "3", "1..") \
    NO_EFFECT("offsets.topic.segment.bytes", INT, "104857600", "1..") \
    REFUSED("principal.builder.class", CLASS, \
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder", "", \
        CONFIG_NO_LOGINS) \
    REFUSED("process.roles", LIST, "broker,controller", "broker|controller", \
        "in this version a node is always both") \
    SERVED("producer.id.expiration.check.interval.ms", INT, "600000", "1..", \
        producer_expiration_check_interval_ms, "How often producers are looked for that expired.") \
    SERVED("producer.id.expiration.ms", INT, "86400000", "1..", producer_expiration_ms, \
        "A producer that a partition was not written to by for so long is forgotten there, unless " \
        "it has a transaction open: a batch that it sends again is then a new one.") \
    NO_EFFECT("producer.purgatory.purge.interval.requests", INT, "1000", "") \
    SERVED("queued.max.request.bytes", LONG, "-1", "-1..", queued_max_request_bytes, \
        "Memory for requests that are being read or handled; when it is used up, reading " \
        "waits. -1: a sixteenth of the memory that the control group or the machine has, from " \
        "64 MiB to 1 GiB, but at most a quarter of it and at least 16 MiB.") \
    NO_EFFECT("queued.max.requests", INT, "500", "1..") \
    NO_EFFECT("quota.window.num", INT, "11", "1..") \
    NO_EFFECT("quota.window.size.seconds", INT, "1", "1..") \
    NO_EFFECT("remote.fetch.max.wait.ms", INT, "500", "1..") \
    NO_EFFECT("remote.list.offsets.request.timeout.ms", LONG, "30000", "1..") \
    NO_EFFECT("remote.log.index.file.cache.total.size.bytes", LONG, "1073741824", "1..") \
    NO_EFFECT("remote.log.index.file.cache.ttl.ms", LONG, "900000", "-1..") \
    NO_EFFECT("remote.log.manager.copier.thread.pool.size", INT, "10", "1..") \
    NO_EFFECT("remote.log.manager.copy.max.bytes.per.second", LONG, "9223372036854775807", "1..") \
    NO_EFFECT("remote.log.manager.copy.quota.window.num", INT, "11", "1..") \
    NO_EFFECT("remote.log.manager.copy.quota.window.size.seconds", INT, "1", "1..") \
    NO_EFFECT("remote.log.manager.expiration.thread.pool.size", INT, "10", "1..") \
    NO_EFFECT("remote.log.manager.fetch.max.bytes.per.second", LONG, "9223372036854775807", "1..") \
    NO_EFFECT("remote.log.manager.fetch.quota.window.num", INT, "11", "1..") \
    NO_EFFECT("remote.log.manager.fetch.quota.window.size.seconds", INT, "1", "1..") \
    NO_EFFECT("remote.log.manager.follower.thread.pool.size", INT, "2", "1..") \
    NO_EFFECT("remote.log.manager.task.interval.ms", LONG, "30000", "1..") \
    NO_EFFECT("remote.log.manager.task.retry.backoff.max.ms", LONG, "30000", "1..") \
    NO_EFFECT("remote.log.manager.task.retry.backoff.ms", LONG, "500", "1..") \
    NO_EFFECT("remote.log.manager.task.retry.jitter", DOUBLE, "0.2", "0..0.5") \
    NO_EFFECT("remote.log.manager.thread.pool.size", INT, "2", "1..") \
    NO_EFFECT("remote.log.metadata.custom.metadata.max.bytes", INT, "128", "0..") \
    NO_EFFECT("remote.log.metadata.manager.class.name", STRING, \
        "" \
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager", \
        "") \
    NO_EFFECT("remote.log.metadata.manager.class.path", STRING, NULL, "") \
    NO_EFFECT("remote.log.metadata.manager.impl.prefix", STRING, "rlmm.config.", "") \
    NO_EFFECT("remote.log.metadata.manager.listener.name", STRING, NULL, "") \
    NO_EFFECT("remote.log.reader.max.pending.tasks", INT, "100", "1..") \
    NO_EFFECT("remote.log.reader.threads", INT, "10", "1..") \
    NO_EFFECT("remote.log.storage.manager.class.name", STRING, NULL, "") \
    NO_EFFECT("remote.log.storage.manager.class.path", STRING, NULL, "") \
    NO_EFFECT("remote.log.storage.manager.impl.prefix", STRING, "rsm.config.", "") \
    REFUSED("remote.log.storage.system.enable", BOOLEAN, "false", "", \
        "there is no tiered storage in this version") \
    NO_EFFECT("replica.alter.log.dirs.io.max.bytes.per.second", LONG, "9223372036854775807", \
        "0..") \
    NO_EFFECT("replica.fetch.backoff.ms", INT, "1000", "0..") \
    NO_EFFECT("replica.fetch.max.bytes", INT, "1048576", "0..") \
    NO_EFFECT("replica.fetch.min.bytes", INT, "1", "") \
    NO_EFFECT("replica.fetch.response.max.bytes", INT, "10485760", "0..") \
    NO_EFFECT("replica.fetch.wait.max.ms", INT, "500", "") \
    SERVED("replica.high.watermark.checkpoint.interval.ms", LONG, "5000", "1..", \
        high_watermark_interval_ms, "How often the high watermarks are noted.") \
    NO_EFFECT("replica.lag.time.max.ms", LONG, "30000", "") \
    NO_EFFECT("replica.selector.class", STRING, NULL, "") \
    NO_EFFECT("replica.socket.receive.buffer.bytes", INT, "65536", "") \
    NO_EFFECT("replica.socket.timeout.ms", INT, "30000", "") \
    NO_EFFECT("replication.quota.window.num", INT, "11", "1..") \
    NO_EFFECT("replication.quota.window.size.seconds", INT, "1", "1..") \
    NO_EFFECT("request.timeout.ms", INT, "30000", "") \
    REFUSED("sasl.client.callback.handler.class", CLASS, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.enabled.mechanisms", LIST, "GSSAPI", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.jaas.config", PASSWORD, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.kerberos.kinit.cmd", STRING, "/usr/bin/kinit", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.kerberos.min.time.before.relogin", LONG, "60000", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.kerberos.principal.to.local.rules", LIST, "DEFAULT", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.kerberos.service.name", STRING, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.kerberos.ticket.renew.jitter", DOUBLE, "0.05", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.kerberos.ticket.renew.window.factor", DOUBLE, "0.8", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.login.callback.handler.class", CLASS, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.login.class", CLASS, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.login.connect.timeout.ms", INT, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.login.read.timeout.ms", INT, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.login.refresh.buffer.seconds", SHORT, "300", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.login.refresh.min.period.seconds", SHORT, "60", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.login.refresh.window.factor", DOUBLE, "0.8", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.login.refresh.window.jitter", DOUBLE, "0.05", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.login.retry.backoff.max.ms", LONG, "10000", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.login.retry.backoff.ms", LONG, "100", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.mechanism.controller.protocol", STRING, "GSSAPI", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.mechanism.inter.broker.protocol", STRING, "GSSAPI", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.allow.unverified.audience", BOOLEAN, "false", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.allow.unverified.issuer", BOOLEAN, "false", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.assertion.algorithm", STRING, "RS256", "ES256|RS256", \
        CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.assertion.claim.aud", STRING, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.assertion.claim.exp.seconds", INT, "300", "0..86400", \
        CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.assertion.claim.iss", STRING, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.assertion.claim.jti.include", BOOLEAN, "false", "", \
        CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.assertion.claim.nbf.seconds", INT, "60", "0..3600", \
        CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.assertion.claim.sub", STRING, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.assertion.file", STRING, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.assertion.private.key.file", STRING, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.assertion.private.key.passphrase", PASSWORD, NULL, "", \
        CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.assertion.template.file", STRING, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.client.credentials.client.id", STRING, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.client.credentials.client.secret", PASSWORD, NULL, "", \
        CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.clock.skew.seconds", INT, "30", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.expected.audience", LIST, "", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.expected.issuer", STRING, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.jwks.endpoint.refresh.ms", LONG, "3600000", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", LONG, "10000", "", \
        CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", LONG, "100", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.jwks.endpoint.url", STRING, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.jwt.retriever.class", CLASS, \
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.jwt.validator.class", CLASS, \
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.scope", STRING, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.scope.claim.name", STRING, "scope", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.sub.claim.name", STRING, "sub", "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.oauthbearer.token.endpoint.url", STRING, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.server.callback.handler.class", CLASS, NULL, "", CONFIG_NO_LOGINS) \
    REFUSED("sasl.server.max.receive.size", INT, "524288", "", CONFIG_NO_LOGINS) \
    REFUSED("security.inter.broker.protocol", STRING, "PLAINTEXT", \
        "PLAINTEXT|SSL|SASL_PLAINTEXT|SASL_SSL", CONFIG_NO_LOGINS) \
    REFUSED("security.providers", STRING, NULL, "", CONFIG_NO_TLS) \
    SERVED("server.max.startup.time.ms", LONG, "9223372036854775807", "0..", max_startup_ms, \
        "A broker that is not ready so long after its start ends, with status 1.") \
    NO_EFFECT("share.coordinator.append.linger.ms", INT, "-1", "-1..") \
    NO_EFFECT("share.coordinator.cached.buffer.max.bytes", INT, "1048588", "524288..") \
    NO_EFFECT("share.coordinator.cold.partition.snapshot.interval.ms", INT, "300000", "1..") \
    NO_EFFECT("share.coordinator.load.buffer.size", INT, "5242880", "1..") \
    NO_EFFECT("share.coordinator.snapshot.update.records.per.snapshot", INT, "500", "0..500") \
    NO_EFFECT("share.coordinator.state.topic.compression.codec", INT, "0", "") \
    NO_EFFECT("share.coordinator.state.topic.min.isr", SHORT, "2", "1..") \
    NO_EFFECT("share.coordinator.state.topic.num.partitions", INT, "50", "1..") \
    NO_EFFECT("share.coordinator.state.topic.prune.interval.ms", INT, "300000", "1..") \
    NO_EFFECT("share.coordinator.state.topic.replication.factor", SHORT, "3", "1..") \
    NO_EFFECT("share.coordinator.state.topic.segment.bytes", INT, "104857600", "1..") \
    NO_EFFECT("share.coordinator.threads", INT, "1", "1..") \
    NO_EFFECT("share.coordinator.write.timeout.ms", INT, "5000", "1..") \
    NO_EFFECT("share.fetch.purgatory.purge.interval.requests", INT, "1000", "") \
    SERVED("sluice.admin.listener", STRING, "127.0.0.1:9644", "", admin_listener, \
        "Where `/metrics`, `/health/live` and `/health/ready` are served over HTTP: `host:port`, on " \
        "loopback only; port 0: a free one. Empty: nowhere.") \
    SERVED("sluice.flush.interval.ms", LONG, "1000", "1..", flush_interval_ms, \
        "Written data is synced to the disk after so long at most.") \
    SERVED("sluice.log.file", STRING, NULL, "", log_file, \
        "Where lines about the broker itself go; empty: to stderr. SIGHUP opens the file anew.") \
    SERVED("sluice.log.format", STRING, "text", "text|json", log_format, \
        "Lines of plain text, or a JSON object each.") \
    SERVED("sluice.log.level", STRING, "info", "error|warn|info|debug", log_level, \
        "The least important lines that are written.") \
    SERVED("sluice.log.slow.request.ms", LONG, "1000", "-1..", log_slow_request_ms, \
        "A request that takes so long or longer gets a line, ten a second at most; what a fetch waits " \
        "for records does not count. -1: none does.") \
    SERVED("sluice.metrics.series.max", INT, "1000", "0..100000", metrics_series_max, \
        "So many topics, and so many partitions' logs, have metrics of their own.") \
    SERVED("sluice.sendfile.min.bytes", INT, "65536", "1..", sendfile_from_bytes, \
        "Runs of a log at least this long leave by sendfile, shorter ones are copied.") \
    SERVED("sluice.unsynced.max.bytes", LONG, "-1", "-1..", unsynced_max_bytes, \
        "So much may be written and not synced yet; where producers outrun the disk, they wait. " \
        "-1: an eighth of the memory that the control group or the machine has, from 64 MiB to " \
        "8 GiB.") \
    NO_EFFECT("socket.connection.setup.timeout.max.ms", LONG, "30000", "") \
    NO_EFFECT("socket.connection.setup.timeout.ms", LONG, "10000", "") \
    SERVED("socket.listen.backlog.size", INT, NULL, "1..", listen_backlog_size, \
        "Connections that may wait to be accepted. By default as many as the system allows.") \
    SERVED("socket.receive.buffer.bytes", INT, "-1", "-1..", socket_receive_buffer_bytes, \
        "SO_RCVBUF of a connection; -1: as the system does, which adapts it to what comes.") \
    SERVED("socket.request.max.bytes", INT, "104857600", "1..", socket_request_max_bytes, \
        "The longest request; a longer one closes its connection.") \
    SERVED("socket.send.buffer.bytes", INT, "-1", "-1..", socket_send_buffer_bytes, \
        "SO_SNDBUF of a connection; -1: as the system does, which adapts it to what leaves.") \
    REFUSED("ssl.allow.dn.changes", BOOLEAN, "false", "", CONFIG_NO_TLS) \
    REFUSED("ssl.allow.san.changes", BOOLEAN, "false", "", CONFIG_NO_TLS) \
    REFUSED("ssl.cipher.suites", LIST, "", "", CONFIG_NO_TLS) \
    REFUSED("ssl.client.auth", STRING, "none", "required|requested|none", CONFIG_NO_TLS) \
    REFUSED("ssl.enabled.protocols", LIST, "TLSv1.2,TLSv1.3", "", CONFIG_NO_TLS) \
    REFUSED("ssl.endpoint.identification.algorithm", STRING, "https", "", CONFIG_NO_TLS) \
    REFUSED("ssl.engine.factory.class", CLASS, NULL, "", CONFIG_NO_TLS) \
    REFUSED("ssl.key.password", PASSWORD, NULL, "", CONFIG_NO_TLS) \
    REFUSED("ssl.keymanager.algorithm", STRING, "SunX509", "", CONFIG_NO_TLS) \
    REFUSED("ssl.keystore.certificate.chain", PASSWORD, NULL, "", CONFIG_NO_TLS) \
    REFUSED("ssl.keystore.key", PASSWORD, NULL, "", CONFIG_NO_TLS) \
    REFUSED("ssl.keystore.location", STRING, NULL, "", CONFIG_NO_TLS) \
    REFUSED("ssl.keystore.password", PASSWORD, NULL, "", CONFIG_NO_TLS) \
    REFUSED("ssl.keystore.type", STRING, "JKS", "", CONFIG_NO_TLS) \
    REFUSED("ssl.principal.mapping.rules", STRING, "DEFAULT", "", CONFIG_NO_TLS) \
    REFUSED("ssl.protocol", STRING, "TLSv1.3", "", CONFIG_NO_TLS) \
    REFUSED("ssl.provider", STRING, NULL, "", CONFIG_NO_TLS) \
    REFUSED("ssl.secure.random.implementation", STRING, NULL, "", CONFIG_NO_TLS) \
    REFUSED("ssl.trustmanager.algorithm", STRING, "PKIX", "", CONFIG_NO_TLS) \
    REFUSED("ssl.truststore.certificates", PASSWORD, NULL, "", CONFIG_NO_TLS) \
    REFUSED("ssl.truststore.location", STRING, NULL, "", CONFIG_NO_TLS) \
    REFUSED("ssl.truststore.password", PASSWORD, NULL, "", CONFIG_NO_TLS) \
    REFUSED("ssl.truststore.type", STRING, "JKS", "", CONFIG_NO_TLS) \
    REFUSED("super.users", LIST, "", "", CONFIG_NO_ACLS) \
    NO_EFFECT("telemetry.max.bytes", INT, "1048576", "1..") \
    NO_EFFECT("transaction.abort.timed.out.transaction.cleanup.interval.ms", INT, "10000", "1..") \
    NO_EFFECT("transaction.max.timeout.ms", INT, "900000", "1..") \
    NO_EFFECT("transaction.partition.verification.enable", BOOLEAN, "true", "") \
    NO_EFFECT("transaction.remove.expired.transaction.cleanup.interval.ms", INT, "3600000", "1..") \
    NO_EFFECT("transaction.state.log.load.buffer.size", INT, "5242880", "1..") \
    NO_EFFECT("transaction.state.log.min.isr", INT, "2", "1..") \
    NO_EFFECT("transaction.state.log.num.partitions", INT, "50", "1..") \
    NO_EFFECT("transaction.state.log.replication.factor", SHORT, "3", "1..") \
    NO_EFFECT("transaction.state.log.segment.bytes", INT, "104857600", "1..") \
    NO_EFFECT("transaction.two.phase.commit.enable", BOOLEAN, "false", "") \
    NO_EFFECT("transactional.id.expiration.ms", INT, "604800000", "1..") \
    TOPIC_DEFAULT("unclean.leader.election.enable", BOOLEAN, "false", "", \
        "unclean.leader.election.enable", 1) \
    NO_EFFECT("unclean.leader.election.interval.ms", LONG, "300000", "1..") \
    NO_EFFECT("unstable.api.versions.enable", BOOLEAN, "false", "") \
    NO_EFFECT("unstable.feature.versions.enable", BOOLEAN, "false", "")
/* clang-format on */

#endif
