# SPDX-License-Identifier: Apache-2.0
from cases import case

NOBODY = bytes(range(16))


def delete(pair, *names, note="", version=None, **options):
    """By name, in the form of the version."""
    body = {"TimeoutMs": 30000, "Topics": [{"Name": name} for name in names], "TopicNames": list(names), **options}
    pair.ask("DeleteTopics", version, note=note, **body)


@case
def every_version(pair):
    for version in pair.apis["DeleteTopics"].versions:
        one, two = pair.topic(), pair.topic(partitions=2)
        delete(pair, one, two, version=version)
        pair.ask("Metadata", Topics=[{"Name": one}, {"Name": two}], AllowAutoTopicCreation=False, note="afterwards")
        delete(pair, one, version=version, note="again")
        delete(pair, version=version, note="nothing")


@case
def unknown_topics(pair):
    for name in ("nobody-made-this", "", "a b", ".", "a" * 250):
        for version in pair.apis["DeleteTopics"].versions:
            delete(pair, name, version=version, note=repr(name[:20]))
    for version in (1, 5, 6):
        one = pair.topic()
        delete(pair, one, "nobody-made-this", version=version, note="a known and an unknown one")


@case
def repeated_topics(pair):
    for version in (1, 4, 5, 6):
        one, two = pair.topic(), pair.topic()
        delete(pair, one, two, one, version=version)
        pair.ask("Metadata", Topics=[{"Name": one}, {"Name": two}], AllowAutoTopicCreation=False, note="afterwards")
        delete(pair, "nobody", "nobody", version=version, note="an unknown one")


@case
def by_id(pair):
    one = pair.topic()

    def by(note, *states):
        pair.ask("DeleteTopics", TimeoutMs=30000, note=note, Topics=list(states))

    by("an unknown id", {"TopicId": NOBODY})
    by("no id and no name", {})
    by("an id and a name", {"TopicId": pair.id_of(one), "Name": one})
    by("an unknown id and a name", {"TopicId": NOBODY, "Name": one})
    by("an unknown id twice", {"TopicId": NOBODY}, {"TopicId": NOBODY})
    by("name and id apart", {"Name": one}, {"TopicId": pair.id_of(one)})
    pair.ask("Metadata", Topics=[{"Name": one}], AllowAutoTopicCreation=False, note="afterwards")
    two = pair.topic()
    by("the same id twice", {"TopicId": pair.id_of(two)}, {"TopicId": pair.id_of(two)})
    pair.ask("Metadata", Topics=[{"Name": two}], AllowAutoTopicCreation=False, note="afterwards")
    three = pair.topic()
    by("by id", {"TopicId": pair.id_of(three)}, {"TopicId": NOBODY}, {"Name": "nobody-made-this"})


@case
def timeouts(pair):
    for timeout in (0, -1, 1):
        one = pair.topic()
        # What a Kafka has to do within a millisecond it does at times only.
        delete(pair, "nobody-made-this", TimeoutMs=timeout, again=timeout == 1, note="timeout %d, unknown" % timeout)
        pair.delete_topic(one)
