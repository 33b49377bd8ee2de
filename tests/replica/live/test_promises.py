# SPDX-License-Identifier: MIT
"""What a call has done when it returns. test_promises.py PROGRAM"""
import os
import signal
import sys
import unittest

import group
import nodes

SET = "{weir:seen}:"


class Promises(nodes.OneServer):
    """What a call says when it returns. The thread looks so rarely that only who asks wakes it."""

    def node(self, *options):
        return self.ledger.start("poll=600000", "idle=600000", *options)

    def test_confirmed(self):
        node = self.node()
        self.assertEqual(node.ask("publish"), "0 ")
        self.assertIsNone(self.server.client.get(SET + "lease"))
        self.assertEqual(node.ask("confirm 7"), "1 ")
        self.assertEqual(node.ask("confirm 7"), "0 ")

    def test_nothing_is_kept_for_others(self):
        """A thread may have 1,048,576 inserts pending, and no batch can be made."""
        node = self.node("pending=40")
        node.ask("burst 1048577")
        group.wait_until("it is counted", lambda: node.stats()["lost"] == 1)
        answer = node.ask("confirm 1")
        self.assertTrue(answer.startswith("-11 ") and "no room" in answer, answer)

    def test_closed(self):
        node, other = self.node(), self.ledger.start()
        node.ask("burst 1000")
        self.assertEqual(node.quit(), "0 ")
        group.wait_until("all has come", lambda: other.missing(node.name, 1000)[0] == 0)
        names = self.server.client.hgetall(SET + "nodes")
        self.assertLessEqual(len(names), 1, names)

    def test_closed_without_redis(self):
        node = self.node()
        self.server.kill()
        node.ask("burst 1000")
        answer = node.quit()
        self.assertTrue(answer.startswith("-11 ") and " 8000 bytes" in answer, answer)

    def test_not_connected(self):
        node = self.ledger.start()
        group.wait_until("it is connected", lambda: node.stats()["connected"])
        self.server.kill()
        group.wait_until("it is not", lambda: not node.stats()["connected"])

    def test_no_replica(self):
        node = self.node("confirm=1")
        self.assertTrue(node.ask("flush 8000").startswith("-110 "))

    def test_a_replica_stands_still(self):
        replica = group.Server(("--replicaof", "127.0.0.1 %d" % self.server.port))
        self.addCleanup(replica.close)
        group.wait_until("it follows", lambda: group.Group.in_step(self.server))
        node = self.ledger.start("confirm=4294967295")
        os.kill(replica.process.pid, signal.SIGSTOP)
        node.ask("burst 10")
        self.assertTrue(node.ask("flush 1000").startswith("-110 "))
        os.kill(replica.process.pid, signal.SIGCONT)
        self.assertEqual(node.ask("flush 60000"), "0 ")

    def test_who_asks_takes_the_lease(self):
        """From the node whose duty it is: that one has it all the time."""
        duty, node = self.ledger.start(seconds=1), self.ledger.start()
        group.wait_until("it has published", lambda: duty.stats()["generation"] > 1)
        self.assertEqual(node.ask("publish"), "0 ")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
