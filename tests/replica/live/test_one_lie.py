# SPDX-License-Identifier: MIT
"""Redis lies (lies.py) in one answer to one of two nodes, the only one that publishes, and is
honest again: that node becomes well, publishes, forgets what it retains, and nothing is lost.
test_one_lie.py PROGRAM [--lies=N] [--from=N] [Hashes|Keys]: how many, and the number of the first,
which is what it is drawn by"""
import random
import sys
import threading
import time
import unittest

import group
import liar
import lies
import nodes

LIES, FROM = nodes.numbers("--lies=", 8, "--from=", 1)
SET = "{weir:seen}:"
ASKED = ["read"] * 4 + ["manifest"] * 2 + ["append", "alive", "lease", "time", "publish", "report",
                                         "info", "role", "wait", "hget"]
BOUND = 30      # seconds until all is well
RETAINED = 300  # bytes


class Hashes(nodes.OneServer):
    OPTIONS = ()

    def setUp(self):
        super().setUp()
        self.ledger.capacity = 20000
        self.ledger.options += self.OPTIONS
        self.other = self.ledger.start()
        self.liar = liar.Liar(self.server.socket)
        self.addCleanup(self.liar.close)
        self.node = self.ledger.start("url=" + self.liar.url, "answer=500", "connect=1000")

    def insert(self):
        for node in self.ledger.nodes:
            node.ask("burst 50")
            self.assertEqual(node.ask("flush 10000"), "0 ")

    def lie(self, name):
        """Once."""
        drawn = lies.Lies(self.rng, self.server.client.hkeys(SET + "nodes"))

        def once(args, answer, send):
            if self.said is not None or (name in ("read", "manifest") and
                                         not isinstance(answer, list)):
                return answer
            self.said = ()
            self.said = drawn.another(name, answer)
            return self.said
        self.said = None
        self.liar.lies[name] = once

    def until_it_lies(self, name):
        """What is not asked for within that time is not lied about."""
        until = time.monotonic() + 2
        while self.said is None and time.monotonic() < until:
            self.node.ask("burst 5")
            self.node.ask("rollback 1" if name == "hget" else
                          self.rng.choice(["publish", "flush 200", "stats"]))
        self.liar.lies.clear()

    def publishes(self):
        for _ in range(2):
            group.wait_until("it publishes", lambda: self.node.ask("publish") == "0 ", BOUND)

    def heals(self):
        group.wait_until("it is complete", lambda: self.node.stats()["complete"], BOUND)
        self.publishes()
        group.wait_until("both are well", lambda: nodes.all_well(self.ledger, "passed by"), BOUND)
        group.wait_until("nothing is lost", lambda: not self.ledger.lost(), BOUND)
        self.publishes()
        group.wait_until("it forgets", lambda: self.node.stats()["retained"] < RETAINED, BOUND)

    def test_one_lie(self):
        for seed in range(FROM, FROM + LIES):
            self.rng = random.Random(seed)
            name = self.rng.choice(ASKED)
            try:
                self.insert()
                self.lie(name)
                self.until_it_lies(name)
                self.heals()
            except AssertionError as why:
                self.fail("lie %d, %s: %.300r: %s; %s; lost: %s" % (
                    seed, name, self.said, why, [n.stats() for n in self.ledger.nodes],
                    self.ledger.lost()))


class Keys(Hashes):
    OPTIONS = ("stream=keys",)


if __name__ == "__main__":
    threading.excepthook = lambda *_: None # of a liar whose other end has gone
    unittest.main(argv=[sys.argv[0], *nodes.words()])
