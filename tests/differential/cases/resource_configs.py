# SPDX-License-Identifier: Apache-2.0
"""Settings of groups and of subscriptions to clients' metrics: told, changed, listed, gone."""

from cases import case
from cases.alter_configs import APPEND, DELETE, SUBTRACT, alter, changes, look, replace
from cases.describe_configs import BROKER, CLIENT_METRICS, GROUP, TOPIC, describe, resource

NUMBERS = ("-1", "0", "1", "2147483647", "2147483648", "x", "", "1.5", " 7 ", "0x10")
BOOLEANS = ("true", "FALSE", " true ", "yes", "", "1")

# At and beyond what the broker allows.
GROUP_VALUES = {
    "consumer.assignment.interval.ms": NUMBERS + ("15000", "15001"),
    "consumer.assignor.offload.enable": BOOLEANS,
    "consumer.heartbeat.interval.ms": NUMBERS + ("4999", "5000", "15000", "15001", "+5000", "005000"),
    "consumer.session.timeout.ms": NUMBERS + ("44999", "45000", "60000", "60001", " +050000 "),
    "errors.deadletterqueue.copy.record.enable": BOOLEANS,
    "errors.deadletterqueue.topic.name": ("", "a", "__a", "__consumer_offsets", "_a", "a/b", "a" * 250, " "),
    "share.assignment.interval.ms": NUMBERS + ("15000", "15001"),
    "share.assignor.offload.enable": BOOLEANS,
    "share.auto.offset.reset": (
        "earliest", "latest", "none", "EARLIEST", "", " earliest ", "by_duration:P1D", "by_duration:PT1H2M3.5S",
        "by_duration:pt1h", "by_duration:", "by_duration:x", "by_duration:-PT1H", "by_duration:PT-1H",
        "by_duration:-PT-1H", "by_duration:P1DT-24H", "by_duration:P1DT-25H", "by_duration:P1Y", "by_duration:P1DT",
        "by_duration:PT0S", "by_duration:PT-0.5S", "by_duration: PT1S", "BY_DURATION:PT1S",
        "by_duration:PT9223372036854775807S", "by_duration:PT9223372036854775808S", "by_durationPT1S"),
    "share.delivery.count.limit": NUMBERS + ("2", "10", "11"),
    "share.heartbeat.interval.ms": NUMBERS + ("4999", "5000", "15000", "15001"),
    "share.isolation.level": ("read_committed", "read_uncommitted", "READ_COMMITTED", "", "x", " read_committed "),
    "share.partition.max.record.locks": NUMBERS + ("99", "100", "4000", "4001"),
    "share.record.lock.duration.ms": NUMBERS + ("999", "1000", "14999", "15000", "60000", "60001"),
    "share.renew.acknowledge.enable": BOOLEANS,
    "share.session.timeout.ms": NUMBERS + ("44999", "45000", "60000", "60001"),
    "streams.acceptable.recovery.lag": NUMBERS + ("9223372036854775807", "9223372036854775808"),
    "streams.assignment.interval.ms": NUMBERS + ("15000", "15001"),
    "streams.assignor.name": ("sticky", "STICKY", "x", "", " sticky "),
    "streams.assignor.offload.enable": BOOLEANS,
    "streams.heartbeat.interval.ms": NUMBERS + ("4999", "5000", "15000", "15001"),
    "streams.initial.rebalance.delay.ms": NUMBERS,
    "streams.num.standby.replicas": NUMBERS + ("2", "3"),
    "streams.num.warmup.replicas": NUMBERS + ("20", "21"),
    "streams.rack.aware.assignment.tags": ("", "a", "a,b", "a, b", "a,a", "a, a", ",", "a,", ",a", "a,,b", " "),
    "streams.session.timeout.ms": NUMBERS + ("44999", "45000", "60000", "60001"),
    "streams.task.offset.interval.ms": NUMBERS + ("14999", "15000"),
    "no.such": ("1",), "": ("1",), "interval.ms": ("1000",), "group.consumer.session.timeout.ms": ("50000",),
}

CLIENT_METRICS_VALUES = {
    "interval.ms": NUMBERS + ("99", "100", "3600000", "3600001", " +0100 "),
    "metrics": ("", "*", "a", "a.b", "a,b", "a, b", "a,a", ",", "a,", ",a", "a,,b", " ", "[", "a=b"),
    "match": (
        "", "client_id=a", "client_id=.*", " client_id = a ", "client_id=a,client_id=b", "client_id=a,client_id=a",
        "client_instance_id=a", "client_software_name=a", "client_software_version=a", "client_source_address=a",
        "client_source_port=a", "client_x=a", "CLIENT_ID=a", "a", "client_id", "client_id=", "client_id==", "=", "=a",
        "client_id=a=", "client_id=a=b", "client_id==a", "client_id=a,b", "client_id=a,", ",", "client_id=a,,client_id=b",
        "client_id=[", "client_id=(", "client_id=)", "client_id=*", "client_id=a{2}",
        "client_id=a++", "client_id=a***", "client_id=\\", "client_id=\\d", "client_id=\\y",
        "client_id=\\Qa(\\E", "client_id=(?<n>a)", "client_id=(?<n>a)(?<n>b)", "client_id=(?i)a", "client_id=(?q)a",
        "client_id=[a&&[b]]", "client_id=[z-a]", "client_id=[]]", "client_id=[]", "client_id=\\p{Lu}", "client_id=\\p{Foo}",
        "client_id=\\x{110000}", "client_id=(?<!a|bc)d", "client_id=(?<!(ab)+)d", "client_id=a b", "client_id=é|ü"),
    "no.such": ("1",), "": ("1",), "consumer.session.timeout.ms": ("50000",),
}


