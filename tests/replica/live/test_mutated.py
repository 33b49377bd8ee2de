# SPDX-License-Identifier: MIT
"""Three nodes at a redis of which some answers are not what it said (mutated.py), and which is
honest again: no node ends, hangs, spins or gathers descriptors, and no insert is lost.
test_mutated.py PROGRAM [--seeds=N] [--from=N]: how many seeds, three rounds each."""
import os
import random
import sys
import threading
import time
import unittest

import group
import liar
import mutated
import nodes

PROGRAM = os.path.abspath(sys.argv[1])
SEEDS, FROM = nodes.numbers("--seeds=", 1, "--from=", 1)
COMMANDS = ["publish", "append", "read", "manifest", "lease", "alive", "report", "release", "get",
            "set", "role", "info", "time", "load", "hget", "hgetall", "hdel", "wait", "client",
            "ping", "unlink", "script", "exists"]


class Mutated(unittest.TestCase):
    def begin(self, seed):
        self.rng, self.said = random.Random(seed), []
        self.server = group.Server()
        self.addCleanup(self.server.close)
        self.liar = liar.Liar(self.server.socket)
        self.addCleanup(self.liar.close)
        errors = open(os.path.join(self.server.folder, "said"), "w")
        self.addCleanup(errors.close)
        self.ledger = nodes.Ledger(PROGRAM, "set=seen", "poll=20", "idle=300", "answer=1000",
                                   "connect=1000", "record=%s/record" % self.server.folder,
                                   capacity=100000, errors=errors)
        self.addCleanup(self.ledger.close)
        for _ in range(3):
            self.ledger.start("url=" + self.liar.url)

    def while_it_lies(self):
        for name in self.rng.sample(COMMANDS, self.rng.choice([1, 2, 4])):
            self.liar.lies[name] = mutated.lie(self.rng, self.rng.choice([0.05, 0.3, 1]),
                                               self.said)
        for node in self.ledger.nodes:
            node.rate(2000)
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            self.rng.choice(self.ledger.nodes).ask(self.rng.choice(
                ["publish", "record", "flush 300", "rollback %d" % self.rng.randrange(1, 9)]))
        before = [nodes.ticks(node.process) for node in self.ledger.nodes]
        time.sleep(1)
        for node, of in zip(self.ledger.nodes, before):
            self.assertLess(nodes.ticks(node.process) - of, 80, "it spins")
        self.liar.lies.clear()
        for node in self.ledger.nodes:
            node.rate(0)

    def heal(self):
        """A damaged entry is passed by, which is said for ever."""
        for node in self.ledger.nodes:
            group.wait_until("all is sent", lambda: node.ask("flush 30000") == "0 ")
        nodes.publish_anyhow(self.ledger.nodes[0])
        group.wait_until("nothing is lost", lambda: not self.ledger.lost())

    def test_answers_that_are_not_what_it_said(self):
        for seed in range(FROM, FROM + SEEDS):
            self.begin(seed)
            before = [nodes.descriptors(node.process) for node in self.ledger.nodes]
            for turn in range(3):
                with self.subTest(seed=seed, turn=turn):
                    try:
                        self.while_it_lies()
                        self.heal()
                    except AssertionError as why:
                        self.fail("%s; lies: %s" % (why, self.said[-4:]))
            for node, of in zip(self.ledger.nodes, before):
                self.assertLess(nodes.descriptors(node.process) - of, 8, "descriptors")
            self.doCleanups()


if __name__ == "__main__":
    threading.excepthook = lambda *_: None
    unittest.main(argv=[sys.argv[0], *nodes.words()])
