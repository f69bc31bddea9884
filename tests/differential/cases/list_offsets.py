# SPDX-License-Identifier: Apache-2.0
import time

from batch import NOON, batch, idempotent, record
from cases import case

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = range(-1, -7, -1)


def asked(topic, *partitions, **options):
    return {"ReplicaId": -1, "TimeoutMs": 1000,
            "Topics": [{"Name": topic, "Partitions": list(partitions)}], **options}


def filled(pair, **configs):
    """Records at noon, noon + 100, noon + 50 and noon + 100 again, in four batches; the last has three."""
    topic = pair.topic(partitions=2, **configs)
    pair.produce(topic, batch(), at(NOON + 100), at(NOON + 50),
                 batch(b"".join(record(i, timestamp_delta=i * 50) for i in range(3)), count=3,
                       maxTimestamp=NOON + 100))
    return topic


def at(timestamp):
    return batch(baseTimestamp=timestamp, maxTimestamp=timestamp)


@case
def special_timestamps(pair):
    topic = filled(pair)
    for timestamp in range(-1, -9, -1):
        pair.each_version("ListOffsets", note="timestamp %d" % timestamp,
                          **asked(topic, {"PartitionIndex": 0, "Timestamp": timestamp},
                                  {"PartitionIndex": 1, "Timestamp": timestamp}))
    pair.each_version("ListOffsets", note="the smallest number",
                      **asked(topic, {"PartitionIndex": 0, "Timestamp": -1 << 63}))


@case
def times(pair):
    topic = filled(pair)
    for timestamp in (0, NOON - 1, NOON, NOON + 1, NOON + 50, NOON + 51, NOON + 100, NOON + 101, (1 << 63) - 1):
        pair.each_version("ListOffsets", note="time %d" % timestamp,
                          **asked(topic, {"PartitionIndex": 0, "Timestamp": timestamp}))


@case
def log_append_time(pair):
    topic = pair.topic(message_timestamp_type="LogAppendTime")
    for _ in range(3):  # each at another time, on both
        pair.produce(topic, batch(count=2))
        time.sleep(0.01)
    for timestamp in (EARLIEST, LATEST, MAX_TIMESTAMP, NOON, 0):
        pair.ask("ListOffsets", **asked(topic, {"PartitionIndex": 0, "Timestamp": timestamp}))
    pair.ask("ListOffsets", **asked(topic, {"PartitionIndex": 0, "Timestamp": int(time.time() * 1000) + 3600_000}))


@case
def unknown_partitions(pair):
    topic = filled(pair)
    for partition in (2, -1, 1 << 30):
        pair.each_version("ListOffsets", note="partition %d" % partition,
                          **asked(topic, {"PartitionIndex": partition, "Timestamp": LATEST}))
    for name in ("nobody-made-this", "", "no/name", ".", "a" * 250):
        pair.each_version("ListOffsets", note="topic %r" % name[:20],
                          **asked(name, {"PartitionIndex": 0, "Timestamp": LATEST}))
    pair.each_version("ListOffsets", note="nothing", ReplicaId=-1, TimeoutMs=1000)
    pair.each_version("ListOffsets", note="no partitions", **asked(topic))


@case
def a_partition_named_twice(pair):
    topic = filled(pair)
    pair.each_version("ListOffsets", **asked(topic, {"PartitionIndex": 0, "Timestamp": LATEST},
                                             {"PartitionIndex": 0, "Timestamp": EARLIEST},
                                             {"PartitionIndex": 1, "Timestamp": EARLIEST}))
    pair.ask("ListOffsets", ReplicaId=-1, TimeoutMs=1000,
             Topics=[{"Name": topic, "Partitions": [{"PartitionIndex": 0, "Timestamp": LATEST}]},
                     {"Name": topic, "Partitions": [{"PartitionIndex": 0, "Timestamp": EARLIEST}]}],
             note="in two elements")
    pair.ask("ListOffsets", note="an unknown one", **asked(topic, {"PartitionIndex": 9, "Timestamp": LATEST},
                                                           {"PartitionIndex": 9, "Timestamp": LATEST}))


@case
def leader_epochs(pair):
    topic = filled(pair)
    for epoch in (-1, 0, 1, 1000, -2):
        pair.each_version("ListOffsets", note="epoch %d" % epoch, first=4,
                          **asked(topic, {"PartitionIndex": 0, "Timestamp": LATEST, "CurrentLeaderEpoch": epoch},
                                  {"PartitionIndex": 9, "Timestamp": LATEST, "CurrentLeaderEpoch": epoch}))


@case
def isolation_levels(pair):
    topic = filled(pair)
    pair.produce(topic, idempotent(77, 0, 0))
    for level in (0, 1, 2, -1):
        for timestamp in (LATEST, EARLIEST, MAX_TIMESTAMP, NOON):
            pair.ask("ListOffsets", note="isolation %d" % level,
                     **asked(topic, {"PartitionIndex": 0, "Timestamp": timestamp}, IsolationLevel=level))


@case
def replicas(pair):
    topic = filled(pair)
    for replica in (-1, -2, -3, -4, 0, 1, 2):
        pair.ask("ListOffsets", note="replica %d" % replica,
                 **asked(topic, {"PartitionIndex": 0, "Timestamp": LATEST}, ReplicaId=replica))


@case
def after_records_are_deleted(pair):
    topic = filled(pair)
    pair.ask("DeleteRecords", TimeoutMs=10000,
             Topics=[{"Name": topic, "Partitions": [{"PartitionIndex": 0, "Offset": 2}]}])
    for timestamp in (EARLIEST, LATEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD, 0, NOON,
                      NOON + 100):
        pair.ask("ListOffsets", note="timestamp %d" % timestamp,
                 **asked(topic, {"PartitionIndex": 0, "Timestamp": timestamp}))
    pair.ask("DeleteRecords", TimeoutMs=10000,
             Topics=[{"Name": topic, "Partitions": [{"PartitionIndex": 0, "Offset": -1}]}])
    for timestamp in (EARLIEST, LATEST, MAX_TIMESTAMP, EARLIEST_LOCAL, 0, NOON):
        pair.ask("ListOffsets", note="emptied, timestamp %d" % timestamp,
                 **asked(topic, {"PartitionIndex": 0, "Timestamp": timestamp}))
