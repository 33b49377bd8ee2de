# SPDX-License-Identifier: MIT
"""Nodes of libweir-redis and keys of weir-redis.so are one set: what either has, the other gets.
test_module.py PROGRAM MODULE"""
import os
import struct
import sys
import time
import unittest

import redis

import group
import nodes

CLIENT = 900 # as if it were a node: whose keys the client of redis inserts


def key(node, n):
    """As node.c makes them."""
    return struct.pack("<Q", node + 1 << 40 | n)


class Module(nodes.OneServer):
    def setUp(self):
        super().setUp()
        self.server.close()
        self.serve()
        self.ledger.options = ("set=seen", "url=unix://" + self.server.socket, "poll=20",
                               "idle=300", "kind=blocked")
        self.inserted = 0 # by the client, into the key

    def serve(self, arguments=""):
        self.server = group.Server(["--loadmodule", os.path.abspath(sys.argv[2]) + arguments])
        self.addCleanup(self.server.close)
        self.run_ = self.server.client.execute_command

    def load(self):
        return self.run_("WEIR.LOAD", "k", "SET", "seen")

    def publish(self):
        return self.run_("WEIR.PUBLISH", "k", "SET", "seen")

    def insert(self, n=200):
        items = [key(CLIENT, self.inserted + i) for i in range(n)]
        for answer in self.run_("BF.MADD", "k", *items):
            self.assertIn(answer, (0, 1))
        self.inserted += n

    def rate(self, n):
        for node in self.ledger.nodes:
            node.rate(n)

    def missing_in_key(self, node, n):
        missing = 0
        for at in range(0, n, 1000):
            items = [key(node, i) for i in range(at, min(n, at + 1000))]
            missing += self.run_("BF.MEXISTS", "k", *items).count(0)
        return missing

    def check_nodes(self):
        """Nodes have all of each other, and all of the client's that was published."""
        nodes.settle(self, self.ledger)
        for node in self.ledger.nodes:
            group.wait_until("node %d has all of the client's" % node.name,
                             lambda: not node.missing(CLIENT, self.inserted)[0])
        nodes.settle(self, self.ledger)

    def check_all(self):
        self.check_nodes()
        self.load()
        promises = self.ledger.promises()
        self.assertGreaterEqual(sum(promises.values()), 1000)
        for node, n in promises.items():
            self.assertEqual(self.missing_in_key(node, n), 0)
        self.assertEqual(self.missing_in_key(CLIENT, self.inserted), 0)

    def both_insert(self, turns, between):
        self.rate(5000)
        for _ in range(turns):
            self.insert()
            between()
            time.sleep(0.1)

    def test_the_module_publishes(self):
        """Only it does: nodes keep what it has not, and join what it has."""
        for _ in range(3):
            self.ledger.start()
        self.load()
        self.both_insert(25, self.publish)
        self.check_all()
        late = self.ledger.start()
        self.check_all()
        self.assertGreaterEqual(late.stats()["generation"], 26)

    def test_nodes_publish_too(self):
        """And so the stream is trimmed meanwhile, and what the key lacks is in an image alone."""
        for _ in range(3):
            self.ledger.start()
        self.load()
        first = self.ledger.nodes[0]
        def between():
            group.wait_until("a node publishes", lambda: first.ask("publish") == "0 ")
            self.publish()
        self.both_insert(10, between)
        self.check_all()
        group.wait_until("the stream is trimmed", self.trimmed)

    def trimmed(self):
        flat = self.run_("XINFO", "STREAM", "{weir:seen}:stream")
        about = dict(zip(flat[::2], flat[1::2]))
        return about[b"length"] < about[b"entries-added"]

    def test_redis_restarts(self):
        self.ledger.start(seconds=1)
        self.ledger.start()
        self.load()
        for _ in range(3):
            self.both_insert(4, self.publish)
            self.server.again()
            self.run_ = self.server.client.execute_command
            self.assertEqual(self.missing_in_key(CLIENT, self.inserted), 0)
        self.both_insert(4, lambda: None)
        group.wait_until("it can be published", self.published)
        self.check_all()

    def published(self):
        try:
            return self.publish()
        except redis.exceptions.ResponseError as e:
            self.assertIn("began anew", str(e))
            return False

    def test_the_module_begins(self):
        """The set is the key's first, then nodes come."""
        self.run_("BF.RESERVE", "k", "1e-6", 1000000, "NONSCALING")
        self.insert()
        self.assertEqual(self.publish(), 1)
        for _ in range(2):
            self.ledger.start()
        self.both_insert(10, self.publish)
        self.check_all()

    def test_nothing_is_forgotten_early(self):
        """A batch that only the stream has stays there until a node has published twice."""
        node = self.ledger.start()
        self.load()
        node.ask("burst 1000")
        self.assertEqual(node.ask("flush 60000"), "0 ")
        for _ in range(5):
            self.insert(1)
            self.publish()
        self.assertEqual(self.run_("XLEN", "{weir:seen}:stream") > 0, True)
        self.assertGreater(node.stats()["retained"], 8000)
        self.ledger.kill(node)
        late = self.ledger.start()
        group.wait_until("it has all", lambda: not late.missing(0, 1000)[0])
        for _ in range(3):
            self.assertEqual(late.ask("publish"), "0 ")
        group.wait_until("it is forgotten", lambda: late.stats()["retained"] == 0)

    def refused(self, text):
        for command in (self.load, self.publish):
            with self.assertRaises(redis.exceptions.ResponseError) as caught:
                command()
            self.assertIn(text, str(caught.exception))

    def test_signed(self):
        """What nodes with trusted keys would refuse is not published."""
        self.ledger.start()
        self.load()
        self.server.client.hset("{weir:seen}:manifest", "signature", "somebody's")
        self.refused("is signed")

    def test_keyed(self):
        self.ledger.start("keyed=1")
        with self.assertRaises(redis.exceptions.ResponseError) as caught:
            self.load()
        self.assertRegex(str(caught.exception), "generation 1: .*keyed")

    def test_compressed(self):
        """It takes no more memory than its own bytes, unless a limit allows that."""
        self.ledger.start("zstd=1")
        with self.assertRaises(redis.exceptions.ResponseError) as caught:
            self.load()
        self.assertIn("(max-bytes of the module allows more)", str(caught.exception))
        self.ledger.kill(self.ledger.nodes[0])
        self.serve(" max-bytes 64mb")
        self.ledger.options = ("set=seen", "url=unix://" + self.server.socket, "poll=20",
                               "kind=blocked")
        node = self.ledger.start("zstd=1")
        node.ask("burst 1000")
        self.load()
        self.insert()
        self.publish()
        self.check_all()

    def test_seeds_of_nodes(self):
        """They have 64 bits, a key's own 63; in a file without a preamble too."""
        self.server.client.config_set("aof-use-rdb-preamble", "no")
        for i in range(5):
            node = self.ledger.start("set=seen%d" % i)
            node.ask("burst 1000")
            self.assertEqual(node.ask("flush 60000"), "0 ")
            self.run_("WEIR.LOAD", "k%d" % i, "SET", "seen%d" % i)
        before = [self.server.client.dump("k%d" % i) for i in range(5)]
        for _ in range(2):
            self.server.again()
            self.run_ = self.server.client.execute_command
            self.assertEqual([self.server.client.dump("k%d" % i) for i in range(5)], before)
            self.server.client.bgrewriteaof()
            group.wait_until("it is rewritten", lambda: not self.server.client.info(
                "persistence")["aof_rewrite_in_progress"])
        for i in range(5):
            self.assertEqual(self.run_("BF.MEXISTS", "k%d" % i, *(key(i, n) for n in range(1000))),
                             [1] * 1000)

    def test_another_kind(self):
        self.ledger.options = self.ledger.options[:-1]
        self.ledger.start()
        self.run_("BF.ADD", "k", "of another set")
        self.refused("set seen is of kind classic: keys of BF.* are of kind blocked")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
