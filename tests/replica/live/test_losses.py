# SPDX-License-Identifier: MIT
"""Redis comes back without what it had last, which nodes that live still have: whatever is done
then takes nothing of it away, and the way out that is said leads out.
test_losses.py PROGRAM WEIR"""
import os
import shutil
import sys
import time
import unittest

import group
import nodes
import tool

SET = "{weir:seen}:"
ALONE = "nobody else gets until it is published"


class Losses(tool.Tool):
    """An RDB of before, two generations old; a replica that lagged is the same."""
    SERVER = ("--appendonly", "no")

    def setUp(self):
        super().setUp()
        self.ledger = self.nodes()
        self.ledger.capacity = 20000
        for _ in range(2):
            self.ledger.start() # whoever operates it publishes
        for generation in (2, 3, 4, 5):
            for node in self.ledger.nodes:
                node.ask("burst 50")
                self.assertEqual(node.ask("flush 10000"), "0 ")
            self.assertEqual(self.ledger.nodes[0].ask("publish"), "0 ")
            nodes.settle(self, self.ledger)
            if generation == 3:
                self.server.client.save()
        self.server.again()
        group.wait_until("what was is there", lambda: all(
            s["generation"] == 3 and s["complete"] for s in self.stats()))
        self.assertFalse(self.ledger.lost())

    def stats(self):
        return [node.stats() for node in self.ledger.nodes]

    def nothing_is_lost(self):
        """Once all serve what is there now, and for as long as they do."""
        current = self.status(status=None)["current"]["generation"]
        group.wait_until("it serves", lambda: all(
            s["generation"] == current and s["complete"] for s in self.stats()))
        self.assertFalse(self.ledger.lost())
        for node in self.ledger.nodes:
            group.wait_until("it says so", lambda: ALONE in node.stats()["error"])
        group.wait_until("it publishes", lambda: self.ledger.nodes[1].ask("publish") == "0 ")
        nodes.settle(self, self.ledger)
        self.ledger.newcomer(self)

    def test_a_rollback_to_the_one_before(self):
        self.replicate("rollback", "--generation=2")
        self.nothing_is_lost()

    def test_a_rollback_to_the_current_one(self):
        self.replicate("rollback", "--generation=3")
        self.nothing_is_lost()

    def test_a_rollback_by_a_node(self):
        self.assertEqual(self.ledger.nodes[1].ask("rollback 2"), "0 ")
        self.nothing_is_lost()

    def test_a_rollback_after_a_generation(self):
        """That has what was lost; what follows the one before is in no stream all the same."""
        group.wait_until("it publishes", lambda: self.ledger.nodes[0].ask("publish") == "0 ")
        nodes.settle(self, self.ledger)
        self.replicate("rollback", "--generation=3")
        self.nothing_is_lost()

    def test_a_file_that_was_saved(self):
        """By a shell, which lacks batches of which nobody knows any more: it waits for them."""
        self.assertEqual(self.ledger.nodes[0].ask("save %s/saved" % self.folder), "0 ")
        self.replicate("publish", "saved")
        self.assertIn("waits for inserts of others", self.aside)
        group.wait_until("all are well", lambda: not any(
            s["error"] for s in self.stats()) and not self.status(status=None)["alerts"])
        self.ledger.newcomer(self)

    def test_who_starts_then(self):
        """What it lacks is said by those that have it."""
        late = self.ledger.start()
        self.assertTrue(self.ledger.lost())
        group.wait_until("it is said", lambda: self.status(status=None)["alerts"])
        self.replicate("status", status=1)
        self.assertEqual(self.ledger.nodes[0].ask("publish"), "0 ")
        group.wait_until("it has all", lambda: not any(
            late.missing(of, many)[0] for of, many in self.ledger.promises().items()))


class WaysOut(tool.Tool):
    """Of a set of keys: files of another lineage, by another seed."""

    def begin(self, *seconds):
        self.ledger = self.nodes("stream=keys")
        self.ledger.capacity = 20000
        for s in seconds:
            self.ledger.start(seconds=s).ask("burst 100")
        nodes.settle(self, self.ledger)
        for _ in range(2):
            self.record()
        files, old = (os.path.join(self.folder, name) for name in ("appendonlydir", "old"))
        shutil.copytree(files, old)
        self.server.client.flushall()
        group.wait_until("it is there again", lambda: self.server.client.exists(SET + "manifest"))
        for _ in range(3):
            self.record()
        self.server.kill()
        shutil.rmtree(files)
        shutil.copytree(old, files)
        self.server.start()
        for node in self.ledger.nodes:
            group.wait_until("it says so", lambda: "does not descend" in node.stats()["error"])

    def record(self):
        for node in self.ledger.nodes:
            node.ask("burst 30")
        # whose duty it is in this epoch may have the lease for a moment
        group.wait_until("it is published", lambda: self.ledger.nodes[0].ask("record") == "0 ")
        nodes.settle(self, self.ledger)

    def test_a_record_once(self):
        """It is joined by all, though one of them publishes each second."""
        self.begin(1, 3600, 0)
        self.record()

    def test_a_record_and_no_more(self):
        """It is the generation that was due in this epoch: all have time to join it."""
        self.begin(3600, 3600, 0)
        self.record()
        time.sleep(1)
        self.assertIn(b"source record", self.server.client.hget(SET + "manifest", "text"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
