# SPDX-License-Identifier: MIT
"""Faults at the redis of four nodes that live on: so each has every insert in the end, whatever
redis lost, and the image that is served does not go by itself.
test_faults.py PROGRAM [--faults=N] [--seed=N] [Faults|Keys]: how many, what they are drawn by, and
whether batches are of hashes or of keys, then half as many; without: both"""
import os
import random
import re
import shutil
import sys
import threading
import time
import unittest

import redis

import broken
import group
import nodes

FAULTS, SEED = nodes.numbers("--faults=", 6, "--seed=", 2)
SET = "{weir:seen}:"


class Faults(nodes.OneServer):
    """One after the other, up to three at a time. What a method says is what it does."""
    KEYS, MANY = (), FAULTS

    def setUp(self):
        super().setUp()
        self.server.close()
        self.server = group.Server(["--appendonly", "no", "--enable-debug-command", "yes"])
        self.addCleanup(self.server.close)
        self.saved = []
        self.rng, self.did = random.Random(SEED), []
        self.ledger.options = ("set=seen", "url=unix://" + self.server.socket, "poll=20",
                               "idle=300", "answer=2000",
                               "record=%s/record" % self.server.folder, *self.KEYS)
        self.ledger.capacity = 200000

    @property
    def client(self):
        return self.server.client # another after a restart

    def any_node(self):
        return self.rng.choice(self.ledger.nodes)

    def stopped(self, fault=lambda: None):
        """A node is stopped for a while, and misses what happens."""
        with broken.stopped(self.any_node()):
            time.sleep(self.rng.choice([0.05, 0.3, 1]))
            fault()
            time.sleep(self.rng.random() / 2)

    def stopped_while_all_goes(self):
        """Everything is deleted meanwhile."""
        self.stopped(self.all_goes)

    def stopped_while_it_is_trimmed(self):
        """All of the stream goes meanwhile."""
        self.stopped(lambda: broken.trim(self.client))

    def stopped_while_it_is_restored(self):
        """Redis begins again from an older dump meanwhile."""
        self.stopped(self.restored)

    def all_goes(self):
        """FLUSHALL."""
        self.client.flushall()

    def trimmed(self):
        """All or nearly all of the stream goes."""
        broken.trim(self.client, self.rng.choice([0, 1, 5]))

    def one_key_goes(self):
        """Any key of a set but its chunks."""
        self.client.delete(SET + self.rng.choice(["manifest", "stream", "lease", "kept", "nodes"]))

    def chunks_go(self):
        """All images."""
        self.client.delete("none", *self.client.keys(SET + "c:*"))

    def line(self, name):
        """Of the manifest."""
        text = self.client.hget(SET + "manifest", "text") or b""
        found = re.search(r"(?m)^%s (.*)$" % name, text.decode())
        return found and found[1]

    def dumped(self):
        """What is there may come back."""
        self.client.save()
        path = os.path.join(self.server.folder, "dump.rdb")
        self.saved.append(("%s.%d" % (path, len(self.saved)), self.line("lineage")))
        shutil.copy(path, self.saved[-1][0])

    def dumps(self):
        return [path for path, _ in self.saved]

    def restored(self):
        """Redis is killed, and begins from a dump of before."""
        path = self.rng.choice(self.dumps() or [None])
        if not path:
            return
        self.server.kill()
        shutil.copy(path, os.path.join(self.server.folder, "dump.rdb"))
        time.sleep(self.rng.random())
        self.server.start()

    def connections_killed(self):
        """Five times in a row."""
        for _ in range(5):
            broken.kill_connections(self.client)
            time.sleep(0.05)

    def asleep(self):
        """Redis answers nobody for longer than nodes wait for an answer."""
        self.client.execute_command("DEBUG", "SLEEP", "2.5")

    def record_published(self):
        """A generation of the record replaces the set."""
        self.did.append(self.record())

    def rolled_back(self):
        """To any generation that is kept."""
        kept = sorted(self.client.hkeys(SET + "kept"))
        if kept:
            self.did.append(self.any_node().ask("rollback %d" % int(self.rng.choice(kept))))

    def trimmed_while_somebody_joins(self):
        """The stream goes again and again while a generation is published."""
        publishes = threading.Thread(target=lambda: self.ledger.nodes[0].ask("publish"))
        publishes.start()
        for _ in range(20):
            broken.trim(self.client)
            time.sleep(0.01)
        publishes.join()

    def somebody_writes(self):
        """A batch of a node that nobody knows, whose number is any."""
        self.client.xadd(SET + "stream", {
            "v": 1, "n": "%016x" % self.rng.getrandbits(64), "s": "0" * 16, "i": "",
            "q": self.rng.choice([1, 5, 2 ** 63])})

    def full(self):
        """For a second."""
        broken.fill(self.client, 1, 1)

    ALL = (stopped, stopped_while_all_goes, stopped_while_it_is_trimmed,
           stopped_while_it_is_restored, all_goes, trimmed, one_key_goes, chunks_go, dumped,
           restored, connections_killed, asleep, record_published, rolled_back,
           trimmed_while_somebody_joins, somebody_writes, full)

    # ---- what has to be in the end ----

    def is_well(self, of):
        """What somebody else wrote is passed by, which is said for ever."""
        return (of["complete"] and of["generation"] == max(of["newest"], self.newest()) and
                (not of["error"] or "passed by" in of["error"]))

    def newest(self):
        return max(n.stats()["newest"] for n in self.ledger.nodes)

    def image_stays(self):
        return self.client.ttl("%sc:%s:0" % (SET, self.line("chunks").split(" ")[2])) == -1

    def record(self):
        return self.any_node().ask("record")

    def wait_until(self, what, holds):
        broken.wait_until(what, holds, self.record if self.KEYS else None)

    def heal(self):
        for node in self.ledger.nodes:
            node.rate(0)
        for node in self.ledger.nodes:
            group.wait_until("all is sent", lambda: node.ask("flush 30000").startswith("0"))
        self.wait_until("all are well", lambda: all(
            self.is_well(n.stats()) for n in self.ledger.nodes))
        self.wait_until("nothing is lost", lambda: not self.ledger.lost())
        group.wait_until("the image is there for good", self.image_stays) # or of the next

    def turn(self):
        """Return: how many faults that was."""
        some = [self.rng.choice(self.ALL) for _ in range(self.rng.choice([1, 1, 2, 3]))]
        self.did = []
        for node in self.ledger.nodes:
            node.rate(1500)
        for fault in some:
            time.sleep(self.rng.random() / 2)
            self.did.append(fault.__name__)
            fault(self)
        time.sleep(self.rng.random() / 2)
        self.heal()
        return len(some)

    def test_faults(self):
        for i in range(4):
            self.ledger.start(seconds=1 if i < 2 else 0)
        self.dumped()
        done = 0
        while done < self.MANY:
            try:
                done += self.turn()
            except (AssertionError, redis.exceptions.RedisError) as why:
                self.fail("seed %d, after %d faults: %s; what was done then: %s; %s" % (
                    SEED, done, why, self.did, [n.stats() for n in self.ledger.nodes]))
        for node in self.ledger.nodes:
            self.assertEqual(node.quit(), "0 ")


class Keys(Faults):
    """Each record is of another seed then. A dump of a set that has begun anew since is not
    restored: who has another seed cannot join it, nor what is published on top of it (L13)."""
    KEYS, MANY = ("stream=keys",), FAULTS // 2

    def dumps(self):
        lineage = self.line("lineage")
        return [path for path, of in self.saved if of == lineage]


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *nodes.words()])
