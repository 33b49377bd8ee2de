# SPDX-License-Identifier: MIT
"""A redis-server with the module, and what the tests of BF and CF keys share."""
import os
import socket
import struct
import sys
import unittest

import redis

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from redis_server import PATIENCE, PROGRAM, RedisServer, free_port, wait_until  # noqa: E402,F401

MODULE = os.path.abspath(sys.argv[1])
HOSTILE = int(os.environ.get("WEIR_HOSTILE", "1000")) # damaged things of each kind


def bf_make(run, key, error, capacity, seed, expansion, *items):
    """Make a key of BF with a known seed, as a replica does."""
    return run("WEIR.BFMAKE", key, struct.pack("<d3Q", error, capacity, seed, expansion), *items)


def cf_make(run, key, buckets, seed, bucket, expansion, *items):
    return run("WEIR.CFMAKE", key, buckets, seed, bucket, 20, expansion, *items)


def digests(client, *keys):
    return client.execute_command("DEBUG", "DIGEST-VALUE", *keys)


class Server(RedisServer):
    """@arguments: of the module; @options: of redis-server; @port: 0: no TCP port."""

    def __init__(self, arguments=(), options=(), port=0):
        self.arguments, self.options = arguments, options
        super().__init__(port)

    def command(self):
        return [PROGRAM, "--port", str(self.port), "--unixsocket", self.socket,
                "--bind", "127.0.0.1", "--dir", self.folder, "--save", "",
                "--repl-diskless-sync-delay", "0", "--enable-debug-command", "yes",
                "--logfile", os.path.join(self.folder, "log"), *self.options,
                "--loadmodule", MODULE, *self.arguments]


class Case(unittest.TestCase):
    def serve(self, *arguments, **options):
        server = Server(*arguments, **options)
        self.addCleanup(server.close)
        return server

    def refused(self, run, *command, text):
        with self.assertRaises(redis.exceptions.ResponseError) as caught:
            run(*command)
        self.assertIn(text, str(caught.exception))

    def replica_of(self, master, *arguments):
        replica = self.serve(*arguments, options=["--replicaof", "127.0.0.1 %d" % master.port])
        wait_until("the replica follows",
                   lambda: replica.client.info()["master_link_status"] == "up")
        return replica

    def equal(self, server, others, *keys):
        """The keys have equal values and digests in the server and in the others."""
        for key in keys:
            self.assertIsNotNone(server.client.dump(key))
            for other in others:
                self.assertEqual(other.client.dump(key), server.client.dump(key), key)
        for other in others:
            self.assertEqual(digests(other.client, *keys), digests(server.client, *keys))

    def rewrite(self, server):
        """Rewrite the append-only file."""
        before = server.log().count("AOF rewrite finished successfully")
        server.client.bgrewriteaof()
        wait_until("the file is rewritten", lambda: server.log().count(
            "AOF rewrite finished successfully") > before)

    def resp3(self, server, *commands, protocol=3):
        """Return the raw lines of the replies to the commands."""
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(server.socket)
            stream = s.makefile("rwb")
            stream.write(b"".join(c + b"\r\n" for c in (b"HELLO %d" % protocol, b"ECHO mark",
                                                         *commands, b"ECHO mark")))
            stream.flush()
            while stream.readline() != b"mark\r\n":
                pass
            lines = []
            while not lines or lines[-1] != b"mark":
                lines.append(stream.readline().strip())
            return lines[:-2]
