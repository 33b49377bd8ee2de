# SPDX-License-Identifier: MIT
"""Somebody writes junk into the keys of a set while two nodes insert and publish; then only what it
keeps by itself is deleted (test_keys_changed.py deletes all). Meanwhile status ends as itself; then
nodes send, publish, are well and have lost nothing.
test_junk_keys.py PROGRAM WEIR [--seeds=N] [--from=N] [--deeds=N] [Hashes|Keys]"""
import random
import subprocess
import sys
import time
import unittest

import redis

import broken
import changes
import group
import nodes
import tool

SEEDS, FROM, DEEDS = nodes.numbers("--seeds=", 1, "--from=", 1, "--deeds=", 45)
SET, MANIFEST, STREAM = changes.SET, changes.MANIFEST, changes.STREAM
JUNK = [*changes.VALUES, b"inf", b"a" * 56, b"0" * 16, b"18446744073709551615 " + b"a" * 32,
        b"1048576 67108864 " + b"a" * 16, b"blocked", b"set", b"record", b"\x1b[31m" * 50,
        b"z" * 300000]
DATA = [b"", b"x", b"\xff" * 4, b"12345678", b"\0" * 65536, b"0" * 16 + b" 1"]
MEGABYTES = 200 # of a node


class Junk(changes.Changes):
    """What a method is called is what it writes into."""

    def __init__(self, rng, server):
        super().__init__(rng, server)
        self.hashing = self.client.xrange(STREAM)[0][1][b"s"]

    def value(self):
        return self.rng.choice(JUNK)

    def of_a_node(self):
        """That is there, or is not."""
        return self.rng.choice([*self.client.hkeys(changes.NODES),
                                b"%016x" % self.rng.getrandbits(64)])

    def manifest(self):
        self.client.hset(MANIFEST, self.rng.choice(
            [b"entries", b"position", b"token", b"generation", b"signature", b"stored"]),
            self.value())

    def stream(self):
        name, choice = self.of_a_node(), self.rng.choice
        self.client.xadd(STREAM, {
            b"v": b"1", b"n": name, b"q": choice([b"1", b"0", b"5", b"18446744073709551615"]),
            b"s": self.hashing, choice([b"h", b"k", b"w", b"i"]): choice([*DATA, name + b" 1"])})

    def nodes(self):
        now, choice = int(time.time() * 1000), self.rng.choice
        self.client.hset(changes.NODES, mapping={
            choice([b"%016x" % self.rng.getrandbits(64), b"\x1b" * 9, b"n" * 5000]): choice(
                [b"%d host x" % now, b"%d host x" % (now + 3000000), b"1" * 400 + b" x", b"-1 y",
                 b"nan", b""]) for _ in range(choice([1, 500]))})

    def lease(self):
        self.client.set(SET + "lease", self.rng.choice(
            [b"x", b"x y", b"0" * 16 + b" " + b"a" * 56, b"y" * 100000,
             b"0" * 16 + b" " + b"a" * 56 + b" 1"]),
            px=self.rng.choice([100, 1500]))

    def kept_ones(self):
        text = self.client.hget(MANIFEST, "text") or b""
        self.client.hset(changes.KEPT, self.rng.choice(
            ["1", "2", "nan", "9" * 30, "9223372036854775807"]), self.rng.choice(
            [b"\n" + text, b"", b"x", b"\nx\nchunks 99999999999999 1 aaaaaaaaaaaaaaaa\n",
             b"\n" * 99]))

    def hints(self):
        self.client.publish(SET + "hint", self.value())

    def one_in_place_of_another(self):
        """For a moment, and then neither is there."""
        key = self.rng.choice(changes.KEYS[1:])
        self.client.rename(changes.NODES, key)
        time.sleep(0.1)
        self.client.delete(key)

    ALL = (changes.Changes.line_set, changes.Changes.line_set, manifest, stream, nodes, lease,
           kept_ones, changes.Changes.counted_anew, hints, one_in_place_of_another)


class Hashes(tool.Tool):
    OPTIONS = ()

    def begin(self, seed):
        self.rng = random.Random(seed)
        self.server.client.flushall()
        self.ledger = self.nodes(*self.OPTIONS)
        self.ledger.capacity = 20000
        self.ledger.start()
        self.ledger.start(seconds=1)
        self.ledger.nodes[0].ask("burst 1")
        self.assertEqual(self.ledger.nodes[0].ask("flush 10000"), "0 ")
        self.junk = Junk(self.rng, self.server)

    def ask(self):
        self.rng.choice(self.ledger.nodes).ask(
            self.rng.choice(["publish", "record", "rollback 2", "stats"]))

    def look(self):
        done = subprocess.run([tool.WEIR, "replicate", "status", "--set=seen", self.rng.choice(
            ["--json", "--prometheus", "-q"])], env=self.environment, capture_output=True,
            timeout=60)
        self.assertIn(done.returncode, (0, 1, 2), done.stderr)

    def while_junk_comes(self):
        for node in self.ledger.nodes:
            node.rate(200)
        for _ in range(DEEDS):
            self.junk.one()
            self.rng.choice([self.ask, self.look, lambda: None, lambda: None])()
            time.sleep(self.rng.choice([0, 0.02, 0.2]))
        for node in self.ledger.nodes:
            node.rate(0)
            self.assertLess(nodes.megabytes(node.process), MEGABYTES)

    def record(self):
        return self.ledger.nodes[0].ask("record") == "0 "

    def heal(self):
        client = self.server.client
        client.delete(changes.KEPT, SET + "lease", changes.NODES)
        client.hdel(MANIFEST, "signature", "text")
        group.wait_until("all is sent", lambda: all(
            n.ask("flush 1000") == "0 " for n in self.ledger.nodes))
        group.wait_until("a record", self.record)
        broken.wait_until("all are well", lambda: nodes.all_well(self.ledger, "passed by"),
                          self.record if self.OPTIONS else None)
        group.wait_until("nothing is lost", lambda: not self.ledger.lost())
        for of in self.ledger.nodes:
            self.assertEqual(of.quit(), "0 ")

    def test_junk(self):
        for seed in range(FROM, FROM + SEEDS):
            self.begin(seed)
            try:
                self.while_junk_comes()
                self.heal()
            except (AssertionError, redis.exceptions.RedisError) as why:
                self.fail("seed %d: %s; what was written: %s; %s" % (seed, why, self.junk.did, [
                    n.stats() for n in self.ledger.nodes if n.process.poll() is None]))
            self.ledger.close()


class Keys(Hashes):
    OPTIONS = ("stream=keys",)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *nodes.words(3)])
