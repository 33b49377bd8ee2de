# SPDX-License-Identifier: MIT
"""A running node gets answers that are endless, slow, huge or wrong. Its lookups go on, it takes
little memory, and it can be closed. test_hostile.py PROGRAM [SEEDS]"""
import random
import sys
import threading
import time
import unittest

import live

SEEDS = int(sys.argv[2]) if len(sys.argv) > 2 else 6
KEYS, MEGABYTES, PATIENCE = 10000, 300, 90


def endless(sink, data):
    sink.sendall(b"*100\r\n$200000000\r\n")
    while True:
        sink.sendall(b"x" * 65536)


def drips(sink, data):
    sink.sendall(b"$100000\r\n")
    while True:
        sink.sendall(b"x")
        time.sleep(0.2)


def says(*answers):
    def lie(sink, data):
        for answer in answers:
            sink.sendall(answer)
    return lie


def ends(sink, data):
    raise OSError


HEAD = b"*12\r\n" + b"$16\r\nffffffffffffffff\r\n" * 2 + (
    b"$41\r\n18446744073709551615-18446744073709551615\r\n" * 3) + (
    b"$16\r\nffffffffffffffff\r\n$41\r\n18446744073709551615.18446744073709551615\r\n"
    b"$16\r\nffffffffffffffff\r\n:4294967295\r\n$20\r\n18446744073709551615\r\n:0\r\n:0\r\n")
LIES = {
    "endless": endless,
    "drips": drips,
    "silence": says(),
    "connections_that_end": ends,
    "huge_arrays": says(b"*2147483647\r\n"),
    "huge_strings": says(b"$2147483647\r\n"),
    "deep_arrays": says(b"*1\r\n" * 10000),
    "no_redis": says(b"HTTP/1.0 400 Bad Request\r\n\r\n"),
    "errors": says(b"-ERR \x1b[2J no\r\n"),
    "ok": says(b"+OK\r\n"),
    "nothing": says(b"$-1\r\n"),
    "numbers": says(b":9223372036854775807\r\n"),
    "empty_arrays": says(b"*0\r\n"),
    "a_head_of_the_highest_numbers": says(HEAD),
    "two_answers": says(HEAD, HEAD),
    "loading": says(b"-LOADING Redis is loading\r\n"),
    "not_the_master": says(b"-READONLY no\r\n"),
    "no_script": says(b"-NOSCRIPT no\r\n"),
}


class Hostile(unittest.TestCase):
    def setUp(self):
        self.w = live.World(options=("capacity=100000", "answer_ms=1000", "poll_ms=20"),
                            appendonly="no")
        self.addCleanup(self.w.close)
        self.node, self.other = self.w.start(), self.w.start()
        self.assertGreaterEqual(self.node.insert(0, KEYS, "confirmed", 1, 1000)["result"], 0)
        live.wait_until("both have all", lambda: not self.other.missing(0, KEYS))

    def lookups_go_on(self, seconds=2):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for node in (self.node, self.other):
                self.assertEqual(node.missing(0, KEYS), 0)
                self.assertGreaterEqual(node.insert(KEYS, KEYS + 1)["result"], 0)
                self.assertLess(node.megabytes(), MEGABYTES)
            time.sleep(0.05)

    def heals_and_ends(self):
        """One node closes during the lies. The other must recover after them."""
        begun = time.monotonic()
        self.other.quit(PATIENCE)
        self.assertLess(time.monotonic() - begun, PATIENCE)
        self.w.proxy.lie = None
        self.w.proxy.break_all()
        live.wait_until("it is well: %s" % self.node.stats(), self.node.well, PATIENCE)
        self.assertGreaterEqual(self.node.insert(7, 8, "confirmed")["result"], 0)
        newcomer = self.w.start()
        self.assertEqual(newcomer.missing(0, KEYS + 1), 0)
        self.assertEqual(self.node.quit(PATIENCE)["result"], 0)

    def look(self, lie):
        self.w.proxy.lie = lie
        self.lookups_go_on()
        self.heals_and_ends()

    def test_numbers_that_are_changed(self):
        """Change a digit or another byte in some answers."""
        for seed in range(SEEDS):
            with self.subTest(seed=seed):
                rng, lock = random.Random(seed), threading.Lock()

                def lie(sink, data):
                    with lock:
                        if rng.random() < 0.3:
                            at = rng.randrange(len(data))
                            data = data[:at] + rng.choice([b"0", b"9", b"f", bytes(
                                [rng.randrange(256)])]) + data[at + 1:]
                    sink.sendall(data)
                self.w.proxy.lie = lie
                self.lookups_go_on(1)
                self.w.proxy.lie = None
                self.w.proxy.break_all()
                live.wait_until("both are well: %s" % self.node.stats(), lambda: all(
                    n.well() for n in (self.node, self.other)), PATIENCE)
        self.heals_and_ends()


class Slow(unittest.TestCase):
    def begins_an_answer(self, sink, data):
        sink.sendall(b"$16000000\r\n")
        while not self.honest.wait(0.2):
            sink.sendall(b"x" * 3000)
        raise OSError

    def test_a_node_that_is_held_back_says_so(self):
        """An image comes at 16 KB/s, and an answer at 15 KB/s: no call fails."""
        self.honest = threading.Event()
        self.addCleanup(self.honest.set)
        w = live.World(options=("capacity=1000000", "poll_ms=20"), appendonly="no")
        self.addCleanup(w.close)
        slow, stuck = (w.own(live.Proxy(w.master)) for _ in range(2))
        signer = w.start()
        nodes = [w.start("url=" + proxy.url) for proxy in (slow, stuck)]
        stuck.lie = self.begins_an_answer
        slow.slow = 4
        self.assertEqual(signer.ask("record", 0, KEYS)["result"], 0)
        begun = time.monotonic()
        for node, part in zip(nodes, ("bytes of an image are here", "does not end")):
            live.wait_until("it says so: %s" % node.stats(), lambda: part in node.stats()["error"],
                            PATIENCE / 2)
            self.assertGreater(time.monotonic() - begun, 25)
            error = node.stats()["error"]
            print(error, flush=True)
            self.assertRegex(error, "incomplete for 3[0-9] s: .*redis answers slowly or in part")
            self.assertEqual(node.reports().count("incomplete for"), 1, node.reports())
        slow.slow, stuck.lie = 0, None
        self.honest.set()
        for node, proxy in zip(nodes, (slow, stuck)):
            proxy.break_all()
            live.wait_until("that is over", lambda: node.well() and not node.stats()["error"])
            self.assertIn("all is well again", node.reports())


for name, each in LIES.items():
    setattr(Hostile, "test_" + name, lambda self, lie=each: self.look(lie))

if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
