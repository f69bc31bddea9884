# SPDX-License-Identifier: Apache-2.0
from brokers import CLUSTER_ID
from cases import case

CLIENT = {"ClientSoftwareName": "differential", "ClientSoftwareVersion": "1.0"}


@case
def every_version(pair):
    pair.each_version("ApiVersions", **CLIENT)


@case
def names_of_clients(pair):
    for name in ("", "-", "a b", "a.b-c", "ü", ".a", "a-", "a" * 300):
        pair.each_version("ApiVersions", first=3, ClientSoftwareName=name, ClientSoftwareVersion="1",
                          note="name %r" % name[:20])
        pair.each_version("ApiVersions", first=3, ClientSoftwareName="a", ClientSoftwareVersion=name,
                          note="version %r" % name[:20])


@case
def the_broker_that_is_meant(pair):
    for cluster in (None, CLUSTER_ID, "another", ""):
        for node in (-1, 1, 2, 0, -2):
            pair.ask("ApiVersions", ClusterId=cluster if cluster != CLUSTER_ID else cluster_id(pair), NodeId=node,
                     note="cluster %s, node %d" % (cluster, node), **CLIENT)


def cluster_id(pair):
    known = {side.name: side.call("DescribeCluster")["ClusterId"] for side in pair.sides}
    return lambda side: known[side.name]
