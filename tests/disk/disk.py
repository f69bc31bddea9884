# SPDX-License-Identifier: Apache-2.0
"""What tests/disk/run runs."""

import argparse
import os
import sys
import time

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

import loop_mount
from broker import Broker, Checks, run_checks, wait_until

WAIT_S = 60
RECORD_BYTES = 20000
MEBIBYTE = 1 << 20


class Load:
    """A producer that tries again until its records are acknowledged, and remembers which are."""

    def __init__(self, broker, topic):
        self.topic = topic
        self.acknowledged = {}
        self.failed = []
        self.sent = 0
        self.producer = Producer({"bootstrap.servers": broker.bootstrap, "acks": "all",
                                  "enable.idempotence": True, "linger.ms": 5,
                                  "message.timeout.ms": 300000, "retry.backoff.ms": 50,
                                  "log_level": 0})

    def delivered(self, err, message):
        if err is None:
            self.acknowledged[message.offset()] = message.value()
        else:
            self.failed.append(err)

    def send(self, count):
        for _ in range(count):
            value = b"%s %d " % (self.topic.encode(), self.sent)
            self.producer.produce(self.topic, value.ljust(RECORD_BYTES, b"."), partition=0,
                                  on_delivery=self.delivered)
            self.sent += 1
        self.producer.poll(0)

    def until(self, condition, what):
        def looked():
            self.producer.poll(0.01)
            return condition()
        wait_until(looked, WAIT_S, what)

    def until_stalled(self):
        """Sends until nothing has been acknowledged for two seconds."""
        last = (time.monotonic(), 0)
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() - last[0] < 2:
            if time.monotonic() > deadline:
                raise TimeoutError("the disk does not become full")
            if len(self.producer) < 100:
                self.send(50)
            self.producer.poll(0.05)
            if len(self.acknowledged) > last[1]:
                last = (time.monotonic(), len(self.acknowledged))


def read_all(broker, topic):
    """The value at each offset, up to the visible end."""
    found = {}
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "none",
                         "enable.auto.commit": False, "enable.partition.eof": True,
                         "log_level": 0})
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    deadline = time.monotonic() + WAIT_S
    while True:
        message = consumer.poll(1)
        if message is None:
            if time.monotonic() > deadline:
                raise TimeoutError("%s cannot be read to its end" % topic)
            continue
        if message.error() is None:
            found[message.offset()] = message.value()
        elif message.error().code() == KafkaError._PARTITION_EOF:
            break
        elif not message.error().retriable():
            raise RuntimeError("reading %s: %s" % (topic, message.error()))
    consumer.close()
    return found


def missing(load, found):
    return [offset for offset, value in load.acknowledged.items() if found.get(offset) != value]


def create(broker, name, **settings):
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    config = {key.replace("_", "."): value for key, value in settings.items()}
    admin.create_topics([NewTopic(name, 1, 1, config=config)])[name].result(WAIT_S)


def delete(broker, name):
    admin = AdminClient({"bootstrap.servers": broker.bootstrap}) # Must live as long as its request.
    admin.delete_topics([name])[name].result(WAIT_S)


