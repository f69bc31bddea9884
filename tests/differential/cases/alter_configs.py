# SPDX-License-Identifier: Apache-2.0
"""AlterConfigs and IncrementalAlterConfigs: what both say to a change, and what is told afterwards."""

from cases import case
from cases.create_topics import SETTINGS
from cases.describe_configs import BROKER, CLIENT_METRICS, GROUP, LOGGER, TOPIC

SET, DELETE, APPEND, SUBTRACT = range(4)


def changes(kind, name, *configs):
    """`configs`: (name, value) to set, or (name, operation, value)."""
    listed = []
    for config in configs:
        key, operation, value = config if len(config) == 3 else (config[0], SET, config[1])
        listed.append({"Name": key, "ConfigOperation": operation, "Value": value})
    return {"ResourceType": kind, "ResourceName": name, "Configs": listed}


def alter(pair, *resources, note="", version=None, validate=False):
    pair.ask("IncrementalAlterConfigs", version, note=note, Resources=list(resources), ValidateOnly=validate)


def replace(pair, *resources, note="", version=None, validate=False):
    plain = [{**one, "Configs": [{"Name": config["Name"], "Value": config["Value"]} for config in one["Configs"]]}
             for one in resources]
    pair.ask("AlterConfigs", version, note=note, Resources=plain, ValidateOnly=validate)


def look(pair, kind, name, note="", keys=None):
    pair.ask("DescribeConfigs", IncludeSynonyms=True, note=note + ", afterwards", Resources=[
        {"ResourceType": kind, "ResourceName": name, "ConfigurationKeys": keys}])


@case
def every_version(pair):
    name = pair.topic(segment_bytes="2000000")
    for version in pair.apis["IncrementalAlterConfigs"].versions:
        for validate in (True, False):
            alter(pair, changes(TOPIC, name, ("retention.ms", "700%d" % version)), version=version, validate=validate)
            look(pair, TOPIC, name)
        alter(pair, version=version, note="nothing")
        alter(pair, changes(TOPIC, name), version=version, note="no changes")
    for version in pair.apis["AlterConfigs"].versions:
        for validate in (True, False):
            replace(pair, changes(TOPIC, name, ("retention.bytes", "800%d" % version)), version=version,
                    validate=validate)
            look(pair, TOPIC, name)
        replace(pair, version=version, note="nothing")
        replace(pair, changes(TOPIC, name), version=version, note="no settings")
        look(pair, TOPIC, name)


@case
def operations(pair):
    name = pair.topic(cleanup_policy="delete", retention_ms="5000")
    for note, config in {
        "delete": ("retention.ms", DELETE, None), "delete again": ("retention.ms", DELETE, "x"),
        "delete nothing": ("segment.ms", DELETE, None), "delete an unknown one": ("no.such", DELETE, None),
        "append": ("cleanup.policy", APPEND, "compact"), "append again": ("cleanup.policy", APPEND, "compact"),
        "subtract": ("cleanup.policy", SUBTRACT, "delete"), "subtract again": ("cleanup.policy", SUBTRACT, "delete"),
        "subtract the last": ("cleanup.policy", SUBTRACT, "compact"),
        "append two": ("cleanup.policy", APPEND, "compact,delete"),
        "append a wrong one": ("cleanup.policy", APPEND, "x"),
        "subtract a wrong one": ("cleanup.policy", SUBTRACT, "x"),
        "append nothing": ("cleanup.policy", APPEND, ""), "subtract nothing": ("cleanup.policy", SUBTRACT, ""),
        "append an empty one and another": ("cleanup.policy", APPEND, ",compact"), "append a comma": ("cleanup.policy", APPEND, ","),
        "append one and nothing": ("cleanup.policy", APPEND, "compact,,"),
        "append null": ("cleanup.policy", APPEND, None), "subtract null": ("cleanup.policy", SUBTRACT, None),
        "append to what is no list": ("retention.ms", APPEND, "1"),
        "subtract from what is no list": ("retention.ms", SUBTRACT, "1"),
        "append to an unknown one": ("no.such", APPEND, "1"), "set null": ("retention.ms", SET, None),
        "operation 4": ("retention.ms", 4, "1"), "operation -1": ("retention.ms", -1, "1"),
        "delete the policy": ("cleanup.policy", DELETE, None),
        "subtract from the default": ("cleanup.policy", SUBTRACT, "delete"),
        "append to the default": ("cleanup.policy", APPEND, "compact"),
    }.items():
        alter(pair, changes(TOPIC, name, config), note=note)
        look(pair, TOPIC, name, note, ["retention.ms", "segment.ms", "cleanup.policy"])


