# SPDX-License-Identifier: Apache-2.0
from cases import case

UNKNOWN, TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 0, 2, 4, 8, 16, 32


def resource(kind, name, keys=None):
    return {"ResourceType": kind, "ResourceName": name, "ConfigurationKeys": keys}


def describe(pair, *resources, note="", **options):
    pair.each_version("DescribeConfigs", note=note, Resources=list(resources), **options)


@case
def a_topic(pair):
    name = pair.topic(retention_ms="86400000", cleanup_policy="compact,delete", segment_bytes="2000000",
                      message_timestamp_type="LogAppendTime")
    for synonyms in (False, True):
        for documentation in (False, True):
            describe(pair, resource(TOPIC, name), IncludeSynonyms=synonyms, IncludeDocumentation=documentation)
    describe(pair, resource(TOPIC, pair.topic()), IncludeSynonyms=True, note="nothing of its own")


@case
def keys(pair):
    name = pair.topic(retention_ms="5000")
    for wanted in (None, [], ["retention.ms"], ["segment.ms", "retention.ms"], ["retention.ms", "retention.ms"],
                   ["no.such"], ["no.such", "retention.ms"], [""], ["log.retention.ms"], ["RETENTION.MS"]):
        describe(pair, resource(TOPIC, name, wanted), IncludeSynonyms=True, note="keys %r" % wanted)
        describe(pair, resource(BROKER, "1", wanted), IncludeSynonyms=True, note="broker's keys %r" % wanted)
        describe(pair, resource(BROKER, "", wanted), IncludeSynonyms=True, note="all brokers' keys %r" % wanted)


@case
def a_broker(pair):
    for synonyms in (False, True):
        for documentation in (False, True):
            describe(pair, resource(BROKER, "1"), IncludeSynonyms=synonyms, IncludeDocumentation=documentation)
    describe(pair, resource(BROKER, ""), IncludeSynonyms=True, note="all brokers")


@case
def unknown_resources(pair):
    for kind in (UNKNOWN, TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP, 1, 3, 64, -1, 127):
        for name in ("", "nobody-made-this", "1", "2", "-1", "01", " 1", "+1", "a b", "2147483648", "."):
            if (kind, name) not in ((BROKER, "1"), (LOGGER, "1"), (BROKER, "")):
                pair.ask("DescribeConfigs", Resources=[resource(kind, name)], note="type %d, %r" % (kind, name))
    describe(pair, note="nothing")


@case
def several(pair):
    name = pair.topic()
    one = resource(TOPIC, name, ["retention.ms"])
    describe(pair, one, resource(TOPIC, "nobody-made-this"), resource(BROKER, "1", ["num.partitions"]), note="mixed")
    describe(pair, one, one, note="one twice")
    describe(pair, one, resource(TOPIC, name, ["segment.ms"]), note="one twice, other keys")


@case
def loggers(pair):
    pair.ask("DescribeConfigs", Resources=[resource(LOGGER, "1", [])])
