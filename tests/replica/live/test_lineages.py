# SPDX-License-Identifier: MIT
"""What redis has under living nodes is not what they serve: somebody put other files back, or wrote
into the set's keys. test_lineages.py PROGRAM"""
import os
import shutil
import signal
import time
import unittest

import group
import nodes

MANIFEST = "{weir:seen}:manifest"


class FilesPutBack(nodes.OneServer):
    """Redis's files of before, which are of another lineage and another seed (L13)."""

    def setUp(self):
        super().setUp()
        self.ledger.options += ("stream=keys",)
        first = self.ledger.start()
        first.ask("burst 100")
        self.assertEqual(first.ask("record"), "0 ")
        self.assertEqual(first.quit(), "0 ")
        self.ledger.nodes.remove(first)
        self.old = os.path.join(self.server.folder, "old")
        shutil.copytree(os.path.join(self.server.folder, "appendonlydir"), self.old)
        self.server.client.flushall()
        for _ in range(2):
            self.ledger.start().ask("burst 200")
        nodes.settle(self, self.ledger)

    def put_back(self):
        self.server.kill()
        files = os.path.join(self.server.folder, "appendonlydir")
        shutil.rmtree(files)
        os.rename(self.old, files)
        self.server.start()
        group.wait_until("it is noticed", lambda: all(
            "does not descend" in n.stats()["error"] for n in self.ledger.nodes))
        time.sleep(0.5)
        for n in self.ledger.nodes: # it is asked for again and again, and the way out stays
            self.assertIn("(weir replicate publish --replace)", n.stats()["error"])
        self.assertFalse(self.ledger.lost())

    def test_a_record_is_joined(self):
        """It has what the nodes' sets have, by a seed that nobody had before."""
        self.put_back()
        before = {n.stats()["seed"] for n in self.ledger.nodes}
        self.ledger.nodes[0].ask("burst 50")
        self.assertEqual(self.ledger.nodes[1].ask("record"), "0 ")
        nodes.settle(self, self.ledger)
        after = {n.stats()["seed"] for n in self.ledger.nodes}
        self.assertEqual((len(after), after & before), (1, set()))
        for n in self.ledger.nodes:
            self.assertEqual(n.ask("flush 10000"), "0 ")

    def test_who_opens_anew(self):
        """It has what is there, and what the others have sent again since."""
        self.put_back()
        self.ledger.start()
        self.assertEqual(self.ledger.nodes[2].ask("record"), "0 ")
        nodes.settle(self, self.ledger)


class AnotherBegins(nodes.OneServer):
    """Redis has nothing any more, and a node that starts begins another set before one of those
    that live publishes theirs. The way out is README.md's."""

    def says(self, node, sentence):
        group.wait_until("it says: " + sentence, lambda: sentence in node.stats()["error"])

    def begins(self, sentence, *options):
        self.ledger.options += options
        some = [self.ledger.start() for _ in range(2)]
        for node in some:
            node.ask("burst 100")
            self.assertEqual(node.ask("flush 10000"), "0 ")
        for node in some: # what they would send again is in nobody's way
            node.signal(signal.SIGSTOP)
        self.server.client.flushall()
        other = self.ledger.start()
        for node in some:
            node.signal(signal.SIGCONT)
        for node in some:
            self.says(node, sentence)
            node.ask("burst 100")
            self.assertTrue(node.ask("publish").startswith("-129 "))
        self.server.client.delete(*self.server.client.keys("{weir:seen}:*"))
        group.wait_until("it publishes", lambda: some[0].ask("publish") == "0 ")
        self.says(other, sentence)
        other.quit() # and it is opened anew
        self.ledger.nodes.remove(other)
        self.ledger.start()
        for node in some:
            group.wait_until("it is sent", lambda: node.ask("flush 10000") == "0 ")
        group.wait_until("each has all", lambda: not self.ledger.lost())
        self.ledger.newcomer(self)

    def test_of_hashes(self):
        self.begins("is hashed by another seed or key: ")

    def test_of_keys(self):
        self.begins("does not descend from what is joined here", "stream=keys")


class ByHand(nodes.OneServer):
    def begin(self):
        """One has begun the set, and looks only when the channel says that there is something."""
        self.ledger.options += ("poll=60000",)
        first = self.ledger.start()
        first.ask("burst 100")
        self.assertEqual(first.ask("flush 10000"), "0 ")
        time.sleep(0.3) # it listens
        return first

    def begin_again(self):
        """A part of the manifest is deleted, and another begins the set: its generation has the
        number that was there."""
        self.server.client.hdel(MANIFEST, "text", "generation")
        second = self.ledger.start()
        self.assertEqual(second.stats()["newest"], 1)
        return second

    def test_by_another_seed(self):
        first = self.begin()
        second = self.begin_again()
        group.wait_until("it is noticed", lambda: "another seed" in first.stats()["error"])
        first.ask("burst 1")
        self.assertEqual(first.ask("flush 10000").split(" ")[0], "-129")
        second.ask("burst 1")
        self.assertEqual(second.ask("flush 10000"), "0 ")
        self.server.client.delete(*self.server.client.keys("*")) # the way out that it names
        self.assertEqual(first.ask("publish"), "0 ")
        self.assertEqual(first.ask("flush 10000"), "0 ")
        group.wait_until("the other knows", lambda: "another seed" in second.stats()["error"])

    def test_another_number_beside_it(self):
        """Somebody wrote it there: that keeps nobody from following."""
        first = self.begin()
        second = self.ledger.start()
        for value in ("0123456789abcdef", "x", ""):
            self.server.client.hset(MANIFEST, "stored", value)
            first.ask("burst 10")
            self.assertEqual(first.ask("flush 10000"), "0 ")
            self.assertEqual(second.ask("record"), "0 ")
            newest = second.stats()["newest"]
            group.wait_until("it follows", lambda: first.stats()["generation"] == newest)


if __name__ == "__main__":
    unittest.main(argv=[__file__, *nodes.words()])
