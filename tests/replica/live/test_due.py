# SPDX-License-Identifier: MIT
"""What a node does now and then, and what it leaves while that would be in vain. test_due.py
PROGRAM"""
import os
import signal
import sys
import time
import unittest

import group
import liar
import nodes

SET = "{weir:seen}:"


class Due(nodes.OneServer):
    def setUp(self):
        super().setUp()
        self.client = self.server.client
        self.liar = liar.Liar(self.server.socket)
        self.addCleanup(self.liar.close)

    def lacking(self, *options, **more):
        """A node that lacks a batch of one that lives and does not send it."""
        node = self.ledger.start("url=" + self.liar.url, *options, **more)
        self.liar.lies["alive"] = lambda args, answer, send: [*answer, b"%016x" % 0xb]
        self.client.xadd(SET + "stream", {"v": 1, "n": "%016x" % 0xb, "q": 5, "s": "0" * 16,
                                          "i": ""})
        group.wait_until("it is noticed", lambda: not node.stats()["complete"])
        return node

    def test_who_lives_is_asked_now_and_then(self):
        node = self.lacking()
        group.wait_until("it asks", lambda: self.liar.calls.get("alive"))
        before, reads = self.liar.calls["alive"], self.liar.calls["read"]
        time.sleep(3) # ten times idle, 100 of its rounds and more
        self.assertGreater(self.liar.calls["read"] - reads, 40)
        self.assertLess(self.liar.calls["alive"] - before, 20)
        self.assertFalse(node.stats()["complete"])

    def test_no_duty_of_who_lacks_inserts(self):
        """It is no failure either."""
        node = self.lacking(seconds=1)
        before = node.stats()["generation"]
        end = time.monotonic() + 2.5
        while time.monotonic() < end:
            self.assertEqual(node.stats()["error"], "")
            time.sleep(0.02)
        s = node.stats()
        self.assertEqual((s["complete"], s["generation"], s["newest"]), (0, before, before))

    def test_looks_that_fail(self):
        """As often as they do, the manifest is looked at again."""
        publisher, node = self.ledger.start(), self.ledger.start("url=" + self.liar.url,
                                                                 "idle=60000")
        left = [5]

        def manifest(args, answer, send):
            left[0] -= 1
            return liar.Error(b"BUSY a script runs") if left[0] >= 0 else answer
        self.liar.lies["manifest"] = manifest
        self.assertEqual(publisher.ask("publish"), "0 ")
        group.wait_until("it is joined", lambda: node.stats()["generation"] ==
                         publisher.stats()["generation"])
        self.assertLess(left[0], 0)

    def test_room_for_a_set_that_has_grown(self):
        """What batches leave free grows with it, long before the next report: that of its image.
        """
        free = []

        def append(args, answer, send):
            free.append(int(args[1]))
            return answer
        self.liar.lies["append"] = append
        self.ledger.capacity = 100000
        node = self.ledger.start("url=" + self.liar.url, "kind=growing", "idle=60000")
        node.ask("burst 100")
        self.assertEqual(node.ask("flush 10000"), "0 ")
        first = free[0]
        node.ask("burst 300000")
        node.rate(100) # so that more is sent
        group.wait_until("it is noticed", lambda: free[-1] > first + 200000)

    def test_who_said_nothing_yet_in_this_epoch(self):
        """Redis has lost who there is: a node whose turn has not come yet has not gone."""
        publisher, silent = self.ledger.start(seconds=1), self.ledger.start()
        silent.ask("burst 100")
        self.assertEqual(silent.ask("flush 10000"), "0 ")
        self.assertEqual(publisher.ask("publish"), "0 ")
        stream = self.client.xrange(SET + "stream")
        name = {fields[b"n"] for _, fields in stream if fields.get(b"h")}
        self.assertEqual(len(name), 1)
        silent.signal(signal.SIGSTOP)
        self.client.delete(SET + "nodes")
        before = publisher.stats()["generation"]
        group.wait_until("two more", lambda: publisher.stats()["generation"] >= before + 2)
        self.assertIn(b"origin " + name.pop(), self.client.hget(SET + "manifest", "text"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