@case
def a_topics_settings(pair):
    name = pair.topic()
    for setting, values in SETTINGS.items():
        for value in values:
            alter(pair, changes(TOPIC, name, (setting, value)), note="%s=%r" % (setting, value), validate=True)
            replace(pair, changes(TOPIC, name, (setting, value)), note="%s=%r" % (setting, value), validate=True)
        alter(pair, changes(TOPIC, name, (setting, None)), note="%s null" % setting, validate=True)
        replace(pair, changes(TOPIC, name, (setting, None)), note="%s null" % setting, validate=True)


@case
def values_as_they_are_kept(pair):
    """Blanks, signs and the like, told again as they came or not."""
    for setting, values in {"retention.ms": (" 5000 ", "+7", "007", "-1"), "preallocate": ("false", "FALSE", " false "),
                            "cleanup.policy": (" compact , delete ", "delete,compact", "delete,delete"),
                            "min.cleanable.dirty.ratio": (".5", "5e-1", " 0.25 ", "1"),
                            "compression.type": ("gzip", " lz4")}.items():
        for value in values:
            name = pair.topic()
            alter(pair, changes(TOPIC, name, (setting, value)), note="%s=%r" % (setting, value))
            look(pair, TOPIC, name, "%s=%r" % (setting, value), [setting])


@case
def several_changes(pair):
    name = pair.topic(retention_ms="5000")
    for note, configs in {
        "one wrong": [("segment.ms", "6000"), ("retention.ms", "x")],
        "the same twice": [("segment.ms", "6000"), ("segment.ms", "7000")],
        "set and deleted": [("segment.ms", SET, "6000"), ("segment.ms", DELETE, None)],
        "appended and subtracted": [("cleanup.policy", APPEND, "compact"), ("cleanup.policy", SUBTRACT, "delete")],
        "min above max lag": [("min.compaction.lag.ms", "100"), ("max.compaction.lag.ms", "50")],
        "an unknown one": [("segment.ms", "6000"), ("no.such", "1")],
        "all right": [("segment.ms", "6000"), ("retention.bytes", "70000")],
    }.items():
        alter(pair, changes(TOPIC, name, *configs), note=note)
        look(pair, TOPIC, name, note)


@case
def unknown_resources(pair):
    one = ("retention.ms", "5000")
    for kind in (0, TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP, 1, 3, 64, -1):
        for name in ("", "nobody-made-this", "2", "-1", "01", " 1", "a b", "2147483648", "."):
            if (kind, name) in ((GROUP, "nobody-made-this"), (CLIENT_METRICS, "nobody-made-this"), (BROKER, "")):
                continue
            alter(pair, changes(kind, name, one), note="type %d, %r" % (kind, name), validate=True)
            replace(pair, changes(kind, name, one), note="type %d, %r" % (kind, name), validate=True)
            alter(pair, changes(kind, name), note="type %d, %r, no changes" % (kind, name), validate=True)


@case
def several_resources(pair):
    one, two = pair.topic(), pair.topic()
    good, bad = changes(TOPIC, one, ("retention.ms", "5000")), changes(TOPIC, two, ("retention.ms", "x"))
    alter(pair, good, bad, changes(TOPIC, "nobody-made-this", ("retention.ms", "1")), note="good and bad")
    look(pair, TOPIC, one)
    alter(pair, good, changes(TOPIC, two, ("segment.ms", "6000")), note="both good")
    look(pair, TOPIC, two)
    alter(pair, good, good, note="one twice")
    alter(pair, good, changes(TOPIC, one, ("segment.ms", "6000")), note="one twice, other changes")
    look(pair, TOPIC, one)
    replace(pair, good, bad, note="replaced, good and bad")
    look(pair, TOPIC, one)


