# SPDX-License-Identifier: MIT
"""RDB files for tests: of a real server's native types, and with keys of modules."""
from formats import put_length

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
HEAD, END = b"REDIS0010", b"\xff" + bytes(8) # Redis does not check a checksum of 0


def string(data):
    return put_length(len(data)) + data


def identity(kind, encoding):
    """Return: the identity of a module's type."""
    n = 0
    for letter in kind:
        n = n << 6 | LETTERS.index(letter)
    return b"\x81" + (n << 10 | encoding).to_bytes(8, "big")


def module_key(name, kind, encoding, value=b"\x02\x07\x05\x03abc\x04" + bytes(8) + b"\x03" +
               bytes(4) + b"\x01\x09"):
    return b"\x07" + string(name) + identity(kind, encoding) + value + b"\x00"


def dumped_keys(keys):
    """Keys of redisbloom_keys.py, as they stand in a file."""
    return b"".join(key.dump[:1] + string(key.name.encode()) + key.dump[1:-10] for key in keys)


def file_of(*parts, head=HEAD, end=END):
    return b"".join((head, *parts, end))


def fill_native(client):
    """Make keys of all native types in all encodings, small and large."""
    run = client.execute_command
    run("FUNCTION LOAD", "#!lua name=l\nredis.register_function('f', function() return 1 end)")
    for db in (0, 5):
        run("SELECT", db)
        run("MSET", "s", "text", "n", "123", "m", "-12345", "big", "123456789", "12345", "a name",
            "packed", "ab" * 5000, "x" * 20000, "v", "long", bytes(range(256)) * 1000)
        run("SETEX", "later", 10000, "v")
        for size in (3, 3000):
            name, items = "%d" % size, ["item-%d" % i for i in range(size)]
            run("RPUSH", "list" + name, *items)
            run("RPUSH", "lists" + name, "x" * 20000, *items)
            run("SADD", "set" + name, *items)
            run("SADD", "ints" + name, *range(size))
            run("HSET", "hash" + name, *sum(([item, item] for item in items), []))
            run("ZADD", "zset" + name, *sum(([i / 3, item] for i, item in enumerate(items)), []))
            for i in range(size):
                run("XADD", "stream" + name, "%d-1" % (i + 1), "field", i)
            run("XGROUP", "CREATE", "stream" + name, "g", "0")
            run("XGROUP", "CREATE", "stream" + name, "h", "$")
            run("XREADGROUP", "GROUP", "g", "c", "COUNT", 100, "STREAMS", "stream" + name, ">")
            run("XREADGROUP", "GROUP", "g", "d", "COUNT", 100, "STREAMS", "stream" + name, ">")
    run("SELECT", 0)


# One key of each type that Redis 7.0 reads or later versions write, but 7.0 never writes.
OTHER_TYPES = [
    (1, put_length(2) + string(b"a") + string(b"b")), (3, put_length(3) + string(b"a") + b"\x031.5"
     + string(b"b") + b"\xff" + string(b"c") + b"\xfd"),
    (4, put_length(1) + string(b"f") + string(b"v")), (9, string(b"zipmap")),
    (10, string(b"ziplist")), (12, string(b"ziplist")), (13, string(b"ziplist")),
    (14, put_length(2) + string(b"ziplist") + string(b"ziplist")), (20, string(b"listpack")),
    (15, put_length(1) + string(bytes(16)) + string(b"pack") + bytes(3) + put_length(1) +
     string(b"g") + bytes(2) + put_length(1) + bytes(16) + bytes(8) + b"\x01" + put_length(1) +
     string(b"c") + bytes(8) + put_length(1) + bytes(16)),
    (21, put_length(0) + bytes(8) + put_length(1) + string(b"g") + bytes(3) + put_length(0) +
     put_length(1) + string(b"c") + bytes(16) + put_length(1) + bytes(16)),
    (24, bytes(8) + put_length(1) + b"\x00" + string(b"f") + string(b"v")),
    (25, bytes(8) + string(b"listpack"))]


def other_types():
    slot = b"\xf4" + put_length(16000) + b"\x01\x00" # Redis 7.4 tells the size of each slot
    return slot + b"".join(bytes([kind]) + string(b"key %d" % kind) + value
                           for kind, value in OTHER_TYPES)
