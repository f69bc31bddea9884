# SPDX-License-Identifier: Apache-2.0
"""Malformed, truncated and hostile frames, while a well-behaved client goes on.

    hostile.py (--sluiced PATH | --broker HOST:PORT) [option...]

  (1) A frame that makes no sense costs its sender the connection, and nobody else anything.
  (2) ApiVersions of an unknown version is answered in version 0 with error 35 (KIP-511).
  (3) Ten thousand half-sent frames of 100 MB take no more memory than queued.max.request.bytes and
      a little for each connection; what others produce, of usual sizes, is served meanwhile; when
      the connections are closed, the memory is given back (DESIGN 2.4).

With --broker (one that runs already, whose memory is not ours to fill) only (1) and (2).
"""

import argparse
import os
import random
import resource
import select
import socket
import struct
import subprocess
import sys
import threading
import time

from broker import (Broker, Checks, answers, receive_frame, request, run_checks, split_address,
                    wait_until)

WAIT_S = 10
PRODUCE, FETCH, LIST_OFFSETS, METADATA, API_VERSIONS, CREATE_TOPICS = 0, 1, 2, 3, 18, 19
MIB = 1024 * 1024
PADDING = (0, 40000, 900000) # The shares of memory for small frames and for usual ones.


# ---- the well-behaved client: a process of its own ----------------------------------------------

def behave(bootstrap):
    """Produces a record and reads it back, small ones and large ones, again and again, until standard input
    ends. Prints the number of each and the seconds it took."""
    from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
    topic = "well-behaved-%d" % os.getpid()
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0,
                         "message.timeout.ms": WAIT_S * 1000})
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": topic, "log_level": 0,
                         "enable.auto.commit": False, "fetch.wait.max.ms": 50})
    producer.produce(topic, b"first")
    if producer.flush(WAIT_S) != 0:
        sys.exit("the first record was not acknowledged")
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    number = 0
    while not select.select([sys.stdin], [], [], 0.01)[0]:
        began = time.monotonic()
        number += 1
        value = b"%d" % number + b"." * PADDING[number % len(PADDING)]
        producer.produce(topic, value)
        if producer.flush(WAIT_S) != 0:
            sys.exit("record %d was not acknowledged within %d s" % (number, WAIT_S))
        while True:
            message = consumer.poll(0.1)
            if message is not None and message.error() is None and message.value() == value:
                break
            if time.monotonic() - began > WAIT_S:
                sys.exit("record %d was not read within %d s" % (number, WAIT_S))
        print(number, time.monotonic() - began, flush=True)


