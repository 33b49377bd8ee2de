# SPDX-License-Identifier: MIT
"""Somebody adds entries of nearly a megabyte, of which 64 come in one reading, and of many fields:
nodes pass them by, read on and take no more than they should. test_large_entries.py PROGRAM"""
import sys
import unittest

import broken
import group
import nodes

STREAM = "{weir:seen}:stream"
LARGE, MANY = 1048000, 130
FIELDS, SMALLER = 32, 30000
MEGABYTES = 160


class LargeEntries(nodes.OneServer):
    def test_they_are_passed_by(self):
        one, other = self.ledger.start(), self.ledger.start()
        one.ask("burst 10")
        self.assertEqual(one.ask("flush 10000"), "0 ")
        client, data, most = self.server.client, bytes(LARGE), 0 # one key, again and again
        seed = client.xrange(STREAM)[0][1][b"s"]
        with broken.stopped(one):
            for i in range(MANY): # as if they were batches
                client.xadd(STREAM, {"v": "1", "n": "%016x" % (i // 64 + 1), "q": i % 64 + 1,
                                     "s": seed, "h": data})
            for _ in range(MANY):
                client.xadd(STREAM, {"f%d" % i: data[:SMALLER] for i in range(FIELDS)})
        other.ask("burst 10")
        self.assertEqual(other.ask("flush 10000"), "0 ")

        def reads_on():
            nonlocal most
            most = max(most, *(nodes.megabytes(node.process) for node in (one, other)))
            return not one.missing(other.name, 10)[0]
        group.wait_until("it reads on", reads_on)
        self.assertLess(most, MEGABYTES)
        group.wait_until("it says so", lambda: "%d entries of the stream" % MANY in
                         one.stats()["error"])
        for node in (one, other):
            group.wait_until("it publishes", lambda: node.ask("publish") == "0 ")
        self.assertEqual(self.ledger.lost(), [])
        self.assertEqual(one.missing(77, 100)[0], 100) # of nobody


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
