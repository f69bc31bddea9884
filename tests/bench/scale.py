# SPDX-License-Identifier: Apache-2.0
"""What many connections and many partitions cost, and whether anybody has to wait for the many.

    scale.py [--sluiced PROGRAM] [--dir FOLDER] [MODE...]

  connections  10,000 idle connections: memory of each
  partitions   1 topic of 9,999 partitions and 100 of 100: created, written to, stopped, started, killed, deleted,
               stopped in the middle of it; memory of each
  metadata     200 connections ask for all metadata of 10,000 partitions: how long others wait
  crowd        1,000 producers and 1,000 consumers at once, some of which never read: who gets how much
  idle         system calls in 30 s of a node that nobody asks for anything (needs strace)

Without MODE all of them. Prints what docs/performance.md has, a line each; nothing else should run.
"""

import argparse
import atexit
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import scale_load
from scale_wire import (ask, batch, connect, create_topics, created_errors, delete_topics,
                        list_offsets, metadata_all, produce, refused, unserved)
from broker import Broker, wait_until

MIB = 1024 * 1024
SETTINGS = ["sluice.admin.listener="]
ONE_TOPIC = [("many", 9999)]  # With the topic itself as many as one request may create.
HUNDRED_TOPICS = [("many-%d" % i, 100) for i in range(100)]


def tell(what, value, unit):
    print("%-62s %12s %s" % (what, value, unit), flush=True)


