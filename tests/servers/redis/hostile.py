# SPDX-License-Identifier: MIT
"""Make damaged values of weir-redis.so and RedisBloom whose checksums are right. DUMP gives a list
of fields that contains the arrays of a key, and SCANDUMP gives chunks. An enemy who knows the
formats can send them to RESTORE and LOADCHUNK."""
import struct

from formats import (DOUBLE, ENCODING, FLOAT, MARK, RAW_BF, RAW_CF, RAW_LINK, SIGNED, STRING,
                     UNSIGNED, Value, crc64, is_cuckoo, is_raw, name_of, xxh3)


def number(dice):
    """Choose a number of at most 64 bits that careless code might handle wrongly."""
    return dice.choice((0, 1, 2, 100, 32768, 1 << 30, (1 << 30) + 1, 1 << 47, 1 << 63,
                        (1 << 64) - 1, dice.getrandbits(64), dice.getrandbits(10)))


def rate(dice):
    return dice.choice((0.0, -0.0, 1.0, 0.25, 0.5, 0.01, 1e-9, 1e-300, 5e-324, -1.0, 1e308,
                        float("inf"), float("nan"), dice.random()))


# ---- images of sets, for enemy.py ----

TABLE, HEADER_SUM, TABLE_SUM, COMMIT = 512, 488, 496, 504
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


# ---- bytes ----

def mutate_bits(dice, bits):
    """Return damaged bits of the same length."""
    what = dice.randrange(4)
    if what == 0:
        return dice.randbytes(len(bits))
    if what == 1 or not bits:
        return bytes([dice.randrange(256)]) * len(bits)
    bits = bytearray(bits)
    for _ in range(dice.randint(1, 8)):
        bits[dice.randrange(len(bits))] = dice.randrange(256)
    return bytes(bits)


def damage(dice, data):
    """Change bytes, cut off the end, append bytes, or copy one range over another."""
    what, n = dice.randrange(4), len(data)
    if not n:
        return
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


# ---- damaged values ----

def strings(fields):
    return [i for i, (code, _) in enumerate(fields) if code == STRING]


def change_part(dice, n):
    """Change 16 bits of a number that consists of several numbers."""
    at = dice.choice((0, 8, 16, 32, 48))
    part = dice.choice((0, 1, 2, 3, 4, 5, 8, 20, 32, 64, 65, 255, 256, 65535, dice.getrandbits(16)))
    return n & ~(65535 << at) & (1 << 64) - 1 | (part & 65535) << at & (1 << 64) - 1