def values(pair, kind, table):
    """Each by itself: what is answered, and how it is told. The names are asked for one by one, since a Kafka tells
    some settings only then or only where they are set."""
    for setting, candidates in table.items():
        name = pair.new_name()
        for value in candidates:
            note = "%s=%r" % (setting, value)
            alter(pair, changes(kind, name, (setting, value)), note=note)
            replace(pair, changes(kind, name, (setting, value)), note=note, validate=True)
            look(pair, kind, name, note, [setting])
        for note, config in {"null": (setting, None), "appended": (setting, APPEND, "a"),
                             "subtracted": (setting, SUBTRACT, "a"), "operation 4": (setting, 4, "a"),
                             "deleted": (setting, DELETE, None), "deleted again": (setting, DELETE, "x")}.items():
            alter(pair, changes(kind, name, config), note="%s %s" % (setting, note))
        replace(pair, changes(kind, name, (setting, None)), note="%s null" % setting)
        look(pair, kind, name, setting)


@case
def a_groups_values(pair):
    values(pair, GROUP, GROUP_VALUES)


@case
def a_subscriptions_values(pair):
    values(pair, CLIENT_METRICS, CLIENT_METRICS_VALUES)


FULL = {GROUP: [("consumer.session.timeout.ms", "50000"), ("share.isolation.level", "read_committed"),
                ("streams.rack.aware.assignment.tags", "zone,rack"), ("share.renew.acknowledge.enable", "false"),
                ("share.auto.offset.reset", "earliest"), ("streams.assignor.name", "sticky"),
                ("streams.task.offset.interval.ms", "20000")],
        CLIENT_METRICS: [("interval.ms", "1000"), ("metrics", "a,b"), ("match", "client_id=a.*,client_source_port=[0-9]+")]}


@case
def told_in_every_version(pair):
    for kind, configs in FULL.items():
        name = pair.new_name()
        alter(pair, changes(kind, name, *configs))
        for synonyms in (False, True):
            for documentation in (False, True):
                describe(pair, resource(kind, name), resource(kind, pair.new_name()), IncludeSynonyms=synonyms,
                         IncludeDocumentation=documentation, note="type %d" % kind)
        for keys in ([], ["no.such"], [configs[0][0]], [configs[1][0], configs[1][0]], [""], ["streams.task.offset.interval.ms"]):
            describe(pair, resource(kind, name, keys), IncludeSynonyms=True, note="type %d, keys %r" % (kind, keys))
        replace(pair, changes(kind, name))


@case
def changed_in_every_version(pair):
    for kind, configs in FULL.items():
        for api, change in (("IncrementalAlterConfigs", alter), ("AlterConfigs", replace)):
            for version in pair.apis[api].versions:
                name = pair.new_name()
                for validate in (True, False):
                    change(pair, changes(kind, name, *configs), version=version, validate=validate, note="type %d" % kind)
                    look(pair, kind, name)
                change(pair, changes(kind, name), version=version, note="no changes")
                look(pair, kind, name, "no changes")
                replace(pair, changes(kind, name), note="nothing left")


def listed(pair, *types, version=None, note=""):
    pair.ask("ListConfigResources", version, note=note, ResourceTypes=list(types))


def listed_every_way(pair, note):
    listed(pair, version=0, note=note)
    for types in ((), (GROUP,), (CLIENT_METRICS,), (GROUP, CLIENT_METRICS), (GROUP, GROUP), (BROKER,), (TOPIC, GROUP)):
        listed(pair, *types, note="%s, types %r" % (note, types))


@case
def listed_as_long_as_a_setting_is_left(pair):
    one, other = pair.new_name(), pair.new_name()
    alter(pair, changes(GROUP, one, ("no.such", DELETE, None)), note="a setting that was never there")
    alter(pair, changes(GROUP, one), changes(CLIENT_METRICS, one), note="nothing")
    listed_every_way(pair, "none")
    alter(pair, changes(GROUP, one, *FULL[GROUP]), changes(CLIENT_METRICS, one, *FULL[CLIENT_METRICS]),
          changes(CLIENT_METRICS, other, ("metrics", "")), note="several")
    listed_every_way(pair, "several")
    alter(pair, changes(GROUP, one, *[(key, DELETE, None) for key, _ in FULL[GROUP][1:]]), note="all but one deleted")
    listed_every_way(pair, "all but one deleted")
    alter(pair, changes(GROUP, one, (FULL[GROUP][0][0], DELETE, None)), note="the last deleted")
    replace(pair, changes(CLIENT_METRICS, one), note="all replaced by nothing")
    listed_every_way(pair, "one left")
    alter(pair, changes(CLIENT_METRICS, other, ("metrics", DELETE, None)), note="the empty one deleted")
    listed_every_way(pair, "none left")
    for types in ((0,), (64,), (-1,), (GROUP, 1), (3,)):
        listed(pair, *types, note="types %r" % (types,))


