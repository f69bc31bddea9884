# SPDX-License-Identifier: Apache-2.0
"""kafka-python, its own implementation of the protocol, against a broker: topics and settings, every codec
that it has, reading without a group. What librdkafka wrote it reads as well.

    kafka_python.py HOST:PORT
"""

import os
import sys
import time

import confluent_kafka
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka import codec as kafka_codec
from kafka import errors
from kafka.admin import (ConfigResource, ConfigResourceType, KafkaAdminClient, NewPartitions, NewTopic)

from broker import Checks, run_checks, wait_until

TIMEOUT = 30
TIMEOUT_MS = TIMEOUT * 1000
RECORDS = 2000
CODECS = [None, "gzip"] + [name for name in ("snappy", "lz4", "zstd")
                           if getattr(kafka_codec, "has_" + name)()]


def refused(call, *arguments, **options):
    """The class of the error that the call ends with; None if it succeeds."""
    try:
        call(*arguments, **options)
    except errors.KafkaError as failure:
        return type(failure)
    return None


class Content:
    """The record with a number, as every producer here sends it."""

    def __init__(self):
        self.base_timestamp = int(time.time() - 3600) * 1000

    def of(self, number):
        """Key, value, headers, timestamp."""
        # Never both null: kafka-python does not send that.
        key = None if number % 7 == 0 else b"key-%d" % number
        value = None if number % 7 == 1 else (b"value-%d " % number) * (number % 50)
        return key, value, [("number", b"%d" % number), ("empty", b"")], self.base_timestamp + number


# ---- topics and settings

def settings_of(admin, kind, name, *names):
    """The settings of a topic or broker: NAME: (value, is read-only, is default)."""
    resource = ConfigResource(kind, name, dict.fromkeys(names) if names else None)
    (response,) = admin.describe_configs([resource], include_synonyms=True)
    (code, message, _, _, entries), = response.resources
    if code != 0:
        raise RuntimeError("DescribeConfigs: error %d, %s" % (code, message))
    # Version 2: name, value, is read-only, source (5: the default), is sensitive, synonyms.
    return {entry[0]: (entry[1], entry[2], entry[3] == 5) for entry in entries}


def alter(admin, topic, **settings):
    """The code of the error that a change of this topic's settings gets."""
    configs = {name.replace("_", "."): value for name, value in settings.items()}
    response = admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, configs)])
    return response.resources[0][0]


def check_topics(check, admin, bootstrap, topic):
    admin.create_topics([NewTopic(topic, 2, 1, topic_configs={"retention.ms": "1000000"})],
                        timeout_ms=TIMEOUT_MS)
    wait_until(lambda: topic in admin.list_topics(), TIMEOUT, "the topic to be listed")
    check.that("kafka-python creates a topic", True)
    check.that("a name that exists is refused",
               refused(admin.create_topics, [NewTopic(topic, 1, 1)]) is errors.TopicAlreadyExistsError)
    check.that("a name that is not legal is refused",
               refused(admin.create_topics, [NewTopic("no/good", 1, 1)]) is errors.InvalidTopicError)
    check.that("more replicas than brokers are refused",
               refused(admin.create_topics, [NewTopic(topic + "-x", 1, 30)])
               is errors.InvalidReplicationFactorError)
    admin.create_topics([NewTopic(topic + "-x", 1, 1)], timeout_ms=TIMEOUT_MS, validate_only=True)
    check.that("a dry run creates nothing", topic + "-x" not in admin.list_topics())

    admin.create_partitions({topic: NewPartitions(len(CODECS) * 2)}, timeout_ms=TIMEOUT_MS)
    wait_until(lambda: len(partitions_of(admin, topic)) == len(CODECS) * 2, TIMEOUT, "partitions to be told")
    check.that("partitions are added", True)
    check.that("but not taken away",
               refused(admin.create_partitions, {topic: NewPartitions(1)}) is errors.InvalidPartitionsError)
    cluster = admin.describe_cluster()
    check.that("the cluster is described",
               ["%s:%d" % (broker["host"], broker["port"]) for broker in cluster["brokers"]] == [bootstrap]
               and cluster["controller_id"] == cluster["brokers"][0]["node_id"], cluster)

    told = settings_of(admin, ConfigResourceType.TOPIC, topic)
    check.that("what the topic was created with is told", told["retention.ms"] == ("1000000", False, False), told)
    check.that("and what it gets by default", told["cleanup.policy"] == ("delete", False, True), told)
    check.that("settings are changed", alter(admin, topic, cleanup_policy="compact") == 0)
    wait_until(lambda: settings_of(admin, ConfigResourceType.TOPIC, topic, "cleanup.policy")
               == {"cleanup.policy": ("compact", False, False)}, TIMEOUT, "the change to be told")
    told = settings_of(admin, ConfigResourceType.TOPIC, topic, "retention.ms")
    check.that("and what was not named is the default again",
               told == {"retention.ms": ("604800000", False, True)}, told)
    code = alter(admin, topic, retention_ms="soon")
    check.that("a value that cannot be is refused", code == errors.InvalidConfigurationError.errno, code)
    # Records without a key are sent below.
    check.that("and all are the default again", alter(admin, topic) == 0)
    told = settings_of(admin, ConfigResourceType.BROKER, str(cluster["controller_id"]), "log.dirs")
    check.that("the broker tells its settings", list(told) == ["log.dirs"] and told["log.dirs"][1], told)


