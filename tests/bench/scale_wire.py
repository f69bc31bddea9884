# SPDX-License-Identifier: Apache-2.0
"""The few requests that scale.py sends, as bytes, and what it reads of their answers.

All are of versions without tags, so that a header is the same everywhere."""

import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients"))
from broker import receive_frame, request  # noqa: E402

PRODUCE, FETCH, LIST_OFFSETS, METADATA, CREATE_TOPICS, DELETE_TOPICS = 0, 1, 2, 3, 19, 20
TIMEOUT_MS = 60000


def text(value):
    data = value.encode()
    return struct.pack(">h", len(data)) + data


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 & -(crc & 1))
    return crc ^ 0xFFFFFFFF


def batch(value):
    """One record, without key and producer, of now: retention would take an old one away."""
    def varint(number):
        number = (number << 1) ^ (number >> 63)
        out = b""
        while number > 0x7F:
            out += bytes([number & 0x7F | 0x80])
            number >>= 7
        return out + bytes([number])

    record = b"\0" + varint(0) + varint(0) + varint(-1) + varint(len(value)) + value + varint(0)
    record = varint(len(record)) + record
    now_ms = int(time.time() * 1000)
    body = struct.pack(">hiqqqhii", 0, 0, now_ms, now_ms, -1, -1, -1, 1) + record
    body = struct.pack(">I", crc32c(body)) + body
    return struct.pack(">qiib", 0, len(body) + 5, 0, 2) + body


def create_topics(topics, settings=()):
    """`topics`: (name, partitions) each."""
    body = struct.pack(">i", len(topics))
    for name, partitions in topics:
        body += text(name) + struct.pack(">ihii", partitions, 1, 0, len(settings))
        for key, value in settings:
            body += text(key) + text(value)
    return request(CREATE_TOPICS, 4, 1, body + struct.pack(">ib", TIMEOUT_MS, 0))


def created_errors(reply):
    """What went wrong: (name, error, sentence) each."""
    (count,), at, wrong = struct.unpack_from(">i", reply, 8), 12, []
    for _ in range(count):
        (length,) = struct.unpack_from(">h", reply, at)
        name = reply[at + 2:at + 2 + length].decode()
        at += 2 + length
        error, length = struct.unpack_from(">hh", reply, at)
        at += 4
        sentence = reply[at:at + max(length, 0)].decode()
        at += max(length, 0)
        if error != 0:
            wrong.append((name, error, sentence))
    return wrong


def delete_topics(names):
    body = struct.pack(">i", len(names)) + b"".join(text(name) for name in names)
    return request(DELETE_TOPICS, 3, 1, body + struct.pack(">i", TIMEOUT_MS))


def metadata_all():
    return request(METADATA, 4, 1, struct.pack(">ib", -1, 0))


def produce(partitions, records, acks=1):
    """`partitions`: topic → partition numbers."""
    body = struct.pack(">hhii", -1, acks, TIMEOUT_MS, len(partitions))
    for name, numbers in partitions.items():
        body += text(name) + struct.pack(">i", len(numbers))
        for number in numbers:
            body += struct.pack(">ii", number, len(records)) + records
    return request(PRODUCE, 3, 1, body)


def refused(reply):
    """Topic → partitions that a produce was not accepted for; of each 22 bytes are told, number and error first."""
    (topics,), at, wrong = struct.unpack_from(">i", reply, 4), 8, {}
    for _ in range(topics):
        (length,) = struct.unpack_from(">h", reply, at)
        name = reply[at + 2:at + 2 + length].decode()
        (count,) = struct.unpack_from(">i", reply, at + 2 + length)
        at += 6 + length
        for _ in range(count):
            number, error = struct.unpack_from(">ih", reply, at)
            at += 22
            if error != 0:
                wrong.setdefault(name, []).append(number)
    return wrong


def list_offsets(partitions):
    """The ends of these."""
    body = struct.pack(">ii", -1, len(partitions))
    for name, numbers in partitions.items():
        body += text(name) + struct.pack(">i", len(numbers))
        for number in numbers:
            body += struct.pack(">iq", number, -1)
    return request(LIST_OFFSETS, 1, 1, body)


def unserved(reply):
    return refused(reply)  # Number, error, time and offset are as long as a produce's answer.


def fetch(name, partition, offset, wait_ms, max_bytes):
    body = struct.pack(">iiiibi", -1, wait_ms, 1, max_bytes, 0, 1) + text(name)
    return request(FETCH, 4, 1, body + struct.pack(">iiqi", 1, partition, offset, max_bytes))


def fetched(reply, name):
    """(error, records) of the one partition."""
    at = 8 + 4 + 2 + len(name) + 4
    _, error, _, _, aborted = struct.unpack_from(">ihqqi", reply, at)
    at += 26 + max(aborted, 0) * 16
    (length,) = struct.unpack_from(">i", reply, at)
    return error, reply[at + 4:at + 4 + max(length, 0)]


def end_of(records):
    """The offset behind the last whole batch; None: there is none."""
    at, end = 0, None
    while at + 61 <= len(records):
        base, length = struct.unpack_from(">qi", records, at)
        if at + 12 + length > len(records):
            break
        end = base + struct.unpack_from(">i", records, at + 23)[0] + 1
        at += 12 + length
    return end


def connect(address, seconds=60):
    connection = socket.create_connection(address, timeout=seconds)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def ask(connection, frame):
    connection.sendall(frame)
    return receive_frame(connection)
