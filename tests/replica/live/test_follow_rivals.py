# SPDX-License-Identifier: MIT
"""weir replicate follow, where others write to its file too: somebody many times a second, or who
follows the same set as well, of which one may be compressed, stopped or behind. Is it of the newest
generation in the end, and written a bounded number of times? test_follow_rivals.py PROGRAM WEIR"""
import os
import signal
import sys
import time
import unittest

import group
import liar
import nodes
import tool

A_SECOND = 5    # times that it looks at its file
KEY = b"sixteen bytes..."


class FollowRivals(tool.Tool):
    def setUp(self):
        super().setUp()
        self.keyed = ()
        self.at = os.path.join(self.folder, "at")
        self.image = os.path.join(self.at, "image")
        os.mkdir(self.at)

    def first(self, *options):
        self.build("a", 0, 100, "-n", "100000", "-p", "1e-6", *options, *self.keyed)
        self.replicate("publish", *self.keyed, "a")

    def another(self, first):
        """A generation with a hundred more keys."""
        self.build("b", first, first + 100, "--like=a", *self.keyed)
        self.replicate("publish", *self.keyed, "b")

    def begin(self, *options):
        """It follows, and has looked at the file."""
        process, _ = self.follow("at/image", *self.keyed, *options)
        group.wait_until("it reports", lambda: any(
            n["pid"] == process.pid for n in self.status(status=None)["nodes"]))
        group.wait_until("it stays", lambda: os.path.exists(self.image) and
                         self.writes(2 / A_SECOND) == 0)
        return process

    def bytes(self):
        try:
            with open(self.image, "rb") as image:
                return image.read()
        except OSError:
            return None

    def has(self, key):
        return self.query(self.image, key, *self.keyed)

    def mark(self):
        """Which file it is."""
        try:
            of = os.stat(self.image)
        except OSError:
            return None
        return of.st_ino, of.st_mtime_ns

    def writes(self, seconds):
        """How often there was another file."""
        until, seen = time.monotonic() + seconds, [self.mark()]
        while time.monotonic() < until:
            if self.mark() != seen[-1]:
                seen.append(self.mark())
            time.sleep(0.005)
        return len(seen) - 1

    def stays(self):
        """Soon nobody writes to it any more."""
        group.wait_until("it stays for a second", lambda: self.writes(1) == 0)

    def end(self, *processes):
        for process in processes:
            process.terminate()
            said = process.communicate(timeout=60)[1].decode()
            self.assertEqual((process.returncode, said), (0, ""))
        self.assertEqual(os.listdir(self.at), ["image"])

    # ---- somebody writes many times a second ----

    def put(self, what):
        if what is None:
            if os.path.exists(self.image):
                os.unlink(self.image)
            return
        with open(self.image + ".new", "wb") as f:
            f.write(what)
        os.rename(self.image + ".new", self.image)

    def replaced_for_a_while(self, process, what):
        """Return: how often the follower put its own there."""
        until, own, before = time.monotonic() + 0.6, 0, None
        ticks = nodes.ticks(process)
        while time.monotonic() < until:
            own += self.mark() not in (before, None)
            self.put(what)
            before = self.mark()
            time.sleep(0.01)
        self.assertLess(nodes.ticks(process) - ticks, 60, "it spins")
        return own

    def test_replaced_all_the_time(self):
        """By what is good, was good, is damaged, or is nothing."""
        self.first()
        process = self.begin()
        old = self.bytes()
        self.another(500)
        group.wait_until("the next", lambda: self.has(550))
        good = self.bytes()
        damaged = bytearray(good)
        damaged[9000] ^= 1
        for name, what in (("good", good), ("old", old), ("damaged", bytes(damaged)),
                           ("empty", b""), ("deleted", None)):
            with self.subTest(what=name):
                self.assertLess(self.replaced_for_a_while(process, what), 2 * A_SECOND)
                group.wait_until("it is good again", lambda: self.bytes() == good)
        self.end(process)

    # ---- others follow too ----

    def some(self, *options):
        """With a follower that is stopped while a generation comes."""
        processes = [self.begin(*of) for of in options]
        for first, number in ((500, signal.SIGSTOP), (700, signal.SIGCONT)):
            self.another(first)
            group.wait_until("the next", lambda: self.has(first + 50))
            processes[0].send_signal(number)
            self.assertLess(self.writes(1), 4 * len(processes))
        self.stays()
        self.assertTrue(self.has(750))
        self.end(*processes)

    def test_one_is_compressed(self):
        """And both are keyed."""
        path = os.path.join(self.folder, "key")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as f:
            f.write(KEY)
        self.keyed = ("--keyed-by=" + path,)
        self.first()
        self.some([], ["--zstd"])

    def test_one_has_not_heard_of_it(self):
        """Its redis has what was: it lets the file be that the other writes."""
        self.first("--seed=7")
        before = self.server.client.hgetall("{weir:seen}:manifest")
        behind = liar.Liar(self.server.socket)
        self.addCleanup(behind.close)
        behind.lies = {
            "manifest": lambda args, answer, send: liar.looking(answer[0], before[b"text"]),
            "read": lambda args, answer, send: [*answer[:2], before[b"generation"], answer[3],
                                                before[b"stored"], *answer[5:]]}
        processes = [self.begin(), self.begin("--url=" + behind.url)]
        self.another(500)
        group.wait_until("the next", lambda: self.has(550))
        self.assertEqual(self.writes(2), 0)
        self.assertTrue(self.has(550))
        self.end(*processes)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
