# SPDX-License-Identifier: MIT
"""What whoever operates a set by the shell meets in a fortnight.
test_a_fortnight.py PROGRAM WEIR"""
import os
import sys
import time
import unittest

import group
import nodes
import tool

SET = "{weir:seen}:"
NODES, STREAM = SET + "nodes", SET + "stream"
LAST = "%d-%d" % (2 ** 64 - 1, 2 ** 64 - 1)


class Fortnight(tool.Tool):
    def setUp(self):
        super().setUp()
        self.client = self.server.client

    def first(self):
        self.build("first", 0, 100, "-n", "10000")
        self.replicate("publish", "-q", "--keep=5", "first")

    def follows(self):
        self.follower, path = self.follow("served")
        group.wait_until("the file", lambda: os.path.exists(path))

    def alerts(self):
        return " ".join(self.status(status=None)["alerts"])

    def says(self, what):
        self.assertIn(what, self.alerts())

    def is_well(self):
        group.wait_until("all is well", lambda: not self.alerts())

    def test_no_writes(self):
        """Said at once, in each form; over as soon as it is."""
        self.first()
        node = self.nodes().start()
        self.client.config_set("min-replicas-to-write", 1)
        self.says("NOREPLICAS")
        self.assertIn('takes_writes{set="seen"} 0',
                      self.replicate("status", "--prometheus", status=1))
        self.replicate("publish", "first", status=1)
        self.replicate("rollback", "--generation=1", status=1)
        node.ask("burst 10")
        self.assertTrue(node.ask("flush 1000").startswith("-110 "))
        self.follows() # all the same
        self.client.config_set("min-replicas-to-write", 0)
        group.wait_until("it is sent", lambda: node.ask("flush 1000") == "0 ")
        self.is_well()

    def test_a_hundred_nodes(self):
        """Each is shown, and of those that fail each sentence is whole in the alerts."""
        self.first()
        checksum = self.status()["current"]["checksum"]
        now, longest = int(time.time() * 1000), "set seen: " + "y" * 490 + " end"
        self.client.hset(NODES, mapping={"%016x" % i: (
            "%d host %s pid 1 generation 1 checksum %s position 0-0 complete 1 lacking 0 "
            "opened %016x error %s" % (now, "h" * 64, checksum, i, "" if i % 4 else longest))
            for i in range(1, 101)})
        of = self.status(status=1)
        self.assertEqual((len(of["nodes"]), len(of["alerts"])), (100, 25))
        self.assertTrue(all(alert.endswith(longest) for alert in of["alerts"]))

    def test_there_and_back(self):
        self.first()
        for i in range(1, 4):
            self.build("next", 200 * i, 200 * i + 100, "--like=first")
            self.replicate("publish", "-q", "--keep=5", "next")
            os.unlink(self.folder + "/next")
        self.follows()
        for to, has in ((2, 1), (1, 0), (4, 3)):
            self.replicate("rollback", "-q", "--generation=%d" % to)
            group.wait_until("it serves", lambda: [self.query("served", 200 * i + 5) for i in range(
                1, 4)] == [i <= has for i in range(1, 4)])
        self.assertIn("99 is not kept", self.replicate("rollback", "--generation=99", status=1))

    def test_ids_set_forth_and_back(self):
        """Also to the last that there is."""
        ledger = self.nodes()
        one, other = ledger.start(), ledger.start()
        one.ask("burst 20")
        self.assertEqual(one.ask("flush 5000"), "0 ")
        for last in ("99999999999999-0", LAST, "1-1"):
            with self.client.pipeline() as at_once:
                if last == "1-1": # whoever lacks what goes then is sent it again
                    at_once.xtrim(STREAM, maxlen=0, approximate=False)
                at_once.execute_command("XSETID", STREAM, last)
                at_once.execute()
            for node in (one, other):
                node.ask("burst 20")
                group.wait_until("it is sent", lambda: node.ask("flush 5000") == "0 ")
            group.wait_until("it publishes", lambda: one.ask("publish") == "0 ")
        nodes.settle(self, ledger)
        ledger.newcomer(self)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
