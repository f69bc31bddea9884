# SPDX-License-Identifier: Apache-2.0
"""Both brokers asked the same, and the answers compared."""

import time

import compare
from brokers import CLOSED, SILENCE

SETTLE_SECONDS = 3  # a Kafka tells of what it changed a moment later

# Requests that change nothing are repeated until both answer alike, SETTLE_SECONDS long.
READS = {"Metadata", "ListOffsets", "ApiVersions", "DescribeConfigs", "DescribeCluster", "DescribeLogDirs",
         "DescribeTopicPartitions", "DescribeProducers", "ListConfigResources", "OffsetForLeaderEpoch"}


class Result:
    """One request, and what differed without being allowed."""

    def __init__(self, case, note, api, version, unexpected):
        self.case, self.note, self.api, self.version = case, note, api, version
        self.unexpected = unexpected


class Pair:
    def __init__(self, kafka, sluice, allowed, prefix):
        self.sides = (kafka, sluice)
        self.apis = kafka.apis
        self.allowed = allowed
        self.prefix = prefix
        self.case = ""
        self.results = []
        self.topic_count = 0
        self.lasting = set()  # differences that did not go away: nobody waits for them again

    # ---- asking ----

    def ask(self, name, version=None, note="", seconds=None, again=False, **body):
        """Sends one request, in its newest version unless one is given, to both brokers. What differs is noted.
        `again`: it changes nothing, or nothing that counts, and is repeated as a read is. The two decoded answers,
        Kafka's first."""
        api = self.apis[name]
        version = api.versions.last if version is None else version
        place = "%s / v%d %s" % (self.case, version, note)
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            answers = self.exchange(api, version, body, seconds)
            texts = [compare.plain(name, answer, side.names) for answer, side in zip(answers, self.sides)]
            found = compare.differences(*texts)
            unexpected = self.allowed.unexpected(place, name, found)
            said = "\n".join(map(str, unexpected))
            if not unexpected or not (again or name in READS) or said in self.lasting or time.monotonic() > deadline:
                break
            time.sleep(0.1)
            for side in self.sides:  # of topics that were created since
                side.learn_topic_ids()
        self.lasting.add(said)
        self.allowed.count(place, name, found)
        self.results.append(Result(self.case, note, name, version, unexpected))
        return answers

    def exchange(self, api, version, body, seconds):
        for side in self.sides:
            side.send(api, version, body)
        answers = []
        for side in self.sides:
            answer = side.receive(api, version, seconds) if seconds else side.receive(api, version)
            answers.append(answer)
            if answer not in (CLOSED, SILENCE):
                side.session = answer.get("SessionId", side.session)
                if api.name == "InitProducerId":
                    side.producer = (answer["ProducerId"], answer["ProducerEpoch"])
        return answers

    def each_version(self, name, note="", first=None, **body):
        """The same request in every version that has it, from `first` on."""
        for version in self.apis[name].versions:
            if first is None or version >= first:
                self.ask(name, version, note=note, **body)

    def send_only(self, name, version=None, **body):
        """A request that is not answered (acks = 0)."""
        api = self.apis[name]
        for side in self.sides:
            side.send(api, api.versions.last if version is None else version, body)

    def reconnect(self):
        for side in self.sides:
            if side.connection is not None:
                side.hang_up()

    # ---- what requests are about ----

    def new_name(self):
        self.topic_count += 1
        return "%s-%d" % (self.prefix, self.topic_count)

    def topic(self, partitions=1, name=None, **configs):
        """A new topic on both, which can be used. Settings with _ for a dot. Its name."""
        name = name or self.new_name()
        wanted = [{"Name": key.replace("_", "."), "Value": value} for key, value in configs.items()]
        for side in self.sides:
            answer = side.call("CreateTopics", Topics=[{"Name": name, "NumPartitions": partitions,
                                                        "ReplicationFactor": 1, "Configs": wanted}],
                               timeoutMs=30000)
            created = answer["Topics"][0]
            if created["ErrorCode"] != 0:
                raise RuntimeError("%s does not create %s: %s" % (side.name, name, created))
            side.ids[name] = created["TopicId"]
            side.names.topics[created["TopicId"]] = name
            self.await_topic(side, name, partitions)
        return name

    @staticmethod
    def await_topic(side, name, partitions):
        wanted = [{"PartitionIndex": i, "Timestamp": -1} for i in range(partitions)]
        deadline = time.monotonic() + 30
        while True:
            answer = side.call("ListOffsets", ReplicaId=-1, TimeoutMs=1000,
                               Topics=[{"Name": name, "Partitions": wanted}])
            if all(partition["ErrorCode"] == 0 for partition in answer["Topics"][0]["Partitions"]):
                return
            if time.monotonic() > deadline:
                raise RuntimeError("%s does not serve %s" % (side.name, name))
            time.sleep(0.05)

    def delete_topic(self, name):
        for side in self.sides:
            side.call("DeleteTopics", Topics=[{"Name": name}], TimeoutMs=30000)
        for side in self.sides:
            while side.call("Metadata", Topics=[{"Name": name}], AllowAutoTopicCreation=False)["Topics"][0]["ErrorCode"] == 0:
                time.sleep(0.05)

    def id_of(self, name):
        """For a request's body: the topic's id, on each side its own."""
        return lambda side: side.ids[name]

    @staticmethod
    def session():
        """For a request's body: the fetch session that this side gave last."""
        return lambda side: side.session

    def produce(self, topic, *batches, partition=0, **options):
        """Sets up records: not compared, and every batch must be taken by both."""
        for side in self.sides:
            for records in batches:
                answer = side.call("Produce", Acks=-1, TimeoutMs=30000, **options,
                                   TopicData=[{"TopicId": side.ids[topic], "PartitionData": [
                                       {"Index": partition, "Records": records}]}])
                taken = answer["Responses"][0]["PartitionResponses"][0]
                if taken["ErrorCode"] != 0:
                    raise RuntimeError("%s refuses a batch: %s" % (side.name, taken))
