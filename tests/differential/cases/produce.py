# SPDX-License-Identifier: Apache-2.0
import json
import os
import time

import batch
from batch import CONTROL, GZIP, LOG_APPEND_TIME, LZ4, NOON, SNAPPY, TRANSACTIONAL, ZSTD, idempotent, record
from cases import case

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/append.jsonl")
SOME = batch.batch(count=2)


def to(pair, topic, *records, partition=0, **options):
    """A request's body for one partition (or as many as there are records), by name and by id."""
    return {"Acks": -1, "TimeoutMs": 10000, **options,
            "TopicData": [{"Name": topic, "TopicId": pair.id_of(topic), "PartitionData": [
                {"Index": partition + i, "Records": data} for i, data in enumerate(records)]}]}


def fetch(pair, topic, partition=0, offset=0, note=""):
    pair.ask("Fetch", MaxWaitMs=0, MinBytes=0, note=note + ", what is stored", Topics=[
        {"TopicId": pair.id_of(topic), "Partitions": [
            {"Partition": partition, "FetchOffset": offset, "PartitionMaxBytes": 1 << 20}]}])


@case
def every_version(pair):
    topic = pair.topic(partitions=2)
    pair.each_version("Produce", **to(pair, topic, SOME))
    pair.each_version("Produce", note="two partitions", **to(pair, topic, SOME, SOME))
    pair.each_version("Produce", note="acks 1", **to(pair, topic, SOME, Acks=1))
    fetch(pair, topic)


@case
def log_append_time(pair):
    topic = pair.topic(message_timestamp_type="LogAppendTime")
    pair.each_version("Produce", **to(pair, topic, SOME))
    pair.ask("Produce", note="compressed", **to(pair, topic, batch.gzipped()))
    fetch(pair, topic)


@case
def unknown_partitions(pair):
    topic = pair.topic()
    for partition in (1, -1, 1 << 30):
        pair.each_version("Produce", note="partition %d" % partition, **to(pair, topic, SOME, partition=partition))
    for name in ("nobody-made-this", "", "no/name", "a" * 250):
        pair.each_version("Produce", note="topic %r" % name[:20], Acks=-1, TimeoutMs=1000, TopicData=[
            {"Name": name, "TopicId": bytes(range(16)), "PartitionData": [{"Index": 0, "Records": SOME}]}])
    pair.ask("Produce", note="no id", Acks=-1, TimeoutMs=1000,
             TopicData=[{"PartitionData": [{"Index": 0, "Records": SOME}]}])
    pair.each_version("Produce", note="one of two", **to(pair, topic, SOME, SOME))
    fetch(pair, topic)


@case
def nothing_to_produce(pair):
    topic = pair.topic()
    pair.each_version("Produce", note="no topics", Acks=-1, TimeoutMs=1000)
    pair.each_version("Produce", note="no partitions", **to(pair, topic))
    pair.ask("Produce", note="null", seconds=3, **to(pair, topic, None))
    pair.each_version("Produce", note="no bytes", **to(pair, topic, b""))
    pair.each_version("Produce", note="a batch of no records",
                      **to(pair, topic, batch.batch(b"", count=0, lastOffsetDelta=0)))
    fetch(pair, topic)


@case
def acks(pair):
    topic = pair.topic()
    for value in (2, -2, 100, -32768):
        pair.each_version("Produce", note="acks %d" % value, **to(pair, topic, SOME, Acks=value))
    for version in pair.apis["Produce"].versions:
        pair.send_only("Produce", version, **to(pair, topic, SOME, Acks=0))
        pair.ask("Produce", version, note="after one without an answer", **to(pair, topic, SOME))
    fetch(pair, topic)


@case
def no_answer_but_an_error(pair):
    """With acks = 0 the connection is all that can tell."""
    topic = pair.topic()
    pair.send_only("Produce", **to(pair, topic, SOME, Acks=0, partition=5))
    pair.ask("Metadata", Topics=[{"Name": topic}], note="after an unknown partition")
    pair.reconnect()
    pair.send_only("Produce", **to(pair, topic, batch.batch(crc=1), Acks=0))
    pair.ask("Metadata", Topics=[{"Name": topic}], note="after a wrong CRC")
    pair.reconnect()
    pair.send_only("Produce", Acks=0, TimeoutMs=100)
    pair.ask("Metadata", Topics=[{"Name": topic}], note="after nothing")


