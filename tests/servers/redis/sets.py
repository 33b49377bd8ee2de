# SPDX-License-Identifier: MIT
"""Sets of libweir-redis as they lie in a server, for tests that read and change them."""
import ctypes
import struct

import redis

from served import PATIENCE, Case


def checksum(data):
    """XXH3 of 128 bits, as a manifest has it."""
    class Sum(ctypes.Structure):
        _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]
    hash128 = ctypes.CDLL("libxxhash.so.0").XXH3_128bits
    hash128.restype = Sum
    is_ = hash128(bytes(data), ctypes.c_size_t(len(data)))
    return "%016x%016x" % (is_.high, is_.low)


def keys_of(items):
    """As an entry of the stream has them."""
    return b"".join(struct.pack("<I", len(item)) + item for item in items)


class Sets(Case):
    """Set x in self.server, and items by name."""
    OF = "{weir:x}:"

    def setUp(self):
        self.start(self.serve())

    def start(self, server):
        self.server = server
        # a command that does not end ends the test
        self.client = redis.Redis(unix_socket_path=server.socket, socket_timeout=PATIENCE)
        self.run_ = self.client.execute_command

    def make(self, key="k", n=500, capacity=1000):
        self.run_("BF.RESERVE", key, "0.001", capacity, "NONSCALING")
        if n:
            self.run_("BF.MADD", key, *range(n))

    def has(self, key, items):
        items = list(items)
        return self.run_("BF.MEXISTS", key, *items) == [1] * len(items)

    def load(self, key, client=None):
        answer = (client or self.client).execute_command("WEIR.LOAD", key, "SET", "x")
        return dict(zip(answer[::2], answer[1::2]))

    def publish(self, key="k"):
        return self.run_("WEIR.PUBLISH", key, "SET", "x")

    def manifest(self):
        """Its lines: the name and the rest of each."""
        text = self.client.hget(self.OF + "manifest", "text").decode()
        return dict(line.split(" ", 1) for line in text.splitlines())

    def put_manifest(self, lines):
        text = "".join("%s %s\n" % line for line in lines.items())
        self.client.hset(self.OF + "manifest", mapping={
            "text": text, "generation": lines["generation"], "position": lines["position"],
            "entries": lines["entries"]})
        self.client.hset(self.OF + "kept", lines["generation"], "\n" + text)

    def all(self):
        """What the server has. The fields of a hash are in no order."""
        hashes = (self.OF + "manifest", self.OF + "kept")
        return {k: self.client.hgetall(k) if k.decode() in hashes and
                self.client.type(k) == b"hash" else self.client.dump(k)
                for k in self.client.scan_iter("*")}

    def chunk(self, i=0):
        return "%sc:%s:%d" % (self.OF, self.manifest()["chunks"].split()[2], i)

    def append(self, sequence, items=(), **other):
        """A batch of keys in the stream, by one node. Return: its id."""
        fields = {"v": 1, "n": "%016x" % 7, "q": sequence, "s": self.manifest()["hashing"],
                  "k": keys_of([b"%d" % i for i in items])}
        fields.update(other)
        return self.client.xadd(self.OF + "stream", fields).decode()
