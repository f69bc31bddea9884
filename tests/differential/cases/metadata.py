# SPDX-License-Identifier: Apache-2.0
from cases import case


def existing(pair):
    return [pair.topic(), pair.topic(partitions=4)]


@case
def topics_by_name(pair):
    one, two = existing(pair)
    pair.each_version("Metadata", Topics=[{"Name": one}, {"Name": two}], AllowAutoTopicCreation=False)
    pair.each_version("Metadata", Topics=[{"Name": one}, {"Name": two}, {"Name": one}],
                      AllowAutoTopicCreation=False, note="one twice")


@case
def all_topics(pair):
    existing(pair)
    pair.each_version("Metadata", Topics=None, first=1)
    pair.ask("Metadata", 0, Topics=[], note="empty: all")
    pair.each_version("Metadata", Topics=[], first=1, note="empty: none")


@case
def unknown_topics(pair):
    names = [pair.new_name(), "", ".", "..", "a b", "a" * 249, "a" * 250, "snow☃", "tab\t", "a:b"]
    for name in names:
        pair.each_version("Metadata", Topics=[{"Name": name}], AllowAutoTopicCreation=False, first=4,
                          note=repr(name[:20]))
    pair.each_version("Metadata", Topics=[{"Name": name} for name in names], AllowAutoTopicCreation=False, first=4,
                      note="all of them")
    for name in names[1:5]:
        pair.ask("Metadata", 0, Topics=[{"Name": name}], note="version 0 " + repr(name))


@case
def topics_created_on_the_way(pair):
    for version in (0, 3, 4, 9, 13):
        name = pair.new_name()
        for side in pair.sides:  # the first answer may come before or after the creation
            side.call("Metadata", version, Topics=[{"Name": name}], AllowAutoTopicCreation=True)
        for side in pair.sides:
            pair.await_topic(side, name, 3)
            side.learn_topic_ids()
        pair.ask("Metadata", Topics=[{"Name": name}], AllowAutoTopicCreation=True, note="afterwards")
        pair.ask("DescribeConfigs", Resources=[{"ResourceType": 2, "ResourceName": name, "ConfigurationKeys": None}],
                 IncludeSynonyms=True)
    for name in ("a b", "", "."):
        pair.ask("Metadata", Topics=[{"Name": name}], AllowAutoTopicCreation=True, note="illegal: %r" % name)


@case
def internal_topics_by_name(pair):
    for name in ("__consumer_offsets", "__transaction_state", "__share_group_state"):
        pair.ask("Metadata", Topics=[{"Name": name}], AllowAutoTopicCreation=False, note=name)


@case
def topic_ids(pair):
    one, two = existing(pair)
    known = [{"TopicId": pair.id_of(one), "Name": None}, {"TopicId": pair.id_of(two), "Name": None}]
    unknown = {"TopicId": bytes(range(16)), "Name": None}
    pair.each_version("Metadata", Topics=known, first=12)
    pair.each_version("Metadata", Topics=known + [unknown], first=12, note="and an unknown one")
    pair.each_version("Metadata", Topics=[unknown], first=12, note="an unknown one")
    pair.each_version("Metadata", Topics=[{"TopicId": pair.id_of(one), "Name": two}], first=10,
                      note="an id and the name of another", AllowAutoTopicCreation=False)
    pair.each_version("Metadata", Topics=[{"TopicId": pair.id_of(one), "Name": None}], first=10, note="an id alone")
    pair.each_version("Metadata", Topics=[known[0], {"Name": two}], first=12, note="one by id, one by name")
    pair.each_version("Metadata", Topics=[{"Name": None}], first=10, note="neither")
    pair.each_version("Metadata", Topics=[known[0], known[0]], first=12, note="twice")


@case
def authorized_operations(pair):
    one, _ = existing(pair)
    for cluster in (False, True):
        for topic in (False, True):
            pair.each_version("Metadata", Topics=[{"Name": one}, {"Name": "nobody-made-this"}], first=8,
                              IncludeTopicAuthorizedOperations=topic, AllowAutoTopicCreation=False,
                              **({"IncludeClusterAuthorizedOperations": cluster}))
    for name in ("", "a b", "a" * 250):
        pair.ask("Metadata", Topics=[{"Name": name}], IncludeTopicAuthorizedOperations=True, note="illegal %r" % name[:9])
    pair.each_version("Metadata", Topics=[{"TopicId": bytes(range(16)), "Name": None}], first=12,
                      IncludeTopicAuthorizedOperations=True, note="an unknown id")
    pair.each_version("Metadata", Topics=None, first=8, IncludeTopicAuthorizedOperations=True, note="all topics")
    pair.ask("DescribeTopicPartitions", Topics=[{"Name": one}])


@case
def deleted_topics(pair):
    one, _ = existing(pair)
    topic_id = pair.id_of(one)
    pair.delete_topic(one)
    pair.each_version("Metadata", Topics=[{"Name": one}], AllowAutoTopicCreation=False, first=4)
    pair.each_version("Metadata", Topics=[{"TopicId": topic_id, "Name": None}], first=12, note="by id")
