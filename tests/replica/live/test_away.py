# SPDX-License-Identifier: MIT
"""Redis goes away, stands still or is full while nodes open, close, publish and confirm.
test_away.py PROGRAM WEIR"""
import os
import shutil
import signal
import sys
import threading
import time
import unittest

import group
import nodes
import tool

CLOSED = 10 # seconds that closing takes at the most: it tries for one where nobody answers


class Away(tool.Tool):
    def setUp(self):
        super().setUp()
        self.ledger = self.nodes("answer=1500", "connect=1500", "pending=65536")
        self.ledger.capacity = 20000
        self.client = self.server.client

    def start(self, n=2):
        for _ in range(n):
            self.ledger.start()
        self.insert(100)
        return self.ledger.nodes

    def insert(self, n):
        for node in self.ledger.nodes:
            node.ask("burst %d" % n)
            group.wait_until("it is sent", lambda: node.ask("flush 5000") == "0 ")

    def stand_still(self):
        self.server.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.server.process.send_signal(signal.SIGCONT)

    def close(self, node):
        """Return: the answer."""
        begun = time.monotonic()
        answer = node.quit()
        self.assertLess(time.monotonic() - begun, CLOSED)
        self.ledger.nodes.remove(node)
        node.close()
        return answer

    # ---- a node is closed ----

    def test_closed_with_nothing_to_send(self):
        node, *_ = self.start(1)
        self.server.kill()
        self.assertEqual(self.close(node), "0 ")

    def test_closed_when_it_goes_on(self):
        """What was inserted meanwhile is sent yet."""
        node, other = self.start()
        self.stand_still()
        node.ask("burst 100")
        later = threading.Timer(2.5, self.go_on)
        later.start()
        self.addCleanup(later.join)
        self.assertEqual(self.close(node), "0 ")
        group.wait_until("it has come", lambda: not other.missing(node.name, 200)[0])

    # ---- it stands still ----

    def test_stands_still(self):
        """Whoever asks for something gets an answer, and nothing is lost when it goes on."""
        node, other = self.start()
        self.build("a", 0, 10)
        self.stand_still()
        begun = time.monotonic()
        self.assertTrue(node.ask("publish").startswith("-110 "))
        self.assertTrue(node.ask("flush 300").startswith("-110 "))
        node.ask("burst 100")
        for command in ("status", "publish a", "follow -o served", "rollback --generation=1"):
            self.replicate(*command.split(" "), "--timeout=0.5", status=2)
        with self.assertRaisesRegex(AssertionError, "did not open: -110 "):
            self.ledger.start()
        self.assertLess(time.monotonic() - begun, 40)
        self.go_on()
        self.insert(100)
        self.well()

    def well(self):
        self.ledger.newcomer(self)
        nodes.settle(self, self.ledger)
        group.wait_until("status is well", lambda: not self.status(status=None)["alerts"])
        for node in list(self.ledger.nodes):
            self.assertEqual(self.close(node), "0 ")

    # ---- whoever confirmed and redis are killed ----

    def test_confirmed_and_both_are_killed(self):
        """What was confirmed is in its files, of each of those that are dead."""
        other = self.ledger.start(seconds=1)
        for i in range(6):
            node = self.ledger.start(seconds=1)
            node.ask("confirms 15")
            node.kill()
            self.ledger.nodes.remove(node)
            self.ledger.gone[node.name] = 15
            node.close()
            if i % 2:
                self.server.again()
        group.wait_until("each has all", lambda: not self.ledger.lost())
        self.ledger.newcomer(self)
        before = other.stats()["newest"]
        group.wait_until("generations go on", lambda: other.stats()["newest"] > before)

    # ---- it is full ----

    def fill(self):
        self.client.config_set("maxmemory", self.client.info("memory")["used_memory"] // 2)

    def test_full(self):
        """Whoever opens gets what is there; what would need room is refused and not lost."""
        node, other = self.start()
        self.assertEqual(node.ask("publish"), "0 ")
        self.fill()
        node.ask("burst 1000")
        self.assertTrue(node.ask("flush 2000").startswith("-11 "))
        self.assertRegex(node.ask("publish"), "^-28 .*memory is full")
        for command in ("publish a", "rollback --generation=1"):
            self.build("a", 0, 10, "--seed=%d" % 7)
            self.assertIn("full", self.replicate(*command.split(" "), status=1))
        late = self.ledger.start()
        self.assertFalse(late.missing(node.name, 100)[0] + late.missing(other.name, 100)[0])
        late.ask("burst 1")
        self.assertRegex(self.close(late), r"^-11 .* 8 bytes of inserts have not reached redis")
        self.client.config_set("maxmemory", 0)
        self.insert(100)
        self.assertEqual(node.ask("publish"), "0 ")
        self.well()

    # ---- it has nothing any more ----

    def test_empty(self):
        """Nobody can join what is not there; a generation of whoever lives has all again."""
        self.ledger.options += ("seed=7",)
        node, _ = self.start()
        for how in ("killed", "flushed"):
            with self.subTest(how=how):
                if how == "killed":
                    self.server.kill()
                    shutil.rmtree(os.path.join(self.folder, "appendonlydir"))
                    self.server.start()
                else:
                    self.server.client.flushall()
                self.insert(100)
                self.assertIn("there is no generation of it",
                              self.replicate("follow", "-o", "served", status=2))
                self.replicate("status", status=1)
                group.wait_until("it publishes", lambda: node.ask("publish") == "0 ")
                nodes.settle(self, self.ledger)
        self.well()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
