# SPDX-License-Identifier: Apache-2.0
"""Kafka's messages as Python values, for any version, from the tables in messages.txt.

A struct is a dict, an array a list, a uuid and bytes are bytes. What a request leaves out gets its default;
what its version does not have is left out. Of an answer every byte is looked at, and nothing is tolerated:
Malformed is raised for what Kafka's own encoder never writes.
"""

import os
import struct
import uuid

TABLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "messages.txt")
INTEGERS = {"int8": ">b", "int16": ">h", "int32": ">i", "int64": ">q"}
NO_UUID = bytes(16)


class Malformed(Exception):
    """An answer that is not what its table says."""


class Versions:
    def __init__(self, text):
        first, _, last = text.partition("-")
        self.first, self.last = int(first), int(last or first)

    def __contains__(self, version):
        return self.first <= version <= self.last

    def __iter__(self):
        return iter(range(self.first, self.last + 1))


class Field:
    """A row of a table. `fields` are those of its struct, if it is one."""

    def __init__(self, line):
        words = line.split()
        self.name, self.type = words[:2]
        self.versions = Versions(words[2])
        options = dict(word.split("=", 1) for word in words[3:])
        self.null = Versions(options["null"]) if "null" in options else None
        self.tag = int(options["tag"]) if "tag" in options else None
        self.is_array = self.type.startswith("[]")
        self.element = self.type[2:] if self.is_array else self.type
        self.fields = []
        self.default_text = options.get("default")

    def may_be_null(self, version):
        return self.null is not None and version in self.null

    def default(self, version):
        text = self.default_text
        if text == "null":
            return None
        if self.is_array:
            return []
        if self.type == "struct":
            return struct_with_defaults(self.fields, {}, version)
        if self.type in INTEGERS:
            return int(text or "0")
        return {"bool": text == "true", "string": text or "", "uuid": NO_UUID}.get(self.type, b"")


class Api:
    def __init__(self, line):
        _, key, self.name, versions, _, flexible = line.split()
        self.key = int(key)
        self.versions = Versions(versions)
        self.flexible = int(flexible)
        self.request, self.response = [], []

    def is_flexible(self, version):
        return version >= self.flexible


def read_tables(path=TABLES):
    """Every Api by its name."""
    apis, api = {}, None
    lists = {}  # the list that lines of an indentation belong to
    with open(path, encoding="ascii") as tables:
        for line in tables:
            indent = len(line) - len(line.lstrip())
            if not line.strip() or line.startswith("#"):
                continue
            if indent == 0:
                api = apis.setdefault(line.split()[2], Api(line))
            elif indent == 2:
                lists[4] = getattr(api, line.strip())
            else:
                field = Field(line)
                lists[indent].append(field)
                lists[indent + 2] = field.fields
    return apis


def struct_with_defaults(fields, value, version):
    """`value` with the fields of the version, and nothing else. A name that no version has is a mistake."""
    unknown = set(value) - {field.name for field in fields}
    if unknown:
        raise KeyError("no such field: %s" % ", ".join(sorted(unknown)))
    return {field.name: value.get(field.name, field.default(version))
            for field in fields if version in field.versions}


class Encoder:
    def __init__(self, version, flexible):
        self.version, self.flexible, self.out = version, flexible, bytearray()

    def varint(self, number):
        while number >= 0x80:
            self.out.append(number & 0x7F | 0x80)
            number >>= 7
        self.out.append(number)

    def length(self, length, short):
        """Of None, too. `short`: an int16 where the version is not flexible."""
        if self.flexible:
            self.varint(0 if length is None else length + 1)
        else:
            self.out += struct.pack(">h" if short else ">i", -1 if length is None else length)

    def struct(self, fields, value):
        value = struct_with_defaults(fields, value, self.version)
        tagged = []
        for field in fields:
            if field.name not in value:
                continue
            if field.tag is None:
                self.field(field, value[field.name])
            elif value[field.name] != field.default(self.version):
                tagged.append(field)
        if not self.flexible:
            return
        self.varint(len(tagged))
        for field in sorted(tagged, key=lambda field: field.tag):
            inside = Encoder(self.version, True)
            inside.field(field, value[field.name])
            self.varint(field.tag)
            self.varint(len(inside.out))
            self.out += inside.out

    def field(self, field, value):
        if field.is_array:
            self.length(None if value is None else len(value), short=False)
            for item in value or []:
                self.value(field, field.element, item)
        else:
            self.value(field, field.type, value)

    def value(self, field, kind, value):
        if kind == "struct":
            if field.null is not None and not field.is_array:
                self.out += b"\xff" if value is None else b"\x01"
            if value is not None:
                self.struct(field.fields, value)
        elif kind in INTEGERS:
            self.out += struct.pack(INTEGERS[kind], value)
        elif kind == "bool":
            self.out.append(1 if value else 0)
        elif kind == "uuid":
            self.out += value
        else:
            data = value.encode() if isinstance(value, str) else value
            self.length(None if data is None else len(data), short=kind == "string")
            self.out += data or b""


