# SPDX-License-Identifier: MIT
"""A web server of images is an enemy, in one way or another: does a node go on without that image,
take no more than it should, and close; and does weir replicate follow end at a signal?
test_image_enemy.py PROGRAM WEIR"""
import os
import signal
import sys
import time
import unittest

import group
import nodes
import slow
import tool

BOUND = 5       # seconds that closing takes at most, on a busy machine
ASKED = 24      # times at most, by a node and a follower, within the seconds that this takes
MEGABYTES = 64
OK, NO = b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 503 No\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


def again(piece, pause=0.01):
    """And on."""
    while True:
        yield piece
        time.sleep(pause)


def silent():
    """It takes what is asked, and says nothing."""
    yield b""
    time.sleep(3600)


def drips():
    """Now and then some bytes, of no length."""
    yield OK + b'ETag: "x"\r\n\r\n'
    yield from again(b"x" * 200, 0.1)


def goes_on():
    """It says that it will answer, without end."""
    yield from again(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


def headers():
    """Now and then another one."""
    yield OK
    yield from again(b"X: y\r\n", 0.2)


def a_header():
    """One that has no end."""
    yield OK + b"X: "
    yield from again(b"y" * 100000)


def extensions():
    """Of chunks, which are of a byte each."""
    yield OK + CHUNKED
    yield from again(b"1;" + b"e" * 10000 + b"\r\nx\r\n", 0.002)


def refuses_at_length():
    """The reason has no end."""
    yield NO + CHUNKED
    yield from again(b"2000\r\n" + b"x" * 0x2000 + b"\r\n")


def refuses_for_long():
    """For the next eleven days."""
    yield NO + b"Retry-After: 1000000\r\nContent-Length: 0\r\n\r\n"


# Of the others nothing is said as long as something may come still.
SAYS = {goes_on: "the server sends more than 65536 bytes of headers", a_header: "http://"}
WAYS = (silent, drips, goes_on, headers, a_header, extensions, refuses_at_length, refuses_for_long)


class Enemy(slow.Listening):
    def __init__(self, way):
        self.way = way
        super().__init__()

    def answer(self, link):
        with link:
            try:
                if not link.recv(65536):
                    return
                self.asked += 1
                for piece in self.way():
                    link.sendall(piece)
            except OSError:
                pass # the client has left

    def close(self):
        self.listener.close()


class ImageEnemy(tool.Tool):
    def begin(self):
        """For each way a node, to which an image comes, and a follower, which has none yet."""
        self.enemies = [Enemy(way) for way in WAYS]
        for enemy in self.enemies:
            self.addCleanup(enemy.close)
        self.ledger = self.nodes()
        self.ledger.capacity = 100000
        self.ledger.start().ask("burst 100")
        self.victims = [self.ledger.start("image_url=" + enemy.url, "http=1")
                        for enemy in self.enemies]
        images = os.path.join(self.folder, "images")
        os.mkdir(images)
        self.publisher = self.ledger.start("folder=" + images)
        nodes.settle(self, self.ledger)
        self.assertEqual(self.publisher.ask("record"), "0 ")
        self.followers = [self.follow("followed/%d" % i, "--image-http",
                                      "--image-url=" + enemy.url)[0]
                          for i, enemy in enumerate(self.enemies)]

    def each(self, act, *of):
        for way, *its in zip(WAYS, *of):
            with self.subTest(way=way.__name__):
                act(*its)

    def is_asked(self, enemy):
        group.wait_until("node and follower ask it", lambda: enemy.asked >= 2)

    def says(self, node, way):
        group.wait_until("it says why", lambda: SAYS.get(way, "") in node.stats()["error"])

    def node_goes_on(self, node):
        """What it inserts is confirmed, and comes to all."""
        node.ask("burst 100")
        self.assertEqual(node.ask("flush 10000"), "0 ")
        of = node.stats()
        self.assertEqual((of["generation"], of["newest"], of["complete"]), (1, 2, 0))

    def takes_little(self, node, ticks):
        """Of a processor, in more than a second, and of memory."""
        self.assertLess(nodes.ticks(node.process) - ticks, 100, "it spins")
        self.assertLess(nodes.megabytes(node.process), MEGABYTES)

    def follower_ends(self, process):
        """By a signal, or since the server breaks a rule; without a file."""
        process.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        said = process.communicate(timeout=60)[1].decode()
        self.assertLess(time.monotonic() - begun, BOUND)
        self.assertIn(process.returncode, (2, -signal.SIGTERM), said)
        if process.returncode == 2:
            self.assertIn("weir replicate follow: http://127.0.0.1:", said)

    def node_closes(self, node):
        begun = time.monotonic()
        self.assertEqual(node.quit(), "0 ")
        self.assertLess(time.monotonic() - begun, BOUND)
        self.assertEqual(node.process.returncode, 0)

    def test_ways_of_an_enemy(self):
        os.mkdir(os.path.join(self.folder, "followed"))
        self.begin()
        self.each(self.is_asked, self.enemies)
        before = [nodes.ticks(node.process) for node in self.victims]
        time.sleep(1)
        self.each(self.takes_little, self.victims, before)
        self.each(self.says, self.victims, WAYS)
        self.each(self.node_goes_on, self.victims)
        group.wait_until("nothing is lost", lambda: not self.ledger.lost())
        self.each(self.follower_ends, self.followers)
        self.assertEqual(os.listdir(os.path.join(self.folder, "followed")), [])
        self.each(self.node_closes, self.victims)
        self.each(lambda enemy: self.assertLess(enemy.asked, ASKED), self.enemies)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
