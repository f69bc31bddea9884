# SPDX-License-Identifier: Apache-2.0
"""What is only told: DescribeCluster, DescribeLogDirs, DescribeTopicPartitions, DescribeProducers,
ListConfigResources; and OffsetForLeaderEpoch, InitProducerId."""

import time

import batch
from batch import idempotent
from cases import case
from cases.delete_records import filled


@case
def the_cluster(pair):
    for operations in (False, True):
        for fenced in (False, True):
            for endpoint in (1, 2, 0, 3, -1):
                pair.each_version("DescribeCluster", IncludeClusterAuthorizedOperations=operations, EndpointType=endpoint,
                                  IncludeFencedBrokers=fenced, first=0 if endpoint == 1 else 1,
                                  note="operations %s, endpoint %d, fenced %s" % (operations, endpoint, fenced))


@case
def log_dirs(pair):
    one, two = filled(pair), pair.topic(partitions=3)
    pair.each_version("DescribeLogDirs", note="some", Topics=[
        {"Topic": one, "Partitions": [0, 1]}, {"Topic": two, "Partitions": [2]}])
    pair.each_version("DescribeLogDirs", note="nothing", Topics=[])
    pair.each_version("DescribeLogDirs", note="no partitions", Topics=[{"Topic": one, "Partitions": []}])
    for topic, partition in ((one, 7), (one, -1), ("nobody-made-this", 0), ("", 0), ("a b", 0)):
        pair.each_version("DescribeLogDirs", note="%r %d" % (topic, partition),
                          Topics=[{"Topic": topic, "Partitions": [partition]}, {"Topic": two, "Partitions": [0]}])
    pair.each_version("DescribeLogDirs", note="twice", Topics=[
        {"Topic": one, "Partitions": [0, 0]}, {"Topic": one, "Partitions": [1]}])
    pair.each_version("DescribeLogDirs", note="all", Topics=None)


@case
def producers(pair):
    topic = pair.topic(partitions=3)
    pair.produce(topic, idempotent(71, 0, 0, 3), idempotent(71, 0, 3), idempotent(72, 4, 9))
    pair.produce(topic, idempotent(71, 2, 5), batch.batch(), partition=1)

    def ask(note, *topics):
        pair.ask("DescribeProducers", note=note, Topics=[
            {"Name": name, "PartitionIndexes": list(partitions)} for name, *partitions in topics])

    ask("all", (topic, 0, 1, 2))
    ask("unknown partitions", (topic, 3, -1, 0))
    ask("unknown topics", ("nobody-made-this", 0), ("", 0), ("a b", 1), (topic, 1))
    ask("no partitions", (topic,))
    ask("nothing")
    ask("a partition twice", (topic, 0, 0))
    ask("a topic twice", (topic, 0), (topic, 1))


@case
def topic_partitions(pair):
    names = [pair.topic(partitions=3), pair.topic(), pair.topic(partitions=5)]

    def ask(note, *topics, **options):
        pair.ask("DescribeTopicPartitions", note=note, Topics=[{"Name": name} for name in topics], **options)

    ask("all", *names)
    ask("backwards", *names[::-1])
    ask("one twice", names[0], names[0])
    ask("unknown ones", "nobody-made-this", names[0], "a b", ".", "x" * 250)
    ask("unknown twice", "nobody", "nobody")
    for limit in (0, -1, 1, 2, 3, 4, 8, 9, 10, 2000, 2147483647):
        ask("limit %d" % limit, *names, ResponsePartitionLimit=limit)
        ask("limit %d, an unknown one first" % limit, "a-nobody", *names, ResponsePartitionLimit=limit)
    for topic, partition in ((names[0], 0), (names[0], 2), (names[0], 3), (names[0], -1), (names[2], 1), (names[1], 5),
                             ("nobody", 0), ("a", 0), ("zzz", 0), ("", 0)):
        for limit in (2, 2000):
            ask("from %s %d, limit %d" % (topic, partition, limit), *names, ResponsePartitionLimit=limit,
                Cursor={"TopicName": topic, "PartitionIndex": partition})
    ask("from one that is not asked for", names[0], Cursor={"TopicName": names[1], "PartitionIndex": 0})
    ask("from nobody, who is asked for", "nobody", names[0], Cursor={"TopicName": "nobody", "PartitionIndex": 0})


