# SPDX-License-Identifier: MIT
"""weir replicate behind a proxy that changes some answers in each run. Every command ends by itself
or by SIGTERM, none crashes, and none prints a control sequence that a terminal obeys.
test_lies.py WEIR [SEEDS]"""
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import unittest

import tool

SEEDS = int(sys.argv[2]) if len(sys.argv) > 2 else 8
HIDDEN = "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
INSTEAD = (b"$-1\r\n", b"*-1\r\n", b":-5\r\n", b":9223372036854775807\r\n", b"+OK\r\n", b"*0\r\n",
           b"-\r\n", b"$0\r\n\r\n", b"-ASK 1 :1\r\n", b"-MOVED 1 \r\n", b"-MOVED\r\n",
           b"*99999999999\r\n", b"$99999999999\r\n", b"%1\r\n+a\r\n+b\r\n", b"~1\r\n:1\r\n",
           b">2\r\n+a\r\n+b\r\n", b"=5\r\ntxt:a\r\n", b"#t\r\n", b",inf\r\n", b"_\r\n",
           b"(123456789012345678901234567890\r\n", b"*1\r\n" * 20 + b":1\r\n",
           b"*2\r\n$-1\r\n-ERR x\r\n", b"-LOADING\r\n", b"-NOSCRIPT\r\n", b"-WEIRBASE \r\n",
           b"-WEIRCHUNK\r\n", b"-OOM x\r\n", b"-NOAUTH\r\n",
           "-ERR \x1b[31mred \x9b31m \u202eback \u2028line \u200bwide \udcff\udc9b31m\r\n".encode(
               errors="surrogateescape"))


def changed(dice, data):
    """Return: another answer, or @data with some bytes changed."""
    if dice.random() < 0.3:
        return dice.choice(INSTEAD)
    data = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        at, how = dice.randrange(len(data) + 1), dice.random()
        if how < 0.5:
            data[at:at + 1] = bytes([dice.choice(b"0123456789-.abcf\x00\xff *$:+\x1b")])
        elif how < 0.7:
            del data[at:at + 1]
        else:
            data[at:at] = data[at:at + dice.randint(1, 20)]
    return bytes(data)


class Liar:
    """A proxy between the command and the server. Each connection has its own dice, so that one
    thread of the command does not change the answers to another."""

    def __init__(self, test, path):
        self.path, self.seed, self.n = path, None, 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.url = "redis://127.0.0.1:%d" % self.listener.getsockname()[1]
        test.addCleanup(self.listener.close)
        threading.Thread(target=self.accept, daemon=True).start()

    def begin(self, seed):
        self.seed, self.n = seed, 0

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect(self.path)
                self.n += 1
                dice = random.Random("%s %d" % (self.seed, self.n))
                for ends in ((near, far, None), (far, near, dice)):
                    threading.Thread(target=self.pump, args=ends, daemon=True).start()

    def pump(self, source, sink, dice):
        """@dice: chooses the changes to answers of the server; None: change nothing."""
        often = dice.choice((0.03, 0.2)) if dice else 0
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 20):
                sink.sendall(changed(dice, data) if dice and dice.random() < often else data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class Lies(tool.Tool):
    def setUp(self):
        super().setUp()
        self.build("a", 0, 1000, "-n", "100000", "--seed=7")
        self.replicate("publish", "a")
        self.liar = Liar(self, self.server.socket)
        self.ended = {}

    def end(self, verb, *options, patience=3):
        """Run a command. It must end within @patience seconds, or soon after SIGTERM."""
        process = subprocess.Popen(
            [tool.WEIR, "replicate", verb, "--set=seen", "--url=" + self.liar.url, "--timeout=1",
             *options], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, aside = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.terminate()
            out, aside = process.communicate(timeout=20)
        status = process.returncode
        self.ended[status] = self.ended.get(status, 0) + 1
        self.assertIn(status, (0, 1, 2, -signal.SIGTERM), aside)
        out, aside = out.decode(), aside.decode() # the output must be UTF-8
        self.assertNotRegex(out + aside, HIDDEN)
        return out

    def test_status(self):
        for seed in range(SEEDS):
            for form in ("-q", "--json", "--prometheus", "--max-age=60"):
                with self.subTest(seed=seed, form=form):
                    self.liar.begin((seed, form))
                    out = self.end("status", form, patience=20)
                    if form == "--json" and out:
                        json.loads(out)
        print("status ended with", self.ended, flush=True)
        self.assertGreater(min(self.ended.get(0, 0) + self.ended.get(1, 0),
                               self.ended.get(2, 0)), 0) # some runs see a lie, some do not

    def test_the_others(self):
        for seed in range(max(SEEDS // 12, 1)):
            for verb, *options in (("follow", "-o", "followed"), ("publish", "a"),
                                   ("rollback", "--generation=1.1")):
                with self.subTest(seed=seed, verb=verb):
                    self.liar.begin((seed, verb))
                    self.end(verb, *options)
        print("the others ended with", self.ended, flush=True)
        self.assertEqual(self.replicate("status", "-q", status=None).count("piece"), 0)
        self.assertTrue(self.served(7)) # the data in redis is whole: only answers were changed


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