@case
def timeouts(pair):
    topic = pair.topic()
    for timeout in (0, -1, 1, 2147483647, -2147483648):
        pair.ask("Produce", note="timeout %d" % timeout, **to(pair, topic, SOME, TimeoutMs=timeout))


@case
def a_partition_named_twice(pair):
    topic = pair.topic(partitions=2)
    body = to(pair, topic, SOME)
    body["TopicData"][0]["PartitionData"].append({"Index": 0, "Records": batch.batch(count=5)})
    pair.each_version("Produce", **body)
    body = to(pair, topic, SOME)
    body["TopicData"] += to(pair, topic, batch.batch(count=3))["TopicData"]
    pair.each_version("Produce", note="in two elements", **body)
    fetch(pair, topic)


@case
def old_formats(pair):
    topic = pair.topic()
    for magic in (0, 1, 3, -1):
        pair.each_version("Produce", note="magic %d" % magic, **to(pair, topic, batch.batch(magic=magic)))
    pair.each_version("Produce", note="zstd, which versions below 7 have not",
                      **to(pair, topic, batch.compressed(ZSTD, batch.zstd_stored(record()), 1)))
    fetch(pair, topic)


@case
def broken_headers(pair):
    odd = {
        "wrong crc": batch.batch(crc=1),
        "base offset 5": batch.batch(baseOffset=5),
        "base offset -1": batch.batch(baseOffset=-1),
        "leader epoch 9": batch.batch(leaderEpoch=9),
        "count 3 of 2": batch.batch(batch.record(0) + batch.record(1), count=3),
        "count 1 of 2": batch.batch(batch.record(0) + batch.record(1), count=1),
        "count -1": batch.batch(count=-1, records=record(), lastOffsetDelta=0),
        "count 0": batch.batch(count=0, records=record(), lastOffsetDelta=0),
        "last offset delta 7": batch.batch(count=2, lastOffsetDelta=7),
        "last offset delta -1": batch.batch(count=1, lastOffsetDelta=-1),
        "last offset delta 0 of two": batch.batch(count=2, lastOffsetDelta=0),
        "length 0": batch.batch(length=0),
        "length -1": batch.batch(length=-1),
        "length 48": batch.batch(length=48),
        "length one too many": batch.batch(length=57),
        "length one too few": batch.batch(length=55),
        "length huge": batch.batch(length=0x7FFFFFFF),
        "a control batch": batch.batch(attributes=CONTROL, producerId=9, producerEpoch=0),
        "a control batch of nobody": batch.batch(attributes=CONTROL),
        "log append time": batch.batch(attributes=LOG_APPEND_TIME),
        "unused attributes": batch.batch(attributes=0x700),
        "max timestamp too low": batch.batch(maxTimestamp=NOON - 5),
        "max timestamp too high": batch.batch(maxTimestamp=NOON + 5),
        "a short header": batch.batch()[:40],
        "one byte": b"\0",
        "a cut batch": batch.batch(count=3)[:-1],
        "two batches": batch.batch() + batch.batch(),
        "bytes behind it": batch.batch() + b"\0",
    }
    each_into_its_own_partition(pair, odd)


