# SPDX-License-Identifier: Apache-2.0
"""What librdkafka producers were told is stored is what a consumer reads: same bytes, same place.

    roundtrip.py --sluice PATH (--sluiced PATH | --broker HOST:PORT) [option...]

Five producers, one per codec, write records of every size and kind to all partitions of one topic.
Then all partitions are read from the beginning, and each record compared with what its producer made
and with the offset that the producer was told.

A record's content follows from the seed and its number, and its timestamp tells its number: so
nothing is kept but one offset per record, and any record that is read can be judged.

  (1) Every record that is read is one of ours, byte by byte, in its partition.
  (2) Every acknowledged record lies at the offset that was acknowledged. (Of a batch that it had
      stored before a restart, a broker may know no more than that it is a duplicate, error 46; then
      the producer learns no offset.)
  (3) Offsets are consecutive from 0.
  (4) No record is there twice, and each producer's records are in its order: without a restart, or
      with idempotence. A plain producer may write again what a broker that went away had stored.

With --restart or --kill the broker is taken down in the middle of it, politely or with SIGKILL, and
started again on its folder and port.
"""

import argparse
import ctypes
import functools
import hashlib
import os
import random
import struct
import subprocess
import time
from array import array

from confluent_kafka import (OFFSET_BEGINNING, TIMESTAMP_CREATE_TIME, Consumer, KafkaError,
                             KafkaException, Producer, TopicPartition)

from broker import Broker, Checks, run_checks, split_address, wait_until

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
MAX_SIZE = 64 * 1024
BIG_SIZE = 1024 * 1024
POOL_SIZE = 4 * BIG_SIZE
WAIT_S = 180
NOT_ACKNOWLEDGED, SOMEWHERE = -1, -2 # instead of an offset


def headers_of(message):
    headers = message.headers() or []
    for _, value in headers:
        if value is None:
            # confluent_kafka 1.7 hands out None without taking a reference, until none is left.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(None))
    return headers


