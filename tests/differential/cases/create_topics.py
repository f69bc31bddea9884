# SPDX-License-Identifier: Apache-2.0
from cases import case


def wanted(name, partitions=1, replicas=1, assignments=(), configs=()):
    return {"Name": name, "NumPartitions": partitions, "ReplicationFactor": replicas,
            "Assignments": [{"PartitionIndex": index, "BrokerIds": list(brokers)} for index, brokers in assignments],
            "Configs": [{"Name": key, "Value": value} for key, value in configs]}


def create(pair, *topics, note="", version=None, **options):
    pair.ask("CreateTopics", version, note=note, Topics=list(topics), timeoutMs=30000, **options)


def create_and_look(pair, note="", **options):
    """In the newest version, first only to validate; then what Metadata and DescribeConfigs tell."""
    name = pair.new_name()
    create(pair, wanted(name, **options), note=note + ", validated", validateOnly=True)
    create(pair, wanted(name, **options), note=note)
    for side in pair.sides:
        side.learn_topic_ids()
    pair.ask("Metadata", Topics=[{"Name": name}], AllowAutoTopicCreation=False, note=note + ", afterwards")
    pair.delete_topic(name)  # where only one has it, later cases would see that


@case
def every_version(pair):
    for version in pair.apis["CreateTopics"].versions:
        for validate in (True, False):
            name = pair.new_name()
            create(pair, wanted(name, 2), version=version, validateOnly=validate, note="two partitions")
            for side in pair.sides:
                side.learn_topic_ids()
            pair.ask("Metadata", Topics=[{"Name": name}], AllowAutoTopicCreation=False)
            create(pair, wanted(name, 2), version=version, validateOnly=validate, note="again")
        create(pair, wanted(pair.new_name(), -1, -1), version=version, note="the broker's defaults")
        create(pair, version=version, note="nothing")


@case
def names(pair):
    for name in ("", ".", "..", "a b", "a/b", "a" * 249, "a" * 250, "ü", "a\0b", "a:b", "-", "_"):
        for version in (2, 4, 5, 7):
            create(pair, wanted(name), version=version, validateOnly=True, note=repr(name[:20]))
    name = pair.new_name()
    create(pair, wanted(name + ".x"))
    create(pair, wanted(name + "_x"), note="dot and underscore collide")
    create(pair, wanted(name + ".x"), note="exists")
    create(pair, wanted("__consumer_offsets"), note="internal", validateOnly=True)
    create(pair, wanted("__transaction_state"), note="internal", validateOnly=True)
    create(pair, wanted("__cluster_metadata"), note="the metadata log", validateOnly=True)


@case
def numbers(pair):
    for partitions in (0, -2, -1, 1, 3, 10001, 2147483647, -2147483648):
        for version in (2, 4, 7):
            create(pair, wanted(pair.new_name(), partitions), version=version, validateOnly=True,
                   note="%d partitions" % partitions)
    for replicas in (0, -2, -1, 2, 3, 32767, -32768):
        for version in (2, 4, 7):
            create(pair, wanted(pair.new_name(), 1, replicas), version=version, validateOnly=True,
                   note="%d replicas" % replicas)
    create(pair, wanted(pair.new_name(), 0, 0), note="nothing of both")
    create(pair, wanted("a b", 0, 0), note="nothing right")


