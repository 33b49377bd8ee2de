# SPDX-License-Identifier: MIT
"""What a node leaves free in redis, for the image of its set, and for how long it takes the lease.
test_room.py PROGRAM WEIR"""
import json
import os
import sys
import unittest

import group
import liar
import tool

SIZE = ["-k", "classic", "-p", "1e-6", "--seed=7"]
LIKE = ["seed=7"] # of a node, 1,000,000 keys


def room(filter_bytes):
    """As src/replica/service/begin.c has it."""
    return filter_bytes + filter_bytes // 16 + (6 << 20)


class Room(tool.Tool):
    def setUp(self):
        super().setUp()
        self.free, self.leases = [], []
        between = liar.Liar(self.server.socket)
        self.addCleanup(between.close)
        self.options.append("url=" + between.url)

        def note(numbers):
            def lie(args, answer, send):
                numbers.append(int(args[1]))
                return answer
            return lie
        between.lies = {"append": note(self.free), "lease": note(self.leases)}

    def image(self, name, keys):
        """Return: the bytes of its filter."""
        self.build(name, 0, 10, "-n", str(keys), *SIZE)
        return json.loads(self.weir("info", "--json", name))[0]["bytes"]

    def left(self, node):
        """What the next batch leaves free."""
        node.ask("burst 1")
        self.assertEqual(node.ask("flush 10000"), "0 ")
        return self.free[-1]

    def test_before_it_reports(self):
        """The lease of a first publisher is long enough for its image, at 10 MB a second."""
        size = self.image("a", 1000000)
        self.nodes(*LIKE).start()
        self.assertEqual(self.leases[0], 60000 + room(size) // 10000)

    def test_of_another_size(self):
        """It is that of the set as it is, which a smaller one may replace."""
        size = self.image("a", 1000000)
        node = self.nodes(*LIKE).start()
        self.assertEqual(self.left(node), room(size))
        size = self.image("b", 1000)
        self.replicate("publish", "--replace", "b", "--", "true")
        group.wait_until("it serves", lambda: node.stats()["generation"] == 2)
        group.wait_until("it is noticed", lambda: self.left(node) == room(size))

    def test_a_chunk(self):
        """Redis would take a quarter more for one of a mebibyte and a little."""
        self.nodes(*LIKE).start()
        client = self.server.client
        sizes = [client.memory_usage(key) for key in client.scan_iter("{weir:seen}:c:*")]
        self.assertGreater(max(sizes), 1 << 20)
        self.assertLess(max(sizes), 1.1 * (1 << 20))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