class Content:
    """The record with a number: partition, key, value, headers."""

    def __init__(self, seed, records, big, partitions):
        chance = random.Random(seed)
        # Half of it compresses well, half not at all.
        pool = bytearray()
        while len(pool) < POOL_SIZE:
            pool += chance.getrandbits(8 * 4096).to_bytes(4096, "big")
            pool += (b"%016x" % chance.getrandbits(64)) * 256
        self.pool = bytes(pool[:POOL_SIZE])
        self.seed = struct.pack(">q", seed)
        self.partitions = partitions
        self.big_every = records // big if big else 0

    def piece(self, size, where):
        begin = where % (POOL_SIZE - size)
        return self.pool[begin:begin + size]

    def of(self, number):
        digest = hashlib.blake2b(struct.pack(">q", number), digest_size=40, key=self.seed).digest()
        (where, size, kind, key_where, key_size, header_count, partition, header_where, header_size,
         _) = struct.unpack(">10I", digest)
        if self.big_every and number % self.big_every == self.big_every // 2:
            value = self.piece(BIG_SIZE, where)
        elif kind % 32 == 0:
            value = None
        else: # as many between 1 and 2 bytes as between 32 and 64 KiB
            value = self.piece(int((MAX_SIZE + 2) ** (size / 2**32)) - 1, where)
        key = None if kind // 32 % 4 == 0 else self.piece(int(257 ** (key_size / 2**32)) - 1, key_where)
        headers = []
        for i in range((0, 0, 1, 2, 5)[header_count % 5]):
            # A name may repeat, a value may be empty or null.
            length = (header_size >> 3 * i) % 48
            headers.append(("name-%d" % (i // 2),
                            None if length == 47 else self.piece(length, header_where + 64 * i)))
        return partition % self.partitions, key, value, headers


class Run:
    def __init__(self, options):
        self.options = options
        self.check = Checks()
        self.content = Content(options.seed, options.records, options.big, options.partitions)
        self.is_disturbed = options.restart + options.kill > 0
        self.acknowledged = array("q", [NOT_ACKNOWLEDGED]) * options.records # offsets, by number
        self.acknowledged_count = 0
        self.failed = []
        # Of the recent past: retention counts from the timestamp, and Kafka's memory of a producer too.
        self.base_timestamp = int(time.time() - 2 * 3600) * 1000
        self.topic = "roundtrip-%d-%d" % (options.seed, os.getpid())
        self.broker = None
        if options.broker:
            self.bootstrap = options.broker
        else:
            self.broker = Broker(options.sluiced, options.set or [])
            self.check.broker = self.broker
            self.broker.start()
            self.bootstrap = self.broker.bootstrap

    # ---- producing

    def on_delivery(self, number, error, message):
        if error is not None:
            self.failed.append((number, error))
        else:
            offset = message.offset()
            self.acknowledged[number] = SOMEWHERE if offset is None or offset < 0 else offset
            self.acknowledged_count += 1

    def open_producer(self, codec):
        return Producer({
            "bootstrap.servers": self.bootstrap,
            "compression.codec": codec,
            "enable.idempotence": self.options.idempotence,
            "acks": "all",
            "linger.ms": 5,
            "message.max.bytes": 2000000,
            "message.timeout.ms": WAIT_S * 1000,
            "queue.buffering.max.kbytes": 65536,
            "queue.buffering.max.messages": 5000,
            "retry.backoff.ms": 50,
            "reconnect.backoff.max.ms": 500,
            "log_level": 0,
        })

    def disturbances(self):
        """Which records' sending is followed by what."""
        kinds = ["restart"] * self.options.restart + ["kill"] * self.options.kill
        random.Random(self.options.seed).shuffle(kinds)
        return {self.options.records * (i + 1) // (len(kinds) + 1): kind
                for i, kind in enumerate(kinds)}

    def disturb(self, kind, number, producers):
        """Half of what was sent is acknowledged by then, and the rest on its way."""
        def half_is_acknowledged():
            for producer in producers:
                producer.poll(0)
            return self.acknowledged_count >= number // 2
        wait_until(half_is_acknowledged, WAIT_S, "acknowledgements")
        if kind == "kill":
            self.broker.kill()
        else:
            self.broker.stop()
        self.broker.start()
        print("       %s when %d of %d were acknowledged" % (kind, self.acknowledged_count, number),
              flush=True)

    def produce_all(self):
        producers = [self.open_producer(codec) for codec in CODECS]
        disturbances = self.disturbances()
        for number in range(self.options.records):
            if number in disturbances:
                self.disturb(disturbances[number], number, producers)
            partition, key, value, headers = self.content.of(number)
            producer = producers[number % len(producers)]
            deadline = time.monotonic() + WAIT_S
            while True:
                try:
                    producer.produce(self.topic, value, key, partition,
                                     functools.partial(self.on_delivery, number),
                                     timestamp=self.base_timestamp + number, headers=headers)
                    break
                except BufferError:
                    producer.poll(0.05)
                    if time.monotonic() > deadline:
                        self.check.that("producing goes on", False, "stuck at record %d" % number)
            if number % 50 == 0:
                for each in producers:
                    each.poll(0)
        left = sum(producer.flush(WAIT_S) for producer in producers)
        self.check.that("every record is acknowledged by a producer of its codec (%s)" % ", ".join(CODECS),
                        left == 0 and not self.failed and NOT_ACKNOWLEDGED not in self.acknowledged,
                        "%d without an answer, failed: %s" % (left, self.failed[:3]))
        somewhere = self.acknowledged.count(SOMEWHERE)
        self.check.that("with its offset (%d as duplicates, without)" % somewhere,
                        somewhere == 0 or (self.is_disturbed and self.options.idempotence))

    # ---- reading

    def judge(self, message, seen, last):
        """None, or what is wrong with this record."""
        kind, timestamp = message.timestamp()
        number = timestamp - self.base_timestamp
        if kind != TIMESTAMP_CREATE_TIME or not 0 <= number < self.options.records:
            return "its timestamp is %s of kind %s" % (timestamp, kind)
        expected = self.content.of(number)
        got = (message.partition(), message.key(), message.value(), headers_of(message))
        for name, want, have in zip(("partition", "key", "value", "headers"), expected, got):
            if want != have:
                return "record %d has another %s: %.80r, not %.80r" % (number, name, have, want)
        strict = self.options.idempotence or not self.is_disturbed
        at_its_place = self.acknowledged[number] in (message.offset(), SOMEWHERE)
        if seen[number] == 1 and strict:
            return "record %d is there twice" % number
        if strict and not at_its_place:
            return "record %d was acknowledged at %d" % (number, self.acknowledged[number])
        producer = number % len(CODECS)
        key = (message.partition(), producer)
        if strict and last.get(key, -1) >= number:
            return "record %d comes behind %d of the same producer" % (number, last[key])
        last[key] = number
        self.duplicates += seen[number]
        seen[number] = 1
        self.in_place += at_its_place
        return None

    def read_all(self):
        consumer = Consumer({
            "bootstrap.servers": self.bootstrap,
            "group.id": self.topic, # librdkafka wants one; nothing is committed to it
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "check.crcs": True,
            "fetch.message.max.bytes": 4 * BIG_SIZE,
            "queued.min.messages": 10000,
            "queued.max.messages.kbytes": 65536,
            "log_level": 0,
        })
        partitions = range(self.options.partitions)
        consumer.assign([TopicPartition(self.topic, p, OFFSET_BEGINNING) for p in partitions])
        seen, last, ended = bytearray(self.options.records), {}, set()
        self.duplicates = self.in_place = 0
        next_offset = [0] * self.options.partitions
        deadline = time.monotonic() + WAIT_S
        while len(ended) < self.options.partitions:
            for message in consumer.consume(500, timeout=0.5):
                error = message.error()
                if error is not None:
                    if error.code() == KafkaError._PARTITION_EOF:
                        ended.add(message.partition())
                    elif message.partition() in partitions:
                        self.check.that("reading works", False, error)
                    continue # of the group, which is not used here
                deadline = time.monotonic() + WAIT_S
                where = "partition %d, offset %d" % (message.partition(), message.offset())
                if message.offset() != next_offset[message.partition()]:
                    self.check.that("offsets are consecutive", False,
                                    "%s follows %d" % (where, next_offset[message.partition()] - 1))
                next_offset[message.partition()] += 1
                fault = self.judge(message, seen, last)
                if fault is not None:
                    self.check.that("what is read is what was sent", False, where + ": " + fault)
            if time.monotonic() > deadline:
                self.check.that("reading goes on", False, "%d of %d ends reached" %
                                (len(ended), self.options.partitions))
        consumer.close()
        self.check.that("offsets are consecutive from 0 in %d partitions" % self.options.partitions,
                        True)
        self.check.that("every acknowledged record is there, with its key, value and headers",
                        seen.count(1) == self.options.records,
                        "%d are missing" % seen.count(0))
        self.check.that("at the offset that was acknowledged", self.in_place == self.options.records,
                        "%d are elsewhere" % (self.options.records - self.in_place))
        self.check.that("nothing else is there (%d duplicates)" % self.duplicates,
                        sum(next_offset) == self.options.records + self.duplicates)

    # ---- all of it

    def main(self):
        options = self.options
        subprocess.run([options.sluice, "topic", "create", self.topic, "-b", self.bootstrap,
                        "--partitions", str(options.partitions),
                        "--config", "max.message.bytes=2097152", "--config", "retention.ms=-1",
                        *[word for pair in options.config or [] for word in ("--config", pair)]],
                       check=True, stdout=subprocess.DEVNULL, timeout=60)
        began = time.monotonic()
        try:
            self.produce_all()
        except KafkaException as failure: # fatal: say, its sequence was refused
            self.check.that("producing goes on", False, failure)
        produced = time.monotonic()
        self.read_all()
        if self.broker is not None:
            self.broker.stop()
            self.check.that("the broker ends politely", True)
            self.broker.start()
            self.read_all()
            self.check.that("all of it is there after a restart", True)
            self.broker.stop()
        print("roundtrip: %d records, seed %d, %s; written in %.1f s, read in %.1f s" %
              (options.records, options.seed, "idempotent" if options.idempotence else "plain",
               produced - began, time.monotonic() - produced))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sluice", required=True, help="the command line, which creates the topic")
    parser.add_argument("--sluiced", help="the broker to start, stop and kill")
    parser.add_argument("--broker", help="HOST:PORT of one that runs already")
    parser.add_argument("--set", action="append", help="NAME=VALUE for sluiced")
    parser.add_argument("--config", action="append", help="NAME=VALUE for the topic")
    parser.add_argument("--records", type=int, default=20000)
    parser.add_argument("--big", type=int, help="how many of them of 1 MiB (a thousandth)")
    parser.add_argument("--full", action="store_true", help="a million records, a thousand of 1 MiB")
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--seed", type=int, default=20260131)
    parser.add_argument("--idempotence", action="store_true")
    parser.add_argument("--restart", type=int, default=0, metavar="N", help="SIGTERM it N times")
    parser.add_argument("--kill", type=int, default=0, metavar="N", help="SIGKILL it N times")
    options = parser.parse_args()
    if options.full:
        options.records = 1_000_000
    if options.big is None:
        options.big = options.records // 1000
    if bool(options.sluiced) == bool(options.broker):
        parser.error("exactly one of --sluiced and --broker")
    if options.broker and (options.restart or options.kill):
        parser.error("only a broker started by --sluiced can be taken down")
    if options.broker:
        split_address(options.broker)
    Run(options).main()


if __name__ == "__main__":
    run_checks(main)
