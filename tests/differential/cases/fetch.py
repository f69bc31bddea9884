# SPDX-License-Identifier: Apache-2.0
import batch
from batch import GZIP, idempotent
from cases import case

ALL = 1 << 20


def asking(pair, topic, *partitions, **options):
    """A request's body for partitions of a topic, by name and by id. Without more it is answered at once."""
    return {"MaxWaitMs": 0, "MinBytes": 0, **options,
            "Topics": [{"Topic": topic, "TopicId": pair.id_of(topic), "Partitions": [
                {"PartitionMaxBytes": ALL, **partition} for partition in partitions]}]}


def filled(pair, count=5, partitions=2, **configs):
    """Each partition holds `count` batches of two records."""
    topic = pair.topic(partitions=partitions, **configs)
    for partition in range(partitions):
        pair.produce(topic, *[batch.batch(count=2)] * count, partition=partition)
    return topic


def part(partition, offset=0, **options):
    return {"Partition": partition, "FetchOffset": offset, **options}


@case
def every_version(pair):
    topic = filled(pair)
    pair.each_version("Fetch", **asking(pair, topic, part(0), part(1)))
    pair.each_version("Fetch", note="from the middle of a batch", **asking(pair, topic, part(0, 3)))
    pair.each_version("Fetch", note="at the end", **asking(pair, topic, part(0, 10)))


@case
def offsets_outside(pair):
    topic = filled(pair)
    for offset in (11, 1 << 62, -1, -2, -1 << 63):
        pair.each_version("Fetch", note="offset %d" % offset, **asking(pair, topic, part(0, offset), part(1)))
    pair.ask("DeleteRecords", TimeoutMs=10000,
             Topics=[{"Name": topic, "Partitions": [{"PartitionIndex": 0, "Offset": 5}]}])
    for offset in (0, 4, 5, 6):
        pair.each_version("Fetch", note="offset %d of 5 to 10" % offset, **asking(pair, topic, part(0, offset)))


@case
def unknown_partitions(pair):
    topic = filled(pair)
    for partition in (2, -1, 1 << 30):
        pair.each_version("Fetch", note="partition %d" % partition, **asking(pair, topic, part(partition), part(0)))
    for name in ("nobody-made-this", "", "no/name"):
        pair.each_version("Fetch", note="topic %r" % name, MaxWaitMs=0, MinBytes=0, Topics=[
            {"Topic": name, "TopicId": bytes(range(16)), "Partitions": [part(0, PartitionMaxBytes=ALL)]}])
    pair.ask("Fetch", note="no id", MaxWaitMs=0, MinBytes=0, Topics=[{"Partitions": [part(0, PartitionMaxBytes=ALL)]}])


@case
def an_id_with_a_known_one(pair):
    topic = filled(pair)
    body = asking(pair, topic, part(0))
    body["Topics"].append({"Topic": "nobody-made-this", "TopicId": bytes(range(16)),
                           "Partitions": [part(0, PartitionMaxBytes=ALL)]})
    pair.each_version("Fetch", **body)
    body["Topics"].reverse()
    pair.each_version("Fetch", note="the other way round", **body)


@case
def nothing(pair):
    topic = filled(pair)
    pair.each_version("Fetch", note="no topics", MaxWaitMs=0, MinBytes=0)
    pair.each_version("Fetch", note="no partitions", **asking(pair, topic))


@case
def leader_epochs(pair):
    topic = filled(pair)
    for epoch in (-1, 0, 1, 1000, -2):
        pair.each_version("Fetch", note="epoch %d" % epoch, first=9,
                          **asking(pair, topic, part(0, CurrentLeaderEpoch=epoch), part(1),
                                   part(7, CurrentLeaderEpoch=epoch)))
    for epoch in (-1, 0, 1, 1000, -2):
        for offset in (0, 10, 11):
            pair.each_version("Fetch", note="last fetched epoch %d at %d" % (epoch, offset), first=12,
                              **asking(pair, topic, part(0, offset, CurrentLeaderEpoch=0, LastFetchedEpoch=epoch)))


@case
def isolation_levels(pair):
    topic = filled(pair)
    pair.produce(topic, idempotent(900, 0, 0))
    for level in (0, 1, 2, -1):
        pair.each_version("Fetch", note="isolation %d" % level, **asking(pair, topic, part(0), IsolationLevel=level))


