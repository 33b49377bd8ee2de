# SPDX-License-Identifier: MIT
"""Redis restarts again and again, at any moment, under three nodes that insert and of which each is
to publish once an hour: is there a generation in each epoch that lasts, and is it quiet then?
test_restarts.py PROGRAM [--restarts=N] [--seed=N] [--idle=MS]"""
import random
import re
import sys
import time
import unittest

import group
import nodes

RESTARTS, SEED, IDLE = nodes.numbers("--restarts=", 24, "--seed=", 1, "--idle=", 300)
SET = "{weir:seen}:"
EVERY = 4     # of them is followed by a look
POLLS = 50    # a second, of a node: poll is 20


class Restarts(nodes.OneServer):
    def setUp(self):
        super().setUp()
        self.rng, self.moments = random.Random(SEED), []
        self.ledger.capacity = 100000
        self.ledger.options += ("idle=%d" % IDLE,)
        for _ in range(3):
            self.ledger.start(seconds=3600)

    def line(self, name):
        """Of the manifest."""
        text = self.server.client.hget(SET + "manifest", "text").decode()
        return re.search(r"(?m)^%s (\S+)" % name, text)[1]

    def is_of_this_epoch(self):
        """An epoch is what redis says of itself, and something that a node drew."""
        return self.line("epoch").startswith(self.server.client.info("replication")
                                             ["master_replid"])

    def restart(self):
        moment = self.rng.choice([0, 0.02, 0.1, 0.3, 1]) * self.rng.random()
        self.moments.append(round(moment, 3))
        time.sleep(moment)
        self.server.again()

    def calls(self):
        return self.server.client.info("commandstats")["cmdstat_evalsha"]["calls"]

    def stays(self):
        """For a second, or as long as a busy machine makes of it."""
        generation, calls, since = self.line("generation"), self.calls(), time.monotonic()
        time.sleep(1)
        self.called = self.calls() - calls
        self.seconds = time.monotonic() - since
        return self.line("generation") == generation

    def is_quiet(self):
        """Nobody publishes within an hour; nodes read, and say now and then that they live."""
        group.wait_until("nobody publishes", self.stays)
        self.assertLess(self.called, 3 * (POLLS + 6000 // IDLE) * self.seconds)

    def test_a_generation_in_each_epoch_that_lasts(self):
        try:
            for node in self.ledger.nodes:
                node.rate(500)
            for i in range(1, RESTARTS + 1):
                self.restart()
                if i % EVERY == 0:
                    group.wait_until("a generation of this epoch", self.is_of_this_epoch)
            nodes.settle(self, self.ledger)
            self.is_quiet()
            self.assertEqual(self.server.client.hlen(SET + "nodes"), 3)
        except AssertionError as why:
            self.fail("seed %d, restarts after: %s: %s" % (SEED, self.moments, why))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *nodes.words()])