@case
def topic_partitions_of_all(pair):
    for side in pair.sides:
        side.learn_topic_ids()
    pair.ask("DescribeTopicPartitions", Topics=[], note="nothing: all")
    pair.ask("DescribeTopicPartitions", Topics=[], ResponsePartitionLimit=2, note="nothing: all, limit 2")


@case
def a_topic_without_a_name(pair):
    pair.ask("DescribeTopicPartitions", Topics=[{"Name": ""}])


@case
def config_resources(pair):
    for types in ([], [2], [4], [8], [16], [32], [2, 4], [0], [1], [3], [64], [-1], [2, 2], [2, 64]):
        pair.each_version("ListConfigResources", ResourceTypes=types, note="types %r" % types)


@case
def leader_epochs(pair):
    topic = filled(pair)

    def ask(note, *partitions, name=topic, **options):
        pair.each_version("OffsetForLeaderEpoch", note=note, Topics=[{"Topic": name, "Partitions": [
            {"Partition": index, "LeaderEpoch": epoch, "CurrentLeaderEpoch": current}
            for index, epoch, current in partitions]}], **{"ReplicaId": -1, **options})

    for epoch in (0, 1, -1, -2, 1000, 2147483647):
        for current in (-1, 0, 1, -2):
            ask("epoch %d, current %d" % (epoch, current), (0, epoch, current))
    ask("unknown partitions", (9, 0, -1), (-1, 0, 5), (0, 0, -1))
    for name in ("nobody-made-this", "", "a b"):
        ask("topic %r" % name, (0, 0, -1), name=name)
    ask("no partitions")
    ask("a partition twice", (0, 0, -1), (0, -1, -1))
    pair.each_version("OffsetForLeaderEpoch", note="nothing", ReplicaId=-1)
    for replica in (-1, -2, -3, 1, 0):
        ask("replica %d" % replica, (0, 0, -1), ReplicaId=replica)
    empty = pair.topic()
    ask("an empty log", (0, 0, -1), name=empty)
    ask("an empty log, epoch 1", (0, 1, -1), name=empty)


@case
def producer_ids(pair):
    for side in pair.sides:  # a Kafka that has just started fetches a block of them first
        while side.call("InitProducerId", TransactionalId=None, TransactionTimeoutMs=1000)["ErrorCode"] == 14:
            time.sleep(0.1)
    for version in pair.apis["InitProducerId"].versions:
        for timeout in (0, -1, 60000, 2147483647):
            pair.ask("InitProducerId", version, TransactionalId=None, TransactionTimeoutMs=timeout,
                     note="timeout %d" % timeout)
        pair.ask("InitProducerId", version, TransactionalId="", TransactionTimeoutMs=60000, note="an empty id")
    for version in (3, 4, 5):
        for producer, epoch in ((-1, 0), (-1, -1), (5, -1), (5, 0), (5, 32767), (-2, 0), (0, 0), (5, -2)):
            pair.ask("InitProducerId", version, TransactionalId=None, TransactionTimeoutMs=60000, ProducerId=producer,
                     ProducerEpoch=epoch, note="producer %d, epoch %d" % (producer, epoch))
        pair.ask("InitProducerId", version, TransactionalId=None, TransactionTimeoutMs=60000, note="one of its own")
        pair.ask("InitProducerId", version, TransactionalId=None, TransactionTimeoutMs=60000, note="again",
                 ProducerId=lambda side: side.producer[0], ProducerEpoch=lambda side: side.producer[1])