@case
def sizes_of_requests(pair):
    """10,000 partitions in all; and 10,000 topics, settings and partitions."""
    name, exists = pair.new_name(), pair.topic()
    two = [("retention.ms", "5"), ("segment.ms", "6")]
    for note, topics in {
        "9999": [wanted(name, 9999)], "10000": [wanted(name, 10000)], "10001": [wanted(name, 10001)],
        "9997 and settings": [wanted(name, 9997, configs=two)], "9998 and settings": [wanted(name, 9998, configs=two)],
        "two": [wanted(name, 5000), wanted(name + "b", 4998)], "two, one more": [wanted(name, 5000), wanted(name + "b", 4999)],
        "with the default": [wanted(name, 9998), wanted(name + "b", -1)],
        "the smaller default": [wanted(name, 9995), wanted(name + "b", -1)],
        "wrong numbers": [wanted(name, 9997), wanted(name + "b", 0), wanted(name + "c", -5)],
        "an illegal name": [wanted("a b", 10001), wanted(name)], "one exists": [wanted(exists, 10001), wanted(name)],
        "one exists, less": [wanted(exists, 9000), wanted(name, 999)],
        "a wrong setting": [wanted(name, 10001, configs=[("no.such", "1")])],
        "one twice": [wanted(name, 9000), wanted(name, 9000)],
        "one twice beside too many": [wanted(name), wanted(name), wanted(name + "b", 10001)],
        "by hand": [wanted(name, -1, -1, [(i, [1]) for i in range(9999)])],
        "by hand, one more": [wanted(name, -1, -1, [(i, [1]) for i in range(10000)])],
        "large numbers": [wanted(name, 2147483647), wanted(name + "b", 2147483647), wanted(name + "c")],
    }.items():
        for version in (2, 7):
            create(pair, *topics, version=version, note=note, validateOnly=True)
    create(pair, wanted(name, 10000), note="for good")
    pair.ask("Metadata", Topics=[{"Name": name}], AllowAutoTopicCreation=False, note="afterwards")


@case
def assignments(pair):
    odd = {
        "one": [(0, [1])], "two": [(0, [1]), (1, [1])], "out of order": [(1, [1]), (0, [1])],
        "from 1": [(1, [1])], "a gap": [(0, [1]), (2, [1])], "twice": [(0, [1]), (0, [1])],
        "no brokers": [(0, [])], "an unknown broker": [(0, [7])], "a broker twice": [(0, [1, 1])],
        "broker -1": [(0, [-1])], "different counts": [(0, [1]), (1, [])], "partition -1": [(-1, [1])],
        "a known and an unknown broker": [(0, [1, 2])],
    }
    for note, assignment in odd.items():
        for version in (2, 5, 7):
            create(pair, wanted(pair.new_name(), -1, -1, assignment), version=version, note=note, validateOnly=True)
        create_and_look(pair, note=note, partitions=-1, replicas=-1, assignments=assignment)
    create(pair, wanted(pair.new_name(), 1, -1, [(0, [1])]), note="with a number of partitions")
    create(pair, wanted(pair.new_name(), -1, 1, [(0, [1])]), note="with a number of replicas")


@case
def repeated_topics(pair):
    one, two = pair.new_name(), pair.new_name()
    for version in (2, 5, 7):
        create(pair, wanted(one), wanted(two), wanted(one, 2), version=version, validateOnly=True)
    create(pair, wanted(one), wanted(two), wanted(one, 2), note="for good")
    create(pair, wanted(one), wanted(two), note="afterwards")
    create(pair, wanted(""), wanted(""), note="illegal names")


@case
def several_topics(pair):
    good, exists = pair.new_name(), pair.topic()
    create(pair, wanted(good, 2), wanted(exists), wanted("a b"), wanted(pair.new_name(), 0),
           wanted(pair.new_name(), configs=[("no.such", "1")]))


# Per setting: what is taken and what is not, besides the names of its type.
NUMBERS = ("0", "1", "-1", "-2", "1000000", "2147483647", "2147483648", "9223372036854775807", "9223372036854775808",
           "1.5", "", " 5 ", "x", "0x10", "+7", "1e3", "007")
