# SPDX-License-Identifier: MIT
"""Redis has no room, or nodes have none, for a while or now and then: do generations and reports go
on, at a bounded number of calls, and has everybody in the end what was confirmed, and all else?
test_full.py PROGRAM [--seeds=N] [--from=N] [--seconds=N]: how often that is drawn, and for how long
"""
import os
import random
import sys
import time
import unittest

import group
import nodes

SEEDS, FROM, SECONDS = nodes.numbers("--seeds=", 1, "--from=", 1, "--seconds=", 4)
PACES = (1, 50, 300, 5000)  # ms between words and reports of a node
CALLS = 500                 # a second, of a node of any pace: a hundred to two hundred are usual
MIB = 1 << 20


class Sets(nodes.OneServer):
    def sets(self, name, *options):
        """A ledger of a set of that name, with a record of its own."""
        ledger = nodes.Ledger(os.path.abspath(sys.argv[1]), "set=" + name, "poll=20",
                              "url=unix://" + self.server.socket, *options,
                              "record=%s/record-%s" % (self.server.folder, name),
                              capacity=100000, errors=self.errors)
        self.addCleanup(ledger.close)
        return ledger

    def has_all(self, ledger, promises=None):
        group.wait_until("nothing is lost: %s" % ledger.lost(promises),
                         lambda: not ledger.lost(promises))


class Paces(Sets):
    """At each pace two nodes of a set that both are to publish each second."""

    def begin(self, *options):
        self.ledgers = {pace: self.sets("pace%d" % pace, "idle=%d" % pace, *options)
                        for pace in PACES}
        for ledger in self.ledgers.values():
            for _ in range(2):
                ledger.start(seconds=1)

    def until_all_say(self, words):
        """Each inserts until it says so, and no more: what waits goes with generations, of which
        one a second comes."""
        def says(node):
            if words in node.stats()["error"]:
                return True
            node.ask("burst 1000")
            return False
        for pace, ledger in self.ledgers.items():
            for node in ledger.nodes:
                group.wait_until("pace %d: it says %s" % (pace, words), lambda: says(node))

    def of_set(self, pace):
        """The number of its generation, and what nodes report."""
        client, key = self.server.client, "{weir:pace%d}:" % pace
        return client.hget(key + "manifest", "generation"), client.hvals(key + "nodes")

    def calls(self):
        return self.server.client.info("commandstats")["cmdstat_evalsha"]["calls"]

    def goes_on(self):
        """Generations are published, and nodes report (a slow one does so after a while)."""
        begun, calls = time.monotonic(), self.calls()
        before = {pace: self.of_set(pace) for pace in PACES}
        for pace, (number, said) in before.items():
            group.wait_until("pace %d: another generation" % pace,
                             lambda: self.of_set(pace)[0] != number)
            if pace < 1000:
                group.wait_until("pace %d: another report" % pace,
                                 lambda: self.of_set(pace)[1] != said)
        per_second = (self.calls() - calls) / max(time.monotonic() - begun, 0.5)
        self.assertLess(per_second, CALLS * 2 * len(PACES))

    def ends(self):
        """Each generation makes room, until nobody needs any."""
        for pace, ledger in self.ledgers.items():
            with self.subTest(pace=pace):
                for node in ledger.nodes:
                    group.wait_until("it is sent", lambda: node.ask("flush 1000") == "0 ")
                self.has_all(ledger)
                self.assertEqual([node.quit() for node in ledger.nodes], ["0 ", "0 "])

    def test_nodes_have_no_room(self):
        self.begin("pending=20000")
        self.until_all_say("max_pending_bytes 20000")
        self.goes_on()
        self.ends()

    def test_redis_has_room_for_generations_alone(self):
        self.begin()
        client = self.server.client
        client.config_set("maxmemory", client.info("memory")["used_memory"] + 5 * MIB)
        self.until_all_say("the server has no room for inserts")
        self.goes_on()
        client.config_set("maxmemory", 0)
        self.ends()


class Drawn(Sets):
    """Three nodes insert meanwhile, and some are killed. What a method says is what it does."""

    def begin(self, seed):
        self.rng, self.did = random.Random(seed), []
        self.server.client.flushall()
        self.ledger = self.sets("seen", "idle=%d" % self.rng.choice([1, 50, 300]),
                                "pending=%d" % self.rng.choice([30000, 200000]))
        for seconds in (1, 3600, 0):
            self.ledger.start(seconds=seconds).rate(400)

    @property
    def client(self):
        return self.server.client # another after a restart

    def room_for(self, most):
        self.client.config_set("maxmemory", most)

    def used(self):
        return self.client.info("memory")["used_memory"]

    def half(self):
        """Of what it uses is allowed."""
        self.room_for(self.used() // 2)

    def tight(self):
        """Some generations, or none, have room."""
        self.room_for(self.used() + self.rng.choice([1, 2, 5, 7, 9]) * MIB)

    def wide(self):
        self.room_for(0)

    def restarted(self):
        most = self.client.config_get("maxmemory")["maxmemory"]
        self.server.again()
        self.room_for(most)

    def reports_deleted(self):
        self.client.delete("{weir:seen}:nodes")

    def lease_deleted(self):
        self.client.delete("{weir:seen}:lease")

    def killed(self):
        """One that is to publish once an hour; another begins."""
        self.room_for(0) # else it does not begin
        self.ledger.kill(self.ledger.nodes[1])
        self.ledger.start(seconds=3600).rate(400)

    ALL = (half, half, tight, tight, wide, restarted, reports_deleted, lease_deleted, killed)

    def heal(self):
        """Those that live have what was confirmed, also to those that were killed; and all of
        one another's."""
        self.room_for(0)
        for node in self.ledger.nodes:
            node.rate(0)
        group.wait_until("all are complete", lambda: all(
            node.stats()["complete"] for node in self.ledger.nodes))
        self.has_all(self.ledger, dict(enumerate(self.ledger.confirmed())))
        for node in self.ledger.nodes: # a generation makes room, where there was too little
            group.wait_until("it is sent", lambda: node.ask("publish") == "0 " and
                             node.ask("flush 1000") == "0 ")
        self.has_all(self.ledger)

    def test_full_now_and_then(self):
        for seed in range(FROM, FROM + SEEDS):
            self.begin(seed)
            until = time.monotonic() + SECONDS
            try:
                while time.monotonic() < until:
                    deed = self.rng.choice(self.ALL)
                    self.did.append(deed.__name__)
                    deed(self)
                    time.sleep(self.rng.random() / 2)
                self.heal()
            except AssertionError as why:
                self.fail("seed %d: %s; what was done: %s; %s" % (
                    seed, why, self.did, [n.stats() for n in self.ledger.nodes]))
            self.ledger.close()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *nodes.words()])