def partitions_of(admin, topic):
    (described,) = admin.describe_topics([topic])
    return described["partitions"]


def check_deletion(check, admin, topic):
    admin.delete_topics([topic], timeout_ms=TIMEOUT_MS)
    wait_until(lambda: topic not in admin.list_topics(), TIMEOUT, "the topic to leave the list")
    check.that("the topic is deleted", True)
    check.that("and cannot be again",
               refused(admin.delete_topics, [topic]) is errors.UnknownTopicOrPartitionError)


# ---- records

def produce(check, bootstrap, topic, content, codec, partition, acks):
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks=acks, compression_type=codec, linger_ms=5,
                             max_block_ms=TIMEOUT_MS)
    futures = []
    for number in range(RECORDS):
        key, value, headers, timestamp = content.of(number)
        futures.append(producer.send(topic, value, key, headers, partition, timestamp))
    producer.flush(TIMEOUT)
    told = [future.get(TIMEOUT) for future in futures]
    producer.close(TIMEOUT)
    # Nobody tells an acks=0 producer where its records are.
    at_their_place = acks == 0 or [metadata.offset for metadata in told] == list(range(RECORDS))
    check.that("kafka-python sends %d records, %s, acks %s" % (RECORDS, codec, acks), at_their_place,
               told[-1].offset)


def produce_by_librdkafka(bootstrap, topic, content, codec, partition):
    producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap, "linger.ms": 5, "log_level": 0,
                                         "compression.codec": codec or "none"})
    for number in range(RECORDS):
        key, value, headers, timestamp = content.of(number)
        producer.produce(topic, value, key, partition, timestamp=timestamp, headers=headers)
    if producer.flush(TIMEOUT) != 0:
        raise RuntimeError("librdkafka's records are not acknowledged")


def check_reading(check, consumer, where, content, what):
    consumer.assign([where])
    consumer.seek_to_beginning(where)
    got = 0
    deadline = time.monotonic() + TIMEOUT
    while got < RECORDS and time.monotonic() < deadline:
        for record in consumer.poll(500).get(where, []):
            have = (record.offset, record.key, record.value, record.headers, record.timestamp)
            want = (got, *content.of(got))
            if have != want:
                check.that("kafka-python reads " + what, False, "%.200r, not %.200r" % (have, want))
            got += 1
    check.that("kafka-python reads " + what, got == RECORDS and consumer.position(where) == RECORDS, got)


def check_offsets(check, consumer, where, content):
    check.that("the partitions are told", where.partition in consumer.partitions_for_topic(where.topic))
    check.that("so are the first offset and the end",
               consumer.beginning_offsets([where]) == {where: 0} and consumer.end_offsets([where]) == {where: RECORDS})
    middle = content.base_timestamp + 1234
    found = consumer.offsets_for_times({where: middle})[where]
    check.that("a time leads to its record", found.offset == 1234 and found.timestamp == middle, str(found))
    later = consumer.offsets_for_times({where: content.base_timestamp + RECORDS})[where]
    check.that("a time to come leads to nothing", later is None, later)
    consumer.assign([where])
    consumer.seek(where, 42)
    first = consumer.poll(TIMEOUT_MS, max_records=1)[where]
    check.that("reading begins at the offset that was asked for", first[0].offset == 42, first[0].offset)
    consumer.seek(where, RECORDS * 9)
    try:
        consumer.poll(TIMEOUT_MS)
        told = False
    except errors.OffsetOutOfRangeError:
        told = True
    check.that("an offset that is not there is told", told)


def main(bootstrap):
    check = Checks()
    content = Content()
    topic = "kafka-python-%d" % os.getpid()
    admin = KafkaAdminClient(bootstrap_servers=bootstrap, request_timeout_ms=TIMEOUT_MS)
    check_topics(check, admin, bootstrap, topic)
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="none", enable_auto_commit=False,
                             consumer_timeout_ms=TIMEOUT_MS)
    for i, codec in enumerate(CODECS):
        produce(check, bootstrap, topic, content, codec, i, (1, "all", 0)[i % 3])
        check_reading(check, consumer, TopicPartition(topic, i), content, "its own, " + (codec or "plain"))
        partition = len(CODECS) + i
        produce_by_librdkafka(bootstrap, topic, content, codec, partition)
        check_reading(check, consumer, TopicPartition(topic, partition), content,
                      "librdkafka's, " + (codec or "plain"))
    check_offsets(check, consumer, TopicPartition(topic, 1), content)
    consumer.close()
    check_deletion(check, admin, topic)
    admin.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    run_checks(lambda: main(sys.argv[1]))
