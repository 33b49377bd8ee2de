# SPDX-License-Identifier: MIT
"""A redis-server of the tests' own: on a Unix socket in a folder of mktemp, with the module. And
what the tests of both kinds of keys share."""
import ctypes
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import redis

PATIENCE = 60
MODULE = os.path.abspath(sys.argv[1])
# A test that takes too long is ended by this: what it started ends with it.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def wait_until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("not within %d s: %s" % (PATIENCE, what))
        time.sleep(0.02)


class Server:
    """@arguments: the module's; @options: of redis-server; @port: 0: the socket alone."""

    def __init__(self, arguments=(), options=(), port=0):
        self.port = port
        self.folder = tempfile.mkdtemp(prefix="weir-redis-")
        self.socket = os.path.join(self.folder, "s")
        self.command = ["redis-server", "--port", str(port), "--unixsocket", self.socket,
                        "--bind", "127.0.0.1", "--dir", self.folder, "--save", "",
                        "--logfile", os.path.join(self.folder, "log"), *options,
                        "--loadmodule", MODULE, *arguments]
        self.process = None
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        self.client = redis.Redis(unix_socket_path=self.socket)
        wait_until("the server answers", self.answers)

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError("redis-server ended: %s" % self.log()[-2000:])
        try:
            return self.client.ping()
        except redis.exceptions.RedisError:
            return False

    def log(self):
        with open(os.path.join(self.folder, "log"), errors="replace") as log:
            return log.read()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def again(self):
        self.kill()
        self.start()

    def close(self):
        self.kill()
        shutil.rmtree(self.folder)


TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x95AC9329AC4BC9B5 if n & 1 else 0)
    TABLE.append(n)


def crc64(data):
    """As DUMP ends with it."""
    crc = 0
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc.to_bytes(8, "little")


def xxh3(data, seed=0):
    hash64 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits_withSeed
    hash64.restype = ctypes.c_uint64
    return hash64(bytes(data), ctypes.c_size_t(len(data)), ctypes.c_uint64(seed))


def number(dice):
    """One that a careless reader trips over, of 64 bits."""
    return dice.choice((0, 1, 2, 100, 32768, 1 << 30, (1 << 30) + 1, 1 << 47, 1 << 63,
                        (1 << 64) - 1, dice.getrandbits(64), dice.getrandbits(10)))


# How many hostile payloads each test sends.
HOSTILE = int(os.environ.get("WEIR_HOSTILE", "400"))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Case(unittest.TestCase):
    def serve(self, *arguments, **options):
        server = Server(*arguments, **options)
        self.addCleanup(server.close)
        return server

    def refused(self, run, *command, text):
        with self.assertRaises(redis.exceptions.ResponseError) as caught:
            run(*command)
        self.assertIn(text, str(caught.exception))

    def replica_of(self, master):
        replica = self.serve(options=["--replicaof", "127.0.0.1 %d" % master.port])
        wait_until("the replica follows",
                   lambda: replica.client.info()["master_link_status"] == "up")
        return replica

    def rewrite(self, server):
        """The append-only file, anew."""
        before = server.log().count("AOF rewrite finished successfully")
        server.client.bgrewriteaof()
        wait_until("the file is rewritten", lambda: server.log().count(
            "AOF rewrite finished successfully") > before)

    def restore_hostile(self, server, seed, use):
        """RESTORE of damaged dumps of key k, as h, each with a right checksum of Redis's."""
        good, dice = server.client.dump("k")[:-8], random.Random(seed)
        self.assertEqual(good + crc64(good), server.client.dump("k"))
        refused = 0
        for i in range(HOSTILE):
            bad = bytearray(good)
            for _ in range(dice.randint(1, 3)):
                # Half of them where the numbers are.
                end = len(bad) if i % 2 else min(len(bad), 60) + 30
                bad[dice.randrange(2, min(end, len(bad) - 2))] = dice.randrange(256)
            if i % 5 == 0:
                del bad[dice.randrange(12, len(bad) - 2):-2]
            try:
                server.client.restore("h", 0, bytes(bad) + crc64(bad), replace=True)
                use()
            except redis.exceptions.ResponseError:
                refused += 1
        self.assertGreater(refused, HOSTILE * 2 // 3)
        self.assertIsNone(server.process.poll())