class WellBehaved:
    def __init__(self, bootstrap):
        self.process = subprocess.Popen([sys.executable, __file__, "--behave", bootstrap], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.rounds, self.worst_s = 0, 0.0
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            number, seconds = line.split()
            self.rounds = int(number)
            self.worst_s = max(self.worst_s, float(seconds))

    def goes_on(self):
        """Whether it completes rounds from now on."""
        aim = self.rounds + 3
        try:
            wait_until(lambda: self.rounds >= aim or self.process.poll() is not None, 3 * WAIT_S, "it")
        except TimeoutError:
            return False
        return self.rounds >= aim

    def end(self):
        self.process.stdin.close()
        return self.process.wait(3 * WAIT_S) == 0


# ---- frames -------------------------------------------------------------------------------------

def framed(body):
    return struct.pack(">i", len(body)) + body


CLOSES, ANSWERS, EITHER = "closes", "answers", "either"


def frames():
    """(what, bytes, what the broker must do)"""
    metadata_v1 = b"\0\3\0\1\0\0\0\1\0\0"
    yield "a length of 2 GB", struct.pack(">i", 2**31 - 1) + b"x" * 1000, CLOSES
    yield "a length just above socket.request.max.bytes", struct.pack(">i", 104857601), CLOSES
    yield "a negative length", struct.pack(">i", -1), CLOSES
    yield "the most negative length", struct.pack(">i", -2**31), CLOSES
    yield "a length of zero", struct.pack(">i", 0), CLOSES
    yield "a frame shorter than a header", framed(b"\0\3\0"), CLOSES
    yield "an HTTP request", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", CLOSES
    yield "a TLS hello", bytes.fromhex("16030100c8010000c40303") + b"\0" * 200, CLOSES
    yield "an unknown API", request(9999, 0, 1), CLOSES
    yield "a negative API", request(-1, 0, 1), CLOSES
    yield "an unknown version of Produce", request(PRODUCE, 99, 1), CLOSES
    yield "an unknown version of Metadata", request(METADATA, 99, 1), CLOSES
    yield "a negative version of Fetch", request(FETCH, -1, 1), CLOSES
    yield "a client id longer than the frame", framed(b"\0\3\0\1\0\0\0\1\x7f\xffab"), CLOSES
    yield "a client id of negative length", framed(b"\0\3\0\1\0\0\0\1\xff\x80\0\0\0\0"), EITHER
    yield "an array of -2 topics", framed(metadata_v1 + struct.pack(">i", -2)), EITHER
    yield "an array of 2^31 topics", framed(metadata_v1 + struct.pack(">i", 2**31 - 1)), CLOSES
    yield "an array longer than the frame", framed(metadata_v1 + struct.pack(">i", 1000)), CLOSES
    yield "a topic name of length -1", framed(metadata_v1 + struct.pack(">ih", 1, -1)), CLOSES
    yield "a topic name longer than the frame", framed(metadata_v1 + struct.pack(">ih", 1, 999) + b"ab"), CLOSES
    yield "a count that does not end", request(METADATA, 9, 1, b"\xff" * 20, flexible_header=True), CLOSES
    yield "four billion tags", framed(b"\0\3\0\x09\0\0\0\1\0\1x\xff\xff\xff\xff\x0f"), CLOSES
    yield "a tag longer than the frame", framed(b"\0\3\0\x09\0\0\0\1\0\1x\1\0\xff\x7f"), CLOSES
    yield "Produce with -1 topics", request(PRODUCE, 3, 1, struct.pack(">hhii", -1, 1, 1000, -1)), CLOSES
    yield "Produce with records longer than the frame", request(
        PRODUCE, 3, 1, struct.pack(">hhii", -1, 1, 1000, 1) + b"\0\1t" + struct.pack(">iii", 1, 0, 2**30)), CLOSES
    yield "Produce with records of length -7", request(
        PRODUCE, 3, 1, struct.pack(">hhii", -1, 1, 1000, 1) + b"\0\1t" + struct.pack(">iii", 1, 0, -7)), EITHER
    yield "Produce with garbage for records", request(
        PRODUCE, 3, 1, struct.pack(">hhii", -1, 1, 1000, 1) + b"\0\1t" + struct.pack(">iii", 1, 0, 64) + b"\xa5" * 64), EITHER
    yield "Fetch with -5 topics", request(FETCH, 4, 1, struct.pack(">iiiibi", -1, 10, 1, 1000, 0, -5)), CLOSES
    yield "ListOffsets with no body", request(LIST_OFFSETS, 1, 1), CLOSES
    yield "CreateTopics with 2^31 topics", request(CREATE_TOPICS, 2, 1, struct.pack(">i", 2**31 - 1)), CLOSES
    yield "a valid request, then garbage", request(API_VERSIONS, 0, 1) + b"\xff" * 64, EITHER
    for cut in (1, 3, 4, 10, 13):
        yield "a frame that ends after %d bytes" % cut, request(API_VERSIONS, 0, 1)[:cut], None


def what_happens(address, data):
    """What the broker does with these bytes, or "nothing" within the time."""
    with socket.create_connection(address, timeout=WAIT_S) as connection:
        try:
            connection.sendall(data)
            return ANSWERS if connection.recv(65536) else CLOSES
        except ConnectionError:
            return CLOSES
        except socket.timeout:
            return "nothing"


def send_frames(check, address, seed):
    for what, data, expected in frames():
        if expected is None: # we hang up, not they
            with socket.create_connection(address, timeout=WAIT_S) as connection:
                connection.sendall(data)
            check.that("%s harms nobody" % what, answers(address))
            continue
        happened = what_happens(address, data)
        fits = happened in (CLOSES, ANSWERS) if expected == EITHER else happened == expected
        check.that("%s: the broker %s" % (what, happened), fits and answers(address),
                   "expected that it %s" % expected)

    chance = random.Random(seed)
    for _ in range(300):
        garbage = chance.getrandbits(8 * 200).to_bytes(200, "big")[:chance.randrange(1, 200)]
        key = chance.choice([PRODUCE, FETCH, LIST_OFFSETS, METADATA, API_VERSIONS, CREATE_TOPICS, 20, 22])
        data = request(key, chance.randrange(0, 13), 1, garbage)
        with socket.create_connection(address, timeout=WAIT_S) as connection:
            connection.sendall(data)
    check.that("300 requests whose bodies are garbage (seed %d) harm nobody" % seed, answers(address))


def ask_versions(check, address):
    with socket.create_connection(address, timeout=WAIT_S) as connection:
        connection.sendall(request(API_VERSIONS, 99, 77, b"\xff" * 9, flexible_header=True))
        reply = receive_frame(connection)
        check.that("ApiVersions 99 is answered in version 0 with error 35 and its own row",
                   len(reply) == 16 and struct.unpack(">ihih", reply[:12]) == (77, 35, 1, API_VERSIONS),
                   reply.hex())
        _, highest = struct.unpack(">hh", reply[12:16])
        check.that("which tells a version that flexible clients can use", highest >= 3, highest)
        connection.sendall(request(API_VERSIONS, 3, 78, b"\2a\2b\0", flexible_header=True))
        reply = receive_frame(connection)
        check.that("the connection stays open and serves version 3 next",
                   struct.unpack(">ih", reply[:6]) == (78, 0), reply[:16].hex())

        whole = request(API_VERSIONS, 0, 79)
        for i in range(len(whole)):
            connection.sendall(whole[i:i + 1])
        check.that("a request that comes byte by byte is served",
                   receive_frame(connection)[:6] == struct.pack(">ih", 79, 0))
        connection.sendall(b"".join(request(API_VERSIONS, 0, i) for i in range(500)))
        got = [struct.unpack(">i", receive_frame(connection)[:4])[0] for _ in range(500)]
        check.that("500 requests in one piece are answered in their order", got == list(range(500)))


# ---- the flood ----------------------------------------------------------------------------------

FRAME = 100_000_000
# So many offer all of their half. What the others offer beyond a few KiB would only fill the kernel's
# memory for TCP, beyond which connections stall for reasons that are not the broker's.
OFFER_ALL = 16
OFFER_SOME = 32768


def allowed_connections(wanted):
    """What the limit on descriptors leaves for connections, here and in the broker."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    # The broker keeps two fifths for its logs.
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard * 3 // 5 - 200)


def flood(address, count, sample):
    """Opens connections and offers on each the first part of a frame of 100 MB, up to its half, as
    long as anybody takes anything. Gives the connections and the number of bytes that were taken."""
    head = struct.pack(">i", FRAME) + request(PRODUCE, 3, 1)[4:]
    chunk = b"\0" * 65536
    connections, sent = [], []
    for _ in range(count):
        connection = socket.socket()
        # Little waits in our kernel: what is taken is taken by the broker.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
        connection.settimeout(WAIT_S)
        connection.connect(address)
        connection.sendall(head)
        connection.setblocking(False)
        connections.append(connection)
        sent.append(len(head))
        if len(connections) % 500 == 0:
            sample()
    deadline = time.monotonic() + 60
    last_progress = time.monotonic()
    while time.monotonic() < deadline and time.monotonic() - last_progress < 2:
        progress = 0
        for i, connection in enumerate(connections):
            goal = FRAME // 2 if i < OFFER_ALL else OFFER_SOME
            while sent[i] < goal:
                try:
                    taken = connection.send(chunk[:goal - sent[i]])
                except (BlockingIOError, ConnectionError):
                    break
                sent[i] += taken
                progress += taken
            if i % 500 == 0:
                sample()
        if progress > 0:
            last_progress = time.monotonic()
        else:
            time.sleep(0.05) # the broker's turn
    return connections, sum(sent)


def withstand(check, broker, options, client):
    count = allowed_connections(options.connections)
    # What the connections do not cost, or only once, is there before the measuring begins.
    before = broker.rss_bytes()
    slack = 32 * MIB * options.shadow
    limit = before + options.shadow * (options.budget + count * options.per_connection) + slack
    peak = [before]

    def sample():
        peak[0] = max(peak[0], broker.rss_bytes())

    connections, taken = flood(broker.address, count, sample)
    check.that("%d connections offer half a frame of 100 MB each; %d MiB were taken" %
               (count, taken // MIB), broker.is_running())
    check.that("a newcomer is answered meanwhile", answers(broker.address, WAIT_S))
    check.that("the well-behaved client goes on", client.goes_on())
    sample()
    check.that("memory stayed below its limit (%d MiB before, at most %d, allowed %d)" %
               (before // MIB, peak[0] // MIB, limit // MIB), peak[0] <= limit)

    for connection in connections:
        connection.close()
    goal = before + slack
    try:
        wait_until(lambda: broker.rss_bytes() <= goal, 3 * WAIT_S, "memory to be given back")
    except TimeoutError:
        pass # the check below tells the numbers
    after = broker.rss_bytes()
    check.that("memory is given back when they are closed (%d MiB)" % (after // MIB), after <= goal,
               "%d MiB at most were expected" % (goal // MIB))
    check.that("and the broker answers", answers(broker.address))


def large_request(check, address):
    """A frame of 64 MiB, all but 18 bytes of it behind the message, where they are ignored."""
    size = 64 * MIB
    message = request(METADATA, 0, 1, struct.pack(">i", 0))[4:]

    def is_served():
        try:
            with socket.create_connection(address, timeout=WAIT_S) as connection:
                connection.sendall(struct.pack(">i", size) + message)
                connection.sendall(b"\0" * (size - len(message)))
                return receive_frame(connection)[:4] == struct.pack(">i", 1)
        except (OSError, EOFError):
            return False # also when the budget is not free in time

    try:
        wait_until(is_served, 3 * WAIT_S, "a large request to be served", step=0.5)
        check.that("a single large request is served", True)
    except TimeoutError as late:
        check.that("a single large request is served", False, late)


# ---- all of it ----------------------------------------------------------------------------------

def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sluiced", help="the broker to start")
    parser.add_argument("--broker", help="HOST:PORT of one that runs already: frames only")
    parser.add_argument("--connections", type=int, default=10000)
    parser.add_argument("--budget", type=int, default=256 * MIB, help="queued.max.request.bytes")
    parser.add_argument("--per-connection", type=int, default=4096, metavar="BYTES",
                        help="what a connection with half a frame may cost besides")
    parser.add_argument("--shadow", type=int, default=1, metavar="N",
                        help="a sanitizer's memory: N bytes for each that the broker asks for")
    parser.add_argument("--no-flood", action="store_true")
    parser.add_argument("--seed", type=int, default=20260131)
    parser.add_argument("--behave", metavar="HOST:PORT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.behave:
        behave(options.behave)
        return
    if bool(options.sluiced) == bool(options.broker):
        parser.error("exactly one of --sluiced and --broker")

    check = Checks()
    broker = None
    if options.sluiced:
        broker = Broker(options.sluiced, ["queued.max.request.bytes=%d" % options.budget])
        check.broker = broker
        broker.start()
    address = broker.address if broker else split_address(options.broker)

    client = WellBehaved("%s:%d" % address)
    check.that("a well-behaved client produces and consumes", client.goes_on())
    ask_versions(check, address)
    send_frames(check, address, options.seed)
    large_request(check, address)
    check.that("the well-behaved client goes on", client.goes_on())
    if broker is not None and not options.no_flood:
        withstand(check, broker, options, client)
        large_request(check, address) # the budget is whole again
    check.that("the well-behaved client never failed (%d rounds, the longest took %.2f s)" %
               (client.rounds, client.worst_s), client.end())
    if broker is not None:
        broker.stop()
        check.that("the broker ends politely", True)


if __name__ == "__main__":
    run_checks(main)