SETTINGS = {
    "cleanup.policy": ("delete", "compact", "compact,delete", "delete,compact", "delete,delete", "", "none", "Delete",
                       " compact , delete ", "delete,", ",", "compact;delete"),
    "compression.gzip.level": NUMBERS + ("9", "10"),
    "compression.lz4.level": NUMBERS + ("17", "18"),
    "compression.type": ("producer", "uncompressed", "gzip", "snappy", "lz4", "zstd", "none", "", "GZIP", "lzma"),
    "compression.zstd.level": NUMBERS + ("22", "23", "-131072", "-131073"),
    "delete.retention.ms": NUMBERS,
    "file.delete.delay.ms": NUMBERS,
    "flush.messages": NUMBERS,
    "flush.ms": NUMBERS,
    "follower.replication.throttled.replicas": ("", "*", "0:1", "0:1,1:1", "x", "0", "1:2:3"),
    "index.interval.bytes": NUMBERS,
    "leader.replication.throttled.replicas": ("", "*", "0:1", "x"),
    "local.retention.bytes": NUMBERS,
    "local.retention.ms": NUMBERS,
    "max.compaction.lag.ms": NUMBERS,
    "max.decompressed.message.bytes": NUMBERS,
    "max.message.bytes": NUMBERS,
    "message.timestamp.after.max.ms": NUMBERS,
    "message.timestamp.before.max.ms": NUMBERS,
    "message.timestamp.type": ("CreateTime", "LogAppendTime", "createtime", "", "x"),
    "min.cleanable.dirty.ratio": ("0", "1", "0.5", ".5", "5e-1", "-0.1", "1.1", "x", "", "NaN", " 0.25 ", "0.5f"),
    "min.compaction.lag.ms": NUMBERS,
    "min.insync.replicas": NUMBERS,
    "preallocate": ("true", "false", "TRUE", "1", "", " true ", "yes"),
    "remote.copy.disable": ("true", "false", "x"),
    "remote.copy.lag.bytes": NUMBERS,
    "remote.copy.lag.ms": NUMBERS,
    "remote.log.copy.disable": ("true", "false", "x"),
    "remote.log.delete.on.disable": ("true", "false", "x"),
    "remote.storage.enable": ("true", "false", "x"),
    "retention.bytes": NUMBERS,
    "retention.ms": NUMBERS,
    "segment.bytes": NUMBERS + ("1048576", "1048575"),
    "segment.index.bytes": NUMBERS + ("4", "3"),
    "segment.jitter.ms": NUMBERS,
    "segment.ms": NUMBERS,
    "unclean.leader.election.enable": ("true", "false", "x"),
    "message.format.version": ("3.0", "x"),
    "message.downconversion.enable": ("true", "false"),
    "message.timestamp.difference.max.ms": ("1000",),
    "no.such.setting": ("1",), "": ("1",), "retention": ("1",), "RETENTION.MS": ("1",), " retention.ms": ("1",),
}


@case
def settings(pair):
    """Each alone, and validated only."""
    for name, values in SETTINGS.items():
        for value in values:
            create(pair, wanted(pair.new_name(), configs=[(name, value)]), note="%s=%r" % (name, value),
                   validateOnly=True)
        create(pair, wanted(pair.new_name(), configs=[(name, None)]), note="%s null" % name, validateOnly=True)


@case
def settings_together(pair):
    odd = {
        "all right": [("retention.ms", "5000"), ("cleanup.policy", "compact"), ("segment.bytes", "2000000")],
        "one wrong": [("retention.ms", "5000"), ("segment.bytes", "x")],
        "the same twice": [("retention.ms", "5000"), ("retention.ms", "6000")],
        "the same twice, one wrong": [("retention.ms", "5000"), ("retention.ms", "x")],
        "min above max lag": [("min.compaction.lag.ms", "100"), ("max.compaction.lag.ms", "50")],
        "local above whole retention": [("retention.ms", "100"), ("local.retention.ms", "200")],
        "local above whole retention, bytes": [("retention.bytes", "100"), ("local.retention.bytes", "200")],
        "one null": [("retention.ms", None), ("segment.bytes", "2000000")],
        "remote and compact": [("remote.storage.enable", "true"), ("cleanup.policy", "compact")],
    }
    for note, configs in odd.items():
        for version in (2, 4, 5, 6, 7):
            create(pair, wanted(pair.new_name(), configs=configs), version=version, validateOnly=True, note=note)
        create_and_look(pair, note=note, configs=configs)
