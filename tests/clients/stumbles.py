# SPDX-License-Identifier: Apache-2.0
"""Where clients have stumbled over brokers, tried with librdkafka: docs/promises.md says what is promised.

    stumbles.py --sluiced PATH [NAME...]         starts it, in a folder of its own
    stumbles.py --broker HOST:PORT [NAME...]     one that runs already, a Kafka for example

A Kafka needs the settings in SETTINGS. What looks into the broker's folder or restarts it needs
--sluiced. NAMEs are functions below; without any, all of them.
"""

import argparse
import glob
import os
import re
import shutil
import struct
import sys
import threading
import time

from confluent_kafka import (OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Producer,
                             TopicPartition)
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic

from broker import Broker, Checks, run_checks, split_address, wait_until

WAIT_S = 20
SETTINGS = ["log.cleaner.backoff.ms=100", "producer.id.expiration.ms=500",
            "producer.id.expiration.check.interval.ms=100"]
TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TRANSACTIONS = os.path.join(TESTS, "data", "transactions")
CODEC, TRANSACTIONAL, CONTROL = 7, 16, 32 # In the attributes of a batch.


class World:
    """A broker, and what every check needs of it. `broker` is None where it is somebody else's."""

    def __init__(self, check, bootstrap, broker):
        self.check, self.bootstrap, self.broker = check, bootstrap, broker
        self.admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        self.names = 0

    def name(self, stem):
        self.names += 1
        return "%s-%d-%d" % (stem, os.getpid(), self.names)

    def topic(self, partitions=1, **settings):
        """A new topic; `_` in the name of a setting stands for `.`"""
        name = self.name("stumbles")
        config = {key.replace("_", "."): value for key, value in settings.items()}
        future, = self.admin.create_topics([NewTopic(name, partitions, 1, config=config)],
                                           operation_timeout=WAIT_S).values()
        future.result(WAIT_S)
        return name

    def producer(self, **settings):
        return Producer(self.client(settings, {"linger.ms": 0, "message.timeout.ms": WAIT_S * 1000}))

    def consumer(self, topic, offset=OFFSET_BEGINNING, partition=0, **settings):
        consumer = Consumer(self.client(settings, {
            "group.id": self.name("group"), "enable.auto.commit": False, "fetch.wait.max.ms": 50,
            "enable.partition.eof": True, "auto.offset.reset": "error"}))
        consumer.assign([TopicPartition(topic, partition, offset)])
        return consumer

    def client(self, settings, more):
        common = {"bootstrap.servers": self.bootstrap, "log_level": 0,
                  "topic.metadata.refresh.interval.ms": 500}
        return {**common, **more, **{key.replace("_", "."): value for key, value in settings.items()}}


def write(producer, topic, records, **where):
    """Writes (key, value) pairs, one batch each, and waits: the errors of those that were refused."""
    errors = []
    for key, value in records:
        producer.produce(topic, value, key, **where,
                         on_delivery=lambda error, _: error and errors.append(error.code()))
        if producer.flush(WAIT_S) != 0:
            errors.append("no answer")
    return errors


