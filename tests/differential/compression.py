# SPDX-License-Identifier: Apache-2.0
"""What compressed records hold. Two libraries need not compress alike: it is the records that are compared."""

import ctypes
import ctypes.util
import zlib

GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
LARGEST = 1 << 24  # more than any record here


def unzipped(payload):
    stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        return stream.decompress(payload) + stream.flush(), stream.unused_data
    except zlib.error:
        return None


def library(name):
    path = ctypes.util.find_library(name)
    if path is None:
        raise RuntimeError("lib%s is missing; scripts/build installs it" % name)
    return ctypes.CDLL(path)


def un_lz4ed(payload):
    """Frames, one after the other, as long as there are whole ones."""
    lz4 = library("lz4")
    context = ctypes.c_void_p()
    lz4.LZ4F_isError.argtypes = [ctypes.c_size_t]
    lz4.LZ4F_decompress.restype = ctypes.c_size_t
    lz4.LZ4F_createDecompressionContext(ctypes.byref(context), 100)
    out, at = bytearray(), 0
    room = ctypes.create_string_buffer(1 << 16)
    try:
        while at < len(payload):
            had, got = ctypes.c_size_t(len(payload) - at), ctypes.c_size_t(len(room))
            hint = lz4.LZ4F_decompress(context, room, ctypes.byref(got), payload[at:], ctypes.byref(had), None)
            if lz4.LZ4F_isError(hint) or len(out) > LARGEST or had.value + got.value == 0:
                return None
            out += room.raw[:got.value]
            at += had.value
        return bytes(out), b""
    finally:
        lz4.LZ4F_freeDecompressionContext(context)


def un_zstded(payload):
    zstd = library("zstd")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_isError.argtypes = [ctypes.c_size_t]
    room = ctypes.create_string_buffer(1 << 20)
    length = zstd.ZSTD_decompress(room, ctypes.c_size_t(len(room)), payload, ctypes.c_size_t(len(payload)))
    return None if zstd.ZSTD_isError(length) else (room.raw[:length], b"")


def decompressed(codec, payload):
    """The records and the bytes behind the compressed ones; None if they are broken, or of no codec."""
    # Snappy's blocks come out of both brokers alike.
    known = {GZIP: unzipped, LZ4: un_lz4ed, ZSTD: un_zstded}
    return known[codec](payload) if codec in known else None
