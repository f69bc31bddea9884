# SPDX-License-Identifier: Apache-2.0
"""What is asked, a file for each API. A case is a function that is given a Pair (pair.py)."""

CASES = []


def case(function):
    """Its name is that of its file and of the function: `fetch: sessions`."""
    stem = function.__module__.rpartition(".")[2]
    CASES.append(("%s: %s" % (stem, function.__name__.replace("_", " ")), function))
    return function
