# SPDX-License-Identifier: MIT
"""A node inserts and ends. Then redis loses the set, and only one other node has its keys: do they
reach all nodes? test_lost.py PROGRAM"""
import sys
import unittest

import live

FIRST, END = 1 << 50, (1 << 50) + 1000


class Lost(unittest.TestCase):
    def test_set_that_begins_anew_while_the_only_node_with_the_keys_is_away(self):
        w = live.World(options=("seed=7",))
        self.addCleanup(w.close)
        way = w.own(live.Proxy(w.master))
        ends, stays = w.start(), w.start("url=" + way.url)
        answer = ends.insert(FIRST, END, "confirmed", batch=100)
        self.assertGreaterEqual(answer["result"], 0, answer)
        live.wait_until("the other has them", lambda: not stays.missing(FIRST, END))
        self.assertEqual(ends.quit()["result"], 0)
        w.nodes.remove(ends)
        with way.cut():
            w.master.client.flushall()
            begins = w.start()
            self.assertEqual(begins.missing(FIRST, END), END - FIRST)
        live.wait_until("it has the keys", lambda: not begins.missing(FIRST, END))
        newcomer = w.start()
        self.assertEqual(newcomer.missing(FIRST, END), 0)
        for node in (begins, newcomer, stays):
            live.wait_until("it is well", node.well)
            self.assertEqual(node.missing(FIRST, END), 0)
            self.assertEqual(node.quit()["result"], 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
