# SPDX-License-Identifier: MIT
"""Somebody sets the last id of a stream forth and back at any moment, while three nodes insert,
publish, roll back, stand still, die and begin. Only what all have is ever deleted: nothing is lost.
test_xsetid.py PROGRAM [--seeds=N] [--from=N] [--deeds=N] [Hashes|Keys|Deleted]"""
import random
import signal
import sys
import time
import unittest

import redis

import group
import nodes

SEEDS, FROM, DEEDS = nodes.numbers("--seeds=", 1, "--from=", 1, "--deeds=", 30)
STREAM = "{weir:seen}:stream"
RATE = 300
AHEAD = [0.5, 2, 3600, 31536000] # seconds
# To that of the last entry there is, of which none goes unless ARGV[1] is 1; counts are as before.
BACK = """local about = redis.call('XINFO', 'STREAM', KEYS[1])
local of = {}
for i = 1, #about, 2 do of[about[i]] = about[i + 1] end
if ARGV[1] == '1' then redis.call('XTRIM', KEYS[1], 'MAXLEN', 0) end
local top = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
redis.call('XSETID', KEYS[1], top and top[1] or '1-1', 'ENTRIESADDED',
	string.format('%.0f', of['entries-added']), 'MAXDELETEDID', '0-0')"""


class Hashes(nodes.OneServer):
    OPTIONS = ()

    def begin(self, seed):
        self.rng, self.client = random.Random(seed), self.server.client
        self.client.flushall()
        self.ledger = nodes.Ledger(self.ledger.program, *self.ledger.options, *self.OPTIONS,
                                   capacity=100000, errors=self.errors)
        self.addCleanup(self.ledger.close)
        for seconds in (0, 0, 1):
            self.ledger.start(seconds=seconds)
        self.ledger.nodes[0].ask("burst 1")
        self.assertEqual(self.ledger.nodes[0].ask("flush 10000"), "0 ") # there is a stream
        self.insert(RATE)

    def insert(self, rate):
        for node in self.ledger.nodes:
            node.rate(rate)

    def any_node(self):
        return self.rng.choice(self.ledger.nodes)

    # ---- deeds: what a method says is what it does ----

    def forth(self):
        ms = int((time.time() + self.rng.choice(AHEAD)) * 1000)
        try:
            self.client.execute_command("XSETID", STREAM, "%d-%d" % (ms, self.rng.choice([0, 5])))
        except redis.exceptions.ResponseError as e:
            self.assertIn("smaller than", str(e)) # than one of a year ahead

    def back(self, deletes=0):
        self.client.eval(BACK, 1, STREAM, deletes)

    def publishes(self):
        self.any_node().ask("publish")

    def records(self):
        self.any_node().ask("record")

    def rolls_back(self):
        node = self.any_node()
        node.ask("rollback %d" % max(1, node.stats()["newest"] - 1))

    def stands_still(self):
        node = self.any_node()
        node.signal(signal.SIGSTOP)
        for _ in range(self.rng.randrange(4)):
            self.rng.choice([self.forth, self.back, lambda: time.sleep(0.3)])()
        node.signal(signal.SIGCONT)

    def begins_and_ends(self):
        node = self.ledger.start()
        node.quit()
        self.ledger.nodes.remove(node)
        node.close()

    def dies(self):
        """Another takes its place."""
        node = self.any_node()
        node.rate(0)
        node.ask("flush 5000")
        self.ledger.kill(node)
        self.ledger.start().rate(RATE)

    def sleeps(self):
        time.sleep(self.rng.random() * 0.5)

    ALL = (forth, forth, back, back, publishes, records, rolls_back, stands_still, begins_and_ends,
           dies, sleeps)

    # ---- what has to be in the end ----

    def heal(self):
        nodes.settle(self, self.ledger)
        group.wait_until("it publishes", lambda: self.ledger.nodes[0].ask("publish") == "0 ")
        self.ledger.newcomer(self)
        nodes.settle(self, self.ledger)

    def test_forth_and_back(self):
        for seed in range(FROM, FROM + SEEDS):
            self.begin(seed)
            did = []
            try:
                for _ in range(DEEDS):
                    deed = self.rng.choice(self.ALL)
                    did.append(deed.__name__)
                    deed(self)
                self.heal()
            except AssertionError as why:
                self.fail("seed %d: %s; what was done: %s" % (seed, why, did))
            self.ledger.close()


class Keys(Hashes):
    OPTIONS = ("stream=keys",)


class Deleted(Hashes):
    """What all have goes; what a node had that dies then is in no stream and no image, and no
    promise."""

    def deleted(self):
        self.insert(0)
        if (all(node.ask("flush 5000") == "0 " for node in self.ledger.nodes) and
                not self.ledger.lost()):
            self.back(deletes=1)
        self.insert(RATE)

    ALL = tuple(deed for deed in Hashes.ALL if deed is not Hashes.dies) + (deleted,)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *nodes.words()])
