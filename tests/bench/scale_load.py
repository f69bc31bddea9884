# SPDX-License-Identifier: Apache-2.0
"""Clients in numbers, for scale.py: each kind of load is one process with one selector."""

import multiprocessing
import selectors
import struct
import time

from scale_wire import ask, batch, connect, end_of, fetch, fetched, metadata_all, produce

# ---- one that is measured ------------------------------------------------------------------------


def probe(address, topic, seconds):
    """Seconds that a produce of one record took, one after the other."""
    frame = produce({topic: [0]}, batch(b"x" * 100))
    latencies = []
    with connect(address) as connection:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.monotonic()
            ask(connection, frame)
            latencies.append(time.monotonic() - began)
            time.sleep(0.001)
    return latencies


def tell_latencies(label, tell, latencies):
    latencies.sort()
    for name, part in (("p50", 0.5), ("p99", 0.99), ("longest", 1)):
        at = min(len(latencies) - 1, int(len(latencies) * part))
        tell("%s: %s" % (label, name), "%.2f" % (latencies[at] * 1000), "ms")


# ---- a load beside it ----------------------------------------------------------------------------

class Load:
    """run(address, count, is_over) in a process of its own, until end()."""

    def __init__(self, run, address, count):
        self.over = multiprocessing.Event()
        self.result = multiprocessing.Queue()
        self.process = multiprocessing.Process(
            target=lambda: self.result.put(run(address, count, self.over.is_set)), daemon=True)
        self.process.start()

    def end(self):
        self.over.set()
        result = self.result.get()
        self.process.join()
        return result


class Answers:
    """Counts whole frames of a stream and forgets their bytes."""

    def __init__(self):
        self.head, self.left, self.count = b"", 0, 0

    def take(self, data):
        """How many frames have ended by that."""
        before, at = self.count, 0
        while at < len(data):
            if self.left == 0:
                need = 4 - len(self.head)
                self.head += data[at:at + need]
                at += need
                if len(self.head) == 4:
                    (self.left,) = struct.unpack(">i", self.head)
                    self.head = b""
                continue
            step = min(self.left, len(data) - at)
            self.left -= step
            at += step
            if self.left == 0:
                self.count += 1
        return self.count - before


def ask_for_all(address, count, is_over):
    """`count` connections, each with one request for all metadata under way. (answers, seconds)."""
    selector, frame, answers = selectors.DefaultSelector(), metadata_all(), 0
    for _ in range(count):
        connection = connect(address)
        selector.register(connection, selectors.EVENT_READ, Answers())
        connection.sendall(frame)
        connection.setblocking(False)
    began = time.monotonic()
    while not is_over():
        for key, _ in selector.select(0.1):
            data = key.fileobj.recv(1 << 20)
            if not data:
                raise EOFError("the broker closed a connection that asks for all metadata")
            ended = key.data.take(data)
            answers += ended
            for _ in range(ended):
                key.fileobj.sendall(frame)
    return answers, time.monotonic() - began


# ---- producers and consumers ---------------------------------------------------------------------

class Client:
    """One request at a time; counts what it brought."""

    def __init__(self, address):
        self.connection = connect(address)
        self.connection.setblocking(False)
        self.received, self.count = b"", 0

    def read(self, most=1 << 16):
        data = self.connection.recv(most)
        if not data:
            raise EOFError("the broker closed the connection of %s" % type(self).__name__)
        self.received += data
        while len(self.received) >= 4:
            (length,) = struct.unpack_from(">i", self.received)
            if len(self.received) < 4 + length:
                return
            reply, self.received = self.received[4:4 + length], self.received[4 + length:]
            self.take(reply)
            self.ask()


class Producer(Client):
    records = batch(b"x" * 100)

    def __init__(self, address, topic, partition):
        super().__init__(address)
        self.frame = produce({topic: [partition]}, self.records)

    def ask(self):
        self.connection.send(self.frame)

    def take(self, reply):
        if struct.unpack_from(">h", reply, len(reply) - 22)[0] == 0:
            self.count += 1


class Consumer(Client):
    def __init__(self, address, topic, partition):
        super().__init__(address)
        self.topic, self.partition, self.offset = topic, partition, 0

    def ask(self):
        self.connection.send(fetch(self.topic, self.partition, self.offset, 500, 1 << 20))

    def take(self, reply):
        error, records = fetched(reply, self.topic)
        end = end_of(records)
        if error == 0 and end is not None:
            self.count += end - self.offset
            self.offset = end


class Crowd:
    """All in this process. `deaf` consumers more ask again and again and never read, `lazy` ones read
    1 KiB a second."""

    def __init__(self, address, topic, partitions, producers, consumers, deaf, lazy):
        self.selector = selectors.DefaultSelector()
        self.producers = [Producer(address, topic, i % partitions) for i in range(producers)]
        self.consumers = [Consumer(address, topic, i % partitions) for i in range(consumers)]
        self.lazy = [Consumer(address, topic, i % partitions) for i in range(lazy)]
        self.deaf = [Consumer(address, topic, i % partitions) for i in range(deaf)]
        for client in self.producers + self.consumers:
            self.selector.register(client.connection, selectors.EVENT_READ, client)

    def prod(self):
        """What the lazy and the deaf do once a second."""
        for client in self.lazy:
            try:
                client.read(1024)
            except BlockingIOError:
                pass
        for client in self.deaf:
            for _ in range(100):
                try:
                    client.ask()
                except BlockingIOError:
                    break

    def run(self, seconds):
        for client in self.consumers + self.lazy + self.producers:
            client.ask()
        end = time.monotonic() + seconds
        next_prod = 0
        while time.monotonic() < end:
            for key, _ in self.selector.select(0.1):
                key.data.read()
            if time.monotonic() >= next_prod:
                self.prod()
                next_prod = time.monotonic() + 1
        return {"records produced": [client.count for client in self.producers],
                "records consumed": [client.count for client in self.consumers]}

    def close(self):
        for client in self.producers + self.consumers + self.lazy + self.deaf:
            client.connection.close()
