// SPDX-License-Identifier: Apache-2.0
/* What each setting of a topic means, as DescribeConfigs tells it. */

#include <string.h>

#include "topic_settings.h"

struct meaning {
    const char *name, *text;
};

/* clang-format off */
static const struct meaning meanings[] = {
    { "cleanup.policy",
      "What becomes of old records: delete removes segments by age and size, compact keeps the newest record of each key." },
    { "compression.gzip.level",
      "The level with which gzip compresses, where compression.type asks for it; -1 is its own default." },
    { "compression.lz4.level",
      "The level with which lz4 compresses, where compression.type asks for it." },
    { "compression.type",
      "How records are compressed in the log; producer leaves them as the producer sent them." },
    { "compression.zstd.level",
      "The level with which zstd compresses, where compression.type asks for it." },
    { "delete.retention.ms",
      "How long a record without value stays readable in a compacted log after everything that it deletes is gone." },
    { "errors.deadletterqueue.group.enable",
      "Whether share groups may use the topic for records that they give up." },
    { "file.delete.delay.ms",
      "How long files of a removed segment stay on the disk." },
    { "flush.messages",
      "After so many records the log is synced to the disk." },
    { "flush.ms",
      "Records are synced to the disk after so long at the latest." },
    { "follower.replication.throttled.replicas",
      "The replicas whose followers copy no faster than the broker's limit." },
    { "index.interval.bytes",
      "How many bytes of the log there are between two entries of its index." },
    { "leader.replication.throttled.replicas",
      "The replicas to which leaders send no faster than the broker's limit." },
    { "local.retention.bytes",
      "How much of a tiered log stays on the local disk; -2: as retention.bytes says." },
    { "local.retention.ms",
      "How long a tiered log stays on the local disk; -2: as retention.ms says." },
    { "max.compaction.lag.ms",
      "A record is compacted after so long at the latest." },
    { "max.decompressed.message.bytes",
      "The most that a compressed batch may come to when it is opened." },
    { "max.message.bytes",
      "The largest batch of records that is accepted, as it is sent." },
    { "message.timestamp.after.max.ms",
      "How far in the future a record's timestamp may lie." },
    { "message.timestamp.before.max.ms",
      "How far in the past a record's timestamp may lie." },
    { "message.timestamp.type",
      "Whose time a record carries: CreateTime, the producer's, or LogAppendTime, the broker's." },
    { "min.cleanable.dirty.ratio",
      "Which share of a log must not have been compacted yet before compaction begins again." },
    { "min.compaction.lag.ms",
      "A record is not compacted before so long." },
    { "min.insync.replicas",
      "How many replicas must have a record before a producer that asked for all of them is told so." },
    { "preallocate",
      "Whether a new segment takes its full size on the disk at once." },
    { "remote.copy.lag.bytes",
      "How much of a log may not have been copied to remote storage yet." },
    { "remote.copy.lag.ms",
      "How long records may not have been copied to remote storage yet." },
    { "remote.log.copy.disable",
      "Whether a tiered topic is no longer copied to remote storage." },
    { "remote.log.delete.on.disable",
      "Whether remote data is deleted when tiering ends." },
    { "remote.storage.enable",
      "Whether the topic is kept in remote storage, too." },
    { "retention.bytes",
      "How large a partition may become before its oldest segments are removed; -1: no limit." },
    { "retention.ms",
      "How long records are kept before their segments are removed; -1: no limit." },
    { "segment.bytes",
      "How large a segment of the log becomes before the next one begins." },
    { "segment.index.bytes",
      "How large the index of a segment may become." },
    { "segment.jitter.ms",
      "By up to so much segments begin earlier than segment.ms says, so that not all do at once." },
    { "segment.ms",
      "How old a segment becomes before the next one begins." },
    { "unclean.leader.election.enable",
      "Whether a replica that lacks records may lead when there is no other." },
};
/* clang-format on */

const char *topic_settings_meaning(const char *name)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (strcmp(meanings[i].name, name) == 0) return meanings[i].text;
    return NULL;
}
