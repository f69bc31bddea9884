# SPDX-License-Identifier: Apache-2.0
"""Record batches (magic 2): built as a producer would, spoiled on request, and taken apart for comparing."""

import gzip
import struct

import compression
from compression import GZIP, LZ4, SNAPPY, ZSTD

HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_FIELDS = ("baseOffset", "length", "leaderEpoch", "magic", "crc", "attributes", "lastOffsetDelta",
                 "baseTimestamp", "maxTimestamp", "producerId", "producerEpoch", "baseSequence", "count")
CRC_STARTS = 21
LOG_APPEND_TIME, TRANSACTIONAL, CONTROL = 0x08, 0x10, 0x20
NOON = 1_700_000_000_000  # the time of records that do not say another


def _crc32c_table():
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        table.append(number)
    return table


_TABLE = _crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def zigzag(number):
    """A signed varint, of any size."""
    number = number << 1 ^ number >> 63
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def sized(data):
    return zigzag(-1) if data is None else zigzag(len(data)) + data


def record(offset_delta=0, timestamp_delta=0, key=None, value=b"v", headers=(), attributes=0):
    body = struct.pack("b", attributes) + zigzag(timestamp_delta) + zigzag(offset_delta) + sized(key) + sized(value)
    body += zigzag(len(headers)) + b"".join(sized(name) + sized(content) for name, content in headers)
    return zigzag(len(body)) + body


def batch(records=None, count=1, **header):
    """A batch with a right CRC. `records`: their bytes, or None for `count` small ones; one, if that is not given. A
    header field that is given is written as it is, right or wrong."""
    if records is None:
        records = b"".join(record(delta) for delta in range(count))
    values = {"baseOffset": 0, "leaderEpoch": -1, "magic": 2, "attributes": 0, "lastOffsetDelta": count - 1,
              "baseTimestamp": NOON, "maxTimestamp": NOON, "producerId": -1, "producerEpoch": -1,
              "baseSequence": -1, "count": count, "length": HEADER.size - 12 + len(records), "crc": 0}
    values.update(header)
    data = bytearray(HEADER.pack(*(values[name] for name in HEADER_FIELDS)) + records)
    if "crc" not in header:
        repair(data)
    return bytes(data)


def repair(data):
    """Writes the CRC that the bytes should have."""
    struct.pack_into(">I", data, CRC_STARTS - 4, crc32c(data[CRC_STARTS:]))


def idempotent(producer_id, epoch, sequence, count=1, **header):
    return batch(count=count, producerId=producer_id, producerEpoch=epoch, baseSequence=sequence, **header)


def compressed(codec_attributes, payload, count, **header):
    return batch(records=payload, count=count, attributes=codec_attributes, **header)


def gzipped(count=3, **header):
    return compressed(GZIP, gzip.compress(b"".join(record(delta) for delta in range(count)), mtime=0), count, **header)


def zstd_stored(data):
    """A zstd frame that holds them as they are."""
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(data)]) + (len(data) << 3 | 1).to_bytes(3, "little") + data


def take_apart(data):
    """Records of an answer as a list of dicts, one for each batch. A piece of a batch at the end is b"..."."""
    batches, at = [], 0
    while at < len(data):
        left = len(data) - at
        if left < HEADER.size:
            return batches + [{"piece of a batch": "at the end"}]
        fields = dict(zip(HEADER_FIELDS, HEADER.unpack_from(data, at)))
        end = at + 12 + fields["length"]
        if end > len(data):
            return batches + [{"piece of a batch": "at the end"}]
        crc = fields.pop("crc")
        fields["crcIsRight"] = crc == crc32c(data[at + CRC_STARTS:end])
        payload = data[at + HEADER.size:end]
        plain = compression.decompressed(fields["attributes"] & 7, payload)
        if plain is not None:
            payload, fields["behind"] = plain[0], plain[1].hex()
            del fields["length"]
        fields["records"] = payload.hex()
        batches.append(fields)
        at = end
    return batches
