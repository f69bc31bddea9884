# SPDX-License-Identifier: Apache-2.0
"""librdkafka's admin client against a broker: topics created, listed, refused, grown, deleted.

    admin.py HOST:PORT
"""

import concurrent.futures
import os
import sys

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic

from broker import Checks, run_checks, wait_until

TIMEOUT = 30


def outcome(futures):
    """Per topic None, or the code of the error."""
    result = {}
    for topic, future in futures.items():
        try:
            future.result(TIMEOUT)
            result[topic] = None
        except KafkaException as failure:
            result[topic] = failure.args[0].code()
        except concurrent.futures.TimeoutError: # a class of its own before Python 3.11
            result[topic] = "no answer within %d s" % TIMEOUT
    return result


def main(bootstrap):
    check = Checks()
    admin = AdminClient({"bootstrap.servers": bootstrap})
    prefix = "admin-%d" % os.getpid()
    plain, many, dry = prefix + "-plain", prefix + "-many", prefix + "-dry"

    def create(topics, **options):
        return outcome(admin.create_topics(topics, operation_timeout=TIMEOUT, **options))

    def delete(names):
        return outcome(admin.delete_topics(names, operation_timeout=TIMEOUT))

    got = create([NewTopic(plain, 1, 1),
                  NewTopic(many, 7, 1, config={"retention.ms": "1000000", "cleanup.policy": "delete"})])
    check.that("two topics are created by one request", got == {plain: None, many: None}, got)

    topics = admin.list_topics(timeout=TIMEOUT).topics
    check.that("the cluster's metadata lists them", plain in topics and many in topics, list(topics))
    check.that("with as many partitions as asked for",
               sorted(topics[many].partitions) == list(range(7)), topics[many].partitions)
    check.that("each with a leader and itself in sync",
               all(p.leader >= 0 and p.replicas == p.isrs == [p.leader] and p.error is None
                   for p in topics[many].partitions.values()))
    metadata = admin.list_topics(timeout=TIMEOUT)
    check.that("the controller is one of the brokers", metadata.controller_id in metadata.brokers,
               metadata.controller_id)
    check.that("the broker is told as it was reached",
               bootstrap in ["%s:%d" % (b.host, b.port) for b in metadata.brokers.values()],
               metadata.brokers)

    got = create([NewTopic(plain, 1, 1)])
    check.that("a name that exists is refused", got == {plain: KafkaError.TOPIC_ALREADY_EXISTS}, got)
    got = create([NewTopic("no/good", 1, 1)])
    check.that("a name that is not legal is refused",
               got == {"no/good": KafkaError.TOPIC_EXCEPTION}, got)
    got = create([NewTopic(dry, 1, 30)])
    check.that("more replicas than brokers are refused",
               got == {dry: KafkaError.INVALID_REPLICATION_FACTOR}, got)
    got = create([NewTopic(dry, 1, 1, config={"no.such.setting": "1"})])
    check.that("an unknown setting is refused", got == {dry: KafkaError.INVALID_CONFIG}, got)
    got = create([NewTopic(dry, 2, 1)], validate_only=True)
    check.that("a dry run succeeds", got == {dry: None}, got)
    check.that("and creates nothing", dry not in admin.list_topics(timeout=TIMEOUT).topics)
    broker_id = metadata.controller_id
    got = create([NewTopic(dry, 2, replica_assignment=[[broker_id], [broker_id]])])
    check.that("replicas may be placed by hand", got == {dry: None}, got)
    got = create([NewTopic(prefix + "-elsewhere", 1, replica_assignment=[[4711]])])
    check.that("but not on brokers that do not exist",
               got == {prefix + "-elsewhere": KafkaError.INVALID_REPLICA_ASSIGNMENT}, got)

    def grow(count, placement=None, **options):
        partitions = NewPartitions(plain, count, placement) if placement else NewPartitions(plain, count)
        return outcome(admin.create_partitions([partitions], operation_timeout=TIMEOUT, **options))[plain]

    def partition_count():
        return len(admin.list_topics(plain, timeout=TIMEOUT).topics[plain].partitions)

    check.that("partitions are added", grow(3) is None)
    wait_until(lambda: partition_count() == 3, TIMEOUT, "partitions to be told")
    check.that("but not taken away", grow(2) == KafkaError.INVALID_PARTITIONS)
    check.that("a dry run adds none", grow(9, validate_only=True) is None and partition_count() == 3)
    check.that("they may be placed by hand", grow(4, [[broker_id]]) is None)
    check.that("but all of them must be",
               grow(6, [[broker_id]]) == KafkaError.INVALID_REPLICA_ASSIGNMENT)
    if hasattr(admin, "describe_cluster"): # librdkafka 2.x
        cluster = admin.describe_cluster(request_timeout=TIMEOUT).result(TIMEOUT)
        check.that("the cluster is described",
                   [node.id for node in cluster.nodes] == list(metadata.brokers), cluster.nodes)
    if hasattr(admin, "delete_records"):
        where = TopicPartition(plain, 0, 0)
        deleted = admin.delete_records([where], request_timeout=TIMEOUT)[where].result(TIMEOUT)
        check.that("records are deleted", deleted.low_watermark == 0, deleted.low_watermark)

    def resource(**settings):
        return ConfigResource(ConfigResource.Type.TOPIC, many, set_config=settings)

    def alter(changed):
        return outcome(admin.alter_configs([changed]))[changed]

    def described():
        future, = admin.describe_configs([resource()]).values()
        return future.result(TIMEOUT)

    check.that("what a topic was created with is told", described()["retention.ms"].value == "1000000")
    check.that("settings are changed", alter(resource(**{"retention.ms": "4242"})) is None)
    wait_until(lambda: described()["retention.ms"].value == "4242", TIMEOUT, "the change to be told")
    check.that("what was not named is gone", described()["cleanup.policy"].is_default)
    check.that("a value that cannot be is refused",
               alter(resource(**{"retention.ms": "soon"})) == KafkaError.INVALID_CONFIG)
    broker = ConfigResource(ConfigResource.Type.BROKER, str(broker_id))
    future, = admin.describe_configs([broker]).values()
    check.that("the broker tells its settings", future.result(TIMEOUT)["log.dirs"].is_read_only)

    got = delete([plain, many, prefix + "-missing"])
    check.that("topics are deleted, and what is missing is told",
               got == {plain: None, many: None,
                       prefix + "-missing": KafkaError.UNKNOWN_TOPIC_OR_PART}, got)
    wait_until(lambda: not {plain, many} & set(admin.list_topics(timeout=TIMEOUT).topics), TIMEOUT,
               "deleted topics to leave the list")
    check.that("deleted topics leave the list", True)
    got = create([NewTopic(many, 2, 1)])
    check.that("a deleted name can be used again", got == {many: None}, got)
    check.that("with its new number of partitions",
               len(admin.list_topics(many, timeout=TIMEOUT).topics[many].partitions) == 2)
    got = delete([many, dry])
    check.that("the rest is cleaned up", got == {many: None, dry: None}, got)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    run_checks(lambda: main(sys.argv[1]))
