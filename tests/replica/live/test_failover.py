# SPDX-License-Identifier: MIT
"""Nodes that find their master by Sentinel, which may change. test_failover.py PROGRAM"""
import os
import sys
import time
import unittest

import group
import nodes

PROGRAM = os.path.abspath(sys.argv[1])


class Failover(unittest.TestCase):
    def setUp(self):
        self.errors = open(os.devnull, "w")
        self.addCleanup(self.errors.close)
        self.group = group.Group()
        self.addCleanup(self.group.close)
        self.ledger = nodes.Ledger(PROGRAM, "set=seen", "url=" + self.group.url(), "poll=20",
                                   "idle=300", "confirm=4294967295", "connect=2000",
                                   "answer=2000", errors=self.errors)
        self.addCleanup(self.ledger.close)

    def test_the_master_is_killed(self):
        self.ledger.start(seconds=1)
        self.ledger.start()
        self.ledger.start()
        for n in self.ledger.nodes:
            n.rate(5000)
        for turn in range(2):
            time.sleep(1)
            self.group.fail_over()
            if turn == 0:
                self.ledger.kill(self.ledger.nodes[1]) # what was confirmed has to stay
                self.ledger.start().rate(5000)
        time.sleep(1)
        nodes.settle(self, self.ledger)
        self.assertGreater(sum(self.ledger.confirmed()), 5000)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
