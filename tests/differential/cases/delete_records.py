# SPDX-License-Identifier: Apache-2.0
import batch
from cases import case


def delete(pair, topic, *partitions, note="", version=None, **options):
    pair.ask("DeleteRecords", version, note=note, **{"TimeoutMs": 30000, **options}, Topics=[
        {"Name": topic, "Partitions": [{"PartitionIndex": index, "Offset": offset} for index, offset in partitions]}])


def filled(pair, partitions=2, **configs):
    topic = pair.topic(partitions=partitions, **configs)
    for partition in range(partitions):
        pair.produce(topic, *[batch.batch(count=2)] * 5, partition=partition)
    return topic


@case
def every_version(pair):
    for version in pair.apis["DeleteRecords"].versions:
        topic = filled(pair)
        for offset in (0, 3, 3, 1, 4, 10, 11, -1, -1, -2, 1 << 62, -1 << 63):
            delete(pair, topic, (0, offset), version=version, note="offset %d" % offset)
        delete(pair, topic, (0, 2), (1, 2), version=version, note="both")
        delete(pair, topic, version=version, note="no partitions")
        pair.ask("DeleteRecords", version, TimeoutMs=30000, note="nothing")


@case
def unknown_partitions(pair):
    topic = filled(pair)
    for version in pair.apis["DeleteRecords"].versions:
        for partition in (2, -1):
            delete(pair, topic, (partition, 0), (0, 1), version=version, note="partition %d" % partition)
        for name in ("nobody-made-this", "", "a b"):
            delete(pair, name, (0, 0), version=version, note="topic %r" % name)
    delete(pair, "__cluster_metadata", (0, 0), note="the metadata log")


@case
def repeated(pair):
    topic = filled(pair)
    delete(pair, topic, (0, 2), (0, 5), (1, 1), note="a partition twice")
    delete(pair, topic, (0, 9), (0, 6), note="a partition twice, backwards")
    delete(pair, topic, (5, 9), (5, 6), note="an unknown partition twice")
    pair.ask("ListOffsets", ReplicaId=-1, Topics=[{"Name": topic, "Partitions": [
        {"PartitionIndex": index, "Timestamp": -2} for index in range(2)]}])


@case
def policies(pair):
    for policy in ("compact", "compact,delete", "delete"):
        topic = pair.topic(cleanup_policy=policy)
        pair.produce(topic, batch.batch(batch.record(key=b"k")))
        delete(pair, topic, (0, 1), note=policy)


@case
def timeouts(pair):
    topic = filled(pair)
    for timeout in (0, -1, 1):
        delete(pair, topic, (0, 1), TimeoutMs=timeout, note="timeout %d" % timeout)
