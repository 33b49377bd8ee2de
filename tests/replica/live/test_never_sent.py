# SPDX-License-Identifier: MIT
"""A node's user of redis may not XADD any more, so that nothing it inserts is sent: the node and
status say so each time that they are asked, for an alert holds for minutes before it fires.
test_never_sent.py PROGRAM WEIR"""
import sys
import time
import unittest

import group
import tool

TIMES = 50


class NeverSent(tool.Tool):
    def setUp(self):
        super().setUp()
        self.client = self.server.client
        self.client.execute_command("ACL", "SETUSER", "one", "on", ">word", "~*", "&*", "+@all")
        self.ledger = self.nodes("url=unix://one:word@" + self.server.socket, "idle=1000")

    def is_not_sent(self, node):
        self.assertEqual(node.ask("flush 1000").split(" ")[0], "-110")

    def test_a_rule_has_gone(self):
        node, other = self.ledger.start(), self.ledger.start()
        node.ask("burst 10")
        self.assertEqual(node.ask("flush 5000"), "0 ")
        self.client.execute_command("ACL", "SETUSER", "one", "-xadd")
        node.ask("burst 10")
        self.is_not_sent(node)
        group.wait_until("it is reported", lambda: self.status(status=None)["alerts"])
        for i in range(TIMES):
            self.assertTrue(node.stats()["error"], i)
            self.assertTrue(self.status(status=None)["alerts"], i)
            time.sleep(0.1)
        self.is_not_sent(node)
        self.assertGreater(other.missing(node.name, 20)[0], 0)
        self.client.execute_command("ACL", "SETUSER", "one", "+xadd")
        group.wait_until("it is sent", lambda: node.ask("flush 1000") == "0 ")
        group.wait_until("nothing more is said", lambda: not self.status(status=None)["alerts"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