def check_full_disk(checks, options):
    """Writing stops before the disk is full, everything else goes on, writing resumes by itself."""
    disk = loop_mount.LoopMount(96)
    broker = checks.broker = Broker(options.sluiced, data=os.path.join(disk.path, "data"))
    broker.start()
    create(broker, "ballast")
    create(broker, "load", flush_messages="1")
    ballast = Load(broker, "ballast")
    ballast.send(1000)
    ballast.until(lambda: len(ballast.acknowledged) == 1000, "the ballast to be written")

    load = Load(broker, "load")
    load.until_stalled()
    checks.that("a disk that fills up stops writing (%d records, %d KiB are left)" %
                (len(load.acknowledged), disk.free_bytes() >> 10),
                disk.free_bytes() > MEBIBYTE // 2 and not load.failed, load.failed[:1])
    checks.that("reading goes on", not missing(load, read_all(broker, "load")))
    checks.that("the broker lives, and says why it refuses",
                broker.is_running() and "records are refused" in broker.log_tail(100000))

    stalled_at = len(load.acknowledged)
    delete(broker, "ballast")
    load.until(lambda: len(load.producer) == 0, "writing to resume after a topic was deleted")
    checks.that("a topic can be deleted, and writing resumes by itself (%d records more)" %
                (len(load.acknowledged) - stalled_at),
                len(load.acknowledged) > stalled_at and not load.failed, load.failed[:1])
    checks.that("nothing that was acknowledged is lost", not missing(load, read_all(broker, "load")))

    load.until_stalled()
    broker.kill()
    broker.start(WAIT_S)
    checks.that("a broker that is killed on a full disk starts on it, with all its records",
                not missing(load, read_all(broker, "load")))
    broker.stop()
    broker.start()
    checks.that("and so does one that is stopped", not missing(load, read_all(broker, "load")))
    broker.stop()
    disk.close()


def check_failed_folder(checks, options):
    """The metadata's disk is well, another one dies: what is on that is offline, all else goes on."""
    well, ill = loop_mount.LoopMount(256), loop_mount.LoopMount(256)
    folders = [os.path.join(disk.path, "data") for disk in (well, ill)]
    broker = checks.broker = Broker(options.sluiced, data=",".join(folders))
    broker.start()
    loads, place = [], {}
    for name in ["a", "b", "c", "d"]:
        create(broker, name)
        load = Load(broker, name)
        load.send(20)
        load.until(lambda: len(load.acknowledged) == 20, "%s to be written" % name)
        loads.append(load)
        place[name] = [folder for folder in folders if os.path.isdir("%s/%s-0" % (folder, name))]
    checks.that("new partitions go to the folder with the fewest",
                all(list(place.values()).count([folder]) == 2 for folder in folders), place)

    ill.cut_power()
    for load in loads:
        load.send(1)
    for load in loads:
        if place[load.topic] == [folders[0]]:
            load.until(lambda: len(load.acknowledged) == 21, "%s to be written" % load.topic)
    checks.that("partitions on the other disk are written to", True)
    wait_until(lambda: "cannot be written to any more" in broker.log_tail(100000), WAIT_S,
               "the folder to be given up")
    checks.that("the broker lives on", broker.is_running())
    for load in loads:
        if place[load.topic] == [folders[0]]:
            checks.that("%s is read" % load.topic, not missing(load, read_all(broker, load.topic)))
    create(broker, "e")
    checks.that("a new partition goes to the disk that is well",
                os.path.isdir("%s/e-0" % folders[0]))
    broker.kill()
    ill.unmount()
    ill.mount()
    broker.start(WAIT_S)
    for load in loads:
        found = read_all(broker, load.topic)
        if place[load.topic] == [folders[0]]:
            checks.that("%s has all its records" % load.topic, not missing(load, found))
    broker.stop()
    for disk in (well, ill):
        disk.close()


def check_failed_only_folder(checks, options, metadata_is_elsewhere):
    """The only disk for partitions dies; the metadata is on it, or on one that is well."""
    disk = loop_mount.LoopMount(256)
    broker = checks.broker = Broker(options.sluiced, data=os.path.join(disk.path, "data"))
    if metadata_is_elsewhere:
        broker.settings.append("metadata.log.dir=" + os.path.join(broker.folder, "metadata"))
    broker.start()
    create(broker, "a")
    load = Load(broker, "a")
    load.send(20)
    load.until(lambda: len(load.acknowledged) == 20, "a to be written")
    disk.cut_power()
    load.send(1)
    load.until(lambda: not broker.is_running(), "the broker to end")
    checks.that("a broker whose only disk for partitions fails ends, with exit code 3",
                broker.process.returncode == 3, broker.process.returncode)
    checks.that("and acknowledges nothing more", len(load.acknowledged) == 20)
    disk.unmount()
    disk.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluiced", required=True)
    parser.add_argument("--short", action="store_true")
    options = parser.parse_args()
    reason = loop_mount.why_not(power=not options.short)
    if reason is not None and options.short:
        print("-- skipped: %s" % reason)
        return
    checks = Checks()
    checks.that("a disk can be mounted here", reason is None, reason)
    check_full_disk(checks, options)
    if not options.short:
        check_failed_folder(checks, options)
        check_failed_only_folder(checks, options, False)
        check_failed_only_folder(checks, options, True)


if __name__ == "__main__":
    run_checks(main)
