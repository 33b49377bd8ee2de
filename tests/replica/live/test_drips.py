# SPDX-License-Identifier: MIT
"""An answer of redis drips without end, whatever it is an answer to, while a node closes: that
takes no longer than its header says. test_drips.py PROGRAM"""
import sys
import threading
import time
import unittest

import group
import liar
import nodes

ASKED = ["append", "read", "manifest", "report", "lease", "publish", "set", "time", "hdel",
         "release", "role"]
LONGEST = 22 # seconds: twice confirm_ms, a second, and a busy machine


def a_string(args, answer, send):
    send(b"*100000\r\n$100000000\r\n")
    while True:
        send(b"x")
        time.sleep(0.3)


def a_list(args, answer, send):
    send(b"*100000000\r\n")
    while True:
        send(b":1\r\n")
        time.sleep(0.1)


class Drips(nodes.OneServer):
    def setUp(self):
        super().setUp()
        self.ledger.options = ("poll=20", "idle=300", "answer=2000")
        self.ledger.capacity = 1000

    def begin(self, what):
        """A node of a set of its own."""
        between = liar.Liar(self.server.socket)
        self.addCleanup(between.close)
        node = self.ledger.start("set=" + what, "url=" + between.url, seconds=1)
        node.ask("burst 10")
        self.assertEqual(node.ask("flush 10000"), "0 ")
        return node, between

    def test_close(self):
        drips = {"%s-%s" % (name, drip.__name__): (name, drip)
                 for name in ASKED for drip in (a_string, a_list)}
        begun = {what: self.begin(what) for what in drips}
        for what, (node, between) in begun.items():
            between.lies.update([drips[what]])
            node.ask("burst 10")
        time.sleep(1.5) # each is about something
        at = time.monotonic()
        for node, _ in begun.values():
            node.process.stdin.write("quit\n")
            node.process.stdin.flush()
        for what, (node, _) in begun.items():
            group.wait_until("%s: it is closed" % what, lambda: node.process.poll() is not None,
                             max(0, at + LONGEST - time.monotonic()))
            self.assertEqual(node.process.returncode, 0, what)
            node.answer("quit")


if __name__ == "__main__":
    threading.excepthook = lambda *_: None # of a liar whose other end has gone
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
