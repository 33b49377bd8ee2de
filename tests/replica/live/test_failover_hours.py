# SPDX-License-Identifier: MIT
"""Publishers that find their master by Sentinel and publish each hour, a follower and a shell:
another server is the master, in one way or another. test_failover_hours.py PROGRAM WEIR
[--turns=N]"""
import os
import signal
import subprocess
import sys
import unittest

import group
import nodes
import tool

TURNS, = nodes.numbers("--turns=", 1)


class FailoverHours(tool.Tool):
    """Of whose server only the folder is used."""

    def setUp(self):
        super().setUp()
        self.group = group.Group()
        self.addCleanup(self.group.close)
        self.options[1] = "url=" + self.group.url()
        self.environment["WEIR_REDIS_URL"] = self.group.url()
        self.ledger = self.nodes("connect=2000", "answer=2000")
        self.ledger.capacity = 20000
        for seconds in (3600, 3600, 0):
            self.ledger.start(seconds=seconds)
        self.follower, self.path = self.follow("served")
        group.wait_until("the file", lambda: os.path.exists(self.path))
        self.insert()
        nodes.settle(self, self.ledger)

    def insert(self):
        for node in self.ledger.nodes:
            node.ask("burst 50")

    def is_of_this_epoch(self):
        master = self.group.master()
        return master is not None and nodes.is_of_this_epoch(master.client)

    def named(self):
        """The ports that Sentinels name."""
        return {int(s.client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "weir")[1])
                for s in self.group.sentinels}

    def is_verified(self):
        return subprocess.run([tool.WEIR, "verify", "-q", self.path]).returncode == 0

    def well(self):
        """A generation of the new epoch is made though none was due, and is in the file."""
        self.insert()
        group.wait_until("a generation of this epoch", self.is_of_this_epoch)
        nodes.settle(self, self.ledger)
        group.wait_until("it publishes", lambda: self.ledger.nodes[0].ask("publish") == "0 ")
        for node in self.ledger.nodes:
            last = node.stats()["inserted"] - 1
            group.wait_until("it is in the file", lambda: self.has(self.path, node, last))
        self.assertTrue(self.is_verified())
        group.wait_until("status is well", lambda: not self.status(status=None)["alerts"])

    def stands_still(self, old):
        """It goes on later, and is nobody's master any more: what it still has comes to nothing."""
        old.process.send_signal(signal.SIGSTOP)
        self.insert()
        group.wait_until("another is named", lambda: old.port not in self.named())
        self.insert()
        old.process.send_signal(signal.SIGCONT)

    def is_replaced(self, old):
        """By whoever asks Sentinel to."""
        self.insert()
        self.group.sentinels[0].client.execute_command("SENTINEL", "FAILOVER", "weir")
        self.insert()
        group.wait_until("another is named", lambda: old.port not in self.named())

    def test_another_master(self):
        """Sentinel makes the old one a replica some ten seconds later."""
        for turn in range(TURNS):
            group.wait_until("two in step", self.group.whole)
            (self.is_replaced if turn % 2 else self.stands_still)(self.group.master())
            self.well()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *nodes.words(3)])
