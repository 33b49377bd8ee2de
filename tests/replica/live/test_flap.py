# SPDX-License-Identifier: MIT
"""Generations that follow one another faster than an image comes, and images that never do: a node
gathers no threads, descriptors or memory, goes on sending, and is well when that is over.
test_flap.py PROGRAM [--seconds=N] for each way."""
import os
import random
import re
import sys
import threading
import time
import unittest

import group
import liar
import nodes

SECONDS, = nodes.numbers("--seconds=", 1)


def figures(node):
    """Megabytes, threads, descriptors."""
    return (nodes.megabytes(node.process), len(os.listdir("/proc/%d/task" % node.process.pid)),
            nodes.descriptors(node.process))


class Flap(nodes.OneServer):
    def setUp(self):
        super().setUp()
        self.rng, self.number, self.next = random.Random(1), 1000, 0
        self.liar = liar.Liar(self.server.socket)
        self.addCleanup(self.liar.close)
        self.over = threading.Event()
        self.addCleanup(self.over.set)
        self.publisher = self.ledger.start()
        self.publisher.ask("burst 1000")
        self.assertEqual(self.publisher.ask("flush 10000"), "0 ")
        self.assertEqual(self.publisher.ask("publish"), "0 ")
        self.node = self.ledger.start("url=" + self.liar.url, "answer=2000")

    def generation(self):
        """Another one, twenty times a second."""
        if time.monotonic() > self.next:
            self.number, self.next = self.number + 1, time.monotonic() + 0.05
        return b"%d" % self.number

    def manifest(self, args, answer, send):
        if answer[1] is None:
            return answer
        image = rb"image \1 %032x" % self.rng.getrandbits(128)
        text = liar.changed(answer[1], b"generation", self.generation())
        return liar.looking(answer[0], re.sub(rb"(?m)^image (\d+) .*$", image, text))

    def read(self, args, answer, send):
        if not isinstance(answer, list):
            return answer
        return [*answer[:2], self.generation(), *answer[3:]]

    def hangs(self, args, answer, send):
        self.over.wait(60)
        raise OSError

    def drips(self, args, answer, send):
        send(b"$1048512\r\n")
        while not self.over.wait(0.3):
            send(b"x")
        raise OSError

    def is_large(self, args, answer, send):
        send(b"$67000000\r\n")
        for _ in range(66):
            send(b"x" * 1000000)
        return liar.Raw(b"x" * 1000000 + b"\r\n")

    def is_too_large(self, args, answer, send):
        return liar.Raw(b"$600000000\r\n" + b"x" * 1000)

    def is_an_error(self, args, answer, send):
        return liar.Error(b"ERR \x1b[31m" + b"y" * 100000)

    def is_many(self, args, answer, send):
        return [[b"x"] * 1000] * 100

    def test_generations_faster_than_images(self):
        for get in (self.hangs, self.drips, self.is_large, self.is_too_large, self.is_an_error,
                    self.is_many):
            with self.subTest(get=get.__name__):
                before, self.over = figures(self.node), threading.Event()
                self.liar.lies.update(manifest=self.manifest, read=self.read, get=get)
                number = self.number
                time.sleep(SECONDS)
                self.assertGreater(self.number, number + 5)
                self.node.ask("burst 100")
                self.assertEqual(self.node.ask("flush 10000"), "0 ")
                now = figures(self.node)
                for was, is_, more in zip(before, now, (200, 4, 8)):
                    self.assertLess(is_, was + more, (before, now))
                self.liar.lies.clear()
                self.over.set()
                self.heals()

    def heals(self):
        for node in self.ledger.nodes:
            group.wait_until("it publishes", lambda: node.ask("publish") == "0 ")
        group.wait_until("all are well", lambda: nodes.all_well(self.ledger))
        group.wait_until("nothing is lost", lambda: not self.ledger.lost())

    def test_back_to_where_it_is(self):
        """Again and again: each is a generation, and they do not pile up."""
        before, keys = figures(self.publisher), len(self.server.client.keys("*"))
        for i in range(40):
            self.assertEqual(self.publisher.ask("rollback %d" % (2 + i)), "0 ")
            self.publisher.ask("burst 1")
        self.assertLess(figures(self.publisher)[0], before[0] + 50)
        self.assertLess(len(self.server.client.keys("*")), keys + 8)
        nodes.settle(self, self.ledger)
        self.assertEqual(self.node.stats()["generation"], 42)


if __name__ == "__main__":
    threading.excepthook = lambda *_: None
    unittest.main(argv=[sys.argv[0], *nodes.words()])
