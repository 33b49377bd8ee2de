# SPDX-License-Identifier: MIT
"""A file of redis of before is put back under nodes that live, and one that follows the set into a
file: they unite what is there with what they have, or say which way leads out.
test_backups.py PROGRAM WEIR"""
import os
import shutil
import signal
import sys
import unittest

import group
import nodes
import tool

SET = "{weir:seen}:"
ALONE = "nobody else gets until it is published"


class Backups(tool.Tool):
    SERVER = ("--appendonly", "no") # an RDB alone
    OPTIONS = ()

    def setUp(self):
        super().setUp()
        self.ledger = self.nodes(*self.OPTIONS)
        self.ledger.capacity = 20000
        self.old = os.path.join(self.folder, "old")

    def begin(self, seconds=0):
        """Two nodes, of which one may publish, and the file."""
        for i in range(2):
            self.ledger.start(seconds=0 if i else seconds)
        self.insert(200)
        self.follower, self.path = self.follow("served")
        group.wait_until("the file", lambda: os.path.exists(self.path))

    def insert(self, n):
        for node in self.ledger.nodes:
            node.ask("burst %d" % n)
            self.assertEqual(node.ask("flush 10000"), "0 ")

    def publish(self, times=1):
        """It may lack inserts of the other at first."""
        for _ in range(times):
            group.wait_until("it publishes", lambda: self.ledger.nodes[0].ask("publish") == "0 ")

    def back_up(self):
        self.server.client.save()
        shutil.copy(self.folder + "/dump.rdb", self.old)

    def put_back(self):
        self.server.kill()
        shutil.copy(self.old, self.folder + "/dump.rdb")
        self.server.start()

    def begin_anew(self, generations):
        """The set, by another seed, after the backup."""
        self.begin()
        self.back_up()
        self.end(self.ledger, self.follower)
        self.server.client.flushall()
        os.unlink(self.path)
        self.begin()
        self.publish(generations)
        self.insert(50)
        self.put_back()

    def sent(self):
        """All that nodes keep, into what was put back; and they lose nothing by it."""
        for node in self.ledger.nodes:
            group.wait_until("it is sent", lambda: node.ask("flush 5000") == "0 ")
        group.wait_until("each has all", lambda: not self.ledger.lost())

    def is_well(self):
        of = [node.stats() for node in self.ledger.nodes]
        return (len({s["generation"] for s in of} | {s["newest"] for s in of}) == 1 and
                all(s["complete"] for s in of) and
                all(not s["error"] or self.stays and self.stays in s["error"] for s in of) and
                all(self.stays and self.stays in a for a in self.status(status=None)["alerts"]))

    def well(self, stays=""):
        """So is whoever opens now, and the file, but for a sentence that stays; then all end."""
        self.ledger.start()
        self.insert(10)
        self.publish()
        self.stays = stays
        group.wait_until("all are well", self.is_well)
        group.wait_until("each has all", lambda: not self.ledger.lost())
        for node in self.ledger.nodes:
            last = node.stats()["inserted"] - 1
            group.wait_until("it is in the file", lambda: self.has(self.path, node, last))
        self.end(self.ledger, self.follower)

    def test_inserts_since(self):
        """No generation has come since then: nodes keep all, and send it again."""
        self.begin()
        self.back_up()
        self.insert(100)
        self.put_back()
        self.sent()
        self.ledger.newcomer(self)
        self.well()

    def generations_since(self, seconds):
        """What two of them cover, nodes keep no more but in their sets."""
        self.begin(seconds)
        self.back_up()
        self.insert(100)
        self.publish(3)
        self.insert(50)
        self.put_back()
        self.sent()

    def test_generations_since(self):
        """The next brings to all what nodes have: that one is due they say, once and again."""
        self.generations_since(0)
        for _ in range(2):
            for node in self.ledger.nodes:
                group.wait_until("it says so", lambda: ALONE in node.stats()["error"])
            group.wait_until("status says so", lambda: len([
                a for a in self.status(status=None)["alerts"] if ALONE in a]) >= 2)
            self.assertFalse(self.ledger.lost())
            self.server.client.save()
            self.server.kill()
            self.server.start()
            self.sent()
        self.publish()
        self.ledger.newcomer(self)
        self.well()

    def test_generations_since_and_a_publisher(self):
        """Its duty is due an hour later, and it does not wait for that."""
        self.generations_since(3600)
        self.ledger.start()
        group.wait_until("all is there", lambda: not self.ledger.lost())
        self.well()

    def says(self, sentence):
        """Nodes and status do, and nobody can publish."""
        for node in self.ledger.nodes:
            group.wait_until("it says: " + sentence, lambda: sentence in node.stats()["error"])
        for node in self.ledger.nodes:
            self.assertRegex(node.ask("publish"), "^-129 .*" + sentence)
        group.wait_until("status says so", lambda: len([
            a for a in self.status(status=None)["alerts"] if sentence in a]) >= 2)
        self.replicate("status", status=1)
        self.assertFalse(self.ledger.lost())

    def leads_out(self, stays=""):
        """As README.md has it."""
        self.server.client.delete(*self.server.client.keys(SET + "*"))
        self.publish()
        self.well(stays)

    def begun_anew(self, generations):
        """What was in the stream that was put back is passed by, which is said for ever."""
        self.begin_anew(generations)
        self.says("hashed by another seed or key: ")
        for node in self.ledger.nodes:
            self.assertRegex(node.ask("flush 5000"), "^-129 .*the other nodes pass by")
        self.leads_out(": they were passed by")

    def test_taken_back_before_nodes_know(self):
        """To what was kept then, while all stand still: nothing that they have goes by it."""
        self.begin()
        self.publish(2)
        self.back_up()
        kept = self.status()["kept"]
        self.insert(100)
        self.publish(3)
        self.insert(50)
        for node in self.ledger.nodes:
            node.signal(signal.SIGSTOP)
        self.put_back()
        self.replicate("rollback", "--generation=%d" % min(k["generation"] for k in kept))
        for node in self.ledger.nodes:
            node.signal(signal.SIGCONT)
        self.sent()
        self.well()

    def test_a_set_begun_anew_since(self):
        """Its generation has the number that the one of before has."""
        self.begun_anew(0)

    def test_a_set_begun_anew_since_and_published(self):
        self.begun_anew(4)


class Keys(Backups):
    """A generation of the record is by another seed then."""
    OPTIONS = ("stream=keys",)
    test_taken_back_before_nodes_know = None # of one seed it is the same

    def seeds(self):
        return {node.stats()["seed"] for node in self.ledger.nodes}

    def test_a_record_since(self):
        """The one that it has replaced does not come back: the next is of the newer seed."""
        self.begin()
        self.back_up()
        before = self.seeds()
        self.assertEqual(self.ledger.nodes[1].ask("record"), "0 ")
        nodes.settle(self, self.ledger)
        after = self.seeds()
        self.assertEqual((len(after), after & before), (1, set()))
        self.insert(50)
        self.put_back()
        self.sent()
        self.publish()
        nodes.settle(self, self.ledger)
        self.assertEqual(self.seeds(), after)
        self.well()

    def begun_anew(self, generations):
        """What is inserted is of any seed."""
        self.begin_anew(generations)
        self.says("does not descend from what is joined here")
        self.insert(50)
        self.leads_out()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