class Node(Broker):
    """A broker on a file system that is a disk. Its folder goes when everything is measured: for minutes after tens of
    thousands of files were removed, ext4 passes over their inodes one by one whenever it makes a file."""

    def __init__(self, arguments):
        self.work = tempfile.mkdtemp(prefix="scale-", dir=arguments.dir)
        atexit.register(shutil.rmtree, self.work, ignore_errors=True)
        super().__init__(arguments.sluiced, SETTINGS, os.path.join(self.work, "data"))
        self.start()

    def proc(self, name):
        with open("/proc/%d/%s" % (self.process.pid, name)) as file:
            return file.read()

    def cpu_s(self):
        fields = self.proc("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop_ms(self):
        began = time.monotonic()
        self.stop(120)
        return (time.monotonic() - began) * 1000

    def start_ms(self):
        began = time.monotonic()
        self.start(120)
        return (time.monotonic() - began) * 1000

    def create(self, topics):
        with connect(self.address) as connection:
            began, wrong = time.monotonic(), []
            for at in range(0, len(topics), 50):  # One request may not create them all.
                wrong += created_errors(ask(connection, create_topics(topics[at:at + 50])))
            if wrong:
                raise RuntimeError("topics are not created: %s" % wrong[:3])
            return time.monotonic() - began

    def delete(self, topics):
        with connect(self.address) as connection:
            ask(connection, delete_topics([name for name, _ in topics]))

    def write_to_all(self, topics, records=batch(b"x" * 100)):
        """One record in each; who refuses is asked again."""
        left = {name: list(range(count)) for name, count in topics}
        began = time.monotonic()
        with connect(self.address) as connection:
            while left:
                left = refused(ask(connection, produce(left, records)))
                time.sleep(0.01)
        return time.monotonic() - began

    def await_served(self, topics):
        """Until all can be read: each is asked for its end."""
        left = {name: list(range(count)) for name, count in topics}
        began = time.monotonic()
        with connect(self.address) as connection:
            while left:
                left = unserved(ask(connection, list_offsets(left)))
                time.sleep(0.01)
        return time.monotonic() - began

    def folders(self):
        return [name for name in os.listdir(self.data) if name.startswith("many")]


# ---- connections ---------------------------------------------------------------------------------

def measure_connections(arguments):
    count = 10000
    node = Node(arguments)
    for number in range(200):  # What it takes once is there.
        connect(node.address).close()
    time.sleep(0.5)
    before = node.rss_bytes()
    connections = [connect(node.address) for _ in range(count)]
    ask(connections[-1], metadata_all())
    tell("10,000 connections that said nothing: memory of each", (node.rss_bytes() - before) // count, "B")
    for connection in connections:
        ask(connection, metadata_all())
    tell("the same, each after a request", (node.rss_bytes() - before) // count, "B")
    for connection in connections:
        connection.close()
    node.close()


# ---- partitions ----------------------------------------------------------------------------------

def measure_partitions_of(arguments, label, topics):
    count = sum(partitions for _, partitions in topics)
    node = Node(arguments)
    before = node.rss_bytes()
    began = time.monotonic()
    tell("%s: created" % label, "%.2f" % node.create(topics), "s")
    node.write_to_all(topics)
    tell("%s: all written to, from the request on" % label, "%.2f" % (time.monotonic() - began), "s")
    tell("%s: memory of each" % label, "%.1f" % ((node.rss_bytes() - before) / count / 1024), "KiB")
    tell("%s: SIGTERM to exit" % label, "%.0f" % node.stop_ms(), "ms")
    tell("%s: start after that" % label, "%.0f" % node.start_ms(), "ms")
    tell("%s: all served after that" % label, "%.2f" % node.await_served(topics), "s")
    tell("%s: all written to after that" % label, "%.2f" % node.write_to_all(topics), "s")
    node.kill()
    tell("%s: start after kill -9" % label, "%.0f" % node.start_ms(), "ms")
    tell("%s: all served after that" % label, "%.2f" % node.await_served(topics), "s")
    tell("%s: all written to after that" % label, "%.2f" % node.write_to_all(topics), "s")
    tell("%s: memory of each then" % label, "%.1f" % ((node.rss_bytes() - before) / count / 1024), "KiB")

    began = time.monotonic()
    node.delete(topics)
    tell("%s: deleted" % label, "%.2f" % (time.monotonic() - began), "s")
    time.sleep(1)
    tell("%s: SIGTERM to exit, 1 s after deleting" % label, "%.0f" % node.stop_ms(), "ms")
    left = len(node.folders())
    tell("%s: folders left by that" % label, left, "")
    began = time.monotonic()
    tell("%s: start that goes on with deleting" % label, "%.0f" % node.start_ms(), "ms")
    wait_until(lambda: not node.folders(), 300, "the folders to be gone", 0.2)
    tell("%s: all folders gone, from that start on" % label, "%.2f" % (time.monotonic() - began), "s")

    node.create(topics)
    tell("%s: SIGTERM to exit, just after creating" % label, "%.0f" % node.stop_ms(), "ms")
    tell("%s: start after that" % label, "%.0f" % node.start_ms(), "ms")
    tell("%s: all written to after that" % label, "%.2f" % node.write_to_all(topics), "s")
    began = time.monotonic()
    node.delete(topics)
    wait_until(lambda: not node.folders(), 300, "the folders to be gone", 0.2)
    tell("%s: deleted until no folder is left" % label, "%.2f" % (time.monotonic() - began), "s")
    node.close()


def measure_partitions(arguments):
    measure_partitions_of(arguments, "1 × 9,999", ONE_TOPIC)
    measure_partitions_of(arguments, "100 × 100", HUNDRED_TOPICS)


# ---- metadata ------------------------------------------------------------------------------------

def measure_metadata(arguments):
    for label, topics in (("1 × 9,999", ONE_TOPIC), ("100 × 100", HUNDRED_TOPICS)):
        node = Node(arguments)
        node.create(topics)
        node.create([("small", 1)])
        node.write_to_all(topics + [("small", 1)])
        time.sleep(3)
        scale_load.tell_latencies("%s: a produce, one in flight, alone" % label, tell,
                                  scale_load.probe(node.address, "small", 3))
        load = scale_load.Load(scale_load.ask_for_all, node.address, 200)
        time.sleep(1)
        cpu = node.cpu_s()
        latencies = scale_load.probe(node.address, "small", 8)
        cpu = (node.cpu_s() - cpu) / 8
        answers, took = load.end()
        scale_load.tell_latencies("%s: beside 200 × all metadata" % label, tell, latencies)
        tell("%s: answers of all metadata" % label, "%.0f" % (answers / took), "/s")
        tell("%s: broker CPU meanwhile" % label, "%.0f" % (100 * cpu), "% of a core")
        tell("%s: memory then" % label, "%.0f" % (node.rss_bytes() / MIB), "MiB")
        node.close()


# ---- crowd ---------------------------------------------------------------------------------------

def measure_crowd(arguments):
    node = Node(arguments)
    topics = [("crowd", 100)]
    node.create(topics)
    node.write_to_all(topics)
    before = node.rss_bytes()
    load = scale_load.Crowd(node.address, "crowd", partitions=100, producers=1000, consumers=1000,
                            deaf=50, lazy=50)
    result = load.run(15)
    for what, counts in result.items():
        counts.sort()
        for name, count in (("least", counts[0]), ("median", counts[len(counts) // 2]),
                            ("most", counts[-1])):
            tell("crowd: %s, each in 15 s: %s" % (what, name), count, "")
    tell("crowd: memory more than before", "%.0f" % ((node.rss_bytes() - before) / MIB), "MiB")
    load.close()
    node.close()


# ---- idle ----------------------------------------------------------------------------------------

def count_calls(node, seconds):
    """Name → how many system calls of all threads."""
    output = os.path.join(node.folder, "strace")
    tracer = subprocess.Popen(["strace", "-f", "-o", output, "-p", str(node.process.pid)],
                              stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    tracer.send_signal(signal.SIGINT)
    tracer.wait(30)
    calls = {}
    with open(output) as lines:
        for line in lines:
            # What a thread was in when strace came and when it left shows, too; it made no call.
            match = re.match(r"\d+ +(?:<\.\.\. )?(\w+)(.*)", line)
            if match and "<unfinished" not in line and "<detached" not in line:
                calls[match[1]] = calls.get(match[1], 0) + 1
    return calls


def measure_idle(arguments, seconds=30):
    node = Node(arguments)
    connections = []

    def look(label, settle_s):
        time.sleep(settle_s)
        cpu = node.cpu_s()
        calls = count_calls(node, seconds)
        tell("idle, %s: system calls in %d s" % (label, seconds), sum(calls.values()),
             " ".join("%s %d" % call for call in sorted(calls.items())))
        tell("idle, %s: processor time" % label, "%.0f" % ((node.cpu_s() - cpu) * 1000), "ms")

    look("nothing there", 5)
    connections = [connect(node.address) for _ in range(1000)]
    for connection in connections:
        ask(connection, metadata_all())
    look("1,000 connections", 5)
    node.create(ONE_TOPIC)
    node.write_to_all(ONE_TOPIC)
    look("9,999 partitions, written to 75 s before, 1,000 connections", 75)
    node.close()


MODES = {"connections": measure_connections, "partitions": measure_partitions,
         "metadata": measure_metadata, "crowd": measure_crowd, "idle": measure_idle}


def main():
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--sluiced", default=os.path.join(top, "build", "sluiced"))
    parser.add_argument("--dir", default=None)
    parser.add_argument("modes", nargs="*", metavar="MODE")
    arguments = parser.parse_args()
    for mode in arguments.modes:
        if mode not in MODES:
            parser.error("there is no mode %s" % mode)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for mode in arguments.modes or MODES:
        MODES[mode](arguments)


if __name__ == "__main__":
    main()
