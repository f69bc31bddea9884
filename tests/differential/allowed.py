# SPDX-License-Identifier: Apache-2.0
"""The differences that are meant, read from allowed.txt."""

import fnmatch
import json
import os
import re

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "allowed.txt")


def read_values(text):
    """None for any; otherwise a list."""
    return None if text == "*" else [json.loads(one) for one in text.split("|")]


def fits(pattern, text):
    """As a file's name does, but that a bracket is a bracket."""
    return fnmatch.fnmatchcase(text.replace("[", "<"), pattern.replace("[", "<"))


def is_one(value, wanted):
    if wanted is None:
        return True
    shown = value if isinstance(value, (int, str, bool, type(None))) else repr(value)
    return any(fits(one, shown) if isinstance(one, str) and isinstance(shown, str)
               else shown == one and isinstance(shown, bool) == isinstance(one, bool) for one in wanted)


class Allowed:
    """A line of the table: the row of docs/compatibility.md that it belongs to, where, and what."""

    def __init__(self, row, places, line):
        self.row, self.places, self.line = row, places, line
        api, fields, kafka, sluice = re.split(r" {2,}", line)
        self.fields = fields.split("|")
        self.apis = api.split("|")
        self.kafka, self.sluice = read_values(kafka), read_values(sluice)
        self.seen = 0

    def permits(self, place, api, difference):
        return (any(fnmatch.fnmatchcase(api, one) for one in self.apis)
                and any(fnmatch.fnmatchcase(place, one) for one in self.places)
                and any(fits(one, difference.keyed if "[" in one else difference.field) for one in self.fields)
                and is_one(difference.kafka, self.kafka) and is_one(difference.sluice, self.sluice))


def read_table(path=TABLE):
    table, row, places = [], None, ["*"]
    with open(path, encoding="utf-8") as lines:
        for line in map(str.strip, lines):
            if line.startswith("== "):
                row, places = line[3:], []
            elif line.startswith("in "):
                places = [] if table and table[-1].places is places else places
                places.append(line[3:])
            elif line and not line.startswith("#"):
                places = places or ["*"]
                table.append(Allowed(row, places, line))
    return table


class Table:
    def __init__(self):
        self.lines = read_table()

    def find(self, place, api, difference):
        return next((line for line in self.lines if line.permits(place, api, difference)), None)

    def unexpected(self, place, api, found):
        return [difference for difference in found if self.find(place, api, difference) is None]

    def count(self, place, api, found):
        """Notes what a request's differences are allowed by."""
        for difference in found:
            line = self.find(place, api, difference)
            if line is not None:
                line.seen += 1
