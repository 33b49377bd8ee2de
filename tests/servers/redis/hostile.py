# SPDX-License-Identifier: MIT
"""Make damaged values of weir-redis.so whose checksums are right. DUMP gives a list of fields that
contains the images of the links, and SCANDUMP gives chunks. An enemy who knows the formats can send
them to RESTORE and LOADCHUNK."""
import ctypes
import struct


def number(dice):
    """Choose a number of at most 64 bits that careless code might handle wrongly."""
    return dice.choice((0, 1, 2, 100, 32768, 1 << 30, (1 << 30) + 1, 1 << 47, 1 << 63,
                        (1 << 64) - 1, dice.getrandbits(64), dice.getrandbits(10)))


def rate(dice):
    return dice.choice((0.0, -0.0, 1.0, 0.25, 0.5, 0.01, 1e-9, 1e-300, 5e-324, -1.0, 1e308,
                        float("inf"), float("nan"), dice.random()))


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


# ---- images ----

TABLE, HEADER_SUM, TABLE_SUM, COMMIT, BITS = 512, 488, 496, 504, 4096
# Offset and format of each field in an image's header; tests/image_bytes.h has them for C.
FIELDS = ((8, "I"), (12, "I"), (16, "I"), (20, "I"), (24, "Q"), (32, "Q"), (40, "d"), (48, "I"),
          (52, "I"), (56, "Q"), (64, "Q"), (72, "I"), (76, "I"), (80, "Q"), (88, "Q"), (96, "Q"),
          (104, "I"), (108, "I"), (112, "I"), (116, "I"), (120, "I"), (136, "I"), (140, "I"))


def repair_image(image):
    """Set the checksums of an image of one plain shard, as far as the bytes reach."""
    if len(image) < TABLE + 8:
        return
    at, = struct.unpack_from("<Q", image, 88)
    bits = 64 * min(struct.unpack_from("<Q", image, 24)[0], len(image))
    if at < len(image):
        struct.pack_into("<Q", image, TABLE, xxh3(image[at:at + bits]))
    shards, = struct.unpack_from("<I", image, 52)
    struct.pack_into("<Q", image, TABLE_SUM, xxh3(image[TABLE:TABLE + 8 * min(shards, 8000)]))
    struct.pack_into("<Q", image, HEADER_SUM, xxh3(image[:HEADER_SUM]))
    struct.pack_into("<Q", image, COMMIT, xxh3(image[HEADER_SUM:COMMIT]))


def resize_image(dice, image):
    """Change the number of blocks, and the size and offsets that depend on the number."""
    blocks = dice.choice((1, 2, 3, 4, 5, 8, 16, dice.randrange(1, 200)))
    del image[BITS + 64 * blocks:]
    image += bytes(BITS + 64 * blocks - len(image))
    struct.pack_into("<Q", image, 24, blocks)
    struct.pack_into("<2Q", image, 88, BITS, len(image))


def mutate_image(dice, image):
    image = bytearray(image)
    what = dice.randrange(8)
    if what < 3 and len(image) > TABLE:
        at, form = dice.choice(FIELDS)
        value = rate(dice) if form == "d" else number(dice)
        struct.pack_into("<" + form, image, at, value & 0xFFFFFFFF if form == "I" else value)
    elif what == 3 and len(image) > BITS:
        resize_image(dice, image)
    elif what < 6 and len(image) > BITS:
        image[BITS:] = mutate_bits(dice, image[BITS:])
    elif image:
        damage(dice, image)
    if dice.random() < 0.95:
        repair_image(image)
    return bytes(image)


def mutate_bits(dice, bits):
    """Return damaged bits of the same length."""
    what = dice.randrange(4)
    if what == 0:
        return dice.randbytes(len(bits))
    if what == 1:
        return bytes([dice.randrange(256)]) * len(bits)
    bits = bytearray(bits)
    for _ in range(dice.randint(1, 8)):
        bits[dice.randrange(len(bits))] = dice.randrange(256)
    return bytes(bits)


def damage(dice, data):
    """Change bytes, cut off the end, append bytes, or copy one range over another."""
    what, n = dice.randrange(4), len(data)
    if what == 0:
        for _ in range(dice.randint(1, 3)):
            data[dice.randrange(n)] = dice.randrange(256)
    elif what == 1:
        del data[dice.randrange(n):]
    elif what == 2:
        data += dice.randbytes(dice.randrange(1, 5000))
    else:
        a, b = sorted(dice.randrange(n) for _ in range(2))
        at = dice.randrange(n)
        data[at:at + b - a] = data[a:b]


# ---- values of DUMP ----