@case
def limits(pair):
    topic = filled(pair, partitions=3)
    one = len(batch.batch(count=2))
    for most in (0, 1, one - 1, one, one + 1, 2 * one, 2 * one + 1, 3 * one - 1, -1, -1 << 31):
        pair.ask("Fetch", note="%d bytes of a partition" % most,
                 **asking(pair, topic, *[part(i, PartitionMaxBytes=most) for i in range(3)]))
        pair.ask("Fetch", note="%d bytes in all" % most,
                 **asking(pair, topic, part(0), part(1), part(2), MaxBytes=most))
        pair.ask("Fetch", 4, note="%d bytes in all, version 4" % most,
                 **asking(pair, topic, part(0), part(1), part(2), MaxBytes=most))
        pair.ask("Fetch", note="%d bytes in all, the first at its end" % most,
                 **asking(pair, topic, part(0, 10), part(1), part(2), MaxBytes=most))
        pair.ask("Fetch", note="%d bytes in all, the first unknown" % most,
                 **asking(pair, topic, part(9), part(1), part(2), MaxBytes=most))


@case
def waiting(pair):
    topic = filled(pair)
    for wait in (0, 1, 50, -1):
        for least in (0, 1, 100, 100000, -1):
            pair.ask("Fetch", note="%d ms for %d bytes" % (wait, least),
                     **asking(pair, topic, part(0), part(1, 10), MaxWaitMs=wait, MinBytes=least))
            pair.ask("Fetch", note="%d ms for %d bytes, at the end" % (wait, least),
                     **asking(pair, topic, part(0, 10), MaxWaitMs=wait, MinBytes=least))
    pair.ask("Fetch", note="what is not there ends no wait",
             **asking(pair, topic, part(0, 10), part(9), MaxWaitMs=300, MinBytes=1))
    pair.ask("Fetch", note="an offset outside ends it",
             **asking(pair, topic, part(0, 100), part(1, 10), MaxWaitMs=300, MinBytes=1))


@case
def a_partition_named_twice(pair):
    topic = filled(pair)
    pair.each_version("Fetch", **asking(pair, topic, part(0), part(0, 6)))
    pair.each_version("Fetch", note="not side by side", **asking(pair, topic, part(0, 10), part(1), part(0, 6)))
    pair.each_version("Fetch", note="outside first", **asking(pair, topic, part(0, 99), part(0, 6)))
    pair.each_version("Fetch", note="unknown", **asking(pair, topic, part(9), part(9)))
    body = asking(pair, topic, part(0))
    body["Topics"] = body["Topics"] + asking(pair, topic, part(0, 8))["Topics"]
    pair.each_version("Fetch", note="in two elements", **body)


@case
def replicas(pair):
    """Not those of followers: they have rows of their own."""
    topic = filled(pair)
    for replica in (-1, -2, -3):
        pair.ask("Fetch", 13, note="replica %d" % replica, **asking(pair, topic, part(0), ReplicaId=replica))
        pair.ask("Fetch", note="replica %d" % replica,
                 **asking(pair, topic, part(0), ReplicaState={"ReplicaId": replica, "ReplicaEpoch": -1}))


@case
def ignored_fields(pair):
    topic = filled(pair)
    pair.ask("Fetch", note="another cluster's id", **asking(pair, topic, part(0), ClusterId="another"))
    pair.ask("Fetch", note="a rack", **asking(pair, topic, part(0), RackId="south"))
    pair.ask("Fetch", note="a log start", **asking(pair, topic, part(0, LogStartOffset=7)))
    pair.ask("Fetch", note="a directory", **asking(pair, topic, part(0, ReplicaDirectoryId=bytes(range(16)))))
    pair.ask("Fetch", note="a high watermark", **asking(pair, topic, part(0, HighWatermark=3)))


@case
def compressed_batches(pair):
    topic = pair.topic()
    pair.produce(topic, batch.gzipped(), batch.batch(), batch.gzipped(5))
    pair.each_version("Fetch", **asking(pair, topic, part(0)))
    pair.ask("Fetch", note="from the middle", **asking(pair, topic, part(0, 5)))
    for codec in ("gzip", "uncompressed"):
        own = pair.topic(compression_type=codec)
        pair.produce(own, batch.batch(count=3), batch.gzipped(4))
        pair.each_version("Fetch", note="compression.type=" + codec, **asking(pair, own, part(0)))
    assert GZIP == 1


