# SPDX-License-Identifier: Apache-2.0
"""The two brokers: started with the same settings, and connections to them."""

import os
import random
import shutil
import socket
import struct
import subprocess
import tempfile
import time

import messages

# What both are started with, beside their addresses and folders. What differs from Kafka's defaults is there
# so that a broker's own settings are seen as such.
SETTINGS = """
process.roles=broker,controller
node.id=1
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
broker.rack=north
num.partitions=3
num.io.threads=8
num.network.threads=3
num.recovery.threads.per.data.dir=2
socket.listen.backlog.size=50
socket.receive.buffer.bytes=65536
socket.send.buffer.bytes=65536
log.retention.hours=200000
log.retention.check.interval.ms=3600000
log.roll.ms=500000000
log.cleaner.delete.retention.ms=70000000
log.message.timestamp.after.max.ms=7200000
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
"""

CLUSTER_ID = "ZGlmZmVyZW50aWFsLXRlcw"

# Of a Kafka's features those that a sluiced does not have are at level 0, where they change what it answers.
FEATURES = ["--feature", "eligible.leader.replicas.version=0"]

ANSWER_SECONDS = 20
CLOSED = {"connection": "closed"}
SILENCE = {"connection": "no answer"}


def free_port():
    """Below those that the system gives to outgoing connections: a broker takes it only seconds later."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


class Names:
    """What a broker calls things itself."""

    def __init__(self, port):
        self.port = port
        self.topics = {}  # id -> name

    def topic(self, topic_id):
        return "the id of " + self.topics[topic_id] if topic_id in self.topics else "a topic's id"


class Side:
    """One of the brokers, and a connection to it."""

    def __init__(self, name, address, apis):
        self.name, self.address, self.apis = name, address, apis
        self.names = Names(address[1])
        self.ids = {}  # name -> id
        self.session = 0  # the last fetch session that it gave
        self.producer = (-1, -1)  # the last producer id and epoch that it gave
        self.connection = None
        self.correlation_id = 0

    def connect(self):
        self.connection = socket.create_connection(self.address, timeout=ANSWER_SECONDS)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, api, version, body):
        if self.connection is None:
            self.connect()
        self.correlation_id += 1
        frame = messages.encode_request(api, version, self.correlation_id, resolve(body, self))
        try:
            self.connection.sendall(struct.pack(">i", len(frame)) + frame)
        except (BrokenPipeError, ConnectionResetError):
            pass  # receive() tells

    def receive(self, api, version, seconds=ANSWER_SECONDS):
        """The decoded body, CLOSED or SILENCE."""
        try:
            self.connection.settimeout(seconds)
            (length,) = struct.unpack(">i", self.exactly(4))
            frame = self.exactly(length)
        except (EOFError, ConnectionResetError, BrokenPipeError):
            self.hang_up()
            return CLOSED
        except TimeoutError:
            self.hang_up()
            return SILENCE
        return messages.decode_response(api, version, self.correlation_id, frame)

    def exactly(self, length):
        data = bytearray()
        while len(data) < length:
            part = self.connection.recv(length - len(data))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    def hang_up(self):
        self.connection.close()
        self.connection = None

    def call(self, name, version=None, **body):
        """For setting things up: the answer, compared with nothing."""
        api = self.apis[name]
        version = api.versions.last if version is None else version
        self.send(api, version, body)
        return self.receive(api, version)

    def learn_topic_ids(self):
        for topic in self.call("Metadata", Topics=None)["Topics"]:
            self.ids[topic["Name"]] = topic["TopicId"]
            self.names.topics[topic["TopicId"]] = topic["Name"]


def resolve(value, side):
    """A request's body for one side: a function in it says what is its own there."""
    if callable(value):
        return value(side)
    if isinstance(value, dict):
        return {name: resolve(item, side) for name, item in value.items()}
    if isinstance(value, list):
        return [resolve(item, side) for item in value]
    return value


class Server:
    """A broker of the run's own: `command` gets its properties file as last word."""

    def __init__(self, name, work, command, properties, before=None):
        self.folder = os.path.join(work, name)
        os.makedirs(self.folder)
        self.port = free_port()
        self.log_path = os.path.join(self.folder, "log")
        self.properties = os.path.join(self.folder, "server.properties")
        controller = free_port()
        with open(self.properties, "w", encoding="ascii") as file:
            file.write(SETTINGS + properties)
            file.write("listeners=PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d\n" % (self.port, controller))
            file.write("advertised.listeners=PLAINTEXT://127.0.0.1:%d\n" % self.port)
            file.write("controller.quorum.voters=1@127.0.0.1:%d\n" % controller)
            file.write("log.dirs=%s/data\n" % self.folder)
        with open(self.log_path, "ab") as log:
            if before:
                subprocess.run(before + [self.properties], stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True)
            self.process = subprocess.Popen(command + [self.properties], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, start_new_session=True)

    @property
    def address(self):
        return ("127.0.0.1", self.port)

    def wait(self, seconds=90):
        deadline = time.monotonic() + seconds
        while True:
            if self.process.poll() is not None or time.monotonic() > deadline:
                with open(self.log_path, encoding="utf-8", errors="replace") as log:
                    raise RuntimeError("it does not serve; its log ends with:\n" + log.read()[-3000:])
            try:
                socket.create_connection(self.address, timeout=1).close()
                return
            except OSError:
                time.sleep(0.1)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Servers:
    """Both, in a folder that goes with them."""

    def __init__(self, kafka_classpath, sluiced):
        self.work = tempfile.mkdtemp(prefix="sluice-differential-")
        java = ["java", "-Xmx512m", "-cp", kafka_classpath]
        storage = java + ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, *FEATURES, "-c"]
        self.kafka = Server("kafka", self.work, java + ["kafka.Kafka"], "", before=storage)
        self.sluice = Server("sluice", self.work, [sluiced], "")

    def wait(self):
        self.kafka.wait()
        self.sluice.wait()

    def close(self, keep):
        self.kafka.stop()
        self.sluice.stop()
        if not keep:
            shutil.rmtree(self.work, ignore_errors=True)