@case
def several_changes_of_one(pair):
    for kind, lists in {
        GROUP: [[("consumer.session.timeout.ms", "50000"), ("consumer.session.timeout.ms", "50000")],
                [("consumer.session.timeout.ms", "50000"), ("consumer.session.timeout.ms", DELETE, None)],
                [("no.such", "1"), ("consumer.session.timeout.ms", "x")], [("no.such", "1"), ("interval.ms", None)],
                [("share.isolation.level", "read_committed"), ("consumer.session.timeout.ms", "1")],
                [("consumer.session.timeout.ms", "45000"), ("consumer.heartbeat.interval.ms", "15000")],
                [("share.isolation.level", "read_committed"), ("no.such", APPEND, "a")]],
        CLIENT_METRICS: [[("metrics", "a"), ("metrics", "a")], [("metrics", "a"), ("metrics", DELETE, None)],
                         [("no.such", "1"), ("interval.ms", "x")], [("interval.ms", "x"), ("no.such", "1")],
                         [("match", "x"), ("interval.ms", "1")], [("match", "x"), ("interval.ms", "x")],
                         [("interval.ms", "1"), ("metrics", ","), ("match", "x")], [("metrics", "a"), ("interval.ms", "1")],
                         [("no.such", "1"), ("metrics", APPEND, "a")], [("no.such", "1"), ("metrics", None)]],
    }.items():
        name = pair.new_name()
        for configs in lists:
            alter(pair, changes(kind, name, *configs), note="type %d, %r" % (kind, configs))
            look(pair, kind, name, "%r" % (configs,))
            if all(len(config) == 2 for config in configs):
                replace(pair, changes(kind, name, *configs), note="type %d, %r" % (kind, configs))
                look(pair, kind, name, "%r" % (configs,))
        replace(pair, changes(kind, name))


@case
def names(pair):
    good = {GROUP: ("share.isolation.level", "read_committed"), CLIENT_METRICS: ("metrics", "a")}
    for kind, config in good.items():
        for name in ("", " ", "a b", "é", ".", "..", "a/b", "*", "<default>", "\t", "x" * 300, "x" * 32000, "1"):
            note = "type %d, %r" % (kind, name[:20])
            alter(pair, changes(kind, name, config), note=note)
            look(pair, kind, name, note)
            replace(pair, changes(kind, name), note=note)
        for configs in ([("a", "1"), ("a", "2")], [("no.such", None)], [(config[0], APPEND, "a")], [(config[0], 4, "a")],
                        [("no.such", "1")], []):
            alter(pair, changes(kind, "", *configs), note="type %d, no name, %r" % (kind, configs))


@case
def several_resources(pair):
    one, two = pair.new_name(), pair.new_name()
    good, bad = ("share.isolation.level", "read_committed"), ("share.isolation.level", "x")
    alter(pair, changes(GROUP, one, good), changes(GROUP, two, bad), changes(CLIENT_METRICS, one, ("metrics", "a")),
          changes(CLIENT_METRICS, "", ("metrics", "a")), note="good and bad")
    listed_every_way(pair, "good and bad")
    alter(pair, changes(GROUP, one, good), changes(GROUP, one, good), note="one twice")
    describe(pair, resource(GROUP, one, [good[0]]), resource(CLIENT_METRICS, one), resource(GROUP, ""), note="mixed")
    replace(pair, changes(GROUP, one), changes(CLIENT_METRICS, one), note="nothing left")


@case
def what_groups_have_from_the_broker(pair):
    """What is set on brokers at run time is told of groups that say nothing themselves."""
    name, plain = pair.new_name(), pair.new_name()
    key = "group.consumer.assignment.interval.ms"
    keys = ["consumer.assignment.interval.ms", "consumer.assignor.offload.enable"]
    alter(pair, changes(GROUP, name, ("consumer.assignment.interval.ms", "4000")))
    try:
        for broker, value in (("", "3000"), ("1", "2000")):
            alter(pair, changes(BROKER, broker, (key, value)), note="broker %r" % broker)
            look(pair, GROUP, name, "broker %r" % broker, keys)
            look(pair, GROUP, plain, "broker %r" % broker, keys)
    finally:
        for broker in ("", "1"):
            alter(pair, changes(BROKER, broker, (key, DELETE, None)))
        replace(pair, changes(GROUP, name))
    look(pair, GROUP, plain, "nothing left", keys)