EOF, SIGNED, UNSIGNED, FLOAT, DOUBLE, STRING = range(6)


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
    """The fields of a DUMP payload."""

    def __init__(self, payload):
        assert payload[0] == 7 and payload[-8:] == crc64(payload[:-8])
        self.version = payload[-10:-8]
        self.module, at = get_length(payload, 1)
        self.fields = []
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
            self.fields.append((code, value))
        assert at == len(payload) - 10

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


def count_items(value):
    """Set the item count of each cuckoo link to the number of items that its bits contain."""
    fields = value.fields
    for i, (code, image) in enumerate(fields):
        if code == STRING and len(image) > BITS and i:
            whole = len(image) - len(image) % 2
            places = memoryview(image[BITS:whole]).cast("H")
            fields[i - 1] = (UNSIGNED, len(places) - places.tolist().count(0))


def mutate_field(dice, fields):
    i = dice.randrange(len(fields))
    code, value = fields[i]
    what = dice.randrange(20)
    if what == 0:
        fields[i] = (dice.choice((SIGNED, UNSIGNED)), number(dice))
    elif what == 1:
        fields[i] = (dice.choice((FLOAT, DOUBLE)), dice.choice((0.0, 0.25, -1.0)))
    elif what == 2:
        del fields[i]
    elif what == 3:
        fields.insert(i, fields[dice.randrange(len(fields))])
    elif code == STRING:
        fields[i] = (code, mutate_image(dice, value))
    else:
        fields[i] = (code, rate(dice) if code == DOUBLE else number(dice))


def splice(dice, fields, other):
    """Replace the last links by links of another value, and mostly set the number of links."""
    links = [i for i, (code, _) in enumerate(fields) if code == STRING]
    theirs = [i for i, (code, _) in enumerate(other) if code == STRING]
    at, taken = dice.choice(links), other[dice.choice(theirs) - 1:]
    fields[at - 1:] = taken
    if dice.random() < 0.7:
        there = sum(code == STRING for code, _ in fields)
        first = next(i for i, (code, _) in enumerate(fields) if code == STRING)
        fields[first - 2] = (UNSIGNED, there)


def hostile_value(dice, payloads, cuckoo):
    """Make a payload for RESTORE from one or two payloads."""
    value, other = (Value(p) for p in dice.choices(payloads, k=2))
    if dice.random() < 0.1:
        splice(dice, value.fields, other.fields)
    for _ in range(dice.randint(1, 2)):
        # Images are most of what RESTORE reads, so images get half of the damage.
        images = [f for f, (code, _) in enumerate(value.fields) if code == STRING]
        if images and dice.random() < 0.5:
            i = dice.choice(images)
            value.fields[i] = (STRING, mutate_image(dice, value.fields[i][1]))
        elif value.fields:
            mutate_field(dice, value.fields)
    if cuckoo and dice.random() < 0.8:
        count_items(value)
    if dice.random() < 0.02:
        value.module += dice.choice((1, 2, -1, 1 << 40))
    payload = value.payload()
    if dice.random() < 0.1:
        raw = bytearray(payload[1:-10]) # else it may become a value of Redis's own
        damage(dice, raw)
        payload = payload[:1] + raw + value.version
        payload += crc64(payload)
    return payload


# ---- pieces of SCANDUMP ----

MARK = (1 << 29) - 1


def name_of(header):
    return header[-8:]


def hostile_header(dice, header):
    fields = list(struct.unpack("<%dQ" % (len(header) // 8), header))[:-1]
    for _ in range(dice.randint(1, 2)):
        i = dice.randrange(1, len(fields))
        fields[i] = number(dice)
        if len(header) == 48 and i == 1: # BF: an error rate
            fields[i], = struct.unpack("<Q", struct.pack("<d", rate(dice)))
    data = bytearray(struct.pack("<%dQ" % len(fields), *fields))
    if dice.random() < 0.05:
        damage(dice, data)
    return bytes(data) + struct.pack("<Q", xxh3(data))


def hostile_chunk(dice, header, chunks):
    """@header: of the key to load into; @chunks: pairs of iterator and data, of any key."""
    cuckoo = len(header) == 72
    at, data = dice.choice(chunks)
    _, offset, items, _ = struct.unpack("<4Q", data[:32])
    bits = bytearray(data[32:])
    what = dice.randrange(6)
    if what == 0:
        offset = number(dice)
    elif what == 1:
        items = number(dice)
    elif what == 2:
        damage(dice, bits)
    elif what == 3:
        bits[:] = mutate_bits(dice, bits)
    if dice.random() < 0.1:
        at = number(dice)
    elif cuckoo:
        at = (int.from_bytes(name_of(header), "little") & MARK) << 23 | dice.randrange(1, 9)
    else:
        at = offset + len(bits) + 1
    first = name_of(header) + struct.pack("<2Q", offset, items)
    return at & (1 << 63) - 1, first + struct.pack("<Q", xxh3(bits, xxh3(first))) + bytes(bits)
