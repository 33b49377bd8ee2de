# SPDX-License-Identifier: MIT
"""Inserts at full speed: does the other node have all of them after a flush?
test_speed.py PROGRAM [KEYS]"""
import contextlib
import errno
import sys
import time
import unittest

import live

MANY = int(sys.argv[2]) if len(sys.argv) > 2 else 1000000


class Speed(unittest.TestCase):
    def world(self, *options):
        w = live.World(options=("capacity=%d" % (MANY + 1000000), *options), appendonly="no")
        self.addCleanup(w.close)
        return w

    def all_arrive(self, *options, threads, batch=1):
        w = self.world(*options)
        writer, reader = w.start(), w.start()
        answer = writer.insert(0, MANY, threads=threads, batch=batch)
        self.assertEqual(answer["result"] < 0, False, answer)
        begun = time.monotonic()
        self.assertEqual(writer.ask("flush", 600000, patience=660)["result"], 0)
        flushed = time.monotonic() - begun
        live.wait_until("the reader has all", lambda: reader.well() and
                        reader.missing(0, MANY) == 0, 5 * live.PATIENCE)
        print("%d threads, %d a call: %.2f million a second, flush %.2f s, the reader %.2f s" % (
            threads, batch, MANY / answer["seconds"] / 1e6, flushed, time.monotonic() - begun),
            flush=True)
        return writer

    def test_one_thread(self):
        self.all_arrive(threads=1)

    def test_four_threads(self):
        self.all_arrive(threads=4)

    def test_four_threads_of_batches(self):
        self.all_arrive(threads=4, batch=512)

    def test_a_small_ring_overflows_and_the_node_publishes(self):
        node = self.all_arrive("max_pending_bytes=65536", threads=4)
        self.assertGreater(node.stats()["published"], 0)

    def test_two_nodes_at_once(self):
        w = self.world()
        nodes = [w.start(), w.start()]
        for n in nodes:
            n.tell("insert", n.first(), n.first() + MANY // 2, "soon", 2, 1)
        for n in nodes:
            self.assertEqual(n.answer(600)["result"] < 0, False)
        for n in nodes:
            self.assertEqual(n.ask("flush", 600000, patience=660)["result"], 0)
        live.wait_until("both have all", lambda: not any(
            n.missing(of.first(), of.first() + MANY // 2) for n in nodes for of in nodes))

    def test_a_server_that_is_away_meanwhile(self):
        """A generation carries the keys that do not fit into the ring."""
        w = self.world("max_pending_bytes=1000000")
        writer, reader = w.start(), w.start()
        with w.proxy.cut():
            self.assertEqual(writer.insert(0, MANY, threads=2)["result"] < 0, False)
            answer = writer.ask("flush", 300)
            self.assertIn(answer["result"], (-errno.ETIMEDOUT, -errno.EAGAIN), answer)
            live.wait_until("it says so", lambda: writer.stats()["overflowed"])
        self.assertEqual(writer.ask("flush", 600000, patience=660)["result"], 0)
        live.wait_until("the reader has all", lambda: reader.missing(0, MANY) == 0)

    def test_a_record_while_the_node_publishes(self):
        """A node uploads one image at a time. The upload of a record replaces a running upload."""
        w = self.world("publish_seconds=1")
        node = w.start()
        w.proxy.slow = 0.3
        node.ask("work", 1000, 0, 0)
        live.wait_until("it publishes", lambda: node.stats()["state"] == "publishing")
        self.record(w, node, 2)
        node.ask("work", 0, 0, 0)
        self.assertEqual(node.missing(node.first(), node.first() + node.count()), 0)

    def record(self, w, node, era):
        node.tell("record", node.first(), node.path)
        time.sleep(2)
        w.proxy.slow = 0
        self.assertEqual(node.answer()["result"], 0)
        live.wait_until("it is there", lambda: node.stats()["joined"][0] == era)

    def test_a_record_while_an_image_comes(self):
        w = self.world()
        other, node = w.start("url=unix://" + w.master.socket), w.start()
        w.proxy.slow = 0.3
        self.assertEqual(other.ask("record", 0, 1000)["result"], 0)
        live.wait_until("a part is here", lambda: node.stats()["image_here"] > 0)
        self.record(w, node, 3)

    def test_closed_at_once(self):
        """The node sends all inserts before it ends."""
        w = self.world()
        writer, reader = w.start(), w.start()
        self.assertGreaterEqual(writer.insert(0, MANY, threads=2)["result"], 0)
        self.assertEqual(writer.quit()["result"], 0)
        live.wait_until("the reader has all", lambda: reader.missing(0, MANY) == 0)

    def test_closed_without_redis(self):
        """The node reports how much is lost, and does not wait for ever."""
        w = self.world("answer_ms=2000")
        writer = w.start()
        for what in (w.proxy.cut, w.master.kill):
            ends = what()
            with ends or contextlib.nullcontext():
                self.assertGreaterEqual(writer.insert(0, 1000)["result"], 0)
                begun = time.monotonic()
                answer = writer.quit()
                self.assertEqual(answer["result"], -errno.EAGAIN, answer)
                self.assertIn("8000 bytes", answer["error"])
                self.assertLess(time.monotonic() - begun, live.PATIENCE / 2)
            w.nodes.remove(writer)
            writer = w.start() if ends else None


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
