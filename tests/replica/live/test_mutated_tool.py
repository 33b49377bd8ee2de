# SPDX-License-Identifier: MIT
"""weir replicate at a redis of which some answers are not what it said (mutated.py), and which is
honest again: each command ends, as one that succeeded or failed, and says nothing that a terminal
would obey. test_mutated_tool.py PROGRAM TOOL [--seeds=N] [--from=N]: a command each."""
import json
import os
import pty
import random
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

import group
import liar
import mutated
import nodes
import tool

SEEDS, FROM = nodes.numbers("--seeds=", 30, "--from=", 1)
LONGEST = 25      # seconds: --timeout is for one answer
SCRIPTS = ["publish", "append", "read", "manifest", "lease", "alive", "report", "release", "status"]
OTHERS = ["get", "set", "role", "time", "load", "hget", "hgetall", "wait", "info", "subscribe",
          "ttl", "script", "hello", "client", "ping", "exists"]
ASKED = {"status": ["status"], "publish": ["manifest", "publish", "lease", "read"],
         "rollback": ["hget", "manifest", "publish"], "follow": ["manifest", "get", "read"]}
COMMANDS = [["status"], ["status", "--json"], ["status", "--prometheus"], ["publish", "image"],
            ["publish", "--replace", "--quiet", "image", "--", "true"], ["rollback"],
            ["follow", "-o", "followed"]]
NUMBERS = [b"0", b"-1", b"18446744073709551615", b"18446744073709551616", b"9" * 400, b"1e308",
           b"nan", b"0x10", b"", b" ", b"1.5"]
JUNK = [b"\x1b[2J", b"\x07", b"\x9b31m", b"\xc2\x9b31m", b"\xff\xfe", b"\0", b"\n", b"\r", b"%s%n",
        b'"', b"\\", b"}", b"\xf4\x90\x80\x80", b"\xed\xa0\x80", b"\x7f", b"a" * 70, b"x" * 3000,
        b"\xe2\x82"]
WORDS = (b"host pid generation checksum position complete lacking retained lost refused publisher "
         b"here image keys capacity saturated nearly_full").split()
SAMPLE = re.compile(r'# (HELP|TYPE) \w+ .+|\w+(\{(\w+="([^"\\]|\\.)*",?)*\})? '
                    r'([-+]?\d[-+.e\d]*|NaN|[-+]Inf)')


class MutatedTool(tool.Tool):
    def setUp(self):
        super().setUp()
        self.liar = liar.Liar(self.server.socket)
        self.addCleanup(self.liar.close)
        self.build("image", 0, 1000)
        for _ in range(2):
            self.replicate("publish", "image")

    def lie(self, verb):
        """Also about something that it asks for certain."""
        names = self.rng.sample(SCRIPTS + OTHERS, 2) + [self.rng.choice(ASKED[verb])]
        probability = self.rng.choice([0.3, 1])
        self.liar.lies.update((name, mutated.lie(self.rng, probability, self.said))
                              for name in names)

    def draw(self):
        verb, *words = self.rng.choice(COMMANDS)
        if verb == "rollback":
            words = ["--generation=%d" % self.rng.randrange(1, 5)]
        return [verb, "--set=seen", "--timeout=1", "--url=" + self.liar.url, *words]

    def ends(self, command):
        """What it says, and how it ends: who follows, by a signal at any moment."""
        begun = time.monotonic()
        self.liar.calls.clear()
        process = subprocess.Popen([tool.WEIR, "replicate", *command], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, cwd=self.folder)
        try:
            if command[0] == "follow":
                group.wait_until("it asks", lambda: process.poll() is not None or
                                 self.liar.calls)
                time.sleep(self.rng.random())
                process.send_signal(signal.SIGTERM)
            said, aside = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            self.fail("it has not ended after %.0f s" % (time.monotonic() - begun))
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()
        return process.returncode, said, aside

    def check(self, command, status, said, aside):
        self.assertIn(status, [0, 1, 2], aside)
        self.assertEqual([b for b in said + aside if b < 32 and b not in b"\t\n" or b == 127], [])
        if status == 2:
            self.assertTrue(aside, "it does not say why")
        elif "--json" in command:
            json.loads(said)
        elif "--prometheus" in command:
            for line in said.decode().splitlines():
                self.assertRegex(line, "^(%s)$" % SAMPLE.pattern)

    def once(self, seed):
        self.rng, self.said = random.Random(seed), []
        command = self.draw()
        self.liar.lies.clear()
        self.lie(command[0])
        try:
            self.check(command, *self.ends(command))
        except (AssertionError, ValueError) as why:
            self.fail("%s; weir replicate %s; lies: %s" % (why, " ".join(command), self.said[-4:]))

    def forged(self):
        """A number of anybody's, or what a terminal would obey."""
        if self.rng.random() < 0.6:
            return self.rng.choice(NUMBERS)
        return b"".join(self.rng.choice(JUNK) for _ in range(self.rng.randint(1, 4)))

    def report(self):
        words = b" ".join(self.rng.choice(WORDS) + b" " + self.forged()
                          for _ in range(self.rng.randrange(25)))
        begun = self.rng.choice([b"%d" % (time.time() * 1000), self.forged()])
        return begun + b" " + words + b" error " + self.forged()

    def forge(self):
        """What other nodes say of themselves, and what was kept."""
        client, name = self.server.client, lambda: b"%016x" % self.rng.getrandbits(64)
        text = client.hget("{weir:seen}:manifest", "text")
        client.delete("{weir:seen}:nodes")
        client.hset("{weir:seen}:nodes", mapping={
            self.rng.choice([name(), b"zz"]): self.report() for _ in range(5)})
        client.hset("{weir:seen}:kept", self.forged(), self.rng.choice([
            b"", b"\n", b"\n" + text[:self.rng.randrange(len(text))],
            b"line\n" + liar.changed(text, b"image", b"7 x")]))

    def on_a_terminal(self, command):
        here, there = pty.openpty()
        process = subprocess.Popen([tool.WEIR, "replicate", *command], stdout=there, stderr=there,
                                   env=self.environment)
        os.close(there)
        said = b""
        with open(here, "rb", buffering=0) as terminal:
            while True:
                try:
                    piece = terminal.read(65536)
                except OSError: # its end
                    break
                said += piece
        return process.wait(LONGEST), said.replace(b"\r\n", b"\n")

    def test_reports_that_are_forged(self):
        for seed in range(FROM, FROM + SEEDS):
            self.rng = random.Random(seed)
            self.forge()
            command = ["status", "--set=seen", *self.rng.choice([
                [], ["--json"], ["--prometheus"], ["-q"], ["--max-age=5"]])]
            with self.subTest(seed=seed, command=command):
                status, said = self.on_a_terminal(command)
                self.check(command, status, said, said)
                self.assertNotRegex(said.decode("utf-8", "replace"), "[\x80-\x9f]")

    def test_answers_that_are_not_what_it_said(self):
        for seed in range(FROM, FROM + SEEDS):
            with self.subTest(seed=seed):
                self.once(seed)
        self.liar.lies.clear()
        self.replicate("publish", "--url=" + self.liar.url, "image")
        # who followed may have left a report of what it met
        shown = self.replicate("status", "--url=" + self.liar.url, status=None)
        self.assertRegex(shown, r"kept\n  \d+: blocked, \d+ bytes, \d+ s old")


if __name__ == "__main__":
    threading.excepthook = lambda *_: None
    unittest.main(argv=[sys.argv[0], *nodes.words(3)])
