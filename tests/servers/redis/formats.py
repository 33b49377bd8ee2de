# SPDX-License-Identifier: MIT
"""The formats of weir-redis.so and RedisBloom, as tests read and write them: values of DUMP, and
the headers of SCANDUMP."""
import ctypes
import math
import struct

# ---- checksums ----

def two_byte_table():
    one = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x95AC9329AC4BC9B5 if n & 1 else 0)
        one.append(n)
    return [one[(n >> 8 ^ one[n & 255]) & 255] ^ one[n & 255] >> 8 for n in range(65536)], one


TWO, ONE = two_byte_table()


def crc64(data):
    """Return the checksum at the end of a DUMP payload."""
    crc, even = 0, len(data) & ~1
    for pair in struct.unpack("<%dH" % (even // 2), data[:even]):
        crc = TWO[(crc ^ pair) & 65535] ^ crc >> 16
    for byte in data[even:]:
        crc = ONE[(crc ^ byte) & 255] ^ crc >> 8
    return crc.to_bytes(8, "little")


hash64 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits_withSeed
hash64.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
hash64.restype = ctypes.c_uint64


def xxh3(data, seed=0):
    return hash64(bytes(data), len(data), seed)


# ---- values of DUMP ----

EOF, SIGNED, UNSIGNED, FLOAT, DOUBLE, STRING = range(6)
ENCODING = 64 # of weir-redis.so's values; RedisBloom's are 1 to 4


def put_length(n):
    n &= (1 << 64) - 1
    return (bytes([n]) if n < 64 else struct.pack(">H", 0x4000 | n) if n < 1 << 14
            else b"\x80" + struct.pack(">I", n) if n < 1 << 32 else b"\x81" + struct.pack(">Q", n))


def get_length(data, at):
    first = data[at]
    if first < 0x80:
        return ((first, at + 1) if first < 0x40
                else (struct.unpack_from(">H", data, at)[0] & 0x3FFF, at + 2))
    form = {0x80: ">I", 0x81: ">Q"}[first] # strings are not compressed: rdbcompression no
    return struct.unpack_from(form, data, at + 1)[0], at + 1 + struct.calcsize(form)


class Value:
    """The fields of a DUMP payload. @module: the name and the encoding of its type."""

    def __init__(self, module, version, fields):
        self.module, self.version, self.fields = module, version, fields

    @classmethod
    def of(cls, payload):
        assert payload[0] == 7 and payload[-8:] == crc64(payload[:-8])
        module, at = get_length(payload, 1)
        fields = []
        while True:
            code, at = get_length(payload, at)
            if code == EOF:
                break
            if code == DOUBLE:
                value, at = struct.unpack_from("<d", payload, at)[0], at + 8
            else:
                value, at = get_length(payload, at)
            if code == STRING:
                value, at = payload[at:at + value], at + value
            fields.append((code, value))
        assert at == len(payload) - 10
        return cls(module, payload[-10:-8], fields)

    @property
    def encoding(self):
        return self.module & 1023

    def recoded(self, encoding, numbers):
        """Return: a value of another encoding. @numbers: a list of its fields."""
        codes = {bytes: STRING, float: DOUBLE, int: UNSIGNED}
        return Value(self.module & ~1023 | encoding, self.version,
                     [(codes[type(number)], number) for number in numbers])

    def payload(self):
        data = b"\x07" + put_length(self.module)
        for code, value in self.fields:
            data += put_length(code)
            if code in (FLOAT, DOUBLE):
                data += struct.pack("<d" if code == DOUBLE else "<f", value)
            else:
                data += put_length(len(value)) + value if code == STRING else put_length(value)
        data += put_length(EOF) + self.version
        return data + crc64(data)


# ---- RedisBloom's format ----

RAW_BF, RAW_LINK, RAW_CF = map(struct.Struct, ("<QIII", "<QQQddIQB", "<QQQQHHH"))


def raw_link(capacity, error, count=0, items=0):
    """Return: the fields of a link as RedisBloom makes it, or one of @count bytes."""
    each = -math.log(error) / 0.480453013918201
    count = count or (int(capacity * each) + 63) // 64 * 8
    count, bits = count & (1 << 64) - 1, 8 * count & (1 << 64) - 1
    return count, bits, items, error, each, math.ceil(0.693147180559945 * each), capacity, 0


def raw_bf(*links, options=5, growth=2):
    return RAW_BF.pack(sum(link[2] for link in links), len(links), options, growth) + b"".join(
        RAW_LINK.pack(*link) for link in links)


def old_values(payload, header, arrays):
    """Return: payloads of RedisBloom's encodings for a key, of which @payload is a DUMP. @header:
    from its SCANDUMP, in RedisBloom's format; @arrays: the bytes of its arrays."""
    value, made = Value.of(payload), []
    if len(header) == RAW_CF.size:
        items, buckets, deleted, subs, bucket, iterations, expansion = RAW_CF.unpack(header)
        fields = [subs, buckets, items, deleted, bucket, iterations, expansion]
        for j, array in enumerate(arrays):
            fields += [buckets * expansion ** j, array]
        made.append(value.recoded(4, fields))
        made.append(value.recoded(3, [len(arrays), buckets, items, *arrays]))
    else:
        items, links, options, growth = RAW_BF.unpack_from(header)
        fields = []
        for i, array in enumerate(arrays):
            _, bits, taken, error, each, probes, capacity, n2 = RAW_LINK.unpack_from(
                header, RAW_BF.size + i * RAW_LINK.size)
            fields += [capacity, error, probes, each, bits, n2, array, taken]
        made.append(value.recoded(4, [items, links, options, growth, *fields]))
        made.append(value.recoded(3, [items, links, options, *fields]))
        made.append(value.recoded(1, [items, links, *fields]))
    return [each.payload() for each in made]


# ---- weir's format ----

def own_header(magic, *fields):
    header = magic + struct.pack("<%dQ" % len(fields), *fields)
    return header + struct.pack("<Q", xxh3(header))


def own_bf(links, error=0.01, capacity=100, seed=7, expansion=2):
    """Return: the header of a key in weir's format. @links: capacity, bytes, items, and packed
    probes, words for each key and bits for each word."""
    return own_header(b"\x02WEIRBF2", *struct.unpack("<Q", struct.pack("<d", error)), capacity,
                      seed, expansion, len(links), *sum(links, ()))


def own_cf(buckets, bucket, expansion, subs, iterations=20):
    return own_header(b"\x02WEIRCF2", buckets, 7,
                      bucket | iterations << 16 | expansion << 32 | subs << 48, 0, 0, 0)


MARK = (1 << 29) - 1
BF_NAMED, CF_NAMED = 40, 48 # bytes of a header, in weir's format, that name the key


def is_raw(header):
    return header[:5] != b"\x02WEIR"


def is_cuckoo(header):
    return header[:8] == b"\x02WEIRCF2"


def name_of(header):
    return struct.pack("<Q", xxh3(header[:CF_NAMED if is_cuckoo(header) else BF_NAMED]))
