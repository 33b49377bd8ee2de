# SPDX-License-Identifier: MIT
"""Redis restarts without what it had, and a node closes as soon as it has heard of it: it has sent
again what it keeps, or says that redis may not have it. test_close_after_restart.py PROGRAM"""
import sys
import unittest

import group
import nodes

STREAM = "{weir:seen}:stream"
TIMES, MANY = 5, 1000


class CloseAfterRestart(nodes.OneServer):
    def setUp(self):
        super().setUp()
        self.server.close()
        self.server = group.Server(["--appendonly", "no"])
        self.addCleanup(self.server.close)
        self.ledger.options = ("set=seen", "url=unix://" + self.server.socket)

    def sent(self):
        """Bytes of hashes."""
        return sum(len(fields.get(b"h", b"")) for _, fields in self.server.client.xrange(STREAM))

    def close_after_restart(self, *options):
        for _ in range(TIMES):
            node = self.ledger.start(*options)
            node.ask("burst %d" % MANY)
            self.assertEqual(node.ask("flush 5000"), "0 ")
            self.server.again()
            group.wait_until("it has heard of it", lambda: "no generation of it" in
                             node.stats()["error"])
            answer, sent = node.quit(), self.sent()
            self.assertTrue(answer.startswith("-11 ") or sent == 8 * MANY, (answer, sent))
            self.server.client.flushall()

    def test_it_looks_all_the_time(self):
        self.close_after_restart("poll=20", "idle=300")

    def test_it_looks_when_it_is_woken(self):
        self.close_after_restart("poll=60000", "idle=60000")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