def next_of(consumer, seconds=WAIT_S):
    """The next record, error or end of the partition; None if nothing comes."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        message = consumer.poll(0.1)
        if message is not None:
            return message
    return None


def read_to_end(consumer, wants_more=lambda records: False):
    """All records up to the end of the partition, or further while `wants_more`."""
    records = []
    while True:
        message = next_of(consumer)
        if message is None:
            raise TimeoutError("a consumer got %d records and then nothing" % len(records))
        if message.error() is None:
            records.append(message)
        elif message.error().code() != KafkaError._PARTITION_EOF:
            raise RuntimeError("a consumer got: %s" % message.error())
        elif not wants_more(records):
            return records


# ---- what is not there --------------------------------------------------------------------------

def offsets_of(consumer, topic, partition):
    """What a consumer is told that asks for them; the name of an error."""
    try:
        return consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=WAIT_S)
    except KafkaException as failure:
        return failure.args[0].name()


def what_is_absent_is_told(world):
    absent, there = world.name("absent"), world.topic(2)
    consumer = world.consumer(absent)
    began = time.monotonic()
    told = [offsets_of(consumer, topic, partition) for topic, partition in
            ((absent, 0), (there, 2), (there, 1))]
    world.check.that("who asks for offsets of what is not there is told so",
                     told == ["_UNKNOWN_PARTITION", "_UNKNOWN_PARTITION", (0, 0)], told)
    error = consumer.list_topics(absent, timeout=WAIT_S).topics[absent].error
    world.check.that("and who asks for the topic", error is not None and
                     error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART, error)
    world.check.that("at once", time.monotonic() - began < 2, time.monotonic() - began)
    next_of(consumer, 1) # It goes on asking.
    world.check.that("a consumer creates no topic",
                     absent not in world.admin.list_topics(timeout=WAIT_S).topics)
    consumer.close()


def topic_that_comes_later_is_read(world):
    topic = world.name("later")
    consumer = world.consumer(topic, topic_metadata_propagation_max_ms=1000)
    next_of(consumer, 1)
    began = time.monotonic()
    errors = write(world.producer(), topic, [(None, b"first")])
    world.check.that("the first record creates its topic", errors == [], errors)
    world.check.that("and is acknowledged within two seconds", time.monotonic() - began < 2,
                     time.monotonic() - began)
    while True:
        message = next_of(consumer)
        if message is None or message.error() is None:
            break
    world.check.that("who waited for the topic reads it", message is not None and
                     message.value() == b"first", message)
    consumer.close()


def illegal_name_is_told(world):
    errors = write(world.producer(), "no/good", [(None, b"x")])
    world.check.that("a record for a name that is not legal is refused with the reason",
                     errors == [KafkaError.TOPIC_EXCEPTION], errors)


def offset_that_is_not_there_is_told(world):
    topic = world.topic()
    write(world.producer(), topic, [(None, b"%d" % i) for i in range(3)])
    consumer = world.consumer(topic, offset=1000)
    message = next_of(consumer)
    code = message and message.error() and message.error().code()
    world.check.that("an offset outside of the log is told to who wants to know",
                     code == KafkaError._AUTO_OFFSET_RESET, code)
    consumer.close()
    consumer = world.consumer(topic, offset=1000, auto_offset_reset="earliest")
    message = next_of(consumer)
    world.check.that("and who wants the first record instead gets it", message is not None and
                     message.error() is None and message.offset() == 0, message)
    consumer.close()


# ---- large and small ----------------------------------------------------------------------------

def records_larger_than_the_limits_are_read(world):
    topic = world.topic(2)
    values = [b"%d" % i * size for i, size in enumerate((10, 300000, 10, 900000, 20))]
    write(world.producer(message_max_bytes=2000000), topic, [(None, value) for value in values],
          partition=0)
    write(world.producer(), topic, [(None, b"beside")], partition=1)
    consumer = world.consumer(topic, fetch_message_max_bytes=1, message_max_bytes=1000,
                              fetch_max_bytes=1000, receive_message_max_bytes=100000000)
    consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in (0, 1)])
    got = []
    while len(got) < len(values) + 1:
        message = next_of(consumer)
        if message is None:
            break
        if message.error() is None:
            got.append((message.partition(), message.value()))
    world.check.that("records larger than a consumer's limits are read", sorted(got) == sorted(
        [(0, value) for value in values] + [(1, b"beside")]), len(got))
    consumer.close()


def record_that_is_too_large_is_told(world):
    topic = world.topic(max_message_bytes="5000")
    errors = write(world.producer(), topic, [(None, b"x" * 6000), (None, b"y" * 4000)])
    world.check.that("a record above max.message.bytes is refused, one below is not",
                     errors == [KafkaError.MSG_SIZE_TOO_LARGE], errors)


# ---- compaction ---------------------------------------------------------------------------------

def compacted_topic_stops_nobody(world):
    topic = world.topic(cleanup_policy="compact", segment_ms="50", min_cleanable_dirty_ratio="0.01")
    keys = [b"k%d" % i for i in range(4)]
    last = {}
    # The first producer's records are all written again by others: of its last batch only the frame stays.
    for round_number in range(6):
        producer = world.producer(enable_idempotence=True)
        records = [(key, b"%d-%s" % (round_number, key)) for key in keys]
        errors = write(producer, topic, records)
        world.check.that("round %d of records is written" % round_number, errors == [], errors)
        last.update(records)
        time.sleep(0.06) # So that the next one begins a segment.
    write(world.producer(), topic, [(b"end", b"end")])
    last[b"end"] = b"end"

    def is_compacted():
        consumer = world.consumer(topic)
        records = read_to_end(consumer)
        consumer.close()
        return records[0].offset() > 0
    wait_until(is_compacted, WAIT_S, "compaction")
    consumer = world.consumer(topic)
    records = read_to_end(consumer)
    world.check.that("a reader of a compacted topic has the last value of each key",
                     {m.key(): m.value() for m in records} == last, len(records))
    offsets = {m.offset() for m in records}
    end = max(offsets)
    world.check.that("though many offsets are gone", len(offsets) < end, offsets)
    for offset in range(end + 1):
        consumer.assign([TopicPartition(topic, 0, offset)])
        message = next_of(consumer)
        at = message and message.error() is None and message.offset()
        if at is None or at < offset or any(offset <= o < at for o in offsets):
            world.check.that("a reader that begins at offset %d gets the next that is there" % offset,
                             False, message and (message.error() or message.offset()))
    world.check.that("a reader that begins at any offset gets the next that is there", True)
    consumer.close()


def record_without_key_is_refused(world):
    topic = world.topic(cleanup_policy="compact")
    errors = write(world.producer(), topic, [(b"key", b"1"), (None, b"2"), (b"key", b"3")])
    world.check.that("a compacted topic refuses a record without a key, with the reason",
                     errors == [KafkaError.INVALID_RECORD], errors)
    consumer = world.consumer(topic)
    got = [message.value() for message in read_to_end(consumer)]
    consumer.close()
    world.check.that("and nothing else", got[-1] == b"3" and b"2" not in got, got)


# ---- producers ----------------------------------------------------------------------------------

def idle_producer_goes_on(world):
    topic = world.topic()
    producer = world.producer(enable_idempotence=True)
    errors = []
    for i in range(3):
        errors += write(producer, topic, [(None, b"%d" % i)])
        time.sleep(1.5) # It is forgotten after half a second.
    errors += write(producer, topic, [(None, b"3")])
    world.check.that("an idempotent producer that was idle for too long goes on", errors == [], errors)
    consumer = world.consumer(topic)
    got = [message.value() for message in read_to_end(consumer)]
    consumer.close()
    world.check.that("and all that it wrote is there once, in order", got == [b"0", b"1", b"2", b"3"], got)


def stored_batches(folder):
    """(base offset, attributes, producer id) of each batch in the files of a partition."""
    for path in sorted(glob.glob(os.path.join(folder, "*.log"))):
        with open(path, "rb") as log:
            data = log.read()
        at = 0
        while at + 61 <= len(data):
            base, length = struct.unpack_from(">qi", data, at)
            attributes, = struct.unpack_from(">h", data, at + 21)
            producer, = struct.unpack_from(">q", data, at + 43)
            yield base, attributes, producer
            at += 12 + length


def batches_keep_the_producers_codec(world):
    # Not lz4: without FindCoordinator librdkafka takes a broker for one that does not know it.
    for number, codec in ((1, "gzip"), (2, "snappy"), (4, "zstd")):
        topic = world.topic()
        errors = write(world.producer(compression_type=codec), topic, [(None, b"x" * 5000)])
        got = [attributes & CODEC for _, attributes, _ in
               stored_batches(os.path.join(world.broker.data, topic + "-0"))]
        world.check.that("what is sent with %s is stored so" % codec, errors == [] and got == [number], got)
        consumer = world.consumer(topic)
        values = [message.value() for message in read_to_end(consumer)]
        consumer.close()
        world.check.that("and read again", values == [b"x" * 5000])


# ---- transactions -------------------------------------------------------------------------------

def kafkas_word(name):
    """Of what it wrote into tests/data/transactions: a list of numbers."""
    with open(os.path.join(TESTS, "lib", "kafkas_transactions.h")) as header:
        lines = header.read().replace("\\\n", "").splitlines()
    line, = [line for line in lines if line.startswith("#define " + name)]
    return [int(number) for number in re.findall(r"\b\d+\b", line)]


def aborted_records_are_shown_to_who_wants_them(world):
    """A partition that a Kafka wrote, each batch of one record."""
    first_open, = kafkas_word("KAFKAS_FIRST_OPEN")
    aborted = kafkas_word("KAFKAS_ABORTED_TRANSACTIONS")
    aborted = list(zip(aborted[0::4], aborted[1::4], aborted[2::4]))
    everything, committed = [], []
    for offset, attributes, producer in stored_batches(os.path.join(TRANSACTIONS, "orders-0")):
        if attributes & CONTROL:
            continue
        everything.append(offset)
        if offset < first_open and not (attributes & TRANSACTIONAL and any(
                producer == p and first <= offset <= last for p, first, last in aborted)):
            committed.append(offset)
    broker = Broker(world.broker.program, flags=["--adopt"])
    shutil.copytree(TRANSACTIONS, broker.data)
    broker.start()
    other = World(world.check, broker.bootstrap, broker)
    for isolation, wanted in (("read_uncommitted", everything), ("read_committed", committed)):
        consumer = other.consumer("orders", isolation_level=isolation)
        got = [message.offset() for message in read_to_end(consumer)]
        consumer.close()
        world.check.that("with %s just those records are shown" % isolation, got == wanted, got)
    broker.stop()


# ---- admin --------------------------------------------------------------------------------------

def creation_is_refused_with_the_reason(world):
    there = world.topic()

    def create(topic, **options):
        future, = world.admin.create_topics([topic], operation_timeout=WAIT_S, **options).values()
        try:
            future.result(WAIT_S)
        except KafkaException as failure:
            return failure.args[0].code()
        return None
    name = world.name("refused")
    node, = world.admin.list_topics(timeout=WAIT_S).brokers
    cases = [
        ("too many replicas", NewTopic(name, 1, 3), KafkaError.INVALID_REPLICATION_FACTOR),
        ("no partitions", NewTopic(name, 0, 1), KafkaError.INVALID_PARTITIONS),
        ("a topic that exists", NewTopic(there, 1, 1), KafkaError.TOPIC_ALREADY_EXISTS),
        ("an unknown setting", NewTopic(name, 1, 1, config={"no.such": "1"}), KafkaError.INVALID_CONFIG),
        ("a value that cannot be", NewTopic(name, 1, 1, config={"retention.ms": "soon"}),
         KafkaError.INVALID_CONFIG),
        ("replicas elsewhere", NewTopic(name, 1, replica_assignment=[[node + 1000]]),
         KafkaError.INVALID_REPLICA_ASSIGNMENT),
    ]
    for what, topic, code in cases:
        for dry in (False, True):
            got = create(topic, validate_only=dry)
            world.check.that("%s: refused with the reason%s" % (what, " in a dry run" if dry else ""),
                             got == code, got)
    got = create(NewTopic(name, 1, 1), validate_only=True)
    write(world.producer(), there, [(None, b"behind it")])
    world.check.that("a dry run of what can be creates nothing", got is None and
                     name not in world.admin.list_topics(timeout=WAIT_S).topics, got)
    usual = {"min.insync.replicas": "1", "flush.messages": "1000", "flush.ms": "1000"}
    got = create(NewTopic(name, 1, 1, config=usual))
    world.check.that("settings that tools send are taken", got is None, got)


def settings_are_told_with_their_origin(world):
    def describe(kind, name):
        future, = world.admin.describe_configs([ConfigResource(kind, name)]).values()
        return future.result(WAIT_S)
    topic = world.topic(max_message_bytes="1000000")
    told = describe(ConfigResource.Type.TOPIC, topic)
    wanted = ["cleanup.policy", "retention.ms", "retention.bytes", "min.insync.replicas",
              "compression.type", "max.message.bytes", "segment.bytes", "segment.ms"]
    missing = [name for name in wanted if name not in told]
    world.check.that("a topic tells the settings that tools ask for", missing == [], missing)
    largest = told["max.message.bytes"]
    world.check.that("what it was created with is its own", largest.value == "1000000" and
                     largest.source == 1, largest.source)
    world.check.that("with what would count otherwise", sorted(largest.synonyms) == [
        "max.message.bytes", "message.max.bytes"], largest.synonyms)
    node, = world.admin.list_topics(timeout=WAIT_S).brokers
    told = describe(ConfigResource.Type.BROKER, str(node))
    wanted = ["num.partitions", "default.replication.factor", "log.retention.ms", "message.max.bytes",
              "auto.create.topics.enable", "offsets.topic.replication.factor", "listeners",
              "advertised.listeners", "inter.broker.listener.name"]
    missing = [name for name in wanted if name not in told]
    world.check.that("so does a broker", missing == [], missing)


# ---- restarts -----------------------------------------------------------------------------------

class Watcher(threading.Thread):
    """Asks for the topics again and again: each answer that comes must have this one."""

    def __init__(self, world, topic):
        super().__init__(daemon=True)
        self.world, self.topic = world, topic
        self.answers, self.gaps, self.is_over = 0, 0, False
        self.start()

    def run(self):
        while not self.is_over:
            admin = AdminClient({"bootstrap.servers": self.world.bootstrap, "log_level": 0})
            try:
                self.gaps += self.topic not in admin.list_topics(timeout=0.5).topics
                self.answers += 1
            except KafkaException:
                pass # Nobody is there.


def restarts_are_not_noticed(world):
    topic = world.topic()
    watcher = Watcher(world, topic)
    producer = world.producer(enable_idempotence=True)
    errors = []
    for i in range(400):
        producer.produce(topic, b"%d" % i, on_delivery=lambda error, _: error and errors.append(error.code()))
        producer.poll(0.005)
        if i in (100, 300):
            world.broker.stop()
            world.broker.start()
        if i == 200:
            world.broker.kill()
            world.broker.start()
    left = producer.flush(WAIT_S)
    watcher.is_over = True
    watcher.join()
    world.check.that("a producer goes on over restarts and a kill", left == 0 and errors == [], errors)
    world.check.that("nobody is told that the topic is not there", watcher.answers > 0 and
                     watcher.gaps == 0, (watcher.answers, watcher.gaps))
    consumer = world.consumer(topic)
    got = [int(message.value()) for message in read_to_end(consumer)]
    consumer.close()
    world.check.that("all is there once, in order", got == list(range(400)), len(got))


ANYWHERE = [what_is_absent_is_told, topic_that_comes_later_is_read,
            illegal_name_is_told, offset_that_is_not_there_is_told,
            records_larger_than_the_limits_are_read, record_that_is_too_large_is_told,
            compacted_topic_stops_nobody, record_without_key_is_refused, idle_producer_goes_on,
            creation_is_refused_with_the_reason, settings_are_told_with_their_origin]
OURS = [batches_keep_the_producers_codec, aborted_records_are_shown_to_who_wants_them,
        restarts_are_not_noticed]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sluiced", help="the broker to start")
    parser.add_argument("--broker", help="HOST:PORT of one that runs already")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    if bool(options.sluiced) == bool(options.broker):
        parser.error("exactly one of --sluiced and --broker")
    todo = ANYWHERE + OURS if options.sluiced else ANYWHERE
    unknown = set(options.names) - {each.__name__ for each in todo}
    if unknown:
        parser.error("there is no %s" % ", ".join(sorted(unknown)))

    check = Checks()
    if options.sluiced:
        broker = check.broker = Broker(options.sluiced, SETTINGS)
        broker.start()
        world = World(check, broker.bootstrap, broker)
    else:
        world = World(check, "%s:%d" % split_address(options.broker), None)
    for each in todo:
        if not options.names or each.__name__ in options.names:
            began = time.monotonic()
            each(world)
            print("-- %s: %.1f s" % (each.__name__, time.monotonic() - began), flush=True)
    if options.sluiced:
        broker.stop()
        check.that("the broker ends politely", True)


if __name__ == "__main__":
    run_checks(main)
