# SPDX-License-Identifier: MIT
"""Somebody writes a text in place of the manifest, with a number of a generation. What is no
manifest of the set keeps nobody from publishing; what could be another's stays, and all say why.
test_in_the_way.py PROGRAM WEIR"""
import os
import sys
import unittest

import group
import nodes
import tool

MANIFEST = "{weir:seen}:manifest"


class InTheWay(tool.Tool):
    def setUp(self):
        super().setUp()
        self.client = self.server.client
        self.ledger = self.nodes(*self.options_of_nodes())
        self.ledger.capacity = 10000
        self.node = self.ledger.start(seconds=1)
        self.ledger.start()
        self.node.ask("burst 100")
        self.assertEqual(self.node.ask("flush 10000"), "0 ")
        group.wait_until("a generation", lambda: self.text())

    def options_of_nodes(self):
        return ()

    def text(self):
        return self.client.hget(MANIFEST, "text")

    def another(self, old, new):
        """The manifest with something else in it."""
        whole = self.text()
        self.assertEqual(whole.count(old), 1, whole)
        return whole.replace(old, new)

    def put(self, text, **beside):
        self.client.hset(MANIFEST, mapping={"text": text, **beside})

    def goes(self, text, **beside):
        self.put(text, **beside)
        group.wait_until("another takes its place", lambda: self.text() != text)
        nodes.settle(self, self.ledger)

    def stays(self, text, why):
        self.put(text)
        group.wait_until("it says so", lambda: why in self.node.stats()["error"])
        for word in "publish", "record":
            self.assertIn(why, self.node.ask(word))
        self.assertEqual(self.text(), text)
        group.wait_until("status says so", lambda: "not well" in self.replicate("status",
                                                                                status=None))

    def test_no_manifest(self):
        """Nor at its first line, nor further on, nor to its end; and one that is too long."""
        self.goes(b"junk\ngeneration 77\n")
        self.goes(self.another(b"\ngeneration ", b"\ngeneration 0"))
        self.goes(self.another(b"\ngeneration ", b"\ngeneration 9223372036854775807"))
        self.goes(self.another(b"\npublisher ", b"\ngeneration 77\npublisher "))
        text = self.text()
        self.goes(text[:len(text) // 2])
        self.goes(b"junk\ngeneration 77\n" + (5 << 20) * b"x")

    def test_another_sets(self):
        other = self.another(b"\nset seen\n", b"\nset other\n")
        self.goes(other.replace(b"\ngeneration ", b"\ngeneration 5"), generation="99")

    def test_what_may_be_somebodys(self):
        """Of a version to come, or of a set whose batches are of keys."""
        self.stays(b"weir-manifest 2\ngeneration 99999\nx", "version 2, this library reads 1")
        self.client.delete(MANIFEST)
        group.wait_until("a generation", lambda: self.text())
        self.stays(self.another(b"\nsource set\n", b"\nstream keys\nsource set\n").replace(
            b"\ngeneration ", b"\ngeneration 9"), "its batches are of keys, as generation 9")
        self.assertRegex(self.replicate("status", status=1),
                         "the generation there is, which is not kept\n  9[0-9]+: classic, ")


class Signed(InTheWay):
    """Nodes that trust nobody but the one who signs."""

    def options_of_nodes(self):
        keys = [os.path.join(self.folder, name) for name in ("secret", "public")]
        self.weir("replicate", "key", *keys)
        return "secret=" + keys[0], "trusted=" + keys[1]

    def test_what_may_be_somebodys(self):
        """One that has no right signature may be that of a key which others trust."""
        text = self.another(b"\ngeneration ", b"\ngeneration 9")
        self.stays(text, "does not verify: it is another's")


if __name__ == "__main__":
    unittest.main(argv=[__file__, *sys.argv[3:]])
