# SPDX-License-Identifier: MIT
"""Years of whoever operates a set, drawn by a seed: after each turn of troubles all are well within
a minute, by the way out that is named where there is one, and nothing is lost.
test_years.py PROGRAM WEIR [--seeds=N] [--from=N] [--turns=N]"""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import group
import nodes
import tool

SEEDS, FROM, TURNS = nodes.numbers("--seeds=", 1, "--from=", 1, "--turns=", 8)
SET = "{weir:seen}:"
AFTER = 4 # seconds after which somebody takes the way out that nodes name


class Years(tool.Tool):
    OPTIONS = ()

    def begin(self, rng):
        self.random, self.client = rng, self.server.client
        self.ledger = self.nodes("seed=7", *self.OPTIONS)
        self.ledger.capacity = 20000
        self.seconds = {}
        for seconds in 1, 3600, 0:
            self.start(seconds)
        self.follower, self.path = self.follow("served%d" % len(os.listdir(self.folder)))
        group.wait_until("the file", lambda: os.path.exists(self.path))
        self.insert()
        self.well("the beginning")

    def start(self, seconds):
        """Return: whether there was something to open. An application tries again then."""
        try:
            self.seconds[self.ledger.start(seconds=seconds)] = seconds
            return True
        except AssertionError as e:
            if "did not open: -11 " not in str(e):
                raise
            return False

    def insert(self):
        for node in self.ledger.nodes:
            node.ask("burst %d" % self.random.randrange(1, 60))

    # ---- troubles ----

    def restarts(self):
        self.server.again()
        self.client = self.server.client

    def is_emptied(self):
        self.client.flushall()

    def loses_a_key(self):
        names = sorted(self.client.scan_iter(SET + "*"))
        if names:
            self.client.delete(self.random.choice(names))

    def loses_a_key_and_restarts(self):
        self.loses_a_key()
        self.restarts()

    def loses_a_node(self, meanwhile=lambda: None):
        node = self.random.choice(self.ledger.nodes)
        seconds = self.seconds.pop(node)
        self.ledger.kill(node)
        meanwhile()
        for name, report in self.client.hgetall(SET + "nodes").items():
            if b" pid %d " % node.process.pid in report: # or it is missed for days
                self.client.hdel(SET + "nodes", name)
        group.wait_until("it opens", lambda: self.start(seconds))

    def loses_a_node_and_restarts(self):
        self.loses_a_node(self.restarts)

    def has_a_node_that_sleeps(self):
        node = self.random.choice(self.ledger.nodes)
        node.signal(signal.SIGSTOP)
        if self.random.random() < 0.5:
            self.restarts()
        time.sleep(self.random.random())
        node.signal(signal.SIGCONT)

    def stands_still(self):
        self.server.process.send_signal(signal.SIGSTOP)
        time.sleep(self.random.random())
        self.server.process.send_signal(signal.SIGCONT)

    def is_given_one_by_a_shell(self):
        shutil.copy(self.path, self.folder + "/like")
        self.build("more", 0, 10, "--like=like")
        self.replicate("publish", "more", status=None)

    def is_given_a_record(self):
        self.random.choice(self.ledger.nodes).ask("record")

    def has_a_lease_of_nobody(self):
        self.client.set(SET + "lease", "%016x" % 0xdead, px=7200000)

    def has_a_file_cut(self):
        os.truncate(self.path, 300)

    TROUBLES = (restarts, restarts, is_emptied, loses_a_key, loses_a_key,
                loses_a_key_and_restarts, loses_a_node, loses_a_node_and_restarts,
                has_a_node_that_sleeps, stands_still, is_given_one_by_a_shell,
                is_given_a_record, has_a_lease_of_nobody, has_a_file_cut)

    # ---- and then ----

    def wrong(self):
        """What is not as it should be, or nothing."""
        for node in self.ledger.nodes:
            of = node.stats()
            if not of["complete"] or of["error"] or not of["connected"]:
                return "node %d: %s" % (node.name, of)
        text = self.client.hget(SET + "manifest", "text") or b""
        epoch = self.client.info("replication")["master_replid"].encode()
        if not re.search(rb"(?m)^epoch " + epoch, text):
            return "no generation of this epoch"
        lost = self.ledger.lost()
        if lost:
            return "lost: %s" % lost
        return "; ".join(self.status(status=None)["alerts"])

    def lead_out(self, wrong):
        if "does not descend" in wrong or "is not there (any more)" in wrong:
            self.ledger.nodes[0].ask("record")
        elif "until it is published" in wrong or "publish it from one" in wrong:
            for node in self.ledger.nodes:
                node.ask("publish")

    def well(self, what):
        begun = time.monotonic()
        led = begun
        while True:
            wrong = self.wrong()
            if not wrong:
                return
            now = time.monotonic()
            self.assertLess(now - begun, group.PATIENCE, "%s: %s" % (what, wrong))
            if now - led > AFTER:
                self.lead_out(wrong)
                led = now
            time.sleep(0.1)

    def is_verified(self):
        return subprocess.run([tool.WEIR, "verify", "-q", self.path],
                              stderr=subprocess.DEVNULL).returncode == 0

    def turn(self, what):
        for _ in range(self.random.choice([1, 1, 2, 3])):
            trouble = self.random.choice(self.TROUBLES)
            what.append(trouble.__name__)
            trouble(self)
            self.insert()
        self.well(what)
        group.wait_until("%s: the file is whole" % what, self.is_verified)
        self.assertIsNone(self.follower.poll(), what)

    def test_years(self):
        for seed in range(FROM, FROM + SEEDS):
            what = ["seed %d" % seed]
            self.begin(random.Random(seed))
            for _ in range(TURNS):
                self.turn(what)
            for node in self.ledger.nodes:
                self.assertEqual(node.quit(), "0 ", what)
            self.ledger.nodes.clear()
            self.follower.terminate()
            self.assertEqual(self.follower.wait(60), 0, what)
            self.client.flushall()


class Keys(Years):
    OPTIONS = ("stream=keys",)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *nodes.words(3)])