class Decoder:
    def __init__(self, data, version, flexible):
        self.data, self.at, self.version, self.flexible = data, 0, version, flexible

    def take(self, length):
        if length < 0 or self.at + length > len(self.data):
            raise Malformed("%d bytes wanted at %d of %d" % (length, self.at, len(self.data)))
        self.at += length
        return self.data[self.at - length:self.at]

    def integer(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def varint(self):
        number = shift = 0
        while True:
            (byte,) = self.take(1)
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7
            if shift > 28:
                raise Malformed("a varint of more than five bytes")

    def length(self, field, short):
        if self.flexible:
            length = self.varint() - 1
        else:
            length = self.integer(">h" if short else ">i")
        if length < -1 or (length == -1 and not field.may_be_null(self.version)):
            raise Malformed("%s: length %d" % (field.name, length))
        return None if length == -1 else length

    def struct(self, fields):
        value = {}
        for field in fields:
            if self.version in field.versions:
                value[field.name] = field.default(self.version) if field.tag is not None else self.field(field)
        if self.flexible:
            self.tags(fields, value)
        return value

    def tags(self, fields, value):
        known = {field.tag: field for field in fields if field.tag is not None and self.version in field.versions}
        last = -1
        for _ in range(self.varint()):
            tag = self.varint()
            end = self.varint()
            end += self.at
            if tag <= last or tag not in known:
                raise Malformed("tag %d after %d" % (tag, last))
            value[known[tag].name] = self.field(known[tag])
            if self.at != end:
                raise Malformed("tag %d: its size is wrong" % tag)
            last = tag

    def field(self, field):
        if not field.is_array:
            return self.value(field, field.type)
        count = self.length(field, short=False)
        if count is None:
            return None
        if count > len(self.data) - self.at:
            raise Malformed("%s: %d elements" % (field.name, count))
        return [self.value(field, field.element) for _ in range(count)]

    def value(self, field, kind):
        if kind == "struct":
            if field.null is not None and not field.is_array:
                mark = self.integer(">b")
                if mark == -1:
                    return None
                if mark != 1:
                    raise Malformed("%s: mark %d" % (field.name, mark))
            return self.struct(field.fields)
        if kind in INTEGERS:
            return self.integer(INTEGERS[kind])
        if kind == "bool":
            (byte,) = self.take(1)
            if byte > 1:
                raise Malformed("%s: bool %d" % (field.name, byte))
            return byte == 1
        if kind == "uuid":
            return self.take(16)
        length = self.length(field, short=kind == "string")
        if length is None:
            return None
        data = self.take(length)
        return data.decode() if kind == "string" else data


def encode_request(api, version, correlation_id, body, client_id="differential"):
    """A frame without its length. A version that the tables do not have is written as the nearest one."""
    flexible = api.is_flexible(version)
    client = client_id.encode()
    header = struct.pack(">hhih", api.key, version, correlation_id, len(client)) + client
    encoder = Encoder(min(max(version, api.versions.first), api.versions.last), flexible)
    encoder.struct(api.request, body)
    return header + (b"\0" if flexible else b"") + bytes(encoder.out)


def decode_response(api, version, correlation_id, frame):
    """The body. Every byte must belong to it, and be the one that Kafka would write."""
    flexible = api.is_flexible(version)
    decoder = Decoder(frame, version, flexible)
    got = decoder.integer(">i")
    if got != correlation_id:
        raise Malformed("correlation id %d instead of %d" % (got, correlation_id))
    if flexible and api.name != "ApiVersions" and decoder.take(1) != b"\0":
        raise Malformed("tags in the header")
    start = decoder.at
    body = decoder.struct(api.response)
    if decoder.at != len(frame):
        raise Malformed("%d bytes are left" % (len(frame) - decoder.at))
    again = Encoder(version, flexible)
    again.struct(api.response, body)
    if bytes(again.out) != frame[start:]:
        raise Malformed("the same could be said in %d bytes, in %d it was" % (len(again.out), len(frame) - start))
    return body


def uuid_text(data):
    return str(uuid.UUID(bytes=bytes(data)))