def resize(dice, fields):
    """Change the length of an array, and sometimes the number before it that tells the length."""
    i = dice.choice(strings(fields))
    old = fields[i][1]
    size = dice.choice((0, 1, 7, 8, 16, 56, 64, 128, 4096, 4104, 4160, 2 * len(old), len(old) // 2,
                        len(old) + dice.choice((-64, -8, -1, 1, 8, 64))))
    fields[i] = (STRING, (old + dice.randbytes(5000))[:max(size, 0)])
    if dice.random() < 0.5:
        numbers = [k for k in range(i) if fields[k][0] == UNSIGNED and fields[k][1] in (
            8 * len(old), len(old), len(old) // 2)]
        for k in numbers:
            fields[k] = (UNSIGNED, fields[k][1] * len(fields[i][1]) // (len(old) or 1))


def mutate_field(dice, fields):
    i = dice.randrange(len(fields))
    code, value = fields[i]
    what = dice.randrange(25)
    if what == 0:
        fields[i] = (dice.choice((SIGNED, UNSIGNED)), number(dice))
    elif what == 1:
        fields[i] = (dice.choice((FLOAT, DOUBLE)), dice.choice((0.0, 0.25, -1.0)))
    elif what == 2:
        del fields[i]
    elif what == 3:
        fields.insert(i, fields[dice.randrange(len(fields))])
    elif code == STRING:
        fields[i] = (code, mutate_bits(dice, value))
    elif code == DOUBLE:
        fields[i] = (code, rate(dice))
    elif value > 65535 and dice.random() < 0.7:
        fields[i] = (code, change_part(dice, value))
    else:
        fields[i] = (code, number(dice))


def splice(dice, fields, other):
    """Replace the last arrays, with their numbers, by those of another value."""
    at, taken = dice.choice(strings(fields)), dice.choice(strings(other))
    before = dice.randrange(8)
    fields[max(at - before, 0):] = other[max(taken - before, 0):]


def repair(value):
    """Set the number of arrays, as RedisBloom and weir-redis.so have it."""
    fields, arrays = value.fields, len(strings(value.fields))
    bf = any(code == DOUBLE for code, _ in fields)
    if value.encoding == ENCODING and fields and fields[0][0] == UNSIGNED:
        shift = 16 if bf else 48
        n = fields[0][1] & ~(65535 << shift) | arrays << shift
        fields[0] = (UNSIGNED, n)
    elif value.encoding != ENCODING and len(fields) > 1:
        fields[bf] = (UNSIGNED, arrays)


def hostile_value(dice, payloads):
    """Make a payload for RESTORE from one or two payloads."""
    value, other = (Value.of(p) for p in dice.choices(payloads, k=2))
    if dice.random() < 0.1:
        splice(dice, value.fields, other.fields)
    for _ in range(dice.randint(1, 2)):
        if strings(value.fields) and dice.random() < 0.2:
            resize(dice, value.fields)
        elif value.fields:
            mutate_field(dice, value.fields)
    if dice.random() < 0.7:
        repair(value)
    if dice.random() < 0.05:
        value.module += dice.choice((1, 2, -1, -60, 1 << 40))
    payload = value.payload()
    if dice.random() < 0.1:
        raw = bytearray(payload[1:-10]) # else it may become a value of Redis's own
        damage(dice, raw)
        payload = payload[:1] + raw + value.version
        payload += crc64(payload)
    return payload


# ---- pieces of SCANDUMP ----

def hostile_raw_header(dice, header):
    form = RAW_CF.format if len(header) == RAW_CF.size else RAW_BF.format + RAW_LINK.format[1:] * (
        (len(header) - RAW_BF.size) // RAW_LINK.size)
    fields = list(struct.unpack(form, header))
    for _ in range(dice.randint(1, 2)):
        i = dice.randrange(len(fields))
        code = form[1 + i]
        fields[i] = (rate(dice) if code == "d" else
                     number(dice) & (1 << 8 * struct.calcsize("<" + code)) - 1)
    return struct.pack(form, *fields)


def hostile_header(dice, header):
    if is_raw(header):
        data = bytearray(hostile_raw_header(dice, header))
        if dice.random() < 0.05:
            damage(dice, data)
        return bytes(data)
    fields = list(struct.unpack("<%dQ" % (len(header) // 8), header))[:-1]
    for _ in range(dice.randint(1, 2)):
        i = dice.randrange(1, len(fields))
        fields[i] = change_part(dice, fields[i]) if dice.random() < 0.5 else number(dice)
        if not is_cuckoo(header) and i == 1: # an error rate
            fields[i], = struct.unpack("<Q", struct.pack("<d", rate(dice)))
    data = bytearray(struct.pack("<%dQ" % len(fields), *fields))
    if dice.random() < 0.05:
        damage(dice, data)
    return bytes(data) + struct.pack("<Q", xxh3(data))


def hostile_chunk(dice, header, chunks):
    """@header: of the key to load into; @chunks: tuples of iterator, data and whether they are in
    RedisBloom's format, of any key."""
    at, data, raw = dice.choice(chunks)
    offset, items, bits = at - 1 - len(data), 0, bytearray(data)
    if not raw:
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
    raw = is_raw(header) if dice.random() < 0.95 else raw
    if dice.random() < 0.1:
        at = number(dice)
    elif is_cuckoo(header):
        at = (int.from_bytes(name_of(header), "little") & MARK) << 23 | dice.randrange(1, 9)
    else:
        at = offset + len(bits) + 1
    at &= (1 << 63) - 1
    if raw:
        return at, bytes(bits)
    first = name_of(header) + struct.pack("<2Q", offset, items)
    return at, first + struct.pack("<Q", xxh3(bits, xxh3(first))) + bytes(bits)