def in_session(pair, epoch, *topics, forgotten=(), **options):
    return {"MaxWaitMs": 0, "MinBytes": 0, "SessionId": pair.session(), "SessionEpoch": epoch, "Topics": list(topics),
            "ForgottenTopicsData": list(forgotten), **options}


def wanted(pair, topic, *partitions):
    return asking(pair, topic, *partitions)["Topics"][0]


def forget(pair, topic, *partitions):
    return {"Topic": topic, "TopicId": pair.id_of(topic), "Partitions": list(partitions)}


@case
def a_session(pair):
    for version in range(7, 19):
        topic = filled(pair, partitions=3)
        whole = wanted(pair, topic, part(0), part(1, 10), part(2, 4))

        def step(note, body, version=version):
            pair.ask("Fetch", version, note=note, **body)

        step("begins", {**in_session(pair, 0, whole), "SessionId": 0})
        step("nothing changed", in_session(pair, 1))
        step("one goes on", in_session(pair, 2, wanted(pair, topic, part(0, 10))))
        step("all at their ends", in_session(pair, 3, wanted(pair, topic, part(2, 10))))
        pair.produce(topic, batch.batch(), partition=1)
        step("one has more", in_session(pair, 4))
        step("another is forgotten", in_session(pair, 5, forgotten=[forget(pair, topic, 1)]))
        step("and comes back", in_session(pair, 6, wanted(pair, topic, part(1))))
        step("one outside", in_session(pair, 7, wanted(pair, topic, part(0, 100))))
        step("and still", in_session(pair, 8))
        step("one unknown", in_session(pair, 9, wanted(pair, topic, part(8))))
        step("and still unknown", in_session(pair, 10))
        step("one twice", in_session(pair, 11, wanted(pair, topic, part(2, 10), part(2, 4))))
        step("added and forgotten", in_session(pair, 12, wanted(pair, topic, part(2)),
                                               forgotten=[forget(pair, topic, 2)]))
        step("forgotten what is not in it", in_session(pair, 13, forgotten=[forget(pair, topic, 2, 77)]))
        step("a wrong epoch", in_session(pair, 99))
        step("the right one after it", in_session(pair, 14))
        pair.ask("DeleteRecords", TimeoutMs=10000,
                 Topics=[{"Name": topic, "Partitions": [{"PartitionIndex": 1, "Offset": 5}]}])
        step("the log's start moved", in_session(pair, 15))
        step("ends", in_session(pair, -1))
        step("after its end", {**in_session(pair, 16)})


@case
def sessions_that_are_not_there(pair):
    topic = filled(pair)
    for version in (7, 11, 12, 13, 18):
        for session in (0, 123456, -1):
            for epoch in (-1, 0, 1, 5, -2, 2147483647):
                pair.ask("Fetch", version, note="session %d, epoch %d" % (session, epoch),
                         **{**in_session(pair, epoch, wanted(pair, topic, part(0))), "SessionId": session})


@case
def a_session_of_topics_that_go(pair):
    for version in (12, 13, 18):
        one, two = filled(pair), filled(pair)
        pair.ask("Fetch", version, note="begins",
                 **{**in_session(pair, 0, wanted(pair, one, part(0)), wanted(pair, two, part(0))), "SessionId": 0})
        pair.delete_topic(one)
        pair.ask("Fetch", version, note="one is deleted", **in_session(pair, 1))
        pair.ask("Fetch", version, note="still", **in_session(pair, 2))
        pair.ask("Fetch", version, note="unknown from the beginning", **{
            **in_session(pair, 0, {"Topic": "nobody-made-this", "TopicId": bytes(range(16)),
                                   "Partitions": [part(0, PartitionMaxBytes=ALL)]}), "SessionId": 0})
        pair.ask("Fetch", version, note="and on", **in_session(pair, 1))


@case
def a_session_that_changes_its_version(pair):
    """Names until version 12, ids from 13 on."""
    topic = filled(pair)
    for first, second in ((12, 13), (13, 12), (7, 18), (18, 7)):
        pair.ask("Fetch", first, note="begins in %d" % first,
                 **{**in_session(pair, 0, wanted(pair, topic, part(0))), "SessionId": 0})
        pair.ask("Fetch", second, note="goes on in %d" % second, **in_session(pair, 1))
        pair.ask("Fetch", second, note="with a topic", **in_session(pair, 1, wanted(pair, topic, part(1))))