@case
def broken_records(pair):
    def records(*items, **header):
        return batch.batch(b"".join(items), count=len(items), **header)

    good = record()
    odd = {
        "offset deltas 0, 2, 1": records(record(0), record(2), record(1)),
        "offset deltas 0, 0": records(record(0), record(0)),
        "offset deltas from 1": records(record(1), record(2)),
        "offset delta -1": records(record(-1)),
        "a length too many": records(batch.zigzag(len(good)) + good[1:]),
        "a length too few": records(batch.zigzag(len(good) - 2) + good[1:]),
        "a negative length": records(batch.zigzag(-5) + good[1:]),
        "a length in two bytes": records(bytes([good[0] | 0x80, 0]) + good[1:]),
        "a huge length": records(batch.zigzag(1 << 30) + good[1:]),
        "record attributes": records(record(attributes=0x7F)),
        "a key of length -2": records(batch.zigzag(5) + b"\0\0\0" + batch.zigzag(-2) + b"\1\0"),
        "a key longer than the record": records(batch.zigzag(6) + b"\0\0\0" + batch.zigzag(100) + b"\1\0\0"),
        "a null value": records(record(value=None)),
        "a null header value": records(record(headers=[(b"h", None)])),
        "a null header name": records(record(headers=[(None, b"x")])),
        "a header count of -1": records(batch.zigzag(6) + b"\0\0\0\1" + batch.zigzag(0) + batch.zigzag(-1)),
        "a thousand headers": records(record(headers=[(b"h", b"x")] * 1000)),
        "bytes behind the last": records(good) + b"",
        "bytes behind the last, inside": batch.batch(good + b"\0\0", count=1),
        "an empty key": records(record(key=b"")),
        "a header that is no text": records(record(headers=[(b"\xff\xfe", b"x")])),
        "timestamps up and down": records(record(0, 5), record(1, -5), record(2, 0), maxTimestamp=NOON + 5),
    }
    each_into_its_own_partition(pair, odd)
    topic = pair.topic(cleanup_policy="compact")
    for note, data in (("no key", records(record())), ("the second without", records(record(key=b"k"), record(1))),
                       ("keys", records(record(key=b"k"), record(1, key=b""))),
                       ("two of three without", records(record(), record(1, key=b"k"), record(2)))):
        pair.each_version("Produce", note=note, **to(pair, topic, data))
    fetch(pair, topic)


@case
def broken_compression(pair):
    inner = b"".join(record(delta) for delta in range(3))
    good = batch.gzipped()
    odd = {
        "gzip": good,
        "gzip, cut": batch.compressed(GZIP, good[61:-6], 3),
        "gzip, nothing": batch.compressed(GZIP, b"", 3),
        "gzip, count 4 of 3": batch.compressed(GZIP, good[61:], 4),
        "gzip, count 2 of 3": batch.compressed(GZIP, good[61:], 2),
        "gzip, not compressed": batch.compressed(GZIP, inner, 3),
        "snappy, rubbish": batch.compressed(SNAPPY, inner, 3),
        "snappy, nothing": batch.compressed(SNAPPY, b"", 3),
        "lz4, rubbish": batch.compressed(LZ4, inner, 3),
        "lz4, nothing": batch.compressed(LZ4, b"", 3),
        "zstd, rubbish": batch.compressed(ZSTD, inner, 3),
        "zstd, nothing": batch.compressed(ZSTD, b"", 3),
        "codec 5": batch.compressed(5, inner, 3),
        "codec 6": batch.compressed(6, inner, 3),
        "codec 7": batch.compressed(7, inner, 3),
    }
    each_into_its_own_partition(pair, odd)


def each_into_its_own_partition(pair, odd, version=None, **configs):
    """Each answer, and what was stored. Three versions: with nothing, with record errors, with ids."""
    versions = (7, 8, 13) if version is None else (version,)
    topic = pair.topic(partitions=len(odd), **configs)
    for partition, (note, data) in enumerate(odd.items()):
        for one in versions:
            pair.ask("Produce", one, note=note, **to(pair, topic, data, partition=partition))
        fetch(pair, topic, partition, note=note)


