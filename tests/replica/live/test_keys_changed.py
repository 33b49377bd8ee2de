# SPDX-License-Identifier: MIT
"""Keys of a set are changed by hand (changes.py) while three nodes insert and publish; then all are
deleted. Does every node live on, and is each well again, with all that any inserted?
test_keys_changed.py PROGRAM WEIR [--seeds=N] [--from=N] [Hashes|Keys|Signed]: how many, two rounds
each, and whether batches are of hashes or of keys, and generations signed; without: all three"""
import os
import random
import sys
import time
import unittest

import broken
import changes
import group
import nodes
import tool

SEEDS, FROM = nodes.numbers("--seeds=", 1, "--from=", 1)
SECONDS = 1.2   # of a round
BOUND = 30      # seconds to end
MEGABYTES = 400 # of a node


class Hashes(tool.Tool):
    OPTIONS = ()

    def begin(self, seed):
        self.rng = random.Random(seed)
        self.server.client.flushall()
        self.changes = changes.Changes(self.rng, self.server)
        self.ledger = self.nodes(*self.OPTIONS)
        self.ledger.capacity = 100000
        for seconds in (1, 0, 1):
            self.ledger.start(seconds=seconds)
        self.before = [nodes.descriptors(node.process) for node in self.ledger.nodes]

    def roll_back(self):
        """To what may be anything."""
        kept = [int(name) for name in self.changes.kept() if name.isdigit()] or [1]
        self.rng.choice(self.ledger.nodes).ask("rollback %d" % self.rng.choice(kept))

    def while_it_changes(self):
        for node in self.ledger.nodes:
            node.rate(300)
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            self.changes.one()
            if self.rng.random() < 0.2:
                self.roll_back()
            time.sleep(self.rng.choice([0.002, 0.02, 0.1]))
        for node in self.ledger.nodes:
            self.assertIsNone(node.process.poll(), "it has ended")
            node.rate(0)

    def is_well(self):
        """What was changed in the stream is passed by, which is said for ever."""
        return nodes.all_well(self.ledger, "passed by") and all(
            node.ask("flush 3000") == "0 " for node in self.ledger.nodes)

    def record(self):
        """Only with keys: each is of another seed then."""
        if "stream=keys" in self.OPTIONS:
            self.ledger.nodes[0].ask("record")

    def heal(self):
        for key in self.server.client.scan_iter(changes.SET + "*"):
            self.server.client.delete(key)
        broken.wait_until("all are well", self.is_well, self.record)
        group.wait_until("nothing is lost", lambda: not self.ledger.lost())

    def gathers_nothing(self):
        for node, before in zip(self.ledger.nodes, self.before):
            self.assertLess(nodes.descriptors(node.process) - before, 8, "descriptors")
            self.assertLess(nodes.megabytes(node.process), MEGABYTES)

    def end(self):
        for node in self.ledger.nodes:
            begun = time.monotonic()
            self.assertEqual(node.quit(), "0 ")
            self.assertLess(time.monotonic() - begun, BOUND)
            self.assertEqual(node.process.returncode, 0)
        self.ledger.close()

    def test_keys_that_are_changed_and_then_deleted(self):
        for seed in range(FROM, FROM + SEEDS):
            self.begin(seed)
            for turn in range(2):
                try:
                    self.while_it_changes()
                    self.heal()
                    self.gathers_nothing()
                except AssertionError as why:
                    self.fail("seed %d, round %d: %s; what was done: %s; %s" % (
                        seed, turn, why, self.changes.did[-40:],
                        [n.stats() for n in self.ledger.nodes if n.process.poll() is None]))
            self.end()


class Keys(Hashes):
    OPTIONS = ("stream=keys",)


class Signed(Hashes):
    """What nobody has signed is no generation, whoever wrote it."""

    def begin(self, seed):
        if not self.OPTIONS:
            self.weir("replicate", "key", "secret", "public")
            self.OPTIONS = tuple("%s=%s" % (option, os.path.join(self.folder, name)) for
                                 option, name in (("secret", "secret"), ("trusted", "public")))
        super().begin(seed)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *nodes.words(3)])