BROKER_VALUES = {
    "log.retention.ms": ("5000", "-1", "-2", "x"), "log.retention.bytes": ("100", "-1", "x"),
    "log.segment.bytes": ("2000000", "1048575", "x"), "log.roll.ms": ("1000", "0"), "log.cleanup.policy": ("compact", "x", "", "delete,delete", "delete, delete"),
    "message.max.bytes": ("1000000", "-1"), "compression.type": ("gzip", "x"), "log.cleaner.threads": ("2", "0", "1"),
    "log.cleaner.backoff.ms": ("1000", "-1"), "log.cleaner.dedupe.buffer.size": ("200000000", "1048577", "1048576", "x"),
    "log.cleaner.io.max.bytes.per.second": ("1000000", "0", "x"), "log.cleaner.min.cleanable.ratio": ("0.4", "1.4"),
    "log.flush.interval.messages": ("1", "0"), "log.flush.interval.ms": ("1", "-1", "x"), "max.connections": ("1000", "0", "-1"),
    "max.connections.per.ip": ("1000", "0", "-1"), "num.io.threads": ("9", "0"), "num.network.threads": ("4", "0"),
    "min.insync.replicas": ("1", "2", "0"), "log.message.timestamp.type": ("LogAppendTime", "x"),
    "unclean.leader.election.enable": ("true", "false", "x"), "num.partitions": ("4",), "node.id": ("2",),
    "log.retention.hours": ("4",), "log.retention.minutes": ("4",), "log.dirs": ("/tmp",), "listeners": ("x",),
    "auto.create.topics.enable": ("false",), "no.such.setting": ("1",), "retention.ms": ("1",), "": ("1",),
    "producer.id.expiration.ms": ("86400000", "x"), "transaction.partition.verification.enable": ("true", "x"),
    "log.preallocate": ("true", "false"), "log.index.interval.bytes": ("4096", "5000"), "log.roll.jitter.ms": ("0", "5"),
    "log.segment.delete.delay.ms": ("60000", "1"), "log.index.size.max.bytes": ("10485760", "5000"),
    "max.connection.creation.rate": ("10", "0", "x"), "num.replica.fetchers": ("1", "2"), "background.threads": ("10", "12"),
    "num.recovery.threads.per.data.dir": ("2", "3"), "metric.reporters": ("", "x"),
    "leader.replication.throttled.rate": ("1000", "x"), "follower.replication.throttled.rate": ("1000", "x"),
    "max.connections.per.ip.overrides": ("127.0.0.1:500", "127.0.0.1:-1", "x"), "ssl.keystore.location": ("/none",),
    "ssl.keystore.password": ("secret",), "principal.builder.class": ("x",), "remote.log.manager.thread.pool.size": ("3",),
    "group.consumer.session.timeout.ms": ("45000",), "connections.max.idle.ms": ("600000",),
    "max.incremental.fetch.session.cache.slots": ("1000",), "fetch.max.bytes": ("57671680",),
    "log.message.timestamp.before.max.ms": ("1000", "-1"), "log.message.timestamp.after.max.ms": ("1000", "-1"),
    "compression.gzip.level": ("1", "0", "-1", "10"), "compression.lz4.level": ("1", "18"), "compression.zstd.level": ("1", "23"),
    "log.cleaner.delete.retention.ms": ("1", "-1"), "log.cleaner.min.compaction.lag.ms": ("1", "-1"),
    "log.cleaner.max.compaction.lag.ms": ("1", "0"), "log.local.retention.ms": ("-2", "5", "-1", "720000000000", "720000000001"),
    "log.local.retention.bytes": ("-2", "5", "-1"), "log.cleaner.io.buffer.size": ("524288", "x"),
    "log.cleaner.io.buffer.load.factor": ("0.9", "0", "1.1", "x"), "log.cleaner.enable": ("true", "false"),
    "advertised.listeners": ("PLAINTEXT://127.0.0.1:9",), "delete.topic.enable": ("true",),
    "max.decompressed.message.bytes": ("1000000", "0"), "socket.request.max.bytes": ("104857600",),
    "log.remote.copy.lag.ms": ("-1", "0", "720000000000", "720000000001"), "log.remote.copy.lag.bytes": ("-1", "100"),
    "group.consumer.assignment.interval.ms": ("0", "15000", "15001"), "group.share.assignment.interval.ms": ("15000", "15001"),
    "group.streams.assignment.interval.ms": ("15000", "15001"), "group.consumer.assignor.offload.enable": ("false", "x"),
    "group.share.assignor.offload.enable": ("false", "x"), "group.streams.assignor.offload.enable": ("false", "x"),
    "cordoned.log.dirs": ("", "*", "/none", "*,/none"), "config.providers": ("x", "x,x"),
    "remote.log.manager.copier.thread.pool.size": ("5", "20", "4", "21"), "remote.log.reader.threads": ("5", "20", "4", "21"),
    "remote.log.manager.expiration.thread.pool.size": ("4", "21"),
    "remote.log.manager.follower.thread.pool.size": ("1", "4", "5"),
    "errors.deadletterqueue.topic.name.prefix": ("x" * 5000,),
}

