# SPDX-License-Identifier: MIT
"""Somebody deletes one key of a set, or one field of its manifest, under two nodes: a generation of
one of them later all is well, and whoever opens has all. test_deleted.py PROGRAM WEIR"""
import sys
import unittest

import group
import nodes
import tool

SET = "{weir:seen}:"
KEYS = ("manifest", "stream", "nodes", "lease", "kept")
FIELDS = ("text", "signature", "generation", "stored", "token", "position", "entries", "streams")


class Deleted(tool.Tool):
    OPTIONS = ()

    def setUp(self):
        super().setUp()
        self.client = self.server.client
        self.ledger = self.nodes("keep=4", *self.OPTIONS)
        self.ledger.capacity = 20000
        self.one, self.other = self.ledger.start(), self.ledger.start()
        self.insert()
        self.publish()

    def insert(self):
        for node in (self.one, self.other):
            node.ask("burst 50")
            group.wait_until("it is sent", lambda: node.ask("flush 5000") == "0 ")

    def publish(self):
        group.wait_until("it publishes", lambda: self.one.ask("publish") == "0 ")

    def newcomer(self):
        node = self.ledger.newcomer(self)
        self.assertEqual(node.quit(), "0 ")
        self.ledger.nodes.remove(node)

    def well(self):
        self.publish()
        self.newcomer()
        nodes.settle(self, self.ledger)
        group.wait_until("status is well", lambda: not self.status(status=None)["alerts"])

    def without(self, what, delete):
        with self.subTest(what=what):
            self.insert()
            self.publish()
            for node in (self.one, self.other): # which no generation has
                node.ask("burst 50")
            delete()
            self.insert()
            self.well()

    def test_a_key(self):
        for name in KEYS:
            self.without(name, lambda: self.client.delete(SET + name))

    def test_a_field(self):
        for name in FIELDS:
            self.without(name, lambda: self.client.hdel(SET + "manifest", name))


class Keys(Deleted):
    OPTIONS = ("stream=keys",)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
