# SPDX-License-Identifier: MIT
"""Sets of libweir-redis as Redis stores them, for tests that read and change the keys."""
import ctypes
import hashlib
import os
import struct

import redis

from served import PATIENCE, Case, bf_make

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../src/replica/format")
SEED = 77
CAPACITY = 3000 # so large that the key's only link is of kind blocked, as a set is
HASH = ctypes.CDLL("libxxhash.so.0").XXH3_64bits_withSeed
HASH.restype = ctypes.c_uint64


def checksum(data):
    """Return the hash that names an image in a manifest."""
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def hashes_of(items):
    return b"".join(struct.pack("<Q", HASH(item, ctypes.c_size_t(len(item)),
                                           ctypes.c_uint64(SEED))) for item in items)


class Sets(Case):
    """Test case with set x in self.server."""
    OF = "{weir:x}:2:"
    HEAD, LOG, KEPT, NODES, LEASE = map(OF.__add__, ("head", "log", "kept", "nodes", "lease"))

    def setUp(self):
        self.start(self.serve())

    def start(self, server):
        self.server = server
        # If a command never ends, the timeout ends the test.
        self.client = redis.Redis(unix_socket_path=server.socket, socket_timeout=PATIENCE)
        self.run_ = self.client.execute_command

    def make(self, key="k", n=500, capacity=CAPACITY, seed=SEED):
        bf_make(self.run_, key, 0.001, capacity, seed, 0, *range(n))

    def has(self, key, items):
        items = list(items)
        return self.run_("BF.MEXISTS", key, *items) == [1] * len(items)

    def load(self, key, client=None):
        """Return: the loaded version and the number of batches."""
        answer = (client or self.client).execute_command("WEIR.LOAD", key, "SET", "x")
        self.assertEqual(answer[::2], [b"version", b"batches"])
        return answer[1].decode(), answer[3]

    def publish(self, key="k"):
        return self.run_("WEIR.PUBLISH", key, "SET", "x").decode()

    def manifest(self):
        """Return the manifest's lines by their name; "has" is a list of all such lines."""
        lines = {"has": []}
        for line in self.client.hget(self.HEAD, "manifest").decode().splitlines():
            name, _, rest = line.partition(" ")
            if name == "has":
                lines["has"].append(rest)
            else:
                lines[name] = rest
        return lines

    def put_manifest(self, lines):
        text = "".join("%s %s\n" % (name, rest) if rest else name + "\n"
                       for name, rest in lines.items() if name != "has")
        text += "".join("has %s\n" % one for one in lines["has"])
        self.client.hset(self.HEAD, mapping={"manifest": text, "version": lines["version"],
                                             "generation": lines["id"]})
        self.client.hset(self.KEPT, lines["version"], "\n" + text)

    def all(self):
        """Return all keys of the server for comparison. Hashes have no order, and a heartbeat
        changes the fields seen and replicas."""
        there = {}
        for key in self.client.scan_iter("*"):
            if self.client.type(key) == b"hash":
                there[key] = {name: value for name, value in self.client.hgetall(key).items()
                              if name not in (b"seen", b"replicas")}
            else:
                there[key] = self.client.dump(key)
        return there

    def chunk(self, i=0):
        return "%simg:%s:%d" % (self.OF, self.manifest()["image"].split()[0], i)

    def touch(self, *entries, give_up=""):
        """Run touch.lua as a node does. @entries: kind and value. Return: the script's reply."""
        with open(os.path.join(SCRIPTS, "touch.lua")) as script:
            text = script.read()
        words = [word for entry in entries for word in (os.urandom(8).hex(), *entry)]
        return self.client.eval(text, 3, self.HEAD, self.LOG, self.NODES, "%016x" % 7, "", give_up,
                                os.urandom(8).hex(), 0, 60000, 0, *words)

    def append(self, items, hashing=None):
        """Append a batch to the log, as a node does. Return: the id of the entry."""
        value = struct.pack("<QQ", 7, int(hashing or self.manifest()["hashing"], 16))
        value += hashes_of([b"%d" % item for item in items])
        return self.touch(("b", value))[4].decode()
