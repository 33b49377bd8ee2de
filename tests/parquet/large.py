#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write a Parquet file without data pages: one INT32 column, c, with an empty filter of BYTES bytes
in each row group.

usage: large.py FILE GROUPS BYTES"""

import struct
import sys

I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12  # Thrift's compact protocol


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def record(*fields):
    """Encode fields (id, type, value) in the order of their ids; a list is (type, elements)."""
    out, last = b"", 0
    for number, kind, value in fields:
        out += bytes([number - last << 4 | kind])
        last = number
        if kind in (I32, I64):
            out += varint(2 * value)
        elif kind == BINARY:
            out += varint(len(value)) + value
        elif kind == LIST:
            of, elements = value
            assert len(elements) < 15
            out += bytes([len(elements) << 4 | of]) + b"".join(elements)
        else:
            out += value
    return out + b"\0"


def main():
    name, groups, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    union = record((1, STRUCT, b"\0"))
    head = record((1, I32, size), (2, STRUCT, union), (3, STRUCT, union), (4, STRUCT, union))
    schema = [record((4, BINARY, b"root"), (5, I32, 1)),
              record((1, I32, 1), (3, I32, 0), (4, BINARY, b"c"))]
    rows = []
    for i in range(groups):
        chunk = record((1, I32, 1), (2, LIST, (I32, [])), (3, LIST, (BINARY, [varint(1) + b"c"])),
                       (4, I32, 0), (5, I64, 1), (6, I64, 0), (7, I64, 0), (9, I64, 4),
                       (14, I64, 4 + i * (len(head) + size)), (15, I32, len(head) + size))
        column = record((2, I64, 4), (3, STRUCT, chunk))
        rows.append(record((1, LIST, (STRUCT, [column])), (2, I64, 0), (3, I64, 1)))
    footer = record((1, I32, 1), (2, LIST, (STRUCT, schema)), (3, I64, groups),
                    (4, LIST, (STRUCT, rows)))
    with open(name, "wb") as f:
        f.write(b"PAR1")
        for _ in range(groups):
            f.write(head)
            f.seek(size, 1)
        f.write(footer + struct.pack("<I", len(footer)) + b"PAR1")


main()
