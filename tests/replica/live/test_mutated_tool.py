# SPDX-License-Identifier: MIT
"""weir replicate at a redis of which some answers are not what it said (mutated.py), and which is
honest again: each command ends, as one that succeeded or failed, and says nothing that a terminal
would obey. test_mutated_tool.py PROGRAM TOOL [--seeds=N] [--from=N]: a command each."""
import json
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
