# SPDX-License-Identifier: MIT
"""Redis has no room, or may evict keys. test_room.py PROGRAM"""
import errno
import sys
import time
import unittest

import live

MIB = 1 << 20


class Room(unittest.TestCase):
    def world(self, *options, **server):
        w = live.World(options=("capacity=1000000", *options), appendonly="no", **server)
        self.addCleanup(w.close)
        return w, w.master.client

    def fill(self, client, room=MIB):
        client.config_set("maxmemory", client.info("memory")["used_memory"] + room)

    def until_full(self, node):
        """Insert until redis is full. The node refuses no insert, and all wait."""
        node.ask("work", 50000, 0, 0)
        live.wait_until("it says that redis is full", lambda: "full" in node.stats()["error"] or
                        "no room" in node.stats()["error"] or "maxmemory" in
                        node.stats()["error"])
        node.ask("work", 0, 0, 0)
        self.assertEqual(node.refused(), 0)

    def test_full_and_then_not(self):
        w, client = self.world()
        one, other = w.start(), w.start()
        self.fill(client)
        self.until_full(one)
        answer = one.insert(7, 8, "confirmed")
        self.assertEqual(answer["result"], -errno.EAGAIN, answer)
        print("confirmed, of a full server: %s" % answer["error"])
        self.assertEqual(one.missing(7, 8), 0)
        count = one.count()
        client.config_set("maxmemory", 0)
        begun = time.monotonic()
        live.wait_until("a confirmed insert", lambda: one.insert(8, 9, "confirmed")["result"] >= 0)
        print("room came, confirmed %.3f s later" % (time.monotonic() - begun), flush=True)
        live.wait_until("the other has all", lambda: not other.missing(7, 9) and
                        not other.missing(one.first(), one.first() + count))
        live.wait_until("both are well", lambda: one.well() and other.well())

    def test_a_failure_is_reported_once(self):
        w, client = self.world()
        node = w.start()
        self.fill(client)
        self.until_full(node)
        time.sleep(3)
        lines = [s for s in node.reports().split("\n") if "full" in s or "room" in s or
                 "maxmemory" in s]
        self.assertEqual(len(lines), 1, lines)

    def test_a_publication_makes_room(self):
        """Generations fit into a server that the log has filled. The log is trimmed only after as
        many publications as generations are kept."""
        w, client = self.world("publish_seconds=2", "capacity=100000", "keep=3")
        node = w.start()
        self.fill(client, 20 * MIB)
        self.assertGreaterEqual(node.insert(0, 4000000, "soon", 2, 512)["result"], 0)
        live.wait_until("it is full", lambda: "full" in node.stats()["error"])
        live.wait_until("all is confirmed", lambda: node.ask("flush", 5000)["result"] == 0)

    def test_a_node_that_may_not_publish_refuses(self):
        """When the ring is full, the node refuses keys, and its set lacks the refused keys."""
        w, client = self.world()
        w.start(*w.signed("a", True))
        node = w.start(*w.signed("b"), "max_pending_bytes=80000")
        with w.proxy.cut():
            answer = node.insert(0, 100000)
            self.assertEqual(answer["result"], -errno.ENOBUFS, answer)
            self.assertIn("secret", answer["error"])
            refused = next(i for i in range(100000) if node.missing(i, i + 1))
            self.assertEqual(node.missing(refused, 100000), 100000 - refused)
            self.assertLess(refused, 80000 / 8 + 1)
        live.wait_until("it is sent", lambda: node.ask("flush", 5000)["result"] == 0)

    def evicting(self, policy):
        w, client = self.world(**{"maxmemory-policy": policy, "maxmemory": "200mb"})
        node, other = w.start(), w.start()
        answer = node.insert(1, 2, "confirmed")
        self.assertEqual(answer["result"], -errno.EAGAIN, answer)
        self.assertIn(policy, answer["error"])
        live.wait_until("it is reported", lambda: policy in node.reports())
        live.wait_until("it goes there nevertheless", lambda: not other.missing(1, 2))
        return node, client

    def test_a_policy_that_evicts_some(self):
        self.evicting("volatile-ttl")

    def test_a_policy_that_evicts(self):
        """A node checks the policy every 15 s, and every second while redis may evict keys."""
        node, client = self.evicting("allkeys-lru")
        client.config_set("maxmemory-policy", "noeviction")
        live.wait_until("it confirms", lambda: node.insert(2, 3, "confirmed")["result"] >= 0,
                        3 * live.PATIENCE)
        live.wait_until("that is over", lambda: not node.stats()["error"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
