# SPDX-License-Identifier: Apache-2.0
"""What tests/power/run runs.

Two topics take the same load. One has flush.messages=1: nothing of it that was acknowledged, or that a
consumer saw, may be lost or changed by any cut. The other has Kafka's defaults and must lose something
in the course of the rounds: so it is known that the cuts cut.

What counts is what clients had heard before the cut began. Without power nobody hears anything after it,
but here the broker lives on, and ext4 lets a sync that is under way when it is shut down come back
without an error although its data is lost (a program that does nothing but write and sync meets that in
one cut of ten, Linux 6.18).
"""

import argparse
import os
import random
import sys
import threading
import time

from confluent_kafka import (OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Producer,
                             TopicPartition)
from confluent_kafka.admin import AdminClient, NewTopic

import loop_mount
from broker import Broker, Checks, run_checks

PARTITIONS = 4
FLUSHED, CACHED = "flushed", "cached"
TOPICS = [FLUSHED, CACHED]
MOST_WAITING = 200
WAIT_S = 60


class Known:
    """What the broker has promised: the value at an offset, by topic and partition."""

    def __init__(self):
        self.lock = threading.Lock()
        self.has_power = True
        self.acknowledged = {}
        self.seen = {}

    def set_power(self, is_there):
        with self.lock:
            self.has_power = is_there

    def note(self, what, message):
        with self.lock:
            if not self.has_power:
                return
            what[(message.topic(), message.partition(), message.offset())] = message.value()


def produce(known, broker, life, number, stopped):
    """One producer: acks=all, a bounded number in flight, each record its own value."""
    producer = Producer({"bootstrap.servers": broker.bootstrap, "acks": "all", "linger.ms": 1,
                         "message.timeout.ms": 5000, "retries": 0, "log_level": 0})
    chance = random.Random(life * 1000 + number)

    def delivered(err, message):
        if err is None:
            known.note(known.acknowledged, message)

    sequence = 0
    while not stopped.is_set():
        if len(producer) >= MOST_WAITING:
            producer.poll(0.01)
            continue
        value = b"%d/%d/%d " % (life, number, sequence) + b"x" * chance.randrange(2000)
        producer.produce(chance.choice(TOPICS), value, partition=chance.randrange(PARTITIONS),
                         on_delivery=delivered)
        sequence += 1
        producer.poll(0)
    # What is still under way is of no interest; what the broker has answered is.
    producer.poll(0.2)
    producer.purge()
    producer.poll(0)


def ends(consumer, topic, partition):
    """The offset behind the last visible record, once the partition is open."""
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            return consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=WAIT_S)[1]
        except KafkaException as failure:
            if failure.args[0].code() != KafkaError.LEADER_NOT_AVAILABLE or \
                    time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def consume(known, broker, stopped):
    """Sees what is visible, from now on."""
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "none",
                         "enable.auto.commit": False, "fetch.wait.max.ms": 50, "log_level": 0})
    places = []
    for topic in TOPICS:
        for partition in range(PARTITIONS):
            place = TopicPartition(topic, partition)
            place.offset = ends(consumer, topic, partition)
            places.append(place)
    consumer.assign(places)
    while not stopped.is_set():
        for message in consumer.consume(500, timeout=0.05):
            if message.error() is None:
                known.note(known.seen, message)
    consumer.close()


def read_everything(broker):
    """The value at each offset, of all that is in the two topics."""
    found = {}
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "none",
                         "enable.auto.commit": False, "log_level": 0})
    for topic in TOPICS:
        for partition in range(PARTITIONS):
            end = ends(consumer, topic, partition)
            at = 0
            consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING)])
            deadline = time.monotonic() + WAIT_S
            while at < end:
                if time.monotonic() > deadline:
                    raise TimeoutError("%s-%d cannot be read from %d to its end %d" %
                                       (topic, partition, at, end))
                for message in consumer.consume(1000, timeout=1):
                    if message.error() is not None:
                        raise RuntimeError("reading %s-%d: %s" %
                                           (topic, partition, message.error()))
                    found[(topic, partition, message.offset())] = message.value()
                    at = message.offset() + 1
    consumer.close()
    return found


def lost(promised, found, topic):
    return sorted(place for place, value in promised.items()
                  if place[0] == topic and found.get(place) != value)


def create_topics(broker):
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    topics = [NewTopic(FLUSHED, PARTITIONS, 1, config={"flush.messages": "1"}),
              NewTopic(CACHED, PARTITIONS, 1)]
    for future in admin.create_topics(topics).values():
        future.result(WAIT_S)


def load_until_cut(known, broker, disk, life, seconds):
    stopped = threading.Event()
    known.set_power(True)
    threads = [threading.Thread(target=produce, args=(known, broker, life, number, stopped))
               for number in range(2)]
    threads.append(threading.Thread(target=consume, args=(known, broker, stopped)))
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    known.set_power(False)
    disk.cut_power()
    stopped.set()
    for thread in threads:
        thread.join()
    broker.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluiced", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--mebibytes", type=int, default=2048)
    options = parser.parse_args()
    missing = loop_mount.why_not(power=True)
    if missing is not None:
        print("NOT ok  tests/power cannot run here: %s" % missing)
        sys.exit(1)
    chance = random.Random(options.seed)
    print("seed %d" % options.seed)

    checks = Checks()
    disk = loop_mount.LoopMount(options.mebibytes)
    broker = checks.broker = Broker(options.sluiced, data=os.path.join(disk.path, "data"))
    broker.start()
    create_topics(broker)
    known = Known()
    taken = 0
    for life in range(options.rounds):
        load_until_cut(known, broker, disk, life, chance.uniform(0.3, 3))
        disk.unmount()
        disk.mount()
        broker.start(seconds=WAIT_S)
        found = read_everything(broker)
        for what, promised in [("acknowledged", known.acknowledged), ("seen", known.seen)]:
            gone = lost(promised, found, FLUSHED)
            count = sum(1 for place in promised if place[0] == FLUSHED)
            checks.that("round %d: all of %d records of flushed topics that were %s are there" %
                        (life + 1, count, what), not gone, "%d lost, from %s on" %
                        (len(gone), gone[:1]))
            gone = lost(promised, found, CACHED)
            taken += len(gone)
            for place in gone: # It was never promised to stay.
                del promised[place]
    checks.that("without flush.messages the cuts took something (%d records)" % taken, taken > 0)
    broker.stop()
    disk.unmount()


if __name__ == "__main__":
    try:
        run_checks(main)
    except KafkaException as failure:
        print("NOT ok  %s" % failure)
        sys.exit(1)
