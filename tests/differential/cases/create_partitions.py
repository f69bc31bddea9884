# SPDX-License-Identifier: Apache-2.0
from cases import case


def grow(pair, *topics, note="", version=None, **options):
    pair.ask("CreatePartitions", version, note=note, Topics=list(topics), TimeoutMs=30000, **options)


def to(name, count, assignments=None):
    if assignments is not None:
        assignments = [{"BrokerIds": brokers} for brokers in assignments]
    return {"Name": name, "Count": count, "Assignments": assignments}


@case
def every_version(pair):
    for version in pair.apis["CreatePartitions"].versions:
        name = pair.topic()
        grow(pair, to(name, 3), version=version, ValidateOnly=True, note="validated")
        pair.ask("Metadata", Topics=[{"Name": name}], AllowAutoTopicCreation=False, note="as before")
        grow(pair, to(name, 3), version=version)
        pair.ask("Metadata", Topics=[{"Name": name}], AllowAutoTopicCreation=False, note="afterwards")
        pair.ask("DescribeTopicPartitions", Topics=[{"Name": name}], note="afterwards")
        grow(pair, version=version, note="nothing")


@case
def counts(pair):
    name = pair.topic(partitions=3)
    for count in (0, -1, 1, 2, 3, 10004, 2147483647, -2147483648):
        for validate in (False, True):
            for version in (0, 3):
                grow(pair, to(name, count), version=version, ValidateOnly=validate, note="%d of 3" % count)
    pair.ask("Metadata", Topics=[{"Name": name}], AllowAutoTopicCreation=False, note="afterwards")


@case
def sizes_of_requests(pair):
    """10,000 partitions more in all."""
    one, two = pair.topic(partitions=3), pair.topic(partitions=3)
    for note, topics in {
        "10000": [to(one, 10003)], "10001": [to(one, 10004)], "two": [to(one, 5003), to(two, 5003)],
        "two, one more": [to(one, 5003), to(two, 5004)], "one is enough": [to(one, 10004), to(two, 4)],
        "the other": [to(one, 4), to(two, 10004)], "an unknown one": [to(one, 10004), to("nobody-made-this", 4)],
        "only an unknown one": [to("nobody-made-this", 10004), to(one, 4)], "fewer": [to(one, 1), to(two, 10004)],
        "far fewer": [to(one, -2147483648), to(two, 10004)], "one twice": [to(one, 9000), to(one, 9000), to(two, 4)],
        "one twice beside too many": [to(one, 4), to(one, 4), to(two, 10004)],
        "by hand": [to(one, 10004, [[1]] * 10001)], "by hand, too few": [to(one, 10004, [[1]])],
        "large numbers": [to(one, 2147483647), to(two, 2147483647)],
    }.items():
        for version in (0, 3):
            grow(pair, *topics, version=version, note=note, ValidateOnly=True)


@case
def names(pair):
    for name in ("nobody-made-this", "", "a b", "a" * 250):
        for version in pair.apis["CreatePartitions"].versions:
            grow(pair, to(name, 3), version=version, note=repr(name[:20]))
    one, two = pair.topic(), pair.topic()
    grow(pair, to(one, 2), to(two, 2), to(one, 3), note="one twice")
    pair.ask("Metadata", Topics=[{"Name": one}, {"Name": two}], AllowAutoTopicCreation=False, note="afterwards")
    grow(pair, to(one, 4), to("nobody-made-this", 2), to(two, 1), note="good and bad")
    grow(pair, to("nobody", 2), to("nobody", 2), note="an unknown one twice")


@case
def assignments(pair):
    odd = {
        "one": (2, [[1]]), "two": (3, [[1], [1]]), "too few": (3, [[1]]), "too many": (2, [[1], [1]]),
        "none": (2, []), "no brokers": (2, [[]]), "an unknown broker": (2, [[7]]), "a broker twice": (2, [[1, 1]]),
        "broker -1": (2, [[-1]]), "another count of replicas": (2, [[1, 2]]), "different counts": (3, [[1], []]),
        "with a count that is too low": (1, [[1]]),
    }
    for note, (count, assignment) in odd.items():
        name = pair.topic()
        grow(pair, to(name, count, assignment), ValidateOnly=True, note=note + ", validated")
        grow(pair, to(name, count, assignment), note=note)
        pair.ask("Metadata", Topics=[{"Name": name}], AllowAutoTopicCreation=False, note=note + ", afterwards")