@case
def timestamps(pair):
    now = int(time.time() * 1000)
    hour = 3600_000
    for kind, configs in (("by default", {}),
                          ("bounded", {"message_timestamp_before_max_ms": "1000",
                                       "message_timestamp_after_max_ms": "1000"})):
        odd = {}
        for note, when in (("now", now), ("in an hour", now + hour), ("in three", now + 3 * hour),
                           ("an hour ago", now - hour), ("none", -1), ("-2", -2), ("the smallest", -1 << 63),
                           ("the largest", (1 << 63) - 1), ("0", 0)):
            odd["%s, %s" % (kind, note)] = batch.batch(baseTimestamp=when, maxTimestamp=when)
        topic = pair.topic(partitions=len(odd), **configs)
        for partition, (note, data) in enumerate(odd.items()):
            for version in (7, 8, 13):
                pair.ask("Produce", version, note=note, **to(pair, topic, data, partition=partition))
            fetch(pair, topic, partition, note=note)


@case
def sizes(pair):
    topic = pair.topic(max_message_bytes="200")
    for size in (100, 130, 131, 132, 133, 200):
        data = batch.batch(record(value=b"x" * size))
        pair.each_version("Produce", note="%d bytes" % len(data), **to(pair, topic, data))
    fetch(pair, topic)
    big = pair.topic()
    pair.each_version("Produce", note="above a mebibyte", **to(pair, big, batch.batch(record(value=bytes(1 << 20)))))


@case
def idempotence(pair):
    topic = pair.topic(partitions=3)

    def step(note, *arguments, partition=0, **header):
        pair.ask("Produce", note=note, **to(pair, topic, idempotent(*arguments, **header), partition=partition))

    step("the first", 500, 0, 0)
    step("the next", 500, 0, 1, 3)
    step("the same again", 500, 0, 1, 3)
    step("the first again", 500, 0, 0)
    step("part of one", 500, 0, 1, 2)
    step("a gap", 500, 0, 9)
    for i in range(6):
        step("more", 500, 0, 4 + i)
    step("the sixth-last", 500, 0, 1, 3)
    step("the fifth-last", 500, 0, 5)
    step("a new epoch not from 0", 500, 1, 4)
    step("a new epoch", 500, 1, 0)
    step("an old epoch", 500, 0, 10)
    step("an epoch far on", 500, 30000, 0)
    step("epoch -1", 500, -1, 0)
    step("sequence -1", 501, 0, -1)
    step("a sequence below -1", 501, 0, -5)
    step("an unknown producer, from the middle", 502, 3, 100)
    step("and on", 502, 3, 101)
    step("producer -2", -2, 0, 0)
    step("the last sequence", 503, 0, 2147483647, partition=1)
    step("then 0", 503, 0, 0, partition=1)
    step("over the end", 504, 0, 2147483646, 3, partition=1)
    step("then 1", 504, 0, 1, partition=1)
    step("over the end, again", 504, 0, 2147483646, 3, partition=1)
    fetch(pair, topic)
    fetch(pair, topic, 1)
    pair.ask("DescribeProducers", Topics=[{"Name": topic, "PartitionIndexes": [0, 1, 2]}])


@case
def idempotent_versions(pair):
    topic = pair.topic()
    for version in pair.apis["Produce"].versions:
        for note, data in (("new", idempotent(600, 0, version)), ("again", idempotent(600, 0, version)),
                           ("a gap", idempotent(600, 0, version + 9)), ("an old epoch", idempotent(600, -1, 0))):
            if note != "new" or version == 3:
                pair.ask("Produce", version, note=note, **to(pair, topic, data))


@case
def transactions(pair):
    """Of nobody that began one: refused by both, each in its way."""
    topic = pair.topic()
    pair.ask("Produce", note="a transactional batch of nobody",
             **to(pair, topic, batch.batch(attributes=TRANSACTIONAL)))
    fetch(pair, topic)


@case
def what_kafkas_own_log_was_given(pair):
    """The batches of tests/data/append.jsonl, each to a partition of its own."""
    by_configs = {}
    with open(VECTORS, encoding="ascii") as lines:
        for line in lines:
            vector = json.loads(line)
            if vector["origin"] == "producer":
                key = tuple(sorted(vector["config"].items()))
                by_configs.setdefault(key, {})[vector["case"]] = bytes.fromhex(vector["hex"])
    for configs, odd in by_configs.items():
        each_into_its_own_partition(pair, odd, version=13,
                                    **{name.replace(".", "_"): value for name, value in configs})
