# SPDX-License-Identifier: MIT
"""All keys of a set have gone, or its manifest alone, and so have those that had it: whoever begins
it anew, by a seed of its own, waits for nobody who does not live.
test_begun_again.py PROGRAM WEIR"""
import sys
import time
import unittest

import group
import nodes
import tool

SET = "{weir:seen}:"


class BegunAgain(tool.Tool):
    def setUp(self):
        super().setUp()
        self.client = self.server.client
        self.ledger = self.nodes()
        self.node = self.ledger.start()

    def insert(self):
        self.node.ask("burst 100")
        self.assertEqual(self.node.ask("flush 10000"), "0 ")

    def goes(self, kills=True):
        if kills:
            self.node.kill()
        else:
            self.assertEqual(self.node.quit(), "0 ")
        self.ledger.nodes.clear()

    def opened(self, *options):
        node = nodes.Node(tool.PROGRAM, 7, *self.options, *options)
        self.addCleanup(node.close)
        return node.opened

    def lose(self):
        """It lives on for a while, and sends again what it has."""
        for _ in range(3):
            self.insert()
        self.client.flushall()
        group.wait_until("its words", lambda: self.client.exists(SET + "stream"))
        time.sleep(0.6) # also those of an idle node
        self.insert()

    def lose_the_manifest(self, has_it=lambda: True):
        for _ in range(3): # the stream is trimmed
            self.insert()
            group.wait_until("it publishes", lambda: self.node.ask("publish") == "0 ")
        group.wait_until("the file has it", has_it)
        self.insert()
        self.client.delete(SET + "manifest")

    def test_it_is_killed(self):
        self.lose()
        self.goes()
        self.assertEqual(self.opened("idle=3000"), "0 ") # it waits longer than it tries else

    def test_it_ends(self):
        self.lose()
        self.goes(kills=False)
        self.assertEqual(self.opened(), "0 ")

    def test_it_lives(self):
        """And has what nobody else has: it is to publish that."""
        self.lose()
        self.client.delete(SET + "nodes") # it has not reported since
        begun = time.monotonic()
        self.assertRegex(self.opened(), "^-11 .*a batch is lacking.*: a node that has them can")
        self.assertGreater(time.monotonic() - begun, 4 * 0.3) # of its words
        group.wait_until("it publishes", lambda: self.node.ask("publish") == "0 ")
        self.assertEqual(self.opened(), "0 ")

    def test_by_the_shell(self):
        self.build("x.weir", 1, 100, "-n", "1000")
        self.lose()
        self.goes()
        self.replicate("publish", "x.weir")
        self.assertEqual(self.opened(), "0 ")

    def test_the_manifest_alone(self):
        self.lose_the_manifest()
        self.goes()
        self.assertEqual(self.opened(), "0 ")

    def test_the_manifest_alone_by_the_shell(self):
        """From the file that was followed: which the generations that are kept can follow."""
        _, path = self.follow("set.weir")
        self.lose_the_manifest(lambda: self.has(path, self.node, 299))
        kept = self.status(status=None)["kept"][0]["generation"]
        self.goes()
        said = self.replicate("rollback", "--generation=%d" % kept, status=2)
        self.assertIn("publish an image first", said)
        self.replicate("publish", "set.weir")
        self.assertEqual(self.opened(), "0 ")
        self.replicate("rollback", "--generation=%d" % kept)


if __name__ == "__main__":
    unittest.main(argv=[__file__, *sys.argv[3:]])