# Of settings that limit each other.
BROKER_VALUES_TOGETHER = [
    {"max.connections.per.ip": "0", "max.connections.per.ip.overrides": "127.0.0.1:5"},
    {"max.connections.per.ip": "0", "max.connections.per.ip.overrides": ""},
    {"log.retention.ms": "1000", "log.local.retention.ms": "1000"},
    {"log.retention.ms": "1000", "log.local.retention.ms": "1001"},
    {"log.retention.ms": "1000", "log.local.retention.ms": "-1"},
    {"log.retention.ms": "-7", "log.local.retention.ms": "-1"},
    {"log.retention.bytes": "100", "log.local.retention.bytes": "100"},
    {"log.retention.bytes": "100", "log.local.retention.bytes": "101"},
    {"log.retention.bytes": "0", "log.local.retention.bytes": "-1"},
    {"log.retention.bytes": "-5", "log.local.retention.bytes": "10"},
    {"log.remote.copy.lag.ms": "500", "log.local.retention.ms": "500"},
    {"log.remote.copy.lag.ms": "501", "log.local.retention.ms": "500"},
    {"log.remote.copy.lag.ms": "-1", "log.local.retention.ms": "0"},
    {"log.remote.copy.lag.ms": "1001", "log.retention.ms": "1000"},
    {"log.remote.copy.lag.ms": "1001", "log.retention.ms": "-1"},
    {"log.remote.copy.lag.bytes": "100", "log.retention.bytes": "99"},
    {"log.remote.copy.lag.bytes": "100", "log.local.retention.bytes": "99"},
    {"log.cleaner.dedupe.buffer.size": "2097153", "log.cleaner.threads": "2"},
    {"log.cleaner.dedupe.buffer.size": "2097154", "log.cleaner.threads": "2"},
    {"log.cleaner.min.compaction.lag.ms": "100", "log.cleaner.max.compaction.lag.ms": "50"},
]


@case
def a_brokers_settings_together(pair):
    for broker in ("1", ""):
        for values in BROKER_VALUES_TOGETHER:
            note = "broker %r, %s" % (broker, ", ".join("%s=%s" % one for one in values.items()))
            alter(pair, changes(BROKER, broker, *values.items()), note=note, validate=True)
            replace(pair, changes(BROKER, broker, *values.items()), note=note, validate=True)


