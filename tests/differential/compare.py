# SPDX-License-Identifier: Apache-2.0
"""What differs between two answers, once names replace what each broker chooses itself.

Ids, times, texts for people and sizes of disks are not the same on two brokers. They are not left out: each is
replaced by what a client can rely on - which topic's id it is, that the time is now, that there is a text.
"""

import re
import time

import batch
from messages import NO_UUID

TEXTS = {"ErrorMessage", "BatchIndexErrorMessage", "Documentation"}
NOW_MS = 120_000  # this close to now is now

# Arrays whose order a Kafka takes from a hash table: their elements are told apart by these fields.
UNORDERED = {
    "Metadata": {"Topics": ("Name", "TopicId"), "Brokers": ("NodeId",), "Partitions": ("PartitionIndex",)},
    "ApiVersions": {"ApiKeys": ("ApiKey",)},
    "CreateTopics": {"Topics": ("Name",), "Configs": ("Name",)},
    "DeleteTopics": {"Responses": ("Name", "TopicId")},
    "CreatePartitions": {"Results": ("Name",)},
    "DescribeConfigs": {"Configs": ("Name",)},
    "AlterConfigs": {"Responses": ("ResourceType", "ResourceName")},
    "IncrementalAlterConfigs": {"Responses": ("ResourceType", "ResourceName")},
    "DescribeLogDirs": {"Topics": ("Name",), "Partitions": ("PartitionIndex",)},
    "DeleteRecords": {"Topics": ("Name",), "Partitions": ("PartitionIndex",)},
    "Produce": {"Responses": ("Name", "TopicId"), "PartitionResponses": ("Index",)},
    "ListOffsets": {"Topics": ("Name",), "Partitions": ("PartitionIndex",)},
    "ListConfigResources": {"ConfigResources": ("ResourceType", "ResourceName")},
}


def shown(value):
    text = repr(value)
    return text if len(text) < 160 else text[:150] + "..."


class Difference:
    def __init__(self, path, kafka, sluice):
        self.path, self.kafka, self.sluice = path, kafka, sluice
        self.field = re.sub(r"\[[^]]*\]", "", path)
        self.keyed = re.sub(r"^(\w+)\[[^]]*\]", r"\1", path)

    def __str__(self):
        return "%s: Kafka %s, Sluice %s" % (self.path, shown(self.kafka), shown(self.sluice))


class Absent:
    def __repr__(self):
        return "nothing"


ABSENT = Absent()


def is_now(milliseconds):
    return abs(milliseconds - time.time() * 1000) < NOW_MS


def plain(api, value, names, field=None):
    """The answer with names for ids and so on. `names` is that of its broker (see broker.py)."""
    if isinstance(value, dict):
        return {name: plain(api, item, names, name) for name, item in value.items()}
    if isinstance(value, list):
        value = [plain(api, item, names, field) for item in value]
        keys = UNORDERED.get(api, {}).get(field)
        if keys:
            value.sort(key=lambda item: [(item.get(key) is None, item.get(key)) for key in keys])
        return value
    return plain_leaf(api, value, names, field)


def plain_leaf(api, value, names, field):
    if isinstance(value, bytes):
        if field == "Records":
            return [{name: plain_leaf(api, item, names, name) for name, item in one.items()}
                    for one in batch.take_apart(value)]
        return "no id" if value == NO_UUID else names.topic(value)
    if value is None or isinstance(value, bool):
        return value
    if field in TEXTS:
        return "a text" if value else value
    if field in ("ClusterId", "LogDir"):
        return "its " + field if value else value
    if field == "Value":
        return re.sub(r"127\.0\.0\.1:[0-9]+", "its own address", re.sub(r"^/\S+/(kafka|sluice)/data$", "its folder", value))
    if field == "Port":
        return "its own" if value == names.port else value
    if field == "SessionId":
        return "a session" if value else 0
    if field in ("TotalBytes", "UsableBytes"):
        return "some" if value > 0 else value
    if field == "ProducerId" and api == "InitProducerId" and value >= 0:
        return "a producer's id"
    if isinstance(value, int) and field not in ("HighWatermark", "EndOffset") and is_now(value):
        return "now"
    return value


def differences(kafka, sluice, path=""):
    """Of two plain answers, as a list of Difference."""
    if isinstance(kafka, dict) and isinstance(sluice, dict):
        found = []
        for name in list(kafka) + [name for name in sluice if name not in kafka]:
            inner = path + "." + name if path else name
            found += differences(kafka.get(name, ABSENT), sluice.get(name, ABSENT), inner)
        return found
    if isinstance(kafka, list) and isinstance(sluice, list):
        return list_differences(kafka, sluice, path)
    return [] if kafka == sluice and isinstance(kafka, bool) == isinstance(sluice, bool) \
        else [Difference(path, kafka, sluice)]


KEYS = ("Name", "Topic", "TopicId", "ApiKey", "PartitionIndex", "Partition", "ResourceName", "NodeId", "BrokerId")


def by_key(items):
    """Elements by what tells them apart for people; None if nothing does."""
    keys = []
    for item in items:
        found = [item[key] for key in KEYS if isinstance(item, dict) and key in item]
        keys.append(found[0] if found else None)
    if None in keys or len(set(keys)) < len(keys):
        return None
    return dict(zip(keys, items))


def list_differences(kafka, sluice, path):
    """Elements that have a key are found by it, others by their place."""
    left, right = by_key(kafka), by_key(sluice)
    found = []
    if left is None or right is None:
        for i in range(max(len(kafka), len(sluice))):
            found += differences(kafka[i] if i < len(kafka) else ABSENT,
                                 sluice[i] if i < len(sluice) else ABSENT, "%s[%d]" % (path, i))
        return found
    for key in list(left) + [key for key in right if key not in left]:
        found += differences(left.get(key, ABSENT), right.get(key, ABSENT), "%s[%s]" % (path, key))
    if set(left) == set(right) and list(left) != list(right):
        found.append(Difference(path + " in order", list(left), list(right)))
    return found
