# SPDX-License-Identifier: MIT
"""Keys that RedisBloom 1.0.3, 1.1.1, 2.0.1 and 2.8.20 have made in Redis 7.0, from
vectors/redisbloom.json. Each has its settings, its items, the absent items that RedisBloom found
in it, its DUMP, and the header and iterators of its SCANDUMP."""
import base64
import json
import os
import struct

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors")


def sloping(n, start, slope):
    return bytes((start + slope * i) & 255 for i in range(n))


TEXTS = ["", "a", "b", "ab", "abc", "abcd", "hello", "hello world",
         "The quick brown fox jumps over the lazy dog", "na\u00efve caf\u00e9",
         "\u65e5\u672c\u8a9e", "\U0001f600\U0001f603", "\u03a9\u2248\u00e7\u221a\u222b",
         "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440", "x" * 15, "x" * 16, "x" * 17,
         "y" * 31, "y" * 32, "y" * 33, "z" * 100]
# The items of a set and items that are absent.
SETS = {
    "basic": ([text.encode() for text in TEXTS], [b"absent-%d" % i for i in range(120)]),
    "k1000": ([b"key-%d" % i for i in range(1000)], [b"absent-%d" % i for i in range(200)]),
    "lens": ([sloping(n, 128 + 11 * n, 37) for n in range(65)],
             [sloping(n % 97 + 1, 99 + 7 * n, 53) for n in range(100)]),
}


# ---- the values of a DUMP ----

def expand(data, size):
    """Undo LZF compression."""
    out, at = bytearray(), 0
    while at < len(data):
        head = data[at]
        at += 1
        if head < 32:
            out += data[at:at + head + 1]
            at += head + 1
            continue
        length = head >> 5
        if length == 7:
            length += data[at]
            at += 1
        back = len(out) - ((head & 31) << 8 | data[at]) - 1
        at += 1
        for i in range(length + 2):
            out.append(out[back + i])
    assert len(out) == size
    return bytes(out)


class Values:
    """Read the values of a module from a DUMP."""

    def __init__(self, dump):
        self.data, self.at = dump, 10
        assert dump[:2] == b"\x07\x81"

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def length(self):
        """Return: a length, or -1 - the encoding of a string."""
        first = self.take(1)[0]
        if first >> 6 == 0:
            return first
        if first >> 6 == 1:
            return (first & 63) << 8 | self.take(1)[0]
        if first >> 6 == 3:
            return -1 - (first & 63)
        return int.from_bytes(self.take(8 if first & 1 else 4), "big")

    def string(self):
        n = self.length()
        if n >= 0:
            return self.take(n)
        if n == -4:
            packed, size = self.length(), self.length()
            return expand(self.take(packed), size)
        return b"%d" % int.from_bytes(self.take(1 << (-1 - n)), "little", signed=True)

    def all(self):
        out = []
        while True:
            kind = self.length()
            if kind == 0:
                return out
            out.append({2: self.length, 4: lambda: struct.unpack("<d", self.take(8))[0],
                        5: self.string}[kind]())


class Key:
    def __init__(self, name, made):
        items, self.absent = SETS[made["set"]]
        self.name, self.version, self.setup = name, made["redisbloom"], made["setup"]
        self.items = items[made["first"]:made["first"] + made["keys"]]
        self.deleted = items[:made["first"]] if self.items else []
        self.yes = {self.absent[i] for i in made["yes"]}
        self.dump, header = (base64.b64decode("".join(made[of])) for of in ("dump", "header"))
        self.kind = "CF" if "-cf-" in name else "BF"
        values = Values(self.dump).all()
        self.arrays = [value for value in values if isinstance(value, bytes)]
        if self.version != "2.8.20": # always, before RedisBloom 2.2
            self.expansion = 2 if self.kind == "BF" else 1
        elif self.kind == "BF":
            self.expansion = None if values[2] & 8 else values[3]
        else:
            self.expansion = values[6]
        self.chunks = list(zip(made["iterators"], [header, *self.arrays]))
        assert len(self.chunks) == len(self.arrays) + 1

    def __repr__(self):
        return self.name


with open(os.path.join(FOLDER, "redisbloom.json")) as vectors:
    KEYS = [Key(name, made) for name, made in json.load(vectors).items()]