@case
def operations_on_a_broker(pair):
    for broker in ("1", "", "77", "x"):
        for note, configs in {
            "operation 4": [("log.retention.ms", 4, "1")], "operation -1": [("log.retention.ms", -1, "1")],
            "operation 4 with null": [("log.retention.ms", 4, None)],
            "operation 4 on what is fixed": [("num.partitions", 4, "1")],
            "operation 4 on an unknown one": [("no.such", 4, "1")],
            "operation 4 behind a wrong change": [("log.retention.ms", "x"), ("log.roll.ms", 4, "1")],
            "append": [("log.cleanup.policy", APPEND, "compact")],
            "append one twice": [("log.cleanup.policy", APPEND, "compact,compact")],
            "append one twice that is there": [("log.cleanup.policy", APPEND, "delete,delete")],
            "subtract one twice": [("log.cleanup.policy", SUBTRACT, "delete,delete")],
            "append a folder": [("cordoned.log.dirs", APPEND, "/none")],
            "subtract a folder": [("cordoned.log.dirs", SUBTRACT, "/none")],
        }.items():
            alter(pair, changes(BROKER, broker, *configs), note="broker %r, %s" % (broker, note), validate=True)
    for kind, name in ((LOGGER, "1"), (LOGGER, "2"), (TOPIC, "nobody-made-this"), (TOPIC, ""), (CLIENT_METRICS, "x"),
                       (GROUP, "x"), (3, "x")):
        alter(pair, changes(kind, name, ("x", 4, "1")), note="type %d, %r, operation 4" % (kind, name), validate=True)


@case
def a_brokers_settings(pair):
    for broker in ("1", ""):
        for setting, values in BROKER_VALUES.items():
            for value in values + (None,):
                note = "broker %r, %s=%r" % (broker, setting, value)
                alter(pair, changes(BROKER, broker, (setting, value)), note=note, validate=True)
                replace(pair, changes(BROKER, broker, (setting, value)), note=note, validate=True)
            alter(pair, changes(BROKER, broker, (setting, DELETE, None)), note="broker %r, %s deleted" % (broker, setting),
                  validate=True)


@case
def a_broker_changed(pair):
    """Set for one broker and for all, told of the broker, of all, and of a topic; then taken away again."""
    name = pair.topic()
    topic_keys = ["retention.ms", "segment.bytes", "cleanup.policy", "max.message.bytes"]
    wanted = [("log.retention.ms", "111111111"), ("log.segment.bytes", "3000000"), ("log.cleanup.policy", "compact,delete"),
              ("message.max.bytes", "900000")]
    keys = [key for key, _ in wanted] + ["log.retention.hours", "log.retention.minutes"]

    def look_everywhere(note):
        look(pair, BROKER, "1", note, keys)
        look(pair, BROKER, "", note)
        look(pair, TOPIC, name, note, topic_keys)

    try:
        alter(pair, changes(BROKER, "", *wanted), note="all brokers")
        look_everywhere("all brokers")
        alter(pair, changes(BROKER, "1", ("log.retention.ms", "222222222")), note="one broker")
        look_everywhere("one broker")
        fresh = pair.new_name()
        pair.ask("CreateTopics", timeoutMs=30000, note="a topic created then", Topics=[
            {"Name": fresh, "NumPartitions": 1, "ReplicationFactor": 1,
             "Configs": [{"Name": "retention.ms", "Value": "333333333"}]}])
        look(pair, TOPIC, fresh, "a topic created then", topic_keys)
        alter(pair, changes(BROKER, "1", ("log.cleanup.policy", APPEND, "delete")), note="appended")
        alter(pair, changes(BROKER, "1", ("log.cleanup.policy", SUBTRACT, "compact")), note="subtracted")
        look_everywhere("a list changed")
        replace(pair, changes(BROKER, "1", ("log.retention.bytes", "444444444")), note="replaced")
        look_everywhere("replaced")
        alter(pair, changes(BROKER, "1", ("log.retention.ms", "-7")), note="no limit")
        look_everywhere("no limit")
    finally:
        replace(pair, changes(BROKER, "1"), note="nothing left for one")
        alter(pair, changes(BROKER, "", *[(key, DELETE, None) for key, _ in wanted]), note="nothing left for all")
    look_everywhere("nothing left")


@case
def a_resource_named_twice(pair):
    name = pair.topic()
    one = {"ResourceType": TOPIC, "ResourceName": name, "Configs": [{"Name": "retention.ms", "Value": "5000"}]}
    pair.ask("AlterConfigs", Resources=[one, one], seconds=3)
